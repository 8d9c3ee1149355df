"""Vectors of what the other families leave: constant comparisons, cube maps, matrix
products of integers, plain and rare LDS atomics, addresses by lane, square roots."""
# SPDX-License-Identifier: MIT
from fractions import Fraction
from math import isqrt

import fp
from emit import DEFAULT, IDENTITY, File, Values, rows, spell
from fp import F16, F32, F64, Mode
from ints import M16, M32, s
from waves import ATOMICS, LANE

KEEP = 0x5a5a0000


def family():
    out = File("rarer instructions")
    v = Values(5000)
    constants(out, v)
    halves(out, v)
    cubes(out, v)
    matrices(out, v)
    lds(out, v)
    roots(out, v)
    scalars(out, v)
    return out


def constants(out, v):
    """Comparisons that are always false or always true; classes into EXEC."""
    for t in ("f16", "f32", "f64", "i32", "u32", "i64", "u64"):
        bits = int(t[1:])
        text = "v[0:1], v[2:3]" if bits == 64 else "v0, v1"
        ins = ["v0:1", "v2:3"] if bits == 64 else ["v0", "v1"]
        values = [(v.integer(bits), v.integer(bits)) for _ in range(8)]
        for name, r in (("f", 0), ("t", 1)):
            ops = [f"v_cmp_{name}_{t}_e32 $vcc, {text}", f"v_cmp_{name}_{t}_e64 $vcc, {text}"]
            if bits != 64:
                ops += [f"v_cmp_{name}_{t}{e}_dpp $vcc, {text} {d}" for e in ("", "_e64")
                        for d in IDENTITY]
            got = [(x, (r,)) for x in values]
            out.block("manual 16.9", ops, ins, ["vcc?"], got)
            out.block("manual 16.9", [o.replace("v_cmp_", "v_cmpx_").replace("$vcc, ", "")
                                      for o in ops], ins, ["exec?"], got)
    for fmt, n in ((F16, "f16"), (F32, "f32"), (F64, "f64")):
        text = "v[0:1], v2" if fmt is F64 else "v0, v2"
        values = [(b, 0x3) for (b,) in v.floats(fmt, 1, 0)]  # is it a NaN?
        out.block("manual 16.9", [f"v_cmpx_class_{n}_e32 {text}", f"v_cmpx_class_{n}_e64 {text}"],
                  ["v0:1" if fmt is F64 else "v0", "v2"], ["exec?"],
                  [(t, (int(fmt.nan(t[0])),)) for t in values])


def halves(out, v):
    def keep(x):
        if x == fp.NAN:
            raise fp.Unclear
        return x | KEEP
    numbers = [(b, k & M16) for (b,) in v.floats(F16, 1, 20)
               for k in (v.r.randint(-20, 20), v.r.choice([0, 1, -1, 100, -100, 32767, -32768]))]
    out.block("manual 16.7", spell("v_ldexp_f16", "v8, v0, v1", "23dD"), ["v0", "v1"], ["v8"],
              rows(numbers, lambda b, k: keep(fp.ldexp(F16, Mode(DEFAULT), b, s(k, 16)))))
    out.block("manual 16.8", spell("v_frexp_exp_i16_f16", "v8, v0", "23dD"), ["v0"], ["v8"],
              rows(v.floats(F16, 1, 30),
                   lambda b: keep(fp.frexp_exp(F16, Mode(DEFAULT), b) & M16)))
    got = rows(v.floats(F16, 3, 40), lambda a, b, c: keep(fp.fma(F16, Mode(DEFAULT), a, b, c)))
    got = [((a, b, c | KEEP), w) for (a, b, c), w in got]
    out.block("manual 16.7", spell("v_fmac_f16", "v8, v0, v1", "23dD"), ["v0", "v1", "v8"], ["v8"],
              got)
    pairs = []
    for _ in range(40):
        t = [v.number(F16) | v.number(F16) << 16 for _ in range(3)]
        r = [fp.fma(F16, Mode(DEFAULT), *(x >> 16 * h & M16 for x in t)) for h in (0, 1)]
        if fp.NAN not in r:
            pairs.append((tuple(t), (r[0] | r[1] << 16,)))
    out.block("manual 16.7", ["v_pk_fmac_f16 v8, v0, v1"], ["v0", "v1", "v8"], ["v8"], pairs)
    few = [(v.integer(32), v.integer(32), c) for _ in range(10) for c in (0, 1)]
    out.block("manual 16.12", ["v_cndmask_b16 v8, v0, v1, $vcc"], ["v0", "v1", "vcc?"], ["v8"],
              [(t, ((t[1] if t[2] else t[0]) & M16 | KEEP,)) for t in few])

    def dx9(a, b, c):
        if F32.zero(a) or F32.zero(b):
            raise fp.Unclear
        return fp.fma(F32, Mode(DEFAULT), a, b, c)
    out.block("manual 16.7", spell("v_fmac_dx9_zero_f32", "v8, v0, v1", "23"), ["v0", "v1", "v8"],
              ["v8"], rows(v.floats(F32, 3, 30), dx9))


