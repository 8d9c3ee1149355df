"""Pictures of the visualizer: drawn without a display and in a window under Xvfb.

usage: picture.py RDNA3 KERNEL.s [--xvfb]     --xvfb: the windows under Xvfb too
Exit status 77 if this build has no window, or there is no xvfb-run."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib

rdna3, source = sys.argv[1:3]
xvfb = "--xvfb" in sys.argv
if xvfb and not shutil.which("xvfb-run"):
    print("skipped: xvfb-run is not installed")
    sys.exit(77)
failed = 0
plain = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}


def check(what, ok, more=""):
    global failed
    if not ok:
        failed = 1
        print("FAILED:", what, more)


def call(*args, env=plain, before=()):
    try:
        return subprocess.run(list(before) + [rdna3] + list(args), env=env, timeout=120,
                              capture_output=True, text=True)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(args, 124, "", "timed out")


def png(path):
    """Width, height, rows of RGB bytes."""
    with open(path, "rb") as f:
        data = f.read()
    check("a PNG", data[:8] == b"\x89PNG\r\n\x1a\n")
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        check("checksum", zlib.crc32(kind + body) ==
              struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0])
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", body[:10])
            check("8-bit RGB", (depth, color) == (8, 2))
        if kind == b"IDAT":
            packed += body
        at += 12 + size
    raw, rows, last = zlib.decompress(packed), [], bytearray(3 * width)
    for y in range(height):
        kind = raw[y * (3 * width + 1)]
        line = bytearray(raw[y * (3 * width + 1) + 1:(y + 1) * (3 * width + 1)])
        for i in range(3 * width):
            left = line[i - 3] if i >= 3 else 0
            up = last[i]
            corner = last[i - 3] if i >= 3 else 0
            if kind == 1:
                line[i] = line[i] + left & 255
            elif kind == 2:
                line[i] = line[i] + up & 255
            elif kind == 3:
                line[i] = line[i] + (left + up) // 2 & 255
            elif kind == 4:
                p = left + up - corner
                near = min((abs(p - left), 0, left), (abs(p - up), 1, up),
                           (abs(p - corner), 2, corner))[2]
                line[i] = line[i] + near & 255
        rows.append(bytes(line))
        last = line
    return width, height, rows


def count(picture, color, box=None):
    """Pixels of a colour in x0, y0, x1, y1 (shares of the picture)."""
    width, height, rows = picture
    x0, y0, x1, y1 = box or (0, 0, 1, 1)
    want = bytes((color >> 16, color >> 8 & 255, color & 255))
    n = 0
    for row in rows[int(y0 * height):int(y1 * height)]:
        line = row[3 * int(x0 * width):3 * int(x1 * width)]
        n += sum(line[i:i + 3] == want for i in range(0, len(line), 3))
    return n



def widest(picture, box):
    """Columns of the widest thing in a box, on the colour of its first corner: five columns
    of that part two things."""
    width, height, rows = picture
    x0, y0, x1, y1 = box
    lines = [row[3 * int(x0 * width):3 * int(x1 * width)] for row in rows[int(y0 * height):int(y1 * height)]]
    inked = [any(line[i:i + 3] != lines[0][:3] for line in lines) for i in range(0, len(lines[0]), 3)]
    return max(len(run.strip()) for run in "".join(" x"[ink] for ink in inked).split(5 * " "))


ISSUE, MEMORY, LDS, BARRIER, CURSOR = 0x43d17a, 0xe4572e, 0x29b6f6, 0xec5fa0, 0xffe082
DIM = 0x8a97a8
WAITS = 0x5a6b7d
CHIP, LANES, CURVES, SIDE = ((0, .05, .59, .4), (.1, .45, .59, .62), (.1, .64, .59, .9),
                             (.61, .05, 1, .9))

with tempfile.TemporaryDirectory() as folder:
    def path(name):
        return os.path.join(folder, name)

    def shot(name, *args, env=plain, before=()):
        done = call("viz", path("t"), "--size", "640x480", "--text", "10", "--screenshot",
                    path(name), *args, env=env, before=before)
        check("screenshot " + name, done.returncode == 0, done.stderr)
        if done.returncode:
            return b""
        with open(path(name), "rb") as f:
            return f.read()

    check("assembled", call("asm", source, "-o", path("k")).returncode == 0)
    run = ["run", path("k"), "--grid", "60", "--block", "256", "--arg",
           "buf:240K:rand=f32,1", "--arg", "buf:240K", "--timing"]
    check("run", call(*run, "--timing-trace", path("t")).returncode == 0)
    done = call("viz", path("t"), "--screenshot", path("none.png"))
    if done.returncode == 1 and "no window" in done.stderr:
        for args in (run + ["--viz"], ["exec", "--viz", "--", rdna3, "--version"]):
            done = call(*args)
            check("--viz says what is missing, before anything runs", done.returncode == 1 and
                  done.stderr.startswith("error: this build has no window: ") and
                  not done.stdout, done)
        if failed:
            sys.exit(1)
        print("skipped:", done.stderr)
        sys.exit(77)

    same = shot("a.png")
    first = png(path("a.png"))
    check("size", first[:2] == (640, 480))
    for name, box in (("chip", CHIP), ("lanes", LANES), ("curves", CURVES), ("side", SIDE)):
        found = [c for c in (ISSUE, MEMORY, LDS, BARRIER) if count(first, c, box)]
        check("colours of waves in " + name, found)
    check("a cursor", count(first, CURSOR, LANES) > 50)
    shot("ruler.png", "--text", "18", "--at", "0")
    ruler = widest(png(path("ruler.png")), (.36, .44, .58, .48))
    check("numbers of the ruler are apart", 20 < ruler < 80, ruler)
    shot("edge.png", "--text", "18", "--view", "0:450", "--at", "0")
    check("a number that does not fit is left out", not count(png(path("edge.png")), DIM, (.5625, .445, .5875, .475)))
    head = widest(png(path("ruler.png")), (.605, .756, 1, .783))
    check("headings of the listing are apart", 20 < head < 60, head)
    shot("help.png", "--text", "13", "--do", "help")
    width, _, rows = png(path("help.png"))
    middle = rows[5][3 * (width // 2):3 * (width // 2) + 3]
    check("the help has its frame", all(row[3 * (width // 2):3 * (width // 2) + 3] == middle for row in (rows[2], rows[475])) and
          sum(row[3 * (width // 2):3 * (width // 2) + 3] == DIM.to_bytes(3, "big") for row in rows) >= 2)
    check("the same again", shot("b.png") == same)
    shot("c.png", "--at", "-1")
    empty = png(path("c.png"))
    check("no wave before the beginning",
          not any(count(empty, c, CHIP) for c in (ISSUE, MEMORY, LDS, BARRIER)))
    seen = {same}
    for number, args in enumerate((
            ("--color", "resource"), ("--color", "kernel"), ("--color", "workgroup"),
            ("--open", "slot"), ("--wave", "3:1"), ("--wave", "3,0,0:1", "--do", "zoom-wave"),
            ("--view", "1000:2000"), ("--do", "help"), ("--do", "scale"), ("--do", "forward"),
            ("--do", "play:30"), ("--do", "zoom-in"), ("--do", "zoom-in,zoom-in"),
            ("--wave", "3:1", "--do", "forward,forward"), ("--wave", "3:1", "--do", "one-wave"),
            ("--do", "click:200:240"), ("--do", "point:500:300"), ("--do", "point:20:52"),
            ("--open", "slot", "--do", "down,down,point:200:260"), ("--do", "click:20:232"), ("--do", "drag:300:300:200:300"),
            ("--do", "wheel:250:300:3"), ("--do", "wheel:500:400:-2,wheel:20:300:-5,SIMD"),
            ("--do", "drag:150:203:300:203"), ("--do", "key:C,key:Tab"),
            ("--open", "slot", "--do", "click:200:300"), ("--do", "click:500:300"),
            ("--size", "1000x700"), ("--size", "320x240"), ("--do", "larger"), ("--do", "home"), ("--do", "SIMD,down"),
            ("--do", "select-next,follow"), ("--do", "in-view,zoom-in"))):
        picture = shot("d%d.png" % number, *args)
        check("another picture with " + " ".join(args), picture not in seen)
        seen.add(picture)
    for args in (("--color", "mauve"), ("--do", "dance"), ("--size", "1x1"),
                 ("--wave", "99999:0"), ("--view", "3:1"), ("--open", "door")):
        done = call("viz", path("t"), "--screenshot", path("e.png"), *args)
        check("refused: " + " ".join(args), done.returncode == 2 and "error:" in done.stderr,
              done)
    done = call("viz", path("k"))
    check("not a timeline", done.returncode == 1 and "no timeline" in done.stderr, done)
    small = ["sh", "-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh"]
    done = call("viz", path("t"), "--screenshot", path("full.png"), before=small)
    check("a full disk", done.returncode == 1 and "File too large" in done.stderr and
          not os.path.exists(path("full.png")), done.stderr)
    done = call("viz", path("t"), "--screenshot", "/dev/full")
    check("a device that is full", done.returncode == 1 and "No space" in done.stderr and
          not os.path.isfile("/dev/full") and os.path.exists("/dev/full"), done.stderr)
    done = call("viz", path("t"), "--screenshot", path("no/where.png"))
    check("cannot write", done.returncode == 1 and "cannot write" in done.stderr, done)
    done = call("viz", path("t"))
    check("no display is an error", done.returncode == 1 and "no display" in done.stderr or
          "no window" in done.stderr, done)

    follow = call("viz", path("t"), "--follow", "--screenshot", path("f.png"), "--size",
                  "640x480", "--text", "10")
    check("a finished file can be followed", follow.returncode == 0, follow.stderr)

    # a file that grows: waves that have issued nothing for a while wait, they are not gone
    with open(path("t"), "rb") as f:
        whole = f.read()
    with open(path("growing"), "wb") as f:
        f.write(whole[:100])
    with subprocess.Popen([rdna3, "viz", path("growing"), "--follow", "--screenshot",
                           path("g.png"), "--size", "640x480", "--text", "10"],
                          env=plain) as grows:
        with open(path("growing"), "ab") as f:
            for at in range(100, len(whole), 2000):
                time.sleep(.01)
                f.write(whole[at:at + 2000])
                f.flush()
        check("a file that grows can be followed", grows.wait(60) == 0)
    with open(path("g.png"), "rb") as f, open(path("f.png"), "rb") as g:
        check("and shows in the end what it holds", f.read() == g.read())
    done = call(*run, "--max-insts", "8000", "--timing-trace", path("t"))
    check("a run cut short", done.returncode == 124, done)
    shot("cut.png", "--do", "end", "--open", "slot")
    cut = png(path("cut.png"))
    check("waves that wait at the end are there", count(cut, WAITS, CHIP) > 1000 and
          count(cut, WAITS, LANES) > 300, (count(cut, WAITS, CHIP), count(cut, WAITS, LANES)))
    shot("tip.png", "--do", "end,select-next", "--open", "slot")
    check("run", call(*run, "--timing-trace", path("t")).returncode == 0)

    dummy = dict(plain, SDL_VIDEODRIVER="dummy")
    check("a window of the dummy driver shows the same",
          shot("w.png", "--window", env=dummy) == same)
    done = call(*run, "--viz", env=dict(plain, RDNA3_FONT="/none", SDL_VIDEODRIVER="dummy"))
    check("a window that fails does not take the results along", done.returncode == 1 and
          "no font" in done.stderr and done.stdout.startswith("cycles"), done)
    if xvfb:
        # the libraries of a desktop that SDL loads (D-Bus) leak
        desktop = dict(plain, ASAN_OPTIONS="detect_leaks=0")
        shot("x.png", "--window", env=desktop, before=("xvfb-run", "-a"))
        window = png(path("x.png"))
        differ = sum(abs(a - b) > 8 for x, y in zip(window[2], first[2]) if x != y
                     for a, b in zip(x, y))
        check("a window under Xvfb shows the same", window[:2] == first[:2] and
              differ < 640 * 480 * 3 // 500, differ)
        # live: the window's process draws the run's end and leaves
        env = dict(desktop, RDNA3_VIZ_SCREENSHOT=path("live.png"))
        done = call(*run, "--viz", env=env, before=("xvfb-run", "-a"))
        check("live", done.returncode == 0 and os.path.exists(path("live.png")), done)
        if os.path.exists(path("live.png")):
            live = png(path("live.png"))
            check("a live window shows waves", count(live, LDS, LANES) > 100)
            check("and what it is", b"cycles" in done.stdout.encode())
sys.exit(failed)
