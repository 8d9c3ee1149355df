/* test_trace.c: thread traces that a program takes by registers, decoded.
 *
 * usage: test_trace [untimed]
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "config.h"
#include "mock.h"
#include "sqtt.h"

enum reg {
    COMPUTE_THREAD_TRACE_ENABLE = 0x2e1e,
    GRBM_GFX_INDEX = 0xc200,
    USERDATA_2 = 0xc342,
    BUF0_BASE = 0xd9e8,
    BUF0_SIZE = 0xd9e9,
    CTRL = 0xd9ec,
    MASK = 0xd9ed,
    TOKEN_MASK = 0xd9ee,
    WPTR = 0xd9ef,
    STATUS = 0xd9f4,
};

enum { ENGINES = 6, ROOM = 65536, WRITE_ERROR = 1 << 24 };
#define EVERYWHERE (1u << 31 | 1u << 30 | 1u << 29)
#define ENGINE(se) (1u << 30 | (uint32_t)(se) << 16)
#define COMPUTE    (1u << 16)
/* Of TOKEN_MASK: what compute pipes write; no register writes. */
#define COMPUTE_REGISTERS (8u << 16)
#define WITHOUT_REGISTERS (1u << 6)
#define INSTRUCTIONS      0x127u /* of TOKEN_EXCLUDE, and when they execute */

/* s_mov_b32 s4, 0; v_mov_b32 v0, s4; s_endpgm */
static const uint32_t code[] = {0xbe840080, 0x7e000204, 0xbfb00000, 0xbf9f0000};

static uint32_t *mem; /* fence, what registers read */
static uint8_t *text, *buffer;
static struct mock_queue queue;
static uint32_t fences;

static void set(uint32_t reg, uint32_t value)
{
    mock_set_register(&queue, reg, value);
}

static void dispatch(void)
{
    mock_dispatch(&queue, text, mem, mem, ++fences);
    ck_assert(mock_wait32(mem, fences));
}

static uint32_t get(uint32_t reg)
{
    mock_copy_register(&queue, reg, false, mem + 1, mem, ++fences);
    ck_assert(mock_wait32(mem, fences));
    return mem[1];
}

/* Begin traces of all engines, each with a buffer of its own. */
static void begin(uint32_t bytes, uint32_t without)
{
    memset(buffer, 0xff, (size_t)ENGINES * ROOM);
    for (unsigned se = 0; se < ENGINES; se++) {
        uint64_t page = (uintptr_t)(buffer + (size_t)se * ROOM) >> 12;
        set(GRBM_GFX_INDEX, ENGINE(se));
        set(BUF0_SIZE, (uint32_t)(page >> 32) | bytes >> 12 << 8);
        set(BUF0_BASE, (uint32_t)page);
        set(MASK, COMPUTE);
        set(TOKEN_MASK, without);
        set(CTRL, 1);
    }
    set(GRBM_GFX_INDEX, EVERYWHERE);
    set(COMPUTE_THREAD_TRACE_ENABLE, 1);
}

static void end(void)
{
    set(COMPUTE_THREAD_TRACE_ENABLE, 0);
    set(GRBM_GFX_INDEX, EVERYWHERE);
    set(CTRL, 0);
}

/* Bytes in an engine's buffer, as the program finds them out. */
static uint32_t written(unsigned se)
{
    uint64_t start = (uintptr_t)(buffer + (size_t)se * ROOM);
    set(GRBM_GFX_INDEX, ENGINE(se));
    return ((get(WPTR) - (uint32_t)(start / 32)) & 0x1fffffff) * 32;
}

/* Packets of a kind, in the traces of all engines. */
static unsigned packets(enum sqtt_kind kind)
{
    unsigned n = 0;
    for (unsigned se = 0; se < ENGINES; se++) {
        struct sqtt_reader r = {.data = buffer + (size_t)se * ROOM,
                                .bytes = written(se)};
        struct sqtt_packet p;
        while (sqtt_next(&r, &p))
            n += p.kind == kind;
    }
    return n;
}

START_TEST(two_waves)
{
    begin(ROOM, 0);
    ck_assert_uint_eq(written(0), 0);
    dispatch();
    end();
    ck_assert_uint_eq(get(STATUS), 0);
    ck_assert_uint_eq(packets(SQTT_HEADER), ENGINES);
    ck_assert_uint_eq(packets(SQTT_WAVE_START), 2);
    ck_assert_uint_eq(packets(SQTT_WAVE_END), 2);
    ck_assert_uint_ge(packets(SQTT_VALU), 1);
    uint32_t bytes = written(0);
    ck_assert_uint_gt(bytes, 0);
    ck_assert_uint_eq(buffer[bytes], 0xff); /* what lies behind is left alone */
    dispatch();                             /* that nobody traces */
    ck_assert_uint_eq(written(0), bytes);
}
END_TEST

START_TEST(two_dispatches)
{
    begin(ROOM, 0);
    dispatch();
    dispatch();
    end();
    ck_assert_uint_eq(packets(SQTT_HEADER), ENGINES);
    ck_assert_uint_eq(packets(SQTT_WAVE_START), 4);
}
END_TEST

