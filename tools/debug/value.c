/* value.c: values as text, and what they have inside.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "elem.h"
#include "dbg_expr.h"

#define MAX_NESTED   6u
#define MAX_ELEMENTS 64u

static uint64_t bits_of(const struct value *v)
{
    uint64_t bits = 0;
    memcpy(&bits, v->data, v->type->bytes < 8 ? v->type->bytes : 8);
    return bits;
}

static int64_t signed_of(const struct value *v)
{
    uint64_t bits = bits_of(v);
    unsigned n = v->type->bytes < 8 ? (unsigned)v->type->bytes * 8 : 64;
    return n == 64 ? (int64_t)bits : (int64_t)(bits << (64 - n)) >> (64 - n);
}

static void float_text(uint64_t bits, unsigned bytes, char *text, size_t size)
{
    float f;
    double d;
    uint32_t low = (uint32_t)bits;
    memcpy(&f, &low, 4);
    memcpy(&d, &bits, 8);
    if (bytes == 2)
        (void)snprintf(text, size, "%.6g", elem_from_f16((uint16_t)bits));
    else if (bytes == 4)
        (void)snprintf(text, size, "%.9g", (double)f);
    else
        (void)snprintf(text, size, "%.17g", d);
}

static void binary_text(uint64_t bits, unsigned n, char *text, size_t size)
{
    size_t at = 0;
    for (unsigned i = n; i-- > 0 && at + 1 < size;)
        text[at++] = bits >> i & 1 ? '1' : '0';
    text[at] = '\0';
}

/* In a format that was asked for. */
static bool formatted(const struct value *v, char format, char *text, size_t size)
{
    uint64_t bits = bits_of(v);
    unsigned bytes = v->type->bytes < 8 ? (unsigned)v->type->bytes : 8;
    switch (format) {
    case 'x':
        (void)snprintf(text, size, "0x%0*" PRIx64, (int)bytes * 2, bits);
        return true;
    case 'd':
        (void)snprintf(text, size, "%" PRId64, signed_of(v));
        return true;
    case 'u':
        (void)snprintf(text, size, "%" PRIu64, bits);
        return true;
    case 't':
        binary_text(bits, bytes * 8, text, size);
        return true;
    case 'c':
        (void)snprintf(text, size, "'%c'", bits >= 32 && bits < 127 ? (char)bits : '.');
        return true;
    case 'f':
        if (bytes != 2 && bytes != 4 && bytes != 8)
            return false;
        float_text(bits, bytes, text, size);
        return true;
    default:
        return false;
    }
}

static void pointer_text(const struct value *v, char *text, size_t size)
{
    const char *space = v->type->space == EMU_SPACE_LDS       ? "lds "
                        : v->type->space == EMU_SPACE_SCRATCH ? "scratch "
                                                              : "";
    (void)snprintf(text, size, "%s0x%" PRIx64, space, bits_of(v));
}

static void scalar_text(const struct value *v, char *text, size_t size)
{
    uint64_t bits = bits_of(v);
    char low[40], high[40];
    switch (v->type->kind) {
    case VT_INT:
    case VT_ENUM:
        (void)snprintf(text, size, "%" PRId64, signed_of(v));
        break;
    case VT_UINT:
        (void)snprintf(text, size, "%" PRIu64, bits);
        break;
    case VT_BOOL:
        (void)snprintf(text, size, "%s", bits ? "true" : "false");
        break;
    case VT_CHAR:
        (void)snprintf(text, size, "%" PRId64 " '%c'", signed_of(v),
                       bits >= 32 && bits < 127 ? (char)bits : '.');
        break;
    case VT_FLOAT:
        float_text(bits, (unsigned)v->type->bytes, text, size);
        break;
    case VT_F16X2:
        float_text(bits & 0xffff, 2, low, sizeof low);
        float_text(bits >> 16, 2, high, sizeof high);
        (void)snprintf(text, size, "{%s, %s}", low, high);
        break;
    case VT_POINTER:
        pointer_text(v, text, size);
        break;
    case VT_HEX:
        (void)snprintf(text, size, "0x%0*" PRIx64, (int)v->type->bytes * 2, bits);
        break;
    default:
        (void)snprintf(text, size, "(no value)");
    }
}

