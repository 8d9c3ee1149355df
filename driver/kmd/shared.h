/* shared.h: what all processes of one `rdna3 exec` share: offsets, accounting,
 * counters.
 *
 * The file lives in the state folder; every field that two processes touch is atomic.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_SHARED_H
#define RD_SHARED_H

#include <stdatomic.h>
#include <stdint.h>

#include "board.h"
#include "counters.h"
#include "watches.h"

#define GSHARED_MAGIC 0x3130616e64723344ull
#define GSHARED_PROCS 1024

/* Files of the state folder. */
#define GSHARED_FILE     "shared"
#define GSHARED_TREE     "root"
#define GSHARED_TIMELINE "timeline"
#define GSHARED_FINDINGS "findings"
#define GSHARED_EXPORTS  "exports" /* export.c */
#define GSHARED_AWAY                                                                   \
    "away" /* what is not in the tree while the device is absent:                      \
              by its path with _ for / */

/* limits.c: what is taken of the memory */
struct gshared_use {
    _Atomic uint64_t vram_bytes, vram_aligned, graphics_bytes, gtt_bytes;
};

/* session.c: what a debugger asks a process for that may be stopped */
struct gshared_runtime {
    _Atomic uint64_t r_debug;
    _Atomic uint32_t enabled, ttmp_setup;
};

struct gshared_proc {
    _Atomic int32_t pid; /* 0: free */
    char comm[20];
    struct gshared_use use;
    struct gshared_runtime runtime;
    struct gpu_counters gpu;
    _Atomic uint64_t ioctls, refused;
};

/* session.c: a debugging session. Exceptions are bits of the kernel's interface. */
struct gshared_debug {
    _Atomic int32_t target, debugger;  /* processes; target 0: free */
    _Atomic uint32_t serial;           /* of the session among those of this record */
    _Atomic uint32_t raised, released; /* counters that others wait on */
    _Atomic uint64_t enabled;          /* exceptions that the debugger takes */
    _Atomic uint64_t device, process;  /* raised and not cleared */
    _Atomic uint64_t fault_va;         /* of the last page fault */
    _Atomic uint32_t fault_why;
    struct gpu_watches watches; /* the debugger writes, the debugged process looks */
    _Atomic uint64_t queues[BOARD_QUEUES]; /* by number, as device */
};
#define GSHARED_SESSIONS 64u

/* Behind the structure, sparse: what clients attached to each buffer. */
#define GSHARED_METADATA       (4ll << 20)
#define GSHARED_METADATA_BYTES 280

/* clients.c: an open file of the primary node (/dev/dri/card0). A serial is never used
 * twice; 0: free, or nobody. All under the lock of that file. */
struct gshared_client {
    uint64_t serial;
    uint64_t group; /* the master, by serial, that it was opened under or has become */
    int32_t pid;    /* who opened it */
    uint32_t magic; /* 0: has not asked for one */
    uint8_t mastered, authentic, magic_used;
};
#define GSHARED_CLIENTS 2048u

/* smi.c: an event for who listens in other processes. */
#define GSHARED_EVENT_BYTES 128u
struct gshared_event {
    _Atomic uint64_t number; /* of the event that is here; 0: none */
    _Atomic uint32_t event;
    _Atomic int32_t pid; /* whose */
    _Atomic uint64_t text[GSHARED_EVENT_BYTES / 8];
    _Atomic uint64_t sum; /* of the above */
};
#define GSHARED_EVENTS 256u

/* timeline.c: a software timeline, by its serial; places are taken in turn. */
struct gshared_timeline {
    _Atomic uint64_t serial;
    _Atomic uint32_t value, closed;
};
#define GSHARED_TIMELINES 4096u

struct gshared {
    uint64_t magic;
    int32_t owner; /* process that removes the folder */
    struct board_memory memory;
    /* Memory that its owner has freed and others still hold (export.c). */
    _Atomic uint32_t orphans;
    struct gshared_use orphan_use;
    _Atomic uint32_t absent;          /* the device was taken away, or its driver */
    _Atomic uint32_t departures;      /* how often it was */
    _Atomic uint32_t resets;          /* of the whole board, that somebody asked for */
    _Atomic uint64_t next_bo_offset;  /* in the render node's file */
    _Atomic uint64_t next_kfd_offset; /* in /dev/kfd's file */
    struct gshared_proc procs[GSHARED_PROCS];
    struct gshared_debug sessions[GSHARED_SESSIONS];
    uint64_t client_serial, client_master; /* the last; who is master, if it is open */
    uint32_t client_magic;                 /* the last */
    struct gshared_client clients[GSHARED_CLIENTS];
    _Atomic uint64_t timeline_serial;
    _Atomic uint32_t advances; /* of any timeline; waited on */
    struct gshared_timeline timelines[GSHARED_TIMELINES];
    _Atomic uint64_t last_event;
    _Atomic uint32_t event_news; /* waited on */
    _Atomic uint64_t heard_ns;   /* CLOCK_MONOTONIC: when somebody listened; 0: never */
    struct gshared_event events[GSHARED_EVENTS];
    struct gpu_opcodes opcodes; /* of all processes, if they are counted */
    struct gpu_kernels kernels; /* of all processes, under the timing model */
};

_Static_assert(sizeof(struct gshared) <= GSHARED_METADATA, "metadata lies behind it");

#endif
