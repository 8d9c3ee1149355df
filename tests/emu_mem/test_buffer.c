/* test_buffer.c: buffer resources: addressing, swizzle, range checks, formats, scalar
 * loads; float atomics in LDS.
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"

#include <math.h>

#include "programs.inc"

#define WORDS 4096

static struct run r;
static uint32_t memory[WORDS] __attribute__((aligned(4096)));

static void begin(const uint32_t *body, size_t bytes)
{
    memset(&r, 0, sizeof r);
    r.body = body;
    r.body_bytes = bytes;
    r.float_mode = 0x3f0;
    r.memory = memory;
    r.memory_bytes = sizeof memory;
    for (unsigned i = 0; i < WORDS; i++)
        memory[i] = random32();
}
#define BEGIN(name) begin(body_##name, sizeof body_##name)

static uint32_t bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static uint32_t word_at(uint64_t byte)
{
    uint32_t v;
    memcpy(&v, (uint8_t *)memory + byte, sizeof v);
    return v;
}

/* Fields of a resource, in the places that the manual gives them. */
struct res {
    unsigned stride, swizzle, records, format, index_stride, add_tid, oob, dst_sel;
};

static void set_res(const struct res *d)
{
    uint64_t base = (uint64_t)(uintptr_t)memory;
    unsigned sel = d->dst_sel ? d->dst_sel : 4 | 5 << 3 | 6 << 6 | 7 << 9;
    r.sgpr[0] = (uint32_t)base;
    r.sgpr[1] = (uint32_t)(base >> 32) | d->stride << 16 | d->swizzle << 30;
    r.sgpr[2] = d->records;
    r.sgpr[3] =
        sel | d->format << 12 | d->index_stride << 21 | d->add_tid << 23 | d->oob << 28;
}

#define UINT32_FMT 20

/* ---- raw ------------------------------------------------------------------------- */

START_TEST(raw_loads)
{
    BEGIN(buf_raw);
    set_res(&(struct res){.records = 1000, .format = UINT32_FMT, .oob = 3});
    r.sgpr[4] = 16;
    for (unsigned l = 0; l < LANES; l++)
        r.in[0][l] = l < 40 ? 4 * l + 1 : 940 + 2 * l - 80;
    r.in[0][0] = 0xfffffff0;
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            uint64_t v = r.in[0][l];
            bool in = v + 4 + 4 + 16 <= 1000;
            ck_row_eq(&r, 0, l, in ? word_at(v + 20) : 0);
            in = v + 1 + 1 + 3 <= 1000;
            ck_row_eq(&r, 1, l, in ? word_at(v + 4) & 255 : 0);
            for (unsigned k = 0; k < 4; k++)
                ck_row_eq(&r, 2 + k, l, v + 4 * k + 4 <= 1000 ? word_at(v + 4 * k) : 0);
            uint32_t byte = v + 1 <= 1000 ? (uint32_t)(int8_t)word_at(v) : 0;
            uint32_t half = v + 2 <= 1000 ? word_at(v) & 0xffff : 0;
            ck_row_eq(&r, 6, l, 0x5678 | byte << 16);
            ck_row_eq(&r, 7, l, 0x12340000 | half);
        }
    }
}
END_TEST

static uint32_t model[WORDS];

static void put(uint64_t byte, uint32_t v, unsigned bytes)
{
    memcpy((uint8_t *)model + byte, &v, bytes);
}

START_TEST(raw_stores)
{
    BEGIN(buf_store);
    set_res(&(struct res){.records = 2000, .format = UINT32_FMT, .oob = 3});
    r.sgpr[4] = 32;
    random_rows(&r);
    for (unsigned l = 0; l < LANES; l++)
        r.in[0][l] = 31 * l;
    uint32_t before[WORDS];
    memcpy(before, memory, sizeof before);
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        memcpy(model, before, sizeof model);
        for (unsigned l = 0; l < r.lanes; l++)
            for (unsigned k = 0; k < 3; k++)
                if (r.in[0][l] + 8 + 4 * k + 4 <= 2000 - 32)
                    put(r.in[0][l] + 40 + 4 * k, r.in[1 + k][l], 4);
        for (unsigned l = 0; l < r.lanes; l++)
            if (r.in[0][l] + 21 + 32 <= 2000)
                put(r.in[0][l] + 52, r.in[4][l], 1);
        for (unsigned l = 0; l < r.lanes; l++)
            if (r.in[0][l] + 24 + 32 <= 2000)
                put(r.in[0][l] + 54, r.in[5][l] >> 16, 2);
        ck_assert_mem_eq(memory, model, sizeof memory);
        memcpy(memory, before, sizeof memory);
    }
    /* where it has read, but must not write */
    r.sgpr[0] = (uint32_t)(uintptr_t)r.in;
    r.sgpr[1] = (uint32_t)((uint64_t)(uintptr_t)r.in >> 32);
    FOR_EACH_RUN(&r)
    {
        ck_assert_int_eq(r.fault.kind, EMU_FAULT_PERMISSION);
        ck_assert_int_eq(r.fault.lane, 0);
    }
}
END_TEST

