/* form.c: what the text of an instruction says, found out once.
 *
 * The one place that reads mnemonics: everybody else asks a form for its opcode, and
 * the fact sheet for what is true of that. Knows nothing of registers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "form.h"

#include <stdio.h>
#include <string.h>

static uint8_t kind_of(unsigned op, const struct isa_facts *f)
{
    if (op == ISA_OP_NONE)
        return MI_LABEL;
    if (f->flow & ISA_FLOW_END)
        return MI_END;
    switch (f->pipe) {
    case ISA_PIPE_BRANCH:
        return MI_BRANCH;
    case ISA_PIPE_BARRIER:
        return MI_BARRIER;
    case ISA_PIPE_SMEM:
        return MI_SLOAD;
    case ISA_PIPE_LDS:
    case ISA_PIPE_LDS_FADD:
    case ISA_PIPE_PERMUTE:
        return MI_LDS;
    case ISA_PIPE_VMEM:
        return f->access == ISA_ACCESS_STORE ? MI_VSTORE : MI_VLOAD;
    default:
        return MI_ALU;
    }
}

/* Operands by number: how many, and which have a sign. */
static void read_operands(struct mi_form *f, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c != '%')
            continue;
        unsigned i = (unsigned)(c[1] - '0');
        if (i >= f->n)
            f->n = (uint8_t)(i + 1);
        if (c > text && c[-1] == '-')
            f->negated |= (uint8_t)(1u << i);
    }
}

static bool is_plain(const struct mi_form *f)
{
    char text[96];
    if (f->n == 0)
        return false;
    rdna3_plain_text(f->op, f->n - 1u, text, sizeof text);
    return strcmp(text, f->text) == 0;
}

static bool read_form(struct mi_form *f, const char *text)
{
    static const char dpp[] = "_dpp";
    size_t len = strcspn(text, " "), tail = sizeof dpp - 1;
    f->text = text;
    f->op = (uint16_t)isa_op_find(text, len);
    if (f->op == ISA_OP_NONE && len > tail &&
        memcmp(text + len - tail, dpp, tail) == 0) {
        f->op = (uint16_t)isa_op_find(text, len - tail);
        f->dpp = true;
    }
    f->facts = isa_facts(f->op);
    f->kind = kind_of(f->op, f->facts);
    read_operands(f, text);
    f->plain = is_plain(f);
    return f->op != ISA_OP_NONE || text[0] == 0;
}

const struct mi_form *rdna3_form(struct mi_forms *forms, struct cc_arena *arena,
                                 const char *text)
{
    uint32_t hash = 2166136261u;
    for (const char *c = text; *c; c++)
        hash = (hash ^ (uint8_t)*c) * 16777619u;
    struct mi_form **slot = &forms->bucket[hash >> 26];
    for (struct mi_form *f = *slot; f; f = f->next)
        if (strcmp(f->text, text) == 0)
            return f;
    struct mi_form *f = cc_arena_alloc(arena, sizeof *f);
    const char *kept = cc_arena_copy(arena, text, strlen(text) + 1);
    if (!f || !kept || !read_form(f, kept))
        return NULL;
    f->next = *slot;
    return *slot = f;
}

void rdna3_plain_text(unsigned op, unsigned sources, char *text, size_t size)
{
    int at = snprintf(text, size, "%s %%0", isa_op_name(op));
    for (unsigned i = 1; i <= sources && at > 0 && (size_t)at < size; i++)
        at += snprintf(text + at, size - (size_t)at, ", %%%u", i);
}
