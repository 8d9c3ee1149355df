# sizes.py GIB: every interface tells the same size of the VRAM. SPDX-License-Identifier: MIT
import ctypes
import fcntl
import os
import struct
import sys

want = int(sys.argv[1]) << 30
memory = ctypes.create_string_buffer(96)
fd = os.open("/dev/dri/renderD128", os.O_RDWR)
fcntl.ioctl(fd, 0x40206445, struct.pack("QIIQQ", ctypes.addressof(memory), 96, 0x19, 0, 0))
vram, _, _, _, visible, _, _, _, gtt = struct.unpack_from("9Q", memory.raw)
device = "/sys/class/drm/renderD128/device/"
node = "/sys/class/kfd/kfd/topology/nodes/1/"
number = lambda path: int(open(path).read())
bank = dict(line.split() for line in open(node + "mem_banks/0/properties"))
assert vram == visible == want, (vram, visible, want)
assert number(device + "mem_info_vram_total") == want
assert number(device + "mem_info_vis_vram_total") == want
assert int(bank["size_in_bytes"]) == want, bank
assert number(device + "mem_info_gtt_total") == gtt
first, last, _ = (int(x, 16) for x in open(device + "resource").readline().split())
window = last - first + 1
assert window >= want and window & (window - 1) == 0 and first % window == 0
assert os.stat(device + "resource0").st_size == window
print("sizes ok")
