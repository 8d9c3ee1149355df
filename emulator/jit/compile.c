/* compile.c: the code of a trace: entry, loop, ways out.
 *
 * Entry: eax is the slot. Turns end at the same blocks with and without native code:
 * each block begins with a look at what is left. Ways out write registers back and go
 * on to the next trace through the table. SPDX-License-Identifier: MIT
 */
#include "compile.h"

#include <string.h>

#include "access.h"
#include "facts.h"
#include "handlers.h"
#include "machine.h"

static void jump_stub(struct emit *e, enum table_head stub)
{
    x86_load(e->x, true, RDX, table_mem(-(int64_t)stub));
    x86_jump_reg(e->x, RDX);
}

/* ---- accounts -------------------------------------------------------------------- */

static void count_at(struct emit *e, size_t offset)
{
    x86_load(e->x, true, RCX, wave_mem(offsetof(struct wave, counts)));
    x86_alu_mem_imm(e->x, ALU_ADD, true, mem_at(RCX, (int32_t)offset), 1);
}

static void count_path(struct emit *e, unsigned path)
{
    if (path)
        count_at(e, offsetof(struct op_counts, path) + 8ul * path);
}

static unsigned new_path(struct emit *e)
{
    if (!e->paths)
        return 0;
    unsigned path = e->paths->add(e->paths->ctx, e->t, e->n_insts, e->handled);
    e->failed |= !path;
    return path;
}

static void account(struct emit *e, unsigned n_insts, unsigned turn, unsigned path)
{
    x86_alu_mem_imm(e->x, ALU_ADD, true, wave_mem(offsetof(struct wave, n_insts)),
                    (int32_t)n_insts);
    x86_alu_imm(e->x, ALU_SUB, false, LEFT, (int32_t)turn);
    count_path(e, path);
}

/* ---- out of the way -------------------------------------------------------------- */

struct far *emit_far(struct emit *e, unsigned kind, const struct uop *u)
{
    if (e->n_far == FAR_MAX) {
        e->x->full = true;
        return NULL;
    }
    struct far *f = far_at(e, e->n_far++);
    *f = (struct far){.x = e->x,
                      .kind = kind,
                      .u = kind == FAR_SLOW && e->whole ? e->whole : u,
                      .before = rows_state(&e->rows),
                      .n_insts = e->n_insts,
                      .turn = e->turn,
                      .masked = e->masked,
                      .half = e->half,
                      .kept = e->kept,
                      .kept_row = e->kept_row,
                      .path = kind == FAR_PICK || kind == FAR_CHECK ? 0 : new_path(e)};
    return f;
}

void emit_load_exec(struct emit *e)
{
    if (!e->masked || !e->x->evex)
        return;
    x86_load(e->x, false, R11, sgpr_mem(exec_sel(e)));
    x86_k_from_gpr(e->x, 1, R11);
    x86_shift_imm(e->x, SHIFT_SHR, false, R11, 16);
    x86_k_from_gpr(e->x, 2, R11);
}

void emit_new_exec(struct emit *e)
{
    e->masked = true;
    emit_load_exec(e);
}

/* To rdx the entry of that index: large programs have more than a displacement reaches.
 */
static void load_entry(struct emit *e, int64_t index)
{
    struct x86_mem entry;
    if (index <= INT32_MAX / 8) {
        entry = table_mem(index);
    } else {
        x86_mov_imm(e->x, RDX, 8 * (uint64_t)index);
        x86_alu(e->x, ALU_ADD, true, RDX, TABLE);
        entry = mem_at(RDX, 0);
    }
    x86_load(e->x, true, RDX, entry);
    x86_test(e->x, true, RDX, RDX);
}

/* On to the trace at u, if there is one; registers have been written back. full: EXEC
 * is known to be. */
static void go_on(struct emit *e, const struct uop *u, bool full)
{
    struct x86 *x = e->x;
    int64_t slot = u - e->p->uops;
    size_t partial = 0, none[2];
    x86_mov_imm(x, RAX, (uint64_t)slot);
    if (!full) {
        test_exec_full(e);
        partial = x86_jcc(x, CC_NE);
    }
    load_entry(e, 2 * slot);
    none[0] = x86_jcc(x, CC_E);
    x86_jump_reg(x, RDX);
    if (!full) {
        x86_land(x, partial);
        load_entry(e, 2 * slot + 1);
        none[1] = x86_jcc(x, CC_E);
        x86_jump_reg(x, RDX);
        x86_land(x, none[1]);
    }
    x86_land(x, none[0]);
    jump_stub(e, TABLE_LEAVE);
}

