"""Vectors of integer instructions, packed ones, dot products, scalar ALU."""
# SPDX-License-Identifier: MIT
from emit import DEFAULT, IDENTITY, File, Values, dual, spell

M16, M32, M64 = (1 << 16) - 1, (1 << 32) - 1, (1 << 64) - 1


def s(v, bits):
    """As a signed number."""
    v &= (1 << bits) - 1
    return v - (1 << bits) if v >> bits - 1 else v


def clampi(v, low, high):
    return max(low, min(high, v))


def bits_of(v):
    return bin(v).count("1")


def field(v, low, n):
    return v >> low & (1 << n) - 1


def clz(v, bits):
    return M32 if v == 0 else bits - v.bit_length()


def ctz(v):
    return M32 if v == 0 else (v & -v).bit_length() - 1


def cls(v, bits):
    """Leading bits that equal the sign bit; -1 if all do."""
    sv = s(v, bits)
    x = sv if sv >= 0 else ~sv
    return M32 if x == 0 else bits - x.bit_length()


def brev(v, bits):
    return int(format(v, f"0{bits}b")[::-1], 2)


def bfe_u(v, low, n, bits=32):
    return field(v, low & 31, n & 31) if bits == 32 else field(v, low & 63, n & 127)


def bfe_i(v, low, n):
    n &= 31
    x = s(v, 32) >> (low & 31) & (1 << n) - 1
    return s(x, n) & M32 if n else 0


def byte(v, i):
    return v >> 8 * i & 255


def sad(a, b, masked=False):
    return sum(abs(byte(a, i) - byte(b, i)) for i in range(4) if not masked or byte(b, i))


def perm(a, b, sel):
    data = a << 32 | b
    out = 0
    for i in range(4):
        k = byte(sel, i)
        v = 0xff if k >= 13 else 0 if k == 12 else byte(data, k) if k < 8 else \
            0xff * (data >> (16 * (k - 8) + 15) & 1)
        out |= v << 8 * i
    return out


def median(a, b, c):
    return sorted((a, b, c))[1]


def i24(v):
    return s(v, 24)


def u24(v):
    return v & 0xffffff


