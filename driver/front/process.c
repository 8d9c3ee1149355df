/* process.c: the folder of each process that uses the compute driver, below
 * /sys/class/kfd/kfd/proc: its address space's number, what it has of the board's
 * memory, its queues, how many pages of shared memory have moved.
 *
 * A process holds a lock (flock) on its folder, which ends with it, and when it becomes
 * another program; whoever comes next removes the folders without one. The PID would
 * not tell: the process may be in another namespace. Where two have the same, one shows
 * itself. Nothing tells how long copies took or queues were evicted.
 * SPDX-License-Identifier: MIT
 */
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "abi.h"
#include "board.h"
#include "sysfs.h"
#include "vfs.h"

#define FIRST_PASID 0x8000u
#define FD_FLOOR    700 /* above the numbers that programs close by habit */
#define TURNS       20u /* of a millisecond, while others look whether a folder is held */
#define PATIENCE    20000u /* turns of 50 us, while another thread shows */
#define PASSES      8u

static struct {
    atomic_bool busy;   /* a thread is at the rest */
    atomic_uint asked;  /* so often should somebody look what has changed */
    atomic_uint looked; /* ... and the first so many times have been looked for */
    bool forks;         /* children are told */
    pid_t pid;          /* who has shown itself, or cannot */
    int fd;             /* its folder, locked; -1: none */
    dev_t dev;          /* by which the descriptor is known: a program may close it */
    ino_t ino;
    struct abi_process told;
} shown = {.fd = -1};

/* Where a file of a process's folder lies; the folder itself without a name. */
static const char *place(char buf[PATH_MAX], pid_t pid, const char *name)
{
    char path[160];
    snprintf(path, sizeof(path), SYSFS_PROCESSES "/%d/%s", (int)pid, name);
    return vfs_path(path, buf);
}

/* A line; without its end for a queue, as in Linux. False: the folder is not there. */
__attribute__((format(printf, 3, 4))) static bool tell(pid_t pid, uint64_t value,
                                                       const char *fmt, ...)
{
    char buf[PATH_MAX], name[64], text[32];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(name, sizeof(name), fmt, ap);
    va_end(ap);
    const char *end = strncmp(name, "queues/", 7) == 0 ? "" : "\n";
    int n = snprintf(text, sizeof(text), "%" PRIu64 "%s", value, end);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, place(buf, pid, name),
                          O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return errno != ENOENT;
    (void)!write(fd, text, (size_t)n);
    syscall(SYS_close, fd);
    return true;
}

static void make(pid_t pid, const char *fmt, uint32_t number)
{
    char buf[PATH_MAX], name[64];
    (void)snprintf(name, sizeof(name), fmt, number);
    (void)mkdir(place(buf, pid, name), 0777);
    (void)chmod(buf, 0777); /* another user removes it when we are dead */
}

/* A folder with all below; the deepest file is queues/N/size. */
static void clear(const char *path, unsigned depth)
{
    char below[PATH_MAX];
    DIR *d = depth ? opendir(path) : NULL;
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        int n = snprintf(below, sizeof(below), "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.' && n < (int)sizeof(below) && unlink(below) != 0)
            clear(below, depth - 1);
    }
    if (d)
        closedir(d);
    (void)rmdir(path);
}

/* The lock must be ours: no other removes the folder meanwhile. */
static void hide(pid_t pid)
{
    char buf[PATH_MAX];
    clear(place(buf, pid, ""), 3);
}

static bool listed(const struct abi_queue *q, unsigned n, const char *name)
{
    for (unsigned i = 0; i < n; i++)
        if (q[i].id == strtoul(name, NULL, 10))
            return true;
    return false;
}

static void tell_queues(pid_t pid)
{
    char buf[PATH_MAX], gone[PATH_MAX];
    struct abi_queue *q = calloc(BOARD_QUEUES, sizeof(*q));
    if (!q)
        return;
    unsigned n = abi_queues(q, BOARD_QUEUES);
    n = n < BOARD_QUEUES ? n : BOARD_QUEUES;
    for (unsigned i = 0; i < n; i++) {
        make(pid, "queues/%u", q[i].id);
        tell(pid, BOARD_GPU_ID, "queues/%u/gpuid", q[i].id);
        tell(pid, q[i].ring_bytes, "queues/%u/size", q[i].id);
        tell(pid, q[i].type, "queues/%u/type", q[i].id);
    }
    DIR *d = opendir(place(buf, pid, "queues"));
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        int length = snprintf(gone, sizeof(gone), "%s/%s", buf, e->d_name);
        if (e->d_name[0] != '.' && length < (int)sizeof(gone) &&
            !listed(q, n, e->d_name))
            clear(gone, 1);
    }
    if (d)
        closedir(d);
    free(q);
}

/* The folder's descriptor, with the lock; -1: it is not there, or another has it. */
static int take(pid_t pid, struct stat *st)
{
    char buf[PATH_MAX];
    struct stat now;
    const char *path = place(buf, pid, "");
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path,
                          O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_FLOOR);
    if (high >= 0) {
        syscall(SYS_close, fd);
        fd = high;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        syscall(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH) == 0 &&
        syscall(SYS_newfstatat, AT_FDCWD, path, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
        now.st_dev == st->st_dev && now.st_ino == st->st_ino)
        return fd;
    syscall(SYS_close, fd); /* another's, or one that was removed as it was opened */
    return -1;
}

