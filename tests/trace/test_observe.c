/* test_observe.c: what observers are told, and that telling changes nothing.
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>

#include "fidelity.h"
#include "machine.h"

static uint32_t expected[ITEMS];

static uint64_t run(struct machine *m)
{
    struct emu_stats stats = {0};
    machine_reset(m);
    ck_assert_int_eq(emu_run(m->emu, &m->dispatch, NULL, &stats), RD_OK);
    return stats.instructions;
}

/* ---- order, identity, program counter ----------------------------------------------
 */

struct chain {
    unsigned dispatches, ended_dispatches, waves, ended, barriers;
    uint64_t events;
    uint32_t lanes;
    struct {
        uint64_t next_index, next_pc;
        bool live;
    } slot[64];
};

static void chain_begin(void *ctx, const struct emu_launch *l)
{
    struct chain *c = ctx;
    ck_assert_uint_eq(l->number, c->dispatches++);
    ck_assert_uint_eq(l->n_groups, GROUPS);
    ck_assert_uint_eq(l->waves_per_group, BLOCK / l->lanes);
    ck_assert_uint_eq(l->code_base, l->dispatch->entry);
    c->lanes = l->lanes;
}

static void chain_end(void *ctx, const struct emu_launch *l, rd_status status)
{
    struct chain *c = ctx;
    ck_assert_uint_eq(l->number, c->ended_dispatches++);
    ck_assert_int_eq(status, RD_OK);
}

static void chain_wave(void *ctx, const struct emu_wave_info *w)
{
    struct chain *c = ctx;
    ck_assert_uint_lt(w->slot, 64);
    ck_assert(!c->slot[w->slot].live);
    ck_assert_uint_eq(w->group, w->workgroup[0]);
    ck_assert_uint_eq(w->lanes, c->lanes);
    c->slot[w->slot].live = true;
    c->slot[w->slot].next_index = 0;
    c->slot[w->slot].next_pc = 0;
    c->waves++;
}

static void chain_step(void *ctx, const struct emu_event *e)
{
    struct chain *c = ctx;
    unsigned s = e->wave->slot;
    ck_assert(c->slot[s].live);
    ck_assert_uint_eq(e->index, c->slot[s].next_index++);
    if (c->slot[s].next_pc)
        ck_assert_uint_eq(e->inst->pc, c->slot[s].next_pc);
    c->slot[s].next_pc = e->next_pc;
    bool falls_through = e->next_pc == e->inst->pc + e->inst->bytes;
    if (e->flags & EMU_EV_ENDED) {
        ck_assert_int_eq(e->inst->kind, EMU_KIND_END);
        c->slot[s].live = false;
        c->ended++;
    } else {
        ck_assert_int_eq(!falls_through, !!(e->flags & EMU_EV_TAKEN));
    }
    c->barriers += !!(e->flags & EMU_EV_BARRIER_DONE);
    c->events++;
}

START_TEST(events_follow_the_run)
{
    for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
        struct machine m;
        struct chain c = {0};
        machine_create(&m, PROGRAM_MIX, lanes);
        struct emu_observer o = {.ctx = &c,
                                 .dispatch_begin = chain_begin,
                                 .dispatch_end = chain_end,
                                 .wave_begin = chain_wave,
                                 .step = chain_step};
        ck_assert_int_eq(emu_add_observer(m.emu, &o), RD_OK);
        uint64_t n = run(&m) + run(&m);
        ck_assert_uint_eq(c.events, n);
        ck_assert_uint_eq(c.dispatches, 2);
        ck_assert_uint_eq(c.ended_dispatches, 2);
        ck_assert_uint_eq(c.waves, 2 * ITEMS / lanes);
        ck_assert_uint_eq(c.ended, c.waves);
        ck_assert_uint_eq(c.barriers, 2 * GROUPS);
        emu_remove_observer(m.emu, &c);
        run(&m);
        ck_assert_uint_eq(c.events, n);
        machine_destroy(&m);
    }
}
END_TEST

struct worker {
    struct emu *emu;
    struct emu_dispatch dispatch;
    rd_status status;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    for (unsigned i = 0; i < 20 && w->status == RD_OK; i++)
        w->status = emu_run(w->emu, &w->dispatch, NULL, NULL);
    return NULL;
}

static void slots_begin(void *ctx, const struct emu_wave_info *w)
{
    struct chain *c = ctx;
    ck_assert_uint_lt(w->slot, 64);
    ck_assert(!c->slot[w->slot].live);
    c->slot[w->slot].live = true;
    c->waves++;
}