VOP1 = {
    "v_mov_b32": lambda a: a, "v_not_b32": lambda a: ~a, "v_bfrev_b32": lambda a: brev(a, 32),
    "v_clz_i32_u32": lambda a: clz(a, 32), "v_ctz_i32_b32": ctz,
    "v_cls_i32": lambda a: cls(a, 32), "v_cvt_i32_i16": lambda a: s(a, 16),
    "v_cvt_u32_u16": lambda a: a & M16,
}
VOP1_16 = {  # only the lower half is written
    "v_not_b16": lambda a: ~a, "v_mov_b16": lambda a: a,
    "v_sat_pk_u8_i16": lambda a: clampi(s(a, 16), 0, 255) | clampi(s(a >> 16, 16), 0, 255) << 8,
}
VOP2 = {
    "v_add_nc_u32": lambda a, b: a + b, "v_sub_nc_u32": lambda a, b: a - b,
    "v_subrev_nc_u32": lambda a, b: b - a, "v_and_b32": lambda a, b: a & b,
    "v_or_b32": lambda a, b: a | b, "v_xor_b32": lambda a, b: a ^ b,
    "v_xnor_b32": lambda a, b: ~(a ^ b), "v_lshlrev_b32": lambda a, b: b << (a & 31),
    "v_lshrrev_b32": lambda a, b: b >> (a & 31),
    "v_ashrrev_i32": lambda a, b: s(b, 32) >> (a & 31),
    "v_min_i32": lambda a, b: min(s(a, 32), s(b, 32)), "v_max_i32": lambda a, b: max(s(a, 32), s(b, 32)),
    "v_min_u32": min, "v_max_u32": max,
    "v_mul_i32_i24": lambda a, b: i24(a) * i24(b), "v_mul_u32_u24": lambda a, b: u24(a) * u24(b),
    "v_mul_hi_i32_i24": lambda a, b: i24(a) * i24(b) >> 32,
    "v_mul_hi_u32_u24": lambda a, b: u24(a) * u24(b) >> 32,
}
VOP3_2 = {
    "v_mul_lo_u32": lambda a, b: a * b, "v_mul_hi_u32": lambda a, b: a * b >> 32,
    "v_mul_hi_i32": lambda a, b: s(a, 32) * s(b, 32) >> 32,
    "v_bcnt_u32_b32": lambda a, b: bits_of(a) + b,
    "v_bfm_b32": lambda a, b: ((1 << (a & 31)) - 1) << (b & 31),
    "v_add_nc_i32": lambda a, b: a + b, "v_sub_nc_i32": lambda a, b: a - b,
    "v_cvt_pk_u16_u32": lambda a, b: min(a, M16) | min(b, M16) << 16,
    "v_cvt_pk_i16_i32": lambda a, b: (clampi(s(a, 32), -32768, 32767) & M16) |
    (clampi(s(b, 32), -32768, 32767) & M16) << 16,
}
VOP3_16 = {  # two or three halves; only the lower half is written
    "v_add_nc_u16": lambda a, b: a + b, "v_sub_nc_u16": lambda a, b: a - b,
    "v_mul_lo_u16": lambda a, b: a * b, "v_lshlrev_b16": lambda a, b: b << (a & 15),
    "v_lshrrev_b16": lambda a, b: b >> (a & 15), "v_ashrrev_i16": lambda a, b: s(b, 16) >> (a & 15),
    "v_max_u16": max, "v_min_u16": min,
    "v_max_i16": lambda a, b: max(s(a, 16), s(b, 16)),
    "v_min_i16": lambda a, b: min(s(a, 16), s(b, 16)),
    "v_and_b16": lambda a, b: a & b, "v_or_b16": lambda a, b: a | b, "v_xor_b16": lambda a, b: a ^ b,
    "v_add_nc_i16": lambda a, b: a + b, "v_sub_nc_i16": lambda a, b: a - b,
}
VOP3_16_3 = {
    "v_mad_u16": lambda a, b, c: a * b + c, "v_mad_i16": lambda a, b, c: a * b + c,
    "v_min3_u16": min, "v_max3_u16": max, "v_med3_u16": median,
    "v_min3_i16": lambda *t: min(s(x, 16) for x in t),
    "v_max3_i16": lambda *t: max(s(x, 16) for x in t),
    "v_med3_i16": lambda *t: median(*(s(x, 16) for x in t)),
}
VOP3 = {
    "v_add3_u32": lambda a, b, c: a + b + c, "v_xad_u32": lambda a, b, c: (a ^ b) + c,
    "v_lshl_add_u32": lambda a, b, c: (a << (b & 31)) + c,
    "v_add_lshl_u32": lambda a, b, c: (a + b & M32) << (c & 31),
    "v_lshl_or_b32": lambda a, b, c: a << (b & 31) | c, "v_and_or_b32": lambda a, b, c: a & b | c,
    "v_or3_b32": lambda a, b, c: a | b | c, "v_xor3_b32": lambda a, b, c: a ^ b ^ c,
    "v_bfi_b32": lambda a, b, c: a & b | ~a & c, "v_bfe_u32": bfe_u, "v_bfe_i32": bfe_i,
    "v_alignbit_b32": lambda a, b, c: (a << 32 | b) >> (c & 31),
    "v_alignbyte_b32": lambda a, b, c: (a << 32 | b) >> 8 * (c & 3),
    "v_perm_b32": perm, "v_min3_u32": min, "v_max3_u32": max, "v_med3_u32": median,
    "v_min3_i32": lambda *t: min(s(x, 32) for x in t),
    "v_max3_i32": lambda *t: max(s(x, 32) for x in t),
    "v_med3_i32": lambda *t: median(*(s(x, 32) for x in t)),
    "v_minmax_u32": lambda a, b, c: max(min(a, b), c),
    "v_maxmin_u32": lambda a, b, c: min(max(a, b), c),
    "v_minmax_i32": lambda a, b, c: max(min(s(a, 32), s(b, 32)), s(c, 32)),
    "v_maxmin_i32": lambda a, b, c: min(max(s(a, 32), s(b, 32)), s(c, 32)),
    "v_mad_u32_u24": lambda a, b, c: u24(a) * u24(b) + c,
    "v_mad_i32_i24": lambda a, b, c: i24(a) * i24(b) + c,
    "v_mad_u32_u16": lambda a, b, c: (a & M16) * (b & M16) + c,
    "v_mad_i32_i16": lambda a, b, c: s(a, 16) * s(b, 16) + c,
    "v_sad_u8": lambda a, b, c: sad(a, b) + c, "v_sad_hi_u8": lambda a, b, c: (sad(a, b) << 16) + c,
    "v_sad_u16": lambda a, b, c: abs((a & M16) - (b & M16)) + abs((a >> 16) - (b >> 16)) + c,
    "v_sad_u32": lambda a, b, c: abs(a - b) + c, "v_msad_u8": lambda a, b, c: sad(a, b, True) + c,
    "v_lerp_u8": lambda a, b, c: sum((byte(a, i) + byte(b, i) + (byte(c, i) & 1) >> 1) << 8 * i
                                     for i in range(4)),
}
DUAL = {"v_mov_b32": "v_dual_mov_b32"}
DUAL_Y = {"v_add_nc_u32": "v_dual_add_nc_u32", "v_and_b32": "v_dual_and_b32",
          "v_lshlrev_b32": "v_dual_lshlrev_b32"}
NO_DPP = {"v_mul_lo_u32", "v_mul_hi_u32", "v_mul_hi_i32"}


def valu():
    out = File("integer vector instructions of 32 bits")
    v = Values(2000)

    def block(source, name, f, n, kinds, extra=(), rows=48):
        text = ", ".join(["v8"] + [f"v{i}" for i in range(n)])
        values = [tuple(v.integer(32) for _ in range(n)) for _ in range(rows)]
        out.block(source, spell(name, text, kinds) + list(extra), [f"v{i}" for i in range(n)],
                  ["v8"], [(t, (f(*t) & M32,)) for t in values])
        literals(out, source, name, f, n, kinds, values)
    for name, f in VOP1.items():
        extra = dual(DUAL[name], "v8, v0") if name in DUAL else ()
        block("manual 16.8", name, f, 1, "23dD", extra)
    for name, f in VOP2.items():
        extra = [f"v_dual_mov_b32 v9, v3 :: {DUAL_Y[name]} v8, v0, v1"] if name in DUAL_Y else ()
        block("manual 16.7", name, f, 2, "23dD", extra)
    for name, f in VOP3_2.items():
        block("manual 16.12", name, f, 2, "3" if name in NO_DPP else "3D")
    for name, f in VOP3.items():
        block("manual 16.12", name, f, 3, "3D")
    return out


