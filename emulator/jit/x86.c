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

/* An instruction is written at a pointer that functions hand on: in the buffer, or near
 * its end aside, from where as much is copied as there is room for. Parts that may be
 * left out are written anyhow, and the next ones over them: which are there changes
 * from one instruction to the next, and a branch that is guessed wrong costs more. */
#define LONGEST 16

static uint8_t *start(const struct x86 *x, uint8_t aside[LONGEST])
{
    return x->end - x->at >= LONGEST ? x->at : aside;
}

static void finish(struct x86 *x, const uint8_t *aside, uint8_t *p)
{
    size_t room = (size_t)(x->end - x->at);
    if (room >= LONGEST) {
        x->at = p;
        return;
    }
    size_t n = (size_t)(p - aside);
    x->full |= n > room;
    n = n > room ? room : n;
    memcpy(x->at, aside, n);
    x->at += n;
}

static uint8_t *byte(uint8_t *p, unsigned value)
{
    *p = (uint8_t)value;
    return p + 1;
}

static uint8_t *dword(uint8_t *p, uint32_t value)
{
    memcpy(p, &value, sizeof value);
    return p + sizeof value;
}

/* Is disp a byte that counts 1 << scale? */
static bool fits_byte(int32_t disp, unsigned scale)
{
    int32_t scaled = disp >> scale;
    return (int32_t)((uint32_t)scaled << scale) == disp && scaled == (int8_t)scaled;
}

/* ModRM, SIB and displacement of [base + disp]. scale: a byte of displacement counts
 * 1 << scale (EVEX), 1 elsewhere. */
static uint8_t *modrm_mem(uint8_t *p, unsigned reg, struct x86_mem m, unsigned scale)
{
    unsigned low = m.base & 7u;
    int32_t small = m.disp >> scale;
    unsigned mod = 2u - fits_byte(m.disp, scale);
    mod *= (unsigned)(m.disp != 0) | (unsigned)(low == RBP);
    *p++ = (uint8_t)(mod << 6 | (reg & 7u) << 3 | low);
    *p = 0x24;
    p += low == RSP;
    (void)dword(p, (uint32_t)(mod == 1 ? small : m.disp));
    return p + mod * mod; /* bytes of the displacement: 0, 1 or 4 */
}

static uint8_t *modrm_reg(uint8_t *p, unsigned reg, unsigned rm)
{
    return byte(p, 3u << 6 | (reg & 7u) << 3 | (rm & 7u));
}

/* ---- vectors -------------------------------------------------------------------- */

static uint8_t *evex_prefix(uint8_t *p, const struct form *f, unsigned reg,
                            unsigned vvvv, const struct x86_rm *rm, unsigned k)
{
    bool mem = rm->kind != RM_REG;
    unsigned b = mem ? rm->mem.base >> 3 & 1u : rm->reg >> 3 & 1u;
    unsigned index = mem ? 0 : rm->reg >> 4 & 1u;
    unsigned w = f->w || f->flags & F_W1;
    unsigned round = k / X86_DOWN & 3u; /* in place of the length */
    bool broadcast = rm->kind == RM_BCAST || round;
    uint32_t p0 = (~reg >> 3 & 1u) << 7 | (~index & 1u) << 6 | (~b & 1u) << 5 |
                  (~reg >> 4 & 1u) << 4 | f->map;
    uint32_t p1 = w << 7 | (~vvvv & 15u) << 3 | 4u | f->prefix;
    uint32_t p2 = (round ? round : 2u) << 5 | (unsigned)broadcast << 4 |
                  (~vvvv >> 4 & 1u) << 3 | (k & 7u) | (k & X86_ZERO ? 0x80u : 0);
    return dword(p, 0x62u | p0 << 8 | p1 << 16 | p2 << 24);
}

static uint8_t *vex_prefix(uint8_t *p, unsigned map, unsigned prefix, unsigned w,
                           unsigned length, unsigned reg, unsigned vvvv, unsigned rm)
{
    uint32_t p0 = (~reg >> 3 & 1u) << 7 | 1u << 6 | (~rm >> 3 & 1u) << 5 | map;
    uint32_t p1 = w << 7 | (~vvvv & 15u) << 3 | length << 2 | prefix;
    (void)dword(p, 0xc4u | p0 << 8 | p1 << 16);
    return p + 3;
}

/* By which power of two EVEX counts displacements: bytes of memory that the form reads
 * or writes. */
