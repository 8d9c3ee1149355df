/* emu.h: the functional gfx1100 emulator: memory map, dispatch, faults, statistics.
 *
 * A GPU virtual address is a host pointer, but where the caller says otherwise
 * (emu_mem_place). Every access is checked against the regions that the caller has
 * added; anything else is a precise fault, never zero-filled.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_EMU_H
#define RD_EMU_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "status.h"

struct emu; /* opaque */

enum emu_simd {
    EMU_SIMD_AUTO, /* the best that the host has */
    EMU_SIMD_GENERIC,
    EMU_SIMD_AVX2,
    EMU_SIMD_AVX512,
};

enum emu_engine {
    EMU_ENGINE_AUTO,   /* native code for what is hot, where the host allows it */
    EMU_ENGINE_INTERP, /* the interpreter alone */
    EMU_ENGINE_JIT,    /* native code; RD_E_UNSUPPORTED at a SIMD level without it */
};

/* The function in guest memory that holds pc: its name, and where it begins. False:
 * none is known. Thread: any. */
typedef bool emu_symbol_fn(void *ctx, uint64_t pc, char *name, size_t size,
                           uint64_t *start);

/* Host memory that shows a file. */
struct emu_sparse {
    uint64_t host, bytes; /* from this address on */
    int fd;
    uint64_t offset; /* in the file, of host */
};

/* The file that the host shows at an address, if its holes read as zeros and lseek
 * tells them, as that of shared memory does: zeros that a kernel writes to pages which
 * nobody has written yet then stay away. False: none, or not known just now. Thread:
 * any, while kernels run; it must not wait for them. */
typedef bool emu_sparse_fn(void *ctx, uint64_t host, struct emu_sparse *out);

/* An access finds no memory at va, or none that it may access: is that so still? Who
 * shows kernels what page tables say looks once more, and changes what has changed; the
 * access is tried again. Thread: any, of waves in the midst of an instruction. */
typedef void emu_missing_fn(void *ctx, uint64_t va);

/* Zero is the default everywhere. */
struct emu_config {
    enum emu_engine engine;
    unsigned threads;    /* host threads for workgroups; 0: all CPUs */
    enum emu_simd simd;  /* RD_E_UNSUPPORTED if the host lacks it */
    uint64_t seed;       /* order in which waves, and mixed workgroups, take turns */
    bool unordered;      /* let threads run kernels whose atomics make the order of
                            workgroups visible; results may then vary */
    bool exact_dots;     /* float dot and WMMA sums with exact subtraction. Off: as
                            measured on silicon, where a term whose sign opposes C's
                            loses one unit of the summation grid, so that even small
                            integers can come out inexact (sem/dot2.h, rule 3) */
    bool lds_unreported; /* accesses beyond the LDS allocation: reads give 0, writes are
                            dropped, as with LDS_CONFIG.ADDR_OUT_OF_RANGE_REPORTING off,
                            which is how the kernel driver runs the chip; told to
                            emu_queue.unreported. Off: a fault */
    bool count;          /* count instructions per opcode (slower) */
    unsigned native_hot; /* runs of a block after which it becomes native code, 1 to
                            65535; 0: as many as pay */
    bool perf_map;       /* name native code in /tmp/perf-PID.map, for perf report */
    emu_symbol_fn *symbol; /* names for it; NULL: addresses alone */
    void *symbol_ctx;
    emu_sparse_fn *sparse; /* NULL: all that is written is written */
    void *sparse_ctx;
    emu_missing_fn *missing; /* NULL: what is not there is a fault at once */
    void *missing_ctx;
};

RD_CHECKED rd_status emu_create(const struct emu_config *config, struct emu **out);
void emu_destroy(struct emu *emu);

/* The SIMD level in use, and its name ("avx512"). */
enum emu_simd emu_simd_level(const struct emu *emu);
const char *emu_simd_name(enum emu_simd simd);

#define EMU_MEM_READ  1u
#define EMU_MEM_WRITE 2u
#define EMU_MEM_EXEC  4u

/* Make host memory visible to kernels.
 *
 * va     host address, which is the GPU virtual address
 * perm   EMU_MEM_* bits
 * name   for fault messages ("argument 2"), copied
 * Returns RD_E_EXISTS if it overlaps a region.
 * Thread: any; running waves see it at their next access.
 */
RD_CHECKED rd_status emu_mem_add(struct emu *emu, uint64_t va, uint64_t bytes,
                                 unsigned perm, const char *name);
/* The same with memory that lies elsewhere in the host: what GPUs see at va is at host.
 */
RD_CHECKED rd_status emu_mem_place(struct emu *emu, uint64_t va, void *host,
                                   uint64_t bytes, unsigned perm, const char *name);
RD_CHECKED rd_status emu_mem_remove(struct emu *emu, uint64_t va);

/* What kernels may touch at an address. */
struct emu_mem {
    uint64_t va, bytes;
    unsigned perm;
    char name[40];
};

