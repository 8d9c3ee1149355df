/* describe.c: a kernel of a code object as JSON.
 *
 * Must not know ELF. SPDX-License-Identifier: MIT
 */
#include "describe.h"

#include "demangle.h"

unsigned kernel_vgprs(const struct co_kernel *k)
{
    return k->meta && k->meta->vgpr_count ? k->meta->vgpr_count : k->desc.vgprs;
}

static void describe(struct json *j, const struct co_kernel *k)
{
    const struct co_kernel_meta *m = k->meta;
    json_object(j, NULL);
    char readable[1024];
    json_text(j, "name", k->name);
    json_text(j, "readable_name",
              demangle(k->name, readable, sizeof readable) ? readable : k->name);
    json_u64(j, "wave", k->desc.wave);
    json_u64(j, "vgprs", kernel_vgprs(k));
    json_u64(j, "sgprs", m ? m->sgpr_count : k->desc.sgprs);
    json_u64(j, "lds_bytes", k->desc.group_segment_bytes);
    json_u64(j, "scratch_bytes", k->desc.private_segment_bytes);
    json_u64(j, "code_bytes", k->code_bytes);
    json_u64(j, "kernarg_bytes", k->desc.kernarg_bytes);
    json_u64(j, "max_work_items", m ? m->max_flat_workgroup_size : 0);
    json_array(j, "required_block");
    for (unsigned i = 0; m && m->reqd_workgroup_size[0] && i < 3; i++)
        json_u64(j, NULL, m->reqd_workgroup_size[i]);
    json_close(j);
    json_array(j, "args");
    for (uint32_t i = 0; m && i < m->n_args; i++) {
        const struct co_arg *a = &m->args[i];
        json_object(j, NULL);
        json_text(j, "name", a->name);
        json_text(j, "type", a->type_name);
        json_text(j, "kind", a->kind_text);
        json_u64(j, "offset", a->offset);
        json_u64(j, "bytes", a->bytes);
        json_bool(j, "hidden", co_value_is_hidden(a->kind));
        json_close(j);
    }
    json_close(j);
    json_close(j);
}

void kernel_describe_all(struct json *j, const struct co_object *co)
{
    json_array(j, "kernels");
    for (unsigned i = 0; i < co_kernel_count(co); i++)
        describe(j, co_kernel_at(co, i));
    json_close(j);
}
