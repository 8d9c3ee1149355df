/* info.c: what there is to debug: the kernel, its functions, the program; and places in
 * its source. SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>

#include "core.h"
#include "inferior.h"
#include "ui.h"

bool show_kernel(struct ui *u)
{
    fprintf(u->out, "kernel %s of %s, wave%u, entry 0x%" PRIx64 "\n",
            u->program->kernel, u->program->path, u->program->lanes, u->program->entry);
    if (u->session) {
        const struct emu_dispatch *d = &u->session->dispatch;
        const struct emu_launch *l = emu_stepper_launch(u->session->stepper);
        fprintf(
            u->out,
            "grid %u,%u,%u workgroups of %u,%u,%u work-items; %u waves each, %u VGPRs, "
            "%u bytes of LDS, %u of scratch\n",
            d->groups[0], d->groups[1], d->groups[2], d->block[0], d->block[1],
            d->block[2], l->waves_per_group, l->vgprs, d->lds_bytes, d->scratch_bytes);
    } else {
        fprintf(u->out, "core file: %s\n", core_reason(u->core));
    }
    return true;
}

bool show_functions(struct ui *u)
{
    size_t n;
    const struct source_function *f = source_functions(u->program->source, &n);
    for (size_t i = 0; i < n; i++)
        if (!f[i].inlined)
            fprintf(u->out, "0x%" PRIx64 " %s\n", f[i].va + u->program->bias,
                    f[i].name);
    for (unsigned i = 0; !n && u->program->co && i < co_symbol_count(u->program->co);
         i++) {
        const struct co_symbol *s = co_symbol_at(u->program->co, i);
        if (s->kind == CO_SYM_FUNC && s->place == CO_PLACE_IMAGE)
            fprintf(u->out, "0x%" PRIx64 " %s\n", s->value + u->program->image,
                    s->name);
    }
    return true;
}

bool show_program(struct ui *u)
{
    const struct inferior *i = u->inferior;
    if (inferior_alive(u->inferior))
        fprintf(u->out, "process %d runs", (int)i->x.child);
    else if (i->ended)
        fprintf(u->out, "the program has ended, exit status %d", i->status);
    else
        fprintf(u->out, "the program has not been started");
    fprintf(u->out, "; %" PRIu64 " dispatches were run here, %" PRIu64 " by itself\n",
            i->taken, i->left);
    return true;
}
