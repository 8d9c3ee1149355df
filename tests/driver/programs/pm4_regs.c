/* pm4_regs.c: a client that uses registers which nobody models, by a PM4 queue.
 *
 * usage: pm4_regs
 * For `rdna3 exec --stats` and `--log`, which must name them.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <time.h>

#include "internal.h"
#include "pm4.h"

enum { COMPUTE_START_X = 0x2e04, NAMELESS = 0xa3f1, TO_MEMORY = 5 << 8, FENCE = 4711 };

int main(void)
{
    struct rt_device *dev;
    struct rt_ring ring;
    struct rt_buffer *page;
    struct rt_error err;
    if (rt_open(NULL, &dev, &err) != RD_OK ||
        rt_ring_create(dev, KFD_IOC_QUEUE_TYPE_COMPUTE, 4096, &ring, &err) != RD_OK ||
        rt_alloc(dev, RT_PAGE, RT_GTT, 0, &page, &err) != RD_OK) {
        fprintf(stderr, "pm4_regs: %s\n", err.text);
        return 1;
    }
    uint64_t at = rt_gpuva(page);
    const uint32_t packets[] = {PM4_HEADER(PM4_SET_SH_REG, 2),
                                COMPUTE_START_X - PM4_SH_BASE,
                                1,
                                PM4_HEADER(PM4_SET_CONTEXT_REG, 2),
                                NAMELESS - PM4_CONTEXT_BASE,
                                1,
                                PM4_HEADER(PM4_WRITE_DATA, 4),
                                TO_MEMORY,
                                (uint32_t)at,
                                (uint32_t)(at >> 32),
                                FENCE};
    uint32_t *put = rt_host(ring.memory), n = sizeof(packets) / sizeof(packets[0]);
    for (uint32_t i = 0; i < n; i++)
        put[i] = packets[i];
    __atomic_store_n(ring.wptr, n, __ATOMIC_RELEASE);
    __atomic_store_n(ring.doorbell, n, __ATOMIC_RELEASE);
    const uint32_t *done = rt_host(page);
    bool ok = false;
    for (unsigned i = 0; i < 5000 && !ok; i++) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        ok = __atomic_load_n(done, __ATOMIC_ACQUIRE) == FENCE;
    }
    rt_ring_destroy(dev, &ring);
    rt_free(page);
    rt_close(dev);
    puts(ok ? "pm4_regs ok" : "pm4_regs failed");
    return !ok;
}
