/* object.c: assembling files, and what is in code objects.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm.h"
#include "codeobj.h"
#include "internal.h"

/* ---- assembling ---------------------------------------------------------------------
 */

struct telling {
    struct rdna3 *rdna3;
    struct rdna3_assemble_options options;
    struct rdna3_error first;
};

static void tell(void *ctx, const struct asm_message *m)
{
    static const enum rdna3_level levels[] = {[ASM_ERROR] = RDNA3_LOG_ERROR,
                                              [ASM_WARNING] = RDNA3_LOG_WARNING,
                                              [ASM_NOTE] = RDNA3_LOG_NOTE};
    struct telling *t = ctx;
    struct rdna3_message message = {.level = levels[m->severity],
                                    .file = m->file,
                                    .line = m->line,
                                    .column = m->column,
                                    .text = m->text,
                                    .source = m->source,
                                    .source_bytes = m->source_len};
    if (m->severity == ASM_ERROR && !t->first.text[0])
        (void)rdna3_fail(&t->first, 0, "%s:%u:%u: %s", m->file, m->line, m->column,
                         m->text);
    if (t->options.message)
        t->options.message(t->options.ctx, &message);
    else
        rdna3_say(t->rdna3, message.level, "%s:%u:%u: %s", m->file, m->line, m->column,
                  m->text);
}

int rdna3_assemble(struct rdna3 *rdna3, const char *text, size_t bytes,
                   const struct rdna3_assemble_options *options, void **object,
                   size_t *object_bytes, struct rdna3_error *err)
{
    struct telling t = {.rdna3 = rdna3};
    struct asm_result result;
    if (options && !HAS(options, message))
        return rdna3_fail(err, RDNA3_E_INVALID, "options: struct_bytes is not set");
    if (options)
        t.options = *options;
    struct asm_options o = {.name = t.options.name,
                            .wave = t.options.wave,
                            .relocatable = t.options.relocatable,
                            .message = tell,
                            .ctx = &t};
    rd_status st = asm_assemble(text, bytes, &o, &result);
    if (st != RD_OK)
        return rdna3_fail(err, st, "%s",
                          t.first.text[0] ? t.first.text : rd_status_text(st));
    void *copy = rdna3_take(rdna3, result.bytes);
    if (copy) {
        memcpy(copy, result.data, result.bytes);
        *object = copy;
        *object_bytes = result.bytes;
    }
    free(result.data);
    return copy ? RDNA3_OK : rdna3_fail(err, RDNA3_E_NOMEM, "out of memory");
}

/* ---- looking inside -----------------------------------------------------------------
 */

struct rdna3_object {
    struct rdna3 *rdna3;
    struct co_object *co;
    void *data;
};

int rdna3_object_open(struct rdna3 *rdna3, const void *data, size_t bytes,
                      struct rdna3_object **out, struct rdna3_error *err)
{
    struct co_error why;
    struct rdna3_object *o = calloc(1, sizeof *o);
    void *copy = malloc(bytes ? bytes : 1);
    if (!o || !copy) {
        free(o);
        free(copy);
        return rdna3_fail(err, RDNA3_E_NOMEM, "out of memory");
    }
    memcpy(copy, data, bytes);
    *o = (struct rdna3_object){.rdna3 = rdna3, .data = copy};
    rd_status st = co_open(copy, bytes, &o->co, &why);
    if (st != RD_OK) {
        free(copy);
        free(o);
        return rdna3_fail(err, st, "%s", why.text);
    }
    *out = o;
    return RDNA3_OK;
}

void rdna3_object_close(struct rdna3_object *object)
{
    if (!object)
        return;
    co_close(object->co);
    free(object->data);
    free(object);
}

unsigned rdna3_object_kernels(const struct rdna3_object *object)
{
    return co_kernel_count(object->co);
}

/* The bytes of the file at an image offset. */
static const void *file_bytes(const struct co_object *co, uint64_t offset,
                              uint64_t bytes)
{
    for (unsigned i = 0; i < co_segment_count(co); i++) {
        const struct co_segment *s = co_segment_at(co, i);
        if (offset >= s->offset && offset - s->offset <= s->data_bytes &&
            bytes <= s->data_bytes - (offset - s->offset))
            return s->data + (offset - s->offset);
    }
    return NULL;
}

int rdna3_object_kernel(const struct rdna3_object *object, unsigned index,
                        struct rdna3_kernel_info *out)
{
    if (index >= co_kernel_count(object->co))
        return RDNA3_E_NOT_FOUND;
    const struct co_kernel *k = co_kernel_at(object->co, index);
    const struct co_kernel_meta *m = k->meta;
    *out = (struct rdna3_kernel_info){
        .name = k->name,
        .address = co_info(object->co)->base_addr + k->entry_offset,
        .code = file_bytes(object->co, k->entry_offset, k->code_bytes),
        .code_bytes = k->code_bytes,
        .wave = k->desc.wave,
        .vgprs = m && m->vgpr_count ? m->vgpr_count : k->desc.vgprs,
        .sgprs = m ? m->sgpr_count : k->desc.sgprs,
        .lds_bytes = k->desc.group_segment_bytes,
        .scratch_bytes = k->desc.private_segment_bytes,
        .kernarg_bytes = k->desc.kernarg_bytes,
        .n_args = m ? m->n_args : 0,
        .max_work_items = m ? m->max_flat_workgroup_size : 0};
    if (m)
        memcpy(out->required_block, m->reqd_workgroup_size, sizeof out->required_block);
    return RDNA3_OK;
}

int rdna3_object_arg(const struct rdna3_object *object, unsigned kernel, unsigned index,
                     struct rdna3_arg_info *out)
{
    if (kernel >= co_kernel_count(object->co))
        return RDNA3_E_NOT_FOUND;
    const struct co_kernel_meta *m = co_kernel_at(object->co, kernel)->meta;
    if (!m || index >= m->n_args)
        return RDNA3_E_NOT_FOUND;
    const struct co_arg *a = &m->args[index];
    *out = (struct rdna3_arg_info){.name = a->name ? a->name : "",
                                   .type = a->type_name ? a->type_name : "",
                                   .kind = a->kind_text ? a->kind_text : "",
                                   .offset = a->offset,
                                   .bytes = a->bytes,
                                   .hidden = co_value_is_hidden(a->kind),
                                   .pointer = a->kind == CO_VALUE_GLOBAL_BUFFER};
    return RDNA3_OK;
}
