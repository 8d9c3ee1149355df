/* prog.h: linear programs, for the compiler's own files.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_PROG_H
#define RD_CC_PROG_H

#include "graph.h"

struct cc_prog {
    struct cc_arena arena;
    struct cc_inst *insts;
    struct cc_uop **nodes; /* the same, as the rules of derive.c see them */
    uint32_t *scope;       /* innermost open RANGE or IF + 1 at each operation */
    uint8_t *closed;       /* of each RANGE or IF: values inside are gone */
    uint32_t count, cap;
    uint32_t open[64]; /* RANGEs and IFs */
    uint32_t n_open;
    int next_range;
    const char *name;
    rd_status status;
    char error[CC_ERROR_BYTES];
};

/* A growing string. */
struct cc_text {
    char *data;
    size_t len, cap;
    bool failed;
};
void cc_out(struct cc_text *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Hand it over, or free it and say RD_E_NOMEM. */
rd_status cc_out_done(struct cc_text *t, char **text);

/* Where memory is: the space of a LOAD's or STORE's source 0. */
static inline enum cc_space cc_space_of(const struct cc_inst *memory)
{
    return memory->op == CC_PARAM ? CC_SPACE_GLOBAL : (enum cc_space)memory->arg[0];
}

/* Elements of a PARAM or BUFFER; 0 if not stated. */
static inline int64_t cc_memory_elements(const struct cc_inst *memory)
{
    uint32_t first = memory->op == CC_PARAM ? 1 : 2;
    int64_t n = 1;
    if (memory->n_arg == first && memory->op == CC_PARAM)
        return 0;
    for (uint32_t i = first; i < memory->n_arg; i++)
        n *= memory->arg[i];
    return n;
}

/* The operation that closes the RANGE or IF at an index. */
uint32_t cc_prog_closing(const struct cc_prog *p, uint32_t at);

/* Loops marked UNROLL or UPCAST, and those that index registers, written out. */
RD_CHECKED rd_status cc_prog_unroll(const struct cc_prog *p, struct cc_prog **out);
/* What no effect needs, dropped; equal pure operations of one scope joined. */
RD_CHECKED rd_status cc_prog_clean(const struct cc_prog *p, struct cc_prog **out);
/* BARRIER where LDS is read after it was written, or the other way round. */
RD_CHECKED rd_status cc_prog_barriers(const struct cc_prog *p, struct cc_prog **out);

#endif
