#!/usr/bin/env python3
"""A timed run beside an earlier one: as text, and in the window.

usage: beside.py RDNA3 KERNEL.s
SPDX-License-Identifier: MIT
"""
import os
import re
import sys
import tempfile

import checks
from checks import check

RDNA3, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])


def call(*args):
    return checks.call(RDNA3, *args)


def record(name, text, groups):
    with open("k.s", "w", encoding="utf-8") as f:
        f.write(text)
    check("assembled", call("asm", "k.s", "-o", "k")[0] == 0)
    status, out, err = call("run", "k", "--grid", str(groups), "--block", "256", "--arg",
                            "buf:80K:rand=f32,1", "--arg", "buf:80K", "--timing", "--timing-trace", name)
    check("run", status == 0, err)
    return int(re.search(r"^cycles +(\d+)", out, re.M)[1])


def rows(out):
    """{name: (before, now)} of the sums; (mark, times before, times now, text) of instructions."""
    sums = {m[1].strip(): (int(m[2]), int(m[3])) for m in
            re.finditer(r"^  ([a-zA-Z ]+?) +(\d+) +(\d+)(?:  |$)", out, re.M)}
    insts = []
    for mark, numbers, text in re.findall(r"^([-+ ]) [0-9a-f]{8}(.{53})  (\S.*)$", out, re.M):
        insts.append((mark, numbers[:22].split(), numbers[22:44].split(), text))
    return sums, insts


def text(old, new):
    status, out, err = call("trace", "new", "--baseline", "old", "--listing")
    check("beside", status == 0 and not err, err)
    sums, insts = rows(out)
    check("cycles of both", sums.get("wave cycles") and
          abs(sums["cycles"][0] - old) < 400 and abs(sums["cycles"][1] - new) < 400, (sums, old, new))
    states = [v for k, v in sums.items() if k not in ("cycles", "waves", "wave cycles")]
    check("states add up", [sum(x) for x in zip(*states)] == list(sums["wave cycles"]), sums)
    check("waves", sums["waves"] == (160, 160), sums)
    check("what is new", [i[3] for i in insts if i[0] == "+"] == ["v_nop", "v_nop"], insts)
    check("what is gone", [i[3] for i in insts if i[0] == "-"] == ["s_sleep 2"], insts)
    both = [i for i in insts if i[0] == " "]
    check("renamed registers are the same instruction", any("v_exp_f32_e32 v39" in i[3] for i in both), both)
    check("as often", both and all(len(i[1]) == 2 and len(i[2]) == 2 and i[1][0] == i[2][0] for i in both), both)
    status, out, err = call("trace", "old", "--baseline", "old", "--listing")
    sums, insts = rows(out)
    check("the same beside itself", status == 0 and all(a == b for a, b in sums.values()) and
          all(i[0] == " " and i[1] == i[2] for i in insts), out)
    for args, code, why in ((["--baseline", "none"], 1, "none"), (["--baseline", "k.s"], 1, "k.s"),
                            (["--baseline", "old", "--json"], 2, "--baseline goes"),
                            (["--baseline"], 2, "needs a value")):
        status, _, err = call("trace", "new", *args)
        check("refused: " + str(args), status == code and why in err, (status, err))


def window():
    seen = {}
    old = ["--baseline", "old"]
    for name, args in (("without", []), ("with", old), ("off", old + ["--do", "beside"]),
                       ("on again", old + ["--do", "beside,beside"]),
                       ("small", old + ["--size", "1000x500"]), ("itself", ["--baseline", "new"]),
                       ("wave", old + ["--wave", "3:1"])):
        status, _, err = call("viz", "new", "--screenshot", "a.png", *args)
        check("picture " + name, status == 0, err)
        with open("a.png", "rb") as f:
            seen[name] = f.read()
    check("switched off it is gone", seen.pop("off") == seen["without"])
    check("and comes back", seen.pop("on again") == seen["with"])
    same = [(a, b) for a in seen for b in seen if a < b and seen[a] == seen[b]]
    check("each shows something else", not same, same)
    status, _, err = call("viz", "new", "--screenshot", "a.png", "--baseline", "none")
    check("cannot read", status == 1 and "none" in err, err)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open(SOURCE, encoding="utf-8") as f:
        kernel = f.read()
    first = kernel.replace("\ts_barrier\n", "\ts_sleep 2\n\ts_barrier\n", 1)
    second = re.sub(r"(v_exp_f32_e32\t)v\d+", r"\1v39", kernel.replace("\ts_barrier\n", "\tv_nop\n\tv_nop\n\ts_barrier\n", 1))
    TIMES = record("old", first, 20), record("new", second, 20)
    text(*TIMES)
    why = call("viz", "new", "--screenshot", "a.png")[2]
    if "no window" in why:
        print("not tested, the window:", why)
    else:
        window()
    os.chdir("/")
sys.exit(checks.failed)
