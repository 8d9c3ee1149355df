/* rdna3_select.c: a program's operations as instructions over virtual registers.
 *
 * Memory, loops, launch and fragments are here; rdna3_alu.c has the elementwise ones.
 * Loops and their counters are uniform: scalar unit. A gate becomes a change of EXEC
 * around the access. Neighbouring LOADs become one wide one.
 * SPDX-License-Identifier: MIT
 */
#include "rdna3_plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rdna3_fail(struct rdna3 *r, rd_status status, uint32_t at, const char *fmt, ...)
{
    if (r->status != RD_OK)
        return;
    va_list ap;
    int used = snprintf(r->error, CC_ERROR_BYTES,
                        "%s %%%u: ", cc_op_name(r->p->insts[at].op), at);
    va_start(ap, fmt);
    vsnprintf(r->error + used, CC_ERROR_BYTES - (size_t)used, fmt, ap);
    va_end(ap);
    r->status = status;
}

static bool grow(void **array, uint32_t *cap, uint32_t count, size_t size)
{
    if (count < *cap)
        return true;
    uint32_t more = *cap ? 2 * *cap : 256;
    void *bigger = realloc(*array, more * size);
    if (!bigger)
        return false;
    *array = bigger;
    *cap = more;
    return true;
}

uint32_t rdna3_reg(struct rdna3 *r, bool vector, unsigned width)
{
    void *regs = r->regs;
    bool ok = grow(&regs, &r->cap_regs, r->n_regs, sizeof *r->regs);
    r->regs = regs;
    if (!ok) {
        rdna3_fail(r, RD_E_NOMEM, 0, "out of memory");
        return 0;
    }
    r->regs[r->n_regs] =
        (struct vreg){.vector = vector, .width = (uint8_t)width, .phys = -1};
    return r->n_regs++;
}

uint32_t rdna3_mask(struct rdna3 *r)
{
    uint32_t m = rdna3_reg(r, false, 1);
    r->regs[m].mask = true;
    return m;
}

struct mi *rdna3_mi(struct rdna3 *r, enum mi_kind kind, const char *text,
                    unsigned n_def, unsigned n, const struct mi_opnd *opnd)
{
    static struct mi nowhere;
    void *code = r->code;
    bool ok = grow(&code, &r->cap_code, r->n_code, sizeof *r->code);
    r->code = code;
    if (!ok) {
        rdna3_fail(r, RD_E_NOMEM, 0, "out of memory");
        return &nowhere;
    }
    struct mi *m = &r->code[r->n_code++];
    *m = (struct mi){.kind = (uint8_t)kind, .n_def = (uint8_t)n_def, .text = text};
    for (unsigned i = 0; i < n; i++)
        m->opnd[i] = opnd[i];
    return m;
}

struct mi_opnd mi_part(struct mi_opnd o, unsigned part)
{
    if (o.kind == MI_IMM)
        return mi_imm((int32_t)(uint32_t)((uint64_t)o.imm >> (32 * part)));
    o.sub = (uint8_t)(o.sub + part);
    o.width = 1;
    return o;
}

bool mi_is_vector(const struct rdna3 *r, struct mi_opnd o)
{
    return o.kind == MI_REG && r->regs[o.reg].vector;
}

static void put(struct rdna3 *r, enum mi_kind kind, const char *text, unsigned n_def,
                struct mi_opnd a, struct mi_opnd b, struct mi_opnd c, struct mi_opnd d)
{
    struct mi_opnd all[4] = {a, b, c, d};
    rdna3_mi(r, kind, text, n_def, 4, all);
}

#define NONE ((struct mi_opnd){0})

/* ---- selection ---- */

struct select {
    struct rdna3 r;
    struct mi_opnd *param;  /* of each PARAM: its address, an SGPR pair */
    struct mi_opnd *packed; /* of f16 LOADs: the dword that holds them */
    uint8_t *half;          /* and which half of it, + 1 */
    bool *done;             /* LOADs that came with an earlier one */
    uint32_t *label;        /* of each RANGE and IF */
    struct mi_opnd *saved;  /* EXEC before each IF */
};

