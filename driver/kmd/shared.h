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

#define GSHARED_MAGIC 0x3130616e64723344ull
#define GSHARED_PROCS 1024

/* Files of the state folder. */
#define GSHARED_FILE     "shared"
#define GSHARED_TREE     "root"
#define GSHARED_TIMELINE "timeline"
#define GSHARED_FINDINGS "findings"
#define GSHARED_EXPORTS  "exports" /* export.c */

/* limits.c: what is taken of the memory */
struct gshared_use {
    _Atomic uint64_t vram_bytes, vram_aligned, graphics_bytes, gtt_bytes;
};

struct gshared_proc {
    _Atomic int32_t pid; /* 0: free */
    char comm[20];
    struct gshared_use use;
    struct gpu_counters gpu;
    _Atomic uint64_t ioctls, refused;
};

/* Behind the structure, sparse: what clients attached to each buffer. */
#define GSHARED_METADATA       (4ll << 20)
#define GSHARED_METADATA_BYTES 280

struct gshared {
    uint64_t magic;
    int32_t owner; /* process that removes the folder */
    struct board_memory memory;
    /* Memory that its owner has freed and others still hold (export.c). */
    _Atomic uint32_t orphans;
    struct gshared_use orphan_use;
    _Atomic uint64_t next_bo_offset;  /* in the render node's file */
    _Atomic uint64_t next_kfd_offset; /* in /dev/kfd's file */
    struct gshared_proc procs[GSHARED_PROCS];
    struct gpu_opcodes opcodes; /* of all processes, if they are counted */
};

_Static_assert(sizeof(struct gshared) <= GSHARED_METADATA, "metadata lies behind it");

#endif
