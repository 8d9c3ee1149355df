/* dev.c: opening the device: state folder, shared counters.
 *
 * Starts no thread and touches nothing outside the state folder. A process owns one
 * slot of the shared table until it ends; the slots of dead processes are found by pid.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dev.h"

/* Descriptors live above the numbers that programs close by habit. */
#define FD_FLOOR 700

static int open_state(const char *dir, const char *file)
{
    char path[512];
    int n = snprintf(path, sizeof(path), "%s/%s", dir, file);
    if (n < 0 || (size_t)n >= sizeof(path))
        return -1;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_FLOOR);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

static struct gshared_proc *claim_slot(struct gshared *shared)
{
    int32_t self = getpid();
    for (unsigned i = 0; i < GSHARED_PROCS; i++) {
        struct gshared_proc *proc = &shared->procs[i];
        int32_t free_pid = 0;
        if (!atomic_compare_exchange_strong(&proc->pid, &free_pid, self))
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

static rd_status map_shared(struct gdev *dev, const char *dir)
{
    int fd = open_state(dir, GSHARED_FILE);
    if (fd < 0)
        return RD_E_IO;
    void *p =
        mmap(NULL, sizeof(struct gshared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    dev->shared_fd = fd;
    if (p == MAP_FAILED)
        return RD_E_IO;
    dev->shared = p;
    if (dev->shared->magic != GSHARED_MAGIC)
        return RD_E_FORMAT;
    dev->proc = claim_slot(dev->shared);
    return dev->proc ? RD_OK : RD_E_BUSY;
}

rd_status gdev_open(const struct gdev_config *config, struct gdev **out)
{
    struct gdev *dev = calloc(1, sizeof(*dev));
    if (!dev)
        return RD_E_NOMEM;
    dev->no_execute = config->no_execute;
    dev->sclk_mhz = config->sclk_mhz;
    dev_clock_init(&dev->clock, config->sclk_mhz > 0);
    dev->shared_fd = -1;
    rd_status st = map_shared(dev, config->state_dir);
    dev->render_fd = open_state(config->state_dir, GSHARED_TREE "/dev/dri/renderD128");
    dev->kfd_fd = open_state(config->state_dir, GSHARED_TREE "/dev/kfd");
    if (st == RD_OK && (dev->render_fd < 0 || dev->kfd_fd < 0))
        st = RD_E_IO;
    if (st != RD_OK) {
        if (dev->render_fd >= 0)
            close(dev->render_fd);
        if (dev->kfd_fd >= 0)
            close(dev->kfd_fd);
        if (dev->shared_fd >= 0)
            close(dev->shared_fd);
        free(dev);
        return st;
    }
    dev_bo_init(dev);
    dev_vm_init(&dev->vm);
    dev_svm_init(&dev->svm);
    dev_events_init(&dev->events);
    pthread_mutex_init(&dev->queue_lock, NULL);
    pthread_mutex_init(&dev->ring_lock, NULL);
    pthread_mutex_init(&dev->priority.lock, NULL);
    pthread_mutex_init(&dev->smi_lock, NULL);
    *out = dev;
    return RD_OK;
}

struct gshared_proc *gdev_proc(struct gdev *dev)
{
    return dev->proc;
}

void gdev_trap_handler(struct gdev *dev, uint64_t tba, uint64_t tma)
{
    atomic_store(&dev->tba, tba);
    atomic_store(&dev->tma, tma);
}

void gdev_runtime_enable(struct gdev *dev, bool enable)
{
    atomic_store(&dev->runtime_enabled, enable);
}

rd_status dev_thread(pthread_t *thread, void *(*main)(void *), void *arg,
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
