"""Vectors of modifiers with modes: neg, abs, omod, clamp, op_sel of all float types, under
rounding, denormal, IEEE, DX10_CLAMP and FP16_OVFL settings (manual 7.2.2, 7.2.3, 3.4.3)."""
# SPDX-License-Identifier: MIT
from fractions import Fraction

import fp
from emit import IDENTITY, File, Values
from fp import F16, F32, F64, Mode

OLD = 0x5a5a123c
NAMES = {F16: "f16", F32: "f32", F64: "f64"}
OPS = {
    "add": (2, lambda f, m, a, b: fp.add(f, m, a, b)),
    "mul": (2, lambda f, m, a, b: fp.mul(f, m, a, b)),
    "fma": (3, lambda f, m, a, b, c: fp.fma(f, m, a, b, c)),
    "min": (2, lambda f, m, a, b: fp.minmax(f, m, a, b, False)),
    "max": (2, lambda f, m, a, b: fp.minmax(f, m, a, b, True)),
    "med3": (3, lambda f, m, a, b, c: fp.med3(f, m, a, b, c)),
    "max3": (3, lambda f, m, a, b, c: fp.chain3(f, m, a, b, c, True, True)),
    "minmax": (3, lambda f, m, a, b, c: fp.chain3(f, m, a, b, c, False, True)),
    "floor": (1, lambda f, m, a: fp.integral(f, m, a, "floor")),
    "fract": (1, lambda f, m, a: fp.fract(f, m, a)),
    "frexp_mant": (1, lambda f, m, a: fp.frexp_mant(f, m, a)),
    "sub": (2, lambda f, m, a, b: fp.add(f, m, a, b if f.nan(b) else fp.neg(f, b))),
}
EXACT = ("min", "max", "med3", "max3", "minmax", "floor", "frexp_mant")


def overflow(f, m, r, inputs):
    """FP16_OVFL: an overflow gives the largest number, infinities among inputs stay."""
    if f is F16 and m.ovfl and isinstance(r, int) and f.is_inf(r) and \
            not any(f.is_inf(x) for x in inputs):
        return r & f.sign | f.inf - 1
    return r


def omod_active(f, m, k):
    return k and not m.ieee and not m.keep_out(f)


def finish(f, m, r, omod, clamp):
    """omod, then clamp; r is the rounded result."""
    if r == fp.NAN or f.nan(r):
        if clamp:
            return 0 if m.dx10 else r
        return r
    if omod_active(f, m, omod):
        if f.denormal(r):
            raise fp.Unclear
        if not f.is_inf(r):
            scale = {1: Fraction(2), 2: Fraction(4), 3: Fraction(1, 2)}[omod]
            v = f.value(r) * scale
            if abs(v) >= Fraction(2) ** f.bias * 2 or \
                    0 < abs(v) < Fraction(2) ** f.emin:
                raise fp.Unclear  # overflow after omod; flushing of what it made small
            r = f.round(v, 0)
        if f.zero(r):
            r = 0
    if clamp:
        if f.negative(r):
            return 0
        return min(r, f.bias << f.f)
    return r


MODES = (0x3f0, 0x300, 0x100, 0x000, 0x0f0, 0x2f0, 0x13f, 0x035, 0x0cf, 0x14a, 0x3ff)
NO_SEL = ("minmax", "fract", "floor", "frexp_mant")  # as the assembler has it
OMOD = ("", " mul:2", " mul:4", " div:2")


def operand(f, i):
    return f"v[{2 * i}:{2 * i + 1}]" if f is F64 else f"v{i}"


def columns(f, n):
    return [f"v{2 * i}:{2 * i + 1}" if f is F64 else f"v{i}" for i in range(n)]


def blocks(out, v, f):
    ops = [o for o in OPS if f is not F64 or o not in ("med3", "max3", "minmax", "sub")]
    for name in ops:
        n, fun = OPS[name]
        for mode in v.r.sample(MODES, 4) + [0x800100 | v.r.choice((0, 0xf0))] * (f is F16):
            m = Mode(mode)
            omod = v.r.randint(0, 3) if not mode & 0x200 or v.r.random() < 0.3 else 0
            clamp = v.r.random() < 0.5
            neg = [v.r.getrandbits(1) for _ in range(n)]
            absolute = [v.r.getrandbits(1) for _ in range(n)]
            high = [v.r.getrandbits(1) if f is F16 else 0 for _ in range(n + 1)]
            if f is F16 and n == 3 or v.r.random() < 0.7:
                pass
            one_block(out, v, (f, name, n, fun, m, omod, clamp, neg, absolute, high), mode)