static void slots_step(void *ctx, const struct emu_event *e)
{
    struct chain *c = ctx;
    ck_assert(c->slot[e->wave->slot].live);
    if (e->flags & EMU_EV_ENDED)
        c->slot[e->wave->slot].live = false;
}

/* Dispatches from several threads: calls do not overlap, slots are shared out. */
START_TEST(dispatches_run_side_by_side)
{
    struct machine m, other;
    struct chain c = {0};
    struct worker worker[2];
    pthread_t thread[2];
    machine_create(&m, PROGRAM_MIX, 32);
    machine_create(&other, PROGRAM_MIX, 32);
    unsigned rw = EMU_MEM_READ | EMU_MEM_WRITE;
    ck_assert_int_eq(emu_mem_add(m.emu, (uint64_t)(uintptr_t)other.in, 4096, rw, "in"),
                     RD_OK);
    ck_assert_int_eq(
        emu_mem_add(m.emu, (uint64_t)(uintptr_t)other.out, 4096, rw, "out"), RD_OK);
    struct emu_observer o = {.ctx = &c, .wave_begin = slots_begin, .step = slots_step};
    ck_assert_int_eq(emu_add_observer(m.emu, &o), RD_OK);
    worker[0] = (struct worker){m.emu, m.dispatch, RD_OK};
    worker[1] = (struct worker){m.emu, other.dispatch, RD_OK};
    worker[1].dispatch.entry = m.dispatch.entry;
    for (unsigned i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, work, &worker[i]), 0);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(worker[0].status, RD_OK);
    ck_assert_int_eq(worker[1].status, RD_OK);
    ck_assert_uint_eq(c.waves, 40 * ITEMS / 32);
    machine_destroy(&m);
    machine_destroy(&other);
}
END_TEST

START_TEST(watching_changes_nothing)
{
    for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
        struct machine m;
        struct event_log log = {0}, again = {0};
        machine_create(&m, PROGRAM_MIX, lanes);
        uint64_t n = run(&m);
        memcpy(expected, m.out, sizeof expected);
        struct emu_observer o = log_observer(&log, EMU_WANT_VALUES | EMU_WANT_ACCESS);
        struct emu_observer o2 =
            log_observer(&again, EMU_WANT_VALUES | EMU_WANT_ACCESS);
        ck_assert_int_eq(emu_add_observer(m.emu, &o), RD_OK);
        ck_assert_int_eq(emu_add_observer(m.emu, &o2), RD_OK);
        ck_assert_uint_eq(run(&m), n);
        ck_assert_mem_eq(m.out, expected, sizeof expected);
        ck_assert_uint_eq(log.n, n);
        ck_assert_uint_eq(again.n, n);
        ck_assert_mem_eq(log.hash, again.hash, n * sizeof *log.hash);
        log_free(&log);
        log_free(&again);
        machine_destroy(&m);
    }
}
END_TEST

START_TEST(observers_have_a_limit)
{
    struct machine m;
    struct emu_observer o = {0};
    machine_create(&m, PROGRAM_MIX, 32);
    for (unsigned i = 0; i < EMU_MAX_OBSERVERS; i++)
        ck_assert_int_eq(emu_add_observer(m.emu, &o), RD_OK);
    ck_assert_int_eq(emu_add_observer(m.emu, &o), RD_E_RANGE);
    emu_remove_observer(m.emu, NULL);
    ck_assert_int_eq(emu_add_observer(m.emu, &o), RD_OK);
    machine_destroy(&m);
}
END_TEST

/* ---- addresses and values
 * ------------------------------------------------------------ */

/* What the instructions of mix.s must touch. */
struct expect {
    const struct machine *m;
    unsigned seen[ISA_OP_COUNT];
};

static void check_access(const struct emu_access *a, enum emu_space space, bool read,
                         bool write, unsigned bytes, uint64_t base, uint32_t wave_base,
                         uint32_t flip)
{
    ck_assert_int_eq(a->space, space);
    ck_assert_int_eq(a->read, read);
    ck_assert_int_eq(a->write, write);
    ck_assert_uint_eq(a->bytes, bytes);
    for (uint64_t l = a->lanes; l; l &= l - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(l);
        ck_assert_uint_eq(a->address[lane], base + ((4 * (wave_base + lane)) ^ flip));
    }
}

