/* data.c: sections without code: descriptors, relocated words, strings, numbers.
 *
 * Must not know instructions. Invariant: every byte is written once, by a directive
 * that makes it again. SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>

#include "asm.h"
#include "kernel_block.h"
#include "write.h"

#define MIN_ZEROS  16u /* bytes that are worth a .zero */
#define PER_LINE   16u
#define MIN_STRING 4u

/* The descriptor that begins at an offset, or NULL. */
static const struct dis_symbol *
descriptor_at(const struct dis_object *o, const struct dis_section *s, uint64_t offset)
{
    for (uint32_t i = s->first; i < s->first + s->n_symbols; i++) {
        const struct dis_symbol *y = &o->symbols[o->by_place[i]];
        if (y->value > offset)
            break;
        if (y->value == offset && y->type == STT_OBJECT && dis_object_kernel(o, y))
            return y;
    }
    return NULL;
}

/* A descriptor as a block; else its label, and what follows is data. Returns the bytes
 * written. */
static uint64_t put_descriptor(struct dis_writer *w, const struct dis_symbol *d,
                               uint64_t next)
{
    char text[ASM_KERNEL_BYTES];
    const struct dis_symbol *kernel = dis_block(w->o, d, text);
    if (kernel && next >= CO_KD_BYTES) {
        printf("\n\t.amdhsa_kernel ");
        dis_put_name(stdout, kernel->name);
        printf("\n%s\t.end_amdhsa_kernel\n", text);
        return CO_KD_BYTES;
    }
    putchar('\n');
    dis_put_name(stdout, d->name);
    printf(": // descriptor, %" PRIu64 " bytes\n", d->bytes);
    return 0;
}

/* Characters of a string that .asciz writes, without its zero; 0 if it is none. */
static uint64_t string_length(const uint8_t *p, uint64_t n)
{
    uint64_t i = 0;
    while (i < n && ((p[i] >= ' ' && p[i] < 0x7f) || (p[i] >= '\t' && p[i] <= '\r')))
        i++;
    return i < n && p[i] == 0 && i >= MIN_STRING ? i : 0;
}

static void put_string(const uint8_t *p, uint64_t n)
{
    printf("\t.asciz\t\"");
    for (uint64_t i = 0; i < n; i++) {
        if (p[i] == '"' || p[i] == '\\')
            printf("\\%c", p[i]);
        else if (p[i] < ' ')
            printf("\\%03o", p[i]);
        else
            putchar(p[i]);
    }
    printf("\"\n");
}

static uint64_t zeros(const uint8_t *p, uint64_t n)
{
    uint64_t i = 0;
    while (i < n && p[i] == 0)
        i++;
    return i;
}

/* Up to a line of numbers. */
static uint64_t put_numbers(const uint8_t *p, uint64_t n, bool words)
{
    uint64_t at = 0;
    unsigned size = words && n >= 4 ? 4 : 1;
    if (n > PER_LINE)
        n = PER_LINE;
    printf("\t%s\t", size == 4 ? ".long" : ".byte");
    for (; at + size <= n; at += size) {
        uint32_t value = p[at];
        if (size == 4)
            memcpy(&value, p + at, 4);
        printf("%s0x%0*" PRIx32, at ? ", " : "", (int)size * 2, value);
    }
    putchar('\n');
    return at;
}

/* n bytes without symbols or relocations. */
static void put_bytes(const uint8_t *p, uint64_t n, uint64_t offset, bool strings)
{
    while (n) {
        uint64_t used = zeros(p, n);
        uint64_t length = strings ? string_length(p, n) : 0;
        if (used >= MIN_ZEROS || used == n) {
            printf("\t.zero\t%" PRIu64 "\n", used);
        } else if (length) {
            put_string(p, length);
            used = length + 1;
        } else {
            used = put_numbers(p, n, offset % 4 == 0);
        }
        p += used;
        n -= used;
        offset += used;
    }
}

/* A relocated word. Returns its size, or 0 if no directive makes it. */
static uint64_t put_reloc(struct dis_writer *w, const struct dis_section *s,
                          const struct dis_reloc *r, uint64_t room)
{
    unsigned size = asm_reloc_size(r->type);
    const char *expression = dis_expression(w, s, r, true);
    if (!expression || size > room) {
        w->lost++;
        return 0;
    }
    printf("\t%s\t%s\n", size == 8 ? ".quad" : ".long", expression);
    return size;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void dis_put_data(struct dis_writer *w, struct dis_section *s)
{
    const struct dis_object *o = w->o;
    uint32_t reloc = 0;
    for (uint64_t at = 0; at < s->bytes;) {
        dis_put_labels(w, s, at);
        const struct dis_symbol *d = s->n_symbols ? descriptor_at(o, s, at) : NULL;
        uint64_t next = s->n_symbols ? dis_next_symbol(o, s, at) : s->bytes;
        uint64_t used = d ? put_descriptor(w, d, next - at) : 0;
        while (reloc < s->n_relocs && s->relocs[reloc].offset < at + used)
            reloc++;
        if (!used && reloc < s->n_relocs && s->relocs[reloc].offset == at) {
            dis_put_odd(w, s, s->relocs[reloc].order);
            used = put_reloc(w, s, &s->relocs[reloc], s->bytes - at);
            dis_put_inside(w, s, at, at + used);
            reloc++;
        }
        if (!used) {
            uint64_t end = next;
            if (reloc < s->n_relocs)
                end = least(end, s->relocs[reloc].offset);
            used = end > at ? end - at : 1;
            if (s->data)
                put_bytes(s->data + at, used, at, true);
            else
                printf("\t.zero\t%" PRIu64 "\n", used);
        }
        at += used;
    }
    dis_put_labels(w, s, s->bytes);
}
