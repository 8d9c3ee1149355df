/* board.h: identity and size of the mocked board, a Radeon RX 7900 XTX (Navi 31).
 *
 * Source: sysfs dump of a real board, as libhsakmt and libdrm read it.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_BOARD_H
#define RD_BOARD_H

#include <stddef.h>
#include <stdint.h>

#define BOARD_GPU_ID        0xB4A7u
#define BOARD_VENDOR        0x1002u
#define BOARD_DEVICE        0x744cu
#define BOARD_SUBSYS_VENDOR 0x1002u
#define BOARD_SUBSYS_DEVICE 0x0e3bu
#define BOARD_REVISION      0xc8u
#define BOARD_UNIQUE_ID     11673270660693242239ull
#define BOARD_PCI_SLOT      "0000:03:00.0"
#define BOARD_LOCATION_ID   0x300u
#define BOARD_RENDER_MINOR  128u

#define BOARD_NODES              2u /* of the topology: the CPU's and the board's */
#define BOARD_VRAM_BYTES         25753026560ull /* what is left of 24 GiB for programs */
#define BOARD_SE                 6u
#define BOARD_SA_PER_SE          2u
#define BOARD_CU_PER_SA          8u
#define BOARD_CUS                (BOARD_SE * BOARD_SA_PER_SE * BOARD_CU_PER_SA)
#define BOARD_WAVES_PER_CU       32u
#define BOARD_CLOCK_HZ           100000000ull /* constant-rate counter */
#define BOARD_SCLK_MHZ           2482u
#define BOARD_MCLK_MHZ           1249u
#define BOARD_SCLK_MIN_MHZ       500u
#define BOARD_MCLK_MIN_MHZ       96u
#define BOARD_FW_VERSION         550u
#define BOARD_SMU_FEATURES       0x4au /* clocks of shader, memory, security processor */
#define BOARD_ROM_BYTES          65536u
#define BOARD_ROM_PART           "113-D7020100-102"
#define BOARD_CAPABILITY         0x2807A280u
#define BOARD_DEBUG_PROP         1495u
#define BOARD_GB_ADDR_CONFIG     0x545u
#define BOARD_LINK_MB_PER_S      31504u /* PCIe 4.0 x16 */
#define BOARD_LINK_BYTES_PER_S   (BOARD_LINK_MB_PER_S * 1e6)
#define BOARD_MEMORY_BYTES_PER_S 960e9 /* 384 bits of 20 Gbit/s */

/* What its sensors show, and go on showing: a board at rest, whose fan stands. Clocks
 * stand too. Limits as the kernel driver of such a board reads them from its ROM. */
#define BOARD_EDGE_CELSIUS    40u
#define BOARD_HOTSPOT_CELSIUS 45u
#define BOARD_MEMORY_CELSIUS  50u
#define BOARD_WATTS           20u
#define BOARD_CAP_WATTS       303u
#define BOARD_CAP_MAX_WATTS   348u
#define BOARD_GFX_MILLIVOLTS  700u
#define BOARD_FAN_MAX_RPM     3200u

/* From an AQL dispatch that is next to its first wave: published, 2.815 us for each of
 * 512 tiny kernels of a HIP graph, one after the other on a 7900 XTX (ROCm 7.14 and
 * 10.0, ROCm/legacy-rocm-build issue 6409), less 0.97 us that the model says of such a
 * kernel. As many from a PM4 buffer take 0.82 to 0.88 us each: nothing is left. */
#define BOARD_AQL_DISPATCH_NS 1850u

/* Context save area, from the counts above (kfd_queue.c formulas): per wave 12 bytes of
 * control stack; per CU VGPRs, SGPRs, LDS and hardware registers. */
#define BOARD_WAVES           (BOARD_CUS * BOARD_WAVES_PER_CU)
#define BOARD_CTL_STACK_BYTES ((40u + BOARD_WAVES * 12u + 8u + 4095u) & ~4095u)
#define BOARD_WG_DATA_BYTES   (BOARD_CUS * (0x60000u + 0x4000u + 0x10000u + 0x1000u))
#define BOARD_CWSR_BYTES                                                               \
    (BOARD_CTL_STACK_BYTES + ((BOARD_WG_DATA_BYTES + 4095u) & ~4095u))
#define BOARD_EOP_BYTES      4096u
#define BOARD_DOORBELL_BYTES 8192u
#define BOARD_QUEUES         (BOARD_DOORBELL_BYTES / 8) /* of a process */

/* A block of the chip, as discovery tables list it. */
#define BOARD_IP_SYSFS 1u /* shown in sysfs */
#define BOARD_IP_CHIP  2u /* in the table that the board's memory holds */
#define BOARD_IP_FUSED 4u /* there, but not for use */
#define BOARD_IP_BASES 6u
struct board_ip {
    const char *name;
    unsigned hw_id, instance;
    unsigned major, minor, revision;
    uint32_t base[BOARD_IP_BASES]; /* of its registers, in dwords; ends with the first 0
                                      behind [0] */
    unsigned shown;
};
const struct board_ip *board_ip_blocks(size_t *count);
/* Numbers of bases. */
unsigned board_ip_bases(const struct board_ip *ip);

/* Sizes of memory that follow from what the board and the host have (memory.c). */
struct board_memory {
    uint64_t vram_bytes;
    uint64_t bar_bytes;      /* of the PCI window that shows all of it */
    uint64_t gtt_bytes;      /* of host memory that the GPU may use */
    uint64_t reserved_bytes; /* of VRAM, for page tables */
};
struct board_memory board_memory(uint64_t vram_bytes, uint64_t host_bytes);

/* vbios.c: the ROM, into BOARD_ROM_BYTES of zeros. */
void board_rom(uint8_t *rom);

#endif
