"""A recorded timeline says what the timing file and the listing say, without gaps.

usage: timeline.py RDNA3 KERNEL.s

- the cycles of the annotated listing are the sum of all waves' durations, from the
  engine's account and from the recording
- Chrome's JSON: slices nest, issue times are those of --timing-json, waits and issues
  fill every wave, counters and tracks are there
- waits at barriers are charged to them
- recording changes no time; damaged files are errors, never crashes
"""
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile

rdna3, source = sys.argv[1:]
failed = 0


def check(what, ok, more=""):
    global failed
    if not ok:
        failed = 1
        print("FAILED:", what, more)


def call(*args):
    return subprocess.run([rdna3] + list(args), capture_output=True, text=True)


def out(*args):
    done = call(*args)
    check(" ".join(args), done.returncode == 0, done.stderr)
    return done.stdout


def total(listing):
    return int(listing.rstrip().splitlines()[-1].split()[0])


def lines_sum(listing):
    """Sum of the lines: every cycle is at some instruction, and has a reason."""
    cycles = reasons = 0
    for line in listing.splitlines():
        found = re.match(r"([0-9a-f]{8}) +(\d+) +([\d.]+) +[\d.]+%  (.*)", line)
        if not found:
            continue
        times, each = int(found[2]), float(found[3])
        waits = re.findall(r"[,;] [a-z0-9-]+ ([\d.]+)(?= of|,|$)", found[4])
        cycles += times * each
        if each:
            reasons += times * (1 + sum(map(float, waits)))
    return cycles, reasons


def nests(slices):
    """Of one track, by time and length: each ends within what holds it."""
    open_ends = []
    for start, end in sorted(slices, key=lambda s: (s[0], -s[1])):
        while open_ends and open_ends[-1] <= start and (start, end) != (open_ends[-1],) * 2:
            open_ends.pop()
        if open_ends and end > open_ends[-1]:
            return False
        open_ends.append(end)
    return True


