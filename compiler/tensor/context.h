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

struct cc_host {
    cc_run_fn *run;
    void *user;
};

struct cc_context {
    struct cc_graph *g;
    struct cc_device device;
    struct cc_host host; /* of a context in host memory */
    struct cc_tensor *tensors;
    void **buffers; /* the device's memory, by slot of BUFFER */
    uint64_t cap_buffers;
    struct cc_machine *code; /* by number of PROGRAM */
    size_t n_code;
    struct cc_search search;
    void *const *search_memory; /* of the kernel that is searched */
    uint32_t n_search_memory;
    struct cc_map done; /* KERNELs that have run */
    uint64_t runs;
    char error[CC_ERROR_BYTES];
};

/* Memory of this process as a device. */
struct cc_device cc_host_device(struct cc_host *host);

/* A new BUFFER in global memory; its memory is made when first needed. */
cc_ref cc_new_buffer(struct cc_context *c, enum cc_dtype dtype, unsigned ndim,
                     const int64_t *shape);
RD_CHECKED rd_status cc_buffer_memory(struct cc_context *c, cc_ref buffer,
                                      void **memory);
uint64_t cc_buffer_bytes(cc_ref buffer);
/* Copy what it holds. data: cc_buffer_bytes */
RD_CHECKED rd_status cc_buffer_read(struct cc_context *c, cc_ref buffer, void *data);
/* The BUFFER of BUFFER or AFTER(BUFFER, KERNEL); else NULL. */
cc_ref cc_realized(cc_ref n);
/* cc_toposort, but nothing behind memory. */
RD_CHECKED rd_status cc_visible(cc_ref root, cc_ref **nodes, uint32_t *count);

#endif
