/* heap.h: what a program has asked for, byte for byte, where the kernel driver knows
 * pages alone: who made it, who freed it. Filled by whoever stands between a program
 * and its runtime, asked by the memory checker. SPDX-License-Identifier: MIT
 */
#ifndef RD_CHECK_HEAP_H
#define RD_CHECK_HEAP_H

#include <stddef.h>

#include <stdatomic.h>

#include "findings.h"
#include "status.h"

enum ck_heap_state {
    CK_HEAP_NONE,   /* the heap knows nothing here */
    CK_HEAP_LIVE,   /* of an allocation */
    CK_HEAP_MARGIN, /* reserved with one, but not asked for */
    CK_HEAP_FREED,  /* freed, and kept from other uses */
};

/* What dwords of memory hold that was allocated and filled, and that nobody has written
 * since: no float, index or text that programs use looks like it. */
#define CK_HEAP_FILL UINT32_C(0xe5a97cf1)

/* One allocation. */
struct ck_block {
    uint64_t base, size; /* as asked for */
    uint64_t extent;     /* bytes reserved from base on; at least size */
    /* What a runtime was asked for, and what it took from the driver; 0: not seen. */
    uint64_t asked, backed;
    uint64_t number; /* of the allocation, from 1: no other has it */
    bool filled;     /* with CK_HEAP_FILL when it was made, and not claimed since */
    bool fresh;      /* the same, and it is the program's */
    bool freed;
    bool programs;         /* made for the program, which has to free it */
    bool ends;             /* freed as soon as the work of queue is done */
    void *queue;           /* that it was freed in */
    struct ck_trace made;  /* by whom */
    struct ck_trace freer; /* once freed or ends */
};

/* All functions: Thread: any. */
struct ck_heap;
RD_CHECKED rd_status ck_heap_create(struct ck_heap **out);
void ck_heap_destroy(struct ck_heap *h);

/* Changes with everything that is said to the heap. */
unsigned ck_heap_generation(const struct ck_heap *h);
/* The same, for who must not call: load it as ck_heap_generation does. */
const atomic_uint *ck_heap_generations(const struct ck_heap *h);

/* Add an allocation; what lay there is forgotten. Number and freed are filled in. */
RD_CHECKED rd_status ck_heap_add(struct ck_heap *h, const struct ck_block *block);

/* The allocation at b->base, made by a runtime for somebody else, is his: it has this
 * size and maker. One that the heap does not know is added. */
RD_CHECKED rd_status ck_heap_claim(struct ck_heap *h, const struct ck_block *b);

enum ck_heap_freed {
    CK_HEAP_OK,
    CK_HEAP_UNKNOWN, /* no allocation begins there */
    CK_HEAP_INSIDE,  /* none begins there, but there is one around it */
    CK_HEAP_TWICE,
};

/* Mark the allocation that begins at base as freed. */
enum ck_heap_freed ck_heap_free(struct ck_heap *h, uint64_t base,
                                const struct ck_trace *by);
/* ... as soon as ck_heap_settle is called for the queue. */
enum ck_heap_freed ck_heap_free_later(struct ck_heap *h, uint64_t base, void *queue,
                                      const struct ck_trace *by);
/* The work of a queue is done, or of all. */
void ck_heap_settle(struct ck_heap *h, const void *queue, bool all);
/* Others may use the memory at base from now on. The allocation is remembered for a
 * while. number: only if it still is this one; 0: any. */
void ck_heap_drop(struct ck_heap *h, uint64_t base, uint64_t number);

/* What an address is, and the range around it of which the same holds. */
enum ck_heap_state ck_heap_at(struct ck_heap *h, uint64_t address, uint64_t *from,
                              uint64_t *to);
/* The allocation around an address, or nearest to it. */
bool ck_heap_near(struct ck_heap *h, uint64_t address, struct ck_block *out);
/* The allocation that begins at base; false: none. */
bool ck_heap_find(struct ck_heap *h, uint64_t base, struct ck_block *out);
/* The one that was dropped last of those that held the address. */
bool ck_heap_gone(struct ck_heap *h, uint64_t address, struct ck_block *out);
/* Call for each that is not freed. fn must not call the heap. */
void ck_heap_each(struct ck_heap *h, void (*fn)(void *ctx, const struct ck_block *b),
                  void *ctx);

/* ---- the table, from the program's side (host.c) ---- */

/* Map a table that lies in a file; NULL: that is not possible. */
struct ck_table *ck_table_open(const char *path);
/* The number of a module by the path of its file, from 1; 0: there is no room. */
uint32_t ck_table_module(struct ck_table *table, const char *path);
/* Add a finding that no kernel has made, merged with one of the same kind and traces.
 */
void ck_table_report(struct ck_table *table, const struct ck_finding *f);

#endif