static void constant(struct select *s, uint32_t at)
{
    const struct cc_inst *n = &s->r.p->insts[at];
    union cc_value v = {.i = n->arg[0]};
    uint64_t bits = 0;
    cc_store_scalar(n->dtype, &bits, v);
    if (!cc_is_float(n->dtype) && n->dtype != CC_DT_U64)
        bits = cc_dtype_bytes(n->dtype) == 8 ? v.u : (uint64_t)(int64_t)(int32_t)v.u;
    s->r.value[at] = mi_imm((int64_t)bits);
}

static void parameter(struct select *s, uint32_t at)
{
    const struct cc_inst *n = &s->r.p->insts[at];
    int64_t bytes = cc_memory_elements(n) * cc_dtype_bytes(n->dtype);
    if (bytes > UINT32_MAX) {
        rdna3_fail(&s->r, RD_E_UNSUPPORTED, at, "more than 4 GiB");
        return;
    }
    s->param[at] = mi_reg(&s->r, rdna3_reg(&s->r, false, 2));
    put(&s->r, MI_SLOAD, "s_load_b64 %0, %1, %2", 1, s->param[at],
        mi_reg(&s->r, s->r.kernarg - 1), mi_imm(8 * n->arg[0]), NONE);
}

static void special(struct select *s, uint32_t at)
{
    const struct cc_inst *n = &s->r.p->insts[at];
    unsigned d = (unsigned)(n->name[4] - '0');
    uint32_t *of = n->name[0] == 'g' ? s->r.group : s->r.item;
    if (of[d])
        s->r.value[at] = mi_reg(&s->r, of[d] - 1);
}

/* ---- loops and IFs ---- */

static void label(struct select *s, uint32_t number)
{
    rdna3_mi(&s->r, MI_LABEL, "", 0, 0, NULL)->label = number;
}

static void branch(struct select *s, const char *text, uint32_t number)
{
    rdna3_mi(&s->r, MI_BRANCH, text, 0, 0, NULL)->label = number;
}

static void open_range(struct select *s, uint32_t at)
{
    struct rdna3 *r = &s->r;
    const struct cc_inst *n = &r->p->insts[at];
    const struct cc_uop *last = r->p->nodes[n->src[n->n_src - 1]];
    struct mi_opnd end = r->value[n->src[n->n_src - 1]];
    struct mi_opnd from = n->n_src == 2 ? r->value[n->src[0]] : mi_imm(0);
    if (mi_is_vector(r, end) || mi_is_vector(r, from)) {
        rdna3_fail(r, RD_E_UNSUPPORTED, at, "lanes would loop differently");
        return;
    }
    struct mi_opnd i = mi_reg(r, rdna3_reg(r, false, 1));
    r->value[at] = i;
    s->label[at] = r->n_labels;
    r->n_labels += 2;
    put(r, MI_ALU, "s_mov_b32 %0, %1", 1, i, from, NONE, NONE);
    if (last->op != CC_CONST || n->n_src == 2) { /* maybe not even once */
        put(r, MI_ALU, "s_cmp_ge_i32 %0, %1", 0, i, end, NONE, NONE);
        branch(s, "s_cbranch_scc1", s->label[at] + 1);
    }
    label(s, s->label[at]);
}

static void close_range(struct select *s, uint32_t range)
{
    struct rdna3 *r = &s->r;
    const struct cc_inst *n = &r->p->insts[range];
    struct mi_opnd i = r->value[range], end = r->value[n->src[n->n_src - 1]];
    if (r->status != RD_OK)
        return;
    put(r, MI_ALU, "s_add_i32 %0, %1, %2", 1, i, i, mi_imm(1), NONE);
    put(r, MI_ALU, "s_cmp_lt_i32 %0, %1", 0, i, end, NONE, NONE);
    branch(s, "s_cbranch_scc1", s->label[range]);
    label(s, s->label[range] + 1);
}

/* Only lanes of the mask go on; what EXEC was. */
static struct mi_opnd narrow_exec(struct rdna3 *r, struct mi_opnd gate)
{
    struct mi_opnd saved = mi_reg(r, rdna3_reg(r, false, 1));
    put(r, MI_ALU, "s_and_saveexec_b32 %0, %1", 1, saved, rdna3_to_mask(r, gate), NONE,
        NONE);
    return saved;
}

static void restore_exec(struct rdna3 *r, struct mi_opnd saved)
{
    put(r, MI_ALU, "s_mov_b32 exec_lo, %0", 0, saved, NONE, NONE, NONE);
}

