/* host.c: where a program was when it called a runtime: source lines by DWARF, else the
 * function by the module's symbols, else an offset.
 *
 * Must not know findings. The modules are files that the program has loaded: nothing in
 * them is trusted. SPDX-License-Identifier: MIT
 */
#include <elf.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "found.h"

struct host_modules {
    const struct ck_table *table;
    const char *root;
    struct module {
        bool tried;
        void *data; /* NULL: not to be read */
        size_t bytes;
        struct source *source;
    } v[CK_MODULES];
};

struct host_modules *host_open(const struct ck_table *table, const char *root)
{
    struct host_modules *m = calloc(1, sizeof *m);
    if (m)
        *m = (struct host_modules){.table = table, .root = root};
    return m;
}

void host_close(struct host_modules *m)
{
    for (unsigned i = 0; m && i < CK_MODULES; i++) {
        source_close(m->v[i].source);
        free(m->v[i].data);
    }
    free(m);
}

static const char *path_of(const struct host_modules *m, uint64_t number)
{
    return number && number <= CK_MODULES ? m->table->module[number - 1].path : "";
}

static struct module *module_of(struct host_modules *m, uint64_t number)
{
    char path[PATH_MAX];
    const char *name = path_of(m, number);
    if (!*name)
        return NULL;
    struct module *v = &m->v[number - 1];
    if (v->tried)
        return v;
    v->tried = true;
    (void)snprintf(path, sizeof path, "%s%s", m->root ? m->root : "", name);
    if (cli_read_file(path, &v->data, &v->bytes) != RD_OK)
        v->data = NULL;
    else
        v->source = source_open(v->data, v->bytes);
    return v;
}

/* A table of the file, or NULL if it leaves it. */
static const void *table_at(const struct module *v, uint64_t offset, uint64_t bytes)
{
    return offset <= v->bytes && bytes <= v->bytes - offset
               ? (const char *)v->data + offset
               : NULL;
}

static bool section_at(const struct module *v, const Elf64_Ehdr *e, unsigned i,
                       Elf64_Shdr *s)
{
    const void *at = i < e->e_shnum && e->e_shoff < v->bytes
                         ? table_at(v, e->e_shoff + (uint64_t)i * sizeof *s, sizeof *s)
                         : NULL;
    if (at)
        memcpy(s, at, sizeof *s);
    return at != NULL;
}

/* The function around an address among the symbols of a section. */
static bool symbol_in(const struct module *v, const Elf64_Shdr *symbols,
                      const Elf64_Shdr *names, uint64_t at, char *out, size_t size)
{
    const char *list = table_at(v, symbols->sh_offset, symbols->sh_size);
    const char *text = table_at(v, names->sh_offset, names->sh_size);
    for (uint64_t i = 0; list && text && i < symbols->sh_size / sizeof(Elf64_Sym);
         i++) {
        Elf64_Sym s;
        memcpy(&s, list + i * sizeof s, sizeof s);
        if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || at - s.st_value >= s.st_size ||
            s.st_name >= names->sh_size)
            continue;
        (void)snprintf(out, size, "%.*s",
                       (int)strnlen(text + s.st_name, names->sh_size - s.st_name),
                       text + s.st_name);
        return true;
    }
    return false;
}

static bool find_symbol(const struct module *v, uint64_t at, char *out, size_t size)
{
    Elf64_Ehdr e;
    Elf64_Shdr symbols, names;
    if (!v || !v->data || v->bytes < sizeof e)
        return false;
    memcpy(&e, v->data, sizeof e);
    if (memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_ident[EI_CLASS] != ELFCLASS64 ||
        e.e_shentsize != sizeof(Elf64_Shdr))
        return false;
    for (unsigned i = 0; section_at(v, &e, i, &symbols); i++)
        if ((symbols.sh_type == SHT_SYMTAB || symbols.sh_type == SHT_DYNSYM) &&
            section_at(v, &e, symbols.sh_link, &names) &&
            symbol_in(v, &symbols, &names, at, out, size))
            return true;
    return false;
}

void host_trace(struct host_modules *m, const struct ck_trace *t,
                struct found_trace *out)
{
    out->call = t->call;
    out->n = 0;
    for (unsigned i = 0; i < t->n && i < CK_TRACE && out->n < FOUND_TRACE; i++) {
        struct module *v = module_of(m, t->frame[i].module);
        struct source_frame *to = &out->frame[out->n];
        unsigned room = FOUND_TRACE - out->n;
        unsigned n = source_find(v ? v->source : NULL, t->frame[i].at, to, room);
        if (!n) {
            memset(to, 0, sizeof *to);
            (void)snprintf(to->file, sizeof to->file, "%s+0x%" PRIx64,
                           path_of(m, t->frame[i].module), t->frame[i].at);
            (void)find_symbol(v, t->frame[i].at, to->function, sizeof to->function);
            n = 1;
        }
        out->n += n;
        if (strcmp(out->frame[out->n - 1].function, "main") == 0)
            return; /* what starts programs says nothing */
    }
}
