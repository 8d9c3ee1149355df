/* frames.c: calls, instructions and reasons to wait, as data for both front ends.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frames.h"
#include "isa.h"

/* Frames of one address: a function and what is inlined there. */
static unsigned frames_at(const struct context *c, uint64_t pc, bool guessed,
                          struct frame *f, unsigned room)
{
    struct source_frame *s = calloc(SOURCE_FRAMES, sizeof *s);
    unsigned n = s ? program_frames(c->program, pc, s, SOURCE_FRAMES) : 0;
    n = n < room ? n : room;
    for (unsigned i = 0; i < n; i++) {
        f[i] = (struct frame){.line = s[i].line,
                              .column = s[i].column,
                              .pc = pc,
                              .inlined = i + 1 < n,
                              .guessed = guessed};
        (void)snprintf(f[i].function, sizeof f[i].function, "%.127s", s[i].function);
        (void)snprintf(f[i].file, sizeof f[i].file, "%.255s", s[i].file);
    }
    if (!n && room) {
        f[0] = (struct frame){.pc = pc, .guessed = guessed};
        (void)program_symbol(c->program, pc, f[0].function, sizeof f[0].function);
        n = 1;
    }
    free(s);
    return n;
}

/* Compilers call with the return address in s[30:31], and a function that has not
 * called any other has it there still. */
static bool caller_of(const struct context *c, uint64_t *pc)
{
    const struct program *p = c->program;
    uint32_t low, high;
    uint64_t off, here;
    if (!p->co || !c->target->ops->reg(c->target->ctx, c->index, 30, 0, &low) ||
        !c->target->ops->reg(c->target->ctx, c->index, 31, 0, &high))
        return false;
    uint64_t back = low | (uint64_t)high << 32;
    const struct co_symbol *mine =
        co_symbol_near(p->co, c->wave.view.pc - p->image, &here);
    const struct co_symbol *caller = co_symbol_near(p->co, back - p->image, &off);
    if (!mine || !caller || mine == caller || caller->kind != CO_SYM_FUNC ||
        mine->kind != CO_SYM_FUNC || p->image + mine->value == p->entry ||
        (caller->bytes && off > caller->bytes) || !off)
        return false;
    *pc = back;
    return true;
}

unsigned frames_of(const struct context *c, struct frame *f, unsigned room)
{
    uint64_t back;
    unsigned n = frames_at(c, c->wave.view.pc, false, f, room);
    if (n < room && caller_of(c, &back))
        n += frames_at(c, back - 4, true, f + n, room - n);
    return n;
}

unsigned instruction_text(const struct context *c, uint64_t pc, char *text, size_t size)
{
    uint32_t code[5];
    struct isa_inst inst;
    char line[ISA_MAX_TEXT];
    unsigned n = 5;
    while (n && !c->target->ops->read(c->target->ctx, c->index, EMU_SPACE_GLOBAL, 0, pc,
                                      n * 4, code))
        n--;
    if (!n) {
        (void)snprintf(text, size, "(no memory)");
        return 0;
    }
    if (isa_decode_hw(code, 4ul * n, c->program->lanes, &inst) != RD_OK) {
        (void)snprintf(text, size, "(no instruction: 0x%08x)", code[0]);
        return 4;
    }
    isa_print(&inst, c->program->lanes, 0, line);
    (void)snprintf(text, size, "%.*s", (int)sizeof line - 1, line);
    return inst.bytes;
}

/* At a barrier: who has arrived, who has not. */
static void barrier_text(const struct context *c, char *text, size_t size)
{
    char missing[200] = "";
    unsigned arrived = 0, live = 0, n = c->target->ops->n_waves(c->target->ctx);
    size_t at = 0;
    for (unsigned i = 0; i < n; i++) {
        struct tg_wave w;
        if (!c->target->ops->wave(c->target->ctx, i, &w) || w.group != c->wave.group ||
            w.view.doing == EMU_DOING_ENDED)
            continue;
        live++;
        arrived += w.view.doing == EMU_DOING_BARRIER;
        if (w.view.doing == EMU_DOING_BARRIER || at + 24 >= sizeof missing)
            continue;
        at += (size_t)snprintf(missing + at, sizeof missing - at, "%s%" PRIu64 ".%u",
                               at ? ", " : "", w.group, w.wave);
    }
    (void)snprintf(
        text, size,
        "waits at a barrier: %u of %u waves of the workgroup have arrived%s%s", arrived,
        live, at ? "; not yet: " : "", missing);
}

void why_text(const struct context *c, char *text, size_t size)
{
    char inst[200];
    uint32_t code[5];
    struct emu_inst described = {.kind = EMU_KIND_ILLEGAL};
    if (c->wave.view.doing == EMU_DOING_BARRIER) {
        barrier_text(c, text, size);
        return;
    }
    if (c->wave.view.doing == EMU_DOING_ENDED) {
        (void)snprintf(text, size, "it has ended");
        return;
    }
    unsigned bytes = instruction_text(c, c->wave.view.pc, inst, sizeof inst);
    if (bytes && bytes <= sizeof code &&
        c->target->ops->read(c->target->ctx, c->index, EMU_SPACE_GLOBAL, 0,
                             c->wave.view.pc, bytes, code))
        emu_inst_describe(code, bytes, c->wave.view.pc, c->wave.lanes, &described);
    const char *next = described.kind == EMU_KIND_WAIT
                           ? "waits for counters at %s (on the chip; here memory "
                             "answers at once)"
                       : described.kind == EMU_KIND_BARRIER ? "is about to arrive: %s"
                       : described.kind == EMU_KIND_SLEEP   ? "is about to sleep: %s"
                                                            : "next is %s";
    size_t n = 0;
    if (c->wave.view.doing != EMU_DOING_RUN)
        n = (size_t)snprintf(text, size, "%s; ", tg_doing(c->wave.view.doing));
    if (n < size) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        (void)snprintf(text + n, size - n, next, inst);
#pragma GCC diagnostic pop
    }
    if (!c->wave.view.exec && strlen(text) + 24 < size)
        strcat(text, "; all lanes are off");
}
