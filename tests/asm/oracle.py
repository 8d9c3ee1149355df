#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare assembled files with LLVM's: oracle.py MODE --rdna3 PATH.

files  the .s files beside this script, with llvm-mc-19: contents, relocations, symbols
clang  what clang-19 -S writes for many kernels and options, with clang's and lld's files
kd     the kernel-descriptor vectors
fixup  the vectors of statements with symbols
pairs  random statements of every instruction and encoding; pairs_llvm: with llvm-mc-19
run    a loadable file runs; run_llvm: LLVM's tools accept it
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
HIP = """
template <typename T> __attribute__((global)) void twice(T *a) { a[0] = a[1] + a[1]; }
template __attribute__((global)) void twice<int>(int *);
__attribute__((device)) int number = 5;
__attribute__((device)) int *pointer = &number;
__attribute__((constant)) double constant = 1.5;
__attribute__((device)) const char *text = "hello";
__attribute__((shared)) extern int dynamic[];
inline __attribute__((device)) int count(int x) {
    static __attribute__((device)) int total;
    return total += x;
}
__attribute__((device)) __attribute__((noinline)) int fib(int n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
__attribute__((global)) void many(float *n, int yes, double on) {
    __attribute__((shared)) int local[4];
    switch (yes) {
    case 1: n[0] = 1; break;
    case 2: n[1] = constant; break;
    case 3: n[5] = on; break;
    case 4: n[9] = *pointer; break;
    case 5: n[7] = text[yes]; break;
    }
    local[yes] = yes;
    dynamic[3] = fib(yes);
    n[local[3]] = count(yes);
}
"""
CL_FLAGS = "-w -x cl -cl-std=CL2.0 -nogpulib -target amdgcn-amd-amdhsa -mcpu=gfx1100"
HIP_FLAGS = ("-w -x hip --offload-arch=gfx1100 --cuda-device-only "
             "--no-gpu-bundle-output -nogpuinc -nogpulib")
VARIANTS = ["-O0", "-O2", "-O3 -mwavefrontsize64", "-O1 -mcode-object-version=4",
            "-Os -mcode-object-version=6 -mwavefrontsize64", "-O2 -g"]


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            skip(tool + " is not installed")


def run(words, **kw):
    return subprocess.run(words, capture_output=True, **kw)


def must(words, **kw):
    p = run(words, **kw)
    if p.returncode:
        sys.exit("failed: %s\n%s" % (" ".join(words), p.stderr.decode(errors="replace")))
    return p


def sections(path):
    """Name to contents of every section of an ELF file; the last of a name counts."""
    data = open(path, "rb").read()
    offset = struct.unpack_from("<Q", data, 40)[0]
    number, names = struct.unpack_from("<HH", data, 60)
    rows = [struct.unpack_from("<IIQQQQIIQQ", data, offset + 64 * i)
            for i in range(number)]
    out = {}
    for row in rows[1:]:
        at = rows[names][4] + row[0]
        name = data[at:data.index(b"\0", at)].decode()
        out[name] = b"" if row[1] == 8 else data[row[4]:row[4] + row[5]]
    return out


def contents(path, name):
    return sections(path).get(name)


def compared(names):
    skipped = (".strtab", ".symtab", ".rela", ".llvm_addrsig", ".shstrtab", ".debug_line",
               ".debug_frame", ".group")
    return [n for n in names if not n.startswith(skipped)]


def relocations(path):
    text = must(["llvm-readelf-19", "-rW", path]).stdout.decode()
    rows = re.findall(r"^([0-9a-f]+)  [0-9a-f]+ (R_\S+ .*)$", text, re.M)
    return sorted((a, " ".join(b.split())) for a, b in rows)


def symbols(path):
    text = must(["llvm-readelf-19", "-sW", path]).stdout.decode()
    rows = re.findall(r"^ +\d+: ([0-9a-f]+) +(\d+) (\S+) +(\S+) +(\S+) +(\S+) *(.*)$",
                      text, re.M)
    # section numbers differ, as .llvm_addrsig is not written
    return sorted((v, s, t, b, vis, ndx if not ndx.isdigit() else "n", name)
                  for v, s, t, b, vis, ndx, name in rows)


def compare_rel(mine, theirs, debug=False):
    """Text of the first difference between two relocatable files, or None."""
    a, b = sections(mine), sections(theirs)
    for name in compared(b):
        if debug and name.startswith(".debug"):
            continue
        if a.get(name) != b[name]:
            return "contents of " + name
    if debug:
        return None
    if relocations(mine) != relocations(theirs):
        return "relocations"
    if symbols(mine) != symbols(theirs):
        return "symbols"
    return None


