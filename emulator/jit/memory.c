/* memory.c: memory instructions. SPDX-License-Identifier: MIT */
#include "emit.h"

bool emit_memory(struct emit *e, const struct uop *u)
{
    (void)e;
    (void)u;
    return false;
}
