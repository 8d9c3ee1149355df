/* window.c: memory whose lanes lie anyhow, and elements of less than a dword.
 *
 * The active lanes' offsets are compared with the bounds of the region where the first
 * lane is, all at once, then lanes are gathered; scattered with AVX-512, later lanes
 * over earlier ones as handlers do it. Small elements are gathered as dwords,
 * of which the upper bytes must be readable too. SPDX-License-Identifier: MIT
 */
#include "access.h"

/* Do all active lanes lie within the window of the first one? */
static void check_window(struct emit *e, struct access *a)
{
    struct x86 *x = e->x;
    unsigned span = temp_reg(e, TEMP_S0), start = temp_reg(e, TEMP_S2);
    x86_mov_imm(x, RDX, a->bytes < 4 ? 4 : a->bytes);
    x86_mov_imm(x, R10, access_perm(e, a->write ? EMU_MEM_WRITE : EMU_MEM_READ));
    x86_call_mem(x, mem_at(TABLE, -8 * TABLE_WINDOW));
    far_from(a->slow, x86_jcc(x, CC_B));
    access_spread(e, span, RDX);
    access_spread(e, start, RCX);
    access_within(e, a, span, start);
}

/* Rows of matrix instructions have the same in both halves (manual 7.9). */
static bool may_repeat(const struct emit *e, const struct access *a)
{
    return e->x->evex && !e->masked && a->dwords == 4 && !a->alias;
}

/* If the second part's lanes are where the first one's are, it is the same; then
 * jump. */
static size_t load_again(struct emit *e, const struct access *a)
{
    unsigned reg = access_offsets(e, a, 0);
    size_t other =
        x86_jcc(e->x, access_differ(e, reg, rm_reg(access_offsets(e, a, 1)), 1));
    for (unsigned k = 0; k < a->rows; k++)
        x86_vec(e->x, X86_MOVUPS, row_reg(e, a->data[k], 1), 0,
                rm_reg(row_reg(e, a->data[k], 0)), 0, 0);
    size_t done = x86_jmp(e->x);
    x86_land(e->x, other);
    return done;
}

void window_load_rows(struct emit *e, struct access *a)
{
    unsigned index = temp_reg(e, TEMP_S2);
    check_window(e, a);
    for (unsigned p = 0; p < e->parts; p++) {
        size_t done = p == 1 && may_repeat(e, a) ? load_again(e, a) : 0;
        x86_vec(e->x, X86_PSUBD, index, access_offsets(e, a, p),
                rm_reg(temp_reg(e, TEMP_A)), 0, 0);
        move_gather(e, a, p, index, 0, 0);
        if (done)
            x86_land(e->x, done);
    }
}

bool window_stores(const struct emit *e, const struct access *a)
{
    /* others read elements of several dwords as a whole: the handler stores them so */
    return e->x->evex && !a->small && (a->dwords == 1 || a->lds);
}

/* Elements of several dwords must not overlap by halves: dword by dword the order would
 * be another one. */
static void check_apart(struct emit *e, struct access *a, unsigned index)
{
    if (a->dwords == 1)
        return;
    for (unsigned p = 0; p < e->parts; p++) {
        x86_vec(e->x, X86_PSUBD, index, access_offsets(e, a, p),
                rm_reg(temp_reg(e, TEMP_A)), 0, 0);
        x86_vec(e->x, X86_PSLLD_I, index, 0, rm_reg(index), 0,
                a->dwords == 2 ? 29 : 28);
        far_from(a->slow, x86_jcc(e->x, access_differ(e, index, const_rm(C_ZERO), p)));
    }
}

void window_store_rows(struct emit *e, struct access *a)
{
    unsigned index = temp_reg(e, TEMP_S2);
    check_window(e, a);
    check_apart(e, a, index);
    for (unsigned p = 0; p < e->parts; p++) {
        x86_vec(e->x, X86_PSUBD, index, access_offsets(e, a, p),
                rm_reg(temp_reg(e, TEMP_A)), 0, 0);
        move_scatter(e, a, p, index, 0, 0);
    }
}

