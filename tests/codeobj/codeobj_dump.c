/* codeobj_dump.c: what the library reads from a code object, as JSON for oracle.py.
 *
 *   codeobj_dump FILE                 the contents
 *   codeobj_dump FILE GPUVA OUT       the same, and the image loaded at GPUVA in OUT
 *
 * Exit status 1 with the error text on stderr.
 * SPDX-License-Identifier: MIT
 */
#include "codeobj.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)64 << 20)

static void print_string(const char *text)
{
    if (!text) {
        printf("null");
        return;
    }
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if ((unsigned char)*text < ' ')
            printf("\\u%04x", (unsigned)*text);
        else
            putchar(*text);
    }
    putchar('"');
}

static void print_sections(const struct co_object *obj)
{
    printf("\"sections\":[");
    for (unsigned i = 0; i < co_section_count(obj); i++) {
        const struct co_section *s = co_section_at(obj, i);
        printf("%s{\"name\":", i ? "," : "");
        print_string(s->name);
        printf(",\"type\":%" PRIu32 ",\"flags\":%" PRIu64 ",\"offset\":%" PRIu64
               ",\"size\":%" PRIu64 ",\"in_image\":%d}",
               s->type, s->flags, s->offset, s->bytes, s->in_image);
    }
    printf("],\n\"segments\":[");
    for (unsigned i = 0; i < co_segment_count(obj); i++) {
        const struct co_segment *s = co_segment_at(obj, i);
        printf("%s{\"offset\":%" PRIu64 ",\"size\":%" PRIu64 ",\"file_size\":%" PRIu64
               ",\"flags\":%u}",
               i ? "," : "", s->offset, s->bytes, s->data_bytes, s->flags);
    }
    printf("],\n");
}

static void print_symbols(const struct co_object *obj)
{
    printf("\"symbols\":[");
    for (unsigned i = 0; i < co_symbol_count(obj); i++) {
        const struct co_symbol *s = co_symbol_at(obj, i);
        printf("%s\n{\"name\":", i ? "," : "");
        print_string(s->name);
        printf(
            ",\"value\":%" PRIu64 ",\"size\":%" PRIu64
            ",\"kind\":%u,\"place\":%u,\"global\":%d,\"weak\":%d,\"section\":%" PRIu32
            "}",
            s->value, s->bytes, s->kind, s->place, s->global, s->weak, s->section);
    }
    printf("],\n");
}

static void print_args(const struct co_kernel_meta *m)
{
    static const char *const spaces[] = {"",      "private", "global", "constant",
                                         "local", "generic", "region"};
    static const char *const accesses[] = {"", "read_only", "write_only", "read_write"};
    printf(",\"args\":[");
    for (uint32_t i = 0; i < m->n_args; i++) {
        const struct co_arg *a = &m->args[i];
        printf("%s\n {\".name\":", i ? "," : "");
        print_string(a->name);
        printf(",\".type_name\":");
        print_string(a->type_name);
        printf(",\".value_kind\":");
        print_string(co_value_text((enum co_value_kind)a->kind));
        printf(",\".offset\":%" PRIu32 ",\".size\":%" PRIu32
               ",\".pointee_align\":%" PRIu32
               ",\".address_space\":\"%s\",\".access\":\"%s\",\".actual_access\":\"%s\""
               ",\".is_const\":%d,\".is_restrict\":%d,\".is_volatile\":%d,\".is_pipe\":"
               "%d}",
               a->offset, a->bytes, a->pointee_align, spaces[a->addr_space],
               accesses[a->access], accesses[a->actual_access], a->is_const,
               a->is_restrict, a->is_volatile, a->is_pipe);
    }
    printf("]");
}

