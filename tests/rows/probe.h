/* probe.h: what gather.h and row.h do, compiled for one SIMD level.
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_PROBE_H
#define TEST_PROBE_H

#include <stdbool.h>
#include <stdint.h>

struct probe {
    void (*gather)(uint32_t *d, const uint8_t *base, const uint32_t *a, uint32_t exec,
                   unsigned dwords);
    void (*scatter)(const uint32_t *s, uint8_t *base, const uint32_t *a, uint32_t exec,
                    unsigned dwords);
    void (*gather_small)(uint32_t *d, const uint8_t *base, const uint32_t *a,
                         uint32_t exec, unsigned bytes);
    void (*scatter_small)(const uint32_t *s, uint8_t *base, const uint32_t *a,
                          uint32_t exec, unsigned bytes);
    bool (*apart)(const uint32_t *a, uint32_t mask);
    void (*store_apart)(const uint32_t *s, uint8_t *base, const uint32_t *a,
                        uint32_t mask);
    void (*lookup)(uint32_t *d, const uint32_t *s, const uint32_t *from,
                   uint32_t active);
    uint32_t (*permute_mask)(uint32_t mask, const uint8_t from[16], uint32_t valid);
};

extern const struct probe probe_generic, probe_avx2, probe_avx512;

#endif
