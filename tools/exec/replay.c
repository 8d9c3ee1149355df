/* replay.c: `rdna3 exec --replay FILE`: issue the ioctls of a transcript again, in this
 * process, and compare what comes back.
 *
 * The client is not there: what it had in memory beside the structs comes from the
 * transcript, what it did to its address space is made up from the calls (host memory
 * for user pointers and shared ranges), a wait that ended is helped by setting the
 * events it waited for, and a board that somebody had reset is reset. Each process of
 * the transcript becomes a process here, one after the other. Compared are the result,
 * the struct and what is written to memory, but for clocks, the ages of events, free
 * memory, places in the device files, and the numbers of descriptors. Must not know
 * queues or packets.
 *
 * SPDX-License-Identifier: MIT
 */
#include "replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "board.h"
#include "config.h"
#include "shared.h"
#include "state.h"

#define PAGE           4096ull
#define MAX_TRIES      8 /* address spaces, until one has room where the client had */
#define EXIT_COLLISION 99
#define SIGNAL_EVENTS  4096u

enum { /* numbers of ioctls */
       KFD_CREATE_QUEUE = 0x02,
       KFD_CLOCKS = 0x05,
       KFD_SET_EVENT = 0x0a,
       KFD_WAIT = 0x0c,
       KFD_ALLOC = 0x16,
       KFD_SMI = 0x1f,
       KFD_SVM = 0x20,
       KFD_AVAILABLE = 0x23,
       KFD_EXPORT = 0x24,
       DRM_EXPORT = 0x2d,
       DRM_MMAP = 0x41,
       DRM_CTX = 0x42,
       DRM_INFO = 0x45,
};

enum { CTX_QUERY_STATE = 3, CTX_UNKNOWN_RESET = 3 }; /* amdgpu_drm.h */

#define NR(cmd) ((cmd) & 0xff)

static const struct replay_call *current;
static size_t next_get, next_put;
static bool put_differs;

struct range {
    uint64_t start, end;
};
static struct range *owned; /* that the transcript's client allocated */
static size_t n_owned;

struct tally {
    unsigned long calls, differ, skipped;
};

static uint64_t load(const uint8_t *p, size_t bytes)
{
    uint64_t v = 0;
    memcpy(&v, p, bytes);
    return v;
}

/* ---- the client's side of a call ---- */

static enum abi_file fd_kind(int fd)
{
    for (size_t i = 0; i < current->n_files; i++)
        if (current->files[i].fd == fd)
            return current->files[i].kind;
    return ABI_NONE;
}

static bool get(void *to, uint64_t from, size_t bytes)
{
    while (next_get < current->n_memory) {
        const struct replay_memory *m = &current->memory[next_get++];
        if (!m->get)
            continue;
        if (!m->ok || m->address != from || m->bytes < bytes)
            return false;
        memcpy(to, m->data, bytes);
        return true;
    }
    return false;
}

static bool put(uint64_t to, const void *from, size_t bytes)
{
    while (next_put < current->n_memory) {
        const struct replay_memory *m = &current->memory[next_put++];
        if (m->get)
            continue;
        put_differs = put_differs || m->address != to ||
                      (m->ok && (m->bytes != bytes || memcmp(m->data, from, bytes)));
        return m->ok;
    }
    put_differs = true;
    return true;
}

static const struct abi_host host = {
    .fd_kind = fd_kind, .get = get, .put = put, .config = front_config};

/* ---- its address space ---- */

static bool was_owned(uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < n_owned; i++)
        if (owned[i].start < end && start < owned[i].end)
            return true;
    return false;
}

static void own(uint64_t start, uint64_t end)
{
    struct range *bigger = realloc(owned, (n_owned + 1) * sizeof(*owned));
    if (!bigger)
        return;
    owned = bigger;
    owned[n_owned++] = (struct range){start, end};
}

/* Memory of the client at an address; a place that is taken here ends the process. */
static void provide(uint64_t va, uint64_t bytes, bool memory)
{
    uint64_t start = va & ~(PAGE - 1), end = (va + bytes + PAGE - 1) & ~(PAGE - 1);
    bool again = was_owned(start, end);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                (again ? MAP_FIXED : MAP_FIXED_NOREPLACE);
    if (!start || end <= start)
        return;
    void *p = mmap((void *)(uintptr_t)start, end - start,
                   memory ? PROT_READ | PROT_WRITE : PROT_NONE, flags, -1, 0);
    if (p != (void *)(uintptr_t)start)
        _exit(EXIT_COLLISION);
    if (!again)
        own(start, end);
}

