/* compute.c: operators on numbers.
 *
 * Invariant: total and free of overflow; what has no result fails.
 * SPDX-License-Identifier: MIT
 */
#include "expr.h"

static int64_t wrap(uint64_t v)
{
    return (int64_t)v;
}

static bool divide(enum ex_op op, int64_t a, int64_t b, int64_t *out)
{
    if (b == 0)
        return false;
    if (b == -1)
        *out = op == EX_DIV ? wrap(0 - (uint64_t)a) : 0;
    else
        *out = op == EX_DIV ? a / b : a % b;
    return true;
}

static bool align(int64_t a, int64_t b, int64_t *out)
{
    if (b <= 0 || a < 0 || a > INT64_MAX - b)
        return false;
    *out = (a + b - 1) / b * b;
    return true;
}

static int64_t bitwise(enum ex_op op, uint64_t x, uint64_t y)
{
    switch (op) {
    case EX_NOT:
        return wrap(~x);
    case EX_SHL:
        return y < 64 ? wrap(x << y) : 0;
    case EX_SHR: /* logical, as for ELF targets */
        return y < 64 ? wrap(x >> y) : 0;
    case EX_AND:
        return wrap(x & y);
    case EX_OR:
        return wrap(x | y);
    case EX_XOR:
        return wrap(x ^ y);
    default: /* EX_ORNOT */
        return wrap(x | ~y);
    }
}

static bool compare(enum ex_op op, int64_t a, int64_t b)
{
    switch (op) {
    case EX_EQ:
        return a == b;
    case EX_NE:
        return a != b;
    case EX_LT:
        return a < b;
    case EX_LE:
        return a <= b;
    case EX_GT:
        return a > b;
    default: /* EX_GE */
        return a >= b;
    }
}

bool ex_compute(enum ex_op op, int64_t a, int64_t b, int64_t *out)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (op) {
    case EX_NEG:
        *out = wrap(0 - x);
        return true;
    case EX_ADD:
        *out = wrap(x + y);
        return true;
    case EX_SUB:
        *out = wrap(x - y);
        return true;
    case EX_MUL:
        *out = wrap(x * y);
        return true;
    case EX_DIV:
    case EX_MOD:
        return divide(op, a, b, out);
    case EX_LNOT:
        *out = !a;
        return true;
    case EX_LAND:
        *out = a && b;
        return true;
    case EX_LOR:
        *out = a || b;
        return true;
    case EX_NOT:
    case EX_SHL:
    case EX_SHR:
    case EX_AND:
    case EX_OR:
    case EX_XOR:
    case EX_ORNOT:
        *out = bitwise(op, x, y);
        return true;
    case EX_EQ:
    case EX_NE:
    case EX_LT:
    case EX_LE:
    case EX_GT:
    case EX_GE:
        *out = compare(op, a, b) ? -1 : 0;
        return true;
    case EX_MAX:
        *out = a > b ? a : b;
        return true;
    case EX_ALIGNTO:
        return align(a, b, out);
    case EX_NONE:
    case EX_OPS:
        break;
    }
    return false;
}

enum ex_error ex_compute_error(enum ex_op op)
{
    return op == EX_ALIGNTO ? EX_E_ALIGN : EX_E_DIVIDE;
}
