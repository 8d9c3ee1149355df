/* expr.h: expressions of the assembly language, for operands and directives alike.
 *
 * Operators, their precedence and numbers are GNU as's, arithmetic is 64-bit two's
 * complement. What a name stands for is the user's business, and what becomes of an
 * operator whose operands are not both numbers. Allocates nothing, keeps no state.
 * SPDX-License-Identifier: MIT
 */
#ifndef ISA_EXPR_H
#define ISA_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EX_MAX_DEPTH 256u /* parentheses, unary operators, chains of operators */

enum ex_op {
    EX_NONE,
    EX_NEG,
    EX_NOT,
    EX_LNOT,
    EX_ADD,
    EX_SUB,
    EX_MUL,
    EX_DIV,
    EX_MOD,
    EX_SHL,
    EX_SHR,
    EX_AND,
    EX_OR,
    EX_XOR,
    EX_ORNOT,
    EX_LAND,
    EX_LOR,
    EX_EQ,
    EX_NE,
    EX_LT,
    EX_LE,
    EX_GT,
    EX_GE,
    EX_MAX,
    EX_ALIGNTO,
    EX_OPS
};

enum ex_error {
    EX_OK,
    EX_E_OPERAND, /* no expression begins here */
    EX_E_NUMBER,
    EX_E_DIGITS,
    EX_E_64,
    EX_E_128,
    EX_E_CHARACTER,
    EX_E_DIVIDE,
    EX_E_ALIGN,
    EX_E_CODE_SIZE,
    EX_E_ALIGN_ARGS,
    EX_E_ARGUMENTS,
    EX_E_DEPTH,
    EX_E_PAREN,
    EX_E_USER, /* a hook failed and knows why */
};

/* The number k, or, if node is not 0, what the user calls so. */
struct ex_value {
    uint32_t node;
    int64_t k;
};

struct ex;

/* What the user of the parser knows. Each returns false on a mistake, after ex_fail().
 */
struct ex_hooks {
    /* A name, a string or anything else begins at p that is no number: move behind it.
     */
    bool (*name)(struct ex *e, struct ex_value *out);
    /* 1f or 1b; p is behind it. */
    bool (*label)(struct ex *e, uint64_t number, bool forward, struct ex_value *out);
    /* a op b, not both of them numbers; at: of the operator. NULL if no hook makes
     * nodes. */
    bool (*join)(struct ex *e, enum ex_op op, struct ex_value a, struct ex_value b,
                 const char *at, struct ex_value *out);
};

/* An expression being read. The first mistake stays. */
struct ex {
    const char *p, *end;
    const struct ex_hooks *hooks;
    void *ctx;
    unsigned depth;
    unsigned lines; /* newlines in the comments that were skipped */
    const char *at; /* where the mistake is */
    uint8_t error;  /* enum ex_error */
};

/* Read an expression, blanks before it skipped, those behind it perhaps. */
bool ex_parse(struct ex *e, struct ex_value *out);
/* The same without binary operators outside parentheses. */
bool ex_primary(struct ex *e, struct ex_value *out);

/* A whole number of up to 64 bits, or 128 if high is given; a digit stands at p. What
 * follows is not looked at. */
bool ex_number(struct ex *e, uint64_t *low, uint64_t *high);

/* Value of a digit up to f, 99 if it is none. */
static inline unsigned ex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a') + 10 : 99;
}

/* May the character be part of a name? */
bool ex_in_name(char c);

/* a op b; unary operators ignore b. false: division by zero and the like. Comparisons
 * give -1 for true, as in other assemblers, the logical operators 1. */
bool ex_compute(enum ex_op op, int64_t a, int64_t b, int64_t *out);
/* The mistake that made ex_compute fail. */
enum ex_error ex_compute_error(enum ex_op op);

bool ex_fail(struct ex *e, const char *at, enum ex_error error);
const char *ex_error_text(unsigned error);

#endif
