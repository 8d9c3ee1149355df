/* chip.c: dispatches of several queues share the chip under `rdna3 exec --timing`.
 *
 * A thread of its own runs the timing model for all queues of a process (of a board: of
 * an address space) that have equal priority and use the same CUs; workers offer their
 * dispatches and wait for the end. Host time is no model time, so the model stands
 * while anything is under way that could offer another one: before a run begins and
 * each time a dispatch has ended, until every queue's dispatch is in the run, or the
 * queue has nothing to do, or waits for what has not come; and until the program's
 * threads sleep, some milliseconds at most. What is ready then begins at the same time,
 * in the order of queues. So cycles depend on what programs submit, not on when threads
 * run; but a dispatch that comes while others run for a reason that only the host knows
 * begins where the run is by then. Once nothing is left the run has ended, and the next
 * one meets cold caches.
 *
 * Must not know packets, nor when the program and its queues rest (rest.c). Rules:
 * chip.lock is taken last but for the clock's and a queue's; an offer is its worker's
 * until it is in a run, and again once it has ended.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "chip.h"
#include "cp.h"
#include "look.h"
#include "timing.h"

#define NAME     "rdna3 chip"
#define RUNS     16u /* at once: priorities, address spaces, masks */
#define NAP_NS   20000
#define STAND_NS 200000
#define RING_NS  200000 /* between looks at a queue's ring while its dispatch runs */

enum state { WAITS, RUNS_NOW, ENDED };

/* A dispatch, in its worker's hands but for what the run fills. */
struct offer {
    struct gpu_queue *q;
    struct emu *emu;
    struct emu_dispatch d;
    struct emu_queue around;
    struct tm_launch launch;
    uint64_t start; /* when it may begin */
    enum state state;
    unsigned number;
    bool cancelled, told; /* told: of its end; .how is valid */
    struct offer *next;
    struct tm_ended how;
    uint64_t ticks, began, end; /* that it took; when it began and ended */
    /* Its worker's: its place among those of the queue that run at once, the one before
     * it, whether it is done with it. */
    unsigned place;
    struct offer *before;
    bool taken;
};

struct chip_run {
    struct gpu *gpu;
    unsigned space;
    struct emu *emu;
    uint32_t priority;
    bool masked;
    uint32_t mask[BOARD_SE];
    struct offer *first; /* chip.lock: that have not ended, in the order they came */
    struct tm_engine *_Atomic engine;
    uint64_t start; /* of cycle 0, later by the time for which it stood still */
    bool closing;   /* nothing runs any more */
    pid_t pid;
    _Atomic pid_t tid;
};

static struct chip_run *_Atomic runs[RUNS]; /* of this process: for signal handlers */

static void nap(long ns)
{
    const struct timespec t = {0, ns};
    nanosleep(&t, NULL);
}

void gpu_chip_init(struct gpu_chip *chip)
{
    pthread_mutex_init(&chip->lock, NULL);
    pthread_cond_init(&chip->ended, NULL);
    atomic_store(&chip->steps, 1);
}

/* Is there an order that the run has to obey? */
static bool is_ordered(void *ctx)
{
    struct chip_run *r = ctx;
    bool any = false;
    pthread_mutex_lock(&r->gpu->chip.lock);
    for (const struct offer *o = r->first; o; o = o->next) {
        int order = cp_control(o->q);
        any |=
            order == EMU_CONTROL_SHOW || (order == EMU_CONTROL_CANCEL && !o->cancelled);
    }
    pthread_mutex_unlock(&r->gpu->chip.lock);
    return any;
}

/* Let everything come that comes at this moment of the model's time. */
static void settle(struct chip_run *r)
{
    gpu_chip_settle(r->gpu, is_ordered, r);
}

/* ---- offers ---- */

/* The offer may go, whatever became of it. */
static void finish(struct chip_run *r, struct offer *o)
{
    struct gpu_chip *chip = &r->gpu->chip;
    gpu_clock_reach(&r->gpu->clock, o->end);
    pthread_mutex_lock(&chip->lock);
    struct offer **at = &r->first;
    while (*at != o)
        at = &(*at)->next;
    *at = o->next;
    o->state = ENDED;
    atomic_store(&o->q->watch.threads, 0);
    atomic_store(&o->q->offered, CP_AT_WORK);
    atomic_fetch_add(&chip->steps, 1);
    pthread_cond_broadcast(&chip->ended);
    pthread_mutex_unlock(&chip->lock);
}

static void refuse(struct chip_run *r, struct offer *o, rd_status st)
{
    o->how.status = st;
    o->began = o->end = o->start;
    finish(r, o);
}

