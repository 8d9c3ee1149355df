/* trace.c: thread traces (SQTT): a program sets them up by registers, one for each
 * shader engine, and finds the tokens of its dispatches in memory.
 *
 * Tokens need times, so there are some under the timing model only; without it a trace
 * is empty. A dispatch is traced if its queue's COMPUTE_THREAD_TRACE_ENABLE is set. The
 * stream has what timeline/sqtt.c writes, one dispatch behind the other without the
 * time between them. Must not know packets.
 *
 * Source: register fields of the amdgpu kernel driver's headers (gc_11_0_0_sh_mask.h).
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

bool cp_trace_begin(struct gpu_queue *q, struct tm_engine *t, struct cp_trace *out)
{
    struct tl_error err;
    if (!cp_trace_wanted(q))
        return false;
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

/* Whole units, and HEADER bytes more: no operations follow the tokens. NULL: out of
 * memory. */
static char *tokens(const struct timeline *tl, const struct gpu_trace_se *e,
                    unsigned se, size_t *n)
{
    uint32_t mask = e->reg[MASK];
    struct tl_simd simd = {se, mask >> 9 & 1, mask >> 4 & 15, mask & 3};
    char *data = NULL;
    FILE *f = open_memstream(&data, n);
    rd_status st =
        f ? tl_write_sqtt(tl, 0, &simd, e->reg[TOKEN_MASK] & TOKEN_EXCLUDE, f)
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

static void put(struct gpu_queue *q, const struct timeline *tl, unsigned se)
{
    struct gpu_trace_se *e = &q->gpu->trace.se[se];
    size_t n = 0;
    if (!(e->reg[CTRL] & CTRL_MODE) || !(e->reg[MASK] & MASK_COMPUTE))
        return;
    char *data = tokens(tl, e, se, &n), *from = data;
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
    for (unsigned se = 0; st == RD_OK && tl->n_dispatches && se < BOARD_SE; se++)
        put(q, tl, se);
    pthread_mutex_unlock(&trace->lock);
    tl_free(tl);
    (void)close(t->fd);
}
