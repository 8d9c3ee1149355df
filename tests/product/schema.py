#!/usr/bin/env python3
"""tools/json.md says what the commands write as JSON, all of it and nothing else.

    schema.py RDNA3 SOURCE_FOLDER [without-exec]

Every form of the page is made by its command: a field that the page has not, a type that
it does not allow, a field that no output has (but for those in brackets) is a mistake.
Frames need clang-19; without it they are not looked for. Under `without-exec` the forms
of rdna3 exec and check are not made. Calls of the host (shape "call") are those of HIP
programs, which are not built here.

SPDX-License-Identifier: MIT
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

RDNA3, ROOT = sys.argv[1:3]
WITHOUT_EXEC = "without-exec" in sys.argv[3:]
CLANG = shutil.which("clang-19")
PLAIN = {"integer": lambda v: type(v) is int and v >= 0,
         "real": lambda v: type(v) in (int, float), "text": lambda v: type(v) is str,
         "bool": lambda v: type(v) is bool, "object": lambda v: type(v) is dict,
         "array": lambda v: type(v) is list}
ROW = re.compile(r"\| (\(?)(\S+?)\)? \| ([a-z]+)(\??) \|[^|]*\|[^|]*\|$")


class Field:
    def __init__(self, kind, null, optional):
        self.kind, self.null, self.optional, self.seen = kind, null, optional, False


def read_page():
    """{heading: {path: Field}}"""
    shapes, fields = {}, None
    with open(os.path.join(ROOT, "tools", "json.md"), encoding="utf-8") as f:
        for line in f:
            if line.startswith("## "):
                fields = shapes.setdefault(line[3:].strip(), {})
            elif line.startswith("| ") and not line.startswith("| field "):
                row = ROW.match(line.strip())
                if not row:
                    sys.exit(f"not a row: {line}")
                if row[2] in fields:
                    sys.exit(f"twice: {line}")
                fields[row[2]] = Field(row[3], bool(row[4]), bool(row[1]))
    return shapes


SHAPES = read_page()
BAD = []


def check(shape, path, value, where):
    """One value against the shape's row of its path, and all that is in it."""
    fields = SHAPES[shape]
    field = fields.get(path)
    if field is None and "." in path and path + "[]" not in fields:
        field = fields.get(path.rpartition(".")[0] + ".*")
    inside = path == "" or any(p.startswith((path + ".", path + "[")) for p in fields)
    if field is None and not inside:
        BAD.append(f"{where}: '{path}' is not on the page")
        return
    if field is not None:
        field.seen = True
        if value is None and field.null:
            return
        if field.kind in SHAPES:
            check(field.kind, "", value, where)
            return
        if not PLAIN[field.kind](value):
            BAD.append(f"{where}: '{path}' is {value!r}, not {field.kind}")
            return
    elif value is None and path + "[]" in fields:
        return  # an array that is not there
    if isinstance(value, dict):
        missing = [p for p, f in fields.items() if not f.optional and direct(path, p)
                   and name_of(path, p) not in value]
        BAD.extend(f"{where}: '{p}' is missing" for p in missing)
        for name, inner in value.items():
            check(shape, f"{path}.{name}" if path else name, inner, where)
    elif isinstance(value, list):
        for inner in value:
            check(shape, path + "[]", inner, where)


def name_of(path, other):
    return re.match(r"[^.\[]*", other[len(path) + 1 if path else 0:])[0]


def direct(path, other):
    """Is the row a field of the object, or of an array that is one?"""
    if path and not other.startswith(path + "."):
        return False
    rest = other[len(path) + 1 if path else 0:]
    return bool(re.fullmatch(r"[A-Za-z_]+(\[\])?", rest))


def run(*command, status=0):
    r = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if r.returncode != status:
        sys.exit(f"{command} exits with {r.returncode}:\n{r.stdout}{r.stderr}")
    return r.stdout


def see(form, text):
    check(form, "", json.loads(text), form)


def see_file(form, path):
    with open(path, encoding="utf-8") as f:
        see(form, f.read())


