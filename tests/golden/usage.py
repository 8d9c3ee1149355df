#!/usr/bin/env python3
"""Wrong usage of every command: exit status 2, nothing on stdout, and on stderr lines that
begin with "error: " and never getopt's own words.

    usage.py RDNA3

The commands and their options come from --help, so that a new one is tried too.
SPDX-License-Identifier: MIT
"""
import re
import subprocess
import sys


def run(*command):
    r = subprocess.run(command, capture_output=True, text=True, timeout=60,
                       stdin=subprocess.DEVNULL)
    return r.returncode, r.stdout, r.stderr


def mistakes(rdna3, name):
    """What must be refused: unknown options, options without their value."""
    _, text, _ = run(rdna3, name, "--help")
    yield ["--no-such-option"]
    yield ["-?"]
    yield ["-Z"]
    yield ["--help=yes"]
    for option in sorted(set(re.findall(r"(?<![\w-])(--[a-z][a-z-]*)[ =][A-Z]", text))):
        yield [option]


def main():
    rdna3 = sys.argv[1]
    _, text, _ = run(rdna3, "--help")
    names = re.findall(r"^  ([a-z]+) +\S", text, re.M)
    tried, bad = 0, []
    for name in names:
        for words in mistakes(rdna3, name):
            status, out, err = run(rdna3, name, *words)
            tried += 1
            lines = err.splitlines()
            if status != 2 or out or not lines or not lines[0].startswith("error: ") \
                    or any(line.startswith(("rdna3", name + ":")) for line in lines):
                bad.append(f"rdna3 {name} {' '.join(words)}: exit {status}, {out[:80]!r} {err[:160]!r}")
    for line in bad:
        print(line)
    print(f"{len(names)} commands, {tried} mistakes, {len(bad)} not told well")
    return 1 if bad or len(names) < 8 or tried < 4 * len(names) else 0


if __name__ == "__main__":
    sys.exit(main())
