/* symbols.c: lines, functions and variables, by DWARF.
 *
 * Must not know waves. Invariant: DWARF may hold anything: nothing here trusts a count,
 * follows a chain without end or reads what libdw did not hand out.
 * SPDX-License-Identifier: MIT
 */
#include "symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef RDNA3_HAVE_LIBDW

#include "internal.h"

#define MAX_LINES     4000000u
#define MAX_FUNCTIONS 100000u
#define MAX_DEPTH     24u

void source_forget(struct source *s)
{
    free(s->lines);
    free(s->functions);
    source_forget_types(s);
}

/* ---- lines ---- */

static int by_address(const void *a, const void *b)
{
    const struct source_line *x = a, *y = b;
    return x->va != y->va ? (x->va < y->va ? -1 : 1) : 0;
}

/* Room for one more of an array that grows. */
static void *grown(void *array, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return array;
    size_t more = *room ? 2 * *room : 256;
    void *bigger = realloc(array, more * size);
    if (bigger)
        *room = more;
    return bigger;
}

/* Lines of a unit, each until the next one's address. */
static void add_lines(struct source *s, Dwarf_Die *unit, size_t *room)
{
    Dwarf_Lines *lines;
    size_t n;
    if (libdw()->dwarf_getsrclines(unit, &lines, &n) != 0)
        return;
    for (size_t i = 0; i + 1 < n && s->n_lines < MAX_LINES; i++) {
        Dwarf_Line *l = libdw()->dwarf_onesrcline(lines, i);
        Dwarf_Line *after = libdw()->dwarf_onesrcline(lines, i + 1);
        Dwarf_Addr va, end;
        int line = 0, column = 0;
        bool last = false, statement = false, prologue = false;
        if (!l || !after || libdw()->dwarf_lineaddr(l, &va) != 0 ||
            libdw()->dwarf_lineaddr(after, &end) != 0 ||
            libdw()->dwarf_lineendsequence(l, &last) != 0 || last || end <= va ||
            libdw()->dwarf_lineno(l, &line) != 0 || line <= 0)
            continue;
        (void)libdw()->dwarf_linecol(l, &column);
        (void)libdw()->dwarf_linebeginstatement(l, &statement);
        (void)libdw()->dwarf_lineprologueend(l, &prologue);
        const char *file = libdw()->dwarf_linesrc(l, NULL, NULL);
        struct source_line *to = grown(s->lines, s->n_lines, room, sizeof *to);
        if (!to)
            return;
        s->lines = to;
        to[s->n_lines++] = (struct source_line){va,
                                                end,
                                                file ? file : "",
                                                (unsigned)line,
                                                column > 0 ? (unsigned)column : 0,
                                                statement,
                                                prologue};
    }
}

/* f for each compilation unit. */
static void each_unit(struct source *s,
                      void (*f)(struct source *, Dwarf_Die *, size_t *))
{
    Dwarf_Off at = 0, next;
    size_t header, room = 0;
    while (libdw()->dwarf_nextcu(s->dwarf, at, &next, &header, NULL, NULL, NULL) == 0) {
        Dwarf_Die unit;
        if (libdw()->dwarf_offdie(s->dwarf, at + header, &unit))
            f(s, &unit, &room);
        at = next;
    }
}

const struct source_line *source_lines(struct source *s, size_t *n)
{
    *n = 0;
    if (!s)
        return NULL;
    if (!s->read_lines) {
        s->read_lines = true;
        each_unit(s, add_lines);
        if (s->n_lines)
            qsort(s->lines, s->n_lines, sizeof *s->lines, by_address);
    }
    *n = s->n_lines;
    return s->lines;
}

const struct source_line *source_line_at(struct source *s, uint64_t va)
{
    size_t n, low = 0;
    const struct source_line *l = source_lines(s, &n);
    size_t high = n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (l[mid].va <= va)
            low = mid + 1;
        else
            high = mid;
    }
    return low && va < l[low - 1].end ? &l[low - 1] : NULL;
}

/* ---- functions ---- */

/* Where code of a function or of what is inlined begins, and (a function's) ends. */
static bool extent(Dwarf_Die *die, bool inlined, Dwarf_Addr *low, Dwarf_Addr *high)
{
    Dwarf_Addr base;
    *high = 0;
    if (!inlined)
        return libdw()->dwarf_lowpc(die, low) == 0 &&
               libdw()->dwarf_highpc(die, high) == 0;
    return libdw()->dwarf_entrypc(die, low) == 0 ||
           libdw()->dwarf_ranges(die, 0, &base, low, high) > 0;
}

static bool add_function(struct source *s, Dwarf_Die *die, bool inlined, size_t *room)
{
    Dwarf_Addr low, high;
    const char *name = libdw()->dwarf_diename(die);
    if (!name || !extent(die, inlined, &low, &high))
        return true;
    struct source_function *to = grown(s->functions, s->n_functions, room, sizeof *to);
    if (!to || s->n_functions >= MAX_FUNCTIONS)
        return false;
    s->functions = to;
    to += s->n_functions++;
    to->va = low;
    to->end = inlined ? low : high;
    to->inlined = inlined;
    (void)snprintf(to->name, sizeof to->name, "%s", name);
    return true;
}

