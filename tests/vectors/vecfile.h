/* vecfile.h: files of test vectors, read into blocks of rows.
 *
 *     source manual 16.7               where the expected values come from
 *     mode 3f0                         MODE, hexadecimal
 *     lanes 32                         only this wave size
 *     dots exact                       emu_config.exact_dots (else: dots silicon)
 *     set s4 = 3f800000                a scalar register, vcc, m0, exec or a VGPR row
 *     op v_add_f32 v8, v0, v1 | v_add_f32_e64 v8, v0, v1
 *     in v0 v1
 *     out v8
 *     3f800000 40000000 = 40400000     a row: one lane
 *
 * `op` has spellings of the same thing separated by " | "; each may be several
 * statements separated by ; (or ".long WORD, WORD"), with $vcc, $exec, $s4 for masks of
 * the wave's size. A column is a register (v0), a pair (v0:1), or one bit of a mask in
 * scalar registers (vcc, s4?), or, in blocks that begin with `scalar`, a scalar
 * register (s4, s4:5), scc, vcc, exec, m0, mode: then each row is a wave. A block with
 * `wave` has a value for each lane in its rows: `v0 = ...` in, `v8 == ...` expected.
 * Values are hexadecimal; nan is any quiet NaN of the column's format, * anything,
 * 3f800000~2 also the two numbers next to it on either side (unsigned hexadecimal
 * distance). SPDX-License-Identifier: MIT
 */
#ifndef TEST_VECFILE_H
#define TEST_VECFILE_H

#include <stdbool.h>
#include <stdint.h>

#define VEC_COLUMNS 8u
#define VEC_ROWS    2048u
#define VEC_SETS    40u
#define VEC_OPS     16u

enum vec_kind { VEC_LANES, VEC_SCALAR, VEC_WAVE };

enum vec_reg {
    VEC_VGPR,
    VEC_SGPR,
    VEC_MASK,
    VEC_SCC,
    VEC_VCC,
    VEC_EXEC,
    VEC_M0,
    VEC_MODE,
    VEC_DATA,
    VEC_LDS
};

struct vec_column {
    uint8_t reg; /* enum vec_reg */
    uint16_t index;
    uint8_t dwords;
};

struct vec_value {
    uint64_t bits;
    uint64_t within; /* distance as integers that still counts as equal */
    uint8_t any;     /* 0: exact, 1: any quiet NaN, 2: anything */
    uint8_t digits;
};

/* A register for all lanes, or a row of values for a VGPR or for memory. */
struct vec_set {
    struct vec_column column;
    bool expected;
    unsigned n;
    uint32_t value[64];
};

struct vec_block {
    unsigned line; /* of its op */
    enum vec_kind kind;
    uint32_t mode;
    bool exact;     /* emu_config.exact_dots */
    unsigned lanes; /* 0: both */
    char source[64];
    char op[2048];
    unsigned n_in, n_out, n_rows, n_sets;
    struct vec_column in[VEC_COLUMNS], out[VEC_COLUMNS];
    struct vec_set set[VEC_SETS];
    struct vec_value (*row)[2 * VEC_COLUMNS]; /* in, then out at VEC_COLUMNS */
};

/* Call f for each block of a file. Prints mistakes; false if there are any. */
bool vec_read(const char *path, void (*f)(void *ctx, const struct vec_block *b),
              void *ctx);

#endif
