"""Vectors of conversions, packed f16 and mixed precision."""
# SPDX-License-Identifier: MIT
from fractions import Fraction

import fp
from emit import DEFAULT, File, Values, rows, spell
from fp import F16, F32, F64, Mode
from ints import M16, M32, s

KEEP = 0x5a5a0000
ROUNDS = [0x3f0 | r | r << 2 for r in range(4)] + [0x300, 0x310, 0x350, 0x3a0]


def conversions():
    out = File("conversions between formats")
    v = Values(3000)

    def block(name, ins, dst, text, f, values, kinds="23dD", modes=(DEFAULT,)):
        for mode in modes:
            got = rows(values, lambda *t, mode=mode: f(Mode(mode), *t))
            out.block("manual 16.8", spell(name, text, kinds)[:None if mode == DEFAULT else 1],
                      ins, [dst], got, mode)
    f32, f64, f16 = (v.floats(f, 1, 40) for f in (F32, F64, F16))
    i32 = [(v.integer(32),) for _ in range(40)]
    block("v_cvt_f32_i32", ["v0"], "v8", "v8, v0", lambda m, a: fp.from_int(F32, m, s(a, 32)), i32,
          modes=ROUNDS[:4])
    block("v_cvt_f32_u32", ["v0"], "v8", "v8, v0", lambda m, a: fp.from_int(F32, m, a), i32,
          modes=ROUNDS[:4])
    block("v_cvt_f64_i32", ["v0"], "v8:9", "v[8:9], v0",
          lambda m, a: fp.from_int(F64, m, s(a, 32)), i32, "23")
    block("v_cvt_f64_u32", ["v0"], "v8:9", "v[8:9], v0", lambda m, a: fp.from_int(F64, m, a), i32,
          "23")
    for name, low, high in (("i32", -1 << 31, (1 << 31) - 1), ("u32", 0, M32)):
        edge = [(x,) for x in (0x4f000000, 0xcf000000, 0xcf000001, 0x4effffff, 0x4f7fffff,
                               0x4f800000, 0xbf7fffff, 0xbf800001)]
        block(f"v_cvt_{name}_f32", ["v0"], "v8", "v8, v0",
              lambda m, a, low=low, high=high: fp.to_int(F32, m, a, low, high) & M32, f32 + edge,
              modes=(DEFAULT, 0x300))
        block(f"v_cvt_{name}_f64", ["v0:1"], "v8", "v8, v[0:1]",
              lambda m, a, low=low, high=high: fp.to_int(F64, m, a, low, high) & M32, f64, "23")
    for name, low, high in (("i16", -32768, 32767), ("u16", 0, M16)):
        block(f"v_cvt_{name}_f16", ["v0"], "v8", "v8, v0",
              lambda m, a, low=low, high=high: fp.to_int(F16, m, a, low, high) & M16 | KEEP, f16)
    block("v_cvt_f16_i16", ["v0"], "v8", "v8, v0",
          lambda m, a: fp.from_int(F16, m, s(a, 16)) | KEEP, i32, modes=ROUNDS[:4])
    block("v_cvt_f16_u16", ["v0"], "v8", "v8, v0",
          lambda m, a: fp.from_int(F16, m, a & M16) | KEEP, i32, modes=ROUNDS[:4])
    block("v_cvt_f32_f16", ["v0"], "v8", "v8, v0", lambda m, a: fp.convert(F32, F16, m, a), f16,
          modes=(DEFAULT, 0x330))
    half = f32 + [(v.r.getrandbits(1) << 31 | v.r.randint(98, 145) << 23 | v.r.getrandbits(23),)
                  for _ in range(30)]
    half += [(x,) for x in (0x477fe000, 0x477fefff, 0x477ff000, 0x33000000, 0x33000001, 0x38800000,
                            0x387fe000, 0x387ff000, 0x38801000, 0x38803000)]
    block("v_cvt_f16_f32", ["v0"], "v8", "v8, v0", lambda m, a: fp.convert(F16, F32, m, a) | KEEP,
          half, modes=[0x3f0 | r << 2 for r in range(4)] + [0x330, 0x3c0])
    block("v_cvt_f64_f32", ["v0"], "v8:9", "v[8:9], v0", lambda m, a: fp.convert(F64, F32, m, a), f32,
          "23", modes=(DEFAULT, 0x3e0))
    narrow = f64 + [(v.r.getrandbits(1) << 63 | v.r.randint(870, 1152) << 52 | v.r.getrandbits(52),)
                    for _ in range(40)]
    block("v_cvt_f32_f64", ["v0:1"], "v8", "v8, v[0:1]", lambda m, a: fp.convert(F32, F64, m, a),
          narrow, "23", modes=ROUNDS[:4])
    for i in range(4):
        block(f"v_cvt_f32_ubyte{i}", ["v0"], "v8", "v8, v0",
              lambda m, a, i=i: fp.from_int(F32, m, a >> 8 * i & 255), i32[:12])
    block("v_cvt_off_f32_i4", ["v0"], "v8", "v8, v0",
          lambda m, a: F32.round(Fraction(s(a, 4), 16), 0), [(x,) for x in range(16)] + i32[:4])

    def floor_i32(m, a):
        if F32.nan(a):
            return 0
        if F32.is_inf(a):
            return 1 << 31 if F32.negative(a) else (1 << 31) - 1
        return max(-1 << 31, min((1 << 31) - 1, F32.value(a).__floor__())) & M32
    block("v_cvt_floor_i32_f32", ["v0"], "v8", "v8, v0", floor_i32, f32)
    pairs(out, v, half)
    return out


