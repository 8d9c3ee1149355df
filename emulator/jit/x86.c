/* x86.c: the encoder. See x86.h. SPDX-License-Identifier: MIT */
#include "x86.h"

#include <string.h>

#define F_TWO     0x01u  /* two operands: no src1 */
#define F_IMM     0x02u  /* imm8 follows */
#define F_EVEX    0x04u  /* AVX-512 only */
#define F_VEX     0x08u  /* AVX2 only */
#define F_ONE     0x10u  /* memory is one dword */
#define F_W1      0x20u  /* W is 1 with EVEX: elements of 64 bits */
#define F_QUARTER 0x80u  /* memory is a quarter of a vector */
#define F_HALF    0x100u /* ... half of one */
#define F_DIGIT(n)                                                                     \
    (0x40u | (n) << 12) /* the reg field is an opcode; dst is in vvvv                  \
                         */

static const struct form {
    uint8_t map, prefix, opcode, w;
    uint16_t flags;
} forms[] = {
#define V(name, ...) {__VA_ARGS__},
#include "x86.def"
#undef V
};

static void byte(struct x86 *x, unsigned value)
{
    if (x->at == x->end)
        x->full = true;
    else
        *x->at++ = (uint8_t)value;
}

static void dword(struct x86 *x, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        byte(x, value >> 8 * i & 255u);
}

/* ModRM, SIB and displacement of [base + disp]. scale: what a byte of displacement
 * counts (EVEX), 1 elsewhere. */
static void modrm_mem(struct x86 *x, unsigned reg, struct x86_mem m, int32_t scale)
{
    unsigned low = m.base & 7u;
    bool small = m.disp % scale == 0 && m.disp / scale >= -128 && m.disp / scale <= 127;
    unsigned mod = m.disp == 0 && low != RBP ? 0 : small ? 1 : 2;
    byte(x, mod << 6 | (reg & 7u) << 3 | low);
    if (low == RSP)
        byte(x, 0x24);
    if (mod == 1)
        byte(x, (unsigned)(m.disp / scale) & 255u);
    else if (mod == 2)
        dword(x, (uint32_t)m.disp);
}

static void modrm_reg(struct x86 *x, unsigned reg, unsigned rm)
{
    byte(x, 3u << 6 | (reg & 7u) << 3 | (rm & 7u));
}

/* ---- vectors -------------------------------------------------------------------- */

static void evex_prefix(struct x86 *x, const struct form *f, unsigned reg,
                        unsigned vvvv, const struct x86_rm *rm, unsigned k)
{
    bool mem = rm->kind != RM_REG;
    unsigned b = mem ? rm->mem.base >> 3 & 1u : rm->reg >> 3 & 1u;
    unsigned index = mem ? 0 : rm->reg >> 4 & 1u;
    unsigned w = f->w || f->flags & F_W1;
    byte(x, 0x62);
    byte(x, (~reg >> 3 & 1u) << 7 | (~index & 1u) << 6 | (~b & 1u) << 5 |
                (~reg >> 4 & 1u) << 4 | f->map);
    byte(x, w << 7 | (~vvvv & 15u) << 3 | 4u | f->prefix);
    unsigned round = k / X86_DOWN & 3u; /* in place of the length */
    bool broadcast = rm->kind == RM_BCAST || round;
    byte(x, (round ? round : 2u) << 5 | (unsigned)broadcast << 4 |
                (~vvvv >> 4 & 1u) << 3 | (k & 7u) | (k & X86_ZERO ? 0x80u : 0));
}

static void vex_prefix(struct x86 *x, unsigned map, unsigned prefix, unsigned w,
                       unsigned length, unsigned reg, unsigned vvvv, unsigned rm)
{
    byte(x, 0xc4);
    byte(x, (~reg >> 3 & 1u) << 7 | 1u << 6 | (~rm >> 3 & 1u) << 5 | map);
    byte(x, w << 7 | (~vvvv & 15u) << 3 | length << 2 | prefix);
}

/* Bytes of memory that the form reads or writes, by which EVEX counts displacements. */
static int32_t memory_bytes(const struct form *f, bool broadcast)
{
    if (broadcast)
        return f->flags & F_W1 ? 8 : 4;
    return f->flags & F_ONE       ? 4
           : f->flags & F_QUARTER ? 16
           : f->flags & F_HALF    ? 32
                                  : 64;
}

