/* location.c: where variables are: DWARF location expressions on a wave and a lane.
 *
 * clang names registers by the numbers of AMDGPUUsage ("DWARF register identifiers"): a
 * vector register means the lane's part of it. What is based on a frame lies in
 * scratch; an address and an address space joined by DW_OP_xderef are an address in
 * that space. SPDX-License-Identifier: MIT
 */
#ifdef RDNA3_HAVE_LIBDW

#include <string.h>

#include "event.h"
#include "internal.h"

#define STACK   64u
#define MAX_OPS 4096u
#define NO_SEL  0xffffffffu

struct entry {
    uint64_t value;
    unsigned space; /* SPACE_FLAT: a number or a global address */
    unsigned sel;   /* the register that it is the value of, or NO_SEL */
};

struct evaluation {
    struct source *s;
    const struct source_machine *m;
    uint64_t va;
    Dwarf_Attribute *attr;
    uint64_t function; /* DIE with the frame base */
    struct entry stack[STACK];
    unsigned n;
    unsigned sel; /* a register is the location, else NO_SEL */
    bool is_value;
    struct vpiece *pieces;
    unsigned n_pieces;
    unsigned depth;
    const char *why;
};

/* enum isa_sel of a DWARF register, NO_SEL for those that are none. */
static unsigned selector(const struct source_machine *m, uint64_t reg)
{
    unsigned vgpr = m->lanes == 64 ? 2560 : 1536;
    if (reg == 1 || reg == 17)
        return ISA_SEL_EXEC_LO;
    if (reg >= 32 && reg <= 95)
        return ISA_SEL_SGPR0 + (unsigned)reg - 32;
    if (reg >= 1088 && reg <= 1129)
        return ISA_SEL_SGPR0 + 64 + (unsigned)reg - 1088;
    if (reg == 512 || reg == 768)
        return ISA_SEL_VCC_LO;
    if (reg >= vgpr && reg < vgpr + 256)
        return ISA_SEL_VGPR0 + (unsigned)reg - vgpr;
    return NO_SEL;
}

static bool fail(struct evaluation *e, const char *why)
{
    e->why = why;
    return false;
}

static bool push(struct evaluation *e, uint64_t value, unsigned space)
{
    if (e->n == STACK)
        return fail(e, "its location needs too deep a stack");
    e->stack[e->n++] = (struct entry){value, space, NO_SEL};
    return true;
}

static bool need(struct evaluation *e, unsigned n)
{
    return e->n >= n || fail(e, "its location takes more than there is");
}

static bool register_value(struct evaluation *e, uint64_t reg, uint64_t *out)
{
    unsigned sel = selector(e->m, reg);
    uint32_t value;
    if (sel == NO_SEL || !e->m->reg(e->m->ctx, sel, &value))
        return fail(e, "its location names a register that is not there");
    *out = value;
    return true;
}

static bool run(struct evaluation *e, Dwarf_Op *ops, size_t n);

/* The frame base of the function around: an address in scratch. */
static bool frame_base(struct evaluation *e, uint64_t *out)
{
    Dwarf_Die die;
    Dwarf_Attribute attr;
    Dwarf_Op *ops;
    size_t n;
    if (e->depth || !e->function ||
        !libdw()->dwarf_offdie(e->s->dwarf, e->function, &die) ||
        !libdw()->dwarf_attr(&die, DW_AT_frame_base, &attr) ||
        libdw()->dwarf_getlocation_addr(&attr, e->va, &ops, &n, 1) != 1)
        return fail(e, "its function has no frame base");
    struct evaluation inner = {
        .s = e->s, .m = e->m, .va = e->va, .attr = &attr, .sel = NO_SEL, .depth = 1};
    if (!run(&inner, ops, n))
        return fail(e, inner.why);
    uint32_t value;
    if (inner.sel != NO_SEL && e->m->reg(e->m->ctx, inner.sel, &value))
        *out = value;
    else if (inner.n)
        *out = inner.stack[inner.n - 1].value;
    else
        return fail(e, "its function's frame base says nothing");
    return true;
}

