#!/usr/bin/env python3
"""Files that are written and read: whole or not at all, no further than is needed.

    files.py full|early RDNA3 SOURCE_FOLDER [sanitized]

full   where there is no room for it an output is not there, or still the one of before,
       and nothing else is left behind; links, rights and devices stay what they are
early  what is wrong by its beginning is not read to its end, of files and of pipes

SPDX-License-Identifier: MIT
"""
import os
import resource
import signal
import stat
import struct
import subprocess
import sys
import tempfile

WHAT, RDNA3, ROOT = sys.argv[1:4]
SANITIZED = sys.argv[4:] == ["sanitized"]
ADD = os.path.join(ROOT, "library", "examples", "add.s")
RUN = ["run", "add.hsaco", "--block", "64", "--arg", "buf:65536:iota=f32", "--arg", "buf:65536"]
BEFORE = b"what was there before\n"


def expect(condition, what):
    if not condition:
        sys.exit(f"wrong: {what}")


def little_room(limit):
    """Writes fail behind so many bytes of a file, as they do on a disk that is full."""
    def act():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    return act


def call(*words, limit=None, **more):
    # what fails is the file, not the pipes: these have no such limit
    r = subprocess.run([RDNA3, *words], capture_output=True, text=True, timeout=300, check=False,
                       preexec_fn=little_room(limit) if limit is not None else None, **more)
    return r.returncode, r.stdout + r.stderr


# name of the output, words of the command, what its message begins with
def outputs():
    yield "asm.hsaco", ["asm", "-o", "asm.hsaco", "add.s"], "cannot write 'asm.hsaco'"
    yield "asm.o", ["asm", "-c", "-o", "asm.o", "add.s"], "cannot write 'asm.o'"
    yield ("check.xml", ["asm", "--check", "--junit", "check.xml", "check.txt"],
           "cannot write 'check.xml'")
    yield "out.bin", [*RUN, "--out", "1=out.bin"], "cannot write 'out.bin'"
    yield ("timing.json", [*RUN, "--timing", "--timing-json", "timing.json"],
           "cannot write 'timing.json'")
    yield "page.html", [*RUN, "--timing", "--report", "page.html"], "cannot write 'page.html'"
    yield ("chrome.json", ["trace", "line.tl", "--chrome", "chrome.json"],
           "cannot write 'chrome.json'")
    yield ("trace.json", ["trace", "trace.bin", "--chrome", "trace.json"],
           "cannot write 'trace.json'")
    yield "line.rgp", ["trace", "line.tl", "--rgp", "line.rgp"], "cannot write 'line.rgp'"
    yield "code.o", ["compile", "graph.uop", "--emit", "elf", "-o", "code.o"], "cannot write 'code.o'"
    yield "core", ["run", "loop.hsaco", "--timing", "--max-insts", "1000", "--core", "core"], "--core core"


def prepare():
    with open(ADD, encoding="utf-8") as f:
        text = f.read()
    with open("add.s", "w", encoding="utf-8") as f:
        f.write(text)
    with open("loop.s", "w", encoding="utf-8") as f:
        f.write(".globl loop\n.p2align 8\n.type loop,@function\nloop:\n  s_branch loop\n.rodata\n.p2align 6\n"
                ".amdhsa_kernel loop\n.amdhsa_next_free_vgpr 4\n.amdhsa_next_free_sgpr 8\n"
                ".end_amdhsa_kernel\n")
    with open("check.txt", "w", encoding="utf-8") as f:
        f.write("s_nop 0\t000080bf\n" * 400)
    with open(os.path.join(ROOT, "tests", "compiler", "golden", "sums.uop"), encoding="utf-8") as f:
        graph = f.read()
    with open("graph.uop", "w", encoding="utf-8") as f:
        f.write(graph)
    for words in (["asm", "-o", "add.hsaco", "add.s"], ["asm", "-o", "loop.hsaco", "loop.s"],
                  [*RUN, "--timing", "--timing-trace", "line.tl"], [*RUN, "--trace", "trace.bin"]):
        status, told = call(*words)
        expect(status == 0, f"{words}: {told}")


