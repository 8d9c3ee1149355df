/* imm_mem.c: immediates of memory instructions that have a syntax of their own:
 * swizzles and buffer formats.
 * SPDX-License-Identifier: MIT
 */
#include "stmt.h"

/* ---- swizzle(mode, ...) of ds_swizzle_b32 ---- */

/* ", N" with N in [low, high] */
static bool swizzle_number(struct stmt *s, int64_t low, int64_t high, int64_t *value)
{
    if (!st_take(s, ','))
        return st_fail(s, ST_E_COMMA);
    st_blanks(s);
    const char *at = s->p;
    if (!st_absolute(s, value))
        return false;
    return (*value >= low && *value <= high) || st_fail_at(s, at, ST_E_SWIZZLE);
}

/* ", N" with N a power of two */
static bool swizzle_group(struct stmt *s, int64_t low, int64_t high, int64_t *value)
{
    const char *at = s->p;
    if (!swizzle_number(s, low, high, value))
        return false;
    return (*value & (*value - 1)) == 0 || st_fail_at(s, at, ST_E_SWIZZLE);
}

/* Five letters, the highest lane bit first: 0, 1, p (keep), i (invert). */
static bool swizzle_mask(struct stmt *s, int32_t *out)
{
    uint32_t and_mask = 0, or_mask = 0, xor_mask = 0;
    if (!st_take(s, ','))
        return st_fail(s, ST_E_COMMA);
    st_blanks(s);
    if (s->end - s->p < 7 || s->p[0] != '"' || s->p[6] != '"')
        return st_fail(s, ST_E_SWIZZLE);
    for (unsigned i = 0; i < 5; i++) {
        uint32_t bit = 16u >> i;
        switch (s->p[1 + i]) {
        case '0':
            break;
        case '1':
            or_mask |= bit;
            break;
        case 'p':
            and_mask |= bit;
            break;
        case 'i':
            and_mask |= bit;
            xor_mask |= bit;
            break;
        default:
            return st_fail(s, ST_E_SWIZZLE);
        }
    }
    s->p += 7;
    *out = (int32_t)(and_mask | or_mask << 5 | xor_mask << 10);
    return true;
}

static bool swizzle_mode(struct stmt *s, const char *mode, size_t len, int32_t *out)
{
    int64_t group, lane;
    if (ST_IS(mode, len, "QUAD_PERM")) {
        uint32_t packed = 0x8000;
        for (unsigned i = 0; i < 4; i++) {
            if (!swizzle_number(s, 0, 3, &lane))
                return false;
            packed |= (uint32_t)lane << 2 * i;
        }
        *out = (int32_t)packed;
    } else if (ST_IS(mode, len, "BITMASK_PERM")) {
        return swizzle_mask(s, out);
    } else if (ST_IS(mode, len, "BROADCAST")) {
        if (!swizzle_group(s, 2, 32, &group) || !swizzle_number(s, 0, group - 1, &lane))
            return false;
        *out = (int32_t)(32 - group) | (int32_t)lane << 5;
    } else if (ST_IS(mode, len, "SWAP")) {
        if (!swizzle_group(s, 1, 16, &group))
            return false;
        *out = 31 | (int32_t)group << 10;
    } else if (ST_IS(mode, len, "REVERSE")) {
        if (!swizzle_group(s, 2, 32, &group))
            return false;
        *out = 31 | (int32_t)(group - 1) << 10;
    } else {
        return st_fail_arg(s, mode, ST_E_NAME, mode, len);
    }
    return true;
}

bool st_swizzle(struct stmt *s, int32_t *value)
{
    s->p += 7; /* "swizzle" */
    s->swizzle = true;
    if (!st_take(s, '('))
        return st_fail(s, ST_E_OPEN_PAREN);
    st_blanks(s);
    const char *mode = s->p;
    size_t len = st_name(s, mode);
    s->p += len;
    return swizzle_mode(s, mode, len, value) &&
           (st_take(s, ')') || st_fail(s, ST_E_PAREN));
}

/* ---- format: of MTBUF ---- */

/* The unified format made of a data format and a number format: their names joined. */
static int join_formats(const char *data, size_t data_len, const char *number,
                        size_t number_len)
{
    char name[64] = "BUF_FMT_";
    size_t len = 8;
    if (data_len + number_len + len + 1 > sizeof name)
        return -1;
    memcpy(name + len, data, data_len);
    len += data_len;
    if (ST_IS(data, data_len, "INVALID"))
        return ST_IS(number, number_len, "UNORM") ? 0 : -1;
    name[len++] = '_';
    memcpy(name + len, number, number_len);
    return isa_imm_find(ISA_IMM_MTBUF_FORMAT, name, len + number_len);
}

#define DATA   "BUF_DATA_FORMAT_"
#define NUMBER "BUF_NUM_FORMAT_"

static bool split_format(struct stmt *s, int32_t *value)
{
    const char *data = "8", *number = "UNORM", *at = s->p;
    size_t data_len = 1, number_len = 5;
    unsigned seen = 0;
    do {
        st_blanks(s);
        const char *name = s->p;
        size_t len = st_name(s, name);
        unsigned which = 0;
        if (len >= sizeof DATA && memcmp(name, DATA, sizeof DATA - 1) == 0) {
            data = name + sizeof DATA - 1;
            data_len = len - (sizeof DATA - 1);
            which = 1;
        } else if (len > sizeof NUMBER &&
                   memcmp(name, NUMBER, sizeof NUMBER - 1) == 0) {
            number = name + sizeof NUMBER - 1;
            number_len = len - (sizeof NUMBER - 1);
            which = 2;
        }
        if (which == 0 || (seen & which))
            return st_fail_at(s, name, ST_E_FORMAT);
        seen |= which;
        s->p += len;
    } while (st_take(s, ','));
    *value = join_formats(data, data_len, number, number_len);
    return *value >= 0 || st_fail_at(s, at, ST_E_FORMAT);
}

bool st_format(struct stmt *s, int32_t *value)
{
    const char *at = s->p;
    int64_t number;
    if (!st_take(s, '[')) {
        if (!st_absolute(s, &number))
            return false;
        *value = (int32_t)number;
        return (number >= 0 && number <= 127) || st_fail_at(s, at, ST_E_RANGE);
    }
    st_blanks(s);
    size_t len = st_name(s, s->p);
    *value = isa_imm_find(ISA_IMM_MTBUF_FORMAT, s->p, len);
    if (*value >= 0)
        s->p += len;
    else if (!split_format(s, value))
        return false;
    return st_take(s, ']') || st_fail(s, ST_E_BRACKET);
}
