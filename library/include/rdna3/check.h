/* rdna3/check.h: look for mistakes in kernels that a chip does not report.
 * SPDX-License-Identifier: MIT
 */
#ifndef RDNA3_CHECK_H
#define RDNA3_CHECK_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Classes of mistakes. */
#define RDNA3_CHECK_MEM                                                                \
    1u /* accesses that leave their allocation, or may not be made */
#define RDNA3_CHECK_INIT 2u  /* undefined bits that matter */
#define RDNA3_CHECK_RACE 4u  /* conflicting accesses that nothing orders */
#define RDNA3_CHECK_WAIT 8u  /* registers used before their s_waitcnt */
#define RDNA3_CHECK_SYNC 16u /* barriers that waves or lanes miss, endless loops */
#define RDNA3_CHECK_NAN                                                                \
    32u                     /* where NaNs and infinities are born: no mistake as such  \
                             */
#define RDNA3_CHECK_ALL 31u /* all mistakes */

/* What to look for. */
struct rdna3_check_config {
    size_t struct_bytes;
    uint32_t classes;  /* RDNA3_CHECK_*; 0: RDNA3_CHECK_ALL */
    bool keep_going;   /* else the first finding ends the dispatch: RDNA3_E_TIMEOUT */
    bool race_lanes;   /* work-items of one wave race, too, as languages have it */
    uint64_t watchdog; /* instructions of a wave without progress that are a hang */
};

/* A mistake; equal ones are one, counted. Texts are valid until the check ends. */
struct rdna3_finding {
    const char *cls;  /* "mem", "race" ... */
    const char *kind; /* stable name, "out-of-bounds" */
    const char *text; /* a sentence without its end */
    const char *kernel;
    const char *instruction; /* disassembled */
    const char *allocation;  /* name of the memory at or nearest to it; "" */
    uint64_t pc;             /* GPU address */
    uint64_t lanes;          /* a bit per lane */
    uint64_t address;        /* of the access; offset in LDS or scratch */
    uint64_t base, size;     /* of the allocation */
    uint64_t count;          /* how often */
    uint32_t workgroup[3];
    uint32_t wave; /* in its workgroup */
    bool benign;   /* worth a note, no error */
};

struct rdna3_check; /* checkers at work on a device */

/* Check the dispatches of a device that begin from now on.
 *
 * config  NULL: the defaults
 * Owner: rdna3_check_end, before the device goes.
 */
RDNA3_CHECKED int rdna3_check_begin(struct rdna3_device *device,
                                    const struct rdna3_check_config *config,
                                    struct rdna3_check **out, struct rdna3_error *err);
RDNA3_API void rdna3_check_end(struct rdna3_check *check);

/* These bytes hold nothing yet: reading them before a kernel writes them is a finding
 * of RDNA3_CHECK_INIT. */
RDNA3_CHECKED int rdna3_check_fresh(struct rdna3_check *check, const void *memory,
                                    uint64_t bytes);

/* What was found so far. Returns RDNA3_E_NOT_FOUND beyond the last. */
RDNA3_API unsigned rdna3_check_count(const struct rdna3_check *check);
RDNA3_CHECKED int rdna3_check_finding(const struct rdna3_check *check, unsigned index,
                                      struct rdna3_finding *out);

#ifdef __cplusplus
}
#endif

#endif
