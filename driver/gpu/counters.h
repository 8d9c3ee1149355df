/* counters.h: what the GPU counts.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_GPU_COUNTERS_H
#define RD_GPU_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What happened to a register that nobody models. */
enum gpu_reg_use { GPU_REG_READ, GPU_REG_WRITTEN, GPU_REG_WAITED, GPU_REG_USES };

#define GPU_REG_COUNTS 64u
#define GPU_OPCODES    2048u /* room for the numbers of isa_op */
#define GPU_KERNELS    512u

struct gpu_reg_count {
    _Atomic uint32_t key; /* dword offset + 1; 0: free, as are those behind */
    _Atomic uint32_t uses[GPU_REG_USES];
};

/* What has been done. The caller's memory, perhaps shared between processes. */
struct gpu_counters {
    _Atomic uint64_t dispatches, workgroups, waves, instructions;
    _Atomic uint64_t skipped; /* dispatches completed without running */
    _Atomic uint64_t faults;
    _Atomic uint64_t lds_beyond; /* workgroups that left their LDS, unreported */
    char lds_first[480];         /* the first of them: kernel and access */
    _Atomic uint64_t copies, copy_bytes;                 /* by the SDMA engines */
    _Atomic uint64_t native_blocks, native_instructions; /* that became native code */
    _Atomic uint64_t native_bytes, native_ns;            /* of it; to make it */
    _Atomic uint64_t model_ticks; /* of dispatches under a clock, 10 ns each */
    _Atomic uint32_t running;     /* dispatches in the emulator just now */
    _Atomic uint64_t unrecorded;  /* dispatches that a timeline lacks */
    struct gpu_reg_count registers[GPU_REG_COUNTS]; /* that nobody models */
    _Atomic uint64_t more_registers; /* uses of those for which there was no room */
};

/* Instructions by opcode. The caller's memory, as above. */
struct gpu_opcodes {
    _Atomic uint64_t executed[GPU_OPCODES];
    _Atomic uint64_t handled[GPU_OPCODES]; /* of those in native code, by functions */
};

/* How long a kernel took by the model, all its dispatches together. */
struct gpu_kernel_time {
    _Atomic uint64_t key;          /* hash of the name; 0: free, as are those behind */
    _Atomic uint64_t calls, ticks; /* of 10 ns */
    char name[240];                /* as the code object has it, cut off */
};

/* By name. The caller's memory, as above. */
struct gpu_kernels {
    struct gpu_kernel_time kernel[GPU_KERNELS];
    struct gpu_kernel_time others; /* for which there was no room */
};

/* Count one dispatch. */
void gpu_count_kernel(struct gpu_kernels *k, const char *name, uint64_t ticks);

/* Count one use. Returns true for the first of its kind of this register. */
bool gpu_count_register(struct gpu_counters *c, uint32_t reg, enum gpu_reg_use use);

/* "COMPUTE_START_X (0x2e04)", or the number alone. */
void gpu_register_text(uint32_t reg, char *text, size_t size);

#endif
