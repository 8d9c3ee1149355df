/* opnd.c: one operand of a statement: register, number, expression, with |x|, -x
 * and their spelt forms; or the special syntax that the operand's type demands.
 *
 * Knows no encodings. Whether the operand fits is decided by match.c.
 * SPDX-License-Identifier: MIT
 */
#include "stmt.h"

#include <string.h>

/* Is name next? Then skip it and the opening parenthesis that must follow. */
static bool take_call(struct stmt *s, const char *name, size_t len)
{
    if (!st_same(s->p, st_name(s, s->p), name, len))
        return false;
    s->p += len;
    if (!st_take(s, '('))
        st_fail(s, ST_E_OPEN_PAREN);
    return true;
}

/* Does a register, a list, |x|, abs( or neg( follow the minus sign? Then it is a
 * modifier; before a number it is part of the number. */
static bool minus_is_modifier(struct stmt *s)
{
    const char *start = s->p++;
    st_blanks(s);
    bool yes = st_peek(s) == '|' || st_peek(s) == '[';
    if (!yes && st_is_name_start(st_peek(s))) {
        struct st_opnd o = {0};
        struct stmt probe = *s; /* costly, but a minus before a name is rare */
        size_t len = st_name(s, s->p);
        yes = ST_IS(s->p, len, "abs") || ST_IS(s->p, len, "neg") ||
              st_register(&probe, &o) != 0;
    }
    s->p = start;
    return yes;
}

static bool register_or_number(struct stmt *s, struct st_opnd *o, bool primary)
{
    st_blanks(s);
    int found = st_register(s, o);
    if (found != 0)
        return found > 0;
    return st_number(s, o, primary);
}

/* The spelt modifiers around an operand, outermost first: - neg( abs( lit( | lit(. */
struct wrap {
    bool minus, neg, abs, lit, bar, sext;
    bool inner; /* lit( stands behind the bar */
};

/* "--", with or without a blank: no number where a minus may be a modifier. */
static bool doubled_minus(const struct stmt *s)
{
    const char *p = s->p + 1;
    while (p < s->end && (*p == ' ' || *p == '\t'))
        p++;
    return p < s->end && *p == '-';
}

static bool open_wrap(struct stmt *s, struct wrap *w)
{
    if (st_peek(s) == '-') {
        if (doubled_minus(s) && st_negates(s))
            return st_fail(s, ST_E_MINUS_MINUS);
        if (minus_is_modifier(s)) {
            w->minus = true;
            s->p++;
            st_blanks(s);
        }
    }
    if (st_is_name_start(st_peek(s))) {
        const char *start = s->p;
        w->sext = take_call(s, "sext", 4);
        w->neg = !w->sext && take_call(s, "neg", 3);
        if (w->neg && w->minus)
            return st_fail_at(s, start, ST_E_OPERAND);
        st_blanks(s);
        w->abs = !w->sext && take_call(s, "abs", 3);
        st_blanks(s);
        w->lit = !w->sext && take_call(s, "lit", 3);
        st_blanks(s);
        if (s->error != ST_E_NONE)
            return false;
    }
    if (st_peek(s) == '|') {
        if (w->abs || w->sext)
            return st_fail(s, ST_E_OPERAND);
        w->bar = true;
        s->p++;
        st_blanks(s);
        if (!w->lit)
            w->lit = w->inner = take_call(s, "lit", 3);
    }
    return true;
}

static bool close_wrap(struct stmt *s, const struct wrap *w)
{
    if (w->inner && !st_take(s, ')'))
        return st_fail(s, ST_E_PAREN);
    if (w->bar && !st_take(s, '|'))
        return st_fail(s, ST_E_BAR);
    unsigned open = (unsigned)w->abs + w->neg + (w->lit && !w->inner) + w->sext;
    for (; open != 0; open--)
        if (!st_take(s, ')'))
            return st_fail(s, ST_E_PAREN);
    return true;
}

static bool wrapped(struct stmt *s, struct st_opnd *o)
{
    struct wrap w = {0};
    if (!open_wrap(s, &w) || !register_or_number(s, o, w.bar))
        return false;
    if (w.lit && o->kind == ST_REG)
        return st_fail_at(s, s->text + o->at, ST_E_IMM);
    if (!close_wrap(s, &w))
        return false;
    bool any = w.minus || w.neg || w.abs || w.bar || w.sext;
    /* LLVM refuses them, but only bare; hardware has them. */
    bool zero_flag =
        o->kind == ST_REG && (o->sel == ISA_SEL_VCCZ || o->sel == ISA_SEL_EXECZ);
    if (zero_flag && !any)
        return st_fail_at(s, s->text + o->at, ST_E_ZERO_FLAG);
    if (any && o->kind == ST_EXPR)
        return st_fail_at(s, s->text + o->at, ST_E_SYMBOL);
    o->mods |=
        (uint8_t)((w.minus || w.neg ? ST_NEG : 0) | (w.abs || w.bar ? ST_ABS : 0) |
                  (w.sext ? ST_SEXT : 0) | (w.lit ? ST_LIT : 0));
    return true;
}

/* Is what was read from start on one name or local label (1f, 2b)? */
static bool is_label(const struct stmt *s, const char *start)
{
    const char *p = start;
    while (p < s->p && (st_is_name((unsigned char)*p) || *p == '"'))
        p++;
    while (p < s->p && (*p == ' ' || *p == '\t'))
        p++;
    return p == s->p || *start == '"';
}

