"""Vectors of what the other files leave out: interpolation, relative registers, LDS
leftovers, jumps."""
# SPDX-License-Identifier: MIT
from fractions import Fraction

import fp
from emit import DEFAULT, File, Values, rows, spell
from fp import F16, F32, F64, Mode
from ints import M16, M32, M64, s
from waves import FLAT, LANE, OLD, RAW

KEEP = OLD & 0xffff0000
D32, HI = Mode(DEFAULT), 0x8000


# ---- interpolation: sources from lanes of the quad (manual 12.3) ---------------------

def to_f16(x, rounding):
    if F32.nan(x) or F32.is_inf(x):
        raise fp.Unclear
    return F16.round(F32.value(x), rounding, F32.negative(x))


def interpolation(out, v):
    def bits32():
        return [v.r.getrandbits(1) << 31 | v.r.randint(118, 134) << 23 | v.r.getrandbits(23)
                for _ in range(64)]

    def halves():
        return [v.r.getrandbits(1) << 15 | v.r.randint(9, 20) << 10 | v.r.getrandbits(10) |
                (v.r.getrandbits(1) << 15 | v.r.randint(9, 20) << 10 | v.r.getrandbits(10)) << 16
                for _ in range(64)]

    def widen(h):
        return F32.round(F16.value(h), fp.NEAREST, F16.negative(h))
    exec_mask = 0x9669a55a0ff0c33c
    for lanes in (32, 64):
        for mode in (DEFAULT, 0x3fe):
            p, ij, p0 = bits32(), bits32(), bits32()
            m = Mode(mode)
            for name, first, last in (("p10", 1, 0), ("p2", 2, None)):
                for text, flip in (("v0, v1, v2", (0, 0, 0)), ("-v0, v1, -v2", (1, 0, 1))):
                    want = []
                    for lane in range(lanes):
                        q = lane & ~3
                        t = [p[q + first], ij[lane], p0[lane if last is None else q + last]]
                        t = [x ^ f << 31 for x, f in zip(t, flip)]
                        want.append(fp.fma(F32, m, *t))
                    out.wave("manual 12.3", [f"v_interp_{name}_f32 v8, {text} wait_exp:7"],
                             {"v0": p[:lanes], "v1": ij[:lanes], "v2": p0[:lanes]}, {"v8": want},
                             mode=mode, lanes=lanes)
            ph, p0h = halves(), halves()
            for rtz in ("", "rtz_"):
                mm = Mode(mode | 15) if rtz else m
                for sel in (0, 1):
                    def half(x, k=sel):
                        return x >> 16 * k & M16
                    want = [fp.fma(F32, mm, widen(half(ph[(i & ~3) + 1])), ij[i],
                                   widen(half(p0h[i & ~3]))) for i in range(lanes)]
                    out.wave("manual 12.3.1", [
                        f"v_interp_p10_{rtz}f16_f32 v8, v0, v1, v2 op_sel:[{sel},0,{sel},0]"],
                        {"v0": ph[:lanes], "v1": ij[:lanes], "v2": p0h[:lanes]}, {"v8": want},
                        mode=mode, lanes=lanes)
                    want = []
                    for i in range(lanes):
                        x = fp.fma(F32, mm, widen(half(ph[(i & ~3) + 2])), ij[i], p0[i])
                        h = to_f16(x, mm.rounding(F16))
                        keep = OLD & (0xffff0000 if not sel else 0xffff)
                        on = exec_mask >> i & 1
                        want.append(keep | h << 16 * sel if on else OLD)
                    out.wave("manual 12.3.1", [
                        f"v_interp_p2_{rtz}f16_f32 v8, v0, v1, v2 op_sel:[{sel},0,0,{sel}]"],
                        {"exec": [exec_mask & M32, exec_mask >> 32], "v0": ph[:lanes],
                         "v1": ij[:lanes], "v2": p0[:lanes]}, {"v8": want}, mode=mode, lanes=lanes)
    parameters(out, v)


