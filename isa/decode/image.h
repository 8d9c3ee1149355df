/* image.h: how many registers an image instruction addresses with, for those who read
 * encodings and those who read text.
 * SPDX-License-Identifier: MIT
 */
#ifndef ISA_IMAGE_H
#define ISA_IMAGE_H

#include "isa.h"

/* Address registers of an image instruction; most: what the table states (BVH). */
unsigned dec_image_address(const struct isa_row *row, uint32_t flags, unsigned dim,
                           unsigned most);

/* Sizes of the separate address operands; returns how many there are. */
unsigned dec_image_parts(const struct isa_row *row, uint32_t flags, unsigned dwords,
                         unsigned sizes[5]);

#endif
