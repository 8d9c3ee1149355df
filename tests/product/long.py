#!/usr/bin/env python3
"""Long runs: --timeout, SIGINT, what they keep, what a terminal sees.

    long.py timeout|interrupt|interrupt_auto|interrupt_exec|terminal|insts|hours RDNA3

SPDX-License-Identifier: MIT
"""
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

WHAT, RDNA3 = sys.argv[1:3]
LOOP = """.text
.globl loop
.p2align 8
.type loop,@function
loop:
  s_branch loop
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel loop
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 8
  .amdhsa_wavefront_size32 1
.end_amdhsa_kernel
"""


def call(*command):
    r = subprocess.run([RDNA3, *command], capture_output=True, text=True, timeout=300,
                       check=False)
    return r.returncode, r.stdout + r.stderr


def expect(condition, what):
    if not condition:
        sys.exit(f"wrong: {what}")


def kept(path):
    status, told = call("trace", path)
    expect(status == 0 and "dispatch 0: loop" in told, f"the timeline: {told}")


def timeout(code, folder):
    line = os.path.join(folder, "a.tl")
    status, told = call("run", code, "--timeout", "0.3")
    expect(status == 124 and "--timeout is over" in told and "next is s_branch" in told, told)
    status, told = call("run", code, "--timing", "--timing-trace", line, "--timeout", "0.3")
    expect(status == 124 and "cycles were simulated; the timeline has them" in told and
           "loop, 1 waves in flight" in told and "next is s_branch" in told, told)
    expect("\r" not in told and "\x1b" not in told, "control characters without a terminal")
    kept(line)
    core = os.path.join(folder, "core")
    status, told = call("run", code, "--timing", "--core", core, "--timeout", "0.3")
    expect(status == 124 and os.path.getsize(core) > 0 and "rdna3 debug --core" in told, told)
    expect(call("run", code, "--timing-sample", "auto", "--core", core)[0] == 2, "--core of a sample")
    for wrong in ("0", "-1", "x", "1e9", "nan"):
        expect(call("run", code, "--timeout", wrong)[0] == 2, f"--timeout {wrong} is taken")


def until_busy(process, path):
    """Wait until the timeline grows: the run is under way, and its handlers are there."""
    for _ in range(600):
        if os.path.exists(path) and os.path.getsize(path) > 0 or process.poll() is not None:
            break
        time.sleep(0.02)


def interrupt(code, folder):
    line = os.path.join(folder, "a.tl")
    with subprocess.Popen([RDNA3, "run", code, "--timing", "--timing-trace", line],
                          stderr=subprocess.PIPE, text=True) as p:
        until_busy(p, line)
        p.send_signal(signal.SIGINT)
        told = p.communicate(timeout=300)[1]
    expect(p.returncode == 130 and "error: interrupted" in told, f"{p.returncode} {told}")
    kept(line)


COUNTED = LOOP.replace("loop:\n", "loop:\n  s_mov_b32 s4, 30000\nagain:\n  s_sub_u32 s4, s4, 1\n"
                       "  s_cmp_lg_u32 s4, 0\n", 1).replace("s_branch loop", "s_cbranch_scc1 again")


