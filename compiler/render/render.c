/* render.c: programs as C text: plain C, OpenCL C, HIP, Metal.
 *
 * A value used once is written where it is used, any other gets a variable; LOADs
 * always get one, as memory may change. In plain C a workgroup is a loop over its
 * lanes, cut wherever lanes meet (BARRIER, WMMA, ds_bpermute): values that cross a cut
 * live in arrays with one element per lane. Knows the text of operations from
 * ops.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "render.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INLINE_CHARS 160

static bool meets(const struct cc_inst *n)
{
    return n->op == CC_BARRIER || n->op == CC_WMMA || n->op == CC_CUSTOM;
}

/* Number the segments: stretches that one loop over lanes can hold. */
static rd_status find_segments(struct render *r)
{
    const struct cc_prog *p = r->p;
    uint32_t now = 0;
    for (uint32_t i = 0; i < p->count; i++)
        r->split = r->split || meets(&p->insts[i]);
    r->split = r->split && r->style == CC_STYLE_C && r->lanes > 1;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct cc_inst *n = &p->insts[i];
        bool cut = meets(n);
        if (n->op == CC_RANGE || n->op == CC_IF)
            for (uint32_t j = i; j < cc_prog_closing(p, i); j++)
                cut = cut || meets(&p->insts[j]);
        if ((n->op == CC_END || n->op == CC_ENDIF) && r->cut[n->src[0]])
            cut = true;
        r->cut[i] = r->split && cut;
        if (r->cut[i] && (n->op == CC_IF || (n->op == CC_RANGE && n->n_src > 1)))
            return render_fail(r, i, "lanes meet inside");
        r->segment[i] = r->cut[i] ? now + 1 : now;
        now += r->cut[i] ? 2 : 0;
    }
    return RD_OK;
}

/* Uses of each value, and whether one is in another segment or loop. */
static void count_uses(struct render *r)
{
    const struct cc_prog *p = r->p;
    uint32_t *scope = r->scope, depth = 0, stack[64] = {0};
    for (uint32_t i = 0; i < p->count; i++) {
        const struct cc_inst *n = &p->insts[i];
        if ((n->op == CC_END || n->op == CC_ENDIF) && depth)
            depth--;
        scope[i] = depth ? stack[depth] : 0;
        if ((n->op == CC_RANGE || n->op == CC_IF) && depth < 63)
            stack[++depth] = i + 1;
        for (uint32_t j = 0; j < n->n_src; j++) {
            uint32_t s = n->src[j];
            r->uses[s]++;
            r->crosses[s] = r->crosses[s] || r->segment[s] != r->segment[i];
            r->moves[s] = r->moves[s] || scope[s] != scope[i];
        }
    }
}

rd_status render_fail(struct render *r, uint32_t at, const char *why)
{
    snprintf(r->error, CC_ERROR_BYTES, "%s %%%u: %s", cc_op_name(r->p->insts[at].op),
             at, why);
    return RD_E_UNSUPPORTED;
}

static void indent(struct render *r)
{
    for (unsigned i = 0; i < r->depth; i++)
        cc_out(&r->text, "  ");
}

void render_line(struct render *r, const char *fmt, ...)
{
    char few[512], *line = few;
    va_list ap;
    va_start(ap, fmt);
    int need = vsnprintf(few, sizeof few, fmt, ap);
    va_end(ap);
    if (need >= (int)sizeof few) {
        line = malloc((size_t)need + 1);
        if (!line) {
            r->text.failed = true;
            return;
        }
        va_start(ap, fmt);
        vsnprintf(line, (size_t)need + 1, fmt, ap);
        va_end(ap);
    }
    indent(r);
    cc_out(&r->text, "%s\n", line);
    if (line != few)
        free(line);
}

/* Open or close the loop over lanes of a segment. */
static void lanes_begin(struct render *r)
{
    render_line(r, "for (int lane = 0; lane < %u; lane++) {", r->lanes);
    r->depth++;
    r->in_lanes = true;
}

