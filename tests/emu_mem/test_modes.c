/* test_modes.c: output modifiers in every float mode, and the registers that events
 * name when M0 selects them.
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"

#include <math.h>

#include "programs.inc"

static struct run r;

static void begin(const uint32_t *body, size_t bytes)
{
    memset(&r, 0, sizeof r);
    r.body = body;
    r.body_bytes = bytes;
}
#define BEGIN(name) begin(body_##name, sizeof body_##name)

/* ---- output modifiers: a model on bits, for finite numbers --------------------------
 */

struct layout {
    unsigned width, mant;
    unsigned round, denorm; /* MODE's for the format */
};

static uint64_t top_of(const struct layout *f)
{
    return (UINT64_C(1) << (f->width - 1 - f->mant)) - 1;
}

/* The largest number or infinity, as overflow rounds. */
static uint64_t overflow(const struct layout *f, bool negative)
{
    bool infinite = f->round == 0 || f->round == (negative ? 2 : 1);
    uint64_t inf = top_of(f) << f->mant;
    return (infinite ? inf : inf - 1) | (uint64_t)negative << (f->width - 1);
}

/* a + -0 with the modifier; shift: +1, +2, -1. */
static uint64_t modified(const struct layout *f, uint64_t a, int shift, bool ieee,
                         bool clamp)
{
    uint64_t sign = a >> (f->width - 1) << (f->width - 1), e = (a ^ sign) >> f->mant;
    bool zero = !(a ^ sign), denormal = !e && !zero, nan = false;
    if (denormal && !(f->denorm & 1)) /* flushed on the way in */
        zero = true, denormal = false, a = sign;
    if (denormal && !(f->denorm & 2)) /* and on the way out */
        zero = true, denormal = false, a = sign;
    if (zero && !sign) /* +0 + -0 */
        a = f->round == 2 ? UINT64_C(1) << (f->width - 1) : 0;
    if (e == top_of(f))
        nan = a << (65 - f->width + (f->width - 1 - f->mant)) != 0;
    bool applies = !ieee && !(f->denorm & 2);
    if (applies && zero) {
        a = 0;
    } else if (applies && e != top_of(f)) {
        int64_t to = (int64_t)e + shift;
        if (to >= (int64_t)top_of(f))
            a = overflow(f, sign != 0);
        else if (to <= 0) /* denormal, or rounds to the smallest normal: not here */
            a = 0;
        else
            a += (uint64_t)((int64_t)shift * (INT64_C(1) << f->mant));
        a &= f->width == 64 ? ~UINT64_C(0) : (UINT64_C(1) << f->width) - 1;
    }
    if (!clamp)
        return a;
    uint64_t one = (top_of(f) >> 1) << f->mant;
    return nan ? 0 : a >> (f->width - 1) ? 0 : a > one ? one : a;
}

static uint32_t single(unsigned l)
{
    static const uint32_t v[] = {
        0,          0x80000000, 1,          0x80000001, 0x00800000, 0x80800000,
        0x01000000, 0x81000000, 0x7f7fffff, 0xff7fffff, 0x7f000000, 0xfe800000,
        0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x3e800000, 0x3f000001};
    return v[l % (sizeof v / sizeof *v)];
}

static uint64_t twice(unsigned l)
{
    static const uint64_t v[] = {0,
                                 0x8000000000000000,
                                 1,
                                 0x8000000000000001,
                                 0x0010000000000000,
                                 0x8010000000000000,
                                 0x0020000000000000,
                                 0x7fefffffffffffff,
                                 0xffefffffffffffff,
                                 0x7fe0000000000000,
                                 0x3ff0000000000000,
                                 0x7ff0000000000000};
    return v[l % (sizeof v / sizeof *v)];
}

static uint32_t half(unsigned l)
{
    static const uint32_t v[] = {0,      0x8000, 1,      0x8001, 0x0400, 0x8400,
                                 0x0800, 0x7bff, 0xfbff, 0x3c00, 0x7c00, 0xbc01};
    return v[l % (sizeof v / sizeof *v)];
}

