/* test_gem.c: buffers of the render node: what is refused, names and descriptors, GPU
 * addresses, memory of the client's own.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <drm/amdgpu_drm.h>

#include "../suite.h"
#include "abi.h"
#include "mock.h"

#define PAGE          4096u
#define PM4(op, body) (3u << 30 | (uint32_t)((body) - 1) << 16 | (uint32_t)(op) << 8)
#define LO(p)         ((uint32_t)(uintptr_t)(p))
#define HI(p)         ((uint32_t)((uint64_t)(uintptr_t)(p) >> 32))

#define FLINK DRM_IOWR(DRM_NR_GEM_FLINK, struct drm_gem_flink)
#define OPEN  DRM_IOWR(DRM_NR_GEM_OPEN, struct drm_gem_open)
#define CLOSE DRM_IOW(DRM_NR_GEM_CLOSE, struct drm_gem_close)
#define TO_FD DRM_IOWR(DRM_NR_PRIME_HANDLE_TO_FD, struct drm_prime_handle)
#define TO_BO DRM_IOWR(DRM_NR_PRIME_FD_TO_HANDLE, struct drm_prime_handle)

static int create(uint64_t bytes, uint64_t domains, uint64_t flags, uint32_t *handle)
{
    union drm_amdgpu_gem_create c = {
        .in = {.bo_size = bytes, .domains = domains, .domain_flags = flags}};
    int r = drm(DRM_IOCTL_AMDGPU_GEM_CREATE, &c);
    *handle = c.out.handle;
    return r;
}

static int forget(uint32_t handle)
{
    struct drm_gem_close c = {.handle = handle};
    return drm(CLOSE, &c);
}

static int map(uint32_t handle, uint64_t va, uint64_t offset, uint64_t bytes)
{
    return mock_gem_va(AMDGPU_VA_OP_MAP, handle, va, offset, bytes);
}

/* Run PM4 packets on the compute ring and wait for them. */
static void run(const uint32_t *packets, uint32_t dwords)
{
    static uint32_t *ib, context;
    if (!ib) {
        union drm_amdgpu_ctx c = {.in = {.op = AMDGPU_CTX_OP_ALLOC_CTX}};
        ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_CTX, &c), 0);
        context = c.out.alloc.ctx_id;
        ib = mock_gem(PAGE, NULL);
    }
    memcpy(ib, packets, 4ul * dwords);
    struct drm_amdgpu_cs_chunk_ib what = {.va_start = (uintptr_t)ib,
                                          .ib_bytes = 4 * dwords,
                                          .ip_type = AMDGPU_HW_IP_COMPUTE};
    struct drm_amdgpu_cs_chunk chunk = {AMDGPU_CHUNK_ID_IB, sizeof(what) / 4,
                                        (uintptr_t)&what};
    uint64_t list = (uintptr_t)&chunk;
    union drm_amdgpu_cs cs = {
        .in = {.ctx_id = context, .num_chunks = 1, .chunks = (uintptr_t)&list}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_CS, &cs), 0);
    union drm_amdgpu_wait_cs w = {.in = {.handle = cs.out.handle,
                                         .timeout = UINT64_MAX,
                                         .ip_type = AMDGPU_HW_IP_COMPUTE,
                                         .ctx_id = context}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_WAIT_CS, &w), 0);
    ck_assert_uint_eq(w.out.status, 0);
}

/* Addresses that nothing is at. */
static uint64_t reserve(uint64_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(p, MAP_FAILED);
    return (uintptr_t)p;
}

