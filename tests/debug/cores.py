#!/usr/bin/env python3
"""Kernels that do not end well: source lines of faults, SIGINT, core files.

    cores.py RDNA3 [NAME...]
"""
# SPDX-License-Identifier: MIT
import os
import signal
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from sessions import (RDNA3, assemble, compile_cl, expect, has, rdna3,  # noqa: E402
                      run_tests, script, until_caught)


def test_fault(folder):
    path = assemble(folder, "math", scratch=16)
    core = os.path.join(folder, "core")
    r = rdna3("run", path, "--block", "32", "--arg", "buf:64", "--core", core)
    expect("fault", r.returncode == 1, r.stderr)
    has("fault", r.stderr, "error: unmapped address", "lane 16", "core file:")
    r = rdna3("debug", "--core", core, text=script(
        "assert pc != 0 && lane == 16 && v1.f32 == 16", "assert s6 == 0x12345678",
        "lane 3", "assert v4 == 12", "info waves", "why", "info memory", "x/4x s[4:5]",
        "info registers v0", "disassemble ,2", "info kernel", "print scratch[8]"))
    expect("core", r.returncode == 0, r.stdout + r.stderr)
    has("core", r.stdout, "core file: unmapped address", "global_store_b32", "* 0.0",
        "faulted", "faulted; next is global_store_b32", "argument 0", "0x00000000",
        "0000001f", "kernel kernel", "0x00000000")
    r = rdna3("debug", "--core", core, text=script("continue", "wave 9", "x/4x 16"))
    has("what a core cannot", r.stderr, "a core file does not run",
        "wave 0.9 is not there", "cannot read 4 bytes of global memory at 0x10")
    r = rdna3("run", path, "--block", "32", "--arg", "buf:128", "--core", core + "2")
    expect("no core without a fault", r.returncode == 0 and not os.path.exists(core + "2"),
           r.stderr)
    r = rdna3("run", path, "--block", "32", "--arg", "buf:64", "--core", "/nowhere/core")
    expect("no such folder", r.returncode == 1 and r.stderr ==
           "error: --core /nowhere/core: No such file or directory\n", r.stderr)
    r = rdna3("run", path, "--block", "32", "--arg", "buf:64", "--core", folder)
    expect("a folder", r.returncode == 1 and
           r.stderr == f"error: --core {folder}: Is a directory\n", r.stderr)
    before = open(core, "rb").read()
    r = rdna3("run", path, "--block", "32", "--arg", "buf:128", "--core", core)
    expect("an old core file stays", r.returncode == 0 and
           open(core, "rb").read() == before, r.stderr)
    timed = os.path.join(folder, "timed")
    r = rdna3("run", path, "--block", "32", "--arg", "buf:64", "--timing", "--core", timed)
    expect("a timed fault", r.returncode == 1 and "core file:" in r.stderr, r.stderr)
    r = rdna3("debug", "--core", timed, text=script(
        "assert pc != 0 && lane == 16 && v1.f32 == 16", "info waves", "print scratch[8]"))
    expect("a timed core", r.returncode == 0, r.stdout + r.stderr)
    has("a timed core", r.stdout, "core file: unmapped address", "* 0.0", "faulted")
    r = rdna3("run", path, "--timing", "--timing-sample", "auto", "--core", core)
    expect("not of a sample", r.returncode == 2 and "goes without" in r.stderr, r.stderr)


def test_sources(folder):
    """Faults name the line and what it is inlined into, without --check."""
    for level in ("-O0", "-O2"):
        path = compile_cl(folder, "wrong_lane", level)
        core = os.path.join(folder, "core")
        r = rdna3("run", path, "--block", "64", "--arg", "buf:256", "--arg", "buf:128",
                  "--core", core)
        expect(f"fault {level}", r.returncode == 1, r.stderr)
        has(f"fault {level}", r.stderr, "error: unmapped address", "wrong_lane.cl:16:",
            "in turn", "core file")
        r = rdna3("debug", "--core", core, text=script("bt", "info locals", "list"))
        has(f"core {level}", r.stdout, "out[i] = tile[from];", "#0", "turn at", "i = ",
            "=>16")
        timed = rdna3("run", path, "--block", "64", "--arg", "buf:256", "--arg", "buf:128",
                      "--timing")
        has(f"fault {level} under --timing", timed.stderr, "wrong_lane.cl:16:")


def interrupt(*words, at="", command="run"):
    with subprocess.Popen([RDNA3, command, *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as p:
        until_caught(p)
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=60)
    return p.returncode, out + err


def test_interrupt(folder):
    """SIGINT tells where the waves are."""
    path = assemble(folder, "hang")
    core = os.path.join(folder, "core")
    for engine in ("interp", "auto"):
        status, text = interrupt(path, "--grid", "2", "--block", "64", "--arg", "buf:64",
                                 "--engine", engine, "--core", core)
        expect(f"SIGINT {engine}", status == 130, text)
        has(f"SIGINT {engine}", text, "error: interrupted", "kernel kernel",
            "workgroup (0,0,0) wave 1: pc 0x", "<again+", "next is", "core file:")
        r = rdna3("debug", "--core", core, text=script("info waves", "wave 0.1", "why"))
        has("its core", r.stdout, "core file: interrupted", "0.0", "it has ended", "0.1")


def hostile(data, rng):
    """A core file with some bytes changed, or cut off."""
    data = bytearray(data)
    if rng() % 4 == 0:
        return bytes(data[:rng() % len(data)])
    for _ in range(1 + rng() % 8):
        at = rng() % (4096 if rng() % 2 else len(data))
        data[min(at, len(data) - 1)] = rng() % 256
    return bytes(data)


def test_hostile(folder):
    path = assemble(folder, "math", scratch=16)
    core = os.path.join(folder, "core")
    rdna3("run", path, "--block", "32", "--arg", "buf:64", "--core", core)
    with open(core, "rb") as f:
        good = f.read()
    notes = struct.unpack_from("<IIQQQQQQ", good, 64)[2]

    def refused(what, data, why):
        with open(core, "wb") as f:
            f.write(data)
        r = rdna3("debug", "--core", core, text="info waves\n")
        expect(f"{what} is refused", r.returncode == 1 and r.stderr.startswith("error: ") and
               why in r.stderr and r.stderr.count("\n") == 1, r.stdout + r.stderr)

    refused("nothing", b"", "not an ELF file")
    refused("text", b"hello" * 100, "not an ELF file")
    refused("a code object", open(path, "rb").read(), "not a core file")
    refused("a header alone", good[:64], "truncated")
    refused("half", good[:len(good) // 2], "truncated")
    refused("all but a byte", good[:-1], "truncated")
    refused("a note that is too long", good[:notes + 4] + b"\xff" * 4 + good[notes + 8:],
            "is cut off")
    refused("another version", good[:notes + 20] + b"\x09" + good[notes + 21:],
            "version 9 of the format")
    refused("another machine", good[:18] + b"\x3e\x00" + good[20:],
            "not a file of an AMD GPU")
    state = 12345

    def rng():
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        return state >> 33

    for i in range(60):
        with open(core, "wb") as f:
            f.write(hostile(good, rng))
        r = rdna3("debug", "--core", core, text=script(
            "info waves", "info locals", "bt", "info memory", "disassemble", "x/8x s[4:5]",
            "info registers v", "list"))
        expect(f"hostile core {i}", r.returncode in (0, 1), f"{r.returncode} {r.stderr}")
    r = rdna3("debug", "--core", "/nowhere/core")
    has("no file", r.stderr, "cannot read '/nowhere/core'")


if __name__ == "__main__":
    sys.exit(run_tests(globals(), "sources"))
