/* glance.c: watched waves as native code, where all observers say what they need not
 * see (emu_glance).
 *
 * What has to be an event is one, in its place: native code calls back, or leaves for
 * the loop here. Invariants: observers meet the same events in the same order as if all
 * were seen, without those that they do not need; before each they know of all that was
 * skipped. Must not know what observers look for. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

#include "access.h"
#include "block.h"
#include "execute.h"
#include "native.h"
#include "observe.h"
#include "watch.h"

#define RUNS_MOST   (1u << 20) /* that are remembered */
#define LEARN_MOST  64u        /* times that a place may learn how lanes lie */
#define LEARN_REACH (1 << 22)  /* bytes between lanes that lie like others */
#define LDS_REACH   (1u << 25) /* likewise, and more than any LDS has */

/* What a run of instructions makes of a state. */
struct known {
    uint64_t run; /* 0: free */
    uint32_t state, next;
};

/* Of a wave between its turns. */
struct unseen {
    uint64_t told; /* of its instructions: observers know of them */
    uint32_t state;
};

struct glance {
    struct watch watch;
    struct watch_now now;
    struct emu *emu;
    const struct emu_observer *follower; /* who has states, or NULL */
    const struct emu_observer *marker;   /* who has marks, or NULL */
    const struct emu_observer *rower;    /* who is asked of rows, or NULL */
    const struct emu_observer *logger;   /* who has logs, or NULL */
    bool turns;                          /* somebody wants to know when they begin */
    struct known *known;                 /* open addressing */
    size_t room, n;
};

/* ---- runs and states ---- */

/* The run from u on, by waves with or without active lanes; never 0. */
static uint64_t run_of(const struct wave *w, const struct uop *u, bool idle)
{
    const struct program *p = w->program;
    uint64_t slot = (uint64_t)(u - p->uops);
    return ((uint64_t)p->number + 1) << 40 | slot << 1 | idle;
}

static struct known *place_of(const struct glance *g, uint64_t run, uint32_t state)
{
    uint64_t h = (run * 31 + state) * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(h >> 24) & (g->room - 1);
    while (g->known[i].run && (g->known[i].run != run || g->known[i].state != state))
        i = (i + 1) & (g->room - 1);
    return &g->known[i];
}

static bool make_room(struct glance *g)
{
    if (2 * g->n < g->room)
        return true;
    struct glance bigger = {.room = g->room ? 2 * g->room : 1024};
    if (bigger.room > RUNS_MOST) { /* begin again */
        memset(g->known, 0, g->room * sizeof *g->known);
        g->n = 0;
        return true;
    }
    bigger.known = calloc(bigger.room, sizeof *bigger.known);
    if (!bigger.known)
        return false;
    for (size_t i = 0; i < g->room; i++)
        if (g->known[i].run)
            *place_of(&bigger, g->known[i].run, g->known[i].state) = g->known[i];
    free(g->known);
    g->known = bigger.known;
    g->room = bigger.room;
    return true;
}

static void remember(struct glance *g, uint64_t run, uint32_t state, uint32_t next)
{
    if (state == WATCH_UNKNOWN || next == WATCH_UNKNOWN || !make_room(g))
        return;
    struct known *k = place_of(g, run, state);
    g->n += !k->run;
    *k = (struct known){run, state, next};
}

static bool recall(const struct glance *g, uint64_t run, uint32_t state, uint32_t *next)
{
    if (!g->room || state == WATCH_UNKNOWN)
        return false;
    const struct known *k = place_of(g, run, state);
    *next = k->next;
    return k->run != 0;
}

/* ---- what is skipped ---- */

static struct unseen *unseen_of(const struct wave *w)
{
    return &w->observation->unseen[w->info.slot];
}