void x86_vec(struct x86 *x, enum x86_form form, unsigned dst, unsigned src1,
             struct x86_rm rm, unsigned k, unsigned imm)
{
    const struct form *f = &forms[form];
    bool mem = rm.kind != RM_REG;
    unsigned reg = dst, vvvv = f->flags & F_TWO ? 0 : src1;
    if (f->flags & 0x40u) {
        reg = f->flags >> 12;
        vvvv = dst;
    }
    if (x->evex)
        evex_prefix(x, f, reg, vvvv, &rm, k);
    else
        vex_prefix(x, f->map, f->prefix, f->w, 1, reg, vvvv,
                   mem ? rm.mem.base : rm.reg);
    byte(x, f->opcode);
    if (mem)
        modrm_mem(x, reg, rm.mem, x->evex ? memory_bytes(f, rm.kind == RM_BCAST) : 1);
    else
        modrm_reg(x, reg, rm.reg);
    if (f->flags & F_IMM)
        byte(x, imm);
}

/* [base + index + disp] with lanes of a vector register as index (VSIB). */
static void vector_indexed(struct x86 *x, unsigned opcode, unsigned reg,
                           struct x86_mem m, unsigned index, unsigned mask)
{
    unsigned b = ~(unsigned)m.base >> 3 & 1u;
    if (x->evex) {
        byte(x, 0x62);
        byte(x, (~reg >> 3 & 1u) << 7 | (~index >> 3 & 1u) << 6 | b << 5 |
                    (~reg >> 4 & 1u) << 4 | 2u);
        byte(x, 15u << 3 | 4u | 1u);
        byte(x, 2u << 5 | (~index >> 4 & 1u) << 3 | mask);
    } else {
        byte(x, 0xc4);
        byte(x, (~reg >> 3 & 1u) << 7 | (~index >> 3 & 1u) << 6 | b << 5 | 2u);
        byte(x, (~mask & 15u) << 3 | 4u | 1u);
    }
    byte(x, opcode);
    int32_t scale = x->evex ? 4 : 1;
    bool small = m.disp % scale == 0 && m.disp / scale >= -128 && m.disp / scale <= 127;
    byte(x, (small ? 1u : 2u) << 6 | (reg & 7u) << 3 | 4u);
    byte(x, (index & 7u) << 3 | (m.base & 7u));
    if (small)
        byte(x, (unsigned)(m.disp / scale) & 255u);
    else
        dword(x, (uint32_t)m.disp);
}

void x86_gather(struct x86 *x, unsigned dst, struct x86_mem mem, unsigned index,
                unsigned mask)
{
    vector_indexed(x, 0x90, dst, mem, index, mask);
}

void x86_scatter(struct x86 *x, unsigned src, struct x86_mem mem, unsigned index,
                 unsigned k)
{
    vector_indexed(x, 0xa0, src, mem, index, k);
}

static void vmovd(struct x86 *x, unsigned opcode, unsigned gpr, unsigned vector)
{
    if (x->evex) {
        byte(x, 0x62);
        byte(x, (~vector >> 3 & 1u) << 7 | 1u << 6 | (~gpr >> 3 & 1u) << 5 |
                    (~vector >> 4 & 1u) << 4 | 1u);
        byte(x, 15u << 3 | 4u | 1u);
        byte(x, 1u << 3);
    } else {
        vex_prefix(x, 1, 1, 0, 0, vector, 0, gpr);
    }
    byte(x, opcode);
    modrm_reg(x, vector, gpr);
}

void x86_vmovd(struct x86 *x, unsigned gpr, unsigned vector)
{
    vmovd(x, 0x7e, gpr, vector);
}

void x86_vmovd_from(struct x86 *x, unsigned vector, unsigned gpr)
{
    vmovd(x, 0x6e, gpr, vector);
}

/* ---- masks ---------------------------------------------------------------------- */

static void k_op(struct x86 *x, unsigned prefix, unsigned length, unsigned opcode,
                 unsigned reg, unsigned vvvv, unsigned rm)
{
    vex_prefix(x, 1, prefix, 0, length, reg, vvvv, rm);
    byte(x, opcode);
    modrm_reg(x, reg, rm);
}

void x86_k_load(struct x86 *x, unsigned k, struct x86_mem mem)
{
    vex_prefix(x, 1, 0, 0, 0, k, 0, mem.base);
    byte(x, 0x90);
    modrm_mem(x, k, mem, 1);
}

void x86_k_from_gpr(struct x86 *x, unsigned k, unsigned reg)
{
    k_op(x, 0, 0, 0x92, k, 0, reg);
}

void x86_kmovd_to_gpr(struct x86 *x, unsigned reg, unsigned k)
{
    k_op(x, 3, 0, 0x93, reg, 0, k);
}

void x86_kortest(struct x86 *x, unsigned a, unsigned b)
{
    k_op(x, 0, 0, 0x98, a, 0, b);
}

