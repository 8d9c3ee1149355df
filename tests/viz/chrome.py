"""Chrome's JSON against what the Trace Event Format asks for (the public description of the
format, and what Perfetto's importer says it takes): shapes of events, names of metadata,
units, nesting, counters. The checker itself must find damage.

usage: chrome.py RDNA3 KERNEL.s"""
import collections
import copy
import json
import os
import random
import subprocess
import sys
import tempfile

rdna3, source = sys.argv[1:]
failed = 0
METADATA = {"process_name": ("name", str), "process_labels": ("labels", str),
            "process_sort_index": ("sort_index", int), "thread_name": ("name", str),
            "thread_sort_index": ("sort_index", int)}


def check(what, ok, more=""):
    global failed
    if not ok:
        failed = 1
        print("FAILED:", what, more)


def call(*args):
    done = subprocess.run([rdna3] + list(args), capture_output=True, text=True)
    check(" ".join(args), done.returncode == 0, done.stderr)


def number(x):
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def ns(us):
    return round(us * 1000)


def event_faults(e):
    """What is wrong with one event by itself."""
    if not isinstance(e, dict) or not isinstance(e.get("ph"), str):
        return ["no phase"]
    kind, faults = e["ph"], []
    if not isinstance(e.get("name"), str) or not e["name"]:
        faults.append("no name")
    if not isinstance(e.get("pid"), int):
        faults.append("no process")
    if not isinstance(e.get("args"), dict):
        faults.append("no arguments")
    if faults:
        return faults
    if kind == "M":
        key, kind_of = METADATA.get(e["name"], (None, None))
        if key is None or type(e["args"].get(key)) is not kind_of or len(e["args"]) != 1:
            faults.append("unknown metadata")
        if e["name"].startswith("thread") and not isinstance(e.get("tid"), int):
            faults.append("a thread's metadata without a thread")
        return faults
    if kind not in ("X", "C"):
        return ["a phase that is not written"]
    if not number(e.get("ts")) or e["ts"] < 0 or abs(e["ts"] * 1000 - ns(e["ts"])) > 1e-3:
        faults.append("no time in microseconds of whole nanoseconds")
    if kind == "X":
        if not isinstance(e.get("tid"), int) or not isinstance(e.get("cat"), str):
            faults.append("a slice without track or category")
        if not number(e.get("dur")) or e["dur"] < 0:
            faults.append("a slice without length")
    if kind == "C" and not (e["args"] and all(number(v) for v in e["args"].values())):
        faults.append("a counter that is no number")
    return faults


def faults(trace):
    """What is wrong with a trace, as short sentences."""
    if not isinstance(trace, dict) or not isinstance(trace.get("traceEvents"), list):
        return ["no object with traceEvents"]
    if trace.get("displayTimeUnit") not in ("ms", "ns"):
        return ["the unit shown is ms or ns"]
    found, named = [], {"process_name": set(), "thread_name": set()}
    tracks, counters = collections.defaultdict(list), collections.defaultdict(list)
    for e in trace["traceEvents"]:
        found += event_faults(e)
        if found:
            continue
        if e["name"] in named and e["ph"] == "M":
            key = (e["pid"], e.get("tid"))
            if key in named[e["name"]]:
                found.append("named twice")
            named[e["name"]].add(key)
        elif e["ph"] == "X":
            tracks[e["pid"], e["tid"]].append((ns(e["ts"]), ns(e["ts"] + e["dur"])))
        elif e["ph"] == "C":
            counters[e["pid"], e["name"]].append((ns(e["ts"]), tuple(e["args"])))
    processes = {pid for pid, _ in named["process_name"]}
    if not {pid for pid, _ in list(tracks) + list(counters)} <= processes:
        found.append("a process without a name")
    if not set(tracks) <= named["thread_name"]:
        found.append("a track without a name")
    for series in counters.values():
        if any(b[0] < a[0] for a, b in zip(series, series[1:])):
            found.append("a counter that goes back")
        if len({names for _, names in series}) != 1:
            found.append("a counter whose series change")
    for slices in tracks.values(): # as in the file: a parent before what it holds
        ends, last = [], -1
        for start, end in slices:
            if start < last:
                found.append("slices out of order")
                break
            last = start
            while ends and ends[-1] <= start:
                ends.pop()
            if ends and end > ends[-1]:
                found.append("slices that overlap without nesting")
                break
            ends.append(end)
    return found


