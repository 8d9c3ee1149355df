#!/usr/bin/env python3
"""rdna3 sweep: its file, the database, resuming, MPI, tables and plots.

    sweep.py local|mistakes|output|resume|show|mpi|killed|survive|leader|taken|purge|orphans RDNA3 SOURCE

SPDX-License-Identifier: MIT
"""
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

WHAT, RDNA3, SOURCE = sys.argv[1:4]
MPI = os.path.join(os.path.dirname(RDNA3), "rdna3-sweep-mpi")
MATRIX = """# squares
command = echo {item} >>log; echo {{}} value $(({n*n} + {seed})) {name}; test {n} != 3 -o -e good
name = "a b" c
n = 1..4
seed = 10..20:10
measure value = ^[{][}] value ([0-9]+)
"""


def call(*command, **kw):
    r = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **kw)
    return r.returncode, r.stdout + r.stderr


def sweep(*args):
    return call(RDNA3, "sweep", *args)


def expect(condition, what):
    if not condition:
        sys.exit(f"wrong: {what}")


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def rows(db, query):
    with sqlite3.connect(db) as c:
        return c.execute(query).fetchall()


def tables(db):
    """All that must not depend on who did it."""
    return [rows(db, f"SELECT * FROM {t} ORDER BY 1, 2")
            for t in ("sweep", "item", "parameter", "result")]


def log():
    with open("log", encoding="utf-8") as f:
        return sorted(int(line) for line in f)


def local():
    write("a.sweep", MATRIX)
    status, told = sweep("a.sweep", "--jobs", "2")
    expect(status == 1 and "16 of 16 items are done, 4 of them failed" in told, told)
    expect(log() == list(range(16)), f"items ran: {log()}")
    expect(rows("a.sweep.db", "SELECT value FROM result WHERE item = 7") == [(36,)],
           "the result of item 7: 4 * 4 + 20")
    expect(rows("a.sweep.db", "SELECT name, value FROM parameter WHERE item = 8 ORDER BY 1")
           == [("n", 1), ("name", "c"), ("seed", 10)], "the parameters of item 8")
    expect(rows("a.sweep.db", "SELECT count(*) FROM item WHERE failed AND said LIKE '%value%'")
           == [(4,)], "what failed items said")
    status, _ = sweep("a.sweep")
    expect(status == 1 and log() == list(range(16)), "items are done twice")
    write("good", "")
    status, told = sweep("a.sweep", "--retry")
    expect(status == 0 and "16 are done" in told.replace("of 16 items ", ""), told)
    expect(log() == sorted([*range(16), 4, 5, 12, 13]), f"--retry ran {log()}")
    status, told = sweep("a.sweep", "--db", "b.db", "--jobs", "3")
    expect(status == 0 and tables("a.sweep.db") == tables("b.db"), "another number of jobs")
    write("rdna3.sweep", "command = rdna3 {what}\nwhat = --version\n"
          "measure version = ^rdna3 ([0-9.]+)\n")
    expect(sweep("rdna3.sweep")[0] == 0, "commands find rdna3")


def mistakes():
    for text, why in (("n = 1\n", "no line 'command"), ("command = x\nn =\n", "a.sweep:2: error: no values"),
                      ("command = {m}\n", "{m}"), ("command = {n/0}\nn = 1\n", "{n/0}"),
                      ("command = {n*2}\nn = x\n", "{n*2}"), ("command = {n\nn = 1\n", "{n"),
                      ("command = x\nn = 3..1\n", "3..1"), ("command = x\nn = 1..8*1\n", "1..8*1"),
                      ("command = x\nmeasure a = b\n", "parentheses"),
                      ("command = x\nmeasure a = (b\n", "a.sweep:2"),
                      ("command = x\nn = 1\nn = 2\n", "a.sweep:3: error: a second line"),
                      ("command = x\nhello\n", "not NAME = VALUES"),
                      ("command = x {6/d}\nd = 2 0\n", "item 1: "), ("command =\n", "no command"),
                      ("command = x\nn = 1..4:\n", "1..4:"), ("command = x\nn = 1...4\n", "1...4"),
                      ("command = {" + 100 * "(" + "1" + 100 * ")" + "}\n", "item 0: "),
                      ("command = x\nn = \"a\n", "quotation mark"),
                      ("command = x\na = 1..100000\nb = 1..100000\n", "more than")):
        write("a.sweep", text)
        status, told = sweep("a.sweep")
        expect(status == 2 and why in told, f"{text!r}: {status} {told}")
        expect(not os.path.exists("a.sweep.db"), "a database for nothing")
    libraries = call(RDNA3, env={**os.environ, "LD_TRACE_LOADED_OBJECTS": "1"})[1]
    expect("libc.so" in libraries and "sqlite" not in libraries, "every start loads SQLite")
    expect(sweep()[0] == 2 and sweep("a", "--jobs", "0")[0] == 2, "options")
    expect(sweep("none.sweep")[0] == 1, "no file")
    write("a.sweep", "command = true\n")
    write("other.db", "this is no database, and it stays as it is" * 40)
    status, told = sweep("a.sweep", "--db", "other.db")
    expect(status == 1 and "database" in told, told)
    expect(sweep("a.sweep")[0] == 0, "a sweep of one")
    write("a.sweep", "command = false\n")
    status, told = sweep("a.sweep")
    expect(status == 1 and "another sweep" in told, told)


