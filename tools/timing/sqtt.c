/* sqtt.c: packets one after the other. The lowest bits tell which it is.
 *
 * Invariant: never reads behind the trace; times never go back.
 * SPDX-License-Identifier: MIT
 */
#include "sqtt.h"

#include <string.h>

#define SQ_THREAD_TRACE_USERDATA_2 0xc342u
#define SQ_THREAD_TRACE_USERDATA_3 0xc343u

/* The table of the format: code in the lowest bits, length in nibbles, where the cycles
 * lie. The longest code that fits is meant. */
static const struct form {
    uint8_t bits, code, nibbles, at, wide, kind;
} forms[] = {
    {8, 0x61, 6, 8, 3, SQTT_OTHER},      /* event */
    {8, 0xe1, 8, 8, 3, SQTT_OTHER},      /* long event */
    {7, 0x21, 16, 8, 3, SQTT_OTHER},     /* where a call went; 64 bits in captures */
    {7, 0x01, 12, 12, 36, SQTT_CLOCK},   /* time, or what a clock says */
    {7, 0x51, 6, 7, 9, SQTT_OTHER},      /* state */
    {7, 0x71, 16, 7, 3, SQTT_OTHER},     /* snapshot */
    {7, 0x11, 16, 0, 0, SQTT_HEADER},    /**/
    {7, 0x31, 12, 7, 2, SQTT_OTHER},     /* counter */
    {5, 0x06, 13, 5, 3, SQTT_OTHER},     /* time */
    {5, 0x1c, 12, 5, 2, SQTT_OTHER},     /* time */
    {5, 0x04, 6, 5, 3, SQTT_IMMEDIATE},  /* of several waves */
    {5, 0x14, 6, 5, 3, SQTT_OTHER},      /* waves that are ready */
    {5, 0x15, 5, 5, 3, SQTT_WAVE_END},   /**/
    {5, 0x0c, 8, 5, 2, SQTT_WAVE_START}, /**/
    {5, 0x05, 5, 5, 3, SQTT_OTHER},      /* wave allocated */
    {5, 0x16, 7, 5, 3, SQTT_OTHER},      /* counter */
    {4, 0x8, 2, 4, 4, SQTT_OTHER},       /* time, 4 more */
    {4, 0xf, 2, 4, 2, SQTT_OTHER},       /* memory unit has taken one */
    {4, 0xe, 2, 4, 2, SQTT_OTHER},       /* ALU has executed one */
    {4, 0xd, 3, 4, 3, SQTT_IMMEDIATE},   /**/
    {4, 0x9, 16, 4, 3, SQTT_REGISTER},   /**/
    {3, 0x3, 3, 3, 3, SQTT_VALU},        /**/
    {3, 0x2, 5, 4, 3, SQTT_INST},        /**/
    {0, 0x0, 1, 0, 0, SQTT_OTHER},       /* nothing */
};

static const struct form *form_of(unsigned low)
{
    const struct form *f = forms;
    while ((low & ((1u << f->bits) - 1)) != f->code)
        f++;
    return f;
}

/* Up to 16 nibbles from there on; what lies behind the trace is 0. */
static uint64_t peek(const struct sqtt_reader *r)
{
    uint8_t b[9] = {0};
    size_t at = r->nibble / 2, left = r->bytes - at;
    memcpy(b, r->data + at, left < sizeof b ? left : sizeof b);
    uint64_t v = 0;
    for (unsigned i = 0; i < 8; i++)
        v |= (uint64_t)b[i] << 8 * i;
    return r->nibble % 2 ? v >> 4 | (uint64_t)b[8] << 60 : v;
}

static uint64_t field(uint64_t v, unsigned at, unsigned wide)
{
    return v >> at & ((UINT64_C(1) << wide) - 1);
}

static void take_wave(struct sqtt_packet *p, uint64_t v, bool start)
{
    p->sa = (uint8_t)field(v, start ? 7 : 8, 1);
    p->simd = (uint8_t)field(v, start ? 8 : 9, 2);
    p->wgp = (uint8_t)field(v, start ? 10 : 11, 3);
    p->slot = (uint8_t)field(v, start ? 13 : 15, 5);
}

/* What is in it but for its time. */
static void take_fields(struct sqtt_packet *p, uint64_t v, const struct form *f)
{
    if (f->kind == SQTT_WAVE_START || f->kind == SQTT_WAVE_END) {
        take_wave(p, v, f->kind == SQTT_WAVE_START);
    } else if (f->kind == SQTT_VALU) {
        p->slot = (uint8_t)field(v, 7, 5);
    } else if (f->kind == SQTT_INST) {
        p->slot = (uint8_t)field(v, 8, 5);
        p->op = (uint8_t)field(v, 13, 7);
    } else if (f->kind == SQTT_IMMEDIATE) {
        p->slot = (uint8_t)field(v, 7, 5);
        p->mask = (uint16_t)(f->nibbles == 3 ? 1u << (p->slot & 15u) : field(v, 8, 16));
    } else if (f->kind == SQTT_REGISTER) {
        p->reg = (uint16_t)(field(v, 15, 1) ? field(v, 16, 16) : 0);
        p->user = !field(v, 15, 1) && (field(v, 16, 16) == SQ_THREAD_TRACE_USERDATA_2 ||
                                       field(v, 16, 16) == SQ_THREAD_TRACE_USERDATA_3);
        p->value = (uint32_t)(v >> 32);
    } else if (f->kind == SQTT_HEADER) {
        p->layout = (uint8_t)field(v, 7, 6);
        p->simd = (uint8_t)field(v, 13, 2);
        p->wgp = (uint8_t)field(v, 15, 3);
    }
}

bool sqtt_next(struct sqtt_reader *r, struct sqtt_packet *out)
{
    size_t all = 2 * r->bytes;
    if (r->nibble >= all)
        return false;
    uint64_t v = peek(r);
    const struct form *f = form_of((unsigned)v & 255u);
    if (f->nibbles > all - r->nibble)
        return false;
    *out = (struct sqtt_packet){.kind = f->kind};
    uint64_t cycles = field(v, f->at, f->wide);
    if (f->bits == 4 && f->code == 8)
        cycles += 4;
    if (f->kind == SQTT_CLOCK) {
        bool clock = field(v, 9, 1) && !field(v, 8, 1);
        out->clock = cycles;
        cycles = clock ? 0 : cycles;
        out->kind = clock ? SQTT_CLOCK : SQTT_OTHER;
    }
    r->t += (int64_t)cycles;
    r->nibble += f->nibbles;
    out->t = r->t;
    take_fields(out, v, f);
    return true;
}

size_t sqtt_length(const uint8_t *data, size_t bytes)
{
    struct sqtt_reader r = {.data = data, .bytes = bytes};
    struct sqtt_packet p;
    for (size_t at = 0; sqtt_next(&r, &p); at = r.nibble)
        if (p.kind == SQTT_HEADER && at > 0 && at % 2 == 0)
            return at / 2;
    return bytes;
}
