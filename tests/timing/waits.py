"""A wait for exports, of which there are none, is over and says nothing of other counters: waves that go on wait as long,
and for the same, as behind s_nop.

usage: waits.py RDNA3"""
import json
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
  v_lshlrev_b32 v2, 2, v0
  s_waitcnt lgkmcnt(0)
  s_load_b64 s[6:7], s[0:1], 0x0
  v_sin_f32 v4, 1.0
  s_nop 15
  s_nop 15
  s_nop 15
  global_load_b32 v3, v2, s[4:5]
  v_log_f32 v4, 1.0
  %s
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 8
  .amdhsa_wavefront_size32 1
.end_amdhsa_kernel
"""


def stalls(rdna3, folder, before):
    source, code, out = (os.path.join(folder, name) for name in ("k.s", "k.hsaco", "out.json"))
    with open(source, "w") as f:
        f.write(KERNEL % before)
    subprocess.run([rdna3, "asm", "-o", code, source], check=True)
    subprocess.run([rdna3, "run", code, "--grid", "4", "--block", "32", "--arg", "buf:2K", "--timing", "--timing-json",
                    out], check=True, stdout=subprocess.DEVNULL)
    with open(out) as f:
        return json.load(f)["stalls"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        nop, exports = (stalls(sys.argv[1], folder, i) for i in ("s_nop 0", "s_waitcnt expcnt(0)"))
    differ = {k: (v, exports[k]) for k, v in nop.items() if exports[k] != v}
    if differ:
        print("FAILED: cycles that waves wait behind s_nop, and behind a wait for exports:", differ)
    return bool(differ)


if __name__ == "__main__":
    sys.exit(main())
