/* text.c: graphs and programs as text, and back.
 *
 * One operation per line: "%4 = ADD f32 %2 %3 [args] "name"". The same syntax serves
 * hash-consed graphs (order does not matter beyond sources first) and linear programs
 * (order is execution). A floating constant is printed so that it reads back exactly.
 * SPDX-License-Identifier: MIT
 */
#include "prog.h"
#include "text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- printing ---- */

void cc_out(struct cc_text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int need = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (t->failed || need < 0)
        return;
    if (t->len + (size_t)need + 1 > t->cap) {
        size_t cap = 2 * (t->len + (size_t)need + 256);
        char *bigger = realloc(t->data, cap);
        if (!bigger) {
            t->failed = true;
            return;
        }
        t->data = bigger;
        t->cap = cap;
    }
    va_start(ap, fmt);
    vsnprintf(t->data + t->len, t->cap - t->len, fmt, ap);
    va_end(ap);
    t->len += (size_t)need;
}

static void print_value(struct cc_text *t, enum cc_dtype dtype, int64_t bits)
{
    union cc_value v = {.i = bits};
    if (!cc_is_float(dtype)) {
        if (dtype == CC_DT_U64)
            cc_out(t, "%" PRIu64, v.u);
        else
            cc_out(t, "%" PRId64, v.i);
    } else if (isnan(v.f)) {
        cc_out(t, "nan");
    } else if (isinf(v.f)) {
        cc_out(t, "%sinf", v.f < 0 ? "-" : "");
    } else {
        char text[40];
        snprintf(text, sizeof text, "%.9g", v.f);
        if (strtod(text, NULL) != v.f)
            snprintf(text, sizeof text, "%.17g", v.f);
        cc_out(t, "%s", text);
    }
}

static void print_args(struct cc_text *t, const struct cc_inst *n)
{
    const char *kind = cc_ops[n->op].args;
    for (uint32_t i = 0; i < n->n_arg; i++) {
        int64_t v = n->arg[i];
        cc_out(t, i ? ", " : " [");
        if (*kind == 'v')
            print_value(t, n->dtype, v);
        else if (*kind == 's')
            cc_out(t, "%s", cc_space_names[v]);
        else if (*kind == 'a')
            cc_out(t, "%s", cc_axis_names[v]);
        else if (*kind == 'o')
            cc_out(t, "%s", cc_ops[v].name);
        else
            cc_out(t, "%" PRId64, v);
        kind += *kind != 0 && *kind != '*';
    }
    if (n->n_arg)
        cc_out(t, "]");
}

static void print_line(struct cc_text *t, uint32_t id, const struct cc_inst *n)
{
    cc_out(t, "%%%u = %s %s", id, cc_ops[n->op].name, cc_dtype_name(n->dtype));
    for (uint32_t i = 0; i < n->n_src; i++)
        cc_out(t, " %%%u", n->src[i]);
    print_args(t, n);
    if (n->name[0])
        cc_out(t, " \"%s\"", n->name);
    cc_out(t, "\n");
}

rd_status cc_out_done(struct cc_text *t, char **text)
{
    cc_out(t, "%s", "");
    if (t->failed) {
        free(t->data);
        return RD_E_NOMEM;
    }
    *text = t->data;
    return RD_OK;
}

rd_status cc_print(struct cc_graph *g, cc_ref root, char **text)
{
    struct cc_text t = {0};
    cc_ref *nodes;
    uint32_t count;
    rd_status st = cc_toposort(root, &nodes, &count);
    if (st != RD_OK) {
        cc_fail(g, st, "nothing to print");
        return st;
    }
    uint32_t *number = malloc((root->id + 1ull) * sizeof *number);
    uint32_t *src = malloc((root->id + 1ull) * sizeof *src);
    for (uint32_t i = 0; i < count && number && src; i++) {
        cc_ref n = nodes[i];
        struct cc_inst line = {n->op, n->dtype, n->n_src, n->n_arg,
                               src,   n->arg,   n->name};
        uint32_t *s = n->n_src > root->id ? malloc(n->n_src * sizeof *s) : src;
        for (uint32_t j = 0; s && j < n->n_src; j++)
            s[j] = number[n->src[j]->id];
        line.src = s;
        if (s)
            print_line(&t, i, &line);
        if (s != src)
            free(s);
        number[n->id] = i;
    }
    t.failed = t.failed || !number || !src;
    free(number);
    free(src);
    free(nodes);
    return cc_out_done(&t, text);
}

