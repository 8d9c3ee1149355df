/* name_hash.h: the hash of a mnemonic, for the generator, which makes the table, and
 * the library, which looks names up in it.
 *
 * Reads the first, the last and the middle eight characters, in few and independent
 * steps: mnemonics differ there. Longer names with equal ends only cost a comparison
 * more. SPDX-License-Identifier: MIT
 */
#ifndef ISA_NAME_HASH_H
#define ISA_NAME_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Eight characters as a number, the same on every machine; one load on most. */
static inline uint64_t isa_name_word(const char *s)
{
    const unsigned char *p = (const unsigned char *)s;
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 |
           (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 |
           (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

static inline uint32_t isa_name_hash(const char *name, size_t len)
{
    uint64_t first = len, last = 0, middle = 0;
    if (len >= 8) {
        first = isa_name_word(name);
        last = isa_name_word(name + len - 8);
        middle = isa_name_word(name + len / 2 - 4);
    } else {
        for (size_t i = 0; i < len; i++)
            first = first << 8 | (unsigned char)name[i];
    }
    uint64_t h = (first ^ len) * UINT64_C(0x9e3779b97f4a7c15) +
                 last * UINT64_C(0xc2b2ae3d27d4eb4f) +
                 middle * UINT64_C(0x165667b19e3779f9);
    return (uint32_t)((h ^ (h >> 29)) >> 32);
}

#endif
