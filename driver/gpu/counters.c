/* counters.c: counts of registers that nobody models, and their names; time of kernels.
 * SPDX-License-Identifier: MIT
 */
#include "counters.h"

#include <stdatomic.h>
#include <stdio.h>

static const struct name {
    const char *text;
    uint32_t reg, count;
} names[] = {
#define REG(name, offset, count, reset, read, write) {#name, offset, count},
#define NAME(name, offset, count)                    {#name, offset, count},
#include "regs.def"
#undef REG
#undef NAME
};

/* The slot of a register, taken if there is none yet; NULL: all are taken. */
static struct gpu_reg_count *slot(struct gpu_counters *c, uint32_t reg)
{
    for (unsigned i = 0; i < GPU_REG_COUNTS; i++) {
        struct gpu_reg_count *s = &c->registers[i];
        uint32_t key = atomic_load_explicit(&s->key, memory_order_relaxed);
        if (!key && atomic_compare_exchange_strong(&s->key, &key, reg + 1))
            return s;
        if (key == reg + 1)
            return s;
    }
    return NULL;
}

bool gpu_count_register(struct gpu_counters *c, uint32_t reg, enum gpu_reg_use use)
{
    struct gpu_reg_count *s = slot(c, reg);
    if (!s) {
        atomic_fetch_add(&c->more_registers, 1);
        return false;
    }
    return atomic_fetch_add(&s->uses[use], 1) == 0;
}

/* FNV-1a; never 0 */
static uint64_t hash(const char *name)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * 0x100000001b3u;
    return h ? h : 1;
}

void gpu_count_kernel(struct gpu_kernels *k, const char *name, uint64_t ticks)
{
    uint64_t wanted = hash(name);
    struct gpu_kernel_time *to = &k->others;
    for (unsigned i = 0; i < GPU_KERNELS && to == &k->others; i++) {
        struct gpu_kernel_time *t = &k->kernel[i];
        uint64_t key = 0;
        if (atomic_compare_exchange_strong(&t->key, &key, wanted))
            snprintf(t->name, sizeof t->name, "%s", name);
        else if (key != wanted)
            continue;
        to = t;
    }
    atomic_fetch_add(&to->calls, 1);
    atomic_fetch_add(&to->ticks, ticks);
}

void gpu_register_text(uint32_t reg, char *text, size_t size)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct name *n = &names[i];
        if (reg - n->reg >= n->count)
            continue;
        if (n->count > 1)
            snprintf(text, size, "%s_%u (0x%x)", n->text, reg - n->reg, reg);
        else
            snprintf(text, size, "%s (0x%x)", n->text, reg);
        return;
    }
    snprintf(text, size, "0x%x", reg);
}