static void open_if(struct select *s, uint32_t at)
{
    s->saved[at] = narrow_exec(&s->r, s->r.value[s->r.p->insts[at].src[0]]);
    s->label[at] = s->r.n_labels++;
    branch(s, "s_cbranch_execz", s->label[at]);
}

static void close_if(struct select *s, uint32_t at)
{
    label(s, s->label[at]);
    restore_exec(&s->r, s->saved[at]);
}

/* ---- addresses ---- */

struct address {
    struct mi_opnd vector; /* byte offset per lane */
    struct mi_opnd base;   /* SGPR pair; NONE for LDS */
    int64_t offset;
};

/* index << log2(bytes), as a VGPR. */
static struct mi_opnd scaled(struct rdna3 *r, struct mi_opnd index, unsigned bytes)
{
    struct mi_opnd d = mi_reg(r, rdna3_reg(r, true, 1));
    struct mi_opnd src[2] = {mi_imm(__builtin_ctz(bytes)), index};
    if (index.kind == MI_IMM)
        return rdna3_to_vector(r, mi_imm(index.imm * bytes), 1);
    if (bytes == 1)
        return rdna3_to_vector(r, mi_part(index, 0), 1);
    src[1] = mi_part(index, 0);
    rdna3_op(r, "v_lshlrev_b32 %0, %1, %2", d, 2, src);
    return d;
}

static struct address address(struct select *s, const struct cc_inst *n)
{
    struct rdna3 *r = &s->r;
    struct rdna3_place p = rdna3_place(r, n);
    const struct cc_inst *m = &r->p->insts[p.memory];
    unsigned bytes = cc_dtype_bytes(m->dtype);
    struct address a = {.offset = p.offset};
    bool lds = m->op == CC_BUFFER;
    if (lds && (a.offset < 0 || p.index == UINT32_MAX)) { /* no negative offsets */
        p.index = n->src[1];
        a.offset = 0;
    }
    struct mi_opnd index = p.index == UINT32_MAX ? mi_imm(0) : r->value[p.index];
    a.vector = scaled(r, index, bytes);
    if (lds) {
        a.offset += r->lds_offset[p.memory];
        if (a.offset > 65535) {
            struct mi_opnd d = mi_reg(r, rdna3_reg(r, true, 1));
            struct mi_opnd src[2] = {mi_imm(a.offset), a.vector};
            rdna3_op(r, "v_add_nc_u32 %0, %1, %2", d, 2, src);
            a.vector = d;
            a.offset = 0;
        }
    } else {
        a.base = s->param[p.memory];
    }
    return a;
}

static void access(struct select *s, enum mi_kind kind, const char *text,
                   unsigned n_def, struct mi_opnd data, struct address a)
{
    struct rdna3 *r = &s->r;
    if (kind == MI_LDS)
        put(r, kind, text, n_def, data, a.vector, mi_imm(a.offset), NONE);
    else
        put(r, kind, text, n_def, data, a.vector, a.base, mi_imm(a.offset));
}

/* ---- loads ---- */

static const char *load_text(enum cc_dtype dtype, bool lds)
{
    switch (dtype) {
    case CC_DT_BOOL:
    case CC_DT_U8:
        return lds ? "ds_load_u8 %0, %1 offset:%2"
                   : "global_load_u8 %0, %1, %2 offset:%3";
    case CC_DT_I8:
        return lds ? "ds_load_i8 %0, %1 offset:%2"
                   : "global_load_i8 %0, %1, %2 offset:%3";
    case CC_DT_I16:
        return lds ? "ds_load_i16 %0, %1 offset:%2"
                   : "global_load_i16 %0, %1, %2 offset:%3";
    case CC_DT_U16:
    case CC_DT_F16:
    case CC_DT_BF16:
        return lds ? "ds_load_u16 %0, %1 offset:%2"
                   : "global_load_u16 %0, %1, %2 offset:%3";
    case CC_DT_I32:
    case CC_DT_U32:
    case CC_DT_F32:
        return lds ? "ds_load_b32 %0, %1 offset:%2"
                   : "global_load_b32 %0, %1, %2 offset:%3";
    default:
        return lds ? "ds_load_b64 %0, %1 offset:%2"
                   : "global_load_b64 %0, %1, %2 offset:%3";
    }
}

