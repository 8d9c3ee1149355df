/* timeline.h: a timed run as a timeline: every wave with what each of its cycles went
 * to, counters over time. Written by an observer of the timing engine, read back into
 * memory, also while it is still being written; exported for other tools.
 *
 *     tl_create(path, &options, &w, &err);
 *     tl_name(w, "kernel");
 *     observer = tl_observer(w);  tm_observe(engine, &observer);  tm_run(...);
 *     tl_close(w, &err);
 *
 *     tl_open(path, &tl, &err);
 *     tl_poll(tl, &more, &err);   again and again while a run goes on
 *     tl->wave[...]
 *     tl_free(tl);
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TIMELINE_H
#define RD_TIMELINE_H

#include <stdio.h>

#include "observer.h"

/* One line, without "error: ". */
struct tl_error {
    char text[256];
};

/* ---- writing --------------------------------------------------------------------- */

struct tl_writer;

struct tl_options {
    bool live;             /* write often: somebody is watching the file grow */
    bool append;           /* whole dispatches, behind what other writers wrote */
    int64_t sample_cycles; /* distance of counter samples; 0: 256 */
};

RD_CHECKED rd_status tl_create(const char *path, const struct tl_options *options,
                               struct tl_writer **out, struct tl_error *err);

/* The name of the next dispatch's kernel. */
void tl_name(struct tl_writer *w, const char *kernel);

/* What to hand to tm_observe; for any number of engines, one after the other. */
struct tm_observer tl_observer(struct tl_writer *w);

uint64_t tl_bytes_written(const struct tl_writer *w);

/* Finish the file and free the writer (NULL is fine). Returns the first error there
 * was; the file is then cut short. */
RD_CHECKED rd_status tl_close(struct tl_writer *w, struct tl_error *err);

/* Finish the file of a writer whose process has gone, so that readers stop waiting. An
 * empty file becomes a timeline without dispatches. */
RD_CHECKED rd_status tl_finish(const char *path, struct tl_error *err);

/* ---- reading --------------------------------------------------------------------- */

#define TL_NONE UINT32_MAX

struct tl_inst {
    char *text; /* NULL: no such number */
    uint32_t offset;
    uint8_t bytes, cls, pipe, regs; /* as in struct tm_step */
    uint8_t code[12];
    uint16_t op; /* what the bytes say: enum isa_op, enum isa_enc; 0: no instruction */
    uint8_t enc;
    bool no_saddr; /* an address without a scalar part */
};

/* A stretch of a wave's life: it lasts until the next one begins. Of several that begin
 * at the same time all but the last are free steps (TM_STEP_FREE) and last no time. */
struct tl_seg {
    uint32_t at;   /* cycles after the wave's start */
    uint32_t inst; /* that issues, or that waits; TL_NONE: not known yet (tl_wait) */
    union {
        uint32_t from; /* of a wait: the instruction waited for, or TL_NONE */
        uint32_t exec; /* of an issue: cycles until execution; 0: unknown */
    };
    uint8_t why;   /* enum tm_stall; TM_S_NONE: one cycle in which it issues, or a free
                      step */
    uint8_t flags; /* TM_STEP_* */
};

struct tl_wave {
    uint32_t dispatch;
    uint32_t kernel; /* its dispatch's */
    uint32_t wg[3], wave;
    uint8_t se, sa, wgp, simd, slot;
    bool ended;
    bool waits;         /* its last segment is of tl_wait */
    uint32_t last;      /* instruction */
    int64_t start, end; /* end: known so far, if not ended */
    struct tl_seg *seg;
    uint32_t n_segs, cap_segs;
};

struct tl_dispatch {
    struct tm_machine machine;
    char *name;
    uint32_t kernel; /* number of the name */
    int64_t base;    /* its time 0 */
    int64_t end;     /* the latest time known of it */
    bool finished;
    rd_status status;
    size_t first_wave, n_waves;
    size_t first_sample, n_samples;
    struct tl_inst *inst; /* by id */
    uint32_t n_insts;
    uint32_t *order; /* ids by offset, of tl_sort */
    uint32_t n_order;
};

struct tl_sample {
    int64_t t;
    uint64_t count[TM_COUNTS]; /* of its dispatch */
};

/* All times are shader clocks of one base: a dispatch begins when the one before it has
 * ended. */
struct timeline {
    struct tl_dispatch *dispatch;
    struct tl_wave *wave;
    struct tl_sample *sample;
    size_t n_dispatches, n_waves, n_samples;
    uint32_t n_kernels;
    uint64_t n_steps;
    int64_t end;
    size_t first_open;      /* waves before it have ended, as far as tl_wait knows */
    bool closed;            /* the writer has finished */
    struct tl_input *input; /* private */
};

/* Open a timeline, which may still be empty. The file may come from anywhere: what is
 * wrong with it is an error with its place. Nothing is read yet. */
RD_CHECKED rd_status tl_open(const char *path, struct timeline **out,
                             struct tl_error *err);

/* Take in what the file has, one chunk at most.
 *
 * more  out: whether there was one
 */
RD_CHECKED rd_status tl_poll(struct timeline *tl, bool *more, struct tl_error *err);

/* Steps are told when waves have issued. Let waves that have not ended wait from their
 * last step to the last time known of their dispatch: a segment without an instruction,
 * for TM_S_OTHER, as nobody knows yet for what. What tl_poll reads takes its place. */
