"""Vectors of floating-point arithmetic, comparison, conversion."""
# SPDX-License-Identifier: MIT
from fractions import Fraction

import fp
from emit import DEFAULT, IDENTITY, MODES, File, Values, dual, rows, spell
from fp import F16, F32, F64, Mode

NAMES = {F16: "f16", F32: "f32", F64: "f64"}


def regs(fmt, n):
    """Operand text and columns of n sources and a destination."""
    if fmt is F64:
        text = ["v[8:9]"] + [f"v[{2 * i}:{2 * i + 1}]" for i in range(n)]
        return ", ".join(text), [f"v{2 * i}:{2 * i + 1}" for i in range(n)], "v8:9"
    return ", ".join(["v8"] + [f"v{i}" for i in range(n)]), \
        [f"v{i}" for i in range(n)], "v8"


def out_text(fmt, b):
    """A 16-bit result leaves the upper half of the destination as it was."""
    if fmt is not F16:
        return b
    if b == fp.NAN:
        return "*"
    return b


def two(source, out, fmt, name, f, seed, kinds, extra=(), modes=MODES, n=30):
    v = Values(seed)
    text, ins, dst = regs(fmt, 2)
    ops = spell(name, text, kinds) + list(extra)
    emit_modes(source, out, fmt, ops, ins, dst, f, v, 2, modes, n)


def emit_modes(source, out, fmt, ops, ins, dst, f, v, operands, modes, n):
    hi = 0x5a5a0000 if fmt is F16 else 0  # what test_vectors puts into destinations

    def wide(x):
        return x if isinstance(x, str) else x | hi

    def rows_of(values, mode):
        got = rows(values, lambda *a: wide(f(Mode(mode), *a)))
        return [r for r in got if not (fmt is F16 and r[1][0] == fp.NAN)]
    out.block(source, ops, ins, [dst], rows_of(v.floats(fmt, operands, n), DEFAULT))
    if fmt is not F64:
        literal(source, out, fmt, ops, ins, dst, lambda *a: wide(f(Mode(DEFAULT), *a)), v)
    for mode in modes:
        few = [t for t in v.floats(fmt, operands, 12, 4)
               if not any(fmt.snan(x) for x in t)]
        few = v.r.sample(few, min(len(few), 16))
        few += [tuple(v.near_tiny(fmt) for _ in range(operands)) for _ in range(8)]
        out.block(source, ops[:2], ins, [dst], rows_of(few, mode), mode)


def literal(source, out, fmt, ops, ins, dst, f, v):
    """A literal as first source."""
    k = {F16: 0x4123, F32: 0x40a12345}[fmt]
    ops = [o.replace(" v8, v0", f" v8, 0x{k:x}", 1) for o in ops
           if "dpp" not in o and "dual" not in o]
    rest = ins[1:]
    values = [tuple(v.number(fmt) for _ in rest) for _ in range(6 if rest else 1)]
    got = rows(values, lambda *a: f(k, *a))
    got = [r for r in got if r[1][0] != fp.NAN]
    out.block(source, ops, rest or ["v30"], [dst], [(g or (0,), w) for g, w in got])


