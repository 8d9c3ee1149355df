#!/usr/bin/env python3
"""Source lines of a timed run: as text, and in the window above the listing.

usage: source.py RDNA3
SPDX-License-Identifier: MIT
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import checks
from checks import check, plain

RDNA3 = os.path.abspath(sys.argv[1])
KERNEL = """kernel void sum(global const uint *from, global uint *to)
{
\tuint id = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
\tuint sum = 0;
\tfor (uint i = 0; i < 16; i++)
\t\tsum = sum * 3 + from[(sum + i * 64 + id) % 4096]; // the loads
\tto[id] = sum;
}
"""


def call(*args):
    return checks.call(RDNA3, *args)


def compile_kernel(name, *options):
    subprocess.run(["clang-19", "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa",
                    "-mcpu=gfx1100", "-nogpulib", "-O2", *options, "k.cl", "-o", name],
                   check=True)


def text():
    status, out, err = call("trace", "t", "--source", "--code-object", "k.hsaco")
    check("listing", status == 0 and not err, (status, err))
    rows = [x.split(None, 4) for x in out.splitlines() if re.match(r" *\d+ +\d+ +[\d.]+% ", x)]
    by_line = {int(x[3]): x for x in rows}
    hot = max(rows, key=lambda x: int(x[0]))
    check("the hottest line", int(hot[3]) == 6 and "// the loads  ; vm-" in hot[4], hot)
    check("no cycles of a line without code", 4 not in by_line and "     4      uint sum" in out)
    end = re.search(r"^ *(\d+) wave cycles in all, (\d+) of no known line", out, re.M)
    check("nothing is lost", end and sum(int(x[0]) for x in rows) + int(end[2]) == int(end[1]),
          out)
    listing = call("trace", "t", "--listing")[1]
    check("as many as by instruction", end and end[1] in listing.splitlines()[-1])
    for code, why in (("plain.hsaco", "without -g"), ("other.hsaco", "has not got this kernel"),
                      ("k.cl", ""), ("none", "cannot read")):
        status, _, err = call("trace", "t", "--source", "--code-object", code)
        check("refused: " + code, status == 1 and why in err, err)
    check("needs an object", call("trace", "t", "--source")[0] == 2)


def window():
    seen = {}
    source = ["--code-object", "k.hsaco"]
    for name, args in (("without", []), ("with", source), ("off", source + ["--do", "source"]),
                       ("clicked", source + ["--do", "click:1200:297"]),
                       ("wheel", source + ["--size", "1000x500", "--do", "wheel:700:200:-3"]),
                       ("small", source + ["--size", "1000x500"]),
                       ("wave", source + ["--wave", "3:1"]),
                       ("no lines", ["--code-object", "plain.hsaco"]),
                       ("another", ["--code-object", "other.hsaco"])):
        status, _, err = call("viz", "t", "--screenshot", "a.png", *args)
        check("picture " + name, status == 0, err)
        with open("a.png", "rb") as f:
            seen[name] = f.read()
    check("switched off it is gone", seen.pop("off") == seen["without"])
    same = [(a, b) for a in seen for b in seen if a < b and seen[a] == seen[b]]
    check("each shows something else", not same, same)
    status, _, err = call("viz", "t", "--screenshot", "a.png", "--code-object", "none")
    check("cannot read", status == 1 and "cannot read" in err, err)
    env = dict(plain, SDL_VIDEODRIVER="dummy", RDNA3_VIZ_SCREENSHOT="live.png")
    r = subprocess.run([RDNA3, *RUN, "--viz"], env=env, capture_output=True, text=True,
                       timeout=120, check=False)
    check("beside a run", r.returncode == 0 and os.path.exists("live.png"), r)


if not shutil.which("clang-19"):
    print("skipped: no clang-19")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("k.cl", "w", encoding="utf-8") as kernel:
        kernel.write(KERNEL)
    compile_kernel("k.hsaco", "-g")
    compile_kernel("plain.hsaco")
    compile_kernel("other.hsaco", "-g", "-Dsum=other")
    RUN = ["run", "k.hsaco", "--grid", "64", "--block", "64", "--arg", "buf:16K:iota=u32",
           "--arg", "buf:16K", "--timing"]
    check("run", call(*RUN, "--timing-trace", "t")[0] == 0)
    missing = call("trace", "t", "--source", "--code-object", "k.hsaco")[2]
    if "libdw" in missing:
        print("skipped:", missing)
        sys.exit(77)
    text()
    why = call("viz", "t", "--screenshot", "a.png")[2]
    if "no window" in why:
        print("not tested, the window:", why)
    else:
        window()
    os.chdir("/")
sys.exit(checks.failed)