def output():
    """Of what is said in three MiB the beginning and the end are kept, and that is told."""
    write("a.sweep", "command = echo first {n}; head -c 3000000 /dev/zero | tr '\\0' x; "
          "echo; echo last {n}; test {n} = 1\nn = 1 2\n"
          "measure first = ^first ([0-9])\nmeasure last = ^last ([0-9])\n")
    expect(sweep("a.sweep")[0] == 1, "one item fails")
    expect(rows("a.sweep.db", "SELECT item, name, value FROM result ORDER BY 1, 2") ==
           [(i, name, i + 1) for i in (0, 1) for name in ("first", "last")], "both ends are looked at")
    said, = rows("a.sweep.db", "SELECT said FROM item WHERE failed")
    kept = 1 << 20
    expect("last 2\n" in said[0] and f"{3000016 - kept} bytes" in said[0], said[0][-200:])
    write("b.sweep", f"command = head -c {kept} /dev/zero | tr '\\0' x; false\n")
    expect(sweep("b.sweep")[0] == 1, "an item that fails")
    said, = rows("b.sweep.db", "SELECT said FROM item")
    expect(said[0] == 2000 * "x", "nothing was left out")


SLOW = """command = echo {item} >>started; while ! test -e go; do sleep 0.02; done; echo {item} >>log; echo v {item}
item_ = 1..12
measure v = v ([0-9]+)
"""


def started(process, n):
    """Wait until n items have begun."""
    for _ in range(3000):
        if os.path.exists("started"):
            with open("started", encoding="utf-8") as f:
                if len(f.readlines()) >= n:
                    return
        if process.poll() is not None:
            break
        time.sleep(0.02)
    sys.exit("wrong: no item begins")


def finish(command, status_wanted):
    write("go", "")
    status, told = call(*command)
    expect(status == 0 and "12 of 12 items are done, 0" in told, told)
    expect(log() == list(range(12)), f"items that were done: {log()}")
    db = rows("a.sweep.db", "SELECT item, value FROM result ORDER BY 1")
    expect(db == [(i, i) for i in range(12)], db)
    expect(status_wanted, "how the first one ended")


