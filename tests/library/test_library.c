/* test_library.c: librdna3 as a program uses it, and nothing else of this project.
 * SPDX-License-Identifier: MIT
 */
#include "../suite.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <rdna3.h>

/* out[i] = in[i] + 1: the pointers in s[4:7]. */
static const char add_one[] = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx1100\"\n"
                              ".text\n.globl add_one\n.p2align 8\n"
                              ".type add_one,@function\nadd_one:\n"
                              "  s_load_b128 s[4:7], s[0:1], 0x0\n"
                              "  v_lshlrev_b32 v1, 2, v0\n"
                              "  s_waitcnt lgkmcnt(0)\n"
                              "  global_load_b32 v2, v1, s[4:5]\n"
                              "  s_waitcnt vmcnt(0)\n"
                              "  v_add_nc_u32 v2, 1, v2\n"
                              "  global_store_b32 v1, v2, s[6:7]\n"
                              "  s_endpgm\n"
                              ".rodata\n.p2align 6\n"
                              ".amdhsa_kernel add_one\n"
                              "  .amdhsa_kernarg_size 16\n"
                              "  .amdhsa_user_sgpr_count 2\n"
                              "  .amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
                              "  .amdhsa_next_free_vgpr 4\n"
                              "  .amdhsa_next_free_sgpr 8\n"
                              "  .amdhsa_wavefront_size32 1\n"
                              ".end_amdhsa_kernel\n";

#define N 64

struct counts {
    int taken, released, logged;
    char last[1300];
};

static void *take(void *ctx, size_t bytes)
{
    ((struct counts *)ctx)->taken++;
    return malloc(bytes);
}

static void give(void *ctx, void *memory)
{
    ((struct counts *)ctx)->released++;
    free(memory);
}

static void note(void *ctx, enum rdna3_level level, const char *text)
{
    struct counts *c = ctx;
    (void)level;
    c->logged++;
    (void)strncpy(c->last, text, sizeof c->last - 1);
}

/* A device with the kernel. */
struct machine {
    struct counts counts;
    struct rdna3 *rdna3;
    struct rdna3_device *gpu;
    struct rdna3_kernel *kernel;
    struct rdna3_error err;
    void *object;
    size_t bytes;
    uint32_t *buffer[2];
    struct rdna3_arg args[2];
    struct rdna3_launch launch;
};

static void begin(struct machine *m)
{
    struct rdna3_device_config config = {
        .struct_bytes = sizeof config, .threads = 1, .count = true};
    memset(m, 0, sizeof *m);
    struct rdna3_hooks hooks = {.struct_bytes = sizeof hooks,
                                .ctx = &m->counts,
                                .alloc = take,
                                .release = give,
                                .log = note};
    ck_assert_int_eq(rdna3_open(&hooks, &m->rdna3), RDNA3_OK);
    ck_assert_int_eq(rdna3_assemble(m->rdna3, add_one, sizeof add_one - 1, NULL,
                                    &m->object, &m->bytes, &m->err),
                     RDNA3_OK);
    ck_assert_int_eq(rdna3_device_create(m->rdna3, &config, &m->gpu, &m->err),
                     RDNA3_OK);
    ck_assert_int_eq(
        rdna3_kernel_load(m->gpu, m->object, m->bytes, NULL, &m->kernel, &m->err),
        RDNA3_OK);
    for (int i = 0; i < 2; i++) {
        void *memory;
        ck_assert_int_eq(rdna3_device_alloc(m->gpu, sizeof(uint32_t) * N,
                                            i ? "to" : "from", &memory, &m->err),
                         RDNA3_OK);
        m->buffer[i] = memory;
        m->args[i] = (struct rdna3_arg){RDNA3_ARG_POINTER, 8, &m->buffer[i], NULL};
    }
    m->launch = (struct rdna3_launch){
        .struct_bytes = sizeof m->launch, .block = {N}, .n_args = 2, .args = m->args};
}

static void end(struct machine *m)
{
    rdna3_release(m->rdna3, m->object);
    rdna3_device_destroy(m->gpu);
    rdna3_close(m->rdna3);
    ck_assert_int_eq(m->counts.taken, m->counts.released);
    ck_assert_int_gt(m->counts.taken, 0);
}

