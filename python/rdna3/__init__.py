"""rdna3: an emulator of AMD's RDNA3 GPUs (gfx1100), without a GPU.

    import rdna3
    k = rdna3.Kernel(open("vector_add.hsaco", "rb").read())
    r = k.run(a, b, out, 1024, grid=4, check="all")     # NumPy arrays, not copied
    t = k.time(a, b, out, 1024, grid=4)                 # t.cycles, t.counters, t.waves

SPDX-License-Identifier: MIT
"""
from ._lib import lib as _functions
from .code import (AssembleError, Instruction, Object, Rdna3Error, assemble, disassemble,
                   encode)
from .run import Device, Fault, Kernel, Result, Scalar, Timing

__version__ = _functions.version().decode()
__all__ = ["AssembleError", "Device", "Fault", "Instruction", "Kernel", "Object",
           "Rdna3Error", "Result", "Scalar", "Timing", "assemble", "disassemble", "encode"]
