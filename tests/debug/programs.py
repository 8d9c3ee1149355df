#!/usr/bin/env python3
"""Kernels of programs that are debugged while these run.

    programs.py RDNA3 [NAME...]
"""
# SPDX-License-Identifier: MIT
import os
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from sessions import (RDNA3, assemble, compile_cl, expect, has, rdna3,  # noqa: E402
                      run_tests, script)


def client(path, *words):
    return ("--", RDNA3, "run", "--device", "kfd", path, *words)


def test_program(folder):
    """Stops in the program's kernel, forwards and backwards; what is set goes to it."""
    path = assemble(folder, "math", scratch=16)
    r = rdna3("debug", "--code", path,
              *client(path, "--block", "32", "--arg", "buf:256", "--print", "0:f32:8"),
              text=script(
                  "break -m global_store_b32", "info breakpoints", "info program", "step",
                  "run", "assert v4 == 4 * lane", "assert s6 == 0x12345678",
                  "info program", "lane 3", "set v1.f32 = 100", "assert v1.f32 == 100",
                  "set v1 = 100.0", "assert v1.f32 == 100",
                  "reverse-stepi", "stepi", "assert v1.f32 == 100",
                  "set global.f32[s[4:5] + 28] = -7", "last-write s6", "goto 0", "run",
                  "lane 3", "assert v1.f32 == 100", "continue", "info program"))
    expect("the program ends", r.returncode == 1, r.stdout + r.stderr)
    has("program", r.stdout, "breakpoint at instructions 1: global_store_b32, in kernels",
        "mnemonic  global_store_b32", "the program has not been started",
        "breakpoint 1, global_store_b32, wave 0.0", "global_store_b32", "runs; 1 dispatches",
        "lane 3 of wave 0.0", "v1 = ", "last write of", "at the beginning",
        "breakpoint 1", "the program has ended, exit status 0",
        "1 dispatches were run here, 0 by itself")
    has("program", r.stdout, "8 x f32", "0: ", "100")
    expect("a mistake is told", r.stderr.count("error: ") == 1 and
           "step: no kernel is stopped here" in r.stderr, r.stderr)


def test_left(folder):
    """A kernel in which nothing stops is left to the program."""
    path = assemble(folder, "math", scratch=16)
    run = client(path, "--block", "32", "--arg", "buf:256", "--print", "0:f32:4")
    for lines in (("run",), ("break nowhere", "run"), ("break elsewhere.cl:7", "continue")):
        r = rdna3("debug", *run, text=script(*lines, "info program"))
        expect(f"{lines}", r.returncode == 0, r.stdout + r.stderr)
        has(f"{lines}", r.stdout, "the program has ended, exit status 0",
            "0 dispatches were run here, 1 by itself")
    r = rdna3("debug", "--", "sh", "-c", "echo hello; exit 7", text=script("run"))
    has("no kernel at all", r.stdout, "hello", "exit status 7")
    r = rdna3("debug", "--", "/nowhere/program", text=script("run"))
    has("no program", r.stderr + r.stdout, "/nowhere/program", "exit status 127")
    r = rdna3("debug", *run, text=script("break *+0", "run"))
    has("quit ends the program", r.stdout, "breakpoint 1")
    expect("and prints nothing more", "4 x f32" not in r.stdout, r.stdout)
    for words, why in ((("--code", path), "go with -- COMMAND"),
                       (("--code", "/nowhere", *run), "--code /nowhere: "),
                       (("--arg", "buf:4", *run), "gives its kernels their arguments")):
        r = rdna3("debug", *words)
        expect(why, r.returncode in (1, 2) and why in r.stderr, r.stderr)


def test_fault(folder):
    """A fault stops, and is the program's when it goes on."""
    path = assemble(folder, "math", scratch=16)
    r = rdna3("debug", *client(path, "--block", "32", "--arg", "u64:4096"),
              text=script("break *+0", "run", "delete", "continue", "why",
                          "last-write v1", "continue", "continue"))
    has("fault", r.stdout, "breakpoint 1", "fault: unmapped address", "faulted; next is",
        "last write of", "fault: ", "the program has ended, exit status 1")
    has("fault", r.stderr, "page fault at 0x1000")


def test_killed(folder):
    """A program that dies while its kernel is stopped is soon known to be dead."""
    path = assemble(folder, "math", scratch=16)
    with subprocess.Popen([RDNA3, "debug", *client(path, "--block", "32", "--arg", "buf:256")],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as p:
        p.stdin.write(script("break *+0", "run", "info program"))
        p.stdin.flush()
        pid = 0
        for line in p.stdout:
            if line.startswith("process "):
                pid = int(line.split()[1])
                break
        expect("the program's process is told", pid > 0)
        if pid:
            os.kill(pid, signal.SIGKILL)
        began = time.monotonic()
        try:
            out, err = p.communicate(script("stepi", "continue", "info program"), timeout=60)
        except subprocess.TimeoutExpired:
            p.kill()
            out, err = p.communicate()
            expect("it is known to be dead", False, out + err)
    has("killed", out, "the program has ended, exit status 137")
    expect("soon", time.monotonic() - began < 60)


def test_sources(folder):
    """The wrong lane index of a program's kernel, from its wrong output backwards."""
    path = compile_cl(folder, "wrong_lane", "-O0")
    r = rdna3("debug", "--code", path, *client(
        path, "--block", "64", "--arg", "buf:256:iota=i32", "--arg", "buf:256", "--print",
        "1:i32:8"), text=script(
            "break wrong_lane.cl:16 if i == 5", "run", "bt", "assert from == 57",
            "assert arg0 == in && arg1 == out",
            "last-write tile[from]", "continue", "set from = 58", "assert tile[from] == 58",
            "delete", "continue"))
    expect("wrong lane", r.returncode == 0, r.stdout + r.stderr)
    has("wrong lane", r.stdout, "breakpoint 1, wrong_lane.cl:16, wave 0.0 lane 5",
        "out[i] = tile[from];", "#0", "turn at", "written by wave 0.1 lane 25",
        "tile[i] = in[i];", "from = 58", "62 61 60 59 58 58 56 55",
        "the program has ended, exit status 0")


if __name__ == "__main__":
    sys.exit(run_tests(globals(), "sources"))
