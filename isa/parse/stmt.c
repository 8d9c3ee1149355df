/* stmt.c: one statement to bytes: mnemonic, operands, modifiers, then the rows of
 * the mnemonic in the order of preference: 32-bit form, VOP3, and the same with DPP.
 *
 * Invariant: allocates nothing and keeps no state; on failure code and bytes are as
 * they were and err says what is wrong, and where.
 * SPDX-License-Identifier: MIT
 */
#include "stmt.h"

#include <stdio.h>
#include <string.h>

#include "near.h"

/* ---- mistakes ---- */

bool st_fail_arg(struct stmt *s, const char *at, enum st_error error, const char *arg,
                 size_t len)
{
    if (s->error == ST_E_NONE) {
        s->arg = arg;
        s->arg_len = len < 60 ? (unsigned)len : 60;
    }
    return st_fail_at(s, at, error);
}

static const char *const error_texts[] = {"",
#define X(code, text) text,
                                          ST_ERROR_LIST(X)
#undef X
};

/* Words that a statement can have behind its mnemonic. */
static void try_words(struct rd_near *near)
{
    const char *name;
    for (unsigned i = 0; (name = st_modifier_word(i)); i++)
        rd_near_try(near, name);
    for (unsigned i = 0; (name = st_special_word(i)); i++)
        rd_near_try(near, name);
    rd_near_try(near, "off");
}

/* Names of messages, registers, counters ...: of everything that has a syntax of its
 * own. */
static void try_names(struct rd_near *near)
{
    static const uint8_t types[] = {ISA_OPR_WAITCNT, ISA_OPR_WAITCNT_DEPCTR,
                                    ISA_OPR_DELAY};
    for (unsigned t = 0; t < sizeof types; t++) {
        unsigned n;
        const struct isa_imm_part *part = isa_imm_parts(types[t], &n);
        for (unsigned i = 0; i < n; i++)
            rd_near_try(near, part[i].name);
    }
    for (unsigned kind = 0; kind < ISA_IMM_COUNT; kind++)
        for (unsigned value = 0; value < 256; value++)
            if (isa_imm_name(kind, value))
                rd_near_try(near, isa_imm_name(kind, value));
}

/* A word behind the mnemonic that is almost one that could stand there: a modifier is
 * taken for a symbol when it is misspelt, and what is told then is far from it. */
static void try_others(const struct stmt *s, struct rd_near *found)
{
    const char *p = s->text + st_name(s, s->text);
    while (p < s->end && !found->best) {
        if (!st_is_name_start((unsigned char)*p)) {
            p++;
            continue;
        }
        size_t len = st_name(s, p);
        rd_near_begin(found, p, len);
        if (len > 1 && !st_is_digit((unsigned char)p[len - 1]))
            try_words(found);
        if (found->best && found->least == 0)
            found->best = NULL; /* it is the word */
        p += len;
    }
}

static void find_meant(const struct stmt *s, struct rd_near *near)
{
    rd_near_begin(near, s->arg, s->arg_len);
    switch (s->error) {
    case ST_E_MNEMONIC:
        for (unsigned op = 1; op < isa_op_count(); op++)
            rd_near_try(near, isa_op_name(op));
        break;
    case ST_E_NAME:
    case ST_E_NAME_HERE:
        try_names(near);
        break;
    default:
        near->best = NULL;
        if (!strstr(error_texts[s->error], "%s"))
            try_others(s, near);
        break;
    }
    if (near->best && near->least == 0)
        near->best = NULL;
}

static void add_meant(const struct stmt *s, struct isa_asm_error *err)
{
    struct rd_near near;
    size_t n = strlen(err->text);
    find_meant(s, &near);
    if (near.best)
        snprintf(err->text + n, sizeof err->text - n, "; did you mean '%s'?",
                 near.best);
}

