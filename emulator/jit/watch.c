/* watch.c: what native code of watched waves has besides: calls to observers, counts
 * for them, and the numbered states of runs of instructions.
 *
 * A state that was met where a run begins costs a comparison; the others are looked up
 * out of the way, and what nobody has met yet is left to events. Must not know what the
 * states mean. SPDX-License-Identifier: MIT
 */
#include "watch.h"

#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "facts.h"
#include "glance.h"
#include "program.h"

#define ARENA_BYTES (64u << 10)

struct watch_arena {
    struct watch_arena *next;
    size_t used;
    _Alignas(64) char memory[ARENA_BYTES];
};

/* Zeroed. */
static void *take(struct watch_arena **arena, size_t bytes)
{
    struct watch_arena *a = *arena;
    if (!a || sizeof a->memory - a->used < bytes) {
        a = aligned_alloc(64, sizeof *a);
        if (!a)
            return NULL;
        a->next = *arena;
        a->used = 0;
        *arena = a;
    }
    void *out = a->memory + a->used;
    a->used += (bytes + 63) / 64 * 64;
    return memset(out, 0, bytes);
}

struct watch_seen *watch_place(struct watch_arena **arena, const struct uop *u)
{
    struct watch_seen *s = take(arena, sizeof *s);
    if (!s)
        return NULL;
    memset(s->state, 0xff, sizeof s->state); /* WATCH_UNKNOWN is none's */
    s->u = u;
    return s;
}

struct emu_row *watch_row(struct watch_arena **arena)
{
    struct emu_row *row = take(arena, sizeof *row);
    if (row)
        row->offset[0] = 1; /* no lanes lie so */
    return row;
}

void watch_forget(struct watch_arena **arena)
{
    while (*arena) {
        struct watch_arena *a = *arena;
        *arena = a->next;
        free(a);
    }
}

/* ---- which instructions ---- */

void watch_begin(struct emit *e)
{
    union {
        const struct program *theirs;
        struct program *p;
    } p = {.theirs = e->p};
    for (unsigned i = 0; i < e->t->n && e->watch; i++)
        e->sees[i] = (uint8_t)e->watch->flags(e->watch->ctx, p.p, e->t->step[i].u);
}

static bool begins(const struct emit *e, unsigned i)
{
    return e->watch && (e->watch->follows || e->watch->marks) &&
           (e->t->step[i].leader || e->sees[i] & WATCH_ALONE ||
            (i && e->sees[i - 1] & (WATCH_PARTS | WATCH_ALONE)));
}

bool watch_ends(const struct emit *e, unsigned i, bool first)
{
    return (!first && begins(e, i)) || e->sees[i] & (WATCH_EVENT | WATCH_ASK);
}

bool watch_calls(const struct emit *e)
{
    for (unsigned i = 0; i < e->t->n; i++)
        if (e->sees[i] & WATCH_EVENT)
            return true;
    return false;
}

uintptr_t watch_function(const struct emit *e, const struct uop *u, unsigned n_insts)
{
    bool event = n_insts && e->sees[n_insts - 1] & (WATCH_EVENT | WATCH_SLOW);
    return event ? (uintptr_t)e->watch->step : (uintptr_t)u->fn;
}

/* ---- marks ---- */

static void note_run(const struct emit *e, unsigned i, struct emu_run *run)
{
    union {
        const struct program *theirs;
        struct program *p;
    } p = {.theirs = e->p};
    for (unsigned k = i; k < e->t->n && (k == i || !begins(e, k)); k++)
        e->watch->note(e->watch->ctx, p.p, e->t->step[k].u, run);
}

/* Does the run touch what is marked? */
static void test_marks(struct emit *e, const struct emu_run *run, struct far *f)
{
    struct x86 *x = e->x;
    bool first = true;
    if (run->seen) {
        far_from(f, x86_jmp(x));
        return;
    }
    x86_mov_imm(x, RDX, (uintptr_t)e->watch->now);
    x86_load(x, true, RDX, mem_at(RDX, offsetof(struct watch_now, marks)));
    for (unsigned k = 0; k < EMU_MARK_WORDS; k++) {
        uint32_t touched = run->reads[k] | run->reads_all[k] | run->writes[k];
        unsigned reg = first ? RAX : RCX;
        if (!touched)
            continue;
        x86_load(x, false, reg,
                 mem_at(RDX, (int32_t)(offsetof(struct emu_marks, reg) + 4ul * k)));
        x86_alu_imm(x, ALU_AND, false, reg, (int32_t)touched);
        if (!first)
            x86_alu(x, ALU_OR, false, RAX, RCX);
        first = false;
    }
    if (!first)
        far_from(f, x86_jcc(x, CC_NE));
}

