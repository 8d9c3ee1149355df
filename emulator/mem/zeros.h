/* zeros.h: zeros that kernels write to memory which nobody has touched yet.
 *
 * Memory of the board is a file whose holes read as zeros: a page of it exists when it
 * is first written, and takes the host longer than the rest of a kernel that clears it.
 * So a run of zeros is not written but put off, until the thread does anything that
 * might tell; then it is written where the file has data, and elsewhere is there
 * already.
 *
 * Why nobody can tell: only kernels do it that do nothing but load scalars and store
 * (program_only_stores), and all that a thread writes is in order among itself. Others
 * see its zeros late, and at the end of a turn of the workgroup at the latest: as from
 * a cache that writes back. What they write to the same place meanwhile is a race.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_ZEROS_H
#define RD_ZEROS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu.h"

/* A host thread's; the fields are zeros.c's. */
struct zeros {
    uint8_t *at; /* the run that is put off */
    size_t bytes;
    struct emu_sparse file; /* of the last one */
    emu_sparse_fn *find;
    void *ctx;
    uint64_t left_out; /* bytes */
};

/* Of a thread that begins to run a dispatch. */
void zeros_begin(struct zeros *z, const struct emu_config *config);

/* Put zeros off. False: they are to be written, after zeros_flush. */
bool zeros_add(struct zeros *z, uint8_t *at, size_t bytes);

/* Write what is put off, or leave it out. */
void zeros_flush(struct zeros *z);

/* Has it paid to interpret so many instructions for it? Native code does not put off.
 */
bool zeros_pay(const struct zeros *z, uint64_t insts);

/* Somebody is about to read there. */
static inline void zeros_before(struct zeros *z, const void *at, size_t bytes)
{
    uintptr_t lo = (uintptr_t)at, run = (uintptr_t)z->at;
    if (z->bytes && lo < run + z->bytes && run < lo + bytes)
        zeros_flush(z);
}

#endif
