/* print.c: events as text.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>

#include "trace_tool.h"

#define LANES_SHOWN 4 /* addresses of an irregular access */

const char *trace_inst_name(const struct emu_inst *inst)
{
    return inst->kind == EMU_KIND_ILLEGAL ? "(illegal)" : isa_op_name(inst->isa.op);
}

/* The distance between neighbouring lanes, if all have the same. */
static bool even_step(const struct emu_access *a, uint64_t *step)
{
    bool have = false;
    unsigned last = (unsigned)__builtin_ctzll(a->lanes);
    for (uint64_t m = a->lanes & (a->lanes - 1); m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctzll(m);
        uint64_t s = a->address[l] - a->address[last];
        if (have && s != *step)
            return false;
        *step = s;
        have = true;
        last = l;
    }
    return true;
}

const char *trace_space_name(unsigned space)
{
    static const char *const names[] = {"global", "lds", "scratch", "gds"};
    return names[space];
}

const char *trace_reg_name(const struct emu_reg *r, unsigned dword, char *text)
{
    if (r->sel == ISA_SEL_SCC)
        return "scc";
    isa_sel_name(r->sel + dword, 1, ISA_FMT_B32, text);
    return text;
}

static void print_access(const struct emu_access *a, uint64_t exec)
{
    unsigned n = (unsigned)__builtin_popcountll(a->lanes), shown = 0;
    uint64_t step = 0;
    printf("  %s %s%s %uB", trace_space_name(a->space), a->read ? "r" : "",
           a->write ? "w" : "", a->bytes);
    if (!a->scalar && a->lanes != exec)
        printf(" lanes 0x%" PRIx64, a->lanes);
    printf(" at");
    if (n > 1 && even_step(a, &step)) {
        printf(" 0x%" PRIx64 " step %" PRId64 " x%u",
               a->address[__builtin_ctzll(a->lanes)], (int64_t)step, n);
        return;
    }
    for (uint64_t m = a->lanes; m && shown < LANES_SHOWN; m &= m - 1, shown++)
        printf(" 0x%" PRIx64, a->address[__builtin_ctzll(m)]);
    if (n > shown)
        printf(" ... (%u)", n);
}

static void print_row(const uint32_t *row, unsigned n)
{
    unsigned same = 1;
    while (same < n && row[same] == row[0])
        same++;
    if (same == n) {
        printf(" 0x%x%s", row[0], n > 1 ? " in all lanes" : "");
        return;
    }
    for (unsigned i = 0; i < n; i++)
        printf("%s %x", i && i % 16 == 0 ? "\n                  " : "", row[i]);
}

static void print_values(const struct emu_event *e, unsigned direction)
{
    const uint32_t *v = direction == ISA_OF_IN ? e->in : e->out;
    for (unsigned i = 0; i < e->inst->n_regs; i++) {
        const struct emu_reg *r = &e->inst->reg[i];
        bool vgpr = emu_reg_is_vgpr(r);
        if (!(r->flags & direction))
            continue;
        for (unsigned k = 0; k < r->dwords; k++) {
            char name[32];
            printf("         %3s %-5s", direction == ISA_OF_IN ? "in" : "out",
                   trace_reg_name(r, k, name));
            print_row(v, vgpr ? e->wave->lanes : 1);
            putchar('\n');
            v += vgpr ? e->wave->lanes : 1;
        }
    }
}

void trace_print_event(const struct trace_dispatch *d, uint64_t number,
                       const struct emu_event *e, const char *prefix)
{
    const struct emu_wave_info *w = e->wave;
    char text[ISA_MAX_TEXT] = "(illegal)";
    if (e->inst->kind != EMU_KIND_ILLEGAL)
        isa_print(&e->inst->isa, w->lanes, 0, text);
    printf("%s%8" PRIu64, prefix, number);
    if (e->time)
        printf(" @%-8" PRIu64, e->time);
    if (d->number)
        printf(" d%" PRIu64, d->number);
    bool partial = e->exec != (w->lanes == 64 ? ~UINT64_C(0) : UINT32_MAX);
    bool more = partial || e->flags || e->n_accesses;
    printf(" (%u,%u,%u) w%-2u %6" PRIx64 "  %-*s", w->workgroup[0], w->workgroup[1],
           w->workgroup[2], w->wave, e->inst->pc - d->code_base, more ? 40 : 0, text);
    if (partial)
        printf("  exec 0x%" PRIx64, e->exec);
    if (e->flags & EMU_EV_TAKEN)
        printf("  -> %" PRIx64, e->next_pc - d->code_base);
    for (unsigned i = 0; i < e->n_accesses; i++)
        print_access(&e->access[i], e->exec);
    printf("%s%s%s\n", e->flags & EMU_EV_ENDED ? "  end" : "",
           e->flags & EMU_EV_FAULT ? "  FAULT" : "",
           e->flags & EMU_EV_BARRIER_DONE ? "  barrier opens" : "");
    if (e->in)
        print_values(e, ISA_OF_IN);
    if (e->out)
        print_values(e, ISA_OF_OUT);
}