static const char *wide_load_text(unsigned dwords, bool lds)
{
    switch (dwords) {
    case 1:
        return load_text(CC_DT_U32, lds);
    case 2:
        return load_text(CC_DT_U64, lds);
    default:
        return lds ? "ds_load_b128 %0, %1 offset:%2"
                   : "global_load_b128 %0, %1, %2 offset:%3";
    }
}

/* A bool is 0 or 1 in memory and in registers. */
static void loaded(struct select *s, uint32_t at, struct mi_opnd d)
{
    struct rdna3 *r = &s->r;
    if (r->p->insts[at].dtype == CC_DT_BOOL) {
        struct mi_opnd m = mi_reg(r, rdna3_mask(r)), src[2] = {mi_imm(0), d};
        rdna3_op(r, "v_cmp_ne_u32 %0, %1, %2", m, 2, src);
        d = m;
    }
    r->value[at] = d;
}

static struct mi_opnd element(struct select *s, uint32_t at)
{
    struct rdna3 *r = &s->r;
    const struct cc_inst *n = &r->p->insts[at];
    const struct cc_uop *i = r->p->nodes[n->src[1]];
    if (i->op != CC_CONST || i->arg[0] < 0 ||
        i->arg[0] >= cc_memory_elements(&r->p->insts[n->src[0]])) {
        rdna3_fail(r, RD_E_UNSUPPORTED, at, "indexes registers by no constant");
        return NONE;
    }
    return mi_reg(r, r->elements[n->src[0]][i->arg[0]] - 1);
}

static void load_register(struct select *s, uint32_t at)
{
    struct rdna3 *r = &s->r;
    struct mi_opnd e = element(s, at);
    if (r->status != RD_OK)
        return;
    if (!rdna3_is_alias(r, at)) {
        struct mi_opnd copy = mi_reg(r, rdna3_reg(r, true, e.width));
        for (unsigned i = 0; i < e.width; i++)
            put(r, MI_ALU, "v_mov_b32 %0, %1", 1, mi_part(copy, i), mi_part(e, i), NONE,
                NONE);
        e = copy;
    }
    loaded(s, at, e);
}

/* The element behind the first of a run, out of the wide register. */
static void take(struct select *s, uint32_t at, struct mi_opnd wide, unsigned k)
{
    struct rdna3 *r = &s->r;
    unsigned bytes = cc_dtype_bytes(r->p->insts[at].dtype);
    s->done[at] = true;
    struct mi_opnd dword = mi_part(wide, k * bytes / 4);
    if (bytes == 8) {
        dword.width = 2;
        r->value[at] = dword;
        return;
    }
    r->value[at] = dword;
    if (bytes == 4)
        return;
    s->packed[at] = dword;
    s->half[at] = (uint8_t)(1 + k % 2);
    if (k % 2) {
        struct mi_opnd d = mi_reg(r, rdna3_reg(r, true, 1)),
                       src[2] = {mi_imm(16), dword};
        rdna3_op(r, "v_lshrrev_b32 %0, %1, %2", d, 2, src);
        r->value[at] = d;
    }
}

/* Up to 16 bytes at once; false if there is nothing to join. */
static bool load_wide(struct select *s, uint32_t at)
{
    struct rdna3 *r = &s->r;
    const struct cc_inst *n = &r->p->insts[at];
    const struct cc_inst *m = &r->p->insts[n->src[0]];
    unsigned bytes = cc_dtype_bytes(n->dtype);
    uint32_t list[8];
    bool f16 = n->dtype == CC_DT_F16 || n->dtype == CC_DT_BF16;
    if (bytes != 4 && bytes != 8 && !f16)
        return false;
    unsigned count = rdna3_run(r, at, s->done, 16 / bytes, list);
    /* LDS wants the alignment of the access, memory that of a dword */
    int64_t align = rdna3_divisor(r->p->nodes[n->src[1]]) * bytes;
    unsigned most = m->op == CC_BUFFER || bytes < 4 ? (unsigned)align : 16;
    if (bytes < 4 && m->op == CC_PARAM && align >= 4)
        most = 16;
    unsigned dwords = count * bytes >= 16  ? 4
                      : count * bytes >= 8 ? 2
                                           : count * bytes / 4;
    while (dwords * 4 > most)
        dwords /= 2;
    if (dwords == 0 || dwords * 4 <= (bytes > 4 ? bytes : f16 ? 2 : 4))
        return false;
    bool lds = m->op == CC_BUFFER;
    struct mi_opnd wide = mi_reg(r, rdna3_reg(r, true, dwords));
    access(s, lds ? MI_LDS : MI_VLOAD, wide_load_text(dwords, lds), 1, wide,
           address(s, n));
    for (unsigned k = 0; k < dwords * 4 / bytes; k++)
        take(s, list[k], wide, k);
    return true;
}

