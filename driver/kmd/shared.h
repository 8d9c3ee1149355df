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

#define GSHARED_MAGIC 0x3130616e64723344ull
#define GSHARED_PROCS 1024

/* Files of the state folder, which the environment variable names. */
#define GSHARED_ENV          "RDNA3_STATE"
#define GSHARED_FILE         "shared"
#define GSHARED_TREE         "root"
#define GSHARED_ENV_LOG      "RDNA3_LOG"
#define GSHARED_ENV_NO_EXEC  "RDNA3_NO_EXECUTE"
#define GSHARED_ENV_TIMING   "RDNA3_TIMING"   /* shader clock in MHz */
#define GSHARED_ENV_TIMELINE "RDNA3_TIMELINE" /* set: record the dispatches */
#define GSHARED_TIMELINE     "timeline"

struct gshared_proc {
    _Atomic int32_t pid; /* 0: free */
    char comm[20];
    _Atomic uint64_t vram_bytes;
    _Atomic uint64_t dispatches, workgroups, waves, instructions;
    _Atomic uint64_t skipped; /* dispatches completed without running (--no-execute) */
    _Atomic uint64_t faults;
    _Atomic uint64_t copies, copy_bytes; /* by the SDMA engines */
    _Atomic uint64_t model_ticks;        /* of dispatches under --timing, 10 ns each */
    _Atomic uint64_t unrecorded;         /* dispatches that a timeline lacks */
    _Atomic uint64_t ioctls, refused;
};

/* Behind the structure, sparse: what clients attached to each buffer. */
#define GSHARED_METADATA       (1ll << 20)
#define GSHARED_METADATA_BYTES 280

struct gshared {
    uint64_t magic;
    int32_t owner; /* process that removes the folder */
    uint64_t vram_bytes;
    _Atomic uint64_t next_bo_offset;  /* in the render node's file */
    _Atomic uint64_t next_kfd_offset; /* in /dev/kfd's file */
    struct gshared_proc procs[GSHARED_PROCS];
};

#endif
