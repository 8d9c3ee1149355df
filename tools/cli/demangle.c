/* demangle.c: asks libstdc++, which is looked for when it is needed: nothing else of
 * the program waits for it to load, and without it names stay as they are.
 * SPDX-License-Identifier: MIT
 */
#include "demangle.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef char *demangle_fn(const char *name, char *buffer, size_t *bytes, int *status);

static demangle_fn *find(void)
{
    union {
        void *object;
        demangle_fn *function;
    } found = {NULL};
    void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    if (library)
        found.object = dlsym(library, "__cxa_demangle");
    return found.function;
}

bool demangle(const char *name, char *text, size_t size)
{
    static demangle_fn *function;
    static bool tried;
    int status = -1;
    if (strncmp(name, "_Z", 2) != 0) /* a type's name would be demangled, too */
        return false;
    if (!tried)
        function = find();
    tried = true;
    char *readable = function ? function(name, NULL, NULL, &status) : NULL;
    bool ok = readable && status == 0;
    if (ok)
        (void)snprintf(text, size, "%s", readable);
    free(readable);
    return ok;
}
