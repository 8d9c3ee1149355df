/* printed.c: what kernels print: the buffer that printf in a kernel fills, as text.
 *
 * Must not run kernels. The buffer is theirs: nothing in it is believed before it is
 * compared with its size.
 * Sources: LLVM AMDGPUUsage (amdhsa.printf, hidden_printf_buffer); what a record holds:
 * LLVM's AMDGPUPrintfRuntimeBinding (OpenCL) and AMDGPUEmitPrintf (HIP, "buffered");
 * the head of the buffer: __printf_alloc of ROCm's device libraries.
 * SPDX-License-Identifier: MIT
 */
#include "internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (4u << 20) /* ROCm's size */
#define HEAD_BYTES   8u         /* bytes in use, size of the buffer */
#define MOST_WIDTH   4096

/* Bytes that are left of a record, or of the buffer. */
struct bytes {
    const uint8_t *at;
    size_t left;
};

/* One conversion of a format. */
struct conv {
    char flags[8];
    int width, precision; /* -1: none */
    unsigned lanes;       /* of a vector; 0: none */
    unsigned bytes;       /* of an integer, by its length modifier */
    char kind;            /* 'd', 's' ..., '%'; 0: the format ends */
};

rd_status la_printf_buffer(struct la *la, const struct la_kernel *kernel,
                           uint64_t *gpuva, struct la_error *err)
{
    uint32_t head[2] = {0, BUFFER_BYTES};
    void *buffer;
    rd_status st = la_alloc(la, BUFFER_BYTES, EMU_MEM_READ | EMU_MEM_WRITE,
                            "printf buffer", &buffer, err);
    if (st != RD_OK)
        return st;
    memcpy(buffer, head, sizeof head);
    la->printed.buffer = buffer;
    la->printed.object = kernel->object;
    *gpuva = (uintptr_t)buffer;
    return RD_OK;
}

static uint32_t load32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Take n bytes; NULL: there are fewer. */
static const uint8_t *take(struct bytes *b, size_t n)
{
    const uint8_t *p = b->at;
    if (n > b->left)
        return NULL;
    b->at += n;
    b->left -= n;
    return p;
}

/* ---- formats --------------------------------------------------------------------- */

/* Metadata spells OpenCL's formats with escapes; also the colon, as \72. */
static const char *unescape(const char *p, char *c)
{
    static const char letters[] = "abfnrtv", values[] = "\a\b\f\n\r\t\v";
    if (*p != '\\' || !p[1]) {
        *c = *p;
        return p + 1;
    }
    const char *letter = strchr(letters, p[1]);
    if (letter) {
        *c = values[letter - letters];
        return p + 2;
    }
    unsigned value = 0, n = 1;
    for (; n <= 3 && p[n] >= '0' && p[n] <= '7'; n++)
        value = value * 8 + (unsigned)(p[n] - '0');
    *c = n > 1 ? (char)value : '\\';
    return p + n;
}

static const char *parse_int(const char *p, int *out)
{
    long v = strtol(p, (char **)&p, 10);
    *out = v < 0 ? 0 : v > MOST_WIDTH ? MOST_WIDTH : (int)v;
    return p;
}

static const char *parse_length(const char *p, struct conv *c)
{
    c->bytes = 4;
    if (strncmp(p, "hh", 2) == 0)
        c->bytes = 1;
    else if (strncmp(p, "hl", 2) != 0 && *p == 'h')
        c->bytes = 2;
    else if (*p && *p != 'h' && strchr("ljztq", *p))
        c->bytes = 8;
    while (*p && strchr("hljztqL", *p))
        p++;
    return p;
}

/* The conversion behind a '%'. Source: OpenCL C, "printf format string"; C11. */
static const char *parse(const char *p, struct conv *c)
{
    size_t n = 0;
    memset(c, 0, sizeof *c);
    c->width = c->precision = -1;
    for (; *p && strchr("-+ #0", *p); p++)
        if (n + 1 < sizeof c->flags && !strchr(c->flags, *p))
            c->flags[n++] = *p;
    if (*p >= '0' && *p <= '9')
        p = parse_int(p, &c->width);
    if (*p == '.')
        p = parse_int(p + 1, &c->precision);
    if (*p == 'v') {
        int lanes;
        p = parse_int(p + 1, &lanes);
        c->lanes = (unsigned)lanes;
    }
    p = parse_length(p, c);
    c->kind = *p;
    return *p ? p + 1 : p;
}

/* Conversions that take an argument, of what is left of a format. */
static size_t count_args(const char *p)
{
    struct conv c;
    size_t n = 0;
    while ((p = strchr(p, '%'))) {
        p = parse(p + 1, &c);
        n += c.kind && c.kind != '%';
    }
    return n;
}

/* Print a format; one prints a conversion that takes an argument (false: there is
 * none), rest: the format behind it. */