rd_status cc_prog_print(const struct cc_prog *p, char **text)
{
    struct cc_text t = {0};
    cc_out(&t, "program \"%s\"\n", cc_prog_name(p));
    for (uint32_t i = 0; i < cc_prog_count(p); i++)
        print_line(&t, i, cc_prog_inst(p, i));
    return cc_out_done(&t, text);
}

/* ---- parsing ---- */

#define MAX_ITEMS 1024

struct name_slot {
    const char *text;
    uint32_t len, value;
};

struct parser {
    const char *p, *begin, *end;
    unsigned line;
    char error[CC_ERROR_BYTES];
    struct name_slot *names;
    uint32_t cap, count;
    /* the line being read */
    uint32_t src[MAX_ITEMS];
    int64_t arg[MAX_ITEMS];
    uint32_t n_src, n_arg;
    char name[128];
    enum cc_op op;
    enum cc_dtype dtype;
    bool alu; /* the operation is the argument */
};

__attribute__((format(printf, 2, 3))) static void say(struct parser *s, const char *fmt,
                                                      ...)
{
    va_list ap;
    int used = snprintf(s->error, sizeof s->error, "line %u: ", s->line);
    va_start(ap, fmt);
    vsnprintf(s->error + used, sizeof s->error - (size_t)used, fmt, ap);
    va_end(ap);
}

/* An error of the text, and its status. */
#define bad(s, ...) (say(s, __VA_ARGS__), RD_E_FORMAT)

static void blanks(struct parser *s)
{
    while (s->p < s->end &&
           (*s->p == ' ' || *s->p == '\t' || *s->p == ',' || *s->p == '\r'))
        s->p++;
    if (s->p < s->end && (*s->p == '#' || *s->p == ';'))
        while (s->p < s->end && *s->p != '\n')
            s->p++;
}

static uint32_t word(struct parser *s, const char **text)
{
    blanks(s);
    *text = s->p;
    while (s->p < s->end && (isalnum((unsigned char)*s->p) || *s->p == '_' ||
                             *s->p == '.' || *s->p == '-' || *s->p == '+'))
        s->p++;
    return (uint32_t)(s->p - *text);
}

static bool is_word(const char *text, uint32_t len, const char *what)
{
    return strlen(what) == len && strncmp(text, what, len) == 0;
}

static struct name_slot *name_slot(struct parser *s, const char *text, uint32_t len)
{
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < len; i++)
        h = (h ^ (uint8_t)text[i]) * 16777619u;
    for (uint32_t at = h;; at++) {
        struct name_slot *n = &s->names[at & (s->cap - 1)];
        if (!n->text || (n->len == len && memcmp(n->text, text, len) == 0))
            return n;
    }
}

static rd_status define(struct parser *s, const char *text, uint32_t len,
                        uint32_t value)
{
    if (2 * s->count >= s->cap) {
        struct name_slot *old = s->names;
        uint32_t cap = s->cap;
        s->cap = cap ? 2 * cap : 256;
        s->names = calloc(s->cap, sizeof *s->names);
        if (!s->names) {
            s->names = old;
            s->cap = cap;
            return RD_E_NOMEM;
        }
        for (uint32_t i = 0; i < cap; i++)
            if (old[i].text)
                *name_slot(s, old[i].text, old[i].len) = old[i];
        free(old);
    }
    struct name_slot *n = name_slot(s, text, len);
    if (n->text)
        return bad(s, "%%%.*s is defined twice", (int)len, text);
    *n = (struct name_slot){text, len, value};
    s->count++;
    return RD_OK;
}

