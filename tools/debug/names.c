/* names.c: what names in expressions stand for: registers, arguments, variables.
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr_internal.h"
#include "isa.h"

/* ---- registers ---- */

static bool read_registers(struct parser *p, unsigned sel, unsigned n,
                           struct value *out)
{
    const struct context *c = p->c;
    if (c->index == TG_NO_WAVE)
        return parse_fail(p, "no wave is chosen: there are no registers");
    *out = (struct value){.type = n == 1 ? expr_type("hex", 3) : expr_type("hex64", 5),
                          .place = VALUE_REGISTER,
                          .sel = sel,
                          .bytes = 4ull * n};
    for (unsigned i = 0; i < n; i++) {
        uint32_t dword;
        if (!c->target->ops->reg(c->target->ctx, c->index, sel + i, c->lane, &dword))
            return parse_fail(p,
                              sel >= ISA_SEL_VGPR0
                                  ? "there is no v%u: the wave has %u VGPRs"
                                  : "there is no register %u of %u",
                              sel + i - (sel >= ISA_SEL_VGPR0 ? ISA_SEL_VGPR0 : 0u),
                              c->wave.view.vgprs);
        memcpy(out->data + 4ul * i, &dword, 4);
    }
    return true;
}

/* v3, s4, ttmp1; v[0:1]. Not a register: *no is set and nothing taken. */
bool name_file_register(struct parser *p, const char *name, size_t len, bool *no,
                        struct value *out)
{
    static const struct {
        const char *name;
        unsigned first, count;
    } files[] = {{"v", ISA_SEL_VGPR0, 256},
                 {"s", ISA_SEL_SGPR0, 106},
                 {"ttmp", ISA_SEL_TTMP0, 16}};
    for (unsigned i = 0; i < 3; i++) {
        size_t n = strlen(files[i].name);
        unsigned long low, high;
        char *end;
        if (len < n || memcmp(name, files[i].name, n) != 0)
            continue;
        if (len == n && name[n] == '[' && isdigit((unsigned char)name[n + 1])) {
            low = high = strtoul(name + n + 1, &end, 10);
            if (*end == ':')
                high = strtoul(end + 1, &end, 10);
            if (*end != ']')
                return parse_fail(p, "a run of registers is %s[FIRST:LAST]",
                                  files[i].name);
            end++;
        } else if (len > n && isdigit((unsigned char)name[n])) {
            low = high = strtoul(name + n, &end, 10);
            if (end != name + len)
                continue;
        } else {
            continue;
        }
        if (low > high || high >= files[i].count)
            return parse_fail(p, "registers %s go from 0 to %u", files[i].name,
                              files[i].count - 1);
        if (high - low > 1)
            return parse_fail(p, "one or two registers at a time");
        p->at = end;
        return read_registers(p, files[i].first + (unsigned)low,
                              (unsigned)(high - low) + 1, out);
    }
    *no = true;
    return true;
}

static const struct {
    const char *name;
    unsigned sel;
    bool mask; /* two dwords in wave64 */
} specials[] = {
    {"exec", ISA_SEL_EXEC_LO, true},     {"vcc", ISA_SEL_VCC_LO, true},
    {"exec_lo", ISA_SEL_EXEC_LO, false}, {"exec_hi", ISA_SEL_EXEC_HI, false},
    {"vcc_lo", ISA_SEL_VCC_LO, false},   {"vcc_hi", ISA_SEL_VCC_HI, false},
    {"scc", ISA_SEL_SCC, false},         {"m0", ISA_SEL_M0, false},
    {"execz", ISA_SEL_EXECZ, false},     {"vccz", ISA_SEL_VCCZ, false}};

/* What the wave's state tells besides; values in the same order below. */
static const struct {
    const char *name;
    bool hex;
} numbers[] = {{"pc", true},       {"lane", false},        {"wave", false},
               {"group", false},   {"group_x", false},     {"group_y", false},
               {"group_z", false}, {"mode", true},         {"status", true},
               {"trapsts", true},  {"instructions", false}};
#define N_NUMBERS (sizeof numbers / sizeof *numbers)

bool name_special_register(struct parser *p, const char *name, size_t len, bool *no,
                           struct value *out)
{
    const struct context *c = p->c;
    const struct tg_wave *w = &c->wave;
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (same_name(name, len, specials[i].name))
            return read_registers(p, specials[i].sel,
                                  specials[i].mask && w->lanes == 64 ? 2 : 1, out);
    const uint64_t values[N_NUMBERS] = {w->view.pc,
                                        c->lane,
                                        w->wave,
                                        w->group,
                                        w->workgroup[0],
                                        w->workgroup[1],
                                        w->workgroup[2],
                                        w->view.mode,
                                        w->view.status,
                                        w->view.trapsts,
                                        w->view.instructions};
    for (size_t i = 0; i < N_NUMBERS; i++) {
        if (!same_name(name, len, numbers[i].name))
            continue;
        if (c->index == TG_NO_WAVE)
            return parse_fail(p, "no wave is chosen: there is no %s", numbers[i].name);
        *out = value_number(
            numbers[i].hex ? expr_type("hex64", 5) : expr_type("u64", 3), values[i]);
        return true;
    }
    *no = true;
    return true;
}

/* arg0, arg1 ...: addresses of buffers, values of numbers. */
bool name_argument(struct parser *p, const char *name, size_t len, bool *no,
                   struct value *out)
{
    const struct program *g = p->c->program;
    char *end = NULL;
    *no = len < 4 || memcmp(name, "arg", 3) != 0 || !isdigit((unsigned char)name[3]);
    if (*no)
        return true;
    unsigned long i = strtoul(name + 3, &end, 10);
    *no = end != name + len;
    if (*no)
        return true;
    if (i >= g->n_args)
        return parse_fail(p, "there are %u arguments (counted from 0)", g->n_args);
    *out = value_number(expr_type("hex64", 5), g->args[i]);
    return true;
}

