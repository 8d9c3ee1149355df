/* fuzz_driver.c: random ioctls and random packets against the mock.
 *
 * usage: fuzz_driver ioctl|packets [SECONDS [SEED]]
 * Hostile structs and pointers must come back as errors, hostile packets as queue
 * errors; the process must live. Run it under AddressSanitizer. Prints the counts per
 * result, so that a run that only ever got errors is seen. SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <drm/amdgpu_drm.h>

#include "mock.h"

static uint64_t rng_state;

static uint64_t rnd(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return rng_state;
}

static uint64_t pick(uint64_t n)
{
    return rnd() % n;
}

static uint8_t *area; /* writable memory that pointers may name */
static uint8_t *reserved;
static uint64_t handles[64];
static uint64_t results[3]; /* fine, refused, unknown */

#define AREA_BYTES (1u << 20)

/* A value that means something somewhere: pointer, size, id, flag word or noise. */
static uint64_t value(void)
{
    static const uint64_t special[] = {
        0,        1,          4096, 8192, 65536, UINT32_MAX, UINT64_MAX,
        1u << 20, 0x7fffffff, 100,  15,   2,     3,          0x80000000u};
    switch (pick(8)) {
    case 0:
        return (uintptr_t)area + (pick(AREA_BYTES) & ~7ull);
    case 1:
        return (uintptr_t)area + (pick(AREA_BYTES) & ~4095ull);
    case 2:
        return (uintptr_t)reserved + (pick(64) << 12);
    case 3:
        return handles[pick(64)];
    case 4:
        return GPU_ID;
    case 5:
        return pick(16);
    case 6:
        return rnd() >> pick(64);
    default:
        return special[pick(sizeof(special) / sizeof(special[0]))];
    }
}

static void fill(uint8_t *p, size_t bytes)
{
    for (size_t i = 0; i < bytes;) {
        uint64_t v = value();
        size_t n = pick(2) ? 8 : 4;
        if (n > bytes - i)
            n = bytes - i;
        memcpy(p + i, &v, n);
        i += n;
    }
}

/* Allocation with plausible arguments, so that deeper paths are reached. */
static void plausible(void)
{
    static const uint32_t kinds[] = {1, 2, 4, 8, 16};
    struct kfd_ioctl_alloc_memory_of_gpu_args a = {
        .va_addr = (uintptr_t)reserved + (pick(64) << 12),
        .size = (1 + pick(8)) << 12,
        .gpu_id = GPU_ID,
        .flags = kinds[pick(5)] | (uint32_t)(rnd() & 0xff800000u)};
    if (a.flags & 4)
        a.va_addr = a.mmap_offset = (uintptr_t)area + (pick(128) << 12);
    if (a.flags & 24)
        a.size = a.flags & 8 ? 8192 : 4096;
    if (kfd(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &a) == 0) {
        uint32_t gpu = GPU_ID;
        struct kfd_ioctl_map_memory_to_gpu_args m = {.handle = a.handle,
                                                     .device_ids_array_ptr =
                                                         (uintptr_t)&gpu,
                                                     .n_devices = 1};
        handles[pick(64)] = a.handle;
        (void)kfd(AMDKFD_IOC_MAP_MEMORY_TO_GPU, &m);
    }
}

/* A submission with plausible chunks around hostile buffers. */
static void submission(void)
{
    union drm_amdgpu_ctx c = {.in = {.op = AMDGPU_CTX_OP_ALLOC_CTX}};
    if (pick(64) == 0)
        (void)drm(DRM_IOCTL_AMDGPU_CTX, &c);
    struct drm_amdgpu_cs_chunk_ib ib = {.va_start = value(),
                                        .ib_bytes = (uint32_t)pick(256) * 4,
                                        .ip_type = (uint32_t)pick(4)};
    struct drm_amdgpu_cs_chunk_dep dep = {.ip_type = (uint32_t)pick(3),
                                          .handle = pick(4)};
    struct drm_amdgpu_cs_chunk chunks[2] = {
        {AMDGPU_CHUNK_ID_IB, sizeof(ib) / 4, (uintptr_t)&ib},
        {(uint32_t)pick(12), (uint32_t)pick(10), pick(2) ? (uintptr_t)&dep : value()}};
    uint64_t list[2] = {(uintptr_t)&chunks[0], (uintptr_t)&chunks[1]};
    union drm_amdgpu_cs cs = {.in = {.ctx_id = 1 + (uint32_t)pick(4),
                                     .num_chunks = 1 + (uint32_t)pick(2),
                                     .chunks = (uintptr_t)list}};
    int r = drm(DRM_IOCTL_AMDGPU_CS, &cs);
    results[r == 0 ? 0 : 1]++;
}

