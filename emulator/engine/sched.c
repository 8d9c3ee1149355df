/* sched.c: workgroups on threads; the waves of each take turns in turns.c.
 *
 * Rules that keep runs repeatable and alive:
 *  1. Waves of a workgroup take turns (turns.c), so a wave that spins on another one
 *     cannot starve it.
 *  2. Resident workgroups take turns of GROUP_BUDGET instructions; each time one has
 *     used up GROUP_PATIENCE, or sleeps, another is started, up to what the real chip
 *     would hold.
 *     So workgroups that wait for one another make progress on a single host thread,
 *     and ones that do not run nearly one after the other.
 *     Where observers want them mixed, MIXED_GROUPS take turns of many lengths in
 *     any order, as soon as their code shows that it matters; more only as said, for
 *     each GROUP_BUDGET that one has spent in turns.
 *  3. If the code has atomics whose result shows the order of workgroups, one thread
 *     runs them all (emu_config.unordered lifts that); everything else may run on all
 *     threads without changing any result.
 *     So order never depends on time; how long a thread rests may (doze).
 *  4. After a fault only workgroups with lower numbers go on: the first fault in
 *     workgroup order is the one that is reported.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "context.h"
#include "dispatch.h"
#include "look.h"
#include "native.h"
#include "observe.h"
#include "step.h"
#include "zeros.h"

/* Instructions that are worth waking other threads, and what the start of a wave is
 * worth. */
#define CREW_INSTS 8192u
#define WAVE_START 64u
#define STANDS_NS  50000 /* between looks at a workgroup that stands */

/* A thread all of whose workgroups are asleep (resident_sleeps) rests between rounds,
 * for a part of the time for which they have been, up to a maximum. */
#define DOZE_PART   16u
#define DOZE_MIN_NS 50000u
#define DOZE_MAX_NS 2000000u

/* Portions of workgroups that a thread takes in all at least, and the largest. */
#define PORTIONS    64u
#define PORTION_MAX 16u

/* ---- workgroups --------------------------------------------------------------------
 */

struct worker {
    struct dispatch *dp;
    struct resident *head, **tail; /* in flight, in turn order */
    struct resident *idle;         /* memory to use again */
    uint64_t next, end;            /* workgroups it has taken and not started yet */
    unsigned n;
    uint64_t turns; /* of mixed ones */
    struct emu_stats stats;
    struct op_counts *counts;
    struct zeros zeros;
    bool puts_off;         /* its waves put zeros off: */
    uint64_t insts_before; /* that it had run when it began to, */
    uint64_t try_at;       /* workgroups after which it is tried again, */
    uint64_t wait;         /* so many after having been tried in vain */
    rd_status status;
    bool helper;          /* came with the crew */
    unsigned slept;       /* turns, one behind the other, of workgroups asleep */
    uint64_t asleep_from; /* ns: the end of the first round of such turns; 0: none */
};

static void watch_begin(const struct dispatch *dp)
{
    struct emu_watch *w = dp->d->watch;
    if (!w)
        return;
    atomic_store(&w->threads, 0);
    atomic_store(&w->waves, 0);
    w->waves_per_group = dp->waves_per_group;
    w->vgprs = dp->n_vgprs;
    w->lanes = dp->d->wave64 ? 64 : 32;
    w->lds_bytes = dp->d->lds_bytes;
}

/* The thread goes on (come), or ends or pauses with the workgroups that it has. */
static void watch_thread(const struct worker *k, bool come)
{
    struct emu_watch *w = k->dp->d->watch;
    uint32_t n = 0;
    if (!w)
        return;
    for (const struct resident *r = k->head; r; r = r->next)
        n += r->group.n_waves;
    atomic_fetch_add(&w->waves, come ? 0u - n : n);
    atomic_fetch_add(&w->threads, come ? 1u : 0u - 1u);
}

/* ---- zeros that are put off (zeros.h) -----------------------------------------------
 */

#define FIRST_WAIT 64u

