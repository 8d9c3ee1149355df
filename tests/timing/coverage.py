"""How many of the stated intervals of `--timing-sample` hold: kernels that the sampling was not fitted to, at several
sizes, whole and sampled.

usage: coverage.py RDNA3 [--all] [NAME ...]

Kernels: the repository's own (benchmarks, examples, matrix multiplies), expressions of its compiler, vectors of
`tests/data/functional`. Without --all a few of them, in seconds, with the exit status 1 if an interval does not hold;
with it the table of the README. NAME: only these kernels. What needs clang-19 is left out without it."""
# SPDX-License-Identifier: MIT
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.append(os.path.join(HERE, "..", "run"))
import micro
import replay

RDNA3, ALL = sys.argv[1], "--all" in sys.argv
NAMES = [x for x in sys.argv[2:] if x != "--all"]
CLANG = ("clang-19 -x cl -cl-std=CL2.0 -nogpulib -target amdgcn-amd-amdhsa -mcpu=gfx1100 -O3 -ffp-contract=fast "
         "-I %s/tools/examples" % ROOT).split()
F32 = "buf:%d:rand=f32,%d"
FOUR, SPREAD, EIGHT = "f,0,0,0,0,0", "3,3,0,0,0,0", "f,f,0,0,0,0"
AUTO = 1500000 if ALL else 400000 # instructions at most, a part of what these kernels have
PARTS = "25%",


def asm(path):
    return lambda folder: run_tool("asm", "-o", folder + "/k", os.path.join(ROOT, path))(folder)


def run_tool(*words):
    def build(folder):
        subprocess.run([RDNA3, *words], check=True, stdout=subprocess.DEVNULL)
        return folder + "/k"
    return build


def cl(path, *more):
    def build(folder):
        if not shutil.which("clang-19"):
            return None
        subprocess.run([*CLANG, *more, os.path.join(ROOT, path), "-o", folder + "/k"], check=True)
        return folder + "/k"
    return build


def vopd(folder):
    with open(folder + "/k.s", "w", encoding="ascii") as f:
        subprocess.run([sys.executable, os.path.join(HERE, "gemm", "vopd.py")], stdout=f, check=True)
    return run_tool("asm", "-o", folder + "/k", folder + "/k.s")(folder)


def plain(build, arguments, mask=FOUR, block=None):
    """arguments(size) -> grid, arguments"""
    def command(folder, size):
        code, (grid, args) = build(folder), arguments(size)
        words = [code, "--grid", grid] + (["--block", block] if block else [])
        return code and words + [x for a in args for x in ("--arg", a)] + ["--cu-mask", mask]
    return command


def uop(text, mask=FOUR):
    """An expression of the compiler; N stands for the size. Buffers are the PARAMs."""
    def command(folder, n):
        lines = re.sub(r"\b(\d*)N\b", lambda m: str(int(m[1] or 1) * n), text)
        with open(folder + "/k.uop", "w", encoding="ascii") as f:
            f.write(lines)
        told = json.loads(subprocess.run([RDNA3, "compile", folder + "/k.uop", "-o", folder + "/k", "--json"],
                                         check=True, stdout=subprocess.PIPE, text=True).stdout)
        words = [folder + "/k", *("--grid", ",".join(map(str, told["grid"])), "--block",
                                  ",".join(map(str, told["block"])))]
        for number, m in enumerate(re.finditer(r"PARAM (\w+) \[(\d+)((?:, \d+)+)\]", lines)):
            size = 4
            for x in m[3].split(",")[1:]:
                size *= int(x)
            words += ["--arg", F32 % (size, number) if number else "buf:%d" % size]
        return words + ["--cu-mask", mask]
    return command


def lengths(setup):
    """Workgroups of one wave whose trips depend on their number."""
    def command(folder, n):
        bench = micro.Bench("", 0, "", micro.vadd, block=32, mask=FOUR, setup=setup)
        return [micro.assemble(RDNA3, folder, bench, bench.n), "--grid", str(n), "--block", "32", "--arg", "buf:4096",
                "--arg", "i32:40", "--arg", "i32:0", "--cu-mask", FOUR]
    return command


def vector(group, name, mask=FOUR):
    def command(folder, _):
        with gzip.open(os.path.join(ROOT, "tests", "data", "functional", group + ".jsonl.gz"), "rt") as f:
            v = next(v for v in map(json.loads, f) if v.get("name") == "kernel." + name)
        return [*replay.kernel_command(v, folder), "--wave", str(v["wave"]), "--cu-mask", mask]
    return command