/* The wave's turn is over before the block at u, or (TABLE_LEAVE) it goes on elsewhere.
 */
static void leave(struct emit *e, const struct uop *u, enum table_head stub)
{
    x86_mov_imm(e->x, RAX, (uint64_t)(u - e->p->uops));
    jump_stub(e, stub);
}

/* u is the n_insts-th instruction of the trace, of which wave.n_insts lacks done. */
static void call_handler(struct emit *e, const struct uop *u, unsigned n_insts,
                         unsigned done)
{
    x86_mov(e->x, true, RDI, W);
    x86_mov_imm(e->x, RSI, (uintptr_t)u);
    if (e->watch)
        x86_mov_imm(e->x, RDX, done);
    x86_mov_imm(e->x, RAX, watch_function(e, u, n_insts));
    x86_call(e->x, RAX);
}

/* A handler returned NULL: the wave has stopped. */
static void write_fault(struct emit *e, const struct far *f)
{
    account(e, f->n_insts, f->turn, f->path);
    x86_mov_imm(e->x, RAX, 0);
    jump_stub(e, TABLE_RETURN);
}

static void write_slow(struct emit *e, struct far *f)
{
    rows_put(e, &f->before);
    emit_put_kept(e, f);
    if (e->paths)
        count_at(e, offsetof(struct op_counts, slow) + 8ul * f->u->isa_op);
    call_handler(e, f->u, f->n_insts, f->n_insts);
    x86_test(e->x, true, RAX, RAX);
    size_t fault = x86_jcc(e->x, CC_E);
    e->masked = f->masked;
    e->half = f->half;
    emit_load_exec(e);
    rows_reload(e, &f->after);
    x86_jmp_to(e->x, f->back);
    x86_land(e->x, fault);
    write_fault(e, f);
}

/* Where the window was not the likely one: look through all. */
static void write_check(struct emit *e, const struct far *f)
{
    access_ask(e, f->slow, f->bytes, f->perm);
    x86_jmp_to(e->x, f->back);
}

static void write_far(struct emit *e)
{
    for (unsigned i = 0; i < e->n_far; i++) /* first: they go on to others */
        if (far_at(e, i)->kind == FAR_CHECK) {
            x86_land_all(e->x, far_at(e, i)->jump);
            write_check(e, far_at(e, i));
        }
    for (unsigned i = 0; i < e->n_far; i++) {
        struct far *f = far_at(e, i);
        if (f->kind == FAR_CHECK)
            continue;
        x86_land_all(e->x, f->jump);
        if (f->kind == FAR_FAULT) {
            write_fault(e, f);
        } else if (f->kind == FAR_SLOW || f->kind == FAR_ASK || f->kind == FAR_SETTLE) {
            if (f->kind != FAR_SLOW)
                watch_ask(e, f);
            write_slow(e, f);
        } else if (f->kind == FAR_PICK) {
            emit_pick(e, f);
            x86_jmp_to(e->x, f->back);
        } else {
            rows_put(e, &f->before);
            size_t known = f->kind == FAR_ENTER ? watch_enter(e, f) : 0;
            account(e, f->n_insts, f->turn, f->path);
            if (f->kind == FAR_EXIT)
                go_on(e, f->u, !f->masked);
            else
                leave(e, f->u, f->kind == FAR_ENTER ? TABLE_LEAVE : TABLE_TURN);
            if (known)
                watch_go_back(e, f, known);
        }
    }
}

/* ---- instructions ---------------------------------------------------------------- */

/* May the handler give EXEC a new value? */
static bool may_write_exec(const struct emit *e, const struct uop *u)
{
    const struct sem_entry *s = e->emu->sem[u->isa_op];
    unsigned exec = ISA_SEL_EXEC_LO, last = exec + e->wave64;
    if (!s || s->kind == SEM_MATRIX)
        return false;
    if (s->kind == SEM_LANE)
        return emit_writes_exec(e, u);
    if (isa_facts(u->isa_op)->state & ISA_STATE_EXEC_OUT)
        return true;
    if (u->flags & UF_MEM && u->mem.space != MEM_SCALAR)
        return false;
    unsigned dwords = u->flags & UF_MEM ? (u->mem.bytes + 3u) / 4 : 2;
    bool second = u->d2 == exec || u->d2 == last || u->d2 + 1 == (int)exec;
    return second || (u->d <= last && u->d + dwords > exec);
}

