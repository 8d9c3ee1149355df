/* chip.h: SIMDs, CUs, WGPs, shader engines: made of their units.
 * SPDX-License-Identifier: MIT
 */
#ifndef TM_CHIP_H
#define TM_CHIP_H

#include "send.h"
#include "wave.h"

/* words of bits: TM_LDS_PLACE bytes each, or the LDS of a workgroup; 2 CUs, and room */
enum { TM_LDS_PLACES = 4, TM_LDS_PLACE = 1024 };

struct tm_group {
    struct emu_group *group;
    uint64_t number;
    int64_t start;
    unsigned n_waves, n_live, n_held; /* all; not left; whose places are not free */
    struct tm_wgp *wgp;
    unsigned cu; /* of the WGP */
    struct tm_lds_part lds;
    unsigned lds_place, n_places;
    unsigned launch; /* whose it is: a number, from 0 */
    unsigned loads;  /* waves of it that have loads from LDS to execute */
    struct tm_wave *waves[32];
    struct tm_group *next_free, *next_made;
};

/* Who is in a SIMD: kept by engine/place.c. */
struct tm_simd_room {
    unsigned vgprs_used, waves, live; /* live: not left */
    uint32_t slots;                   /* bit per slot in use */
    int64_t slot_free[32];
    int64_t held_since, held; /* cycles with a wave resident */
};

/* Who has issued where: kept by exec.h. */
struct tm_ports {
    int64_t last[TM_CLASSES];           /* issue */
    struct tm_wave *clause[TM_CLASSES]; /* the wave in a clause, which goes on */
    int64_t last_barrier;
    bool barrier_second;  /* the last one followed another in the next cycle */
    int64_t barrier_open; /* for the one after that */
    uint64_t issued;
};

struct tm_line;

struct tm_simd {
    unsigned se, sa, wgp, index;
    struct tm_cu *cu;
    struct tm_wgp *in;
    struct tm_simd_room room;
    struct tm_ports port;
    struct tm_valu valu;
    struct tm_line *line;       /* that wait for it (engine/turns.h), or NULL */
    int64_t lds_room;           /* when the next one has a free entry */
    struct tm_ring lds_queue;   /* issued and not accepted */
    struct tm_queue vmem_queue; /* the same */
};

/* The last operation on its way to the LDS of a CU, and the way. */
struct tm_lds_path {
    int64_t free;
    unsigned turns; /* times that both SIMDs came at once */
    struct tm_lds_op {
        struct tm_wave *wave;
        uint64_t age; /* of the wave; 0: none */
        const struct tm_inst *inst;
        const struct tm_simd *simd, *before; /* its, that of the one before it */
        int64_t ready, accept, done, free;   /* of its queue entry */
        int64_t lds_free, back; /* of the LDS and the way from it, without it */
        size_t listed;          /* its place in the wave's list */
        bool before_waited, overtaken, at_once; /* the LDS takes it when accepted */
    } last;
};

struct tm_cu_room {
    uint32_t lds_used;
    int64_t next_group;
    int64_t held_since, held;
    unsigned waves;
};

struct tm_cu {
    struct tm_simd simd[2];
    struct tm_cu_room room;
    struct tm_lds_path lds_path;
    struct tm_lds lds;
    struct tm_vmem vmem;
    struct tm_send send; /* VGPRs to vector memory; large */
};

struct tm_wgp_room {
    unsigned enabled; /* bit per CU */
    unsigned waves, groups;
    bool wgp_mode;                     /* of these */
    uint64_t lds_taken[TM_LDS_PLACES]; /* bit per place */
    int64_t busy_since, busy_cycles;
};

struct tm_wgp {
    struct tm_cu cu[2];
    struct tm_wgp_room room;
    struct tm_fetch fetch;
    struct tm_smem smem;
    int64_t barrier_free;
    unsigned put_off; /* bit per SIMD: one of its waves is, since somebody looked */
};

struct tm_se {
    struct tm_wgp *wgps; /* arrays_per_se * wgps_per_array */
    struct tm_cache gl1[TM_MAX_ARRAYS];
    struct tm_code_port port[TM_MAX_ARRAYS];
    struct tm_sent sent;
};

/* Instructions issued. skipped: VALU, EXEC being zero; in_runs: without a turn of their
 * own (engine/run.h); loads_postponed: from LDS (engine/later.h). */
struct tm_issues {
    uint64_t all, skipped, in_runs, loads_postponed, of_class[TM_CLASSES];
};

struct tm_chip {
    struct tm_base b;
    unsigned n_ses, wgps_per_se;
    struct tm_se se[TM_MAX_SES];
    struct tm_wgp *wgps;
    struct tm_code code;
    struct tm_memory *mem;
    struct tm_lds_counts lds;
    struct tm_issues issues;
};

static inline struct tm_traffic tm_traffic_of(const struct tm_chip *c)
{
    struct tm_traffic sum = {.read_bytes = 0};
    for (unsigned k = 0; k < c->n_ses; k++)
        tm_traffic_add(&sum, &c->se[k].sent.traffic);
    return sum;
}

/* What a wave has sent goes later than was said, by an issue of another one. */
static inline void tm_put_off(struct tm_wave *w)
{
    w->put_off = true;
    w->simd->in->put_off |= 1u << w->simd->index;
}

/* The way of a wave to the LDS. */
static inline struct tm_lds_way tm_lds_way(struct tm_chip *c, const struct tm_wave *w)
{
    struct tm_wgp *g = w->simd->in;
    return (struct tm_lds_way){.back = &w->simd->cu->lds.back,
                               .unit = {&g->cu[0].lds, &g->cu[1].lds},
                               .own = !c->b.wgp_mode
                                          ? w->simd->index % 2
                                          : w->group->lds.base >=
                                                (uint32_t)PARAM(&c->b, lds_per_cu),
                               .part = &w->group->lds,
                               .counts = &c->lds};
}

/* Does the wave know by then that the instruction does nothing, EXEC being zero? */
static inline bool tm_skipped(const struct tm_wave *w, const struct tm_inst *i,
                              int64_t when)
{
    return i->cls == TM_VALU &&
           (i->pipe == TM_PIPE_NONE ||
            (i->exec_matters && *w->exec == 0 && emu_wave_exec(w->wave) == 0 &&
             when >= w->salu.exec_visible));
}

#endif
