/* abi.h: ioctls on the mocked device files.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_ABI_H
#define RD_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kmd.h"

enum abi_file { ABI_NONE, ABI_KFD, ABI_RENDER, ABI_CARD };

struct abi_config {
    const char *log; /* file of the transcript, or NULL */
    struct kmd_config kmd;
};

/* What the layer in front knows about descriptors. */
struct abi_host {
    enum abi_file (*fd_kind)(int fd);
    /* Copy from and to the client's memory, besides the struct itself; false if it is
     * not accessible. NULL: this process is the client. */
    bool (*get)(void *to, uint64_t from, size_t bytes);
    bool (*put)(uint64_t to, const void *from, size_t bytes);
    /* Asked when the first ioctl comes. False: there is no device here. */
    bool (*config)(struct abi_config *out);
};

/* Could the command be one of ours? Cheap; the descriptor decides. */
static inline bool abi_claims(unsigned long cmd)
{
    unsigned long type = cmd >> 8 & 0xff;
    return type == 'K' || type == 'd';
}

/* The same of descriptors of fences and software timelines. */
static inline bool abi_claims_fence(unsigned long cmd)
{
    unsigned long type = cmd >> 8 & 0xff;
    return type == '>' || type == 'W';
}

/* For a handler of SIGSEGV and SIGBUS: is this thread at work for the GPU? */
bool abi_thread_is_ours(void);
/* Its access at va found no memory, and can end now. Async-signal-safe. */
void abi_access_failed(uint64_t va, bool write);

/* For a handler of SIGINT: order core files of what runs (0: nothing does), and has it
 * been done? Async-signal-safe. */
uint32_t abi_look(void);
bool abi_looked(uint32_t ticket);

/* May the render node be mapped so? If not, mmap answers EINVAL. Before the first ioctl
 * there is nothing that a mapping could be too large for. */
bool abi_mapping_fits(uint64_t offset, uint64_t bytes);

/* Is it a descriptor of an exported buffer? Then its bytes from *offset on are at what
 * *offset becomes in the render node. False also if they end beyond the buffer. */
bool abi_buffer_place(int fd, uint64_t bytes, uint64_t *offset);

/* The program is about to unmap memory. Thread: any. */
void abi_unmapped(uint64_t va, uint64_t bytes);

/* The program ends. */
void abi_ended(void);

/* Perform an ioctl.
 *
 * fd   the client's descriptor; -1: nobody knows, and it may whatever any may
 * cmd  full command word; only number, direction and size are looked at
 * arg  the client's pointer; never dereferenced, only copied from and to
 * Returns 0 or a positive result, or -errno.
 * Thread: any; blocks in waits without holding a lock.
 */
int abi_ioctl(const struct abi_host *host, enum abi_file file, int fd,
              unsigned long cmd, void *arg);

/* An ioctl on a descriptor that is none of our files; false: nor of a fence or
 * software timeline of ours. */
bool abi_fence_ioctl(const struct abi_host *host, int fd, unsigned long cmd, void *arg,
                     int *result);

/* A descriptor of a new software timeline, or -errno. Thread: any. */
int abi_new_timeline(const struct abi_host *host);

/* What the process has of the GPU; all 0 before its first ioctl. Thread: any. */
struct abi_process {
    uint64_t vram_used;           /* bytes, by way of /dev/kfd */
    uint64_t pages_in, pages_out; /* of shared virtual memory that have moved */
    uint32_t queue_changes;       /* so often has one come, gone or got another ring */
};
void abi_process(struct abi_process *out);

/* Its queues, those that there is room for; returns how many there are. */
enum abi_queue_type { /* the kernel driver's own numbers, not those of its interface */
                      ABI_QUEUE_COMPUTE = 0,
                      ABI_QUEUE_DMA = 1
};
struct abi_queue {
    uint32_t id;
    enum abi_queue_type type;
    uint64_t ring_bytes;
};
unsigned abi_queues(struct abi_queue *out, unsigned room);

/* Somebody wants the GPU to be reset. Thread: any. */
void abi_recover(const struct abi_host *host);

/* A file of ours was opened. Thread: any. */
void abi_opened(const struct abi_host *host, enum abi_file file, int fd);

#endif