def compare_linked(rdna3, wave, path, relocatable, tmp):
    """The loadable file against lld's: contents, dynamic relocations and symbols; what lld
    refuses is refused."""
    mine, theirs = os.path.join(tmp, "a.so"), os.path.join(tmp, "b.so")
    refused = run(["ld.lld-19", "-shared", "--no-undefined", "-o", theirs, relocatable]).returncode
    if bool(run([rdna3, "asm", "--wave", wave, "-o", mine, path]).returncode) != bool(refused):
        return "that lld %s it" % ("refuses" if refused else "links")
    if refused:
        return None
    a, b = sections(mine), sections(theirs)
    for name in b:
        if name not in (".dynsym", ".dynamic", ".comment") and name in compared([name]) and a.get(name, b"") != b[name]:
            return "contents of %s in the loadable file" % name
    if relocations(mine) != relocations(theirs):
        return "dynamic relocations"
    return None if symbols(mine) == symbols(theirs) else "symbols of the loadable file"


def files(rdna3, args, tmp):
    need("llvm-mc-19", "llvm-readelf-19", "ld.lld-19")
    bad = 0
    for path in sorted(glob.glob(os.path.join(HERE, "*.s"))):
        for wave in ("32", "64"):
            attr = "-mattr=+wavefrontsize%s" % wave
            if wave == "64":
                attr += ",-wavefrontsize32"
            mine, theirs = os.path.join(tmp, "a.o"), os.path.join(tmp, "b.o")
            must(["llvm-mc-19", "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx1100", attr,
                  "-filetype=obj", path, "-o", theirs])
            must([rdna3, "asm", "-c", "--wave", wave, "-o", mine, path])
            why = compare_rel(mine, theirs) or compare_linked(rdna3, wave, path, theirs, tmp)
            if why:
                print("%s wave%s: %s differ" % (path, wave, why))
                bad += 1
    return bad


def kernels(args):
    found = glob.glob(args.data + "/functional/kernels/*.cl")
    if args.examples:
        found += glob.glob(args.examples + "/*.cl")
        found += glob.glob(args.examples + "/../../tests/opencl/kernels/*.cl")
    return [(p, "cl") for p in sorted(found)]


