/* code.h: memory for machine code, which is never writable and executable at once.
 *
 * Code lies in memory files that are mapped for execution only and written through the
 * file, or, for perf, through a mapping that is there only meanwhile; what has been
 * written is never changed, so code may run meanwhile, and a forked child keeps what it
 * has and starts files of its own. SPDX-License-Identifier: MIT
 */
#ifndef RD_CODE_H
#define RD_CODE_H

#include <stdbool.h>
#include <stddef.h>

struct code_memory;

/* NULL if out of memory. Nothing is mapped yet.
 *
 * for_perf  use memory that perf looks up in /tmp/perf-PID.map: it does so for what has
 *           no file, and takes shared anonymous memory for such */
struct code_memory *code_create(bool for_perf);
void code_destroy(struct code_memory *m);

/* Put code into executable memory; NULL if there is no more, or the host forbids it.
 * Thread: one at a time. */
const void *code_put(struct code_memory *m, const void *code, size_t bytes);

/* Bytes in use. */
size_t code_bytes(const struct code_memory *m);

/* Forget all code; nobody may be running it. */
void code_clear(struct code_memory *m);

#endif