def cubes(out, v):
    """Manual, V_CUBEID and its kin, for finite numbers."""
    def pick(x, y, z):
        """Face, s, t, major axis, by value."""
        ax, ay, az = abs(x), abs(y), abs(z)
        if az >= ax and az >= ay:
            return (5 if z < 0 else 4), (-x if z < 0 else x), -y, 2 * z
        if ay >= ax:
            return (3 if y < 0 else 2), x, (-z if y < 0 else z), 2 * y
        return (1 if x < 0 else 0), (z if x < 0 else -z), -y, 2 * x
    values = []
    while len(values) < 60:
        t = tuple(v.number(F32) for _ in range(3))
        if not any(F32.nan(x) or F32.is_inf(x) or F32.zero(x) for x in t):
            values.append(t)
    values += [(a, a ^ x, a ^ y) for a in (0x3f800000, 0x40400000) for x in (0, 1 << 31)
               for y in (0, 1 << 31)]
    for i, name in enumerate(("id", "sc", "tc", "ma")):
        def f(*t, i=i):
            r = pick(*(F32.value(x) for x in t))[i]
            return F32.round(Fraction(r), 0)
        out.block("manual 16.12", spell(f"v_cube{name}_f32", "v8, v0, v1, v2", "3D"),
                  ["v0", "v1", "v2"], ["v8"], rows(values, f))


