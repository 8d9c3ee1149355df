/* exec.c: what an issued instruction does to pipes, queues, counters and registers.
 *
 * Called once per issue with the event of its execution. Must not decide when anything
 * issues (issue.c). Invariant: every time it writes lies at or after t->now.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "queue.h"

/* Cycles that the VALU's issue is taken. */
static int64_t issue_cycles(const struct tm_engine *t, const struct tm_inst *i)
{
    switch (i->pipe) {
    case TM_PIPE_HALF:
        return PARAM(t, half_issue);
    case TM_PIPE_QUARTER:
        return PARAM(t, quarter_issue);
    case TM_PIPE_DOUBLE:
        return PARAM(t, double_issue);
    default:
        return 1;
    }
}

/* Cycles of the execution pipe. */
static int64_t pipe_cycles(const struct tm_engine *t, const struct tm_inst *i)
{
    switch (i->pipe) {
    case TM_PIPE_TRANS:
        return 1;
    case TM_PIPE_WMMA:
        return PARAM(t, wmma_cycles);
    case TM_PIPE_WMMA4:
        return PARAM(t, wmma_iu4_cycles);
    default:
        return issue_cycles(t, i);
    }
}

static int64_t dependent_cycles(const struct tm_engine *t, const struct tm_inst *i)
{
    switch (i->pipe) {
    case TM_PIPE_TRANS:
        return PARAM(t, trans_dep);
    case TM_PIPE_QUARTER:
        return PARAM(t, quarter_dep);
    case TM_PIPE_HALF:
    case TM_PIPE_DOUBLE:
        return PARAM(t, valu_dep64);
    default:
        return PARAM(t, valu_dep);
    }
}

static int64_t latency(const struct tm_engine *t, struct tm_wave *w,
                       const struct tm_inst *i, int64_t cycles)
{
    if (i->pipe == TM_PIPE_DOUBLE)
        return PARAM(t, double_latency);
    int64_t base = i->vgpr_fields == 0 && !i->reads_sgpr ? PARAM(t, valu_latency_const)
                   : i->inst->isa.enc == ISA_ENC_VOP1    ? PARAM(t, valu_latency_1src)
                                                         : PARAM(t, valu_latency);
    if (i->vgpr_fields && !w->read_vgpr) {
        w->read_vgpr = true;
        base += PARAM(t, valu_first_read);
    }
    return base + cycles - 1;
}

/* Results for SGPRs go through a short queue of the SIMD: the VALU stops in front of
 * it, and its issue a little later. When a result that could come at a time does. */
static int64_t sdst_entry(const struct tm_engine *t, struct tm_simd *s, int64_t at)
{
    queue_trim(&s->sdst_queue, at);
    int64_t room = queue_free(&s->sdst_queue, at, (unsigned)t->p.sdst_writes);
    queue_add(&s->sdst_queue, room + PARAM(t, sdst_write_cycles), 1);
    if (room == at)
        return at;
    s->valu_stalls = at - PARAM(t, valu_latency) + PARAM(t, sdst_stall_cycles);
    s->valu_goes = s->valu_stalls + room - at;
    return room;
}

/* The result's time: after the operands', in order within the SIMD, banks permitting.
 */
static int64_t valu_result(struct tm_engine *t, struct tm_wave *w,
                           const struct tm_inst *i)
{
    struct tm_simd *s = w->simd;
    int64_t cycles = pipe_cycles(t, i), ready = tm_operands_ready(t, w, i);
    int64_t late = tm_operands(t, w, i, cycles), at = t->now + latency(t, w, i, cycles);
    if (late > 0)
        at = tm_max(at, t->now + PARAM(t, valu_latency) + cycles - 1 + late);
    if (ready && i->pipe == TM_PIPE_PLAIN)
        tm_operands_wait(t, s, ready);
    if (ready && i->pipe == TM_PIPE_DOUBLE) /* takes longer from its operands */
        ready += tm_max(0, PARAM(t, double_dep) - PARAM(t, valu_dep64));
    at = tm_max(at, tm_max(ready, s->valu_result + cycles));
    if (i->pipe != TM_PIPE_TRANS && s->valu_last_pipe == TM_PIPE_TRANS)
        at = tm_max(at, s->valu_result + PARAM(t, trans_order));
    if (i->pipe != TM_PIPE_DOUBLE && s->valu_last_pipe == TM_PIPE_DOUBLE)
        at = tm_max(at, s->valu_result + PARAM(t, valu_dep));
    if (i->writes_sdst)
        at = sdst_entry(t, s, at);
    s->valu_result = at;
    s->valu_last_pipe = i->pipe;
    return at;
}

