/* init.c: undefined bits that matter: addresses, branches, EXEC, atomics, stores that
 * the host sees.
 *
 * Each register and each byte of memory has a shadow that says which of its bits nobody
 * has given a value. Instructions move it along (rules.c, lanes.c, access.c); reading
 * what is undefined is no mistake, only certain uses are. What was told of counts as
 * defined from then on, so that one mistake is told once. Invariant: a bit whose shadow
 * is clear never depends on one that nobody has set. SPDX-License-Identifier: MIT
 */
#include "init.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"

/* ---- origins ---- */

uint16_t init_origin(struct ck_init *in, enum init_place place, uint64_t where,
                     uint64_t pc)
{
    uint64_t h = ((where * 31 + pc) * 31 + place) * UINT64_C(0x9e3779b97f4a7c15);
    size_t n = sizeof in->index / sizeof *in->index, i = (size_t)(h >> 40) % n;
    for (; in->index[i]; i = (i + 1) % n) {
        const struct init_origin *o = &in->origin[in->index[i] - 1];
        if (o->place == place && o->where == where && o->pc == pc)
            return in->index[i];
    }
    if (in->n_origins == INIT_ORIGINS)
        return 0;
    in->origin[in->n_origins] =
        (struct init_origin){.place = (uint8_t)place, .where = where, .pc = pc};
    in->index[i] = (uint16_t)++in->n_origins;
    return in->index[i];
}

static void scalar_name(unsigned sel, char *text, size_t size)
{
    if (sel == ISA_SEL_SCC)
        (void)snprintf(text, size, "SCC");
    else if (sel == ISA_SEL_M0)
        (void)snprintf(text, size, "M0");
    else if (sel == ISA_SEL_VCC_LO || sel == ISA_SEL_VCC_HI)
        (void)snprintf(text, size, "vcc_%s", sel == ISA_SEL_VCC_LO ? "lo" : "hi");
    else
        (void)snprintf(text, size, "s%u", sel);
}

/* "v5, which nothing has written" */
static void describe(struct ck *ck, const struct init_origin *o, struct ck_finding *f,
                     char *text, size_t size)
{
    char name[72];
    switch (o->place) {
    case INIT_VGPR:
        (void)snprintf(name, sizeof name, "v%" PRIu64, o->where);
        break;
    case INIT_SGPR:
        scalar_name((unsigned)o->where, name, sizeof name);
        break;
    case INIT_LDS:
        (void)snprintf(name, sizeof name, "byte %" PRIu64 " of LDS", o->where);
        break;
    case INIT_SCRATCH:
        (void)snprintf(name, sizeof name, "byte %" PRIu64 " of scratch", o->where);
        break;
    case INIT_GLOBAL:
        if (!ck_mem_holds(ck, o->where, f)) {
            f->base = o->where;
            f->size = 0;
            (void)snprintf(f->allocation, sizeof f->allocation, "memory");
        }
        (void)snprintf(name, sizeof name, "byte %" PRIu64 " of %.*s",
                       o->where - f->base, (int)sizeof f->allocation, f->allocation);
        break;
    default:
        (void)snprintf(text, size, "what nothing has written");
        return;
    }
    if (o->place >= INIT_LDS) {
        f->located = true;
        f->address = o->where;
        f->space = o->place == INIT_LDS       ? EMU_SPACE_LDS
                   : o->place == INIT_SCRATCH ? EMU_SPACE_SCRATCH
                                              : EMU_SPACE_GLOBAL;
    }
    (void)snprintf(text, size, "%s, which nothing has written", name);
}

static const struct {
    const char *kind, *what;
} uses[INIT_USES] = {
    [INIT_ADDRESS] = {"undefined-address", "the address comes from"},
    [INIT_DESCRIPTOR] = {"undefined-address", "the resource descriptor comes from"},
    [INIT_STORE] = {"undefined-store", "what is stored comes from"},
    [INIT_PADDING] = {"undefined-padding", "some bytes that are stored come from"},
    [INIT_ATOMIC] = {"undefined-atomic", "the operand of the atomic comes from"},
    [INIT_ATOMIC_MEMORY] = {"undefined-atomic", "the atomic reads"},
    [INIT_BRANCH] = {"undefined-branch", "the condition of the branch comes from"},
    [INIT_TARGET] = {"undefined-branch", "the target of the branch comes from"},
    [INIT_EXEC] = {"undefined-exec", "EXEC comes from"},
    [INIT_INDEX] = {"undefined-index", "M0, which selects a register, comes from"},
    [INIT_MODE] = {"undefined-mode", "a hardware register is set to what comes from"},
};

