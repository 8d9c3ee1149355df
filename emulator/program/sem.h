/* sem.h: one entry per semantics function, as gen/semscan.c finds them.
 *
 * The entries of a source file are an array in that file's compilation unit; there is
 * one set per SIMD level, compiled from the same source.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_SEM_H
#define RD_SEM_H

#include "lane.h"

enum sem_kind {
    SEM_NONE,
    SEM_LANE,
    SEM_MATRIX,
    SEM_SCALAR,
    SEM_WAVE,
    SEM_LOAD,
    SEM_STORE,
    SEM_WIDE,
    SEM_FORMAT, /* bytes is the number of components */
    SEM_ATOMIC,
};

/* Value types of arguments and results; enum order is used by gen/semscan.c. */
enum sem_type {
    SEM_T_NONE,
    SEM_T_U16,
    SEM_T_I16,
    SEM_T_F16,
    SEM_T_U32,
    SEM_T_I32,
    SEM_T_F32,
    SEM_T_PK16,
    SEM_T_U64,
    SEM_T_I64,
    SEM_T_F64,
    SEM_T_BOOL,
    SEM_T_CARRY32,
    SEM_T_CARRY64,
    SEM_T_CARRY_F32,
    SEM_T_CARRY_F64,
    SEM_T_SCC32,
    SEM_T_SCC64,
};

/* All 32 lanes of a LANE_OP. Rows are 32 dwords; a 64-bit value is two rows, low
 * first. d may be any of the sources. dm receives 0 or 1 per lane: the bool result or
 * the carry; for a bool result d is not touched. A fourth argument (n_args == 4, always
 * bool: VCC of V_DIV_FMAS) is read from dm, which then is an input only. */
typedef void sem_row_fn(uint32_t *d, uint32_t *dm, const uint32_t *s0,
                        const uint32_t *s1, const uint32_t *s2,
                        const struct lane_mode *m);
/* A SCALAR_OP: up to three values in; *scc in and out. */
typedef uint64_t sem_scalar_fn(uint64_t s0, uint64_t s1, uint64_t s2, bool *scc);
typedef const struct uop *sem_wave_fn(struct wave *w, const struct uop *u);
typedef void sem_matrix_fn(const struct matrix_io *io);
typedef uint32_t sem_mem_fn(uint32_t value, uint32_t old);
typedef uint64_t sem_atomic_fn(uint64_t mem, uint64_t data, uint64_t cmp,
                               const struct lane_mode *m);

/* The same for whole rows: a load or store of 32 lanes, its value in place; an atomic
 * of 32 bits on 16 lanes, mem in place. */
typedef void sem_mem_rows_fn(uint32_t *value, const uint32_t *old);
typedef void sem_atomic_rows_fn(uint32_t *mem, const uint32_t *data,
                                const uint32_t *cmp, const struct lane_mode *m);

#define SEM_F_MODE 1u /* takes the lane_mode */
#define SEM_F_SCC  2u /* SCALAR_OP with an SCC input */

struct sem_entry {
    const char *name; /* of the function */
    const char *file; /* for `rdna3 doc` */
    uint16_t line;
    uint8_t kind;   /* enum sem_kind */
    uint8_t ret;    /* enum sem_type */
    uint8_t n_args; /* without mode and scc */
    uint8_t flags;  /* SEM_F_* */
    uint8_t args[4];
    uint16_t bytes; /* memory operations: bytes per lane */
    union {
        sem_row_fn *row;
        sem_scalar_fn *scalar;
        sem_wave_fn *wave;
        sem_matrix_fn *matrix;
        sem_mem_fn *mem;
        sem_atomic_fn *atomic;
    } fn;
    sem_wave_fn *handler; /* the whole instruction: a SCALAR_OP; a LANE_OP without
                             modifiers in a wave32; or NULL */
    union {
        sem_mem_rows_fn *mem;
        sem_atomic_rows_fn *atomic;
    } rows; /* MEM_LOAD, MEM_STORE, MEM_ATOMIC of 32 bits; else NULL */
};

#endif
