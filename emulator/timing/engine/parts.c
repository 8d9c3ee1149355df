/* parts.c: a run in parts, each of some shader engines, by several threads.
 *
 * What WGPs do by themselves in a window (windows.c) the parts do at the same time, one
 * thread a part at a time, and there are at most as many as threads: what an
 * instruction costs is counted by part, and would not fit a core's caches by engine;
 * what they stop at is taken by one thread, and memory is asked between windows. Must
 * not know what an event means. Invariant: cycles are those of a run in one part,
 * whatever the number of threads.
 *
 * SPDX-License-Identifier: MIT
 */
#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "windows.h"

/* So often a thread looks whether it has something to do before it sleeps: some tens of
 * microseconds, what a round takes. Then, for a millisecond or two, it lets others have
 * its processor in between: to wake one that sleeps takes the caller a system call and
 * tens of microseconds. */
#define LOOKS  512
#define YIELDS 4096

/* Who works: helpers wait for a new round, the caller until all parts of it are done.
 * Who comes late finds none left, and nobody waits for it. */
struct crew {
    struct tm_windows windows; /* first: a crew is what its windows are of */
    pthread_mutex_t lock;
    pthread_cond_t begins, over;
    pthread_t helper[TM_MAX_SES];
    unsigned helpers, looks, n_parts;
    unsigned part_of[TM_MAX_SES]; /* n_parts: the engine is not used */
    atomic_uint numbers;          /* of helpers that have begun */
    atomic_uint round;
    atomic_bool quit;
    atomic_uint taken[TM_MAX_SES]; /* the last round in which somebody took the part */
    atomic_uint begun, done;       /* parts of this round */
    tm_windows_job *job;           /* of it */
};

/* ---- threads ---- */

static void take_part(struct crew *s, unsigned part, unsigned round)
{
    unsigned before = round - 1;
    if (!atomic_compare_exchange_strong(&s->taken[part], &before, round))
        return;
    atomic_fetch_add(&s->begun, 1);
    for (unsigned se = 0; se < s->windows.all->chip.n_ses; se++)
        if (s->part_of[se] == part)
            s->job(&s->windows, se);
    if (atomic_load(&s->begun) == s->n_parts) /* none is left for the thread */
        atomic_store_explicit(&s->windows.waited_for, true, memory_order_relaxed);
    if (atomic_fetch_add(&s->done, 1) + 1 < s->n_parts)
        return;
    pthread_mutex_lock(&s->lock);
    pthread_cond_signal(&s->over);
    pthread_mutex_unlock(&s->lock);
}

/* The one that the thread had before, which lies in its host core's caches; then what
 * is left of the others'. */
static void take_parts(struct crew *s, unsigned thread, unsigned round)
{
    take_part(s, thread, round);
    for (unsigned i = s->n_parts; i-- > 0;)
        take_part(s, i, round);
}

static void rest(unsigned k)
{
    if (k < LOOKS)
        _mm_pause();
    else
        (void)sched_yield();
}

static bool has_begun(const struct crew *s, unsigned seen)
{
    return atomic_load(&s->round) != seen || atomic_load(&s->quit);
}

static bool is_over(const struct crew *s)
{
    return atomic_load(&s->done) == s->n_parts;
}

static void *help(void *context)
{
    struct crew *s = context;
    unsigned seen = 0, thread = atomic_fetch_add(&s->numbers, 1) + 1;
    while (!atomic_load(&s->quit)) {
        for (unsigned k = 0; k < s->looks && !has_begun(s, seen); k++)
            rest(k);
        pthread_mutex_lock(&s->lock);
        while (!has_begun(s, seen))
            pthread_cond_wait(&s->begins, &s->lock);
        pthread_mutex_unlock(&s->lock);
        seen = atomic_load(&s->round);
        take_parts(s, thread, seen);
    }
    return NULL;
}

