/* valu.c: finds vector ALU semantics and runs them as the emulator would: rows of 32
 * lanes under the host float mode of their types.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>
#include <xmmintrin.h>

#include "../suite.h"
#include "valu.h"

#define FILES(X, level)                                                                \
    X(vop1_cvt, level)                                                                 \
    X(vop1_fp, level)                                                                  \
    X(vop1_int, level)                                                                 \
    X(vop1_transc, level)                                                              \
    X(vop2_fp, level)                                                                  \
    X(vop2_int, level)                                                                 \
    X(vop3_div, level)                                                                 \
    X(vop3_int, level)                                                                 \
    X(vop3_int16, level)                                                               \
    X(vop3_sad, level)                                                                 \
    X(vop_f16, level)                                                                  \
    X(vop_f64, level) X(vopc_f16, level) X(vopc_fp, level) X(vopc_int, level)

LEVEL_DECLARE(FILES)
LEVEL_TABLE(files, FILES);

const struct sem_entry *valu_entry(enum level level, size_t i)
{
    for (unsigned f = 0; files[level][f]; f++)
        for (const struct sem_entry *e = files[level][f]; e->name; e++)
            if (i-- == 0)
                return e;
    return NULL;
}

const struct sem_entry *valu_find(enum level level, const char *name)
{
    static const struct sem_entry *seen[LEVEL_COUNT][256];
    unsigned hash = 0;
    for (const char *p = name; *p; p++)
        hash = hash * 31 + (unsigned char)*p;
    const struct sem_entry **slot = &seen[level][hash & 255];
    if (*slot && !strcmp((*slot)->name, name))
        return *slot;
    const struct sem_entry *e;
    for (size_t i = 0; (e = valu_entry(level, i)); i++)
        if (!strcmp(e->name, name))
            return *slot = e;
    ck_abort_msg("no semantics for %s", name);
    return NULL;
}

static bool is_dp(unsigned type)
{
    return type == SEM_T_F64 || type == SEM_T_F16 || type == SEM_T_CARRY_F64 ||
           type == SEM_T_PK16; /* whole numbers have no mode */
}

static bool is_wide(unsigned type)
{
    return type == SEM_T_U64 || type == SEM_T_I64 || type == SEM_T_F64 ||
           type == SEM_T_CARRY64 || type == SEM_T_CARRY_F64;
}

static unsigned host_mode(const struct sem_entry *e, const struct lane_mode *m)
{
    static const unsigned rounding[] = {0x0000, 0x4000, 0x2000, 0x6000};
    bool dp = is_dp(e->ret);
    for (unsigned i = 0; i < e->n_args; i++)
        dp = dp || is_dp(e->args[i]);
    unsigned denorm = dp ? m->denorm64 : m->denorm32;
    return 0x1f80u | rounding[dp ? m->round64 : m->round32] |
           (denorm & 1 ? 0 : 0x0040u) | (denorm & 2 ? 0 : 0x8000u);
}

void valu_run(const struct sem_entry *e, const struct lane_mode *m, struct lanes *l)
{
    static _Alignas(64) uint32_t s[3][64], d[64], dm[32];
    for (unsigned i = 0; i < 3; i++)
        for (unsigned lane = 0; lane < 32; lane++) {
            s[i][lane] = (uint32_t)l->s[i][lane];
            s[i][lane + 32] = (uint32_t)(l->s[i][lane] >> 32);
        }
    for (unsigned lane = 0; lane < 32; lane++)
        dm[lane] = (uint32_t)l->s[3][lane] & 1;
    unsigned saved = _mm_getcsr();
    _mm_setcsr(host_mode(e, m));
    __asm__ volatile("" ::: "memory");
    e->fn.row(d, dm, s[0], s[1], s[2], m);
    __asm__ volatile("" ::: "memory");
    _mm_setcsr(saved);
    for (unsigned lane = 0; lane < 32; lane++) {
        l->value[lane] = d[lane] | (is_wide(e->ret) ? (uint64_t)d[lane + 32] << 32 : 0);
        l->mask[lane] = dm[lane];
    }
}

static struct lanes one(const char *name, const struct lane_mode *m, uint64_t a,
                        uint64_t b, uint64_t c)
{
    struct lanes l;
    for (unsigned i = 0; i < 32; i++)
        l.s[0][i] = a, l.s[1][i] = b, l.s[2][i] = c, l.s[3][i] = 0;
    valu_run(valu_find(LEVEL_GENERIC, name), m, &l);
    return l;
}

