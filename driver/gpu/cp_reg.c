/* cp_reg.c: registers as packets reach them.
 *
 * Must not know packets. A register changes here by another queue's packet or by a
 * hook, so a wait that lasts is one that never ends: on the chip the queue would hang
 * until the kernel driver's patience is over, and so it does here, with less patience.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <time.h>

#include "cp.h"

#define PATIENCE_NS 2000000000ull

uint32_t cp_reg_read(struct gpu_queue *q, uint32_t reg)
{
    return reg_read(q->gpu, q->sh, reg);
}

void cp_reg_write(struct gpu_queue *q, uint32_t reg, uint32_t value)
{
    reg_write(q->gpu, q->sh, reg, value);
}

struct reg_wait {
    struct gpu_queue *q;
    uint32_t reg, mask, ref;
    unsigned function;
    uint64_t deadline;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static void hang(const struct reg_wait *w, uint32_t value)
{
    static const char *const relations[] = {"?", "<", "<=", "==", "!=", ">=", ">", "?"};
    char name[80], text[200];
    gpu_register_text(w->reg, name, sizeof(name));
    snprintf(text, sizeof(text),
             "waits for register %s, which reads 0x%x: & 0x%x %s 0x%x is not so", name,
             value, w->mask, relations[w->function & 7], w->ref);
    (void)cp_fail(w->q, GPU_ERR_PREEMPTION, text);
}

static bool register_ready(void *ctx)
{
    struct reg_wait *w = ctx;
    uint32_t value = reg_look(w->q->gpu, w->q->sh, w->reg);
    if (cp_compare(w->function, value & w->mask, w->ref))
        return true;
    uint64_t now = now_ns();
    if (!w->deadline)
        w->deadline = now + PATIENCE_NS;
    if (now > w->deadline)
        hang(w, value);
    return false;
}

bool cp_reg_wait(struct gpu_queue *q, uint32_t reg, unsigned function, uint32_t mask,
                 uint32_t ref)
{
    struct reg_wait w = {
        .q = q, .reg = reg, .mask = mask, .ref = ref, .function = function};
    if (function == 0)
        return true; /* always so: no wait */
    reg_wait_begin(q->gpu, q->sh, reg);
    return cp_wait(q, register_ready, &w);
}