/* Buffers for pictures: rows of as many bytes as amdgpu gives them; and who asks. */
START_TEST(pictures)
{
    struct drm_mode_create_dumb c = {.width = 100, .height = 9, .bpp = 32};
    struct drm_mode_create_dumb huge = {.width = 1 << 20, .height = 1 << 20, .bpp = 8};
    struct drm_mode_create_dumb none = {.width = 100, .height = 9};
    const unsigned long create_dumb =
        DRM_IOWR(DRM_NR_CREATE_DUMB, struct drm_mode_create_dumb);
    ck_assert_int_eq(drm(create_dumb, &none), -EINVAL);
    ck_assert_int_eq(drm(create_dumb, &huge), -EINVAL);
    ck_assert_int_eq(drm(create_dumb, &c), 0);
    ck_assert_uint_eq(c.pitch, 512);
    ck_assert_uint_eq(c.size, 8192);
    struct drm_mode_map_dumb m = {.handle = c.handle};
    union drm_amdgpu_gem_mmap same = {.in = {.handle = c.handle}};
    ck_assert_int_eq(drm(DRM_IOWR(DRM_NR_MAP_DUMB, struct drm_mode_map_dumb), &m), 0);
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_GEM_MMAP, &same), 0);
    ck_assert_uint_eq(m.offset, same.out.addr_ptr);
    ck_assert(abi_mapping_fits(m.offset, 8192));
    ck_assert(abi_mapping_fits(m.offset + PAGE, PAGE));
    ck_assert(!abi_mapping_fits(m.offset, 8192 + PAGE));
    ck_assert(!abi_mapping_fits(m.offset + PAGE, 8192));
    struct drm_mode_destroy_dumb d = {.handle = c.handle};
    const unsigned long destroy =
        DRM_IOWR(DRM_NR_DESTROY_DUMB, struct drm_mode_destroy_dumb);
    ck_assert_int_eq(drm(destroy, &d), 0);
    ck_assert_int_eq(drm(destroy, &d), -EINVAL);
    struct drm_client client = {0};
    ck_assert_int_eq(drm(DRM_IOWR(DRM_NR_GET_CLIENT, struct drm_client), &client), 0);
    ck_assert_int_eq((int)client.pid, getpid());
}
END_TEST

START_TEST(creation)
{
    uint32_t h;
    ck_assert_int_eq(create(PAGE, 0, 0, &h), -EINVAL);
    ck_assert_int_eq(create(PAGE, AMDGPU_GEM_DOMAIN_DOORBELL, 0, &h), -EINVAL);
    ck_assert_int_eq(create(PAGE, AMDGPU_GEM_DOMAIN_VRAM, 1u << 30, &h), -EINVAL);
    ck_assert_int_eq(
        create(PAGE, AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_CREATE_ENCRYPTED, &h), -EINVAL);
    ck_assert_int_eq(create(8, AMDGPU_GEM_DOMAIN_GDS | AMDGPU_GEM_DOMAIN_GTT, 0, &h),
                     -EINVAL);
    ck_assert_int_eq(create(8192, AMDGPU_GEM_DOMAIN_GDS, 0, &h), -ENOMEM);
    ck_assert_int_eq(create(1, AMDGPU_GEM_DOMAIN_GWS, 0, &h), 0);
    ck_assert_int_eq(map(h, reserve(PAGE), 0, PAGE), 0);
    ck_assert_int_eq(forget(h), 0);
    ck_assert_int_eq(forget(h), -EINVAL);
    ck_assert_int_eq(
        create(PAGE, AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_CREATE_NO_CPU_ACCESS, &h), 0);
    union drm_amdgpu_gem_mmap m = {.in = {.handle = h}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_GEM_MMAP, &m), -EPERM);
    struct drm_amdgpu_gem_create_in info = {0};
    struct drm_amdgpu_gem_op op = {.handle = h,
                                   .op = AMDGPU_GEM_OP_GET_GEM_CREATE_INFO,
                                   .value = (uintptr_t)&info};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_GEM_OP, &op), 0);
    ck_assert_uint_eq(info.domain_flags, AMDGPU_GEM_CREATE_NO_CPU_ACCESS);
    ck_assert_int_eq(forget(h), 0);
}
END_TEST

START_TEST(names_and_descriptors)
{
    uint32_t h;
    uint32_t *p = mock_gem(PAGE, &h);
    struct drm_gem_flink name = {.handle = h}, again = name;
    ck_assert_int_eq(drm(FLINK, &name), 0);
    ck_assert_int_eq(drm(FLINK, &again), 0);
    ck_assert_uint_ne(name.name, 0);
    ck_assert_uint_eq(name.name, again.name);
    struct drm_gem_open o = {.name = name.name};
    ck_assert_int_eq(drm(OPEN, &o), 0);
    ck_assert_uint_ne(o.handle, h);
    ck_assert_uint_eq(o.size, PAGE);
    struct drm_gem_open unknown = {.name = 0x1ffff};
    ck_assert_int_eq(drm(OPEN, &unknown), -ENOENT);
    struct drm_prime_handle fd = {.handle = h, .flags = O_CLOEXEC | O_RDWR};
    ck_assert_int_eq(drm(TO_FD, &fd), 0);
    struct drm_prime_handle back = {.fd = fd.fd};
    ck_assert_int_eq(drm(TO_BO, &back), 0); /* the handle there is */
    ck_assert(back.handle == h || back.handle == o.handle);
    close(fd.fd);
    struct drm_prime_handle odd = {.handle = h, .flags = 1u << 30};
    ck_assert_int_eq(drm(TO_FD, &odd), -EINVAL);
    /* The memory outlives the first handle. */
    p[3] = 33;
    ck_assert_int_eq(forget(h), 0);
    uint64_t va = reserve(PAGE);
    ck_assert_int_eq(map(o.handle, va, 0, PAGE), 0);
    ck_assert_uint_eq(((uint32_t *)(uintptr_t)va)[3], 33);
    ck_assert_int_eq(forget(o.handle), 0);
    ck_assert_int_eq(drm(OPEN, &o), -ENOENT);
}
END_TEST

