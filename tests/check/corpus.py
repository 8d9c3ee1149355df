#!/usr/bin/env python3
"""Kernels with one planted bug each, and their repaired twins.

    corpus.py --rdna3 RDNA3 [--only REGEX] [--asm | --opencl | --hip] [--all] [--jobs N]
              [--seeds N] [--engines] [--simd auto|avx2|avx512]

A file of corpus/ says in comments what is wrong with it, and how it is run:

    // RUN: --block 64 --arg buf:256      options of rdna3 run
    // LDS: 256, SCRATCH: 64, WAVE: 64    of assembly, which has no descriptor of its own
    ... // BUG: race/write-write          the line that is to be found, and as what
    ... // BUG: race CUT                  the same; and the twin does not have the line
    // FIX: s_barrier                     what the twin has in the place of this line
    // END: 9                             the twin's exit status is not 0 but this
    // CHECK: mem race                    checkers, if not all

The bug must be found as that class (and kind) at that line, or at one of several that are
marked, and nothing else may be; the twin must be clean (with --seeds in each of N orders of
waves and workgroups). OpenCL C and HIP (where work-items
of a wave race, too) are compiled by clang-19 (-O2; with --all -O0 to -O3, waves of 32 and 64).

With --engines the reports of native code and of the interpreter are compared instead, for each
of the lists in --checks. Exit status: 0 as expected, 1 not, 77 skipped.
"""
# SPDX-License-Identifier: MIT
import argparse
import concurrent.futures
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CLANG = "clang-19"
COMPILE = {
    ".cl": ["-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1100"],
    ".hip": ["-x", "hip", "--cuda-device-only", "--offload-arch=gfx1100", "-nogpuinc"],
}
HEAD = """.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
.rodata
.p2align 6
.amdhsa_kernel kernel
.amdhsa_user_sgpr_count 2
.amdhsa_user_sgpr_kernarg_segment_ptr 1
.amdhsa_system_sgpr_workgroup_id_x 1
.amdhsa_group_segment_fixed_size {lds}
.amdhsa_private_segment_fixed_size {scratch}
.amdhsa_enable_private_segment {private}
.amdhsa_next_free_vgpr 32
.amdhsa_next_free_sgpr 32
.amdhsa_wavefront_size32 {wave32}
.end_amdhsa_kernel
.text
.p2align 8
.globl kernel
.type kernel,@function
kernel:
"""


def canonical(text):
    """An instruction without what a disassembler writes differently."""
    text = re.sub(r"\s+", " ", text.split("//")[0]).strip()
    text = re.sub(r"^(s_c?branch\S*) .*", r"\1", text)
    return re.sub(r", 0x0$", ", null", text)


class NoNative(Exception):
    """The host has none: nothing to compare."""


