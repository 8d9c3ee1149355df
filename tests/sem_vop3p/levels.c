/* levels.c: finds semantics entries and makes operands for the tests of this folder.
 * SPDX-License-Identifier: MIT
 */
#include <check.h>
#include <string.h>

#include "levels.h"

#define FILES(X, level)                                                                \
    X(dot, level)                                                                      \
    X(wmma, level)                                                                     \
    X(vop3p, level) X(sop1, level) X(sop2, level) X(sopc, level) X(sopk, level)

LEVEL_DECLARE(FILES)
LEVEL_TABLE(entries, FILES);

const struct sem_entry *level_entry(enum level level, const char *name)
{
    for (unsigned f = 0; entries[level][f]; f++)
        for (const struct sem_entry *e = entries[level][f]; e->name; e++)
            if (!strcmp(e->name, name))
                return e;
    ck_abort_msg("no semantics for %s", name);
    return NULL;
}

unsigned level_count(enum sem_kind kind)
{
    unsigned n = 0;
    for (unsigned f = 0; entries[LEVEL_GENERIC][f]; f++)
        for (const struct sem_entry *e = entries[LEVEL_GENERIC][f]; e->name; e++)
            n += e->kind == kind;
    return n;
}

uint16_t random_half(uint64_t *state, bool bf16, bool finite)
{
    static const uint16_t f16[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400,
                                   0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
                                   0x7c01, 0x7e00, 0xfe12, 0x4200};
    static const uint16_t b16[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x0080,
                                   0x3f80, 0xbf80, 0x7f7f, 0xff7f, 0x7f80, 0xff80,
                                   0x7f81, 0x7fc0, 0xffd2, 0x4040};
    const uint16_t *special = bf16 ? b16 : f16;
    uint64_t r = random_bits(state);
    uint16_t h = (uint16_t)r, inf = bf16 ? 0x7f80 : 0x7c00;
    switch (r >> 16 & 7) {
    case 0:
        h = special[r >> 20 & 15];
        break;
    case 1:
    case 2:
    case 3: /* around 1.0 */
        h = bf16 ? (uint16_t)((h & 0x807f) | (120 + (r >> 20 & 15)) << 7)
                 : (uint16_t)((h & 0x83ff) | (12 + (r >> 20) % 6) << 10);
        break;
    default:
        break;
    }
    return finite && (h & inf) == inf ? (uint16_t)(h ^ 0x4000) : h;
}

uint32_t random_single(uint64_t *state, bool finite)
{
    static const uint32_t special[] = {0x00000000, 0x80000000, 0x00000001, 0x807fffff,
                                       0x00800000, 0x80800000, 0x7f800000, 0xff800000,
                                       0x7f800001, 0x7fc00000, 0xffc12345, 0x3f800000,
                                       0xbf800000, 0x7f7fffff, 0xff7fffff, 0x33800000};
    uint64_t r = random_bits(state);
    uint32_t f = (uint32_t)r;
    uint64_t kind = r >> 32 & 7;
    if (kind == 0)
        f = special[r >> 40 & 15];
    else if (kind < 5)
        f = (f & 0x807fffff) | (uint32_t)(110 + (r >> 40) % 34) << 23;
    return finite && (f & 0x7f800000) == 0x7f800000 ? f ^ 0x40000000 : f;
}