START_TEST(addresses)
{
    uint32_t h, other;
    const uint64_t at = reserve(8 * PAGE);
    ck_assert_int_eq(create(8 * PAGE, AMDGPU_GEM_DOMAIN_GTT, 0, &h), 0);
    ck_assert_int_eq(create(8 * PAGE, AMDGPU_GEM_DOMAIN_GTT, 0, &other), 0);
    ck_assert_int_eq(map(h, at + 1, 0, PAGE), -EINVAL);
    ck_assert_int_eq(map(h, at, 0, 0), -EINVAL);
    ck_assert_int_eq(map(h, at, PAGE, 8 * PAGE), -EINVAL); /* beyond the buffer */
    ck_assert_int_eq(map(h, PAGE, 0, PAGE), -EINVAL);      /* kept by the kernel */
    ck_assert_int_eq(map(h, 0x900000000000ull, 0, PAGE), -EINVAL);
    ck_assert_int_eq(map(0x7ffffff, at, 0, PAGE), -ENOENT);
    ck_assert_int_eq(mock_gem_va(9, h, at, 0, PAGE), -EINVAL);
    ck_assert_int_eq(map(h, at, 0, 8 * PAGE), 0);
    ck_assert_int_eq(map(other, at + PAGE, 0, PAGE), -EINVAL); /* taken */
    ck_assert_int_eq(mock_gem_va(AMDGPU_VA_OP_UNMAP, other, at, 0, PAGE), -ENOENT);
    ck_assert_int_eq(mock_gem_va(AMDGPU_VA_OP_UNMAP, h, at + PAGE, 0, PAGE), -ENOENT);
    /* Instead of the middle; what is before and behind stays. */
    uint32_t *p = (uint32_t *)(uintptr_t)at;
    p[0] = 1, p[2 * PAGE / 4] = 2, p[4 * PAGE / 4] = 3;
    ck_assert_int_eq(
        mock_gem_va(AMDGPU_VA_OP_REPLACE, other, at + 2 * PAGE, 0, 2 * PAGE), 0);
    ck_assert_uint_eq(p[2 * PAGE / 4], 0);
    ck_assert_int_eq(mock_gem_va(AMDGPU_VA_OP_UNMAP, h, at + 4 * PAGE, 0, PAGE), 0);
    ck_assert_int_eq(map(other, at + 4 * PAGE, 0, PAGE), 0);
    ck_assert_int_eq(mock_gem_va(AMDGPU_VA_OP_CLEAR, 0, at, 0, 3 * PAGE), 0);
    ck_assert_int_eq(map(h, at, 0, 3 * PAGE), 0);
    ck_assert_uint_eq(p[0], 1);
    /* A handle takes its mappings along. */
    ck_assert_int_eq(forget(other), 0);
    ck_assert_int_eq(map(h, at + 3 * PAGE, 3 * PAGE, 2 * PAGE), 0);
    ck_assert_uint_eq(p[4 * PAGE / 4], 3);
    /* Addresses that no process has. */
    ck_assert_int_eq(map(h, 0x800000000000ull - PAGE, 0, PAGE), 0);
    ck_assert_int_eq(map(h, 0xffff800000000000ull, 0, PAGE), 0);
    ck_assert_int_eq(forget(h), 0);
}
END_TEST