START_TEST(instructions)
{
    uint8_t code[RDNA3_MAX_BYTES];
    unsigned bytes = 0, column = 0;
    struct rdna3_inst inst;
    struct rdna3_error err;
    ck_assert_int_eq(rdna3_encode("v_add_f32 v1, v2, s3", 32, code, &bytes, NULL, &err),
                     RDNA3_OK);
    ck_assert_int_eq(rdna3_decode(code, bytes, 32, &inst), RDNA3_OK);
    ck_assert_uint_eq(inst.bytes, bytes);
    ck_assert_str_eq(inst.mnemonic, "v_add_f32");
    ck_assert_str_eq(inst.encoding, "VOP3");
    ck_assert_str_eq(inst.text, "v_add_f32_e64 v1, v2, s3");
    ck_assert_str_eq(inst.operand[0].name, "v1");
    ck_assert_uint_eq(inst.operand[0].number, 257);
    ck_assert_uint_eq(inst.operand[0].flags, RDNA3_OPERAND_OUT);
    ck_assert_str_eq(inst.operand[2].name, "s3");
    ck_assert_int_eq(rdna3_decode(code, 2, 32, &inst), RDNA3_E_TRUNCATED);
    ck_assert_int_eq(
        rdna3_encode("v_add_f32 v1, v2, x3", 32, code, &bytes, &column, &err),
        RDNA3_E_ENCODING);
    ck_assert_uint_eq(column, 19);
    ck_assert_int_ne(err.text[0], 0);
    ck_assert_int_eq(rdna3_encode("s_nop 0", 33, code, &bytes, NULL, &err),
                     RDNA3_E_INVALID);
    ck_assert_uint_gt(rdna3_mnemonic_count(), 1000);
    ck_assert_ptr_null(rdna3_mnemonic(rdna3_mnemonic_count()));
    for (unsigned i = 0; i < rdna3_mnemonic_count(); i++)
        ck_assert_int_ne(rdna3_mnemonic(i)[0], 0);
}
END_TEST

static void count_message(void *ctx, const struct rdna3_message *message)
{
    ck_assert_str_eq(message->file, "a.s");
    *(unsigned *)ctx = message->line;
}

START_TEST(objects)
{
    struct machine m;
    begin(&m);
    struct rdna3_object *object;
    struct rdna3_kernel_info info;
    ck_assert_int_eq(rdna3_object_open(m.rdna3, m.object, m.bytes, &object, &m.err),
                     RDNA3_OK);
    ck_assert_uint_eq(rdna3_object_kernels(object), 1);
    ck_assert_int_eq(rdna3_object_kernel(object, 0, &info), RDNA3_OK);
    ck_assert_int_eq(rdna3_object_kernel(object, 1, &info), RDNA3_E_NOT_FOUND);
    ck_assert_str_eq(info.name, "add_one");
    ck_assert_uint_eq(info.wave, 32);
    ck_assert_uint_eq(info.kernarg_bytes, 16);
    struct rdna3_inst inst;
    ck_assert_int_eq(rdna3_decode(info.code, info.code_bytes, 32, &inst), RDNA3_OK);
    ck_assert_str_eq(inst.mnemonic, "s_load_b128");
    rdna3_object_close(object);

    unsigned line = 0;
    struct rdna3_assemble_options options = {.struct_bytes = sizeof options,
                                             .name = "a.s",
                                             .ctx = &line,
                                             .message = count_message};
    void *none = NULL;
    ck_assert_int_eq(rdna3_assemble(m.rdna3, "s_nop 0\nwrong v1\n", 17, &options, &none,
                                    &m.bytes, &m.err),
                     RDNA3_E_FORMAT);
    ck_assert_uint_eq(line, 2);
    ck_assert_ptr_null(none);
    ck_assert_int_eq(strncmp(m.err.text, "a.s:2:1:", 8), 0);
    ck_assert_int_eq(rdna3_object_open(m.rdna3, "no ELF", 6, &object, &m.err),
                     RDNA3_E_FORMAT);
    end(&m);
}
END_TEST

