"""Waves of timed runs read their clocks as the model has them: SHADER_CYCLES in cycles, REALTIME in ticks of 100 MHz,
whatever the shader clock; who waits for a time waits so long.

usage: clocks.py RDNA3"""
import os
import re
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
  s_getreg_b32 s10, hwreg(HW_REG_SHADER_CYCLES, 0, 20)
  s_sendmsg_rtn_b64 s[12:13], sendmsg(MSG_RTN_GET_REALTIME)
  s_waitcnt lgkmcnt(0)
wait:
  s_sleep 1
  s_sendmsg_rtn_b64 s[14:15], sendmsg(MSG_RTN_GET_REALTIME)
  s_waitcnt lgkmcnt(0)
  s_sub_u32 s16, s14, s12
  s_cmp_lt_u32 s16, 1000
  s_cbranch_scc1 wait
  s_getreg_b32 s11, hwreg(HW_REG_SHADER_CYCLES, 0, 20)
  v_mov_b32 v0, 0
  v_mov_b32 v1, s10
  v_mov_b32 v2, s11
  v_mov_b32 v3, s12
  v_mov_b32 v4, s14
  global_store_b128 v0, v[1:4], s[4:5]
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 24
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_kernarg_size 8
  .amdhsa_wavefront_size32 1
.end_amdhsa_kernel
"""


def main():
    rdna3, failed = sys.argv[1], 0
    with tempfile.TemporaryDirectory() as folder:
        source, code = os.path.join(folder, "k.s"), os.path.join(folder, "k.hsaco")
        with open(source, "w", encoding="utf-8") as f:
            f.write(KERNEL)
        subprocess.run([rdna3, "asm", "-o", code, source], check=True)
        for mhz in (500, 1000, 2482, 2500, 3100):
            for more in ((), ("--and", "--kernel", "k", "--queue", "1", "--arg", "buf:16")):
                out = subprocess.run([rdna3, "run", code, "--arg", "buf:16", "--print", "0:u32", "--timing", "--sclk-mhz",
                                      str(mhz), *more], check=True, stdout=subprocess.PIPE, text=True, timeout=120).stdout
                first, last, begun, ended = map(int, re.search(r"^ +0: (.*)", out, re.M).group(1).split())
                cycles, ticks = (last - first) % (1 << 20), ended - begun
                ok = 1000 <= ticks <= 1100 and abs(cycles * 100 / mhz - ticks) < 40
                failed += not ok
                print(f"{mhz} MHz: {cycles} cycles, {ticks} ticks{'' if ok else ' WRONG'}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
