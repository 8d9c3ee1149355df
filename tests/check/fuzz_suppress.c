/* fuzz_suppress.c: suppression files that hold anything, and names that anybody has
 * given to kernels and files.
 *
 * Input: a byte, names of a kernel, a file and an instruction that end with | each,
 * the file. What --gen-suppressions writes for a finding there must be read, and take
 * it. SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../debug/fuzz.h"
#include "found.h"

/* The rules of a file; NULL: it was refused. */
static struct checks_suppressions *read_file(const void *data, size_t n)
{
    char path[64];
    struct checks_suppressions *s = NULL;
    int fd = memfd_create("suppressions", 0);
    if (fd < 0 || write(fd, data, n) != (ssize_t)n)
        abort();
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const struct checks_options o = {.suppressions = {path}, .n_suppressions = 1};
    if (checks_read_suppressions(&o, &s) != 0)
        s = NULL;
    close(fd);
    return s;
}

/* The next of the names, without what would end it. */
static void take_name(const uint8_t **data, size_t *size, char *to, size_t room)
{
    const uint8_t *end = memchr(*data, '|', *size);
    size_t n = end ? (size_t)(end - *data) : *size, k = 0;
    for (size_t i = 0; i < n && k + 1 < room; i++)
        if ((*data)[i])
            to[k++] = (char)(*data)[i];
    to[k] = '\0';
    n += end != NULL;
    *data += n;
    *size -= n;
}

static void must_be_taken(const struct found *f)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out)
        abort();
    suppress_write(f, out);
    if (fclose(out) != 0)
        abort();
    struct checks_suppressions *s = read_file(text, n);
    if (!s || !suppress_takes(s, f)) {
        (void)fwrite(text, 1, n, stdout);
        abort();
    }
    checks_free(s);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ck_finding finding;
    static struct found f;
    if (!size)
        return 0;
    finding = (struct ck_finding){.cls = data[0] % CK_CLASSES, .kind = "write-write"};
    f = (struct found){.f = &finding, .at.actor = &finding.at};
    f.at.n_frames = data[0] >> 6;
    data++;
    size--;
    take_name(&data, &size, finding.kernel, sizeof finding.kernel);
    take_name(&data, &size, f.at.frame[0].file, sizeof f.at.frame[0].file);
    take_name(&data, &size, finding.at.inst, sizeof finding.at.inst);
    f.at.frame[0].line = (unsigned)size;
    must_be_taken(&f);
    struct checks_suppressions *s = read_file(data, size);
    (void)suppress_takes(s, &f);
    checks_free(s);
    return 0;
}
