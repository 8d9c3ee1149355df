"""When memory instructions of the waves of a CU are accepted, as the timing file has it: its SIMDs share one path to the
LDS and one to vector memory, which each instruction has for as long as its registers take. So no two are there at once,
also where one is put off for what another SIMD has issued later.

usage: accepted.py RDNA3"""
# SPDX-License-Identifier: MIT
import json
import os
import subprocess
import sys
import tempfile

import micro

RDNA3 = sys.argv[1]
# Cycles on the path: a register each, of addresses and data.
KINDS = {
    "ds_store_b128": ("ds_store_b128 v1, v[8:11]", 5),
    "ds_store_b64": ("ds_store_b64 v1, v[8:9]", 3),
    "ds_store_b32": ("ds_store_b32 v1, v8", 2),
    "global_store_b128": ("global_store_b128 v1, v[8:11], s[4:5]", 5),
    "global_store_b32": ("global_store_b32 v1, v8, s[4:5]", 2),
    "global_load_b32": ("global_load_b32 v8, v1, s[4:5]", 1),
}
N, WAVES = 12, 6


def accepted(wave):
    """Of its instructions of 8 bytes that a unit has taken: when. Those of the ALUs here are shorter."""
    begins = sorted({offset for offset, _ in wave["insts"]})
    size = {a: b - a for a, b in zip(begins, begins[1:])}
    return [t + e for (offset, t), e in zip(wave["insts"], wave["exec"]) if size.get(offset) == 8 and e]


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.json")
        for name, (text, cycles) in KINDS.items():
            bench = micro.Bench("", 0, "", lambda i, op=text: op + "\n\tv_add_f32 v2, v2, v2" * (i % 4),
                                setup="v_lshlrev_b32 v1, 4, v0\n\t", lds=8192)
            code = micro.assemble(RDNA3, folder, bench, N)
            subprocess.run([RDNA3, "run", code, "--grid", "1", "--block", str(32 * WAVES), "--arg", "buf:64K", "--arg",
                            "i32:6", "--arg", "i32:0", "--timing", "--timing-insts", "all", "--timing-json", out],
                           check=True, stdout=subprocess.DEVNULL)
            with open(out, encoding="utf-8") as f:
                waves = json.load(f)["waves"]
            times = sorted(t for w in waves for t in accepted(w))
            close = sum(b - a < cycles for a, b in zip(times, times[1:]))
            if len(times) != 6 * N * WAVES or close:
                failed = 1
                print(f"FAILED: {name}: {close} of {len(times)} are accepted while the path is another's")
    return failed


if __name__ == "__main__":
    sys.exit(main())