/* The run's, from here on. */
static void prepare(const struct chip_run *r, struct offer *o)
{
    o->around.realtime = r->start;
    o->launch.dispatch = &o->d;
    atomic_store(&o->q->standing, false);
    atomic_store(&o->q->watch.threads, 1);
    pthread_mutex_lock(&r->gpu->chip.lock); /* its worker looks at it */
    o->state = RUNS_NOW;
    pthread_mutex_unlock(&r->gpu->chip.lock);
}

/* Of those that wait and may go on (any: or not) the one that is first; NULL: none. */
static struct offer *first_of(struct chip_run *r, bool any)
{
    struct offer *best = NULL;
    pthread_mutex_lock(&r->gpu->chip.lock);
    for (struct offer *o = r->first; o; o = o->next) {
        bool goes = any || cp_control(o->q) != EMU_CONTROL_PAUSE;
        if (o->state != WAITS)
            continue;
        if (!goes)
            atomic_store(&o->q->standing, true);
        else if (!best || o->start < best->start ||
                 (o->start == best->start && o->q->id < best->q->id))
            best = o;
    }
    pthread_mutex_unlock(&r->gpu->chip.lock);
    return best;
}

static void join(struct chip_run *r, struct offer *o)
{
    uint64_t behind = o->start > r->start ? o->start - r->start : 0;
    double cycles = (double)behind * (r->gpu->sclk_mhz * 1e6) / (double)BOARD_CLOCK_HZ;
    prepare(r, o);
    o->launch.from = (int64_t)cycles;
    rd_status st = tm_join(r->engine, o->emu, &o->launch, &o->number, &o->how.fault);
    if (st != RD_OK)
        refuse(r, o, st);
}

static void join_all(struct chip_run *r)
{
    for (struct offer *o; !r->closing && (o = first_of(r, false));)
        if (cp_control(o->q) == EMU_CONTROL_CANCEL)
            refuse(r, o, RD_E_TIMEOUT);
        else
            join(r, o);
}

/* ---- orders ---- */

/* What those that run are told to do. */
struct orders_seen {
    unsigned runs, paused, cancelled;
    bool shown;
};

/* Core files are of one dispatch of a queue: this one. */
static bool shows(struct offer *o, const struct emu_queue *around)
{
    struct gpu_queue *q = o->q;
    pthread_mutex_lock(&q->shown.lock);
    bool wanted = q->shown.emu != NULL;
    if (wanted) {
        q->shown.dispatch = o->d;
        q->shown.dispatch.queue = around;
    }
    pthread_mutex_unlock(&q->shown.lock);
    return wanted;
}

/* Of its queue's, the one that has been under way longest. */
static bool is_oldest(const struct chip_run *r, const struct offer *o)
{
    const struct offer *p = r->first;
    while (p->q != o->q || p->state != RUNS_NOW)
        p = p->next;
    return p == o;
}

static struct orders_seen look(struct chip_run *r, bool show)
{
    struct orders_seen s = {0};
    pthread_mutex_lock(&r->gpu->chip.lock);
    for (struct offer *o = r->first; o; o = o->next) {
        struct gpu_queue *q = o->q;
        int order = cp_control(q);
        if (o->state != RUNS_NOW)
            continue;
        s.runs++;
        s.cancelled += order == EMU_CONTROL_CANCEL;
        s.paused += order == EMU_CONTROL_PAUSE;
        if (order != EMU_CONTROL_SHOW || !is_oldest(r, o))
            continue;
        s.shown |=
            !show || (shows(o, &o->around) &&
                      tm_show_launch(r->engine, o->number, &q->shown.inspector) > 0);
    }
    pthread_mutex_unlock(&r->gpu->chip.lock);
    return s;
}

static bool has_to_stand(const struct orders_seen *s)
{
    return !s->cancelled && (s->shown || s->paused == s->runs);
}

/* Who stands: all, or those that have to. */
static void say(struct chip_run *r, bool all)
{
    pthread_mutex_lock(&r->gpu->chip.lock);
    for (struct offer *o = r->first; o; o = o->next) {
        bool stands = all || cp_control(o->q) == EMU_CONTROL_PAUSE;
        if (o->state != RUNS_NOW)
            continue;
        if (!all)
            tm_hold(r->engine, o->number, stands);
        if (stands != atomic_load(&o->q->standing)) {
            atomic_store(&o->q->watch.threads, !stands);
            atomic_store(&o->q->standing, stands);
        }
    }
    pthread_mutex_unlock(&r->gpu->chip.lock);
}

