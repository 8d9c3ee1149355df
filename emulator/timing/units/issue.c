/* issue.c: the earliest time at which a wave's next instruction may issue, and why not
 * sooner.
 *
 * Looks at the state that exec.c keeps and changes none of it. Rules are those that the
 * hardware's traces show; each number is in params.def. Invariant: the answer never
 * lies before t->now, and with nothing changed asking again gives the same answer.
 * SPDX-License-Identifier: MIT
 */
#include "queue.h"

/* The latest of several limits, and its reason. */
struct bound {
    int64_t t;
    uint8_t why;
    const struct tm_inst *from;
};

static void at_least(struct bound *b, int64_t when, uint8_t why)
{
    if (when > b->t) {
        b->t = when;
        b->why = why;
        b->from = NULL;
    }
}

/* The same, for the result of an instruction. */
static void at_least_from(struct bound *b, int64_t when, uint8_t why,
                          const struct tm_inst *from)
{
    if (when > b->t) {
        b->t = when;
        b->why = why;
        b->from = from;
    }
}

/* s_delay_alu holds the next instruction until its producer's result is near. */
static void wait_delay(const struct tm_wave *w, struct bound *b)
{
    for (unsigned k = 0; k < 2; k++) {
        unsigned id = w->delay_id[k];
        if (!w->delay_on[k] || (k == 1 && w->delay_skip))
            continue;
        if (id >= 1 && id <= 4)
            at_least_from(b, w->hist[id - 1], TM_S_VALU_DEP, w->hist_from[id - 1]);
        else if (id >= 5 && id <= 7)
            at_least_from(b, w->hist_trans[id - 5], TM_S_VALU_DEP,
                          w->trans_from[id - 5]);
        else if (id >= 9 && id <= 11)
            at_least(b, w->last_issue + 1, TM_S_SALU);
    }
}

/* Memory instructions wait until the VALU has run dry for their wave. */
static void wait_drain(const struct tm_engine *t, const struct tm_wave *w,
                       struct bound *b)
{
    if (w->valu_last_exec)
        at_least(b, w->valu_last_exec + PARAM(t, drain), TM_S_VALU_DRAIN);
}

static void wait_sgprs(const struct tm_engine *t, const struct tm_wave *w,
                       const struct tm_inst *i, struct bound *b)
{
    int64_t drain = PARAM(t, drain);
    for (unsigned r = 0; r < i->n_ssrc; r++)
        for (unsigned k = 0; k < i->ssrc[r].n && i->ssrc[r].first + k < TM_SGPRS; k++) {
            int64_t written = tm_stamped(w, w->s[i->ssrc[r].first + k].write);
            if (written)
                at_least(b, written + drain, TM_S_SDST);
        }
    for (unsigned r = 0; r < i->n_sdst; r++)
        for (unsigned k = 0; k < i->sdst[r].n && i->sdst[r].first + k < TM_SGPRS; k++) {
            unsigned s = i->sdst[r].first + k;
            if (w->s[s].read)
                at_least(b, tm_stamped(w, w->s[s].read) + drain, TM_S_WAR);
            if (w->s[s].write)
                at_least(b, tm_stamped(w, w->s[s].write) + drain, TM_S_SDST);
        }
}

static void wait_valu(const struct tm_engine *t, const struct tm_wave *w,
                      const struct tm_inst *i, struct bound *b)
{
    const struct tm_simd *s = w->simd;
    at_least(b, s->valu_free, TM_S_VALU_PIPE);
    if (i->pipe == TM_PIPE_TRANS || i->pipe == TM_PIPE_DOUBLE)
        at_least(b, s->trans_free, TM_S_VALU_PIPE);
    at_least(b, queue_free(&s->valu_queue, b->t, (unsigned)t->p.valu_queue),
             TM_S_VALU_QUEUE);
    if (s->wmma_queue.n)
        at_least(b, queue_free(&s->wmma_queue, b->t, (unsigned)t->p.wmma_queue),
                 TM_S_VALU_QUEUE);
    if ((i->reads_sgpr || i->writes_sdst) && w->salu_exec)
        at_least(b, w->salu_exec + PARAM(t, salu_to_valu), TM_S_SALU);
    if (i->writes_sdst && w->sdst_n >= (unsigned)t->p.sdst_queue)
        at_least(b, w->sdst_exec + 1, TM_S_SDST);
    if (i->writes_exec && w->cmpx_n >= (unsigned)t->p.cmpx_queue)
        at_least(b, w->cmpx_exec + PARAM(t, cmpx_drain), TM_S_SDST);
    bool reads = w->mem_read + PARAM(t, vmem_war) > t->now; /* by memory */
    for (unsigned r = 0; reads && r < i->n_vdst; r++)
        for (unsigned k = 0; k < i->vdst[r].n; k++) {
            int64_t read = tm_stamped(w, w->v[i->vdst[r].first + k].read);
            if (read)
                at_least(b, read + PARAM(t, vmem_war), TM_S_WAR);
        }
    if (b->t >= s->valu_stalls)
        at_least(b, s->valu_goes, TM_S_SDST);
}

