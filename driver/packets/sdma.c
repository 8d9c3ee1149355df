/* sdma.c: sizes of SDMA packets.
 * SPDX-License-Identifier: MIT
 */
#include "sdma.h"

uint32_t sdma_packet_dwords(uint32_t header)
{
    switch (sdma_opcode(header)) {
    case SDMA_NOP:
        return 1 + (header >> 16 & 0x3fff);
    case SDMA_COPY:
        if (sdma_sub(header) == SDMA_COPY_LINEAR)
            return header & SDMA_COPY_BROADCAST ? 9 : 7;
        return sdma_sub(header) == SDMA_COPY_LINEAR_RECT ? 13 : 0;
    case SDMA_WRITE:
        return sdma_sub(header) == 0 ? 4 : 0;
    case SDMA_IB:
        return 6;
    case SDMA_FENCE:
        return 4;
    case SDMA_TRAP:
        return 2;
    case SDMA_POLL:
        return sdma_sub(header) == SDMA_POLL_INVALIDATE ? 4 : 6;
    case SDMA_TABLE:
        return 10;
    case SDMA_ATOMIC:
        return 8;
    case SDMA_FILL:
    case SDMA_COND_EXEC:
        return 5;
    case SDMA_TIMESTAMP:
    case SDMA_SRBM_WRITE:
        return 3;
    case SDMA_GCR:
        return 5;
    default:
        return 0;
    }
}
