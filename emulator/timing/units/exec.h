/* exec.h: what an issued instruction does to pipes, queues, counters and registers.
 *
 * Called once per issue with the event of its execution. Must not decide when anything
 * issues (issue.h). Invariant: every time it writes lies at or after b->now. A header,
 * since it is compiled into turns (engine/turn.c) by the sort of their instruction;
 * sort is a constant there, TM_SORT_ANY promises nothing. SPDX-License-Identifier: MIT
 */
#ifndef TM_EXEC_H
#define TM_EXEC_H

#include "chip.h"

static inline bool is_wmma(enum tm_pipe pipe)
{
    return pipe == TM_PIPE_WMMA || pipe == TM_PIPE_WMMA4;
}

TM_HOT int64_t latency(const struct tm_base *b, struct tm_wave *w,
                       const struct tm_inst *i, enum tm_pipe pipe, int64_t cycles)
{
    int64_t base = i->vgpr_fields == 0 && !i->reads_sgpr ? PARAM(b, valu_latency_const)
                                                         : PARAM(b, valu_latency);
    if (i->vgpr_fields && !w->valu.has_read) {
        w->valu.has_read = true;
        base += PARAM(b, valu_first_read);
    }
    if (pipe == TM_PIPE_DOUBLE)
        cycles -= PARAM(b, double_early);
    else if (is_wmma(pipe)) /* the first begins a cycle later than others */
        cycles++;
    return base + cycles - 1;
}

/* A transcendental takes longer to its result than others: one of those for the same
 * register that comes behind it waits. When it can be had at the earliest. */
static int64_t behind_trans(const struct tm_base *b, const struct tm_wave *w,
                            const struct tm_inst *i)
{
    uint32_t last = 0; /* an instruction may need that of the one before */
    for (unsigned d = 0; d < i->n_dst; d++)
        last = w->regs.v[i->dst[d]] > last ? w->regs.v[i->dst[d]] : last;
    return last ? tm_stamped(w->regs.start, last) - PARAM(b, valu_dep) + 1 : 0;
}

/* When the result can come behind the slow ones of the SIMD: order behind the last,
 * more from its operands on. */
__attribute__((noinline)) static int64_t
in_order(const struct tm_base *b, const struct tm_wave *w, const struct tm_inst *i,
         enum tm_pipe pipe, int64_t order, int64_t more)
{
    const struct tm_valu *v = &w->simd->valu;
    if (v->last_pipe == TM_PIPE_TRANS &&
        (pipe == TM_PIPE_DOUBLE || pipe == TM_PIPE_HALF))
        order += PARAM(b, trans_issue) - 1; /* both are of that unit */
    if (pipe == TM_PIPE_DOUBLE)
        order -= v->last_pipe != TM_PIPE_DOUBLE ? PARAM(b, double_early) : 0;
    else
        order = tm_max(order, v->after_double + more);
    if (is_wmma(pipe) && !is_wmma((enum tm_pipe)v->last_pipe))
        order++;
    return tm_max(order, pipe == TM_PIPE_TRANS ? v->trans_result + PARAM(b, trans_issue)
                                               : behind_trans(b, w, i));
}

/* Results for SGPRs go through a short queue of the SIMD: the VALU stops in front of
 * it, and its issue a little later. When a result that could come at a time does. */
static int64_t sdst_entry(const struct tm_base *b, struct tm_simd *s, int64_t at)
{
    queue_trim(&s->valu.sdst_queue, at);
    int64_t room = queue_free(&s->valu.sdst_queue, at, (unsigned)PARAM(b, sdst_writes));
    queue_add(&s->valu.sdst_queue, room + PARAM(b, sdst_write_cycles));
    if (room == at)
        return at;
    s->valu.stalls = at - PARAM(b, valu_latency) + PARAM(b, sdst_stall_cycles);
    s->valu.goes = s->valu.stalls + room - at;
    return room;
}

/* When it can have SGPRs that the VALU has written before; VCC, through which carries
 * go mostly, it has as it comes to it (A3, A4, B1), EXEC has waits of its own. */