def parameters(out, v):
    """LDS_DIRECT_LOAD, LDS_PARAM_LOAD: M0 has the base and where primitives begin."""
    put = LANE + "ds_store_b128 v1, v[4:7];s_waitcnt 0;"
    rows_ = {f"v{4 + i}": [v.r.getrandbits(32) for _ in range(32)] for i in range(4)}

    def lds(byte):
        return rows_[f"v{4 + byte // 4 % 4}"][byte // 16]
    for kind, f in ((0, lambda x: x & 255), (1, lambda x: x & M16), (2, lambda x: x),
                    (4, lambda x: s(x, 8) & M32), (5, lambda x: s(x, 16) & M32)):
        at = 4 * v.r.randint(0, 100)
        out.wave("manual 12.4", [f"{put}s_mov_b32 m0, 0x{kind << 16 | at:x};"
                                 "lds_direct_load v8 wait_vdst:15;s_waitcnt_expcnt null, 0x0"],
                 rows_, {"v8": [f(lds(at))] * 32}, lanes=32)


# ---- registers by M0 ----------------------------------------------------------------

def relative(out, v):
    values = [(v.integer(32),) for _ in range(12)]
    same = [(t, t) for t in values]
    for m0 in (1, 5):
        pre = f"s_mov_b32 m0, {m0};"
        for name, text, src, dst in (
                ("v_movreld_b32", "v8, v0", "v0", f"v{8 + m0}"),
                ("v_movrels_b32", "v8, v0", f"v{m0}", "v8"),
                ("v_movrelsd_b32", "v8, v0", f"v{m0}", f"v{8 + m0}")):
            out.block("manual 16.8", [pre + o for o in spell(name, text, "23dD")], [src], [dst], same)
    pre = "s_mov_b32 m0, 0x50003;"
    out.block("manual 16.8", [pre + o for o in spell("v_movrelsd_2_b32", "v8, v0", "23dD")], ["v3"],
              ["v13"], same)
    two = [(v.integer(32), v.integer(32)) for _ in range(12)]
    out.block("manual 16.8", [pre + "v_swaprel_b32 v8, v0"], ["v3", "v13"], ["v3", "v13"],
              [(t, t[::-1]) for t in two])
    out.block("manual 16.8", [f"s_mov_b32 m0, 2;v_movreld_b32{e} v8, 0x12345678"
                              for e in ("_e32", "_e64")], ["v0"], ["v10"], [((0,), (0x12345678,))])
    wave = {"kind": "per wave"}
    pairs = [(v.integer(64), v.integer(64)) for _ in range(6)]
    out.block("manual 16.3", ["s_mov_b32 m0, 2;s_movrels_b64 s[8:9], s[4:5]"], ["s6:7", "s4:5"],
              ["s8:9"], [(t, t[:1]) for t in pairs], **wave)
    out.block("manual 16.3", ["s_mov_b32 m0, 2;s_movreld_b64 s[8:9], s[4:5]"], ["s4:5", "s8:9"],
              ["s10:11", "s8:9"], [(t, t) for t in pairs], **wave)
    out.block("manual 16.3", ["s_mov_b32 m0, 0x30001;s_movrelsd_2_b32 s8, s4"], ["s5", "s8"],
              ["s11", "s8"], [((a & M32, b & M32),) * 2 for a, b in pairs], **wave)
    out.block("manual 16.3", ["s_mov_b32 m0, 1;s_movreld_b32 s8, 0x12345678"], ["s5"], ["s9"],
              [((0,), (0x12345678,))], **wave)
    out.block("manual 16.3", ["s_mov_b32 m0, 2;s_movreld_b64 s[8:9], 0x12345678"], ["s5"],
              ["s10:11"], [((0,), (0x12345678,))], **wave)


# ---- jumps --------------------------------------------------------------------------

def jumps(out, v):
    wave = {"kind": "per wave"}
    # s[10:11] is the address behind s_getpc; what follows it has 4 bytes each
    out.block("manual 16.3", ["s_mov_b32 s8, 1;s_getpc_b64 s[10:11];s_add_u32 s10, s10, 16;"
                              "s_addc_u32 s11, s11, 0;s_swappc_b64 s[12:13], s[10:11];"
                              "s_mov_b32 s8, 2;s_mov_b32 s8, 3;s_sub_u32 s9, s10, s12"], ["s4"],
              ["s8", "s9"], [((0,), (3, 4))], **wave)
    out.block("manual 16.2", ["s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0x5"], ["mode"],
              ["mode"], [((m,), (m & ~0xf0 | 0x50,)) for m in (0, 0x3ff, 0x3f0)], **wave)
    out.block("manual 16.2", ["s_version 5;s_waitcnt_vscnt null, 0x0;s_waitcnt_vmcnt null, 0x0;"
                              "s_waitcnt_expcnt null, 0x0;s_waitcnt_lgkmcnt null, 0x0;s_nop 3;"
                              "s_clause 0x1;s_delay_alu instid0(VALU_DEP_1);s_sleep 1;s_setprio 3;"
                              "s_setprio 0;s_wakeup;s_waitcnt_depctr 0xfff;s_icache_inv;s_gl1_inv;"
                              "s_dcache_inv;buffer_gl0_inv;buffer_gl1_inv;v_nop;v_pipeflush;"
                              "s_set_inst_prefetch_distance 1;s_barrier"],
              ["s4", "scc", "vcc"], ["s4", "scc", "vcc"],
              [((a, a & 1, b),) * 2 for a, b in ((5, 7), (0x80000000, M64), (6, 0))], lanes=64, **wave)


# ---- vector operations that have no family of their own ------------------------------

def absdiff(a, b):
    return abs(a - b)


def byte(x, i):
    return x >> 8 * i & 255


def vector(out, v):
    got = []
    for _ in range(30):
        a, ref = v.integer(64), v.integer(32)
        acc = [v.integer(32) for _ in range(4)]
        d = tuple(acc[k] + sum(absdiff(byte(a, k + i), byte(ref, i)) for i in range(4)
                               if byte(ref, i)) & M32 for k in range(4))
        got.append(((a, ref, *acc), d))
    out.block("manual 16.12", ["v_mqsad_u32_u8 v[8:11], v[0:1], v2, v[4:7]"],
              ["v0:1", "v2", "v4", "v5", "v6", "v7"], ["v8", "v9", "v10", "v11"], got)

    def lit(a, b, c):
        off = 0xff7fffff
        if b == off or b == 0xff800000 or F32.nan(b) or F32.nan(c) or F32.negative(c) or F32.zero(c):
            return off
        if F32.zero(a) or F32.zero(b):
            raise fp.Unclear
        return fp.mul(F32, D32, a, b)
    values = v.floats(F32, 3, 40) + [(x, y, z) for x in (0x40490fdb, 0xbf800000)
                                     for y in (0xff7fffff, 0xff800000, 0xff7ffffe, 0x3f000000)
                                     for z in (0x3f800000, 0, 0x80000001, 0x7fc00000)]
    out.block("manual 16.12", spell("v_mullit_f32", "v8, v0, v1, v2", "3D"), ["v0", "v1", "v2"],
              ["v8"], rows(values, lit))

    def saturate(x):
        return max(-1 << 31, min((1 << 31) - 1, x)) & M32

    def nearest(b):
        if F32.nan(b):
            return 0
        if F32.is_inf(b):
            return 0x80000000 if F32.negative(b) else 0x7fffffff
        x = F32.value(b)
        if F32.value(F32.round(x + Fraction(1, 2), 0)) != x + Fraction(1, 2) and abs(x) < 1 << 23:
            raise fp.Unclear
        return saturate((x + Fraction(1, 2)).__floor__() if abs(x) < 1 << 23 else int(x))
    values = v.floats(F32, 1, 20) + [(F32.round(Fraction(k, 8), 0),) for k in range(-30, 30, 3)] + \
        [(F32.round(Fraction(k, 2), 0),) for k in (-7, -5, -3, -1, 1, 3, 5, 7, 8388607)]
    out.block("manual 16.8", spell("v_cvt_nearest_i32_f32", "v8, v0", "23dD"), ["v0"], ["v8"],
              rows(values, nearest))

    def to_byte(b, k, c):
        if F32.nan(b):
            n = 0
        elif F32.is_inf(b):
            n = 0 if F32.negative(b) else 255
        else:
            x = F32.value(b)
            if 0 < x < 255 and x.denominator != 1:
                raise fp.Unclear  # how it is rounded
            n = int(max(0, min(255, x)))
        at = 8 * (k & 3)
        return c & ~(255 << at) | n << at
    values = [(b, k, v.integer(32)) for k in (0, 1, 2, 3, 6) for b in
              (0, 0x3f800000, 0x437f0000, 0x43800000, 0xbf800000, 0x7f800000, 0x7fc00000, 0x42f60000)]
    out.block("manual 16.12", spell("v_cvt_pk_u8_f32", "v8, v0, v1, v2", "3D"), ["v0", "v1", "v2"],
              ["v8"], rows(values, to_byte))
    fixup(out, v)
    preop(out, v)
    upper_halves(out, v)
    two = [(v.integer(32), v.integer(32), c) for _ in range(6) for c in (0, 1)]
    out.block("manual 16.11", ["v_dual_cndmask_b32 v8, v0, v1 :: v_dual_mov_b32 v9, v3",
                               "v_dual_mov_b32 v9, v3 :: v_dual_cndmask_b32 v8, v0, v1"],
              ["v0", "v1", "vcc?"], ["v8"], [(t, (t[1] if t[2] else t[0],)) for t in two], lanes=32)


def upper_halves(out, v):
    """OP_SEL where the assembler has no text for it: bits 11 to 13 sources, 14 destination."""
    def number():
        return v.r.getrandbits(1) << 15 | v.r.randint(12, 18) << 10 | v.r.getrandbits(10)
    low, got = OLD & M16, []
    for _ in range(12):  # the accumulator is the half that is written
        a, b, c = number(), number(), number()
        got.append(((a | low << 16, b << 16 | low, c << 16 | low),
                    (fp.fma(F16, D32, a, b, c) << 16 | low,)))
    out.block("model: halves are registers", [".long 0xd5365008, 0x00020300"],  # v_fmac_f16
              ["v0", "v1", "v8"], ["v8"], [r for r in got if isinstance(r[1][0], int)])
    numbers = [number() for _ in range(12)]

    def high(x):
        return (x << 16 | v.r.getrandbits(16),)

    def result(x):
        return (x << 16 | low,)
    out.block("manual 7.2.2.4", [".long 0xd5df4808, 0x00000100"], ["v0"], ["v8"],  # v_fract_f16
              [(high(x), result(fp.fract(F16, D32, x))) for x in numbers])
    out.block("manual 7.2.2.4", [".long 0xd58b0808, 0x00000100"], ["v0"], ["v8"],  # v_cvt_f32_f16
              [(high(x), (F32.round(F16.value(x), 0),)) for x in numbers])
    out.block("manual 7.2.2.4", [".long 0xd58a4008, 0x00000100"], ["v0"], ["v8"],  # v_cvt_f16_f32
              [((F32.round(F16.value(x), 0),), result(x)) for x in numbers])
    out.block("manual 7.2.2.4", [".long 0xd53b5808, 0x00020300"], ["v0", "v1"], ["v8"],  # v_ldexp
              [(high(x) + high(k & M16), result(fp.ldexp(F16, D32, x, k)))
               for x, k in zip(numbers, (-3, -2, -1, 0, 1, 2, 3, 4, -4, 5, 0, 1))])
    out.block("manual 7.2.2.4", [".long 0xd6616808, 0x040a0300"], ["v0", "v1", "v2"], ["v8"],
              [(high(a) + (b | low << 16,) + high(c),  # v_minmax_f16
                result(fp.chain3(F16, D32, a, b, c, False, True)))
               for a, b, c in zip(numbers, numbers[1:], numbers[2:])])


def fixup(out, v):
    """V_DIV_FIXUP_F16, by the manual's text."""
    def fix(q, d, n):
        if F16.nan(n):
            r = F16.quiet(n)
        elif F16.nan(d):
            r = F16.quiet(d)
        elif F16.zero(d) and F16.zero(n) or F16.is_inf(d) and F16.is_inf(n):
            r = 0xfe00
        else:
            sign = (d ^ n) & HI
            if F16.zero(d) or F16.is_inf(n):
                r = sign | F16.inf
            elif F16.is_inf(d) or F16.zero(n):
                r = sign
            else:
                if F16.nan(q):
                    raise fp.Unclear
                r = sign | q & 0x7fff
        return r | KEEP
    out.block("manual 16.12", spell("v_div_fixup_f16", "v8, v0, v1, v2", "3D"), ["v0", "v1", "v2"],
              ["v8"], rows(v.floats(F16, 3, 60, 20), fix))


PI_DIGITS = 3141592653589793238462643383279502884197169399375105820974944592307816406286208998628034825342117067982148086513282306647093844609550582231725359408128481117450284102701938521105559644622948954930381964428810975665933446128475648233786783165271201909145648566923460348610454326648213393607260249141273724587006606315588174881520920962829254091715364367892590360011330530548820466521384146951941511609433057270365759591953092186117381932611793105118548074462379962749567351885752724891227938183011949  # noqa


def preop(out, v):
    """53 bits of 2 / pi (manual, V_TRIG_PREOP_F64)."""
    pi = Fraction(PI_DIGITS, 10 ** (len(str(PI_DIGITS)) - 1))
    bits = int(2 / pi * (1 << 1201))

    def segment(b, k):
        e = b >> 52 & 2047
        shift = (k & 31) * 53 + max(0, e - 1077)
        if shift > 1100:
            raise fp.Unclear
        # the bits that the shift brings into the whole part, 53 of them
        x = bits >> max(0, 1201 - 53 - shift) & (1 << 53) - 1
        scale = -53 - shift + (128 if e >= 1968 else 0)
        return F64.round(Fraction(x) * Fraction(2) ** scale, 0)
    values = [(x << 52 | 0x123456789, k) for x in (1023, 1077, 1078, 1090, 1200, 1500, 1800, 2000)
              for k in (0, 1, 2, 5, 33)]
    out.block("manual 16.12", ["v_trig_preop_f64 v[8:9], v[0:1], v2"], ["v0:1", "v2"], ["v8:9"],
              rows(values, segment))


# ---- LDS and memory -----------------------------------------------------------------

def store_and_load(bits, op, operands, back=True):
    m, new = ("v4", "v10") if bits == 32 else ("v[4:5]", "v[10:11]")
    return f"{LANE}ds_store_b{bits} v1, {m};s_waitcnt 0;ds_{op} {operands};s_waitcnt 0;" \
           f"ds_load_b{bits} {new}, v1;s_waitcnt 0"


def lds(out, v):
    for bits in (32, 64):
        fmt = F32 if bits == 32 else F64
        d, c = ("v2", "v12") if bits == 32 else ("v[2:3]", "v[12:13]")
        cols = ["v4", "v2", "v12"] if bits == 32 else ["v4:5", "v2:3", "v12:13"]
        new, old = ("v10", "v8") if bits == 32 else ("v10:11", "v8:9")
        near = [t for t in v.floats(fmt, 2, 20) if not any(fmt.nan(x) for x in t)][::2]
        for name, larger in (("min", False), ("max", True)):
            out.block("manual 13", [store_and_load(bits, f"{name}_f{bits}", f"v1, {d}")], cols[:2],
                      [new], rows(near, lambda m, x, k=larger: fp.minmax(fmt, D32, m, x, k)))
        nan = [(fmt.inf | 1, fmt.bias << fmt.f), (fmt.bias << fmt.f, fmt.inf | 5),
               (fmt.inf | fmt.quiet_bit | 3, fmt.inf), (fmt.inf, fmt.inf | fmt.quiet_bit | 3)]

        def nans(m, x):
            if fmt.snan(x):
                return fmt.quiet(x)
            if fmt.snan(m):
                return fmt.quiet(m)
            return x if fmt.nan(m) else m
        for mode in (DEFAULT, 0x1f0):  # IEEE mode has no influence
            for name in ("min", "max"):
                out.block("manual 13.3", [store_and_load(bits, f"{name}_f{bits}", f"v1, {d}")],
                          cols[:2], [new], rows(nan, nans), mode)
        one = fmt.bias << fmt.f
        cases = [(one, 5, one), (0, 7, fmt.sign), (fmt.sign, 7, 0), (one, 5, 0),
                 (fmt.inf, 9, fmt.inf), (fmt.inf | fmt.quiet_bit, 9, fmt.inf | fmt.quiet_bit)]
        swap = [(t, t[1] if not fmt.nan(t[0]) and fmt.value_or_inf(t[0]) == fmt.value_or_inf(t[2])
                 else t[0]) for t in cases]
        out.block("manual 13.3", [store_and_load(bits, f"cmpstore_f{bits}", f"v1, {d}, {c}")], cols,
                  [new], [(t, (r,)) for t, r in swap])
        olds = {32: "v8", 64: "v[8:9]"}[bits]
        out.block("manual 13.3", [store_and_load(bits, f"cmpstore_rtn_f{bits}",
                                                 f"{olds}, v1, {d}, {c}")], cols, [old, new],
                  [(t, (t[0], r)) for t, r in swap])
        three = [tuple(v.integer(bits) for _ in range(3)) for _ in range(10)]
        out.block("manual 16.15", [store_and_load(bits, f"mskor_b{bits}", f"v1, {d}, {c}")], cols,
                  [new], [(t, (t[0] & ~t[1] | t[2],)) for t in three])
    # flushed where MODE says so: only what is compared, not what is kept
    tiny = [(1, 0x80000001), (0x80000001, 1), (0x80000002, 0x80000001)]
    for name, larger in (("min", False), ("max", True)):
        def flushed(m, x, k=larger):
            a, b = F32.flush(m), F32.flush(x)
            if a == b:
                raise fp.Unclear
            return x if (fp.key(F32, b) > fp.key(F32, a)) == k else m
        out.block("manual 13.2", [store_and_load(32, f"{name}_f32", "v1, v2")], ["v4", "v2"], ["v10"],
                  rows(tiny, flushed), 0x3c0)
    add = [t for t in v.floats(F32, 2, 20) if not any(F32.nan(x) for x in t)][::2]
    for mode in (DEFAULT, 0x3f3, 0x3c0):
        m2 = Mode(mode & ~3)
        out.block("manual 13", [store_and_load(32, "add_f32", "v1, v2")], ["v4", "v2"], ["v10"],
                  rows(add, lambda m, d: fp.add(F32, m2, m, d)), mode)
    lds_rest(out, v)


def lds_rest(out, v):
    pairs = [(v.integer(64), v.integer(64)) for _ in range(12)]

    def conditional(m, d):
        r = 0
        for sh in (0, 32):
            a, b = m >> sh & M32, d >> sh & M32
            r |= (b & 0x7fffffff if b >> 31 else a) << sh
        return r
    out.block("manual 16.15", [store_and_load(64, "condxchg32_rtn_b64", "v[8:9], v1, v[2:3]")],
              ["v4:5", "v2:3"], ["v8:9", "v10:11"], [(t, (t[0], conditional(*t))) for t in pairs])
    four = [tuple(v.integer(64) for _ in range(4)) for _ in range(8)]
    regs = "v[8:11], v1, v[2:3], v[12:13]"
    for kind, o0, o1 in (("", 0, 1), ("stride64_", 0, 2)):
        load = f"ds_load_2addr_{kind}b64 v[16:19], v1 offset0:{o0} offset1:{o1};s_waitcnt 0"
        out.block("manual 16.15", [
            f"{LANE}ds_store_2addr_{kind}b64 v1, v[4:5], v[6:7] offset0:{o0} offset1:{o1};s_waitcnt 0;"
            f"ds_storexchg_2addr_{kind}rtn_b64 {regs} offset0:{o0} offset1:{o1};s_waitcnt 0;{load}"],
            ["v4:5", "v6:7", "v2:3", "v12:13"], ["v8:9", "v10:11", "v16:17", "v18:19"],
            [(t, t) for t in four])
    small = [tuple(x & M32 for x in t) for t in four]
    out.block("manual 16.15", [
        f"{LANE}ds_store_2addr_stride64_b32 v1, v4, v5 offset0:1 offset1:5;s_waitcnt 0;"
        "ds_storexchg_2addr_stride64_rtn_b32 v[8:9], v1, v2, v3 offset0:1 offset1:5;s_waitcnt 0;"
        "ds_load_2addr_stride64_b32 v[10:11], v1 offset0:1 offset1:5;s_waitcnt 0"],
        ["v4", "v5", "v2", "v3"], ["v8", "v9", "v10", "v11"], [(t, t) for t in small])
    for lanes in (32, 64):
        for mask in (M64, 0x9669a55a0ff0c33c, 0x10):
            mask &= (1 << lanes) - 1
            n = bin(mask).count("1")
            exec_ = {"exec": [mask & M32, mask >> 32]}
            for op, after in (("append", 1000 + n), ("consume", 1000 - n)):
                out.wave("manual 16.15", [
                    "v_mov_b32 v1, 0;v_mov_b32 v2, 0x3e8;ds_store_b32 v1, v2 offset:72;"
                    f"s_waitcnt 0;s_mov_b32 m0, 64;ds_{op} v8 offset:8;s_waitcnt 0"], exec_,
                    {"v8": [1000 if mask >> i & 1 else OLD for i in range(lanes)],
                     "lds72": [after]}, lanes=lanes)


def global_rest(out, v):
    words = [v.r.getrandbits(32) for _ in range(64)]
    for lanes in (32, 64):
        out.wave("manual 16.20", ["global_load_addtid_b32 v8, s[82:83] offset:4;s_waitcnt 0"],
                 {"data0": words}, {"v8": (words[1:] + [0])[:lanes - 1]}, lanes=lanes)
        out.wave("manual 16.20", ["global_store_addtid_b32 v0, s[82:83] offset:8;s_waitcnt 0"],
                 {"v0": words[:lanes]}, {"data8": words[:lanes]}, lanes=lanes)
    for bits in (32, 64):
        values = []
        for _ in range(16):
            m = v.integer(bits)
            values.append((m, v.integer(bits), m if v.r.getrandbits(1) else v.integer(bits)))
        m, pair, new = ("v4", "v[14:15]", "v10") if bits == 32 else ("v[4:5]", "v[14:17]", "v[10:11]")
        n = bits // 32
        cols = ["v4", "v14", "v15"] if n == 1 else ["v4:5", "v14:15", "v16:17"]
        outs = ["v14", "v10"] if n == 1 else ["v14:15", "v10:11"]
        first = pair.replace("[14:15]", "14") if n == 1 else "v[14:15]"
        for op, f in ((f"cmpswap_b{bits}", lambda t: t[1] if t[0] == t[2] else t[0]),):
            out.block("manual 16.20", [
                f"{LANE}{FLAT}flat_store_b{bits} v[20:21], {m};s_waitcnt 0;"
                f"flat_atomic_{op} {first}, v[20:21], {pair} glc;s_waitcnt 0;"
                f"flat_load_b{bits} {new}, v[20:21];s_waitcnt 0",
                f"{LANE}{RAW}buffer_store_b{bits} {m}, v1, s[44:47], 0 offen;s_waitcnt 0;"
                f"buffer_atomic_{op} {pair}, v1, s[44:47], 0 offen glc;s_waitcnt 0;"
                f"buffer_load_b{bits} {new}, v1, s[44:47], 0 offen;s_waitcnt 0"], cols, outs,
                [(t, (t[0], f(t))) for t in values])
    pairs = [(v.integer(32), v.integer(32)) for _ in range(16)]
    out.block("manual 16.20", [
        f"{LANE}global_store_b32 v1, v4, s[82:83];s_waitcnt 0;"
        "global_atomic_csub_u32 v8, v1, v2, s[82:83] glc;s_waitcnt 0;"
        "global_load_b32 v10, v1, s[82:83];s_waitcnt 0",
        f"{LANE}{RAW}buffer_store_b32 v4, v1, s[44:47], 0 offen;v_mov_b32 v8, v2;s_waitcnt 0;"
        "buffer_atomic_csub_u32 v8, v1, s[44:47], 0 offen glc;s_waitcnt 0;"
        "buffer_load_b32 v10, v1, s[44:47], 0 offen;s_waitcnt 0"],
        ["v4", "v2"], ["v8", "v10"], [((m, d), (m, 0 if m < d else m - d)) for m, d in pairs])
    one = 0x3f800000
    cases = [(one, 5, one), (0, 7, 1 << 31), (1 << 31, 7, 0), (one, 5, 0), (F32.inf, 9, F32.inf),
             (0x7fc00000, 9, 0x7fc00000)]
    got = [(t, (t[0], t[1] if not F32.nan(t[0]) and
                F32.value_or_inf(t[0]) == F32.value_or_inf(t[2]) else t[0])) for t in cases]
    out.block("manual 13.3", [
        f"{LANE}global_store_b32 v1, v4, s[82:83];s_waitcnt 0;"
        "global_atomic_cmpswap_f32 v14, v1, v[14:15], s[82:83] glc;s_waitcnt 0;"
        "global_load_b32 v10, v1, s[82:83];s_waitcnt 0",
        f"{LANE}{FLAT}flat_store_b32 v[20:21], v4;s_waitcnt 0;"
        "flat_atomic_cmpswap_f32 v14, v[20:21], v[14:15] glc;s_waitcnt 0;"
        "flat_load_b32 v10, v[20:21];s_waitcnt 0",
        f"{LANE}{RAW}buffer_store_b32 v4, v1, s[44:47], 0 offen;s_waitcnt 0;"
        "buffer_atomic_cmpswap_f32 v[14:15], v1, s[44:47], 0 offen glc;s_waitcnt 0;"
        "buffer_load_b32 v10, v1, s[44:47], 0 offen;s_waitcnt 0"],
        ["v4", "v14", "v15"], ["v14", "v10"], got)


def constants(out):
    """Inline constants have the operand's type; packed ones are in the lower half."""
    one = [("v_pk_add_f16 v8, v0, 1.0", 0, 0x3c00), ("v_pk_add_u16 v8, v0, 5", 0, 5),
           ("v_pk_add_f16 v8, v0, 1.0 op_sel_hi:[1,0]", 0, 0x3c003c00),
           ("v_pk_add_u16 v8, v0, -5", 0, 0xfffffffb), ("v_cvt_f32_f16_e32 v8, 1.0", 0, 0x3f800000),
           ("v_add_f16_e32 v8, 1.0, v0", 0, KEEP | 0x3c00),
           ("v_add_nc_u16 v8, v0, 1.0", 0, KEEP | 0x3c00),
           ("v_mad_u32_u16 v8, 1.0, 1, v0", 0, 0x3c00), ("v_max_i16 v8, v0, -1", 0x8000, KEEP | M16),
           ("v_dot4_u32_u8 v8, v0, 1.0, 0", 0x01010101, 0x3f + 0x80),
           ("v_fma_mix_f32 v8, 1.0, v0, 1.0", 0x40000000, 0x40400000),
           ("v_fma_mix_f32 v8, v0, 1.0, v0 op_sel_hi:[0,1,0]", 0x40000000, 0x40800000),
           ("v_fma_mix_f32 v8, v0, -2.0, 0.5 op_sel_hi:[1,1,1]", 0x4200, 0xc0b00000),
           ("v_fma_mix_f32 v8, -v0, 1.0, v0 op_sel:[0,1,0] op_sel_hi:[0,1,0]", 0x40000000, 0x40000000),
           ("v_fma_mixlo_f16 v8, v0, 1.0, 1.0 op_sel_hi:[0,0,1]", 0x40000000, KEEP | 0x4200),
           ("v_fma_mixhi_f16 v8, 4.0, v0, 1.0 op_sel_hi:[1,1,0]", 0x3c00, 0x45000000 | OLD & M16)]
    for op, given, wanted in one:
        out.block("manual 5.7", [op], ["v0"], ["v8"], [((given,), (wanted,))])
    for op, given, wanted in (
            ("v_add_f64 v[8:9], v[0:1], 1.0", 0, 0x3ff << 52), ("v_add_f64 v[8:9], v[0:1], 3", 0, 3),
            ("v_add_f64 v[8:9], v[0:1], -2.0", 0, 0xc << 60),
            ("v_lshrrev_b64 v[8:9], 4, 1.0", 0, 0x3ff << 48), ("v_lshlrev_b64 v[8:9], 4, -1", 0, M64 - 15),
            ("v_mad_u64_u32 v[8:9], null, -1, 2, v[0:1]", 1, 0x1ffffffff),
            ("v_mad_i64_i32 v[8:9], null, -1, 2, v[0:1]", 1, M64)):
        out.block("manual 5.7", [op], ["v0:1"], ["v8:9"], [((given,), (wanted,))])


def addressing(out, v):
    """The same dword by every kind of address (manual 11.2, 8.2)."""
    values = [(v.integer(32),) for _ in range(8)]
    same = [(t, t) for t in values]
    put = LANE + "v_add_nc_u32 v2, 0xfffff000, v1;s_mov_b32 s20, 0xfffff000;s_mov_b32 s21, 0;" \
        "s_sub_u32 s44, s82, s20;s_subb_u32 s45, s83, 0;" + FLAT + \
        "global_store_b32 v1, v4, s[82:83];s_waitcnt 0;"
    forms = ["v8, v[20:21], off", "v8, v1, s[82:83]",
             "v8, v2, s[44:45]",  # the VGPR is unsigned
             "v8, v3, s[82:83] offset:-256",
             "v8, v[22:23], off offset:-4096", "v8, v[24:25], off offset:4095"]
    more = "v_add_nc_u32 v3, 0x100, v1;" \
        "v_add_co_u32 v22, $vcc, 0x1000, v20;v_add_co_ci_u32_e64 v23, $s40, v21, 0, $vcc;" \
        "v_add_co_u32 v24, $vcc, 0xfffff001, v20;v_add_co_ci_u32_e64 v25, $s40, v21, -1, $vcc;"
    for form in forms:
        out.block("manual 11.2", [f"{put}{more}global_load_b32 {form};s_waitcnt 0"], ["v4"], ["v8"],
                  same)
    out.block("manual 11.2", [f"{put}{more}flat_load_b32 v8, v[20:21];s_waitcnt 0",
                              f"{put}{more}flat_load_b32 v8, v[24:25] offset:4095;s_waitcnt 0"],
              ["v4"], ["v8"], same)
    two = [(v.integer(32), v.integer(32)) for _ in range(8)]
    setup = "s_movk_i32 s20, 0x40;v_mov_b32 v1, 32;v_mov_b32 v2, 0x50;s_movk_i32 s22, 0x100;"
    places = {0x60: ["v1, s20", "off, s20 offset:32", "v2, off offset:16", "off, off offset:96",
                     "v1, s22 offset:-192", "off, s22 offset:-160", "v2, s20 offset:-48"]}
    for at, names in places.items():
        for i, store in enumerate(names):
            load = names[(i + 3) % len(names)]
            s_addr, s_rest = store.split(", ")
            out.block("manual 11.3", [
                f"{setup}scratch_store_b64 off, v[4:5], off offset:{at - 4};"
                f"scratch_store_b32 {s_addr}, v5, {s_rest};s_waitcnt 0;"
                f"scratch_load_b32 v8, {load};scratch_load_b32 v9, off, off offset:{at - 4};"
                "s_waitcnt 0"], ["v4", "v5"], ["v8", "v9"],
                [(t, (t[1], t[0])) for t in two])
    words = [v.r.getrandbits(32) for _ in range(64)]
    pre = "s_mov_b32 s20, 0xfffff000;s_sub_u32 s44, s82, s20;s_subb_u32 s45, s83, 0;"
    for text, k in (("s[44:45], s20 offset:0x8", 2), ("s[44:45], s21 offset:-4", 3),
                    ("s[82:83], 0xc", 3), ("s[46:47], -0x10", 4)):
        out.wave("manual 8.2", [f"{pre}s_add_u32 s21, s20, 16;s_add_u32 s46, s82, 32;"
                                f"s_addc_u32 s47, s83, 0;s_load_b32 s8, {text};s_waitcnt 0"],
                 {"data0": words}, {"s8": [words[k]]})


def half_registers(out, v):
    """FMAs with a constant behind them, which keep the upper half of what they write, and
    V_SWAP_B16, VOP1 0x66, with every choice of halves: bit 7 of a register's number."""
    k = 0x4248

    def keep(x):
        if x == fp.NAN:
            raise fp.Unclear
        return x | KEEP
    for op, got in (("v_fmamk_f16 v8, v0, 0x4248, v1", lambda a, b: fp.fma(F16, D32, a, k, b)),
                    ("v_fmaak_f16 v8, v0, v1, 0x4248", lambda a, b: fp.fma(F16, D32, a, b, k))):
        out.block("manual 16.7", [op], ["v0", "v1"], ["v8"],
                  rows(v.floats(F16, 2, 20), lambda a, b, got=got: keep(got(a, b))))
    for d in (0, 1):
        for s0 in (0, 1):
            pairs = [(v.r.getrandbits(32), v.r.getrandbits(32)) for _ in range(8)]
            word = 0x7e000000 | (d << 7) << 17 | 0x66 << 9 | 0x100 | s0 << 7 | 1
            to, fro = 16 * d, 16 * s0
            out.block("manual 16.8", [".long 0x%08x" % word], ["v0", "v1"], ["v0", "v1"],
                      [((a, b), (a & ~(M16 << to) | (b >> fro & M16) << to,
                                 b & ~(M16 << fro) | (a >> to & M16) << fro)) for a, b in pairs])


def family():
    out = File("interpolation, relative registers, leftovers of LDS and memory, jumps")
    v = Values(8000)
    interpolation(out, v)
    relative(out, v)
    jumps(out, v)
    vector(out, v)
    lds(out, v)
    global_rest(out, v)
    addressing(out, v)
    constants(out)
    half_registers(out, Values(8100))
    return out