/* Names of the IR's first documentation. */
static const struct {
    const char *old;
    enum cc_op op;
} old_names[] = {{"DEFINE_GLOBAL", CC_PARAM}, {"DEFINE_LOCAL", CC_BUFFER},
                 {"DEFINE_REG", CC_BUFFER},   {"DEFINE_ACC", CC_BUFFER},
                 {"LOOP", CC_RANGE},          {"ENDLOOP", CC_END},
                 {"RECIPROCAL", CC_RECIP},    {"NOOP", CC_GROUP}};

static const struct {
    const char *old;
    enum cc_dtype dtype;
} old_dtypes[] = {{"bool", CC_DT_BOOL}, {"char", CC_DT_I8},    {"uchar", CC_DT_U8},
                  {"short", CC_DT_I16}, {"ushort", CC_DT_U16}, {"int", CC_DT_I32},
                  {"uint", CC_DT_U32},  {"long", CC_DT_I64},   {"ulong", CC_DT_U64},
                  {"half", CC_DT_F16},  {"float", CC_DT_F32},  {"double", CC_DT_F64},
                  {"int32", CC_DT_I32}, {"float32", CC_DT_F32}};

static rd_status parse_op(struct parser *s)
{
    const char *text;
    uint32_t len = word(s, &text);
    s->alu = is_word(text, len, "ALU");
    s->op = CC_INVALID;
    if (s->alu)
        return RD_OK;
    for (unsigned i = 1; i < CC_OP_COUNT; i++)
        if (is_word(text, len, cc_ops[i].name)) {
            s->op = (enum cc_op)i;
            return RD_OK;
        }
    for (size_t i = 0; i < sizeof old_names / sizeof old_names[0]; i++)
        if (is_word(text, len, old_names[i].old)) {
            s->op = old_names[i].op;
            return RD_OK;
        }
    return bad(s, "no operation \"%.*s\"", (int)(len < 40 ? len : 40), text);
}

static rd_status parse_dtype(struct parser *s)
{
    const char *text;
    blanks(s);
    s->dtype = CC_DT_VOID;
    if (s->p < s->end && !isalpha((unsigned char)*s->p))
        return RD_OK; /* derived */
    uint32_t len = word(s, &text);
    if (len > 7 && strncmp(text, "dtypes.", 7) == 0)
        for (size_t i = 0; i < sizeof old_dtypes / sizeof old_dtypes[0]; i++)
            if (is_word(text + 7, len - 7, old_dtypes[i].old)) {
                s->dtype = old_dtypes[i].dtype;
                return RD_OK;
            }
    for (unsigned i = 0; i < CC_DT_COUNT && len; i++)
        if (is_word(text, len, cc_dtype_name((enum cc_dtype)i))) {
            s->dtype = (enum cc_dtype)i;
            return RD_OK;
        }
    return len ? bad(s, "no dtype \"%.*s\"", (int)(len < 40 ? len : 40), text) : RD_OK;
}

static int find(const char *text, uint32_t len, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (is_word(text, len, names[i]))
            return i;
    return -1;
}

static rd_status parse_number(struct parser *s, const char *text, uint32_t len,
                              bool real, int64_t *out)
{
    char buf[64], *end;
    union cc_value v;
    if (len == 0 || len >= sizeof buf)
        return bad(s, "a number is missing");
    memcpy(buf, text, len);
    buf[len] = 0;
    errno = 0;
    if (real)
        v.f = strtod(buf, &end);
    else if (s->op == CC_CONST && s->dtype == CC_DT_U64)
        v.u = strtoull(buf, &end, 0);
    else
        v.i = strtoll(buf, &end, 0);
    if (*end || (!real && errno))
        return bad(s, "\"%s\" is not a number", buf);
    *out = s->op == CC_CONST ? cc_fit(s->dtype, v).i : v.i;
    return RD_OK;
}

static rd_status parse_arg(struct parser *s, char kind)
{
    const char *text;
    uint32_t len = word(s, &text);
    int64_t v = 0;
    if (s->n_arg == MAX_ITEMS)
        return bad(s, "too many arguments");
    if (kind == 's')
        v = find(text, len, cc_space_names, CC_SPACE_COUNT);
    else if (kind == 'a')
        v = find(text, len, cc_axis_names, CC_AXIS_COUNT);
    else if (kind == 'o')
        for (v = CC_OP_COUNT - 1; v >= 0 && !is_word(text, len, cc_ops[v].name); v--)
            ;
    else {
        rd_status st =
            parse_number(s, text, len, kind == 'v' && cc_is_float(s->dtype), &v);
        if (st != RD_OK)
            return st;
    }
    if (v < 0 && (kind == 's' || kind == 'a' || kind == 'o'))
        return bad(s, "unknown word \"%.*s\"", (int)(len < 40 ? len : 40), text);
    s->arg[s->n_arg++] = v;
    return RD_OK;
}