/* Before a workgroup starts: is it time to try? */
static void try_zeros(struct worker *k)
{
    if (!k->dp->puts_off || k->puts_off || k->stats.workgroups < k->try_at)
        return;
    k->puts_off = true;
    k->insts_before = k->stats.instructions;
    zeros_begin(&k->zeros, &k->dp->emu->config);
}

/* Those that were put off during r's turn are written, or left out for good. */
static void settle_zeros(struct worker *k, struct resident *r)
{
    uint64_t insts = k->stats.instructions - k->insts_before;
    for (unsigned i = 0; i < r->group.n_waves; i++)
        insts += r->waves[i].n_insts;
    zeros_flush(&k->zeros);
    if (zeros_pay(&k->zeros, insts))
        return;
    k->puts_off = false;
    k->wait = k->wait ? 2 * k->wait : FIRST_WAIT;
    k->try_at = k->stats.workgroups + k->wait;
    group_write_zeros(&r->group);
    for (struct resident *other = k->head; other; other = other->next)
        group_write_zeros(&other->group);
}

/* Take the next workgroups from those that nobody has, if k has none left. */
static bool take_numbers(struct worker *k)
{
    struct dispatch *dp = k->dp;
    uint64_t limit = atomic_load(&dp->fault_limit);
    if (k->next == k->end) {
        if (atomic_load(&dp->next) >= dp->n_groups || atomic_load(&dp->next) > limit)
            return false;
        k->next = atomic_fetch_add(&dp->next, dp->portion);
        k->end = k->next + dp->portion;
        if (k->end > dp->n_groups)
            k->end = dp->n_groups;
        if (k->next > k->end)
            k->next = k->end;
    }
    return k->next < k->end && k->next <= limit;
}

static bool start_next(struct worker *k)
{
    struct dispatch *dp = k->dp;
    if (k->n >= dp->max_resident || k->status != RD_OK || !take_numbers(k))
        return false;
    uint64_t number = k->next;
    struct resident *r = k->idle;
    if (r)
        k->idle = r->next;
    else if ((k->status = resident_create(dp, &r)) != RD_OK)
        return false;
    k->next++;
    resident_launch(dp, r, number);
    try_zeros(k);
    for (unsigned i = 0; i < r->group.n_waves; i++) {
        r->waves[i].counts = k->counts;
        r->waves[i].zeros = k->puts_off ? &k->zeros : NULL;
    }
    if (dp->observation)
        k->status = observe_group_new(dp->observation, &r->group, NULL);
    r->next = NULL;
    *k->tail = r;
    k->tail = &r->next;
    k->n++;
    return true;
}

static struct resident *take_first(struct worker *k)
{
    struct resident *r = k->head;
    if (!r)
        return NULL;
    k->head = r->next;
    if (!k->head)
        k->tail = &k->head;
    k->n--;
    return r;
}

/* Where they are mixed, one of the first: each is fast here and slow there. */
static struct resident *take_mixed(struct worker *k)
{
    unsigned n = k->n < MIXED_GROUPS ? k->n : MIXED_GROUPS;
    struct resident **at = &k->head, *r;
    for (unsigned i = (unsigned)(mix(k->turns++ + k->dp->emu->config.seed) % n); i; i--)
        at = &(*at)->next;
    r = *at;
    *at = r->next;
    if (!r->next)
        k->tail = at;
    k->n--;
    return r;
}

/* Code is decoded when it is first called, so whether they are mixed turns out while
 * they run, of the first ones soon. */
static void look_for_mix(struct dispatch *dp)
{
    const struct program *p = dp->programs.first;
    if (!dp->may_mix || dp->mixes)
        return;
    dp->mixes = p->order_matters || p->polls;
    dp->turns_mix = dp->mixes || p->lds_atomics || p->sleeps;
}

/* What a turn counts as. */
static unsigned budget_of(const struct worker *k, const struct resident *r)
{
    bool first = k->dp->may_mix && r->number < MIXED_GROUPS && r->spent < GROUP_BUDGET;
    if (k->dp->mixes)
        return MIXED_COUNT;
    return first ? MIXED_BUDGET : GROUP_BUDGET;
}

