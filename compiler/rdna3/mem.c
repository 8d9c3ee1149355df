/* mem.c: LOADs and STOREs as instructions.
 *
 * Neighbours of one stretch become one wide access; what all lanes read alike, from
 * memory that nobody writes, is read by the scalar unit. A gate becomes a change of
 * EXEC around the access. Registers as memory cost nothing where the register itself
 * can be used.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#define NONE ((struct mi_opnd){0})
#define FAR  8 /* elements to either side that are looked at */

struct mi_opnd rdna3_narrow(struct rdna3 *r, struct mi_opnd gate)
{
    struct mi_opnd saved = mi_reg(r, rdna3_reg(r, false, 1));
    RDNA3_PUT(r, "s_and_saveexec_b32 %0, %1", 1, saved, rdna3_to_mask(r, gate));
    return saved;
}

void rdna3_restore(struct rdna3 *r, struct mi_opnd saved)
{
    RDNA3_PUT(r, "s_mov_b32 %0, %1", 1, (struct mi_opnd){.kind = MI_EXEC}, saved);
}

static void access(struct rdna3 *r, bool lds, const char *text, unsigned n_def,
                   struct mi_opnd data, struct rdna3_address a)
{
    if (lds)
        RDNA3_PUT(r, text, n_def, data, a.vector, mi_imm(a.offset));
    else
        RDNA3_PUT(r, text, n_def, data, a.vector, a.base, mi_imm(a.offset));
}

static bool is_lds(const struct rdna3 *r, const struct cc_inst *n)
{
    return r->p->insts[n->src[0]].op == CC_BUFFER;
}

/* ---- neighbours ---- */

/* Operations by their distance in elements from one of them; UINT32_MAX: none. */
struct around {
    uint32_t at[2 * FAR + 1];
};

static void note(const struct rdna3 *r, uint32_t at, uint32_t other, struct around *a)
{
    int64_t bytes = cc_dtype_bytes(r->p->insts[r->place[at].memory].dtype);
    int64_t d = r->place[other].offset - r->place[at].offset;
    if (d % bytes || d / bytes < -FAR || d / bytes > FAR)
        return;
    if (a->at[FAR + d / bytes] == UINT32_MAX)
        a->at[FAR + d / bytes] = other;
}

/* LOADs after this one that could be done now. */
static void loads_around(const struct rdna3 *r, uint32_t at, struct around *a)
{
    const struct cc_prog *p = r->p;
    bool lds = is_lds(r, &p->insts[at]);
    memset(a, 0xff, sizeof *a);
    a->at[FAR] = at;
    for (uint32_t i = at + 1; i < p->count && r->block[i] == r->block[at]; i++) {
        const struct cc_inst *n = &p->insts[i];
        if (n->op == CC_STORE && !rdna3_is_reg(p, n) && is_lds(r, n) == lds)
            break;
        if (n->op == CC_LOAD && !r->done[i] && !r->place[i].gate &&
            rdna3_same_terms(&r->place[i], &r->place[at]))
            note(r, at, i, a);
    }
}

/* STOREs after this one that it could wait for. */
static void stores_around(const struct rdna3 *r, uint32_t at, struct around *a)
{
    const struct cc_prog *p = r->p;
    const struct cc_inst *first = &p->insts[at];
    memset(a, 0xff, sizeof *a);
    a->at[FAR] = at;
    for (uint32_t i = at + 1; i < p->count && r->block[i] == r->block[at]; i++) {
        const struct cc_inst *n = &p->insts[i];
        if (n->op == CC_LOAD && !rdna3_is_reg(p, n) && is_lds(r, n) == is_lds(r, first))
            break;
        if (n->op != CC_STORE)
            continue;
        if (rdna3_is_reg(p, n) || !rdna3_same_terms(&r->place[i], &r->place[at]))
            break;
        if (!r->done[i] && n->n_src == first->n_src &&
            (n->n_src < 4 || n->src[3] == first->src[3]))
            note(r, at, i, a);
    }
}

