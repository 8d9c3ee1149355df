/* scalar.c: scalar instructions: SGPRs stay in memory, values pass through rax and rcx.
 *
 * The table says how an opcode computes and what it leaves in SCC (manual 16.1
 * to 16.5). SPDX-License-Identifier: MIT
 */
#include "emit.h"
#include "hwreg.h"

enum scalar_kind {
    SK_NONE,
    SK_ALU,    /* alu */
    SK_CARRY,  /* alu with SCC as carry in */
    SK_NOT1,   /* alu of S0 and not S1 */
    SK_INVERT, /* not (S0 alu S1) */
    SK_MOVE,
    SK_NOT,
    SK_COMPARE,   /* SCC = cc */
    SK_SHIFT,     /* alu is enum x86_shift */
    SK_SHIFT_ADD, /* (S0 << alu) + S1 */
    SK_MUL,
    SK_MUL_HI,
    SK_MUL_HI_I,
    SK_BFE, /* alu is enum x86_shift */
    SK_ABS,
    SK_PACK,   /* alu: bit 0, 1: the upper half of S0, S1 */
    SK_BITCMP, /* SCC = cc of bit S1 of S0 */
    SK_PRIO,
    SK_READLANE, /* alu: the first active lane */
    SK_WRITELANE,
    SK_CHOOSE, /* S0 if cc, else S1; SCC = cc */
    SK_SELECT, /* by SCC */
    SK_BITS,   /* alu is enum x86_bits */
    SK_SEXT8,
    SK_SEXT16,
    SK_SAVEEXEC,      /* D = EXEC; EXEC = S0 alu EXEC */
    SK_SAVEEXEC_NOT0, /* ... not S0 alu EXEC */
    SK_SAVEEXEC_NOT1,
    SK_HINT,
};

enum scc_rule { SCC_KEPT, SCC_CARRY, SCC_OVERFLOW, SCC_NONZERO };

struct scalar_recipe {
    uint8_t kind, alu, wide, scc;
};

static const struct scalar_recipe table[] = {
#define R(op, kind, alu, wide, scc) {SK_##kind, alu, wide, SCC_##scc},
#include "scalar.def"
#undef R
};

/* By opcode: the place in table, counted from 1. */
enum {
#define R(op, kind, alu, wide, scc) PLACE_##op,
#include "scalar.def"
#undef R
};
static const uint8_t place_of[ISA_OP_COUNT] = {
#define R(op, kind, alu, wide, scc) [ISA_##op] = PLACE_##op + 1,
#include "scalar.def"
#undef R
};

static const struct scalar_recipe *find(unsigned op)
{
    _Static_assert(sizeof table / sizeof *table < 256, "place_of has bytes");
    return place_of[op] ? &table[place_of[op] - 1] : NULL;
}

bool emit_known_scalar(unsigned op)
{
    return find(op) != NULL;
}

static bool can_load(const struct usrc *s)
{
    if (s->mods)
        return false;
    return s->prep == PREP_SGPR || (s->prep == PREP_NONE && s->base == SRC_CONST) ||
           (s->prep == PREP_SPECIAL && s->sel == ISA_SEL_SCC);
}

static void load_source(struct emit *e, unsigned reg, const struct usrc *s)
{
    if (s->prep == PREP_SGPR) {
        x86_load(e->x, s->dwords == 2, reg, sgpr_mem(s->sel));
    } else if (s->prep == PREP_SPECIAL) {
        x86_load8(e->x, reg, wave_mem(offsetof(struct wave, scc)));
    } else {
        const uint32_t *row = e->p->const_rows + (size_t)s->row * ROW_DWORDS;
        x86_mov_imm(e->x, reg,
                    row[0] | (s->dwords == 2 ? (uint64_t)row[ROW_DWORDS] << 32 : 0));
    }
}

static bool has_sources(const struct uop *u, const struct scalar_recipe *r)
{
    bool lane = r->kind == SK_READLANE;
    if (lane && (u->s[0].base != SRC_VGPR || u->s[0].prep || u->s[0].mods))
        return false;
    for (unsigned i = lane; i < u->n_src; i++)
        if (!can_load(&u->s[i]))
            return false;
    return true;
}

