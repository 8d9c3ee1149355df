/* wait.c: registers that are read or overwritten before what loads them has arrived.
 *
 * The emulator completes every access at once; the chip counts them (manual 5.6): VMcnt
 * for vector loads and atomics that return, LGKMcnt for LDS, scalar loads and messages,
 * both for FLAT; EXPcnt what the LDS gives to all lanes, and exports, which read EXEC
 * and their data late (manual 14.3). A wait for N says that all but
 * the last N of a counter are done, where they come back in order: vector loads do, LDS
 * and FLAT among themselves do (manual 11.1.1); scalar loads do not, nor do different
 * kinds beside each other, so there only 0 says anything. Here an access is not done
 * until a wait says so. Barriers wait for nothing (LLVM has them so on gfx11): what is
 * stored to LDS has to be waited for before. Must not know what the wave computes.
 *
 * Not followed: stores (their data is read as they issue).
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "facts.h"
#include "internal.h"
#include "states.h"

enum { VM, LGKM, EXP, COUNTERS };
enum kind {
    KIND_LOAD,
    KIND_SAMPLE,
    KIND_LDS,
    KIND_GDS,
    KIND_SCALAR,
    KIND_FLAT,
    /* Exports: those of a type are in order (manual 5.6). */
    KIND_COLOR,
    KIND_DEPTH,
    KIND_POSITION,
    KIND_PRIMITIVE,
};
#define HELD  4u  /* VGPRs of an export */
#define PATHS 64u /* of the code behind a barrier */

#define OUTSTANDING 64u /* that a counter can count */
#define SGPR_BITS   128u
#define BIT_WORDS   ((SGPR_BITS + 256u) / 64u)

/* One access that is under way. */
struct flight {
    uint64_t pc;
    uint16_t sel; /* first register that it writes; 0 dwords: none */
    uint8_t dwords;
    uint8_t kind;
    uint8_t missing; /* bit per counter that has not been waited for */
    uint8_t needs;   /* those whose wait brings the data */
    uint8_t halves;  /* of one register: ck_halves */
    uint8_t shares;  /* changes LDS that other waves have, too */
    uint8_t n_held;  /* of an export: VGPRs, which it reads late, as EXEC */
    uint8_t held[HELD];
    struct ck_late *late; /* hazard mode: what it brings; NULL: it is there */
};

struct ck_waits {
    struct flight flight[2 * OUTSTANDING]; /* a ring, in order of issue */
    unsigned first, n;
    unsigned count[COUNTERS];    /* of them that miss the counter */
    uint64_t pending[BIT_WORDS]; /* registers that some flight writes */
};

static struct flight *flight_at(struct ck_waits *w, unsigned i)
{
    return &w->flight[(w->first + i) % (2 * OUTSTANDING)];
}

/* Number of a register among SGPRs and VGPRs; false: of no kind that loads write. */
static bool bit_of(unsigned sel, unsigned *bit)
{
    if (sel >= ISA_SEL_VGPR0)
        *bit = SGPR_BITS + sel - ISA_SEL_VGPR0;
    else
        *bit = sel;
    return sel >= ISA_SEL_VGPR0 ? *bit < 64 * BIT_WORDS
                                : sel < SGPR_BITS && sel != ISA_SEL_NULL;
}

static void mark(struct ck_waits *w, const struct flight *f)
{
    unsigned bit;
    for (unsigned i = 0; i < f->dwords; i++)
        if (bit_of(f->sel + i, &bit))
            w->pending[bit / 64] |= UINT64_C(1) << bit % 64;
    for (unsigned i = 0; i < f->n_held; i++) {
        bit = SGPR_BITS + f->held[i];
        w->pending[bit / 64] |= UINT64_C(1) << bit % 64;
    }
    if (f->n_held)
        w->pending[ISA_SEL_EXEC_LO / 64] |= UINT64_C(3) << ISA_SEL_EXEC_LO % 64;
}

static bool is_pending(const struct ck_waits *w, const struct emu_reg *r)
{
    unsigned bit;
    for (unsigned i = 0; i < r->dwords; i++)
        if (bit_of(r->sel + i, &bit) && w->pending[bit / 64] >> bit % 64 & 1)
            return true;
    return false;
}

