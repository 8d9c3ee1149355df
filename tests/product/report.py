#!/usr/bin/env python3
"""--advice, --report and --baseline of a timed run.

    report.py text|page|browser RDNA3

SPDX-License-Identifier: MIT
"""
import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile

WHAT, RDNA3 = sys.argv[1:3]
# Waves of a workgroup that differ in work meet at a barrier; loads of a line for each lane,
# LDS with all lanes in one bank.
KERNEL = """.text
.globl slow
.p2align 8
.type slow,@function
slow:
  s_load_b64 s[0:1], s[0:1], 0x0
  v_lshlrev_b32 v1, 7, v0
  v_lshrrev_b32 v3, 5, v0
  s_waitcnt lgkmcnt(0)
  global_load_b32 v2, v1, s[0:1]
  v_readfirstlane_b32 s2, v3
  s_waitcnt vmcnt(0)
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc1 meet
  s_movk_i32 s3, 200
more:
  v_fma_f32 v2, v2, v2, v2
  s_sub_u32 s3, s3, 1
  s_cbranch_scc0 more
meet:
  s_barrier
  v_and_b32 v4, 31, v0
  v_lshlrev_b32 v4, 7, v4
  ds_store_b32 v4, v2
  s_waitcnt lgkmcnt(0)
  global_store_b32 v1, v2, s[0:1]
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel slow
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 8
  .amdhsa_group_segment_fixed_size 4096
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_vgpr_workitem_id 0
  .amdhsa_wavefront_size32 1
.end_amdhsa_kernel
"""


def run(*command, status=0):
    r = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if r.returncode != status:
        sys.exit(f"{' '.join(command)}: exit {r.returncode}\n{r.stdout}{r.stderr}")
    return r.stdout + r.stderr


def expect(condition, what):
    if not condition:
        sys.exit(f"wrong: {what}")


def timed(*options, status=0):
    return run(RDNA3, "run", "slow.hsaco", "--block", "64", "--grid", "4", "--arg",
               "buf:8K:rand=f32,1", "--timing", *options, status=status)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def text():
    told = timed("--advice")
    for rate in ("VALU", "floating point", "scalar unit", "LDS", "L0", "GL2", "Infinity Cache",
                 "VRAM", "occupancy"):
        expect(re.search(rf"^  {rate} +[\d.]+ %  \|[# ]{{20}}\|  [\d.e+]+ of [\d.e+]+ \w",
                         told, re.M), f"no rate of {rate}: {told}")
    # 4 workgroups: wave 1 of each does 201 v_fma of 2 operations and 32 lanes
    expect("flops" not in told and "(51456 operations)" in told, told)
    expect(re.search(r"SIMDs without a wave\n +try: more or smaller workgroups", told), told)
    barrier = re.search(r"[\d.]+ %  barriers\n +[\d.]+ % at [0-9a-f]+: s_barrier\n", told)
    expect(barrier, f"barriers: {told}")
    load = re.search(r" 8 +32\.0 +128\.0 +32\.0 +1\.0  global_load_b32", told)
    expect(load, f"coalescing: {told}")
    expect(re.search(r" 8 +31\.0 +ds_store_b32", told), f"conflicts: {told}")
    expect("speed of light" not in timed(), "advice that nobody asked for")
    run(RDNA3, "run", "slow.hsaco", "--advice", "--arg", "buf:8K", status=2)
    timed("--baseline", "x", status=2)
    told = timed("--timing-set", "dram_bytes_per_ns=480", "--advice")
    expect("of 480 GB/s" in told, f"a parameter changes the peak: {told}")


class Page(html.parser.HTMLParser):
    """Tags, balanced, and what they refer to."""
    EMPTY = {"meta", "br"}

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.refers = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.refers += [v for k, v in attrs if k in ("src", "href", "action", "data")]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            sys.exit(f"wrong: </{tag}> at {self.getpos()}")


def page():
    timed("--report", "a.html")
    told = timed("--report", "b.html", "--baseline", "a.html", "--advice", "--sclk-mhz", "2000")
    expect("compared with      slow" in told and re.search(r"cycles +\d+ +\d+ ", told), told)
    source = read("b.html")
    p = Page()
    p.feed(source)
    expect(not p.open, f"left open: {p.open}")
    expect(not p.refers and "http" not in source.replace("http-equiv", "") and
           "url(" not in source and "<script" not in source and "@import" not in source,
           f"the page refers to something: {p.refers}")
    ids = {a.get("id") for _, a in p.tags}
    expect({"rates", "roofline", "memory", "causes", "instructions", "change"} <= ids, ids)
    rows = source.split('id="instructions"')[1].split("</table>")[0]
    expect("barrier" in re.search(r"<tr>(?:(?!</tr>).)*>s_barrier<.*?</tr>", rows)[0],
           "the barrier's waits are elsewhere")
    timed("--report", "cold.html", "--sclk-mhz", "10")  # the picture reaches down to it
    height, = re.findall(r'<circle cx="[\d.]+" cy="([\d.]+)"', read("cold.html"))
    expect(250 < float(height) < 319, f"less than 1 GFLOP/s at {height}")
    timed("--report", "same.html", "--baseline", "a.html")
    same = read("same.html").split('id="change"')[1]
    changes = set(re.findall(r"<td>([+-][\d.]+ %)</td>", same))
    expect(changes == {"+0.0 %"}, f"the same run has changed: {changes}")
    for text_ in ("", "<!-- rdna3 report 1\n-->", "<!-- rdna3 report 1\nkernel x\nclock 0\n0 1\n-->",
                  "<!-- rdna3 report 1\nkernel x\nclock 1\n999 1\n-->", source[:900] + "nan",
                  source.replace("-->", "")):
        with open("bad.html", "w", encoding="utf-8") as f:
            f.write(text_)
        expect("is no report" in timed("--report", "c.html", "--baseline", "bad.html", status=1),
               f"taken: {text_[:80]}")
        expect(not os.path.exists("c.html"), "told only when it had run")
    timed("--report", "/nowhere/a.html", status=1)


def browser():
    chromium = shutil.which("chromium")
    if not chromium:
        print("skipped: there is no chromium")
        sys.exit(77)
    timed("--report", "a.html")
    how = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
           "--user-data-dir=" + os.path.abspath("profile")]
    told = run(*how, "--dump-dom", "file://" + os.path.abspath("a.html"))
    expect("Speed of light" in told and told.count("<svg") == 2, told[:2000])
    run(*how, "--window-size=1100,1600", "--screenshot=" + os.path.abspath("a.png"),
        "file://" + os.path.abspath("a.html"))
    expect(os.path.getsize("a.png") > 20000, "an empty picture")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("slow.s", "w", encoding="utf-8") as f:
            f.write(KERNEL)
        run(RDNA3, "asm", "slow.s", "-o", "slow.hsaco")
        globals()[WHAT]()
        os.chdir("/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