def literals(out, source, name, f, n, kinds, values, get=lambda x: x, result=lambda r: r & M32):
    """A literal in place of the first source; in VOP3 of the last one too."""
    for at in {0, n - 1}:
        if at and "2" in kinds:
            continue
        k = values[5][at] | 0x1000  # no inline constant
        if "16" in name and at == 0:
            k &= 0x7fff
        text = ", ".join(["v8"] + [f"0x{k:x}" if i == at else f"v{i}" for i in range(n)])
        rest = [i for i in range(n) if i != at]
        few = values[:6] if rest else values[:1]
        got = []
        for t in few:
            t = tuple(k if i == at else x for i, x in enumerate(t))
            got.append((tuple(t[i] for i in rest) or (0,), (result(f(*(get(x) for x in t))),)))
        ops = spell(name, text, "".join(c for c in kinds if c in "23"))
        out.block(source, ops, [f"v{i}" for i in rest] or ["v30"], ["v8"], got)


def valu16():
    out = File("integer vector instructions of 16 bits; the other half is kept")
    v = Values(2100)
    keep = 0x5a5a0000

    def block(source, name, f, n, kinds, full=False):
        text = ", ".join(["v8"] + [f"v{i}" for i in range(n)])
        values = [tuple(v.integer(32 if full else 16) | (0 if full else v.r.getrandbits(16) << 16)
                        for _ in range(n)) for _ in range(40)]
        got = [(t, ((f(*(x if full else x & M16 for x in t)) & M16) | keep,)) for t in values]
        out.block(source, spell(name, text, kinds), [f"v{i}" for i in range(n)], ["v8"], got)
        if not full and name != "v_mov_b16":
            literals(out, source, name, f, n, kinds, [tuple(x & M16 for x in t) for t in values],
                     lambda x: x & M16, lambda r: r & M16 | keep)
    for name, f in VOP1_16.items():
        block("manual 16.8", name, f, 1, "23", name == "v_sat_pk_u8_i16")
    for name, f in VOP3_16.items():
        block("manual 16.12", name, f, 2, "3" if name in (
            "v_mul_lo_u16", "v_lshlrev_b16", "v_lshrrev_b16", "v_ashrrev_i16", "v_max_u16",
            "v_min_u16", "v_max_i16", "v_min_i16") else "3D")
    for name, f in VOP3_16_3.items():
        block("manual 16.12", name, f, 3, "3D")
    for sel, a_hi, b_hi, d_hi in (("1,0,0", 1, 0, 0), ("0,1,0", 0, 1, 0), ("0,0,1", 0, 0, 1),
                                  ("1,1,1", 1, 1, 1)):
        values = [(v.integer(32), v.integer(32)) for _ in range(20)]
        got = []
        for a, b in values:
            r = (a >> 16 * a_hi) + (b >> 16 * b_hi) & M16
            got.append(((a, b), (r << 16 | 0x123c if d_hi else r | keep,)))
        out.block("manual 7.2.2", [f"v_add_nc_u16 v8, v0, v1 op_sel:[{sel}]"], ["v0", "v1"], ["v8"],
                  got)
    return out


