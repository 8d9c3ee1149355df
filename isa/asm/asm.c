/* asm.c: the library's entry points: sets up the state, runs the passes, frees it all.
 *
 * Must not know syntax. Invariant: no data leave unless there was no error.
 * SPDX-License-Identifier: MIT
 */
#include "as.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFAULT_VERSION 5

/* A symbol with a number that code may read. */
static uint32_t predefine(struct as *as, const char *name, uint64_t value)
{
    uint32_t index = as_symbol(as, name, strlen(name));
    struct as_symbol *s = &as->symbols[index];
    if (index == 0)
        return 0;
    s->section = AS_SEC_VAR;
    s->value = value;
    s->flags = AS_SYM_REDEFINABLE;
    return index;
}

static void predefine_all(struct as *as)
{
    (void)predefine(as, ".amdgcn.gfx_generation_number", 11);
    (void)predefine(as, ".amdgcn.gfx_generation_minor", 0);
    (void)predefine(as, ".amdgcn.gfx_generation_stepping", 0);
    as->vgpr_symbol = predefine(as, ".amdgcn.next_free_vgpr", 0);
    as->sgpr_symbol = predefine(as, ".amdgcn.next_free_sgpr", 0);
    /* Ours: the wave size, which code may also set. For LLVM any symbol, and a local
     * one, so that it leaves no trace there. */
    as->wave_symbol = predefine(as, ".Lamdgcn.wavefront_size", as->wave);
}

static bool first_entries(struct as *as)
{
    static const char text[] = ".text";
    const struct as_section_spec spec = {.name = text,
                                         .name_len = sizeof text - 1,
                                         .type = SHT_PROGBITS,
                                         .flags = SHF_ALLOC | SHF_EXECINSTR};
    /* Entry 0 of each table is none. */
    if (!as_grow((void **)&as->symbols, &as->cap_symbols, 0, sizeof *as->symbols) ||
        !as_grow((void **)&as->sections, &as->cap_sections, 0, sizeof *as->sections) ||
        !as_directives_init(as))
        return false;
    memset(&as->symbols[0], 0, sizeof as->symbols[0]);
    memset(&as->sections[0], 0, sizeof as->sections[0]);
    as->n_symbols = as->n_sections = 1;
    as->section = as_section_get(as, &spec);
    if (as->section)
        as->sections[as->section].align = 4;
    return as->section != 0;
}

static bool setup(struct as *as, const char *text, size_t len,
                  const struct asm_options *options)
{
    *as = (struct as){.options = options,
                      .text = text,
                      .text_end = text + len,
                      .line = 1,
                      .cfi_eh = true,
                      .object_version = DEFAULT_VERSION};
    as->wave = options->wave ? options->wave : 32;
    as->isa =
        (struct isa_asm_options){.wave = as->wave, .expr = as_isa_expr, .ctx = as};
    if (!first_entries(as))
        return false;
    predefine_all(as);
    for (size_t i = 0; i < options->n_defines; i++) {
        uint32_t s = predefine(as, options->defines[i].name,
                               (uint64_t)options->defines[i].value);
        if (s)
            as->symbols[s].flags |= AS_SYM_USED;
    }
    static const char counted[] = ".amdgcn.next_free";
    static const char include[] = ".include";
    as->count_registers = memmem(text, len, counted, sizeof counted - 1) != NULL ||
                          memmem(text, len, include, sizeof include - 1) != NULL ||
                          options->n_more != 0;
    return !as->stop;
}

static void teardown(struct as *as)
{
    for (uint32_t i = 1; i < as->n_sections; i++)
        free(as->sections[i].data);
    for (uint32_t i = 1; i < as->n_macros; i++)
        free(as->macros[i].params);
    for (uint32_t i = 0; i < as->n_texts; i++)
        free(as->texts[i]);
    struct as_map *maps[] = {&as->symbol_map, &as->section_map, &as->macro_map,
                             &as->directive_map, &as->local_map};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        free(maps[i]->slots);
    free(as->symbols);
    free(as->sections);
    free(as->nodes);
    free(as->fixups);
    free(as->relocs);
    free(as->macros);
    free(as->locals);
    free(as->conds);
    free(as->kds);
    free(as->texts);
    free(as->sources);
    free(as->pal.data);
    as_cfi_free(as);
}