def one_block(out, v, what, mode):
    f, name, n, fun, m, omod, clamp, neg, absolute, high = what
    text = []
    for i in range(n):
        t = operand(f, i)
        t = f"|{t}|" if absolute[i] else t
        text.append(f"-{t}" if neg[i] else t)
    dst = "v[8:9]" if f is F64 else "v8"
    sel = ""
    if name in NO_SEL:
        high = [0] * (n + 1)
    if f is F16 and any(high):
        sel = f" op_sel:[{','.join(str(h) for h in high)}]"
    tail = sel + (" clamp" if clamp else "") + OMOD[omod]
    suffix = "_e64" if n < 3 and not (f is F64 and name in ("add", "mul", "min", "max")) else ""
    base = f"v_{name}_{NAMES[f]}"
    ops = [f"{base}{suffix} {dst}, {', '.join(text)}{tail}"]
    if f is not F64:
        ops += [f"{base}_e64_dpp {dst}, {', '.join(text)}{tail} {d}" for d in IDENTITY[:1]]
    got = []
    values = v.floats(f, n, 14, 3)
    values = v.r.sample(values, min(26, len(values)))
    if mode >> 23:
        big = [f.inf - 1, f.inf, f.sign | f.inf - 1, (f.bias + 12) << f.f, 0x7a00]
        values += [tuple(v.r.choice(big) for _ in range(n)) for _ in range(8)]
    for t in values:
        if any(f.snan(x) for x in t):
            continue
        given = [x & ~f.sign if a else x for x, a in zip(t, absolute)]
        given = [x ^ (f.sign if k else 0) for x, k in zip(given, neg)]
        try:
            r = fun(f, m, *given)
            r = overflow(f, m, r, given) if name not in EXACT else r
            r = finish(f, m, r, omod, clamp)
        except fp.Unclear:
            continue
        if f is F16:
            if r == fp.NAN:
                continue
            r = OLD & 0xffff | r << 16 if high[n] else OLD & 0xffff0000 | r
            t = tuple(x << 16 | v.r.getrandbits(16) if h else x | v.r.getrandbits(16) << 16
                      for x, h in zip(t, high))
        got.append((t, (r,)))
    if got:
        out.block("manual 7.2.3", ops, columns(f, n), ["v8:9" if f is F64 else "v8"], got, mode)


# ---- conversions with modifiers ------------------------------------------------------

def conversions(out, v):
    def widen(m, b, clamp):
        b = b if m.keep_in(F16) else F16.flush(b)
        r = F32.inf | b << 13 & 0x7fe000 | 0x400000 if F16.nan(b) else \
            F32.inf if F16.is_inf(b) else F32.round(abs(F16.value(b)), 0)
        return finish(F32, m, r | (b & 0x8000) << 16, 0, clamp)

    def narrow(m, b, clamp):
        b = b if m.keep_in(F32) else F32.flush(b)
        if F32.nan(b):
            r = 0x7e00 | b >> 13 & 0x3ff | b >> 16 & 0x8000
        elif F32.is_inf(b):
            r = b >> 16 & 0x8000 | 0x7c00
        else:
            r = overflow(F16, m, fp.finish(F16, m, (F32.value(b), F32.negative(b))), [])
        return OLD & 0xffff0000 | finish(F16, m, r, 0, clamp)
    for mode in MODES + (0x8003f0, 0x800100):
        m = Mode(mode)
        for clamp in (0, 1):
            tail = " clamp" if clamp else ""
            few = [t for t in v.floats(F16, 1, 8) if not F16.snan(t[0])]
            few = v.r.sample(few, 14)
            got = []
            for (b,) in few:
                given = b & 0x7fff ^ 0x8000
                got.append(((b,), (widen(m, given, clamp),)))
            out.block("manual 7.2.3", [f"v_cvt_f32_f16_e64 v8, -|v0|{tail}"], ["v0"], ["v8"], got,
                      mode)
            few = [t for t in v.floats(F32, 1, 8) if not F32.snan(t[0])]
            few += [(v.r.getrandbits(1) << 31 | v.r.randint(100, 145) << 23 | v.r.getrandbits(23),)
                    for _ in range(10)]
            got = []
            for (b,) in v.r.sample(few, 16):
                try:
                    got.append(((b,), (narrow(m, b ^ 1 << 31, clamp),)))
                except fp.Unclear:
                    pass
            out.block("manual 7.2.3", [f"v_cvt_f16_f32_e64 v8, -v0{tail}"], ["v0"], ["v8"], got, mode)


