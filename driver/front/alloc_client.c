/* alloc_client.c: memory that a checked program tells of itself (rdna3/client.h).
 * SPDX-License-Identifier: MIT
 */
#include "alloc.h"

ALLOC_EXPORT void rdna3_client_on_alloc(const char *maker, const void *p, size_t bytes);
ALLOC_EXPORT void rdna3_client_on_free(const char *maker, const void *p);

void rdna3_client_on_alloc(const char *maker, const void *p, size_t bytes)
{
    struct alloc_call c;
    if ((uintptr_t)p + bytes < (uintptr_t)p || bytes > PTRDIFF_MAX)
        return; /* nothing is so large */
    alloc_enter(&c, maker ? maker : "a client");
    alloc_claim(&c, p, bytes);
    alloc_leave(&c);
}

void rdna3_client_on_free(const char *maker, const void *p)
{
    struct alloc_call c;
    struct alloc_freeing f;
    alloc_enter(&c, maker ? maker : "a client");
    alloc_freeing(&c, p, &f);
    alloc_freed(&c, p, f.how == CK_HEAP_OK, &f);
    alloc_leave(&c);
}