static void expect_step(void *ctx, const struct emu_event *e)
{
    struct expect *x = ctx;
    uint32_t lanes = e->wave->lanes, base = e->wave->wave * lanes;
    uint64_t in = (uint64_t)(uintptr_t)x->m->in + 512 * e->wave->group;
    uint64_t out = (uint64_t)(uintptr_t)x->m->out + 512 * e->wave->group;
    uint64_t all = lanes == 64 ? ~UINT64_C(0) : UINT32_MAX;
    const struct emu_access *a = e->access;
    x->seen[e->inst->isa.op]++;
    switch (e->inst->isa.op) {
    case ISA_GLOBAL_LOAD_B32:
        ck_assert_uint_eq(e->n_accesses, 1);
        ck_assert_uint_eq(a->lanes, all);
        check_access(a, EMU_SPACE_GLOBAL, true, false, 4, in, base, 0);
        break;
    case ISA_GLOBAL_STORE_B32:
        check_access(a, EMU_SPACE_GLOBAL, false, true, 4, out, base, 0);
        break;
    case ISA_S_LOAD_B64:
        ck_assert_uint_eq(e->n_accesses, 1);
        ck_assert(a->scalar && a->read && !a->write);
        ck_assert_uint_eq(a->lanes, 1);
        ck_assert_uint_eq(a->bytes, 8);
        ck_assert_uint_eq(a->address[0], in + 8);
        break;
    case ISA_DS_STORE_B32:
        check_access(a, EMU_SPACE_LDS, false, true, 4, 0, base, 0);
        break;
    case ISA_DS_LOAD_B32:
        check_access(a, EMU_SPACE_LDS, true, false, 4, 0, base, 0x1fc);
        break;
    case ISA_DS_STORE_2ADDR_B32:
        ck_assert_uint_eq(e->n_accesses, 2);
        check_access(&a[0], EMU_SPACE_LDS, false, true, 4, 512, base, 0);
        check_access(&a[1], EMU_SPACE_LDS, false, true, 4, 1020, base, 0);
        break;
    case ISA_FLAT_LOAD_B32:
        ck_assert_uint_eq(e->n_accesses, 1);
        check_access(a, EMU_SPACE_LDS, true, false, 4, 0, base, 0);
        break;
    case ISA_SCRATCH_STORE_B32:
    case ISA_SCRATCH_LOAD_B32:
        ck_assert_uint_eq(e->n_accesses, 1);
        ck_assert_int_eq(a->space, EMU_SPACE_SCRATCH);
        ck_assert_int_eq(a->write, e->inst->isa.op == ISA_SCRATCH_STORE_B32);
        ck_assert_uint_eq(a->address[0], 8);
        ck_assert_uint_eq(a->address[lanes - 1], 8);
        break;
    case ISA_GLOBAL_ATOMIC_ADD_U32:
        ck_assert_uint_eq(e->exec, lanes == 64 ? 0xff00000f0fu : 0xf0fu);
        ck_assert_uint_eq(a->lanes, e->exec);
        check_access(a, EMU_SPACE_GLOBAL, true, true, 4, in + 4, base, 0);
        break;
    default:
        ck_assert_uint_eq(e->n_accesses, 0);
        break;
    }
}

START_TEST(addresses_are_right)
{
    static const unsigned memory[] = {
        ISA_GLOBAL_LOAD_B32,       ISA_GLOBAL_STORE_B32, ISA_S_LOAD_B64,
        ISA_DS_STORE_B32,          ISA_DS_LOAD_B32,      ISA_DS_STORE_2ADDR_B32,
        ISA_FLAT_LOAD_B32,         ISA_SCRATCH_LOAD_B32, ISA_SCRATCH_STORE_B32,
        ISA_GLOBAL_ATOMIC_ADD_U32,
    };
    for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
        struct machine m;
        struct expect x = {.m = &m};
        machine_create(&m, PROGRAM_MIX, lanes);
        struct emu_observer o = {
            .ctx = &x, .want = EMU_WANT_ACCESS, .step = expect_step};
        ck_assert_int_eq(emu_add_observer(m.emu, &o), RD_OK);
        run(&m);
        for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
            ck_assert_uint_eq(x.seen[memory[i]], ITEMS / lanes);
        machine_destroy(&m);
    }
}
END_TEST

static void values_step(void *ctx, const struct emu_event *e)
{
    unsigned *checked = ctx;
    uint32_t lanes = e->wave->lanes;
    if (e->inst->isa.op == ISA_V_ADD_NC_U32) {
        ck_assert_uint_eq(e->inst->n_regs, 3);
        for (uint32_t l = 0; l < lanes; l++)
            ck_assert_uint_eq(e->out[l], e->in[l] + e->in[lanes + l]);
        ++*checked;
    } else if (e->inst->isa.op == ISA_S_CMP_LT_U32) {
        ck_assert_uint_eq(e->out[0], e->in[0] < 5);
        ++*checked;
    } else if (e->inst->isa.op == ISA_GLOBAL_LOAD_B32) {
        for (uint32_t l = 0; l < lanes; l++) {
            uint32_t v;
            memcpy(&v, (const void *)(uintptr_t)e->access->address[l], 4); // NOLINT
            ck_assert_uint_eq(e->out[l], v);
        }
        ++*checked;
    }
}