/* Memory of the client's own, at a second address, moved by DMA_DATA. */
START_TEST(own_memory)
{
    uint32_t *own = aligned_alloc(PAGE, 4 * PAGE);
    uint32_t *dst = mock_gem(PAGE, NULL);
    const uint64_t at = reserve(2 * PAGE);
    struct drm_amdgpu_gem_userptr u = {.addr = (uintptr_t)own + 4, .size = PAGE};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_GEM_USERPTR, &u), -EINVAL);
    u = (struct drm_amdgpu_gem_userptr){.addr = (uintptr_t)own, .size = 2 * PAGE};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_GEM_USERPTR, &u), -EACCES);
    u.flags = 1u << 9;
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_GEM_USERPTR, &u), -EINVAL);
    u.flags = AMDGPU_GEM_USERPTR_REGISTER | AMDGPU_GEM_USERPTR_ANONONLY;
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_GEM_USERPTR, &u), 0);
    union drm_amdgpu_gem_mmap m = {.in = {.handle = u.handle}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_GEM_MMAP, &m), -EPERM);
    struct drm_prime_handle fd = {.handle = u.handle};
    ck_assert_int_eq(drm(TO_FD, &fd), -EPERM);
    for (uint32_t i = 0; i < 4 * PAGE / 4; i++)
        own[i] = i;
    ck_assert_int_eq(map(u.handle, at, 0, 2 * PAGE), 0);
    const uint32_t packets[] = {
        PM4(0x50, 6),
        0,
        (uint32_t)at + 64,
        (uint32_t)(at >> 32),
        LO(dst),
        HI(dst),
        128,
        PM4(0x50, 6),
        2u << 29,
        0xabcd1234,
        0,
        (uint32_t)at + PAGE,
        (uint32_t)(at >> 32),
        64,
    };
    run(packets, sizeof(packets) / 4);
    for (uint32_t i = 0; i < 32; i++)
        ck_assert_uint_eq(dst[i], 16 + i);
    for (uint32_t i = 0; i < 4 * PAGE / 4; i++) {
        bool filled = i >= PAGE / 4 && i < PAGE / 4 + 16;
        ck_assert_uint_eq(own[i], filled ? 0xabcd1234 : i);
    }
    own[5] = 555;
    ck_assert_uint_eq(*(volatile uint32_t *)(uintptr_t)(at + 20), 555);
    ck_assert_int_eq(forget(u.handle), 0);
    own[6] = 666; /* private again, with what was in it */
    ck_assert_uint_eq(own[5], 555);
    ck_assert_uint_ne(*(volatile uint32_t *)(uintptr_t)(at + 24), 666);
    free(own);
}
END_TEST

START_TEST(vmid_and_clocks)
{
    union drm_amdgpu_vm v = {.in = {.op = AMDGPU_VM_OP_RESERVE_VMID}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_VM, &v), 0);
    v.in.op = AMDGPU_VM_OP_UNRESERVE_VMID;
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_VM, &v), 0);
    v.in.op = 9;
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_VM, &v), -EINVAL);
    uint32_t ids[2];
    for (int i = 0; i < 2; i++) {
        union drm_amdgpu_ctx c = {.in = {.op = AMDGPU_CTX_OP_ALLOC_CTX}};
        ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_CTX, &c), 0);
        ids[i] = c.out.alloc.ctx_id;
    }
    union drm_amdgpu_ctx set = {.in = {.op = AMDGPU_CTX_OP_SET_STABLE_PSTATE,
                                       .flags = AMDGPU_CTX_STABLE_PSTATE_PEAK,
                                       .ctx_id = ids[0]}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_CTX, &set), 0);
    set.in.ctx_id = ids[1];
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_CTX, &set), -EBUSY);
    union drm_amdgpu_ctx get = {
        .in = {.op = AMDGPU_CTX_OP_GET_STABLE_PSTATE, .ctx_id = ids[1]}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_CTX, &get), 0);
    ck_assert_uint_eq(get.out.pstate.flags, AMDGPU_CTX_STABLE_PSTATE_PEAK);
    union drm_amdgpu_ctx end = {.in = {.op = AMDGPU_CTX_OP_FREE_CTX, .ctx_id = ids[0]}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_CTX, &end), 0);
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_CTX, &set), 0);
}
END_TEST

static int ask(uint32_t query, uint32_t type, void *out, uint32_t bytes)
{
    struct drm_amdgpu_info i = {.return_pointer = (uintptr_t)out,
                                .return_size = bytes,
                                .query = query,
                                .sensor_info = {type}};
    return drm(DRM_IOCTL_AMDGPU_INFO, &i);
}