static unsigned mixed_budget(const struct worker *k)
{
    return (unsigned)mixed_length(~(k->turns + k->dp->emu->config.seed), MIXED_SHORTEST,
                                  MIXED_LONGEST);
}

static void report_fault(struct dispatch *dp, const struct resident *r)
{
    pthread_mutex_lock(&dp->lock);
    if (r->number < atomic_load(&dp->fault_limit) ||
        (dp->fault.kind == EMU_FAULT_NONE &&
         r->number == atomic_load(&dp->fault_limit))) {
        atomic_store(&dp->fault_limit, r->number);
        dp->fault = r->group.fault;
    }
    pthread_mutex_unlock(&dp->lock);
}

/* Show a workgroup that will not go on to whoever wants to see it. */
static void inspect(struct dispatch *dp, const struct resident *r)
{
    const struct emu_inspector *who = dp->d->inspector;
    const struct workgroup *g = &r->group;
    if (!who)
        return;
    pthread_mutex_lock(&dp->lock);
    who->group_begin(who->ctx, g->number, g->n_waves,
                     g->fault.kind == EMU_FAULT_NONE ? NULL : &g->fault);
    for (unsigned i = 0; i < g->n_waves; i++) {
        struct wave *w = g->waves[i];
        if (w->fresh)
            wave_fill(w);
        observe_identify(w);
        who->wave(who->ctx, &w->info);
    }
    pthread_mutex_unlock(&dp->lock);
}

static void retire(struct worker *k, struct resident *r)
{
    k->stats.workgroups++;
    k->stats.waves += r->group.n_waves;
    uint64_t insts = 0;
    for (unsigned i = 0; i < r->group.n_waves; i++)
        insts += r->waves[i].n_insts;
    k->stats.instructions += insts;
    if (k->dp->lengths)
        k->dp->lengths[r->number] = insts < UINT32_MAX ? (uint32_t)insts : UINT32_MAX;
    if (k->dp->observation)
        observe_group_gone(&r->group);
    r->next = k->idle;
    k->idle = r;
}

void dispatch_count(struct dispatch *dp, struct op_counts *counts)
{
    if (!counts)
        return;
    counts_flush(counts);
    if (dp->emu->native)
        native_count(dp->emu->native, counts);
    for (unsigned op = 0; op < ISA_OP_COUNT; op++) {
        if (dp->emu->counts)
            atomic_fetch_add(&dp->emu->counts[op], counts->op[op]);
        if (dp->d->executed)
            __atomic_fetch_add(&dp->d->executed[op], counts->op[op], __ATOMIC_RELAXED);
    }
    free(counts);
}

static void finish_worker(struct worker *k)
{
    struct dispatch *dp = k->dp;
    while (k->head) {
        struct resident *r = take_first(k);
        inspect(dp, r);
        resident_destroy(dp, r);
    }
    while (k->idle) {
        struct resident *r = k->idle;
        k->idle = r->next;
        resident_destroy(dp, r);
    }
    pthread_mutex_lock(&dp->lock);
    dp->stats.workgroups += k->stats.workgroups;
    dp->stats.waves += k->stats.waves;
    dp->stats.instructions += k->stats.instructions;
    if (dp->status == RD_OK)
        dp->status = k->status;
    pthread_mutex_unlock(&dp->lock);
    dispatch_count(dp, k->counts);
}

/* Another thread writes it. */
static int order_of(const struct dispatch *dp)
{
    return __atomic_load_n(dp->d->control, __ATOMIC_RELAXED);
}

static bool stands_still(int order)
{
    return order == EMU_CONTROL_PAUSE || order == EMU_CONTROL_SHOW ||
           order == EMU_CONTROL_SAVE;
}