static int64_t sgprs_ready(const struct tm_base *b, const struct tm_wave *w,
                           const struct tm_inst *i)
{
    uint32_t last = 0;
    for (unsigned k = 0; k < i->n_sread; k++) {
        unsigned sgpr = i->sread[k];
        uint32_t written = w->sregs.s[sgpr].write;
        if (written > last && sgpr < TM_EXEC && sgpr != ISA_SEL_VCC_LO &&
            sgpr != ISA_SEL_VCC_HI)
            last = written;
    }
    return last ? tm_stamped(w->start, last) + PARAM(b, valu_dep) : 0;
}

/* The result's time: after the operands', in order within the SIMD, banks permitting.
 */
TM_HOT int64_t valu_result(const struct tm_base *b, struct tm_wave *w,
                           struct tm_inst *i, enum tm_pipe pipe, int64_t cycles)
{
    struct tm_simd *s = w->simd;
    int64_t ready = tm_operands_ready(b, &w->regs, i);
    const struct tm_inst *before = w->valu.from[w->valu.newest];
    int64_t late = tm_operands(b, &s->valu.operands, before, i, cycles),
            at = b->now + latency(b, w, i, pipe, cycles);
    if (late > 0)
        at = tm_max(at, b->now + PARAM(b, valu_latency) + cycles - 1 + late -
                            (pipe == TM_PIPE_DOUBLE ? PARAM(b, double_early) : 0));
    if (ready && pipe == TM_PIPE_PLAIN)
        tm_operands_wait(b, &s->valu.operands, ready);
    int64_t more = 0; /* from its operands to its result than others */
    if (pipe == TM_PIPE_DOUBLE)
        more = tm_max(0, PARAM(b, double_dep) - PARAM(b, valu_dep));
    else if (pipe == TM_PIPE_HALF || pipe == TM_PIPE_QUARTER)
        more = cycles - 1;
    if (ready)
        ready += more;
    if (ready >= at && pipe == TM_PIPE_PLAIN &&
        (i->bank_reads[0] > 1 || i->bank_reads[1] > 1))
        at += PARAM(b, valu_forward_bank);
    int64_t order = s->valu.result + cycles;
    if (pipe != TM_PIPE_PLAIN || s->valu.slow > at)
        order = in_order(b, w, i, pipe, order, more);
    at = tm_max(at, tm_max(ready, order));
    if (i->reads_sgpr)
        at = tm_max(at, sgprs_ready(b, w, i));
    if (i->writes_sdst)
        at = sdst_entry(b, s, at);
    s->valu.result = at;
    s->valu.last_pipe = (uint8_t)pipe;
    if (pipe == TM_PIPE_TRANS)
        s->valu.trans_result = at; /* of each half of a wave64, too */
    return at;
}

static inline void busy_until(struct tm_wave *w, unsigned sgpr, int64_t when)
{
    uint32_t stamp = tm_stamp(w->start, when);
    if (w->sregs.s[sgpr].busy < stamp)
        w->sregs.s[sgpr].busy = stamp;
}

static void valu_sgprs(const struct tm_base *b, struct tm_wave *w,
                       const struct tm_inst *i, int64_t exec)
{
    for (unsigned k = 0; k < i->n_sread; k++)
        busy_until(w, i->sread[k], b->now + PARAM(b, valu_sgpr_read));
    if (i->reads_sgpr)
        w->valu.sgpr_read = b->now;
    if (i->writes_sgpr)
        w->valu.sgpr_write = exec;
    for (unsigned k = 0; k < i->n_swrite; k++) {
        w->sregs.s[i->swrite[k]].write = tm_stamp(w->start, exec);
        busy_until(w, i->swrite[k], exec + PARAM(b, drain));
    }
    if (i->writes_sdst) {
        if (w->valu.sdst_exec < b->now)
            w->valu.sdst_n = 0;
        w->valu.sdst_n++;
        w->valu.sdst_exec = exec;
        w->valu.sdst_issue = b->now;
    }
    if (i->writes_exec) {
        if (w->valu.cmpx_exec + PARAM(b, cmpx_drain) <= b->now)
            w->valu.cmpx_n = 0;
        if (b->now >= w->salu.exec_visible)
            w->salu.exec_visible = exec;
        w->valu.cmpx_n++;
        w->valu.cmpx_exec = exec;
    }
}

