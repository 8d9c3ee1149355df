#!/usr/bin/env python3
"""Kernels that once ended the program, faulted or were accused for no reason.

    corners.py RDNA3

Each runs by the interpreter and by native code, which must say and leave the same.
Exit status: 0 as expected, 1 not.
"""
# SPDX-License-Identifier: MIT
import json
import os
import struct
import subprocess
import sys
import tempfile

RDNA3 = os.path.abspath(sys.argv[1])
KERNEL = """\t.text
\t.globl k
\t.p2align 8
\t.type k,@function
k:
\tv_and_b32 v0, 0x3ff, v0
{code}
\ts_endpgm
.Lend:
\t.size k, .Lend-k
\t.rodata
\t.p2align 6
\t.amdhsa_kernel k
\t\t.amdhsa_user_sgpr_kernarg_segment_ptr 1
\t\t.amdhsa_user_sgpr_count 2
\t\t.amdhsa_system_sgpr_workgroup_id_x 1
\t\t.amdhsa_next_free_vgpr 32
\t\t.amdhsa_next_free_sgpr 64
\t\t.amdhsa_group_segment_fixed_size 8192
\t\t.amdhsa_wavefront_size32 1
\t.end_amdhsa_kernel
"""

# Wave 1 never runs natively before wave 0 does: its MODE has no code then.
COLD_MODE = """
	v_readfirstlane_b32 s10, v0
	s_mov_b32 s7, 0
	s_cmp_lg_u32 s10, 0
	s_cbranch_scc1 .Lother
.Lf:
	v_add_f32 v1, 1.0, v1
	s_add_u32 s7, s7, 1
	s_cmp_lt_u32 s7, 40000
	s_cbranch_scc1 .Lf
	s_endpgm
.Lother:
	s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 1
.Lg:
	s_sleep 1
	s_add_u32 s7, s7, 1
	s_cmp_lt_u32 s7, 40000
	s_cbranch_scc1 .Lg
"""

# A scalar load from a page into the last one of the buffer, of which nobody has written a byte,
# and behind its end: nothing of that is used.
OVER_READ = """
	s_load_b64 s[4:5], s[0:1], 0x0
	s_mov_b32 s7, 0
	s_waitcnt lgkmcnt(0)
.Lloop:
	s_load_b512 s[16:31], s[4:5], 0xfe0
	s_waitcnt lgkmcnt(0)
	s_add_u32 s7, s7, 1
	s_cmp_lt_u32 s7, 100
	s_cbranch_scc1 .Lloop
	v_mov_b32 v2, 0
	v_mov_b32 v1, s7
	global_store_b32 v2, v1, s[4:5]
"""


# All workgroups meet: those that are there sleep.
MEET = """
	s_load_b64 s[4:5], s[0:1], 0x0
	v_mov_b32 v1, 1
	v_mov_b32 v2, 0
	s_waitcnt lgkmcnt(0)
	v_cmpx_eq_u32 0, v0
	global_atomic_add_u32 v2, v1, s[4:5]
	s_mov_b32 exec_lo, -1
.Lpoll:
	s_sleep 2
	global_load_b32 v3, v2, s[4:5] glc
	s_waitcnt vmcnt(0)
	v_readfirstlane_b32 s6, v3
	s_cmp_lt_u32 s6, 64
	s_cbranch_scc1 .Lpoll
"""

# Loads from LDS, after which wave 1 goes to code in another segment.
FAR = """
	v_lshlrev_b32 v1, 4, v0
	v_mov_b32 v3, 7
	v_readfirstlane_b32 s10, v0
	s_getpc_b64 s[14:15]
	s_and_b32 s14, s14, 0xfffff000
	s_add_u32 s14, s14, 0x1000
	s_mov_b32 s7, 0
.Lloop:
	ds_load_b32 v4, v1
	s_waitcnt lgkmcnt(0)
	s_add_u32 s7, s7, 1
	s_cmp_lt_u32 s7, 100
	s_cbranch_scc1 .Lloop
	s_mov_b32 s7, 0
	s_cmp_lg_u32 s10, 0
	s_cbranch_scc1 .Lfar
.Ld:
	s_add_u32 s7, s7, 1
	s_cmp_lt_u32 s7, 5000
	s_cbranch_scc1 .Ld
	v_mov_b32 v2, 4
	ds_store_b32 v2, v3
	s_waitcnt lgkmcnt(0)
	s_endpgm
.Lfar:
	s_setpc_b64 s[14:15]
	.p2align 12
	s_mov_b32 s7, 0
.Lf:
	s_nop 0
	s_add_u32 s7, s7, 1
	s_cmp_lt_u32 s7, 20000
	s_cbranch_scc1 .Lf
"""


