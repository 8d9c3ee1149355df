/* show.c: what is there, as text.
 *
 * Changes nothing. SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "core.h"
#include "ui.h"

/* ---- where ---- */

void show_place(struct ui *u, uint64_t pc)
{
    struct context c;
    struct frame f[MAX_FRAMES];
    char text[256];
    bool there = ui_context(u, &c);
    if (!there || c.wave.view.pc != pc) {
        c = (struct context){.target = u->target,
                             .program = u->program,
                             .index = there ? c.index : TG_NO_WAVE};
        c.wave.view.pc = pc;
    }
    (void)frames_of(&c, f, 1);
    (void)instruction_text(&c, pc, text, sizeof text);
    if (f[0].line) {
        const char *line = program_text(u->program, f[0].file, f[0].line);
        fprintf(u->out, "%s at %s:%u\n", f[0].function, f[0].file, f[0].line);
        if (line)
            fprintf(u->out, "%u\t%s\n", f[0].line, line);
        (void)snprintf(u->list_file, sizeof u->list_file, "%s", f[0].file);
        u->list_line = f[0].line > 5 ? f[0].line - 5 : 1;
    }
    char symbol[160];
    (void)program_symbol(u->program, pc, symbol, sizeof symbol);
    fprintf(u->out, "=> 0x%" PRIx64 " <%s>: %s\n", pc, symbol, text);
}

static void show_watch(struct ui *u, const struct stop *stop)
{
    struct session *s = u->session;
    const struct point *p = point_find(s, stop->point);
    struct context c;
    struct value v = {.type = p ? p->type : stop->type};
    char what[128], before[256], after[256], text[256];
    (void)ui_context(u, &c);
    v.bytes = stop->after.bytes;
    memcpy(v.data, stop->before.value, 16);
    value_text(&c, &v, 0, before, sizeof before);
    memcpy(v.data, stop->after.value, 16);
    value_text(&c, &v, 0, after, sizeof after);
    watched_text(&stop->after, what, sizeof what);
    if (p)
        fprintf(u->out, "watchpoint %u: %s (%s)\n", p->number, p->what, what);
    else
        fprintf(u->out, "last write of %s\n", what);
    if (stop->write)
        fprintf(u->out, "old value: %s\nnew value: %s\n",
                stop->before.valid ? before : "(none)",
                stop->after.valid ? after : "(none)");
    else
        fprintf(u->out, "value read: %s\n", after);
    (void)instruction_text(&c, stop->pc, text, sizeof text);
    fprintf(u->out, "%s by wave %" PRIu64 ".%u", stop->write ? "written" : "read",
            stop->group, stop->wave);
    if (stop->lane >= 0)
        fprintf(u->out, " lane %d", stop->lane);
    char symbol[160];
    (void)program_symbol(u->program, stop->pc, symbol, sizeof symbol);
    fprintf(u->out, " at 0x%" PRIx64 " <%s>: %s\n", stop->pc, symbol, text);
    struct source_frame *f = calloc(SOURCE_FRAMES, sizeof *f);
    unsigned n = f ? program_frames(u->program, stop->pc, f, SOURCE_FRAMES) : 0;
    for (unsigned i = 0; i < n; i++) {
        const char *line = program_text(u->program, f[i].file, f[i].line);
        fprintf(u->out, "    %s %s:%u%s%s%s%s\n", i ? "inlined at" : "at", f[i].file,
                f[i].line, *f[i].function ? " in " : "", f[i].function,
                line ? ": " : "", line ? line + strspn(line, " \t") : "");
    }
    free(f);
}

void fault_text(const struct ui *u, char *text, size_t size)
{
    *text = '\0';
    if (u->session && u->session->at_fault)
        emu_fault_text(emu_stepper_fault(u->session->stepper), text, size);
    else if (u->core)
        (void)snprintf(text, size, "%s", core_reason(u->core));
}

