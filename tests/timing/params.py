"""Every parameter of the timing model does something: for each of them there is a small
kernel here that takes another time, or counts other things, when it is changed.

usage: params.py RDNA3 MIXED.s"""
import json
import os
import re
import subprocess
import sys
import tempfile

import micro

rdna3, mixed = sys.argv[1:]


def body(text):
    return lambda i: text if i == 0 else ""


ALU = "\n\t".join(
    ["v_mul_lo_u32 v1, v1, v50"] * 4 + ["v_exp_f32 v2, v2", "v_add_f32 v3, v2, v2", "v_exp_f32 v2, v2"] * 3 +
    ["v_readfirstlane_b32 s8, v1", "s_add_u32 s9, s8, s8", "v_mov_b32 v6, 0", "v_mov_b32 v7, 0",
     "v_fma_f64 v[6:7], v[6:7], v[6:7], v[6:7]", "global_load_b32 v30, v6, s[4:5]", "s_waitcnt vmcnt(0)"] +
    ["v_lshlrev_b64 v[4:5], 1, v[4:5]"] * 3 + ["v_fma_f64 v[6:7], v[6:7], v[6:7], v[6:7]"] * 3 + ["v_rcp_f64 v[6:7], v[6:7]", "v_add_f32 v6, v6, v6"] +
    ["v_wmma_f32_16x16x16_f16 v[8:15], v[64:71], v[72:79], v[8:15]"] * 8 +
    ["v_wmma_i32_16x16x16_iu4 v[16:23], v[64:65], v[66:67], v[16:23]"] * 8 +
    ["s_add_u32 s8, s8, s9", "v_mov_b32 v24, s8"] +
    ["v_fma_f32 v%d, v32, v34, v36" % (24 + i) for i in range(8)] +
    ["v_add_f32 v1, v1, v50"] * 20 + ["v_rcp_f32 v2, v2", "v_mov_b32 v26, 0"] * 2 +
    ["v_cmp_gt_f32 s%d, v1, v2" % (8 + i % 4) for i in range(12)] + ["s_mov_b32 s10, s8"] +
    ["v_cmpx_gt_u32 v0, v1"] * 6 + ["v_add_f32 v2, v2, v2", "s_mov_b32 exec_lo, -1", "v_mov_b32 v27, 0"] +
    ["s_mov_b32 s8, 0"] * 3 + ["s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0", "s_getreg_b32 s9, hwreg(HW_REG_MODE)",
     "s_waitcnt_vscnt null, 0x0", "s_mov_b32 s8, 0", "s_nop 0", "s_setprio 1"] +
    ["s_cbranch_scc0 .Lx", "s_branch .Lx", "s_nop 0", ".Lx:", "v_cmp_eq_u32 vcc_lo, v0, v0", "s_cbranch_vccz .Ly", ".Ly:", "v_cmpx_eq_u32 v0, v0", "v_cmpx_gt_u32 0, v0"] +
    ["v_add_f32 v1, v1, v1"] * 20 + ["s_mov_b32 exec_lo, -1"])
SALU = "\n\t".join(
    ["s_mul_i32 s8, s8, s9"] * 4 + ["s_add_u32 s8, s8, s9"] * 20 + ["s_cmp_lg_u32 s8, s9"] * 8 +
    ["v_readfirstlane_b32 s8, v1", "s_add_u32 s9, s8, s8", "v_cmp_eq_u32 vcc_lo, v0, v1", "s_and_b32 s10, vcc_lo, s8"] +
    ["v_cmp_eq_u32 s12, v0, v1", "s_mov_b32 s10, 0"] * 4 + ["v_mov_b32 v8, s10", "s_mov_b32 s10, 0"] * 4)
SMEM = "\n\t".join(
    ["s_load_b256 s[32:39], s[4:5], 0x0\n\ts_waitcnt lgkmcnt(0)", "s_load_b512 s[32:47], s[4:5], 0x0\n\ts_waitcnt lgkmcnt(0)"] * 2 +
    ["s_mov_b64 s[8:9], s[4:5]"] +
    ["s_load_b32 s24, s[8:9], 0x0\n\ts_waitcnt lgkmcnt(0)\n\ts_lshl_b32 s24, s24, 2\n\ts_add_u32 s8, s8, s24\n\ts_addc_u32 s9, s9, 0\n\t"
     "s_load_b32 s25, s[8:9], 0x%x\n\ts_waitcnt lgkmcnt(0)" % (64 * i) for i in range(300)] * 2)
LDS = "\n\t".join(
    ["ds_store_b128 v1, v[8:11]"] * 12 + ["ds_load_b32 v%d, v1" % (8 + i) for i in range(20)] +
    ["global_load_b32 v30, v2, s[4:5]", "v_mov_b32 v2, 0", "s_waitcnt lgkmcnt(0)", "ds_add_f32 v1, v8",
     "ds_add_rtn_f32 v9, v1, v8", "s_waitcnt lgkmcnt(0)", "ds_bpermute_b32 v9, v1, v8", "s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)"])
