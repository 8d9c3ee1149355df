/* test_edges.c: where the kernel refuses, and what outlives its owner: memory limits,
 * sizes that several interfaces tell, buffers of queues, exported memory.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <drm/amdgpu_drm.h>

#include "../suite.h"
#include "abi.h"
#include "board.h"
#include "ipc.h"
#include "mock.h"

#define MIB (1ull << 20)

static int alloc_vram(uint64_t bytes, uint64_t *handle)
{
    struct kfd_ioctl_alloc_memory_of_gpu_args a = {
        .va_addr = 1ull << 40,
        .size = bytes,
        .gpu_id = GPU_ID,
        .flags = KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC};
    int r = kfd(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &a);
    *handle = a.handle;
    return r;
}

static int free_memory(uint64_t handle)
{
    struct kfd_ioctl_free_memory_of_gpu_args f = {.handle = handle};
    return kfd(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &f);
}

static uint64_t available(void)
{
    struct kfd_ioctl_get_available_memory_args a = {.gpu_id = GPU_ID};
    ck_assert_int_eq(kfd(AMDKFD_IOC_AVAILABLE_MEMORY, &a), 0);
    return a.available;
}

static struct drm_amdgpu_memory_info memory_info(void)
{
    struct drm_amdgpu_memory_info m;
    struct drm_amdgpu_info i = {.return_pointer = (uintptr_t)&m,
                                .return_size = sizeof(m),
                                .query = AMDGPU_INFO_MEMORY};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_INFO, &i), 0);
    return m;
}

static int create_gem(uint64_t bytes, uint64_t domain, uint32_t *handle)
{
    union drm_amdgpu_gem_create c = {.in = {.bo_size = bytes, .domains = domain}};
    int r = drm(DRM_IOCTL_AMDGPU_GEM_CREATE, &c);
    *handle = r ? 0 : c.out.handle;
    return r;
}

static void close_gem(uint32_t handle)
{
    struct drm_gem_close c = {.handle = handle};
    ck_assert_int_eq(drm(DRM_IOWR(DRM_NR_GEM_CLOSE, struct drm_gem_close), &c), 0);
}

static uint64_t file_number(const char *path)
{
    char full[512];
    long long v = 0;
    snprintf(full, sizeof(full), "%s/root%s", getenv("RDNA3_STATE"), path);
    FILE *f = fopen(full, "re");
    ck_assert_msg(f && fscanf(f, "%lli", &v) == 1, "%s", path);
    fclose(f);
    return (uint64_t)v;
}

/* The mock has 1 GiB of VRAM: every interface says so. */
START_TEST(one_size_everywhere)
{
    struct drm_amdgpu_memory_info m = memory_info();
    struct drm_amdgpu_info_vram_gtt v;
    struct drm_amdgpu_info i = {.return_pointer = (uintptr_t)&v,
                                .return_size = sizeof(v),
                                .query = AMDGPU_INFO_VRAM_GTT};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_INFO, &i), 0);
    ck_assert_uint_eq(m.vram.total_heap_size, 1024 * MIB);
    ck_assert_uint_eq(m.cpu_accessible_vram.total_heap_size, 1024 * MIB);
    ck_assert_uint_eq(v.vram_size, m.vram.usable_heap_size);
    ck_assert_uint_eq(v.gtt_size, m.gtt.total_heap_size);
    const char *device = "/sys/devices/pci0000:00/0000:00:01.1/0000:01:00.0/"
                         "0000:02:00.0/0000:03:00.0";
    char path[256];
    snprintf(path, sizeof(path), "%s/mem_info_vram_total", device);
    ck_assert_uint_eq(file_number(path), m.vram.total_heap_size);
    snprintf(path, sizeof(path), "%s/mem_info_gtt_total", device);
    ck_assert_uint_eq(file_number(path), m.gtt.total_heap_size);
    ck_assert_uint_eq(file_number("/sys/module/amdgpu/parameters/emu_mode"), 1);
}
END_TEST