static void lanes_end(struct render *r)
{
    r->depth--;
    r->in_lanes = false;
    render_line(r, "}");
}

static void name_value(struct render *r, uint32_t at, const char *kind, unsigned number)
{
    char text[48];
    bool array = r->split && (r->crosses[at] || r->p->insts[at].op == CC_CUSTOM ||
                              r->p->insts[at].op == CC_WMMA);
    snprintf(text, sizeof text, "%s%u%s", kind, number, array ? "[lane]" : "");
    r->expr[at] = cc_arena_copy(&r->arena, text, strlen(text) + 1);
    if (!r->expr[at])
        r->text.failed = true;
    if (array) /* declared with the kernel's other arrays */
        cc_out(&r->arrays, "  static %s %s%u[%u];\n",
               render_type(r, r->p->insts[at].dtype), kind, number, r->lanes);
}

/* Give a value a variable and its value. */
static void define(struct render *r, uint32_t at, const char *kind, unsigned number,
                   const char *value)
{
    name_value(r, at, kind, number);
    if (!r->expr[at])
        return;
    if (strchr(r->expr[at], '['))
        render_line(r, "%s = %s;", r->expr[at], value);
    else
        render_line(r, "%s %s = %s;", render_type(r, r->p->insts[at].dtype),
                    r->expr[at], value);
}

static void do_alu(struct render *r, uint32_t at)
{
    char *value = render_alu(r, at);
    if (!value) {
        r->text.failed = true;
        return;
    }
    bool inlined = r->uses[at] == 1 && !r->moves[at] && !r->crosses[at] &&
                   strlen(value) < INLINE_CHARS;
    if (inlined) {
        r->expr[at] = cc_arena_copy(&r->arena, value, strlen(value) + 1);
    } else {
        define(r, at, "alu", r->n_alu++, value);
    }
    free(value);
}

static void do_load(struct render *r, uint32_t at)
{
    const struct cc_inst *n = &r->p->insts[at];
    char *value = render_load(r, n);
    if (value)
        define(r, at, "val", r->n_val++, value);
    else
        r->text.failed = true;
    free(value);
}

static void do_store(struct render *r, const struct cc_inst *n)
{
    char *place = render_place(r, n);
    if (!place)
        r->text.failed = true;
    else if (n->n_src > 3)
        render_line(r, "if (%s) { %s = %s; }", r->expr[n->src[3]], place,
                    r->expr[n->src[2]]);
    else
        render_line(r, "%s = %s;", place, r->expr[n->src[2]]);
    free(place);
}

static void do_range(struct render *r, uint32_t at)
{
    const struct cc_inst *n = &r->p->insts[at];
    char name[32];
    snprintf(name, sizeof name, "ridx%u", r->n_range++);
    r->expr[at] = cc_arena_copy(&r->arena, name, strlen(name) + 1);
    render_line(r, "for (%s %s = %s; %s < %s; %s++) {", render_type(r, n->dtype), name,
                n->n_src == 2 ? r->expr[n->src[0]] : "0", name,
                r->expr[n->src[n->n_src - 1]], name);
    r->depth++;
}

static void do_block_end(struct render *r)
{
    r->depth--;
    render_line(r, "}");
}