def resume():
    """Interrupted, then killed, then to the end: each item counts once."""
    write("a.sweep", SLOW)
    for how in (signal.SIGINT, signal.SIGKILL):
        with subprocess.Popen([RDNA3, "sweep", "a.sweep", "--jobs", "2"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True) as p:
            started(p, 2)
            busy, told = sweep("a.sweep")
            expect(busy == 1 and "at work" in told, f"a second one: {told}")
            p.send_signal(how)
            told = p.communicate(timeout=60)[0]
        expect(p.returncode == (130 if how == signal.SIGINT else -signal.SIGKILL), p.returncode)
        expect(how != signal.SIGINT or "goes on from here" in told, told)
        os.remove("started")
    finish([RDNA3, "sweep", "a.sweep", "--jobs", "2"], True)
    write("b.sweep", "command = echo x >>started; (sleep 100 & echo $! >pid; wait); echo end\n")
    with subprocess.Popen([RDNA3, "sweep", "b.sweep"], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT) as p:
        started(p, 13)
        while not os.path.exists("pid") or not os.path.getsize("pid"):
            time.sleep(0.02)
        p.send_signal(signal.SIGINT)
    with open("pid", encoding="utf-8") as f:
        pid = int(f.read())
    for _ in range(500):
        if not running(pid):
            return
        time.sleep(0.02)
    sys.exit("wrong: what the command started goes on")


def running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # it ends while it is read
        return False


def show():
    write("a.sweep", "command = echo v {n*n*f} {f}\nf = 1 2\nn = 1..64*2\nseed = 1 2\n"
          "measure v = v ([0-9]+)\n")
    expect(sweep("a.sweep")[0] == 0, "the sweep")
    status, told = sweep("a.sweep", "--csv")
    lines = told.splitlines()
    expect(status == 0 and lines[0] == "item,f,n,seed,v,state" and
           lines[1] == "0,1,1,1,1,done" and len(lines) == 29, told)
    status, told = sweep("--db", "a.sweep.db", "--table")
    expect(status == 0 and len(told.splitlines()) == 29, told)
    status, told = sweep("a.sweep", "--plot", "n,v,f", "--out", "p.svg")
    with open("p.svg", encoding="utf-8") as f:
        svg = f.read()
    expect(status == 0 and svg.count("<circle") == 14 and svg.count("stroke=\"#") == 2, svg)
    write("w.sweep", "command = echo v {x}; test {n} != 2\nn = 1..3\nx = nan 12e4567 0x10\n"
          "measure v = v (.*)\n")
    expect(sweep("w.sweep")[0] == 1, "items that fail")
    expect({r[0] for r in rows("w.sweep.db", "SELECT typeof(value) FROM result")} == {"text"}, "words")
    write("f.sweep", "command = echo v {n}; test {n} != 2\nn = 1..3\nmeasure v = v (.*)\n")
    expect(sweep("f.sweep")[0] == 1, "an item that fails")
    expect(sweep("f.sweep", "--plot", "n,v", "--out", "f.svg")[0] == 0, "--plot")
    with open("f.svg", encoding="utf-8") as f:
        expect(f.read().count("<circle") == 2, "points of items that failed")
    for axes in ("n", "n,none", "none,v", "n,v,none", "n,v,v", "n,v,f,x"):
        status, told = sweep("a.sweep", "--plot", axes, "--out", "q.svg")
        expect(status != 0 and (axes.count(",") != 2 or "no parameter" in told), f"--plot {axes}: {told}")
        expect(not os.path.exists("q.svg"), "a picture of nothing")


def mpirun(n, *args):
    if not os.path.exists(MPI) or not shutil.which("mpirun"):
        print("skipped: there is no MPI, or rdna3-sweep-mpi was not built")
        sys.exit(77)
    how = ["mpirun", "--oversubscribe", "-np", str(n)]
    version = call("mpirun", "--version")[1]
    if "Open MPI" in version:
        how[1:1] = ["--allow-run-as-root"]
    else:
        how.remove("--oversubscribe")
    return [*how, MPI, *args]


def mpi():
    write("a.sweep", MATRIX)
    write("good", "")
    expect(call(*mpirun(2, "a.sweep", "--db", "2.db"))[0] == 0, "two ranks")
    expect(call(*mpirun(4, "a.sweep", "--db", "4.db"))[0] == 0, "four ranks")
    expect(sweep("a.sweep")[0] == 0, "local")
    expect(tables("2.db") == tables("a.sweep.db") == tables("4.db"), "databases differ")
    expect(log() == sorted(3 * list(range(16))), "each item once")
    expect(len(rows("4.db", "SELECT DISTINCT worker FROM run")) > 1, "one rank did everything")
    write("a.sweep", "command = {m}\n")
    expect(call(*mpirun(2, "a.sweep"))[0] != 0, "a wrong file")


def ranks_of(mpirun_pid, known=False):
    """Processes that work, or those that mpirun knows and that wait for them, in the order
    of the ranks."""
    lines = call("ps", "-eo", "pid=,ppid=,args=")[1].splitlines()
    parents = {int(w[0]): (int(w[1]), w[2]) for w in (line.split(None, 2) for line in lines) if len(w) == 3}

    def below(pid):
        while pid in parents:
            pid = parents[pid][0]
            if pid == mpirun_pid:
                return True
        return False
    mine = [pid for pid, (_, args) in parents.items() if args.startswith(MPI) and below(pid)]
    mine = [pid for pid in mine if (parents[pid][0] in mine) != known]
    rank = {}
    for pid in mine:
        with open(f"/proc/{pid}/environ", "rb") as f:
            for word in f.read().split(b"\0"):
                name, _, value = word.partition(b"=")
                if name in (b"OMPI_COMM_WORLD_RANK", b"PMI_RANK"):
                    rank[int(value)] = pid
    return [rank[i] for i in sorted(rank)]


def recovers():
    """mpirun lets the others live when one dies."""
    if "Open MPI" not in call("mpirun", "--version")[1]:
        print("skipped: this mpirun ends all when one dies")
        sys.exit(77)
    return "--enable-recovery"


def kill_rank(command, which, n, go):
    """go: what the items wait for is there then."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as p:
        started(p, n)
        ranks = ranks_of(p.pid)
        expect(len(ranks) == n, f"ranks: {ranks}")
        os.kill(ranks[which], signal.SIGKILL)
        while running(ranks[which]):  # its item dies with it
            time.sleep(0.02)
        if go:
            write("go", "")
        try:
            told = p.communicate(timeout=60)[0]
        except subprocess.TimeoutExpired:  # Open MPI 4 may wait for its dead
            p.terminate()
            told = p.communicate(timeout=60)[0]
    return p.returncode, told


def killed():
    """A rank is killed in the middle and takes the others along; the next start goes on."""
    write("a.sweep", SLOW)
    command = mpirun(2, "a.sweep")
    status, _ = kill_rank(command, 1, 2, False)
    os.remove("started")
    finish(command, status != 0)


def survive():
    """... or not: they do its item, too, and nothing is left to do."""
    write("a.sweep", SLOW)
    command = mpirun(3, "a.sweep")
    command.insert(1, recovers())
    _, told = kill_rank(command, 2, 3, True)
    expect("rank 2 is gone; its item" in told, told)
    expect("12 of 12 items are done, 0 of them failed" in told, told)
    expect(log() == list(range(12)), f"items that were done: {log()}")
    expect(rows("a.sweep.db", "SELECT item, value FROM result ORDER BY 1") == [(i, i) for i in range(12)], "results")


def leader():
    """Rank 0 is killed: the others leave the results that they come to."""
    write("a.sweep", SLOW)
    command = mpirun(3, "a.sweep")
    command.insert(1, recovers())
    kill_rank(command, 0, 3, True)
    with open("started", encoding="utf-8") as f:
        begun = sorted(int(i) for i in f)
    left = [name for name in os.listdir(".") if ".left." in name]
    expect(begun == [0, 1, 2] and len(left) == 2 and len(log()) == 2, f"{begun} {left} {log()}")
    finish(command, True)
    expect(not [name for name in os.listdir(".") if ".left." in name], "what was left stays")


def taken():
    """Rank 0 is killed when it has taken a result and not written it down: it is not lost."""
    write("a.sweep", SLOW.replace("! test -e go;", "! test -e go -o -e go$OMPI_COMM_WORLD_RANK$PMI_RANK;"))
    command = mpirun(2, "a.sweep")
    command.insert(1, recovers())
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as p:
        started(p, 2)
        rank0 = ranks_of(p.pid)[0]
        with sqlite3.connect("a.sweep.db", isolation_level=None) as c:
            c.execute("BEGIN EXCLUSIVE")  # it cannot write
            write("go1", "")
            for _ in range(500):
                if os.path.exists("log") and len(log()) == 2:
                    break
                time.sleep(0.02)
            time.sleep(0.2)  # the second one waits for an answer
            os.kill(rank0, signal.SIGKILL)
            while running(rank0):
                time.sleep(0.02)
            c.execute("ROLLBACK")
        try:
            p.communicate(timeout=60)
        except subprocess.TimeoutExpired:  # Open MPI 4 may wait for its dead
            p.terminate()
            p.communicate(timeout=60)
    left = [name for name in os.listdir(".") if ".left." in name]
    expect(len(log()) == 2 and len(left) == 2, f"{log()} {left}")
    finish(command, True)


def purge():
    """mpirun kills all ranks, as MPICH's does when one dies, while results wait to be written
    down: none is lost."""
    write("a.sweep", SLOW.replace("! test -e go;", "! test -e go -o -e go{item};"))
    command = mpirun(3, "a.sweep")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as p:
        started(p, 3)
        known, work = ranks_of(p.pid, True), ranks_of(p.pid)
        expect(len(known) == len(work) == 3, f"{known} {work}")
        with sqlite3.connect("a.sweep.db", isolation_level=None) as c:
            c.execute("BEGIN EXCLUSIVE")  # it cannot write
            write("go1", "")
            for _ in range(500):
                if os.path.exists("log"):
                    break
                time.sleep(0.02)
            for pid in known:
                os.kill(pid, signal.SIGKILL)
            c.execute("ROLLBACK")
        p.communicate(timeout=60)
    for _ in range(500):
        if not any(running(pid) for pid in work):
            break
        time.sleep(0.02)
    finish(command, True)
    expect(not [name for name in os.listdir(".") if ".left." in name], "what was left stays")


def orphans():
    """mpirun itself is killed: all ranks end, with their items; what was finished stays."""
    write("a.sweep", SLOW.replace("while !", "while test {item} -gt 1 -a !").replace("test -e go", "-e go"))
    with subprocess.Popen(mpirun(2, "a.sweep"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
        started(p, 4)
        ranks = ranks_of(p.pid)
        expect(len(ranks) == 2, f"ranks: {ranks}")
        p.kill()
    for _ in range(1000):
        if not any(running(pid) for pid in ranks):
            break
        time.sleep(0.02)
    else:
        for pid in ranks:
            os.kill(pid, signal.SIGKILL)
        sys.exit("wrong: ranks live on without mpirun")
    expect(rows("a.sweep.db", "SELECT item, value FROM result ORDER BY 1") == [(0, 0), (1, 1)], "what was finished")
    finish(mpirun(2, "a.sweep"), True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        globals()[WHAT]()
        os.chdir("/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