def pairs(out, v, half):
    two = [(a, b) for (a,), (b,) in zip(half, half[7:] + half[:7])]

    def both(f):
        return lambda a, b: f(a) & M16 | (f(b) & M16) << 16
    m = Mode(DEFAULT)

    def norm(fmt, x, signed):
        """Scaled, rounded to nearest even, saturated."""
        if fmt.nan(x):
            return 0
        top = 32767 if signed else 65535
        low = -top if signed else 0
        if fmt.is_inf(x):
            return low if fmt.negative(x) else top
        return max(low, min(top, (fmt.value(x) * top).__round__()))
    table = {
        "v_cvt_pk_rtz_f16_f32": both(lambda a: fp.convert(F16, F32, m, a, fp.ZERO)),
        "v_cvt_pk_i16_f32": both(lambda a: fp.to_int(F32, m, a, -32768, 32767)),
        "v_cvt_pk_u16_f32": both(lambda a: fp.to_int(F32, m, a, 0, M16)),
        "v_cvt_pk_norm_i16_f32": both(lambda a: norm(F32, a, True)),
        "v_cvt_pk_norm_u16_f32": both(lambda a: norm(F32, a, False)),
    }
    for name, f in table.items():
        kinds = "23dD" if name == "v_cvt_pk_rtz_f16_f32" else "3D"
        out.block("manual 16.12", spell(name, "v8, v0, v1", kinds), ["v0", "v1"], ["v8"],
                  rows(two, f))
    f16 = [(a, b) for (a,) in v.floats(F16, 1, 10) for b in (0x3c00, v.number(F16))]
    for name, signed in (("i16", True), ("u16", False)):
        out.block("manual 16.12", spell(f"v_cvt_pk_norm_{name}_f16", "v8, v0, v1", "3D"),
                  ["v0", "v1"], ["v8"], rows(f16, both(lambda a, k=signed: norm(F16, a, k))))
        one = [(a,) for a, _ in f16]
        out.block("manual 16.8", spell(f"v_cvt_norm_{name}_f16", "v8, v0", "23dD"), ["v0"], ["v8"],
                  rows(one, lambda a, k=signed: norm(F16, a, k) & M16 | KEEP))
    out.block("manual 16.12", spell("v_pack_b32_f16", "v8, v0, v1", "3D"), ["v0", "v1"], ["v8"],
              rows([t for t in f16 if not any(F16.snan(x) for x in t)], lambda a, b: a | b << 16))