/* The widest group of neighbours with this one in it: elements, and where it begins. */
static unsigned widest(const struct rdna3 *r, uint32_t at, const struct around *a,
                       unsigned most, int *begin)
{
    const struct rdna3_place *p = &r->place[at];
    int bytes = (int)cc_dtype_bytes(r->p->insts[p->memory].dtype);
    bool lds = r->p->insts[p->memory].op == CC_BUFFER;
    struct rdna3_place terms = *p;
    terms.offset = 0;
    int64_t align = rdna3_alignment(r, &terms);
    for (unsigned pass = 0; pass < 2; pass++)
        for (int count = (int)most; count > 1; count /= 2) {
            int64_t want = lds || pass == 0 ? count * bytes : 4;
            for (int s = 1 - count; s <= 0; s++) {
                bool all = count * bytes >= 4 && align % want == 0 &&
                           (p->offset + s * bytes) % want == 0;
                for (int k = s; k < s + count && all; k++)
                    all = a->at[FAR + k] != UINT32_MAX;
                *begin = s;
                if (all)
                    return (unsigned)count;
            }
        }
    return 1;
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
    if (dwords < 4)
        return load_text(dwords == 1 ? CC_DT_U32 : CC_DT_U64, lds);
    return lds ? "ds_load_b128 %0, %1 offset:%2"
               : "global_load_b128 %0, %1, %2 offset:%3";
}

/* A bool is 0 or 1 in memory and in registers. */
static void loaded(struct rdna3 *r, uint32_t at, struct mi_opnd d)
{
    if (r->p->insts[at].dtype == CC_DT_BOOL) {
        struct mi_opnd m = mi_reg(r, rdna3_mask(r)), src[2] = {mi_imm(0), d};
        rdna3_op(r, "v_cmp_ne_u32 %0, %1, %2", m, 2, src);
        d = m;
    }
    r->value[at] = d;
}

static struct mi_opnd element(struct rdna3 *r, uint32_t at)
{
    const struct cc_inst *n = &r->p->insts[at];
    const struct cc_uop *i = r->p->nodes[n->src[1]];
    if (i->op != CC_CONST || i->arg[0] < 0 ||
        i->arg[0] >= cc_memory_elements(&r->p->insts[n->src[0]])) {
        rdna3_fail(r, RD_E_UNSUPPORTED, at, "indexes registers by no constant");
        return NONE;
    }
    return r->elements[n->src[0]][i->arg[0]];
}

static void load_register(struct rdna3 *r, uint32_t at)
{
    struct mi_opnd e = element(r, at);
    if (r->status != RD_OK)
        return;
    if (!rdna3_is_alias(r, at)) {
        struct mi_opnd copy = mi_reg(r, rdna3_reg(r, true, e.width));
        for (unsigned i = 0; i < e.width; i++)
            RDNA3_PUT(r, "v_mov_b32 %0, %1", 1, mi_part(copy, i), mi_part(e, i));
        e = copy;
    }
    loaded(r, at, e);
}

/* An element of a group out of the wide register. */
static void take(struct rdna3 *r, uint32_t at, struct mi_opnd wide, unsigned k)
{
    unsigned bytes = cc_dtype_bytes(r->p->insts[at].dtype);
    struct mi_opnd dword = mi_part(wide, k * bytes / 4);
    r->done[at] = true;
    r->home[at] = r->scope;
    if (bytes == 8)
        dword.width = 2;
    r->value[at] = dword;
    if (bytes >= 4)
        return;
    r->packed[at] = dword;
    r->half[at] = (uint8_t)(1 + k % 2);
    if (k % 2) {
        struct mi_opnd d = mi_reg(r, rdna3_reg(r, true, 1)),
                       src[2] = {mi_imm(16), dword};
        rdna3_op(r, "v_lshrrev_b32 %0, %1, %2", d, 2, src);
        r->value[at] = d;
    }
}

/* Can the group be loaded to where its elements are stored? */
static struct mi_opnd common_dest(const struct rdna3 *r, const uint32_t *list,
                                  unsigned count)
{
    struct mi_opnd first = r->dest[list[0]];
    for (unsigned k = 0; k < count; k++) {
        struct mi_opnd d = r->dest[list[k]];
        if (d.kind != MI_REG || d.reg != first.reg || d.sub != first.sub + k)
            return NONE;
    }
    first.width = (uint8_t)count;
    return first;
}