/* The run stands still if all have to, until others come, or one is to be looked at. */
static void stand(struct chip_run *r)
{
    struct orders_seen s = look(r, true);
    uint64_t paused = gpu_clock(r->gpu);
    if (has_to_stand(&s))
        say(r, true);
    while (has_to_stand(&s)) {
        nap(STAND_NS);
        uint64_t now = gpu_clock(r->gpu);
        r->start += now - paused;
        paused = now;
        if (!s.shown && first_of(r, false)) {
            settle(r);
            join_all(r);
        }
        s = look(r, false);
    }
    say(r, false);
}

/* False: all are. */
static bool cancel(struct chip_run *r)
{
    bool left = false, shared = tm_is_shared(r->engine);
    pthread_mutex_lock(&r->gpu->chip.lock);
    for (struct offer *o = r->first; o; o = o->next) {
        if (o->state != RUNS_NOW)
            continue;
        if (cp_control(o->q) != EMU_CONTROL_CANCEL) {
            left = true;
        } else if (shared && !o->cancelled) {
            o->cancelled = true;
            tm_cancel(r->engine, o->number);
        }
    }
    pthread_mutex_unlock(&r->gpu->chip.lock);
    return left;
}

/* ---- a run ---- */

static bool go_on(void *ctx, uint64_t cycles)
{
    struct chip_run *r = ctx;
    gpu_clock_reach(&r->gpu->clock, r->start + cp_ticks(r->gpu, cycles));
    if (r->closing)
        return true;
    join_all(r);
    stand(r);
    return cancel(r);
}

static void ended(void *ctx, unsigned number, const struct tm_ended *how)
{
    struct chip_run *r = ctx;
    struct gpu *gpu = r->gpu;
    pthread_mutex_lock(&gpu->chip.lock);
    struct offer *o = r->first;
    bool others = false;
    while (o && (o->state != RUNS_NOW || o->number != number))
        o = o->next;
    for (const struct offer *k = r->first; k; k = k->next)
        others |= k != o && k->state == RUNS_NOW;
    pthread_mutex_unlock(&gpu->chip.lock);
    if (!o)
        return;
    o->how = *how;
    o->told = true;
    if (tm_is_shared(r->engine)) {
        struct tm_launch_seen seen;
        tm_launch_seen(r->engine, number, &seen);
        o->ticks =
            seen.first < 0 ? 0 : cp_ticks(gpu, (uint64_t)(seen.end - seen.first));
        o->end = r->start + cp_ticks(gpu, (uint64_t)seen.end);
        if (o->place)
            o->began = r->start + cp_ticks(gpu, (uint64_t)seen.begun);
    } else {
        o->ticks = cp_ticks(gpu, tm_span_cycles(r->engine));
        o->end = r->start + o->ticks;
    }
    o->end = o->end > o->start ? o->end : o->start;
    r->closing = how->over || !others;
    if (r->closing) /* who waits for it may take the memory away */
        return;
    finish(r, o);
    settle(r);
    join_all(r);
}

/* Those of whose end nobody has known, or that ended last. */
static void finish_all(struct chip_run *r, rd_status st)
{
    struct offer *o;
    do {
        pthread_mutex_lock(&r->gpu->chip.lock);
        for (o = r->first; o && o->state != RUNS_NOW;)
            o = o->next;
        pthread_mutex_unlock(&r->gpu->chip.lock);
        if (o && !o->told) {
            o->how.status = st == RD_OK ? RD_E_TIMEOUT : st;
            o->end = o->start;
        }
        if (o)
            finish(r, o);
    } while (o);
}

/* From one dispatch on until none is left that could go on. */
static void run(struct chip_run *r)
{
    struct gpu *gpu = r->gpu;
    r->closing = false;
    settle(r);
    struct offer *o = first_of(r, false);
    o = o ? o : first_of(r, true);
    if (cp_control(o->q) == EMU_CONTROL_CANCEL) {
        refuse(r, o, RD_E_TIMEOUT);
        return;
    }
    size_t n;
    struct tm_range *ranges = vm_ranges(vm_of(gpu, r->space), &n);
    struct tm_config config = {.sclk_mhz = gpu->sclk_mhz,
                               .have_cu_mask = r->masked,
                               .warm_code = o->launch.warm_code,
                               .warm_kernarg = o->launch.warm_kernarg,
                               .forget_waves = true,
                               .ranges = ranges,
                               .n_ranges = n,
                               .poll = go_on,
                               .poll_ctx = r,
                               .ended = ended};
    struct tm_engine *t = NULL;
    struct emu_fault fault = {0};
    memcpy(config.cu_mask, r->mask, sizeof r->mask);
    rd_status st = ranges ? tm_create(&config, &t) : RD_E_NOMEM;
    if (st == RD_OK) {
        r->start = o->start;
        r->engine = t;
        o->number = 0;
        prepare(r, o);
        st = tm_run_several(t, o->emu, &o->launch, 1, &fault, NULL);
        r->engine = NULL;
        tm_destroy(t);
        finish_all(r, st);
    } else {
        refuse(r, o, st);
    }
    free(ranges);
}