void emit_call(struct emit *e, const struct uop *u)
{
    rows_flush(e, &e->rows);
    rows_forget(&e->rows);
    known_forget(e);
    call_handler(e, u, e->n_insts, e->n_insts);
    x86_test(e->x, true, RAX, RAX);
    struct far *f = emit_far(e, FAR_FAULT, u);
    far_from(f, x86_jcc(e->x, CC_E));
    if (may_write_exec(e, u))
        e->masked = true;
    emit_load_exec(e);
    e->handled[e->n_insts - 1] = true;
    e->written[u->d & 255u] = true; /* or no VGPR at all: no harm */
    e->written[WAVE_VGPRS + (u->d & 255u)] = true;
}

bool emit_usual(const struct emit *e, const struct uop *u)
{
    const struct sem_entry *s = e->emu->sem[u->isa_op];
    const struct level_ops *l = e->emu->level;
    if (!s)
        return false;
    if (s->kind == SEM_LANE)
        return u->fn == s->handler || u->fn == l->valu_fast || u->fn == l->valu_plain ||
               u->fn == l->valu_any || u->fn == l->valu_vopd;
    if (s->kind == SEM_SCALAR)
        return u->fn == s->handler;
    return s->kind != SEM_WAVE || u->fn == s->fn.wave;
}

static void emit_unwatched(struct emit *e, const struct uop *u)
{
    if (e->wave64) {
        if (!emit_usual(e, u) ||
            !(emit_vector64(e, u) || emit_scalar(e, u) || emit_memory64(e, u)))
            emit_call(e, u);
        return;
    }
    if (emit_usual(e, u)) {
        if (u->flags & UF_PAIR ? emit_vopd(e, u) : emit_vector(e, u))
            return;
        if (emit_scalar(e, u) || emit_memory(e, u) || emit_leaf(e, u))
            return;
    }
    emit_call(e, u);
}

static void emit_inst(struct emit *e, const struct uop *u)
{
    struct far *event[WATCH_FARS];
    if (watch_inst(e, u, event)) {
        emit_call(e, u);
        return;
    }
    emit_unwatched(e, u);
    for (unsigned i = 0; i < WATCH_FARS; i++)
        if (event[i]) {
            event[i]->after = rows_state(&e->rows);
            event[i]->back = x86_here(e->x);
        }
}

/* ---- the loop -------------------------------------------------------------------- */

/* Steps up to the last branch back to the head. */
static unsigned loop_steps(const struct trace *t)
{
    unsigned n = t->n;
    while (n && t->step[n - 1].kind != TRACE_LOOP && t->step[n - 1].target != t->head)
        n--;
    return n;
}

static bool uses_memory(const struct emit *e, const struct uop *u,
                        unsigned uses[WAVE_VGPRS])
{
    if (!emit_known_memory(e, u))
        return false;
    if (u->fn == x_smem)
        return true;
    if (u->mem.addr != NO_ROW)
        uses[u->mem.addr & 255u] += 2;
    for (unsigned k = 0; u->flags & UF_MEM && k < 4 && k < u->mem.bytes / 4u; k++)
        uses[((u->mem.dirs & MD_WRITE ? u->mem.data : u->d) + k) & 255u]++;
    return true;
}

/* Does the handler do it, as far as can be told before? Rows do not stay in registers
 * over calls. */
static unsigned count_uses(const struct emit *e, unsigned uses[WAVE_VGPRS],
                           unsigned *accesses)
{
    unsigned calls = 0, n = loop_steps(e->t);
    for (unsigned i = 0; i < n; i++) {
        const struct uop *u = e->t->step[i].u;
        const struct sem_entry *s = e->emu->sem[u->isa_op];
        if (!s || s->kind != SEM_LANE) {
            bool known = uses_memory(e, u, uses);
            *accesses += known;
            calls += !emit_known_scalar(u->isa_op) && !known &&
                     !emit_branch_test(NULL, u, NULL);
            continue;
        }
        unsigned halves = u->flags & UF_PAIR ? 2 : 1;
        for (unsigned h = 0; h < halves; h++) {
            if (!e->recipe_of[u[h].isa_op]) {
                calls++;
                break;
            }
            for (unsigned k = 0; k < u[h].n_src; k++)
                for (unsigned d = 0; d < u[h].s[k].dwords; d++)
                    if (u[h].s[k].base == SRC_VGPR)
                        uses[(u[h].s[k].row + d) % WAVE_VGPRS]++;
            if (!(u[h].flags & UF_NO_VALUE))
                uses[u[h].d] += 2;
            if (u[h].flags & UF_DST64)
                uses[(u[h].d + 1) % WAVE_VGPRS] += 2;
        }
    }
    return calls;
}

