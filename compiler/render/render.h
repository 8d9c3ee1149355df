/* render.h: between the structure of rendered text and the text of operations.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_RENDER_H
#define RD_CC_RENDER_H

#include "prog.h"

struct render {
    const struct cc_prog *p;
    enum cc_style style;
    char *error;
    struct cc_arena arena;
    struct cc_text text;   /* the body */
    struct cc_text arrays; /* values that cross a cut */
    uint32_t groups[3], block[3], lanes;
    unsigned depth; /* of indentation */
    bool split;     /* loops over lanes are cut */
    bool in_lanes;
    char **expr;       /* of each operation: what to write for its value */
    uint32_t *segment; /* of each operation */
    uint32_t *scope;   /* innermost loop + 1 */
    uint32_t *uses;
    uint8_t *cut;     /* not inside a loop over lanes */
    uint8_t *crosses; /* used in another segment */
    uint8_t *moves;   /* used in another loop */
    unsigned n_alu, n_val, n_range, n_wmma;
};

rd_status render_fail(struct render *r, uint32_t at, const char *why);
void render_line(struct render *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- ops.c ---- */

const char *render_type(const struct render *r, enum cc_dtype dtype);
char *render_const(struct render *r, const struct cc_inst *n);
/* Text of a value or place; the caller frees. */
char *render_alu(struct render *r, uint32_t at);
char *render_load(struct render *r, const struct cc_inst *n);
char *render_place(struct render *r, const struct cc_inst *n);
void render_special(struct render *r, uint32_t at);
void render_barrier(struct render *r);
rd_status render_wmma(struct render *r, uint32_t at);
rd_status render_bpermute(struct render *r, uint32_t at);
void render_head(struct render *r, struct cc_text *out);
void render_tail(struct render *r, struct cc_text *out);

#endif
