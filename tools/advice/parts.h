/* parts.h: what the files of this folder share. SPDX-License-Identifier: MIT */
#ifndef RD_ADVICE_PARTS_H
#define RD_ADVICE_PARTS_H

#include "advice.h"

/* advice.c: rates from counts; causes.c: causes from waits. */
void advice_rates(struct advice *a);
void advice_find_causes(struct advice *a);

/* parts.c: numbers of both forms. */
double advice_percent(double part, double whole);
double advice_us(const struct advice *a);
/* Operations for each byte of VRAM; 0: none. */
double advice_intensity(const struct advice *a);
/* Operations a second that are possible at an intensity, in units of 1e9. */
double advice_roof(const struct advice *a, double intensity);
double advice_top(const struct advice *a);
/* "VRAM", or "arithmetic": what bounds a kernel of this intensity. */
const char *advice_bound(const struct advice *a);
/* Lines of 128 bytes that an access touches at least, packed. */
double advice_least_lines(const struct tm_inst_use *u);
/* Of n figures to compare the i-th: false when there are no more. */
bool advice_figure(const struct advice *a, unsigned i, const char **name,
                   const char **unit, double *value);
/* "vm-dram 12.3, barrier 4.0": waits for each execution, most first. */
void advice_waits(const struct tm_inst_use *u, char *text, size_t size);

/* saved.c: the run as text that advice_read understands. */
void advice_save(const struct advice *a, FILE *f);

#endif
