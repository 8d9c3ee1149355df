/* check.c: the checkers' place in the emulator: who runs, which checkers see what.
 *
 * Must not know what is a mistake. Invariants: a wave's record lives as long as its
 * workgroup is resident; after a finding that ends the dispatch nothing is looked at
 * any more. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "glance.h"
#include "inspect.h"
#include "internal.h"
#include "states.h"

#define X(name, text, built, what) text,
static const char *const names[] = {CK_CLASS_LIST(X)};
#undef X
#define X(name, text, built, what) what,
static const char *const texts[] = {CK_CLASS_LIST(X)};
#undef X

const char *ck_class_name(unsigned cls)
{
    return cls < CK_CLASSES ? names[cls] : "unknown";
}

const char *ck_class_text(unsigned cls)
{
    return cls < CK_CLASSES ? texts[cls] : "";
}

unsigned ck_classes_built(void)
{
#define X(name, text, built, what) ((built) ? CK_BIT(CK_##name) : 0) |
    return CK_CLASS_LIST(X) 0;
#undef X
}

unsigned ck_classes_usual(void)
{
    return ck_classes_built() & ~CK_BIT(CK_VALUE);
}

/* ---- workgroups and waves ---- */

static struct ck_group *group_new(struct ck *ck, const struct emu_wave_info *info)
{
    struct ck_group *g = calloc(1, sizeof *g + info->n_waves * sizeof *g->wave);
    if (!g)
        return NULL;
    g->number = info->group;
    memcpy(g->workgroup, info->workgroup, sizeof g->workgroup);
    g->n_waves = g->n_live = info->n_waves;
    for (unsigned i = 0; i < g->n_waves; i++)
        g->wave[i].order = (struct ck_order){.clock = 1, .loads = 2};
    if (ck->race)
        ck_race_group(ck->race, g);
    g->next = ck->groups;
    ck->groups = g;
    ck->n_started++;
    return g;
}

static void group_free(struct ck *ck, struct ck_group *g)
{
    struct ck_group **at = &ck->groups;
    while (*at != g)
        at = &(*at)->next;
    *at = g->next;
    if (ck->race)
        ck_race_group_gone(ck, g);
    ck_init_group_gone(g);
    for (unsigned i = 0; i < g->n_waves; i++) {
        ck_wait_gone(&g->wave[i]);
        ck_init_gone(ck, &g->wave[i]);
    }
    free(g);
}

static bool slots_reach(struct ck *ck, size_t slot)
{
    if (slot < ck->n_slots)
        return true;
    size_t n = 2 * slot + 64;
    struct ck_wave **bigger = realloc(ck->slots, n * sizeof(struct ck_wave *));
    if (!bigger)
        return false;
    memset(bigger + ck->n_slots, 0, (n - ck->n_slots) * sizeof(struct ck_wave *));
    ck->slots = bigger;
    ck->n_slots = n;
    return true;
}

static void wave_begin(void *ctx, const struct emu_wave_info *info)
{
    struct ck *ck = ctx;
    struct ck_group *g = ck->groups; /* the newest comes first */
    if (!slots_reach(ck, info->slot))
        return;
    ck->slots[info->slot] = NULL;
    if (info->wave == 0)
        g = group_new(ck, info);
    if (!g || g->number != info->group)
        return;
    struct ck_wave *w = &g->wave[info->wave];
    w->info = info;
    w->group = g;
    w->items = emu_wave_special(info, ISA_SEL_EXEC_LO);
    if (info->lanes == 64)
        w->items |= (uint64_t)emu_wave_special(info, ISA_SEL_EXEC_HI) << 32;
    w->denorm = (uint8_t)(ck->launch.dispatch->rsrc1 >> 16 & 15u);
    ck->slots[info->slot] = w;
    if (ck->init)
        ck_init_wave(ck, w);
}

/* ---- dispatches ---- */

