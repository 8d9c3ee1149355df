/* mod.c: modifiers behind the operands.
 *
 * Which ones an encoding takes is a table here; whether the row takes them and what
 * they mean together is decided by match*.c. They come in one order, as LLVM has it, so
 * that none can be given twice. SPDX-License-Identifier: MIT
 */
#include "stmt.h"

#include <string.h>

#define B(mod) ST_BIT(ST_M_##mod)
#define DPP_MODS                                                                       \
    (B(DPP_CTRL) | B(DPP8) | B(ROW_MASK) | B(BANK_MASK) | B(BOUND_CTRL) | B(FI))
#define BUFFER_MODS (B(IDXEN) | B(OFFEN) | B(OFFSET) | B(CACHE) | B(TFE))

uint32_t st_mods_of(unsigned enc)
{
    static const uint32_t all[ISA_ENC_COUNT] = {
        [ISA_ENC_SMEM] = B(OFFSET) | B(CACHE),
        [ISA_ENC_VOP1] = DPP_MODS,
        [ISA_ENC_VOP2] = DPP_MODS,
        [ISA_ENC_VOPC] = DPP_MODS,
        [ISA_ENC_VOP3] = B(OP_SEL) | B(CLAMP) | B(OMOD) | DPP_MODS,
        [ISA_ENC_VOP3SD] = B(CLAMP) | B(OMOD) | DPP_MODS,
        [ISA_ENC_VOP3P] =
            B(OP_SEL) | B(OP_SEL_HI) | B(NEG_LO) | B(NEG_HI) | B(CLAMP) | DPP_MODS,
        [ISA_ENC_VINTERP] = B(CLAMP) | B(OP_SEL) | B(WAIT_EXP),
        [ISA_ENC_LDSDIR] = B(WAIT_VDST),
        [ISA_ENC_DS] = B(OFFSET) | B(OFFSET0) | B(OFFSET1) | B(GDS),
        [ISA_ENC_FLAT] = B(OFFSET) | B(CACHE),
        [ISA_ENC_GLOBAL] = B(OFFSET) | B(CACHE),
        [ISA_ENC_SCRATCH] = B(OFFSET) | B(CACHE),
        [ISA_ENC_MUBUF] = BUFFER_MODS,
        [ISA_ENC_MTBUF] = BUFFER_MODS | B(FORMAT),
        [ISA_ENC_MIMG] = B(DMASK) | B(DIM) | B(UNORM) | B(CACHE) | B(R128) | B(A16) |
                         B(TFE) | B(LWE) | B(D16),
        [ISA_ENC_EXP] = B(DONE) | B(ROW_EN),
    };
    return all[enc];
}

/* What follows a modifier's name. */
enum form {
    FLAG,   /* nothing; "no" before the name clears it */
    NUMBER, /* :N in [0, limit] */
    BITS,   /* :[0,1,...] */
    CTRL,   /* :N, a DPP control at base + N */
    OTHER,
};

struct spelling {
    char name[16];
    uint8_t len, mod, form;
    uint16_t low, limit; /* of a NUMBER or CTRL */
    uint16_t base;       /* CTRL: control; FLAG: ISA_M_* bit of a cache modifier */
};

