/* fuzz_core.c: core files that hold anything.
 *
 * The first byte says whether the rest is a file, or the notes of one whose headers are
 * right, so that the fuzzer need not find those.
 * SPDX-License-Identifier: MIT
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "corefile.h"
#include "frames.h"
#include "fuzz.h"

static void look(struct core *core)
{
    const struct target *t = core_target(core);
    struct emu_mem m;
    char text[512];
    struct frame f[MAX_FRAMES];
    static struct source_variable v[16];
    uint8_t bytes[64];
    uint64_t group;
    unsigned wave, lane, n = t->ops->n_waves(t->ctx);
    (void)core_culprit(core, &group, &wave, &lane);
    for (unsigned i = 0; i < n && i < 3; i++) {
        struct context c = {.target = t, .program = core_program(core), .index = i};
        struct value *value = malloc(sizeof *value);
        const char *why;
        if (!t->ops->wave(t->ctx, i, &c.wave) || !value)
            abort();
        (void)frames_of(&c, f, MAX_FRAMES);
        why_text(&c, text, sizeof text);
        for (unsigned space = 0; space < 3; space++)
            (void)tg_read(t, i, space, 31, c.wave.view.pc & 0xffff, 64, bytes);
        for (unsigned sel = 0; sel < ISA_SEL_COUNT; sel += 7) {
            uint32_t dword;
            (void)t->ops->reg(t->ctx, i, sel, 31, &dword);
        }
        unsigned k = source_variables(c.program->source,
                                      c.wave.view.pc - c.program->bias, v, 16);
        for (unsigned j = 0; j < k; j++)
            if (expr_variable(&c, &v[j], value, &why))
                value_text(&c, value, 0, text, sizeof text);
        free(value);
    }
    for (uint64_t va = 0; t->ops->region(t->ctx, va, &m) && m.va != UINT64_MAX;
         va = m.va + 1)
        (void)tg_read(t, TG_NO_WAVE, EMU_SPACE_GLOBAL, 0, m.va + m.bytes - 4, 4, bytes);
}

/* A file whose notes are these. */
static uint8_t *wrap(const uint8_t *notes, size_t n, size_t *size)
{
    Elf64_Ehdr e = {.e_type = ET_CORE,
                    .e_machine = 224,
                    .e_phoff = sizeof e,
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_phnum = 1};
    Elf64_Phdr p = {.p_type = PT_NOTE, .p_offset = sizeof e + sizeof p, .p_filesz = n};
    uint8_t *file = malloc(sizeof e + sizeof p + n);
    if (!file)
        abort();
    memcpy(e.e_ident, ELFMAG, SELFMAG);
    e.e_ident[EI_CLASS] = ELFCLASS64;
    e.e_ident[EI_DATA] = ELFDATA2LSB;
    memcpy(file, &e, sizeof e);
    memcpy(file + sizeof e, &p, sizeof p);
    if (n)
        memcpy(file + sizeof e + sizeof p, notes, n);
    *size = sizeof e + sizeof p + n;
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[256];
    if (!size)
        return 0;
    uint8_t *file;
    size_t n = size - 1;
    if (data[0] & 1) {
        file = wrap(data + 1, size - 1, &n);
    } else {
        file = malloc(n ? n : 1); /* exactly so big: what lies behind is found */
        if (!file)
            abort();
        memcpy(file, data + 1, n);
    }
    struct core *core = core_read(file, n, text, sizeof text);
    if (core)
        look(core);
    core_close(core);
    free(file);
    return 0;
}
