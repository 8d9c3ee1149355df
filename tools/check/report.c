/* report.c: from the records of checkers to lists with source lines, files and an exit
 * status.
 *
 * Must not know a form of output. SPDX-License-Identifier: MIT
 */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "codeobj.h"
#include "found.h"

void found_classes(unsigned classes, char *text, size_t size)
{
    size_t n = 0;
    *text = '\0';
    for (unsigned c = 0; c < CK_CLASSES; c++) {
        if (!(classes & CK_BIT(c)))
            continue;
        int k = snprintf(text + n, size - n, "%s%s", n ? ", " : "", ck_class_name(c));
        n += k > 0 ? (size_t)k : 0;
        if (n >= size)
            return;
    }
}

void found_actor(const struct ck_actor *a, char *text, size_t size)
{
    char lanes[160];
    int k = snprintf(text, size, "workgroup (%u,%u,%u) wave %u", a->workgroup[0],
                     a->workgroup[1], a->workgroup[2], a->wave);
    if (!a->lanes || k < 0 || (size_t)k >= size)
        return;
    cli_lanes(a->lanes, lanes, sizeof lanes);
    (void)snprintf(text + k, size - (size_t)k, " lane%s %s",
                   a->lanes & (a->lanes - 1) ? "s" : "", lanes);
}

void found_summary(const struct found_list *l, char *text, size_t size)
{
    char classes[64], seen[64] = "", suppressed[64] = "", notes[64] = "";
    char beside[64] = "", seed[40] = "";
    const struct ck_table *t = l->table;
    found_classes(atomic_load(&t->classes), classes, sizeof classes);
    if (l->times > l->errors)
        (void)snprintf(seen, sizeof seen, ", seen %" PRIu64 " times,", l->times);
    if (l->suppressed)
        (void)snprintf(suppressed, sizeof suppressed, "; %u suppressed", l->suppressed);
    if (l->notes)
        (void)snprintf(notes, sizeof notes, "; %u note%s", l->notes,
                       l->notes == 1 ? "" : "s");
    unsigned long long kernels = atomic_load(&t->dispatches);
    unsigned long long unseen = atomic_load(&t->beside);
    if (unseen)
        (void)snprintf(beside, sizeof beside,
                       "; %llu kernel%s ran unchecked beside them", unseen,
                       unseen == 1 ? "" : "s");
    if (t->seed)
        (void)snprintf(seed, sizeof seed, " with --seed %" PRIu64, t->seed);
    (void)snprintf(
        text, size,
        "%u error%s%s in %llu accesses of %llu kernel%s checked for %s%s%s%s%s",
        l->errors, l->errors == 1 ? "" : "s", seen, atomic_load(&t->accesses), kernels,
        kernels == 1 ? "" : "s", classes, seed, beside, notes, suppressed);
}

/* ---- places ---- */

/* Do the bytes around the PC lie in the file where the image has them? */
static bool has_code(const struct checks_object *o, const struct ck_actor *a,
                     uint64_t image)
{
    uint64_t va = a->window_pc - image;
    const Elf64_Ehdr *e = o->data;
    if (!a->window_bytes || o->bytes < sizeof *e ||
        memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 ||
        e->e_phentsize != sizeof(Elf64_Phdr) || e->e_phoff > o->bytes ||
        (o->bytes - e->e_phoff) / sizeof(Elf64_Phdr) < e->e_phnum)
        return false;
    for (unsigned i = 0; i < e->e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, (const char *)o->data + e->e_phoff + i * sizeof p, sizeof p);
        uint64_t at = va - p.p_vaddr;
        if (p.p_type == PT_LOAD && va >= p.p_vaddr && p.p_filesz >= at &&
            p.p_filesz - at >= a->window_bytes && p.p_offset <= o->bytes &&
            o->bytes - p.p_offset >= p.p_filesz)
            return memcmp((const char *)o->data + p.p_offset + at, a->window,
                          a->window_bytes) == 0;
    }
    return false;
}

/* The object that lies at the image, or, where it is not known which one
 * does, one with the same code. */
static const struct checks_object *object_of(const struct checks_object *objects,
                                             unsigned n, const struct ck_actor *a,
                                             uint64_t image)
{
    for (unsigned i = 0; i < n && image; i++)
        if (objects[i].image ? objects[i].image == image
                             : has_code(&objects[i], a, image))
            return &objects[i];
    return NULL;
}

static void place(uint64_t image, const struct ck_actor *a,
                  const struct checks_object *o, struct source *s,
                  struct found_place *p)
{
    p->actor = a;
    p->object = o;
    p->offset = a->pc - image;
    if (o && a->pc)
        p->n_frames = source_find(s, p->offset, p->frame, SOURCE_FRAMES);
}

/* The program's part: who made and freed what it is about. What no kernel has done is
 * at the call, or where the memory was made. */
static void place_host(struct host_modules *m, struct found *to)
{
    const struct ck_finding *f = to->f;
    host_trace(m, &f->made, &to->made);
    host_trace(m, &f->freed, &to->freed);
    if (f->at.pc)
        return;
    struct found_trace at;
    host_trace(m, *f->host.call ? &f->host : &f->made, &at);
    to->at.n_frames = at.n < SOURCE_FRAMES ? at.n : SOURCE_FRAMES;
    memcpy(to->at.frame, at.frame, to->at.n_frames * sizeof *at.frame);
}