/* ---- structured, swizzled, thread id ----------------------------------------------
 */

static uint64_t swizzle(const struct res *d, uint64_t index, uint64_t offset)
{
    uint64_t is = 8u << d->index_stride, es = d->swizzle == 1 ? 4 : 16;
    if (!d->swizzle)
        return index * d->stride + offset;
    return (index / is * d->stride + offset / es * es) * is + index % is * es +
           offset % es;
}

static bool in_range(const struct res *d, uint64_t index, uint64_t offset,
                     unsigned bytes, uint32_t soffset)
{
    bool record = offset + bytes <= d->stride;
    switch (d->oob) {
    case 0:
        return index < d->records && record;
    case 1:
        return index < d->records;
    case 2:
        return d->records != 0;
    default:
        if (d->swizzle && d->stride)
            return index < d->records && record;
        return swizzle(d, index, offset) + bytes + soffset <= d->records;
    }
}

static uint32_t expect(const struct res *d, uint64_t index, uint64_t offset,
                       uint32_t soffset)
{
    return in_range(d, index, offset, 4, soffset)
               ? word_at(swizzle(d, index, offset) + soffset)
               : 0;
}

static void check_indexed(const struct res *d)
{
    uint32_t before[WORDS];
    set_res(d);
    memcpy(before, memory, sizeof before);
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        memcpy(model, before, sizeof model);
        for (unsigned l = 0; l < r.lanes; l++) {
            uint64_t tid = d->add_tid ? l : 0, index = r.in[0][l] + tid;
            uint64_t offset = r.in[1][l] + 8;
            if (in_range(d, index, offset, 4, 64))
                put(swizzle(d, index, offset) + 64, r.in[2][l], 4);
        }
        ck_assert_mem_eq(memory, model, sizeof memory);
        memcpy(memory, before, sizeof memory);
        for (unsigned l = 0; l < r.lanes; l++) {
            uint64_t tid = d->add_tid ? l : 0, index = r.in[0][l] + tid;
            ck_row_eq(&r, 0, l, expect(d, index, 4, 0));
            ck_row_eq(&r, 1, l, expect(d, index, r.in[1][l], 64));
            ck_row_eq(&r, 2, l, expect(d, index, r.in[1][l] + 4, 64));
            ck_row_eq(&r, 3, l, expect(d, tid, 8, 0));
        }
    }
}

START_TEST(indexed)
{
    BEGIN(buf_index);
    r.sgpr[4] = 64;
    for (unsigned l = 0; l < LANES; l++) {
        r.in[0][l] = (l * 7) % 80;
        r.in[1][l] = 4 * (l % 5);
        r.in[2][l] = random32();
    }
    for (unsigned i = 0; i < 64; i++) {
        static const uint8_t swizzles[3] = {0, 1, 3};
        struct res d = {.stride = 16 * (1 + i % 2),
                        .swizzle = swizzles[i % 3],
                        .records = i % 4 == 3 ? 1500 : 60,
                        .format = UINT32_FMT,
                        .index_stride = i / 12 % 4,
                        .add_tid = i / 6 % 2,
                        .oob = i % 4};
        check_indexed(&d);
    }
}
END_TEST

