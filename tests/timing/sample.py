"""Samples against whole runs: the whole lies within the error that a sample states, and the
error gets small as the sample grows. Kernels of one length, of several, of random lengths,
bound by VALU, LDS, memory, launches; one whose workgroups grow.

usage: sample.py RDNA3 MIXED.s"""
import os
import re
import subprocess
import sys
import tempfile

import micro

rdna3, mixed = sys.argv[1:]
FOUR, MANY = "3,3,0,0,0,0", "ff,ff,0,0,0,0"
CASES = [ # name, microbenchmark, workgroups, trips
    ("VALU", micro.Bench("", 0, "", micro.vadd, block=256, mask=FOUR), 75, 6),
    ("large workgroups", micro.Bench("", 0, "", micro.vadd, vgprs=250, lds=40000, block=256, mask=MANY), 150, 4),
    ("LDS conflicts", micro.Bench("", 0, "", lambda i: "ds_load_b32 v%d, v1" % (8 + i % 32) + (
        "\n\ts_waitcnt lgkmcnt(0)\n\ts_barrier" if i % 32 == 31 else ""), setup=micro.strided(4), lds=16384, block=256,
        mask=FOUR), 90, 4),
    ("memory", micro.Bench("", 0, "", lambda i: micro.stream(i, ""), setup=micro.STREAM, n=8, block=256, mask=MANY,
                           buffer=32 << 20), 400, 2),
    ("launches", micro.Bench("", 0, "", lambda i: "s_sleep 3" if i == 0 else "", n=4, mask=MANY), 3000, 4),
    ("four lengths", micro.Bench("", 0, "", micro.vadd, block=64, mask=FOUR, setup="s_and_b32 s21, s2, 3\n\t"
                                 "s_add_u32 s20, s20, s21\n"), 300, 2),
    ("random lengths", micro.Bench("", 0, "", micro.vadd, block=64, mask=FOUR, setup="s_mul_i32 s21, s2, 0x9e3779b1\n\t"
                                   "s_lshr_b32 s21, s21, 28\n\ts_add_u32 s20, s20, s21\n"), 300, 1),
    ("growing", micro.Bench("", 0, "", micro.vadd, block=64, mask=FOUR, setup="s_lshr_b32 s21, s2, 4\n\t"
                            "s_add_u32 s20, s20, s21\n"), 600, 2),
]


def cycles(command, *more):
    out = subprocess.run(command + ["--timing"] + list(more), check=True, stdout=subprocess.PIPE, text=True).stdout
    said = re.search(r"^sampled +(\d+) of (\d+) workgroups; .*\+- (\d+) ", out, re.M)
    return int(re.search(r"^cycles +(\d+)", out, re.M).group(1)), said and [int(x) for x in said.groups()]


def main():
    failed = 0
    print("%-18s %9s  %s" % ("kernel", "cycles", "sample: off by %, stated %"))
    with tempfile.TemporaryDirectory() as folder:
        code = os.path.join(folder, "mixed")
        subprocess.run([rdna3, "asm", "-o", code, mixed], check=True)
        runs = [("everything", [rdna3, "run", code, "--grid", "150", "--block", "256", "--arg", "buf:600K:rand=f32,1",
                                "--arg", "buf:600K", "--cu-mask", "f,f,0,0,0,0"])]
        for number, (name, bench, groups, trips) in enumerate(CASES):
            place = os.path.join(folder, str(number))
            os.mkdir(place)
            code = micro.assemble(rdna3, place, bench, bench.n)
            runs.append((name, [rdna3, "run", code, "--grid", str(groups), "--block", str(bench.block), "--arg",
                                "buf:%d" % bench.buffer, "--arg", "i32:%d" % trips, "--arg", "i32:0", "--cu-mask",
                                bench.mask]))
        for name, command in runs:
            whole, said = cycles(command)
            failed |= said is not None
            row = []
            for percent in (10, 20, 30, 40, 50, 60, 70, 80, 90):
                guess, said = cycles(command, "--timing-sample", "%d%%" % percent)
                off, error = 100 * (guess - whole) / whole, 100 * said[2] / whole
                # of growing workgroups the first ones tell nothing
                wrong = abs(off) > error and (name != "growing" or percent >= 60)
                wrong |= percent >= 80 and error > 40
                failed |= wrong
                row.append("%d: %+.0f, %.0f%s" % (percent, off, error, "*" if wrong else ""))
            print("%-18s %9d  %s" % (name, whole, "  ".join(row)))
    return failed


if __name__ == "__main__":
    sys.exit(main())