void x86_kop(struct x86 *x, enum x86_kop op, unsigned dst, unsigned a, unsigned b)
{
    k_op(x, 0, 1, op, dst, a, b);
}

void x86_kunpck(struct x86 *x, unsigned dst, unsigned a, unsigned b)
{
    k_op(x, 0, 1, 0x4b, dst, a, b);
}

/* ---- general registers ---------------------------------------------------------- */

/* REX and an opcode of one byte, or of two or three behind 0F (0x0fXX). */
static void rex_op(struct x86 *x, bool wide, unsigned opcode, unsigned reg, unsigned rm,
                   bool bytes)
{
    unsigned rex = (wide ? 8u : 0) | (reg >> 3 & 1u) << 2 | (rm >> 3 & 1u);
    if (rex || bytes)
        byte(x, 0x40u | rex);
    if (opcode > 0xff)
        byte(x, opcode >> 8);
    byte(x, opcode & 255u);
}

static void op_reg(struct x86 *x, bool wide, unsigned opcode, unsigned reg, unsigned rm)
{
    rex_op(x, wide, opcode, reg, rm, false);
    modrm_reg(x, reg, rm);
}

static void op_mem(struct x86 *x, bool wide, unsigned opcode, unsigned reg,
                   struct x86_mem mem)
{
    rex_op(x, wide, opcode, reg, mem.base, false);
    modrm_mem(x, reg, mem, 1);
}

void x86_mov(struct x86 *x, bool wide, unsigned dst, unsigned src)
{
    op_reg(x, wide, 0x89, src, dst);
}

void x86_mov_imm(struct x86 *x, unsigned dst, uint64_t value)
{
    bool wide = value > UINT32_MAX;
    rex_op(x, wide, 0xb8u | (dst & 7u), 0, dst, false);
    dword(x, (uint32_t)value);
    if (wide)
        dword(x, (uint32_t)(value >> 32));
}

void x86_load(struct x86 *x, bool wide, unsigned dst, struct x86_mem mem)
{
    op_mem(x, wide, 0x8b, dst, mem);
}

void x86_load8(struct x86 *x, unsigned dst, struct x86_mem mem)
{
    op_mem(x, false, 0x0fb6, dst, mem);
}

void x86_prefetch(struct x86 *x, struct x86_mem mem)
{
    op_mem(x, false, 0x0f18, 1, mem);
}

void x86_store(struct x86 *x, bool wide, struct x86_mem mem, unsigned src)
{
    op_mem(x, wide, 0x89, src, mem);
}

void x86_store_imm(struct x86 *x, bool wide, struct x86_mem mem, int32_t value)
{
    op_mem(x, wide, 0xc7, 0, mem);
    dword(x, (uint32_t)value);
}

void x86_store8_imm(struct x86 *x, struct x86_mem mem, unsigned value)
{
    op_mem(x, false, 0xc6, 0, mem);
    byte(x, value);
}

void x86_lea(struct x86 *x, unsigned dst, struct x86_mem mem)
{
    op_mem(x, true, 0x8d, dst, mem);
}

void x86_alu(struct x86 *x, enum x86_alu op, bool wide, unsigned dst, unsigned src)
{
    op_reg(x, wide, 8u * op + 1, src, dst);
}

void x86_alu_load(struct x86 *x, enum x86_alu op, bool wide, unsigned dst,
                  struct x86_mem mem)
{
    op_mem(x, wide, 8u * op + 3, dst, mem);
}

void x86_alu_imm(struct x86 *x, enum x86_alu op, bool wide, unsigned dst, int32_t value)
{
    bool small = value >= -128 && value <= 127;
    op_reg(x, wide, small ? 0x83 : 0x81, op, dst);
    if (small)
        byte(x, (unsigned)value & 255u);
    else
        dword(x, (uint32_t)value);
}

void x86_alu_mem_imm(struct x86 *x, enum x86_alu op, bool wide, struct x86_mem mem,
                     int32_t value)
{
    bool small = value >= -128 && value <= 127;
    op_mem(x, wide, small ? 0x83 : 0x81, op, mem);
    if (small)
        byte(x, (unsigned)value & 255u);
    else
        dword(x, (uint32_t)value);
}

void x86_cmp8_imm(struct x86 *x, struct x86_mem mem, unsigned value)
{
    op_mem(x, false, 0x80, ALU_CMP, mem);
    byte(x, value);
}

void x86_test8_imm(struct x86 *x, struct x86_mem mem, unsigned value)
{
    op_mem(x, false, 0xf6, 0, mem);
    byte(x, value);
}

