#!/usr/bin/env python3
"""Run the measured values of v_exp_f32 and v_log_f32 (bits in, bits out) as vectors.

    hardware.py TEST_VECTORS FOLDER

FOLDER has exp2_f32_vectors.tsv and log2_f32_vectors.tsv.
"""
# SPDX-License-Identifier: MIT
import os
import subprocess
import sys
import tempfile

ROWS = 1024


def convert(path, op, out):
    with open(path, encoding="ascii") as f:
        rows = [line.split() for line in f if line.strip()]
    out.write("source hardware\nper lane\n")
    for i in range(0, len(rows), ROWS):
        out.write(f"op {op}_e32 v8, v0 | {op}_e64 v8, v0\nin v0\nout v8\n")
        for given, wanted in rows[i:i + ROWS]:
            out.write(f"{given} = {wanted}\n")


def main():
    program, folder = sys.argv[1:]
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "hardware.vec")
        with open(path, "w", encoding="ascii") as out:
            convert(os.path.join(folder, "exp2_f32_vectors.tsv"), "v_exp_f32", out)
            convert(os.path.join(folder, "log2_f32_vectors.tsv"), "v_log_f32", out)
        return subprocess.run([program, path], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
