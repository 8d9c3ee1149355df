"""Running kernels on the emulator. SPDX-License-Identifier: MIT"""
import ctypes as c
import json
import struct
from collections import namedtuple

from . import _lib
from ._lib import lib
from .code import Library, Object, Rdna3Error, assemble, check, decode_text

Stats = namedtuple("Stats", "dispatches workgroups waves instructions")
Finding = namedtuple("Finding", "cls kind text kernel instruction allocation offset lanes "
                     "address base size count workgroup wave benign")
Event = namedtuple("Event", "workgroup wave index offset mnemonic text exec accesses")
Access = namedtuple("Access", "space bytes read write addresses")
Result = namedtuple("Result", "stats findings trace")

CHECKS = {"mem": 1, "init": 2, "race": 4, "wait": 8, "sync": 16, "value": 32, "all": 31}
ENGINES = {"auto": 0, "interp": 1, "jit": 2}
_SPACES = ("global", "lds", "scratch", "gds")
_CODES = {"i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q",
          "u64": "Q", "f16": "e", "f32": "f", "f64": "d"}


class Fault(Rdna3Error):
    """A kernel faulted: kind, offset (of the PC in the kernel), workgroup, wave, lane,
    address, instruction."""

    def __init__(self, f):
        super().__init__(decode_text(f.text))
        self.kind, self.instruction = decode_text(f.kind), decode_text(f.instruction)
        self.offset, self.address, self.write = f.offset, f.address, f.write
        self.workgroup, self.wave, self.lane = tuple(f.workgroup), f.wave, f.lane
        self.findings = []  # what checkers had found by then


class Scalar:
    """A number of a given type as an argument: rdna3.Scalar("u16", 5)."""

    def __init__(self, kind, value):
        self.raw = struct.pack("<" + _CODES[kind], value)
        self.is_float = kind[0] == "f"


class _Buffer(c.Structure):
    """Py_buffer of the interpreter, as far as it is looked at."""
    _fields_ = [("buf", c.c_void_p), ("obj", c.c_void_p), ("len", c.c_ssize_t),
                ("itemsize", c.c_ssize_t), ("readonly", c.c_int), ("rest", c.c_byte * 128)]


class _Memory:
    """The memory of an object with the buffer protocol (NumPy arrays, bytearray,
    array.array, memoryview), held while a kernel sees it: nothing is copied."""

    def __init__(self, owner):
        self.view = _Buffer()
        get = c.pythonapi.PyObject_GetBuffer
        get.argtypes, get.restype = [c.py_object, c.POINTER(_Buffer), c.c_int], c.c_int
        self.writable = True
        try:
            get(owner, self.view, 1)  # PyBUF_WRITABLE: contiguous
        except (BufferError, TypeError, ValueError):
            self.writable = False
            get(owner, self.view, 0)
        self.address, self.bytes = self.view.buf, self.view.len

    def release(self):
        release = c.pythonapi.PyBuffer_Release
        release.argtypes, release.restype = [c.POINTER(_Buffer)], None
        release(self.view)


class Device:
    """An emulated gfx1100."""

    def __init__(self, engine="auto", threads=0, seed=0, exact_dots=False, log=None):
        self.library = Library(log)
        config = _lib.DeviceConfig(engine=ENGINES[engine], threads=threads, seed=seed,
                                   exact_dots=exact_dots)
        self.handle, error = c.c_void_p(), _lib.Error()
        check(lib.device_create(self.library.handle, config, self.handle, error), error)

    def __del__(self):
        if getattr(self, "handle", None):
            lib.device_destroy(self.handle)


def _dims(value):
    value = (value,) if isinstance(value, int) else tuple(value)
    return (c.c_uint32 * 3)(*value, *[1] * (3 - len(value)))


