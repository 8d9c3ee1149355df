/* sweep.c: random tensor expressions through every way of running them.
 *
 *   compiler_sweep FIRST COUNT [SECONDS]
 *
 * Wider than the random ones of exprs.c: every dtype, casts between them, integer
 * arithmetic, reductions of odd sizes, products of matrices. Each is evaluated from its
 * definition and run as gfx1100 code on the emulator; every second one with its kernels
 * cut up at random. Knows for every value whether its floats are exact, so that
 * comparisons and casts never depend on rounding, and how large they can be.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exprs.h"
#include "gpu.h"
#include "graph.h"

#define MAX_ELEMENTS 3000
#define MAX_TOP      1e4

/* A value while the expression grows. */
struct val {
    cc_ref ref;
    double top; /* no float is further from 0 */
    int bits;   /* floats are multiples of 2^-bits */
    bool exact; /* floats, and all that went into them, were never rounded */
};

static struct cc_context *ctx;
static struct cc_graph *g;
static uint64_t seed;
static double largest; /* of all values of the expression */
static double unit;    /* the coarsest that something was rounded to */

static uint32_t rnd(uint32_t below)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33) % below;
}

/* ---- what is known of values ---- */

static int mantissa(enum cc_dtype dtype)
{
    return dtype == CC_DT_F16    ? 11
           : dtype == CC_DT_BF16 ? 8
           : dtype == CC_DT_F32  ? 24
                                 : 53;
}

static struct val known(cc_ref ref, double top, int bits, bool exact)
{
    struct val v = {ref, top, bits, exact};
    if (cc_is_float(ref->dtype)) {
        v.exact =
            exact && bits < 60 && ldexp(top, bits) < ldexp(1, mantissa(ref->dtype));
        largest = top > largest ? top : largest;
        if (!v.exact)
            unit = fmax(unit, ldexp(1, -mantissa(ref->dtype)));
    } else { /* integers wrap, the same everywhere */
        v.exact = true;
        v.bits = 0;
        v.top = ldexp(1, (int)(8 * cc_dtype_bytes(ref->dtype)));
    }
    return v;
}

static struct val rounded(cc_ref ref, double top)
{
    return known(ref, top, 0, false);
}

/* ---- leaves ---- */

static struct val input(enum cc_dtype dtype, unsigned ndim, const int64_t *shape)
{
    struct cc_tensor *t;
    int64_t count = 1;
    unsigned bytes = cc_dtype_bytes(dtype);
    for (unsigned i = 0; i < ndim; i++)
        count *= shape[i];
    char *data = calloc((size_t)count + 1, bytes);
    bool small = rnd(2);
    for (int64_t i = 0; data && i < count; i++) {
        union cc_value v = {.i = (int64_t)rnd(80) - (cc_is_unsigned(dtype) ? 0 : 40)};
        if (cc_is_float(dtype))
            v.f = ((double)rnd(32) - 16) / 4;
        else if (!small) /* any bits */
            v.u = (uint64_t)rnd(1u << 30) << 34 ^ (uint64_t)rnd(1u << 30) << 11 ^
                  rnd(2048);
        cc_store_scalar(dtype, data + i * bytes, cc_fit(dtype, v));
    }
    if (!data || cc_tensor_from(ctx, dtype, ndim, shape, data, &t) != RD_OK)
        abort();
    free(data);
    return known(cc_tensor_ref(t), 4, 2, true);
}

static enum cc_dtype any_dtype(void)
{
    static const enum cc_dtype often[] = {CC_DT_F32, CC_DT_I32, CC_DT_F16};
    return rnd(2) ? often[rnd(3)] : (enum cc_dtype)(CC_DT_BOOL + rnd(CC_DT_COUNT - 1));
}

static int64_t any_size(void)
{
    static const int64_t sizes[] = {16, 31, 32, 33, 48, 64, 65, 100};
    return rnd(6) ? 1 + rnd(8) : sizes[rnd(8)];
}

static struct val leaf(void)
{
    int64_t shape[3];
    unsigned ndim = 1 + rnd(3);
    for (unsigned i = 0; i < ndim; i++)
        shape[i] = any_size();
    while (ndim > 1 && shape[0] * shape[1] * (ndim > 2 ? shape[2] : 1) > MAX_ELEMENTS)
        ndim--;
    return input(any_dtype(), ndim, shape);
}

/* One whose shape goes with another's. */
static struct val leaf_for(cc_ref x, enum cc_dtype dtype)
{
    int64_t shape[CC_MAX_DIMS];
    unsigned skip = rnd(3) ? 0 : rnd(x->ndim + 1u), n = 0;
    for (unsigned i = skip; i < x->ndim; i++)
        shape[n++] = rnd(5) ? x->shape[i] : 1;
    return input(dtype, n, shape);
}