static uint64_t out64(unsigned row, unsigned l)
{
    return r.out[row][l] | (uint64_t)r.out[row + 1][l] << 32;
}

static void check_mode(unsigned mode)
{
    bool ieee = mode >> 9 & 1;
    const struct layout f32 = {32, 23, mode & 3, mode >> 4 & 3},
                        f64 = {64, 52, mode >> 2 & 3, mode >> 6 & 3},
                        f16 = {16, 10, mode >> 2 & 3, mode >> 6 & 3};
    r.float_mode = mode | 0x100;
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            uint32_t a = single(l);
            ck_row_eq(&r, 0, l, (uint32_t)modified(&f32, a, 1, ieee, false));
            ck_row_eq(&r, 1, l, (uint32_t)modified(&f32, a, -1, ieee, false));
            ck_row_eq(&r, 2, l, (uint32_t)modified(&f32, a, 2, ieee, true));
            ck_assert_uint_eq(out64(3, l), modified(&f64, twice(l), 1, ieee, false));
            ck_assert_uint_eq(out64(5, l), modified(&f64, twice(l), -1, ieee, false));
            ck_assert_uint_eq(r.out[7][l] & 0xffff,
                              modified(&f16, half(l), -1, ieee, false));
        }
    }
}

START_TEST(output_modifiers)
{
    BEGIN(omod);
    for (unsigned l = 0; l < LANES; l++) {
        r.in[0][l] = single(l);
        r.in[1][l] = 0x80000000;
        r.in[2][l] = (uint32_t)twice(l);
        r.in[3][l] = (uint32_t)(twice(l) >> 32);
        r.in[5][l] = 0x80000000;
        r.in[6][l] = half(l);
        r.in[7][l] = 0x8000;
    }
    for (unsigned mode = 0; mode < 256; mode += 1 + random32() % 3)
        check_mode(mode);
    for (unsigned mode = 0x200; mode < 0x300; mode += 16)
        check_mode(mode);
}
END_TEST

/* ---- registers in events -----------------------------------------------------------
 */

static struct {
    unsigned n;
    uint16_t to[16], from[16];
} seen;

static void on_step(void *ctx, const struct emu_event *e)
{
    (void)ctx;
    const char *name = isa_op_name(e->inst->isa.op);
    if (!strstr(name, "movrel") && !strstr(name, "swaprel"))
        return;
    ck_assert_uint_lt(seen.n, 16);
    unsigned found = 0;
    for (unsigned i = 0; i < e->inst->n_regs; i++) {
        const struct emu_reg *reg = &e->inst->reg[i];
        if (reg->flags & ISA_OF_IMPLICIT)
            continue;
        if (found++ == 0)
            seen.to[seen.n] = reg->sel;
        else
            seen.from[seen.n] = reg->sel;
    }
    ck_assert_uint_eq(found, 2);
    seen.n++;
}

START_TEST(selected_registers)
{
    static const struct emu_observer observer = {.step = on_step,
                                                 .want = EMU_WANT_VALUES};
    enum { V = ISA_SEL_VGPR0 };
    static const uint16_t to[] = {V + 13, V + 13, 10, 8, V + 12, V + 10};
    static const uint16_t from[] = {V + 4, V + 4, 4, 6, V + 2, V + 4};
    BEGIN(movrel);
    r.observer = &observer;
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_assert_uint_eq(seen.n, 6);
        for (unsigned i = 0; i < 6; i++) {
            ck_assert_uint_eq(seen.to[i], to[i]);
            ck_assert_uint_eq(seen.from[i], from[i]);
        }
        seen.n = 0;
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("emu_modes");
    TCase *t = tcase_create("modes");
    tcase_add_test(t, output_modifiers);
    tcase_add_test(t, selected_registers);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