/* Does an instruction write two rows at once? */
static bool writes_pairs(const struct emit *e)
{
    for (unsigned i = 0; i < e->t->n; i++)
        if (e->t->step[i].u->flags & UF_DST64)
            return true;
    return false;
}

/* The rows that a loop uses most keep their places in it. */
static void choose_residents(struct emit *e)
{
    unsigned uses[ROWS_MAX] = {0};
    unsigned places = e->x->evex ? CACHE_MAX - 1 : 0, rows = 0, accesses = 0;
    if (!e->t->loops || watch_calls(e) || count_uses(e, uses, &accesses))
        return;
    for (unsigned r = 0; r < WAVE_VGPRS && e->wave64; r++)
        uses[WAVE_VGPRS + r] = uses[r];
    if (accesses && places) /* whose addresses and data take up to six */
        places -= 5;
    else if (places && writes_pairs(e))
        places--;
    for (unsigned r = 0; r < ROWS_MAX; r++)
        rows += uses[r] != 0;
    if (rows <= e->rows.n && e->x->evex && !accesses)
        places = e->rows.n;
    unsigned least = rows <= places ? 1 : 2;
    for (unsigned c = 0; c < places; c++) {
        unsigned best = 0;
        for (unsigned r = 1; r < ROWS_MAX; r++)
            if (uses[r] > uses[best])
                best = r;
        if (uses[best] < least)
            break;
        uses[best] = 0;
        e->rows.resident[c] = true;
        e->rows.row[c] = (uint16_t)best;
    }
}

/* Rows that the trace writes, so that every way out writes them back. */
static void load_residents(struct emit *e)
{
    bool written[ROWS_MAX] = {false};
    for (unsigned i = 0; i < e->t->n; i++) {
        const struct uop *u = e->t->step[i].u;
        const struct sem_entry *s = e->emu->sem[u->isa_op];
        if (!s || s->kind != SEM_LANE) {
            bool stores = u->flags & UF_MEM && u->mem.dirs == MD_WRITE;
            bool loads = u->fn != x_smem && !stores && emit_known_memory(e, u);
            for (unsigned k = 0; k < 4 && loads; k++)
                written[(u->d + k) & 255u] = true;
            continue;
        }
        written[u->d & 255u] |= !(u->flags & UF_NO_VALUE);
        written[(u->d + 1u) & 255u] |= (u->flags & UF_DST64) != 0;
        if (u->flags & UF_PAIR)
            written[u[1].d & 255u] |= !(u[1].flags & UF_NO_VALUE);
    }
    for (unsigned r = 0; r < WAVE_VGPRS && e->wave64; r++)
        written[WAVE_VGPRS + r] = written[r];
    for (unsigned c = 0; c < e->rows.n; c++) {
        if (!e->rows.resident[c])
            continue;
        unsigned row = e->rows.row[c];
        (void)rows_load(e, row);
        e->rows.dirty[c] = written[row];
    }
    rows_unpin(e);
}

/* Bring registers into the state that the loop's head expects. */
static void restore_head(struct emit *e)
{
    struct row_cache *r = &e->rows;
    struct row_cache others = *r;
    for (unsigned c = 0; c < r->n; c++)
        others.dirty[c] &= !r->resident[c];
    rows_flush(e, &others);
    for (unsigned c = 0; c < r->n; c++)
        if (r->resident[c] && !r->used[c])
            (void)rows_load(e, r->row[c]);
    rows_unpin(e);
    e->rows = e->head;
}

