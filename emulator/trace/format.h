/* format.h: the layout of a trace file.
 *
 * All numbers little-endian. File: header, chunks, end. A chunk can be decoded from its
 * definitions and those of the chunks before; what its events are predicted from starts
 * afresh in it.
 *
 *   header   8 bytes "RDTRACE1", u32 flags (TRACE_HAS_*), u32 codec of chunks
 *   chunk    u32 TRACE_CHUNK, u32 events, u32 raw bytes, u32 packed bytes, u32 checksum
 *            of the raw bytes, packed bytes. Raw: u32 size of each section, the
 * sections end      u32 TRACE_END, u32 0, u64 events in all
 *
 * Sections (v: varint of 7 bits a byte, low first; z: zigzag varint):
 *   DEFS    dispatches, instructions, waves, in order; each kind numbered from 0: v
 *           enum trace_def, then the fields as v; behind an instruction's its bytes
 *   SLICES  z wave - wave of the slice before, v events: who runs, how long
 *   CTL     per event: v (z(instruction - (wave's last + 1)) << 2 | EXEC << 1 | flags);
 *           with EXEC: v of (new EXEC ^ the last one of the wave; first: all lanes)
 *           with flags: u8 EMU_EV_*; if taken: z (next PC - PC behind) / 4
 *   MEMORY  per event of a memory instruction: u8 accesses; see encode.c
 *   VALUES  per event, registers in, then out: see encode.c
 *   TIME    per event: z (time - the wave's last); empty if all are 0
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TRACE_FORMAT_H
#define RD_TRACE_FORMAT_H

#include <stdint.h>
#include <stdlib.h>

#include "event.h"

#define TRACE_MAGIC "RDTRACE1"
#define TRACE_CHUNK 0x4b4e4843u
#define TRACE_END   0x20444e45u

#define TRACE_HAS_VALUES 1u
#define TRACE_FLAGS_ALL  1u

/* A chunk is closed when it is this big. */
#define TRACE_CHUNK_EVENTS 65536u
#define TRACE_CHUNK_BYTES  (1u << 20)
/* Nothing bigger is believed: a chunk's last event may be large, but not that large. */
#define TRACE_MAX_RAW (64u << 20)

enum trace_section {
    TRACE_DEFS,
    TRACE_SLICES,
    TRACE_CTL,
    TRACE_MEMORY,
    TRACE_VALUES,
    TRACE_TIME,
    TRACE_SECTIONS
};

enum trace_def {
    TRACE_DEF_DISPATCH = 1,
    TRACE_DEF_INST,
    TRACE_DEF_WAVE,
    TRACE_DEF_DONE
};

/* CTL bits below the instruction */
#define TRACE_CTL_FLAGS 1u
#define TRACE_CTL_EXEC  2u

/* First byte of an access */
#define TRACE_MEM_META  1u /* what sort of access follows, else as the last time */
#define TRACE_MEM_LANES 2u /* v of the lanes follows, else EXEC */
#define TRACE_MEM_SHAPE                                                                \
    4u /* same lanes, same distances as the last time: none follow */

/* Second byte if TRACE_MEM_META: space in the low bits, and these */
#define TRACE_META_SPACE  3u
#define TRACE_META_READ   4u
#define TRACE_META_WRITE  8u
#define TRACE_META_SCALAR 16u

/* What an access is predicted from: the same access of the instruction's last execution
 * in this chunk. */
struct trace_mem_state {
    uint64_t first;     /* address of the first lane */
    uint64_t lanes;     /* 0: no shape yet */
    uint64_t shape[64]; /* addresses whose distances are the last ones written out */
    uint16_t bytes;
    uint8_t meta;
};
#define TRACE_MEM_STATES 2 /* accesses beyond share the last one */

struct trace_inst_state {
    uint32_t chunk;              /* that the state is of */
    struct trace_mem_state *mem; /* [TRACE_MEM_STATES], once memory was accessed */
};

/* Make the state that of a chunk; false if out of memory. */
static inline bool trace_inst_enter(struct trace_inst_state *is, uint32_t chunk)
{
    if (is->chunk == chunk)
        return true;
    if (!is->mem)
        is->mem = calloc(TRACE_MEM_STATES, sizeof *is->mem);
    if (!is->mem)
        return false;
    for (unsigned i = 0; i < TRACE_MEM_STATES; i++)
        is->mem[i] = (struct trace_mem_state){.lanes = 0};
    is->chunk = chunk;
    return true;
}

struct trace_wave_state {
    uint32_t chunk;
    uint32_t inst; /* the last one's number + 1 */
    uint64_t exec;
    uint64_t time;
};

static inline uint64_t trace_all_lanes(uint32_t lanes)
{
    return lanes == 64 ? ~UINT64_C(0) : UINT32_MAX;
}

static inline uint32_t trace_checksum(const uint8_t *p, size_t n)
{
    uint64_t h = 0x9e3779b97f4a7c15u ^ n;
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t v = 0;
        __builtin_memcpy(&v, p, 8);
        h = (h ^ v) * 0xff51afd7ed558ccdu;
        h ^= h >> 29;
    }
    for (; n; n--, p++)
        h = (h ^ *p) * 0xff51afd7ed558ccdu;
    return (uint32_t)(h ^ h >> 32);
}

#endif
