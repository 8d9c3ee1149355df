"""The summary of a timed run says what the kernel does: figures that can be counted by hand,
or from the timing file.

usage: summary.py RDNA3"""
import json
import os
import re
import subprocess
import sys
import tempfile

import micro

rdna3 = sys.argv[1]
failed = 0
MHZ, TRIPS, GROUPS, BLOCK = 2000, 5, 12, 128
WAVES = GROUPS * BLOCK // 32
# 3 FMAs, an addition, a pair of multiplications: 9 operations of a lane; a 16-way conflict
BODY = "\n\t".join(["v_fma_f32 v8, v9, v10, v11"] * 3 + [
    "v_add_f32 v12, v13, v14", "v_dual_mul_f32 v16, v20, v22 :: v_dual_mul_f32 v17, v21, v23",
    "s_add_u32 s8, s9, s10", "ds_load_b32 v24, v1", "global_load_b128 v[28:31], v2, s[4:5]",
    "global_store_b32 v2, v24, s[4:5]", "s_waitcnt vmcnt(0) lgkmcnt(0)"])


WMMA = "v_wmma_f32_16x16x16_f16 v[40:47], v[48:55], v[56:63], 0"
# Code, cycles, where they were seen.
EXECUTIONS = [
    (["v_mov_b32 v8, 1.0", "v_add_f32 v8, v8, v8", "v_add_f32 v8, v8, v8"], [6, 5, 5], "A1, A5: a constant, a chain"),
    ([WMMA, "v_exp_f32 v8, v33", "v_lshlrev_b64 v[10:11], 1, v[34:35]"], [40, 1, 5], "B2: 8 of 8"),
    ([WMMA, "v_exp_f32 v8, v33", "v_sqrt_f64 v[10:11], v[34:35]"], [40, 1, 33], "A1: 3 of 3 roots, in three runs"),
    (["v_med3_f32 v%d, v32, v34, v36" % (8 + i) for i in range(4)] + ["v_min_f64 v[12:13], v[34:35], v[36:37]"],
     [8, 2, 1, 2, 30], "A1: v_min_f64 behind such, and four more"),
    (["v_wmma_f32_16x16x16_f16 v[40:47], v[48:55], v[56:63], v[40:47]"] * 2, [42, 34], "A1: 3 of 4"),
    (["v_add_f32 v8, v33, v34", WMMA], [8, 33], "B2: 33 behind a shift's"),
]


def check(what, ok, more=""):
    global failed
    if not ok:
        failed = 1
        print("FAILED:", what, more)


def near(a, b, part):
    return abs(a - b) <= part * abs(b)


