/* asm.h: assemble files in LLVM's AMDGPU assembly language to gfx1100 code objects.
 *
 * Source text in memory in, an ELF file in memory out: relocatable (ET_REL) or directly
 * loadable (ET_DYN). Nothing here reads or writes files or prints; files that a source
 * names are read by the caller.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_ASM_H
#define RD_ASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa_asm.h"
#include "status.h"

enum asm_severity { ASM_ERROR, ASM_WARNING, ASM_NOTE };

/* One diagnostic. line and column count from 1; 0: the message belongs to no place. */
struct asm_message {
    enum asm_severity severity;
    const char *file;
    unsigned line, column;
    const char *text;
    const char *source; /* the line it is about, without its end; NULL for none */
    size_t source_len;
    unsigned from_line;   /* of the macro call or .rept that made it; 0 for none */
    const char *includes; /* "In file included from ..." lines; "" for none */
};

typedef void asm_message_fn(void *ctx, const struct asm_message *message);

/* Read a file that the source names. Returns false, with errno set, if that fails.
 *
 * text  a source follows; if it has a NUL byte, no more than up to there is needed
 * data  out, malloc'ed, freed by the assembler
 */
typedef bool asm_read_fn(void *ctx, const char *name, bool text, void **data,
                         size_t *bytes);

/* A symbol set before the first line. */
struct asm_define {
    const char *name;
    int64_t value;
};

struct asm_options {
    const char *name;        /* of the source, for messages; NULL: "<input>" */
    unsigned wave;           /* 32 or 64; 0: 32 */
    bool relocatable;        /* ET_REL instead of ET_DYN */
    unsigned max_errors;     /* reported through message; 0: 20 */
    asm_message_fn *message; /* NULL: nobody wants to know */
    void *ctx;
    asm_read_fn *read; /* for .include and .incbin; NULL: they are refused */
    const struct asm_define *defines;
    size_t n_defines;
    const char *const *more; /* files to read, with read, behind the first text */
    size_t n_more;           /* at most ASM_MAX_MORE */
};

#define ASM_MAX_MORE 8u

struct asm_result {
    void *data; /* the ELF file: malloc'ed, caller frees */
    size_t bytes;
    unsigned errors; /* found; reported are no more than max_errors */
    size_t lines;    /* of source text, expansions of macros included */
    size_t instructions;
};

/* Assemble a file.
 *
 * result  out; data is NULL on failure, the counts are always set
 * Returns RD_OK, RD_E_FORMAT if the source has errors (all were looked for),
 * RD_E_NOMEM.
 */
RD_CHECKED rd_status asm_assemble(const char *text, size_t len,
                                  const struct asm_options *options,
                                  struct asm_result *result);

/* Room that asm_format needs at most. */
#define ASM_FORMAT_BYTES 1536

/* Write a message as people and editors read it: "file:line:column: error: text", the
 * source line (a window of a long one) and a caret under the column.
 *
 * color  whether the severity is coloured as terminals understand it
 * text   out, ASM_FORMAT_BYTES, zero-terminated, ends with a newline
 * Returns the length.
 */
size_t asm_format(const struct asm_message *message, bool color, char *text);

/* The name of a relocation's type, as .reloc takes it; NULL: there is no such type. */
const char *asm_reloc_name(uint32_t type);

/* Bytes that a relocation sets; 0 for R_AMDGPU_NONE and types that there are not. */
unsigned asm_reloc_size(uint32_t type);

/* Room that asm_kernel_text needs at most. */
#define ASM_KERNEL_BYTES 4096

/* Write the directives of a kernel descriptor, a line each: what stands between
 * .amdhsa_kernel and .end_amdhsa_kernel.
 *
 * kd          in, 64 bytes; where the kernel is, is not looked at
 * used_vgprs, used_sgprs  as the metadata counts them; 0: unknown
 * text        out, ASM_KERNEL_BYTES
 * Returns the length; 0 if no directives make these bytes (reserved bits are set, or
 * together they break a rule).
 */
size_t asm_kernel_text(const void *kd, unsigned used_vgprs, unsigned used_sgprs,
                       char *text);

/* Single statements, one after the other, without sections or labels: symbols are
 * undefined and leave a fixup. */
struct asm_line;
RD_CHECKED rd_status asm_line_open(unsigned wave, struct asm_line **out);
void asm_line_close(struct asm_line *line);

/* Assemble one statement; comments and blanks around it are allowed.
 *
 * code   out, at least 20 bytes; bytes of a fixup are zero
 * bytes  out, 0 if there is no statement
 * Returns RD_OK or RD_E_ENCODING with err set.
 */
RD_CHECKED rd_status asm_line_one(struct asm_line *line, const char *text, size_t len,
                                  uint8_t *code, unsigned *bytes,
                                  struct isa_fixup *fixup, struct isa_asm_error *err);

#endif
