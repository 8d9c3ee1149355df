"""The control of cycles.py and rooms.py: planted cycles and a function too long are found, and a tree
without them is clean.

usage: selftest.py CC"""
# SPDX-License-Identifier: MIT
import json
import os
import subprocess
import sys
import tempfile

import cycles
import rooms

TREE = {
    "isa/a.h": "#ifndef A\n#define A\nint a(void);\n#endif\n",
    "emulator/program/program.c": '#include "a.h"\nint jump(void);\nint program(void);\n'
                                  "int program(void)\n{\n    return a() + jump();\n}\n",
    "emulator/program/jump.c": "int jump(void);\nint jump(void)\n{\n    return 1;\n}\n",
    "isa/a.c": '#include "a.h"\nint a(void)\n{\n    return 2;\n}\n',
    "emulator/p.h": "#ifndef P\n#define P\nint program(void);\n#endif\n",
}
CYCLES = {
    "isa/a.h": '#ifndef A\n#define A\n#include "../emulator/program/q.h"\nint a(void);\n#endif\n',
    "emulator/program/q.h": "#ifndef Q\n#define Q\n#endif\n",
    "emulator/program/jump.c": "int jump(void);\nint program(void);\nint jump(void)\n{\n"
                               "    return program();\n}\n",
    "isa/a.c": '#include "a.h"\nint a(void)\n{\n' + "    ;\n" * 90 + "    return 2;\n}\n",
}


def look(cc, tree):
    with tempfile.TemporaryDirectory() as root:
        commands = []
        for name, text in tree.items():
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="ascii") as f:
                f.write(text)
        for name in (n for n in tree if n.endswith(".c")):
            command = f"{cc} -I{root}/isa -o {name}.o -c {root}/{name}"
            subprocess.run(command.split(), check=True, cwd=root)
            commands.append({"file": os.path.join(root, name), "directory": root,
                             "command": command})
        with open(os.path.join(root, "compile_commands.json"), "w", encoding="ascii") as f:
            json.dump(commands, f)
        return (list(cycles.check(root, root, list(tree), set())),
                list(cycles.functions(root, [n for n in tree if n.endswith(".c")], 80)))


def look_at_rooms():
    """A runtime that sees the GPU, and words in the GPU that do not belong there."""
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, "include/gpu"))
        with open(os.path.join(root, "include/gpu/gpu.h"), "w", encoding="ascii"):
            pass
        commands = [{"file": f"{root}/driver/runtime/copy.c",
                     "command": f"cc -I{root}/include/gpu -c copy.c"}]
        seen = [line for line in rooms.layers(commands, root) if "must not" in line]
        seen += rooms.words("driver/gpu/x.c", 'p = (void *)(uintptr_t)va;\ngetenv("X");\n')
        clean = list(rooms.words("driver/gpu/vm.c", "p = (void *)(uintptr_t)va;\n"))
        return len(seen) == 3 and not clean


def main():
    clean, short = look(sys.argv[1], TREE)
    found, long = look(sys.argv[1], TREE | CYCLES)
    ok = (not clean and not short and len(long) == 1 and
          "include cycle: emulator/program isa" in found and
          "call cycle: emulator/program/jump.c emulator/program/program.c" in found)
    if not look_at_rooms():
        print("rooms.py finds no planted violation")
        return 1
    if not ok:
        print(clean, short, found, long, sep="\n")
    return not ok


if __name__ == "__main__":
    sys.exit(main())