/* Back to the head, unless the turn is over or lanes have gone off meanwhile. */
static void close_loop(struct emit *e)
{
    unsigned path = new_path(e);
    if (e->masked && !e->head_masked) {
        test_exec_full(e);
        struct far *f = emit_far(e, FAR_EXIT, e->t->head);
        if (f)
            f->masked = true;
        far_from(f, x86_jcc(e->x, CC_NE));
    }
    restore_head(e);
    account(e, e->n_insts, e->turn, path);
    if (path) /* else flags are those of the subtraction */
        x86_alu_imm(e->x, ALU_CMP, false, LEFT, 0);
    x86_jcc_to(e->x, CC_G, e->head_at);
    rows_flush(e, &e->rows);
    leave(e, e->t->head, TABLE_TURN);
}

/* A conditional branch out of the trace, or back to its head. */
static void emit_branch(struct emit *e, const struct trace_step *s)
{
    enum x86_cc taken;
    if (!emit_branch_test(e, s->u, &taken)) {
        e->failed = true;
        return;
    }
    if (s->target != e->t->head) {
        struct far *f = emit_far(e, FAR_EXIT, s->target);
        far_from(f, x86_jcc(e->x, taken));
        return;
    }
    struct row_cache here = e->rows;
    bool masked = e->masked;
    size_t on = x86_jcc(e->x, (enum x86_cc)(taken ^ 1u));
    close_loop(e);
    e->rows = here;
    e->masked = masked;
    x86_land(e->x, on);
}

static void emit_last(struct emit *e, const struct uop *u)
{
    rows_flush(e, &e->rows);
    account(e, e->n_insts, e->turn, new_path(e));
    bool barrier = u->isa_op == ISA_S_BARRIER && emit_usual(e, u);
    if (barrier && watch_function(e, u, e->n_insts) == (uintptr_t)u->fn) {
        x86_mov_imm(e->x, RAX, (uintptr_t)uop_next(u));
        x86_store(e->x, true, wave_mem(offsetof(struct wave, next)), RAX);
        jump_stub(e, TABLE_BARRIER);
        return;
    }
    call_handler(e, u, e->n_insts, 0);
    if (barrier) {
        x86_cmp8_imm(e->x, wave_mem(offsetof(struct wave, stop)), STOP_BARRIER);
        size_t other = x86_jcc(e->x, CC_NE);
        jump_stub(e, TABLE_BARRIER);
        x86_land(e->x, other);
    }
    jump_stub(e, TABLE_RETURN);
}

/* A block inside of the trace begins, if the wave's turn is not over. */
static void emit_leader(struct emit *e, const struct uop *u)
{
    if (e->n_insts) {
        x86_alu_imm(e->x, ALU_CMP, false, LEFT, (int32_t)e->turn);
        far_from(emit_far(e, FAR_TURN, u), x86_jcc(e->x, CC_LE));
    }
    e->turn += u->turn;
}

static void emit_steps(struct emit *e)
{
    const struct trace *t = e->t;
    bool open = true;
    for (unsigned i = 0; i < t->n && !e->failed; i++) {
        const struct trace_step *s = &t->step[i];
        e->at = i;
        if (s->leader)
            emit_leader(e, s->u);
        watch_run(e, i);
        unsigned run = e->x->evex ? 0 : emit_quarters(e, i);
        e->n_insts += run ? run : 1;
        for (unsigned k = i; k < e->n_insts; k++)
            known_step(e, t->step[k].u);
        if (run) {
            i += run - 1;
            continue;
        }
        switch (s->kind) {
        case TRACE_INST:
            emit_inst(e, s->u);
            break;
        case TRACE_BRANCH:
            emit_branch(e, s);
            break;
        case TRACE_LOOP:
            close_loop(e);
            open = false;
            break;
        case TRACE_LAST:
            emit_last(e, s->u);
            open = false;
            break;
        default:
            break;
        }
    }
    if (open && t->next) {
        rows_flush(e, &e->rows);
        account(e, e->n_insts, e->turn, new_path(e));
        go_on(e, t->next, !e->masked);
    }
}

/* A trace begins with a look at what is left of the wave's turn. */
static void emit_head(struct emit *e)
{
    x86_alu_imm(e->x, ALU_CMP, false, LEFT, 0);
    size_t go = x86_jcc(e->x, CC_G);
    jump_stub(e, TABLE_TURN);
    x86_land(e->x, go);
}

