/* test_excp.c: float exceptions: flags against the C library's, traps; and the
 * instructions on memory of the whole device.
 *
 * Flags of sums, products and roots are what <fenv.h> says of the same operation; the
 * rules that IEEE 754 leaves to the hardware (denormal inputs, underflow that is exact,
 * flushing, conversions under CLAMP) are written out here.
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"

#include <fenv.h>
#include <math.h>

#include "programs.inc"

enum { INV = 1, DEN = 2, DZ = 4, OVF = 8, UNF = 16, INX = 32, IDZ = 64 };

static struct run r;

static void begin(const uint32_t *body, size_t bytes)
{
    memset(&r, 0, sizeof r);
    r.body = body;
    r.body_bytes = bytes;
    r.float_mode = 0x2f0; /* nearest, denormals kept, no DX10_CLAMP, IEEE */
}
#define BEGIN(name) begin(body_##name, sizeof body_##name)

static float f32(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static uint32_t bits32(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static double f64(uint64_t u)
{
    double f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static void set(unsigned row, uint32_t v)
{
    for (unsigned l = 0; l < LANES; l++)
        r.in[row][l] = v;
}

static void set64(unsigned row, uint64_t v)
{
    set(row, (uint32_t)v);
    set(row + 1, (uint32_t)(v >> 32));
}

/* Our flags of the C library's. */
static unsigned fenv_flags(void)
{
    int e = fetestexcept(FE_ALL_EXCEPT);
    return (e & FE_INVALID ? INV : 0u) | (e & FE_DIVBYZERO ? DZ : 0u) |
           (e & FE_OVERFLOW ? OVF : 0u) | (e & FE_UNDERFLOW ? UNF : 0u) |
           (e & FE_INEXACT ? INX : 0u);
}

static bool denormal32(float f)
{
    return fpclassify(f) == FP_SUBNORMAL;
}

static bool signaling32(uint32_t u)
{
    return (u & 0x7fffffff) > 0x7f800000 && !(u & 0x400000);
}

enum op { O_ADD, O_MUL, O_FMA, O_SUB, O_SQRT, O_RCP };

static unsigned sources(enum op op)
{
    return op == O_FMA ? 3 : op == O_SQRT || op == O_RCP ? 1 : 2;
}

static unsigned want32(enum op op, uint32_t ua, uint32_t ub, uint32_t uc)
{
    volatile float a = f32(ua), b = f32(ub), c = f32(uc), v = 0;
    const uint32_t u[3] = {ua, ub, uc};
    unsigned flags = 0;
    bool nan = false;
    for (unsigned i = 0; i < sources(op); i++) {
        flags |= (denormal32(f32(u[i])) ? DEN : 0u) | (signaling32(u[i]) ? INV : 0u);
        nan |= isnan(f32(u[i]));
    }
    if (nan)
        return flags;
    feclearexcept(FE_ALL_EXCEPT);
    v = op == O_ADD   ? a + b
        : op == O_SUB ? a - b
        : op == O_MUL ? a * b
        : op == O_FMA ? fmaf(a, b, c)
        : op == O_RCP ? 1.0f / a
                      : sqrtf(a);
    flags |= fenv_flags();
    return flags | (denormal32(v) ? UNF : 0u);
}

static const uint32_t special32[] = {
    0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000,
    0x00800001, 0x3f800000, 0xbf800000, 0x3f800001, 0x40490fdb, 0x7f7fffff,
    0xff7fffff, 0x7f000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
    0xffa00000, 0x4f000000, 0x0c000000, 0x1e800000, 0x3fc00000, 0x33800000};
#define N_SPECIAL (sizeof special32 / sizeof *special32)

static uint32_t pick32(void)
{
    return random32() % 4 ? special32[random32() % N_SPECIAL] : random32();
}

static unsigned want_cvt(uint32_t u)
{
    float f = f32(u);
    unsigned flags = (signaling32(u) ? INV : 0u) | (denormal32(f) ? DEN : 0u);
    if (isnan(f) || truncf(f) < -2147483648.0f || truncf(f) > 2147483520.0f)
        return flags | INV;
    return flags | (truncf(f) != f ? INX : 0u);
}

START_TEST(single)
{
    BEGIN(excp_f32);
    for (unsigned n = 0; n < 60; n++) {
        uint32_t a = pick32(), b = pick32(), c = pick32();
        set(0, a), set(1, b), set(2, c);
        unsigned quiet = (signaling32(a) || signaling32(b) ? INV : 0u) |
                         (denormal32(f32(a)) || denormal32(f32(b)) ? DEN : 0u);
        FOR_EACH_RUN(&r)
        {
            ck_no_fault(&r);
            ck_row_eq(&r, 0, 0, want32(O_ADD, a, b, c));
            ck_row_eq(&r, 1, 0, want32(O_MUL, a, b, c));
            ck_row_eq(&r, 2, 0, want32(O_FMA, a, b, c));
            ck_row_eq(&r, 3, 0, want32(O_SUB, a, b, c));
            ck_row_eq(&r, 4, 0, want32(O_RCP, a, b, c));
            ck_row_eq(&r, 5, 0, want32(O_SQRT, a, b, c));
            ck_row_eq(&r, 6, 0, want_cvt(a));
            ck_row_eq(&r, 7, 0, quiet);
        }
    }
}
END_TEST

static const uint64_t special64[] = {0,
                                     1,
                                     0x000fffffffffffff,
                                     0x0010000000000000,
                                     0x3ff0000000000000,
                                     0xbff0000000000001,
                                     0x7fefffffffffffff,
                                     0x7ff0000000000000,
                                     0x7ff8000000000000,
                                     0x7ff0000000000001,
                                     0x1ff0000000000000,
                                     0x47efffffe0000000,
                                     0x47efffffffffffff,
                                     0x3690000000000000,
                                     0x380fffffffffffff,
                                     0x400921fb54442d18};

static unsigned want64(enum op op, uint64_t ua, uint64_t ub, uint64_t uc)
{
    volatile double a = f64(ua), b = f64(ub), c = f64(uc), v;
    const uint64_t u[3] = {ua, ub, uc};
    unsigned flags = 0;
    bool nan = false;
    for (unsigned i = 0; i < sources(op); i++) {
        flags |= fpclassify(f64(u[i])) == FP_SUBNORMAL ? DEN : 0u;
        nan |= isnan(f64(u[i]));
        if (isnan(f64(u[i])) && !(u[i] & 0x8000000000000))
            flags |= INV;
    }
    if (nan)
        return flags;
    feclearexcept(FE_ALL_EXCEPT);
    v = op == O_ADD   ? a + b
        : op == O_MUL ? a * b
        : op == O_FMA ? fma(a, b, c)
        : op == O_RCP ? 1.0 / a
                      : sqrt(a);
    flags |= fenv_flags();
    return flags | (fpclassify(v) == FP_SUBNORMAL ? UNF : 0u);
}

static unsigned want_narrow(uint64_t u)
{
    volatile double d = f64(u);
    volatile float v;
    unsigned flags = fpclassify(d) == FP_SUBNORMAL ? DEN : 0u;
    if (isnan(d))
        return flags | (u & 0x8000000000000 ? 0u : INV);
    feclearexcept(FE_ALL_EXCEPT);
    v = (float)d;
    flags |= fenv_flags();
    return flags | (denormal32(v) ? UNF : 0u);
}

START_TEST(double_precision)
{
    BEGIN(excp_f64);
    for (unsigned n = 0; n < 60; n++) {
        uint64_t a = special64[random32() % 16], b = special64[random32() % 16],
                 c = special64[random32() % 16];
        set64(0, a), set64(2, b), set64(4, c);
        FOR_EACH_RUN(&r)
        {
            ck_no_fault(&r);
            ck_row_eq(&r, 0, 0, want64(O_ADD, a, b, c));
            ck_row_eq(&r, 1, 0, want64(O_MUL, a, b, c));
            ck_row_eq(&r, 2, 0, want64(O_FMA, a, b, c));
            ck_row_eq(&r, 3, 0, want_narrow(a));
            ck_row_eq(&r, 4, 0, want64(O_SQRT, a, b, c));
            ck_row_eq(&r, 5, 0, want64(O_RCP, a, b, c));
            uint32_t low = (uint32_t)a;
            ck_row_eq(&r, 7, 0,
                      (signaling32(low) ? INV : 0u) |
                          (denormal32(f32(low)) ? DEN : 0u));
        }
    }
}
END_TEST

/* {a, b, c, f32, f32} and the flags of the eight instructions. */
static const struct {
    uint32_t in[5], want[8];
} half_cases[] = {
    /* 1, 1, 1: all exact but 0x3c00 and 0x3c as numbers to convert and scale by */
    {{0x3c003c00, 0x3c003c00, 0x3c00, 0x3f800000, 0x3f800000},
     {0, 0, 0, 0, 0, 0, 0, OVF | INX}},
    /* 65504 and 65504; the high halves are 1 * 1 */
    {{0x3c007bff, 0x3c007bff, 0x7bff, 0x477fe000, 0x477fefff},
     {OVF | INX, OVF | INX, OVF | INX, OVF | INX, 0, INX, INX, OVF | INX}},
    /* smallest denormal and 1; the results are tiny, most of them exact */
    {{0x00010001, 0x3c003c00, 0x0000, 0x33800000, 0x33000000},
     {DEN | INX, DEN | UNF, DEN | UNF, DEN | UNF, UNF, 0, UNF | INX, DEN | OVF | INX}},
    /* signaling NaN; infinity times zero in the high halves */
    {{0x7c007d00, 0x00003c00, 0x3c00, 0x7f800001, 0x7fc00000},
     {INV, INV, INV, INV, INV, 0, INV, INV}},
};

START_TEST(half_precision)
{
    BEGIN(excp_f16);
    for (size_t n = 0; n < sizeof half_cases / sizeof *half_cases; n++) {
        for (unsigned i = 0; i < 5; i++)
            set(i, half_cases[n].in[i]);
        FOR_EACH_RUN(&r)
        {
            ck_no_fault(&r);
            for (unsigned i = 0; i < 8; i++)
                ck_assert_msg(r.out[i][0] == half_cases[n].want[i],
                              "case %zu, instruction %u: got 0x%x, want 0x%x", n, i,
                              r.out[i][0], half_cases[n].want[i]);
        }
    }
}
END_TEST

/* a, b, c; rsq, log, exp, rcp_iflag, cmp clamp, fixup(c, a, b), dx9 mul, sin */
static const struct {
    uint32_t in[3], want[8];
} rest_cases[] = {
    {{0, 0x3f800000, 0}, {DZ, DZ, 0, IDZ, 0, DZ, 0, 0}},
    {{0xbf800000, 0x7fc00000, 0}, {INV, INV, 0, 0, INV, 0, 0, INX}},
    {{0x40800000, 0x7f800000, 0x3f800000}, {0, 0, 0, 0, 0, 0, 0, INX}},
    {{0x43010000, 0x3f800000, 0x7f800000},
     {INX, INX, OVF | INX, 0, 0, OVF | INX, 0, INX}},
    {{0xc3010000, 0, 0}, {INV, INV, UNF | INX, 0, 0, 0, 0, INX}},
    {{0x7f800001, 0x3f800000, 0}, {INV, INV, INV, 0, INV, INV, INV, INV}},
    {{0x7f800000, 0x7f800000, 0}, {0, 0, 0, 0, 0, INV, 0, INV}},
    {{0, 0x7f800000, 0}, {DZ, DZ, 0, IDZ, 0, 0, 0, 0}},
};

START_TEST(other_instructions)
{
    BEGIN(excp_rest);
    for (size_t n = 0; n < sizeof rest_cases / sizeof *rest_cases; n++) {
        for (unsigned i = 0; i < 3; i++)
            set(i, rest_cases[n].in[i]);
        FOR_EACH_RUN(&r)
        {
            ck_no_fault(&r);
            for (unsigned i = 0; i < 8; i++)
                ck_assert_msg(r.out[i][0] == rest_cases[n].want[i],
                              "case %zu, instruction %u: got 0x%x, want 0x%x", n, i,
                              r.out[i][0], rest_cases[n].want[i]);
        }
    }
}
END_TEST

/* A signaling NaN and a denormal, had they been floats: v_pk_add_f16, v_pk_min_f16,
 * then the packed integers. */
START_TEST(packed)
{
    static const unsigned want[8] = {INV | DEN, INV | DEN};
    BEGIN(excp_packed);
    set(0, 0x7c017c01);
    set(1, 0x00010001);
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned i = 0; i < 8; i++)
            ck_assert_msg(r.out[i][0] == want[i], "instruction %u: got 0x%x", i,
                          r.out[i][0]);
    }
}
END_TEST

/* Only lanes that execute count; results are those of the plain handlers. */
START_TEST(active_lanes)
{
    BEGIN(excp_exec);
    set(0, bits32(2.0f));
    r.in[0][3] = 0;
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_row_eq(&r, 0, 0, DZ);
        ck_row_eq(&r, 1, 0, 0);
        ck_row_eq(&r, 2, 0, bits32(0.5f));
        ck_row_eq(&r, 2, 3, 0x7f800000);
    }
}
END_TEST

