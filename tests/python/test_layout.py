"""The structs of _lib.py lie as the C compiler lays them out (tests/library/layout.txt), and
its functions exist. SPDX-License-Identifier: MIT"""
import ctypes
import os
import re
import sys

from rdna3 import _lib

root = sys.argv[1]
bad = 0
with open(os.path.join(root, "tests/library/layout.txt"), encoding="utf-8") as f:
    rows = {m[1]: (int(m[2]), m[3].split()) for m in re.finditer(
        r"struct rdna3_(\w+) (\d+):(.*)", f.read())}
for name, cls in _lib.STRUCTS.items():
    size, fields = rows[name]
    mine = [f"{field[0]}@{getattr(cls, field[0]).offset}" for field in cls._fields_]
    if ctypes.sizeof(cls) != size or mine != fields:
        print(f"struct {name}: {ctypes.sizeof(cls)} {mine}, in C {size} {fields}")
        bad += 1
with open(os.path.join(root, "library/rdna3.symbols"), encoding="utf-8") as f:
    symbols = f.read().split()
bad += sum("rdna3_" + name not in symbols for name in _lib.FUNCTIONS)
print(f"{len(_lib.STRUCTS)} structs, {len(_lib.FUNCTIONS)} functions, {bad} wrong")
sys.exit(1 if bad or len(_lib.STRUCTS) < 20 else 0)
