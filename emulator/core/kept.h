/* kept.h: what processes under `rdna3 exec` leave in its state folder, for it to tell.
 *
 * A file is written under another name and then linked to the first number that is
 * free, so what has its name is whole. SPDX-License-Identifier: MIT
 */
#ifndef RD_KEPT_H
#define RD_KEPT_H

#include <stdint.h>

#define KEPT_CODE_FILE "code-%u" /* code objects that were loaded */
#define KEPT_CODES     4096u
#define KEPT_CORE_FILE "core-%u"
#define KEPT_CORES     64u
#define KEPT_NEWS      "news" /* a pipe: a struct kept_news for each core file */

struct kept_news {
    int32_t pid;
    uint32_t number; /* of the core file; KEPT_CORES: that is all */
};

/* Write a file into the folder, named by the pattern (KEPT_*_FILE) and a number below
 * the limit. Returns the number; the limit: there is no more room, or it failed. */
unsigned kept_write(const char *folder, const char *pattern, unsigned limit,
                    const void *data, uint64_t bytes);

#endif
