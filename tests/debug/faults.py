#!/usr/bin/env python3
"""Kernels of programs under rdna3 exec that do not end well.

    faults.py RDNA3 [NAME...]
"""
# SPDX-License-Identifier: MIT
import os
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from sessions import (RDNA3, assemble, compile_cl, expect, has, rdna3,  # noqa: E402
                      run_tests, script)


def client(path, *words):
    return ("--", RDNA3, "run", "--device", "kfd", path, *words)


def test_fault(folder):
    """The kernel is found by its code; the core file holds it, and all memory."""
    path = assemble(folder, "math", scratch=16)
    core = os.path.join(folder, "core")
    words = client(path, "--block", "32", "--arg", "u64:4096")
    r = rdna3("exec", "--code", path, "--core", core, *words)
    expect("fault", r.returncode == 1, r.stderr)
    has("fault", r.stderr, "kernel kernel faulted at 0x", "<kernel+0x", "core file: " + core)
    r = rdna3("debug", "--core", core, text=script(
        "assert s6 == 0x12345678", "lane 3", "assert v4 == 12", "info waves", "why",
        "disassemble ,2", "info kernel", "print arg0"))
    has("core", r.stdout, "core file: unmapped address", "global_store_b32", "* 0.0",
        "faulted; next is global_store_b32", "kernel kernel of " + path)
    r = rdna3("exec", *words)
    has("without the code object", r.stderr, "kernel kernel faulted at 0x")
    r = rdna3("exec", "--core", core + "2", *client(path, "--block", "32", "--arg", "buf:4K"))
    expect("nothing is told of what is right", r.returncode == 0 and not r.stderr and
           not os.path.exists(core + "2"), r.stderr)
    r = rdna3("exec", "--core", "/nowhere/core", *words)
    expect("no such folder, and nothing runs", r.returncode == 1 and r.stderr ==
           "error: --core /nowhere/core: No such file or directory\n", r.stderr)
    for what, why in (("/nowhere", "--code /nowhere: "), (core, "--code " + core + ": ")):
        r = rdna3("exec", "--code", what, *words)
        expect(f"--code {what}", r.returncode == 1 and r.stderr.startswith("error: " + why),
               r.stderr)


def test_sources(folder):
    """Source lines and what they are inlined into; variables in the core file."""
    for level in ("-O0", "-O2"):
        path = compile_cl(folder, "wrong_lane", level)
        core = os.path.join(folder, "core")
        r = rdna3("exec", "--code", path, "--core", core,
                  *client(path, "--block", "64", "--arg", "buf:256", "--arg", "u64:4096"))
        expect(f"fault {level}", r.returncode == 1, r.stderr)
        has(f"fault {level}", r.stderr, "kernel turn faulted at", "wrong_lane.cl:16:",
            "in turn", "core file")
        r = rdna3("debug", "--core", core, text=script("bt", "info locals", "print tile[3]"))
        has(f"core {level}", r.stdout, "out[i] = tile[from];", "#0", "turn at", "i = ",
            "tile[3] = 0")


def interrupt(*words):
    """Run it with SIGINT until it is told in a kernel, which begins some time. Returns
    exit status and stderr."""
    with subprocess.Popen(
            [RDNA3, *words], stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as p:
        text = ""
        try:
            for _ in range(200):
                try:
                    text = p.communicate(timeout=1)[1]
                    break
                except subprocess.TimeoutExpired:
                    p.send_signal(signal.SIGINT)
        finally:
            p.kill()
    return p.returncode, text


def test_interrupt(folder):
    """SIGINT tells where the waves are, and then does what it would have done."""
    path = assemble(folder, "hang")
    core = os.path.join(folder, "core")
    for engine in ("interp", "auto"):
        status, text = interrupt(
            "exec", "--engine", engine, "--code", path, "--core", core,
            *client(path, "--grid", "2", "--block", "64", "--arg", "buf:64"))
        expect(f"SIGINT {engine}", status == 130, text)
        has(f"SIGINT {engine}", text, "kernel kernel, 4 waves in flight",
            "workgroup (0,0,0) wave 1: pc 0x", "<again+", "next is", "core file:")
        r = rdna3("debug", "--core", core, text=script("info waves", "wave 0.1", "why"))
        has("its core", r.stdout, "core file: interrupted", "0.0", "it has ended", "0.1")


def test_interrupt_checked(folder):
    """The same under the checkers, which have their say after it."""
    path = assemble(folder, "hang")
    status, text = interrupt(
        "check", "--check", "mem",
        *client(path, "--grid", "2", "--block", "64", "--arg", "buf:64"))
    expect("SIGINT check", status == 130, text)
    has("SIGINT check", text, "kernel kernel, 4 waves in flight",
        "workgroup (0,0,0) wave 1: pc 0x", "next is", "0 errors in")


if __name__ == "__main__":
    sys.exit(run_tests(globals(), "sources"))
