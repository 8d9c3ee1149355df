/* trace.c: thread traces (SQTT): a program sets them up by registers, one for each
 * shader engine, and finds the tokens of its dispatches in memory.
 *
 * Tokens need times, so there are some under the timing model only; without it a trace
 * is empty. A dispatch is traced if its queue's COMPUTE_THREAD_TRACE_ENABLE is set. The
 * stream has what timeline/sqtt.c writes, one dispatch behind the other without the
 * time between them; of register writes those that tell what a dispatch is, and
 * SQ_THREAD_TRACE_USERDATA (the last GPU_TRACE_WORDS since the dispatch before). Must
 * not know packets.
 *
 * Source: register fields of the amdgpu kernel driver's headers (gc_11_0_0_sh_mask.h,
 * soc21_enum.h); which registers a capture has: those of tinygrad's examples.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cp.h"
#include "timeline.h"

/* Of SQ_THREAD_TRACE_*, from GPU_TRACE_REGS on. */
enum { BUF0_BASE = 0, BUF0_SIZE = 1, CTRL = 4, MASK = 5, TOKEN_MASK = 6, WPTR = 7 };
enum { STATUS = 12 };

#define GRBM_GFX_INDEX              0xc200u
#define COMPUTE_THREAD_TRACE_ENABLE 0x2e1eu
#define SE_BROADCAST                (1u << 31)
#define CTRL_MODE                   3u
#define MASK_COMPUTE                (1u << 16) /* of WTYPE_INCLUDE */
#define TOKEN_EXCLUDE               0x7ffu
#define INCLUDE_COMPUTE             (8u << 16) /* of REG_INCLUDE: what compute pipes write */
#define COMPUTE_NUM_THREAD_X        0x2e07u
#define COMPUTE_PGM_LO              0x2e0cu
#define COMPUTE_PGM_RSRC1           0x2e12u
#define WRITE_ERROR                 (1u << 24)
#define WPTR_OFFSET                 0x1fffffffu
#define UNIT                        32u /* bytes that the offset counts, and a write has */
#define HEADER                      8u /* bytes at the beginning of a trace */

void gpu_trace_init(struct gpu_trace *trace)
{
    pthread_mutex_init(&trace->lock, NULL);
}

void gpu_trace_reset(struct gpu_trace *trace)
{
    pthread_mutex_lock(&trace->lock);
    memset(trace->se, 0, sizeof trace->se);
    trace->n_words = 0;
    pthread_mutex_unlock(&trace->lock);
}

/* Whose registers are meant. */
static unsigned selected(struct gpu *gpu, bool *all)
{
    uint32_t index = reg_look(gpu, NULL, GRBM_GFX_INDEX);
    *all = index & SE_BROADCAST;
    return *all ? 0 : index >> 16 & 0xff;
}

static uint64_t base_of(const struct gpu_trace_se *e)
{
    return ((uint64_t)(e->reg[BUF0_SIZE] & 15) << 32 | e->reg[BUF0_BASE]) << 12;
}

static uint64_t room_of(const struct gpu_trace_se *e)
{
    return (uint64_t)(e->reg[BUF0_SIZE] >> 8 & 0x3fffff) << 12;
}

uint32_t gpu_trace_read(struct gpu *gpu, uint32_t reg)
{
    bool all;
    unsigned se = selected(gpu, &all);
    uint32_t value = 0;
    pthread_mutex_lock(&gpu->trace.lock);
    if (se < BOARD_SE) {
        const struct gpu_trace_se *e = &gpu->trace.se[se];
        value = e->reg[reg - GPU_TRACE_REGS];
        if (reg - GPU_TRACE_REGS == WPTR)
            value = (uint32_t)((base_of(e) + e->bytes) / UNIT) & WPTR_OFFSET;
    }
    pthread_mutex_unlock(&gpu->trace.lock);
    return value;
}

uint32_t gpu_trace_told(struct gpu *gpu, uint32_t reg)
{
    pthread_mutex_lock(&gpu->trace.lock);
    uint32_t value = gpu->trace.user[reg - GPU_TRACE_USER];
    pthread_mutex_unlock(&gpu->trace.lock);
    return value;
}

