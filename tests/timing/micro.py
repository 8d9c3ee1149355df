"""Microbenchmarks, one mechanism each: what the timing model gives beside the value that
was published, or measured on the real chip.

usage: micro.py RDNA3 [NAME ...]

A value is the slope of two slopes: a loop with a body of N operations and one of 3 N, each
run for two trip counts, so that launch, cold code and the loop itself cancel. Exit status
1 if a value lies outside its tolerance."""
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

MHZ = 2500
HEAD = """
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.p2align 8
	.globl k
	.type k,@function
	.rodata
	.p2align 6
	.amdhsa_kernel k
		.amdhsa_user_sgpr_count %(user)d
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_group_segment_fixed_size %(lds)d
		.amdhsa_private_segment_fixed_size %(scratch)d
		.amdhsa_enable_private_segment %(private)d
		.amdhsa_next_free_vgpr %(vgprs)d
		.amdhsa_next_free_sgpr 32
		.amdhsa_wavefront_size32 %(wave32)d
		.amdhsa_workgroup_processor_mode %(wgp)d
	.end_amdhsa_kernel
	.text
k:
	s_load_b128 s[4:7], s[0:1], 0x0
	s_waitcnt lgkmcnt(0)
	s_mov_b32 s20, s6
"""
TAIL = """
	s_sub_u32 s20, s20, 1
	s_cmp_lg_u32 s20, 0
	s_cbranch_scc1 loop
	s_endpgm
.Lend:
	.size k, .Lend-k
	.amdgpu_metadata
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx1100
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: %(lds)d
    .private_segment_fixed_size: %(scratch)d
    .wavefront_size: %(wave)d
    .sgpr_count: 32
    .vgpr_count: %(vgprs)d
    .max_flat_workgroup_size: 1024
    .args:
      - {.address_space: global, .offset: 0, .size: 8, .value_kind: global_buffer}
      - {.offset: 8, .size: 4, .value_kind: by_value}
      - {.offset: 12, .size: 4, .value_kind: by_value}
	.end_amdgpu_metadata
"""


class Bench:
    """One row: body operations as a function of their index; value in cycles each."""

    def __init__(self, name, want, source, op, tolerance=3.0, setup="", n=32, trips=(8, 24),
                 block=32, grid=1, wave=32, vgprs=128, lds=0, scratch=0, chain=0, buffer=4096,
                 unit="cycles", convert=None, mask="1,0,0,0,0,0", warm=0, wgp=0, user=2, sets=()):
        self.__dict__.update(locals())


def vadd(i):
    return "v_add_f32 v%d, v%d, v%d" % (8 + i % 16, 33 + i % 7 * 2, 50)


def delayed(text, dep):
    return lambda i: text + "\n\ts_delay_alu instid0(%s)" % dep


def strided(dwords):
    return "v_mul_u32_u24 v1, %d, v0\n" % (4 * dwords)


def wait(text, counter):
    return lambda i: text + "\n\ts_waitcnt %s(0)" % counter


ALL = "ffffffff,ffffffff,ffffffff,ffffffff,ffffffff,ffffffff"
STEP = 96 * 256 * 16 # bytes that one load of all waves reads
SMALL = "gl2_bytes=393216", "mall_bytes=1572864"
STREAM = "s_lshl_b32 s2, s2, 12\n\tv_lshlrev_b32 v1, 4, v0\n\tv_add_nc_u32 v1, s2, v1\n"


def stream(i, again):
    return ((again if i == 0 else "") + "global_load_b128 v[%d:%d], v1, s[4:5]\n" % (8 + i % 8 * 4, 11 + i % 8 * 4) +
            "\ts_add_u32 s4, s4, %d\n\ts_addc_u32 s5, s5, 0" % STEP + ("\n\ts_waitcnt vmcnt(0)" if i % 8 == 7 else ""))


def window(size):
    """Loads of 16 bytes a lane that walk round and round a window of the buffer; every
    workgroup begins elsewhere in it."""
    return (lambda i: "s_add_u32 s22, s22, 0x2000\n\ts_and_b32 s22, s22, 0x%x\n\ts_add_u32 s24, s4, s22\n"
            "\ts_addc_u32 s25, s5, 0\n\tglobal_load_b128 v[%d:%d], v1, s[24:25]" %
            (size - 1, 8 + i % 16 * 4, 11 + i % 16 * 4) + ("\n\ts_waitcnt vmcnt(8)" if i % 8 == 7 else ""))


