/* text.c: findings for people.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>

#include "found.h"
#include "isa.h"

struct colors {
    const char *error, *strong, *dim, *off;
};
static const struct colors plain = {"", "", "", ""};
static const struct colors ansi = {"\033[1;31m", "\033[1m", "\033[2m", "\033[0m"};

/* kernel: what follows the first frame is what it is inlined into. */
static void print_frames(const struct source_frame *frames, unsigned n, bool kernel,
                         const struct colors *c, FILE *out)
{
    for (unsigned i = 0; i < n; i++) {
        const struct source_frame *s = &frames[i];
        const char *how = i == 0 ? "at" : kernel ? "inlined at" : "from";
        (void)fprintf(out, "    %s %s%s", how, c->strong, s->file);
        if (s->line)
            (void)fprintf(out, ":%u", s->line);
        if (s->column)
            (void)fprintf(out, ":%u", s->column);
        (void)fprintf(out, "%s%s%s\n", c->off, *s->function ? " in " : "", s->function);
    }
}

/* The instructions around the PC, the one itself marked. */
static void print_listing(const struct ck_finding *f, const struct found_place *p,
                          const struct colors *c, FILE *out)
{
    const struct ck_actor *a = p->actor;
    uint64_t at = 0;
    while (at + 4 <= a->window_bytes) {
        struct isa_inst inst;
        char text[ISA_MAX_TEXT];
        uint64_t pc = a->window_pc + at;
        unsigned bytes = 4;
        if (isa_decode_hw(a->window + at, a->window_bytes - at, f->wave_lanes, &inst) ==
            RD_OK) {
            isa_print(&inst, f->wave_lanes, 0, text);
            bytes = inst.bytes;
        } else {
            (void)snprintf(text, sizeof text, "(no instruction)");
        }
        bool here = pc == a->pc;
        (void)fprintf(out, "    %s%s %6" PRIx64 "  %s%s\n", here ? c->strong : c->dim,
                      here ? ">" : " ", p->offset + (pc - a->pc), text, c->off);
        at += bytes;
    }
}

static void print_place(const struct ck_finding *f, const struct found_place *p,
                        const struct colors *c, FILE *out)
{
    print_frames(p->frame, p->n_frames, p->actor->pc != 0, c, out);
    if (p->actor->pc)
        print_listing(f, p, c, out);
}

static void print_memory(const struct ck_finding *f, FILE *out)
{
    if (!f->located)
        return;
    if (f->space == EMU_SPACE_GLOBAL)
        (void)fprintf(out, "  address 0x%" PRIx64, f->address);
    else
        (void)fprintf(out, "  byte %" PRIu64 " of %s", f->address,
                      f->space == EMU_SPACE_LDS ? "LDS" : "scratch");
    if (f->size && f->space == EMU_SPACE_GLOBAL)
        (void)fprintf(out, "; %s: %" PRIu64 " bytes [0x%" PRIx64 ", 0x%" PRIx64 ")",
                      f->allocation, f->size, f->base, f->base + f->size);
    (void)fputc('\n', out);
}

static void print_trace(const struct found_trace *t, const char *what,
                        const struct colors *c, FILE *out)
{
    if (!*t->call || !t->n)
        return;
    (void)fprintf(out, "  %s by %s\n", what, t->call);
    print_frames(t->frame, t->n, false, c, out);
}

static const char *verb(const struct ck_actor *a)
{
    return a->atomic ? "atomic" : a->write ? "write" : "read";
}

static void print_one(const struct found *x, const struct colors *c, FILE *out)
{
    const struct ck_finding *f = x->f;
    char who[256];
    (void)fprintf(out, "%s%s: %s:%s %s%s%s [%s]", f->benign ? c->strong : c->error,
                  f->benign ? "note" : "error", ck_class_name(f->cls), c->off,
                  c->strong, f->text, c->off, f->kind);
    if (x->count > 1)
        (void)fprintf(out, ", %" PRIu64 " times", x->count);
    found_actor(&f->at, who, sizeof who);
    if (f->at.pc)
        (void)fprintf(out, "\n  kernel %s, %s\n", *f->kernel ? f->kernel : "(no name)",
                      who);
    else
        (void)fputc('\n', out);
    print_place(f, &x->at, c, out);
    print_memory(f, out);
    if (f->at.pc || *f->host.call)
        print_trace(&x->made, "made", c, out);
    print_trace(&x->freed, "freed", c, out);
    if (f->other.pc) {
        found_actor(&f->other, who, sizeof who);
        (void)fprintf(
            out, "  %s: %s%s%s%s%s\n",
            f->cls == CK_INIT ? "where it was read" : "the other",
            f->cls == CK_RACE ? verb(&f->other) : "", f->cls == CK_RACE ? " by " : "",
            *f->other_kernel ? f->other_kernel : "", *f->other_kernel ? ", " : "", who);
        print_place(f, &x->other, c, out);
    }
    (void)fputc('\n', out);
}

void found_print(const struct found_list *l, FILE *out, bool color)
{
    for (unsigned i = 0; i < l->n; i++)
        if (!l->v[i].suppressed)
            print_one(&l->v[i], color ? &ansi : &plain, out);
    if (l->errors && source_missing())
        (void)fprintf(out, "no source lines: %s\n", source_missing());
}
