/* execute.h: a program under the mock: its state folder, its environment, its process.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TOOL_EXEC_EXECUTE_H
#define RD_TOOL_EXEC_EXECUTE_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "state.h"

struct exec_options {
    const char *log, *root, *preload;
    const char *emu_mode; /* NULL: as the board says */
    bool no_execute, no_namespace, timing, record, opcodes, perf_map;
    bool checked;     /* the state folder has a table of findings */
    bool whole_core;  /* core files with all memory */
    bool debugged;    /* a debugger listens in the state folder */
    unsigned engine;  /* enum emu_engine */
    unsigned simd;    /* enum emu_simd */
    unsigned threads; /* of the host, for workgroups; 0: one per CPU */
    uint64_t vram;
    double sclk_mhz; /* 0: not given */
    /* Of a debugger: the program has a process group of its own, and these descriptors
     * (0: /dev/null, or this program's own) for input, output and errors. */
    bool apart;
    int out, err;
};

struct execution {
    struct state state;
    char library[PATH_MAX];
    char log[PATH_MAX]; /* as the program sees it; "": none */
    pid_t child;        /* 0: not started */
    int notice[2];
    struct sigaction old_int, old_quit;
};

/* Make the state folder. Prints errors; returns an exit status; after CLI_OK
 * exec_end is due. */
int exec_prepare(struct execution *l, const struct exec_options *o);

/* Start the program. Signals that end programs are passed on to it from now on. */
int exec_start(struct execution *l, const struct exec_options *o, char **argv);

/* What waitpid said of it as an exit status. */
int exec_status(int wait_status);

/* Wait for its end. began: out, was it a program at all? Returns its exit status. */
int exec_wait(struct execution *l, bool *began);

/* What was logged in another root goes to its file; the folder goes, or is named. */
void exec_end(struct execution *l, const struct exec_options *o, bool keep);

#endif