static void put_error(const struct stmt *s, struct isa_asm_error *err)
{
    err->column = s->error_at + 1;
    if (s->error == ST_E_FOREIGN)
        return; /* the callback's words are there already */
    const char *text = error_texts[s->error];
    const char *arg = strstr(text, "%s");
    if (arg == NULL)
        snprintf(err->text, sizeof err->text, "%s", text);
    else
        snprintf(err->text, sizeof err->text, "%.*s%.*s%s", (int)(arg - text), text,
                 (int)s->arg_len, s->arg, arg + 2);
    add_meant(s, err);
}

/* ---- the mnemonic ---- */

/* What a suffix demands. */
struct mnemonic {
    unsigned op;
    bool e32, e64, dpp;
};

/* Length of the name without its suffix. */
static size_t strip_suffix(const char *name, size_t len, struct mnemonic *m)
{
    if (len < 5 || name[len - 4] != '_')
        return len;
    const char *suffix = name + len - 3;
    if (memcmp(suffix, "e64", 3) == 0) {
        m->e64 = true;
    } else if (memcmp(suffix, "e32", 3) == 0) {
        m->e32 = true;
    } else if (memcmp(suffix, "dpp", 3) == 0) {
        m->dpp = true;
        m->e64 = len > 8 && memcmp(name + len - 8, "_e64", 4) == 0;
        return m->e64 ? len - 8 : len - 4;
    } else {
        return len;
    }
    return len - 4;
}

#define MAX_NAME 47

/* The name in lower case, if there is something to change. */
static const char *fold(const char *name, size_t len, char copy[MAX_NAME])
{
    copy[0] = '\0';
    for (size_t i = 0; i < len; i++)
        copy[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] | 32 : name[i]);
    return copy;
}

static bool read_mnemonic(struct stmt *s, struct mnemonic *m)
{
    char copy[MAX_NAME];
    const char *p = s->p, *name = p;
    *m = (struct mnemonic){0};
    if (!st_is_name_start(st_peek(s)))
        return st_fail(s, ST_E_NO_MNEMONIC);
    bool upper = false;
    for (; s->p < s->end && st_is_name((unsigned char)*s->p); s->p++)
        upper |= (unsigned char)(*s->p - 'A') < 26;
    size_t len = (size_t)(s->p - p);
    if (len <= MAX_NAME) {
        if (upper)
            name = fold(p, len, copy);
        m->op = isa_op_find(name, strip_suffix(name, len, m));
        if (m->op != ISA_OP_NONE)
            return true;
    }
    bool sdwa = len > 5 && len <= MAX_NAME && memcmp(name + len - 5, "_sdwa", 5) == 0;
    return st_fail_arg(s, p, sdwa ? ST_E_NO_SDWA : ST_E_MNEMONIC, p, len);
}

/* ---- operands and modifiers ---- */

/* The row's operand that the text's operand number i is; NULL if any will do. */
static const struct isa_opnd_desc *text_operand(const struct isa_row *row, unsigned n)
{
    for (unsigned i = 0; i < row->n_opnds; i++) {
        const struct isa_opnd_desc *desc = &isa_opnds[row->opnds + i];
        if (desc->flags & ISA_OF_IMPLICIT)
            continue;
        if (n-- == 0)
            return desc;
    }
    return NULL;
}

/* Operands have a special syntax only in these encodings. */
static bool has_typed_operands(unsigned enc)
{
    return enc == ISA_ENC_SOPK || enc == ISA_ENC_SOPP || enc == ISA_ENC_SOP1 ||
           enc == ISA_ENC_SMEM || enc == ISA_ENC_LDSDIR || enc == ISA_ENC_EXP;
}

/* MTBUF's format may stand before the last operand. */
static bool may_follow_modifiers(const struct stmt *s)
{
    return s->has == 0 || (s->has == ST_BIT(ST_M_FORMAT) && s->n_opnds == 3);
}

/* Surely a register, then no modifier: v1, s[0:1]. */
static bool is_register(const struct stmt *s)
{
    int c = st_peek(s);
    if ((c != 'v' && c != 's') || s->end - s->p < 2)
        return false;
    return st_is_digit((unsigned char)s->p[1]) || s->p[1] == '[';
}