static void valu_sgprs(struct tm_engine *t, struct tm_wave *w, const struct tm_inst *i,
                       int64_t exec)
{
    for (unsigned r = 0; r < i->n_ssrc; r++)
        for (unsigned k = 0; k < i->ssrc[r].n && i->ssrc[r].first + k < TM_SGPRS; k++)
            w->s[i->ssrc[r].first + k].read = tm_stamp(w, exec);
    for (unsigned r = 0; r < i->n_sdst; r++)
        for (unsigned k = 0; k < i->sdst[r].n && i->sdst[r].first + k < TM_SGPRS; k++)
            w->s[i->sdst[r].first + k].write = tm_stamp(w, exec);
    if (i->writes_sdst) {
        if (w->sdst_exec < t->now)
            w->sdst_n = 0;
        w->sdst_n++;
        w->sdst_exec = exec;
        w->sdst_issue = t->now;
    }
    if (i->writes_exec) {
        if (w->cmpx_exec + PARAM(t, cmpx_drain) <= t->now)
            w->cmpx_n = 0;
        if (t->now >= w->exec_visible)
            w->exec_visible = exec + PARAM(t, vskip_exec_cycles);
        w->cmpx_n++;
        w->cmpx_exec = exec;
    }
}

static void issue_valu(struct tm_engine *t, struct tm_wave *w, const struct tm_inst *i,
                       unsigned passes)
{
    struct tm_simd *s = w->simd;
    int64_t busy = issue_cycles(t, i) * passes, exec = valu_result(t, w, i);
    bool wmma = i->pipe == TM_PIPE_WMMA || i->pipe == TM_PIPE_WMMA4;
    if (passes == 2)
        exec = valu_result(t, w, i);
    s->valu_free = t->now + busy;
    s->valu_cycles += (uint64_t)(wmma ? pipe_cycles(t, i) : busy);
    if (i->pipe == TM_PIPE_TRANS)
        s->trans_free = t->now + PARAM(t, trans_issue) * passes;
    int64_t dep = dependent_cycles(t, i);
    for (unsigned r = 0; r < i->n_vdst; r++)
        for (unsigned k = 0; k < i->vdst[r].n; k++)
            w->v[i->vdst[r].first + k].ready = tm_stamp(w, exec + dep);
    if (i->inst->isa.enc == ISA_ENC_VOPD)
        tm_operands_pair(w, i, exec + dep);
    w->valu_last_exec = tm_max(w->valu_last_exec, exec);
    w->valu_exec = exec;
    queue_trim(&s->valu_queue, t->now);
    queue_add(&s->valu_queue, exec + (wmma ? -1 : PARAM(t, valu_queue_return)), 1);
    queue_trim(&s->wmma_queue, t->now);
    if (wmma || s->wmma_queue.n)
        queue_add(&s->wmma_queue, exec - (wmma ? 1 : PARAM(t, valu_dep)), 1);
    memmove(w->hist + 1, w->hist, 3 * sizeof *w->hist);
    memmove(w->hist_from + 1, w->hist_from, 3 * sizeof(*w->hist_from));
    w->hist[0] = t->now + dep;
    w->hist_from[0] = i;
    if (i->pipe == TM_PIPE_TRANS) {
        memmove(w->hist_trans + 1, w->hist_trans, 2 * sizeof *w->hist_trans);
        memmove(w->trans_from + 1, w->trans_from, 2 * sizeof(*w->trans_from));
        w->hist_trans[0] = t->now + dep;
        w->trans_from[0] = i;
    }
    valu_sgprs(t, w, i, exec);
}