def wide():
    """Carries, 64-bit shifts and products, clamps, selections."""
    out = File("carries, 64-bit results, integer saturation, selection, comparisons")
    v = Values(2200)

    def pairs(n=48):
        return [(v.integer(32), v.integer(32)) for _ in range(n)]
    for name, f in (("add", lambda a, b, c: a + b + c), ("sub", lambda a, b, c: a - b - c),
                    ("subrev", lambda a, b, c: b - a - c)):
        got = [((a, b), (f(a, b, 0) & M32, int(not 0 <= f(a, b, 0) <= M32))) for a, b in pairs()]
        out.block("manual 16.12", [f"v_{name}_co_u32 v8, $vcc, v0, v1",
                                   f"v_{name}_co_u32_e64_dpp v8, $vcc, v0, v1 "
                                   "dpp8:[0,1,2,3,4,5,6,7]"], ["v0", "v1"], ["v8", "vcc?"], got)
        got = [((a, b, c), (f(a, b, c) & M32, int(not 0 <= f(a, b, c) <= M32)))
               for a, b in pairs() for c in (0, 1)]
        out.block("manual 16.7", [f"v_{name}_co_ci_u32_e32 v8, $vcc, v0, v1, $vcc",
                                  f"v_{name}_co_ci_u32_e64 v8, $vcc, v0, v1, $vcc",
                                  f"v_{name}_co_ci_u32_dpp v8, $vcc, v0, v1, $vcc "
                                  "quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf"],
                  ["v0", "v1", "vcc?"], ["v8", "vcc?"], got)
        if name != "subrev":
            for sign in "ui":
                low, high = (0, M32) if sign == "u" else (-1 << 31, (1 << 31) - 1)
                get = (lambda x: x) if sign == "u" else (lambda x: s(x, 32))
                got = [((a, b), (clampi(f(get(a), get(b), 0), low, high) & M32,))
                       for a, b in pairs()]
                out.block("manual 7.2.3", [f"v_{name}_nc_{sign}32 v8, v0, v1 clamp" if sign == "i"
                                           else f"v_{name}_nc_u32_e64 v8, v0, v1 clamp"],
                          ["v0", "v1"], ["v8"], got)
    got = [((a, b, c), (b if c else a,)) for a, b in pairs() for c in (0, 1)]
    out.block("manual 16.7", ["v_cndmask_b32_e32 v8, v0, v1, $vcc",
                              "v_cndmask_b32_e64 v8, v0, v1, $vcc",
                              "v_cndmask_b32_dpp v8, v0, v1, $vcc dpp8:[0,1,2,3,4,5,6,7]",
                              "v_dual_cndmask_b32 v8, v0, v1 :: v_dual_mov_b32 v9, v3"],
              ["v0", "v1", "vcc?"], ["v8"], got)
    for name, f in (("lshlrev_b64", lambda a, b: b << (a & 63)),
                    ("lshrrev_b64", lambda a, b: b >> (a & 63)),
                    ("ashrrev_i64", lambda a, b: s(b, 64) >> (a & 63))):
        values = [(v.r.choice([0, 1, 31, 32, 33, 63, 64, 65, 0xffffffff, v.integer(32)]),
                   v.integer(64)) for _ in range(40)]
        out.block("manual 16.12", [f"v_{name} v[8:9], v0, v[2:3]"], ["v0", "v2:3"], ["v8:9"],
                  [((a, b), (f(a, b) & M64,)) for a, b in values])
    for name, get, bits in (("u64_u32", lambda x, n: x, 0), ("i64_i32", s, 32)):
        got = []
        for a, b in pairs():
            c = v.integer(64)
            if bits:
                r = s(a, 32) * s(b, 32) + s(c, 64)
                carry = None
            else:
                r = a * b + c
                carry = int(r >> 64 & 1)
            got.append(((a, b, c), (r & M64, "*" if carry is None else carry)))
        out.block("manual 16.12", [f"v_mad_{name} v[8:9], $vcc, v0, v1, v[2:3]"],
                  ["v0", "v1", "v2:3"], ["v8:9"] + ([] if bits else ["vcc?"]),
                  [(g, w[:1] if bits else w) for g, w in got])
    for name, masked in (("qsad", False), ("mqsad", True)):
        got = []
        for _ in range(30):
            a, b, c = v.integer(64), v.integer(32), v.integer(64)
            r = 0
            for k in range(4):
                x = sad(a >> 8 * k & M32, b, masked) + (c >> 16 * k & M16)
                r |= (x & M16) << 16 * k
            got.append(((a, b, c), (r,)))
        out.block("manual 16.12", [f"v_{name}_pk_u16_u8 v[8:9], v[0:1], v2, v[4:5]"],
                  ["v0:1", "v2", "v4:5"], ["v8:9"], got)
    comparisons(out, v)
    return out


def comparisons(out, v):
    tests = {"lt": lambda a, b: a < b, "eq": lambda a, b: a == b, "le": lambda a, b: a <= b,
             "gt": lambda a, b: a > b, "ne": lambda a, b: a != b, "ge": lambda a, b: a >= b}
    for t in ("u32", "i32", "u64", "i64", "u16", "i16"):
        bits = int(t[1:])
        get = (lambda x: x) if t[0] == "u" else (lambda x, bits=bits: s(x, bits))
        for name, f in tests.items():
            values = [(v.integer(bits), v.integer(bits)) for _ in range(28)]
            values += [(a, a) for a, _ in values[:4]]
            got = [((a, b), (int(f(get(a), get(b))),)) for a, b in values]
            text = "v[0:1], v[2:3]" if bits == 64 else "v0, v1"
            ops = [f"v_cmp_{name}_{t}_e32 $vcc, {text}", f"v_cmp_{name}_{t}_e64 $vcc, {text}"]
            if bits != 64:
                ops += [f"v_cmp_{name}_{t}{e}_dpp $vcc, {text} {d}" for e in ("", "_e64")
                        for d in IDENTITY]
            ins = ["v0:1", "v2:3"] if bits == 64 else ["v0", "v1"]
            out.block("manual 16.9", ops, ins, ["vcc?"], got)
            out.block("manual 16.9", [o.replace("v_cmp_", "v_cmpx_").replace("$vcc, ", "")
                                      for o in ops], ins, ["exec?"], got[:16])
            if bits == 64:
                continue
            k = values[0][0] | (0x1000 if bits == 32 else 0x1001)
            few = [(b,) for _, b in values[:8]] + [(k,)]
            got = [(b, (int(f(get(k), get(b[0]))),)) for b in few]
            ops = [f"v_cmp_{name}_{t}{e} $vcc, 0x{k:x}, v1" for e in ("_e32", "_e64")]
            out.block("manual 16.9", ops, ["v1"], ["vcc?"], got)
            out.block("manual 16.9", [o.replace("v_cmp_", "v_cmpx_").replace("$vcc, ", "")
                                      for o in ops], ["v1"], ["exec?"], got)