def compare_clang(rdna3, base, wave, debug):
    """base.s is assembled by both; returns what differs."""
    target = ["-x", "assembler", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1100"]
    if wave == "64":
        target.append("-mwavefrontsize64")
    must(["clang-19", "-c"] + target + [base + ".s", "-o", base + ".ref.o"])
    must(["clang-19"] + target + [base + ".s", "-o", base + ".ref.hsaco"])
    must([rdna3, "asm", "-c", "--wave", wave, "-o", base + ".o", base + ".s"])
    must([rdna3, "asm", "--wave", wave, "-o", base + ".hsaco", base + ".s"])
    why = compare_rel(base + ".o", base + ".ref.o", debug)
    if why:
        return why
    names = [".text", ".note", ".rodata", ".data", ".gnu.hash", ".hash", ".dynstr"]
    a, b = sections(base + ".hsaco"), sections(base + ".ref.hsaco")
    for name in names:
        if name in b and a.get(name) != b[name]:
            return "contents of %s in the loadable file" % name
    return None


def clang(rdna3, args, tmp):
    need("clang-19", "ld.lld-19", "llvm-readelf-19")
    hip = os.path.join(tmp, "many.hip")
    with open(hip, "w") as f:
        f.write(HIP)
    bad = n = 0
    for i, (path, kind) in enumerate(kernels(args) + [(hip, "hip")]):
        flags = (CL_FLAGS if kind == "cl" else HIP_FLAGS).split()
        flags.append("-I" + os.path.dirname(path))
        # every kernel in one or two ways, the last in all
        chosen = VARIANTS if kind == "hip" else VARIANTS[i % 6::4]
        for variant in chosen:
            base = os.path.join(tmp, "k")
            p = run(["clang-19"] + flags + variant.split() + ["-S", path, "-o", base + ".s"])
            if p.returncode:  # not for this wave size
                continue
            wave = "64" if "size64" in variant else "32"
            why = compare_clang(rdna3, base, wave, "-g" in variant)
            n += 1
            if why:
                print("%s %s: %s differ" % (path, variant, why))
                bad += 1
    print(n, "files")
    return bad if n else skip("no kernels")


def kd_source(directives, version):
    return (".amdhsa_code_object_version %s\n.text\nk:\ns_endpgm\n.rodata\n.p2align 6\n"
            ".amdhsa_kernel k\n%s\n.end_amdhsa_kernel\n"
            % (version, directives.replace("; ", "\n")))


def kd(rdna3, args, tmp):
    good = args.data + "/vectors/kd_gfx1100.tsv"
    wrong = args.data + "/vectors/kd_err_gfx1100.tsv"
    bad = 0
    out = os.path.join(tmp, "k.o")
    for line in open(good):
        text, expected, wave, version, ident = line.rstrip("\n").split("\t")
        p = run([rdna3, "asm", "-c", "--wave", wave, "-o", out, "-"],
                input=kd_source(text, version).encode())
        got = (contents(out, ".rodata") or b"").hex() if p.returncode == 0 else ""
        head = open(out, "rb").read(64) if p.returncode == 0 else bytes(64)
        flags = "osabi=%d abiversion=%d e_flags=0x%x" % (
            head[7], head[8], int.from_bytes(head[48:52], "little"))
        if got != expected or flags != ident:
            print("%s (wave%s): %s %s" % (text, wave, got or p.stderr.decode(), flags))
            bad += 1
    for line in open(wrong):
        text, _, wave, version = line.rstrip("\n").split("\t")
        if os.path.exists(out):
            os.unlink(out)
        p = run([rdna3, "asm", "-c", "--wave", wave, "-o", out, "-"],
                input=kd_source(text, version).encode())
        if p.returncode != 1 or b"error: " not in p.stderr or os.path.exists(out):
            print("accepted: %s (wave%s)" % (text, wave))
            bad += 1
    return bad


def fixup(rdna3, args, tmp):
    path = args.data + "/vectors/asm_gfx1100_fixup.tsv"
    p = run([rdna3, "asm", "--check", path])
    print(p.stdout.decode(), p.stderr.decode())
    return p.returncode


def pairs_llvm(rdna3, args, tmp):
    need("llvm-mc-19")
    return pairs(rdna3, args, tmp, llvm=True)


def pairs(rdna3, args, tmp, llvm=False):
    """Random statements of every pair of instruction and encoding: --check agrees, and
    llvm-mc where that is asked for."""
    bad = 0
    path = os.path.join(tmp, "pairs.tsv")
    for wave in ("32", "64"):
        p = must([rdna3, "asm", "--fuzz-pairs", "4", "--seed", "7", "--wave", wave])
        print(p.stderr.decode())
        if b"warning" in p.stderr:
            bad += 1
        again = must([rdna3, "asm", "--fuzz-pairs", "4", "--seed", "7", "--wave", wave])
        if again.stdout != p.stdout:
            print("the same seed gave other statements")
            bad += 1
        with open(path, "wb") as f:
            f.write(p.stdout)
        must([rdna3, "asm", "--check", path])
        if not llvm:
            continue
        rows = [line.split("\t") for line in p.stdout.decode().splitlines()]
        attr = "-mattr=+wavefrontsize32"
        if wave == "64":
            attr = "-mattr=+wavefrontsize64,-wavefrontsize32"
        mc = must(["llvm-mc-19", "-triple=amdgcn", "-mcpu=gfx1100", attr,
                   "-show-encoding"],
                  input="".join(row[0] + "\n" for row in rows).encode())
        theirs = [e.replace("0x", "").replace(",", "") for e in
                  re.findall(r"encoding: \[([0-9a-fx,]*)\]", mc.stdout.decode())]
        for row, hexes in zip(rows, theirs):
            if row[1] != hexes:
                print("%s: %s, llvm-mc says %s" % (row[0], row[1], hexes))
                bad += 1
        bad += len(rows) != len(theirs)
    return bad


def run_llvm(rdna3, args, tmp):
    need("llvm-readelf-19", "llvm-objdump-19")
    out = os.path.join(tmp, "scale.hsaco")
    must([rdna3, "asm", "-o", out, os.path.join(HERE, "scale.s")])
    p = must(["llvm-readelf-19", "-aW", out])
    if b"warning" in p.stderr or b"R_AMDGPU_RELATIVE64" in p.stdout:
        sys.exit(p.stderr.decode())
    p = must(["llvm-objdump-19", "-d", out])
    if b"s_getpc_b64 s[8:9]" not in p.stdout:
        sys.exit("llvm-objdump does not see the code")
    return 0


def run_it(rdna3, args, tmp):
    out = os.path.join(tmp, "scale.hsaco")
    must([rdna3, "asm", "-o", out, os.path.join(HERE, "scale.s")])
    p = must([rdna3, "run", out, "--grid", "1", "--block", "64", "--arg",
              "buf:256:iota=u32", "--arg", "buf:256", "--arg", "u32:7", "--print",
              "1:u32:6"])
    if "100 207 314 421 128 235" not in p.stdout.decode():
        print(p.stdout.decode())
        return 1
    return 0


def main():
    modes = {"files": files, "clang": clang, "kd": kd, "run": run_it, "fixup": fixup,
             "run_llvm": run_llvm, "pairs": pairs, "pairs_llvm": pairs_llvm}
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=modes)
    parser.add_argument("--rdna3", required=True)
    parser.add_argument("--data", default=os.path.join(HERE, "../data"))
    parser.add_argument("--examples")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as tmp:
        bad = modes[args.mode](args.rdna3, args, tmp)
    if bad:
        sys.exit("%d wrong" % bad)


if __name__ == "__main__":
    main()
