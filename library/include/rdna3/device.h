/* rdna3/device.h: an emulated gfx1100: its memory, its kernels, running them.
 *
 * A GPU address is a host pointer: kernels work on the caller's own memory once it is
 * mapped. Every access that no mapping allows is a precise fault.
 * SPDX-License-Identifier: MIT
 */
#ifndef RDNA3_DEVICE_H
#define RDNA3_DEVICE_H

#include "base.h"
#include "object.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rdna3_device;
struct rdna3_kernel;

enum rdna3_engine {
    RDNA3_ENGINE_AUTO, /* native code for what is hot, where the host allows it */
    RDNA3_ENGINE_INTERPRETER, /* alone */
    RDNA3_ENGINE_NATIVE       /* insist on it */
};

/* How kernels run. */
struct rdna3_device_config {
    size_t struct_bytes;
    uint32_t engine;  /* enum rdna3_engine */
    uint32_t threads; /* of the host, for workgroups; 0: one per CPU */
    uint64_t seed;    /* order in which waves take turns */
    bool count;       /* count instructions per mnemonic: rdna3_device_counts */
    bool exact_dots;  /* float dot products with exact sums, not as on silicon */
};

/* Make a device. Any number may exist.
 *
 * config  NULL: the defaults
 * Owner: rdna3_device_destroy.
 */
RDNA3_CHECKED int rdna3_device_create(struct rdna3 *rdna3,
                                      const struct rdna3_device_config *config,
                                      struct rdna3_device **out,
                                      struct rdna3_error *err);

/* With its kernels and the memory that it has allocated. NULL is fine. */
RDNA3_API void rdna3_device_destroy(struct rdna3_device *device);

/* ---- memory -------------------------------------------------------------------------
 */

#define RDNA3_READ  1u
#define RDNA3_WRITE 2u

/* Allocate zeroed memory that kernels see, with nothing around it, so that a kernel
 * that leaves it faults at the first byte. It stays until the device goes.
 *
 * name  for fault messages; NULL: "buffer"
 */
RDNA3_CHECKED int rdna3_device_alloc(struct rdna3_device *device, uint64_t bytes,
                                     const char *name, void **out,
                                     struct rdna3_error *err);

/* Let kernels see memory of the caller's, which must stay until rdna3_device_unmap.
 *
 * access  RDNA3_READ, RDNA3_WRITE or both
 * Returns RDNA3_E_EXISTS if it overlaps what they see already.
 */
RDNA3_CHECKED int rdna3_device_map(struct rdna3_device *device, void *memory,
                                   uint64_t bytes, unsigned access, const char *name,
                                   struct rdna3_error *err);

/* End that. Returns RDNA3_E_NOT_FOUND if nothing begins there. */
RDNA3_CHECKED int rdna3_device_unmap(struct rdna3_device *device, void *memory);

/* A mapping. */
struct rdna3_region {
    uint64_t address, bytes;
    uint32_t access; /* RDNA3_READ, RDNA3_WRITE; 4: code */
    char name[40];
};

/* What kernels see at an address; RDNA3_E_NOT_FOUND: nothing. */
RDNA3_CHECKED int rdna3_device_region(struct rdna3_device *device, uint64_t address,
                                      struct rdna3_region *out);

/* ---- kernels ------------------------------------------------------------------------
 */

/* Load a code object and find a kernel in it.
 *
 * object  ELF file or offload bundle; is copied
 * name    NULL: its only kernel
 * out     stays until the device goes
 */
RDNA3_CHECKED int rdna3_kernel_load(struct rdna3_device *device, const void *object,
                                    size_t bytes, const char *name,
                                    struct rdna3_kernel **out, struct rdna3_error *err);

/* Load bare code: kernarg pointer in s[0:1], workgroup id in s[2:4], packed work-item
 * id in v0, 256 VGPRs.
 *
 * descriptor  64 bytes that say otherwise, or NULL
 * wave        32 or 64; 0: as the descriptor says, or 32
 */
RDNA3_CHECKED int rdna3_kernel_load_raw(struct rdna3_device *device, const void *code,
                                        size_t bytes, const void *descriptor,
                                        unsigned wave, struct rdna3_kernel **out,
                                        struct rdna3_error *err);

/* Its name, where its code lies for the GPU, and its wave size. */
RDNA3_API const char *rdna3_kernel_name(const struct rdna3_kernel *kernel);
RDNA3_API uint64_t rdna3_kernel_address(const struct rdna3_kernel *kernel);
RDNA3_API unsigned rdna3_kernel_wave(const struct rdna3_kernel *kernel);

enum rdna3_arg_class {
    RDNA3_ARG_INTEGER,
    RDNA3_ARG_FLOAT,
    RDNA3_ARG_POINTER,
    RDNA3_ARG_BYTES /* a struct by value */
};

/* One argument of a launch. Hidden arguments are filled in. */
struct rdna3_arg {
    uint32_t cls;   /* enum rdna3_arg_class; checked against the kernel's metadata */
    uint32_t bytes; /* of the value: 8 for a pointer */
    const void *value;
    const char *name; /* for messages; NULL: its number */
};

/* What a running kernel is told from outside. */
enum rdna3_control {
    RDNA3_CONTROL_RUN,
    RDNA3_CONTROL_PAUSE, /* stand still until told otherwise */
    RDNA3_CONTROL_CANCEL /* give up: RDNA3_E_TIMEOUT */
};

/* In which shape a kernel runs, and with what. */
struct rdna3_launch {
    size_t struct_bytes;
    uint32_t groups[3]; /* workgroups; 0: 1 */
    uint32_t block[3];  /* work-items of one; all 0: what the kernel requires, or 1 */
    uint32_t dynamic_lds_bytes;
    uint32_t n_args;
    const struct rdna3_arg *args;
    const volatile int *control; /* enum rdna3_control, looked at every few
                                    milliseconds of work; NULL: always run */
};

/* Where and why a kernel stopped. */
struct rdna3_fault {
    uint64_t pc;      /* GPU address */
    uint64_t offset;  /* of pc from the kernel's beginning */
    uint64_t address; /* that was accessed */
    uint32_t bytes;
    uint32_t workgroup[3];
    uint32_t wave; /* in its workgroup */
    int32_t lane;  /* -1: not of one lane */
    bool write;
    char kind[48];         /* "unmapped address" */
    char instruction[160]; /* disassembled */
    char text[1024];       /* all of it, for people */
};

/* What ran; counts are added to what is there. */
struct rdna3_stats {
    uint64_t dispatches, workgroups, waves, instructions;
};

/* Run a kernel to its end.
 *
 * fault, stats  filled, added to; may be NULL
 * Returns RDNA3_OK; RDNA3_E_FAULT; RDNA3_E_INVALID for arguments or a shape that do not
 * fit, with the reason in err; RDNA3_E_TIMEOUT if it was cancelled.
 */
RDNA3_CHECKED int rdna3_kernel_run(struct rdna3_kernel *kernel,
                                   const struct rdna3_launch *launch,
                                   struct rdna3_fault *fault, struct rdna3_stats *stats,
                                   struct rdna3_error *err);

/* How often each mnemonic has run on a device that counts: f is called for those that
 * have. */
RDNA3_API void rdna3_device_counts(const struct rdna3_device *device,
                                   void (*f)(void *ctx, const char *mnemonic,
                                             uint64_t count),
                                   void *ctx);

#ifdef __cplusplus
}
#endif

#endif
