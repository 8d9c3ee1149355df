/* test_launch.c: kernel arguments, hidden arguments, user SGPRs, limits.
 *
 * Kernels are made by hand: la_prepare only looks at descriptor and metadata.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "launch.h"

static struct la *la;
static struct la_error err;

static void setup(void)
{
    struct emu_config config = {.threads = 1};
    ck_assert_int_eq(la_create(&config, &la, &err), RD_OK);
}

static void teardown(void)
{
    la_destroy(la);
}

/* Kernarg pointer, dispatch pointer and queue pointer on, in ABI order. */
static struct la_kernel make_kernel(const struct co_kernel_meta *meta)
{
    struct la_kernel kernel = {.name = "k", .meta = meta, .desc_gpuva = 0x1234};
    memset(kernel.desc.user_sgpr, CO_NO_SGPR, sizeof kernel.desc.user_sgpr);
    kernel.desc.user_sgpr[CO_USER_DISPATCH_PTR] = 0;
    kernel.desc.user_sgpr[CO_USER_QUEUE_PTR] = 2;
    kernel.desc.user_sgpr[CO_USER_KERNARG_PTR] = 4;
    kernel.desc.user_sgpr_count = 6;
    kernel.desc.wave = 32;
    return kernel;
}

static const struct la_shape shape = {
    .groups = {7, 5, 1}, .block = {8, 4, 2}, .dynamic_lds_bytes = 256};

static const uint8_t *pointer(const struct emu_dispatch *d, unsigned sgpr)
{
    uint64_t gpuva = d->user_sgpr[sgpr] | (uint64_t)d->user_sgpr[sgpr + 1] << 32;
    return (const uint8_t *)(uintptr_t)gpuva; // NOLINT: a GPU address is a host address
}

static uint64_t load(const uint8_t *p, unsigned bytes)
{
    uint64_t value = 0;
    memcpy(&value, p, bytes);
    return value;
}

static const uint64_t numbers[] = {0x1122334455667788, 0x99aabbccddeeff00};

static struct la_arg integer(uint32_t bytes)
{
    return (struct la_arg){LA_INTEGER, &numbers[0], bytes, "i"};
}

START_TEST(natural_alignment)
{
    struct la_kernel kernel = make_kernel(NULL);
    struct la_arg args[] = {integer(1),
                            integer(8),
                            integer(2),
                            integer(4),
                            {LA_BYTES, numbers, 12, "bytes"},
                            integer(8)};
    struct emu_dispatch d;
    kernel.desc.kernarg_bytes = 100;
    ck_assert_int_eq(la_prepare(la, &kernel, &shape, args, 6, &d, &err), RD_OK);
    const uint8_t *p = pointer(&d, 4);
    ck_assert_uint_eq(load(p, 8), 0x88);
    ck_assert_uint_eq(load(p + 8, 8), numbers[0]);
    ck_assert_uint_eq(load(p + 16, 4), 0x7788);
    ck_assert_uint_eq(load(p + 20, 4), 0x55667788);
    ck_assert_uint_eq(load(p + 24, 8), numbers[0]);
    ck_assert_uint_eq(load(p + 32, 4), 0xddeeff00);
    ck_assert_uint_eq(load(p + 40, 8), numbers[0]);
    ck_assert_uint_eq(load(p + 92, 8), 0); /* the segment has the descriptor's size */
}
END_TEST

