/* internal.h: what the files of this folder share.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_LAUNCH_INTERNAL_H
#define RD_LAUNCH_INTERNAL_H

#include "launch.h"

struct la_mapping {
    struct la_mapping *next;
    void *base;
    size_t bytes;
};

struct la_object {
    struct la_object *next;
    struct co_object *co;
    uint64_t gpuva; /* of its image; 0 until it is loaded */
};

struct la {
    struct emu *emu;
    struct la_mapping *mappings;
    struct la_object *objects;
    uint64_t next_gpuva; /* where the next mapping is asked for */
    struct {             /* of the latest kernel that prints */
        uint8_t *buffer; /* NULL: none */
        const struct co_object *object;
    } printed;
    struct la_hostcall *hostcall; /* NULL: nobody answers kernels */
};

/* Write the text and hand back status. */
rd_status la_fail(struct la_error *err, rd_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Map memory that only the host sees until emu_mem_add. */
rd_status la_map(struct la *la, uint64_t bytes, const char *name, void **out,
                 struct la_error *err);

/* Show the emulator a part of a mapping; nothing for 0 bytes. */
rd_status la_show(struct la *la, const void *base, uint64_t bytes, unsigned perm,
                  const char *name, struct la_error *err);

/* emu_symbol_fn of the objects that a struct la has loaded. */
bool la_symbol(void *la, uint64_t pc, char *name, size_t size, uint64_t *start);

/* Dimensions of a grid that are in use: 1 to 3. */
unsigned la_grid_dims(const struct la_shape *shape);

/* Memory that printf of a kernel fills, for la_print. */
rd_status la_printf_buffer(struct la *la, const struct la_kernel *kernel,
                           uint64_t *gpuva, struct la_error *err);

/* The text of a message: a format, then its arguments, 8 bytes each, strings in place.
 * False: it is none. */
bool la_print_message(const uint8_t *at, size_t bytes, FILE *f);

/* Memory for hostcalls, of a kernel that makes some; where la_answer was called. */
rd_status la_hostcall_buffer(struct la *la, uint64_t *gpuva, struct la_error *err);
void la_hostcall_gone(struct la *la, const void *base); /* memory that is unmapped */
void la_hostcall_free(struct la *la);

/* Lay out and fill the kernarg segment. gpuva is 0 if the kernel has none. */
rd_status la_build_kernargs(struct la *la, const struct la_kernel *kernel,
                            const struct la_shape *shape, const struct la_arg *args,
                            unsigned n_args, uint64_t queue_gpuva, uint64_t *gpuva,
                            struct la_error *err);

#endif
