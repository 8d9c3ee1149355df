/* code.c: code objects in VRAM, and the kernels in them.
 *
 * Must not know queues: it only raises the version of the device's code, at which a
 * queue empties its caches. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define KD_ENTRY 16u /* in a kernel descriptor: from it to the first instruction */

static struct rt_code *code_new(struct rt_device *dev)
{
    struct rt_code *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->dev = dev;
    pthread_mutex_lock(&dev->lock);
    c->next = dev->codes;
    c->link = &dev->codes;
    if (c->next)
        c->next->link = &c->next;
    dev->codes = c;
    pthread_mutex_unlock(&dev->lock);
    return c;
}

void rt_unload(struct rt_code *c)
{
    if (!c)
        return;
    rt_free(c->image);
    co_close(c->co);
    pthread_mutex_lock(&c->dev->lock);
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    pthread_mutex_unlock(&c->dev->lock);
    free(c);
}

/* Relocate in host memory and write the result to VRAM in one go. */
static rd_status place(struct rt_code *c, struct rt_error *err)
{
    uint64_t bytes, align;
    struct co_error why;
    co_image_size(c->co, &bytes, &align);
    if (bytes == 0)
        return rt_fail(err, RD_E_FORMAT, "code object: nothing of it is loaded");
    rd_status st = rt_alloc(c->dev, bytes, RT_VRAM, RT_EXEC, &c->image, err);
    if (st != RD_OK)
        return st;
    if (rt_gpuva(c->image) % align)
        return rt_fail(err, RD_E_UNSUPPORTED, "code object: alignment 0x%llx",
                       (unsigned long long)align);
    void *image = calloc(1, bytes);
    if (!image)
        return rt_fail(err, RD_E_NOMEM, "out of memory");
    st = co_load(c->co, image, bytes, rt_gpuva(c->image), &why);
    if (st == RD_OK)
        memcpy(rt_host(c->image), image, bytes);
    else
        st = rt_fail(err, st, "%s", why.text);
    free(image);
    return st;
}

rd_status rt_load(struct rt_device *dev, const void *data, size_t bytes,
                  struct rt_code **out, struct rt_error *err)
{
    struct co_error why;
    struct rt_code *c = code_new(dev);
    if (!c)
        return rt_fail(err, RD_E_NOMEM, "out of memory");
    rd_status st = co_open(data, bytes, &c->co, &why);
    st = st == RD_OK ? place(c, err) : rt_fail(err, st, "%s", why.text);
    if (st != RD_OK) {
        rt_unload(c);
        return st;
    }
    dev->code_version++;
    *out = c;
    return RD_OK;
}

rd_status rt_load_raw(struct rt_device *dev, const void *code, size_t bytes,
                      const void *kd, uint64_t entry, struct rt_code **out,
                      struct rt_error *err)
{
    struct co_error why;
    struct co_kernel_desc desc;
    co_kd_parse(kd, &desc);
    rd_status st = co_kd_check(&desc, &why);
    if (st != RD_OK)
        return rt_fail(err, st, "%s", why.text);
    if (entry % 4 || entry >= bytes)
        return rt_fail(err, RD_E_INVALID,
                       "entry offset %llu: must be a multiple of 4 inside the %zu "
                       "bytes of code",
                       (unsigned long long)entry, bytes);
    struct rt_code *c = code_new(dev);
    if (!c)
        return rt_fail(err, RD_E_NOMEM, "out of memory");
    /* The descriptor, then the code so that its entry is a multiple of 256. */
    uint64_t at = CO_CODE_ALIGN + (0 - entry) % CO_CODE_ALIGN;
    st = rt_alloc(dev, at + bytes, RT_VRAM, RT_EXEC, &c->image, err);
    if (st != RD_OK) {
        rt_unload(c);
        return st;
    }
    uint8_t *image = rt_host(c->image);
    int64_t offset = (int64_t)(at + entry);
    memcpy(image, kd, CO_KD_BYTES);
    memcpy(image + KD_ENTRY, &offset, sizeof(offset));
    memcpy(image + at, code, bytes);
    c->raw_desc = desc;
    dev->code_version++;
    *out = c;
    return RD_OK;
}

rd_status rt_kernel_find(const struct rt_code *c, const char *name,
                         struct rt_kernel *out, struct rt_error *err)
{
    struct co_error why;
    const struct co_kernel *found;
    if (!c->co) {
        *out = (struct rt_kernel){.name = "(raw code)",
                                  .desc = c->raw_desc,
                                  .desc_gpuva = rt_gpuva(c->image)};
        return RD_OK;
    }
    rd_status st = co_kernel_find(c->co, name, &found, &why);
    if (st == RD_OK)
        st = co_kernel_check(c->co, found, &why);
    if (st != RD_OK)
        return rt_fail(err, st, "%s", why.text);
    *out = (struct rt_kernel){.name = found->name,
                              .desc = found->desc,
                              .meta = found->meta,
                              .desc_gpuva = rt_gpuva(c->image) + found->desc_offset};
    return RD_OK;
}
