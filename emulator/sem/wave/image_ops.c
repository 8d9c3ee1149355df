/* image_ops.c: image instructions (manual chapter 10, 16.18).
 *
 * What the suffixes of a mnemonic mean is in the micro-op (predecode_mem.c); join.c
 * maps image_sample_*, image_gather4_*, image_load_*, image_store_* and image_atomic_*
 * here. SPDX-License-Identifier: MIT
 */
#include "image.h"
#include "sem_wrap.h"

WAVE_OP(image_load)
{
    return x_image_load(w, u);
}

WAVE_OP(image_msaa_load)
{
    return x_image_msaa_load(w, u);
}

WAVE_OP(image_store)
{
    return x_image_store(w, u);
}

WAVE_OP(image_atomic)
{
    return x_image_atomic(w, u);
}

WAVE_OP(image_get_resinfo)
{
    return x_image_resinfo(w, u);
}

WAVE_OP(image_sample)
{
    return x_image_sample(w, u);
}

WAVE_OP(image_gather4)
{
    return x_image_gather4(w, u);
}

WAVE_OP(image_get_lod)
{
    return x_image_get_lod(w, u);
}

/* image_bvh64_intersect_ray too */
WAVE_OP(image_bvh_intersect_ray)
{
    return x_image_bvh(w, u);
}

#include "image_ops.inc"
