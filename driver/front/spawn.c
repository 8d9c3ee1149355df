/* spawn.c: programs that are started with an environment of the caller's own.
 *
 * A machine's devices do not depend on it; here they do, so what `rdna3 exec` has set
 * is added where all of it is missing. An environment that names the state folder is
 * its owner's decision, and stays as it is. SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "config.h"
#include "hooks.h"

#define EXPORT __attribute__((visibility("default")))
#define MAX    4096u /* variables of an environment; more of them are left alone */

static bool is_ours(const char *variable)
{
    return strncmp(variable, "LD_PRELOAD=", 11) == 0 ||
           strncmp(variable, "RDNA3_", 6) == 0;
}

static bool names_state(char *const env[])
{
    static const char state[] = FRONT_ENV_STATE "=";
    for (unsigned i = 0; env && env[i]; i++)
        if (strncmp(env[i], state, sizeof(state) - 1) == 0)
            return true;
    return false;
}

/* The environment with ours, or env itself. */
static char *const *with_ours(char *const env[], char *room[MAX + 1])
{
    unsigned n = 0;
    if (names_state(env) || !names_state(environ))
        return env;
    for (; env && env[n] && n < MAX; n++)
        room[n] = env[n];
    for (unsigned i = 0; environ[i] && n < MAX; i++)
        if (is_ours(environ[i]))
            room[n++] = environ[i];
    room[n] = NULL;
    return n < MAX ? room : env;
}

typedef int spawn_fn(pid_t *pid, const char *path,
                     const posix_spawn_file_actions_t *acts,
                     const posix_spawnattr_t *attr, char *const argv[],
                     char *const env[]);

static int spawn(const char *name, pid_t *pid, const char *path,
                 const posix_spawn_file_actions_t *acts, const posix_spawnattr_t *attr,
                 char *const argv[], char *const env[])
{
    char *room[MAX + 1];
    spawn_fn *next;
    *(void **)&next = shim_dlsym()(RTLD_NEXT, name);
    return next(pid, path, acts, attr, argv, with_ours(env, room));
}

EXPORT int posix_spawn(pid_t *pid, const char *path,
                       const posix_spawn_file_actions_t *acts,
                       const posix_spawnattr_t *attr, char *const argv[],
                       char *const env[])
{
    return spawn("posix_spawn", pid, path, acts, attr, argv, env);
}

EXPORT int posix_spawnp(pid_t *pid, const char *path,
                        const posix_spawn_file_actions_t *acts,
                        const posix_spawnattr_t *attr, char *const argv[],
                        char *const env[])
{
    return spawn("posix_spawnp", pid, path, acts, attr, argv, env);
}

/* May be called between vfork and exec: nothing is allocated. */
EXPORT int execve(const char *path, char *const argv[], char *const env[])
{
    char *room[MAX + 1];
    return (int)syscall(SYS_execve, path, argv, with_ours(env, room));
}
