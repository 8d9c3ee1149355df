/* open.c: opening the device: state folder, shared counters.
 *
 * Starts no thread and touches nothing outside the state folder. A process owns one
 * slot of the shared table until it ends; the slots of dead processes are found by pid.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

/* Descriptors live above the numbers that programs close by habit. */
#define FD_FLOOR  700
#define LOCKUP_MS 10000 /* amdgpu's lockup_timeout */

int kmd_open_state(const char *dir, const char *file)
{
    char path[512];
    int n = snprintf(path, sizeof(path), "%s/%s", dir, file);
    if (n < 0 || (size_t)n >= sizeof(path))
        return -1;
    /* Not by libc's name for it, which the front listens to. */
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_FLOOR);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

/* Where all have been used, one of a process that has ended: what it had is gone, what
 * it counted stays in the sums. */
static bool claim(struct gshared_proc *proc, bool again)
{
    int32_t pid = again ? atomic_load(&proc->pid) : 0;
    if (again && (kill(pid, 0) == 0 || errno != ESRCH))
        return false;
    if (!atomic_compare_exchange_strong(&proc->pid, &pid, getpid()))
        return false;
    if (again) {
        kmd_use_clear(&proc->use);
        atomic_store(&proc->gpu.running, 0);
        atomic_store(&proc->runtime.r_debug, 0);
        atomic_store(&proc->runtime.enabled, 0);
        atomic_store(&proc->runtime.ttmp_setup, 0);
    }
    return true;
}

static struct gshared_proc *claim_slot(struct gshared *shared)
{
    for (unsigned i = 0; i < 2 * GSHARED_PROCS; i++) {
        struct gshared_proc *proc = &shared->procs[i % GSHARED_PROCS];
        if (!claim(proc, i >= GSHARED_PROCS))
            continue;
        FILE *f = fopen("/proc/self/comm", "re");
        if (f) {
            if (!fgets(proc->comm, sizeof(proc->comm), f))
                proc->comm[0] = '\0';
            proc->comm[strcspn(proc->comm, "\n")] = '\0';
            fclose(f);
        }
        return proc;
    }
    return NULL;
}

