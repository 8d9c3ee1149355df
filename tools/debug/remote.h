/* remote.h: a dispatch of a program that runs under `rdna3 exec`, in this process: its
 * memory comes as it is touched, and what kernels write goes back.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DEBUG_REMOTE_H
#define RD_DEBUG_REMOTE_H

#include "session.h"
#include "wire.h"

struct remote;

/* Take what a process offers by a connection: nothing runs yet. NULL: it is no offer
 * (it has been closed). */
struct remote *remote_open(int fd);
const struct wire_dispatch *remote_dispatch(const struct remote *r);
/* Its memory as it is now. */
bool remote_read(struct remote *r, uint64_t va, void *to, size_t bytes);
/* The process is to run it by itself. Frees r. */
void remote_decline(struct remote *r);

/* Show its memory at its addresses and to the emulator. why: at least 200 bytes. */
RD_CHECKED bool remote_map(struct remote *r, struct emu *emu, char *why);
/* Memory that comes goes to this copy of the region at va, too. */
void remote_keep(struct remote *r, uint64_t va, uint8_t *copy);
/* Where the waves' surroundings are. */
const struct emu_queue *remote_queue(struct remote *r, struct session *s);

/* Kernels have written; time has gone back: another future may come. */
void remote_written(struct remote *r, uint64_t va, uint64_t bytes);
void remote_went_back(struct remote *r);
/* At the frontier, now and then: what has changed goes there and comes here. */
void remote_exchange(struct session *s);
/* Has the process gone? */
bool remote_lost(const struct remote *r);

/* It is done: memory goes back, the process goes on. Unmaps and frees. */
void remote_finish(struct session *s);

#endif