static void issue_salu(struct tm_engine *t, struct tm_wave *w, const struct tm_inst *i)
{
    int64_t start = t->now + PARAM(t, salu_start);
    bool result = i->n_sdst > (i->n_sdst && i->sdst[0].first == TM_SCC);
    bool state = i->special == TM_SETREG || i->special == TM_WAIT_SALU;
    int64_t lat = i->mul                                  ? PARAM(t, salu_mul_latency)
                  : state || (result && i->sgpr_operands) ? PARAM(t, salu_latency)
                                                          : 0;
    for (unsigned r = 0; r < i->n_ssrc; r++)
        for (unsigned k = 0; k < i->ssrc[r].n && i->ssrc[r].first + k < TM_SGPRS; k++)
            start = tm_max(start, tm_stamped(w, w->s[i->ssrc[r].first + k].ready));
    int64_t exec = tm_max(start + lat, w->salu_exec);
    for (unsigned r = 0; r < i->n_sdst; r++)
        for (unsigned k = 0; k < i->sdst[r].n && i->sdst[r].first + k < TM_SGPRS; k++)
            w->s[i->sdst[r].first + k].ready =
                tm_stamp(w, i->sdst[r].first + k == TM_SCC ? start : exec);
    int64_t spent = i->sgpr_operands > 1 ? PARAM(t, salu_two_sources) : 1;
    w->salu_slot = tm_max(start, w->salu_slot + spent);
    w->salu_exec = exec;
    queue_trim(&w->salu_queue, t->now);
    queue_add(&w->salu_queue, w->salu_slot + PARAM(t, salu_queue_return), 1);
    int64_t block = 0;
    if (i->special == TM_SETREG || i->special == TM_SETREG_IMM)
        block = exec + PARAM(t, salu_setreg_block);
    else if (i->special == TM_WAIT_SALU)
        block = exec + PARAM(t, salu_waitcnt_block);
    if (block > w->earliest) {
        w->earliest = block;
        w->earliest_why = TM_S_SALU;
    }
    if (i->writes_exec)
        w->exec_visible = exec;
}

static void issue_branch(struct tm_engine *t, struct tm_wave *w,
                         const struct tm_inst *i, const struct emu_event *event)
{
    if (event->flags & EMU_EV_TAKEN || i->special == TM_CALL) {
        int64_t now = t->now;
        if (i->special == TM_CALL)
            t->now = tm_max(now, w->salu_exec);
        w->earliest_why = TM_S_BRANCH;
        tm_fetch_branch(t, w, i->offset + i->bytes,
                        tm_canon_code(&t->canon, event->next_pc));
        t->now = now;
        return;
    }
    w->earliest = t->now + PARAM(t, branch_not_taken_cycles);
    w->earliest_why = TM_S_BRANCH;
}

/* Operands leave the VGPRs at this time: nobody may overwrite them before. */
static void reads_operands(struct tm_wave *w, const struct tm_inst *i, int64_t accept)
{
    w->mem_read = tm_max(w->mem_read, accept);
    for (unsigned r = 0; r < i->n_vsrc; r++)
        for (unsigned k = 0; k < i->vsrc[r].n; k++)
            w->v[i->vsrc[r].first + k].read = tm_stamp(w, accept);
}

/* The operation before goes later: another one, accepted in its place, takes so long.
 */
static void put_off(struct tm_lds_op *o, int64_t cycles)
{
    struct tm_wave *w = o->wave;
    struct tm_fifo *f = &w->counter[TM_LGKM];
    struct tm_queue *q = &w->simd->lds_queue;
    for (unsigned k = 0; k < f->n; k++) {
        struct tm_counted *c = &f->op[(f->first + k) % TM_FIFO];
        if (c->from == o->inst && c->done == o->done)
            c->done += cycles;
    }
    for (unsigned k = 0; k < q->n; k++)
        if (q->free_at[(q->first + k) % 64] == o->free)
            q->free_at[(q->first + k) % 64] += cycles;
    o->free += cycles;
    o->accept += cycles;
    o->done += cycles;
    o->overtaken = true;
    w->lds_last += cycles;
    w->lds_accept = o->accept;
    reads_operands(w, o->inst, o->accept);
}

/* The path to the LDS goes from one SIMD to the other for an operation that waits, and
 * then takes a second one that sends data from there before it comes back. */
static bool overtakes(const struct tm_wave *w, const struct tm_lds_op *o, int64_t ready)
{
    return o->age && o->wave->age == o->age && !o->wave->ended && o->simd != w->simd &&
           o->before == w->simd && o->before_waited && !o->overtaken && o->at_once &&
           o->accept > o->ready && o->accept >= ready;
}

/* From acceptance to a free entry of the LDS queue: registers go two by two. */
static int64_t queue_return(const struct tm_engine *t, const struct tm_inst *i,
                            unsigned passes)
{
    unsigned pairs = i->send_regs > 1 ? (i->send_regs + 1u) / 2u : 1u;
    return PARAM(t, lds_queue_return) + 2 * (int64_t)(pairs * passes);
}

