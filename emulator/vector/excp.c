/* excp.c: float exceptions of vector instructions: TRAPSTS.EXCP, and traps.
 *
 * Only programs that look at the flags, or are launched with exceptions enabled, pay
 * for them: their float instructions run through x_excp, which works the flags out
 * lane by lane from the operands and then runs the plain handler. Results are never
 * taken from here, and the flags never from the vectorised functions, which compute
 * inactive lanes and both sides of a choice.
 *
 * Rules (manual 3.4.9, 7.2, and the notes of the instructions):
 *  - DX10_CLAMP suppresses all exceptions;
 *  - a subnormal operand raises input denormal whether MODE flushes it or not;
 *  - underflow is a result below the smallest normal, exact or not; flushed, it is
 *    inexact too;
 *  - conversions to integer are inexact only under CLAMP, and compares raise invalid
 * for quiet NaNs only under CLAMP;
 *  - an enabled exception traps behind the instruction, which has completed; both
 * halves of a VOPD raise one exception. The bits of EXCP are those of the host's MXCSR,
 * which does the arithmetic.
 *
 * SPDX-License-Identifier: MIT
 */
#include "excp.h"
#include "control.h"
#include "excp_class.h"

#include <math.h>
#include <string.h>
#include <xmmintrin.h>

enum {
    INVALID = 1,
    DENORMAL = 2,
    DIV_ZERO = 4,
    OVERFLOWS = 8,
    UNDERFLOWS = 16,
    INEXACT = 32,
    INT_DIV_ZERO = 64
};

/* ---- values ------------------------------------------------------------------------
 */

/* An operand as its type and a host number of the same value. */
struct number {
    double v;
    bool snan, nan, denormal, zero, inf;
};

static double widen16(uint32_t h)
{
    int e = (int)(h >> 10 & 31);
    double m = (double)(h & 1023u);
    double v = e == 31 ? (h & 1023u ? NAN : INFINITY)
               : e     ? ldexp(m + 1024.0, e - 25)
                       : ldexp(m, -24);
    return h & 0x8000u ? -v : v;
}

/* MODE flushes input denormals of the type? */
static bool flushes_in(const struct lane_mode *m, unsigned type)
{
    return !((type == T_F32 ? m->denorm32 : m->denorm64) & 1u);
}

static bool flushes_out(const struct lane_mode *m, unsigned type)
{
    return !((type == T_F32 ? m->denorm32 : m->denorm64) & 2u);
}

static struct number number_of(uint64_t bits, unsigned type, const struct lane_mode *m)
{
    unsigned mant = type == T_F16 ? 10 : type == T_F32 ? 23 : 52;
    unsigned width = type == T_F16 ? 16 : type == T_F32 ? 32 : 64;
    uint64_t frac = bits & ((UINT64_C(1) << mant) - 1);
    uint64_t top = (UINT64_C(1) << (width - 1 - mant)) - 1, e = bits >> mant & top;
    struct number n = {.nan = e == top && frac,
                       .inf = e == top && !frac,
                       .denormal = !e && frac,
                       .zero = !e && !frac};
    n.snan = n.nan && !(frac >> (mant - 1));
    n.v = type == T_F16   ? widen16((uint32_t)bits)
          : type == T_F32 ? (double)f32_of_bits((U32)bits)
                          : f64_of_bits(bits);
    if (n.denormal && flushes_in(m, type)) {
        n.v = copysign(0.0, n.v);
        n.zero = true;
    }
    return n;
}

/* ---- arithmetic, flags from the host --------------------------------------------- */

#define HOST_FLAGS   0x3fu
#define HOST_DEFAULT 0x1f80u /* to nearest, denormals kept, masked */

/* Keep the compiler from moving arithmetic across the control register. */
#define OPAQUE(x) __asm__ volatile("" : "+x"(x)::"memory")

static unsigned rounding_of(const struct lane_mode *m, unsigned type)
{
    static const unsigned rc[4] = {0u << 13, 2u << 13, 1u << 13, 3u << 13};
    return rc[(type == T_F32 ? m->round32 : m->round64) & 3u];
}

static unsigned host_end(unsigned before)
{
    unsigned flags = _mm_getcsr() & HOST_FLAGS;
    _mm_setcsr(before);
    return flags & ~(unsigned)DENORMAL;
}

static double tiny_of(unsigned type)
{
    return type == T_F16 ? 0x1p-14 : type == T_F32 ? 0x1p-126 : 0x1p-1022;
}

