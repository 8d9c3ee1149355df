/* fuzz_native.c: libFuzzer entry: any bytes as a code object whose first kernel runs,
 * all of it as native code. What it may do is end, fault, or be stopped.
 * SPDX-License-Identifier: MIT
 */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "launch.h"

#define MAX_ARGS     16u
#define BUFFER_BYTES 16384u
#define LIMIT_US     20000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile int control;

static void give_up(int number)
{
    (void)number;
    control = EMU_CONTROL_CANCEL;
}

/* Of the process's own time: libFuzzer has the other timer. */
static void set_timer(long us)
{
    const struct itimerval limit = {.it_interval = {0, us}, .it_value = {0, us}};
    signal(SIGVTALRM, give_up);
    setitimer(ITIMER_VIRTUAL, &limit, NULL);
}

/* A buffer for whatever takes eight bytes, else small numbers. */
static bool make_args(struct la *la, const struct la_kernel *kernel,
                      struct la_arg args[MAX_ARGS], unsigned *n, struct la_error *err)
{
    static uint64_t pointer;
    static const uint8_t numbers[256] = {3, 0, 0, 0, 2};
    void *buffer;
    *n = kernel->meta ? kernel->meta->n_explicit_args : 0;
    if (*n > MAX_ARGS || la_alloc(la, BUFFER_BYTES, EMU_MEM_READ | EMU_MEM_WRITE,
                                  "buffer", &buffer, err) != RD_OK)
        return false;
    pointer = (uintptr_t)buffer;
    for (unsigned i = 0; i < *n; i++) {
        uint32_t bytes = kernel->meta->args[i].bytes;
        if (bytes > sizeof numbers)
            return false;
        args[i] =
            bytes == 8
                ? (struct la_arg){.cls = LA_POINTER, .value = &pointer, .bytes = 8}
                : (struct la_arg){.cls = LA_BYTES, .value = numbers, .bytes = bytes};
        args[i].text = "";
    }
    return true;
}

static void run(struct la *la, const uint8_t *data, size_t size)
{
    const struct la_shape shape = {.groups = {2, 1, 1}, .block = {64, 1, 1}};
    struct la_error err;
    struct la_kernel kernel;
    struct la_arg args[MAX_ARGS];
    struct emu_dispatch dispatch;
    struct emu_fault fault;
    unsigned n;
    if (la_load_object(la, data, size, NULL, &kernel, &err) != RD_OK ||
        !make_args(la, &kernel, args, &n, &err) ||
        la_prepare(la, &kernel, &shape, args, n, &dispatch, &err) != RD_OK)
        return;
    dispatch.control = &control;
    control = EMU_CONTROL_RUN;
    set_timer(LIMIT_US);
    rd_status st = emu_run(la_emu(la), &dispatch, &fault, NULL);
    set_timer(0);
    if (st != RD_OK && st != RD_E_FAULT && st != RD_E_TIMEOUT && st != RD_E_INVALID &&
        st != RD_E_NOMEM)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct emu_config config = {
        .threads = 1, .engine = EMU_ENGINE_JIT, .native_hot = 1};
    struct la_error err;
    struct la *la;
    if (la_create(&config, &la, &err) == RD_OK) {
        run(la, data, size);
        la_destroy(la);
    }
    return 0;
}
