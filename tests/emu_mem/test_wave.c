/* test_wave.c: messages, halts, thread-id addressing, append, the ray-tracing stack,
 * interpolation.
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"

#include <math.h>

#include "programs.inc"

static struct run r;

static float f32(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static uint32_t bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

/* Small f16 numbers: k / 8 exactly. */
static uint32_t half_of(unsigned k)
{
    _Float16 h = (_Float16)((float)k / 8.0f);
    uint16_t u;
    memcpy(&u, &h, sizeof u);
    return u;
}

static float f16(uint32_t u)
{
    _Float16 h;
    uint16_t v = (uint16_t)u;
    memcpy(&h, &v, sizeof h);
    return (float)h;
}

static void begin(const uint32_t *body, size_t bytes)
{
    memset(&r, 0, sizeof r);
    r.body = body;
    r.body_bytes = bytes;
    r.float_mode = 0x3f0; /* nearest, denormals kept, DX10_CLAMP, IEEE */
}
#define BEGIN(name) begin(body_##name, sizeof body_##name)

static void interp_inputs(void)
{
    for (unsigned l = 0; l < LANES; l++) {
        r.in[0][l] = bits((float)(l * l) / 4.0f - 100.0f);
        r.in[1][l] = bits((float)l / 8.0f + 0.125f);
        r.in[2][l] = bits(3.0f - (float)l);
        r.in[3][l] = half_of(l) | half_of(l + 70) << 16;
        r.in[4][l] = half_of(2 * l + 1) | half_of(3 * l) << 16;
    }
}

START_TEST(interpolation)
{
    BEGIN(interp);
    interp_inputs();
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            unsigned q = l & ~3u;
            float i = f32(r.in[1][l]), acc = f32(r.in[2][l]);
            float p10 = f32(r.in[0][q + 1]) * i + f32(r.in[2][q]);
            ck_row_eq(&r, 0, l, bits(p10));
            ck_row_eq(&r, 1, l, bits(f32(r.in[0][q + 2]) * -i + acc));
            uint32_t a = r.in[3][q + 1], b = r.in[4][q], a2 = r.in[3][q + 2];
            ck_row_eq(&r, 2, l, bits(f16(a) * i + f16(b)));
            ck_row_eq(&r, 3, l, bits(f16(a >> 16) * i + f16(b >> 16)));
            ck_assert_float_eq(f16(r.out[4][l]), f16(a2) * i + acc);
            ck_assert_float_eq(f16(r.out[4][l] >> 16),
                               (float)(_Float16)(f16(a2 >> 16) * i + acc));
            ck_row_eq(&r, 5, l, bits(f16(a) * i + f16(b)));
            ck_row_eq(&r, 7, l, bits(fminf(fmaxf(p10, 0.0f), 1.0f)));
        }
    }
}
END_TEST

/* Rounding toward zero whatever MODE says: 1 + 2^-24 and its f16 like. */
START_TEST(interpolation_rtz)
{
    BEGIN(interp);
    r.float_mode = 0x3f5; /* round up */
    for (unsigned l = 0; l < LANES; l++) {
        r.in[1][l] = bits(0x1p-30f);
        r.in[2][l] = bits(-1.0f);
        r.in[3][l] = half_of(8);
        r.in[4][l] = half_of(8);
    }
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            ck_row_eq(&r, 2, l, bits(1.0f + 0x1p-23f)); /* MODE's rounding */
            ck_row_eq(&r, 5, l, bits(1.0f));
            ck_row_eq(&r, 6, l, 0xbbff);
        }
    }
}
END_TEST

/* Inactive lanes are read, only active ones written. */
START_TEST(interpolation_exec)
{
    BEGIN(interp_exec);
    interp_inputs();
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < 32; l++) {
            float p10 = f32(r.in[0][5]) * f32(r.in[1][l]) + f32(r.in[2][4]);
            ck_row_eq(&r, 0, l, l == 4 || l == 6 ? bits(p10) : 0);
        }
    }
}
END_TEST

START_TEST(messages)
{
    BEGIN(sendmsg_rtn);
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_row_eq(&r, 0, 0, 0xbad);
        ck_row_eq(&r, 1, 0, 0);
        ck_row_eq(&r, 2, 0, 0);
        ck_row_eq(&r, 3, 0, 0);
    }
}
END_TEST

START_TEST(read_only_results)
{
    BEGIN(read_only);
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_row_eq(&r, 0, 0, 0);
        ck_assert_uint_ne(r.out[2][0], 0); /* nor is the aperture another one */
    }
}
END_TEST

static void expect_fault(enum emu_fault_kind kind)
{
    FOR_EACH_RUN(&r)
    ck_assert_int_eq(r.fault.kind, kind);
}