static void print_meta(const struct co_kernel_meta *m)
{
    printf(",\n \"meta\":{\".name\":");
    print_string(m->name);
    printf(",\".symbol\":");
    print_string(m->symbol);
    printf(",\".language\":");
    print_string(m->language);
    printf(",\".kernarg_segment_size\":%" PRIu32 ",\".kernarg_segment_align\":%" PRIu32
           ",\".group_segment_fixed_size\":%" PRIu32
           ",\".private_segment_fixed_size\":%" PRIu32 ",\".wavefront_size\":%" PRIu32
           ",\".sgpr_count\":%" PRIu32 ",\".vgpr_count\":%" PRIu32
           ",\".sgpr_spill_count\":%" PRIu32 ",\".vgpr_spill_count\":%" PRIu32
           ",\".max_flat_workgroup_size\":%" PRIu32,
           m->kernarg_bytes, m->kernarg_align, m->group_segment_bytes,
           m->private_segment_bytes, m->wave, m->sgpr_count, m->vgpr_count,
           m->sgpr_spills, m->vgpr_spills, m->max_flat_workgroup_size);
    printf(",\".reqd_workgroup_size\":[%" PRIu32 ",%" PRIu32 ",%" PRIu32
           "],\".workgroup_size_hint\":[%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]",
           m->reqd_workgroup_size[0], m->reqd_workgroup_size[1],
           m->reqd_workgroup_size[2], m->workgroup_size_hint[0],
           m->workgroup_size_hint[1], m->workgroup_size_hint[2]);
    printf(",\".workgroup_processor_mode\":%" PRIu32
           ",\".uses_dynamic_stack\":%d,\".uniform_work_group_size\":%d"
           ",\"explicit\":%" PRIu32,
           m->workgroup_processor_mode, m->uses_dynamic_stack,
           m->uniform_workgroup_size, m->n_explicit_args);
    print_args(m);
    printf("}");
}

static void print_kernels(const struct co_object *obj)
{
    printf("\"kernels\":[");
    for (unsigned i = 0; i < co_kernel_count(obj); i++) {
        const struct co_kernel *k = co_kernel_at(obj, i);
        struct co_error err = {"ok"};
        rd_status st = co_kernel_check(obj, k, &err);
        printf("%s\n{\"name\":", i ? "," : "");
        print_string(k->name);
        printf(",\"check\":");
        print_string(st == RD_OK ? "ok" : err.text);
        printf(",\"desc\":%" PRIu64 ",\"entry\":%" PRIu64 ",\"code\":%" PRIu64
               ",\"wave\":%u,\"vgprs\":%u,\"lds\":%" PRIu32 ",\"scratch\":%" PRIu32
               ",\"kernarg\":%" PRIu32,
               k->desc_offset, k->entry_offset, k->code_bytes, k->desc.wave,
               k->desc.vgprs, k->desc.group_segment_bytes,
               k->desc.private_segment_bytes, k->desc.kernarg_bytes);
        if (k->meta)
            print_meta(k->meta);
        printf("}");
    }
    printf("]");
}

static int fail(const char *path, const struct co_error *err)
{
    fprintf(stderr, "error: %s: %s\n", path, err->text);
    return 1;
}

static int write_image(const struct co_object *obj, const char *path, uint64_t gpuva,
                       const char *out)
{
    uint64_t bytes, align;
    struct co_error err = {""};
    co_image_size(obj, &bytes, &align);
    uint8_t *image = calloc(1, (size_t)bytes);
    rd_status st = co_load(obj, image, (size_t)bytes, gpuva, &err);
    if (st != RD_OK) {
        free(image);
        return fail(path, &err);
    }
    FILE *f = fopen(out, "wb");
    bool ok = f && fwrite(image, 1, (size_t)bytes, f) == bytes;
    if (f && fclose(f) != 0)
        ok = false;
    free(image);
    return ok ? 0 : 1;
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    uint8_t *data = malloc(MAX_BYTES);
    if (in && data) {
        *size = fread(data, 1, MAX_BYTES, in);
        if (!ferror(in) && feof(in)) {
            fclose(in);
            return data;
        }
    }
    if (in)
        fclose(in);
    free(data);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 2 && argc != 4) {
        fprintf(stderr, "usage: codeobj_dump FILE [GPUVA OUT]\n");
        return 2;
    }
    size_t size;
    uint8_t *data = read_file(argv[1], &size);
    if (!data)
        return 2;

    struct co_object *obj;
    struct co_error err = {""};
    int result = 0;
    if (co_open(data, size, &obj, &err) != RD_OK) {
        free(data);
        return fail(argv[1], &err);
    }
    uint64_t bytes, align;
    co_image_size(obj, &bytes, &align);
    const struct co_info *info = co_info(obj);
    printf("{\"version\":%u,\"relocatable\":%d,\"elf_offset\":%" PRIu64
           ",\"base\":%" PRIu64 ",\"image_size\":%" PRIu64 ",\"image_align\":%" PRIu64
           ",\"isa\":",
           info->version, info->relocatable, info->elf_offset, info->base_addr, bytes,
           align);
    print_string(info->isa);
    printf(",\n");
    print_sections(obj);
    print_symbols(obj);
    print_kernels(obj);
    printf("}\n");
    if (argc == 4)
        result = write_image(obj, argv[1], strtoull(argv[2], NULL, 0), argv[3]);
    co_close(obj);
    free(data);
    return result;
}
