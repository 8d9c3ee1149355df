/* hotlines.c: from instructions of a timeline to rows of source text.
 *
 * Must not know DWARF. Invariant: rows of a file are in the order of its lines.
 * SPDX-License-Identifier: MIT
 */
#include "hotlines.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "codeobj.h"
#include "source.h"

#define TAB    4u
#define AROUND 3u /* lines shown before the first and behind the last with code */

/* Where an instruction comes from. */
struct place {
    uint32_t file; /* HOT_NONE: unknown */
    unsigned line;
};

/* The address in the object's file of offset 0 in the timeline; false: no such kernel.
 */
static bool find_base(const struct co_object *co, const struct timeline *tl,
                      const struct tl_dispatch *d, uint64_t *base)
{
    const struct co_symbol *kernel = co_symbol_find(co, d->name);
    const struct tl_wave *w = d->n_waves ? &tl->wave[d->first_wave] : NULL;
    const struct tl_inst *first =
        w && w->n_segs ? tl_inst(tl, w, w->seg[0].inst) : NULL;
    if (!kernel || kernel->place != CO_PLACE_IMAGE || !first)
        return false;
    *base = co_info(co)->base_addr + kernel->value - first->offset;
    return true;
}

static uint32_t file_of(struct hotlines *h, const char *name)
{
    for (uint32_t i = 0; i < h->n_files; i++)
        if (strcmp(h->file[i], name) == 0)
            return i;
    char **bigger = realloc(h->file, (h->n_files + 1u) * sizeof *bigger);
    if (!bigger)
        return HOT_NONE;
    h->file = bigger;
    h->file[h->n_files] = strdup(name);
    return h->file[h->n_files] ? h->n_files++ : HOT_NONE;
}

/* Also counts those that are known. */
static uint32_t find_places(struct hotlines *h, struct source *source, uint64_t base,
                            const struct tl_dispatch *d, struct place *place)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < d->n_insts; i++) {
        struct source_frame frame;
        place[i].file = HOT_NONE;
        if (!d->inst[i].text ||
            !source_find(source, base + d->inst[i].offset, &frame, 1))
            continue;
        place[i].file = file_of(h, frame.file);
        place[i].line = frame.line;
        known += place[i].file != HOT_NONE;
    }
    return known;
}

static bool add_row(struct hotlines *h, struct hot_row row)
{
    if ((h->n_rows & (h->n_rows - 1u)) == 0) { /* full: 0, 1, 2, 4 ... */
        size_t room = h->n_rows ? 2 * (size_t)h->n_rows : 1;
        struct hot_row *bigger = realloc(h->row, room * sizeof *bigger);
        if (!bigger)
            return false;
        h->row = bigger;
    }
    h->row[h->n_rows++] = row;
    return true;
}

/* A copy of line n of a text, its tabs as blanks; NULL: there is none. */
static char *copy_line(const char *text, size_t bytes, unsigned n)
{
    const char *p = text, *end = text ? text + bytes : NULL;
    while (p && n > 1 && (p = memchr(p, '\n', (size_t)(end - p)))) {
        p++;
        n--;
    }
    if (!p || p >= end)
        return NULL;
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    size_t length = (size_t)((stop ? stop : end) - p), at = 0;
    char *copy = malloc(TAB * length + 1);
    for (size_t i = 0; copy && i < length; i++)
        if (p[i] != '\t')
            copy[at++] = p[i];
        else
            do
                copy[at++] = ' ';
            while (at % TAB);
    if (copy)
        copy[at] = 0;
    return copy;
}

/* The rows of one file, and which instructions are of them. */
static bool add_file(struct hotlines *h, uint32_t file, const struct place *place)
{
    unsigned first = UINT32_MAX, last = 0;
    for (uint32_t i = 0; i < h->n_insts; i++)
        if (place[i].file == file) {
            first = place[i].line < first ? place[i].line : first;
            last = place[i].line > last ? place[i].line : last;
        }
    if (!last || last - first > 1000000)
        return true;
    void *data = NULL;
    size_t bytes = 0;
    bool good = add_row(h, (struct hot_row){.file = h->file[file]});
    bool there = good && cli_read_file(h->file[file], &data, &bytes) == RD_OK;
    unsigned from = first > AROUND ? first - AROUND : 1;
    uint32_t begin = h->n_rows;
    for (unsigned line = from; good && line <= last + AROUND; line++) {
        char *text = there ? copy_line(data, bytes, line) : NULL;
        if (there && !text && line > last)
            break;
        struct hot_row row = {.file = h->file[file], .line = line, .text = text};
        good = add_row(h, row);
        if (!good)
            free(text);
    }
    for (uint32_t i = 0; good && i < h->n_insts; i++)
        if (place[i].file == file) {
            h->of[i] = begin + place[i].line - from;
            h->row[h->of[i]].code = true;
        }
    free(data);
    return good;
}

