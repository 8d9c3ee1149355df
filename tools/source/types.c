/* types.c: types of variables, by DWARF.
 *
 * Built as far as they are asked for: what a pointer points to and what a structure has
 * inside are looked up later, so that types may hold themselves.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "symbols.h"

static const struct vtype void_type = {
    .kind = VT_VOID, .name = "void", .resolved = true};

#ifdef RDNA3_HAVE_LIBDW

#include "internal.h"

#define MAX_TYPES   100000u
#define MAX_MEMBERS 4096u

void source_forget_types(struct source *s)
{
    while (s->types) {
        struct vtype *t = s->types;
        s->types = t->next;
        free(t->members);
        free(t);
    }
}

static struct vtype *new_type(struct source *s)
{
    struct vtype *t = s->n_types < MAX_TYPES ? calloc(1, sizeof *t) : NULL;
    if (!t)
        return NULL;
    s->n_types++;
    t->next = s->types;
    s->types = t;
    return t;
}

static bool number(Dwarf_Die *die, unsigned name, uint64_t *out)
{
    Dwarf_Attribute attr;
    Dwarf_Word value;
    if (!libdw()->dwarf_attr_integrate(die, name, &attr) ||
        libdw()->dwarf_formudata(&attr, &value) != 0)
        return false;
    *out = value;
    return true;
}

/* The DIE that DW_AT_type names, without qualifiers and names for it. */
static bool peel(Dwarf_Die *die, Dwarf_Die *out, char *name, size_t size)
{
    Dwarf_Die at = *die;
    for (unsigned i = 0; i < 32; i++) {
        Dwarf_Attribute attr;
        if (!libdw()->dwarf_attr_integrate(&at, DW_AT_type, &attr) ||
            !libdw()->dwarf_formref_die(&attr, out))
            return false;
        int tag = libdw()->dwarf_tag(out);
        if (tag != DW_TAG_typedef && tag != DW_TAG_const_type &&
            tag != DW_TAG_volatile_type && tag != DW_TAG_restrict_type &&
            tag != DW_TAG_atomic_type)
            return true;
        const char *text = libdw()->dwarf_diename(out);
        if (tag == DW_TAG_typedef && text && !*name)
            (void)snprintf(name, size, "%s", text);
        at = *out;
    }
    return false;
}

static enum vtype_kind base_kind(Dwarf_Die *die)
{
    uint64_t encoding = 0;
    (void)number(die, DW_AT_encoding, &encoding);
    switch (encoding) {
    case DW_ATE_float:
        return VT_FLOAT;
    case DW_ATE_boolean:
        return VT_BOOL;
    case DW_ATE_signed_char:
    case DW_ATE_unsigned_char:
        return VT_CHAR;
    case DW_ATE_signed:
        return VT_INT;
    default:
        return VT_UINT;
    }
}

/* DWARF's address spaces of AMDGPU, where there are any: private 1, local 2. */
static unsigned space_of(Dwarf_Die *die)
{
    uint64_t space = 0;
    (void)number(die, DW_AT_address_class, &space);
    return space == 1 ? EMU_SPACE_SCRATCH : space == 2 ? EMU_SPACE_LDS : SPACE_FLAT;
}

/* Elements of an array's outermost dimension; inner ones become arrays of their own. */
static void set_array(struct source *s, struct vtype *t, Dwarf_Die *die)
{
    uint64_t counts[4];
    unsigned n = 0;
    Dwarf_Die child;
    if (libdw()->dwarf_child(die, &child) == 0)
        do {
            uint64_t count = 0, upper;
            if (libdw()->dwarf_tag(&child) != DW_TAG_subrange_type)
                continue;
            if (!number(&child, DW_AT_count, &count) &&
                number(&child, DW_AT_upper_bound, &upper))
                count = upper + 1;
            counts[n++] = count < UINT32_MAX ? count : 0;
        } while (n < 4 && libdw()->dwarf_siblingof(&child, &child) == 0);
    const struct vtype *element = source_type_of(s, die);
    t->target = element ? element : &void_type;
    t->resolved = true;
    for (unsigned i = n; i-- > 1;) {
        struct vtype *inner = new_type(s);
        if (!inner)
            break;
        inner->kind = VT_ARRAY;
        inner->target = t->target;
        inner->resolved = true;
        inner->count = counts[i];
        if (__builtin_mul_overflow(inner->count, t->target->bytes, &inner->bytes))
            inner->bytes = 0;
        (void)snprintf(inner->name, sizeof inner->name, "%.60s[%llu]", t->target->name,
                       (unsigned long long)inner->count);
        t->target = inner;
    }
    t->count = n ? counts[0] : 0;
    if (__builtin_mul_overflow(t->count, t->target->bytes, &t->bytes))
        t->bytes = 0;
    (void)snprintf(t->name, sizeof t->name, "%.60s[%llu]", t->target->name,
                   (unsigned long long)t->count);
}