/* By offsets alone: resources of which rows must not be taken for plain memory. */
START_TEST(by_offset)
{
    BEGIN(buf_raw);
    r.sgpr[4] = 16;
    for (unsigned l = 0; l < LANES; l++)
        r.in[0][l] = 4 * (l % 8);
    for (unsigned i = 0; i < 48; i++) {
        static const uint8_t swizzles[3] = {0, 1, 3};
        struct res d = {.stride = 16,
                        .swizzle = swizzles[i % 3],
                        .records = i % 4 == 3 ? 1200 : 60,
                        .format = UINT32_FMT,
                        .add_tid = i / 12 % 2,
                        .oob = i % 4};
        set_res(&d);
        FOR_EACH_RUN(&r)
        {
            ck_no_fault(&r);
            for (unsigned l = 0; l < r.lanes; l++)
                ck_row_eq(&r, 0, l, expect(&d, d.add_tid ? l : 0, r.in[0][l] + 4, 16));
        }
    }
}
END_TEST

START_TEST(unbound)
{
    BEGIN(buf_raw);
    set_res(&(struct res){.records = 1000, .oob = 3}); /* format 0 */
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_row_eq(&r, 0, 5, 0);
        ck_row_eq(&r, 6, 5, 0x5678);
    }
    /* in the resource's range, but not mapped */
    set_res(&(struct res){.records = 0xffffffff, .format = UINT32_FMT, .oob = 3});
    for (unsigned i = 0; i < 2; i++) {
        r.in[0][7] = sizeof memory - 8 * i; /* all of it, the end of it */
        FOR_EACH_RUN(&r)
        {
            ck_assert_int_eq(r.fault.kind, EMU_FAULT_UNMAPPED);
            ck_assert_int_eq(r.fault.lane, 7);
        }
    }
}
END_TEST

START_TEST(tfe)
{
    BEGIN(buf_tfe);
    set_res(&(struct res){.records = 100, .format = UINT32_FMT, .oob = 3});
    for (unsigned l = 0; l < LANES; l++)
        r.in[0][l] = 4 * l;
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            ck_row_eq(&r, 0, l, l < 25 ? memory[l] : 0);
            ck_row_eq(&r, 1, l, 0);
            ck_row_eq(&r, 3, l, l < 24 ? memory[l + 1] : 0);
            ck_row_eq(&r, 4, l, 0);
        }
    }
}
END_TEST

/* ---- atomics ----------------------------------------------------------------------
 */

START_TEST(atomics)
{
    BEGIN(buf_atomic);
    set_res(&(struct res){.records = 32 * 40, .format = UINT32_FMT, .oob = 3});
    random_rows(&r);
    uint32_t before[WORDS];
    for (unsigned l = 0; l < LANES; l++) {
        r.in[0][l] = 32 * l;
        r.in[2][l] = l % 2 ? memory[8 * l + 1] : 1;
        r.in[4][l] = bits(1.5f);
        memory[8 * l + 4] = bits((float)l);
    }
    memcpy(before, memory, sizeof before);
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            const uint32_t *old = &before[8 * l], *new = &memory[8 * l];
            bool in = l < 40;
            ck_row_eq(&r, 0, l, in ? old[0] : 0);
            ck_row_eq(&r, 1, l, in ? old[1] : 0);
            ck_row_eq(&r, 3, l, in ? old[2] : 0);
            ck_row_eq(&r, 4, l, in ? old[3] : 0);
            if (!in) {
                ck_assert_mem_eq(old, new, 32);
                continue;
            }
            ck_assert_uint_eq(new[0], old[0] + r.in[1][l] + r.in[3][l]);
            ck_assert_uint_eq(new[1], l % 2 ? r.in[1][l] : old[1]);
            ck_assert_uint_eq(new[2], old[2] ^ r.in[1][l]);
            ck_assert_uint_eq(new[3], old[3] ^ r.in[2][l]);
            ck_assert_uint_eq(new[4], bits((float)l + 1.5f));
        }
        memcpy(memory, before, sizeof memory);
    }
    r.in[0][9] += 2;
    FOR_EACH_RUN(&r)
    ck_assert_int_eq(r.fault.kind, EMU_FAULT_MISALIGNED);
}
END_TEST

