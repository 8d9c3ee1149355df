# tinygrad_trace.py: thread traces that unmodified tinygrad takes of its kernels (SQTT=1
# PROFILE=1), read by its own decoder, which follows the waves through the code. Prints
# "traces ok". SPDX-License-Identifier: MIT
from tinygrad import Device, Tensor
from tinygrad.device import Compiled, ProfileProgramEvent
from tinygrad.renderer.amd.sqtt import map_insts

a = Tensor([float(i) for i in range(4096)]).realize()
got = (a * 2 + 1).sum().item()
assert got == 4096 * 4096, got
device = Device[Device.DEFAULT]
device.synchronize()
device._at_profile_finalize()
programs = {e.tag: e.lib for e in Compiled.profile_events if isinstance(e, ProfileProgramEvent)}
traces = [e for e in Compiled.profile_events if type(e).__name__ == "ProfileSQTTEvent"]
followed = sum(info is not None for e in traces if e.itrace
               for _, info in map_insts(e.blob, programs[e.kern], device.renderer.target.arch))
print(len(traces), "traces,", followed, "instructions followed")
assert followed > 0
print("traces ok")
