"""Writes vector files; makes input values and spellings of instructions."""
# SPDX-License-Identifier: MIT
import random

import fp

IDENTITY = ("quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf", "dpp8:[0,1,2,3,4,5,6,7]")

SPECIAL = {
    fp.F16: [0x0000, 0x8000, 0x0001, 0x83ff, 0x0400, 0x8400, 0x3c00, 0xbc00, 0x3800,
             0x3c01, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe12, 0x7c01, 0x6400,
             0x4248, 0xb555],
    fp.F32: [0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000, 0x80800000,
             0x3f800000, 0xbf800000, 0x3f000000, 0x3f800001, 0x7f7fffff, 0xff7fffff,
             0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001, 0x4b7fffff,
             0x4f000000, 0xcf000000, 0x3effffff, 0x40490fdb],
    fp.F64: [0x0, 0x8000000000000000, 0x1, 0x800fffffffffffff, 0x0010000000000000,
             0x3ff0000000000000, 0xbff0000000000000, 0x3fe0000000000000,
             0x3ff0000000000001, 0x7fefffffffffffff, 0xffefffffffffffff,
             0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
             0xfff8123456789abc, 0x7ff0000000000001, 0x41dfffffffc00000,
             0x433fffffffffffff, 0x400921fb54442d18, 0x3ca0000000000000],
}

SPECIAL_INT = [0, 1, 2, 31, 32, 33, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000,
               0x7fffff, 0x800000, 0xffffff, 0x7fffffff, 0x80000000, 0xffffffff,
               0xfffffffe, 0xaaaaaaaa, 0x12345678]

MODES = [0x300 | r | r << 2 | d << 4 | d << 6 for d in range(4) for r in range(4)]
DEFAULT = 0x3f0


class Values:
    """Random inputs, the same in every run."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def number(self, fmt):
        """A float near one, rarely anything."""
        if self.r.random() < 0.2:
            return self.r.getrandbits(fmt.bits)
        e = fmt.bias + self.r.randint(-fmt.f // 2 - 3, fmt.f // 2 + 3)
        e = max(0, min((1 << fmt.e) - 2, e))
        f = self.r.getrandbits(fmt.f)
        if self.r.random() < 0.3:
            f &= -1 << self.r.randint(0, fmt.f)
        return self.r.getrandbits(1) << fmt.bits - 1 | e << fmt.f | f

    def near_tiny(self, fmt):
        """Factors whose products are about as small as numbers get."""
        e = fmt.bias // 2 + self.r.randint(-3, 3)
        return self.r.getrandbits(1) << fmt.bits - 1 | e << fmt.f | \
            self.r.getrandbits(fmt.f)

    def integer(self, bits):
        k = self.r.random()
        if k < 0.35:
            return self.r.choice(SPECIAL_INT) & (1 << bits) - 1
        if k < 0.6:
            return self.r.getrandbits(self.r.randint(1, bits))
        return self.r.getrandbits(bits)

    def floats(self, fmt, operands, n, crossed=12):
        """Tuples: special values against one another, then random ones."""
        s = SPECIAL[fmt]
        out = []
        if operands == 1:
            out = [(x,) for x in s]
        elif operands == 2:
            picked = s[:6] + s[6:8] + s[10:16]
            out = [(a, b) for a in picked for b in picked][::max(1, 196 // (crossed * crossed))]
        else:
            out = [tuple(self.r.choice(s) for _ in range(operands)) for _ in range(crossed * 8)]
        for _ in range(n):
            t = [self.number(fmt) for _ in range(operands)]
            if operands == 3 and self.r.random() < 0.4:  # cancellation
                t[2] = fp.neg(fmt, fp.mul(fmt, fp.Mode(DEFAULT), t[0], t[1])) \
                    if not any(fmt.nan(x) or fmt.is_inf(x) for x in t[:2]) else t[2]
                t[2] = t[2] if isinstance(t[2], int) else 0
            out.append(tuple(t))
        return out


class File:
    """One .vec file."""

    def __init__(self, title):
        self.lines = ["# " + title, "# Written by oracle/generate.py; do not edit.",
                      "# SPDX-License-Identifier: MIT"]
        self.state = {}
        self.blocks = []  # arguments of block(), for forms.py

    def say(self, key, value):
        if self.state.get(key) != value:
            self.state[key] = value
            self.lines.append(f"{key} {value}" if value else key)

    def dots(self, how):
        """Which sums of float dot products the blocks that follow are for."""
        self.say("dots", how)

    def block(self, source, ops, ins, outs, rows, mode=DEFAULT, kind="per lane", lanes=0,
              sets=None):
        """rows: (inputs, outputs); a number is written as wide as its column."""
        self.blocks.append((source, ops, ins, outs, rows, mode, kind, lanes, sets))
        self.say("source", source)
        self.say("mode", f"{mode:x}")
        self.say("lanes", str(lanes))
        if self.state.get("kind") != kind:
            self.state["kind"] = kind
            self.lines.append(kind)
        self.lines.append("op " + " | ".join(ops))
        for name, values in (sets or {}).items():
            self.lines.append(f"set {name} = " + " ".join(hexed(x) for x in values))
        if ins:
            self.lines.append("in " + " ".join(ins))
        self.lines.append("out " + " ".join(outs))
        for given, wanted in rows:
            self.lines.append(" ".join(hexed(v) for v in given) + " = " +
                              " ".join(hexed(v) for v in wanted))

    def wave(self, source, ops, given, wanted, mode=DEFAULT, lanes=0):
        """given, wanted: register -> list of values."""
        self.say("source", source)
        self.say("mode", f"{mode:x}")
        self.say("lanes", str(lanes))
        if self.state.get("kind") != "whole wave":
            self.state["kind"] = "whole wave"
            self.lines.append("whole wave")
        self.lines.append("op " + " | ".join(ops))
        for sign, registers in ("=", given), ("==", wanted):
            for name, values in registers.items():
                self.lines.append(f"set {name} {sign} " + " ".join(hexed(v) for v in values))

    def text(self):
        return "\n".join(self.lines) + "\n"


def hexed(v):
    return v if isinstance(v, str) else f"{v:x}"


def rows(inputs, f):
    """Rows for which the rules say what comes out."""
    out = []
    for given in inputs:
        try:
            wanted = f(*given)
        except fp.Unclear:
            continue
        out.append((given, wanted if isinstance(wanted, tuple) else (wanted,)))
    return out


def spell(op, operands, kinds):
    """All encodings of an instruction: 2 (32 bits), 3 (VOP3), d (DPP of it), D (of VOP3)."""
    out = []
    if "2" in kinds:
        out.append(f"{op}_e32 {operands}")
    if "3" in kinds:
        out.append(f"{op}_e64 {operands}" if "2" in kinds else f"{op} {operands}")
    for dpp in IDENTITY:
        if "d" in kinds:
            out.append(f"{op}_dpp {operands} {dpp}")
        if "D" in kinds:
            out.append(f"{op}_e64_dpp {operands} {dpp}")
    return out


def dual(op, operands, other="v_dual_mov_b32 v9, v3"):
    """Both halves of a VOPD."""
    return [f"{op} {operands} :: {other}", f"{other} :: {op} {operands}"]
