#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hostile sources end in an error (or an object), soon and with bounded memory."""
import os
import resource
import subprocess
import sys
import tempfile

MIB = 1 << 20
MEMORY = 1536 * MIB
SECONDS = 120

# name, text, exit status
CASES = [
    ("a line of 100 MB", lambda: "s_nop " + "1" * 100_000_000, 1),
    ("a label of 100 MB", lambda: "a" * 100_000_000 + " x", 1),
    ("a string of 50 MB that does not end", lambda: '.ascii "' + "x" * 50_000_000, 1),
    ("deep parentheses", lambda: ".long " + "(" * 10_000_000, 1),
    ("deep parentheses in an operand", lambda: "s_mov_b32 s0, " + "(" * 10_000_000, 1),
    ("many signs", lambda: ".long " + "-" * 10_000_000 + "1\n", 1),
    ("a long sum", lambda: ".long a" + "+a" * 500_000 + "\n", 1),
    ("a macro that calls itself", lambda: ".macro m\nm\nm\nm\n.endm\nm\n", 1),
    ("a macro whose argument doubles",
     lambda: ".macro m a\nm \\a\\a\\a\\a\\a\\a\\a\\a\\a\\a\n.endm\nm xxxxxxxxxxx\n", 1),
    ("endless repetition", lambda: ".rept 1<<62\n\n.endr\n", 1),
    ("endless output", lambda: ".rept 1<<62\n.fill 1<<20\n.endr\n", 1),
    ("space without end", lambda: ".space 1<<62\n", 1),
    ("a million .if", lambda: ".if 1\n" * 1_000_000, 1),
    ("a million errors", lambda: "bogus 1, 2\n" * 1_000_000, 1),
    ("NUL bytes", lambda: "s_nop 0\n\0\0\0\n", 1),
    ("symbols that double", lambda: ".set a0,u\n" + "".join(
        ".set a%d,a%d-a%d\n" % (i + 1, i, i) for i in range(60)) + ".quad a60\n", None),
    ("deep YAML", lambda: ".amdgpu_metadata\n---\n" + "[" * 1_000_000 +
     "\n.end_amdgpu_metadata\n", 1),
    ("60000 groups", lambda: "".join('.section s%d,"aG",@progbits,g%d,comdat\n' % (i, i)
                                     for i in range(60_000)), 0),
    ("a comment that does not end", lambda: "/* " * 10_000_000, 1),
]


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main():
    rdna3 = sys.argv[1]
    bad = 0
    with tempfile.TemporaryDirectory() as tmp:
        source, out = os.path.join(tmp, "x.s"), os.path.join(tmp, "x.o")
        for name, text, status in CASES:
            with open(source, "w") as f:
                f.write(text())
            try:
                p = subprocess.run([rdna3, "asm", "-c", "-o", out, source],
                                   capture_output=True, timeout=SECONDS, preexec_fn=limit)
                ok = p.returncode == status or (status is None and p.returncode in (0, 1))
                said = p.stderr.startswith(b"error: ") or p.returncode == 0
                small = len(p.stderr) < 40_000
                left = os.path.exists(out) and p.returncode != 0
            except subprocess.TimeoutExpired:
                ok = said = small = left = False
            if not ok or not said or not small or left:
                print("wrong:", name)
                bad += 1
            if os.path.exists(out):
                os.unlink(out)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
