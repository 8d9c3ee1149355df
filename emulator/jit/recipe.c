/* recipe.c: the table of recipes (recipes.def) and its constants.
 * SPDX-License-Identifier: MIT
 */
#include "recipe.h"

/* clang-format off */
#define ROW16(v) {v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v}
_Alignas(64) const uint32_t recipe_consts[N_CONSTS][16] = {
    [C_ZERO] = ROW16(0u),
    [C_ONES] = ROW16(~0u),
    [C_SIGN] = ROW16(0x80000000u),
    [C_NOT_SIGN] = ROW16(0x7fffffffu),
    [C_31] = ROW16(31u),
    [C_1] = ROW16(1u),
    [C_255] = ROW16(255u),
    [C_24BITS] = ROW16(0xffffffu),
    [C_32] = ROW16(32u),
    [C_LANES0] = {31, 30, 29, 28, 27, 26, 25, 24},
    [C_LANES1] = {23, 22, 21, 20, 19, 18, 17, 16},
    [C_LANES2] = {15, 14, 13, 12, 11, 10, 9, 8},
    [C_LANES3] = {7, 6, 5, 4, 3, 2, 1, 0},
    [C_LANE4_0] = {0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60},
    [C_LANE4_1] = {64, 68, 72, 76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116, 120,
                   124},
};

#define S(form, d, a, b, imm) {X86_##form, d, a, b, imm}
#define P(step, d, a, b, imm) {STEP_##step, d, a, b, imm}
#define R(op, kind, flags, n_src, n, ...)                                              \
    {ISA_##op, RECIPE_##kind, flags, n_src, n, {__VA_ARGS__}},
const struct recipe recipes[] = {
#define D  OP_D
#define S0 OP_S0
#define S1 OP_S1
#define S2 OP_S2
#define T0 OP_T0
#define T1 OP_T1
#include "recipes.def"
};
const unsigned n_recipes = sizeof recipes / sizeof *recipes;
/* clang-format on */
