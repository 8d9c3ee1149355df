"""Vectors of the dot-product unit: v_dot2*, and float matrix products.

One step is C + a0*b0 + a1*b1 as measured on silicon: all terms are cut to a grid, added
in one's complement in the frame of C's sign, and rounded once (source: hardware; see
emulator/sem/dot2.h for where it was measured). "dots exact" is the same with two's
complement. This file does it with Python's integers and fractions.
"""
# SPDX-License-Identifier: MIT
from fractions import Fraction

import fp
from emit import DEFAULT, IDENTITY, File, Values
from fp import F16, F32, Format
from ints import s

BF16 = Format(8, 7)
KEEP = 0x5a5a0000
NAN_FACTOR, INVALID = 0xffc00a3d, 0xffc00000


class Skip(Exception):
    """No document says what comes out."""


def exponent(fmt, b):
    """Of a factor: that of its leading one, a denormal's is the least."""
    return max((b & ~fmt.sign) >> fmt.f, 1) - fmt.bias


def factor(fmt, b):
    """Value, sign, exponent (None for zero)."""
    if fmt is BF16:
        b = fmt.flush(b)
    zero = fmt.zero(b)
    return (0 if zero else fmt.value(b)), fmt.negative(b), None if zero else exponent(fmt, b)


def product(fmt, a, b):
    x, y = factor(fmt, a), factor(fmt, b)
    both = None if x[2] is None or y[2] is None else x[2] + y[2]
    return x[0] * y[0], x[1] != y[1], both


def step(fmt, out, a, b, c, exact):
    """a, b: pairs of factors; c, result: bits of out."""
    if any(fmt.nan(x) for x in a + b):
        if out is F32:
            return NAN_FACTOR
        raise Skip
    infinite = [(fmt.negative(x) != fmt.negative(y)) for x, y in zip(a, b)
                if fmt.is_inf(x) or fmt.is_inf(y)]
    bad = any((fmt.is_inf(x) and factor(fmt, y)[2] is None) or
              (fmt.is_inf(y) and factor(fmt, x)[2] is None) for x, y in zip(a, b))
    if bad or len(set(infinite)) > 1 or out.nan(c) or \
            (infinite and out.is_inf(c) and out.negative(c) != infinite[0]):
        if out is F32 and not out.nan(c):
            return INVALID
        raise Skip
    if infinite:
        return out.inf | (out.sign if infinite[0] else 0)
    if out.is_inf(c):
        return c
    return finite(fmt, out, a, b, c, exact)


def finite(fmt, out, a, b, c, exact):
    terms = [product(fmt, x, y) for x, y in zip(a, b)]
    cv = 0 if out is not F16 and out.denormal(c) else out.value(c)
    leads = [fp.floor_log2(abs(v)) for v in [cv] + [t[0] for t in terms] if v]
    if out is F16:
        leads.append(-14)
    grids = [t[2] - 24 for t in terms if t[2] is not None] + [k - 26 for k in leads]
    if not grids:
        return 0
    unit = Fraction(2) ** max(grids)
    total = int(abs(cv) / unit)
    for value, negative, _ in terms:
        m = int(abs(value) / unit)
        total += m if negative == out.negative(c) else -m if exact else ~m
    v = total * unit * (-1 if out.negative(c) else 1)
    if v == 0:
        return 0
    if out is F16:
        r = F16.round(v, fp.NEAREST)
        return r if r & 0x7fff else 0
    least = Fraction(2) ** -126
    e = fp.floor_log2(abs(v))
    wide = Format(12, 23).round(v, fp.NEAREST)  # as if exponents had no end
    if e < -126 and abs(Format(12, 23).value(wide)) < least:
        return 0
    r = F32.round(v, fp.NEAREST)
    return r >> 16 if out is BF16 else r


# ---- rows ---------------------------------------------------------------------------