static rd_status map_shared(struct kmd *kmd, const char *dir)
{
    int fd = kmd_open_state(dir, GSHARED_FILE);
    if (fd < 0)
        return RD_E_IO;
    void *p =
        mmap(NULL, sizeof(struct gshared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    kmd->shared_fd = fd;
    if (p == MAP_FAILED)
        return RD_E_IO;
    kmd->shared = p;
    if (kmd->shared->magic != GSHARED_MAGIC)
        return RD_E_FORMAT;
    kmd->proc = claim_slot(kmd->shared);
    return kmd->proc ? RD_OK : RD_E_BUSY;
}

static void close_files(struct kmd *kmd)
{
    if (kmd->render_fd >= 0)
        close(kmd->render_fd);
    if (kmd->kfd_fd >= 0)
        close(kmd->kfd_fd);
    if (kmd->shared_fd >= 0)
        close(kmd->shared_fd);
}

rd_status kmd_open(const struct kmd_config *config, struct kmd **out)
{
    struct kmd *kmd = calloc(1, sizeof(*kmd));
    if (!kmd)
        return RD_E_NOMEM;
    kmd->config = *config;
    kmd->shared_fd = kmd->card_fd = -1;
    rd_status st = map_shared(kmd, config->state_dir);
    kmd->render_fd =
        kmd_open_state(config->state_dir, GSHARED_TREE "/dev/dri/renderD128");
    kmd->kfd_fd = kmd_open_state(config->state_dir, GSHARED_TREE "/dev/kfd");
    if (st == RD_OK && (kmd->render_fd < 0 || kmd->kfd_fd < 0))
        st = RD_E_IO;
    if (st == RD_OK) {
        struct gpu_config gpu = {.no_execute = config->no_execute,
                                 .sclk_mhz = config->sclk_mhz,
                                 .timeline = config->timeline,
                                 .check = config->check,
                                 .heap = config->heap,
                                 .cores = config->cores,
                                 .whole_cores = config->whole_cores,
                                 .debugger = config->debugger,
                                 .counters = &kmd->proc->gpu,
                                 .engine = config->engine,
                                 .simd = config->simd,
                                 .host_threads = config->host_threads,
                                 .perf_map = config->perf_map,
                                 .opcodes =
                                     config->opcodes ? &kmd->shared->opcodes : NULL,
                                 .kernels = &kmd->shared->kernels,
                                 .host = kmd_gpu_host(kmd)};
        st = gpu_create(&gpu, &kmd->gpu);
    }
    if (st != RD_OK) {
        close_files(kmd);
        free(kmd);
        return st;
    }
    kmd_bo_init(kmd);
    kmd_svm_init(&kmd->svm);
    kmd_events_init(&kmd->events);
    pthread_mutex_init(&kmd->queue_lock, NULL);
    pthread_mutex_init(&kmd->ring_lock, NULL);
    pthread_mutex_init(&kmd->sync_lock, NULL);
    pthread_mutex_init(&kmd->smi_lock, NULL);
    pthread_mutex_init(&kmd->fault_lock, NULL);
    pthread_mutex_init(&kmd->client_lock, NULL);
    pthread_mutex_init(&kmd->soft_lock, NULL);
    pthread_mutex_init(&kmd->timeline_lock, NULL);
    kmd->lockup_ms = config->lockup_ms ? config->lockup_ms : LOCKUP_MS;
    atomic_store(&kmd->departures, atomic_load(&kmd->shared->departures));
    *out = kmd;
    return RD_OK;
}

void kmd_inherit(struct kmd *kmd, const struct kmd *from)
{
    kmd_bo_inherit(kmd, from);
    kmd_va_inherit(kmd, from);
    kmd_rings_inherit(kmd, from);
}

void kmd_say(struct kmd *kmd, const char *fmt, ...)
{
    char text[900];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (kmd->config.log)
        kmd->config.log(text);
    else
        fprintf(stderr, "rdna3: %s\n", text);
}

struct gshared_proc *kmd_proc(struct kmd *kmd)
{
    return kmd->proc;
}

bool kmd_absent(struct kmd *kmd)
{
    uint32_t known = atomic_load(&kmd->departures);
    uint32_t now = atomic_load(&kmd->shared->departures);
    if (known != now && atomic_compare_exchange_strong(&kmd->departures, &known, now))
        kmd_bo_lose(kmd);
    return atomic_load_explicit(&kmd->shared->absent, memory_order_acquire) != 0;
}

bool kmd_thread_is_ours(void)
{
    return gpu_thread_is_ours();
}

void kmd_access_failed(uint64_t va, bool write)
{
    gpu_access_failed(va, write);
}

uint32_t kmd_look(void)
{
    return gpu_look();
}

bool kmd_looked(uint32_t ticket)
{
    return gpu_looked(ticket);
}

uint32_t kmd_register(struct kmd *kmd, uint32_t reg)
{
    return gpu_register(kmd->gpu, reg);
}

bool kmd_busy(struct kmd *kmd)
{
    for (unsigned i = 0; i < GSHARED_PROCS; i++) {
        struct gshared_proc *p = &kmd->shared->procs[i];
        int32_t pid = atomic_load(&p->pid);
        if (!pid)
            break; /* they are taken in order */
        if (atomic_load(&p->gpu.running) && (kill(pid, 0) == 0 || errno != ESRCH))
            return true;
    }
    return false;
}

uint64_t kmd_clock(struct kmd *kmd)
{
    return gpu_clock(kmd->gpu);
}

void kmd_clocks(struct kmd *kmd, struct kmd_clocks *out)
{
    struct gpu_clocks now;
    gpu_clocks(kmd->gpu, &now);
    *out = (struct kmd_clocks){
        .gpu = now.gpu, .cpu_ns = now.cpu_ns, .system_ns = now.system_ns};
}

bool kmd_mapped(struct kmd *kmd, uint64_t va, uint64_t bytes)
{
    return gpu_vm_check(kmd->gpu, va, bytes, GPU_READ);
}

void kmd_trap_handler(struct kmd *kmd, uint64_t tba, uint64_t tma)
{
    gpu_trap_handler(kmd->gpu, tba, tma);
}
