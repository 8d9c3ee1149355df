/* issue.h: the earliest time at which a wave's next instruction may issue, and why not
 * sooner.
 *
 * Looks at the state that exec.h keeps and changes none of it. Rules are those that the
 * hardware's traces show; each number is in params.def. Invariant: the answer never
 * lies before b->now, and with nothing changed asking again gives the same answer. A
 * header, as exec.h is.
 * SPDX-License-Identifier: MIT
 */
#ifndef TM_ISSUE_H
#define TM_ISSUE_H

#include "chip.h"

/* The latest of several limits, and its reason. */
struct bound {
    int64_t t;
    uint8_t why;
    const struct tm_inst *from;
};

static inline void at_least(struct bound *o, int64_t when, uint8_t why)
{
    if (when > o->t) {
        o->t = when;
        o->why = why;
        o->from = NULL;
    }
}

/* The same, for the result of an instruction. */
static inline void at_least_from(struct bound *o, int64_t when, uint8_t why,
                                 const struct tm_inst *from)
{
    if (when > o->t) {
        o->t = when;
        o->why = why;
        o->from = from;
    }
}

/* s_delay_alu holds the next instruction until its producer's result is near. */
static void wait_delay(const struct tm_wave *w, struct bound *o)
{
    for (unsigned k = 0; k < 2; k++) {
        unsigned id = w->hints.delay_id[k];
        if (!w->hints.delay_on[k] || (k == 1 && w->hints.delay_skip))
            continue;
        if (id >= 1 && id <= 4) {
            unsigned at = (w->valu.newest + 5 - id) % TM_HISTORY;
            at_least_from(o, w->valu.next[at], TM_S_VALU_DEP, w->valu.from[at]);
        } else if (id >= 5 && id <= 7) {
            unsigned at = (w->valu.newest_trans + 9 - id) % TM_HISTORY;
            at_least_from(o, w->trans.next[at], TM_S_VALU_DEP, w->trans.from[at]);
        } else if (id >= 9 && id <= 11)
            at_least(o, w->salu.issue ? w->salu.issue + id - 7 : 0, TM_S_SALU);
    }
}

/* Memory instructions wait until the VALU has run dry for their wave. */
static inline void wait_drain(const struct tm_base *b, const struct tm_wave *w,
                              struct bound *o)
{
    if (w->valu.last_exec)
        at_least(o, w->valu.last_exec + PARAM(b, drain), TM_S_VALU_DRAIN);
}

/* SGPRs that it reads and the VALU writes. */
static void wait_sgpr_sources(const struct tm_base *b, const struct tm_wave *w,
                              const struct tm_inst *i, struct bound *o)
{
    int64_t drain = PARAM(b, drain);
    uint32_t last = 0;
    for (unsigned k = 0; k < i->n_sread; k++)
        last = tm_later(last, w->sregs.s[i->sread[k]].write);
    if (last)
        at_least(o, tm_stamped(w->start, last) + drain, TM_S_SDST);
}

/* SGPRs that it overwrites while the VALU still reads or writes them: then until all of
 * the wave's VALU instructions that read, or write, SGPRs have done so. */
static void wait_sgpr_results(const struct tm_base *b, const struct tm_wave *w,
                              const struct tm_inst *i, struct bound *o)
{
    int64_t read = w->valu.sgpr_read + PARAM(b, valu_sgpr_read);
    int64_t write = w->valu.sgpr_write + PARAM(b, drain);
    if (tm_max(read, write) <= b->now)
        return;
    for (unsigned k = 0; k < i->n_swrite; k++) {
        if (w->sregs.s[i->swrite[k]].busy <= tm_stamp(w->start, b->now))
            continue;
        at_least(o, read, TM_S_WAR);
        at_least(o, write, TM_S_SDST);
    }
}

/* The last SALU result for SGPRs up to most that it reads; stamped, 0: none. */
static uint32_t salu_result(const struct tm_wave *w, const struct tm_inst *i,
                            unsigned most)
{
    uint32_t last = 0;
    for (unsigned k = 0; k < i->n_sread; k++)
        if (i->sread[k] < most)
            last = tm_later(last, w->sregs.s[i->sread[k]].ready);
    return last;
}

/* A VALU or memory instruction waits for the SALU results that it reads, lanes among
 * them; a VALU that writes SGPRs, until the SALU has nothing left to do. */
