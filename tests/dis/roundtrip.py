#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""asm -> dis -> asm gives the same file: roundtrip.py MODE --rdna3 PATH [FILE...].

clang   what clang-19 -S writes at -O0 to -O3, in both wave sizes, assembled: the file
        comes back byte for byte. clang's and lld's own files keep what is loaded, or
        every section, relocation and symbol, and come back the second time
sources the test sources of the assembler and of this folder
files   code objects or bundles given by name, as those of client libraries: what is
        loaded (of a relocatable file all) is the file's own, and the second time all
        comes back
Exits 77 with a reason if something that it needs is not there.
"""
import argparse
import glob
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "asm"))
import oracle  # noqa: E402

LEVELS = ["-O0", "-O1", "-O2", "-O3"]


def call(*words):
    return subprocess.run(words, capture_output=True)


def gfx1100(data):
    """The code object in an offload bundle, or the file itself."""
    at = data.find(b"\x7fELF")
    while at >= 0:
        machine, flags = struct.unpack_from("<18xH28xI", data, at)
        if machine == 224 and flags & 0xff == 0x41:
            return data[at:]
        at = data.find(b"\x7fELF", at + 4)
    return data


def loaded(path):
    """Name, address and contents of every section that is loaded."""
    data = gfx1100(open(path, "rb").read())
    offset = struct.unpack_from("<Q", data, 40)[0]
    number, names = struct.unpack_from("<HH", data, 60)
    rows = [struct.unpack_from("<IIQQQQIIQQ", data, offset + 64 * i)
            for i in range(number)]
    out = []
    for row in rows[1:]:
        at = rows[names][4] + row[0]
        name = data[at:data.index(b"\0", at)].decode()
        if row[2] & 2 and name != ".relro_padding":
            out.append((name, row[3], b"" if row[1] == 8 else data[row[4]:row[4] + row[5]]))
    return out


class Trip:
    """Files that one comparison makes."""

    def __init__(self, rdna3, tmp):
        self.rdna3, self.tmp, self.bad, self.n = rdna3, tmp, 0, 0

    def wrong(self, what, why):
        self.bad += 1
        print("%s: %s" % (what, why), flush=True)
        return False

    def again(self, what, path, out, relocatable):
        """path -> source -> out."""
        source = os.path.join(self.tmp, "again.s")
        p = call(self.rdna3, "dis", path)
        if p.returncode:
            return self.wrong(what, "dis: " + p.stderr.decode())
        with open(source, "wb") as f:
            f.write(p.stdout)
        p = call(self.rdna3, "asm", *(["-c"] if relocatable else []), "-o", out, source)
        if p.returncode:
            return self.wrong(what, "asm: " + p.stderr.decode(errors="replace"))
        return True

    def same(self, what, path, relocatable):
        """A file of our assembler's."""
        out = os.path.join(self.tmp, "again.out")
        self.n += 1
        if not self.again(what, path, out, relocatable):
            return False
        if open(path, "rb").read() != open(out, "rb").read():
            keep = os.environ.get("KEEP")
            if keep:
                shutil.copy(path, keep + "/first.out")
                shutil.copy(out, keep + "/second.out")
            return self.wrong(what, "the file differs")
        return True

    def foreign(self, what, path, relocatable):
        """A file of others: what is loaded comes back, and then all of it."""
        first = os.path.join(self.tmp, "first.out")
        if not self.again(what, path, first, relocatable):
            return False
        if relocatable:
            why = oracle.compare_rel(first, path)
        else:
            why = None
            a, b = loaded(first), loaded(path)
            if [x[:2] for x in a] != [x[:2] for x in b]:
                why = "sections or addresses"
            for mine, theirs in zip(a, b):
                # .dynsym and .dynamic have numbers of sections and what lld adds
                if not why and mine != theirs and mine[0] not in (".dynsym", ".dynamic"):
                    why = mine[0]
        if why:
            self.wrong(what, why + " differ from the original's")
        return self.same(what, first, relocatable) and not why


