/* job.c: one item of a sweep: a command, what it said, how it ended.
 *
 * Must not know databases. SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "sweep.h"

/* Of a command that says more than MOST_TEXT, its end and what comes before that are
 * kept; what lies between is counted. */
enum { MOST_TEXT = 1 << 20, END_TEXT = 1 << 17, NOTE_TEXT = 128, MOST_JOBS = 1024 };

void sweep_path(void)
{
    char self[PATH_MAX], all[3 * PATH_MAX];
    const char *path = getenv("PATH");
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return;
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    (void)snprintf(all, sizeof all, "%s:%s", self, path ? path : "/usr/bin:/bin");
    (void)setenv("PATH", all, 1);
}

static cpu_set_t commands_on;
static bool roams;

void sweep_roam(void)
{
    cpu_set_t all;
    memset(&all, 0xff, sizeof all); /* those that there are */
    roams = sched_getaffinity(0, sizeof commands_on, &commands_on) == 0 &&
            sched_setaffinity(0, sizeof all, &all) == 0;
}

static void become(const char *command, int out, pid_t parent)
{
    int nothing = open("/dev/null", O_RDONLY);
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)signal(SIGPIPE, SIG_DFL);
    if (roams)
        (void)sched_setaffinity(0, sizeof commands_on, &commands_on);
    if (getppid() != parent) /* it died before that */
        _exit(127);
    if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
        _exit(127);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

int sweep_start(struct sweep_job *j, const struct sweep *s, uint64_t item)
{
    int fd[2];
    char *command = sweep_command(s, item);
    pid_t parent = getpid();
    *j = (struct sweep_job){.done = {.item = item}};
    if (!command)
        return CLI_USAGE;
    if (pipe2(fd, O_CLOEXEC) != 0) {
        free(command);
        return cli_error(CLI_FAILED, "cannot start a command: %s", strerror(errno));
    }
    j->began = cli_now();
    j->pid = fork();
    if (j->pid == 0)
        become(command, fd[1], parent);
    close(fd[1]);
    free(command);
    j->out = fd[0];
    if (j->pid > 0) {
        (void)setpgid(j->pid, j->pid); /* whoever is first */
        return CLI_OK;
    }
    j->pid = 0;
    close(fd[0]);
    return cli_error(CLI_FAILED, "cannot start a command: %s", strerror(errno));
}

/* Room for so many bytes more behind the text, which is where the end slides. */
static void make_room(struct sweep_job *j, uint32_t bytes)
{
    if (j->done.bytes + bytes <= MOST_TEXT)
        return;
    uint32_t gone = j->done.bytes + bytes - MOST_TEXT;
    char *end = j->done.text + (MOST_TEXT - END_TEXT);
    j->done.bytes -= gone;
    j->left_out += gone;
    memmove(end, end + gone, j->done.bytes - (MOST_TEXT - END_TEXT));
}

/* What has come; false: that was all. */
static bool take(struct sweep_job *j)
{
    char part[END_TEXT / 2];
    ssize_t n = read(j->out, part, sizeof part);
    if (n < 0)
        return errno == EINTR;
    uint32_t bytes = (uint32_t)n;
    make_room(j, bytes);
    char *text =
        bytes ? realloc(j->done.text, j->done.bytes + bytes + 1u + NOTE_TEXT) : NULL;
    if (text) {
        memcpy(text + j->done.bytes, part, bytes);
        j->done.bytes += bytes;
        text[j->done.bytes] = '\0';
        j->done.text = text;
    }
    return n > 0;
}

/* Behind all that was kept stands what was not. */
static void tell_left_out(struct sweep_job *j)
{
    if (j->left_out)
        j->done.bytes +=
            (uint32_t)snprintf(j->done.text + j->done.bytes, NOTE_TEXT,
                               "\n[rdna3 sweep: of this output %" PRIu64
                               " bytes before the last %d were not kept]\n",
                               j->left_out, END_TEXT);
}

static void finish(struct sweep_job *j)
{
    int status = 0;
    while (waitpid(j->pid, &status, 0) < 0 && errno == EINTR)
        ;
    close(j->out);
    tell_left_out(j);
    j->pid = 0;
    j->done.seconds = cli_now() - j->began;
    j->done.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void sweep_stop(struct sweep_job *jobs, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (jobs[i].pid) {
            (void)kill(-jobs[i].pid, SIGKILL);
            finish(&jobs[i]);
            free(jobs[i].done.text);
        }
}

struct sweep_job *sweep_wait(struct sweep_job *jobs, unsigned n, double seconds)
{
    const struct timespec most = {.tv_sec = (time_t)seconds,
                                  .tv_nsec = (long)(fmod(seconds, 1) * 1e9)};
    struct pollfd fd[MOST_JOBS];
    struct sweep_job *of[MOST_JOBS];
    unsigned k = 0;
    for (unsigned i = 0; i < n && k < MOST_JOBS; i++)
        if (jobs[i].pid) {
            fd[k] = (struct pollfd){.fd = jobs[i].out, .events = POLLIN};
            of[k++] = &jobs[i];
        }
    if (ppoll(fd, k, seconds < 0 ? NULL : &most, NULL) <= 0)
        return NULL;
    for (unsigned i = 0; i < k; i++)
        if (fd[i].revents && !take(of[i])) {
            finish(of[i]);
            return of[i];
        }
    return NULL;
}
