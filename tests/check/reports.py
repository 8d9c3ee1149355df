#!/usr/bin/env python3
"""What becomes of findings: text, files, exit statuses, suppressions.

    reports.py RDNA3
"""
# SPDX-License-Identifier: MIT
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.dont_write_bytecode = True
import corpus  # noqa: E402

RDNA3 = sys.argv[1]
FAILED = []


def expect(what, ok, seen=""):
    if not ok:
        FAILED.append(what)
        print(f"{what}: not so\n{seen}")


def rdna3(*words, text=None):
    return subprocess.run([RDNA3, *words], capture_output=True, text=True, check=False,
                          input=text, timeout=300)


def build(folder, name, fixed=False):
    """A case of the corpus, with its bug or without: path, options."""
    case = corpus.Case(os.path.join(corpus.HERE, "corpus", name))
    source, path = (os.path.join(folder, name + end) for end in (".s", ".elf"))
    with open(source, "w", encoding="ascii") as f:
        f.write(case.assembly(fixed))
    r = rdna3("asm", "-o", path, source)
    expect(f"{name} assembles", r.returncode == 0, r.stderr)
    return [path, *case.head.get("RUN", "").split()]


def test_text(run):
    r = rdna3("run", *run, "--check", "mem")
    for part in ("error: mem: 4-byte write at the end of argument 0 [out-of-bounds]",
                 "kernel kernel, workgroup (0,0,0) wave 0 lane 31", "argument 0: 128 bytes",
                 ">", "global_store_b32 v1, v0, s[4:5] offset:4"):
        expect(f"text has '{part}'", part in r.stderr, r.stderr)
    last = r.stderr.strip().split("\n")[-1]
    expect("the summary comes last", last.startswith("1 error in ") and
           last.endswith(" accesses of 1 kernel checked for mem"), r.stderr)
    expect("exit status 1", r.returncode == 1)
    expect("no colours without a terminal", "\033" not in r.stderr)
    r = rdna3("run", *run, "--check", "sync")
    expect("what mem does not look at is a fault", r.returncode == 1 and
           "error: unmapped address" in r.stderr and "0 errors in" in r.stderr, r.stderr)


def test_clean(run):
    r = rdna3("run", *run[:-1], "buf:256", "--check", "mem,sync")
    expect("a clean run says so", r.returncode == 0 and r.stderr ==
           "0 errors in 33 accesses of 1 kernel checked for mem, sync\n", r.stderr)


def test_exit(run):
    r = rdna3("run", *run, "--check", "mem", "--error-exitcode", "77")
    expect("--error-exitcode", r.returncode == 77, r.stderr)
    r = rdna3("run", *run, "--check", "mem", "--error-exitcode", "0", "--keep-going",
              "--print", "0:u32:2")
    expect("--keep-going gives results", r.returncode == 0 and "0 0" in r.stdout,
           r.stdout + r.stderr)


def test_usage(run):
    for words, text in ((("--check", "mem,fun"), "there is no checker 'fun'"),
                        (("--check", ""), "there is no checker ''"),
                        (("--keep-going",), "goes with --check"),
                        (("--check", "mem", "--error-exitcode", "256"), "out of range"),
                        (("--check", "mem", "--watchdog", "0"), "out of range"),
                        (("--check", "mem", "--timing"), "goes without --timing")):
        r = rdna3("run", *run, *words)
        expect(f"wrong usage: {words}", r.returncode == 2 and text in r.stderr, r.stderr)
    r = rdna3("check", "--watchdog", "0", "--", "true")
    expect("wrong usage of check: --watchdog 0", r.returncode == 2 and "out of range" in r.stderr,
           r.stderr)


