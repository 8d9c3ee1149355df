/* info.c: what there is to debug: the kernel, its functions, the program; and places in
 * its source. SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>

#include "cli.h"
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

/* Where the code of the line at an address ends: behind it, instruction by instruction.
 */
static uint64_t end_of_line(const struct ui *u, const struct context *c,
                            const struct source_line *l, uint64_t at)
{
    char text[256];
    const struct source_line *now = l;
    while (now && now->line == l->line && strcmp(now->file, l->file) == 0) {
        unsigned bytes = instruction_text(c, at, text, sizeof text);
        if (!bytes)
            break;
        at += bytes;
        now = program_line(u->program, at);
    }
    return at;
}

static void one_place(struct ui *u, const struct context *c, uint64_t pc)
{
    char symbol[160];
    const struct source_line *l = program_line(u->program, pc);
    (void)program_symbol(u->program, pc, symbol, sizeof symbol);
    if (!l) {
        fprintf(u->out, "no line is known of 0x%" PRIx64 " <%s>\n", pc, symbol);
        return;
    }
    fprintf(u->out, "%s:%u is 0x%" PRIx64 " <%s> to 0x%" PRIx64 "\n", l->file, l->line,
            pc, symbol, end_of_line(u, c, l, pc));
}

/* LINE or FILE:LINE: its number, with *file's bytes in front of it. */
static bool is_line(const char *where, int *file, uint64_t *line)
{
    const char *colon = strrchr(where, ':');
    *file = colon ? (int)(colon - where) : 0;
    return cli_parse_u64(colon ? colon + 1 : where, line) == RD_OK && *line &&
           *line <= UINT32_MAX;
}

bool show_line(struct ui *u, const char *where)
{
    enum { PLACES = 64 };
    uint64_t pcs[PLACES], number;
    struct context c;
    struct expr_error err;
    char file[200];
    unsigned n = 1, line = 0;
    int bytes;
    bool there = ui_context(u, &c);
    if (!u->program->source)
        return ui_error(u, "no lines are known: %s",
                        source_missing()
                            ? source_missing()
                            : "the code object has no DWARF (compile with -g)");
    if (!*where && !there)
        return ui_error(u, "info line: no wave is chosen");
    if (!*where) {
        pcs[0] = c.wave.view.pc;
    } else if (*where == '*') {
        if (!expr_u64(&c, where + 1, &pcs[0], &err))
            return ui_error(u, "%s", err.text);
    } else if (is_line(where, &bytes, &number)) {
        line = (unsigned)number;
        (void)snprintf(file, sizeof file, "%.*s", bytes < 199 ? bytes : 199, where);
        n = program_line_places(u->program, *file ? file : NULL, &line, pcs, PLACES);
    } else {
        n = program_function_places(u->program, where, pcs, PLACES);
    }
    if (!n)
        return ui_error(u, "no code is known of '%.100s'", where);
    if (line && line != number)
        fprintf(u->out, "line %" PRIu64 " has no code; the next that has:\n", number);
    for (unsigned i = 0; i < n; i++)
        one_place(u, &c, pcs[i]);
    return true;
}
