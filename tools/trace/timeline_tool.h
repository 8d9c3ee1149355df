/* timeline_tool.h: what the files of `rdna3 trace TIMELINE` share.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TIMELINE_TOOL_H
#define RD_TIMELINE_TOOL_H

#include "json.h"
#include "timeline.h"

/* Print what happened to stdout as JSON.
 *
 * dispatch  number, or UINT64_MAX: all
 * listing   with the instructions
 * Returns RD_E_NOMEM with what was written so far closed.
 */
RD_CHECKED rd_status timeline_json(const struct timeline *tl, uint64_t dispatch,
                                   bool listing);

/* Print what has changed since another timeline was recorded. Returns an exit status.
 */
int timeline_beside(struct timeline *tl, const char *path, uint64_t dispatch,
                    bool listing);

#endif