def packed():
    out = File("packed 16-bit integers and integer dot products")
    v = Values(2300)
    ops = {"add_u16": lambda a, b: a + b, "sub_u16": lambda a, b: a - b,
           "add_i16": lambda a, b: a + b, "sub_i16": lambda a, b: a - b,
           "mul_lo_u16": lambda a, b: a * b, "lshlrev_b16": lambda a, b: b << (a & 15),
           "lshrrev_b16": lambda a, b: b >> (a & 15),
           "ashrrev_i16": lambda a, b: s(b, 16) >> (a & 15), "max_u16": max, "min_u16": min,
           "max_i16": lambda a, b: max(s(a, 16), s(b, 16)),
           "min_i16": lambda a, b: min(s(a, 16), s(b, 16))}

    def half(x, hi):
        return x >> 16 if hi else x & M16
    selects = (("", (0, 0), (1, 1)), (" op_sel:[1,0] op_sel_hi:[0,1]", (1, 0), (0, 1)),
               (" op_sel:[1,1] op_sel_hi:[1,0]", (1, 1), (1, 0)))
    for name, f in ops.items():
        for text, low, high in selects:
            got = []
            for _ in range(16):
                a, b = v.integer(16) | v.integer(16) << 16, v.integer(16) | v.integer(16) << 16
                r = (f(half(a, low[0]), half(b, low[1])) & M16) | \
                    (f(half(a, high[0]), half(b, high[1])) & M16) << 16
                got.append(((a, b), (r,)))
            out.block("manual 7.7", [f"v_pk_{name} v8, v0, v1{text}"], ["v0", "v1"], ["v8"], got)
    for name in ("u16", "i16"):
        got = []
        for _ in range(40):
            a, b, c = (v.integer(16) | v.integer(16) << 16 for _ in range(3))
            r = sum((half(a, h) * half(b, h) + half(c, h) & M16) << 16 * h for h in (0, 1))
            got.append(((a, b, c), (r,)))
        out.block("manual 16.10", [f"v_pk_mad_{name} v8, v0, v1, v2"], ["v0", "v1", "v2"], ["v8"],
                  got)
    for text, n, bits, a_s, b_s in (
            ("v_dot4_u32_u8 v8, v0, v1, v2", 4, 8, 0, 0),
            ("v_dot8_u32_u4 v8, v0, v1, v2", 8, 4, 0, 0),
            ("v_dot4_i32_iu8 v8, v0, v1, v2", 4, 8, 0, 0),
            ("v_dot4_i32_iu8 v8, v0, v1, v2 neg_lo:[1,0,0]", 4, 8, 1, 0),
            ("v_dot4_i32_iu8 v8, v0, v1, v2 neg_lo:[0,1,0]", 4, 8, 0, 1),
            ("v_dot4_i32_iu8 v8, v0, v1, v2 neg_lo:[1,1,0]", 4, 8, 1, 1),
            ("v_dot8_i32_iu4 v8, v0, v1, v2 neg_lo:[1,1,0]", 8, 4, 1, 1),
            ("v_dot8_i32_iu4 v8, v0, v1, v2 neg_lo:[1,0,0]", 8, 4, 1, 0)):
        for clamp in (False, True):
            signed = "i32" in text
            got = []
            for _ in range(24):
                a, b, c = v.integer(32), v.integer(32), v.integer(32)
                total = s(c, 32) if signed else c
                for i in range(n):
                    x, y = field(a, bits * i, bits), field(b, bits * i, bits)
                    total += (s(x, bits) if a_s else x) * (s(y, bits) if b_s else y)
                if clamp:
                    total = clampi(total, -1 << 31, (1 << 31) - 1) if signed else min(total, M32)
                got.append(((a, b, c), (total & M32,)))
            out.block("manual 16.10", [text + (" clamp" if clamp else "")], ["v0", "v1", "v2"],
                      ["v8"], got)
    return out


# ---- scalar ALU ---------------------------------------------------------------------

def nz(f, mask):
    """A result, and SCC = it is not zero."""
    def g(*t):
        r = f(*t) & mask
        return r, int(r != 0)
    return g


def over(f):
    """Signed sum or difference: SCC is overflow."""
    def g(a, b):
        r = f(s(a, 32), s(b, 32))
        return r & M32, int(not -1 << 31 <= r < 1 << 31)
    return g


def sbfe(v, x, bits, signed):
    low, n = x & (31 if bits == 32 else 63), x >> 16 & 127
    n = min(n, bits)
    y = (s(v, bits) if signed else v) >> low
    if n == 0:
        y = 0
    else:
        y &= (1 << n) - 1
        width = min(n, bits - low) if signed else n
        y = s(y, n) if signed and n < bits - low + 1 else (s(v, bits) >> low if signed else y)
        del width
    y &= (1 << bits) - 1
    return y, int(y != 0)


