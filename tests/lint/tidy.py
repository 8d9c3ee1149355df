#!/usr/bin/env python3
"""clang-tidy over what changed, for a limited time.

    tidy.py BUILD [FILE...]

With FILEs: all of each. Without: the lines of C files (no tests) that differ from where
the branch left its upstream or, where nothing does, that the last commits changed
(TIDY_COMMITS, 10), for at most TIDY_SECONDS (180). Exit status: 0 clean, 1 not; 77: no
clang-tidy-19, nothing changed, or the time was up before all files were looked at.
"""
# SPDX-License-Identifier: MIT
import json
import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
PARTS = ("isa", "emulator", "library", "packaging", "driver", "compiler", "tools")


def git(*words):
    return subprocess.run(["git", "-c", "safe.directory=*", "-C", ROOT, *words],
                          capture_output=True, text=True, check=False).stdout.strip()


def changed(since):
    """File to its changed lines, as [first, last]."""
    lines, file = {}, None
    for line in git("diff", "-U0", "-M", since, "--", *PARTS).splitlines():
        if line.startswith("+++ "):
            file = line[6:] if line.endswith(".c") else None
        hunk = re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)
        if hunk and file:
            first, count = int(hunk[1]), int(hunk[2] or 1)
            if count:
                lines.setdefault(file, []).append([first, first + count - 1])
    return lines


def what_changed():
    upstream = git("merge-base", "HEAD", "@{upstream}")
    lines = changed(upstream) if upstream else {}
    if not lines:
        commits = git("rev-list", "-n", os.environ.get("TIDY_COMMITS", "10"), "HEAD~1").split()
        lines = changed(commits[-1]) if commits else {}
    return lines


def database(build):
    """A folder with the build's commands, without options that only GCC has."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        commands = json.load(f)
    for c in commands:
        c["command"] = re.sub(r" (-fno-partial-inlining|--param[ =]\S+)(?= |$)", "", c["command"])
    folder = os.path.join(build, "tidy")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as f:
        json.dump(commands, f)
    return folder, {os.path.relpath(c["file"], ROOT) for c in commands}


def tidy(build, file, ranges):
    """What clang-tidy says of these lines, of all for None; "" if it has nothing to say."""
    command = ["clang-tidy-19", "--quiet", "-p", build]
    if ranges:
        command.append("--line-filter=" + json.dumps([{"name": os.path.join(ROOT, file),
                                                       "lines": ranges}]))
    done = subprocess.run([*command, os.path.join(ROOT, file)], capture_output=True, text=True,
                          check=False)
    if done.returncode == 0:
        return ""
    return done.stdout.strip() or done.stderr.strip() or f"exit status {done.returncode}"


def main():
    build, files = sys.argv[1], dict.fromkeys(sys.argv[2:])
    if not shutil.which("clang-tidy-19"):
        print("skipped: there is no clang-tidy-19")
        return 77
    end = None if files else time.monotonic() + float(os.environ.get("TIDY_SECONDS", "180"))
    files = files or what_changed()
    folder, built = database(build)
    files = {f: lines for f, lines in files.items() if f in built}
    if not files:
        print("skipped: no C file changed")
        return 77
    looked = failed = 0
    for file, lines in files.items():
        if end and time.monotonic() > end:
            break
        said = tidy(folder, file, lines)
        looked += 1
        failed += bool(said)
        if said:
            print(said)
    print(f"{looked} of {len(files)} changed files looked at")
    if failed:
        return 1
    if looked < len(files):
        print(f"skipped: the time was up after {looked} of {len(files)} changed files, "
              "which are clean")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
