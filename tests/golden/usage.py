#!/usr/bin/env python3
"""Wrong usage of every command: exit status 2, nothing on stdout, and on stderr lines that
begin with "error: " and never getopt's own words. And every option with a value that hardly
any takes, beside a file that is not there: whatever is told, it ends as an error.

    usage.py RDNA3

The commands and their options come from --help, so that a new one is tried too.
SPDX-License-Identifier: MIT
"""
import os
import re
import subprocess
import sys
import tempfile


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
    for option in values(text):
        yield [option]


def values(text):
    """The options that --help says take a value."""
    return sorted(set(re.findall(r"(?<![\w-])(--[a-z][a-z-]*)[ =][A-Z]", text)))


def odd(rdna3, name):
    """Beside a file, a command or whatever else that is not there."""
    nowhere = {"exec": ["--", "no/such"], "check": ["--", "no/such"], "device": ["--remote", "no/such"],
               "debug": ["--batch", "no/such"]}.get(name, ["no/such"])
    for i, option in enumerate(values(run(rdna3, name, "--help")[1])):
        yield [option, ("", "99999999999999999999")[i % 2], *nowhere]


def main():
    rdna3 = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # where `exec --log` makes its file
        status = check(rdna3)
        os.chdir("/")
    return status


def check(rdna3):
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
        for words in odd(rdna3, name):
            status, out, err = run(rdna3, name, *words)
            tried += 1
            if status not in (1, 2, 125, 127) or out or not err.startswith("error: "):
                bad.append(f"rdna3 {name} {' '.join(words)}: exit {status}, {out[:80]!r} {err[:160]!r}")
    for line in bad:
        print(line)
    print(f"{len(names)} commands, {tried} mistakes, {len(bad)} not told well")
    return 1 if bad or len(names) < 8 or tried < 4 * len(names) else 0


if __name__ == "__main__":
    sys.exit(main())
