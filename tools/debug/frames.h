/* frames.h: calls, instructions and reasons to wait of a wave, as data.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DEBUG_FRAMES_H
#define RD_DEBUG_FRAMES_H

#include "dbg_expr.h"

#define MAX_FRAMES (SOURCE_FRAMES + 2u)

struct frame {
    char function[128];
    char file[256];
    unsigned line, column;
    uint64_t pc;
    bool inlined;
    bool guessed; /* its caller, by s[30:31] */
};

/* The calls that a wave is in, innermost first. Returns how many. */
unsigned frames_of(const struct context *c, struct frame *f, unsigned room);

/* Why a wave does not go on, or what it does next: "waits at a barrier ..." */
void why_text(const struct context *c, char *text, size_t size);

/* The instruction at pc as text; its length in bytes, 0: cannot be read. */
unsigned instruction_text(const struct context *c, uint64_t pc, char *text,
                          size_t size);
#endif