def interrupt_auto(code, folder):
    """While instructions are counted, which is a process of its own; while a sample looks for the
    pace."""
    auto = [RDNA3, "run", code, "--block", "64", "--timing", "--timing-sample", "auto"]
    expect(call(*auto[1:], "--timeout", "0.3") == (124, "error: the time of --timeout is over\n"
                                                  "no cycle was simulated yet\n"), "an endless count")
    with open(os.path.join(folder, "counted.s"), "w", encoding="utf-8") as f:
        f.write(COUNTED)
    expect(call("asm", f.name, "-o", code)[0] == 0, "the counted loop does not assemble")
    line = os.path.join(folder, "a.tl")
    with subprocess.Popen([*auto, "--grid", "6000", "--timing-trace", line],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as p:
        until_busy(p, line)
        p.send_signal(signal.SIGINT)
        out, told = p.communicate(timeout=300)
    expect(p.returncode == 130 and "error: interrupted" in told and "the timeline has them" in told and
           not out, f"{p.returncode} {told} {out}")
    kept(line)


def interrupt_exec(code, folder):
    """A program whose kernel runs: its counters, and what was recorded."""
    line, counts, log = (os.path.join(folder, x) for x in ("a.tl", "a.json", "log"))
    with subprocess.Popen([RDNA3, "exec", "--timing", "--timing-trace", line, "--json", counts, "--log", log,
                           "--", RDNA3, "run", "--device", "kfd", code],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as p:
        for _ in range(600):
            if p.poll() is not None or os.path.exists(log) and b" WAIT_EVENTS " in open(log, "rb").read():
                break
            time.sleep(0.05)
        time.sleep(0.3)
        p.send_signal(signal.SIGINT)
        told = p.communicate(timeout=300)[1]
    expect(p.returncode == 130 and "loop, 1 waves in flight" in told and "next is s_branch" in told,
           f"{p.returncode} {told}")
    kept(line)
    with open(counts, encoding="utf-8") as f:
        processes = json.load(f)["processes"]
    expect([x["dispatches"] for x in processes] == [1], processes)


def terminal(code, _):
    """Progress on one line, also of a narrow terminal, gone before the messages."""
    main, side = pty.openpty()
    with subprocess.Popen([RDNA3, "run", code, "--timing", "--timeout", "3"], stderr=side,
                          stdout=subprocess.DEVNULL, env=dict(os.environ, NO_COLOR="1")) as p:
        os.close(side)
        told = b""
        try:
            while data := os.read(main, 65536):
                told += data
                if b"\x1b[K" in told:
                    fcntl.ioctl(main, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 20, 0, 0))
        except OSError:  # the other end is closed
            pass
    expect(p.returncode == 124, p.returncode)
    expect(b" cycles simulated, 0 of 1 workgroups \x1b[K" in told, told)
    expect(re.search(rb"\r[0-9]+ cycles s[a-z]* ?\x1b", told), f"lines wrap: {told}")
    expect(b"\r\x1b[Kerror: the time" in told, told)


def insts(code, folder):
    """A limit of instructions of a timed run."""
    line = os.path.join(folder, "a.tl")
    status, told = call("run", code, "--max-insts", "100000", "--timing", "--timing-trace", line)
    expect(status == 124 and "--max-insts have run" in told and "the timeline has them" in told, told)
    kept(line)
    for wrong in ("0", "-1", "x"):
        expect(call("run", code, "--timing", "--max-insts", wrong)[0] == 2, f"{wrong} is taken")
    expect(call("run", code, "--max-insts", "5")[0] == 2, "--max-insts without --timing")
    for wrong in ("se=6,sa=0,wgp=0,simd=0", "se=0,sa=0,wgp=0,simd=4", "se=-1,sa=0,wgp=0,simd=0"):
        expect(call("run", code, "--timing", "--timing-insts", wrong)[0] == 2, f"{wrong} is taken")


def parts(code, _):
    """The processes of --timing-part all/N end as one would, also if only the first is told to."""
    every = ["run", code, "--grid", "8000", "--timing", "--timing-part", "all/2"]
    expect(call(*every, "--timeout", "0.5") == (124, "error: the time of --timeout is over\n"), "--timeout")
    expect(call(*every, "--max-insts", "1000") == (124, "error: the instructions of --max-insts have run\n"),
           "--max-insts")
    expect(call("run", code, "--timing", "--timing-sample", "auto", "--max-insts", "5")[0] == 2, "--max-insts of a sample")
    for how, status, words in ((signal.SIGINT, 130, "error: interrupted\n"), (signal.SIGTERM, -signal.SIGTERM, "")):
        with subprocess.Popen([RDNA3, *every], stderr=subprocess.PIPE, text=True) as p:
            time.sleep(2)
            p.send_signal(how)
            told = p.communicate(timeout=60)[1]  # who has been left behind would hold the pipe
        expect((p.returncode, told) == (status, words), f"{p.returncode} {told}")


def hours(code, folder):
    """A warning that names the option which helps."""
    status, told = call("run", code, "--timing", "--grid", "50000000", "--timeout", "4")
    expect(status == 124 and "warning: this will take more than" in told and
           "; --timing-sample " in told, told)
    status, told = call("run", code, "--timing", "--timeout", "3")
    expect("warning" not in told, told)
    early = os.path.join(folder, "early.s")  # the first to end says little about the others
    with open(early, "w", encoding="utf-8") as f:
        f.write(LOOP.replace("loop:\n", "loop:\n  s_cmp_eq_u32 s0, 0\n  s_cbranch_scc1 end\n").replace(
            "  s_endpgm", "end:\n  s_endpgm"))
    expect(call("asm", early, "-o", code)[0] == 0, "the early one does not assemble")
    status, told = call("run", code, "--timing", "--grid", "60000", "--block", "32", "--timeout", "4")
    expect("warning" not in told, told)


def main():
    with tempfile.TemporaryDirectory() as folder:
        source, code = os.path.join(folder, "loop.s"), os.path.join(folder, "loop.hsaco")
        with open(source, "w", encoding="utf-8") as f:
            f.write(LOOP)
        expect(call("asm", source, "-o", code)[0] == 0, "the loop does not assemble")
        {"timeout": timeout, "interrupt": interrupt,
         "interrupt_auto": interrupt_auto, "interrupt_exec": interrupt_exec, "terminal": terminal,
         "insts": insts, "hours": hours, "parts": parts}[WHAT](code, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
