/* colors.c: what the colours mean.
 *
 * Must not know what is drawn. Invariant: every stall has a place in every mode.
 * SPDX-License-Identifier: MIT
 */
#include "app.h"

const char *const mode_name[MODES] = {"state", "resource", "kernel", "workgroup"};

/* Indexed by enum tm_state. */
static const struct category states[CATS] = {
    {"issuing", 0x43d17a}, {"dependency", 0xf2c14e},    {"scalar", 0xb58cff},
    {"memory", 0xe4572e},  {"LDS", 0x29b6f6},           {"barrier", 0xec5fa0},
    {"port", 0xc0ca33},    {"fetch, launch", 0x8d99ae}, {"other", 0x5a6b7d},
};

enum resource {
    R_ISSUE,
    R_VALU,
    R_SALU,
    R_SCACHE,
    R_LDS,
    R_L0,
    R_GL1,
    R_GL2,
    R_MALL,
    R_VRAM,
    R_STORE,
    R_PORT,
    R_FETCH,
    R_BARRIER,
    R_OTHER
};

static const struct category resources[CATS] = {
    {"issuing", 0x43d17a},       {"VALU", 0xf2c14e},    {"SALU", 0xb58cff},
    {"scalar $", 0x7e57c2},      {"LDS", 0x29b6f6},     {"L0, address", 0xffd0bd},
    {"GL1", 0xff9f6b},           {"GL2", 0x2bb3a3},     {"MALL", 0xe64a19},
    {"VRAM", 0xa11b1b},          {"stores", 0x9c7b6b},  {"issue port", 0xc0ca33},
    {"fetch, launch", 0x8d99ae}, {"barrier", 0xec5fa0}, {"other", 0x5a6b7d},
};

static const struct category numbered[CATS] = {
    {NULL, 0x4e9de6}, {NULL, 0xf28e4b}, {NULL, 0x57c17b}, {NULL, 0xe6606b},
    {NULL, 0xb28be0}, {NULL, 0xd8b24a}, {NULL, 0x4fc3c7}, {NULL, 0xe084b9},
    {NULL, 0x9ccc65}, {NULL, 0x7986cb}, {NULL, 0xbc8f6f}, {NULL, 0x90a4ae},
    {NULL, 0xffd166}, {NULL, 0x06d6a0}, {NULL, 0xef476f}, {NULL, 0x118ab2},
};

static unsigned resource_of(unsigned why)
{
    switch (why) {
    case TM_S_NONE:
        return R_ISSUE;
    case TM_S_SMEM_HIT:
    case TM_S_SMEM_FILL:
        return R_SCACHE;
    case TM_S_SMEM_GL2:
    case TM_S_VM_GL2:
        return R_GL2;
    case TM_S_SMEM_MISS:
    case TM_S_VM_MALL:
        return R_MALL;
    case TM_S_VM_DRAM:
        return R_VRAM;
    case TM_S_VM_GL1:
        return R_GL1;
    case TM_S_VSCNT:
        return R_STORE;
    default:
        break;
    }
    static const uint8_t of_state[TM_STATES] = {
        R_ISSUE, R_VALU, R_SALU, R_L0, R_LDS, R_BARRIER, R_PORT, R_FETCH, R_OTHER};
    return of_state[tm_stall_state[why]];
}

const struct category *categories(enum mode mode)
{
    return mode == MODE_STATE ? states : mode == MODE_RESOURCE ? resources : numbered;
}

unsigned category_of(enum mode mode, const struct tl_wave *w, unsigned why)
{
    switch (mode) {
    case MODE_STATE:
        return tm_stall_state[why];
    case MODE_RESOURCE:
        return resource_of(why);
    case MODE_KERNEL:
        return w->kernel % CATS;
    default:
        return (w->wg[0] + 5 * w->wg[1] + 11 * w->wg[2]) % CATS;
    }
}
