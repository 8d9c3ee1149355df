/* hostfault.c: memory that goes away under the GPU.
 *
 * A buffer of host memory may be unmapped without a word to anybody. The kernel driver
 * would learn of it and the GPU would fault; here a thread of ours receives SIGSEGV.
 * Whoever handles the signal makes the access end and says so here; the dispatch is
 * given up, and the queue's worker reports a page fault.
 *
 * Rules: called in signal handlers, so system calls and plain loads only. A thread is
 * ours if its name, which threads inherit, is that of a queue.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "chip.h"
#include "cp.h"

#define NAME "rdna3 queue"

static struct gpu *device; /* of this process */

void gpu_worker_name(uint32_t queue, char name[16])
{
    snprintf(name, 16, NAME "%u", queue);
}

/* The queue that this thread works for, or NULL. */
static struct gpu_queue *queue_of_thread(void)
{
    char name[17] = "";
    uint32_t id = 0;
    if (prctl(PR_GET_NAME, name, 0ul, 0ul, 0ul) != 0 ||
        memcmp(name, NAME, sizeof(NAME) - 1) != 0)
        return NULL;
    for (const char *p = name + sizeof(NAME) - 1; *p >= '0' && *p <= '9'; p++)
        id = id * 10 + (uint32_t)(*p - '0');
    struct gpu *gpu = __atomic_load_n(&device, __ATOMIC_ACQUIRE);
    return gpu && id < GPU_MAX_QUEUES ? gpu->queues[id] : NULL;
}

bool gpu_thread_is_ours(void)
{
    struct gpu_queue *q;
    return cp_chip_thread(&q) || queue_of_thread() != NULL;
}

void gpu_access_failed(uint64_t va, bool write)
{
    struct gpu_queue *q;
    uint64_t none = 0;
    if (!cp_chip_thread(&q))
        q = queue_of_thread();
    if (!q)
        return;
    atomic_compare_exchange_strong(&q->host_fault, &none,
                                   va | (write ? CP_HOST_FAULT_WRITE : 0));
    cp_set_control(q, EMU_CONTROL_CANCEL);
}

struct gpu *gpu_of_process(void)
{
    return __atomic_load_n(&device, __ATOMIC_ACQUIRE);
}

void gpu_hostfault_init(struct gpu *gpu)
{
    __atomic_store_n(&device, gpu, __ATOMIC_RELEASE);
}