void show_stop(struct ui *u)
{
    const struct session *s = u->session;
    const struct stop *stop = &s->stop;
    const struct point *p = point_find(u->session, stop->point);
    char text[1024];
    switch (stop->kind) {
    case STOPPED_BEGIN:
        fprintf(u->out, "at the beginning of the dispatch\n");
        break;
    case STOPPED_POINT:
        fprintf(u->out, "breakpoint %u%s%s, wave %" PRIu64 ".%u", stop->point,
                p ? ", " : "", p ? p->what : "", stop->group, stop->wave);
        if (stop->lane >= 0)
            fprintf(u->out, " lane %d", stop->lane);
        fputc('\n', u->out);
        break;
    case STOPPED_WATCH:
        show_watch(u, stop);
        break;
    case STOPPED_WAVE_END:
        fprintf(u->out, "wave %" PRIu64 ".%u has ended\n", stop->group, stop->wave);
        return;
    case STOPPED_FAULT:
        fault_text(u, text, sizeof text);
        fprintf(u->out, "fault: %s\n", text);
        break;
    case STOPPED_END:
        fprintf(u->out, "all waves have ended, after %" PRIu64 " steps\n", s->now);
        return;
    case STOPPED_LIMIT:
        fprintf(u->out, "stopped after %" PRIu64 " steps (set limit)\n", s->limit);
        break;
    case STOPPED_INTERRUPT:
        fprintf(u->out, "interrupted\n");
        break;
    case STOPPED_ERROR:
        fprintf(u->out, "error: %s\n", stop->text);
        return;
    case STOPPED_STEP:
        break;
    }
    struct context c;
    if (ui_context(u, &c))
        show_place(u, c.wave.view.pc);
    ui_displays(u);
}

bool show_waves(struct ui *u)
{
    unsigned n = u->target->ops->n_waves(u->target->ctx);
    struct context c, chosen;
    bool have = ui_context(u, &chosen);
    for (unsigned i = 0; i < n; i++) {
        char where[300], why[400], symbol[160];
        struct frame f[1];
        c = (struct context){.target = u->target, .program = u->program, .index = i};
        if (!u->target->ops->wave(u->target->ctx, i, &c.wave))
            continue;
        (void)frames_of(&c, f, 1);
        (void)program_symbol(u->program, c.wave.view.pc, symbol, sizeof symbol);
        if (f[0].line)
            (void)snprintf(where, sizeof where, "%.160s:%u", f[0].file, f[0].line);
        else
            (void)snprintf(where, sizeof where, "%s", symbol);
        why_text(&c, why, sizeof why);
        fprintf(u->out,
                "%c %" PRIu64 ".%u  workgroup (%u,%u,%u)  pc 0x%" PRIx64
                "  exec 0x%0*" PRIx64 "  %s  %s\n",
                have && chosen.index == i ? '*' : ' ', c.wave.group, c.wave.wave,
                c.wave.workgroup[0], c.wave.workgroup[1], c.wave.workgroup[2],
                c.wave.view.pc, (int)c.wave.lanes / 4, c.wave.view.exec, where, why);
    }
    if (!n)
        fprintf(u->out, "no waves are in flight\n");
    if (u->session) {
        uint64_t all = emu_stepper_launch(u->session->stepper)->n_groups;
        fprintf(u->out, "%" PRIu64 " workgroups in all; step %" PRIu64 "\n", all,
                u->session->now);
    }
    return true;
}

static bool need_wave(struct ui *u, struct context *c)
{
    return ui_context(u, c) ||
           ui_error(u,
                    "wave %" PRIu64 ".%u is not there: it has ended or not begun "
                    "(see info waves)",
                    u->session ? u->session->group : u->group,
                    u->session ? u->session->wave : u->wave);
}

bool show_backtrace(struct ui *u)
{
    struct context c;
    struct frame f[MAX_FRAMES];
    if (!need_wave(u, &c))
        return false;
    unsigned n = frames_of(&c, f, MAX_FRAMES);
    for (unsigned i = 0; i < n; i++) {
        fprintf(u->out, "#%u  0x%" PRIx64 " in %s", i, f[i].pc, f[i].function);
        if (f[i].line)
            fprintf(u->out, " at %s:%u", f[i].file, f[i].line);
        if (f[i].inlined)
            fprintf(u->out, " (inlined)");
        if (f[i].guessed)
            fprintf(u->out, " (by s[30:31])");
        fputc('\n', u->out);
    }
    return true;
}

