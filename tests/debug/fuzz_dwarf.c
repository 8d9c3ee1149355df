/* fuzz_dwarf.c: code objects whose DWARF holds anything: lines, functions, variables,
 * their types and locations.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "dbg_expr.h"
#include "fuzz.h"

/* libdw itself leaks on errors. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libdw";
}

static unsigned n_waves(void *ctx)
{
    (void)ctx;
    return 1;
}

static bool wave(void *ctx, unsigned index, struct tg_wave *out)
{
    *out = (struct tg_wave){
        .lanes = 32, .view = {.pc = *(const uint64_t *)ctx, .exec = ~0u, .vgprs = 256}};
    return index == 0;
}

static bool reg(void *ctx, unsigned index, unsigned sel, unsigned lane, uint32_t *out)
{
    (void)ctx;
    *out = sel * 64 + lane;
    return index == 0;
}

static bool read_space(void *ctx, unsigned index, unsigned space, unsigned lane,
                       uint64_t address, unsigned bytes, void *out)
{
    (void)ctx;
    (void)index;
    memset(out, (int)(address + space + lane), bytes);
    return address < 1u << 20;
}

static bool region(void *ctx, uint64_t address, struct emu_mem *out)
{
    (void)ctx;
    (void)address;
    (void)out;
    return false;
}

static const struct tg_ops ops = {n_waves, wave, reg, read_space, region};

static void at(struct program *p, uint64_t va)
{
    static struct source_variable v[32];
    static struct source_frame f[SOURCE_FRAMES];
    struct target t = {&ops, &va};
    struct context c;
    char text[2048];
    const char *why;
    struct value *value = malloc(sizeof *value);
    if (!value || !context_of(&c, &t, p, 0, 0, 3))
        abort();
    (void)program_frames(p, va, f, SOURCE_FRAMES);
    unsigned n = source_variables(p->source, va, v, 32);
    for (unsigned i = 0; i < n; i++)
        if (expr_variable(&c, &v[i], value, &why))
            value_text(&c, value, 0, text, sizeof text);
    free(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct program p = {.path = "", .kernel = "", .lanes = 32};
    size_t n_lines, n_functions;
    p.source = source_open(data, size);
    if (!p.source)
        return 0;
    const struct source_line *l = source_lines(p.source, &n_lines);
    const struct source_function *f = source_functions(p.source, &n_functions);
    for (size_t i = 0; i < n_lines && i < 8; i++)
        at(&p, l[i * n_lines / 8].va);
    for (size_t i = 0; i < n_functions && i < 8; i++) {
        at(&p, f[i].va);
        (void)program_function(&p, f[i].name, false);
    }
    at(&p, 0x1a00);
    program_close(&p);
    return 0;
}
