/* sheet.h: the fact sheet as read, one row an opcode.
 * SPDX-License-Identifier: MIT
 */
#ifndef GEN_SHEET_H
#define GEN_SHEET_H

#include "../facts.h"
#include "model.h"

/* Columns in the order of the sheet; the note is the last. */
enum gf_column {
    GF_OP,
    GF_PIPE,
    GF_FLOPS,
    GF_EXCP,
    GF_FIDELITY,
    GF_MEM,
    GF_ACCESS,
    GF_SIZE,
    GF_FORM,
    GF_EXEC,
    GF_SCC,
    GF_VCC,
    GF_M0,
    GF_MODE,
    GF_COMMUTES,
    GF_FLOW,
    GF_VOPD,
    GF_FUNCTION,
    GF_NOTE,
    GF_COLUMNS
};

struct gf_row {
    unsigned number; /* of its line */
    const char *op;
    struct isa_facts f;  /* but swapped and dual */
    const char *swapped; /* mnemonics, or NULL */
    const char *dual;
};

struct gf_sheet {
    const char *path;
    struct gf_row *rows; /* as in the file; after gf_check in the order of the ops */
    size_t n_rows;
    unsigned errors;
};

extern const char *const gf_column_names[GF_COLUMNS];

/* Report what is wrong in a column of a row: file:line, opcode, column, text. */
void gf_error(struct gf_sheet *sheet, const struct gf_row *row, enum gf_column column,
              const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Read a sheet; unknown words and missing fields are reported and counted. */
void gf_read(const char *path, struct gf_sheet *sheet);

/* Join the sheet with the model: a row for each opcode, none that contradicts AMD's.
 * Exits after the reports if there was any error. */
void gf_check(const struct gm_model *model, struct gf_sheet *sheet);

/* Write dir/facts.inc. */
void gf_emit(const struct gm_model *model, const struct gf_sheet *sheet,
             const char *dir);

#endif
