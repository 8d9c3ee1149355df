/* internal.h: what the files of librdna3 share. SPDX-License-Identifier: MIT
 */
#ifndef RDNA3_INTERNAL_H
#define RDNA3_INTERNAL_H

#include "include/rdna3.h"

#include "event.h"
#include "launch.h"

struct rdna3 {
    struct rdna3_hooks hooks;
};

struct rdna3_device {
    struct rdna3 *rdna3;
    struct la *la;
    struct rdna3_kernel *kernels;
};

struct rdna3_kernel {
    struct rdna3_kernel *next;
    struct rdna3_device *device;
    void *object; /* a copy of what was loaded */
    struct la_kernel la;
};

/* Does a struct that the caller filled in have this field? */
#define HAS(config, field)                                                             \
    ((config)->struct_bytes > offsetof(__typeof__(*(config)), field))

/* Write the text, if somebody wants it, and hand back status. */
int rdna3_fail(struct rdna3_error *err, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

void *rdna3_take(struct rdna3 *rdna3, size_t bytes);
void rdna3_say(struct rdna3 *rdna3, enum rdna3_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Put a launch together. What it needed is given back with la_rewind(mark). */
int rdna3_prepare(struct rdna3_kernel *kernel, const struct rdna3_launch *launch,
                  struct emu_dispatch *out, struct rdna3_error *err);

/* Tell of a fault. */
void rdna3_tell_fault(const struct rdna3_kernel *kernel, const struct emu_fault *from,
                      struct rdna3_fault *to);

/* What became of a run: its status, logged; fault and stats as the caller wants them.
 */
int rdna3_conclude(struct rdna3_kernel *kernel, int status,
                   const struct emu_fault *fault, const struct emu_stats *stats,
                   struct rdna3_fault *fault_out, struct rdna3_stats *stats_out,
                   struct rdna3_error *err);

#endif
