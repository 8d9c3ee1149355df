# interpose.py: every way in which a program meets the mocked files must agree.
# SPDX-License-Identifier: MIT
import ctypes
import fcntl
import mmap
import os
import select
import stat
import struct
import subprocess

GET_VERSION = 0x80084B01
TOPOLOGY = "/sys/devices/virtual/kfd/kfd/topology"


def version(fd, ioctl=fcntl.ioctl):
    buf = bytearray(8)
    assert ioctl(fd, GET_VERSION, buf) == 0
    assert struct.unpack("II", buf) == (1, 17)


fd = os.open("/dev/kfd", os.O_RDWR | os.O_CLOEXEC)
version(fd)
version(os.dup(fd))
version(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 50))
with open("/dev/kfd", "r+b", buffering=0) as f:
    version(f.fileno())

# libc by handle, as ctypes users do
libc = ctypes.CDLL("libc.so.6", use_errno=True)
raw = libc.open(b"/dev/kfd", os.O_RDWR)
assert raw >= 0
buf = ctypes.create_string_buffer(8)
assert libc.ioctl(raw, ctypes.c_ulong(GET_VERSION), buf) == 0
assert libc.ioctl(raw, ctypes.c_ulong(0xC0104B70), buf) == -1 and ctypes.get_errno() == 25

# a file that is not ours keeps its own ioctls
r, w = os.pipe()
os.write(w, b"abc")
assert fcntl.ioctl(r, 0x541B, struct.pack("i", 0)) == struct.pack("i", 3)

st = os.stat("/dev/dri/renderD128")
assert stat.S_ISCHR(st.st_mode) and (os.major(st.st_rdev), os.minor(st.st_rdev)) == (226, 128)
assert stat.S_ISCHR(os.fstat(fd).st_mode)
assert os.path.islink("/sys/class/kfd/kfd") and not os.readlink("/sys/class/kfd/kfd").startswith("/")
assert sorted(os.listdir(TOPOLOGY + "/nodes")) == ["0", "1"]
assert {e.name for e in os.scandir("/dev/dri")} >= {"card0", "renderD128"}

# both DRM nodes show a buffer's memory
bo = bytearray(struct.pack("4Q", 4096, 4096, 2, 0))
card, render = os.open("/dev/dri/card0", os.O_RDWR), os.open("/dev/dri/renderD128", os.O_RDWR)
fcntl.ioctl(card, 0xC0206440, bo)
where = bytearray(bo[:4] + bytes(4))
fcntl.ioctl(card, 0xC0086441, where)
views = [mmap.mmap(f, 4096, offset=struct.unpack("Q", where)[0]) for f in (card, render)]
views[0][:4] = b"seen"
assert views[1][:4] == b"seen"
# ... and so does a descriptor that was exported
shared = bytearray(bo[:4] + struct.pack("Ii", 0x80002, -1))
fcntl.ioctl(card, 0xC00C642D, shared)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t] + 3 * [ctypes.c_int] + [ctypes.c_long]
view = libc.mmap(None, 4096, 3, 1, struct.unpack("4xIi", shared)[1], 0)
assert ctypes.string_at(view, 4) == b"seen"
assert libc.mmap(None, 8192, 3, 1, struct.unpack("4xIi", shared)[1], 0) == 2**64 - 1

# a context is told that somebody had the board reset, once
def query(op, context=0):
    args = bytearray(struct.pack("4I", op, 0, context, 0))
    fcntl.ioctl(render, 0xC0106442, args)
    return args


context = struct.unpack("I", query(1)[:4])[0]
states = [struct.unpack("I", query(3, context)[12:])[0]]
assert int(open("/sys/kernel/debug/dri/0/amdgpu_gpu_recover").read()) == 0

