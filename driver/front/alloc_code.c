/* alloc_code.c: code objects that a checked program gives to ROCr, kept beside the
 * findings as files, so that these get source lines: what kernels' memory has of one
 * has none.
 *
 * Only with line tables in it. SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "config.h"

enum { HSA_ERROR = 0x1000 };
#define LARGEST (UINT64_C(256) << 20)

ALLOC_EXPORT int hsa_code_object_reader_create_from_memory(const void *code,
                                                           size_t bytes, void *reader);

static bool has_lines(const char *code, size_t bytes)
{
    static const char name[] = ".debug_line";
    return bytes > 4 && memcmp(code, "\177ELF", 4) == 0 &&
           memmem(code, bytes, name, sizeof name) != NULL;
}

/* What is not written in whole is not there. */
static void keep(const void *code, size_t bytes)
{
    char path[PATH_MAX];
    const char *findings = front_findings();
    unsigned number = findings ? alloc_code_number() : CK_CODES;
    if (number >= CK_CODES)
        return;
    (void)snprintf(path, sizeof path, "%s" CK_CODE_FILE, findings, number);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return;
    size_t done = 0;
    for (ssize_t n = 1; n > 0 && done < bytes; done += n > 0 ? (size_t)n : 0)
        n = write(fd, (const char *)code + done, bytes - done);
    close(fd);
    if (done < bytes)
        unlink(path);
}

int hsa_code_object_reader_create_from_memory(const void *code, size_t bytes,
                                              void *reader)
{
    int (*real)(const void *, size_t, void *) =
        ALLOC_REAL(hsa_code_object_reader_create_from_memory);
    int status = real ? real(code, bytes, reader) : HSA_ERROR;
    if (status == 0 && alloc_heap() && bytes <= LARGEST && has_lines(code, bytes))
        keep(code, bytes);
    return status;
}

void *alloc_code_hook(const char *name)
{
    static const struct alloc_hook hooks[] = {
        ALLOC_HOOK(hsa_code_object_reader_create_from_memory)};
    return alloc_hook_in(hooks, sizeof hooks / sizeof *hooks, name);
}
