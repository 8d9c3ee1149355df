/* model.h: the instruction set as the tables hold it: rows of base encodings, with the
 * XML's defects corrected by the supplement.
 * SPDX-License-Identifier: MIT
 */
#ifndef GEN_MODEL_H
#define GEN_MODEL_H

#include "xml.h"

#define GM_MAX_OPERANDS 12
#define GM_MAX_MODS     20

/* An encoding of the XML, seen as (base encoding, variant). */
struct gm_map {
    const char *xml;     /* "VOP1_INST_LITERAL" */
    const char *base;    /* "VOP1" */
    const char *variant; /* "LITERAL", or NULL for the base itself */
};

/* One supplement line: words[0] is the directive. */
struct gs_line {
    unsigned number;
    const char **words;
    size_t n_words;
    bool used; /* matched at least one row */
};

struct gs_supplement {
    const char *path;
    struct gs_line *lines;
    size_t n_lines;
};

struct gm_operand {
    const char *field, *format, *type; /* format: short name of enum isa_fmt */
    unsigned bits;
    bool in, out, implicit, no_field, half_y;
};

struct gm_row {
    const char *op;   /* "v_add_f32" */
    const char *base; /* "VOP3" */
    unsigned opcode;
    struct gm_operand operands[GM_MAX_OPERANDS];
    size_t n_operands;
    const char *variants[4];
    size_t n_variants;
    bool branch, cond_branch, indirect, terminator;
    bool literal; /* always has one */
    bool llvm_only, half_y, no_text, bare;
    bool suffix;                   /* has a 32-bit and a VOP3 form */
    const char *mods[GM_MAX_MODS]; /* sorted by the supplement's order */
    size_t n_mods;
    uint64_t fixed_mask, fixed_value; /* bits that must have one value */
};

struct gm_alias {
    const char *name, *op;
};

/* One named immediate: "HWREG", 1, "HW_REG_MODE". */
struct gm_imm {
    const char *kind, *text;
    unsigned value;
};

struct gm_model {
    const struct gx_isa *isa;
    struct gm_map *maps;
    size_t n_maps;
    struct gm_row *rows; /* by encoding in the supplement's order, then opcode */
    size_t n_rows;
    const char **ops; /* distinct names, sorted */
    size_t n_ops;
    struct gm_alias *aliases; /* sorted by name */
    size_t n_aliases;
    struct gm_imm *imms; /* in the supplement's order, a kind's together */
    size_t n_imms;
    bool lenient; /* names the supplement does not know are notes, not errors */
};

/* Split a supplement file into lines of words; '#' starts a comment. */
void gs_read(const char *path, struct gs_supplement *supp);

/* Fold the XML's entries into rows and apply the supplement. */
void gm_build(const struct gx_isa *isa, struct gs_supplement *supp, bool lenient,
              struct gm_model *model);

/* Place of a base encoding in the supplement's order, or -1. */
int gm_base_order(const struct gm_model *model, const char *base);

/* The XML encoding that is the base itself. */
const struct gx_encoding *gm_base_encoding(const struct gm_model *model,
                                           const char *base);

/* Modifiers that follow from the operand formats. */
void gm_default_mods(struct gm_row *row);

/* Fix modifier bits the row does not take to zero. */
void gm_fix_modifiers(const struct gx_encoding *e, struct gm_row *row);

/* Fix width bits from shift up. */
void gm_fix_bits(struct gm_row *row, unsigned shift, unsigned width, uint64_t value);

/* Fix a field; or fix it to zero if no operand of the row uses it. False if the
 * encoding has no such field. */
bool gm_fix_field(const struct gx_encoding *e, struct gm_row *row, const char *field,
                  uint64_t value);
bool gm_fix_unused(const struct gx_encoding *e, struct gm_row *row, const char *field);

/* Write every table into folder dir. */
void gm_emit(const struct gm_model *model, const char *dir);

#endif
