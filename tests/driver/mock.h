/* mock.h: a device for tests: the state folder, ioctls as a client issues them, memory.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TEST_MOCK_H
#define RD_TEST_MOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/kfd_ioctl.h>

#include "counters.h"

#define GPU_ID 0xB4A7u

/* Descriptor numbers that the mock's host calls /dev/kfd and the render node. */
#define KFD_FD    1000
#define RENDER_FD 1001

/* Make a state folder and point this process at it; once per process. */
void mock_begin(void);
void mock_end(void);
/* What the GPU has counted for this process. */
const struct gpu_counters *mock_counters(void);

/* What all processes share. */
struct gshared *mock_shared(void);

/* The last line that the driver had for people. */
extern char mock_line[512];

/* 0 or -errno. */
int kfd(unsigned long cmd, void *arg);
int drm(unsigned long cmd,
        void *arg); /* the node and the client may whatever any may */
int render(unsigned long cmd, void *arg);
/* The primary node: each opening is a client. */
int mock_card_open(void);
int card(int fd, unsigned long cmd, void *arg);
int mock_timeline(void);
/* Somebody has reset the board. */
void mock_recover(void);
/* A descriptor of fences, or of a timeline. */
int fence(int fd, unsigned long cmd, void *arg);

/* A buffer of the kind (KFD_IOC_ALLOC_MEM_FLAGS_*), mapped on host and GPU. */
void *mock_buffer(uint64_t bytes, uint32_t flags, uint64_t *handle);
void mock_buffer_free(void *va, uint64_t bytes, uint64_t handle);

/* A buffer of the render node, at an address of its own; its handle, unless NULL. */
uint32_t *mock_gem(uint64_t bytes, uint32_t *handle);
/* Change its mapping: AMDGPU_VA_OP_*; 0 or -errno. */
int mock_gem_va(uint32_t op, uint32_t handle, uint64_t va, uint64_t offset,
                uint64_t bytes);

struct mock_queue {
    uint32_t id;
    uint8_t *ring;
    uint64_t ring_bytes;
    volatile uint64_t *rptr, *wptr, *doorbell;
    uint8_t *bells; /* the mapping that doorbell is in */
    uint8_t *page;  /* holds the pointers; an amd_queue_t for AQL */
    uint64_t put;   /* bytes written so far */
    uint8_t *area;  /* where its waves are saved; NULL: it has none */
    uint64_t ring_handle, page_handle, area_handle;
};

/* type: KFD_IOC_QUEUE_TYPE_* */
void mock_queue_create(struct mock_queue *q, uint32_t type, uint64_t ring_bytes);
void mock_queue_create_at(struct mock_queue *q, uint32_t type, uint64_t ring_bytes,
                          uint32_t priority);
/* One whose waves are saved when it is stopped. */
void mock_queue_create_saved(struct mock_queue *q, uint32_t type, uint64_t ring_bytes);
void mock_queue_destroy(struct mock_queue *q);
/* Append dwords (PM4, SDMA) and ring the doorbell. */
void mock_submit(struct mock_queue *q, const uint32_t *dwords, unsigned count);
/* Set a register of the queue or of the chip, by its dword. */
void mock_set_register(struct mock_queue *q, uint32_t reg, uint32_t value);
/* Copy 32 bits of a register, or 64 from it on, to memory; then store number in *done.
 */
void mock_copy_register(struct mock_queue *q, uint32_t reg, bool wide, uint32_t *to,
                        const uint32_t *done, uint32_t number);
/* Run two workgroups of 32 lanes, then store number in *done. code: a multiple of 256;
 * its s[0:1] hold args. */
void mock_dispatch(struct mock_queue *q, const void *code, const void *args,
                   const uint32_t *done, uint32_t number);
/* Put an AQL packet and ring the doorbell. */
void mock_submit_aql(struct mock_queue *q, const void *packet64);
/* Wait up to 5 s until *at == value. */
bool mock_wait64(const volatile uint64_t *at, uint64_t value);
bool mock_wait32(const volatile uint32_t *at, uint32_t value);

#endif
