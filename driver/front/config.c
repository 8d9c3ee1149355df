/* config.c: the only place where the driver reads its environment.
 * SPDX-License-Identifier: MIT
 */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hostfault.h"
#include "shared.h"

const char *front_findings(void)
{
    static char findings[PATH_MAX];
    const char *state = getenv(FRONT_ENV_STATE);
    if (!state || !getenv(FRONT_ENV_CHECK))
        return NULL;
    (void)snprintf(findings, sizeof(findings), "%s/" GSHARED_FINDINGS, state);
    return findings;
}

const char *front_state(void)
{
    return getenv(FRONT_ENV_STATE);
}

bool front_debugged(void)
{
    return getenv(FRONT_ENV_DEBUG) != NULL;
}

/* A number; what is not there is 0. */
static unsigned number(const char *name)
{
    const char *text = getenv(name);
    return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

bool front_config(struct abi_config *out)
{
    static char timeline[PATH_MAX];
    const char *state = getenv(FRONT_ENV_STATE), *log = getenv(FRONT_ENV_LOG);
    const char *no_exec = getenv(FRONT_ENV_NO_EXEC), *timing = getenv(FRONT_ENV_TIMING);
    if (!state)
        return false;
    bool record = getenv(FRONT_ENV_TIMELINE) != NULL;
    if (record)
        (void)snprintf(timeline, sizeof(timeline), "%s/" GSHARED_TIMELINE, state);
    *out = (struct abi_config){
        .log = log && *log ? log : NULL,
        .kmd = {.state_dir = state,
                .no_execute = no_exec && strcmp(no_exec, "1") == 0,
                .sclk_mhz = timing ? strtod(timing, NULL) : 0,
                .timeline = record ? timeline : NULL,
                .check = front_findings(),
                .cores = front_debugged() ? NULL : state,
                .debugger = front_debugged() ? state : NULL,
                .whole_cores = getenv(FRONT_ENV_CORE) != NULL,
                .engine = number(FRONT_ENV_ENGINE),
                .simd = number(FRONT_ENV_SIMD),
                .host_threads = number(FRONT_ENV_THREADS),
                .opcodes = getenv(FRONT_ENV_OPCODES) != NULL,
                .perf_map = getenv(FRONT_ENV_PERF_MAP) != NULL,
                .threads = hostfault_install},
    };
    return true;
}
