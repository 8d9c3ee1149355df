/* context.c: tensors, their memory, and running kernels.
 *
 * Knows neither how kernels are made (kernelize.c) nor who runs them.
 * SPDX-License-Identifier: MIT
 */
#include "choose.h"
#include "context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

rd_status cc_context_create_on(const struct cc_device *device, struct cc_context **out)
{
    struct cc_context *c = calloc(1, sizeof *c);
    if (!c)
        return RD_E_NOMEM;
    rd_status st = cc_graph_create(&c->g);
    if (st != RD_OK) {
        free(c);
        return st;
    }
    c->device = device ? *device : cc_host_device(&c->host);
    *out = c;
    return RD_OK;
}

rd_status cc_context_create(cc_run_fn *run, void *user, struct cc_context **out)
{
    rd_status st = cc_context_create_on(NULL, out);
    if (st == RD_OK)
        cc_context_set_runner(*out, run, user);
    return st;
}

void cc_context_set_runner(struct cc_context *c, cc_run_fn *run, void *user)
{
    c->host = (struct cc_host){run, user};
}

void cc_context_set_search(struct cc_context *c, const struct cc_search *search)
{
    c->search = *search;
}

void cc_context_destroy(struct cc_context *c)
{
    if (!c)
        return;
    while (c->tensors) {
        struct cc_tensor *next = c->tensors->next;
        free(c->tensors);
        c->tensors = next;
    }
    for (uint64_t i = 0; i < c->cap_buffers; i++)
        if (c->buffers[i])
            c->device.release(c->device.user, c->buffers[i]);
    free(c->buffers);
    for (size_t i = 0; i < c->n_code; i++)
        free((void *)c->code[i].elf);
    free(c->code);
    cc_map_free(&c->done);
    cc_graph_destroy(c->g);
    free(c);
}

struct cc_graph *cc_context_graph(struct cc_context *c)
{
    return c->g;
}

const char *cc_context_error(const struct cc_context *c)
{
    return c->g->status != RD_OK ? c->g->error : c->error;
}

uint64_t cc_context_runs(const struct cc_context *c)
{
    return c->runs;
}

cc_ref cc_tensor_ref(const struct cc_tensor *t)
{
    return t->ref;
}

cc_ref cc_new_buffer(struct cc_context *c, enum cc_dtype dtype, unsigned ndim,
                     const int64_t *shape)
{
    return cc_buffer(c->g, dtype, CC_SPACE_GLOBAL, (unsigned)c->g->next_buffer++, ndim,
                     shape);
}

cc_ref cc_realized(cc_ref n)
{
    if (n->op == CC_AFTER && n->n_src == 2 && n->src[1]->op == CC_KERNEL)
        n = n->src[0];
    return n->op == CC_BUFFER && n->arg[0] == CC_SPACE_GLOBAL ? n : NULL;
}

rd_status cc_visible(cc_ref root, cc_ref **nodes, uint32_t *count)
{
    uint32_t all, kept = 0;
    rd_status st = cc_toposort(root, nodes, &all);
    if (st != RD_OK)
        return st;
    bool *seen = calloc(root->id + 1ull, sizeof *seen);
    if (!seen) {
        free(*nodes);
        return RD_E_NOMEM;
    }
    seen[root->id] = true;
    for (uint32_t i = all; i-- > 0;)
        for (uint32_t j = 0; j < (*nodes)[i]->n_src; j++)
            if (seen[(*nodes)[i]->id] && !cc_realized((*nodes)[i]))
                seen[(*nodes)[i]->src[j]->id] = true;
    for (uint32_t i = 0; i < all; i++)
        if (seen[(*nodes)[i]->id])
            (*nodes)[kept++] = (*nodes)[i];
    free(seen);
    *count = kept;
    return RD_OK;
}

uint64_t cc_buffer_bytes(cc_ref buffer)
{
    return (uint64_t)cc_elements(buffer) * cc_dtype_bytes(buffer->dtype);
}

rd_status cc_buffer_memory(struct cc_context *c, cc_ref buffer, void **memory)
{
    uint64_t slot = (uint64_t)buffer->arg[1];
    if (slot >= c->cap_buffers) {
        uint64_t cap = 2 * slot + 16;
        void **bigger = realloc(c->buffers, cap * sizeof *bigger);
        if (!bigger)
            return RD_E_NOMEM;
        memset(bigger + c->cap_buffers, 0, (cap - c->cap_buffers) * sizeof *bigger);
        c->buffers = bigger;
        c->cap_buffers = cap;
    }
    if (!c->buffers[slot]) {
        rd_status st = c->device.alloc(c->device.user, cc_buffer_bytes(buffer),
                                       &c->buffers[slot], c->error);
        if (st != RD_OK)
            return st;
    }
    *memory = c->buffers[slot];
    return RD_OK;
}

