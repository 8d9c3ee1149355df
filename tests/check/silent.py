#!/usr/bin/env python3
"""No false alarm: programs that are right, with every rdna3 run of theirs checked.

    silent.py RDNA3 CHECKS COMMAND...

Runs COMMAND with each word RDNA3 in it replaced by a program that adds --check CHECKS to
`run`. COMMAND must succeed, and its runs must have found nothing, in at least one kernel.
"""
# SPDX-License-Identifier: MIT
import os
import re
import stat
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    rdna3, checks, *command = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        log, program = os.path.join(folder, "log"), os.path.join(folder, "rdna3")
        with open(program, "w", encoding="ascii") as f:
            f.write(f'#!/bin/sh\nexec sh {HERE}/checked.sh {rdna3} {log} {checks} "$@"\n')
        os.chmod(program, stat.S_IRWXU)
        r = subprocess.run([program if w == "RDNA3" else w for w in command],
                           capture_output=True, text=True, check=False)
        text = ""
        if os.path.exists(log):
            with open(log, encoding="utf-8") as f:
                text = f.read()
    found = text.count("error: ")
    runs = re.findall(r"^0 errors in (\d+) accesses of (\d+)", text, re.M)
    accesses = sum(int(a) for a, _ in runs)
    if found or r.returncode or not accesses:
        print(text[-60000:] if found else r.stdout[-3000:] + r.stderr[-3000:])
    print(f"{found} findings, {len(runs)} clean kernels with {accesses} accesses, exit status "
          f"{r.returncode}")
    if r.returncode == 77:
        return 77
    return 1 if found or r.returncode or not accesses else 0


if __name__ == "__main__":
    sys.exit(main())
