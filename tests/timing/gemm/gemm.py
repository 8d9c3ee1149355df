"""fp32 matrix multiplies built like three published ones (seb-v.github.io, 4096 x 4096): what the
timing model gives beside what was measured.

usage: gemm.py RDNA3 [--check] [--size N] [--sample SPEC] [KERNEL ...]

  --check        also of variants: results against products of this host, and a short run in time: seconds
  --size N       of the matrices (default 4096), a multiple of 128
  --sample SPEC  for --timing-sample (default: what the chip holds at once)

Kernels 3 and 5 come from gemm.cl by clang-19 -O3, kernel 7 from vopd.py. Times are compared
at the one clock that fits all of them best. Exit status 1 if a kernel misses its goals,
77 if there is no clang-19."""
import argparse
import array
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CLANG = ("clang-19 -x cl -cl-std=CL2.0 -nogpulib -target amdgcn-amd-amdhsa -mcpu=gfx1100 -O3 "
         "-ffp-contract=fast").split()
# name: work-items; how it is built (defines, or vopd.py); published: ms, VALU %, LDS %, waves of a SIMD
KERNELS = {
    "k3": (256, "WAVES=8 WAVE_N=64 PAD=0 BUFFERED=0 UNROLL=8", (6.0341, 43.7, 26.7, 12)),
    "k5": (128, "WAVES=4 WAVE_N=128 PAD=4 BUFFERED=1 UNROLL=1 OCCUPANCY=7 CU", (4.0994, 66.3, 32.7, 6)),
    "k7": (128, "vopd", (3.3314, 80.1, 64.7, 6)),
}
# others of the same makers, for --check
VARIANTS = {
    "64 x 64, WGP": (128, "EDGE=64 WAVES=4 WAVE_N=32 PAD=4 BUFFERED=1 UNROLL=2", None),
    "16 deep": (256, "DEPTH=16 WAVES=8 WAVE_N=64 PAD=1 BUFFERED=0 UNROLL=4 CU", None),
    "k7, scalar": (128, "vopd --scalar", None),
    "k7, level": (128, "vopd --level", None),
}
MS_GOAL, VALU_GOAL = 10, 5


def build(rdna3, folder, name, recipe):
    code = os.path.join(folder, name.replace(" ", "").replace(",", "") + ".hsaco")
    if recipe.startswith("vopd"):
        source = code[:-6] + ".s"
        with open(source, "w") as f:
            subprocess.run([sys.executable, os.path.join(HERE, "vopd.py"), *recipe.split()[1:]], stdout=f, check=True)
        subprocess.run([rdna3, "asm", "-o", code, source], check=True)
        return code
    defines = ["-mcumode" if d == "CU" else "-D" + d for d in recipe.split()]
    subprocess.run(CLANG + defines + [os.path.join(HERE, "gemm.cl"), "-o", code], check=True)
    return code


def edge(recipe):
    return 64 if "EDGE=64" in recipe else 128


