/* hostfault.c: signals of the process that mean the GPU: memory taken away under it,
 * and SIGINT, which tells where its waves are.
 *
 * A buffer of host memory may be unmapped without a word to the driver; a thread of the
 * GPU then receives SIGSEGV. The handler puts a page where the access can end, and says
 * so to the GPU, which reports a page fault. Such a page stays, since the program may
 * have mapped something over it. Signals of other threads go to the program's handler:
 * the one that was installed before, or the one that it has asked for since
 * (signals.c). SIGINT goes to the program once the waves have been shown.
 *
 * Rule: the handler makes system calls and plain loads only.
 * SPDX-License-Identifier: MIT
 */
#include "hostfault.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#include "abi.h"

#define PAGE        4096ull
#define ERROR_WRITE 2 /* x86 page fault error code */

static struct sigaction programs[3]; /* the program's handlers, by slot_of */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool
    installed; /* the kernel has ours; calls of sigaction are about `programs` */

#define LOOK_NAP_NS 1000000
#define LOOK_NAPS   3000u /* three seconds */

/* -1: no signal of ours. */
static int slot_of(int number)
{
    return number == SIGSEGV ? 0 : number == SIGBUS ? 1 : number == SIGINT ? 2 : -1;
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
    struct sigaction *program = &programs[slot_of(number)], to = *program;
    bool none = !(to.sa_flags & SA_SIGINFO) &&
                (to.sa_handler == SIG_DFL || to.sa_handler == SIG_IGN);
    if (none) { /* the access repeats, and ends the process as it would have */
        __atomic_store_n(&installed, false, __ATOMIC_RELEASE);
        signal(number, SIG_DFL);
        if (info->si_code <= 0 || number == SIGINT)
            raise(number); /* nobody's access */
        return;
    }
    if ((unsigned)to.sa_flags & SA_RESETHAND)
        *program = (struct sigaction){.sa_handler = SIG_DFL};
    call(&to, number, info, context);
}

/* Not in a thread of the GPU: they have it blocked. */
static void on_interrupt(int number, siginfo_t *info, void *context)
{
    const struct timespec nap = {0, LOOK_NAP_NS};
    int saved = errno;
    bool ignored =
        !(programs[2].sa_flags & SA_SIGINFO) && programs[2].sa_handler == SIG_IGN;
    uint32_t ticket = ignored ? 0 : abi_look();
    for (unsigned i = 0; ticket && i < LOOK_NAPS && !abi_looked(ticket); i++)
        nanosleep(&nap, NULL);
    errno = saved;
    if (!ignored)
        pass_on(number, info, context);
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

/* Lock held. Calls that it interrupts go on, or not, as the program has asked for. */
static void take_interrupts(void)
{
    struct sigaction sa = {.sa_sigaction = on_interrupt,
                           .sa_flags = SA_SIGINFO | SA_ONSTACK |
                                       (programs[2].sa_flags & SA_RESTART)};
    bool was = __atomic_exchange_n(&installed, false, __ATOMIC_ACQ_REL);
    sigemptyset(&sa.sa_mask);
    (void)sigaction(SIGINT, &sa, NULL); /* libc's */
    __atomic_store_n(&installed, was, __ATOMIC_RELEASE);
}

/* A program that is not to be interrupted stays so. */
static void install_interrupt(void)
{
    struct sigaction now;
    if (sigaction(SIGINT, NULL, &now) != 0 || now.sa_sigaction == on_interrupt ||
        now.sa_handler == SIG_IGN)
        return;
    programs[2] = now;
    take_interrupts();
}

bool hostfault_action(int number, const struct sigaction *act, struct sigaction *old)
{
    if (slot_of(number) < 0 || !__atomic_load_n(&installed, __ATOMIC_ACQUIRE))
        return false;
    pthread_mutex_lock(&lock);
    struct sigaction *program = &programs[slot_of(number)], was = *program;
    if (act)
        *program = *act;
    if (act && number == SIGINT)
        take_interrupts();
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
        programs[slot_of(number)] = now;
}

void hostfault_install(void)
{
    pthread_mutex_lock(&lock);
    __atomic_store_n(&installed, false, __ATOMIC_RELEASE); /* sigaction is libc's */
    install(SIGSEGV);
    install(SIGBUS);
    install_interrupt();
    __atomic_store_n(&installed, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}