static bool stored_to(const struct rdna3 *r, uint32_t memory)
{
    for (uint32_t i = 0; i < r->p->count; i++)
        if (r->p->insts[i].op == CC_STORE && r->p->insts[i].src[0] == memory)
            return true;
    return false;
}

/* The same address for all lanes, in memory that nobody writes: one scalar load. */
static bool load_scalar(struct select *s, uint32_t at)
{
    struct rdna3 *r = &s->r;
    const struct cc_inst *n = &r->p->insts[at];
    struct rdna3_place p = rdna3_place(r, n);
    struct mi_opnd index = p.index == UINT32_MAX ? mi_imm(0) : r->value[p.index];
    if (r->p->insts[p.memory].op != CC_PARAM || cc_dtype_bytes(n->dtype) != 4 ||
        mi_is_vector(r, index) || p.offset < 0 || stored_to(r, p.memory))
        return false;
    struct mi_opnd d = mi_reg(r, rdna3_reg(r, false, 1));
    if (index.kind == MI_IMM) {
        put(r, MI_SLOAD, "s_load_b32 %0, %1, %2", 1, d, s->param[p.memory],
            mi_imm(index.imm * 4 + p.offset), NONE);
    } else {
        struct mi_opnd off = mi_reg(r, rdna3_reg(r, false, 1));
        put(r, MI_ALU, "s_lshl_b32 %0, %1, %2", 1, off, index, mi_imm(2), NONE);
        put(r, MI_SLOAD, "s_load_b32 %0, %1, %2 offset:%3", 1, d, s->param[p.memory],
            off, mi_imm(p.offset));
    }
    r->value[at] = d;
    return true;
}

static void load(struct select *s, uint32_t at)
{
    struct rdna3 *r = &s->r;
    const struct cc_inst *n = &r->p->insts[at];
    unsigned width = cc_dtype_bytes(n->dtype) == 8 ? 2 : 1;
    if (s->done[at])
        return;
    if (rdna3_is_reg(r->p, n)) {
        load_register(s, at);
        return;
    }
    if (n->n_src == 2 && (load_wide(s, at) || load_scalar(s, at)))
        return;
    bool lds = r->p->insts[n->src[0]].op == CC_BUFFER;
    struct mi_opnd d = mi_reg(r, rdna3_reg(r, true, width)), saved = NONE;
    struct address a = address(s, n);
    if (n->n_src > 2) { /* lanes behind the gate get 0 */
        for (unsigned i = 0; i < width; i++)
            put(r, MI_ALU, "v_mov_b32 %0, %1", 1, mi_part(d, i), mi_imm(0), NONE, NONE);
        saved = narrow_exec(r, r->value[n->src[2]]);
    }
    access(s, lds ? MI_LDS : MI_VLOAD, load_text(n->dtype, lds), 1, d, a);
    if (n->n_src > 2)
        restore_exec(r, saved);
    loaded(s, at, d);
}

/* ---- stores ---- */

static const char *store_text(enum cc_dtype dtype, bool lds)
{
    switch (cc_dtype_bytes(dtype)) {
    case 1:
        return lds ? "ds_store_b8 %1, %0 offset:%2"
                   : "global_store_b8 %1, %0, %2 offset:%3";
    case 2:
        return lds ? "ds_store_b16 %1, %0 offset:%2"
                   : "global_store_b16 %1, %0, %2 offset:%3";
    case 4:
        return lds ? "ds_store_b32 %1, %0 offset:%2"
                   : "global_store_b32 %1, %0, %2 offset:%3";
    default:
        return lds ? "ds_store_b64 %1, %0 offset:%2"
                   : "global_store_b64 %1, %0, %2 offset:%3";
    }
}

