"""How far code is fetched ahead: a wave asks for 64 bytes three times ahead of what it issues,
or as often as s_set_inst_prefetch_distance says; and the first wave of a WGP for the lines that
the kernel's descriptor names (INST_PREF_SIZE, 128 bytes each).

usage: prefetch.py RDNA3"""
import struct
import sys
import tempfile

import micro

rdna3 = sys.argv[1]
MHZ, LINES, LINE = 2500, 24, 128
SET = 20  # offset of the instruction behind s_load, s_waitcnt, s_mov


def issues(code, folder, *more):
    return micro.issues(rdna3, code, folder, "4K", MHZ, *more)


def straight(folder, mode):
    """24 lines of s_nop, one after the other, behind what sets the distance."""
    bench = micro.Bench("", 0, "", lambda i: "s_nop 0", setup="s_set_inst_prefetch_distance 0x%x\n" % mode
                        if mode is not None else "s_nop 0\n")
    return micro.assemble(rdna3, folder, bench, LINES * LINE // 4)


def wants(data, lines):
    """The code object, its descriptor asking for so many lines."""
    e_shoff, = struct.unpack_from("<Q", data, 40)
    n, names = struct.unpack_from("<HH", data, 60)
    sections = [struct.unpack_from("<IIQQQQ", data, e_shoff + 64 * k) for k in range(n)]
    for name, _, _, _, offset, size in sections:
        if data[sections[names][4] + name:].startswith(b".rodata\0"):
            assert size == 64
            rsrc3, = struct.unpack_from("<I", data, offset + 44)
            return data[:offset + 44] + struct.pack("<I", rsrc3 | lines << 4) + data[offset + 48:]
    raise AssertionError("no descriptor")


def ends(times):
    """When the first instruction of each line issues."""
    return [times[LINE * k] for k in range(1, LINES)]


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        def check(what, got, want, off):
            nonlocal failed
            if abs(got - want) > off:
                failed = 1
                print("FAILED: %s: %s, not %s" % (what, got, want))

        p = micro.parameters(rdna3)
        miss = p["ifetch_miss_cycles"] + p["ifetch_miss_ns"] * MHZ / 1000
        steady = {}
        for mode in (None, 0, 1, 2, 3):
            t = ends(issues(straight(folder, mode), folder))
            steady[mode] = (t[-1] - t[8]) / (len(t) - 9)
        # 64 bytes ahead, a line is asked for when half of the one before it is left, 16 cycles; then
        # two by two: by the beginning of the line before them, or when half of that is left.
        for mode, apart in ((1, miss + 16), (2, (miss + 32) / 2), (3, (miss + 16) / 2), (None, steady[3]), (0, steady[3])):
            check("distance %s" % mode, steady[mode], apart, 3)
        path = straight(folder, 1)
        with open(path, "rb") as f:
            data = f.read()
        plain = ends(issues(path, folder))
        for lines in (0, 1, 9, 63):
            with open(path, "wb") as f:
                f.write(wants(data, lines))
            t = ends(issues(path, folder))
            near = min(max(lines - 2, 0), len(t) - 1)  # t[0] is of the second line
            check("%d lines asked for early" % lines, t[near] - t[0], 32 * near, 3)
            check("the rest behind %d lines" % lines, t[-1] - t[near], plain[-1] - plain[near], 3)
    return failed


if __name__ == "__main__":
    sys.exit(main())
