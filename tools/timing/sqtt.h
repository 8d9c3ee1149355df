/* sqtt.h: the thread trace that a shader engine of gfx11 writes (SQTT): packets of 1 to
 * 16 nibbles, each with the cycles since the one before it.
 *
 * Source of the layout: tinygrad/renderer/amd/sqtt.py, src/amd/common of Mesa.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TIMING_SQTT_H
#define RD_TIMING_SQTT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sqtt_kind {
    SQTT_OTHER,
    SQTT_HEADER,
    SQTT_WAVE_START,
    SQTT_WAVE_END,
    SQTT_VALU,      /* a VALU instruction */
    SQTT_INST,      /* another, op says which */
    SQTT_IMMEDIATE, /* one that is handled where it is fetched; of several waves: mask
                     */
    SQTT_REGISTER,  /* was written */
    SQTT_CLOCK,     /* what the clock of 100 MHz says */
};

/* Of SQTT_INST. */
enum {
    SQTT_OP_JUMP = 3,
    SQTT_OP_JUMP_NOT = 4,
    SQTT_OP_CALL = 5,
    SQTT_OP_OTHER_FIRST = 0x50, /* memory instructions of other SIMDs */
    SQTT_OP_OTHER_LAST = 0x66,
};

struct sqtt_packet {
    uint8_t kind;
    int64_t t; /* shader clocks */
    uint8_t sa, wgp, simd, slot, op;
    uint16_t mask;  /* slots, of SQTT_IMMEDIATE */
    uint16_t reg;   /* of SQTT_REGISTER: offset from SH registers; 0: another kind */
    bool user;      /* of it: words that drivers write into the trace */
    uint32_t value; /* of it */
    uint64_t clock; /* of SQTT_CLOCK */
    uint8_t layout; /* of SQTT_HEADER, as are simd and wgp: 3 is gfx11 */
};

struct sqtt_reader {
    const uint8_t *data;
    size_t bytes, nibble;
    int64_t t;
};

/* The next packet; false: there is none. */
bool sqtt_next(struct sqtt_reader *r, struct sqtt_packet *out);

/* Bytes of a trace that others may follow: to the next header. */
size_t sqtt_length(const uint8_t *data, size_t bytes);

#endif