/* What rounding a result brings: v is the rounded one. */
static unsigned finish(unsigned flags, double v, unsigned type,
                       const struct lane_mode *m)
{
    if (v != 0.0 && fabs(v) < tiny_of(type)) {
        flags |= UNDERFLOWS;
        if (flushes_out(m, type))
            flags |= INEXACT;
    }
    return flags;
}

/* Round v, of which `rest` is missing, to f16. */
static unsigned narrow16(double v, double rest, unsigned round,
                         const struct lane_mode *m)
{
    double limit = round == 0 ? 65520.0 : nextafter(65504.0, INFINITY);
    bool toward = round == 3 || (round == 1 && v < 0) || (round == 2 && v > 0);
    unsigned flags = 0;
    if (v != v || isinf(v))
        return 0;
    if (fabs(v) >= (toward ? 65536.0 : limit))
        return OVERFLOWS | INEXACT;
    int e;
    (void)frexp(v, &e);
    double unit = ldexp(1.0, e - 11 < -24 ? -24 : e - 11);
    bool inexact = rest != 0.0 || fmod(v, unit) != 0.0;
    if (v != 0.0 && fabs(v) < tiny_of(T_F16)) {
        flags |= UNDERFLOWS;
        inexact |= flushes_out(m, T_F16);
    }
    return flags | (inexact ? INEXACT : 0);
}

/* a * b + c with the result in f16; operands have 24 bits at most. */
static unsigned fma_to16(double a, double b, double c, const struct lane_mode *m)
{
    double p = a * b, v = p + c, back = v - p;
    double rest = (p - (v - back)) + (c - back);
    if (v != v)
        return INVALID;
    return isinf(v) ? 0 : narrow16(v, rest, m->round64, m);
}

static unsigned fma_flags(double a, double b, double c, unsigned type,
                          const struct lane_mode *m)
{
    unsigned before = _mm_getcsr(), flags;
    double v;
    if (type == T_F16)
        return fma_to16(a, b, c, m);
    _mm_setcsr(HOST_DEFAULT | rounding_of(m, type));
    OPAQUE(a);
    if (type == T_F32) {
        float r = fmaf((float)a, (float)b, (float)c);
        OPAQUE(r);
        flags = host_end(before);
        v = (double)r;
    } else {
        v = fma(a, b, c);
        OPAQUE(v);
        flags = host_end(before);
    }
    return finish(flags, v, type, m);
}

enum host_op { H_ADD, H_MUL, H_DIV, H_SQRT, H_LDEXP, H_MOVE };

static unsigned host32(enum host_op op, float a, float b, int n, double *v)
{
    float r = 0;
    OPAQUE(a);
    OPAQUE(b);
    switch (op) {
    case H_ADD:
        r = a + b;
        break;
    case H_MUL:
        r = a * b;
        break;
    case H_DIV:
        r = a / b;
        break;
    case H_SQRT:
        r = sqrtf(a);
        break;
    case H_LDEXP:
        r = ldexpf(a, n);
        break;
    case H_MOVE:
        r = a;
        break;
    }
    OPAQUE(r);
    *v = (double)r;
    return 0;
}

static double host64(enum host_op op, double a, double b, int n)
{
    OPAQUE(a);
    OPAQUE(b);
    double r = op == H_ADD     ? a + b
               : op == H_MUL   ? a * b
               : op == H_DIV   ? a / b
               : op == H_SQRT  ? sqrt(a)
               : op == H_LDEXP ? ldexp(a, n)
                               : a;
    OPAQUE(r);
    return r;
}

static unsigned op_flags(enum host_op op, double a, double b, int n, unsigned type,
                         const struct lane_mode *m)
{
    unsigned before = _mm_getcsr(), flags;
    double v;
    _mm_setcsr(HOST_DEFAULT | (type == T_F16 ? 0 : rounding_of(m, type)));
    if (type == T_F32)
        host32(op, (float)a, (float)b, n, &v);
    else
        v = host64(op, a, b, n);
    flags = host_end(before);
    if (type != T_F16)
        return finish(flags, v, type, m);
    if (isinf(v))
        return flags & OVERFLOWS ? OVERFLOWS | INEXACT : flags & (INVALID | DIV_ZERO);
    /* 53 bits are enough for one f16 operation but for what its own flag says */
    return (flags & (INVALID | DIV_ZERO)) |
           narrow16(v, flags & INEXACT ? 1.0 : 0.0, m->round64, m);
}

/* ---- one lane ----------------------------------------------------------------------
 */

