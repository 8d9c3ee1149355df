"""Cycles that the layers of the house must not have.

    includes   folders of source files; an edge where a file of one includes a file of the
               other, found as the compiler finds it (compile_commands.json)
    calls      object files of the program loader; an edge where one uses a symbol that the
               other defines (nm)

cycles.allow lists what still is in a cycle; a cycle that has anything else in it is wrong.
"""
# SPDX-License-Identifier: MIT
import json
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ALLOW = os.path.join(HERE, "cycles.allow")
PARTS = ("isa", "emulator", "library", "driver", "compiler", "tools")
# The program loader and what it leans on: by file, wherever they live.
LOADER = re.compile(r"/(excp|fault|jump|program|region|access|address|describe|block|join|trap|"
                    r"predecode\w*|uop\w*)\.c$")


def components(edges):
    """Strongly connected components of {node: {node: why}} with more than one node."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        work = [(node, iter(edges.get(node, ())))]
        order[node] = low[node] = len(order)
        stack.append(node)
        while work:
            at, rest = work[-1]
            for to in rest:
                if to not in order:
                    order[to] = low[to] = len(order)
                    stack.append(to)
                    work.append((to, iter(edges.get(to, ()))))
                    break
                if to in stack:
                    low[at] = min(low[at], order[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[at])
                if low[at] == order[at]:
                    i = stack.index(at)
                    if len(stack) - i > 1:
                        found.append(sorted(stack[i:]))
                    del stack[i:]

    for node in sorted(edges):
        if node not in order:
            visit(node)
    return sorted(found)


def commands(build):
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        return json.load(f)


def include_dirs(build, root):
    """Folder of sources to the include path of what is compiled there, in order."""
    dirs = {}
    for c in commands(build):
        folder = os.path.dirname(os.path.relpath(c["file"], root))
        seen = dirs.setdefault(folder, [])
        seen += [d for d in re.findall(r"-I ?(\S+)", c["command"]) if d not in seen]
    return dirs


def find(name, folder, root, dirs):
    """The file that a file of the folder gets for #include "name", below root; or None."""
    for d in [os.path.join(root, folder), *dirs]:
        path = os.path.join(d, name)
        if os.path.exists(path):
            path = os.path.relpath(os.path.realpath(path), os.path.realpath(root))
            return None if path.startswith("..") else path
    return None


def include_edges(build, root, names):
    dirs, edges = include_dirs(build, root), {}
    for file in names:
        folder = os.path.dirname(file)
        if folder.split("/")[0] not in PARTS:
            continue
        above = folder
        while above and above not in dirs:  # a folder of headers: as its parent sees them
            above = os.path.dirname(above)
        with open(os.path.join(root, file), encoding="utf-8") as f:
            wanted = re.findall(r'^\s*#\s*include\s+"([^"]+)"', f.read(), re.M)
        for name in wanted:
            found = find(name, folder, root, dirs.get(above, ()))
            to = os.path.dirname(found) if found else folder
            if to != folder and to.split("/")[0] in PARTS:
                edges.setdefault(folder, {}).setdefault(to, f"{file} includes {found}")
    return edges


def symbols(objects, *options):
    out = subprocess.run(["nm", "-A", *options, *objects], capture_output=True, text=True,
                         check=True).stdout
    for line in out.splitlines():
        path, rest = line.rsplit(":", 1)
        yield path, rest.split()[-1]


def call_edges(build, root):
    objects = {}
    for c in commands(build):
        source = os.path.relpath(c["file"], root)
        if source.startswith("emulator/") and (
                LOADER.search(source) or source.startswith("emulator/program/")):
            path = os.path.join(c["directory"], re.search(r" -o (\S+)", c["command"])[1])
            if os.path.exists(path):
                objects[path] = source
    if not objects:
        return {}
    defined = {name: objects[path]
               for path, name in symbols(objects, "-g", "--defined-only")}
    edges = {}
    for path, name in symbols(objects, "-u"):
        to = defined.get(name)
        if to and to != objects[path]:
            edges.setdefault(objects[path], {}).setdefault(to, f"{objects[path]} uses {name}")
    return edges


def allowed(path):
    """Lines "KIND NAME", and # comments."""
    if not os.path.exists(path):
        return set()
    with open(path, encoding="utf-8") as f:
        return {tuple(line.split()) for line in f if line.strip() and line[0] != "#"}


def report(kind, edges, excused, say=print):
    """Cycles outside the list, as lines; what the list excuses is printed."""
    inside = components(edges)
    for nodes in inside:
        names = {(kind, n) for n in nodes}
        if names <= excused:
            say(f"{kind} cycle, allowed until cycles.allow is empty: {' '.join(nodes)}")
            continue
        yield f"{kind} cycle: {' '.join(nodes)}"
        for a in nodes:
            for b in nodes:
                if b in edges.get(a, ()):
                    yield f"    {a} -> {b}: {edges[a][b]}"
    cyclic = {n for nodes in inside for n in nodes}
    for name in sorted(n for k, n in excused if k == kind and n not in cyclic):
        say(f"{kind} {name} is in no cycle any more: take it off cycles.allow")


def check(build, root, names, excused=None):
    excused = allowed(ALLOW) if excused is None else excused
    yield from report("include", include_edges(build, root, names), excused)
    calls = call_edges(build, root)
    if not calls:
        yield "no object file of the program loader: build first"
    yield from report("call", calls, excused)


def functions(root, names, most):
    """Functions whose bodies, braces included, are longer than that."""
    for name in names:
        with open(os.path.join(root, name), encoding="utf-8") as f:
            lines = f.read().split("\n")
        start = None
        for number, line in enumerate(lines, 1):
            if line == "{":
                start = number
            elif line.startswith("}") and start:
                if number - start + 1 > most:
                    head = next((l for l in reversed(lines[max(0, start - 6):start - 1])
                                 if re.match(r"\w.*\(", l)), "?")
                    yield (f"{name}:{start}: {number - start + 1} lines, at most {most}: "
                           f"{head.strip()}")
                start = None
