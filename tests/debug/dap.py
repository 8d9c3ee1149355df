#!/usr/bin/env python3
"""A session through the Debug Adapter Protocol, and messages that are none.

    dap.py RDNA3

The client is this file: what comes and goes is the protocol's own text.
"""
# SPDX-License-Identifier: MIT
import base64
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import sessions  # noqa: E402
from sessions import FAILED, HERE, RDNA3, assemble, compile_cl, expect  # noqa: E402


PATIENCE = 150  # seconds for a message: with sanitizers on a loaded machine


class Client:
    def __init__(self, stream=None, p=None):
        self.p = p
        if not stream:
            self.p = subprocess.Popen([RDNA3, "debug", "--dap"], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.to = stream or self.p.stdin
        self.back = stream or self.p.stdout
        self.seq, self.events = 0, []

    def send(self, command, /, **arguments):
        self.seq += 1
        body = json.dumps({"seq": self.seq, "type": "request", "command": command,
                           "arguments": arguments}).encode()
        self.raw(body)
        return self.seq

    def raw(self, body):
        self.to.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.to.flush()

    def silent(self):
        print(f"no message for {PATIENCE} s; the last request was number {self.seq}")
        FAILED.append("silence")
        self.p.kill()

    def read(self):
        timer = threading.Timer(PATIENCE, self.silent)
        timer.start()
        try:
            line = self.back.readline()
            if not line:
                return None
            length = int(line.split(b":")[1])
            self.back.readline()
            return json.loads(self.back.read(length))
        finally:
            timer.cancel()

    def response(self, seq):
        while (m := self.read()) is not None:
            if m["type"] == "response" and m["request_seq"] == seq:
                return m
            self.events.append(m)
        return {"success": False, "message": "the adapter has gone"}

    def ask(self, command, /, **arguments):
        m = self.response(self.send(command, **arguments))
        expect(f"{command} succeeds", m["success"], json.dumps(m))
        return m.get("body") or {}

    def refused(self, why, command, /, **arguments):
        m = self.response(self.send(command, **arguments))
        expect(f"{command} is refused with '{why}'",
               not m["success"] and why in m.get("message", ""), json.dumps(m))

    def event(self, name):
        for i, m in enumerate(self.events):
            if m.get("event") == name:
                return self.events.pop(i)["body"]
        while (m := self.read()) is not None:
            if m.get("event") == name:
                return m["body"]
            self.events.append(m)
        expect(f"event {name} comes", False)
        return {}

    def end(self):
        out, err = self.p.communicate(timeout=60)
        return self.p.returncode, err.decode()


def by_name(items):
    return {x["name"]: x for x in items}


def by_label(items):
    return {x["label"]: x for x in items}


def look(c, source):
    """At a stop in `turn`: frames, variables, memory, code."""
    frames = c.ask("stackTrace", threadId=1)["stackFrames"]
    expect("the frame", frames[0]["name"] == "turn" and frames[0]["line"] == 16 and
           frames[0]["source"]["path"] == source, json.dumps(frames))
    scopes = by_name(c.ask("scopes", frameId=frames[0]["id"])["scopes"])
    expect("the scopes", list(scopes) == ["Locals", "VGPRs of lane 0", "SGPRs", "Special"],
           json.dumps(scopes))
    names = by_name(c.ask("variables", variablesReference=scopes["Locals"]
                          ["variablesReference"])["variables"])
    expect("locals", names["from"]["value"] == "62" and names["i"]["value"] == "0" and
           names["from"]["type"] == "int", json.dumps(names))
    tile = c.ask("variables", variablesReference=names["tile"]["variablesReference"],
                 start=3, count=2)["variables"]
    expect("elements", [x["value"] for x in tile] == ["3", "4"] and
           tile[0]["evaluateName"] == "tile[3]", json.dumps(tile))
    vgprs = c.ask("variables", variablesReference=scopes["VGPRs of lane 0"]
                  ["variablesReference"])["variables"]
    special = by_name(c.ask("variables", variablesReference=scopes["Special"]
                            ["variablesReference"])["variables"])
    expect("registers", vgprs[0]["name"] == "v0" and special["exec"]["value"] ==
           "0xffffffff", json.dumps(special))
    memory = c.ask("readMemory", memoryReference=names["tile"]["memoryReference"], offset=8,
                   count=8)
    expect("LDS", base64.b64decode(memory["data"]) == bytes([2, 0, 0, 0, 3, 0, 0, 0]),
           json.dumps(memory))
    value = c.ask("evaluate", expression="from + i * 2", frameId=frames[0]["id"])
    expect("evaluate", value["result"] == "62", json.dumps(value))
    value = c.ask("evaluate", expression="info exec", context="repl")
    expect("commands", "32 of 32 lanes" in value["result"], json.dumps(value))
    for text, start, known, not_there in (
            ("inf", 1, "info", "rwatch"), ("  reverse-st", 3, "reverse-step", "info"),
            ("print fr", 7, "from", "break"), ("i - ex", 5, "exec", "execute"),
            ("wa", 1, "watch", "from"), ("print arg", 7, "arg1", "arg2")):
        found = by_label(c.ask("completions", text=text, column=len(text) + 1,
                               frameId=frames[0]["id"])["targets"])
        expect("completions of " + text, known in found and not_there not in found and
               found[known]["start"] == start and
               found[known]["length"] == len(text) + 1 - start, json.dumps(found))
    c.refused("columns 1 to 3", "completions", text="ab", column=9)
    code = c.ask("disassemble", memoryReference=frames[0]["instructionPointerReference"],
                 instructionOffset=-2, instructionCount=5)["instructions"]
    expect("code", len(code) == 5 and code[2]["address"] ==
           frames[0]["instructionPointerReference"], json.dumps(code))


def test_session(folder):
    """The wrong lane index, found backwards from the wrong output."""
    path = compile_cl(folder, "wrong_lane", "-O0")
    source = os.path.join(HERE, "wrong_lane.cl")
    c = Client()
    c.ask("initialize", adapterID="rdna3")
    c.ask("launch", program=path, block=64, args=["buf:256:iota=i32", "buf:256"],
          stopAtEnd=True)
    c.event("initialized")
    points = c.ask("setBreakpoints", source={"path": source},
                   breakpoints=[{"line": 16}, {"line": 999}])["breakpoints"]
    expect("breakpoints", points[0]["verified"] and points[0]["line"] == 16 and
           not points[1]["verified"] and "no code" in points[1]["message"],
           json.dumps(points))
    points = c.ask("setFunctionBreakpoints", breakpoints=[{"name": "nix"}])["breakpoints"]
    expect("no such function", not points[0]["verified"], json.dumps(points))
    c.ask("configurationDone")
    stop = c.event("stopped")
    expect("breakpoint", stop["reason"] == "breakpoint" and stop["threadId"] == 1 and
           stop["hitBreakpointIds"] == [1], json.dumps(stop))
    threads = c.ask("threads")["threads"]
    expect("threads", len(threads) == 2 and threads[0]["name"].startswith("wave 0.0"),
           json.dumps(threads))
    look(c, source)
    for command, line in (("next", 17), ("stepBack", 16), ("stepBack", 15)):
        c.ask(command, threadId=1)
        expect(command, c.event("stopped")["reason"] == "step")
        now = c.ask("stackTrace", threadId=1)["stackFrames"][0]["line"]
        expect(f"{command} comes to line {line}", now == line, str(now))
    c.ask("setBreakpoints", source={"path": source}, breakpoints=[])
    c.ask("continue", threadId=1)
    expect("the end", "ended" in c.event("stopped")["description"])
    # backwards from the wrong output, then from the wrong element
    c.refused("stands for nothing", "variables", variablesReference=77)
    info = c.ask("dataBreakpointInfo", name="global.i32[arg1 + 20]")
    points = c.ask("setDataBreakpoints", breakpoints=[
        {"dataId": info["dataId"], "accessType": "write"}])["breakpoints"]
    expect("data breakpoint", points[0]["verified"], json.dumps([info, points]))
    c.ask("reverseContinue", threadId=1)
    stop = c.event("stopped")
    expect("the write", stop["reason"] == "data breakpoint", json.dumps(stop))
    top = c.ask("stackTrace", threadId=stop["threadId"])["stackFrames"][0]
    value = c.ask("evaluate", expression="from", frameId=top["id"])
    expect("the wrong index", top["line"] == 16 and value["result"] == "57",
           json.dumps(top) + json.dumps(value))
    c.ask("disconnect")
    status, err = c.end()
    expect("exit status", status == 0 and not err, err)


def test_running(folder):
    """A kernel that hangs: pause; steps by instruction; a fault; the end."""
    path = assemble(folder, "hang")
    c = Client()
    c.ask("initialize")
    c.refused("no kernel has been launched", "threads")
    c.refused("launch takes either program", "launch")
    c.refused("cannot read '/nowhere'", "launch", program="/nowhere")
    c.refused("whole numbers", "launch", program=path, grid="x")
    c.refused("a workgroup has 1 to 1024 work-items", "launch", program=path,
              block=[64, 64], args=["buf:64"])
    c.ask("launch", program=path, block=[64], args=["buf:64"], stopOnEntry=True)
    c.event("initialized")
    points = c.ask("setInstructionBreakpoints", breakpoints=[
        {"instructionReference": "0x10"}])["breakpoints"]
    expect("no code there", not points[0]["verified"], json.dumps(points))
    c.ask("configurationDone")
    expect("entry", c.event("stopped")["reason"] == "entry")
    c.ask("next", threadId=1, granularity="instruction")
    c.event("stopped")
    c.send("continue", threadId=1)
    seq = c.send("pause", threadId=1)
    expect("pause", c.response(seq)["success"])
    expect("paused", c.event("stopped")["reason"] == "pause")
    c.refused("there is no request 'nix'", "nix")
    c.refused("not there", "stackTrace", threadId=99)
    c.refused("count", "readMemory", memoryReference="0x10", count=1 << 40)
    c.refused("is none", "readMemory", memoryReference="lds", count=4)
    c.refused("a value is missing", "evaluate", expression="")
    c.ask("terminate")
    c.event("terminated")
    c.ask("disconnect")
    expect("exit status", c.end()[0] == 0)


def variable(c, thread, scope, name):
    """The reference of a scope, and a variable of it."""
    frame = c.ask("stackTrace", threadId=thread)["stackFrames"][0]["id"]
    scopes = by_name(c.ask("scopes", frameId=frame)["scopes"])
    number = next(s["variablesReference"] for n, s in scopes.items() if n.startswith(scope))
    return number, by_name(c.ask("variables", variablesReference=number)["variables"])[name]


def test_set(folder):
    """Variables, registers and memory are set; log points say what they see."""
    path = assemble(folder, "math", scratch=16)
    c = Client()
    c.ask("initialize")
    c.ask("launch", program=path, block=32, args=["buf:128"], stopOnEntry=True, stopAtEnd=True)
    c.event("initialized")
    c.ask("setFunctionBreakpoints", breakpoints=[])
    c.ask("configurationDone")
    c.event("stopped")
    code = c.ask("disassemble", memoryReference=c.ask("stackTrace", threadId=1)["stackFrames"]
                 [0]["instructionPointerReference"], instructionCount=16)["instructions"]
    at = {i["instruction"].split()[0]: i["address"] for i in code}
    c.ask("setInstructionBreakpoints", breakpoints=[
        {"instructionReference": at["s_waitcnt"], "logMessage": "s6 is {s6}, not {nix}"},
        {"instructionReference": at["global_store_b32"]}])
    c.ask("continue", threadId=1)
    expect("a stop", c.event("stopped")["reason"] == "breakpoint")
    said = "".join(e["body"]["output"] for e in c.events if e.get("event") == "output")
    expect("the log point has spoken", "s6 is 0x" in said and "no variable" in said and
           "12345678" in said, said)
    number, v1 = variable(c, 1, "VGPRs", "v1")
    expect("before", "f32 0" in v1["value"] or v1["value"] == "0x00000000", json.dumps(v1))
    value = c.ask("setVariable", variablesReference=number, name="v1", value="2.5")
    expect("v1", value["value"].startswith("0x40200000"), json.dumps(value))
    value = c.ask("setExpression", expression="exec", value="0x3")
    expect("exec", "00000003" in value["value"], json.dumps(value))
    address = c.ask("evaluate", expression="arg0")["result"]
    c.ask("writeMemory", memoryReference=hex(int(address, 0)), offset=8,
          data=base64.b64encode(b"\1\2\3\4").decode())
    c.refused("not base64", "writeMemory", memoryReference="0x10", data="*")
    c.refused("no memory of 3 bytes", "writeMemory", memoryReference="0x10", data="AAAA")
    c.refused("a value is missing", "setVariable", variablesReference=number, name="v1", value="")
    c.refused("stands for nothing", "setVariable", variablesReference=999, name="v1", value="1")
    c.ask("continue", threadId=1)
    c.event("stopped")
    data = base64.b64decode(c.ask("readMemory", memoryReference=hex(int(address, 0)),
                                  count=12)["data"])
    expect("what was set was stored", data == b"\0\0\x20\x40\0\0\x80\x3f\1\2\3\4", data)
    c.ask("disconnect")
    c.end()


def program(c, path, *words, **arguments):
    c.ask("initialize")
    c.ask("launch", command=[RDNA3, "run", "--device", "kfd", path, "--block", "32", *words],
          code=[path], **arguments)
    c.event("initialized")


def test_program(folder):
    """A kernel of a program that runs: stopped, changed, and the program goes on."""
    path = assemble(folder, "math", scratch=16)
    c = Client()
    program(c, path, "--arg", "buf:128", "--print", "0:f32:4", stopAtEnd=True, cwd=folder)
    points = c.ask("setFunctionBreakpoints", breakpoints=[{"name": "kernel"}])["breakpoints"]
    expect("it waits for its kernel", not points[0]["verified"] and "waits" in
           points[0]["message"], json.dumps(points))
    expect("a thread", len(c.ask("threads")["threads"]) == 1)
    c.refused("not there", "stackTrace", threadId=1)
    c.refused("no kernel is stopped", "next", threadId=1)
    c.ask("configurationDone")
    changed = c.event("breakpoint")["breakpoint"]
    expect("it is there", changed["verified"] and changed["id"] == points[0]["id"])
    expect("it stops", c.event("stopped")["reason"] == "breakpoint")
    c.ask("next", threadId=1, granularity="instruction")
    c.event("stopped")
    c.ask("stepBack", threadId=1, granularity="instruction")
    c.event("stopped")
    c.ask("continue", threadId=1)
    expect("the end", c.event("stopped")["reason"] == "pause")
    c.ask("reverseContinue", threadId=1)
    c.event("stopped")
    c.ask("continue", threadId=1)
    c.event("stopped")
    c.ask("continue", threadId=1)
    expect("exit code", c.event("exited")["exitCode"] == 0)
    said = "".join(e["body"]["output"] for e in c.events if e.get("event") == "output" and
                   e["body"]["category"] == "stdout")
    expect("what it prints", "0 1 2 3" in said, said)
    c.event("terminated")
    c.ask("disconnect")
    expect("exit status", c.end()[0] == 0)


def test_gone(folder):
    """A program that is killed, or that never ends, holds nobody up."""
    path = assemble(folder, "math", scratch=16)
    c = Client()
    program(c, path, "--arg", "buf:128", stopOnEntry=True)
    c.ask("configurationDone")
    expect("entry", c.event("stopped")["reason"] == "breakpoint")
    text = c.ask("evaluate", expression="info program", context="repl")["result"]
    os.kill(int(text.split()[1]), signal.SIGKILL)
    c.ask("continue", threadId=1)
    expect("killed", c.event("exited")["exitCode"] == 137)
    c.ask("disconnect")
    c.end()
    c = Client()
    c.ask("initialize")
    c.ask("launch", command=["sleep", "1000"])
    c.ask("configurationDone")
    c.ask("pause", threadId=1)
    expect("a pause without a kernel", "no kernel" in c.event("stopped")["description"])
    c.ask("disconnect")
    expect("exit status", c.end()[0] == 0)
    c = Client()
    c.ask("initialize")
    c.refused("a list of strings", "launch", command="ls")
    c.refused("code /nowhere", "launch", command=["ls"], code="/nowhere")
    c.ask("launch", command=["/nowhere/program"])
    c.ask("configurationDone")
    expect("no program", c.event("exited")["exitCode"] == 127)
    c.ask("disconnect")
    c.end()


def test_end(folder):
    path = assemble(folder, "math", scratch=16)
    c = Client()
    c.ask("initialize")
    c.ask("launch", program=path, block=32, args=["buf:64"])
    c.event("initialized")
    c.ask("configurationDone") # 64 bytes are too few: it faults
    stop = c.event("stopped")
    expect("fault", stop["reason"] == "exception" and "unmapped" in stop["text"],
           json.dumps(stop))
    expect("what fault", "unmapped" in c.ask("exceptionInfo", threadId=1)["description"])
    c.ask("continue", threadId=1)
    expect("exit code", c.event("exited")["exitCode"] == 1)
    c.event("terminated")
    c.ask("disconnect")
    c.end()
    c = Client()
    c.ask("initialize")
    c.ask("launch", program=path, block=32, args=["buf:128"])
    c.event("initialized")
    c.ask("configurationDone")
    expect("exit code", c.event("exited")["exitCode"] == 0)
    c.ask("disconnect")
    c.end()


def test_port(folder):
    """The same on a port of this machine."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with subprocess.Popen([RDNA3, "debug", "--dap", "--port", str(port)],
                          stdin=subprocess.DEVNULL) as p:
        for _ in range(100):
            try:
                s = socket.create_connection(("127.0.0.1", port))
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        c = Client(s.makefile("rwb"), p)
        c.ask("initialize")
        c.ask("launch", program=assemble(folder, "math", scratch=16), block=32,
              args=["buf:128"])
        c.event("initialized")
        c.ask("configurationDone")
        c.event("terminated")
        c.ask("disconnect")
        expect("exit status", p.wait(60) == 0)


def test_hostile(_):
    """What is no message is refused, and does not end the adapter where it need not."""
    c = Client()
    for body, why in ((b"{", "not JSON"), (b"[]", "a message is an object"),
                      (b'{"seq": 1}', "not a request"), (b"\xff\xfe", "not JSON"),
                      (b"[" * 100000, "not JSON"), (b'{"a":1,"a":2}', "not JSON"),
                      (b'{"type":"request","command":5}', "not a request"),
                      (b'{"type":"request","command":"launch","arguments":{"args":[{}]}}',
                       "a string, a number")):
        c.raw(body)
        m = c.read()
        expect(f"{body[:40]!r}", not m["success"] and why in m["message"], json.dumps(m))
    c.ask("initialize")
    c.ask("disconnect")
    expect("still there", c.end()[0] == 0)
    for text, why in ((b"Content-Length: 99999999999\r\n\r\n", "Content-Length"),
                      (b"Content-Length: 50\r\n\r\n{}", "a message ends before"),
                      (b"hello\r\n\r\n", "is no header")):
        r = subprocess.run([RDNA3, "debug", "--dap"], input=text, capture_output=True,
                           check=False, timeout=60)
        expect(f"{text!r} is told", why in r.stderr.decode() and not r.stdout,
               r.stderr.decode())


def main():
    r = subprocess.run([RDNA3, "debug", "--dap"], input=b"", capture_output=True,
                       check=False)
    if b"jansson" in r.stderr:
        print("skipped:", r.stderr.decode().strip())
        return 77
    return sessions.run_tests(globals(), "session")


if __name__ == "__main__":
    sys.exit(main())
