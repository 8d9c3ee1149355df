/* process.c: the folder of each process that uses the compute driver, below
 * /sys/class/kfd/kfd/proc: its address space's number, what it has of the board's
 * memory, what it has copied.
 *
 * A process holds a lock (flock) on its folder, which ends with it, and when it becomes
 * another program; whoever comes next removes the folders without one. The PID would
 * not tell: the process may be in another namespace. Where two have the same, one shows
 * itself. Nothing tells how long copies took, or that a queue was evicted.
 * SPDX-License-Identifier: MIT
 */
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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

static struct {
    atomic_bool busy; /* a thread is at the rest */
    bool forks;       /* children are told */
    pid_t pid;        /* who has shown itself, or cannot */
    int fd;           /* its folder, locked; -1: none */
    dev_t dev;        /* by which the descriptor is known: a program may close it */
    ino_t ino;
    uint64_t told; /* bytes */
} shown = {.fd = -1};

static const char *const names[] = {"pasid", "vram_", "sdma_"};

/* Where a file of a process's folder lies; the folder itself without a name. */
static const char *place(char buf[PATH_MAX], pid_t pid, const char *name)
{
    char path[160], of_gpu[16] = "";
    if (name[0] && name[0] != 'p')
        snprintf(of_gpu, sizeof(of_gpu), "%u", BOARD_GPU_ID);
    snprintf(path, sizeof(path), SYSFS_PROCESSES "/%d/%s%s", (int)pid, name, of_gpu);
    return vfs_path(path, buf);
}

/* False: the folder is not there. */
static bool tell(pid_t pid, const char *name, uint64_t value)
{
    char buf[PATH_MAX], text[32];
    int n = snprintf(text, sizeof(text), "%" PRIu64 "\n", value);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, place(buf, pid, name),
                          O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return errno != ENOENT;
    (void)!write(fd, text, (size_t)n);
    syscall(SYS_close, fd);
    return true;
}

/* The lock must be ours: no other removes the folder meanwhile. */
static void hide(pid_t pid)
{
    char buf[PATH_MAX];
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        (void)unlink(place(buf, pid, names[i]));
    (void)rmdir(place(buf, pid, ""));
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
    tell(pid, "pasid", FIRST_PASID | ((unsigned)pid & (FIRST_PASID - 1)));
    tell(pid, "sdma_", 0);
}

void process_show(uint64_t vram_used)
{
    int saved = errno;
    pid_t pid = (pid_t)syscall(SYS_getpid);
    if (atomic_exchange(&shown.busy, true))
        return; /* the next call tells */
    bool begins = shown.pid != pid;
    if (begins)
        begin(pid);
    if (shown.fd >= 0 && (begins || shown.told != vram_used) &&
        !tell(pid, "vram_", vram_used)) {
        begin(pid); /* the program has closed the descriptor, and another has come */
        if (shown.fd >= 0)
            tell(pid, "vram_", vram_used);
    }
    shown.told = vram_used;
    atomic_store(&shown.busy, false);
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
