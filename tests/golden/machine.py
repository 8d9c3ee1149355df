#!/usr/bin/env python3
"""--json of the commands: valid JSON, and the figures that the text has.

    machine.py RDNA3
SPDX-License-Identifier: MIT
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

RDNA3 = os.path.abspath(sys.argv[1])


def run(*words, text=None):
    r = subprocess.run([RDNA3, *words], input=text, capture_output=True, text=True,
                       timeout=120)
    return r.returncode, r.stdout, r.stderr


def parse(*words):
    status, out, err = run(*words)
    assert status == 0 and not err, (words, status, err)
    return json.loads(out)


def check_info():
    _, text, _ = run("info")
    info = parse("info", "--json")
    for name, key in (("shader engines", "shader_engines"), ("compute units", "compute_units"),
                      ("GL2 cache", "gl2_cache_mib"), ("workgroup", "work_items_per_workgroup"),
                      ("instructions", "mnemonics")):
        number = re.search(rf"^  {name} +\D*(\d+)", text, re.M)[1]
        assert info["device"][key] == int(number), (name, number, info["device"])
    assert info["host"]["cpus"] == os.sysconf("SC_NPROCESSORS_ONLN")
    assert info["host"]["simd"] in info["host"]["simd_levels"]
    params = parse("info", "--timing", "--json")["timing"]
    _, text, _ = run("info", "--timing")
    assert len(params) == len(re.findall(r"^    source:", text, re.M)) > 50
    for p in params:
        assert re.search(rf"^{p['name']} +{re.escape('%.10g' % p['value'])}\b", text, re.M), p


def check_junit():
    """asm --check: a case per statement, with its line; what is wrong fails."""
    with tempfile.TemporaryDirectory() as folder:
        path, report = os.path.join(folder, "a.txt"), os.path.join(folder, "a.xml")
        with open(path, "w", encoding="utf-8") as f:
            f.write('v_nop\t0000007e\tboth\n# a comment\ns_endpgm\t000000bf\n'
                    'v_add_f32 v1, v2, "<&\t00\nnonsense\n')
        status, out, _ = run("asm", "--check", "--junit", report, path)
        assert status == 1 and out == "4 statements, 3 wrong\n", (status, out)
        suite = xml.etree.ElementTree.parse(report).getroot().find("testsuite")
        cases = suite.findall("testcase")
        assert (suite.get("tests"), suite.get("failures")) == ("5", "3"), suite.attrib
        assert [(c.get("line"), c.find("failure") is not None) for c in cases] == [
            ("1", False), ("1", False), ("3", True), ("4", True), ("5", True)]
        assert '"<&' in cases[3].get("name") and "wave64: v_nop" in cases[1].get("name")
        assert run("asm", "--check", "--junit", folder, path)[0] == 1
        assert run("asm", "--junit", report, path)[0] == 2


def check_objects():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.hsaco")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "trace.s")
        assert run("asm", source, "-o", path)[0] == 0
        _, text, _ = run("info", path)
        info, = parse("info", "--json", path)["objects"]
        kernel, = info["kernels"]
        assert f"\n{kernel['name']}\n" in text and kernel["args"] == []
        assert f"{kernel['vgprs']} VGPRs, {kernel['lds_bytes']} bytes of LDS" in text
    names = [i["mnemonic"] for i in parse("doc", "--json", "ds_load_b")["instructions"]]
    assert "ds_load_b32" in names and len(names) > 3


def check_doc():
    words = ["v_add_f32", "v_sqrt_f32", "ds_add_rtn_u32", "s_cbranch_scc0", "v_nop"]
    pages = parse("doc", "--json", *words)["instructions"]
    assert [p["mnemonic"] for p in pages] == words
    add, sqrt, ds, branch, _ = pages
    assert [e["encoding"] for e in add["encodings"]] == ["VOP2", "VOP3"]
    assert add["facts"]["swapped"] == "v_add_f32" and add["facts"]["flops"] == 1
    assert sqrt["facts"]["pipe"] == "trans"
    assert ds["facts"]["memory"]["space"] == "lds" and add["facts"]["memory"] is None
    dst, src0, vsrc1 = add["encodings"][0]["operands"]
    assert [o["name"] for o in (dst, src0, vsrc1)] == ["vdst", "src0", "vsrc1"]
    assert dst["kinds"] == vsrc1["kinds"] == ["VGPR"]
    assert {"SGPR", "literal", "inline float", "lds_direct"} < set(src0["kinds"]), src0
    assert {"name": "VDST", "shift": 17, "width": 8, "pad": 0} in add["encodings"][0]["fields"]
    wait, delay = parse("doc", "--json", "s_waitcnt", "s_delay_alu")["instructions"]
    parts = wait["encodings"][0]["operands"][0]["parts"]
    assert {p["name"]: (p["shift"], p["width"]) for p in parts} == {
        "vmcnt": (10, 6), "expcnt": (0, 3), "lgkmcnt": (4, 6)}, parts
    parts = delay["encodings"][0]["operands"][0]["parts"]
    assert "VALU_DEP_1" in parts[0]["values"] and "SKIP_1" in parts[1]["values"]
    assert "branch" in branch["facts"]["flow"] and branch["facts"]["reads"] == ["scc"]
    for word, page in zip(words, pages):
        _, text, _ = run("doc", word)
        place = f"{page['semantics']['file']}:{page['semantics']['line']}"
        assert place in text, (word, place)
        for e in page["encodings"]:
            assert f"\n{e['encoding']}, opcode {e['opcode']}\n" in text, (word, e)
    status, out, err = run("doc", "--json", "v_nop", "no_such")
    assert status == 1 and err.startswith("error: ")
    assert len(json.loads(out)["instructions"]) == 1


def check_run(folder):
    status, out, _ = run("asm", "--hex", text="v_add_f32 v0, v1, v2\nv_nop\ns_endpgm\n")
    assert status == 0
    path = os.path.join(folder, "code.bin")
    with open(path, "wb") as f:
        f.write(bytes.fromhex(out.replace("\n", "")))
    shape = ["run", "--raw", path, "--grid", "3", "--block", "64", "--stats"]
    stats = parse(*shape, "--json")
    _, text, _ = run(*shape)
    for name in ("dispatches", "workgroups", "waves", "instructions"):
        assert stats[name] == int(re.search(rf"^{name} +(\d+)", text, re.M)[1]), name
    assert {o["name"]: o["executed"] for o in stats["opcodes"]} == {
        "v_add_f32": 6, "v_nop": 6, "s_endpgm": 6}, stats
    assert sum(f["executed"] for f in stats["fidelity"]) == stats["instructions"]
    trace = os.path.join(folder, "t.trace")
    assert parse(*shape, "--json", "--trace", trace)["waves"] == stats["waves"]
    for words in (["--json"], ["--stats", "--json", "--timing"],
                  ["--stats", "--json", "--print", "0:u32"]):
        status, out, err = run(*shape[:-1], *words)
        assert status == 2 and not out and err.startswith("error: "), (words, status, err)


def check_bench():
    bench = parse("bench", "emu/startup", "--json")
    result, = bench["results"]
    assert result["name"] == "emu/startup" and result["value"] > 0, result
    assert result["peer"] is None and result["ratio"] is None
    assert set(result) == {"name", "value", "unit", "better", "peer", "ratio"}, result


def main():
    check_info()
    check_doc()
    check_objects()
    check_junit()
    with tempfile.TemporaryDirectory() as folder:
        check_run(folder)
    check_bench()
    return 0


if __name__ == "__main__":
    sys.exit(main())
