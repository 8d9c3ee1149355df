"""Vectors of typed buffers: data formats, selection of channels, swizzles, ranges.

Formats are read off their names in the manual's table 52: components from the highest
bit down, X in the lowest bits.
"""
# SPDX-License-Identifier: MIT
from fractions import Fraction

import fp
from emit import File, Values
from fp import F16, F32, Format
from ints import M16, M32, s
from waves import LANE

NAMES = """8_UNORM 8_SNORM 8_USCALED 8_SSCALED 8_UINT 8_SINT 16_UNORM 16_SNORM 16_USCALED
16_SSCALED 16_UINT 16_SINT 16_FLOAT 8_8_UNORM 8_8_SNORM 8_8_USCALED 8_8_SSCALED 8_8_UINT
8_8_SINT 32_UINT 32_SINT 32_FLOAT 16_16_UNORM 16_16_SNORM 16_16_USCALED 16_16_SSCALED
16_16_UINT 16_16_SINT 16_16_FLOAT 10_11_11_FLOAT 11_11_10_FLOAT 10_10_10_2_UNORM
10_10_10_2_SNORM 10_10_10_2_UINT 10_10_10_2_SINT 2_10_10_10_UNORM 2_10_10_10_SNORM
2_10_10_10_USCALED 2_10_10_10_SSCALED 2_10_10_10_UINT 2_10_10_10_SINT 8_8_8_8_UNORM
8_8_8_8_SNORM 8_8_8_8_USCALED 8_8_8_8_SSCALED 8_8_8_8_UINT 8_8_8_8_SINT 32_32_UINT
32_32_SINT 32_32_FLOAT 16_16_16_16_UNORM 16_16_16_16_SNORM 16_16_16_16_USCALED
16_16_16_16_SSCALED 16_16_16_16_UINT 16_16_16_16_SINT 16_16_16_16_FLOAT 32_32_32_UINT
32_32_32_SINT 32_32_32_FLOAT 32_32_32_32_UINT 32_32_32_32_SINT 32_32_32_32_FLOAT""".split()
SMALL = {11: Format(5, 6), 10: Format(5, 5)}  # unsigned floats; the sign is never set
HALF = Format(5, 10)


class DataFormat:
    def __init__(self, number):
        self.number, self.name = number, NAMES[number - 1]
        *sizes, self.type = self.name.split("_")
        self.bits = [int(x) for x in sizes][::-1]
        self.bytes = sum(self.bits) // 8

    def is_int(self):
        return self.type in ("UINT", "SINT")

    def split(self, words):
        whole = sum(w << 32 * i for i, w in enumerate(words))
        out = []
        for n in self.bits:
            out.append(whole & (1 << n) - 1)
            whole >>= n
        return out

    def value(self, i, raw):
        """A component as a number; "*" for what is none."""
        n = self.bits[i]
        if self.type == "FLOAT":
            fmt = F32 if n == 32 else HALF if n == 16 else SMALL[n]
            if fmt.nan(raw) or fmt.is_inf(raw):
                return "*"
            return fmt.value(raw)
        return {"UNORM": lambda: Fraction(raw, (1 << n) - 1),
                "SNORM": lambda: max(Fraction(s(raw, n), (1 << n - 1) - 1), Fraction(-1)),
                "USCALED": lambda: Fraction(raw), "SSCALED": lambda: Fraction(s(raw, n))}[self.type]()

    def load(self, i, raw):
        if self.is_int():
            return (s(raw, self.bits[i]) if self.type == "SINT" else raw) & M32
        if self.type == "FLOAT" and self.bits[i] == 32:
            return raw
        x = self.value(i, raw)
        if x == "*":
            return x
        sign = self.type == "FLOAT" and self.bits[i] == 16 and raw >> 15
        return F32.round(x, fp.NEAREST, bool(sign))

    def load16(self, i, raw):
        if self.is_int():
            return self.load(i, raw) & M16
        if self.type == "FLOAT" and self.bits[i] == 16:
            return raw
        x = self.value(i, raw)
        if x == "*":
            return x
        cut = self.type == "FLOAT" and self.bits[i] == 32
        return F16.round(x, fp.ZERO if cut else fp.NEAREST, bool(cut and raw >> 31))

    def one(self, half):
        return 1 if self.is_int() else 0x3c00 if half else 0x3f800000

    def store(self, i, x):
        """Bits for a register's value: x is an integer, or a number."""
        n = self.bits[i]
        if self.type == "UINT":
            return min(x, (1 << n) - 1)
        if self.type == "SINT":
            return max(-1 << n - 1, min((1 << n - 1) - 1, s(x, 32))) & (1 << n) - 1
        if self.type == "FLOAT":
            fmt = F32 if n == 32 else HALF if n == 16 else SMALL[n]
            if n < 16 and x < 0:
                return 0
            return fmt.round(x, fp.NEAREST) & (1 << n) - 1
        unit, low, high = {
            "UNORM": ((1 << n) - 1, 0, (1 << n) - 1),
            "SNORM": ((1 << n - 1) - 1, 1 - (1 << n - 1), (1 << n - 1) - 1),
            "USCALED": (1, 0, (1 << n) - 1),
            "SSCALED": (1, -1 << n - 1, (1 << n - 1) - 1)}[self.type]
        return round(max(Fraction(low), min(Fraction(high), x * unit))) & (1 << n) - 1

    def join(self, raw):
        whole, at = 0, 0
        for n, x in zip(self.bits, raw):
            whole |= x << at
            at += n
        return whole