static bool dereference(struct evaluation *e, uint64_t address, unsigned space,
                        unsigned bytes, uint64_t *out)
{
    *out = 0;
    if (bytes > 8 ||
        !e->m->read(e->m->ctx, space == SPACE_FLAT ? EMU_SPACE_GLOBAL : space, address,
                    bytes, out))
        return fail(e, "its location is behind memory that cannot be read");
    return true;
}

static bool binary(struct evaluation *e, unsigned op)
{
    if (!need(e, 2))
        return false;
    struct entry b = e->stack[--e->n];
    struct entry *a = &e->stack[e->n - 1];
    uint64_t x = a->value, y = b.value;
    a->sel = NO_SEL;
    if (a->space == SPACE_FLAT)
        a->space = b.space;
    switch (op) {
    case DW_OP_plus:
        a->value = x + y;
        return true;
    case DW_OP_minus:
        a->value = x - y;
        return true;
    case DW_OP_mul:
        a->value = x * y;
        return true;
    case DW_OP_and:
        a->value = x & y;
        return true;
    case DW_OP_or:
        a->value = x | y;
        return true;
    case DW_OP_xor:
        a->value = x ^ y;
        return true;
    case DW_OP_shl:
        a->value = y < 64 ? x << y : 0;
        return true;
    case DW_OP_shr:
        a->value = y < 64 ? x >> y : 0;
        return true;
    case DW_OP_shra:
        a->value = (uint64_t)((int64_t)x >> (y < 63 ? y : 63));
        return true;
    case DW_OP_div:
        if (!y || (x == 1ull << 63 && y == ~0ull))
            return fail(e, "its location divides by zero");
        a->value = (uint64_t)((int64_t)x / (int64_t)y);
        return true;
    default: /* DW_OP_mod */
        if (!y)
            return fail(e, "its location divides by zero");
        a->value = x % y;
        return true;
    }
}

static bool shuffle(struct evaluation *e, unsigned op, uint64_t index)
{
    struct entry *top = &e->stack[e->n];
    switch (op) {
    case DW_OP_dup:
        return need(e, 1) && push(e, top[-1].value, top[-1].space);
    case DW_OP_drop:
        if (!need(e, 1))
            return false;
        e->n--;
        return true;
    case DW_OP_over:
        return need(e, 2) && push(e, top[-2].value, top[-2].space);
    case DW_OP_pick:
        if (index >= e->n)
            return fail(e, "its location takes more than there is");
        return push(e, e->stack[e->n - 1 - index].value,
                    e->stack[e->n - 1 - index].space);
    default: /* DW_OP_swap */
        if (!need(e, 2))
            return false;
        struct entry t = top[-1];
        top[-1] = top[-2];
        top[-2] = t;
        return true;
    }
}

/* address, space -> the address in it: clang means the place, not what is there.
 *
 * A local of OpenCL C that was promoted to a register keeps the words "in private
 * memory" that its place on the stack had: a register's own value, taken as an address
 * in private memory, is the variable itself. What is on the stack is told by its frame.
 */
static bool in_space(struct evaluation *e)
{
    if (!need(e, 2))
        return false;
    unsigned sel = e->stack[e->n - 1].sel;
    uint64_t address = e->stack[--e->n].value, space = e->stack[--e->n].value;
    if (space == 1 && sel != NO_SEL) {
        e->sel = sel;
        return true;
    }
    /* the space is pushed behind the address and swapped below it */
    if (space > 2)
        return fail(e, "its location is in an unknown address space");
    return push(e, address,
                space == 2   ? EMU_SPACE_LDS
                : space == 1 ? EMU_SPACE_SCRATCH
                             : SPACE_FLAT);
}