/* The issue has taken the pipe so long; the result comes at a time. */
TM_HOT void valu_issued(const struct tm_base *b, struct tm_wave *w, struct tm_inst *i,
                        int64_t busy, int64_t exec, bool wmma)
{
    struct tm_simd *s = w->simd;
    int64_t dep = i->result_cycles;
    s->valu.free = b->now + busy;
    s->valu.cycles += (uint64_t)(wmma ? i->pipe_cycles : busy);
    tm_operands_result(&w->regs, i, exec + dep);
    w->valu.last_exec = tm_max(w->valu.last_exec, exec + dep - PARAM(b, valu_dep));
    w->valu.exec = exec;
    ring_add(&s->valu.queue, exec + (wmma ? -1 : PARAM(b, valu_queue_return)));
    s->valu.room = ring_room(&s->valu.queue, (unsigned)PARAM(b, valu_queue));
    queue_trim(&s->valu.wmma_queue, b->now);
    if (wmma || s->valu.wmma_queue.n)
        queue_add(&s->valu.wmma_queue, exec - (wmma ? 1 : PARAM(b, valu_dep)));
    w->valu.newest = (uint8_t)((w->valu.newest + 1u) % TM_HISTORY);
    w->valu.next[w->valu.newest] = b->now + i->dependent_cycles;
    w->valu.result[w->valu.newest] = exec;
    w->valu.from[w->valu.newest] = i;
}

static void issue_valu(const struct tm_base *b, struct tm_wave *w, struct tm_inst *i,
                       unsigned passes)
{
    struct tm_simd *s = w->simd;
    if (i->whole64)
        passes = 1;
    int64_t busy = i->issue_cycles * passes;
    int64_t exec = valu_result(b, w, i, i->pipe, i->pipe_cycles);
    bool wmma = is_wmma(i->pipe);
    if (passes == 2)
        exec = valu_result(b, w, i, i->pipe, i->pipe_cycles);
    valu_issued(b, w, i, busy, exec, wmma);
    if (i->pipe == TM_PIPE_TRANS) {
        s->valu.trans_free = b->now + PARAM(b, trans_issue) * passes;
        w->valu.newest_trans = (uint8_t)((w->valu.newest_trans + 1u) % TM_HISTORY);
        w->trans.next[w->valu.newest_trans] = b->now + i->dependent_cycles;
        w->trans.from[w->valu.newest_trans] = i;
        s->valu.slow = tm_max(s->valu.slow, exec + i->result_cycles);
    } else if (i->pipe == TM_PIPE_DOUBLE) {
        s->valu.after_double = exec + i->result_cycles;
        s->valu.slow = tm_max(s->valu.slow, s->valu.after_double);
    }
    valu_sgprs(b, w, i, exec);
}

static void issue_salu(const struct tm_base *b, struct tm_wave *w,
                       const struct tm_inst *i)
{
    int64_t start = b->now + PARAM(b, salu_start);
    bool result = i->n_sdst > (i->n_sdst && i->sdst[0].first == TM_SCC);
    bool state = i->special == TM_SETREG || i->special == TM_WAIT_SALU;
    int64_t lat = i->mul                                  ? PARAM(b, salu_mul_latency)
                  : state || (result && i->sgpr_operands) ? PARAM(b, salu_latency)
                                                          : 0;
    uint32_t last = 0;
    for (unsigned k = 0; k < i->n_sread; k++)
        last = tm_later(last, w->sregs.s[i->sread[k]].ready);
    start = tm_max(start, tm_stamped(w->start, last));
    int64_t exec = tm_max(start + lat, w->salu.exec);
    for (unsigned k = 0; k < i->n_swrite; k++)
        w->sregs.s[i->swrite[k]].ready =
            tm_stamp(w->start, i->swrite[k] == TM_SCC ? start : exec);
    w->valu.exec_ready = w->sregs.s[TM_EXEC].ready;
    int64_t spent = i->sgpr_operands > 1 ? PARAM(b, salu_two_sources) : 1;
    w->salu.slot = tm_max(start, w->salu.slot + spent);
    w->salu.issue = b->now;
    w->salu.exec = exec;
    short_trim(&w->sregs.queue, b->now);
    short_add(&w->sregs.queue, w->salu.slot + PARAM(b, salu_queue_return));
    int64_t block = 0;
    if (i->special == TM_SETREG || i->special == TM_SETREG_IMM)
        block = exec + PARAM(b, salu_setreg_block);
    else if (i->special == TM_WAIT_SALU)
        block = exec + PARAM(b, salu_waitcnt_block);
    if (block > w->earliest) {
        w->earliest = block;
        w->earliest_why = TM_S_SALU;
    }
    if (i->writes_exec)
        w->salu.exec_visible = exec;
}

