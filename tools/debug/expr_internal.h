/* expr_internal.h: what the files of the evaluator share.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DEBUG_EXPR_INTERNAL_H
#define RD_DEBUG_EXPR_INTERNAL_H

#include <string.h>

#include "dbg_expr.h"

struct parser {
    const struct context *c;
    const char *start, *at;
    struct expr_error *err;
    unsigned depth;
};

/* Why it cannot be evaluated. Returns false. */
bool parse_fail(struct parser *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

struct value value_number(const struct vtype *type, uint64_t bits);

static inline bool same_name(const char *a, size_t len, const char *b)
{
    return strlen(b) == len && memcmp(a, b, len) == 0;
}

/* names.c: each sets *no if the name is none of its kind. */
bool name_file_register(struct parser *p, const char *name, size_t len, bool *no,
                        struct value *out);
bool name_special_register(struct parser *p, const char *name, size_t len, bool *no,
                           struct value *out);
bool name_argument(struct parser *p, const char *name, size_t len, bool *no,
                   struct value *out);
bool name_variable(struct parser *p, const char *name, size_t len, bool *no,
                   struct value *out);

#endif
