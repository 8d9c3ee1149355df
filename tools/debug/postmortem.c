/* postmortem.c: what to tell of a dispatch that did not end well.
 *
 * The waves are looked at as a core file would show them.
 * SPDX-License-Identifier: MIT
 */
#include "postmortem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "core.h"
#include "frames.h"

#define MAX_TOLD 32u

static void tell_frames(FILE *out, const struct program *p, uint64_t pc)
{
    struct source_frame *f = calloc(SOURCE_FRAMES, sizeof *f);
    unsigned n = f ? program_frames(p, pc, f, SOURCE_FRAMES) : 0;
    for (unsigned i = 0; i < n; i++) {
        (void)fprintf(out, "    %s %s:%u", i ? "inlined at" : "at", f[i].file,
                      f[i].line);
        if (f[i].column)
            (void)fprintf(out, ":%u", f[i].column);
        (void)fprintf(out, "%s%s\n", *f[i].function ? " in " : "", f[i].function);
    }
    free(f);
}

void postmortem_place(const void *object, size_t bytes, uint64_t image, uint64_t pc)
{
    struct program p;
    if (!object)
        return;
    program_open(&p, NULL, object, bytes, NULL, image, image, 32);
    tell_frames(stderr, &p, pc);
    program_close(&p);
}

static void tell_wave(FILE *out, const struct context *c)
{
    char symbol[160], why[400];
    (void)program_symbol(c->program, c->wave.view.pc, symbol, sizeof symbol);
    why_text(c, why, sizeof why);
    (void)fprintf(out, "  workgroup (%u,%u,%u) wave %u: pc 0x%" PRIx64 " <%s>: %s\n",
                  c->wave.workgroup[0], c->wave.workgroup[1], c->wave.workgroup[2],
                  c->wave.wave, c->wave.view.pc, symbol, why);
    tell_frames(out, c->program, c->wave.view.pc);
}

void postmortem_culprit(FILE *out, struct core *core)
{
    struct context c;
    char symbol[160];
    uint64_t group;
    unsigned wave, lane;
    if (!core_culprit(core, &group, &wave, &lane) ||
        !context_of(&c, core_target(core), core_program(core), group, wave, lane))
        return;
    (void)program_symbol(c.program, c.wave.view.pc, symbol, sizeof symbol);
    (void)fprintf(out, "kernel %s faulted at 0x%" PRIx64 " <%s>\n", c.program->kernel,
                  c.wave.view.pc, symbol);
    tell_frames(out, c.program, c.wave.view.pc);
}

void postmortem_show(FILE *out, struct core *core, bool several)
{
    const struct target *t = core_target(core);
    unsigned n = t->ops->n_waves(t->ctx), told = 0, more = 0;
    if (!several)
        (void)fprintf(out, "kernel %s, ", core_program(core)->kernel);
    (void)fprintf(out, "%u waves in flight:\n", n);
    for (unsigned i = 0; i < n; i++) {
        struct context w = {.target = t, .program = core_program(core), .index = i};
        if (!t->ops->wave(t->ctx, i, &w.wave) || w.wave.view.doing == EMU_DOING_ENDED)
            continue;
        if (told++ < MAX_TOLD)
            tell_wave(out, &w);
        else
            more++;
    }
    if (more)
        (void)fprintf(out, "  and %u more%s\n", more,
                      several ? "" : " (--core FILE has all)"); /* else refused */
}

void postmortem_waves(const struct capture *c, const struct core_subject *about,
                      bool several)
{
    char text[256] = "out of memory";
    size_t bytes = 0;
    void *file = capture_file(c, about, &bytes);
    struct core *core = file ? core_read(file, bytes, text, sizeof text) : NULL;
    if (core)
        postmortem_show(stderr, core, several);
    else
        (void)cli_error(CLI_FAILED, "cannot show the waves: %s", text);
    core_close(core);
    free(file);
}

int postmortem_can_write(const char *path)
{
    if (path && cli_writable(path) != RD_OK)
        return cli_error(CLI_FAILED, "--core %s: %s", path, strerror(errno));
    return CLI_OK;
}

int postmortem_core(const struct capture *c, const struct core_subject *about,
                    const char *path)
{
    size_t bytes = 0;
    void *file = capture_file(c, about, &bytes);
    if (!file)
        return cli_error(CLI_FAILED, "--core %s: out of memory", path);
    rd_status st = cli_write_file(path, file, bytes);
    free(file);
    if (st != RD_OK)
        return cli_error(CLI_FAILED, "--core %s: %s", path, strerror(errno));
    (void)fprintf(stderr, "core file: %s (%zu bytes); rdna3 debug --core %s\n", path,
                  bytes, path);
    return CLI_OK;
}
