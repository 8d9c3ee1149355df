"""Cycles that the timing model gives to the kernels of tests/data/functional, as committed in
cycles.out: a change of the model that was not meant shows.

usage: cycles.py RDNA3 [--rebase]

The figures are the model's own, not the chip's (tests shared/timing_goals compare with that).
After an intended change look at the table this prints, then --rebase and commit."""
# SPDX-License-Identifier: MIT
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "run"))
import replay

GOLDEN = os.path.join(HERE, "cycles.out")
DATA = os.path.join(HERE, "..", "data", "functional")
# group, every so manieth kernel
GROUPS = (("kern_seed", 1), ("kern_misc", 4), ("kern_ops", 3), ("kern_dtype", 7))


def measure(rdna3, v):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([rdna3, "run", *replay.kernel_command(v, folder), "--wave",
                               str(v["wave"]), "--timing", "--sclk-mhz", "2500"],
                              capture_output=True, text=True, check=True)
    return int(re.search(r"^cycles +(\d+)", done.stdout, re.M)[1])


def main():
    rdna3 = sys.argv[1]
    found = {}
    for group, step in GROUPS:
        with gzip.open(os.path.join(DATA, group + ".jsonl.gz"), "rt") as f:
            vectors = [json.loads(line) for line in f][1::step]
        found |= {v["name"]: measure(rdna3, v) for v in vectors}
    if "--rebase" in sys.argv:
        with open(GOLDEN, "w", encoding="ascii") as f:
            f.writelines(f"{n}\t{name}\n" for name, n in found.items())
    with open(GOLDEN, encoding="ascii") as f:
        wanted = {name: int(n) for n, name in (line.rstrip("\n").split("\t") for line in f)}
    changed = [k for k in wanted.keys() | found.keys() if wanted.get(k) != found.get(k)]
    for name in sorted(changed):
        print(f"{name}: {wanted.get(name)} cycles expected, {found.get(name)}")
    print(f"{len(found)} kernels, {len(changed)} with other cycles")
    return 1 if changed or not found else 0


if __name__ == "__main__":
    sys.exit(main())
