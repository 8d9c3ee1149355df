/* names.c: the names of what observer.h counts, in the order of its enumerations.
 * SPDX-License-Identifier: MIT
 */
#include "observer.h"

const char *const tm_stall_name[TM_STALLS] = {
#define S(name, text, state, about) text,
#include "stalls.def"
#undef S
};
const char *const tm_stall_about[TM_STALLS] = {
#define S(name, text, state, about) about,
#include "stalls.def"
#undef S
};
const uint8_t tm_stall_state[TM_STALLS] = {
#define S(name, text, state, about) TM_ST_##state,
#include "stalls.def"
#undef S
};
const char *const tm_state_name[TM_STATES] = {"issuing", "dependency", "scalar",
                                              "memory",  "LDS",        "barrier",
                                              "port",    "fetch",      "other"};
const char *const tm_count_name[TM_COUNTS] = {
#define K(name, text, unit) text,
#include "counters.def"
#undef K
};
const char *const tm_class_name[TM_CLASSES] = {"VALU", "SALU",   "SMEM",   "VMEM",
                                               "LDS",  "BRANCH", "EXPORT", "IMM"};
const char *const tm_limit_name[] = {"wave slots", "VGPRs", "LDS",
                                     "workgroups per WGP"};