static void wait_salu_results(const struct tm_base *b, const struct tm_wave *w,
                              const struct tm_inst *i, struct bound *o)
{
    if (i->writes_sdst && i->cls == TM_VALU && w->salu.exec)
        at_least(o, w->salu.exec + PARAM(b, salu_out), TM_S_SALU);
    uint32_t last = w->valu.exec_ready;
    if (i->reads_sgpr)
        last = (uint32_t)tm_max(last, salu_result(w, i, TM_EXEC));
    if (last)
        at_least(o, tm_stamped(w->start, last) + PARAM(b, salu_out), TM_S_SALU);
}

/* A branch waits until what it looks at is known. */
static void wait_branch(const struct tm_base *b, const struct tm_wave *w,
                        const struct tm_inst *i, struct bound *o)
{
    wait_sgpr_sources(b, w, i, o);
    uint32_t last = salu_result(w, i, TM_SGPRS);
    if (last)
        at_least(o, tm_stamped(w->start, last) + PARAM(b, salu_out), TM_S_SALU);
}

/* The VALU and s_nop wait until memory instructions of the wave have sent what they
 * read, whichever registers that are. */
static inline void wait_sent(const struct tm_base *b, const struct tm_wave *w,
                             struct bound *o)
{
    if (w->mem.sent)
        at_least(o, w->mem.sent + PARAM(b, mem_sent), TM_S_WAR);
}

/* s_waitcnt_depctr: so many VALU instructions of the wave may still be under way (of
 * more than are remembered none is waited for); what memory instructions read, SGPRs
 * that the VALU writes or reads and what the SALU does must be over, or not. Fields as
 * LLVM encodes them; each counter is the one that holds other instructions back. */
static void wait_depctr(const struct tm_base *b, const struct tm_wave *w,
                        const struct tm_inst *i, struct bound *o)
{
    unsigned valus = i->delay >> 12 & 15u;
    const struct tm_valu_wave *v = &w->valu;
    int64_t result =
        valus ? v->result[(v->newest + TM_HISTORY - valus) % TM_HISTORY] : v->last_exec;
    if (valus < TM_HISTORY && result)
        at_least(o, result + PARAM(b, drain), TM_S_VALU_DRAIN);
    if (!(i->delay >> 2 & 7u))
        wait_sent(b, w, o);
    if ((!(i->delay >> 9 & 7u) || !(i->delay & 2u)) && v->sdst_exec)
        at_least(o, v->sdst_exec + PARAM(b, drain), TM_S_SDST);
    if (!(i->delay & 0x100u) && v->sgpr_read)
        at_least(o, v->sgpr_read + PARAM(b, valu_sgpr_read), TM_S_WAR);
    if (!(i->delay & 1u) && w->salu.exec)
        at_least(o, w->salu.exec + PARAM(b, salu_out), TM_S_SALU);
}

/* Room for what the SIMD has not retired. */
TM_HOT void wait_room(const struct tm_base *b, const struct tm_valu *v, struct bound *o)
{
    at_least(o, v->room, TM_S_VALU_QUEUE);
    if (v->wmma_queue.n)
        at_least(o, queue_free(&v->wmma_queue, o->t, (unsigned)PARAM(b, wmma_queue)),
                 TM_S_VALU_QUEUE);
}

/* The pipe of the SIMD, and that. */
static inline void wait_pipe(const struct tm_base *b, const struct tm_valu *v,
                             const struct tm_inst *i, struct bound *o)
{
    at_least(o, v->free, TM_S_VALU_PIPE);
    if (i->pipe == TM_PIPE_TRANS || i->pipe == TM_PIPE_DOUBLE ||
        i->pipe == TM_PIPE_HALF)
        at_least(o, v->trans_free, TM_S_VALU_PIPE);
    wait_room(b, v, o);
}

static void wait_valu(const struct tm_base *b, const struct tm_wave *w,
                      const struct tm_inst *i, struct bound *o)
{
    const struct tm_simd *s = w->simd;
    wait_pipe(b, &s->valu, i, o);
    wait_salu_results(b, w, i, o);
    if (i->writes_sdst && w->valu.sdst_n >= (unsigned)PARAM(b, sdst_queue))
        at_least(o, w->valu.sdst_exec + 1, TM_S_SDST);
    if (i->writes_exec && w->valu.cmpx_n >= (unsigned)PARAM(b, cmpx_queue))
        at_least(o, w->valu.cmpx_exec + PARAM(b, cmpx_drain), TM_S_SDST);
    wait_sent(b, w, o);
    if (o->t >= s->valu.stalls)
        at_least(o, s->valu.goes, TM_S_SDST);
}