START_TEST(packet_and_queue)
{
    struct la_kernel kernel = make_kernel(NULL);
    struct emu_dispatch d;
    kernel.desc.private_segment_bytes = 48;
    kernel.desc.group_segment_bytes = 512;
    ck_assert_int_eq(la_prepare(la, &kernel, &shape, NULL, 0, &d, &err), RD_OK);
    const uint8_t *p = pointer(&d, 0);
    ck_assert_uint_eq(load(p, 2), 2);
    ck_assert_uint_eq(load(p + 2, 2), 3);
    ck_assert_uint_eq(load(p + 4, 6), 0x000200040008);
    ck_assert_uint_eq(load(p + 12, 4), 56);
    ck_assert_uint_eq(load(p + 16, 4), 20);
    ck_assert_uint_eq(load(p + 20, 4), 2);
    ck_assert_uint_eq(load(p + 24, 4), 48);
    ck_assert_uint_eq(load(p + 28, 4), 512 + 256);
    ck_assert_uint_eq(load(p + 32, 8), 0x1234);
    ck_assert_ptr_eq((const void *)(uintptr_t)load(p + 40, 8), // NOLINT
                     pointer(&d, 4));
    const uint8_t *q = pointer(&d, 2);
    ck_assert_uint_eq(load(q + 64, 4), EMU_SHARED_BASE >> 32);
    ck_assert_uint_eq(load(q + 68, 4), EMU_PRIVATE_BASE >> 32);
    ck_assert_uint_eq(d.lds_bytes, 512 + 256);
    ck_assert_uint_eq(d.scratch_bytes, 48);
    ck_assert_uint_eq(d.n_user_sgprs, 6);
}
END_TEST

#define HIDDEN(name, at, size)                                                         \
    {.kind_text = #name, .offset = (at), .bytes = (size), .kind = CO_VALUE_##name}

START_TEST(hidden_arguments)
{
    const struct co_arg list[] = {
        {.kind_text = "by_value", .offset = 0, .bytes = 4, .kind = CO_VALUE_BY_VALUE},
        HIDDEN(HIDDEN_BLOCK_COUNT_X, 8, 4),
        HIDDEN(HIDDEN_BLOCK_COUNT_Y, 12, 4),
        HIDDEN(HIDDEN_BLOCK_COUNT_Z, 16, 4),
        HIDDEN(HIDDEN_GROUP_SIZE_X, 20, 2),
        HIDDEN(HIDDEN_GROUP_SIZE_Y, 22, 2),
        HIDDEN(HIDDEN_GROUP_SIZE_Z, 24, 2),
        HIDDEN(HIDDEN_REMAINDER_X, 26, 2),
        HIDDEN(HIDDEN_GLOBAL_OFFSET_X, 48, 8),
        HIDDEN(HIDDEN_GRID_DIMS, 72, 2),
        HIDDEN(HIDDEN_HOSTCALL_BUFFER, 88, 8),
        HIDDEN(HIDDEN_DYNAMIC_LDS_SIZE, 128, 4),
        HIDDEN(HIDDEN_PRIVATE_BASE, 200, 4),
        HIDDEN(HIDDEN_SHARED_BASE, 204, 4),
        HIDDEN(HIDDEN_QUEUE_PTR, 208, 8),
        HIDDEN(HIDDEN_UNKNOWN, 216, 8)};
    const struct co_kernel_meta meta = {.args = list,
                                        .n_args = sizeof list / sizeof list[0],
                                        .n_explicit_args = 1,
                                        .kernarg_bytes = 264};
    struct la_kernel kernel = make_kernel(&meta);
    struct la_arg args[] = {integer(4)};
    struct emu_dispatch d;
    ck_assert_int_eq(la_prepare(la, &kernel, &shape, args, 1, &d, &err), RD_OK);
    const uint8_t *p = pointer(&d, 4);
    ck_assert_uint_eq(load(p, 8), 0x55667788);
    ck_assert_uint_eq(load(p + 8, 4), 7);
    ck_assert_uint_eq(load(p + 12, 4), 5);
    ck_assert_uint_eq(load(p + 16, 4), 1);
    ck_assert_uint_eq(load(p + 20, 8), 0x0000000200040008);
    ck_assert_uint_eq(load(p + 48, 8), 0);
    ck_assert_uint_eq(load(p + 72, 2), 3);
    ck_assert_uint_eq(load(p + 88, 8), 0);
    ck_assert_uint_eq(load(p + 128, 4), 256);
    ck_assert_uint_eq(load(p + 200, 4), EMU_PRIVATE_BASE >> 32);
    ck_assert_uint_eq(load(p + 204, 4), EMU_SHARED_BASE >> 32);
    ck_assert_ptr_eq((const void *)(uintptr_t)load(p + 208, 8), // NOLINT
                     pointer(&d, 2));
    ck_assert_uint_eq(load(p + 216, 8), 0);
    ck_assert_uint_eq(load(p + 256, 8), 0);
}
END_TEST

/* Each wrong argument is refused by its number. */
START_TEST(metadata_is_checked)
{
    const struct co_arg list[] = {
        {.kind_text = "global_buffer", .bytes = 8, .kind = CO_VALUE_GLOBAL_BUFFER},
        {.kind_text = "by_value",
         .offset = 8,
         .bytes = 4,
         .kind = CO_VALUE_BY_VALUE,
         .name = "count"},
        {.kind_text = "dynamic_shared_pointer",
         .offset = 12,
         .bytes = 4,
         .kind = CO_VALUE_DYNAMIC_SHARED_POINTER}};
    const struct co_kernel_meta meta = {
        .args = list, .n_args = 3, .n_explicit_args = 3, .kernarg_bytes = 16};
    struct la_kernel kernel = make_kernel(&meta);
    struct la_arg good[] = {
        {LA_POINTER, numbers, 8, "buf:8"}, integer(4), integer(4), integer(4)};
    struct la_arg args[4];
    struct emu_dispatch d;
    ck_assert_int_eq(la_prepare(la, &kernel, &shape, good, 3, &d, &err), RD_OK);
    ck_assert_int_eq(la_prepare(la, &kernel, &shape, good, 1, &d, &err), RD_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "argument 1 count is missing"));
    ck_assert_int_eq(la_prepare(la, &kernel, &shape, good, 4, &d, &err), RD_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "argument 3"));
    memcpy(args, good, sizeof args);
    args[1].bytes = 8;
    ck_assert_int_eq(la_prepare(la, &kernel, &shape, args, 3, &d, &err), RD_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "argument 1 ('i', count)"));
    memcpy(args, good, sizeof args);
    args[0].cls = LA_FLOAT;
    ck_assert_int_eq(la_prepare(la, &kernel, &shape, args, 3, &d, &err), RD_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "argument 0"));
    memcpy(args, good, sizeof args);
    args[2].cls = LA_FLOAT;
    ck_assert_int_eq(la_prepare(la, &kernel, &shape, args, 3, &d, &err), RD_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "argument 2"));
}
END_TEST