/* Find the region that holds va; false: none does. Thread: any. */
bool emu_mem_find(struct emu *emu, uint64_t va, struct emu_mem *out);

/* The first region that begins at va or behind it; false: there is none. */
bool emu_mem_next(struct emu *emu, uint64_t va, struct emu_mem *out);

/* The region nearest to va, which no region holds; false: there are none. */
bool emu_mem_nearest(struct emu *emu, uint64_t va, struct emu_mem *out);

/* The region that held va and was removed, one of the last ones; false: none, or some
 * region holds it now. */
bool emu_mem_gone(struct emu *emu, uint64_t va, struct emu_mem *out);

/* As emu_config.symbol says. */
bool emu_symbol(const struct emu *emu, uint64_t pc, char *name, size_t size,
                uint64_t *start);

#define EMU_MEM_PIECES 3u

/* A piece of a region: what stays of it, with these permissions. */
struct emu_mem_piece {
    uint64_t va, bytes;
    unsigned perm;
};

/* Let the region that begins at va be these pieces of it, ascending, n of them, at most
 * EMU_MEM_PIECES. In one step: waves that use what stays never find it missing. The
 * pieces keep the name. Thread: any. */
RD_CHECKED rd_status emu_mem_change(struct emu *emu, uint64_t va,
                                    const struct emu_mem_piece *pieces, unsigned n);

/* Drop predecoded code that overlaps the range, because its bytes changed. */
void emu_code_changed(struct emu *emu, uint64_t va, uint64_t bytes);

/* What a running dispatch is told from outside. */
enum emu_control {
    EMU_CONTROL_RUN,
    EMU_CONTROL_PAUSE,  /* stand still until told otherwise */
    EMU_CONTROL_CANCEL, /* give up; emu_run returns RD_E_TIMEOUT */
};

struct emu_context;
struct emu_fault;

/* A wave has sent an interrupt to the host (s_sendmsg MSG_INTERRUPT). */
struct emu_interrupt {
    uint32_t data; /* M0[23:0]. By convention of the kernel driver a trap handler sends
                      the doorbell id in the low 10 bits, exception codes above; user
                      code the number of an event */
    bool privileged; /* sent by the trap handler */
    uint32_t workgroup[3];
    unsigned wave;                 /* in its workgroup */
    const struct emu_fault *cause; /* privileged: why the wave is in its handler, as it
                                      would have been reported without one */
};

/* What surrounds the waves of a dispatch: its queue, and the trap handler. */
struct emu_queue {
    uint64_t tba;      /* address of the trap handler, in executable memory; 0: none */
    uint64_t tma;      /* what the handler finds its memory by; 256-byte aligned */
    bool second_level; /* tba and tma are those of a second-level handler: it finds
                          in its registers what the kernel driver's own handler would
                          have put there (emulator/trap.c) */
    bool knows_doorbell; /* else GET_DOORBELL answers 0xbad */
    uint32_t doorbell;   /* id of the queue */
    uint32_t packet;     /* index of the dispatch packet in its queue */
    uint64_t realtime;   /* the 100 MHz clock when the dispatch begins */
    /* The 100 MHz clock as it stands: never goes back; called in the thread that runs
     * the wave. NULL: it begins at realtime and follows the wave's own clock (of 2.5
     * GHz, or emu_stepper_sclk), so that the same dispatch always reads the same. */
    uint64_t (*clock)(void *ctx);
    /* Called in the thread that runs the wave, while it runs; NULL: nobody listens. */
    void (*interrupt)(void *ctx, const struct emu_interrupt *interrupt);
    /* The same of a workgroup's first access that would be a fault but for
       emu_config.lds_unreported. */
    void (*unreported)(void *ctx, const struct emu_fault *what);
    void *ctx;
    const struct emu_context *context; /* context.h: tba is a kernel driver's own
                                          handler; NULL: it is not */
};

/* What a running dispatch shows outside; any thread may look. */
struct emu_watch {
    _Atomic uint32_t threads; /* host threads that execute waves: 0 once paused */
    _Atomic uint32_t waves;   /* of the resident workgroups of paused threads */
    uint32_t waves_per_group, vgprs, lanes, lds_bytes; /* of every wave, workgroup */
};

struct emu_wave_info; /* event.h, inspect.h */

/* Shown the workgroups that do not run to their end, as they stand: of a dispatch that
 * faults or is cancelled, those that were in flight. Calls never overlap; they come
 * from any thread, and the waves are valid during the call. */
struct emu_inspector {
    void *ctx;
    /* fault: what has stopped this workgroup, NULL: nothing of its own */
    void (*group_begin)(void *ctx, uint64_t group, unsigned n_waves,
                        const struct emu_fault *fault);
    void (*wave)(void *ctx, const struct emu_wave_info *wave);
};

/* One dispatch, as the command processor hands it to the shader processor input:
 * registers of the kernel descriptor raw, user SGPRs already filled. */
