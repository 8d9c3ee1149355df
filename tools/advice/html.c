/* html.c: advice as one page that needs nothing else: style and pictures are in it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "parts.h"
#include "xml.h"

#define LINE 128.0

static const char style[] =
    "<style>\n"
    ":root{--ink:#1c2430;--dim:#5c6878;--rule:#d9dee5;--fill:#2f6fb2;--hot:#c8452f;"
    "--page:#fff;--band:#f4f6f9}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e8ee;--dim:#98a4b3;--rule:#"
    "39424e;"
    "--fill:#5b9be0;--hot:#ea7a63;--page:#171b21;--band:#20262e}}\n"
    "body{font:14px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--page);"
    "max-width:1080px;margin:2em auto;padding:0 1em}\n"
    "h1{font-size:22px;margin:0}h2{font-size:16px;margin:2em 0 .5em;border-bottom:1px "
    "solid var(--rule)}\n"
    "p{margin:.3em 0}.dim{color:var(--dim)}\n"
    "table{border-collapse:collapse;width:100%}td,th{padding:2px "
    "8px;text-align:right;vertical-align:top;white-space:nowrap}\n"
    "th{color:var(--dim);font-weight:500;border-bottom:1px solid "
    "var(--rule)}td.l,th.l{text-align:left;white-space:normal}\n"
    "tr:nth-child(even) td{background:var(--band)}code,td.c{font:12px "
    "ui-monospace,monospace;text-align:left;white-space:pre-wrap}\n"
    ".bar{background:var(--rule);width:220px;height:12px;display:inline-block}"
    ".bar i{background:var(--fill);height:12px;display:block}\n"
    ".hot{color:var(--hot)}ol li{margin:.6em 0}svg{max-width:100%;height:auto}\n"
    "svg text{fill:var(--ink);font:12px system-ui,sans-serif}svg "
    ".dim{fill:var(--dim)}\n"
    "svg path,svg line{stroke:var(--fill);fill:none;stroke-width:2}svg .grid{stroke:"
    "var(--rule);stroke-width:1}svg rect{fill:var(--band);stroke:var(--rule)}\n"
    "svg circle{fill:var(--hot)}.scroll{overflow-x:auto}\n"
    "</style>\n";

static void text(FILE *f, const char *what)
{
    xml_text(f, what);
}

static void head(const struct advice *a, FILE *f)
{
    const struct tm_machine *m = &a->machine;
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
          f);
    text(f, a->kernel);
    fputs("</title>\n", f);
    fputs(style, f);
    fputs("</head><body>\n", f);
    advice_save(a, f);
    fputs("<h1>", f);
    text(f, a->kernel);
    fprintf(f,
            "</h1>\n<p>%.0f cycles, %.3f us at %g MHz; %u &times; %u &times; %u "
            "workgroups of %u &times; %u &times; %u work-items, %llu waves",
            a->cycles, advice_us(a), m->sclk_mhz, m->groups[0], m->groups[1],
            m->groups[2], m->block[0], m->block[1], m->block[2],
            (unsigned long long)m->n_groups * m->waves_per_group);
    fprintf(f,
            "</p>\n<p>%u vector registers a wave, %u bytes of LDS a workgroup: at most "
            "%u of %u waves a SIMD, limited by %s; %.1f on average where there are any"
            "</p>\n",
            m->vgprs, m->lds_bytes, m->occupancy, m->slots, tm_limit_name[m->limit],
            a->use.simd_cycles > 0 ? a->use.wave_cycles / a->use.simd_cycles : 0);
    if (m->n_simulated < m->n_groups)
        fprintf(f,
                "<p>Sampled: %llu of %llu workgroups were simulated; cycles are an "
                "estimate, &plusmn; %.0f.</p>\n",
                (unsigned long long)m->n_simulated, (unsigned long long)m->n_groups,
                a->error);
    fputs("<p class=\"dim\">By the timing model of rdna3, which is approximate.</p>\n",
          f);
}

static void bar(FILE *f, double percent)
{
    fprintf(f, "<span class=\"bar\"><i style=\"width:%.1f%%\"></i></span>",
            percent > 100 ? 100 : percent);
}

static void rates(const struct advice *a, FILE *f)
{
    fprintf(
        f,
        "<h2>Speed of light</h2>\n<p class=\"dim\">What %u CUs at %g MHz could do at "
        "most.</p>\n<table id=\"rates\">\n<tr><th class=\"l\">rate</th><th>of the "
        "peak</th><th class=\"l\"></th><th>now</th><th>peak</th><th "
        "class=\"l\">unit</th><th class=\"l\"></th></tr>\n",
        a->peaks.cus, a->machine.sclk_mhz);
    for (unsigned i = 0; i < ADVICE_RATES; i++) {
        const struct advice_rate *r = &a->rate[i];
        double percent = advice_percent(r->value, r->peak);
        fprintf(f, "<tr><td class=\"l\">%s</td><td>%.1f %%</td><td class=\"l\">",
                r->name, percent);
        bar(f, percent);
        fprintf(f,
                "</td><td>%.5g</td><td>%.5g</td><td class=\"l\">%s</td><td class=\"l "
                "dim\">%s</td></tr>\n",
                r->value, r->peak, r->unit, r->about);
    }
    fputs("</table>\n", f);
}

/* ---- the roofline: both axes are logarithms ---- */