static void say(struct tl_error *err, const char *text)
{
    (void)snprintf(err->text, sizeof err->text, "%s", text);
}

static bool make(struct hotlines *h, struct source *source, uint64_t base,
                 const struct tl_dispatch *d, struct tl_error *err)
{
    struct place *place = calloc(d->n_insts + 1u, sizeof *place);
    h->of = malloc((d->n_insts + 1u) * sizeof *h->of);
    h->n_insts = d->n_insts;
    say(err, "out of memory");
    bool good = place && h->of;
    if (good && !find_places(h, source, base, d, place)) {
        say(err, "no source lines of this kernel (-g)");
        good = false;
    }
    for (uint32_t i = 0; good && i < d->n_insts; i++)
        h->of[i] = HOT_NONE;
    for (uint32_t i = 0; good && i < h->n_files; i++)
        good = add_file(h, i, place);
    free(place);
    return good;
}

bool hotlines_make(const void *elf, size_t bytes, const struct timeline *tl,
                   size_t dispatch, struct hotlines *out, struct tl_error *err)
{
    const struct tl_dispatch *d = &tl->dispatch[dispatch];
    struct co_object *co;
    struct co_error error;
    uint64_t base = 0;
    memset(out, 0, sizeof *out);
    if (co_open(elf, bytes, &co, &error) != RD_OK) {
        say(err, error.text);
        return false;
    }
    const struct co_info *info = co_info(co);
    struct source *source = NULL;
    bool good = find_base(co, tl, d, &base);
    say(err, "it has not got this kernel");
    if (good) {
        source = source_open((const uint8_t *)elf + info->elf_offset,
                             (size_t)info->elf_bytes);
        say(err, source_missing() ? source_missing() : "it was compiled without -g");
        good = source && make(out, source, base, d, err);
    }
    source_close(source);
    co_close(co);
    if (!good)
        hotlines_free(out);
    return good;
}

void hotlines_free(struct hotlines *h)
{
    for (uint32_t i = 0; i < h->n_rows; i++)
        free(h->row[i].text);
    for (uint32_t i = 0; i < h->n_files; i++)
        free(h->file[i]);
    free(h->row);
    free(h->file);
    free(h->of);
    memset(h, 0, sizeof *h);
}

/* ---- as text --------------------------------------------------------------------- */

static void print_row(const struct hot_row *r, const struct tl_account *a, double all,
                      FILE *f)
{
    unsigned why = 0;
    if (!r->line) {
        fprintf(f, "%s\n", r->file);
        return;
    }
    if (!r->code) {
        fprintf(f, "%28s%6u  %s\n", "", r->line, r->text ? r->text : "");
        return;
    }
    for (unsigned s = 1; s < TM_STALLS; s++)
        if (a->stall[s] > (why ? a->stall[why] : 0))
            why = s;
    fprintf(f, "%11llu %8llu %5.1f%% %6u  %s", (unsigned long long)a->cycles,
            (unsigned long long)a->times, all > 0 ? 100 * (double)a->cycles / all : 0,
            r->line, r->text ? r->text : "");
    if (why && a->stall[why] >= a->times)
        fprintf(f, "  ; %s %.0f%%", tm_stall_name[why],
                100 * (double)a->stall[why] / (double)a->cycles);
    fputc('\n', f);
}

rd_status hotlines_print(const struct hotlines *h, const struct timeline *tl,
                         size_t dispatch, FILE *f)
{
    struct tl_account *account = tl_accounts(tl, dispatch);
    struct tl_account *sum = calloc(h->n_rows + 1u, sizeof *sum);
    double all = 0, other = 0;
    bool good = account && sum;
    for (uint32_t i = 0; good && i < h->n_insts; i++) {
        struct tl_account *to = h->of[i] == HOT_NONE ? NULL : &sum[h->of[i]];
        all += (double)account[i].cycles;
        other += to ? 0 : (double)account[i].cycles;
        if (!to)
            continue;
        to->cycles += account[i].cycles;
        to->times += account[i].times;
        for (unsigned s = 0; s < TM_STALLS; s++)
            to->stall[s] += account[i].stall[s];
    }
    if (good)
        fputs("wave cycles   issues of all   line  source  ; most waited for\n", f);
    for (uint32_t i = 0; good && i < h->n_rows; i++)
        print_row(&h->row[i], &sum[i], all, f);
    if (good)
        fprintf(f, "%11.0f wave cycles in all, %.0f of no known line\n", all, other);
    free(account);
    free(sum);
    return good ? RD_OK : RD_E_NOMEM;
}