static struct mi_opnd group_dest(struct rdna3 *r, const uint32_t *list, unsigned count,
                                 unsigned dwords)
{
    struct mi_opnd d = NONE;
    if (cc_dtype_bytes(r->p->insts[list[0]].dtype) == 4)
        d = common_dest(r, list, count);
    else if (r->p->insts[list[0]].dtype == CC_DT_F16 ||
             r->p->insts[list[0]].dtype == CC_DT_BF16)
        d = rdna3_fragment(r, list, count);
    return d.kind == MI_REG ? d : mi_reg(r, rdna3_reg(r, true, dwords));
}

/* Up to 16 bytes at once; false if there is nothing to join. */
static bool load_wide(struct rdna3 *r, uint32_t at)
{
    const struct cc_inst *n = &r->p->insts[at];
    unsigned bytes = cc_dtype_bytes(n->dtype);
    bool f16 = n->dtype == CC_DT_F16 || n->dtype == CC_DT_BF16, lds = is_lds(r, n);
    struct around a;
    int begin = 0;
    if (bytes != 4 && bytes != 8 && !f16)
        return false;
    loads_around(r, at, &a);
    unsigned count = widest(r, at, &a, 16 / bytes, &begin);
    if (count == 1)
        return false;
    const uint32_t *list = a.at + FAR + begin;
    unsigned dwords = count * bytes / 4;
    struct mi_opnd wide = group_dest(r, list, count, dwords);
    access(r, lds, wide_load_text(dwords, lds), 1, wide,
           rdna3_address(r, &r->place[list[0]]));
    for (unsigned k = 0; k < count; k++)
        take(r, list[k], wide, k);
    return true;
}

static bool stored_to(const struct rdna3 *r, uint32_t memory)
{
    for (uint32_t i = 0; i < r->p->count; i++)
        if (r->p->insts[i].op == CC_STORE && r->p->insts[i].src[0] == memory)
            return true;
    return false;
}

static struct mi_opnd plus_scalar(struct rdna3 *r, struct mi_opnd x, int64_t c)
{
    struct mi_opnd s = mi_reg(r, rdna3_reg(r, false, 1));
    RDNA3_PUT(r, "s_add_i32 %0, %1, %2", 1, s, x, mi_imm((int32_t)c));
    return s;
}

/* The same address for all lanes, in memory that nobody writes: scalar loads. */
static bool load_scalar(struct rdna3 *r, uint32_t at)
{
    static const char *const plain[] = {
        "s_load_b32 %0, %1, %2", "s_load_b64 %0, %1, %2", "s_load_b128 %0, %1, %2"};
    static const char *const indexed[] = {"s_load_b32 %0, %1, %2 offset:%3",
                                          "s_load_b64 %0, %1, %2 offset:%3",
                                          "s_load_b128 %0, %1, %2 offset:%3"};
    const struct cc_inst *n = &r->p->insts[at];
    struct rdna3_place *p = &r->place[at];
    struct around a;
    int begin = 0;
    if (r->thrifty || is_lds(r, n) || cc_dtype_bytes(n->dtype) != 4 ||
        !rdna3_is_uniform(r, p) || stored_to(r, p->memory))
        return false;
    loads_around(r, at, &a);
    unsigned count = widest(r, at, &a, 4, &begin), log = count == 4 ? 2 : count == 2;
    if (count == 1)
        begin = 0;
    const uint32_t *list = a.at + FAR + begin;
    struct mi_opnd d = mi_reg(r, rdna3_reg(r, false, count));
    int64_t offset = r->place[list[0]].offset;
    struct mi_opnd sum = p->n ? rdna3_sum(r, p, false) : NONE;
    if (sum.kind == MI_NONE && (offset < 0 || offset >= 1 << 20)) {
        sum = mi_reg(r, rdna3_reg(r, false, 1));
        RDNA3_PUT(r, "s_mov_b32 %0, %1", 1, sum, mi_imm((int32_t)offset));
        offset = 0;
    } else if (p->whole || offset < 0 || offset >= 1 << 20) {
        sum = plus_scalar(r, sum, offset);
        offset = 0;
    }
    if (sum.kind == MI_NONE)
        RDNA3_PUT(r, plain[log], 1, d, r->param[p->memory], mi_imm(offset));
    else
        RDNA3_PUT(r, indexed[log], 1, d, r->param[p->memory], sum, mi_imm(offset));
    for (unsigned k = 0; k < count; k++) {
        r->value[list[k]] = mi_part(d, k);
        r->home[list[k]] = r->scope;
        r->done[list[k]] = true;
    }
    return true;
}

