/* text.c: advice for a terminal. SPDX-License-Identifier: MIT */
#include <math.h>

#include "parts.h"

#define BAR 20

static void print_rates(const struct advice *a, FILE *f)
{
    fprintf(f, "speed of light     of %u CUs at %g MHz\n", a->peaks.cus,
            a->machine.sclk_mhz);
    for (unsigned i = 0; i < ADVICE_RATES; i++) {
        const struct advice_rate *r = &a->rate[i];
        double percent = advice_percent(r->value, r->peak);
        int full = (int)lround(percent / 100 * BAR);
        full = full < 0 ? 0 : full > BAR ? BAR : full;
        fprintf(f, "  %-16s %5.1f %%  |%.*s%*s|  %.5g of %.5g %s\n", r->name, percent,
                full, "####################", BAR - full, "", r->value, r->peak,
                r->unit);
    }
    double intensity = advice_intensity(a);
    if (intensity > 0)
        fprintf(f,
                "roofline           %.3g operations for a byte of VRAM: bound by %s, "
                "%.1f %% of %.5g GFLOP/s\n",
                intensity, advice_bound(a),
                advice_percent(a->rate[ADVICE_FLOPS].value, advice_roof(a, intensity)),
                advice_roof(a, intensity));
    else if (a->count[TM_K_FLOPS] > 0)
        fprintf(f, "roofline           no data from VRAM: bound by arithmetic\n");
}

static void print_causes(const struct advice *a, FILE *f)
{
    fputs("bottlenecks        of the waves' cycles, most first\n", f);
    for (unsigned i = 0; i < a->n_causes; i++) {
        const struct advice_cause *c = &a->cause[i];
        fprintf(f, "  %2u. %5.1f %%%s  %s\n", i + 1, c->percent,
                c->idle ? " of the chip's time" : "", c->name);
        if (c->worst < a->n_insts)
            fprintf(f, "      %.1f %% at %x: %s\n", c->worst_percent,
                    a->inst[c->worst].use.offset, a->inst[c->worst].text);
        fprintf(f, "      try: %s\n", c->attempt);
    }
}

static void print_memory(const struct advice *a, FILE *f)
{
    bool head = false;
    for (size_t i = 0; i < a->n_insts; i++) {
        const struct tm_inst_use *u = &a->inst[i].use;
        if (!u->requests)
            continue;
        if (!head)
            fputs("memory                times     lanes    bytes    lines  (least)\n",
                  f);
        head = true;
        double n = (double)u->requests;
        fprintf(f, "  %8x %14llu %9.1f %8.1f %8.1f %8.1f  %s\n", u->offset,
                (unsigned long long)u->requests, (double)u->lanes / n,
                (double)u->bytes / n, (double)u->lines / n, advice_least_lines(u),
                a->inst[i].text);
    }
    head = false;
    for (size_t i = 0; i < a->n_insts; i++) {
        const struct tm_inst_use *u = &a->inst[i].use;
        if (u->cls != TM_LDS || !u->times)
            continue;
        if (!head)
            fputs("LDS                   times  conflict cycles each\n", f);
        head = true;
        fprintf(f, "  %8x %14llu %9.1f                   %s\n", u->offset,
                (unsigned long long)u->times, (double)u->conflicts / (double)u->times,
                a->inst[i].text);
    }
}

static void print_change(const struct advice *a, const struct advice *before, FILE *f)
{
    const char *name, *unit;
    double now, was;
    fprintf(f, "compared with      %s\n  %-18s %14s %14s %9s\n", before->kernel, "",
            "before", "now", "change");
    for (unsigned i = 0; advice_figure(a, i, &name, &unit, &now) &&
                         advice_figure(before, i, &name, &unit, &was);
         i++) {
        if (now == 0 && was == 0)
            continue;
        fprintf(f, "  %-18s %14.6g %14.6g", name, was, now);
        if (was != 0)
            fprintf(f, " %+8.1f %%", 100 * (now - was) / was);
        fprintf(f, "%s%s\n", *unit ? "  " : "", unit);
    }
}

void advice_print(const struct advice *a, const struct advice *before, FILE *f)
{
    print_rates(a, f);
    print_causes(a, f);
    print_memory(a, f);
    if (before)
        print_change(a, before, f);
}
