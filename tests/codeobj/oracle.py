#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the code object library with LLVM's own readers, linker and bundler.

  oracle.py linked|relocatable|bundle --dump CODEOBJ_DUMP --kernels DIR

linked       sections, segments, symbols and metadata of the kernels in DIR against
             llvm-readobj-19
relocatable  objects made by clang-19 and llvm-mc-19: relocations worked out here by the
             formulas of the ABI; the same formulas hold in what ld.lld-19 makes of them
bundle       clang-offload-bundler-19 around a kernel

Exit status 0 passed, 1 failed, 77 skipped for want of a tool or of the kernels.
"""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PLACE_UNDEFINED, PLACE_IMAGE, PLACE_ABSOLUTE, PLACE_OTHER = range(4)
failures = []


def check(ok, what):
    if not ok:
        failures.append(what)


def equal(got, want, what):
    check(got == want, f"{what}: got {got!r}, expected {want!r}")


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            print(f"skipped: {tool} is not installed")
            sys.exit(77)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def must(*command):
    code, out, err = run(*command)
    if code:
        sys.exit(f"{' '.join(command)}: {err}")
    return out


def dump(args, path, gpuva=None):
    """Our view; with gpuva the loaded image as well."""
    if gpuva is None:
        return json.loads(must(args.dump, path))
    image = path + ".image"
    view = json.loads(must(args.dump, path, hex(gpuva), image))
    with open(image, "rb") as file:
        return view, file.read()


def readobj(path, *options):
    return json.loads(must("llvm-readobj-19", "--elf-output-style=JSON", *options, path))[0]


# ---- YAML as llvm-readobj prints metadata: block maps and lists of scalars -------------


def scalar(text):
    if text.startswith("'") and text.endswith("'"):
        return text[1:-1].replace("''", "'")
    if text in ("true", "false"):
        return int(text == "true")
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def parse_yaml(text):
    lines = [line for line in text.splitlines() if line not in ("---", "...", "")]
    value, rest = parse_block(lines, 0)
    assert not rest, rest
    return value


def parse_block(lines, depth):
    if lines and lines[0].lstrip().startswith("- "):
        items = []
        depth = len(lines[0]) - len(lines[0].lstrip())
        while lines and lines[0].startswith(" " * depth + "- "):
            first = lines[0][depth + 2:]
            if re.match(r"[\w.]+:(\s|$)", first):
                lines[0] = " " * (depth + 2) + first
                value, lines = parse_block(lines, depth + 2)
            else:
                value, lines = scalar(first), lines[1:]
            items.append(value)
        return items, lines
    result = {}
    while lines:
        indent = len(lines[0]) - len(lines[0].lstrip())
        match = re.match(r"([\w.]+):\s*(.*)", lines[0].strip())
        if indent != depth or not match:
            break
        lines = lines[1:]
        if match[2] in ("[]", "{}"):
            result[match[1]] = []
        elif match[2]:
            result[match[1]] = scalar(match[2])
        else:
            result[match[1]], lines = parse_block(lines, len(lines[0]) - len(lines[0].lstrip()))
    return result, lines


# ---- linked ---------------------------------------------------------------------------


def compare_meta(ours, theirs, where):
    """Each key of the file as we read it; keys we drop are listed."""
    ignored = {".args", ".language_version", ".device_enqueue_symbol", ".vec_type_hint"}
    for key, value in theirs.items():
        if key not in ignored:
            equal(ours.get(key), value, f"{where} {key}")
    args = theirs.get(".args", [])
    equal(len(ours["args"]), len(args), f"{where} number of arguments")
    for i, (mine, arg) in enumerate(zip(ours["args"], args)):
        for key, value in arg.items():
            equal(mine.get(key), value, f"{where} argument {i} {key}")
    explicit = [a for a in args if not a[".value_kind"].startswith("hidden_")]
    equal(ours["explicit"], len(explicit), f"{where} explicit arguments")


def compare_file(args, path):
    name = os.path.basename(path)
    ours = dump(args, path)
    theirs = readobj(path, "--sections", "--symbols", "--notes", "--program-headers")
    for mine, entry in zip(ours["sections"], theirs["Sections"]):
        sec = entry["Section"]
        where = f"{name} section {sec['Name']['Name']}"
        equal(mine["name"], sec["Name"]["Name"], where)
        equal((mine["size"], mine["flags"], mine["type"]),
              (sec["Size"], sec["Flags"]["Value"], sec["Type"]["Value"]), where)
        if mine["in_image"]:
            equal(mine["offset"] + ours["base"], sec["Address"], where)
    loads = [p["ProgramHeader"] for p in theirs["ProgramHeaders"]]
    loads = [p for p in loads if p["Type"]["Name"] == "PT_LOAD"]
    equal([(s["offset"] + ours["base"], s["size"], s["file_size"], s["flags"])
           for s in ours["segments"]],
          [(p["VirtualAddress"], p["MemSize"], p["FileSize"], p["Flags"]["Value"])
           for p in loads], f"{name} segments")
    equal(len(ours["symbols"]), len(theirs["Symbols"]), f"{name} number of symbols")
    for mine, entry in zip(ours["symbols"], theirs["Symbols"]):
        sym = entry["Symbol"]
        value = mine["value"] + (ours["base"] if mine["place"] == PLACE_IMAGE else 0)
        equal((mine["name"], value, mine["size"]),
              (sym["Name"]["Name"], sym["Value"], sym["Size"]), f"{name} symbol")
    notes = theirs["NoteSections"][0]["NoteSection"]["Notes"]
    meta = parse_yaml(notes[0]["AMDGPU Metadata"])
    equal(ours["isa"], meta["amdhsa.target"], f"{name} amdhsa.target")
    kernels = {k["name"]: k for k in ours["kernels"]}
    equal(set(kernels), {k[".name"] for k in meta["amdhsa.kernels"]}, f"{name} kernels")
    for kernel in meta["amdhsa.kernels"]:
        mine = kernels[kernel[".name"]]
        equal(mine["check"], "ok", f"{name} {mine['name']} check")
        compare_meta(mine["meta"], kernel, f"{name} {mine['name']}")


def test_linked(args):
    need("llvm-readobj-19")
    files = sorted(glob.glob(os.path.join(args.kernels, "*.hsaco")))
    if not files:
        print(f"skipped: no kernels in {args.kernels}")
        sys.exit(77)
    for path in files:
        compare_file(args, path)
    print(f"{len(files)} files compared")


# ---- relocatable ----------------------------------------------------------------------


def read(image, at, size):
    return int.from_bytes(image[at:at + size], "little")


def signed(value, bits):
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


class Linked:
    """An image, where its input sections are in it, and the address it was loaded at."""

    def __init__(self, image, gpuva, bases, symbols):
        self.image, self.gpuva, self.bases, self.symbols = image, gpuva, bases, symbols
        self.got = {}

    def check_got(self, value, p, a, s, name, where):
        entry = p + signed(value, 32) - a - self.gpuva
        check(0 <= entry <= len(self.image) - 8, f"{where}: GOT entry outside the image")
        equal(read(self.image, entry, 8), s, f"{where}: GOT entry")
        equal(self.got.setdefault(name, entry), entry, f"{where}: one GOT entry a symbol")

    def check(self, section, reloc, where):
        """One input relocation against the bytes at its place."""
        kind, a = reloc["Type"]["Name"][9:], reloc["Addend"]
        name = reloc["Symbol"]["Name"]
        at = self.bases[section] + reloc["Offset"]
        p, s = self.gpuva + at, self.symbols(reloc)
        where = f"{where} {kind} {name}+{a}"
        size = {"REL16": 2, "ABS64": 8, "REL64": 8}.get(kind, 4)
        got, low, high = read(self.image, at, size), (1 << 32) - 1, 32
        if kind.startswith("GOTPCREL"):
            if not kind.endswith("_HI"):
                self.check_got(got, p, a, s, name, where)
                return
            expected = (self.gpuva + self.got[name] + a - p) >> high & low
        elif kind == "REL16":
            expected = (s + a - p - 4) // 4 & 0xffff
        else:
            expected = s + a - (p if kind.startswith("REL") else 0)
            expected = expected >> high if kind.endswith("_HI") else expected
            expected &= (1 << 8 * size) - 1
        equal(hex(got), hex(expected), where)


def relocations(path):
    """(section that is changed, relocation) for the sections that are loaded."""
    obj = readobj(path, "--relocations", "--sections")
    sections = [entry["Section"] for entry in obj["Sections"]]
    for table in obj["Relocations"]:
        target = sections[table["SectionIndex"]]["Info"]
        if sections[target]["Flags"]["Value"] & 2:
            for entry in table["Relocs"]:
                yield target, entry["Relocation"]


def check_object(args, path, gpuva):
    """Load a relocatable file and check each relocation. Returns our view."""
    view, image = dump(args, path, gpuva)
    bases = {i: s["offset"] for i, s in enumerate(view["sections"]) if s["in_image"]}

    def symbol(reloc):
        entry = view["symbols"][reloc["Symbol"]["Value"]]
        return entry["value"] + (gpuva if entry["place"] == PLACE_IMAGE else 0)

    by_index = view["symbols"]
    linked = Linked(image, gpuva, bases, symbol)
    count = 0
    for section, reloc in relocations(path):
        # the JSON style gives the index of the symbol's name, not of the symbol
        names = [i for i, s in enumerate(by_index)
                 if s["name"] == reloc["Symbol"]["Name"] or
                 (s["kind"] == 3 and
                  view["sections"][s["section"]]["name"] == reloc["Symbol"]["Name"])]
        reloc["Symbol"]["Value"] = names[0]
        linked.check(section, reloc, os.path.basename(path))
        count += 1
    check(count > 0, f"{path}: no relocations")
    for kernel in view["kernels"]:
        equal(kernel["check"], "ok", f"{path} {kernel['name']}")
        at = kernel["desc"]
        entry = read(image, at + 16, 8)
        equal(at + entry, kernel["entry"], f"{path} {kernel['name']} entry")
    return view


def check_lld(args, obj, view, linked_path, gpuva):
    """The same formulas in what lld made of the object, loaded by us."""
    lview, image = dump(args, linked_path, gpuva)
    final = {s["name"]: s for s in lview["symbols"]}
    bases = {}
    for sym in view["symbols"]:
        if sym["place"] == PLACE_IMAGE and sym["name"] in final:
            place = sym["value"] - view["sections"][sym["section"]]["offset"]
            bases.setdefault(sym["section"], final[sym["name"]]["value"] - place)

    def symbol(reloc):
        name = reloc["Symbol"]["Name"]
        if name in final:
            entry = final[name]
            return entry["value"] + (gpuva if entry["place"] == PLACE_IMAGE else 0)
        index = [s["name"] for s in view["sections"]].index(name)
        return gpuva + bases[index]

    linked = Linked(image, gpuva, bases, symbol)
    for section, reloc in relocations(obj):
        linked.check(section, reloc, os.path.basename(linked_path))


OPENCL = """
__constant int table[16] = {1, 2, 3};
__attribute__((noinline)) int helper(int x) { return x * 3 + table[x & 15]; }
kernel void k1(global int *p)
{
    local int l[64];
    int i = __builtin_amdgcn_workitem_id_x();
    l[i] = p[i];
    __builtin_amdgcn_s_barrier();
    p[i] = helper(l[63 - i]);
}
kernel void k2(global int *p, float f) { p[0] = (int)f; }
#ifdef EXTERNAL
int elsewhere(int);
kernel void k3(global int *p) { p[0] = elsewhere(p[1]); }
#endif
"""


def test_relocatable(args):
    need("llvm-readobj-19", "llvm-mc-19", "ld.lld-19", "clang-19")
    gpuva = 0x7F5A_1234_0000
    with tempfile.TemporaryDirectory() as tmp:
        source = os.path.join(HERE, "relocs.s")
        mc = ["llvm-mc-19", "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx1100", "-filetype=obj"]
        obj, shared = os.path.join(tmp, "relocs.o"), os.path.join(tmp, "shared.o")
        must(*mc, source, "-o", obj)
        must(*mc, "-defsym", "SHARED=1", source, "-o", shared)
        must("ld.lld-19", "-shared", shared, "-o", shared[:-2] + ".hsaco")
        for address in (0, 0x10_0000, gpuva):
            check_object(args, obj, address)
            view = check_object(args, shared, address)
            check_lld(args, shared, view, shared[:-2] + ".hsaco", address)

        cl = os.path.join(tmp, "kernels.cl")
        with open(cl, "w", encoding="ascii") as file:
            file.write(OPENCL)
        clang = ["clang-19", "-x", "cl", "-cl-std=CL2.0", "-nogpulib", "-target",
                 "amdgcn-amd-amdhsa", "-mcpu=gfx1100", "-c"]
        for level in ("-O0", "-O2"):
            for extra in ([], ["-mwavefrontsize64"], ["-fPIC"], ["-ffunction-sections"]):
                out = cl[:-3] + ".o"
                must(*clang, level, *extra, cl, "-o", out)
                view = check_object(args, out, gpuva)
                equal([k["name"] for k in view["kernels"]], ["k1", "k2"], "kernels")
                check(all("meta" in k for k in view["kernels"]), "metadata of ET_REL")
        for version in (4, 5, 6):
            must(*clang, f"-mcode-object-version={version}", cl, "-o", out)
            equal(dump(args, out)["version"], version, "code object version")

        must(*clang, "-DEXTERNAL", cl, "-o", out)
        code, _, err = run(args.dump, out, "0", os.path.join(tmp, "image"))
        check(code == 1 and "undefined symbol" in err and "elsewhere" in err,
              f"undefined symbol: {code} {err}")
        must("clang-19", "-x", "cl", "-nogpulib", "-target", "amdgcn-amd-amdhsa",
             "-mcpu=gfx1030", "-c", cl, "-o", out)
        code, _, err = run(args.dump, out)
        check(code == 1 and "gfx1030" in err, f"another target: {code} {err}")


# ---- bundles --------------------------------------------------------------------------


def test_bundle(args):
    need("clang-offload-bundler-19")
    kernel = os.path.join(args.kernels, "vector_add.w32.O2.hsaco")
    if not os.path.exists(kernel):
        print(f"skipped: no {kernel}")
        sys.exit(77)
    plain = dump(args, kernel)
    with tempfile.TemporaryDirectory() as tmp:
        empty, out = os.path.join(tmp, "empty"), os.path.join(tmp, "bundle")
        open(empty, "wb").close()
        other = os.path.join(tmp, "other")
        with open(other, "wb") as file:
            file.write(b"code for another processor")

        def bundle(targets, inputs):
            must("clang-offload-bundler-19", "-type=o", "-bundle-align=4096",
                 "-targets=" + ",".join(targets), *(f"-input={i}" for i in inputs),
                 "-output=" + out)

        host, hip = "host-x86_64-unknown-linux-gnu-", "hipv4-amdgcn-amd-amdhsa--"
        bundle([host, hip + "gfx1030", hip + "gfx1100", hip + "gfx1101"],
               [empty, other, kernel, other])
        ours = dump(args, out)
        check(ours.pop("elf_offset") > 0, "bundle: offset of the ELF file")
        plain.pop("elf_offset")
        equal(ours, plain, "bundle: contents")
        bundle([host, hip + "gfx1030"], [empty, other])
        code, _, err = run(args.dump, out)
        check(code == 1 and "gfx1100" in err, f"bundle without gfx1100: {code} {err}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=("linked", "relocatable", "bundle"))
    parser.add_argument("--dump", required=True)
    parser.add_argument("--kernels", required=True)
    args = parser.parse_args()
    {"linked": test_linked, "relocatable": test_relocatable, "bundle": test_bundle}[
        args.part](args)
    for failure in failures[:20]:
        print("FAILED:", failure)
    print(f"{len(failures)} differences" if failures else "passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
