/* cover.h: which forms of which instructions have executed. A form is a row of the
 * tables (mnemonic and encoding) with a variant (literal, DPP16, DPP8, NSA).
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_COVER_H
#define TEST_COVER_H

#include <stdint.h>

#include "arena.h"

#define COVER_VARIANTS 5u

struct cover {
    const struct arena *arena; /* whose bodies count; the frame around them does not */
    uint32_t *runs[2];         /* by wave size: [row * COVER_VARIANTS + variant] */
};

void cover_create(struct cover *c, const struct arena *arena);
void cover_destroy(struct cover *c);

/* Counts every instruction of a body that a wave executes. */
struct emu_observer cover_observer(struct cover *c);

uint32_t cover_runs(const struct cover *c, unsigned row, unsigned variant,
                    unsigned lanes);

#endif