static void issue_lds(struct tm_engine *t, struct tm_wave *w, const struct tm_inst *i,
                      const struct emu_event *event, unsigned passes)
{
    struct tm_cu *cu = w->simd->cu;
    struct tm_lds_op *last = &cu->lds_last;
    int64_t cycles = (i->send_regs > 1 ? i->send_regs : 1) * (int64_t)passes;
    int64_t ready = t->now + PARAM(t, lds_start), *path = &cu->lds_send_free;
    int64_t accept = tm_lds_room(t, w, i, tm_max(ready, *path)), free_at = cu->lds_free;
    bool first = cycles > passes && !t->wgp_mode && overtakes(w, last, ready);
    if (first) {
        accept = last->accept;
        cu->lds_free = accept; /* as if the one put off had not come */
        put_off(last, cycles);
        *path += cycles;
    } else {
        *path = accept + cycles;
    }
    int64_t done = tm_lds(t, w, i, event, accept);
    reads_operands(w, i, accept);
    tm_operands_send(t, w->simd, i, accept);
    fifo_add(&w->counter[TM_LGKM], done, t->level, i);
    int64_t entry = accept + queue_return(t, i, passes);
    queue_add(&w->simd->lds_queue, entry, 1);
    w->lds_accept = accept;
    if (first) {
        cu->lds_free = tm_max(cu->lds_free, free_at + cycles);
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
                               .at_once = free_at <= accept};
}

static void issue_vector_memory(struct tm_engine *t, struct tm_wave *w,
                                const struct tm_inst *i, const struct emu_event *event,
                                unsigned passes)
{
    tm_send(t, w, i, event, i->send_regs ? i->send_regs * passes : 1);
}

static void step_delays(struct tm_wave *w)
{
    w->delay_on[0] = false;
    if (!w->delay_on[1])
        return;
    if (w->delay_skip == 0)
        w->delay_on[1] = false;
    else
        w->delay_skip--;
}

/* While a wave is in a clause, no other one of its SIMD issues that kind. */
static void step_clause(struct tm_wave *w, const struct tm_inst *i)
{
    struct tm_wave **first = &w->simd->clause[i->cls];
    if (i->special == TM_CLAUSE) {
        w->clause_left = w->clause_size = i->clause;
    } else if (w->clause_size) {
        w->clause_more = w->clause_left < w->clause_size;
        *first = i->cls != TM_IMM && --w->clause_left ? w : NULL;
        if (!*first) { /* through, or not made of one kind */
            for (unsigned c = 0; c < TM_CLASSES; c++)
                if (w->simd->clause[c] == w)
                    w->simd->clause[c] = NULL;
            w->clause_size = 0;
        }
    } else {
        w->clause_more = false;
    }
}

static void count(struct tm_engine *t, const struct tm_inst *i, bool skipped)
{
    t->n_insts++;
    t->n_class[i->cls]++;
    if (i->cls == TM_VALU && !skipped)
        t->n_valu++;
    if (i->cls == TM_SALU)
        t->n_salu++;
}

void tm_issue(struct tm_engine *t, struct tm_wave *w, struct tm_inst *i,
              const struct emu_event *event)
{
    unsigned passes = t->launch.lanes == 64 ? 2 : 1;
    bool skipped = w->skip;
    if (passes == 2 && (!(event->exec >> 32) || !(uint32_t)event->exec) &&
        i->exec_matters)
        passes = 1; /* a half without lanes is not executed */
    count(t, i, skipped);
    w->simd->port[i->cls] = t->now;
    w->earliest = 0;
    w->earliest_why = TM_S_NONE;
    step_delays(w);
    step_clause(w, i);
    switch (i->cls) {
    case TM_VALU:
        if (!skipped)
            issue_valu(t, w, i, passes);
        break;
    case TM_SALU:
        issue_salu(t, w, i);
        if (i->special == TM_CALL)
            issue_branch(t, w, i, event);
        break;
    case TM_SMEM: {
        int64_t done = tm_smem(t, w, i, event);
        fifo_add(&w->counter[TM_LGKM], done, t->level, i);
        break;
    }
    case TM_VMEM:
        issue_vector_memory(t, w, i, event, passes);
        break;
    case TM_LDS:
        issue_lds(t, w, i, event, passes);
        break;
    case TM_BRANCH:
        issue_branch(t, w, i, event);
        break;
    case TM_EXPORT:
        fifo_add(&w->counter[TM_EXP], t->now + PARAM(t, lds_latency), TM_S_OTHER, i);
        break;
    default:
        if (i->special == TM_BARRIER) {
            struct tm_simd *s = w->simd;
            s->barrier_second = !s->barrier_second && t->now == s->last_barrier + 1;
            s->last_barrier = t->now;
            s->barrier_open = t->now + PARAM(t, barrier_port_cycles);
        }
        break;
    }
    bool goes = i->cls == TM_BRANCH || i->special == TM_CALL;
    if (event->flags & EMU_EV_TAKEN && !goes) /* into the trap handler */
        issue_branch(t, w, i, event);
}