void init_tell(struct ck *ck, const struct ck_wave *w, const struct emu_event *e,
               enum init_use use, uint64_t lanes, uint16_t from)
{
    static const struct init_origin unknown;
    struct ck_finding f;
    char text[128];
    const struct init_origin *o = from ? &ck->init->origin[from - 1] : &unknown;
    ck_finding_at(ck, CK_INIT, uses[use].kind, e, lanes, &f);
    f.benign = use == INIT_PADDING;
    if (o->pc && o->pc != e->inst->pc)
        ck_actor_at(ck, w, o->pc, lanes, &f.other);
    describe(ck, o, &f, text, sizeof text);
    (void)snprintf(f.text, sizeof f.text, "%s %s", uses[use].what, text);
    ck_report(ck, &f);
}

/* ---- registers ---- */

uint64_t init_undefined(struct ck *ck, const struct init_wave *r,
                        const struct emu_event *e, const struct emu_reg *g,
                        uint64_t lanes, uint16_t *from)
{
    uint64_t found = 0;
    if (g->sel == ISA_SEL_SCC) {
        *from = init_from(ck->init, e, g->sel, r->scc_from);
        return r->scc;
    }
    for (unsigned i = 0; i < g->dwords; i++) {
        unsigned sel = g->sel + i, reg = sel - ISA_SEL_VGPR0;
        bool first = !found;
        if (sel < INIT_SGPRS && r->sgpr[sel]) {
            found = 1;
            if (first)
                *from = init_from(ck->init, e, sel, r->sgpr_from[sel]);
        } else if (sel >= ISA_SEL_VGPR0 && r->lanes[reg] & lanes) {
            uint64_t bad = r->lanes[reg] & lanes;
            found |= bad;
            unsigned lane = (unsigned)__builtin_ctzll(bad);
            if (first)
                *from = init_from(ck->init, e, sel, init_vgpr(r, reg, lane).from);
        }
    }
    return found;
}

/* As the descriptor asks for registers (manual, "initial wave state"): user SGPRs, what
 * follows them, work-item ids in v0. Trap registers belong to somebody else. */
static void fill(const struct ck *ck, const struct ck_wave *w, struct init_wave *r)
{
    const struct emu_dispatch *d = ck->launch.dispatch;
    uint64_t all = w->info->lanes == 64 ? ~UINT64_C(0) : UINT32_MAX;
    unsigned n = d->n_user_sgprs + (unsigned)__builtin_popcount(d->rsrc2 >> 7 & 15u);
    for (unsigned i = 0; i < ck->launch.vgprs && i < INIT_VGPRS; i++)
        r->lanes[i] = r->never[i] = all;
    r->lanes[0] = r->never[0] = all & ~w->items;
    for (unsigned i = 0; i < INIT_SGPRS; i++) {
        bool set = i < n || i >= ISA_SEL_TTMP0;
        r->sgpr[i] = set && i != ISA_SEL_M0 ? 0 : ~0u;
        r->sgpr_from[i] = 0;
    }
    r->scc = 1;
    r->scc_from = 0;
    memset(r->marks.reg, 0xff, sizeof r->marks.reg);
}

void ck_init_wave(struct ck *ck, struct ck_wave *w)
{
    struct ck_init *in = ck->init;
    struct init_wave *r = in->spare;
    if (r)
        in->spare = r->next;
    else
        r = malloc(sizeof *r);
    if (!r)
        return;
    r->scratch = NULL;
    r->scratch_from = NULL;
    r->n_kept = 0;
    memset(r->lanes, 0, sizeof r->lanes);
    memset(r->never, 0, sizeof r->never);
    fill(ck, w, r);
    r->marks.lds = init_lds_dirty(ck, w->group);
    w->init = r;
}

void ck_init_gone(struct ck *ck, struct ck_wave *w)
{
    struct init_wave *r = w->init;
    if (!r)
        return;
    free(r->scratch);
    free(r->scratch_from);
    r->next = ck->init->spare;
    ck->init->spare = r;
    w->init = NULL;
}

