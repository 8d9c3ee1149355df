/* doc.h: what the page and its JSON share.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DOC_H
#define RD_DOC_H

#include "emu.h"
#include "isa.h"
#include "json.h"

/* The op of a mnemonic as people write it, or ISA_OP_NONE. */
unsigned doc_find_op(const char *word);

/* List the mnemonics that begin with a word or, if none does, have it in them; j: into
 * its array, else for people. An error with a guess if there is none. Returns an exit
 * status. */
int doc_search(const char *word, struct json *j);

/* What an operand may be. */
enum doc_kind {
    DOC_VGPR,
    DOC_SGPR,
    DOC_VCC,
    DOC_TTMP,
    DOC_NULL,
    DOC_M0,
    DOC_EXEC,
    DOC_INTEGER,
    DOC_FLOAT,
    DOC_SPECIAL, /* apertures, VCCZ, EXECZ, POPS_EXITING_WAVE_ID */
    DOC_SCC,
    DOC_LDS_DIRECT,
    DOC_LITERAL,
    DOC_OFF,
    DOC_IMMEDIATE,
    DOC_KINDS
};

const char *doc_kind_name(unsigned kind);

struct doc_operand {
    char name[16];  /* of its field, or of the register that it always is */
    uint32_t kinds; /* bits by enum doc_kind: what its field may hold in wave32; 0
                       without a field */
    const struct isa_imm_part *parts; /* of an immediate that has some, n_parts */
    unsigned n_parts;
};

/* Operand index of a row. */
void doc_operand(const struct isa_row *row, unsigned index, struct doc_operand *out);

/* An operand format's name. */
const char *doc_fmt_name(unsigned fmt);

/* One instruction as an element of an array: encodings, fact sheet, semantics. */
void doc_json(struct json *j, const struct emu *emu, unsigned op);

#endif
