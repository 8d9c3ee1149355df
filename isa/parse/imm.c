/* imm.c: immediates with a syntax of their own, the counterpart of print/imm.c.
 *
 * Each function leaves the field's value in o (kind IMM); all but labels may also be
 * plain numbers. Knows fields and names, not instructions.
 * SPDX-License-Identifier: MIT
 */
#include "stmt.h"

#include <string.h>

static bool set(struct st_opnd *o, uint32_t value)
{
    o->kind = ST_IMM;
    o->value = value;
    return true;
}

/* Is "NAME (" next? */
static bool is_call(const struct stmt *s)
{
    const char *p = s->p + st_name(s, s->p);
    if (p == s->p)
        return false;
    while (p < s->end && (*p == ' ' || *p == '\t'))
        p++;
    return p < s->end && *p == '(';
}

/* A number that must fit in 16 bits. */
static bool number16(struct stmt *s, struct st_opnd *o, bool is_signed)
{
    const char *at = s->p;
    int64_t value;
    if (!st_absolute(s, &value))
        return false;
    if (value < (is_signed ? -32768 : 0) || value > 65535)
        return st_fail_at(s, at, ST_E_RANGE16);
    return set(o, (uint32_t)value & 0xffff);
}

static bool open_paren(struct stmt *s)
{
    return st_take(s, '(') || st_fail(s, ST_E_OPEN_PAREN);
}

static bool close_paren(struct stmt *s)
{
    return st_take(s, ')') || st_fail(s, ST_E_PAREN);
}

/* ---- counters: "name(value)" separated by blanks, commas or '&' ---- */

#define WAIT_ALL   0xfff7u /* every counter at its maximum */
#define DEPCTR_ALL 0xff9fu

/* What a list of counters may do: saturate ("vmcnt_sat"), name a counter twice. */
struct counter_set {
    unsigned type; /* enum isa_opnd_type */
    bool saturate, once;
};

static const struct isa_imm_part *find_part(unsigned type, const char *name, size_t len,
                                            unsigned *index)
{
    unsigned n;
    const struct isa_imm_part *parts = isa_imm_parts(type, &n);
    for (unsigned i = 0; i < n; i++)
        if (st_same(name, len, parts[i].name, strlen(parts[i].name))) {
            *index = i;
            return &parts[i];
        }
    return NULL;
}

static const struct isa_imm_part *find_counter(const struct counter_set *set_of,
                                               const char *name, size_t len,
                                               bool *saturated, unsigned *index)
{
    *saturated = false;
    if (set_of->saturate && len > 4 && memcmp(name + len - 4, "_sat", 4) == 0) {
        *saturated = true;
        len -= 4;
    }
    return find_part(set_of->type, name, len, index);
}

static bool one_counter(struct stmt *s, const struct counter_set *set_of, uint32_t *imm,
                        uint32_t *seen)
{
    st_blanks(s);
    const char *name = s->p;
    size_t len = st_name(s, name);
    bool saturated;
    unsigned index;
    const struct isa_imm_part *c = find_counter(set_of, name, len, &saturated, &index);
    if (c == NULL)
        return st_fail_arg(s, name, ST_E_NAME, name, len);
    uint32_t bit = 1u << index;
    if (set_of->once && (*seen & bit))
        return st_fail_arg(s, name, ST_E_DUPLICATE, name, len);
    *seen |= bit;
    s->p += len;
    int64_t value;
    if (!open_paren(s))
        return false;
    st_blanks(s);
    const char *at = s->p;
    if (!st_absolute(s, &value))
        return false;
    uint32_t limit = (1u << c->width) - 1;
    if (saturated && (value < 0 || value > limit))
        value = limit;
    if (value < 0 || value > limit)
        return st_fail_arg(s, at, ST_E_MOD_VALUE, name, len);
    *imm = (*imm & ~(limit << c->shift)) | (uint32_t)value << c->shift;
    return close_paren(s);
}

static bool counters(struct stmt *s, struct st_opnd *o,
                     const struct counter_set *set_of, uint32_t all)
{
    uint32_t imm = all, seen = 0;
    if (!is_call(s))
        return number16(s, o, true);
    do {
        if (!one_counter(s, set_of, &imm, &seen))
            return false;
        bool separator = st_take(s, '&') || st_take(s, ',');
        st_blanks(s);
        if (separator && s->p == s->end)
            return st_fail(s, ST_E_NAME);
    } while (s->p < s->end);
    return set(o, imm);
}

bool st_waitcnt(struct stmt *s, struct st_opnd *o)
{
    static const struct counter_set all = {ISA_OPR_WAITCNT, true, false};
    return counters(s, o, &all, WAIT_ALL);
}

bool st_depctr(struct stmt *s, struct st_opnd *o)
{
    static const struct counter_set all = {ISA_OPR_WAITCNT_DEPCTR, false, true};
    return counters(s, o, &all, DEPCTR_ALL);
}

/* ---- s_delay_alu ---- */