/* Observers learn of all instructions before the wave's index-th. */
static void tell_skipped(struct observation *ob, struct wave *w, uint64_t index)
{
    struct unseen *s = unseen_of(w);
    struct watch_now *now = &ob->glance->now;
    uint64_t insts = index - s->told, accesses = now->accesses;
    s->told = index;
    now->accesses = 0;
    if (!insts && !accesses)
        return;
    for (unsigned i = 0; i < ob->n_observers; i++)
        glance_by(&ob->observer[i])
            ->skipped(ob->observer[i].ctx, &w->info, insts, accesses);
}

/* ---- callbacks of native code ---- */

static bool writes_exec(const struct emu_inst *inst)
{
    for (unsigned i = 0; i < inst->n_regs; i++) {
        const struct emu_reg *r = &inst->reg[i];
        if (r->flags & ISA_OF_OUT && r->sel <= ISA_SEL_EXEC_HI &&
            r->sel + r->dwords > ISA_SEL_EXEC_LO)
            return true;
    }
    return false;
}

static unsigned sees(const struct glance *g, const struct inst_info *info)
{
    const struct emu *emu = g->emu;
    unsigned see = info->relative ? EMU_SEE_APART : 0;
    for (unsigned i = 0; i < emu->n_observers; i++)
        see |= glance_by(&emu->observers[i])->sees(emu->observers[i].ctx, &info->inst);
    return see;
}

static unsigned flags(void *ctx, struct program *p, const struct uop *u)
{
    const struct inst_info *info = program_inst(p, u);
    unsigned see = sees(ctx, info);
    bool slow = u->flags & UF_MAY_FAULT || info->inst.kind == EMU_KIND_MEMORY ||
                info->inst.kind == EMU_KIND_ILLEGAL;
    bool blind = slow && !(u->flags & UF_MEM); /* its handler alone knows addresses */
    bool event = see & EMU_SEE_ALWAYS || (see & EMU_SEE_ASK && blind);
    bool later = see & EMU_SEE_LATER && u->flags & UF_MEM && u->mem.space == MEM_LDS &&
                 u->mem.addr != NO_ROW && !u->mem.addtid;
    bool row = ((const struct glance *)ctx)->rower && see & EMU_SEE_ROW;
    return (event ? WATCH_EVENT : 0) | (row ? WATCH_ROW : 0) |
           (later ? WATCH_LATER : 0) | (see & EMU_SEE_ASK ? WATCH_ASK : 0) |
           (slow ? WATCH_SLOW : 0) | (writes_exec(&info->inst) ? WATCH_PARTS : 0) |
           (info->relative ? WATCH_ALONE : 0);
}

static void note(void *ctx, struct program *p, const struct uop *u, struct emu_run *run)
{
    const struct glance *g = ctx;
    const struct inst_info *info = program_inst(p, u);
    run->n++;
    run->seen |= info->relative;
    glance_by(g->marker)->note(g->marker->ctx, &info->inst, run);
}

/* So that the next access asks about marks again. */
static void forget_marked(struct wave *w)
{
    for (unsigned i = 0; i < MEM_WINDOWS; i++)
        if (!(w->window[i].perm & EMU_MEM_PLAIN))
            w->window[i].end = w->window[i].base;
}

/* The one observer has nothing to see in u: it is run as if by native code. */
static bool pass(struct wave *w, const struct uop *u, const struct inst_info *info,
                 uint64_t index, const struct uop **next)
{
    struct observation *ob = w->observation;
    const struct emu_observer *o = &ob->observer[0];
    if (ob->n_observers > 1 || u->flags & UF_MEM || !glance_by(o)->pass ||
        !glance_by(o)->pass(o->ctx, &w->info, &info->inst, wave_exec64(w)))
        return false;
    bool barrier = info->inst.kind == EMU_KIND_BARRIER;
    if (barrier)
        tell_skipped(ob, w, index + 1);
    *next = u->fn(w, u);
    if (barrier)
        glance_by(o)->arrive(o->ctx, &w->info, &info->inst,
                             !*next && observe_opens_barrier(w));
    return true;
}