/* ALU's argument: ADD, or BinaryOps.ADD as the first documentation writes it. */
static rd_status parse_alu(struct parser *s)
{
    const char *text;
    uint32_t len = word(s, &text);
    for (uint32_t i = 0; i < len; i++)
        if (text[i] == '.') {
            text += i + 1;
            len -= i + 1;
            i = 0;
        }
    for (unsigned i = 1; i < CC_OP_COUNT; i++)
        if (cc_is_alu((enum cc_op)i) && is_word(text, len, cc_ops[i].name)) {
            s->op = (enum cc_op)i;
            return RD_OK;
        }
    return bad(s, "ALU has no operation \"%.*s\"", (int)(len < 40 ? len : 40), text);
}

static rd_status parse_args(struct parser *s)
{
    s->p++;
    if (s->alu && s->op == CC_INVALID) {
        rd_status st = parse_alu(s);
        if (st != RD_OK)
            return st;
    }
    const char *kind = cc_ops[s->op].args;
    for (;;) {
        blanks(s);
        if (s->p == s->end || *s->p == '\n')
            return bad(s, "\"]\" is missing");
        if (*s->p == ']') {
            s->p++;
            return RD_OK;
        }
        rd_status st = parse_arg(s, *kind ? *kind : 'i');
        if (st != RD_OK)
            return st;
        kind += *kind != 0 && *kind != '*';
    }
}

static rd_status parse_name(struct parser *s)
{
    uint32_t len = 0;
    for (s->p++; s->p < s->end && *s->p != '"'; s->p++) {
        if (*s->p < ' ' || *s->p > '~' || len + 1 >= sizeof s->name)
            return bad(s, "bad or too long name");
        s->name[len++] = *s->p;
    }
    s->name[len] = 0;
    if (s->p == s->end)
        return bad(s, "the closing quote is missing");
    s->p++;
    return RD_OK;
}

static rd_status parse_src(struct parser *s)
{
    const char *text;
    s->p++;
    uint32_t len = word(s, &text);
    struct name_slot *n = s->cap ? name_slot(s, text, len) : NULL;
    char why[200];
    if ((!n || !n->text) && len &&
        cc_text_why(s->begin, (size_t)(s->end - s->begin), s->line, text, len, why,
                    sizeof why))
        return bad(s, "%s", why);
    if (!n || !n->text || !len)
        return bad(s, "%%%.*s is not defined above", (int)(len < 40 ? len : 40), text);
    if (s->n_src == MAX_ITEMS)
        return bad(s, "too many sources");
    s->src[s->n_src++] = n->value;
    return RD_OK;
}

static rd_status parse_rest(struct parser *s)
{
    rd_status st = RD_OK;
    for (;;) {
        blanks(s);
        if (s->p == s->end || *s->p == '\n' || st != RD_OK)
            return st;
        if (*s->p == '%')
            st = parse_src(s);
        else if (*s->p == '[')
            st = parse_args(s);
        else if (*s->p == '"')
            st = parse_name(s);
        else
            return bad(s, "unexpected \"%c\"", *s->p > ' ' ? *s->p : '?');
    }
}

