/* outfile.h: a recording being written: bytes as they are, and packed ones. After the
 * first error nothing more is written, and closing tells. SPDX-License-Identifier: MIT
 */
#ifndef RD_CODEC_OUTFILE_H
#define RD_CODEC_OUTFILE_H

#include <stdio.h>

#include "bytes.h"
#include "codec.h"

struct outfile {
    FILE *file;
    char *path;
    struct codec *codec; /* the best there is: codec_best() */
    struct buf packed;
    rd_status status;
    int io_errno;
    uint64_t bytes; /* written */
    bool fresh;     /* there was nothing in the file before */
    bool append;
};

#define OUTFILE_WHY 256 /* bytes of a text that says what is wrong */

/* Make the file, or go on at its end; then every write is there when it returns, so
 * that the process may fork.
 *
 * o    zero; still so after an error, else for outfile_close
 * why  out, [OUTFILE_WHY], after an error
 */
RD_CHECKED rd_status outfile_open(struct outfile *o, const char *path, bool append,
                                  char *why);

/* Remember an error, with errno; the first counts. */
void outfile_fail(struct outfile *o, rd_status st);

void outfile_write(struct outfile *o, const void *p, size_t n);

/* Pack bytes into o->packed. False: it failed, which is remembered. */
bool outfile_pack(struct outfile *o, const uint8_t *raw, size_t n);

/* What could not be written whole is removed if it is a plain file of one name, and
 * that name is the path itself, no link (stdout's are); one that was opened to be gone
 * on with stays. */
RD_CHECKED rd_status outfile_close(struct outfile *o, char *why);

#endif
