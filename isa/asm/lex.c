/* lex.c: characters, blanks and comments, names and strings at the cursor.
 *
 * Must not know statements. Invariant: the cursor never passes the end of the frame,
 * and as->line is the line it stands in.
 * SPDX-License-Identifier: MIT
 */
#include "as.h"

#define S  (AS_C_START | AS_C_IDENT)
#define SH (AS_C_START | AS_C_IDENT | AS_C_HEX)
#define D  (AS_C_IDENT | AS_C_DIGIT | AS_C_HEX)

const uint8_t as_class[256] = {
    ['\t'] = AS_C_BLANK, ['\v'] = AS_C_BLANK, ['\f'] = AS_C_BLANK, ['\r'] = AS_C_BLANK,
    [' '] = AS_C_BLANK,  ['$'] = S,           ['.'] = S,           ['_'] = S,
    ['?'] = AS_C_IDENT,  ['@'] = AS_C_IDENT,  ['0'] = D,           ['1'] = D,
    ['2'] = D,           ['3'] = D,           ['4'] = D,           ['5'] = D,
    ['6'] = D,           ['7'] = D,           ['8'] = D,           ['9'] = D,
    ['a'] = SH,          ['b'] = SH,          ['c'] = SH,          ['d'] = SH,
    ['e'] = SH,          ['f'] = SH,          ['A'] = SH,          ['B'] = SH,
    ['C'] = SH,          ['D'] = SH,          ['E'] = SH,          ['F'] = SH,
    ['g'] = S,           ['h'] = S,           ['i'] = S,           ['j'] = S,
    ['k'] = S,           ['l'] = S,           ['m'] = S,           ['n'] = S,
    ['o'] = S,           ['p'] = S,           ['q'] = S,           ['r'] = S,
    ['s'] = S,           ['t'] = S,           ['u'] = S,           ['v'] = S,
    ['w'] = S,           ['x'] = S,           ['y'] = S,           ['z'] = S,
    ['G'] = S,           ['H'] = S,           ['I'] = S,           ['J'] = S,
    ['K'] = S,           ['L'] = S,           ['M'] = S,           ['N'] = S,
    ['O'] = S,           ['P'] = S,           ['Q'] = S,           ['R'] = S,
    ['S'] = S,           ['T'] = S,           ['U'] = S,           ['V'] = S,
    ['W'] = S,           ['X'] = S,           ['Y'] = S,           ['Z'] = S,
};

#undef S
#undef SH
#undef D

/* The cursor stands on a slash and a star. */
static void skip_block_comment(struct as *as)
{
    const char *open = as->p;
    uint32_t lines = 0;
    for (const char *p = open + 2; p + 1 < as->end; p++) {
        lines += *p == '\n';
        if (p[0] == '*' && p[1] == '/') {
            as->p = p + 2;
            as->line += lines;
            return;
        }
    }
    as_error(as, open, "comment is not closed");
    as->p = as->end;
    as->line += lines;
}

void as_blanks(struct as *as)
{
    for (;;) {
        while (as->p < as->end && as_is(*as->p, AS_C_BLANK))
            as->p++;
        if (as->end - as->p < 2 || as->p[0] != '/' || as->p[1] != '*')
            return;
        skip_block_comment(as);
    }
}

bool as_at_end(struct as *as)
{
    as_blanks(as);
    if (as->p == as->end || *as->p == '\n' || *as->p == ';')
        return true;
    return as->end - as->p >= 2 && as->p[0] == '/' && as->p[1] == '/';
}

void as_next_line(struct as *as)
{
    const char *nl = memchr(as->p, '\n', (size_t)(as->end - as->p));
    as->p = nl ? nl + 1 : as->end;
    as->line += nl != NULL;
}

bool as_take(struct as *as, char c)
{
    as_blanks(as);
    if (as->p == as->end || *as->p != c)
        return false;
    as->p++;
    return true;
}

bool as_expect(struct as *as, char c)
{
    if (as_take(as, c))
        return true;
    as_error(as, as->p, "expected '%c'", c);
    return false;
}

bool as_name(struct as *as, const char **name, size_t *len)
{
    as_blanks(as);
    const char *p = as->p;
    if (p == as->end)
        return false;
    if (*p == '"') {
        const char *close = ++p;
        while (close < as->end && *close != '"' && *close != '\n' && *close != '\\')
            close++;
        if (close == as->end || *close != '"')
            return false;
        *name = p;
        *len = (size_t)(close - p);
        as->p = close + 1;
        return true;
    }
    if (!as_is(*p, AS_C_START))
        return false;
    while (p < as->end && as_is(*p, AS_C_IDENT))
        p++;
    *name = as->p;
    *len = (size_t)(p - as->p);
    as->p = p;
    return true;
}

bool as_need_name(struct as *as, const char *what, const char **name, size_t *len)
{
    if (as_name(as, name, len) && *len > 0)
        return true;
    as_error(as, as->p, "expected %s", what);
    return false;
}

static bool fail(struct as *as, const char *at, const char *text)
{
    as->error.at = at;
    memcpy(as->error.text, text, strlen(text) + 1);
    return false;
}

static bool escape_octal(struct as *as, char *out)
{
    unsigned value = 0;
    unsigned n = 0;
    for (; n < 3 && as->p < as->end && *as->p >= '0' && *as->p <= '7'; n++)
        value = value * 8 + (unsigned)(*as->p++ - '0');
    if (n == 0)
        return fail(as, as->p, "unknown escape sequence");
    if (value > 255)
        return fail(as, as->p, "octal escape does not fit a byte");
    *out = (char)value;
    return true;
}

/* One character after a backslash in a string. */
static bool escape(struct as *as, char *out)
{
    static const char letters[] = "b\bf\fn\nr\rt\t\"\"\\\\''";
    if (as->p == as->end)
        return fail(as, as->p, "backslash at the end of the text");
    if (*as->p == 'x' || *as->p == 'X') {
        const char *p = as->p + 1;
        unsigned value = 0;
        if (p == as->end || !as_is(*p, AS_C_HEX))
            return fail(as, as->p, "hexadecimal escape without digits");
        for (; p < as->end && as_is(*p, AS_C_HEX); p++)
            value = (value * 16 + ex_digit(*p)) & 0xff;
        as->p = p;
        *out = (char)value;
        return true;
    }
    for (const char *l = letters; *l; l += 2)
        if (*as->p == l[0]) {
            as->p++;
            *out = l[1];
            return true;
        }
    return escape_octal(as, out);
}

bool as_string(struct as *as, struct as_buf *buf)
{
    as_blanks(as);
    const char *open = as->p;
    if (open == as->end || *open != '"')
        return fail(as, open, "expected a string");
    as->p++;
    for (;;) {
        const char *p = as->p;
        while (p < as->end && *p != '"' && *p != '\\' && *p != '\n')
            p++;
        as_buf_add(buf, as->p, (size_t)(p - as->p));
        as->p = p;
        if (p == as->end || *p == '\n')
            return fail(as, open, "string is not closed");
        as->p++;
        if (*p == '"')
            return true;
        char c;
        if (!escape(as, &c))
            return false;
        as_buf_add(buf, &c, 1);
    }
}

bool as_same_nocase(const char *a, size_t len, const char *b)
{
    if (strlen(b) != len)
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = a[i] >= 'A' && a[i] <= 'Z' ? (char)(a[i] + 32) : a[i];
        if (c != b[i])
            return false;
    }
    return true;
}
