/* reg.c: registers, ranges v[0:3] and lists [v0,v1].
 *
 * Knows names, sizes and the alignment of scalar tuples; which operand takes which
 * register is decided later.
 * SPDX-License-Identifier: MIT
 */
#include "stmt.h"

enum status { OK, GONE, NO_OPERAND };

static const struct {
    char name[26];
    uint8_t len;
    uint8_t dwords; /* 0: any number */
    uint8_t status;
    uint16_t sel;
} specials[] = {
#define S(name, sel, dwords, status) {name, sizeof(name) - 1, dwords, status, sel}
    S("vcc_lo", ISA_SEL_VCC_LO, 1, OK),
    S("vcc", ISA_SEL_VCC_LO, 2, OK),
    S("exec_lo", ISA_SEL_EXEC_LO, 1, OK),
    S("exec", ISA_SEL_EXEC_LO, 2, OK),
    S("m0", ISA_SEL_M0, 1, OK),
    S("null", ISA_SEL_NULL, 0, OK),
    S("vcc_hi", ISA_SEL_VCC_HI, 1, OK),
    S("exec_hi", ISA_SEL_EXEC_HI, 1, OK),
    S("src_scc", ISA_SEL_SCC, 0, OK),
    S("scc", ISA_SEL_SCC, 0, OK),
    S("src_shared_base", ISA_SEL_SHARED_BASE, 0, OK),
    S("shared_base", ISA_SEL_SHARED_BASE, 0, OK),
    S("src_shared_limit", ISA_SEL_SHARED_LIMIT, 0, OK),
    S("shared_limit", ISA_SEL_SHARED_LIMIT, 0, OK),
    S("src_private_base", ISA_SEL_PRIVATE_BASE, 0, OK),
    S("private_base", ISA_SEL_PRIVATE_BASE, 0, OK),
    S("src_private_limit", ISA_SEL_PRIVATE_LIMIT, 0, OK),
    S("private_limit", ISA_SEL_PRIVATE_LIMIT, 0, OK),
    S("src_pops_exiting_wave_id", 0, 0, GONE),
    S("pops_exiting_wave_id", 0, 0, GONE),
    S("src_vccz", ISA_SEL_VCCZ, 0, OK),
    S("vccz", ISA_SEL_VCCZ, 0, OK),
    S("src_execz", ISA_SEL_EXECZ, 0, OK),
    S("execz", ISA_SEL_EXECZ, 0, OK),
    S("src_lds_direct", 0, 0, NO_OPERAND),
    S("lds_direct", 0, 0, NO_OPERAND),
    S("flat_scratch", 0, 0, GONE),
    S("flat_scratch_lo", 0, 0, GONE),
    S("flat_scratch_hi", 0, 0, GONE),
    S("src_flat_scratch_base_lo", 0, 0, GONE),
    S("src_flat_scratch_base_hi", 0, 0, GONE),
    S("xnack_mask", 0, 0, GONE),
    S("xnack_mask_lo", 0, 0, GONE),
    S("xnack_mask_hi", 0, 0, GONE),
    S("tba", 0, 0, GONE),
    S("tba_lo", 0, 0, GONE),
    S("tba_hi", 0, 0, GONE),
    S("tma", 0, 0, GONE),
    S("tma_lo", 0, 0, GONE),
    S("tma_hi", 0, 0, GONE),
#undef S
};

const char *st_special_word(unsigned i)
{
    while (i < sizeof specials / sizeof specials[0] && specials[i].status != OK)
        i++;
    return i < sizeof specials / sizeof specials[0] ? specials[i].name : NULL;
}

/* The banks that are numbered. */
struct bank {
    uint16_t first; /* selector of register 0 */
    uint16_t count;
    uint8_t prefix; /* characters of the name */
};

static const struct bank vector_bank = {ISA_SEL_VGPR0, 256, 1};
static const struct bank scalar_bank = {ISA_SEL_SGPR0, 106, 1};
static const struct bank trap_bank = {ISA_SEL_TTMP0, 16, 4};
static const struct bank no_bank = {0, 0, 1};

