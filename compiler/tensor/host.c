/* host.c: this process's memory as the device of a context.
 *
 * Kernels run by a function over plain buffers: the interpreter, if no other is given.
 * Knows nothing of graphs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rd_status host_alloc(void *user, uint64_t bytes, void **memory, char *error)
{
    (void)user;
    struct cc_arg_buffer *b = malloc(sizeof *b);
    void *data = calloc(1, bytes + 16);
    if (!b || !data) {
        snprintf(error, CC_ERROR_BYTES, "no memory for %llu bytes",
                 (unsigned long long)bytes);
        free(b);
        free(data);
        return RD_E_NOMEM;
    }
    *b = (struct cc_arg_buffer){data, bytes};
    *memory = b;
    return RD_OK;
}

static void host_release(void *user, void *memory)
{
    struct cc_arg_buffer *b = memory;
    (void)user;
    free(b->data);
    free(b);
}

static rd_status host_write(void *user, void *memory, const void *data, uint64_t bytes,
                            char *error)
{
    struct cc_arg_buffer *b = memory;
    (void)user;
    (void)error;
    memcpy(b->data, data, bytes);
    return RD_OK;
}

static rd_status host_read(void *user, void *memory, void *data, uint64_t bytes,
                           char *error)
{
    struct cc_arg_buffer *b = memory;
    (void)user;
    (void)error;
    memcpy(data, b->data, bytes);
    return RD_OK;
}

static rd_status host_run(void *user, const struct cc_prog *p, size_t n,
                          void *const *memory, char *error)
{
    const struct cc_host *h = user;
    struct cc_arg_buffer args[64];
    for (size_t i = 0; i < n; i++)
        args[i] = *(const struct cc_arg_buffer *)memory[i];
    return h->run ? h->run(h->user, p, n, args, error)
                  : cc_interpret(p, n, args, error);
}

struct cc_device cc_host_device(struct cc_host *host)
{
    return (struct cc_device){.user = host,
                              .alloc = host_alloc,
                              .release = host_release,
                              .write = host_write,
                              .read = host_read,
                              .run = host_run};
}
