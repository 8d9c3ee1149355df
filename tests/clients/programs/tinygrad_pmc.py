# tinygrad_pmc.py: performance counters that unmodified tinygrad takes of its kernels
# (PMC=1 PROFILE=1), as its own viewer adds them up, against the instructions in the code
# of a kernel without branches. Prints the waves of all kernels and "counters ok"; with
# "times" also what needs them must be there. SPDX-License-Identifier: MIT
import os
import sys

os.environ["PMC_COUNTERS"] = (
    "SQ_WAVES,SQ_INSTS_VALU,SQ_INSTS_SALU,SQ_INSTS_SMEM,SQ_INSTS_TEX_LOAD,SQ_INSTS_TEX_STORE,"
    "SQ_BUSY_CYCLES,SQ_WAVE_CYCLES,GRBM_COUNT,GRBM_GUI_ACTIVE,GL2C_HIT,GL2C_MISS")

from tinygrad import Device, Tensor
from tinygrad.device import Compiled, ProfileProgramEvent
from tinygrad.renderer.amd import decode_inst
from tinygrad.runtime.support.elf import elf_loader
from tinygrad.viz.serve import unpack_pmc

times = sys.argv[1:] == ["times"]


def instructions(lib):
    """Kinds of the instructions of a code object: classes of tinygrad's decoder."""
    text = next(s.content for s in elf_loader(lib)[1] if s.name == ".text")
    kinds, at = [], 0
    while not kinds or kinds[-1] != "S_ENDPGM":
        inst = decode_inst(text[at:])
        op = getattr(inst.op, "name", "")
        kinds.append(op if op.startswith("S_") and "PP" in type(inst).__name__ else type(inst).__name__ + " " + op)
        at += inst.size()
    return kinds


def number(kinds, *wanted):
    return sum(any(w in k for w in wanted) for k in kinds)


a = Tensor([float(i) for i in range(4096)]).realize()
b = (a * 2 + 1).realize()
assert b.sum().item() == 4096 * 4096
device = Device[Device.DEFAULT]
device.synchronize()
device._at_profile_finalize()
programs = {e.tag: e.lib for e in Compiled.profile_events if isinstance(e, ProfileProgramEvent)}
taken = [(e.kern, {row[0]: row[1] for row in unpack_pmc(e)["rows"]}) for e in Compiled.profile_events
         if type(e).__name__ == "ProfilePMCEvent"]
kern, got = taken[0]
kinds = instructions(programs[kern])
print(len(kinds), "instructions of a wave,", taken)
waves = got["SQ_WAVES"]
assert waves > 0 and not number(kinds, "S_CBRANCH", "S_BRANCH")
want = {"SQ_INSTS_VALU": number(kinds, "VOP"), "SQ_INSTS_SALU": number(kinds, "SOP1", "SOP2", "SOPC", "SOPK"),
        "SQ_INSTS_SMEM": number(kinds, "SMEM"), "SQ_INSTS_TEX_LOAD": number(kinds, "GLOBAL_LOAD"),
        "SQ_INSTS_TEX_STORE": number(kinds, "GLOBAL_STORE")}
for name, of_wave in want.items():
    assert got[name] == of_wave * waves, (name, got[name], of_wave, waves)
assert 0 < got["GRBM_GUI_ACTIVE"] <= got["GRBM_COUNT"]
for name in ("SQ_BUSY_CYCLES", "SQ_WAVE_CYCLES", "GL2C_HIT", "GL2C_MISS"):
    assert (got[name] > 0) == times, (name, got[name])
print("all kernels:", sum(counters["SQ_WAVES"] for _, counters in taken), "waves")
print("counters ok")
