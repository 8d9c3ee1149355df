#!/usr/bin/env python3
"""What users ran into, one by one.

    bugs.py targets|sizes|stack|exec_options|exec_kernels|no_files|wrong_files RDNA3 SOURCE_FOLDER [sanitized]

SPDX-License-Identifier: MIT
"""
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

WHAT, RDNA3, ROOT = sys.argv[1:4]
SANITIZED = sys.argv[4:] == ["sanitized"]  # the mock is not preloaded then
ADD = os.path.join(ROOT, "library", "examples", "add.s")
RUN = ["--block", "64", "--arg", "buf:256:iota=f32", "--arg", "buf:256", "--print", "1:f32:3"]

LOOP = """.globl loop
.type loop,@function
loop:
  s_branch loop
.rodata
.p2align 6
.amdhsa_kernel loop
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 8
.end_amdhsa_kernel
"""


def call(*command, **kw):
    r = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **kw)
    return r.returncode, r.stdout + r.stderr


def expect(condition, what):
    if not condition:
        sys.exit(f"wrong: {what}")


def targets(folder):
    """Chips with the same instructions: their objects load and are named, others not."""
    with open(ADD, encoding="utf-8") as f:
        text = f.read()
    path, code = os.path.join(folder, "a.s"), os.path.join(folder, "a.hsaco")
    for chip in ("gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1030"):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace("gfx1100", chip))
        status, told = call(RDNA3, "asm", path, "-o", code)
        if chip == "gfx1030":
            expect(status == 1 and "gfx1101 to gfx1103" in told, told)
            continue
        expect(status == 0, told)
        expect(chip in call(RDNA3, "dis", code)[1].splitlines()[0], f"dis says no {chip}")
        status, told = call(RDNA3, "run", code, *RUN)
        expect(status == 0 and "0: 1 2 3" in told, told)


def sizes(folder):
    """Buffers that the card has no room for."""
    code = os.path.join(folder, "a.hsaco")
    expect(call(RDNA3, "asm", ADD, "-o", code)[0] == 0, "asm")
    for first, second, warns in (("256", "25G", "25.0"), ("13G", "12G", "25.0"), ("12G", "12G", "")):
        status, told = call(RDNA3, "run", code, "--block", "64", "--arg", f"buf:{first}",
                            "--arg", f"buf:{second}")
        expect(status == 0, told)
        expect((f"warning: the card has 24 GiB; with argument 1 ('buf:{second}') the buffers "
                f"take {warns}" in told) == bool(warns), told)


def wrong_files(folder):
    """Files that are not what a command wants, and options that go with another kind."""
    empty, big = os.path.join(folder, "empty"), os.path.join(folder, "big")
    open(empty, "w", encoding="utf-8").close()
    with open(big, "wb") as f:
        f.truncate(1 << 40)  # nobody can read it whole
    for status, said, command in (
            (1, "big': not an ELF file", ("run", big)),
            (1, "empty: there is no call in it", ("exec", "--replay", empty)),
            (2, "--baseline needs a timeline", ("trace", empty, "--baseline", empty)),
            (2, "--simd=3 needs a timeline", ("trace", empty, "--simd=3")),
            (1, "this is no trace", ("trace", empty, "--json"))):
        got, told = call(RDNA3, *command)
        expect(got == status and said in told, f"{command}: {got} {told}")
    standard_files(folder)


def standard_files(folder):
    """Output that is closed is told of once, also when a program under `exec` is to write it; input
    may be a socket, as editors give."""
    code = os.path.join(folder, "a.hsaco")
    expect(call(RDNA3, "asm", ADD, "-o", code)[0] == 0, "asm")
    ways = [(RDNA3, "run", code, *RUN), (RDNA3, "info", code)]
    if not SANITIZED:
        ways.append((RDNA3, "exec", "--", RDNA3, "run", "--device", "kfd", code, *RUN))
    for command in ways:
        got, told = call("sh", "-c", 'exec "$@" >&-', "sh", *command)
        expect(got == 1 and told == "error: cannot write the output: Bad file descriptor\n", f"{command}: {got} {told}")
    got, told = call("sh", "-c", 'exec "$@" <&-', "sh", RDNA3, "asm", "-", "-o", code)
    expect(got == 1 and "cannot read" in told, f"no stdin: {got} {told}")
    ours, theirs = socket.socketpair()
    with ours, subprocess.Popen([RDNA3, "asm", "--check", "-"], stdin=theirs, stdout=subprocess.PIPE) as p:
        theirs.close()
        ours.sendall(b"s_nop 1 -> 010080bf\n")
        ours.shutdown(socket.SHUT_WR)
        expect(b"1 statements, 0 wrong" in p.stdout.read(), "a socket as stdin")