static bool print_format(const char *p,
                         bool (*one)(void *ctx, struct conv *c, const char *rest,
                                     FILE *f),
                         void *ctx, FILE *f)
{
    struct conv c;
    while (*p) {
        if (*p != '%') {
            fputc(*p++, f);
            continue;
        }
        p = parse(p + 1, &c);
        if (c.kind == '%')
            fputc('%', f);
        else if (c.kind && !one(ctx, &c, p, f))
            return false;
    }
    return true;
}

/* ---- values ---------------------------------------------------------------------- */

static double half(uint16_t bits)
{
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double v = exponent == 0    ? ldexp(mantissa, -24)
               : exponent == 31 ? (mantissa ? NAN : INFINITY)
                                : ldexp(1024 + mantissa, exponent - 25);
    return bits & 0x8000 ? -v : v;
}

static double floating(const uint8_t *p, size_t bytes)
{
    double d = 0;
    float f;
    uint16_t h;
    if (bytes >= 8) {
        memcpy(&d, p, sizeof d);
    } else if (bytes >= 4) {
        memcpy(&f, p, sizeof f);
        d = (double)f;
    } else if (bytes == 2) {
        memcpy(&h, p, sizeof h);
        d = half(h);
    }
    return d;
}

static uint64_t integer(const struct conv *c, const uint8_t *p, size_t bytes)
{
    uint64_t v = 0;
    bool is_signed = c->kind == 'd' || c->kind == 'i';
    size_t n = c->kind == 'p' || c->bytes > bytes ? bytes : c->bytes;
    n = n > 8 ? 8 : n;
    memcpy(&v, p, n);
    if (is_signed && n && n < 8 && v >> (8 * n - 1) & 1)
        v |= UINT64_MAX << 8 * n;
    return v;
}

/* One element; bytes is its size. */
static void print_value(const struct conv *c, const uint8_t *p, size_t bytes, FILE *f)
{
    char format[24];
    int width = c->width < 0 ? 0 : c->width;
    const char *length = "", kind[2] = {c->kind, 0};
    if (c->kind && strchr("diouxX", c->kind))
        length = "ll";
    (void)snprintf(format, sizeof format, "%%%s*.*%s%s", c->flags, length, kind);
    if (*length)
        fprintf(f, format, width, c->precision, integer(c, p, bytes));
    else if (c->kind == 'c')
        fprintf(f, "%*c", strchr(c->flags, '-') ? -width : width,
                (int)integer(c, p, bytes));
    else if (c->kind == 'p')
        fprintf(f, "%*s0x%" PRIx64, width > 18 ? width - 18 : 0, "",
                integer(c, p, bytes));
    else if (c->kind && strchr("aAeEfFgG", c->kind))
        fprintf(f, format, width, c->precision, floating(p, bytes));
    else
        fprintf(f, "%%%c", c->kind);
}

static void print_string(const struct conv *c, const char *text, size_t most, FILE *f)
{
    int width = c->width < 0 ? 0 : c->width;
    size_t n = strnlen(text, most);
    if (c->precision >= 0 && n > (size_t)c->precision)
        n = (size_t)c->precision;
    fprintf(f, "%*.*s", strchr(c->flags, '-') ? -width : width, (int)n, text);
}

/* ---- OpenCL: ID:N:SIZE:...:FORMAT, arguments as large as they are ---------------- */

struct entry {
    uint32_t id;
    unsigned n;
    uint32_t size[64]; /* of the first ones */
    const char *format;
};

static bool parse_entry(const char *text, struct entry *e)
{
    char *end;
    memset(e, 0, sizeof *e);
    e->id = (uint32_t)strtoul(text, &end, 10);
    if (*end != ':')
        return false;
    e->n = (unsigned)strtoul(end + 1, &end, 10);
    for (unsigned i = 0; i < e->n && *end == ':'; i++) {
        unsigned long size = strtoul(end + 1, &end, 10);
        if (i >= sizeof e->size / sizeof e->size[0] || size > BUFFER_BYTES)
            return false;
        e->size[i] = (uint32_t)size;
    }
    e->format = end + 1;
    return *end == ':';
}

static void print_argument(const struct conv *c, const uint8_t *p, size_t bytes,
                           FILE *f)
{
    if (c->kind == 's') {
        print_string(c, (const char *)p, bytes, f);
        return;
    }
    unsigned room = c->lanes == 3 ? 4 : c->lanes; /* vectors of three have a fourth */
    size_t size = room ? bytes / room : bytes;
    print_value(c, p, size, f);
    for (unsigned i = 1; i < c->lanes; i++) {
        fputc(',', f);
        print_value(c, p + i * size, size, f);
    }
}

/* Arguments of a record, as large as the entry says. */
struct typed {
    const struct entry *e;
    unsigned next;
    struct bytes *args;
};

static bool print_typed_one(void *ctx, struct conv *c, const char *rest, FILE *f)
{
    struct typed *t = ctx;
    (void)rest;
    if (t->next >= t->e->n)
        return true;
    size_t bytes = t->e->size[t->next++];
    const uint8_t *value = take(t->args, bytes);
    if (value)
        print_argument(c, value, bytes, f);
    return value != NULL;
}

