/* device.c: opening and closing a board: descriptors, address space, apertures.
 *
 * Must not know packets. Invariant: a device that rt_open hands out can create queues.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <drm/amdgpu_drm.h>

#include "internal.h"
#include "pm4.h"

#define MIN_KFD_MINOR 11u /* context save areas through shared virtual memory */
#define MAX_APERTURES 64u

static rd_status open_files(struct rt_device *dev, const struct rt_config *config,
                            struct rt_error *err)
{
    const char *kfd = config->kfd ? config->kfd : "/dev/kfd";
    unsigned minor = 0;
    dev->kfd = open(kfd, O_RDWR | O_CLOEXEC);
    if (dev->kfd < 0)
        return rt_fail(err, errno == ENOENT ? RD_E_NOT_FOUND : RD_E_IO,
                       "cannot open %s: %s%s", kfd, strerror(errno),
                       errno == ENOENT ? " (no amdgpu driver; rdna3 exec shows a mock)"
                                       : "");
    rd_status st = rt_topology(dev, config, &minor, err);
    if (st != RD_OK)
        return st;
    char path[512];
    snprintf(path, sizeof(path), "%s/dev/dri/renderD%u",
             config->root ? config->root : "", minor);
    dev->render = open(path, O_RDWR | O_CLOEXEC);
    if (dev->render < 0)
        return rt_fail(err, RD_E_IO, "cannot open %s: %s", path, strerror(errno));
    return RD_OK;
}

static rd_status check_version(struct rt_device *dev, struct rt_error *err)
{
    struct kfd_ioctl_get_version_args v = {0};
    int r = rt_ioctl(dev, AMDKFD_IOC_GET_VERSION, &v);
    if (r)
        return rt_fail(err, rt_from_errno(r), "/dev/kfd has no version: %s",
                       strerror(-r));
    dev->info.kfd_major = v.major_version;
    dev->info.kfd_minor = v.minor_version;
    if (v.major_version != 1 || v.minor_version < MIN_KFD_MINOR)
        return rt_fail(err, RD_E_UNSUPPORTED,
                       "the kernel's interface is %u.%u, 1.%u or later is needed",
                       v.major_version, v.minor_version, MIN_KFD_MINOR);
    return RD_OK;
}

static rd_status bind_memory(struct rt_device *dev, struct rt_error *err)
{
    struct kfd_ioctl_acquire_vm_args vm = {.drm_fd = (uint32_t)dev->render,
                                           .gpu_id = dev->info.gpu_id};
    struct kfd_process_device_apertures list[MAX_APERTURES];
    /* How many there are first: asking for more than that is an error. */
    struct kfd_ioctl_get_process_apertures_new_args a = {
        .kfd_process_device_apertures_ptr = (uintptr_t)list};
    int r = rt_ioctl(dev, AMDKFD_IOC_ACQUIRE_VM, &vm);
    if (r)
        return rt_fail(err, rt_from_errno(r), "cannot acquire the address space: %s",
                       strerror(-r));
    memset(list, 0, sizeof(list));
    r = rt_ioctl(dev, AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, &a);
    if (a.num_of_nodes > MAX_APERTURES)
        a.num_of_nodes = MAX_APERTURES;
    if (r == 0 && a.num_of_nodes)
        r = rt_ioctl(dev, AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, &a);
    for (uint32_t i = 0; r == 0 && i < a.num_of_nodes && i < MAX_APERTURES; i++) {
        if (list[i].gpu_id != dev->info.gpu_id)
            continue;
        dev->info.lds_base = list[i].lds_base;
        dev->info.scratch_base = list[i].scratch_base;
        return RD_OK;
    }
    return rt_fail(err, r ? rt_from_errno(r) : RD_E_NOT_FOUND,
                   "the board has no apertures%s%s", r ? ": " : "",
                   r ? strerror(-r) : "");
}

