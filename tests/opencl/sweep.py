#!/usr/bin/env python3
"""OpenCL C kernels on the emulator and on the host: the same source, equal results.

    sweep.py --rdna3 RDNA3 [--all] [--device-libs DIR] [--only REGEX] [--seed N] [--jobs N]

Compiles every file of kernels/ with clang-19 for gfx1100 (O0 to O3, wave32 and wave64 with
--all, else one combination per kernel) and for the host, runs every kernel on random inputs,
compares bit by bit. With --device-libs (ROCm's bitcode) library math instead, within its
bounds. Exit status: 0 equal, 1 not, 77 skipped.
"""
# SPDX-License-Identifier: MIT
import argparse
import concurrent.futures
import glob
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = ("ints", "floats", "groups", "images", "builtins", "math")
GROUPS, BLOCK, WORDS = 4, 128, 16
BYTES = GROUPS * BLOCK * WORDS * 4
CLANG = "clang-19"

# Units in the last place that OpenCL allows, plus half of one for the C library.
ULP32 = {"math_f32": [4, 4, 4, 4, 5, 5, 6, 6, 17, 5, 6, 3, 5, 7, 17, 1],
         "math_f32_more": [5, 4, 3, 5, 5, 4, 4, 4] + [0] * 8}
ULP64 = {"math_f64": [4, 4, 5, 17] + [0] * 4}


def special(r):
    """Mostly anything; often what floats and integers find hard."""
    k = r.random()
    if k < 0.25:
        return r.choice([0, 1, 0x80000000, 0x7fffffff, 0xffffffff, 0x3f800000, 0xbf800000,
                         0x7f800000, 0xff800000, 0x7fc00000, 0x00800000, 0x00000001, 0x807fffff,
                         0x3c003c00, 0x7c00fc00, 0x000103ff, 0x7ff00000, 0x41dfffff, 0x4f000000])
    if k < 0.5:
        return (r.getrandbits(32) & 0x80ffffff) | 0x3f000000
    if k < 0.6:
        return r.getrandbits(r.randint(1, 16))
    return r.getrandbits(32)


def find_device_libs(folder):
    """The folder itself or, below it, a tree with ROCm's compiler."""
    tree = os.path.join("root", "usr", "lib", "llvm-*", "lib", "clang", "*", "amdgcn", "bitcode")
    found = [p for f in ("", tree) for p in glob.glob(os.path.join(folder, f, "ocml.bc"))]
    return os.path.dirname(found[0]) if folder and found else ""


def device_lib_options(folder):
    if not folder:
        return None
    libs = ["ocml", "ockl", "oclc_isa_version_1100", "oclc_daz_opt_off", "oclc_unsafe_math_off",
            "oclc_finite_only_off", "oclc_correctly_rounded_sqrt_on", "oclc_abi_version_500"]
    out = []
    for name in libs:
        out += ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", os.path.join(folder, name + ".bc")]
    return out


