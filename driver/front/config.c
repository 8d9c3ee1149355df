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

bool front_config(struct abi_config *out)
{
    static char timeline[PATH_MAX];
    const char *state = getenv(FRONT_ENV_STATE), *log = getenv(FRONT_ENV_LOG);
    const char *no_exec = getenv(FRONT_ENV_NO_EXEC), *timing = getenv(FRONT_ENV_TIMING);
    if (!state)
        return false;
    const char *engine = getenv(FRONT_ENV_ENGINE);
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
                .cores = getenv(FRONT_ENV_CHECK) || front_debugged() ? NULL : state,
                .debugger = front_debugged() ? state : NULL,
                .whole_cores = getenv(FRONT_ENV_CORE) != NULL,
                .engine = engine ? (unsigned)strtoul(engine, NULL, 10) : 0,
                .opcodes = getenv(FRONT_ENV_OPCODES) != NULL,
                .perf_map = getenv(FRONT_ENV_PERF_MAP) != NULL,
                .threads = hostfault_install},
    };
    return true;
}
