"""Vectors of image instructions: loads, stores, atomics and samplers of linear images with
one level (manual chapter 10).

Rows of the images here are 256 bytes apart, as linear images of this width are. Fractions of
texels have 8 bits; filters are computed exactly and may differ in the last places.
"""
# SPDX-License-Identifier: MIT
from fractions import Fraction

import fp
from emit import File, Values
from fp import F16, F32
from ints import M16, M32, s
from typed import FORMATS
from waves import ATOMICS

OLD = [0x5a5a123c + i for i in range(4)]
W, H, ROW = 16, 4, 256
TYPE = {"1D": 8, "2D": 9, "3D": 10, "CUBE": 11, "1D_ARRAY": 12, "2D_ARRAY": 13}
AXES = {"1D": 1, "2D": 2, "3D": 3, "CUBE": 2, "1D_ARRAY": 1, "2D_ARRAY": 2}
LAYERS = ("CUBE", "1D_ARRAY", "2D_ARRAY")


def resource(fmt, dim, sel="xyzw", depth=1, width=W, height=H):
    """T# in s[44:51]."""
    codes = {"x": 4, "y": 5, "z": 6, "w": 7, "0": 0, "1": 1}
    w1 = fmt << 20 | (width - 1 & 3) << 30
    w2 = width - 1 >> 2 | (height - 1 if dim not in ("1D", "1D_ARRAY") else 0) << 14
    w3 = sum(codes[c] << 3 * i for i, c in enumerate(sel)) | TYPE[dim] << 28
    w4 = depth - 1 if dim in ("3D",) + LAYERS else 0
    return f"s_lshr_b64 s[44:45], s[82:83], 8;s_or_b32 s45, s45, 0x{w1:x};" \
           f"s_mov_b32 s46, 0x{w2:x};s_mov_b32 s47, 0x{w3:x};s_mov_b32 s48, 0x{w4:x};" \
           "s_mov_b64 s[50:51], 0;s_mov_b32 s49, 0;"


def sampler(linear, clamp=0, compare=0, unnormalized=0):
    """S# in s[52:55]: one filter for all, LOD up to 15."""
    w0 = clamp * 0b001001001 | compare << 12 | unnormalized << 15
    w2 = 0b0101 << 20 if linear else 0
    return f"s_mov_b32 s52, 0x{w0:x};s_mov_b32 s53, 0xf00000;s_mov_b32 s54, 0x{w2:x};" \
           "s_mov_b32 s55, 0;"


