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

struct found {
    const struct ck_finding *f;
    uint64_t count;
    bool suppressed;
    struct found_place at, other;
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