def arithmetic(fmt, title, seed):
    out = File(title)
    n = NAMES[fmt]
    k2 = "23dD" if fmt is not F64 else "3"
    k3 = "3D" if fmt is not F64 else "3"

    def sub(m, a, b):
        return fp.add(fmt, m, a, b if fmt.nan(b) else fp.neg(fmt, b))

    def subrev(m, a, b):
        return fp.add(fmt, m, a if fmt.nan(a) else fp.neg(fmt, a), b)
    pair = {"add": lambda m, a, b: fp.add(fmt, m, a, b),
            "mul": lambda m, a, b: fp.mul(fmt, m, a, b),
            "min": lambda m, a, b: fp.minmax(fmt, m, a, b, False),
            "max": lambda m, a, b: fp.minmax(fmt, m, a, b, True)}
    if fmt is not F64:
        pair.update(sub=sub, subrev=subrev)
    for i, (op, f) in enumerate(pair.items()):
        extra = dual(f"v_dual_{op}_f32", "v8, v0, v1") if fmt is F32 else ()
        two("manual 16.7", out, fmt, f"v_{op}_{n}", f, seed + i, k2, extra)
    three = {"fma": lambda m, a, b, c: fp.fma(fmt, m, a, b, c)}
    if fmt is not F64:
        three.update(
            min3=lambda m, a, b, c: fp.chain3(fmt, m, a, b, c, False, False),
            max3=lambda m, a, b, c: fp.chain3(fmt, m, a, b, c, True, True),
            minmax=lambda m, a, b, c: fp.chain3(fmt, m, a, b, c, False, True),
            maxmin=lambda m, a, b, c: fp.chain3(fmt, m, a, b, c, True, False),
            med3=lambda m, a, b, c: fp.med3(fmt, m, a, b, c))
    text, ins, dst = regs(fmt, 3)
    for i, (op, f) in enumerate(three.items()):
        v = Values(seed + 100 + i)
        emit_modes("manual 16.12", out, fmt, spell(f"v_{op}_{n}", text, k3), ins, dst, f,
                   v, 3, MODES if op == "fma" else MODES[::5], 40)
    return out


def rounding(fmt, out, seed):
    n = NAMES[fmt]
    text, ins, dst = regs(fmt, 1)
    kinds = "23dD" if fmt is not F64 else "23"
    ops = {how: (lambda m, b, how=how: fp.integral(fmt, m, b, how))
           for how in ("floor", "ceil", "trunc", "rndne")}
    ops["fract"] = lambda m, b: fp.fract(fmt, m, b)
    ops["frexp_mant"] = lambda m, b: fp.frexp_mant(fmt, m, b)
    for i, (op, f) in enumerate(ops.items()):
        emit_modes("manual 16.8", out, fmt, spell(f"v_{op}_{n}", text, kinds), ins, dst, f,
                   Values(seed + i), 1, MODES[1::5], 40)
    if fmt is F16:
        return
    v = Values(seed + 50)
    rows_ = rows(v.floats(fmt, 1, 30),
                 lambda b: fp.frexp_exp(fmt, Mode(DEFAULT), b) & 0xffffffff)
    out.block("manual 16.8", spell(f"v_frexp_exp_i32_{n}",
                                   "v8, v[0:1]" if fmt is F64 else "v8, v0", kinds),
              ins, ["v8"], rows_)
    for mode in (DEFAULT, 0x300, 0x310, 0x3fd):
        numbers = [(b, k & 0xffffffff) for (b,) in v.floats(fmt, 1, 20)
                   for k in (v.r.randint(-40, 40), v.r.choice([0, 1, -1, 300, -300, 2000,
                                                               -2000, -150, -1074]))]
        signed = rows(numbers, lambda b, k: fp.ldexp(fmt, Mode(mode), b,
                                                     k - (k >> 31 << 32)))
        regs_ = "v[8:9], v[0:1], v2" if fmt is F64 else "v8, v0, v2"
        out.block("manual 16.12", spell(f"v_ldexp_{n}", regs_, "3D" if fmt is F32 else "3"),
                  [ins[0], "v2"], [dst], signed, mode)


