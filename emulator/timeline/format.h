/* format.h: the timeline file. Private to emulator/timeline.
 *
 * "RDNA3TL1", then chunks: u32 codec, u32 raw bytes, u32 packed bytes, the bytes.
 * Little endian. The raw bytes of all chunks are one sequence of records, none of which
 * crosses a chunk: u8 kind, v length, the record. v: unsigned LEB128; z: the same of a
 * zigzag number; t: v length, bytes. A file may grow while it is read.
 *
 *   TABLES    v n, n t: names of stalls, by number; v n, n t: names of counters
 *   DISPATCH  t kernel, then the fields of struct tm_machine in the order of fields.def
 *   INST      v id, v offset, u8 bytes, class, pipe, registers, the code bytes, t text
 *   WAVE      v number, v wg[3], v wave, u8 se, sa, wgp, simd, slot, v start
 *   STEPS     v wave, steps until the record's end
 *   END       v wave, waits until the record's end: the wave has left
 *   SAMPLE    v time since the last sample, by counter: v difference
 *   FINISH    v time, z status
 *   CLOSE     nothing more comes
 *
 * A step: u8 head (HEAD_*), waits (their number in the head; HEAD_MANY: v number), v
 * instruction id unless HEAD_NEXT (the id after the last one of the wave), z (execution
 * - issue) if HEAD_EXEC.
 * A wait: u8 stall | 128 if an instruction is named, v cycles, v its id.
 * SPDX-License-Identifier: MIT
 */
#ifndef TL_FORMAT_H
#define TL_FORMAT_H

#define TL_MAGIC "RDNA3TL1"

enum tl_record {
    TL_TABLES = 1,
    TL_DISPATCH,
    TL_INST,
    TL_WAVE,
    TL_STEPS,
    TL_END,
    TL_SAMPLE,
    TL_FINISH,
    TL_CLOSE
};

#define HEAD_SKIPPED 1u /* the two flags as in TM_STEP_* */
#define HEAD_TAKEN   2u
#define HEAD_WAITS   12u /* shifted by 2: 0, 1, 2, HEAD_MANY */
#define HEAD_MANY    3u
#define HEAD_NEXT    16u
#define HEAD_EXEC    32u
#define HEAD_FREE    64u /* it takes no cycle: TM_STEP_FREE */

#define TL_CHUNK_BYTES (256u << 10) /* flushed when it has so many */
#define TL_CHUNK_LIMIT (64u << 20)  /* more raw bytes are not believed */
#define TL_MAX_IDS     (1u << 24)

#endif
