/* kd.c: the 64-byte kernel descriptor as gfx1100 understands it.
 *
 * Must not know files: `rdna3 run --kd` and the packet processor hand in bare bytes.
 * Invariant: parsing accepts every bit pattern and loses none (rsrc words and
 * properties stay as stored); judging is co_kd_check's work.
 * SPDX-License-Identifier: MIT
 */
#include "codeobj.h"

#include <string.h>

#include "bytes.h"
#include "error.h"

/* Byte offsets in the descriptor. */
enum {
    KD_GROUP_SEGMENT = 0,
    KD_PRIVATE_SEGMENT = 4,
    KD_KERNARG = 8,
    KD_ENTRY = 16,
    KD_RSRC3 = 44,
    KD_RSRC1 = 48,
    KD_RSRC2 = 52,
    KD_PROPERTIES = 56,
    KD_PRELOAD = 58
};

/* KERNEL_CODE_PROPERTIES: bits 0..6 enable the user SGPRs in ABI order. */
#define PROP_WAVE32        (1u << 10)
#define PROP_DYNAMIC_STACK (1u << 11)

/* gfx10 and later: 106 named SGPRs and VCC, trap temporaries apart. */
#define WAVE_SGPRS       128
#define MAX_VGPRS        256
#define MAX_LDS_BYTES    65536u
#define MAX_USER_SGPRS   16
#define SHARED_VGPR_UNIT 8

static unsigned bits(uint32_t word, unsigned shift, unsigned width)
{
    return word >> shift & ((1u << width) - 1);
}

unsigned co_user_sgpr_size(enum co_user_sgpr kind)
{
    static const uint8_t sizes[CO_USER_SGPR_KINDS] = {4, 2, 2, 2, 2, 2, 1};
    return sizes[kind];
}

static void parse_rsrc1(struct co_kernel_desc *d)
{
    uint32_t w = d->rsrc1;
    d->granulated_vgprs = (uint8_t)bits(w, 0, 6);
    d->granulated_sgprs = (uint8_t)bits(w, 6, 4);
    d->vgprs = (uint16_t)((d->granulated_vgprs + 1) * (d->wave == 32 ? 8 : 4));
    d->sgprs = WAVE_SGPRS;
    d->priority = (uint8_t)bits(w, 10, 2);
    d->float_mode = (uint8_t)bits(w, 12, 8);
    d->round_32 = (uint8_t)bits(w, 12, 2);
    d->round_16_64 = (uint8_t)bits(w, 14, 2);
    d->denorm_32 = (uint8_t)bits(w, 16, 2);
    d->denorm_16_64 = (uint8_t)bits(w, 18, 2);
    d->priv = bits(w, 20, 1);
    d->dx10_clamp = bits(w, 21, 1);
    d->debug_mode = bits(w, 22, 1);
    d->ieee = bits(w, 23, 1);
    d->bulky = bits(w, 24, 1);
    d->fp16_overflow = bits(w, 26, 1);
    d->wgp_mode = bits(w, 29, 1);
    d->mem_ordered = bits(w, 30, 1);
    d->fwd_progress = bits(w, 31, 1);
}

static void parse_rsrc2(struct co_kernel_desc *d)
{
    uint32_t w = d->rsrc2;
    d->private_segment = bits(w, 0, 1);
    d->user_sgpr_count = (uint8_t)bits(w, 1, 5);
    d->trap_handler = bits(w, 6, 1);

    unsigned next = d->user_sgpr_count;
    for (unsigned i = 0; i < CO_SYSTEM_SGPR_KINDS; i++)
        d->system_sgpr[i] = bits(w, 7 + i, 1) ? (uint8_t)next++ : CO_NO_SGPR;
    d->sgprs_initialised = (uint8_t)next;

    unsigned dims = bits(w, 11, 2) + 1;
    d->workitem_id_dims = (uint8_t)(dims > 3 ? 3 : dims);
    d->exception_address_watch = bits(w, 13, 1);
    d->exception_memory = bits(w, 14, 1);
    d->granulated_lds = (uint16_t)bits(w, 15, 9);
    d->exceptions = (uint8_t)bits(w, 24, 7);
}

