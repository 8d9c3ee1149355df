/* arena.h: memory for waves that load all their registers, run a body and store all
 * their registers, and engines that run it: one per SIMD level, thread count and way of
 * stepping. What the waves left behind can be compared byte by byte.
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_DIFF_ARENA_H
#define TEST_DIFF_ARENA_H

#include "event.h"
#include "step.h"

/* Registers that a body may use freely; the rest of the file is the frame's. */
#define FREE_VGPRS 48u
#define FREE_SGPRS 64u

/* Registers of the frame that a body may read. */
#define REG_COUNTER 64u  /* s64 to s67: loop counters */
#define REG_SAMPLER 68u  /* s[68:71] */
#define REG_IMAGE   72u  /* s[72:79] */
#define REG_BLOCK   80u  /* s[80:81]: the wave's block */
#define REG_DATA    82u  /* s[82:83]: middle of its data */
#define REG_RAW     88u  /* s[88:91]: raw buffer over its data */
#define REG_STRUCT  92u  /* s[92:95]: structured buffer over its data */
#define REG_SAVE    96u  /* s[96:97] */
#define REG_SHARED  98u  /* s[98:99]: memory that all waves share */
#define REG_TEMP    100u /* s[100:103] */
#define VREG_ADDR   64u  /* v64 to v71: addresses */

#define LDS_BYTES     4096u
#define SCRATCH_BYTES 512u
#define MAX_WAVES     8u /* of a dispatch */

/* Registers of one wave before or after its body. */
struct wave_regs {
    uint32_t v[FREE_VGPRS][64]; /* wave32: row-major all the same, 32 of 64 used */
    uint32_t s[FREE_SGPRS];
    uint32_t vcc[2], m0, scc, exec[2], mode, spare;
};

#define DATA_BYTES 16384u /* of a wave; REG_DATA is DATA_BYTES / 4 into it */

struct block {
    struct wave_regs in, out;
    uint32_t resource[32]; /* raw, structured, image, sampler, shared pointer */
    uint32_t lds[LDS_BYTES / 4];
    _Alignas(4096) uint8_t data[DATA_BYTES];
};

struct shape {
    unsigned lanes, groups, waves; /* waves: of a group */
};

struct arena {
    struct block *blocks; /* [MAX_WAVES] */
    uint32_t *shared;     /* one page */
    uint8_t *code;
    size_t prologue[2], epilogue_bytes[2]; /* by wave size */
    size_t body_bytes;                     /* of what was placed last */
    uint8_t *text[2], *tail[2];            /* prologue and epilogue by wave size */
    struct block *initial, *first;         /* copies of blocks */
    uint32_t *shared_initial, *shared_first;
};

struct arena *arena_create(void);
void arena_destroy(struct arena *a);

/* Resources of a wave's block, as every program finds them. */
void arena_resources(struct arena *a, unsigned wave);

/* Assemble one line into code (ISA_MAX_BYTES); aborts with the text if it is wrong.
 * Returns its length. */
unsigned arena_assemble(const char *text, unsigned lanes, uint8_t *code);

/* Put a body between prologue and epilogue. Returns the bytes in front of it. */
size_t arena_place(struct arena *a, unsigned lanes, const uint8_t *body, size_t bytes);

/* One way to run a program. */
struct engine {
    const char *name;
    struct emu *emu;
    bool stepped; /* through step.h; only for one wave */
};

enum {
    ENGINE_GENERIC,
    ENGINE_AVX2,
    ENGINE_AVX512,
    ENGINE_THREADS,
    ENGINE_STEPPED,
    ENGINE_OBSERVED,
    ENGINE_NATIVE_AVX2,
    ENGINE_NATIVE_AVX512,
    ENGINE_NATIVE_COUNTED,
    ENGINE_COUNT
};

/* Engines that this host can run; others have emu NULL. observer is attached to
 * ENGINE_OBSERVED and may be NULL. */
void engines_create(struct engine *engines, struct arena *a,
                    const struct emu_observer *observer);
/* The same with emu_config.exact_dots. */
void engines_create_exact(struct engine *engines, struct arena *a);
void engines_destroy(struct engine *engines);

struct outcome {
    rd_status status;
    struct emu_fault fault;
};

/* Run what arena_place has placed. */
struct outcome engine_run(const struct engine *e, struct arena *a,
                          const struct shape *shape);

/* Remember the memory before a run, restore it, remember what the first engine made of
 * it; compare what another makes of it. arena_differs: what differs first into text. */
void arena_keep_initial(struct arena *a, const struct shape *shape);
void arena_restore(struct arena *a, const struct shape *shape);
void arena_keep_first(struct arena *a, const struct shape *shape);
bool arena_differs(const struct arena *a, const struct shape *shape, char *text,
                   size_t size);

#endif
