/* state.h: the state folder of `rdna3 exec`, and entering another root.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_STATE_H
#define RD_STATE_H

#include <limits.h>
#include <stdint.h>

#include "status.h"

struct gshared;

struct state {
    char dir[PATH_MAX / 2];
    char library[PATH_MAX];     /* path of the driver library as the program sees it */
    char in_root[2 * PATH_MAX]; /* where another root shows dir; "": it does anyway */
    char problem[2 * PATH_MAX]; /* what failed, of state_create */
    struct gshared *shared;
    struct controls *controls; /* controls.c; NULL: nobody acts on what is written */
};

/* Create the folder with device files, sysfs tree and shared counters.
 *
 * root     directory that will become the program's root, or NULL
 * library  path of the driver library; in the folder when there is a root, or when the
 *          loader could not take the path
 */
RD_CHECKED rd_status state_create(uint64_t vram_bytes, const char *root,
                                  const char *library, struct state *out);
void state_remove(struct state *state);

/* ---- mounts.c: for the child that becomes the program ---- */

/* A mount namespace of its own; also a user namespace if the caller is not root.
 * Returns NULL, or what failed, with errno set. */
const char *mounts_begin(void);

/* Make dir the root directory, with the host's /proc, /sys and /dev, and the state
 * folder. Returns NULL, or what failed, with errno set. */
const char *mounts_enter_root(const char *dir, const struct state *state);

/* Show the mocked files at their real places, so that programs see them too that no
 * library can be loaded into. What cannot be mounted stays to the
 * preloaded library. Returns how many of the places are mounted. */
unsigned mounts_show(const struct state *state);

#endif