STACK = """.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
.text
.globl deep
.p2align 8
.type deep,@function
deep: // as a recursion does whose depth the compiler does not know
  s_load_b64 s[0:1], s[0:1], 0x0
  s_mov_b32 s4, 20000
  v_mov_b32 v1, 42
  scratch_store_b32 off, v1, s4
  s_waitcnt_vscnt null, 0x0
  scratch_load_b32 v2, off, s4
  v_mov_b32 v3, 0
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_store_b32 v3, v2, s[0:1]
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel deep
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 8
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_private_segment_fixed_size 16
  .amdhsa_enable_private_segment 1
  .amdhsa_uses_dynamic_stack DYNAMIC
  .amdhsa_wavefront_size32 1
.end_amdhsa_kernel
"""


def stack(folder):
    """--stack is room for recursion, in the emulator alone and through the driver."""
    path, code = os.path.join(folder, "s.s"), os.path.join(folder, "s.hsaco")
    run = [RDNA3, "run", code, "--arg", "buf:4", "--print", "0:u32"]
    through = [RDNA3, "exec", "--", *run, "--device", "kfd"]
    for dynamic, room in ((0, 16), (1, 16384)):
        with open(path, "w", encoding="utf-8") as f:
            f.write(STACK.replace("DYNAMIC", str(dynamic)))
        expect(call(RDNA3, "asm", path, "-o", code)[0] == 0, "it does not assemble")
        for options in ([], ["--stack", "20000"]):
            status, told = call(*run, *options)
            has = max(room, 20000 if options else 0)
            expect(status == 1 and f"has {has} bytes of scratch; --stack BYTES gives it more" in told, told)
        for how in ([run] if SANITIZED else [run, through]):
            status, told = call(*how, "--stack", "20004")
            expect(status == 0 and " 42\n" in told, told)
    for wrong in ("3", "17M", "-4", "x"):
        expect(call(*run, "--stack", wrong)[0] == 2, f"--stack {wrong} is taken")


def exec_options(folder):
    """--simd reaches the kernels of the program: native code needs what generic lacks."""
    code = os.path.join(folder, "a.hsaco")
    call(RDNA3, "asm", ADD, "-o", code)
    run = [RDNA3, "run", "--device", "kfd", code, *RUN]
    for options in ([], ["--simd", "generic"], ["--threads", "1"]):
        status, told = call(RDNA3, "exec", *options, "--", *run)
        expect(status == 0 and "0: 1 2 3" in told, f"{options}: {told}")
    status, told = call(RDNA3, "exec", "--simd", "generic", "--engine", "jit", "--", *run)
    expect(status == 1, f"native code with generic vectors: {told}")
    for command, option in (("exec", "--json"), ("check", "--xml")):  # the command is no file's name
        status, told = call(RDNA3, command, option, "--", "true", cwd=folder)
        expect(status == 2 and f"option '{option}' needs a value" in told, f"{command} {option} --: {status} {told}")
    report = os.path.join(folder, "stats.json")
    status, told = call(RDNA3, "exec", "--stats", "--json", report, "--", *run)
    with open(report, encoding="utf-8") as f:
        process, = json.load(f)["processes"]
    expect(status == 0 and process["dispatches"] == 1 and process["model_us"] is None and
           process["first_beyond_lds"] is None and not process["workgroups_beyond_lds"] and
           all(f"{process[name]} {name}" in told
               for name in ("dispatches", "workgroups", "waves", "instructions", "faults")) and
           process["ioctls"] > process["refused_ioctls"], f"{process}: {told}")
    status, told = call(RDNA3, "exec", "--json", folder, "--", "true")
    expect(status == 1 and "error: cannot write" in told, told)
    status, told = call(RDNA3, "exec", "--log", "/dev/full", "--", *run)
    expect(status == 0 and told.count("rdna3: --log misses ioctls: No space left") == 1, told)
    for options in (["--simd", "mmx"], ["--threads", "x"], ["--threads", "1025"]):
        expect(call(RDNA3, "exec", *options, "--", "true")[0] == 2, options)


KERNEL = """
.text
.globl {name}
.p2align 8
.type {name},@function
{name}:
{code}
    s_endpgm
.size {name}, .-{name}
.rodata
.p2align 6
.amdhsa_kernel {name}
  .amdhsa_group_segment_fixed_size 64
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 8
  .amdhsa_wavefront_size32 1
.end_amdhsa_kernel
"""


