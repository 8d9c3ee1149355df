"""`--timing-sample auto` against whole runs: the whole lies within the stated interval; what is small is simulated
wholly; a launch that a sample cannot tell is refused, with the reason.

usage: estimate.py RDNA3 [--all]

--all: fourteen kernels at five sizes each, the table of the README."""
import os
import re
import subprocess
import sys
import tempfile

import made
import micro

RDNA3, ALL = sys.argv[1], "--all" in sys.argv
MASK = "f,0,0,0,0,0"  # four CUs
UNEQUAL = "s_and_b32 s21, s2, 3\n\ts_add_u32 s20, s20, s21\n"
RANDOM = "s_mul_i32 s21, s2, 0x9e3779b1\n\ts_lshr_b32 s21, s21, 28\n\ts_add_u32 s20, s20, s21\n"
GROWING = "s_lshr_b32 s21, s2, 2\n\ts_add_u32 s20, s20, s21\n"
# Every workgroup walks over 3 MiB of its own again and again.
AGAIN = "s_mov_b64 s[4:5], s[22:23]\n\t"
WALK = "s_mov_b64 s[22:23], s[4:5]\n\t" + micro.STREAM


def lds(i):
    return f"ds_load_b32 v{8 + i % 32}, v1" + ("\n\ts_waitcnt lgkmcnt(0)\n\ts_barrier" if i % 32 == 31 else "")


def mixed(i):
    return (micro.vadd(i), "v_exp_f32 v40, v41", "s_add_u32 s30, s30, 1", f"ds_load_b32 v{8 + i % 16}, v1")[i % 4]


def wmma(i):
    return "v_wmma_f32_16x16x16_f16 v[%d:%d], v[64:71], v[72:79], v[%d:%d]" % (
        8 + i % 4 * 8, 15 + i % 4 * 8, 8 + i % 4 * 8, 15 + i % 4 * 8)