static void wait_salu(const struct tm_base *b, const struct tm_wave *w,
                      const struct tm_inst *i, struct bound *o)
{
    at_least(o, short_free(&w->sregs.queue, o->t, (unsigned)PARAM(b, salu_queue)),
             TM_S_SALU);
    if (w->valu.sdst_issue)
        at_least(o, w->valu.sdst_issue + PARAM(b, valu_to_salu), TM_S_SDST);
    wait_sgpr_sources(b, w, i, o);
    wait_sgpr_results(b, w, i, o);
    if (i->cls == TM_SMEM && w->salu.exec) /* goes when the SALU is idle */
        at_least(o, w->salu.exec + PARAM(b, salu_out), TM_S_SALU);
    if (i->special == TM_GETREG || i->special == TM_SETREG ||
        i->special == TM_SETREG_IMM)
        if (w->salu.exec)
            at_least(o, w->salu.exec + PARAM(b, salu_hwreg_drain), TM_S_SALU);
}

/* A counter that is full lets nobody issue what it would count. */
static void wait_count(const struct tm_base *b, struct tm_wave *w,
                       const struct tm_inst *i, struct bound *o)
{
    unsigned most = (unsigned)PARAM(b, counter_most);
    struct tm_fifo *f = &w->counter[i->cls == TM_LDS ? TM_LGKM
                                    : i->returns     ? TM_VM
                                                     : TM_VS];
    if (f->n < most)
        return;
    uint8_t why = TM_S_NONE;
    const struct tm_inst *from = NULL;
    if (i->cls != TM_LDS)
        tm_send_settle(b, &w->simd->cu->send, b->now + PARAM(b, lds_start));
    int64_t when = fifo_wait(b, f, most - 1, o->t, &why, &from);
    at_least_from(o, when, why, from);
}

/* But of the LDS: wait_lds. */
static inline void wait_memory(const struct tm_base *b, struct tm_wave *w,
                               const struct tm_inst *i, struct bound *o)
{
    struct tm_queue *q = &w->simd->vmem_queue;
    wait_drain(b, w, o);
    wait_sgpr_sources(b, w, i, o);
    wait_salu_results(b, w, i, o);
    wait_count(b, w, i, o);
    queue_trim(q, b->now);
    at_least(o, queue_free(q, o->t, (unsigned)PARAM(b, mem_queue)), TM_S_MEM_QUEUE);
}

TM_HOT void wait_counter(const struct tm_base *b, struct tm_fifo *f, unsigned limit,
                         struct bound *o)
{
    uint8_t why = TM_S_NONE;
    const struct tm_inst *from = NULL;
    if (!f->n)
        return;
    int64_t when = fifo_wait(b, f, limit, o->t, &why, &from);
    if (when == o->t && o->why == TM_S_NONE) { /* for the account alone */
        o->why = why;
        o->from = from;
    }
    at_least_from(o, when, why, from);
}

__attribute__((noinline)) static void wait_any_counter(const struct tm_base *b,
                                                       struct tm_wave *w,
                                                       const struct tm_inst *i,
                                                       struct bound *o)
{
    static const uint8_t counter[TM_COUNTERS] = {TM_VM, TM_VS, TM_LGKM, TM_EXP};
    if ((i->wait[0] != TM_NO_WAIT && w->counter[TM_VM].n) ||
        (i->wait[1] != TM_NO_WAIT && w->counter[TM_VS].n))
        tm_send_settle(b, &w->simd->cu->send, b->now + PARAM(b, lds_start));
    for (unsigned rest = i->waits; rest; rest &= rest - 1) {
        unsigned c = (unsigned)__builtin_ctz(rest);
        wait_counter(b, &w->counter[counter[c]], i->wait[c], o);
    }
}

/* s_waitcnt: mostly for the LDS and constants alone. */
TM_HOT void wait_counters(const struct tm_base *b, struct tm_wave *w,
                          const struct tm_inst *i, struct bound *o)
{
    if (i->waits & 3u || w->counter[TM_EXP].n)
        wait_any_counter(b, w, i, o);
    else if (i->waits & 4u)
        wait_counter(b, &w->counter[TM_LGKM], i->wait[2], o);
}

