#!/usr/bin/env python3
"""Misspelt words are told with the one that may have been meant: in assembly, options,
commands, kernels; what cannot be
written is told before anything runs.

    meant.py RDNA3

SPDX-License-Identifier: MIT
"""
import os
import re
import subprocess
import sys
import tempfile

RDNA3 = os.path.abspath(sys.argv[1])
# a statement, what is to be named (None: nothing is near)
STATEMENTS = [
    ("v_ad_f32 v0, v1, v2", "v_add_f32"),
    ("V_AD_F32 v0, v1, v2", "v_add_f32"),
    ("v_xyz_wvut v0, v1, v2", None),
    ("v_dual_mov_b32 v0, v1 :: v_dual_mv_b32 v2, v3", "v_dual_mov_b32"),
    ("v_add_f32 v0, v1, v2 clmp", "clamp"),
    ("v_add_f32 v0, v1, v2 undefined", None),
    ("global_load_b32 v0, v[1:2], of", "off"),
    ("s_mov_b32 exc_lo, 0", "exec_lo"),
    ("s_waitcnt vmcnt(0) lgkcnt(0)", "lgkmcnt"),
    ("buffer_load_b32 v0, v1, s[0:3], 0 offn", "offen"),
    ("v_mov_b32_dpp v0, v1 row_shrr:1", "row_shr"),
    ("s_sendmsg sendmsg(MSG_INTERUPT)", "MSG_INTERRUPT"),
    ("s_getreg_b32 s0, hwreg(HW_REG_MOD)", "HW_REG_MODE"),
    ("s_delay_alu instid0(VALU_DEP1)", "VALU_DEP_1"),
    ("v_add_f32 v0, v1", None),
    ("foo bar", None),
]
LINES = [(".txt", ".text"), (".amdhsa_kernl k", ".amdhsa_kernel"), (".nosuchthing", None)]
KERNEL = """.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
{kernels}
"""
ONE = """.text
.globl {0}
.p2align 8
.type {0},@function
{0}:
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel {0}
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 8
  {1}
.end_amdhsa_kernel
"""
failed = 0


def call(*args, text=None):
    r = subprocess.run([RDNA3, *args], input=text, capture_output=True, text=True, check=False)
    return r.returncode, r.stdout, r.stderr


def expect(what, got, want):
    global failed
    if got != want:
        failed = 1
        print(f"FAILED: {what}: {got!r}, not {want!r}")


def meant(message):
    found = re.search(r"; did you mean '?([^'?]+)'?\?", message)
    return found and found[1]


def assembly():
    status, out, _ = call("asm", "--hex", text="".join(s + "\n" for s, _ in STATEMENTS))
    expect("refused", status, 1)
    for line, (statement, word) in zip(out.splitlines(), STATEMENTS):
        expect(statement, (line[:6], meant(line)), ("error:", word))
    with open("bad.s", "w", encoding="utf-8") as f:
        f.write("".join(line + "\n" for line, _ in LINES[:1] + LINES[2:]))
        f.write(ONE.format("k", ".amdhsa_next_fre_vgpr 2"))
    status, _, err = call("asm", "bad.s", "-o", "bad")
    told = [meant(x) for x in err.splitlines() if ": error: " in x]
    expect("directives", (status, told), (1, [".text", None, ".amdhsa_next_free_vgpr"]))


def command_line():
    with open("k.s", "w", encoding="utf-8") as f:
        f.write(KERNEL.format(kernels=ONE.format("add_numbers", "") + ONE.format("subtract", "")))
    expect("assembled", call("asm", "k.s", "-o", "k"), (0, "", ""))
    for args, word in ((["ru"], "run"), (["unheard"], None), (["run", "k", "--grd", "4"], "--grid"),
                       (["run", "k", "--gird=4"], "--grid"), (["run", "k", "--xyzzy"], None),
                       (["sweep", "--tabel"], "--table"), (["info", "--timming"], "--timing"),
                       (["trace", "x", "--sumary"], "--summary"), (["doc", "--jsn"], "--json"),
                       (["asm", "--defsm", "x"], "--defsym"), (["dis", "--sorce"], "--source")):
        status, _, err = call(*args)
        expect(str(args), (status, meant(err)), (2, word))
    status, _, err = call("run", "k", "--ti")
    expect("more than one", (status, "--timeout or --timing" in err), (2, True))
    status, _, err = call("run", "k", "--kernel", "add_number")
    expect("kernel", (status, "did you mean add_numbers? There is: add_numbers, subtract" in err),
           (1, True))
    for args, word in (("v_fam_f32", "v_fma_f32"), ("global_loda", "global_load"),
                       ("buffer_lod", "buffer_load"), ("nothing_like", None)):
        status, _, err = call("doc", args)
        expect("doc " + args, (status, meant(err)), (1, word))
    status, _, err = call("run", "k", "--kernel", "multiply")
    expect("no kernel", (status, "did you" in err, "there is: add_numbers, subtract" in err), (1, False, True))


def early():
    """What cannot be written or read is told before anything runs."""
    with open("bad", "w", encoding="utf-8") as f:
        f.write("bad")
    run = ["run", "k", "--kernel", "subtract", "--stats"]
    for args in (["--out", "0=/none/x", "--arg", "buf:4"], ["--trace", "/none/x"],
                 ["--timing", "--timing-json", "/none/x"], ["--timing", "--timing-trace", "/none/x"],
                 ["--timing", "--report", "/none/x"], ["--timing", "--advice", "--baseline", "bad"],
                 ["--check", "mem", "--check-json", "/none/x"], ["--check", "mem", "--check-xml", "."]):
        status, out, err = call(*run, *args)
        expect(str(args), (status, out, err[:7], err.count("\n")), (1, "", "error: ", 1))
    for option in "--json", "--xml", "--sarif", "--gen-suppressions":
        status, out, err = call("check", option, "/none/x", "--", "true")
        expect(option, (status, out, err), (1, "", "error: cannot write '/none/x': No such file or directory\n"))
    expect("three numbers", call("run", "k", "--grid", "1,2,3,4")[2],
           "error: --grid '1,2,3,4': not X, X,Y or X,Y,Z, whole numbers\n")
    with open("empty", "w", encoding="utf-8"):
        pass
    expect("nothing to check", call("asm", "--check", "empty"),
           (1, "0 statements, 0 wrong\n", "error: empty: there is no statement\n"))
    expect("no captures", call("timing", "decode", "none")[2], "error: cannot read 'none': No such file or directory\n")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    assembly()
    command_line()
    early()
    os.chdir("/")
sys.exit(failed)
