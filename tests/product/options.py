#!/usr/bin/env python3
"""Every option that a command parses is in its --help, and every one in --help is parsed.

    options.py RDNA3 SOURCE_FOLDER

The tables of getopt_long are read from the sources of the command.
SPDX-License-Identifier: MIT
"""
import glob
import os
import re
import sys

sys.dont_write_bytecode = True
ROOT = sys.argv[2]
sys.path.insert(0, os.path.join(ROOT, "packaging", "pages"))
import helptext  # noqa: E402

# Command: the files with its tables (check lies beside exec), and what its macros bring.
FILES = {"check": ["exec/check.c"], "exec": ["exec/exec.c"], "trace": ["trace/trace.c", "trace/timeline.c"]}
ROW = re.compile(r'\{\s*"([a-z][a-z0-9-]*)",\s*(no|required|optional)_argument')


def table(name):
    texts = [open(os.path.join(ROOT, "tools", path), encoding="utf-8").read()
             for path in FILES.get(name, [f"{name}/{name}.c"])]
    if "KERNEL_LONG_OPTIONS" in texts[0]:
        texts.append(open(os.path.join(ROOT, "tools/kernel/kernel.h"), encoding="utf-8").read())
    return {"--" + row[0]: row[1] for text in texts for row in ROW.findall(text)}


def main():
    bad, seen = [], 0
    for name, _ in helptext.commands(sys.argv[1]):
        told = helptext.Help(helptext.ask(sys.argv[1], name, "--help")).options()
        parsed = table(name)
        seen += len(parsed)
        bad += [f"rdna3 {name} {o} is not in --help" for o in parsed if o not in told
                and o != "--output"]  # -o is told
        bad += [f"rdna3 {name} {o} is in --help and not parsed" for o in told
                if o.startswith("--") and o not in parsed]
        bad += [f"rdna3 {name} {o}: --help {'names' if told[o] else 'misses'} a value"
                for o, kind in parsed.items()
                if o in told and bool(told[o]) != (kind == "required")]
    print("\n".join(bad))
    print(f"{seen} options, {len(bad)} told otherwise")
    return 1 if bad or seen < 100 or not glob.glob(os.path.join(ROOT, "tools", "*")) else 0


if __name__ == "__main__":
    sys.exit(main())
