#!/usr/bin/env python3
"""Debugging sessions by script.

    sessions.py RDNA3 [NAME...]

Kernels in assembly; those in OpenCL C are compiled by clang-19 (test `sources`).
"""
# SPDX-License-Identifier: MIT
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "check"))
import corpus  # noqa: E402

RDNA3 = os.path.abspath(sys.argv[1])
FAILED = []


def expect(what, ok, seen=""):
    if not ok:
        FAILED.append(what)
        print(f"{what}: not so\n{seen}")


def has(what, text, *parts):
    """The parts, in this order."""
    at = 0
    for part in parts:
        found = text.find(part, at)
        expect(f"{what} has '{part}'", found >= 0, text)
        at = max(found, at)


def rdna3(*words, text=None, cwd=None):
    return subprocess.run([RDNA3, *words], capture_output=True, text=True, check=False,
                          input=text, timeout=300, cwd=cwd, errors="replace")


def assemble(folder, name, lds=0, scratch=0):
    head = corpus.HEAD.format(lds=lds, scratch=scratch, private=int(scratch > 0), wave32=1)
    with open(os.path.join(HERE, name + ".s"), encoding="ascii") as f:
        text = head + f.read()
    source, path = (os.path.join(folder, name + end) for end in (".s", ".elf"))
    with open(source, "w", encoding="ascii") as f:
        f.write(text)
    r = rdna3("asm", "-o", path, source)
    expect(f"{name} assembles", r.returncode == 0, r.stderr)
    return path


def compile_cl(folder, name, *options):
    path = os.path.join(folder, name + ".elf")
    r = subprocess.run(["clang-19", "-x", "cl", "-cl-std=CL2.0", "-target",
                        "amdgcn-amd-amdhsa", "-mcpu=gfx1100", "-nogpulib", "-g",
                        "-I", corpus.HERE, *options, "-o", path,
                        os.path.join(HERE, name + ".cl")],
                       capture_output=True, text=True, check=False)
    expect(f"{name} compiles", r.returncode == 0, r.stderr)
    return path


def script(*lines):
    return "\n".join(lines) + "\n"


def test_values(folder):
    path = assemble(folder, "math", scratch=16)
    r = rdna3("debug", path, "--block", "32", "--arg", "buf:256", "-x",
              os.path.join(HERE, "math.dbg"), "--batch")
    expect("values", r.returncode == 0, r.stdout + r.stderr)
    has("values", r.stdout, "breakpoint 1", "s_nop", "f32 9", "0xfffffff0",
        "00010010001101000101011001111000", "lane  7: 0x00000007", "{-2, 1}",
        "0x", "0\t1\t2\t3", "0x3f80000000000000", "lanes 0-7", "-41880000", "8 of 32 lanes",
        "argument 0", "kernel kernel of", "s_nop 0")


def test_time(folder):
    path = assemble(folder, "math", scratch=16)
    r = rdna3("debug", path, "--block", "32", "--arg", "buf:256", "-x",
              os.path.join(HERE, "back.dbg"), "--batch")
    expect("time", r.returncode == 0, r.stdout + r.stderr)
    has("time", r.stdout, "watchpoint 1: s6", "old value: 0x00000000",
        "new value: 0x12345678", "s_mov_b32 s6, 0x12345678", "watchpoint 3",
        "written by wave 0.0 lane 3", "breakpoint", "wave 0.0 has ended")


def test_race(folder):
    """The first to touch it is the reader, and who writes it comes behind."""
    path = assemble(folder, "race", lds=256)
    r = rdna3("debug", path, "--block", "64", "--arg", "buf:256", text=script(
        "awatch lds[4]", "continue", "why", "info waves", "continue", "info waves"))
    expect("race", r.returncode == 0, r.stdout + r.stderr)
    has("race", r.stdout, "watchpoint 1: lds[4]", "value read: 0x00000000",
        "read by wave 0.1 lane 1", "ds_load_b32", "sleeps (s_sleep)",
        "old value: 0x00000000", "new value: 0x00000007", "written by wave 0.0 lane 1",
        "ds_store_b32")