/* In a clause of another wave, unless something else follows there: look again when its
 * next is out. */
TM_HOT void wait_clause(const struct tm_base *b, const struct tm_wave *w,
                        enum tm_class cls, struct bound *o)
{
    const struct tm_wave *first = w->simd->port.clause[cls];
    if (first && first != w && (!first->next || first->next->cls == cls))
        at_least(o, tm_max(first->due, b->now) + 1, TM_S_PORT);
}

/* A port of the SIMD that is its class's alone, one instruction a cycle. */
TM_HOT void wait_port_of(const struct tm_base *b, const struct tm_wave *w,
                         enum tm_class cls, struct bound *o)
{
    wait_clause(b, w, cls, o);
    at_least(o, w->simd->port.last[cls] + 1, TM_S_PORT);
}

/* Any. The one for arrivals at barriers closes after an arrival, too late to keep out
 * another in the next cycle. */
static inline void wait_port(const struct tm_base *b, const struct tm_wave *w,
                             const struct tm_inst *i, struct bound *o)
{
    const struct tm_ports *p = &w->simd->port;
    wait_clause(b, w, (enum tm_class)i->cls, o);
    if (i->cls == TM_SALU || i->cls == TM_SMEM) /* one port for both */
        at_least(o, tm_max(p->last[TM_SALU], p->last[TM_SMEM]) + 1, TM_S_PORT);
    else if (i->cls != TM_IMM)
        at_least(o, p->last[i->cls] + 1, TM_S_PORT);
    else if (o->t > p->last_barrier + 1 || p->barrier_second)
        at_least(o, p->barrier_open, TM_S_PORT);
    else
        at_least(o, p->last_barrier + 1, TM_S_PORT);
}

/* What is of no sort of its own. imm: it goes where s_nop and its kin do */
__attribute__((noinline)) static void wait_unit(const struct tm_base *b,
                                                struct tm_wave *w,
                                                const struct tm_inst *i, bool imm,
                                                struct bound *o)
{
    if (i->cls == TM_IMM && i->special == TM_WAITCNT)
        wait_counters(b, w, i, o);
    else if (i->special == TM_END)
        at_least(o, w->valu.last_exec ? w->valu.last_exec + PARAM(b, drain) + 1 : 0,
                 TM_S_VALU_DRAIN);
    else if (i->cls == TM_VALU && !imm)
        wait_valu(b, w, i, o);
    else if (i->cls == TM_SALU || i->cls == TM_SMEM)
        wait_salu(b, w, i, o);
    else if (i->cls == TM_BRANCH)
        wait_branch(b, w, i, o);
    else if (i->cls == TM_VMEM || i->cls == TM_EXPORT)
        wait_memory(b, w, i, o);
    else if (i->special == TM_NOP)
        wait_sent(b, w, o);
    else if (i->special == TM_DEPCTR)
        wait_depctr(b, w, i, o);
    if (i->special == TM_WAIT_SALU)
        wait_counters(b, w, i, o);
}

/* wait_valu of what touches VGPRs alone. */
TM_HOT void wait_plain(const struct tm_base *b, const struct tm_wave *w,
                       struct bound *o)
{
    const struct tm_valu *v = &w->simd->valu;
    uint32_t exec = w->valu.exec_ready;
    at_least(o, v->free, TM_S_VALU_PIPE);
    wait_room(b, v, o);
    if (exec)
        at_least(o, tm_stamped(w->start, exec) + PARAM(b, salu_out), TM_S_SALU);
    wait_sent(b, w, o);
    if (o->t >= v->stalls)
        at_least(o, v->goes, TM_S_SDST);
}

/* Would wait_plain, and the port, let such one issue in the cycle behind another such
 * one of the wave, which issues now? What held that one holds it no more. */
static inline bool tm_plain_follows(const struct tm_base *b, const struct tm_simd *s)
{
    const struct tm_valu *v = &s->valu;
    int64_t then = b->now + 1;
    return v->free <= then && (then < v->stalls || v->goes <= then) &&
           v->room <= then &&
           (!v->wmma_queue.n ||
            queue_free(&v->wmma_queue, then, (unsigned)PARAM(b, wmma_queue)) <= then);
}

