#!/usr/bin/env python3
"""Kernels of random accesses that race, or read what nobody has written: native code and the
interpreter report the same.

Rows of lanes in order, with gaps, of parts of dwords, of scalars; in LDS and memory; some
lanes off; barriers, atomics and acquires between them. Native code judges rows by the words
of their lines, the interpreter lane by lane.

    random_accesses.py --rdna3 FILE [--seed N] [--count N]
"""
# SPDX-License-Identifier: MIT
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

from corpus import HEAD

DWORDS = {"b64": 2, "b96": 3, "b128": 4}
LDS_MASK = {"b32": "0xffc", "b64": "0xff8", "b96": "0xff0", "b128": "0xff0", "u8": "0xfff",
            "u16": "0xffe"}


class Kernel:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.rows = self.chance(.5)  # mostly loops over rows of lanes in order
        self.wave64 = self.chance(.1 if self.rows else .35)
        self.lines, self.loops = [], 0
        self.add("s_mov_b64 s[20:21], exec", "s_load_b64 s[4:5], s[0:1], 0x0",
                 *(f"v_mov_b32 v{i}, {i}" for i in range(1, 6)),
                 f"s_lshl_b32 s6, s2, {self.r.choice([6, 7, 8, 9, 12])}",
                 "s_waitcnt lgkmcnt(0)")
        self.add("v_lshlrev_b32 v7, 2, v0")
        if self.chance(.2):
            self.add("s_mov_b32 s6, 0")
        if self.chance(.25):
            self.readers()
        else:
            for _ in range(self.r.randint(3, 14)):
                self.step()
        self.add("s_waitcnt vmcnt(0) lgkmcnt(0)", "s_endpgm")

    def chance(self, p):
        return self.r.random() < p

    def add(self, *lines):
        self.lines += lines

    def step(self):
        if self.rows and self.chance(.6):
            self.row_loop()
            return
        what = self.r.random()
        if what < .16:
            self.add("s_waitcnt vmcnt(0) lgkmcnt(0)", "s_waitcnt_vscnt null, 0x0", "s_barrier")
        elif what < .19:
            self.add("buffer_gl0_inv", "buffer_gl1_inv")
        elif what < .24:
            mask = self.r.choice([0xffff, 0xff00ff00, 0x0fffffff, 1, 0x80000001, 0xfffffff0])
            self.add(f"s_mov_b32 exec_lo, 0x{mask:x}")
        elif what < .32:
            self.add("s_mov_b64 exec, s[20:21]" if self.wave64 else "s_mov_b32 exec_lo, s20")
        elif what < .36:
            dwords, last = self.r.choice([(2, 9), (4, 11), (8, 15)])
            offset = self.r.choice([0, 4, 0x40, 0x3fc, 0x400])
            self.add(f"s_load_b{32 * dwords} s[8:{last}], s[4:5], 0x{offset:x}")
        else:
            self.access()
        if self.chance(.4):
            self.add("s_waitcnt vmcnt(0) lgkmcnt(0)")

    def place(self):
        """v6: where the lanes are."""
        shift = self.r.choice([0, 1, 2, 2, 2, 3, 3, 4, 5])
        self.add(f"v_lshlrev_b32 v6, {shift}, v0")
        if self.chance(.2):
            self.add(f"v_and_b32 v6, 0x{self.r.choice([0x1f, 0x3c, 0xc, 0xffc]):x}, v6")
        if self.chance(.15):
            self.add("v_lshrrev_b32 v6, 2, v6", "v_mul_u32_u24 v6, 34, v6")

    def access(self):
        size = self.r.choice(["b32", "b32", "b32", "b64", "b128", "u8", "u16", "b96"])
        store = self.chance(.4)
        last = DWORDS.get(size, 1) - 1
        first = self.r.choice([2, 2, 8]) if store else 8  # v8: loaded, perhaps undefined
        data = f"v[{first}:{first + last}]"
        name = ("store_" + size.replace("u", "b")) if store else "load_" + size
        offset = self.r.choice([0, 0, 0, 4, 64, 128, 256, 512, 1000, 1, 2, 6, 1020])
        self.place()
        if self.chance(.35):
            self.lds(name, size, data, offset, store)
            return
        if self.chance(.5):
            self.add("v_add_nc_u32 v6, s6, v6")
        if self.chance(.1):
            to, glc = self.r.choice([("v8, ", " glc"), ("", "")])
            self.add("v_and_b32 v6, -4, v6",
                     f"global_atomic_add_u32 {to}v6, v2, s[4:5] offset:{offset & ~3}{glc}")
            return
        glc = " glc" if not store and self.chance(.05) else ""
        operands = f"v6, {data}" if store else f"{data}, v6"
        line = f"global_{name} {operands}, s[4:5] offset:{offset}{glc}"
        if self.chance(.2):
            self.loop(line)
        else:
            self.add(line)

    def lds(self, name, size, data, offset, store):
        mask = "0xfff" if self.chance(.1) else LDS_MASK[size]
        self.add(f"v_and_b32 v6, {mask}, v6")
        offset &= int(mask, 16)
        if self.chance(.1) and mask[-1] in "c80":
            self.add(f"ds_add_u32 v6, v2 offset:{offset}")
        else:
            self.add(f"ds_{name} " + (f"v6, {data}" if store else f"{data}, v6") +
                     f" offset:{offset}")
        if not store and self.chance(.4):
            self.add("s_waitcnt lgkmcnt(0)", "global_store_b32 v7, v8, s[4:5] offset:2048")

    def loop(self, *lines):
        self.loops += 1
        step = self.r.choice([128, 256, 4, 1024, 512, 64, 0])
        steps = [f"v_add_nc_u32 v6, {step}, v6"]
        if self.chance(.4):
            steps = [f"s_add_u32 s4, s4, {step}", "s_addc_u32 s5, s5, 0"]
        self.add(f"s_mov_b32 s16, {self.r.randint(2, 6)}", "s_mov_b64 s[22:23], s[4:5]",
                 f"L{self.loops}:", *lines, "s_waitcnt vmcnt(0)", *steps,
                 "s_sub_u32 s16, s16, 1", "s_cmp_lg_u32 s16, 0",
                 f"s_cbranch_scc1 L{self.loops}", "s_mov_b64 s[4:5], s[22:23]")

    def row_loop(self):
        """Several accesses to rows that waves may share."""
        size, shift = self.r.choice([("b32", 2), ("b32", 2), ("b64", 3), ("b128", 4)])
        last = DWORDS.get(size, 1) - 1
        lines = []
        for _ in range(self.r.randint(1, 3)):
            offset = self.r.choice([0, 0, 64, 128, 2048, 2048, 3072, 4])
            glc = " glc" if self.chance(.1) else ""
            lines.append(f"global_store_{size} v6, v[2:{2 + last}], s[4:5] offset:{offset}"
                         if self.chance(.35) else
                         f"global_load_{size} v[8:{8 + last}], v6, s[4:5] offset:{offset}{glc}")
        if self.chance(.15):
            lines.insert(self.r.randint(0, len(lines)), "s_waitcnt_vscnt null, 0x0")
        if self.chance(.15):
            lines.append(f"global_atomic_add_u32 v6, v2, s[4:5] offset:{self.r.choice([0, 2048])}")
        lanes = self.r.choice(["v_mov_b32 v6, v0", "v_and_b32 v6, 0x1f, v0",
                               "v_and_b32 v6, 0x3f, v0", "v_xor_b32 v6, 32, v0"])
        self.add(lanes, f"v_lshlrev_b32 v6, {shift}, v6")
        if self.chance(.4):  # lanes with gaps, which several rows may have between them
            size, shift = self.r.choice([("b32", 2), ("b64", 2), ("u16", 1), ("u16", 2)])
            last = DWORDS.get(size, 1) - 1
            offsets = [self.r.choice([0, 2, 4, 4, 8, 272, 288, 1000]) for _ in range(3)]
            lines = [f"global_load_{size} v[8:{8 + last}], v6, s[4:5] offset:{o}"
                     for o in offsets[:self.r.randint(1, 3)]]
            if self.chance(.25):
                lines.append("global_store_b32 v6, v2, s[4:5] offset:"
                             f"{self.r.choice([0, 4, 272, 2048])}")
            self.add(lanes, f"v_lshrrev_b32 v6, {self.r.choice([0, 1, 2])}, v6",
                     f"v_mul_u32_u24 v6, {self.r.choice([34, 36, 12, 8, 6])}, v6")
        if self.chance(.5):
            self.add("v_add_nc_u32 v6, s6, v6")
        off = self.chance(.2)
        if off:
            self.add(f"s_mov_b32 exec_lo, 0x{self.r.choice([0xffff, 0xfffffff0, 0xfffe]):x}")
        self.loop(*lines)
        if off:
            self.add("s_mov_b64 exec, s[20:21]" if self.wave64 else "s_mov_b32 exec_lo, s20")

    def readers(self):
        """Rows with gaps that many waves read, some more than once and not all the same; then
        single lanes write, so that it shows who has read last where."""
        each, shift = self.r.choice([(34, 2), (36, 2), (12, 0), (8, 0), (6, 0), (4, 1)])
        if self.chance(.6):
            self.add("v_and_b32 v7, 0x1f, v0")
        else:
            self.add("v_mov_b32 v7, v0")
        self.add(f"v_lshrrev_b32 v6, {shift}, v7", f"v_mul_u32_u24 v6, {each}, v6",
                 "v_mov_b32 v9, v6")
        for _ in range(self.r.randint(2, 5)):
            size = self.r.choice(["b32", "b64", "u16"])
            last = DWORDS.get(size, 1) - 1
            offset = self.r.choice([0, 0, 2, 4, 8, 64, 272, 288, 900])
            load = f"global_load_{size} v[10:{10 + last}], v6, s[4:5] offset:{offset}"
            self.add("v_mov_b32 v6, v9")
            if self.chance(.3):
                self.add("v_lshlrev_b32 v6, 2, v7")
            if self.chance(.3):
                self.add("v_add_nc_u32 v6, s6, v6")
            self.loop(load)
        self.add("s_waitcnt vmcnt(0)")
        for _ in range(8):
            self.loops += 1
            self.add(f"s_cmp_lg_u32 s2, {self.r.choice([0, 1, 1, 3])}",
                     f"s_cbranch_scc1 W{self.loops}",
                     f"v_mov_b32 v6, 0x{2 * self.r.randint(0, 700):x}",
                     f"v_cmpx_eq_u32 {self.r.choice([0, 40, 77])}, v0",
                     "global_store_b16 v6, v2, s[4:5]",
                     "s_mov_b64 exec, s[20:21]" if self.wave64 else "s_mov_b32 exec_lo, s20",
                     f"W{self.loops}:")

    def text(self):
        return HEAD.format(lds=16384, scratch=0, private=0, wave32=int(not self.wave64)) + \
            "\n".join(self.lines) + "\n"


