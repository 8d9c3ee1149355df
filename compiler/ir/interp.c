/* interp.c: the reference interpreter of linear programs.
 *
 * All lanes of a workgroup take each operation together, so a barrier has nothing to do
 * and a missing one shows nowhere: that is for other tests. Knows the meaning of
 * scalars only through scalar.c. Every access to memory is checked.
 * SPDX-License-Identifier: MIT
 */
#include "prog.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAVE 32u

struct interp {
    const struct cc_prog *p;
    size_t n_args;
    const struct cc_arg_buffer *args;
    char *error;
    uint32_t lanes, group[3], block[3];
    union cc_value **value; /* [operation][lane], or [8][lane], or memory */
    uint8_t *mask;          /* [lane]: executing */
    uint8_t *masks;         /* [depth][lane]: those of enclosing IFs */
    uint32_t depth;
    uint64_t left; /* operations until it counts as endless */
};

static rd_status trouble(struct interp *t, uint32_t at, const char *what, int64_t index,
                         uint32_t lane)
{
    const struct cc_inst *n = &t->p->insts[at];
    snprintf(t->error, CC_ERROR_BYTES,
             "%s %%%u: %s (index %" PRId64 ", group %u,%u,%u, lane %u)",
             cc_op_name(n->op), at, what, index, t->group[0], t->group[1], t->group[2],
             lane);
    return RD_E_INVALID;
}

/* Where element index of a memory is for a lane; NULL if outside. */
static void *element(struct interp *t, uint32_t memory, int64_t index, uint32_t lane)
{
    const struct cc_inst *m = &t->p->insts[memory];
    int64_t count = cc_memory_elements(m);
    if (m->op == CC_PARAM) {
        const struct cc_arg_buffer *b = &t->args[m->arg[0]];
        unsigned bytes = cc_dtype_bytes(m->dtype);
        if (index < 0 || (uint64_t)index >= b->bytes / bytes ||
            (count && index >= count))
            return NULL;
        return (char *)b->data + (uint64_t)index * bytes;
    }
    if (index < 0 || index >= count)
        return NULL;
    if (m->arg[0] == CC_SPACE_REG)
        return &t->value[memory][(uint64_t)index * t->lanes + lane];
    return &t->value[memory][index];
}

static rd_status do_memory(struct interp *t, uint32_t at)
{
    const struct cc_inst *n = &t->p->insts[at];
    bool load = n->op == CC_LOAD;
    uint32_t gate = load ? 2 : 3;
    const struct cc_inst *m = &t->p->insts[n->src[0]];
    for (uint32_t l = 0; l < t->lanes; l++) {
        bool on = t->mask[l] && (n->n_src <= gate || t->value[n->src[gate]][l].i);
        if (load)
            t->value[at][l].i = 0;
        if (!on)
            continue;
        int64_t index = t->value[n->src[1]][l].i;
        void *p = element(t, n->src[0], index, l);
        if (!p)
            return trouble(t, at, "outside the buffer", index, l);
        if (m->op == CC_PARAM && load)
            t->value[at][l] = cc_load_scalar(m->dtype, p);
        else if (m->op == CC_PARAM)
            cc_store_scalar(m->dtype, p, t->value[n->src[2]][l]);
        else if (load)
            t->value[at][l] = *(union cc_value *)p;
        else
            *(union cc_value *)p = t->value[n->src[2]][l];
    }
    return RD_OK;
}

/* Lane l holds row l % 16 of A and column l % 16 of B; of C and D, element i is row
 * 2 * i + l / 16, column l % 16. */
static void do_wmma(struct interp *t, uint32_t at)
{
    const struct cc_inst *n = &t->p->insts[at];
    for (uint32_t l = 0; l < t->lanes; l++) {
        uint32_t wave = l - l % WAVE;
        for (uint32_t i = 0; i < 8; i++) {
            uint32_t row = wave + 2 * i + l % WAVE / 16, col = wave + l % 16;
            double sum = 0;
            for (uint32_t k = 0; k < 16; k++)
                sum += t->value[n->src[k]][row].f * t->value[n->src[16 + k]][col].f;
            union cc_value v = {.f = sum + t->value[n->src[32 + i]][l].f};
            t->value[at][i * t->lanes + l] = cc_fit(CC_DT_F32, v);
        }
    }
}

