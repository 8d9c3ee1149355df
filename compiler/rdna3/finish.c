/* finish.c: from chosen instructions to final ones: the order of the steps.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rdna3.h"

#include <stdlib.h>
#include <string.h>

/* Code and registers before something that may not work out. */
struct saved {
    struct mi *code;
    struct vreg *regs;
    uint32_t n_code;
};

static bool save(const struct rdna3 *r, struct saved *s)
{
    s->n_code = r->n_code;
    s->code = malloc((r->n_code + 1ull) * sizeof *s->code);
    s->regs = malloc((r->n_regs + 1ull) * sizeof *s->regs);
    if (!s->code || !s->regs)
        return false;
    memcpy(s->code, r->code, r->n_code * sizeof *s->code);
    memcpy(s->regs, r->regs, r->n_regs * sizeof *s->regs);
    return true;
}

/* Nothing allocated, nothing failed. */
static void begin_again(struct rdna3 *r)
{
    r->vgprs = r->sgprs = 0;
    free(r->loops);
    r->loops = NULL;
    r->n_loops = 0;
    r->status = RD_OK;
    r->error[0] = 0;
}

static void restore(struct rdna3 *r, const struct saved *s)
{
    memcpy(r->code, s->code, s->n_code * sizeof *s->code);
    memcpy(r->regs, s->regs, r->n_regs * sizeof *s->regs);
    r->n_code = s->n_code;
    begin_again(r);
}

#define MAX_SPILLS 200

static void forget_allocation(struct rdna3 *r)
{
    for (uint32_t i = 0; i < r->n_regs; i++) {
        struct vreg *v = &r->regs[i];
        v->used = false;
        v->begin = v->end = 0;
        v->phys = v->fixed ? v->phys : -1;
    }
    begin_again(r);
}

/* Registers; with scratch if there are too few VGPRs. */
static void allocate(struct rdna3 *r)
{
    rdna3_allocate(r);
    for (unsigned i = 0; i < MAX_SPILLS; i++) {
        char why[CC_ERROR_BYTES];
        if (r->status != RD_E_RANGE || !r->failed_vector)
            return;
        memcpy(why, r->error, sizeof why);
        r->status = RD_OK;
        if (!rdna3_spill(r)) {
            r->status = RD_E_RANGE;
            memcpy(r->error, why, sizeof why);
            return;
        }
        forget_allocation(r);
        rdna3_allocate(r);
    }
}

void rdna3_finish(struct rdna3 *r)
{
    struct saved s = {0};
    rdna3_drop_dead(r);
    rdna3_peep(r);
    rdna3_drop_dead(r);
    if (r->status == RD_OK && !save(r, &s))
        rdna3_fail(r, RD_E_NOMEM, 0, "out of memory");
    if (r->status == RD_OK) {
        rdna3_schedule(r);
        if (r->status == RD_OK)
            rdna3_allocate(r);
        if (r->status == RD_E_RANGE) { /* as it came, fewer values live at once */
            restore(r, &s);
            allocate(r);
        }
    }
    if (r->status == RD_OK)
        rdna3_pair(r);
    free(s.code);
    free(s.regs);
}
