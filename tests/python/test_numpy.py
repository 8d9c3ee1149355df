"""NumPy arrays are worked on where they lie. SPDX-License-Identifier: MIT"""
import os
import sys

import numpy as np

import rdna3

with open(os.path.join(sys.argv[1], "library/examples/add.s"), encoding="utf-8") as f:
    k = rdna3.Kernel(f.read())
a = np.arange(512, dtype=np.float32)
out = np.zeros(512, dtype=np.float32)
k.run(a[256:], out, grid=4, block=64)
assert (out[:256] == a[256:] + 1).all() and (out[256:] == 0).all()
try:
    k.run(a[::2], out)
    sys.exit("an array with gaps was taken")
except (BufferError, ValueError) as e:
    print(e)
a.flags.writeable = False
try:
    k.run(out, a, block=64)
    sys.exit("read-only memory was written")
except rdna3.Fault as e:
    print(e)