VMEM = "\n\t".join(["global_load_b32 v%d, v1, s[4:5]" % (8 + i) for i in range(24)] + ["s_waitcnt vmcnt(0)"] +
                   ["global_load_b128 v[%d:%d], v2, s[4:5]" % (8 + 4 * i, 11 + 4 * i) for i in range(10)] +
                   ["s_waitcnt vmcnt(0)"] + ["global_store_b128 v2, v[8:11], s[4:5]"] * 6 +
                   ["v_mov_b32 v30, 0", "global_atomic_add_u32 v31, v30, v1, s[4:5] glc", "s_waitcnt vmcnt(0)"])
CODE = "\n\t".join("v_mov_b32 v%d, 0x%x" % (8 + i % 16, 1000 + i) for i in range(5000))
WAYS = "\n\t".join("global_load_b32 v8, v%d, s[4:5]\n\ts_waitcnt vmcnt(0)" % (10 + i) for i in range(6))
APART = "".join("v_mov_b32 v%d, 0x%x\n\t" % (10 + i, i << 16) for i in range(6))
CARRIES = "\n\t".join(["v_add_co_u32 v8, vcc_lo, s4, v33", "v_add_co_ci_u32 v9, vcc_lo, s5, v36, vcc_lo", "v_mov_b32 v11, v40"] * 12)
SEND = "\n\t".join(["global_load_b32 v%d, v[2:3], off" % (8 + i) for i in range(25)] + ["v_mov_b32 v1, 0"] * 99)
LINES = "\n\t".join("global_load_b32 v8, v10, s[4:5] offset:%d\n\ts_waitcnt vmcnt(0)" % (128 * i) for i in range(31)) + \
    "\n\tv_add_nc_u32 v11, 0x1000, v10\n\t" + "\n\t".join(
        "global_load_b32 v8, v11, s[4:5] offset:%d\n\ts_waitcnt vmcnt(0)" % (128 * i) for i in range(16))
JUMPS = "\n\t".join("\n\t".join(["v_mov_b32 v8, 0x12345678"] * (3 + i) + ["s_branch .Lj%d" % i] +
                               ["v_mov_b32 v9, 0x12345678"] * 50 + [".Lj%d:" % i]) for i in range(20))
SMALL = ["l0_bytes=4096", "l0_ways=4", "gl1_bytes=8192", "gl1_ways=4", "gl2_bytes=131072", "gl2_ways=4",
         "mall_bytes=262144", "mall_ways=4"]
CASES = [ # name, microbenchmark, trips, settings of all runs; cheap ones first
    ("alu", micro.Bench("", 0, "", body(ALU), block=64), 2, []),
    ("salu", micro.Bench("", 0, "", body(SALU)), 2, []),
    ("smem", micro.Bench("", 0, "", body(SMEM), buffer=65536), 2, []),
    ("lds", micro.Bench("", 0, "", body(LDS), setup=micro.strided(1) + "\tv_lshlrev_b32 v2, 2, v0\n", lds=8192,
                        block=256), 2, []),
    ("vmem", micro.Bench("", 0, "", body(VMEM), setup="v_lshlrev_b32 v1, 2, v0\n\tv_lshlrev_b32 v2, 6, v0\n", block=256,
                         buffer=65536), 2, []),
    ("jumps", micro.Bench("", 0, "", body(JUMPS)), 1, []),
    ("carries", micro.Bench("", 0, "", body(CARRIES), block=512), 2, []),
    ("send", micro.Bench("", 0, "", body(SEND), setup="v_mov_b32 v2, s4\n\tv_mov_b32 v3, s5\n"), 3, []),
    ("pages", micro.Bench("", 0, "", body("global_load_b32 v8, v10, s[4:5]\n\tglobal_load_b32 v9, v11, s[4:5]"
                                          "\n\ts_waitcnt vmcnt(0)\n\tglobal_load_b32 v8, v10, s[4:5] offset:512"
                                          "\n\ts_waitcnt vmcnt(0)"),
                          setup="v_mov_b32 v10, 0\n\tv_mov_b32 v11, 0x200000\n", buffer=5 << 20), 1, []),
    ("lines", micro.Bench("", 0, "", body(LINES), setup="v_mov_b32 v10, 0\n", buffer=65536), 4, SMALL),
    ("ways", micro.Bench("", 0, "", body(WAYS), setup=APART, buffer=512 << 10), 4, SMALL),
    ("GL1", micro.Bench("", 0, "", body(WAYS), setup=APART, buffer=512 << 10), 4, SMALL + ["gl1_ways=8"]),
    ("code", micro.Bench("", 0, "", body(CODE)), 2, []),
    ("sleep", micro.Bench("", 0, "", body("s_sleep 1\n\ts_barrier"), block=1024, vgprs=48), 3, []),
    ("cold", micro.Bench("", 0, "", body("v_mov_b32 v8, 0x12345678\n\t" * 100), block=64, grid=96, mask=micro.ALL,
                         user=8), 1, []),
    ("groups", micro.Bench("", 0, "", body("s_sleep 3\n\ts_barrier"), block=64, grid=1000, mask=micro.ALL,
                           vgprs=24), 1, []),
    ("again", micro.Bench("", 0, "", lambda i: micro.stream(i, "s_mov_b64 s[4:5], s[22:23]\n\t"), n=24, grid=96, block=256,
                          setup="s_mov_b64 s[22:23], s[4:5]\n\t" + micro.STREAM, mask=micro.ALL, buffer=12 << 20), 2, []),
]