static void add_functions_of(struct source *s, Dwarf_Die *parent, size_t *room,
                             unsigned depth)
{
    Dwarf_Die die;
    if (depth > MAX_DEPTH || libdw()->dwarf_child(parent, &die) != 0)
        return;
    unsigned long count = 0;
    do {
        int tag = libdw()->dwarf_tag(&die);
        bool inlined = tag == DW_TAG_inlined_subroutine;
        if ((inlined || tag == DW_TAG_subprogram) &&
            !add_function(s, &die, inlined, room))
            return;
        if (inlined || tag == DW_TAG_namespace || tag == DW_TAG_subprogram ||
            tag == DW_TAG_lexical_block)
            add_functions_of(s, &die, room, depth + 1);
    } while (libdw()->dwarf_siblingof(&die, &die) == 0 && ++count < 1000000);
}

static void add_functions(struct source *s, Dwarf_Die *unit, size_t *room)
{
    add_functions_of(s, unit, room, 0);
}

const struct source_function *source_functions(struct source *s, size_t *n)
{
    *n = 0;
    if (!s)
        return NULL;
    if (!s->read_functions) {
        s->read_functions = true;
        each_unit(s, add_functions);
    }
    *n = s->n_functions;
    return s->functions;
}

/* ---- variables ---- */

struct listing {
    struct source *s;
    struct source_variable *v;
    unsigned n, room;
};

static unsigned number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attr;
    Dwarf_Word value = 0;
    if (!libdw()->dwarf_attr_integrate(die, name, &attr) ||
        libdw()->dwarf_formudata(&attr, &value) != 0 || value > 0x7fffffff)
        return 0;
    return (unsigned)value;
}

/* Variables that are children of a scope. */
static void add_variables(struct listing *l, Dwarf_Die *scope, unsigned frame,
                          bool global, uint64_t function)
{
    Dwarf_Die die;
    unsigned long count = 0;
    if (libdw()->dwarf_child(scope, &die) != 0)
        return;
    do {
        int tag = libdw()->dwarf_tag(&die);
        const char *name = libdw()->dwarf_diename(&die);
        if ((tag != DW_TAG_variable && tag != DW_TAG_formal_parameter) || !name)
            continue;
        if (l->n == l->room)
            return;
        l->v[l->n++] = (struct source_variable){
            .name = name,
            .type = source_type_of(l->s, &die),
            .frame = frame,
            .argument = tag == DW_TAG_formal_parameter,
            .global = global,
            .line = number_of(&die, DW_AT_decl_line),
            .offset = libdw()->dwarf_dieoffset(&die),
            .scope = function,
        };
        if (!l->v[l->n - 1].type)
            l->n--;
    } while (libdw()->dwarf_siblingof(&die, &die) == 0 && ++count < 100000);
}

/* The function around scope i of n, whose frame base counts. */
static uint64_t function_around(Dwarf_Die *scopes, int n, int i)
{
    for (; i < n; i++)
        if (libdw()->dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
            return libdw()->dwarf_dieoffset(&scopes[i]);
    return 0;
}

unsigned source_variables(struct source *s, uint64_t va, struct source_variable *v,
                          unsigned room)
{
    Dwarf_Die unit, *scopes = NULL, innermost, *chain = NULL;
    struct listing l = {s, v, 0, room};
    unsigned frame = 0;
    if (!s || !source_unit(s, va, &unit))
        return 0;
    int n = libdw()->dwarf_getscopes(&unit, va, &scopes);
    if (n > 0) {
        /* Scopes by address go on to the abstract function outside of an inlined one;
           those of the DIE are the ones that enclose it in the code. */
        innermost = scopes[0];
        n = libdw()->dwarf_getscopes_die(&innermost, &chain);
    }
    for (int i = 0; i < n; i++) {
        int tag = libdw()->dwarf_tag(&chain[i]);
        bool global = tag == DW_TAG_compile_unit;
        add_variables(&l, &chain[i], frame, global,
                      global ? 0 : function_around(chain, n, i));
        frame += tag == DW_TAG_inlined_subroutine;
    }
    free(chain);
    free(scopes);
    return l.n;
}

#else

const struct source_line *source_lines(struct source *s, size_t *n)
{
    (void)s;
    *n = 0;
    return NULL;
}

const struct source_line *source_line_at(struct source *s, uint64_t va)
{
    (void)s;
    (void)va;
    return NULL;
}

const struct source_function *source_functions(struct source *s, size_t *n)
{
    (void)s;
    *n = 0;
    return NULL;
}

unsigned source_variables(struct source *s, uint64_t va, struct source_variable *v,
                          unsigned room)
{
    (void)s;
    (void)va;
    (void)v;
    (void)room;
    return 0;
}

unsigned source_locate(struct source *s, const struct source_variable *v, uint64_t va,
                       const struct source_machine *m, struct vpiece pieces[VPIECES],
                       const char **why)
{
    (void)s;
    (void)v;
    (void)va;
    (void)m;
    (void)pieces;
    *why = source_missing();
    return 0;
}

#endif