def test_files(run, folder):
    names = {k: os.path.join(folder, k) for k in ("json", "xml", "sarif")}
    rdna3("run", *run, "--check", "mem,sync", *[w for k in names for w in
                                              (f"--check-{k}", names[k])])
    with open(names["json"], encoding="utf-8") as f:
        j = json.load(f)
    found = j["findings"][0]
    expect("JSON", j["errors"] == 1 and found["class"] == "mem" and
           found["memory"]["size"] == 128 and found["at"]["lanes"] == [31] and
           found["memory"]["address"] - found["memory"]["base"] == 128, j)
    suite = xml.etree.ElementTree.parse(names["xml"]).getroot()[0]
    expect("JUnit", suite.get("tests") == "2" and suite.get("failures") == "1" and
           suite.find("testcase/failure").get("type") == "out-of-bounds")
    with open(names["sarif"], encoding="utf-8") as f:
        s = json.load(f)
    expect("SARIF", s["version"] == "2.1.0" and
           s["runs"][0]["results"][0]["ruleId"] == "mem/out-of-bounds", s)
    r = rdna3("run", *run, "--check", "mem", "--check-json", "/no/such/folder/x")
    expect("a file that cannot be written", "cannot write '/no/such/folder/x'" in r.stderr,
           r.stderr)


def test_suppressions(run, folder):
    path = os.path.join(folder, "known")
    rdna3("run", *run, "--check", "mem", "--gen-suppressions", path)
    r = rdna3("run", *run, "--check", "mem", "--keep-going", "--suppressions", path)
    expect("a suppression made for it takes a finding", r.returncode == 0 and
           r.stderr.startswith("0 errors in") and r.stderr.endswith("; 1 suppressed\n"), r.stderr)
    for text, takes in (("mem", True), ("mem/out-of-bounds kernel=ker*", True),
                        ("mem inst=global_store*", True), ("sync", False),
                        ("mem/wild-address", False), ("mem kernel=other", False),
                        ("mem source=*.cl", False)):
        with open(path, "w", encoding="ascii") as f:
            f.write(f"# a comment\n\n  {text}  # another\n")
        r = rdna3("run", *run, "--check", "mem", "--keep-going", "--suppressions", path)
        expect(f"'{text}' {'takes' if takes else 'leaves'} it", (r.returncode == 0) == takes,
               r.stderr)
        expect("unused ones are named", takes != (f"{path}:3: this suppression was not used"
                                                   in r.stderr), r.stderr)
    for text, error in ((b"mem\nfun\n", ":2: error: there is no checker 'fun'"),
                        (b"mem colour=red\n", ":1: error: 'colour=red': expected kernel="),
                        (b"mem kernel=\n", ":1: error: 'kernel=': expected"),
                        (b"mem\0", "not a text file")):
        with open(path, "wb") as f:
            f.write(text)
        r = rdna3("run", *run, "--check", "mem", "--suppressions", path)
        expect(f"{text}: told with file and line", r.returncode == 1 and error in r.stderr and
               "errors in" not in r.stderr, r.stderr)


def test_hazard(folder):
    """Loads that arrive late: code without its waits gives something else, its twin does not."""
    differs = 0
    for name in ("wait_vmcnt.s", "wait_branch.s", "wait_scratch.s", "wait_flat.s"):
        for fixed in (False, True):
            run = build(folder, name, fixed)
            out = str(sum(w == "--arg" for w in run) - 1)
            words = ["run", *run, "--print", out + ":u32:32", "--check", "wait", "--keep-going",
                     "--error-exitcode", "0"]
            usual = rdna3(*words).stdout
            late = [rdna3(*words, "--hazard", str(seed)).stdout for seed in range(4)]
            expect(f"{name}: results", usual.count("\n") > 0, usual)
            if fixed:
                expect(f"{name}: the twin does not mind", all(x == usual for x in late), late)
            else:
                differs += any(x != usual for x in late)
    expect("late loads show", differs == 4, differs)
    r = rdna3("run", *run, "--check", "mem", "--hazard", "1")
    expect("--hazard needs wait", r.returncode == 2 and "goes with --check wait" in r.stderr)


def test_native(folder):
    """What checkers need not see is native code; what they all see is not."""
    run = build(folder, "mem_store_end.s", fixed=True)
    for checks, native in (("mem,init,sync,wait,race", True), ("value", False)):
        r = rdna3("run", *run, "--check", checks, "--engine", "jit", "--stats")
        if "no native code here" in r.stderr:
            return
        made = re.search(r"native code +[1-9]\d* +bytes", r.stdout + r.stderr)
        expect(f"--check {checks}: native code", bool(made) == native, r.stdout + r.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        run = build(folder, "mem_store_end.s")
        test_text(run)
        test_clean(run)
        test_exit(run)
        test_usage(run)
        test_files(run, folder)
        test_suppressions(run, folder)
        test_hazard(folder)
        test_native(folder)
    print(f"{len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
