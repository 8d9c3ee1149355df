/* object.c: `rdna3 info FILE`: the kernels of a code object, what they need and take.
 *
 * Must not know ELF. SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "codeobj.h"
#include "demangle.h"
#include "describe.h"
#include "object.h"
#include "object_file.h"

static void print_args(const struct co_kernel_meta *m)
{
    for (uint32_t i = 0; i < m->n_explicit_args; i++) {
        const struct co_arg *a = &m->args[i];
        printf("    %2u %-4" PRIu32 " %3" PRIu32 " bytes  %-24s %s%s%s\n", i, a->offset,
               a->bytes, a->kind_text, a->type_name ? a->type_name : "",
               a->type_name && a->name ? " " : "", a->name ? a->name : "");
    }
    if (m->n_args > m->n_explicit_args)
        printf("    and %" PRIu32 " hidden ones\n", m->n_args - m->n_explicit_args);
}

static void print_kernel(const struct co_kernel *k)
{
    const struct co_kernel_meta *m = k->meta;
    char readable[1024];
    printf("\n%s\n", k->name);
    if (demangle(k->name, readable, sizeof readable))
        printf("  %s\n", readable);
    printf("  wave%u, %u VGPRs, ", k->desc.wave, kernel_vgprs(k));
    if (m)
        printf("%" PRIu32 " SGPRs, ", m->sgpr_count);
    printf("%" PRIu32 " bytes of LDS, %" PRIu32 " of scratch, %" PRIu64 " of code\n",
           k->desc.group_segment_bytes, k->desc.private_segment_bytes, k->code_bytes);
    if (m && m->reqd_workgroup_size[0])
        printf("  workgroups of %" PRIu32 ",%" PRIu32 ",%" PRIu32 " work-items\n",
               m->reqd_workgroup_size[0], m->reqd_workgroup_size[1],
               m->reqd_workgroup_size[2]);
    else if (m && m->max_flat_workgroup_size)
        printf("  workgroups of at most %" PRIu32 " work-items\n",
               m->max_flat_workgroup_size);
    printf("  %" PRIu32 " bytes of arguments%s\n", k->desc.kernarg_bytes,
           m && m->n_args ? ": number, offset, size, kind, type" : "");
    if (m)
        print_args(m);
}

static void tell(const char *path, const struct co_object *co, struct json *j)
{
    const struct co_info *info = co_info(co);
    unsigned n = co_kernel_count(co);
    if (!j) {
        printf("%s: %s, code object version %u, %s, kernels: %u\n", path, info->target,
               info->version, info->relocatable ? "relocatable" : "loadable", n);
        for (unsigned i = 0; i < n; i++)
            print_kernel(co_kernel_at(co, i));
        return;
    }
    json_object(j, NULL);
    json_text(j, "file", path);
    json_text(j, "target", info->target);
    json_u64(j, "version", info->version);
    json_bool(j, "relocatable", info->relocatable);
    kernel_describe_all(j, co);
    json_close(j);
}

int info_object(const char *path, struct json *j)
{
    void *data;
    size_t bytes;
    struct co_object *co;
    struct co_error err;
    rd_status st = object_file_read(path, &data, &bytes);
    if (st != RD_OK)
        return cli_error(CLI_FAILED, "cannot read '%s': %s", path,
                         st == RD_E_IO ? strerror(errno) : rd_status_text(st));
    int status = CLI_OK;
    if (co_open(data, bytes, &co, &err) != RD_OK) {
        status = cli_error(CLI_FAILED, "%s: %s", path, err.text);
    } else {
        tell(path, co, j);
        co_close(co);
    }
    free(data);
    return status;
}