bool show_locals(struct ui *u, bool globals)
{
    struct context c;
    enum { ROOM = 256 };
    if (!need_wave(u, &c))
        return false;
    if (!u->program->source)
        return ui_error(u, "no variables are known: %s",
                        source_missing()
                            ? source_missing()
                            : "the code object has no DWARF (compile with -g)");
    struct source_variable *v = calloc(ROOM, sizeof *v);
    char *text = malloc(4096);
    unsigned n = v && text
                     ? source_variables(u->program->source,
                                        c.wave.view.pc - u->program->bias, v, ROOM)
                     : 0;
    unsigned shown = 0;
    for (unsigned i = 0; i < n; i++) {
        struct value value;
        const char *why;
        if (v[i].global != globals)
            continue;
        if (expr_variable(&c, &v[i], &value, &why))
            value_text(&c, &value, 0, text, 4096);
        else
            (void)snprintf(text, 4096, "(%s)", why);
        fprintf(u->out, "%s = %s\n", v[i].name, text);
        shown++;
    }
    if (!shown)
        fprintf(u->out, "no %s here\n", globals ? "globals" : "locals");
    free(v);
    free(text);
    return true;
}

/* ---- registers ---- */

static bool vgpr_row(struct ui *u, const struct context *c, unsigned v)
{
    uint32_t dword;
    fprintf(u->out, "v%u", v);
    for (unsigned l = 0; l < c->wave.lanes; l++) {
        if (!u->target->ops->reg(u->target->ctx, c->index, ISA_SEL_VGPR0 + v, l,
                                 &dword))
            return ui_error(u, "there is no v%u: the wave has %u VGPRs", v,
                            c->wave.view.vgprs);
        fprintf(u->out, "%s%c%08x",
                l % 8 ? " "
                : l   ? "\n        "
                      : "\t",
                c->wave.view.exec >> l & 1 ? ' ' : '-', dword);
    }
    fputc('\n', u->out);
    return true;
}

static void special_rows(struct ui *u, const struct context *c)
{
    const struct emu_wave_view *w = &c->wave.view;
    static const struct {
        const char *name;
        unsigned sel;
    } dwords[] = {{"vcc_lo", ISA_SEL_VCC_LO},
                  {"vcc_hi", ISA_SEL_VCC_HI},
                  {"m0", ISA_SEL_M0},
                  {"scc", ISA_SEL_SCC}};
    char lanes[256];
    cli_lanes(w->exec, lanes, sizeof lanes);
    fprintf(u->out, "pc      0x%" PRIx64 "\nexec    0x%0*" PRIx64 "  lanes %s\n", w->pc,
            (int)c->wave.lanes / 4, w->exec, lanes);
    for (unsigned i = 0; i < 4; i++) {
        uint32_t v = 0;
        (void)u->target->ops->reg(u->target->ctx, c->index, dwords[i].sel, 0, &v);
        fprintf(u->out, "%-7s 0x%08x\n", dwords[i].name, v);
    }
    fprintf(u->out,
            "mode    0x%08x\nstatus  0x%08x\ntrapsts 0x%08x\ninstructions executed "
            "%" PRIu64 "\n",
            w->mode, w->status, w->trapsts, w->instructions);
}

static void sgpr_rows(struct ui *u, const struct context *c)
{
    for (unsigned i = 0; i <= ISA_SEL_SGPR_LAST; i++) {
        uint32_t v = 0;
        (void)u->target->ops->reg(u->target->ctx, c->index, i, 0, &v);
        if (i % 8 == 0)
            fprintf(u->out, "%ss%-3u ", i ? "\n" : "", i);
        fprintf(u->out, " %08x", v);
    }
    fputc('\n', u->out);
}

bool show_registers(struct ui *u, const char *which)
{
    struct context c;
    if (!need_wave(u, &c))
        return false;
    if (!*which || strcmp(which, "special") == 0) {
        special_rows(u, &c);
        return true;
    }
    if (strcmp(which, "s") == 0 || strcmp(which, "sgprs") == 0) {
        sgpr_rows(u, &c);
        return true;
    }
    if (strcmp(which, "v") == 0 || strcmp(which, "vgprs") == 0) { /* of the lane */
        for (unsigned i = 0; i < c.wave.view.vgprs; i++) {
            uint32_t v = 0;
            (void)u->target->ops->reg(u->target->ctx, c.index, ISA_SEL_VGPR0 + i,
                                      c.lane, &v);
            fprintf(u->out, "%sv%-3u %08x", i % 6 ? "  " : i ? "\n" : "", i, v);
        }
        fputc('\n', u->out);
        return true;
    }
    char *end;
    if (*which == 'v' && isdigit((unsigned char)which[1])) {
        unsigned long v = strtoul(which + 1, &end, 10);
        if (!*end && v < 256)
            return vgpr_row(u, &c, (unsigned)v);
    }
    return show_print(u, which);
}