/* ---- numbered states ---- */

static struct x86_mem way_mem(unsigned way, size_t array)
{
    return mem_at(RAX, (int32_t)(array + 4ul * way));
}

/* Is the state one of those that were met here? */
static void test_state(struct emit *e, const struct watch_seen *s, struct far *f)
{
    struct x86 *x = e->x;
    const struct x86_mem state = mem_at(RDX, offsetof(struct watch_now, state));
    size_t done[WATCH_WAYS];
    if (e->masked) { /* without lanes it does something else */
        x86_alu_mem_imm(x, ALU_CMP, e->wave64, sgpr_mem(ISA_SEL_EXEC_LO), 0);
        far_from(f, x86_jcc(x, CC_E));
    }
    x86_mov_imm(x, RDX, (uintptr_t)e->watch->now);
    x86_load(x, false, RCX, state);
    x86_mov_imm(x, RAX, (uintptr_t)s);
    for (unsigned way = 0; way < WATCH_WAYS; way++) {
        x86_alu_load(x, ALU_CMP, false, RCX,
                     way_mem(way, offsetof(struct watch_seen, state)));
        size_t other = x86_jcc(x, CC_NE);
        x86_load(x, false, RCX, way_mem(way, offsetof(struct watch_seen, next)));
        done[way] = x86_jmp(x);
        x86_land(x, other);
    }
    far_from(f, x86_jmp(x));
    for (unsigned way = 0; way < WATCH_WAYS; way++)
        x86_land(x, done[way]);
    x86_store(x, false, state, RCX);
}

void watch_run(struct emit *e, unsigned i)
{
    const struct uop *u = e->t->step[i].u;
    if (!begins(e, i))
        return;
    struct watch_seen *s = watch_place(e->places, u);
    struct far *f = emit_far(e, FAR_ENTER, u);
    e->failed |= !s;
    if (!s || !f)
        return;
    f->seen = s;
    f->turn -= u->turn; /* the rest of the block is not begun */
    if (e->watch->marks) {
        note_run(e, i, &s->run);
        test_marks(e, &s->run, f);
    }
    if (e->watch->follows)
        test_state(e, s, f);
    emit_back(e, f);
}

size_t watch_enter(struct emit *e, const struct far *f)
{
    struct x86 *x = e->x;
    x86_mov(x, true, RDI, W);
    x86_mov_imm(x, RSI, (uintptr_t)f->seen);
    x86_mov_imm(x, RDX, f->n_insts);
    x86_mov_imm(x, RAX, (uintptr_t)e->watch->enter);
    x86_call(x, RAX);
    x86_test(x, false, RAX, RAX);
    return x86_jcc(x, CC_NE);
}

void watch_go_back(struct emit *e, const struct far *f, size_t known)
{
    x86_land(e->x, known);
    e->masked = f->masked;
    e->half = f->half;
    emit_load_exec(e);
    rows_reload(e, &f->after);
    x86_jmp_to(e->x, f->back);
}

/* ---- accesses ---- */

static void call_ask(struct emit *e, const struct uop *u, unsigned n_insts, bool settle,
                     const struct emu_row *row)
{
    struct x86 *x = e->x;
    x86_mov(x, true, RDI, W);
    x86_mov_imm(x, RSI, (uintptr_t)u);
    x86_mov_imm(x, RDX, n_insts);
    x86_mov_imm(x, RCX, (uintptr_t)row);
    x86_mov_imm(x, RAX,
                settle ? (uintptr_t)e->watch->settle : (uintptr_t)e->watch->ask);
    x86_call(x, RAX);
}