static rd_status prepare(const struct la_kernel *kernel, struct la_shape s)
{
    struct emu_dispatch d;
    return la_prepare(la, kernel, &s, NULL, 0, &d, &err);
}

START_TEST(impossible_shapes)
{
    const struct co_kernel_meta meta = {.reqd_workgroup_size = {16, 1, 1}};
    const struct co_kernel_meta small = {.max_flat_workgroup_size = 64};
    struct la_kernel kernel = make_kernel(NULL);
    struct la_kernel fixed = make_kernel(&meta);
    struct la_kernel limited = make_kernel(&small);
    struct la_shape s = {.groups = {1, 1, 1}, .block = {1024, 1, 1}};
    ck_assert_int_eq(prepare(&kernel, s), RD_OK);
    ck_assert_int_eq(prepare(&fixed, s), RD_E_INVALID);
    ck_assert_int_eq(prepare(&limited, s), RD_E_INVALID);
    s.block[1] = 2;
    ck_assert_int_eq(prepare(&kernel, s), RD_E_INVALID);
    s.block[1] = s.block[2] = UINT32_MAX;
    ck_assert_int_eq(prepare(&kernel, s), RD_E_INVALID);
    s = (struct la_shape){.groups = {1u << 22, 1, 1}, .block = {1024, 1, 1}};
    ck_assert_int_eq(prepare(&kernel, s), RD_E_INVALID);
    s = (struct la_shape){.groups = {1, 1, 1}, .block = {1, 1, 1}};
    s.dynamic_lds_bytes = 65536;
    ck_assert_int_eq(prepare(&kernel, s), RD_OK);
    kernel.desc.group_segment_bytes = 1;
    ck_assert_int_eq(prepare(&kernel, s), RD_E_INVALID);
}
END_TEST

