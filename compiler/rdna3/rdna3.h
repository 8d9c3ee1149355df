/* rdna3.h: machine code under construction, for the files of the RDNA3 back end.
 *
 * Instructions are forms ("v_add_f32 %0, %1, %2", see form.h) over virtual registers
 * until registers are allocated.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_RDNA3_H
#define RD_CC_RDNA3_H

#include "form.h"
#include "prog.h"

#define MI_OPNDS 8

enum mi_opnd_kind { MI_NONE, MI_REG, MI_IMM, MI_EXEC };

struct mi_opnd {
    uint8_t kind;  /* enum mi_opnd_kind */
    uint8_t sub;   /* first dword of the register */
    uint8_t width; /* dwords */
    uint32_t reg;  /* virtual register */
    int64_t imm;   /* 32 bits, as they are */
};

struct mi {
    uint8_t n_def; /* operands written: the first ones */
    const struct mi_form *form;
    struct mi_opnd opnd[MI_OPNDS];
    uint32_t label; /* MI_LABEL, MI_BRANCH */
    uint32_t next;  /* while instructions are chosen: index of the next one */
};

struct vreg {
    bool vector;         /* VGPR */
    bool mask;           /* one bit per lane: may be vcc_lo */
    uint8_t width;       /* dwords */
    uint32_t begin, end; /* instructions */
    bool used, brief;    /* brief: of one instruction, for a value in scratch */
    bool fixed;          /* set at launch */
    int phys;            /* -1: none yet */
};

/* A loop in the instructions. */
struct mi_loop {
    uint32_t begin, end;
};

/* A register that a loop adds to at the end of each pass. */
struct rdna3_step {
    struct rdna3_step *next;
    struct mi_opnd reg;
    int64_t by;
};

/* A loop while instructions are chosen; number 0 is the kernel. */
struct rdna3_scope {
    uint32_t parent, depth;
    uint32_t range;    /* its operation */
    uint32_t before;   /* instruction after which what it needs can be computed */
    uint32_t if_depth; /* IFs around it */
    struct rdna3_step *steps;
};

struct rdna3 {
    const struct cc_prog *p;
    struct cc_arena arena;
    struct mi_forms forms;
    struct mi *code;
    uint32_t n_code, cap_code;
    uint32_t cursor; /* instructions are put after this one; 0: a first, empty one */
    struct rdna3_scope *scopes;
    uint32_t n_scopes, cap_scopes;
    uint32_t scope;    /* innermost open loop */
    uint32_t if_depth; /* IFs that are open */
    uint32_t *home;    /* of each operation: the loop that its value belongs to */
    uint32_t *same;    /* of each operation: the first one that computes the same */
    bool *known;       /* its value is in a register */
    struct rdna3_sum *sums; /* parts of addresses that are in registers */
    struct rdna3_base *bases;
    struct mi_opnd *param;  /* of each PARAM: its address, an SGPR pair */
    struct mi_opnd *packed; /* of f16 LOADs: the dword that holds them */
    uint8_t *half;          /* and which half of it, + 1 */
    bool *done;             /* LOADs and STOREs that came with another */
    uint32_t **group_list;  /* of the last of STOREs that are done at once: all */
    uint8_t *group_count;
    struct rdna3_wmma **wmma; /* of each WMMA */
    struct rdna3_slot *slots; /* of each f16 LOAD */
    struct fragment *fragments;
    struct vreg *regs;
    uint32_t n_regs, cap_regs;
    struct mi_loop *loops;
    uint32_t n_loops, cap_loops;
    uint32_t n_labels;
    struct mi_opnd *value; /* of each operation */
    uint32_t *uses, *last_use, *block;
    bool *fused;               /* computed inside its only user */
    struct rdna3_place *place; /* of each LOAD and STORE */
    struct mi_opnd *dest; /* of an operation: the register element it is stored to */
    struct mi_opnd **elements; /* of register buffers */
    int64_t *lds_offset;       /* of LDS buffers */
    int64_t lds_bytes;
    uint32_t kernarg, group[3], item[3]; /* + 1; 0: not used */
    uint32_t groups[3], blocks[3];
    unsigned sgprs, vgprs; /* used */
    unsigned scratch_bytes;
    uint32_t failed_at; /* instruction where registers ran out */
    bool failed_vector; /* which */
    bool thrifty;       /* with SGPRs */
    rd_status status;
    char *error;
};

