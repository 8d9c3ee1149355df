#!/usr/bin/env python3
"""Results do not depend on the number of host threads, and repeat.

    deterministic.py RDNA3

Runs the example kernels and one whose float atomics make the order of workgroups visible,
on one and more threads with several seeds. Exit status: 0 equal, 1 not, 77 skipped.
"""
# SPDX-License-Identifier: MIT
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "tools", "examples")

# source, argument to compare, options
CASES = [
    ("vector_add.cl", 2, "--grid 40 --arg buf:40K:rand=f32,1 --arg buf:40K:rand=f32,2 "
                         "--arg buf:40K --arg u32:10000"),
    ("reduce.cl", 1, "--grid 24 --arg buf:64K:rand=u32,1 --arg buf:4 --arg u32:16384"),
    ("matmul.cl", 2, "--grid 4,4 --arg buf:16K:rand=f32,1 --arg buf:16K:rand=f32,2 "
                     "--arg buf:16K --arg u32:64"),
    ("mandelbrot.cl", 0, "--grid 2,30 --arg buf:1920 --arg u32:64 --arg u32:30 "
                         "--arg u32:50"),
    ("float_sum.cl", 1, "--grid 64 --block 64 --arg buf:16K:rand=f32,3 --arg buf:4"),
]


def main():
    rdna3 = sys.argv[1]
    if not shutil.which("clang-19"):
        print("skipped: there is no clang-19")
        return 77
    status = 0
    with tempfile.TemporaryDirectory() as tmp:
        for source, result, options in CASES:
            path = os.path.join(HERE, source)
            if not os.path.exists(path):
                path = os.path.join(EXAMPLES, source)
            elf, out = os.path.join(tmp, source + ".hsaco"), os.path.join(tmp, "out")
            subprocess.run(["clang-19", "-x", "cl", "-cl-std=CL2.0", "-nogpulib", "-O2",
                            "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1100", "-I", EXAMPLES,
                            path, "-o", elf], check=True)
            first = None
            for threads, seed in (1, 7), (2, 7), (4, 7), (4, 7):
                subprocess.run([rdna3, "run", elf, "--threads", str(threads), "--seed",
                                str(seed), "--out", f"{result}={out}", *options.split()],
                               check=True)
                with open(out, "rb") as f:
                    data = f.read()
                if first is not None and data != first:
                    print(f"{source}: differs with {threads} threads, seed {seed}")
                    status = 1
                first = first or data
            print(f"{source}: done")
    return status


if __name__ == "__main__":
    sys.exit(main())
