#!/usr/bin/env python3
"""Make the vectors of this folder: our own statements and bytes, llvm-mc-19 as judge.

    make.py BUILD        BUILD: a build folder, for isa_enumerate and rdna3

The project's generators fill the fields of every row of the tables at random (fixed
seeds); of what LLVM accepts, PER_FORM rows are kept of each form (row, length, DPP), so
that the files stay small. README.md describes the files.
"""
# SPDX-License-Identifier: MIT
import collections
import os
import random
import re
import subprocess
import sys

import descriptors
from llvm import MARK, assemble, digits, disassemble

HERE = os.path.dirname(os.path.abspath(__file__))
TRIES = 60      # encodings of a row that are looked at
PER_FORM = 1
WAVES = ("32", "64")


def write(name, rows):
    rows = sorted(set(rows))
    with open(os.path.join(HERE, name), "w", encoding="ascii") as f:
        f.writelines("\t".join(row) + "\n" for row in rows)
    print(f"{name}: {len(rows)} rows")


def both(found):
    """found[wave] = rows; equal ones of the two become one. The wave is the third column."""
    for row in set(found["32"]) | set(found["64"]):
        waves = [w for w in WAVES if row in found[w]]
        yield (*row[:2], "both" if len(waves) == 2 else waves[0], *row[2:])