/* A process is told to have what it has itself. */
START_TEST(memory_of_one_process)
{
    int ready[2], end[2], status;
    char byte;
    uint64_t handle;
    struct abi_process before, now;
    ck_assert_int_eq(pipe(ready), 0);
    ck_assert_int_eq(pipe(end), 0);
    abi_process(&before);
    pid_t pid = fork();
    if (pid == 0) {
        close(end[1]); /* the end of a test that fails is its end, too */
        (void)mock_buffer(64 * MIB, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, NULL);
        _exit(write(ready[1], "", 1) != 1 || read(end[0], &byte, 1) != 1);
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    void *p = mock_buffer(MIB, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, &handle);
    abi_process(&now);
    ck_assert_uint_eq(now.vram_used - before.vram_used, MIB);
    mock_buffer_free(p, MIB, handle);
    abi_process(&now);
    ck_assert_uint_eq(now.vram_used, before.vram_used);
    ck_assert_int_eq(write(end[1], "", 1), 1);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

/* Versions of firmware in sysfs are those of the render node. */
START_TEST(firmware)
{
    static const struct {
        const char *name;
        uint32_t kind, index;
    } files[] = {{"vce", AMDGPU_INFO_FW_VCE, 0},   {"mc", AMDGPU_INFO_FW_GMC, 0},
                 {"me", AMDGPU_INFO_FW_GFX_ME, 0}, {"mec2", AMDGPU_INFO_FW_GFX_MEC, 1},
                 {"imu", AMDGPU_INFO_FW_IMU, 0},   {"sdma2", AMDGPU_INFO_FW_SDMA, 1},
                 {"ta_ras", AMDGPU_INFO_FW_TA, 1}, {"vcn", AMDGPU_INFO_FW_VCN, 0},
                 {"smc", AMDGPU_INFO_FW_SMC, 0}};
    unsigned present = 0;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct drm_amdgpu_info_firmware fw = {.ver = ~0u};
        struct drm_amdgpu_info q = {
            .return_pointer = (uintptr_t)&fw,
            .return_size = sizeof(fw),
            .query = AMDGPU_INFO_FW_VERSION,
            .query_fw = {.fw_type = files[i].kind, .index = files[i].index}};
        char path[128];
        ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_INFO, &q), 0);
        snprintf(path, sizeof(path),
                 "/sys/class/drm/card0/device/fw_version/%s_fw_version", files[i].name);
        ck_assert_uint_eq(file_number(path), fw.ver);
        present += fw.ver != 0;
    }
    ck_assert_uint_eq(present, 6);
}
END_TEST

/* The list of features, a line for each bit of the mask in its first. */
START_TEST(features)
{
    char path[512], line[80];
    unsigned high, low, bit, on = 0;
    snprintf(path, sizeof(path), "%s/root/sys/class/drm/card0/device/pp_features",
             getenv("RDNA3_STATE"));
    FILE *f = fopen(path, "re");
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
    ck_assert_int_eq(sscanf(line, "features high: %x low: %x", &high, &low), 2);
    ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
    ck_assert_str_eq(line, "No. Feature               Bit : State\n");
    for (unsigned i = 0; i < 50; i++) {
        char state[9];
        ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
        ck_assert_int_eq(sscanf(line, "%*u. %*s (%u) : %8s", &bit, state), 2);
        ck_assert_uint_eq(bit, i);
        on |= bit < 32 && strcmp(state, "enabled") == 0 ? 1u << bit : 0;
    }
    ck_assert_ptr_null(fgets(line, sizeof(line), f));
    (void)fclose(f);
    ck_assert_uint_eq(on, low);
    ck_assert_uint_eq(low, 1u << 1 | 1u << 3 | 1u << 6);
    ck_assert_uint_eq(high, 0);
}
END_TEST

