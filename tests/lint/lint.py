#!/usr/bin/env python3
"""Checks of the source text that no compiler makes.

    lint.py sizes             no file over 800 lines, generated ones apart
    lint.py functions         no function over 80 lines
    lint.py rooms BUILD       the driver's layers see what they may, and no more (rooms.py)
    lint.py cycles BUILD      no cycle of folders by includes, none of calls in the program
                              loader (cycles.py); cycles.allow lists what is still to do
    lint.py comments          every C file says what it is and under which licence
    lint.py format            clang-format-19 would change nothing
    lint.py headers CC DIR    every header compiles alone; DIR/*/ are the include folders
    lint.py includes CC DIR   the include folders of a library show what they should
    lint.py mnemonics         no test on the text of a mnemonic outside isa/

Exit status: 0 clean, 1 not, 77 skipped because a tool is missing.
"""
# SPDX-License-Identifier: MIT
import glob
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import cycles  # noqa: E402
import rooms  # noqa: E402
import mnemonics as mnemonic_rule  # noqa: E402

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
MAX_LINES = 800
MAX_FUNCTION = 80
LEAVES = ("packaging", "isa", "emulator", "library", "driver", "compiler", "tools", "tests")


def files(*endings):
    """Tracked files; all of them where there is no git."""
    r = subprocess.run(["git", "-c", "safe.directory=*", "-C", ROOT, "ls-files"],
                       capture_output=True, text=True)
    names = r.stdout.split("\n") if r.returncode == 0 else [
        os.path.relpath(os.path.join(folder, name), ROOT)
        for leaf in LEAVES for folder, _, found in os.walk(os.path.join(ROOT, leaf))
        for name in found]
    return [n for n in sorted(names)
            if n.endswith(endings) and os.path.exists(os.path.join(ROOT, n))]