# ---- fma_mix with everything ---------------------------------------------------------

def mixed(out, v):
    """Sources f32, or an f16 half; neg_hi is abs; f16 results take one or the other half."""
    for op in ("v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16"):
        for _ in range(8):
            mode = v.r.choice((0x3f0, 0x300, 0x1f0, 0x3ff, 0x3c0))
            m = Mode(mode)
            half = [v.r.getrandbits(1) for _ in range(3)]
            hi = [v.r.getrandbits(1) & h for h in half]
            neg = [v.r.getrandbits(1) for _ in range(3)]
            absolute = [v.r.getrandbits(1) for _ in range(3)]
            clamp = v.r.getrandbits(1)
            text = [("-" if neg[i] else "") + (f"|v{i}|" if absolute[i] else f"v{i}")
                    for i in range(3)]
            line = f"{op} v8, {', '.join(text)} op_sel:{hi} op_sel_hi:{half}".replace(", ", ",") \
                .replace("v8,", "v8, ").replace("op_sel:", " op_sel:").replace("  ", " ")
            line += " clamp" if clamp else ""
            got = []
            for _ in range(16):
                row, given = [], []
                for i in range(3):
                    if half[i]:
                        h = v.number(F16)
                        h = 0x3c00 if h & 0x7c00 in (0, 0x7c00) else h
                        row.append(h << 16 | v.r.getrandbits(16) if hi[i]
                                   else h | v.r.getrandbits(16) << 16)
                        x = F32.round(F16.value(h), 0)
                    else:
                        x = v.number(F32)
                        x = 0x3f800000 if x & F32.inf in (0, F32.inf) else x
                        x = x & 0x80ffffff | 0x3f000000 if op != "v_fma_mix_f32" else x
                        row.append(x)
                    x = x & 0x7fffffff if absolute[i] else x
                    given.append(x ^ neg[i] << 31)
                try:
                    both = Mode(mode & ~3 | mode >> 2 & 3) if op != "v_fma_mix_f32" else m
                    r = fp.fma(F32, both, *given)
                    if isinstance(r, str) or F32.is_inf(r):
                        continue
                    if op == "v_fma_mix_f32":
                        r = finish(F32, m, r, 0, clamp)
                    else:
                        r = fp.finish(F16, m, (F32.value(r), F32.negative(r)))
                        r = finish(F16, m, r, 0, clamp)
                        r = OLD & 0xffff | r << 16 if "hi" in op else OLD & 0xffff0000 | r
                except fp.Unclear:
                    continue
                got.append((tuple(row), (r,)))
            ops = [line, line.replace(" v8", "_e64_dpp v8", 1) + " " + IDENTITY[1]]
            out.block("manual 16.10", ops, ["v0", "v1", "v2"], ["v8"], got, mode)


def tiny_clamped(out, v):
    """MODE flushes denormal inputs, keeps denormal results: clamp is none of the inputs."""
    for f, fields in ((F32, 2 << 4), (F64, 2 << 6), (F16, 2 << 6)):
        m = Mode(0x300 | fields)
        got = []
        for _ in range(24):
            t = tuple(v.near_tiny(f) for _ in range(2))
            r = finish(f, m, fp.mul(f, m, *t), 0, 1)
            got.append((t, (r | (OLD & 0xffff0000 if f is F16 else 0),)))
        dst = "v[8:9]" if f is F64 else "v8"
        out.block("manual 7.2.4", [f"v_mul_{NAMES[f]}{'' if f is F64 else '_e64'} {dst}, "
                                   f"{operand(f, 0)}, {operand(f, 1)} clamp"], columns(f, 2),
                  ["v8:9" if f is F64 else "v8"], got, m.bits)


