/* save.c: what a kernel driver's trap handler needs of the chip around it: where waves
 * go when a queue is taken off inside a kernel, page faults that waves outlive, waves
 * that are launched halted.
 *
 * The save area begins with a header of the driver's; behind it, down from the end of
 * the control stack, there is a word for each wave, and up from there its context, as
 * the handler stores it: VGPRs, SGPRs, hardware registers, trap temporaries, and with
 * the first wave of a workgroup its LDS. Debuggers read both. Source: the handler in
 * Linux, and AMD's debugger interface (rocdbgapi), which are public. Threads: waves are
 * placed by any thread that runs them. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "context.h"
#include "cp.h"

#define STACK_HEAD 4u /* dwords: two packets of no meaning here, state in two words */
#define NOP_DWORD  0xffff1000u
#define LDS_BLOCK  512u

/* Words of the control stack. */
#define STATE               (1u << 31)
#define STATE_WAVE32        (1u << 24)
#define STATE_LDS(n)        ((n) << 10)
#define WAVE_FIRST          (1u << 12)
#define WAVE_LAST           (1u << 29)
#define VGPR_BLOCKS(n, w64) ((n) / ((w64) ? 4 : 8) - 1)

static uint64_t context_bytes(const struct emu_saved_wave *w)
{
    return w->vgprs * (w->wave64 ? 64ull : 32ull) * 4 + EMU_SAVED_SGPR_BYTES +
           EMU_SAVED_HWREG_BYTES + (w->first ? w->lds_bytes : 0);
}

/* Lock held. */
static bool stack_push(struct cp_save *s, uint32_t word)
{
    if (s->n == s->room) {
        unsigned room = s->room ? 2 * s->room : 64;
        uint32_t *words = realloc(s->words, room * sizeof(*words));
        if (!words)
            return false;
        s->words = words;
        s->room = room;
    }
    s->words[s->n++] = word;
    return true;
}

static uint64_t place(void *ctx, const struct emu_saved_wave *w)
{
    struct gpu_queue *q = ctx;
    struct cp_save *s = &q->save;
    uint64_t at = 0, bytes = context_bytes(w);
    pthread_mutex_lock(&q->lock);
    uint64_t end = s->area.base + s->area.bytes;
    uint64_t stack = 4ull * (s->n + 1 + STACK_HEAD);
    if (s->next && end > s->next && end - s->next >= bytes &&
        stack <= s->area.stack_bytes &&
        stack_push(s, (w->first ? WAVE_FIRST : 0) | (w->last ? WAVE_LAST : 0))) {
        at = s->next;
        s->next += bytes;
        s->state = STATE | (w->wave64 ? 0 : STATE_WAVE32) |
                   VGPR_BLOCKS(w->vgprs, w->wave64) |
                   STATE_LDS(w->lds_bytes / LDS_BLOCK);
    }
    pthread_mutex_unlock(&q->lock);
    return at;
}

static void fault(void *ctx, const struct emu_fault *f)
{
    struct gpu_queue *q = ctx;
    bool fetch = f->kind == EMU_FAULT_FETCH;
    struct gpu_page_fault page = {.va = f->address,
                                  .write = !fetch && f->write,
                                  .exec = fetch,
                                  .space = q->space};
    struct gpu_page_fault why;
    struct vm_span span;
    page.present = vm_translate(q->gpu, q->space, page.va, 1, GPU_READ, NULL, &span,
                                &why) == RD_OK;
    char text[512];
    emu_fault_text(f, text, sizeof(text));
    gpu_log(q->gpu, "queue %u: %s; its trap handler goes on", q->id, text);
    q->gpu->host.page_fault(q->gpu->host.ctx, q->config.owner, &page);
}

static bool halted(void *ctx)
{
    const struct gpu_queue *q = ctx;
    return q->traps.watches && atomic_load(&q->traps.watches->halted);
}

/* Behind the ioctl mock the kernel driver's handler is no code: what it does is done
 * here. */
static bool store(void *ctx, uint64_t at, const void *from, uint64_t bytes)
{
    const struct gpu_queue *q = ctx;
    return vm_write(q->gpu, q->config.space, at, from, bytes);
}

static bool load(void *ctx, uint64_t at, void *to, uint64_t bytes)
{
    const struct gpu_queue *q = ctx;
    return vm_read(q->gpu, q->config.space, at, to, bytes);
}

