/* gpu.c: making the GPU.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cp.h"

rd_status gpu_create(const struct gpu_config *config, struct gpu **out)
{
    struct gpu *gpu = calloc(1, sizeof(*gpu));
    if (!gpu)
        return RD_E_NOMEM;
    gpu->no_execute = config->no_execute;
    gpu->sclk_mhz = config->sclk_mhz;
    gpu->timeline = config->timeline;
    gpu->counters = config->counters;
    gpu->opcodes = config->opcodes;
    gpu->kernels = config->kernels;
    gpu->checks.path = config->check;
    gpu->checks.heap = config->heap;
    gpu->cores.folder = config->cores;
    gpu->debugger = config->debugger;
    gpu->cores.whole = config->whole_cores;
    gpu->cores.pid = (int32_t)getpid();
    pthread_mutex_init(&gpu->checks.lock, NULL);
    gpu->vm.count = config->opcodes != NULL;
    gpu->vm.engine = (enum emu_engine)config->engine;
    gpu->vm.simd = (enum emu_simd)config->simd;
    gpu->vm.host_threads = config->host_threads;
    gpu->vm.perf_map = config->perf_map;
    gpu->vm.symbol = gpu_symbol;
    gpu->vm.symbol_ctx = gpu;
    gpu->host = config->host;
    gpu->vm.host = gpu->host.file ? &gpu->host : NULL;
    gpu_clock_init(&gpu->clock, config->sclk_mhz > 0);
    gpu_chip_init(&gpu->chip);
    vm_init(&gpu->vm);
    pthread_mutex_init(&gpu->queue_lock, NULL);
    pthread_mutex_init(&gpu->priority.lock, NULL);
    pthread_mutex_init(&gpu->opcode_lock, NULL);
    pthread_mutex_init(&gpu->space_lock, NULL);
    pthread_mutex_init(&gpu->spinners.lock, NULL);
    gpu_trace_init(&gpu->trace);
    gpu_pmc_init(&gpu->pmc);
    if (regs_init(&gpu->regs) != RD_OK) {
        free(gpu);
        return RD_E_NOMEM;
    }
    if (config->check) {
        gpu->checks.orders = cp_orders_create(config->check);
        gpu->vm.seed = cp_checked_seed(config->check);
    }
    *out = gpu;
    return RD_OK;
}

void gpu_destroy(struct gpu *gpu)
{
    if (!gpu)
        return;
    gpu_chip_destroy(gpu);
    for (unsigned i = 0; i < GPU_SPACES; i++)
        gpu_space_close(gpu, i);
    gpu_pmc_reset(&gpu->pmc);
    gpu_regs_destroy(&gpu->regs);
    cp_orders_destroy(gpu->checks.orders);
    free(gpu);
}

void gpu_log(struct gpu *gpu, const char *fmt, ...)
{
    char text[800];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    gpu->host.log(gpu->host.ctx, text);
}

void gpu_interrupt(struct gpu_queue *q, enum gpu_irq what, uint32_t data)
{
    const struct gpu_host *host = &q->gpu->host;
    if (host->board)
        host->board->interrupt(host->ctx, q->config.owner, what, data);
    else
        host->interrupt(host->ctx, data);
}

void gpu_trap_handler(struct gpu *gpu, uint64_t tba, uint64_t tma)
{
    atomic_store(&gpu->tba, tba);
    atomic_store(&gpu->tma, tma);
}

rd_status gpu_thread(pthread_t *thread, void *(*main)(void *), void *arg,
                     const char *name)
{
    sigset_t all, old;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int err = pthread_create(thread, NULL, main, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (err)
        return err == EAGAIN ? RD_E_NOMEM : RD_E_INVALID;
    pthread_setname_np(*thread, name);
    return RD_OK;
}

#define URGENT (SCHED_RR | SCHED_RESET_ON_FORK)

static struct sched_param priority_of(bool urgent)
{
    return (struct sched_param){.sched_priority =
                                    urgent ? sched_get_priority_min(SCHED_RR) : 0};
}

/* Who was started to run behind others stays so. */
void gpu_thread_urgent(bool urgent)
{
    const struct sched_param param = priority_of(urgent);
    int was = sched_getscheduler(0);
    if (urgent && was == SCHED_OTHER && getpriority(PRIO_PROCESS, 0) <= 0)
        (void)sched_setscheduler(0, URGENT, &param);
    else if (!urgent && was == URGENT)
        (void)sched_setscheduler(0, SCHED_OTHER, &param);
}

void gpu_thread_lend(pthread_t to, bool urgent)
{
    const struct sched_param param = priority_of(urgent);
    if (sched_getscheduler(0) == URGENT)
        (void)pthread_setschedparam(to, urgent ? URGENT : SCHED_OTHER, &param);
}
