#!/usr/bin/env python3
"""rdna3 check on a program that takes memory from a runtime: mistakes by the byte, and who
made the memory.

    heap.py RDNA3 CLIENT
"""
# SPDX-License-Identifier: MIT
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import corpus  # noqa: E402

RDNA3, CLIENT = sys.argv[1:]
SOURCE = os.path.join(corpus.HERE, "heap_client.c")
KERNEL = """
v_lshlrev_b32_e32 v0, 2, v0
s_load_b64 s[4:5], s[0:1], 0x0
s_waitcnt lgkmcnt(0)
global_store_b32 v0, v0, s[4:5]
s_endpgm
"""
COPY = KERNEL.replace("global_store_b32 v0, v0", """global_load_b32 v1, v0, s[4:5]
s_waitcnt vmcnt(0)
global_store_b32 v0, v1""")
# The same row again and again, until native code knows it, and then once behind the page.
ROWS = """
v_lshlrev_b32_e32 v0, 2, v0
s_load_b64 s[4:5], s[0:1], 0x0
s_movk_i32 s6, 0x1000
s_mov_b32 s7, 0
s_waitcnt lgkmcnt(0)
again:
v_add_nc_u32_e32 v1, s7, v0
global_store_b32 v1, v1, s[4:5]
s_addk_i32 s7, 0x80
s_and_b32 s7, s7, 0xfff
s_sub_u32 s6, s6, 1
s_cmp_eq_u32 s6, 1
s_cselect_b32 s7, 0x1000, s7
s_cmp_lg_u32 s6, 0
s_cbranch_scc1 again
s_endpgm
"""
# Memory that nobody has written: the byte that is told of, or None; where it was made.
FRESH = {
    "fresh opencl": (0, "FRESH BUFFER"),
    "fresh opencl written": (None, ""),
    "fresh again written short": (92, "MADE"),
}
# Copies to the host of such memory: where that is told of.
COPIED = {
    "": "COPIED", "written": "", "written short": "",
    "rows": "COPIED ROWS", "rows written": "",
    "later": "COPIED LATER", "later event": "COPIED LATER", "later written": "",
    "later over": "COPIED LATER",
}
ADD = """
s_load_b128 s[4:7], s[0:1], 0x0
v_mov_b32_e32 v2, 0
s_waitcnt lgkmcnt(0)
again:
global_load_b32 v1, v2, s[6:7] glc dlc
s_waitcnt vmcnt(0)
v_cmp_eq_u32_e32 vcc_lo, 0, v1
s_cbranch_vccnz again
v_lshlrev_b32_e32 v0, 2, v0
global_load_b32 v1, v0, s[4:5]
s_waitcnt vmcnt(0)
v_add_nc_u32_e32 v1, 1, v1
global_store_b32 v0, v1, s[4:5]
s_endpgm
"""
# How two dispatches follow each other: are they a race?
RACES = {"queues": True, "overlap": True, "signal": False, "host": False, "copy": True,
         "copy after": False}
# Mistake: kind, text, line where the memory was made, where it was freed, that of the host.
CASES = {
    "past_end": ("out-of-bounds", "4-byte write at the end of memory of hipMalloc", "MADE", "", ""),
    "straddle": ("out-of-bounds", "that ends 2 bytes past the end of", "MADE", "", ""),
    "before_start": ("out-of-bounds", "4 bytes before the start of memory of", "MADE", "", ""),
    "neighbour": ("out-of-bounds", "at the end of memory of hipMalloc", "MADE", "", ""),
    "use_after_free": ("use-after-free", "which has been freed", "MADE", "FREED PAGE", ""),
    "double_free": ("double-free", "hipFree of memory of hipMalloc, which has been freed", "MADE",
                    "FREED", "TWICE"),
    "inside_free": ("invalid-free", "not of its beginning", "MADE", "", "INSIDE"),
    "copy_past_end": ("out-of-bounds", "hipMemcpy writes 104 bytes from byte 0 of memory of", "MADE",
                      "", "COPY OUT"),
    "copy_freed": ("use-after-free", "hipMemcpy reads 8 bytes of memory of hipMalloc, which has",
                   "MADE", "FREED PAGE", "COPY FREED"),
    "stream_freed": ("use-after-free", "memory of hipMallocAsync", "", "FREED LATER", ""),
    "opencl_past_end": ("out-of-bounds", "at the end of memory of clCreateBuffer", "BUFFER", "",
                        ""),
}
FAILED = []


def expect(what, ok, seen=""):
    if not ok:
        FAILED.append(what)
        print(f"{what}: not so\n{seen}")