static void issue_branch(struct tm_chip *c, struct tm_wave *w, const struct tm_inst *i,
                         const struct emu_event *event)
{
    const struct tm_base *b = &c->b;
    bool call = i->special == TM_CALL;
    w->earliest_why = TM_S_BRANCH;
    if (!(event->flags & EMU_EV_TAKEN) && !call) {
        w->earliest = b->now + PARAM(b, imm_switch_cycles);
        return;
    }
    int64_t at = call ? tm_max(b->now, w->salu.exec) : b->now;
    uint64_t target = tm_canon_code(&c->mem->canon, event->next_pc);
    int64_t from = tm_fetch_branch(b, &w->simd->in->fetch, &w->fetch, at,
                                   i->offset + i->bytes, target);
    w->earliest = tm_max(w->earliest, from + PARAM(b, branch_taken_cycles));
    if (from > at)
        w->earliest_why = TM_S_FETCH;
}

/* The operation before goes later: another one, accepted in its place, takes so long on
 * the path, and so many data cycles. */
static void put_off(const struct tm_base *b, struct tm_lds_op *o, int64_t cycles,
                    int64_t data)
{
    struct tm_wave *w = o->wave;
    struct tm_fifo *f = &w->counter[TM_LGKM];
    struct tm_ring *q = &w->simd->lds_queue;
    for (unsigned k = 0; k < f->n; k++) {
        struct tm_counted *c = fifo_at(f, f->first + k);
        if (c->from == o->inst && c->done == o->done)
            c->done += data;
    }
    for (unsigned k = 0; k < TM_RING; k++)
        if (q->free_at[k] == o->free)
            q->free_at[k] += cycles;
    w->simd->lds_room = ring_room(q, (unsigned)PARAM(b, mem_queue));
    o->free += cycles;
    o->accept += cycles;
    o->done += data;
    o->overtaken = true;
    w->mem.lds_last += data;
    w->mem.lds_accept = o->accept;
    tm_list_accept(w->list, o->listed, o->accept);
    w->mem.sent += cycles;
    tm_put_off(w);
}

static inline bool other_simd(const struct tm_wave *w, const struct tm_lds_op *o)
{
    return o->age && o->wave->age == o->age && !o->wave->ended && o->simd != w->simd;
}

/* The path to the LDS goes from one SIMD to the other for an operation that waits, and
 * then takes a second one that sends data from there before it comes back. */
static inline bool overtakes(const struct tm_wave *w, const struct tm_lds_op *o,
                             int64_t ready)
{
    return other_simd(w, o) && o->before == w->simd && o->before_waited &&
           !o->overtaken && o->at_once && o->accept > o->ready && o->accept >= ready;
}

/* Of two that come in the same cycle the one SIMD is first, the next time the other. */
static inline bool has_turn(const struct tm_wave *w, struct tm_lds_path *path,
                            int64_t ready)
{
    const struct tm_lds_op *o = &path->last;
    if (!other_simd(w, o) || o->ready != ready || o->accept != ready || o->overtaken)
        return false;
    path->turns++;
    return w->simd->index / 2 == path->turns % 2;
}

/* From acceptance to a free entry of the LDS queue: registers go two by two. */
static inline int64_t queue_return(const struct tm_base *b, const struct tm_inst *i,
                                   unsigned passes)
{
    unsigned pairs = i->send_regs > 1 ? (i->send_regs + 1u) / 2u : 1u;
    return PARAM(b, lds_queue_return) + 2 * (int64_t)(pairs * passes);
}