/* Read the source and settle everything that does not depend on the kind of file. */
static void assemble(struct as *as)
{
    const char *nul = memchr(as->text, '\0', (size_t)(as->text_end - as->text));
    struct as_frame file = {.begin = as->text,
                            .p = as->text,
                            .end = as->text_end,
                            .line = 1,
                            .begin_line = 1,
                            .file = true};
    /* What is pushed last is read first. */
    for (size_t i = as->options->n_more; i-- > 0;)
        (void)as_source_push(as, as->options->more[i], NULL);
    (void)as_frame_push(as, &file);
    if (nul) {
        as->p = nul;
        for (const char *p = as->text; p < nul; p++)
            as->line += *p == '\n';
        as_fatal(as, nul, "the source contains a NUL byte");
        return;
    }
    as_run(as);
    if (as->stop)
        return;
    if (as->n_stack)
        as_error_at(as, NULL, 0, ".pushsection without .popsection");
    as_kd_finish(as);
    as_pal_finish(as);
    as_cfi_finish(as);
    as_fixups_finish(as);
}

rd_status asm_assemble(const char *text, size_t len, const struct asm_options *options,
                       struct asm_result *result)
{
    struct as *as = malloc(sizeof *as);
    struct as_buf out = {0};
    bool ok = false;
    *result = (struct asm_result){0};
    if (!as)
        return RD_E_NOMEM;
    if (!setup(as, text, len, options))
        as->status = RD_E_NOMEM;
    else
        assemble(as);
    if (as->status == RD_OK && as->result.errors == 0)
        ok = options->relocatable ? as_write_rel(as, &out) : as_write_dyn(as, &out);
    if (as->result.errors)
        ok = false;
    rd_status st = as->status != RD_OK ? as->status : ok ? RD_OK : RD_E_FORMAT;
    *result = as->result;
    if (st == RD_OK) {
        result->data = out.data;
        result->bytes = out.bytes;
    } else {
        free(out.data);
    }
    teardown(as);
    free(as);
    return st;
}

/* ---- single statements ---- */

struct asm_line {
    struct as as;
    struct asm_options options;
};

rd_status asm_line_open(unsigned wave, struct asm_line **out)
{
    struct asm_line *line = calloc(1, sizeof *line);
    if (!line)
        return RD_E_NOMEM;
    line->options.wave = wave;
    if (!setup(&line->as, "", 0, &line->options)) {
        asm_line_close(line);
        return RD_E_NOMEM;
    }
    *out = line;
    return RD_OK;
}

void asm_line_close(struct asm_line *line)
{
    if (!line)
        return;
    teardown(&line->as);
    free(line);
}

/* Symbols of the last statement are forgotten: they point into its text. */
static void forget(struct as *as)
{
    if (as->n_nodes == 0 && as->n_symbols < 64)
        return;
    free(as->symbol_map.slots);
    as->symbol_map = (struct as_map){0};
    as->n_nodes = 0;
    as->n_symbols = 2; /* none and .text's */
    predefine_all(as);
}

static rd_status line_error(struct isa_asm_error *err, size_t column, const char *text)
{
    err->column = (unsigned)column + 1;
    snprintf(err->text, sizeof err->text, "%s", text);
    return RD_E_ENCODING;
}

rd_status asm_line_one(struct asm_line *line, const char *text, size_t len,
                       uint8_t *code, unsigned *bytes, struct isa_fixup *fixup,
                       struct isa_asm_error *err)
{
    struct as *as = &line->as;
    size_t at = 0;
    forget(as);
    while (at < len && as_is(text[at], AS_C_BLANK))
        at++;
    size_t end = at;
    while (end < len && text[end] != ';' && text[end] != '\n' &&
           !(text[end] == '/' && end + 1 < len && text[end + 1] == '/'))
        end++;
    while (end > at && as_is(text[end - 1], AS_C_BLANK))
        end--;
    if (memchr(text, '\0', len))
        return line_error(err, 0, "the line contains a NUL byte");
    if (at == end) {
        *bytes = 0;
        *fixup = (struct isa_fixup){0};
        return RD_OK;
    }
    rd_status st = isa_assemble(text + at, end - at, &as->isa, code, bytes, fixup, err);
    if (st == RD_OK) {
        (void)as_clear_fixup(fixup, code);
        return RD_OK;
    }
    err->column = (err->column ? err->column : 1) + (unsigned)at;
    return st;
}