/* Shared ranges may lie in other memory of the client, where they stay. */
static void provide_for(const struct replay_call *c)
{
    if (c->file != ABI_KFD || c->result != 0 || !c->in || c->in_bytes < 32)
        return;
    if (NR(c->cmd) == KFD_ALLOC) {
        bool user = c->in_bytes >= 40 && (load(c->in + 36, 4) & 4);
        provide(load(c->in, 8),
                load(c->in + 8, 8) * (load(c->in + 36, 4) >> 27 & 1 ? 2 : 1), user);
    } else if (NR(c->cmd) == KFD_SVM &&
               !was_owned(load(c->in, 8), load(c->in, 8) + load(c->in + 8, 8))) {
        provide(load(c->in, 8), load(c->in + 8, 8), true);
    }
}

/* ---- waits and descriptors ---- */

/* Set the signal events of a wait that ended; false if it ended for another reason. */
static bool help_wait(const struct replay_call *c)
{
    bool any = false;
    for (size_t i = 0; i < c->n_memory; i++) {
        const struct replay_memory *m = &c->memory[i];
        for (size_t at = 0; m->get && m->ok && at + 48 <= m->bytes; at += 48) {
            uint8_t set[8] = {0};
            uint32_t id = (uint32_t)load(m->data + at + 40, 4);
            memcpy(set, &id, 4);
            if (id >= SIGNAL_EVENTS)
                continue;
            any = true;
            (void)abi_ioctl(&host, ABI_KFD, -1, 0x40084b00u | KFD_SET_EVENT, set);
        }
    }
    return any;
}

/* The context was told of a reset for which somebody had asked by a file (debugfs). */
static void help_query(const struct replay_call *c)
{
    if (c->file != ABI_KFD && NR(c->cmd) == DRM_CTX && c->in_bytes >= 16 &&
        c->out_bytes >= 16 && load(c->in, 4) == CTX_QUERY_STATE &&
        load(c->out + 12, 4) == CTX_UNKNOWN_RESET)
        abi_recover(&host);
}

/* Where the struct has a descriptor that the call makes; SIZE_MAX: nowhere. */
static size_t made_fd(const struct replay_call *c)
{
    if (c->file == ABI_KFD)
        return NR(c->cmd) == KFD_EXPORT ? 12 : NR(c->cmd) == KFD_SMI ? 4 : SIZE_MAX;
    return NR(c->cmd) == DRM_EXPORT ? 8 : SIZE_MAX;
}

/* Give the new descriptor the number that the client got. */
static void renumber(const struct replay_call *c, uint8_t *args, size_t bytes)
{
    size_t at = made_fd(c);
    if (at == SIZE_MAX || at + 4 > bytes || at + 4 > c->out_bytes)
        return;
    int ours = (int)load(args + at, 4), theirs = (int)load(c->out + at, 4);
    if (ours != theirs && dup2(ours, theirs) == theirs)
        close(ours);
    memcpy(args + at, c->out + at, 4);
}

/* Places in the device files depend on what other processes have taken. */
static void forget_place(const struct replay_call *c, uint8_t *args, size_t bytes)
{
    bool map = c->file != ABI_KFD && NR(c->cmd) == DRM_MMAP;
    size_t at = map ? 0 : 24; /* mmap_offset, doorbell_offset */
    bool has = map || (c->file == ABI_KFD &&
                       (NR(c->cmd) == KFD_ALLOC || NR(c->cmd) == KFD_CREATE_QUEUE));
    if (has && at + 8 <= bytes && at + 8 <= c->out_bytes)
        memcpy(args + at, c->out + at, 8);
}

/* ---- one call ---- */

static bool varies(const struct replay_call *c)
{
    return (c->file == ABI_KFD && (NR(c->cmd) == KFD_CLOCKS || NR(c->cmd) == KFD_WAIT ||
                                   NR(c->cmd) == KFD_AVAILABLE)) ||
           (c->file != ABI_KFD && NR(c->cmd) == DRM_INFO && c->in_bytes >= 16 &&
            load(c->in + 12, 4) == 5 /* timestamp */);
}

static void report(const char *path, const struct replay_call *c, int result,
                   const uint8_t *args, size_t bytes)
{
    printf("%s:%u: %s: ", path, c->line, c->name);
    if (result != c->result) {
        printf("result %d, recorded %d\n", result, c->result);
        return;
    }
    for (size_t i = 0; i < bytes && i < c->out_bytes; i++)
        if (args[i] != c->out[i]) {
            printf("byte %zu of the struct is 0x%02x, recorded 0x%02x\n", i, args[i],
                   c->out[i]);
            return;
        }
    printf("other bytes written to memory\n");
}

