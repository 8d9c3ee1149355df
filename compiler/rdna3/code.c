/* code.c: machine code under construction.
 *
 * Instructions form a list until they are put in order, so that what a loop needs can
 * still be computed before it while its body is being chosen. Knows nothing of
 * operations.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rdna3.h"

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

uint32_t rdna3_reg(struct rdna3 *r, bool vector, unsigned width)
{
    if (!cc_room(&r->regs, &r->cap_regs, r->n_regs + 1, sizeof *r->regs)) {
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

const struct mi_form *rdna3_form_of(struct rdna3 *r, const char *text)
{
    static const struct mi_form none = {.text = "", .kind = MI_LABEL};
    const struct mi_form *f = rdna3_form(&r->forms, &r->arena, text);
    if (f)
        return f;
    rdna3_fail(r, RD_E_UNSUPPORTED, 0, "out of memory, or no instruction: %s", text);
    return &none;
}

const struct mi_form *rdna3_plain(struct rdna3 *r, unsigned op, unsigned sources)
{
    char text[96];
    rdna3_plain_text(op, sources, text, sizeof text);
    return rdna3_form_of(r, text);
}

struct mi *rdna3_mi(struct rdna3 *r, const char *text, unsigned n_def, unsigned n,
                    const struct mi_opnd *opnd)
{
    static struct mi nowhere;
    if (!cc_room(&r->code, &r->cap_code, r->n_code + 1, sizeof *r->code)) {
        rdna3_fail(r, RD_E_NOMEM, 0, "out of memory");
        return &nowhere;
    }
    struct mi *m = &r->code[r->n_code];
    *m = (struct mi){.n_def = (uint8_t)n_def,
                     .form = rdna3_form_of(r, text),
                     .next = r->n_code ? r->code[r->cursor].next : 0};
    r->code[r->cursor].next = r->n_code;
    r->cursor = r->n_code++;
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

bool mi_is_scalar(const struct rdna3 *r, struct mi_opnd o)
{
    return o.kind == MI_REG && !r->regs[o.reg].vector;
}

bool mi_is_literal(struct mi_opnd o)
{
    static const uint32_t floats[] = {/* 0.5 1 2 4 1/(2 pi) */
                                      0x3f000000, 0xbf000000, 0x3f800000,
                                      0xbf800000, 0x40000000, 0xc0000000,
                                      0x40800000, 0xc0800000, 0x3e22f983};
    int32_t v = (int32_t)o.imm;
    if (o.kind != MI_IMM || (v >= -16 && v <= 64))
        return false;
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++)
        if ((uint32_t)v == floats[i])
            return false;
    return true;
}

/* ---- loops ---- */

uint32_t rdna3_open_scope(struct rdna3 *r, uint32_t range)
{
    if (!cc_room(&r->scopes, &r->cap_scopes, r->n_scopes + 1, sizeof *r->scopes)) {
        rdna3_fail(r, RD_E_NOMEM, 0, "out of memory");
        return 0;
    }
    bool kernel = r->n_scopes == 0;
    r->scopes[r->n_scopes] =
        (struct rdna3_scope){.parent = r->scope,
                             .depth = kernel ? 0 : r->scopes[r->scope].depth + 1,
                             .range = range,
                             .before = r->cursor,
                             .if_depth = r->if_depth};
    return r->scope = r->n_scopes++;
}

uint32_t rdna3_inner(const struct rdna3 *r, uint32_t a, uint32_t b)
{
    return r->scopes[a].depth > r->scopes[b].depth ? a : b;
}

/* The open loop whose parent is this one. */
static uint32_t child_of(const struct rdna3 *r, uint32_t scope)
{
    uint32_t c = r->scope;
    while (r->scopes[c].parent != scope)
        c = r->scopes[c].parent;
    return c;
}

uint32_t rdna3_enter(struct rdna3 *r, uint32_t scope)
{
    uint32_t before = r->cursor;
    if (scope != r->scope)
        r->cursor = r->scopes[child_of(r, scope)].before;
    return before;
}

void rdna3_leave(struct rdna3 *r, uint32_t scope, uint32_t before)
{
    if (scope == r->scope)
        return;
    r->scopes[child_of(r, scope)].before = r->cursor;
    r->cursor = before;
}

void rdna3_order(struct rdna3 *r)
{
    struct mi *code = calloc(r->n_code + 1ull, sizeof *code);
    uint32_t n = 0;
    if (!code) {
        rdna3_fail(r, RD_E_NOMEM, 0, "out of memory");
        return;
    }
    for (uint32_t i = r->n_code ? r->code[0].next : 0; i; i = r->code[i].next)
        code[n++] = r->code[i];
    free(r->code);
    r->code = code;
    r->cap_code = r->n_code + 1;
    r->n_code = n;
}