static bool parse_items(struct stmt *s, const struct isa_row *row)
{
    bool typed = has_typed_operands(row->enc);
    for (;;) {
        st_blanks(s);
        if (s->p >= s->end)
            return true;
        int found = is_register(s) ? 0 : st_modifier(s);
        if (found < 0)
            return false;
        if (found == 0) {
            if (!may_follow_modifiers(s))
                return st_fail(s, ST_E_AFTER_MODS);
            if (!st_operand(s, typed ? text_operand(row, s->n_opnds) : NULL))
                return false;
        }
        st_take(s, ','); /* optional, as in LLVM */
    }
}

/* ---- rows ---- */

struct attempt {
    struct match match;
    uint16_t error;
    uint32_t error_at;
    const char *arg;
    unsigned arg_len;
};

static bool try_row(struct attempt *a, unsigned row, unsigned variant)
{
    struct stmt *s = a->match.s;
    a->match.row = &isa_rows[row - 1];
    if (variant != ISA_VAR_NONE && !(a->match.row->variants >> variant & 1))
        return false;
    a->match.inst->variant = (uint8_t)variant;
    s->error = ST_E_NONE;
    if (st_match(&a->match))
        return true;
    if (a->error == ST_E_NONE || s->error_at >= a->error_at) {
        a->error = s->error;
        a->error_at = s->error_at;
        a->arg = s->arg;
        a->arg_len = s->arg_len;
    }
    return false;
}

/* Does the row answer to _e64, not to _e32? v_readlane_b32 and v_writelane_b32 have
 * only a VOP3 form but LLVM takes them for 32-bit instructions. */
static bool is_vop3(unsigned row)
{
    const struct isa_row *r = &isa_rows[row - 1];
    switch (r->enc) {
    case ISA_ENC_VOP3:
        return r->op != ISA_V_READLANE_B32 && r->op != ISA_V_WRITELANE_B32;
    case ISA_ENC_VOP3SD:
    case ISA_ENC_VOP3P:
    case ISA_ENC_VINTERP:
        return true;
    default:
        return false;
    }
}

static bool match_rows(struct attempt *a, const struct mnemonic *name)
{
    struct stmt *s = a->match.s;
    unsigned variant = s->has & ST_BIT(ST_M_DPP_CTRL) ? ISA_VAR_DPP16
                       : s->has & ST_BIT(ST_M_DPP8)   ? ISA_VAR_DPP8
                                                      : ISA_VAR_NONE;
    enum st_error missing = ST_E_NO_DPP;
    bool any = false;
    for (unsigned i = 0; i < 2; i++) {
        unsigned row = isa_op_rows[name->op][i];
        bool compact = name->e32 || (name->dpp && !name->e64);
        if (row == 0 || (compact && is_vop3(row)) || (name->e64 && !is_vop3(row)))
            continue;
        any = true;
        if (try_row(a, row, variant))
            return true;
    }
    if (a->error == ST_E_NONE) { /* no row was tried */
        size_t len;
        const char *text = isa_op_text(name->op, &len);
        if (!any && !name->dpp)
            missing = name->e32 ? ST_E_NO_E32 : ST_E_NO_E64;
        s->error = ST_E_NONE;
        return st_fail_arg(s, s->text, missing, text, len);
    }
    s->error = a->error;
    s->error_at = a->error_at;
    s->arg = a->arg;
    s->arg_len = a->arg_len;
    return false;
}

