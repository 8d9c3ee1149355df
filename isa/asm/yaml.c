/* yaml.c: parse the part of YAML that kernel metadata is written in.
 *
 * Must not know what the data mean. Invariant: indentation decides structure as in YAML
 * 1.2; what is outside the part is refused, not guessed.
 *
 * Columns count from the line's start. A block node at column c owns all following
 * lines that are indented deeper than its parent. SPDX-License-Identifier: MIT
 */
#include "yaml.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64

struct parser {
    struct yaml *y;
    const char *p, *end, *begin;
    unsigned depth;
};

static uint32_t parse_block(struct parser *s, int indent);
static uint32_t parse_flow(struct parser *s);

static uint32_t fail(struct parser *s, const char *at, const char *error)
{
    if (!s->y->error) {
        s->y->error = error;
        s->y->error_at = at;
    }
    return 0;
}

static uint32_t new_node(struct parser *s, enum yaml_kind kind, const char *at)
{
    struct yaml *y = s->y;
    if (y->n_nodes == y->cap_nodes) {
        uint32_t cap = y->cap_nodes ? y->cap_nodes * 2 : 64;
        struct yaml_node *moved =
            cap < y->cap_nodes ? NULL : realloc(y->nodes, cap * sizeof *moved);
        if (!moved)
            return fail(s, at, "out of memory");
        y->nodes = moved;
        y->cap_nodes = cap;
    }
    if (y->n_nodes == 0)
        y->n_nodes = 1;
    y->nodes[y->n_nodes] =
        (struct yaml_node){.kind = (uint8_t)kind, .at = at, .text = y->text_bytes};
    return y->n_nodes++;
}

static void add_child(struct parser *s, uint32_t parent, uint32_t child)
{
    struct yaml_node *n = s->y->nodes;
    if (child == 0)
        return;
    if (n[parent].last)
        n[n[parent].last].next = child;
    else
        n[parent].first = child;
    n[parent].last = child;
    n[parent].count++;
}

static bool add_text(struct parser *s, const char *text, size_t n)
{
    struct yaml *y = s->y;
    if (n > y->text_cap - y->text_bytes) {
        size_t cap = y->text_cap ? y->text_cap : 1024;
        while (cap - y->text_bytes < n)
            cap *= 2;
        char *moved = realloc(y->text, cap);
        if (!moved)
            return fail(s, s->p, "out of memory") != 0;
        y->text = moved;
        y->text_cap = cap;
    }
    memcpy(y->text + y->text_bytes, text, n);
    y->text_bytes += n;
    return true;
}

/* ---- characters ---- */

static char peek(const struct parser *s, size_t ahead)
{
    return (size_t)(s->end - s->p) > ahead ? s->p[ahead] : '\n';
}

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool blank_or_end(char c)
{
    return blank(c) || c == '\n';
}

static int column(const struct parser *s)
{
    const char *p = s->p;
    while (p > s->begin && p[-1] != '\n')
        p--;
    return (int)(s->p - p);
}

/* Skip blanks and a comment, not the line's end. */
static void skip_blanks(struct parser *s)
{
    const char *start = s->p;
    while (s->p < s->end && blank(*s->p))
        s->p++;
    if (peek(s, 0) == '#' && (s->p > start || s->p == s->begin || s->p[-1] == '\n'))
        while (s->p < s->end && *s->p != '\n')
            s->p++;
}

/* Skip to the next token, over lines. */
static void skip_space(struct parser *s)
{
    skip_blanks(s);
    while (s->p < s->end && *s->p == '\n') {
        s->p++;
        skip_blanks(s);
    }
}

static bool at_marker(const struct parser *s, const char *marker)
{
    return s->end - s->p >= 3 && memcmp(s->p, marker, 3) == 0 && column(s) == 0 &&
           blank_or_end(peek(s, 3));
}

static bool at_document_end(const struct parser *s)
{
    return s->p == s->end || at_marker(s, "...") || at_marker(s, "---");
}

/* ---- scalars ---- */

static bool add_utf8(struct parser *s, uint32_t c)
{
    char out[4];
    size_t n;
    if (c < 0x80) {
        out[0] = (char)c;
        return add_text(s, out, 1);
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        n = 2;
    } else if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        n = 3;
    } else {
        out[0] = (char)(0xf0 | c >> 18);
        out[1] = (char)(0x80 | (c >> 12 & 0x3f));
        out[2] = (char)(0x80 | (c >> 6 & 0x3f));
        n = 4;
    }
    out[n - 1] = (char)(0x80 | (c & 0x3f));
    return add_text(s, out, n);
}

