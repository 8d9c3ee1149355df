/* kernel_block.h: kernel descriptors as .amdhsa_kernel blocks.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DIS_KERNEL_BLOCK_H
#define RD_DIS_KERNEL_BLOCK_H

#include "asm.h"
#include "object.h"

/* The directives for a symbol that is a descriptor, if a block makes its bytes, its
 * symbol, and its way to the kernel.
 *
 * text  out, ASM_KERNEL_BYTES
 * Returns the kernel, or NULL.
 */
const struct dis_symbol *dis_block(const struct dis_object *o,
                                   const struct dis_symbol *descriptor, char *text);

/* Whether a kernel gets its protected visibility from its block. */
bool dis_block_protects(const struct dis_object *o, const struct dis_symbol *kernel);

#endif