def number(v, fmt, spread):
    """Factors whose exponents are not too far apart, so that the grid matters."""
    k = v.r.random()
    if k < 0.06:
        return v.r.choice([0, fmt.sign, 1, fmt.inf - 1, fmt.bias << fmt.f])
    e = fmt.bias + v.r.randint(-spread, spread)
    return v.r.getrandbits(1) * fmt.sign | max(e, 0) << fmt.f | v.r.getrandbits(fmt.f)


def quintuple(v, fmt, out):
    spread = v.r.choice([1, 3, 8, 13 if fmt is F16 else 30])
    f = [number(v, fmt, spread) for _ in range(4)]
    if v.r.random() < 0.25:  # the products cancel, or nearly
        f[2], f[3] = f[0] ^ fmt.sign, f[1] ^ v.r.choice([0, 0, 1])
    if v.r.random() < 0.15:  # C is about minus the sum
        total = sum(fmt.value(fmt.flush(f[i])) * fmt.value(fmt.flush(f[i + 1])) for i in (0, 2)
                    if not any(fmt.is_inf(x) or fmt.nan(x) for x in f))
        c = out.round(-total, fp.ZERO) if abs(total) < 60000 else 0
    else:
        c = number(v, out, spread + 4 if out is not F16 else min(spread + 4, 13))
    return f, c


def pairs(v, fmt, out, n, exact):
    """Rows (a, b, c) -> d of packed registers."""
    got = []
    special = [0, fmt.sign, fmt.inf, fmt.sign | fmt.inf, fmt.bias << fmt.f, 1,
               fmt.sign | fmt.quiet_bit | fmt.inf]
    for i in range(n):
        f, c = quintuple(v, fmt, out)
        if i % 6 == 5:
            f = [v.r.choice(special) for _ in range(4)]
            c = v.r.choice([0, out.inf, out.sign | out.inf, out.bias << out.f, out.sign])
        try:
            d = step(fmt, out, (f[0], f[2]), (f[1], f[3]), c, exact)
        except Skip:
            continue
        got.append(((f[0] | f[2] << 16, f[1] | f[3] << 16, c), d))
    return got


def family():
    out = File("dot products of f16 and bf16 pairs")
    v = Values(6000)
    for how, src in (("silicon", "hardware"), ("exact", "model: hardware, two's complement")):
        out.dots(how)
        products(out, v, src, how == "exact")
    return out


def products(out, v, src, exact):
    ins = ["v0", "v1", "v2"]
    for fmt, name in ((F16, "f16"), (BF16, "bf16")):
        got = [(t, (d,)) for t, d in pairs(v, fmt, F32, 200, exact)]
        op = f"v_dot2_f32_{name}"
        ops = [f"{op} v8, v0, v1, v2"]
        if fmt is F16:
            ops += [f"{op}_e64_dpp v8, v0, v1, v2 {d}" for d in IDENTITY]
        out.block(src, ops, ins, ["v8"], got)
        for mode in (0x300, 0x3cf):  # MODE has no influence
            out.block(src, ops[:1], ins, ["v8"], got[:60:3], mode)
        acc = [f"v_dual_dot2acc_f32_{name} v8, v0, v1 :: v_dual_mov_b32 v9, v3",
               f"v_dual_mov_b32 v9, v3 :: v_dual_dot2acc_f32_{name} v8, v0, v1"]
        if fmt is F16:
            acc += ["v_dot2acc_f32_f16 v8, v0, v1"]
            acc += [f"v_dot2acc_f32_f16_dpp v8, v0, v1 {d}" for d in IDENTITY]
        out.block(src, acc, ["v0", "v1", "v8"], ["v8"], got[:90])
        modified(out, src, op, got)
        got = [((a, b, c), (d | KEEP,)) for (a, b, c), d in pairs(v, fmt, fmt, 200, exact)]
        op = f"v_dot2_{name}_{name}"
        out.block(src, [f"{op} v8, v0, v1, v2"] + [f"{op}_e64_dpp v8, v0, v1, v2 {d}"
                                                  for d in IDENTITY], ins, ["v8"], got)
        if fmt is F16:  # FP16_OVFL: infinities only where a factor or C is one
            few = []
            for _ in range(40):
                f = [v.r.choice((0x7bff, 0xfbff, 0x7000, 0x5c00, 0x7c00, 0x3c00)) for _ in range(4)]
                c = v.r.choice((0, 0x7bff, 0xfbff, 0x7c00))
                try:
                    d = step(F16, F16, (f[0], f[2]), (f[1], f[3]), c, exact)
                except Skip:
                    continue
                if F16.is_inf(d) and 0x7c00 not in f + [c]:
                    d -= 1
                few.append(((f[0] | f[2] << 16, f[1] | f[3] << 16, c), (d | KEEP,)))
            out.block(src, [f"{op} v8, v0, v1, v2"], ins, ["v8"], few, 0x8003f0)
        # compilers fold signs of whole pairs into the modifiers
        flip = 0x80008000
        got = [((t[0] ^ flip, t[1], t[2] ^ 0x8000), d) for t, d in got if not t[1] & flip]
        out.block("model: LLVM's use", [f"{op} v8, -v0, |v1|, -v2",
                                        f"{op}_e64_dpp v8, -v0, |v1|, -v2 {IDENTITY[0]}"], ins,
                  ["v8"], got)
        got = [((t[0], t[1] | v.r.choice((0, 0x8000, flip, 1 << 31)), t[2]), d) for t, d in got]
        out.block("model: LLVM's use", [f"{op} v8, -v0, |v1|, -v2"], ins, ["v8"], got)


