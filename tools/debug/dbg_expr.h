/* dbg_expr.h: expressions over registers, memory and variables of a wave's lane.
 *
 *     v3 s[4:5] vcc exec scc m0 pc lane wave group     registers; $v3 even where a
 *                                                      variable is called v3
 *     n  p->x  a[i]  *q  &n                            variables, by DWARF
 *     arg0                                             what the kernel was given
 *     lds[16]  scratch.f32[8]  global.u64[ADDRESS]     memory, elements of a type at a
 *                                                      byte address
 *     (f32)v0  (u32*)s[4:5]  + - * / % << >> & | ^ ~ ! < <= == != && || ?:
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DEBUG_EXPR_H
#define RD_DEBUG_EXPR_H

#include "dbg_program.h"

#define VALUE_BYTES 512u

enum value_place { VALUE_TEMPORARY, VALUE_MEMORY, VALUE_REGISTER, VALUE_PARTS };

struct value {
    const struct vtype *type;
    enum value_place place;
    unsigned space; /* memory */
    uint64_t address;
    unsigned sel;   /* the first register */
    uint64_t bytes; /* of data that are there: less than the type's if it is big */
    bool missing;   /* some bytes are not known (optimized out) */
    uint8_t data[VALUE_BYTES];
};

/* What an expression is about. */
struct context {
    const struct target *target;
    struct program *program;
    unsigned index; /* of the wave in the target, TG_NO_WAVE: none */
    struct tg_wave wave;
    unsigned lane;
};

/* Fill in index and wave. false: there is no such wave. */
bool context_of(struct context *c, const struct target *t, struct program *p,
                uint64_t group, unsigned wave, unsigned lane);

struct expr_error {
    char text[200];
    unsigned column; /* of the expression, from 0 */
};

/* Evaluate. rest: out, where it ends (NULL: it must be all). */
bool expr_value(const struct context *c, const char *text, struct value *out,
                const char **rest, struct expr_error *err);
/* As a truth value, and as a number. */
bool expr_true(const struct context *c, const char *text, bool *out,
               struct expr_error *err);
bool expr_u64(const struct context *c, const char *text, uint64_t *out,
              struct expr_error *err);

/* Does it speak of something that each lane has its own of? */
bool expr_by_lane(const char *text);

/* Names of variables, arguments and registers that expressions may begin with here, and
 * that begin with a text. */
void names_begin(const struct context *c, const char *begin,
                 void (*each)(void *ctx, const char *name, bool variable), void *ctx);

/* A variable's value. */
bool expr_variable(const struct context *c, const struct source_variable *v,
                   struct value *out, const char **why);

/* The value as another type: numbers converted, raw registers bit by bit. */
struct value value_as(const struct value *v, const struct vtype *type);

/* A built-in type by its name (u32, f16x2 ...), or NULL. */
const struct vtype *expr_type(const char *name, size_t len);

/* The value as text: "1.5", "{x = 1, y = 2}". format: 0 or one of x d u f t c b. */
void value_text(const struct context *c, const struct value *v, char format, char *text,
                size_t size);
/* Its element or member number i, with its name; false: it has none. */
bool value_child(const struct context *c, const struct value *v, unsigned i,
                 struct value *out, char *name, size_t size);
unsigned value_children(const struct context *c, const struct value *v);

#endif
