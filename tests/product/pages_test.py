#!/usr/bin/env python3
"""Man pages and completions name what the program has, and their readers take them.

    pages_test.py texts|bash|man|zsh|fish RDNA3 SOURCE_FOLDER

SPDX-License-Identifier: MIT
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
WHAT, RDNA3, ROOT = sys.argv[1:4]
PAGES = os.path.join(ROOT, "packaging", "pages")
sys.path.insert(0, PAGES)
import helptext  # noqa: E402


def read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as f:
        return f.read()


def texts(folder):
    """Every command and option is on its page and in each shell's file."""
    shells = {name: read(folder, name) for name in ("rdna3", "_rdna3", "rdna3.fish")}
    for name, what in helptext.commands(RDNA3):
        page = read(folder, f"man1/rdna3-{name}.1").replace("\\-", "-")
        if what not in page or f"rdna3-{name}" not in read(
                folder, "man1/rdna3.1").replace("\\-", "-"):
            yield f"rdna3-{name}.1 does not say what it is"
        for option in helptext.Help(helptext.ask(RDNA3, name, "--help")).options():
            if option not in page and option != "--help":
                yield f"rdna3-{name}.1 misses {option}"
            for shell, text in shells.items():
                if (option if shell != "rdna3.fish" else option.lstrip("-")) not in text:
                    yield f"{shell}: rdna3 {name} {option} is missing"


    reference = "".join(read(folder, f"man3/{name}") for name in
                        sorted(os.listdir(os.path.join(folder, "man3"))))
    with open(os.path.join(ROOT, "library", "rdna3.symbols"), encoding="utf-8") as f:
        yield from (f"no reference page has {name}" for name in f.read().split()
                    if name + "(" not in reference)


def complete(folder, *words):
    script = (f". {folder}/rdna3; COMP_WORDS=({' '.join(repr(w) for w in words)}); "
              f"COMP_CWORD={len(words) - 1}; _rdna3; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
    r = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    return r.stdout.split()


def bash(folder):
    for words, wanted in (
            (["rdna3", "as"], ["asm"]),
            (["rdna3", "run", "x.hsaco", "--gr"], ["--grid"]),
            (["rdna3", "run", "--engine", ""], ["auto", "interp", "jit"]),
            (["rdna3", "check", "--leak"], ["--leak-check"]),
            (["rdna3", "doc", "--gr"], [])):
        found = complete(folder, *words)
        if found != wanted:
            yield f"{words}: {found}, not {wanted}"


def reader(*command):
    """A program that complains about each of the files it is given."""
    def check(folder):
        names = {"man": "man[13]/*", "zsh": "_rdna3", "fish": "rdna3.fish"}[WHAT]
        for path in sorted(glob.glob(os.path.join(folder, names))):
            r = subprocess.run([*command, path], capture_output=True, text=True, check=False,
                               env=dict(os.environ, MANWIDTH="200", LC_ALL="C.UTF-8"))
            if r.returncode or r.stderr:
                yield f"{os.path.basename(path)}: {r.stderr[:400]}"
    return check


CHECKS = {"texts": texts, "bash": bash,
          "man": reader("man", "--warnings", "-l", "-P", "cat"),
          "zsh": reader("zsh", "-n"), "fish": reader("fish", "--no-execute")}


def main():
    if WHAT != "texts" and not shutil.which(WHAT):
        print(f"skipped: there is no {WHAT}")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, os.path.join(PAGES, "pages.py"), "--rdna3", RDNA3,
                        "--out", folder], check=True)
        subprocess.run([sys.executable, os.path.join(PAGES, "reference.py"), "--headers",
                        os.path.join(ROOT, "library", "include", "rdna3"), "--out", folder,
                        "--version", "rdna3"], check=True)
        bad = list(CHECKS[WHAT](folder))
    print("\n".join(bad[:40]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