/* Does the next instruction give SCC a new value, without having looked at it? */
static bool scc_is_lost(const struct emit *e)
{
    const struct trace_step *s = &e->t->step[e->at + 1];
    if (e->watch || e->at + 1 >= e->t->n || s->kind != TRACE_INST || s->leader)
        return false;
    const struct scalar_recipe *r = find(s->u->isa_op);
    if (!r || r->kind == SK_CARRY || r->kind == SK_SELECT || !emit_usual(e, s->u) ||
        !has_sources(s->u, r))
        return false;
    for (unsigned i = 0; i < s->u->n_src; i++)
        if (s->u->s[i].prep == PREP_SPECIAL)
            return false;
    return r->scc != SCC_KEPT || r->kind == SK_COMPARE || r->kind == SK_BITCMP;
}

static void set_scc(struct emit *e, enum x86_cc cc)
{
    if (scc_is_lost(e))
        return;
    x86_setcc_mem(e->x, cc, wave_mem(offsetof(struct wave, scc)));
    e->flags_at = x86_here(e->x);
    e->flags_scc = cc;
}

/* Is the source a constant that instructions of the host can have in themselves? */
static bool is_immediate(const struct emit *e, const struct usrc *s, int32_t *value)
{
    if (s->prep != PREP_NONE || s->dwords != 1)
        return false;
    *value = (int32_t)e->p->const_rows[(size_t)s->row * ROW_DWORDS];
    return true;
}

/* rax op= the second source, from memory if it is there. */
static void alu_source(struct emit *e, unsigned alu, bool wide, const struct usrc *s)
{
    int32_t value;
    if (!wide && is_immediate(e, s, &value))
        x86_alu_imm(e->x, (enum x86_alu)alu, false, RAX, value);
    else if (s->prep == PREP_SGPR && s->dwords == (wide ? 2 : 1)) {
        x86_alu_load(e->x, (enum x86_alu)alu, wide, RAX, sgpr_mem(s->sel));
    } else {
        load_source(e, RCX, s);
        x86_alu(e->x, (enum x86_alu)alu, wide, RAX, RCX);
    }
}

static void finish(struct emit *e, const struct uop *u, const struct scalar_recipe *r)
{
    x86_store(e->x, u->flags & UF_DST64, sgpr_mem(u->d), RAX);
    if (r->scc == SCC_CARRY)
        set_scc(e, CC_B);
    else if (r->scc == SCC_OVERFLOW)
        set_scc(e, CC_O);
    else if (r->scc == SCC_NONZERO)
        set_scc(e, CC_NE);
}

static void saveexec(struct emit *e, const struct uop *u, const struct scalar_recipe *r)
{
    load_source(e, RAX, &u->s[0]);
    x86_load(e->x, r->wide, RCX, sgpr_mem(ISA_SEL_EXEC_LO));
    x86_mov(e->x, r->wide, RDX, RCX);
    if (r->kind == SK_SAVEEXEC_NOT0)
        x86_not(e->x, r->wide, RAX);
    if (r->kind == SK_SAVEEXEC_NOT1)
        x86_not(e->x, r->wide, RDX);
    x86_alu(e->x, (enum x86_alu)r->alu, r->wide, RAX, RDX);
    set_scc(e, CC_NE);
    x86_store(e->x, r->wide, sgpr_mem(u->d), RCX);
    x86_store(e->x, r->wide, sgpr_mem(ISA_SEL_EXEC_LO), RAX);
}

/* 32 bits as 64. */
static void widen(struct emit *e, unsigned reg)
{
    x86_shift_imm(e->x, SHIFT_SHL, true, reg, 32);
    x86_shift_imm(e->x, SHIFT_SAR, true, reg, 32);
}

