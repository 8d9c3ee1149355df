/* cumask.c: which compute units a queue may use.
 *
 * A client's mask counts CUs across the chip: the pairs of a WGP go round the shader
 * engines, then the arrays, then to the next WGP; the hardware wants a mask for each
 * engine with an array in each half. That is what a board's queue has in its
 * descriptor. Source: the amdgpu kernel driver's symmetric mapping of CU masks
 * (kfd_mqd_manager.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "cp.h"

#define ARRAY_BITS 16u
#define ARRAY_CUS  ((1u << BOARD_CU_PER_SA) - 1)
#define ENGINE_CUS (ARRAY_CUS | ARRAY_CUS << ARRAY_BITS)

bool cp_cu_mask(const struct gpu_queue *q, uint32_t mask[BOARD_SE])
{
    uint32_t bits = atomic_load(&q->cu_mask_bits);
    if (q->engines_masked) {
        memcpy(mask, q->engine_mask, sizeof(q->engine_mask));
        return true;
    }
    memset(mask, 0, BOARD_SE * sizeof(*mask));
    if (!bits)
        return false;
    uint32_t i = 0;
    for (unsigned cu = 0; cu < BOARD_CU_PER_SA; cu += 2)
        for (unsigned sa = 0; sa < BOARD_SA_PER_SE; sa++)
            for (unsigned se = 0; se < BOARD_SE && i < bits; se++, i += 2)
                if (q->cu_mask[i / 32] >> i % 32 & 3u)
                    mask[se] |= 3u << (cu + ARRAY_BITS * sa);
    return true;
}

void gpu_queue_cu_mask(struct gpu_queue *q, const uint32_t *mask, unsigned bits)
{
    memcpy(q->cu_mask, mask, bits / 8);
    atomic_store(&q->cu_mask_bits, bits);
}

/* A mask of no CU at all, with which nothing would ever run, is none. */
void gpu_queue_engine_mask(struct gpu_queue *q, const uint32_t *mask)
{
    uint32_t all = ENGINE_CUS, any = 0;
    for (unsigned se = 0; se < BOARD_SE; se++) {
        q->engine_mask[se] = mask[se] & ENGINE_CUS;
        all &= mask[se];
        any |= mask[se] & ENGINE_CUS;
    }
    q->engines_masked = any && all != ENGINE_CUS;
}
