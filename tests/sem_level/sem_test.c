/* sem_test.c: SIMD levels, MODE and random bits for tests of semantics.
 * SPDX-License-Identifier: MIT
 */
#include "sem_test.h"

bool level_runs(enum level level)
{
    __builtin_cpu_init();
    switch (level) {
    case LEVEL_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
               __builtin_cpu_supports("bmi2");
    case LEVEL_AVX512:
        return __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
    default:
        return true;
    }
}

const char *level_name(enum level level)
{
    static const char *const names[] = {"generic", "avx2", "avx512"};
    return names[level];
}

struct lane_mode level_mode(void)
{
    return (struct lane_mode){
        .denorm32 = 3, .denorm64 = 3, .ieee = true, .dx10_clamp = true};
}

uint64_t random_bits(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}