def comparisons(fmt, title, seed):
    out = File(title)
    n = NAMES[fmt]
    wants = {"lt": "<", "eq": "=", "le": "<=", "gt": ">", "lg": "<>", "ge": ">=",
             "o": "<=>", "u": "u", "nge": "<u", "nlg": "=u", "ngt": "<=u", "nle": ">u",
             "neq": "<>u", "nlt": ">=u"}
    text = "v[0:1], v[2:3]" if fmt is F64 else "v0, v1"
    _, ins, _ = regs(fmt, 2)
    v = Values(seed)
    for op, want in wants.items():
        values = v.floats(fmt, 2, 16)
        values = v.r.sample(values, 60) + [(a, a) for (a,) in v.floats(fmt, 1, 0)][::2]
        spellings = [f"v_cmp_{op}_{n}_e32 $vcc, {text}", f"v_cmp_{op}_{n}_e64 $vcc, {text}"]
        if fmt is not F64:
            spellings += [f"v_cmp_{op}_{n}{e}_dpp $vcc, {text} {d}" for e in ("", "_e64")
                          for d in IDENTITY]
        for mode in (DEFAULT, 0x300, 0x3a0):
            got = rows(values, lambda a, b: int(fp.compare(fmt, Mode(mode), a, b) in want))
            out.block("manual 16.9", spellings, ins, ["vcc?"], got, mode)
            if mode == DEFAULT:
                out.block("manual 16.9", [o.replace("v_cmp_", "v_cmpx_").replace("$vcc, ", "")
                                          for o in spellings], ins, ["exec?"], got[:20])
            values = v.r.sample(values, 20)
        if fmt is F64:
            continue
        k = {F16: 0x3c12, F32: 0x3f812345}[fmt]
        got = rows([(b,) for _, b in values[:8]] + [(k,)],
                   lambda b: int(fp.compare(fmt, Mode(DEFAULT), k, b) in want))
        ops = [f"v_cmp_{op}_{n}{e} $vcc, 0x{k:x}, v1" for e in ("_e32", "_e64")]
        out.block("manual 16.9", ops, ["v1"], ["vcc?"], got)
        out.block("manual 16.9", [o.replace("v_cmp_", "v_cmpx_").replace("$vcc, ", "")
                                  for o in ops], ["v1"], ["exec?"], got)
    classes = [lambda b: fmt.snan(b), lambda b: fmt.nan(b) and not fmt.snan(b),
               lambda b: fmt.is_inf(b) and fmt.negative(b),
               lambda b: not special(b) and fmt.negative(b),
               lambda b: fmt.denormal(b) and fmt.negative(b),
               lambda b: b == fmt.sign, lambda b: b == 0,
               lambda b: fmt.denormal(b) and not fmt.negative(b),
               lambda b: not special(b) and not fmt.negative(b),
               lambda b: fmt.is_inf(b) and not fmt.negative(b)]

    def special(b):
        return fmt.nan(b) or fmt.is_inf(b) or fmt.zero(b) or fmt.denormal(b)
    values = [(b, 1 << k) for (b,) in v.floats(fmt, 1, 6) for k in range(10)]
    got = rows(values, lambda b, m: int(any(m >> k & 1 and c(b)
                                            for k, c in enumerate(classes))))
    text = "v[0:1], v2" if fmt is F64 else "v0, v1"
    out.block("manual 16.9", [f"v_cmp_class_{n}_e32 $vcc, {text}",
                              f"v_cmp_class_{n}_e64 $vcc, {text}"],
              [ins[0], "v2" if fmt is F64 else "v1"], ["vcc?"], got)
    return out


