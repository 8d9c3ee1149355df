/* bytes.h: little- and big-endian loads and stores at any alignment, range checks.
 * SPDX-License-Identifier: MIT
 */
#ifndef CO_BYTES_H
#define CO_BYTES_H

#include <stdbool.h>
#include <stdint.h>

static inline uint16_t load_le16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t load_le32(const uint8_t *p)
{
    return load_le16(p) | (uint32_t)load_le16(p + 2) << 16;
}

static inline uint64_t load_le64(const uint8_t *p)
{
    return load_le32(p) | (uint64_t)load_le32(p + 4) << 32;
}

/* Store the low bytes of value, lowest first. */
static inline void store_le(uint8_t *p, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        p[i] = (uint8_t)(value >> 8 * i);
}

static inline uint64_t load_be(const uint8_t *p, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | p[i];
    return value;
}

/* Whether [offset, offset + bytes) lies in [0, limit), whatever the numbers are. */
static inline bool range_ok(uint64_t offset, uint64_t bytes, uint64_t limit)
{
    return offset <= limit && bytes <= limit - offset;
}

static inline bool is_pow2(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

#endif
