/* x86.h: machine code of the host: the forms that native code is made of.
 *
 * An encoder for x86-64 with AVX2 (VEX) or AVX-512 (EVEX) vectors. Forms are rows of
 * x86.def; source: Intel SDM volume 2, chapter 2 (encoding) and the instruction pages.
 * tests/jit compares each form with another decoder's reading of it.
 *
 * Everything is written through struct x86, which stops at the end of its buffer and
 * says so in full; callers look once, at the end.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_X86_H
#define RD_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum x86_gpr {
    RAX,
    RCX,
    RDX,
    RBX,
    RSP,
    RBP,
    RSI,
    RDI,
    R8,
    R9,
    R10,
    R11,
    R12,
    R13,
    R14,
    R15
};

/* Condition codes, as in jcc and setcc. */
enum x86_cc {
    CC_O,
    CC_NO,
    CC_B,
    CC_AE,
    CC_E,
    CC_NE,
    CC_BE,
    CC_A,
    CC_S,
    CC_NS,
    CC_P,
    CC_NP,
    CC_L,
    CC_GE,
    CC_LE,
    CC_G,
};

/* The eight operations that share an encoding (81 /n, 01+8n). */
enum x86_alu { ALU_ADD, ALU_OR, ALU_ADC, ALU_SBB, ALU_AND, ALU_SUB, ALU_XOR, ALU_CMP };

enum x86_shift { SHIFT_ROL, SHIFT_ROR, SHIFT_SHL = 4, SHIFT_SHR, SHIFT_SAR = 7 };

enum x86_form {
#define V(name, ...) X86_##name,
#include "x86.def"
#undef V
    X86_FORMS,
};

struct x86 {
    uint8_t *begin, *at, *end;
    bool evex; /* vectors of 512 bits, EVEX encoded; else 256 bits, VEX encoded */
    bool full; /* the buffer was too small: what it holds is useless */
};

/* Memory: [base + disp]. */
struct x86_mem {
    uint8_t base; /* enum x86_gpr */
    int32_t disp;
};

/* The last operand of a vector form: a register, memory, or one element of memory, 4 or
 * with W 8 bytes, that is broadcast (EVEX only). */
struct x86_rm {
    enum { RM_REG, RM_MEM, RM_BCAST } kind;
    uint8_t reg;
    struct x86_mem mem;
};

static inline struct x86_rm rm_reg(unsigned reg)
{
    return (struct x86_rm){.kind = RM_REG, .reg = (uint8_t)reg};
}
static inline struct x86_rm rm_mem(unsigned base, int32_t disp)
{
    return (struct x86_rm){.kind = RM_MEM, .mem = {(uint8_t)base, disp}};
}
static inline struct x86_mem mem_at(unsigned base, int32_t disp)
{
    return (struct x86_mem){(uint8_t)base, disp};
}

/* A vector instruction.
 *
 * dst   vector register (k register for compares with EVEX); the stored one of a store
 * src1  second operand; ignored by forms that have none
 * k     opmask 1 to 7 that selects what is written, 0: all (EVEX only); with X86_ZERO
 *         the rest becomes 0; with X86_DOWN, _UP or _TO_ZERO arithmetic on registers
 *         rounds so
 * imm   ignored by forms without one
 */
#define X86_ZERO    8u
#define X86_DOWN    16u
#define X86_UP      32u
#define X86_TO_ZERO (X86_DOWN | X86_UP)
void x86_vec(struct x86 *x, enum x86_form form, unsigned dst, unsigned src1,
             struct x86_rm rm, unsigned k, unsigned imm);

/* Dwords at mem + an index register's lanes, signed, into dst (stored from src), where
 * mask says: EVEX a k register, VEX (loads only) the signs of a vector register. Both
 * come out as zero. */
void x86_gather(struct x86 *x, unsigned dst, struct x86_mem mem, unsigned index,
                unsigned mask);
/* EVEX: eight qwords, at the lower eight lanes of index. */
void x86_gather64(struct x86 *x, unsigned dst, struct x86_mem mem, unsigned index,
                  unsigned k);
void x86_scatter(struct x86 *x, unsigned src, struct x86_mem mem, unsigned index,
                 unsigned k);

/* The lowest dword of a vector register to a general one. */
void x86_vmovd(struct x86 *x, unsigned gpr, unsigned vector);
/* ... and back; the rest becomes 0. */
void x86_vmovd_from(struct x86 *x, unsigned vector, unsigned gpr);