def recordings():
    """What is recorded goes to its file at once; of a recording that has an end missing
    nothing is left, save what its path only leads to."""
    for name, words in (("l.tl", ["--timing", "--timing-trace", "l.tl"]), ("l.bin", ["--trace", "l.bin"])):
        for limit in 0, 100:
            status, text = call(*RUN, *words, limit=limit)
            expect(status == 1 and f"cannot write '{name}': File too large" in text, text)
            expect(not os.path.exists(name), f"{name} is left")
        os.symlink("target", name)
        status, text = call(*RUN, *words, limit=100)
        expect(status == 1 and os.path.islink(name) and os.path.exists("target"), f"a link is removed: {text}")
        os.unlink(name)
        os.link("target", name)
        status, text = call(*RUN, *words, limit=100)
        expect(status == 1 and os.path.exists(name), f"one of two names is removed: {text}")
        os.unlink(name)
    for words in ["--timing", "--timing-trace", "/dev/full"], ["--trace", "/dev/full"]:
        status, text = call(*RUN, *words)
        expect(status == 1 and "cannot write '/dev/full': No space" in text, text)
        expect(stat.S_ISCHR(os.stat("/dev/full").st_mode), "a device is removed")


def full():
    prepare()
    for name, words, told in outputs():
        status, text = call(*words)
        expect(os.path.getsize(name) > 100, f"{words} wrote little: {text}")
        good = open(name, "rb").read()
        for before in (None, BEFORE):
            os.unlink(name)
            if before:
                with open(name, "wb") as f:
                    f.write(before)
            files = set(os.listdir("."))
            for limit in 0, 100:
                status, text = call(*words, limit=limit)
                expect(status in (1, 124) and told in text and "File too large" in text,
                       f"{words} with room for {limit} bytes: {status}, {text}")
                expect(set(os.listdir(".")) == files, f"{words} left {set(os.listdir('.')) - files}")
                expect(not before or open(name, "rb").read() == before, f"{name} is another one")
            call(*words)
        expect(len(open(name, "rb").read()) > len(good) // 2, f"{name} was not written anew")
    os.mkdir("small")
    if not SANITIZED:
        checks()
    recordings()
    places()
    open_already()
    kept()
    mounts()


def mounted(mount, script, *words):
    """Output and messages of a shell script where something is mounted; None if nothing can be."""
    try:
        r = subprocess.run(["unshare", "-Urm", "sh", "-c", f"{mount} || exit 9; echo mounted; {script}",
                            "sh", *words], capture_output=True, text=True, timeout=300, check=False)
        if r.stdout.startswith("mounted\n"):
            return r.stdout[len("mounted\n"):], r.stderr
        why = r.stderr
    except FileNotFoundError as e:
        why = str(e)
    print("not tried without name spaces:", script, why)
    return None


FULL_DISK = "mount -t tmpfs -o size=8k none small"
FILL = "cat /dev/zero >small/fill 2>/dev/null; "


def checks():
    """A program that is checked needs room of its own: only one small disk is full."""
    for option in "json", "xml", "sarif":
        r = mounted(FULL_DISK, FILL + '"$@"; echo "status $?"; ls small', RDNA3, "check", f"--{option}",
                    "small/found", "--", RDNA3, *RUN, "--device", "kfd")
        if not r:
            return
        expect(r[0].endswith("status 1\nfill\n"), f"--{option}: {r[0]}")
        expect(f"--{option} small/found: No space left" in r[1], r[1])


def places():
    """Where the file lies, and what it was, stays so."""
    words = ["asm", "add.s", "-o"]
    os.mkdir("folder")
    os.symlink("folder/target", "link")
    for _ in range(2):  # a link to nothing, then one to a file
        expect(call(*words, "link")[0] == 0 and os.path.islink("link"), "a link is one no more")
        expect(os.path.getsize("folder/target") > 100, "a link's file is not written")
    os.chmod("folder/target", 0o751)
    expect(call(*words, "folder/target")[0] == 0, "a file with rights")
    expect(stat.S_IMODE(os.stat("folder/target").st_mode) == 0o751, "rights have changed")
    os.link("folder/target", "second")
    with open("second", "wb") as f:
        f.write(BEFORE)
    expect(call(*words, "second")[0] == 0 and os.path.getsize("folder/target") > 100,
           "a file's second name is cut off")
    expect(call(*words, "/dev/null")[0] == 0 and stat.S_ISCHR(os.stat("/dev/null").st_mode),
           "a device is replaced")
    status, text = call(*words, "/dev/full")
    expect(status == 1 and "No space left" in text, text)
    expect(stat.S_ISCHR(os.stat("/dev/full").st_mode), "a device is removed")
    os.mkfifo("pipe")
    reader = subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE)
    expect(call(*words, "pipe")[0] == 0 and len(reader.communicate(timeout=60)[0]) > 100, "a pipe")
    expect(stat.S_ISFIFO(os.stat("pipe").st_mode), "a pipe is replaced")


