#!/usr/bin/env python3
"""Compare the assembler with llvm-mc-19, statement for statement.

    llvm_diff.py ISA_ASM_HEX ISA_ENUMERATE WAVE [COUNT] [SEED]

Statements are our disassembler's text of random encodings of every row, and these with an
operand, a modifier or a suffix changed at random. Where LLVM encodes something, so must we,
to the same bytes, except where LLVM drops what was written (see TRUNCATED); what LLVM
refuses we may accept only if it is spelt for another mode (true16) or left to policy.
Exit 1 on a difference, 77 without llvm-mc-19.
SPDX-License-Identifier: MIT
"""
import random
import re
import shutil
import subprocess
import sys

OPERANDS = """v0 v1 v127 v128 v255 v256 s0 s1 s105 s106 v[0:1] v[1:2] v[0:3] v[0:7] v[254:255]
    s[0:1] s[1:2] s[2:3] s[0:3] s[2:5] s[4:7] s[0:7] s[104:105] ttmp1 ttmp[0:1] ttmp[4:7] vcc
    vcc_lo exec exec_lo exec_hi m0 null src_scc src_shared_base off 0 1 64 65 -16 -17 0.5 1.0 -1.5
    0.15915494 0x3c00 0xffff 0x10000 0x3f800000 0x3ff00000 0xffffffff 0x100000000 1e10
    |v1| -v1 -|v1| neg(v2) abs(s3) -1.0 sext(v1) [v1,v2] tba execz -5 123456""".split()
MODIFIERS = """clamp mul:2 div:2 op_sel:[1,0] op_sel:[0,1] op_sel_hi:[0,1] neg_lo:[1,0]
    neg_hi:[0,1] quad_perm:[0,1,2,3] row_shl:1 dpp8:[0,1,2,3,4,5,6,7] row_mask:0x3 bound_ctrl:1
    fi:1 offset:4 offset:4096 offset:-4 offset:65535 offset0:1 offset1:255 glc slc dlc tfe lwe d16
    a16 r128 unorm gds idxen offen format:5 dmask:0x1 dmask:0x3 dim:SQ_RSRC_IMG_2D done row_en
    wait_exp:3 wait_vdst:7""".split()
SUFFIXES = ["", "_e32", "_e64", "_dpp", "_e64_dpp"]

# What LLVM takes and drops in silence: more op_sel and neg bits than sources, numbers too
# large for a field, |x| where there is no bit for it, selectors above a seven-bit field.
TRUNCATED = re.compile(
    r"op_sel|neg_lo|neg_hi|src_|scc|offset:4096|offset:65535|row_mask|bank_mask|"
    r"v_div_scale|v_interp|^s_|null|lds_direct|^image.* off|^v_.*_e64 .*neg\(|v_ldexp_f16")
# Spellings of true16 (v_mov_b16 without a half is one), VCC left out before row_mirror,
# VOP3 forms LLVM has not.
LENIENT = re.compile(r"v_mov_b16|op_sel|row_mirror|row_half_mirror|_e64 |lit\(|\.[lh]\b")


def enumerate_texts(program, wave, count):
    out = subprocess.run([program, wave, count], capture_output=True, text=True, check=True)
    texts = (line.split("\t")[1] for line in out.stdout.splitlines())
    return list(dict.fromkeys(t for t in texts if t and "/*" not in t))


def change(rng, text):
    name, _, rest = text.partition(" ")
    kind = rng.random()
    if kind < 0.5:
        words = re.findall(r"\[[^\]]*\]|[^\s,\[\]]+(?:\[[^\]]*\])?|,", rest)
        places = [i for i, w in enumerate(words) if w != ","]
        if places:
            words[rng.choice(places)] = rng.choice(OPERANDS)
        rest = " ".join(words).replace(" ,", ",")
    elif kind < 0.8:
        rest += " " + rng.choice(MODIFIERS)
    else:
        name = re.sub(r"_(e32|e64_dpp|e64|dpp)$", "", name) + rng.choice(SUFFIXES)
    return f"{name} {rest}"


def llvm(statements, wave):
    other = "32" if wave == "64" else "64"
    # The empty line: after some mistakes LLVM skips the next one.
    source = "".join(f".Lq_{i}:\n{s}\n\n" for i, s in enumerate(statements))
    out = subprocess.run(
        ["llvm-mc-19", "-triple=amdgcn", "-mcpu=gfx1100", "-show-encoding",
         f"-mattr=-wavefrontsize{other},+wavefrontsize{wave}"],
        input=source, capture_output=True, text=True)
    results = {}
    at = None
    for line in out.stdout.splitlines():
        if m := re.match(r"\.Lq_(\d+):", line):
            at = int(m[1])
        elif m := re.search(r"encoding: \[(.*)\]", line):
            results[at] = m[1].replace("0x", "").replace(",", "")
    for m in re.finditer(r"<stdin>:(\d+):\d+: error:", out.stderr):
        results.pop((int(m[1]) - 2) // 3, None)
    return results


def ours(program, statements, wave):
    out = subprocess.run([program, wave], input="\n".join(statements) + "\n",
                         capture_output=True, text=True, check=True)
    return out.stdout.splitlines()


def compare(statements, theirs, mine):
    bad = 0
    for i, text in enumerate(statements):
        want, have = theirs.get(i), mine[i]
        refused = have.startswith("error:")
        if want is not None and "A" in want:
            continue  # a symbol: needs the file level
        if want is None and (refused or LENIENT.search(text)):
            continue
        if want is not None and (want == have or (refused and TRUNCATED.search(text))):
            continue
        bad += 1
        if bad <= 20:
            print(f"{text}\n    llvm-mc {want or 'refuses'}, we: {have}")
    return bad


def main():
    if shutil.which("llvm-mc-19") is None:
        print("SKIPPED: no llvm-mc-19")
        return 77
    program, enumerator, wave = sys.argv[1:4]
    count = sys.argv[4] if len(sys.argv) > 4 else "8"
    rng = random.Random(sys.argv[5] if len(sys.argv) > 5 else "1")
    statements = enumerate_texts(enumerator, wave, count)
    statements += [change(rng, t) for t in statements]
    theirs = llvm(statements, wave)
    bad = compare(statements, theirs, ours(program, statements, wave))
    print(f"{len(statements)} statements, llvm-mc accepts {len(theirs)}, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