MATMUL = """%out = PARAM f32 [0, N, N]
%a = PARAM f32 [1, N, N]
%b = PARAM f32 [2, N, N]
%a3 = RESHAPE %a [N, 1, N]
%ae = EXPAND %a3 [N, N, N]
%bt = PERMUTE %b [1, 0]
%b3 = RESHAPE %bt [1, N, N]
%be = EXPAND %b3 [N, N, N]
%p = MUL %ae %be
%s = REDUCE %p [ADD, 2]
%st = STORE %out %s
%k = SINK %st "matmul"
"""
ROWS = """%out = PARAM f32 [0, N]
%in = PARAM f32 [1, N, 256]
%sum = REDUCE %in [ADD, 1]
%st = STORE %out %sum
%k = SINK %st "rows"
"""
COLUMNS = """%out = PARAM f32 [0, 16N]
%in = PARAM f32 [1, 128, 16N]
%sum = REDUCE %in [MAX, 0]
%st = STORE %out %sum
%k = SINK %st "columns"
"""
WAVY = """%out = PARAM f32 [0, 1024N]
%in = PARAM f32 [1, 1024N]
%s = SIN %in
%e = EXP2 %s
%r = SQRT %e
%d = FDIV %r %in
%y = MAX %d %s
%st = STORE %out %y
%k = SINK %st "wavy"
"""
ADD = """%out = PARAM f32 [0, 4096N]
%a = PARAM f32 [1, 4096N]
%b = PARAM f32 [2, 4096N]
%y = MULACC %a %b %a
%st = STORE %out %y
%k = SINK %st "add"
"""
WINDOW = """%out = PARAM f32 [0, N, 256]
%in = PARAM f32 [1, N, 256]
%p = PAD %in [1, 1, 1, 1]
%a = SHRINK %p [0, N, 0, 256]
%b = SHRINK %p [1, PN, 2, 258]
%x = ADD %a %b
%y = ADD %x %in
%st = STORE %out %y
%k = SINK %st "window"
""".replace("PN", "{}")
NORM = """%out = PARAM f32 [0, N, 128]
%in = PARAM f32 [1, N, 128]
%sq = MUL %in %in
%sum = REDUCE %sq [ADD, 1]
%root = SQRT %sum
%wide = RESHAPE %root [N, 1]
%all = EXPAND %wide [N, 128]
%y = FDIV %in %all
%st = STORE %out %y
%k = SINK %st "norm"
"""


def square(n, tile, *scalars):
    return "%d,%d" % (n // tile, n // tile), [F32 % (4 * n * n, 1), F32 % (4 * n * n, 2), "buf:%d" % (4 * n * n),
                                              *scalars]


def gemm(n):
    return "%d,%d" % (n // 128, n // 128), [F32 % (4 * n * n, 1), F32 % (4 * n * n, 2), "buf:%d" % (4 * n * n),
                                            "i32:%d" % n, "f32:1", "f32:0"]


