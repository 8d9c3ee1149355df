/* advice.h: what a timed run says about making the kernel faster: rates and what the
 * chip could do at most, the roofline, what waves waited for with what to try, memory
 * instructions that touch too many lines, as text or as a page; two runs compared.
 *
 *     advice_take(engine, "kernel", &a);  advice_print(&a, before, stdout);
 *     advice_free(&a);
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_ADVICE_H
#define RD_ADVICE_H

#include <stdio.h>

#include "timing.h"

struct advice_inst {
    struct tm_inst_use use; /* inst is NULL */
    char *text;
};

/* What the chip did and could do at most, in the same unit. */
enum advice_unit {
    ADVICE_VALU,
    ADVICE_FLOPS,
    ADVICE_SALU,
    ADVICE_LDS,
    ADVICE_L0,
    ADVICE_GL2,
    ADVICE_MALL,
    ADVICE_VRAM,
    ADVICE_WAVES,
    ADVICE_RATES
};

struct advice_rate {
    const char *name, *unit, *about;
    double value, peak;
};

/* Why waves did not go on. */
struct advice_cause {
    const char *name, *attempt; /* what to try */
    double percent;             /* of the waves' cycles; of the chip's, if idle */
    bool idle;                  /* SIMDs without a wave */
    size_t worst;               /* instruction with most of it; n_insts: none */
    double worst_percent;
};
#define ADVICE_CAUSES 20

struct advice {
    char *kernel;
    struct tm_machine machine;
    struct tm_use use;
    struct tm_peaks peaks;
    double cycles, error; /* of the span; half the width of its interval */
    double count[TM_COUNTS];
    double address_cycles;
    double stall[TM_STALLS]; /* of all waves; TM_S_NONE: issues */
    bool wmma;
    struct advice_inst *inst; /* by offset */
    size_t n_insts;
    struct advice_rate rate[ADVICE_RATES];
    struct advice_cause cause[ADVICE_CAUSES]; /* most first */
    unsigned n_causes;
};

/* Gather what the engine knows, after tm_run. Returns RD_E_NOMEM. */
RD_CHECKED rd_status advice_take(const struct tm_engine *t, const char *kernel,
                                 struct advice *out);
void advice_free(struct advice *a);

/* The page, with no references to anything outside of it. before: another run of which
 * changes are told, or NULL. */
void advice_html(const struct advice *a, const struct advice *before, FILE *f);
/* The same for a terminal, shorter. */
void advice_print(const struct advice *a, const struct advice *before, FILE *f);

/* Read back the run that a page tells of, without its texts. Prints errors, returns an
 * exit status. */
int advice_read(const char *path, struct advice *out);

#endif