void rdna3_load(struct rdna3 *r, uint32_t at)
{
    const struct cc_inst *n = &r->p->insts[at];
    unsigned width = cc_dtype_bytes(n->dtype) == 8 ? 2 : 1;
    if (r->done[at])
        return;
    if (rdna3_is_reg(r->p, n)) {
        load_register(r, at);
        return;
    }
    if (n->n_src == 2 && (load_scalar(r, at) || load_wide(r, at)))
        return;
    bool lds = is_lds(r, n);
    struct mi_opnd d = r->dest[at], saved = NONE;
    if (d.kind != MI_REG)
        d = mi_reg(r, rdna3_reg(r, true, width));
    struct rdna3_address a = rdna3_address(r, &r->place[at]);
    if (n->n_src > 2) { /* lanes behind the gate get 0 */
        for (unsigned i = 0; i < width; i++)
            RDNA3_PUT(r, "v_mov_b32 %0, %1", 1, mi_part(d, i), mi_imm(0));
        saved = rdna3_narrow(r, r->value[n->src[2]]);
    }
    access(r, lds, load_text(n->dtype, lds), 1, d, a);
    if (n->n_src > 2)
        rdna3_restore(r, saved);
    loaded(r, at, d);
}

/* ---- stores ---- */

static const char *store_text(unsigned bytes, bool lds)
{
    switch (bytes) {
    case 1:
        return lds ? "ds_store_b8 %1, %0 offset:%2"
                   : "global_store_b8 %1, %0, %2 offset:%3";
    case 2:
        return lds ? "ds_store_b16 %1, %0 offset:%2"
                   : "global_store_b16 %1, %0, %2 offset:%3";
    case 4:
        return lds ? "ds_store_b32 %1, %0 offset:%2"
                   : "global_store_b32 %1, %0, %2 offset:%3";
    case 8:
        return lds ? "ds_store_b64 %1, %0 offset:%2"
                   : "global_store_b64 %1, %0, %2 offset:%3";
    default:
        return lds ? "ds_store_b128 %1, %0 offset:%2"
                   : "global_store_b128 %1, %0, %2 offset:%3";
    }
}

static bool same_register(struct mi_opnd a, struct mi_opnd b)
{
    return a.kind == MI_REG && b.kind == MI_REG && a.reg == b.reg && a.sub == b.sub;
}

static void store_register(struct rdna3 *r, uint32_t at, struct mi_opnd v)
{
    const struct cc_inst *n = &r->p->insts[at];
    struct mi_opnd e = element(r, at), saved = NONE;
    if (r->status != RD_OK || same_register(e, v))
        return;
    if (n->n_src > 3)
        saved = rdna3_narrow(r, r->value[n->src[3]]);
    for (unsigned i = 0; i < e.width; i++)
        RDNA3_PUT(r, "v_mov_b32 %0, %1", 1, mi_part(e, i), mi_part(v, i));
    if (n->n_src > 3)
        rdna3_restore(r, saved);
}

/* Two f16 as a dword. */
static struct mi_opnd pair_of_halves(struct rdna3 *r, uint32_t lo, uint32_t hi)
{
    struct mi_opnd a = r->packed[lo], b = r->packed[hi];
    if (r->half[lo] == 1 && r->half[hi] == 2 && same_register(a, b))
        return a;
    struct mi_opnd d = mi_reg(r, rdna3_reg(r, true, 1));
    struct mi_opnd src[3] = {rdna3_to_vector(r, r->value[hi], 1),
                             rdna3_to_vector(r, r->value[lo], 1), mi_imm(0x05040100)};
    rdna3_op(r, "v_perm_b32 %0, %1, %2, %3", d, 3, src);
    return d;
}

/* Dwords side by side: where they are, or copied together. */
static struct mi_opnd together(struct rdna3 *r, const struct mi_opnd *part, unsigned n)
{
    bool so = mi_is_vector(r, part[0]);
    for (unsigned i = 1; i < n && so; i++)
        so = mi_is_vector(r, part[i]) && part[i].reg == part[0].reg &&
             part[i].sub == part[0].sub + i;
    struct mi_opnd d = part[0];
    if (so) {
        d.width = (uint8_t)n;
        return d;
    }
    d = mi_reg(r, rdna3_reg(r, true, n));
    for (unsigned i = 0; i < n; i++)
        RDNA3_PUT(r, "v_mov_b32 %0, %1", 1, mi_part(d, i), part[i]);
    return d;
}

