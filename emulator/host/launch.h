/* launch.h: what a user-mode runtime does before a dispatch, for rdna3's own tools:
 * memory, code loading, kernel arguments, user SGPRs. The emulator runs the result.
 *
 * Every text that can reach a user is in struct la_error, one line without "error: ".
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_LAUNCH_H
#define RD_LAUNCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "codeobj.h"
#include "emu.h"
#include "status.h"

struct la_error {
    char text[640];
};

/* An emulator with the memory and code that it sees. */
struct la;

RD_CHECKED rd_status la_create(const struct emu_config *config, struct la **out,
                               struct la_error *err);

/* Also unmaps all memory. */
void la_destroy(struct la *la);
struct emu *la_emu(const struct la *la);

/* Allocate zeroed memory that kernels see: page-aligned, its last byte known exactly,
 * with unmapped addresses on both sides. Freed by la_destroy.
 *
 * perm  EMU_MEM_*
 * name  for fault messages
 * out   the host pointer, which is the GPU address too
 */
RD_CHECKED rd_status la_alloc(struct la *la, uint64_t bytes, unsigned perm,
                              const char *name, void **out, struct la_error *err);

/* Memory that was allocated between la_mark and la_rewind is gone: for what one
 * dispatch needs. Not across la_load_object and la_load_raw. */
struct la_mark {
    void *last;
    uint64_t next_gpuva;
};
struct la_mark la_mark(const struct la *la);
void la_rewind(struct la *la, struct la_mark mark);

/* A kernel in the memory of a struct la; valid as long as that. */
struct la_kernel {
    const char *name;
    struct co_kernel_desc desc;
    const struct co_kernel_meta *meta; /* NULL: unknown */
    uint64_t entry_gpuva;
    uint64_t desc_gpuva;  /* 0 for raw code */
    uint64_t image_gpuva; /* where address 0 of the object lies; 0 for raw code */
    const struct co_object *object; /* NULL for raw code */
};

/* Load a code object and find a kernel in it.
 *
 * data    ELF file or offload bundle; must stay until la_destroy
 * kernel  NULL: the only one
 */
RD_CHECKED rd_status la_load_object(struct la *la, const void *data, size_t bytes,
                                    const char *kernel, struct la_kernel *out,
                                    struct la_error *err);

/* Another kernel of the object that one has been loaded with. */
RD_CHECKED rd_status la_find_kernel(const struct la_kernel *loaded, const char *kernel,
                                    struct la_kernel *out, struct la_error *err);

/* Load bare code.
 *
 * kd     64-byte descriptor, or NULL for the default one: kernarg pointer in s[0:1],
 *        workgroup id in s[2:4], packed work-item id in v0, 256 VGPRs, denormals kept
 * wave   32, 64, or 0: what the descriptor says, 32 without one
 * entry  byte offset of the first instruction in the code, a multiple of 4
 */
RD_CHECKED rd_status la_load_raw(struct la *la, const void *code, size_t bytes,
                                 const void *kd, unsigned wave, uint64_t entry,
                                 struct la_kernel *out, struct la_error *err);

enum la_arg_class { LA_INTEGER, LA_FLOAT, LA_POINTER, LA_BYTES };

/* One explicit kernel argument. */
struct la_arg {
    enum la_arg_class cls;
    const void *value; /* as it will lie in the kernarg segment */
    uint32_t bytes;
    const char *text; /* as the user wrote it, for messages */
};

struct la_shape {
    uint32_t groups[3];
    uint32_t block[3];
    uint32_t dynamic_lds_bytes;
    uint32_t stack_bytes; /* scratch of a work-item, at least; a multiple of 4 */
};

/* Build the kernarg segment, the AQL packet and the queue that the kernel asks for, and
 * from them the dispatch. Metadata, if there is any, gives the places of the arguments
 * and is checked against them; otherwise they lie in order at their natural alignment.
 *
 * Returns RD_E_INVALID for a shape, a count, a size or a kind that does not fit.
 */
RD_CHECKED rd_status la_prepare(struct la *la, const struct la_kernel *kernel,
                                const struct la_shape *shape, const struct la_arg *args,
                                unsigned n_args, struct emu_dispatch *out,
                                struct la_error *err);

/* Write what the kernel of the latest la_prepare has printed since, by OpenCL's printf
 * or by HIP's with -mprintf-kind=buffered; nothing if it does not print. Not while it
 * runs.
 */
enum la_printed {
    LA_PRINTED_ALL,
    LA_PRINTED_FULL,  /* the buffer is full: what came later may be missing */
    LA_PRINTED_BROKEN /* the buffer holds something else from here on */
};
enum la_printed la_print(struct la *la, FILE *f);

/* Answer kernels that call the host while they run (HIP's printf and assert, as hipcc
 * makes them unless it is told -mprintf-kind=buffered). Before la_prepare: kernels then
 * get what they call through, and wait forever unless a thread answers, between
 * la_answer_begin and la_answer_end.
 *
 * out      where printf goes; what is for stderr goes there
 * service  out, one that was asked for and is not there (its answer was 0); 0: none.
 *          LLVM's numbers: 1 calls a function, 3 allocates, 4 tells of a sanitizer
 */
RD_CHECKED rd_status la_answer(struct la *la, FILE *out);
RD_CHECKED rd_status la_answer_begin(struct la *la);
bool la_answers(const struct la *la); /* there is a thread, now */
bool la_asked(const struct la *la);   /* and a kernel has called it since la_prepare */
enum la_printed la_answer_end(struct la *la, uint32_t *service);

/* Lay out and fill a kernarg segment somewhere else than in a struct la.
 *
 * kernel       name, desc and meta are looked at
 * queue_gpuva  what a kernel that asks for its queue gets
 * lds_base     of the flat apertures, also scratch_base
 * out, bytes   out, caller frees; at least one byte
 */
RD_CHECKED rd_status la_make_kernargs(const struct la_kernel *kernel,
                                      const struct la_shape *shape,
                                      const struct la_arg *args, unsigned n_args,
                                      uint64_t queue_gpuva, uint64_t lds_base,
                                      uint64_t scratch_base, void **out,
                                      uint64_t *bytes, struct la_error *err);

#endif
