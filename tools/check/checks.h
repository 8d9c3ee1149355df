/* checks.h: what `rdna3 run --check` and `rdna3 check` share: options, and what becomes
 * of findings.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TOOL_CHECKS_H
#define RD_TOOL_CHECKS_H

#include "checkers.h"

#define CHECKS_FILES 16u

struct checks_options {
    unsigned classes;  /* CK_BITs; 0: nothing is checked */
    bool lanes;        /* work-items of a wave race, too */
    const char *given; /* an option besides the list, the last */
    bool keep_going;
    int error_exit; /* exit status if there are errors */
    uint64_t watchdog;
    bool hazard; /* what loads bring arrives late ... */
    uint64_t hazard_seed;
    uint64_t seed;                  /* order in which waves and workgroups take turns */
    const char *json, *xml, *sarif; /* files to write; NULL: none */
    const char *gen_suppressions;
    bool leaks;       /* memory that a program does not free is an error */
    const char *root; /* where a program's paths begin; NULL: here */
    const char *suppressions[CHECKS_FILES];
    unsigned n_suppressions;
};

#define CHECKS_DEFAULTS (struct checks_options){.error_exit = 1}

enum {
    CHECKS_OPT_LIST = 600,
    CHECKS_OPT_KEEP_GOING,
    CHECKS_OPT_LANES,
    CHECKS_OPT_ERROR_EXIT,
    CHECKS_OPT_WATCHDOG,
    CHECKS_OPT_HAZARD,
    CHECKS_OPT_SEED,
    CHECKS_OPT_JSON,
    CHECKS_OPT_XML,
    CHECKS_OPT_SARIF,
    CHECKS_OPT_SUPPRESSIONS,
    CHECKS_OPT_GEN_SUPPRESSIONS,
    CHECKS_OPT_LAST = CHECKS_OPT_GEN_SUPPRESSIONS
};

/* Take one of these options. Prints the error; returns CLI_OK or CLI_USAGE. */
int checks_option(struct checks_options *o, int option, const char *name,
                  const char *text);

/* "  mem    accesses that ..." per checker that exists. */
void checks_print_classes(void);

/* A code object that findings lie in. */
struct checks_object {
    uint64_t
        image; /* where it was loaded: its virtual address 0; 0: find out by its code */
    const char *path;
    const void *data;
    size_t bytes;
};

/* The suppressions of --suppressions, read before anything runs. */
struct checks_suppressions;

/* Prints errors; returns an exit status. Owner: checks_free. */
int checks_read_suppressions(const struct checks_options *o,
                             struct checks_suppressions **out);
void checks_free(struct checks_suppressions *s);

/* Print what was found and the summary to stderr, write the files that are asked for.
 *
 * status  what became of the rest
 * Returns the exit status of the command: o->error_exit if there are errors that no
 * suppression takes, else status.
 */
int checks_report(const struct checks_options *o, struct checks_suppressions *s,
                  const struct ck_table *table, const struct checks_object *objects,
                  unsigned n_objects, int status);

#endif
