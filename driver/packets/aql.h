/* aql.h: AQL packets, and the structures in memory that go with them.
 *
 * Source: HSA Platform System Architecture 1.2, section 2.9; amd_hsa_queue.h,
 * amd_hsa_signal.h and amd_hsa_kernel_code.h of ROCr.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_AQL_H
#define RD_AQL_H

#include <stdint.h>

#define AQL_PACKET_BYTES 64u

enum aql_type {
    AQL_VENDOR,
    AQL_INVALID,
    AQL_DISPATCH,
    AQL_BARRIER_AND,
    AQL_AGENT,
    AQL_BARRIER_OR
};
enum aql_vendor_format { AQL_VENDOR_PM4_IB = 1, AQL_VENDOR_BARRIER_VALUE = 2 };

/* Of a header, above the type. */
#define AQL_BARRIER       (1u << 8)
#define AQL_SYSTEM_FENCES 0x1400u /* acquire and release at system scope */

struct aql_dispatch {
    uint16_t header, setup;
    uint16_t wg[3], reserved0;
    uint32_t grid[3];
    uint32_t private_bytes, group_bytes;
    uint64_t kernel_object, kernarg, reserved2, completion;
};

struct aql_barrier {
    uint16_t header, reserved0;
    uint32_t reserved1;
    uint64_t dep[5], reserved2, completion;
};

/* dw[0..3]: PM4 INDIRECT_BUFFER, dw[4]: dwords that follow; or dw[1..7]: signal, value,
 * mask, condition. */
struct aql_vendor {
    uint16_t header;
    uint8_t format, reserved0;
    uint32_t dw[13];
    uint64_t completion;
};
#define AQL_PM4_IB_FOLLOWS 10u

union aql_packet {
    uint16_t header;
    struct aql_dispatch dispatch;
    struct aql_barrier barrier;
    struct aql_vendor vendor;
};
_Static_assert(sizeof(union aql_packet) == AQL_PACKET_BYTES, "a packet has 64 bytes");

/* amd_signal_t */
struct amd_signal {
    int64_t kind;
    int64_t value;
    uint64_t mailbox; /* address to write event_id to; 0: nobody sleeps on it */
    uint32_t event_id, reserved1;
    uint64_t start, end; /* timestamps */
    uint64_t queue, reserved2;
};
_Static_assert(sizeof(struct amd_signal) == 64, "a signal has 64 bytes");
#define AMD_SIGNAL_VALUE 8u /* offset of the value */

/* Offsets in an amd_queue_v2_t. */
enum amd_queue_offset {
    AMD_QUEUE_FEATURES = 4,
    AMD_QUEUE_BASE = 8,
    AMD_QUEUE_SIZE = 24,
    AMD_QUEUE_ID = 32,
    AMD_QUEUE_WPTR = 0x38,
    AMD_QUEUE_LDS_HI = 0x40,
    AMD_QUEUE_SCRATCH_HI = 0x44,
    AMD_QUEUE_MAX_CU = 0x48,
    AMD_QUEUE_MAX_WAVE = 0x4c,
    AMD_QUEUE_RPTR = 0x80,
    AMD_QUEUE_RPTR_OFFSET = 0x88,
    AMD_QUEUE_TMPRING = 0x8c,
    AMD_QUEUE_SCRATCH_SRD = 0x90,
    AMD_QUEUE_SCRATCH_BASE = 0xa0,
    AMD_QUEUE_SCRATCH_LANE = 0xb0,
    AMD_QUEUE_PROPERTIES = 0xb4,
    AMD_QUEUE_INACTIVE_SIGNAL = 0xc0,
};
#define AMD_QUEUE_IS_PTR64         (1u << 1)
#define AMD_QUEUE_PROFILING        (1u << 3) /* timestamps in signals */
#define AMD_QUEUE_USE_SCRATCH_ONCE (1u << 5)

/* Kernel descriptor, and the same places of the older code header. */
enum kernel_descriptor {
    KD_ENTRY = 16,
    KD_RSRC3 = 44,
    KD_RSRC1 = 48,
    KD_RSRC2 = 52,
    KD_PROPERTIES = 56,
    KD_BYTES = 64,
};
#define KD_PRIVATE_BUFFER (1u << 0)
#define KD_DISPATCH_PTR   (1u << 1)
#define KD_QUEUE_PTR      (1u << 2)
#define KD_KERNARG_PTR    (1u << 3)
#define KD_DISPATCH_ID    (1u << 4)
#define KD_FLAT_SCRATCH   (1u << 5)
#define KD_PRIVATE_SIZE   (1u << 6)
#define KD_WAVE32         (1u << 10)

#endif
