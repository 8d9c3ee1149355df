/* test_files.c: the sample kernels that clang-19 made, whole and damaged.
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "codeobj.h"
#include "walk.h"

#define MAX_FILES 256

static const char *folder; /* KERNELS: the folder with the files */
static char *names[MAX_FILES];
static int n_names;

struct file {
    uint8_t *data;
    size_t size;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list_files(void)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    for (struct dirent *e; (e = readdir(dir)) && n_names < MAX_FILES;)
        if (strstr(e->d_name, ".hsaco"))
            names[n_names++] = strdup(e->d_name);
    closedir(dir);
    qsort(names, (size_t)n_names, sizeof *names, compare_names);
}

static struct file read_file(const char *name)
{
    char path[4096];
    struct file f = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *in = fopen(path, "rb");
    ck_assert_msg(in != NULL, "%s", path);
    ck_assert_int_eq(fseek(in, 0, SEEK_END), 0);
    long size = ftell(in);
    ck_assert_msg(size > 0 && size < (1 << 26), "%s: %ld bytes", path, size);
    ck_assert_int_eq(fseek(in, 0, SEEK_SET), 0);
    f.size = (size_t)size;
    f.data = malloc(f.size);
    ck_assert_ptr_nonnull(f.data);
    ck_assert_uint_eq(fread(f.data, 1, f.size, in), f.size);
    fclose(in);
    return f;
}

static struct co_object *open_file(const struct file *f, const char *name)
{
    struct co_object *obj;
    struct co_error err = {""};
    rd_status st = co_open(f->data, f->size, &obj, &err);
    ck_assert_msg(st == RD_OK, "%s: %s", name, err.text);
    return obj;
}

/* Every file opens, loads, and its kernels pass the check and have metadata. */
START_TEST(whole)
{
    const char *name = names[_i];
    struct file f = read_file(name);
    struct co_object *obj = open_file(&f, name);
    unsigned wave = strstr(name, ".w64.") ? 64 : 32;

    ck_assert_uint_ge(co_kernel_count(obj), 1);
    ck_assert_uint_eq(co_info(obj)->version, 5);
    ck_assert_str_eq(co_info(obj)->target, "gfx1100");
    for (unsigned i = 0; i < co_kernel_count(obj); i++) {
        const struct co_kernel *k = co_kernel_at(obj, i);
        struct co_error err = {""};
        ck_assert_msg(co_kernel_check(obj, k, &err) == RD_OK, "%s: %s", name, err.text);
        ck_assert_uint_eq(k->desc.wave, wave);
        ck_assert_ptr_nonnull(k->meta);
        ck_assert_str_eq(k->meta->name, k->name);
        ck_assert_uint_eq(k->meta->wave, wave);
        ck_assert_uint_eq(k->meta->kernarg_bytes, k->desc.kernarg_bytes);
        ck_assert_uint_eq(k->meta->group_segment_bytes, k->desc.group_segment_bytes);
        ck_assert_uint_eq(k->meta->private_segment_bytes,
                          k->desc.private_segment_bytes);
        ck_assert_uint_le(k->meta->vgpr_count, k->desc.vgprs);

        uint64_t displacement;
        const struct co_symbol *s =
            co_symbol_near(obj, k->entry_offset + 8, &displacement);
        ck_assert_ptr_nonnull(s);
        ck_assert_str_eq(s->name, k->name);
        ck_assert_uint_eq(displacement, 8);
        ck_assert_uint_eq(s->kind, CO_SYM_FUNC);
        ck_assert_uint_eq(s->bytes, k->code_bytes);
    }
    walk_object(obj);
    co_close(obj);
    free(f.data);
}
END_TEST

/* Without section headers, as strippers leave it, the dynamic section has to do. */
START_TEST(without_sections)
{
    struct file f = read_file(names[_i]);
    struct co_object *obj = open_file(&f, names[_i]);
    unsigned kernels = co_kernel_count(obj);
    co_close(obj);
    memset(f.data + 40, 0, 8); /* e_shoff */
    memset(f.data + 60, 0, 4); /* e_shnum, e_shstrndx */
    obj = open_file(&f, names[_i]);
    ck_assert_uint_eq(co_section_count(obj), 0);
    ck_assert_uint_eq(co_kernel_count(obj), kernels);
    for (unsigned i = 0; i < kernels; i++) {
        ck_assert_ptr_nonnull(co_kernel_at(obj, i)->meta);
        ck_assert_int_eq(co_kernel_check(obj, co_kernel_at(obj, i), NULL), RD_OK);
    }
    walk_object(obj);
    co_close(obj);
    free(f.data);
}
END_TEST