static struct mi_opnd group_data(struct rdna3 *r, const uint32_t *list, unsigned count,
                                 unsigned bytes)
{
    struct mi_opnd part[8];
    unsigned n = count * bytes / 4;
    const struct cc_inst *insts = r->p->insts;
    for (unsigned i = 0; i < n; i++) {
        if (bytes == 2)
            part[i] = pair_of_halves(r, insts[list[2 * i]].src[2],
                                     insts[list[2 * i + 1]].src[2]);
        else if (bytes == 4)
            part[i] = mi_part(r->value[insts[list[i]].src[2]], 0);
        else
            part[i] = mi_part(r->value[insts[list[i / 2]].src[2]], i % 2);
    }
    return together(r, part, n);
}

/* Find a group to store at once; its last operation will, when all values are there. */
static bool store_wide(struct rdna3 *r, uint32_t at)
{
    const struct cc_inst *n = &r->p->insts[at];
    enum cc_dtype dtype = r->p->insts[n->src[0]].dtype;
    unsigned bytes = cc_dtype_bytes(dtype);
    struct around a;
    int begin = 0;
    if (dtype == CC_DT_BOOL || bytes < 2 || (bytes == 2 && !cc_is_float(dtype)))
        return false;
    stores_around(r, at, &a);
    unsigned count = widest(r, at, &a, 16 / bytes, &begin);
    uint32_t *list = cc_arena_copy(&r->arena, a.at + FAR + begin, count * sizeof *list);
    uint32_t last = at;
    if (count == 1 || !list)
        return false;
    for (unsigned i = 0; i < count; i++) {
        r->done[list[i]] = true;
        last = list[i] > last ? list[i] : last;
    }
    r->group_list[last] = list;
    r->group_count[last] = (uint8_t)count;
    return true;
}

/* A group whose values are all there. */
static void store_group(struct rdna3 *r, uint32_t at)
{
    const uint32_t *list = r->group_list[at];
    unsigned count = r->group_count[at];
    const struct cc_inst *n = &r->p->insts[at];
    unsigned bytes = cc_dtype_bytes(r->p->insts[n->src[0]].dtype);
    bool lds = is_lds(r, n);
    struct mi_opnd saved = NONE, data = group_data(r, list, count, bytes);
    struct rdna3_address a = rdna3_address(r, &r->place[list[0]]);
    if (n->n_src > 3)
        saved = rdna3_narrow(r, r->value[n->src[3]]);
    access(r, lds, store_text(count * bytes, lds), 0, data, a);
    if (n->n_src > 3)
        rdna3_restore(r, saved);
}

void rdna3_store(struct rdna3 *r, uint32_t at)
{
    const struct cc_inst *n = &r->p->insts[at];
    enum cc_dtype dtype = r->p->insts[n->src[0]].dtype;
    bool lds = is_lds(r, n);
    struct mi_opnd v = r->value[n->src[2]], saved = NONE;
    if (!rdna3_is_reg(r->p, n)) {
        if (r->group_count[at])
            store_group(r, at);
        if (r->done[at] || store_wide(r, at))
            return;
    }
    if (dtype == CC_DT_BOOL)
        v = rdna3_from_mask(r, v);
    if (rdna3_is_reg(r->p, n)) {
        store_register(r, at, v);
        return;
    }
    unsigned bytes = cc_dtype_bytes(dtype);
    const char *text = store_text(bytes, lds);
    if (bytes == 2 && r->half[n->src[2]] == 2) { /* the upper half of a dword */
        v = r->packed[n->src[2]];
        text = lds ? "ds_store_b16_d16_hi %1, %0 offset:%2"
                   : "global_store_d16_hi_b16 %1, %0, %2 offset:%3";
    }
    v = rdna3_to_vector(r, v, bytes == 8 ? 2 : 1);
    struct rdna3_address a = rdna3_address(r, &r->place[at]);
    if (n->n_src > 3)
        saved = rdna3_narrow(r, r->value[n->src[3]]);
    access(r, lds, text, 0, v, a);
    if (n->n_src > 3)
        rdna3_restore(r, saved);
}