static bool escape_hex(struct parser *s, unsigned digits)
{
    uint32_t c = 0;
    for (unsigned i = 0; i < digits; i++, s->p++) {
        char d = peek(s, 0);
        uint32_t v;
        if (d >= '0' && d <= '9')
            v = (uint32_t)(d - '0');
        else if ((d | 0x20) >= 'a' && (d | 0x20) <= 'f')
            v = (uint32_t)((d | 0x20) - 'a') + 10;
        else
            return fail(s, s->p, "escape with too few hexadecimal digits") != 0;
        c = c << 4 | v;
    }
    if (c > 0x10ffff)
        return fail(s, s->p, "escape beyond Unicode") != 0;
    return add_utf8(s, c);
}

/* Behind the backslash. */
static bool escape(struct parser *s)
{
    static const char letters[] = "0\0a\ab\bt\tn\nv\vf\fr\re\x1b  \"\"//\\\\\t\t";
    char c = peek(s, 0);
    s->p++;
    if (c == 'x')
        return escape_hex(s, 2);
    if (c == 'u')
        return escape_hex(s, 4);
    if (c == 'U')
        return escape_hex(s, 8);
    if (c == 'N')
        return add_utf8(s, 0x85);
    if (c == '_')
        return add_utf8(s, 0xa0);
    if (c == 'L' || c == 'P')
        return add_utf8(s, c == 'L' ? 0x2028 : 0x2029);
    for (size_t i = 0; i + 1 < sizeof letters; i += 2)
        if (letters[i] == c)
            return add_text(s, letters + i + 1, 1);
    return fail(s, s->p - 1, "unknown escape sequence") != 0;
}

/* A line ends inside a quoted scalar: a blank, or newlines for empty lines. */
static bool fold_lines(struct parser *s, size_t start)
{
    struct yaml *y = s->y;
    while (y->text_bytes > start && blank(y->text[y->text_bytes - 1]))
        y->text_bytes--;
    unsigned lines = 0;
    while (s->p < s->end && (blank(*s->p) || *s->p == '\n'))
        lines += *s->p++ == '\n';
    if (lines == 1)
        return add_text(s, " ", 1);
    for (; lines > 1; lines--)
        if (!add_text(s, "\n", 1))
            return false;
    return true;
}

static uint32_t parse_quoted(struct parser *s)
{
    const char *open = s->p;
    char quote = *s->p++;
    uint32_t node = new_node(s, YAML_SCALAR, open);
    size_t start = s->y->text_bytes;
    while (node && s->p < s->end) {
        const char *p = s->p;
        while (p < s->end && *p != quote && *p != '\n' && (*p != '\\' || quote != '"'))
            p++;
        if (!add_text(s, s->p, (size_t)(p - s->p)))
            return 0;
        s->p = p;
        if (p == s->end)
            break;
        if (*p == '\n') {
            if (!fold_lines(s, start))
                return 0;
        } else if (*p == '\\') {
            s->p++;
            if (!escape(s))
                return 0;
        } else {
            s->p++;
            if (quote == '"' || peek(s, 0) != '\'') {
                s->y->nodes[node].quoted = true;
                s->y->nodes[node].len = s->y->text_bytes - start;
                return node;
            }
            s->p++;
            if (!add_text(s, "'", 1))
                return 0;
        }
    }
    return fail(s, open, "quoted text is not closed");
}

/* Length of the plain text at the cursor, in its line. */
static size_t plain_length(const struct parser *s, bool flow)
{
    const char *p = s->p;
    const char *last = p; /* behind the last character that is no blank */
    for (; p < s->end && *p != '\n'; p++) {
        char next = p + 1 < s->end ? p[1] : '\n';
        if (*p == ':' && (blank_or_end(next) || (flow && strchr(",[]{}", next))))
            break;
        if (flow && strchr(",[]{}", *p))
            break;
        if (*p == '#' && p > s->p && blank(p[-1]))
            break;
        if (!blank(*p))
            last = p + 1;
    }
    return (size_t)(last - s->p);
}

static bool plain_start(const struct parser *s)
{
    char c = peek(s, 0);
    char next = peek(s, 1);
    if (c == '-' || c == '?' || c == ':')
        return !blank_or_end(next);
    return strchr("#,[]{}&*!|>'\"%@`", c) == NULL;
}