def test_counts(folder):
    """How often breakpoints are met is not counted when time goes back."""
    path = assemble(folder, "long")
    r = rdna3("debug", path, "--block", "32", "--arg", "buf:256K", text=script(
        "break -m s_cmp_lt_u32", "ignore 1 9", "continue", "assert s6 == 10",
        "reverse-continue", "assert s6 == 9", "info breakpoints", "condition 1 s6 == 20",
        "continue", "assert s6 == 20", "tbreak *+0x20", "continue",
        "assert s6 == 21", "disable", "until *+0x20", "assert s6 == 22",
        "info breakpoints"))
    expect("counts", r.returncode == 0, r.stdout + r.stderr)
    has("counts", r.stdout, "breakpoint 1", "hit 10 times", "if s6 == 20  hit 11 times")
    expect("once", "(once)" not in r.stdout.split("hit 11 times")[-1], r.stdout)


def test_long(folder):
    """Far more steps than snapshots: any time can be gone back to, with its memory."""
    path = assemble(folder, "long")
    steps = 4 + 8 * 130000 + 1

    def page(i, count):  # what is stored there when the wave has counted so far
        return max(count - (count - i) % 64, 0)

    lines = ["continue"]
    for step in (700004, 12, 41116, 900004, 8188, 524284, 524292, 1040004):
        count = (step - 4) // 8
        lines += [f"goto {step}", f"assert s6 == {count}"]
        lines += [f"assert global.u32[arg0 + {i * 4096}] == {page(i, count)}"
                  for i in range(64)]
    lines += ["goto 0", "assert s6 == 0 && global.u32[arg0 + 4096] == 0", "goto 36",
              "watch global.u32[arg0 + 4096 * 9]", "continue", "assert s6 == 9",
              "continue 3", "assert s6 == 201", "reverse-continue", "reverse-continue",
              "assert s6 == 137", "delete", f"goto {steps}",
              "last-write global.u32[arg0 + 4096 * 9 + 64]", "assert s6 == 129993"]
    r = rdna3("debug", path, "--block", "32", "--arg", "buf:256K", text=script(*lines))
    expect("long", r.returncode == 0, r.stdout[-3000:] + r.stderr)
    has("long", r.stdout, f"all waves have ended, after {steps} steps")


def test_set(folder):
    """What is set stays so whenever its time comes again, and begins another future."""
    path = assemble(folder, "long")
    r = rdna3("debug", path, "--block", "32", "--arg", "buf:256K", text=script(
        "break -m s_cmp_lt_u32 if s6 == 9", "continue", "set s6 = 129990", "assert s6 == 129990",
        "delete", "reverse-stepi 3", "stepi 3", "assert s6 == 129990", "stepi 20",
        "assert s6 > 129990", "goto 0", "assert s6 == 0", "goto 40000", "assert wave == 0"))
    expect("another future", "all waves have ended" in r.stdout or r.returncode == 0,
           r.stdout + r.stderr)
    path = assemble(folder, "math", scratch=16)
    r = rdna3("debug", path, "--block", "32", "--arg", "buf:256", text=script(
        "break -m global_store_b32", "continue", "lane 5", "set v1.f32 = 2.5",
        "assert v1.f32 == 2.5", "set exec = 0x20", "assert exec == 0x20", "set vcc = -1",
        "assert vcc == 0xffffffff", "set scc = 1", "assert scc == 1",
        "set scratch[4] = 77", "assert scratch[4] == 77", "set v1.f32 = v1.f32 * 2",
        "set global.f32[arg0 + 4] = -3", "assert global.f32[arg0 + 4] == -3",
        "delete", "continue", "print global.f32[arg0 + 20]",
        "assert global.f32[arg0 + 20] == 5", "assert global.f32[arg0 + 4] == -3",
        "assert global.f32[arg0 + 24] == 0", "goto 0", "assert global.f32[arg0 + 4] == 0",
        "continue", "assert global.f32[arg0 + 20] == 5 && global.f32[arg0 + 4] == -3"))
    expect("set", r.returncode == 0, r.stdout + r.stderr)
    has("set", r.stdout, "v1.f32 = 2.5", "exec = 0x", "00000020", "scratch[4] = 0x0000004d",
        "global.f32[arg0 + 20] = 5")


def test_hang(folder):
    path = assemble(folder, "hang")
    r = rdna3("debug", path, "--block", "64", "--arg", "buf:64", text=script(
        "set limit 50000", "continue", "info waves", "wave 0.1", "why",
        "assert s6 == 1", "watch global.u32[arg0]", "reverse-continue",
        "assert wave == 0"))
    expect("hang", r.returncode == 0, r.stdout + r.stderr)
    has("hang", r.stdout, "stopped after 50000 steps", "0.0", "it has ended", "* 0.1",
        "watchpoint 1: global.u32[arg0]", "old value: 0", "new value: 1",
        "written by wave 0.0 lane 0", "global_atomic_cmpswap_b32")