def text(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        return f.read()


def generated(name):
    """Generated files say so in their first lines."""
    return re.search(r"\bgenerated\b", "\n".join(text(name).split("\n")[:6]), re.I)


def pinned(name):
    return name.startswith("driver/uapi/")


def sizes():
    for name in files(".c", ".h", ".py", ".sh", ".txt"):
        lines = text(name).count("\n")
        if lines > MAX_LINES and not generated(name) and not pinned(name):
            yield f"{name}: {lines} lines, at most {MAX_LINES}"


def functions():
    names = [n for n in files(".c") if not n.startswith("tests/") and not generated(n)]
    excused = {n for kind, n in cycles.allowed(cycles.ALLOW) if kind == "function"}
    for line in cycles.functions(ROOT, names, MAX_FUNCTION):
        name = re.search(r"(\w+)\(", line)[1]
        if name in excused:
            print("allowed until cycles.allow is empty:", line)
        else:
            yield line


def run_cycles(build):
    return cycles.check(build, ROOT, files(".c", ".h", ".def", ".inc"))


def run_rooms(build):
    return rooms.check(build, ROOT, files(".c", ".h", ".def"))


def comments():
    for name in files(".c", ".h"):
        if pinned(name):
            continue
        head = text(name)[:4000]
        if not head.startswith("/*"):
            yield f"{name}: does not begin with a comment that says what it is"
        if "SPDX-License-Identifier: MIT" not in head:
            yield f"{name}: no SPDX-License-Identifier line"


def run_format():
    names = [n for n in files(".c", ".h")
             if not pinned(n) and "clang-format off" not in text(n)[:600]]
    r = subprocess.run(["clang-format-19", "--dry-run", *names], cwd=ROOT,
                       capture_output=True, text=True)
    for line in r.stderr.split("\n"):
        if "warning:" in line:
            yield line
    if r.returncode:
        yield "clang-format-19 failed: " + r.stderr[:300]


def compiles(cc, folders, source, extra=()):
    command = [cc, "-std=gnu11", "-fsyntax-only", "-x", "c", *extra]
    for folder in folders:
        command += ["-I", folder]
    r = subprocess.run([*command, "-"], input=source, capture_output=True, text=True)
    return r.returncode == 0, r.stderr


def opencl(name):
    """Headers of kernels are not C; the tests that build the kernels see them."""
    return "#pragma OPENCL" in text(name) or "__attribute__((global))" in text(name)


def headers(cc, include_root):
    public = sorted(glob.glob(os.path.join(include_root, "*")))
    for name in files(".h"):
        if not name.startswith(LEAVES) or pinned(name) or opencl(name) \
                or "template" in text(name)[:600]:
            continue
        own = [os.path.join(ROOT, os.path.dirname(name))]
        leaves = [name.split("/")[0]]
        if leaves == ["tests"]:
            leaves = LEAVES  # may use internals
        own += [os.path.join(ROOT, leaf) for leaf in leaves]
        own.append(os.path.join(ROOT, "driver", "uapi"))  # pinned kernel headers
        ok, why = compiles(cc, own + public,
                           f'#include "{os.path.basename(name)}"\n',
                           ["-Wall", "-Wextra", "-Wno-unused-function"])
        if not ok and "SDL2/SDL.h: No such file" not in why:  # the window is optional
            yield f"{name} does not compile alone:\n{why[:600]}"


def includes(cc, include_root):
    """A leaf's private headers and the leaves above it are out of reach."""
    def folders(*libraries):
        return [os.path.join(include_root, library) for library in libraries]

    isa = folders("isa_api", "rd_status") + [os.path.join(ROOT, "isa")]
    public_isa = folders("isa_api", "codeobj", "rd_status")
    compiler = folders("cc_include", "rd_status")
    lower = compiler + folders("cc_ir") + [os.path.join(ROOT, "compiler", "lower")]
    cases = [
        (True, isa, "isa.h", "isa sees itself"),
        (False, isa, "emu.h", "isa must not see the emulator"),
        (False, isa, "codeobj.h", "isa must not see code objects"),
        (False, public_isa, "tables.h", "users of isa must not see its inside"),
        (True, public_isa, "codeobj.h", "users of codeobj see its header"),
        (False, public_isa, "msgpack.h", "users of codeobj must not see its inside"),
        (False, public_isa, "emu.h", "code objects must not see the emulator"),
        (True, public_isa + folders("emu_include"), "emu.h", "tools see the emulator"),
        (False, public_isa + folders("emu_include"), "wave.h", "tools must not see waves"),
        (True, compiler, "cc_tensor.h", "users of the compiler see include/"),
        (False, compiler, "graph.h", "users of the compiler must not see its inside"),
        (True, lower, "graph.h", "lowering sees graphs"),
        (False, lower, "choose.h", "lowering must not see the search"),
        (False, lower, "rdna3.h", "lowering must not see the back end"),
    ]
    for expected, where, header, what in cases:
        ok, why = compiles(cc, where, f'#include "{header}"\n')
        if ok != expected:
            yield f"{what}: {header} {'compiles' if ok else 'does not compile'} {why[:300]}"


# What is no test on a mnemonic although it looks like one: (file, part of the message).
NO_MNEMONICS = {
    ("compiler/ir/derive.c", '"ds_bpermute"'),  # an intrinsic of the compiler's language
    ("tools/trace/filter.c", "name of an opcode"),  # the text that the user looks for
}


def mnemonics():
    names = mnemonic_rule.Mnemonics(text("isa/tables/names.inc"))
    yield from mnemonic_rule.self_test(names)
    for name in files(".c", ".h"):
        if not name.startswith(("emulator/", "compiler/", "tools/", "driver/")):
            continue
        for line, why in mnemonic_rule.find(text(name), names):
            if not any(name == f and part in why for f, part in NO_MNEMONICS):
                yield f"{name}:{line}: {why}: ask isa_facts()"


def main():
    check, args = sys.argv[1], sys.argv[2:]
    if check == "format" and not shutil.which("clang-format-19"):
        print("skipped: there is no clang-format-19")
        return 77
    checks = {"sizes": sizes, "functions": functions, "cycles": run_cycles, "rooms": run_rooms,
              "comments": comments, "format": run_format, "headers": headers,
              "includes": includes, "mnemonics": mnemonics}
    found = list(checks[check](*args))
    for line in found[:50]:
        print(line)
    if len(found) > 50:
        print(f"... and {len(found) - 50} more")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