static struct val constant(enum cc_dtype dtype)
{
    static const int64_t ints[] = {0, 1, 2, 3, 7, 8, 10, 16, 24, 31, 100, 255, -1, -3};
    if (cc_is_float(dtype))
        return known(cc_const_float(g, dtype, ((double)rnd(32) - 16) / 4), 4, 2, true);
    union cc_value v = {.i = ints[rnd(14)]};
    return known(cc_const_int(g, dtype, cc_fit(dtype, v).i), 0, 0, true);
}

/* One that goes with another, of any kind. */
static struct val partner(struct val x)
{
    enum cc_dtype dtype = rnd(3) ? x.ref->dtype : any_dtype();
    return rnd(5) == 0 ? x : rnd(3) == 0 ? constant(dtype) : leaf_for(x.ref, dtype);
}

static cc_ref number(double v)
{
    return cc_const_float(g, CC_DT_F32, v);
}

/* ---- steps ---- */

static struct val move(struct val x)
{
    cc_ref r = x.ref;
    int64_t a[2 * CC_MAX_DIMS] = {0};
    switch (r->ndim ? rnd(6) : 4) {
    case 0:
        for (unsigned i = 0; i < r->ndim; i++)
            a[i] = (i + 1) % r->ndim;
        x.ref = cc_permute(g, r, r->ndim, a);
        break;
    case 1:
        for (unsigned i = 0; i < 2u * r->ndim; i++)
            a[i] = rnd(3);
        x.ref = cc_pad(g, r, a);
        break;
    case 2:
        for (unsigned i = 0; i < r->ndim; i++) {
            a[2 * i] = rnd((uint32_t)r->shape[i]);
            a[2 * i + 1] = a[2 * i] + 1 + rnd((uint32_t)(r->shape[i] - a[2 * i]));
        }
        x.ref = cc_shrink(g, r, a);
        break;
    case 3:
        a[0] = rnd(r->ndim);
        x.ref = cc_flip(g, r, 1, a);
        break;
    case 4:
        a[0] = cc_elements(r);
        x.ref = cc_reshape(g, r, 1, a);
        break;
    default:
        a[0] = 2 + rnd(3);
        for (unsigned i = 0; i < r->ndim; i++)
            a[i + 1] = r->shape[i];
        if (r->ndim < 4)
            x.ref = cc_t_broadcast(g, r, r->ndim + 1u, a);
        break;
    }
    return x;
}

static struct val cast(struct val x, enum cc_dtype to)
{
    bool from_float = cc_is_float(x.ref->dtype);
    if (from_float && !cc_is_float(to)) { /* in range, and not next to an integer */
        double limit = ldexp(1, (int)(8 * cc_dtype_bytes(to)) - 1);
        if (!x.exact || (to != CC_DT_BOOL && (cc_is_unsigned(to) || x.top >= limit)))
            return x;
    }
    double top = !from_float && x.top > ldexp(1, 62) ? ldexp(1, 64) : x.top;
    if (cc_is_float(to) && top > MAX_TOP) /* an integer: a few bits of it */
        return known(
            cc_cast(g, cc_t_binary(g, CC_MOD, x.ref, cc_const_int(g, CC_DT_I8, 50)),
                    to),
            128, 0, true);
    return known(cc_cast(g, x.ref, to), x.top, x.bits, x.exact);
}

static struct val unary_float(struct val x)
{
    cc_ref positive = cc_t_binary(g, CC_ADD, cc_t_abs(g, x.ref), number(0.5));
    switch (rnd(9)) {
    case 0:
        return rounded(cc_t_unary(g, CC_SIN, x.ref), 1);
    case 1:
        return known(cc_t_unary(g, CC_NEG, x.ref), x.top, x.bits, x.exact);
    case 2:
        return rounded(cc_t_unary(g, CC_RECIP, positive), 2);
    case 3:
        return known(cc_t_relu(g, x.ref), x.top, x.bits, x.exact);
    case 4:
        return rounded(cc_t_tanh(g, x.ref), 1);
    case 5:
        return rounded(cc_t_unary(g, CC_SQRT, positive), sqrt(x.top + 0.5) + 1);
    case 6:
        return rounded(cc_t_unary(g, CC_LOG2, positive), 20);
    case 7:
        return x.exact ? known(cc_t_unary(g, CC_TRUNC, x.ref), x.top, 0, true) : x;
    default:
        return x.exact ? known(cc_t_floor(g, x.ref), x.top + 1, 0, true) : x;
    }
}