/* MODE rounds toward zero and flushes; LDS additions round to nearest all the same. */
START_TEST(lds_floats)
{
    static const struct {
        uint32_t mode, mem, data, cmp, add, min, max, swapped;
    } cases[] = {
        {0x3f3, 0x3f800000, 0x33c00000, 0, 0x3f800001, 0x33c00000, 0x3f800000, 0},
        {0x3f0, 0x80000000, 0, 0, 0, 0x80000000, 0, 1},
        {0x3f0, 0x7fc00001, 0x3f800000, 0x7fc00001, 0x7fc00001, 0x3f800000, 0x3f800000,
         0},
        {0x3f0, 0x7f800001, 0x3f800000, 0, 0x7fc00001, 0x7fc00001, 0x7fc00001, 0},
        {0x3f0, 0x7fc00001, 0xffc00002, 0, 0xffc00002, 0xffc00002, 0xffc00002, 0},
        {0x3f0, 1, 0x00800000, 1, 0x00800001, 1, 0x00800000, 1},
        {0x3c0, 1, 0x00800000, 0, 0x00800000, 1, 0x00800000, 1},
        {0x3c0, 0x00800000, 2, 0x00800000, 0x00800000, 2, 0x00800000, 2},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        BEGIN(lds_float);
        r.lds_bytes = 256;
        r.float_mode = cases[i].mode;
        for (unsigned l = 0; l < LANES; l++) {
            r.in[0][l] = cases[i].mem;
            r.in[1][l] = cases[i].data;
            r.in[2][l] = cases[i].cmp;
        }
        uint32_t stored = cases[i].swapped == 0   ? cases[i].mem
                          : cases[i].swapped == 1 ? cases[i].data
                                                  : 0;
        FOR_EACH_RUN(&r)
        {
            ck_no_fault(&r);
            for (unsigned l = 0; l < r.lanes; l++) {
                ck_row_eq(&r, 0, l, cases[i].mem);
                ck_row_eq(&r, 1, l, cases[i].add);
                ck_row_eq(&r, 3, l, cases[i].min);
                ck_row_eq(&r, 4, l, cases[i].max);
                ck_row_eq(&r, 5, l, stored);
            }
        }
    }
}
END_TEST

/* ---- formats ----------------------------------------------------------------------
 */

struct fmt_case {
    unsigned format, bytes;
    uint64_t memory;
    uint32_t want[4]; /* as f32 or integers */
};

#define F1 0x3f800000u

static const struct fmt_case fmt_cases[] = {
    {1, 1, 0xff, {F1, 0, 0, 0}},
    {1, 1, 0x33, {0x3e4ccccd, 0, 0, 0}}, /* 0.2 */
    {2, 1, 0x80, {0xbf800000, 0, 0, 0}},
    {2, 1, 0x81, {0xbf800000, 0, 0, 0}},
    {2, 1, 0x7f, {F1, 0, 0, 0}},
    {3, 1, 0xc8, {0x43480000, 0, 0, 0}}, /* 200 */
    {4, 1, 0xc8, {0xc2600000, 0, 0, 0}}, /* -56 */
    {5, 1, 0xc8, {200, 0, 0, 0}},
    {6, 1, 0xc8, {0xffffffc8, 0, 0, 0}},
    {7, 2, 0xffff, {F1, 0, 0, 0}},
    {13, 2, 0x3e00, {0x3fc00000, 0, 0, 0}}, /* 1.5 */
    {13, 2, 0x8001, {0xb3800000, 0, 0, 0}}, /* a denormal */
    {13, 2, 0x7c01, {0x7f802000, 0, 0, 0}}, /* a NaN as it is */
    {14, 2, 0x00ff, {F1, 0, 0, 0}},
    {18, 2, 0x1234, {0x34, 0x12, 0, 0}},
    {20, 4, 0xdeadbeef, {0xdeadbeef, 0, 0, 0}},
    {22, 4, 0x7f800001, {0x7f800001, 0, 0, 0}},
    {27, 4, 0x12345678, {0x5678, 0x1234, 0, 0}},
    {29, 4, 0xc0003c00, {F1, 0xc0000000, 0, 0}},
    /* 10_11_11: X in bits 10:0 (1.0 = 15 << 6), Y 2.0, Z = 15 << 5 (1.0) */
    {30, 4, 0x3c0u | 0x400u << 11 | 0x1e0ull << 22, {F1, 0x40000000, F1, 0}},
    {36, 4, 0x3ffu | 0u << 10 | 0x3ffu << 20 | 3ull << 30, {F1, 0, F1, F1}},
    {37, 4, 0x200u | 0x1ffu << 10 | 2ull << 30, {0xbf800000, F1, 0, 0xbf800000}},
    {34, 4, 3u | 5u << 2 | 7u << 12 | 9ull << 22, {3, 5, 7, 9}},
    {40, 4, 3u | 5u << 10 | 7u << 20 | 2ull << 30, {3, 5, 7, 2}},
    {41, 4, 0x3ffu | 5u << 10 | 2ull << 30, {UINT32_MAX, 5, 0, 0xfffffffe}},
    {46, 4, 0x44332211, {0x11, 0x22, 0x33, 0x44}},
    {47, 4, 0x84332211, {0x11, 0x22, 0x33, 0xffffff84}},
    {48, 8, 0x1122334455667788, {0x55667788, 0x11223344, 0, 0}},
    {55, 8, 0x1122334455667788, {0x7788, 0x5566, 0x3344, 0x1122}},
    {57, 8, 0x3c00400000003e00, {0x3fc00000, 0, 0x40000000, F1}},
};

