/* parts.c: numbers that both the text and the page show. SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "parts.h"

#define LINE 128.0

double advice_percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

double advice_us(const struct advice *a)
{
    return a->cycles / a->machine.sclk_mhz;
}

double advice_top(const struct advice *a)
{
    double ghz = a->machine.sclk_mhz / 1000;
    return (a->wmma ? a->peaks.wmma : a->peaks.flops) * ghz;
}

double advice_intensity(const struct advice *a)
{
    double bytes = a->count[TM_K_MALL_MISS] * LINE;
    return bytes > 0 ? a->count[TM_K_FLOPS] / bytes : 0;
}

double advice_roof(const struct advice *a, double intensity)
{
    double slope = intensity * a->peaks.dram_bytes, top = advice_top(a);
    return slope < top ? slope : top;
}

const char *advice_bound(const struct advice *a)
{
    double i = advice_intensity(a);
    return i > 0 && i * a->peaks.dram_bytes < advice_top(a) ? "VRAM" : "arithmetic";
}

double advice_least_lines(const struct tm_inst_use *u)
{
    double each = u->requests ? (double)u->bytes / (double)u->requests : 0;
    return each > LINE ? each / LINE : each > 0;
}

bool advice_figure(const struct advice *a, unsigned i, const char **name,
                   const char **unit, double *value)
{
    if (i == 0) {
        *name = "cycles";
        *unit = "";
        *value = a->cycles;
    } else if (i == 1) {
        *name = "time";
        *unit = "us";
        *value = advice_us(a);
    } else if (i < 2 + ADVICE_RATES) {
        *name = a->rate[i - 2].name;
        *unit = a->rate[i - 2].unit;
        *value = a->rate[i - 2].value;
    } else if (i < 2 + ADVICE_RATES + TM_COUNTS) {
        *name = tm_count_name[i - 2 - ADVICE_RATES];
        *unit = "";
        *value = a->count[i - 2 - ADVICE_RATES];
    } else if (i < 2 + ADVICE_RATES + TM_COUNTS + TM_STALLS) {
        *name = tm_stall_name[i - 2 - ADVICE_RATES - TM_COUNTS];
        *unit = "wave cycles";
        *value = a->stall[i - 2 - ADVICE_RATES - TM_COUNTS];
    } else {
        return false;
    }
    return true;
}

void advice_waits(const struct tm_inst_use *u, char *text, size_t size)
{
    bool shown[TM_STALLS] = {false};
    size_t at = 0;
    text[0] = '\0';
    for (unsigned n = 0; n < 4; n++) {
        unsigned best = 0;
        for (unsigned s = 1; s < TM_STALLS; s++)
            if (!shown[s] && u->stall[s] > (best ? u->stall[best] : 0))
                best = s;
        if (!best || at >= size)
            return;
        shown[best] = true;
        int wrote = snprintf(
            text + at, size - at, "%s%s %.1f", n ? ", " : "", tm_stall_name[best],
            (double)u->stall[best] / (double)(u->times ? u->times : 1));
        at += wrote > 0 ? (size_t)wrote : 0;
    }
}