static const struct uop *step(struct wave *w, const struct uop *u, uint64_t done)
{
    struct observation *ob = w->observation;
    const struct emu_observer *marker = ob->glance->marker;
    const struct emu_event *event;
    const struct uop *passed;
    uint64_t index = w->n_insts + done - 1;
    bool last = u->run == 1;
    w->emu->level->leave();
    if (pass(w, u, program_inst(w->program, u), index, &passed))
        return passed;
    _mm_setcsr(ob->host_csr);
    tell_skipped(ob, w, index);
    if (marker)
        forget_marked(w);
    ob->followed = EMU_EV_FOLLOWED;
    u = observe_step(w, u, program_inst(w->program, u), index, &event);
    ob->followed = 0;
    unseen_of(w)->told = index + 1;
    _mm_setcsr(w->mxcsr32);
    ob->rest = marker && u && !ob->trapped && !last &&
               glance_by(marker)->rest(marker->ctx, &w->info);
    if (ob->trapped || ob->rest) {
        w->next = u;
        w->stop = STOP_NONE;
        return NULL;
    }
    return u;
}

/* Need marks not be seen that the run touches? */
static bool touch(struct wave *w, const struct watch_seen *s, uint64_t done)
{
    const struct emu_observer *marker = w->observation->glance->marker;
    return !marker || (!s->run.seen &&
                       glance_by(marker)->touch(marker->ctx, &w->info, &s->run,
                                                wave_exec64(w), w->n_insts + done));
}

static unsigned enter(struct wave *w, struct watch_seen *s, uint64_t done)
{
    struct observation *ob = w->observation;
    struct watch_now *now = &ob->glance->now;
    bool idle = !wave_exec64(w);
    uint32_t next = now->state;
    w->emu->level->leave();
    if ((ob->glance->follower &&
         !recall(ob->glance, run_of(w, s->u, idle), now->state, &next)) ||
        !touch(w, s, done)) {
        ob->unknown = true;
        return 0;
    }
    if (!idle) {
        unsigned way = s->turn++ % WATCH_WAYS;
        s->state[way] = now->state;
        s->next[way] = next;
    }
    now->state = next;
    return 1;
}

/* The accesses that u is about to do. */
static const struct emu_event *next_event(struct wave *w, const struct uop *u,
                                          uint64_t done)
{
    struct observation *ob = w->observation;
    struct emu_event *e = &ob->event;
    e->n_accesses = w->emu->level->accesses(w, u, ob->access);
    w->emu->level->leave(); /* observers would wait for the registers of both */
    e->wave = &w->info;
    e->inst = &program_inst(w->program, u)->inst;
    e->index = w->n_insts + done - 1;
    e->exec = wave_exec64(w);
    e->access = ob->access;
    e->flags = EMU_EV_FOLLOWED;
    return e;
}

static unsigned settle(struct wave *w, const struct uop *u, uint64_t done)
{
    const struct emu_observer *marker = w->observation->glance->marker;
    return glance_by(marker)->settle(marker->ctx, next_event(w, u, done));
}

static void learn_scalar(const struct glance *g, const struct emu_event *e,
                         struct emu_row *row)
{
    const struct emu_access *a = e->access;
    if (row->form || e->n_accesses != 1 || a->write || a->bytes > EMU_ROW_SCALAR)
        return;
    *row = (struct emu_row){.pc = e->inst->pc,
                            .bytes = (uint8_t)a->bytes,
                            .room = UINT32_MAX - 64,
                            .scalar = true};
    row->form = glance_by(g->rower)->form(g->rower->ctx, row);
}

/* The lanes lie like this: they may do so again. Wherever that is, addresses must not
 * wrap: native code compares 32 bits. */