def long_names(trip):
    """Names longer than any buffer of a fixed size, in operands, data and labels."""
    name = "n" * 9000
    source, out = os.path.join(trip.tmp, "long.s"), os.path.join(trip.tmp, "a.out")
    with open(source, "w", encoding="ascii") as f:
        f.write(f".text\n{name}1:\ns_getpc_b64 s[0:1]\n"
                f"s_add_u32 s0, s0, {name}2@rel32@lo+4\n.long {name}3@abs32@lo\n"
                f".quad {name}4+8\n")
    oracle.must([trip.rdna3, "asm", "-c", "-o", out, source])
    trip.same("long names", out, True)


def sources(trip, args):
    long_names(trip)
    for path in sorted(glob.glob(os.path.join(HERE, "..", "asm", "*.s")) +
                       glob.glob(os.path.join(HERE, "*.s"))):
        for wave in "32", "64":
            for relocatable in True, False:
                out = os.path.join(trip.tmp, "a.out")
                flags = ["-c"] if relocatable else []
                p = call(trip.rdna3, "asm", *flags, "--wave", wave, "-o", out, path)
                if p.returncode == 0:  # some can only be relocatable
                    trip.same("%s wave%s %s" % (os.path.basename(path), wave, flags), out,
                              relocatable)


def clang(trip, args):
    oracle.need("clang-19", "ld.lld-19", "llvm-readelf-19")
    hip = os.path.join(trip.tmp, "many.hip")
    with open(hip, "w") as f:
        f.write(oracle.HIP)
    examples = [(p, "cl") for p in sorted(glob.glob((args.examples or "") + "/*.cl"))]
    for i, (path, kind) in enumerate([(hip, "hip")] + examples):
        flags = (oracle.CL_FLAGS if kind == "cl" else oracle.HIP_FLAGS).split()
        flags.append("-I" + os.path.dirname(path))
        # the first at every level, an example at one
        for level in LEVELS if kind == "hip" else [LEVELS[i % 4]]:
            for wave in "32", "64":
                name = "%s %s wave%s" % (os.path.basename(path), level, wave)
                base = os.path.join(trip.tmp, "k")
                more = [level, *(["-mwavefrontsize64"] if wave == "64" else [])]
                p = call("clang-19", *flags, *more, "-S", path, "-o", base + ".s")
                if p.returncode:  # not for this wave size
                    continue
                for c in [], ["-c"]:
                    oracle.must([trip.rdna3, "asm", *c, "--wave", wave, "-o", base + ".o",
                                 base + ".s"])
                    trip.same(name + " " + " ".join(c), base + ".o", bool(c))
                target = ["-x", "assembler", "-target", "amdgcn-amd-amdhsa",
                          "-mcpu=gfx1100", *more[1:], base + ".s"]
                oracle.must(["clang-19", *target, "-o", base + ".ref"])
                trip.foreign(name + " lld", base + ".ref", False)
                oracle.must(["clang-19", "-c", *target, "-o", base + ".ref"])
                trip.foreign(name + " clang -c", base + ".ref", True)


def files(trip, args):
    for path in args.files:
        with open(path, "rb") as f:
            kind, = struct.unpack_from("<16xH", gfx1100(f.read()))
        trip.foreign(path, path, kind == 1)  # ET_REL


def main():
    modes = {"clang": clang, "sources": sources, "files": files}
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=modes)
    parser.add_argument("--rdna3", required=True)
    parser.add_argument("--data", default=os.path.join(HERE, "../data"))
    parser.add_argument("--examples")
    parser.add_argument("files", nargs="*")
    args = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as tmp:
        trip = Trip(args.rdna3, tmp)
        modes[args.mode](trip, args)
    print(trip.n, "files,", trip.bad, "wrong")
    return 1 if trip.bad or not trip.n else 0


if __name__ == "__main__":
    sys.exit(main())
