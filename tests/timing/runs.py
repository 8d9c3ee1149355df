"""A wave that goes on in its SIMD ahead of the others takes the cycles, and waits for the same, as when every
instruction has its turn: a run that is recorded takes all turns from one queue.

usage: runs.py RDNA3"""
# SPDX-License-Identifier: MIT
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RDNA3 = sys.argv[1]

# Waves of different lengths, among them VALU instructions behind delays, which hold one and the one behind it,
# in front of a branch; a comparison; one that is slow; LDS, loads, clauses and barriers between.
MIXED = """	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.rodata
	.p2align 6
	.amdhsa_kernel k
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_group_segment_fixed_size 4096
		.amdhsa_next_free_vgpr 32
		.amdhsa_next_free_sgpr 16
		.amdhsa_wavefront_size32 1
		.amdhsa_workgroup_processor_mode 0
	.end_amdhsa_kernel
	.text
	.p2align 8
k:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32 v1, 2, v0
	v_lshrrev_b32 v2, 5, v0
	s_waitcnt lgkmcnt(0)
	v_readfirstlane_b32 s6, v2
	s_lshl_b32 s6, s6, 1
	s_add_u32 s6, s6, 6
.Lloop:
	global_load_b32 v3, v1, s[4:5]
	ds_store_b32 v1, v2
%s	ds_load_b32 v4, v1
	s_clause 1
	global_load_b32 v5, v1, s[4:5] offset:4
	global_load_b32 v6, v1, s[4:5] offset:8
%s	s_waitcnt lgkmcnt(0)
	v_add_f32 v7, v4, v7
	v_sqrt_f32 v8, v7
	s_barrier
%s	v_cmp_gt_f32 vcc_lo, v8, v7
	v_cndmask_b32 v9, v7, v8, vcc_lo
	s_waitcnt vmcnt(0)
	v_add_f32 v7, v3, v5
	s_sub_u32 s6, s6, 1
	s_cmp_eq_u32 s6, 0
	v_add_f32 v11, v11, v12
	v_add_f32 v12, v11, v13
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_f32 v13, v12, v13
	v_add_f32 v14, v12, v13
	v_add_f32 v15, v12, v13
	s_delay_alu instid0(VALU_DEP_1)
	v_add_f32 v16, v15, v13
	v_add_f32 v17, v15, v13
	s_nop 7
	v_add_f32 v18, v15, v13
	v_add_f32 v19, v15, v13
	v_add_f32 v14, v12, v13
	s_delay_alu instid0(VALU_DEP_4)
	v_add_f32 v16, v17, v13
	v_add_f32 v18, v15, v13
	v_add_f32 v19, v15, v13
	s_cbranch_scc0 .Lloop
	s_endpgm
.Lend:
	.size k, .Lend-k
	.amdgpu_metadata
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx1100
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 4096
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 16
    .vgpr_count: 32
    .max_flat_workgroup_size: 1024
    .args:
      - {.address_space: global, .offset: 0, .size: 8, .value_kind: global_buffer}
	.end_amdgpu_metadata
"""


def many(first, n):
    """n instructions that read two banks, or one."""
    return "".join("\tv_fma_f32 v%d, v%d, v%d, v%d\n" % (20 + k % 8, first + k % 4, first + 2 + k % 3, 20 + k % 8)
                   for k in range(n))


def build(folder, name, text):
    path = os.path.join(folder, name)
    with open(path + ".s", "w", encoding="ascii") as f:
        f.write(text)
    subprocess.run([RDNA3, "asm", "-o", path, path + ".s"], check=True)
    return path


def told(*command):
    return subprocess.run([RDNA3, "run", *command, "--timing", "--timing-listing"], check=True,
                          stdout=subprocess.PIPE).stdout


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        pairs = subprocess.run([sys.executable, os.path.join(HERE, "gemm", "vopd.py")], check=True, text=True,
                               stdout=subprocess.PIPE).stdout
        gemm = ["--grid", "2,2", "--block", "128", *(x for n in (1, 2) for x in ("--arg", "buf:262144:rand=f32,%d" % n)),
                "--arg", "buf:262144", "--arg", "i32:256", "--arg", "f32:1", "--arg", "f32:0"]
        mixed = MIXED % (many(8, 40), many(9, 25), many(10, 70))
        mixed_at = ["--grid", "24", "--block", "128", "--arg", "buf:65536:rand=f32,1"]
        one, few = ["--cu-mask", "1,0,0,0,0,0"], ["--cu-mask", "3,0,0,0,0,0"]
        for name, text, command in (("pairs", pairs, gemm + one), ("mixed", mixed, mixed_at + one),
                                    ("mixed, few waves", mixed, ["--grid", "4", *mixed_at[2:], *few])):
            code = build(folder, name.split(",")[0], text)
            turns = told(code, *command, "--timing-trace", os.path.join(folder, "t"))
            if told(code, *command) != turns:
                print("%s: other cycles, or other waits, than turn by turn" % name)
                failed = 1
    return failed


sys.exit(main())