def report(rdna3, elf, engine, options):
    r = subprocess.run([rdna3, "run", elf, "--engine", engine, "--keep-going", "--check-json", "-",
                        *options, "--arg", "buf:262144:zero"],
                       capture_output=True, text=True, check=False, timeout=300)
    return r.returncode, re.sub(r"0x[0-9a-f]{9,}|\b[0-9]{11,}\b", "ADDRESS", r.stderr + r.stdout)


class Strips(Kernel):
    """Waves go over memory by whole strips (shadow.h) that others may share."""

    def __init__(self, seed):
        super().__init__(seed)
        self.wave64 = False
        store, load = "global_store_b32 v6, v2, s[4:5]", "global_load_b32 v8, v6, s[4:5]"
        body = [self.r.choice([store, load]) for _ in range(self.r.randint(1, 3))]
        self.lines = ["s_load_b64 s[4:5], s[0:1], 0x0",
                      f"s_lshl_b32 s6, s2, {self.r.choice([7, 8, 10, 12])}",
                      f"v_and_b32 v6, {self.r.choice(['0x1f', '0x3f', '0xff'])}, v0",
                      "v_lshlrev_b32 v6, 2, v6", "v_add_nc_u32 v6, s6, v6", "v_mov_b32 v2, 7",
                      "s_movk_i32 s8, 30", "s_waitcnt lgkmcnt(0)", ".Lstrips:", *body,
                      f"v_add_nc_u32 v6, {self.r.choice(['0x80', '0x100', '0x800'])}, v6",
                      "s_sub_u32 s8, s8, 1", "s_cmp_lg_u32 s8, 0", "s_cbranch_scc1 .Lstrips",
                      "s_waitcnt vmcnt(0)", "s_endpgm"]