def open_already():
    """Who has the file open goes on in the same file, whatever its name is."""
    os.symlink("/dev/stdout", "out link")
    for folder, name in ((".", "/dev/stdout"), (".", "//dev/stdout"), (".", "/proc/self/fd/1"),
                         (".", "out link"), ("/dev", "stdout"), (".", "appended")):
        with open("appended", "wb") as f:
            pass
        with open("appended", "ab") as f:
            p = subprocess.run(["sh", "-c", 'cd "$1"; shift; "$@"; echo after', "sh", folder, RDNA3, "asm",
                                os.path.abspath("add.s"), "-o", name], stdout=f, timeout=60, check=False)
        with open("appended", "rb") as f:
            got = f.read()
        expect(p.returncode == 0 and len(got) > 100 and got.endswith(b"after\n"), name)
    expect(os.path.islink("out link") and os.path.islink("/dev/stdout"), "a link is one no more")


def access_list():
    """As the kernel keeps it: the owner, user 12345 and the rest may read and write."""
    none = 0xffffffff
    return struct.pack("<I" + "HHI" * 5, 2, 1, 6, none, 2, 6, 12345, 4, 6, none, 0x10, 6, none, 0x20, 6, none)


def kept():
    """What belongs to a file stays with it; a file that could not keep it is the same one."""
    def write(name):
        number = os.stat(name).st_ino
        expect(call("asm", "add.s", "-o", name)[0] == 0 and os.path.getsize(name) > 100, name)
        return os.stat(name).st_ino == number

    def before(name):
        with open(name, "wb") as f:
            f.write(BEFORE)
        return name

    expect(not write(before("plain")), "a plain file is written in its place")
    groups = [12345] if os.geteuid() == 0 else [g for g in os.getgroups() if g != os.getegid()]
    if groups:
        os.chown(before("grouped"), -1, groups[0])
        os.chmod("grouped", 0o640)
        write("grouped")
        sb = os.stat("grouped")
        expect((sb.st_gid, stat.S_IMODE(sb.st_mode)) == (groups[0], 0o640), "another group")
    try:
        os.setxattr(before("attributed"), "user.a", b"1")
        expect(write("attributed") and os.getxattr("attributed", "user.a") == b"1", "an attribute is lost")
        os.mkdir("shared")
        before("shared/private")
        os.setxattr("shared", "system.posix_acl_default", access_list())
        expect(write("shared/private") and not os.listxattr("shared/private"), "others may read it")
    except OSError as e:
        print("not tried: attributes of files:", e)
    folder = tempfile.mkdtemp(dir="/dev/shm") if os.access("/dev/shm", os.W_OK) else "."
    for name in os.path.join(folder, "x"), "n" * 250:
        before(name)
        status, text = call("asm", "add.s", "-o", name, limit=100)
        expect(status == 1 and open(name, "rb").read() == BEFORE, f"{name} is cut off: {text}")
        os.unlink(name)
    if folder != ".":
        os.rmdir(folder)


