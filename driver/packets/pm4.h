/* pm4.h: PM4 type 3 packets, as compute clients and the kernel driver send them.
 *
 * Facts and accessors only; what a packet does is the command processor's business.
 * Source: packet layouts of the amdgpu kernel driver (soc21 headers) and ROCr.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_PM4_H
#define RD_PM4_H

#include <stdint.h>

enum pm4_op {
    PM4_NOP = 0x10,
    PM4_SET_BASE = 0x11,
    PM4_CLEAR_STATE = 0x12,
    PM4_DISPATCH_DIRECT = 0x15,
    PM4_ATOMIC_MEM = 0x1e,
    PM4_REG_RMW = 0x21,
    PM4_COND_EXEC = 0x22,
    PM4_PRED_EXEC = 0x23,
    PM4_CONTEXT_CONTROL = 0x28,
    PM4_WRITE_DATA = 0x37,
    PM4_WAIT_REG_MEM = 0x3c,
    PM4_INDIRECT_BUFFER = 0x3f,
    PM4_COPY_DATA = 0x40,
    PM4_PFP_SYNC_ME = 0x42,
    PM4_PREAMBLE_CNTL = 0x4a,
    PM4_COND_WRITE = 0x45,
    PM4_EVENT_WRITE = 0x46,
    PM4_RELEASE_MEM = 0x49,
    PM4_DMA_DATA = 0x50,
    PM4_ACQUIRE_MEM = 0x58,
    PM4_SET_CONFIG_REG = 0x68,
    PM4_SET_CONTEXT_REG = 0x69,
    PM4_SET_SH_REG = 0x76,
    PM4_SET_UCONFIG_REG = 0x79,
    PM4_SET_UCONFIG_REG_INDEX = 0x7a,
    PM4_SWITCH_BUFFER = 0x8b,
    PM4_FRAME_CONTROL = 0x90,
    PM4_WAIT_REG_MEM64 = 0x93,
    PM4_INVALIDATE_TLBS = 0x98,
    PM4_SET_SH_REG_INDEX = 0x9b,
    PM4_SET_RESOURCES = 0xa0, /* these are the kernel interface queue's */
    PM4_MAP_QUEUES = 0xa2,
    PM4_UNMAP_QUEUES = 0xa3,
    PM4_QUERY_STATUS = 0xa4,
};

/* A header for a body of so many dwords. */
#define PM4_HEADER(op, body)                                                           \
    (3u << 30 | ((uint32_t)(body) - 1) << 16 | (uint32_t)(op) << 8)

#define PM4_MAX_BODY    0x4000u
#define PM4_NOP_COUNT_1 0x3fffu /* a NOP with this count is its header alone */

static inline unsigned pm4_opcode(uint32_t header)
{
    return header >> 8 & 0xff;
}

/* Dwords of the packet that begins with a header; 1 for filler. */
uint32_t pm4_packet_dwords(uint32_t header);
/* Dwords that a packet must have at least, without the header. */
uint32_t pm4_min_body(unsigned op);

static inline uint64_t pm4_address(const uint32_t *dw)
{
    return dw[0] | (uint64_t)dw[1] << 32;
}

/* First register, in dwords, of what the SET_*_REG packets count from. */
enum pm4_register_base {
    PM4_CONFIG_BASE = 0x2000,
    PM4_SH_BASE = 0x2c00,
    PM4_CONTEXT_BASE = 0xa000,
    PM4_UCONFIG_BASE = 0xc000,
};
#define PM4_REGISTER 0x3ffffu /* of an address that names a register */

/* WAIT_REG_MEM */
#define PM4_WAIT_SPACE(dw)     ((dw) >> 4 & 3)
#define PM4_WAIT_OPERATION(dw) ((dw) >> 6 & 3)
enum { PM4_WAIT_REGISTER = 0, PM4_WAIT_MEMORY = 1 };
enum { PM4_WAIT_ONLY = 0, PM4_WAIT_WRITE_FIRST = 1 }; /* a register, then another */

/* WRITE_DATA and COPY_DATA: where from and where to */
enum pm4_space {
    PM4_SPACE_REGISTER = 0,
    PM4_SPACE_MEMORY_SYNC = 1,
    PM4_SPACE_L2 = 2,
    PM4_SPACE_PERF = 4,      /* registers of performance counters */
    PM4_SPACE_MEMORY = 5,    /* as a destination */
    PM4_SPACE_IMMEDIATE = 5, /* as a source */
    PM4_SPACE_CLOCK = 9,
};

/* DMA_DATA: where from and where to, and how many bytes */
#define PM4_DMA_TO(dw)   ((dw) >> 20 & 3)
#define PM4_DMA_FROM(dw) ((dw) >> 29 & 3)
#define PM4_DMA_BYTES    0x3ffffffu
enum pm4_dma_place {
    PM4_DMA_MEMORY = 0,
    PM4_DMA_IMMEDIATE = 2, /* as a source: a dword, over and over */
    PM4_DMA_L2 = 3,
};

/* RELEASE_MEM's int_sel; those behind compare first. */
enum pm4_release_interrupt {
    PM4_RELEASE_INT_NONE,
    PM4_RELEASE_INT_ONLY,
    PM4_RELEASE_INT_WITH_DATA, /* when the data have arrived */
    PM4_RELEASE_INT_DATA_ONLY, /* the data have to arrive, nobody is told */
    PM4_RELEASE_INT_ALWAYS,
};
enum pm4_release_data {
    PM4_RELEASE_DATA_NONE,
    PM4_RELEASE_DATA_32,
    PM4_RELEASE_DATA_64,
    PM4_RELEASE_DATA_CLOCK,
};
#define PM4_RELEASE_EVENT 0x514u /* cache flush and invalidate, end of pipe */

#define PM4_INITIATOR_PARTIAL_TG  (1u << 1)
#define PM4_INITIATOR_THREAD_DIMS (1u << 5)
#define PM4_INITIATOR_WAVE32      (1u << 15)

/* EVENT_WRITE: event type (0-5) */
#define PM4_EVENT_COUNTER_SAMPLE 27u

/* ACQUIRE_MEM: caches to invalidate */
#define PM4_GCR_GLI_INV 3u      /* instruction cache */
#define PM4_GCR_ALL     0x4381u /* instruction, scalar, vector, L1 and L2 */

#define PM4_IB_VALID    (1u << 23)
#define PM4_IB_VMID(dw) ((dw) >> 24 & 15) /* of a kernel queue's */

#endif
