/* cli.h: what the subcommands of rdna3 share: exit statuses, messages, numbers, files.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CLI_H
#define RD_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "status.h"

/* Exit statuses of every subcommand. */
enum cli_exit {
    CLI_OK = 0,
    CLI_FAILED = 1, /* the guest failed, or its input was rejected */
    CLI_USAGE = 2   /* wrong usage */
};

/* Whether stderr takes colours: a terminal that is not dumb, and NO_COLOR unset. */
bool cli_color(void);

/* Print "error: ..." to stderr, in red where cli_color() is, and hand back status, for
 * `return cli_error(...)`. */
int cli_error(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A mistake at a place in a text, as editors read it: "path:line:column: error: ...".
 * Before the first one of a text stands "error: mistakes in PATH:", so that what we
 * print begins with "error: " here, too.
 *
 * column  from 1; 0: the whole line
 */
struct cli_place {
    const char *path;
    unsigned long line;
    unsigned column;
};

/* told: whether that line stands there already; set. Returns status. */
int cli_mistake(int status, const struct cli_place *at, bool *told, const char *fmt,
                ...) __attribute__((format(printf, 4, 5)));
void cli_mistakes_in(const char *path, bool *told);

/* Report what getopt_long could not parse (it returned '?' or ':'; opterr is 0), and
 * which of the options may have been meant. Returns CLI_USAGE. */
struct option;
int cli_option_error(int argc, char **argv, int getopt_result,
                     const struct option *options);

/* Flush stdout. Returns status, or CLI_FAILED with a message if writing failed. */
int cli_finish(int status);

/* On a terminal: write its last line anew. What does not fit is left out: a line that
 * goes on in the next one could not be written over. */
void cli_status_line(const char *text);

/* Numbers: the whole text must be one; decimal, 0x..., or 0... octal-free. Each returns
 * RD_OK, RD_E_FORMAT or RD_E_RANGE. */
RD_CHECKED rd_status cli_parse_u64(const char *text, uint64_t *out);
RD_CHECKED rd_status cli_parse_i64(const char *text, int64_t *out);

/* A byte count: number with an optional suffix K, M or G (powers of 1024). */
RD_CHECKED rd_status cli_parse_size(const char *text, uint64_t *out);

/* One to three comma-separated numbers of at least 1; the missing ones are 1. */
RD_CHECKED rd_status cli_parse_dims(const char *text, uint32_t out[3]);

/* Read a whole file into fresh memory (caller frees). Prints no message; errno is set
 * when RD_E_IO is returned. */
RD_CHECKED rd_status cli_read_file(const char *path, void **data, size_t *bytes);

/* What can be told of a file before it is read whole. */
struct cli_kind {
    uint64_t most; /* bytes; more than that is RD_E_IO with EFBIG */
    /* Whoever reads it refuses a file that begins so, whatever follows. */
    bool (*wrong)(const void *head, size_t bytes);
};

#define CLI_HEAD_BYTES 4096u /* so much of a file is looked at, if it has as much */

/* A text without NUL bytes, of at most 8 GiB: what dis makes of 1 GiB of code. */
extern const struct cli_kind cli_text;

/* The same as cli_read_file; of a file that is wrong by its beginning only that is
 * read, for its reader to tell what is wrong. */
RD_CHECKED rd_status cli_read_kind(const char *path, const struct cli_kind *kind,
                                   void **data, size_t *bytes);

RD_CHECKED rd_status cli_write_file(const char *path, const void *data, size_t bytes);

/* A file that is written whole or not at all: beside its place, and moved there at the
 * end. Written in its place is what is no plain file (a device, a pipe), what whoever
 * started us has open (stdout by any name), what another file could not stand for (it
 * has several names, another owner, access lists, is mounted), and what lies where
 * nothing new can be made. A signal that ends the process removes what is new. */
struct cli_output {
    FILE *file;
    char *path;      /* of the file itself, links followed */
    char *temporary; /* NULL: written in its place */
};

/* Begin it. Returns the stream, NULL with errno. */
FILE *cli_output_begin(struct cli_output *o, const char *path);

/* End it; good: the writer has no complaint of its own. If anything failed, what is
 * new is removed and what was there before stays. RD_E_IO with errno. */
RD_CHECKED rd_status cli_output_end(struct cli_output *o, bool good);

/* Could the file be written, now? It is neither opened nor made. RD_E_IO with errno:
 * no.
 */
RD_CHECKED rd_status cli_writable(const char *path);

/* The same with a message, for files that will be written when all is done; nothing for
 * NULL, nor for "-". Returns an exit status. */
int cli_check_writable(const char *path);

/* The lanes whose bits are set: "0-3, 8", or "none"; cut off where text is full. */
void cli_lanes(uint64_t lanes, char *text, size_t size);

/* Seconds of a monotonic clock. */
double cli_now(void);

#endif