START_TEST(runs)
{
    struct machine m;
    struct rdna3_stats stats = {0};
    begin(&m);
    for (uint32_t i = 0; i < N; i++)
        m.buffer[0][i] = i;
    /* Launches leave nothing behind: addresses repeat. */
    for (int k = 0; k < 200; k++)
        ck_assert_int_eq(rdna3_kernel_run(m.kernel, &m.launch, NULL, &stats, &m.err),
                         RDNA3_OK);
    for (uint32_t i = 0; i < N; i++)
        ck_assert_uint_eq(m.buffer[1][i], i + 1);
    ck_assert_uint_eq(stats.dispatches, 200);
    ck_assert_uint_eq(stats.waves, 400);
    ck_assert_int_eq(m.counts.logged, 200);
    void *next;
    ck_assert_int_eq(rdna3_device_alloc(m.gpu, 4, NULL, &next, &m.err), RDNA3_OK);
    ck_assert_uint_eq((uintptr_t)next - (uintptr_t)m.buffer[1],
                      (uintptr_t)m.buffer[1] - (uintptr_t)m.buffer[0]);

    /* Own memory, and a buffer that is too small: lane and address are told. */
    static uint32_t own[N];
    struct rdna3_fault fault;
    struct rdna3_region region;
    uint32_t *pointer = own;
    m.args[1].value = &pointer;
    ck_assert_int_eq(rdna3_device_map(m.gpu, own, sizeof own / 2,
                                      RDNA3_READ | RDNA3_WRITE, "half", &m.err),
                     RDNA3_OK);
    ck_assert_int_eq(rdna3_device_map(m.gpu, own, 4, RDNA3_READ, "again", &m.err),
                     RDNA3_E_EXISTS);
    ck_assert_int_eq(rdna3_device_region(m.gpu, (uintptr_t)own + 5, &region), RDNA3_OK);
    ck_assert_str_eq(region.name, "half");
    ck_assert_int_eq(rdna3_kernel_run(m.kernel, &m.launch, &fault, NULL, &m.err),
                     RDNA3_E_FAULT);
    ck_assert_uint_eq(fault.wave, 1);
    ck_assert_int_eq(fault.lane, 0);
    ck_assert_uint_eq(fault.address, (uintptr_t)(own + N / 2));
    ck_assert(fault.write);
    ck_assert_ptr_nonnull(strstr(fault.text, "half"));
    ck_assert_ptr_nonnull(strstr(m.counts.last, "add_one: unmapped"));
    ck_assert_int_eq(rdna3_device_unmap(m.gpu, own), RDNA3_OK);
    ck_assert_int_eq(rdna3_device_unmap(m.gpu, own), RDNA3_E_NOT_FOUND);
    end(&m);
}
END_TEST

START_TEST(refusals)
{
    struct machine m;
    struct rdna3_kernel *kernel;
    struct rdna3_device *device;
    struct rdna3_device_config config = {.struct_bytes = sizeof config, .engine = 9};
    begin(&m);
    ck_assert_int_eq(
        rdna3_kernel_load(m.gpu, m.object, m.bytes, "other", &kernel, &m.err),
        RDNA3_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(m.err.text, "add_one"));
    ck_assert_int_eq(rdna3_device_create(m.rdna3, &config, &device, &m.err),
                     RDNA3_E_INVALID);
    m.launch.block[0] = 4096;
    ck_assert_int_eq(rdna3_kernel_run(m.kernel, &m.launch, NULL, NULL, &m.err),
                     RDNA3_E_INVALID);
    m.launch.struct_bytes = 0;
    ck_assert_int_eq(rdna3_kernel_run(m.kernel, &m.launch, NULL, NULL, &m.err),
                     RDNA3_E_INVALID);
    ck_assert_ptr_nonnull(strstr(m.err.text, "struct_bytes"));
    ck_assert_str_eq(rdna3_version(), "0.1.0");
    ck_assert_int_ne(rdna3_status_text(RDNA3_E_NOMEM)[0], 0);
    end(&m);
}
END_TEST

struct seen {
    uint64_t steps, lanes, written;
    int waves, ended;
};

static void on_wave(void *ctx, const struct rdna3_wave *wave)
{
    struct rdna3_wave_info info;
    rdna3_wave_look(wave, &info);
    ck_assert_uint_eq(info.lanes, 32);
    ((struct seen *)ctx)->waves++;
}

