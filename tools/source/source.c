/* source.c: source lines and inlined calls of an address, by elfutils' libdw.
 *
 * The library is looked for when it is needed: nothing else of the program waits for it
 * to load, and without it findings are told with disassembly alone. Must not know
 * findings. SPDX-License-Identifier: MIT
 */
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef RDNA3_HAVE_LIBDW

#include "internal.h"

const char *source_missing(void)
{
    return libdw() ? NULL : "libdw.so.1 (elfutils) is not installed";
}

struct source *source_open(const void *data, size_t bytes)
{
    if (!libdw())
        return NULL;
    struct source *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->image = malloc(bytes);
    if (s->image) {
        memcpy(s->image, data, bytes);
        s->elf = libdw()->elf_memory(s->image, bytes);
    }
    if (s->elf)
        s->dwarf = libdw()->dwarf_begin_elf(s->elf, DWARF_C_READ, NULL);
    if (s->dwarf)
        return s;
    source_close(s);
    return NULL;
}

void source_close(struct source *s)
{
    if (!s)
        return;
    if (s->dwarf)
        libdw()->dwarf_end(s->dwarf);
    if (s->elf)
        libdw()->elf_end(s->elf);
    source_forget(s);
    free(s->image);
    free(s);
}

/* The compilation unit of an address, among all: objects need no table of addresses. */
bool source_unit(struct source *s, uint64_t va, Dwarf_Die *out)
{
    Dwarf_Off at = 0, next;
    size_t header;
    while (libdw()->dwarf_nextcu(s->dwarf, at, &next, &header, NULL, NULL, NULL) == 0) {
        if (libdw()->dwarf_offdie(s->dwarf, at + header, out) &&
            libdw()->dwarf_haspc(out, va) == 1)
            return true;
        at = next;
    }
    return false;
}

static void copy(char *to, size_t size, const char *from)
{
    (void)snprintf(to, size, "%s", from ? from : "");
}

static unsigned number(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attr;
    Dwarf_Word value;
    if (!libdw()->dwarf_attr(die, name, &attr) ||
        libdw()->dwarf_formudata(&attr, &value) != 0)
        return 0;
    return value > 0x7fffffff ? 0 : (unsigned)value;
}

static void line_of(Dwarf_Die *unit, uint64_t va, struct source_frame *f)
{
    Dwarf_Line *line = libdw()->dwarf_getsrc_die(unit, va);
    int n = 0;
    if (!line)
        return;
    copy(f->file, sizeof f->file, libdw()->dwarf_linesrc(line, NULL, NULL));
    f->line = libdw()->dwarf_lineno(line, &n) == 0 && n > 0 ? (unsigned)n : 0;
    f->column = libdw()->dwarf_linecol(line, &n) == 0 && n > 0 ? (unsigned)n : 0;
}

/* Where an inlined subroutine was called. */
static void call_of(Dwarf_Die *unit, Dwarf_Die *scope, struct source_frame *f)
{
    Dwarf_Files *files;
    size_t n;
    unsigned file = number(scope, DW_AT_call_file);
    if (libdw()->dwarf_getsrcfiles(unit, &files, &n) == 0 && file < n)
        copy(f->file, sizeof f->file, libdw()->dwarf_filesrc(files, file, NULL, NULL));
    f->line = number(scope, DW_AT_call_line);
    f->column = number(scope, DW_AT_call_column);
}

bool source_is_function(Dwarf_Die *die)
{
    int tag = libdw()->dwarf_tag(die);
    return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
           tag == DW_TAG_entry_point;
}

/* The innermost function around va, inlined or not. */
static bool find_function(Dwarf_Die *unit, uint64_t va, Dwarf_Die *out)
{
    Dwarf_Die *scopes = NULL;
    bool found = false;
    int n = libdw()->dwarf_getscopes(unit, va, &scopes);
    for (int i = 0; i < n && !found; i++) {
        found = source_is_function(&scopes[i]);
        if (found)
            *out = scopes[i];
    }
    free(scopes);
    return found;
}

unsigned source_find(struct source *s, uint64_t va, struct source_frame *frames,
                     unsigned room)
{
    Dwarf_Die unit, function, *scopes = NULL;
    if (!s || !room || !source_unit(s, va, &unit))
        return 0;
    memset(frames, 0, room * sizeof *frames);
    line_of(&unit, va, &frames[0]);
    unsigned used = 1;
    if (find_function(&unit, va, &function)) {
        int n = libdw()->dwarf_getscopes_die(&function, &scopes);
        copy(frames[0].function, sizeof frames[0].function,
             libdw()->dwarf_diename(&function));
        for (int i = 0; i < n && used < room; i++) {
            if (libdw()->dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
                continue;
            int outer = i + 1;
            while (outer < n && !source_is_function(&scopes[outer]))
                outer++;
            call_of(&unit, &scopes[i], &frames[used]);
            if (outer < n)
                copy(frames[used].function, sizeof frames[used].function,
                     libdw()->dwarf_diename(&scopes[outer]));
            used++;
        }
        free(scopes);
    }
    return frames[0].line ? used : 0;
}

#else

const char *source_missing(void)
{
    return "built without libdw (elfutils)";
}

struct source *source_open(const void *data, size_t bytes)
{
    (void)data;
    (void)bytes;
    return NULL;
}

void source_close(struct source *s)
{
    (void)s;
}

unsigned source_find(struct source *s, uint64_t va, struct source_frame *frames,
                     unsigned room)
{
    (void)s;
    (void)va;
    (void)frames;
    (void)room;
    return 0;
}

#endif