/* ---- variables ---- */

#define MAX_VARIABLES 256u

static bool machine_reg(void *ctx, unsigned sel, uint32_t *out)
{
    const struct context *c = ctx;
    return c->target->ops->reg(c->target->ctx, c->index, sel, c->lane, out);
}

static bool machine_read(void *ctx, unsigned space, uint64_t address, unsigned bytes,
                         void *out)
{
    const struct context *c = ctx;
    return tg_read(c->target, c->index, space, c->lane, address, bytes, out);
}

/* One piece of a variable into v at an offset. */
static bool fetch(const struct context *c, const struct vpiece *piece, uint64_t offset,
                  uint64_t bytes, struct value *v)
{
    if (offset >= VALUE_BYTES)
        return true;
    if (bytes > VALUE_BYTES - offset)
        bytes = VALUE_BYTES - offset;
    uint8_t *to = v->data + offset;
    switch (piece->kind) {
    case VPIECE_MEMORY:
        return tg_read(c->target, c->index, piece->space, c->lane, piece->address,
                       (unsigned)bytes, to);
    case VPIECE_REGISTER:
        for (uint64_t i = 0; i < bytes; i += 4) {
            uint32_t dword;
            if (!c->target->ops->reg(c->target->ctx, c->index,
                                     piece->sel + (unsigned)i / 4, c->lane, &dword))
                return false;
            memcpy(to + i, &dword, bytes - i < 4 ? bytes - i : 4);
        }
        return true;
    case VPIECE_VALUE:
        memcpy(to, piece->value, bytes < 16 ? bytes : 16);
        return true;
    default:
        v->missing = true;
        return true;
    }
}

bool expr_variable(const struct context *c, const struct source_variable *v,
                   struct value *out, const char **why)
{
    struct vpiece pieces[VPIECES];
    struct context copy = *c;
    struct source_machine m = {&copy, c->wave.lanes, c->program->bias, machine_reg,
                               machine_read};
    unsigned n = source_locate(c->program->source, v,
                               c->wave.view.pc - c->program->bias, &m, pieces, why);
    if (!n)
        return false;
    *out = (struct value){.type = v->type};
    out->bytes = v->type->bytes < VALUE_BYTES ? v->type->bytes : VALUE_BYTES;
    if (n == 1 && pieces[0].kind == VPIECE_MEMORY) {
        out->place = VALUE_MEMORY;
        out->space = pieces[0].space;
        out->address = pieces[0].address;
    } else if (n == 1 && pieces[0].kind == VPIECE_REGISTER) {
        out->place = VALUE_REGISTER;
        out->sel = pieces[0].sel;
    } else {
        out->place = VALUE_PARTS;
    }
    uint64_t offset = 0;
    unsigned missing = 0;
    for (unsigned i = 0; i < n && offset < out->bytes; i++) {
        uint64_t bytes = pieces[i].bytes;
        if (n == 1 || bytes > out->bytes - offset)
            bytes = out->bytes - offset;
        if (!fetch(c, &pieces[i], offset, bytes, out)) {
            *why = "it lies where nothing can be read";
            return false;
        }
        missing += pieces[i].kind == VPIECE_NONE;
        offset += bytes;
    }
    *why = "optimized out";
    return missing < n;
}

bool name_variable(struct parser *p, const char *name, size_t len, bool *no,
                   struct value *out)
{
    const struct context *c = p->c;
    *no = true;
    if (c->index == TG_NO_WAVE || !c->program->source)
        return true;
    struct source_variable *v = calloc(MAX_VARIABLES, sizeof *v);
    if (!v)
        return parse_fail(p, "out of memory");
    unsigned n = source_variables(c->program->source,
                                  c->wave.view.pc - c->program->bias, v, MAX_VARIABLES);
    bool ok = true;
    const char *why = "";
    for (unsigned i = 0; i < n && *no; i++) {
        if (!same_name(name, len, v[i].name))
            continue;
        *no = false;
        ok = expr_variable(c, &v[i], out, &why);
        if (!ok)
            ok = parse_fail(p, "%.60s: %s", v[i].name, why);
    }
    free(v);
    return ok;
}

/* ---- completion ---- */

void names_begin(const struct context *c, const char *begin,
                 void (*each)(void *ctx, const char *name, bool variable), void *ctx)
{
    size_t len = strlen(begin);
    struct source_variable *v = NULL;
    unsigned n = 0;
    if (c->index != TG_NO_WAVE && c->program->source)
        v = calloc(MAX_VARIABLES, sizeof *v);
    if (v)
        n = source_variables(c->program->source, c->wave.view.pc - c->program->bias, v,
                             MAX_VARIABLES);
    for (unsigned i = 0; i < n; i++)
        if (strncmp(v[i].name, begin, len) == 0)
            each(ctx, v[i].name, true);
    free(v);
    for (unsigned i = 0; i < c->program->n_args; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "arg%u", i);
        if (strncmp(name, begin, len) == 0)
            each(ctx, name, true);
    }
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (strncmp(specials[i].name, begin, len) == 0)
            each(ctx, specials[i].name, false);
    for (size_t i = 0; i < N_NUMBERS; i++)
        if (strncmp(numbers[i].name, begin, len) == 0)
            each(ctx, numbers[i].name, false);
}
