/* dispatch.c: from kernel, shape and arguments to what the command processor would hand
 * to the shader processor input: AQL packet, queue, user SGPRs.
 *
 * Must not know waves. Invariant: every user SGPR that the descriptor enables holds
 * what the ABI says; the others are zero. SPDX-License-Identifier: MIT
 */
#include "internal.h"

#include <string.h>

#define MAX_BLOCK_ITEMS 1024u
#define MAX_LDS_BYTES   65536u
#define DYNAMIC_STACK_BYTES                                                            \
    16384u /* ROCm's default where the compiler knows no bound */
#define PACKET_BYTES 64u
#define QUEUE_BYTES  4096u

/* Byte offsets in hsa_kernel_dispatch_packet_t (HSA runtime 2.9.6). */
enum {
    PACKET_HEADER = 0,
    PACKET_SETUP = 2,
    PACKET_GROUP_SIZE = 4,
    PACKET_GRID_SIZE = 12,
    PACKET_PRIVATE_BYTES = 24,
    PACKET_GROUP_BYTES = 28,
    PACKET_KERNEL_OBJECT = 32,
    PACKET_KERNARG = 40
};

/* Byte offsets in amd_queue_t (LLVM AMDGPUUsage, queue_ptr). */
enum { QUEUE_SHARED_BASE_HI = 64, QUEUE_PRIVATE_BASE_HI = 68 };

static rd_status check_block(const struct la_kernel *kernel, const struct la_shape *s,
                             struct la_error *err)
{
    uint64_t items = (uint64_t)s->block[0] * s->block[1];
    items = items > MAX_BLOCK_ITEMS ? items : items * s->block[2];
    if (items == 0 || items > MAX_BLOCK_ITEMS)
        return la_fail(err, RD_E_INVALID,
                       "block %u,%u,%u: a workgroup has 1 to %u work-items",
                       s->block[0], s->block[1], s->block[2], MAX_BLOCK_ITEMS);
    for (unsigned d = 0; d < 3; d++)
        if ((uint64_t)s->groups[d] * s->block[d] > UINT32_MAX)
            return la_fail(
                err, RD_E_INVALID,
                "grid %u times block %u: a grid has at most 2^32-1 work-items "
                "in a dimension",
                s->groups[d], s->block[d]);
    const struct co_kernel_meta *meta = kernel->meta;
    if (!meta)
        return RD_OK;
    const uint32_t *reqd = meta->reqd_workgroup_size;
    if (reqd[0] && memcmp(reqd, s->block, sizeof s->block) != 0)
        return la_fail(err, RD_E_INVALID,
                       "block %u,%u,%u: kernel %.80s requires %u,%u,%u", s->block[0],
                       s->block[1], s->block[2], kernel->name, reqd[0], reqd[1],
                       reqd[2]);
    if (meta->max_flat_workgroup_size && items > meta->max_flat_workgroup_size)
        return la_fail(err, RD_E_INVALID,
                       "block %u,%u,%u: kernel %.80s was compiled for at most %u "
                       "work-items",
                       s->block[0], s->block[1], s->block[2], kernel->name,
                       meta->max_flat_workgroup_size);
    return RD_OK;
}

static void put16(char *p, uint32_t value)
{
    uint16_t v = (uint16_t)value;
    memcpy(p, &v, sizeof v);
}

static void put32(char *p, uint32_t value)
{
    memcpy(p, &value, sizeof value);
}

static void put64(char *p, uint64_t value)
{
    memcpy(p, &value, sizeof value);
}

static rd_status make_queue(struct la *la, uint64_t *gpuva, struct la_error *err)
{
    void *queue;
    rd_status st = la_alloc(la, QUEUE_BYTES, EMU_MEM_READ, "queue", &queue, err);
    if (st != RD_OK)
        return st;
    put32((char *)queue + QUEUE_SHARED_BASE_HI, (uint32_t)(EMU_SHARED_BASE >> 32));
    put32((char *)queue + QUEUE_PRIVATE_BASE_HI, (uint32_t)(EMU_PRIVATE_BASE >> 32));
    *gpuva = (uintptr_t)queue;
    return RD_OK;
}

