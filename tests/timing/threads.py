"""Any number of threads gives the same cycles, memory and faults: kernels whose waves learn from one
another through memory, that call code, that wait for the LDS, that fault in several shader engines
at once.

usage: threads.py RDNA3"""
import os
import re
import subprocess
import sys
import tempfile

rdna3 = sys.argv[1]

HEAD = """
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
	.p2align 8
	.globl k
	.type k,@function
	.rodata
	.p2align 6
	.amdhsa_kernel k
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_group_segment_fixed_size 4096
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 32
		.amdhsa_wavefront_size32 1
	.end_amdhsa_kernel
	.text
k:
	s_load_b64 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
"""

# Waves take numbers from one counter and work the longer the higher the last bits are.
TAKES = HEAD + """
	s_mov_b32 exec_lo, 1
	v_mov_b32_e32 v2, 0
	v_mov_b32_e32 v3, 1
again:
	global_atomic_add_u32 v4, v2, v3, s[4:5] glc
	s_waitcnt vmcnt(0)
	v_readfirstlane_b32 s6, v4
	s_and_b32 s7, s6, 15
	s_lshl_b32 s7, s7, 3
	s_add_u32 s7, s7, 1
work:
	v_mul_f32_e32 v5, v5, v5
	s_sub_u32 s7, s7, 1
	s_cmp_lg_u32 s7, 0
	s_cbranch_scc1 work
	s_cmp_lt_u32 s6, 4000
	s_cbranch_scc1 again
	v_mov_b32_e32 v6, s6
	s_lshl_b32 s8, s2, 5
	s_add_u32 s8, s8, 64
	v_mov_b32_e32 v7, s8
	global_store_b32 v7, v6, s[4:5]
	s_endpgm
"""

# A loop over LDS with barriers; a function; code that some waves never come to.
CALLS = HEAD + """
	s_lshl_b32 s8, s2, 10
	s_add_u32 s4, s4, s8
	s_addc_u32 s5, s5, 0
	s_mov_b32 s9, 0
	s_and_b32 s10, s2, 7
	s_add_u32 s10, s10, 3
loop:
	global_load_b32 v4, v1, s[4:5]
	s_waitcnt vmcnt(0)
	ds_store_b32 v1, v4
	s_waitcnt lgkmcnt(0)
	s_barrier
	ds_load_b32 v5, v1 offset:4
	s_call_b64 s[12:13], function
	s_add_u32 s9, s9, 1
	s_cmp_lt_u32 s9, s10
	s_cbranch_scc1 loop
	s_cmp_eq_u32 s10, 3
	s_cbranch_scc0 rest
	s_sleep 3
	v_exp_f32_e32 v6, v6
rest:
	global_store_b32 v1, v6, s[4:5]
	s_endpgm
	.p2align 9
function:
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v6, v5, v4
	s_delay_alu instid0(VALU_DEP_1)
	v_fma_f32 v6, v6, v6, v5
	s_barrier
	s_setpc_b64 s[12:13]
"""

# From workgroup 40 on waves come to an address that does not exist, in the order of neither
# their numbers nor their places.
FAULTS = HEAD + """
	v_mov_b32_e32 v2, 0
	s_bfe_u32 s6, s2, 0x20003
	s_xor_b32 s6, s6, 3
	s_add_u32 s6, s6, 40
wait:
	v_mul_f32_e32 v5, v5, v5
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 wait
	s_cmp_lt_u32 s2, 40
	s_cbranch_scc1 fine
	v_mov_b32_e32 v2, 0x7f000000
fine:
	global_load_b32 v3, v2, s[4:5]
	s_waitcnt vmcnt(0)
	s_endpgm
"""

# The same behind what makes the threads' work one queue.
MEETS = FAULTS.replace("\tv_mov_b32_e32 v2, 0\n",
                       "\tglobal_atomic_add_u32 v3, v1, v1, s[4:5] glc\n\ts_waitcnt vmcnt(0)\n\tv_mov_b32_e32 v2, 0\n", 1)

# Waves of different priority wait for room on the way to the LDS, some of them in clauses.
LOADS = "".join("\tds_load_b64 v[%d:%d], v6 offset:%d\n" % (8 + 2 * (n % 4), 9 + 2 * (n % 4), 8 * n) for n in range(12))
WAITS = HEAD.replace("vgpr 16", "vgpr 24") + """
	v_lshlrev_b32_e32 v6, 3, v0
	v_readfirstlane_b32 s6, v0
	s_lshr_b32 s6, s6, 5
	s_add_u32 s6, s6, s2
	s_and_b32 s6, s6, 3
	s_mov_b32 s7, 6
again:
	s_cmp_eq_u32 s6, 1
	s_cbranch_scc0 other
	s_setprio 2
other:
	s_add_u32 s8, s6, s7
	s_and_b32 s8, s8, 3
	s_cmp_ge_u32 s8, 1
	s_cbranch_scc1 clause
""" + LOADS + """
	s_branch done
clause:
	s_clause 0xb
""" + LOADS + """
done:
	s_waitcnt lgkmcnt(0)
	v_mul_f32_e32 v5, v8, v9
	s_setprio 0
	s_sub_u32 s7, s7, 1
	s_cmp_lg_u32 s7, 0
	s_cbranch_scc1 again
	v_add_nc_u32_e32 v5, 1, v0
	global_store_b32 v1, v5, s[4:5]
	s_endpgm
"""

