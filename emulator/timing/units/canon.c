/* canon.c: see canon.h.
 *
 * Must not know what is at an address. Invariant: the same run asks in the same order,
 * so it gets the same answers.
 * SPDX-License-Identifier: MIT
 */
#include "canon.h"

#include <stdlib.h>

/* The page of something small: they share the first pages, and what finds no room there
 * lies behind all ranges. */
static uint64_t small_page(const struct tm_canon *c, uint64_t number)
{
    return number < TM_SMALL_PAGES ? number : c->range_end + number - TM_SMALL_PAGES;
}

/* Where the ranges lie: one after the other, each at a new translation, except those of
 * one page, which share the first (as do kernel arguments): small allocations come from
 * one place. */
rd_status tm_canon_create(struct tm_canon *c, const struct tm_range *ranges,
                          size_t n_ranges, uint64_t translation_bytes)
{
    uint64_t step = translation_bytes / TM_HOST_PAGE;
    uint64_t next = (TM_SMALL_PAGES + step - 1) / step * step;
    c->range = ranges;
    c->n_ranges = n_ranges;
    c->range_page = calloc(n_ranges + 1, sizeof *c->range_page);
    if (!c->range_page)
        return RD_E_NOMEM;
    for (size_t i = 0; i < n_ranges; i++) {
        uint64_t pages = (ranges[i].bytes + TM_HOST_PAGE - 1) / TM_HOST_PAGE;
        c->range_page[i] = next;
        if (pages > 1)
            next += (pages + step - 1) / step * step;
    }
    c->range_end = next;
    for (size_t i = 0; i < n_ranges; i++)
        if (ranges[i].bytes <= TM_HOST_PAGE)
            c->range_page[i] = small_page(c, c->data.next++);
    return RD_OK;
}

void tm_canon_destroy(struct tm_canon *c)
{
    free(c->range_page);
    free(c->data.page);
    free(c->code.page);
}

static size_t bucket(uint64_t key, size_t cap)
{
    return key * 0x9e3779b97f4a7c15ull >> 20 & (cap - 1);
}

static bool grow(struct tm_pages *p)
{
    size_t cap = p->cap ? 2 * p->cap : 1024;
    struct tm_page *bigger = calloc(cap, sizeof *bigger);
    if (!bigger)
        return false;
    for (size_t i = 0; i < p->cap; i++) {
        size_t at = bucket(p->page[i].key, cap);
        if (!p->page[i].key)
            continue;
        while (bigger[at].key)
            at = (at + 1) & (cap - 1);
        bigger[at] = p->page[i];
    }
    free(p->page);
    p->page = bigger;
    p->cap = cap;
    return true;
}

/* Where a page is, or would be. */
static size_t place_of(const struct tm_pages *p, uint64_t host)
{
    size_t at = bucket(host + 1, p->cap);
    while (p->page[at].key && p->page[at].key != host + 1)
        at = (at + 1) & (p->cap - 1);
    return at;
}

static uint64_t page_of(struct tm_pages *p, uint64_t host)
{
    if (2 * (p->n + 1) > p->cap && !grow(p))
        return 0;
    size_t at = place_of(p, host);
    if (!p->page[at].key) {
        p->page[at] = (struct tm_page){host + 1, p->next++};
        p->n++;
    }
    return p->page[at].number;
}

bool tm_canon_range(const struct tm_canon *c, uint64_t address, uint64_t *at)
{
    for (size_t i = 0; i < c->n_ranges; i++) {
        const struct tm_range *r = &c->range[i];
        if (address - r->base >= r->bytes)
            continue;
        *at = c->range_page[i] * TM_HOST_PAGE + (address - r->base);
        return true;
    }
    return false;
}

bool tm_canon_known(const struct tm_canon *c, uint64_t address, uint64_t *at)
{
    if (tm_canon_range(c, address, at))
        return true;
    const struct tm_pages *p = &c->data;
    size_t place = p->cap ? place_of(p, address / TM_HOST_PAGE) : 0;
    if (!p->cap || !p->page[place].key)
        return false;
    *at = small_page(c, p->page[place].number) * TM_HOST_PAGE + address % TM_HOST_PAGE;
    return true;
}

uint64_t tm_canon_data(struct tm_canon *c, uint64_t address)
{
    uint64_t at;
    if (tm_canon_range(c, address, &at))
        return at;
    uint64_t number = page_of(&c->data, address / TM_HOST_PAGE);
    return small_page(c, number) * TM_HOST_PAGE + address % TM_HOST_PAGE;
}

uint32_t tm_canon_code(struct tm_canon *c, uint64_t pc)
{
    if (pc - c->code_base < c->code_bytes)
        return (uint32_t)(pc - c->code_base);
    return TM_OTHER_CODE +
           (uint32_t)(page_of(&c->code, pc / TM_HOST_PAGE) * TM_HOST_PAGE +
                      pc % TM_HOST_PAGE);
}
