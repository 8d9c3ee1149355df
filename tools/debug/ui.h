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

/* What `display` prints at every stop: "[/FORMAT ][-a ]EXPRESSION", as of print. */
struct ui_display {
    unsigned number;
    char text[200];
};
enum { UI_DISPLAYS = 32 };

struct ui {
    struct session *session;   /* NULL: a core file is looked at */
    struct inferior *inferior; /* the program whose kernels the session has; or NULL */
    struct core *core;
    const struct target *target;
    struct program *program;
    FILE *out;
    FILE *err; /* NULL: stderr */
    bool quit, batch;
    int failed;         /* commands that failed */
    unsigned depth;     /* of scripts within scripts */
    const char *script; /* what is being done is its line; NULL: typed in */
    unsigned script_line;
    char last[256]; /* what an empty line repeats */
    char list_file[256];
    unsigned list_line;
    struct ui_display displays[UI_DISPLAYS];
    unsigned n_displays, last_display;
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
/* The value, behind a label; args as of print. false: why not in err. */
bool show_value(struct ui *u, const char *label, const char *args,
                struct expr_error *err);
bool show_memory(struct ui *u, const char *args);
bool show_regions(struct ui *u);
bool show_points(struct ui *u);

/* ---- display.c ---- */

bool ui_display(struct ui *u, const char *args);
bool ui_undisplay(struct ui *u, const char *args);
/* All of them, as they are now. */
void ui_displays(struct ui *u);

/* ---- info.c ---- */

/* Where a line's code lies, or which line an address is of. where: LINE, FILE:LINE,
 * FUNCTION, *ADDRESS; empty: the chosen wave's. */
bool show_line(struct ui *u, const char *where);

bool show_kernel(struct ui *u);
bool show_functions(struct ui *u);
bool show_program(struct ui *u);

/* ---- set.c ---- */

/* EXPRESSION = VALUE, or a setting. */
bool ui_set(struct ui *u, const char *args);

void fault_text(const struct ui *u, char *text, size_t size);

#endif
