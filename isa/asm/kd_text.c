/* kd_text.c: a kernel descriptor to the directives that make it, the inverse of kd.c.
 *
 * Must not know files. Invariant: what is written assembles to the same 64 bytes, or
 * nothing is written. SPDX-License-Identifier: MIT
 */
#include "asm.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kd.h"

#define ENTRY_AT    16u /* bytes that the kernel's place decides, not directives */
#define ENTRY_BYTES 8u

struct writer {
    uint64_t place[KD_PLACES]; /* the descriptor's dwords */
    uint64_t made[KD_PLACES];  /* what the directives so far make of them */
    unsigned implied_sgprs;
    unsigned granule;
    char *text;
    size_t used;
};

static void put(struct writer *w, const struct kd_field *f, uint64_t value)
{
    int n = snprintf(w->text + w->used, ASM_KERNEL_BYTES - w->used,
                     "\t\t.amdhsa_%s %" PRIu64 "\n", f->name, value);
    if (n > 0)
        w->used += (size_t)n;
}

static uint32_t dword(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The count of VGPRs in use, if it is known and fits what the descriptor says. */
static uint64_t vgprs(const struct writer *w, unsigned used)
{
    uint64_t blocks = w->place[KD_RSRC1] & (KD_MAX_BLOCKS - 1);
    if (used && (used - 1) / w->granule == blocks)
        return used;
    return (blocks + 1) * w->granule;
}

/* A field with bits of its own. Those that all kernels have are always written. */
static void put_bits(struct writer *w, const struct kd_field *f)
{
    uint64_t mask = (1ull << f->bits) - 1;
    uint64_t value = w->place[f->place] >> f->shift & mask;
    w->made[f->place] |= value << f->shift;
    w->implied_sgprs += value ? f->user_sgprs : 0u;
    if (value != f->initial || f->special == KD_WAVE32 || f->place < KD_RSRC3)
        put(w, f, value);
}

static bool all_made(const struct writer *w, const uint8_t *kd)
{
    uint8_t known[KD_BYTES] = {0};
    memset(known + ENTRY_AT, 1, ENTRY_BYTES);
    for (unsigned i = 0; i < KD_PLACES; i++) {
        memset(known + kd_place_offset[i], 1, 4);
        if (w->made[i] != w->place[i])
            return false;
    }
    for (unsigned i = 0; i < KD_BYTES; i++)
        if (!known[i] && kd[i])
            return false;
    return true;
}

size_t asm_kernel_text(const void *kd, unsigned used_vgprs, unsigned used_sgprs,
                       char *text)
{
    struct writer w = {.text = text};
    const struct kd_field *count = NULL;
    for (unsigned i = 0; i < KD_PLACES; i++)
        w.place[i] = dword((const uint8_t *)kd + kd_place_offset[i]);
    for (unsigned i = 0; i < KD_FIELDS; i++)
        if (kd_fields[i].special == KD_WAVE32)
            w.granule = w.place[KD_PROPERTIES] >> kd_fields[i].shift & 1 ? 8 : 4;
    for (unsigned i = 0; i < KD_FIELDS; i++) {
        const struct kd_field *f = &kd_fields[i];
        if (f->refusal != KD_FINE)
            continue;
        if (f->place < KD_PLACES)
            put_bits(&w, f);
        else if (f->special == KD_NEXT_VGPR)
            put(&w, f, vgprs(&w, used_vgprs));
        else if (f->special == KD_NEXT_SGPR)
            put(&w, f, used_sgprs);
        else if (f->special == KD_USER_COUNT)
            count = f;
        else if (strcmp(f->name, "reserve_vcc") == 0)
            put(&w, f, 0); /* counted among the SGPRs already */
    }
    uint64_t users = w.place[KD_RSRC2] >> 1 & 31;
    if (count && users != w.implied_sgprs)
        put(&w, count, users);
    w.made[KD_RSRC1] |= w.place[KD_RSRC1] & (KD_MAX_BLOCKS - 1);
    w.made[KD_RSRC2] |= users << 1;
    uint64_t shared = w.place[KD_RSRC3] & 15;
    bool rules = users >= w.implied_sgprs && (shared == 0 || w.granule == 4) &&
                 shared * 2 + (w.place[KD_RSRC1] & (KD_MAX_BLOCKS - 1)) < KD_MAX_BLOCKS;
    return rules && all_made(&w, kd) ? w.used : 0;
}
