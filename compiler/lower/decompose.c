/* decompose.c: operations that targets lack, in terms of those they have: division of
 * 64-bit integers, exp2, log2 and sine of f64.
 *
 * Each gives the value that scalar.c defines: integers exactly, floats within a few
 * units of the last place (sine: of 1, for arguments up to 2^20). Knows no target.
 *
 * SPDX-License-Identifier: MIT
 */
#include "lower.h"

#include <math.h>

/* ---- building ---- */

static cc_ref real(struct cc_graph *g, double v)
{
    return cc_const_float(g, CC_DT_F64, v);
}

static cc_ref whole(struct cc_graph *g, cc_ref like, int64_t v)
{
    return cc_const_int(g, like->dtype, v);
}

static cc_ref to(struct cc_graph *g, cc_ref a, enum cc_dtype dtype)
{
    return cc_simplify_node(g, cc_cast(g, a, dtype));
}

static cc_ref bits(struct cc_graph *g, cc_ref a, enum cc_dtype dtype)
{
    return cc_simplify_node(g, cc_bitcast(g, a, dtype));
}

static cc_ref fma3(struct cc_graph *g, cc_ref a, cc_ref b, cc_ref c)
{
    return cc_s3(g, CC_MULACC, a, b, c);
}

/* c[0] + x c[1] + x^2 c[2] ... */
static cc_ref polynomial(struct cc_graph *g, cc_ref x, const double *c, unsigned n)
{
    cc_ref r = real(g, c[n - 1]);
    for (unsigned i = n - 1; i-- > 0;)
        r = fma3(g, r, x, real(g, c[i]));
    return r;
}

/* To the nearest integer, as a float. */
static cc_ref nearest(struct cc_graph *g, cc_ref x)
{
    cc_ref negative = cc_s2(g, CC_CMPLT, x, real(g, 0));
    cc_ref half = cc_s3(g, CC_WHERE, negative, real(g, -0.5), real(g, 0.5));
    return cc_s1(g, CC_TRUNC, cc_s2(g, CC_ADD, x, half));
}

/* ---- division of 64-bit integers ---- */

struct division {
    cc_ref quotient, rest;
};

/* Two estimates from below by f64, each exact but for a factor 1 - 2^-47, leave a rest
 * below twice the divisor: one correction. */
static struct division divide_unsigned(struct cc_graph *g, cc_ref a, cc_ref b)
{
    cc_ref inverse = cc_s1(g, CC_RECIP, to(g, b, CC_DT_F64));
    inverse = cc_s2(g, CC_MUL, inverse, real(g, 1 - 0x1p-47));
    cc_ref q = whole(g, a, 0), rest = a;
    for (int i = 0; i < 2; i++) {
        cc_ref part = cc_s2(g, CC_MUL, to(g, rest, CC_DT_F64), inverse);
        part = to(g, part, CC_DT_U64);
        q = cc_s2(g, CC_ADD, q, part);
        rest = cc_s2(g, CC_SUB, rest, cc_s2(g, CC_MUL, part, b));
    }
    cc_ref low = cc_s2(g, CC_CMPLT, rest, b);
    return (struct division){
        cc_s3(g, CC_WHERE, low, q, cc_s2(g, CC_ADD, q, whole(g, q, 1))),
        cc_s3(g, CC_WHERE, low, rest, cc_s2(g, CC_SUB, rest, b))};
}

static cc_ref negate_if(struct cc_graph *g, cc_ref condition, cc_ref x)
{
    return cc_s3(g, CC_WHERE, condition, cc_s1(g, CC_NEG, x), x);
}

/* By 0 the quotient is 0 and the rest is a. */
static cc_ref divide(struct cc_graph *g, cc_ref n)
{
    cc_ref a = n->src[0], b = n->src[1], zero = whole(g, a, 0);
    bool is_signed = n->dtype == CC_DT_I64, rest = n->op == CC_MOD;
    cc_ref a_minus = cc_s2(g, CC_CMPLT, a, zero), b_minus = cc_s2(g, CC_CMPLT, b, zero);
    cc_ref ua = a, ub = b;
    if (is_signed) {
        ua = bits(g, negate_if(g, a_minus, a), CC_DT_U64);
        ub = bits(g, negate_if(g, b_minus, b), CC_DT_U64);
    }
    struct division d = divide_unsigned(g, ua, ub);
    cc_ref r = bits(g, rest ? d.rest : d.quotient, n->dtype);
    if (is_signed)
        r = negate_if(g, rest ? a_minus : cc_s2(g, CC_CMPNE, a_minus, b_minus), r);
    return cc_s3(g, CC_WHERE, cc_s2(g, CC_CMPEQ, b, zero), rest ? a : zero, r);
}

/* ---- exp2 ---- */

/* 2 to the power of an i64 from -1022 to 1023 */
static cc_ref power_of_two(struct cc_graph *g, cc_ref k)
{
    cc_ref biased = cc_s2(g, CC_ADD, k, whole(g, k, 1023));
    return bits(g, cc_s2(g, CC_SHL, biased, whole(g, k, 52)), CC_DT_F64);
}

/* 2^n 2^f with |f| <= 1/2; 2^n in two factors, so that results below 2^-1022 come out
 * too. */