static void *main_of_run(void *arg)
{
    struct chip_run *r = arg;
    struct gpu_chip *chip = &r->gpu->chip;
    unsigned slot = 0;
    atomic_store(&r->tid, (pid_t)syscall(SYS_gettid));
    pthread_mutex_lock(&chip->lock); /* until whoever made this thread is done */
    while (r->first) {
        pthread_mutex_unlock(&chip->lock);
        run(r);
        pthread_mutex_lock(&chip->lock);
    }
    while (atomic_load(&runs[slot]) != r)
        slot++;
    atomic_store(&runs[slot], NULL);
    pthread_mutex_unlock(&chip->lock);
    free(r);
    return NULL;
}

/* ---- workers ---- */

/* chip.lock held. One that the dispatch may go to, or NULL. */
static struct chip_run *find(const struct offer *o, const struct chip_run *like)
{
    for (unsigned i = 0; i < RUNS; i++) {
        struct chip_run *r = atomic_load(&runs[i]);
        if (r && r->pid == like->pid && r->gpu == like->gpu && r->emu == o->emu &&
            r->space == like->space && r->priority == like->priority &&
            r->masked == like->masked &&
            memcmp(r->mask, like->mask, sizeof r->mask) == 0)
            return r;
    }
    return NULL;
}

/* chip.lock held. */
static struct chip_run *begin(const struct chip_run *like)
{
    unsigned slot = 0;
    for (struct chip_run *r; slot < RUNS && (r = atomic_load(&runs[slot])); slot++)
        if (r->pid != like->pid) /* those of a parent do not run here */
            break;
    struct chip_run *r = slot < RUNS ? malloc(sizeof *r) : NULL;
    pthread_t thread;
    if (!r)
        return NULL;
    memcpy(r, like, sizeof *r);
    if (gpu_thread(&thread, main_of_run, r, NAME) != RD_OK) {
        free(r);
        return NULL;
    }
    pthread_detach(thread);
    atomic_store(&runs[slot], r);
    return r;
}

static uint32_t priority_of(struct gpu_queue *q)
{
    pthread_mutex_lock(&q->lock);
    uint32_t priority = q->config.priority;
    pthread_mutex_unlock(&q->lock);
    return priority;
}

/* chip.lock held. False: no thread for it. */
static bool offer(struct offer *o)
{
    struct gpu_queue *q = o->q;
    struct chip_run like = {.gpu = q->gpu,
                            .space = q->space,
                            .emu = o->emu,
                            .priority = priority_of(q),
                            .pid = getpid()};
    like.masked = cp_cu_mask(q, like.mask);
    struct chip_run *r = find(o, &like);
    r = r ? r : begin(&like);
    if (!r)
        return false;
    struct offer **last = &r->first;
    while (*last)
        last = &(*last)->next;
    *last = o;
    return true;
}

/* Of one queue: those under way, and what became of those that have ended. */
struct group {
    struct gpu_queue *q;
    struct emu *emu;
    const struct emu_queue *around; /* of the first */
    struct offer *all;              /* not freed */
    unsigned n, live, number; /* number: of the group, for the engine their queue */
    uint64_t end;             /* of the last */
    rd_status status;
    struct emu_fault fault;
    struct emu_stats stats;
};

/* chip.lock held. One more is offered. */
static rd_status add(struct group *g, const struct emu_dispatch *d, uint64_t start)
{
    struct offer *o = malloc(sizeof *o);
    if (!o)
        return RD_E_NOMEM;
    *o = (struct offer){.q = g->q,
                        .emu = g->emu,
                        .d = *d,
                        .around = *d->queue,
                        .launch = cp_timed_warm(g->q, d),
                        .start = start,
                        .began = start,
                        .place = g->n,
                        .before = g->all};
    o->d.queue = &o->around;
    o->around.packet += g->n;
    o->launch.queue = g->number;
    if (!offer(o)) {
        free(o);
        return RD_E_NOMEM;
    }
    g->all = o;
    g->n++;
    g->live++;
    return RD_OK;
}