START_TEST(halts)
{
    BEGIN(sethalt);
    expect_fault(EMU_FAULT_HANG);
    BEGIN(code_end);
    expect_fault(EMU_FAULT_ILLEGAL);
    BEGIN(trap);
    expect_fault(EMU_FAULT_TRAP);
    BEGIN(rfe);
    expect_fault(EMU_FAULT_ILLEGAL);
    BEGIN(sethalt_clear);
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_row_eq(&r, 0, 3, 1);
    }
    BEGIN(setkill);
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_row_eq(&r, 0, 0, 0); /* killed before it could store */
        ck_row_eq(&r, 1, 0, 2);
    }
}
END_TEST

START_TEST(subvector)
{
    BEGIN(subvector);
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            ck_row_eq(&r, 0, l, 5);
            ck_row_eq(&r, 1, l, r.lanes / 32);
            ck_row_eq(&r, 2, l, 1); /* EXEC is whole again */
        }
    }
}
END_TEST

START_TEST(append)
{
    BEGIN(append);
    r.lds_bytes = 64;
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            ck_row_eq(&r, 0, l, 0);
            ck_row_eq(&r, 1, l, l < 5 ? r.lanes : 0);
            ck_row_eq(&r, 2, l, l < 5 ? r.lanes + 5 : 0);
            ck_row_eq(&r, 3, l, r.lanes);
        }
    }
    BEGIN(append_range);
    r.lds_bytes = 0x1000;
    expect_fault(EMU_FAULT_LDS_RANGE);
}
END_TEST

struct told {
    unsigned count;
    struct emu_fault first;
};

static void hear(void *ctx, const struct emu_fault *what)
{
    struct told *t = ctx;
    if (!t->count++)
        t->first = *what;
}

/* Manual 3.3.4.1: beyond the allocation, writes are discarded and reads give zero, all
 * of it if a part is beyond. */
START_TEST(lds_range)
{
    BEGIN(lds_range);
    r.lds_bytes = 64;
    expect_fault(EMU_FAULT_LDS_RANGE);
    struct told told = {.count = 0};
    r.lds_unreported = true;
    r.queue.unreported = hear;
    r.queue.ctx = &told;
    random_rows(&r);
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_assert_uint_eq(told.count, 1); /* of one workgroup */
        ck_assert_int_eq(told.first.kind, EMU_FAULT_LDS_RANGE);
        ck_assert_int_eq(told.first.lane, 16);
        ck_assert_uint_eq(told.first.address, 64);
        ck_assert_ptr_ne(strstr(told.first.detail, "64 bytes of LDS"), NULL);
        told.count = 0;
        for (unsigned l = 0; l < r.lanes; l++) {
            const uint32_t *in = r.in[0];
            uint32_t old = l < 16 ? in[l] : 0;
            ck_row_eq(&r, 0, l, old);
            ck_row_eq(&r, 1, l, l < 15 ? in[l] : 0);
            ck_row_eq(&r, 2, l, l < 15 ? in[l + 1] : 0);
            ck_row_eq(&r, 3, l, (in[l] & 0xffff) | old << 16);
            ck_row_eq(&r, 4, l, old);
            ck_row_eq(&r, 5, l, l < 16 ? in[l] + r.in[1][l] : 0);
        }
    }
}
END_TEST

START_TEST(addtid)
{
    BEGIN(addtid);
    r.lds_bytes = 512;
    random_rows(&r);
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            ck_row_eq(&r, 0, l, r.in[0][l]);
            ck_row_eq(&r, 1, l, r.in[0][l]);
            ck_row_eq(&r, 2, l, r.in[1][l]);
            ck_row_eq(&r, 7, l, r.in[2][l]);
        }
    }
}
END_TEST

START_TEST(lds_direct)
{
    BEGIN(lds_direct);
    r.lds_bytes = 256;
    random_rows(&r);
    r.in[0][3] = 0x8765c3f1;
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            ck_row_eq(&r, 0, l, 0x8765c3f1);
            ck_row_eq(&r, 1, l, 0xfffffff1);
            ck_row_eq(&r, 2, l, 0xc3f1);
            if (l < 32) /* the quad of lane 5 */
                ck_row_eq(&r, 3, l, l / 4 == 1 ? 0x8765c3f1 : 0);
        }
    }
}
END_TEST

