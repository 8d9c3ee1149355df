/* scratch.c: scratch at one offset for all lanes, as compilers spill registers.
 *
 * A wave's scratch lies there as registers do, [dword][lane], so whole rows are moved.
 * Offsets from VGPRs that differ, those that are no dwords', and faults are the
 * handler's.
 * SPDX-License-Identifier: MIT
 */
#include "access.h"
#include "machine.h"

static bool suits(const struct emit *e, const struct uop *u, struct access *a)
{
    const struct umem *m = &u->mem;
    const struct level_ops *l = e->emu->level;
    *a = (struct access){.u = u, .bytes = m->bytes, .write = u->fn == l->vmem_store};
    if ((u->fn != l->vmem_load && !a->write) || !(u->flags & UF_MEM) ||
        m->space != MEM_SCRATCH || !m->wide || m->bytes > 16)
        return false;
    a->dwords = a->rows = m->bytes / 4;
    return true;
}

bool emit_known_scratch(const struct emit *e, const struct uop *u)
{
    struct access a;
    return suits(e, u, &a);
}

/* To eax what all active lanes of the row have. */
static void equal_lanes(struct emit *e, unsigned row, struct far *slow)
{
    unsigned c = rows_find(e, row), t = temp_reg(e, TEMP_A), s = temp_reg(e, TEMP_S1);
    for (unsigned p = 0; p < e->parts; p++) {
        unsigned reg = c == NO_ENTRY ? s : row_reg(e, c, p);
        if (c == NO_ENTRY)
            x86_vec(e->x, X86_MOVUPS, s, 0, row_mem(e, row, p), 0, 0);
        if (p == 0) {
            x86_vmovd(e->x, RAX, reg);
            x86_vec(e->x, X86_PBROADCASTD, t, 0, rm_reg(reg), 0, 0);
        }
        far_from(slow, x86_jcc(e->x, access_differ(e, reg, rm_reg(t), p)));
    }
    rows_unpin(e);
}

/* To rax where the first row is. */
static void find_rows(struct emit *e, const struct access *a, struct far *slow)
{
    const struct umem *m = &a->u->mem;
    struct x86 *x = e->x;
    x86_mov_imm(x, RAX, 0);
    if (m->addr != NO_ROW)
        equal_lanes(e, m->addr, slow);
    if (m->saddr != NO_ROW)
        x86_alu_load(x, ALU_ADD, false, RAX, sgpr_mem(m->saddr));
    if (a->u->imm)
        x86_alu_imm(x, ALU_ADD, false, RAX, a->u->imm);
    x86_mov(x, false, RCX, RAX);
    x86_alu_imm(x, ALU_AND, false, RCX, 3);
    far_from(slow, x86_jcc(x, CC_NE));
    x86_load(x, true, RDX, wave_mem(offsetof(struct wave, group)));
    x86_load(x, false, RCX, mem_at(RDX, offsetof(struct workgroup, scratch_bytes)));
    x86_alu_imm(x, ALU_SUB, false, RCX, (int32_t)a->bytes);
    far_from(slow, x86_jcc(x, CC_B));
    x86_alu(x, ALU_CMP, false, RCX, RAX);
    far_from(slow, x86_jcc(x, CC_B));
    if (e->half) { /* behind all of the lower lanes */
        x86_load(x, false, RCX, mem_at(RDX, offsetof(struct workgroup, scratch_bytes)));
        x86_alu(x, ALU_ADD, true, RAX, RCX);
    }
    x86_shift_imm(x, SHIFT_SHL, true, RAX, 5);
    x86_alu_load(x, ALU_ADD, true, RAX, wave_mem(offsetof(struct wave, scratch)));
}

static struct x86_rm row_at(const struct emit *e, unsigned k, unsigned part)
{
    return rm_mem(RAX, (int32_t)(k * ROW_BYTES + part * e->part_bytes));
}

static void load_row(struct emit *e, const struct access *a, unsigned k)
{
    unsigned c = rows_write(e, a->u->d + k, e->masked);
    for (unsigned p = 0; p < e->parts; p++) {
        unsigned d = row_reg(e, c, p);
        if (e->masked && !e->x->evex)
            x86_vec(e->x, X86_BLENDVPS, d, d, row_at(e, k, p), 0,
                    access_signs(e, p) << 4);
        else
            x86_vec(e->x, X86_MOVUPS, d, 0, row_at(e, k, p), under_exec(e, p), 0);
    }
}

static void store_row(struct emit *e, const struct access *a, unsigned k)
{
    unsigned c = rows_load(e, a->u->mem.data + k);
    for (unsigned p = 0; p < e->parts; p++) {
        unsigned r = row_reg(e, c, p);
        if (e->masked && !e->x->evex)
            x86_vec(e->x, X86_MASKMOVPS_ST, r, access_signs(e, p), row_at(e, k, p), 0,
                    0);
        else
            x86_vec(e->x, X86_MOVUPS_ST, r, 0, row_at(e, k, p), under_exec(e, p), 0);
    }
}

bool emit_scratch(struct emit *e, const struct uop *u)
{
    struct access a;
    if (!suits(e, u, &a))
        return false;
    struct far *slow = emit_far(e, FAR_SLOW, u);
    find_rows(e, &a, slow);
    for (unsigned k = 0; k < a.rows; k++) {
        if (a.write)
            store_row(e, &a, k);
        else
            load_row(e, &a, k);
        rows_unpin(e);
    }
    if (slow)
        emit_back(e, slow);
    return true;
}
