#!/usr/bin/env python3
"""Choose the vectors of this folder from the full files.

    select.py FOLDER     FOLDER: the full *.jsonl.gz (see README.md)

insn_* are taken whole. Of each kern_* file: in order of size, every vector that brings a
mnemonic, an element type of an output or a number of workgroups (by powers of two) that
none before it had; then the smallest others up to MOST bytes, counted as text.
"""
# SPDX-License-Identifier: MIT
import glob
import gzip
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MOST = 120_000    # bytes of a file's vectors as text
LARGEST = 36_000  # of one vector


def features(v):
    groups = v["grid"][0] * v["grid"][1] * v["grid"][2]
    return {*v["mnem"], "groups %d" % groups.bit_length(), *("type " + o["t"] for o in v["out"])}


def choose(vectors):
    sized = sorted((len(line), name, line, v) for name, line, v in vectors)
    seen, chosen, rest, total = set(), [], [], 0
    for size, name, line, v in sized:
        if size <= LARGEST and features(v) - seen:
            seen |= features(v)
            chosen.append((name, line))
            total += size
        else:
            rest.append((size, name, line))
    for size, name, line in rest:
        if total + size <= MOST:
            chosen.append((name, line))
            total += size
    return [line for _, line in sorted(chosen)]


def write(path, lines):
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as out:
        out.write("".join(lines).encode())


def main():
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.jsonl.gz"))):
        name = os.path.basename(path)
        with gzip.open(path, "rt") as f:
            header, *lines = f.readlines()
        chosen = lines
        if name.startswith("kern_"):
            chosen = choose([(v["name"], line, v) for line in lines for v in [json.loads(line)]])
        write(os.path.join(HERE, name), [header, *chosen])
        print(f"{name}: {len(chosen)} of {len(lines)}")


if __name__ == "__main__":
    main()
