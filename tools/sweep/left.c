/* left.c: results that rank 0 did not live to write down: a file each beside the
 * database, which the next start takes up.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "store.h"

static const char magic[8] = "rdna3sw1";

struct head {
    char magic[8];
    uint64_t item;
    double seconds;
    int32_t status, worker;
    uint32_t bytes, sweep_bytes; /* of text, of the sweep's file: they follow */
};

static bool write_file(const char *path, const struct head *head, const char *sweep,
                       const char *text)
{
    FILE *f = fopen(path, "wb");
    if (!f)
        return false;
    bool good = fwrite(head, sizeof *head, 1, f) == 1 &&
                fwrite(sweep, 1, head->sweep_bytes, f) == head->sweep_bytes &&
                fwrite(text, 1, head->bytes, f) == head->bytes;
    return fclose(f) == 0 && good;
}

int sweep_left_put(const char *db, const struct sweep *s, const struct sweep_done *done,
                   int worker)
{
    struct head head = {.item = done->item,
                        .seconds = done->seconds,
                        .status = done->status,
                        .worker = worker,
                        .bytes = done->bytes,
                        .sweep_bytes = (uint32_t)strlen(s->text)};
    char host[64] = "";
    char *part = NULL, *whole = NULL;
    memcpy(head.magic, magic, sizeof magic);
    (void)gethostname(host, sizeof host - 1);
    int status = CLI_OK;
    if (asprintf(&part, "%s.part.%s.%ld.%" PRIu64, db, host, (long)getpid(),
                 done->item) < 0 ||
        asprintf(&whole, "%s.left.%s.%ld.%" PRIu64, db, host, (long)getpid(),
                 done->item) < 0)
        status = cli_error(CLI_FAILED, "out of memory");
    else if (!write_file(part, &head, s->text, done->text ? done->text : "") ||
             rename(part, whole) != 0)
        status = cli_error(CLI_FAILED, "cannot write '%s': %s", whole, strerror(errno));
    free(part);
    free(whole);
    return status;
}

/* A file's text, with a zero behind it. */
static char *read_text(FILE *f, uint32_t bytes)
{
    char *text = malloc(bytes + 1u);
    if (text && fread(text, 1, bytes, f) != bytes) {
        free(text);
        return NULL;
    }
    if (text)
        text[bytes] = '\0';
    return text;
}

static int take(struct sweep_store *store, FILE *f)
{
    struct head head;
    if (fread(&head, sizeof head, 1, f) != 1 ||
        memcmp(head.magic, magic, sizeof magic) != 0 || head.bytes > 1u << 24 ||
        head.sweep_bytes > 1u << 28)
        return CLI_OK;
    char *sweep = read_text(f, head.sweep_bytes);
    bool same = sweep && strcmp(sweep, store->sweep->text) == 0;
    struct sweep_done done = {.item = head.item,
                              .seconds = head.seconds,
                              .status = head.status,
                              .bytes = head.bytes,
                              .text = same ? read_text(f, head.bytes) : NULL};
    free(sweep);
    if (done.text && sweep_store_claim(store, done.item))
        return sweep_store_put(store, &done, head.worker);
    free(done.text);
    return CLI_OK;
}

int sweep_left_take(struct sweep_store *store)
{
    char *folder = strdup(store->path), *name = NULL;
    char *slash = folder ? strrchr(folder, '/') : NULL;
    int status = CLI_OK;
    if (slash)
        slash[1] = '\0';
    DIR *d = folder ? opendir(slash ? folder : ".") : NULL;
    if (!d || asprintf(&name, "%s.left.",
                       slash ? store->path + (slash + 1 - folder) : store->path) < 0)
        status = cli_error(CLI_FAILED, "cannot look beside '%s': %s", store->path,
                           strerror(errno));
    for (const struct dirent *e; status == CLI_OK && (e = readdir(d));) {
        char *path = NULL;
        if (strncmp(e->d_name, name, strlen(name)) != 0 ||
            asprintf(&path, "%s%s", slash ? folder : "", e->d_name) < 0)
            continue;
        FILE *f = fopen(path, "rb");
        if (f) {
            status = take(store, f);
            (void)fclose(f);
            if (status == CLI_OK)
                (void)unlink(path);
        }
        free(path);
    }
    if (d)
        (void)closedir(d);
    free(name);
    free(folder);
    return status;
}