/* A copy of exactly the bytes that are left, so that ASAN guards the end. */
static void try_prefix(const struct file *f, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, f->data, size);
    uint64_t sum = 0;
    rd_status st = walk_bytes(copy, size, &sum);
    ck_assert(st == RD_OK || size < f->size);
    free(copy);
}

/* Cut off at every length: an error, or (behind the last header table) a whole file. */
START_TEST(truncated)
{
    struct file f = read_file(names[0]);
    for (size_t size = 0; size <= f.size; size++)
        try_prefix(&f, size);
    free(f.data);
}
END_TEST

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Damaged bytes: one to eight, half of them in the first KiB where the headers are. */
START_TEST(damaged)
{
    struct file f = read_file(names[_i]);
    uint8_t *copy = malloc(f.size);
    uint64_t state = 0x9e3779b97f4a7c15u + (uint64_t)_i, sum = 0;
    int opened = 0, rejected = 0;
    for (int round = 0; round < 300; round++) {
        memcpy(copy, f.data, f.size);
        for (unsigned n = 1 + (unsigned)(next_random(&state) % 8); n > 0; n--) {
            size_t limit = next_random(&state) & 1 ? f.size : 1024;
            copy[next_random(&state) % limit] = (uint8_t)next_random(&state);
        }
        if (walk_bytes(copy, f.size, &sum) == RD_OK)
            opened++;
        else
            rejected++;
    }
    ck_assert_int_gt(opened, 0);
    ck_assert_int_gt(rejected, 0);
    free(copy);
    free(f.data);
}
END_TEST

/* The image is the file's segments: compare with the section contents, and zero
 * elsewhere is what the linker left between them. */
START_TEST(image)
{
    struct file f = read_file(names[_i]);
    struct co_object *obj = open_file(&f, names[_i]);
    uint64_t bytes, align;
    struct co_error err = {""};
    co_image_size(obj, &bytes, &align);
    ck_assert_uint_ge(align, 4096);
    uint8_t *memory = malloc((size_t)bytes);
    memset(memory, 0xa5, (size_t)bytes);
    ck_assert_msg(co_load(obj, memory, (size_t)bytes, 16 * align, &err) == RD_OK, "%s",
                  err.text);
    for (unsigned i = 0; i < co_section_count(obj); i++) {
        const struct co_section *s = co_section_at(obj, i);
        if (s->in_image && s->data)
            ck_assert_mem_eq(memory + s->offset, s->data, s->bytes);
    }
    /* What the file does not have is the caller's: pages that nobody needs stay cold.
     */
    for (unsigned i = 0; i < co_segment_count(obj); i++) {
        const struct co_segment *s = co_segment_at(obj, i);
        for (uint64_t at = s->offset + s->data_bytes; at < s->offset + s->bytes; at++)
            ck_assert_uint_eq(memory[at], 0xa5);
    }
    ck_assert_int_eq(co_load(obj, memory, (size_t)bytes - 1, 0, &err), RD_E_INVALID);
    ck_assert_int_eq(co_load(obj, memory, (size_t)bytes, align / 2, &err),
                     RD_E_INVALID);
    ck_assert_int_eq(co_load(obj, memory, (size_t)bytes, 0 - align, &err),
                     RD_E_INVALID);
    free(memory);
    co_close(obj);
    free(f.data);
}
END_TEST

int main(void)
{
    folder = getenv("KERNELS");
    if (folder)
        list_files();
    if (n_names == 0) {
        printf("skipped: no kernels, as there is no clang-19 or no folder KERNELS\n");
        return 77;
    }
    Suite *suite = suite_create("code object files");
    TCase *tc = tcase_create("files");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, whole, 0, n_names);
    tcase_add_loop_test(tc, image, 0, n_names);
    tcase_add_loop_test(tc, without_sections, 0, n_names);
    tcase_add_test(tc, truncated);
    tcase_add_loop_test(tc, damaged, 0, n_names);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
