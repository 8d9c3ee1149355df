/* number.c: whole numbers, and what can be wrong with an expression.
 *
 * Invariant: the cursor never passes the end. SPDX-License-Identifier: MIT
 */
#include "expr.h"

#include <string.h>

bool ex_fail(struct ex *e, const char *at, enum ex_error error)
{
    if (e->error == EX_OK) {
        e->error = (uint8_t)error;
        e->at = at;
    }
    return false;
}

const char *ex_error_text(unsigned error)
{
    static const char *const texts[] = {
        [EX_OK] = "",
        [EX_E_OPERAND] = "expected an expression",
        [EX_E_NUMBER] = "malformed number",
        [EX_E_DIGITS] = "number without digits",
        [EX_E_64] = "number does not fit 64 bits",
        [EX_E_128] = "number does not fit 128 bits",
        [EX_E_CHARACTER] = "malformed character constant",
        [EX_E_DIVIDE] = "division by zero",
        [EX_E_ALIGN] = "alignto() of a negative number",
        [EX_E_CODE_SIZE] = "instprefsize() of a negative number",
        [EX_E_ALIGN_ARGS] = "alignto() takes two arguments",
        [EX_E_ARGUMENTS] = "wrong number of arguments",
        [EX_E_DEPTH] = "expression is nested too deep",
        [EX_E_PAREN] = "expected ')'",
        [EX_E_USER] = "",
    };
    return error < sizeof texts / sizeof texts[0] ? texts[error] : "";
}

bool ex_in_name(char c)
{
    char lower = (char)(c | 0x20);
    return (lower >= 'a' && lower <= 'z') || ex_digit(c) < 10 ||
           (c != '\0' && strchr("_$.@?", c) != NULL);
}

/* The base, its prefix skipped. "0b" may be a numeric label. */
static unsigned number_base(struct ex *e)
{
    const char *p = e->p;
    if (*p != '0' || e->end - p < 2)
        return 10;
    char c = (char)(p[1] | 0x20);
    char next = e->end - p > 2 ? p[2] : '\0';
    bool binary = c == 'b' && (next == '0' || next == '1');
    if (c == 'x' || binary) {
        e->p += 2;
        return binary ? 2 : 16;
    }
    return ex_digit(p[1]) < 10 ? 8 : 10;
}

/* C's U, L and LL behind a number mean nothing. */
static void skip_suffix(struct ex *e)
{
    static const char letters[3] = "ull";
    for (unsigned i = 0; i < 3; i++)
        if (e->p < e->end && (*e->p | 0x20) == letters[i])
            e->p++;
}

bool ex_number(struct ex *e, uint64_t *low, uint64_t *high)
{
    const char *start = e->p;
    unsigned base = number_base(e);
    const char *digits = e->p;
    uint64_t lo = 0, hi = 0;
    for (; e->p < e->end; e->p++) {
        unsigned d = ex_digit(*e->p);
        if (d >= base)
            break;
        if (hi == 0 && lo < UINT64_MAX / 16) {
            lo = lo * base + d;
            continue;
        }
        unsigned __int128 less = (unsigned __int128)lo * base + d;
        unsigned __int128 more = (unsigned __int128)hi * base + (uint64_t)(less >> 64);
        if (more >> 64)
            return ex_fail(e, start, EX_E_128);
        lo = (uint64_t)less;
        hi = (uint64_t)more;
    }
    if (e->p == digits)
        return ex_fail(e, start, EX_E_DIGITS);
    if (hi != 0 && high == NULL)
        return ex_fail(e, start, EX_E_64);
    skip_suffix(e);
    *low = lo;
    if (high != NULL)
        *high = hi;
    return true;
}