static void fill(struct source *s, struct vtype *t, Dwarf_Die *die)
{
    const char *name = libdw()->dwarf_diename(die);
    (void)number(die, DW_AT_byte_size, &t->bytes);
    if (!*t->name)
        (void)snprintf(t->name, sizeof t->name, "%s", name ? name : "(no name)");
    switch (libdw()->dwarf_tag(die)) {
    case DW_TAG_base_type:
        t->kind = base_kind(die);
        t->resolved = true;
        if (t->bytes > 16 || !t->bytes)
            t->kind = VT_VOID;
        return;
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        t->kind = VT_POINTER;
        t->space = space_of(die);
        if (t->bytes != 4 && t->bytes != 8)
            t->bytes = t->space == SPACE_FLAT ? 8 : 4;
        return;
    case DW_TAG_array_type:
        t->kind = VT_ARRAY;
        set_array(s, t, die);
        return;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        t->kind = VT_STRUCT;
        return;
    case DW_TAG_enumeration_type:
        t->kind = VT_ENUM;
        t->resolved = true;
        if (t->bytes > 8 || !t->bytes)
            t->bytes = 4;
        return;
    case DW_TAG_subroutine_type:
        t->kind = VT_FUNCTION;
        t->resolved = true;
        return;
    default:
        t->kind = VT_VOID;
        t->resolved = true;
    }
}

const struct vtype *source_type_of(struct source *s, Dwarf_Die *die)
{
    Dwarf_Die at;
    char name[96] = "";
    if (!peel(die, &at, name, sizeof name))
        return &void_type;
    uint64_t offset = libdw()->dwarf_dieoffset(&at);
    for (struct vtype *t = s->types; t; t = t->next)
        if (t->offset == offset && (!*name || strcmp(name, t->name) == 0))
            return t;
    struct vtype *t = new_type(s);
    if (!t)
        return NULL;
    t->offset = offset;
    (void)snprintf(t->name, sizeof t->name, "%s", name);
    fill(s, t, &at);
    return t;
}

/* A type that is ours to complete. */
static struct vtype *own(struct source *s, const struct vtype *t)
{
    for (struct vtype *i = s ? s->types : NULL; i; i = i->next)
        if (i == t)
            return i;
    return NULL;
}

const struct vtype *vtype_target(struct source *s, const struct vtype *t)
{
    Dwarf_Die die;
    if (t->target || t->resolved)
        return t->target ? t->target : &void_type;
    struct vtype *to = own(s, t);
    if (!to || !libdw()->dwarf_offdie(s->dwarf, t->offset, &die))
        return &void_type;
    to->resolved = true;
    to->target = source_type_of(s, &die);
    return to->target ? to->target : &void_type;
}

static void add_member(struct source *s, struct vtype *t, Dwarf_Die *die)
{
    const char *name = libdw()->dwarf_diename(die);
    struct vmember *m = realloc(t->members, (t->n_members + 1) * sizeof *m);
    if (!m)
        return;
    t->members = m;
    m += t->n_members;
    m->name = name ? name : "";
    m->offset = 0;
    (void)number(die, DW_AT_data_member_location, &m->offset);
    m->type = source_type_of(s, die);
    t->n_members += m->type != NULL;
}

const struct vmember *vtype_members(struct source *s, const struct vtype *t,
                                    unsigned *n)
{
    Dwarf_Die die, child;
    struct vtype *to = t->kind == VT_STRUCT ? own(s, t) : NULL;
    *n = 0;
    if (!to)
        return NULL;
    if (!to->resolved) {
        to->resolved = true;
        if (libdw()->dwarf_offdie(s->dwarf, t->offset, &die) &&
            libdw()->dwarf_child(&die, &child) == 0)
            do {
                int tag = libdw()->dwarf_tag(&child);
                if (tag == DW_TAG_member || tag == DW_TAG_inheritance)
                    add_member(s, to, &child);
            } while (to->n_members < MAX_MEMBERS &&
                     libdw()->dwarf_siblingof(&child, &child) == 0);
    }
    *n = to->n_members;
    return to->members;
}

const struct vtype *vtype_pointer(struct source *s, const struct vtype *target)
{
    struct vtype *t;
    if (!s)
        return NULL;
    for (t = s->types; t; t = t->next)
        if (t->kind == VT_POINTER && !t->offset && t->target == target)
            return t;
    t = new_type(s);
    if (!t)
        return NULL;
    t->kind = VT_POINTER;
    t->bytes = 8;
    t->space = SPACE_FLAT;
    t->target = target;
    t->resolved = true;
    (void)snprintf(t->name, sizeof t->name, "%.90s *", target->name);
    return t;
}

#else

const struct vtype *vtype_target(struct source *s, const struct vtype *t)
{
    (void)s;
    return t->target ? t->target : &void_type;
}

const struct vmember *vtype_members(struct source *s, const struct vtype *t,
                                    unsigned *n)
{
    (void)s;
    (void)t;
    *n = 0;
    return NULL;
}

const struct vtype *vtype_pointer(struct source *s, const struct vtype *target)
{
    (void)s;
    (void)target;
    return NULL;
}

#endif