static bool holds(void)
{
    struct stat st;
    return shown.fd >= 0 &&
           syscall(SYS_newfstatat, shown.fd, "", &st, AT_EMPTY_PATH) == 0 &&
           st.st_dev == shown.dev && st.st_ino == shown.ino;
}

static void let_go(void)
{
    if (holds())
        syscall(SYS_close, shown.fd);
    shown.fd = -1;
}

/* The lock belongs to the open description, which the child would keep. */
static void in_child(void)
{
    let_go();
    shown.busy = false;
    shown.looked = shown.asked;
}

static void hide_dead(void)
{
    DIR *d = opendir(SYSFS_PROCESSES);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        struct stat st;
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        int fd = pid > 0 ? take(pid, &st) : -1;
        if (fd >= 0) {
            hide(pid);
            syscall(SYS_close, fd);
        }
    }
    if (d)
        closedir(d);
}

static void begin(pid_t pid)
{
    const struct timespec nap = {0, 1000000};
    char buf[PATH_MAX];
    struct stat st = {0};
    if (!shown.forks)
        shown.forks = pthread_atfork(NULL, NULL, in_child) == 0;
    let_go(); /* of another folder, or of one that somebody removed */
    hide_dead();
    for (unsigned turn = 0; shown.fd < 0 && turn < TURNS; turn++) {
        if (turn)
            nanosleep(&nap, NULL);
        (void)mkdir(place(buf, pid, ""), 0755);
        shown.fd = take(pid, &st);
    }
    shown.pid = pid;
    if (shown.fd < 0)
        return;
    shown.dev = st.st_dev;
    shown.ino = st.st_ino;
    (void)fchmod(shown.fd, 0777); /* another user removes it when we are dead */
    tell(pid, FIRST_PASID | ((unsigned)pid & (FIRST_PASID - 1)), "pasid");
    tell(pid, 0, "sdma_%u", BOARD_GPU_ID);
    make(pid, "queues", 0);
    make(pid, "stats_%u", BOARD_GPU_ID);
    tell(pid, 0, "stats_%u/evicted_ms", BOARD_GPU_ID);
    make(pid, "counters_%u", BOARD_GPU_ID);
    tell(pid, 0, "counters_%u/faults", BOARD_GPU_ID);
}

/* What has changed, or all; false: the folder has gone. */
static bool tell_changes(pid_t pid, const struct abi_process *now, bool all)
{
    const struct abi_process *told = &shown.told;
    bool there = true;
    if (all || told->vram_used != now->vram_used)
        there = tell(pid, now->vram_used, "vram_%u", BOARD_GPU_ID);
    if (there && (all || told->pages_in != now->pages_in))
        there = tell(pid, now->pages_in, "counters_%u/page_in", BOARD_GPU_ID);
    if (there && (all || told->pages_out != now->pages_out))
        there = tell(pid, now->pages_out, "counters_%u/page_out", BOARD_GPU_ID);
    if (there && (all || told->queue_changes != now->queue_changes))
        tell_queues(pid);
    return there;
}

static void show(void)
{
    pid_t pid = (pid_t)syscall(SYS_getpid);
    struct abi_process now;
    abi_process(&now);
    bool begins = shown.pid != pid;
    if (begins)
        begin(pid);
    if (shown.fd >= 0 && !tell_changes(pid, &now, begins)) {
        begin(pid); /* the program has closed the descriptor, and another has come */
        if (shown.fd >= 0)
            (void)tell_changes(pid, &now, true);
    }
    shown.told = now;
}

/* One thread is at it and shows what others ask for as well, a few times; then one of
 * them goes on. These wait until it has:
 * who returns from a call finds here what that has changed. A handler of a signal that
 * comes meanwhile, with a call of its own, cannot wait. */
void process_show(void)
{
    static _Thread_local bool inside;
    const struct timespec nap = {0, 50000};
    int saved = errno;
    unsigned mine = atomic_fetch_add(&shown.asked, 1) + 1;
    for (unsigned turn = 0; !inside && turn < PATIENCE; turn++) {
        if ((int)(atomic_load(&shown.looked) - mine) >= 0)
            break;
        inside = true;
        if (atomic_exchange(&shown.busy, true)) {
            inside = false;
            nanosleep(&nap, NULL);
            continue;
        }
        for (unsigned pass = 0; pass < PASSES; pass++) { /* of handlers, too */
            unsigned asked = atomic_load(&shown.asked);
            if (asked == shown.looked)
                break;
            show();
            atomic_store(&shown.looked, asked);
        }
        atomic_store(&shown.busy, false);
        inside = false;
    }
    errno = saved;
}

__attribute__((destructor)) static void finish(void)
{
    if (shown.pid != (pid_t)syscall(SYS_getpid))
        return;
    abi_ended();
    if (holds())
        hide(shown.pid);
}
