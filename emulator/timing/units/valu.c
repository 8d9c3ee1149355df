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

/* From the result to that of an instruction which needs it. */
static int64_t result_cycles(const struct tm_base *b, const struct tm_inst *i)
{
    if (i->pipe == TM_PIPE_TRANS)
        return PARAM(b, trans_dep);
    return PARAM(b, valu_dep) +
           (i->trans64 ? PARAM(b, trans64_dep) - PARAM(b, double_dep) : 0);
}

/* From the issue to that of the same. Who takes the pipe for several cycles has its
 * result in the last of them. */
static int64_t dependent_cycles(const struct tm_base *b, const struct tm_inst *i)
{
    if (i->pipe == TM_PIPE_DOUBLE)
        return i->trans64 ? PARAM(b, trans64_dep) : PARAM(b, double_dep);
    return i->result_cycles +
           (i->pipe < TM_PIPE_WMMA ? tm_max(0, i->pipe_cycles - 1) : 0);
}

void tm_inst_costs(const struct tm_base *b, struct tm_inst *i)
{
    if (i->cls != TM_VALU)
        return;
    i->issue_cycles = issue_cycles(b, i);
    i->pipe_cycles = pipe_cycles(b, i);
    i->result_cycles = result_cycles(b, i);
    i->dependent_cycles = dependent_cycles(b, i);
}