TM_HOT void issue_lds(struct tm_chip *c, struct tm_wave *w, struct tm_inst *i,
                      const struct emu_event *event, unsigned passes)
{
    const struct tm_base *b = &c->b;
    struct tm_lds_way way = tm_lds_way(c, w);
    struct tm_lds *lds = &w->simd->cu->lds;
    struct tm_lds_op *last = &w->simd->cu->lds_path.last;
    int64_t cycles = (i->send_regs > 1 ? i->send_regs : 1) * (int64_t)passes;
    int64_t ready = b->now + PARAM(b, lds_start), *path = &w->simd->cu->lds_path.free;
    int64_t accept = tm_lds_room(b, way.unit[way.own], i, tm_max(ready, *path));
    int64_t free_at = lds->free, back = lds->back;
    bool first = !b->wgp_mode && ((cycles > passes && overtakes(w, last, ready)) ||
                                  has_turn(w, &w->simd->cu->lds_path, ready));
    uint8_t why;
    if (first) {
        accept = last->accept;
        lds->free = last->lds_free; /* as if the one put off had not come */
        lds->back = last->back;
        *path += cycles;
    } else {
        *path = accept + cycles;
    }
    int64_t done = tm_lds(b, &way, i, event, accept, &w->mem.lds_last, &why);
    w->mem.sent = tm_max(w->mem.sent, accept + cycles);
    tm_operands_send(b, &w->simd->valu.operands, i, accept);
    (void)fifo_add(&w->counter[TM_LGKM], done, why, i);
    int64_t entry = accept + queue_return(b, i, passes);
    ring_add(&w->simd->lds_queue, entry);
    w->simd->lds_room = ring_room(&w->simd->lds_queue, (unsigned)PARAM(b, mem_queue));
    w->mem.lds_accept = accept;
    if (first) {
        int64_t data = tm_max(cycles, lds->free - tm_max(accept, last->lds_free));
        int64_t returns = tm_lds_returns(last->inst, passes);
        if (returns)
            data = tm_max(data, lds->back + returns - back);
        lds->back = back + data;
        put_off(b, last, cycles, data);
        lds->free = tm_max(lds->free, free_at + data);
        return;
    }
    *last = (struct tm_lds_op){.wave = w,
                               .age = w->age,
                               .inst = i,
                               .simd = w->simd,
                               .before = last->simd,
                               .before_waited = last->accept > last->ready,
                               .ready = ready,
                               .accept = accept,
                               .done = done,
                               .free = entry,
                               .lds_free = free_at,
                               .back = back,
                               .listed = tm_listed(w),
                               .at_once = free_at <= accept};
}

void tm_delay(struct tm_wave *w, unsigned imm)
{
    struct tm_hints *h = &w->hints;
    h->delay_id[0] = imm & 15u;
    h->delay_id[1] = imm >> 7 & 15u;
    h->delay_skip = imm >> 4 & 7u;
    h->delay_on[0] = h->delay_id[0] != 0;
    h->delay_on[1] = h->delay_id[1] != 0;
}

static inline void step_delays(struct tm_wave *w)
{
    w->hints.delay_on[0] = false;
    if (!w->hints.delay_on[1])
        return;
    if (w->hints.delay_skip == 0)
        w->hints.delay_on[1] = false;
    else
        w->hints.delay_skip--;
}

/* While a wave is in a clause, no other one of its SIMD issues that kind. */
static void step_clause(struct tm_wave *w, const struct tm_inst *i)
{
    struct tm_wave **first = &w->simd->port.clause[i->cls];
    if (i->special == TM_CLAUSE) {
        w->hints.clause_left = w->hints.clause_size = i->clause;
    } else {
        w->hints.clause_more = w->hints.clause_left < w->hints.clause_size;
        *first = i->cls != TM_IMM && --w->hints.clause_left ? w : NULL;
        if (!*first) { /* through, or not made of one kind */
            for (unsigned c = 0; c < TM_CLASSES; c++)
                if (w->simd->port.clause[c] == w)
                    w->simd->port.clause[c] = NULL;
            w->hints.clause_size = 0;
        }
    }
}

static inline void issue_barrier(const struct tm_base *b, struct tm_ports *p)
{
    p->barrier_second = !p->barrier_second && b->now == p->last_barrier + 1;
    p->last_barrier = b->now;
    p->barrier_open = b->now + PARAM(b, barrier_port_cycles);
}

static inline void issue_vmem(const struct tm_base *b, struct tm_wave *w,
                              const struct tm_inst *i, const struct emu_event *event,
                              unsigned passes)
{
    unsigned cycles = i->send_regs ? i->send_regs * passes : 1;
    tm_send(b, &w->simd->cu->send, w, i, event, cycles);
}

