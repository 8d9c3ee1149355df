/* dot2_ref.h: an integer model of the gfx11 dot-product step, for comparison.
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_DOT2_REF_H
#define TEST_DOT2_REF_H

#include <stdbool.h>
#include <stdint.h>

enum ref_format { REF_F32, REF_F16, REF_BF16 };

/* c + a[0]*b[0] + a[1]*b[1]; factors are bf16 or f16, c and the result have the
 * format `out`. */
uint32_t ref_dot2(const uint16_t a[2], const uint16_t b[2], uint32_t c, bool bf16,
                  enum ref_format out, bool ovfl);

#endif