def packed():
    """Packed f16 and fma_mix."""
    out = File("packed f16, mixed-precision fused multiply-add")
    v = Values(3100)
    m = Mode(DEFAULT)

    def half(x, hi):
        return x >> 16 if hi else x & M16

    def pack(lo, hi):
        if fp.NAN in (lo, hi):
            raise fp.Unclear
        return lo | hi << 16
    two = {"add": lambda m, a, b: fp.add(F16, m, a, b), "mul": lambda m, a, b: fp.mul(F16, m, a, b),
           "min": lambda m, a, b: fp.minmax(F16, m, a, b, False),
           "max": lambda m, a, b: fp.minmax(F16, m, a, b, True)}
    selects = (("", (0, 0), (1, 1)), (" op_sel:[1,0] op_sel_hi:[0,1]", (1, 0), (0, 1)),
               (" op_sel:[0,1] op_sel_hi:[0,0]", (0, 1), (0, 0)))
    for name, f in two.items():
        for text, lo, hi in selects:
            values = [(v.number(F16) | v.number(F16) << 16, v.number(F16) | v.number(F16) << 16)
                      for _ in range(30)]
            values += [(a | b << 16, b | a << 16) for a, b in v.floats(F16, 2, 0)[::5]]
            for mode in (DEFAULT, 0x3f4, 0x33c):
                out.block("manual 16.10", [f"v_pk_{name}_f16 v8, v0, v1{text}"], ["v0", "v1"], ["v8"],
                          rows(values, lambda a, b: pack(
                              f(Mode(mode), half(a, lo[0]), half(b, lo[1])),
                              f(Mode(mode), half(a, hi[0]), half(b, hi[1])))), mode)
                values = values[:20]
    values = [tuple(v.number(F16) | v.number(F16) << 16 for _ in range(3)) for _ in range(60)]
    for text, low, high in (("", 0, 0), (" neg_lo:[1,0,0] neg_hi:[1,0,0]", 0x8000, 0x8000)):
        out.block("manual 16.10", [f"v_pk_fma_f16 v8, v0, v1, v2{text}"], ["v0", "v1", "v2"], ["v8"],
                  rows(values, lambda a, b, c: pack(
                      fp.fma(F16, m, half(a, 0) ^ low, half(b, 0), half(c, 0)),
                      fp.fma(F16, m, half(a, 1) ^ high, half(b, 1), half(c, 1)))))
    for sel in range(27):
        kinds = [sel % 3, sel // 3 % 3, sel // 9]  # f32, lower half, upper half
        text = "op_sel:[%d,%d,%d] op_sel_hi:[%d,%d,%d]" % (
            *(int(k == 2) for k in kinds), *(int(k > 0) for k in kinds))
        for op in ("f32", "lo", "hi"):
            if op != "f32" and sel % 4:
                continue
            values = []
            for _ in range(14):
                values.append(tuple(v.number(F32) if k == 0 else v.number(F16) | v.number(F16) << 16
                                    for k in kinds))

            def mix(a, b, c):
                x = []
                for k, y in zip(kinds, (a, b, c)):
                    x.append(y if k == 0 else fp.convert(F32, F16, m, half(y, k == 2)))
                if any(F32.nan(y) for y in x):
                    raise fp.Unclear
                if op == "f32":
                    return fp.fma(F32, m, *x)
                return to_half(x)

            def to_half(x):
                """One rounding of the exact sum to f16."""
                if any(F32.is_inf(y) for y in x):
                    raise fp.Unclear
                exact = F32.value(x[0]) * F32.value(x[1]) + F32.value(x[2])
                if exact == 0:
                    raise fp.Unclear
                once = F16.round(exact, 0)
                twice = F32.round(exact, 0)
                if F32.is_inf(twice) or F16.round(F32.value(twice), 0) != once:
                    raise fp.Unclear  # is it rounded once or twice?
                return once | 0x5a5a0000 if op == "lo" else once << 16 | 0x123c
            name = "v_fma_mix_f32" if op == "f32" else f"v_fma_mix{op}_f16"
            out.block("manual 16.10", [f"{name} v8, v0, v1, v2 {text}"], ["v0", "v1", "v2"], ["v8"],
                      rows(values, mix))
    return out
