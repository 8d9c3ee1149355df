"""The driver's layers: what the sources of each may include, as they are really built, and
what must not be in their text."""
# SPDX-License-Identifier: MIT
import json
import os
import re

# Layer: headers in reach, headers out of reach.
DRIVER = {
    "packets": ((), ("status.h", "board.h", "gpu.h", "emu.h", "linux/kfd_ioctl.h")),
    "board": ((), ("gpu.h", "kmd.h", "emu.h", "linux/kfd_ioctl.h")),
    "gpu": (("emu.h", "pm4.h"), ("kmd.h", "shared.h", "abi.h", "linux/kfd_ioctl.h")),
    "kmd": (("gpu.h", "pm4.h"), ("cp.h", "regs.h", "abi.h", "emu.h", "linux/kfd_ioctl.h")),
    "pci": (("gpu.h", "pm4.h"), ("cp.h", "kmd.h", "abi.h", "emu.h", "linux/kfd_ioctl.h")),
    "abi": (("kmd.h", "linux/kfd_ioctl.h"), ("gpu.h", "config.h", "pm4.h", "emu.h")),
    "front": (("abi.h",), ("gpu.h", "ctx.h", "pm4.h", "emu.h", "linux/kfd_ioctl.h")),
    "runtime": (("pm4.h", "codeobj.h", "linux/kfd_ioctl.h"),
                ("gpu.h", "counters.h", "kmd.h", "abi.h", "board.h", "emu.h")),
}

# What sources of a folder must not contain, and in which file they may.
WORDS = [
    ("driver/gpu/", r"\bgetenv\b", ()),
    ("driver/gpu/", r"\bKFD_|\bAMDKFD_|\bDRM_|/dev/", ()),
    ("driver/gpu/", r"\*\)\s*\(uintptr_t\)", ("driver/gpu/vm.c",)),
    ("driver/kmd/", r"\bgetenv\b", ()),
    ("driver/abi/", r"\bgetenv\b", ()),
]


def finds(folders, header):
    return any(os.path.exists(os.path.join(folder, header)) for folder in folders)


def reach(commands, root):
    """Each source file of the driver, and the include folders it is compiled with."""
    for entry in commands:
        name = os.path.relpath(entry["file"], root)
        if name.startswith("driver/"):
            yield name, re.findall(r"(?:-I ?|-isystem )(\S+)", entry["command"])


def layers(commands, root):
    seen = {}
    for name, folders in reach(commands, root):
        room = name.split("/")[1]
        seen.setdefault(room, set()).update(folders)
        for header in DRIVER[room][1]:
            if finds(folders, header):
                yield f"{name} can include {header}, which {room}/ must not know"
    for room, (inside, _) in DRIVER.items():
        for header in inside:
            if not finds(seen.get(room, ()), header):
                yield f"driver/{room} cannot include {header}"


def words(name, text):
    for folder, pattern, but in WORDS:
        if name.startswith(folder) and name not in but:
            for word in re.findall(pattern, text):
                yield f"{name}: {word} does not belong there"
    if name.startswith("driver/"):
        for header in re.findall(r'^#include ["<](\.\.[^">]+)[">]', text, re.M):
            yield f"{name} reaches for {header} around its include folders"


def check(build, root, names):
    path = os.path.join(build, "compile_commands.json")
    with open(path, encoding="utf-8") as f:
        yield from layers(json.load(f), root)
    for name in names:
        with open(os.path.join(root, name), encoding="utf-8") as f:
            yield from words(name, f.read())