static bool add_piece(struct evaluation *e, uint64_t bytes)
{
    if (e->depth || e->n_pieces == VPIECES)
        return fail(e, "it lies in too many pieces");
    struct vpiece *p = &e->pieces[e->n_pieces++];
    memset(p, 0, sizeof *p);
    p->bytes = bytes;
    if (e->sel != NO_SEL) {
        p->kind = VPIECE_REGISTER;
        p->sel = e->sel;
    } else if (e->n && e->is_value) {
        p->kind = VPIECE_VALUE;
        memcpy(p->value, &e->stack[e->n - 1].value, 8);
    } else if (e->n) {
        p->kind = VPIECE_MEMORY;
        p->space = e->stack[e->n - 1].space;
        p->address = e->stack[e->n - 1].value;
        if (p->space == SPACE_FLAT)
            p->space = EMU_SPACE_GLOBAL;
    }
    e->n = 0;
    e->sel = NO_SEL;
    e->is_value = false;
    return true;
}

static bool implicit_value(struct evaluation *e, Dwarf_Op *op)
{
    Dwarf_Block block;
    uint64_t value = 0;
    if (libdw()->dwarf_getlocation_implicit_value(e->attr, op, &block) != 0)
        return fail(e, "its value is not readable");
    memcpy(&value, block.data, block.length < 8 ? block.length : 8);
    e->is_value = true;
    return push(e, value, SPACE_FLAT);
}

/* DW_OP_addrx: the address is in a table. */
static bool indexed_address(struct evaluation *e, Dwarf_Op *op)
{
    Dwarf_Attribute attr;
    Dwarf_Addr address;
    if (libdw()->dwarf_getlocation_attr(e->attr, op, &attr) != 0 ||
        libdw()->dwarf_formaddr(&attr, &address) != 0)
        return fail(e, "its address is not readable");
    return push(e, address, SPACE_FLAT);
}

/* A register's value and an offset. */
static bool based(struct evaluation *e, uint64_t reg, uint64_t offset)
{
    uint64_t value;
    if (!register_value(e, reg, &value) || !push(e, value + offset, EMU_SPACE_SCRATCH))
        return false;
    if (!offset)
        e->stack[e->n - 1].sel = selector(e->m, reg);
    return true;
}

/* Numbers, registers and addresses that an operation pushes. */
static bool basic(struct evaluation *e, Dwarf_Op *op, bool *known)
{
    uint64_t value;
    unsigned a = op->atom;
    *known = true;
    if (a >= DW_OP_lit0 && a <= DW_OP_lit31)
        return push(e, a - DW_OP_lit0, SPACE_FLAT);
    if ((a >= DW_OP_reg0 && a <= DW_OP_reg31) || a == DW_OP_regx) {
        e->sel = selector(e->m, a == DW_OP_regx ? op->number : a - DW_OP_reg0);
        return e->sel != NO_SEL ||
               fail(e, "its location names a register that is not there");
    }
    if (a >= DW_OP_breg0 && a <= DW_OP_breg31)
        return based(e, a - DW_OP_breg0, op->number);
    switch (a) {
    case DW_OP_bregx:
        return based(e, op->number, op->number2);
    case DW_OP_fbreg:
        return frame_base(e, &value) && push(e, value + op->number, EMU_SPACE_SCRATCH);
    case DW_OP_addr:
        return push(e, op->number, SPACE_FLAT);
    case DW_OP_addrx:
        return indexed_address(e, op);
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_const8u:
    case DW_OP_const8s:
    case DW_OP_constu:
    case DW_OP_consts:
        return push(e, op->number, SPACE_FLAT);
    default:
        *known = false;
        return true;
    }
}