static int ask_firmware(uint32_t type, uint32_t index, uint32_t *version)
{
    struct drm_amdgpu_info_firmware fw = {.ver = 77};
    struct drm_amdgpu_info i = {.return_pointer = (uintptr_t)&fw,
                                .return_size = sizeof(fw),
                                .query = AMDGPU_INFO_FW_VERSION,
                                .query_fw = {.fw_type = type, .index = index}};
    int r = drm(DRM_IOCTL_AMDGPU_INFO, &i);
    *version = fw.ver;
    return r;
}

/* What there is of a block's firmware, ROM, shared data; what there is not of video. */
START_TEST(blocks)
{
    uint32_t version, n = 77;
    struct drm_amdgpu_info_hw_ip ip;
    ck_assert_int_eq(ask_firmware(AMDGPU_INFO_FW_GFX_MEC, 1, &version), 0);
    ck_assert_uint_gt(version, 0);
    ck_assert_int_eq(ask_firmware(AMDGPU_INFO_FW_GFX_MEC, 2, &version), -EINVAL);
    ck_assert_int_eq(ask_firmware(AMDGPU_INFO_FW_UVD, 0, &version), 0);
    ck_assert_uint_eq(version, 0);
    ck_assert_int_eq(ask_firmware(0x99, 0, &version), -EINVAL);
    ck_assert_int_eq(ask(AMDGPU_INFO_HW_IP_COUNT, AMDGPU_HW_IP_DMA, &n, sizeof(n)), 0);
    ck_assert_uint_eq(n, 2);
    ck_assert_int_eq(ask(AMDGPU_INFO_HW_IP_COUNT, AMDGPU_HW_IP_VCN_DEC, &n, sizeof(n)),
                     0);
    ck_assert_uint_eq(n, 0);
    ck_assert_int_eq(ask(AMDGPU_INFO_HW_IP_COUNT, AMDGPU_HW_IP_NUM, &n, sizeof(n)),
                     -EINVAL);
    ck_assert_int_eq(ask(AMDGPU_INFO_HW_IP_INFO, AMDGPU_HW_IP_COMPUTE, &ip, sizeof(ip)),
                     0);
    ck_assert_uint_eq(ip.available_rings, 15);
    struct drm_amdgpu_info_gds gds;
    ck_assert_int_eq(ask(AMDGPU_INFO_GDS_CONFIG, 0, &gds, sizeof(gds)), 0);
    ck_assert_uint_eq(gds.gds_total_size, 4096);
    ck_assert_uint_eq(gds.gws_per_compute_partition, 64);
    struct drm_amdgpu_info_video_caps caps;
    struct drm_amdgpu_info_vce_clock_table clocks;
    ck_assert_int_eq(ask(AMDGPU_INFO_VIDEO_CAPS, 1, &caps, sizeof(caps)), 0);
    ck_assert_uint_eq(caps.codec_info[3].valid, 0);
    ck_assert_int_eq(ask(AMDGPU_INFO_VIDEO_CAPS, 2, &caps, sizeof(caps)), -EINVAL);
    ck_assert_int_eq(ask(AMDGPU_INFO_VCE_CLOCK_TABLE, 0, &clocks, sizeof(clocks)), 0);
    ck_assert_uint_eq(clocks.num_valid_entries, 0);
    ck_assert_int_eq(ask(AMDGPU_INFO_NUM_HANDLES, AMDGPU_HW_IP_UVD, &n, sizeof(n)),
                     -ENODATA);
    ck_assert_int_eq(ask(AMDGPU_INFO_NUM_HANDLES, AMDGPU_HW_IP_VCE, &n, sizeof(n)),
                     -EINVAL);
    ck_assert_int_eq(
        ask(AMDGPU_INFO_SENSOR, AMDGPU_INFO_SENSOR_GPU_LOAD, &n, sizeof(n)), 0);
    ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(rom)
{
    static uint8_t image[1 << 16];
    uint32_t size = 0;
    struct drm_amdgpu_info_vbios about;
    ck_assert_int_eq(
        ask(AMDGPU_INFO_VBIOS, AMDGPU_INFO_VBIOS_SIZE, &size, sizeof(size)), 0);
    ck_assert_uint_eq(size, sizeof(image));
    ck_assert_int_eq(
        ask(AMDGPU_INFO_VBIOS, AMDGPU_INFO_VBIOS_IMAGE, image, sizeof(image)), 0);
    ck_assert_uint_eq(image[0], 0x55);
    ck_assert_uint_eq(image[1], 0xaa);
    uint8_t sum = 0;
    for (unsigned i = 0; i < sizeof(image); i++)
        sum = (uint8_t)(sum + image[i]);
    ck_assert_uint_eq(sum, 0);
    ck_assert_int_eq(
        ask(AMDGPU_INFO_VBIOS, AMDGPU_INFO_VBIOS_INFO, &about, sizeof(about)), 0);
    ck_assert_str_eq((const char *)about.vbios_pn, (const char *)image + 0x94);
    struct drm_amdgpu_info part = {
        .return_pointer = (uintptr_t)image,
        .return_size = 2,
        .query = AMDGPU_INFO_VBIOS,
        .vbios_info = {.type = AMDGPU_INFO_VBIOS_IMAGE, .offset = 0x101}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_INFO, &part), 0);
    ck_assert_uint_eq(image[0], 'C'); /* of PCIR */
    part.vbios_info.offset = size;
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_INFO, &part), -EINVAL);
    ck_assert_int_eq(ask(AMDGPU_INFO_VBIOS, 9, &size, sizeof(size)), -EINVAL);
}
END_TEST

