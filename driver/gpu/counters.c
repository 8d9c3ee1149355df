/* counters.c: counts of registers that nobody models, and their names.
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
