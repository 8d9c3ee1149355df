/* finding.c: findings: filled in, merged, counted.
 *
 * Must not know what is a mistake. A record is written once, when its kind of finding
 * is new; later ones raise its count. SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "internal.h"

enum { BEFORE = 3, AFTER = 2, FARTHEST = 1 << 20 };

static const uint8_t *code_at(uint64_t pc)
{
    return (const uint8_t *)(uintptr_t)pc; // NOLINT: GPU addresses are host pointers
}

/* Length of the instruction at pc, which lies in a region that ends at end. */
static unsigned inst_bytes(uint64_t pc, uint64_t end, unsigned lanes,
                           struct isa_inst *inst)
{
    if (isa_decode_hw(code_at(pc), (size_t)(end - pc), lanes, inst) != RD_OK)
        return 4;
    return inst->bytes;
}

/* A few instructions around a->pc. Where those before it begin is found by decoding
 * from the beginning of its function; without one the window begins at pc. */
static void fill_window(const struct ck *ck, unsigned lanes, struct ck_actor *a)
{
    struct emu_mem code;
    struct isa_inst inst;
    char name[256];
    uint64_t start, before[BEFORE] = {0}, pc;
    if (!emu_mem_find(ck->emu, a->pc, &code))
        return;
    uint64_t end = code.va + code.bytes;
    if (!emu_symbol(ck->emu, a->pc, name, sizeof name, &start) || start < code.va ||
        start > a->pc || a->pc - start > FARTHEST)
        start = a->pc;
    for (pc = start; pc < a->pc && end - pc >= 4;
         pc += inst_bytes(pc, end, lanes, &inst)) {
        memmove(before, before + 1, sizeof before - sizeof *before);
        before[BEFORE - 1] = pc;
    }
    if (pc != a->pc)
        memset(before, 0, sizeof before);
    a->window_pc = a->pc;
    for (unsigned i = BEFORE; i-- > 0 && before[i];)
        a->window_pc = before[i];
    pc = a->pc;
    for (unsigned i = 0; i <= AFTER && end - pc >= 4; i++) {
        unsigned n = inst_bytes(pc, end, lanes, &inst);
        if (pc + n - a->window_pc > sizeof a->window || pc + n > end)
            break;
        pc += n;
    }
    a->window_bytes = (uint32_t)(pc - a->window_pc);
    memcpy(a->window, code_at(a->window_pc), a->window_bytes);
}

static void fill_inst(const struct ck *ck, unsigned lanes, struct ck_actor *a)
{
    struct emu_mem code;
    struct isa_inst inst;
    char text[ISA_MAX_TEXT];
    if (!emu_mem_find(ck->emu, a->pc, &code) || code.va + code.bytes - a->pc < 4 ||
        isa_decode_hw(code_at(a->pc), (size_t)(code.va + code.bytes - a->pc), lanes,
                      &inst) != RD_OK)
        return;
    isa_print(&inst, lanes, 0, text);
    (void)snprintf(a->inst, sizeof a->inst, "%.*s", (int)sizeof a->inst - 1, text);
}

void ck_actor_at(const struct ck *ck, const struct ck_wave *w, uint64_t pc,
                 uint64_t lanes, struct ck_actor *a)
{
    (void)ck;
    *a = (struct ck_actor){.pc = pc, .lanes = lanes, .wave = w->info->wave};
    memcpy(a->workgroup, w->info->workgroup, sizeof a->workgroup);
}

void ck_finding_at(const struct ck *ck, enum ck_class cls, const char *kind,
                   const struct emu_event *e, uint64_t lanes, struct ck_finding *f)
{
    memset(f, 0, sizeof *f);
    f->cls = cls;
    f->wave_lanes = e->wave->lanes;
    (void)snprintf(f->kind, sizeof f->kind, "%s", kind);
    f->at = (struct ck_actor){.pc = e->inst->pc, .lanes = lanes, .wave = e->wave->wave};
    memcpy(f->at.workgroup, e->wave->workgroup, sizeof f->at.workgroup);
    f->entry = ck->launch.dispatch->entry;
    f->dispatch = ck->launch.number;
}

/* ---- merging ---- */

static bool same(const struct ck_finding *a, const struct ck_finding *b)
{
    return a->at.pc == b->at.pc && a->other.pc == b->other.pc && a->cls == b->cls &&
           a->entry == b->entry && strcmp(a->kind, b->kind) == 0;
}

static size_t slot_of(const struct ck_finding *f)
{
    uint64_t h = (f->at.pc * 31 + f->other.pc) * 31 + f->cls + f->entry * 7;
    return (size_t)(h * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

/* The finding like f, or where the index has room for it. */
static uint16_t *find(struct ck *ck, const struct ck_finding *f)
{
    size_t n = sizeof ck->index / sizeof *ck->index, i = slot_of(f) % n;
    while (ck->index[i] && !same(&ck->table->v[ck->index[i] - 1], f))
        i = (i + 1) % n;
    return &ck->index[i];
}

static void keep(struct ck *ck, const struct ck_finding *f, uint16_t *index)
{
    unsigned at = atomic_fetch_add(&ck->table->n, 1);
    if (at >= CK_MAX_FINDINGS) {
        atomic_store(&ck->table->n, CK_MAX_FINDINGS);
        atomic_fetch_add(&ck->table->lost, 1);
        return;
    }
    struct ck_finding *to = &ck->table->v[at];
    memcpy(to, f, sizeof *to);
    atomic_init(&to->count, 0);
    memcpy(to->kernel, ck->kernel, sizeof to->kernel);
    if (ck->config.image)
        to->image = ck->config.image(ck->config.ctx, f->at.pc);
    fill_inst(ck, f->wave_lanes, &to->at);
    fill_window(ck, f->wave_lanes, &to->at);
    if (to->other.pc) {
        fill_inst(ck, f->wave_lanes, &to->other);
        fill_window(ck, f->wave_lanes, &to->other);
    }
    *index = (uint16_t)(at + 1);
    atomic_store(&to->count, 1);
}

void ck_report(struct ck *ck, const struct ck_finding *f)
{
    if (ck->stopped)
        return;
    ck->n_reports++;
    uint16_t *index = find(ck, f);
    if (*index)
        atomic_fetch_add(&ck->table->v[*index - 1].count, 1);
    else
        keep(ck, f, index);
    if (!ck->config.keep_going && !f->benign)
        ck_end(ck);
}

void ck_end(struct ck *ck)
{
    ck->stopped = true;
    ck->control = EMU_CONTROL_CANCEL;
}
