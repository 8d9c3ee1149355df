"""Kernels that go wrong do so with the same words and the same exit status whether time is simulated or not.

usage: faults.py RDNA3"""
import os
import subprocess
import sys
import tempfile

KERNEL = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
.text
.globl k
.p2align 8
.type k,@function
k:
  s_load_b64 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  s_mov_b32 s6, 3
loop:
  v_add_f32 v2, v1, v0
  v_mul_f32 v3, v2, v2
  v_add_f32 v4, v3, v0
  s_sub_u32 s6, s6, 1
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 loop
  v_add_f32 v2, v1, v0
  v_mul_f32 v3, v2, v2
%s
  v_add_f32 v4, v3, v0
  v_mul_f32 v3, v2, v2
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 16
  .amdhsa_group_segment_fixed_size 256
  .amdhsa_private_segment_fixed_size 16
  .amdhsa_enable_private_segment 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_kernarg_size 8
  .amdhsa_wavefront_size32 %d
.end_amdhsa_kernel
"""
# What goes wrong, and how; instructions after others of a row whose execution may be put off, too.
BODIES = {
    "register": "v_lshlrev_b32 v1, v130, v3",
    "register written": "v_mov_b32 v99, v3",
    "register of a pair": "v_dual_mov_b32 v130, v2 :: v_dual_mov_b32 v3, v1",
    "register of 64 bits": "v_lshlrev_b64 v[23:24], 1, v[2:3]",
    "registers of a matrix": "v_wmma_f32_16x16x16_f16 v[8:15], v[24:31], v[32:39], v[8:15]",
    "register by index": "s_movk_i32 m0, 200\n  v_movrels_b32 v3, v2",
    "register to load to": "global_load_b32 v77, v1, s[4:5]",
    "register to load from LDS to": "ds_load_b32 v77, v1",
    "no instruction": ".long 0xdfffffff",
    "no VALU instruction": ".long 0x7e00fe00",
    "trap": "s_trap 2",
    "another trap": "s_trap 1",
    "null pointer": "v_mov_b32 v2, 0\n  v_mov_b32 v3, 0\n  global_load_b32 v4, v[2:3], off\n  s_waitcnt vmcnt(0)",
    "store far away": "s_mov_b32 s5, 0x7fff\n  global_store_b32 v1, v0, s[4:5]",
    "one lane beyond the buffer": "global_store_b32 v1, v0, s[4:5] offset:3972",
    "scalar load": "s_mov_b64 s[8:9], 64\n  s_load_b32 s8, s[8:9], 0x0\n  s_waitcnt lgkmcnt(0)",
    "atomic": "v_mov_b32 v2, 0\n  v_mov_b32 v3, 0\n  global_atomic_add_u32 v[2:3], v4, off",
    "flat": "v_mov_b32 v2, 16\n  v_mov_b32 v3, 0\n  flat_store_b32 v[2:3], v4",
    "LDS": "v_add_nc_u32 v2, 0x4000, v1\n  ds_store_b32 v2, v0",
    "LDS loaded": "v_add_nc_u32 v2, 0x4000, v1\n  ds_load_b32 v3, v2\n  s_waitcnt lgkmcnt(0)",
    "LDS atomic": "v_add_nc_u32 v2, 0x4000, v1\n  ds_add_u32 v2, v0",
    "scratch": "v_mov_b32 v2, 0x100000\n  scratch_store_b32 v2, v0, off",
    "code's end": "s_branch 4000",
    "jump": "s_mov_b64 s[8:9], 0\n  s_setpc_b64 s[8:9]",
}


def run(rdna3, code, *more):
    p = subprocess.run([rdna3, "run", code, "--grid", "2", "--block", "64", "--arg", "buf:4K", *more],
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    return p.returncode, p.stderr


def main():
    rdna3, failed = sys.argv[1], 0
    with tempfile.TemporaryDirectory() as folder:
        source, code = os.path.join(folder, "k.s"), os.path.join(folder, "k.hsaco")
        for name, body in BODIES.items():
            for wave in (32, 64):
                if wave == 64 and ("dual" in body or "wmma" in body):
                    continue
                with open(source, "w", encoding="utf-8") as f:
                    f.write(KERNEL % (body, wave == 32))
                subprocess.run([rdna3, "asm", "-o", code, source], check=True)
                want = run(rdna3, code)
                for more in (("--timing",), ("--timing", "--threads", "2"), ("--timing", "--cu-mask", "1,0,0,0,0,0")):
                    got = run(rdna3, code, *more)
                    if got != want:
                        failed += 1
                        print(f"{name}, wave{wave}, {' '.join(more)}: {got[0]} {got[1]}  without: {want[0]} {want[1]}")
                print(f"{name}, wave{wave}: {want[0]} {want[1]}", end="" if want[1] else "\n")
    print("failed:", failed)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
