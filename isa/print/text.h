/* text.h: appends to a text buffer, without printf.
 * SPDX-License-Identifier: MIT
 */
#ifndef ISA_TEXT_H
#define ISA_TEXT_H

#include <stdint.h>
#include <string.h>

/* The caller's buffer holds ISA_MAX_TEXT bytes; no instruction's text is longer. */
struct text {
    char *at;
};

static inline void put_char(struct text *t, char c)
{
    *t->at++ = c;
}

static inline void put_bytes(struct text *t, const char *s, size_t len)
{
    memcpy(t->at, s, len);
    t->at += len;
}

static inline void put_str(struct text *t, const char *s)
{
    put_bytes(t, s, strlen(s));
}

static inline void put_dec(struct text *t, uint32_t value)
{
    if (value < 10) {
        put_char(t, (char)('0' + value));
        return;
    }
    char digits[10];
    unsigned n = 0;
    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    while (n != 0)
        put_char(t, digits[--n]);
}

static inline void put_signed(struct text *t, int32_t value)
{
    if (value < 0)
        put_char(t, '-');
    put_dec(t, value < 0 ? 0u - (uint32_t)value : (uint32_t)value);
}

/* "0x1f" */
static inline void put_hex(struct text *t, uint32_t value)
{
    unsigned shift = 0;
    while (shift < 28 && value >> (shift + 4) != 0)
        shift += 4;
    put_bytes(t, "0x", 2);
    for (;; shift -= 4) {
        put_char(t, "0123456789abcdef"[value >> shift & 15]);
        if (shift == 0)
            return;
    }
}

/* Small whole numbers in decimal, others in hexadecimal. */
static inline void put_inline_or_hex(struct text *t, int32_t value)
{
    if (value >= -16 && value <= 64)
        put_signed(t, value);
    else
        put_hex(t, (uint32_t)value);
}

#endif