/* k registers, 16 bits; kmovd: 32 bits. */
void x86_k_load(struct x86 *x, unsigned k, struct x86_mem mem);
void x86_k_from_gpr(struct x86 *x, unsigned k, unsigned reg);
void x86_kortest(struct x86 *x, unsigned a, unsigned b);
enum x86_kop {
    KOP_AND = 0x41,
    KOP_ANDN = 0x42,
    KOP_OR = 0x45,
    KOP_XNOR = 0x46,
    KOP_XOR = 0x47
};
void x86_kop(struct x86 *x, enum x86_kop op, unsigned dst, unsigned a, unsigned b);
/* dst = a in the upper half of 32 bits, b in the lower. */
void x86_kunpck(struct x86 *x, unsigned dst, unsigned a, unsigned b);
void x86_kmovd_to_gpr(struct x86 *x, unsigned reg, unsigned k);

/* General registers; wide: 64 bits, else 32. */
void x86_mov(struct x86 *x, bool wide, unsigned dst, unsigned src);
void x86_mov_imm(struct x86 *x, unsigned dst, uint64_t value);
void x86_load(struct x86 *x, bool wide, unsigned dst, struct x86_mem mem);
void x86_load_sext32(struct x86 *x, unsigned dst, struct x86_mem mem); /* to 64 bits */
void x86_load8(struct x86 *x, unsigned dst, struct x86_mem mem); /* zero-extended */
/* Into all caches but the first. */
void x86_prefetch(struct x86 *x, struct x86_mem mem);
void x86_store(struct x86 *x, bool wide, struct x86_mem mem, unsigned src);
void x86_store_imm(struct x86 *x, bool wide, struct x86_mem mem, int32_t value);
void x86_store8_imm(struct x86 *x, struct x86_mem mem, unsigned value);
void x86_lea(struct x86 *x, unsigned dst, struct x86_mem mem);
void x86_alu(struct x86 *x, enum x86_alu op, bool wide, unsigned dst, unsigned src);
void x86_alu_load(struct x86 *x, enum x86_alu op, bool wide, unsigned dst,
                  struct x86_mem mem);
void x86_alu_imm(struct x86 *x, enum x86_alu op, bool wide, unsigned dst,
                 int32_t value);
void x86_alu_mem_imm(struct x86 *x, enum x86_alu op, bool wide, struct x86_mem mem,
                     int32_t value);
void x86_cmp8_imm(struct x86 *x, struct x86_mem mem, unsigned value);
void x86_test8_imm(struct x86 *x, struct x86_mem mem, unsigned value);
void x86_test(struct x86 *x, bool wide, unsigned a, unsigned b);
void x86_not(struct x86 *x, bool wide, unsigned reg);
void x86_neg(struct x86 *x, bool wide, unsigned reg);
void x86_imul(struct x86 *x, bool wide, unsigned dst, unsigned src);
void x86_shift_imm(struct x86 *x, enum x86_shift op, bool wide, unsigned reg,
                   unsigned n);
/* shlx, shrx, sarx: dst = src shifted by count's low bits (BMI2). */
void x86_shift(struct x86 *x, enum x86_shift op, bool wide, unsigned dst, unsigned src,
               unsigned count);
/* dst = the lowest count bits of src (BMI2). */
void x86_bzhi(struct x86 *x, bool wide, unsigned dst, unsigned src, unsigned count);
/* f3 0f b8 / bc / bd: popcnt, tzcnt, lzcnt. */
enum x86_bits { BITS_POPCNT = 0xb8, BITS_TZCNT = 0xbc, BITS_LZCNT = 0xbd };
void x86_bits(struct x86 *x, enum x86_bits op, bool wide, unsigned dst, unsigned src);
void x86_sext32(struct x86 *x, unsigned dst, unsigned src); /* to 64 bits */
void x86_sext16(struct x86 *x, unsigned dst, unsigned src);
void x86_sext8(struct x86 *x, unsigned dst, unsigned src);
void x86_setcc_mem(struct x86 *x, enum x86_cc cc, struct x86_mem mem);
void x86_cmov(struct x86 *x, enum x86_cc cc, bool wide, unsigned dst, unsigned src);
void x86_push(struct x86 *x, unsigned reg);
void x86_pop(struct x86 *x, unsigned reg);
void x86_ret(struct x86 *x);
void x86_vzeroupper(struct x86 *x);
void x86_call(struct x86 *x, unsigned reg);
void x86_call_mem(struct x86 *x, struct x86_mem mem);
void x86_jump_reg(struct x86 *x, unsigned reg);

/* Jumps forward: returns the place to give to x86_land. */
size_t x86_jcc(struct x86 *x, enum x86_cc cc);
size_t x86_jmp(struct x86 *x);
void x86_land(struct x86 *x, size_t jump);
/* Several jumps to one place: the last one, with those before it (0: none) kept where
 * its distance will be. x86_land_all takes what this returned last. */
size_t x86_join(struct x86 *x, size_t jump, size_t before);
void x86_land_all(struct x86 *x, size_t jump);
/* Jumps to a known place, as offsets from begin. */
size_t x86_here(const struct x86 *x);
void x86_jmp_to(struct x86 *x, size_t target);
void x86_jcc_to(struct x86 *x, enum x86_cc cc, size_t target);

#endif
