/* hazard.h: instructions that were printed last, as far as the next one cares.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_RDNA3_HAZARD_H
#define RD_CC_RDNA3_HAZARD_H

#include "rdna3.h"

/* Registers side by side. */
struct rdna3_span {
    bool vector;
    unsigned first, end;
};

struct rdna3_recent {
    struct rdna3_span reg;
    unsigned valus, trans; /* instructions since */
};

struct rdna3_hazards {
    struct rdna3 *r;
    struct cc_text *t;
    struct rdna3_recent trans[8];
    unsigned n_trans;
    struct rdna3_span last_trans[3], last_valu[4][2], last_salu, last_wmma;
    unsigned n_last_trans, n_last_valu;
    bool salu_before, wmma_before;
    size_t delay_end;     /* where a second delay can be added; 0: nowhere */
    unsigned since_delay; /* instructions */
};

/* Write what must come before an instruction; afterwards note it. */
void rdna3_hazard_before(struct rdna3_hazards *h, const struct mi *m);
void rdna3_hazard_after(struct rdna3_hazards *h, const struct mi *m);
/* A wait was printed. */
void rdna3_hazard_wait(struct rdna3_hazards *h);

#endif
