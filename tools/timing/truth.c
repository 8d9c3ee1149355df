/* truth.c: from packets to waves and their instructions.
 *
 * A trace names no instruction: those of a wave are followed through the code, one for
 * each packet, taken branches by their own. Must not know the model. Invariant: a wave
 * whose packets do not fit the code makes the launch fail, with the place.
 * SPDX-License-Identifier: MIT
 */
#include "truth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts.h"
#include "isa.h"
#include "sqtt.h"

#define SLOTS 32u
/* SH registers: COMPUTE_NUM_THREAD_X ..., PGM_LO, PGM_HI, PGM_RSRC1, PGM_RSRC2, and the
 * enabled CUs of each engine. */
enum { REG_BLOCK = 7, REG_LO = 12, REG_HI = 13, REG_RSRC1 = 18, REG_RSRC2 = 19 };
static const uint16_t reg_cus[CAPTURE_SES] = {0x16, 0x17, 0x19, 0x1a, 0x2b, 0x2c};

/* A wave of the traced SIMD as it is followed. */
struct follower {
    size_t wave; /* its number, + 1; 0: the slot is empty */
    uint32_t pc;
    uint8_t *touched; /* a bit for each line of code */
    uint8_t *taken;   /* and for each dword: the branch has been taken */
    bool jumped;      /* for the first time, just now */
    unsigned out[3];  /* operations that LDS and scalar, vector loads, stores owe */
};

struct reading {
    struct truth *t;
    const char *name;
    unsigned se, simd, wgp; /* that is traced, of its array 0 */
    struct follower slot[SLOTS];
    uint32_t lo, hi;
    int64_t clock_t[2];
    uint64_t clock[2];
    bool clocked;
    size_t waves, clock_waves; /* of the engine, of that whose clock is taken */
    int64_t zero;              /* the first start; -1: none yet */
    char *why;
    size_t why_bytes;
};

static bool fail(struct reading *r, uint32_t pc, const char *what)
{
    (void)snprintf(r->why, r->why_bytes, "engine %u: at 0x%x of the code: %s", r->se,
                   pc, what);
    return false;
}

/* ---- code ---- */

static uint32_t dword_at(const struct truth *t, uint32_t pc)
{
    uint32_t v;
    memcpy(&v, t->text + pc, 4);
    return v;
}

/* Bytes of an instruction, also of one that does not exist. decoded: out, or it is none
 */
static unsigned code_length(const struct truth *t, uint32_t pc, struct isa_inst *inst,
                            bool *decoded)
{
    uint32_t w = dword_at(t, pc);
    *decoded = isa_decode_hw(t->text + pc, t->text_bytes - pc, t->kd[57] & 4u ? 32 : 64,
                             inst) == RD_OK;
    if (*decoded)
        return inst->bytes;
    bool scalar = w >> 30 == 2, sop1 = w >> 23 == 0x17d, sopc = w >> 23 == 0x17e;
    bool literal = scalar && ((w & 255u) == 255 || (!sop1 && (sopc || w >> 28 != 0xb) &&
                                                    (w >> 8 & 255u) == 255));
    return literal || w >> 26 == 0x35 ? 8 : 4;
}

/* What leaves no packet. */
static bool is_silent(uint32_t word)
{
    return word >> 16 == 0xbf87; /* s_delay_alu */
}

static bool is_branch(uint32_t word)
{
    return word >> 16 >= 0xbfa0 && word >> 16 <= 0xbfaa;
}