with tempfile.TemporaryDirectory() as folder:
    def path(name):
        return os.path.join(folder, name)

    out("asm", source, "-o", path("k"))
    run = ["run", path("k"), "--grid", "20", "--block", "256", "--arg",
           "buf:80K:rand=f32,1", "--arg", "buf:80K", "--timing", "--sclk-mhz", "2000",
           "--cu-mask", "3,3,0,0,0,0", "--timing-insts", "all"]
    plain = out(*run, "--timing-json", path("a.json"), "--timing-listing")
    out(*run, "--timing-json", path("b.json"), "--timing-trace", path("t"))
    with open(path("a.json")) as a, open(path("b.json")) as b:
        timed = json.load(a)
        check("recording changes no time", json.load(b) == timed)
    waves = timed["waves"]
    alive = sum(w["end"] - w["start"] for w in waves)
    check("the engine's account is whole", total(plain) == alive, (total(plain), alive))
    cycles, reasons = lines_sum(plain)
    check("lines add up", abs(cycles - alive) < alive * 1e-3, (cycles, alive))
    check("reasons add up", abs(reasons - alive) < alive * 2e-3, (reasons, alive))
    listing = out("trace", path("t"), "--listing")
    for of, text in (("the engine's", plain), ("the recording's", listing)):
        waits = [x for x in text.splitlines() if re.search("^[0-9a-f]{8} .*[;,] barrier [1-9]", x)]
        check("waits at a barrier are the barrier's, " + of,
              len(waits) == 2 and all("  s_barrier  ;" in x for x in waits), waits)
    free = re.findall(r"^[0-9a-f]{8} +(\d+) +([\d.]+) +[\d.]+%  s_delay_alu", listing, re.M)
    check("what takes no time is listed too", free == re.findall(
        r"^[0-9a-f]{8} +(\d+) +([\d.]+) +[\d.]+%  s_delay_alu", plain, re.M) and
          len(free) == 4 and {f[1] for f in free} == {"0.0"} and free[0][0] == "960", free)
    check("the recording is whole", total(listing) == alive, (total(listing), alive))
    check("a summary", "20,1,1 workgroups" in out("trace", path("t")))

    out("trace", path("t"), "--chrome", path("c.json"))
    with open(path("c.json")) as f:
        events = json.load(f)["traceEvents"]
    tracks = collections.defaultdict(list)
    issues = collections.defaultdict(list)
    filled = collections.Counter()
    for e in events:
        check("kind of event", e["ph"] in "XMC", e)
        if e["ph"] != "X":
            continue
        check("times", e["ts"] >= 0 and e["dur"] >= 0, e)
        track = (e["pid"], e["tid"])
        start = e["args"]["cycle"]
        tracks[track].append((start, start + e["args"]["cycles"]))
        ns = round(e["ts"] * 1000)
        tracks[track + ("ns",)].append((ns, ns + round(e["dur"] * 1000)))
        check("real time", abs(e["ts"] - start / 2000) < 0.001, e)
        if "issue" in e["args"]:
            issues[track].append((e["args"]["issue"], int(e["args"]["pc"], 16)))
        if e["cat"] in ("VALU", "SALU", "SMEM", "VMEM", "LDS", "BRANCH", "EXPORT", "IMM"):
            filled[track] += e["args"]["cycles"]
    for track, slices in tracks.items():
        check("slices nest", nests(slices), track)
    check("instructions fill the waves", sum(filled.values()) == alive)
    expect = collections.defaultdict(list)
    for w in waves:
        pid = 16 + w["simd"] + 4 * w["wgp"] + 32 * w["sa"] + 64 * w["se"]
        expect[(pid, w["slot"] + 1)] += [(t, pc) for pc, t in w["insts"]]
    for track in expect:
        check("issue times", sorted(expect[track]) == sorted(issues[track]), track)
    check("tracks", set(expect) == set(issues))
    curves = {e["name"] for e in events if e["ph"] == "C"}
    for name in ("waves", "VALU issues", "LDS busy", "read", "L0 hit rate"):
        check("curve " + name, name in curves, curves)
    resident = [e["args"]["resident"] for e in events if e["name"] == "waves"]
    check("occupancy ends at zero", resident[-1] == 0 and max(resident) > 8)

    # two programs one after the other, one file, kernels by name
    device = "%s run --device kfd %s --block 256 --arg buf:80K:rand=f32,1 --arg buf:80K" % (
        rdna3, path("k"))
    done = call("exec", "--timing", "--timing-trace", path("e"), "--", "sh", "-c",
                "%s --grid 20 && %s --grid 10" % (device, device))
    if done.returncode == 0:
        report = out("trace", path("e"))
        for number, groups in ((0, 20), (1, 10)):
            check("a dispatch of a program", "dispatch %d: mixed, %d,1,1 workgroups of 256,1,1" %
                  (number, groups) in report, report)
            check("its waves", "%d of %d workgroups" % (8 * groups, groups) in report, report)
        listing = out("trace", path("e"), "--listing", "--dispatch", "1")
        check("its instructions", "v_exp_f32" in listing and total(listing) > 10000)
        out("trace", path("e"), "--chrome", path("e.json"))
        with open(path("e.json")) as f:
            events = json.load(f)["traceEvents"]
        shown = [e for e in events if e.get("cat") == "dispatch"]
        check("one after the other", len(shown) == 2 and shown[0]["args"]["cycles"] ==
              shown[1]["args"]["cycle"], shown)
        out("trace", path("e"), "--rgp", path("e.rgp"), "--dispatch", "1", "--code-object", path("k"))
    else: # a sanitizer's runtime wants to be loaded before the driver library
        check("exec", "ASan runtime" in done.stderr, done.stderr)

    with open(path("t"), "rb") as f:
        whole = f.read()
    random.seed(1)
    for n in range(60):
        data = bytearray(whole)
        if n % 3 == 0:
            data = data[:random.randrange(len(data))]
        else:
            data[random.randrange(8, len(data))] ^= 1 << random.randrange(8)
        with open(path("d"), "wb") as f:
            f.write(data)
        done = call("trace", path("d"), "--listing")
        check("damaged files are refused", done.returncode in (0, 1), done)
        check("no sanitizer speaks", "Sanitizer" not in done.stderr, done.stderr)
sys.exit(failed)