def line_of(mark):
    with open(SOURCE, encoding="ascii") as f:
        return next(i for i, line in enumerate(f, 1) if f"/* {mark} */" in line)


def has_lines(trace, mark, text):
    """The trace names the marked line, where there are source lines at all."""
    lines = [(os.path.basename(f["file"]), f["line"]) for f in trace.get("frames", [])]
    return bool(lines) and ("no source lines" in text or
                            ("heap_client.c", line_of(mark)) in lines)


def check(kernel, folder, name, *options):
    found, sarif = (os.path.join(folder, x) for x in ("found.json", "found.sarif"))
    r = subprocess.run([RDNA3, "check", "--keep-going", "--error-exitcode", "42", "--json", found,
                        "--sarif", sarif, *options, "--", CLIENT, kernel, name],
                       capture_output=True, text=True, check=False, timeout=300)
    with open(found, encoding="utf-8") as f:
        j = json.load(f)
    with open(sarif, encoding="utf-8") as f:
        j["sarif"] = json.load(f)["runs"][0]["results"]
    return r, j


def test_case(kernel, folder, name, want):
    kind, text, made, freed, host = want
    r, j = check(kernel, folder, name)
    seen = json.dumps(j["findings"], indent=1) + r.stderr
    expect(f"{name}: one finding, {kind}", r.returncode == 42 and len(j["findings"]) == 1 and
           j["findings"][0]["kind"] == kind and text in j["findings"][0]["text"], seen)
    if len(j["findings"]) != 1:
        return
    f = j["findings"][0]
    memory = f["memory"]
    expect(f"{name}: the allocation's size", memory["size"] == (4096 if name in (
        "neighbour", "use_after_free", "double_free", "copy_freed") else 100), seen)
    if made:
        expect(f"{name}: who made it", has_lines(memory.get("made", {}), made, r.stderr) and
               "  made by " in r.stderr, seen)
        expect(f"{name}: SARIF says so", "made by" in json.dumps(
            j["sarif"][0].get("relatedLocations", "")), j["sarif"])
    if freed:
        expect(f"{name}: who freed it", has_lines(memory.get("freed", {}), freed, r.stderr) and
               "  freed by " in r.stderr, seen)
    if host:
        expect(f"{name}: where", has_lines(f["at"], host, r.stderr), seen)


def test_rows(kernel, folder):
    for checks in "mem", "mem,race":
        r, j = check(kernel, folder, "rows", "--check", checks)
        expect(f"rows, {checks}: the last one alone", r.returncode == 42 and
               [(f["kind"], f["count"], f["memory"]["size"]) for f in j["findings"]] ==
               [("out-of-bounds", 1, 4096)], json.dumps(j["findings"], indent=1) + r.stderr)


def test_own(kernel, folder):
    r, j = check(kernel, folder, "own")
    expect("own: inside, twice", r.returncode == 42 and sorted(
        (f["kind"], f["memory"]["size"]) for f in j["findings"]) ==
           [("double-free", 100), ("invalid-free", 100)] and "made by take" in r.stderr,
           json.dumps(j["findings"], indent=1) + r.stderr)


def test_fresh(kernel, folder):
    for name, (byte, made) in FRESH.items():
        r, j = check(kernel, folder, name)
        seen = json.dumps(j["findings"], indent=1) + r.stderr
        expect(f"{name}: {byte}", len(j["findings"]) == (byte is not None) and
               r.returncode == (0 if byte is None else 42), seen)
        for f in j["findings"]:
            expect(f"{name}: the byte", f["kind"] == "undefined-store" and
                   f"byte {byte} of memory of" in f["text"], seen)
            expect(f"{name}: who made it", has_lines(f["memory"].get("made", {}), made, r.stderr),
                   seen)


def test_copied(kernel, folder):
    for name, mark in COPIED.items():
        r, j = check(kernel, folder, "fresh copied " + name)
        seen = json.dumps(j["findings"], indent=1) + r.stderr
        expect(f"copied {name}: {mark}", r.returncode == (42 if mark else 0) and
               [(f["class"], f["kind"]) for f in j["findings"]] ==
               [("init", "undefined-copy")] * bool(mark), seen)
        n = 40 if "rows" in name else 100
        for f in j["findings"]:
            expect(f"copied {name}: which, where", f"{n} bytes from byte 0 of memory of hipMalloc" in
                   f["text"] and has_lines(f["at"], mark, r.stderr) and
                   has_lines(f["memory"].get("made", {}), "MADE", r.stderr), seen)


