/* filter.c: which events of a trace are meant: ranges, registers, addresses.
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace_tool.h"

/* A number at *text; *text moves behind it. */
static bool take_number(const char **text, uint64_t *out)
{
    char *end;
    if (!isdigit((unsigned char)**text))
        return false;
    errno = 0;
    *out = strtoull(*text, &end, 0);
    *text = end;
    return errno == 0; /* else it is above 64 bits */
}

bool trace_parse_range(const char *text, uint64_t *first, uint64_t *last)
{
    uint64_t a, b;
    if (!take_number(&text, &a))
        return false;
    b = a;
    char sign = *text;
    if (sign == '-' || sign == '+') {
        text++;
        if (!take_number(&text, &b))
            return false;
        if (sign == '+')
            b = b ? a + b - 1 : a;
    }
    if (*text || b < a)
        return false;
    *first = a;
    *last = b;
    return true;
}

bool trace_parse_addr(const char *text, struct trace_place *out)
{
    static const char *const names[] = {
        [EMU_SPACE_GLOBAL] = "global:",
        [EMU_SPACE_LDS] = "lds:",
        [EMU_SPACE_SCRATCH] = "scratch:",
        [EMU_SPACE_GDS] = "gds:",
    };
    struct trace_place p = {.is_memory = true};
    for (size_t s = 0; s < sizeof names / sizeof *names; s++) {
        size_t len = strlen(names[s]);
        if (strncmp(text, names[s], len) == 0) {
            p.space = (uint8_t)s;
            text += len;
            break;
        }
    }
    if (!trace_parse_range(text, &p.first, &p.last))
        return false;
    *out = p;
    return true;
}

bool trace_parse_reg(const char *text, struct trace_place *out)
{
    static const struct {
        const char *name;
        uint16_t sel, dwords;
    } named[] = {
        {"vcc", ISA_SEL_VCC_LO, 2},      {"vcc_lo", ISA_SEL_VCC_LO, 1},
        {"vcc_hi", ISA_SEL_VCC_HI, 1},   {"exec", ISA_SEL_EXEC_LO, 2},
        {"exec_lo", ISA_SEL_EXEC_LO, 1}, {"exec_hi", ISA_SEL_EXEC_HI, 1},
        {"m0", ISA_SEL_M0, 1},           {"scc", ISA_SEL_SCC, 1},
    };
    struct trace_place p = {0};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(text, named[i].name) == 0) {
            p.sel = named[i].sel;
            p.dwords = named[i].dwords;
            *out = p;
            return true;
        }
    uint16_t base = *text == 'v' ? ISA_SEL_VGPR0 : ISA_SEL_SGPR0;
    uint64_t limit = *text == 'v' ? 255 : ISA_SEL_SGPR_LAST, first, last;
    if (*text != 'v' && *text != 's')
        return false;
    bool pair = text[1] == '[';
    text += pair ? 2 : 1;
    if (!take_number(&text, &first))
        return false;
    last = first;
    if (pair) {
        if (*text != ':')
            return false;
        text++;
        if (!take_number(&text, &last) || *text != ']')
            return false;
        text++;
    }
    if (*text || last < first || last > limit)
        return false;
    p.sel = (uint16_t)(base + first);
    p.dwords = (uint16_t)(last - first + 1);
    *out = p;
    return true;
}

/* ---- matching -----------------------------------------------------------------------
 */

static bool touches_reg(const struct emu_event *e, const struct trace_place *p,
                        unsigned want, uint64_t *lanes)
{
    for (unsigned i = 0; i < e->inst->n_regs; i++) {
        const struct emu_reg *r = &e->inst->reg[i];
        if ((r->flags & want) && r->sel < p->sel + p->dwords &&
            p->sel < r->sel + r->dwords) {
            *lanes = e->exec;
            return true;
        }
    }
    return false;
}

static bool touches_memory(const struct emu_event *e, const struct trace_place *p,
                           unsigned want, uint64_t *lanes)
{
    *lanes = 0;
    for (unsigned i = 0; i < e->n_accesses; i++) {
        const struct emu_access *a = &e->access[i];
        bool wanted =
            (a->read && (want & ISA_OF_IN)) || (a->write && (want & ISA_OF_OUT));
        if (!wanted || a->space != p->space)
            continue;
        for (uint64_t m = a->lanes; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctzll(m);
            uint64_t at = a->address[l];
            if (at >= p->first ? at <= p->last : p->first - at < a->bytes)
                *lanes |= UINT64_C(1) << l;
        }
    }
    return *lanes != 0;
}

bool trace_touches(const struct emu_event *e, const struct trace_place *p,
                   unsigned want, uint64_t *lanes)
{
    uint64_t ignored;
    if (e->flags & EMU_EV_FAULT) /* it had no effect */
        want &= ~ISA_OF_OUT;
    if (!lanes)
        lanes = &ignored;
    return p->is_memory ? touches_memory(e, p, want, lanes)
                        : touches_reg(e, p, want, lanes);
}

bool trace_filter_match(const struct trace_filter *f, const struct trace_dispatch *d,
                        uint64_t number, const struct emu_event *e)
{
    unsigned both = ISA_OF_IN | ISA_OF_OUT;
    uint64_t pc = e->inst->pc, offset = pc - d->code_base;
    if (number < f->from)
        return false;
    if (f->by_dispatch && e->wave->dispatch != f->dispatch)
        return false;
    if (f->by_wave && e->wave->wave != f->wave)
        return false;
    if (f->by_workgroup && memcmp(e->wave->workgroup, f->workgroup, 12) != 0)
        return false;
    if (f->by_pc && (pc < f->pc_first || pc > f->pc_last) &&
        (offset < f->pc_first || offset > f->pc_last))
        return false;
    if (f->op && !strstr(trace_inst_name(e->inst), f->op))
        return false;
    if (f->by_reg && !trace_touches(e, &f->reg, both, NULL))
        return false;
    return !f->by_addr || trace_touches(e, &f->addr, both, NULL);
}
