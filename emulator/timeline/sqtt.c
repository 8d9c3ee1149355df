/* sqtt.c: a timeline as the thread trace that gfx11's hardware would have written.
 *
 * A trace is a stream of nibbles, low one first; a packet's low bits tell its kind and
 * length. Each packet says how many cycles it comes after the one before it; what its
 * field cannot hold goes into time packets in front. What instructions become follows
 * the tokens in captures of the real chip. Must not know how traces are shown.
 *
 * Not there: instructions of other SIMDs, events of the command processor and its
 * register writes but for those that are given, tokens of a VALU instruction that EXEC
 * skipped (it is written as if it had issued).
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "facts.h"
#include "timeline.h"

#define COMPUTE_REGS 0x2e00u
#define PIPE         4u /* of a register write, as captures have it */

enum kind { P_WAVEEND, P_WAVESTART, P_INST, P_VALU, P_IMMEDIATE, P_ALUEXEC, P_MEMEXEC };

struct packet {
    int64_t t;
    uint64_t bits; /* but for the delta */
    uint8_t kind;
};

struct sqtt {
    FILE *f;
    struct packet *packet;
    size_t n, cap;
    bool failed;
    unsigned without;
    /* the stream */
    int64_t now;
    unsigned held; /* a nibble, if half */
    bool half;
    double mhz;
    int64_t next_mark;
};

/* ---- the stream ------------------------------------------------------------------ */

static void put(struct sqtt *s, uint64_t bits, unsigned nibbles)
{
    for (; nibbles; nibbles--, bits >>= 4) {
        if (s->half)
            fputc((int)(s->held | (unsigned)(bits & 15u) << 4), s->f);
        s->held = (unsigned)(bits & 15u);
        s->half = !s->half;
    }
}

/* The 100 MHz clock, which has no delta. */
static void put_mark(struct sqtt *s)
{
    uint64_t ticks = (uint64_t)((double)s->now / s->mhz * 100) & 0xfffffffff;
    put(s, 1u | UINT64_C(1) << 9 | ticks << 12, 12);
}

/* Go on to a time, but for at most `most` cycles that the packet itself adds. */
static unsigned advance(struct sqtt *s, int64_t t, unsigned most)
{
    int64_t gap = t - s->now;
    s->now = t;
    if (gap <= (int64_t)most)
        return (unsigned)gap;
    if (gap >= 4 && gap <= 19 + (int64_t)most) { /* 4 to 19 in two nibbles */
        int64_t part = gap <= 19 ? gap : 19;
        put(s, 8u | (uint64_t)(part - 4) << 4, 2);
        return (unsigned)(gap - part);
    }
    put(s, 1u | ((uint64_t)gap & 0xfffffffff) << 12, 12);
    return 0;
}

/* Length, place and size of the delta, per kind. */
static const struct {
    uint8_t nibbles, shift, most;
} shape[] = {
    [P_WAVEEND] = {5, 5, 7}, [P_WAVESTART] = {8, 5, 3}, [P_INST] = {5, 4, 7},
    [P_VALU] = {3, 3, 7},    [P_IMMEDIATE] = {3, 4, 7}, [P_ALUEXEC] = {2, 4, 3},
    [P_MEMEXEC] = {2, 4, 3}};

static void put_packet(struct sqtt *s, const struct packet *p)
{
    unsigned delta = advance(s, p->t, shape[p->kind].most);
    put(s, p->bits | (uint64_t)delta << shape[p->kind].shift, shape[p->kind].nibbles);
    if (s->now >= s->next_mark) {
        put_mark(s);
        s->next_mark = s->now + 65536;
    }
}

/* ---- packets --------------------------------------------------------------------- */

/* Bits of TOKEN_EXCLUDE. */
#define TOKEN_REG 6
static const uint8_t token[] = {
    [P_WAVEEND] = 4,   [P_WAVESTART] = 4, [P_INST] = 8,   [P_VALU] = 2,
    [P_IMMEDIATE] = 5, [P_ALUEXEC] = 1,   [P_MEMEXEC] = 0};

