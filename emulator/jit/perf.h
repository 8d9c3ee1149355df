/* perf.h: names of native code for Linux' perf: lines of /tmp/perf-PID.map.
 *
 * A line names a trace by the kernel that it is of, how far inside it begins, its first
 * opcode, and the lanes it is for: "saxpy+0x40 v_fma_f32 (full)"; by the address of
 * its first instruction where no name is known. Names are looked up and lines written
 * when dispatches end, because compiling holds locks that a look-up may need.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_PERF_H
#define RD_PERF_H

#include <stddef.h>
#include <stdint.h>

#include "emu.h"

struct perf_map;

struct perf_trace {
    const void *code;
    size_t bytes;
    uint64_t pc; /* 0: stubs, which are no kernel's */
    unsigned op; /* the first */
    bool partial;
    struct perf_trace *next;
};

/* NULL if config wants none, or out of memory. */
struct perf_map *perf_create(const struct emu_config *config);

/* Writes what waits. */
void perf_destroy(struct perf_map *m);

/* Remember a line; copied. m may be NULL. Thread: any. */
void perf_add(struct perf_map *m, const struct perf_trace *trace);

/* Write the lines that wait. m may be NULL. No lock held. Thread: any. */
void perf_write(struct perf_map *m);

#endif
