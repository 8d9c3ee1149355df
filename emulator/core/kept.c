/* kept.c: files in the state folder of `rdna3 exec`. Knows libc only.
 * SPDX-License-Identifier: MIT
 */
#include "kept.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "whole.h"

/* The pattern with a number in it. */
static void name(char path[PATH_MAX], const char *folder, const char *pattern,
                 unsigned number)
{
    size_t n = strcspn(pattern, "%");
    (void)snprintf(path, PATH_MAX, "%s/%.*s%u", folder, (int)n, pattern, number);
}

unsigned kept_write(const char *folder, const char *pattern, unsigned limit,
                    const void *data, uint64_t bytes)
{
    char temporary[PATH_MAX], path[PATH_MAX];
    unsigned number = limit;
    (void)snprintf(temporary, sizeof temporary, "%s/new.%d.%d", folder, (int)getpid(),
                   (int)gettid());
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return limit;
    if (whole_write(fd, data, bytes))
        for (number = 0; number < limit; number++) {
            name(path, folder, pattern, number);
            if (link(temporary, path) == 0)
                break;
            if (errno != EEXIST)
                number = limit - 1;
        }
    close(fd);
    unlink(temporary);
    return number;
}