/* The bank whose prefix begins the text, followed by a digit or a bracket. */
static const struct bank *bank_of(const struct stmt *s)
{
    const char *p = s->p;
    const struct bank *bank;
    switch (st_peek(s)) {
    case 'v':
        bank = &vector_bank;
        break;
    case 's':
        bank = &scalar_bank;
        break;
    case 't':
        bank = &trap_bank;
        if (s->end - p < 4 || memcmp(p, "ttmp", 4) != 0)
            return NULL;
        break;
    case 'a':
        bank = &no_bank;
        if (s->end - p > 3 && memcmp(p, "acc", 3) == 0 &&
            (p[3] == '[' || st_is_digit(p[3])))
            return bank;
        break;
    default:
        return NULL;
    }
    p += bank->prefix;
    if (p < s->end && st_is_digit((unsigned char)*p))
        return bank;
    while (p < s->end && *p == ' ')
        p++;
    return p < s->end && *p == '[' ? bank : NULL;
}

/* Record a mistake; returns -1. */
static int bad(struct stmt *s, const char *at, enum st_error error)
{
    st_fail_at(s, at, error);
    return -1;
}

/* Numbers of registers that some operand has. */
static bool size_exists(unsigned dwords)
{
    return (dwords >= 1 && dwords <= 12) || dwords == 16 || dwords == 32;
}

static int finish(struct stmt *s, const char *start, const struct bank *bank,
                  uint64_t first, uint64_t dwords, struct st_opnd *o)
{
    if (bank == &no_bank)
        return bad(s, start, ST_E_NO_AGPR);
    if (!size_exists(dwords > 32 ? 0 : (unsigned)dwords))
        return bad(s, start, ST_E_REG_SIZE);
    if (bank != &vector_bank && dwords > 1) {
        unsigned align = dwords == 2 ? 2 : 4;
        if (first % align != 0)
            return bad(s, start, ST_E_REG_ALIGN);
    }
    if (first + dwords > bank->count)
        return bad(s, start, ST_E_REG_INDEX);
    o->kind = ST_REG;
    o->sel = (uint16_t)(bank->first + first);
    o->dwords = (uint8_t)dwords;
    return 1;
}

/* v[FIRST] or v[FIRST:LAST] */
static int range(struct stmt *s, const struct bank *bank, struct st_opnd *o)
{
    const char *start = s->p;
    s->p += bank->prefix;
    while (st_peek(s) != '[')
        s->p++; /* acc[ and blanks: bank_of() has seen the bracket */
    s->p++;
    int64_t first, last;
    if (!st_absolute(s, &first))
        return -1;
    last = first;
    if (st_take(s, ':') && !st_absolute(s, &last))
        return -1;
    if (!st_take(s, ']'))
        return bad(s, s->p, ST_E_BRACKET);
    if (first < 0 || last < 0 || first > 65535 || last > 65535)
        return bad(s, start, ST_E_REG_INDEX);
    if (first > last)
        return bad(s, start, ST_E_REG_ORDER);
    return finish(s, start, bank, (uint64_t)first, (uint64_t)(last - first + 1), o);
}

/* v5, v5.l; 0 if it is a longer name */
static int single(struct stmt *s, const struct bank *bank, struct st_opnd *o)
{
    const char *p = s->p + bank->prefix;
    if (bank == &no_bank && p < s->end && !st_is_digit((unsigned char)*p))
        p += 2; /* acc */
    uint32_t number = 0;
    for (; p < s->end && st_is_digit((unsigned char)*p); p++)
        if (number < 100000)
            number = number * 10 + (uint32_t)(*p - '0');
    if (p < s->end && st_is_name((unsigned char)*p)) {
        bool half = s->end - p > 1 && *p == '.' && (p[1] == 'l' || p[1] == 'h') &&
                    (s->end - p == 2 || !st_is_name((unsigned char)p[2]));
        if (!half)
            return 0;
        if (bank != &vector_bank)
            return bad(s, s->p, bank == &no_bank ? ST_E_NO_AGPR : ST_E_HALF);
        o->mods |= p[1] == 'l' ? ST_LO : ST_HI;
        p += 2;
    }
    const char *start = s->p;
    s->p = p;
    if (number >= bank->count || bank == &no_bank)
        return bad(s, start, bank == &no_bank ? ST_E_NO_AGPR : ST_E_REG_INDEX);
    o->kind = ST_REG;
    o->dwords = 1;
    o->sel = (uint16_t)(bank->first + number);
    return 1;
}