bool show_exec(struct ui *u)
{
    struct context c;
    char lanes[256];
    if (!need_wave(u, &c))
        return false;
    for (unsigned l = 0; l < c.wave.lanes; l++)
        fprintf(u->out, "%s%s", l && l % 8 == 0 ? " " : "",
                c.wave.view.exec >> l & 1 ? "#" : ".");
    cli_lanes(c.wave.view.exec, lanes, sizeof lanes);
    fprintf(u->out, "\n%d of %u lanes are on: %s\n",
            __builtin_popcountll(c.wave.view.exec), c.wave.lanes, lanes);
    return true;
}

bool show_why(struct ui *u)
{
    struct context c;
    char text[400];
    if (!need_wave(u, &c))
        return false;
    why_text(&c, text, sizeof text);
    fprintf(u->out, "wave %" PRIu64 ".%u %s\n", c.wave.group, c.wave.wave, text);
    return true;
}

/* ---- code ---- */

bool show_disassembly(struct ui *u, const char *args)
{
    struct context c;
    struct expr_error err;
    uint64_t at = 0, count = 12;
    bool there = ui_context(u, &c);
    const char *rest = args;
    struct value v;
    if (*args && *args != ',') {
        uint64_t function = program_function(u->program, args, true);
        if (function)
            at = function, rest = "";
        else if (!expr_value(&c, args, &v, &rest, &err))
            return ui_error(u, "%s", err.text);
        else
            memcpy(&at, v.data, 8);
    } else if (there) {
        at = c.wave.view.pc;
    } else {
        at = u->program->entry;
    }
    if (*rest == ',' &&
        cli_parse_u64(rest + 1 + strspn(rest + 1, " "), &count) != RD_OK)
        return ui_error(u, "disassemble [PLACE][,COUNT]");
    const struct source_line *before = NULL;
    for (uint64_t i = 0; i < count && i < 100000; i++) {
        char text[256], symbol[160];
        const struct source_line *l = program_line(u->program, at);
        if (l && (!before || l->line != before->line || l->file != before->file)) {
            const char *line = program_text(u->program, l->file, l->line);
            fprintf(u->out, "%s:%u\t%s\n", l->file, l->line, line ? line : "");
            before = l;
        }
        unsigned bytes = instruction_text(&c, at, text, sizeof text);
        if (!bytes)
            return i ? true : ui_error(u, "0x%" PRIx64 ": no memory is there", at);
        (void)program_symbol(u->program, at, symbol, sizeof symbol);
        fprintf(u->out, "%s 0x%" PRIx64 " <%s>  %s\n",
                there && at == c.wave.view.pc ? "=>" : "  ", at, symbol, text);
        at += bytes;
    }
    return true;
}