static void learn(const struct glance *g, const struct emu_event *e,
                  struct emu_row *row)
{
    const struct emu_access *a = e->access;
    int64_t least = 0, most = 0, at[32];
    if (row->learnt == LEARN_MOST || e->n_accesses != 1 || a->lanes != UINT32_MAX ||
        a->scalar || a->bytes > 16)
        return;
    for (unsigned l = 0; l < 32; l++) {
        at[l] = (int64_t)(a->address[l] - a->address[0]);
        least = at[l] < least ? at[l] : least;
        most = at[l] > most ? at[l] : most;
    }
    if (least < -LEARN_REACH || most > LEARN_REACH)
        return;
    row->learnt++;
    row->pc = e->inst->pc;
    row->bytes = (uint8_t)a->bytes;
    row->write = a->write;
    row->lds = a->space == EMU_SPACE_LDS;
    row->low = (uint32_t)-least;
    row->room = (row->lds ? LDS_REACH : UINT32_MAX) - row->low - (uint32_t)most - 64;
    for (unsigned l = 0; l < 32; l++)
        row->offset[l] = (int32_t)at[l];
    row->form = glance_by(g->rower)->form(g->rower->ctx, row);
    row->offset[0] = !row->form; /* else no lanes lie so */
}

static unsigned ask(struct wave *w, const struct uop *u, uint64_t done,
                    struct emu_row *row)
{
    struct observation *ob = w->observation;
    const struct emu_event *e = next_event(w, u, done);
    bool event = false;
    for (unsigned i = 0; i < ob->n_observers && !event; i++)
        if (glance_by(&ob->observer[i])->ask)
            event = glance_by(&ob->observer[i])->ask(ob->observer[i].ctx, e);
    if (row && !event && e->n_accesses && e->access->scalar)
        learn_scalar(ob->glance, e, row);
    else if (row && !event)
        learn(ob->glance, e, row);
    return event;
}

/* ---- the log ---- */

unsigned emu_log_read(const char *entry, struct emu_event *event,
                      struct emu_access *access, uint64_t *tag)
{
    struct watch_entry e;
    memcpy(&e, entry, sizeof e);
    const struct umem *m = &e.u->mem;
    const char *rows = entry + sizeof e;
    *tag = e.tag;
    *event = (struct emu_event){.wave = &e.wave->info,
                                .inst = &program_inst(e.program, e.u)->inst,
                                .exec = e.wave->wave64 ? e.exec : (uint32_t)e.exec,
                                .access = access,
                                .n_accesses = m->elems};
    for (unsigned i = 0; i < m->elems; i++) {
        struct emu_access *a = &access[i];
        a->lanes = event->exec;
        a->bytes = m->bytes;
        a->space = EMU_SPACE_LDS;
        a->read = true;
        a->write = a->scalar = false;
        for (unsigned l = 0; l < e.wave->info.lanes; l++) {
            uint32_t at;
            memcpy(&at, rows + 4ul * l, 4);
            a->address[l] = (uint32_t)(at + (i ? m->off1 : m->off0));
        }
    }
    return event->exec ? m->elems : 0;
}

/* Of the wave that is about to run. */
static struct emu_log *log_of(const struct glance *g, const struct wave *w)
{
    static struct emu_log closed;
    struct emu_log *log =
        g->logger ? glance_by(g->logger)->log(g->logger->ctx, &w->info) : NULL;
    return log ? log : &closed;
}

/* ---- by events ---- */

/* The instructions from u on up to the end of their run; *left: of the block. */
static const struct uop *run_events(struct wave *w, const struct uop *u, unsigned *left,
                                    bool *stay)
{
    struct observation *ob = w->observation;
    struct glance *g = ob->glance;
    const struct emu_glance *f = glance_by(g->follower);
    void *ctx = g->follower->ctx;
    const struct emu_event *event = NULL;
    uint64_t run = run_of(w, u, !wave_exec64(w));
    uint32_t state = g->now.state, next;
    bool apart = false, parts = false, told = false;
    f->load(ctx, &w->info, state);
    while (*stay && *left && !parts) {
        const struct inst_info *info = program_inst(w->program, u);
        apart |= sees(g, info) & EMU_SEE_APART;
        parts = writes_exec(&info->inst);
        if (w->counts)
            w->counts->op[u->isa_op]++;
        u = observe_step(w, u, info, w->n_insts - *left, &event);
        --*left;
        *stay = u && !ob->trapped;
    }
    if (!u && w->stop == STOP_FAULT)
        return u;
    next = f->save(ctx, &w->info, &told);
    if (!u && w->stop == STOP_END)
        next = 0; /* of no interest any more */
    g->now.state = next;
    bool whole = (!*left || parts) && !ob->trapped && event;
    if (whole && !apart && !told)
        remember(g, run, state, next);
    return u;
}

