#!/usr/bin/env python3
"""Assemble the bodies in programs.s with llvm-mc-19 into programs.inc.

Run by hand after changing programs.s; the result is committed, so the tests need no
assembler.  A line "@NAME" starts a body; it is wrapped so that rows 0..7 of the input are
in v2..v9 (lane l of row r is dword 64 r + l) and v10..v17 are stored to rows 0..7 of the
output.  "@@NAME" starts a trap handler, which is not wrapped.  s[0:1] is the input, s[2:3] the output, s[4:31] are the test's.
"""
import pathlib
import re
import subprocess
import sys

PROLOGUE = ["v_lshlrev_b32 v1, 2, v0"] + [
    f"global_load_b32 v{2 + r}, v1, s[0:1] offset:{256 * r}" for r in range(8)
] + ["s_waitcnt vmcnt(0)"]
EPILOGUE = ["s_waitcnt 0", "s_mov_b64 exec, -1"] + [
    f"global_store_b32 v1, v{10 + r}, s[2:3] offset:{256 * r}" for r in range(8)
] + ["s_endpgm"]


def assemble(lines, wave):
    size = "+wavefrontsize32,-wavefrontsize64" if wave == 32 else "-wavefrontsize32,+wavefrontsize64"
    raw = {i: int(x.split()[1], 0) for i, x in enumerate(lines) if x.startswith(".long")}
    lines = ["s_nop 0" if i in raw else x for i, x in enumerate(lines)]
    run = subprocess.run(
        ["llvm-mc-19", "-arch=amdgcn", "-mcpu=gfx1100", f"-mattr={size}", "-show-encoding"],
        input="\n".join(lines), text=True, capture_output=True)
    if run.returncode:
        sys.exit(run.stderr)
    out = []
    for line in run.stdout.splitlines():
        m = re.search(r"^\s*(.*?)\s*; encoding: \[(.*?)\]", line)
        if m:
            data = bytes(int(x, 0) for x in m[2].replace("A", "0").split(","))
            if "A" in m[2]:
                sys.exit("use numbers for branch distances: " + line)
            words = [int.from_bytes(data[i:i + 4], "little") for i in range(0, len(data), 4)]
            i = len(out)
            out.append(([raw[i]], "no text") if i in raw else (words, m[1]))
    return out


def main():
    here = pathlib.Path(__file__).parent
    bodies, name = {}, None
    for line in (here / "programs.s").read_text().splitlines():
        line = line.split("//")[0].strip()
        if line.startswith("@"):
            name = line[2:] if line.startswith("@@") else "body_" + line[1:]
            bodies[name] = []
        elif line:
            bodies[name].append(line)
    text = ["/* programs.inc: programs.s, assembled by assemble.py. Do not edit. */"]
    common = {w: (assemble(PROLOGUE, w), assemble(EPILOGUE, w)) for w in (32, 64)}
    for w in (32,):
        for part, lines in zip(("prologue", "epilogue"), common[w]):
            text += emit(part, lines)
    for name, lines in bodies.items():
        code = {w: assemble(lines, w) for w in (32, 64)}
        same = [c[0] for c in code[32]] == [c[0] for c in code[64]]
        if not same:
            sys.exit(f"{name}: differs between the wave sizes")
        text += emit(name, code[32])
    (here / "programs.inc").write_text("\n".join(text) + "\n")


def emit(name, code):
    text = [f"static const uint32_t {name}[] = {{"]
    for words, asm in code:
        text.append("    " + " ".join(f"0x{x:08x}," for x in words) + f" /* {asm} */")
    return text + ["};"]


if __name__ == "__main__":
    main()