# A software timeline is made by opening its file; its fence ends when it says.
timeline = os.open("/sys/kernel/debug/sync/sw_sync", os.O_RDWR)
point = bytearray(struct.pack("I32si", 1, b"", -1))
fcntl.ioctl(timeline, 0xC0285700, point)
poll = select.poll()
poll.register(struct.unpack("I32si", point)[2], select.POLLIN)
assert not poll.poll(0)
fcntl.ioctl(timeline, 0x40045701, struct.pack("I", 1))
assert poll.poll(0)
os.close(timeline)
states += [struct.unpack("I", query(3, context)[12:])[0] for _ in range(2)]
assert states == [0, 3, 0], states
assert open("/sys/kernel/debug/dri/128/name").read().startswith("amdgpu dev=0000:03:00.0")

# a program that is started with an environment of its own still finds them
see = """import fcntl, os
os.stat("/sys/class/kfd/kfd/topology/nodes/1")
fcntl.ioctl(os.open("/dev/kfd", os.O_RDWR), 0x80084B01, bytearray(8))"""
python = os.path.realpath("/proc/self/exe")
own = {k: v for k, v in os.environ.items() if k == "ASAN_OPTIONS"} # none but what a sanitizer needs
for start in (lambda a: os.posix_spawn(python, a, own), lambda a: os.spawnve(os.P_NOWAIT, python, a, own)):
    assert os.waitpid(start([python, "-c", see]), 0)[1] == 0

props = dict(line.split() for line in open("/sys/class/kfd/kfd/topology/nodes/1/properties"))
assert props["gfx_target_version"] == "110000" and props["simd_count"] == "192"
assert len(os.listdir(TOPOLOGY + "/nodes/1/caches")) == int(props["caches_count"])
device = os.path.realpath("/sys/class/drm/renderD128/device")
assert device == os.path.realpath("/sys/bus/pci/devices/0000:03:00.0"), device
assert open("/sys/dev/char/226:128/device/device").read() == "0x744c\n"
assert "queue" in open(device + "/gfx_reset_mask").read().split()
assert open(device + "/config", "rb").read(4) == bytes.fromhex("02104c74")
assert any(line.startswith("amdgpu ") for line in open("/proc/modules"))
assert not os.path.exists("/dev/dri/renderD129")
dirfd = os.open(device, os.O_RDONLY)
assert os.open("vendor", os.O_RDONLY, dir_fd=dirfd) >= 0

# file systems are those of the real places
SYSFS, PROC, TMPFS = 0x62656572, 0x9FA0, 0x01021994


def magic(call, *args):
    buf = ctypes.create_string_buffer(256)
    assert call(*args, buf) == 0, args
    return struct.unpack_from("l", buf.raw)[0]


for path, want in ((TOPOLOGY + "/system_properties", SYSFS), ("/sys/class/kfd", SYSFS),
                   (device + "/vendor", SYSFS), ("/sys/module/amdgpu/version", SYSFS),
                   ("/proc/modules", PROC), ("/dev/kfd", TMPFS), ("/dev/dri", TMPFS)):
    fs = os.open(path, os.O_RDONLY)
    for name in ("statfs", "statfs64"):
        assert magic(getattr(libc, name), path.encode()) == want, path
        assert magic(getattr(libc, "f" + name), fs) == want, path
    v, f = os.statvfs(path), os.fstatvfs(fs)
    assert v.f_bsize == f.f_bsize and v.f_blocks == f.f_blocks, path
    if want != TMPFS:
        assert v.f_blocks == f.f_bfree == 0, path
    os.close(fs)
assert magic(libc.statfs, b"/usr") not in (SYSFS, PROC)

# children of every kind
child = os.fork()
if child == 0:
    version(os.open("/dev/kfd", os.O_RDWR))
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert "ip discovery" in os.popen("cat /sys/class/kfd/kfd/topology/nodes/1/name").read()
assert subprocess.check_output(["stat", "-c", "%F", "/dev/kfd"]) == b"character special file\n"

print("interposition ok")
