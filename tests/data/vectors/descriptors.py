"""Kernel descriptors: every directive at its edges, alone and in random company."""
# SPDX-License-Identifier: MIT
import os
import random
import struct
import subprocess
import tempfile

from llvm import MC, attributes

ONE = (0, 1)
VALUES = {  # directive: values that are legal
    "group_segment_fixed_size": (0, 16, 65536), "private_segment_fixed_size": (0, 4, 8192),
    "kernarg_size": (0, 8, 4096), "user_sgpr_count": (0, 2, 15),
    "user_sgpr_dispatch_ptr": ONE, "user_sgpr_queue_ptr": ONE,
    "user_sgpr_kernarg_segment_ptr": ONE, "user_sgpr_dispatch_id": ONE,
    "user_sgpr_private_segment_size": ONE, "uses_dynamic_stack": ONE,
    "enable_private_segment": ONE, "system_sgpr_workgroup_id_x": ONE,
    "system_sgpr_workgroup_id_y": ONE, "system_sgpr_workgroup_id_z": ONE,
    "system_sgpr_workgroup_info": ONE, "system_vgpr_workitem_id": (0, 1, 2),
    "next_free_vgpr": (1, 7, 8, 9, 24, 255, 256), "next_free_sgpr": (1, 8, 100, 102),
    "reserve_vcc": ONE, "float_round_mode_32": (0, 1, 2, 3),
    "float_round_mode_16_64": (0, 1, 2, 3), "float_denorm_mode_32": (0, 1, 2, 3),
    "float_denorm_mode_16_64": (0, 1, 2, 3), "dx10_clamp": ONE, "ieee_mode": ONE,
    "fp16_overflow": ONE, "workgroup_processor_mode": ONE, "memory_ordered": ONE,
    "forward_progress": ONE, "shared_vgpr_count": (0, 1, 15),
    "exception_fp_ieee_invalid_op": ONE, "exception_fp_denorm_src": ONE,
    "exception_fp_ieee_div_zero": ONE, "exception_fp_ieee_overflow": ONE,
    "exception_fp_ieee_underflow": ONE, "exception_fp_ieee_inexact": ONE,
    "exception_int_div_zero": ONE,
}
ALWAYS = ("next_free_vgpr", "next_free_sgpr")


def source(directives, version):
    return (f".amdhsa_code_object_version {version}\n.text\nk:\ns_endpgm\n.rodata\n.p2align 6\n"
            ".amdhsa_kernel k\n" + "\n".join(directives) + "\n.end_amdhsa_kernel\n")


def section(data, name):
    offset, = struct.unpack_from("<Q", data, 40)
    number, names = struct.unpack_from("<HH", data, 60)
    rows = [struct.unpack_from("<IIQQQQIIQQ", data, offset + 64 * i) for i in range(number)]
    for row in rows[1:]:
        at = rows[names][4] + row[0]
        if data[at:data.index(b"\0", at)].decode() == name:
            return data[row[4]:row[4] + row[5]]
    return b""


def judge(directives, wave, version):
    """(descriptor, ident) as LLVM makes them, or its error's first line."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "k.o")
        r = subprocess.run([MC, "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx1100",
                            *attributes(wave), "-filetype=obj", "-o", path],
                           input=source(directives, version), capture_output=True, text=True,
                           check=False)
        if r.returncode:
            return None, r.stderr.split("\n")[0].split("error: ")[-1]
        with open(path, "rb") as out:
            data = out.read()
    flags, = struct.unpack_from("<I", data, 48)
    ident = f"osabi={data[7]} abiversion={data[8]} e_flags=0x{flags:x}"
    return section(data, ".rodata").hex(), ident


def combinations():
    chance = random.Random(5)
    base = {"next_free_vgpr": 8, "next_free_sgpr": 16}
    for name, values in VALUES.items():
        for value in values:
            yield {**base, name: value}
    for _ in range(150):
        chosen = dict(base)
        for name in chance.sample(sorted(VALUES), chance.randint(2, 6)):
            chosen[name] = chance.choice(VALUES[name])
        yield chosen


def make():
    good, bad = [], []
    for number, chosen in enumerate(combinations()):
        texts = [f".amdhsa_{n} {v}" for n, v in chosen.items()]
        wave = "64" if number % 3 == 2 or chosen.get("shared_vgpr_count") else "32"
        version = str((5, 4, 6)[number % 7 % 3])
        hexes, ident = judge(texts, wave, version)
        if hexes:
            good.append(("; ".join(texts), hexes, wave, version, ident))
        else:
            bad.append(("; ".join(texts), ident, wave, version))
    for name, values in VALUES.items():
        for value in (-1, 1 << 33, "undefined_symbol") + ((2,) if values == ONE else ()):
            chosen = {"next_free_vgpr": 8, "next_free_sgpr": 16, name: value}
            texts = [f".amdhsa_{n} {v}" for n, v in chosen.items()]
            hexes, why = judge(texts, "32", "5")
            if not hexes:
                bad.append(("; ".join(texts), why, "32", "5"))
    for missing in ALWAYS:
        texts = [f".amdhsa_{n} 8" for n in ALWAYS if n != missing]
        bad.append(("; ".join(texts), judge(texts, "32", "5")[1], "32", "5"))
    return good, bad