/* The rate of timestamps, which only the graphics side of the driver tells. */
static rd_status read_clock(struct rt_device *dev, struct rt_error *err)
{
    struct drm_amdgpu_info_device info;
    struct drm_amdgpu_info request = {.return_pointer = (uintptr_t)&info,
                                      .return_size = sizeof(info),
                                      .query = AMDGPU_INFO_DEV_INFO};
    memset(&info, 0, sizeof(info));
    if (ioctl(dev->render, DRM_IOCTL_AMDGPU_INFO, &request) != 0)
        return rt_fail(err, RD_E_IO, "the render node says nothing of its device: %s",
                       strerror(errno));
    dev->info.clock_hz = info.gpu_counter_freq * 1000ull; /* given in kHz */
    if (!dev->info.clock_hz)
        return rt_fail(err, RD_E_FORMAT, "the timestamp counter has no rate");
    return RD_OK;
}

/* ACQUIRE_MEM: instruction, scalar, vector, L1 and L2 caches are invalidated. */
static rd_status make_invalidate(struct rt_device *dev, struct rt_error *err)
{
    static const uint32_t pm4[8] = {PM4_HEADER(PM4_ACQUIRE_MEM, 7),
                                    0,
                                    0xffffffff,
                                    0x01ffffff,
                                    0,
                                    0,
                                    10,
                                    PM4_GCR_ALL};
    rd_status st = rt_alloc(dev, RT_PAGE, RT_GTT, RT_EXEC, &dev->invalidate, err);
    if (st == RD_OK)
        memcpy(rt_host(dev->invalidate), pm4, sizeof(pm4));
    return st;
}

rd_status rt_open(const struct rt_config *config, struct rt_device **out,
                  struct rt_error *err)
{
    static const struct rt_config first = {0};
    struct rt_device *dev = calloc(1, sizeof(*dev));
    if (!dev)
        return rt_fail(err, RD_E_NOMEM, "out of memory");
    dev->kfd = dev->render = -1;
    pthread_mutex_init(&dev->lock, NULL);
    pthread_mutex_init(&dev->dma_lock, NULL);
    rd_status st = open_files(dev, config ? config : &first, err);
    if (st == RD_OK)
        st = check_version(dev, err);
    if (st == RD_OK)
        st = bind_memory(dev, err);
    if (st == RD_OK)
        st = read_clock(dev, err);
    if (st == RD_OK)
        st = rt_events_open(dev, err);
    if (st == RD_OK)
        st = make_invalidate(dev, err);
    if (st != RD_OK) {
        rt_close(dev);
        return st;
    }
    *out = dev;
    return RD_OK;
}

void rt_close(struct rt_device *dev)
{
    if (!dev)
        return;
    for (unsigned i = 0; i < RT_MAX_QUEUES; i++)
        rt_queue_destroy(dev->queues[i]);
    rt_ring_destroy(dev, &dev->dma);
    while (dev->codes)
        rt_unload(dev->codes);
    while (dev->signals)
        rt_signal_destroy(dev->signals);
    rt_events_close(dev);
    while (dev->buffers)
        rt_free(dev->buffers);
    if (dev->doorbells)
        munmap(dev->doorbells, 2 * RT_PAGE);
    if (dev->render >= 0)
        close(dev->render);
    if (dev->kfd >= 0)
        close(dev->kfd);
    pthread_mutex_destroy(&dev->dma_lock);
    pthread_mutex_destroy(&dev->lock);
    free(dev);
}

const struct rt_info *rt_info(const struct rt_device *dev)
{
    return &dev->info;
}

rd_status rt_clocks(struct rt_device *dev, uint64_t clocks[3], struct rt_error *err)
{
    struct kfd_ioctl_get_clock_counters_args c = {.gpu_id = dev->info.gpu_id};
    int r = rt_ioctl(dev, AMDKFD_IOC_GET_CLOCK_COUNTERS, &c);
    if (r)
        return rt_fail(err, rt_from_errno(r), "cannot read the clocks: %s",
                       strerror(-r));
    clocks[0] = c.gpu_clock_counter;
    clocks[1] = c.cpu_clock_counter;
    clocks[2] = c.system_clock_counter;
    return RD_OK;
}