/* What the sensors say, in each of their places. */
START_TEST(sensors)
{
    const char *device = "/sys/class/drm/renderD128/device";
    char path[512];
    snprintf(path, sizeof(path), "%s/hwmon/hwmon3/temp1_input", device);
    ck_assert_uint_eq(file_number(path), 40000);
    snprintf(path, sizeof(path), "%s/hwmon/hwmon3/power1_average", device);
    ck_assert_uint_eq(file_number(path), 20000000);
    uint8_t metrics[128];
    snprintf(path, sizeof(path), "%s/root%s/gpu_metrics", getenv("RDNA3_STATE"),
             device);
    int fd = open(path, O_RDONLY);
    ck_assert_int_eq(read(fd, metrics, sizeof(metrics)), 120);
    close(fd);
    ck_assert_uint_eq(metrics[0], 120);
    ck_assert_int_eq(metrics[4] | metrics[5] << 8, 40);
    ck_assert_int_eq(metrics[54] | metrics[55] << 8, 2482);
    ck_assert_int_eq(metrics[16] | metrics[17] << 8, 0); /* activity */
    uint64_t made, now;
    struct timespec t;
    memcpy(&made, metrics + 32, sizeof(made));
    clock_gettime(CLOCK_BOOTTIME, &t);
    now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    ck_assert_uint_le(made, now);
    ck_assert_uint_gt(made, now - 600 * 1000000000ull);
    static const unsigned unknown[] = {10, 12, 14, 24, 30,  42,
                                       80, 84, 88, 96, 104, 108};
    for (unsigned i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        ck_assert_int_eq(metrics[unknown[i]] & metrics[unknown[i] + 1], 0xff);
}
END_TEST

/* What AVAILABLE_MEMORY offers can be had, and no more. */
START_TEST(compute_memory_ends)
{
    uint64_t handle, more, offered = available();
    uint64_t before = memory_info().vram.heap_usage;
    ck_assert_int_eq(alloc_vram(offered, &handle), 0);
    ck_assert_uint_eq(available(), 0);
    ck_assert_uint_eq(memory_info().vram.heap_usage, before + offered);
    ck_assert_int_eq(alloc_vram(4 * MIB, &more), -ENOMEM);
    ck_assert_int_eq(free_memory(handle), 0);
    ck_assert_uint_eq(available(), offered);
}
END_TEST

/* Buffers of graphics make room: they move to GTT, which ends too. */
START_TEST(graphics_memory_moves)
{
    uint32_t gem[4];
    uint64_t handle, offered = available();
    struct drm_amdgpu_memory_info before = memory_info(), full;
    for (unsigned i = 0; i < 4; i++)
        ck_assert_int_eq(create_gem(512 * MIB, AMDGPU_GEM_DOMAIN_VRAM, &gem[i]), 0);
    full = memory_info();
    ck_assert_uint_eq(full.vram.heap_usage, full.vram.total_heap_size);
    ck_assert_uint_eq(full.gtt.heap_usage - before.gtt.heap_usage,
                      1024 * MIB + before.vram.heap_usage);
    ck_assert_uint_eq(available(), offered);
    ck_assert_int_eq(alloc_vram(offered, &handle), 0);
    ck_assert_uint_eq(memory_info().gtt.heap_usage, full.gtt.heap_usage + offered);
    ck_assert_int_eq(free_memory(handle), 0);
    uint64_t rest = full.gtt.total_heap_size - full.gtt.heap_usage;
    uint32_t last;
    ck_assert_int_eq(create_gem(rest + 4096, AMDGPU_GEM_DOMAIN_GTT, &last), -ENOMEM);
    ck_assert_int_eq(create_gem(rest, AMDGPU_GEM_DOMAIN_GTT, &last), 0);
    ck_assert_int_eq(alloc_vram(offered, &handle), -ENOMEM);
    close_gem(last);
    for (unsigned i = 0; i < 4; i++)
        close_gem(gem[i]);
    ck_assert_uint_eq(memory_info().gtt.heap_usage, before.gtt.heap_usage);
    ck_assert_int_eq(create_gem(2048 * MIB, AMDGPU_GEM_DOMAIN_VRAM, &last), 0);
    struct drm_amdgpu_gem_create_in made;
    struct drm_amdgpu_gem_op op = {.handle = last,
                                   .op = AMDGPU_GEM_OP_GET_GEM_CREATE_INFO,
                                   .value = (uintptr_t)&made};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_GEM_OP, &op), 0);
    ck_assert_uint_eq(made.domains, AMDGPU_GEM_DOMAIN_GTT); /* larger than the VRAM */
    close_gem(last);
}
END_TEST

