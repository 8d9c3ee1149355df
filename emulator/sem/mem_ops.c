/* mem_ops.c: what memory operations do to values (manual chapters 10 to 13, 16.15-20).
 *
 * One function serves FLAT, GLOBAL, SCRATCH, BUFFER and LDS (join.c derives the names).
 * Addresses, checks and lanes are mem.c's.
 * SPDX-License-Identifier: MIT
 */
#include "fp.h"
#include "lane.h"

/* clang-format off */
MEM_LOAD(load_u8, 1, U32 mem) { return mem & 0xff; }
MEM_LOAD(load_i8, 1, U32 mem) { return (U32)(int8_t)mem; }
MEM_LOAD(load_u16, 2, U32 mem) { return mem & 0xffff; }
MEM_LOAD(load_i16, 2, U32 mem) { return (U32)(int16_t)mem; }

/* D16: the other half of the register stays */
MEM_LOAD(load_d16_u8, 1, U32 mem, U32 old) { return (old & 0xffff0000u) | (mem & 0xff); }
MEM_LOAD(load_d16_i8, 1, U32 mem, U32 old) { return (old & 0xffff0000u) | (U16)(int8_t)mem; }
MEM_LOAD(load_d16_b16, 2, U32 mem, U32 old) { return (old & 0xffff0000u) | (mem & 0xffff); }
MEM_LOAD(load_d16_hi_u8, 1, U32 mem, U32 old) { return (old & 0xffffu) | (mem & 0xff) << 16; }
MEM_LOAD(load_d16_hi_i8, 1, U32 mem, U32 old) { return (old & 0xffffu) | (U32)(U16)(int8_t)mem << 16; }
MEM_LOAD(load_d16_hi_b16, 2, U32 mem, U32 old) { return (old & 0xffffu) | mem << 16; }

MEM_STORE(store_b8, 1, U32 reg) { return reg; }
MEM_STORE(store_b16, 2, U32 reg) { return reg; }
MEM_STORE(store_d16_hi_b8, 1, U32 reg) { return reg >> 16; }
MEM_STORE(store_d16_hi_b16, 2, U32 reg) { return reg >> 16; }

MEM_WIDE(load_b32, 4)
MEM_WIDE(load_b64, 8)
MEM_WIDE(load_b96, 12)
MEM_WIDE(load_b128, 16)
MEM_WIDE(store_b32, 4)
MEM_WIDE(store_b64, 8)
MEM_WIDE(store_b96, 12)
MEM_WIDE(store_b128, 16)
MEM_WIDE(load_addtid_b32, 4)
MEM_WIDE(store_addtid_b32, 4)
MEM_WIDE(s_buffer_load_b32, 4)
MEM_WIDE(s_buffer_load_b64, 8)
MEM_WIDE(s_buffer_load_b128, 16)
MEM_WIDE(s_buffer_load_b256, 32)
MEM_WIDE(s_buffer_load_b512, 64)
MEM_WIDE(s_load_b32, 4)
MEM_WIDE(s_load_b64, 8)
MEM_WIDE(s_load_b128, 16)
MEM_WIDE(s_load_b256, 32)
MEM_WIDE(s_load_b512, 64)

/* BUFFER and TBUFFER with format conversion (formats.c) */
MEM_FORMAT(load_format_x, 1)
MEM_FORMAT(load_format_xy, 2)
MEM_FORMAT(load_format_xyz, 3)
MEM_FORMAT(load_format_xyzw, 4)
MEM_FORMAT(load_d16_format_x, 1)
MEM_FORMAT(load_d16_format_xy, 2)
MEM_FORMAT(load_d16_format_xyz, 3)
MEM_FORMAT(load_d16_format_xyzw, 4)
MEM_FORMAT(load_d16_hi_format_x, 1)
MEM_FORMAT(store_format_x, 1)
MEM_FORMAT(store_format_xy, 2)
MEM_FORMAT(store_format_xyz, 3)
MEM_FORMAT(store_format_xyzw, 4)
MEM_FORMAT(store_d16_format_x, 1)
MEM_FORMAT(store_d16_format_xy, 2)
MEM_FORMAT(store_d16_format_xyz, 3)
MEM_FORMAT(store_d16_format_xyzw, 4)
MEM_FORMAT(store_d16_hi_format_x, 1)

MEM_ATOMIC(atomic_swap_b32, U32, U32 mem, U32 data) { (void)mem; return data; }
MEM_ATOMIC(atomic_cmpswap_b32, U32, U32 mem, U32 data, U32 cmp) { return mem == cmp ? data : mem; }
MEM_ATOMIC(atomic_add_u32, U32, U32 mem, U32 data) { return mem + data; }
MEM_ATOMIC(atomic_sub_u32, U32, U32 mem, U32 data) { return mem - data; }
MEM_ATOMIC(atomic_rsub_u32, U32, U32 mem, U32 data) { return data - mem; }
MEM_ATOMIC(atomic_csub_u32, U32, U32 mem, U32 data) { return mem < data ? 0 : mem - data; }
MEM_ATOMIC(atomic_min_i32, I32, I32 mem, I32 data) { return mem < data ? mem : data; }
MEM_ATOMIC(atomic_min_u32, U32, U32 mem, U32 data) { return mem < data ? mem : data; }
MEM_ATOMIC(atomic_max_i32, I32, I32 mem, I32 data) { return mem > data ? mem : data; }
MEM_ATOMIC(atomic_max_u32, U32, U32 mem, U32 data) { return mem > data ? mem : data; }
MEM_ATOMIC(atomic_and_b32, U32, U32 mem, U32 data) { return mem & data; }
MEM_ATOMIC(atomic_or_b32, U32, U32 mem, U32 data) { return mem | data; }
MEM_ATOMIC(atomic_xor_b32, U32, U32 mem, U32 data) { return mem ^ data; }
MEM_ATOMIC(atomic_inc_u32, U32, U32 mem, U32 data) { return mem >= data ? 0 : mem + 1; }
MEM_ATOMIC(atomic_dec_u32, U32, U32 mem, U32 data) { return mem == 0 || mem > data ? data : mem - 1; }
/* bits of mem selected by mask are cleared, then data ORed in */
MEM_ATOMIC(atomic_mskor_b32, U32, U32 mem, U32 mask, U32 data) { return (mem & ~mask) | data; }
MEM_ATOMIC(atomic_wrap_b32, U32, U32 mem, U32 data, U32 wrap) { return mem >= data ? mem - data : mem + wrap; }

