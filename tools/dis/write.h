/* write.h: what the writers of a source file share: where it goes, what it is made of.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DIS_WRITE_H
#define RD_DIS_WRITE_H

#include <stdio.h>

#include "dis.h"
#include "object.h"

struct source;

/* What the user wants. */
struct dis_wish {
    unsigned wave; /* 0: each kernel's own */
    unsigned print;
    bool lines;  /* -l: say where code comes from */
    bool source; /* --source: and what stands there */
    bool json;
};

struct dis_writer {
    struct dis_object *o;
    const struct dis_wish *wish;
    unsigned lost;           /* relocations that could not be written */
    uint32_t next_symbol[2]; /* to be named: of global ones, of local ones */
    size_t expression_bytes; /* room for the longest name and what surrounds it */
    char *expression;        /* owned */
};

/* ---- text.c ---- */

/* A symbol's name as the assembler reads it, in quotes if it needs them. */
void dis_put_name(FILE *out, const char *name);

/* The expression for a relocation of a section: what .long, .quad or an operand has to
 * say. NULL if it cannot be said there.
 *
 * data  it stands in a data directive
 * Returns w->expression. */
const char *dis_expression(struct dis_writer *w, const struct dis_section *s,
                           const struct dis_reloc *r, bool data);

/* Is there a section at an address of a loadable file? */
bool dis_place_known(const struct dis_object *o, uint64_t addr);

/* Part a relocatable file's relocations: those that no operand or word of the section
 * makes, or whose place holds other bytes, become s->odd. False: out of memory. */
bool dis_part_relocs(struct dis_writer *w, struct dis_section *s, bool code);

/* Write what is odd and stands in the file's table before so many others. */
void dis_put_odd(struct dis_writer *w, struct dis_section *s, uint32_t order);

/* The first relocation of a section at or behind an offset; n_relocs if there is none.
 */
uint32_t dis_reloc_at(const struct dis_section *s, uint64_t offset);

/* The offset of the first symbol behind an offset; the section's size without one. */
uint64_t dis_next_symbol(const struct dis_object *o, const struct dis_section *s,
                         uint64_t offset);

/* Labels of the symbols at an offset of a section. */
void dis_put_labels(const struct dis_writer *w, const struct dis_section *s,
                    uint64_t offset);

/* Definitions of the symbols inside of what was just written. */
void dis_put_inside(const struct dis_writer *w, const struct dis_section *s,
                    uint64_t from, uint64_t to);

/* ---- head.c ---- */

/* Target, version, and every symbol with its attributes, in the file's order. */
void dis_put_head(struct dis_writer *w);

/* The directive that enters a section. Sections before it are named first. */
void dis_put_section(struct dis_writer *w, uint32_t section);

/* ---- data.c ---- */

/* The contents of a section without code. */
void dis_put_data(struct dis_writer *w, struct dis_section *s);

/* ---- pairs.c ---- */

/* Add relocations for what code of a loadable file counts from its own address. False:
 * out of memory. */
bool dis_find_pairs(struct dis_writer *w, struct dis_section *s);

/* ---- meta.c ---- */

/* A section of notes as .amdgpu_metadata or .amdgpu_pal_metadata. False if that would
 * not give these bytes; nothing is written then. */
bool dis_put_metadata(const struct dis_section *s);

#endif