with tempfile.TemporaryDirectory() as folder:
    out = os.path.join(folder, "out.json")
    bench = micro.Bench("", 0, "", lambda i: BODY if i == 0 else "", lds=20000,
                        setup=micro.strided(16) + "\tv_lshlrev_b32 v2, 4, v0\n")
    code = micro.assemble(rdna3, folder, bench, 1)
    text = subprocess.run([rdna3, "run", code, "--grid", str(GROUPS), "--block", str(BLOCK), "--arg", "buf:4K", "--arg",
                           "i32:%d" % TRIPS, "--arg", "i32:0", "--timing", "--timing-json", out, "--timing-insts", "all",
                           "--sclk-mhz", str(MHZ), "--cu-mask", "1,0,0,0,0,0"], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    print(text)
    with open(out) as f:
        timed = json.load(f)
    said = {line[:19].strip(): line[19:].strip() for line in text.splitlines()}
    waves = timed["waves"]
    span = max(w["end"] for w in waves) - min(w["start"] for w in waves)
    us = span / MHZ
    check("cycles, time", said["cycles"] == "%d (%.3f us at %d MHz)" % (span, us, MHZ), said["cycles"])
    resident = max(sum(w["start"] <= t < w["end"] for w in waves) for t in {w["start"] for w in waves})
    check("waves", said["waves"] == "%d, at most %d at once" % (WAVES, resident), said["waves"])
    # 65536 / 20480 bytes of LDS: three workgroups of four waves on two SIMDs
    check("occupancy", said["occupancy"].startswith("6 of 16 waves per SIMD, limited by LDS; "), said["occupancy"])
    insts = sum(len(w["insts"]) for w in waves)
    each = 13 # of a trip, with the loop's three
    check("instructions", said["instructions"].startswith("%d, " % insts) and
          insts == WAVES * (6 + TRIPS * each), (said["instructions"], insts / WAVES))
    shares = dict(re.findall(r"(\w+) ([\d.]+) %", said["issue by unit"]))
    held = insts / float(said["instructions"].split()[1])
    for unit, count in (("VALU", 2 + 5 * TRIPS), ("VMEM", 2 * TRIPS), ("LDS", TRIPS), ("BRANCH", TRIPS)):
        check("issue of " + unit, near(float(shares[unit]), 100 * count * WAVES / held, .05),
              (shares[unit], 100 * count * WAVES / held))
    check("VALU busy", near(float(said["VALU busy"].split()[0]), timed["util"]["valu"], .01))
    check("wave cycles", near(sum(map(float, re.findall(r"([\d.]+) %", said["wave cycles"]))), 100, .01))
    flops = 9 * 32 * TRIPS * WAVES
    check("operations", said["floating point"] == "%.3f GFLOP/s (%d operations)" % (flops / us / 1000, flops),
          (said["floating point"], flops))
    conflicts = 15 * TRIPS * WAVES # 16 cycles, one of them without conflict
    check("LDS", "%d of %d cycles in bank conflicts" % (conflicts, 16 * TRIPS * WAVES) in said["LDS busy"], said["LDS busy"])
    read, written = 16 * 32 * TRIPS * WAVES, 4 * 32 * TRIPS * WAVES
    got = list(map(int, re.findall(r"\d+", said["read, written"])[:2]))
    check("bytes", 0 <= got[0] - read <= 64 * WAVES and got[1] == written, (got, read, written))
    rate = float(re.search(r"\(([\d.]+) GB/s", said["read, written"])[1])
    check("their rate", near(rate, sum(got) / us / 1000, .01), (rate, sum(got) / us / 1000))
    rates = dict(re.findall(r"(\w+) ([\d.]+) %", said["hit rates"]))
    check("hit rates", float(rates["L0"]) > 90 and float(rates["scalar"]) > 80 and "code" in rates, rates)

    # one instruction, other addresses in each trip: 1, 2, 4 ... 32 dwords from lane to lane
    body = "ds_load_b32 v24, v1\n\ts_waitcnt lgkmcnt(0)\n\tv_lshlrev_b32 v1, 1, v1"
    bench = micro.Bench("", 0, "", lambda i: body, lds=20000, setup="v_lshlrev_b32 v1, 2, v0\n")
    code = micro.assemble(rdna3, folder, bench, 1)
    for block in (32, 64):
        text = subprocess.run([rdna3, "run", code, "--grid", "3", "--block", str(block), "--arg", "buf:4K", "--arg", "i32:6",
                               "--arg", "i32:0", "--timing", "--cu-mask", "1,0,0,0,0,0"], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        waves = 3 * block // 32
        check("LDS, changing pattern", "%d of %d cycles in bank conflicts" % (57 * waves, 63 * waves) in text, text)

    # beside issues their executions: how long each of a group comes behind the one before it, the first behind its issue
    for code, want, why in EXECUTIONS:
        n = len(code)
        idle = "s_nop 15\n\t" * 8
        bench = micro.Bench("", 0, "", lambda i: idle + "\n\t".join(code) + "\n\t" + idle if i == 0 else "",
                            setup="v_mov_b32 v9, v0\n") # its first read of a VGPR takes one more
        path = micro.assemble(rdna3, folder, bench, 1)
        subprocess.run([rdna3, "run", path, "--block", "32", "--arg", "buf:4K", "--arg", "i32:1", "--arg", "i32:0", "--timing",
                        "--timing-json", out, "--timing-insts", "all"], check=True, stdout=subprocess.DEVNULL)
        with open(out) as f:
            wave = json.load(f)["waves"][0]
        issue, execution = [t for _, t in wave["insts"]], wave["exec"]
        nops = [i for i in range(len(issue) - 1) if issue[i + 1] - issue[i] == 16]
        first = next(i for i, after in zip(nops, nops[1:]) if after > i + 1) + 1
        at = [issue[i] + execution[i] for i in range(first, first + n)]
        got = [at[0] - issue[first]] + [b - a for a, b in zip(at, at[1:])]
        check("executions of " + code[-1], len(issue) == len(execution) and execution[first - 1] == 0 and got == want, (got, want, why))

    # 32 waves of 144 registers: a CU has room for 20
    code = micro.assemble(rdna3, folder, micro.Bench("", 0, "", lambda i: "s_nop 0"), 1)
    done = subprocess.run([rdna3, "run", code, "--block", "1024", "--arg", "buf:4K", "--arg", "i32:1", "--arg", "i32:0",
                           "--timing"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check("a workgroup that never fits is an error", done.returncode == 1 and not done.stdout and
          "a workgroup needs more registers" in done.stderr, done)
sys.exit(failed)