static void store_register(struct select *s, uint32_t at, struct mi_opnd v)
{
    struct rdna3 *r = &s->r;
    const struct cc_inst *n = &r->p->insts[at];
    struct mi_opnd e = element(s, at), saved = NONE;
    if (r->status != RD_OK || (n->n_src == 3 && r->dest[n->src[2]]))
        return;
    if (n->n_src > 3)
        saved = narrow_exec(r, r->value[n->src[3]]);
    for (unsigned i = 0; i < e.width; i++)
        put(r, MI_ALU, "v_mov_b32 %0, %1", 1, mi_part(e, i), mi_part(v, i), NONE, NONE);
    if (n->n_src > 3)
        restore_exec(r, saved);
}

static void store(struct select *s, uint32_t at)
{
    struct rdna3 *r = &s->r;
    const struct cc_inst *n = &r->p->insts[at];
    enum cc_dtype dtype = r->p->insts[n->src[0]].dtype;
    bool lds = r->p->insts[n->src[0]].op == CC_BUFFER;
    struct mi_opnd v = r->value[n->src[2]], saved = NONE;
    if (dtype == CC_DT_BOOL)
        v = rdna3_from_mask(r, v);
    if (rdna3_is_reg(r->p, n)) {
        store_register(s, at, v);
        return;
    }
    v = rdna3_to_vector(r, v, cc_dtype_bytes(dtype) == 8 ? 2 : 1);
    struct address a = address(s, n);
    if (n->n_src > 3)
        saved = narrow_exec(r, r->value[n->src[3]]);
    access(s, lds ? MI_LDS : MI_VSTORE, store_text(dtype, lds), 0, v, a);
    if (n->n_src > 3)
        restore_exec(r, saved);
}

/* ---- lanes together ---- */

/* Two f16 in a dword. */
static void pack(struct select *s, struct mi_opnd d, uint32_t lo, uint32_t hi)
{
    struct rdna3 *r = &s->r;
    struct mi_opnd a = s->packed[lo], b = s->packed[hi];
    if (s->half[lo] == 1 && s->half[hi] == 2 && a.reg == b.reg && a.sub == b.sub) {
        put(r, MI_ALU, "v_mov_b32 %0, %1", 1, d, a, NONE, NONE);
        return;
    }
    struct mi_opnd src[3] = {rdna3_to_vector(r, r->value[hi], 1),
                             rdna3_to_vector(r, r->value[lo], 1), mi_imm(0x05040100)};
    rdna3_op(r, "v_perm_b32 %0, %1, %2, %3", d, 3, src);
}

static void wmma(struct select *s, uint32_t at)
{
    struct rdna3 *r = &s->r;
    const struct cc_inst *n = &r->p->insts[at];
    struct mi_opnd f[3];
    for (unsigned i = 0; i < 3; i++)
        f[i] = mi_reg(r, rdna3_reg(r, true, 8));
    for (unsigned i = 0; i < 16; i++)
        pack(s, mi_part(f[i / 8], i % 8), n->src[2 * i], n->src[2 * i + 1]);
    for (unsigned i = 0; i < 8; i++)
        put(r, MI_ALU, "v_mov_b32 %0, %1", 1, mi_part(f[2], i),
            r->value[n->src[32 + i]], NONE, NONE);
    struct mi_opnd d = mi_reg(r, rdna3_reg(r, true, 8));
    bool bf16 = r->p->insts[n->src[0]].dtype == CC_DT_BF16;
    put(r, MI_ALU,
        bf16 ? "v_wmma_f32_16x16x16_bf16 %0, %1, %2, %3"
             : "v_wmma_f32_16x16x16_f16 %0, %1, %2, %3",
        1, d, f[0], f[1], f[2]);
    r->value[at] = d;
}

static void bpermute(struct select *s, uint32_t at)
{
    struct rdna3 *r = &s->r;
    const struct cc_inst *n = &r->p->insts[at];
    struct mi_opnd d = mi_reg(r, rdna3_reg(r, true, 1));
    put(r, MI_LDS, "ds_bpermute_b32 %0, %1, %2", 1, d,
        rdna3_to_vector(r, r->value[n->src[0]], 1),
        rdna3_to_vector(r, r->value[n->src[1]], 1), NONE);
    r->value[at] = d;
}