void gpu_trace_word(struct gpu *gpu, uint32_t reg, uint32_t value)
{
    struct gpu_trace *trace = &gpu->trace;
    pthread_mutex_lock(&trace->lock);
    trace->user[reg - GPU_TRACE_USER] = value;
    if (trace->se[0].reg[CTRL] & CTRL_MODE)
        trace->word[trace->n_words++ % GPU_TRACE_WORDS] =
            (struct gpu_trace_word){(uint16_t)reg, value};
    pthread_mutex_unlock(&trace->lock);
}

/* A trace begins when its mode is set. */
static bool set(struct gpu_trace_se *e, uint32_t i, uint32_t value)
{
    bool begins = i == CTRL && value & CTRL_MODE && !(e->reg[CTRL] & CTRL_MODE);
    if (begins) {
        e->bytes = 0;
        e->reg[STATUS] = 0;
    }
    if (i != WPTR && i != STATUS)
        e->reg[i] = value;
    return begins;
}

void gpu_trace_write(struct gpu *gpu, uint32_t reg, uint32_t value)
{
    bool all, begins = false;
    unsigned se = selected(gpu, &all);
    pthread_mutex_lock(&gpu->trace.lock);
    for (unsigned i = 0; i < BOARD_SE; i++)
        if (all || i == se)
            begins |= set(&gpu->trace.se[i], reg - GPU_TRACE_REGS, value);
    if (begins)
        gpu->trace.n_words = 0;
    bool tell = begins && gpu->sclk_mhz == 0 && !gpu->trace.told;
    gpu->trace.told |= tell;
    pthread_mutex_unlock(&gpu->trace.lock);
    if (tell)
        gpu_log(gpu, "thread traces are empty without --timing");
}

/* ---- a dispatch ------------------------------------------------------------------ */

bool cp_trace_wanted(struct gpu_queue *q)
{
    struct gpu_trace *trace = &q->gpu->trace;
    uint32_t modes = 0;
    pthread_mutex_lock(&trace->lock);
    for (unsigned i = 0; i < BOARD_SE; i++)
        modes |= trace->se[i].reg[CTRL] & CTRL_MODE;
    pthread_mutex_unlock(&trace->lock);
    return modes && reg_look(q->gpu, q->sh, COMPUTE_THREAD_TRACE_ENABLE) & 1;
}

bool cp_trace_begin(struct gpu_queue *q, const struct emu_dispatch *d,
                    const uint32_t *cu_mask, struct tm_engine *t, struct cp_trace *out)
{
    struct tl_error err;
    if (!cp_trace_wanted(q))
        return false;
    out->dispatch = d;
    for (unsigned i = 0; i < BOARD_SE; i++)
        out->cu_mask[i] = cu_mask ? cu_mask[i] : UINT32_MAX;
    out->fd = memfd_create("rdna3-trace", MFD_CLOEXEC);
    snprintf(out->path, sizeof out->path, "/proc/self/fd/%d", out->fd);
    if (out->fd < 0 || tl_create(out->path, NULL, &out->writer, &err) != RD_OK) {
        gpu_log(q->gpu, "queue %u: no thread trace: out of memory", q->id);
        if (out->fd >= 0)
            (void)close(out->fd);
        return false;
    }
    struct tm_observer observer = tl_observer(out->writer);
    tm_observe(t, &observer);
    return true;
}

/* What the command processor writes for a dispatch, and what the program has written
 * into the trace. Owner: free. NULL: out of memory. */
