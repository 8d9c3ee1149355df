/* ui.h: the text front end: commands and what they print.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DEBUG_UI_H
#define RD_DEBUG_UI_H

#include <stdio.h>

#include "frames.h"
#include "session.h"

struct core;     /* core.h */
struct inferior; /* inferior.h */

struct ui {
    struct session *session;   /* NULL: a core file is looked at */
    struct inferior *inferior; /* the program whose kernels the session has; or NULL */
    struct core *core;
    const struct target *target;
    struct program *program;
    FILE *out;
    FILE *err; /* NULL: stderr */
    bool quit, batch;
    int failed;     /* commands that failed */
    unsigned depth; /* of scripts within scripts */
    char last[256]; /* what an empty line repeats */
    char list_file[256];
    unsigned list_line;
    /* the choice, where there is no session */
    uint64_t group;
    unsigned wave, lane;
};

/* Do one line. Returns false if it was wrong or failed; it has been told. */
bool ui_command(struct ui *u, const char *line);

/* Names of commands that begin with a text, one per call; NULL: no more. */
const char *ui_complete(const char *begin, unsigned *state);

/* "error: ..." to u->err; returns false. */
bool ui_error(struct ui *u, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

bool ui_context(struct ui *u, struct context *c);

/* ---- show.c: all to u->out ---- */

void show_stop(struct ui *u);
/* The place of the chosen wave: function, line, its text or its instruction. */
void show_place(struct ui *u, uint64_t pc);
bool show_waves(struct ui *u);
bool show_backtrace(struct ui *u);
bool show_locals(struct ui *u, bool globals);
bool show_registers(struct ui *u, const char *which);
bool show_exec(struct ui *u);
bool show_why(struct ui *u);
bool show_disassembly(struct ui *u, const char *args);
bool show_source(struct ui *u, const char *args);
bool show_print(struct ui *u, const char *args);
bool show_memory(struct ui *u, const char *args);
bool show_regions(struct ui *u);
bool show_points(struct ui *u);

/* ---- info.c ---- */

bool show_kernel(struct ui *u);
bool show_functions(struct ui *u);
bool show_program(struct ui *u);

/* ---- set.c ---- */

/* EXPRESSION = VALUE, or a setting. */
bool ui_set(struct ui *u, const char *args);

void fault_text(const struct ui *u, char *text, size_t size);

#endif
