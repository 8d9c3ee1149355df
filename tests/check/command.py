#!/usr/bin/env python3
"""rdna3 check -- COMMAND: kernels of the corpus through the mock of the kernel driver.

    command.py RDNA3
"""
# SPDX-License-Identifier: MIT
import json
import os
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import corpus  # noqa: E402

RDNA3 = sys.argv[1]
FAILED = []

# Each workgroup takes a number.
TICKETS = """
    s_load_b128 s[4:7], s[0:1], 0x0
    s_lshl_b32 s10, s2, 2
    v_dual_mov_b32 v1, 0 :: v_dual_mov_b32 v2, 1
    v_mov_b32 v3, s10
    s_mov_b32 exec_lo, 1
    s_waitcnt lgkmcnt(0)
    global_atomic_add_u32 v4, v1, v2, s[4:5] glc
    s_waitcnt vmcnt(0)
    global_store_b32 v3, v4, s[6:7]
    s_endpgm
"""

# Case, kind of its bug, and whether pages show it.
CASES = (("race_lds_write_read.s", "race/write-read"), ("sync_lanes.s", "sync/masked-lanes"),
         ("sync_early_end.s", "sync/missed-barrier"), ("mem_null.s", "mem/null-pointer"),
         ("mem_lds_end.s", "mem/lds-out-of-bounds"), ("mem_store_end.s", "mem/out-of-bounds"),
         ("mem_atomic_end.s", "mem/out-of-bounds"), ("sync_counts.s", "sync/endless-loop"),
         ("init_lds_rest.s", "init/undefined-store"), ("init_exec.s", "init/undefined-exec"))


def expect(what, ok, seen=""):
    if not ok:
        FAILED.append(what)
        print(f"{what}: not so\n{seen}")


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)


def build(case, folder, fixed):
    source, path = (os.path.join(folder, "kernel" + end) for end in (".s", ".elf"))
    with open(source, "w", encoding="ascii") as f:
        f.write(case.assembly(fixed))
    r = run(RDNA3, "asm", "--wave", case.head.get("WAVE", "32"), "-o", path, source)
    expect(f"{case.name} assembles", r.returncode == 0, r.stderr)
    return path


def check(case, folder, fixed, *options):
    words = case.head.get("RUN", "").split()
    if "--watchdog" in words:
        at = words.index("--watchdog")
        options = (*options, *words[at:at + 2])
        del words[at:at + 2]
    found = os.path.join(folder, "found.json")
    path = build(case, folder, fixed)
    checks = case.head.get("CHECK", "all").replace(" ", ",")
    r = run(RDNA3, "check", "--check", checks, "--code", path, "--json", found, *options, "--",
            RDNA3, "run", "--device", "kfd", path, *words)
    with open(found, encoding="utf-8") as f:
        return r, json.load(f)