def packed(out, v):
    """v_pk_* f16: halves chosen and negated one by one, clamp, modes."""
    for name in ("add", "mul", "min", "max", "fma"):
        n, fun = OPS[name]
        for mode in v.r.sample(MODES, 3) + [0x800100, 0x8003f0]:
            m = Mode(mode)
            pick = [[v.r.getrandbits(1) for _ in range(n)] for _ in range(2)]
            neg = [[v.r.getrandbits(1) for _ in range(n)] for _ in range(2)]
            clamp = v.r.getrandbits(1)
            mods = "".join(f" {k}:[{','.join(map(str, x))}]" for k, x in (
                ("op_sel", pick[0]), ("op_sel_hi", pick[1]), ("neg_lo", neg[0]), ("neg_hi", neg[1])))
            regs = ", ".join(f"v{i}" for i in range(n))
            got = []
            for _ in range(24):
                t = [v.number(F16) | v.number(F16) << 16 for _ in range(n)]
                if mode >> 23 and v.r.random() < 0.4:
                    t = [v.r.choice((0x7bff, 0x7bff0000, 0x7bff7bff, 0xfbff7c00)) for _ in range(n)]
                result = []
                try:
                    for h in range(2):
                        x = [t[i] >> 16 * pick[h][i] & 0xffff ^ neg[h][i] << 15 for i in range(n)]
                        if any(F16.snan(b) for b in x):
                            raise fp.Unclear
                        r = fun(F16, m, *x)
                        r = overflow(F16, m, r, x) if name not in EXACT else r
                        r = finish(F16, m, r, 0, clamp)
                        if r == fp.NAN:
                            raise fp.Unclear
                        result.append(r)
                except fp.Unclear:
                    continue
                got.append((tuple(t), (result[0] | result[1] << 16,)))
            out.block("manual 16.10", [f"v_pk_{name}_f16 v8, {regs}{mods}" +
                                       (" clamp" if clamp else "")],
                      [f"v{i}" for i in range(n)], ["v8"], got, mode)


# ---- integer clamp: the exact result, saturated (manual 7.2.3.1) ---------------------

def bytes4(f, a, b):
    return sum(f(a >> 8 * i & 255, b >> 8 * i & 255) for i in range(4))


