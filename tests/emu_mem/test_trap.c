/* test_trap.c: trap handlers of our own: what they find, what they can do, and how
 * halts, exceptions and interrupts reach the host.
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"

#include "programs.inc"

static struct run r;

static struct {
    unsigned calls;
    uint32_t data;
    bool privileged;
    enum emu_fault_kind cause;
    unsigned trap_id;
} heard;

static void on_interrupt(void *ctx, const struct emu_interrupt *i)
{
    ck_assert_ptr_eq(ctx, &r);
    heard.calls++;
    heard.data = i->data;
    heard.privileged = i->privileged;
    heard.cause = i->cause ? i->cause->kind : EMU_FAULT_NONE;
    heard.trap_id = i->cause ? i->cause->trap_id : 0;
}

static void begin(const uint32_t *body, size_t bytes)
{
    memset(&r, 0, sizeof r);
    memset(&heard, 0, sizeof heard);
    r.body = body;
    r.body_bytes = bytes;
    r.float_mode = 0x3f0;
    r.queue.interrupt = on_interrupt;
    r.queue.ctx = &r;
}
#define BEGIN(name) begin(body_##name, sizeof body_##name)
#define HANDLER(name)                                                                  \
    (r.handler = handler_##name, r.handler_bytes = sizeof handler_##name)

#define STATUS_PRIV    (1u << 5)
#define STATUS_TRAP_EN (1u << 6)

/* Saved PC and trap id, STATUS inside, the registers that hardware fills at launch; SCC
 * survives because the handler puts it back. */
START_TEST(registers)
{
    BEGIN(trap_show);
    HANDLER(show);
    r.queue.packet = 0x7654321;
    FOR_EACH_RUN(&r)
    {
        uint64_t pc = r.body_pc + 8;
        ck_no_fault(&r);
        ck_row_eq(&r, 0, 0, (uint32_t)pc);
        ck_row_eq(&r, 1, 0, (uint32_t)(pc >> 32) | 5u << 16);
        ck_assert_uint_eq(r.out[2][0] & (STATUS_PRIV | STATUS_TRAP_EN | 1u),
                          STATUS_PRIV | STATUS_TRAP_EN | 1u);
        ck_row_eq(&r, 3, 0, 0x1654321);
        ck_row_eq(&r, 4, 0, 0);
        ck_row_eq(&r, 5, 0, 1u << 6); /* no scratch; wave 0 */
        ck_row_eq(&r, 6, 0, 1);       /* SCC */
        ck_row_eq(&r, 7, 0, 2);       /* TRAP_EN, not PRIV */
    }
}
END_TEST

START_TEST(second_level)
{
    BEGIN(trap_second_level);
    HANDLER(show);
    r.queue.second_level = true;
    r.queue.tma = 0x123456789a00;
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_row_eq(&r, 1, 0, r.out[0][0]); /* ttmp12 is STATUS */
        ck_row_eq(&r, 2, 0, 0x56789a00);
        ck_row_eq(&r, 3, 0, 0x1234);
        ck_row_eq(&r, 4, 0, 0x3456789a); /* the register has bits 47:8 */
        ck_row_eq(&r, 5, 0, 0x12);
        ck_row_eq(&r, 6, 0, (uint32_t)(r.queue.tba >> 8));
        ck_row_eq(&r, 7, 0, (uint32_t)(r.queue.tba >> 40) | 1u << 31);
    }
}
END_TEST

/* Exceptions come with trap id 0 and the PC of the instruction. */
START_TEST(exceptions)
{
    BEGIN(trap_illegal);
    HANDLER(show);
    FOR_EACH_RUN(&r)
    {
        uint64_t pc = r.body_pc + 4;
        ck_no_fault(&r);
        ck_row_eq(&r, 0, 0, (uint32_t)pc);
        ck_row_eq(&r, 1, 0, (uint32_t)(pc >> 32));
        ck_row_eq(&r, 2, 0, 1u << 11);
    }
    BEGIN(trap_lds);
    HANDLER(show);
    r.lds_bytes = 64;
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_row_eq(&r, 0, 0, (uint32_t)(r.body_pc >> 32));
        ck_row_eq(&r, 1, 0, 1u << 8);
    }
}
END_TEST

START_TEST(report_and_halt)
{
    BEGIN(trap_halt);
    HANDLER(halt);
    r.queue.second_level = true;
    r.queue.knows_doorbell = true;
    r.queue.doorbell = 0x2a5;
    FOR_EACH_RUN(&r)
    {
        ck_assert_int_eq(r.fault.kind, EMU_FAULT_HALTED);
        ck_assert_int_eq(r.fault.cause, EMU_FAULT_TRAP);
        ck_assert_uint_eq(r.fault.trap_id, 2);
        ck_assert_uint_eq(r.fault.pc, r.body_pc + 8);
        ck_assert_str_eq(r.fault.inst, "s_trap 2");
        ck_assert_str_eq(r.fault.detail, "after trap 2");
        ck_assert_uint_eq(heard.calls, 1);
        ck_assert_uint_eq(heard.data, 0x2a5 | 1u << 10);
        ck_assert(heard.privileged);
        ck_assert_int_eq(heard.cause, EMU_FAULT_TRAP);
        ck_assert_uint_eq(heard.trap_id, 2);
        heard.calls = 0;
    }
    BEGIN(trap_illegal);
    HANDLER(halt);
    r.queue.second_level = true;
    FOR_EACH_RUN(&r)
    {
        ck_assert_int_eq(r.fault.kind, EMU_FAULT_HALTED);
        ck_assert_int_eq(r.fault.cause, EMU_FAULT_ILLEGAL);
        ck_assert_uint_eq(heard.data, (0xbad & 0x3ff) | 1u << 13);
        ck_assert_int_eq(heard.cause, EMU_FAULT_ILLEGAL);
    }
}
END_TEST