FORMATS = [DataFormat(k + 1) for k in range(len(NAMES))]


def word3(fmt, sel="xyzw", oob=3, extra=0):
    codes = {"x": 4, "y": 5, "z": 6, "w": 7, "0": 0, "1": 1}
    return sum(codes[c] << 3 * i for i, c in enumerate(sel)) | fmt << 12 | oob << 28 | extra


def resource(w3, records=0x400, stride=0, swizzle=0):
    return f"s_mov_b64 s[44:45], s[82:83];s_and_b32 s45, s45, 0xffff;" \
           f"s_or_b32 s45, s45, 0x{stride << 16 | swizzle << 30:x};" \
           f"s_mov_b32 s46, 0x{records:x};s_mov_b32 s47, 0x{w3:x};"


RES = resource(word3(20))
PUT = f"{LANE}global_store_b128 v1, v[4:7], s[82:83];s_waitcnt 0;"
OUT = ["v8", "v9", "v10", "v11"]
OLD = [0x5a5a123c + i for i in range(4)]


def span(first, n):
    return f"v{first}" if n == 1 else f"v[{first}:{first + n - 1}]"


def inputs(v, f, n):
    """Raw memory: everything, the ends of ranges, no infinities."""
    rows = []
    for i in range(n):
        raw = []
        for b in f.bits:
            k = v.r.choice([0, (1 << b) - 1, 1 << b - 1, 1, (1 << b - 1) - 1]) if i < 2 else \
                v.r.getrandbits(b)
            if f.type == "FLOAT":
                fmt = F32 if b == 32 else HALF if b == 16 else SMALL[b]
                if k & ~fmt.sign >= fmt.inf or (b < 16 and k >= fmt.inf):
                    k = fmt.inf - 1
                if b == 32:
                    k = v.number(F32) if i % 2 else v.r.getrandbits(20) << 12
                    k = 0x40490fdb if k & 0x7fffffff >= 0x47000000 else k
                    k = k if k & 0x7f800000 else 0x3f812345
            raw.append(k)
        whole = f.join(raw)
        rest = v.r.getrandbits(128) >> sum(f.bits) << sum(f.bits)
        rows.append((raw, [(whole | rest) >> 32 * k & M32 for k in range(4)]))
    return rows


