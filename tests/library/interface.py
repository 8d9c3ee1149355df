#!/usr/bin/env python3
"""The interface of librdna3: what it exports, how its structs lie, that all of it is told.

    interface.py symbols|layout|reference|languages SOURCE CC librdna3.so librdna3.a
    interface.py rebase SOURCE CC                      writes layout.txt

symbols     both libraries export library/rdna3.symbols, each with its version; no other
layout      sizes and offsets of public structs are those of layout.txt: what was built
            against it goes on working
reference   every function and struct has a comment before it
languages   the headers compile as C99 and C++, each alone

SPDX-License-Identifier: MIT
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

WHAT, ROOT, CC = sys.argv[1:4]
HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(ROOT, "library", "include")


def run(*command, **kw):
    return subprocess.run(command, capture_output=True, text=True, check=False, **kw)


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def headers():
    return sorted(glob.glob(os.path.join(INCLUDE, "rdna3", "*.h")))


def names(*options):
    return [line.split()[-1] for line in run("nm", *options).stdout.splitlines()
            if len(line.split()) >= 3 and line.split()[-2] != "A"]


def symbols():
    listed = read(ROOT, "library", "rdna3.symbols").split()
    declared = {n for h in headers() if os.path.basename(h) != "client.h"  # of programs that are checked
                for n in re.findall(r"\b(rdna3_\w+)\(", read(h))}
    yield from (f"{n} is declared and not in rdna3.symbols" for n in declared - set(listed))
    yield from (f"{n} is in rdna3.symbols and not declared" for n in set(listed) - declared)
    yield from (f"{n}: without the prefix" for n in listed if not n.startswith("rdna3_"))
    shared = names("-D", "--defined-only", sys.argv[4])
    versioned = sorted(n + "@@RDNA3_0" for n in listed)
    if sorted(shared) != versioned:
        yield f"the shared library exports {set(shared) ^ set(versioned)}"
    static = names("-g", "--defined-only", sys.argv[5])
    if sorted(static) != sorted(listed):
        yield f"the static library exports {set(static) ^ set(listed)}"


def structs():
    """(name, [fields]) of every struct that is defined in a header."""
    for h in headers():
        text = re.sub(r"/\*.*?\*/", "", read(h), flags=re.S)
        for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", text, re.M | re.S):
            fields = []
            for line in body.split(";"):
                line = re.sub(r"\(\*(\w+)\)\(.*", r"\1", " ".join(line.split()))
                fields += [re.sub(r"\[.*", "", f).split()[-1].strip("*")
                           for f in line.split(",") if f.strip()]
            yield name, fields


def layout_text():
    rows = ["#include <rdna3.h>", "#include <stdio.h>", "int main(void) {"]
    for name, fields in structs():
        rows.append(f'printf("struct {name} %zu:", sizeof(struct {name}));')
        for field in fields:
            rows.append(f'printf(" {field}@%zu", offsetof(struct {name}, {field}));')
        rows.append('putchar(10);')
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "a.c"), os.path.join(folder, "a")
        with open(source, "w", encoding="utf-8") as f:
            f.write("\n".join(rows + ["return 0; }", ""]))
        r = run(CC, "-I", INCLUDE, source, "-o", program)
        if r.returncode:
            sys.exit(r.stderr)
        return run(program).stdout


def layout():
    expected = read(HERE, "layout.txt")
    now = layout_text()
    for line in sorted(set(expected.splitlines()) - set(now.splitlines())):
        yield f"was: {line}"
    for line in sorted(set(now.splitlines()) - set(expected.splitlines())):
        yield f"is:  {line}"


def reference():
    """Groups of declarations without an empty line share the comment before them."""
    for h in headers():
        text = read(h)
        for m in re.finditer(r"^(?:RDNA3_(?:API|CHECKED) [^;]*?\b(rdna3_\w+)\(|"
                             r"(?:struct|enum) (\w+) \{)", text, re.M):
            group = text[:m.start()].rstrip(" ").rsplit("\n\n", 1)[-1]
            if "/*" not in group and "enum" not in m[0]:
                yield f"{os.path.basename(h)}: nothing is said about {m[1] or m[2]}"


def languages():
    if not shutil.which("clang-19"):
        print("skipped: there is no clang-19")
        sys.exit(77)
    for h in [*headers(), os.path.join(INCLUDE, "rdna3.h")]:
        name = os.path.relpath(h, INCLUDE)
        for language, options in (("c", ["-std=c99", "-pedantic"]), ("c++", ["-std=c++11"])):
            r = run("clang-19", "-x", language, *options, "-Wall", "-Wextra", "-Werror",
                    "-fsyntax-only", "-I", INCLUDE, "-", input=f"#include <{name}>\n")
            if r.returncode:
                yield f"{name} as {language}: {r.stderr[:400]}"


def main():
    if WHAT == "rebase":
        with open(os.path.join(HERE, "layout.txt"), "w", encoding="utf-8") as f:
            f.write(layout_text())
        return 0
    bad = list({"symbols": symbols, "layout": layout, "reference": reference,
                "languages": languages}[WHAT]())
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
