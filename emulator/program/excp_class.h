/* excp_class.h: which float exceptions an operation can raise, as the micro-op carries
 * it from the predecoder to excp.c. SPDX-License-Identifier: MIT
 */
#ifndef RD_EXCP_CLASS_H
#define RD_EXCP_CLASS_H

#include "facts.h"
#include "uop.h"

/* uop.excp */
#define EX_CLASS(e)  ((e) & 31u)      /* enum isa_excp */
#define EX_ARG(e)    ((e) >> 5 & 15u) /* enum excp_type of the operands */
#define EX_RESULT(e) ((e) >> 9 & 15u) /* and of the result */
#define EX_PACKED    0x4000u
#define EX_CLAMP     0x8000u

enum excp_type { T_OTHER, T_F16, T_F32, T_F64, T_I32, T_U32, T_I16, T_U16 };

static inline bool is_float(unsigned type)
{
    return type == T_F16 || type == T_F32 || type == T_F64;
}

/* What uop.excp must hold for an opcode with its function; 0 if it raises nothing. */
unsigned excp_of(unsigned op, const struct sem_entry *e, bool clamp);

#endif
