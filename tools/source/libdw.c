/* libdw.c: looks for elfutils' libraries when they are needed: nothing else of the
 * program waits for them to load.
 * SPDX-License-Identifier: MIT
 */
#ifdef RDNA3_HAVE_LIBDW

#include <dlfcn.h>

#include "internal.h"

static struct libdw lib;

static bool find_all(void)
{
    void *elf = dlopen("libelf.so.1", RTLD_NOW | RTLD_LOCAL);
    void *dw = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    bool all = elf && dw;
    if (!all)
        return false;
#define X(library, f)                                                                  \
    *(void **)(void *)&lib.f = dlsym(library, #f);                                     \
    all &= lib.f != NULL;
    LIBDW_FUNCTIONS(X)
#undef X
    return all && lib.elf_version(EV_CURRENT) != EV_NONE;
}

const struct libdw *libdw(void)
{
    static bool tried, there;
    if (!tried)
        there = find_all();
    tried = true;
    return there ? &lib : NULL;
}

#endif
