/* harness.h: run small assembled programs on every SIMD level and wave size.
 * SPDX-License-Identifier: MIT
 */
#ifndef EMU_MEM_HARNESS_H
#define EMU_MEM_HARNESS_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"

#define ROWS  8
#define LANES 64

/* One run of a body (assemble.py says what is around it). */
struct run {
    const uint32_t *body;
    size_t body_bytes;
    unsigned lanes;               /* 32 or 64: one wave of that size */
    uint32_t in[ROWS + 4][LANES]; /* the last four: only read, by more waves */
    uint32_t out[ROWS][LANES];
    uint32_t sgpr[28]; /* s4.. */
    uint32_t lds_bytes, scratch_bytes;
    bool lds_unreported; /* as in emu_config */
    uint32_t float_mode; /* MODE[7:0]; bit 8: DX10_CLAMP, bit 9: IEEE */
    void *memory;        /* mapped for the program if not NULL */
    uint64_t memory_bytes;
    uint32_t rsrc2;          /* exceptions enabled at launch: bits 30:24 */
    unsigned waves;          /* 0: one */
    const uint32_t *handler; /* trap handler, or NULL */
    size_t handler_bytes;
    struct emu_queue queue;              /* tba is filled in */
    const struct emu_observer *observer; /* or NULL */
    uint64_t body_pc;                    /* out: where the body was */
    struct emu_fault fault;              /* kind EMU_FAULT_NONE if it ran to its end */
};

/* Run r on one level; false if the host lacks it. */
bool run_on(struct run *r, enum emu_simd simd);

/* Put the address of the run's memory, or anything, into s[n:n+1]. */
static inline void set_pointer(struct run *r, unsigned n, const void *p)
{
    uint64_t a = (uint64_t)(uintptr_t)p;
    r->sgpr[n - 4] = (uint32_t)a;
    r->sgpr[n - 3] = (uint32_t)(a >> 32);
}

/* Each level and wave size: for (...) in a test. */
#define FOR_EACH_RUN(r)                                                                \
    for (unsigned simd_ = EMU_SIMD_GENERIC; simd_ <= EMU_SIMD_AVX512; simd_++)         \
        for ((r)->lanes = 32; (r)->lanes <= 64; (r)->lanes += 32)                      \
            if (run_on((r), (enum emu_simd)simd_))

/* Small repeatable random numbers. */
uint32_t random32(void);
void random_rows(struct run *r);

/* ck_assert with row, lane and level in the message. */
#define ck_row_eq(r, row, lane, want)                                                  \
    ck_assert_msg((r)->out[row][lane] == (want),                                       \
                  "row %u lane %u of %u, level %u: got 0x%08x, want 0x%08x",           \
                  (unsigned)(row), (unsigned)(lane), (r)->lanes, simd_,                \
                  (r)->out[row][lane], (uint32_t)(want))

#define ck_no_fault(r)                                                                 \
    ck_assert_msg((r)->fault.kind == EMU_FAULT_NONE, "fault: %s %s",                   \
                  emu_fault_name((r)->fault.kind), (r)->fault.detail)

int run_suite(Suite *suite);

#endif