static void compute(struct emit *e, const struct uop *u, const struct scalar_recipe *r)
{
    struct x86 *x = e->x;
    const struct usrc *s0 = &u->s[0], *s1 = &u->s[1];
    load_source(e, RAX, s0);
    switch (r->kind) {
    case SK_ALU:
        alu_source(e, r->alu, r->wide, s1);
        break;
    case SK_CARRY:
        load_source(e, RCX, s1);
        x86_load8(x, RDX, wave_mem(offsetof(struct wave, scc)));
        x86_neg(x, false, RDX); /* carry if it is not 0 */
        x86_alu(x, (enum x86_alu)r->alu, false, RAX, RCX);
        break;
    case SK_NOT1:
        load_source(e, RCX, s1);
        x86_not(x, r->wide, RCX);
        x86_alu(x, (enum x86_alu)r->alu, r->wide, RAX, RCX);
        break;
    case SK_INVERT:
        alu_source(e, r->alu, r->wide, s1);
        x86_not(x, r->wide, RAX);
        x86_test(x, r->wide, RAX, RAX);
        break;
    case SK_NOT:
        x86_not(x, r->wide, RAX);
        x86_test(x, r->wide, RAX, RAX);
        break;
    case SK_SHIFT:
        load_source(e, RCX, s1);
        x86_shift(x, (enum x86_shift)r->alu, r->wide, RAX, RAX, RCX);
        x86_test(x, r->wide, RAX, RAX);
        break;
    case SK_MUL:
    case SK_MUL_HI:
        load_source(e, RCX, s1);
        x86_imul(x, r->kind == SK_MUL_HI, RAX, RCX);
        if (r->kind == SK_MUL_HI)
            x86_shift_imm(x, SHIFT_SHR, true, RAX, 32);
        break;
    case SK_MUL_HI_I:
        load_source(e, RCX, s1);
        widen(e, RAX);
        widen(e, RCX);
        x86_imul(x, true, RAX, RCX);
        x86_shift_imm(x, SHIFT_SHR, true, RAX, 32);
        break;
    case SK_ABS:
        x86_mov(x, false, RCX, RAX);
        x86_neg(x, false, RAX);
        x86_cmov(x, CC_S, false, RAX, RCX);
        x86_test(x, false, RAX, RAX);
        break;
    case SK_BITS:
        x86_bits(x, (enum x86_bits)r->alu, r->wide, RAX, RAX);
        x86_test(x, false, RAX, RAX);
        break;
    case SK_SEXT8:
        x86_sext8(x, RAX, RAX);
        break;
    case SK_SEXT16:
        x86_sext16(x, RAX, RAX);
        break;
    default:
        break;
    }
    finish(e, u, r);
}

/* rax: bits of S0, offset and size from S1. */
static void bit_field(struct emit *e, const struct uop *u,
                      const struct scalar_recipe *r)
{
    struct x86 *x = e->x;
    load_source(e, RAX, &u->s[0]);
    load_source(e, RCX, &u->s[1]);
    x86_shift(x, (enum x86_shift)r->alu, r->wide, RAX, RAX, RCX);
    x86_shift_imm(x, SHIFT_SHR, false, RCX, 16);
    x86_alu_imm(x, ALU_AND, false, RCX, 0x7f);
    if (r->alu == SHIFT_SHR) {
        x86_bzhi(x, r->wide, RAX, RAX, RCX);
    } else { /* to the top and back; a size of 0 leaves nothing */
        x86_mov_imm(x, R8, 0);
        x86_mov_imm(x, RDX, r->wide ? 64 : 32);
        x86_alu(x, ALU_SUB, false, RDX, RCX);
        x86_cmov(x, CC_S, false, RDX, R8);
        x86_shift(x, SHIFT_SHL, r->wide, RAX, RAX, RDX);
        x86_shift(x, SHIFT_SAR, r->wide, RAX, RAX, RDX);
        x86_test(x, false, RCX, RCX);
        x86_cmov(x, CC_E, true, RAX, R8);
    }
    x86_test(x, r->wide, RAX, RAX);
    finish(e, u, r);
}

static void pack(struct emit *e, const struct uop *u, const struct scalar_recipe *r)
{
    load_source(e, RAX, &u->s[0]);
    load_source(e, RCX, &u->s[1]);
    if (r->alu & 1)
        x86_shift_imm(e->x, SHIFT_SHR, false, RAX, 16);
    else
        x86_alu_imm(e->x, ALU_AND, false, RAX, 0xffff);
    if (r->alu & 2)
        x86_alu_imm(e->x, ALU_AND, false, RCX, -0x10000);
    else
        x86_shift_imm(e->x, SHIFT_SHL, false, RCX, 16);
    x86_alu(e->x, ALU_OR, false, RAX, RCX);
    finish(e, u, r);
}

/* The row that a lane is in and, of a wave of 64 lanes, the one behind go to memory;
 * written: that will be newer. */
static void lane_rows(struct emit *e, unsigned first, unsigned n, bool written)
{
    for (unsigned row = first; n--; row += WAVE_VGPRS) {
        unsigned c = e->rows.entry_of[row];
        if (c != NO_ENTRY)
            rows_store(e, c);
        if (written)
            rows_drop(e, row);
    }
}

/* Where the lane of row is that lane means (NULL: the first active one). Changes rax
 * and rcx. */
