/* hostfault.c: memory that the program took away from under the GPU.
 *
 * A buffer of host memory may be unmapped without a word to the driver. The kernel
 * driver would learn of it and the GPU would fault; here a thread of ours receives
 * SIGSEGV. The handler puts a page where the access can end, notes the address, and
 * tells the dispatch to give up; the queue's worker then reports a page fault. Such a
 * page stays, since the program may have mapped something over it. Signals of other
 * threads go to whoever had installed a handler before.
 *
 * Rules: the handler makes system calls and plain loads only. A thread is ours if its
 * name, which threads inherit, is that of a queue. SPDX-License-Identifier: MIT
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <ucontext.h>

#include "cp.h"

#define PAGE        4096ull
#define NAME        "rdna3 queue"
#define ERROR_WRITE 2 /* x86 page fault error code */

static struct gdev *device; /* of this process; set before the handler is installed */
static struct sigaction old_segv, old_bus;

void dev_hostfault_name(uint32_t queue, char name[16])
{
    snprintf(name, 16, NAME "%u", queue);
}

/* The queue that this thread works for, or NULL. */
static struct gdev_queue *queue_of_thread(void)
{
    char name[17] = "";
    uint32_t id = 0;
    if (prctl(PR_GET_NAME, name, 0ul, 0ul, 0ul) != 0 ||
        memcmp(name, NAME, sizeof(NAME) - 1) != 0)
        return NULL;
    for (const char *p = name + sizeof(NAME) - 1; *p >= '0' && *p <= '9'; p++)
        id = id * 10 + (uint32_t)(*p - '0');
    return id < DEV_MAX_QUEUES ? device->queues[id] : NULL;
}

/* Let the access end: a new page where none is, else access to the one there. */
static bool make_accessible(void *page, const siginfo_t *info)
{
    int access = PROT_READ | PROT_WRITE;
    if (info->si_signo == SIGBUS) /* behind the end of a file */
        return mmap(page, PAGE, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                    0) != MAP_FAILED;
    if (info->si_code == SEGV_ACCERR)
        return mprotect(page, PAGE, access) == 0;
    return mmap(page, PAGE, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                -1, 0) == page;
}

static void pass_on(int number, siginfo_t *info, void *context)
{
    const struct sigaction *old = number == SIGBUS ? &old_bus : &old_segv;
    if (old->sa_flags & SA_SIGINFO) {
        old->sa_sigaction(number, info, context);
    } else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
        old->sa_handler(number);
    } else { /* the access repeats, and ends the process as it would have */
        signal(number, SIG_DFL);
    }
}

static void handler(int number, siginfo_t *info, void *context)
{
    struct gdev_queue *q = info->si_code > 0 ? queue_of_thread() : NULL;
    uint64_t va = (uintptr_t)info->si_addr, none = 0;
    if (!q || va < PAGE ||
        !make_accessible((void *)(uintptr_t)(va & ~(PAGE - 1)), info)) {
        pass_on(number, info, context);
        return;
    }
    const ucontext_t *uc = context;
    if (uc->uc_mcontext.gregs[REG_ERR] & ERROR_WRITE)
        va |= CP_HOST_FAULT_WRITE;
    atomic_compare_exchange_strong(&q->host_fault, &none, va);
    q->control = EMU_CONTROL_CANCEL;
}

void dev_hostfault_init(struct gdev *dev)
{
    if (__atomic_exchange_n(&device, dev, __ATOMIC_ACQ_REL))
        return;
    struct sigaction sa = {.sa_sigaction = handler,
                           .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&sa.sa_mask);
    sigaction(SIGSEGV, &sa, &old_segv);
    sigaction(SIGBUS, &sa, &old_bus);
}