/* Forget what has arrived. */
static void tidy(struct ck_waits *w)
{
    unsigned kept = 0;
    memset(w->pending, 0, sizeof w->pending);
    for (unsigned i = 0; i < w->n; i++) {
        struct flight *f = flight_at(w, i);
        if (!f->missing)
            continue;
        struct flight *to = flight_at(w, kept++);
        if (to != f)
            *to = *f;
        mark(w, to);
    }
    w->n = kept;
}

/* ---- what is issued ---- */

static bool returns(const struct emu_event *e, const struct isa_facts *facts)
{
    return facts->access != ISA_ACCESS_ATOMIC || facts->mem & ISA_MEM_RETURNS ||
           (facts->mem & ISA_MEM_GLC && e->inst->isa.flags & ISA_M_GLC);
}

static enum kind kind_of_export(const struct isa_inst *inst)
{
    unsigned target = inst->n_opnds ? (unsigned)inst->opnd[0].imm : 0;
    return target == 8                   ? KIND_DEPTH
           : target == 20                ? KIND_PRIMITIVE
           : target >= 12 && target < 20 ? KIND_POSITION
                                         : KIND_COLOR;
}

/* The counters that an instruction raises, but for VScnt, and its kind. */
static unsigned counters_of(const struct emu_event *e, enum kind *kind)
{
    const struct isa_facts *facts = isa_facts(e->inst->isa.op);
    bool loads = facts->access != ISA_ACCESS_STORE && returns(e, facts);
    switch (facts->pipe) {
    case ISA_PIPE_SMEM:
        *kind = KIND_SCALAR;
        return facts->access == ISA_ACCESS_NONE ? 0 : 1u << LGKM;
    case ISA_PIPE_LDS:
    case ISA_PIPE_LDS_FADD:
    case ISA_PIPE_PERMUTE:
    case ISA_PIPE_BVH_STACK:
        *kind = e->inst->isa.flags & ISA_M_GDS ? KIND_GDS : KIND_LDS;
        return 1u << LGKM;
    case ISA_PIPE_GWS:
        *kind = KIND_GDS;
        return 1u << LGKM;
    case ISA_PIPE_PARAM:
        *kind = KIND_LDS;
        return 1u << EXP;
    case ISA_PIPE_EXPORT:
        *kind = kind_of_export(&e->inst->isa);
        return 1u << EXP;
    case ISA_PIPE_MESSAGE: /* those that bring something back write an SGPR */
        *kind = KIND_SCALAR;
        return e->inst->kind == EMU_KIND_MESSAGE && e->inst->n_regs &&
                       e->inst->reg[0].flags & ISA_OF_OUT
                   ? 1u << LGKM
                   : 0;
    case ISA_PIPE_VMEM:
        *kind = facts->space == ISA_SPACE_FLAT       ? KIND_FLAT
                : facts->access == ISA_ACCESS_SAMPLE ? KIND_SAMPLE
                                                     : KIND_LOAD;
        if (facts->access == ISA_ACCESS_NONE)
            return 0;
        return (loads ? 1u << VM : 0) | (*kind == KIND_FLAT ? 1u << LGKM : 0);
    default:
        return 0;
    }
}

static const struct emu_reg *destination(const struct emu_inst *inst)
{
    for (unsigned i = 0; i < inst->n_regs; i++)
        if (inst->reg[i].flags & ISA_OF_OUT && !(inst->reg[i].flags & ISA_OF_IMPLICIT))
            return &inst->reg[i];
    return NULL;
}

/* FLAT counts in both, and what has come from memory is there when VMcnt says so, what
 * has come from LDS when LGKMcnt does. ROCr's copy kernels rely on that. */
static unsigned brought_by(const struct emu_event *e, unsigned counters, enum kind kind)
{
    unsigned spaces = 0;
    for (uint32_t i = 0; i < e->n_accesses; i++)
        spaces |= e->access[i].space == EMU_SPACE_LDS ? 1u << LGKM : 1u << VM;
    return kind == KIND_FLAT && spaces ? spaces & counters : counters;
}

/* With the hazard mode: what it brings is there now. */
static void arrive(const struct emu_wave_info *wave, struct flight *f)
{
    ck_late_arrive(wave, f->late);
    f->late = NULL;
}

static void oldest_done(struct ck_waits *w, const struct emu_wave_info *wave)
{
    struct flight *f = flight_at(w, 0);
    for (unsigned c = 0; c < COUNTERS; c++)
        w->count[c] -= f->missing >> c & 1;
    f->missing = 0;
    arrive(wave, f);
    tidy(w);
}

