/* canon.h: canonical addresses: what the model knows of a place in memory or code,
 * wherever the host put it.
 *
 * A buffer that the caller names lies at a fixed place, everything else in the order of
 * its first use, page by page. SPDX-License-Identifier: MIT
 */
#ifndef TM_CANON_H
#define TM_CANON_H

#include "timing.h"

#define TM_HOST_PAGE   4096u
#define TM_HOST_LINE   (UINT64_C(1) << 56) /* of 128 bytes: not canonical yet */
#define TM_SMALL_PAGES 512u /* canonical pages for everything that is small */

struct tm_page {
    uint64_t key, number; /* host page + 1, canonical page */
};

struct tm_pages {
    struct tm_page *page; /* a hash table */
    size_t n, cap;
    uint64_t next;
};

struct tm_canon {
    const struct tm_range *range;
    size_t n_ranges;
    uint64_t *range_page; /* canonical first page of each */
    uint64_t range_end;   /* of those of several pages */
    struct tm_pages data, code;
    uint64_t code_base, code_bytes; /* region of the kernel's own code */
};

/* Zero c first.
 *
 * translation_bytes  reach of one translation: a range of several pages begins a new
 * one
 */
RD_CHECKED rd_status tm_canon_create(struct tm_canon *c, const struct tm_range *ranges,
                                     size_t n_ranges, uint64_t translation_bytes);
void tm_canon_destroy(struct tm_canon *c);

uint64_t tm_canon_data(struct tm_canon *c, uint64_t address);
/* The same of what has a place, which changes nothing; false: it has none. */
bool tm_canon_known(const struct tm_canon *c, uint64_t address, uint64_t *at);
/* The same in a buffer, which changes nothing; false: it lies in none. */
bool tm_canon_range(const struct tm_canon *c, uint64_t address, uint64_t *at);

/* Of code: bytes from the beginning of the kernel's region; code of other regions
 * (called, or a trap handler) comes from TM_OTHER_CODE on. */
uint32_t tm_canon_code(struct tm_canon *c, uint64_t pc);

/* Is there code at a canonical address? */
static inline bool tm_canon_is_code(const struct tm_canon *c, uint64_t at)
{
    return at < c->code_bytes || at >= TM_OTHER_CODE;
}

#endif
