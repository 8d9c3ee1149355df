"""`rdna3 timing`: captures that the model itself has made score without an error and decode to the times that went in;
one that is a cycle off does not; what cannot be read or run is named.

usage: scored.py RDNA3"""
import json
import os
import subprocess
import sys
import tempfile

import made

RDNA3 = sys.argv[1]


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
    refuses(put(folder, "x", made.profile(elf, blobs, sizes=False)), "--arg buf:SIZE")
    refuses(put(folder, "x", made.profile(elf, blobs[:2])), "no trace of shader engine 2")
    cut = made.traces(waves[:-1], text, entry)
    refuses(put(folder, "x", made.profile(elf, cut)), "engine's trace is missing or was cut off")
    # a branch that the code has and the trace has not
    other = text[:0x3c].replace(bytes.fromhex("0000bdbf"), bytes.fromhex("0000a0bf")) + text[0x3c:]
    expect(other != text, "no barrier there")
    refuses(put(folder, "x", made.profile(elf.replace(text, other), blobs)), "disagree about a branch")
    rgp = made.rgp(elf, blobs)
    refuses(put(folder, "x", rgp[:-100]), "bytes long", "--arg", "buf:4096")
    refuses(put(folder, "x", rgp[:56]), "no thread trace")
    for more, words in ((("--grid", "5"), "--grid has 5 workgroups"), (("--arg", "i32:5"), "a buffer"),
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
    return 0


if __name__ == "__main__":
    sys.exit(main())