def modified(out, src, op, got):
    """Negations of halves and of C; halves exchanged."""
    flip, swap = 0x8000, lambda x: (x >> 16 | x << 16) & 0xffffffff
    rows_ = [((t[0] ^ flip, t[1] ^ flip << 16, t[2]), d) for t, d in got[:50]]
    out.block(src, [f"{op} v8, v0, v1, v2 neg_lo:[1,0,0] neg_hi:[0,1,0]"],
              ["v0", "v1", "v2"], ["v8"], rows_)
    if "bf16" not in op:
        rows_ = [((swap(t[0]), t[1], t[2]), d) for t, d in got[50:100]]
        out.block(src, [f"{op} v8, v0, v1, v2 op_sel:[1,0,0] op_sel_hi:[0,1,1]"],
                  ["v0", "v1", "v2"], ["v8"], rows_)


# ---- matrices -----------------------------------------------------------------------

def multiply(fmt, out, a, b, c, exact):
    d = [row[:] for row in c]
    for i in range(16):
        for j in range(16):
            for k in range(0, 16, 2):
                d[i][j] = step(fmt, out, (a[i][k], a[i][k + 1]), (b[k][j], b[k + 1][j]),
                               d[i][j], exact)
    return d


def matrices():
    out = File("float matrix products")
    v = Values(6100)
    kinds = [("f32", "f16", F16, F32), ("f32", "bf16", BF16, F32), ("f16", "f16", F16, F16),
             ("bf16", "bf16", BF16, BF16)]
    for how in ("silicon", "exact"):
        out.dots(how)
        for kind in kinds:
            matrix(out, v, kind, how == "exact")
    out.dots("silicon")
    for name, bits in (("iu8", 8), ("iu4", 4)):
        integers64(out, v, name, bits)
    return out


