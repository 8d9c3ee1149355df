"""Captures of a board that is the model itself: what `rdna3 run --timing` says of a kernel, written as thread
traces (SQTT), in tinygrad's pickles and in .rgp files.

usage: made.py RDNA3 FOLDER     writes made.pkl and made.rgp there"""
import json
import os
import pickle
import struct
import subprocess
import sys

BASE = 0x200001006000
KERNEL = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
.text
.globl k
.p2align 8
.type k,@function
k:
  s_load_b64 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_mov_b32 s6, 5
  s_waitcnt lgkmcnt(0)
loop:
  v_add_f32 v2, v1, v0
  v_mul_f32 v3, v2, v2
  v_exp_f32 v4, v3
  ds_store_b32 v1, v4
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_load_b32 v5, v1
  s_sub_u32 s6, s6, 1
  s_cmp_lg_u32 s6, 0
  s_waitcnt lgkmcnt(0)
  v_add_f32 v0, v5, v4
  s_cbranch_scc1 loop
  s_call_b64 s[8:9], there
  s_nop 0
there:
  global_store_b32 v1, v0, s[4:5]
  s_delay_alu instid0(VALU_DEP_1)
  v_mov_b32 v9, v8
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 16
  .amdhsa_group_segment_fixed_size 1024
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_kernarg_size 8
  .amdhsa_wavefront_size32 1
.end_amdhsa_kernel
"""
GROUPS, BLOCK, BUFFER, MHZ = 12, 96, 4096, 2000
BRANCH = {0xbfa0 + i for i in range(11)}
CUS = (0x16, 0x17, 0x19, 0x1a, 0x2b, 0x2c)  # COMPUTE_STATIC_THREAD_MGMT_SE0 ...


def build(rdna3, folder, kernel=KERNEL):
    """The code object, .text's address and bytes, the kernel's address."""
    source, code = os.path.join(folder, "k.s"), os.path.join(folder, "k.hsaco")
    with open(source, "w", encoding="utf-8") as f:
        f.write(kernel)
    subprocess.run([rdna3, "asm", "-o", code, source], check=True)
    with open(code, "rb") as f:
        elf = f.read()
    table, = struct.unpack_from("<Q", elf, 0x28)
    number, = struct.unpack_from("<H", elf, 0x3c)
    for i in range(number):
        _, kind, flags, address, offset, size = struct.unpack_from("<IIQQQQ", elf, table + 64 * i)
        if kind == 1 and flags & 4:
            return elf, address, elf[offset:offset + size]
    raise ValueError("no code")


def timed(rdna3, folder, *more, grid=str(GROUPS)):
    path = os.path.join(folder, "t.json")
    subprocess.run([rdna3, "run", os.path.join(folder, "k.hsaco"), "--grid", grid, "--block", str(BLOCK),
                    "--arg", f"buf:{BUFFER}", "--timing", "--sclk-mhz", str(MHZ), "--first-se", "1",
                    "--warm", "code-tlb", "--timing-json", path, "--timing-insts", "all", *more], check=True,
                   stdout=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as f:
        return json.load(f)["waves"]


class Trace:
    """An engine's packets: (bits, number of nibbles)."""

    def __init__(self, layout=3, wgp=0):
        self.nibbles, self.t, self.clock = [], 0, 0
        self.put(0x11 | layout << 7 | wgp << 15, 16)

    def put(self, raw, nibbles):
        self.nibbles += [raw >> 4 * i & 15 for i in range(nibbles)]

    def until(self, t, short):
        """Packets of time so that the next one's own cycles, at most short, reach t."""
        wait = t - self.t
        self.t = t
        if wait <= short:
            return wait
        if 4 <= wait <= 19:
            self.put(0x8 | (wait - 4) << 4, 2)
        else:
            self.put(0x01 | wait << 12, 12)
        return 0

    def mark(self, clock):
        self.put(0x01 | 1 << 9 | clock << 12, 12)

    def register(self, number, value):
        self.put(0x9 | 0x82 << 8 | number << 16 | value << 32, 16)

    def words(self, words):
        """What a driver writes, to SQ_THREAD_TRACE_USERDATA_2 and _3 in turn."""
        for i, word in enumerate(words):
            self.put(0x9 | 2 << 8 | (0xc342 + i % 2) << 16 | word << 32, 16)

    def start(self, w, t):
        self.put(0x0c | self.until(t, 3) << 5 | w["sa"] << 7 | w["simd"] << 8 | w["wgp"] << 10 | w["slot"] << 13, 8)

    def end(self, w, t):
        self.put(0x15 | self.until(t, 7) << 5 | w["sa"] << 8 | w["simd"] << 9 | w["wgp"] << 11 | w["slot"] << 15, 5)

    def inst(self, w, t, word, taken):
        slot = w["slot"]
        if word >> 16 in BRANCH or word >> 23 == 0x174:  # also s_call_b64
            op = 5 if word >> 23 == 0x174 else 3 if taken else 4
            self.put(0x2 | self.until(t, 7) << 4 | slot << 8 | op << 13, 5)
            if op == 5:
                self.put(0x21, 16)
        elif word >> 25 < 0x3e:
            self.put(0x3 | self.until(t, 7) << 3 | slot << 7, 3)
        elif word >> 23 == 0x17f:
            self.put(0xd | self.until(t, 7) << 4 | slot << 7, 3)
        else:
            self.put(0x2 | self.until(t, 7) << 4 | slot << 8 | 0 << 13, 5)

    def bytes(self):
        n = self.nibbles + [0] * (len(self.nibbles) % 2)
        return bytes(a | b << 4 for a, b in zip(n[::2], n[1::2]))