/* DX10_CLAMP suppresses them; flushed denormals still are inputs. */
START_TEST(modes)
{
    BEGIN(excp_exec);
    r.float_mode = 0x3f0;
    FOR_EACH_RUN(&r)
    ck_row_eq(&r, 0, 0, 0);
    BEGIN(excp_f32);
    r.float_mode = 0x200; /* flush */
    set(0, 0x00800000), set(1, 0x3f000000);
    FOR_EACH_RUN(&r)
    ck_row_eq(&r, 1, 0, UNF | INX); /* exact, but flushed */
    set(0, 1);
    FOR_EACH_RUN(&r)
    ck_row_eq(&r, 1, 0, DEN); /* zero times 1/2 */
    r.float_mode = 0x2f1;     /* toward +infinity */
    set(0, bits32(-0x1.fffffep127f)), set(1, bits32(-0x1p103f));
    FOR_EACH_RUN(&r)
    ck_row_eq(&r, 0, 0, INX); /* rounds back to the largest number */
}
END_TEST

/* An enabled exception traps behind its instruction, which has completed. */
START_TEST(traps)
{
    BEGIN(excp_trap);
    r.handler = handler_show;
    r.handler_bytes = sizeof handler_show;
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_row_eq(&r, 0, 0, (uint32_t)(r.body_pc + 12));
        ck_row_eq(&r, 1, 0, DZ);
        ck_row_eq(&r, 2, 0, 0x7f800000);
    }
    r.handler = NULL; /* nobody to trap to */
    r.queue.tba = 0;
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_row_eq(&r, 0, 0, 0);
    }
    BEGIN(excp_launch);
    r.handler = handler_show;
    r.handler_bytes = sizeof handler_show;
    r.rsrc2 = DZ << 24;
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_row_eq(&r, 0, 0, (uint32_t)(r.body_pc + 4));
        ck_row_eq(&r, 1, 0, DZ);
    }
}
END_TEST