/* ---- all of it ---- */

static void one(struct select *s, uint32_t at)
{
    struct rdna3 *r = &s->r;
    const struct cc_inst *n = &r->p->insts[at];
    switch (n->op) {
    case CC_CONST:
        constant(s, at);
        break;
    case CC_PARAM:
        parameter(s, at);
        break;
    case CC_BUFFER:
        break;
    case CC_SPECIAL:
        special(s, at);
        break;
    case CC_RANGE:
        open_range(s, at);
        break;
    case CC_END:
        close_range(s, n->src[0]);
        break;
    case CC_IF:
        open_if(s, at);
        break;
    case CC_ENDIF:
        close_if(s, n->src[0]);
        break;
    case CC_LOAD:
        load(s, at);
        break;
    case CC_STORE:
        store(s, at);
        break;
    case CC_BARRIER:
        rdna3_mi(r, MI_BARRIER, "s_barrier", 0, 0, NULL);
        break;
    case CC_WMMA:
        wmma(s, at);
        break;
    case CC_EXTRACT:
        r->value[at] = mi_part(r->value[n->src[0]], (unsigned)n->arg[0]);
        break;
    case CC_CUSTOM:
        bpermute(s, at);
        break;
    default:
        rdna3_alu(r, at);
        break;
    }
}

/* Registers that are set when a wave starts: kernel arguments in s[0:1], groups after
 * them; work-items packed in v0, ten bits each. */
static void launch_registers(struct rdna3 *r)
{
    int next = 2;
    r->kernarg = rdna3_reg(r, false, 2) + 1;
    r->regs[r->kernarg - 1].phys = 0;
    for (unsigned d = 0; d < 3; d++) {
        r->group[d] = rdna3_reg(r, false, 1) + 1;
        r->regs[r->group[d] - 1].phys = next++;
    }
    uint32_t packed = rdna3_reg(r, true, 1);
    r->regs[packed].phys = 0;
    bool many = r->blocks[1] > 1 || r->blocks[2] > 1;
    for (unsigned d = 0; d < 3; d++) {
        struct mi_opnd v = mi_reg(r, rdna3_reg(r, true, 1));
        struct mi_opnd src[3] = {mi_reg(r, packed), mi_imm(10 * d), mi_imm(10)};
        if (d == 0 && !many)
            v = src[0];
        else
            rdna3_op(r, "v_bfe_u32 %0, %1, %2, %3", v, 3, src);
        r->item[d] = v.reg + 1;
    }
}

static void select_all(struct select *s)
{
    struct rdna3 *r = &s->r;
    size_t n = r->p->count + 1ull;
    s->param = cc_arena_alloc(&r->arena, n * sizeof *s->param);
    s->packed = cc_arena_alloc(&r->arena, n * sizeof *s->packed);
    s->saved = cc_arena_alloc(&r->arena, n * sizeof *s->saved);
    s->half = cc_arena_alloc(&r->arena, n);
    s->done = cc_arena_alloc(&r->arena, n * sizeof *s->done);
    s->label = cc_arena_alloc(&r->arena, n * sizeof *s->label);
    if (!s->param || !s->packed || !s->saved || !s->half || !s->done || !s->label) {
        rdna3_fail(r, RD_E_NOMEM, 0, "out of memory");
        return;
    }
    launch_registers(r);
    for (uint32_t i = 0; i < r->p->count && r->status == RD_OK; i++)
        one(s, i);
    rdna3_mi(r, MI_END, "s_endpgm", 0, 0, NULL);
}

/* ---- the text around the code ---- */

static unsigned n_params(const struct cc_prog *p)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->insts[i].op == CC_PARAM && p->insts[i].arg[0] >= n)
            n = p->insts[i].arg[0] + 1;
    return (unsigned)n;
}