def integers64(out, v, name, bits):
    """Integer products in wave64: register r has rows 4 r to 4 r + 3; A is signed."""
    a, b = ([[v.r.getrandbits(bits) for _ in range(16)] for _ in range(16)] for _ in range(2))
    c = [[v.r.choice([0x7fffff00, 0x80000100, v.integer(32)]) for _ in range(16)] for _ in range(16)]
    per, given, wanted = 32 // bits, {}, {}
    for first, m in ((0, a), (8, b)):
        for r in range(16 // per):
            given[f"v{first + r}"] = [sum(m[lane % 16][r * per + k] << bits * k for k in range(per))
                                      for lane in range(64)]
    for r in range(4):
        at = [(4 * r + lane // 16, lane % 16) for lane in range(64)]
        given[f"v{16 + r}"] = [c[i][j] for i, j in at]
        wanted[f"v{24 + r}"] = []
        for i, j in at:
            d = s(c[i][j], 32) + sum(s(a[i][k], bits) * b[j][k] for k in range(16))
            wanted[f"v{24 + r}"].append(max(-1 << 31, min((1 << 31) - 1, d)) & 0xffffffff)
    last = 16 // per - 1
    out.wave("manual 7.9", [f"v_wmma_i32_16x16x16_{name} v[24:27], v[0:{last}], v[8:{8 + last}], "
                            "v[16:19] neg_lo:[1,0,0] clamp"], given, wanted, lanes=64)


def matrix(out, v, kind, exact):
    for d_name, name, fmt, to in (kind,):
        op = f"v_wmma_{d_name}_16x16x16_{name}"
        for case in range(3 if to is F32 else 2):
            spread = (1, 5, 2)[case]
            a, b = ([[number(v, fmt, spread) for _ in range(16)] for _ in range(16)]
                    for _ in range(2))
            c = [[number(v, to, spread + 3) for _ in range(16)] for _ in range(16)]
            if case == 2 and to is F32:
                a[3][5], b[9][7], c[12][12] = fmt.inf, fmt.inf | fmt.sign, F32.inf
                b[9] = [x if x & ~fmt.sign else 0x3c00 for x in b[9]]
            half = 0 if to is F32 else case
            lanes = 64 if (case + half // 2 + exact) % 2 else 32
            wave(out, v, op, fmt, to, (a, b, c), half, lanes, exact)


def wave(out, v, op, fmt, to, abc, half, lanes, exact):
    a, b, c = abc
    try:
        d = multiply(fmt, to, a, b, c, exact)
    except Skip:
        return
    per = 8 * 32 // lanes
    given, wanted = {}, {}
    for r in range(8):
        given[f"v{r}"] = [a[l % 16][2 * r] | a[l % 16][2 * r + 1] << 16 for l in range(32)]
        given[f"v{8 + r}"] = [b[2 * r][l % 16] | b[2 * r + 1][l % 16] << 16 for l in range(32)]
    for r in range(per):
        at = [divmod(r * lanes + l, 16) for l in range(lanes)]
        rest = [v.r.getrandbits(16) if to is not F32 else 0 for _ in at]
        old = [v.r.getrandbits(16) if to is not F32 else 0 for _ in at]
        shift = 16 * half
        given[f"v{16 + r}"] = [c[i][j] << shift | x << 16 - shift for (i, j), x in zip(at, rest)]
        if to is F32:
            wanted[f"v{24 + r}"] = [d[i][j] for i, j in at]
            given[f"v{16 + r}"] = [c[i][j] for i, j in at]
        else:
            given[f"v{24 + r}"] = old
            wanted[f"v{24 + r}"] = [d[i][j] << shift | (x & 0xffff0000 >> shift)
                                    for (i, j), x in zip(at, old)]
    n = per - 1
    neg = ""
    if half or exact:  # signs of A, of B's odd elements and of C, turned back by modifiers
        neg = " neg_lo:[1,0,1] neg_hi:[1,1,0]"
        sign = 1 << 31 if to is F32 else 0x8000 << 16 * half
        for r in range(8):
            given[f"v{r}"] = [x ^ 0x80008000 for x in given[f"v{r}"]]
            given[f"v{8 + r}"] = [x ^ 0x80000000 for x in given[f"v{8 + r}"]]
        for r in range(per):
            given[f"v{16 + r}"] = [x ^ sign for x in given[f"v{16 + r}"]]
    sel = " op_sel:[0,0,1]" if half else ""
    out.wave("model: hardware, two's complement" if exact else "hardware", [f"{op} v[24:{24 + n}], v[0:7], v[8:15], v[16:{16 + n}]{sel}{neg}"],
             given, wanted, lanes=lanes)