def memory(v, f, slices=1, make=None):
    """Texels as raw components [slice][y][x], and the sets that put them into memory."""
    texels, sets = [], {}
    for z in range(slices):
        plane = []
        for y in range(H):
            row = []
            for _ in range(W):
                raw = [make(v) if make else v.r.getrandbits(b) for b in f.bits]
                if f.type == "FLOAT" and not make:
                    raw = [float_bits(v, b) for b in f.bits]
                row.append(raw)
            size = 8 * f.bytes
            whole = sum(f.join(raw) << size * x for x, raw in enumerate(row))
            sets[f"data{(z * H + y) * ROW}"] = [whole >> 32 * k & M32 for k in range(W * f.bytes // 4)]
            plane.append(row)
        texels.append(plane)
    return texels, sets


def float_bits(v, b):
    fmt = F32 if b == 32 else F16
    return v.r.getrandbits(1) << b - 1 | (fmt.bias + v.r.randint(-3, 3)) << fmt.f | v.r.getrandbits(fmt.f)


def span(first, n):
    return f"v{first}" if n == 1 else f"v[{first}:{first + n - 1}]"


def addresses(n):
    """Consecutive registers, and (NSA) registers from anywhere."""
    forms = [(span(0, n), list(range(n)))]
    if 1 < n <= 5:
        apart = [(0, 3, 1, 4, 2)[i] for i in range(n)]
        if n == 2:
            apart = [2, 0]
        forms.append(("[" + ", ".join(f"v{r}" for r in apart) + "]", apart))
    return forms


# ---- without samplers ---------------------------------------------------------------

def loads(out, v):
    cases = [(42, "2D", 0xf, "xyzw"), (42, "2D", 0x5, "xyzw"), (47, "2D", 0xa, "zyxw"), (22, "1D", 1, "x001"),
             (22, "1D", 0xf, "x001"), (29, "2D", 0x3, "xy01"), (57, "2D_ARRAY", 0xf, "xyzw"),
             (46, "3D", 0xf, "xyzw"), (23, "1D_ARRAY", 0x3, "xy01"), (63, "2D", 0xf, "xyzw"),
             (5, "2D", 1, "x000"), (36, "2D", 0xf, "wzyx")]
    for number, dim, dmask, sel in cases:
        f = FORMATS[number - 1]
        if f.bytes * W > ROW:
            continue
        depth = 3 if dim in LAYERS + ("3D",) else 1
        flat = dim in ("1D", "1D_ARRAY")
        texels, sets = memory(v, f, depth if not flat else 1)
        n = AXES[dim] + (dim in LAYERS)
        rows_ = {False: [], True: []}
        for _ in range(9):
            at = [v.r.choice([0, 1, 5, 14, 15, 16, 17, 40000]), v.r.choice([0, 1, 2, 3, 4, 200]),
                  v.r.choice([0, 1, 2, 3])]
            x, y, z = (at[0], 0, at[1]) if dim == "1D_ARRAY" else (at[0], 0 if dim == "1D" else at[1],
                                                                   at[2] if n == 3 else 0)
            inside = x < W and y < H and z < depth
            raw = None
            if inside:  # layers of one row are one row apart
                raw = texels[0][z][x] if flat else texels[z][y][x]
            for half in (False, True):
                load = f.load16 if half else f.load
                rgba = [load(i, r) for i, r in enumerate(raw)] if raw else [0] * len(f.bits)
                rgba += [0] * (4 - len(rgba))
                full = [{"0": 0, "1": f.one(half)}.get(c, rgba["xyzw".find(c)]) for c in sel]
                got = [full[i] for i in range(4) if dmask >> i & 1]
                if half:
                    got += [OLD[len(got) // 2] >> 16] * (len(got) % 2)
                    got = [got[i] | got[i + 1] << 16 for i in range(0, len(got), 2)]
                rows_[half].append((at[:n], got))
        emit_loads(out, (number, dim, dmask, sel, depth), n, rows_, sets)


def emit_loads(out, case, n, rows_, sets):
    number, dim, dmask, sel, depth = case
    res = resource(number, dim, sel, depth)
    tail = f"s[44:51] dmask:0x{dmask:x} dim:SQ_RSRC_IMG_{dim} unorm"
    for half in (False, True):
        got = rows_[half]
        k = len(got[0][1])
        mod = " d16" if half else ""
        for text, regs in addresses(n):
            ins = [f"v{r}" for r in regs]
            outs = [f"v{8 + i}" for i in range(k)]
            ops = [f"{res}image_load {span(8, k)}, {text}, {tail}{mod};s_waitcnt 0"]
            out.block("manual 10.2", ops, ins, outs, [(tuple(a), tuple(g)) for a, g in got],
                      sets=sets)
            if half:
                continue
            more = regs + [6]  # the mip level: there is only level 0
            text2 = "[" + ", ".join(f"v{r}" for r in more) + "]" if text[0] == "[" or n == 1 \
                else span(0, n + 1)
            more = more if text2[0] == "[" else list(range(n + 1))
            got2 = [(tuple(a) + (i % 5 // 4,), tuple(g) if i % 5 < 4 else None)
                    for i, (a, g) in enumerate(got)]
            none = tuple(0 if sel[i] != "1" else FORMATS[number - 1].one(False)
                         for i in range(4) if dmask >> i & 1)
            out.block("manual 10.2", [f"{res}image_load_mip {span(8, k)}, {text2}, {tail};s_waitcnt 0"],
                      [f"v{r}" for r in more], outs, [(a, g or none) for a, g in got2], sets=sets)
        if not half and n == 2:  # 16-bit addresses
            got2 = [((a[0] | a[1] << 16,), tuple(g)) for a, g in got]
            out.block("manual 10.1.3", [f"{res}image_load {span(8, k)}, v0, {tail} a16;s_waitcnt 0"],
                      ["v0"], [f"v{8 + i}" for i in range(k)], got2, sets=sets)


def raw_loads(out, v):
    """PCK: the bits of the element; SGN extends small ones."""
    for number, sgn in ((42, 0), (5, 0), (6, 1), (12, 1), (29, 0), (5, 1)):
        f = FORMATS[number - 1]
        texels, sets = memory(v, f)
        at = [(x, y) for y in range(H) for x in range(0, W, 3)]
        got = []
        for x, y in at:
            whole = f.join(texels[0][y][x])
            got.append(((x, y), ((s(whole, 8 * f.bytes) if sgn else whole) & M32,)))
        name = "pck_sgn" if sgn else "pck"
        for text, regs in addresses(2):
            tail = "s[44:51] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm;s_waitcnt 0"
            out.block("manual 10.1", [f"{resource(number, '2D')}image_load_{name} v8, {text}, {tail}"],
                      [f"v{r}" for r in regs], ["v8"], got, sets=sets)
        for text, regs in addresses(3):
            out.block("manual 10.1", [f"{resource(number, '2D')}image_load_mip_{name} v8, {text}, {tail}"],
                      [f"v{r}" for r in regs], ["v8"], [(t + (0,), g) for t, g in got], sets=sets)
    for dim, depth, want in (("2D", 1, [W, H, 1, 1]), ("3D", 5, [W, H, 5, 1]),
                             ("2D_ARRAY", 7, [W, H, 7, 1]), ("1D", 1, [W, 1, 1, 1])):
        out.block("manual 10.1", [f"{resource(42, dim, depth=depth)}image_get_resinfo v[8:11], v0, s[44:51] "
                                  f"dmask:0xf dim:SQ_RSRC_IMG_{dim} unorm;s_waitcnt 0"], ["v0"],
                  ["v8", "v9", "v10", "v11"], [((0,), tuple(want))])


def stores(out, v):
    """Each lane writes a texel of its own; the rest of the memory stays."""
    from typed import store_values
    for number, dmask, half in ((42, 0x9, 0), (46, 0x5, 0), (22, 1, 0), (29, 3, 0), (46, 0xf, 0),
                                (57, 0xf, 1), (24, 3, 1), (47, 0xf, 0)):
        f = FORMATS[number - 1]
        _, sets = memory(v, f)
        after = {k: list(x) for k, x in sets.items()}
        where = v.r.sample([(x, y) for x in range(W) for y in range(H)], 32)
        data = [[0] * 32 for _ in range(4)]
        n = bin(dmask).count("1")
        for lane, (x, y) in enumerate(where):
            vals = [store_values(v, f, bool(half)) for _ in range(n)]
            comps, k = [0] * 4, 0
            for i in range(4):
                if dmask >> i & 1:
                    comps[i] = vals[k][1]
                    k += 1
            raw = [f.store(i, comps[i]) for i in range(len(f.bits))]
            words = after[f"data{y * ROW}"]
            size = 8 * f.bytes
            whole = sum(w << 32 * i for i, w in enumerate(words))
            whole = whole & ~(((1 << size) - 1) << size * x) | f.join(raw) << size * x
            after[f"data{y * ROW}"] = [whole >> 32 * i & M32 for i in range(len(words))]
            for i in range(n):
                if half:
                    data[i // 2][lane] |= vals[i][0] << 16 * (i % 2)
                else:
                    data[i][lane] = vals[i][0]
        regs = (n + 1) // 2 if half else n
        for mip in ("", "_mip"):
            for nsa in (0, 1) if number in (42, 22) else (len(mip) % 2,):
                given = {**sets, **{f"v{8 + i}": data[i] for i in range(regs)},
                         "v0": [x for x, _ in where], "v1": [y for _, y in where],
                         "v2": [0] * 32}
                text = ("v[0:2]" if mip else "v[0:1]") if not nsa else \
                    "[v3, v1, v2]" if mip else "[v3, v1]"
                pre = "v_mov_b32 v3, v0;v_mov_b32 v0, 0x7777;" if nsa else ""
                out.wave("model: nearest even, saturating", [
                    f"{pre}{resource(number, '2D')}image_store{mip} {span(8, regs)}, {text}, s[44:51] "
                    f"dmask:0x{dmask:x} dim:SQ_RSRC_IMG_2D unorm{' d16' if half else ''};s_waitcnt 0"],
                    given, after, lanes=32)
    for name in ("", "_mip"):  # PCK: bits as they are
        f = FORMATS[28]
        _, sets = memory(v, f)
        words = [v.r.getrandbits(32) for _ in range(32)]
        after = {k: words[i * W:(i + 1) * W] if i < 2 else x for i, (k, x) in enumerate(sets.items())}
        given = {**sets, "v0": [i % W for i in range(32)], "v1": [i // W for i in range(32)],
                 "v2": [0] * 32, "v8": words}
        for text in (("v[0:1]", "[v0, v1]") if not name else ("v[0:2]", "[v0, v1, v2]")):
            out.wave("manual 10.1", [f"{resource(29, '2D')}image_store{name}_pck v8, {text}, s[44:51] "
                                     "dmask:0x1 dim:SQ_RSRC_IMG_2D unorm;s_waitcnt 0"], given, after,
                     lanes=32)


def atomics(out, v):
    names = {"add": "add_u", "sub": "sub_u", "and": "and_b", "or": "or_b", "xor": "xor_b",
             "umin": "min_u", "umax": "max_u", "smin": "min_i", "smax": "max_i", "inc": "inc_u",
             "dec": "dec_u", "swap": "swap_b"}
    for name, key in names.items():
        sets = {"data0": [v.integer(32) for _ in range(W)], "data256": [v.integer(32) for _ in range(W)]}
        words = sets["data0"] + sets["data256"]
        data = [v.integer(32) for _ in range(32)]
        new = [ATOMICS[key](m, d, 32) & M32 for m, d in zip(words, data)]
        given = {**sets, "v0": [i % W for i in range(32)], "v1": [i // W for i in range(32)], "v8": data}
        for text in ("v[0:1]", "[v0, v1]"):
            out.wave("manual 10.2", [f"{resource(20, '2D')}image_atomic_{name} v8, {text}, s[44:51] "
                                     "dmask:0x1 dim:SQ_RSRC_IMG_2D unorm glc;s_waitcnt 0"], given,
                     {"v8": words, "data0": new[:W], "data256": new[W:]}, lanes=32)
    words = [v.integer(32) for _ in range(32)]
    sets = {"data0": words[:W], "data256": words[W:]}
    data = [v.integer(32) for _ in range(32)]
    cmp_ = [w if i % 3 else v.integer(32) for i, w in enumerate(words)]
    new = [d if w == c else w for w, d, c in zip(words, data, cmp_)]
    given = {**sets, "v0": [i % W for i in range(32)], "v1": [i // W for i in range(32)], "v8": data,
             "v9": cmp_}
    for text in ("v[0:1]", "[v0, v1]"):
        out.wave("manual 10.2", [f"{resource(20, '2D')}image_atomic_cmpswap v[8:9], {text}, s[44:51] "
                                 "dmask:0x3 dim:SQ_RSRC_IMG_2D unorm glc;s_waitcnt 0"], given,
                 {"v8": words, "data0": new[:W], "data256": new[W:]}, lanes=32)


# ---- samplers -----------------------------------------------------------------------

def wrapped(i, n, mode):
    """Texel index; None: the border."""
    if mode == 0:
        return i % n
    if mode == 1:
        i %= 2 * n
        return i if i < n else 2 * n - 1 - i
    if mode == 2:
        return max(0, min(n - 1, i))
    if mode == 3:
        return min(n - 1, i if i >= 0 else -1 - i)
    return i if 0 <= i < n else None


def texel(f, texels, x, y):
    if x is None or y is None:
        return [Fraction(0)] * 4
    t = [f.value(i, r) for i, r in enumerate(texels[0][y][x])]
    return t + [Fraction(0)] * (3 - len(t)) + [Fraction(1)] * (len(t) < 4)


def filtered(f, texels, at, linear, mode, compare):
    """at: position in texels. compare(value) -> 0 or 1, or None."""
    def get(x, y):
        t = texel(f, texels, wrapped(x, W, mode), wrapped(y, H, mode))
        return [Fraction(compare(t[0]))] * 4 if compare else t
    if not linear:
        return get(*(p.__floor__() for p in at))
    base = [(p - Fraction(1, 2)).__floor__() for p in at]
    w = [p - Fraction(1, 2) - b for p, b in zip(at, base)]
    total = [Fraction(0)] * 4
    for dy in (0, 1):
        for dx in (0, 1):
            k = (w[0] if dx else 1 - w[0]) * (w[1] if dy else 1 - w[1])
            if k:
                total = [a + k * b for a, b in zip(total, get(base[0] + dx, base[1] + dy))]
    return total


COMPARE = {1: lambda r: lambda t: r < t, 4: lambda r: lambda t: r > t, 6: lambda r: lambda t: r >= t}
SAMPLES = [c + x + g for c in ("", "_c") for x in
           ("", "_d", "_l", "_b", "_lz", "_cl", "_d_cl", "_b_cl") for g in ("", "_o")]
G16 = [c + x for c in ("", "_c") for x in ("_d_g16", "_d_o_g16", "_d_cl_g16", "_d_cl_o_g16")]
GATHERS = ["", "_l", "_b", "_lz", "_c", "_c_lz", "_o", "_lz_o", "_c_lz_o", "_cl", "_b_cl", "_c_cl",
           "_c_l", "_c_b", "_c_b_cl"]


def operands(v, suffix, pos, offset, reference):
    """Address dwords in the manual's order: offset, bias, z-compare, derivatives, body."""
    parts = suffix.split("_")[1:]
    words = []
    if "o" in parts:
        words.append((offset[0] & 63) | (offset[1] & 63) << 8)
    if "b" in parts:
        words.append(0x3f800000)
    if "c" in parts:
        words.append(reference)
    if "d" in parts:
        words += [0x2c00 | 0x2400 << 16, 0x2800] if "g16" in parts else \
            [v.r.choice((0x3d800000, 0x3e000000)) for _ in range(4)]
    words += pos
    if "l" in parts or "cl" in parts:
        words.append(0x3f000000)
    return words


def f32_of(q):
    b = F32.round(q, fp.NEAREST)
    assert F32.value(b) == q
    return b


def sample_rows(v, kind, suffix, number, texels, linear, mode, func, n):
    f = FORMATS[number - 1]
    compared = "c" in suffix.split("_")
    got = []
    for _ in range(n):
        at = [Fraction(v.r.randint(-2 * 256, (k + 2) * 256), 256) for k in (W, H)]
        if not linear and kind == "sample":  # not too near the edge of a texel
            at = [p.__floor__() + Fraction(v.r.randint(40, 216), 256) for p in at]
        offset = [v.r.randint(-3, 3), v.r.randint(-3, 3)] if "o" in suffix.split("_") else [0, 0]
        reference = f32_of(Fraction(v.r.randint(0, 64), 64))
        words = operands(v, suffix, [f32_of(at[0] / W), f32_of(at[1] / H)], offset, reference)
        pos = [p + o for p, o in zip(at, offset)]
        compare = COMPARE[func](F32.value(reference)) if compared else None
        if kind == "gather4":
            base = [(p - Fraction(1, 2)).__floor__() for p in pos]
            result = []
            for dx, dy in ((0, 1), (1, 1), (1, 0), (0, 0)):
                t = texel(f, texels, wrapped(base[0] + dx, W, mode), wrapped(base[1] + dy, H, mode))
                result.append(Fraction(compare(t[0])) if compare else t[1])
        else:
            result = filtered(f, texels, pos, linear, mode, compare)
        bits = [F32.round(x, fp.NEAREST) for x in result]
        got.append((words, [f"{b:x}~8" if linear and b and kind == "sample" else b for b in bits]))
    return got


def samples(out, v):
    unorm, floats = FORMATS[41], FORMATS[21]
    texels, sets = memory(v, unorm)
    depth, depth_sets = memory(v, floats, make=lambda v: f32_of(Fraction(v.r.randint(0, 64), 64)))
    for kind, suffixes in (("sample", SAMPLES + G16), ("gather4", GATHERS)):
        for i, suffix in enumerate(suffixes):
            compared = "c" in suffix.split("_")
            linear = i % 3 != 1 or kind == "gather4"
            mode, func = (0, 2, 1, 3, 6)[i % 5], (1, 4, 6)[i % 3]
            number = 22 if compared else 42
            got = sample_rows(v, kind, suffix, number, depth if compared else texels, linear, mode,
                              func, 7)
            emit_samples(out, kind, suffix, number, (linear, mode, func), got,
                         depth_sets if compared else sets)
    for mode in (0, 1, 2, 3, 6):  # every address mode, both filters
        for linear in (False, True):
            got = sample_rows(v, "sample", "_lz", 42, texels, linear, mode, 0, 24)
            emit_samples(out, "sample", "_lz", 42, (linear, mode, 0), got, sets)
    # denormals: loads keep them, samples flush them (manual 10.4)
    tiny = {"data0": [0x00000001, 0x807fffff, 0x3f800000, 0x00400000] * 4}
    at = [((f32_of(Fraction(2 * x + 1, 32)), f32_of(Fraction(1, 8))), (0x3f800000 if x % 4 == 2 else
                                                                       "0" if x % 4 != 1 else "*",))
          for x in range(4)]
    out.block("manual 10.4", [f"{resource(22, '2D')}{sampler(False)}image_sample_lz v8, v[0:1], s[44:51], "
                              "s[52:55] dmask:0x1 dim:SQ_RSRC_IMG_2D;s_waitcnt 0"], ["v0", "v1"],
              ["v8"], at, sets=tiny)
    out.block("manual 10.4", [f"{resource(22, '2D')}image_load v8, v[0:1], s[44:51] dmask:0x1 "
                              "dim:SQ_RSRC_IMG_2D unorm;s_waitcnt 0"], ["v0", "v1"], ["v8"],
              [((x, 0), (tiny["data0"][x],)) for x in range(4)], sets=tiny)


def emit_samples(out, kind, suffix, number, how, got, sets):
    linear, mode, func = how
    compared = "c" in suffix.split("_")
    n = len(got[0][0])
    dmask = 1 if compared else 2 if kind == "gather4" else 0xf
    results = 4 if kind == "gather4" or dmask == 0xf else 1
    outs = [f"v{20 + i}" for i in range(results)]
    setup = resource(number, "2D", "x001" if number == 22 else "xyzw") + sampler(linear, mode, func)
    # more operands than columns: pairs are built of the first ones
    for text, regs in addresses(n):
        if text[0] == "[" and n == 2:
            regs, text = [2, 0], "[v2, v0]"
        given = [f"v{r}" for r in regs]
        rows_ = [(tuple(w), tuple(g[:results])) for w, g in got]
        extra = ""
        if n > 8:  # derivatives that are the same in all rows
            extra = "".join(f"v_mov_b32 v{r}, 0x{got[0][0][i]:x};" for i, r in enumerate(regs)
                            if all(w[i] == got[0][0][i] for w, _ in got) and i > 1)
            keep = [i for i, r in enumerate(regs) if f"v_mov_b32 v{r}, " not in extra]
            given = [given[i] for i in keep]
            rows_ = [(tuple(w[i] for i in keep), g) for w, g in rows_]
            if len(given) > 8:
                continue
        out.block("manual 10.3, 10.4", [
            f"{extra}{setup}image_{kind}{suffix} {span(20, results)}, {text}, s[44:51], s[52:55] "
            f"dmask:0x{dmask:x} dim:SQ_RSRC_IMG_2D;s_waitcnt 0"], given, outs, rows_, sets=sets)


def lods(out, v):
    """IMAGE_GET_LOD: clamped and raw level, from differences within quads; one level."""
    for along, across in ((2, 0), (1, 8), (Fraction(1, 2), Fraction(1, 4)), (4, 4)):
        s_, t_ = [], []
        for lane in range(64):
            x, y = Fraction(lane % 2) * along, Fraction(lane // 2 % 2) * across
            base = v.r.randint(0, 3) if lane % 4 == 0 else base
            s_.append(f32_of((x + base) / W))
            t_.append(f32_of((y + base) / H))
        raw = fp.floor_log2(max(Fraction(along), Fraction(across)))
        for lanes in (32, 64):
            for text, regs in addresses(2):
                given = {f"v{regs[0]}": s_[:lanes], f"v{regs[1]}": t_[:lanes]}
                out.wave("manual 10.1", [
                    f"{resource(42, '2D')}{sampler(True)}image_get_lod v[8:9], {text}, s[44:51], "
                    "s[52:55] dmask:0x3 dim:SQ_RSRC_IMG_2D;s_waitcnt 0"], given,
                    {"v8": [0] * lanes, "v9": [f32_of(Fraction(raw)) if raw else 0] * lanes},
                    lanes=lanes)


def family():
    out = File("images without samplers: loads, sizes")
    v = Values(9500)
    loads(out, v)
    raw_loads(out, v)
    return out


def family1():
    out = File("images without samplers: stores, atomics; levels of detail")
    v = Values(9550)
    stores(out, v)
    atomics(out, v)
    lods(out, v)
    return out


def family2():
    out = File("images with samplers")
    samples(out, Values(9600))
    return out