/* Does it change LDS? */
static bool changes_lds(const struct emu_event *e, enum kind kind)
{
    enum isa_access access = isa_facts(e->inst->isa.op)->access;
    bool lds = kind == KIND_LDS, writes = false;
    if (access == ISA_ACCESS_NONE || access == ISA_ACCESS_LOAD || !e->exec)
        return false;
    for (uint32_t i = 0; i < e->n_accesses; i++) {
        lds |= e->access[i].space == EMU_SPACE_LDS;
        writes |= e->access[i].write;
    }
    return lds && writes;
}

/* The VGPRs that an export reads some time after it. */
static void hold(struct flight *f, const struct emu_inst *inst)
{
    for (unsigned i = 0; i < inst->n_regs && f->n_held < HELD; i++)
        if (inst->reg[i].flags & ISA_OF_IN && emu_reg_is_vgpr(&inst->reg[i]))
            f->held[f->n_held++] = (uint8_t)(inst->reg[i].sel - ISA_SEL_VGPR0);
}

static void issue(struct ck *ck, const struct ck_wave *wave, struct ck_waits *w,
                  const struct emu_event *e, unsigned counters, enum kind kind)
{
    const struct emu_reg *to = destination(e->inst);
    if (w->n == 2 * OUTSTANDING)
        oldest_done(w, e->wave);
    struct flight *f = flight_at(w, w->n++);
    *f = (struct flight){.pc = e->inst->pc,
                         .kind = (uint8_t)kind,
                         .missing = (uint8_t)counters,
                         .shares = wave->group->n_waves > 1 && changes_lds(e, kind),
                         .needs = (uint8_t)brought_by(e, counters, kind)};
    uint64_t lanes = kind == KIND_SCALAR ? 0 : e->exec;
    if (to && (lanes || kind == KIND_SCALAR)) { /* without lanes it only counts */
        f->sel = to->sel;
        f->dwords = to->dwords;
        f->halves = (uint8_t)ck_halves(&e->inst->isa, to, false);
        mark(w, f);
        if (ck->config.hazard)
            f->late = ck_late_take(ck, e, to, lanes, f->halves, w->n == 1);
    }
    if (kind >= KIND_COLOR && e->exec) {
        hold(f, e->inst);
        mark(w, f);
    }
    for (unsigned c = 0; c < COUNTERS; c++)
        w->count[c] += counters >> c & 1;
}

/* ---- waits ---- */

/* Is the order known in which those that miss a counter come back? */
static bool in_order(struct ck_waits *w, unsigned counter)
{
    int kind = -1;
    for (unsigned i = 0; i < w->n; i++) {
        const struct flight *f = flight_at(w, i);
        if (!(f->missing >> counter & 1))
            continue;
        int here = f->kind == KIND_FLAT ? KIND_LDS : f->kind; /* who counts there */
        if (here == KIND_SCALAR || (kind >= 0 && here != kind))
            return false;
        kind = here;
    }
    return true;
}

static void wait_for(struct ck_waits *w, const struct emu_wave_info *wave,
                     unsigned counter, unsigned n)
{
    if (w->count[counter] <= n || (n && counter != VM && !in_order(w, counter)))
        return;
    for (unsigned i = 0; i < w->n && w->count[counter] > n; i++) {
        struct flight *f = flight_at(w, i);
        if (!(f->missing >> counter & 1))
            continue;
        f->missing &= (uint8_t)~(1u << counter);
        w->count[counter]--;
        if (!(f->missing & f->needs))
            arrive(wave, f);
    }
    tidy(w);
}

static void wait_step(struct ck_waits *w, const struct emu_wave_info *wave,
                      const struct isa_inst *inst)
{
    unsigned imm = 0;
    for (unsigned i = 0; i < inst->n_opnds; i++)
        if (inst->opnd[i].kind == ISA_OPND_IMM)
            imm = (unsigned)inst->opnd[i].imm & 0xffffu;
    switch (inst->op) {
    case ISA_S_WAITCNT:
        wait_for(w, wave, VM, imm >> 10 & 63u);
        wait_for(w, wave, LGKM, imm >> 4 & 63u);
        wait_for(w, wave, EXP, imm & 7u);
        return;
    case ISA_S_WAITCNT_VMCNT:
        wait_for(w, wave, VM, imm & 63u);
        return;
    case ISA_S_WAITCNT_EXPCNT:
        wait_for(w, wave, EXP, imm & 7u);
        return;
    case ISA_S_WAITCNT_LGKMCNT:
        wait_for(w, wave, LGKM, imm & 63u);
        return;
    case ISA_S_WAIT_IDLE:
        wait_for(w, wave, VM, 0);
        wait_for(w, wave, LGKM, 0);
        wait_for(w, wave, EXP, 0);
        return;
    default:
        return;
    }
}