def integers(out, v):
    def u(n):
        return n, 0, (1 << n) - 1

    def i(n):
        return n, -1 << n - 1, (1 << n - 1) - 1

    def masked(x, y):
        return abs(x - y) if y else 0
    sad = {"v_sad_u8": lambda a, b, c: c + bytes4(lambda x, y: abs(x - y), a, b),
           "v_sad_hi_u8": lambda a, b, c: c + (bytes4(lambda x, y: abs(x - y), a, b) << 16),
           "v_msad_u8": lambda a, b, c: c + bytes4(masked, a, b),
           "v_sad_u16": lambda a, b, c: c + abs((a & 0xffff) - (b & 0xffff)) +
           abs((a >> 16) - (b >> 16)),
           "v_sad_u32": lambda a, b, c: c + abs(a - b)}
    for name, f in sad.items():
        values = [(v.integer(32), v.integer(32), v.r.choice((0xffffffff, 0xfffffe00, 5,
                                                             v.integer(32)))) for _ in range(20)]
        out.block("manual 7.2.3.1", [f"{name} v8, v0, v1, v2 clamp"], ["v0", "v1", "v2"], ["v8"],
                  [(t, (min(f(*t), 0xffffffff),)) for t in values])
    three = {"v_mad_u16": (u(16), u(16), lambda a, b, c: a * b + c),
             "v_mad_i16": (i(16), i(16), lambda a, b, c: a * b + c),
             "v_mad_u32_u24": (u(24), u(32), lambda a, b, c: a * b + c),
             "v_mad_i32_i24": (i(24), i(32), lambda a, b, c: a * b + c),
             "v_mad_u32_u16": (u(16), u(32), lambda a, b, c: a * b + c),
             "v_mad_i32_i16": (i(16), i(32), lambda a, b, c: a * b + c)}
    two = {"v_add_nc_u16": (u(16), lambda a, b: a + b), "v_sub_nc_u16": (u(16), lambda a, b: a - b),
           "v_add_nc_i16": (i(16), lambda a, b: a + b), "v_sub_nc_i16": (i(16), lambda a, b: a - b),
           "v_subrev_nc_u32_e64": (u(32), lambda a, b: b - a)}

    def number(kind, raw):
        bits, low, _ = kind
        raw &= (1 << bits) - 1
        return raw - (1 << bits) if low and raw >> bits - 1 else raw

    def emit(name, kinds, to, f, dst="v8"):
        got = []
        for _ in range(24):
            raw = [v.integer(32) if v.r.random() < 0.6 else
                   v.r.choice((0x7fffffff, 0x80000000, 0x7fff, 0x8000, 0xffff)) for _ in kinds]
            r = max(to[1], min(to[2], f(*(number(k, x) for k, x in zip(kinds, raw)))))
            r &= (1 << to[0]) - 1
            got.append((tuple(raw), (r | (OLD & 0xffff0000 if to[0] == 16 else 0),)))
        regs = ", ".join(f"v{n}" for n in range(len(kinds)))
        out.block("manual 7.2.3.1", [f"{name} {dst}, {regs} clamp"],
                  [f"v{n}" for n in range(len(kinds))], ["v8"], got)
    for name, (src, to, f) in three.items():
        emit(name, (src, src, to), to, f)
    for name, (kind, f) in two.items():
        emit(name, (kind, kind), kind, f)
    for name, f, limit in (("add", lambda a, b, c: a + b + c, 0xffffffff),
                           ("sub", lambda a, b, c: a - b - c, 0),
                           ("subrev", lambda a, b, c: b - a - c, 0)):
        values = [(v.integer(32), v.integer(32), c) for _ in range(10) for c in (0, 1)]

        def row(t, c):
            r = f(t[0], t[1], c)
            over = not 0 <= r <= 0xffffffff
            return limit if over else r, int(over)
        out.block("manual 7.2.3.1", [f"v_{name}_co_ci_u32_e64 v8, $s20, v0, v1, $s22 clamp"],
                  ["v0", "v1", "s22?"], ["v8", "s20?"], [(t, row(t, t[2])) for t in values])
        out.block("manual 7.2.3.1", [f"v_{name}_co_u32 v8, $s20, v0, v1 clamp"], ["v0", "v1"],
                  ["v8", "s20?"], [(t[:2], row(t, 0)) for t in values])
    for name, n, f in (("add_i16", 2, lambda a, b: a + b), ("sub_i16", 2, lambda a, b: a - b),
                       ("add_u16", 2, lambda a, b: a + b), ("sub_u16", 2, lambda a, b: a - b),
                       ("mad_i16", 3, lambda a, b, c: a * b + c),
                       ("mad_u16", 3, lambda a, b, c: a * b + c)):
        kind = i(16) if "i16" in name else u(16)
        got = []
        for _ in range(24):
            raw = [v.integer(32) for _ in range(n)]
            r = 0
            for h in (0, 16):
                x = f(*(number(kind, t >> h) for t in raw))
                r |= (max(kind[1], min(kind[2], x)) & 0xffff) << h
            got.append((tuple(raw), (r,)))
        regs = ", ".join(f"v{k}" for k in range(n))
        out.block("manual 7.2.3.1", [f"v_pk_{name} v8, {regs} clamp"], [f"v{k}" for k in range(n)],
                  ["v8"], got)
    got = []
    for _ in range(30):
        a, b, c = v.integer(32), v.integer(32), v.r.choice((v.integer(64), (1 << 64) - 5))
        r = a * b + c
        got.append(((a, b, c), (min(r, (1 << 64) - 1), r >> 64)))
    out.block("manual 7.2.3.1", ["v_mad_u64_u32 v[8:9], $s20, v0, v1, v[2:3] clamp"],
              ["v0", "v1", "v2:3"], ["v8:9", "s20?"], got)


def family():
    out = File("modifiers and modes of all float types")
    v = Values(9000)
    for f in (F16, F32, F64):
        blocks(out, v, f)
    conversions(out, v)
    mixed(out, v)
    packed(out, v)
    integers(out, v)
    tiny_clamped(out, v)
    return out