START_TEST(values_are_right)
{
    for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
        struct machine m;
        unsigned checked = 0;
        machine_create(&m, PROGRAM_MIX, lanes);
        struct emu_observer o = {.ctx = &checked,
                                 .want = EMU_WANT_VALUES | EMU_WANT_ACCESS,
                                 .step = values_step};
        ck_assert_int_eq(emu_add_observer(m.emu, &o), RD_OK);
        run(&m);
        ck_assert_uint_eq(checked, ITEMS / lanes * 12);
        machine_destroy(&m);
    }
}
END_TEST

static void last_event(void *ctx, const struct emu_event *e)
{
    *(uint32_t *)ctx = e->flags;
}

START_TEST(faults_are_told)
{
    struct machine m;
    struct emu_fault fault;
    uint32_t flags = 0;
    machine_create(&m, PROGRAM_BAD, 32);
    m.dispatch.groups[0] = 1;
    struct emu_observer o = {.ctx = &flags, .step = last_event};
    ck_assert_int_eq(emu_add_observer(m.emu, &o), RD_OK);
    ck_assert_int_eq(emu_run(m.emu, &m.dispatch, &fault, NULL), RD_E_FAULT);
    ck_assert_uint_eq(flags, EMU_EV_FAULT);
    machine_destroy(&m);
}
END_TEST

/* ---- fidelity
 * ------------------------------------------------------------------------ */

START_TEST(every_opcode_has_a_fidelity)
{
    struct emu *emu;
    unsigned count[EMU_FIDELITY_KINDS] = {0};
    bool seen[ISA_OP_COUNT] = {false};
    ck_assert_int_eq(emu_create(NULL, &emu), RD_OK);
    for (unsigned r = 0; r < isa_row_count(); r++) {
        unsigned op = isa_row(r)->op, line;
        const char *file;
        if (seen[op])
            continue;
        seen[op] = true;
        struct emu_fidelity f = emu_fidelity(emu, op);
        ck_assert_int_lt(f.kind, EMU_FIDELITY_KINDS);
        bool none = emu_semantics(emu, op, &file, &line) != RD_OK;
        ck_assert_msg(none == (f.kind == EMU_FIDELITY_UNSUPPORTED),
                      "%s: %s, but it has %s semantics", isa_op_name(op),
                      emu_fidelity_name(f.kind), none ? "no" : "");
        ck_assert_ptr_nonnull(f.note);
        ck_assert(f.kind == EMU_FIDELITY_SPEC || *f.note);
        ck_assert_int_eq(f.kind == EMU_FIDELITY_ULP, f.ulp != 0);
        count[f.kind]++;
    }
    for (unsigned k = 0; k < EMU_FIDELITY_KINDS; k++)
        printf("%-24s %5u opcodes\n", emu_fidelity_name((enum emu_fidelity_kind)k),
               count[k]);
    emu_destroy(emu);
}
END_TEST

START_TEST(dots_follow_the_configuration)
{
    struct emu *emu;
    ck_assert_int_eq(emu_create(&(struct emu_config){.exact_dots = true}, &emu), RD_OK);
    ck_assert_int_eq(emu_fidelity(emu, ISA_V_DOT2_F32_F16).kind,
                     EMU_FIDELITY_APPROXIMATE);
    emu_destroy(emu);
    ck_assert_int_eq(emu_create(NULL, &emu), RD_OK);
    ck_assert_int_eq(emu_fidelity(emu, ISA_V_DOT2_F32_F16).kind, EMU_FIDELITY_HARDWARE);
    ck_assert_int_eq(emu_fidelity(emu, ISA_V_ADD_F32).kind, EMU_FIDELITY_SPEC);
    emu_destroy(emu);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("observe");
    TCase *t = tcase_create("observe");
    tcase_add_test(t, events_follow_the_run);
    tcase_add_test(t, dispatches_run_side_by_side);
    tcase_add_test(t, watching_changes_nothing);
    tcase_add_test(t, observers_have_a_limit);
    tcase_add_test(t, addresses_are_right);
    tcase_add_test(t, values_are_right);
    tcase_add_test(t, faults_are_told);
    tcase_add_test(t, every_opcode_has_a_fidelity);
    tcase_add_test(t, dots_follow_the_configuration);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