/* ... of a run whose effect on the state is known. */
static const struct uop *rest_events(struct wave *w, const struct uop *u,
                                     unsigned *left, bool *stay)
{
    struct observation *ob = w->observation;
    const struct emu_event *event = NULL;
    bool parts = false;
    ob->followed = EMU_EV_FOLLOWED;
    while (*stay && *left && !parts) {
        const struct inst_info *info = program_inst(w->program, u);
        parts = writes_exec(&info->inst);
        if (w->counts)
            w->counts->op[u->isa_op]++;
        u = observe_step(w, u, info, w->n_insts - *left, &event);
        --*left;
        *stay = u && !ob->trapped;
    }
    ob->followed = 0;
    return u;
}

static const struct uop *block_events(struct wave *w, const struct uop *u, bool *stay)
{
    struct observation *ob = w->observation;
    unsigned left = u->run;
    w->turn -= u->turn;
    tell_skipped(ob, w, w->n_insts);
    if (!ob->glance->follower) {
        u = observe_block(w, u, stay);
    } else {
        w->n_insts += left;
        if (ob->rest)
            u = rest_events(w, u, &left, stay);
        while (*stay && left)
            u = run_events(w, u, &left, stay);
        w->n_insts -= left;
    }
    unseen_of(w)->told = w->n_insts;
    return u;
}

/* ---- the turn ---- */

/* The block at u and what follows as native code; u itself if there is none, or if it
 * is not known what the block does. */
static const struct uop *native_run(struct wave *w, const struct uop *u, bool *stay)
{
    struct observation *ob = w->observation;
    if (!w->native)
        w->native = native_table(w->emu->native, w);
    struct native_table *t = w->native;
    size_t slot = t ? (size_t)(u - t->uops) : 0;
    const void *code = t ? native_find(t, w, slot) : NULL;
    if (!code)
        return u;
    bool other = mode_differs(w->mxcsr32, ob->host_csr); /* setting it takes long */
    if (other)
        _mm_setcsr(w->mxcsr32);
    ob->trapped = false;
    u = native_enter(t, w, code, u);
    w = w->group->running;
    w->emu->level->leave();
    if (other || mode_differs(w->mxcsr32, ob->host_csr))
        _mm_setcsr(ob->host_csr);
    if (ob->rest) { /* the rest of the block is not begun */
        u = w->next;
        w->turn += u->turn;
    }
    *stay = u && !ob->trapped;
    return u;
}

void glance_turn_ends(struct wave *w)
{
    struct observation *ob = w->observation;
    tell_skipped(ob, w, w->n_insts);
    unseen_of(w)->state = ob->glance->now.state;
}

bool glance_turn_begins(struct wave *w)
{
    struct observation *ob = w->observation;
    struct glance *g = ob->glance;
    ob->all = g->turns && observe_turn(ob, w);
    g->now.state = unseen_of(w)->state;
    g->now.log = log_of(g, w);
    g->now.mine = g->rower ? glance_by(g->rower)->mine(g->rower->ctx, &w->info) : NULL;
    if (g->marker)
        g->now.marks = glance_by(g->marker)->marks(g->marker->ctx, &w->info);
    return !ob->all;
}

