#!/usr/bin/env python3
"""Messages are coloured on a terminal, and nowhere else.

    color.py RDNA3

SPDX-License-Identifier: MIT
"""
import os
import pty
import re
import subprocess
import sys
import tempfile
import threading

RDNA3 = os.path.abspath(sys.argv[1])
RED, MAGENTA, CYAN, OFF = b"\x1b[1;31m", b"\x1b[1;35m", b"\x1b[1;36m", b"\x1b[0m"
END = b"\0end"
SOURCE = """.macro twice
v_nonsense v0
.endm
.warning "careful"
twice
.include "other.s"
"""


def environment(**more):
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
    return {**env, **more}


def piped(words, folder, **env):
    return subprocess.run([RDNA3, *words], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          cwd=folder, env=environment(**env), timeout=120, check=False).stderr


def on_terminal(words, folder, **env):
    # The side stays open here until the program's text is followed by a mark: what a closed
    # terminal had not passed on yet may be lost to its reader.
    main, side = pty.openpty()
    with subprocess.Popen([RDNA3, *words], stderr=side, stdout=subprocess.DEVNULL, cwd=folder,
                          env=environment(**env)) as program:
        marker = threading.Thread(target=lambda: (program.wait(), os.write(side, END)))
        marker.start()
        told = b""
        while not told.endswith(END):
            told += os.read(main, 65536)
        marker.join()
    os.close(side)
    os.close(main)
    return told.removesuffix(END).replace(b"\r\n", b"\n")


def check(words, folder, colors):
    plain = piped(words, folder, TERM="xterm")
    assert b"\x1b" not in plain and b"error: " in plain, (words, plain)
    for env in ({"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}):
        assert on_terminal(words, folder, **env) == plain, (words, env)
    told = on_terminal(words, folder, TERM="xterm")
    assert re.sub(rb"\x1b\[[0-9;]*m", b"", told) == plain, (words, told, plain)
    expected = plain
    for word, color in colors.items():
        expected = re.sub(rb"(?m)^((?:[\w.]+:[\d:]* )?)%s:" % word,
                          lambda m, c=color + word + b":" + OFF: m[1] + c, expected)
    assert told == expected, (words, told, expected)
    for word, color in colors.items():
        assert color + word + b":" + OFF + b" " in told, (words, word, told)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("a.s", SOURCE), ("other.s", "v_worse v0\n"),
                           ("a.txt", "v_nop\t00\n")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        check(["asm", "a.s"], folder, {b"error": RED, b"warning": MAGENTA, b"note": CYAN})
        check(["asm", "--check", "a.txt"], folder, {b"error": RED})
        check(["doc", "frobnicate"], folder, {b"error": RED})
        check(["run", "missing.hsaco"], folder, {b"error": RED})
    return 0


if __name__ == "__main__":
    sys.exit(main())