/* Behind a piece whoever ran it goes on. */
static void emit_return(struct emit *e)
{
    rows_flush(e, &e->rows);
    x86_mov_imm(e->x, RAX, (uintptr_t)uop_next(e->t->step[e->t->n - 1].u));
    jump_stub(e, TABLE_RETURN);
}

bool compile_trace(struct x86 *x, const struct compile_job *job)
{
    struct emit *e = &job->room->emit;
    *e = (struct emit){.x = x,
                       .t = job->t,
                       .p = job->p,
                       .emu = job->emu,
                       .recipe_of = job->recipe_of,
                       .mode = job->mode,
                       .masked = job->masked,
                       .wave64 = job->p->wave64,
                       .wave = job->wave,
                       .vgprs = job->wave->vgpr[0],
                       .head_masked = job->masked,
                       .paths = job->paths,
                       .watch = job->watch,
                       .places = job->places,
                       .room = job->room,
                       .parts = x->evex ? 2 : 4,
                       .part_bytes = x->evex ? 64 : 32};
    e->run.m_sgpr = NO_SGPR;
    rows_init(&e->rows, x->evex ? CACHE_MAX : 2);
    if (!job->piece)
        emit_head(e);
    watch_begin(e);
    choose_residents(e);
    load_residents(e);
    known_loop(e, loop_steps(e->t));
    emit_load_exec(e);
    e->head = e->rows;
    e->head_at = x86_here(x);
    emit_steps(e);
    if (job->piece)
        emit_return(e);
    write_far(e);
    return !e->failed && !x->full && job->t->n;
}

/* ---- stubs ----------------------------------------------------------------------- */

/* Slots of known.c, and calls find the stack aligned. */
#define FRAME_BYTES (8 * (KNOWN_MAX | 1))

static const uint8_t saved[] = {RBX, RBP, R12, R13, R14, R15};

/* Look through what the wave remembers of the allocation map (access.h); rax becomes
 * the host's address. */
static void write_check_stub(struct x86 *x, const struct emu *emu)
{
    x86_mov_imm(x, R8, (uintptr_t)&emu->regions->generation);
    x86_load(x, false, R8, mem_at(R8, 0));
    for (unsigned i = 0; i < MEM_WINDOWS; i++) {
        size_t at = offsetof(struct wave, window) + i * sizeof(struct mem_window),
               no[4];
        x86_load(x, true, R9, wave_mem(at + offsetof(struct mem_window, end)));
        x86_alu_load(x, ALU_CMP, true, RAX,
                     wave_mem(at + offsetof(struct mem_window, base)));
        no[0] = x86_jcc(x, CC_B);
        x86_alu(x, ALU_SUB, true, R9, RAX);
        no[1] = x86_jcc(x, CC_B);
        x86_alu(x, ALU_CMP, true, R9, RDX);
        no[2] = x86_jcc(x, CC_B);
        x86_alu_load(x, ALU_CMP, false, R8,
                     wave_mem(at + offsetof(struct mem_window, generation)));
        no[3] = x86_jcc(x, CC_NE);
        x86_alu_load(x, ALU_ADD, true, RAX,
                     wave_mem(at + offsetof(struct mem_window, delta)));
        x86_load(x, false, R9, wave_mem(at + offsetof(struct mem_window, perm)));
        x86_alu(x, ALU_AND, false, R9, RCX);
        x86_alu(x, ALU_CMP, false, R9, RCX); /* no more than it: carry if less */
        x86_ret(x);
        for (unsigned k = 0; k < 4; k++)
            x86_land(x, no[k]);
    }
    x86_mov_imm(x, R9, 1);
    x86_neg(x, false, R9); /* carry */
    x86_ret(x);
}

/* rax: a lane's address, rcx its offset, edx bytes of a lane, r10d EMU_MEM_*. To ecx
 * the least offset of a lane in the window where that is, to edx how much more it may
 * be; neither is beyond 32 bits, or 2^31 away from that lane. rax becomes the host's
 * address. Carry: there is no window, or it forbids it. Changes r8, r9 and r11. */
