#!/usr/bin/env python3
"""Compare what commands print with what is committed.

    golden.py --rdna3 PATH [--rebase] NAME.cmd...

A .cmd file is read line by line; NAME.out beside it holds what its commands print.

    # comment
    file PATH HEX...       make a file of these bytes
    copy PATH SOURCE       copy tests/golden/SOURCE
    build PATH SOURCE ...  compile tests/golden/SOURCE or tools/examples/SOURCE for gfx1100
                           with clang-19 (skipped where there is none) and these options
    anything else          a shell command; rdna3 is in the PATH

Commands run in an empty folder. For each the runner prints the command, its stdout, its
stderr and, if it is not 0, its exit status. Addresses of the host (over 32 bits) become
ADDR, except those in the fixed range that rdna3 run allocates from. --rebase writes the
.out files. Exit status: 0 equal, 1 different, 77 skipped.
"""
# SPDX-License-Identifier: MIT
import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "tools", "examples")
CLANG = ["clang-19", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1100"]


class Skipped(Exception):
    pass


def build(out, source, options):
    if not shutil.which(CLANG[0]):
        raise Skipped(f"there is no {CLANG[0]}")
    path = os.path.join(HERE, source)
    if not os.path.exists(path):
        path = os.path.join(EXAMPLES, source)
    kind = ["-x", "assembler"]
    if source.endswith(".cl"):
        kind = ["-x", "cl", "-cl-std=CL2.0", "-nogpulib", "-O2", "-I", EXAMPLES]
    subprocess.run([*CLANG, *kind, *options, path, "-o", out], check=True)


def normalise(text):
    return re.sub(r"0x(?!0*20[0-9a-f]{10}\b)[0-9a-f]{9,16}\b", "ADDR", text)


def run_command(line, env, folder):
    r = subprocess.run(["sh", "-c", line], cwd=folder, env=env, text=True,
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=600,
                       errors="replace")
    out = f"$ {line}\n{r.stdout}{r.stderr}"
    if r.returncode:
        out += f"[exit {r.returncode}]\n"
    return out


def run_file(path, rdna3):
    env = dict(os.environ, LC_ALL="C",
               PATH=os.path.dirname(os.path.abspath(rdna3)) + ":" + os.environ["PATH"])
    out = ""
    with open(path) as f, tempfile.TemporaryDirectory() as folder:
        for line in f:
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if words[0] == "file":
                with open(os.path.join(folder, words[1]), "wb") as data:
                    data.write(bytes.fromhex("".join(words[2:])))
            elif words[0] == "copy":
                shutil.copy(os.path.join(HERE, words[2]), os.path.join(folder, words[1]))
            elif words[0] == "build":
                build(os.path.join(folder, words[1]), words[2], words[3:])
            else:
                out += run_command(line.strip(), env, folder)
    return normalise(out)


def check(path, rdna3, rebase):
    got = run_file(path, rdna3)
    expected_path = re.sub(r"\.cmd$", ".out", path)
    if rebase:
        with open(expected_path, "w") as f:
            f.write(got)
        return True
    with open(expected_path) as f:
        expected = f.read()
    if got == expected:
        return True
    sys.stdout.writelines(difflib.unified_diff(
        expected.splitlines(True), got.splitlines(True), expected_path, "now"))
    return False


def main():
    ap = argparse.ArgumentParser(description=__doc__,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--rdna3", required=True)
    ap.add_argument("--rebase", action="store_true")
    ap.add_argument("files", nargs="+")
    o = ap.parse_args()
    try:
        results = [check(path, o.rdna3, o.rebase) for path in o.files]
    except Skipped as e:
        print(f"skipped: {e}")
        return 77
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