class Sweep:
    """Compiled files and runs, in a temporary folder."""

    def __init__(self, options, tmp):
        self.options, self.tmp = options, tmp
        self.libs = device_lib_options(options.device_libs)
        self.kernels = {}
        for name in FILES:
            if (name == "math") != bool(options.device_libs):
                continue
            with open(os.path.join(HERE, "kernels", name + ".cl"), encoding="ascii") as f:
                for kernel in re.findall(r"^KERNEL (\w+)\(", f.read(), re.M):
                    if re.search(options.only, kernel):
                        self.kernels[kernel] = name
        self.seconds = 0.0

    def path(self, name):
        return os.path.join(self.tmp, name)

    def compile_gpu(self, name, opt, wave):
        elf = self.path(f"{name}.O{opt}.w{wave}.hsaco")
        command = [CLANG, "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa",
                   "-mcpu=gfx1100", "-nogpulib", f"-O{opt}", f"-DWAVE={wave}", "-ffp-contract=off",
                   "-cl-fp32-correctly-rounded-divide-sqrt", "-Wno-everything",
                   os.path.join(HERE, "kernels", name + ".cl"), "-o", elf]
        command += ["-mwavefrontsize64"] if wave == 64 else []
        if name == "math":
            command += self.libs + ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", os.path.join(
                self.options.device_libs, f"oclc_wavefrontsize64_{'on' if wave == 64 else 'off'}.bc")]
        subprocess.run(command, check=True)
        return elf

    def compile_host(self, name, wave):
        so = self.path(f"{name}.w{wave}.so")
        obj = so[:-2] + "o"
        subprocess.run([CLANG, "-x", "cl", "-cl-std=CL2.0", "-O1", "-fPIC", f"-DWAVE={wave}",
                        "-ffp-contract=off", "-Xclang", "-ffloat16-excess-precision=none", "-march=x86-64-v3",
                        "-cl-fp32-correctly-rounded-divide-sqrt", "-Wno-everything", "-c",
                        os.path.join(HERE, "kernels", name + ".cl"), "-o", obj], check=True)
        subprocess.run([CLANG, "-shared", obj, "-o", so, "-lm"], check=True)
        return so

    def host_program(self):
        program = self.path("host")
        subprocess.run([CLANG, "-O1", "-rdynamic", os.path.join(HERE, "host.c"), "-o", program,
                        "-ldl"], check=True)
        return program

    def inputs(self, kernel):
        r = random.Random(f"{kernel} {self.options.seed}")
        data = struct.pack(f"<{BYTES // 4}I", *(special(r) for _ in range(BYTES // 4)))
        params = struct.pack("<Iif4xQhB5x", GROUPS * BLOCK, r.getrandbits(31) - (1 << 30), 1.5,
                             r.getrandbits(64), -12345, 201)
        for name, content in (("in", data), ("params", params), ("zero", bytes(BYTES))):
            with open(self.path(f"{kernel}.{name}"), "wb") as f:
                f.write(content)
        return params

    def run_host(self, program, so, kernel, wave):
        out = self.path(f"{kernel}.w{wave}.host")
        shutil.copy(self.path(kernel + ".zero"), out)
        subprocess.run([program, so, kernel, str(GROUPS), self.path(kernel + ".in"), out,
                        self.path(kernel + ".params"), str(wave)], check=True)
        with open(out, "rb") as f:
            return f.read()

    def run_gpu(self, elf, kernel, params):
        out = elf + "." + kernel
        zero = ":zero" if "atomic" in kernel else ""  # else the kernel writes all that it reads
        done = subprocess.run(
            # the host's sums are exact; silicon's lose bits (tests/vectors/dots.vec)
            [self.options.rdna3, "run", elf, "--kernel", kernel, "--dots", "exact", "--grid",
             str(GROUPS), "--block", str(BLOCK), "--arg", f"buf:{BYTES}:file={self.path(kernel + '.in')}", "--arg",
             f"buf:{BYTES}{zero}", "--arg", "bytes:" + params.hex(), "--out", f"1={out}"],
            capture_output=True, text=True, check=False)
        if done.returncode:
            return done.stderr.strip()
        with open(out, "rb") as f:
            return f.read()


def ordered(bits, width):
    """Floats as integers in their order."""
    top = 1 << width - 1
    return bits if bits < top else top - bits


def compare(kernel, got, want):
    """None, or what differs."""
    if isinstance(got, str):
        return got
    if kernel not in ULP32 and kernel not in ULP64:
        if got == want:
            return None
        i = next(k for k in range(0, BYTES, 4) if got[k:k + 4] != want[k:k + 4])
        return (f"item {i // 4 // WORDS} word {i // 4 % WORDS}: {got[i:i + 4][::-1].hex()}, "
                f"host {want[i:i + 4][::-1].hex()}")
    width, bounds = (32, ULP32[kernel]) if kernel in ULP32 else (64, ULP64[kernel])
    code, inf = ("I", 0x7f800000) if width == 32 else ("Q", 0x7ff << 52)
    worst = None
    for i, (a, b) in enumerate(zip(struct.iter_unpack("<" + code, got),
                                   struct.iter_unpack("<" + code, want))):
        distance = abs(ordered(a[0], width) - ordered(b[0], width))
        mask = (1 << width - 1) - 1
        either_nan = (a[0] & mask > inf) != (b[0] & mask > inf)
        if distance > bounds[i % len(bounds)] or either_nan:
            worst = f"element {i}: {a[0]:x}, host {b[0]:x} ({distance} units in the last place)"
    return worst


def sweep(options, tmp):
    s = Sweep(options, tmp)
    program = s.host_program()
    combos = [(o, w) for w in (32, 64) for o in (0, 1, 2, 3)]
    names = sorted(set(s.kernels.values()))
    todo = []  # file, opt, wave, kernels
    for name in names:
        kernels = [k for k, n in s.kernels.items() if n == name]
        chosen = combos if options.all else [combos[(2 + FILES.index(name)) % 4],
                                             combos[4 + (FILES.index(name) * 2 + 2) % 4]]
        todo += [(name, o, w, kernels) for o, w in chosen]
    params = {k: s.inputs(k) for k in s.kernels}
    expected = {}
    failures, runs = [], 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        sos = {(n, w): pool.submit(s.compile_host, n, w) for n in names for w in (32, 64)}
        elves = {(n, o, w): pool.submit(s.compile_gpu, n, o, w) for n, o, w, _ in todo}
        for name, opt, wave, kernels in todo:
            elf = elves[name, opt, wave].result()
            for kernel in kernels:
                if (kernel, wave) not in expected:
                    expected[kernel, wave] = s.run_host(program, sos[name, wave].result(), kernel,
                                                        wave)
                what = compare(kernel, s.run_gpu(elf, kernel, params[kernel]),
                               expected[kernel, wave])
                runs += 1
                if what:
                    failures.append(kernel)
                    print(f"{kernel} O{opt} wave{wave}: {what}", flush=True)
    idle = [k for (k, w), v in expected.items() if not any(v)]
    for kernel in idle:
        print(f"{kernel}: all results are zero: nothing is tested")
    print(f"{len(s.kernels)} kernels, {len(todo)} compilations, {runs} runs, "
          f"{len(failures)} differ")
    return 1 if failures or idle or not runs else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rdna3", required=True)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--device-libs", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.device_libs:
        folder, options.device_libs = options.device_libs, find_device_libs(options.device_libs)
        if not options.device_libs:
            print(f"skipped: no device library (ocml.bc) in {folder}: tests/clients/trees.sh trixie "
                  "brings it")
            return 77
    if not shutil.which(CLANG):
        print(f"skipped: there is no {CLANG}")
        return 77
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
        if "f16c" not in f.read():
            print("skipped: the host has no f16 conversions")
            return 77
    with tempfile.TemporaryDirectory() as tmp:
        return sweep(options, tmp)


if __name__ == "__main__":
    sys.exit(main())