class Kernel:
    """A kernel of a code object (bytes), or of assembly text (str)."""

    def __init__(self, source, name=None, device=None):
        data = assemble(source) if isinstance(source, str) else bytes(source)
        self.object = Object(data)
        self.info = self.object.kernel(name)
        self.device = device or Device()
        self.handle, error = c.c_void_p(), _lib.Error()
        check(lib.kernel_load(self.device.handle, data, len(data), self.info.name.encode(),
                              self.handle, error), error)

    def run(self, *args, grid=1, block=None, dynamic_lds=0, check=None, keep_going=False,
            fresh=(), trace=False):
        """Run it to its end; arguments in order: objects with the buffer protocol are
        pointers to their own memory, numbers have the size that the kernel's metadata says
        (i32 and f32 without), rdna3.Scalar its own, bytes are read-only memory.

        check       a class of mistakes ("mem", "race" ...), several in a list, or "all"
        keep_going  the first finding does not end the run
        fresh       arguments whose memory holds nothing yet
        trace       record every instruction in the result's trace
        Returns Result(stats, findings, trace). Raises Fault.
        """
        events, found = [], []
        with _Prepared(self, args, grid, block, dynamic_lds) as p:
            checker = p.begin_check(check, keep_going, fresh)
            watch = p.watch(events) if trace else None
            fault, stats, error = _lib.Fault(), _lib.Stats(), _lib.Error()
            try:
                status = lib.kernel_run(self.handle, p.launch, fault, stats, error)
                found = p.findings(checker)
            finally:
                if watch:
                    lib.unobserve(watch)
                if checker:
                    lib.check_end(checker)
        if not found or status != _lib.E_TIMEOUT:
            _raise(status, fault, error, found)
        return Result(_stats(stats), found, events)

    def time(self, *args, grid=1, block=None, dynamic_lds=0, sclk_mhz=0, sample=0,
             waves=True, instructions=False, parameters=None):
        """Run it under the timing model. Arguments as run. Returns Timing."""
        parameters = parameters or {}
        rows = (_lib.TimingParameter * max(1, len(parameters)))(
            *[_lib.TimingParameter(k.encode(), v) for k, v in parameters.items()])
        config = _lib.TimingConfig(sclk_mhz=sclk_mhz, sample=sample, waves=waves,
                                   instructions=instructions, n_parameters=len(parameters),
                                   parameters=rows)
        fault, stats, error, handle = _lib.Fault(), _lib.Stats(), _lib.Error(), c.c_void_p()
        with _Prepared(self, args, grid, block, dynamic_lds) as p:
            status = lib.kernel_time(self.handle, p.launch, config, handle, fault, stats,
                                     error)
        _raise(status, fault, error)
        return Timing(self.device.library, handle, _stats(stats))


def _raise(status, fault, error, found=()):
    if status == _lib.E_FAULT:
        failed = Fault(fault)
        failed.findings = list(found)
        raise failed
    check(status, error)


def _stats(s):
    return Stats(s.dispatches, s.workgroups, s.waves, s.instructions)


