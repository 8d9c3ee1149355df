/* level.h: handlers: those that exist once per SIMD level, and the others.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_LEVEL_H
#define RD_LEVEL_H

#include "uop.h"

struct emu_access;
typedef unsigned accesses_fn(const struct wave *w, const struct uop *u,
                             struct emu_access *access);

/* Handlers that exist once per SIMD level. */
struct level_ops {
    const char *name;
    const struct sem_entry *const *entries; /* NULL-terminated list of arrays */
    bool (*prepare)(struct wave *w, const struct uop *u); /* sources, for handlers */
    void (*leave)(void); /* after a run of handlers, before other code */
    /* Rows of a wave that begins: the first one as given, the others zero. */
    void (*fill)(uint32_t *rows, const uint32_t *first, unsigned n);
    sem_wave_fn *valu_fast, *valu_plain, *valu_any, *valu_vopd, *valu_matrix;
    sem_wave_fn *vmem_load, *vmem_store, *vmem_atomic;
    sem_wave_fn *ds_load, *ds_store, *ds_atomic;
    /* The accesses that u is about to make, into access (room for three). Returns how
     * many; 0 if no lane is active, or if only the handler knows (no UF_MEM). */
    accesses_fn *accesses;
    /* The sources of u in the running half, modifiers applied; lanes that it writes. */
    uint32_t (*valu_operands)(struct wave *w, const struct uop *u,
                              const uint32_t *rows[3]);
};
/* Handlers that exist once. The engine fills the table in; the predecoder takes them
 * from here, so that making a program needs nothing of what runs it. */
struct handlers {
    sem_wave_fn *fetch;       /* behind the program's end: a fault */
    sem_wave_fn *illegal;     /* bytes that are no instruction */
    sem_wave_fn *unsupported; /* an instruction without semantics */
    sem_wave_fn *beyond;      /* a register that the wave does not have */
    sem_wave_fn *endless;     /* more code than is decoded (program.c) */
    sem_wave_fn *excp;        /* a vector instruction that may raise float exceptions */
    sem_wave_fn *smem, *gds;
    sem_wave_fn *buffer_load, *buffer_store, *buffer_atomic, *buffer_scalar;
    sem_wave_fn *buffer_load_format, *buffer_store_format;
};

#endif
