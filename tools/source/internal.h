/* internal.h: what the files of this folder share: libdw, found when it is needed, and
 * what is kept of a code object's DWARF.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TOOL_SOURCE_INTERNAL_H
#define RD_TOOL_SOURCE_INTERNAL_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <libelf.h>

#include "source.h"
#include "symbols.h"

/* X(library, function) */
#define LIBDW_FUNCTIONS(X)                                                             \
    X(elf, elf_version)                                                                \
    X(elf, elf_memory)                                                                 \
    X(elf, elf_end)                                                                    \
    X(dw, dwarf_begin_elf)                                                             \
    X(dw, dwarf_end)                                                                   \
    X(dw, dwarf_nextcu)                                                                \
    X(dw, dwarf_offdie)                                                                \
    X(dw, dwarf_haspc)                                                                 \
    X(dw, dwarf_getsrc_die)                                                            \
    X(dw, dwarf_lineno)                                                                \
    X(dw, dwarf_linecol)                                                               \
    X(dw, dwarf_linesrc)                                                               \
    X(dw, dwarf_lineaddr)                                                              \
    X(dw, dwarf_linebeginstatement)                                                    \
    X(dw, dwarf_lineendsequence)                                                       \
    X(dw, dwarf_lineprologueend)                                                       \
    X(dw, dwarf_getsrclines)                                                           \
    X(dw, dwarf_onesrcline)                                                            \
    X(dw, dwarf_getscopes)                                                             \
    X(dw, dwarf_getscopes_die)                                                         \
    X(dw, dwarf_getsrcfiles)                                                           \
    X(dw, dwarf_filesrc)                                                               \
    X(dw, dwarf_diename)                                                               \
    X(dw, dwarf_tag)                                                                   \
    X(dw, dwarf_attr)                                                                  \
    X(dw, dwarf_attr_integrate)                                                        \
    X(dw, dwarf_formudata)                                                             \
    X(dw, dwarf_formsdata)                                                             \
    X(dw, dwarf_formaddr)                                                              \
    X(dw, dwarf_formref_die)                                                           \
    X(dw, dwarf_child)                                                                 \
    X(dw, dwarf_siblingof)                                                             \
    X(dw, dwarf_dieoffset)                                                             \
    X(dw, dwarf_lowpc)                                                                 \
    X(dw, dwarf_entrypc)                                                               \
    X(dw, dwarf_ranges)                                                                \
    X(dw, dwarf_highpc)                                                                \
    X(dw, dwarf_getlocation_addr)                                                      \
    X(dw, dwarf_getlocation_attr)                                                      \
    X(dw, dwarf_getlocation_implicit_value)

struct libdw {
#define X(library, f) __typeof__(f) *f;
    LIBDW_FUNCTIONS(X)
#undef X
};

/* NULL: it is not installed. */
const struct libdw *libdw(void);

struct source {
    char *image;
    Elf *elf;
    Dwarf *dwarf;
    struct source_line *lines; /* by address; NULL: not read yet */
    size_t n_lines;
    struct source_function *functions;
    size_t n_functions;
    bool read_lines, read_functions;
    struct vtype *types; /* a list */
    unsigned n_types;
};

/* symbols.c, types.c: free what they keep. */
void source_forget(struct source *s);
void source_forget_types(struct source *s);

/* The compilation unit of an address. */
bool source_unit(struct source *s, uint64_t va, Dwarf_Die *out);
bool source_is_function(Dwarf_Die *die);
/* The type that DW_AT_type of a DIE names; void if it has none; never NULL but when out
 * of memory. */
const struct vtype *source_type_of(struct source *s, Dwarf_Die *die);

#endif
