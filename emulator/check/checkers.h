/* checkers.h: checkers of running kernels: an observer of the emulator that looks for
 * mistakes which a chip does not report.
 *
 * Findings are plain records in a table that the caller owns, so that it may lie in
 * memory shared with another process, which names source lines and prints.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CHECKERS_H
#define RD_CHECKERS_H

#include "event.h"
#include "findings.h"

struct ck_heap;

struct ck_config {
    unsigned classes;  /* CK_BITs, all of them built */
    bool keep_going;   /* else the first finding ends the dispatch */
    bool lanes;        /* race: work-items of a wave race, too, as in the languages */
    uint64_t watchdog; /* instructions of a wave without progress that are a hang; 0:
                          2^27 */
    bool lds_passes; /* LDS accesses out of bounds are told of and run as on the chip */
    bool hazard;     /* wait: what loads bring arrives only when it is waited for ... */
    uint64_t hazard_seed; /* ... but for some, chosen by this */
    bool host_writes;     /* somebody else may change memory while kernels run */
    /* Has a kernel asked the host for something, so that it may now wait for a host
     * that writes the answer (hostcalls)? NULL: there is nobody to ask. */
    bool (*host_asked)(const void *host);
    const void *host;
    struct ck_heap
        *heap; /* allocations by the byte; NULL: regions of the emulator alone */
    /* What memory holds; false: there is none. NULL: with host_writes, all memory
     * counts as written. */
    bool (*read)(void *ctx, uint64_t va, void *to, uint64_t bytes);
    const char *kernel; /* its name if the emulator cannot tell; NULL: none */
    /* Where the code object at a PC begins; NULL: unknown. */
    uint64_t (*image)(void *ctx, uint64_t pc);
    /* Is a store to an address a message, which others may write over when it has come?
     * None races there. NULL: nowhere. */
    bool (*mailbox)(void *ctx, uint64_t va);
    void *ctx;
};

struct ck;

/* Start checking the dispatches of an emulator.
 *
 * table  zeroed, or of other checkers that report into it
 * Owner: ck_destroy. Thread: as emu_add_observer.
 */
RD_CHECKED rd_status ck_create(struct emu *emu, const struct ck_config *config,
                               struct ck_table *table, struct ck **out);
void ck_destroy(struct ck *ck);

/* These bytes have been handed out, and nobody has given them a value yet. Before the
 * dispatches that may use them. */
RD_CHECKED rd_status ck_memory_fresh(struct ck *ck, uint64_t va, uint64_t bytes);

/* How the next dispatch is ordered with others that have ended; if nobody says so,
 * behind of all. Sets are masks of slots. */
#define CK_PAST 64u
struct ck_before {
    uint64_t kept;  /* of those that it or a later one may run beside */
    uint64_t apart; /* ... that nothing orders it behind of */
    unsigned slot; /* where it is itself from now on, if it is kept; CK_PAST: nowhere */
};
void ck_dispatch_before(struct ck *ck, const struct ck_before *before);

/* Somebody else than a kernel has copied: bytes read (from 0: none) and written.
 * Ordered as dispatches are. Thread: no dispatch may be running. */
struct ck_copy {
    uint64_t from, to, bytes;
};
void ck_copied(struct ck *ck, const struct ck_before *before,
               const struct ck_copy *copy);

/* May the dispatch that runs be waiting for somebody: has a wave of it done many
 * instructions without a barrier? Thread: any. */
bool ck_lingers(const struct ck *ck);

/* Beside the dispatch that runs another one begins, of which nothing is seen. Thread:
 * any. */
void ck_beside(const struct ck *ck);

/* Has a finding ended the last dispatch? emu_run has then returned RD_E_TIMEOUT. */
bool ck_stopped(const struct ck *ck);

#endif