uint64_t valu1(const char *name, const struct lane_mode *m, uint64_t a, uint64_t b,
               uint64_t c)
{
    return one(name, m, a, b, c).value[0];
}

bool valu1_mask(const char *name, const struct lane_mode *m, uint64_t a, uint64_t b,
                uint64_t c)
{
    return one(name, m, a, b, c).mask[0] != 0;
}

static uint64_t random_f32(uint64_t r)
{
    static const uint32_t special[] = {
        0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000, 0x80800000,
        0x7f800000, 0xff800000, 0x7f800001, 0x7fc00000, 0xffc12345, 0x3f800000,
        0xbf800000, 0x7f7fffff, 0xff7fffff, 0x33800000, 0x4f000000, 0xcf000000,
        0x4f800000, 0x3f000000, 0xbf000000, 0x3effffff, 0x4b000000, 0x4affffff};
    switch (r >> 32 & 7) {
    case 0:
    case 1:
        return special[(r >> 40) % 24];
    case 2: /* denormal or nearly */
        return r & 0x81ffffff;
    case 3:
        return r & 0xffffffff;
    default:
        return (r & 0x807fffff) | (100 + (r >> 40) % 54) << 23;
    }
}

static uint64_t random_f16(uint64_t r)
{
    static const uint16_t special[] = {0x0000, 0x8000, 0x0001, 0x83ff, 0x0400, 0x8400,
                                       0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfe12, 0x3c00,
                                       0xbc00, 0x7bff, 0xfbff, 0x3800};
    return (r >> 32 & 3) == 0 ? special[r >> 40 & 15] : r & 0xffff;
}

static uint64_t random_f64(uint64_t r, uint64_t r2)
{
    static const uint64_t special[] = {
        0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x800fffffffffffff,
        0x0010000000000000, 0x8010000000000000, 0x7ff0000000000000, 0xfff0000000000000,
        0x7ff0000000000001, 0x7ff8000000000000, 0xfff8123456789abc, 0x3ff0000000000000,
        0xbff0000000000000, 0x7fefffffffffffff, 0x41dfffffffffffff, 0x41e0000000000000,
        0xc1e0000000000000, 0x41f0000000000000, 0x3fe0000000000000, 0xc1e0000000200000,
        0x47efffffe0000000, 0x47efffffefffffff, 0x47effffff0000000, 0x3690000000000000};
    switch (r2 & 7) {
    case 0:
    case 1:
        return special[(r2 >> 8) % 24];
    case 2:
        return r & 0x801fffffffffffff;
    case 3:
        return r;
    default: /* within f32's range, or nearly */
        return (r & 0x800fffffffffffff) | (860 + (r2 >> 8) % 300) << 52;
    }
}

static uint64_t random_int(uint64_t r, uint64_t r2)
{
    static const uint64_t special[] = {
        0,          1,          31,         32,         33,         63,
        64,         0x7fff,     0x8000,     0xffff,     0x7fffffff, 0x80000000,
        0xffffffff, 0x00ffffff, 0x00800000, 0xff800000, UINT64_MAX, 0x8000000000000000,
        INT64_MAX,  0x100000000};
    switch (r2 & 3) {
    case 0:
        return special[(r2 >> 8) % 20];
    case 1:
        return r >> (r2 >> 8 & 63);
    default:
        return r;
    }
}

uint64_t random_value(uint64_t *state, unsigned type)
{
    uint64_t r = random_bits(state), r2 = random_bits(state);
    switch (type) {
    case SEM_T_F16:
        return random_f16(r);
    case SEM_T_F32:
        return random_f32(r);
    case SEM_T_F64:
        return random_f64(r, r2);
    case SEM_T_BOOL:
        return r & 1;
    case SEM_T_U16:
    case SEM_T_I16:
        return random_int(r, r2) & 0xffff;
    case SEM_T_U32:
    case SEM_T_I32:
        return random_int(r, r2) & 0xffffffff;
    default:
        return random_int(r, r2);
    }
}

int valu_main(const char *name, void (*add)(TCase *tc))
{
    Suite *suite = suite_create(name);
    TCase *tc = tcase_create("all");
    tcase_set_timeout(tc, 120);
    add(tc);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
