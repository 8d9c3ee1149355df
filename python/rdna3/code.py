"""Assembling, disassembling, looking into code objects. SPDX-License-Identifier: MIT"""
import ctypes as c
from collections import namedtuple

from . import _lib
from ._lib import lib


class Rdna3Error(Exception):
    """Something that librdna3 refused; its text says what and why."""


Message = namedtuple("Message", "level file line column text")


class AssembleError(Rdna3Error):
    """Source text with errors; messages has all of them."""

    def __init__(self, text, messages=()):
        super().__init__(text)
        self.messages = list(messages)


Operand = namedtuple("Operand", "name kind value dwords read written implicit")
Instruction = namedtuple("Instruction", "offset bytes mnemonic encoding text operands")
KernelInfo = namedtuple("KernelInfo", "name wave vgprs sgprs lds_bytes scratch_bytes "
                        "kernarg_bytes max_work_items required_block args code")
ArgInfo = namedtuple("ArgInfo", "name type kind offset bytes hidden pointer")

_KINDS = ("register", "literal", "immediate", "other")


def decode_text(text):
    return (text or b"").decode("utf-8", "replace")


def check(status, error):
    """Raise what a status means."""
    if status != _lib.OK:
        text = decode_text(error.text) or decode_text(lib.status_text(status))
        raise Rdna3Error(text)


class Library:
    """A use of the library; log is called with (level, text)."""

    def __init__(self, log=None):
        self._log = _lib.LOG(lambda _, level, text: log(level, decode_text(text))) if log \
            else _lib.LOG()
        hooks = _lib.Hooks(log=self._log)
        self.handle = c.c_void_p()
        check(lib.open(hooks, self.handle), _lib.Error())

    def __del__(self):
        if getattr(self, "handle", None):
            lib.close(self.handle)


_default = []


def default_library():
    if not _default:
        _default.append(Library())
    return _default[0]


def encode(statement, wave=32):
    """One statement to its bytes."""
    code, size, column = (c.c_uint8 * 12)(), c.c_uint(), c.c_uint()
    error = _lib.Error()
    if lib.encode(statement.encode(), wave, code, size, column, error) != _lib.OK:
        text = decode_text(error.text)
        raise AssembleError(f"column {column.value}: {text}",
                            [Message("error", "", 1, column.value, text)])
    return bytes(code[:size.value])


def assemble(text, wave=32, name="<string>", relocatable=False):
    """Source text to a code object (bytes that rdna3.Kernel and ROCm load).

    Raises AssembleError with every message.
    """
    messages = []

    def take(_, m):
        m = m.contents
        messages.append(Message(("error", "warning", "note")[m.level], decode_text(m.file),
                                m.line, m.column, decode_text(m.text)))

    options = _lib.AssembleOptions(name=name.encode(), wave=wave, relocatable=relocatable,
                                   message=_lib.MESSAGE(take))
    data, size, error = c.c_void_p(), c.c_size_t(), _lib.Error()
    library, raw = default_library(), text.encode()
    if lib.assemble(library.handle, raw, len(raw), options, data, size, error) != _lib.OK:
        raise AssembleError(decode_text(error.text), messages)
    try:
        return c.string_at(data, size.value)
    finally:
        lib.release(library.handle, data)


def disassemble(code, wave=32):
    """Bytes of instructions to a list of Instruction. What is none has mnemonic None."""
    code = bytes(code)
    buffer = c.create_string_buffer(code, len(code))
    out, at, inst = [], 0, _lib.Inst()
    while at < len(code):
        if lib.decode(c.byref(buffer, at), len(code) - at, wave, inst) == _lib.OK:
            out.append(Instruction(at, code[at:at + inst.bytes], decode_text(inst.mnemonic),
                                   decode_text(inst.encoding), decode_text(inst.text),
                                   [_operand(o) for o in inst.operand[:inst.n_operands]]))
            at += inst.bytes
        else:
            raw = code[at:at + 4]
            out.append(Instruction(at, raw, None, None, ".byte " + ", ".join(
                f"0x{b:02x}" for b in raw), []))
            at += 4
    return out


def _operand(o):
    return Operand(decode_text(o.name), _KINDS[o.kind], o.value, o.dwords,
                   bool(o.flags & 1), bool(o.flags & 2), bool(o.flags & 4))


class Object:
    """A code object: kernels is a list of KernelInfo."""

    def __init__(self, data):
        self.data = bytes(data)
        handle, error = c.c_void_p(), _lib.Error()
        check(lib.object_open(default_library().handle, self.data, len(self.data), handle,
                              error), error)
        try:
            self.kernels = [self._kernel(handle, i) for i in range(lib.object_kernels(handle))]
        finally:
            lib.object_close(handle)

    @staticmethod
    def _kernel(handle, index):
        k, a = _lib.KernelInfo(), _lib.ArgInfo()
        check(lib.object_kernel(handle, index, k), _lib.Error())
        args = []
        for i in range(k.n_args):
            check(lib.object_arg(handle, index, i, a), _lib.Error())
            args.append(ArgInfo(decode_text(a.name), decode_text(a.type),
                                decode_text(a.kind), a.offset, a.bytes, a.hidden, a.pointer))
        code = c.string_at(k.code, k.code_bytes) if k.code else b""
        return KernelInfo(decode_text(k.name), k.wave, k.vgprs, k.sgprs, k.lds_bytes,
                          k.scratch_bytes, k.kernarg_bytes, k.max_work_items,
                          tuple(k.required_block), args, code)

    def kernel(self, name=None):
        """The kernel of that name, or the only one."""
        found = [k for k in self.kernels if name in (None, k.name)]
        if len(found) != 1:
            raise Rdna3Error(f"kernel {name!r}: there are "
                             + ", ".join(k.name for k in self.kernels))
        return found[0]
