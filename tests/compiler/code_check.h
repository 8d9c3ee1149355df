/* code_check.h: does machine code wait for what it reads?
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TEST_CODE_CHECK_H
#define RD_TEST_CODE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* False if the code of a code object touches a register that memory has yet to fill, a
 * transcendental or matrix result too early, or passes a barrier with accesses under
 * way. Only for code without such things at its branches. error: 256 bytes, where */
bool code_check(const void *elf, size_t bytes, char *error);

#endif
