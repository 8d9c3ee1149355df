/* dir_data.c: directives that emit data.
 *
 * Must not know relocation types. Invariant: a value that does not fit its bytes is an
 * error, never cut.
 * SPDX-License-Identifier: MIT
 */
#include "amdgpu_reloc.h"
#include "as.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static void put(uint8_t *at, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        at[i] = (uint8_t)(i < 8 ? value >> (8 * i) : 0);
}

/* Fits as a signed or as an unsigned number. */
static bool fits(int64_t value, unsigned size)
{
    if (size >= 8)
        return true;
    int64_t top = (int64_t)1 << (8 * size);
    return value < top && value >= -(top / 2);
}

static void emit_value(struct as *as, unsigned size)
{
    struct ex_value ref;
    as_blanks(as);
    const char *at = as->p;
    if (!as_expr(as, &ref))
        return;
    if (ref.node == 0 && !fits(ref.k, size)) {
        as_error(as, at, "the value does not fit %u byte%s", size, size > 1 ? "s" : "");
        return;
    }
    uint64_t offset = as->sections[as->section].bytes;
    uint8_t *out = as_emit(as, size);
    if (!out)
        return;
    if (as->sections[as->section].data == NULL) {
        if (ref.node || ref.k)
            as_error(as, at, "a section without contents holds only zeros");
        return;
    }
    put(out, ref.node ? 0 : (uint64_t)ref.k, size);
    if (ref.node)
        as_fixup(as, AS_FIX_DATA, size, offset, ref.node, at);
}

static void dir_value(struct as *as, int size)
{
    if (as_at_end(as))
        return;
    do {
        emit_value(as, (unsigned)size);
    } while (!as->failed_statement && as_take(as, ','));
}

static void dir_octa(struct as *as, int arg)
{
    (void)arg;
    do {
        as_blanks(as);
        uint64_t low, high;
        const char *at = as->p;
        bool minus = as_take(as, '-');
        as_blanks(as);
        if (as->p == as->end || !as_is(*as->p, AS_C_DIGIT)) {
            as_error(as, at, "expected a number");
            return;
        }
        if (!as_number(as, &low, &high)) {
            as_error(as, as->error.at, "%s", as->error.text);
            return;
        }
        if (minus) {
            low = 0 - low;
            high = ~high + (low == 0);
        }
        uint8_t *out = as_emit(as, 16);
        if (!out)
            return;
        as_put64(out, low);
        as_put64(out + 8, high);
    } while (as_take(as, ','));
}

/* Text of a floating-point number: what strtod reads, with its end. */
static bool float_text(struct as *as, char *text, size_t room)
{
    size_t n = 0;
    as_blanks(as);
    const char *p = as->p;
    while (p < as->end && (as_is(*p, AS_C_IDENT) || *p == '+' || *p == '-')) {
        if (n + 1 >= room)
            return false;
        text[n++] = *p++;
    }
    text[n] = '\0';
    as->p = p;
    return n > 0;
}

static bool parse_double(struct as *as, double *out)
{
    char text[128];
    char *rest;
    as_blanks(as);
    const char *at = as->p;
    if (float_text(as, text, sizeof text)) {
        *out = strtod(text, &rest);
        if (rest != text && *rest == '\0')
            return true;
    }
    as_error(as, at, "expected a floating-point number");
    return false;
}

/* arg: 4 or 8. A single is rounded once, from the text. */
static void dir_float(struct as *as, int size)
{
    if (as_at_end(as))
        return;
    do {
        char text[128];
        as_blanks(as);
        const char *at = as->p;
        double d;
        if (!parse_double(as, &d))
            return;
        uint64_t bits = 0;
        if (size == 4) {
            size_t n = (size_t)(as->p - at);
            memcpy(text, at, n);
            text[n] = '\0';
            float f = strtof(text, NULL);
            uint32_t bits32;
            memcpy(&bits32, &f, 4);
            bits = bits32;
        } else {
            memcpy(&bits, &d, 8);
        }
        uint8_t *out = as_emit(as, (uint64_t)size);
        if (!out)
            return;
        put(out, bits, (unsigned)size);
    } while (as_take(as, ','));
}

/* Strings one after the other; arg: 1 ends each with a zero byte. */
static void dir_ascii(struct as *as, int zero)
{
    if (as_at_end(as))
        return;
    do {
        struct as_buf text = {0};
        bool ok;
        do { /* neighbours without a comma are one string */
            ok = as_string(as, &text);
            as_blanks(as);
        } while (ok && as->p < as->end && *as->p == '"');
        if (!ok)
            as_error(as, as->error.at, "%s", as->error.text);
        if (zero)
            as_buf_add(&text, "", 1);
        uint8_t *out = ok && text.bytes ? as_emit(as, text.bytes) : NULL;
        if (text.failed)
            as_out_of_memory(as);
        else if (out && as->sections[as->section].data)
            memcpy(out, text.data, text.bytes);
        else if (out)
            as_error(as, as->p, "a section without contents holds only zeros");
        free(text.data);
    } while (!as->failed_statement && as_take(as, ','));
}