#define ROOF_W 640.0
#define ROOF_H 300.0
#define X_LOW  -3.0 /* powers of ten: operations for each byte */
#define X_HIGH 4.0
#define Y_HIGH 6.0 /* GFLOP/s, from one, or from where a slower kernel is */

static double at_x(double intensity)
{
    double x = (log10(intensity) - X_LOW) / (X_HIGH - X_LOW);
    return 60 + ROOF_W * (x < 0 ? 0 : x > 1 ? 1 : x);
}

static double y_low(const struct advice *a)
{
    double gflops = a->rate[ADVICE_FLOPS].value;
    return gflops > 0 && gflops < 1 ? fmax(floor(log10(gflops)), -6) : 0;
}

static double at_y(const struct advice *a, double gflops)
{
    double low = y_low(a), y = (log10(gflops) - low) / (Y_HIGH - low);
    return 20 + ROOF_H * (1 - (y < 0 ? 0 : y > 1 ? 1 : y));
}

/* A roof of some bandwidth, up to the arithmetic; it begins at the bottom or the left
 * edge. Its name is at an intensity, above or below. */
static void roof(const struct advice *a, double bandwidth, const char *name,
                 double mark, double dy, FILE *f)
{
    double top = advice_top(a), left = pow(10, X_LOW), low = y_low(a);
    double edge = pow(10, low) / bandwidth;
    double from = edge > left ? edge : left, corner = top / bandwidth;
    fprintf(f, "<path d=\"M%.1f %.1fL%.1f %.1f\"/>", at_x(from),
            at_y(a, from * bandwidth), at_x(corner), at_y(a, top));
    double slope = atan(ROOF_H / (Y_HIGH - low) / (ROOF_W / (X_HIGH - X_LOW)));
    fprintf(f,
            "<text x=\"%.1f\" y=\"%.1f\" transform=\"rotate(%.1f %.1f %.1f)\">%s %.4g "
            "GB/s</text>\n",
            at_x(mark), at_y(a, mark * bandwidth) + dy, -slope * 180 / acos(-1),
            at_x(mark), at_y(a, mark * bandwidth) + dy, name, bandwidth);
}

static void grid(const struct advice *a, FILE *f)
{
    for (int p = (int)X_LOW; p <= (int)X_HIGH; p++) {
        double x = at_x(pow(10, p));
        fprintf(f,
                "<line class=\"grid\" x1=\"%.1f\" y1=\"20\" x2=\"%.1f\" y2=\"%.1f\"/>"
                "<text class=\"dim\" x=\"%.1f\" y=\"%.1f\" "
                "text-anchor=\"middle\">%g</text>\n",
                x, x, 20 + ROOF_H, x, 36 + ROOF_H, pow(10, p));
    }
    for (int p = (int)y_low(a); p <= (int)Y_HIGH; p++) {
        double y = at_y(a, pow(10, p));
        fprintf(
            f,
            "<line class=\"grid\" x1=\"60\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
            "<text class=\"dim\" x=\"54\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
            y, 60 + ROOF_W, y, y + 4, pow(10, p));
    }
}