def enumerate_rows(build, wave):
    """Bytes of random encodings; lists of what we decode and (with the row) of what not."""
    program = os.path.join(build, "tests", "isa", "isa_enumerate")
    lines = subprocess.run([program, wave, str(TRIES)], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    known, unknown = [], []
    for number, line in enumerate(lines):
        code, text = line.split("\t")
        if code != MARK:
            if text:
                known.append(code)
            else:
                unknown.append((number // TRIES, code[:16]))
    return known, unknown


def statements(build, wave):
    """Bytes of random statements of every pair of mnemonic and encoding."""
    lines = subprocess.run([os.path.join(build, "rdna3"), "asm", "--fuzz-pairs", "8", "--seed", "3",
                            "--wave", wave], capture_output=True, text=True, check=True).stdout
    return [line.split("\t")[1] for line in lines.splitlines()]


def form(text, code):
    """What there shall be a row of: mnemonic (two of a pair), length, DPP."""
    names = tuple(half.split()[0] for half in text.split(" :: "))
    dpp = "dpp8" if "dpp8:" in text else "dpp16" if "row_mask:" in text else ""
    return names, len(code), dpp


def few(rows, key, most):
    """The first so many of each key."""
    seen = collections.Counter()
    for row in rows:
        seen[key(row)] += 1
        if seen[key(row)] <= most:
            yield row


def canonical(build, wave):
    """(bytes, text) that LLVM takes for the same; (row, bytes) that it does not decode."""
    known, unknown = enumerate_rows(build, wave)
    known += statements(build, wave)
    texts = disassemble(wave, known)
    again, _ = assemble(wave, [t or "" for t in texts])
    # Of src_lds_direct, which gfx11 does not have, LLVM only knows so outside of pairs.
    rows = [(c, t) for c, t, a in zip(known, texts, again)
            if t and digits(a) == c and "lds_direct" not in t]
    whole = disassemble(wave, [c for _, c in unknown])
    start = disassemble(wave, [c[:8] for _, c in unknown])  # else the eight bytes are two
    return rows, [r for r, *found in zip(unknown, whole, start) if found == [None, None]]


def turn(number, choices, most):
    """So many of the choices, others for each number."""
    at = number % max(1, len(choices))
    return (choices[at:] + choices[:at])[:most]


def mnemonic(row):
    return row[1].split()[0]


# ---- other spellings of the same statement -------------------------------------------

def spellings(text):
    """What our own syntax notes allow besides the canonical form."""
    yield re.sub(r"_(e32|e64)\b", "", text, count=1)
    yield re.sub(r"\bv(\d+)\b", r"v[\1]", text)
    yield re.sub(r"\bs(\d+)\b", r"s[\1:\1]", text)
    yield re.sub(r"\|(v\d+|s\d+)\|", r"abs(\1)", text)
    yield re.sub(r"-(v\d+|s\d+)\b", r"neg(\1)", text)
    yield re.sub(r"0x([0-9a-f]+)", lambda m: str(int(m[1], 16)), text)
    yield re.sub(r"\b(offset|dmask|row_mask|bank_mask):(\d+)\b",
                 lambda m: f"{m[1]}:0x{int(m[2]):x}", text)
    yield re.sub(r"((?: (?:offset:\d+|glc|slc|dlc|offen|idxen|gds|clamp|mul:\d)){2,})$",
                 lambda m: " " + " ".join(reversed(m[1].split())), text)
    yield re.sub(r" (row_mask:\S+) (bank_mask:\S+)", r" \2 \1", text)
    yield re.sub(r"\[([^\]:]*)\]", lambda m: "[" + m[1].replace(",", " , ") + "]", text)
    yield text.replace(", ", ",")


def mistakes(text, source):
    """Statements that are wrong in one place, mostly."""
    words = text.split(" ", 1)
    yield words[0] + "x" + text[len(words[0]):]
    yield text + ", v0"
    yield text.rsplit(",", 1)[0] if "," in text else text + " v1"
    yield re.sub(r"\bv(\d+)\b", "v256", text, count=1)
    yield re.sub(r"\bs(\d+)\b", "s106", text, count=1)
    yield re.sub(r"\bv(\d+)\b", "exec", text, count=1)
    yield re.sub(r"v\[(\d+):(\d+)\]", lambda m: f"v[{m[1]}:{int(m[2]) + 1}]", text, count=1)
    yield re.sub(r"s\[(\d+):(\d+)\]", lambda m: f"s[{int(m[1]) + 1}:{int(m[2]) + 1}]", text, count=1)
    yield re.sub(r"offset:-?\d+", "offset:0x100000", text)
    yield re.sub(r"quad_perm:\[\d", "quad_perm:[4", text)
    yield re.sub(r"dpp8:\[\d", "dpp8:[8", text)
    yield re.sub(r"row_mask:0x[0-9a-f]", "row_mask:0x10", text)
    yield text + " " + source.choice(["clamp", "glc", "mul:2", "offset:4", "gds", "dpp8:[0,1,2,3,4,5,6,7]",
                                      "op_sel:[1]", "neg_lo:[1]", "row_mask:0x1", "lds", "tfe"])
    yield text.replace(",", "", 1)


def respelled(canon):
    """Per wave (text, bytes, canonical text)."""
    for wave in WAVES:
        wanted = [s for code, text in few(canon[wave], mnemonic, 1)
                  for s in turn(len(text) + len(code),
                                [s for s in spellings(text) if s != text], 1)]
        codes, _ = assemble(wave, wanted)
        made = [(t, digits(c)) for t, c in zip(wanted, codes) if c]
        printed = disassemble(wave, [c for _, c in made])
        yield wave, [(t, c, p) for (t, c), p in zip(made, printed) if p]


def wrong(canon):
    for wave in WAVES:
        source = random.Random(11)
        wanted = [m for code, text in few(canon[wave], mnemonic, 1)
                  for m in turn(len(text) + len(code),
                                [m for m in mistakes(text, source) if m != text], 1)]
        wanted = list(dict.fromkeys(wanted))
        _, bad = assemble(wave, wanted)
        yield wave, [(wanted[i], "refused") for i in bad]


def with_symbols(canon):
    """The literal constant of every form becomes a symbol; branches go to one."""
    rows = [re.sub(r"0x[0-9a-f]{5,8}\b", "sym", text)
            for _, text in few((r for r in canon["32"] if re.search(r"0x[0-9a-f]{5,8}\b", r[1])),
                               mnemonic, 1)]
    rows += [t.replace("sym", "sym+4", 1) for t in rows[::7]]
    rows += [f"s_{b} target" for b in ("branch", "cbranch_scc0", "cbranch_scc1", "cbranch_vccz",
             "cbranch_vccnz", "cbranch_execz", "cbranch_execnz")] + ["s_call_b64 s[2:3], target"]
    codes, _ = assemble("32", rows)
    return [(t, c, "32", t) for t, c in zip(rows, codes) if c and "A" in c]


def true16(rows_of):
    """Half registers by name (v1.l, v1.h)."""
    found = {}
    for wave in WAVES:
        rows = [code for code, text in rows_of[wave] if "16" in text.split()[0]]
        texts = disassemble(wave, rows, true16=True)
        named = [(t, c) for c, t in zip(rows, texts) if t and re.search(r"\bv\d+\.[lh]\b", t)]
        codes, _ = assemble(wave, [t for t, _ in named], true16=True)
        found[wave] = [(t, c, t) for (t, c), again in zip(named, codes) if digits(again) == c]
    return both(found)


def main():
    build = sys.argv[1]
    every, canon, invalid = {}, {}, {}
    for wave in WAVES:
        every[wave], refused = canonical(build, wave)
        canon[wave] = list(few(every[wave], lambda r: form(r[1], r[0]), PER_FORM))
        invalid[wave] = [(c, "<invalid>") for _, c in few(refused, lambda r: r[0], 1)]
    write("dis_gfx1100.tsv", both({w: canon[w] for w in WAVES}))
    write("dis_err_gfx1100.tsv", both(invalid))
    write("asm_gfx1100.tsv", both(dict(respelled(canon))))
    write("asm_gfx1100_realtrue16.tsv", true16(every))
    write("err_gfx1100.tsv", both(dict(wrong(canon))))
    write("asm_gfx1100_fixup.tsv", with_symbols(canon))
    good, bad = descriptors.make()
    write("kd_gfx1100.tsv", good)
    write("kd_err_gfx1100.tsv", bad)


if __name__ == "__main__":
    main()
