/* pickle.c: a machine with a stack and a memo, as pickles ask for; no code of them
 * runs.
 *
 * Invariant: what is on the stack, in the memo or in another value belongs to the
 * reader. SPDX-License-Identifier: MIT
 */
#include "pickle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 1024u

struct chunk {
    struct pk_value value[CHUNK];
    unsigned n;
    struct chunk *next;
};

struct pk_reader {
    const uint8_t *data;
    size_t bytes, at;
    struct chunk *chunks;
    struct pk_value **stack, **memo;
    size_t n, cap, memo_n, memo_cap;
    bool failed;
    char *why;
    size_t why_bytes;
};

static bool fail(struct pk_reader *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static bool fail(struct pk_reader *r, const char *fmt, ...)
{
    if (!r->failed) {
        int n = snprintf(r->why, r->why_bytes, "byte %zu: ", r->at);
        va_list ap;
        va_start(ap, fmt);
        (void)vsnprintf(r->why + n, r->why_bytes - (size_t)n, fmt, ap);
        va_end(ap);
    }
    r->failed = true;
    return false;
}

static struct pk_value *make(struct pk_reader *r, enum pk_kind kind)
{
    if (!r->chunks || r->chunks->n == CHUNK) {
        struct chunk *c = calloc(1, sizeof *c);
        if (!c) {
            (void)fail(r, "out of memory");
            return NULL;
        }
        c->next = r->chunks;
        r->chunks = c;
    }
    struct pk_value *v = &r->chunks->value[r->chunks->n++];
    v->kind = (uint8_t)kind;
    return v;
}

static bool grow(struct pk_reader *r, struct pk_value ***list, size_t *cap, size_t need)
{
    size_t room = *cap ? *cap : 16;
    if (need <= *cap)
        return true;
    while (room < need)
        room *= 2;
    struct pk_value **more = realloc(*list, room * sizeof **list);
    if (!more)
        return fail(r, "out of memory");
    memset(more + *cap, 0, (room - *cap) * sizeof *more);
    *list = more;
    *cap = room;
    return true;
}

static bool push(struct pk_reader *r, struct pk_value *v)
{
    if (!v || !grow(r, &r->stack, &r->cap, r->n + 1))
        return false;
    r->stack[r->n++] = v;
    return true;
}

/* NULL on the stack is a mark. */
static bool push_mark(struct pk_reader *r)
{
    if (!grow(r, &r->stack, &r->cap, r->n + 1))
        return false;
    r->stack[r->n++] = NULL;
    return true;
}

static struct pk_value *pop(struct pk_reader *r)
{
    if (r->n == 0 || !r->stack[r->n - 1]) {
        (void)fail(r, "nothing on the stack");
        return NULL;
    }
    return r->stack[--r->n];
}

static bool append(struct pk_reader *r, struct pk_value *to, struct pk_value *v)
{
    if (!grow(r, &to->item, &to->cap, to->n_items + 1))
        return false;
    to->item[to->n_items++] = v;
    return true;
}

/* What lies above the last mark goes to a value, the mark away. */
static bool take_marked(struct pk_reader *r, struct pk_value *to)
{
    size_t mark = r->n;
    while (mark > 0 && r->stack[mark - 1])
        mark--;
    if (mark == 0)
        return fail(r, "no mark on the stack");
    for (size_t i = mark; to && i < r->n; i++)
        if (!append(r, to, r->stack[i]))
            return false;
    r->n = mark - 1;
    return true;
}

/* A little-endian number of the file; then that many bytes if where is given. */
static bool number(struct pk_reader *r, unsigned bytes, uint64_t *out)
{
    if (bytes > r->bytes - r->at)
        return fail(r, "it ends in the middle of a value");
    *out = 0;
    for (unsigned i = 0; i < bytes; i++)
        *out |= (uint64_t)r->data[r->at + i] << 8 * i;
    r->at += bytes;
    return true;
}

static bool sized(struct pk_reader *r, unsigned bytes, enum pk_kind kind)
{
    uint64_t n = 0;
    if (!number(r, bytes, &n))
        return false;
    if (n > r->bytes - r->at)
        return fail(r, "it ends in the middle of a value");
    struct pk_value *v = make(r, kind);
    if (!v)
        return false;
    v->text = (const char *)r->data + r->at;
    v->bytes = (size_t)n;
    r->at += (size_t)n;
    return push(r, v);
}

static bool integer(struct pk_reader *r, unsigned bytes, bool is_signed)
{
    uint64_t n = 0;
    if (!number(r, bytes, &n))
        return false;
    if (is_signed && bytes < 8 && n >> (8 * bytes - 1) & 1u)
        n |= UINT64_MAX << 8 * bytes;
    struct pk_value *v = make(r, PK_INT);
    if (v)
        v->number = (int64_t)n;
    return push(r, v);
}

/* LONG1: a length and two's complement. */
static bool long1(struct pk_reader *r)
{
    uint64_t n = 0;
    if (!number(r, 1, &n))
        return false;
    if (n > r->bytes - r->at)
        return fail(r, "it ends in the middle of a number");
    if (n > 8) {
        r->at += (size_t)n;
        return push(r, make(r, PK_INT));
    }
    return n ? integer(r, (unsigned)n, true) : push(r, make(r, PK_INT));
}

static bool skip_float(struct pk_reader *r)
{
    uint64_t n = 0;
    return number(r, 8, &n) && push(r, make(r, PK_FLOAT));
}

static bool remember(struct pk_reader *r, uint64_t index)
{
    if (r->n == 0 || !r->stack[r->n - 1])
        return fail(r, "nothing to remember");
    if (index > r->bytes) /* more than there are values */
        return fail(r, "memo %llu", (unsigned long long)index);
    if (!grow(r, &r->memo, &r->memo_cap, (size_t)index + 1))
        return false;
    r->memo[index] = r->stack[r->n - 1];
    if (r->memo_n <= index)
        r->memo_n = (size_t)index + 1;
    return true;
}

static bool recall(struct pk_reader *r, unsigned bytes)
{
    uint64_t index = 0;
    if (!number(r, bytes, &index))
        return false;
    if (index >= r->memo_n || !r->memo[index])
        return fail(r, "memo %llu is empty", (unsigned long long)index);
    return push(r, r->memo[index]);
}

/* So many values of the stack as a list. */
static bool tuple(struct pk_reader *r, unsigned n)
{
    struct pk_value *v = make(r, PK_LIST), *item[3];
    for (unsigned i = n; v && i-- > 0;)
        if (!(item[i] = pop(r)))
            return false;
    for (unsigned i = 0; v && i < n; i++)
        if (!append(r, v, item[i]))
            return false;
    return push(r, v);
}

static bool marked(struct pk_reader *r, enum pk_kind kind)
{
    struct pk_value *v = make(r, kind);
    return v && take_marked(r, v) && push(r, v);
}

/* Above the mark: for what lies below it. */
static bool add_marked(struct pk_reader *r)
{
    struct pk_value *v = make(r, PK_LIST);
    if (!v || !take_marked(r, v))
        return false;
    if (r->n == 0 || !r->stack[r->n - 1])
        return fail(r, "nothing to add to");
    for (size_t i = 0; i < v->n_items; i++)
        if (!append(r, r->stack[r->n - 1], v->item[i]))
            return false;
    return true;
}

static bool add(struct pk_reader *r, unsigned n)
{
    struct pk_value *b = n == 2 ? pop(r) : NULL, *a = pop(r);
    if (!a || (n == 2 && !b))
        return false;
    if (r->n == 0 || !r->stack[r->n - 1])
        return fail(r, "nothing to add to");
    return append(r, r->stack[r->n - 1], a) &&
           (n == 1 || append(r, r->stack[r->n - 1], b));
}

/* A class and what an object of it is made from. kinds: also keywords */
static bool object(struct pk_reader *r, bool keywords)
{
    struct pk_value *named = keywords ? pop(r) : NULL, *from = pop(r), *cls = pop(r);
    struct pk_value *v =
        cls && from && (!keywords || named) ? make(r, PK_OBJECT) : NULL;
    if (!v)
        return false;
    if (cls->kind == PK_CLASS) {
        v->text = cls->text;
        v->bytes = cls->bytes;
    }
    for (size_t i = 0; from->kind == PK_LIST && i < from->n_items; i++)
        if (!append(r, v, from->item[i]))
            return false;
    return push(r, v);
}

static bool build(struct pk_reader *r)
{
    struct pk_value *state = pop(r);
    if (!state)
        return false;
    if (r->n == 0 || !r->stack[r->n - 1])
        return fail(r, "no object to build");
    r->stack[r->n - 1]->state = state;
    return true;
}

static bool stack_global(struct pk_reader *r)
{
    struct pk_value *name = pop(r), *module = pop(r);
    struct pk_value *v = name && module ? make(r, PK_CLASS) : NULL;
    if (!v)
        return false;
    v->text = name->text;
    v->bytes = name->bytes;
    return push(r, v);
}

/* GLOBAL: module and name as lines. */
static bool global(struct pk_reader *r)
{
    const uint8_t *from = r->data + r->at;
    const uint8_t *line = memchr(from, '\n', r->bytes - r->at);
    const uint8_t *end =
        line ? memchr(line + 1, '\n', (size_t)(r->data + r->bytes - line - 1)) : NULL;
    struct pk_value *v = end ? make(r, PK_CLASS) : NULL;
    if (!v)
        return fail(r, "it ends in the middle of a name");
    v->text = (const char *)line + 1;
    v->bytes = (size_t)(end - line) - 1;
    r->at = (size_t)(end + 1 - r->data);
    return push(r, v);
}

static bool truth(struct pk_reader *r, bool yes)
{
    struct pk_value *v = make(r, PK_BOOL);
    if (v)
        v->number = yes;
    return push(r, v);
}

static bool put(struct pk_reader *r, unsigned bytes)
{
    uint64_t index = 0;
    return number(r, bytes, &index) && remember(r, index);
}

static bool skip(struct pk_reader *r, unsigned bytes)
{
    uint64_t n = 0;
    return number(r, bytes, &n);
}

/* Values and what is put together from them. */
static bool step_value(struct pk_reader *r, uint8_t op)
{
    switch (op) {
    case 'N':
        return push(r, make(r, PK_NONE));
    case 0x88:
        return truth(r, true);
    case 0x89:
        return truth(r, false);
    case 'J':
        return integer(r, 4, true);
    case 'K':
        return integer(r, 1, false);
    case 'M':
        return integer(r, 2, false);
    case 0x8a:
        return long1(r);
    case 'G':
        return skip_float(r);
    case 0x8c:
        return sized(r, 1, PK_TEXT);
    case 'X':
        return sized(r, 4, PK_TEXT);
    case 0x8d:
        return sized(r, 8, PK_TEXT);
    case 'C':
        return sized(r, 1, PK_BYTES);
    case 'B':
        return sized(r, 4, PK_BYTES);
    case 0x8e:
        return sized(r, 8, PK_BYTES);
    case 0x96:
        return sized(r, 8, PK_BYTES);
    case ']':
        return push(r, make(r, PK_LIST));
    case ')':
        return push(r, make(r, PK_LIST));
    case 0x8f:
        return push(r, make(r, PK_LIST));
    case '}':
        return push(r, make(r, PK_DICT));
    case 't':
        return marked(r, PK_LIST);
    case 'l':
        return marked(r, PK_LIST);
    case 0x91:
        return marked(r, PK_LIST);
    case 'd':
        return marked(r, PK_DICT);
    case 0x85:
        return tuple(r, 1);
    case 0x86:
        return tuple(r, 2);
    case 0x87:
        return tuple(r, 3);
    default:
        return fail(r, "opcode 0x%02x is unknown", op);
    }
}

static bool step(struct pk_reader *r, uint8_t op)
{
    switch (op) {
    case 0x80:
        return skip(r, 1); /* PROTO */
    case 0x95:
        return skip(r, 8); /* FRAME */
    case '(':
        return push_mark(r);
    case '0':
        return pop(r) != NULL;
    case '1':
        return take_marked(r, NULL);
    case '2':
        return push(r, r->n ? r->stack[r->n - 1] : NULL) || fail(r, "no value");
    case 0x94:
        return remember(r, r->memo_n);
    case 'q':
        return put(r, 1);
    case 'r':
        return put(r, 4);
    case 'h':
        return recall(r, 1);
    case 'j':
        return recall(r, 4);
    case 'a':
        return add(r, 1);
    case 's':
        return add(r, 2);
    case 'e':
    case 'u':
    case 0x90:
        return add_marked(r);
    case 0x81:
        return object(r, false);
    case 0x92:
        return object(r, true);
    case 'R':
        return object(r, false);
    case 'b':
        return build(r);
    case 0x93:
        return stack_global(r);
    case 'c':
        return global(r);
    default:
        return step_value(r, op);
    }
}

struct pk_reader *pk_read(const uint8_t *data, size_t bytes, struct pk_value **root,
                          char *why, size_t why_bytes)
{
    struct pk_reader *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    *r = (struct pk_reader){
        .data = data, .bytes = bytes, .why = why, .why_bytes = why_bytes};
    bool ended = false;
    while (!ended && !r->failed) {
        if (r->at == r->bytes) {
            (void)fail(r, "it ends before its last value");
        } else {
            uint8_t op = r->data[r->at++];
            ended = op == '.';
            if (!ended)
                (void)step(r, op);
        }
    }
    *root = r->failed ? NULL : pop(r);
    if (*root)
        return r;
    pk_free(r);
    return NULL;
}

void pk_free(struct pk_reader *r)
{
    if (!r)
        return;
    for (struct chunk *c = r->chunks, *next; c; c = next) {
        next = c->next;
        for (unsigned i = 0; i < c->n; i++)
            free(c->value[i].item);
        free(c);
    }
    free(r->stack);
    free(r->memo);
    free(r);
}

bool pk_is(const struct pk_value *v, const char *text)
{
    return v && v->text && v->bytes == strlen(text) &&
           memcmp(v->text, text, v->bytes) == 0;
}

const struct pk_value *pk_get(const struct pk_value *v, const char *key)
{
    if (v && v->kind == PK_OBJECT)
        v = v->state;
    if (!v || v->kind != PK_DICT)
        return NULL;
    for (size_t i = 0; i + 1 < v->n_items; i += 2)
        if (pk_is(v->item[i], key))
            return v->item[i + 1];
    return NULL;
}

int64_t pk_int(const struct pk_value *v, int64_t fallback)
{
    return v && (v->kind == PK_INT || v->kind == PK_BOOL) ? v->number : fallback;
}
