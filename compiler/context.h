/* context.h: tensors and their memory, for the compiler's own files.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_CONTEXT_H
#define RD_CC_CONTEXT_H

#include "cc_tensor.h"
#include "graph.h"

struct cc_tensor {
    struct cc_tensor *next;
    cc_ref ref;
};

struct cc_context {
    struct cc_graph *g;
    cc_run_fn *run;
    void *user;
    struct cc_tensor *tensors;
    struct cc_arg_buffer *buffers; /* by slot of their BUFFER */
    uint64_t cap_buffers;
    struct cc_map done; /* KERNELs that have run */
    uint64_t runs;
    char error[CC_ERROR_BYTES];
};

/* A new BUFFER in global memory; its memory is made when first needed. */
cc_ref cc_new_buffer(struct cc_context *c, enum cc_dtype dtype, unsigned ndim,
                     const int64_t *shape);
RD_CHECKED rd_status cc_buffer_memory(struct cc_context *c, cc_ref buffer,
                                      struct cc_arg_buffer **memory);
/* The BUFFER of BUFFER or AFTER(BUFFER, KERNEL); else NULL. */
cc_ref cc_realized(cc_ref n);
/* cc_toposort, but nothing behind memory. */
RD_CHECKED rd_status cc_visible(cc_ref root, cc_ref **nodes, uint32_t *count);

#endif