/* A row of addresses goes into the entry at rax. */
static void log_row(struct emit *e, unsigned row, unsigned half)
{
    unsigned c = e->rows.entry_of[row];
    for (unsigned p = 0; p < e->parts; p++) {
        unsigned from = c == NO_ENTRY ? temp_reg(e, TEMP_S0) : row_reg(e, c, p);
        size_t at =
            sizeof(struct watch_entry) + ROW_BYTES * half + e->part_bytes * (size_t)p;
        if (c == NO_ENTRY)
            x86_vec(e->x, X86_MOVUPS, from, 0, row_mem(e, row, p), 0, 0);
        x86_vec(e->x, X86_MOVUPS_ST, from, 0, rm_mem(RAX, (int32_t)at), 0, 0);
    }
}

/* An entry of the log for u. Returns the jump that is taken if it is closed. */
static size_t write_entry(struct emit *e, const struct uop *u)
{
    struct x86 *x = e->x;
    struct x86_mem at = mem_at(RDX, offsetof(struct emu_log, at));
    unsigned halves = e->wave64 ? 2 : 1;
    x86_mov_imm(x, RDX, (uintptr_t)e->watch->now);
    x86_load(x, true, RDX, mem_at(RDX, offsetof(struct watch_now, log)));
    x86_load(x, true, RAX, at);
    x86_alu_load(x, ALU_CMP, true, RAX, mem_at(RDX, offsetof(struct emu_log, end)));
    size_t closed = x86_jcc(x, CC_AE);
    x86_mov_imm(x, RCX, (uintptr_t)u);
    x86_store(x, true, mem_at(RAX, offsetof(struct watch_entry, u)), RCX);
    x86_mov_imm(x, RCX, (uintptr_t)e->p);
    x86_store(x, true, mem_at(RAX, offsetof(struct watch_entry, program)), RCX);
    x86_store(x, true, mem_at(RAX, offsetof(struct watch_entry, wave)), W);
    x86_load(x, true, RCX, sgpr_mem(ISA_SEL_EXEC_LO));
    x86_store(x, true, mem_at(RAX, offsetof(struct watch_entry, exec)), RCX);
    x86_load(x, true, RCX, mem_at(RDX, offsetof(struct emu_log, tag)));
    x86_store(x, true, mem_at(RAX, offsetof(struct watch_entry, tag)), RCX);
    for (unsigned h = 0; h < halves; h++)
        log_row(e, u->mem.addr + h * WAVE_VGPRS, h);
    x86_alu_imm(x, ALU_ADD, true, RAX, (int32_t)EMU_LOG_ENTRY(32u * halves));
    x86_store(x, true, at, RAX);
    return closed;
}

static struct far *ask_inline(struct emit *e, const struct uop *u)
{
    struct x86 *x = e->x;
    rows_flush(e, &e->rows);
    call_ask(e, u, e->n_insts, false, NULL);
    x86_mov(x, false, RSI, RAX);
    emit_load_exec(e);
    const struct rows_state rows = rows_state(&e->rows);
    rows_reload(e, &rows);
    struct far *f = emit_far(e, FAR_SLOW, u);
    x86_test(x, false, RSI, RSI);
    far_from(f, x86_jcc(x, CC_NE));
    return f;
}

static struct far *ask_if_closed(struct emit *e, const struct uop *u)
{
    size_t closed = write_entry(e, u);
    struct far *f = emit_far(e, FAR_ASK, u);
    far_from(f, closed);
    if (f)
        f->refused = x86_here(e->x);
    return f;
}

/* Where the lanes lie as they did before, or it is a scalar load, and nobody wants to
 * see that, that is all. */
static struct far *ask_by_row(struct emit *e, const struct uop *u)
{
    struct x86 *x = e->x;
    struct far *f = emit_far(e, FAR_ASK, u);
    struct emu_row *row = watch_row(e->places);
    e->failed |= !row;
    if (!f || !row)
        return NULL;
    f->row = row;
    if (access_is_scalar(u))
        access_scalar(e, u);
    else
        access_by_row(e, u, f, row);
    x86_mov(x, true, RSI, RAX);
    x86_mov_imm(x, RDI, (uintptr_t)e->watch->now);
    x86_load(x, true, RDI, mem_at(RDI, offsetof(struct watch_now, mine)));
    x86_mov_imm(x, RDX, (uintptr_t)row);
    x86_mov_imm(x, RAX, (uintptr_t)e->watch->row);
    x86_call(x, RAX);
    x86_test(x, false, RAX, RAX);
    far_from(f, x86_jcc(x, CC_E));
    f->refused = x86_here(x);
    return f;
}

