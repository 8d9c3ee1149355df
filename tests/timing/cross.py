"""Leave one case out: what the model says about a kernel whose traces its numbers were not
taken from.

For each case in turn, numbers that rest on traces are chosen again without it: of some
values for each (today's, a little less, a little more, and what the manual or the
literature would suggest) the one that fits the other cases best, and the suggestion where
none of the others speaks for any. Then the case is scored. The numbers are varied one at a
time around today's, so the table says what is lost where only one case speaks for a
number, not what a model would be that had never seen it.

usage: cross.py RDNA3 SCORE.PY"""
# SPDX-License-Identifier: MIT
import importlib.util
import os
import subprocess
import sys
import tempfile

# name: today's value comes from the model, this is what one would take without traces.
NUMBERS = {
    "launch_user_ns": 0,  # no such effect
    "ifetch_miss_cycles": 150,  # a GL2 hit less the way to the L0
    "ifetch_miss_ns": 50,  # Infinity Cache
    "kernarg_ns": 134.4,  # VRAM
    "kernarg_walk_ns": 50,  # one access
    "walk_cycles": 216,  # a GL2 hit
    "walk_ns": 50,  # one access
    "walk_directory_ns": 50,  # one more
    "store_ack_cycles": 216,  # a GL2 hit
    "store_lines_ns": 50,  # one access
    "salu_to_smem": 1,  # no wait
    "valu_sgpr_read": 1,
    "mem_sent": 0,
}
LAUNCHES = ("A1.1", "A2.1", "A3.1", "A4.1", "A4.3", "A4.4", "A5.1", "A6.1", "A7.1", "A7.5", "B1.1", "B2.1", "B2.3",
            "B2.5", "B2.6")
FLAT = 0.05  # a difference of the loss that says nothing
# Means over the launches left out: at least (G), at most.
LEAST, MOST = {"G": 88}, {"T": 3, "W": 4, "K": 4}
METRICS = ("G", "T", "W", "K")

rdna3, path = sys.argv[1:]
spec = importlib.util.spec_from_file_location("score", path)
score = importlib.util.module_from_spec(spec)
spec.loader.exec_module(score)


def measure(launch, settings, folder):
    """Metrics of a launch with parameters set."""
    out = os.path.join(folder, "out.json")
    more = [x for name, value in settings.items() for x in ("--timing-set", f"{name}={value!r}")]
    subprocess.run(score.command(launch, [rdna3], out, extra=more), check=True, stdout=subprocess.DEVNULL)
    r = score.score(launch, score.read_out(out))
    return {m: r[m] for m in METRICS}


def loss(r):
    return sum(r[m] or 0 for m in "TWK") + (0 if r["G"] is None else (100 - r["G"]) / 5)


def mean(rows, metric):
    values = [r[metric] for r in rows if r[metric] is not None]
    return sum(values) / len(values) if values else None


def show(rows):
    return " ".join("%6s" % ("-" if mean(rows, m) is None else "%.2f" % mean(rows, m)) for m in METRICS)


def candidates(value, without):
    near = [value - 1, value + 1] if value < 10 else [0.85 * value, 1.15 * value]
    return [without, value] + near


def choose(losses, today, without, others):
    """The value that fits the other launches best; nobody speaks for any: the one without."""
    total = {value: sum(by[i] for i in others) for value, by in losses.items()}
    if max(total.values()) - min(total.values()) < FLAT:
        return without
    best = min(total, key=total.get)
    return today if total[today] - total[best] < FLAT else best


def main():
    launches = {x["id"]: x for x in score.load_cases(os.path.join(os.path.dirname(path), "cases"), list(LAUNCHES))}
    info = subprocess.run([rdna3, "info", "--timing"], check=True, capture_output=True, text=True).stdout
    fields = [line.split()[:2] for line in info.splitlines()]
    today = {f[0]: float(f[1]) for f in fields if len(f) == 2 and f[0] in NUMBERS}
    with tempfile.TemporaryDirectory() as folder:
        base = {i: measure(x, {}, folder) for i, x in launches.items()}
        losses = {}
        for name, without in NUMBERS.items():
            losses[name] = {value: {i: loss(base[i]) if value == today[name] else
                                    loss(measure(x, {name: value}, folder)) for i, x in launches.items()}
                            for value in candidates(today[name], without)}
        left = {}
        print("case  %s | left out: %s | numbers" % (" ".join("%6s" % m for m in METRICS),
                                                     " ".join("%6s" % m for m in METRICS)))
        for case in sorted({x["case"] for x in launches.values()}):
            out = [i for i, x in launches.items() if x["case"] == case]
            others = [i for i in launches if i not in out]
            settings = {n: choose(losses[n], today[n], w, others) for n, w in NUMBERS.items()}
            changed = {n: v for n, v in settings.items() if v != today[n]}
            rows = [measure(launches[i], changed, folder) for i in out]
            left.update(zip(out, rows))
            print("%-5s %s |           %s | %s" % (case, show([base[i] for i in out]), show(rows), " ".join(
                "%s %g" % x for x in changed.items())))
        print("mean  %s |           %s" % (show(base.values()), show(left.values())))
    failed = [m for m, least in LEAST.items() if mean(left.values(), m) < least]
    failed += [m for m, most in MOST.items() if mean(left.values(), m) > most]
    if failed:
        print("FAILED:", " ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
