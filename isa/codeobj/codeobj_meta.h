/* codeobj_meta.h: what the compiler's metadata says about kernels and arguments.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CODEOBJ_META_H
#define RD_CODEOBJ_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* name, text in the metadata */
#define CO_VALUE_LIST(X)                                                               \
    X(CO_VALUE_BY_VALUE, "by_value")                                                   \
    X(CO_VALUE_GLOBAL_BUFFER, "global_buffer")                                         \
    X(CO_VALUE_DYNAMIC_SHARED_POINTER, "dynamic_shared_pointer")                       \
    X(CO_VALUE_SAMPLER, "sampler")                                                     \
    X(CO_VALUE_IMAGE, "image")                                                         \
    X(CO_VALUE_PIPE, "pipe")                                                           \
    X(CO_VALUE_QUEUE, "queue")                                                         \
    X(CO_VALUE_HIDDEN_GLOBAL_OFFSET_X, "hidden_global_offset_x")                       \
    X(CO_VALUE_HIDDEN_GLOBAL_OFFSET_Y, "hidden_global_offset_y")                       \
    X(CO_VALUE_HIDDEN_GLOBAL_OFFSET_Z, "hidden_global_offset_z")                       \
    X(CO_VALUE_HIDDEN_NONE, "hidden_none")                                             \
    X(CO_VALUE_HIDDEN_PRINTF_BUFFER, "hidden_printf_buffer")                           \
    X(CO_VALUE_HIDDEN_HOSTCALL_BUFFER, "hidden_hostcall_buffer")                       \
    X(CO_VALUE_HIDDEN_DEFAULT_QUEUE, "hidden_default_queue")                           \
    X(CO_VALUE_HIDDEN_COMPLETION_ACTION, "hidden_completion_action")                   \
    X(CO_VALUE_HIDDEN_MULTIGRID_SYNC_ARG, "hidden_multigrid_sync_arg")                 \
    X(CO_VALUE_HIDDEN_BLOCK_COUNT_X, "hidden_block_count_x")                           \
    X(CO_VALUE_HIDDEN_BLOCK_COUNT_Y, "hidden_block_count_y")                           \
    X(CO_VALUE_HIDDEN_BLOCK_COUNT_Z, "hidden_block_count_z")                           \
    X(CO_VALUE_HIDDEN_GROUP_SIZE_X, "hidden_group_size_x")                             \
    X(CO_VALUE_HIDDEN_GROUP_SIZE_Y, "hidden_group_size_y")                             \
    X(CO_VALUE_HIDDEN_GROUP_SIZE_Z, "hidden_group_size_z")                             \
    X(CO_VALUE_HIDDEN_REMAINDER_X, "hidden_remainder_x")                               \
    X(CO_VALUE_HIDDEN_REMAINDER_Y, "hidden_remainder_y")                               \
    X(CO_VALUE_HIDDEN_REMAINDER_Z, "hidden_remainder_z")                               \
    X(CO_VALUE_HIDDEN_GRID_DIMS, "hidden_grid_dims")                                   \
    X(CO_VALUE_HIDDEN_HEAP_V1, "hidden_heap_v1")                                       \
    X(CO_VALUE_HIDDEN_DYNAMIC_LDS_SIZE, "hidden_dynamic_lds_size")                     \
    X(CO_VALUE_HIDDEN_PRIVATE_BASE, "hidden_private_base")                             \
    X(CO_VALUE_HIDDEN_SHARED_BASE, "hidden_shared_base")                               \
    X(CO_VALUE_HIDDEN_QUEUE_PTR, "hidden_queue_ptr")

enum co_value_kind {
    CO_VALUE_UNKNOWN,        /* a kind that later compilers have invented, not hidden */
    CO_VALUE_HIDDEN_UNKNOWN, /* the same, its name begins with "hidden_" */
#define X(name, text) name,
    CO_VALUE_LIST(X)
#undef X
        CO_VALUE_COUNT
};

enum co_addr_space {
    CO_AS_NONE,
    CO_AS_PRIVATE,
    CO_AS_GLOBAL,
    CO_AS_CONSTANT,
    CO_AS_LOCAL,
    CO_AS_GENERIC,
    CO_AS_REGION
};

enum co_access {
    CO_ACCESS_NONE,
    CO_ACCESS_READ_ONLY,
    CO_ACCESS_WRITE_ONLY,
    CO_ACCESS_READ_WRITE
};

struct co_arg {
    const char *name;      /* NULL if the compiler wrote none */
    const char *type_name; /* NULL if the compiler wrote none */
    const char *kind_text; /* value kind as the file spells it */
    uint32_t offset;       /* in the kernarg segment */
    uint32_t bytes;
    uint32_t pointee_align; /* of a dynamic_shared_pointer; 0 if absent */
    uint8_t kind;           /* enum co_value_kind */
    uint8_t addr_space;     /* enum co_addr_space */
    uint8_t access;         /* enum co_access */
    uint8_t actual_access;  /* enum co_access */
    bool is_const, is_restrict, is_volatile, is_pipe;
};

/* Metadata of one kernel. Numbers that the file leaves out are 0, texts NULL. */
struct co_kernel_meta {
    const char *name;
    const char *symbol; /* of the descriptor, "NAME.kd" */
    const char *language;
    const char *kind; /* "normal", "init", "fini" */
    const struct co_arg *args;
    uint32_t n_args;
    uint32_t n_explicit_args; /* those not hidden; they come first */
    uint32_t kernarg_bytes, kernarg_align;
    uint32_t group_segment_bytes, private_segment_bytes;
    uint32_t wave;
    uint32_t sgpr_count, vgpr_count, sgpr_spills, vgpr_spills;
    uint32_t max_flat_workgroup_size;
    uint32_t reqd_workgroup_size[3];
    uint32_t workgroup_size_hint[3];
    uint32_t workgroup_processor_mode;
    bool uses_dynamic_stack;
    bool uniform_workgroup_size;
};

/* Text of a value kind; "unknown" for those without one. */
const char *co_value_text(enum co_value_kind kind);

/* Write a metadata document (the contents of the NT_AMDGPU_METADATA note) as YAML, from
 * "---" to "...".
 *
 * Returns false if it is cut off, or holds what YAML has no plain word for; what was
 * written until then is of no use.
 */
bool co_metadata_yaml(const void *document, size_t bytes, FILE *out);

/* Whether the runtime fills the argument, not the caller. */
bool co_value_is_hidden(enum co_value_kind kind);

#endif
