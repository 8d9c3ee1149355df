/* lane.h: the language in which instruction semantics are written (emulator/sem).
 *
 * An instruction's meaning is one ordinary C function, found by gen/semscan.c:
 *
 *   LANE_OP(v_xor_b32, U32, U32 s0, U32 s1) { return s0 ^ s1; }
 *
 * is one lane: values in, value out. EXEC, operand modifiers (abs, neg, op_sel), DPP,
 * float clamp and omod, and write-back live in valu.c. Arguments come in the order of
 * the operands; an accumulator that is also the destination (v_fmac) comes last. The
 * VOP1/2/C, VOP3, SDWA-less DPP and VOPD forms of a mnemonic share the function, and
 * v_cmpx_* is v_cmp_* with another destination.
 *
 *   argument / result type    registers
 *   U16 I16 F16               low half of one VGPR (op_sel has been applied)
 *   U32 I32 F32 PK16          one VGPR; PK16 is a packed pair, op_sel_hi applied
 *   U64 I64 F64               two consecutive VGPRs
 *   bool                      this lane's bit of a mask operand (VCC, SGPR pair)
 *   struct carry32 ...        value plus this lane's bit of the mask result
 *   const struct lane_mode *m MODE and the modifiers that are part of the meaning
 *
 * The host's MXCSR carries MODE's rounding and denormal rules while an F32 function
 * runs (f32 fields) and while an F64 or F16 function runs (f64/f16 fields), so plain C
 * arithmetic on F32 and F64 follows MODE. f16 goes through fp.h. The same sources are
 * compiled once per SIMD level: no intrinsics here, results must not depend on it.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_LANE_H
#define RD_LANE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef uint16_t U16;
typedef int16_t I16;
typedef uint16_t F16; /* bits; see fp.h */
typedef uint32_t U32;
typedef int32_t I32;
typedef float F32;
typedef uint32_t PK16; /* two 16-bit values */
typedef uint64_t U64;
typedef int64_t I64;
typedef double F64;

_Static_assert((-1 >> 1) == -1, "the host must shift signed values arithmetically");

/* MODE register fields, decoded, and the modifiers that belong to the meaning. */
struct lane_mode {
    uint8_t round32;  /* 0 nearest even, 1 +inf, 2 -inf, 3 zero */
    uint8_t round64;  /* the same for f64 and f16 */
    uint8_t denorm32; /* bit 0: keep input denormals, bit 1: keep output denormals */
    uint8_t denorm64; /* the same for f64 and f16 */
    bool ieee, dx10_clamp, fp16_ovfl;
    bool exact_sums; /* dot, WMMA: subtract exactly (emu_config.exact_dots) */
    bool clamp;      /* integer saturation; float clamp is done by valu.c */
    uint8_t neg;     /* raw NEG / NEG_LO bits (v_dot4_i32_iu8: signedness) */
    uint8_t neg_hi;  /* raw NEG_HI bits */
    uint8_t op_sel;  /* raw OP_SEL bits */
};

struct carry32 {
    U32 value;
    bool carry;
};
struct carry64 {
    U64 value;
    bool carry;
};
struct carry_f32 {
    F32 value;
    bool carry;
};
struct carry_f64 {
    F64 value;
    bool carry;
};

static inline U32 bits_of_f32(F32 f)
{
    U32 u;
    memcpy(&u, &f, sizeof u);
    return u;
}
static inline F32 f32_of_bits(U32 u)
{
    F32 f;
    memcpy(&f, &u, sizeof f);
    return f;
}
static inline U64 bits_of_f64(F64 f)
{
    U64 u;
    memcpy(&u, &f, sizeof u);
    return u;
}
static inline F64 f64_of_bits(U64 u)
{
    F64 f;
    memcpy(&f, &u, sizeof f);
    return f;
}

/* One lane of a vector instruction. */
#define LANE_OP(name, ret, ...) static inline ret name(__VA_ARGS__)

/* A second form of a LANE_OP of the same file, for whole rows: it writes all of d and
 * returns true, or leaves d alone and returns false (the lane function does the row).
 * It exists where the host has what it needs (hostvec.h). tests/sem_valu compares it
 * with the lane function at another level. */
#define ROW_FORM(name)                                                                 \
    __attribute__((always_inline, unused)) static inline bool form_##name(             \
        uint32_t *d, const uint32_t *s0, const uint32_t *s1,                           \
        __attribute__((unused)) const uint32_t *s2,                                    \
        __attribute__((unused)) const struct lane_mode *m)

/* A whole-wave matrix instruction (WMMA). EXEC is ignored, as in hardware.
 *
 * Register r of operand a, half h (0: lanes 0..31, 1: lanes 32..63 of a wave64), lane l
 * is a[h][r * 32 + l]. d is one of a, b and c, or does not overlap them: valu.c passes
 * a copy where it would.
 */
struct matrix_factors; /* wmmahost.h */
#define MATRIX_FACTORS_DWORDS 672u
struct matrix_io {
    uint32_t *d[2];
    const uint32_t *a[2], *b[2], *c[2];
    unsigned halves;                   /* 1: wave32, 2: wave64 */
    const struct lane_mode *mode;      /* clamp, neg, neg_hi, op_sel included */
    struct matrix_factors *factors[2]; /* of the A and B before (first dword 0: none),
                                          of these then; or NULL */
};
#define MATRIX_OP(name) static void name(const struct matrix_io *io)

/* A scalar instruction that only computes. Arguments: sources in operand order, then
 * the old destination if the row reads it, then `bool scc` if SCC is an input. */
struct scc32 {
    U32 value;
    bool scc;
};
struct scc64 {
    U64 value;
    bool scc;
};
#define SCALAR_OP(name, ret, ...) static inline ret name(__VA_ARGS__)

/* Anything that needs the wave: control flow, cross-lane, EXEC, MODE, messages. */
struct wave;
struct uop;
#define WAVE_OP(name) static const struct uop *name(struct wave *w, const struct uop *u)

/* Memory operations; mem.c forms addresses, checks them and moves the bytes.
 * MEM_LOAD: bytes read (zero-extended) and the old destination -> new destination.
 * MEM_STORE: register -> bytes written. MEM_WIDE: plain dwords, either way.
 * MEM_FORMAT: components converted from or to the format of a buffer element.
 * MEM_ATOMIC: memory value and data (and compare value) -> new memory value. */
#define MEM_LOAD(name, size_bytes, ...)  static inline U32 name(__VA_ARGS__)
#define MEM_STORE(name, size_bytes, ...) static inline U32 name(__VA_ARGS__)
#define MEM_WIDE(name, size_bytes)
#define MEM_FORMAT(name, components)
#define MEM_ATOMIC(name, type, ...) static inline type name(__VA_ARGS__)

#endif