static void dispatch_begin(void *ctx, const struct emu_launch *launch)
{
    struct ck *ck = ctx;
    uint64_t start, entry = launch->dispatch->entry;
    ck->launch = *launch;
    if (ck->config.keep_going) { /* a hang has ended the one before */
        ck->stopped = false;
        ck->control = EMU_CONTROL_RUN;
    }
    ck->n_started = 0;
    ck_hang_begin(ck);
    ck_mem_begin(ck);
    *ck->kernel = '\0';
    if (ck->config.kernel)
        strncpy(ck->kernel, ck->config.kernel, sizeof ck->kernel - 1);
    else if (!emu_symbol(ck->emu, entry, ck->kernel, sizeof ck->kernel, &start))
        *ck->kernel = '\0';
    if (ck->race)
        ck_race_begin(ck);
    if (ck->init)
        ck_init_begin(ck);
    atomic_fetch_add(&ck->table->dispatches, 1);
}

/* What was counted since the last time, for whoever shares the table. */
static void flush_counts(struct ck *ck)
{
    atomic_fetch_add(&ck->table->instructions, ck->instructions);
    atomic_fetch_add(&ck->table->accesses, ck->accesses);
    ck->instructions = ck->accesses = 0;
}

static void dispatch_end(void *ctx, const struct emu_launch *launch, rd_status status)
{
    struct ck *ck = ctx;
    (void)launch;
    (void)status;
    flush_counts(ck);
    ck_hang_end(ck);
    if (ck->race)
        ck_race_end(ck);
    ck->before = (struct ck_before){.slot = CK_PAST};
    while (ck->groups)
        group_free(ck, ck->groups);
}

/* ---- events ---- */

static uint64_t all_lanes(const struct emu_event *e)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < e->n_accesses; i++)
        n += (unsigned)__builtin_popcountll(e->access[i].lanes);
    return n;
}

void ck_opens(struct ck *ck, struct ck_group *g)
{
    if (ck->race)
        ck_race_settle(ck, g);
    g->barriers++;
    if (ck->race)
        ck_race_barrier(ck, g);
    for (unsigned i = 0; i < g->n_waves; i++)
        g->wave[i].waits = false;
}

/* What the event makes of the wave and its workgroup. */
static void follow(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    struct ck_group *g = w->group;
    if (e->inst->kind == EMU_KIND_BARRIER && !(e->flags & EMU_EV_FAULT)) {
        w->waits = true;
        w->barrier_pc = e->inst->pc;
    }
    if (e->flags & EMU_EV_ENDED) {
        w->ended = true;
        g->n_live--;
        g->n_ended++;
        ck->slots[e->wave->slot] = NULL;
    }
    if (e->flags & EMU_EV_BARRIER_DONE)
        ck_opens(ck, g);
    if (g->n_live)
        return;
    if (ck->race)
        ck_race_settle(ck, g);
    group_free(ck, g);
}

static bool has_resource(unsigned enc)
{
    return enc == ISA_ENC_MIMG || enc == ISA_ENC_MUBUF || enc == ISA_ENC_MTBUF;
}

static void step(void *ctx, const struct emu_event *e)
{
    struct ck *ck = ctx;
    struct ck_wave *w = ck->slots[e->wave->slot];
    if (ck->stopped || !w)
        return;
    w->pc = e->inst->pc;
    w->insts++;
    ck->instructions++;
    if (e->n_accesses)
        ck->accesses += all_lanes(e);
    if (e->fault && ck_wants(ck, CK_MEM))
        ck_mem_fault(ck, e);
    if (has_resource(e->inst->isa.enc) && ck_wants(ck, CK_MEM))
        ck_mem_resource(ck, e);
    if (ck_wants(ck, CK_WAIT) && !(e->flags & EMU_EV_FOLLOWED))
        ck_wait_step(ck, w, e);
    if (ck_wants(ck, CK_VALUE))
        ck_value_step(ck, w, e);
    if (ck->init)
        ck_init_step(ck, w, e);
    if (ck->race)
        ck_race_step(ck, w, e);
    if (ck_wants(ck, CK_SYNC)) {
        ck_sync_step(ck, w, e);
        ck_hang_step(ck, w, e);
    }
    follow(ck, w, e);
}

