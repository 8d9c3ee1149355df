/* valu.c: what a VALU instruction takes, by its pipe: known before it is first issued.
 * SPDX-License-Identifier: MIT
 */
#include "valu.h"

/* Cycles that the VALU's issue is taken. */
static int64_t issue_cycles(const struct tm_base *b, const struct tm_inst *i)
{
    switch (i->pipe) {
    case TM_PIPE_HALF:
        return PARAM(b, half_issue);
    case TM_PIPE_QUARTER:
        return PARAM(b, quarter_issue);
    case TM_PIPE_DOUBLE:
        return PARAM(b, double_issue);
    default:
        return 1;
    }
}

/* Cycles of the execution pipe. */
static int64_t pipe_cycles(const struct tm_base *b, const struct tm_inst *i)
{
    switch (i->pipe) {
    case TM_PIPE_TRANS:
        return 1;
    case TM_PIPE_WMMA:
        return PARAM(b, wmma_cycles) + (i->reads_c ? PARAM(b, wmma_read_cycles) : 0);
    case TM_PIPE_WMMA4:
        return PARAM(b, wmma_iu4_cycles) +
               (i->reads_c ? PARAM(b, wmma_read_cycles) : 0);
    default:
        return issue_cycles(b, i);
    }
}

static int64_t dependent_cycles(const struct tm_base *b, const struct tm_inst *i)
{
    switch (i->pipe) {
    case TM_PIPE_TRANS:
        return PARAM(b, trans_dep);
    case TM_PIPE_QUARTER:
        return PARAM(b, quarter_dep);
    case TM_PIPE_HALF:
    case TM_PIPE_DOUBLE:
        return PARAM(b, valu_dep64);
    default:
        return PARAM(b, valu_dep);
    }
}

void tm_inst_costs(const struct tm_base *b, struct tm_inst *i)
{
    if (i->cls != TM_VALU)
        return;
    i->issue_cycles = issue_cycles(b, i);
    i->pipe_cycles = pipe_cycles(b, i);
    i->dependent_cycles = dependent_cycles(b, i);
}