static struct x86_mem lane_at(struct emit *e, unsigned row, const struct usrc *lane,
                              bool written)
{
    struct x86 *x = e->x;
    unsigned lanes = e->wave64 ? 64 : 32;
    int32_t value;
    if (lane && is_immediate(e, lane, &value)) {
        unsigned at = (unsigned)value % lanes;
        row += at / 32 * WAVE_VGPRS;
        lane_rows(e, row, 1, written);
        return mem_at(ROWS, (int32_t)(row * ROW_BYTES + at % 32 * 4));
    }
    lane_rows(e, row, lanes / 32, written);
    if (lane) {
        load_source(e, RAX, lane);
    } else {
        x86_load(x, e->wave64, RAX, sgpr_mem(ISA_SEL_EXEC_LO));
        x86_bits(x, BITS_TZCNT, e->wave64, RAX, RAX); /* none: their number, then 0 */
    }
    if (e->wave64) {
        x86_mov(x, false, RCX, RAX);
        x86_alu_imm(x, ALU_AND, false, RCX, 32);
        _Static_assert(32 << 10 == WAVE_VGPRS * ROW_BYTES, "the upper rows are there");
        x86_shift_imm(x, SHIFT_SHL, false, RCX, 10);
    }
    x86_alu_imm(x, ALU_AND, false, RAX, 31);
    x86_shift_imm(x, SHIFT_SHL, false, RAX, 2);
    if (e->wave64)
        x86_alu(x, ALU_ADD, true, RAX, RCX);
    x86_alu(x, ALU_ADD, true, RAX, ROWS);
    return mem_at(RAX, (int32_t)(row * ROW_BYTES));
}

static void read_lane(struct emit *e, const struct uop *u,
                      const struct scalar_recipe *r)
{
    const struct usrc *lane = r->alu ? NULL : &u->s[1];
    x86_load(e->x, false, RAX, lane_at(e, u->s[0].row, lane, false));
    x86_store(e->x, false, sgpr_mem(u->d), RAX);
}

static void write_lane(struct emit *e, const struct uop *u)
{
    struct x86_mem at = lane_at(e, u->d, &u->s[1], true);
    load_source(e, RCX, &u->s[0]);
    x86_store(e->x, false, at, RCX);
}

static void compare(struct emit *e, const struct uop *u, const struct scalar_recipe *r)
{
    int32_t value;
    if (!r->wide && u->s[0].prep == PREP_SGPR && is_immediate(e, &u->s[1], &value)) {
        x86_alu_mem_imm(e->x, ALU_CMP, false, sgpr_mem(u->s[0].sel), value);
        return;
    }
    load_source(e, RAX, &u->s[0]);
    alu_source(e, ALU_CMP, r->wide, &u->s[1]);
}

static void set_priority(struct emit *e, const struct uop *u)
{
    struct x86_mem status = wave_mem(offsetof(struct wave, status_bits));
    x86_alu_mem_imm(e->x, ALU_AND, false, status, ~(int32_t)STATUS_USER_PRIO);
    x86_alu_mem_imm(e->x, ALU_OR, false, status,
                    (int32_t)((uint32_t)u->imm << 3 & STATUS_USER_PRIO));
}

static void choose(struct emit *e, const struct uop *u, const struct scalar_recipe *r)
{
    load_source(e, RCX, &u->s[0]);
    load_source(e, RAX, &u->s[1]);
    if (r->kind == SK_SELECT) {
        x86_cmp8_imm(e->x, wave_mem(offsetof(struct wave, scc)), 0);
        x86_cmov(e->x, CC_NE, r->wide, RAX, RCX);
    } else {
        x86_alu(e->x, ALU_CMP, false, RCX, RAX);
        set_scc(e, (enum x86_cc)r->alu);
        x86_cmov(e->x, (enum x86_cc)r->alu, false, RAX, RCX);
    }
    finish(e, u, r);
}

/* SCC is bit 32 and up of the sum. */
static void shift_add(struct emit *e, const struct uop *u,
                      const struct scalar_recipe *r)
{
    load_source(e, RAX, &u->s[0]);
    load_source(e, RCX, &u->s[1]);
    x86_shift_imm(e->x, SHIFT_SHL, true, RAX, r->alu);
    x86_alu(e->x, ALU_ADD, true, RAX, RCX);
    x86_store(e->x, false, sgpr_mem(u->d), RAX);
    x86_shift_imm(e->x, SHIFT_SHR, true, RAX, 32);
    set_scc(e, CC_NE);
}