def traces(waves, text, entry, layout=3, registers=True, words=(), rsrc2=0x88, wgp=0, mhz=MHZ):
    """Of each engine: as the hardware does, instructions of SIMD 0 of one WGP only."""
    out = []
    for se in range(6):
        t, events = Trace(layout, wgp), []
        mine = [w for w in waves if w["se"] == se]
        zero = min((w["start"] for w in mine), default=0)
        for n, w in enumerate(mine):
            events.append((w["start"] - zero, 0, n, t.start, (w,)))
            events.append((w["end"] - zero, 2, n, t.end, (w,)))
            if w["sa"] or w["wgp"] != wgp or w["simd"]:
                continue
            insts = [x for x in w["insts"] if struct.unpack_from("<H", text, x[0] + 2)[0] not in (0xbf87, 0xbfb0)]
            for i, (pc, at) in enumerate(insts):
                word, = struct.unpack_from("<I", text, pc)
                taken = i + 1 < len(insts) and insts[i + 1][0] != pc + 4
                events.append((at - zero, 1, n, t.inst, (w, word, taken)))
        t.mark(5000)
        t.words(words)
        if registers:
            for number, value in ((7, BLOCK), (8, 1), (9, 1), (12, entry >> 8 & 0xffffffff), (13, entry >> 40),
                                  (18, 0), (19, rsrc2)):
                t.register(number, value)
            for number in CUS:
                t.register(number, 0xffffffff)
        shift = 1000
        for at, _, _, write, what in sorted(events, key=lambda e: e[:3]):
            if write == t.inst:
                t.inst(what[0], at + shift, *what[1:])
            else:
                write(what[0], at + shift)
        t.until(t.t + 100000 - t.t % 1000, -1)
        t.mark(5000 + t.t * 100 // mhz)
        out.append(t.bytes())
    return out


def event(name):
    """A class as tinygrad's profile names it."""
    return type(name, (), {"__module__": "made"})


EVENTS = {n: event(n) for n in ("ProfileProgramEvent", "ProfileSQTTEvent", "ProfilePointEvent", "DType")}


class Type:
    def __init__(self, *args):
        self.args = args

    def __reduce__(self):
        return EVENTS["DType"], self.args


def made(kind, **fields):
    e = object.__new__(EVENTS[kind])
    e.__dict__.update(fields)
    return e


def profile(elf, blobs, sizes=True):
    module = sys.modules.setdefault("made", type(sys)("made"))
    for name, cls in EVENTS.items():
        setattr(module, name, cls)
    events = [made("ProfileProgramEvent", device="AMD", name="k", lib=elf, base=BASE, tag=0)]
    if sizes:
        events += [made("ProfilePointEvent", device="AMD", name="exec", key=9, arg={"bufs": [4], "name": "k"}),
                   made("ProfilePointEvent", device="AMD", name="alloc", key=4,
                        arg={"dtype": Type(13, 32, "float"), "sz": BUFFER // 4})]
    events += [made("ProfileSQTTEvent", device="AMD", kern=0, se=se, blob=b, itrace=True)
               for se, b in enumerate(blobs)]
    return pickle.dumps(events, protocol=4)


def rgp(elf, blobs):
    def chunk(kind, body):
        return struct.pack("<BBHHHIi", kind, 0, 0, 0, 0, 16 + len(body), 0) + body
    out = struct.pack("<IIIIi", 0x50303042, 1, 5, 0, 56) + bytes(36)
    for se, blob in enumerate(blobs):
        blob += bytes(-len(blob) % 4)
        out += chunk(1, struct.pack("<iiI", se, 6, 0))
        out += chunk(2, struct.pack("<ii", len(out) + 24, len(blob)) + blob)
    elf += bytes(-len(elf) % 4)
    out += chunk(9, struct.pack("<IIII", len(out), 0, 36 + len(elf), 1) + struct.pack("<I", len(elf)) + elf)
    out += chunk(10, struct.pack("<IIII", len(out), 0, 40, 1) + struct.pack("<IIQQQQ", 0, 0, BASE, 1, 2, 3))
    return out


def grid_words(*grid):
    """As tinygrad and Mesa tell of a dispatch: the pipeline, then the event with its workgroups."""
    return [0x8c, 0x356bd9c7, 0xf3467170, 1 << 31, 0, 0, *grid]


def rocm_words(number, address, size, unload=()):
    """As AMD's aqlprofile tells of code objects."""
    def pairs(*marks):
        return [x for channel, word in marks for x in (4 | channel << 8, word)]
    out = [0x434f5200, 524801]
    for other in unload:
        out += pairs((2, 0x1000), (3, 0), (1, 4096), (4, 0), (0, other << 2 | 2), (0, other << 2 | 1))
    out += pairs((2, address & 0xffffffff), (3, address >> 32), (1, size), (4, 0))
    return out + (pairs((0, number << 2 | 2)) if number < 1 << 30 else
                  pairs((5, number & 0xffffffff), (6, number >> 32), (0, 2)))


def rocm(folder, elf, blobs, number, dispatch, prefix="77_", agent=9000):
    """The files of rocprofv3 --att."""
    os.makedirs(folder, exist_ok=True)
    for se, blob in enumerate(blobs):
        with open(os.path.join(folder, f"{prefix}{agent}_shader_engine_{se}_{dispatch}.att"), "wb") as f:
            f.write(blob)
    with open(os.path.join(folder, f"{prefix}gfx1100_code_object_id_{number}.out"), "wb") as f:
        f.write(elf)


def bare(text, address, kd):
    """An image as tinygrad's assembler makes them: sections, and the first bytes of an ELF header."""
    image = bytearray(b"\x7fELF\2".ljust(64, b"\0"))
    image[0x28:0x30], image[0x3c:0x3e] = struct.pack("<Q", 64), struct.pack("<H", 2)
    at = [address, (address + len(text) + 63) // 64 * 64]
    for where, flags, data in ((at[0], 6, text), (at[1], 2, kd)):
        image += struct.pack("<IIQQQQ24x", 0, 1, flags, where, where, len(data))
    image += bytes(at[1] + 64 - len(image))
    image[at[0]:at[0] + len(text)], image[at[1]:at[1] + 64] = text, kd
    return bytes(image)


def write(rdna3, folder):
    elf, address, text = build(rdna3, folder)
    waves = timed(rdna3, folder)
    blobs = traces(waves, text, BASE + address)
    for name, data in (("made.pkl", profile(elf, blobs)), ("made.rgp", rgp(elf, blobs))):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)
    return elf, address, text, waves


if __name__ == "__main__":
    os.makedirs(sys.argv[2], exist_ok=True)
    write(sys.argv[1], sys.argv[2])
