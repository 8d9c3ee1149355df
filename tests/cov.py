#!/usr/bin/env python3
"""Line coverage from what gcc's instrumentation wrote.

    cov.py BUILD                     "FILE executed lines" of every source file
    cov.py --compare PLAIN.tsv ALL.tsv
"""
# SPDX-License-Identifier: MIT
import collections
import concurrent.futures
import glob
import gzip
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PARTS = ("isa", "emulator", "driver", "compiler", "tools")


def counted(gcno):
    """[(file, line, executed)] of one object; no .gcda beside it: nothing executed."""
    with tempfile.TemporaryDirectory() as tmp:
        subprocess.run(["gcov", "--json-format", gcno], cwd=tmp, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for path in glob.glob(os.path.join(tmp, "*.json.gz")):
            with gzip.open(path, "rt") as f:
                data = json.load(f)
            return [(os.path.relpath(os.path.realpath(os.path.join(data["current_working_directory"],
                                                                   file["file"])), ROOT),
                     line["line_number"], line["count"] > 0)
                    for file in data["files"] for line in file["lines"]]
    return []


def measure(build):
    lines = collections.defaultdict(dict)
    objects = glob.glob(os.path.join(os.path.abspath(build), "**", "*.gcno"), recursive=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for rows in pool.map(counted, objects):
            for file, line, hit in rows:
                if file.startswith(PARTS):
                    lines[file][line] = lines[file].get(line, False) or hit
    for file in sorted(lines):
        print(file, sum(lines[file].values()), len(lines[file]), sep="\t")


def read(path):
    with open(path, encoding="utf-8") as f:
        rows = [line.split("\t") for line in f]
    return {file: (int(hit), int(all_)) for file, hit, all_ in rows}


def compare(plain, everything):
    a, b = read(plain), read(everything)
    for part in (*PARTS, ""):
        files = [f for f in b if f.startswith(part)]
        lines = sum(b[f][1] for f in files)
        one, two = sum(a[f][0] for f in files), sum(b[f][0] for f in files)
        if not two: # what CTEST-OPTIONs chose runs none of it
            continue
        print(f"{part or 'all':10} {lines:6} lines: {one} ({100 * one / lines:.1f} %) in a plain clone, "
              f"{two} ({100 * two / lines:.1f} %) with shared data: {100 * one / two:.1f} % of these")
    for gap, file in sorted(((b[f][0] - a[f][0], f) for f in b), reverse=True)[:10]:
        if gap:
            print(f"    {file}: {gap} lines only with shared data")


if sys.argv[1] == "--compare":
    compare(*sys.argv[2:])
else:
    measure(sys.argv[1])
