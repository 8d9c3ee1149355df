"""Leave one case out: what the model says about a kernel whose traces its numbers were not
taken from.

For each case in turn, numbers that rest on traces are chosen again without it: of some
values for each (today's, a little less, a little more, and what the manual or the
literature would suggest) the one that fits the other cases best, and the suggestion where
none of the others speaks for any. Then the case is scored. The numbers are varied one at a
time around today's, so the table says what is lost where only one case speaks for a
number, not what a model would be that had never seen it.

--rules goes further: every rule that rests on traces is taken away (its number becomes one
that does nothing, or what the literature says) where no other kernel speaks for it, and
what is left out is a kernel, with all its launches in whichever case.

usage: cross.py RDNA3 SCORE.PY [--rules]"""
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
    "valu_sgpr_read": 1,
    "mem_sent": 0,
}
LAUNCHES = ("A1.1", "A2.1", "A3.1", "A4.1", "A4.3", "A4.4", "A5.1", "A6.1", "A7.1", "A7.5", "B1.1", "B2.1", "B2.3",
            "B2.5", "B2.6")
# Without the rule: it does nothing, or what one would take from the manual and the literature.
RULES = {
    "launch_cycles": 20, "launch_lds_cycles": 0, "launch_hop_cycles": 0, "group_launch_cycles": 1,
    "group_first_cycles": 0, "group_same_cu_cycles": 0, "slot_reuse_cycles": 50, "end_cycles": 0, "end_rate_cycles": 0,
    "end_queue": 1, "ifetch_first_cycles": 143, "ifetch_line_cycles": 0, "ifetch_share_cycles": 0,
    "ifetch_ahead_bytes": 128, "ifetch_hit_cycles": 20, "ifetch_port_cycles": 2, "ifetch_second_cycles": 0,
    "ifetch_waves": 100, "ifetch_turn": 1, "branch_taken_cycles": 16,
    "imm_switch_cycles": 1, "barrier_port_cycles": 1, "sleep_late_cycles": 0, "clock_start_cycles": 0,
    "barrier_cycles": 10, "barrier_slept_cycles": 0, "valu_queue": 8, "valu_queue_return": 1,
    "wmma_queue": 4, "valu_latency": 5, "valu_latency_const": 8, "double_early": 0, "valu_first_read": 0,
    "valu_forward_bank": 0, "wmma_read_cycles": 0, "vgpr_bank_reads": 4, "sdst_queue": 7,
    "sdst_writes": 64, "sdst_write_cycles": 0, "sdst_stall_cycles": 0, "cmpx_queue": 64, "cmpx_drain": 0, "salu_queue": 8, "salu_queue_return": 1, "salu_start": 1,
    "salu_two_sources": 1, "salu_hwreg_drain": 0, "salu_setreg_block": 0, "salu_waitcnt_block": 0, "salu_out": 2,
    "valu_to_salu": 1, "drain": 5, "smem_hit": 20, "smem_hit_b256": 0,
    "smem_hit_b512": 0, "kernarg_cycles": 345, "lds_latency": 20, "lds_start": 1, "mem_queue": 16, "lds_queue_return": 0,
    "lds_flight": 63, "lds_float_atomic": 0, "lds_permute": 0, "vmem_hit": 81, "utcl1_miss_cycles": 0,
    "walk_pages": 1, "send_turn_cycles": 0, "vmem_switch": 0,
    "store_lines_cycles": 216, "store_cycles_per_line": 1,
}
FLAT = 0.05  # a difference of the loss that says nothing
# Means over the launches left out: at least (G), at most.
LEAST, MOST = {"G": 93}, {"T": 3, "W": 4, "K": 4}
METRICS = ("G", "T", "W", "K", "F", "Q", "E")

rdna3, path = sys.argv[1:3]
by_rules = "--rules" in sys.argv[3:]
spec = importlib.util.spec_from_file_location("score", path)
score = importlib.util.module_from_spec(spec)
spec.loader.exec_module(score)


def measure(launch, settings, folder):
    """Metrics of a launch with parameters set."""
    out = os.path.join(folder, "out.json")
    more = [x for name, value in settings.items() for x in ("--timing-set", f"{name}={value!r}")]
    subprocess.run(score.command(launch, [rdna3], out, extra=more), check=True, stdout=subprocess.DEVNULL)
    got = score.read_out(out)
    r = score.score(launch, got)
    r["E"] = executions(launch, got)
    return {m: r[m] for m in METRICS}


