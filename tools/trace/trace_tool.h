/* trace_tool.h: what the files of `rdna3 trace` share.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TRACE_TOOL_H
#define RD_TRACE_TOOL_H

#include "cli.h"
#include "json.h"
#include "trace.h"

/* An open trace with the place for its errors. */
struct trace_input {
    struct trace_reader *reader;
    struct trace_error err;
};

/* Print the error; return an exit status. */
int trace_input_open(struct trace_input *in, const char *path);

/* The next event. Returns CLI_OK with *event NULL at the end. */
int trace_input_next(struct trace_input *in, uint64_t *number,
                     const struct emu_event **event);

/* The dispatch of an event; never NULL. */
const struct trace_dispatch *trace_input_dispatch(const struct trace_input *in,
                                                  const struct emu_event *event);

/* A register, or memory, as the user named it. */
struct trace_place {
    bool is_memory;
    uint16_t sel, dwords; /* register */
    uint8_t space;        /* enum emu_space */
    uint64_t first, last; /* memory, inclusive */
};

/* Which events are meant; zero: all. */
struct trace_filter {
    bool by_wave, by_workgroup, by_dispatch, by_pc;
    uint32_t wave;
    uint32_t workgroup[3];
    uint64_t dispatch;
    uint64_t pc_first, pc_last; /* offsets in the code, or addresses */
    bool by_reg, by_addr;
    struct trace_place reg, addr;
    const char *op;       /* part of the mnemonic, or NULL */
    uint64_t from, count; /* event numbers; count 0: all */
};

/* Parse "A", "A-B" or "A+N" (numbers as in C); "lds:", "scratch:" or "global:" may
 * stand before an address. False if it is none. */
bool trace_parse_range(const char *text, uint64_t *first, uint64_t *last);
bool trace_parse_reg(const char *text, struct trace_place *out);
bool trace_parse_addr(const char *text, struct trace_place *out);

bool trace_filter_match(const struct trace_filter *f, const struct trace_dispatch *d,
                        uint64_t number, const struct emu_event *e);

/* Does the event touch the place? want: ISA_OF_IN, ISA_OF_OUT (read, write).
 * lanes  out, those that do (may be NULL) */
bool trace_touches(const struct emu_event *e, const struct trace_place *place,
                   unsigned want, uint64_t *lanes);

/* One line for the event, and its accesses and operand values behind. */
void trace_print_event(const struct trace_dispatch *d, uint64_t number,
                       const struct emu_event *e, const char *prefix);

/* The same as an object of an array, or under a key. */
void trace_json_event(struct json *j, const char *key, const struct trace_dispatch *d,
                      uint64_t number, const struct emu_event *e);

/* The dispatches read so far, under "dispatches". */
void trace_json_dispatches(struct json *j, const struct trace_reader *r);

/* "global", "lds", "scratch", "gds": of enum emu_space. */
const char *trace_space_name(unsigned space);

/* The name of one dword of a run of registers: text (32 bytes), or a constant. */
const char *trace_reg_name(const struct emu_reg *r, unsigned dword, char *text);

/* The mnemonic or whole text of an event's instruction. */
const char *trace_inst_name(const struct emu_inst *inst);

/* Subcommands; each prints its errors and returns an exit status. json: the answer is
 * one JSON object. */
int trace_summarise(struct trace_input *in, const struct trace_filter *f, bool json);
int trace_diff(const char *path_a, const char *path_b, const struct trace_filter *f,
               unsigned context, bool json);

/* Who wrote what. */
struct trace_question {
    struct trace_place place;
    uint64_t before; /* event number; UINT64_MAX: of all */
    int lane;        /* -1: in any */
};

int trace_who_wrote(struct trace_input *in, const struct trace_filter *f,
                    const struct trace_question *q, bool json);
int trace_chrome(struct trace_input *in, const struct trace_filter *f,
                 const char *path);

/* Timelines, which are files of another kind: is one named, and what to do then. */
bool trace_is_timeline(int argc, char **argv);
/* Is it an option of a timeline's, '--' first, with '=VALUE' or without? */
bool trace_timeline_takes(const char *option);
int trace_timeline(int argc, char **argv);
extern const char trace_timeline_options[]; /* what its --help says of them */

#endif