rd_status cc_buffer_read(struct cc_context *c, cc_ref buffer, void *data)
{
    void *memory;
    rd_status st = cc_buffer_memory(c, buffer, &memory);
    return st == RD_OK ? c->device.read(c->device.user, memory, data,
                                        cc_buffer_bytes(buffer), c->error)
                       : st;
}

rd_status cc_tensor_new(struct cc_context *c, cc_ref expr, struct cc_tensor **out)
{
    if (c->g->status != RD_OK)
        return c->g->status;
    struct cc_tensor *t = malloc(sizeof *t);
    if (!t)
        return RD_E_NOMEM;
    *t = (struct cc_tensor){c->tensors, expr};
    c->tensors = t;
    *out = t;
    return RD_OK;
}

rd_status cc_tensor_from(struct cc_context *c, enum cc_dtype dtype, unsigned ndim,
                         const int64_t *shape, const void *data, struct cc_tensor **out)
{
    void *memory;
    cc_ref buffer = cc_new_buffer(c, dtype, ndim, shape);
    rd_status st = c->g->status;
    if (st == RD_OK)
        st = cc_buffer_memory(c, buffer, &memory);
    if (st == RD_OK && data)
        st = c->device.write(c->device.user, memory, data, cc_buffer_bytes(buffer),
                             c->error);
    return st == RD_OK ? cc_tensor_new(c, buffer, out) : st;
}

/* ---- kernels of one's own ---- */

rd_status cc_machine_code(struct cc_context *c, const struct cc_machine *code,
                          cc_ref *program)
{
    int64_t arg[7] = {(int64_t)c->n_code};
    struct cc_machine *bigger = realloc(c->code, (c->n_code + 1) * sizeof *bigger);
    if (!bigger)
        return RD_E_NOMEM;
    c->code = bigger;
    void *elf = malloc(code->bytes + 1);
    if (!elf)
        return RD_E_NOMEM;
    memcpy(elf, code->elf, code->bytes);
    struct cc_machine *m = &c->code[c->n_code++];
    *m = *code;
    m->elf = elf;
    for (unsigned d = 0; d < 3; d++) {
        arg[1 + d] = m->groups[d] = code->groups[d] ? code->groups[d] : 1;
        arg[4 + d] = m->block[d] = code->block[d] ? code->block[d] : 1;
    }
    cc_ref p = cc_uop(c->g, CC_PROGRAM, CC_DT_VOID, 0, NULL, 7, arg, code->kernel);
    if (c->g->status != RD_OK)
        return c->g->status;
    m->kernel = p->name;
    *program = p;
    return RD_OK;
}

/* Does every PARAM fit the tensor of its slot? */
static rd_status check_params(struct cc_context *c, cc_ref sink, size_t n,
                              struct cc_tensor *const *tensors)
{
    cc_ref *nodes;
    uint32_t count;
    char text[96];
    rd_status st = cc_verify(c->g, sink);
    if (st == RD_OK)
        st = cc_toposort(sink, &nodes, &count);
    if (st != RD_OK)
        return st;
    for (uint32_t i = 0; i < count; i++) {
        cc_ref p = nodes[i];
        if (p->op != CC_PARAM)
            continue;
        cc_ref t = (size_t)p->arg[0] < n ? tensors[p->arg[0]]->ref : NULL;
        if (!t || t->dtype != p->dtype || cc_elements(p) > cc_elements(t))
            cc_fail(c->g, RD_E_INVALID, "%s: %s", cc_describe(p, text, sizeof text),
                    t ? "the tensor of its slot has another dtype, or fewer elements"
                      : "no tensor for its slot");
    }
    free(nodes);
    return c->g->status;
}

rd_status cc_tensor_custom(struct cc_context *c, cc_ref kernel, size_t n,
                           struct cc_tensor *const *tensors)
{
    cc_ref src[65] = {kernel};
    rd_status st = RD_OK;
    if (n == 0 || n > 64) {
        cc_fail(c->g, RD_E_RANGE, "a kernel of %zu tensors: 1 to 64 are possible", n);
        return c->g->status;
    }
    if (kernel->op == CC_SINK)
        st = check_params(c, kernel, n, tensors);
    if (st == RD_OK)
        st = cc_kernelize(c, n, tensors);
    for (size_t i = 0; i < n && st == RD_OK; i++)
        src[i + 1] = tensors[i]->ref;
    if (st != RD_OK)
        return st;
    cc_ref k = cc_uop(c->g, CC_KERNEL, CC_DT_VOID, n + 1, src, 0, NULL, NULL);
    cc_ref after = cc_after(c->g, cc_realized(src[1]), k);
    if (c->g->status == RD_OK)
        tensors[0]->ref = after;
    return c->g->status;
}

/* ---- running ---- */