static uint64_t admit(void *ctx, const struct emu_event *e)
{
    struct ck *ck = ctx;
    struct ck_wave *w = ck->slots[e->wave->slot];
    uint64_t lanes = ~UINT64_C(0);
    if (ck->stopped || !w)
        return lanes;
    if (ck_wants(ck, CK_MEM))
        lanes = ck_mem_admit(ck, e);
    if (ck->race && !ck->stopped)
        ck_race_before(ck, w, e, lanes);
    return lanes;
}

static void before(void *ctx, const struct emu_event *e)
{
    struct ck *ck = ctx;
    struct ck_wave *w = ck->slots[e->wave->slot];
    if (ck->stopped || !w)
        return;
    if (ck->init)
        ck_init_before(ck, w, e);
    if (ck->config.hazard)
        ck_wait_before(ck, e);
}

/* ---- */

rd_status ck_create(struct emu *emu, const struct ck_config *config,
                    struct ck_table *table, struct ck **out)
{
    struct ck *ck = calloc(1, sizeof *ck);
    if (!ck)
        return RD_E_NOMEM;
    ck->emu = emu;
    ck->config = *config;
    ck->table = table;
    ck_glance(ck);
    ck->before.slot = CK_PAST;
    if (!ck->config.watchdog)
        ck->config.watchdog = UINT64_C(1) << 27;
    atomic_fetch_or(&table->classes, config->classes);
    struct emu_observer observer = {.ctx = ck,
                                    .want =
                                        EMU_WANT_ACCESS | EMU_WANT_GLANCE |
                                        (ck_wants(ck, CK_VALUE) ? EMU_WANT_VALUES : 0) |
                                        (ck_wants(ck, CK_RACE) ? EMU_WANT_MIX : 0),
                                    .dispatch_begin = dispatch_begin,
                                    .wave_begin = wave_begin,
                                    .step = step,
                                    .control = &ck->control,
                                    .dispatch_end = dispatch_end};
    if (ck_wants(ck, CK_MEM) || ck_wants(ck, CK_RACE))
        observer.admit = admit;
    if (ck_wants(ck, CK_INIT) || config->hazard)
        observer.before = before;
    observer.forgive = config->keep_going && ck_wants(ck, CK_MEM);
    ck->states = states_create();
    rd_status st = !ck->states             ? RD_E_NOMEM
                   : ck_wants(ck, CK_RACE) ? ck_race_create(&ck->race)
                                           : RD_OK;
    if (st == RD_OK && ck_wants(ck, CK_INIT))
        st = ck_init_create(ck, &ck->init);
    if (st == RD_OK)
        st = emu_add_observer(emu, &observer);
    if (st != RD_OK) {
        ck_race_destroy(ck->race);
        ck_init_destroy(ck->init);
        states_destroy(ck->states);
        free(ck);
        return st;
    }
    *out = ck;
    return RD_OK;
}

void ck_destroy(struct ck *ck)
{
    if (!ck)
        return;
    emu_remove_observer(ck->emu, ck);
    while (ck->groups)
        group_free(ck, ck->groups);
    ck_race_destroy(ck->race);
    ck_init_destroy(ck->init);
    states_destroy(ck->states);
    free(ck->slots);
    free(ck);
}

void ck_dispatch_before(struct ck *ck, const struct ck_before *before)
{
    ck->before = *before;
}

void ck_beside(const struct ck *ck)
{
    atomic_fetch_add(&ck->table->beside, 1);
}

bool ck_stopped(const struct ck *ck)
{
    return ck->stopped;
}