/* Of an offload bundle, the code object. */
static struct checks_object unpacked(const struct checks_object *o)
{
    struct checks_object inner = *o;
    struct co_object *object;
    if (o->data && co_open(o->data, o->bytes, &object, NULL) == RD_OK) {
        inner.data = (const char *)o->data + co_info(object)->elf_offset;
        inner.bytes = co_info(object)->elf_bytes;
        co_close(object);
    }
    return inner;
}

/* The object whose lines were looked at last. */
struct opened {
    const struct checks_object *object;
    struct source *source;
};

static struct source *source_of(struct opened *last, const struct checks_object *o)
{
    if (o && o != last->object) {
        source_close(last->source);
        struct checks_object elf = unpacked(o);
        last->source = source_open(elf.data, elf.bytes);
        last->object = o;
    }
    return last->source;
}

static void fill(struct found_list *l, struct host_modules *hosts,
                 struct checks_suppressions *s, const struct checks_object *objects,
                 unsigned n_objects)
{
    struct opened opened = {NULL, NULL};
    unsigned n = atomic_load(&l->table->n);
    for (unsigned i = 0; i < n && i < CK_MAX_FINDINGS; i++) {
        const struct ck_finding *f = &l->table->v[i];
        struct found *to = &l->v[l->n];
        to->count = atomic_load(&f->count);
        if (!to->count)
            continue;
        l->n++;
        to->f = f;
        const struct checks_object *o = object_of(objects, n_objects, &f->at, f->image);
        uint64_t image = f->image ? f->image : f->entry;
        place(image, &f->at, o, source_of(&opened, o), &to->at);
        if (f->other_image && f->other_image != f->image) {
            o = object_of(objects, n_objects, &f->other, f->other_image);
            image = f->other_image;
        }
        place(image, &f->other, o, source_of(&opened, o), &to->other);
        place_host(hosts, to);
        to->suppressed = suppress_takes(s, to);
        l->suppressed += to->suppressed;
        if (to->suppressed)
            continue;
        l->notes += f->benign;
        l->errors += !f->benign;
        l->times += f->benign ? 0 : to->count;
    }
    source_close(opened.source);
}

/* ---- files ---- */

static int write_file(const struct found_list *l, const char *option, const char *path,
                      void (*write)(const struct found_list *l, FILE *out))
{
    if (!path)
        return CLI_OK;
    struct cli_output file;
    bool to_stdout = strcmp(path, "-") == 0;
    FILE *out = to_stdout ? stdout : cli_output_begin(&file, path);
    if (out)
        write(l, out);
    bool ok = to_stdout ? out && fflush(out) == 0 && !ferror(out)
                        : cli_output_end(&file, true) == RD_OK;
    return ok ? CLI_OK
              : cli_error(CLI_FAILED, "--%s %s: %s", option, path, strerror(errno));
}

static void write_suppressions(const struct found_list *l, FILE *out)
{
    for (unsigned i = 0; i < l->n; i++)
        if (!l->v[i].suppressed)
            suppress_write(&l->v[i], out);
}

static int write_files(const struct checks_options *o, const struct found_list *l)
{
    int status = write_file(l, "json", o->json, found_json);
    int next = write_file(l, "xml", o->xml, found_xml);
    status = status == CLI_OK ? next : status;
    next = write_file(l, "sarif", o->sarif, found_sarif);
    status = status == CLI_OK ? next : status;
    next = write_file(l, "gen-suppressions", o->gen_suppressions, write_suppressions);
    return status == CLI_OK ? next : status;
}

int checks_report(const struct checks_options *o, struct checks_suppressions *s,
                  const struct ck_table *table, const struct checks_object *objects,
                  unsigned n_objects, int status)
{
    struct found_list l = {.table = table};
    char text[512];
    l.v = calloc(CK_MAX_FINDINGS, sizeof *l.v);
    if (!l.v)
        return cli_error(CLI_FAILED, "out of memory");
    struct host_modules *hosts = host_open(table, o->root);
    if (!hosts) {
        free(l.v);
        return cli_error(CLI_FAILED, "out of memory");
    }
    fill(&l, hosts, s, objects, n_objects);
    host_close(hosts);
    bool color = cli_color();
    found_print(&l, stderr, color);
    suppress_unused(s);
    if (atomic_load(&table->lost))
        (void)fprintf(stderr, "%llu more kinds of finding had no room\n",
                      atomic_load(&table->lost));
    int written = write_files(o, &l);
    if (atomic_load(&table->left) && !o->leaks)
        (void)fprintf(stderr,
                      "%llu of the program's %llu allocations (%llu bytes) were not "
                      "freed; --leak-check says which\n",
                      atomic_load(&table->left), atomic_load(&table->made),
                      atomic_load(&table->left_bytes));
    found_summary(&l, text, sizeof text);
    (void)fprintf(stderr, "%s\n", text);
    if (l.errors)
        status = o->error_exit;
    else if (status == CLI_OK)
        status = written;
    free(l.v);
    return status;
}
