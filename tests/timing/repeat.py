"""The same run gives the same timing file, to the byte, and a changed parameter another.

usage: repeat.py RDNA3 CASES      CASES: folder with the cases of the timing benchmark
Exit status 77 if the cases are not there."""
import json
import os
import subprocess
import sys
import tempfile

rdna3, cases = sys.argv[1:]
if not os.path.isdir(cases):
    print("skipped: no folder", cases)
    sys.exit(77)


def run(folder, launch, name, *more):
    out = os.path.join(folder, name)
    command = [rdna3, "run", "--raw", os.path.join(cases, launch["text"]), "--kd",
               os.path.join(cases, launch["kd"]),
               "--grid", ",".join(map(str, launch["grid"])),
               "--block", ",".join(map(str, launch["block"])), "--timing", "--sclk-mhz",
               str(launch["sclk_mhz"]), "--timing-json", out, "--timing-insts", "all"]
    for arg in launch["args"]:
        command += ["--arg", "buf:%d" % arg["size"]]
    subprocess.run(command + list(more), check=True, stdout=subprocess.DEVNULL)
    with open(out, "rb") as f:
        return f.read()


failed = 0
with tempfile.TemporaryDirectory() as folder:
    for case in ("A1", "A3", "A4", "A6"):
        with open(os.path.join(cases, case + ".json")) as f:
            launch = json.load(f)["launches"][0]
        first = run(folder, launch, "1")
        for threads in ("1", "2"):
            if run(folder, launch, "2", "--threads", threads) != first:
                print(case, "differs between two runs,", threads, "threads")
                failed = 1
        slower = json.loads(run(folder, launch, "3", "--timing-set",
                                "ifetch_miss_cycles=1000"))
        if slower["span_cycles"] <= json.loads(first)["span_cycles"]:
            print(case, "is not slower with slower fetch")
            failed = 1
sys.exit(failed)
