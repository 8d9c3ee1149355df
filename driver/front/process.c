/* process.c: the folder of each process that uses the compute driver, below
 * /sys/class/kfd/kfd/proc: its address space's number, what it has of the board's
 * memory, what it has copied.
 *
 * It goes when the process ends. Folders of processes that were killed go when the
 * next one comes. Nothing tells how long copies took, or that a queue was evicted.
 * SPDX-License-Identifier: MIT
 */
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "board.h"
#include "sysfs.h"
#include "vfs.h"

#define FIRST_PASID 0x8000u

static struct {
    pthread_mutex_t lock;
    pid_t pid;     /* whose folder is there */
    uint64_t told; /* bytes */
} shown = {.lock = PTHREAD_MUTEX_INITIALIZER};

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

static void tell(pid_t pid, const char *name, uint64_t value)
{
    char buf[PATH_MAX], text[32];
    int n = snprintf(text, sizeof(text), "%" PRIu64 "\n", value);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, place(buf, pid, name),
                          O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return;
    (void)!write(fd, text, (size_t)n);
    syscall(SYS_close, fd);
}

static void hide(pid_t pid)
{
    char buf[PATH_MAX];
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        (void)unlink(place(buf, pid, names[i]));
    (void)rmdir(place(buf, pid, ""));
}

static void hide_dead(void)
{
    DIR *d = opendir(SYSFS_PROCESSES);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH)
            hide(pid);
    }
    if (d)
        closedir(d);
}

void process_show(uint64_t vram_used)
{
    int saved = errno;
    pid_t pid = (pid_t)syscall(SYS_getpid);
    char buf[PATH_MAX];
    if (pthread_mutex_trylock(&shown.lock) != 0)
        return; /* the next call tells; in a child of fork the lock may stay so */
    bool begins = shown.pid != pid;
    if (begins) {
        hide_dead();
        (void)mkdir(place(buf, pid, ""), 0755);
        tell(pid, "pasid", FIRST_PASID | ((unsigned)pid & (FIRST_PASID - 1)));
        tell(pid, "sdma_", 0);
        shown.pid = pid;
    }
    if (begins || shown.told != vram_used)
        tell(pid, "vram_", shown.told = vram_used);
    pthread_mutex_unlock(&shown.lock);
    errno = saved;
}

__attribute__((destructor)) static void finish(void)
{
    if (shown.pid && shown.pid == (pid_t)syscall(SYS_getpid))
        hide(shown.pid);
}
