"""librdna3 by ctypes: the C interface, one to one. SPDX-License-Identifier: MIT

The library is the one beside this file (as wheels have it), or what RDNA3_LIBRARY names, or
what the system finds.
"""
import ctypes as c
import ctypes.util
import os

P, U32, U64, SIZE, BOOL = c.c_void_p, c.c_uint32, c.c_uint64, c.c_size_t, c.c_bool
TEXT, OUT = c.c_char_p, c.POINTER

OK, E_NOT_FOUND, E_ENCODING, E_FORMAT, E_FAULT, E_TIMEOUT = 0, -996, -992, -993, -989, -987


def _find():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "librdna3.so")
    for path in (os.environ.get("RDNA3_LIBRARY"), beside):
        if path and os.path.exists(path):
            return path
    found = ctypes.util.find_library("rdna3")
    if not found:
        raise ImportError("there is no librdna3.so: install it, or set RDNA3_LIBRARY")
    return found


class Error(c.Structure):
    _fields_ = [("text", c.c_char * 640)]


class Sized(c.Structure):
    """A struct that begins with its size."""

    def __init__(self, **fields):
        super().__init__(struct_bytes=c.sizeof(type(self)), **fields)


LOG = c.CFUNCTYPE(None, P, c.c_int, TEXT)


class Hooks(Sized):
    _fields_ = [("struct_bytes", SIZE), ("ctx", P), ("alloc", P), ("release", P), ("log", LOG)]


class Operand(c.Structure):
    _fields_ = [("kind", U32), ("flags", U32), ("number", U32), ("dwords", U32),
                ("value", c.c_int64), ("name", c.c_char * 32)]


class Inst(c.Structure):
    _fields_ = [("bytes", U32), ("n_operands", U32), ("mnemonic", TEXT), ("encoding", TEXT),
                ("text", c.c_char * 256), ("operand", Operand * 12)]


class Message(c.Structure):
    _fields_ = [("level", c.c_int), ("file", TEXT), ("line", c.c_uint), ("column", c.c_uint),
                ("text", TEXT), ("source", P), ("source_bytes", SIZE)]


MESSAGE = c.CFUNCTYPE(None, P, OUT(Message))


class AssembleOptions(Sized):
    _fields_ = [("struct_bytes", SIZE), ("name", TEXT), ("wave", c.c_uint),
                ("relocatable", BOOL), ("ctx", P), ("message", MESSAGE)]


class KernelInfo(c.Structure):
    _fields_ = [("name", TEXT), ("address", U64), ("code", P), ("code_bytes", U64),
                ("wave", U32), ("vgprs", U32), ("sgprs", U32), ("lds_bytes", U32),
                ("scratch_bytes", U32), ("kernarg_bytes", U32), ("n_args", U32),
                ("max_work_items", U32), ("required_block", U32 * 3)]


class ArgInfo(c.Structure):
    _fields_ = [("name", TEXT), ("type", TEXT), ("kind", TEXT), ("offset", U32),
                ("bytes", U32), ("hidden", BOOL), ("pointer", BOOL)]


class DeviceConfig(Sized):
    _fields_ = [("struct_bytes", SIZE), ("engine", U32), ("threads", U32), ("seed", U64),
                ("count", BOOL), ("exact_dots", BOOL)]


class Arg(c.Structure):
    _fields_ = [("cls", U32), ("bytes", U32), ("value", P), ("name", TEXT)]


class Launch(Sized):
    _fields_ = [("struct_bytes", SIZE), ("groups", U32 * 3), ("block", U32 * 3),
                ("dynamic_lds_bytes", U32), ("n_args", U32), ("args", OUT(Arg)),
                ("control", P)]


class Fault(c.Structure):
    _fields_ = [("pc", U64), ("offset", U64), ("address", U64), ("bytes", U32),
                ("workgroup", U32 * 3), ("wave", U32), ("lane", c.c_int32), ("write", BOOL),
                ("kind", c.c_char * 48), ("instruction", c.c_char * 160),
                ("text", c.c_char * 1024)]


class Stats(c.Structure):
    _fields_ = [("dispatches", U64), ("workgroups", U64), ("waves", U64),
                ("instructions", U64)]


class WaveInfo(c.Structure):
    _fields_ = [("dispatch", U64), ("group", U64), ("workgroup", U32 * 3), ("index", U32),
                ("lanes", U32), ("slot", U32)]


class Access(c.Structure):
    _fields_ = [("lanes", U64), ("bytes", U32), ("space", U32), ("read", BOOL),
                ("write", BOOL), ("scalar", BOOL), ("address", OUT(U64))]


class Event(c.Structure):
    _fields_ = [("wave", P), ("inst", P), ("mnemonic", TEXT), ("pc", U64), ("next_pc", U64),
                ("index", U64), ("exec", U64), ("time", U64), ("kind", U32), ("flags", U32),
                ("n_accesses", U32), ("access", Access * 8)]


STEP = c.CFUNCTYPE(None, P, OUT(Event))


