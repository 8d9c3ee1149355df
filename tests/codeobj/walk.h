/* walk.h: use everything that an open code object offers.
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_WALK_H
#define TEST_WALK_H

#include "codeobj.h"

/* Read every string, every byte and every answer of an object, and load it.
 *
 * Returns a number that depends on all of it, so that nothing is optimised away.
 */
uint64_t walk_object(const struct co_object *obj);

/* Open, walk, close; RD_OK or the status of co_open, whose text is then checked: one
 * line, not empty, printable. */
rd_status walk_bytes(const void *data, size_t size, uint64_t *sum);

#endif
