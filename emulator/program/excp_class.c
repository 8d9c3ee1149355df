/* excp_class.c: the exceptions of an opcode and the types of its operands.
 * SPDX-License-Identifier: MIT
 */
#include "excp_class.h"

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

unsigned excp_of(unsigned op, const struct sem_entry *e, bool clamp)
{
    unsigned class = isa_facts(op)->excp, arg = type_of(e->args[0]);
    unsigned result = type_of(e->ret);
    bool packed = e->ret == SEM_T_PK16 && e->args[0] == SEM_T_PK16;
    if (class == ISA_EXCP_NONE)
        return 0;
    if (class == ISA_EXCP_NARROW_RTZ)
        result = T_F16;
    return class | arg << 5 | result << 9 | (packed ? EX_PACKED : 0) |
           (clamp ? EX_CLAMP : 0);
}