MEM_ATOMIC(atomic_swap_b64, U64, U64 mem, U64 data) { (void)mem; return data; }
MEM_ATOMIC(atomic_cmpswap_b64, U64, U64 mem, U64 data, U64 cmp) { return mem == cmp ? data : mem; }
MEM_ATOMIC(atomic_add_u64, U64, U64 mem, U64 data) { return mem + data; }
MEM_ATOMIC(atomic_sub_u64, U64, U64 mem, U64 data) { return mem - data; }
MEM_ATOMIC(atomic_rsub_u64, U64, U64 mem, U64 data) { return data - mem; }
MEM_ATOMIC(atomic_min_i64, I64, I64 mem, I64 data) { return mem < data ? mem : data; }
MEM_ATOMIC(atomic_min_u64, U64, U64 mem, U64 data) { return mem < data ? mem : data; }
MEM_ATOMIC(atomic_max_i64, I64, I64 mem, I64 data) { return mem > data ? mem : data; }
MEM_ATOMIC(atomic_max_u64, U64, U64 mem, U64 data) { return mem > data ? mem : data; }
MEM_ATOMIC(atomic_and_b64, U64, U64 mem, U64 data) { return mem & data; }
MEM_ATOMIC(atomic_or_b64, U64, U64 mem, U64 data) { return mem | data; }
MEM_ATOMIC(atomic_xor_b64, U64, U64 mem, U64 data) { return mem ^ data; }
MEM_ATOMIC(atomic_inc_u64, U64, U64 mem, U64 data) { return mem >= data ? 0 : mem + 1; }
MEM_ATOMIC(atomic_dec_u64, U64, U64 mem, U64 data) { return mem == 0 || mem > data ? data : mem - 1; }
MEM_ATOMIC(atomic_mskor_b64, U64, U64 mem, U64 mask, U64 data) { return (mem & ~mask) | data; }
/* each dword of data with bit 31 set replaces that dword of mem, bit 31 cleared */
MEM_ATOMIC(atomic_condxchg32_b64, U64, U64 mem, U64 data)
{
    U64 lo = data & 0x80000000u ? data & 0x7fffffffu : mem & 0xffffffffu;
    U64 hi = data >> 63 ? data >> 32 & 0x7fffffffu : mem >> 32;
    return lo | hi << 32;
}
/* clang-format on */

/* ---- float atomics (manual chapter 13); data is the first source */

/* The host's float mode rounds to nearest and flushes as the memory does. */
MEM_ATOMIC(atomic_add_f32, F32, F32 mem, F32 data)
{
    return fp_add32(data, mem);
}

/* Flushing applies to what is compared and to what a comparison stores. */
MEM_ATOMIC(atomic_cmpswap_f32, F32, F32 mem, F32 data, F32 cmp,
           const struct lane_mode *m)
{
    return fp_in32(mem, m) == fp_in32(cmp, m) ? fp_in32(data, m) : mem;
}

MEM_ATOMIC(atomic_cmpswap_f64, F64, F64 mem, F64 data, F64 cmp,
           const struct lane_mode *m)
{
    return fp_in64(mem, m) == fp_in64(cmp, m) ? fp_in64(data, m) : mem;
}

/* A signalling NaN wins and becomes quiet; a quiet one loses; -0 is below +0. The
 * result is one of the two as it was. */
static inline F32 pick32(F32 a, F32 b, bool first)
{
    F32 r = fp_nan32(b) || (first && !fp_nan32(a)) ? a : b;
    r = fp_snan32(b) ? fp_quiet32(b) : r;
    return fp_snan32(a) ? fp_quiet32(a) : r;
}

static inline F64 pick64(F64 a, F64 b, bool first)
{
    F64 r = fp_nan64(b) || (first && !fp_nan64(a)) ? a : b;
    r = fp_snan64(b) ? fp_quiet64(b) : r;
    return fp_snan64(a) ? fp_quiet64(a) : r;
}

MEM_ATOMIC(atomic_min_f32, F32, F32 mem, F32 data, const struct lane_mode *m)
{
    return pick32(data, mem, fp_key32(fp_in32(data, m)) < fp_key32(fp_in32(mem, m)));
}

MEM_ATOMIC(atomic_max_f32, F32, F32 mem, F32 data, const struct lane_mode *m)
{
    return pick32(data, mem, fp_key32(fp_in32(data, m)) > fp_key32(fp_in32(mem, m)));
}

MEM_ATOMIC(atomic_min_f64, F64, F64 mem, F64 data, const struct lane_mode *m)
{
    return pick64(data, mem, fp_key64(fp_in64(data, m)) < fp_key64(fp_in64(mem, m)));
}

MEM_ATOMIC(atomic_max_f64, F64, F64 mem, F64 data, const struct lane_mode *m)
{
    return pick64(data, mem, fp_key64(fp_in64(data, m)) > fp_key64(fp_in64(mem, m)));
}

#include "mem_ops.inc"