unsigned value_children(const struct context *c, const struct value *v)
{
    unsigned n = 0;
    if (v->type->kind == VT_STRUCT)
        (void)vtype_members(c->program->source, v->type, &n);
    else if (v->type->kind == VT_ARRAY)
        n = v->type->count < 65536 ? (unsigned)v->type->count : 65536;
    return n;
}

/* The part of v at an offset. */
static bool part(const struct context *c, const struct value *v, uint64_t offset,
                 const struct vtype *type, struct value *out)
{
    *out = (struct value){.type = type,
                          .place = v->place,
                          .space = v->space,
                          .address = v->address + offset,
                          .missing = v->missing};
    out->bytes = type->bytes < VALUE_BYTES ? type->bytes : VALUE_BYTES;
    if (v->place == VALUE_MEMORY)
        return tg_read(c->target, c->index, v->space, c->lane, out->address,
                       (unsigned)out->bytes, out->data);
    if (v->place == VALUE_REGISTER && offset % 4 == 0)
        out->sel = v->sel + (unsigned)offset / 4;
    if (offset > v->bytes || v->bytes - offset < out->bytes)
        return false;
    memcpy(out->data, v->data + offset, out->bytes);
    return true;
}

bool value_child(const struct context *c, const struct value *v, unsigned i,
                 struct value *out, char *name, size_t size)
{
    unsigned n;
    struct source *s = c->program->source;
    if (v->type->kind == VT_STRUCT) {
        const struct vmember *m = vtype_members(s, v->type, &n);
        if (i >= n)
            return false;
        (void)snprintf(name, size, "%s", m[i].name);
        return part(c, v, m[i].offset, m[i].type, out);
    }
    if (v->type->kind != VT_ARRAY || i >= v->type->count)
        return false;
    const struct vtype *element = vtype_target(s, v->type);
    (void)snprintf(name, size, "[%u]", i);
    return part(c, v, i * element->bytes, element, out);
}

static void nested_text(const struct context *c, const struct value *v, char format,
                        unsigned depth, char *text, size_t size)
{
    unsigned n = value_children(c, v);
    bool is_struct = v->type->kind == VT_STRUCT;
    size_t at = 0;
    if (!is_struct && v->type->kind != VT_ARRAY) {
        if (!format || !formatted(v, format, text, size))
            scalar_text(v, text, size);
        return;
    }
    if (depth == MAX_NESTED) {
        (void)snprintf(text, size, "{...}");
        return;
    }
    for (unsigned i = 0; i < n && at + 8 < size; i++) {
        struct value child;
        char name[64];
        at += (size_t)snprintf(text + at, size - at, "%s", i ? ", " : "{");
        if (i == MAX_ELEMENTS) {
            at += (size_t)snprintf(text + at, size - at, "...");
            break;
        }
        bool ok = value_child(c, v, i, &child, name, sizeof name);
        if (is_struct && at < size)
            at += (size_t)snprintf(text + at, size - at, "%s = ", name);
        if (at >= size)
            break;
        if (ok)
            nested_text(c, &child, format, depth + 1, text + at, size - at);
        else
            (void)snprintf(text + at, size - at, "?");
        at += strlen(text + at);
    }
    if (at < size)
        (void)snprintf(text + at, size - at, n ? "}" : "{}");
}

void value_text(const struct context *c, const struct value *v, char format, char *text,
                size_t size)
{
    nested_text(c, v, format, 0, text, size);
    size_t n = strlen(text);
    if (v->missing && n < size)
        (void)snprintf(text + n, size - n, " (some of it optimized out)");
}