# Waves wait for the VALU in a line while what they have sent goes later than was said.
LATER = HEAD.replace("vgpr 16", "vgpr 96").replace("wavefront_size32 1", "wavefront_size32 1\n"
                                                   "\t\t.amdhsa_workgroup_processor_mode 1") + """
	s_mov_b32 s7, 6
again:
	global_store_b64 v1, v[8:9], s[4:5]
	v_mul_f32 v10, v3, v10
	v_xor_b32 v12, v15, v13
	v_dual_mul_f32 v6, v8, v13 :: v_dual_add_f32 v7, v5, v10
	v_add_f64 v[12:13], v[14:15], v[12:13]
	v_dual_mul_f32 v12, v12, v9 :: v_dual_add_f32 v9, v13, v6
	v_dual_mul_f32 v14, v4, v5 :: v_dual_add_f32 v9, v9, v14
	global_load_b32 v14, v1, s[4:5]
	v_add_f32 v3, s8, v3
	v_dual_mul_f32 v14, v12, v13 :: v_dual_add_f32 v15, v13, v6
	s_sub_u32 s7, s7, 1
	s_cmp_lg_u32 s7, 0
	s_cbranch_scc1 again
	v_add_nc_u32_e32 v5, 1, v0
	global_store_b32 v1, v5, s[4:5] offset:2048
	s_endpgm
"""

# Scratch, whose pages get their places as they come, between loads that hit or have been forgotten.
SPILLS = HEAD.replace(".amdhsa_wavefront_size32 1", ".amdhsa_wavefront_size32 1\n\t\t.amdhsa_private_segment_fixed_size 2048\n"
                      "\t\t.amdhsa_enable_private_segment 1") + """
	s_and_b32 s6, s2, 3
	s_mov_b32 s7, 0
	s_mov_b32 s10, 5
again:
	scratch_store_b32 off, v1, s7
	global_load_b32 v4, v1, s[4:5]
	scratch_load_b32 v5, off, s7
	v_lshlrev_b32_e32 v3, s6, v1
	global_load_b32 v6, v3, s[4:5] offset:512
	s_waitcnt vmcnt(1)
	scratch_store_b32 off, v5, s7 offset:256
	s_cmp_eq_u32 s6, 2
	s_cbranch_scc0 keeps
	buffer_gl0_inv
	buffer_gl1_inv
keeps:
	s_waitcnt vmcnt(0)
	s_add_u32 s7, s7, 320
	s_add_u32 s6, s6, 1
	s_sub_u32 s10, s10, 1
	s_cmp_lg_u32 s10, 0
	s_cbranch_scc1 again
	v_add_nc_u32_e32 v5, v5, v6
	global_store_b32 v1, v5, s[4:5] offset:2048
	s_endpgm
"""


def run(folder, code, threads, *more):
    """(exit status, errors), timing file and buffer of a run."""
    out, memory = os.path.join(folder, "j"), os.path.join(folder, "m")
    for path in (out, memory):
        if os.path.exists(path):
            os.remove(path)
    done = subprocess.run([rdna3, "run", code, "--block", "128", "--arg", "buf:2M", "--out", "0=" + memory,
                           "--timing", "--timing-json", out, "--timing-insts", "all", "--threads", threads]
                          + list(more), capture_output=True, text=True)
    files = []
    for path in (out, memory):
        content = b""
        if os.path.exists(path):
            with open(path, "rb") as f:
                content = f.read()
        files.append(content)
    said = re.sub(r"0x[0-9a-f]+|; nearest allocation.*", "", done.stderr) # where the host put things
    return (done.returncode, said, done.stdout), *files


failed = 0
with tempfile.TemporaryDirectory() as folder:
    for name, text, grid, ends in (("takes", TAKES, "200", 0), ("calls", CALLS, "700", 0), ("waits", WAITS, "500", 0),
                                   ("later", LATER, "200", 0), ("spills", SPILLS, "300", 0),
                                   ("faults", FAULTS, "100", None), ("meets", MEETS, "100", None)):
        code = os.path.join(folder, name)
        with open(code + ".s", "w") as f:
            f.write(text)
        subprocess.run([rdna3, "asm", "-o", code, code + ".s"], check=True)
        first = run(folder, code, "1", "--grid", grid)
        if ends is None and (first[0][0] == 0 or "unmapped" not in first[0][1]):
            print(name, "does not fault:", first[0])
            failed = 1
        if ends == 0 and (first[0][0] != 0 or not first[1] or not any(first[2])):
            print(name, "does not run:", first[0])
            failed = 1
        for threads in ("2", "3", "6", "2"):
            for what, one, other in zip(("what is said", "timing file", "memory"), first,
                                        run(folder, code, threads, "--grid", grid)):
                if one != other:
                    print("%s: %s differs with %s threads" % (name, what, threads))
                    failed = 1
        if name in ("waits", "later", "spills") and run(folder, code, "1", "--grid", grid, "--timing-trace",
                                   os.path.join(folder, "t"))[1] != first[1]:
            print(name + ": recorded, the timing file differs")
            failed = 1
sys.exit(failed)
