/* hostfault.c: signals of the process that mean the GPU: memory taken away under it.
 *
 * A buffer of host memory may be unmapped without a word to the driver; a thread of the
 * GPU then receives SIGSEGV. The handler puts a page where the access can end, and says
 * so to the GPU, which reports a page fault. Such a page stays, since the program may
 * have mapped something over it. Signals of other threads go to the program's handler:
 * the one that was installed before, or the one that it has asked for since
 * (signals.c).
 *
 * Rule: the handler makes system calls and plain loads only.
 * SPDX-License-Identifier: MIT
 */
#include "hostfault.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "abi.h"

#define PAGE        4096ull
#define ERROR_WRITE 2 /* x86 page fault error code */

static struct sigaction programs[2]; /* the program's handlers: SIGSEGV, SIGBUS */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool
    installed; /* the kernel has ours; calls of sigaction are about `programs` */

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
    bool ours = info->si_code > 0 && abi_thread_is_ours();
    uint64_t va = (uintptr_t)info->si_addr;
    if (!ours || va < PAGE ||
        !make_accessible((void *)(uintptr_t)(va & ~(PAGE - 1)), info)) {
        pass_on(number, info, context);
        return;
    }
    const ucontext_t *uc = context;
    abi_access_failed(va, uc->uc_mcontext.gregs[REG_ERR] & ERROR_WRITE);
}

bool hostfault_action(int number, const struct sigaction *act, struct sigaction *old)
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

void hostfault_install(void)
{
    pthread_mutex_lock(&lock);
    __atomic_store_n(&installed, false, __ATOMIC_RELEASE); /* sigaction is libc's */
    install(SIGSEGV);
    install(SIGBUS);
    __atomic_store_n(&installed, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}
