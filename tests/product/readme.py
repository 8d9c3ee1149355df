#!/usr/bin/env python3
"""What the pages (README.md and others) tell to type exists: links, files, commands, options;
what the first page says to try runs and says what it should.

    readme.py RDNA3 SOURCE

SPDX-License-Identifier: MIT
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

RDNA3, SOURCE = (os.path.abspath(a) for a in sys.argv[1:3])
CLANG = ["clang-19", "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1100", "-nogpulib", "-O2"]
bad = []


def wrong(where, what):
    bad.append(f"{where}: {what}")


def pages():
    for folder, folders, names in os.walk(SOURCE):
        folders[:] = [f for f in folders if not f.startswith(".") and f not in ("build", "data")]
        for name in names:
            if name.endswith(".md"):
                yield os.path.join(folder, name)


def typed(text):
    """Line and text of what stands in blocks of code, continued lines in one, and between
    backticks."""
    fence, whole = False, ""
    for n, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            fence = not fence
        elif fence or line.startswith("    "):
            whole += line.strip()
            if whole.endswith("\\"):
                whole = whole[:-1]
                continue
            yield n, whole
        whole = ""
    for match in re.finditer(r"(?<!`)`([^`]+)`(?!`)", text):
        yield text.count("\n", 0, match.start()) + 1, " ".join(match.group(1).split())


helped = {}


def told(*command):
    if command not in helped:
        r = subprocess.run([RDNA3, *command, "--help"], capture_output=True, text=True, check=False)
        helped[command] = r.stdout if r.returncode == 0 else ""
    return helped[command]


def check_command(where, text):
    """Of `rdna3 COMMAND ... --option ...`: each is known."""
    for part in re.split(r"&&|;|\s#\s|\s{3,}|\|", text):
        for own in re.findall(r"(?:^|\s|/)rdna3((?:\s+\S+)+)", part.split(" -- rdna3")[0]):
            words = own.split()
            if not re.fullmatch(r"[a-z]+", words[0]):
                continue
            if not re.search(rf"^  {words[0]} ", told(), re.M):
                wrong(where, f"there is no 'rdna3 {words[0]}': {text}")
                continue
            known = told(words[0]) + " --help"
            for word in words[1:words.index("--") if "--" in words else None]:
                option = re.match(r"--[a-z][-a-z0-9]*", word)
                if option and not re.search(re.escape(option.group()) + r"(?![-a-z0-9])", known):
                    wrong(where, f"rdna3 {words[0]} has no {option.group()}: {text}")


def check_page(path):
    name = os.path.relpath(path, SOURCE)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for link in re.findall(r"\]\(([^)#:]+)[^)]*\)", text):
        if "://" not in link and not os.path.exists(os.path.join(os.path.dirname(path), link)):
            wrong(name, f"a link to {link}, which is not there")
    n = 0
    for line, code in typed(text):
        if code.startswith("rdna3 ") or " rdna3 " in code:
            check_command(f"{name}:{line}", code)
            n += 1
        for file in re.findall(r"(?:^|\s)((?:tools|tests)/[\w/]+\.(?:sh|py|cl|s))(?=\s|$)", code):
            if not os.path.exists(os.path.join(SOURCE, file)):
                wrong(f"{name}:{line}", f"there is no {file}")
    return n


# What README.md says to try: words that tell which, exit status, what it says.
TRIED = ((("--stats", "vector_add"), 0, "0 2 4 6 8 10 12 14"), (("buf:1K",), 1, "lane 0, read of 4 bytes|lane 0, write of 4 bytes"),
         (("clang-19",), 0, "134209536"), (("--device kfd",), 0, "0 2 4 6 8 10 12 14"), (("rdna3 doc v_",), 0, "VOP"))


def try_first_page(folder):
    """As after tools/quickstart.sh."""
    examples = os.path.join(folder, "build", "release", "examples")
    os.makedirs(examples)
    os.symlink(os.path.join(SOURCE, "tools"), os.path.join(folder, "tools"))
    for name in ("vector_add", "reduce"):
        subprocess.run([*CLANG, os.path.join(SOURCE, f"tools/examples/{name}.cl"), "-o",
                        os.path.join(examples, name + ".hsaco")], check=True)
    env = {**os.environ, "PATH": os.path.dirname(RDNA3) + ":" + os.environ["PATH"]}
    with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as f:
        commands = [code for _, code in typed(f.read()) if code.startswith(("rdna3 ", "clang-19 "))]
    for words, status, says in TRIED:
        mine = [c for c in commands if all(w in c for w in words)]
        if len(mine) != 1:
            wrong("README.md", f"{len(mine)} commands with {shlex.join(words)}")
            continue
        r = subprocess.run(mine[0], shell=True, cwd=folder, env=env, capture_output=True, text=True, check=False)
        if r.returncode != status or not re.search(says, r.stdout + r.stderr):
            wrong("README.md", f"{mine[0]}\n{r.returncode} {r.stdout}{r.stderr}")


def main():
    n = sum(check_page(path) for path in pages())
    if n < 100:
        wrong("pages", f"only {n} commands")
    if shutil.which(CLANG[0]):
        with tempfile.TemporaryDirectory() as folder:
            try_first_page(folder)
    print("\n".join(bad) or f"{n} commands")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
