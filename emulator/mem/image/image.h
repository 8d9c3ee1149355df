/* image.h: what the files of the image instructions share.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_IMAGE_H
#define RD_IMAGE_H

#include "imgres.h"
#include "control.h"

/* Handlers (image.c, sampler.c, bvh.c) */
sem_wave_fn x_image_load, x_image_msaa_load, x_image_store, x_image_atomic,
    x_image_resinfo, x_image_sample, x_image_gather4, x_image_get_lod, x_image_bvh;

/* Dword k of a lane's address. */
static inline uint32_t image_address(const struct wave *w, const struct uop *u,
                                     unsigned lane, unsigned k)
{
    const struct uimg *m = &u->img;
    unsigned last = m->n_addr - 1u,
             row = k < last ? m->addr[k] : m->addr[last] + k - last;
    return w->vgpr[w->half][(size_t)row * ROW_DWORDS + lane];
}

/* Results of a half: up to four dwords a lane, and who gets them. */
struct image_out {
    uint32_t v[32][4];
};

/* Write what DMASK and D16 choose of the four channels of each active lane. */
void image_write(struct wave *w, const struct uop *u, const struct image_out *out);

/* As image_write, for values that are f32 or integers whatever the format holds. */
uint32_t image_narrow16(uint32_t value, bool is_int);

/* Read the element of a texel. False after a fault. */
bool image_fetch(struct wave *w, const struct uop *u, const struct imgres *r,
                 unsigned lane, const struct texel *t, uint8_t element[16]);

/* dst_sel applied to the channels of a texel. */
void image_swizzle(const struct imgres *r, const uint32_t rgba[4], uint32_t one,
                   uint32_t out[4]);

/* Run a function on each half of the wave, in the host's default float mode; faults if
 * the resource cannot be accessed. */
typedef bool image_half_fn(struct wave *w, const struct uop *u, const struct imgres *r);
const struct uop *image_run(struct wave *w, const struct uop *u, image_half_fn *f);

#endif