static void on_step(void *ctx, const struct rdna3_event *event)
{
    struct seen *s = ctx;
    s->steps++;
    for (unsigned i = 0; i < event->n_accesses; i++) {
        const struct rdna3_access *a = &event->access[i];
        if (a->scalar || !a->write)
            continue;
        s->lanes += (uint64_t)__builtin_popcountll(a->lanes);
        s->written = a->address[31];
        ck_assert_uint_eq(rdna3_wave_vgpr(event->wave, 2, 31), 1);
        ck_assert_uint_eq(rdna3_wave_vgpr(event->wave, 9999, 31), 0);
        ck_assert_uint_eq(rdna3_wave_scalar(event->wave, RDNA3_EXEC_LO), UINT32_MAX);
    }
}

static void on_end(void *ctx, int status)
{
    ck_assert_int_eq(status, RDNA3_OK);
    ((struct seen *)ctx)->ended++;
}

START_TEST(observes)
{
    struct machine m;
    struct seen seen = {0};
    struct rdna3_watch *watch;
    struct rdna3_observer observer = {.struct_bytes = sizeof observer,
                                      .ctx = &seen,
                                      .accesses = true,
                                      .wave_begin = on_wave,
                                      .step = on_step,
                                      .dispatch_end = on_end};
    begin(&m);
    ck_assert_int_eq(rdna3_observe(m.gpu, &observer, &watch), RDNA3_OK);
    ck_assert_int_eq(rdna3_kernel_run(m.kernel, &m.launch, NULL, NULL, &m.err),
                     RDNA3_OK);
    rdna3_unobserve(watch);
    ck_assert_int_eq(rdna3_kernel_run(m.kernel, &m.launch, NULL, NULL, &m.err),
                     RDNA3_OK);
    ck_assert_int_eq(seen.waves, 2);
    ck_assert_uint_eq(seen.steps, 16);
    ck_assert_uint_eq(seen.lanes, N);
    ck_assert_uint_eq(seen.written, (uintptr_t)(m.buffer[1] + N - 1));
    ck_assert_int_eq(seen.ended, 1);

    /* The same, stepped. */
    struct rdna3_steps *steps;
    struct rdna3_event event;
    char text[64] = "";
    int n = 0, status;
    ck_assert_int_eq(rdna3_steps_begin(m.kernel, &m.launch, &steps, &m.err), RDNA3_OK);
    while ((status = rdna3_step(steps, &event, NULL)) == RDNA3_OK) {
        n++;
        rdna3_event_text(&event, text, sizeof text);
        if (n == 1)
            ck_assert_str_eq(text, "s_load_b128 s[4:7], s[0:1], null");
    }
    ck_assert_int_eq(status, RDNA3_E_NOT_FOUND);
    ck_assert_int_eq(n, 16);
    ck_assert_str_eq(text, "s_endpgm");
    rdna3_steps_end(steps);
    end(&m);
}
END_TEST

START_TEST(times)
{
    struct machine m;
    struct rdna3_timing *timing;
    struct rdna3_timing_parameter p = {"no_such_parameter", 1};
    struct rdna3_timing_config config = {.struct_bytes = sizeof config, .waves = true};
    char *text = NULL;
    begin(&m);
    ck_assert_int_eq(
        rdna3_kernel_time(m.kernel, &m.launch, &config, &timing, NULL, NULL, &m.err),
        RDNA3_OK);
    ck_assert_uint_gt(rdna3_timing_cycles(timing), 500);
    ck_assert_uint_eq(rdna3_timing_error(timing), 0);
    ck_assert_uint_eq(m.buffer[1][5], 1);
    ck_assert_int_eq(rdna3_timing_report(timing, RDNA3_TIMING_JSON, &text), RDNA3_OK);
    ck_assert_ptr_nonnull(strstr(text, "\"span_cycles\""));
    rdna3_release(m.rdna3, text);
    ck_assert_int_eq(rdna3_timing_report(timing, RDNA3_TIMING_LISTING, &text),
                     RDNA3_OK);
    ck_assert_ptr_nonnull(strstr(text, "global_store_b32"));
    rdna3_release(m.rdna3, text);
    rdna3_timing_destroy(timing);
    config.n_parameters = 1;
    config.parameters = &p;
    ck_assert_int_eq(
        rdna3_kernel_time(m.kernel, &m.launch, &config, &timing, NULL, NULL, &m.err),
        RDNA3_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(m.err.text, "no_such_parameter"));
    end(&m);
}
END_TEST

