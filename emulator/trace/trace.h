/* trace.h: recordings of executed instructions: written by an observer, read as events.
 *
 * A trace holds, for every instruction that ran, the wave, PC, EXEC, branch and end
 * flags, memory addresses and, on request, operand values before and after, in the
 * order of execution. The reader hands back the events that the emulator reported.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TRACE_H
#define RD_TRACE_H

#include "event.h"

/* One line, without "error: ". */
struct trace_error {
    char text[256];
};

/* ---- writing ------------------------------------------------------------------------
 */

struct trace_writer;

struct trace_options {
    bool values; /* operand values too: far bigger and slower */
};

RD_CHECKED rd_status trace_create(const char *path, const struct trace_options *options,
                                  struct trace_writer **out, struct trace_error *err);

/* What to hand to emu_add_observer. The writer must outlive the emulator's last
 * dispatch.
 */
struct emu_observer trace_observer(struct trace_writer *w);

/* What was written so far. */
uint64_t trace_events_written(const struct trace_writer *w);
uint64_t trace_bytes_written(const struct trace_writer *w);

/* Finish the file and free the writer (NULL is fine). Returns the first error there
 * was: RD_E_IO or RD_E_NOMEM; the file is then cut short. */
RD_CHECKED rd_status trace_close(struct trace_writer *w, struct trace_error *err);

/* ---- reading ------------------------------------------------------------------------
 */

struct trace_reader;

/* A dispatch in a trace. */
struct trace_dispatch {
    uint64_t number;
    uint64_t code_base, code_bytes, entry;
    uint32_t groups[3], block[3];
    uint32_t lanes, vgprs;
    uint64_t n_groups;
    bool ended;
    rd_status status; /* once ended */
};

/* Read a trace. The file may come from anywhere: whatever is wrong with it is an error
 * with the place, never worse.
 *
 * err  out, kept for later errors of this reader too (may not be NULL)
 */
RD_CHECKED rd_status trace_open(const char *path, struct trace_reader **out,
                                struct trace_error *err);
void trace_reader_close(struct trace_reader *r);

/* The next event, valid until the next call.
 *
 * number  out, of all events in the file, from 0
 * Returns RD_E_NOT_FOUND at the end; RD_E_TRUNCATED or RD_E_FORMAT with r's err filled.
 * next_pc is that of a taken branch, else of the instruction behind.
 */
RD_CHECKED rd_status trace_next(struct trace_reader *r, uint64_t *number,
                                const struct emu_event **event);

/* Start again at the first event. */
RD_CHECKED rd_status trace_rewind(struct trace_reader *r);

bool trace_has_values(const struct trace_reader *r);
bool trace_has_time(const struct trace_reader *r); /* in what was read so far */

/* Dispatches met so far; NULL beyond the last. */
const struct trace_dispatch *trace_dispatch(const struct trace_reader *r, unsigned i);

/* Bytes of the file, for ratios. */
uint64_t trace_file_bytes(const struct trace_reader *r);

#endif