static void issue_memory(struct tm_chip *c, struct tm_wave *w, struct tm_inst *i,
                         const struct emu_event *event, unsigned passes)
{
    const struct tm_base *b = &c->b;
    if (i->cls == TM_LDS) {
        issue_lds(c, w, i, event, passes);
    } else if (i->cls == TM_VMEM) {
        issue_vmem(b, w, i, event, passes);
    } else {
        int64_t done = tm_smem(b, c->mem, &w->simd->in->smem, i, event);
        (void)fifo_add(&w->counter[TM_LGKM], done, c->mem->level, i);
    }
}

/* Halves of a wave64 that are executed: those with lanes. */
static inline unsigned passes_of(const struct tm_base *b, const struct tm_inst *i,
                                 uint64_t exec)
{
    if (b->lanes == 32)
        return 1;
    return i->exec_matters && (!(exec >> 32) || !(uint32_t)exec) ? 1 : 2;
}

/* What is of no sort of its own. */
static void issue_other(struct tm_chip *c, struct tm_wave *w, struct tm_inst *i,
                        const struct emu_event *event)
{
    const struct tm_base *b = &c->b;
    unsigned passes = passes_of(b, i, event->exec);
    switch (i->cls) {
    case TM_VALU:
        if (!w->skip)
            issue_valu(b, w, i, passes);
        break;
    case TM_SALU:
        issue_salu(b, w, i);
        break;
    case TM_SMEM:
    case TM_VMEM:
    case TM_LDS:
        issue_memory(c, w, i, event, passes);
        break;
    case TM_BRANCH:
        break;
    case TM_EXPORT:
        (void)fifo_add(&w->counter[TM_EXP], b->now + PARAM(b, lds_latency), TM_S_OTHER,
                       i);
        break;
    default:
        if (i->special == TM_BARRIER)
            issue_barrier(b, &w->simd->port);
        break;
    }
    if (i->cls == TM_BRANCH || i->special == TM_CALL ||
        event->flags & EMU_EV_TAKEN) /* into the trap handler, too */
        issue_branch(c, w, i, event);
}

/* What the issue at b.now does to the chip. */
TM_HOT void tm_issue(struct tm_chip *c, struct tm_wave *w, struct tm_inst *i,
                     const struct emu_event *event, enum tm_sort sort)
{
    const struct tm_base *b = &c->b;
    struct tm_ports *port = &w->simd->port;
    enum tm_class cls = sort == TM_SORT_PLAIN  ? TM_VALU
                        : sort == TM_SORT_VALU ? TM_VALU
                        : sort == TM_SORT_LDS  ? TM_LDS
                        : sort == TM_SORT_WAIT ? TM_IMM
                        : sort == TM_SORT_SALU ? TM_SALU
                        : sort == TM_SORT_VMEM ? TM_VMEM
                                               : (enum tm_class)i->cls;
    c->issues.all++;
    c->issues.of_class[cls]++;
    c->issues.skipped += w->skip;
    port->last[cls] = b->now;
    port->issued++;
    w->earliest = 0;
    w->earliest_why = TM_S_NONE;
    step_delays(w);
    if (w->hints.clause_size || i->special == TM_CLAUSE)
        step_clause(w, i);
    else
        w->hints.clause_more = false;
    if (sort == TM_SORT_PLAIN) {
        valu_issued(b, w, i, 1, valu_result(b, w, i, TM_PIPE_PLAIN, 1), false);
    } else if (sort == TM_SORT_VALU) {
        issue_valu(b, w, i, 1);
    } else if (sort == TM_SORT_SALU) {
        issue_salu(b, w, i);
    } else if (sort == TM_SORT_LDS || sort == TM_SORT_VMEM) {
        unsigned passes = passes_of(b, i, event->exec);
        if (sort == TM_SORT_LDS)
            issue_lds(c, w, i, event, passes);
        else
            issue_vmem(b, w, i, event, passes);
        if (event->flags & EMU_EV_TAKEN) /* into the trap handler */
            issue_branch(c, w, i, event);
    } else if (sort != TM_SORT_WAIT) {
        issue_other(c, w, i, event);
    }
}

#endif