static void one_ioctl(void)
{
    uint8_t args[512];
    unsigned nr = (unsigned)pick(pick(4) ? 0x28 : 0x100);
    size_t size = pick(4) ? 8 * (1 + pick(14)) : pick(sizeof(args));
    bool render = pick(4) == 0;
    if (nr == 0x0c && !render) { /* a wait must not last */
        struct kfd_ioctl_wait_events_args w = {.events_ptr = value(),
                                               .num_events = (uint32_t)pick(5),
                                               .wait_for_all = (uint32_t)pick(2),
                                               .timeout = (uint32_t)pick(2)};
        (void)kfd(AMDKFD_IOC_WAIT_EVENTS, &w);
        return;
    }
    fill(args, sizeof(args));
    if (render && pick(2))
        nr = 0x40 + (unsigned)pick(0x16);
    if (render && (nr == 0x47 || nr == 0x49 || nr == 0x52)) { /* waits must not last */
        uint64_t soon = 1;
        memcpy(args + (nr == 0x52 ? 16 : 8), &soon, 8);
        size = size < 32 ? 32 : size;
    }
    if (nr == 0x26 && !render && pick(4)) { /* a debugging session of its own */
        uint32_t head[2] = {(uint32_t)getpid(), (uint32_t)pick(16)};
        memcpy(args, head, sizeof(head));
    }
    unsigned long cmd =
        _IOC((unsigned)pick(4), (unsigned)(render ? 'd' : 'K'), nr, size);
    void *arg = pick(16) ? args : (void *)(uintptr_t)value();
    int r = render ? drm(cmd, arg) : kfd(cmd, arg);
    results[r >= 0 ? 0 : r == -ENOTTY ? 2 : 1]++;
    if (render && r == 0 && nr == 0x2d) { /* do not collect descriptors */
        int32_t fd;
        memcpy(&fd, args + 8, 4);
        if (fd > 2 && arg == args)
            close(fd);
    }
    if (!render && r == 0 && (nr == 0x24 || nr == 0x1f) && arg == args) {
        int32_t fd;
        memcpy(&fd, args + (nr == 0x24 ? 12 : 4), 4);
        if (fd > 2)
            close(fd);
    }
}

/* ---- packets ---- */

static uint32_t sdma_header(void)
{
    static const uint32_t ops[] = {0, 1, 1 | 4 << 8, 2,  4,           5,
                                   6, 8, 10,         11, 13 | 2 << 8, 17};
    return ops[pick(sizeof(ops) / sizeof(ops[0]))] |
           (uint32_t)(pick(3) ? 0 : rnd() & 0xffff0000u);
}

static uint32_t pm4_header(void)
{
    static const uint8_t ops[] = {0x10, 0x15, 0x1e, 0x37, 0x3c, 0x3f,
                                  0x40, 0x46, 0x49, 0x58, 0x76, 0x79};
    uint32_t op = pick(8) ? ops[pick(sizeof(ops))] : (uint32_t)pick(256);
    return 3u << 30 | (uint32_t)pick(10) << 16 | op << 8;
}

static void random_queue(uint32_t type)
{
    struct mock_queue q;
    uint32_t dw[16];
    mock_queue_create(&q, type, 4096);
    if (type == KFD_IOC_QUEUE_TYPE_SDMA)
        q.page[0] = 's';
    uint64_t inactive = (uintptr_t)area + 64;
    if (type == KFD_IOC_QUEUE_TYPE_COMPUTE_AQL)
        memcpy(q.page + 0xc0, &inactive, 8);
    for (unsigned i = 0; i < 30; i++) {
        fill((uint8_t *)dw, sizeof(dw));
        if (type == KFD_IOC_QUEUE_TYPE_COMPUTE_AQL) {
            uint16_t header = (uint16_t)(pick(6) | (rnd() & 0x1f00));
            memcpy(dw, &header, 2);
            mock_submit_aql(&q, dw);
        } else {
            dw[0] = type == KFD_IOC_QUEUE_TYPE_SDMA ? sdma_header() : pm4_header();
            mock_submit(&q, dw, 1 + (unsigned)pick(16));
        }
    }
    usleep((unsigned)pick(2000));
    mock_queue_destroy(&q);
}

static void one_packet_round(void)
{
    static const uint32_t types[] = {KFD_IOC_QUEUE_TYPE_COMPUTE,
                                     KFD_IOC_QUEUE_TYPE_SDMA,
                                     KFD_IOC_QUEUE_TYPE_COMPUTE_AQL};
    random_queue(types[pick(3)]);
    results[0]++;
}

int main(int argc, char **argv)
{
    bool packets = argc > 1 && strcmp(argv[1], "packets") == 0;
    double seconds = argc > 2 ? atof(argv[2]) : 5;
    rng_state = argc > 3 ? strtoull(argv[3], NULL, 0) : 0x9e3779b97f4a7c15ull;
    if (argc < 2 || (!packets && strcmp(argv[1], "ioctl") != 0)) {
        fprintf(stderr, "usage: fuzz_driver ioctl|packets [SECONDS [SEED]]\n");
        return 2;
    }
    if (!freopen("/dev/null", "w", stderr)) /* queue errors are expected here */
        return 2;
    mock_begin();
    area = mock_buffer(
        AREA_BYTES,
        packets ? KFD_IOC_ALLOC_MEM_FLAGS_GTT : KFD_IOC_ALLOC_MEM_FLAGS_USERPTR, NULL);
    reserved = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    time_t end = time(NULL) + (time_t)seconds;
    uint64_t rounds = 0;
    while (time(NULL) < end) {
        for (unsigned i = 0; i < (packets ? 1 : 1000); i++, rounds++) {
            if (packets) {
                one_packet_round();
            } else {
                one_ioctl();
                if (pick(8) == 0)
                    plausible();
                if (pick(256) == 0)
                    submission();
            }
        }
    }
    printf("%" PRIu64 " rounds: %" PRIu64 " fine, %" PRIu64 " refused, %" PRIu64
           " unknown\n",
           rounds, results[0], results[1], results[2]);
    mock_end();
    return 0;
}