static void roofline(const struct advice *a, FILE *f)
{
    double gflops = a->rate[ADVICE_FLOPS].value, intensity = advice_intensity(a);
    double ghz = a->machine.sclk_mhz / 1000, top = advice_top(a);
    fputs("<h2>Roofline</h2>\n", f);
    if (gflops <= 0) {
        fputs("<p>The kernel has no floating point operations.</p>\n", f);
        return;
    }
    double x = intensity > 0 ? intensity : pow(10, X_HIGH);
    fprintf(
        f,
        "<p>%s%.3g operations for a byte of VRAM: bound by <b>%s</b>; %.1f %% of the "
        "%.5g GFLOP/s that are possible there.</p>\n",
        intensity > 0 ? "" : "No data from VRAM, at least ", x, advice_bound(a),
        advice_percent(gflops, advice_roof(a, x)), advice_roof(a, x));
    fprintf(f, "<svg id=\"roofline\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n",
            ROOF_W + 80, ROOF_H + 64);
    grid(a, f);
    roof(a, a->peaks.dram_bytes, "VRAM", 0.05, 16, f);
    roof(a, a->peaks.mall_bytes, "Infinity Cache", 0.5, 16, f);
    roof(a, a->peaks.gl2_bytes * ghz, "GL2", 0.05, -6, f);
    fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
            at_x(top / (a->peaks.gl2_bytes * ghz)), at_y(a, top), 60 + ROOF_W,
            at_y(a, top));
    fprintf(f,
            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s %.5g GFLOP/s</text>\n",
            60 + ROOF_W, at_y(a, top) - 6, a->wmma ? "16-bit matrices" : "32-bit", top);
    /* the name goes where there is room */
    bool left = at_x(x) > 60 + ROOF_W / 2, low = at_y(a, gflops) > ROOF_H;
    fprintf(f,
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"6\"/><text class=\"dim\" x=\"%.1f\" "
            "y=\"%.1f\" text-anchor=\"%s\">%.5g GFLOP/s</text>\n",
            at_x(x), at_y(a, gflops), at_x(x) + (left ? -12 : 12),
            at_y(a, gflops) + (low ? -6 : 14), left ? "end" : "start", gflops);
    fprintf(
        f,
        "<text class=\"dim\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">operations "
        "for each byte of VRAM</text></svg>\n",
        60 + ROOF_W / 2, ROOF_H + 56);
}

/* ---- the way of the data ---- */

static void box(FILE *f, unsigned i, const char *name, double hits, double misses)
{
    double x = 10 + 178.0 * i;
    fprintf(f,
            "<rect x=\"%.0f\" y=\"20\" width=\"96\" height=\"58\"/><text x=\"%.0f\" "
            "y=\"42\" text-anchor=\"middle\">%s</text>",
            x, x + 48, name);
    if (hits + misses > 0)
        fprintf(
            f,
            "<text class=\"dim\" x=\"%.0f\" y=\"62\" text-anchor=\"middle\">%.1f %% "
            "hit</text>",
            x + 48, 100 * hits / (hits + misses));
    fputc('\n', f);
}

static void arrow(FILE *f, unsigned i, double bytes, double gbs)
{
    double x = 106 + 178.0 * i;
    fprintf(f,
            "<line x1=\"%.0f\" y1=\"49\" x2=\"%.0f\" y2=\"49\"/><text x=\"%.0f\" "
            "y=\"42\" text-anchor=\"middle\">%.3g MB</text><text class=\"dim\" "
            "x=\"%.0f\" y=\"66\" text-anchor=\"middle\">%.4g GB/s</text>\n",
            x, x + 82, x + 41, bytes / 1e6, x + 41, gbs);
}

static void memory_chart(const struct advice *a, FILE *f)
{
    const double *k = a->count, us = advice_us(a);
    const double way[] = {
        k[TM_K_READ] + k[TM_K_WRITTEN], k[TM_K_L0_MISS] * LINE + k[TM_K_WRITTEN],
        k[TM_K_GL1_MISS] * LINE + k[TM_K_WRITTEN],
        (k[TM_K_MALL_HIT] + k[TM_K_MALL_MISS]) * LINE, k[TM_K_MALL_MISS] * LINE};
    fputs("<h2>The way of the data</h2>\n<svg id=\"memory\" viewBox=\"0 0 1010 92\" "
          "role=\"img\">\n",
          f);
    box(f, 0, "lanes", 0, 0);
    box(f, 1, "L0", k[TM_K_L0_HIT], k[TM_K_L0_MISS]);
    box(f, 2, "GL1", k[TM_K_GL1_HIT], k[TM_K_GL1_MISS]);
    box(f, 3, "GL2", k[TM_K_GL2_HIT], k[TM_K_GL2_MISS]);
    box(f, 4, "Infinity Cache", k[TM_K_MALL_HIT], k[TM_K_MALL_MISS]);
    box(f, 5, "VRAM", 0, 0);
    for (unsigned i = 0; i < 5; i++)
        arrow(f, i, way[i], us > 0 ? way[i] / (1000 * us) : 0);
    fputs("</svg>\n<p class=\"dim\">Bytes that lanes ask for (scalar loads, too), then "
          "whole lines; stores go past L0 and GL1.</p>\n",
          f);
}