void x86_test(struct x86 *x, bool wide, unsigned a, unsigned b)
{
    op_reg(x, wide, 0x85, b, a);
}

void x86_not(struct x86 *x, bool wide, unsigned reg)
{
    op_reg(x, wide, 0xf7, 2, reg);
}

void x86_neg(struct x86 *x, bool wide, unsigned reg)
{
    op_reg(x, wide, 0xf7, 3, reg);
}

void x86_imul(struct x86 *x, bool wide, unsigned dst, unsigned src)
{
    op_reg(x, wide, 0x0faf, dst, src);
}

void x86_shift_imm(struct x86 *x, enum x86_shift op, bool wide, unsigned reg,
                   unsigned n)
{
    op_reg(x, wide, 0xc1, op, reg);
    byte(x, n);
}

void x86_shift(struct x86 *x, enum x86_shift op, bool wide, unsigned dst, unsigned src,
               unsigned count)
{
    unsigned prefix = op == SHIFT_SHL ? 1 : op == SHIFT_SHR ? 3 : 2;
    vex_prefix(x, 2, prefix, wide, 0, dst, count, src);
    byte(x, 0xf7);
    modrm_reg(x, dst, src);
}

void x86_bzhi(struct x86 *x, bool wide, unsigned dst, unsigned src, unsigned count)
{
    vex_prefix(x, 2, 0, wide, 0, dst, count, src);
    byte(x, 0xf5);
    modrm_reg(x, dst, src);
}

void x86_bits(struct x86 *x, enum x86_bits op, bool wide, unsigned dst, unsigned src)
{
    byte(x, 0xf3);
    op_reg(x, wide, 0x0f00u | op, dst, src);
}

void x86_sext32(struct x86 *x, unsigned dst, unsigned src)
{
    op_reg(x, true, 0x63, dst, src);
}

void x86_sext16(struct x86 *x, unsigned dst, unsigned src)
{
    op_reg(x, false, 0x0fbf, dst, src);
}

void x86_sext8(struct x86 *x, unsigned dst, unsigned src)
{
    rex_op(x, false, 0x0fbe, dst, src, true);
    modrm_reg(x, dst, src);
}

void x86_setcc_mem(struct x86 *x, enum x86_cc cc, struct x86_mem mem)
{
    op_mem(x, false, 0x0f90u + cc, 0, mem);
}

void x86_cmov(struct x86 *x, enum x86_cc cc, bool wide, unsigned dst, unsigned src)
{
    op_reg(x, wide, 0x0f40u + cc, dst, src);
}

void x86_push(struct x86 *x, unsigned reg)
{
    rex_op(x, false, 0x50u | (reg & 7u), 0, reg, false);
}

void x86_pop(struct x86 *x, unsigned reg)
{
    rex_op(x, false, 0x58u | (reg & 7u), 0, reg, false);
}

void x86_ret(struct x86 *x)
{
    byte(x, 0xc3);
}

void x86_vzeroupper(struct x86 *x)
{
    byte(x, 0xc5);
    byte(x, 0xf8);
    byte(x, 0x77);
}

void x86_call(struct x86 *x, unsigned reg)
{
    op_reg(x, false, 0xff, 2, reg);
}

void x86_call_mem(struct x86 *x, struct x86_mem mem)
{
    op_mem(x, false, 0xff, 2, mem);
}

void x86_jump_reg(struct x86 *x, unsigned reg)
{
    op_reg(x, false, 0xff, 4, reg);
}

/* ---- jumps ---------------------------------------------------------------------- */

size_t x86_here(const struct x86 *x)
{
    return (size_t)(x->at - x->begin);
}

size_t x86_jcc(struct x86 *x, enum x86_cc cc)
{
    byte(x, 0x0f);
    byte(x, 0x80u + cc);
    dword(x, 0);
    return x86_here(x);
}

size_t x86_jmp(struct x86 *x)
{
    byte(x, 0xe9);
    dword(x, 0);
    return x86_here(x);
}

static void set_distance(struct x86 *x, size_t jump, size_t target)
{
    int32_t distance = (int32_t)((int64_t)target - (int64_t)jump);
    if (!x->full)
        memcpy(x->begin + jump - 4, &distance, sizeof distance);
}

void x86_land(struct x86 *x, size_t jump)
{
    set_distance(x, jump, x86_here(x));
}

void x86_jmp_to(struct x86 *x, size_t target)
{
    set_distance(x, x86_jmp(x), target);
}

void x86_jcc_to(struct x86 *x, enum x86_cc cc, size_t target)
{
    set_distance(x, x86_jcc(x, cc), target);
}
