/* signals.c: programs that install their own handler of SIGSEGV, SIGBUS or SIGINT.
 *
 * The device has a handler for accesses of its own threads to memory that the program
 * has unmapped (hostfault.c). A program's handler must not replace it: from the
 * moment the device has installed its own, the program's is kept beside it, and is
 * called for everything else. Knows libc and signals only.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "hooks.h"
#include "hostfault.h"

#define EXPORT __attribute__((visibility("default")))

typedef int sigaction_fn(int, const struct sigaction *, struct sigaction *);
typedef sighandler_t signal_fn(int, sighandler_t);

EXPORT int __sigaction(int number, const struct sigaction *act, struct sigaction *old);
EXPORT sighandler_t bsd_signal(int number, sighandler_t handler);
EXPORT sighandler_t ssignal(int number, sighandler_t handler);

static void *next(const char *name)
{
    return shim_dlsym()(RTLD_NEXT, name);
}

EXPORT int sigaction(int number, const struct sigaction *act, struct sigaction *old)
{
    static sigaction_fn *real;
    if (hostfault_action(number, act, old))
        return 0;
    if (!__atomic_load_n(&real, __ATOMIC_RELAXED)) {
        void *p = next("sigaction");
        memcpy(&real, &p, sizeof(p));
    }
    return real(number, act, old);
}

int __sigaction(int number, const struct sigaction *act, struct sigaction *old)
{
    return sigaction(number, act, old);
}

EXPORT sighandler_t signal(int number, sighandler_t handler)
{
    static signal_fn *real;
    struct sigaction act = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
    sigemptyset(&act.sa_mask);
    if (hostfault_action(number, &act, &old))
        return old.sa_handler;
    if (!__atomic_load_n(&real, __ATOMIC_RELAXED)) {
        void *p = next("signal");
        memcpy(&real, &p, sizeof(p));
    }
    return real(number, handler);
}

sighandler_t bsd_signal(int number, sighandler_t handler)
{
    return signal(number, handler);
}

sighandler_t ssignal(int number, sighandler_t handler)
{
    return signal(number, handler);
}
