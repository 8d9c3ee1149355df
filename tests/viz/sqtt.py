"""Thread traces that `rdna3 trace --sqtt` writes, decoded.

usage: sqtt.py RDNA3 KERNEL.s [--tinygrad | TIMING]      TIMING: the timing benchmark

A decoder of our own, written from the packet table, finds the waves and issue times of
--timing-json. With --tinygrad that package's decoder of hardware captures (0.14) finds the
same, and its mapper follows every wave through the code; exit status 77: it is not there.
With the timing benchmark, a kernel of every instruction gets the tokens that the real chip
wrote."""
import collections
import json
import os
import subprocess
import sys
import tempfile

rdna3, source = sys.argv[1:3]
tinygrad = "--tinygrad" in sys.argv
bench = sys.argv[3] if len(sys.argv) > 3 and not tinygrad else ""
failed = 0
if tinygrad:
    try:
        import tinygrad.renderer.amd.sqtt
    except ImportError:
        print("skipped: the Python package tinygrad (0.14 or later) is not installed")
        sys.exit(77)

# kind: low bits, how many, nibbles, place and width of the delta
KINDS = (("ts-wave-state", 0b1010001, 7, 6, 7, 9), ("ts-8-3", 0b0100001, 7, 18, 8, 3),
         ("mark", 0b0000001, 7, 12, 12, 36), ("header", 0b0010001, 7, 16, 0, 0),
         ("start", 0b01100, 5, 8, 5, 2), ("end", 0b10101, 5, 5, 5, 3),
         ("immediate", 0b1101, 4, 3, 4, 3), ("alu-exec", 0b1110, 4, 2, 4, 2),
         ("mem-exec", 0b1111, 4, 2, 4, 2), ("short", 0b1000, 4, 2, 4, 4),
         ("nop", 0b0000, 4, 1, 0, 0), ("valu", 0b011, 3, 3, 3, 3),
         ("inst", 0b010, 3, 5, 4, 3))


def check(what, ok, more=""):
    global failed
    if not ok:
        failed = 1
        print("FAILED:", what, more)


def field(bits, low, n):
    return bits >> low & (1 << n) - 1


def decode(data):
    """Yields kind, time, bits."""
    stream, at, time = int.from_bytes(data, "little"), 0, 0
    while at < 2 * len(data):
        bits = stream >> 4 * at & (1 << 72) - 1
        found = [k for k in KINDS if field(bits, 0, k[2]) == k[1]]
        check("a packet at nibble %d" % at, found, hex(bits))
        if not found:
            return
        kind, _, _, nibbles, low, width = found[0]
        at += nibbles
        delta = field(bits, low, width)
        if kind == "short":
            delta += 4
        if kind == "mark" and field(bits, 9, 1) and not field(bits, 8, 1):
            kind, delta = "clock", 0
        time += delta
        yield kind, time, field(bits, 0, 4 * nibbles)


def call(*args):
    done = subprocess.run([rdna3] + list(args), capture_output=True, text=True)
    check(" ".join(args), done.returncode == 0, done.stderr)
    return done.stdout


def ours(data, mhz):
    """Waves as (sa, wgp, simd, slot, start, end), issues of the traced SIMD by slot."""
    waves, issues, running = [], collections.defaultdict(list), {}
    clock = executed = 0
    accepted = collections.Counter()
    for kind, time, bits in decode(data):
        if kind == "header":
            check("layout 3", field(bits, 7, 6) == 3)
        elif kind == "clock":
            check("the 100 MHz clock", abs(field(bits, 12, 36) - time / mhz * 100) <= 1)
            clock += 1
        elif kind == "start":
            place = (field(bits, 7, 1), field(bits, 10, 3), field(bits, 8, 2),
                     field(bits, 13, 5))
            check("the slot is free", place not in running, place)
            running[place] = time
        elif kind == "end":
            place = (field(bits, 8, 1), field(bits, 11, 3), field(bits, 9, 2),
                     field(bits, 15, 5))
            waves.append(place + (running.pop(place), time))
        elif kind == "inst":
            issues[field(bits, 8, 5)].append((time, field(bits, 13, 7)))
        elif kind in ("valu", "immediate"):
            issues[field(bits, 7, 5)].append((time, kind))
        executed += kind == "alu-exec"
        accepted[field(bits, 6, 2)] += kind == "mem-exec"
    check("all waves end", not running)
    check("clock marks", clock >= 2)
    check("executions", executed)
    check("memory accepts", accepted[0] and accepted[2], accepted)
    return sorted(waves), issues


def theirs(data, simd):
    from tinygrad.renderer.amd import sqtt
    issues = collections.defaultdict(list)
    names = collections.Counter()
    for p in sqtt.decode(data):
        names[type(p).__name__] += 1
        if isinstance(p, (sqtt.INST, sqtt.VALUINST, sqtt.IMMEDIATE)):
            issues[p.wave].append(p._time)
    return issues, names


def follow(data, code):
    """tinygrad's walk of every wave of SIMD 0 through the code: (time, pc) by slot."""
    from tinygrad.renderer.amd import sqtt
    steps, low = collections.defaultdict(list), None
    for p, at in sqtt.map_insts(data, code, "gfx1100"):
        if at is not None and type(p).__name__ != "WAVEEND":
            steps[at.wave].append((p._time, at.pc))
            low = at.pc if low is None else min(low, at.pc)
    return {slot: [(t, pc - low) for t, pc in v] for slot, v in steps.items()}


