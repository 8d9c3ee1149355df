/* cover.c: see cover.h. Counts events; knows nothing of what the instructions do.
 * SPDX-License-Identifier: MIT
 */
#include "cover.h"

#include <stdlib.h>

void cover_create(struct cover *c, const struct arena *arena)
{
    c->arena = arena;
    for (unsigned i = 0; i < 2; i++) {
        c->runs[i] = calloc(isa_row_count() * COVER_VARIANTS, sizeof(uint32_t));
        if (!c->runs[i])
            abort();
    }
}

void cover_destroy(struct cover *c)
{
    free(c->runs[0]);
    free(c->runs[1]);
}

static void step(void *ctx, const struct emu_event *e)
{
    struct cover *c = ctx;
    const struct isa_inst *in = &e->inst->isa;
    uint32_t *runs = c->runs[e->wave->lanes == 64];
    uint64_t body =
        (uint64_t)(uintptr_t)c->arena->code + c->arena->prologue[e->wave->lanes == 64];
    if (e->inst->kind == EMU_KIND_ILLEGAL || e->inst->pc - body >= c->arena->body_bytes)
        return;
    runs[in->row * COVER_VARIANTS + in->variant]++;
    if (in->op_y != ISA_OP_NONE)
        runs[in->row_y * COVER_VARIANTS + in->variant]++;
}

struct emu_observer cover_observer(struct cover *c)
{
    return (struct emu_observer){.ctx = c, .step = step};
}

uint32_t cover_runs(const struct cover *c, unsigned row, unsigned variant,
                    unsigned lanes)
{
    return c->runs[lanes == 64][row * COVER_VARIANTS + variant];
}