/* indent: following lines that are indented deeper go on; -1: one line only. */
static uint32_t parse_plain(struct parser *s, int indent, bool flow)
{
    const char *at = s->p;
    if (!plain_start(s)) {
        if (strchr("&*!", peek(s, 0)))
            return fail(s, at, "anchors, aliases and tags are not supported");
        return fail(s, at, "expected a value");
    }
    uint32_t node = new_node(s, YAML_SCALAR, at);
    size_t n = plain_length(s, flow);
    if (node == 0 || !add_text(s, s->p, n))
        return 0;
    s->p += n;
    while (indent >= 0) {
        struct parser save = *s;
        skip_blanks(s);
        if (peek(s, 0) != '\n' || s->p == s->end)
            break;
        skip_space(s);
        if (s->p == s->end || column(s) <= indent || at_document_end(s) ||
            (n = plain_length(s, flow)) == 0) {
            *s = save;
            break;
        }
        const char *after = s->p + n;
        if (after < s->end && *after == ':' && !flow) {
            fail(s, s->p, "indentation does not match a key of the map");
            return 0;
        }
        if (!add_text(s, " ", 1) || !add_text(s, s->p, n))
            return 0;
        s->p += n;
    }
    s->y->nodes[node].len = s->y->text_bytes - s->y->nodes[node].text;
    return node;
}

/* | and > with - and +; lines deeper than indent belong to it. */
static uint32_t parse_block_scalar(struct parser *s, int indent)
{
    const char *at = s->p;
    bool folded = *s->p++ == '>';
    char chomp = peek(s, 0);
    if (chomp == '-' || chomp == '+')
        s->p++;
    skip_blanks(s);
    if (peek(s, 0) != '\n')
        return fail(s, s->p, "unexpected text after the block scalar's mark");
    if (folded)
        return fail(s, at, "folded block scalars are not supported");
    uint32_t node = new_node(s, YAML_SCALAR, at);
    int width = -1;
    size_t start = s->y->text_bytes;
    size_t content = start; /* end of the last line that is not empty */
    while (node && s->p < s->end) {
        const char *line = ++s->p;
        while (s->p < s->end && *s->p == ' ')
            s->p++;
        int here = (int)(s->p - line);
        bool empty = peek(s, 0) == '\n';
        if (!empty && width < 0)
            width = here;
        if (!empty && (here < width || here <= indent)) {
            s->p = line - 1;
            break;
        }
        const char *from = empty || here < width ? s->p : line + width;
        while (s->p < s->end && *s->p != '\n')
            s->p++;
        if (!add_text(s, from, (size_t)(s->p - from)) || !add_text(s, "\n", 1))
            return 0;
        if (!empty)
            content = s->y->text_bytes;
    }
    if (chomp != '+')
        s->y->text_bytes = content - (chomp == '-' && content > start);
    s->y->nodes[node].quoted = true;
    s->y->nodes[node].len = s->y->text_bytes - start;
    return node;
}

/* ---- flow collections ---- */

static uint32_t flow_value(struct parser *s)
{
    char c = peek(s, 0);
    if (c == '[' || c == '{')
        return parse_flow(s);
    if (c == '"' || c == '\'')
        return parse_quoted(s);
    if (c == ',' || c == ']' || c == '}')
        return new_node(s, YAML_EMPTY, s->p);
    return parse_plain(s, -1, true);
}

static bool flow_entry(struct parser *s, uint32_t node, bool map)
{
    uint32_t key = flow_value(s);
    if (!key)
        return false;
    add_child(s, node, key);
    if (!map)
        return true;
    skip_space(s);
    if (peek(s, 0) != ':')
        return fail(s, s->p, "expected ':'") != 0;
    s->p++;
    skip_space(s);
    uint32_t value = flow_value(s);
    add_child(s, node, value);
    return value != 0;
}

static uint32_t parse_flow(struct parser *s)
{
    const char *open = s->p;
    bool map = *s->p++ == '{';
    char close = map ? '}' : ']';
    if (s->depth++ >= MAX_DEPTH)
        return fail(s, open, "nested too deep");
    uint32_t node = new_node(s, map ? YAML_MAP : YAML_SEQ, open);
    for (skip_space(s); node; skip_space(s)) {
        if (s->p == s->end)
            return fail(s, open, "bracket is not closed");
        if (*s->p == close) {
            s->p++;
            s->depth--;
            return node;
        }
        if (!flow_entry(s, node, map))
            return 0;
        skip_space(s);
        if (peek(s, 0) == ',')
            s->p++;
        else if (peek(s, 0) != close)
            return fail(s, s->p, "expected ',' or a closing bracket");
    }
    return 0;
}

/* ---- block collections ---- */

static bool at_dash(const struct parser *s)
{
    return peek(s, 0) == '-' && blank_or_end(peek(s, 1)) && s->p < s->end;
}

/* Does a key with its colon stand here? */
static bool at_key(const struct parser *s)
{
    struct parser t = *s;
    char c = peek(s, 0);
    if (s->p == s->end)
        return false;
    if (c == '"' || c == '\'') {
        t.p++;
        while (t.p < t.end && *t.p != '\n' && *t.p != c)
            t.p += *t.p == '\\' && c == '"' && t.p + 1 < t.end ? 2 : 1;
        if (t.p >= t.end || *t.p != c)
            return false;
        t.p++;
        while (t.p < t.end && blank(*t.p))
            t.p++;
    } else {
        if (!plain_start(s))
            return false;
        t.p += plain_length(s, false);
        while (t.p < t.end && blank(*t.p))
            t.p++;
    }
    return t.p < t.end && *t.p == ':' && blank_or_end(peek(&t, 1));
}