/* wait_memory for the LDS. */
TM_HOT void wait_lds(const struct tm_base *b, struct tm_wave *w,
                     const struct tm_inst *i, struct bound *o)
{
    uint32_t exec = w->valu.exec_ready;
    wait_drain(b, w, o);
    if (i->n_sread)
        wait_sgpr_sources(b, w, i, o);
    if (i->reads_sgpr)
        wait_salu_results(b, w, i, o);
    else if (exec)
        at_least(o, tm_stamped(w->start, exec) + PARAM(b, salu_out), TM_S_SALU);
    if (w->counter[TM_LGKM].n >= (unsigned)PARAM(b, counter_most))
        wait_count(b, w, i, o);
    at_least(o, w->simd->lds_room, TM_S_MEM_QUEUE);
}

/* When may the wave issue its next instruction?
 *
 * why   out: what it waits for until then
 * from  out: whose result that is; NULL: nobody's
 */
TM_HOT int64_t tm_ready(const struct tm_base *b, struct tm_wave *w, uint8_t *why,
                        const struct tm_inst **from)
{
    const struct tm_inst *i = w->next;
    struct bound o = {tm_max(b->now, w->last_issue + 1), TM_S_NONE, NULL};
    at_least(&o, w->earliest, w->earliest_why);
    at_least(&o, tm_fetch_ready(b, &w->simd->in->fetch, &w->fetch, i), TM_S_FETCH);
    if (i->sort == TM_SORT_LDS) {
        if (w->hints.delay_on[0] || w->hints.delay_on[1])
            wait_delay(w, &o);
        wait_lds(b, w, i, &o);
        wait_port_of(b, w, TM_LDS, &o);
        *why = o.why;
        *from = o.from;
        return o.t;
    }
    bool plain = i->sort == TM_SORT_PLAIN && *w->exec;
    bool imm = !plain && (i->cls == TM_IMM || tm_skipped(w, i, o.t));
    if (imm && !w->last_imm && w->began)
        at_least(&o, w->last_issue + PARAM(b, imm_switch_cycles), TM_S_SWITCH);
    if (w->hints.delay_on[0] || w->hints.delay_on[1])
        wait_delay(w, &o);
    if (plain) {
        wait_plain(b, w, &o);
        wait_port_of(b, w, TM_VALU, &o);
    } else if (i->sort == TM_SORT_VALU && !imm) {
        wait_valu(b, w, i, &o);
        wait_port_of(b, w, TM_VALU, &o);
    } else if (i->sort == TM_SORT_WAIT) {
        wait_counters(b, w, i, &o);
    } else {
        wait_unit(b, w, i, imm, &o);
        if (!imm || i->special == TM_BARRIER)
            wait_port(b, w, i, &o);
    }
    *why = o.why;
    *from = o.from;
    return o.t;
}

/* ---- asked again: what is the wave's own is over ---- */

static inline void valu_again(const struct tm_base *b, const struct tm_wave *w,
                              const struct tm_inst *i, struct bound *o)
{
    const struct tm_valu *v = &w->simd->valu;
    wait_pipe(b, v, i, o);
    wait_sent(b, w, o); /* another wave may have put it off */
    if (o->t >= v->stalls)
        at_least(o, v->goes, TM_S_SDST);
}

static inline void memory_again(const struct tm_base *b, struct tm_wave *w,
                                const struct tm_inst *i, struct bound *o)
{
    struct tm_simd *s = w->simd;
    unsigned limit = (unsigned)PARAM(b, mem_queue);
    wait_count(b, w, i, o);
    if (i->cls != TM_LDS)
        queue_trim(&s->vmem_queue, b->now);
    at_least(o,
             i->cls == TM_LDS ? s->lds_room : queue_free(&s->vmem_queue, o->t, limit),
             TM_S_MEM_QUEUE);
}

/* Surely nothing that others may have changed holds it now: most of what issues. */
static inline bool has_port(const struct tm_base *b, const struct tm_wave *w,
                            uint8_t cls)
{
    const struct tm_ports *p = &w->simd->port;
    return p->last[cls] < b->now && (!p->clause[cls] || p->clause[cls] == w);
}

static inline bool has_room(const struct tm_queue *q, int64_t now, int64_t limit)
{
    return queue_free(q, now, (unsigned)limit) <= now;
}