static int special(struct stmt *s, struct st_opnd *o)
{
    size_t len = st_name(s, s->p);
    if (len < 2 || len >= sizeof specials[0].name)
        return 0;
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        if (specials[i].len != len || memcmp(specials[i].name, s->p, len) != 0)
            continue;
        if (specials[i].status != OK) {
            st_fail_arg(s, s->p,
                        specials[i].status == GONE ? ST_E_NO_REG : ST_E_NO_SPECIAL,
                        s->p, len);
            return -1;
        }
        s->p += len;
        o->kind = ST_REG;
        o->sel = specials[i].sel;
        o->dwords = specials[i].dwords;
        return 1;
    }
    return 0;
}

/* May b follow a in a list? vcc_lo, vcc_hi are a pair like s[0:1]. */
static bool same_kind(uint16_t a, uint16_t b)
{
    if (a >= ISA_SEL_VGPR0 || b >= ISA_SEL_VGPR0)
        return a >= ISA_SEL_VGPR0 && b >= ISA_SEL_VGPR0;
    if (a <= ISA_SEL_SGPR_LAST || b <= ISA_SEL_SGPR_LAST)
        return a <= ISA_SEL_SGPR_LAST && b <= ISA_SEL_SGPR_LAST;
    bool trap_a = a >= ISA_SEL_TTMP0 && a < ISA_SEL_NULL;
    bool trap_b = b >= ISA_SEL_TTMP0 && b < ISA_SEL_NULL;
    return trap_a == trap_b;
}

static int list(struct stmt *s, struct st_opnd *o)
{
    const char *start = s->p++;
    struct st_opnd first = {0};
    unsigned n = 0;
    do {
        struct st_opnd next = {0};
        st_blanks(s);
        const char *at = s->p;
        int found = st_peek(s) == '[' ? 0 : st_register(s, &next);
        if (found <= 0)
            return found < 0 ? -1 : bad(s, at, ST_E_REGISTER);
        if (next.dwords > 1 || (next.mods & (ST_LO | ST_HI)))
            return bad(s, at, ST_E_LIST_WIDE);
        if (n == 0)
            first = next;
        else if (!same_kind(first.sel, next.sel))
            return bad(s, at, ST_E_LIST_MIXED);
        else if (next.sel != first.sel + n)
            return bad(s, at, ST_E_LIST_GAP);
        n++;
    } while (n <= 32 && st_take(s, ','));
    if (!st_take(s, ']'))
        return bad(s, s->p, ST_E_BRACKET);
    *o = first;
    if (n == 1)
        return 1;
    if (first.sel >= ISA_SEL_VGPR0)
        return finish(s, start, &vector_bank, first.sel - ISA_SEL_VGPR0, n, o);
    if (first.sel <= ISA_SEL_SGPR_LAST)
        return finish(s, start, &scalar_bank, first.sel, n, o);
    if (first.sel >= ISA_SEL_TTMP0 && first.sel < ISA_SEL_NULL)
        return finish(s, start, &trap_bank, first.sel - ISA_SEL_TTMP0, n, o);
    bool pair = n == 2 && (first.sel == ISA_SEL_VCC_LO || first.sel == ISA_SEL_EXEC_LO);
    o->dwords = 2;
    return pair ? 1 : bad(s, start, ST_E_LIST_GAP);
}

int st_register(struct stmt *s, struct st_opnd *o)
{
    if (st_peek(s) == '[')
        return list(s, o);
    const struct bank *bank = bank_of(s);
    if (bank == NULL)
        return special(s, o);
    const char *p = s->p + bank->prefix;
    if (bank == &no_bank && *p == 'c')
        p += 2;
    if (p < s->end && st_is_digit((unsigned char)*p)) {
        int found = single(s, bank, o);
        return found != 0 ? found : special(s, o);
    }
    return range(s, bank, o);
}