def loads(out, v):
    for f in FORMATS:
        n = len(f.bits)
        got16, got = [], []
        for raw, words in inputs(v, f, 7):
            full = [f.load(i, x) for i, x in enumerate(raw)] + [0] * (4 - n)
            half = [f.load16(i, x) for i, x in enumerate(raw)] + [0] * (4 - n)
            got.append((tuple(words), tuple(full)))
            got16.append((tuple(words), (half[0] | half[1] << 16, half[2] | half[3] << 16)))
        for name, rows_, outs in (("", got, OUT), ("d16_", got16, OUT[:2])):
            ops = [f"{PUT}{RES}tbuffer_load_{name}format_xyzw {span(8, len(outs))}, v1, s[44:47], 0 "
                   f"format:{f.number} offen;s_waitcnt 0"]
            if f.number % 3 == 0 and n == 4:  # the same by the resource's format
                ops.append(f"{PUT}{resource(word3(f.number))}buffer_load_{name}format_xyzw "
                           f"{span(8, len(outs))}, v1, s[44:47], 0 offen;s_waitcnt 0")
            out.block("manual 9.3, 10.7", ops, ["v4", "v5", "v6", "v7"], outs, rows_)


def fewer(out, v):
    """x, xy, xyz; channels selected by the resource; the upper half."""
    for number in (42, 49, 57, 14, 22, 36):
        f = FORMATS[number - 1]
        n = len(f.bits)
        data = inputs(v, f, 5)
        for k in (1, 2, 3):
            t, b, t16, b16 = [], [], [], []
            sel = {1: "y", 2: "1x", 3: "0yx"}[k] + "0" * (4 - k) if n > 1 else "1x0x"
            for raw, words in data:
                full = [f.load(i, x) for i, x in enumerate(raw)] + [0] * (4 - n)
                half = [f.load16(i, x) for i, x in enumerate(raw)] + [0] * (4 - n)

                def pick(c, values, one):
                    return {"0": 0, "1": one}.get(c, values["xyzw".find(c)])
                chosen = [pick(c, full, f.one(False)) for c in sel[:k]]
                half2 = [pick(c, half, f.one(True)) for c in sel[:k]]
                t.append((tuple(words), tuple(full[:k] + OLD[k:])))
                b.append((tuple(words), tuple(chosen + OLD[k:])))
                for rows_, h in ((t16, half[:k]), (b16, half2)):
                    h = h + [OLD[0] >> 16 if k < 2 else OLD[1] >> 16] * (k % 2)
                    packed = [h[i] | h[i + 1] << 16 for i in range(0, len(h), 2)]
                    rows_.append((tuple(words), tuple(packed + OLD[len(packed):2])))
            c = "xyz"[:k]
            res = resource(word3(number, sel))
            ins = ["v4", "v5", "v6", "v7"]
            src = "manual 9.3"
            out.block(src, [f"{PUT}{RES}tbuffer_load_format_{c} {span(8, k)}, v1, s[44:47], 0 "
                            f"format:{number} offen;s_waitcnt 0"], ins, OUT, t)
            out.block(src, [f"{PUT}{res}buffer_load_format_{c} {span(8, k)}, v1, s[44:47], 0 offen;"
                            "s_waitcnt 0"], ins, OUT, b)
            d = span(8, (k + 1) // 2)
            out.block(src, [f"{PUT}{RES}tbuffer_load_d16_format_{c} {d}, v1, s[44:47], 0 "
                            f"format:{number} offen;s_waitcnt 0"], ins, OUT[:2], t16)
            out.block(src, [f"{PUT}{res}buffer_load_d16_format_{c} {d}, v1, s[44:47], 0 offen;"
                            "s_waitcnt 0"], ins, OUT[:2], b16)
            if k == 1:
                high = [(w, (OLD[0] & M16 | (g[0] & M16) << 16,)) for w, g in b16]
                out.block(src, [f"{PUT}{res}buffer_load_d16_hi_format_x v8, v1, s[44:47], 0 offen;"
                                "s_waitcnt 0"], ins, OUT[:1], high)


def store_values(v, f, half):
    """Register values as bits and as what they mean."""
    if f.is_int():
        k = v.integer(16 if half else 32)
        return k, (s(k, 16) & M32 if f.type == "SINT" else k) if half else k
    fmt = F16 if half else F32
    top = {"UNORM": 1, "SNORM": 1, "FLOAT": 100}.get(f.type, 300)
    x = Fraction(v.r.randint(-9000, 9000) * top, 8000)
    b = fmt.round(x, fp.NEAREST)
    b = v.r.choice([0, fmt.bias << fmt.f, fmt.sign | fmt.bias << fmt.f]) \
        if v.r.random() < 0.2 else b
    return b, fmt.value(b)


CLEAR = "".join(f"v_mov_b32 v{12 + i}, 0x{x:x};" for i, x in enumerate(OLD)) + \
    f"{LANE}global_store_b128 v1, v[12:15], s[82:83];s_waitcnt 0;"
GET = "s_waitcnt 0;global_load_b128 v[8:11], v1, s[82:83];s_waitcnt 0"


def memory_after(f, raw):
    old = sum(x << 32 * i for i, x in enumerate(OLD))
    size = 8 * f.bytes
    whole = old >> size << size | f.join(raw)
    return tuple(whole >> 32 * i & M32 for i in range(4))


def stores(out, v):
    for f in FORMATS:
        n = len(f.bits)
        for half in (False, True):
            if half and f.number % 4 != 2:
                continue
            for k in (4,) if f.number % 7 else (1, 2, 3, 4):
                got = []
                for _ in range(6):
                    pairs = [store_values(v, f, half) for _ in range(k)]
                    raw = [f.store(i, pairs[i][1] if i < k else 0) for i in range(n)]
                    b = [p[0] for p in pairs] + [0] * (4 - k)
                    if half:
                        b = [b[0] | b[1] << 16, b[2] | b[3] << 16]
                    got.append((tuple(b), memory_after(f, raw)))
                rows_in = ["v4", "v5"] if half else ["v4", "v5", "v6", "v7"]
                name, regs = ("d16_", (k + 1) // 2) if half else ("", k)
                c = "xyzw"[:k]
                ops = [f"{CLEAR}{RES}tbuffer_store_{name}format_{c} {span(4, regs)}, v1, s[44:47], 0 "
                       f"format:{f.number} offen;{GET}"]
                if f.number % 7 == 0 or f.number == 42:
                    ops.append(f"{CLEAR}{resource(word3(f.number))}buffer_store_{name}format_{c} "
                               f"{span(4, regs)}, v1, s[44:47], 0 offen;{GET}")
                out.block("model: nearest even, saturating", ops, rows_in, OUT, got)
    f = FORMATS[12]  # 16_FLOAT of the upper half
    got = [((h << 16 | 0x1234,), memory_after(f, [h])) for h in (0x3c00, 0xfbff, 1, 0x8000)]
    out.block("manual 9.3.1", [f"{CLEAR}{resource(word3(13))}buffer_store_d16_hi_format_x v4, v1, "
                               f"s[44:47], 0 offen;{GET}"], ["v4"], OUT, got)


# ---- addresses ----------------------------------------------------------------------

def words_of(sets):
    return {f"data{256 * i}": sets[64 * i:64 * i + 64] for i in range(len(sets) // 64)}


def swizzled(index, offset, stride, element, index_stride):
    msb, lsb = divmod(index, index_stride)
    omsb, olsb = divmod(offset, element)
    return (msb * stride + omsb * element) * index_stride + lsb * element + olsb


def addresses(out, v):
    """Manual 9.4: structured, swizzled, thread ids, ranges; typed accesses as a whole."""
    words = [v.r.getrandbits(32) for _ in range(256)]
    sets = words_of(words)
    cases = [(i, o) for i in (0, 1, 7, 8, 9, 15, 31, 32, 1000) for o in (0, 4, 8, 12, 16, 28, 32)]
    move = "v_mov_b32 v30, v1;v_mov_b32 v31, v2;"
    for swizzle, element in ((0, 0), (1, 4), (3, 16)):
        for code, index_stride in ((0, 8), (1, 16)):
            for oob in (0, 1, 3):
                if not swizzle and (code or oob == 3):
                    continue
                got = []
                for i, o in cases:
                    in_range = i < 32 and (oob == 1 or o + 4 <= 32)
                    at = swizzled(i, o, 32, element, index_stride) if swizzle else 32 * i + o
                    if in_range and at + 4 > 1024:
                        continue
                    got.append(((i, o), (words[at // 4] if in_range else 0,)))
                res = resource(word3(20, oob=oob, extra=code << 21), 32, 32, swizzle)
                out.block("manual 9.4.2", [f"{move}{res}buffer_load_b32 v8, v[30:31], s[44:47], 0 "
                                           "idxen offen;s_waitcnt 0"],
                          ["v1", "v2"], ["v8"], got, sets=sets)
    got = []  # raw: the payload counts; parts of an untyped load one by one, typed at once
    for o in (0, 4, 96, 100, 104, 108, 112, 116, 120, 124, 128, 132, M32 - 15):
        part = [words[o // 4 + i] if o + 4 * i + 4 <= 120 else 0 for i in range(4)]
        got.append(((o,), part, part if o + 16 <= 120 else [0] * 4))
    res = resource(word3(61), 120)
    out.block("manual 9.4.1", [f"{res}buffer_load_b128 v[8:11], v1, s[44:47], 0 offen;s_waitcnt 0"],
              ["v1"], OUT, [(t, tuple(p)) for t, p, _ in got], sets=sets)
    out.block("manual 9.4.1", [
        f"{res}buffer_load_format_xyzw v[8:11], v1, s[44:47], 0 offen;s_waitcnt 0",
        f"{res}tbuffer_load_format_xyzw v[8:11], v1, s[44:47], 0 format:61 offen;s_waitcnt 0"],
        ["v1"], OUT, [(t, tuple(p)) for t, _, p in got], sets=sets)
    # sgpr_offset reduces the records of a raw buffer, and is added to the address
    res = resource(word3(20), 120) + "s_movk_i32 s20, 0x20;"
    out.block("manual 9.4.1", [f"{res}buffer_load_b32 v8, v1, s[44:47], s20 offen offset:4;s_waitcnt 0"],
              ["v1"], ["v8"], [((o,), (words[o // 4 + 9] if o + 40 <= 120 else 0,))
                               for o in (0, 4, 40, 76, 80, 84, 88, 200)], sets=sets)
    # what is out of range is zero, but one where the resource selects one
    res = resource(word3(42, "1x01"), 16)
    out.block("manual 9.4.1", [f"{res}buffer_load_format_xyzw v[8:11], v1, s[44:47], 0 offen;"
                               "s_waitcnt 0"], ["v1"], OUT,
              [((o,), (0x3f800000, F32.round(Fraction(words[o // 4] & 255, 255), 0) if o < 16 else 0,
                       0, 0x3f800000)) for o in (0, 12, 16, 400)], sets=sets)
    out.block("manual 9.6", [f"{resource(word3(0))}buffer_load_b32 v8, v1, s[44:47], 0 offen;"
                             "s_waitcnt 0"], ["v1"], ["v8"], [((o,), (0,)) for o in (0, 4)],
              sets=sets)
    for lanes in (32, 64):
        res = resource(word3(20, oob=0, extra=1 << 23), 60, 8)
        out.wave("manual 9.4", [f"{res}buffer_load_b32 v8, off, s[44:47], 0 offset:4;s_waitcnt 0"],
                 sets, {"v8": [words[2 * l + 1] if l < 60 else 0 for l in range(lanes)]},
                 lanes=lanes)


def family():
    out = File("loads from typed buffers")
    v = Values(7000)
    loads(out, v)
    return out


def family2():
    out = File("stores to typed buffers")
    stores(out, Values(7100))
    return out


def family3():
    out = File("typed buffers: channels, addresses, ranges")
    v = Values(7200)
    fewer(out, v)
    addresses(out, v)
    return out