def modifiers():
    """Source modifiers, output modifiers, clamp, inline and literal constants in f32."""
    out = File("f32 modifiers: abs, neg, omod, clamp, constants")
    v = Values(900)

    def clamp(mode, b):
        if F32.nan(b):
            return 0 if mode.dx10 else b
        if F32.negative(b):
            return 0
        return min(b, 0x3f800000)

    def special_nan(b):
        return b == fp.NAN
    cases = [("-v0, v1", lambda a, b: (fp.neg(F32, a), b)),
             ("v0, -v1", lambda a, b: (a, fp.neg(F32, b))),
             ("|v0|, v1", lambda a, b: (a & 0x7fffffff, b)),
             ("-|v0|, |v1|", lambda a, b: (a | 0x80000000, b & 0x7fffffff))]
    for text, change in cases:
        for op, f in (("v_add_f32", fp.add), ("v_mul_f32", fp.mul)):
            got = rows(v.r.sample(v.floats(F32, 2, 20), 60),
                       lambda a, b: f(F32, Mode(DEFAULT), *change(a, b)))
            spellings = [f"{op}_e64 v8, {text}", f"{op}_e64_dpp v8, {text} "
                         "dpp8:[0,1,2,3,4,5,6,7]"]
            out.block("manual 7.2.1", spellings, ["v0", "v1"], ["v8"], got)
    for mode in (DEFAULT, 0x2f0, 0x300):
        got = []
        for (a, b) in v.r.sample(v.floats(F32, 2, 40), 80):
            r = fp.add(F32, Mode(mode), a, b)
            if special_nan(r):
                r = 0 if Mode(mode).dx10 else fp.NAN
            else:
                r = clamp(Mode(mode), r)
            got.append(((a, b), (r,)))
        out.block("manual 7.2.3", ["v_add_f32_e64 v8, v0, v1 clamp"], ["v0", "v1"], ["v8"],
                  got, mode)
    for text, scale in (("mul:2", 2), ("mul:4", 4), ("div:2", Fraction(1, 2))):
        got = []  # with denormals flushed; in the middle of the range
        for _ in range(40):
            a, b = ((v.r.getrandbits(1) << 31) | v.r.randint(100, 150) << 23 |
                    v.r.getrandbits(23) for _ in range(2))
            r = fp.mul(F32, Mode(0x100), a, b)
            got.append(((a, b), (F32.round(F32.value(r) * scale, 0),)))
        out.block("manual 7.2.3", [f"v_mul_f32_e64 v8, v0, v1 {text}"], ["v0", "v1"], ["v8"],
                  got, 0x100)
    constants = {"0": 0, "1": 1, "64": 64, "-1": 0xffffffff, "-16": 0xfffffff0,
                 "0.5": 0x3f000000, "-0.5": 0xbf000000, "1.0": 0x3f800000,
                 "-1.0": 0xbf800000, "2.0": 0x40000000, "-2.0": 0xc0000000,
                 "4.0": 0x40800000, "-4.0": 0xc0800000, "0.15915494": 0x3e22f983,
                 "0x12345678": 0x12345678, "0xff812345": 0xff812345}
    for text, bits in constants.items():
        got = rows(v.r.sample(v.floats(F32, 1, 20), 12),
                   lambda b: fp.add(F32, Mode(DEFAULT), bits, b))
        out.block("manual 5.7", [f"v_add_f32_e32 v8, {text}, v1",
                                 f"v_add_f32_e64 v8, {text}, v1"], ["v1"], ["v8"], got)
        out.block("manual 5.7", [f"v_xor_b32_e32 v8, {text}, v1"], ["v1"], ["v8"],
                  rows([(0x55aa33cc,)], lambda b: b ^ bits))
    dx9(out, v)
    return out