/* Counters of a wait: those that something is owed to hold it up. */
static bool waits(struct follower *f, uint32_t w)
{
    unsigned left[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    if (w >> 16 == 0xbf89) { /* s_waitcnt */
        left[0] = w >> 4 & 63u;
        left[1] = w >> 10 & 63u;
    } else if (w >> 28 == 0xb && (w >> 23 & 31u) >= 24 && (w >> 23 & 31u) <= 27) {
        /* s_waitcnt_vscnt, vmcnt, expcnt, lgkmcnt */
        static const int which[4] = {2, 1, -1, 0};
        int k = which[(w >> 23 & 31u) - 24];
        if (k >= 0)
            left[k] = w & 63u;
    }
    bool held = false;
    for (unsigned k = 0; k < 3; k++)
        if (f->out[k] > left[k]) {
            f->out[k] = left[k];
            held = true;
        }
    return held;
}

static void owe(struct follower *f, const struct isa_inst *inst)
{
    const struct isa_facts *facts = isa_facts(inst->op);
    if (facts->space == ISA_SPACE_NONE && facts->pipe != ISA_PIPE_PERMUTE)
        return;
    bool local = facts->pipe != ISA_PIPE_VMEM;
    bool returns =
        facts->access != ISA_ACCESS_STORE &&
        (facts->access != ISA_ACCESS_ATOMIC || facts->mem & ISA_MEM_RETURNS ||
         (facts->mem & ISA_MEM_GLC && inst->flags & ISA_M_GLC));
    f->out[local ? 0 : returns ? 1 : 2]++;
}

/* ---- waves ---- */

static bool start_wave(struct reading *r, const struct sqtt_packet *p)
{
    struct truth *t = r->t;
    if (t->n_waves == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 64;
        struct truth_wave *more = realloc(t->wave, cap * sizeof *more);
        if (!more)
            return false;
        t->wave = more;
        t->cap = cap;
    }
    if (r->zero < 0)
        r->zero = p->t;
    t->wave[t->n_waves++] = (struct truth_wave){.se = r->se,
                                                .sa = p->sa,
                                                .wgp = p->wgp,
                                                .simd = p->simd,
                                                .slot = p->slot,
                                                .start = p->t - r->zero,
                                                .end = -1};
    if (p->sa || p->wgp != r->wgp || p->simd != r->simd)
        return true;
    struct follower *f = &r->slot[p->slot];
    f->wave = t->n_waves;
    f->pc = t->entry;
    f->jumped = false;
    memset(f->out, 0, sizeof f->out);
    if (!f->touched)
        f->touched = malloc(t->text_bytes / 128 + 2);
    if (!f->taken)
        f->taken = malloc(t->text_bytes / 4 + 1);
    if (!f->touched || !f->taken)
        return false;
    memset(f->touched, 0, t->text_bytes / 128 + 2);
    memset(f->taken, 0, t->text_bytes / 4 + 1);
    return true;
}

static void end_wave(struct reading *r, const struct sqtt_packet *p)
{
    struct truth *t = r->t;
    for (size_t i = t->n_waves; i-- > 0;) {
        struct truth_wave *w = &t->wave[i];
        if (w->se == r->se && w->sa == p->sa && w->wgp == p->wgp &&
            w->simd == p->simd && w->slot == p->slot && w->end < 0) {
            w->end = p->t - r->zero;
            break;
        }
    }
    if (!p->sa && p->wgp == r->wgp && p->simd == r->simd)
        r->slot[p->slot].wave = 0;
}

static bool note(struct truth_wave *w, uint32_t pc, uint8_t cls, int64_t at)
{
    if (w->n_insts == w->cap) {
        size_t cap = w->cap ? 2 * w->cap : 256;
        struct truth_inst *more = realloc(w->inst, cap * sizeof *more);
        if (!more)
            return false;
        w->inst = more;
        w->cap = cap;
    }
    w->inst[w->n_insts++] = (struct truth_inst){pc, cls, at};
    return true;
}

/* One instruction of a wave: a packet for it. */
static bool follow(struct reading *r, unsigned slot, const struct sqtt_packet *p)
{
    struct truth *t = r->t;
    struct follower *f = &r->slot[slot];
    struct isa_inst inst;
    bool decoded;
    if (!f->wave)
        return true; /* it began before the trace */
    while (f->pc + 4 <= t->text_bytes && is_silent(dword_at(t, f->pc)))
        f->pc += 4;
    if (f->pc + 4 > t->text_bytes)
        return fail(r, f->pc, "a wave runs out of the code");
    struct truth_wave *w = &t->wave[f->wave - 1];
    uint32_t pc = f->pc, word = dword_at(t, pc);
    bool op = p->kind == SQTT_INST;
    bool jump = op && (p->op == SQTT_OP_JUMP || p->op == SQTT_OP_CALL);
    if (is_branch(word) != (op && (p->op == SQTT_OP_JUMP || p->op == SQTT_OP_JUMP_NOT)))
        return fail(r, pc, "the trace and the code disagree about a branch");
    unsigned bytes = code_length(t, pc, &inst, &decoded);
    uint64_t line = (t->code_va % 128 + pc) / 128;
    uint8_t cls = TRUTH_EXACT;
    bool held = waits(f, word);
    if (w->n_insts == 0)
        cls = TRUTH_FIRST;
    else if (held)
        cls = TRUTH_WAIT;
    else if (!f->touched[line] || f->jumped)
        cls = TRUTH_FETCH;
    f->touched[line] = 1;
    f->jumped = jump && !f->taken[pc / 4];
    if (decoded)
        owe(f, &inst);
    if (jump) {
        f->taken[pc / 4] = 1;
        f->pc = pc + 4 + (uint32_t)((int32_t)(int16_t)(word & 0xffffu) * 4);
    } else {
        f->pc = pc + bytes;
    }
    w->traced = true;
    return note(w, pc, cls, p->t - r->zero) || fail(r, pc, "out of memory");
}

static bool follow_all(struct reading *r, const struct sqtt_packet *p)
{
    if (p->kind == SQTT_INST && p->op >= SQTT_OP_OTHER_FIRST &&
        p->op <= SQTT_OP_OTHER_LAST)
        return true;
    if (p->kind != SQTT_IMMEDIATE)
        return follow(r, p->slot, p);
    for (unsigned s = 0; s < 16; s++)
        if (p->mask >> s & 1u && !follow(r, s, p))
            return false;
    return true;
}

/* ---- registers and clocks ---- */

/* false: out of memory */
static bool take_register(struct reading *r, const struct sqtt_packet *p)
{
    struct truth *t = r->t;
    if (p->user)
        return marks_take(&t->marks, p->value);
    for (unsigned d = 0; d < 3; d++)
        if (p->reg == REG_BLOCK + d) {
            t->block[d] = p->value & 0xffffu;
            t->seen |= 1u << d;
        }
    for (unsigned s = 0; s < CAPTURE_SES; s++)
        if (p->reg == reg_cus[s])
            t->cu_mask[s] = p->value;
    if (p->reg == REG_LO)
        r->lo = p->value;
    if (p->reg == REG_HI)
        r->hi = p->value;
    if (p->reg == REG_RSRC1)
        t->rsrc1 = p->value;
    if (p->reg == REG_RSRC2)
        t->rsrc2 = p->value;
    t->seen |= p->reg == REG_LO ? TRUTH_CODE : p->reg == REG_RSRC1 ? TRUTH_RSRC : 0;
    return true;
}

static void take_clock(struct reading *r, const struct sqtt_packet *p)
{
    unsigned i = r->clocked;
    r->clock[i] = p->clock;
    r->clock_t[i] = p->t;
    r->clocked = true;
}

static bool take(struct reading *r, const struct sqtt_packet *p, bool code)
{
    if (p->kind == SQTT_HEADER && p->layout != 3) {
        (void)snprintf(r->why, r->why_bytes,
                       "engine %u: the trace has layout %u, gfx11 writes 3", r->se,
                       p->layout);
        return false;
    }
    if (p->kind == SQTT_HEADER) {
        r->simd = p->simd;
        r->wgp = p->wgp;
    }
    if (!code) {
        if (p->kind == SQTT_REGISTER && r->zero < 0 && !take_register(r, p))
            return false;
        if (p->kind == SQTT_WAVE_START) {
            r->zero = 0; /* what is written behind it is of the next launch */
            r->waves++;
        }
        if (p->kind == SQTT_CLOCK)
            take_clock(r, p);
        return true;
    }
    switch (p->kind) {
    case SQTT_WAVE_START:
        return start_wave(r, p);
    case SQTT_WAVE_END:
        end_wave(r, p);
        return true;
    case SQTT_VALU:
    case SQTT_INST:
    case SQTT_IMMEDIATE:
        return follow_all(r, p);
    default:
        return true;
    }
}

/* An engine's trace: registers and clocks, or waves once the code is known. */
static bool read_trace(struct reading *r, const struct capture_trace *c, bool code)
{
    struct sqtt_reader reader = {.data = c->data, .bytes = c->bytes};
    struct sqtt_packet p;
    bool first = true;
    r->se = c->se;
    r->t->engines |= 1u << c->se;
    r->zero = -1;
    r->clocked = false;
    marks_begin(&r->t->marks);
    r->waves = 0;
    r->clock_t[1] = r->clock_t[0] = 0;
    while (sqtt_next(&reader, &p)) {
        if (first && p.kind != SQTT_HEADER) {
            (void)snprintf(r->why, r->why_bytes,
                           "engine %u: the trace begins without a header", r->se);
            return false;
        }
        first = false;
        if (!take(r, &p, code))
            return false;
    }
    if (!code && r->clock_t[1] > r->clock_t[0] && r->clock[1] > r->clock[0] &&
        (r->waves > r->clock_waves || r->t->sclk_mhz <= 0))
        r->t->sclk_mhz = 100.0 * (double)(r->clock_t[1] - r->clock_t[0]) /
                         (double)(r->clock[1] - r->clock[0]);
    if (!code && r->waves > r->clock_waves)
        r->clock_waves = r->waves;
    for (unsigned s = 0; s < SLOTS; s++)
        r->slot[s].wave = 0;
    return true;
}

/* Of several that were loaded there the last is it. */
static bool find_code(struct reading *r, const struct sqtt_file *c, unsigned process)
{
    uint64_t va = ((uint64_t)r->hi << 32 | r->lo) << 8;
    for (size_t i = c->n_objects; i-- > 0;) {
        struct sqtt_object o = c->object[i];
        const struct marks_object *at =
            o.told ? marks_object(&r->t->marks, o.id) : NULL;
        if (o.process != process || (o.told && !at))
            continue;
        o.base = at ? at->address : o.base;
        if (truth_take_code(&o, va, r->t))
            return true;
    }
    (void)snprintf(r->why, r->why_bytes, "no code object has a kernel at 0x%llx",
                   (unsigned long long)va);
    return false;
}

bool truth_read(const struct sqtt_file *c, const struct capture_launch *l,
                struct truth *out, char *why, size_t why_bytes)
{
    *out = (struct truth){.n_waves = 0};
    struct reading *r = calloc(1, sizeof *r);
    why[0] = '\0';
    bool ok = r != NULL;
    if (ok)
        *r = (struct reading){.t = out, .why = why, .why_bytes = why_bytes};
    for (unsigned i = 0; ok && i < l->n_traces; i++)
        ok = read_trace(r, &l->trace[i], false);
    if (ok && (out->seen & TRUTH_CODE) == 0) {
        (void)snprintf(why, why_bytes,
                       "the trace has not recorded the registers of the "
                       "dispatch (where its code lies)");
        ok = false;
    }
    ok = ok && find_code(r, c, l->process);
    for (unsigned i = 0; ok && i < l->n_traces; i++)
        ok = read_trace(r, &l->trace[i], true);
    for (unsigned s = 0; r && s < SLOTS; s++) {
        free(r->slot[s].touched);
        free(r->slot[s].taken);
    }
    free(r);
    if (ok && out->n_waves == 0)
        (void)snprintf(why, why_bytes, "the trace has no wave in it");
    if (!ok && !why[0])
        (void)snprintf(why, why_bytes, "out of memory");
    return ok && out->n_waves > 0;
}

void truth_free(struct truth *t)
{
    for (size_t i = 0; i < t->n_waves; i++)
        free(t->wave[i].inst);
    free(t->wave);
    free(t->text);
    free(t->kernel);
    marks_free(&t->marks);
    *t = (struct truth){.n_waves = 0};
}
