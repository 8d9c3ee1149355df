/* describe.h: a kernel of a code object as JSON, for every command that lists kernels.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_KERNEL_DESCRIBE_H
#define RD_KERNEL_DESCRIBE_H

#include "codeobj.h"
#include "json.h"

/* VGPRs of a kernel: metadata counts what is used, the descriptor what is allocated. */
unsigned kernel_vgprs(const struct co_kernel *k);

/* The kernels of a code object, under "kernels": what they need and which arguments
 * they take. */
void kernel_describe_all(struct json *j, const struct co_object *co);

#endif