struct emu_dispatch {
    uint64_t entry;     /* address of the first instruction, 256-byte aligned */
    uint32_t groups[3]; /* workgroups */
    uint32_t block[3];  /* work-items per workgroup */
    uint32_t items[3];  /* work-items in all; 0: groups * block. The last workgroup of
                           a dimension may be partial */
    uint32_t rsrc1, rsrc2, rsrc3; /* COMPUTE_PGM_RSRC* */
    bool wave64;
    uint32_t lds_bytes;     /* per workgroup */
    uint32_t scratch_bytes; /* per work-item */
    uint32_t n_user_sgprs;
    uint32_t user_sgpr[32];
    const volatile int *control;   /* enum emu_control, looked at every few milliseconds
                                      of work; NULL: always run */
    const struct emu_queue *queue; /* NULL: all zeros */
    const struct emu_inspector *inspector; /* NULL: nobody wants to see what is left */
    struct emu_watch *watch; /* filled while it runs (emu_run); NULL: not wanted */
    /* [ISA_OP_COUNT]: once it has ended, the executions of each isa_op are added here
     * (it runs slower); NULL: not wanted. */
    uint64_t *executed;
};

enum emu_fault_kind {
    EMU_FAULT_NONE,
    EMU_FAULT_ILLEGAL,     /* bytes are no instruction */
    EMU_FAULT_UNSUPPORTED, /* an instruction without semantics yet */
    EMU_FAULT_FETCH,       /* PC outside executable memory */
    EMU_FAULT_UNMAPPED,    /* address in no region */
    EMU_FAULT_PERMISSION,  /* write to a read-only region */
    EMU_FAULT_MISALIGNED,
    EMU_FAULT_LDS_RANGE,     /* beyond the workgroup's LDS allocation */
    EMU_FAULT_SCRATCH_RANGE, /* beyond the work-item's scratch */
    EMU_FAULT_TRAP,          /* s_trap */
    EMU_FAULT_HANG,          /* no wave can make progress */
    EMU_FAULT_REGISTER,      /* register index out of range */
    EMU_FAULT_MATH,          /* an enabled float exception; only as a cause */
    EMU_FAULT_HALTED,        /* the trap handler has halted the wave; see cause */
};

struct emu_fault {
    enum emu_fault_kind kind;
    enum emu_fault_kind cause; /* HALTED: why the wave went into its handler */
    unsigned trap_id;          /* of s_trap */
    uint64_t pc;
    uint32_t workgroup[3];
    unsigned wave; /* index in the workgroup */
    int lane;      /* -1: not of one lane */
    uint64_t address;
    unsigned bytes;
    bool write;
    char inst[160];   /* disassembled */
    char detail[160]; /* nearest allocation, opcode name, limits; may be empty */
};

/* What ran. Counts of one dispatch, or sums. */
struct emu_stats {
    uint64_t dispatches, workgroups, waves, instructions;
    uint64_t peak_resident_waves;
};

/* Native code made so far. */
struct emu_native_stats {
    uint64_t traces, blocks, instructions, bytes, evictions;
    double compile_us;
};
void emu_native_stats(const struct emu *emu, struct emu_native_stats *stats);
/* Opcodes that native code left to their handlers, and how often; with
 * emu_config.count. */
void emu_native_handled(const struct emu *emu,
                        void (*f)(void *ctx, unsigned op, uint64_t count), void *ctx);

/* Run a dispatch to its end.
 *
 * Waves that their trap handler halts stay; when no wave of a workgroup can go on for
 * that reason the dispatch ends with EMU_FAULT_HALTED.
 *
 * fault  out, filled if RD_E_FAULT is returned (may be NULL)
 * stats  in/out, counts are added (may be NULL)
 * Returns RD_OK, RD_E_FAULT (the first fault in workgroup order ends the dispatch),
 * RD_E_INVALID for impossible shapes, RD_E_TIMEOUT if cancelled.
 * Thread: several dispatches may run at once.
 */
RD_CHECKED rd_status emu_run(struct emu *emu, const struct emu_dispatch *dispatch,
                             struct emu_fault *fault, struct emu_stats *stats);

/* "unmapped address: pc 0x..., v_...; workgroup (0,0,0) wave 1 lane 3, write of 4 bytes
 * at 0x...; nearest ..." into text. */
void emu_fault_text(const struct emu_fault *fault, char *text, size_t size);
const char *emu_fault_name(enum emu_fault_kind kind);

/* Executions per opcode since creation (config.count): calls f for each isa_op. */
void emu_count_each(const struct emu *emu,
                    void (*f)(void *ctx, unsigned op, uint64_t count), void *ctx);

/* Where the meaning of an isa_op is written.
 *
 * file  out, source file in emulator/
 * line  out, where its function begins
 * Returns RD_E_NOT_FOUND for an opcode without semantics.
 */
RD_CHECKED rd_status emu_semantics(const struct emu *emu, unsigned op,
                                   const char **file, unsigned *line);

/* Aperture bases that FLAT addresses and src_shared_base use. */
#define EMU_SHARED_BASE  0x0001000000000000ull
#define EMU_PRIVATE_BASE 0x0002000000000000ull

#endif