static rd_status make_packet(struct la *la, const struct la_kernel *kernel,
                             const struct la_shape *s, const struct emu_dispatch *d,
                             uint64_t kernarg_gpuva, uint64_t *gpuva,
                             struct la_error *err)
{
    char *p;
    rd_status st =
        la_alloc(la, PACKET_BYTES, EMU_MEM_READ, "dispatch packet", (void **)&p, err);
    if (st != RD_OK)
        return st;
    put16(p + PACKET_HEADER, 2); /* HSA_PACKET_TYPE_KERNEL_DISPATCH */
    put16(p + PACKET_SETUP, la_grid_dims(s));
    for (unsigned i = 0; i < 3; i++) {
        put16(p + PACKET_GROUP_SIZE + 2 * (size_t)i, s->block[i]);
        put32(p + PACKET_GRID_SIZE + 4 * (size_t)i, s->groups[i] * s->block[i]);
    }
    put32(p + PACKET_PRIVATE_BYTES, d->scratch_bytes);
    put32(p + PACKET_GROUP_BYTES, d->lds_bytes);
    put64(p + PACKET_KERNEL_OBJECT, kernel->desc_gpuva);
    put64(p + PACKET_KERNARG, kernarg_gpuva);
    *gpuva = (uintptr_t)p;
    return RD_OK;
}

static void set_user_sgpr(const struct co_kernel_desc *desc, enum co_user_sgpr kind,
                          uint64_t value, struct emu_dispatch *d)
{
    unsigned at = desc->user_sgpr[kind];
    unsigned size = co_user_sgpr_size(kind);
    unsigned room = sizeof d->user_sgpr / sizeof d->user_sgpr[0];
    if (at == CO_NO_SGPR || at + size > room)
        return;
    d->user_sgpr[at] = (uint32_t)value;
    if (size > 1)
        d->user_sgpr[at + 1] = (uint32_t)(value >> 32);
}

static rd_status memory_needs(const struct la_kernel *kernel, const struct la_shape *s,
                              struct emu_dispatch *d, struct la_error *err)
{
    const struct co_kernel_desc *desc = &kernel->desc;
    uint64_t lds = (uint64_t)desc->group_segment_bytes + s->dynamic_lds_bytes;
    if (lds > MAX_LDS_BYTES)
        return la_fail(
            err, RD_E_INVALID,
            "LDS: %u bytes of the kernel and %u dynamic ones, a workgroup has "
            "%u",
            desc->group_segment_bytes, s->dynamic_lds_bytes, MAX_LDS_BYTES);
    d->lds_bytes = (uint32_t)lds;
    d->scratch_bytes = desc->private_segment_bytes;
    if (desc->uses_dynamic_stack && d->scratch_bytes < DYNAMIC_STACK_BYTES)
        d->scratch_bytes = DYNAMIC_STACK_BYTES;
    if (d->scratch_bytes < s->stack_bytes)
        d->scratch_bytes = s->stack_bytes;
    return RD_OK;
}

rd_status la_prepare(struct la *la, const struct la_kernel *kernel,
                     const struct la_shape *shape, const struct la_arg *args,
                     unsigned n_args, struct emu_dispatch *out, struct la_error *err)
{
    const struct co_kernel_desc *desc = &kernel->desc;
    struct emu_dispatch d = {
        .entry = kernel->entry_gpuva,
        .rsrc1 = desc->rsrc1,
        .rsrc2 = desc->rsrc2,
        .rsrc3 = desc->rsrc3,
        .wave64 = desc->wave == 64,
        .n_user_sgprs = desc->user_sgpr_count,
    };
    memcpy(d.groups, shape->groups, sizeof d.groups);
    memcpy(d.block, shape->block, sizeof d.block);

    uint64_t queue = 0;
    uint64_t kernarg = 0;
    uint64_t packet = 0;
    rd_status st = check_block(kernel, shape, err);
    if (st == RD_OK)
        st = memory_needs(kernel, shape, &d, err);
    if (st == RD_OK)
        st = make_queue(la, &queue, err);
    if (st == RD_OK)
        st = la_build_kernargs(la, kernel, shape, args, n_args, queue, &kernarg, err);
    if (st == RD_OK)
        st = make_packet(la, kernel, shape, &d, kernarg, &packet, err);
    if (st != RD_OK)
        return st;

    set_user_sgpr(desc, CO_USER_DISPATCH_PTR, packet, &d);
    set_user_sgpr(desc, CO_USER_QUEUE_PTR, queue, &d);
    set_user_sgpr(desc, CO_USER_KERNARG_PTR, kernarg, &d);
    set_user_sgpr(desc, CO_USER_DISPATCH_ID, 0, &d);
    set_user_sgpr(desc, CO_USER_PRIVATE_SEGMENT_SIZE, d.scratch_bytes, &d);
    *out = d;
    return RD_OK;
}
