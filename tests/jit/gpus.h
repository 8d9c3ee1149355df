/* gpus.h: emulators with and without native code on the same memory, and programs that
 * must leave the same in it, with all of them.
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_JIT_GPUS_H
#define TEST_JIT_GPUS_H

#include <check.h>
#include <stdbool.h>

#include "emu.h"
#include "isa.h"

#define GPU_CODE (64u << 10)
#define GPU_DATA (256u << 10)

enum {
    GPU_INTERP,  /* counts */
    GPU_NATIVE,  /* every block is compiled at its first execution */
    GPU_COUNTED, /* the same, and counts */
    GPU_COUNT
};

/* Memory and the emulators that see it. */
struct gpus {
    struct emu *emu[GPU_COUNT];
    uint8_t *code, *data;
    size_t walk_bytes; /* of data, that are mapped; 0: all */
    bool wave64;       /* what is placed and run next */
};

/* What a dispatch did. */
struct result {
    rd_status status;
    struct emu_fault fault;
    struct emu_stats stats;
};

/* main of a test "NAME [avx2 | avx512] [away]": *level, then the suite; 77 where the
 * host has no such level. away: what the emulators see lies elsewhere in the host. */
int gpus_main(int argc, char **argv, enum emu_simd *level, Suite *(*suite)(void));

/* Was that asked for? */
bool gpus_away(void);

/* Does the host have the level? */
bool gpus_possible(enum emu_simd simd);

/* walk_bytes: that much of data is mapped, and the last quarter. */
void gpus_create(struct gpus *g, enum emu_simd simd, unsigned threads,
                 size_t walk_bytes);
void gpus_destroy(struct gpus *g);

/* Assemble lines ("name:" is a label, "@name" in a branch its distance) to code, and
 * tell all emulators. Returns its bytes. */
size_t gpus_place(struct gpus *g, const char *text);

/* The same to other memory, telling nobody. lanes: 32 or 64. */
size_t gpus_assemble(const char *text, unsigned lanes, uint8_t *code);

/* s[0:1]: data, s[2:3]: the last quarter of data, s[4:7] the parameters, s8 workgroup;
 * v0: work-item. waves: of a workgroup, 0: one. */
struct load {
    uint32_t groups, waves, lds_bytes, scratch_bytes, param[4];
};
struct emu_dispatch gpus_dispatch(const struct gpus *g, const struct load *load);

/* Run what is placed, on data as the last gpus_fill has left them. */
struct result gpus_run(const struct gpus *g, unsigned which, const struct load *load);

/* The same bytes each time. */
void gpus_fill(const struct gpus *g, uint32_t seed);

/* Run it with all emulators from the same data; fails where they differ in memory,
 * fault, statistics or counts, or where no code was made. Returns what they agreed on;
 * data is as they left it. */
struct result gpus_compare(struct gpus *g, const struct load *load, const char *name);

#endif