/* NULL: waves have none, where others than the engine decide who runs. */
static const struct emu_context *begin_context(struct gpu_queue *q, bool stepped)
{
    bool board = q->gpu->host.board;
    q->context = (struct emu_context){
        .ctx = q, .place = place, .halted = halted, .stays = board};
    if (board) {
        q->context.page_fault = fault;
    } else {
        q->context.store = store;
        q->context.load = load;
        q->context.stays = q->traps.watches;
    }
    return (board ? q->traps.tba != 0 : !stepped) ? &q->context : NULL;
}

void cp_traps(struct gpu_queue *q, struct emu_queue *around)
{
    const struct gpu_host *host = &q->gpu->host;
    q->traps = (struct gpu_traps){.doorbell = q->id};
    if (host->board && host->board->traps) {
        host->board->traps(host->ctx, q->config.owner, &q->traps);
    } else {
        q->traps.tba = atomic_load(&q->gpu->tba);
        q->traps.tma = atomic_load(&q->gpu->tma);
        q->traps.watches = host->watches ? host->watches(host->ctx) : NULL;
    }
    around->tba = q->traps.tba;
    around->tma = q->traps.tma;
    around->doorbell = q->traps.doorbell;
    around->second_level = !host->board;
    bool stepped = q->gpu->checks.path || q->gpu->debugger || q->gpu->clock.simulated;
    bool watched = q->traps.watches && atomic_load(&q->traps.watches->set);
    around->context = begin_context(q, stepped);
    bool stored = around->context && around->context->store;
    atomic_store(&q->savable, around->context && !stepped && (!watched || stored));
}

/* The control stack, downwards: the wave that was saved last comes first. */
static void write_stack(struct gpu_queue *q)
{
    struct cp_save *s = &q->save;
    uint32_t n = s->n + STACK_HEAD;
    uint32_t *words = malloc(n * sizeof(*words));
    if (!words)
        return;
    words[0] = words[1] = NOP_DWORD;
    words[2] = s->state;
    words[3] = STATE;
    for (uint32_t i = 0; i < s->n; i++)
        words[STACK_HEAD + i] = s->words[s->n - 1 - i];
    uint64_t at = s->area.base + s->area.stack_bytes - 4ull * n;
    if (!vm_write(q->gpu, q->config.space, at, words, 4ull * n))
        gpu_log(q->gpu, "queue %u: no control stack at 0x%llx", q->id,
                (unsigned long long)at);
    free(words);
}

/* Waves that have stood still and may go on have not all noticed: what is stored of
 * them is still to be taken over. Bounded, as the queue may go away. */
static void wait_for_waking(const struct gpu_queue *q)
{
    const struct timespec nap = {0, 100000};
    for (unsigned i = 0; i < 20000 && cp_control(q) == EMU_CONTROL_RUN &&
                         atomic_load(&q->in_dispatch) && atomic_load(&q->watch.waves);
         i++)
        nanosleep(&nap, NULL);
}

void gpu_queue_save(struct gpu_queue *q, const struct gpu_save_area *area)
{
    struct cp_save *s = &q->save;
    if (!atomic_load(&q->active)) { /* what is saved stays */
        gpu_queue_activate(q, false);
        return;
    }
    wait_for_waking(q);
    pthread_mutex_lock(&q->lock);
    s->area = *area;
    s->n = 0;
    s->next = area->bytes > area->stack_bytes ? area->base + area->stack_bytes : 0;
    pthread_mutex_unlock(&q->lock);
    atomic_store(&q->saving, atomic_load(&q->savable) && s->next &&
                                 cp_control(q) == EMU_CONTROL_RUN);
    gpu_queue_activate(q, false);
    if (s->n)
        write_stack(q);
}

bool cp_saved(const struct gpu_queue *q, uint32_t *ctl_bytes, uint32_t *wave_bytes)
{
    const struct cp_save *s = &q->save;
    if (!atomic_load(&q->saving))
        return false;
    *ctl_bytes = s->n ? 4 * (s->n + STACK_HEAD) : 0;
    *wave_bytes = s->n ? (uint32_t)(s->next - s->area.base - s->area.stack_bytes) : 0;
    return true;
}