static unsigned to_float_flags(uint64_t bits, unsigned from, unsigned to,
                               const struct lane_mode *m)
{
    double v;
    switch (from) {
    case T_I32:
    case T_I16:
        v = from == T_I32 ? (double)(int32_t)bits : (double)(int16_t)bits;
        break;
    case T_U32:
    case T_U16:
        v = from == T_U32 ? (double)(uint32_t)bits : (double)(uint16_t)bits;
        break;
    default:
        v = number_of(bits, from, m).v;
        break;
    }
    if (v != v || to == T_F64)
        return 0;
    if (to == T_F16)
        return narrow16(v, 0.0, m->round64, m);
    unsigned before = _mm_getcsr();
    _mm_setcsr(HOST_DEFAULT | rounding_of(m, T_F32));
    OPAQUE(v);
    float r = (float)v;
    OPAQUE(r);
    return finish(host_end(before), (double)r, T_F32, m);
}

/* Out of range, or a fraction is lost (reported under CLAMP). */
static unsigned to_int_flags(double v, unsigned to, bool clamp)
{
    double low = to == T_I32 ? -2147483648.0 : to == T_I16 ? -32768.0 : 0.0;
    double high = to == T_I32   ? 2147483647.0
                  : to == T_U32 ? 4294967295.0
                  : to == T_I16 ? 32767.0
                                : 65535.0;
    double whole = trunc(v);
    if (v != v || whole < low || whole > high)
        return INVALID;
    return clamp && whole != v ? INEXACT : 0;
}

static unsigned fixup_flags(const struct number *q, const struct number *d,
                            const struct number *n, unsigned type,
                            const struct lane_mode *m)
{
    if (n->nan || d->nan)
        return 0;
    if ((n->zero && d->zero) || (n->inf && d->inf))
        return INVALID;
    if (d->zero)
        return n->inf ? 0 : DIV_ZERO;
    if (q->inf && !n->inf)
        return OVERFLOWS | INEXACT;
    return n->zero || n->inf || d->inf ? 0 : finish(0, q->v, type, m);
}

static unsigned exp_flags(double v, unsigned type)
{
    double top = type == T_F16 ? 16.0 : 128.0, bottom = type == T_F16 ? -14.0 : -126.0;
    if (isinf(v))
        return 0;
    return v >= top       ? OVERFLOWS | INEXACT
           : v < bottom   ? UNDERFLOWS | INEXACT
           : rint(v) != v ? INEXACT
                          : 0;
}

static unsigned root_flags(unsigned class, const struct number *x, unsigned type,
                           const struct lane_mode *m)
{
    int e;
    if (x->zero)
        return class == ISA_EXCP_SQRT ? 0 : DIV_ZERO;
    if (x->v < 0)
        return INVALID;
    if (class == ISA_EXCP_LOG)
        return isinf(x->v) || frexp(x->v, &e) == 0.5 ? 0 : INEXACT;
    if (class == ISA_EXCP_SQRT)
        return op_flags(H_SQRT, x->v, 0, 0, type, m);
    double r =
        sqrt(x->v); /* exact or not, so is its reciprocal but for powers of two */
    return isinf(x->v) || (r * r == x->v && frexp(r, &e) == 0.5) ? 0 : INEXACT;
}

