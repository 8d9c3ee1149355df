/* hostmap.c: what the process has at a range of addresses, from /proc/self/maps.
 *
 * Asked before the device believes an address that a client gave: memory to share must
 * exist, and a buffer must not be put over memory that is in use. Linux since 6.11
 * tells about one address (PROCMAP_QUERY); before, the whole text is read, which takes
 * milliseconds in a process with many mappings. Source: linux/fs.h, proc_pid_maps(5).
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "internal.h"

struct mapping {
    uint64_t start, end, offset;
    bool read, write, none;
    uint64_t dev_major, dev_minor, inode;
};

/* Closes fd. */
static char *read_maps(int fd)
{
    size_t cap = 65536, used = 0;
    char *text = malloc(cap);
    while (text) {
        ssize_t n = read(fd, text + used, cap - 1 - used);
        if (n <= 0)
            break;
        used += (size_t)n;
        if (cap - 1 - used < 4096) {
            char *more = realloc(text, cap *= 2);
            if (!more)
                break;
            text = more;
        }
    }
    close(fd);
    if (text)
        text[used] = '\0';
    return text;
}

/* "7f00-7f10 rw-p 00000000 fe:00 1234 name" */
static bool parse_line(const char *line, struct mapping *m)
{
    char *p;
    m->start = strtoull(line, &p, 16);
    if (*p != '-')
        return false;
    m->end = strtoull(p + 1, &p, 16);
    if (*p != ' ' || strlen(p) < 6)
        return false;
    m->read = p[1] == 'r';
    m->write = p[2] == 'w';
    m->none = p[1] == '-' && p[2] == '-' && p[3] == '-';
    m->offset = strtoull(p + 5, &p, 16);
    m->dev_major = strtoull(p, &p, 16);
    if (*p != ':')
        return false;
    m->dev_minor = strtoull(p + 1, &p, 16);
    m->inode = strtoull(p, &p, 10);
    return true;
}

/* As struct procmap_query, which the headers of older systems lack. */
struct query {
    uint64_t size, flags, address;
    uint64_t start, end, vma_flags, page_size, offset, inode;
    uint32_t dev_major, dev_minor, name_size, build_id_size;
    uint64_t name, build_id;
};
#define QUERY           _IOWR('f', 17, struct query)
#define QUERY_OR_NEXT   0x10u
#define QUERY_READABLE  1u
#define QUERY_WRITABLE  2u
#define QUERY_PROTECTED 7u /* readable, writable or executable */

typedef bool visit(void *ctx, const struct mapping *m);

/* Returns 1 if f returned true for all, 0 if not, -1: this kernel cannot be asked. */
static int each_by_query(int fd, uint64_t va, uint64_t bytes, visit *f, void *ctx)
{
    for (uint64_t at = va; at < va + bytes;) {
        struct query q = {.size = sizeof(q), .flags = QUERY_OR_NEXT, .address = at};
        if (syscall(SYS_ioctl, fd, (long)QUERY, &q) != 0)
            return errno == ENOENT ? 1 : -1;
        struct mapping m = {.start = q.start,
                            .end = q.end,
                            .offset = q.offset,
                            .read = q.vma_flags & QUERY_READABLE,
                            .write = q.vma_flags & QUERY_WRITABLE,
                            .none = !(q.vma_flags & QUERY_PROTECTED),
                            .dev_major = q.dev_major,
                            .dev_minor = q.dev_minor,
                            .inode = q.inode};
        if (m.start >= va + bytes)
            return 1;
        if (!f(ctx, &m))
            return 0;
        at = m.end;
    }
    return 1;
}

/* Call f for each mapping that overlaps the range, until it returns false. */
static bool each_mapping(uint64_t va, uint64_t bytes, visit *f, void *ctx)
{
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    int asked = each_by_query(fd, va, bytes, f, ctx);
    if (asked >= 0) {
        close(fd);
        return asked;
    }
    char *text = read_maps(fd);
    bool go_on = text != NULL;
    for (const char *line = text; line && *line && go_on;) {
        struct mapping m;
        if (parse_line(line, &m)) {
            if (m.start >= va + bytes)
                break;
            if (m.end > va)
                go_on = f(ctx, &m);
        }
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    free(text);
    return go_on;
}

struct coverage {
    uint64_t at; /* everything below is covered */
    bool write;
};

static bool cover(void *ctx, const struct mapping *m)
{
    struct coverage *c = ctx;
    if (m->start > c->at || !m->read || (c->write && !m->write))
        return false;
    c->at = m->end;
    return true;
}

bool kmd_host_mapped(uint64_t va, uint64_t bytes, bool write)
{
    struct coverage c = {.at = va, .write = write};
    if (va + bytes < va)
        return false;
    return each_mapping(va, bytes, cover, &c) && c.at >= va + bytes;
}

static bool is_of(const struct mapping *m, const struct stat *st)
{
    return m->inode == st->st_ino && m->dev_major == major(st->st_dev) &&
           m->dev_minor == minor(st->st_dev);
}

struct view {
    struct stat st;
    uint64_t at, offset; /* everything below at shows the file */
};

static bool shows(void *ctx, const struct mapping *m)
{
    struct view *v = ctx;
    if (m->start > v->at || !m->read || !is_of(m, &v->st) ||
        m->offset + (v->at - m->start) != v->offset)
        return false;
    v->offset += m->end - v->at;
    v->at = m->end;
    return true;
}

bool kmd_host_shows(uint64_t va, uint64_t bytes, int fd, uint64_t offset)
{
    struct view v = {.at = va, .offset = offset};
    return va + bytes >= va && fstat(fd, &v.st) == 0 &&
           each_mapping(va, bytes, shows, &v) && v.at >= va + bytes;
}

static bool replaceable(void *ctx, const struct mapping *m)
{
    return m->none || is_of(m, ctx);
}

/* Free address space, a reservation, or an earlier mapping of the same file. */
bool kmd_host_replaceable(uint64_t va, uint64_t bytes, int backing_fd)
{
    struct stat st;
    if (va + bytes < va || fstat(backing_fd, &st) != 0)
        return false;
    return each_mapping(va, bytes, replaceable, &st);
}
