/* found.h: a finding with the source lines and texts that were found for it.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TOOL_CHECKS_FOUND_H
#define RD_TOOL_CHECKS_FOUND_H

#include <stdio.h>

#include "checks.h"
#include "source.h"

struct found_place {
    const struct ck_actor *actor;
    const struct checks_object *object; /* NULL: unknown */
    uint64_t offset; /* of the PC in it, or from the kernel's entry */
    struct source_frame frame[SOURCE_FRAMES]; /* innermost first */
    unsigned n_frames;
};

#define FOUND_TRACE 12u

/* Where the program called a runtime. */
struct found_trace {
    const char *call;
    struct source_frame frame[FOUND_TRACE]; /* innermost first; no line: no DWARF */
    unsigned n;
};

struct found {
    const struct ck_finding *f;
    uint64_t count;
    bool suppressed;
    /* Of what no kernel has done, at has the program's frames. */
    struct found_place at, other;
    struct found_trace made, freed; /* the allocation; call empty: unknown */
};

struct found_list {
    struct found *v;
    unsigned n, errors, notes, suppressed; /* errors, notes: that are not suppressed */
    uint64_t times;                        /* that errors were seen */
    const struct ck_table *table;
};

/* "mem, sync" */
void found_classes(unsigned classes, char *text, size_t size);
/* "workgroup (0,0,0) wave 1 lanes 0-31" */
void found_actor(const struct ck_actor *a, char *text, size_t size);
/* "2 errors, seen 14 times, in ..." */
void found_summary(const struct found_list *l, char *text, size_t size);

/* host.c: the modules that traces name, read when they are first asked for.
 * root: where the program's paths begin, or NULL. */
struct host_modules;
struct host_modules *host_open(const struct ck_table *table, const char *root);
void host_close(struct host_modules *m);
void host_trace(struct host_modules *m, const struct ck_trace *t,
                struct found_trace *out);

/* text.c */
void found_print(const struct found_list *l, FILE *out, bool color);
/* formats.c: the file's contents; errors of writing are the stream's. */
void found_json(const struct found_list *l, FILE *out);
void found_xml(const struct found_list *l, FILE *out);
void found_sarif(const struct found_list *l, FILE *out);

/* suppress.c */
bool suppress_takes(struct checks_suppressions *s, const struct found *f);
void suppress_write(const struct found *f, FILE *out);
void suppress_unused(const struct checks_suppressions *s);

#endif