static void do_bpermute(struct interp *t, uint32_t at)
{
    const struct cc_inst *n = &t->p->insts[at];
    for (uint32_t l = 0; l < t->lanes; l++) {
        uint32_t from = l - l % WAVE + (uint32_t)(t->value[n->src[0]][l].u / 4 % WAVE);
        union cc_value zero = {0};
        t->value[at][l] = from < t->lanes ? t->value[n->src[1]][from] : zero;
    }
}

static void do_special(struct interp *t, uint32_t at)
{
    const struct cc_inst *n = &t->p->insts[at];
    unsigned d = (unsigned)(n->name[4] - '0');
    for (uint32_t l = 0; l < t->lanes; l++) {
        uint32_t id[3] = {l % t->block[0], l / t->block[0] % t->block[1],
                          l / t->block[0] / t->block[1]};
        t->value[at][l].i = n->name[0] == 'g' ? t->group[d] : id[d];
    }
}

static void do_alu(struct interp *t, uint32_t at)
{
    const struct cc_inst *n = &t->p->insts[at];
    enum cc_dtype from = t->p->insts[n->src[0]].dtype;
    for (uint32_t l = 0; l < t->lanes; l++) {
        union cc_value s[3];
        for (uint32_t i = 0; i < n->n_src && i < 3; i++)
            s[i] = t->value[n->src[i]][l];
        t->value[at][l] = cc_scalar(n->op, n->dtype, from, s);
    }
}

static void set_all(struct interp *t, uint32_t at, int64_t v)
{
    for (uint32_t l = 0; l < t->lanes; l++)
        t->value[at][l].i = v;
}

/* Begin a loop; the next operation. */
static uint32_t open_range(struct interp *t, uint32_t at)
{
    const struct cc_inst *n = &t->p->insts[at];
    int64_t first = n->n_src == 2 ? t->value[n->src[0]][0].i : 0;
    if (first >= t->value[n->src[n->n_src - 1]][0].i)
        return cc_prog_closing(t->p, at) + 1;
    set_all(t, at, first);
    return at + 1;
}

static uint32_t close_range(struct interp *t, uint32_t at)
{
    uint32_t range = t->p->insts[at].src[0];
    const struct cc_inst *n = &t->p->insts[range];
    int64_t next = t->value[range][0].i + 1;
    if (next >= t->value[n->src[n->n_src - 1]][0].i)
        return at + 1;
    set_all(t, range, next);
    return range + 1;
}

static void open_if(struct interp *t, uint32_t at)
{
    const struct cc_inst *n = &t->p->insts[at];
    memcpy(t->masks + t->depth++ * t->lanes, t->mask, t->lanes);
    for (uint32_t l = 0; l < t->lanes; l++)
        t->mask[l] = t->mask[l] && t->value[n->src[0]][l].i;
}

/* One operation; next in and out. */
static rd_status step(struct interp *t, uint32_t *next)
{
    uint32_t at = (*next)++;
    const struct cc_inst *n = &t->p->insts[at];
    switch (n->op) {
    case CC_CONST:
        set_all(t, at, n->arg[0]);
        return RD_OK;
    case CC_SPECIAL:
        do_special(t, at);
        return RD_OK;
    case CC_RANGE:
        *next = open_range(t, at);
        return RD_OK;
    case CC_END:
        *next = close_range(t, at);
        return RD_OK;
    case CC_IF:
        open_if(t, at);
        return RD_OK;
    case CC_ENDIF:
        memcpy(t->mask, t->masks + --t->depth * t->lanes, t->lanes);
        return RD_OK;
    case CC_LOAD:
    case CC_STORE:
        return do_memory(t, at);
    case CC_WMMA:
        do_wmma(t, at);
        return RD_OK;
    case CC_EXTRACT:
        memcpy(t->value[at], t->value[n->src[0]] + (uint64_t)n->arg[0] * t->lanes,
               t->lanes * sizeof **t->value);
        return RD_OK;
    case CC_CUSTOM:
        do_bpermute(t, at);
        return RD_OK;
    case CC_PARAM:
    case CC_BUFFER:
    case CC_BARRIER:
        return RD_OK;
    default:
        do_alu(t, at);
        return RD_OK;
    }
}