def kernels():
    """The code objects that the forms are made of, in the current folder."""
    run(RDNA3, "asm", os.path.join(ROOT, "tests", "golden", "trace.s"), "-o", "t.hsaco")
    if not CLANG:
        return
    with open("k.cl", "w", encoding="utf-8") as f:
        f.write("kernel void late(global int *a) {\n"
                "  local int l[64];\n"
                "  int i = __builtin_amdgcn_workitem_id_x();\n"
                "  l[i] = a[i];\n  a[i + (1 << 24)] = l[(i + 40) & 63];\n}\n")
    run(CLANG, "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1100", "-x", "cl", "-cl-std=CL2.0",
        "-nogpulib", "-O2", "-g", "k.cl", "-o", "k.hsaco")


BUFFERS = ["--block", "64", "--arg", "buf:256:iota=u32", "--arg", "buf:256"]


def forms_of_run():
    see("rdna3 run --stats --json",
        run(RDNA3, "run", "t.hsaco", *BUFFERS, "--stats", "--json"))
    # Often enough for native code, which leaves something to handlers.
    see("rdna3 run --stats --json", run(RDNA3, "run", "t.hsaco", "--grid", "2000", *BUFFERS,
                                        "--stats", "--json"))
    form = "rdna3 run --timing --timing-json FILE"
    timed = [RDNA3, "run", "t.hsaco", *BUFFERS, "--timing", "--timing-json", "t.json"]
    run(*timed, "--timing-insts", "all", "--timing-trace", "t.tl")
    see_file(form, "t.json")
    compare_timeline()
    run(*timed, "--grid", "4096", "--cu-mask", "1,0,0,0,0,0", "--timing-sample", "64")
    see_file(form, "t.json")
    run(*timed, "--and", *BUFFERS)
    see_file(form, "t.json")


def compare_timeline():
    """The timeline of a run and its summary tell the same."""
    with open("t.json", encoding="utf-8") as f:
        timed = json.load(f)
    form = "rdna3 trace TIMELINE --json"
    for options in ([], ["--listing"]):
        text = run(RDNA3, "trace", "t.tl", "--json", *options)
        see(form, text)
    d, = json.loads(text)["dispatches"]
    for name in ("wave_cycles", "stalls", "counts"):
        if d[name] != timed[name]:
            BAD.append(f"{name}: the timeline says {d[name]}, --timing-json {timed[name]}")
    if sum(i["cycles"] for i in d["instructions"]) != sum(d["stalls"].values()):
        BAD.append("the instructions' cycles are not those of the waves")
    if len(timed["waves"]) != d["waves"] or not d["waves"]:
        BAD.append(f"{d['waves']} waves in the timeline, {len(timed['waves'])} in the file")


def forms_of_trace():
    run(RDNA3, "run", "t.hsaco", *BUFFERS, "--trace", "t.trace", "--trace-operands")
    run(RDNA3, "run", "t.hsaco", "--block", "64", "--arg", "buf:256", "--arg", "buf:256",
        "--trace", "v.trace")
    events = run(RDNA3, "trace", "t.trace", "--json")
    see("rdna3 trace FILE --json", events)
    see("rdna3 trace FILE --json", run(RDNA3, "trace", "v.trace", "--json", "--count", "3"))
    summary = run(RDNA3, "trace", "t.trace", "--json", "--summary")
    see("rdna3 trace FILE --summary --json", summary)
    if len(json.loads(events)["events"]) != json.loads(summary)["events"]:
        BAD.append("the summary counts other events than there are")
    form = "rdna3 trace FILE --who-wrote PLACE --json"
    for place in ("lds:0x10", "s90"):
        see(form, run(RDNA3, "trace", "t.trace", "--json", "--who-wrote", place))
    form = "rdna3 trace FILE --diff OTHER --json"
    see(form, run(RDNA3, "trace", "t.trace", "--json", "--diff", "t.trace"))
    run(RDNA3, "run", "t.hsaco", "--block", "64", "--arg", "buf:256:fill=1", "--arg", "buf:256",
        "--trace", "u.trace", "--trace-operands")
    see(form, run(RDNA3, "trace", "t.trace", "--json", "--diff", "u.trace", status=1))
    # Half a trace: an error, and what there was is still JSON.
    with open("t.trace", "rb") as f, open("cut.trace", "wb") as out:
        out.write(f.read()[:-16])
    see("rdna3 trace FILE --json", run(RDNA3, "trace", "cut.trace", "--json", status=1))