# name, microbenchmark, trips: about 30,000 instructions of each wave
KERNELS = [
    ("VALU", micro.Bench("", 0, "", micro.vadd, block=256, mask=MASK), 300),
    ("few waves (VGPRs)", micro.Bench("", 0, "", micro.vadd, vgprs=250, block=128, mask=MASK), 300),
    ("few workgroups (LDS)", micro.Bench("", 0, "", micro.vadd, lds=40000, block=256, mask=MASK), 300),
    ("LDS conflicts, barriers", micro.Bench("", 0, "", lds, setup=micro.strided(4), lds=16384, block=256, mask=MASK),
     80),
    ("mixed units", micro.Bench("", 0, "", mixed, setup=micro.strided(1), lds=16384, block=256, mask=MASK), 150),
    ("transcendental", micro.Bench("", 0, "", lambda i: f"v_exp_f32 v{8 + i % 32}, v1", block=256, mask=MASK), 150),
    ("memory", micro.Bench("", 0, "", lambda i: micro.stream(i, AGAIN), setup=WALK, n=8, block=256, mask=MASK,
                           buffer=64 << 20), 120),
    ("four lengths", micro.Bench("", 0, "", micro.vadd, block=64, mask=MASK, setup=UNEQUAL), 40),
    ("random lengths", micro.Bench("", 0, "", micro.vadd, block=64, mask=MASK, setup=RANDOM), 30),
    ("stores", micro.Bench("", 0, "", lambda i: "global_store_b128 v1, v[8:11], s[4:5]\n\t" + micro.vadd(i),
                           setup="v_lshlrev_b32 v1, 4, v0\n", block=256, mask=MASK, buffer=8192), 150),
    ("f16 WMMA", micro.Bench("", 0, "", wmma, block=128, mask=MASK), 60),
    ("GL2 and VALU", micro.Bench("", 0, "", lambda i: micro.vadd(i) if i % 8 else micro.window(1 << 20)(i // 8),
                                 setup="v_lshlrev_b32 v1, 4, v0\n\ts_lshl_b32 s22, s2, 12\n", block=256, mask=MASK,
                                 buffer=2 << 20), 200),
    ("turns between barriers", micro.Bench("", 0, "", lambda i: micro.vadd(i) + ("\n\ts_barrier" if i % 16 == 15 else ""),
                                           block=512, mask=MASK), 150),
    ("growing", micro.Bench("", 0, "", micro.vadd, block=64, mask=MASK, setup=GROWING), 40),
]
SIZES = (20, 37, 64, 100, 200)
PHASES = made.KERNEL.split("k:\n")[0] + """k:
  s_movk_i32 s20, 4000
a:
  v_add_f32 v8, v9, v10
  v_add_f32 v11, v12, v13
  s_sub_u32 s20, s20, 1
  s_cmp_lg_u32 s20, 0
  s_cbranch_scc1 a
  s_movk_i32 s20, 4000
b:
  v_exp_f32 v8, v9
  s_nop 3
  s_sub_u32 s20, s20, 1
  s_cmp_lg_u32 s20, 0
  s_cbranch_scc1 b
  s_endpgm
.rodata""" + made.KERNEL.split(".rodata")[1]


def run(command, *more):
    p = subprocess.run(command + ["--timing", *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                       check=False)
    if p.returncode:
        return p.stderr, None, None
    busy = [float(x) for x in re.findall(r"^(?:LDS|VALU) busy +([a-z0-9.]+) %", p.stdout, re.M)]
    assert busy and all(0 <= x <= 101 for x in busy), p.stdout
    said = re.search(r"^sampled .*\+- (\d+) .*\n.*pace of ([0-9.]+) %", p.stdout, re.M)
    return int(re.search(r"^cycles +(\d+)", p.stdout, re.M).group(1)), said and int(said.group(1)), \
        said and float(said.group(2))


def compare(name, command, budget, most):
    """-> stated error or None: not sampled, within (that, and most percent); prints a row"""
    guess, error, part = run(command, "--timing-sample", f"auto:{budget}")
    if isinstance(guess, str):
        print(f"{name:34} {guess.split('refused: ')[-1].strip()}")
        assert "refused: " in guess, guess
        return None, True
    whole = run(command)[0]
    if error is None:
        print(f"{name:34} {whole:9} wholly simulated")
        return None, guess == whole
    off = 100 * (guess - whole) / whole
    print(f"{name:34} {whole:9} {off:+6.1f} % of it, stated {100 * error / whole:5.1f} %, by {part:.1f} %"
          f"{'' if abs(guess - whole) <= error else ' *'}", flush=True)
    return error / whole, abs(guess - whole) <= error and abs(off) <= most


def table(folder, kernels, sizes, most=100.0):
    sampled = held = failed = widest = 0
    for number, (name, bench, trips) in enumerate(kernels):
        place = os.path.join(folder, str(number))
        os.mkdir(place)
        code = micro.assemble(RDNA3, place, bench, bench.n)
        for groups in sizes:
            command = [RDNA3, "run", code, "--grid", str(groups), "--block", str(bench.block), "--arg",
                       f"buf:{bench.buffer}", "--arg", f"i32:{trips}", "--arg", "i32:0", "--cu-mask", bench.mask]
            stated, within = compare(f"{name}, {groups}", command, 2000000, most)
            sampled += stated is not None
            held += stated is not None and within
            failed += not within
            widest = max(widest, stated or 0)
    print(f"{held} of {sampled} intervals hold")
    return sampled, failed, widest


def refusals(folder):
    source, code = os.path.join(folder, "p.s"), os.path.join(folder, "p.hsaco")
    with open(source, "w", encoding="utf-8") as f:
        f.write(PHASES)
    subprocess.run([RDNA3, "asm", "-o", code, source], check=True)
    command = [RDNA3, "run", code, "--grid", "64", "--block", "128", "--arg", "buf:4K", "--cu-mask", MASK]
    told = run(command, "--timing-sample", "auto:1500000")[0]
    assert isinstance(told, str) and "refused: phases: " in told, told
    # the first turns of a loop tell nothing
    early = run(command, "--timing-sample", "auto:2000")[0]
    assert isinstance(early, str) and "refused: no steady pace" in early, early
    # as many instructions as are simulated wholly
    whole = run(command[:-1] + ["1,0,0,0,0,0", "--grid", "1"], "--timing-sample", "auto")
    assert whole == run(command[:-1] + ["1,0,0,0,0,0", "--grid", "1"]) and whole[1] is None, whole
    for wrong in ("auto:", "auto:0", "auto:x", "autox"):
        p = subprocess.run(command + ["--timing", "--timing-sample", wrong], stderr=subprocess.PIPE, text=True,
                           check=False)
        assert p.returncode == 2 and "auto" in p.stderr, p.stderr
    return told


def main():
    with tempfile.TemporaryDirectory() as folder:
        if ALL:
            table(folder, KERNELS, SIZES)
            return 0
        sampled, failed, widest = table(folder, KERNELS[:1] + KERNELS[3:4], (37,))
        assert sampled == 2 and not failed and widest < 0.12 # what is left over has been timed
        # older workgroups are ahead of younger ones, so a CU drains one by one
        os.mkdir(os.path.join(folder, "ages"))
        sampled, failed, widest = table(os.path.join(folder, "ages"), KERNELS[1:2], (37,), 2.0)
        assert sampled == 1 and not failed and widest < 0.12
        print(refusals(folder), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