/* A candidate of the search; one that cannot be compiled or run only drops out. */
static rd_status measure(void *user, const struct cc_prog *p, uint64_t *cost)
{
    struct cc_context *c = user;
    char error[CC_ERROR_BYTES];
    return c->device.measure(c->device.user, p, c->n_search_memory, c->search_memory,
                             c->search.runs ? c->search.runs : 2, cost, error);
}

static rd_status chosen_form(struct cc_context *c, cc_ref sink, struct cc_prog **out)
{
    struct cc_opt opt;
    if (cc_choose(c->g, sink, &opt)) {
        if (cc_linearize_opts(c->g, sink, 1, &opt, out) == RD_OK)
            return RD_OK;
        c->g->status = RD_OK; /* it does not fit: the plain form does */
    }
    return cc_linearize(c->g, sink, out);
}

static rd_status best_form(struct cc_context *c, cc_ref sink, struct cc_prog **out)
{
    struct cc_beam beam = {.width = c->search.width, .cost = measure, .user = c};
    if (!c->search.width)
        return chosen_form(c, sink, out);
    if (!c->device.measure) {
        snprintf(c->error, sizeof c->error, "the device has no clock to search by");
        return RD_E_UNSUPPORTED;
    }
    rd_status st = cc_beam(c->g, sink, &beam, out);
    if (st == RD_OK && c->search.report)
        c->search.report(c->search.user, sink->name, &beam);
    return st;
}

static rd_status run_sink(struct cc_context *c, cc_ref sink, uint32_t n,
                          void *const *memory)
{
    struct cc_prog *p;
    c->search_memory = memory;
    c->n_search_memory = n;
    rd_status st = best_form(c, sink, &p);
    if (st != RD_OK)
        return st;
    st = c->device.run(c->device.user, p, n, memory, c->error);
    cc_prog_destroy(p);
    return st;
}

static rd_status run_program(struct cc_context *c, cc_ref program, uint32_t n,
                             void *const *memory)
{
    char text[96];
    if ((uint64_t)program->arg[0] >= c->n_code || !c->device.run_code) {
        snprintf(c->error, sizeof c->error, "%s: %s",
                 cc_describe(program, text, sizeof text),
                 c->device.run_code ? "no such machine code"
                                    : "the device runs no machine code");
        return RD_E_UNSUPPORTED;
    }
    return c->device.run_code(c->device.user, &c->code[program->arg[0]], n, memory,
                              c->error);
}

static rd_status run_kernel(struct cc_context *c, cc_ref kernel)
{
    void *memory[64];
    uint32_t n = kernel->n_src - 1;
    if (n > 64)
        return RD_E_RANGE;
    rd_status st = RD_OK;
    for (uint32_t i = 0; i < n && st == RD_OK; i++)
        st = cc_buffer_memory(c, cc_realized(kernel->src[i + 1]), &memory[i]);
    if (st != RD_OK)
        return st;
    c->runs++;
    return kernel->src[0]->op == CC_PROGRAM ? run_program(c, kernel->src[0], n, memory)
                                            : run_sink(c, kernel->src[0], n, memory);
}

/* Run what the node waits for, sources first. */
static rd_status run_kernels(struct cc_context *c, cc_ref root)
{
    cc_ref *nodes;
    uint32_t count;
    rd_status st = cc_toposort(root, &nodes, &count);
    if (st != RD_OK)
        return st;
    for (uint32_t i = 0; i < count && st == RD_OK; i++) {
        if (nodes[i]->op != CC_KERNEL || cc_map_get(&c->done, nodes[i]))
            continue;
        st = run_kernel(c, nodes[i]);
        if (st == RD_OK)
            st = cc_map_set(&c->done, nodes[i], nodes[i]);
    }
    free(nodes);
    return st;
}

rd_status cc_realize(struct cc_context *c, size_t n, struct cc_tensor *const *tensors)
{
    rd_status st = cc_kernelize(c, n, tensors);
    for (size_t i = 0; i < n && st == RD_OK; i++) {
        cc_ref after = tensors[i]->ref;
        st = run_kernels(c, after);
        for (struct cc_tensor *t = c->tensors; t && st == RD_OK; t = t->next)
            if (t->ref == after)
                t->ref = cc_realized(after);
    }
    return st;
}

rd_status cc_tensor_read(struct cc_context *c, struct cc_tensor *t, void *data,
                         uint64_t bytes)
{
    rd_status st = cc_realize(c, 1, &t);
    if (st != RD_OK)
        return st;
    if (bytes != cc_buffer_bytes(t->ref)) {
        snprintf(c->error, sizeof c->error, "the tensor has %llu bytes, not %llu",
                 (unsigned long long)cc_buffer_bytes(t->ref),
                 (unsigned long long)bytes);
        return RD_E_INVALID;
    }
    return cc_buffer_read(c, t->ref, data);
}