/* chip.lock held, and released meanwhile. One of them has ended. */
static void take(struct group *g, struct offer *o)
{
    struct gpu_chip *chip = &g->q->gpu->chip;
    struct emu_stats *sum = &g->stats;
    pthread_mutex_unlock(&chip->lock);
    cp_chip_moves(g->q);
    o->taken = true;
    g->live--;
    g->end = o->end > g->end ? o->end : g->end;
    sum->workgroups += o->how.stats.workgroups;
    sum->waves += o->how.stats.waves;
    sum->instructions += o->how.stats.instructions;
    cp_timed_count(g->q, &o->d, o->ticks);
    if (o->how.status == RD_OK && g->q->beside && g->status == RD_OK &&
        !g->q->beside->ended(g->q, o->place, o->began, o->end))
        g->status = RD_E_IO;
    if (o->how.status != RD_OK && g->status == RD_OK) {
        g->status = o->how.status;
        g->fault = o->how.fault;
        (void)shows(o, g->around);
    }
    pthread_mutex_lock(&chip->lock);
}

/* chip.lock held, and released meanwhile. Was there a packet that goes beside them?
 * Then others may have ended. */
static bool look_ahead(struct group *g, const struct emu_dispatch *first)
{
    struct gpu_queue *q = g->q;
    struct emu_dispatch d = *first;
    if (!q->beside || !atomic_load(&q->active) || g->status != RD_OK ||
        g->n == CP_BESIDE)
        return false;
    pthread_mutex_unlock(&q->gpu->chip.lock);
    atomic_store(&q->glanced, cp_bell(q));
    bool found = q->beside->next(q, &d);
    uint64_t now = gpu_clock(q->gpu);
    pthread_mutex_lock(&q->gpu->chip.lock);
    if (!found)
        return false;
    cp_chip_moves(q);
    g->status = add(g, &d, now > q->time ? now : q->time);
    return true;
}

/* chip.lock held. Until something may have happened. */
static void wait_for_some(const struct group *g)
{
    struct gpu_queue *q = g->q;
    struct gpu_chip *chip = &q->gpu->chip;
    struct timespec t;
    bool looks = q->beside && g->status == RD_OK && g->n < CP_BESIDE;
    cp_chip_rests(q);
    atomic_store(&q->offered, looks ? CP_OFFERED_LOOKS : CP_OFFERED);
    if (!looks) {
        pthread_cond_wait(&chip->ended, &chip->lock);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += RING_NS;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&chip->ended, &chip->lock, &t);
}

rd_status cp_chip_run(struct gpu_queue *q, struct emu *emu,
                      const struct emu_dispatch *d, struct emu_fault *fault,
                      struct emu_stats *stats)
{
    struct gpu_chip *chip = &q->gpu->chip;
    struct group g = {.q = q, .emu = emu, .around = d->queue, .end = q->time};
    cp_chip_moves(q);
    pthread_mutex_lock(&chip->lock);
    g.number = chip->groups++;
    g.status = add(&g, d, q->time);
    while (g.live) {
        struct offer *o = g.all;
        while (o && (o->state != ENDED || o->taken))
            o = o->before;
        if (o)
            take(&g, o);
        else if (!look_ahead(&g, d))
            wait_for_some(&g);
    }
    pthread_mutex_unlock(&chip->lock);
    cp_chip_moves(q);
    for (struct offer *o = g.all, *before; o; o = before) {
        before = o->before;
        free(o);
    }
    *fault = g.fault;
    *stats = g.stats;
    cp_spend(q, g.end - q->time);
    return g.status;
}

void gpu_chip_destroy(struct gpu *gpu)
{
    bool any = true;
    while (any) {
        any = false;
        pthread_mutex_lock(&gpu->chip.lock);
        for (unsigned i = 0; i < RUNS; i++) {
            const struct chip_run *r = atomic_load(&runs[i]);
            any |= r && r->pid == getpid() && r->gpu == gpu;
        }
        pthread_mutex_unlock(&gpu->chip.lock);
        if (any)
            nap(NAP_NS);
    }
}

/* ---- signal handlers ---- */

bool cp_chip_thread(struct gpu_queue **q)
{
    char name[17] = "";
    *q = NULL;
    if (prctl(PR_GET_NAME, name, 0ul, 0ul, 0ul) != 0 || strcmp(name, NAME) != 0)
        return false;
    pid_t me = (pid_t)syscall(SYS_gettid);
    for (unsigned i = 0; i < RUNS; i++) {
        struct chip_run *r = atomic_load(&runs[i]);
        struct tm_engine *t = r && atomic_load(&r->tid) == me ? r->engine : NULL;
        unsigned number = t ? tm_at_turn(t) : 0;
        for (struct offer *o = t ? r->first : NULL; o; o = o->next)
            if (o->state == RUNS_NOW && o->number == number)
                *q = o->q;
    }
    return true;
}