void rdna3_fail(struct rdna3 *r, rd_status status, uint32_t at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

uint32_t rdna3_reg(struct rdna3 *r, bool vector, unsigned width);
uint32_t rdna3_mask(struct rdna3 *r);
/* What the text says; on failure nothing, and the program is given up. */
const struct mi_form *rdna3_form_of(struct rdna3 *r, const char *text);
/* The form of an operation and its operands, without modifiers. */
const struct mi_form *rdna3_plain(struct rdna3 *r, unsigned op, unsigned sources);
/* Append; operands in the template's order. */
struct mi *rdna3_mi(struct rdna3 *r, const char *text, unsigned n_def, unsigned n,
                    const struct mi_opnd *opnd);
/* The same with the operands one by one. */
#define RDNA3_PUT(r, text, n_def, ...)                                                 \
    rdna3_mi(r, text, n_def,                                                           \
             sizeof((struct mi_opnd[]){__VA_ARGS__}) / sizeof(struct mi_opnd),         \
             (const struct mi_opnd[]){__VA_ARGS__})

/* The following instructions go to where values of a loop are computed: before the next
 * loop inside it. Undone by rdna3_leave with what rdna3_enter gave. */
uint32_t rdna3_enter(struct rdna3 *r, uint32_t scope);
void rdna3_leave(struct rdna3 *r, uint32_t scope, uint32_t before);
uint32_t rdna3_open_scope(struct rdna3 *r, uint32_t range);
/* The inner one of two open loops. */
uint32_t rdna3_inner(const struct rdna3 *r, uint32_t a, uint32_t b);
/* Instructions in their final order. */
void rdna3_order(struct rdna3 *r);

static inline struct mi_opnd mi_reg(const struct rdna3 *r, uint32_t reg)
{
    return (struct mi_opnd){.kind = MI_REG, .width = r->regs[reg].width, .reg = reg};
}

static inline struct mi_opnd mi_imm(int64_t v)
{
    return (struct mi_opnd){.kind = MI_IMM, .imm = v};
}

static inline bool mi_is(const struct mi *m, enum isa_op op)
{
    return m->form->op == op && m->form->plain;
}

/* Of the vector ALU? */
static inline bool mi_is_valu(const struct mi_form *f)
{
    return f->op != ISA_OP_NONE && f->facts->pipe <= ISA_PIPE_VNONE;
}

/* One dword of an operand. */
struct mi_opnd mi_part(struct mi_opnd o, unsigned part);
bool mi_is_vector(const struct rdna3 *r, struct mi_opnd o);
bool mi_is_scalar(const struct rdna3 *r, struct mi_opnd o);
/* A constant that does not fit into an operand's field: one more dword. */
bool mi_is_literal(struct mi_opnd o);

/* ---- alu.c ---- */

void rdna3_alu(struct rdna3 *r, uint32_t at);
/* An operand moved to where it must be. */
struct mi_opnd rdna3_to_vector(struct rdna3 *r, struct mi_opnd o, unsigned width);
/* A bool as one bit per lane. */
struct mi_opnd rdna3_to_mask(struct rdna3 *r, struct mi_opnd o);
/* A bool as 0 or 1 in a VGPR. */
struct mi_opnd rdna3_from_mask(struct rdna3 *r, struct mi_opnd o);
/* Emit with one destination of the given register; scalar operands are legalised. */
void rdna3_op(struct rdna3 *r, const char *text, struct mi_opnd dst, unsigned n,
              const struct mi_opnd *src);

/* ---- between choice and registers: peep.c, sched.c ---- */

/* Does code never move past it? */
bool rdna3_is_edge(const struct mi *m);
void rdna3_peep(struct rdna3 *r);
void rdna3_schedule(struct rdna3 *r);

/* ---- after registers: pair.c ---- */

void rdna3_pair(struct rdna3 *r);
/* The first of a register's dwords and the number after the last, among VGPRs or SGPRs.
 */
static inline unsigned mi_first(const struct rdna3 *r, const struct mi_opnd *o)
{
    return (unsigned)r->regs[o->reg].phys + o->sub;
}
static inline unsigned mi_last(const struct rdna3 *r, const struct mi_opnd *o)
{
    return mi_first(r, o) + (o->width ? o->width : 1u);
}

/* ---- alloc.c, wait.c ---- */

void rdna3_drop_dead(struct rdna3 *r);
void rdna3_allocate(struct rdna3 *r);
/* Text of the code, with the waits that it needs. */
void rdna3_print_code(struct rdna3 *r, struct cc_text *t);

/* Make room where an allocation failed; false if that is not possible. */
bool rdna3_spill(struct rdna3 *r);
/* From chosen instructions to final ones, with registers. */
void rdna3_finish(struct rdna3 *r);

/* ---- text.c ---- */

/* The whole text: code, descriptor, metadata. */
RD_CHECKED rd_status rdna3_print(struct rdna3 *r, char **text);

#endif
