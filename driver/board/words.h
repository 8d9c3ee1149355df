/* words.h: words of 16 and 32 bits in the little-endian bytes of a ROM and of
 * configuration space. SPDX-License-Identifier: MIT
 */
#ifndef RD_BOARD_WORDS_H
#define RD_BOARD_WORDS_H

#include <stdint.h>

static inline void put16(uint8_t *p, unsigned v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

static inline void put32(uint8_t *p, uint32_t v)
{
    put16(p, v & 0xffff);
    put16(p + 2, v >> 16);
}

#endif