/* M0[30:16] = 101: quads 1 and 3 begin primitives 1 and 2. */
START_TEST(lds_param)
{
    BEGIN(lds_param);
    r.lds_bytes = 512;
    random_rows(&r);
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            unsigned q = l / 4, prim = q == 0 ? 0 : q < 3 ? 1 : 2;
            unsigned y = prim * 12 + l % 4 * 4 + 1, x1 = 36 + prim * 12 + l % 4 * 4;
            uint32_t lds[96];
            memcpy(lds, r.in[0], sizeof lds / 3);
            memcpy(lds + 32, r.in[2], 256);
            if (r.lanes == 64)
                memcpy(lds + 32, r.in[2], 256);
            ck_row_eq(&r, 0, l, l % 4 == 3 ? 0 : lds[y]);
            if (r.lanes == 64 || x1 < 64)
                ck_row_eq(&r, 1, l, l % 4 == 3 ? 0 : lds[x1]);
        }
    }
}
END_TEST

/* Nearest first: v2 is returned, v5 and v4 are pushed; v3 is no node. */
START_TEST(bvh_stack)
{
    BEGIN(bvh_stack);
    r.lds_bytes = 8 * 128 * 2;
    random_rows(&r);
    for (unsigned l = 0; l < LANES; l++)
        r.in[1][l] = 0xffffffff;
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            uint32_t base = (l % 32 + l / 32 * 256) << 18;
            ck_row_eq(&r, 0, l, r.in[0][l]);
            ck_row_eq(&r, 7, l, base + 2);
            ck_row_eq(&r, 1, l, r.in[2][l]);
            ck_row_eq(&r, 2, l, r.in[3][l]);
            ck_row_eq(&r, 3, l, 0xfffffffe); /* empty */
            ck_row_eq(&r, 4, l, r.in[3][l]); /* what is behind the last visited */
            ck_row_eq(&r, 5, l, base);
        }
    }
}
END_TEST

/* Nine pushes into eight entries: the ninth pop finds that one was lost. */
START_TEST(bvh_stack_overflow)
{
    BEGIN(bvh_stack_overflow);
    r.lds_bytes = 8 * 128;
    random_rows(&r);
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_row_eq(&r, 0, 0, r.in[0][0]);
        ck_row_eq(&r, 1, 0, r.in[2][0]);
        ck_row_eq(&r, 2, 0, 0xffffffff);
        ck_row_eq(&r, 5, 0, 0);
    }
}
END_TEST

static uint32_t masked_sad(uint32_t a, uint32_t ref)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < 4; i++) {
        int x = (int)(a >> 8 * i & 255), y = (int)(ref >> 8 * i & 255);
        sum += y ? (uint32_t)abs(x - y) : 0;
    }
    return sum;
}

START_TEST(mqsad)
{
    BEGIN(mqsad);
    random_rows(&r);
    r.in[2][1] &= 0xff00ffff;
    r.in[3][2] = 0xffffffff;
    r.sgpr[0] = 0x12345678;
    r.sgpr[1] = 0x00abcdef;
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++)
            for (unsigned k = 0; k < 4; k++) {
                uint64_t v = r.in[0][l] | (uint64_t)r.in[1][l] << 32;
                uint64_t s = r.sgpr[0] | (uint64_t)r.sgpr[1] << 32;
                uint32_t ref = r.in[2][l], acc = r.in[3 + k][l];
                ck_row_eq(&r, k, l, acc + masked_sad((uint32_t)(v >> 8 * k), ref));
                uint32_t sum = masked_sad((uint32_t)(s >> 8 * k), ref);
                ck_row_eq(&r, 4 + k, l, acc + sum < acc ? UINT32_MAX : acc + sum);
            }
    }
}
END_TEST

START_TEST(swap_b16)
{
    BEGIN(swap_b16);
    random_rows(&r);
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            uint32_t a = r.in[0][l], b = r.in[1][l], c = r.in[2][l], d = r.in[3][l];
            ck_row_eq(&r, 0, l, (a & 0xffff0000u) | (b & 0xffffu));
            ck_row_eq(&r, 1, l, (b & 0xffff0000u) | (a & 0xffffu));
            ck_row_eq(&r, 2, l, (c & 0xffffu) | d << 16);
            ck_row_eq(&r, 3, l, (d & 0xffff0000u) | c >> 16);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("emu_wave");
    TCase *t = tcase_create("wave");
    tcase_add_test(t, interpolation);
    tcase_add_test(t, interpolation_rtz);
    tcase_add_test(t, interpolation_exec);
    tcase_add_test(t, messages);
    tcase_add_test(t, read_only_results);
    tcase_add_test(t, halts);
    tcase_add_test(t, subvector);
    tcase_add_test(t, append);
    tcase_add_test(t, lds_range);
    tcase_add_test(t, addtid);
    tcase_add_test(t, lds_direct);
    tcase_add_test(t, lds_param);
    tcase_add_test(t, bvh_stack);
    tcase_add_test(t, bvh_stack_overflow);
    tcase_add_test(t, mqsad);
    tcase_add_test(t, swap_b16);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
