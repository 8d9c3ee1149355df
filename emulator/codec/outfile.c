/* outfile.c: see outfile.h. Must not know what is recorded.
 * SPDX-License-Identifier: MIT
 */
#include "outfile.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* "'path': what is wrong"; of the system's calls in its words. */
static void tell(const struct outfile *o, rd_status st, const char *path, char *why)
{
    snprintf(why, OUTFILE_WHY, "'%s': %s", path,
             st == RD_E_IO && o->io_errno ? strerror(o->io_errno) : rd_status_text(st));
}

static rd_status open_file(struct outfile *o, const char *path, bool append)
{
    o->path = strdup(path);
    rd_status st = o->path ? codec_create(codec_best(), &o->codec) : RD_E_NOMEM;
    if (st != RD_OK)
        return st;
    o->file = fopen(path, append ? "ab" : "wb");
    o->fresh = true;
    o->append = append;
    if (o->file && append) {
        (void)setvbuf(o->file, NULL, _IONBF, 0);
        off_t before = fseeko(o->file, 0, SEEK_END) == 0 ? ftello(o->file) : -1;
        o->fresh = before == 0;
        return before < 0 ? RD_E_IO : RD_OK;
    }
    return o->file ? RD_OK : RD_E_IO;
}

static void let_go(struct outfile *o)
{
    free(o->packed.p);
    free(o->path);
    codec_destroy(o->codec);
    *o = (struct outfile){0};
}

rd_status outfile_open(struct outfile *o, const char *path, bool append, char *why)
{
    rd_status st = open_file(o, path, append);
    if (st == RD_OK)
        return st;
    outfile_fail(o, st);
    tell(o, st, path, why);
    if (o->file)
        (void)fclose(o->file);
    let_go(o);
    return st;
}

void outfile_fail(struct outfile *o, rd_status st)
{
    if (o->status == RD_OK) {
        o->status = st;
        o->io_errno = errno;
    }
}

void outfile_write(struct outfile *o, const void *p, size_t n)
{
    if (o->status == RD_OK && fwrite(p, 1, n, o->file) != n)
        outfile_fail(o, RD_E_IO);
    o->bytes += n;
}

bool outfile_pack(struct outfile *o, const uint8_t *raw, size_t n)
{
    struct buf *b = &o->packed;
    b->n = 0;
    rd_status st = buf_room(b, codec_bound(o->codec, n)) ? RD_OK : RD_E_NOMEM;
    if (st == RD_OK)
        st = codec_pack(o->codec, raw, n, b->p, b->room, &b->n);
    if (st != RD_OK)
        outfile_fail(o, st);
    return st == RD_OK;
}

/* Is it what its path names, itself and not a link to it, and named by nothing else? */
static bool is_ours(const struct outfile *o)
{
    struct stat file, name;
    return !o->append && fstat(fileno(o->file), &file) == 0 &&
           lstat(o->path, &name) == 0 && S_ISREG(name.st_mode) &&
           name.st_dev == file.st_dev && name.st_ino == file.st_ino &&
           name.st_nlink == 1;
}

rd_status outfile_close(struct outfile *o, char *why)
{
    bool ours = is_ours(o);
    errno = 0;
    if (fclose(o->file) != 0)
        outfile_fail(o, RD_E_IO);
    rd_status st = o->status;
    if (st != RD_OK)
        tell(o, st, o->path, why);
    if (st != RD_OK && ours)
        (void)unlink(o->path);
    let_go(o);
    return st;
}
