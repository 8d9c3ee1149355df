/* known.c: what a memory instruction has found out, for those behind it in the trace.
 *
 * Kernels access several buffers with one row of offsets, and write back what they have
 * read. A row that was a line is one until it is written; a place that was checked
 * stays it until its SGPRs or its row are. Whether that was so is only known when the
 * code runs, and control comes back from elsewhere if not: a dword or address on the
 * stack says it, which is 0 until the usual way sets it. The halves of a wave of 64
 * lanes know each their own; where a handler does both, the code of the upper one
 * follows as ever. SPDX-License-Identifier: MIT
 */
#include "access.h"
#include "handlers.h"
#include "machine.h"

static struct x86_mem slot_mem(unsigned slot)
{
    return mem_at(RSP, (int32_t)(8 * slot));
}

static void forget(struct emit *e, unsigned i)
{
    if (e->known[i].loop)
        x86_store_imm(e->x, true, slot_mem(i), 0);
    else
        e->known[i].step = 0;
}

void known_forget(struct emit *e)
{
    for (unsigned i = 0; i < KNOWN_MAX; i++)
        forget(e, i);
}

/* Does u, or the second part of it, add the same to all lanes of row? Then lines stay
 * lines. */
static bool adds_uniform(const struct uop *u, unsigned row)
{
    if (u->flags & UF_PAIR && u->d != row)
        u++;
    bool adds = u->isa_op == ISA_V_ADD_NC_U32 || u->isa_op == ISA_V_DUAL_ADD_NC_U32 ||
                u->isa_op == ISA_V_ADD_CO_U32;
    if (!adds || u->d != row) /* clamped ones call functions, which forget all */
        return false;
    unsigned own = 0, same = 0;
    for (unsigned i = 0; i < 2; i++) {
        const struct usrc *s = &u->s[i];
        bool vgpr = s->base == SRC_VGPR && s->prep == PREP_NONE;
        own += vgpr && s->row == row; /* integers have no modifiers, ... */
        same += !vgpr;                /* ... and with DPP both are VGPRs */
    }
    return own == 1 && same == 1;
}

void known_forget_row(struct emit *e, unsigned row)
{
    bool stays = !e->masked && adds_uniform(e->t->step[e->at].u, row);
    for (unsigned i = 0; i < KNOWN_MAX; i++) {
        const struct known *k = &e->known[i];
        bool high = k->place && k->saddr == NO_ROW && k->row + 1u == row;
        if (k->step && (k->row == row || high) && !(stays && k->loop))
            forget(e, i);
    }
}

/* May the instruction write SGPRs from first on, n of them? */
static bool writes_sgprs(const struct emit *e, const struct uop *u, unsigned first,
                         unsigned n)
{
    const struct sem_entry *s = e->emu->sem[u->isa_op];
    unsigned from = u->d, dwords = 0;
    if (!s)
        return true;
    if (s->kind == SEM_LANE) {
        from = u->d2;
        dwords = u->flags & UF_MASK_OUT ? 2 : 0;
    } else if (u->fn == x_smem) {
        dwords = (u->mem.bytes + 3u) / 4;
    } else if (u->flags & UF_MEM) {
        return false; /* or a handler's, which makes all forgotten */
    } else if (!emit_branch_test(NULL, u, NULL) &&
               (!emit_known_scalar(u->isa_op) || !emit_scalar_fits(u, &dwords))) {
        return true;
    }
    return from < first + n && from + dwords > first;
}

void known_step(struct emit *e, const struct uop *u)
{
    for (unsigned i = 0; i < KNOWN_MAX; i++) {
        const struct known *k = &e->known[i];
        if (k->step && k->place && k->saddr != NO_ROW &&
            writes_sgprs(e, u, k->saddr, 2))
            e->known[i].step = 0;
    }
}

static struct known of_access(const struct access *a, bool place)
{
    struct known k = {.row = a->addr, .step = (uint8_t)a->step, .place = place};
    if (place) {
        k.saddr = a->u->mem.saddr;
        k.imm = a->u->imm;
    }
    return k;
}

static bool same(const struct known *a, const struct known *b)
{
    return a->row == b->row && a->step == b->step && a->place == b->place &&
           a->saddr == b->saddr && a->imm == b->imm;
}

static unsigned find(const struct emit *e, const struct access *a, bool place)
{
    struct known k = of_access(a, place);
    unsigned i = 0;
    while (i < KNOWN_MAX && !same(&e->known[i], &k))
        i++;
    return i;
}

/* Does u access memory at the row of addresses that a has? Rows of the upper half are
 * those of the lower one further on. */
static bool has_row(const struct uop *u, const struct access *a)
{
    unsigned row = a->addr % WAVE_VGPRS;
    if (u->fn == x_buffer_load || u->fn == x_buffer_store)
        return u->buf.vaddr == row && u->buf.bytes == a->bytes;
    return u->flags & UF_MEM && u->mem.space != MEM_SCALAR && u->mem.addr == row &&
           u->mem.bytes == a->bytes;
}