/* What follows a key or a dash in the same or the next lines. same: a sequence may
 * begin in this column, too. */
static uint32_t parse_value(struct parser *s, int indent, bool same, bool compact)
{
    skip_blanks(s);
    if (s->p < s->end && *s->p != '\n') {
        char c = peek(s, 0);
        if (c == '|' || c == '>')
            return parse_block_scalar(s, indent);
        if (c == '[' || c == '{')
            return parse_flow(s);
        if (compact && (at_dash(s) || at_key(s)))
            return parse_block(s, column(s));
        if (c == '"' || c == '\'')
            return parse_quoted(s);
        return parse_plain(s, indent, false);
    }
    const char *at = s->p;
    skip_space(s);
    int col = column(s);
    if (!at_document_end(s) && (col > indent || (same && col == indent && at_dash(s))))
        return parse_block(s, col);
    return new_node(s, YAML_EMPTY, at);
}

static bool first_in_line(const struct parser *s)
{
    const char *p = s->p;
    while (p > s->begin && blank(p[-1]))
        p--;
    return p == s->begin || p[-1] == '\n';
}

/* After an entry: is there another one in the same column? */
static bool more_entries(struct parser *s, int indent, bool sequence)
{
    skip_blanks(s);
    if (s->p < s->end && *s->p != '\n' && !first_in_line(s)) {
        fail(s, s->p, "unexpected text after the value");
        return false;
    }
    skip_space(s);
    if (at_document_end(s) || column(s) < indent)
        return false;
    if (column(s) > indent) {
        fail(s, s->p, "indentation does not match");
        return false;
    }
    if (sequence)
        return at_dash(s);
    if (at_key(s))
        return true;
    if (!at_dash(s))
        fail(s, s->p, "expected a key");
    return false;
}

static uint32_t parse_sequence(struct parser *s, int indent)
{
    uint32_t node = new_node(s, YAML_SEQ, s->p);
    while (node) {
        s->p++;
        uint32_t value = parse_value(s, indent, false, true);
        if (!value)
            return 0;
        add_child(s, node, value);
        if (!more_entries(s, indent, true))
            return s->y->error ? 0 : node;
    }
    return 0;
}

static uint32_t parse_map(struct parser *s, int indent)
{
    uint32_t node = new_node(s, YAML_MAP, s->p);
    while (node) {
        char c = peek(s, 0);
        uint32_t key =
            c == '"' || c == '\'' ? parse_quoted(s) : parse_plain(s, -1, false);
        if (!key)
            return 0;
        while (s->p < s->end && blank(*s->p))
            s->p++;
        s->p++; /* the colon that at_key saw */
        add_child(s, node, key);
        uint32_t value = parse_value(s, indent, true, false);
        if (!value)
            return 0;
        add_child(s, node, value);
        if (!more_entries(s, indent, false))
            return s->y->error ? 0 : node;
    }
    return 0;
}

/* A node whose first token stands here, in column indent. */
static uint32_t parse_block(struct parser *s, int indent)
{
    uint32_t node;
    if (s->depth++ >= MAX_DEPTH)
        return fail(s, s->p, "nested too deep");
    if (at_dash(s))
        node = parse_sequence(s, indent);
    else if (at_key(s))
        node = parse_map(s, indent);
    else
        node = parse_value(s, indent - 1, false, false);
    s->depth--;
    return node;
}

bool yaml_parse(const char *begin, const char *end, struct yaml *out)
{
    *out = (struct yaml){0};
    struct parser s = {.y = out, .p = begin, .end = end, .begin = begin};
    skip_space(&s);
    if (at_marker(&s, "---")) {
        s.p += 3;
        skip_blanks(&s);
        if (peek(&s, 0) != '\n')
            return fail(&s, s.p, "a document begins in the line after '---'") != 0;
        skip_space(&s);
    }
    if (at_document_end(&s))
        return fail(&s, s.p, "there is no document") != 0;
    for (const char *p = begin; p < end; p++)
        if (*p == '\t' && (p == begin || p[-1] == '\n'))
            return fail(&s, p, "a tab cannot indent") != 0;
    out->root = parse_block(&s, column(&s));
    if (!out->root)
        return false;
    skip_space(&s);
    if (at_marker(&s, "..."))
        s.p += 3;
    skip_space(&s);
    if (s.p < end)
        return fail(&s, s.p, "unexpected text after the document") != 0;
    return true;
}

void yaml_free(struct yaml *y)
{
    free(y->nodes);
    free(y->text);
}