class _Prepared:
    """A launch with its memory mapped."""

    def __init__(self, kernel, args, grid, block, dynamic_lds):
        self.kernel, self.device = kernel, kernel.device.handle
        self.memories, self.values, self.mapped = {}, [], []
        self.explicit = [a for a in kernel.info.args if not a.hidden]
        rows = [self._row(i, a) for i, a in enumerate(args)]
        self.args = (_lib.Arg * max(1, len(rows)))(*rows)
        self.launch = _lib.Launch(groups=_dims(grid), n_args=len(rows), args=self.args,
                                  dynamic_lds_bytes=dynamic_lds)
        if block is not None:
            self.launch.block = _dims(block)

    def _row(self, i, a):
        info = self.explicit[i] if i < len(self.explicit) else None
        if isinstance(a, Scalar):
            cls, raw = int(a.is_float), a.raw
        elif isinstance(a, (bool, int)):
            raw = a.to_bytes(info.bytes if info else 4, "little", signed=a < 0)
            cls = 2 if info and info.pointer else 0
        elif isinstance(a, float):
            cls, raw = 1, struct.pack("<" + {2: "e", 8: "d"}.get(info.bytes if info else 4,
                                                                 "f"), a)
        elif hasattr(a, "dtype") and not getattr(a, "shape", None):  # a scalar of NumPy's
            cls, raw = int(a.dtype.kind == "f"), a.tobytes()
        else:
            memory = self.memories.get(id(a)) or _Memory(a)
            self.memories[id(a)] = memory
            cls, raw = 2, struct.pack("<Q", memory.address)
        value = c.create_string_buffer(raw, len(raw))
        self.values.append(value)
        return _lib.Arg(cls, len(raw), c.addressof(value), f"argument {i}".encode())

    def __enter__(self):
        error = _lib.Error()
        try:
            for i, m in enumerate(self.memories.values()):
                if m.bytes:
                    check(lib.device_map(self.device, m.address, m.bytes,
                                         3 if m.writable else 1, f"buffer {i}".encode(),
                                         error), error)
                    self.mapped.append(m.address)
        except Rdna3Error:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for address in self.mapped:
            lib.device_unmap(self.device, address)
        for m in self.memories.values():
            m.release()
        self.memories, self.mapped = {}, []

    def begin_check(self, classes, keep_going, fresh):
        if not classes:
            return None
        names = [classes] if isinstance(classes, str) else classes
        bits = 0
        for name in names:
            bits |= CHECKS[name]
        handle, error = c.c_void_p(), _lib.Error()
        check(lib.check_begin(self.device, _lib.CheckConfig(
            classes=bits, keep_going=keep_going), handle, error), error)
        for a in fresh:
            m = self.memories[id(a)]
            check(lib.check_fresh(handle, m.address, m.bytes), error)
        return handle

    def findings(self, checker):
        found, f = [], _lib.Finding()
        base = lib.kernel_address(self.kernel.handle)
        for i in range(lib.check_count(checker) if checker else 0):
            check(lib.check_finding(checker, i, f), _lib.Error())
            found.append(Finding(
                *[decode_text(t) for t in (f.cls, f.kind, f.text, f.kernel, f.instruction,
                                           f.allocation)],
                f.pc - base, f.lanes, f.address, f.base, f.size, f.count,
                tuple(f.workgroup), f.wave, f.benign))
        return found

    def watch(self, events):
        base = lib.kernel_address(self.kernel.handle)
        wave, text = _lib.WaveInfo(), c.create_string_buffer(256)

        def step(_, pointer):
            e = pointer.contents
            lib.wave_look(e.wave, wave)
            lib.event_text(pointer, text, len(text))
            accesses = [Access(_SPACES[a.space], a.bytes, a.read, a.write,
                               {lane: a.address[lane] for lane in range(64)
                                if a.lanes >> lane & 1}) for a in e.access[:e.n_accesses]]
            events.append(Event(tuple(wave.workgroup), wave.index, e.index, e.pc - base,
                                decode_text(e.mnemonic), decode_text(text.value), e.exec,
                                accesses))

        self.step = _lib.STEP(step)
        handle = c.c_void_p()
        check(lib.observe(self.device, _lib.Observer(accesses=True, step=self.step), handle),
              _lib.Error())
        return handle


class Timing:
    """A timed run: cycles, error (of a sampled run), stats, data (the JSON object with
    counters and waves), summary and listing (texts)."""

    def __init__(self, library, handle, stats):
        self.stats = stats
        self.cycles, self.error = lib.timing_cycles(handle), lib.timing_error(handle)
        texts = []
        try:
            for what in range(3):
                text = c.c_void_p()
                check(lib.timing_report(handle, what, text), _lib.Error())
                texts.append(decode_text(c.string_at(text)))
                lib.release(library.handle, text)
        finally:
            lib.timing_destroy(handle)
        self.data, self.summary, self.listing = json.loads(texts[0]), texts[1], texts[2]

    @property
    def counters(self):
        return self.data["counters"]

    @property
    def waves(self):
        """A table: a dict per wave (wg, wave, se, sa, wgp, simd, slot, start, end)."""
        return self.data.get("waves", [])

    def occupancy(self):
        """[(cycle, waves in flight from then on)]."""
        changes = {}
        for w in self.waves:
            changes[w["start"]] = changes.get(w["start"], 0) + 1
            changes[w["end"]] = changes.get(w["end"], 0) - 1
        rows, now = [], 0
        for cycle in sorted(changes):
            now += changes[cycle]
            rows.append((cycle, now))
        return rows
