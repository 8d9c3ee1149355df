/* vector.h: one vector instruction by recipe while its code is written.
 *
 * vector.c puts together what operand.c (sources), dpp.c and step.c write.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_VECTOR_H
#define RD_VECTOR_H

#include "emit.h"

/* Where a source is, for one instruction. */
struct source {
    enum { AT_ROW, AT_WAVE, AT_CONST, AT_TEMP } at;
    unsigned entry; /* AT_ROW: or NO_ENTRY, then row is in memory */
    unsigned row;
    int32_t disp;  /* AT_WAVE, AT_CONST: of the dword to broadcast */
    unsigned mods; /* SM_ABS, SM_NEG that every use has to apply */
};

struct job {
    const struct uop *u;
    const struct recipe *r;
    struct source s[3];
    struct source high, high1, high2; /* the upper rows of pairs */
    unsigned d, dh;                   /* entries of the result */
    bool has_d;
    const struct udpp *dpp; /* NULL: none */
    struct source from;     /* the source that it permutes */
    uint32_t write;         /* lanes that DPP lets it write */
    struct far *slow;
};

#define K_MASK  3u /* k3: M of part 0; k4: of part 1 */
#define K_WRITE 5u /* k5, k6: lanes that DPP writes */
#define K_MORE  7u
#define K_VALID 7u /* lanes for which DPP has a source, the same in each row of 16 */

/* ---- operand.c */

/* Source i of u, which is at from, with its modifiers in its temporary. */
void operand_mods(struct emit *e, const struct uop *u, unsigned i, unsigned mods,
                  struct x86_rm from);
/* The lower (upper) halves of the dwords in from, f16, as f32; k: under EXEC, then T0
 * changes. */
void operand_widen(struct emit *e, unsigned to, unsigned from, bool upper, unsigned k);
/* Where source i is. */
void operand_find(struct emit *e, struct job *j, unsigned i);
/* Sources that are the same in all lanes and cannot stay in memory are broadcast once.
 */
void operand_spread(struct emit *e, struct job *j, unsigned i);
void operand_spread_high(struct emit *e, struct source *s);
/* Operand o of a step, for one part, as a last operand. */
struct x86_rm operand_rm(struct emit *e, struct job *j, unsigned o, unsigned part);
/* ... as a register. */
unsigned operand_reg(struct emit *e, struct job *j, unsigned o, unsigned part);

/* ---- fold.c */

/* What is left of r if u's constants are known: to, or r. */
const struct recipe *recipe_folded(const struct emit *e, const struct uop *u,
                                   const struct recipe *r, struct recipe *to);

/* ---- dpp.c */

const struct udpp *dpp_of(const struct uop *u);
/* The lanes that DPP lets an instruction write whose lanes are all on, or that reads
 * lanes which are off (FI), of that half of the wave. */
uint32_t dpp_writes(const struct udpp *dpp, unsigned half);
/* DPP: the lanes it reads from and those it writes to. */
void dpp_load(struct emit *e, struct job *j);
/* Source 0 of one part with its lanes where DPP wants them. */
void dpp_permute(struct emit *e, struct job *j, unsigned part);
/* Can the recipe be done with u's DPP? */
bool dpp_suits(const struct recipe *r, const struct uop *u);

/* ---- half.c */

/* The steps from STEP_WIDEN on. OP_D: to result_reg. */
void half_run(struct emit *e, struct job *j, const struct step *s, unsigned part);

/* ---- double.c */

void double_run(struct emit *e, struct job *j, const struct step *s, unsigned part);

/* ---- step.c */

/* Where the last step writes its result, which then is moved under EXEC, and under
 * which mask. */
unsigned result_reg(const struct emit *e, const struct job *j, unsigned part);
unsigned result_k(const struct emit *e, const struct job *j, unsigned part);

void step_run(struct emit *e, struct job *j, const struct step *s, unsigned part);
/* On to the slow path where the step says so. */
void step_check(struct emit *e, struct job *j, const struct step *s);

/* Are some lanes of the result kept? */
static inline bool keeps_lanes(const struct emit *e, const struct job *j)
{
    return e->masked || j->write != ~0u;
}

/* Is source i of the recipe a pair? */
static inline bool recipe_wide(const struct recipe *r, unsigned i)
{
    static const unsigned wide[] = {RECIPE_WIDE0, RECIPE_WIDE1, RECIPE_WIDE2};
    return i < 3 && r->flags & wide[i];
}

static inline bool step_is_check(const struct step *s)
{
    return s->form >= STEP_ORDERED && s->form <= STEP_ROUNDED;
}

static inline bool recipe_may_be_slow(const struct recipe *r)
{
    for (unsigned k = 0; k < r->n; k++)
        if (step_is_check(&r->step[k]))
            return true;
    return false;
}

#endif
