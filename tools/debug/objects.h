/* objects.h: code objects that a program may have loaded: files that are named by hand,
 * and those that it has left in the state folder of `rdna3 exec`. Which one a kernel is
 * of is found by its code. SPDX-License-Identifier: MIT
 */
#ifndef RD_DEBUG_OBJECTS_H
#define RD_DEBUG_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct co_object;
struct co_kernel;

struct object {
    char *path; /* as it was named, or where the program has left it */
    void *data; /* the code object alone, out of its bundle */
    size_t bytes;
    struct co_object *co;
};

/* Zero is empty. */
struct objects {
    struct object *v;
    unsigned n;
    unsigned loaded; /* of the program's, so many have been looked at */
};

/* Read a file that a program loads: of a bundle the part for this GPU. option: what
 * named it, for the message. Prints the error; returns an exit status. */
int objects_read(const char *option, const char *path, void **data, size_t *bytes);

/* Add such a file. */
int objects_add(struct objects *o, const char *option, const char *path);
/* Add what programs have left in a state folder since the last time. */
void objects_add_loaded(struct objects *o, const char *state);
void objects_free(struct objects *o);

/* A kernel's code in memory: read: false if it is not there. */
struct objects_code {
    bool (*read)(void *ctx, uint64_t va, void *to, size_t bytes);
    void *ctx;
    uint64_t entry;
};

/* The object with a kernel whose code is there, the last one that came; NULL: none has.
 * kernel: out. Its image begins at entry - kernel->entry_offset. */
const struct object *objects_find(const struct objects *o,
                                  const struct objects_code *code,
                                  const struct co_kernel **kernel);

#endif