START_TEST(checks)
{
    struct machine m;
    struct rdna3_check *check;
    struct rdna3_finding f;
    struct rdna3_check_config config = {.struct_bytes = sizeof config,
                                        .keep_going = true};
    begin(&m);
    ck_assert_int_eq(rdna3_check_begin(m.gpu, &config, &check, &m.err), RDNA3_OK);
    ck_assert_int_eq(rdna3_kernel_run(m.kernel, &m.launch, NULL, NULL, &m.err),
                     RDNA3_OK);
    ck_assert_uint_eq(rdna3_check_count(check), 0);
    m.launch.block[0] = N + 1; /* one work-item beyond the buffers */
    ck_assert_int_eq(rdna3_kernel_run(m.kernel, &m.launch, NULL, NULL, &m.err),
                     RDNA3_OK);
    ck_assert_uint_ge(rdna3_check_count(check), 1);
    ck_assert_int_eq(rdna3_check_finding(check, 0, &f), RDNA3_OK);
    ck_assert_str_eq(f.cls, "mem");
    ck_assert_str_eq(f.allocation, "from");
    ck_assert_uint_eq(f.lanes, 1);
    ck_assert_uint_eq(f.wave, 2);
    ck_assert_int_eq(rdna3_check_finding(check, 99, &f), RDNA3_E_NOT_FOUND);
    rdna3_check_end(check);
    end(&m);
}
END_TEST

static void *whole_life(void *ctx)
{
    struct machine m;
    (void)ctx;
    for (int k = 0; k < 5; k++) {
        begin(&m);
        ck_assert_int_eq(rdna3_kernel_run(m.kernel, &m.launch, NULL, NULL, &m.err),
                         RDNA3_OK);
        ck_assert_uint_eq(m.buffer[1][N - 1], 1);
        end(&m);
    }
    return NULL;
}

START_TEST(many_at_once)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, whole_life, NULL), 0);
    for (int i = 0; i < 4; i++)
        (void)pthread_join(threads[i], NULL);
}
END_TEST

static void sum(void *ctx, const char *mnemonic, uint64_t count)
{
    if (strcmp(mnemonic, "v_add_nc_u32") == 0)
        *(uint64_t *)ctx += count;
}

START_TEST(counts_and_cancels)
{
    struct machine m;
    uint64_t adds = 0;
    static const uint32_t endless[] = {0xbfa0ffff}; /* s_branch to itself */
    volatile int cancel = RDNA3_CONTROL_CANCEL;
    struct rdna3_kernel *loop;
    begin(&m);
    ck_assert_int_eq(rdna3_kernel_run(m.kernel, &m.launch, NULL, NULL, &m.err),
                     RDNA3_OK);
    rdna3_device_counts(m.gpu, sum, &adds);
    ck_assert_uint_eq(adds, 2);
    ck_assert_int_eq(
        rdna3_kernel_load_raw(m.gpu, endless, sizeof endless, NULL, 32, &loop, &m.err),
        RDNA3_OK);
    ck_assert_uint_eq(rdna3_kernel_wave(loop), 32);
    struct rdna3_launch launch = {.struct_bytes = sizeof launch, .control = &cancel};
    ck_assert_int_eq(rdna3_kernel_run(loop, &launch, NULL, NULL, &m.err),
                     RDNA3_E_TIMEOUT);
    end(&m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("library");
    TCase *all = tcase_create("all");
    tcase_add_test(all, instructions);
    tcase_add_test(all, objects);
    tcase_add_test(all, runs);
    tcase_add_test(all, refusals);
    tcase_add_test(all, observes);
    tcase_add_test(all, times);
    tcase_add_test(all, checks);
    tcase_add_test(all, many_at_once);
    tcase_add_test(all, counts_and_cancels);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