/* The other waves of the workgroup wait at a barrier for the halted one. */
START_TEST(halt_behind_barrier)
{
    BEGIN(trap_barrier);
    HANDLER(halt);
    r.queue.second_level = true;
    r.waves = 3;
    FOR_EACH_RUN(&r)
    {
        ck_assert_int_eq(r.fault.kind, EMU_FAULT_HALTED);
        ck_assert_uint_eq(r.fault.wave, 0);
        ck_assert_uint_eq(r.fault.pc, r.body_pc + 12);
    }
}
END_TEST

/* HALT is ignored inside; FATAL_HALT is not. What breaks inside is final. */
START_TEST(inside)
{
    BEGIN(trap_halt);
    HANDLER(resume);
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_row_eq(&r, 0, 0, 1);
    }
    HANDLER(fatal);
    FOR_EACH_RUN(&r)
    ck_assert_int_eq(r.fault.kind, EMU_FAULT_HALTED);
    BEGIN(trap_halt);
    r.handler = handler_broken + 1;
    r.handler_bytes = 4;
    FOR_EACH_RUN(&r)
    {
        ck_assert_int_eq(r.fault.kind, EMU_FAULT_ILLEGAL);
        ck_assert_uint_eq(r.fault.pc, r.queue.tba);
    }
}
END_TEST

/* Outside: read as zero, written to nowhere, and SCC stays. */
START_TEST(temporaries)
{
    BEGIN(trap_temporaries);
    random_rows(&r);
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_row_eq(&r, 0, 0, 1);
        ck_row_eq(&r, 1, 0, 7);
        ck_row_eq(&r, 2, 0, 0);
        ck_row_eq(&r, 3, 0, 0); /* M0 behind a load to null */
        ck_row_eq(&r, 4, 0, 0xffffffff);
    }
}
END_TEST

START_TEST(user_interrupt)
{
    BEGIN(interrupt);
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_assert_uint_eq(heard.calls, 1);
        ck_assert_uint_eq(heard.data, 0x123);
        ck_assert(!heard.privileged);
        heard.calls = 0;
    }
}
END_TEST

/* One cycle an instruction, however the loop over instructions is cut. */
START_TEST(clocks)
{
    BEGIN(clocks);
    r.queue.realtime = 0x1fffffff0;
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_row_eq(&r, 0, 0, 3);
        uint64_t t0 = r.out[1][0] | (uint64_t)r.out[2][0] << 32;
        uint64_t t1 = r.out[3][0] | (uint64_t)r.out[4][0] << 32;
        ck_assert_uint_ge(t0, r.queue.realtime);
        ck_assert_uint_ge(t1 - t0, 2002 / 25);
        ck_assert_uint_le(t1 - t0, 2002 / 25 + 1);
    }
}
END_TEST

/* STATUS cannot be written outside of the handler, of TRAPSTS only the flags. */
START_TEST(hardware_registers)
{
    BEGIN(setprio);
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        ck_row_eq(&r, 0, 0, 2);
        ck_row_eq(&r, 1, 0, 0);
        ck_row_eq(&r, 2, 0, 0x1ff);
    }
}
END_TEST

/* ---- as observers see it ------------------------------------------------------------
 */

static struct {
    uint64_t last_pc; /* where the last event said that the wave goes on */
    unsigned inside, entries, returns, steps;
} watched;

static void on_step(void *ctx, const struct emu_event *e)
{
    (void)ctx;
    bool within = e->inst->pc - r.queue.tba < r.handler_bytes;
    bool goes_in = e->next_pc == r.queue.tba;
    if (watched.steps++)
        ck_assert_uint_eq(e->inst->pc, watched.last_pc);
    watched.last_pc = e->next_pc;
    watched.inside += within;
    if (!within && goes_in) {
        watched.entries++;
        ck_assert_uint_eq(e->flags, EMU_EV_TAKEN);
    }
    if (within && e->next_pc - r.queue.tba >= r.handler_bytes)
        watched.returns++;
}

/* Events lead into the handler and back, by s_trap and by an exception. */
START_TEST(events)
{
    static const struct emu_observer observer = {
        .step = on_step, .want = EMU_WANT_ACCESS | EMU_WANT_VALUES};
    for (unsigned i = 0; i < 2; i++) {
        if (i == 0)
            BEGIN(trap_show);
        else
            BEGIN(trap_illegal);
        HANDLER(show);
        r.observer = &observer;
        FOR_EACH_RUN(&r)
        {
            ck_no_fault(&r);
            ck_assert_uint_eq(watched.entries, 1);
            ck_assert_uint_eq(watched.returns, 1);
            ck_assert_uint_eq(watched.inside, 18);
            memset(&watched, 0, sizeof watched);
        }
    }
    BEGIN(trap_halt);
    HANDLER(halt);
    r.queue.second_level = true;
    r.observer = &observer;
    FOR_EACH_RUN(&r)
    {
        ck_assert_int_eq(r.fault.kind, EMU_FAULT_HALTED);
        ck_assert_uint_eq(watched.entries, 1);
        memset(&watched, 0, sizeof watched);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("emu_trap");
    TCase *t = tcase_create("trap");
    tcase_add_test(t, registers);
    tcase_add_test(t, second_level);
    tcase_add_test(t, exceptions);
    tcase_add_test(t, report_and_halt);
    tcase_add_test(t, halt_behind_barrier);
    tcase_add_test(t, inside);
    tcase_add_test(t, temporaries);
    tcase_add_test(t, user_interrupt);
    tcase_add_test(t, clocks);
    tcase_add_test(t, hardware_registers);
    tcase_add_test(t, events);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