/* Suffixes that contradict the modifiers. */
static bool check_suffix(struct stmt *s, const struct mnemonic *name)
{
    bool dpp = (s->has & (ST_BIT(ST_M_DPP_CTRL) | ST_BIT(ST_M_DPP8))) != 0;
    size_t len;
    const char *text = isa_op_text(name->op, &len);
    if (name->dpp && !dpp)
        return st_fail_arg(s, s->end, ST_E_TOO_FEW, text, len);
    if (dpp && !name->dpp && (name->e32 || name->e64))
        return st_fail_arg(s, s->text + s->mod_at[s->last_mod], ST_E_MOD_ROW,
                           s->text + s->mod_at[s->last_mod],
                           st_name(s, s->text + s->mod_at[s->last_mod]));
    return true;
}

/* Mnemonics that LLVM knows and refuses on gfx1100, though hardware has them. */
static bool check_supported(struct stmt *s, const struct mnemonic *name)
{
    bool gone = name->op == ISA_S_ENDPGM_ORDERED_PS_DONE;
    if (!gone && !(name->op == ISA_V_READFIRSTLANE_B32 && name->e64))
        return true;
    size_t len;
    const char *text = isa_op_text(name->op, &len);
    return st_fail_arg(s, s->text, gone ? ST_E_GONE : ST_E_NO_E64, text, len);
}

bool st_negates(const struct stmt *s)
{
    uint32_t mods = 0;
    for (unsigned i = 0; i < 2; i++)
        if (isa_op_rows[s->op][i] != 0 && is_vop3(isa_op_rows[s->op][i]))
            mods |= isa_rows[isa_op_rows[s->op][i] - 1].mods;
    return (mods & (ISA_RM_NEG0 | ISA_RM_NEG1 | ISA_RM_NEG2)) != 0;
}

static bool assemble(struct stmt *s, struct attempt *a, struct isa_inst *inst)
{
    struct mnemonic name;
    st_blanks(s);
    if (!read_mnemonic(s, &name) || !check_supported(s, &name))
        return false;
    unsigned first = isa_op_rows[name.op][0];
    const struct isa_row *row = &isa_rows[first - 1];
    s->enc = row->enc;
    if (row->enc == ISA_ENC_VOPD && (name.e64 || name.dpp)) {
        size_t len;
        const char *text = isa_op_text(name.op, &len);
        return st_fail_arg(s, s->text, name.e64 ? ST_E_NO_E64 : ST_E_NO_DPP, text, len);
    }
    if (row->enc == ISA_ENC_VOPD)
        return st_dual(s, name.op, inst, &a->match);
    s->image = row->enc == ISA_ENC_MIMG;
    s->op = (uint16_t)name.op;
    s->allowed = st_mods_of(row->enc);
    if (isa_op_rows[name.op][1] != 0)
        s->allowed |= st_mods_of(isa_rows[isa_op_rows[name.op][1] - 1].enc);
    return parse_items(s, row) && check_suffix(s, &name) && match_rows(a, &name);
}

rd_status isa_assemble(const char *text, size_t len,
                       const struct isa_asm_options *options, uint8_t *code,
                       unsigned *bytes, struct isa_fixup *fixup,
                       struct isa_asm_error *err)
{
    struct stmt s; /* operands and modifiers are cleared one by one */
    memset(&s, 0, offsetof(struct stmt, opnd));
    struct isa_inst inst;
    s.text = s.p = text;
    s.end = text + len;
    s.options = options;
    s.foreign = err;
    struct attempt a = {.match = {.s = &s, .inst = &inst, .wave = options->wave}};

    if (!assemble(&s, &a, &inst)) {
        put_error(&s, err);
        return RD_E_ENCODING;
    }
    if (isa_encode(&inst, options->wave, code, bytes) != RD_OK) {
        s.error = ST_E_NONE;
        st_fail_at(&s, text, ST_E_ENCODE);
        put_error(&s, err);
        return RD_E_ENCODING;
    }
    *fixup = (struct isa_fixup){0};
    if (a.match.unresolved) {
        fixup->kind = a.match.fixup_kind;
        fixup->handle = a.match.handle;
        fixup->offset = fixup->kind == ISA_FIXUP_ABS32 ? (uint8_t)(*bytes - 4) : 0;
    }
    return RD_OK;
}
