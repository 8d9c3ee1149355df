/* hostfault.c: memory that the program took away from under the GPU.
 *
 * A buffer of host memory may be unmapped without a word to the driver. The kernel
 * driver would learn of it and the GPU would fault; here a thread of ours receives
 * SIGSEGV. The handler puts a page where the access can end, notes the address, and
 * tells the dispatch to give up; the queue's worker then reports a page fault. Such a
 * page stays, since the program may have mapped something over it. Signals of other
 * threads go to the program's handler: the one that was installed before, or the one
 * that it has asked for since (gdev_signal_action).
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
static struct sigaction programs[2]; /* the program's handlers: SIGSEGV, SIGBUS */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool
    installed; /* the kernel has ours; calls of sigaction are about `programs` */

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

/* Call the program's handler as the kernel would have, in this signal's frame. */
static void call(const struct sigaction *to, int number, siginfo_t *info, void *context)
{
    sigset_t mask = to->sa_mask, old;
    if (!(to->sa_flags & SA_NODEFER))
        sigaddset(&mask, number);
    pthread_sigmask(SIG_BLOCK, &mask, &old);
    if (to->sa_flags & SA_NODEFER) {
        sigemptyset(&mask);
        sigaddset(&mask, number);
        pthread_sigmask(SIG_UNBLOCK, &mask, NULL);
    }
    if (to->sa_flags & SA_SIGINFO)
        to->sa_sigaction(number, info, context);
    else
        to->sa_handler(number);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void pass_on(int number, siginfo_t *info, void *context)
{
    struct sigaction *program = &programs[number == SIGBUS], to = *program;
    bool none = !(to.sa_flags & SA_SIGINFO) &&
                (to.sa_handler == SIG_DFL || to.sa_handler == SIG_IGN);
    if (none) { /* the access repeats, and ends the process as it would have */
        __atomic_store_n(&installed, false, __ATOMIC_RELEASE);
        signal(number, SIG_DFL);
        if (info->si_code <= 0)
            raise(number); /* nobody's access */
        return;
    }
    if ((unsigned)to.sa_flags & SA_RESETHAND)
        *program = (struct sigaction){.sa_handler = SIG_DFL};
    call(&to, number, info, context);
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

bool gdev_signal_action(int number, const struct sigaction *act, struct sigaction *old)
{
    if ((number != SIGSEGV && number != SIGBUS) ||
        !__atomic_load_n(&installed, __ATOMIC_ACQUIRE))
        return false;
    pthread_mutex_lock(&lock);
    struct sigaction *program = &programs[number == SIGBUS], was = *program;
    if (act)
        *program = *act;
    pthread_mutex_unlock(&lock);
    if (old)
        *old = was;
    return true;
}

/* Put our handler in front, of whatever came there by a way that nobody has seen. */
static void install(int number)
{
    struct sigaction sa = {.sa_sigaction = handler,
                           .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction now;
    sigemptyset(&sa.sa_mask);
    if (sigaction(number, NULL, &now) == 0 && now.sa_sigaction != handler &&
        sigaction(number, &sa, NULL) == 0)
        programs[number == SIGBUS] = now;
}

void dev_hostfault_init(struct gdev *dev)
{
    pthread_mutex_lock(&lock);
    __atomic_store_n(&device, dev, __ATOMIC_RELEASE);
    __atomic_store_n(&installed, false, __ATOMIC_RELEASE); /* sigaction is libc's */
    install(SIGSEGV);
    install(SIGBUS);
    __atomic_store_n(&installed, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}