/* ---- instructions ---- */

/* vccz: VCC's bits together; wave32 has the lower ones alone. */
static bool vcc_decides(const struct init_wave *r, const struct emu_event *e)
{
    struct bits vcc = {0, 0};
    for (unsigned i = 0; i < (e->wave->lanes == 64 ? 2u : 1u); i++) {
        vcc.v |= (uint64_t)emu_wave_special(e->wave, ISA_SEL_VCC_LO + i) << 32 * i;
        vcc.u |= (uint64_t)r->sgpr[ISA_SEL_VCC_LO + i] << 32 * i;
    }
    return !bits_any(vcc).u;
}

/* Branches, conditional ones and those to an address in registers. */
static void branch(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    struct init_wave *r = w->init;
    uint16_t from = 0;
    for (unsigned i = 0; i < e->inst->n_regs; i++) {
        const struct emu_reg *g = &e->inst->reg[i];
        if (!(g->flags & ISA_OF_IN) || init_is_clean(r, g, 0))
            continue;
        bool vcc = g->sel == ISA_SEL_VCC_LO && g->flags & ISA_OF_IMPLICIT;
        if (vcc && vcc_decides(r, e))
            continue;
        (void)init_undefined(ck, r, e, g, 0, &from);
        init_tell(ck, w, e, vcc || g->sel == ISA_SEL_SCC ? INIT_BRANCH : INIT_TARGET, 0,
                  from);
        init_clean(r, g, 0);
    }
    for (unsigned i = 0; i < e->inst->n_regs; i++)
        if (e->inst->reg[i].flags & ISA_OF_OUT)
            init_clean(r, &e->inst->reg[i], 0);
}

void ck_init_before(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    if (!w->init)
        return;
    w->init->rest = false;
    if (e->inst->kind == EMU_KIND_MEMORY)
        init_memory_confirm(ck, w, e);
    switch (e->inst->kind) {
    case EMU_KIND_BRANCH:
        branch(ck, w, e);
        return;
    case EMU_KIND_COMPUTE:
    case EMU_KIND_MESSAGE:
        init_compute(ck, w, e);
        return;
    case EMU_KIND_MEMORY: /* lanes that exchange what they have */
        if (rule_crosses(rule_of(e->inst->isa.op).rule))
            init_compute(ck, w, e);
        return;
    default:
        return;
    }
}

void ck_init_step(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    if (w->init && e->inst->kind == EMU_KIND_MEMORY &&
        !rule_crosses(rule_of(e->inst->isa.op).rule))
        init_access(ck, w, e);
}

/* ---- of the emulator, of a dispatch ---- */

rd_status ck_init_create(const struct ck *ck, struct ck_init **out)
{
    struct ck_init *in = calloc(1, sizeof *in);
    if (!in)
        return RD_E_NOMEM;
    in->memory = init_memory_create(ck);
    if (!in->memory) {
        free(in);
        return RD_E_NOMEM;
    }
    *out = in;
    return RD_OK;
}

void ck_init_destroy(struct ck_init *in)
{
    if (!in)
        return;
    while (in->spare) {
        struct init_wave *next = in->spare->next;
        free(in->spare);
        in->spare = next;
    }
    init_memory_destroy(in->memory);
    free(in);
}

void ck_init_begin(struct ck *ck)
{
    struct ck_init *in = ck->init;
    in->n_origins = 0;
    memset(in->index, 0, sizeof in->index);
    if (ck->config.host_writes)
        init_memory_settle(in->memory);
    unsigned heap = ck->config.heap ? ck_heap_generation(ck->config.heap) : 0;
    if (ck->config.heap && ck->config.read && heap != in->heap)
        init_memory_follow(in->memory, ck->config.heap);
    in->heap = heap;
    in->copies = ck->config.heap && (!*ck->kernel || strncmp(ck->kernel, "__", 2) == 0);
}

rd_status ck_memory_fresh(struct ck *ck, uint64_t va, uint64_t bytes)
{
    return !ck->init || init_memory_fresh(ck->init->memory, va, bytes) ? RD_OK
                                                                       : RD_E_NOMEM;
}
