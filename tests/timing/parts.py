"""A launch by ranges of its workgroups: the sum is the whole run's within the error that it
states, also when workgroups grow; one process, a sweep and a sweep by MPI add up to the same.

usage: parts.py RDNA3 sums|sweep"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import micro

rdna3, what = sys.argv[1:]
FOUR = "3,3,0,0,0,0"
CASES = [ # name, microbenchmark, workgroups, trips, parts, percent of them simulated, 0: all; off by at most %
    ("VALU", micro.Bench("", 0, "", micro.vadd, block=256, mask=FOUR), 600, 2, 3, 0, 2),
    ("VALU, sampled", micro.Bench("", 0, "", micro.vadd, block=256, mask=FOUR), 600, 2, 3, 60, 2),
    ("memory", micro.Bench("", 0, "", lambda i: micro.stream(i, ""), setup=micro.STREAM, n=8, block=256, mask=FOUR,
                           buffer=32 << 20), 600, 1, 3, 0, 5),
    ("growing", micro.Bench("", 0, "", micro.vadd, block=64, mask=FOUR, setup="s_lshr_b32 s21, s2, 5\n\t"
                            "s_add_u32 s20, s20, s21\n"), 1200, 2, 4, 0, 10),
]


def tell(command, *more):
    done = subprocess.run(command + ["--timing", *more], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    return done.returncode, done.stdout


def number(pattern, text):
    found = re.search(pattern, text, re.M)
    if not found:
        sys.exit("no %s in\n%s" % (pattern, text))
    return int(found.group(1))


def expect(condition, text):
    if not condition:
        sys.exit("wrong: %s" % text)


def command_of(folder, bench, groups, trips):
    code = micro.assemble(rdna3, folder, bench, bench.n)
    return [rdna3, "run", code, "--grid", str(groups), "--block", str(bench.block), "--arg", "buf:%d" % bench.buffer,
            "--arg", "i32:%d" % trips, "--arg", "i32:0", "--cu-mask", bench.mask]


def sums(folder):
    for name, bench, groups, trips, parts, percent, most in CASES:
        command = command_of(folder, bench, groups, trips)
        sample = ["--timing-sample", "%d%%" % percent] if percent else []
        whole = number(r"^cycles +(\d+)", tell(command)[1])
        status, told = tell(command, "--timing-part", "all/%d" % parts, *sample)
        expect(status == 0, told)
        guess, error = number(r"^launch +(\d+)", told), number(r"^launch .*\+- (\d+)", told)
        off = 100 * abs(guess - whole) / whole
        print("%-14s %8d, parts %8d +- %d: off by %.2f %%" % (name, whole, guess, error, off))
        expect(abs(guess - whole) <= error and off <= most, name)
        added = [number(r"adds (\d+)", tell(command, "--timing-part", "%d/%d" % (i, parts), *sample)[1])
                 for i in range(parts)]
        expect(added == [int(n) for n in re.findall(r"adds (\d+)", told)] and sum(added) == guess, added)
    for option, why in (("all/400", "fewer parts"), ("all/5000", "5000 parts of "), ("0/5000", "5000 parts of "), ("4/4", "I/N"), ("0/0", "I/N"), ("x", "I/N")):
        status, told = tell(command, "--timing-part", option)
        expect(status and why in told, told)
    for more in (["--timing-sample", "auto"], ["--print", "0:u32"], ["--viz"]):
        expect(tell(command, "--timing-part", "all/4", *more)[0] == 2, more)


def sweep(folder):
    """The results of a sweep, by processes and by ranks, are those of one process."""
    command = command_of(folder, CASES[0][1], 300, 1)
    os.chdir(folder)
    _, told = tell(command, "--timing-part", "all/4")
    wanted = [number(r"^launch +(\d+)", told), number(r"^launch .*\+- (\d+)", told)]
    with open("parts.sweep", "w", encoding="utf-8") as f:
        f.write("command = %s --timing --timing-part {part}/4\npart = 0..3\n"
                "measure cycles = adds ([0-9]+) \nmeasure error = adds [0-9]+ [+]- ([0-9]+) \n" % " ".join(command))
    runs = [[rdna3, "sweep", "parts.sweep", "--jobs", "1"], [rdna3, "sweep", "parts.sweep", "--jobs", "2"]]
    ranks = os.path.join(os.path.dirname(rdna3), "rdna3-sweep-mpi")
    if os.path.exists(ranks) and shutil.which("mpirun"):
        more = ["--allow-run-as-root", "--oversubscribe"] if "Open MPI" in subprocess.run(
            ["mpirun", "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout else []
        runs += [["mpirun", *more, "-np", n, ranks, "parts.sweep"] for n in ("2", "3")]
    for i, run in enumerate(runs):
        db = ["--db", "%d.db" % i]
        subprocess.run(run + db, check=True, stdout=subprocess.DEVNULL)
        got = [int(subprocess.run([rdna3, "sweep", *db, "--sum", name], check=True, stdout=subprocess.PIPE).stdout)
               for name in ("cycles", "error")]
        expect(got == wanted, "%s adds up to %s, one process to %s" % (run, got, wanted))
    by = subprocess.run([rdna3, "sweep", "--db", "0.db", "--sum", "cycles,part"], check=True, stdout=subprocess.PIPE,
                        text=True).stdout.split()
    expect(by[::2] == list("0123") and sum(map(int, by[1::2])) == wanted[0], by)
    with open("half.sweep", "w", encoding="utf-8") as f:
        f.write("command = echo v {n}; test {n} != 2\nn = 1 2\nmeasure v = v ([0-9])\n")
    subprocess.run([rdna3, "sweep", "half.sweep"], check=False, capture_output=True)
    for name in ("v", "none", "v,none", "v,n,n"):
        done = subprocess.run([rdna3, "sweep", "half.sweep", "--sum", name], check=False, capture_output=True, text=True)
        expect(done.returncode and not done.stdout and "--sum" in done.stderr, done)


def main():
    with tempfile.TemporaryDirectory() as folder:
        {"sums": sums, "sweep": sweep}[what](folder)
        os.chdir("/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