static void write_window(struct x86 *x, const struct emu *emu)
{
    x86_mov_imm(x, R8, (uintptr_t)&emu->regions->generation);
    x86_load(x, false, R8, mem_at(R8, 0));
    for (unsigned i = 0; i < MEM_WINDOWS; i++) {
        size_t at = offsetof(struct wave, window) + i * sizeof(struct mem_window),
               no[5];
        struct x86_mem base = wave_mem(at + offsetof(struct mem_window, base));
        x86_load(x, true, R9, wave_mem(at + offsetof(struct mem_window, end)));
        x86_alu_load(x, ALU_CMP, true, RAX, base);
        no[0] = x86_jcc(x, CC_B);
        x86_alu(x, ALU_SUB, true, R9, RAX);
        no[1] = x86_jcc(x, CC_B);
        x86_alu(x, ALU_SUB, true, R9, RDX);
        no[2] = x86_jcc(x, CC_B);
        x86_alu_load(x, ALU_CMP, false, R8,
                     wave_mem(at + offsetof(struct mem_window, generation)));
        no[3] = x86_jcc(x, CC_NE);
        x86_load(x, false, R11, wave_mem(at + offsetof(struct mem_window, perm)));
        x86_alu(x, ALU_AND, false, R11, R10);
        x86_alu(x, ALU_CMP, false, R11, R10);
        no[4] = x86_jcc(x, CC_B);
        x86_mov(x, true, R8, RAX); /* bytes below the lane, behind it */
        x86_alu_load(x, ALU_SUB, true, R8, base);
        x86_mov_imm(x, R11, INT32_MAX);
        x86_alu(x, ALU_CMP, true, R8, R11);
        x86_cmov(x, CC_A, true, R8, R11);
        x86_alu(x, ALU_CMP, true, R9, R11);
        x86_cmov(x, CC_A, true, R9, R11);
        x86_alu(x, ALU_CMP, true, R8, RCX);
        x86_cmov(x, CC_A, true, R8, RCX);
        x86_alu_load(x, ALU_ADD, true, RAX,
                     wave_mem(at + offsetof(struct mem_window, delta)));
        x86_mov(x, false, R11, RCX);
        x86_not(x, false, R11);
        x86_alu(x, ALU_CMP, true, R9, R11);
        x86_cmov(x, CC_A, true, R9, R11);
        x86_alu(x, ALU_SUB, false, RCX, R8);
        x86_mov(x, false, RDX, R8);
        x86_alu(x, ALU_ADD, false, RDX, R9); /* no carry */
        x86_ret(x);
        for (unsigned k = 0; k < 5; k++)
            x86_land(x, no[k]);
    }
    x86_mov_imm(x, R9, 1);
    x86_neg(x, false, R9); /* carry */
    x86_ret(x);
}

/* The micro-op at slot eax. */
static void load_uop(struct x86 *x)
{
    x86_shift_imm(x, SHIFT_SHL, true, RAX, 6);
    x86_alu_load(x, ALU_ADD, true, RAX, table_mem(-TABLE_UOPS));
}

void compile_stubs(struct x86 *x, const struct emu *emu, native_turn_fn *turn,
                   struct stub_offsets *at)
{
    at->enter = x86_here(x); /* rdi wave, rsi code, edx slot, rcx table */
    for (unsigned i = 0; i < 6; i++)
        x86_push(x, saved[i]);
    x86_alu_imm(x, ALU_SUB, true, RSP, FRAME_BYTES);
    x86_mov(x, true, W, RDI);
    x86_mov(x, true, TABLE, RCX);
    x86_mov(x, false, RAX, RDX);
    x86_load(x, false, LEFT, wave_mem(offsetof(struct wave, turn)));
    load_bases(x);
    x86_mov_imm(x, FIXED, (uintptr_t)recipe_consts);
    x86_jump_reg(x, RSI);

    at->leave = x86_here(x);
    load_uop(x);
    at->give_back = x86_here(x);
    x86_vzeroupper(x); /* the engine's code would wait for registers that have more */
    x86_store(x, false, wave_mem(offsetof(struct wave, turn)), LEFT);
    x86_alu_imm(x, ALU_ADD, true, RSP, FRAME_BYTES);
    for (unsigned i = 6; i-- > 0;)
        x86_pop(x, saved[i]);
    x86_ret(x);

    at->turn = x86_here(x);
    load_uop(x);
    x86_store(x, true, wave_mem(offsetof(struct wave, next)), RAX);
    write_switch(x, turn, at->give_back, false);
    at->barrier = x86_here(x);
    write_switch(x, turn, at->give_back, true);

    at->check = x86_here(x);
    write_check_stub(x, emu);
    at->window = x86_here(x);
    write_window(x, emu);
}
