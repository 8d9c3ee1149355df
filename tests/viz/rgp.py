"""The container of Radeon GPU Profiler, read by a reader of its own: chunks one after the
other, their fields at the offsets that Mesa's and tinygrad's structures have, the thread
traces and the code object inside the same as by themselves. With --tinygrad the structures
and the decoder of that package (0.14) read the file too; exit status 77: it is not there.

usage: rgp.py RDNA3 KERNEL.s [--tinygrad]"""
import os
import struct
import subprocess
import sys
import tempfile

rdna3, source = sys.argv[1:3]
tinygrad = "--tinygrad" in sys.argv
failed = 0
if tinygrad:
    try:
        import tinygrad.renderer.amd.sqtt
    except ImportError:
        print("skipped: the Python package tinygrad (0.14 or later) is not installed")
        sys.exit(77)
NAMES = {0: "asic", 1: "desc", 2: "data", 3: "api", 7: "cpu", 9: "code", 10: "loads",
         11: "pipelines"}
VERSION = {"asic": (0, 5), "desc": (0, 2), "data": (0, 0), "api": (0, 2), "cpu": (0, 0),
           "code": (0, 0), "loads": (1, 0), "pipelines": (0, 0)}


def check(what, ok, more=""):
    global failed
    if not ok:
        failed = 1
        print("FAILED:", what, more)


def call(*args):
    done = subprocess.run([rdna3] + list(args), capture_output=True, text=True)
    check(" ".join(args), done.returncode == 0, done.stderr)
    return done.stdout


def u32(data, at, n=1):
    return struct.unpack_from("<%dI" % n, data, at) if n > 1 else struct.unpack_from("<I", data, at)[0]


def u64(data, at):
    return struct.unpack_from("<Q", data, at)[0]


def chunks(data):
    """(name, index, offset, size) until the file's end."""
    magic, major, minor = u32(data, 0, 3)
    check("magic, version", (magic, major, minor) == (0x50303042, 1, 5))
    at, out = u32(data, 16), []
    check("the first chunk follows the header", at == 56)
    while at < len(data):
        check("aligned", at % 4 == 0)
        kind, index, low, high = data[at], data[at + 1], *struct.unpack_from("<HH", data, at + 4)
        size = u32(data, at + 8)
        check("a known chunk", kind in NAMES and VERSION.get(NAMES.get(kind)) == (high, low),
              (kind, high, low))
        check("room for it", size >= 16 and at + size <= len(data), (at, size))
        if failed:
            break
        out.append((NAMES[kind], index, at, size))
        at += size
    check("chunks end with the file", at == len(data))
    return out


def look_at_machine(data, at):
    shown = {24: (u64, 2000000000), 40: (u32, 0x744c), 48: (u32, 1536), 56: (u32, 6), 60: (u32, 16),
             64: (u32, 2), 68: (u32, 16), 96: (u32, 12), 128: (u64, 24 << 30), 140: (u32, 6 << 20),
             148: (u32, 65536), 424: (u64, 100000000), 452: (u32, 0x13), 748: (u32, 256 << 10),
             752: (u32, 32 << 10), 756: (u32, 16 << 10), 760: (u32, 96 << 20)}
    for offset, (read, value) in shown.items():
        check("machine, byte %d" % offset, read(data, at + offset) == value, read(data, at + offset))
    check("its name", data[at + 152:at + 408].rstrip(b"\0").startswith(b"gfx1100"))
    masks = struct.unpack_from("<64H", data, at + 460)
    check("CUs", masks == (3, 0, 3, 0) + (0,) * 60, masks)


def with_tinygrad(data, found, code):
    import tinygrad.runtime.autogen.sqtt as s
    from tinygrad.renderer.amd import sqtt
    of = {"asic": s.struct_sqtt_file_chunk_asic_info, "cpu": s.struct_sqtt_file_chunk_cpu_info,
          "api": s.struct_sqtt_file_chunk_api_info, "desc": s.struct_sqtt_file_chunk_sqtt_desc,
          "data": s.struct_sqtt_file_chunk_sqtt_data,
          "code": s.struct_sqtt_file_chunk_code_object_database,
          "loads": s.struct_sqtt_file_chunk_code_object_loader_events,
          "pipelines": s.struct_sqtt_file_chunk_pso_correlation}
    for name, index, at, size in found:
        raw = data[at:at + of[name].SIZE]
        head = s.struct_sqtt_file_chunk_header.from_buffer_copy(raw)
        check("tinygrad: size of " + name, head.size_in_bytes == size and
              (size == of[name].SIZE or name in ("data", "code", "loads", "pipelines")))
        chunk = of[name].from_buffer_copy(raw)
        if name == "asic":
            check("tinygrad: machine", (chunk.shader_engines, chunk.wavefronts_per_simd,
                  chunk.mall_cache_size, chunk.trace_shader_core_clock) ==
                  (6, 16, 96 << 20, 2000000000))
        if name == "api":
            check("tinygrad: instructions are traced", chunk.instruction_trace_mode == 1)
        if name == "data":
            blob = data[chunk.offset:chunk.offset + chunk.size]
            packets = [type(p).__name__ for p in sqtt.decode(blob)]
            check("tinygrad: waves", packets.count("WAVESTART") == packets.count("WAVEEND") > 0)
            walked = [at for _, at in sqtt.map_insts(blob, code, "gfx1100") if at is not None]
            check("tinygrad: instructions of the code object inside", len(walked) > 500,
                  len(walked))