def until_caught(process):
    """Wait until a program has its handler of SIGINT, and a moment for what it does then."""
    for _ in range(1200):
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as f:
            caught = next((line for line in f if line.startswith("SigCgt")), "0 0").split()[1]
        if int(caught, 16) >> (signal.SIGINT - 1) & 1 or process.poll() is not None:
            break
        time.sleep(0.05)
    time.sleep(0.3)


def test_interrupt(folder):
    path = assemble(folder, "hang")
    with subprocess.Popen([RDNA3, "debug", path, "--block", "64", "--arg", "buf:64"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as p:
        p.stdin.write("continue\nwhy\n")
        p.stdin.flush()
        until_caught(p)
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=60)
    expect("interrupt", p.returncode == 0, out + err)
    has("interrupt", out, "interrupted", "wave 0.1")


def test_mistakes(folder):
    """Each is told with its rule, and changes nothing."""
    path = assemble(folder, "math", scratch=16)
    run = ["debug", path, "--block", "32", "--arg", "buf:256"]
    for line, why in (
            ("jump 5", "there is no command 'jump'"),
            ("re", "'re' could be several commands"),
            ("break nowhere", "there is no function 'nowhere'"),
            ("break *0x10", "0x10 is no address of code"),
            ("break -m v_sad", "no instruction is called 'v_sad'"),
            ("break 10", "no lines are known: the code object has no DWARF"),
            ("break *+0 if v0 ==", "condition: a value is missing"),
            ("break *+0 if v0 == 1)", "was not expected behind an expression"),
            ("watch 5", "lies neither in memory nor in a register"),
            ("watch", "an expression is missing"),
            ("watch lds[0]", "cannot read 4 bytes of LDS at 0x0"),
            ("delete 9", "there is no breakpoint or watchpoint 9"),
            ("condition x", "no number of a breakpoint"),
            ("print v99", "the wave has 32 VGPRs"),
            ("print v256", "registers v go from 0 to 255"),
            ("print s[1:9]", "one or two registers at a time"),
            ("print $nix", "there is no register 'nix'"),
            ("print nix", "there is no variable or register 'nix' here"),
            ("print 1/0", "division by zero"),
            ("print (((((((((((((((((((((((((((((((((((((((((1", "nested too deeply"),
            ("print 12abc", "is not a number"),
            ("print v0.f64", "f64 has 8 bytes, this 4"),
            ("print arg1", "there are 1 arguments"),
            ("print *v0", "this is no pointer"),
            ("print global[8]", "cannot read 4 bytes of global memory at 0x8"),
            ("print/q v0", "formats are x d u f t c"),
            ("x/99999999 arg0", "at most 65536 elements"),
            ("wave 7", "wave 0.7 is not there"),
            ("wave a", "'a' is none"),
            ("lane 32", "0 to 31"),
            ("step 0", "a number of at least 1"),
            ("goto x", "is not a number of steps"),
            ("until nowhere", "there is no function 'nowhere'"),
            ("info nothing", "not 'nothing'"),
            ("info locals", "no variables are known"),
            ("set limit", "set limit STEPS"),
            ("set 5 = 6", "lies neither in memory nor in a register"),
            ("set v99 = 1", "the wave has 32 VGPRs"),
            ("set v0 =", "a value is missing"),
            ("set global[8] = 1", "cannot read 4 bytes of global memory"),
            ("set pc = 8", "lies neither in memory nor in a register"),
            ("source /nowhere", "cannot read '/nowhere'"),
            ("assert v0 == 1", "not so: v0 == 1"),
            ("finish now", "finish [wave]"),
            ("x" * 2000, "a command has at most 1023 characters")):
        r = rdna3(*run, text=script(line, "info breakpoints", "assert instructions == 0"))
        expect(f"'{line[:40]}' is told", r.returncode == 1 and r.stderr.startswith("error: ")
               and why in r.stderr and r.stderr.count("error: ") == 1, r.stdout + r.stderr)
        if not line.startswith(("wave", "x" * 99)):
            expect(f"'{line[:40]}' changes nothing",
                   "no breakpoints" in r.stdout, r.stdout)


def test_sources(folder):
    """A wrong lane index, found backwards from the wrong output."""
    path = compile_cl(folder, "wrong_lane", "-O0")
    run = ["debug", path, "--block", "64", "--arg", "buf:256:iota=i32", "--arg", "buf:256"]
    r = rdna3(*run, "-x", os.path.join(HERE, "wrong_lane.dbg"), "--batch")
    expect("wrong lane", r.returncode == 0, r.stdout + r.stderr)
    has("wrong lane", r.stdout, "all waves have ended", "new value: 57",
        "written by wave 0.0 lane 5", "wrong_lane.cl:16 in turn: out[i] = tile[from];",
        "from = 57", "i = 5", "written by wave 0.1 lane 25", "tile[i] = in[i];", "breakpoint",
        "partner at", "return (62 - i) & 63;")
    for level in ("-O0", "-O2", "-O0 -mwavefrontsize64", "-O2 -mwavefrontsize64"):
        path = compile_cl(folder, "wrong_lane", *level.split())
        r = rdna3("debug", path, "--block", "64", "--arg", "buf:256:iota=i32", "--arg",
                  "buf:256", text=script(
                      "break wrong_lane.cl:16", "run", "lane 9", "assert from == 53", "bt", "step", "info functions",
                      "list turn", "x/2d tile", "disassemble ,40", "reverse-next", "delete", "finish wave"))
        expect(f"lines {level}", r.returncode == 0, r.stdout + r.stderr)
        has(f"lines {level}", r.stdout, "breakpoint 1", "out[i] = tile[from];", "#0",
            "turn at", "turn", "kernel void turn(", "s_endpgm", "wave 0.0 has ended")
    r = rdna3("debug", path, "--block", "64", "--arg", "buf:256", "--arg", "buf:256",
              text=script("break 900"))
    has("no such line", r.stderr, "no code at or behind line 900")


def test_display(folder):
    """Expressions at every stop; which code a line has."""
    path = compile_cl(folder, "wrong_lane", "-O0")
    run = ["debug", path, "--block", "64", "--arg", "buf:256:iota=i32", "--arg", "buf:256"]
    r = rdna3(*run, text=script(
        "break wrong_lane.cl:14", "run", "lane 5", "display from + 1", "display/x -a i", "display pc == pc", "next",
        "undisplay 2", "next", "display", "info line", "info line wrong_lane.cl:16", "info line 3", "info line partner",
        "info line *pc", "undisplay", "next"))
    expect("display", r.returncode == 0, r.stdout + r.stderr)
    has("display", r.stdout, "2: lane 31: 0x0000001f", "1: from + 1 = 58")
    expect("of each lane", "\n2: lane  5: 0x00000005\n" in r.stdout, r.stdout)
    expect("as often as it stops", r.stdout.count("3: pc == pc = 1") == 4, r.stdout)
    expect("no longer", r.stdout.count("2: lane  5: ") == 2, r.stdout)
    lines = [x for x in r.stdout.splitlines() if " is 0x" in x]
    expect("lines", len(lines) == 5 and "wrong_lane.cl:16 is 0x" in lines[1] and
           "<turn+" in lines[1] and "wrong_lane.cl:6 is 0x" in lines[3], r.stdout)
    has("a line without code", r.stdout, "line 3 has no code; the next that has:")
    first, last = (int(x, 16) for x in re.findall(r" (0x\w+)", lines[1]))
    code = rdna3(*run, text=script("break wrong_lane.cl:16", "run", f"disassemble {first:#x},{(last - first) // 4}"))
    inside = [x for x in code.stdout.splitlines() if re.match(r"(=>|  ) 0x", x) and
              first <= int(x.split("0x")[1].split()[0], 16) < last]
    expect("instructions of the line", any("global_store" in x or "flat_store" in x for x in inside), code.stdout)
    for words, why in (("display nothing + 1", "nothing"), ("undisplay 7", "there is no display 7"),
                       ("display/q i", "formats are"), ("info line nix", "no code is known of 'nix'"),
                       ("info line 900", "no code is known of '900'")):
        r = rdna3(*run, text=script("break turn", "run", words, "display"))
        has(words, r.stderr, why)
        expect(f"{words} adds nothing", "\n1: " not in r.stdout, r.stdout)


def run_tests(found, *compiled):
    """Run those test_NAMEs of found that the command line names, or all. compiled: those
    that need clang-19. Returns the exit status."""
    names = sys.argv[2:]
    tests = {n[5:]: f for n, f in sorted(found.items()) if n.startswith("test_")}
    if names and set(names) <= set(compiled) and not shutil.which("clang-19"):
        print("skipped: clang-19 is not installed")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for name in names or tests:
            tests[name](folder)
    print(f"{len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(run_tests(globals(), "sources", "display"))
