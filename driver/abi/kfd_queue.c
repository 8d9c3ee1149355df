/* kfd_queue.c: /dev/kfd ioctls about queues.
 *
 * Checks the arguments as the kernel does before the model creates anything: rings,
 * pointers and save areas must lie in mapped memory and have the sizes that follow from
 * the topology.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <linux/kfd_ioctl.h>
#include <string.h>

#include "ctx.h"

#define MAX_CU_MASK_BITS (16u * 1024u)

static int check_limits(uint32_t percentage, uint32_t priority, uint64_t ring,
                        uint32_t ring_size)
{
    /* Bits 15:8 choose the die for PM4 queues. */
    if ((percentage & 0xff) > KFD_MAX_QUEUE_PERCENTAGE)
        return -EINVAL;
    if (priority > KFD_MAX_QUEUE_PRIORITY)
        return -EINVAL;
    if (ring_size & (ring_size - 1))
        return -EINVAL;
    uint8_t byte;
    if (ring && !abi_get(&byte, ring, 1))
        return -EFAULT;
    return 0;
}

static bool mapped(struct abi_ctx *ctx, uint64_t va, uint64_t bytes)
{
    return kmd_mapped(ctx->kmd, va, bytes);
}

static int check_buffers(struct abi_ctx *ctx,
                         const struct kfd_ioctl_create_queue_args *args, bool compute)
{
    if (!args->ring_base_address || !args->ring_size ||
        args->ring_size < KFD_MIN_QUEUE_RING_SIZE)
        return -EINVAL;
    if (!mapped(ctx, args->ring_base_address, args->ring_size))
        return -EINVAL;
    if (!mapped(ctx, args->read_pointer_address, 8) ||
        !mapped(ctx, args->write_pointer_address, 8))
        return -EINVAL;
    if ((args->read_pointer_address | args->write_pointer_address) & 7)
        return -EINVAL;
    if (!compute)
        return 0;
    if (args->eop_buffer_address &&
        (args->eop_buffer_size != BOARD_EOP_BYTES ||
         !mapped(ctx, args->eop_buffer_address, args->eop_buffer_size)))
        return -EINVAL;
    if (!args->ctx_save_restore_size && !args->ctl_stack_size)
        return 0;
    if (args->ctl_stack_size != BOARD_CTL_STACK_BYTES ||
        args->ctx_save_restore_size != BOARD_CWSR_BYTES)
        return -EINVAL;
    return mapped(ctx, args->ctx_save_restore_address, args->ctx_save_restore_size)
               ? 0
               : -EINVAL;
}

int abi_create_queue(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_create_queue_args *args = argp;
    struct kmd_queue_config config = {
        .ring = args->ring_base_address,
        .ring_bytes = args->ring_size,
        .rptr = args->read_pointer_address,
        .wptr = args->write_pointer_address,
        .cwsr = args->ctx_save_restore_address,
        .cwsr_bytes = args->ctx_save_restore_size,
        .eop = args->eop_buffer_address,
        .eop_bytes = args->eop_buffer_size,
        .percentage = args->queue_percentage & 0xff,
        .priority = args->queue_priority,
    };
    (void)size;
    int err = check_limits(args->queue_percentage, args->queue_priority,
                           args->ring_base_address, args->ring_size);
    if (err)
        return err;
    switch (args->queue_type) {
    case KFD_IOC_QUEUE_TYPE_COMPUTE:
        config.kind = KMD_QUEUE_PM4;
        break;
    case KFD_IOC_QUEUE_TYPE_COMPUTE_AQL:
        config.kind = KMD_QUEUE_AQL;
        break;
    case KFD_IOC_QUEUE_TYPE_SDMA:
    case KFD_IOC_QUEUE_TYPE_SDMA_XGMI:
    case KFD_IOC_QUEUE_TYPE_SDMA_BY_ENG_ID:
        config.kind = KMD_QUEUE_SDMA;
        break;
    default:
        return -EOPNOTSUPP;
    }
    if (!abi_gpu(args->gpu_id))
        return -EINVAL;
    if (args->queue_type == KFD_IOC_QUEUE_TYPE_SDMA_XGMI)
        return -ENOMEM; /* the board has none of those engines */
    err = check_buffers(ctx, args, config.kind != KMD_QUEUE_SDMA);
    if (err)
        return err;
    uint32_t id;
    uint64_t doorbell;
    rd_status st = kmd_queue_create(ctx->kmd, &config, &id, &doorbell);
    if (st != RD_OK)
        return abi_errno(st);
    args->queue_id = id;
    args->doorbell_offset = doorbell;
    return 0;
}

