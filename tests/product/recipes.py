#!/usr/bin/env python3
"""The container file and the GitHub Action: their steps as shell scripts, so that they can be
run where there is neither, and what must not part from the project.

    recipes.py check RDNA3 SOURCE
    recipes.py script image|runtime|action SOURCE     # prints what to run as root in a bare tree

SPDX-License-Identifier: MIT
"""
import os
import re
import subprocess
import sys
import tempfile

CONTAINER, ACTION = "packaging/container/Containerfile", "packaging/github/rocm-tests.yml"


def read(source, path):
    with open(os.path.join(source, path), encoding="utf-8") as f:
        return f.read()


def container(source):
    """[[step, ...] of each stage]; a step is a word and what follows it."""
    stages = []
    for line in read(source, CONTAINER).replace("\\\n", " ").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        word, rest = line.split(None, 1)
        if word == "FROM":
            stages.append([])
        else:
            stages[-1].append((word, " ".join(rest.split())))
    return stages


def action(source):
    """What each `run:` runs."""
    steps, into = [], None
    for line in read(source, ACTION).splitlines():
        indent = len(line) - len(line.lstrip())
        if into is not None and (not line.strip() or indent > into):
            steps[-1].append(line.strip())
            continue
        into = None
        if re.match(r"\s*- run: \|", line):
            into = indent
            steps.append([])
    return ["\n".join(step) for step in steps]


def packages(text):
    names = []
    for words in re.findall(r"apt-get install ([^&\n]*)", text):
        names += [w for w in words.split() if not w.startswith("-")]
    return set(names)


def runs(stage):
    return "\n".join(rest for word, rest in stage if word == "RUN")


def expect(condition, what):
    if not condition:
        sys.exit(f"wrong: {what}")


def check(rdna3, source):
    build, runtime = container(source)
    steps = action(source)
    both = {"container": runs(build), "action": "\n".join(steps)}
    expect(len(steps) == 3, f"steps of the action: {steps}")
    needed = packages(both["container"]) - {"git", "ca-certificates"}  # checkout brings these
    expect(packages(both["action"]) == needed, f"packages: action {packages(both['action'])}, container {needed}")
    known = "".join(read(source, p) for p in ("CMakeLists.txt", "tools/CMakeLists.txt", "tools/viz/CMakeLists.txt"))
    for name, text in both.items():
        for option in re.findall(r"-D(RDNA3_\w+)=", text):
            expect(option in known, f"{name}: {option} is no option of the build")
        for line in ("cmake -S ", "cmake --build ", "cmake --install "):
            expect(line in text, f"{name} does not {line}")
    fetched = [rest for word, rest in runtime if word == "COPY"]
    prefix = re.search(r"DESTDIR=(\S+)", both["container"]).group(1)
    expect(fetched == [f"--from=build {prefix}/ /"], f"the image copies {fetched}")
    installed = read(source, "tools/quickstart.sh").split("\n\n")[1]
    for package in packages(runs(runtime)):
        expect(package in installed or package.replace("1", "-dev") in installed or
               package.replace("-0", "-dev") in installed or package == "python3", f"{package} is no need")
    expect("build" in read(source, ".dockerignore").splitlines(), "a build folder goes into the image")
    command = re.search(r"/opt/rdna3/bin/(rdna3 .*) -- ctest", both["action"]).group(1).split()
    with tempfile.TemporaryDirectory() as folder:
        r = subprocess.run([rdna3, *command[1:], "--", "true"], cwd=folder, capture_output=True, text=True, check=False)
        expect(r.returncode == 0 and os.path.exists(os.path.join(folder, "findings.xml")),
               f"{command}: {r.returncode} {r.stdout}{r.stderr}")


def script(what, source):
    build, runtime = container(source)
    print("set -eux\nexport DEBIAN_FRONTEND=noninteractive")
    print("\n".join(action(source)) if what == "action" else runs(build if what == "image" else runtime))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
