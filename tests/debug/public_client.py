#!/usr/bin/env python3
"""A session with a client library that nobody here wrote: dap-python (PyPI). What the
adapter sends must be what the library's models of the protocol accept.

    PYTHONPATH=... public_client.py RDNA3
"""
# SPDX-License-Identifier: MIT
import os
import shutil
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from sessions import FAILED, HERE, RDNA3, compile_cl, expect  # noqa: E402

sys.path = [p for p in sys.path if os.path.abspath(p or ".") != HERE] # with its own dap.py
try:
    import dap
    from dap.types import DataBreakpoint, Source, SourceBreakpoint
except ImportError:
    print("skipped: the Python package dap-python is not installed")
    sys.exit(77)


def lenient():
    """Where the library (0.5) differs from the protocol's specification: it takes the body
    of a response that has none for the response itself, and numbers of breakpoints for
    texts."""
    for name in dir(dap.responses):
        if name.endswith("Done"):
            getattr(dap.responses, name).model_validate = classmethod(lambda cls, body: cls)
    strict = dap.events.StoppedEvent.model_validate

    def stopped(body):
        ids = body.get("hitBreakpointIds")
        return strict({**body, "hitBreakpointIds": [str(i) for i in ids]} if ids else body)

    dap.events.StoppedEvent.model_validate = stopped


def plain(model):
    return model.model_dump(exclude_none=True)


class Session:
    def __init__(self):
        self.p = subprocess.Popen([RDNA3, "debug", "--dap"], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)
        self.client = dap.Client("rdna3")
        self.seen = []

    def silent(self):
        FAILED.append("silence")
        self.p.kill()

    def wait(self, *kinds):
        """The next message of one of these classes."""
        self.p.stdin.write(self.client.send())
        self.p.stdin.flush()
        while True:
            for m in self.seen:
                if type(m).__name__ in kinds:
                    self.seen.remove(m)
                    return m
            timer = threading.Timer(120, self.silent)
            timer.start()
            data = os.read(self.p.stdout.fileno(), 65536)
            timer.cancel()
            if not data:
                expect(f"{kinds} comes", False, self.seen)
                sys.exit(1)
            self.seen += self.client.receive(data)


def main():
    if not shutil.which("clang-19"):
        print("skipped: clang-19 is not installed")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        path = compile_cl(folder, "wrong_lane", "-O0")
        lenient()
        s = Session()
        c = s.client
        s.wait("Initialized")
        c.send_request("launch", {"command": [
            RDNA3, "run", "--device", "kfd", path, "--block", "64", "--arg",
            "buf:256:iota=i32", "--arg", "buf:256", "--print", "1:i32:8"], "code": path})
        s.wait("InitializedEvent")
        source = plain(Source(name="wrong_lane.cl", path=os.path.join(HERE, "wrong_lane.cl")))
        c.set_breakpoints(source, [plain(SourceBreakpoint(line=16, condition="i == 5"))])
        points = s.wait("SetBreakpointsResponse").breakpoints
        expect("it waits", not points[0].verified, points)
        c.configuration_done()
        stop = s.wait("StoppedEvent")
        expect("it stops", stop.reason == "breakpoint", stop)
        c.stack_trace(stop.threadId)
        frame = s.wait("StackTraceResponse").stackFrames[0]
        expect("where", frame.name == "turn" and frame.line == 16, frame)
        c.scopes(frame.id)
        scopes = s.wait("ScopesResponse").scopes
        c.variables(scopes[0].variablesReference)
        names = {v.name: v for v in s.wait("VariablesResponse").variables}
        expect("the wrong one", names["from"].value == "57", names)
        c.data_breakpoint_info("tile[from]", frameId=frame.id)
        info = s.wait("DataBreakpointInfoResponse")
        c.set_data_breakpoints([plain(DataBreakpoint(dataId=info.dataId, accessType="write"))])
        s.wait("SetDataBreakpointsResponse")
        c.reverse_continue(stop.threadId)
        stop = s.wait("StoppedEvent")
        expect("back to who wrote it", stop.reason == "data breakpoint", stop)
        c.set_data_breakpoints([])
        s.wait("SetDataBreakpointsResponse")
        c.continue_(stop.threadId)
        stop = s.wait("StoppedEvent")
        c.stack_trace(stop.threadId)
        frame = s.wait("StackTraceResponse").stackFrames[0]
        c.scopes(frame.id)
        scopes = s.wait("ScopesResponse").scopes
        c.set_variable(scopes[0].variablesReference, "from", "58")
        expect("set", s.wait("SetVariableResponse").value == "58")
        c.set_breakpoints(source, [])
        c.continue_(stop.threadId)
        expect("exit status", s.wait("ExitedEvent").exitCode == 0)
        said = "".join(m.output for m in s.seen if type(m).__name__ == "OutputEvent" and
                       m.category == "stdout")
        expect("what it prints", "62 61 60 59 58 58 56 55" in said, said)
        s.wait("TerminatedEvent")
        c.disconnect()
        s.p.stdin.write(c.send())
        s.p.stdin.close()
        expect("the adapter ends", s.p.wait(60) == 0)
    print(f"{len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
