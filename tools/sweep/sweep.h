/* sweep.h: what the files of `rdna3 sweep` share: the matrix, running one item of it,
 * the database.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_SWEEP_H
#define RD_SWEEP_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* ---- file.c: the matrix ---- */

enum { SWEEP_NAMES = 32 };
#define SWEEP_NONE UINT64_MAX

struct sweep_parameter {
    char *name;
    char **value;
    size_t n;
};

struct sweep_measure {
    char *name;
    regex_t regex;
};

struct sweep {
    char *text; /* of the file */
    char *command;
    struct sweep_parameter parameter[SWEEP_NAMES];
    struct sweep_measure measure[SWEEP_NAMES];
    unsigned n_parameters, n_measures;
    uint64_t n_items; /* the last parameter changes fastest */
};

/* Prints errors with file and line; returns an exit status. */
int sweep_read(const char *path, struct sweep *out);
void sweep_free(struct sweep *s);

/* The value of a parameter in an item. */
const char *sweep_value(const struct sweep *s, uint64_t item, unsigned parameter);
/* The command of an item, for the caller to free. NULL, with an error printed: there is
 * none, as what its braces hold is no number. */
char *sweep_command(const struct sweep *s, uint64_t item);

/* ---- job.c: one item ---- */

struct sweep_done {
    uint64_t item;
    int32_t status; /* exit status; 128 + signal */
    double seconds;
    uint32_t bytes; /* of text: what it said, stdout and stderr; of more than 1 MiB the
                     * beginning and the end, with a line that tells so */
    char *text;
};

struct sweep_job {
    pid_t pid; /* 0: none */
    int out;
    double began;
    uint64_t left_out; /* bytes of its output */
    struct sweep_done done;
};

/* Start an item's command with sh, in a process group of its own. If this process is
 * killed, the shell dies with it; programs that the shell has started do not. Returns
 * an exit status. */
int sweep_start(struct sweep_job *j, const struct sweep *s, uint64_t item);
/* Wait for output of some of the jobs, at most so many seconds (less than 0: for as
 * long as it takes), and take it. Returns one that has ended, with its result in done
 * (text: the caller frees it), or NULL. */
struct sweep_job *sweep_wait(struct sweep_job *jobs, unsigned n, double seconds);
/* Kill the commands that still run, and what they have started. */
void sweep_stop(struct sweep_job *jobs, unsigned n);
/* This process may run on every CPU from now on; its commands where they could. */
void sweep_roam(void);
/* This program's folder comes first where commands look for rdna3. */
void sweep_path(void);

/* ---- store.c: the database ---- */

struct sweep_store;

/* Open it, or make it for this sweep; another sweep's is refused. Prints errors;
 * returns an exit status.
 *
 * retry  forget items that failed
 */
int sweep_store_open(const char *path, const struct sweep *s, bool retry,
                     struct sweep_store **out);
/* Only to ask. */
int sweep_store_look(const char *path, struct sweep_store **out);
void sweep_store_close(struct sweep_store *store);

/* The next item that nobody has done, or SWEEP_NONE: each is handed out once. */
uint64_t sweep_store_next(struct sweep_store *store);
/* Hand this one out once more: who had it is gone. SWEEP_NONE: nothing. */
void sweep_store_again(struct sweep_store *store, uint64_t item);
/* This one is done elsewhere; false: it is done already, handed out, or none. */
bool sweep_store_claim(struct sweep_store *store, uint64_t item);
/* Items that are done, and of those failed. */
void sweep_store_count(const struct sweep_store *store, uint64_t *done,
                       uint64_t *failed);
/* Write down a result, all of it or nothing; not at all if it may have failed because
 * SIGINT or SIGTERM came to all. Frees its text. Prints errors; returns an exit status.
 */
int sweep_store_put(struct sweep_store *store, const struct sweep_done *done,
                    int worker);

/* ---- left.c: what rank 0 did not live to write down ---- */

/* Leave a result beside the database. Prints errors; returns an exit status. */
int sweep_left_put(const char *db, const struct sweep *s, const struct sweep_done *done,
                   int worker);
/* Take up what was left by this sweep. Prints errors; returns an exit status. */
int sweep_left_take(struct sweep_store *store);

/* ---- progress.c: on a terminal; SIGINT ---- */

extern volatile int sweep_interrupted;
void sweep_progress_begin(void);
void sweep_progress(const struct sweep_store *store, const struct sweep *s, bool last);
/* How it ended. Returns an exit status. */
int sweep_conclude(const struct sweep_store *store, const struct sweep *s,
                   const char *path, int status);
/* Exclude a second one on the same file. Prints errors; returns an exit status. */
int sweep_lock(const char *path);
/* The database that belongs to a file: FILE.db. Caller frees. */
char *sweep_default_store(const char *path);

/* ---- show.c: tables and plots ---- */

/* Every item with its parameters and measures; csv: with commas. */
int sweep_table(struct sweep_store *store, bool csv);
/* what: Y or Y,SERIES: measure Y added up over all items, or for each value of a
 * parameter. An item that has failed or is not done yet is an error. */
int sweep_sum(struct sweep_store *store, const char *what);
/* axes: X,Y or X,Y,SERIES; the mean over everything else, as SVG. */
int sweep_plot(struct sweep_store *store, const char *axes, const char *path);

#endif
