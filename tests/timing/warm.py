"""What earlier work has left behind: each word of --warm changes what it names and nothing
else, but that buffers lie in the Infinity Cache with kernarg-tlb unless vram is said. And --fabric low:
each access beyond the GL2 takes longer, those of a walk, too.

usage: warm.py RDNA3"""
import subprocess
import sys
import tempfile

import micro

rdna3 = sys.argv[1]
MHZ = 2500
LAST = (1 << 20) - 128 # of the buffer
LOADS = (28, 40, 52) # their offsets in the code; behind each its wait
BODY = ("global_load_b32 v8, v1, s[4:5]\n\ts_waitcnt vmcnt(0)\n\t"
        "global_load_b32 v9, v1, s[4:5] offset:1024\n\ts_waitcnt vmcnt(0)\n\t"
        "global_load_b32 v10, v2, s[4:5]\n\ts_waitcnt vmcnt(0)")


# Scalar loads of data: the first of its page, of another line, of one that is there.
SCALAR = ("s_load_b32 s22, s[4:5], null offset:0x0\n\ts_waitcnt lgkmcnt(0)\n\ts_load_b32 s22, s[4:5], null offset:0x1000"
          "\n\ts_waitcnt lgkmcnt(0)\n\ts_load_b32 s22, s[4:5], null offset:0x1004\n\ts_waitcnt lgkmcnt(0)")


def scalar_loads(code, folder, *more):
    time = micro.issues(rdna3, code, folder, "1M", MHZ, *more)
    return [time[pc + 8] - time[pc] for pc in (16, 28, 40)]


def loads(code, folder, *more):
    """Cycles from each of the three loads, and from that of the arguments, to the end of its wait."""
    time = micro.issues(rdna3, code, folder, "1M", MHZ, *more)
    return [time[pc + 8] - time[pc] for pc in LOADS], time[8] - time[0]


with tempfile.TemporaryDirectory() as folder:
    bench = micro.Bench("", 0, "", lambda i: BODY, setup="v_mov_b32 v1, 0\n\tv_mov_b32 v2, 0x%x\n" % LAST)
    code = micro.assemble(rdna3, folder, bench, 1)
    p = micro.parameters(rdna3)
    to_vram = round(p["vmem_gl2"] + p["dram_ns"] * MHZ / 1000)
    to_mall = round(p["vmem_gl2"] + p["mall_ns"] * MHZ / 1000)
    nothing, arguments = loads(code, folder)
    first, second, third = nothing
    directory = round(p["walk_directory_ns"] * MHZ / 1000)
    walk = round(p["walk_cycles"] + p["walk_ns"] * MHZ / 1000)
    failed = 0

    def check(what, got, want):
        global failed
        if any(abs(g - w) > 2 for g, w in zip(got, want)):
            failed = 1
            print("FAILED: %s: %s, not %s" % (what, got, want))

    check("cold", [second, third], [to_vram, to_vram])
    got, warm_arguments = loads(code, folder, "--warm", "kernarg-tlb,vram")
    check("kernarg-tlb,vram", got, [first - directory, to_vram, to_vram])
    if warm_arguments >= arguments:
        failed = 1
        print("FAILED: kernarg-tlb: arguments after %d cycles, cold after %d" % (warm_arguments, arguments))
    got, same = loads(code, folder, "--warm", "mall")
    check("mall", got + [same], [first - to_vram + to_mall, to_mall, to_mall, arguments])
    for words in ("kernarg-tlb,mall", "kernarg-tlb"): # who has run a kernel has made its buffers
        got, _ = loads(code, folder, "--warm", words)
        check(words, got, [first - directory - to_vram + to_mall, to_mall, to_mall])
    got, same = loads(code, folder, "--warm", "data-tlb")
    check("data-tlb", got + [same], [first - walk - directory, to_vram, to_vram, arguments])
    got, _ = loads(code, folder, "--warm", "mall", "--timing-set", "mall_bytes=131072")
    check("mall, smaller than the buffer", got[1:], [to_vram, to_mall])
    slower = p["fabric_low_ns"] * MHZ / 1000
    got, slow = loads(code, folder, "--fabric", "low")
    check("fabric low", got + [slow], [first + 3 * slower, to_vram + slower, to_vram + slower, arguments + 3 * slower])
    got, slow = loads(code, folder, "--fabric", "low", "--warm", "kernarg-tlb,mall")
    check("fabric low, kernarg-tlb,mall", got + [slow],
          [first - directory - to_vram + to_mall + 2 * slower, to_mall + slower, to_mall + slower, warm_arguments + slower])
    got, slow = loads(code, folder, "--fabric", "high")
    check("fabric high", got + [slow], nothing + [arguments])
    code = micro.assemble(rdna3, folder, micro.Bench("", 0, "", lambda i: SCALAR), 1)
    known = [p["smem_gl2"] + p["dram_ns"] * MHZ / 1000, p["smem_hit"]]
    first = known[0] + p["utcl1_miss_cycles"] + walk
    check("scalar, cold", scalar_loads(code, folder), [first + directory] + known)
    check("scalar, kernarg-tlb,vram", scalar_loads(code, folder, "--warm", "kernarg-tlb,vram"), [first] + known)
    check("scalar, data-tlb", scalar_loads(code, folder, "--warm", "data-tlb"), [first - walk] + known)
    known[0] -= (p["dram_ns"] - p["mall_ns"]) * MHZ / 1000
    check("scalar, data-tlb,mall", scalar_loads(code, folder, "--warm", "data-tlb,mall"),
          [known[0] + p["utcl1_miss_cycles"]] + known)
    bad = subprocess.run([rdna3, "run", code, "--timing", "--fabric", "tepid"], stderr=subprocess.PIPE, text=True)
    if bad.returncode != 2 or "'tepid'" not in bad.stderr:
        failed = 1
        print("FAILED: an unknown state:", bad.returncode, bad.stderr)
    bad = subprocess.run([rdna3, "run", code, "--timing", "--warm", "vram,mall"], stderr=subprocess.PIPE, text=True)
    if bad.returncode != 2 or "not both" not in bad.stderr:
        failed = 1
        print("FAILED: two places:", bad.returncode, bad.stderr)
    bad = subprocess.run([rdna3, "run", code, "--timing", "--warm", "code-tlb,coffee"], stderr=subprocess.PIPE, text=True)
    if bad.returncode != 2 or "'coffee'" not in bad.stderr:
        failed = 1
        print("FAILED: an unknown word:", bad.returncode, bad.stderr)
sys.exit(failed)