const struct uop *glance_run(struct wave *w)
{
    struct workgroup *group = w->group;
    struct observation *ob = w->observation;
    const struct uop *u = w->next;
    bool stay = true;
    ob->host_csr = _mm_getcsr();
    (void)glance_turn_begins(w);
    while (stay && w->turn > 0) {
        const struct uop *from = u;
        const struct wave *before = w;
        ob->unknown = ob->rest = false;
        if (!ob->all)
            u = native_run(w, u, &stay);
        w = group->running;
        bool same = u == from && w == before;
        if (stay && (ob->unknown || ob->rest || ((ob->all || same) && w->turn > 0)))
            u = block_events(w, u, &stay);
    }
    glance_turn_ends(w);
    return u;
}

/* ---- who ---- */

const struct emu_glance *glance_by(const struct emu_observer *o)
{
    const struct emu_glance *const *first = o->ctx;
    return o->want & EMU_WANT_GLANCE ? *first : NULL;
}

static bool may_glance(const struct emu *emu)
{
    unsigned followers = 0, markers = 0;
    for (unsigned i = 0; i < emu->n_observers; i++) {
        const struct emu_glance *g = glance_by(&emu->observers[i]);
        if (!g || !g->sees || emu->observers[i].want & EMU_WANT_VALUES)
            return false;
        followers += g->save != NULL;
        markers += g->marks != NULL;
    }
    return emu->native && emu->n_observers && followers <= 1 && markers <= 1;
}

void emu_memory_marked(struct emu *emu)
{
    atomic_fetch_add(&emu->regions->generation, 1);
}

unsigned observe_clip(const struct wave *w, uint64_t address, uint64_t *base,
                      uint64_t *end)
{
    const struct glance *g = w->observation->glance;
    const struct emu_observer *marker = g ? g->marker : NULL;
    return marker && glance_by(marker)->clip(marker->ctx, address, base, end)
               ? EMU_MEM_PLAIN
               : 0;
}

struct glance *glance_of(struct emu *emu)
{
    const struct watch *watch = native_watcher(emu->native);
    if (watch || !may_glance(emu))
        return watch ? watch->ctx : NULL;
    struct glance *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    unsigned askers = 0;
    g->emu = emu;
    for (unsigned i = 0; i < emu->n_observers; i++) {
        const struct emu_glance *by = glance_by(&emu->observers[i]);
        g->follower = by->save ? &emu->observers[i] : g->follower;
        g->marker = by->marks ? &emu->observers[i] : g->marker;
        g->rower = by->row ? &emu->observers[i] : g->rower;
        g->logger = by->log ? &emu->observers[i] : g->logger;
        g->turns |= by->turn != NULL;
        askers += by->ask != NULL;
    }
    if (askers > 1)
        g->rower = NULL;
    emu_memory_marked(emu);
    g->watch = (struct watch){.ctx = g,
                              .flags = flags,
                              .follows = g->follower != NULL,
                              .marks = g->marker != NULL,
                              .now = &g->now,
                              .step = step,
                              .note = note,
                              .enter = enter,
                              .ask = ask,
                              .settle = settle,
                              .row = g->rower ? glance_by(g->rower)->row : NULL};
    native_watch(emu->native, &g->watch);
    return g;
}

void glance_forget(struct emu *emu)
{
    const struct watch *watch = native_watcher(emu->native);
    struct glance *g = watch ? watch->ctx : NULL;
    if (!g)
        return;
    native_watch(emu->native, NULL);
    free(g->known);
    free(g);
}

rd_status glance_begin(struct observation *ob, const struct wave *w)
{
    size_t n = ob->n_unseen, slot = w->info.slot;
    if (slot >= n) {
        n = 2 * slot + 64;
        struct unseen *bigger = realloc(ob->unseen, n * sizeof *bigger);
        if (!bigger)
            return RD_E_NOMEM;
        ob->unseen = bigger;
        ob->n_unseen = n;
    }
    ob->unseen[slot] = (struct unseen){0};
    return RD_OK;
}