# name, command(folder, size), sizes
KERNELS = [
    ("matmul", plain(cl("tools/examples/matmul.cl"), lambda n: square(n, 16, "u32:%d" % n)), (160, 256, 320)),
    ("reduce", plain(cl("tools/examples/reduce.cl"), lambda n: ("%d" % n, ["buf:4M:rand=u32,1", "buf:4", "u32:1048576"])),
     (100, 400)),
    ("vector_add", plain(cl("tools/examples/vector_add.cl"),
                         lambda n: ("%d" % n, [F32 % (1024 * n, 1), F32 % (1024 * n, 2), "buf:%d" % (1024 * n),
                                               "u32:%d" % (256 * n)])), (300, 2000)),
    ("mandelbrot", plain(cl("tools/examples/mandelbrot.cl"), lambda n: (
        "%d,%d" % (n // 32, n), ["buf:%d" % (n * n), "u32:%d" % n, "u32:%d" % n, "u32:100"])), (128, 320)),
    ("mul_mat", plain(cl("tools/bench/kernels/mul_mat.cl"), lambda n: (
        "%d" % n, ["buf:%d:rand=u8,1" % (34 * 128 * n), "buf:%d:rand=u8,2" % (36 * 128), "buf:%d" % (4 * n),
                   "u32:128"])), (200, 1000)),
    ("wmma_gemm", plain(cl("tools/bench/kernels/wmma_gemm.cl"), lambda n: (
        "%d,%d" % (n // 64, n // 64), ["buf:%d:rand=f16,1" % (2 * n * n), "buf:%d:rand=f16,2" % (2 * n * n),
                                       "buf:%d" % (4 * n * n), "u32:%d" % n])), (512, 768)),
    ("sum", plain(cl("compiler/bench/sum.cl"), lambda n: ("%d" % n, ["buf:%d" % (4 * n), F32 % (65536 * n, 1)])),
     (60, 200)),
    ("softmax", plain(cl("compiler/bench/softmax.cl"),
                      lambda n: ("%d" % n, ["buf:%d" % (16384 * n), F32 % (16384 * n, 1)])), (100, 400)),
    ("flash_attention", plain(cl("compiler/bench/flash_attention.cl"), lambda n: (
        "%d" % (4 * n), ["buf:%d" % (65536 * n)] + ["buf:%d:rand=f16,%d" % (32768 * n, i) for i in (1, 2, 3)])),
     (16, 40)),
    ("matmul_f16", plain(cl("compiler/bench/matmul_f16.cl"), lambda n: (
        "%d" % n, ["buf:4M", "buf:2M:rand=f16,1", "buf:2M:rand=f16,2"])), (64, 128)),
    ("matmul_f32", plain(cl("compiler/bench/matmul_f32.cl"), lambda n: (
        "%d" % n, ["buf:4M", F32 % (4 << 20, 1), F32 % (4 << 20, 2)])), (40, 64)),
    ("gemm, WGP mode", plain(cl("tests/timing/gemm/gemm.cl", *"-DWAVES=8 -DWAVE_N=64 -DPAD=0 -DBUFFERED=0 -DUNROLL=8"
                                .split()), gemm, SPREAD, "256"), (384, 640)),
    ("gemm, CU mode", plain(cl("tests/timing/gemm/gemm.cl", *("-DWAVES=4 -DWAVE_N=128 -DPAD=4 -DBUFFERED=1 -DUNROLL=1 "
                                                              "-DOCCUPANCY=7 -mcumode").split()), gemm, FOUR, "128"),
     (512, 640)),
    ("gemm, pairs", plain(vopd, gemm, FOUR, "128"), (512, 640)),
    ("mixed (viz)", plain(asm("tests/viz/mixed.s"), lambda n: (
        "%d" % n, [F32 % (4096 * n + 4096, 1), "buf:%d" % (4096 * n + 4096)]), EIGHT, "256"), (100, 300)),
    ("lds", plain(asm("tools/bench/kernels/lds.s"), lambda n: ("%d" % n, ["u32:100"]), FOUR, "256"), (50, 150)),
    ("mixed", plain(asm("tools/bench/kernels/mixed.s"), lambda n: ("%d" % n, ["buf:%d" % (1024 * n), "u32:60"]), FOUR,
                    "256"), (50, 150)),
    ("valu", plain(asm("tools/bench/kernels/valu.s"), lambda n: ("%d" % n, ["u32:150"]), FOUR, "256"), (50, 150)),
    ("stream", plain(asm("tools/bench/kernels/stream.s"), lambda n: (
        "%d" % n, [F32 % (1024 * n * 40, 1), F32 % (1024 * n * 40, 2), "u32:40", "u32:%d" % (1024 * n)]), EIGHT, "256"),
     (100, 300)),
    ("wmma", plain(asm("tools/bench/kernels/wmma.s"), lambda n: ("%d" % n, ["u32:200"]), FOUR, "128"), (60, 200)),
    ("expression: product", uop(MATMUL), (128, 256)),
    ("expression: rows", uop(ROWS), (4096, 16384)),
    ("expression: columns", uop(COLUMNS), (512, 2048)),
    ("expression: sine, root", uop(WAVY), (64, 256)),
    ("expression: a * b + a", uop(ADD, EIGHT), (64, 512)),
    ("expression: norm", uop(NORM), (512, 2048)),
    ("last ones long", lengths("s_cmp_ge_u32 s2, 295\n\ts_cselect_b32 s21, 400, 0\n\ts_add_u32 s20, s20, s21\n"),
     (300,)),
    ("longer and longer", lengths("s_add_u32 s20, s20, s2\n"), (200, 400)),
    ("qkv", vector("kern_misc", "test_custom_kernel.TestCustomKernel.test_gemm_qkv.custom_gemm_14_48_6",
                   "1,0,0,0,0,0"), (0,)),
    ("grouped stores", vector("kern_misc", "test_linearizer.TestLinearizer.test_grouped_store_locals_and_globals."
                              "r_64_64_64"), (0,)),
    ("grouped stores, local", vector("kern_misc", "test_linearizer.TestLinearizer.test_two_grouped_stores_local."
                                     "r_32_32_4_4_32_8_8"), (0,)),
    ("tensor cores", vector("kern_misc", "test_tensor_cores.TestTensorCores.test_tensor_cores_unroll_casted_phi."
                            "r_16_16_64", "1,0,0,0,0,0"), (0,)),
    ("tensor, 16 by 64", vector("kern_seed", "seed.r_256_16_64~2", "1,0,0,0,0,0"), (0,)),
    ("attention, backward", vector("kern_misc", "test_rangeify.TestPcontig.test_flash_attention_bw."
                                   "r_16_16_8_16_8_16", "1,0,0,0,0,0"), (0,)),
]
GROW = "last ones long", "longer and longer" # what a share of them tells nothing of
QUICK = "lds", "last ones long", "longer and longer", "expression: product", "expression: columns"


def run(command, *more):
    p = subprocess.run([RDNA3, "run", *command, "--timing", *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True, check=False)
    if p.returncode:
        return p.stderr.strip(), None, None
    said = re.search(r"^sampled .*\+- (\d+) ", p.stdout, re.M)
    return int(re.search(r"^cycles +(\d+)", p.stdout, re.M)[1]), said and int(said[1]), p.stdout


class Count:
    def __init__(self):
        self.sampled, self.held, self.refused, self.whole, self.off, self.stated = 0, 0, 0, 0, [], []


def cell(count, whole, command, how):
    """One sample: off by, stated; a star where the whole is outside."""
    guess, error, text = run(command, "--timing-sample", how)
    if isinstance(guess, str):
        assert "refused: " in guess, guess
        count.refused += 1
        return "refused: " + guess.split("refused: ")[-1].split("\n")[0]
    if error is None:
        assert guess == whole, (guess, whole)
        count.whole += 1
        return "wholly simulated"
    off, stated, held = 100 * (guess - whole) / whole, 100 * error / whole, abs(guess - whole) <= error
    part = re.search(r"^sampled +(\d+) of (\d+) workgroups", text, re.M)
    count.sampled += 1
    count.held += held
    count.off.append(abs(off))
    count.stated.append(stated)
    return "%+.1f, %.1f by %.0f %%%s" % (off, stated, 100 * int(part[1]) / int(part[2]), "" if held else " *")


def main():
    counts = {how: Count() for how in (f"auto:{AUTO}", *PARTS)}
    failed = pairs = 0
    print("| kernel, size | cycles | auto: off by %, stated % | " + " | ".join(PARTS) + " |\n|---|---|---" +
          "|---" * len(PARTS) + "|")
    for name, command, sizes in KERNELS:
        if not ALL and name not in QUICK or NAMES and name not in NAMES:
            continue
        for size in sizes if ALL else sizes[:1]:
            with tempfile.TemporaryDirectory() as folder:
                words = command(folder, size)
                if not words:
                    print(f"| {name} | skipped: no clang-19 |")
                    continue
                whole = run(words)[0]
                assert isinstance(whole, int), whole
                pairs += 1
                cells = [cell(count, whole, words, how) if how not in PARTS or name not in GROW else "-"
                         for how, count in counts.items()]
                failed += sum("*" in c for c in cells)
                print("| %s%s | %d | %s |" % (name, ", %d" % size if size else "", whole, " | ".join(cells)), flush=True)
    for how, c in counts.items():
        if c.sampled:
            print("%s: %d of %d intervals hold; off by %.1f %% on average, %.1f at most, stated %.1f and %.1f; %d wholly "
                  "simulated, %d refused" % (how, c.held, c.sampled, sum(c.off) / c.sampled, max(c.off),
                                             sum(c.stated) / c.sampled, max(c.stated), c.whole, c.refused))
    print(f"{pairs} kernels and sizes")
    return 1 if failed and not ALL else 0


if __name__ == "__main__":
    sys.exit(main())
