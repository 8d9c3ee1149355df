/* dlsym.c: programs that fetch libc's functions by handle get ours too.
 *
 * Language runtimes open libc itself and look functions up in it, past any preloaded
 * library. Only names that this library replaces, and only where the answer would be
 * libc's own definition, are changed. dlsym looks at its caller's address (RTLD_NEXT),
 * so the real one is entered by a jump.
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <stddef.h>
#include <string.h>

#include "alloc.h"
#include "hooks.h"

typedef void *dlsym_fn(void *handle, const char *name);

/* Used by the assembly below. */
__attribute__((visibility("hidden"), used)) dlsym_fn *shim_real_dlsym;
__attribute__((visibility("hidden"), used)) void *shim_dlsym_pick(void *handle,
                                                                  const char *name);

dlsym_fn *shim_dlsym(void)
{
    dlsym_fn *f = __atomic_load_n(&shim_real_dlsym, __ATOMIC_ACQUIRE);
    if (!f) {
        void *p = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
        if (!p)
            p = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        memcpy(&f, &p, sizeof(f));
        __atomic_store_n(&shim_real_dlsym, f, __ATOMIC_RELEASE);
    }
    return f;
}

void *shim_dlsym_pick(void *handle, const char *name)
{
    dlsym_fn *real = shim_dlsym();
    if (!name || handle == RTLD_NEXT || handle == RTLD_DEFAULT)
        return NULL;
    void *ours = alloc_hook(name);
    if (ours) /* of a runtime that is opened by its name */
        return real(handle, name) ? ours : NULL;
    ours = shim_hook(name);
    if (!ours)
        return NULL;
    static void *libc;
    if (!libc)
        libc = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
    void *theirs = libc ? real(libc, name) : NULL;
    return theirs && real(handle, name) == theirs ? ours : NULL;
}

__asm__(".text\n"
        ".globl dlsym\n"
        ".type dlsym, @function\n"
        "dlsym:\n"
        "    endbr64\n"
        "    push %rdi\n"
        "    push %rsi\n"
        "    sub $8, %rsp\n"
        "    call shim_dlsym_pick\n"
        "    add $8, %rsp\n"
        "    pop %rsi\n"
        "    pop %rdi\n"
        "    test %rax, %rax\n"
        "    jnz 1f\n"
        "    jmp *shim_real_dlsym(%rip)\n"
        "1:  ret\n"
        ".size dlsym, . - dlsym\n");
