/* alu.h: one elementwise operation while it is being selected: helpers that both
 * alu.c and cast.c build instructions with.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_RDNA3_ALU_H
#define RD_RDNA3_ALU_H

#include "rdna3.h"

/* ---- context of one operation ---- */

struct alu {
    struct rdna3 *r;
    uint32_t at;
    const struct cc_inst *n;
    enum cc_dtype dtype, from;
    struct mi_opnd s[3];
};

static inline struct mi_opnd new_v(struct alu *a, unsigned width)
{
    return mi_reg(a->r, rdna3_reg(a->r, true, width));
}

/* An instruction that writes d; gives d. */
static inline struct mi_opnd emit(struct alu *a, struct mi_opnd d, const char *text,
                                  unsigned n, const struct mi_opnd *s)
{
    rdna3_op(a->r, text, d, n, s);
    return d;
}

/* The same of sources one by one: into a new VGPR, a pair of them, a mask. */
#define TO(a, d, text, ...)                                                            \
    emit(a, d, text, sizeof((struct mi_opnd[]){__VA_ARGS__}) / sizeof(struct mi_opnd), \
         (const struct mi_opnd[]){__VA_ARGS__})
#define NARROW(a, text, ...) TO(a, new_v(a, 1), text, __VA_ARGS__)
#define WIDE(a, text, ...)   TO(a, new_v(a, 2), text, __VA_ARGS__)
#define MASK(a, text, ...)   TO(a, mi_reg((a)->r, rdna3_mask((a)->r)), text, __VA_ARGS__)

/* Where the result goes: the register that it is stored to, if nothing else wants it.
 */
static inline struct mi_opnd target(struct alu *a)
{
    struct mi_opnd d = a->r->dest[a->at];
    return d.kind == MI_REG ? d : new_v(a, 1);
}

static inline void result(struct alu *a, struct mi_opnd o)
{
    a->r->value[a->at] = o;
}

static inline void simple(struct alu *a, const char *text, unsigned n)
{
    struct mi_opnd d = target(a);
    rdna3_op(a->r, text, d, n, a->s);
    result(a, d);
}

static inline void no_form(struct alu *a)
{
    rdna3_fail(a->r, RD_E_UNSUPPORTED, a->at, "has no form for %s on gfx1100",
               cc_dtype_name(a->from));
}

/* 64-bit constants need a register: instructions take 32 bits. */
static inline struct mi_opnd pair(struct alu *a, struct mi_opnd o)
{
    return rdna3_to_vector(a->r, o, 2);
}

static inline struct mi_opnd zip(struct alu *a, struct mi_opnd lo, struct mi_opnd hi)
{
    struct mi_opnd d = new_v(a, 2);
    struct mi_opnd l[2] = {mi_part(d, 0), lo}, h[2] = {mi_part(d, 1), hi};
    rdna3_mi(a->r, "v_mov_b32 %0, %1", 1, 2, l);
    rdna3_mi(a->r, "v_mov_b32 %0, %1", 1, 2, h);
    return d;
}

/* Conversion of value and of bits to the operation's type. */
void rdna3_cast(struct alu *a);
void rdna3_bitcast(struct alu *a);

#endif