/* Room for more nodes than the machine has is refused: one of the CPU, one of the GPU.
 */
START_TEST(apertures)
{
    struct kfd_process_device_apertures list[8] = {{.gpu_id = 0}};
    struct kfd_ioctl_get_process_apertures_new_args a = {
        .kfd_process_device_apertures_ptr = (uintptr_t)list};
    ck_assert_int_eq(kfd(AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, &a), 0);
    ck_assert_uint_eq(a.num_of_nodes, 1);
    for (uint32_t n = 1; n <= 8; n++) {
        a.num_of_nodes = n;
        int want = n > 2 ? -EINVAL : 0;
        ck_assert_int_eq(kfd(AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, &a), want);
        ck_assert_uint_eq(a.num_of_nodes, want ? n : 1);
    }
    ck_assert_uint_eq(list[0].gpu_id, GPU_ID);
    ck_assert_uint_eq(list[1].gpu_id, 0);
}
END_TEST

static int unmap_memory(uint64_t handle)
{
    uint32_t gpu = GPU_ID;
    struct kfd_ioctl_unmap_memory_from_gpu_args u = {
        .handle = handle, .device_ids_array_ptr = (uintptr_t)&gpu, .n_devices = 1};
    return kfd(AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU, &u);
}

/* What a queue uses stays until the queue has gone. */
START_TEST(buffers_of_queues)
{
    const uint32_t gtt = KFD_IOC_ALLOC_MEM_FLAGS_GTT;
    const uint32_t vram = KFD_IOC_ALLOC_MEM_FLAGS_VRAM;
    enum { RING, RPTR, WPTR, EOP, CWSR, OTHER, BUFFERS };
    const struct {
        uint64_t bytes;
        uint32_t flags;
    } kinds[BUFFERS] = {
        {65536, KFD_IOC_ALLOC_MEM_FLAGS_USERPTR},
        {4096, gtt},
        {4096, gtt},
        {BOARD_EOP_BYTES, vram},
        {BOARD_CWSR_BYTES, vram},
        {4096, gtt},
    };
    uint64_t handle[BUFFERS];
    void *p[BUFFERS];
    for (unsigned i = 0; i < BUFFERS; i++)
        p[i] = mock_buffer(kinds[i].bytes, kinds[i].flags, &handle[i]);
    struct kfd_ioctl_create_queue_args c = {
        .ring_base_address = (uintptr_t)p[RING],
        .ring_size = 65536,
        .write_pointer_address = (uintptr_t)p[WPTR] + 64,
        .read_pointer_address = (uintptr_t)p[RPTR] + 64,
        .eop_buffer_address = (uintptr_t)p[EOP],
        .eop_buffer_size = BOARD_EOP_BYTES,
        .ctx_save_restore_address = (uintptr_t)p[CWSR],
        .ctx_save_restore_size = BOARD_CWSR_BYTES,
        .ctl_stack_size = BOARD_CTL_STACK_BYTES,
        .gpu_id = GPU_ID,
        .queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE,
        .queue_percentage = 100,
        .queue_priority = 7,
    };
    ck_assert_int_eq(kfd(AMDKFD_IOC_CREATE_QUEUE, &c), 0);
    for (unsigned i = 0; i < OTHER; i++) {
        ck_assert_msg(unmap_memory(handle[i]) == -EBUSY, "unmap of buffer %u", i);
        ck_assert_msg(free_memory(handle[i]) == -EBUSY, "free of buffer %u", i);
    }
    ck_assert_int_eq(unmap_memory(handle[OTHER]), 0);
    ck_assert_int_eq(free_memory(handle[OTHER]), 0);
    /* Nor while it is suspended; and it has not been hurt. */
    struct kfd_ioctl_update_queue_args u = {.queue_id = c.queue_id};
    ck_assert_int_eq(kfd(AMDKFD_IOC_UPDATE_QUEUE, &u), 0);
    ck_assert_int_eq(unmap_memory(handle[RING]), -EBUSY);
    struct kfd_ioctl_destroy_queue_args d = {.queue_id = c.queue_id};
    ck_assert_int_eq(kfd(AMDKFD_IOC_DESTROY_QUEUE, &d), 0);
    for (unsigned i = 0; i < OTHER; i++)
        mock_buffer_free(p[i], kinds[i].bytes, handle[i]);
}
END_TEST

