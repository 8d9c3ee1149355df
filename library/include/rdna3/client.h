/* rdna3/client.h: memory that a checked program allocates by itself.
 *
 * What a program that takes memory from the kernel driver itself, or from a pool of its
 * own, tells `rdna3 check`: the checkers then know its allocations by the byte and by
 * their maker, as they know those of HIP, ROCr and OpenCL. Needs no library. In a
 * program that is not checked nothing is called. Position-independent programs and
 * libraries alone (what compilers make unless told otherwise); others find the two
 * functions of the checked process by name. SPDX-License-Identifier: MIT
 */
#ifndef RDNA3_CLIENT_H
#define RDNA3_CLIENT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* There in checked programs. */
__attribute__((weak)) void rdna3_client_on_alloc(const char *maker, const void *p,
                                                 size_t bytes);
__attribute__((weak)) void rdna3_client_on_free(const char *maker, const void *p);

/* From now on the program has these bytes, and does not have those behind them up to
 * the end of their page. p: as the GPU sees it. maker: the function that allocates, for
 * reports. What was told of the same place before is forgotten; a size that cannot be
 * is not taken. Thread: any. */
static inline void rdna3_client_allocated(const char *maker, const void *p,
                                          size_t bytes)
{
    if (rdna3_client_on_alloc)
        rdna3_client_on_alloc(maker, p, bytes);
}

/* It gives them back: p is where they begin. A second time, or from somewhere else, is
 * told of. Thread: any. */
static inline void rdna3_client_freed(const char *maker, const void *p)
{
    if (rdna3_client_on_free)
        rdna3_client_on_free(maker, p);
}

#ifdef __cplusplus
}
#endif
#endif