with tempfile.TemporaryDirectory() as folder:
    def path(name):
        return os.path.join(folder, name)

    call("asm", source, "-o", path("k"))
    call("run", path("k"), "--grid", "20", "--block", "256", "--arg", "buf:80K:rand=f32,1",
         "--arg", "buf:80K", "--timing", "--sclk-mhz", "2000", "--cu-mask", "3,3,0,0,0,0",
         "--timing-trace", path("t"))
    call("trace", path("t"), "--rgp", path("plain"))
    call("trace", path("t"), "--rgp", path("r"), "--code-object", path("k"))
    with open(path("r"), "rb") as f:
        data = f.read()
    with open(path("k"), "rb") as f:
        code = f.read()
    with open(path("plain"), "rb") as f:
        plain = [name for name, *_ in chunks(f.read())]
    found = chunks(data)
    names = [name for name, *_ in found]
    check("chunks", names == ["cpu", "asic", "api", "code", "loads", "pipelines"] + ["desc", "data"] * 2, names)
    check("without a code object", plain == ["cpu", "asic", "api"] + ["desc", "data"] * 2, plain)
    traces = 0
    for name, index, at, size in found:
        if name == "cpu":
            check("ticks of the CPU", size == 112 and u64(data, at + 88) == 10 ** 9)
        elif name == "asic":
            check("machine's size", size == 768)
            look_at_machine(data, at)
        elif name == "api":
            check("engines traced", size == 560 and u32(data, at + 544) == 1 and u64(data, at + 552) == 3)
        elif name == "code":
            offset, _, bytes_, records, inside = u32(data, at + 16, 5)
            check("code object", (offset, bytes_, records, inside) == (at, size, 1, (len(code) + 3) // 4 * 4))
            check("its contents", data[at + 36:at + 36 + len(code)] == code)
            check("it is an ELF file", data[at + 36:at + 40] == b"\x7fELF")
        elif name == "loads":
            check("one load", u32(data, at + 16, 4) == (at, 0, 40, 1) and size == 72)
            check("at a page", u64(data, at + 40) % 4096 == 0 and u64(data, at + 40) > 0)
            loaded = data[at + 48:at + 64]
        elif name == "pipelines":
            check("one kernel", u32(data, at + 16, 4) == (at, 0, 88, 1) and size == 120)
            check("of the code that was loaded", data[at + 40:at + 56] == loaded)
            check("its name", data[at + 56:at + 120].rstrip(b"\0") == b"mixed")
        elif name == "desc":
            check("engine", u32(data, at + 16, 4) == (index, 0xb, 1, 0) and index == traces)
        elif name == "data":
            offset, bytes_ = u32(data, at + 16, 2)
            check("place of the trace", offset == at + 24 and size == 24 + bytes_ and bytes_ % 32 == 0)
            call("trace", path("t"), "--sqtt", path("s"), "--simd", "%d,0,0,0" % index)
            with open(path("s"), "rb") as f:
                alone = f.read()
            check("the trace", data[offset:offset + bytes_] == alone + bytes(-len(alone) % 32))
            traces += 1
    if tinygrad:
        with_tinygrad(data, found, code)

    call("trace", path("t"), "--rgp", path("again"), "--code-object", path("k"))
    with open(path("again"), "rb") as f:
        check("the same again", f.read() == data)
    for args, status in ((("--rgp", path("x"), "--code-object", path("t")), 1),
                         (("--rgp", path("x"), "--code-object", path("none")), 1),
                         (("--rgp", path("x"), "--simd", "0,0,0,9"), 2),
                         (("--code-object", path("k")), 2),
                         (("--rgp", path("x"), "--sqtt", path("y")), 2)):
        done = subprocess.run([rdna3, "trace", path("t"), *args], capture_output=True, text=True)
        check("refused", done.returncode == status and "error:" in done.stderr, (args, done))
        check("nothing is written then", not os.path.exists(path("x")), args)
sys.exit(failed)