def executions(launch, got):
    """Of VALU, SALU, LDS and vector memory: share of the executions (results of the ALUs, acceptance of the others)
    that come as long behind that of the instruction before it as on the chip, in %; behind one that has none, as long
    behind their issue. The traces have them, too, and no other metric looks at them."""
    truth, skip = launch["truth"], score.no_token_pcs(launch)
    pairs, _ = score.match(launch, got["waves"])
    traced, of = score.traced_pairs(launch, got["waves"], pairs, skip)
    good = n = 0
    for record, sim in traced:
        wave, path = got["waves"][of[record["wave"]]], truth["paths"][record["path"]]["pc"]
        exec_of = {tuple(x): e for x, e in zip(wave["insts"], wave["exec"])}
        at = score.align(path, sim)
        t, before = record["first"], None
        for i, gap in enumerate([0] + record["gap"]):
            t += gap
            issue = sim[at[i]] if at[i] is not None else None
            chip, model = record["exec"][i], exec_of.get(tuple(issue)) if issue else None
            now = (t + chip, issue[1] + model) if chip and model else None
            if now:
                n += 1
                since = before or (t, issue[1])
                good += now[0] - since[0] == now[1] - since[1]
            before = now
    return 100 * good / n if n else None


def loss(r):
    """F, the time that code is waited for, says how it is fetched where it hardly shows in the others; Q, the
    counters, when clocks begin; E what goes on in the units between two issues."""
    return sum(r[m] or 0 for m in "TWK") + (r["F"] or 0) / 20 + (r["Q"] or 0) / 10 + sum(
        (100 - r[m]) / by for m, by in (("G", 5), ("E", 20)) if r[m] is not None)


def mean(rows, metric):
    values = [r[metric] for r in rows if r[metric] is not None]
    return sum(values) / len(values) if values else None


def show(rows):
    return " ".join("%6s" % ("-" if mean(rows, m) is None else "%.2f" % mean(rows, m)) for m in METRICS)


def candidates(name, value, without):
    if name in RULES:
        return [without, value]
    near = [value - 1, value + 1] if value < 10 else [0.85 * value, 1.15 * value]
    return [without, value] + near


def choose(losses, today, without, others):
    """The value that fits the other launches best; nobody speaks for any: the one without."""
    total = {value: sum(by[i] for i in others) for value, by in losses.items()}
    if max(total.values()) - min(total.values()) < FLAT:
        return without
    best = min(total, key=total.get)
    return today if total[today] - total[best] < FLAT else best


def part_of(launch):
    """What is left out together."""
    return launch["kernel"] if by_rules else launch["case"]


def main():
    names = LAUNCHES + ("A6.2", "B2.7") if by_rules else LAUNCHES
    numbers = {**NUMBERS, **RULES} if by_rules else NUMBERS
    launches = {x["id"]: x for x in score.load_cases(os.path.join(os.path.dirname(path), "cases"), list(names))}
    info = subprocess.run([rdna3, "info", "--timing"], check=True, capture_output=True, text=True).stdout
    fields = [line.split()[:2] for line in info.splitlines()]
    today = {f[0]: float(f[1]) for f in fields if len(f) > 1 and f[0] in numbers}
    assert len(today) == len(numbers), set(numbers) - set(today)
    with tempfile.TemporaryDirectory() as folder:
        base = {i: measure(x, {}, folder) for i, x in launches.items()}
        losses = {}
        for name, without in numbers.items():
            losses[name] = {value: {i: loss(base[i]) if value == today[name] else
                                    loss(measure(x, {name: value}, folder)) for i, x in launches.items()}
                            for value in candidates(name, today[name], without)}
        left = {}
        print("%-18s %s | left out: %s | numbers" % ("", " ".join("%6s" % m for m in METRICS),
                                                     " ".join("%6s" % m for m in METRICS)))
        for part in sorted({part_of(x) for x in launches.values()}):
            out = [i for i, x in launches.items() if part_of(x) == part]
            others = [i for i in launches if i not in out]
            settings = {n: choose(losses[n], today[n], w, others) for n, w in numbers.items()}
            changed = {n: v for n, v in settings.items() if v != today[n]}
            rows = [measure(launches[i], changed, folder) for i in out]
            left.update(zip(out, rows))
            print("%-18s %s |           %s | %s" % (part, show([base[i] for i in out]), show(rows), " ".join(
                "%s %g" % x for x in changed.items())), flush=True)
        print("%-18s %s |           %s" % ("mean", show(base.values()), show(left.values())))
    failed = [m for m, least in LEAST.items() if mean(left.values(), m) < least]
    failed += [m for m, most in MOST.items() if mean(left.values(), m) > most]
    if by_rules: # the limits are of cases left out with their numbers alone
        return 0
    if failed:
        print("FAILED:", " ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
