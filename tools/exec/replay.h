/* replay.h: a transcript of ioctls (`rdna3 exec --log`) as data, and issuing it again.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_REPLAY_H
#define RD_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "status.h"

/* Memory of the client that a call read or wrote. */
struct replay_memory {
    bool get, ok; /* read, not written; accessible */
    uint64_t address;
    uint8_t *data;
    size_t bytes;
};

/* A descriptor in the struct. */
struct replay_file {
    int fd;
    enum abi_file kind;
};

struct replay_call {
    unsigned line;
    int pid;
    char name[32];
    enum abi_file file;
    unsigned long cmd;
    bool readable; /* the struct could be read */
    uint8_t *in, *out;
    size_t in_bytes, out_bytes;
    int result;
    struct replay_memory *memory;
    size_t n_memory;
    struct replay_file files[4];
    size_t n_files;
};

struct replay {
    char *text; /* the file */
    uint64_t vram_bytes;
    struct replay_call *calls;
    size_t n_calls, cap_calls;
};

/* Parse a transcript.
 *
 * why  out, [160] what is wrong and where, if RD_E_FORMAT is returned
 * Owner: replay_free.
 */
RD_CHECKED rd_status replay_parse(const char *text, struct replay *out, char why[160]);
void replay_free(struct replay *r);

/* `rdna3 exec --replay FILE`: an exit status. */
int replay_run(const char *path);

#endif