static bool one_delay(struct stmt *s, uint32_t *imm)
{
    st_blanks(s);
    const char *name = s->p;
    size_t len = st_name(s, name);
    unsigned index;
    const struct isa_imm_part *part = find_part(ISA_OPR_DELAY, name, len, &index);
    if (part == NULL)
        return st_fail_arg(s, name, ST_E_NAME, name, len);
    s->p += len;
    if (!open_paren(s))
        return false;
    st_blanks(s);
    size_t value_len = st_name(s, s->p);
    int value = isa_imm_find(part->kind, s->p, value_len);
    if (value < 0)
        return st_fail_arg(s, s->p, ST_E_NAME, s->p, value_len);
    s->p += value_len;
    *imm |= (uint32_t)value << part->shift;
    return close_paren(s);
}

bool st_delay(struct stmt *s, struct st_opnd *o)
{
    uint32_t imm = 0;
    if (!is_call(s) && !st_is_name_start(st_peek(s)))
        return number16(s, o, true);
    do {
        if (!one_delay(s, &imm))
            return false;
    } while (st_take(s, '|'));
    return set(o, imm);
}

/* ---- hwreg(id, offset, size), {id: I, offset: O, size: S} ---- */

struct hwreg {
    int64_t id, offset, size;
};

static bool pack_hwreg(struct stmt *s, struct st_opnd *o, const char *at,
                       const struct hwreg *h)
{
    if (h->id < 0 || h->id > 63 || h->offset < 0 || h->offset > 31 || h->size < 1 ||
        h->size > 32)
        return st_fail_at(s, at, ST_E_RANGE);
    return set(o, (uint32_t)(h->id | h->offset << 6 | (h->size - 1) << 11));
}

/* A hardware register's name or number. */
static bool hwreg_id(struct stmt *s, int64_t *id)
{
    st_blanks(s);
    size_t len = st_name(s, s->p);
    if (len > 7 && memcmp(s->p, "HW_REG_", 7) == 0) {
        *id = isa_imm_find(ISA_IMM_HWREG, s->p, len);
        if (*id < 0)
            return st_fail_arg(s, s->p, ST_E_NAME_HERE, s->p, len);
        s->p += len;
        return true;
    }
    return st_absolute(s, id);
}

/* "id: 5"; seen: a bit for each field that was there already. */
static bool hwreg_field(struct stmt *s, struct hwreg *h, unsigned *seen)
{
    st_blanks(s);
    const char *name = s->p;
    size_t len = st_name(s, name);
    unsigned which = ST_IS(name, len, "id")       ? 1
                     : ST_IS(name, len, "offset") ? 2
                     : ST_IS(name, len, "size")   ? 4
                                                  : 0;
    if (which == 0)
        return st_fail_arg(s, name, ST_E_NAME, name, len);
    if (*seen & which)
        return st_fail_arg(s, name, ST_E_DUPLICATE, name, len);
    *seen |= which;
    s->p += len;
    if (!st_take(s, ':'))
        return st_fail(s, ST_E_COLON);
    return st_absolute(s, which == 1 ? &h->id : which == 2 ? &h->offset : &h->size);
}

/* Fields in any order, each at most once, perhaps none; numbers only, as in LLVM. */
static bool hwreg_fields(struct stmt *s, struct st_opnd *o)
{
    struct hwreg h = {0, 0, 32};
    unsigned seen = 0;
    const char *at = s->p++;
    if (!st_take(s, '}')) {
        do
            if (!hwreg_field(s, &h, &seen))
                return false;
        while (st_take(s, ','));
        if (!st_take(s, '}'))
            return st_fail(s, ST_E_COMMA);
    }
    return pack_hwreg(s, o, at, &h);
}

bool st_hwreg(struct stmt *s, struct st_opnd *o)
{
    const char *at = s->p;
    if (st_peek(s) == '{')
        return hwreg_fields(s, o);
    if (!is_call(s) || !ST_IS(at, st_name(s, at), "hwreg"))
        return number16(s, o, false);
    struct hwreg h = {0, 0, 32};
    s->p += 5;
    if (!open_paren(s) || !hwreg_id(s, &h.id))
        return false;
    if (st_take(s, ',')) {
        if (!st_absolute(s, &h.offset))
            return false;
        if (!st_take(s, ','))
            return st_fail(s, ST_E_COMMA);
        if (!st_absolute(s, &h.size))
            return false;
    }
    return close_paren(s) && pack_hwreg(s, o, at, &h);
}

/* ---- sendmsg(message, operation, stream) ---- */

#define MSG_SYSMSG 15

static const struct {
    char name[28];
    uint8_t len;
    bool system; /* operation of MSG_SYSMSG, else of geometry messages */
    uint8_t value;
} operations[] = {
    {"GS_OP_NOP", 9, false, 0},
    {"GS_OP_CUT", 9, false, 1},
    {"GS_OP_EMIT", 10, false, 2},
    {"GS_OP_EMIT_CUT", 14, false, 3},
    {"SYSMSG_OP_ECC_ERR_INTERRUPT", 27, true, 1},
    {"SYSMSG_OP_REG_RD", 16, true, 2},
    {"SYSMSG_OP_TTRACE_PC", 19, true, 4},
};

