/* watches.h: memory that a debugger watches, as the chip's watch points have it.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_GPU_WATCHES_H
#define RD_GPU_WATCHES_H

#include <stdatomic.h>
#include <stdint.h>

#define GPU_WATCHES    4u
#define GPU_WATCH_LINE 128u /* bytes: what is compared has no bits below */
/* Bits of a mask that the chip keeps; of an address those above are always compared. */
#define GPU_WATCH_MASK 0x3fffff80u

enum gpu_watch_mode {
    GPU_WATCH_READ,
    GPU_WATCH_NONREAD, /* writes and atomics */
    GPU_WATCH_ATOMIC,
    GPU_WATCH_ALL,
};

/* What a debugger has asked of the waves of a process, which may be another: it writes
 * while dispatches run. Those that began with a watch point set follow changes. */
struct gpu_watches {
    _Atomic uint32_t set; /* bit per watch point: written last */
    struct {
        _Atomic uint64_t address, mask; /* an address, and its bits that are compared */
        _Atomic uint32_t mode;          /* enum gpu_watch_mode */
    } at[GPU_WATCHES];
    /* Exceptions (bits of MODE.EXCP_EN) that waves are launched with besides those of
     * their kernel; instead: in place of those. */
    _Atomic uint32_t exceptions, instead;
    /* Waves are launched halted; to trap behind each instruction. */
    _Atomic uint32_t halted, stepped;
};

#endif