/* ---- uses ---- */

static bool overlap(const struct flight *f, const struct emu_reg *r)
{
    return r->sel < f->sel + f->dwords && f->sel < r->sel + r->dwords;
}

/* The first register of an export that r has. */
static bool holds(const struct flight *f, const struct emu_reg *r, unsigned *sel)
{
    unsigned held = f->n_held ? f->n_held + 2u : 0;
    for (unsigned i = 0; i < held; i++) {
        *sel = i < f->n_held ? (unsigned)ISA_SEL_VGPR0 + f->held[i]
                             : (unsigned)ISA_SEL_EXEC_LO + i - f->n_held;
        if (*sel >= r->sel && *sel < r->sel + (unsigned)r->dwords)
            return true;
    }
    return false;
}

static void register_name(unsigned sel, char *text, size_t size)
{
    if (sel >= ISA_SEL_VGPR0)
        (void)snprintf(text, size, "v%u", sel - ISA_SEL_VGPR0);
    else if (sel == ISA_SEL_VCC_LO || sel == ISA_SEL_VCC_LO + 1)
        (void)snprintf(text, size, "vcc_%s", sel == ISA_SEL_VCC_LO ? "lo" : "hi");
    else if (sel == ISA_SEL_M0)
        (void)snprintf(text, size, "m0");
    else if (sel == ISA_SEL_EXEC_LO || sel == ISA_SEL_EXEC_HI)
        (void)snprintf(text, size, "exec_%s", sel == ISA_SEL_EXEC_LO ? "lo" : "hi");
    else
        (void)snprintf(text, size, "s%u", sel);
}

static void tell(struct ck *ck, const struct ck_wave *wave, const struct emu_event *e,
                 const struct flight *f, const struct emu_reg *r, bool read)
{
    struct ck_finding x;
    char name[16];
    unsigned sel = r->sel > f->sel ? r->sel : f->sel;
    register_name(sel, name, sizeof name);
    bool here = !(f->missing & f->needs);
    ck_finding_at(ck, CK_WAIT,
                  here   ? "flat-one-counter"
                  : read ? "read-before-wait"
                         : "overwrite-before-wait",
                  e, 0, &x);
    ck_actor_at(ck, wave, f->pc, 0, &x.other);
    x.benign = here;
    (void)snprintf(x.text, sizeof x.text, "%s is %s before the wait for %s%s", name,
                   read ? "read" : "overwritten",
                   (f->missing & 3u) == 3   ? "vmcnt and lgkmcnt"
                   : f->missing & 1u << VM  ? "vmcnt"
                   : f->missing & 1u << EXP ? "expcnt"
                                            : "lgkmcnt",
                   here ? ", which these addresses do not need but others may" : "");
    ck_report(ck, &x);
}

static void tell_export(struct ck *ck, const struct ck_wave *wave,
                        const struct emu_event *e, const struct flight *f, unsigned sel)
{
    struct ck_finding x;
    char name[16];
    register_name(sel, name, sizeof name);
    ck_finding_at(ck, CK_WAIT, "overwrite-before-wait", e, 0, &x);
    ck_actor_at(ck, wave, f->pc, 0, &x.other);
    (void)snprintf(x.text, sizeof x.text,
                   "%s, which an export may still read, is overwritten before the wait "
                   "for expcnt",
                   name);
    ck_report(ck, &x);
}

/* Loads of a kind arrive one after the other: a later one may have the same register.
 */
static bool follows(const struct flight *f, unsigned counters, enum kind kind)
{
    return f->missing == counters && f->kind == kind &&
           (kind == KIND_LOAD || kind == KIND_SAMPLE || kind == KIND_LDS);
}

