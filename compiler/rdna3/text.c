/* text.c: what surrounds the code of a kernel: descriptor and metadata.
 *
 * Knows registers, LDS and scratch of the finished code, not its instructions.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rdna3.h"

/* ---- the text around the code ---- */

static unsigned n_params(const struct cc_prog *p)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->insts[i].op == CC_PARAM && p->insts[i].arg[0] >= n)
            n = p->insts[i].arg[0] + 1;
    return (unsigned)n;
}

static void print_descriptor(struct rdna3 *r, struct cc_text *t)
{
    const char *name = r->p->name;
    bool many = r->blocks[1] > 1 || r->blocks[2] > 1;
    cc_out(t, "\t.rodata\n\t.p2align 6\n\t.amdhsa_kernel %s\n", name);
    cc_out(t, "\t\t.amdhsa_user_sgpr_count 2\n"
              "\t\t.amdhsa_user_sgpr_kernarg_segment_ptr 1\n");
    cc_out(t, "\t\t.amdhsa_kernarg_size %u\n", 8 * n_params(r->p));
    cc_out(t, "\t\t.amdhsa_group_segment_fixed_size %lld\n", (long long)r->lds_bytes);
    if (r->scratch_bytes)
        cc_out(t,
               "\t\t.amdhsa_private_segment_fixed_size %u\n"
               "\t\t.amdhsa_enable_private_segment 1\n",
               r->scratch_bytes);
    cc_out(t, "\t\t.amdhsa_next_free_vgpr %u\n\t\t.amdhsa_next_free_sgpr %u\n",
           r->vgprs ? r->vgprs : 1, r->sgprs ? r->sgprs : 1);
    cc_out(t, "\t\t.amdhsa_wavefront_size32 1\n\t\t.amdhsa_float_denorm_mode_32 3\n"
              "\t\t.amdhsa_float_denorm_mode_16_64 3\n\t\t.amdhsa_ieee_mode 0\n"
              "\t\t.amdhsa_dx10_clamp 0\n");
    for (unsigned d = 0; d < 3; d++)
        cc_out(t, "\t\t.amdhsa_system_sgpr_workgroup_id_%c 1\n", "xyz"[d]);
    cc_out(t, "\t\t.amdhsa_system_vgpr_workitem_id %u\n\t.end_amdhsa_kernel\n",
           many ? 2u : 0u);
}

static void print_metadata(struct rdna3 *r, struct cc_text *t)
{
    const char *name = r->p->name;
    uint32_t lanes = r->blocks[0] * r->blocks[1] * r->blocks[2];
    cc_out(t, "\t.amdgpu_metadata\n---\namdhsa.kernels:\n  - .args:\n");
    for (unsigned i = 0; i < n_params(r->p); i++)
        cc_out(t,
               "      - .address_space: global\n        .offset: %u\n"
               "        .size: 8\n        .value_kind: global_buffer\n",
               8 * i);
    if (n_params(r->p) == 0)
        cc_out(t, "      []\n");
    cc_out(t,
           "    .group_segment_fixed_size: %lld\n    .kernarg_segment_align: 8\n"
           "    .kernarg_segment_size: %u\n    .max_flat_workgroup_size: %u\n"
           "    .name: %s\n    .private_segment_fixed_size: %u\n"
           "    .reqd_workgroup_size:\n      - %u\n      - %u\n      - %u\n",
           (long long)r->lds_bytes, 8 * n_params(r->p), lanes, name, r->scratch_bytes,
           r->blocks[0], r->blocks[1], r->blocks[2]);
    cc_out(t,
           "    .sgpr_count: %u\n    .symbol: %s.kd\n    .vgpr_count: %u\n"
           "    .wavefront_size: 32\namdhsa.target: amdgcn-amd-amdhsa--gfx1100\n"
           "amdhsa.version:\n  - 1\n  - 2\n...\n\t.end_amdgpu_metadata\n",
           r->sgprs, name, r->vgprs);
}

rd_status rdna3_print(struct rdna3 *r, char **text)
{
    struct cc_text t = {0};
    const char *name = r->p->name;
    cc_out(&t,
           "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx1100\"\n\t.text\n"
           "\t.globl %s\n\t.p2align 8\n\t.type %s,@function\n%s:\n",
           name, name, name);
    rdna3_print_code(r, &t);
    cc_out(&t, "\t.size %s, .-%s\n", name, name);
    print_descriptor(r, &t);
    print_metadata(r, &t);
    return cc_out_done(&t, text);
}
