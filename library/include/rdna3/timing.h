/* rdna3/timing.h: how long a kernel takes on the chip, by the cycle-approximate model.
 * SPDX-License-Identifier: MIT
 */
#ifndef RDNA3_TIMING_H
#define RDNA3_TIMING_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A parameter of the model with another value: "what if". rdna3 info --timing lists
 * them. */
struct rdna3_timing_parameter {
    const char *name;
    double value;
};

/* What is timed, and what is told of it. */
struct rdna3_timing_config {
    size_t struct_bytes;
    double sclk_mhz;       /* shader clock; 0: 2500 */
    uint64_t sample;       /* simulate this many workgroups only, estimate the rest */
    double sample_percent; /* or this share of them; 0 and 0: all */
    bool warm_code, warm_kernarg, warm_data; /* translations that are there already */
    bool warm_cache;                         /* buffers in the Infinity Cache */
    bool waves;        /* list the waves in RDNA3_TIMING_JSON ... */
    bool instructions; /* ... with the issue times of their instructions */
    uint32_t n_parameters;
    const struct rdna3_timing_parameter *parameters;
};

struct rdna3_timing; /* a timed run */

/* Run a kernel under the model. Memory afterwards is what the kernel computes, as after
 * rdna3_kernel_run, whose other arguments and results these are.
 *
 * config  NULL: the defaults
 * Owner: rdna3_timing_destroy.
 */
RDNA3_CHECKED int rdna3_kernel_time(struct rdna3_kernel *kernel,
                                    const struct rdna3_launch *launch,
                                    const struct rdna3_timing_config *config,
                                    struct rdna3_timing **out,
                                    struct rdna3_fault *fault,
                                    struct rdna3_stats *stats, struct rdna3_error *err);

/* NULL is fine. */
RDNA3_API void rdna3_timing_destroy(struct rdna3_timing *timing);

/* Shader clocks from the first wave's start to the last one's end. */
RDNA3_API uint64_t rdna3_timing_cycles(const struct rdna3_timing *timing);

/* Half the width of the 95 % interval of a sampled run's cycles; 0 if all ran. */
RDNA3_API uint64_t rdna3_timing_error(const struct rdna3_timing *timing);

enum rdna3_timing_text {
    RDNA3_TIMING_JSON,    /* clock, cycles, counters and, if asked for, waves */
    RDNA3_TIMING_SUMMARY, /* for people */
    RDNA3_TIMING_LISTING  /* every instruction, and what it waited for */
};

/* A report as text.
 *
 * text  out, ends with a zero. Owner: rdna3_release
 */
RDNA3_CHECKED int rdna3_timing_report(const struct rdna3_timing *timing,
                                      enum rdna3_timing_text what, char **text);

#ifdef __cplusplus
}
#endif

#endif
