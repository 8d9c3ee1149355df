/* saved.c: a run inside of a page, for later comparisons: lines of a name and a number
 * in a comment. SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "parts.h"

#define BEGIN "<!-- rdna3 report 1\n"
#define END   "-->"

void advice_save(const struct advice *a, FILE *f)
{
    const char *name, *unit;
    double value;
    fputs(BEGIN "kernel ", f);
    for (const char *c = a->kernel; *c; c++) /* nothing that ends the comment */
        fputc(*c == '-' || *c == '>' || *c == '<' || *c == '\n' ? '_' : *c, f);
    fprintf(f, "\nclock %.17g\n", a->machine.sclk_mhz);
    for (unsigned i = 0; advice_figure(a, i, &name, &unit, &value); i++)
        fprintf(f, "%u %.17g\n", i, value);
    fputs(END "\n", f);
}

/* Put a figure where advice_figure finds it. */
static bool set_figure(struct advice *a, unsigned long i, double value)
{
    if (i == 0)
        a->cycles = value;
    else if (i >= 2 && i < 2 + ADVICE_RATES)
        a->rate[i - 2].value = value;
    else if (i >= 2 + ADVICE_RATES && i < 2 + ADVICE_RATES + TM_COUNTS)
        a->count[i - 2 - ADVICE_RATES] = value;
    else if (i >= 2 + ADVICE_RATES + TM_COUNTS &&
             i < 2 + ADVICE_RATES + TM_COUNTS + TM_STALLS)
        a->stall[i - 2 - ADVICE_RATES - TM_COUNTS] = value;
    else
        return i == 1; /* follows from the cycles */
    return true;
}

static bool take_line(struct advice *a, const char *line)
{
    char *end;
    if (strncmp(line, "kernel ", 7) == 0 && !a->kernel)
        return (a->kernel = strdup(line + 7)) != NULL;
    if (strncmp(line, "clock ", 6) == 0) {
        a->machine.sclk_mhz = strtod(line + 6, &end);
        return end != line + 6 && !*end && a->machine.sclk_mhz > 0 &&
               isfinite(a->machine.sclk_mhz);
    }
    unsigned long i = strtoul(line, &end, 10);
    if (end == line || *end != ' ')
        return false;
    const char *number = end + 1;
    double value = strtod(number, &end);
    return end != number && !*end && isfinite(value) && set_figure(a, i, value);
}

int advice_read(const char *path, struct advice *out)
{
    void *data;
    size_t bytes;
    unsigned number = 0;
    *out = (struct advice){0};
    if (cli_read_file(path, &data, &bytes) != RD_OK)
        return cli_error(CLI_FAILED, "cannot read '%s': %s", path, strerror(errno));
    char *text = realloc(data, bytes + 1);
    if (!text) {
        free(data);
        return cli_error(CLI_FAILED, "out of memory");
    }
    text[bytes] = '\0';
    char *at = strstr(text, BEGIN), *rest = NULL;
    char *end = at ? strstr(at + strlen(BEGIN), END) : NULL;
    bool good = end != NULL;
    if (good)
        *end = '\0';
    for (char *line = good ? strtok_r(at + strlen(BEGIN), "\n", &rest) : NULL;
         good && line; line = strtok_r(NULL, "\n", &rest)) {
        good = take_line(out, line);
        number++;
    }
    free(text);
    if (good && out->kernel && out->machine.sclk_mhz > 0 && number > 3) {
        double value[ADVICE_RATES];
        for (unsigned i = 0; i < ADVICE_RATES; i++)
            value[i] = out->rate[i].value;
        advice_rates(out); /* for the names */
        for (unsigned i = 0; i < ADVICE_RATES; i++)
            out->rate[i].value = value[i];
        return CLI_OK;
    }
    advice_free(out);
    return cli_error(CLI_FAILED, "'%s' is no report of rdna3 run --report", path);
}