def timed(rdna3, code, block, n, tile, folder, *more):
    path = os.path.join(folder, "t.json")
    buffers = ["--arg", "buf:%d" % (4 * n * n)] * 3
    subprocess.run([rdna3, "run", code, "--grid", "%d,%d" % (n // tile, n // tile), "--block", str(block),
                    *buffers, "--arg", "i32:%d" % n, "--arg", "f32:1", "--arg", "f32:0", "--timing",
                    "--sclk-mhz", "2500", "--timing-json", path, *more], check=True, stdout=subprocess.DEVNULL)
    with open(path) as f:
        return json.load(f)


def matrix(folder, name, values, slack):
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        array.array("f", values).tofile(f)
        f.truncate(4 * len(values) + slack)
    return path


def product(rdna3, folder, n, alpha, beta, command, slack=0):
    """Small whole numbers: every sum is exact, whatever its order. command: of a launch, made from three buffers;
    slack: bytes behind a matrix."""
    r = random.Random(7)
    a, b, c = ([r.randint(-4, 4) for _ in range(n * n)] for _ in range(3))
    files = ["file:" + matrix(folder, name, v, slack) for name, v in (("a", a), ("b", b), ("c", c))]
    got = os.path.join(folder, "out")
    subprocess.run([rdna3, "run", *command(files), "--out", "2=" + got], check=True, stdout=subprocess.DEVNULL)
    result = array.array("f")
    with open(got, "rb") as f:
        result.fromfile(f, n * n)
    columns = [b[j::n] for j in range(n)]
    for i in range(0, n, 5): # every fifth row: all patches of every tile
        row = a[i * n:i * n + n]
        for j in range(n):
            want = alpha * sum(x * y for x, y in zip(row, columns[j])) + beta * c[i * n + j]
            if result[i * n + j] != want:
                print("%d, %d is %g, wanted %g" % (i, j, result[i * n + j], want))
                return False
    return True


def right(rdna3, code, block, tile, folder, n=256):
    def command(files):
        args = [x for f in files for x in ("--arg", f)]
        return [code, "--grid", "%d,%d" % (n // tile, n // tile), "--block", str(block), *args,
                "--arg", "i32:%d" % n, "--arg", "f32:2", "--arg", "f32:0.5"]
    return product(rdna3, folder, n, 2, 0.5, command)


def check(rdna3, folder, names):
    failed = 0
    for name, (block, recipe, _) in {**KERNELS, **VARIANTS}.items():
        if names and name not in names:
            continue
        code = build(rdna3, folder, name, recipe)
        ok = right(rdna3, code, block, edge(recipe), folder)
        o = timed(rdna3, code, block, 256, edge(recipe), folder)
        u = o["util"]
        sane = 0 < u["valu"] <= 100 and 0 < u["lds"] <= 100 and o["span_cycles"] > 30000
        failed |= not ok or not sane
        print("%-14s results %s, %d cycles, VALU %.1f %%, LDS %.1f %%%s" % (
            name, "right" if ok else "WRONG", o["span_cycles"], u["valu"], u["lds"], "" if sane else " *"))
    return failed


def fit(rows):
    """The clock in GHz with the least mean error of time."""
    def error(khz):
        return sum(abs(c / khz / 1e3 - p[0]) / p[0] for _, c, p, _ in rows)
    return min(range(1500, 3001), key=error) / 1000


def main():
    p = argparse.ArgumentParser()
    p.add_argument("rdna3")
    p.add_argument("names", nargs="*")
    p.add_argument("--check", action="store_true")
    p.add_argument("--size", type=int, default=4096)
    p.add_argument("--sample", default="1")
    o = p.parse_intermixed_args()
    for n in o.names:
        if n not in KERNELS and n not in VARIANTS:
            sys.exit("error: no kernel is called '%s'" % n)
    if o.size <= 0 or o.size % 128:
        sys.exit("error: --size %d: not a multiple of 128" % o.size)
    if not shutil.which("clang-19"):
        print("skipped: there is no clang-19")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        if o.check:
            return check(o.rdna3, folder, o.names)
        rows = []
        for name, (block, recipe, published) in KERNELS.items():
            if o.names and name not in o.names:
                continue
            code = build(o.rdna3, folder, name, recipe)
            t = timed(o.rdna3, code, block, o.size, 128, folder, "--timing-sample", o.sample)
            rows.append((name, t["span_cycles"], published, t))
    clock, failed = fit(rows), 0
    print("clock fitted: %.3f GHz" % clock)
    print("%-6s%12s%10s%10s%8s%8s%8s%8s%8s%8s" % ("kernel", "cycles", "ms", "publ.", "err %", "VALU %", "publ.",
                                                "err pp", "LDS %", "publ."))
    for name, cycles, (ms, valu, lds, _), t in rows:
        got, u = cycles / clock / 1e6, t["util"]
        error, points = 100 * (got - ms) / ms, u["valu"] - valu
        wrong = abs(error) > MS_GOAL or abs(points) > VALU_GOAL
        failed |= wrong
        print("%-6s%12d%10.4f%10.4f%8.1f%8.1f%8.1f%8.1f%8.1f%8.1f%s" % (
            name, cycles, got, ms, error, u["valu"], valu, points, u["lds"], lds, " *" if wrong else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