def mounts():
    """A file that is mounted cannot be replaced; where no file can be made none is lost."""
    for name in "one", "other":
        with open(name, "wb") as f:
            f.write(BEFORE)
    said = mounted("mount --bind one other", '"$@"; echo "status $?"', RDNA3, "asm", "add.s", "-o", "other")
    if said:
        expect(said[0] == "status 0\n" and os.path.getsize("one") > 100, f"a mounted file: {said}")
        expect(open("other", "rb").read() == BEFORE, "what is below the mount is another")
    said = mounted("mount -t tmpfs -o nr_inodes=2 none small", 'echo old >small/a; "$@"; echo "status $?"; '
                   "ls -A small; cat small/a", RDNA3, "asm", "add.s", "-o", "small/a")
    if said:
        expect(said[0] == "status 1\na\nold\n" and "No space left" in said[1], f"no room for a name: {said}")


HUGE = 9 << 30
# A program of the host's by its header, a text file, nothing at all.
WRONG = {
    "dis": (b"\x7fELF\x02\x01\x01" + bytes(11) + b"\x3e\x00\x01" + bytes(43), "e_machine"),
    "info": (b"kernels\n" * 512, "not an ELF file"),
    "run": (b"", "not an ELF file"),
    "asm": (b"\x7fELF\x02\x01\x01\x40", "NUL"),
    "compile": (b"", ""),
}


def memory_of(words, **more):
    """Largest size in KiB, exit status and output of a command."""
    with open("told", "w+b") as out:
        p = subprocess.Popen([RDNA3, *words], stdout=out, stderr=out, **more)
        _, status, usage = os.wait4(p.pid, 0)
        out.seek(0)
        return usage.ru_maxrss, os.waitstatus_to_exitcode(status), out.read().decode()


def little_memory():
    """What reads all of it fails, and does not take the host's memory."""
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


def early():
    with open("huge", "wb") as f:
        try:
            f.truncate(HUGE)
        except OSError as e:
            print(f"no file of {HUGE >> 30} GiB here: {e}")
            return 77
    _, _, _ = memory_of(["--version"])
    base = memory_of(["--version"])[0]
    for command, (head, told) in WRONG.items():
        more = ["-o", "x"] if command in ("asm", "compile") else []
        with open("huge", "wb") as f:
            f.write(head)
            f.truncate(HUGE)
        most, status, text = memory_of([command, *more, "huge"])
        expect(status == 1 and told in text, f"{command}: {status}, {text}")
        expect(most < base + (200 << 10), f"{command} took {most >> 10} MiB for a file it refuses")
        r, w = os.pipe()
        process = subprocess.Popen([RDNA3, command, *more, "/dev/stdin"], stdin=r,
                                   stderr=subprocess.PIPE)
        os.close(r)
        written = 0
        try:
            written = os.write(w, head)
            while written < 8 << 20:
                written += os.write(w, bytes(4096))
        except BrokenPipeError:
            pass
        os.close(w)
        text = process.communicate(timeout=60)[1].decode()
        expect(process.returncode == 1 and told in text, f"{command} of a pipe: {text}")
        expect(written < 1 << 20, f"{command} read {written} bytes of a pipe")
    # so is a source that another one names; what could be right is refused by its size
    for name, text in ("include.s", '.include "huge"\n'), ("empty.s", ""):
        with open(name, "w", encoding="utf-8") as f:
            f.write(text)
    for head, told in (b"\x7fELF" + bytes(4092), "NUL byte"), (b"\n" * 4096, "File too large"):
        with open("huge", "wb") as f:
            f.write(head)
            f.truncate(HUGE)
        for names in ["huge"], ["include.s"], ["empty.s", "huge"]:
            most, status, text = memory_of(["asm", "-o", "x", *names], preexec_fn=little_memory)
            expect(status == 1 and told in text, f"{names}: {status}, {text}")
            expect(most < base + (200 << 10), f"{names} took {most >> 10} MiB")


signal.signal(signal.SIGPIPE, signal.SIG_IGN)
with tempfile.TemporaryDirectory() as tmp:
    os.chdir(tmp)
    status = {"full": full, "early": early}[WHAT]()
sys.exit(status)