static int export(uint64_t handle)
{
    struct kfd_ioctl_export_dmabuf_args e = {.handle = handle};
    ck_assert_int_eq(kfd(AMDKFD_IOC_EXPORT_DMABUF, &e), 0);
    return (int)e.dmabuf_fd;
}

/* Returns where the buffer is mapped. */
static char *import(int fd, uint64_t bytes, uint64_t *handle)
{
    char *va = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct kfd_ioctl_import_dmabuf_args m = {
        .va_addr = (uintptr_t)va, .gpu_id = GPU_ID, .dmabuf_fd = (uint32_t)fd};
    ck_assert_int_eq(kfd(AMDKFD_IOC_IMPORT_DMABUF, &m), 0);
    uint32_t gpu = GPU_ID;
    struct kfd_ioctl_map_memory_to_gpu_args map = {
        .handle = m.handle, .device_ids_array_ptr = (uintptr_t)&gpu, .n_devices = 1};
    ck_assert_int_eq(kfd(AMDKFD_IOC_MAP_MEMORY_TO_GPU, &map), 0);
    *handle = m.handle;
    return va;
}

/* Exported memory stays as long as a descriptor or an importer has it, and counts as
 * used until then. */
START_TEST(exported_memory_stays)
{
    const uint64_t bytes = 16 * MIB;
    uint64_t first, second, third, offered = available();
    char *p = mock_buffer(bytes, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, &first);
    strcpy(p + bytes - 4096, "shared");
    int fd = export(first);
    mock_buffer_free(p, bytes, first);
    ck_assert_uint_eq(available(), offered - bytes);
    p = import(fd, bytes, &second);
    ck_assert_str_eq(p + bytes - 4096, "shared");
    int again = export(second); /* an importer may pass it on */
    close(fd);
    char *q = import(again, bytes, &third);
    close(again);
    mock_buffer_free(p, bytes, second);
    ck_assert_str_eq(q + bytes - 4096, "shared");
    ck_assert_uint_eq(available(), offered - bytes);
    mock_buffer_free(q, bytes, third);
    ck_assert_uint_eq(available(), offered);
    /* Nobody has it but a descriptor, which then goes. */
    p = mock_buffer(bytes, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, &first);
    fd = export(first);
    mock_buffer_free(p, bytes, first);
    ck_assert_uint_eq(available(), offered - bytes);
    close(fd);
    ck_assert_uint_eq(available(), offered);
    /* Or the importer ends without a word. */
    p = mock_buffer(bytes, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, &first);
    strcpy(p, "to the child");
    fd = export(first);
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        const char *c = import(fd, bytes, &second);
        close(fd);
        _exit(write(ends[1], "r", 1) == 1 && usleep(100000) == 0 &&
                      strcmp(c, "to the child") == 0 && available() == offered - bytes
                  ? 0
                  : 1);
    }
    char byte;
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    mock_buffer_free(p, bytes, first);
    close(fd);
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(available(), offered);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