static bool writes_exec(const struct uop *u, const struct scalar_recipe *r)
{
    if (r->kind >= SK_SAVEEXEC && r->kind <= SK_SAVEEXEC_NOT1)
        return true;
    return !(u->flags & UF_NO_VALUE) && u->d <= ISA_SEL_EXEC_HI &&
           u->d + (u->flags & UF_DST64 ? 2u : 1u) > ISA_SEL_EXEC_LO;
}

bool emit_scalar_fits(const struct uop *u, unsigned *dwords)
{
    const struct scalar_recipe *r = find(u->isa_op);
    bool none = r->kind == SK_HINT || r->kind == SK_COMPARE || r->kind == SK_BITCMP ||
                r->kind == SK_PRIO;
    *dwords = none ? 0 : u->flags & UF_DST64 ? 2 : 1;
    if (r->kind == SK_HINT || r->kind == SK_PRIO)
        return true;
    return has_sources(u, r) && r->kind != SK_READLANE && r->kind != SK_WRITELANE &&
           (none || !writes_exec(u, r));
}

bool emit_scalar(struct emit *e, const struct uop *u)
{
    const struct scalar_recipe *r = find(u->isa_op);
    if (!r)
        return false;
    if (r->kind == SK_HINT)
        return true;
    if (r->kind == SK_PRIO) {
        set_priority(e, u);
        return true;
    }
    if (!has_sources(u, r))
        return false;
    switch (r->kind) {
    case SK_BFE:
        bit_field(e, u, r);
        break;
    case SK_PACK:
        pack(e, u, r);
        break;
    case SK_READLANE:
        read_lane(e, u, r);
        break;
    case SK_WRITELANE: /* ignores EXEC and has a row as result */
        write_lane(e, u);
        return true;
    case SK_BITCMP:
        load_source(e, RAX, &u->s[0]);
        load_source(e, RCX, &u->s[1]);
        x86_shift(e->x, SHIFT_SHR, r->wide, RAX, RAX, RCX);
        x86_alu_imm(e->x, ALU_AND, false, RAX, 1);
        set_scc(e, (enum x86_cc)r->alu);
        return true;
    case SK_COMPARE:
        compare(e, u, r);
        set_scc(e, (enum x86_cc)r->alu);
        break;
    case SK_CHOOSE:
    case SK_SELECT:
        choose(e, u, r);
        break;
    case SK_SHIFT_ADD:
        shift_add(e, u, r);
        break;
    case SK_SAVEEXEC:
    case SK_SAVEEXEC_NOT0:
    case SK_SAVEEXEC_NOT1:
        saveexec(e, u, r);
        break;
    default:
        compute(e, u, r);
    }
    if (writes_exec(u, r))
        emit_new_exec(e);
    return true;
}

bool emit_branch_test(struct emit *e, const struct uop *u, enum x86_cc *taken)
{
    static const struct {
        uint16_t op, sel;
        uint8_t cc;
    } branches[] = {
        {ISA_S_CBRANCH_SCC0, ISA_SEL_SCC, CC_E},
        {ISA_S_CBRANCH_SCC1, ISA_SEL_SCC, CC_NE},
        {ISA_S_CBRANCH_VCCZ, ISA_SEL_VCC_LO, CC_E},
        {ISA_S_CBRANCH_VCCNZ, ISA_SEL_VCC_LO, CC_NE},
        {ISA_S_CBRANCH_EXECZ, ISA_SEL_EXEC_LO, CC_E},
        {ISA_S_CBRANCH_EXECNZ, ISA_SEL_EXEC_LO, CC_NE},
    };
    for (size_t i = 0; i < sizeof branches / sizeof *branches; i++) {
        if (branches[i].op != u->isa_op)
            continue;
        if (!e)
            return true;
        *taken = (enum x86_cc)branches[i].cc;
        bool scc = branches[i].sel == ISA_SEL_SCC;
        if (scc && !e->watch && e->flags_at == x86_here(e->x))
            *taken = (enum x86_cc)(e->flags_scc ^ (*taken == CC_E));
        else if (scc)
            x86_cmp8_imm(e->x, wave_mem(offsetof(struct wave, scc)), 0);
        else
            x86_alu_mem_imm(e->x, ALU_CMP, e->wave64, sgpr_mem(branches[i].sel), 0);
        return true;
    }
    return false;
}