class Case:
    def __init__(self, path, options=(), tag=""):
        self.path, self.options = path, list(options)
        self.name = os.path.basename(path) + tag
        with open(path, encoding="ascii") as f:
            self.lines = f.read().split("\n")
        text = "\n".join(self.lines)
        self.head = dict(re.findall(r"// (LDS|SCRATCH|WAVE|CHECK|END): *(\S[^,\n]*)", text))
        self.head.update(re.findall(r"// (RUN): *(\S.*)", text))
        bugs = [(i, re.search(r"// BUG: (\S+)( CUT)?", line)) for i, line in
                enumerate(self.lines)]
        self.bugs = [(i, m[1]) for i, m in bugs if m]
        self.cut = {i for i, m in bugs if m and m[2]}
        self.cut |= {i for i, line in enumerate(self.lines) if "// CUT" in line}

    def text(self, fixed):
        if not fixed:
            return "\n".join(self.lines)
        return "\n".join("" if i in self.cut else re.sub(r".*// FIX: (.*)", r"\1", line)
                         for i, line in enumerate(self.lines))

    def build(self, tools, folder, fixed):
        kind = os.path.splitext(self.path)[1]
        stem = os.path.join(folder, "kernel")
        with open(stem + kind, "w", encoding="ascii") as f:
            f.write(self.assembly(fixed) if kind == ".s" else self.text(fixed))
        if kind == ".s":
            command = [tools.rdna3, "asm", "--wave", self.head.get("WAVE", "32"), "-o",
                       stem + ".elf", stem + kind]
        else:
            command = [CLANG, *COMPILE[kind], "-nogpulib", "-g", "-I", HERE, "-O2", *self.options,
                       "-o", stem + ".elf", stem + kind]
        r = subprocess.run(command, capture_output=True, text=True, check=False)
        return r.stderr if r.returncode else ""

    def assembly(self, fixed):
        head = HEAD.format(lds=self.head.get("LDS", 0), scratch=self.head.get("SCRATCH", 0),
                           private=int("SCRATCH" in self.head),
                           wave32=int(self.head.get("WAVE", "32") != "64"))
        return head + self.text(fixed)

    def run(self, tools, fixed):
        """Which bugs are met first is a matter of the order, so only twins have several."""
        with tempfile.TemporaryDirectory() as folder:
            problem = self.build(tools, folder, fixed)
            if problem:
                return "does not compile: " + problem
            for seed in range(tools.seeds if fixed else 1):
                problem = self.run_built(tools, folder, fixed, seed)
                if problem:
                    return f"--seed {seed}: {problem}" if seed else problem
        return ""

    def run_built(self, tools, folder, fixed, seed):
        out = os.path.join(folder, "found.json")
        r = subprocess.run(
            [tools.rdna3, "run", os.path.join(folder, "kernel.elf"), "--check",
             self.head.get("CHECK", "all").replace(" ", ","), "--keep-going",
             "--error-exitcode", "42", "--check-json", out, "--seed", str(seed),
             *(["--race-lanes"] if not self.path.endswith(".s") else []),
             *shlex.split(self.head.get("RUN", ""))],
            capture_output=True, text=True, check=False, timeout=300)
        try:
            with open(out, encoding="utf-8") as f:
                found = [x for x in json.load(f)["findings"] if not x["benign"]]
            os.unlink(out)
        except (OSError, ValueError):
            return "no findings were written: " + r.stderr
        return self.judge_fixed(r, found) if fixed else self.judge(r, found)

    def report(self, tools, folder, engine, checks):
        """All that one engine finds, as text."""
        out = os.path.join(folder, "found.json")
        r = subprocess.run(
            [tools.rdna3, "run", os.path.join(folder, "kernel.elf"), "--engine", engine,
             "--simd", tools.simd, "--check", checks, "--keep-going", "--check-json", out,
             *(["--race-lanes"] if not self.path.endswith(".s") else []),
             *shlex.split(self.head.get("RUN", ""))],
            capture_output=True, text=True, check=False, timeout=300)
        try:
            with open(out, encoding="utf-8") as f:
                found = f.read()
            os.unlink(out)
        except OSError:
            found = "no findings were written"
        text = f"{r.returncode}\n{r.stderr}\n{found}"
        return re.sub(r"0x[0-9a-f]{9,}|\b[0-9]{11,}\b", "ADDRESS", text)

    def compare(self, tools, fixed):
        with tempfile.TemporaryDirectory() as folder:
            problem = self.build(tools, folder, fixed)
            if problem:
                return "does not compile: " + problem
            for checks in tools.checks.split():
                interp, native = (self.report(tools, folder, engine, checks)
                                  for engine in ("interp", "jit"))
                if "no native code here" in native:
                    raise NoNative
                if interp != native:
                    return f"--check {checks}: {interp}\n--- but native code: {native}"
        return ""

    def judge_fixed(self, r, found):
        if found:
            return "the twin is not clean: " + r.stderr
        if r.returncode != int(self.head.get("END", 0)):
            return f"the twin ends with {r.returncode}: {r.stderr}"
        return ""

    def fits(self, finding):
        """Is it one of the bugs, at its line?"""
        for line, what in self.bugs:
            cls, _, kind = what.partition("/")
            if finding["class"] != cls or kind and finding["kind"] != kind:
                continue
            for place in (finding["at"], finding.get("other")):
                if place and self.is_at(place, line):
                    return True
        return False

    def is_at(self, place, line):
        if self.path.endswith(".s"):
            return canonical(place["instruction"]) == canonical(self.lines[line])
        return any(f["line"] == line + 1 for f in place["frames"])

    def judge(self, r, found):
        if not self.bugs:
            return "no line is marked with BUG"
        wrong = [f"{f['class']}/{f['kind']}: {f['text']} at {f['at']['instruction']} "
                 f"{[(x['line']) for x in f['at']['frames']]}" for f in found if not self.fits(f)]
        if wrong:
            return "found what is not there: " + "; ".join(wrong)
        if not found:
            return "the bug was not found: " + r.stderr
        return "" if r.returncode == 42 else f"exit status {r.returncode}: {r.stderr}"


def wanted(tools, path):
    """Of the languages that are asked for, else of all."""
    asked = [kind for kind in ("asm", "opencl", "hip") if getattr(tools, kind)]
    language = {".s": "asm", ".cl": "opencl", ".hip": "hip"}[os.path.splitext(path)[1]]
    return not asked or language in asked


def cases(tools):
    only = re.compile(tools.only)
    names = [p for p in sorted(glob.glob(os.path.join(HERE, "corpus", "*")))
             if only.search(os.path.basename(p))]
    for path in names:
        if not wanted(tools, path):
            continue
        if path.endswith(".s"):
            yield Case(path)
            continue
        sweep = [("-O2", 32)]
        if tools.all:
            sweep = [(o, w) for o in ("-O0", "-O1", "-O2", "-O3") for w in (32, 64)]
        for level, wave in sweep:
            wave64 = ["-mwavefrontsize64"] if wave == 64 else []
            yield Case(path, [level, *wave64], f" {level} wave{wave}" if tools.all else "")


def try_both(tools, case):
    out = []
    for fixed in (False, True):
        problem = case.compare(tools, fixed) if tools.engines else case.run(tools, fixed)
        if problem:
            out.append(f"{case.name}{' (twin)' if fixed else ''}: {problem.strip()}")
    return out


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rdna3", required=True)
    p.add_argument("--only", default="")
    p.add_argument("--asm", action="store_true")
    p.add_argument("--opencl", action="store_true")
    p.add_argument("--hip", action="store_true")
    p.add_argument("--all", action="store_true")
    p.add_argument("--engines", action="store_true")
    p.add_argument("--simd", default="auto")
    p.add_argument("--checks", default="mem,sync,wait sync,race")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--seeds", type=int, default=1)
    tools = p.parse_args()
    if not tools.asm and not shutil.which(CLANG):
        print(f"skipped: {CLANG} is not installed")
        return 77
    todo = list(cases(tools))
    try:
        with concurrent.futures.ThreadPoolExecutor(tools.jobs) as pool:
            problems = [x for out in pool.map(lambda c: try_both(tools, c), todo) for x in out]
    except NoNative:
        print("skipped: no native code on this host")
        return 77
    for problem in problems:
        print(problem)
    print(f"{len(todo)} kernels with a bug and their twins, {len(problems)} not as expected")
    return 1 if problems or not todo else 0


if __name__ == "__main__":
    sys.exit(main())
