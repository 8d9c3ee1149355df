/* file.c: whole files, read and written.
 *
 * Must not know what is in them. Invariant: a file that could not be written whole is
 * not there, or is the one of before; errno tells why.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/xattr.h>
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

/* ---- what a signal leaves ---- */

/* The temporary file of now; a second one at once would be left to its signal. */
static const char *_Atomic unfinished;
static const int ends[] = {SIGHUP, SIGINT, SIGTERM};
#define N_ENDS (sizeof ends / sizeof *ends)

static void on_end(int number)
{
    const char *name = atomic_load(&unfinished);
    if (name)
        (void)unlink(name);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static bool is_handler(int number, void (*handler)(int))
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
           now.sa_handler == handler;
}

/* A signal that would end the process removes the file first. */
static void guard(const char *name)
{
    const struct sigaction action = {.sa_handler = on_end};
    const char *none = NULL;
    if (!atomic_compare_exchange_strong(&unfinished, &none, name))
        return;
    for (size_t i = 0; i < N_ENDS; i++)
        if (is_handler(ends[i], SIG_DFL))
            (void)sigaction(ends[i], &action, NULL);
}

static void unguard(const char *name)
{
    if (!name || atomic_load(&unfinished) != name)
        return;
    for (size_t i = 0; i < N_ENDS; i++)
        if (is_handler(ends[i], on_end))
            (void)signal(ends[i], SIG_DFL);
    atomic_store(&unfinished, NULL);
}

/* ---- writing ---- */

/* No attributes (access lists are some) but the label that SELinux gives all files. */
static bool is_bare(const char *path)
{
    static const char label[] = "security.selinux";
    char names[sizeof label];
    ssize_t n = listxattr(path, names, sizeof names);
    return n < 0 ? errno == ENOTSUP
                 : n == 0 ||
                       (n == sizeof label && memcmp(names, label, sizeof label) == 0);
}

/* Does somebody who started us have the file open? /dev/stdout by any name is such. */
static bool is_inherited(const struct stat *sb)
{
    struct stat open;
    for (int fd = 0; fd < 256; fd++)
        if (fstat(fd, &open) == 0 && open.st_dev == sb->st_dev &&
            open.st_ino == sb->st_ino)
            return true;
    return false;
}

/* May the file be replaced by another of its name? sb: of the one that is there. */
static bool replaceable(const char *path, const struct stat *sb)
{
    return S_ISREG(sb->st_mode) && sb->st_nlink == 1 && sb->st_uid == geteuid() &&
           access(path, W_OK) == 0 && is_bare(path) && !is_inherited(sb);
}

/* Give the new file the rights of the one that is there. */
static bool same_rights(int fd, const char *name, const struct stat *there)
{
    struct stat sb;
    return fstat(fd, &sb) == 0 && sb.st_uid == there->st_uid && is_bare(name) &&
           (sb.st_gid == there->st_gid || fchown(fd, (uid_t)-1, there->st_gid) == 0) &&
           fchmod(fd, there->st_mode & 0777) == 0;
}

#define NAME_BYTES 32u /* of a new file's, at most */

/* A new file in the folder of the path. Returns its descriptor.
 *
 * name  out, NAME_BYTES more than the path has
 */
static int open_beside(const char *path, char *name)
{
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    size_t room = (size_t)folder + NAME_BYTES;
    int fd = -1;
    for (unsigned i = 0; i < 100; i++) {
        uint64_t number = 0;
        (void)getrandom(&number, sizeof number, GRND_NONBLOCK);
        (void)snprintf(name, room, "%.*s.rdna3-%016" PRIx64, folder, path, number + i);
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    return fd;
}

/* Make the temporary file for one that is there, or not (NULL). False with errno. */
static bool begin_beside(struct cli_output *o, const char *path,
                         const struct stat *there)
{
    o->path = there ? realpath(path, NULL) : strdup(path);
    o->temporary = o->path ? malloc(strlen(o->path) + NAME_BYTES) : NULL;
    int fd = o->temporary ? open_beside(o->path, o->temporary) : -1;
    if (fd < 0)
        return false;
    guard(o->temporary);
    if (there && !same_rights(fd, o->temporary, there))
        errno = EPERM;
    else
        o->file = fdopen(fd, "wb");
    if (o->file)
        return true;
    int why = errno;
    close(fd);
    (void)unlink(o->temporary);
    errno = why;
    return false;
}

static void let_go(struct cli_output *o)
{
    unguard(o->temporary);
    free(o->temporary);
    free(o->path);
    *o = (struct cli_output){0};
}

FILE *cli_output_begin(struct cli_output *o, const char *path)
{
    struct stat sb, link;
    *o = (struct cli_output){0};
    bool there = stat(path, &sb) == 0;
    /* what is not there must not be a link to it */
    if (there ? replaceable(path, &sb) : errno == ENOENT && lstat(path, &link) != 0) {
        if (begin_beside(o, path, there ? &sb : NULL))
            return o->file;
        int why = errno;
        let_go(o);
        errno = why;
        /* nothing new can be made there; or no room, which would lose the old one */
        if (why != EACCES && why != EPERM && why != EROFS && why != ENOENT)
            return NULL;
    }
    o->file = fopen(path, "wbe");
    return o->file;
}

/* Write the whole temporary file where it cannot be moved to: a file that is mounted.
 */
static bool copy_in_place(const struct cli_output *o)
{
    int from = open(o->temporary, O_RDONLY | O_CLOEXEC);
    int to = from < 0 ? -1 : open(o->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    ssize_t n = to < 0 ? -1 : 1;
    while (n > 0)
        n = sendfile(to, from, NULL, (size_t)1 << 30);
    int why = errno;
    if (from >= 0)
        close(from);
    if (to >= 0 && close(to) != 0 && n == 0) {
        n = -1;
        why = errno;
    }
    errno = why;
    return n == 0;
}

/* The temporary file becomes the one that was asked for, or goes. */
static bool settle(const struct cli_output *o, bool good)
{
    if (good && rename(o->temporary, o->path) == 0)
        return true;
    good = good && copy_in_place(o);
    int why = errno;
    (void)unlink(o->temporary);
    errno = why;
    return good;
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
    if (o->temporary && !settle(o, good) && good) {
        good = false;
        why = errno;
    }
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