def two_segments(elf):
    """The code object with its code from the second page on in a segment of its own, whose header
    stands where that of the stack did."""
    at, n = struct.unpack_from("<Q", elf, 32)[0], struct.unpack_from("<H", elf, 56)[0]
    out = []
    for i in range(n):
        h = list(struct.unpack_from("<IIQQQQQQ", elf, at + 56 * i))
        if h[0] == 0x6474e551:  # PT_GNU_STACK
            continue
        if h[0] != 1 or not h[1] & 1:  # PT_LOAD, PF_X
            out.append(h)
            continue
        first = 0x1000 - h[3] % 0x1000
        rest = [h[0], h[1], h[2] + first, h[3] + first, h[4] + first, h[5] - first, h[6] - first,
                h[7]]
        out += [[*h[:5], first, first, h[7]], rest]
    if len(out) != n:
        sys.exit("the assembler's program headers are others than they were")
    return elf[:at] + b"".join(struct.pack("<IIQQQQQQ", *h) for h in out) + elf[at + 56 * n:]


def swaps(first, places):
    """Each lane compares and swaps at addresses of its own, more often than there is room for in
    the table of accesses, and reads them later."""
    swap = """
	global_load_b32 v4, v2, s[4:5]
	s_waitcnt vmcnt(0)
	v_add_nc_u32 v3, 1, v4
	global_atomic_cmpswap_b32 v5, v2, v[3:4], s[4:5] glc
	s_waitcnt vmcnt(0)
"""
    loop = """
	s_mov_b32 s9, 0
.L{0}:
{2}
	s_add_u32 s9, s9, 1
	s_cmp_lt_u32 s9, {1}
	s_cbranch_scc1 .L{0}
"""
    place = "\n\ts_add_u32 s8, s7, 1\n\ts_lshl_b32 s8, s8, 16\n\tv_add_nc_u32 v2, s8, v1\n"
    own = "\tv_mov_b32 v2, v1\n"
    around = "\n\ts_mov_b32 s7, 0\n.L{0}:\n{2}\n\ts_add_u32 s7, s7, 1\n\ts_cmp_lt_u32 s7, {1}\n" \
        "\ts_cbranch_scc1 .L{0}\n"
    return ("\n\ts_load_b64 s[4:5], s[0:1], 0x0\n\tv_lshlrev_b32 v1, 2, v0\n\ts_waitcnt lgkmcnt(0)\n" +
            around.format("a", places, loop.format("b", first, own + swap) + place + swap) +
            loop.format("c", 3000, "") + loop.format("d", 40, own + swap) +
            loop.format("e", 3000, "") +
            around.format("f", places, place + "\tglobal_load_b32 v4, v2, s[4:5]\n"
                          "\ts_waitcnt vmcnt(0)\n"))


def runs(name, code, options, change=None):
    with open(f"{name}.s", "w", encoding="ascii") as f:
        f.write(KERNEL.format(code=code))
    r = subprocess.run([RDNA3, "asm", f"{name}.s", "-o", f"{name}.hsaco"], check=False)
    if r.returncode:
        sys.exit(1)
    if change:
        with open(f"{name}.hsaco", "r+b") as f:
            changed = change(f.read())
            f.seek(0)
            f.write(changed)
    said = []
    for engine in ("interp", "jit", "auto"):
        r = subprocess.run([RDNA3, "run", f"{name}.hsaco", "--engine", engine, *options.split()],
                           capture_output=True, text=True, check=False)
        said.append((r.returncode, r.stdout, r.stderr))
    if any(s != said[0] for s in said) or said[0][0]:
        sys.exit(f"{name}, {options}: {said}")


def meets():
    """One more begins once those that are there have had a turn, not sixteen."""
    options = "--grid 64 --block 32 --threads 1 --arg buf:64 --timeout 100"
    runs("meet", MEET, options)
    r = subprocess.run([RDNA3, "run", "meet.hsaco", *options.split(), "--stats", "--json"],
                       stdout=subprocess.PIPE, text=True, check=True)
    if json.loads(r.stdout)["instructions"] > 12000000:
        sys.exit(f"those who sleep have waited too long: {r.stdout}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        runs("cold_mode", COLD_MODE, "--block 64")
        for checks in ("", " --check race", " --check mem,race,sync,wait,init"):
            runs("far", FAR, "--block 64" + checks, two_segments)
        meets()
        runs("over_read", OVER_READ, "--arg buf:4112")
        runs("over_read", OVER_READ, "--arg buf:4112 --check init")
        for first, places in ((20, 3), (30, 5), (45, 7), (60, 11)):
            runs("swaps", swaps(first, places), "--block 64 --arg buf:1M --check race")
    print("as expected")


if __name__ == "__main__":
    main()
