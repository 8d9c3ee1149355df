/* gws.c: global wave sync: barriers and semaphores over all waves of the device
 * (manual 13.4).
 *
 * A resource is one atomic word: the counter below, the generation above. A wave that
 * must wait runs its instruction again later; how far it got is in the wave. Barrier
 * counts are waves minus one, as compilers and runtimes pass them.
 * SPDX-License-Identifier: MIT
 */
#include "sem_wrap.h"
#include "wave.h"

#define GENERATION (UINT64_C(1) << 32)

static const struct uop *next(const struct uop *u)
{
    return uop_next(u);
}

static unsigned resource_id(const struct wave *w, const struct uop *u)
{
    return ((w->sgpr[ISA_SEL_M0] >> 16 & 63u) + (unsigned)u->imm) % GWS_RESOURCES;
}

static atomic_ullong *resource(struct wave *w, const struct uop *u)
{
    return &w->emu->gws[resource_id(w, u)];
}

/* The operand of the first active lane; of lane 0 if there is none. */
static uint32_t operand(const struct wave *w, const struct uop *u)
{
    uint64_t exec = wave_exec64(w);
    unsigned lane = exec ? (unsigned)__builtin_ctzll(exec) : 0;
    return w->vgpr[lane / 32][(size_t)u->mem.addr * ROW_DWORDS + lane % 32];
}

static uint64_t with_counter(uint64_t word, int32_t counter)
{
    return (word & ~(GENERATION - 1)) | (uint32_t)counter;
}

static void add(atomic_ullong *r, uint32_t count)
{
    unsigned long long old = atomic_load(r);
    while (!atomic_compare_exchange_weak(
        r, &old, with_counter(old, (int32_t)((uint32_t)old + count))))
        ;
}

WAVE_OP(ds_gws_init)
{
    atomic_ullong *r = resource(w, u);
    unsigned long long old = atomic_load(r);
    int32_t count = (int32_t)operand(w, u);
    while (!atomic_compare_exchange_weak(r, &old, with_counter(old, count)))
        ;
    return next(u);
}

WAVE_OP(ds_gws_sema_v)
{
    add(resource(w, u), 1);
    return next(u);
}

WAVE_OP(ds_gws_sema_br)
{
    add(resource(w, u), operand(w, u));
    return next(u);
}

WAVE_OP(ds_gws_sema_p)
{
    atomic_ullong *r = resource(w, u);
    atomic_uint *waiting = &w->emu->gws_waiting[resource_id(w, u)];
    unsigned long long old = atomic_load(r);
    while ((int32_t)(uint32_t)old > 0)
        if (atomic_compare_exchange_weak(
                r, &old, with_counter(old, (int32_t)(uint32_t)old - 1))) {
            if (w->gws_waits)
                atomic_fetch_sub(waiting, 1);
            w->gws_waits = false;
            return next(u);
        }
    if (!w->gws_waits)
        atomic_fetch_add(waiting, 1);
    w->gws_waits = true;
    return wave_stop(w, STOP_GWS, u);
}

/* As many tokens as there are waves that wait for one. */
WAVE_OP(ds_gws_sema_release_all)
{
    add(resource(w, u), atomic_load(&w->emu->gws_waiting[resource_id(w, u)]));
    return next(u);
}

/* Arrive once; leave when the generation has changed since. The last wave to arrive
 * sets the count of the next barrier. */
WAVE_OP(ds_gws_barrier)
{
    atomic_ullong *r = resource(w, u);
    unsigned long long old = atomic_load(r), new;
    if (w->gws_waits) {
        if ((uint32_t)(old >> 32) == w->gws_generation)
            return wave_stop(w, STOP_GWS, u);
        w->gws_waits = false;
        return next(u);
    }
    int32_t next_count = (int32_t)operand(w, u);
    bool last;
    do {
        int32_t counter = (int32_t)(uint32_t)old;
        last = counter <= 0;
        new = last ? with_counter(old + GENERATION, next_count)
                   : with_counter(old, counter - 1);
    } while (!atomic_compare_exchange_weak(r, &old, new));
    if (last)
        return next(u);
    w->gws_waits = true;
    w->gws_generation = (uint32_t)(old >> 32);
    return wave_stop(w, STOP_GWS, u);
}

#include "gws.inc"