/* Read the next operation; RD_E_NOT_FOUND at the end. id: its name. */
static rd_status parse_line(struct parser *s, const char **id, uint32_t *id_len)
{
    for (;; s->p++, s->line++) {
        blanks(s);
        if (s->p == s->end)
            return RD_E_NOT_FOUND;
        if (*s->p != '\n')
            break;
    }
    s->n_src = s->n_arg = 0;
    s->name[0] = 0;
    if (*s->p != '%')
        return bad(s,
                   "a line is \"%%id = OP dtype %%source ... [arguments] \"name\"\"");
    s->p++;
    *id_len = word(s, id);
    blanks(s);
    if (*id_len == 0 || s->p == s->end || *s->p != '=')
        return bad(s, "\"=\" is missing");
    s->p++;
    rd_status st = parse_op(s);
    if (st == RD_OK)
        st = parse_dtype(s);
    if (st == RD_OK)
        st = parse_rest(s);
    if (st == RD_OK && s->op == CC_INVALID)
        return bad(s, "ALU needs its operation: [ADD]");
    return st;
}

static rd_status parse_graph(struct cc_graph *g, struct parser *s, cc_ref *root)
{
    const char *id;
    uint32_t id_len, cap = 0, count = 0;
    cc_ref *nodes = NULL, src[MAX_ITEMS];
    rd_status st;
    while ((st = parse_line(s, &id, &id_len)) == RD_OK) {
        for (uint32_t i = 0; i < s->n_src; i++) /* names are of nodes before */
            src[i] = s->src[i] < count ? nodes[s->src[i]] : &g->invalid;
        if (!cc_room(&nodes, &cap, count + 1, sizeof(cc_ref))) {
            st = RD_E_NOMEM;
            break;
        }
        nodes[count] =
            cc_uop(g, s->op, s->dtype, s->n_src, src, s->n_arg, s->arg, s->name);
        if (g->status != RD_OK) {
            st = bad(s, "%s", g->error);
            break;
        }
        st = define(s, id, id_len, count++);
        if (st != RD_OK)
            break;
    }
    if (st == RD_E_NOT_FOUND && count) {
        *root = nodes[count - 1];
        st = RD_OK;
    } else if (st == RD_E_NOT_FOUND) {
        st = bad(s, "no node");
    }
    free(nodes);
    return st;
}

static struct parser *new_parser(const char *text, size_t len)
{
    struct parser *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->p = s->begin = text;
    s->end = text + len;
    s->line = 1;
    return s;
}

static void free_parser(struct parser *s)
{
    free(s->names);
    free(s);
}

rd_status cc_parse(struct cc_graph *g, const char *text, size_t len, cc_ref *root)
{
    struct parser *s = new_parser(text, len);
    if (!s)
        return RD_E_NOMEM;
    rd_status st = parse_graph(g, s, root);
    if (st != RD_OK) {
        g->status = RD_OK; /* the message with the line replaces that without */
        cc_fail(g, st, "%s", s->error);
    }
    free_parser(s);
    return st;
}

static rd_status parse_prog(struct parser *s, struct cc_prog **out)
{
    const char *id, *text;
    uint32_t id_len;
    struct cc_prog *p;
    while (s->p < s->end && (blanks(s), s->p < s->end && *s->p == '\n')) {
        s->p++;
        s->line++;
    }
    uint32_t len = word(s, &text);
    blanks(s);
    if (!is_word(text, len, "program") || s->p == s->end || *s->p != '"')
        return bad(s, "a program begins with: program \"name\"");
    rd_status st = parse_name(s);
    if (st == RD_OK)
        st = cc_prog_create(s->name, &p);
    if (st != RD_OK)
        return st;
    while ((st = parse_line(s, &id, &id_len)) == RD_OK) {
        uint32_t at = cc_prog_add(p, s->op, s->dtype, s->n_src, s->src, s->n_arg,
                                  s->arg, s->name);
        st = cc_prog_status(p);
        if (st != RD_OK) {
            say(s, "%s", cc_prog_error(p));
            break;
        }
        st = define(s, id, id_len, at);
        if (st != RD_OK)
            break;
    }
    if (st != RD_E_NOT_FOUND) {
        cc_prog_destroy(p);
        return st;
    }
    *out = p;
    return RD_OK;
}

rd_status cc_prog_parse(const char *text, size_t len, struct cc_prog **out, char *error)
{
    struct parser *s = new_parser(text, len);
    if (!s)
        return RD_E_NOMEM;
    rd_status st = parse_prog(s, out);
    if (st != RD_OK)
        memcpy(error, s->error, sizeof s->error);
    free_parser(s);
    return st;
}
