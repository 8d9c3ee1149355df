/* stmt.h: one statement being assembled, shared by the assembler's files.
 *
 * The first files turn text into a struct stmt: operands and modifiers in order,
 * meaning nothing yet. match*.c try the mnemonic's rows on it and fill a struct
 * isa_inst. Failing is cheap and frequent (a compact form that does not take an
 * operand), so a mistake is a code and a place; text is made once, at the end.
 * SPDX-License-Identifier: MIT
 */
#ifndef ISA_STMT_H
#define ISA_STMT_H

#include <string.h>

#include "isa_asm.h"
#include "stmt_errors.h"
#include "tables.h"

#define ST_MAX_OPNDS 20 /* an image address may list 13 registers */

enum st_kind {
    ST_REG,   /* .sel, .dwords */
    ST_INT,   /* .value */
    ST_FLOAT, /* .value: bits of the double */
    ST_EXPR,  /* .value: the caller's handle; resolved later */
    ST_IMM,   /* .value: the field's value, spelt as a named immediate */
    ST_OFF,
};

/* struct st_opnd.mods */
#define ST_ABS  0x01u
#define ST_NEG  0x02u
#define ST_SEXT 0x04u
#define ST_LIT  0x08u /* lit(): must be a literal or constant */
#define ST_LO   0x10u /* v1.l */
#define ST_HI   0x20u /* v1.h */
#define ST_LIST 0x40u /* part of an image address in brackets */

struct st_opnd {
    uint8_t kind;
    uint8_t mods;
    uint8_t dwords;
    uint8_t chan; /* attribute channel */
    uint16_t sel;
    uint32_t at; /* offset in the statement */
    int64_t value;
};

/* Modifiers in the order in which LLVM takes them. */
enum st_mod {
    ST_M_OP_SEL,
    ST_M_OP_SEL_HI,
    ST_M_NEG_LO,
    ST_M_NEG_HI,
    ST_M_CLAMP,
    ST_M_OMOD,
    ST_M_DPP_CTRL,
    ST_M_DPP8,
    ST_M_ROW_MASK,
    ST_M_BANK_MASK,
    ST_M_BOUND_CTRL,
    ST_M_FI,
    ST_M_FORMAT,
    ST_M_IDXEN,
    ST_M_OFFEN,
    ST_M_OFFSET,
    ST_M_OFFSET0,
    ST_M_OFFSET1,
    ST_M_GDS,
    ST_M_DMASK,
    ST_M_DIM,
    ST_M_UNORM,
    ST_M_CACHE, /* glc, slc, dlc in any order: ISA_M_* bits */
    ST_M_R128,
    ST_M_A16,
    ST_M_TFE,
    ST_M_LWE,
    ST_M_D16,
    ST_M_DONE,
    ST_M_ROW_EN,
    ST_M_WAIT_EXP,
    ST_M_WAIT_VDST,
    ST_M_COUNT
};

#define ST_BIT(mod) (1u << (mod))

struct stmt {
    const char *text, *end;
    const char *p; /* next character */
    const struct isa_asm_options *options;
    unsigned n_opnds;
    uint32_t has;     /* ST_BIT() of the modifiers present */
    uint32_t allowed; /* modifiers of the mnemonic's encodings */
    unsigned last_mod;
    uint16_t op;  /* the mnemonic; none in a VOPD */
    uint8_t enc;  /* of the mnemonic's first row */
    bool image;   /* the address may be a list in brackets */
    bool swizzle; /* the offset was written swizzle(...) */
    /* the mistake */
    uint16_t error; /* enum st_error */
    uint32_t error_at;
    const char *arg; /* for %s in the error's text */
    unsigned arg_len;
    struct isa_asm_error *foreign; /* text of the expression callback */
    struct st_opnd opnd[ST_MAX_OPNDS];
    int32_t mod[ST_M_COUNT];
    uint32_t mod_at[ST_M_COUNT];
};

/* ---- characters ---- */

static inline int st_peek(const struct stmt *s)
{
    return s->p < s->end ? (unsigned char)*s->p : 0;
}

static inline void st_blanks(struct stmt *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\t'))
        s->p++;
}

/* Skip blanks and, if it comes next, c. */
static inline bool st_take(struct stmt *s, char c)
{
    st_blanks(s);
    if (s->p >= s->end || *s->p != c)
        return false;
    s->p++;
    return true;
}

/* 1: letters and what may begin a name; 2: digits and what may follow in one */
extern const uint8_t st_char_class[256];

static inline bool st_is_name_start(int c)
{
    return (st_char_class[c & 255] & 1) != 0;
}

static inline bool st_is_name(int c)
{
    return st_char_class[c & 255] != 0;
}

static inline bool st_is_digit(int c)
{
    return c >= '0' && c <= '9';
}

/* Length of the name that begins at p, 0 if none does. */
static inline size_t st_name(const struct stmt *s, const char *p)
{
    const char *start = p;
    if (p >= s->end || !st_is_name_start((unsigned char)*p))
        return 0;
    while (p < s->end && st_is_name((unsigned char)*p))
        p++;
    return (size_t)(p - start);
}