static struct tl_register *registers(const struct gpu_trace *trace,
                                     const struct cp_trace *t, size_t *n)
{
    static const uint16_t cus[BOARD_SE] = {0x2e16, 0x2e17, 0x2e19,
                                           0x2e1a, 0x2e2b, 0x2e2c};
    const struct emu_dispatch *d = t->dispatch;
    const struct tl_register own[] = {{COMPUTE_PGM_LO, (uint32_t)(d->entry >> 8)},
                                      {COMPUTE_PGM_LO + 1, (uint32_t)(d->entry >> 40)},
                                      {COMPUTE_PGM_RSRC1, d->rsrc1},
                                      {COMPUTE_PGM_RSRC1 + 1, d->rsrc2},
                                      {COMPUTE_NUM_THREAD_X, d->block[0]},
                                      {COMPUTE_NUM_THREAD_X + 1, d->block[1]},
                                      {COMPUTE_NUM_THREAD_X + 2, d->block[2]}};
    const size_t n_own = sizeof own / sizeof *own;
    size_t words = trace->n_words < GPU_TRACE_WORDS ? trace->n_words : GPU_TRACE_WORDS;
    struct tl_register *out = malloc((words + BOARD_SE + n_own) * sizeof *out);
    *n = 0;
    for (size_t i = trace->n_words - words; out && i < trace->n_words; i++) {
        const struct gpu_trace_word *w = &trace->word[i % GPU_TRACE_WORDS];
        out[(*n)++] = (struct tl_register){w->reg, w->value};
    }
    for (unsigned i = 0; out && i < BOARD_SE; i++)
        out[(*n)++] = (struct tl_register){cus[i], t->cu_mask[i]};
    if (out)
        memcpy(out + *n, own, sizeof own);
    *n += n_own;
    return out;
}

/* Whole units, and HEADER bytes more: no operations follow the tokens. NULL: out of
 * memory. */
static char *tokens(const struct timeline *tl, const struct gpu_trace_se *e,
                    unsigned se, const struct tl_register *reg, size_t n_regs,
                    size_t *n)
{
    uint32_t mask = e->reg[MASK];
    n_regs = e->reg[TOKEN_MASK] & INCLUDE_COMPUTE ? n_regs : 0;
    struct tl_simd simd = {se, mask >> 9 & 1, mask >> 4 & 15, mask & 3};
    char *data = NULL;
    FILE *f = open_memstream(&data, n);
    rd_status st = f ? tl_write_sqtt(tl, 0, &simd, e->reg[TOKEN_MASK] & TOKEN_EXCLUDE,
                                     reg, n_regs, f)
                     : RD_E_NOMEM;
    for (long at = f ? ftell(f) : 0; at % UNIT; at++)
        fputc(0, f);
    for (unsigned i = 0; f && i < HEADER; i++)
        fputc(0, f);
    if ((f && fclose(f) != 0) || st != RD_OK) {
        free(data);
        return NULL;
    }
    *n -= HEADER;
    return data;
}

static void put(struct gpu_queue *q, const struct timeline *tl, unsigned se,
                const struct tl_register *reg, size_t n_regs)
{
    struct gpu_trace_se *e = &q->gpu->trace.se[se];
    size_t n = 0;
    if (!(e->reg[CTRL] & CTRL_MODE) || !(e->reg[MASK] & MASK_COMPUTE))
        return;
    char *data = tokens(tl, e, se, reg, n_regs, &n), *from = data;
    uint64_t room = room_of(e) > e->bytes ? room_of(e) - e->bytes : 0;
    if (data && e->bytes > 0)
        from += HEADER; /* one is enough */
    if (n > room)
        n = room; /* the rest is lost */
    if (data && vm_write(q->gpu, q->space, base_of(e) + e->bytes, from, n))
        e->bytes += n;
    else
        e->reg[STATUS] |= WRITE_ERROR;
    free(data);
}

void cp_trace_end(struct gpu_queue *q, struct cp_trace *t)
{
    struct gpu_trace *trace = &q->gpu->trace;
    struct timeline *tl = NULL;
    struct tl_error err;
    rd_status st = tl_close(t->writer, &err);
    if (st == RD_OK)
        st = tl_read(t->path, &tl, &err);
    if (st != RD_OK)
        gpu_log(q->gpu, "queue %u: no thread trace: %s", q->id, err.text);
    pthread_mutex_lock(&trace->lock);
    size_t n_regs = 0;
    struct tl_register *reg = registers(trace, t, &n_regs);
    if (!reg)
        gpu_log(q->gpu, "queue %u: no thread trace: out of memory", q->id);
    for (unsigned se = 0; reg && st == RD_OK && tl->n_dispatches && se < BOARD_SE; se++)
        put(q, tl, se, reg, n_regs);
    free(reg);
    trace->n_words = 0; /* they are told once */
    pthread_mutex_unlock(&trace->lock);
    tl_free(tl);
    (void)close(t->fd);
}