START_TEST(left_out)
{
    begin(ROOM, INSTRUCTIONS);
    dispatch();
    end();
    ck_assert_uint_eq(packets(SQTT_WAVE_START), 2);
    ck_assert_uint_eq(packets(SQTT_VALU) + packets(SQTT_INST), 0);
    begin(ROOM, 0);
    set(MASK, 0); /* of every engine: no compute waves */
    dispatch();
    end();
    for (unsigned se = 0; se < ENGINES; se++)
        ck_assert_uint_eq(written(se), 0);
}
END_TEST

/* The register writes of an engine's trace, in order; returns how many there are. */
static unsigned registers(unsigned se, struct sqtt_packet *out, unsigned most)
{
    unsigned n = 0;
    struct sqtt_reader r = {.data = buffer + (size_t)se * ROOM, .bytes = written(se)};
    for (struct sqtt_packet p; n < most && sqtt_next(&r, &p);)
        if (p.kind == SQTT_REGISTER)
            out[n++] = p;
    return n;
}

/* What was written to a compute register last; UINT32_MAX: nothing. */
static uint32_t compute(const struct sqtt_packet *p, unsigned n, unsigned reg)
{
    uint32_t value = UINT32_MAX;
    for (unsigned i = 0; i < n; i++)
        if (p[i].reg == reg)
            value = p[i].value;
    return value;
}

/* What a dispatch is, and the words that the program writes, once; if they are wanted.
 */
START_TEST(register_writes)
{
    struct sqtt_packet p[64];
    set(USERDATA_2, 1); /* nobody traces yet */
    begin(ROOM, 0);
    dispatch();
    end();
    ck_assert_uint_eq(registers(0, p, 64), 0);
    begin(ROOM, COMPUTE_REGISTERS | WITHOUT_REGISTERS);
    dispatch();
    end();
    ck_assert_uint_eq(registers(0, p, 64), 0);
    begin(ROOM, COMPUTE_REGISTERS);
    set(USERDATA_2, 0x80000000);
    set(USERDATA_2 + 1, 77);
    dispatch();
    set(USERDATA_2, 78);
    dispatch();
    end();
    for (unsigned se = 0; se < ENGINES; se++) {
        unsigned n = registers(se, p, 64), words = 0;
        uint32_t word[4] = {0};
        uint64_t entry = (uintptr_t)text;
        ck_assert_uint_eq(compute(p, n, 12), (uint32_t)(entry >> 8));
        ck_assert_uint_eq(compute(p, n, 13), (uint32_t)(entry >> 40));
        ck_assert_uint_ne(compute(p, n, 18), UINT32_MAX);
        ck_assert_uint_ge(compute(p, n, 7), 1);
        ck_assert_uint_eq(compute(p, n, 9), 1);
        ck_assert_uint_eq(compute(p, n, 0x16), UINT32_MAX); /* all CUs */
        for (unsigned i = 0; i < n; i++)
            if (p[i].user && words < 4)
                word[words++] = p[i].value;
        ck_assert_uint_eq(words, 3);
        ck_assert_uint_eq(word[0], 0x80000000);
        ck_assert_uint_eq(word[1], 77);
        ck_assert_uint_eq(word[2], 78);
    }
    ck_assert_uint_eq(get(USERDATA_2), 78);
}
END_TEST

/* A buffer that is full stays so; one that is not there is told. */
START_TEST(full)
{
    begin(4096, 0);
    for (unsigned i = 0; i < 160; i++)
        dispatch();
    end();
    ck_assert_uint_eq(written(0), 4096);
    ck_assert_uint_eq(buffer[4096], 0xff);
    begin(ROOM, 0);
    set(BUF0_BASE, 1);
    set(BUF0_SIZE, 1 << 8);
    dispatch();
    end();
    set(GRBM_GFX_INDEX, ENGINE(0));
    ck_assert_uint_eq(get(STATUS), WRITE_ERROR);
    ck_assert_uint_eq(get(WPTR), 4096 / 32);
    begin(ROOM, 0);
    end();
    ck_assert_uint_eq(get(STATUS), 0);
}
END_TEST

/* Without a timing model there are no times, and so no tokens. */
START_TEST(empty)
{
    begin(ROOM, 0);
    dispatch();
    end();
    for (unsigned se = 0; se < ENGINES; se++)
        ck_assert_uint_eq(written(se), 0);
    ck_assert_ptr_nonnull(strstr(mock_line, "empty without --timing"));
}
END_TEST

int main(int argc, char **argv)
{
    bool timed = argc < 2 || strcmp(argv[1], "untimed") != 0;
    if (timed)
        setenv(FRONT_ENV_TIMING, "2482", 1);
    mock_begin();
    mem = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_GTT, NULL);
    text = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, NULL);
    buffer = mock_buffer((uint64_t)ENGINES * ROOM, KFD_IOC_ALLOC_MEM_FLAGS_GTT, NULL);
    memcpy(text, code, sizeof code);
    mock_queue_create(&queue, KFD_IOC_QUEUE_TYPE_COMPUTE, 65536);
    Suite *s = suite_create("trace");
    TCase *t = tcase_create(timed ? "timed" : "untimed");
    tcase_set_timeout(t, 60);
    if (timed) {
        tcase_add_test(t, two_waves);
        tcase_add_test(t, two_dispatches);
        tcase_add_test(t, left_out);
        tcase_add_test(t, register_writes);
        tcase_add_test(t, full);
    } else {
        tcase_add_test(t, empty);
    }
    suite_add_tcase(s, t);
    int status = suite_run_here(s);
    mock_queue_destroy(&queue);
    mock_end();
    return status;
}