def test_races(kernel, folder):
    for name, wrong in RACES.items():
        r, j = check(kernel, folder, "race " + name, "--check", "mem,race")
        seen = json.dumps(j["findings"], indent=1) + r.stderr
        expect(f"race {name}: {wrong}", r.returncode == (42 if wrong else 0) and
               bool(j["findings"]) == wrong, seen)
        for f in j["findings"]:
            expect(f"race {name}: both", f["class"] == "race" and f["kernel"] == "kernel" and
                   "hipMalloc" in f["text"] and ("of a copy" if name == "copy" else
                                                "of another kernel") in f["text"] and
                   (name == "copy" or f["other_kernel"] == "kernel"), seen)


def test_lines(folder):
    """Code with DWARF that the program gives to the runtime has source lines."""
    if not shutil.which(corpus.CLANG):
        print(f"no {corpus.CLANG}: source lines of kernels are not tested")
        return
    source, kernel = (os.path.join(folder, "lines" + end) for end in (".cl", ".elf"))
    with open(source, "w", encoding="ascii") as f:
        f.write('#include "gpu.h"\nkernel void fill(global int *to)\n{\n'
                '    to[local_id()] = 1;\n}\n')
    r = subprocess.run([corpus.CLANG, *corpus.COMPILE[".cl"], "-nogpulib", "-g", "-O1", "-I",
                        corpus.HERE, "-o", kernel, source], capture_output=True, text=True,
                       check=False)
    expect("the kernel compiles", r.returncode == 0, r.stderr)
    r, j = check(kernel, folder, "past_end")
    lines = [(os.path.basename(x["file"]), x["line"]) for f in j["findings"]
             for x in f["at"]["frames"]]
    expect("the kernel's line", "no source lines" in r.stderr or lines == [("lines.cl", 4)],
           r.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        source, kernel = (os.path.join(folder, "kernel" + end) for end in (".s", ".elf"))
        with open(source, "w", encoding="ascii") as f:
            f.write(corpus.HEAD.format(lds=0, scratch=0, private=0, wave32=1) + KERNEL)
        r = subprocess.run([RDNA3, "asm", "-o", kernel, source], capture_output=True, text=True,
                           check=False)
        expect("the kernel assembles", r.returncode == 0, r.stderr)
        for name, want in CASES.items():
            test_case(kernel, folder, name, want)
        for name in ("none", "stream", "opencl", "copies"):
            r, j = check(kernel, folder, name)
            expect(f"{name}: nothing is found", r.returncode == 0 and not j["findings"] and
                   j["kernels"] >= 303, r.stdout + r.stderr)
        r, j = check(kernel, folder, "none", "--leak-check")
        expect("all is freed", r.returncode == 0 and j["allocations"] == 304 and
               j["allocations_not_freed"] == 0 and not j["findings"], r.stderr)
        r, j = check(kernel, folder, "leak")
        expect("leaks are counted", r.returncode == 0 and not j["findings"] and
               j["bytes_not_freed"] == 110 and re.search(
                   r"^2 of the program's 304 allocations \(110 bytes\) were not freed", r.stderr,
                   re.M), r.stderr)
        r, j = check(kernel, folder, "leak", "--leak-check")
        expect("and told of", r.returncode == 42 and
               [f["kind"] for f in j["findings"]] == ["leak"] * 2 and
               any(has_lines(f["at"], "MADE", r.stderr) for f in j["findings"]), r.stderr)
        r, j = check(kernel, folder, "opencl_leak", "--leak-check")
        expect("buffers of OpenCL too", r.returncode == 42 and len(j["findings"]) == 1 and
               has_lines(j["findings"][0]["at"], "BUFFER", r.stderr), r.stderr)
        r, j = check(kernel, folder, "past_end", "--check", "sync")
        expect("nothing without mem", r.returncode == 0 and not j["findings"], r.stderr)
        test_lines(folder)
        for text, test in (COPY, test_fresh), (COPY, test_copied), (ADD, test_races), (ROWS, test_rows), (ROWS, test_own):
            with open(source, "w", encoding="ascii") as f:
                f.write(corpus.HEAD.format(lds=0, scratch=0, private=0, wave32=1) + text)
            subprocess.run([RDNA3, "asm", "-o", kernel, source], check=True)
            test(kernel, folder)
        r = subprocess.run([RDNA3, "exec", "--", CLIENT, kernel, "race queues"], check=False,
                           capture_output=True, text=True, timeout=300)
        expect("nothing changes without check", r.returncode == 0, r.stderr)
    print(f"{len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
