/* shadow.h: who touched a byte of memory last, for the race checker.
 *
 * Memory is shadowed in blocks of equal size, each with a cell for each dword or, once
 * a part of a dword was touched alone, for each byte. SPDX-License-Identifier: MIT
 */
#ifndef RD_CHECK_SHADOW_H
#define RD_CHECK_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

#include "status.h"

#define SITE_ATOMIC   1u /* a read-modify-write, or a load past the caches */
#define SITE_OWNER    2u /* a store of who has done atomics there before */
#define SITE_COMPARES 4u /* compare-and-swap */
#define SITE_RELEASES 8u /* a store to memory by who waits for none of its own */

/* One access. wave 0: none. */
struct site {
    uint32_t wave;    /* number in the dispatch, from 1 */
    uint32_t pc;      /* offset in its code */
    uint32_t barrier; /* that its workgroup had passed */
    uint32_t clock;   /* releases to LDS of its wave before it, from 1 */
    uint32_t stamp;   /* releases to memory of the dispatch before it */
    uint8_t lane, flags;
};

struct cell {
    struct site write, atomic; /* the last of each */
    struct site read[2];       /* of different waves */
};

#define SHADOW_BLOCK 1024u /* bytes of memory */

struct shadow; /* sparse, by address */

struct shadow *shadow_create(void);
void shadow_destroy(struct shadow *s);
/* Nothing has been touched. */
void shadow_clear(struct shadow *s);
uint64_t shadow_bytes(const struct shadow *s); /* of the host's memory that it takes */

/* The cells of the bytes [address, address + bytes), at most SHADOW_BLOCK of them and
 * in one block; each is of *grain bytes, the first holds address. NULL: out of memory.
 */
struct cell *shadow_cells(struct shadow *s, uint64_t address, unsigned bytes,
                          unsigned *grain, unsigned *n);

#endif
