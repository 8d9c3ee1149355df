"""Vectors of transcendental functions: exact values to 60 digits, rounded once.

Where documents give one result for an input (powers of two, infinities, zeros, numbers
that are flushed) the row has that; elsewhere f32 results may be one unit off (manual
16.8), f64 estimates 2^29 units. The f16 forms are the f32 value rounded to f16: rows
where one unit of the f32 value would show in the f16 are left out.
"""
# SPDX-License-Identifier: MIT
from decimal import Decimal, getcontext
from fractions import Fraction

import fp
from emit import DEFAULT, File, Values, rows, spell
from fp import F16, F32, F64, Mode

getcontext().prec = 60
KEEP = 0x5a5a0000
LN2 = Decimal(2).ln()
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
NAN = fp.NAN


def dec(q):
    return Decimal(q.numerator) / Decimal(q.denominator)


def exp2(q):
    n = q.__floor__()
    return Fraction((dec(q - n) * LN2).exp()) * Fraction(2) ** n


def log2(q):
    return Fraction(dec(q).ln() / LN2)


def sine(q, shift):
    """sin(2 pi (q + shift / 4)) by its series, exactly reduced."""
    q = q + Fraction(shift, 4)
    q -= (q + Fraction(1, 2)).__floor__()
    if q in (0, Fraction(1, 2), Fraction(-1, 2)):
        return Fraction(0)
    t = dec(q) * 2 * PI
    term, total, k = t, t, 1
    while abs(term) > Decimal("1e-58"):
        term = -term * t * t / ((k + 1) * (k + 2))
        total += term
        k += 2
    return Fraction(total)


def root(q):
    return Fraction(dec(q).sqrt())


# ---- what each function does with the numbers that are no numbers --------------------

def signed(fmt, b, magnitude):
    return b & fmt.sign | magnitude


def special(fmt, name, b):
    """Result for NaN, infinities, zeros, negative numbers; None: a value is wanted."""
    neg, zero, inf = fmt.negative(b), fmt.zero(b), fmt.is_inf(b)
    one = fmt.bias << fmt.f
    if fmt.nan(b):
        return fmt.quiet(b)
    if name == "exp":
        return (0 if neg else fmt.inf) if inf else one if zero else None
    if name == "rcp":
        return signed(fmt, b, 0) if inf else signed(fmt, b, fmt.inf) if zero else None
    if name in ("sin", "cos"):
        return NAN if inf else b if zero and name == "sin" else one if zero else None
    if zero:
        return {"log": fmt.sign | fmt.inf, "rsq": signed(fmt, b, fmt.inf), "sqrt": b}[name]
    if neg:
        return NAN
    if inf:
        return 0 if name == "rsq" else b
    return None


VALUE = {"exp": exp2, "log": log2, "rcp": lambda q: 1 / q, "rsq": lambda q: 1 / root(q),
         "sqrt": root, "sin": lambda q: sine(q, 0), "cos": lambda q: sine(q, 1)}


def power_of_two(q):
    q = abs(q)
    return q.numerator & (q.numerator - 1) == 0 and q.denominator & (q.denominator - 1) == 0


def f32(name, b):
    """The f32 forms: denormals are flushed, in and out."""
    if name == "sin" and F32.denormal(b):
        raise fp.Unclear
    b = F32.flush(b)
    known = special(F32, name, b)
    if known is not None:
        return known
    q = F32.value(b)
    if name == "exp" and not -127 < q < 129:
        return 0 if q < 0 else F32.inf
    if name == "sin" and b & ~F32.sign < 0x39c00000:
        return F32.flush(F32.round(q * Fraction(0xc90fd5, 1 << 21), 0))
    v = VALUE[name](q)
    if name in ("sin", "cos") and (abs(v) < Fraction(1, 4) or abs(q) >= 256):
        raise fp.Unclear
    r = F32.round(v, 0)
    if r & ~F32.sign < 0x01000000 and r:
        raise fp.Unclear  # about where results are flushed
    exact = {"exp": q.denominator == 1, "log": power_of_two(q), "rcp": power_of_two(q),
             "rsq": power_of_two(q) and F32.value(r) == v, "sqrt": False,
             "sin": False, "cos": False}[name]
    return r if exact else f"{r:x}~{2 if name in ('sin', 'cos') else 1:x}"