static unsigned lane_flags(unsigned excp, const uint64_t bits[3],
                           const struct lane_mode *m, unsigned n_src)
{
    unsigned class = EX_CLASS(excp), arg = EX_ARG(excp), result = EX_RESULT(excp);
    bool clamp = excp & EX_CLAMP, nan = false;
    unsigned flags = 0;
    struct number x[3] = {{0}};
    for (unsigned i = 0; i < n_src && is_float(arg); i++) {
        if (class == ISA_EXCP_LDEXP && i == 1)
            continue;
        x[i] = number_of(bits[i], arg, m);
        nan |= x[i].nan;
        if (class != ISA_EXCP_IFLAG)
            flags |= (x[i].snan ? INVALID : 0) | (x[i].denormal ? DENORMAL : 0);
    }
    double a = x[0].v, b = x[1].v, c = x[2].v;
    if (class == ISA_EXCP_COMPARE)
        return flags | (clamp && nan ? INVALID : 0);
    if (nan && class != ISA_EXCP_TO_INT)
        return flags;
    switch ((enum isa_excp) class) {
    case ISA_EXCP_NONE:
    case ISA_EXCP_QUIET:
    case ISA_EXCP_COMPARE:
        break;
    case ISA_EXCP_ADD:
        return flags | op_flags(H_ADD, a, b, 0, result, m);
    case ISA_EXCP_SUB:
        return flags | op_flags(H_ADD, a, -b, 0, result, m);
    case ISA_EXCP_SUBREV:
        return flags | op_flags(H_ADD, b, -a, 0, result, m);
    case ISA_EXCP_MUL_ZERO:
        if (x[0].zero || x[1].zero)
            break;
        return flags | op_flags(H_MUL, a, b, 0, result, m);
    case ISA_EXCP_MUL:
        return flags | op_flags(H_MUL, a, b, 0, result, m);
    case ISA_EXCP_FMA_ZERO:
        if (x[0].zero || x[1].zero)
            break;
        return flags | fma_flags(a, b, c, result, m);
    case ISA_EXCP_FMA:
        return flags | fma_flags(a, b, c, result, m);
    case ISA_EXCP_RCP:
        return flags | op_flags(H_DIV, 1.0, a, 0, result, m);
    case ISA_EXCP_IFLAG:
        return x[0].zero ? INT_DIV_ZERO : 0;
    case ISA_EXCP_RSQ:
    case ISA_EXCP_SQRT:
    case ISA_EXCP_LOG:
        return flags | root_flags(class, &x[0], result, m);
    case ISA_EXCP_EXP:
        return flags | exp_flags(a, result);
    case ISA_EXCP_TRIG:
        return flags | (x[0].inf ? INVALID : x[0].zero ? 0 : INEXACT);
    case ISA_EXCP_LDEXP:
        return flags |
               (x[0].inf || x[0].zero
                    ? 0
                    : op_flags(H_LDEXP, a, 0,
                               result == T_F16 ? (int16_t)bits[1] : (int32_t)bits[1],
                               result, m));
    case ISA_EXCP_FIXUP:
        return flags | fixup_flags(&x[0], &x[1], &x[2], result, m);
    case ISA_EXCP_TO_INT:
        return flags | to_int_flags(a, result, clamp);
    case ISA_EXCP_TO_FLOAT:
        return flags | to_float_flags(bits[0], arg, result, m);
    case ISA_EXCP_NARROW_RTZ:
        return flags | narrow16(a, 0.0, 3, m) | narrow16(b, 0.0, 3, m);
    case ISA_EXCP_COUNT:
        break;
    }
    return flags;
}

/* ---- the handler -------------------------------------------------------------------
 */

static uint64_t operand(const struct uop *u, const uint32_t *row, unsigned i,
                        unsigned lane, unsigned shift)
{
    uint64_t v = row[lane] >> shift;
    if (u->s[i].dwords == 2)
        v |= (uint64_t)row[ROW_DWORDS + lane] << 32;
    return EX_ARG(u->excp) == T_F16 ? v & 0xffffu : v;
}

/* One half of the wave. */
static unsigned pass_flags(struct wave *w, const struct uop *u)
{
    const uint32_t *rows[3] = {0};
    unsigned flags = 0, n = u->n_src < 3 ? u->n_src : 3;
    if (!u->excp || !wave_exec(w))
        return 0;
    uint32_t lanes = w->emu->level->valu_operands(w, u, rows);
    unsigned mxcsr = _mm_getcsr();
    _mm_setcsr(HOST_DEFAULT);
    for (; lanes; lanes &= lanes - 1) {
        unsigned l = (unsigned)__builtin_ctz(lanes);
        for (unsigned half = 0; half < (u->excp & EX_PACKED ? 2u : 1u); half++) {
            uint64_t bits[3] = {0};
            for (unsigned i = 0; i < n; i++)
                bits[i] = operand(u, rows[i], i, l, 16 * half);
            flags |= lane_flags(u->excp, bits, &w->mode, n);
        }
    }
    _mm_setcsr(mxcsr);
    return flags;
}

const struct uop *x_excp(struct wave *w, const struct uop *u)
{
    bool pair = u->flags & UF_PAIR;
    unsigned flags = 0;
    uint32_t enabled = w->mode_bits >> MODE_EXCP_EN;
    for (unsigned h = 0; h < w->halves && !w->mode.dx10_clamp; h++) {
        select_half(w, h);
        flags |= pass_flags(w, u) | (pair ? pass_flags(w, u + 1) : 0);
    }
    select_half(w, 0);
    w->trapsts_bits |= flags;
    const struct level_ops *level = w->emu->level;
    const struct uop *next = pair ? level->valu_vopd(w, u) : level->valu_any(w, u);
    if (!(flags & enabled) || !wave_has_handler(w))
        return next;
    wave_describe(w, u, EMU_FAULT_MATH, &w->group->cause);
    return trap_enter(w, u, program_pc(w->program, next), 0);
}