/* The text of a format whose escapes are gone; args: the record's. */
static bool print_typed(const struct entry *e, const char *p, struct bytes *args,
                        FILE *f)
{
    struct typed t = {e, 0, args};
    if (!print_format(p, print_typed_one, &t, f))
        return false;
    for (; t.next < e->n; t.next++) /* more than the format has conversions */
        if (!take(args, e->size[t.next]))
            return false;
    return true;
}

static bool print_opencl(const struct co_object *co, struct bytes *b, FILE *f)
{
    const uint8_t *id = take(b, 4);
    struct entry e;
    unsigned i = 0, n = co_printf_count(co);
    while (id && i < n && (!parse_entry(co_printf_at(co, i), &e) || e.id != load32(id)))
        i++;
    if (!id || i == n)
        return false;
    char *format = malloc(strlen(e.format) + 1), *to = format;
    if (!format)
        return false;
    for (const char *p = e.format; *p;)
        p = unescape(p, to++);
    *to = 0;
    bool good = print_typed(&e, format, b, f);
    free(format);
    return good;
}

/* ---- HIP: 0:0:HASH,FORMAT, arguments of 8 bytes each, strings in place ----------- */

static const char *by_hash(const struct co_object *co, uint64_t hash)
{
    for (unsigned i = 0; i < co_printf_count(co); i++) {
        char *end;
        const char *text = co_printf_at(co, i);
        if (strncmp(text, "0:0:", 4) == 0 && strtoull(text + 4, &end, 16) == hash &&
            *end == ',')
            return end + 1;
    }
    return NULL;
}

/* A string with what pads it; NULL: it has no end. */
static const char *take_string(struct bytes *b)
{
    const char *text = (const char *)b->at;
    size_t n = strnlen(text, b->left);
    if (!take(b, (n + 8) & ~(size_t)7)) /* more than is left, without an end */
        return NULL;
    return text;
}

/* Arguments of 8 bytes; strings: the compiler knew the format, and with it which
 * pointers are strings. */
struct promoted {
    bool strings;
    struct bytes *args;
};

static bool print_promoted_one(void *ctx, struct conv *c, const char *rest, FILE *f)
{
    struct promoted *p = ctx;
    if (c->kind == 's' && p->strings) {
        /* of a null pointer there is nothing */
        const char *text = p->args->left <= 8 * count_args(rest) ? "(null)" : NULL;
        if (!text && !(text = take_string(p->args)))
            return false;
        print_string(c, text, SIZE_MAX, f);
        return true;
    }
    const uint8_t *value = take(p->args, 8);
    c->kind = c->kind == 's' ? 'p' : c->kind;
    if (value)
        print_value(c, value, 8, f);
    return value != NULL;
}

static bool print_promoted(const char *format, bool strings, struct bytes *args,
                           FILE *f)
{
    struct promoted p = {strings, args};
    return print_format(format, print_promoted_one, &p, f);
}

bool la_print_message(const uint8_t *at, size_t bytes, FILE *f)
{
    struct bytes b = {at, bytes};
    const char *format = take_string(&b);
    return format && print_promoted(format, true, &b, f);
}

static bool print_hip(const struct co_object *co, struct bytes *b, FILE *f)
{
    const uint8_t *control = take(b, 4);
    uint32_t word = control ? load32(control) : 0;
    size_t bytes = word >> 2;
    struct bytes record = {b->at, bytes - 4};
    if (bytes < 4 || !take(b, bytes - 4))
        return false;
    const char *format = NULL;
    if (word & 2) {
        uint64_t hash;
        const uint8_t *p = take(&record, sizeof hash);
        if (!p)
            return false;
        memcpy(&hash, p, sizeof hash);
        format = by_hash(co, hash);
    } else {
        format = take_string(&record);
    }
    return format && print_promoted(format, word & 2, &record, f);
}

/* ---- all of it ------------------------------------------------------------------- */

enum la_printed la_print(struct la *la, FILE *f)
{
    uint8_t *buffer = la->printed.buffer;
    const struct co_object *co = la->printed.object;
    if (!buffer)
        return LA_PRINTED_ALL;
    size_t used = load32(buffer), largest = 0;
    if (used > BUFFER_BYTES - HEAD_BYTES)
        return LA_PRINTED_BROKEN;
    struct bytes b = {buffer + HEAD_BYTES, used};
    bool hip = co_printf_count(co) == 0 || strncmp(co_printf_at(co, 0), "0:0:", 4) == 0;
    bool good = true;
    while (good && b.left) {
        size_t before = b.left;
        good = hip ? print_hip(co, &b, f) : print_opencl(co, &b, f);
        largest = before - b.left > largest ? before - b.left : largest;
    }
    memset(buffer, 0, sizeof(uint32_t)); /* the kernel may go on */
    if (!good)
        return LA_PRINTED_BROKEN;
    return largest > BUFFER_BYTES - HEAD_BYTES - used ? LA_PRINTED_FULL
                                                      : LA_PRINTED_ALL;
}