def matrices(out, v):
    """D = A B + C, 16 by 16: lane l has row (column) l % 16 of A (B); of C and D, register r
    has rows 2 r and 2 r + 1, 16 columns each."""
    for name, bits in (("iu8", 8), ("iu4", 4)):
        regs = 16 * bits // 32
        for signed in ((0, 0), (1, 0), (0, 1), (1, 1)):
            for clamp in (0, 1):
                a, b = ([[v.r.getrandbits(bits) for _ in range(16)] for _ in range(16)]
                        for _ in range(2))
                big = (1 << 31) - 5
                c = [[v.r.choice([v.integer(32), big, 1 << 31]) for _ in range(16)]
                     for _ in range(16)]
                given = {}
                for base, m in ((0, a), (4, b)):
                    for r in range(regs):
                        per = 32 // bits
                        given[f"v{base + r}"] = [
                            sum(m[lane % 16][r * per + k] << bits * k for k in range(per))
                            for lane in range(32)]
                wanted = {}
                for r in range(8):
                    given[f"v{16 + r}"] = [c[2 * r + lane // 16][lane % 16] for lane in range(32)]
                    line = []
                    for lane in range(32):
                        i, j = 2 * r + lane // 16, lane % 16
                        get = [(lambda x, n=n: s(x, bits) if n else x) for n in signed]
                        d = s(c[i][j], 32) + sum(get[0](a[i][k]) * get[1](b[j][k])
                                                 for k in range(16))
                        if clamp:
                            d = max(-1 << 31, min((1 << 31) - 1, d))
                        line.append(d & M32)
                    wanted[f"v{24 + r}"] = line
                last = regs - 1
                out.wave("manual 7.9", [
                    f"v_wmma_i32_16x16x16_{name} v[24:31], v[0:{last}], v[4:{4 + last}], v[16:23] "
                    f"neg_lo:[{signed[0]},{signed[1]},0]" + (" clamp" if clamp else "")],
                    given, wanted, lanes=32)


def lds(out, v):
    for name, f in ATOMICS.items():
        if name == "swap_b":
            continue
        for bits in (32, 64):
            m, d, new = ("v4", "v2", "v10") if bits == 32 else ("v[4:5]", "v[2:3]", "v[10:11]")
            cols = (["v4", "v2"], ["v10"]) if bits == 32 else (["v4:5", "v2:3"], ["v10:11"])
            mask = (1 << bits) - 1
            values = [(v.integer(bits), v.integer(bits)) for _ in range(8)]
            out.block("manual 16.15", [
                f"{LANE}ds_store_b{bits} v1, {m};s_waitcnt 0;ds_{name}{bits} v1, {d};s_waitcnt 0;"
                f"ds_load_b{bits} {new}, v1;s_waitcnt 0"], *cols,
                [(t, (f(*t, bits) & mask,)) for t in values])
    for bits in (32, 64):
        m, d, old, new = ("v4", "v2", "v8", "v10") if bits == 32 else \
            ("v[4:5]", "v[2:3]", "v[8:9]", "v[10:11]")
        third = "v12" if bits == 32 else "v[12:13]"
        cols = (["v4", "v2"], ["v8", "v10"]) if bits == 32 else \
            (["v4:5", "v2:3"], ["v8:9", "v10:11"])
        more = cols[0] + (["v12"] if bits == 32 else ["v12:13"])
        mask = (1 << bits) - 1
        start = f"{LANE}ds_store_b{bits} v1, {m};s_waitcnt 0;"
        end = f";s_waitcnt 0;ds_load_b{bits} {new}, v1;s_waitcnt 0"
        values = [(v.integer(bits), v.integer(bits)) for _ in range(10)]
        out.block("manual 16.15", [f"{start}ds_rsub_rtn_u{bits} {old}, v1, {d}{end}"], *cols,
                  [(t, (t[0], t[1] - t[0] & mask)) for t in values])
        out.block("manual 16.15", [f"{start}ds_rsub_u{bits} v1, {d}{end}"], cols[0], cols[1][1:],
                  [(t, (t[1] - t[0] & mask,)) for t in values])
        three = [t + (v.integer(bits),) for t in values]
        out.block("manual 16.15", [f"{start}ds_mskor_rtn_b{bits} {old}, v1, {d}, {third}{end}"],
                  more, cols[1], [(t, (t[0], t[0] & ~t[1] & mask | t[2])) for t in three])
        out.block("manual 16.15", [f"{start}ds_cmpstore_b{bits} v1, {d}, {third}{end}"],
                  more, cols[1][1:],
                  [(t, (t[1] if t[0] == t[2] else t[0],))
                   for t in three + [(a, b, a) for a, b, _ in three[:4]]])
    three = [(v.integer(32), v.integer(32), v.integer(32)) for _ in range(16)]
    out.block("manual 16.15", [f"{LANE}ds_store_b32 v1, v4;s_waitcnt 0;"
                               "ds_wrap_rtn_b32 v8, v1, v2, v12;s_waitcnt 0;"
                               "ds_load_b32 v10, v1;s_waitcnt 0"],
              ["v4", "v2", "v12"], ["v8", "v10"],
              [(t, (t[0], (t[0] - t[1] if t[0] >= t[1] else t[0] + t[2]) & M32)) for t in three])
    out.block("manual 16.15", [f"{LANE}ds_store_2addr_b32 v1, v4, v5 offset0:0 offset1:1;"
                               "s_waitcnt 0;ds_storexchg_2addr_rtn_b32 v[8:9], v1, v2, v3 "
                               "offset0:0 offset1:1;s_waitcnt 0;"
                               "ds_load_2addr_b32 v[10:11], v1 offset0:0 offset1:1;s_waitcnt 0"],
              ["v4", "v5", "v2", "v3"], ["v8", "v9", "v10", "v11"],
              [(t, t) for t in [tuple(v.integer(32) for _ in range(4)) for _ in range(8)]])
    doubles(out, v)
    words = [v.r.getrandbits(32) for _ in range(64)]
    for lanes in (32, 64):
        out.wave("manual 12.3", ["s_mov_b32 m0, 16;ds_store_addtid_b32 v0 offset:8;s_waitcnt 0;"
                                 "ds_load_addtid_b32 v8 offset:8;s_waitcnt 0"],
                 {"v0": words[:lanes]}, {"v8": words[:lanes], "lds24": words[:lanes]}, lanes=lanes)
        out.wave("manual 16.8", ["v_permlane64_b32 v8, v0"], {"v0": words[:lanes]},
                 {"v8": words[32:64] + words[:32] if lanes == 64 else [0x5a5a123c] * 32},
                 lanes=lanes)  # wave32: no operation


def doubles(out, v):
    """Minimum, maximum and exchange of f64 and f32 in LDS."""
    near = [t for t in v.floats(F64, 2, 20) if not any(F64.nan(x) for x in t)][::2]
    for name, larger in (("min", False), ("max", True)):
        got = rows(near, lambda m, d, k=larger: (m, fp.minmax(F64, Mode(DEFAULT), m, d, k)))
        out.block("manual 13", [
            f"{LANE}ds_store_b64 v1, v[4:5];s_waitcnt 0;ds_{name}_rtn_f64 v[8:9], v1, v[2:3];"
            "s_waitcnt 0;ds_load_b64 v[10:11], v1;s_waitcnt 0"],
            ["v4:5", "v2:3"], ["v8:9", "v10:11"], got)
    cases = [(0x3f800000, 5, 0x3f800000), (0, 7, 1 << 31), (1 << 31, 7, 0), (0x3f800000, 5, 0),
             (0x7f800000, 9, 0x7f800000)]
    out.block("manual 13", [f"{LANE}ds_store_b32 v1, v4;s_waitcnt 0;"
                            "ds_cmpstore_rtn_f32 v8, v1, v2, v12;s_waitcnt 0;"
                            "ds_load_b32 v10, v1;s_waitcnt 0"],
              ["v4", "v2", "v12"], ["v8", "v10"],
              [(t, (t[0], t[1] if F32.value_or_inf(t[0]) == F32.value_or_inf(t[2]) else t[0]))
               for t in cases])


def roots(out, v):
    """Square roots, correctly rounded: within the unit that the manual allows."""
    def root(fmt, b):
        if fmt.nan(b):
            return fmt.quiet(b)
        if fmt.zero(b):
            return b
        if fmt.negative(b):
            return fp.NAN
        if fmt.is_inf(b):
            return b
        x = fmt.value(b)
        shift = 2 * (fmt.f + 8) + 2 * fmt.bias
        n = x * Fraction(4) ** shift
        r = isqrt(int(n))
        exact = r * r == n
        return fmt.round(Fraction(2 * r + (0 if exact else 1), 2) / Fraction(2) ** shift, 0)
    normal = [t for t in v.floats(F32, 1, 60) if not F32.denormal(t[0])]
    out.block("model: correctly rounded", spell("v_sqrt_f32", "v8, v0", "23dD"), ["v0"], ["v8"],
              rows(normal, lambda b: root(F32, b)))
    out.block("model: correctly rounded", ["v_sqrt_f64 v[8:9], v[0:1]"], ["v0:1"], ["v8:9"],
              rows(v.floats(F64, 1, 30), lambda b: root(F64, b)))


def scalars(out, v):
    wave = {"kind": "per wave"}
    values = [(v.integer(64), v.integer(64), c) for _ in range(6) for c in (0, 1)]
    out.block("manual 16.1", ["s_cselect_b64 s[8:9], s[4:5], s[6:7]"], ["s4:5", "s6:7", "scc"],
              ["s8:9", "scc"], [(t, (t[0] if t[2] else t[1], t[2])) for t in values], **wave)
    out.block("manual 16.3", ["s_cmov_b64 s[8:9], s[4:5]"], ["s4:5", "s8:9", "scc"],
              ["s8:9", "scc"], [(t, (t[0] if t[2] else t[1], t[2])) for t in values], **wave)
    pairs = [(a, b) for a in (0, 1, 31, 63, 64) for b in (0, 5, 32, 63)]
    out.block("manual 16.1", ["s_bfm_b64 s[8:9], s4, s5"], ["s4", "s5"], ["s8:9"],
              [(t, (((1 << (t[0] & 63)) - 1) << (t[1] & 63) & (1 << 64) - 1,)) for t in pairs],
              **wave)
    words = [v.r.getrandbits(32) for _ in range(64)]
    buffer = "s_mov_b64 s[44:45], s[82:83];s_and_b32 s45, s45, 0xffff;s_mov_b32 s46, 256;" \
             "s_mov_b32 s47, 0x31016fac;"
    for n in (2, 4, 8, 16):
        out.wave("manual 8.2", [f"{buffer}s_buffer_load_b{32 * n} s[8:{7 + n}], s[44:47], 0x10;"
                                "s_waitcnt 0"],
                 {"data0": words}, {f"s{8 + i}": [words[4 + i]] for i in range(n)})