static struct val binary_float(struct val x, struct val y)
{
    int bits = x.bits > y.bits ? x.bits : y.bits;
    bool exact = x.exact && y.exact;
    switch (rnd(exact ? 8 : 5)) {
    case 0:
        return known(cc_t_binary(g, CC_ADD, x.ref, y.ref), x.top + y.top, bits, exact);
    case 1:
        return known(cc_t_binary(g, CC_SUB, x.ref, y.ref), x.top + y.top, bits, exact);
    case 2:
        return known(cc_t_binary(g, CC_MUL, x.ref, y.ref), x.top * y.top,
                     x.bits + y.bits, exact);
    case 3:
        return known(cc_t_binary(g, CC_MAX, x.ref, y.ref),
                     x.top > y.top ? x.top : y.top, bits, exact);
    case 4:
        return rounded(
            cc_t_binary(g, CC_FDIV, x.ref,
                        cc_t_binary(g, CC_ADD, cc_t_abs(g, y.ref), number(0.5))),
            2 * x.top);
    case 5:
        return known(cc_t_binary(g, CC_CMPLT + rnd(3), x.ref, y.ref), 1, 0, true);
    default:
        return known(
            cc_t_where(g, cc_t_binary(g, CC_CMPLT, x.ref, y.ref), y.ref, x.ref),
            x.top > y.top ? x.top : y.top, bits, exact);
    }
}

static struct val binary_int(struct val x, struct val y)
{
    static const enum cc_op ops[] = {CC_ADD, CC_SUB,   CC_MUL,   CC_MAX,
                                     CC_AND, CC_OR,    CC_XOR,   CC_IDIV,
                                     CC_MOD, CC_CMPLT, CC_CMPEQ, CC_CMPNE};
    unsigned bits = 8 * cc_dtype_bytes(x.ref->dtype);
    switch (rnd(5)) {
    case 0:
        if (x.ref->dtype == CC_DT_BOOL)
            break;
        return known(
            cc_t_binary(g, rnd(2) ? CC_SHL : CC_SHR, x.ref,
                        cc_cast(g,
                                cc_t_binary(g, CC_AND, cc_cast(g, y.ref, CC_DT_U8),
                                            cc_const_int(g, CC_DT_U8, bits - 1)),
                                x.ref->dtype)),
            0, 0, true);
    case 1:
        return known(
            cc_t_where(g, cc_t_binary(g, CC_CMPLT, x.ref, y.ref), y.ref, x.ref), 0, 0,
            true);
    default:
        break;
    }
    enum cc_op op = ops[rnd(12)];
    if (x.ref->dtype == CC_DT_BOOL && y.ref->dtype == CC_DT_BOOL &&
        (op == CC_SUB || op == CC_IDIV || op == CC_MOD))
        op = CC_XOR;
    return known(cc_t_binary(g, op, x.ref, y.ref), 0, 0, true);
}

static struct val binary(struct val x, struct val y)
{
    bool fx = cc_is_float(x.ref->dtype), fy = cc_is_float(y.ref->dtype);
    if (!fx && !fy)
        return binary_int(x, y);
    if (!fx)
        x = cast(x, y.ref->dtype);
    if (!fy)
        y = cast(y, x.ref->dtype);
    return binary_float(x, y);
}

static struct val reduce(struct val x)
{
    if (!x.ref->ndim)
        return x;
    unsigned axes = 1u << rnd(x.ref->ndim);
    bool keep = rnd(2), is_float = cc_is_float(x.ref->dtype);
    double n = (double)cc_elements(x.ref);
    switch (rnd(5)) {
    case 0:
        return known(cc_t_max(g, x.ref, axes, keep), x.top, x.bits, x.exact);
    case 1:
        if (is_float && x.top * n < MAX_TOP)
            return rounded(cc_t_mean(g, x.ref, axes, keep), x.top * n);
        return known(cc_t_min(g, x.ref, axes, keep), x.top, x.bits, x.exact);
    case 2:
        if (!is_float && x.ref->dtype != CC_DT_BOOL)
            return known(cc_t_prod(g, x.ref, axes, keep), 0, 0, true);
        return known(cc_t_max(g, x.ref, 0, keep), x.top, x.bits, x.exact);
    default:
        if (is_float && x.top * n >= MAX_TOP)
            return known(cc_t_max(g, x.ref, axes, keep), x.top, x.bits, x.exact);
        return known(cc_t_sum(g, x.ref, axes, keep), x.top * n, x.bits, x.exact);
    }
}

static struct val product(struct val x)
{
    cc_ref r = x.ref;
    if (r->ndim < 2 || !cc_is_float(r->dtype) ||
        x.top * 4 * (double)r->shape[r->ndim - 1] > MAX_TOP)
        return move(x);
    int64_t k = r->shape[r->ndim - 1], shape[2] = {k, any_size()};
    struct val y = input(r->dtype, 2, shape);
    return known(cc_t_matmul(g, r, y.ref), x.top * y.top * (double)k, x.bits + y.bits,
                 x.exact && y.exact);
}