def exec_kernels(folder):
    """The time of each kernel under --timing; what goes beyond the LDS is told of without --stats."""
    source, code, report = (os.path.join(folder, name) for name in ("k.s", "k.hsaco", "k.json"))
    with open(source, "w", encoding="utf-8") as f:
        f.write('.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"\n' +
                KERNEL.format(name="quick", code="    v_lshlrev_b32 v1, 2, v0\n    ds_store_b32 v1, v0") +
                KERNEL.format(name="_Z4slowv", code="    s_movk_i32 s0, 4000\n1:  s_sub_i32 s0, s0, 1\n"
                              "    s_cmp_lg_u32 s0, 0\n    s_cbranch_scc1 1b"))
    status, told = call(RDNA3, "asm", source, "-o", code)
    expect(status == 0, told)
    def program(*runs):
        calls = "; ".join(f'"$0" run --device kfd "$1" --kernel {name} --block {block}' for name, block in runs)
        return ["--", "sh", "-c", calls, RDNA3, code]

    status, told = call(RDNA3, "exec", "--timing", "--json", report,
                        *program(("quick", 16), ("_Z4slowv", 32), ("quick", 16)))
    with open(report, encoding="utf-8") as f:
        data = json.load(f)
    slow, quick = data["kernels"]
    expect(status == 0 and slow["name"] in ("slow()", "_Z4slowv") and quick["name"] == "quick", data)
    expect((slow["calls"], quick["calls"]) == (1, 2) and slow["percent"] > 80 and
           abs(slow["percent"] + quick["percent"] - 100) < 0.01, data)
    expect(abs(quick["mean_us"] * 2 - quick["model_us"]) < 0.001 and
           abs(sum(p["model_us"] for p in data["processes"]) - slow["model_us"] - quick["model_us"]) < 0.001, data)
    rows = [line.split() for line in told.splitlines() if "%" in line]
    expect([(r[2], r[-1]) for r in rows] == [("1", slow["name"]), ("2", "quick")], told)
    expect("LDS" not in told, told)

    status, told = call(RDNA3, "exec", "--json", report, *program(("quick", 64)))
    with open(report, encoding="utf-8") as f:
        data = json.load(f)
    process = next(p for p in data["processes"] if p["workgroups_beyond_lds"])
    expect(status == 0 and data["kernels"] is None and "quick: LDS address out of range" in told and
           "1 workgroups" in told and process["first_beyond_lds"] in told and "%" not in told, told)
    for engine in ("jit", "interp"):
        status, told = call(RDNA3, "exec", "--engine", engine, "--stats", "--json", report, *program(("_Z4slowv", 32)))
        with open(report, encoding="utf-8") as f:
            native = json.load(f)["processes"][0]["native"]
        line = f"native code: {native['bytes']} bytes for {native['instructions']} instructions in " \
            f"{native['blocks']} blocks, {native['compile_us']:.0f} us to make"
        if engine == "jit":
            expect(status == 0 and native["instructions"] >= 3 and line in told, f"{native}: {told}")
        else:
            expect(status == 0 and not any(native.values()) and "native code" not in told, f"{native}: {told}")


def no_files(folder):
    """A run with a window that is ended by a signal leaves no file behind."""
    if not os.path.exists(os.path.join(os.path.dirname(RDNA3), "rdna3-viz")):
        print("skipped: there is no rdna3-viz")
        sys.exit(77)
    code, own = os.path.join(folder, "a.hsaco"), os.path.join(folder, "tmp")
    os.mkdir(own)
    call(RDNA3, "asm", ADD, "-o", code)
    # The window's program waits for its display, so the run does, too.
    env = dict(os.environ, TMPDIR=own, SDL_VIDEODRIVER="dummy")
    for number in (signal.SIGTERM, signal.SIGKILL):
        with subprocess.Popen([RDNA3, "run", "--viz", code, *RUN], env=env,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True) as p:
            time.sleep(0.3)
            p.send_signal(number)
            p.wait(timeout=60)
            try:
                os.killpg(p.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        expect(os.listdir(own) == [], f"{number}: {os.listdir(own)}")
    with open(os.path.join(folder, "loop.s"), "w", encoding="utf-8") as f:
        f.write(LOOP)
    call(RDNA3, "asm", f.name, "-o", code)
    env["RDNA3_VIZ_SCREENSHOT"] = os.path.join(folder, "end.png")
    with subprocess.Popen([RDNA3, "run", "--viz", code], env=env, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, start_new_session=True) as p:
        time.sleep(0.5)
        p.kill()
        try:  # its end is seen when nobody holds this pipe
            p.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            sys.exit("wrong: the picture of a killed run's end is waited for")


def main():
    with tempfile.TemporaryDirectory() as folder:
        {"targets": targets, "sizes": sizes, "stack": stack, "exec_options": exec_options,
         "exec_kernels": exec_kernels, "no_files": no_files, "wrong_files": wrong_files}[WHAT](folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
