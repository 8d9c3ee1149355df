/* pickle.h: Python's pickles (protocols 2 to 5) as a tree of values. What a class would
 * do is not known here and nothing is called: an object is its class's name, what it
 * was made from and its state. SPDX-License-Identifier: MIT
 */
#ifndef RD_TIMING_PICKLE_H
#define RD_TIMING_PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pk_kind {
    PK_NONE,
    PK_BOOL,
    PK_INT,
    PK_FLOAT,
    PK_TEXT,
    PK_BYTES,
    PK_LIST,  /* also tuples and sets */
    PK_DICT,  /* items: key, value, key, value ... */
    PK_CLASS, /* text: its name */
    PK_OBJECT /* text: its class's name; items: what it was made from; state */
};

struct pk_value {
    uint8_t kind;
    int64_t number;   /* PK_BOOL, PK_INT; other integers than 64 bits hold are 0 */
    const char *text; /* PK_TEXT, PK_BYTES, PK_CLASS, PK_OBJECT: into the file */
    size_t bytes;
    struct pk_value **item;
    size_t n_items, cap;
    struct pk_value *state; /* or NULL */
};

struct pk_reader; /* owns all values */

/* Returns NULL if the bytes are no such pickle: why says where and what, or memory ran
 * out. root out. Owner: pk_free. */
struct pk_reader *pk_read(const uint8_t *data, size_t bytes, struct pk_value **root,
                          char *why, size_t why_bytes);
void pk_free(struct pk_reader *r);

bool pk_is(const struct pk_value *v, const char *text); /* a text or a class's name */
/* The value of a key of a dictionary, or of an object's state; NULL: there is none. */
const struct pk_value *pk_get(const struct pk_value *v, const char *key);
/* An integer; fallback if it is none (v may be NULL). */
int64_t pk_int(const struct pk_value *v, int64_t fallback);

#endif