/* What is read, then what is written: of a register that is both the former is told. */
static void check_uses(struct ck *ck, struct ck_wave *wave, struct ck_waits *w,
                       const struct emu_event *e, unsigned counters, enum kind kind)
{
    const struct emu_reg *to = counters ? destination(e->inst) : NULL;
    for (unsigned k = 0; k < 2u * e->inst->n_regs; k++) {
        bool read = k < e->inst->n_regs;
        const struct emu_reg *r = &e->inst->reg[k % e->inst->n_regs];
        if (!(r->flags & (read ? ISA_OF_IN : ISA_OF_OUT)) || !is_pending(w, r))
            continue;
        unsigned halves = ck_halves(&e->inst->isa, r, read);
        for (unsigned i = 0; i < w->n; i++) {
            struct flight *f = flight_at(w, i);
            unsigned sel;
            if (!read && holds(f, r, &sel)) {
                tell_export(ck, wave, e, f, sel);
                f->n_held = 0; /* told */
            }
            if (!overlap(f, r) || !(halves & f->halves) ||
                (r == to && follows(f, counters, kind)))
                continue;
            tell(ck, wave, e, f, r, read);
            f->dwords = 0; /* told */
        }
    }
}

/* What is left of a walk along the code: where branches go, each once. */
struct paths {
    uint64_t from[PATHS];
    unsigned n, next;
};

/* False: too many to remember. */
static bool go_on_at(struct paths *p, uint64_t at)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->from[i] == at)
            return true;
    if (p->n == PATHS)
        return false;
    p->from[p->n++] = at;
    return true;
}

static bool is_lds_read(const struct isa_inst *inst)
{
    const struct isa_facts *facts = isa_facts(inst->op);
    bool reads = facts->access == ISA_ACCESS_LOAD || facts->mem & ISA_MEM_RETURNS ||
                 (facts->mem & ISA_MEM_GLC && inst->flags & ISA_M_GLC);
    return reads && (facts->space == ISA_SPACE_LDS || facts->space == ISA_SPACE_FLAT);
}

/* Does it go where the code does not say, or call what comes back? */
static bool goes_elsewhere(const struct isa_inst *inst, uint64_t target)
{
    return isa_facts(inst->op)->flow & ISA_FLOW_BRANCH && !target;
}

/* Is LDS read from there on, before a barrier? Branches that are met are added; what
 * functions do, and those who have called this one, is not known. */
static bool path_reads_lds(const struct ck_code *code, struct paths *p, uint64_t at)
{
    struct isa_inst inst;
    for (; code->end - at >= 4; at += inst.bytes) {
        if (!ck_code_at(code, at, &inst) || is_lds_read(&inst))
            return true;
        uint64_t target = ck_code_target(&inst, at);
        if (goes_elsewhere(&inst, target))
            return true;
        if (target && (target < code->begin || target >= code->end))
            target = 0; /* nobody goes there */
        if (target && !go_on_at(p, target))
            return true;
        if (inst.op == ISA_S_BARRIER || inst.op == ISA_S_BRANCH ||
            isa_facts(inst.op)->flow & ISA_FLOW_END)
            return false;
    }
    return false;
}

/* Is LDS read behind the barrier, before the next one, whatever way waves go? Fences of
 * memory alone leave LDS alone. */
static bool reads_lds(const struct ck *ck, uint64_t pc)
{
    struct ck_code code;
    struct paths p = {.from = {pc + 4}, .n = 1};
    if (!ck_code_find(ck, pc, &code))
        return true;
    while (p.next < p.n)
        if (path_reads_lds(&code, &p, p.from[p.next++]))
            return true;
    return false;
}

/* What it has stored to LDS may arrive behind the barrier. */
static void check_barrier(struct ck *ck, const struct ck_wave *wave, struct ck_waits *w,
                          const struct emu_event *e)
{
    int reads = -1; /* not known yet */
    for (unsigned i = 0; i < w->n; i++) {
        struct flight *f = flight_at(w, i);
        if (!f->shares || !(f->missing >> LGKM & 1))
            continue;
        reads = reads < 0 ? reads_lds(ck, e->inst->pc) : reads;
        if (!reads)
            return;
        struct ck_finding x;
        ck_finding_at(ck, CK_WAIT, "barrier-before-wait", e, 0, &x);
        ck_actor_at(ck, wave, f->pc, 0, &x.other);
        x.other.write = true;
        (void)snprintf(
            x.text, sizeof x.text,
            "barrier before the wait for lgkmcnt: what was stored to LDS may "
            "arrive behind it");
        ck_report(ck, &x);
        f->shares = false; /* told */
    }
}

