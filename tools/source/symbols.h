/* symbols.h: lines, functions, variables and types of a code object, by DWARF.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TOOL_SYMBOLS_H
#define RD_TOOL_SYMBOLS_H

#include "source.h"

/* ---- lines and functions ---- */

struct source_line {
    uint64_t va, end;
    const char *file; /* as long as the source */
    unsigned line, column;
    bool statement, prologue_end;
};

/* All lines by address, none of them line 0; empty if there are none. */
const struct source_line *source_lines(struct source *s, size_t *n);
/* The one that holds an address, or NULL. */
const struct source_line *source_line_at(struct source *s, uint64_t va);

struct source_function {
    char name[128];
    uint64_t va, end;
    bool inlined; /* here, into another one; end is not known */
};

/* Functions that have code of their own, and where others are inlined; in no order. */
const struct source_function *source_functions(struct source *s, size_t *n);

/* ---- types ---- */

enum vtype_kind {
    VT_VOID,
    VT_INT,
    VT_UINT,
    VT_BOOL,
    VT_CHAR,
    VT_FLOAT,
    VT_POINTER,
    VT_ARRAY,
    VT_STRUCT, /* and unions, classes */
    VT_ENUM,
    VT_FUNCTION,
    VT_F16X2, /* two halves: not of any language */
    VT_HEX    /* an unsigned number, shown in hexadecimal */
};

/* Where an address points to: enum emu_space, or the flat aperture. */
#define SPACE_FLAT 8u

struct vmember {
    const char *name;
    uint64_t offset;
    const struct vtype *type;
};

struct vtype {
    enum vtype_kind kind;
    uint64_t bytes;
    char name[96];
    const struct vtype *target; /* of pointers, arrays: by vtype_target */
    uint64_t count;             /* of elements */
    unsigned space;             /* that a pointer points to */
    struct vmember *members;    /* by vtype_members */
    unsigned n_members;
    /* symbols.c's */
    bool resolved;
    uint64_t offset; /* of its DIE; 0: built in */
    struct vtype *next;
};

/* What a pointer points to, elements of an array. Never NULL. */
const struct vtype *vtype_target(struct source *s, const struct vtype *t);
/* Members of a structure. */
const struct vmember *vtype_members(struct source *s, const struct vtype *t,
                                    unsigned *n);
/* Pointer to a type, kept with the source's (s may be NULL: then t must be built in).
 * NULL: out of memory. */
const struct vtype *vtype_pointer(struct source *s, const struct vtype *target);

/* ---- variables ---- */

struct source_variable {
    const char *name;
    const struct vtype *type;
    unsigned frame; /* of source_find: 0 is the innermost */
    bool argument, global;
    unsigned line;   /* of its declaration */
    uint64_t offset; /* of its DIE */
    uint64_t scope;  /* of the function's DIE around it; 0: global */
};

/* Variables that are visible at an address, innermost first. Returns how many, at most
 * room. */
unsigned source_variables(struct source *s, uint64_t va, struct source_variable *v,
                          unsigned room);

/* The wave and lane that a location is of. */
struct source_machine {
    void *ctx;
    unsigned lanes; /* 32 or 64 */
    uint64_t bias;  /* to add to addresses of the object */
    bool (*reg)(void *ctx, unsigned sel, uint32_t *out); /* enum isa_sel */
    bool (*read)(void *ctx, unsigned space, uint64_t address, unsigned bytes,
                 void *out);
};

enum vpiece_kind { VPIECE_NONE, VPIECE_MEMORY, VPIECE_REGISTER, VPIECE_VALUE };

#define VPIECES 16u

struct vpiece {
    enum vpiece_kind kind;
    unsigned space, sel; /* memory; register, the first of several */
    uint64_t address;
    uint64_t bytes;
    uint8_t value[16];
};

/* Where a variable is while the wave is at va: pieces in its order. Returns how many;
 * 0: it has no place there, and why says so.
 */
unsigned source_locate(struct source *s, const struct source_variable *v, uint64_t va,
                       const struct source_machine *m, struct vpiece pieces[VPIECES],
                       const char **why);

#endif
