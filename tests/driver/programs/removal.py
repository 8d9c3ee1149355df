# removal.py: the device is taken away and comes back, for all who have it.
# SPDX-License-Identifier: MIT
import errno
import fcntl
import os
import struct


def query(op, context=0):
    args = bytearray(struct.pack("4I", op, 0, context, 0))
    fcntl.ioctl(node, 0xC0106442, args)
    return args


def tell(path, text):
    control = os.open(path, os.O_WRONLY)
    os.write(control, text)
    os.close(control)


pci = os.path.realpath("/sys/bus/pci/devices/0000:03:00.0")
driver = "/sys/bus/pci/drivers/amdgpu/"
node = os.open("/dev/dri/renderD128", os.O_RDWR)
# without its driver it has no nodes
for away, back, text in ((pci + "/remove", "/sys/bus/pci/rescan", b"1"),
                         (driver + "unbind", driver + "bind", b"0000:03:00.0\n")):
    tell(away, text)
    assert not os.path.exists("/dev/dri/renderD128") and not os.path.exists("/sys/class/drm/card0")
    assert os.path.exists(pci) == (text != b"1")
    try:
        query(1)
        assert False
    except OSError as e:
        assert e.errno == errno.ENODEV
    tell(back, text)
    assert os.path.exists("/dev/dri/renderD128") and os.path.exists("/sys/class/drm/card0/device/driver")
    context = struct.unpack("I", query(1)[:4])[0]
tell(pci + "/reset", b"1")
assert struct.unpack("I", query(3, context)[12:])[0] == 3
print("removal ok")
