/* imm.c: immediates with a syntax of their own: wait counters, hardware
 * registers, messages, delays, swizzles, DPP controls.
 *
 * Knows values and their names, not instructions. Names come from the tables; the
 * assembler reads the same ones.
 * SPDX-License-Identifier: MIT
 */
#include "print.h"

#define IMM_BITS(value, shift, width) ((value) >> (shift) & ((1u << (width)) - 1))

/* "name(value) " */
static void put_counter(struct text *t, const char *name, uint32_t value)
{
    put_str(t, name);
    put_char(t, '(');
    put_dec(t, value);
    put_bytes(t, ") ", 2);
}

/* Counters at their maximum do not wait and are left out, unless all are. */
static void put_counters(struct text *t, unsigned type, uint32_t imm, uint32_t all)
{
    unsigned n;
    const struct isa_imm_part *parts = isa_imm_parts(type, &n);
    for (unsigned i = 0; i < n; i++) {
        uint32_t full = (1u << parts[i].width) - 1;
        uint32_t value = imm >> parts[i].shift & full;
        if ((imm & all) == all || value != full)
            put_counter(t, parts[i].name, value);
    }
    t->at--; /* the blank after the last one */
}

#define WAIT_ALL      0xfff7u /* every counter at its maximum */
#define DEPCTR_ALL    0xff9fu
#define DEPCTR_UNUSED 0x0060u /* zero in what LLVM accepts */

void print_waitcnt(struct text *t, uint32_t imm)
{
    put_counters(t, ISA_OPR_WAITCNT, imm, WAIT_ALL);
}

void print_depctr(struct text *t, uint32_t imm)
{
    if ((imm & DEPCTR_UNUSED) != 0)
        put_hex(t, imm);
    else
        put_counters(t, ISA_OPR_WAITCNT_DEPCTR, imm, DEPCTR_ALL);
}

static void put_delay(struct text *t, const char *part, unsigned kind, uint32_t value,
                      bool *first)
{
    const char *name = isa_imm_name(kind, value);
    if (value == 0)
        return;
    if (!*first)
        put_bytes(t, " | ", 3);
    *first = false;
    put_str(t, part);
    put_char(t, '(');
    if (name != NULL) {
        put_str(t, name);
    } else {
        put_str(t, "/* invalid ");
        put_str(t, kind == ISA_IMM_DELAY_ID ? "instid" : "instskip");
        put_str(t, " value */");
    }
    put_char(t, ')');
}

void print_delay_alu(struct text *t, uint32_t imm)
{
    bool first = true;
    unsigned n;
    const struct isa_imm_part *parts = isa_imm_parts(ISA_OPR_DELAY, &n);
    for (unsigned i = 0; i < n; i++)
        put_delay(t, parts[i].name, parts[i].kind,
                  IMM_BITS(imm, parts[i].shift, parts[i].width), &first);
    if (first)
        put_char(t, '0');
}

void print_hwreg(struct text *t, uint32_t imm)
{
    uint32_t id = IMM_BITS(imm, 0, 6), offset = IMM_BITS(imm, 6, 5);
    uint32_t size = IMM_BITS(imm, 11, 5) + 1;
    const char *name = isa_imm_name(ISA_IMM_HWREG, id);
    put_str(t, "hwreg(");
    if (name != NULL)
        put_str(t, name);
    else
        put_dec(t, id);
    if (offset != 0 || size != 32) {
        put_bytes(t, ", ", 2);
        put_dec(t, offset);
        put_bytes(t, ", ", 2);
        put_dec(t, size);
    }
    put_char(t, ')');
}

void print_sendmsg(struct text *t, uint32_t imm)
{
    const char *name = isa_imm_name(ISA_IMM_SENDMSG, imm & 255);
    if (name == NULL && imm > 255) {
        put_dec(t, imm);
        return;
    }
    put_str(t, "sendmsg(");
    if (name != NULL) {
        put_str(t, name);
    } else {
        put_dec(t, imm);
        put_str(t, ", 0, 0");
    }
    put_char(t, ')');
}

/* A version and flags, as the expression LLVM builds: ((v|a)|b)|c. */
void print_version(struct text *t, uint32_t imm)
{
    static const char flags[3][20] = {"UC_VERSION_W64_BIT", "UC_VERSION_W32_BIT",
                                      "UC_VERSION_MDP_BIT"};
    const char *name = isa_imm_name(ISA_IMM_UC_VERSION, imm & 255);
    if ((imm & 0x1f00) != 0) {
        put_hex(t, imm);
        return;
    }
    unsigned n = (imm >> 13 & 1) + (imm >> 14 & 1) + (imm >> 15 & 1);
    for (unsigned i = 1; i < n; i++)
        put_char(t, '(');
    if (name != NULL)
        put_str(t, name);
    else
        put_dec(t, imm & 255);
    for (unsigned i = 0, left = n; i < 3; i++) {
        if (!(imm >> (13 + i) & 1))
            continue;
        put_char(t, '|');
        put_str(t, flags[i]);
        if (--left != 0)
            put_char(t, ')');
    }
}