static inline bool st_same(const char *name, size_t len, const char *text, size_t n)
{
    return len == n && memcmp(name, text, n) == 0;
}
#define ST_IS(name, len, text) st_same(name, len, text, sizeof(text) - 1)

/* ---- mistakes ---- */

/* Record the first mistake; returns false. */
static inline bool st_fail_at(struct stmt *s, const char *at, enum st_error error)
{
    if (s->error == ST_E_NONE) {
        s->error = (uint16_t)error;
        s->error_at = (uint32_t)(at - s->text);
    }
    return false;
}

static inline bool st_fail(struct stmt *s, enum st_error error)
{
    return st_fail_at(s, s->p, error);
}

/* The same with a piece of the statement (or static text) in the message. */
bool st_fail_arg(struct stmt *s, const char *at, enum st_error error, const char *arg,
                 size_t len);

/* May a minus be a modifier, in the mnemonic's VOP3 form if there is one? */
bool st_negates(const struct stmt *s);

/* ---- num.c ---- */

/* A number or an expression into o (kind INT, FLOAT or EXPR). primary: no operators
 * outside parentheses, as between vertical bars. */
bool st_number(struct stmt *s, struct st_opnd *o, bool primary);

/* An expression whose value is known. */
bool st_absolute(struct stmt *s, int64_t *value);

/* ---- reg.c ---- */

/* A register, range or list. 1: found, 0: none begins here, -1: a mistake. */
int st_register(struct stmt *s, struct st_opnd *o);
const char *st_special_word(unsigned i); /* NULL behind the last */

/* ---- opnd.c ---- */

/* The next operand, parsed as desc demands (NULL: any register or number). */
bool st_operand(struct stmt *s, const struct isa_opnd_desc *desc);

/* Is an operand of this type (ISA_OPR_...) an immediate with a syntax of its own? */
bool st_has_syntax(unsigned type);

/* ---- mod.c ---- */

/* A modifier of the mnemonic. 1: found, 0: none begins here, -1: a mistake. */
int st_modifier(struct stmt *s);
const char *st_modifier_word(unsigned i); /* NULL behind the last */

uint32_t st_mods_of(unsigned enc);

/* "[BUF_FMT_8_UNORM]", "[BUF_DATA_FORMAT_8, BUF_NUM_FORMAT_UINT]" or a number. */
bool st_format(struct stmt *s, int32_t *value);

/* ---- imm.c ---- */

bool st_hwreg(struct stmt *s, struct st_opnd *o);
bool st_sendmsg(struct stmt *s, struct st_opnd *o);
bool st_waitcnt(struct stmt *s, struct st_opnd *o);
bool st_depctr(struct stmt *s, struct st_opnd *o);
bool st_delay(struct stmt *s, struct st_opnd *o);
bool st_version(struct stmt *s, struct st_opnd *o);
int st_version_name(const char *name, size_t len); /* its value, or -1 */
bool st_target(struct stmt *s, struct st_opnd *o);
bool st_attribute(struct stmt *s, struct st_opnd *o);
bool st_swizzle(struct stmt *s, int32_t *value);

/* ---- match*.c ---- */

/* One row being tried on a statement. */
struct match {
    struct stmt *s;
    const struct isa_row *row;
    struct isa_inst *inst;
    unsigned wave;
    unsigned next;      /* operand of the statement */
    bool literal;       /* inst->literal is taken */
    bool scalar;        /* a scalar register or value was matched */
    bool unresolved;    /* by an expression, handle follows */
    uint8_t fixup_kind; /* enum isa_fixup_kind */
    uint32_t handle;
};

/* Fill m->inst from the statement as row m->row, operands in table order. */
bool st_match(struct match *m);
bool st_match_operand(struct match *m, const struct isa_opnd_desc *desc);
bool st_match_modifiers(struct match *m);

/* A number as the operand's format has it; signs: ST_ABS, ST_NEG to apply to it. */
bool st_match_constant(struct match *m, const struct isa_opnd_desc *desc,
                       const struct st_opnd *o, unsigned signs, struct isa_opnd *out);

/* K of FMAAK and FMAMK, the value of s_setreg_imm32_b32: always a literal dword. */
bool st_match_literal(struct match *m, const struct isa_opnd_desc *desc,
                      const struct st_opnd *o, struct isa_opnd *out);

/* Memory encodings: operands that depend on modifiers. */
bool st_match_memory(struct match *m);
bool st_match_image(struct match *m);

/* Rules over the whole instruction. */
bool st_check(struct match *m);

/* VOPD: both halves. */
bool st_dual(struct stmt *s, unsigned op_x, struct isa_inst *inst, struct match *m);

static inline bool st_is_dpp(const struct isa_inst *inst)
{
    return inst->variant == ISA_VAR_DPP16 || inst->variant == ISA_VAR_DPP8;
}

#endif
