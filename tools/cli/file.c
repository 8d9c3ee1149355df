/* file.c: whole files, read and written.
 *
 * Must not know what is in them. Invariant: a file that could not be written whole is
 * not there, or is the one of before; errno tells why.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* ---- reading ---- */

/* What a pipe or a device may give: /dev/zero has no end. */
#define ENDLESS ((size_t)256 << 20)

static bool has_nul(const void *head, size_t bytes)
{
    return memchr(head, '\0', bytes) != NULL;
}

const struct cli_kind cli_text = {.most = (uint64_t)8 << 30, .wrong = has_nul};

struct reader {
    int fd;
    bool plain; /* a file with a size, no pipe */
    char *data;
    size_t used, room;
};

/* Read up to so many bytes in all, or to the end. */
static rd_status read_to(struct reader *r, size_t limit, bool *end)
{
    while (r->used < limit) {
        size_t want = (r->room < limit ? r->room : limit) - r->used;
        ssize_t got = want ? read(r->fd, r->data + r->used, want) : 0;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return RD_E_IO;
        *end = want && got == 0;
        if (*end)
            return RD_OK;
        r->used += (size_t)got;
        if (r->used < r->room)
            continue;
        if (r->used > ENDLESS && !r->plain) {
            errno = EFBIG;
            return RD_E_IO;
        }
        char *more = r->room < SIZE_MAX / 2 ? realloc(r->data, r->room * 2) : NULL;
        if (!more)
            return RD_E_NOMEM;
        r->data = more;
        r->room *= 2;
    }
    return RD_OK;
}

/* Read until the end; the file's size is only a first guess (pipes have none). */
static rd_status read_all(struct reader *r, const struct cli_kind *kind, off_t size)
{
    bool end = false;
    rd_status st = RD_OK;
    r->room = CLI_HEAD_BYTES + 1;
    r->data = malloc(r->room);
    if (!r->data)
        return RD_E_NOMEM;
    if (kind) {
        st = read_to(r, CLI_HEAD_BYTES, &end);
        if (st != RD_OK || end || kind->wrong(r->data, r->used))
            return st;
        if (size > 0 && (uint64_t)size > kind->most) {
            errno = EFBIG;
            return RD_E_IO;
        }
    }
    if (size > 0 && (size_t)size >= r->room) {
        char *more = realloc(r->data, (size_t)size + 1);
        if (!more)
            return RD_E_NOMEM;
        r->data = more;
        r->room = (size_t)size + 1;
    }
    return read_to(r, SIZE_MAX, &end);
}

rd_status cli_read_kind(const char *path, const struct cli_kind *kind, void **data,
                        size_t *bytes)
{
    struct reader r = {0};
    struct stat sb;
    /* what is open already: a socket, as editors give, cannot be opened by its name */
    r.fd = strcmp(path, "/dev/stdin") == 0
               ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
               : open(path, O_RDONLY | O_CLOEXEC);
    if (r.fd < 0)
        return RD_E_IO;
    rd_status st = fstat(r.fd, &sb) == 0 ? RD_OK : RD_E_IO;
    r.plain = st == RD_OK && S_ISREG(sb.st_mode);
    if (st == RD_OK)
        st = read_all(&r, kind, sb.st_size);
    int saved = errno;
    close(r.fd);
    if (st == RD_OK) {
        *data = r.data;
        *bytes = r.used;
    } else {
        free(r.data);
    }
    errno = saved;
    return st;
}

rd_status cli_read_file(const char *path, void **data, size_t *bytes)
{
    return cli_read_kind(path, NULL, data, bytes);
}

/* ---- writing ---- */

/* May the file be replaced by another of its name? sb: of the one that is there. */
static bool replaceable(const struct stat *sb)
{
    return S_ISREG(sb->st_mode) && sb->st_nlink == 1 && sb->st_uid == geteuid();
}

/* /dev/stdout and its like are files that somebody else has open, too. */
static bool is_of_system(const char *path)
{
    return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
}

static char *name_beside(const char *path)
{
    size_t room = strlen(path) + 32;
    char *name = malloc(room);
    if (name)
        (void)snprintf(name, room, "%s.%d.new", path, (int)getpid());
    return name;
}

/* Make the temporary file; false: write in place. */
static bool begin_beside(struct cli_output *o, const char *path)
{
    struct stat sb;
    if (is_of_system(path))
        return false;
    bool there = stat(path, &sb) == 0;
    if (there ? !replaceable(&sb) || access(path, W_OK) != 0 : errno != ENOENT)
        return false;
    struct stat link;
    if (!there && lstat(path, &link) == 0)
        return false; /* a link to what is not there yet */
    o->path = there ? realpath(path, NULL) : strdup(path);
    o->temporary = o->path ? name_beside(o->path) : NULL;
    if (!o->temporary)
        return false;
    int fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 && (!there || fchmod(fd, sb.st_mode & 0777) == 0))
        o->file = fdopen(fd, "wb");
    if (o->file)
        return true;
    if (fd >= 0) {
        close(fd);
        (void)unlink(o->temporary);
    }
    return false;
}

static void let_go(struct cli_output *o)
{
    free(o->temporary);
    free(o->path);
    *o = (struct cli_output){0};
}

FILE *cli_output_begin(struct cli_output *o, const char *path)
{
    *o = (struct cli_output){0};
    if (begin_beside(o, path))
        return o->file;
    let_go(o);
    o->file = fopen(path, "wbe");
    return o->file;
}

rd_status cli_output_end(struct cli_output *o, bool good)
{
    int why = errno;
    if (!o->file)
        return RD_E_IO;
    errno = 0;
    if (fflush(o->file) != 0 || ferror(o->file)) {
        good = false;
        why = errno ? errno : why;
    }
    if (fclose(o->file) != 0 && good) {
        good = false;
        why = errno;
    }
    if (o->temporary && good && rename(o->temporary, o->path) != 0) {
        good = false;
        why = errno;
    }
    if (o->temporary && !good)
        (void)unlink(o->temporary);
    let_go(o);
    errno = good || why ? why : EIO;
    return good ? RD_OK : RD_E_IO;
}

rd_status cli_write_file(const char *path, const void *data, size_t bytes)
{
    struct cli_output o;
    FILE *f = cli_output_begin(&o, path);
    return f ? cli_output_end(&o, fwrite(data, 1, bytes, f) == bytes) : RD_E_IO;
}
