/* mock.c: a client of the ioctl layer inside the test process.
 *
 * Uses the ABI only, as a program would, so that the tests hold for any device model.
 * SPDX-License-Identifier: MIT
 */
#include "mock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <drm/amdgpu_drm.h>

#include "abi.h"
#include "board.h"
#include "config.h"
#include "shared.h"
#include "state.h"

/* KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE, which the header shifts into the sign bit */
#define ALLOC_WRITABLE 0x80000000u

static struct state state;
static int kfd_file = -1, render_file = -1;

static enum abi_file fd_kind(int fd)
{
    return fd == KFD_FD ? ABI_KFD : fd == RENDER_FD ? ABI_RENDER : ABI_NONE;
}

char mock_line[512];

static void say(const char *text)
{
    fprintf(stderr, "%s\n", text);
    snprintf(mock_line, sizeof(mock_line), "%s", text);
}

static bool config(struct abi_config *out)
{
    bool ok = front_config(out);
    out->kmd.log = say;
    out->kmd.lockup_ms = 5000;
    return ok;
}

static const struct abi_host host = {.fd_kind = fd_kind, .config = config};

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    perror(what);
    abort();
}

void mock_begin(void)
{
    char path[PATH_MAX];
    must(state_create(1ull << 30, NULL, "", &state) == RD_OK, "state folder");
    setenv(FRONT_ENV_STATE, state.dir, 1);
    snprintf(path, sizeof(path), "%s/root/dev/kfd", state.dir);
    kfd_file = open(path, O_RDWR | O_CLOEXEC);
    snprintf(path, sizeof(path), "%s/root/dev/dri/renderD128", state.dir);
    render_file = open(path, O_RDWR | O_CLOEXEC);
    must(kfd_file >= 0 && render_file >= 0, "device files");
}

void mock_end(void)
{
    state_remove(&state);
}

const struct gpu_counters *mock_counters(void)
{
    return &state.shared->procs[0].gpu;
}

struct gshared *mock_shared(void)
{
    return state.shared;
}

int kfd(unsigned long cmd, void *arg)
{
    return abi_ioctl(&host, ABI_KFD, -1, cmd, arg);
}

int drm(unsigned long cmd, void *arg)
{
    return abi_ioctl(&host, ABI_RENDER, -1, cmd, arg);
}

int card(int fd, unsigned long cmd, void *arg)
{
    return abi_ioctl(&host, ABI_CARD, fd, cmd, arg);
}

int render(unsigned long cmd, void *arg)
{
    return abi_ioctl(&host, ABI_RENDER, render_file, cmd, arg);
}

int fence(int fd, unsigned long cmd, void *arg)
{
    int r;
    return abi_fence_ioctl(&host, fd, cmd, arg, &r) ? r : -ENOTTY;
}

void mock_recover(void)
{
    abi_recover(&host);
}

int mock_timeline(void)
{
    int fd = abi_new_timeline(&host);
    must(fd >= 0, "timeline");
    return fd;
}

int mock_card_open(void)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof(path), "%s/root/dev/dri/card0", state.dir);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    must(fd >= 0, "card0");
    abi_opened(&host, ABI_CARD, fd);
    return fd;
}