struct message {
    int64_t id, op, stream;
    bool named, has_op, has_stream;
};

static bool message_id(struct stmt *s, struct message *m)
{
    st_blanks(s);
    size_t len = st_name(s, s->p);
    m->named = len > 4 && memcmp(s->p, "MSG_", 4) == 0;
    if (!m->named)
        return st_absolute(s, &m->id);
    m->id = ST_IS(s->p, len, "MSG_SYSMSG") ? MSG_SYSMSG
                                           : isa_imm_find(ISA_IMM_SENDMSG, s->p, len);
    if (m->id < 0)
        return st_fail_arg(s, s->p, ST_E_NAME_HERE, s->p, len);
    s->p += len;
    return true;
}

static bool message_op(struct stmt *s, struct message *m)
{
    st_blanks(s);
    m->has_op = true;
    size_t len = st_name(s, s->p);
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (operations[i].system != (m->id == MSG_SYSMSG) ||
            !st_same(s->p, len, operations[i].name, operations[i].len))
            continue;
        m->op = operations[i].value;
        s->p += len;
        return true;
    }
    if (len > 0 && (memcmp(s->p, "SYSMSG_OP_", len < 10 ? len : 10) == 0))
        return st_fail_arg(s, s->p, ST_E_NAME_HERE, s->p, len);
    return st_absolute(s, &m->op);
}

/* A message by name must be complete and right, by number it must only fit. */
static bool check_message(struct stmt *s, const char *at, const struct message *m)
{
    if (m->id < 0 || m->id > 255 || m->op < 0 || m->op > 7 || m->stream < 0 ||
        m->stream > 3)
        return st_fail_at(s, at, ST_E_RANGE);
    if (!m->named)
        return true;
    if (m->has_op != (m->id == MSG_SYSMSG))
        return st_fail_at(s, at, ST_E_MSG_OP);
    if (m->has_op && (m->op < 1 || m->op > 4))
        return st_fail_at(s, at, ST_E_MSG_OP);
    return !m->has_stream || st_fail_at(s, at, ST_E_MSG_STREAM);
}

bool st_sendmsg(struct stmt *s, struct st_opnd *o)
{
    const char *at = s->p;
    if (!is_call(s) || !ST_IS(at, st_name(s, at), "sendmsg"))
        return number16(s, o, false);
    struct message m = {0};
    s->p += 7;
    if (!open_paren(s) || !message_id(s, &m))
        return false;
    if (st_take(s, ',')) {
        if (!message_op(s, &m))
            return false;
        m.has_stream = st_take(s, ',');
        if (m.has_stream && !st_absolute(s, &m.stream))
            return false;
    }
    if (!close_paren(s) || !check_message(s, at, &m))
        return false;
    return set(o, (uint32_t)(m.id | m.op << 4 | m.stream << 8));
}

/* ---- s_version ---- */

/* The names are those of numbers and may be anywhere in an expression. */
bool st_version(struct stmt *s, struct st_opnd *o)
{
    return number16(s, o, true);
}

int st_version_name(const char *name, size_t len)
{
    static const struct {
        char name[20];
        uint16_t value;
    } flags[] = {
        {"UC_VERSION_W64_BIT", 0x2000},
        {"UC_VERSION_W32_BIT", 0x4000},
        {"UC_VERSION_MDP_BIT", 0x8000},
    };
    if (len < 11 || memcmp(name, "UC_VERSION_", 11) != 0)
        return -1;
    for (size_t i = 0; i < 3; i++)
        if (st_same(name, len, flags[i].name, strlen(flags[i].name)))
            return flags[i].value;
    return isa_imm_find(ISA_IMM_UC_VERSION, name, len);
}

/* ---- export targets, attributes ---- */

bool st_target(struct stmt *s, struct st_opnd *o)
{
    size_t len = st_name(s, s->p);
    int value = len != 0 ? isa_imm_find(ISA_IMM_EXP_TGT, s->p, len) : -1;
    if (value < 0)
        return st_fail(s, ST_E_TARGET);
    s->p += len;
    return set(o, (uint32_t)value);
}

/* attrN.C: one name, as a dot may be in names. */
bool st_attribute(struct stmt *s, struct st_opnd *o)
{
    const char *p = s->p, *end = p + st_name(s, p);
    static const char channels[] = "xyzw";
    uint32_t number = 0;
    if (end - p < 7 || memcmp(p, "attr", 4) != 0 || end[-2] != '.')
        return st_fail(s, ST_E_ATTR);
    const char *channel = strchr(channels, end[-1]);
    for (p += 4; p < end - 2; p++) {
        if (!st_is_digit((unsigned char)*p) || number > 99)
            return st_fail(s, ST_E_ATTR);
        number = number * 10 + (uint32_t)(*p - '0');
    }
    if (channel == NULL || *channel == '\0' || number > 32)
        return st_fail(s, ST_E_ATTR);
    s->p = end;
    o->chan = (uint8_t)(channel - channels);
    return set(o, number);
}
