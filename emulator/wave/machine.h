/* machine.h: what all waves of an emulator share.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_MACHINE_H
#define RD_MACHINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "emu.h"
#include "level.h"
#include "region.h"

struct code_cache;
struct block_pool;
struct workers;
struct emu_observer;
struct native;

#define GWS_RESOURCES 64u

struct emu {
    struct emu_config config;
    const struct level_ops *level;
    const struct sem_entry *sem[ISA_OP_COUNT]; /* semantics by opcode */
    struct region_table *regions;
    struct code_cache *code;
    struct native *native; /* NULL: the interpreter runs all */
    atomic_ullong *counts; /* per opcode, if config.count */
    atomic_ullong gws[GWS_RESOURCES];
    atomic_uint gws_waiting[GWS_RESOURCES]; /* waves at a semaphore */
    uint8_t *gds;                           /* GDS_BYTES, once used; under gds_lock */
    pthread_mutex_t gds_lock;
    struct block_pool *pool; /* memory of workgroups between dispatches */
    struct workers *workers; /* threads between dispatches */
    unsigned host_cpus;
    struct emu_observer *observers; /* [EMU_MAX_OBSERVERS], or NULL */
    unsigned n_observers;
    uint64_t n_launches;          /* dispatches that were watched */
    uint64_t *slots;              /* bit per emu_wave_info.slot in use */
    size_t n_slot_words;          /* allocated */
    pthread_mutex_t observe_lock; /* calls of observers; the last three */
};

#endif