def compare(rdna3, seed, folder):
    """-> what is wrong, or ""; is there a finding?"""
    kernel = Strips(seed) if seed % 8 == 0 else Kernel(seed)
    source, elf = (os.path.join(folder, "kernel" + end) for end in (".s", ".elf"))
    with open(source, "w", encoding="ascii") as f:
        f.write(kernel.text())
    subprocess.run([rdna3, "asm", "--wave", "64" if kernel.wave64 else "32", "-o", elf, source],
                   check=True)
    groups, block = kernel.r.choice([(2, 128), (2, 256), (1, 128), (4, 256), (4, 64), (1, 96),
                                     (8, 256), (2, 32)])
    options = ["--grid", str(groups), "--block", str(block), "--check",
               kernel.r.choice(["race", "race", "race,wait", "race,init", "mem,race", "init", "init",
                                "mem,init"])]
    if kernel.chance(.25):
        options.append("--race-lanes")
    native, interp = (report(rdna3, elf, engine, options) for engine in ("jit", "interp"))
    if "no native code here" in native[1]:
        return None, False
    problem = "" if native == interp else \
        f"seed {seed}, {' '.join(options)}: native code:\n{native[1]}\ninterpreter:\n{interp[1]}"
    return problem, '"class":' in native[1]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rdna3", required=True)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=80)
    tools = p.parse_args()
    found = bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(tools.seed, tools.seed + tools.count):
            problem, finds = compare(tools.rdna3, seed, folder)
            if problem is None:
                print("skipped: no native code on this host")
                return 77
            found += finds
            if problem:
                bad += 1
                print(problem)
    print(f"{tools.count} kernels, {found} with findings, {bad} differ")
    return 1 if bad or found < tools.count // 2 else 0


if __name__ == "__main__":
    sys.exit(main())