static cc_ref exp2_f64(struct cc_graph *g, cc_ref x)
{
    double c[15] = {1};
    for (int i = 1; i < 15; i++)
        c[i] = c[i - 1] * M_LN2 / i;
    cc_ref big = cc_s2(g, CC_CMPLT, real(g, 1024), x);
    cc_ref small = cc_s2(g, CC_CMPLT, x, real(g, -1080));
    cc_ref in = cc_s3(g, CC_WHERE, big, real(g, 1024), x);
    in = cc_s3(g, CC_WHERE, small, real(g, -1080), in);
    cc_ref n = nearest(g, in);
    cc_ref r = polynomial(g, cc_s2(g, CC_SUB, in, n), c, 15);
    cc_ref k = to(g, n, CC_DT_I64);
    cc_ref half = cc_s2(g, CC_SHR, k, whole(g, k, 1));
    r = cc_s2(g, CC_MUL, r, power_of_two(g, half));
    r = cc_s2(g, CC_MUL, r, power_of_two(g, cc_s2(g, CC_SUB, k, half)));
    return cc_s3(g, CC_WHERE, cc_s2(g, CC_CMPNE, x, x), x, r);
}

/* ---- log2 ---- */

/* exponent + log2(m), m in [sqrt(1/2), sqrt(2)), by the series of atanh */
static cc_ref log2_f64(struct cc_graph *g, cc_ref x)
{
    double c[13];
    for (int i = 0; i < 13; i++)
        c[i] = 2 / M_LN2 / (2 * i + 1);
    cc_ref tiny = cc_s2(g, CC_CMPLT, x, real(g, 0x1p-1022));
    cc_ref scaled = cc_s3(g, CC_WHERE, tiny, cc_s2(g, CC_MUL, x, real(g, 0x1p54)), x);
    cc_ref u = bits(g, scaled, CC_DT_U64);
    cc_ref fraction = cc_s2(g, CC_AND, u, whole(g, u, (1ll << 52) - 1));
    cc_ref one = whole(g, u, 1023ll << 52);
    cc_ref m = bits(g, cc_s2(g, CC_OR, fraction, one), CC_DT_F64); /* [1, 2) */
    cc_ref high = cc_s2(g, CC_CMPLT, real(g, M_SQRT2), m);
    m = cc_s3(g, CC_WHERE, high, cc_s2(g, CC_MUL, m, real(g, 0.5)), m);
    cc_ref e = to(g, to(g, cc_s2(g, CC_SHR, u, whole(g, u, 52)), CC_DT_I32), CC_DT_F64);
    e = cc_s2(g, CC_ADD, e, cc_s3(g, CC_WHERE, high, real(g, -1022), real(g, -1023)));
    e = cc_s2(g, CC_SUB, e, cc_s3(g, CC_WHERE, tiny, real(g, 54), real(g, 0)));
    cc_ref s = cc_s2(g, CC_FDIV, cc_s2(g, CC_SUB, m, real(g, 1)),
                     cc_s2(g, CC_ADD, m, real(g, 1)));
    cc_ref p = polynomial(g, cc_s2(g, CC_MUL, s, s), c, 13);
    cc_ref r = fma3(g, s, p, e);
    cc_ref inf = real(g, INFINITY), zero = real(g, 0);
    r = cc_s3(g, CC_WHERE, cc_s2(g, CC_CMPLT, x, inf), r, x); /* inf, NaN */
    r = cc_s3(g, CC_WHERE, cc_s2(g, CC_CMPLT, x, zero), real(g, NAN), r);
    return cc_s3(g, CC_WHERE, cc_s2(g, CC_CMPEQ, x, zero), real(g, -INFINITY), r);
}

/* ---- sine ---- */

/* x - k pi/2 with pi/2 in three parts, then sine or cosine of |r| <= pi/4 by series */
static cc_ref sin_f64(struct cc_graph *g, cc_ref x)
{
    static const double part[3] = {0x1.921fb544p+0, 0x1.0b4611a6p-34,
                                   0x1.3198a2e037073p-69};
    double sine[10] = {1}, cosine[10] = {1};
    for (int i = 1; i < 10; i++) {
        sine[i] = -sine[i - 1] / (2 * i * (2 * i + 1));
        cosine[i] = -cosine[i - 1] / (2 * i * (2 * i - 1));
    }
    cc_ref k = nearest(g, cc_s2(g, CC_MUL, x, real(g, M_2_PI))), r = x;
    for (int i = 0; i < 3; i++)
        r = fma3(g, k, real(g, -part[i]), r);
    cc_ref square = cc_s2(g, CC_MUL, r, r);
    cc_ref s = cc_s2(g, CC_MUL, r, polynomial(g, square, sine, 10));
    cc_ref c = polynomial(g, square, cosine, 10);
    cc_ref quadrant = to(g, k, CC_DT_I32);
    cc_ref odd = cc_s2(g, CC_AND, quadrant, whole(g, quadrant, 1));
    cc_ref low = cc_s2(g, CC_AND, quadrant, whole(g, quadrant, 2));
    r = cc_s3(g, CC_WHERE, cc_s2(g, CC_CMPNE, odd, whole(g, odd, 0)), c, s);
    return negate_if(g, cc_s2(g, CC_CMPNE, low, whole(g, low, 0)), r);
}

cc_ref cc_decompose(struct cc_graph *g, cc_ref n)
{
    bool wide = n->dtype == CC_DT_I64 || n->dtype == CC_DT_U64;
    if (wide && (n->op == CC_IDIV || n->op == CC_MOD))
        return divide(g, n);
    if (wide && n->op == CC_MULACC)
        return cc_s2(g, CC_ADD, cc_s2(g, CC_MUL, n->src[0], n->src[1]), n->src[2]);
    if (n->dtype != CC_DT_F64)
        return NULL;
    switch (n->op) {
    case CC_EXP2:
        return exp2_f64(g, n->src[0]);
    case CC_LOG2:
        return log2_f64(g, n->src[0]);
    case CC_SIN:
        return sin_f64(g, n->src[0]);
    default:
        return NULL;
    }
}