def forms_of_objects():
    code = "k.hsaco" if CLANG else "t.hsaco"
    see("rdna3 dis --json FILE", run(RDNA3, "dis", "--json", *(["-l"] if CLANG else []), code))
    see("rdna3 info --json FILE", run(RDNA3, "info", "--json", code, "t.hsaco"))
    see("rdna3 info --json", run(RDNA3, "info", "--json"))
    see("rdna3 info --timing --json", run(RDNA3, "info", "--timing", "--json"))
    for word in ("v_add_f32", "s_waitcnt", "global_load", "global_atomic_add_u32",
                 "s_cbranch_scc0", "ds_load_2addr_b32", "s_sendmsg", "v_cmpx_eq_f32"):
        see("rdna3 doc --json MNEMONIC", run(RDNA3, "doc", "--json", word))
    with open("c.uop", "w", encoding="utf-8") as f:
        f.write("%0 = PARAM f32 [0, 4]\n%1 = PARAM f32 [1, 4]\n%2 = STORE %0 %1\n%4 = SINK %2\n")
    for options in ([], ["-o", "c.hsaco"], ["--emit", "asm"], ["--emit", "c", "-o", "c.c"],
                    ["--emit", "uops"], ["--emit", "prog"]):
        text = run(RDNA3, "compile", "c.uop", "--json", *options)
        see("rdna3 compile FILE --json", text)
        made = json.loads(text)
        if made["output"] and os.path.getsize(made["output"]) != made["bytes"]:
            BAD.append(f"{made['output']} has not {made['bytes']} bytes")
    see("rdna3 bench --json", run(RDNA3, "bench", "emu/startup", "--json"))


def forms_of_check():
    form = "rdna3 check --json FILE"
    code = "k.hsaco" if CLANG else "t.hsaco"
    late = ["--block", "64", "--arg", "buf:256"]
    if CLANG:
        r = subprocess.run([RDNA3, "run", code, *late, "--check", "all", "--keep-going",
                            "--check-json", "found.json"], capture_output=True, check=False)
        if r.returncode != 1:
            sys.exit(f"nothing was found: {r.stdout}{r.stderr}")
    else:
        run(RDNA3, "run", code, *BUFFERS, "--check", "all", "--check-json", "found.json")
    see_file(form, "found.json")
    if WITHOUT_EXEC:
        return
    client = [RDNA3, "run", "--device", "kfd"]
    run(RDNA3, "exec", "--timing", "--json", "exec.json", "--", *client, "t.hsaco", *BUFFERS)
    see_file("rdna3 exec --json FILE", "exec.json")
    run(RDNA3, "exec", "--json", "exec.json", "--", *client, "t.hsaco", *BUFFERS)
    see_file("rdna3 exec --json FILE", "exec.json")
    if CLANG:
        subprocess.run([RDNA3, "check", "--check", "all", "--json", "found.json", "--", *client,
                        code, *late], capture_output=True, check=False)
        see_file(form, "found.json")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        kernels()
        forms_of_run()
        forms_of_trace()
        forms_of_objects()
        forms_of_check()
        os.chdir("/")
    excused = {"call"} | ({"rdna3 exec --json FILE"} if WITHOUT_EXEC else set())
    if not CLANG:
        excused |= {"rdna3 check --json FILE", "place", "frame"}
    count = 0
    for shape, fields in SHAPES.items():
        count += len(fields)
        if shape not in excused:
            BAD.extend(f"{shape}: nothing has '{path}'" for path, f in fields.items()
                       if not f.seen and not f.optional)
    print("\n".join(sorted(set(BAD))))
    print(f"{len(SHAPES)} forms and shapes, {count} fields, {len(set(BAD))} mistakes")
    return 1 if BAD or count < 200 else 0


if __name__ == "__main__":
    sys.exit(main())