static inline bool tm_valu_goes(const struct tm_base *b, const struct tm_wave *w,
                                const struct tm_inst *i)
{
    const struct tm_valu *v = &w->simd->valu;
    return i->pipe != TM_PIPE_NONE && *w->exec && v->free <= b->now &&
           v->trans_free <= b->now && v->room <= b->now &&
           has_room(&v->wmma_queue, b->now, PARAM(b, wmma_queue)) &&
           w->mem.sent + PARAM(b, mem_sent) <= b->now && v->goes <= b->now &&
           has_port(b, w, TM_VALU);
}

static inline bool lds_goes(const struct tm_base *b, const struct tm_wave *w)
{
    return w->simd->lds_room <= b->now &&
           w->counter[TM_LGKM].n < (unsigned)PARAM(b, counter_most) &&
           has_port(b, w, TM_LDS);
}

/* The same of any kind: may it go by its port? */
static inline bool any_port(const struct tm_base *b, const struct tm_wave *w,
                            enum tm_class cls)
{
    const struct tm_ports *p = &w->simd->port;
    int64_t now = b->now;
    if (p->clause[cls] && p->clause[cls] != w)
        return false;
    if (cls == TM_SALU || cls == TM_SMEM)
        return p->last[TM_SALU] < now && p->last[TM_SMEM] < now;
    if (cls != TM_IMM)
        return p->last[cls] < now;
    return p->last_barrier + 1 < now && p->barrier_open <= now;
}

static inline bool vmem_goes(const struct tm_base *b, const struct tm_wave *w,
                             const struct tm_inst *i)
{
    return has_room(&w->simd->vmem_queue, b->now, PARAM(b, mem_queue)) &&
           w->counter[i->returns ? TM_VM : TM_VS].n <
               (unsigned)PARAM(b, counter_most) &&
           has_port(b, w, TM_VMEM);
}

static int64_t ready_apart(const struct tm_base *b, struct tm_wave *w, uint8_t *why,
                           const struct tm_inst **from)
{
    return tm_ready(b, w, why, from);
}

__attribute__((noinline)) static int64_t look_again(const struct tm_base *b,
                                                    struct tm_wave *w, uint8_t *why,
                                                    const struct tm_inst **from)
{
    const struct tm_inst *i = w->next;
    struct bound o = {b->now, TM_S_NONE, NULL}; /* what is its own is over */
    switch (i->again) {
    case TM_AGAIN_COUNTERS:
        wait_counters(b, w, i, &o);
        break;
    case TM_AGAIN_VALU:
        if (tm_skipped(w, i, b->now))
            return ready_apart(b, w, why, from);
        valu_again(b, w, i, &o);
        wait_port(b, w, i, &o);
        break;
    case TM_AGAIN_MEMORY:
        memory_again(b, w, i, &o);
        wait_port(b, w, i, &o);
        break;
    case TM_AGAIN_PORT:
        wait_port(b, w, i, &o);
        break;
    default:
        return ready_apart(b, w, why, from);
    }
    *why = o.why;
    *from = o.from;
    return o.t;
}

/* The same at the time that was the answer; .sort of the next instruction, or ANY. */
TM_HOT int64_t tm_ready_again(const struct tm_base *b, struct tm_wave *w, uint8_t *why,
                              const struct tm_inst **from, enum tm_sort sort)
{
    const struct tm_inst *i = w->next;
    if (sort == TM_SORT_WAIT) {
        struct bound o = {b->now, TM_S_NONE, NULL};
        wait_counters(b, w, i, &o);
        *why = o.why;
        *from = o.from;
        return o.t;
    }
    bool goes = sort == TM_SORT_LDS         ? lds_goes(b, w)
                : sort == TM_SORT_WAIT      ? false
                : sort == TM_SORT_SALU      ? any_port(b, w, TM_SALU)
                : sort == TM_SORT_VMEM      ? vmem_goes(b, w, i)
                : i->again == TM_AGAIN_PORT ? any_port(b, w, (enum tm_class)i->cls)
                : i->again == TM_AGAIN_MEMORY
                    ? i->cls == TM_LDS    ? lds_goes(b, w)
                      : i->cls == TM_VMEM ? vmem_goes(b, w, i)
                                          : false
                    : i->again == TM_AGAIN_NOTHING ||
                          (i->cls == TM_VALU && tm_valu_goes(b, w, i));
    return goes ? b->now : look_again(b, w, why, from);
}

#endif