void print_target(struct text *t, uint32_t imm)
{
    const char *name = isa_imm_name(ISA_IMM_EXP_TGT, imm);
    if (name != NULL) {
        put_str(t, name);
    } else {
        put_str(t, "invalid_target_");
        put_dec(t, imm);
    }
}

/* ---- ds_swizzle_b32 ---- */

static void put_list(struct text *t, const uint32_t *values, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (i != 0)
            put_char(t, ',');
        put_dec(t, values[i]);
    }
}

/* One letter per lane bit: what AND, OR and XOR masks make of it. */
static void put_bitmask(struct text *t, uint32_t and_mask, uint32_t or_mask,
                        uint32_t xor_mask)
{
    put_str(t, "BITMASK_PERM,\"");
    for (unsigned bit = 16; bit != 0; bit >>= 1) {
        uint32_t zero = (or_mask & bit) ^ (xor_mask & bit);
        uint32_t one = ((and_mask | or_mask) & bit) ^ (xor_mask & bit);
        put_char(t, zero == one ? (zero ? '1' : '0') : (zero ? 'i' : 'p'));
    }
    put_char(t, '"');
}

static void put_swizzle_masks(struct text *t, uint32_t offset)
{
    uint32_t and_mask = IMM_BITS(offset, 0, 5), or_mask = IMM_BITS(offset, 5, 5);
    uint32_t xor_mask = IMM_BITS(offset, 10, 5);
    uint32_t group = 32 - and_mask; /* of a broadcast */

    if (and_mask == 31 && or_mask == 0 && xor_mask != 0 &&
        (xor_mask & (xor_mask - 1)) == 0) {
        put_str(t, "SWAP,");
        put_dec(t, xor_mask);
    } else if (and_mask == 31 && or_mask == 0 && xor_mask != 0 &&
               (xor_mask & (xor_mask + 1)) == 0) {
        put_str(t, "REVERSE,");
        put_dec(t, xor_mask + 1);
    } else if (group > 1 && (group & (group - 1)) == 0 && or_mask < group &&
               xor_mask == 0) {
        put_str(t, "BROADCAST,");
        put_list(t, (const uint32_t[]){group, or_mask}, 2);
    } else {
        put_bitmask(t, and_mask, or_mask, xor_mask);
    }
}

void print_swizzle(struct text *t, uint32_t offset)
{
    bool quad = (offset & 0xff00) == 0x8000;
    if (!quad && (offset & 0x8000) != 0) {
        put_dec(t, offset);
        return;
    }
    put_str(t, "swizzle(");
    if (quad) {
        put_str(t, "QUAD_PERM,");
        put_list(t,
                 (const uint32_t[]){offset & 3, offset >> 2 & 3, offset >> 4 & 3,
                                    offset >> 6 & 3},
                 4);
    } else {
        put_swizzle_masks(t, offset);
    }
    put_char(t, ')');
}

/* ---- DPP ---- */

static void put_row_op(struct text *t, const char *name, uint32_t lanes)
{
    put_str(t, name);
    put_char(t, ':');
    put_dec(t, lanes);
}

void print_dpp_ctrl(struct text *t, uint32_t ctrl)
{
    uint32_t lanes = ctrl & 15;
    if (ctrl < 0x100) {
        put_str(t, "quad_perm:[");
        put_list(
            t,
            (const uint32_t[]){ctrl & 3, ctrl >> 2 & 3, ctrl >> 4 & 3, ctrl >> 6 & 3},
            4);
        put_char(t, ']');
    } else if (ctrl > 0x100 && ctrl <= 0x10f) {
        put_row_op(t, "row_shl", lanes);
    } else if (ctrl > 0x110 && ctrl <= 0x11f) {
        put_row_op(t, "row_shr", lanes);
    } else if (ctrl > 0x120 && ctrl <= 0x12f) {
        put_row_op(t, "row_ror", lanes);
    } else if (ctrl == 0x140) {
        put_str(t, "row_mirror");
    } else if (ctrl == 0x141) {
        put_str(t, "row_half_mirror");
    } else if (ctrl >= 0x150 && ctrl <= 0x15f) {
        put_row_op(t, "row_share", lanes);
    } else if (ctrl >= 0x160 && ctrl <= 0x16f) {
        put_row_op(t, "row_xmask", lanes);
    } else {
        put_str(t, "/* Invalid dpp_ctrl value */");
    }
}