SOP2 = {
    "s_add_u32": lambda a, b: (a + b & M32, a + b >> 32), "s_sub_u32": lambda a, b: (a - b & M32, int(b > a)),
    "s_add_i32": over(lambda a, b: a + b), "s_sub_i32": over(lambda a, b: a - b),
    "s_and_b32": nz(lambda a, b: a & b, M32), "s_or_b32": nz(lambda a, b: a | b, M32),
    "s_xor_b32": nz(lambda a, b: a ^ b, M32), "s_nand_b32": nz(lambda a, b: ~(a & b), M32),
    "s_nor_b32": nz(lambda a, b: ~(a | b), M32), "s_xnor_b32": nz(lambda a, b: ~(a ^ b), M32),
    "s_and_not1_b32": nz(lambda a, b: a & ~b, M32), "s_or_not1_b32": nz(lambda a, b: a | ~b, M32),
    "s_lshl_b32": nz(lambda a, b: a << (b & 31), M32), "s_lshr_b32": nz(lambda a, b: a >> (b & 31), M32),
    "s_ashr_i32": nz(lambda a, b: s(a, 32) >> (b & 31), M32),
    "s_min_i32": lambda a, b: (min(s(a, 32), s(b, 32)) & M32, int(s(a, 32) < s(b, 32))),
    "s_max_i32": lambda a, b: (max(s(a, 32), s(b, 32)) & M32, int(s(a, 32) >= s(b, 32))),
    "s_min_u32": lambda a, b: (min(a, b), int(a < b)), "s_max_u32": lambda a, b: (max(a, b), int(a >= b)),
    "s_bfe_u32": lambda a, b: sbfe(a, b, 32, False), "s_bfe_i32": lambda a, b: sbfe(a, b, 32, True),
    "s_absdiff_i32": nz(lambda a, b: abs(s(s(a, 32) - s(b, 32), 32)), M32),
    "s_lshl1_add_u32": lambda a, b: ((a << 1) + b & M32, int((a << 1) + b > M32)),
    "s_lshl2_add_u32": lambda a, b: ((a << 2) + b & M32, int((a << 2) + b > M32)),
    "s_lshl3_add_u32": lambda a, b: ((a << 3) + b & M32, int((a << 3) + b > M32)),
    "s_lshl4_add_u32": lambda a, b: ((a << 4) + b & M32, int((a << 4) + b > M32)),
}
SOP2_KEEP = {  # SCC stays
    "s_mul_i32": lambda a, b: a * b, "s_mul_hi_u32": lambda a, b: a * b >> 32,
    "s_mul_hi_i32": lambda a, b: s(a, 32) * s(b, 32) >> 32,
    "s_bfm_b32": lambda a, b: ((1 << (a & 31)) - 1) << (b & 31),
    "s_pack_ll_b32_b16": lambda a, b: (a & M16) | (b & M16) << 16,
    "s_pack_lh_b32_b16": lambda a, b: (a & M16) | b >> 16 << 16,
    "s_pack_hl_b32_b16": lambda a, b: a >> 16 | (b & M16) << 16,
    "s_pack_hh_b32_b16": lambda a, b: a >> 16 | b >> 16 << 16,
}
SOP2_64 = {
    "s_and_b64": nz(lambda a, b: a & b, M64), "s_or_b64": nz(lambda a, b: a | b, M64),
    "s_xor_b64": nz(lambda a, b: a ^ b, M64), "s_nand_b64": nz(lambda a, b: ~(a & b), M64),
    "s_nor_b64": nz(lambda a, b: ~(a | b), M64), "s_xnor_b64": nz(lambda a, b: ~(a ^ b), M64),
    "s_and_not1_b64": nz(lambda a, b: a & ~b, M64), "s_or_not1_b64": nz(lambda a, b: a | ~b, M64),
}
SHIFT_64 = {
    "s_lshl_b64": nz(lambda a, b: a << (b & 63), M64), "s_lshr_b64": nz(lambda a, b: a >> (b & 63), M64),
    "s_ashr_i64": nz(lambda a, b: s(a, 64) >> (b & 63), M64),
    "s_bfe_u64": lambda a, b: sbfe(a, b, 64, False), "s_bfe_i64": lambda a, b: sbfe(a, b, 64, True),
}


