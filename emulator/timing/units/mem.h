/* mem.h: memory behind the execution units: the scalar cache of a WGP, the vector path
 * and L0 of a CU, and what all share: translations, GL2, Infinity Cache, VRAM.
 * SPDX-License-Identifier: MIT
 */
#ifndef TM_MEM_H
#define TM_MEM_H

#include "base.h"
#include "cache.h"
#include "canon.h"
#include "tinst.h"

enum {
    TM_TLB_PAGES = 4096,
    TM_MAX_CUS = TM_MAX_SES * TM_MAX_ARRAYS * TM_MAX_WGPS * 2,
};

/* How many translations a TLB holds, and which goes next when it is full: each in its
 * turn, in the order of pages. */
struct tm_turn_out {
    unsigned n, hand;
};

/* Translations that a CU, or the scalar cache of a WGP, has: a bit per page. */
struct tm_near {
    uint64_t page[TM_TLB_PAGES / 64];
    struct tm_turn_out out;
};

/* Address unit of a CU; what it has asked for follows from when all others ask. */
struct tm_address_unit {
    int64_t free, store_free;
    uint64_t wave; /* age of that whose addresses came last, or 0 */
};

/* What the whole chip shares. */
struct tm_memory {
    struct tm_address_unit address[TM_MAX_CUS];
    struct tm_canon canon;
    struct tm_cache gl2, mall;
    unsigned page_shift; /* of addresses, to translations; 0: they are divided */
    int64_t gl2_free[TM_MAX_CHANNELS];
    double mall_free, dram_free;
    uint64_t kernarg_page; /* + 1: of the launch's first scalar load */
    int64_t kernarg_done;
    bool warm_kernarg;
    int64_t tlb_ready[TM_TLB_PAGES]; /* UTCL2: when it is there, 0: never asked */
    bool tlb_brought[TM_TLB_PAGES];  /* by the walk for a neighbour */
    struct tm_turn_out tlb_out;
    uint64_t gl2_hit, gl2_miss, smem_bytes;
    /* For samples, else NULL: which lines of the buffers anybody has asked for, a bit
     * each; how many there are, how many of them were asked for, and by loads. */
    uint64_t *touched;
    uint64_t lines, n_touched, first_loads;
    uint8_t level; /* enum tm_stall: where the slowest line of the last access was */
};

/* Scalar cache of a WGP. */
struct tm_smem {
    struct tm_cache cache;
    struct tm_near tlb;
    int64_t last; /* the last that returned */
};

/* L0 of a CU, and the way back. */
struct tm_vmem {
    int64_t return_free;
    unsigned to_look_up; /* requests, behind one that cannot be yet (send.c) */
    struct tm_cache l0;
    struct tm_cache *gl1;        /* of its array */
    uint64_t l0_hits, l0_misses; /* of what has been asked for */
    struct tm_near tlb;
};

/* What a vector memory instruction asks for. What tm_vmem_ask looks at comes first: one
 * of the host's cache lines, and the first lines of the request in the next. */
struct tm_request {
    uint8_t lines, level; /* level: enum tm_stall, of its slowest line so far */
    uint16_t segments;    /* of 64 bytes, which stores are sent in */
    int32_t turns;        /* of an atomic: lanes that go to one place; 0: it is none */
    int64_t cycles;       /* of the address unit */
    uint64_t in_l0, in_gl1; /* a bit per line: is it there? in_l0: of loads */
    uint64_t near;          /* has the CU its translation? of what looks for it */
    int64_t start;          /* the address unit begins with it */
    int64_t stored;         /* a store is done, if none before it is later */
    int64_t groups;         /* of lanes: the least cycles */
    uint64_t half[2];       /* a bit per line: 64 bytes of it are asked for */
    struct tm_request *next, *next_made; /* send.c */
    uint64_t line[64]; /* canonical, distinct; or the host's: TM_HOST_LINE */
    struct tm_found_line {
        int64_t extra;    /* cycles more than a hit in the L0 */
        uint32_t l0, gl1; /* its place there: tm_cache_place */
    } found[64];          /* of a load */
};

/* What instructions have asked for. */
struct tm_traffic {
    struct tm_asked asked;
    uint64_t read_bytes, write_bytes;
};

static inline void tm_traffic_add(struct tm_traffic *sum, const struct tm_traffic *more)
{
    tm_asked_add(&sum->asked, &more->asked, 1);
    sum->read_bytes += more->read_bytes;
    sum->write_bytes += more->write_bytes;
}

/* Zero m first. What earlier work has left behind: config.warm_*. */
RD_CHECKED rd_status tm_memory_create(struct tm_memory *m, const struct tm_base *b,
                                      const struct tm_config *config,
                                      const struct emu_launch *launch);
void tm_memory_destroy(struct tm_memory *m);

/* A line of code in the GL2; as tm_cache_access. */
bool tm_memory_code(struct tm_memory *m, uint64_t line, int64_t **ready);

/* When a walk for the code's page that begins now is done. It brings translations for
 * what lies beside the code: small buffers. */
int64_t tm_memory_walk_code(const struct tm_base *b, struct tm_memory *m, int64_t now);

/* When a scalar load that issues now returns. */
int64_t tm_smem(const struct tm_base *b, struct tm_memory *m, struct tm_smem *s,
                const struct tm_inst *i, const struct emu_event *event);

/* What an instruction asks for.
 *
 * scratch  which of the chip's slots the wave is in
 * sum      in/out: traffic so far
 */
void tm_vmem_request(const struct tm_base *b, const struct tm_memory *m,
                     uint64_t scratch, const struct emu_event *event,
                     struct tm_request *r, struct tm_traffic *sum);
/* Pages that nobody has used get their places: in the order of acceptance. */
void tm_vmem_place(struct tm_memory *m, struct tm_request *r);

/* What has been accepted is looked up where it belongs to one CU, in its order: L0,
 * translations. False, and no cache has changed: a page has no place yet. */
bool tm_vmem_look_up(const struct tm_base *b, const struct tm_memory *m,
                     struct tm_vmem *cu, const struct tm_inst *i, struct tm_request *r);
/* Then in the GL1, in the order of the array. */
void tm_vmem_look_up_array(const struct tm_vmem *cu, const struct tm_inst *i,
                           struct tm_request *r);
/* Then what all share is asked for it, in the order of the chip.
 *
 * cu   its number
 * age  of its wave; 0: it is a store
 */
void tm_vmem_ask(const struct tm_base *b, struct tm_memory *m, unsigned cu,
                 uint64_t age, int64_t accept, struct tm_request *r);
/* That will be soon, and sooner: tags come to the host's caches. */
void tm_vmem_fetch(const struct tm_memory *m, const struct tm_request *r);
void tm_vmem_fetch_far(const struct tm_memory *m, const struct tm_request *r);
/* Then it returns, in the order of the array: when it is done. .level is then why it
 * took so long.
 *
 * last  in/out: when the wave's last one of the kind was done
 */
int64_t tm_vmem_return(const struct tm_base *b, struct tm_vmem *cu,
                       const struct tm_inst *i, int64_t accept, struct tm_request *r,
                       int64_t *last);

#endif
