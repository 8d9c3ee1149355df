"""A counter that is full lets nobody issue what it would count: of a wave's stores the first
63 issue as fast as they are sent, those behind them as fast as stores are done.

usage: counters.py RDNA3"""
import json
import os
import subprocess
import sys
import tempfile

import micro

rdna3 = sys.argv[1]
N, TRIPS, SENT, DONE = 160, 4, 5, 8


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.json")
        code = micro.assemble(rdna3, folder, micro.Bench("", 0, "", lambda i: "global_store_b128 v1, v[8:11], s[4:5]",
                                                         setup="v_lshlrev_b32 v1, 4, v0\n"), N)
        for most, want in ((63, DONE), (1000000, SENT)):
            subprocess.run([rdna3, "run", code, "--grid", "1", "--block", "32", "--arg", "buf:8K", "--arg",
                            "i32:%d" % TRIPS, "--arg", "i32:0", "--timing", "--timing-insts", "all", "--timing-json", out,
                            "--timing-set", "counter_most=%d" % most], check=True, stdout=subprocess.DEVNULL)
            with open(out) as f:
                t = [t for _, t in json.load(f)["waves"][0]["insts"]][-N - 4:-4]
            each = (t[-1] - t[0]) / (N - 1)  # of the last trip, whose code is there
            if abs(each - want) > 0.3:
                failed = 1
                print("FAILED: at most %d under way: %.2f cycles for each, not %d" % (most, each, want))
    return failed


if __name__ == "__main__":
    sys.exit(main())
