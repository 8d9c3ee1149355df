/* buffer.c: loads and stores of buffers that are plain memory with a length.
 *
 * Offsets come from a VGPR; the resource is linear and checked by bytes (OOB_RAW), as
 * compilers make them. All else, and lanes out of range, are the handler's. Rules:
 * mem/buffer/bufres.h. SPDX-License-Identifier: MIT
 */
#include "access.h"
#include "handlers.h"

#define BASE R9 /* the address of offset 0 of a lane */

/* Word 3 of the resource: type, OOB_SELECT and ADD_TID have to be RAW's; FORMAT is not
 * 0.
 */
#define WORD3_MASK   0xf0800000u
#define WORD3_RAW    0x30000000u
#define WORD3_FORMAT 0x0003f000u

/* May the lanes be moved as a line, where they are one? */
static bool has_line(const struct emit *e, const struct access *a)
{
    return !e->masked || (e->x->evex && (!a->write || a->rows == 1));
}

static bool suits(const struct emit *e, const struct uop *u, struct access *a)
{
    const struct ubuf *b = &u->buf;
    *a = (struct access){.u = u, .addr = b->vaddr, .bytes = b->bytes, .rows = 1};
    a->write = u->fn == x_buffer_store;
    if (u->fn != x_buffer_load && !a->write)
        return false;
    if ((b->flags & ~(UB_WIDE | UB_RETURNS)) != UB_OFFEN ||
        b->soffset.prep == PREP_SPECIAL || b->bytes > 16 || b->bytes == 12)
        return false;
    if (b->flags & UB_WIDE)
        a->rows = b->bytes / 4;
    else if (!window_small(u, a->write, &a->small) ||
             (a->write && !e->x->evex && e->masked))
        return false;
    a->dwords = a->rows;
    for (unsigned k = 0; k < a->rows; k++)
        a->row[k] = (uint16_t)(b->vdata + k);
    return !a->write || has_line(e, a) || window_stores(e, a);
}

/* To BASE where the buffer is, with the SGPR's and the instruction's offset; to r11 the
 * greatest offset of a lane that lies in it. */
static void read_resource(struct emit *e, struct access *a)
{
    const struct ubuf *b = &a->u->buf;
    struct x86 *x = e->x;
    x86_load(x, false, RAX, sgpr_mem(b->srsrc + 3u));
    x86_mov(x, false, RCX, RAX);
    x86_alu_imm(x, ALU_AND, false, RAX, (int32_t)WORD3_MASK);
    x86_alu_imm(x, ALU_CMP, false, RAX, (int32_t)WORD3_RAW);
    far_from(a->slow, x86_jcc(x, CC_NE));
    x86_alu_imm(x, ALU_AND, false, RCX, (int32_t)WORD3_FORMAT);
    far_from(a->slow, x86_jcc(x, CC_E));
    x86_load(x, false, BASE, sgpr_mem(b->srsrc + 1u));
    x86_mov(x, false, RAX, BASE);
    x86_shift_imm(x, SHIFT_SHR, false, RAX, 30);
    x86_test(x, false, RAX, RAX);
    far_from(a->slow, x86_jcc(x, CC_NE)); /* swizzled */
    x86_alu_imm(x, ALU_AND, false, BASE, 0xffff);
    x86_shift_imm(x, SHIFT_SHL, true, BASE, 32);
    x86_load(x, false, RAX, sgpr_mem(b->srsrc));
    x86_alu(x, ALU_ADD, true, BASE, RAX);
    x86_load(x, false, R11, sgpr_mem(b->srsrc + 2u));
    if (b->soffset.prep == PREP_SGPR)
        x86_load(x, false, RAX, sgpr_mem(b->soffset.sel));
    else
        x86_load(x, false, RAX, mem_at(CONSTS, b->soffset.row * ROW_BYTES));
    x86_alu(x, ALU_ADD, true, BASE, RAX);
    x86_alu_imm(x, ALU_ADD, true, BASE, a->u->imm);
    x86_alu(x, ALU_SUB, true, R11, RAX);
    x86_alu_imm(x, ALU_SUB, true, R11, a->u->imm + (int32_t)a->bytes);
    x86_test(x, true, R11, R11);
    far_from(a->slow, x86_jcc(x, CC_S));
}

/* Are all active lanes in the buffer? */
static void check_range(struct emit *e, struct access *a)
{
    unsigned limit = temp_reg(e, TEMP_S0);
    access_spread(e, limit, R11);
    access_within(e, a, limit, NO_ENTRY);
}

/* Where the buffer of the wave at hand is. */
static uint64_t likely_buffer(const struct emit *e, const struct uop *u)
{
    const uint32_t *word = &e->wave->sgpr[u->buf.srsrc];
    return (uint64_t)(word[1] & 0xffffu) << 32 | word[0];
}

static void lane_address(struct emit *e)
{
    x86_mov(e->x, true, RAX, BASE);
    x86_alu(e->x, ALU_ADD, true, RAX, RCX);
}

/* The whole row is one line: move it. Returns where that ends; others go on behind. */
static size_t move_line(struct emit *e, struct access *a)
{
    struct x86 *x = e->x;
    size_t other = known_line(e, a);
    lane_address(e);
    access_check(e, a->slow, 32 * a->bytes, a->write ? EMU_MEM_WRITE : EMU_MEM_READ,
                 likely_buffer(e, a->u), NULL);
    for (unsigned p = 0; p < e->parts; p++) {
        int32_t at = (int32_t)(p * (e->part_bytes / 4) * a->bytes);
        if (a->write)
            move_store(e, a, p, RAX, 0, at);
        else
            move_load(e, a, p, 0, at);
    }
    size_t done = x86_jmp(x);
    x86_land(x, other);
    access_first(e, a, 0);
    return done;
}

bool emit_known_buffer(const struct emit *e, const struct uop *u)
{
    struct access a;
    return suits(e, u, &a);
}

bool emit_buffer(struct emit *e, const struct uop *u)
{
    struct access a;
    size_t done = 0;
    if (!suits(e, u, &a))
        return false;
    bool line = has_line(e, &a);
    access_begin(e, &a);
    read_resource(e, &a);
    check_range(e, &a);
    if (line)
        done = move_line(e, &a);
    else
        access_first(e, &a, 0);
    if (!a.write || window_stores(e, &a)) {
        lane_address(e);
        (a.write ? window_store_rows : window_load_rows)(e, &a);
    } else {
        far_from(a.slow, x86_jmp(e->x));
    }
    if (done)
        x86_land(e->x, done);
    access_end(e, &a);
    return true;
}
