"""Vectors of cross-lane instructions, memory, atomics, control."""
# SPDX-License-Identifier: MIT
import fp
from emit import DEFAULT, File, Values, rows
from fp import F32, Mode
from ints import M16, M32, M64, s

OLD = 0x5a5a123c  # what test_vectors puts into v8


# ---- lanes of other lanes -----------------------------------------------------------

def dpp16(kind, n):
    """Lane -> source lane within its row of 16, or None if outside."""
    def source(lane):
        row, i = lane & ~15, lane & 15
        j = {"quad_perm": lambda: lane & 3, "row_shl": lambda: i + n, "row_shr": lambda: i - n,
             "row_ror": lambda: (i - n) % 16, "row_mirror": lambda: 15 - i,
             "row_half_mirror": lambda: i ^ 7, "row_share": lambda: n,
             "row_xmask": lambda: i ^ n}[kind]()
        if kind == "quad_perm":
            return (lane & ~3) + n[lane & 3]
        return row + j if 0 <= j < 16 else None
    return source


def apply_dpp(values, source, exec_mask, bound, fi, row_mask=15, bank_mask=15):
    out = []
    for lane in range(64):
        src = source(lane)
        valid = src is not None and (fi or exec_mask >> src & 1)
        writes = exec_mask >> lane & 1 and row_mask >> (lane // 16 % 4) & 1 and \
            bank_mask >> (lane // 4 % 4) & 1
        if not writes or (not valid and not bound):
            out.append(OLD)
        else:
            out.append(values[src] if valid else 0)
    return out


def crosslane():
    out = File("DPP, permlane, swizzle, permute, readlane")
    v = Values(4000)
    data = [v.r.getrandbits(32) for _ in range(64)]
    controls = [("quad_perm:[3,1,0,2]", dpp16("quad_perm", [3, 1, 0, 2])),
                ("row_mirror", dpp16("row_mirror", 0)),
                ("row_half_mirror", dpp16("row_half_mirror", 0))]
    for n in (1, 7, 15):
        for k in ("row_shl", "row_shr", "row_ror", "row_share", "row_xmask"):
            controls.append((f"{k}:{n}", dpp16(k, n)))
    full = M64

    def wave(op, given, wanted, mask=full, extra=None, sizes=(32, 64)):
        given = {"exec": [mask & M32, mask >> 32], **given, **(extra or {})}
        for lanes in sizes:
            out.wave("manual 7.6", [op], {k: x[:lanes] for k, x in given.items()},
                     {k: x[:lanes] for k, x in wanted.items()}, lanes=lanes)
    for text, source in controls:
        for mask, rest, args in (
                (full, "row_mask:0xf bank_mask:0xf", (0, 0)),
                (0x9669a55a0ff0c33c, "row_mask:0xf bank_mask:0xf bound_ctrl:1", (1, 0)),
                (0x9669a55a0ff0c33c, "row_mask:0xf bank_mask:0xf fi:1", (0, 1)),
                (full, "row_mask:0x5 bank_mask:0x6 bound_ctrl:1", (1, 0, 5, 6))):
            if mask != full or args[-1] == 6 or "1" in text or "m" in text:
                wave(f"v_mov_b32_dpp v8, v0 {text} {rest}", {"v0": data},
                     {"v8": apply_dpp(data, source, mask, *args)}, mask)
    sel = [7, 0, 3, 3, 1, 6, 5, 2]
    for mask, text, fi in ((full, "", 0), (0x9669a55a0ff0c33c, "", 0),
                           (0x9669a55a0ff0c33c, " fi:1", 1)):
        # an invalid source reads as zero
        got = apply_dpp(data, lambda lane: (lane & ~7) + sel[lane & 7], mask, True, fi)
        wave(f"v_mov_b32_dpp v8, v0 dpp8:{sel}".replace(", ", ",").replace("v8,v0", "v8, v0") + text,
             {"v0": data}, {"v8": got}, mask)
    permlanes(wave, v, data, full)
    swizzles(wave, v, data, full)
    lane_moves(wave, v, data)
    return out


def permlanes(wave, v, data, full):
    low, high = 0x76543210 ^ 0x13572064, 0xfedcba98 ^ 0x02461357

    def pick(lane):
        return (low | high << 32) >> 4 * (lane & 15) & 15
    scalars = {"s4": [low], "s5": [high]}
    for name, other in (("v_permlane16_b32", 0), ("v_permlanex16_b32", 16)):
        def source(lane):
            return ((lane & ~15) ^ other) + pick(lane)
        for mask, text, bound, fi in ((full, "", 0, 0), (0x9669a55a0ff0c33c, "", 0, 0),
                                      (0x9669a55a0ff0c33c, " op_sel:[1,0]", 0, 1),
                                      (0x9669a55a0ff0c33c, " op_sel:[0,1]", 1, 0)):
            if not (fi or bound) and mask != full:
                continue  # what remains in the destination: see the manual
            wave(f"{name} v8, v0, s4, s5{text}", {"v0": data},
                 {"v8": apply_dpp(data, source, mask, bound, fi)}, mask, scalars)


def swizzles(wave, v, data, full):
    for _ in range(6):  # bit masks within 32 lanes
        a, o, x = (v.r.getrandbits(5) for _ in range(3))
        got = [data[(lane & 32) + ((lane & 31 & a | o) ^ x)] for lane in range(64)]
        wave(f"ds_swizzle_b32 v8, v0 offset:{a | o << 5 | x << 10};s_waitcnt 0", {"v0": data},
             {"v8": got})
    for _ in range(3):  # quads
        sel = [v.r.getrandbits(2) for _ in range(4)]
        off = 0x8000 | sum(k << 2 * i for i, k in enumerate(sel))
        wave(f"ds_swizzle_b32 v8, v0 offset:{off};s_waitcnt 0", {"v0": data},
             {"v8": [data[(lane & ~3) + sel[lane & 3]] for lane in range(64)]})
    for mask in (full, 0x9669a55a0ff0c33c):
        for lanes in (32, 64):
            addr = [v.r.getrandbits(10) for _ in range(64)]
            on = [lane for lane in range(lanes) if mask >> lane & 1]
            pulled = [OLD] * 64
            for lane in on:
                src = (addr[lane] >> 2) % 32 + (lane & 32)  # halves do not mix
                pulled[lane] = data[src] if mask >> src & 1 else 0
            wave("ds_bpermute_b32 v8, v1, v0;s_waitcnt 0", {"v0": data, "v1": addr},
                 {"v8": pulled}, mask, sizes=(lanes,))
            perm = [p + h for h in (0, 32) for p in v.r.sample(range(32), 32)]
            addr = [4 * p for p in perm]
            pushed = [0] * 64
            for lane in on:
                pushed[perm[lane]] = data[lane]
            got = [pushed[lane] if mask >> lane & 1 else OLD for lane in range(64)]
            wave("ds_permute_b32 v8, v1, v0;s_waitcnt 0", {"v0": data, "v1": addr},
                 {"v8": got}, mask, sizes=(lanes,))


def lane_moves(wave, v, data):
    for k in (0, 5, 31):
        wave(f"v_readlane_b32 s8, v0, {k}", {"v0": data}, {"s8": [data[k]]}, 0x10)
        wave(f"s_mov_b32 s6, {k};v_writelane_b32 v8, s5, s6", {"s5": [0xabcdef01]},
             {"v8": [0xabcdef01 if lane == k else OLD for lane in range(64)]}, 0x4)
    for mask in (0x80, 0xffff0000, 0x1):
        first = (mask & -mask).bit_length() - 1
        wave("v_readfirstlane_b32 s8, v0", {"v0": data}, {"s8": [data[first]]}, mask)
    wave("v_readfirstlane_b32 s8, v0", {"v0": data}, {"s8": [data[0]]}, 0)


# ---- memory -------------------------------------------------------------------------

LANE = "v_mbcnt_lo_u32_b32 v1, -1, 0;v_mbcnt_hi_u32_b32 v1, -1, v1;v_lshlrev_b32 v1, 4, v1;"
FLAT = "v_add_co_u32 v20, $vcc, s82, v1;v_add_co_ci_u32_e64 v21, $s40, s83, 0, $vcc;"
RAW = "s_add_u32 s44, s80, 0;s_mov_b64 s[44:45], s[82:83];s_and_b32 s45, s45, 0xffff;" \
      "s_movk_i32 s46, 0x400;s_mov_b32 s47, 0x31016fac;"


def places(store_op, load_op, data, dst, extra=""):
    """The same access in every kind of memory; 16 bytes for each lane."""
    return [
        f"{LANE}ds_{store_op} v1, {data};s_waitcnt 0;ds_{load_op} {dst}, v1{extra};s_waitcnt 0",
        f"{LANE}global_{store_op} v1, {data}, s[82:83];s_waitcnt 0;"
        f"global_{load_op} {dst}, v1, s[82:83]{extra};s_waitcnt 0",
        f"{LANE}{FLAT}flat_{store_op} v[20:21], {data};s_waitcnt 0;"
        f"flat_{load_op} {dst}, v[20:21]{extra};s_waitcnt 0",
        f"{LANE}{RAW}buffer_{store_op} {data}, v1, s[44:47], 0 offen;s_waitcnt 0;"
        f"buffer_{load_op} {dst}, v1, s[44:47], 0 offen{extra};s_waitcnt 0",
        f"scratch_{store_op} off, {data}, off;s_waitcnt 0;"
        f"scratch_{load_op} {dst}, off, off{extra};s_waitcnt 0"]


def memory():
    out = File("loads and stores of all sizes in every memory")
    v = Values(4100)
    ds_d16 = {"d16_u8": "u8_d16", "d16_hi_u8": "u8_d16_hi", "d16_i8": "i8_d16",
              "d16_hi_i8": "i8_d16_hi", "d16_b16": "u16_d16", "d16_hi_b16": "u16_d16_hi"}
    for off in range(4):
        for name, f in (("u8", lambda b: b), ("i8", lambda b: s(b, 8) & M32),
                        ("d16_u8", lambda b: b | 0x5a5a0000),
                        ("d16_i8", lambda b: s(b, 8) & M16 | 0x5a5a0000),
                        ("d16_hi_u8", lambda b: b << 16 | 0x123c),
                        ("d16_hi_i8", lambda b: (s(b, 8) & M16) << 16 | 0x123c)):
            values = [(v.integer(32),) for _ in range(8)]
            ops = places("store_b32", f"load_{name}", "v0", "v8", f" offset:{off}" if off else "")
            ops[0] = ops[0].replace(f"ds_load_{name}", f"ds_load_{ds_d16.get(name, name)}")
            out.block("manual 16.15", ops, ["v0"], ["v8"],
                      [(t, (f(t[0] >> 8 * off & 255),)) for t in values])
        if off % 2:
            continue
        for name, f in (("u16", lambda b: b), ("i16", lambda b: s(b, 16) & M32),
                        ("d16_b16", lambda b: b | 0x5a5a0000),
                        ("d16_hi_b16", lambda b: b << 16 | 0x123c)):
            values = [(v.integer(32),) for _ in range(8)]
            ops = places("store_b32", f"load_{name}", "v0", "v8", f" offset:{off}" if off else "")
            ops[0] = ops[0].replace(f"ds_load_{name}", f"ds_load_{ds_d16.get(name, name)}")
            out.block("manual 16.15", ops, ["v0"], ["v8"],
                      [(t, (f(t[0] >> 8 * off & M16),)) for t in values])
    for n, dst in ((2, "v[8:9]"), (3, "v[8:10]"), (4, "v[8:11]")):
        values = [tuple(v.integer(32) for _ in range(4)) for _ in range(12)]
        src = {2: "v[4:5]", 3: "v[4:6]", 4: "v[4:7]"}[n]
        ops = places(f"store_b{32 * n}", f"load_b{32 * n}", src, dst)
        out.block("manual 16.15", ops, ["v4", "v5", "v6", "v7"], [f"v{8 + i}" for i in range(n)],
                  [(t, t[:n]) for t in values])
    for name, f in (("b8", lambda d, x: d & ~255 | x & 255), ("b16", lambda d, x: d & ~M16 | x & M16),
                    ("d16_hi_b8", lambda d, x: d & ~255 | x >> 16 & 255),
                    ("d16_hi_b16", lambda d, x: d & ~M16 | x >> 16)):
        values = [(v.integer(32), v.integer(32)) for _ in range(12)]
        ops = places("store_b32", "load_b32", "v0", "v8")
        ds = name.replace("d16_hi_b8", "b8_d16_hi").replace("d16_hi_b16", "b16_d16_hi")
        extra = [f"ds_store_{ds} v1, v2;", f"global_store_{name} v1, v2, s[82:83];",
                 f"flat_store_{name} v[20:21], v2;",
                 f"buffer_store_{name} v2, v1, s[44:47], 0 offen;", f"scratch_store_{name} off, v2, off;"]
        ops = [o.replace("s_waitcnt 0;", "s_waitcnt 0;" + x, 1) for o, x in zip(ops, extra)]
        out.block("manual 16.15", ops, ["v0", "v2"], ["v8"], [(t, (f(*t),)) for t in values])
    two_addresses(out, v)
    ranges(out, v)
    return out


def two_addresses(out, v):
    values = [tuple(v.integer(32) for _ in range(2)) for _ in range(12)]
    out.block("manual 12.3", [
        LANE + "ds_store_2addr_b32 v1, v4, v5 offset0:1 offset1:3;s_waitcnt 0;"
        "ds_load_b32 v8, v1 offset:4;ds_load_b32 v9, v1 offset:12;s_waitcnt 0",
        LANE + "ds_store_b32 v1, v4 offset:4;ds_store_b32 v1, v5 offset:8;s_waitcnt 0;"
        "ds_load_2addr_b32 v[8:9], v1 offset0:1 offset1:2;s_waitcnt 0",
        LANE + "ds_store_2addr_stride64_b32 v1, v4, v5 offset0:1 offset1:5;s_waitcnt 0;"
        "ds_load_2addr_stride64_b32 v[8:9], v1 offset0:1 offset1:5;s_waitcnt 0",
    ], ["v4", "v5"], ["v8", "v9"], [(t, t) for t in values])
    # compilers fold offsets into addresses below zero: the sum wraps
    out.block("model: LLVM's offsets of DS instructions", [
        LANE + "v_add_nc_u32 v1, 0xfffff800, v1;ds_store_b32 v1, v4 offset:2052;"
        "ds_store_b32 v1, v5 offset:2056;s_waitcnt 0;"
        "ds_load_b32 v8, v1 offset:2052;ds_load_b32 v9, v1 offset:2056;s_waitcnt 0",
        LANE + "v_add_nc_u32 v1, -4, v1;ds_store_2addr_b32 v1, v4, v5 offset0:1 offset1:2;"
        "s_waitcnt 0;ds_load_2addr_b32 v[8:9], v1 offset0:1 offset1:2;s_waitcnt 0",
    ], ["v4", "v5"], ["v8", "v9"], [(t, t) for t in values])
    out.block("manual 12.3", [
        LANE + "ds_store_2addr_b64 v1, v[4:5], v[6:7] offset0:0 offset1:1;s_waitcnt 0;"
        "ds_load_b128 v[8:11], v1;s_waitcnt 0",
        LANE + "ds_store_b128 v1, v[4:7];s_waitcnt 0;"
        "ds_load_2addr_b64 v[8:11], v1 offset0:0 offset1:1;s_waitcnt 0",
    ], ["v4:5", "v6:7"], ["v8:9", "v10:11"],
        [((a, b), (a, b)) for a, b in [(v.integer(64), v.integer(64)) for _ in range(12)]])


def ranges(out, v):
    """Loads beyond a buffer give zero, stores beyond it do nothing."""
    words = [v.r.getrandbits(32) for _ in range(64)]
    setup = "s_mov_b64 s[44:45], s[82:83];s_and_b32 s45, s45, 0xffff;"
    raw = setup + "s_mov_b32 s46, 64;s_mov_b32 s47, 0x31016fac;"
    offsets = [0, 4, 8, 52, 56, 60, 61, 62, 63, 64, 68, 72, 1000, 0x7fffffff, M32]

    def dword(off):
        return words[off // 4] if off + 4 <= 64 and off % 4 == 0 else None
    values = [(o,) for o in offsets if o % 4 == 0 or o > 64]
    out.block("manual 9.4", [raw + "buffer_load_b32 v8, v1, s[44:47], 0 offen;s_waitcnt 0"],
              ["v1"], ["v8"], [(t, (dword(t[0]) or 0,)) for t in values if t[0] + 4 <= 1 << 32],
              sets={"data0": words})
    # records of 16 bytes: index and offset within the record are checked
    rec = setup + "s_or_b32 s45, s45, 0x100000;s_mov_b32 s46, 4;s_mov_b32 s47, 0x01016fac;"
    cases = [(i, o) for i in (0, 1, 3, 4, 5, M32) for o in (0, 4, 12, 16, 20)]
    out.block("manual 9.4", [rec + "v_mov_b32 v10, v1;v_mov_b32 v11, v2;buffer_load_b32 v8, "
                             "v[10:11], s[44:47], 0 idxen offen;s_waitcnt 0"],
              ["v1", "v2"], ["v8"],
              [((i, o), (words[4 * i + o // 4] if i < 4 and o < 16 else 0,)) for i, o in cases],
              sets={"data0": words})


# ---- atomics ------------------------------------------------------------------------

ATOMICS = {
    "add_u": lambda m, d, n: m + d, "sub_u": lambda m, d, n: m - d, "and_b": lambda m, d, n: m & d,
    "or_b": lambda m, d, n: m | d, "xor_b": lambda m, d, n: m ^ d, "min_u": lambda m, d, n: min(m, d),
    "max_u": lambda m, d, n: max(m, d), "min_i": lambda m, d, n: min(s(m, n), s(d, n)),
    "max_i": lambda m, d, n: max(s(m, n), s(d, n)),
    "inc_u": lambda m, d, n: 0 if m >= d else m + 1,
    "dec_u": lambda m, d, n: d if m == 0 or m > d else m - 1, "swap_b": lambda m, d, n: d,
}


def atomic_places(name, bits, ds_name):
    d, old, new = ("v2", "v8", "v10") if bits == 32 else ("v[2:3]", "v[8:9]", "v[10:11]")
    m = "v4" if bits == 32 else "v[4:5]"
    copy = "v_mov_b32 v8, v2;" + ("v_mov_b32 v9, v3;" if bits == 64 else "")
    back = "s_waitcnt 0;"
    return [
        f"{LANE}ds_store_b{bits} v1, {m};{back}ds_{ds_name} {old}, v1, {d};{back}"
        f"ds_load_b{bits} {new}, v1;s_waitcnt 0",
        f"{LANE}global_store_b{bits} v1, {m}, s[82:83];{back}"
        f"global_atomic_{name} {old}, v1, {d}, s[82:83] glc;{back}"
        f"global_load_b{bits} {new}, v1, s[82:83];s_waitcnt 0",
        f"{LANE}{FLAT}flat_store_b{bits} v[20:21], {m};{back}"
        f"flat_atomic_{name} {old}, v[20:21], {d} glc;{back}flat_load_b{bits} {new}, v[20:21];"
        "s_waitcnt 0",
        f"{LANE}{RAW}buffer_store_b{bits} {m}, v1, s[44:47], 0 offen;{back}{copy}"
        f"buffer_atomic_{name} {old}, v1, s[44:47], 0 offen glc;{back}"
        f"buffer_load_b{bits} {new}, v1, s[44:47], 0 offen;s_waitcnt 0"]


def atomics():
    out = File("atomics in LDS and memory: old value and new memory")
    v = Values(4200)
    for name, f in ATOMICS.items():
        for bits in (32, 64):
            mask = (1 << bits) - 1
            full = f"{name}{bits}"
            ds = "storexchg_rtn_b%d" % bits if name == "swap_b" else full.replace("_", "_rtn_", 1)
            cols = (["v4", "v2"], ["v8", "v10"]) if bits == 32 else \
                (["v4:5", "v2:3"], ["v8:9", "v10:11"])
            values = [(v.integer(bits), v.integer(bits)) for _ in range(20)]
            values += [(a, a) for a, _ in values[:2]]
            out.block("manual 16.15", atomic_places(full, bits, ds), *cols,
                      [(t, (t[0], f(*t, bits) & mask)) for t in values])
    exchange(out, v)
    floats(out, v)
    return out


def exchange(out, v):
    for bits in (32, 64):
        values = []
        for _ in range(20):
            m = v.integer(bits)
            values.append((m, v.integer(bits), m if v.r.getrandbits(1) else v.integer(bits)))
        m, d, c, pair, old, new = ("v4", "v2", "v3", "v[2:3]", "v8", "v10") if bits == 32 else \
            ("v[4:5]", "v[12:13]", "v[14:15]", "v[12:15]", "v[8:9]", "v[10:11]")
        cols = (["v4", "v2", "v3"], ["v8", "v10"]) if bits == 32 else \
            (["v4:5", "v12:13", "v14:15"], ["v8:9", "v10:11"])
        out.block("manual 16.15", [
            f"{LANE}ds_store_b{bits} v1, {m};s_waitcnt 0;"
            f"ds_cmpstore_rtn_b{bits} {old}, v1, {d}, {c};s_waitcnt 0;"
            f"ds_load_b{bits} {new}, v1;s_waitcnt 0",
            f"{LANE}global_store_b{bits} v1, {m}, s[82:83];s_waitcnt 0;"
            f"global_atomic_cmpswap_b{bits} {old}, v1, {pair}, s[82:83] glc;s_waitcnt 0;"
            f"global_load_b{bits} {new}, v1, s[82:83];s_waitcnt 0"], *cols,
            [(t, (t[0], t[1] if t[0] == t[2] else t[0])) for t in values])


def floats(out, v):
    """Chapter 13 of the manual: nearest even; minimum and maximum order -0 below +0."""
    def usable(t):
        return not any(F32.nan(x) for x in t)
    near = [t for t in v.floats(F32, 2, 30) if usable(t)]

    def add(m, d):
        return m, fp.add(F32, Mode(DEFAULT), m, d)

    def best(larger):
        return lambda m, d: (m, fp.minmax(F32, Mode(DEFAULT), m, d, larger))
    normal = [t for t in near if not any(F32.denormal(x) for x in t) and
              not isinstance(add(*t)[1], str) and not F32.denormal(add(*t)[1])]
    ds = atomic_places("add_f32", 32, "add_rtn_f32")
    out.block("manual 13", ds, ["v4", "v2"], ["v8", "v10"], rows(normal, add))
    out.block("manual 13", ds[:1], ["v4", "v2"], ["v8", "v10"], rows(near, add))
    for mode in (0x3f1, 0x3f2, 0x3f3):  # rounding stays nearest even
        out.block("manual 13", ds[:1], ["v4", "v2"], ["v8", "v10"], rows(normal[::3], add), mode)
    for name, larger in (("min_f32", False), ("max_f32", True)):
        out.block("manual 13", atomic_places(name, 32, name.replace("_", "_rtn_")), ["v4", "v2"],
                  ["v8", "v10"], rows(near, best(larger)))


# ---- control ------------------------------------------------------------------------

def control():
    out = File("branches, calls, hardware registers, scalar loads, moves by M0")
    v = Values(4300)
    wave = {"kind": "per wave"}
    for cond, f in (("scc0", lambda scc, x: not scc), ("scc1", lambda scc, x: scc)):
        out.block("manual 16.5", [f"s_mov_b32 s8, 1;s_cbranch_{cond} 1;s_mov_b32 s8, 2"],
                  ["scc", "s4"], ["s8"], [((c, 0), (1 if f(c, 0) else 2,)) for c in (0, 1)], **wave)
    for lanes in (32, 64):
        masks = [0, 1, 1 << lanes - 1, (1 << lanes) - 1]
        for reg in ("vcc", "exec"):
            for cond, f in (("z", lambda m: m == 0), ("nz", lambda m: m != 0)):
                out.block("manual 16.5",
                          [f"s_mov_b32 s8, 1;s_cbranch_{reg}{cond} 1;s_mov_b32 s8, 2"],
                          [reg], ["s8"], [((m,), (1 if f(m) else 2,)) for m in masks],
                          lanes=lanes, **wave)
    out.block("manual 16.5", ["s_mov_b32 s8, 0;s_add_u32 s8, s8, s4;s_sub_u32 s5, s5, 1;"
                              "s_cmp_lg_u32 s5, 0;s_cbranch_scc1 65532"], ["s4", "s5"], ["s8", "s5"],
              [((a, n), (a * n & M32, 0)) for a, n in ((3, 1), (7, 5), (0x7fffffff, 9))], **wave)
    out.block("manual 16.2", ["s_mov_b32 s8, 1;s_call_b64 s[10:11], 1;s_branch 2;"
                              "s_mov_b32 s8, 5;s_setpc_b64 s[10:11];s_nop 0"], ["s4"], ["s8"],
              [((0,), (5,))], **wave)
    for low, n in ((0, 4), (4, 4), (8, 1), (9, 1), (0, 10), (2, 2)):
        values = [(v.r.getrandbits(10), v.r.getrandbits(10)) for _ in range(6)]
        mask = ((1 << n) - 1) << low
        out.block("manual 3.4", [f"s_setreg_b32 hwreg(HW_REG_MODE, {low}, {n}), s4;"
                                 f"s_getreg_b32 s8, hwreg(HW_REG_MODE, {low}, {n})"],
                  ["mode", "s4"], ["mode", "s8"],
                  [((m, x), (m & ~mask | x << low & mask, x & (1 << n) - 1)) for m, x in values],
                  **wave)
    for op, low in (("s_round_mode", 0), ("s_denorm_mode", 4)):
        for k in (0, 5, 15):
            out.block("manual 16.5", [f"{op} 0x{k:x}"], ["mode"], ["mode"],
                      [((m,), (m & ~(15 << low) | k << low,)) for m in (0, 0x3ff, 0x155)], **wave)
    scalar_loads(out, v)
    moves(out, v)
    return out


def scalar_loads(out, v):
    words = [v.r.getrandbits(32) for _ in range(64)]
    for n in (1, 2, 4, 8, 16):
        dst = "s8" if n == 1 else f"s[8:{7 + n}]"
        for off in (0, 4, 0x40):
            out.wave("manual 16.6", [f"s_load_b{32 * n} {dst}, s[82:83], 0x{off:x};s_waitcnt 0"],
                     {"data0": words}, {f"s{8 + i}": [words[off // 4 + i]] for i in range(n)})
    buffer = "s_mov_b64 s[44:45], s[82:83];s_and_b32 s45, s45, 0xffff;s_mov_b32 s46, 32;" \
             "s_mov_b32 s47, 0x31016fac;"
    for off in (0, 16, 28, 32, 64):
        wanted = [words[off // 4 + i] if off + 4 * i < 32 else 0 for i in range(1)]
        out.wave("manual 8.2", [f"{buffer}s_buffer_load_b32 s8, s[44:47], 0x{off:x};s_waitcnt 0"],
                 {"data0": words}, {"s8": wanted})
    out.wave("manual 8.2", ["s_mov_b32 s20, 8;s_load_b32 s8, s[82:83], s20 offset:0x10;s_waitcnt 0"],
             {"data0": words}, {"s8": [words[6]]})


def moves(out, v):
    rows_ = {f"v{i}": [v.r.getrandbits(32) for _ in range(64)] for i in range(4)}
    for k in (0, 1, 3):
        for lanes in (32, 64):
            given = {n: x[:lanes] for n, x in rows_.items()}
            out.wave("manual 16.8", [f"s_mov_b32 m0, {k};v_movrels_b32 v8, v0"], given,
                     {"v8": rows_[f"v{k}"][:lanes]}, lanes=lanes)
            out.wave("manual 16.8", [f"s_mov_b32 m0, {k};v_movreld_b32 v8, v0"], given,
                     {f"v{8 + k}": rows_["v0"][:lanes]}, lanes=lanes)
            out.wave("manual 16.8", ["v_swap_b32 v0, v1"], given,
                     {"v0": rows_["v1"][:lanes], "v1": rows_["v0"][:lanes]}, lanes=lanes)
        scalars = {f"s{4 + i}": [v.r.getrandbits(32)] for i in range(4)}
        out.wave("manual 16.3", [f"s_mov_b32 m0, {k};s_movrels_b32 s8, s4"], scalars,
                 {"s8": scalars[f"s{4 + k}"]})
        out.wave("manual 16.3", [f"s_mov_b32 m0, {k};s_movreld_b32 s8, s4"], scalars,
                 {f"s{8 + k}": scalars["s4"]})
