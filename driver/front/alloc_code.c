/* alloc_code.c: code objects that a program gives to ROCr, kept in the state folder as
 * files, so that faults and findings get source lines and debuggers breakpoints: what
 * kernels' memory has of one has none.
 *
 * Only with line tables in it, unless it is debugged. SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "config.h"
#include "kept.h"

enum { HSA_ERROR = 0x1000 };
#define LARGEST (UINT64_C(256) << 20)

ALLOC_EXPORT int hsa_code_object_reader_create_from_memory(const void *code,
                                                           size_t bytes, void *reader);

static bool is_wanted(const char *code, size_t bytes)
{
    static const char name[] = ".debug_line";
    return bytes > 4 && bytes <= LARGEST && memcmp(code, "\177ELF", 4) == 0 &&
           (front_debugged() || memmem(code, bytes, name, sizeof name) != NULL);
}

int hsa_code_object_reader_create_from_memory(const void *code, size_t bytes,
                                              void *reader)
{
    int (*real)(const void *, size_t, void *) =
        ALLOC_REAL(hsa_code_object_reader_create_from_memory);
    int status = real ? real(code, bytes, reader) : HSA_ERROR;
    const char *state = front_state();
    if (status == 0 && state && is_wanted(code, bytes))
        (void)kept_write(state, KEPT_CODE_FILE, KEPT_CODES, code, bytes);
    return status;
}

void *alloc_code_hook(const char *name)
{
    static const struct alloc_hook hooks[] = {
        ALLOC_HOOK(hsa_code_object_reader_create_from_memory)};
    return front_state() ? alloc_hook_in(hooks, sizeof hooks / sizeof *hooks, name)
                         : NULL;
}
