#!/usr/bin/env python3
"""Compare our disassembly with llvm-mc-19 on random encodings of every row.

    llvm_diff.py ISA_ENUMERATE WAVE

Where LLVM's text of an encoding assembles to the same bytes again, ours must be equal to
it; what has a text of ours, LLVM must decode. Exit status 77 without llvm-mc-19.
"""
# SPDX-License-Identifier: MIT
import re
import shutil
import subprocess
import sys

TRIES = 60
LLVM = shutil.which("llvm-mc-19")


def llvm(wave, text, *options):
    attributes = [] if wave == "32" else ["-mattr=+wavefrontsize64,-wavefrontsize32"]
    r = subprocess.run([LLVM, "-triple=amdgcn", "-mcpu=gfx1100", *attributes, *options],
                       input=text, capture_output=True, text=True)
    return r.stdout, r.stderr


def disassemble(wave, rows):
    """LLVM's text per row, None if it refuses the bytes."""
    blocks = "".join("[%s]\n" % " ".join("0x" + r[i:i + 2] for i in range(0, len(r), 2))
                     for r in rows)
    out, err = llvm(wave, blocks, "--disassemble")
    bad = {int(m) - 1 for m in
           re.findall(r"<stdin>:(\d+):\d+: warning: invalid instruction", err)}
    lines = iter([" ".join(l.split()) for l in out.split("\n")[1:] if l.strip()])
    return [None if i in bad else next(lines, "") for i in range(len(rows))]


def assemble(wave, texts):
    """Bytes per statement, None if LLVM rejects it."""
    out, err = llvm(wave, "\n".join(texts) + "\n", "-show-encoding")
    bad = {int(m) - 1 for m in re.findall(r"<stdin>:(\d+):\d+: error", err)}
    codes = iter([re.sub(r"0x|,|\s", "", c)
                  for c in re.findall(r"encoding: \[([^\]]*)\]", out)])
    return [None if i in bad else next(codes, "") for i in range(len(texts))]


def main():
    program, wave = sys.argv[1:3]
    if LLVM is None:
        print("skipped: no llvm-mc-19")
        return 77
    listing = subprocess.run([program, wave, str(TRIES)], capture_output=True, text=True,
                             check=True).stdout
    rows = [l.split("\t") for l in listing.split("\n") if l]
    ours = [r for r in rows if r[1]]
    theirs = disassemble(wave, [r[0] for r in ours])
    again = assemble(wave, [t if t and "/*" not in t else "s_nop 0" for t in theirs])
    bad = canonical = 0
    for (code, text), t, a in zip(ours, theirs, again):
        same_bytes = t is not None and a == code
        canonical += same_bytes
        # Images whose operands LLVM has no sizes for are refused only by LLVM.
        refused = (t is None or "/*Invalid" in t) and not text.startswith("image_")
        if refused or (same_bytes and t != text):
            bad += 1
            if bad <= 20:
                print("%s: ours '%s', llvm '%s'" % (code, text, t))
    # What we refuse, LLVM must not print in a form that means the same bytes.
    refused = [r[0] for r in rows if not r[1]]
    theirs = [t for t in zip(refused, lengths(wave, refused)) if t[1]]
    for code, text in theirs:
        bad += 1
        if bad <= 20:
            print("%s: refused, llvm '%s'" % (code, text))
    print("wave%s: %d encodings, %d with text, %d canonical, %d differ"
          % (wave, len(rows), len(ours), canonical, bad))
    if canonical < 20000:
        print("too few canonical ones: the generator is broken")
        return 1
    return 1 if bad else 0


def lengths(wave, codes):
    """For refused bytes: LLVM's text of the first 4, 8 or 12 that it takes as one
    instruction and assembles to the same bytes; else None."""
    result = [None] * len(codes)
    for n in (8, 16, 24):
        cut = [c[:n] for c in codes]
        texts = disassemble_single(wave, cut)
        again = assemble(wave, [t or "s_nop 0" for t in texts])
        for i, (c, t, a) in enumerate(zip(cut, texts, again)):
            if t and a == c:
                result[i] = t
    return result


def disassemble_single(wave, rows):
    """Like disassemble, but None where LLVM sees more than one instruction: those rows
    are found by marking each with a terminator that no generated row contains."""
    marker = "0xff 0xff 0xb0 0xbf"  # s_endpgm 65535
    blocks = "".join("[%s]\n[%s]\n" % (" ".join("0x" + r[i:i + 2]
                                               for i in range(0, len(r), 2)), marker)
                     for r in rows)
    out, _ = llvm(wave, blocks, "--disassemble")
    lines = [" ".join(l.split()) for l in out.split("\n")[1:] if l.strip()]
    result, group = [], []
    for line in lines:
        if line == "s_endpgm 65535":
            result.append(group[0] if len(group) == 1 and "/*Invalid" not in group[0] else None)
            group = []
        else:
            group.append(line)
    return result


if __name__ == "__main__":
    sys.exit(main())
