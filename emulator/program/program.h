/* program.h: predecoded code.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_PROGRAM_H
#define RD_PROGRAM_H

#include <pthread.h>
#include <stdatomic.h>

#include "describe.h"
#include "facts.h"
#include "hwreg.h"
#include "level.h"

struct block;
struct code_cache;
struct constants;
struct program_ref;
struct region_table;

#define PROGRAM_MODES 8

/* Predecoded code of one executable region. */
struct program {
    uint64_t base, bytes; /* of the code */
    const uint8_t *host;  /* where it lies */
    struct uop *uops;     /* one slot a dword, reserved address space */
    struct inst_info *_Atomic
        *insts;                    /* side table of observers, one a dword; reserved */
    struct block *_Atomic *blocks; /* by leader, one a dword; reserved (block.h) */
    void *_Atomic native[PROGRAM_MODES]; /* native code, for the engine */
    uint32_t n_insts, number;
    struct constants *constants;
    const uint32_t *const_rows; /* theirs */
    bool wave64;
    bool order_matters; /* atomics whose result shows the order of workgroups */
    bool lds_atomics;   /* atomics of LDS */
    bool sleeps;        /* as loops do that wait for another wave */
    bool polls;         /* it has loads past the caches, as of flags */
    bool privileged;    /* code of a trap handler: TTMPs are registers */
    enum isa_order atomic_order; /* of the global atomics so far */
    bool exceptions;             /* float instructions raise exceptions */
    bool looks;                  /* the code reads or enables exceptions */
    unsigned n_vgprs;            /* that its waves have */
    struct code_cache *cache;
    struct program *next;
};

/* The micro-op at a GPU address, decoding what is reachable from it if need be.
 * NULL if pc is not in the program. Thread: takes the cache's lock. */
const struct uop *program_at(struct program *p, uint64_t pc);

/* Does whoever begins at entry do nothing but compute, branch within the program, load
 * scalars and store whole dwords to global memory? False if it is not easily told. */
bool program_only_stores(const struct program *p, const struct uop *entry);

static inline uint64_t program_pc(const struct program *p, const struct uop *u)
{
    return p->base + (uint64_t)(u - p->uops) * 4;
}

/* What observers know of the instruction at u; decoded at its first execution. */
const struct inst_info *program_decode(struct program *p, const struct uop *u);

static inline const struct inst_info *program_inst(struct program *p,
                                                   const struct uop *u)
{
    const struct inst_info *i =
        atomic_load_explicit(&p->insts[u - p->uops], memory_order_acquire);
    return i ? i : program_decode(p, u);
}

/* The same bytes mean different things to different waves. */
struct program_kind {
    bool wave64, privileged, exceptions;
    unsigned n_vgprs;
};

/* The program that holds entry, decoded from there; counts a user until program_put.
 * RD_E_NOT_FOUND if entry is not in executable memory. */
RD_CHECKED rd_status program_get(struct code_cache *cache, uint64_t entry,
                                 struct program_kind kind, struct program **out);
void program_put(struct program *p);

/* What predecoding needs to know of the emulator; all of it outlives the cache. */
struct program_env {
    const struct level_ops *level;
    const struct handlers *handlers;
    const struct sem_entry *const *sem; /* [ISA_OP_COUNT], semantics by opcode */
    struct region_table *map;
    void (*forget)(void *native); /* one of program.native, before the program goes */
};

RD_CHECKED rd_status code_cache_create(const struct program_env *env,
                                       struct code_cache **out);
void code_cache_destroy(struct code_cache *c);

/* Drop predecoded code that overlaps the range, because its bytes changed. */
void code_cache_changed(struct code_cache *c, uint64_t va, uint64_t bytes);

/* The programs that one dispatch has met: it starts in the first, calls through
 * pointers may lead into other regions, and the trap handler is always another program,
 * because its registers mean something else there. They are kept until the dispatch
 * ends. */
struct program_set {
    struct code_cache *cache;
    struct program *first;
    struct program_ref *others; /* under lock */
    pthread_mutex_t lock;
};

RD_CHECKED rd_status program_set_open(struct program_set *set, struct code_cache *cache,
                                      uint64_t entry, struct program_kind kind);
void program_set_close(struct program_set *set);

/* The program at pc, which is counted as the set's; NULL if there is none. */
struct program *program_set_find(struct program_set *set, uint64_t pc, bool privileged);

/* Does p hold pc, as waves in that state see it? */
static inline bool program_holds(const struct program *p, uint64_t pc, bool privileged)
{
    return p->privileged == privileged && pc >= p->base && pc - p->base < p->bytes;
}

#endif
