"""The same run gives the same timing file, to the byte, and a changed parameter another.

usage: repeat.py RDNA3 MIXED.s [CASES]    CASES: folder with the cases of the timing benchmark"""
import json
import os
import subprocess
import sys
import tempfile

rdna3, mixed = sys.argv[1:3]
cases = sys.argv[3] if len(sys.argv) > 3 else None


def run(folder, launch, name, *more):
    out = os.path.join(folder, name)
    command = [rdna3, "run", "--raw", os.path.join(cases, launch["text"]), "--kd",
               os.path.join(cases, launch["kd"]),
               "--grid", ",".join(map(str, launch["grid"])),
               "--block", ",".join(map(str, launch["block"])), "--timing", "--sclk-mhz",
               str(launch["sclk_mhz"]), "--timing-json", out, "--timing-insts", "all"]
    for arg in launch["args"]:
        command += ["--arg", "buf:%d" % arg["size"]]
    subprocess.run(command + list(more), check=True, stdout=subprocess.DEVNULL)
    with open(out, "rb") as f:
        return f.read()


failed = 0
with tempfile.TemporaryDirectory() as folder:
    for case in ("A1", "A2", "A3", "A4", "A5", "A6", "A7") if cases else ():
        with open(os.path.join(cases, case + ".json")) as f:
            launches = json.load(f)["launches"]
        for number, launch in enumerate(launches):
            first = run(folder, launch, "1")
            for threads in ("1", "2", "4") if number == 0 else ("2",):
                if run(folder, launch, "2", "--threads", threads) != first:
                    print("%s.%d differs between two runs, %s threads" % (case, number, threads))
                    failed = 1
            if number:
                continue
            slower = json.loads(run(folder, launch, "3", "--timing-set", "ifetch_miss_cycles=1000"))
            if slower["span_cycles"] <= json.loads(first)["span_cycles"]:
                print(case, "is not slower with slower fetch")
                failed = 1

    if cases: # the rest needs none
        sys.exit(failed)
    # many waves on the whole chip: the timing file and the memory, without time, with it,
    # with any number of threads, with other addresses of the host, recorded
    code = os.path.join(folder, "k")
    with open(mixed) as f:
        text = f.read()
    racy, once = "v_lshlrev_b32_e32\tv3, 7, v2", "v_xor_b32 v3, 0x3fc, v1" # as it is, waves write to the same place: a race
    assert racy in text
    with open(code + ".s", "w") as f:
        f.write(text.replace(racy, once))
    subprocess.run([rdna3, "asm", "-o", code, code + ".s"], check=True)
    seen, memory = set(), set()
    for n, more in enumerate((None, [], [], ["--threads", "1"], ["--threads", "2"], ["--threads", "7"],
                              ["--timing-trace", os.path.join(folder, "t")])):
        out, dump = os.path.join(folder, "j"), os.path.join(folder, "m")
        command = [rdna3, "run", code, "--grid", "800", "--block", "256", "--arg", "buf:3200K:rand=f32,1",
                   "--arg", "buf:3200K", "--out", "1=" + dump]
        if more is not None:
            command += ["--timing", "--timing-json", out, "--timing-insts", "all"] + more
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, PAD="x" * 4096 * n))
        with open(dump, "rb") as f:
            memory.add(f.read())
        if more is not None:
            with open(out, "rb") as f:
                seen.add(f.read())
    if len(seen) != 1:
        print("the whole chip differs between runs")
        failed = 1
    if len(memory) != 1 or not any(memory.copy().pop()):
        print("time changes memory")
        failed = 1
sys.exit(failed)