/* One memory for the device, one lane at a time, apart from LDS. */
START_TEST(global_data_share)
{
    BEGIN(gds);
    random_rows(&r);
    r.lds_bytes = 256;
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_row_eq(&r, 0, 0, r.in[0][0]);
        ck_row_eq(&r, 0, 1, 0);
        ck_row_eq(&r, 1, 0, r.in[0][0] + r.in[1][0]);
        ck_row_eq(&r, 2, 0, r.in[0][0] + r.in[1][0]); /* the base is in M0 */
        ck_row_eq(&r, 3, 5, 0);
        ck_row_eq(&r, 4, 5, r.lanes);
        for (unsigned l = 0; l < r.lanes; l++)
            ck_row_eq(&r, 5, l, r.in[2][l]);
    }
    BEGIN(gds_range);
    FOR_EACH_RUN(&r)
    ck_assert_int_eq(r.fault.kind, EMU_FAULT_LDS_RANGE);
}
END_TEST

START_TEST(exports)
{
    BEGIN(exports);
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_row_eq(&r, 0, 0, 1);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("emu_excp");
    TCase *t = tcase_create("excp");
    tcase_add_test(t, single);
    tcase_add_test(t, double_precision);
    tcase_add_test(t, half_precision);
    tcase_add_test(t, other_instructions);
    tcase_add_test(t, packed);
    tcase_add_test(t, active_lanes);
    tcase_add_test(t, modes);
    tcase_add_test(t, traps);
    tcase_add_test(t, global_data_share);
    tcase_add_test(t, exports);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