def curve(name, size, want, source, n=8, trips=(2, 6), tolerance=5.0):
    """The whole chip reads a window of so many bytes: bytes a cycle."""
    return Bench("read, %s, bytes/clk" % name, want, source, window(size), setup="v_lshlrev_b32 v1, 4, v0\n\t"
                 "s_mul_i32 s22, s2, 0x%x\n\ts_and_b32 s22, s22, 0x%x\n" % (size // 96 & ~8191 or 8192, size - 1),
                 n=n, trips=trips, grid=96, block=512, mask=ALL, buffer=max(size, 65536), unit="B/clk",
                 convert=lambda x: 96 * 512 * 16 / x, tolerance=tolerance)


def waves(k):
    """A chain of VALU instructions in k waves of each SIMD."""
    return Bench("VALU, chain, %d waves of a SIMD" % k, max(1, 5 / k), TRACE + ": one wave's step is 5",
                 delayed("v_add_f32 v1, v1, v50", "VALU_DEP_1"), block=64 * k, vgprs=64,
                 convert=lambda x: x / k, tolerance=4)


GLOBAL = wait("global_load_b32 v1, v1, s[4:5]", "vmcnt")
# What a compiler makes of i = a[i]: the published chases have it.
INDEXED = wait("v_mov_b32 v3, 0\n\ts_delay_alu instid0(VALU_DEP_1)\n\tv_lshlrev_b64 v[2:3], 0, v[2:3]\n"
               "\ts_delay_alu instid0(VALU_DEP_1)\n\tv_add_co_u32 v2, vcc_lo, s4, v2\n"
               "\tv_add_co_ci_u32 v3, vcc_lo, s5, v3, vcc_lo\n\tglobal_load_b32 v2, v[2:3], off", "vmcnt")
SCALAR = lambda i: ("s_add_u32 s8, s4, s8\n\ts_addc_u32 s9, s5, 0\n\ts_load_b32 s8, s[8:9], 0x0\n"
                    "\ts_waitcnt lgkmcnt(0)")
# What LLVM puts between a transcendental and its first use.
ROOT = lambda i: ("v_sqrt_f32 v1, v1\n\ts_waitcnt_depctr 0xfff\n\tv_mul_f32 v1, v1, v50\n\t"
                  "s_delay_alu instid0(VALU_DEP_1)")
LANE0 = "v_mov_b32 v1, 0\n"
FAR = wait("global_load_b32 v1, v1, s[4:5] glc", "vmcnt") # past L0 and GL1
TRACE, PUBLISHED = "traces of the chip", "published"
BENCHES = [
    Bench("VALU, independent", 1, TRACE, vadd),
    Bench("VALU, chain, s_delay_alu", 5, TRACE, delayed("v_add_f32 v1, v1, v50", "VALU_DEP_1")),
    Bench("VALU, chain, queued", 5, TRACE, lambda i: "v_add_f32 v1, v1, v50"),
    Bench("64-bit shift, independent", 2, TRACE,
          lambda i: "v_lshlrev_b64 v[%d:%d], 1, v[50:51]" % (8 + i % 8 * 2, 9 + i % 8 * 2)),
    Bench("64-bit shift, chain", 6, TRACE, lambda i: "v_lshlrev_b64 v[2:3], 1, v[2:3]"),
    Bench("32-bit multiply, independent", 4, TRACE,
          lambda i: "v_mul_lo_u32 v%d, v50, v51" % (8 + i % 16)),
    Bench("32-bit multiply, chain", 8, "LLVM 19 GFX11SpeedModel",
          lambda i: "v_mul_lo_u32 v1, v1, v50"),
    Bench("transcendental, independent", 4, TRACE,
          lambda i: "v_exp_f32 v%d, v50" % (8 + i % 16)),
    Bench("transcendental, chain", 10, "LLVM 19 GFX11SpeedModel",
          delayed("v_exp_f32 v1, v1", "TRANS32_DEP_1")),
    Bench("transcendental, its register written by another", 6 + 1, TRACE + ": result 6 behind it, 3 of 3",
          lambda i: ("v_exp_f32 v1, v50", "v_add_f32 v1, v51, v52")[i % 2], convert=lambda x: 2 * x),
    Bench("f64 product, addition of floats", 30 + 5, TRACE + ": results 30 behind another, others 5 behind it",
          lambda i: ("v_mul_f64 v[2:3], v[52:53], v[54:55]", "v_add_f32 v1, v51, v52")[i % 2], n=48, convert=lambda x: 2 * x),
    Bench("f64 root, addition of floats", 30 + 7, TRACE + ": others' results 7 behind a root",
          lambda i: ("v_sqrt_f64 v[2:3], v[52:53]", "v_add_f32 v1, v51, v52")[i % 2], convert=lambda x: 2 * x),
    Bench("comparison to an SGPR, selection by it", 10, TRACE + ": carry through an SGPR, result 5 behind it, 16 of 16",
          lambda i: ("v_cmp_gt_f32 s8, v1, v50", "v_cndmask_b32 v1, v1, v51, s8")[i % 2], n=28, convert=lambda x: 2 * x),
    Bench("comparison to VCC, selection by it", 1 + 5 + 4 / 7, TRACE + ": carries of 64-bit additions, 1 behind; 4 more for "
          "seven on their way",
          lambda i: ("v_cmp_gt_f32 vcc_lo, v1, v50", "v_cndmask_b32 v1, v1, v51, vcc_lo")[i % 2], n=28, convert=lambda x: 2 * x),
    Bench("comparison to an SGPR, SALU overwrites it", 8 + 9 + 9, TRACE + ": SALU 9 behind the result, VALU 9 from its issue",
          lambda i: ("v_cmp_gt_f32 s8, v50, v51", "s_mov_b32 s8, s6")[i % 2], convert=lambda x: 2 * x),
    Bench("two halves of a register", 1, TRACE + ": the half that is not written is not waited for",
          lambda i: "v_fma_mix%s_f16 v8, v50, v51, v52" % ("lo", "hi")[i % 2]),
    Bench("the same of any 16-bit instruction", 1, "as those",
          lambda i: "v_add_nc_u16 v8, v50, v51" + ("", " op_sel:[0,0,1]")[i % 2]),
    Bench("f64 fma, independent", 32, TRACE + "; rate 1/32 published",
          lambda i: "v_fma_f64 v[%d:%d], v[50:51], v[52:53], v[54:55]" % (8 + i % 8 * 2, 9 + i % 8 * 2)),
    Bench("the same, 2 workgroups of 2 waves on each of 2 WGPs", 32, TRACE + ": each wave on the SIMD that has fewest",
          lambda i: "v_fma_f64 v[%d:%d], v[40:41], v[42:43], v[44:45]" % (8 + i % 8 * 2, 9 + i % 8 * 2), n=16, wgp=1, grid=4,
          block=64, mask="f,0,0,0,0,0"),
    Bench("f64 fma, chain", 38, "LLVM 19 GFX11SpeedModel",
          lambda i: "v_fma_f64 v[2:3], v[2:3], v[52:53], v[54:55]"),
    Bench("three sources of one bank", 1.5, TRACE,
          lambda i: "v_fma_f32 v%d, v%d, v%d, v%d" % (8 + i % 16, 32 + i % 4 * 2, 42 + i % 4 * 2, 52 + i % 4 * 2)),
    Bench("three sources of two banks", 1, TRACE,
          lambda i: "v_fma_f32 v%d, v%d, v%d, v%d" % (8 + i % 16, 32 + i % 4 * 2, 43 + i % 4 * 2, 52 + i % 4 * 2)),
    Bench("pair (VOPD)", 1, TRACE,
          lambda i: "v_dual_mul_f32 v%d, v%d, v%d :: v_dual_mul_f32 v%d, v%d, v%d" %
          (8 + i % 8 * 2, 32, 42, 9 + i % 8 * 2, 33, 43)),
    Bench("64-bit addition and a move, 8 waves", 14 / 12, TRACE + ": 8 carries in 14 cycles",
          lambda i: ("v_add_co_u32 v8, vcc_lo, s4, v33", "v_add_co_ci_u32 v9, vcc_lo, s5, v36, vcc_lo",
                     "v_mov_b32 v11, v40")[i % 3], n=36, block=512, convert=lambda x: x / 8, tolerance=8),
    Bench("pair (VOPD), chain", 5, TRACE, lambda i:
          "v_dual_mul_f32 v8, v8, v42 :: v_dual_mul_f32 v9, v9, v43"),
    Bench("packed f16, chain", 5, TRACE, lambda i: "v_pk_fma_f16 v8, v8, v42, v43"),
    waves(2), waves(4), waves(5), waves(10), waves(15),
    Bench("VALU, wave64, addition of integers", 2, "manual 2.1: two passes",
          lambda i: vadd(i).replace("add_f32", "add_nc_u32"), wave=64, block=64),
    Bench("VALU, wave64, addition of floats", 1, "AMD: a wave64 has both ALUs that pairs have", vadd, wave=64, block=64),
    Bench("transcendental, wave64, independent", 8, "derived: two halves, 4 apart", lambda i: "v_exp_f32 v%d, v50" %
          (8 + i % 16), wave=64, block=64),
    Bench("transcendental, wave64, chain", 10 + 4, "derived: behind the second half, 4 after the first",
          lambda i: "v_exp_f32 v1, v1", wave=64, block=64),
    Bench("transcendental, wave64, product behind it", 4 + 10 + 5, "derived: the same, and 5 to the next",
          lambda i: ("v_exp_f32 v1, v1", "v_mul_f32 v1, v1, v51")[i % 2], wave=64, block=64, convert=lambda x: 2 * x),
    Bench("32-bit multiply, wave64, chain", 8 + 4, "derived: two halves, 4 apart",
          lambda i: "v_mul_lo_u32 v1, v1, v51", wave=64, block=64),
    Bench("f64 fma, wave64, chain", 38 + 32, "derived: two halves, 32 apart",
          lambda i: "v_fma_f64 v[2:3], v[2:3], v[52:53], v[54:55]", wave=64, block=64),
    Bench("WMMA f16", 32, PUBLISHED + " peak; " + TRACE + ": 34",
          lambda i: "v_wmma_f32_16x16x16_f16 v[%d:%d], v[64:71], v[72:79], v[%d:%d]" %
          (8 + i % 4 * 8, 15 + i % 4 * 8, 8 + i % 4 * 8, 15 + i % 4 * 8), tolerance=7),
    Bench("WMMA iu4", 16, PUBLISHED + " peak; " + TRACE + ": 18",
          lambda i: "v_wmma_i32_16x16x16_iu4 v[%d:%d], v[64:65], v[66:67], v[%d:%d]" %
          (8 + i % 4 * 8, 15 + i % 4 * 8, 8 + i % 4 * 8, 15 + i % 4 * 8), tolerance=13),
    Bench("SALU, independent", 1, TRACE, lambda i: "s_mov_b32 s%d, 1" % (8 + i % 8)),
    Bench("SALU, chain", 2, TRACE, lambda i: "s_add_u32 s8, s8, 3", tolerance=5),
    Bench("s_mul, chain", 3, TRACE, lambda i: "s_mul_i32 s8, s8, s8"),
    Bench("s_nop", 1, TRACE, lambda i: "s_nop 0"),
    Bench("s_nop 15", 16, "manual 16.5: SIMM16[3:0] + 1 cycles", lambda i: "s_nop 15"),
    Bench("square root, s_waitcnt_depctr, product", 18 + 5 + 5, TRACE + ": the VALU of a wave has run dry, as for its "
          "memory instructions, 17 from the issue, and 5 more to the register of a transcendental", ROOT),
    Bench("the same, 6 waves of a SIMD", 28 / 6, "derived: a wave waits for itself alone", ROOT, block=384,
          convert=lambda x: x / 6),
    Bench("comparison, branch on it, not taken", 7 + 3, "derived: the SALU's result as to VALU and scalar memory, 7 from "
          "the issue; " + TRACE + ": 3 behind the branch", lambda i: "s_cmp_lg_u32 s6, s6\n\ts_cbranch_scc1 .Lb%d\n.Lb%d:" %
          (i, i)),
    Bench("EXEC by the SALU, addition behind it", 9 + 1, "derived: as an SGPR, 5 from the result", lambda i:
          "s_or_b32 exec_lo, exec_lo, s6\n\t" + vadd(i)),
    Bench("address by the SALU, LDS load behind it", 9 + 1, "derived: as for the VALU, 5 from the result",
          lambda i: "s_add_u32 m0, s6, s7\n\tds_load_addtid_b32 v%d" % (8 + i % 16), lds=1024),
    Bench("taken branch", 27, TRACE, lambda i: "s_branch .Lb%d\n\ts_nop 0\n.Lb%d:" % (i, i)),
    Bench("barrier, 3 waves", 14, TRACE + ": 12 to 14 after the last", lambda i: "s_barrier",
          block=96, tolerance=8),
] + [
    Bench("barrier, %d waves" % n, 2 * n + 7, TRACE + ": pairs of a SIMD arrive 8 apart, 12 after the last",
          lambda i: "s_barrier", block=32 * n, vgprs=48, tolerance=8)
    for n in (8, 16, 32)
] + [
    Bench("ds_bpermute, chain", 36, TRACE + ": 35 to the wait's end", wait("ds_bpermute_b32 v1, v1, v1", "lgkmcnt"),
          setup=LANE0),
    Bench("LDS float addition, chain", 64, TRACE, wait("ds_add_rtn_f32 v2, v1, v2", "lgkmcnt"), setup=LANE0, lds=4096,
          tolerance=4),
    Bench("LDS load, chase", 32, TRACE + ": 31 to the wait's end", wait("ds_load_b32 v1, v1", "lgkmcnt"),
          setup=LANE0, lds=4096),
] + [
    Bench("LDS load, stride %d dwords, 4 waves" % s, 4 * c, "manual 12.1: 32 banks",
          lambda i: "ds_load_b32 v%d, v1" % (8 + i % 32) + ("\n\ts_waitcnt lgkmcnt(0)" if i % 32 == 31 else ""),
          setup=strided(s), lds=65536, n=64, block=128,
          tolerance=5)  # the youngest wave has the LDS for itself in the end
    for s, c in ((1, 1), (2, 2), (4, 4), (8, 8), (16, 16), (32, 32), (33, 1))
] + [
    Bench("LDS store, stride %d dwords, 4 waves" % s, 4 * c, "manual 12.1: 32 banks",
          lambda i: "ds_store_b32 v1, v%d" % (8 + i % 32) + ("\n\ts_waitcnt lgkmcnt(0)" if i % 32 == 31 else ""),
          setup=strided(s), lds=65536, n=64, block=128, tolerance=8)
    for s, c in ((2, 2), (8, 8), (32, 32))
] + [
    Bench("LDS load of 16 bytes, 4 waves%s" % text, want, source,
          lambda i: "ds_load_b128 v[%d:%d], v1" % (8 + i % 16 * 4, 11 + i % 16 * 4) +
          ("\n\ts_waitcnt lgkmcnt(0)" if i % 32 == 31 else ""),
          setup="v_lshlrev_b32 v1, 4, v0\n\t", lds=16384, n=64, block=128, mask="3,0,0,0,0,0", wgp=wgp, tolerance=7)
    for text, want, wgp, source in (
        ("", 24, 0, TRACE + ": ten waves' loads, 6 cycles each on the way to the registers of their CU"),
        (" of 2 CUs, WGP mode", 16, 1, "one half serves both CUs, each has its own way back: matrix multiplies, published"))
] + [
    Bench("LDS load, WGP mode, 4 waves of 2 CUs", 4, "one half serves both CUs: matrix multiplies, published",
          lambda i: "ds_load_b32 v%d, v1" % (8 + i % 32) + ("\n\ts_waitcnt lgkmcnt(0)" if i % 32 == 31 else ""),
          setup=strided(1), lds=16384, n=64, block=128, mask="3,0,0,0,0,0", wgp=1),
    Bench("scalar load, chase", 15.4, PUBLISHED + ", with address arithmetic",
          lambda i: "s_load_b32 s8, s[8:9], 0x0\n\ts_waitcnt lgkmcnt(0)\n\ts_lshl_b32 s8, s8, 2\n"
          "\ts_add_u32 s8, s4, s8\n\ts_addc_u32 s9, s5, 0", setup="s_mov_b64 s[8:9], s[4:5]\n",
          unit="ns", tolerance=10),
    Bench("scalar load, hit", 28, TRACE + ": 27 to the wait's end",
          lambda i: "s_load_b32 s8, s[4:5], 0x0\n\ts_waitcnt lgkmcnt(0)", tolerance=8),
    Bench("scalar load, GL2, chase", 65 * 2.7, PUBLISHED + " for an APU: 65 ns, with address arithmetic", SCALAR,
          setup="s_mov_b32 s8, 0\n", chain=(2 << 20, 128), trips=(600, 800), tolerance=15),
    Bench("scalar load, Infinity Cache, chase", 128.4, PUBLISHED + ", fabric awake, with address arithmetic", SCALAR,
          setup="s_mov_b32 s8, 0\n", chain=(8 << 20, 128), trips=(2060, 2120), unit="ns", tolerance=15),
    Bench("L0 hit, chase", 71, TRACE + ": 70 to the wait's end", GLOBAL, setup=LANE0, chain=(16384, 128),
          trips=(8, 40)),
    Bench("GL1 hit, chase", 135, PUBLISHED + " for the same L0, GL1 of an APU: 50 ns", GLOBAL, setup=LANE0,
          chain=(131072, 128), trips=(96, 160), tolerance=5),
    Bench("GL2 hit, chase", 216, PUBLISHED + " for an APU: 80 ns", GLOBAL, setup=LANE0,
          chain=(2 << 20, 128), trips=(600, 800), tolerance=5),
    Bench("GL1, 7 of 8 ways of it, chase", 135, PUBLISHED + ": 256 KiB an array", GLOBAL, setup=LANE0, chain=(224 << 10, 128),
          trips=(168, 232), tolerance=5),
    Bench("GL1, twice as much, chase", 216, PUBLISHED + ": 256 KiB an array; the rest from the GL2", GLOBAL, setup=LANE0,
          chain=(512 << 10, 128), trips=(384, 512), tolerance=5),
    Bench("GL2, 11 of 12 of it, chase", 216, PUBLISHED + ": 6 MiB", GLOBAL, setup=LANE0, chain=(5632 << 10, 128),
          trips=(1400, 1500), tolerance=5),
    Bench("Infinity Cache, chase", 150.3, PUBLISHED + ", fabric awake", INDEXED, setup="v_mov_b32 v2, 0\n",
          chain=(8 << 20, 128), trips=(2060, 2120), unit="ns", tolerance=5),
    Bench("VRAM, chase", 234.55, PUBLISHED + ", 1 GiB", INDEXED, setup="v_mov_b32 v2, 0\n",
          chain=(128 << 20, 128, 4096), trips=(10, 30), unit="ns", tolerance=5),
    Bench("L0 hit, 8 waves of a SIMD", 71 / 8, TRACE + ": 70 to the wait's end", GLOBAL, setup=LANE0, block=512,
          chain=(16384, 128), trips=(8, 40), convert=lambda x: x / 8, tolerance=13),
    Bench("L0 bandwidth, bytes/clk of a CU", 128, PUBLISHED, lambda i: "global_load_b128 v[%d:%d], v1, s[4:5]" %
          (8 + i % 8 * 4, 11 + i % 8 * 4) + ("\n\ts_waitcnt vmcnt(0)" if i % 16 == 15 else ""),
          setup="v_lshlrev_b32 v1, 4, v0\n", block=512, buffer=8192, unit="B/clk",
          convert=lambda x: 16 * 512 / x, tolerance=8),
    Bench("stores of 512 bytes, 8 waves", 8, TRACE + ": 63 bytes/clk of a CU",
          lambda i: "global_store_b128 v1, v[8:11], s[4:5]", setup="v_lshlrev_b32 v1, 4, v0\n", block=256,
          convert=lambda x: x / 8),
    Bench("stores of 16 bytes a lane, one place, 8 waves", 6, TRACE + ": 6 cycles to send",
          lambda i: "global_store_b128 v[2:3], v[8:11], off", setup="v_mov_b32 v2, s4\n\tv_mov_b32 v3, s5\n",
          block=256, convert=lambda x: x / 8),
    Bench("32 loads in a clause, then a wait", 105 / 32, TRACE + ": 3 + 31 + 70 + 1", lambda i:
          ("s_clause 0x1f\n\t" if i % 32 == 0 else "") + "global_load_b32 v%d, v1, s[4:5]" % (8 + i % 32) +
          ("\n\ts_waitcnt vmcnt(0)" if i % 32 == 31 else ""), setup="v_lshlrev_b32 v1, 2, v0\n", tolerance=5),
    Bench("32 loads one by one, then a wait", 105 / 32, TRACE + ": 31 + 70 + 3 + 1", lambda i: "global_load_b32 v%d, v1, s[4:5]" %
          (8 + i % 32) + ("\n\ts_waitcnt vmcnt(0)" if i % 32 == 31 else ""), setup="v_lshlrev_b32 v1, 2, v0\n", tolerance=5),
    curve("16 KiB (L0)", 16 << 10, 96 * 512 / 5, PUBLISHED + ": 128 a CU, 4 cycles a load; " + TRACE + ": and one for "
          "another wave's", n=16, trips=(2, 4), tolerance=8),
    curve("128 KiB (GL1)", 128 << 10, None, "no figure published; the model has no limit of its own", trips=(2, 5)),
    curve("4 MiB (GL2)", 4 << 20, 3072, PUBLISHED + ", with one line of 16 from the GL1", trips=(5, 9), tolerance=8),
    curve("16 MiB (Infinity Cache)", 16 << 20, 3500 / MHZ * 1000, PUBLISHED + ": 3500 GB/s", n=16, trips=(3, 6), tolerance=8),
    curve("256 MiB (VRAM)", 256 << 20, 960 / MHZ * 1000, PUBLISHED + ": 960 GB/s, nominal", trips=(2, 6)),
    Bench("VRAM bandwidth, bytes/ns", 960, PUBLISHED + ", nominal", lambda i: stream(i, ""), setup=STREAM,
          n=8, trips=(2, 6), grid=96, block=256, mask=ALL, buffer=60 << 20, unit="B/ns",
          convert=lambda x: STEP / x * MHZ / 1000, tolerance=5),
    Bench("Infinity Cache bandwidth, bytes/ns", 3500, PUBLISHED + ", up to", lambda i: stream(
          i, "s_mov_b64 s[4:5], s[22:23]\n\t"), setup="s_mov_b64 s[22:23], s[4:5]\n\t" + STREAM, n=24,
          trips=(2, 4), grid=96, block=256, mask=ALL, buffer=30 << 20, unit="B/ns",
          convert=lambda x: STEP / x * MHZ / 1000, tolerance=5),
    Bench("VRAM, stores alone, bytes/ns", 960, PUBLISHED + ", nominal; what was written comes back from small caches",
          lambda i: "global_store_b128 v1, v[8:11], s[4:5]\n\ts_add_u32 s4, s4, %d\n\ts_addc_u32 s5, s5, 0" % STEP,
          setup=STREAM, n=8, trips=(4, 8), grid=96, block=256, mask=ALL, buffer=120 << 20, unit="B/ns", sets=SMALL,
          convert=lambda x: STEP / x * MHZ / 1000, tolerance=5),
    Bench("VRAM, copy, bytes/ns read and written", 960, PUBLISHED + ", nominal",
          lambda i: stream(i, "") + "\n\tglobal_store_b128 v2, v[8:11], s[4:5]", setup=STREAM +
          "v_add_nc_u32 v2, 0x4000000, v1\n", n=8, trips=(4, 8), grid=96, block=256, mask=ALL, buffer=150 << 20,
          unit="B/ns", sets=SMALL, convert=lambda x: 2 * STEP / x * MHZ / 1000, tolerance=8),
    Bench("global atomic that returns, chase", 216, "manual 4.1.1: device scope, as a GL2 hit",
          wait("global_atomic_add_u32 v2, v1, v2, s[4:5] glc", "vmcnt"), setup="v_lshlrev_b32 v1, 2, v0\n", tolerance=5),
    Bench("the same, 32 lanes at one place", 216 + 31, "derived: one after the other",
          wait("global_atomic_add_u32 v2, v1, v2, s[4:5] glc", "vmcnt"), setup=LANE0, tolerance=5),
    Bench("atomics of 96 CUs at one place, lanes/clk", 1, "derived: one after the other", lambda i:
          "global_atomic_add_u32 v1, v2, s[4:5]" + ("\n\ts_waitcnt_vscnt null, 0x0" if i % 8 == 7 else ""),
          setup=LANE0, n=8, trips=(2, 5), grid=96, mask=ALL, unit="1/clk", convert=lambda x: 96 * 32 / x),
    Bench("63 pages of 2 MiB, GL2 hit, chase", 216, PUBLISHED + ": 1 GiB of VRAM is chased without a miss", FAR, setup=LANE0,
          chain=(128 << 20, (2 << 20) + 4224), trips=(8, 24), tolerance=5),
    Bench("the same, 32 translations in a CU", 216 + 143, TRACE + ": a miss there", FAR, setup=LANE0,
          chain=(128 << 20, (2 << 20) + 4224), trips=(8, 24), tolerance=5, sets=("utcl1_entries=32",)),
    Bench("the same, 32 in the UTCL2 alone", 216 + 143 + 262 + (37 + 90) * MHZ / 1000, TRACE + ": a walk brings eight", FAR,
          setup=LANE0, chain=(128 << 20, 16 << 20, 8), trips=(8, 24), tolerance=5,
          sets=("utcl1_entries=4", "utcl2_entries=32")),
    Bench("load with GLC, chase", 216, "manual 4.1.1: L0 and GL1 are missed, as a GL2 hit",
          wait("global_load_b32 v1, v1, s[4:5] glc", "vmcnt"), setup=LANE0, tolerance=5),
    Bench("load behind buffer_gl0_inv, chase", 135, "manual 4.1.1: the L0 is empty, as a GL1 hit",
          wait("buffer_gl0_inv\n\tglobal_load_b32 v1, v1, s[4:5]", "vmcnt"), setup=LANE0, tolerance=5),
    Bench("image load, L0 hit", 71, "as global memory; no figure published", wait(
          "image_load v2, v1, s[8:15] dmask:0x1 dim:SQ_RSRC_IMG_1D unorm", "vmcnt"), setup=LANE0 +
          "s_lshr_b64 s[8:9], s[4:5], 8\n\ts_or_b32 s9, s9, 0xc1400000\n\ts_mov_b32 s10, 3\n\t"
          "s_mov_b32 s11, 0x80000fac\n\ts_mov_b32 s12, 0\n\ts_mov_b32 s13, 0\n\ts_mov_b64 s[14:15], 0\n", tolerance=5),
    Bench("code of 8 and 24 KiB, 128 bytes", 16, PUBLISHED + ": the instruction cache has 32 KiB; 16 instructions of 8 bytes",
          lambda i: "v_add_f32_e64 v%d, v33, v50" % (8 + i % 16), n=1024, trips=(4, 12), convert=lambda x: 16 * x),
    Bench("code of 40 and 120 KiB, 128 bytes", None, "no figure published; lines from the GL2, 192 bytes ahead",
          lambda i: "v_add_f32_e64 v%d, v33, v50" % (8 + i % 16), n=5120, trips=(1, 3), convert=lambda x: 16 * x),
    Bench("scratch store and load of it, chase", 71, "as global memory; the store does not wait", wait(
          "scratch_store_b32 off, v2, off\n\tscratch_load_b32 v2, off, off", "vmcnt"), scratch=64, tolerance=15),
    Bench("image store of 128 bytes, 8 waves", 2, "as global memory, which " + TRACE + " have at 63 bytes/clk of a CU", lambda i:
          "image_store v2, v1, s[8:15] dmask:0x1 dim:SQ_RSRC_IMG_1D unorm", setup="v_mov_b32 v1, v0\n\t"
          "s_lshr_b64 s[8:9], s[4:5], 8\n\ts_or_b32 s9, s9, 0xc1400000\n\ts_mov_b32 s10, 0x3f\n\t"
          "s_mov_b32 s11, 0x80000fac\n\ts_mov_b32 s12, 0\n\ts_mov_b32 s13, 0\n\ts_mov_b64 s[14:15], 0\n", block=256, tolerance=8,
          convert=lambda x: x / 8),
    Bench("scratch load, L0 hit", 71, "as global memory", wait("scratch_load_b32 v2, off, off", "vmcnt"),
          scratch=64, tolerance=5),
]


def assemble(rdna3, folder, bench, n):
    path = os.path.join(folder, "k.s")
    values = {"lds": bench.lds, "scratch": bench.scratch, "private": bench.scratch > 0,
              "user": bench.user, "vgprs": bench.vgprs, "wgp": bench.wgp, "wave32": bench.wave == 32, "wave": bench.wave}
    with open(path, "w") as f:
        f.write(HEAD % values + "\t" + bench.setup + "loop:\n")
        for i in range(n):
            f.write("\t" + bench.op(i) + "\n")
        f.write(TAIL % values)
    subprocess.run([rdna3, "asm", "-o", path[:-2], path], check=True)
    return path[:-2]


def chain(folder, size, stride, steps=0):
    """A buffer whose words at multiples of the stride form one closed walk of offsets, over
    all of them or so many; the file is sparse."""
    path = os.path.join(folder, "chain-%d-%d" % (size, steps))
    if not os.path.exists(path):
        lines = random.Random(1).sample(range(1, size // stride), (steps or size // stride) - 1)
        lines = [0] + lines
        with open(path, "wb") as f:
            f.truncate(size)
            if not steps:
                data = bytearray(size)
                for a, b in zip(lines, lines[1:] + [0]):
                    struct.pack_into("<I", data, a * stride, b * stride)
                f.write(data)
            for a, b in zip(lines, lines[1:] + [0]) if steps else ():
                f.seek(a * stride)
                f.write(struct.pack("<I", b * stride))
    return "file:" + path


def cycles(rdna3, code, bench, trips, buffer):
    out = subprocess.run(
        [rdna3, "run", code, "--grid", str(bench.grid), "--block", str(bench.block), "--arg", buffer,
         "--arg", "i32:%d" % trips, "--arg", "i32:0", "--timing", "--sclk-mhz", str(MHZ),
         "--cu-mask", bench.mask, *(x for s in bench.sets for x in ("--timing-set", s))], check=True,
        stdout=subprocess.PIPE, text=True).stdout
    return int(re.search(r"^cycles +(\d+)", out, re.M).group(1))


# Waves of a CU: VGPRs, work-items of a workgroup, LDS bytes, waves.
OCCUPANCY = [(24, 64, 0, 32, "16 slots of two SIMDs"), (120, 256, 8192, 24, "published: 12 per SIMD"),
             (216, 128, 9216, 12, "published: 6 per SIMD"), (32, 128, 32768, 8, "two workgroups' LDS"),
             (256, 32, 0, 10, "1536 VGPRs in units of 24: 5 of 264")]


def parameters(rdna3):
    """The model's, by name."""
    text = subprocess.run([rdna3, "info", "--timing"], check=True, stdout=subprocess.PIPE, text=True).stdout
    fields = [line.split()[:2] for line in text.splitlines()]
    return {f[0]: float(f[1]) for f in fields if len(f) == 2 and f[1].replace(".", "").isdigit()}


def issues(rdna3, code, folder, buffer, mhz, *more):
    """When the instructions of the only wave issue, by their offset."""
    out = os.path.join(folder, "out.json")
    subprocess.run([rdna3, "run", code, "--grid", "1", "--block", "32", "--arg", f"buf:{buffer}", "--arg", "i32:1",
                    "--arg", "i32:0", "--timing", "--sclk-mhz", str(mhz), "--timing-insts", "all", "--timing-json", out,
                    *more], check=True, stdout=subprocess.DEVNULL)
    with open(out, encoding="utf-8") as f:
        return dict(json.load(f)["waves"][0]["insts"])


def occupancy(rdna3, folder):
    failed = 0
    for vgprs, block, lds, want, why in OCCUPANCY:
        bench = Bench("", 0, "", lambda i: "s_nop 15", vgprs=vgprs, lds=lds)
        code = assemble(rdna3, folder, bench, 64)
        out = subprocess.run([rdna3, "run", code, "--grid", "64", "--block", str(block), "--arg", "buf:4K",
                              "--arg", "i32:9", "--arg", "i32:0", "--timing", "--cu-mask", "1,0,0,0,0,0"],
                             check=True, stdout=subprocess.PIPE, text=True).stdout
        most = int(re.search(r"at most (\d+) at once", out).group(1))
        failed |= most != want
        print("%-41s %9d %9d %8.1f%s %-7s %s" % ("occupancy, %d VGPRs, %d LDS" % (vgprs, lds), most, want,
              100 * (most - want) / want, "*" if most != want else " ", "waves", why))
    return failed


def measure(rdna3, folder, bench):
    buffer = chain(folder, *bench.chain) if bench.chain else "buf:%d" % bench.buffer
    slope = []
    for n in (bench.n, 3 * bench.n):
        code = assemble(rdna3, folder, bench, n)
        first, last = bench.trips
        if bench.chain: # as many steps whatever the body
            first, last = (t * bench.n // n * 3 for t in bench.trips)
        t = [cycles(rdna3, code, bench, x, buffer) for x in (first, last)]
        slope.append((t[1] - t[0]) / (last - first))
    value = (slope[1] - slope[0]) / (2 * bench.n)
    if bench.convert:
        return bench.convert(value)
    return value * 1000 / MHZ if bench.unit == "ns" else value


def main():
    rdna3, names = sys.argv[1], sys.argv[2:]
    failed = 0
    for n in names:
        if not any(n in bench.name for bench in BENCHES):
            sys.exit("error: no microbenchmark has '%s' in its name" % n)
    print("%-41s %9s %9s %8s  %-7s %s" % ("mechanism", "model", "wanted", "error %", "unit", "source"))
    with tempfile.TemporaryDirectory() as folder:
        for bench in BENCHES:
            if names and not any(n in bench.name for n in names):
                continue
            value = measure(rdna3, folder, bench)
            if bench.want is None:
                print("%-41s %9.2f %9s %8s  %-7s %s" % (bench.name, value, "-", "-", bench.unit, bench.source))
                continue
            error = 100 * (value - bench.want) / bench.want
            wrong = abs(error) > bench.tolerance
            failed |= wrong
            print("%-41s %9.2f %9g %8.1f%s %-7s %s" % (bench.name, value, bench.want, error,
                                                      "*" if wrong else " ", bench.unit, bench.source))
        if not names:
            failed |= occupancy(rdna3, folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