/* LDS is about to be accessed: that counts as done first if something there is marked.
 */
static struct far *settle_lds(struct emit *e, const struct uop *u)
{
    struct x86 *x = e->x;
    if (!e->watch || !e->watch->marks || !emit_known_lds(e, u))
        return NULL;
    struct far *f = emit_far(e, FAR_SETTLE, u);
    x86_mov_imm(x, RAX, (uintptr_t)e->watch->now);
    x86_load(x, true, RAX, mem_at(RAX, offsetof(struct watch_now, marks)));
    x86_load(x, true, RAX, mem_at(RAX, offsetof(struct emu_marks, lds)));
    x86_alu_mem_imm(x, ALU_CMP, false, mem_at(RAX, 0), 0);
    far_from(f, x86_jcc(x, CC_NE));
    if (f)
        f->refused = x86_here(x);
    return f;
}

bool watch_inst(struct emit *e, const struct uop *u, struct far *f[WATCH_FARS])
{
    unsigned flags = e->watch ? e->sees[e->n_insts - 1] : 0;
    f[0] = f[1] = NULL;
    if (flags & WATCH_EVENT)
        return true;
    f[1] = settle_lds(e, u);
    if (!(flags & WATCH_ASK) || (flags & WATCH_SLOW && !emit_known_memory(e, u)))
        return false;
    f[0] = flags & WATCH_LATER ? ask_if_closed(e, u)
           : flags & WATCH_ROW && (access_is_scalar(u) || access_has_row(e, u))
               ? ask_by_row(e, u)
               : ask_inline(e, u);
    return false;
}

void watch_ask(struct emit *e, struct far *f)
{
    rows_put(e, &f->before);
    call_ask(e, f->u, f->n_insts, f->kind == FAR_SETTLE, f->row);
    x86_test(e->x, false, RAX, RAX);
    size_t event = x86_jcc(e->x, CC_NE);
    e->masked = f->masked;
    e->half = f->half;
    emit_load_exec(e);
    rows_reload(e, &f->before);
    x86_jmp_to(e->x, f->refused);
    x86_land(e->x, event);
}

void watch_count(struct emit *e, const struct uop *u)
{
    struct x86 *x = e->x;
    const struct x86_mem count = mem_at(RDX, offsetof(struct watch_now, accesses));
    const struct isa_facts *facts = isa_facts(u->isa_op);
    int32_t each = u->flags & UF_MEM && u->mem.elems == 2 ? 2 : 1, lanes;
    if (facts->access == ISA_ACCESS_NONE || (e->whole && !e->half))
        return;
    x86_mov_imm(x, RDX, (uintptr_t)e->watch->now);
    lanes = e->wave64 ? 64 : 32;
    if (facts->pipe == ISA_PIPE_SMEM)
        lanes = 1;
    if (lanes == 1 || !e->masked) {
        x86_alu_mem_imm(x, ALU_ADD, true, count, each * lanes);
        return;
    }
    x86_load(x, e->wave64, RAX, sgpr_mem(ISA_SEL_EXEC_LO));
    x86_bits(x, BITS_POPCNT, e->wave64, RAX, RAX);
    if (each == 2)
        x86_shift_imm(x, SHIFT_SHL, false, RAX, 1);
    x86_load(x, true, RCX, count);
    x86_alu(x, ALU_ADD, true, RCX, RAX);
    x86_store(x, true, count, RCX);
}

void watch_once(struct emit *e, unsigned first)
{
    for (unsigned i = first; i < e->n_far; i++)
        if (far_at(e, i)->kind == FAR_SLOW) {
            far_at(e, i)->after = rows_state(&e->rows);
            far_at(e, i)->back = x86_here(e->x);
            far_at(e, i)->half = 1;
        }
}