def code_files(folder):
    """--code takes code objects alone."""
    case = corpus.Case(os.path.join(corpus.HERE, "corpus", "mem_null.s"))
    good = build(case, folder, True)
    with open(good, "rb") as f:
        whole = f.read()
    path = os.path.join(folder, "code")
    for data, what in ((b"", "empty"), (b"no code", ""), (whole[:100], ""),
                       (whole[:len(whole) // 2], ""), (whole[:18] + b"\x3e" + whole[19:], "")):
        with open(path, "wb") as f:
            f.write(data)
        r = run(RDNA3, "check", "--code", path, "--", "true")
        expect(f"--code: {len(data)} bytes are refused", r.returncode == 1 and
               f"--code {path}: " in r.stderr and what in r.stderr and
               " errors in " not in r.stderr, r.stderr)
    r = run(RDNA3, "check", "--code", good, "--", "true")
    expect("--code: a code object", r.returncode == 0, r.stderr)


def late_loads(folder):
    """--hazard: code without its wait gives something else, its twin does not."""
    case = corpus.Case(os.path.join(corpus.HERE, "corpus", "wait_vmcnt.s"))
    case.head["CHECK"] = "wait"
    case.head["RUN"] += " --print 1:u32:32"
    for fixed in (False, True):
        usual, late = ([check(case, folder, fixed, "--keep-going", *options)[0].stdout
                        for options in all_options]
                       for all_options in (((),), [("--hazard", str(n)) for n in range(3)]))
        expect(f"--hazard shows that a wait is missing: {not fixed}", usual[0].count("\n") > 0 and
               all(x == usual[0] for x in late) == fixed, f"{usual} {late}")
    r = run(RDNA3, "check", "--check", "mem", "--hazard", "1", "--", "true")
    expect("--hazard goes with wait", r.returncode == 2, r.stderr)


def orders(folder):
    """--seed: as under run --check; another number may be another order of workgroups."""
    source, path, found = (os.path.join(folder, "order" + end) for end in (".s", ".elf", ".json"))
    with open(source, "w", encoding="ascii") as f:
        f.write(corpus.HEAD.format(lds=0, scratch=0, private=0, wave32=1) + TICKETS)
    r = run(RDNA3, "asm", "-o", path, source)
    expect("tickets assemble", r.returncode == 0, r.stderr)
    words = (path, "--grid", "8", "--block", "32", "--arg", "buf:4:zero", "--arg", "buf:32",
             "--print", "1:u32:8")
    seen = set()
    for seed in ("0", "3", "4", "5"):
        direct = run(RDNA3, "run", *words, "--check", "race", "--seed", seed)
        r = run(RDNA3, "check", "--check", "race", "--seed", seed, "--json", found, "--", RDNA3,
                "run", "--device", "kfd", *words)
        with open(found, encoding="utf-8") as f:
            told = json.load(f)
        expect(f"--seed {seed}: the same order", r.returncode == 0 and r.stdout == direct.stdout and
               len(r.stdout.split()) >= 8, f"{r} {direct}")
        for stderr in (r.stderr, direct.stderr):
            expect(f"--seed {seed} is told", (f" with --seed {seed}" in stderr) == (seed != "0"), stderr)
        expect(f"--seed {seed} is in the file", told["seed"] == int(seed), told)
        seen.add(r.stdout)
    expect("--seed gives other orders", len(seen) > 1, seen)


def bare_code(folder):
    """Code without an object around it: a branch to in front of it is no loop."""
    words = (0xbe880002, 0xf4040080, 0xf8000000, 0x7e020280, 0x7e060300, 0xbf89fc07, 0xbf078008,
             0xbfa20003, 0xdc6a0000, 0x00020301, 0xbfb00000, 0xdc526000, 0x02020001, 0xbf8903f7,
             0x7e080502, 0xbf06ff04, 0x00003039, 0xbfa2ff00, 0xbfb00000)
    path = os.path.join(folder, "bare")
    with open(path, "wb") as f:
        f.write(struct.pack(f"<{len(words)}I", *words))
    r = run(RDNA3, "run", "--raw", path, "--grid", "4", "--block", "32", "--arg", "buf:4096",
            "--check", "race", "--error-exitcode", "42")
    expect("a branch to in front of code", r.returncode == 42 and
           ("[write-read]" in r.stderr or "[read-write]" in r.stderr), f"{r.returncode} {r.stderr}")


def bare_flag(folder):
    """A load of LDS before such a branch: what lies in front of the code is not looked at."""
    words = (0x7e020280, 0x7e040281, 0xd8340000, 0x201, 0xd8d80000, 0x3000001, 0xbf89fc07, 0x7c940503,
             0xbf070101, 0xbfa2ff00, 0xbfb00000)
    path = os.path.join(folder, "flag")
    with open(path, "wb") as f:
        f.write(struct.pack(f"<{len(words)}I", *words))
    r = run(RDNA3, "run", "--raw", path, "--block", "64", "--dynamic-lds", "256", "--check", "race",
            "--error-exitcode", "42")
    expect("a load of LDS and a branch to in front of code",
           r.returncode == 42 and "1 error in" in r.stderr, f"{r.returncode} {r.stderr}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, what in CASES:
            case = corpus.Case(os.path.join(corpus.HERE, "corpus", name))
            r, found = check(case, folder, False, "--keep-going", "--error-exitcode", "42")
            kinds = [f"{f['class']}/{f['kind']}" for f in found["findings"]]
            expect(f"{name} is found as {what}", what in kinds and r.returncode == 42,
                   r.stdout + r.stderr)
            expect(f"{name}: the kernel has its name",
                   all(f["kernel"] == "kernel" for f in found["findings"]), found)
            r, found = check(case, folder, True)
            expect(f"{name}: the twin is clean", r.returncode == 0 and not found["findings"] and
                   found["kernels"] == 1 and found["instructions"] > 0, r.stdout + r.stderr)
        case = corpus.Case(os.path.join(corpus.HERE, "corpus", "sync_lanes.s"))
        r, _ = check(case, folder, False)
        expect("without --keep-going the dispatch fails", r.returncode == 1 and
               "queue 0 has stopped" in r.stderr, r.stderr)
        case = corpus.Case(os.path.join(corpus.HERE, "corpus", "mem_null.s"))
        r, _ = check(case, folder, False)
        expect("a fault stays a fault", r.returncode == 1 and "unmapped address" in r.stderr and
               "[null-pointer]" in r.stderr, r.stderr)
        r = run(RDNA3, "check", "--error-exitcode", "5", "--", "sh", "-c", "exit 3")
        expect("the program's exit status", r.returncode == 3 and r.stderr.startswith(
            "0 errors in 0 accesses of 0 kernels"), r.stderr)
        r = run(RDNA3, "check", "--", "/no/such/command")
        expect("what has not begun was not checked", r.returncode == 127 and
               "No such file" in r.stderr and " errors in " not in r.stderr, r.stderr)
        r = run(RDNA3, "check", "--", "sh", "-c", "exit 127")
        expect("an exit status alone does not say so", r.returncode == 127 and
               "0 errors in" in r.stderr, r.stderr)
        r = run(RDNA3, "check", "--emu-mode", "0", "--vram", "32M", "--", "sh", "-c",
                "cat /sys/module/amdgpu/parameters/emu_mode")
        expect("--emu-mode is the program's", r.returncode == 0 and r.stdout == "0\n", r.stdout + r.stderr)
        for words in (("--emu-mode", "2"), ("--vram", "1M")):
            r = run(RDNA3, "check", *words, "--", "true")
            expect(f"{words} are refused", r.returncode == 2 and words[1] in r.stderr, r.stderr)
        code_files(folder)
        orders(folder)
        bare_code(folder)
        bare_flag(folder)
        late_loads(folder)
    print(f"{len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
