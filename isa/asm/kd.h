/* kd.h: the .amdhsa_ directives and the bits of the kernel descriptor that they set.
 *
 * One table for both directions: kd.c writes descriptors, kd_text.c directives.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_AS_KD_H
#define RD_AS_KD_H

#include <stdint.h>

#define KD_BYTES      64
#define KD_FIELDS     49u
#define KD_MAX_BLOCKS 64u /* the granulated count of VGPRs has six bits */

/* Where a directive's value goes: a dword of the descriptor. */
enum kd_place {
    KD_GROUP,
    KD_PRIVATE,
    KD_KERNARG,
    KD_RSRC3,
    KD_RSRC1,
    KD_RSRC2,
    KD_PROPERTIES,
    KD_PLACES,
    KD_NOWHERE, /* used for something else */
};

enum kd_special {
    KD_NO,
    KD_NEXT_VGPR,
    KD_NEXT_SGPR,
    KD_USER_COUNT,
    KD_WAVE32,
    KD_SHARED_VGPR,
    KD_NO_XNACK
};

enum kd_refusal { KD_FINE, KD_FLAT_SCRATCH, KD_GFX90A, KD_GFX12 };

struct kd_field {
    const char *name; /* without .amdhsa_ */
    uint8_t place, shift, bits;
    uint8_t user_sgprs; /* a user SGPR set of so many registers */
    uint8_t special, refusal;
    uint8_t initial; /* value without the directive */
};

extern const struct kd_field kd_fields[KD_FIELDS];
extern const uint8_t kd_place_offset[KD_PLACES]; /* bytes into the descriptor */

#endif