static void parse_rsrc3(struct co_kernel_desc *d)
{
    uint32_t w = d->rsrc3;
    d->shared_vgprs = (uint8_t)(bits(w, 0, 4) * SHARED_VGPR_UNIT);
    d->inst_pref_lines = (uint8_t)bits(w, 4, 6);
    d->trap_on_start = bits(w, 10, 1);
    d->trap_on_end = bits(w, 11, 1);
    d->image_op = bits(w, 31, 1);
}

void co_kd_parse(const void *kd, struct co_kernel_desc *out)
{
    const uint8_t *p = kd;
    struct co_kernel_desc d;
    memset(&d, 0, sizeof d);
    d.group_segment_bytes = load_le32(p + KD_GROUP_SEGMENT);
    d.private_segment_bytes = load_le32(p + KD_PRIVATE_SEGMENT);
    d.kernarg_bytes = load_le32(p + KD_KERNARG);
    d.entry_offset = (int64_t)load_le64(p + KD_ENTRY);
    d.rsrc1 = load_le32(p + KD_RSRC1);
    d.rsrc2 = load_le32(p + KD_RSRC2);
    d.rsrc3 = load_le32(p + KD_RSRC3);
    d.properties = load_le16(p + KD_PROPERTIES);
    d.kernarg_preload = load_le16(p + KD_PRELOAD);
    d.wave = d.properties & PROP_WAVE32 ? 32 : 64;
    d.uses_dynamic_stack = (d.properties & PROP_DYNAMIC_STACK) != 0;

    unsigned next = 0;
    for (unsigned i = 0; i < CO_USER_SGPR_KINDS; i++) {
        bool on = d.properties >> i & 1;
        d.user_sgpr[i] = on ? (uint8_t)next : CO_NO_SGPR;
        next += on ? co_user_sgpr_size((enum co_user_sgpr)i) : 0;
    }
    parse_rsrc1(&d);
    parse_rsrc2(&d);
    parse_rsrc3(&d);
    *out = d;
}

rd_status co_kd_check(const struct co_kernel_desc *d, struct co_error *err)
{
    unsigned named = 0;
    for (unsigned i = 0; i < CO_USER_SGPR_KINDS; i++)
        if (d->user_sgpr[i] != CO_NO_SGPR)
            named += co_user_sgpr_size((enum co_user_sgpr)i);

    unsigned shared = d->wave == 64 ? d->shared_vgprs : 0;
    if (d->vgprs + shared > MAX_VGPRS)
        return co_fail(err, RD_E_FORMAT,
                       "kernel descriptor: COMPUTE_PGM_RSRC1 (offset %d) asks for %u "
                       "VGPRs in wave%u, %u with the shared ones, of at most %d",
                       KD_RSRC1, d->vgprs, d->wave, d->vgprs + shared, MAX_VGPRS);
    if (d->user_sgpr_count > MAX_USER_SGPRS)
        return co_fail(err, RD_E_FORMAT,
                       "kernel descriptor: COMPUTE_PGM_RSRC2 (offset %d) asks for %u "
                       "user SGPRs of at most %d",
                       KD_RSRC2, d->user_sgpr_count, MAX_USER_SGPRS);
    if (named > d->user_sgpr_count)
        return co_fail(err, RD_E_FORMAT,
                       "kernel descriptor: KERNEL_CODE_PROPERTIES (offset %d) enables "
                       "%u user SGPRs, COMPUTE_PGM_RSRC2 provides %u",
                       KD_PROPERTIES, named, d->user_sgpr_count);
    if (d->group_segment_bytes > MAX_LDS_BYTES)
        return co_fail(err, RD_E_FORMAT,
                       "kernel descriptor: GROUP_SEGMENT_FIXED_SIZE (offset %d) is %u, "
                       "a workgroup has at most %u bytes of LDS",
                       KD_GROUP_SEGMENT, d->group_segment_bytes, MAX_LDS_BYTES);
    return RD_OK;
}