static unsigned memory_scale(const struct form *f, bool broadcast)
{
    if (broadcast)
        return f->flags & F_W1 ? 3 : 2;
    return f->flags & F_ONE ? 2 : f->flags & F_QUARTER ? 4 : f->flags & F_HALF ? 5 : 6;
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
    uint8_t aside[LONGEST], *p = start(x, aside);
    if (x->evex)
        p = evex_prefix(p, f, reg, vvvv, &rm, k);
    else
        p = vex_prefix(p, f->map, f->prefix, f->w, 1, reg, vvvv,
                       mem ? rm.mem.base : rm.reg);
    p = byte(p, f->opcode);
    if (mem)
        p = modrm_mem(p, reg, rm.mem,
                      x->evex ? memory_scale(f, rm.kind == RM_BCAST) : 0);
    else
        p = modrm_reg(p, reg, rm.reg);
    *p = (uint8_t)imm;
    p += (f->flags & F_IMM) != 0;
    finish(x, aside, p);
}

/* [base + index + disp] with lanes of a vector register as index (VSIB); wide (EVEX):
 * elements of 64 bits. */
static void vector_indexed(struct x86 *x, unsigned opcode, bool wide, unsigned reg,
                           struct x86_mem m, unsigned index, unsigned mask)
{
    uint8_t aside[LONGEST], *p = start(x, aside);
    unsigned b = ~(unsigned)m.base >> 3 & 1u, scale = !x->evex ? 0 : wide ? 3 : 2;
    if (x->evex) {
        p = byte(p, 0x62);
        p = byte(p, (~reg >> 3 & 1u) << 7 | (~index >> 3 & 1u) << 6 | b << 5 |
                        (~reg >> 4 & 1u) << 4 | 2u);
        p = byte(p, (unsigned)wide << 7 | 15u << 3 | 4u | 1u);
        p = byte(p, 2u << 5 | (~index >> 4 & 1u) << 3 | mask);
    } else {
        p = byte(p, 0xc4);
        p = byte(p, (~reg >> 3 & 1u) << 7 | (~index >> 3 & 1u) << 6 | b << 5 | 2u);
        p = byte(p, (~mask & 15u) << 3 | 4u | 1u);
    }
    p = byte(p, opcode);
    bool small = fits_byte(m.disp, scale);
    p = byte(p, (small ? 1u : 2u) << 6 | (reg & 7u) << 3 | 4u);
    p = byte(p, (index & 7u) << 3 | (m.base & 7u));
    if (small)
        p = byte(p, (unsigned)(m.disp >> scale) & 255u);
    else
        p = dword(p, (uint32_t)m.disp);
    finish(x, aside, p);
}

void x86_gather(struct x86 *x, unsigned dst, struct x86_mem mem, unsigned index,
                unsigned mask)
{
    vector_indexed(x, 0x90, false, dst, mem, index, mask);
}

void x86_gather64(struct x86 *x, unsigned dst, struct x86_mem mem, unsigned index,
                  unsigned k)
{
    vector_indexed(x, 0x90, true, dst, mem, index, k);
}

void x86_scatter(struct x86 *x, unsigned src, struct x86_mem mem, unsigned index,
                 unsigned k)
{
    vector_indexed(x, 0xa0, false, src, mem, index, k);
}

static void vmovd(struct x86 *x, unsigned opcode, unsigned gpr, unsigned vector)
{
    uint8_t aside[LONGEST], *p = start(x, aside);
    if (x->evex) {
        p = byte(p, 0x62);
        p = byte(p, (~vector >> 3 & 1u) << 7 | 1u << 6 | (~gpr >> 3 & 1u) << 5 |
                        (~vector >> 4 & 1u) << 4 | 1u);
        p = byte(p, 15u << 3 | 4u | 1u);
        p = byte(p, 1u << 3);
    } else {
        p = vex_prefix(p, 1, 1, 0, 0, vector, 0, gpr);
    }
    p = byte(p, opcode);
    p = modrm_reg(p, vector, gpr);
    finish(x, aside, p);
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
    uint8_t aside[LONGEST], *p = start(x, aside);
    p = vex_prefix(p, 1, prefix, 0, length, reg, vvvv, rm);
    p = byte(p, opcode);
    p = modrm_reg(p, reg, rm);
    finish(x, aside, p);
}

