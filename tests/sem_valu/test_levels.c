/* test_levels.c: every SIMD level gives the same bits, in every float mode.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "valu.h"

#define ROUNDS 8u

static struct lane_mode mode_number(unsigned i)
{
    struct lane_mode m = level_mode();
    m.round32 = i & 3;
    m.round64 = (i + (i >> 2)) & 3;
    m.denorm32 = i >> 2 & 3;
    m.denorm64 = (i >> 2 ^ i >> 4) & 3;
    m.ieee = !(i & 1);
    m.clamp = i >> 1 & 1;
    m.fp16_ovfl = i >> 3 & 1;
    return m;
}

static bool is_nan(uint64_t bits, unsigned type)
{
    return type == SEM_T_F16   ? (bits & 0x7fff) > 0x7c00
           : type == SEM_T_F32 ? (bits & 0x7fffffff) > 0x7f800000
                               : type == SEM_T_F64 && bits << 1 > 0xffe0000000000000;
}

/* Rows without NaNs too (even rounds): a ROW_FORM may leave the others to the lane
 * function. Rows whose lanes repeat, too, all but one in odd rounds: it may compute
 * some of them. */
static void fill(struct lanes *l, const struct sem_entry *e, unsigned round,
                 uint64_t *state)
{
    static const uint8_t period[ROUNDS] = {32, 32, 16, 16, 8, 8, 1, 1};
    memset(l, 0, sizeof *l);
    for (unsigned i = 0; i < e->n_args; i++)
        for (unsigned lane = 0; lane < 32; lane++)
            do
                l->s[i][lane] = random_value(state, e->args[i]);
            while (!(round & 1) && is_nan(l->s[i][lane], e->args[i]));
    for (unsigned i = 0; i < e->n_args; i++)
        for (unsigned lane = period[round]; lane < 32; lane++)
            l->s[i][lane] = l->s[i][lane - period[round]];
    for (unsigned i = 0; i < e->n_args && round & 1; i++)
        l->s[i][random_bits(state) % 32] = random_value(state, e->args[i]);
}

static void compare(const struct sem_entry *e, const struct sem_entry *other,
                    const struct lane_mode *m, unsigned mode, struct lanes *l)
{
    struct lanes got = *l;
    valu_run(other, m, &got);
    for (unsigned i = 0; i < 32; i++) {
        bool value = e->ret != SEM_T_BOOL && got.value[i] != l->value[i];
        if (value || got.mask[i] != l->mask[i])
            ck_abort_msg(
                "%s mode %u: (%llx, %llx, %llx) gives %llx/%u, elsewhere %llx/%u",
                e->name, mode, (unsigned long long)l->s[0][i],
                (unsigned long long)l->s[1][i], (unsigned long long)l->s[2][i],
                (unsigned long long)l->value[i], l->mask[i],
                (unsigned long long)got.value[i], got.mask[i]);
    }
}

static void check_level(enum level level)
{
    const struct sem_entry *e;
    uint64_t state = 1;
    if (!level_runs(level))
        return;
    for (size_t i = 0; (e = valu_entry(LEVEL_GENERIC, i)); i++) {
        const struct sem_entry *other = valu_find(level, e->name);
        for (unsigned mode = 0; mode < 64; mode++) {
            struct lane_mode m = mode_number(mode);
            for (unsigned round = 0; round < ROUNDS; round++) {
                struct lanes l;
                fill(&l, e, round, &state);
                valu_run(e, &m, &l);
                compare(e, other, &m, mode, &l);
            }
        }
    }
}

START_TEST(avx2_equals_generic)
{
    check_level(LEVEL_AVX2);
}
END_TEST

START_TEST(avx512_equals_generic)
{
    check_level(LEVEL_AVX512);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, avx2_equals_generic);
    tcase_add_test(tc, avx512_equals_generic);
}

int main(void)
{
    return valu_main("valu_levels", add);
}