/* Offsets in metadata come from files. */
START_TEST(hostile_offsets)
{
    const struct co_arg list[] = {{.kind_text = "by_value",
                                   .offset = UINT32_MAX - 2,
                                   .bytes = 4,
                                   .kind = CO_VALUE_BY_VALUE}};
    const struct co_kernel_meta meta = {
        .args = list, .n_args = 1, .n_explicit_args = 1, .kernarg_bytes = 8};
    struct la_kernel kernel = make_kernel(&meta);
    struct la_arg args[] = {integer(4)};
    struct emu_dispatch d;
    ck_assert_int_eq(la_prepare(la, &kernel, &shape, args, 1, &d, &err), RD_E_RANGE);
}
END_TEST

START_TEST(raw_code_is_checked)
{
    static const uint32_t code[] = {0xbfb00000, 0xbfb00000};
    struct la_kernel kernel;
    ck_assert_int_eq(la_load_raw(la, code, 8, NULL, 0, 4, &kernel, &err), RD_OK);
    ck_assert_uint_eq(kernel.entry_gpuva % CO_CODE_ALIGN, 0);
    ck_assert_uint_eq(kernel.desc.wave, 32);
    ck_assert_uint_eq(kernel.desc.vgprs, 256);
    ck_assert_uint_eq(kernel.desc.user_sgpr[CO_USER_KERNARG_PTR], 0);
    ck_assert_uint_eq(kernel.desc.system_sgpr[CO_SYS_WORKGROUP_ID_X], 2);
    ck_assert_int_eq(la_load_raw(la, code, 8, NULL, 64, 0, &kernel, &err), RD_OK);
    ck_assert_uint_eq(kernel.desc.wave, 64);
    ck_assert_uint_eq(kernel.desc.vgprs, 256);
    ck_assert_int_eq(la_load_raw(la, code, 8, NULL, 0, 2, &kernel, &err), RD_E_INVALID);
    ck_assert_int_eq(la_load_raw(la, code, 8, NULL, 0, 8, &kernel, &err), RD_E_INVALID);
    ck_assert_int_eq(la_load_raw(la, code, 0, NULL, 0, 0, &kernel, &err), RD_E_INVALID);
}
END_TEST

START_TEST(memory_has_gaps)
{
    void *a;
    void *b;
    void *c;
    ck_assert_int_eq(la_alloc(la, 5000, EMU_MEM_READ, "a", &a, &err), RD_OK);
    ck_assert_int_eq(la_alloc(la, 0, EMU_MEM_READ, "b", &b, &err), RD_OK);
    ck_assert_uint_eq((uintptr_t)a % 4096, 0);
    ck_assert_uint_ge((uintptr_t)b - (uintptr_t)a, 8192 + 4096);
    ck_assert_int_eq(la_alloc(la, UINT64_MAX, EMU_MEM_READ, "c", &c, &err), RD_E_RANGE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("launch");
    TCase *tcase = tcase_create("launch");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, natural_alignment);
    tcase_add_test(tcase, packet_and_queue);
    tcase_add_test(tcase, hidden_arguments);
    tcase_add_test(tcase, metadata_is_checked);
    tcase_add_test(tcase, impossible_shapes);
    tcase_add_test(tcase, hostile_offsets);
    tcase_add_test(tcase, raw_code_is_checked);
    tcase_add_test(tcase, memory_has_gaps);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
