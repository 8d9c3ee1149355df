/* pmc.h: performance counters: their state, and the facts of a dispatch that they
 * count. SPDX-License-Identifier: MIT
 */
#ifndef RD_GPU_PMC_H
#define RD_GPU_PMC_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "board.h"

struct gpu;
struct tm_engine;
struct emu_dispatch;
struct emu_stats;

enum pmc_fact {
#define F(fact, place, timed, text) PMC_##fact,
#define E(block, event, name, fact)
#include "pmc.def"
#undef F
#undef E
    PMC_FACTS
};

/* Those that opcodes show, and stats do not. */
#define PMC_FIRST_OPCODES PMC_BRANCHES
#define PMC_LAST_OPCODES  PMC_DELAYS

#define PMC_WGPS_PER_SA (BOARD_CU_PER_SA / 2)
#define PMC_WGPS        (BOARD_CUS / 2)
#define PMC_PLACES      BOARD_CUS

/* Of a dispatch, by place: numbers of WGPs, CUs and arrays count SEs, then their
 * arrays, then what is in those; the chip is place 0. */
struct pmc_facts {
    uint64_t of[PMC_FACTS][PMC_PLACES];
};

/* Source: block tables of AMD's aqlprofile (gfx11). */
enum pmc_block { PMC_GRBM, PMC_SQ, PMC_SQG, PMC_TCP, PMC_GL1C, PMC_GL2C, PMC_BLOCKS };
enum { PMC_COUNTERS = 8, PMC_UNITS = BOARD_SE * BOARD_SA_PER_SE * 16 };

struct pmc_counter {
    uint32_t select;
    uint64_t count, sampled; /* sampled: what a program reads */
};

struct gpu_pmc {
    pthread_mutex_t lock;        /* taken last but gpu.clock's */
    uint32_t control;            /* CP_PERFMON_CNTL */
    uint32_t sequencer[2][3];    /* SQ_, SQG_PERFCOUNTER_CTRL and what follows it */
    struct pmc_counter *counter; /* [PMC_BLOCKS][PMC_UNITS][PMC_COUNTERS]; NULL: none
                                    has been selected yet */
    bool wants_opcodes;          /* a counter shows instructions */
    uint64_t since;              /* clock when they began, or at the last sample */
    uint64_t busy_until;         /* clock, up to where GRBM_GUI_ACTIVE has counted */
    bool told;                   /* that there are no times */
    uint32_t unknown[PMC_BLOCKS][32]; /* bit per event that has been told */
};

void gpu_pmc_init(struct gpu_pmc *pmc);
void gpu_pmc_reset(struct gpu_pmc *pmc);
/* Registers (regs.def), which a board's GPU has, too. */
uint32_t gpu_pmc_read(struct gpu *gpu, uint32_t reg);
void gpu_pmc_write(struct gpu *gpu, uint32_t reg, uint32_t value);
/* Programs read what has been counted up to now. */
void gpu_pmc_sample(struct gpu *gpu);

/* ---- pmc_facts.c ---- */

/* Of a number that is shared by weights: what goes to those from one sum of them up to
 * another, of all. Sums over all are the number. */
uint64_t pmc_share(uint64_t number, uint64_t from, uint64_t to, uint64_t all);
/* Of a dispatch without times. executed: by opcode, or NULL: no instruction is counted
 */
void pmc_facts_executed(struct pmc_facts *f, const uint64_t *executed,
                        const struct emu_dispatch *d, const struct emu_stats *stats);
/* Of one with times. */
void pmc_facts_timed(struct pmc_facts *f, const struct tm_engine *t,
                     const struct emu_dispatch *d);

#endif
