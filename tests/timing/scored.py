"""`rdna3 timing`: captures that the model itself has made score without an error and decode to the times that went in;
one that is a cycle off does not; what cannot be read or run is named.

usage: scored.py RDNA3"""
import json
import os
import struct
import subprocess
import sys
import tempfile

import made

RDNA3 = sys.argv[1]
MHZ_TOO_MANY = 200000


def call(*command):
    p = subprocess.run([RDNA3, "timing", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                       timeout=600, check=False)
    return p.returncode, p.stdout, p.stderr


def expect(ok, what):
    if not ok:
        raise AssertionError(what)


def put(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(data)
    return path


def scores(path, *more):
    status, out, told = call("score", "--json", *more, path)
    expect(status == 0, told)
    return json.loads(out)["launches"][0]


def exact(folder, waves):
    """What went in comes out, by both kinds of files; and the model agrees with itself."""
    for name, more in (("made.pkl", ()), ("made.rgp", ("--arg", "buf:4096"))):
        path = os.path.join(folder, name)
        status, out, told = call("decode", path)
        expect(status == 0, told)
        got = json.loads(out)["launches"][0]
        expect(len(got["waves"]) == len(waves) == 36 and abs(got["sclk_mhz"] - made.MHZ) < 2, got["sclk_mhz"])
        traced = [w for w in got["waves"] if "insts" in w]
        expect(len(traced) == 6, len(traced))
        for w in traced:
            mine = [x for x in waves if all(x[k] == w[k] for k in ("se", "sa", "wgp", "simd", "slot"))]
            zero = min(x["start"] for x in waves if x["se"] == w["se"])
            want = {tuple(x) for x in ([pc, t - zero] for pc, t in mine[0]["insts"])}
            expect({tuple(x) for x in w["insts"]} <= want and len(w["insts"]) > 60, w)
            expect(w["end"] == mine[0]["end"] - zero, w["end"])
        s = scores(path, "--sclk-mhz", str(made.MHZ), *more)
        expect(s["G"] == 100 and s["T"] == s["W"] == s["K"] == 0 and s["gaps"] > 300, s)
    status, out, _ = call("score", "--sclk-mhz", str(made.MHZ), os.path.join(folder, "made.pkl"))
    row = out.splitlines()[1].split()
    expect(status == 0 and row[:3] == ["k", "2000", "36"] and row[4:8] == ["100.0", "0.00", "0.00", "0.00"], out)


def off(folder, elf, address, text, waves):
    """An instruction a cycle late costs two gaps; a wave that stays longer W and K."""
    late = json.loads(json.dumps(waves))
    wave = next(w for w in late if w["se"] == 1 and not w["wgp"] and not w["simd"] and not w["sa"])
    gaps = scores(os.path.join(folder, "made.pkl"), "--sclk-mhz", "2000")["gaps"]
    place = next(i for i in range(20, 60) if wave["insts"][i + 1][1] - wave["insts"][i][1] > 2 and
                 wave["insts"][i][0] in (0x10, 0x14, 0x18, 0x1c))
    wave["insts"][place][1] += 1
    path = put(folder, "late.pkl", made.profile(elf, made.traces(late, text, made.BASE + address)))
    s = scores(path, "--sclk-mhz", "2000")
    expect(0 < 100 - s["G"] <= 200.01 / gaps and 0 < s["T"] < 1 and s["K"] == 0, s)
    for w in late:
        w["end"] += 500
    path = put(folder, "long.pkl", made.profile(elf, made.traces(late, text, made.BASE + address)))
    s = scores(path, "--sclk-mhz", "2000")
    expect(s["W"] > 5 and s["K"] > 5 and s["span"] == s["model_span"] + 500, s)


def expect_exact(path, *more):
    s = scores(path, "--sclk-mhz", str(made.MHZ), *more)
    expect(s["G"] == 100 and s["T"] == s["W"] == s["K"] == 0 and s["gaps"] > 100, s)
    return s


def told(folder, elf, address, text):
    """What drivers write into the traces: how many workgroups there are in each dimension. And images that say
    that they are ELF files and no more."""
    entry = made.BASE + address
    waves = made.timed(RDNA3, folder, grid="3,4")

    def grid(*words):
        return put(folder, "grid.pkl", made.profile(elf, made.traces(waves, text, entry, rsrc2=0x188, words=words)))
    refuses(grid(), "--grid X,Y,Z of 12 workgroups")
    refuses(grid(*made.grid_words(5, 5, 5)), "--grid X,Y,Z of 12 workgroups")
    expect_exact(grid(*made.grid_words(5, 5, 5), *made.grid_words(3, 4, 1), 3, 1 << 31))
    waves = made.timed(RDNA3, folder)
    kd = elf[elf.find(struct.pack("<III", 1024, 0, 8)):][:64]
    path = put(folder, "bare.pkl", made.profile(made.bare(text, address, kd), made.traces(waves, text, entry)))
    expect_exact(path)
    source, loose = os.path.join(folder, "k.s"), os.path.join(folder, "loose.o")
    subprocess.run([RDNA3, "asm", "-c", "-o", loose, source], check=True)
    with open(loose, "rb") as f:
        loose = f.read()
    end, table = 0, struct.unpack_from("<Q", loose, 0x28)[0]
    for i in range(struct.unpack_from("<H", loose, 0x3c)[0]):  # as tinygrad lays sections out
        _, kind, flags, _, _, size, _, _, align = struct.unpack_from("<IIQQQQIIQ", loose, table + 64 * i)
        if kind == 1:
            end += -end % max(align, 1)
            entry = made.BASE + end if flags & 4 else entry
            end += size
    expect_exact(put(folder, "loose.pkl", made.profile(loose, made.traces(waves, text, entry))))


# Arguments that are no buffers, one that the runtime fills in, a constant, LDS that the launch asked for; the second
# kernel of its code object.
NUMBERS = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
.text
.globl other
.p2align 8
.type other,@function
other:
  s_endpgm
.globl numbers
.p2align 8
.type numbers,@function
numbers:
  s_load_b64 s[4:5], s[0:1], 0x0
  s_load_b32 s6, s[0:1], 0x8
  s_load_b32 s7, s[0:1], 0x10
  s_getpc_b64 s[8:9]
  s_add_u32 s8, s8, table@rel32@lo+4
  s_addc_u32 s9, s9, table@rel32@hi+12
  s_load_b32 s8, s[8:9], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  s_add_u32 s6, s6, s7
  s_add_u32 s6, s6, s8
loop:
  v_add_f32 v2, v1, v0
  v_mul_f32 v3, v2, v2
  s_sub_u32 s6, s6, 1
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 loop
  ds_store_b32 v1, v2 offset:4096
  global_store_b32 v1, v0, s[4:5]
  s_endpgm
.rodata
table:
  .long 3
""" + "".join(f"""
.p2align 6
.amdhsa_kernel {name}
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 16
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_kernarg_size {size}
  .amdhsa_wavefront_size32 1
.end_amdhsa_kernel
""" for name, size in (("other", 0), ("numbers", 24))) + """
.amdgpu_metadata
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx1100
amdhsa.kernels:
""" + "".join(f"""
  - .name: {name}
    .symbol: {name}.kd
    .kernarg_segment_size: {size}
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 16
    .vgpr_count: 16
    .max_flat_workgroup_size: 1024
    .args: {args}
""" for name, size, args in (("other", 0, "[]"), ("numbers", 24, """
      - {.address_space: global, .offset: 0, .size: 8, .value_kind: global_buffer}
      - {.offset: 8, .size: 4, .value_kind: by_value}
      - {.offset: 16, .size: 4, .value_kind: hidden_block_count_x}"""))) + """
.end_amdgpu_metadata
"""


def rocm(folder, elf, address, text, waves):
    """A folder of rocprofv3 --att: dispatches of two processes, told apart by their names; what is refused."""
    base, buffer = 0x7f1234560000, ("--arg", "buf:4096")
    out, inner = os.path.join(folder, "att"), os.path.join(folder, "inner")
    made.rocm(out, elf, made.traces(waves, text, base + address, words=made.rocm_words(3, base, len(elf), (4, 5))),
              3, 12, "host_77_")
    os.makedirs(inner)
    elf2, address2, text2 = made.build(RDNA3, inner, NUMBERS)
    waves2 = made.timed(RDNA3, inner, "--arg", "i32:30", "--kernel", "numbers", "--dynamic-lds", "8192")
    number = 1 << 40 | 3
    made.rocm(out, elf2, made.traces(waves2, text2, base + address2 + 0x100, rsrc2=0x88 | 16 << 15,
                                     words=made.rocm_words(number, base, len(elf2))), number, 7, "host_78_")
    status, listed, said = call("score", "--sclk-mhz", str(made.MHZ), *buffer, "--launch", "0", out)
    row = listed.splitlines()[1].split()
    expect(status == 0 and row[:3] == ["k", "2000", "36"] and row[4:8] == ["100.0", "0.00", "0.00", "0.00"], listed + said)
    # As many waves on each engine: the trace does not say which was the first.
    s = expect_exact(out, "--launch", "1", *buffer, "--arg", "i32:30", "--warm", "code-tlb", "--first-se", "1")
    expect(s["kernel"] == "numbers", s)
    every = [os.path.join(out, name) for name in sorted(os.listdir(out)) if name.endswith("_12.att")]
    status, listed, said = call("score", *buffer, *every)
    expect(len(every) == 6 and status == 0 and len(listed.splitlines()) == 2, listed + said)
    status, listed, said = call("decode", every[2])
    expect(status == 0 and len(json.loads(listed)["launches"][0]["waves"]) == 36, said)
    refuses(out, "argument 1 is missing", "--launch", "1", *buffer)
    refuses(out, "what the arguments are", "--launch", "1")
    refuses(inner, "no thread trace in it")
    os.rename(every[3], every[3] + ".not")
    refuses(out, "no trace of shader engine 3", "--launch", "0", *buffer)
    os.rename(every[3] + ".not", every[3])
    code = os.path.join(out, "host_77_gfx1100_code_object_id_3.out")
    os.rename(code, code.replace("_3.", "_5."))  # which was unloaded
    refuses(out, "no code object has a kernel at", "--launch", "0", *buffer)
    os.remove(code.replace("_3.", "_5."))
    refuses(out, "no code object has a kernel at", "--launch", "0", *buffer)
    put(out, "host_77_9000_shader_engine_6_12.att", b"x")
    refuses(out, "6 shader engines")
    other = os.path.join(folder, "wgp")
    made.rocm(other, elf, made.traces(waves, text, base + address, wgp=1, words=made.rocm_words(3, base, 1)), 3, 1)
    status, listed, said = call("decode", other)
    traced = [w for w in json.loads(listed)["launches"][0]["waves"] if "insts" in w]
    expect(status == 0 and traced and all(w["wgp"] == 1 for w in traced), said)


def refuses(path, words, *more):
    status, _, told = call("score", *more, path)
    expect(status == 1 and words in told and told.count("\n") == 1, f"{words}: {status} {told}")


def bad(folder, elf, address, text, waves):
    entry = made.BASE + address
    blobs = made.traces(waves, text, entry)
    whole = made.profile(elf, blobs)
    refuses(put(folder, "x", b"hello"), "neither an .rgp file nor a profile")
    refuses(put(folder, "x", whole[:-200]), "byte ")
    refuses(put(folder, "x", made.profile(elf, [])), "no thread trace")
    refuses(put(folder, "x", made.profile(elf, made.traces(waves, text, entry, layout=4))), "layout 4")
    refuses(put(folder, "x", made.profile(elf, made.traces(waves, text, entry, registers=False))), "registers")
    refuses(put(folder, "x", made.profile(elf, made.traces(waves, text, entry + 0x100))), "has a kernel at")
    refuses(put(folder, "x", made.profile(b"\x7fELF nothing", blobs)), "has a kernel at")
    refuses(put(folder, "x", made.profile(elf, [b[8:] for b in blobs])), "without a header")
    refuses(put(folder, "x", made.profile(elf, blobs, sizes=False)), "--arg for each, buf:SIZE")
    refuses(put(folder, "x", made.profile(elf, blobs[:2])), "no trace of shader engine 2")
    refuses(put(folder, "x", made.profile(elf, made.traces(waves, text, entry, mhz=MHZ_TOO_MANY))), "--sclk-mhz")
    cut = made.traces(waves[:-1], text, entry)
    refuses(put(folder, "x", made.profile(elf, cut)), "engine's trace is missing or was cut off")
    # a branch that the code has and the trace has not
    other = text[:0x3c].replace(bytes.fromhex("0000bdbf"), bytes.fromhex("0000a0bf")) + text[0x3c:]
    expect(other != text, "no barrier there")
    refuses(put(folder, "x", made.profile(elf.replace(text, other), blobs)), "disagree about a branch")
    rgp = made.rgp(elf, blobs)
    refuses(put(folder, "x", rgp[:-100]), "bytes long", "--arg", "buf:4096")
    refuses(put(folder, "x", rgp[:56]), "no thread trace")
    for more, words in ((("--grid", "5"), "--grid has 5 workgroups"), (("--arg", "i32:x"), "--arg"),
                        (("--warm", "x"), "--warm"), (("--launch", "x"), "not a number")):
        status, _, told = call("score", *more, os.path.join(folder, "made.pkl"))
        expect(status == 2 and words in told, told)
    refuses(os.path.join(folder, "made.pkl"), "there are 1 launches", "--launch", "1")
    expect(call()[0] == 2 and call("score")[0] == 2 and call("weigh")[0] == 2, "wrong usage is taken")


def main():
    with tempfile.TemporaryDirectory() as folder:
        elf, address, text, waves = made.write(RDNA3, folder)
        exact(folder, waves)
        off(folder, elf, address, text, waves)
        bad(folder, elf, address, text, waves)
        told(folder, elf, address, text)
        rocm(folder, elf, address, text, waves)
    return 0


if __name__ == "__main__":
    sys.exit(main())