static rd_status run_group(struct interp *t)
{
    memset(t->mask, 1, t->lanes);
    t->depth = 0;
    for (uint32_t at = 0; at < t->p->count;) {
        if (t->left-- == 0) {
            snprintf(t->error, CC_ERROR_BYTES, "more than 2^40 operations");
            return RD_E_TIMEOUT;
        }
        rd_status st = step(t, &at);
        if (st != RD_OK)
            return st;
    }
    return RD_OK;
}

static rd_status check_args(struct interp *t)
{
    for (uint32_t i = 0; i < t->p->count; i++) {
        const struct cc_inst *n = &t->p->insts[i];
        if (n->op != CC_PARAM)
            continue;
        if ((uint64_t)n->arg[0] >= t->n_args) {
            snprintf(t->error, CC_ERROR_BYTES, "PARAM %%%u: no argument %" PRId64, i,
                     n->arg[0]);
            return RD_E_INVALID;
        }
    }
    return RD_OK;
}

static rd_status make_room(struct interp *t, struct cc_arena *arena)
{
    t->value = cc_arena_alloc(arena, (t->p->count + 1ull) * sizeof *t->value);
    t->mask = cc_arena_alloc(arena, t->lanes);
    t->masks = cc_arena_alloc(arena, 64ull * t->lanes);
    if (!t->value || !t->mask || !t->masks)
        return RD_E_NOMEM;
    for (uint32_t i = 0; i < t->p->count; i++) {
        const struct cc_inst *n = &t->p->insts[i];
        uint64_t elements = t->lanes;
        if (n->op == CC_PARAM || n->dtype == CC_DT_VOID)
            continue;
        if (n->op == CC_WMMA)
            elements = 8ull * t->lanes;
        else if (n->op == CC_BUFFER)
            elements = (uint64_t)cc_memory_elements(n) *
                       (n->arg[0] == CC_SPACE_REG ? t->lanes : 1);
        t->value[i] = cc_arena_alloc(arena, elements * sizeof **t->value + 1);
        if (!t->value[i])
            return RD_E_NOMEM;
    }
    return RD_OK;
}

rd_status cc_interpret(const struct cc_prog *p, size_t n_args,
                       const struct cc_arg_buffer *args, char *error)
{
    struct interp t = {.p = p,
                       .n_args = n_args,
                       .args = args,
                       .error = error,
                       .left = (uint64_t)1 << 40};
    struct cc_arena arena = {0};
    uint32_t groups[3];
    cc_prog_launch(p, groups, t.block);
    uint64_t lanes = (uint64_t)t.block[0] * t.block[1] * t.block[2];
    error[0] = 0;
    if (lanes > 1024 || p->n_open) {
        snprintf(error, CC_ERROR_BYTES,
                 p->n_open ? "a RANGE or IF is not closed"
                           : "more than 1024 work-items in a workgroup");
        return RD_E_INVALID;
    }
    t.lanes = (uint32_t)lanes;
    rd_status st = check_args(&t);
    if (st == RD_OK)
        st = make_room(&t, &arena);
    uint64_t total = (uint64_t)groups[0] * groups[1] * groups[2];
    for (uint64_t i = 0; i < total && st == RD_OK; i++) {
        t.group[0] = (uint32_t)(i % groups[0]);
        t.group[1] = (uint32_t)(i / groups[0] % groups[1]);
        t.group[2] = (uint32_t)(i / groups[0] / groups[1]);
        st = run_group(&t);
    }
    cc_arena_free(&arena);
    return st;
}
