#!/usr/bin/env python3
"""Statements spelt in odd ways: llvm-mc-19 and we accept the same ones, with the same bytes.

    llvm_forms.py ISA_ASM_HEX FORMS

FORMS has one statement a line: numbers and operators, signs and bars, register lists,
structures, suffixes, commas. Those where we differ on purpose (README.md of isa) are not
in it. Exit 1 on a difference, 77 without llvm-mc-19.
SPDX-License-Identifier: MIT
"""
import shutil
import sys

from llvm_diff import llvm, ours


def main():
    if shutil.which("llvm-mc-19") is None:
        print("SKIPPED: no llvm-mc-19")
        return 77
    program, path = sys.argv[1:3]
    with open(path, encoding="utf-8") as f:
        statements = f.read().splitlines()
    bad = 0
    mine = ours(program, statements, "32")
    theirs = llvm(statements, "32")
    for i, (text, have) in enumerate(zip(statements, mine)):
        want = theirs.get(i)
        if have != want and not (want is None and have.startswith("error:")):
            bad += 1
            print(f"{text}\n    llvm-mc {want or 'refuses'}, we: {have}")
    print(f"{len(statements)} statements, {bad} differ")
    return 1 if bad or not statements else 0


if __name__ == "__main__":
    sys.exit(main())
