/* recipe.c: the table of recipes (recipes.def) and its constants.
 * SPDX-License-Identifier: MIT
 */
#include "recipe.h"

/* clang-format off */
#define ROW16(v) {v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v}
#define ROW4(a, b, c, d) {a, b, c, d, a, b, c, d, a, b, c, d, a, b, c, d}
_Alignas(64) const uint32_t recipe_consts[N_CONSTS][16] = {
    [C_ZERO] = ROW16(0u),
    [C_ONES] = ROW16(~0u),
    [C_SIGN] = ROW16(0x80000000u),
    [C_NOT_SIGN] = ROW16(0x7fffffffu),
    [C_63] = ROW16(63u),
    [C_31] = ROW16(31u),
    [C_1] = ROW16(1u),
    [C_255] = ROW16(255u),
    [C_24BITS] = ROW16(0xffffffu),
    [C_32] = ROW16(32u),
    [C_LANES0] = {31, 30, 29, 28, 27, 26, 25, 24},
    [C_LANES1] = {23, 22, 21, 20, 19, 18, 17, 16},
    [C_LANES2] = {15, 14, 13, 12, 11, 10, 9, 8},
    [C_LANES3] = {7, 6, 5, 4, 3, 2, 1, 0},
    [C_LANE1_0] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    [C_LANE1_1] = {16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
    [C_LANE2_0] = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30},
    [C_LANE2_1] = {32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62},
    [C_LANE4_0] = {0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60},
    [C_LANE4_1] = {64, 68, 72, 76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116, 120,
                   124},
    [C_LANE8_0] = {0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120},
    [C_LANE8_1] = {128, 136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 216, 224,
                   232, 240, 248},
    [C_LANE16_0] = {0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224,
                    240},
    [C_LANE16_1] = {256, 272, 288, 304, 320, 336, 352, 368, 384, 400, 416, 432, 448,
                    464, 480, 496},
    [C_UPPER] = {0, ~0u, 0, ~0u, 0, ~0u, 0, ~0u, 0, ~0u, 0, ~0u, 0, ~0u, 0, ~0u},
    [C_EVEN] = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30},
    [C_ODD] = {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31},
    [C_QUAD0] = {0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28},
    [C_QUAD1] = {1, 5, 9, 13, 17, 21, 25, 29, 1, 5, 9, 13, 17, 21, 25, 29},
    [C_QUAD2] = {2, 6, 10, 14, 18, 22, 26, 30, 2, 6, 10, 14, 18, 22, 26, 30},
    [C_QUAD3] = {3, 7, 11, 15, 19, 23, 27, 31, 3, 7, 11, 15, 19, 23, 27, 31},
    [C_ZIP2_0] = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23},
    [C_ZIP2_1] = {8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31},
    [C_ZIP4_0] = {0, 16, 0, 16, 1, 17, 1, 17, 2, 18, 2, 18, 3, 19, 3, 19},
    [C_ZIP4_1] = {4, 20, 4, 20, 5, 21, 5, 21, 6, 22, 6, 22, 7, 23, 7, 23},
    [C_ZIP4_2] = {8, 24, 8, 24, 9, 25, 9, 25, 10, 26, 10, 26, 11, 27, 11, 27},
    [C_ZIP4_3] = {12, 28, 12, 28, 13, 29, 13, 29, 14, 30, 14, 30, 15, 31, 15, 31},
    [C_SIGN16] = ROW16(0x8000u),
    [C_SIGNS16] = ROW16(0x80008000u),
    [C_LOW16] = ROW16(0xffffu),
    [C_2_16F] = ROW16(0x47800000u),
    [C_2_31F] = ROW16(0x4f000000u),
    [C_2_32F] = ROW16(0x4f800000u),
    [C_QUIET] = ROW16(0x00400000u),
    [C_15] = ROW16(15u),
    [C_NOT_SIGN16] = ROW16(0xffff7fffu),
    [C_NOT_SIGNS16] = ROW16(0x7fff7fffu),
    [C_HIGH16] = ROW16(0xffff0000u),
    [C_INFS16] = ROW16(0x7c007c00u),
    [C_NIBBLES] = ROW16(0x0f0f0f0fu),
    [C_NIBBLE_BITS] = ROW4(0x02010100u, 0x03020201u, 0x03020201u, 0x04030302u),
    [C_BYTES_1] = ROW16(0x01010101u),
    [C_WORDS_1] = ROW16(0x00010001u),
    [C_LOWS] = ROW4(0x05040100u, 0x0d0c0908u, ~0u, ~0u),
    [C_HIGHS] = ROW4(0x07060302u, 0x0f0e0b0au, ~0u, ~0u),
    [C_LOW_LOW] = ROW4(0x01000100u, 0x05040504u, 0x09080908u, 0x0d0c0d0cu),
    [C_HIGH_HIGH] = ROW4(0x03020302u, 0x07060706u, 0x0b0a0b0au, 0x0f0e0f0eu),
    [C_HIGH_LOW] = ROW4(0x01000302u, 0x05040706u, 0x09080b0au, 0x0d0c0f0eu),
    [C_BELOW_0] = {0x0, 0x1, 0x3, 0x7, 0xf, 0x1f, 0x3f, 0x7f, 0xff, 0x1ff, 0x3ff, 0x7ff,
                   0xfff, 0x1fff, 0x3fff, 0x7fff},
    [C_BELOW_1] = {0xffff, 0x1ffff, 0x3ffff, 0x7ffff, 0xfffff, 0x1fffff, 0x3fffff,
                   0x7fffff, 0xffffff, 0x1ffffff, 0x3ffffff, 0x7ffffff, 0xfffffff,
                   0x1fffffff, 0x3fffffff, 0x7fffffff},
    [C_USUAL] = ROW16(0x20000000u),
    [C_USUAL_SPAN] = ROW16(0x30000000u),
    [C_NORMAL] = ROW16(0x00800000u),
    [C_NORMAL_SPAN] = ROW16(0x7f000000u),
};

#define S(form, d, a, b, imm) {X86_##form, d, a, b, imm}
#define P(step, d, a, b, imm) {STEP_##step, d, a, b, imm}
#define R(op, kind, flags, n_src, n, ...)                                              \
    {ISA_##op, flags, RECIPE_##kind, n_src, n, {__VA_ARGS__}},
const struct recipe recipes[] = {
#define D  OP_D
#define S0 OP_S0
#define S1 OP_S1
#define S2 OP_S2
#define T0 OP_T0
#define T1 OP_T1
#define T2 OP_T2
#define H  OP_H
#define H1 OP_H1
#define DH OP_DH
#include "recipes.def"
};
const unsigned n_recipes = sizeof recipes / sizeof *recipes;
/* clang-format on */