START_TEST(state)
{
    uint64_t count = 77;
    uint32_t mhz = 0, ibs[AMDGPU_HW_IP_NUM] = {0};
    ck_assert_int_eq(ask(AMDGPU_INFO_NUM_EVICTIONS, 0, &count, sizeof(count)), 0);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(
        ask(AMDGPU_INFO_SENSOR, AMDGPU_INFO_SENSOR_GFX_SCLK, &mhz, sizeof(mhz)), 0);
    ck_assert_uint_eq(mhz, 2482);
    uint32_t value = 0; /* thousandths of degrees, watts, millivolts */
    ck_assert_int_eq(
        ask(AMDGPU_INFO_SENSOR, AMDGPU_INFO_SENSOR_GPU_TEMP, &value, sizeof(value)), 0);
    ck_assert_uint_eq(value, 40000);
    ck_assert_int_eq(ask(AMDGPU_INFO_SENSOR, AMDGPU_INFO_SENSOR_GPU_AVG_POWER, &value,
                         sizeof(value)),
                     0);
    ck_assert_uint_eq(value, 20);
    ck_assert_int_eq(
        ask(AMDGPU_INFO_SENSOR, AMDGPU_INFO_SENSOR_VDDGFX, &value, sizeof(value)), 0);
    ck_assert_uint_eq(value, 700);
    ck_assert_int_eq(
        ask(AMDGPU_INFO_SENSOR, AMDGPU_INFO_SENSOR_VDDNB, &value, sizeof(value)),
        -EINVAL);
    ck_assert_int_eq(ask(AMDGPU_INFO_MAX_IBS, 0, ibs, sizeof(ibs)), 0);
    ck_assert_uint_eq(ibs[AMDGPU_HW_IP_COMPUTE], 32);
    ck_assert_uint_eq(ibs[AMDGPU_HW_IP_UVD], 0);
    ck_assert_int_eq(ask(0x999, 0, &count, sizeof(count)), -EINVAL);
    uint32_t status[3] = {9, 9, 9};
    struct drm_amdgpu_info regs = {
        .return_pointer = (uintptr_t)status,
        .return_size = sizeof(status),
        .query = AMDGPU_INFO_READ_MMR_REG,
        .read_mmr_reg = {.dword_offset = 0x2004, .count = 3}};
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_INFO, &regs), 0); /* GRBM_STATUS: idle */
    ck_assert_uint_eq(status[0] | status[1] | status[2], 0);
    regs.read_mmr_reg.count = 4;
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_INFO, &regs), -EFAULT);
    regs.read_mmr_reg.count = 129;
    ck_assert_int_eq(drm(DRM_IOCTL_AMDGPU_INFO, &regs), -EINVAL);
}
END_TEST

int main(void)
{
    mock_begin();
    Suite *s = suite_create("buffers");
    TCase *t = tcase_create("render node");
    tcase_add_test(t, pictures);
    tcase_add_test(t, creation);
    tcase_add_test(t, names_and_descriptors);
    tcase_add_test(t, addresses);
    tcase_add_test(t, own_memory);
    tcase_add_test(t, vmid_and_clocks);
    tcase_add_test(t, state);
    tcase_add_test(t, blocks);
    tcase_add_test(t, rom);
    suite_add_tcase(s, t);
    int status = suite_run_here(s);
    mock_end();
    return status;
}