/* Obey whoever started the dispatch: stand still, or give up (false). */
static bool may_run(const struct worker *k)
{
    const struct timespec nap = {0, 200000};
    struct dispatch *dp = k->dp;
    if (dp->observation && observation_cancelled(dp->observation))
        return false;
    if (!dp->d->control)
        return true;
    int order = order_of(dp);
    if (stands_still(order)) {
        for (const struct resident *r = order == EMU_CONTROL_SHOW ? k->head : NULL; r;
             r = r->next)
            inspect(dp, r);
        if (order == EMU_CONTROL_SAVE)
            contexts_save(k->head);
        watch_thread(k, false);
        if (k->helper)
            crew_pause(&dp->crew, true);
        while (stands_still(order)) {
            nanosleep(&nap, NULL);
            order = order_of(dp);
        }
        contexts_restore(k->head);
        if (k->helper)
            crew_pause(&dp->crew, false);
        watch_thread(k, true);
    }
    return order != EMU_CONTROL_CANCEL;
}

/* Call the others once what is left will take longer than they need to wake up: a wave
 * that starts counts like some instructions. */
static void call_crew(struct worker *k, enum group_state state)
{
    struct dispatch *dp = k->dp;
    uint64_t next = atomic_load(&dp->next);
    if (k->helper || dp->crew.called || !dp->n_helpers || next >= dp->n_groups)
        return;
    uint64_t left = dp->n_groups - next, done = k->stats.workgroups;
    uint64_t spent = k->stats.instructions + WAVE_START * k->stats.waves;
    if (state == GROUP_RUNNING || spent * left >= CREW_INSTS * done)
        crew_call(&dp->crew, left < dp->n_helpers ? (unsigned)left : dp->n_helpers);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* After a turn of a workgroup, which is asleep or not. Where all of a thread's are,
 * somebody else writes what they wait for: the host, another queue, another thread. */
static void doze(struct worker *k, bool slept)
{
    k->slept = slept ? k->slept + 1 : 0;
    if (!slept)
        k->asleep_from = 0;
    if (!slept || k->slept < k->n)
        return;
    uint64_t now = now_ns();
    k->slept = 0;
    if (!k->asleep_from)
        k->asleep_from = now;
    uint64_t ns = (now - k->asleep_from) / DOZE_PART;
    if (ns >= DOZE_MIN_NS)
        nanosleep(&(struct timespec){0, (long)(ns < DOZE_MAX_NS ? ns : DOZE_MAX_NS)},
                  NULL);
}

/* Is there a workgroup to run? */
static bool start_some(struct worker *k)
{
    if (!k->head && !start_next(k))
        return false;
    while (k->dp->mixes && k->n < MIXED_GROUPS && start_next(k))
        ;
    return true;
}

/* A turn of so many instructions has not ended the workgroup. */
static void go_on_later(struct worker *k, struct resident *r, enum group_state state,
                        unsigned budget)
{
    r->next = NULL;
    *k->tail = r;
    k->tail = &r->next;
    k->n++;
    bool judged = resident_judged(r, budget);
    bool slept = judged && state == GROUP_RUNNING && resident_sleeps(r);
    if (judged && resident_wants_others(r) && start_next(k))
        slept = false;
    call_crew(k, state);
    if (judged)
        doze(k, slept);
}

static void worker_run(struct worker *k)
{
    struct dispatch *dp = k->dp;
    k->tail = &k->head;
    watch_thread(k, true);
    if (dispatch_counts(dp))
        k->counts = calloc(1, sizeof *k->counts);
    for (;;) {
        if (!may_run(k)) {
            k->status = RD_E_TIMEOUT;
            break;
        }
        look_for_mix(dp);
        if (!start_some(k))
            break;
        struct resident *r = dp->mixes ? take_mixed(k) : take_first(k);
        if (r->number > atomic_load(&dp->fault_limit)) {
            inspect(dp, r);
            retire(k, r);
            continue;
        }
        unsigned budget = budget_of(k, r);
        r->group.mixed = dp->turns_mix;
        enum group_state state = group_run(r, dp->mixes ? mixed_budget(k) : budget);
        if (k->puts_off)
            settle_zeros(k, r);
        if (state == GROUP_STANDS)
            nanosleep(&(struct timespec){0, STANDS_NS}, NULL);
        if (state == GROUP_RUNNING || state == GROUP_STANDS) {
            go_on_later(k, r, state, budget);
            continue;
        }
        if (state == GROUP_FAULT) {
            report_fault(dp, r);
            inspect(dp, r);
        }
        retire(k, r);
        call_crew(k, state);
    }
    finish_worker(k);
    watch_thread(k, false);
}

static void help(void *arg)
{
    struct worker k = {.dp = arg, .helper = true};
    worker_run(&k);
}

static unsigned thread_count(const struct dispatch *dp)
{
    unsigned n = dp->emu->config.threads;
    if (dp->observation ||
        (dp->programs.first->order_matters && !dp->emu->config.unordered))
        return 1;
    if (!n)
        n = dp->emu->host_cpus;
    if (n > 256)
        n = 256;
    return n > dp->n_groups ? (unsigned)dp->n_groups : n;
}

/* Threads take several workgroups at once where there are many for each: what they
 * count together travels between the host's caches. */
static uint64_t portion(const struct dispatch *dp, unsigned threads)
{
    uint64_t n = dp->n_groups / threads / PORTIONS;
    return threads == 1 || n < 1 ? 1 : n > PORTION_MAX ? PORTION_MAX : n;
}

static rd_status run_threads(struct dispatch *dp, unsigned n)
{
    struct worker k = {.dp = dp};
    dp->n_helpers = n - 1;
    dp->portion = portion(dp, n);
    crew_begin(dp->emu->workers, &dp->crew, help, dp);
    worker_run(&k);
    crew_end(&dp->crew);
    return dp->status;
}

/* Fewer waves than these are not worth asking whether they put zeros off. */
#define MANY_WAVES 256u

static bool puts_zeros_off(const struct dispatch *dp)
{
    const struct program *p = dp->programs.first;
    return dp->emu->config.sparse && !dp->observation && !p->exceptions &&
           dp->n_groups * dp->waves_per_group >= MANY_WAVES &&
           program_only_stores(p, dp->entry);
}

/* ---- the public call ----------------------------------------------------------------
 */

static rd_status check_shape(const struct emu_dispatch *d)
{
    uint64_t groups = 1, items = 1;
    for (unsigned i = 0; i < 3; i++) {
        if (!d->groups[i] || !d->block[i] || d->block[i] > 1024)
            return RD_E_INVALID;
        if (d->items[i] && (d->items[i] > (uint64_t)d->groups[i] * d->block[i] ||
                            d->items[i] <= (uint64_t)(d->groups[i] - 1) * d->block[i]))
            return RD_E_INVALID;
        if (__builtin_mul_overflow(groups, d->groups[i], &groups))
            return RD_E_INVALID;
        items *= d->block[i];
    }
    if (items > 1024 || d->lds_bytes > 65536 || d->n_user_sgprs > 32 ||
        d->scratch_bytes > (1u << 24) || d->scratch_bytes % 4)
        return RD_E_INVALID;
    return RD_OK;
}

/* What the chip holds at once: 192 SIMDs of 16 wave slots and 1536 VGPRs (wave32),
 * 48 WGPs of 128 KiB LDS. */
unsigned dispatch_resident_limit(const struct dispatch *dp, unsigned threads)
{
    unsigned vgprs = dp->n_vgprs * (dp->d->wave64 ? 2 : 1);
    unsigned per_simd = 1536 / (vgprs ? vgprs : 1);
    unsigned waves = 192u * (per_simd > 16 ? 16 : per_simd ? per_simd : 1);
    unsigned groups = waves / dp->waves_per_group;
    unsigned by_lds = dp->d->lds_bytes ? 48u * 131072u / dp->d->lds_bytes : groups;
    groups = by_lds < groups ? by_lds : groups;
    return groups > threads ? groups / threads : 1;
}

rd_status dispatch_prepare(struct dispatch *dp)
{
    const struct emu_dispatch *d = dp->d;
    rd_status st = check_shape(d);
    if (st != RD_OK)
        return st;
    unsigned width = d->wave64 ? 64 : 32;
    dp->n_groups = (uint64_t)d->groups[0] * d->groups[1] * d->groups[2];
    dp->waves_per_group = (d->block[0] * d->block[1] * d->block[2] + width - 1) / width;
    dp->n_vgprs = ((d->rsrc1 & 63u) + 1) * (d->wave64 ? 4 : 8);
    if (dp->n_vgprs > WAVE_VGPRS)
        dp->n_vgprs = WAVE_VGPRS;
    struct program_kind kind = {.wave64 = d->wave64,
                                .exceptions = d->rsrc2 >> 24 & TRAPSTS_MATH,
                                .n_vgprs = dp->n_vgprs};
    st = program_set_open(&dp->programs, dp->emu->code, d->entry, kind);
    if (st != RD_OK) {
        dp->fault = (struct emu_fault){
            .kind = EMU_FAULT_FETCH, .pc = d->entry, .lane = -1, .address = d->entry};
        return st == RD_E_NOT_FOUND ? RD_E_FAULT : st;
    }
    dp->entry = program_at(dp->programs.first, d->entry);
    launch_prepare(dp);
    atomic_store(&dp->fault_limit, UINT64_MAX);
    pthread_mutex_init(&dp->lock, NULL);
    native_begin(dp->emu->native);
    return RD_OK;
}

void dispatch_finish(struct dispatch *dp)
{
    native_end(dp->emu->native);
    pthread_mutex_destroy(&dp->lock);
    program_set_close(&dp->programs);
}

void dispatch_add_stats(const struct dispatch *dp, struct emu_stats *stats)
{
    stats->dispatches++;
    stats->workgroups += dp->stats.workgroups;
    stats->waves += dp->stats.waves;
    stats->instructions += dp->stats.instructions;
    uint64_t peak = atomic_load(&dp->peak_waves);
    if (peak > stats->peak_resident_waves)
        stats->peak_resident_waves = peak;
}

rd_status dispatch_observe(struct dispatch *dp, bool stepper)
{
    const struct program *p = dp->programs.first;
    struct emu_launch launch = {.dispatch = dp->d,
                                .code_base = p->base,
                                .code_bytes = p->bytes,
                                .n_groups = dp->n_groups,
                                .waves_per_group = dp->waves_per_group,
                                .lanes = dp->d->wave64 ? 64 : 32,
                                .vgprs = dp->n_vgprs};
    return observation_begin(dp->emu, &launch, stepper, &dp->observation);
}

/* The table of native code that every wave begins with. */
static struct native_table *first_table(const struct dispatch *dp)
{
    struct wave first = dp->first;
    first.program = dp->programs.first;
    return native_table(dp->emu->native, &first);
}

static rd_status run_prepared(struct dispatch *dp)
{
    rd_status st = dispatch_observe(dp, false);
    if (st != RD_OK)
        return st;
    unsigned threads = thread_count(dp);
    watch_begin(dp);
    dp->max_resident = dispatch_resident_limit(dp, threads);
    dp->puts_off = puts_zeros_off(dp);
    dp->may_mix = dp->observation && dp->observation->want & EMU_WANT_MIX;
    if (!dp->observation && !dispatch_counts(dp)) /* else each looks for its own */
        dp->native = first_table(dp);
    st = run_threads(dp, threads);
    bool ended = dp->observation && observation_cancelled(dp->observation);
    if ((st == RD_OK || ended) && dp->fault.kind != EMU_FAULT_NONE)
        st = RD_E_FAULT; /* an observer that has foreseen it does not hide it */
    observation_end(dp->observation, st);
    return st;
}

rd_status emu_run(struct emu *emu, const struct emu_dispatch *d,
                  struct emu_fault *fault, struct emu_stats *stats)
{
    return emu_run_lengths(emu, d, NULL, fault, stats);
}

rd_status emu_run_lengths(struct emu *emu, const struct emu_dispatch *d,
                          uint32_t *lengths, struct emu_fault *fault,
                          struct emu_stats *stats)
{
    struct dispatch dp = {.emu = emu, .d = d, .lengths = lengths};
    rd_status st = dispatch_prepare(&dp);
    if (st == RD_OK) {
        st = run_prepared(&dp);
        dispatch_finish(&dp);
    }
    if (fault && st == RD_E_FAULT)
        *fault = dp.fault;
    if (stats)
        dispatch_add_stats(&dp, stats);
    return st;
}