static void all_do(struct tm_windows *windows, tm_windows_job *job)
{
    struct crew *s = (struct crew *)windows;
    pthread_mutex_lock(&s->lock);
    s->job = job;
    atomic_store(&s->begun, 0);
    atomic_store(&s->done, 0);
    atomic_store(&s->windows.waited_for, false);
    unsigned round = atomic_fetch_add(&s->round, 1) + 1;
    pthread_cond_broadcast(&s->begins);
    pthread_mutex_unlock(&s->lock);
    take_parts(s, 0, round);
    for (unsigned k = 0; k < s->looks && !is_over(s); k++)
        rest(k);
    pthread_mutex_lock(&s->lock);
    while (!is_over(s))
        pthread_cond_wait(&s->over, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

static void begin_threads(struct crew *s)
{
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->begins, NULL);
    pthread_cond_init(&s->over, NULL);
    s->looks = sysconf(_SC_NPROCESSORS_ONLN) < (long)s->n_parts ? 0 : LOOKS + YIELDS;
    while (s->helpers + 1 < s->n_parts &&
           pthread_create(&s->helper[s->helpers], NULL, help, s) == 0)
        s->helpers++; /* with fewer it takes longer */
}

static void end_threads(struct crew *s)
{
    pthread_mutex_lock(&s->lock);
    atomic_store(&s->quit, true);
    pthread_cond_broadcast(&s->begins);
    pthread_mutex_unlock(&s->lock);
    for (unsigned i = 0; i < s->helpers; i++)
        pthread_join(s->helper[i], NULL);
    pthread_cond_destroy(&s->over);
    pthread_cond_destroy(&s->begins);
    pthread_mutex_destroy(&s->lock);
}

/* ---- beginning and end ---- */

static rd_status make_part(struct tm_engine *all, unsigned number)
{
    struct tm_engine *t = malloc(sizeof *t);
    if (!t)
        return RD_E_NOMEM;
    *t = *all;
    t->number = number;
    all->part[number] = t;
    return RD_OK;
}

/* Engines that are used go round the parts, so many at most. */
static rd_status make_parts(struct crew *s, unsigned parts)
{
    struct tm_engine *all = s->windows.all;
    unsigned used = 0;
    rd_status st = RD_OK;
    for (unsigned se = 0; se < all->chip.n_ses; se++)
        used += all->dispatcher[se].used;
    s->n_parts = parts < used ? parts : used;
    for (unsigned k = 0; k < s->n_parts && st == RD_OK; k++)
        st = make_part(all, k);
    for (unsigned se = 0, k = 0; se < all->chip.n_ses; se++) {
        bool is_used = all->dispatcher[se].used;
        s->part_of[se] = is_used ? k : s->n_parts;
        s->windows.of[se] = is_used ? all->part[k] : NULL;
        if (is_used)
            k = k + 1 < s->n_parts ? k + 1 : 0;
    }
    return st;
}

static void add_counts(struct tm_chip *to, const struct tm_chip *from)
{
    to->issues.all += from->issues.all;
    to->issues.skipped += from->issues.skipped;
    to->issues.in_runs += from->issues.in_runs;
    to->issues.loads_postponed += from->issues.loads_postponed;
    for (unsigned c = 0; c < TM_CLASSES; c++)
        to->issues.of_class[c] += from->issues.of_class[c];
    to->lds.active += from->lds.active;
    to->lds.conflict += from->lds.conflict;
}
/* Accounts of an instruction. */
static void add_account(struct tm_inst *to, const struct tm_inst *from)
{
    to->passed += from->passed;
    to->conflicts += from->conflicts;
    for (unsigned k = 0; k < TM_STALLS; k++)
        to->stall[k] += from->stall[k];
    tm_asked_add(&to->asked, &from->asked, 1);
    for (unsigned n = 0; n < from->n_blames; n++)
        tm_blame(to, &from->blame[n]);
}

/* The part's instructions become those of all, or are added to them. */
static rd_status join_insts(struct tm_engine *all, struct tm_engine *t)
{
    if (all->insts.cap < all->insts.numbers.n) {
        all->insts.inst = calloc(all->insts.numbers.n, sizeof(*all->insts.inst));
        if (!all->insts.inst)
            return RD_E_NOMEM;
        all->insts.cap = all->insts.numbers.n;
    }
    for (size_t i = 0; i < t->insts.cap; i++) {
        if (t->insts.inst[i] && all->insts.inst[i]) {
            add_account(all->insts.inst[i], t->insts.inst[i]);
            free(t->insts.inst[i]);
        } else if (t->insts.inst[i]) {
            all->insts.inst[i] = t->insts.inst[i];
        }
    }
    return RD_OK;
}

static rd_status join_part(struct tm_engine *all, struct tm_engine *t)
{
    rd_status st = join_insts(all, t);
    add_counts(&all->chip, &t->chip);
    all->chip.b.now = tm_max(all->chip.b.now, t->chip.b.now);
    all->totals.flops_more += t->totals.flops_more;
    tm_events_destroy(&t->events);
    free(t->insts.inst);
    free(t->insts.at);
    free(t);
    return st;
}

rd_status tm_join_parts(struct tm_engine *all)
{
    rd_status st = RD_OK;
    for (unsigned i = 0; i < TM_MAX_SES; i++)
        if (all->part[i]) {
            rd_status joined = join_part(all, all->part[i]);
            st = st == RD_OK ? joined : st;
            all->part[i] = NULL;
        }
    return st;
}

rd_status tm_run_parts(struct tm_engine *all, unsigned threads)
{
    if (threads < 2 || all->several || !tm_windows_can(all) ||
        all->pace.next != INT64_MAX || all->group_step < 2)
        return RD_E_BUSY;
    unsigned parts = threads < all->chip.n_ses ? threads : all->chip.n_ses;
    rd_status st = emu_stepper_divide(all->stepper, parts);
    struct crew *s = st == RD_OK ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return st == RD_OK ? RD_E_NOMEM : st;
    st = tm_windows_begin(&s->windows, all);
    s->windows.several = true;
    s->windows.all_do = all_do;
    if (st == RD_OK)
        st = make_parts(s, parts);
    if (st == RD_OK) {
        begin_threads(s);
        st = tm_windows_run(&s->windows);
        end_threads(s);
    }
    st = tm_windows_end(&s->windows, st);
    free(s);
    return st;
}