void ck_wait_step(struct ck *ck, struct ck_wave *wave, const struct emu_event *e)
{
    enum kind kind = KIND_LOAD;
    const struct emu_inst *inst = e->inst;
    struct ck_waits *w = wave->loads;
    if (e->flags & EMU_EV_FAULT || inst->kind == EMU_KIND_ILLEGAL)
        return;
    ck_hazard_step(ck, wave, e);
    if (inst->kind == EMU_KIND_WAIT) {
        if (w)
            wait_step(w, e->wave, &inst->isa);
        return;
    }
    if (w && inst->isa.enc == ISA_ENC_VINTERP) /* waits by itself */
        wait_for(w, e->wave, EXP, inst->isa.wait);
    if (w && inst->kind == EMU_KIND_BARRIER)
        check_barrier(ck, wave, w, e);
    unsigned counters = counters_of(e, &kind);
    if (!w && counters)
        w = wave->loads = calloc(1, sizeof *w);
    if (!w)
        return;
    if (w->n)
        check_uses(ck, wave, w, e, counters, kind);
    if (counters)
        issue(ck, wave, w, e, counters, kind);
}

void ck_wait_before(struct ck *ck, const struct emu_event *e)
{
    enum kind kind;
    const struct emu_reg *to = destination(e->inst);
    if (to && e->inst->kind != EMU_KIND_ILLEGAL && counters_of(e, &kind))
        ck_late_before(ck, e, to);
}

void ck_wait_gone(struct ck_wave *wave)
{
    for (unsigned i = 0; wave->loads && i < wave->loads->n; i++)
        free(flight_at(wave->loads, i)->late);
    free(wave->loads);
    ck_hazard_gone(wave);
}

/* ---- as a state ---- */

/* One that is under way, without what padding may hold. */
struct saved {
    uint64_t pc;
    uint16_t sel;
    uint8_t dwords, kind, missing, needs, halves, shares, n_held, held[HELD];
    uint8_t none[3]; /* no padding */
};

void ck_wait_save(const struct ck_wave *wave, struct state_bytes *to)
{
    struct ck_waits *w = wave->loads;
    uint32_t n = w ? w->n : 0;
    if (!n && !wave->hazards)
        return;
    uint8_t *begin = to->at;
    state_put(to, &n, sizeof n);
    for (unsigned i = 0; i < n; i++) {
        const struct flight *f = flight_at(w, i);
        const struct saved s = {
            .pc = f->pc,
            .sel = f->sel,
            .dwords = f->dwords,
            .kind = f->kind,
            .missing = f->missing,
            .needs = f->needs,
            .halves = f->halves,
            .shares = f->shares,
            .n_held = f->n_held,
            .held = {f->held[0], f->held[1], f->held[2], f->held[3]}};
        state_put(to, &s, sizeof s);
    }
    if (!ck_hazard_save(wave, to) && !n)
        to->at = begin;
}

void ck_wait_load(struct ck_wave *wave, const uint8_t *from, size_t n)
{
    const uint8_t *end = from + n;
    uint32_t flights = 0;
    if (n)
        state_take(&from, &flights, sizeof flights);
    if (flights && !wave->loads)
        wave->loads = calloc(1, sizeof *wave->loads);
    struct ck_waits *w = wave->loads;
    if (w)
        memset(w, 0, sizeof *w);
    for (unsigned i = 0; i < flights; i++) {
        struct saved s;
        state_take(&from, &s, sizeof s);
        if (!w)
            continue;
        struct flight *f = flight_at(w, w->n++);
        *f = (struct flight){.pc = s.pc,
                             .sel = s.sel,
                             .dwords = s.dwords,
                             .kind = s.kind,
                             .missing = s.missing,
                             .needs = s.needs,
                             .halves = s.halves,
                             .shares = s.shares,
                             .n_held = s.n_held,
                             .held = {s.held[0], s.held[1], s.held[2], s.held[3]}};
        for (unsigned c = 0; c < COUNTERS; c++)
            w->count[c] += f->missing >> c & 1;
        mark(w, f);
    }
    ck_hazard_load(wave, from, (size_t)(end - from));
}
