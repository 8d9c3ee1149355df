/* test_rows.c: rows of 32 lanes to and from memory and between lanes, at every SIMD
 * level, against loops over lanes: all shapes of addresses, EXEC full, partial and
 * empty, at the end of what is mapped.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../suite.h"
#include "probe.h"

#define BYTES 16384u /* of memory, then a page that must not be touched */

static const struct probe *level(int i)
{
    __builtin_cpu_init();
    switch (i) {
    case 0:
        return &probe_generic;
    case 1:
        return __builtin_cpu_supports("x86-64-v3") ? &probe_avx2 : NULL;
    default:
        return __builtin_cpu_supports("x86-64-v4") ? &probe_avx512 : NULL;
    }
}

static uint64_t state = 1;

static uint32_t bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

static uint8_t *arena(void)
{
    uint8_t *p = mmap(NULL, 2 * BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(p, MAP_FAILED);
    ck_assert_int_eq(mprotect(p + BYTES, BYTES, PROT_NONE), 0);
    return p;
}

static uint32_t some_lanes(void)
{
    switch (bits() % 6) {
    case 0:
        return 0;
    case 1:
        return bits() & bits();
    case 2:
        return 1u << (bits() & 31);
    case 3:
        return 0xffffffffu >> (bits() & 31);
    default:
        return 0xffffffffu;
    }
}

/* Offsets of the active lanes end at the arena's end or below; others are anything. */
static void offsets(uint32_t a[32], uint32_t exec, unsigned bytes)
{
    static const uint32_t steps[] = {0, 1, 2, 4, 8, 12, 16, 20, 64, 256};
    unsigned shape = bits() % 5, unaligned = bits() % 8 == 0;
    uint32_t step = steps[bits() % 10], last = 0;
    for (unsigned l = 0; l < 32; l++) {
        uint32_t group =
            shape == 3 ? l & 16 ? 4 * (l & 15) + 777 * 4 : 4 * (l & 15) : 0;
        a[l] = shape < 3 ? step * l : shape == 3 ? group : (bits() % (BYTES / 2)) & ~3u;
        a[l] += unaligned;
        if (exec >> l & 1u)
            last = a[l] > last ? a[l] : last;
    }
    uint32_t up = bits() & 1 ? BYTES - bytes - last : bits() % 64 * 4;
    for (unsigned l = 0; l < 32; l++) {
        a[l] += up;
        if (!(exec >> l & 1u) && bits() % 4 == 0)
            a[l] = bits();
    }
}

static void fill(void *p, size_t bytes)
{
    for (size_t i = 0; i < bytes / 4; i++)
        ((uint32_t *)p)[i] = bits();
}

static void model_load(uint32_t *d, const uint8_t *base, const uint32_t *a,
                       uint32_t exec, unsigned dwords)
{
    for (unsigned l = 0; l < 32; l++)
        for (unsigned k = 0; k < dwords && exec >> l & 1u; k++)
            memcpy(&d[32 * k + l], base + a[l] + 4 * k, 4);
}

static void model_store(const uint32_t *s, uint8_t *base, const uint32_t *a,
                        uint32_t exec, unsigned dwords)
{
    for (unsigned l = 0; l < 32; l++)
        for (unsigned k = 0; k < dwords && exec >> l & 1u; k++)
            memcpy(base + a[l] + 4 * k, &s[32 * k + l], 4);
}

START_TEST(dwords_move)
{
    const struct probe *p = level(_i);
    uint8_t *mem = arena(), *want = malloc(BYTES);
    for (unsigned round = 0; p && round < 20000; round++) {
        uint32_t exec = some_lanes(), a[32], d[128], e[128];
        unsigned dwords = 1 + bits() % 4;
        offsets(a, exec, 4 * dwords);
        fill(mem, BYTES / 8);
        fill(mem + BYTES * 7 / 8, BYTES / 8);
        fill(d, sizeof d);
        memcpy(e, d, sizeof e);
        model_load(e, mem, a, exec, dwords);
        p->gather(d, mem, a, exec, dwords);
        ck_assert_mem_eq(d, e, sizeof e);
        memcpy(want, mem, BYTES);
        fill(d, sizeof d);
        model_store(d, want, a, exec, dwords);
        p->scatter(d, mem, a, exec, dwords);
        ck_assert_mem_eq(mem, want, BYTES);
    }
    free(want);
    munmap(mem, 2 * BYTES);
}
END_TEST

START_TEST(small_elements_move)
{
    const struct probe *p = level(_i);
    uint8_t *mem = arena(), *want = malloc(BYTES);
    for (unsigned round = 0; p && round < 10000; round++) {
        uint32_t exec = some_lanes(), a[32], d[32], s[32];
        unsigned bytes = 1 + bits() % 2;
        offsets(a, exec, bytes);
        fill(mem, BYTES / 8);
        fill(mem + BYTES * 7 / 8, BYTES / 8);
        p->gather_small(d, mem, a, exec, bytes);
        memcpy(want, mem, BYTES);
        fill(s, sizeof s);
        for (unsigned l = 0; l < 32; l++) {
            uint32_t v = 0;
            if (!(exec >> l & 1u))
                continue;
            memcpy(&v, mem + a[l], bytes);
            ck_assert_uint_eq(d[l], v);
            memcpy(want + a[l], &s[l], bytes);
        }
        p->scatter_small(s, mem, a, exec, bytes);
        ck_assert_mem_eq(mem, want, BYTES);
    }
    free(want);
    munmap(mem, 2 * BYTES);
}
END_TEST

/* lanes_apart may say no too often, but not for a line; never yes to lanes that meet.
 */
START_TEST(collisions_are_seen)
{
    const struct probe *p = level(_i);
    uint8_t *mem = arena(), *want = malloc(BYTES);
    for (unsigned round = 0; p && round < 20000; round++) {
        uint32_t mask = some_lanes() & 0xffffu, a[32], s[32];
        bool meet = false, line = round % 3 == 0;
        for (unsigned l = 0; l < 32; l++)
            a[l] = line ? 4 * l : bits() % (round % 5 ? 1000 : 16) * 4;
        for (unsigned l = 0; l < 16; l++)
            for (unsigned k = 0; k < l; k++)
                meet |= (mask >> l & mask >> k & 1u) && a[l] == a[k];
        bool apart = p->apart(a, mask);
        ck_assert(!(apart && meet));
        ck_assert(apart || !line);
        if (!apart)
            continue;
        fill(s, sizeof s);
        memcpy(want, mem, BYTES);
        model_store(s, want, a, mask, 1);
        p->store_apart(s, mem, a, mask);
        ck_assert_mem_eq(mem, want, BYTES);
    }
    free(want);
    munmap(mem, 2 * BYTES);
}
END_TEST

START_TEST(lanes_are_looked_up)
{
    const struct probe *p = level(_i);
    for (unsigned round = 0; p && round < 5000; round++) {
        uint32_t d[32], s[32], from[32], active = some_lanes(), valid = bits(),
                                         mask = 0;
        uint8_t near[16];
        fill(s, sizeof s);
        fill(from, sizeof from);
        p->lookup(d, s, from, active);
        for (unsigned l = 0; l < 16; l++)
            near[l] = bits() & 15;
        for (unsigned l = 0; l < 32; l++) {
            unsigned at = from[l] & 31u;
            ck_assert_uint_eq(d[l], active >> at & 1u ? s[at] : 0);
            mask |= (active >> ((l & 16u) + near[l & 15u]) & valid >> l & 1u) << l;
        }
        ck_assert_uint_eq(p->permute_mask(active, near, valid), mask);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rows");
    TCase *tc = tcase_create("rows");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, dwords_move, 0, 3);
    tcase_add_loop_test(tc, small_elements_move, 0, 3);
    tcase_add_loop_test(tc, collisions_are_seen, 0, 3);
    tcase_add_loop_test(tc, lanes_are_looked_up, 0, 3);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