with tempfile.TemporaryDirectory() as folder:
    def path(name):
        return os.path.join(folder, name)

    with open(source) as f:
        text = f.read()
    with open(path("k.s"), "w") as f:
        f.write(text)
    call("asm", path("k.s"), "-o", path("k"))
    run = ["run", path("k"), "--grid", "24", "--block", "256", "--arg",
           "buf:96K:rand=f32,1", "--arg", "buf:96K", "--timing"]
    for mhz in ("500", "2500", "3217.3"):
        call(*run, "--sclk-mhz", mhz, "--timing-trace", path("t"))
        for more in ([], ["--waves-only"], ["--cycles"], ["--simd", "1,0,0,1"]):
            call("trace", path("t"), "--chrome", path("c.json"), *more)
            with open(path("c.json"), encoding="ascii") as f:
                trace = json.load(f)
            check("the format, at %s MHz %s" % (mhz, more), not faults(trace),
                  faults(trace)[:5])
            clock = 1000 if more == ["--cycles"] else float(mhz)
            slices = [e for e in trace["traceEvents"] if e["ph"] == "X"]
            check("microseconds of the clock", all(
                abs(e["ts"] - e["args"]["cycle"] / clock) < 0.0006 for e in slices))
            check("more than waves", (more == ["--waves-only"]) !=
                  any(e["cat"] == "VALU" for e in slices))
            if more[:1] == ["--simd"]:
                check("instructions of one SIMD", {e["pid"] for e in slices if e["cat"] == "VALU"} ==
                      {16 + 1 + 64} and len({e["pid"] for e in slices if e["cat"] == "wave"}) > 8)
            if more == ["--cycles"]:
                check("no instruction without length", all(e["dur"] > 0 for e in slices))
            ends = {}
            for e in trace["traceEvents"]:
                if e["ph"] == "C" and "rate" not in e["name"]:
                    ends[e["name"]] = (e["ts"], list(e["args"].values()))
            whole = max(e["ts"] + e["dur"] for e in slices)
            check("curves end at zero with the run", len(ends) > 10 and all(
                v == [0] and abs(t - whole) < 0.002 for t, v in ends.values()), ends)

    random.seed(1)
    events = trace["traceEvents"]
    kinds = {k: [i for i, e in enumerate(events) if e["ph"] == k] for k in "XCM"}
    inner = [i for i in kinds["X"] if events[i]["cat"] == "VALU"]
    for what, where, change in (
            ("no ts", kinds["X"], lambda e: e.pop("ts")),
            ("no dur", kinds["X"], lambda e: e.pop("dur")),
            ("no name", kinds["X"], lambda e: e.pop("name")),
            ("text as time", kinds["X"], lambda e: e.update(ts=str(e["ts"]))),
            ("half a nanosecond", kinds["X"], lambda e: e.update(ts=e["ts"] + 0.0005)),
            ("another phase", kinds["X"], lambda e: e.update(ph="B")),
            ("too long", inner, lambda e: e.update(dur=e["dur"] + 50)),
            ("too early", inner, lambda e: e.update(ts=max(0, e["ts"] - 50))),
            ("a nameless process", kinds["X"], lambda e: e.update(pid=9999)),
            ("a nameless track", kinds["X"], lambda e: e.update(tid=99)),
            ("a counter's text", kinds["C"], lambda e: e.update(args={"x": "1"})),
            ("a counter back", kinds["C"][len(kinds["C"]) // 2:], lambda e: e.update(ts=0)),
            ("other series", kinds["C"], lambda e: e.update(args={"x": 1})),
            ("metadata", kinds["M"], lambda e: e.update(name="thread_nom")),
            ("metadata's type", kinds["M"], lambda e: e.update(args={"name": 1}))):
        i = random.choice(where)
        damaged = dict(trace, traceEvents=events[:])
        damaged["traceEvents"][i] = copy.deepcopy(events[i])
        change(damaged["traceEvents"][i])
        check("damage is found: " + what, faults(damaged), events[i])
sys.exit(failed)
