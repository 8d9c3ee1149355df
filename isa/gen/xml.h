/* xml.h: AMD's ISA XML as plain structs, exactly as stated there, defects included.
 * SPDX-License-Identifier: MIT
 */
#ifndef GEN_XML_H
#define GEN_XML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gx_field {
    const char *name;
    unsigned shift, width;
    unsigned pad; /* implicit low zero bits */
};

struct gx_encoding {
    const char *name;
    unsigned bits;
    const char *first_id; /* binary text, most significant bit first */
    struct gx_field *fields;
    size_t n_fields;
};

struct gx_operand {
    const char *field; /* NULL if in no field */
    const char *format, *type;
    unsigned bits;
    bool in, out, implicit, encoded; /* encoded: IsBinaryMicrocodeRequired */
};

/* One InstructionEncoding entry. */
struct gx_form {
    const char *encoding, *condition;
    unsigned opcode;
    struct gx_operand *operands;
    size_t n_operands;
};

struct gx_insn {
    const char *name; /* lower case */
    const char **aliases;
    size_t n_aliases;
    bool branch, cond_branch, indirect, terminator;
    struct gx_form *forms;
    size_t n_forms;
};

struct gx_isa {
    const char *architecture, *schema;
    struct gx_encoding *encodings;
    size_t n_encodings;
    struct gx_insn *insns;
    size_t n_insns;
    const char **operand_types;
    size_t n_operand_types;
};

/* Read an ISA XML file of schema 1.0 or 1.1; exits with a message on any error. */
void gx_read(const char *path, struct gx_isa *isa);

#endif