static void causes(const struct advice *a, FILE *f)
{
    fputs("<h2>Bottlenecks</h2>\n<p class=\"dim\">Of the cycles of all waves, most "
          "first. "
          "What one wave waits for another may hide.</p>\n<ol id=\"causes\">\n",
          f);
    for (unsigned i = 0; i < a->n_causes; i++) {
        const struct advice_cause *c = &a->cause[i];
        fprintf(f, "<li><b>%.1f %%%s</b> %s<br>", c->percent,
                c->idle ? " of the chip&#39;s time" : "", c->name);
        if (c->worst < a->n_insts) {
            fprintf(f, "%.1f %% at <code>%x: ", c->worst_percent,
                    a->inst[c->worst].use.offset);
            text(f, a->inst[c->worst].text);
            fputs("</code><br>", f);
        }
        fputs("<span class=\"dim\">try: ", f);
        text(f, c->attempt);
        fputs("</span></li>\n", f);
    }
    fputs("</ol>\n", f);
}

static void inst_row(const struct advice_inst *i, double all, FILE *f)
{
    const struct tm_inst_use *u = &i->use;
    char waits[256];
    double times = (double)(u->times ? u->times : 1);
    double share = advice_percent((double)u->cycles, all);
    advice_waits(u, waits, sizeof waits);
    fprintf(f,
            "<tr><td><code>%x</code></td><td>%llu</td><td>%.1f</td><td%s>%.1f "
            "%%</td><td class=\"c\">",
            u->offset, (unsigned long long)u->times, (double)u->cycles / times,
            share >= 5 ? " class=\"hot\"" : "", share);
    text(f, i->text);
    fputs("</td><td>", f);
    if (u->requests) {
        double lines = (double)u->lines / (double)u->requests,
               least = advice_least_lines(u);
        fprintf(f, "<span%s>%.1f</span> / %.1f",
                lines > 1.5 * least ? " class=\"hot\"" : "", lines, least);
    }
    fputs("</td><td>", f);
    if (u->cls == TM_LDS)
        fprintf(f, "<span%s>%.1f</span>", u->conflicts ? " class=\"hot\"" : "",
                (double)u->conflicts / times);
    fprintf(f, "</td><td class=\"l dim\">%s</td></tr>\n", waits);
}

static void listing(const struct advice *a, FILE *f)
{
    double all = 0;
    for (size_t i = 0; i < a->n_insts; i++)
        all += (double)a->inst[i].use.cycles;
    fputs(
        "<h2>Instructions</h2>\n<p class=\"dim\">Cycles of waves until it has issued, "
        "each time; lines of 128 bytes that an execution touches, and the least for as "
        "many bytes; cycles of LDS bank conflicts.</p>\n<div class=\"scroll\"><table "
        "id=\"instructions\">\n<tr><th>offset</th><th>times</th><th>cycles</th><th>of "
        "all</th><th class=\"l\">instruction</th><th>lines</th><th>conflicts</th><th "
        "class=\"l\">waited for</th></tr>\n",
        f);
    for (size_t i = 0; i < a->n_insts; i++)
        inst_row(&a->inst[i], all, f);
    fputs("</table></div>\n", f);
}

static void change(const struct advice *a, const struct advice *before, FILE *f)
{
    const char *name, *unit;
    double now, was;
    fputs("<h2>Compared with ", f);
    text(f, before->kernel);
    fputs("</h2>\n<table id=\"change\">\n<tr><th class=\"l\"></th><th>before</th>"
          "<th>now</th><th>change</th><th class=\"l\">unit</th></tr>\n",
          f);
    for (unsigned i = 0; advice_figure(a, i, &name, &unit, &now) &&
                         advice_figure(before, i, &name, &unit, &was);
         i++) {
        if (now == 0 && was == 0)
            continue;
        fprintf(f, "<tr><td class=\"l\">%s</td><td>%.6g</td><td>%.6g</td><td>", name,
                was, now);
        if (was != 0)
            fprintf(f, "%+.1f %%", 100 * (now - was) / was);
        fprintf(f, "</td><td class=\"l dim\">%s</td></tr>\n", unit);
    }
    fputs("</table>\n", f);
}

void advice_html(const struct advice *a, const struct advice *before, FILE *f)
{
    head(a, f);
    rates(a, f);
    roofline(a, f);
    memory_chart(a, f);
    causes(a, f);
    listing(a, f);
    if (before)
        change(a, before, f);
    fputs("</body></html>\n", f);
}
