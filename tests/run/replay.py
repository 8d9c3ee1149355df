#!/usr/bin/env python3
"""Run vectors of instructions and whole kernels through `rdna3 run` and compare.

    replay.py --rdna3 PATH [--timing] [--only REGEX] FILE.jsonl.gz...

The form of the files is described in tests/data/functional/README.md. Values without a
rule must be equal bit by bit. Last line: `N passed, N failed`; exit status 0: none failed.
"""
# SPDX-License-Identifier: MIT
import argparse
import base64
import gzip
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

SIZES = {"f32": "<f", "f16": "<e", "f64": "<d", "bf16": "<H", "i8": "<b", "u8": "<B", "bool": "<B",
         "i16": "<h", "u16": "<H", "i32": "<i", "u32": "<I", "i64": "<q", "u64": "<Q"}
SHOWN = 4


def packed(text):
    return zlib.decompress(base64.b64decode(text))


def save(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(data)
    return path


def read(folder, arg):
    with open(os.path.join(folder, "out%d" % arg), "rb") as f:
        return f.read()


# ---- command lines ---------------------------------------------------------------------

def instruction_command(header, v, folder):
    if "code" in v:
        code = v["code"]
    else:
        before, after = header["wrap"][str(v["lanes"])]
        code = before + v["body"] + after
    return ["--raw", save(folder, "text", bytes.fromhex(code)), "--kd",
            save(folder, "kd", bytes.fromhex(header["kd"][str(v["wave"])])), "--grid", "1",
            "--block", str(v["lanes"]), "--arg", "buf:%d" % len(packed(v["out"])),
            "--out", "0=" + os.path.join(folder, "out0")]


def buffer(number, a, folder):
    if "data" in a:
        return "buf:%d:file=%s" % (a["buf"], save(folder, "in%d" % number, packed(a["data"])))
    return "buf:%d:fill=%s" % (a["buf"], a["fill"]) if "fill" in a else "buf:%d:zero" % a["buf"]


def kernel_command(v, folder):
    if "elf" in v:
        words = [save(folder, "elf", packed(v["elf"])), "--kernel", v["kernel"]]
    else:
        words = ["--raw", save(folder, "text", packed(v["text"])), "--kd",
                 save(folder, "kd", bytes.fromhex(v["kd"])), "--entry-offset", str(v.get("entry", 0))]
    words += ["--grid", ",".join(map(str, v["grid"])), "--block", ",".join(map(str, v["block"]))]
    for number, a in enumerate(v["args"]):
        scalar = next((f"{kind}:{value}" for kind, value in a.items()), None)
        words += ["--arg", buffer(number, a, folder) if "buf" in a else scalar]
    for out in v["out"]:
        words += ["--out", "%d=%s" % (out["arg"], os.path.join(folder, "out%d" % out["arg"]))]
    return words


# ---- comparisons -----------------------------------------------------------------------

def place(v, what, register, lane):
    """Where a checked value lies in the buffer that the epilogue fills."""
    lanes = v["lanes"]
    scalars = 4 * 16 * lanes
    return {"lane": 4 * lane, "v": 4 * (register * lanes + lane), "s": scalars + 4 * register,
            "vcc": scalars + 64, "scc": scalars + 68, "exec": scalars + 72}[what]


def steps(bits, width):
    """Neighbouring floats to neighbouring integers."""
    sign = 1 << width - 1
    return sign - bits if bits & sign else bits


def allowed(got, want, rule):
    if rule == "nan":
        return got & 0x7fffffff > 0x7f800000
    if rule == "nan64":  # the high half
        return got & 0x7fffffff > 0x7ff00000
    if rule and rule[0] == "ulp":
        width = rule[2]
        mask = (1 << width) - 1
        return got >> width == want >> width and \
            abs(steps(got & mask, width) - steps(want & mask, width)) <= rule[1]
    if rule and rule[0] == "abs":
        a, b = struct.unpack("<2f", struct.pack("<2I", got, want))
        return abs(a - b) <= rule[1]
    return False


def check_instruction(v, folder):
    got = read(folder, 0)
    for what, register, lane, want, *rule in v["check"]:
        have, = struct.unpack_from("<I", got, place(v, what, register, lane))
        if have != want and not allowed(have, want, rule[0] if rule else None):
            yield f"{what}{register} lane {lane}: {want:08x} expected, {have:08x}"


def numbers(kind, data):
    values = [x for x, in struct.iter_unpack(SIZES[kind], data)]
    if kind == "bf16":
        values = [struct.unpack("<f", struct.pack("<I", x << 16))[0] for x in values]
    return values


def near(kind, want, have, tolerance):
    if want == have:
        return True
    if kind not in ("f32", "f16", "f64", "bf16"):
        return False
    if want != want or have != have:
        return want != want and have != have
    relative, absolute = tolerance
    return math.isfinite(want) and math.isfinite(have) and \
        abs(have - want) <= absolute + relative * abs(want)


def check_kernel(v, folder):
    for out in v["out"]:
        a, have = v["args"][out["arg"]], read(folder, out["arg"])
        if "data" in out:
            want = packed(out["data"])
        else:  # the buffer stays as it was
            want = packed(a["data"]) if "data" in a else bytes([a.get("fill", 0)]) * a["buf"]
        if len(have) != len(want):
            yield f"argument {out['arg']}: {len(want)} bytes expected, {len(have)}"
            continue
        skip = set(out.get("skip", ()))
        pairs = zip(numbers(out["t"], want), numbers(out["t"], have))
        wrong = [(n, w, h) for n, (w, h) in enumerate(pairs) if n not in skip and
                 not near(out["t"], w, h, out.get("tol", (0, 0)))] if have != want else []
        for n, w, h in wrong[:SHOWN]:
            yield f"argument {out['arg']}, {out['t']}[{n}]: {w} expected, {h}"
        if len(wrong) > SHOWN:
            yield f"argument {out['arg']}: {len(wrong)} elements differ"


def replay(o, header, v):
    """What is wrong, as lines."""
    with tempfile.TemporaryDirectory(prefix="replay-") as folder:
        kernel = v["kind"] != "insn"
        words = kernel_command(v, folder) if kernel else instruction_command(header, v, folder)
        done = subprocess.run([o.rdna3, "run", *words, "--wave", str(v["wave"]),
                               *(["--timing"] if o.timing else [])], capture_output=True,
                              text=True, timeout=300, check=False)
        if done.returncode:
            return [f"exit status {done.returncode}: {done.stderr[:400]}"]
        return list((check_kernel if kernel else check_instruction)(v, folder))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rdna3", required=True)
    parser.add_argument("--timing", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("files", nargs="+")
    o = parser.parse_args()
    passed = failed = 0
    for path in o.files:
        with gzip.open(path, "rt") as f:
            header, *vectors = [json.loads(line) for line in f]
        for v in vectors:
            if not re.search(o.only, v["name"]):
                continue
            wrong = replay(o, header, v)
            passed += not wrong
            failed += bool(wrong)
            if wrong:
                print(f"FAILED {v['name']}:", *wrong, *v.get("asm", ()), sep="\n    ")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