#define S(name, mod, form, low, limit, base)                                           \
    {name, sizeof(name) - 1, ST_M_##mod, form, low, limit, base}
static const struct spelling spellings[] = {
    /* by first letter, see by_letter */
    S("a16", A16, FLAG, 0, 0, 0),
    S("bank_mask", BANK_MASK, NUMBER, 0, 15, 0),
    S("bound_ctrl", BOUND_CTRL, NUMBER, 0, 1, 0),
    S("clamp", CLAMP, FLAG, 0, 0, 0),
    S("dlc", CACHE, FLAG, 0, 0, ISA_M_DLC),
    S("dpp8", DPP8, OTHER, 0, 0, 0),
    S("dmask", DMASK, NUMBER, 0, 15, 0),
    S("dim", DIM, OTHER, 0, 0, 0),
    S("div", OMOD, OTHER, 0, 0, 0),
    S("d16", D16, FLAG, 0, 0, 0),
    S("done", DONE, FLAG, 0, 0, 0),
    S("fi", FI, NUMBER, 0, 1, 0),
    S("format", FORMAT, OTHER, 0, 0, 0),
    S("glc", CACHE, FLAG, 0, 0, ISA_M_GLC),
    S("gds", GDS, FLAG, 0, 0, 0),
    S("idxen", IDXEN, FLAG, 0, 0, 0),
    S("inst_offset", OFFSET, OTHER, 0, 0, 0),
    S("lwe", LWE, FLAG, 0, 0, 0),
    S("mul", OMOD, OTHER, 0, 0, 0),
    S("neg_lo", NEG_LO, BITS, 0, 0, 0),
    S("neg_hi", NEG_HI, BITS, 0, 0, 0),
    S("offset", OFFSET, OTHER, 0, 0, 0),
    S("op_sel", OP_SEL, BITS, 0, 0, 0),
    S("op_sel_hi", OP_SEL_HI, BITS, 0, 0, 0),
    S("offen", OFFEN, FLAG, 0, 0, 0),
    S("offset0", OFFSET0, NUMBER, 0, 255, 0),
    S("offset1", OFFSET1, NUMBER, 0, 255, 0),
    S("quad_perm", DPP_CTRL, OTHER, 0, 0, 0),
    S("row_mask", ROW_MASK, NUMBER, 0, 15, 0),
    S("row_shl", DPP_CTRL, CTRL, 1, 15, 0x100),
    S("row_shr", DPP_CTRL, CTRL, 1, 15, 0x110),
    S("row_ror", DPP_CTRL, CTRL, 1, 15, 0x120),
    S("row_share", DPP_CTRL, CTRL, 0, 15, 0x150),
    S("row_xmask", DPP_CTRL, CTRL, 0, 15, 0x160),
    S("row_mirror", DPP_CTRL, OTHER, 0, 0, 0x140),
    S("row_half_mirror", DPP_CTRL, OTHER, 0, 0, 0x141),
    S("r128", R128, FLAG, 0, 0, 0),
    S("row_en", ROW_EN, FLAG, 0, 0, 0),
    S("slc", CACHE, FLAG, 0, 0, ISA_M_SLC),
    S("tfe", TFE, FLAG, 0, 0, 0),
    S("unorm", UNORM, FLAG, 0, 0, 0),
    S("wait_exp", WAIT_EXP, NUMBER, 0, 7, 0),
    S("wait_vdst", WAIT_VDST, NUMBER, 0, 15, 0),
};
#undef S

/* The spellings that begin with a letter: first, count. */
static const uint8_t by_letter[26][2] = {
    ['a' - 'a'] = {0, 1},   ['b' - 'a'] = {1, 2},  ['c' - 'a'] = {3, 1},
    ['d' - 'a'] = {4, 7},   ['f' - 'a'] = {11, 2}, ['g' - 'a'] = {13, 2},
    ['i' - 'a'] = {15, 2},  ['l' - 'a'] = {17, 1}, ['m' - 'a'] = {18, 1},
    ['n' - 'a'] = {19, 2},  ['o' - 'a'] = {21, 6}, ['q' - 'a'] = {27, 1},
    ['r' - 'a'] = {28, 10}, ['s' - 'a'] = {38, 1}, ['t' - 'a'] = {39, 1},
    ['u' - 'a'] = {40, 1},  ['w' - 'a'] = {41, 2},
};

/* "[a,b,...]", between least and most elements, each at most limit. */
static bool read_list(struct stmt *s, unsigned least, unsigned most, int64_t limit,
                      uint32_t values[8], unsigned *n, const struct spelling *sp)
{
    if (!st_take(s, '['))
        return st_fail(s, ST_E_OPEN_BRACKET);
    for (*n = 0; *n < most;) {
        st_blanks(s);
        const char *at = s->p;
        int64_t value;
        if (!st_absolute(s, &value))
            return false;
        if (value < 0 || value > limit)
            return st_fail_arg(s, at, ST_E_MOD_VALUE, sp->name, sp->len);
        values[(*n)++] = (uint32_t)value;
        if (*n >= least && st_take(s, ']'))
            return true;
        if (*n < most && !st_take(s, ','))
            return st_fail(s, ST_E_COMMA);
    }
    return st_fail(s, ST_E_BRACKET);
}

static bool read_packed(struct stmt *s, unsigned least, unsigned most, unsigned width,
                        const struct spelling *sp, int32_t *out)
{
    uint32_t values[8] = {0};
    unsigned n = 0;
    if (!read_list(s, least, most, (1 << width) - 1, values, &n, sp))
        return false;
    uint32_t packed = 0;
    for (unsigned i = 0; i < n; i++)
        packed |= values[i] << width * i;
    *out = (int32_t)packed;
    return true;
}

/* "SQ_RSRC_IMG_2D", "2D" or a number; the text may begin with a digit. */
static bool read_dim(struct stmt *s, const struct spelling *sp, int32_t *out)
{
    const char *start = s->p;
    while (s->p < s->end && st_is_name((unsigned char)*s->p))
        s->p++;
    size_t len = (size_t)(s->p - start);
    char name[32] = "SQ_RSRC_IMG_";
    size_t prefix = strlen(name);
    int value = isa_imm_find(ISA_IMM_MIMG_DIM, start, len);
    if (value < 0 && len < sizeof name - prefix) {
        memcpy(name + prefix, start, len);
        value = isa_imm_find(ISA_IMM_MIMG_DIM, name, prefix + len);
    }
    *out = value;
    return value >= 0 || st_fail_arg(s, start, ST_E_MOD_VALUE, sp->name, sp->len);
}

static bool read_omod(struct stmt *s, const struct spelling *sp, int32_t *out)
{
    const char *at = s->p;
    int64_t value;
    if (!st_absolute(s, &value))
        return false;
    bool div = sp->name[0] == 'd';
    if (value == 1)
        *out = 0;
    else if (value == 2)
        *out = div ? 3 : 1;
    else if (value == 4 && !div)
        *out = 2;
    else
        return st_fail_arg(s, at, ST_E_MOD_VALUE, sp->name, sp->len);
    return true;
}

static bool read_number(struct stmt *s, const struct spelling *sp, int32_t *out)
{
    const char *at = s->p;
    int64_t value;
    if (!st_absolute(s, &value))
        return false;
    if (value < sp->low || value > sp->limit)
        return st_fail_arg(s, at, ST_E_MOD_VALUE, sp->name, sp->len);
    *out = (int32_t)(value + sp->base);
    return true;
}

/* offset:N; its range depends on the encoding, here it must only fit. */
static bool read_offset(struct stmt *s, int32_t *out)
{
    const char *at = s->p;
    int64_t value;
    if (ST_IS(s->p, st_name(s, s->p), "swizzle"))
        return st_swizzle(s, out);
    if (!st_absolute(s, &value))
        return false;
    if (value < INT32_MIN || value > INT32_MAX)
        return st_fail_at(s, at, ST_E_RANGE);
    *out = (int32_t)value;
    return true;
}

static bool read_other(struct stmt *s, const struct spelling *sp, int32_t *out)
{
    switch (sp->mod) {
    case ST_M_OFFSET:
        return read_offset(s, out);
    case ST_M_FORMAT:
        return st_format(s, out);
    case ST_M_DPP_CTRL: /* quad_perm */
        return read_packed(s, 4, 4, 2, sp, out);
    case ST_M_DPP8:
        return read_packed(s, 8, 8, 3, sp, out);
    case ST_M_DIM:
        return read_dim(s, sp, out);
    default:
        return read_omod(s, sp, out);
    }
}

static bool read_value(struct stmt *s, const struct spelling *sp, int32_t *out)
{
    if (sp->mod == ST_M_DPP_CTRL && sp->base >= 0x140 && sp->base < 0x150) {
        *out = sp->base;
        return true;
    }
    if (!st_take(s, ':'))
        return st_fail(s, ST_E_COLON);
    st_blanks(s);
    switch (sp->form) {
    case NUMBER:
    case CTRL:
        return read_number(s, sp, out);
    case BITS:
        return read_packed(s, 1, 4, 1, sp, out);
    default:
        return read_other(s, sp, out);
    }
}

/* May mod follow last? VINTERP has clamp before op_sel, others op_sel before clamp. */
static bool in_order(const struct stmt *s, unsigned mod)
{
    unsigned last = s->last_mod;
    if (s->has == 0)
        return true;
    if (s->enc == ISA_ENC_VINTERP && mod <= ST_M_CLAMP && last <= ST_M_CLAMP)
        return mod < last;
    return mod > last;
}

/* glc, slc, dlc (and nodlc...) come together in any order. */
static int cache_flag(struct stmt *s, const struct spelling *sp, const char *at,
                      bool set)
{
    int32_t bit = sp->base, seen = bit << 16;
    if (!(s->has & ST_BIT(ST_M_CACHE))) {
        s->mod[ST_M_CACHE] = 0;
    } else if (s->mod[ST_M_CACHE] & seen) {
        st_fail_arg(s, at, ST_E_MOD_TWICE, sp->name, sp->len);
        return -1;
    }
    s->mod[ST_M_CACHE] |= seen | (set ? bit : 0);
    return 1;
}

static int accept(struct stmt *s, const struct spelling *sp, const char *start,
                  bool set)
{
    bool more_cache = sp->mod == ST_M_CACHE && s->has != 0 && s->last_mod == ST_M_CACHE;
    if (!more_cache && !in_order(s, sp->mod)) {
        st_fail_arg(s, start,
                    s->has & ST_BIT(sp->mod) ? ST_E_MOD_TWICE : ST_E_MOD_ORDER,
                    sp->name, sp->len);
        return -1;
    }
    if (sp->mod == ST_M_CACHE) {
        if (cache_flag(s, sp, start, set) < 0)
            return -1;
    } else if (sp->form == FLAG) {
        s->mod[sp->mod] = set;
    } else if (!read_value(s, sp, &s->mod[sp->mod])) {
        return -1;
    }
    s->has |= ST_BIT(sp->mod);
    s->mod_at[sp->mod] = (uint32_t)(start - s->text);
    s->last_mod = sp->mod;
    return 1;
}

/* The modifier called name, among those the mnemonic may have, or NULL. */
static const struct spelling *find(const struct stmt *s, const char *name, size_t len)
{
    unsigned letter = (unsigned)name[0] - 'a';
    if (letter >= 26)
        return NULL;
    const struct spelling *sp = &spellings[by_letter[letter][0]];
    for (unsigned n = by_letter[letter][1]; n != 0; n--, sp++)
        if (sp->len == len && memcmp(sp->name, name, len) == 0 &&
            (s->allowed & ST_BIT(sp->mod)))
            return sp;
    return NULL;
}

const char *st_modifier_word(unsigned i)
{
    return i < sizeof spellings / sizeof spellings[0] ? spellings[i].name : NULL;
}

int st_modifier(struct stmt *s)
{
    const char *start = s->p;
    size_t len = st_name(s, start);
    if (len < 2)
        return 0;
    const struct spelling *sp = find(s, start, len);
    bool set = true;
    if (sp == NULL && len > 4 && start[0] == 'n' && start[1] == 'o') {
        sp = find(s, start + 2, len - 2);
        set = false;
        if (sp != NULL &&
            (sp->form != FLAG || sp->mod == ST_M_IDXEN || sp->mod == ST_M_OFFEN))
            sp = NULL; /* those are words, not flags */
    }
    if (sp == NULL)
        return 0;
    s->p += len;
    return accept(s, sp, start, set);
}