/* Returns -errno or 0 and where the buffer is mapped. */
static int take(struct abi_ipc_import_args *m, uint64_t bytes, char **va)
{
    uint32_t gpu = GPU_ID;
    *va = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    m->va_addr = (uintptr_t)*va;
    int err = kfd(ABI_IPC_IMPORT, m);
    struct kfd_ioctl_map_memory_to_gpu_args map = {
        .handle = m->handle, .device_ids_array_ptr = (uintptr_t)&gpu, .n_devices = 1};
    return err ? err : kfd(AMDKFD_IOC_MAP_MEMORY_TO_GPU, &map);
}

/* A key opens the buffer in another process, as long as its owner has it and for nobody
 * who guesses. */
START_TEST(shared_by_key)
{
    const uint64_t bytes = 4 * MIB;
    uint64_t handle;
    int status = -1;
    char *p = mock_buffer(bytes, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, &handle), *q;
    struct abi_ipc_export_args e = {.handle = handle, .gpu_id = GPU_ID, .flags = 0x41};
    ck_assert_int_eq(kfd(ABI_IPC_EXPORT, &e), 0);
    struct abi_ipc_export_args again = {.handle = handle, .gpu_id = GPU_ID};
    ck_assert_int_eq(kfd(ABI_IPC_EXPORT, &again), 0);
    ck_assert_mem_eq(again.share_handle, e.share_handle, sizeof(e.share_handle));
    struct abi_ipc_import_args m = {.gpu_id = GPU_ID};
    memcpy(m.share_handle, e.share_handle, sizeof(e.share_handle));
    strcpy(p, "by key");
    pid_t child = fork();
    if (child == 0) {
        int err = take(&m, bytes, &q);
        bool good = !err && m.flags == 0x41 && strcmp(q, "by key") == 0;
        if (good)
            strcpy(q + bytes - 64, "answer");
        _exit(good ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_str_eq(p + bytes - 64, "answer");
    struct abi_ipc_import_args bad = m;
    bad.share_handle[3] ^= 1;
    ck_assert_int_eq(take(&bad, bytes, &q), -EINVAL);
    bad = m;
    bad.share_handle[0] = 0;
    ck_assert_int_eq(take(&bad, bytes, &q), -EINVAL);
    e.handle += 100;
    ck_assert(kfd(ABI_IPC_EXPORT, &e) < 0);
    /* Another importer holds the memory; the key has gone with the owner. */
    bad = m;
    ck_assert_int_eq(take(&m, bytes, &q), 0);
    mock_buffer_free(p, bytes, handle);
    ck_assert_int_eq(take(&bad, bytes, &p), -EINVAL);
    ck_assert_str_eq(q, "by key");
    mock_buffer_free(q, bytes, m.handle);
}
END_TEST

int main(void)
{
    mock_begin();
    Suite *s = suite_create("edges");
    TCase *t = tcase_create("edges");
    tcase_add_test(t, one_size_everywhere);
    tcase_add_test(t, sensors);
    tcase_add_test(t, memory_of_one_process);
    tcase_add_test(t, firmware);
    tcase_add_test(t, features);
    tcase_add_test(t, compute_memory_ends);
    tcase_add_test(t, graphics_memory_moves);
    tcase_add_test(t, apertures);
    tcase_add_test(t, buffers_of_queues);
    tcase_add_test(t, exported_memory_stays);
    tcase_add_test(t, shared_by_key);
    suite_add_tcase(s, t);
    int status = suite_run_here(s); /* one process: one device */
    mock_end();
    return status;
}