def quad(v, bits):
    return sum(1 << i for i in range(bits // 4) if v >> 4 * i & 15)


def wqm(v, bits):
    return sum(15 << i for i in range(0, bits, 4) if v >> i & 15)


SOP1 = {  # -> value, SCC or None
    "s_mov_b32": (lambda a: a, None), "s_not_b32": (lambda a: ~a, 1),
    "s_brev_b32": (lambda a: brev(a, 32), None), "s_bcnt0_i32_b32": (lambda a: 32 - bits_of(a), 1),
    "s_bcnt1_i32_b32": (bits_of, 1), "s_clz_i32_u32": (lambda a: clz(a, 32), None),
    "s_ctz_i32_b32": (ctz, None), "s_cls_i32": (lambda a: cls(a, 32), None),
    "s_sext_i32_i8": (lambda a: s(a, 8), None), "s_sext_i32_i16": (lambda a: s(a, 16), None),
    "s_abs_i32": (lambda a: abs(s(a, 32)), 1), "s_quadmask_b32": (lambda a: quad(a, 32), 1),
    "s_wqm_b32": (lambda a: wqm(a, 32), 1),
}
SOP1_64 = {  # 64 -> 64
    "s_mov_b64": (lambda a: a, None), "s_not_b64": (lambda a: ~a, 1),
    "s_brev_b64": (lambda a: brev(a, 64), None), "s_quadmask_b64": (lambda a: quad(a, 64), 1),
    "s_wqm_b64": (lambda a: wqm(a, 64), 1),
}
SOP1_64_32 = {
    "s_bcnt0_i32_b64": (lambda a: 64 - bits_of(a), 1), "s_bcnt1_i32_b64": (bits_of, 1),
    "s_clz_i32_u64": (lambda a: clz(a, 64), None), "s_ctz_i32_b64": (ctz, None),
    "s_cls_i32_i64": (lambda a: cls(a, 64), None),
}


def salu():
    out = File("scalar ALU: results and SCC")
    v = Values(2400)
    wave = {"kind": "per wave"}

    def shift_value():
        return v.r.choice([0, 1, 15, 31, 32, 33, 63, 64, 0x100000, 0x80004, 0x1f0001, 0x200000,
                           0x400000, 0x100010, v.integer(32)])
    for name, f in SOP2.items():
        odd = any(k in name for k in ("lsh", "ashr", "bfe"))
        values = [(v.integer(32), shift_value() if odd else v.integer(32)) for _ in range(32)]
        out.block("manual 16.1", [f"{name} s8, s4, s5"], ["s4", "s5"], ["s8", "scc"],
                  [(t, f(*t)) for t in values], **wave)
        k = v.r.getrandbits(32) | 0x1000
        out.block("manual 16.1", [f"{name} s8, 0x{k:x}, s5"], ["s5"], ["s8", "scc"],
                  [((b,), f(k, b)) for _, b in values[:4]], **wave)
    for name, f in SOP2_KEEP.items():
        k = v.r.getrandbits(32) | 0x1000
        out.block("manual 16.1", [f"{name} s8, s4, 0x{k:x}"], ["s4"], ["s8"],
                  [((a,), (f(a, k) & M32,)) for a in (1, 0xffff, M32, 0x80000000)], **wave)
        values = [(v.integer(32), v.integer(32), v.r.getrandbits(1)) for _ in range(24)]
        out.block("manual 16.1", [f"{name} s8, s4, s5"], ["s4", "s5", "scc"], ["s8", "scc"],
                  [(t, (f(*t[:2]) & M32, t[2])) for t in values], **wave)
    for name, f in SOP2_64.items():
        values = [(v.integer(64), v.integer(64)) for _ in range(16)] + [(0, 0), (M64, M64)]
        out.block("manual 16.1", [f"{name} s[8:9], s[4:5], s[6:7]"], ["s4:5", "s6:7"],
                  ["s8:9", "scc"], [(t, f(*t)) for t in values], **wave)
    for name, f in SHIFT_64.items():
        values = [(v.integer(64), shift_value()) for _ in range(32)]
        out.block("manual 16.1", [f"{name} s[8:9], s[4:5], s6"], ["s4:5", "s6"], ["s8:9", "scc"],
                  [(t, f(*t)) for t in values], **wave)
    values = [(v.integer(32), v.integer(32), c) for _ in range(16) for c in (0, 1)]
    out.block("manual 16.1", ["s_addc_u32 s8, s4, s5"], ["s4", "s5", "scc"], ["s8", "scc"],
              [(t, (sum(t) & M32, sum(t) >> 32)) for t in values], **wave)
    out.block("manual 16.1", ["s_subb_u32 s8, s4, s5"], ["s4", "s5", "scc"], ["s8", "scc"],
              [(t, (t[0] - t[1] - t[2] & M32, int(t[1] + t[2] > t[0]))) for t in values], **wave)
    out.block("manual 16.1", ["s_cselect_b32 s8, s4, s5"], ["s4", "s5", "scc"], ["s8", "scc"],
              [(t, (t[0] if t[2] else t[1], t[2])) for t in values], **wave)
    out.block("manual 16.3", ["s_cmov_b32 s8, s4"], ["s4", "s8", "scc"], ["s8", "scc"],
              [(t, (t[0] if t[2] else t[1], t[2])) for t in values], **wave)
    scalar_one(out, v, wave)
    scalar_compare(out, v, wave)
    return out


def scalar_one(out, v, wave):
    for table, bits, dst in ((SOP1, 32, 32), (SOP1_64, 64, 64), (SOP1_64_32, 64, 32)):
        src = "s[4:5]" if bits == 64 else "s4"
        text = "s[8:9]" if dst == 64 else "s8"
        for name, (f, writes) in table.items():
            got = []
            for _ in range(24):
                a, c = v.integer(bits), v.r.getrandbits(1)
                r = f(a) & (M64 if dst == 64 else M32)
                got.append(((a, c), (r, int(r != 0) if writes else c)))
            k = v.r.getrandbits(31) | 0x1000  # zero-extended in 64 bits
            r = f(k) & (M64 if dst == 64 else M32)
            out.block("manual 16.3", [f"{name} {text}, 0x{k:x}"], ["scc"],
                      ["s8:9" if dst == 64 else "s8", "scc"],
                      [((c,), (r, int(r != 0) if writes else c)) for c in (0, 1)], **wave)
            out.block("manual 16.3", [f"{name} {text}, {src}"],
                      ["s4:5" if bits == 64 else "s4", "scc"],
                      ["s8:9" if dst == 64 else "s8", "scc"], got, **wave)
    for name, f in (("s_bitset0_b32", lambda d, a: d & ~(1 << (a & 31))),
                    ("s_bitset1_b32", lambda d, a: d | 1 << (a & 31))):
        values = [(v.integer(32), v.integer(32)) for _ in range(16)]
        out.block("manual 16.3", [f"{name} s8, s4"], ["s8", "s4"], ["s8"],
                  [(t, (f(*t) & M32,)) for t in values], **wave)
    for name, f in (("s_bitset0_b64", lambda d, a: d & ~(1 << (a & 63))),
                    ("s_bitset1_b64", lambda d, a: d | 1 << (a & 63))):
        values = [(v.integer(64), v.integer(32)) for _ in range(16)]
        out.block("manual 16.3", [f"{name} s[8:9], s4"], ["s8:9", "s4"], ["s8:9"],
                  [(t, (f(*t) & M64,)) for t in values], **wave)
    values = [(v.integer(32),) for _ in range(16)]
    out.block("manual 16.3", ["s_bitreplicate_b64_b32 s[8:9], s4"], ["s4"], ["s8:9"],
              [(t, (sum(3 << 2 * i for i in range(32) if t[0] >> i & 1),)) for t in values], **wave)
    logic = {"and": lambda a, e: a & e, "or": lambda a, e: a | e, "xor": lambda a, e: a ^ e,
             "nand": lambda a, e: ~(a & e), "nor": lambda a, e: ~(a | e),
             "xnor": lambda a, e: ~(a ^ e), "and_not0": lambda a, e: ~a & e,
             "or_not0": lambda a, e: ~a | e, "and_not1": lambda a, e: a & ~e,
             "or_not1": lambda a, e: a | ~e}
    for name, f in logic.items():
        for kind in ("saveexec", "wrexec"):
            if kind == "wrexec" and name not in ("and_not0", "and_not1"):
                continue
            for bits, lanes, src, dst in ((32, 32, "s4", "s8"), (64, 64, "s[4:5]", "s[8:9]")):
                mask = (1 << bits) - 1
                got = []
                for _ in range(8):
                    a, e = v.integer(bits), v.integer(bits)
                    r = f(a, e) & mask
                    got.append(((a, e), (e if kind == "saveexec" else r, r, int(r != 0))))
                out.block("manual 16.3", [f"s_{name}_{kind}_b{bits} {dst}, {src}"],
                          ["s4" if bits == 32 else "s4:5", "exec"],
                          ["s8" if bits == 32 else "s8:9", "exec", "scc"], got, lanes=lanes, **wave)


def scalar_compare(out, v, wave):
    tests = {"eq": lambda a, b: a == b, "lg": lambda a, b: a != b, "gt": lambda a, b: a > b,
             "ge": lambda a, b: a >= b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b}
    for name, f in tests.items():
        for t in ("i32", "u32"):
            get = (lambda x: x) if t == "u32" else (lambda x: s(x, 32))
            values = [(v.integer(32), v.integer(32)) for _ in range(14)]
            values += [(a, a) for a, _ in values[:2]]
            out.block("manual 16.4", [f"s_cmp_{name}_{t} s4, s5"], ["s4", "s5"], ["scc"],
                      [(p, (int(f(get(p[0]), get(p[1]))),)) for p in values], **wave)
            k = values[0][0] | 0x1000
            out.block("manual 16.4", [f"s_cmp_{name}_{t} s4, 0x{k:x}"], ["s4"], ["scc"],
                      [((a,), (int(f(get(a), get(k))),)) for a in (0, k, M32, 0x7fffffff)], **wave)
            k = v.r.choice([0, 1, 0x7fff, 0x8000, 0xffff])
            const = s(k, 16) if t == "i32" else k
            values = [(x,) for x in (0, 1, 0x7fff, 0x8000, 0xffff, 0xffff8000, M32, 0x7fffffff)]
            out.block("manual 16.2", [f"s_cmpk_{name}_{t} s4, 0x{k:x}"], ["s4"], ["scc"],
                      [(p, (int(f(get(p[0]), const)),)) for p in values], **wave)
        if name in ("eq", "lg"):
            values = [(v.integer(64), v.integer(64)) for _ in range(6)] + [(5 << 40, 5 << 40)]
            out.block("manual 16.4", [f"s_cmp_{name}_u64 s[4:5], s[6:7]"], ["s4:5", "s6:7"], ["scc"],
                      [(p, (int(f(*p)),)) for p in values], **wave)
    for bits, src, col in ((32, "s4", "s4"), (64, "s[4:5]", "s4:5")):
        for k in (0, 1):
            values = [(v.integer(bits), v.integer(32)) for _ in range(12)]
            out.block("manual 16.4", [f"s_bitcmp{k}_b{bits} {src}, s6"], [col, "s6"], ["scc"],
                      [(p, (int((p[0] >> (p[1] & bits - 1) & 1) == k),)) for p in values], **wave)
    for name, f in (("s_addk_i32", lambda d, k: d + k), ("s_mulk_i32", lambda d, k: d * k)):
        for k in (1, 0x7fff, 0x8000, 0xffff):
            values = [(x,) for x in (0, 1, 0x7fffffff, 0x80000000, M32, 0x12345678)]
            got = []
            for (x,) in values:
                r = f(s(x, 32), s(k, 16))
                scc = int(not -1 << 31 <= r < 1 << 31)
                got.append(((x,), (r & M32,) + ((scc,) if name == "s_addk_i32" else ())))
            out.block("manual 16.2", [f"{name} s8, 0x{k:x}"], ["s8"],
                      ["s8"] + (["scc"] if name == "s_addk_i32" else []), got, **wave)
    out.block("manual 16.2", ["s_movk_i32 s8, 0x8001"], ["s4"], ["s8"],
              [((0,), (0xffff8001,))], **wave)
    out.block("manual 16.2", ["s_cmovk_i32 s8, 0x8001"], ["s8", "scc"], ["s8"],
              [((5, 0), (5,)), ((5, 1), (0xffff8001,))], **wave)


assert DEFAULT