START_TEST(format_loads)
{
    for (unsigned i = 0; i < sizeof fmt_cases / sizeof *fmt_cases; i++) {
        const struct fmt_case *f = &fmt_cases[i];
        BEGIN(buf_fmt_load);
        set_res(&(struct res){.records = 1024, .format = f->format, .oob = 3});
        for (unsigned l = 0; l < LANES; l++) {
            r.in[0][l] = 16 * l;
            memcpy(&memory[4 * l], &f->memory, 8);
        }
        FOR_EACH_RUN(&r)
        {
            ck_no_fault(&r);
            for (unsigned c = 0; c < 4; c++)
                ck_assert_msg(r.out[c][3] == f->want[c],
                              "format %u component %u: got 0x%x, want 0x%x", f->format,
                              c, r.out[c][3], f->want[c]);
            ck_row_eq(&r, 7, 3, f->want[0]);
        }
    }
}
END_TEST

static uint16_t half(float f)
{
    _Float16 h = (_Float16)f;
    uint16_t u;
    memcpy(&u, &h, sizeof u);
    return u;
}

/* D16: halves; f32 memory is truncated, the rest rounded; dst_sel, and 1 for alpha. */
START_TEST(format_d16)
{
    BEGIN(buf_fmt_load);
    unsigned bgr1 = 6 | 5 << 3 | 4 << 6 | 1 << 9;
    set_res(&(struct res){
        .records = 1024, .format = 42, .oob = 3, .dst_sel = (unsigned)bgr1});
    for (unsigned l = 0; l < LANES; l++)
        r.in[0][l] = 4 * l;
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            float c[3];
            for (unsigned k = 0; k < 3; k++)
                c[k] = (float)(memory[l] >> (16 - 8 * k) & 255) / 255.0f;
            for (unsigned k = 0; k < 3; k++)
                ck_row_eq(&r, k, l, bits(c[k]));
            ck_row_eq(&r, 3, l, F1);
            ck_row_eq(&r, 4, l, half(c[0]) | (uint32_t)half(c[1]) << 16);
            ck_row_eq(&r, 5, l, half(c[2]) | 0xffff0000u);
            ck_row_eq(&r, 6, l, (uint32_t)half(c[0]) << 16 | 0xffffu);
        }
    }
    set_res(&(struct res){.records = 1024, .format = 22, .oob = 3});
    memory[2] = bits(1.0f + 0x1.ffcp-11f);
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_row_eq(&r, 4, 2, 0x3c00);
        ck_row_eq(&r, 5, 2, 0xffff0000u);
    }
}
END_TEST

struct store_case {
    unsigned format;
    uint32_t in[4];
    uint64_t want;
};

static const struct store_case store_cases[] = {
    {1, {0x3f000000}, 0x80}, /* 0.5 * 255 = 127.5, to even */
    {1, {0x7fc00000}, 0},    /* NaN */
    {1, {0xbf800000}, 0},    /* below the range */
    {2, {0xc0000000}, 0x81}, /* clamped to -1 */
    {5, {300}, 0xff},
    {6, {0xffffff00}, 0x80},
    {13, {0x3f801001}, 0x3c01}, /* just above half an ulp */
    {13, {0x477ff000}, 0x7c00}, /* rounds up to infinity */
    {22, {0x7f800001}, 0x7f800001},
    {27, {0x12345, 0x54321}, 0xffffffff},
    {30, {F1, 0x40000000, 0xbf800000}, 0x3c0u | 0x400u << 11},
    {36, {F1, 0x3f000000, 0, F1}, 0x3ffu | 0x200u << 10 | 3u << 30},
    {42, {F1, 0, F1, 0x3f000000}, 0x80ff00ff},
    {57, {F1, 0x40000000, 0x33800000, 0}, 0x0000000140003c00},
    {63, {1, 2, 3, 4}, 0x0000000200000001},
};