bool show_source(struct ui *u, const char *args)
{
    struct context c;
    uint64_t line;
    if (*args) {
        const char *colon = strrchr(args, ':');
        if (cli_parse_u64(colon ? colon + 1 : args, &line) == RD_OK) {
            if (colon)
                (void)snprintf(u->list_file, sizeof u->list_file, "%.*s",
                               (int)(colon - args < 255 ? colon - args : 255), args);
        } else {
            uint64_t pc = program_function(u->program, args, false);
            const struct source_line *l = pc ? program_line(u->program, pc) : NULL;
            if (!l)
                return ui_error(u, "no source is known of '%s'", args);
            line = l->line;
            (void)snprintf(u->list_file, sizeof u->list_file, "%s", l->file);
        }
        u->list_line = line > 5 ? (unsigned)(line < 1u << 30 ? line : 1u << 30) - 5 : 1;
    }
    const struct source_line *l = program_line(
        u->program, ui_context(u, &c) ? c.wave.view.pc : u->program->entry);
    if (!*u->list_file && l) {
        (void)snprintf(u->list_file, sizeof u->list_file, "%s", l->file);
        u->list_line = l->line > 5 ? l->line - 5 : 1;
    }
    if (!*u->list_file)
        return ui_error(u, "no source is known");
    unsigned n = program_text_lines(u->program, u->list_file);
    if (!n)
        return ui_error(u, "cannot read '%s'", u->list_file);
    if (u->list_line > n)
        return ui_error(u, "'%s' has %u lines", u->list_file, n);
    for (unsigned i = 0; i < 10 && u->list_line <= n; i++, u->list_line++) {
        bool here =
            l && l->line == u->list_line && program_same_file(l->file, u->list_file);
        fprintf(u->out, "%s%u\t%s\n", here ? "=>" : "  ", u->list_line,
                program_text(u->program, u->list_file, u->list_line));
    }
    return true;
}

/* ---- values ---- */

/* A register of 32 bits as everything that it could be. */
static void all_types(struct ui *u, const struct context *c, const struct value *v)
{
    static const char *const names[] = {"u32", "i32", "f32", "f16x2"};
    char text[128];
    for (unsigned i = 0; i < 4; i++) {
        struct value as = *v;
        as.type = expr_type(names[i], strlen(names[i]));
        value_text(c, &as, 0, text, sizeof text);
        fprintf(u->out, "%s%s %s", i ? ", " : "  (", names[i], text);
    }
    fputc(')', u->out);
}

/* "/x", "/2f" in front of the arguments of print and x. */
static const char *take_format(const char *args, char *format, uint64_t *count,
                               unsigned *size)
{
    if (*args != '/')
        return args;
    args++;
    if (isdigit((unsigned char)*args)) {
        char *end;
        *count = strtoull(args, &end, 10);
        args = end;
    }
    for (; *args && !isspace((unsigned char)*args); args++) {
        const char *sizes = "bhwg", *at = strchr(sizes, *args);
        if (at && size)
            *size = 1u << (at - sizes);
        else
            *format = *args;
    }
    return args + strspn(args, " \t");
}

bool show_value(struct ui *u, const char *label, const char *args,
                struct expr_error *err)
{
    struct context c;
    char format = 0;
    uint64_t count = 1;
    const char *text = take_format(args, &format, &count, NULL);
    bool all = strncmp(text, "-a ", 3) == 0; /* in all active lanes */
    text += all ? 3 : 0;
    *err = (struct expr_error){0};
    if (!*text)
        (void)snprintf(err->text, sizeof err->text, "an expression is missing");
    else if (format && !strchr("xduftc", format))
        (void)snprintf(err->text, sizeof err->text, "'%c': formats are x d u f t c",
                       format);
    if (*err->text)
        return false;
    bool there = ui_context(u, &c);
    struct value *v = malloc(sizeof *v);
    char *buffer = malloc(8192);
    bool ok = v && buffer;
    uint64_t lanes = all && there ? c.wave.view.exec : UINT64_C(1) << (c.lane & 63);
    for (unsigned l = 0; l < 64 && ok; l++) {
        if (!(lanes >> l & 1))
            continue;
        c.lane = l;
        ok = expr_value(&c, text, v, NULL, err);
        if (!ok)
            break;
        value_text(&c, v, format, buffer, 8192);
        if (all)
            fprintf(u->out, "%slane %2u: %s", label, l, buffer);
        else
            fprintf(u->out, "%s%s = %s", label, text, buffer);
        if (v->type->kind == VT_HEX && v->type->bytes == 4 && !format && !all)
            all_types(u, &c, v);
        fputc('\n', u->out);
    }
    if (!ok && !*err->text)
        (void)snprintf(err->text, sizeof err->text, "out of memory");
    free(v);
    free(buffer);
    return ok;
}

bool show_print(struct ui *u, const char *args)
{
    struct expr_error err;
    return show_value(u, "", args, &err) || ui_error(u, "%s", err.text);
}