int abi_destroy_queue(struct abi_ctx *ctx, void *argp, size_t size)
{
    const struct kfd_ioctl_destroy_queue_args *args = argp;
    (void)size;
    return abi_errno(kmd_queue_destroy(ctx->kmd, args->queue_id));
}

int abi_update_queue(struct abi_ctx *ctx, void *argp, size_t size)
{
    const struct kfd_ioctl_update_queue_args *args = argp;
    (void)size;
    int err = check_limits(args->queue_percentage, args->queue_priority,
                           args->ring_base_address, args->ring_size);
    if (err)
        return err;
    if (args->ring_base_address &&
        !mapped(ctx, args->ring_base_address, args->ring_size))
        return -EINVAL;
    rd_status st = kmd_queue_update(ctx->kmd, args->queue_id, args->ring_base_address,
                                    args->ring_size, args->queue_percentage & 0xff,
                                    args->queue_priority);
    return st == RD_E_NOT_FOUND ? -EFAULT : abi_errno(st);
}

int abi_set_cu_mask(struct abi_ctx *ctx, void *argp, size_t size)
{
    const struct kfd_ioctl_set_cu_mask_args *args = argp;
    uint32_t mask[(BOARD_CUS + 31) / 32] = {0};
    (void)size;
    if (args->num_cu_mask % 32 != 0 || args->num_cu_mask == 0)
        return -EINVAL;
    if (args->num_cu_mask > MAX_CU_MASK_BITS)
        return -EINVAL;
    uint32_t bits = args->num_cu_mask > sizeof(mask) * 8 ? (uint32_t)sizeof(mask) * 8
                                                         : args->num_cu_mask;
    if (!abi_get(mask, args->cu_mask_ptr, bits / 8))
        return -EFAULT;
    for (uint32_t i = 0; i < bits; i += 2) { /* the CUs of a WGP go together */
        uint32_t pair = mask[i / 32] >> i % 32 & 3;
        if (pair == 1 || pair == 2)
            return -EINVAL;
    }
    return abi_errno(kmd_queue_cu_mask(ctx->kmd, args->queue_id, mask, bits));
}

int abi_queue_wave_state(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_get_queue_wave_state_args *args = argp;
    uint32_t ctl, save;
    (void)size;
    rd_status st = kmd_queue_wave_state(ctx->kmd, args->queue_id, &ctl, &save);
    if (st != RD_OK)
        return abi_errno(st);
    args->ctl_stack_used_size = ctl;
    args->save_area_used_size = save;
    /* The control stack grows down from its end, wave state up from there. */
    struct kfd_context_save_area_header header = {
        .wave_state = {.control_stack_offset = BOARD_CTL_STACK_BYTES - ctl,
                       .control_stack_size = ctl,
                       .wave_state_offset = BOARD_CTL_STACK_BYTES + save,
                       .wave_state_size = save}};
    return abi_put(args->ctl_stack_address, &header.wave_state,
                   sizeof(header.wave_state))
               ? 0
               : -EFAULT;
}

int abi_queue_gws(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_alloc_queue_gws_args *args = argp;
    (void)size;
    rd_status st =
        kmd_queue_gws(ctx->kmd, args->queue_id, args->num_gws, &args->first_gws);
    return abi_errno(st);
}