/* A count of bytes that is known here. */
static bool count_operand(struct as *as, int64_t *out)
{
    as_blanks(as);
    const char *at = as->p;
    if (!as_absolute(as, out))
        return false;
    if (*out >= 0)
        return true;
    as_error(as, at, "the count must not be negative");
    return false;
}

/* .zero N[, value], .skip, .space */
static void dir_space(struct as *as, int arg)
{
    (void)arg;
    int64_t n;
    int64_t value = 0;
    if (!count_operand(as, &n) || (as_take(as, ',') && !as_absolute(as, &value)))
        return;
    if (!fits(value, 1))
        as_error(as, as->p, "the fill value does not fit a byte");
    else
        as_emit_fill(as, (uint64_t)n, (uint8_t)value);
}

/* .fill repeat[, size[, value]]: only the low four bytes of value count. */
static void dir_fill(struct as *as, int arg)
{
    (void)arg;
    int64_t repeat;
    int64_t size = 1;
    int64_t value = 0;
    if (!count_operand(as, &repeat))
        return;
    if (as_take(as, ',')) {
        if (!count_operand(as, &size) || (as_take(as, ',') && !as_absolute(as, &value)))
            return;
    }
    if (size > 8) {
        as_warning(as, as->p, ".fill of more than 8 bytes at a time: 8 are used");
        size = 8;
    }
    if (size == 0 || repeat == 0)
        return;
    if ((uint64_t)repeat > AS_MAX_NOBITS) {
        as_fatal(as, as->p, "the repeat count is too large");
        return;
    }
    uint64_t n = (uint64_t)repeat * (uint64_t)size;
    bool nobits = as->sections[as->section].type == 8;
    uint8_t *out = as_emit(as, n);
    if (!out || nobits)
        return;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t byte = i % (uint64_t)size;
        out[i] = (uint8_t)(byte < 4 ? (uint64_t)value >> (8 * byte) : 0);
    }
}

/* arg: 1 signed */
static void dir_leb128(struct as *as, int is_signed)
{
    do {
        int64_t value;
        if (!as_absolute(as, &value))
            return;
        uint64_t rest = (uint64_t)value;
        bool more = true;
        while (more) {
            uint8_t byte = rest & 0x7f;
            rest >>= 7;
            if (is_signed) {
                if (value < 0)
                    rest |= (uint64_t)0x7f << 57;
                more = !(rest == ((byte & 0x40) ? UINT64_MAX : 0));
            } else {
                more = rest != 0;
            }
            uint8_t *out = as_emit(as, 1);
            if (!out)
                return;
            *out = (uint8_t)(byte | (more ? 0x80 : 0));
        }
    } while (as_take(as, ','));
}

/* .reloc PLACE, TYPE[, SYMBOL + ADDEND]: the place counts from the section's start. */
static void dir_reloc(struct as *as, int arg)
{
    (void)arg;
    struct ex_value place, what = {0};
    const char *name;
    size_t len;
    uint32_t type = 0;
    as_blanks(as);
    const char *at = as->p;
    if (!as_expr(as, &place) || !as_expect(as, ',') ||
        !as_need_name(as, "a relocation's type", &name, &len))
        return;
    while (type <= R_AMDGPU_REL16 &&
           !(asm_reloc_name(type) && as_same(name, len, asm_reloc_name(type))))
        type++;
    if (type > R_AMDGPU_REL16) {
        as_error(as, name, "no type of a relocation");
        return;
    }
    if (place.node == 0 && place.k < 0) {
        as_error(as, at, "the place must not be negative");
        return;
    }
    if (as_take(as, ',') && !as_expr(as, &what))
        return;
    uint32_t before = as->n_fixups;
    as_fixup(as, AS_FIX_RELOC, type, (uint64_t)place.k, what.node, at);
    if (as->n_fixups > before) {
        as->fixups[before].place = place.node;
        as->fixups[before].k = what.k;
    }
}

const struct as_directive as_directives_data[] = {
    {".byte", dir_value, 1},     {".short", dir_value, 2}, {".value", dir_value, 2},
    {".2byte", dir_value, 2},    {".long", dir_value, 4},  {".int", dir_value, 4},
    {".4byte", dir_value, 4},    {".quad", dir_value, 8},  {".8byte", dir_value, 8},
    {".dc.b", dir_value, 1},     {".dc.w", dir_value, 2},  {".dc.l", dir_value, 4},
    {".octa", dir_octa, 0},      {".float", dir_float, 4}, {".single", dir_float, 4},
    {".double", dir_float, 8},   {".ascii", dir_ascii, 0}, {".asciz", dir_ascii, 1},
    {".string", dir_ascii, 1},   {".zero", dir_space, 0},  {".skip", dir_space, 0},
    {".space", dir_space, 0},    {".fill", dir_fill, 0},   {".uleb128", dir_leb128, 0},
    {".sleb128", dir_leb128, 1}, {".reloc", dir_reloc, 0}, {NULL, NULL, 0},
};