/* An immediate in simm16: a number of 16 bits, or an expression resolved later. */
static bool plain_immediate(struct stmt *s, struct st_opnd *o, unsigned type)
{
    if (!st_number(s, o, false))
        return false;
    if (o->kind == ST_FLOAT)
        return st_fail_at(s, s->text + o->at, ST_E_IMM);
    bool label = type == ISA_OPR_LABEL;
    if (o->kind == ST_EXPR)
        return !label || is_label(s, s->text + o->at) ||
               st_fail_at(s, s->text + o->at, ST_E_LABEL);
    if (o->value < -32768 || o->value > 65535)
        return st_fail_at(s, s->text + o->at, label ? ST_E_JUMP : ST_E_RANGE16);
    o->kind = ST_IMM;
    return true;
}

/* Operands whose type has a syntax of its own. */
static bool typed(struct stmt *s, struct st_opnd *o, unsigned type)
{
    switch (type) {
    case ISA_OPR_HWREG:
        return st_hwreg(s, o);
    case ISA_OPR_SENDMSG:
        return st_sendmsg(s, o);
    case ISA_OPR_WAITCNT:
        return st_waitcnt(s, o);
    case ISA_OPR_WAITCNT_DEPCTR:
        return st_depctr(s, o);
    case ISA_OPR_DELAY:
        return st_delay(s, o);
    case ISA_OPR_VERSION:
        return st_version(s, o);
    case ISA_OPR_TGT:
        return st_target(s, o);
    case ISA_OPR_ATTR:
        return st_attribute(s, o);
    default:
        return plain_immediate(s, o, type);
    }
}

bool st_has_syntax(unsigned type)
{
    switch (type) {
    case ISA_OPR_ATTR:
    case ISA_OPR_CLAUSE:
    case ISA_OPR_DELAY:
    case ISA_OPR_HWREG:
    case ISA_OPR_LABEL:
    case ISA_OPR_SENDMSG:
    case ISA_OPR_SIMM16:
    case ISA_OPR_TGT:
    case ISA_OPR_VERSION:
    case ISA_OPR_WAITCNT:
    case ISA_OPR_WAITCNT_DEPCTR:
        return true;
    default:
        return false;
    }
}

/* "[v1, v[2:4], v9]": the separate registers of an image address. */
static bool address_list(struct stmt *s)
{
    s->p++;
    unsigned first = s->n_opnds;
    do {
        if (s->n_opnds == ST_MAX_OPNDS)
            return st_fail(s, ST_E_TOO_MANY);
        struct st_opnd *o = &s->opnd[s->n_opnds];
        st_blanks(s);
        *o = (struct st_opnd){.at = (uint32_t)(s->p - s->text), .mods = ST_LIST};
        int found = st_register(s, o);
        if (found == 0)
            return st_fail(s, ST_E_REGISTER);
        if (found < 0)
            return false;
        s->n_opnds++;
    } while (st_take(s, ','));
    if (!st_take(s, ']'))
        return st_fail(s, ST_E_BRACKET);
    if (s->n_opnds == first + 1)
        s->opnd[first].mods = 0; /* [v1] is v1 */
    return true;
}

/* v12, s3, v[0:1], s[4:7] with a comma, a blank or the end behind: nearly all
 * registers. Whatever is unusual is left to st_register. */
static bool quick_register(struct stmt *s, struct st_opnd *o)
{
    const char *p = s->p, *end = s->end;
    if (end - p < 2 || (*p != 'v' && *p != 's'))
        return false;
    bool vector = *p++ == 'v', range = *p == '[';
    unsigned first = 0, last = 0;
    p += range;
    const char *digits = p;
    for (; p < end && st_is_digit((unsigned char)*p); p++)
        first = first * 10 + (unsigned)(*p - '0');
    if (p == digits || p - digits > 3)
        return false;
    last = first;
    if (range && p < end && *p == ':') {
        digits = ++p;
        for (last = 0; p < end && st_is_digit((unsigned char)*p); p++)
            last = last * 10 + (unsigned)(*p - '0');
        if (p == digits || p - digits > 3)
            return false;
    }
    if (range && (p >= end || *p++ != ']'))
        return false;
    unsigned dwords = last - first + 1, align = dwords > 2 ? 4 : dwords;
    if ((p < end && *p != ',' && *p != ' ') || last < first || dwords > 8 ||
        last > (vector ? 255u : 105u) || (!vector && (first & (align - 1)) != 0))
        return false;
    s->p = p;
    o->kind = ST_REG;
    o->dwords = (uint8_t)dwords;
    o->sel = (uint16_t)(first + (vector ? ISA_SEL_VGPR0 : ISA_SEL_SGPR0));
    return true;
}

bool st_operand(struct stmt *s, const struct isa_opnd_desc *desc)
{
    if (s->n_opnds == ST_MAX_OPNDS)
        return st_fail(s, ST_E_TOO_MANY);
    if (s->image && s->n_opnds == 1 && st_peek(s) == '[')
        return address_list(s);
    struct st_opnd *o = &s->opnd[s->n_opnds];
    *o = (struct st_opnd){.at = (uint32_t)(s->p - s->text)};
    bool ok;
    if (quick_register(s, o)) {
        ok = true;
    } else if (desc != NULL && st_has_syntax(desc->type)) {
        ok = typed(s, o, desc->type);
    } else if (s->enc >= ISA_ENC_FLAT && ST_IS(s->p, st_name(s, s->p), "off")) {
        o->kind = ST_OFF;
        s->p += 3;
        ok = true;
    } else {
        int c = st_peek(s);
        bool plain =
            st_is_digit(c) || ((c == 'v' || c == 's') && s->end - s->p > 1 &&
                               (st_is_digit((unsigned char)s->p[1]) || s->p[1] == '['));
        ok = plain ? register_or_number(s, o, false) : wrapped(s, o);
    }
    s->n_opnds += ok;
    return ok;
}
