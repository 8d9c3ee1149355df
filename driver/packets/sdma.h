/* sdma.h: packets of the SDMA engine, version 6.
 *
 * Source: packet layouts of ROCr's SDMA builder and the amdgpu kernel driver.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_SDMA_H
#define RD_SDMA_H

#include <stdint.h>

enum sdma_op {
    SDMA_NOP = 0,
    SDMA_COPY = 1,
    SDMA_WRITE = 2,
    SDMA_IB = 4,
    SDMA_FENCE = 5,
    SDMA_TRAP = 6,
    SDMA_POLL = 8,
    SDMA_COND_EXEC = 9,
    SDMA_ATOMIC = 10,
    SDMA_FILL = 11,
    SDMA_TABLE = 12, /* writes entries of a page table */
    SDMA_TIMESTAMP = 13,
    SDMA_SRBM_WRITE = 14,
    SDMA_GCR = 17,
};

static inline unsigned sdma_opcode(uint32_t header)
{
    return header & 0xff;
}

static inline unsigned sdma_sub(uint32_t header)
{
    return header >> 8 & 0xff;
}

static inline uint64_t sdma_address(const uint32_t *dw)
{
    return dw[0] | (uint64_t)dw[1] << 32;
}

#define SDMA_MAX_FIXED 16u /* dwords of a packet without its data */

/* Dwords of the packet that begins with a header; 0: unknown. WRITE has its data
 * behind. */
uint32_t sdma_packet_dwords(uint32_t header);

#define SDMA_COPY_LINEAR      0u
#define SDMA_COPY_LINEAR_RECT 4u
#define SDMA_COPY_BROADCAST   (1u << 27)

#define SDMA_FENCE_UNCACHED (3u << 16)

#define SDMA_POLL_INVALIDATE         4u /* sub-operation: forget translations */
#define SDMA_POLL_MEMORY             (1u << 31)
#define SDMA_POLL_HDP_FLUSH          (1u << 26) /* of registers: write one, wait for another */
#define SDMA_POLL_FUNCTION(function) ((uint32_t)(function) << 28)
#define SDMA_POLL_FOR_EVER           0x0fff000au /* retries, and the interval between them */

#define SDMA_IB_VMID(dw) ((dw) >> 16 & 15) /* 0: the queue's own */

#define SDMA_REGISTER 0x3ffffu /* of SRBM_WRITE */

#define SDMA_ATOMIC_OP(op) ((uint32_t)(op) << 25)

#define SDMA_FILL_DWORDS (2u << 30)

#define SDMA_TIMESTAMP_GET (2u << 8)

#define SDMA_GCR_REQUEST    (1u << 8)
#define SDMA_GCR_INVALIDATE 0x4380u /* L2, L1, vector and scalar caches */
#define SDMA_GCR_WRITE_BACK 0x8010u

/* Operations of ATOMIC, and of PM4's ATOMIC_MEM. */
enum memory_atomic {
    ATOMIC_SWAP32 = 0x07,
    ATOMIC_CMPSWAP32 = 0x08,
    ATOMIC_ADD32 = 0x0f,
    ATOMIC_SWAP64 = 0x27,
    ATOMIC_CMPSWAP64 = 0x28,
    ATOMIC_ADD64 = 0x2f,
};
#define ATOMIC_WIDE 0x20u /* and above: 64 bits */

#endif