void x86_k_load(struct x86 *x, unsigned k, struct x86_mem mem)
{
    uint8_t aside[LONGEST], *p = start(x, aside);
    p = vex_prefix(p, 1, 0, 0, 0, k, 0, mem.base);
    p = byte(p, 0x90);
    p = modrm_mem(p, k, mem, 0);
    finish(x, aside, p);
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
static uint8_t *rex_op(uint8_t *p, bool wide, unsigned opcode, unsigned reg,
                       unsigned rm, bool bytes)
{
    unsigned rex = (wide ? 8u : 0) | (reg >> 3 & 1u) << 2 | (rm >> 3 & 1u);
    *p = (uint8_t)(0x40u | rex);
    p += rex || bytes;
    *p = (uint8_t)(opcode >> 8);
    p += opcode > 0xff;
    return byte(p, opcode & 255u);
}

/* An instruction but for an immediate. */
static uint8_t *reg_form(uint8_t *p, bool wide, unsigned opcode, unsigned reg,
                         unsigned rm)
{
    return modrm_reg(rex_op(p, wide, opcode, reg, rm, false), reg, rm);
}

static uint8_t *mem_form(uint8_t *p, bool wide, unsigned opcode, unsigned reg,
                         struct x86_mem mem)
{
    return modrm_mem(rex_op(p, wide, opcode, reg, mem.base, false), reg, mem, 0);
}

static void op_reg(struct x86 *x, bool wide, unsigned opcode, unsigned reg, unsigned rm)
{
    uint8_t aside[LONGEST], *p = start(x, aside);
    finish(x, aside, reg_form(p, wide, opcode, reg, rm));
}

static void op_mem(struct x86 *x, bool wide, unsigned opcode, unsigned reg,
                   struct x86_mem mem)
{
    uint8_t aside[LONGEST], *p = start(x, aside);
    finish(x, aside, mem_form(p, wide, opcode, reg, mem));
}

void x86_mov(struct x86 *x, bool wide, unsigned dst, unsigned src)
{
    op_reg(x, wide, 0x89, src, dst);
}

void x86_mov_imm(struct x86 *x, unsigned dst, uint64_t value)
{
    uint8_t aside[LONGEST], *p = start(x, aside);
    bool wide = value > UINT32_MAX;
    p = rex_op(p, wide, 0xb8u | (dst & 7u), 0, dst, false);
    p = dword(p, (uint32_t)value);
    if (wide)
        p = dword(p, (uint32_t)(value >> 32));
    finish(x, aside, p);
}

void x86_load(struct x86 *x, bool wide, unsigned dst, struct x86_mem mem)
{
    op_mem(x, wide, 0x8b, dst, mem);
}

void x86_load_sext32(struct x86 *x, unsigned dst, struct x86_mem mem)
{
    op_mem(x, true, 0x63, dst, mem);
}

void x86_load8(struct x86 *x, unsigned dst, struct x86_mem mem)
{
    op_mem(x, false, 0x0fb6, dst, mem);
}

void x86_prefetch(struct x86 *x, struct x86_mem mem)
{
    op_mem(x, false, 0x0f18, 2, mem);
}

void x86_store(struct x86 *x, bool wide, struct x86_mem mem, unsigned src)
{
    op_mem(x, wide, 0x89, src, mem);
}

void x86_store_imm(struct x86 *x, bool wide, struct x86_mem mem, int32_t value)
{
    uint8_t aside[LONGEST], *p = start(x, aside);
    p = mem_form(p, wide, 0xc7, 0, mem);
    p = dword(p, (uint32_t)value);
    finish(x, aside, p);
}

void x86_store8_imm(struct x86 *x, struct x86_mem mem, unsigned value)
{
    uint8_t aside[LONGEST], *p = start(x, aside);
    p = mem_form(p, false, 0xc6, 0, mem);
    p = byte(p, value);
    finish(x, aside, p);
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
    uint8_t aside[LONGEST], *p = start(x, aside);
    bool small = value >= -128 && value <= 127;
    p = reg_form(p, wide, small ? 0x83 : 0x81, op, dst);
    if (small)
        p = byte(p, (unsigned)value & 255u);
    else
        p = dword(p, (uint32_t)value);
    finish(x, aside, p);
}

void x86_alu_mem_imm(struct x86 *x, enum x86_alu op, bool wide, struct x86_mem mem,
                     int32_t value)
{
    uint8_t aside[LONGEST], *p = start(x, aside);
    bool small = value >= -128 && value <= 127;
    p = mem_form(p, wide, small ? 0x83 : 0x81, op, mem);
    if (small)
        p = byte(p, (unsigned)value & 255u);
    else
        p = dword(p, (uint32_t)value);
    finish(x, aside, p);
}

void x86_cmp8_imm(struct x86 *x, struct x86_mem mem, unsigned value)
{
    uint8_t aside[LONGEST], *p = start(x, aside);
    p = mem_form(p, false, 0x80, ALU_CMP, mem);
    p = byte(p, value);
    finish(x, aside, p);
}

void x86_test8_imm(struct x86 *x, struct x86_mem mem, unsigned value)
{
    uint8_t aside[LONGEST], *p = start(x, aside);
    p = mem_form(p, false, 0xf6, 0, mem);
    p = byte(p, value);
    finish(x, aside, p);
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
    uint8_t aside[LONGEST], *p = start(x, aside);
    p = reg_form(p, wide, 0xc1, op, reg);
    p = byte(p, n);
    finish(x, aside, p);
}

void x86_shift(struct x86 *x, enum x86_shift op, bool wide, unsigned dst, unsigned src,
               unsigned count)
{
    uint8_t aside[LONGEST], *p = start(x, aside);
    unsigned prefix = op == SHIFT_SHL ? 1 : op == SHIFT_SHR ? 3 : 2;
    p = vex_prefix(p, 2, prefix, wide, 0, dst, count, src);
    p = byte(p, 0xf7);
    p = modrm_reg(p, dst, src);
    finish(x, aside, p);
}

void x86_bzhi(struct x86 *x, bool wide, unsigned dst, unsigned src, unsigned count)
{
    uint8_t aside[LONGEST], *p = start(x, aside);
    p = vex_prefix(p, 2, 0, wide, 0, dst, count, src);
    p = byte(p, 0xf5);
    p = modrm_reg(p, dst, src);
    finish(x, aside, p);
}

void x86_bits(struct x86 *x, enum x86_bits op, bool wide, unsigned dst, unsigned src)
{
    uint8_t aside[LONGEST], *p = start(x, aside);
    p = byte(p, 0xf3);
    p = reg_form(p, wide, 0x0f00u | op, dst, src);
    finish(x, aside, p);
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
    uint8_t aside[LONGEST], *p = start(x, aside);
    p = rex_op(p, false, 0x0fbe, dst, src, true);
    p = modrm_reg(p, dst, src);
    finish(x, aside, p);
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
    uint8_t aside[LONGEST], *p = start(x, aside);
    p = rex_op(p, false, 0x50u | (reg & 7u), 0, reg, false);
    finish(x, aside, p);
}

void x86_pop(struct x86 *x, unsigned reg)
{
    uint8_t aside[LONGEST], *p = start(x, aside);
    p = rex_op(p, false, 0x58u | (reg & 7u), 0, reg, false);
    finish(x, aside, p);
}

void x86_ret(struct x86 *x)
{
    uint8_t aside[LONGEST], *p = start(x, aside);
    p = byte(p, 0xc3);
    finish(x, aside, p);
}

void x86_vzeroupper(struct x86 *x)
{
    uint8_t aside[LONGEST], *p = start(x, aside);
    p = byte(p, 0xc5);
    p = byte(p, 0xf8);
    p = byte(p, 0x77);
    finish(x, aside, p);
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
    uint8_t aside[LONGEST], *p = start(x, aside);
    p = byte(p, 0x0f);
    p = byte(p, 0x80u + cc);
    p = dword(p, 0);
    finish(x, aside, p);
    return x86_here(x);
}

size_t x86_jmp(struct x86 *x)
{
    uint8_t aside[LONGEST], *p = start(x, aside);
    p = byte(p, 0xe9);
    p = dword(p, 0);
    finish(x, aside, p);
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

size_t x86_join(struct x86 *x, size_t jump, size_t before)
{
    uint32_t kept = (uint32_t)before;
    if (!x->full)
        memcpy(x->begin + jump - 4, &kept, sizeof kept);
    return jump;
}

void x86_land_all(struct x86 *x, size_t jump)
{
    while (jump && !x->full) {
        uint32_t before;
        memcpy(&before, x->begin + jump - 4, sizeof before);
        x86_land(x, jump);
        jump = before;
    }
}

void x86_jmp_to(struct x86 *x, size_t target)
{
    set_distance(x, x86_jmp(x), target);
}

void x86_jcc_to(struct x86 *x, enum x86_cc cc, size_t target)
{
    set_distance(x, x86_jcc(x, cc), target);
}