class Observer(Sized):
    _fields_ = [("struct_bytes", SIZE), ("ctx", P), ("accesses", BOOL), ("wave_begin", P),
                ("step", STEP), ("dispatch_end", P)]


class TimingParameter(c.Structure):
    _fields_ = [("name", TEXT), ("value", c.c_double)]


class TimingConfig(Sized):
    _fields_ = [("struct_bytes", SIZE), ("sclk_mhz", c.c_double), ("sample", U64),
                ("sample_percent", c.c_double), ("warm_code", BOOL), ("warm_kernarg", BOOL),
                ("warm_data", BOOL), ("warm_cache", BOOL), ("waves", BOOL),
                ("instructions", BOOL), ("n_parameters", U32),
                ("parameters", OUT(TimingParameter))]


class CheckConfig(Sized):
    _fields_ = [("struct_bytes", SIZE), ("classes", U32), ("keep_going", BOOL),
                ("race_lanes", BOOL), ("watchdog", U64)]


class Finding(c.Structure):
    _fields_ = [("cls", TEXT), ("kind", TEXT), ("text", TEXT), ("kernel", TEXT),
                ("instruction", TEXT), ("allocation", TEXT), ("pc", U64), ("lanes", U64),
                ("address", U64), ("base", U64), ("size", U64), ("count", U64),
                ("workgroup", U32 * 3), ("wave", U32), ("benign", BOOL)]


STRUCTS = {"error": Error, "hooks": Hooks, "operand": Operand, "inst": Inst,
           "message": Message, "assemble_options": AssembleOptions,
           "kernel_info": KernelInfo, "arg_info": ArgInfo, "device_config": DeviceConfig,
           "arg": Arg, "launch": Launch, "fault": Fault, "stats": Stats,
           "wave_info": WaveInfo, "access": Access, "event": Event, "observer": Observer,
           "timing_parameter": TimingParameter, "timing_config": TimingConfig,
           "check_config": CheckConfig, "finding": Finding}

_V = None
FUNCTIONS = {  # name: (result, arguments)
    "open": (c.c_int, OUT(Hooks), OUT(P)), "close": (_V, P), "release": (_V, P, P),
    "status_text": (TEXT, c.c_int), "version": (TEXT,), "commit": (TEXT,),
    "decode": (c.c_int, P, SIZE, c.c_uint, OUT(Inst)),
    "encode": (c.c_int, TEXT, c.c_uint, P, OUT(c.c_uint), OUT(c.c_uint), OUT(Error)),
    "mnemonic_count": (c.c_uint,), "mnemonic": (TEXT, c.c_uint),
    "assemble": (c.c_int, P, TEXT, SIZE, OUT(AssembleOptions), OUT(P), OUT(SIZE), OUT(Error)),
    "object_open": (c.c_int, P, P, SIZE, OUT(P), OUT(Error)), "object_close": (_V, P),
    "object_kernels": (c.c_uint, P),
    "object_kernel": (c.c_int, P, c.c_uint, OUT(KernelInfo)),
    "object_arg": (c.c_int, P, c.c_uint, c.c_uint, OUT(ArgInfo)),
    "device_create": (c.c_int, P, OUT(DeviceConfig), OUT(P), OUT(Error)),
    "device_destroy": (_V, P),
    "device_map": (c.c_int, P, P, U64, c.c_uint, TEXT, OUT(Error)),
    "device_unmap": (c.c_int, P, P),
    "kernel_load": (c.c_int, P, P, SIZE, TEXT, OUT(P), OUT(Error)),
    "kernel_name": (TEXT, P), "kernel_address": (U64, P), "kernel_wave": (c.c_uint, P),
    "kernel_run": (c.c_int, P, OUT(Launch), OUT(Fault), OUT(Stats), OUT(Error)),
    "kernel_time": (c.c_int, P, OUT(Launch), OUT(TimingConfig), OUT(P), OUT(Fault),
                    OUT(Stats), OUT(Error)),
    "timing_destroy": (_V, P), "timing_cycles": (U64, P), "timing_error": (U64, P),
    "timing_report": (c.c_int, P, c.c_int, OUT(P)),
    "observe": (c.c_int, P, OUT(Observer), OUT(P)), "unobserve": (_V, P),
    "wave_look": (_V, P, OUT(WaveInfo)), "wave_vgpr": (U32, P, c.c_uint, c.c_uint),
    "wave_scalar": (U32, P, c.c_uint), "event_text": (_V, OUT(Event), c.c_char_p, SIZE),
    "check_begin": (c.c_int, P, OUT(CheckConfig), OUT(P), OUT(Error)),
    "check_end": (_V, P), "check_count": (c.c_uint, P),
    "check_finding": (c.c_int, P, c.c_uint, OUT(Finding)),
    "check_fresh": (c.c_int, P, P, U64),
}

_dll = c.CDLL(_find())


class _Functions:
    """lib.decode(...) is rdna3_decode(...)."""

    def __init__(self):
        for name, (result, *arguments) in FUNCTIONS.items():
            function = getattr(_dll, "rdna3_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)


lib = _Functions()
