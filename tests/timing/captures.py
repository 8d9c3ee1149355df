"""The decoder against decoded launches: `rdna3 timing decode` of captures gives the waves and issue times of the
cases of the accuracy benchmark, cycle by cycle.

usage: captures.py RDNA3 CASES CAPTURES

CAPTURES is a folder that holds the source files of the cases, named by the first ten digits of their git blob and
.pkl (each case names its file, commit and blob). Exit status 77 if it holds none."""
import json
import os
import subprocess
import sys


def decode(rdna3, path, launch):
    p = subprocess.run([rdna3, "timing", "decode", "--launch", str(launch), path], stdout=subprocess.PIPE, text=True,
                       check=False)
    return json.loads(p.stdout)["launches"][0] if p.returncode == 0 else None


def expected(launch):
    """{(se, sa, wgp, simd, slot, start, end): [[pc, time], ...]}"""
    truth = launch["truth"]
    out = {tuple(w): [] for w in truth["waves"]}
    for record in truth["insts"]:
        wave = truth["waves"][record["wave"]]
        at, times = wave[5] + record["first"], []
        for pc, gap in zip(truth["paths"][record["path"]]["pc"], [0] + record["gap"]):
            at += gap
            times.append([pc, at])
        out[tuple(wave)] = times
    return out


def differ(launch, got):
    if got is None:
        return "it is not decoded"
    if abs(got["sclk_mhz"] / launch["sclk_mhz"] - 1) > 0.0015 or got["block"] != launch["block"]:
        return f"{got['sclk_mhz']} MHz, block {got['block']}"
    mask = launch["cu_mask"] or [0xffffffff] * 6
    if got["cu_mask"] != mask:
        return f"CUs {got['cu_mask']}, wanted {mask}"
    have = {tuple(w[k] for k in ("se", "sa", "wgp", "simd", "slot", "start", "end")): w.get("insts", [])
            for w in got["waves"]}
    want = expected(launch)
    if set(have) != set(want):
        return f"{len(set(have) ^ set(want))} waves of {len(want)} differ"
    for wave, insts in want.items():
        if have[wave] != insts:
            n = sum(x != y for x, y in zip(have[wave], insts)) + abs(len(have[wave]) - len(insts))
            return f"wave {wave}: {n} of {len(insts)} instructions differ"
    return None


def main():
    rdna3, cases, captures = sys.argv[1:]
    failed = seen = 0
    for name in sorted(os.listdir(cases)):
        if not name.endswith(".json"):
            continue
        with open(os.path.join(cases, name), encoding="utf-8") as f:
            launches = json.load(f)["launches"]
        for launch in launches:
            path = os.path.join(captures, launch["source"]["git_blob"][:10] + ".pkl")
            if not os.path.exists(path):
                continue
            why = differ(launch, decode(rdna3, path, launch["launch_index"]))
            seen += 1
            failed += why is not None
            print(f"{launch['id']:5} {launch['kernel']:20} {why or 'equal'}")
    print(f"{seen - failed} equal, {failed} differ")
    return 77 if not seen else failed != 0


if __name__ == "__main__":
    sys.exit(main())
