#!/usr/bin/env python3
"""The same kernels by `rdna3 run`, on the mock, and on the board in a guest must leave the
same memory, byte by byte, in every buffer they are given.

    same_memory.py --rdna3 PATH [--guest DIR] [--only REGEX] FILE.jsonl.gz...

FILE: vectors of kernels (tests/data/functional/README.md). --guest DIR: where
tools/guest.sh keeps its guest; without it the guest is left out. That nothing is compared
with nothing is shown by running the vectors once more where no kernel is executed. Last
line: `N equal, N differ`; exit status 0: none differ.
"""
# SPDX-License-Identifier: MIT
import argparse
import gzip
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "run"))
import replay  # noqa: E402  (the command lines of vectors)

# A kernel: a line with its number and a sum of all its buffers, or what went wrong.
HEAD = """O=$(mktemp -d)
k() {
    n=$1
    shift
    rm -f "$O"/*
    if $RUN "$@" >"$O/said" 2>&1; then
        rm "$O/said"
        echo "$n $(cat "$O"/* | md5sum | cut -d ' ' -f 1)"
    else
        echo "$n failed: $(head -n 1 "$O/said")"
    fi
}
"""


def kernel_line(number, v):
    folder = "v%d" % number
    os.mkdir(folder)
    words = replay.kernel_command(v, folder)
    words = words[:words.index("--out")] if "--out" in words else words
    line = ["k", str(number)] + [shlex.quote(w) for w in words] + ["--wave", str(v["wave"])]
    for n, a in enumerate(v["args"]):
        line += ["--out", '"%d=$O/%02d"' % (n, n)] if "buf" in a else []
    return " ".join(line)


def prepare(o):
    names = []
    with open("all.sh", "w") as script:
        script.write(HEAD)
        for path in o.files:
            with gzip.open(path, "rt") as f:
                next(f)
                vectors = [json.loads(line) for line in f]
            for v in vectors:
                if v["kind"] != "insn" and re.search(o.only, v["name"]):
                    script.write(kernel_line(len(names), v) + "\n")
                    names.append(v["name"])
        script.write('rm -r "$O"\n')
    return names


def sums(way, words, run):
    subprocess.run([*words, "RUN=%s sh all.sh >%s" % (shlex.quote(run), way)], check=True)
    with open(way) as f:
        return dict(line.rstrip("\n").split(" ", 1) for line in f)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rdna3", required=True)
    parser.add_argument("--guest")
    parser.add_argument("--only", default="")
    parser.add_argument("files", nargs="+")
    o = parser.parse_args()
    o.files = [os.path.abspath(path) for path in o.files]
    rdna3 = os.path.abspath(o.rdna3)
    guest = o.guest and os.path.abspath(o.guest)
    guest_sh = os.path.join(HERE, "..", "..", "tools", "guest.sh")
    through_kfd = " run --device kfd"
    mock = [rdna3, "exec", "--no-namespace"]
    with tempfile.TemporaryDirectory(prefix="same-") as folder:
        os.chdir(folder)
        names = prepare(o)
        want = sums("run", ["sh", "-c"], shlex.quote(rdna3) + " run")
        ways = {"mock": sums("mock", [*mock, "--", "sh", "-c"], shlex.quote(rdna3) + through_kfd)}
        idle = sums("idle", [*mock, "--no-execute", "--", "sh", "-c"], shlex.quote(rdna3) + through_kfd)
        if guest:
            os.environ["RDNA3_BIN"] = rdna3
            ways["guest"] = sums("guest", ["sh", guest_sh, "--files", folder, "--seconds", "1800", guest],
                                 "rdna3" + through_kfd)
        os.chdir("/")
    bad = set()
    for number, name in enumerate(names):
        n = str(number)
        for way, got in ways.items():
            if want.get(n, "").startswith("failed") or want.get(n) != got.get(n):
                bad.add(name)
                print(f"FAILED {name}: run {want.get(n)}, {way} {got.get(n)}")
    silent = [name for n, name in enumerate(names) if idle.get(str(n)) == want.get(str(n))]
    print(f"{len(names)} kernels by run, {', '.join(ways)}; {len(names) - len(silent)} leave "
          "something else where nothing is executed")
    print(f"{len(names) - len(bad)} equal, {len(bad)} differ")
    return 1 if bad or not names or 2 * len(silent) > len(names) else 0


if __name__ == "__main__":
    sys.exit(main())
