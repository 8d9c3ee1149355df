/* gpu.h: run programs as gfx1100 code on the emulator.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TEST_CC_GPU_H
#define RD_TEST_CC_GPU_H

#include "cc_tensor.h"
#include "emu.h"

/* A cc_run_fn: compile, assemble, load, run. CC_SHOW in the environment prints the
 * assembly. */
rd_status gpu_run(void *user, const struct cc_prog *p, size_t n_args,
                  const struct cc_arg_buffer *args, char *error);

/* The same for a kernel in assembly, with this many groups and work-items in each. */
rd_status gpu_run_text(const char *text, const uint32_t *groups, const uint32_t *block,
                       size_t n_args, const struct cc_arg_buffer *args, char *error);

/* What ran since the start. */
const struct emu_stats *gpu_stats(void);

#endif