static const struct vtype *element_type(char format, unsigned size)
{
    char name[8] = "hex";
    if (format == 'f')
        (void)snprintf(name, sizeof name, "f%u", size == 1 ? 16 : size * 8);
    else if (format == 'd' || format == 'c')
        (void)snprintf(name, sizeof name, "i%u", size * 8);
    else
        (void)snprintf(name, sizeof name, "u%u", size * 8);
    return expr_type(name, strlen(name));
}

/* An address; of an array its own, in its own space. */
static bool place_of(const struct context *c, const char *text, unsigned *space,
                     uint64_t *address, struct expr_error *err)
{
    struct value *v = malloc(sizeof *v);
    bool ok = v && expr_value(c, text, v, NULL, err);
    bool array = ok && v->place == VALUE_MEMORY &&
                 (v->type->kind == VT_ARRAY || v->type->kind == VT_STRUCT);
    if (array) {
        *space = v->space;
        *address = v->address;
    }
    free(v);
    return ok && (array || expr_u64(c, text, address, err));
}

bool show_memory(struct ui *u, const char *args)
{
    struct context c;
    struct expr_error err;
    char format = 'x', text[128];
    uint64_t count = 8, address;
    unsigned size = 4, space = EMU_SPACE_GLOBAL, room = 0;
    const char *at = take_format(args, &format, &count, &size);
    static const char *const spaces[] = {"global", "lds", "scratch"};
    for (unsigned i = 0; i < 3; i++) {
        size_t n = strlen(spaces[i]);
        if (strncmp(at, spaces[i], n) == 0 && at[n] == ' ') {
            space = i;
            at += n + 1;
        }
    }
    if (!strchr("xduftc", format))
        return ui_error(u, "'%c': formats are x d u f t c", format);
    if (!*at)
        return ui_error(u, "x[/COUNT FORMAT SIZE] [lds|scratch|global] ADDRESS: an "
                           "address is missing");
    (void)ui_context(u, &c);
    if (!place_of(&c, at, &space, &address, &err))
        return ui_error(u, "%s", err.text);
    if (count > 65536)
        return ui_error(u, "at most 65536 elements at a time");
    struct value v = {.type = element_type(format, size), .bytes = size};
    for (uint64_t i = 0; i < count; i++, address += size) {
        if (!tg_read(u->target, c.index, space, c.lane, address, size, v.data)) {
            if (room)
                fputc('\n', u->out);
            return ui_error(u, "cannot read %u bytes of %s at 0x%" PRIx64, size,
                            space ? spaces[space] : "global memory", address);
        }
        value_text(&c, &v, format, text, sizeof text);
        if (!room)
            fprintf(u->out, "0x%" PRIx64 ":", address);
        fprintf(u->out, "\t%s", text);
        room = (room + 1) % (size == 8 ? 2 : 4);
        if (!room || i + 1 == count)
            fputc('\n', u->out);
    }
    return true;
}

bool show_regions(struct ui *u)
{
    struct emu_mem m;
    for (uint64_t va = 0; u->target->ops->region(u->target->ctx, va, &m); va = m.va + 1)
        fprintf(u->out, "0x%" PRIx64 "-0x%" PRIx64 " %c%c%c %s\n", m.va, m.va + m.bytes,
                m.perm & EMU_MEM_READ ? 'r' : '-', m.perm & EMU_MEM_WRITE ? 'w' : '-',
                m.perm & EMU_MEM_EXEC ? 'x' : '-', m.name);
    return true;
}

bool show_points(struct ui *u)
{
    const struct session *s = u->session;
    for (unsigned i = 0; i < s->n_points; i++) {
        const struct point *p = &s->points[i];
        fprintf(u->out, "%u  %s%s%s  %s", p->number,
                p->kind == POINT_WATCH      ? "watchpoint"
                : p->kind == POINT_MNEMONIC ? "mnemonic"
                                            : "breakpoint",
                p->temporary ? " (once)" : "", p->enabled ? "" : " (off)", p->what);
        for (unsigned k = 0; k < p->n_pcs; k++)
            fprintf(u->out, " 0x%" PRIx64, p->pcs[k]);
        if (*p->condition)
            fprintf(u->out, " if %s", p->condition);
        fprintf(u->out, "  hit %" PRIu64 " times\n", p->hits);
    }
    if (!s->n_points)
        fprintf(u->out, "no breakpoints or watchpoints\n");
    return true;
}