def f16(name, b):
    known = special(F16, name, b)
    if known is not None:
        return known
    q = F16.value(b)
    if name == "exp" and abs(q) > 60:
        return 0 if q < 0 else F16.inf
    v = VALUE[name](q)
    r = F16.round(v, 0)
    if name in ("exp", "log"):
        return r
    if abs(v) < Fraction(1, 1 << 20) or (name in ("sin", "cos") and
                                         (abs(v) < Fraction(1, 4) or abs(q) >= 256)):
        raise fp.Unclear
    off = Fraction(2) ** (fp.floor_log2(abs(v)) - 22)
    if len({F16.round(v + k, 0) for k in (-off, 0, off)}) > 1:
        raise fp.Unclear
    return r


def f64(name, b):
    known = special(F64, name, b)
    if known is not None:
        return known
    r = F64.round(VALUE[name](F64.value(b)), 0)
    if F64.denormal(r) or F64.denormal(b):
        raise fp.Unclear
    return f"{r:x}~20000000"


def inputs(v, fmt, name, n):
    out = [t for t in v.floats(fmt, 1, n)]
    out += [((fmt.bias + k) << fmt.f | s * fmt.sign,) for k in range(-9, 8) for s in (0, 1)]
    if name in ("exp", "sin", "cos", "log"):
        for _ in range(n):
            e = fmt.bias + v.r.randint(-8, 4 if fmt is F16 else 6)
            s = 0 if name == "log" else v.r.getrandbits(1) * fmt.sign
            out.append((s | e << fmt.f | v.r.getrandbits(fmt.f),))
    if name == "log":  # near one
        out += [((fmt.bias << fmt.f) + k,) for k in (-300, -17, -3, -1, 1, 2, 5, 40, 333)]
    if name == "exp":
        out += [(fmt.round(Fraction(k), 0),) for k in (-14, -13, -3, 3, 7, 11, 13, 15)]
    return out


def family():
    out = File("transcendental functions")
    v = Values(5000)
    for name in VALUE:
        src = "manual 16.8"
        out.block(src, spell(f"v_{name}_f32", "v8, v0", "23dD"), ["v0"], ["v8"],
                  rows(inputs(v, F32, name, 40), lambda b, n=name: f32(n, b)))
        if name == "rcp":
            out.block(src, spell("v_rcp_iflag_f32", "v8, v0", "23dD"), ["v0"], ["v8"],
                      rows(inputs(v, F32, name, 20), lambda b: f32("rcp", b)))
        got = rows(inputs(v, F16, name, 40), lambda b, n=name: f16(n, b))
        got = [(g, (w | KEEP,)) for g, (w,) in got if isinstance(w, int)]
        out.block(src, spell(f"v_{name}_f16", "v8, v0", "23dD"), ["v0"], ["v8"], got)
        if name in ("rcp", "rsq", "sqrt"):
            out.block(src, spell(f"v_{name}_f64", "v[8:9], v[0:1]", "23"), ["v0:1"], ["v8:9"],
                      rows(inputs(v, F64, name, 12), lambda b, n=name: f64(n, b)))
    for mode in (0x300, 0x3ff, 0x30a):  # rounding never matters, f32 denormals neither
        for name in ("exp", "log", "rcp"):
            few = [(((F32.bias + k) << 23) | s << 31,) for k in (-20, -3, 0, 2, 5) for s in (0, 1)]
            few += [(0x807fffff,), (0x00000001,)]
            out.block("manual 7.2.4", [f"v_{name}_f32_e32 v8, v0"], ["v0"], ["v8"],
                      rows(few, lambda b, n=name: f32(n, b)), mode)
    return out