def dx9(out, v):
    """Zero times anything is zero."""
    def zero(b):
        return F32.zero(b)

    def mul(m, a, b):
        return 0 if zero(a) or zero(b) else fp.mul(F32, m, a, b)

    def fma(m, a, b, c):
        if zero(a) or zero(b):
            if F32.nan(c):
                raise fp.Unclear
            return fp.add(F32, m, 0, c) if not zero(c) else unclear()
        return fp.fma(F32, m, a, b, c)

    def unclear():
        raise fp.Unclear
    out.block("manual 16.7", spell("v_mul_dx9_zero_f32", "v8, v0, v1", "23dD") +
              dual("v_dual_mul_dx9_zero_f32", "v8, v0, v1"), ["v0", "v1"], ["v8"],
              rows(v.floats(F32, 2, 20), lambda a, b: mul(Mode(DEFAULT), a, b)))
    out.block("manual 16.12", spell("v_fma_dx9_zero_f32", "v8, v0, v1, v2", "3"),
              ["v0", "v1", "v2"], ["v8"],
              rows(v.floats(F32, 3, 20), lambda a, b, c: fma(Mode(DEFAULT), a, b, c)))
    for op in ("v_fmac_f32",):
        out.block("manual 16.7", spell(op, "v8, v0, v1", "23dD") +
                  dual("v_dual_fmac_f32", "v8, v0, v1"), ["v0", "v1", "v8"], ["v8"],
                  rows(v.floats(F32, 3, 40), lambda a, b, c: fp.fma(F32, Mode(DEFAULT), a, b, c)))
    k = 0x40490fdb
    got = rows(v.floats(F32, 2, 20), lambda a, b: fp.fma(F32, Mode(DEFAULT), a, k, b))
    out.block("manual 16.7", ["v_fmamk_f32 v8, v0, 0x40490fdb, v1"] +
              dual("v_dual_fmamk_f32", "v8, v0, 0x40490fdb, v1"), ["v0", "v1"], ["v8"], got)
    got = rows(v.floats(F32, 2, 20), lambda a, b: fp.fma(F32, Mode(DEFAULT), a, b, k))
    out.block("manual 16.7", ["v_fmaak_f32 v8, v0, v1, 0x40490fdb"] +
              dual("v_dual_fmaak_f32", "v8, v0, v1, 0x40490fdb"), ["v0", "v1"], ["v8"], got)


DIVIDE_F32 = """v_div_scale_f32 v10, $s20, v1, v1, v0;v_rcp_f32 v11, v10;
v_fma_f32 v12, -v10, v11, 1.0;v_fma_f32 v11, v12, v11, v11;
v_div_scale_f32 v13, $vcc, v0, v1, v0;v_mul_f32 v14, v13, v11;
v_fma_f32 v12, -v10, v14, v13;v_fma_f32 v14, v12, v11, v14;v_fma_f32 v12, -v10, v14, v13;
v_div_fmas_f32 v12, v12, v11, v14;v_div_fixup_f32 v8, v12, v1, v0"""
DIVIDE_F64 = """v_div_scale_f64 v[10:11], $s20, v[2:3], v[2:3], v[0:1];
v_rcp_f64 v[12:13], v[10:11];v_fma_f64 v[14:15], -v[10:11], v[12:13], 1.0;
v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13];
v_fma_f64 v[14:15], -v[10:11], v[12:13], 1.0;
v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13];
v_div_scale_f64 v[16:17], $vcc, v[0:1], v[2:3], v[0:1];
v_mul_f64 v[18:19], v[16:17], v[12:13];
v_fma_f64 v[14:15], -v[10:11], v[18:19], v[16:17];
v_div_fmas_f64 v[14:15], v[14:15], v[12:13], v[18:19];
v_div_fixup_f64 v[8:9], v[14:15], v[2:3], v[0:1]"""


def divisions():
    """Whole division macros give the correctly rounded quotient."""
    out = File("division macros, as compilers emit them: correctly rounded quotients")

    def quotient(fmt, a, b):
        if fmt.nan(a) or fmt.nan(b):
            return fp.NAN
        sign = fmt.negative(a) != fmt.negative(b)
        s = fmt.sign if sign else 0
        if fmt.is_inf(a):
            return fp.NAN if fmt.is_inf(b) else s | fmt.inf
        if fmt.zero(b):
            return fp.NAN if fmt.zero(a) else s | fmt.inf
        if fmt.is_inf(b):
            return s
        return fmt.round(fmt.value(a) / fmt.value(b), 0, sign)
    v = Values(700)
    for fmt, text in ((F32, DIVIDE_F32), (F64, DIVIDE_F64)):
        values = v.floats(fmt, 2, 200)
        for _ in range(100):  # the whole range of exponents
            values.append(tuple(v.r.getrandbits(fmt.bits) for _ in range(2)))
        _, ins, dst = regs(fmt, 2)
        out.block("manual 16.12", [text.replace("\n", "")], ins, [dst],
                  rows(values, lambda a, b: quotient(fmt, a, b)))
    return out
