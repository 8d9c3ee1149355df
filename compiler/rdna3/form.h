/* form.h: what the text of an instruction says.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_RDNA3_FORM_H
#define RD_CC_RDNA3_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "facts.h"
#include "isa.h"

/* How the compiler treats an instruction; follows from its facts. */
enum mi_kind {
    MI_ALU,
    MI_VLOAD,  /* vmcnt */
    MI_VSTORE, /* vscnt */
    MI_SLOAD,  /* lgkmcnt, any order */
    MI_LDS,    /* lgkmcnt */
    MI_LABEL,
    MI_BRANCH,
    MI_BARRIER,
    MI_END,
};

/* One per text: "v_fma_f32 %0, -%1, %2, %3". */
struct mi_form {
    struct mi_form *next;
    const char *text;
    const struct isa_facts *facts; /* of op */
    uint16_t op;                   /* enum isa_op; of a VOPD its X half */
    uint8_t kind;                  /* enum mi_kind */
    uint8_t n;                     /* operands in the text */
    uint8_t negated;               /* bit i: operand i has a sign before it */
    bool plain; /* the operation's name, then its operands in order: nothing else */
    bool dpp;
};

struct mi_forms {
    struct mi_form *bucket[64];
};

/* The form of a text, which is kept. NULL if out of memory or if there is no such
 * instruction; "" is a label. */
const struct mi_form *rdna3_form(struct mi_forms *forms, struct cc_arena *arena,
                                 const char *text);

/* The text of a plain form: name, a destination, sources. text: size bytes */
void rdna3_plain_text(unsigned op, unsigned sources, char *text, size_t size);

#endif