static void add(struct sqtt *s, enum kind kind, int64_t t, uint64_t bits)
{
    if (s->without >> token[kind] & 1u)
        return;
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 4096;
        struct packet *bigger = realloc(s->packet, cap * sizeof *bigger);
        if (!bigger) {
            s->failed = true;
            return;
        }
        s->packet = bigger;
        s->cap = cap;
    }
    s->packet[s->n++] = (struct packet){t, bits, (uint8_t)kind};
}

enum {
    OP_SALU = 0,
    OP_SMEM = 1,
    OP_JUMP = 3,
    OP_JUMP_NO = 4,
    OP_CALL = 5,
    OP_MESSAGE = 9,
    OP_TRANS = 0xb,
    OP_HALF = 0xd,
    OP_QUARTER = 0xe,
    OP_DOUBLE = 0xf,
    OP_INTERP = 0x12,
    OP_BARRIER = 0x13,
    OP_FLAT_READ = 0x1c,
    OP_FLAT_WRITE = 0x1d - 3,
    OP_READ = 0x21 - 1,
    OP_WRITE = 0x24 - 2,
    OP_LDS_READ = 0x29,
    OP_LDS_WRITE = 0x2a - 1,
    OP_SALU_EXEC = 0x72,
    OP_VALU_EXEC = 0x73,
    OP_NONE = -1
};

static unsigned within(unsigned n, unsigned low, unsigned high)
{
    return n < low ? low : n > high ? high : n;
}

/* Memory: by what is sent. Stores and atomics send data, loads addresses only. */
static int memory_op(const struct tl_inst *i)
{
    bool load =
        isa_facts(i->op)->access == ISA_ACCESS_LOAD || i->op == ISA_DS_SWIZZLE_B32;
    if (i->cls == TM_LDS)
        return load ? OP_LDS_READ : OP_LDS_WRITE + (int)within(i->regs, 1, 5);
    if (i->enc == ISA_ENC_FLAT)
        return load ? OP_FLAT_READ : OP_FLAT_WRITE + (int)within(i->regs, 3, 6);
    if (load && i->enc == ISA_ENC_GLOBAL) /* with or without a scalar address */
        return OP_READ + (i->no_saddr ? 2 : 1);
    return load ? OP_READ + (int)within(i->regs, 1, 2)
                : OP_WRITE + (int)within(i->regs, 2, 6);
}

/* The op of an INST packet; OP_NONE: another packet. */
static int inst_op(const struct tl_inst *i, unsigned flags)
{
    static const int8_t of_pipe[TM_PIPES] = {
        [TM_PIPE_PLAIN] = OP_NONE,      [TM_PIPE_HALF] = OP_HALF,
        [TM_PIPE_QUARTER] = OP_QUARTER, [TM_PIPE_TRANS] = OP_TRANS,
        [TM_PIPE_DOUBLE] = OP_DOUBLE,   [TM_PIPE_WMMA] = OP_NONE,
        [TM_PIPE_WMMA4] = OP_NONE,      [TM_PIPE_NONE] = OP_NONE};
    const struct isa_facts *facts = isa_facts(i->op);
    bool writes_exec = facts->state & ISA_STATE_EXEC_OUT;
    switch (i->cls) {
    case TM_SALU:
        return i->op == ISA_S_CALL_B64           ? OP_CALL
               : facts->pipe == ISA_PIPE_MESSAGE ? OP_MESSAGE
               : writes_exec                     ? OP_SALU_EXEC
                                                 : OP_SALU;
    case TM_SMEM:
        return OP_SMEM;
    case TM_BRANCH:
        return flags & TM_STEP_TAKEN ? OP_JUMP : OP_JUMP_NO;
    case TM_LDS:
    case TM_VMEM:
        return memory_op(i);
    case TM_VALU:
        return writes_exec                 ? OP_VALU_EXEC
               : i->enc == ISA_ENC_VINTERP ? OP_INTERP
               : i->pipe < TM_PIPES        ? of_pipe[i->pipe]
                                           : OP_NONE;
    default:
        return facts->pipe == ISA_PIPE_BARRIER   ? OP_BARRIER
               : facts->pipe == ISA_PIPE_MESSAGE ? OP_MESSAGE
                                                 : OP_NONE;
    }
}

