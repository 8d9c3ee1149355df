/* machine.h: an emulator with one program and two buffers, for tests of observers,
 * stepping and traces.
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_TRACE_MACHINE_H
#define TEST_TRACE_MACHINE_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "step.h"

#define GROUPS 6u
#define BLOCK  128u
#define ITEMS  (GROUPS * BLOCK)

struct machine {
    struct emu *emu;
    struct emu_dispatch dispatch;
    void *code; /* one page */
    uint32_t *in, *out;
};

enum program { PROGRAM_MIX, PROGRAM_CLOCK, PROGRAM_BAD };

/* in[i] is a fixed mix of i, out is zero. lanes: 32 or 64. */
void machine_create(struct machine *m, enum program program, unsigned lanes);
void machine_destroy(struct machine *m);

/* Fill in and out as machine_create does. */
void machine_reset(struct machine *m);

/* Everything an event says but its time, as a number. */
uint64_t event_hash(const struct emu_event *e, uint64_t code_base);

/* The hashes of all events of all dispatches, in order. */
struct event_log {
    uint64_t *hash, *time;
    size_t n, room;
    uint64_t code_base;
};

struct emu_observer log_observer(struct event_log *log, unsigned want);
void log_free(struct event_log *log);

/* A file name of this process's own in a temporary folder; removed at exit. */
const char *test_file(const char *name);

int run_suite(Suite *suite);

#endif