static void wait_salu(const struct tm_engine *t, const struct tm_wave *w,
                      const struct tm_inst *i, struct bound *b)
{
    at_least(b, queue_free(&w->salu_queue, b->t, (unsigned)t->p.salu_queue), TM_S_SALU);
    if (w->sdst_issue)
        at_least(b, w->sdst_issue + PARAM(t, valu_to_salu), TM_S_SDST);
    wait_sgprs(t, w, i, b);
    if (i->cls == TM_SMEM) /* addresses come from the SALU's results */
        for (unsigned r = 0; r < i->n_ssrc; r++)
            for (unsigned k = 0; k < i->ssrc[r].n && i->ssrc[r].first + k < TM_SGPRS;
                 k++)
                if (w->s[i->ssrc[r].first + k].ready)
                    at_least(b,
                             tm_stamped(w, w->s[i->ssrc[r].first + k].ready) +
                                 PARAM(t, salu_to_smem),
                             TM_S_SALU);
    if (i->special == TM_GETREG || i->special == TM_SETREG ||
        i->special == TM_SETREG_IMM)
        if (w->salu_exec)
            at_least(b, w->salu_exec + PARAM(t, salu_hwreg_drain), TM_S_SALU);
}

static void wait_memory(const struct tm_engine *t, struct tm_wave *w,
                        const struct tm_inst *i, struct bound *b)
{
    bool lds = i->cls == TM_LDS;
    struct tm_simd *s = w->simd;
    wait_drain(t, w, b);
    wait_sgprs(t, w, i, b);
    if (!lds) {
        if (w->lds_accept)
            at_least(b, w->lds_accept + PARAM(t, mem_switch), TM_S_MEM_QUEUE);
        queue_trim(&s->vmem_queue, t->now);
        at_least(b, queue_free(&s->vmem_queue, b->t, (unsigned)t->p.vmem_queue),
                 TM_S_MEM_QUEUE);
        return;
    }
    queue_trim(&s->lds_queue, t->now);
    at_least(b, queue_free(&s->lds_queue, b->t, (unsigned)t->p.lds_queue),
             TM_S_MEM_QUEUE);
}

static void wait_counters(struct tm_engine *t, struct tm_wave *w,
                          const struct tm_inst *i, struct bound *b)
{
    static const uint8_t counter[TM_COUNTERS] = {TM_VM, TM_VS, TM_LGKM, TM_EXP};
    if ((i->wait[0] != TM_NO_WAIT && w->counter[TM_VM].n) ||
        (i->wait[1] != TM_NO_WAIT && w->counter[TM_VS].n))
        tm_send_settle(t, w->simd->cu, t->now + PARAM(t, lds_start));
    for (unsigned c = 0; c < TM_COUNTERS; c++) {
        uint8_t why = TM_S_OTHER;
        if (i->wait[c] == TM_NO_WAIT)
            continue;
        const struct tm_inst *from = NULL;
        int64_t when =
            fifo_wait(&w->counter[counter[c]], i->wait[c], b->t, &why, &from);
        at_least_from(b, when, why, from);
    }
}

/* Does the wave know by now that the instruction does nothing, EXEC being zero? */
bool tm_skipped(const struct tm_engine *t, const struct tm_wave *w,
                const struct tm_inst *i, int64_t when)
{
    (void)t;
    return i->cls == TM_VALU && (i->pipe == TM_PIPE_NONE ||
                                 (i->exec_matters && emu_wave_exec(w->wave) == 0 &&
                                  when >= w->exec_visible));
}

/* A port of the SIMD, one instruction a cycle. The one for arrivals at barriers closes
 * after an arrival, too late to keep out another in the next cycle. */
static void wait_port(const struct tm_engine *t, const struct tm_wave *w,
                      const struct tm_inst *i, struct bound *b)
{
    const struct tm_simd *s = w->simd;
    const struct tm_wave *first = s->clause[i->cls];
    /* In a clause, unless something else follows: look again when its next is out. */
    if (first && first != w && (!first->next || first->next->cls == i->cls))
        at_least(b, tm_max(first->due, t->now) + 1, TM_S_PORT);
    if (i->cls != TM_IMM)
        at_least(b, s->port[i->cls] + 1, TM_S_PORT);
    else if (b->t > s->last_barrier + 1 || s->barrier_second)
        at_least(b, s->barrier_open, TM_S_PORT);
    else
        at_least(b, s->last_barrier + 1, TM_S_PORT);
}

int64_t tm_ready(struct tm_engine *t, struct tm_wave *w, uint8_t *why,
                 const struct tm_inst **from)
{
    const struct tm_inst *i = w->next;
    struct bound b = {tm_max(t->now, w->last_issue + 1), TM_S_NONE, NULL};
    at_least(&b, w->earliest, w->earliest_why);
    at_least(&b, tm_fetch_ready(t, w, i), TM_S_FETCH);
    bool imm = i->cls == TM_IMM || tm_skipped(t, w, i, b.t);
    if (imm && !w->last_imm && w->began)
        at_least(&b, w->last_issue + PARAM(t, imm_switch_cycles), TM_S_SWITCH);
    wait_delay(w, &b);
    if (i->cls == TM_IMM && i->special == TM_WAITCNT)
        wait_counters(t, w, i, &b);
    else if (i->special == TM_END)
        at_least(&b, w->valu_last_exec ? w->valu_last_exec + PARAM(t, drain) + 1 : 0,
                 TM_S_VALU_DRAIN);
    else if (i->cls == TM_VALU && !imm)
        wait_valu(t, w, i, &b);
    else if (i->cls == TM_SALU || i->cls == TM_SMEM)
        wait_salu(t, w, i, &b);
    else if (i->cls == TM_VMEM || i->cls == TM_LDS || i->cls == TM_EXPORT)
        wait_memory(t, w, i, &b);
    if (i->special == TM_WAIT_SALU)
        wait_counters(t, w, i, &b);
    if (!imm || i->special == TM_BARRIER)
        wait_port(t, w, i, &b);
    *why = b.why;
    *from = b.from;
    return b.t;
}