with tempfile.TemporaryDirectory() as folder:
    def path(name):
        return os.path.join(folder, name)

    call("asm", source, "-o", path("k"))
    call("run", path("k"), "--grid", "20", "--block", "256", "--arg",
         "buf:80K:rand=f32,1", "--arg", "buf:80K", "--timing", "--sclk-mhz", "2000",
         "--cu-mask", "3,3,0,0,0,0", "--timing-insts", "all", "--timing-json",
         path("j"), "--timing-trace", path("t"))
    with open(path("j")) as f:
        timed = json.load(f)["waves"]
    listing = call("trace", path("t"), "--listing").splitlines()
    text = {int(line[:8], 16): line.split("%  ")[1].split()[0]
            for line in listing if "%  " in line}
    compared = 0
    for se in (0, 1):
        for simd in (0, 3):
            call("trace", path("t"), "--sqtt", path("s"), "--simd", "%d,0,0,%d" % (se, simd))
            with open(path("s"), "rb") as f:
                data = f.read()
            waves, issues = ours(data, 2000)
            check("waves", waves == sorted(
                (w["sa"], w["wgp"], w["simd"], w["slot"], w["start"], w["end"])
                for w in timed if w["se"] == se), se)
            expect = collections.defaultdict(list)
            timed_pcs = collections.defaultdict(list)
            for w in timed:
                if (w["se"], w["sa"], w["wgp"], w["simd"]) == (se, 0, 0, simd):
                    expect[w["slot"]] += [
                        t for pc, t in w["insts"]
                        if text.get(pc, "s_delay_alu") not in ("s_delay_alu", "s_endpgm")]
                    compared += len(w["insts"])
                    timed_pcs[w["slot"]] += [
                        (t, pc) for pc, t in w["insts"]
                        if text.get(pc, "s_delay_alu") not in ("s_delay_alu", "s_endpgm")]
            found = {slot: [t for t, _ in issues[slot]] for slot in issues}
            check("issue times", {s: sorted(v) for s, v in expect.items()} == found)
            kinds = {k for v in issues.values() for _, k in v}
            # scalar load, branches, transcendental, barrier, load, store, LDS
            for op in (1, 3, 4, 0xb, 0x13, 0x21, 0x24, 0x29, 0x2b, 0, 0x72, "valu",
                       "immediate"):
                check("token %s" % op, op in kinds, kinds)
            if not tinygrad:
                continue
            other, names = theirs(data, simd)
            check("tinygrad finds the same times", dict(other) == found, names)
            if simd == 0:
                with open(path("k"), "rb") as f:
                    steps = follow(data, f.read())
                check("tinygrad finds the same instructions", steps == {
                    s: sorted((t, pc) for t, pc in v) for s, v in timed_pcs.items()})
            check("tinygrad finds the waves", names["WAVEEND"] == len(waves), names)
    check("something was compared", compared > 1000, compared)
    for args in (("--simd", "0,0,0,0"), ("--sqtt", path("s"), "--simd", "9,0,0,0"),
                 ("--sqtt", path("s"), "--simd", "x")):
        done = subprocess.run([rdna3, "trace", path("t"), *args], capture_output=True,
                              text=True)
        check("refused", done.returncode == 2 and "error:" in done.stderr, args)

    cases = os.path.join(bench, "cases", "discover_ops_a63419c7")
    if bench:
        call("run", "--raw", cases + ".text.bin", "--kd", cases + ".kd.bin", "--block", "32",
             "--arg", "buf:4K", "--timing", "--timing-insts", "all", "--timing-json",
             path("j"), "--timing-trace", path("t"))
        call("trace", path("t"), "--sqtt", path("s"))
        names = {0: "SALU", 1: "SMEM_RD", 5: "CALL", 0xb: "VALUT_4", 0xd: "VALUB_2",
                 0xe: "VALUB_4", 0xf: "VALUB_16", 0x12: "VINTERP", 0x21: "SGMEM_RD_1",
                 0x24: "SGMEM_WR_2", 0x25: "SGMEM_WR_3", 0x26: "SGMEM_WR_4",
                 0x27: "SGMEM_WR_5", 0x29: "LDS_RD", 0x2a: "LDS_WR_1", 0x2b: "LDS_WR_2",
                 0x2c: "LDS_WR_3", 0x2d: "LDS_WR_4", 0x2e: "LDS_WR_5",
                 0x73: "VALU1_WR_EXEC", "valu": "VALUINST", "immediate": "IMMEDIATE"}
        with open(os.path.join(bench, "constants.json")) as f:
            chip = {m: token for token, v in json.load(f)["token_class"].items() for m in v}
        with open(path("s"), "rb") as f:
            tokens = ours(f.read(), 2500)[1][0]
        with open(path("j")) as f:
            insts = json.load(f)["waves"][0]["insts"]
        text = {int(line[:8], 16): line.split("%  ")[1].split()[0]
                for line in call("trace", path("t"), "--listing").splitlines()
                if "%  " in line}
        insts = [(pc, t) for pc, t in insts
                 if text.get(pc, "s_delay_alu") not in ("s_delay_alu", "s_endpgm")]
        check("as many tokens", len(insts) == len(tokens), (len(insts), len(tokens)))
        known = 0
        for (pc, t), (time, token) in zip(insts, tokens):
            mnemonic = text[pc].removesuffix("_e32").removesuffix("_e64")
            want = chip.get(text[pc], chip.get(mnemonic))
            known += want is not None
            check("the chip's token", want in (None, names.get(token)),
                  (text[pc], want, token))
        check("tokens compared", known > 800, known)
sys.exit(failed)
