/* excp_class.c: excp.def as a function.
 * SPDX-License-Identifier: MIT
 */
#include "excp_class.h"

#include <string.h>

static unsigned type_of(unsigned sem)
{
    switch (sem) {
    case SEM_T_F16:
    case SEM_T_PK16:
        return T_F16;
    case SEM_T_F32:
    case SEM_T_CARRY_F32:
        return T_F32;
    case SEM_T_F64:
    case SEM_T_CARRY_F64:
        return T_F64;
    case SEM_T_I32:
        return T_I32;
    case SEM_T_U32:
        return T_U32;
    case SEM_T_I16:
        return T_I16;
    case SEM_T_U16:
        return T_U16;
    default:
        return T_OTHER;
    }
}

/* The name's class: v_STEM_TYPE. */
static unsigned class_of(const char *name)
{
    static const struct {
        const char *stem;
        enum excp_class class;
    } classes[] = {
#define X(stem, class) {stem, class},
#include "excp.def"
#undef X
    };
    const char *end = strrchr(name, '_');
    if (strncmp(name, "v_", 2) != 0 || !end || end < name + 2)
        return NONE;
    size_t n = (size_t)(end - name - 2);
    if (n > 4 && !strncmp(name + 2, "cmp_", 4) && strncmp(name + 6, "class", 5) != 0)
        return COMPARE;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strlen(classes[i].stem) == n && !strncmp(name + 2, classes[i].stem, n))
            return classes[i].class;
    return NONE;
}

unsigned excp_of(const struct sem_entry *e, bool clamp)
{
    unsigned class = class_of(e->name), arg = type_of(e->args[0]);
    unsigned result = type_of(e->ret);
    bool packed = e->ret == SEM_T_PK16 && e->args[0] == SEM_T_PK16;
    if (!class || (!is_float(arg) && !is_float(result)))
        return 0;
    if (class == NARROW_RTZ)
        result = T_F16;
    return class | arg << 5 | result << 9 | (packed ? EX_PACKED : 0) |
           (clamp ? EX_CLAMP : 0);
}