static void add_inst(struct sqtt *s, const struct tl_wave *w, const struct tl_inst *i,
                     const struct tl_seg *seg, int64_t t)
{
    uint64_t slot = w->slot;
    int op = inst_op(i, seg->flags);
    if (op != OP_NONE)
        add(s, P_INST, t, 2u | slot << 8 | (uint64_t)op << 13);
    else if (i->cls == TM_VALU)
        add(s, P_VALU, t, 3u | slot << 7);
    else
        add(s, P_IMMEDIATE, t, 13u | slot << 7);
    if (!seg->exec)
        return;
    if (i->cls == TM_VALU || i->cls == TM_SALU)
        add(s, P_ALUEXEC, t + seg->exec, 14u | (i->cls == TM_SALU ? 1u : 2u) << 6);
    else if (i->cls == TM_LDS || i->cls == TM_VMEM)
        add(s, P_MEMEXEC, t + seg->exec, 15u | (i->cls == TM_LDS ? 0u : 2u) << 6);
}

static void add_wave(struct sqtt *s, const struct timeline *tl, const struct tl_wave *w,
                     const struct tl_simd *simd, int64_t base)
{
    uint64_t place = w->sa | (uint64_t)w->simd << 1 | (uint64_t)w->wgp << 3;
    add(s, P_WAVESTART, w->start - base, 12u | place << 7 | (uint64_t)w->slot << 13);
    if (w->ended)
        add(s, P_WAVEEND, w->end - base, 21u | place << 8 | (uint64_t)w->slot << 15);
    if (w->sa != simd->sa || w->wgp != simd->wgp || w->simd != simd->simd)
        return;
    for (uint32_t k = 0; k < w->n_segs; k++) {
        const struct tl_inst *i = tl_inst(tl, w, w->seg[k].inst);
        if (w->seg[k].why == TM_S_NONE && i && !(w->seg[k].flags & TM_STEP_FREE) &&
            isa_facts(i->op)->pipe != ISA_PIPE_END)
            add_inst(s, w, i, &w->seg[k], w->start - base + w->seg[k].at);
    }
}

static int by_time(const void *a, const void *b)
{
    const struct packet *x = a, *y = b;
    if (x->t != y->t)
        return x->t < y->t ? -1 : 1;
    if (x->kind != y->kind) /* a slot is left before it is taken again */
        return x->kind < y->kind ? -1 : 1;
    return x->bits < y->bits ? -1 : x->bits > y->bits;
}

/* Compute registers by their offset; that bit tells them from others. */
static void put_register(struct sqtt *s, const struct tl_register *r)
{
    bool compute = r->number >> 8 == COMPUTE_REGS >> 8;
    uint64_t number = compute ? r->number - COMPUTE_REGS : r->number;
    put(s,
        9u | PIPE << 7 | (compute ? 1u << 15 : 0) | number << 16 |
            (uint64_t)r->value << 32,
        16);
}

rd_status tl_write_sqtt(const struct timeline *tl, size_t dispatch,
                        const struct tl_simd *simd, unsigned without,
                        const struct tl_register *reg, size_t n_regs, FILE *f)
{
    const struct tl_dispatch *d = &tl->dispatch[dispatch];
    struct sqtt s = {.f = f, .mhz = d->machine.sclk_mhz, .without = without};
    for (size_t i = 0; i < d->n_waves; i++) {
        const struct tl_wave *w = &tl->wave[d->first_wave + i];
        if (w->se == simd->se)
            add_wave(&s, tl, w, simd, d->base);
    }
    if (!s.failed) {
        if (s.n)
            qsort(s.packet, s.n, sizeof *s.packet, by_time);
        /* layout 3, the SIMD and WGP that are traced */
        put(&s,
            17u | UINT64_C(3) << 7 | (uint64_t)simd->simd << 13 |
                (uint64_t)simd->wgp << 15,
            16);
        put_mark(&s);
        for (size_t i = 0; i < n_regs && !(without >> TOKEN_REG & 1u); i++)
            put_register(&s, &reg[i]);
        s.next_mark = 65536;
        for (size_t i = 0; i < s.n; i++)
            put_packet(&s, &s.packet[i]);
        put_mark(&s);
        put(&s, 0, s.half ? 17 : 16); /* no operation, to a whole number of bytes */
    }
    free(s.packet);
    return s.failed ? RD_E_NOMEM : ferror(f) ? RD_E_IO : RD_OK;
}