/* Is it likely that another instruction asks the same before the row is written? */
static bool asked_again(const struct emit *e, const struct access *a, bool place)
{
    for (unsigned i = e->n_insts; i < e->t->n; i++) {
        const struct uop *u = e->t->step[i].u;
        const struct sem_entry *s = e->emu->sem[u->isa_op];
        if (has_row(u, a) &&
            (!place || (u->mem.saddr == a->u->mem.saddr && u->imm == a->u->imm &&
                        u->mem.space == a->u->mem.space)))
            return true;
        if (s && s->kind == SEM_LANE && !(u->flags & UF_NO_VALUE) &&
            u->d == a->addr % WAVE_VGPRS)
            return false;
    }
    return false;
}

/* A slot that will tell, and tells no so far; KNOWN_MAX: none. */
static unsigned begin(struct emit *e, const struct access *a, bool place)
{
    unsigned i = 0;
    while (i < KNOWN_MAX && e->known[i].step)
        i++;
    if (i == KNOWN_MAX || !asked_again(e, a, place))
        return KNOWN_MAX;
    e->known[i] = of_access(a, place);
    x86_store_imm(e->x, true, slot_mem(i), 0);
    return i;
}

void known_begin(struct emit *e, struct access *a)
{
    /* What somebody wants to see goes another way, past the slot's first 0. */
    bool may = !e->watch && !a->alias;
    bool global = a->u->flags & UF_MEM && !a->lds;
    a->line = find(e, a, false);
    a->place = global ? find(e, a, true) : KNOWN_MAX;
    a->sets_line = a->sets_place = KNOWN_MAX;
    if (!may || e->masked)
        return;
    if (a->line == KNOWN_MAX)
        a->sets_line = begin(e, a, false);
    if (a->place == KNOWN_MAX && global)
        a->sets_place = begin(e, a, true);
}

size_t known_line(struct emit *e, const struct access *a)
{
    bool loop = a->line != KNOWN_MAX && e->known[a->line].loop;
    unsigned sets = loop && !e->masked ? a->line : a->sets_line;
    size_t known = 0;
    if (a->line != KNOWN_MAX) {
        x86_vmovd(e->x, RCX, access_offsets(e, a, 0));
        x86_alu_mem_imm(e->x, ALU_CMP, false, slot_mem(a->line), 0);
        if (!loop)
            return x86_jcc(e->x, CC_E);
        known = x86_jcc(e->x, CC_NE);
    }
    access_first(e, a, 0);
    size_t apart = x86_jcc(e->x, access_row_apart(e, a));
    if (sets != KNOWN_MAX)
        x86_store_imm(e->x, true, slot_mem(sets), 1);
    if (loop)
        x86_land(e->x, known);
    return apart;
}

size_t known_place(struct emit *e, const struct access *a)
{
    if (a->place == KNOWN_MAX)
        return 0;
    x86_load(e->x, true, RAX, slot_mem(a->place));
    x86_test(e->x, true, RAX, RAX);
    return x86_jcc(e->x, CC_NE);
}

void known_set_place(struct emit *e, const struct access *a, struct x86_mem perm,
                     unsigned checked)
{
    if (a->sets_place == KNOWN_MAX)
        return;
    x86_test8_imm(e->x, perm, (EMU_MEM_READ | EMU_MEM_WRITE) & ~checked);
    size_t no = x86_jcc(e->x, CC_E);
    x86_store(e->x, true, slot_mem(a->sets_place), RAX);
    x86_land(e->x, no);
}

/* ---- loops -------------------------------------------------------------------------
 */

/* May the step leave other than a line in row, as far as can be told before? A wrong
 * answer costs time alone: what writes the row says so when it runs. */
static bool spoils(const struct emit *e, const struct uop *u, unsigned row)
{
    const struct sem_entry *s = e->emu->sem[u->isa_op];
    if (s && s->kind == SEM_LANE) {
        for (unsigned h = 0; h < (u->flags & UF_PAIR ? 2u : 1u); h++)
            if (!(u[h].flags & UF_NO_VALUE) &&
                row - u[h].d < (u[h].flags & UF_DST64 ? 2u : 1u))
                return !adds_uniform(u, row);
        return false;
    }
    if (!emit_known_memory(e, u))
        return !emit_known_scalar(u->isa_op) && !emit_branch_test(NULL, u, NULL);
    bool stores = u->flags & UF_MEM && u->mem.dirs == MD_WRITE;
    return u->fn != x_smem && !stores && row - u->d < MAX_DWORDS;
}

static bool stays_line(const struct emit *e, unsigned steps, unsigned row)
{
    for (unsigned i = 0; i < steps; i++)
        if (spoils(e, e->t->step[i].u, row))
            return false;
    return true;
}

void known_loop(struct emit *e, unsigned steps)
{
    unsigned n = 0;
    for (unsigned i = 0; i < steps && n < KNOWN_MAX / 2; i++) {
        const struct uop *u = e->t->step[i].u;
        if (e->masked || e->watch || !access_line_likely(e, u))
            continue;
        struct known k = {
            .row = u->mem.addr, .step = (uint8_t)u->mem.bytes, .loop = true};
        bool has = false;
        for (unsigned j = 0; j < n; j++)
            has |= e->known[j].row == k.row && e->known[j].step == k.step;
        if (has || !stays_line(e, steps, k.row))
            continue;
        e->known[n] = k;
        x86_store_imm(e->x, true, slot_mem(n++), 0);
    }
}