static bool one(struct evaluation *e, Dwarf_Op *op)
{
    bool known;
    uint64_t value;
    if (!basic(e, op, &known))
        return false;
    if (known)
        return true;
    switch (op->atom) {
    case DW_OP_nop:
        return true;
    case DW_OP_dup:
    case DW_OP_drop:
    case DW_OP_over:
    case DW_OP_pick:
    case DW_OP_swap:
        return shuffle(e, op->atom, op->number);
    case DW_OP_plus:
    case DW_OP_minus:
    case DW_OP_mul:
    case DW_OP_and:
    case DW_OP_or:
    case DW_OP_xor:
    case DW_OP_shl:
    case DW_OP_shr:
    case DW_OP_shra:
    case DW_OP_div:
    case DW_OP_mod:
        return binary(e, op->atom);
    case DW_OP_plus_uconst:
        if (!need(e, 1))
            return false;
        e->stack[e->n - 1].value += op->number;
        e->stack[e->n - 1].sel = NO_SEL;
        return true;
    case DW_OP_neg:
    case DW_OP_not:
        if (!need(e, 1))
            return false;
        value = e->stack[e->n - 1].value;
        e->stack[e->n - 1].value = op->atom == DW_OP_neg ? 0 - value : ~value;
        return true;
    case DW_OP_deref:
    case DW_OP_deref_size:
        if (!need(e, 1) ||
            !dereference(e, e->stack[e->n - 1].value, e->stack[e->n - 1].space,
                         op->atom == DW_OP_deref ? 8 : (unsigned)op->number & 0xff,
                         &value))
            return false;
        e->stack[e->n - 1] = (struct entry){value, SPACE_FLAT, NO_SEL};
        return true;
    case DW_OP_xderef:
        return in_space(e);
    case DW_OP_stack_value:
        e->is_value = true;
        return true;
    case DW_OP_implicit_value:
        return implicit_value(e, op);
    case DW_OP_piece:
        return add_piece(e, op->number);
    case DW_OP_entry_value:
    case DW_OP_GNU_entry_value:
        return fail(e, "optimized out (it was an argument)");
    default:
        return fail(e, "its location has an operation that is not known here");
    }
}

static bool run(struct evaluation *e, Dwarf_Op *ops, size_t n)
{
    if (n > MAX_OPS)
        return fail(e, "its location is too long");
    for (size_t i = 0; i < n; i++)
        if (!one(e, &ops[i]))
            return false;
    return true;
}

/* DW_AT_const_value. */
static unsigned constant(Dwarf_Die *die, struct vpiece *p)
{
    Dwarf_Attribute attr;
    Dwarf_Sword value;
    if (!libdw()->dwarf_attr_integrate(die, DW_AT_const_value, &attr) ||
        libdw()->dwarf_formsdata(&attr, &value) != 0)
        return 0;
    *p = (struct vpiece){.kind = VPIECE_VALUE, .bytes = 8};
    memcpy(p->value, &value, sizeof value);
    return 1;
}

unsigned source_locate(struct source *s, const struct source_variable *v, uint64_t va,
                       const struct source_machine *m, struct vpiece pieces[VPIECES],
                       const char **why)
{
    Dwarf_Die die;
    Dwarf_Attribute attr;
    Dwarf_Op *ops;
    size_t n;
    *why = "optimized out";
    if (!libdw()->dwarf_offdie(s->dwarf, v->offset, &die))
        return 0;
    if (!libdw()->dwarf_attr_integrate(&die, DW_AT_location, &attr))
        return constant(&die, pieces);
    if (libdw()->dwarf_getlocation_addr(&attr, va, &ops, &n, 1) != 1 || !n)
        return 0;
    struct evaluation e = {.s = s,
                           .m = m,
                           .va = va,
                           .attr = &attr,
                           .function = v->scope,
                           .sel = NO_SEL,
                           .pieces = pieces};
    if (!run(&e, ops, n)) {
        *why = e.why;
        return 0;
    }
    if (!e.n_pieces && (e.n || e.sel != NO_SEL) && !add_piece(&e, v->type->bytes)) {
        *why = e.why;
        return 0;
    }
    for (unsigned i = 0; i < e.n_pieces; i++)
        if (pieces[i].kind == VPIECE_MEMORY && pieces[i].space == EMU_SPACE_GLOBAL)
            pieces[i].address += m->bias;
    return e.n_pieces;
}

#endif