static void replay_call(const char *path, const struct replay_call *c, struct tally *t)
{
    size_t bytes = (size_t)(c->cmd >> 16 & 0x3fff);
    size_t size = bytes > c->in_bytes ? bytes : c->in_bytes;
    uint8_t *args = calloc(1, size + 64);
    if (!args)
        return;
    current = c;
    next_get = next_put = 0;
    put_differs = false;
    t->calls++;
    if (c->in)
        memcpy(args, c->in, c->in_bytes);
    bool wait = c->file == ABI_KFD && NR(c->cmd) == KFD_WAIT && c->in_bytes >= 24;
    bool skipped =
        wait && (c->result != 0 || (load(c->out + 20, 4) == 0 && !help_wait(c)));
    if (wait)
        memset(args + 16, 0, 4); /* timeout */
    provide_for(c);
    help_query(c);
    int r = skipped ? c->result
                    : abi_ioctl(&host, c->file, -1, c->cmd,
                                c->readable ? args : (void *)(uintptr_t)8);
    if (r == 0 && c->result == 0) {
        renumber(c, args, bytes);
        forget_place(c, args, bytes);
    }
    size_t compared = bytes < c->out_bytes ? bytes : c->out_bytes;
    bool same = r == c->result;
    bool reads = c->cmd >> 30 & 2; /* the struct comes back */
    if (same && !skipped && !varies(c) && reads)
        same = !put_differs && memcmp(args, c->out, compared) == 0;
    t->skipped += skipped;
    t->differ += !same;
    if (!same)
        report(path, c, r, args, compared);
    free(args);
}

/* ---- processes ---- */

static int replay_process(const char *path, const struct replay *r, int pid)
{
    struct tally t = {0};
    for (size_t i = 0; i < r->n_calls; i++)
        if (r->calls[i].pid == pid)
            replay_call(path, &r->calls[i], &t);
    printf("process %d: %lu calls, %lu differ, %lu not repeatable\n", pid, t.calls,
           t.differ, t.skipped);
    fflush(stdout);
    return t.differ ? CLI_FAILED : CLI_OK;
}

static bool seen_before(const struct replay *r, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (r->calls[k].pid == r->calls[i].pid)
            return true;
    return false;
}

/* In a child, since a process has one device for its life. */
static int in_child(const char *path, const struct replay *r, int pid)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(replay_process(path, r, pid));
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child < 0)
        return cli_error(CLI_FAILED, "fork: %s", strerror(errno));
    return WIFEXITED(status)
               ? WEXITSTATUS(status)
               : cli_error(CLI_FAILED, "the replay of process %d ended by signal %d",
                           pid, WTERMSIG(status));
}

/* Another address space, by starting this program over. */
static int try_again(void)
{
    const char *tries = getenv("RDNA3_REPLAY_TRY");
    int n = tries ? atoi(tries) : 0;
    char text[16], *argv[64], line[4096];
    if (n + 1 >= MAX_TRIES)
        return cli_error(CLI_FAILED, "the client's addresses are in use here, %d times",
                         MAX_TRIES);
    snprintf(text, sizeof(text), "%d", n + 1);
    setenv("RDNA3_REPLAY_TRY", text, 1);
    FILE *f = fopen("/proc/self/cmdline", "re");
    size_t bytes = f ? fread(line, 1, sizeof(line) - 1, f) : 0, count = 0;
    if (f)
        fclose(f);
    for (size_t at = 0; at < bytes && count < 63; at += strlen(line + at) + 1)
        argv[count++] = line + at;
    argv[count] = NULL;
    execv("/proc/self/exe", argv);
    return cli_error(CLI_FAILED, "exec: %s", strerror(errno));
}

static int replay_all(const char *path, const struct replay *r)
{
    struct state state;
    int status = CLI_OK;
    bool collision = false;
    uint64_t vram = r->vram_bytes ? r->vram_bytes : BOARD_VRAM_BYTES;
    if (state_create(vram, NULL, "", &state) != RD_OK)
        return cli_error(CLI_FAILED, "cannot create the state folder");
    setenv(FRONT_ENV_STATE, state.dir, 1);
    setenv(FRONT_ENV_NO_EXEC, "1", 1);
    unsetenv(FRONT_ENV_LOG);
    for (size_t i = 0; i < r->n_calls && !collision; i++) {
        if (seen_before(r, i))
            continue;
        int one = in_child(path, r, r->calls[i].pid);
        collision = one == EXIT_COLLISION;
        status = one > status ? one : status;
    }
    state_remove(&state);
    return collision ? try_again() : status;
}

int replay_run(const char *path)
{
    struct replay r = {.n_calls = 0};
    char why[160];
    void *data;
    size_t bytes;
    if (cli_read_file(path, &data, &bytes) != RD_OK)
        return cli_error(CLI_FAILED, "%s: %s", path, strerror(errno));
    r.text = realloc(data, bytes + 1);
    if (r.text)
        r.text[bytes] = '\0';
    rd_status st = r.text ? replay_parse(r.text, &r, why) : RD_E_NOMEM;
    int status = st == RD_E_FORMAT ? cli_error(CLI_FAILED, "%s: %s", path, why)
                 : st != RD_OK     ? cli_error(CLI_FAILED, "%s", rd_status_text(st))
                 : !r.n_calls
                     ? cli_error(CLI_FAILED, "%s: there is no call in it", path)
                     : replay_all(path, &r);
    replay_free(&r);
    return status;
}