IMPOSSIBLE = [["mall_bytes=549755813888", "mall_ways=1"], ["tlb_page_bytes=1"], ["tlb_page_bytes=4095"]]


def run(command, out, settings):
    for s in settings:
        command = command + ["--timing-set", s]
    done = subprocess.run(command + ["--timing", "--timing-json", out], stdout=subprocess.DEVNULL, timeout=60,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode:
        return None, done.stderr
    with open(out) as f:
        return f.read(), done.stderr


def changed(runs, base, out, name, value):
    """The first kernel that a parameter matters to."""
    for sizes in ([value * 2, value / 2], [value + 1, value / 4, 1]):
        for label, command, settings in runs:
            for new in sizes if value else [3]:
                got, _ = run(command, out, settings + ["%s=%r" % (name, new)])
                if got is not None and got != base[label]:
                    return label
    return None


def survives(command, out):
    """Machines that cannot be are refused; numbers of units have no fractions."""
    for settings in IMPOSSIBLE:
        got, error = run(command, out, settings)
        if got is not None or "error: " not in error:
            print("not refused:", *settings, error)
            return False
    whole, _ = run(command, out, ["arrays_per_se=1", "wgps_per_array=2"])
    for settings in ["arrays_per_se=1.5", "wgps_per_array=2.5"], ["arrays_per_se=1.9", "wgps_per_array=2.2"]:
        got, error = run(command, out, settings)
        if got is None or json.loads(got)["span_cycles"] != json.loads(whole)["span_cycles"]:
            print("no such machine:", *settings, error)
            return False
    return True


def main():
    failed = 0
    info = subprocess.run([rdna3, "info", "--timing"], check=True, stdout=subprocess.PIPE, text=True).stdout
    known = [(name, float(value)) for name, value in re.findall(r"^(\w+) +([-+.\de]+)", info, re.M)]
    with tempfile.TemporaryDirectory() as folder:
        out, code = os.path.join(folder, "out.json"), os.path.join(folder, "mixed")
        subprocess.run([rdna3, "asm", "-o", code, mixed], check=True)
        runs = [("mixed", [rdna3, "run", code, "--grid", "40", "--block", "256", "--arg", "buf:160K:rand=f32,1",
                           "--arg", "buf:160K", "--cu-mask", "3,3,0,0,0,0"], [])]
        runs.append(("fabric", runs[0][1] + ["--fabric", "low"], []))
        runs.append(("several", runs[0][1] + ["--and", "--barrier", "--grid", "4", "--block", "256", "--arg", "same:0.0",
                                              "--arg", "same:0.1"], []))
        for number, (label, bench, trips, settings) in enumerate(CASES):
            place = os.path.join(folder, str(number))
            os.mkdir(place)
            code = micro.assemble(rdna3, place, bench, bench.n)
            runs.append((label, [rdna3, "run", code, "--grid", str(bench.grid), "--block", str(bench.block), "--arg",
                                 "buf:%d" % bench.buffer, "--arg", "i32:%d" % trips, "--arg", "i32:0", "--cu-mask",
                                 bench.mask], settings))
        base = {}
        for label, command, settings in runs:
            base[label], error = run(command, out, settings)
            if base[label] is None:
                sys.exit("%s: %s" % (label, error))
            if run(command, out, settings)[0] != base[label]:
                print(label, "differs between two runs")
                failed = 1
        failed |= not survives(runs[0][1], out)
        by = {}
        for name, value in known:
            label = changed(runs, base, out, name, value)
            by.setdefault(label, []).append(name)
        for label, names in by.items():
            print("%-12s %s" % (label or "NOTHING", " ".join(names)))
        failed |= None in by or len(known) < 100
    return failed


if __name__ == "__main__":
    sys.exit(main())