RD_CHECKED rd_status tl_wait(struct timeline *tl);

/* Everything, of a file that no longer grows: RD_E_TRUNCATED if it ends in a chunk. */
RD_CHECKED rd_status tl_read(const char *path, struct timeline **out,
                             struct tl_error *err);
void tl_free(struct timeline *tl);

/* Is it a timeline, by its first bytes? */
bool tl_is(const char *path);

/* ---- questions ------------------------------------------------------------------- */

/* The instruction of a wave's dispatch; NULL if unknown. */
const struct tl_inst *tl_inst(const struct timeline *tl, const struct tl_wave *w,
                              uint32_t id);

/* Where a relative branch goes, as an offset; false: it is none. */
bool tl_branch_target(const struct tl_inst *inst, uint32_t *target);

/* The segment of a wave that holds time t; NULL outside its life or knowledge. */
const struct tl_seg *tl_at(const struct tl_wave *w, int64_t t);
int64_t tl_seg_end(const struct tl_wave *w, const struct tl_seg *s); /* after start */

/* The instruction that its cycles count for: the one that issues or waits to; a wait at
 * a barrier is the barrier's. */
uint32_t tl_seg_inst(const struct tl_seg *s);

/* What the cycles of an instruction went to, over waves. */
struct tl_account {
    uint64_t times, cycles, stall[TM_STALLS];
};

/* Add a wave's cycles between two times (INT64_MIN, INT64_MAX: all).
 *
 * account  [dispatch->n_insts], by id
 */
void tl_account(const struct timeline *tl, const struct tl_wave *w, int64_t from,
                int64_t to, struct tl_account *account);

/* The same of all waves of a dispatch, [its n_insts + 1]; the caller frees it. NULL:
 * out of memory. */
struct tl_account *tl_accounts(const struct timeline *tl, size_t dispatch);

/* Fill dispatch->order. */
RD_CHECKED rd_status tl_sort(struct tl_dispatch *d);

/* Annotated listing of a dispatch; the last line has the sum of all wave cycles. */
RD_CHECKED rd_status tl_print_listing(const struct timeline *tl, size_t dispatch,
                                      FILE *f);

/* What happened: kernels, times, states, in a few lines each. */
RD_CHECKED rd_status tl_print_summary(const struct timeline *tl, FILE *f);

/* ---- two runs ------------------------------------------------------------------- */

/* A dispatch beside one of another timeline: the one with its name and, of several, its
 * number among them; any two where each timeline has one alone. */
struct tl_comparison {
    size_t old;                   /* in the other timeline */
    struct tl_account *now, *was; /* by id, of each */
    struct tl_account all_now, all_was;
    uint32_t *match; /* by id: the other's instruction that is it, or TL_NONE */
};

/* Fills the order of both dispatches. RD_E_NOT_FOUND: nothing to compare with. The
 * caller frees it with tl_compare_free. */
RD_CHECKED rd_status tl_compare(struct timeline *tl, size_t dispatch,
                                struct timeline *other, struct tl_comparison *out);
void tl_compare_free(struct tl_comparison *c);

/* ---- exports --------------------------------------------------------------------- */

/* One SIMD of the machine. */
struct tl_simd {
    unsigned se, sa, wgp, simd;
};

/* JSON of Chrome's trace events, which Perfetto reads: a process per SIMD, a track per
 * slot with waves and in them states and instructions; counters as curves. Times in
 * microseconds at the shader clock of the first dispatch.
 */
struct tl_chrome {
    bool waves_only; /* no slices for instructions and waits */
    bool cycles;     /* a nanosecond stands for a cycle: viewers keep nanoseconds, and a
                        cycle of more than 1 GHz is less than that */
    const struct tl_simd *simd; /* whose instructions; NULL: of all */
};

RD_CHECKED rd_status tl_write_chrome(const struct timeline *tl,
                                     const struct tl_chrome *options, FILE *f);

/* A thread trace of one shader engine as gfx11's hardware writes it (SQTT, layout 3):
 * starts and ends of all its waves, instructions of one SIMD, times in shader clocks
 * from the dispatch's beginning, 100 MHz clock marks.
 *
 * simd     whose instructions
 * without  what is left out: SQ_THREAD_TRACE_TOKEN_MASK's TOKEN_EXCLUDE; 0: nothing
 * reg      what the command processor has written to registers before, in order
 */
struct tl_register {
    uint16_t number;
    uint32_t value;
};
RD_CHECKED rd_status tl_write_sqtt(const struct timeline *tl, size_t dispatch,
                                   const struct tl_simd *simd, unsigned without,
                                   const struct tl_register *reg, size_t n_regs,
                                   FILE *f);

/* The same of every shader engine that had waves, in the container of Radeon GPU
 * Profiler (.rgp), with the machine and the code.
 *
 * simd  of each engine; .se means nothing
 * code  the code object (ELF) that the kernel is of, or NULL: the file has none
 * base  the address it was loaded at
 */
struct tl_rgp {
    struct tl_simd simd;
    const void *code;
    size_t code_bytes;
    uint64_t base;
};

RD_CHECKED rd_status tl_write_rgp(const struct timeline *tl, size_t dispatch,
                                  const struct tl_rgp *options, FILE *f);

#endif
