/* internal.h: what the files of the runtime share.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_RT_INTERNAL_H
#define RD_RT_INTERNAL_H

#include <linux/kfd_ioctl.h>
#include <pthread.h>

#include "aql.h"
#include "rt.h"

#define RT_PAGE       4096ull
#define RT_MAX_QUEUES 64u

struct rt_buffer {
    struct rt_device *dev;
    struct rt_buffer *next, **link;
    uint64_t handle;
    void *host;     /* the memory; also its GPU address */
    void *reserved; /* with the guards; NULL: the caller's memory */
    uint64_t bytes, reserved_bytes;
};

struct rt_signal {
    struct rt_device *dev;
    struct rt_signal *next, **link;
    struct amd_signal *amd;
    uint32_t slot; /* in the signal pool */
    uint64_t age;  /* of its event, as last seen */
};

struct rt_code {
    struct rt_device *dev;
    struct rt_code *next, **link;
    struct rt_buffer *image;
    struct co_object *co; /* NULL: raw */
    struct co_kernel_desc raw_desc;
};

/* A kernel queue: ring, indices, doorbell. */
struct rt_ring {
    uint32_t id;
    bool live;
    struct rt_buffer *memory; /* the ring */
    struct rt_buffer *page;   /* indices; for AQL an amd_queue_t */
    struct rt_buffer *eop;
    struct rt_buffer *shared; /* context save area: a buffer, where the kernel driver */
    void *save;               /* has no shared virtual memory; else shared memory */
    uint64_t save_bytes;
    volatile uint64_t *wptr, *rptr, *doorbell;
};

struct rt_queue {
    struct rt_device *dev;
    struct rt_ring ring;
    uint32_t packets;
    struct rt_signal *inactive; /* what the firmware says when it stops */
    struct rt_buffer *scratch;
    uint32_t scratch_lane_bytes;
    uint64_t code_version; /* of the device when the caches were invalidated */
};

struct rt_device {
    int kfd, render;
    struct rt_info info;
    unsigned node;
    uint32_t simds_per_cu, arrays, waves_per_simd;
    pthread_mutex_t lock; /* lists, pool, queues */

    struct rt_buffer *buffers;
    struct rt_signal *signals;
    struct rt_code *codes;
    struct rt_queue *queues[RT_MAX_QUEUES];

    uint64_t event_page;    /* address of the mailboxes */
    struct rt_buffer *pool; /* of signals */
    uint8_t *pool_used;
    uint32_t memory_event, hw_event;
    bool failed; /* failure is set */
    struct rt_error failure;

    struct rt_buffer *invalidate; /* PM4 that empties the instruction caches */
    _Atomic uint64_t code_version;

    uint8_t *doorbells; /* the process's page */
    uint64_t doorbell_offset;

    pthread_mutex_t dma_lock; /* what follows; taken before lock */
    struct rt_ring dma;       /* made by the first copy */
    uint64_t dma_put;
    struct rt_signal *dma_signal;
};

/* error.c: write the text and hand back the status. */
rd_status rt_fail(struct rt_error *err, rd_status st, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* An ioctl of /dev/kfd, repeated when interrupted. 0 or -errno. */
int rt_ioctl(const struct rt_device *dev, unsigned long cmd, void *args);

/* Status for a negative errno of the kernel. */
rd_status rt_from_errno(int err);

/* topology.c: find the board; fills info, node and the counts. */
RD_CHECKED rd_status rt_topology(struct rt_device *dev, const struct rt_config *config,
                                 unsigned *render_minor, struct rt_error *err);

/* memory.c: let the device's GPU see a buffer of the process by its handle. */
RD_CHECKED int rt_map_handle(struct rt_device *dev, uint64_t handle);
/* Forget a buffer without freeing it; its handle and memory stay for ever. */
void rt_keep(struct rt_buffer *buffer);

/* signal.c */
RD_CHECKED rd_status rt_events_open(struct rt_device *dev, struct rt_error *err);
void rt_events_close(struct rt_device *dev);
/* RD_E_FAULT once something has gone wrong on the device. */
RD_CHECKED rd_status rt_check(struct rt_device *dev, struct rt_error *err);

/* ring.c */
RD_CHECKED rd_status rt_ring_create(struct rt_device *dev, uint32_t type,
                                    uint64_t bytes, struct rt_ring *ring,
                                    struct rt_error *err);
void rt_ring_destroy(struct rt_device *dev, struct rt_ring *ring);
/* Wait until ready(ctx), looking at the state of the device now and then. */
RD_CHECKED rd_status rt_poll(struct rt_device *dev, bool (*ready)(void *ctx), void *ctx,
                             struct rt_error *err);

#endif