/* One operation that lanes do by themselves. */
static rd_status one(struct render *r, uint32_t at)
{
    const struct cc_inst *n = &r->p->insts[at];
    switch (n->op) {
    case CC_CONST:
        r->expr[at] = render_const(r, n);
        break;
    case CC_PARAM:
    case CC_BUFFER:
        break;
    case CC_SPECIAL:
        render_special(r, at);
        break;
    case CC_RANGE:
        do_range(r, at);
        break;
    case CC_END:
    case CC_ENDIF:
        do_block_end(r);
        break;
    case CC_IF:
        render_line(r, "if (%s) {", r->expr[n->src[0]]);
        r->depth++;
        break;
    case CC_LOAD:
        do_load(r, at);
        break;
    case CC_STORE:
        do_store(r, n);
        break;
    case CC_BARRIER:
        render_barrier(r);
        break;
    case CC_EXTRACT: {
        char text[64];
        snprintf(text, sizeof text, "wmma%s[%d]", r->expr[n->src[0]], (int)n->arg[0]);
        if (r->style == CC_STYLE_C)
            snprintf(text, sizeof text, "wmma%s[lane][%d]", r->expr[n->src[0]],
                     (int)n->arg[0]);
        define(r, at, "val", r->n_val++, text);
        break;
    }
    case CC_WMMA:
        return render_wmma(r, at);
    case CC_CUSTOM:
        name_value(r, at, "val", r->n_val++);
        return render_bpermute(r, at);
    default:
        do_alu(r, at);
        break;
    }
    return RD_OK;
}

static bool is_text_only(const struct cc_inst *n)
{
    return n->op == CC_CONST || n->op == CC_PARAM || n->op == CC_BUFFER;
}

static rd_status body(struct render *r)
{
    rd_status st = RD_OK;
    if (r->style == CC_STYLE_C && !r->split && r->lanes > 1)
        lanes_begin(r);
    for (uint32_t i = 0; i < r->p->count && st == RD_OK && !r->text.failed; i++) {
        const struct cc_inst *n = &r->p->insts[i];
        bool group_wide = is_text_only(n) || (n->op == CC_SPECIAL && n->name[0] == 'g');
        if (r->split && r->cut[i] && r->in_lanes)
            lanes_end(r);
        if (r->split && !r->cut[i] && !r->in_lanes && !group_wide)
            lanes_begin(r);
        if (r->split && group_wide && r->in_lanes && !is_text_only(n))
            lanes_end(r);
        st = one(r, i);
    }
    if (r->in_lanes)
        lanes_end(r);
    return st;
}

static rd_status allocate(struct render *r)
{
    size_t n = r->p->count + 1ull;
    r->expr = cc_arena_alloc(&r->arena, n * sizeof *r->expr);
    r->segment = cc_arena_alloc(&r->arena, n * sizeof *r->segment);
    r->scope = cc_arena_alloc(&r->arena, n * sizeof *r->scope);
    r->uses = cc_arena_alloc(&r->arena, n * sizeof *r->uses);
    r->cut = cc_arena_alloc(&r->arena, n);
    r->crosses = cc_arena_alloc(&r->arena, n);
    r->moves = cc_arena_alloc(&r->arena, n);
    return r->expr && r->segment && r->scope && r->uses && r->cut && r->crosses &&
                   r->moves
               ? RD_OK
               : RD_E_NOMEM;
}

rd_status cc_render(const struct cc_prog *p, enum cc_style style, char **text,
                    char *error)
{
    struct render r = {.p = p, .style = style, .error = error, .depth = 1};
    struct cc_text all = {0};
    error[0] = 0;
    if (p->status != RD_OK || p->n_open) {
        snprintf(error, CC_ERROR_BYTES, "the program is not complete");
        return RD_E_INVALID;
    }
    cc_prog_launch(p, r.groups, r.block);
    r.lanes = r.block[0] * r.block[1] * r.block[2];
    rd_status st = allocate(&r);
    if (st == RD_OK)
        st = find_segments(&r);
    if (st == RD_OK) {
        count_uses(&r);
        r.depth = style == CC_STYLE_C ? 2 : 1;
        st = body(&r);
    }
    if (st == RD_OK && !r.text.failed) {
        render_head(&r, &all);
        cc_out(&all, "%s", r.text.data ? r.text.data : "");
        render_tail(&r, &all);
        st = cc_out_done(&all, text);
    } else if (st == RD_OK) {
        st = RD_E_NOMEM;
    }
    free(r.text.data);
    free(r.arrays.data);
    cc_arena_free(&r.arena);
    return st;
}