static struct val step(struct val x)
{
    if (cc_elements(x.ref) > MAX_ELEMENTS)
        return reduce(x);
    switch (rnd(8)) {
    case 0:
        return move(x);
    case 1:
        return cast(x, any_dtype());
    case 2:
        return reduce(x);
    case 3:
        return product(x);
    case 4:
        if (cc_is_float(x.ref->dtype) && x.top < 100)
            return unary_float(x);
        return x.ref->dtype == CC_DT_BOOL
                   ? known(cc_t_not(g, x.ref), 0, 0, true)
                   : known(cc_t_unary(g, CC_NEG, x.ref), x.top, x.bits, x.exact);
    default:
        return binary(x, partner(x));
    }
}

static cc_ref build(void)
{
    struct val x = leaf();
    for (unsigned n = 2 + rnd(9); n > 0; n--) {
        struct val y = step(x);
        if (y.top > MAX_TOP && cc_is_float(y.ref->dtype))
            break;
        x = y;
    }
    return x.ref->dtype == CC_DT_F64 ? cc_cast(g, x.ref, CC_DT_F32) : x.ref;
}

/* ---- a device that says at random how fast a program is ---- */

struct memory {
    uint64_t bytes;
    char data[];
};

static rd_status dev_alloc(void *user, uint64_t bytes, void **memory, char *error)
{
    (void)user;
    (void)error;
    struct memory *m = calloc(1, sizeof *m + bytes + 1);
    if (!m)
        return RD_E_NOMEM;
    m->bytes = bytes;
    *memory = m;
    return RD_OK;
}

static void dev_release(void *user, void *memory)
{
    (void)user;
    free(memory);
}

static rd_status dev_write(void *user, void *memory, const void *data, uint64_t bytes,
                           char *error)
{
    (void)user;
    (void)error;
    memcpy(((struct memory *)memory)->data, data, bytes);
    return RD_OK;
}

static rd_status dev_read(void *user, void *memory, void *data, uint64_t bytes,
                          char *error)
{
    (void)user;
    (void)error;
    memcpy(data, ((struct memory *)memory)->data, bytes);
    return RD_OK;
}

static rd_status dev_run(void *user, const struct cc_prog *p, size_t n,
                         void *const *memory, char *error)
{
    struct cc_arg_buffer args[64];
    for (size_t i = 0; i < n && i < 64; i++) {
        struct memory *m = memory[i];
        args[i] = (struct cc_arg_buffer){m->data, m->bytes};
    }
    return gpu_run(user, p, n < 64 ? n : 64, args, error);
}

static rd_status dev_measure(void *user, const struct cc_prog *p, size_t n,
                             void *const *memory, unsigned runs, uint64_t *ticks,
                             char *error)
{
    char *text;
    (void)user;
    (void)n;
    (void)memory;
    (void)runs;
    rd_status st = cc_rdna3(p, &text, error);
    if (st != RD_OK)
        return st;
    free(text);
    *ticks = 1 + rnd(1000);
    return RD_OK;
}

static const struct cc_device device = {.alloc = dev_alloc,
                                        .release = dev_release,
                                        .write = dev_write,
                                        .read = dev_read,
                                        .run = dev_run,
                                        .measure = dev_measure};

/* ---- all of it ---- */

static bool agrees(uint64_t number_)
{
    static const struct cc_search search = {.width = 1, .runs = 1};
    char text[512];
    seed = number_ * 0x9e3779b97f4a7c15u;
    largest = 1;
    unit = 0;
    if (cc_context_create_on(&device, &ctx) != RD_OK)
        abort();
    g = cc_context_graph(ctx);
    if (number_ % 2)
        cc_context_set_search(ctx, &search);
    cc_ref x = build();
    if (cc_graph_status(g) != RD_OK)
        snprintf(text, sizeof text, "not built: %s", cc_graph_error(g));
    else
        exprs_check(ctx, x, fmax(1e-4, 32 * unit) * largest, text);
    if (text[0]) {
        printf("%llu: %s\n", (unsigned long long)number_, text);
        if (getenv("CC_SHOW"))
            puts(cc_graph_error(g));
    }
    cc_context_destroy(ctx);
    cc_beam_forget();
    return text[0] == 0;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("usage: compiler_sweep FIRST COUNT [SECONDS]\n", stderr);
        return 2;
    }
    uint64_t first = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10);
    time_t end = argc > 3 ? time(NULL) + atoi(argv[3]) : 0;
    uint64_t done = 0, wrong = 0;
    while (done < count && (!end || time(NULL) < end))
        wrong += !agrees(first + done++);
    printf("%llu expressions, %llu wrong\n", (unsigned long long)done,
           (unsigned long long)wrong);
    return wrong != 0;
}
