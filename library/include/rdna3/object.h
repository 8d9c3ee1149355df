/* rdna3/object.h: code objects: assembled from text, taken apart into kernels.
 * SPDX-License-Identifier: MIT
 */
#ifndef RDNA3_OBJECT_H
#define RDNA3_OBJECT_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- assembling ---------------------------------------------------------------------
 */

/* Something that the assembler has to say; valid during the call. */
struct rdna3_message {
    enum rdna3_level level;
    const char *file;
    unsigned line, column; /* from 1; 0: of no place */
    const char *text;
    const char *source; /* the line it is about, source_bytes of it; or NULL */
    size_t source_bytes;
};

/* How to assemble. */
struct rdna3_assemble_options {
    size_t struct_bytes;
    const char *name; /* of the source, for messages; NULL: "<input>" */
    unsigned wave;    /* 32 or 64; 0: 32 */
    bool relocatable; /* ET_REL instead of a loadable object */
    void *ctx;
    /* Told of each message; NULL: they go to the log. */
    void (*message)(void *ctx, const struct rdna3_message *message);
};

/* Assemble a file in LLVM's AMDGPU assembly language for gfx1100.
 *
 * text     bytes of it; need not end with a zero
 * options  NULL: the defaults
 * object   out, the ELF file. Owner: rdna3_release
 * Returns RDNA3_OK, or RDNA3_E_FORMAT if the source has errors: the first is in err.
 */
RDNA3_CHECKED int rdna3_assemble(struct rdna3 *rdna3, const char *text, size_t bytes,
                                 const struct rdna3_assemble_options *options,
                                 void **object, size_t *object_bytes,
                                 struct rdna3_error *err);

/* ---- looking inside -----------------------------------------------------------------
 */

struct rdna3_object;

/* What a kernel is and needs. Texts are valid as long as the object. */
struct rdna3_kernel_info {
    const char *name;
    uint64_t address; /* of its code, as linked */
    const void *code; /* before relocation; NULL if the file holds none */
    uint64_t code_bytes;
    uint32_t wave; /* 32 or 64 */
    uint32_t vgprs, sgprs;
    uint32_t lds_bytes;     /* of a workgroup, without dynamic ones */
    uint32_t scratch_bytes; /* of a work-item */
    uint32_t kernarg_bytes;
    uint32_t n_args;            /* hidden ones included; 0 without metadata */
    uint32_t max_work_items;    /* of a workgroup; 0: unknown */
    uint32_t required_block[3]; /* zeros: any */
};

/* An argument of a kernel, as its metadata has it. */
struct rdna3_arg_info {
    const char *name; /* "" if the compiler wrote none */
    const char *type; /* as in the source, "float*"; "" if the compiler wrote none */
    const char *kind; /* "global_buffer", "by_value", "hidden_..." */
    uint32_t offset, bytes;
    bool hidden; /* filled in by the runtime, not by the caller */
    bool pointer;
};

/* Open an ELF code object or a clang offload bundle.
 *
 * data  is copied
 * Owner: rdna3_object_close.
 */
RDNA3_CHECKED int rdna3_object_open(struct rdna3 *rdna3, const void *data, size_t bytes,
                                    struct rdna3_object **out, struct rdna3_error *err);

/* NULL is fine. */
RDNA3_API void rdna3_object_close(struct rdna3_object *object);

/* How many kernels it has. */
RDNA3_API unsigned rdna3_object_kernels(const struct rdna3_object *object);

/* Describe a kernel. Returns RDNA3_E_NOT_FOUND beyond the last. */
RDNA3_CHECKED int rdna3_object_kernel(const struct rdna3_object *object, unsigned index,
                                      struct rdna3_kernel_info *out);

/* Describe an argument of a kernel. Returns RDNA3_E_NOT_FOUND beyond the last. */
RDNA3_CHECKED int rdna3_object_arg(const struct rdna3_object *object, unsigned kernel,
                                   unsigned index, struct rdna3_arg_info *out);

#ifdef __cplusplus
}
#endif

#endif