static void print_descriptor(struct rdna3 *r, struct cc_text *t)
{
    const char *name = r->p->name;
    bool many = r->blocks[1] > 1 || r->blocks[2] > 1;
    cc_out(t, "\t.rodata\n\t.p2align 6\n\t.amdhsa_kernel %s\n", name);
    cc_out(t, "\t\t.amdhsa_user_sgpr_count 2\n"
              "\t\t.amdhsa_user_sgpr_kernarg_segment_ptr 1\n");
    cc_out(t, "\t\t.amdhsa_kernarg_size %u\n", 8 * n_params(r->p));
    cc_out(t, "\t\t.amdhsa_group_segment_fixed_size %lld\n", (long long)r->lds_bytes);
    cc_out(t, "\t\t.amdhsa_next_free_vgpr %u\n\t\t.amdhsa_next_free_sgpr %u\n",
           r->vgprs ? r->vgprs : 1, r->sgprs ? r->sgprs : 1);
    cc_out(t, "\t\t.amdhsa_wavefront_size32 1\n\t\t.amdhsa_float_denorm_mode_32 3\n"
              "\t\t.amdhsa_float_denorm_mode_16_64 3\n\t\t.amdhsa_ieee_mode 0\n"
              "\t\t.amdhsa_dx10_clamp 0\n");
    for (unsigned d = 0; d < 3; d++)
        cc_out(t, "\t\t.amdhsa_system_sgpr_workgroup_id_%c 1\n", "xyz"[d]);
    cc_out(t, "\t\t.amdhsa_system_vgpr_workitem_id %u\n\t.end_amdhsa_kernel\n",
           many ? 2u : 0u);
}

static void print_metadata(struct rdna3 *r, struct cc_text *t)
{
    const char *name = r->p->name;
    uint32_t lanes = r->blocks[0] * r->blocks[1] * r->blocks[2];
    cc_out(t, "\t.amdgpu_metadata\n---\namdhsa.kernels:\n  - .args:\n");
    for (unsigned i = 0; i < n_params(r->p); i++)
        cc_out(t,
               "      - .address_space: global\n        .offset: %u\n"
               "        .size: 8\n        .value_kind: global_buffer\n",
               8 * i);
    if (n_params(r->p) == 0)
        cc_out(t, "      []\n");
    cc_out(t,
           "    .group_segment_fixed_size: %lld\n    .kernarg_segment_align: 8\n"
           "    .kernarg_segment_size: %u\n    .max_flat_workgroup_size: %u\n"
           "    .name: %s\n    .private_segment_fixed_size: 0\n"
           "    .reqd_workgroup_size:\n      - %u\n      - %u\n      - %u\n",
           (long long)r->lds_bytes, 8 * n_params(r->p), lanes, name, r->blocks[0],
           r->blocks[1], r->blocks[2]);
    cc_out(t,
           "    .sgpr_count: %u\n    .symbol: %s.kd\n    .vgpr_count: %u\n"
           "    .wavefront_size: 32\namdhsa.target: amdgcn-amd-amdhsa--gfx1100\n"
           "amdhsa.version:\n  - 1\n  - 2\n...\n\t.end_amdgpu_metadata\n",
           r->sgprs, name, r->vgprs);
}

static rd_status print_all(struct rdna3 *r, char **text)
{
    struct cc_text t = {0};
    const char *name = r->p->name;
    cc_out(&t,
           "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx1100\"\n\t.text\n"
           "\t.globl %s\n\t.p2align 8\n\t.type %s,@function\n%s:\n",
           name, name, name);
    rdna3_print_code(r, &t);
    cc_out(&t, "\t.size %s, .-%s\n", name, name);
    print_descriptor(r, &t);
    print_metadata(r, &t);
    return cc_out_done(&t, text);
}

rd_status cc_rdna3(const struct cc_prog *p, char **text, char *error)
{
    struct select s = {.r = {.error = error}};
    struct cc_prog *flat;
    uint32_t groups[3];
    error[0] = 0;
    rd_status st = cc_prog_unroll(p, &flat);
    if (st != RD_OK) {
        snprintf(error, CC_ERROR_BYTES, "unrolling: %s", rd_status_text(st));
        return st;
    }
    s.r.p = flat;
    cc_prog_launch(flat, groups, s.r.blocks);
    rdna3_plan(&s.r);
    if (s.r.status == RD_OK)
        select_all(&s);
    if (s.r.status == RD_OK)
        rdna3_allocate(&s.r);
    st = s.r.status == RD_OK ? print_all(&s.r, text) : s.r.status;
    free(s.r.code);
    free(s.r.regs);
    free(s.r.loops);
    cc_arena_free(&s.r.arena);
    cc_prog_destroy(flat);
    return st;
}
