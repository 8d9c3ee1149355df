/* config.h: what the environment of a program under `rdna3 exec` says.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_FRONT_CONFIG_H
#define RD_FRONT_CONFIG_H

#include <stdbool.h>

#include "abi.h"

/* Names of the variables. */
#define FRONT_ENV_STATE    "RDNA3_STATE" /* the state folder */
#define FRONT_ENV_LOG      "RDNA3_LOG"
#define FRONT_ENV_NO_EXEC  "RDNA3_NO_EXECUTE"
#define FRONT_ENV_TIMING   "RDNA3_TIMING"   /* shader clock in MHz */
#define FRONT_ENV_TIMELINE "RDNA3_TIMELINE" /* set: record the dispatches */
#define FRONT_ENV_ENGINE   "RDNA3_ENGINE"   /* a number: enum emu_engine */
#define FRONT_ENV_SIMD     "RDNA3_SIMD"     /* a number: enum emu_simd */
#define FRONT_ENV_THREADS  "RDNA3_THREADS"  /* host threads for workgroups; 0: all */
#define FRONT_ENV_PERF_MAP "RDNA3_PERF_MAP" /* set: name native code for perf */
#define FRONT_ENV_CHECK    "RDNA3_CHECK"    /* set: check the dispatches */
#define FRONT_ENV_CORE     "RDNA3_CORE"     /* set: core files with all memory */
#define FRONT_ENV_DEBUG    "RDNA3_DEBUG"   /* set: ask a debugger who runs dispatches */
#define FRONT_ENV_OPCODES  "RDNA3_OPCODES" /* set: count instructions by opcode */

/* The configuration of this process; false: it is not under `rdna3 exec`. Strings stay
 * until the next call. */
bool front_config(struct abi_config *out);

/* The state folder; NULL: there is no `rdna3 exec`. */
const char *front_state(void);

/* Is it debugged (`rdna3 debug -- COMMAND`)? */
bool front_debugged(void);

/* The file with the table of findings; NULL: nothing is checked. */
const char *front_findings(void);

#endif
