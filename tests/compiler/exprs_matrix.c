/* exprs_matrix.c: every elementwise operation, reduction and movement in every dtype
 * that has it.
 *
 * What a dtype has is said here once more, from uop.def's own words, so that a rule of
 * derive.c that is too strict shows as an expression that cannot be built.
 *
 * SPDX-License-Identifier: MIT
 */
#include "exprs_input.h"

#include <stdio.h>

#include "graph.h"

enum kind { UNARY, POSITIVE, BINARY, OF_POSITIVE, SHIFT, CHOICE, FUSED, FOLD, MOVE };

enum { BOOLS = 1, INTS = 2, FLOATS = 4, NUMBERS = INTS | FLOATS, ALL = 7 };

static const struct {
    const char *name;
    enum cc_op op;
    enum kind kind;
    unsigned has;
} list[] = {
    {"neg", CC_NEG, UNARY, NUMBERS},        {"exp2", CC_EXP2, UNARY, FLOATS},
    {"log2", CC_LOG2, POSITIVE, FLOATS},    {"sin", CC_SIN, UNARY, FLOATS},
    {"sqrt", CC_SQRT, POSITIVE, FLOATS},    {"recip", CC_RECIP, POSITIVE, FLOATS},
    {"trunc", CC_TRUNC, UNARY, FLOATS},     {"add", CC_ADD, BINARY, ALL},
    {"sub", CC_SUB, BINARY, NUMBERS},       {"mul", CC_MUL, BINARY, ALL},
    {"fdiv", CC_FDIV, OF_POSITIVE, FLOATS}, {"pow", CC_POW, OF_POSITIVE, FLOATS},
    {"idiv", CC_IDIV, BINARY, INTS},        {"mod", CC_MOD, BINARY, INTS},
    {"max", CC_MAX, BINARY, ALL},           {"shl", CC_SHL, SHIFT, INTS},
    {"shr", CC_SHR, SHIFT, INTS},           {"and", CC_AND, BINARY, BOOLS | INTS},
    {"or", CC_OR, BINARY, BOOLS | INTS},    {"xor", CC_XOR, BINARY, BOOLS | INTS},
    {"cmplt", CC_CMPLT, BINARY, ALL},       {"cmpeq", CC_CMPEQ, BINARY, ALL},
    {"cmpne", CC_CMPNE, BINARY, ALL},       {"where", CC_WHERE, CHOICE, ALL},
    {"mulacc", CC_MULACC, FUSED, NUMBERS},  {"reduce add", CC_ADD, FOLD, ALL},
    {"reduce mul", CC_MUL, FOLD, ALL},      {"reduce max", CC_MAX, FOLD, ALL},
    {"flip", CC_FLIP, MOVE, ALL},           {"pad", CC_PAD, MOVE, ALL},
    {"shrink", CC_SHRINK, MOVE, ALL},       {"permute", CC_PERMUTE, MOVE, ALL},
    {"expand", CC_EXPAND, MOVE, ALL},       {"reshape", CC_RESHAPE, MOVE, ALL},
};

#define N_LIST (sizeof list / sizeof list[0])
#define N_DT   (CC_DT_COUNT - 1u)

static bool has(unsigned which, enum cc_dtype dtype)
{
    unsigned kind = cc_is_float(dtype) ? FLOATS : dtype == CC_DT_BOOL ? BOOLS : INTS;
    return list[which].has & kind;
}

unsigned matrix_count(void)
{
    unsigned n = 0;
    for (unsigned i = 0; i < N_LIST * N_DT; i++)
        n += has(i / N_DT, (enum cc_dtype)(1 + i % N_DT));
    return n;
}

static cc_ref in(enum cc_dtype dtype)
{
    static const int64_t shape[2] = {5, 7};
    return exprs_input(dtype, 2, shape);
}

/* At least one half. */
static cc_ref positive(struct cc_graph *g, enum cc_dtype dtype)
{
    cc_ref x = cc_alu2(g, CC_MAX, in(dtype), cc_const_float(g, dtype, -3));
    return cc_alu2(g, CC_ADD, x, cc_const_float(g, dtype, 3.5));
}

static cc_ref shifted(struct cc_graph *g, enum cc_op op, enum cc_dtype dtype)
{
    cc_ref width = cc_const_int(g, dtype, 8 * cc_dtype_bytes(dtype) - 1);
    return cc_alu2(g, op, in(dtype), cc_alu2(g, CC_AND, in(dtype), width));
}

static cc_ref move(struct cc_graph *g, enum cc_op op, cc_ref x)
{
    switch (op) {
    case CC_FLIP:
        return cc_flip(g, x, 2, (int64_t[]){0, 1});
    case CC_PAD:
        return cc_pad(g, x, (int64_t[]){0, 3, 2, 1});
    case CC_SHRINK:
        return cc_shrink(g, x, (int64_t[]){1, 5, 3, 6});
    case CC_PERMUTE:
        return cc_permute(g, x, 2, (int64_t[]){1, 0});
    case CC_EXPAND:
        return cc_expand(g, cc_reshape(g, x, 3, (int64_t[]){5, 1, 7}), 3,
                         (int64_t[]){5, 3, 7});
    default:
        return cc_reshape(g, cc_permute(g, x, 2, (int64_t[]){1, 0}), 1,
                          (int64_t[]){35});
    }
}

static cc_ref build(struct cc_graph *g, unsigned which, enum cc_dtype dtype)
{
    enum cc_op op = list[which].op;
    switch (list[which].kind) {
    case UNARY:
        return cc_alu1(g, op, in(dtype));
    case POSITIVE:
        return cc_alu1(g, op, positive(g, dtype));
    case BINARY:
        return cc_alu2(g, op, in(dtype), in(dtype));
    case OF_POSITIVE:
        return cc_alu2(g, op, positive(g, dtype), positive(g, dtype));
    case SHIFT:
        return shifted(g, op, dtype);
    case CHOICE:
        return cc_where(g, in(CC_DT_BOOL), in(dtype), in(dtype));
    case FUSED:
        return cc_uop(g, op, CC_DT_VOID, 3, (cc_ref[]){in(dtype), in(dtype), in(dtype)},
                      0, NULL, NULL);
    case FOLD:
        return cc_reduce(g, op, in(dtype), 1, (int64_t[]){op == CC_MUL ? 0 : 1});
    default:
        return move(g, op, in(dtype));
    }
}

cc_ref matrix_build(struct cc_graph *g, unsigned i, char *name)
{
    unsigned at = 0;
    while (!has(at / N_DT, (enum cc_dtype)(1 + at % N_DT)) || i-- > 0)
        at++;
    enum cc_dtype dtype = (enum cc_dtype)(1 + at % N_DT);
    snprintf(name, 64, "%s of %s", list[at / N_DT].name, cc_dtype_name(dtype));
    return build(g, at / N_DT, dtype);
}