/* ---- small elements ----------------------------------------------------------------
 */

/* reg: the elements as dwords, extended, or in the half where they go. */
static void extend(struct emit *e, const struct access *a, unsigned reg)
{
    unsigned left = 32 - 8 * a->bytes;
    bool is_signed = a->small == SMALL_I || a->small == SMALL_D16_I;
    if (is_signed) {
        x86_vec(e->x, X86_PSLLD_I, reg, 0, rm_reg(reg), 0, left);
        x86_vec(e->x, X86_PSRAD_I, reg, 0, rm_reg(reg), 0, left);
    } else if (a->small == SMALL_D16_HI) {
        x86_vec(e->x, X86_PSLLD_I, reg, 0, rm_reg(reg), 0, 16);
    } else {
        x86_vec(e->x, X86_PAND, reg, reg, const_rm(a->bytes == 1 ? C_255 : C_LOW16), 0,
                0);
    }
}

void window_put_small(struct emit *e, const struct access *a, unsigned part,
                      unsigned reg)
{
    bool upper = a->small == SMALL_D16_HI;
    extend(e, a, reg);
    if (!keeps_half(a->small)) {
        move_put(e, a, 0, part, reg);
    } else if (e->x->evex) { /* of each bit: is it of the half? reg : the row */
        x86_vec(e->x, X86_PTERNLOGD, row_reg(e, a->data[0], part), reg,
                const_rm(upper ? C_HIGH16 : C_LOW16), under_exec(e, part), 0xd8);
    } else {
        unsigned old = move_get(e, a, 0, part, TEMP_B);
        x86_vec(e->x, X86_PBLENDW, reg, old, rm_reg(reg), 0, upper ? 0xaa : 0x55);
        move_put(e, a, 0, part, reg);
    }
}

bool window_small(const struct uop *u, bool write, enum small *small)
{
#define SPACES(op, small)                                                              \
    {ISA_GLOBAL_##op, small}, {ISA_FLAT_##op, small},                                  \
    {                                                                                  \
        ISA_BUFFER_##op, small                                                         \
    }
    static const struct {
        uint16_t op;
        uint8_t small;
    } loads[] = {
        SPACES(LOAD_U8, SMALL_U),           SPACES(LOAD_I8, SMALL_I),
        SPACES(LOAD_U16, SMALL_U),          SPACES(LOAD_I16, SMALL_I),
        SPACES(LOAD_D16_U8, SMALL_D16_U),   SPACES(LOAD_D16_I8, SMALL_D16_I),
        SPACES(LOAD_D16_B16, SMALL_D16_U),  SPACES(LOAD_D16_HI_B16, SMALL_D16_HI),
        {ISA_DS_LOAD_U8, SMALL_U},          {ISA_DS_LOAD_I8, SMALL_I},
        {ISA_DS_LOAD_U16, SMALL_U},         {ISA_DS_LOAD_I16, SMALL_I},
        {ISA_DS_LOAD_U8_D16, SMALL_D16_U},  {ISA_DS_LOAD_I8_D16, SMALL_D16_I},
        {ISA_DS_LOAD_U16_D16, SMALL_D16_U}, {ISA_DS_LOAD_U16_D16_HI, SMALL_D16_HI},
    };
#undef SPACES
    *small = SMALL_U;
    if (write)
        return u->isa_op == ISA_GLOBAL_STORE_B16 || u->isa_op == ISA_FLAT_STORE_B16 ||
               u->isa_op == ISA_BUFFER_STORE_B16;
    for (unsigned i = 0; i < sizeof loads / sizeof *loads; i++)
        if (loads[i].op == u->isa_op) {
            *small = (enum small)loads[i].small;
            return true;
        }
    return false;
}
