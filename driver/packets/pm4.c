/* pm4.c: sizes of PM4 packets.
 * SPDX-License-Identifier: MIT
 */
#include "pm4.h"

uint32_t pm4_packet_dwords(uint32_t header)
{
    uint32_t count = header >> 16 & 0x3fff, type = header >> 30;
    if (header == 0 || type == 2)
        return 1; /* filler */
    if (type == 3 && pm4_opcode(header) == PM4_NOP && count == PM4_NOP_COUNT_1)
        return 1;
    return count + 2;
}

uint32_t pm4_min_body(unsigned op)
{
    switch (op) {
    case PM4_DISPATCH_DIRECT:
    case PM4_COND_EXEC:
        return 4;
    case PM4_REG_RMW:
    case PM4_WRITE_DATA:
        return 3;
    case PM4_WAIT_REG_MEM:
    case PM4_DMA_DATA:
        return 6;
    case PM4_WAIT_REG_MEM64:
        return 8;
    case PM4_INDIRECT_BUFFER:
        return 3;
    case PM4_COPY_DATA:
        return 5;
    case PM4_COND_WRITE:
    case PM4_ATOMIC_MEM:
        return 8;
    case PM4_RELEASE_MEM:
        return 7;
    case PM4_ACQUIRE_MEM:
    case PM4_MAP_QUEUES:
    case PM4_QUERY_STATUS:
        return 6;
    case PM4_UNMAP_QUEUES:
        return 5;
    default:
        return 1;
    }
}