void *mock_buffer(uint64_t bytes, uint32_t flags, uint64_t *handle)
{
    bytes = (bytes + 4095) & ~4095ull;
    bool user = flags & KFD_IOC_ALLOC_MEM_FLAGS_USERPTR;
    void *va = mmap(NULL, bytes, user ? PROT_READ | PROT_WRITE : PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(va != MAP_FAILED, "mmap");
    struct kfd_ioctl_alloc_memory_of_gpu_args a = {
        .va_addr = (uintptr_t)va,
        .size = bytes,
        .gpu_id = GPU_ID,
        .flags = flags | ALLOC_WRITABLE | KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE |
                 KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC,
        .mmap_offset = user ? (uintptr_t)va : 0};
    must(kfd(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &a) == 0, "alloc");
    if (!user)
        must(mmap(va, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                  render_file, (off_t)a.mmap_offset) == va,
             "mmap of the buffer");
    uint32_t gpu = GPU_ID;
    struct kfd_ioctl_map_memory_to_gpu_args m = {
        .handle = a.handle, .device_ids_array_ptr = (uintptr_t)&gpu, .n_devices = 1};
    must(kfd(AMDKFD_IOC_MAP_MEMORY_TO_GPU, &m) == 0 && m.n_success == 1, "map");
    if (handle)
        *handle = a.handle;
    return va;
}

void mock_buffer_free(void *va, uint64_t bytes, uint64_t handle)
{
    uint32_t gpu = GPU_ID;
    struct kfd_ioctl_unmap_memory_from_gpu_args u = {
        .handle = handle, .device_ids_array_ptr = (uintptr_t)&gpu, .n_devices = 1};
    struct kfd_ioctl_free_memory_of_gpu_args f = {.handle = handle};
    must(kfd(AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU, &u) == 0, "unmap");
    must(kfd(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &f) == 0, "free");
    munmap(va, (bytes + 4095) & ~4095ull);
}

int mock_gem_va(uint32_t op, uint32_t handle, uint64_t va, uint64_t offset,
                uint64_t bytes)
{
    struct drm_amdgpu_gem_va m = {.handle = handle,
                                  .operation = op,
                                  .flags = AMDGPU_VM_PAGE_READABLE |
                                           AMDGPU_VM_PAGE_WRITEABLE |
                                           AMDGPU_VM_PAGE_EXECUTABLE,
                                  .va_address = va,
                                  .offset_in_bo = offset,
                                  .map_size = bytes};
    return drm(DRM_IOCTL_AMDGPU_GEM_VA, &m);
}

uint32_t *mock_gem(uint64_t bytes, uint32_t *handle)
{
    union drm_amdgpu_gem_create c = {
        .in = {.bo_size = bytes, .domains = AMDGPU_GEM_DOMAIN_GTT}};
    must(drm(DRM_IOCTL_AMDGPU_GEM_CREATE, &c) == 0, "buffer");
    void *va = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(mock_gem_va(AMDGPU_VA_OP_MAP, c.out.handle, (uintptr_t)va, 0, bytes) == 0,
         "mapping");
    if (handle)
        *handle = c.out.handle;
    return va;
}

static void create(struct mock_queue *q, uint32_t type, uint64_t ring_bytes,
                   uint32_t priority, bool saved)
{
    memset(q, 0, sizeof(*q));
    if (saved)
        q->area =
            mock_buffer(BOARD_CWSR_BYTES, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &q->area_handle);
    q->ring_bytes = ring_bytes;
    q->ring = mock_buffer(ring_bytes, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &q->ring_handle);
    q->page = mock_buffer(4096, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &q->page_handle);
    q->wptr = (volatile uint64_t *)(void *)(q->page + 0x38);
    q->rptr = (volatile uint64_t *)(void *)(q->page + 0x80);
    if (type == KFD_IOC_QUEUE_TYPE_COMPUTE_AQL)
        for (uint64_t i = 0; i < ring_bytes; i += 64)
            q->ring[i] = 1; /* invalid packets */
    struct kfd_ioctl_create_queue_args c = {
        .ring_base_address = (uintptr_t)q->ring,
        .ring_size = (uint32_t)ring_bytes,
        .write_pointer_address = (uintptr_t)q->wptr,
        .read_pointer_address = (uintptr_t)q->rptr,
        .gpu_id = GPU_ID,
        .queue_type = type,
        .queue_percentage = 100,
        .queue_priority = priority,
        .ctx_save_restore_address = (uintptr_t)q->area,
        .ctx_save_restore_size = saved ? BOARD_CWSR_BYTES : 0,
        .ctl_stack_size = saved ? BOARD_CTL_STACK_BYTES : 0,
    };
    must(kfd(AMDKFD_IOC_CREATE_QUEUE, &c) == 0, "create queue");
    q->id = c.queue_id;
    uint8_t *bells = q->bells =
        mmap(NULL, BOARD_DOORBELL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, kfd_file,
             (off_t)(c.doorbell_offset & ~0x1fffull));
    must(bells != MAP_FAILED, "doorbell");
    q->doorbell = (volatile uint64_t *)(void *)(bells + (c.doorbell_offset & 0x1fff));
}

void mock_queue_create_at(struct mock_queue *q, uint32_t type, uint64_t ring_bytes,
                          uint32_t priority)
{
    create(q, type, ring_bytes, priority, false);
}

void mock_queue_create(struct mock_queue *q, uint32_t type, uint64_t ring_bytes)
{
    create(q, type, ring_bytes, 7, false);
}

void mock_queue_create_saved(struct mock_queue *q, uint32_t type, uint64_t ring_bytes)
{
    create(q, type, ring_bytes, 7, true);
}

void mock_queue_destroy(struct mock_queue *q)
{
    struct kfd_ioctl_destroy_queue_args d = {.queue_id = q->id};
    must(kfd(AMDKFD_IOC_DESTROY_QUEUE, &d) == 0, "destroy queue");
    munmap(q->bells, BOARD_DOORBELL_BYTES);
    mock_buffer_free(q->ring, q->ring_bytes, q->ring_handle);
    mock_buffer_free(q->page, 4096, q->page_handle);
    if (q->area)
        mock_buffer_free(q->area, BOARD_CWSR_BYTES, q->area_handle);
}

static void ring(struct mock_queue *q, uint64_t wptr, uint64_t bell)
{
    __atomic_store_n(q->wptr, wptr, __ATOMIC_RELEASE);
    __atomic_store_n(q->doorbell, bell, __ATOMIC_RELEASE);
}

void mock_submit(struct mock_queue *q, const uint32_t *dwords, unsigned count)
{
    for (unsigned i = 0; i < count; i++, q->put += 4)
        memcpy(q->ring + q->put % q->ring_bytes, dwords + i, 4);
    uint64_t unit = q->page[0] == 's' ? 1 : 4; /* set by tests of SDMA queues */
    ring(q, q->put / unit, q->put / unit);
}

#define PM4(op, body) (3u << 30 | (uint32_t)((body) - 1) << 16 | (uint32_t)(op) << 8)
#define LO(p)         ((uint32_t)(uintptr_t)(p))
#define HI(p)         ((uint32_t)((uint64_t)(uintptr_t)(p) >> 32))

void mock_dispatch(struct mock_queue *q, const void *code, const void *args,
                   const uint32_t *done, uint32_t number)
{
    const uint32_t p[] = {
        PM4(0x76, 3),
        0x20c,
        LO((uintptr_t)code >> 8),
        HI((uintptr_t)code >> 8),
        PM4(0x76, 3),
        0x212,
        0,
        4u << 1,
        PM4(0x76, 3),
        0x240,
        LO(args),
        HI(args),
        PM4(0x76, 4),
        0x207,
        32,
        1,
        1,
        PM4(0x15, 4),
        2,
        1,
        1,
        0x8005,
        PM4(0x49, 7),
        0x514,
        1u << 29,
        LO(done),
        HI(done),
        number,
        0,
        0,
    };
    mock_submit(q, p, sizeof(p) / sizeof(p[0]));
}

void mock_set_register(struct mock_queue *q, uint32_t reg, uint32_t value)
{
    bool chip = reg >= 0xc000;
    const uint32_t p[] = {PM4(chip ? 0x79 : 0x76, 2), reg - (chip ? 0xc000 : 0x2c00),
                          value};
    mock_submit(q, p, sizeof(p) / sizeof(p[0]));
}

#define TO_MEMORY (5u << 8)

void mock_copy_register(struct mock_queue *q, uint32_t reg, bool wide, uint32_t *to,
                        const uint32_t *done, uint32_t number)
{
    const uint32_t p[] = {PM4(0x40, 5), TO_MEMORY | 4 | (wide ? 1u << 16 : 0),
                          reg,          0,
                          LO(to),       HI(to),
                          PM4(0x37, 4), TO_MEMORY,
                          LO(done),     HI(done),
                          number};
    mock_submit(q, p, sizeof(p) / sizeof(p[0]));
}

void mock_submit_aql(struct mock_queue *q, const void *packet64)
{
    uint8_t *slot = q->ring + q->put % q->ring_bytes;
    uint32_t first;
    memcpy(&first, packet64, 4);
    memcpy(slot + 4, (const uint8_t *)packet64 + 4, 60);
    q->put += 64;
    __atomic_store_n(q->wptr, q->put / 64, __ATOMIC_RELEASE);
    __atomic_store_n((uint32_t *)(void *)slot, first, __ATOMIC_RELEASE);
    __atomic_store_n(q->doorbell, q->put / 64 - 1, __ATOMIC_RELEASE);
}

bool mock_wait64(const volatile uint64_t *at, uint64_t value)
{
    struct timespec nap = {0, 100000};
    for (int i = 0; i < 50000; i++) {
        if (__atomic_load_n(at, __ATOMIC_ACQUIRE) == value)
            return true;
        nanosleep(&nap, NULL);
    }
    return false;
}

bool mock_wait32(const volatile uint32_t *at, uint32_t value)
{
    struct timespec nap = {0, 100000};
    for (int i = 0; i < 50000; i++) {
        if (__atomic_load_n(at, __ATOMIC_ACQUIRE) == value)
            return true;
        nanosleep(&nap, NULL);
    }
    return false;
}