START_TEST(format_stores)
{
    for (unsigned i = 0; i < sizeof store_cases / sizeof *store_cases; i++) {
        const struct store_case *f = &store_cases[i];
        BEGIN(buf_fmt_store);
        set_res(&(struct res){.records = 1024, .format = f->format, .oob = 3});
        for (unsigned l = 0; l < LANES; l++) {
            r.in[0][l] = 16 * l;
            for (unsigned c = 0; c < 4; c++)
                r.in[1 + c][l] = f->in[c];
        }
        memset(memory, 0, sizeof memory);
        FOR_EACH_RUN(&r)
        {
            ck_no_fault(&r);
            uint64_t got = memory[12] | (uint64_t)memory[13] << 32;
            ck_assert_msg(got == f->want, "format %u: got 0x%llx, want 0x%llx",
                          f->format, (unsigned long long)got,
                          (unsigned long long)f->want);
        }
    }
}
END_TEST

START_TEST(format_stores16)
{
    BEGIN(buf_fmt_store16);
    set_res(&(struct res){.records = 1024, .format = 57, .oob = 3});
    random_rows(&r);
    for (unsigned l = 0; l < LANES; l++)
        r.in[0][l] = 8 * l;
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            uint32_t a = r.in[1][l], b = r.in[2][l];
            bool nan = false;
            for (unsigned k = 0; k < 32; k += 16)
                nan |= (a >> k & 0x7c00) == 0x7c00 || (b >> k & 0x7c00) == 0x7c00;
            if (nan)
                continue;
            ck_row_eq(&r, 0, l, a);
            ck_row_eq(&r, 1, l, b);
            ck_assert_uint_eq(memory[2 * l] & 0xffff, r.in[3][l] >> 16);
        }
    }
}
END_TEST

START_TEST(typed)
{
    BEGIN(tbuf);
    set_res(
        &(struct res){.records = 1024, .format = UINT32_FMT, .oob = 3, .dst_sel = 4});
    memset(memory, 0, sizeof memory);
    for (unsigned l = 0; l < LANES; l++) {
        r.in[0][l] = 8 * l;
        memory[2 * l] = 0xff00fff0u - l;
        r.in[1][l] = bits((float)l);
        r.in[2][l] = bits(-(float)l / 4.0f);
    }
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            uint32_t v = memory[2 * l];
            for (unsigned k = 0; k < 4; k++)
                ck_row_eq(&r, k, l, bits((float)(v >> 8 * k & 255) / 255.0f));
            ck_row_eq(&r, 4, l, (uint32_t)(int16_t)v);
            for (unsigned k = 5; k < 8; k++)
                ck_row_eq(&r, k, l, 0);
            ck_assert_uint_eq(memory[2 * l + 1],
                              half((float)l) | (uint32_t)half(-(float)l / 4.0f) << 16);
        }
    }
}
END_TEST

START_TEST(scalar)
{
    BEGIN(sbuf);
    set_res(&(struct res){.stride = 4, .records = 9, .format = UINT32_FMT});
    r.sgpr[4] = 10; /* the low bits are dropped */
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_row_eq(&r, 0, 0, memory[3]);
        ck_row_eq(&r, 1, 0, memory[7]);
        ck_row_eq(&r, 2, 0, memory[8]);
        ck_row_eq(&r, 3, 0, memory[0]);
        ck_row_eq(&r, 4, 0, memory[3]);
    }
    r.sgpr[2] = 8;
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_row_eq(&r, 1, 0, memory[7]);
        ck_row_eq(&r, 2, 0, 0);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("emu_buffer");
    TCase *t = tcase_create("buffer");
    tcase_add_test(t, raw_loads);
    tcase_add_test(t, raw_stores);
    tcase_add_test(t, indexed);
    tcase_add_test(t, by_offset);
    tcase_add_test(t, unbound);
    tcase_add_test(t, tfe);
    tcase_add_test(t, atomics);
    tcase_add_test(t, lds_floats);
    tcase_add_test(t, format_loads);
    tcase_add_test(t, format_d16);
    tcase_add_test(t, format_stores);
    tcase_add_test(t, format_stores16);
    tcase_add_test(t, typed);
    tcase_add_test(t, scalar);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
