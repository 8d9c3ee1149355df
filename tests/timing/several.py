"""Several dispatches on one chip: kernels that leave room overlap, one that fills the chip delays the other,
caches and memory are shared, queues keep their order; the same for any number of threads.

usage: several.py RDNA3"""
import json
import os
import subprocess
import sys
import tempfile

rdna3 = sys.argv[1]
GHZ = 2.5
GAP = int(1850 * GHZ + 0.5)  # queue_dispatch_ns
WINDOW = 64

KERNEL = """
	.text
	.p2align 8
	.globl %(name)s
	.type %(name)s,@function
	.rodata
	.p2align 6
	.amdhsa_kernel %(name)s
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_group_segment_fixed_size %(lds)d
		.amdhsa_next_free_vgpr %(vgprs)d
		.amdhsa_next_free_sgpr 32
		.amdhsa_wavefront_size32 %(wave32)d
		.amdhsa_workgroup_processor_mode %(wgp)d
	.end_amdhsa_kernel
	.text
%(name)s:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_lshl_b32 s8, s2, 10
	s_waitcnt lgkmcnt(0)
	v_add_nc_u32_e32 v4, s8, v1
	v_mov_b32_e32 v1, v4
	v_mov_b32_e32 v2, 1.0
%(name)s_loop:
%(body)s
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 %(name)s_loop
	global_store_b32 v4, v2, s[4:5]
%(name)s_end:
	s_endpgm
.L%(name)s:
	.size %(name)s, .L%(name)s-%(name)s
"""
META = """  - .name: %(name)s
    .symbol: %(name)s.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: %(lds)d
    .private_segment_fixed_size: 0
    .wavefront_size: %(wave)d
    .sgpr_count: 32
    .vgpr_count: %(vgprs)d
    .max_flat_workgroup_size: 1024
    .args:
      - {.address_space: global, .offset: 0, .size: 8, .value_kind: global_buffer}
      - {.offset: 8, .size: 4, .value_kind: by_value}
"""
FMAC = "".join("\tv_fmac_f32_e32 v%d, v2, v2\n" % (5 + i % 16) for i in range(64))
SLEEP = "\ts_sleep 4\n"
LOADS = "".join("\tglobal_load_b32 v%d, v1, s[4:5]\n\tv_add_nc_u32_e32 v1, 0x18000, v1\n" % (5 + i) for i in range(8)) + \
    "\ts_waitcnt vmcnt(0)\n\tv_add_f32_e32 v2, v5, v6\n"
# The first sets a flag that the second waits for: they end only if both are on the chip at once.
SET = "\tv_mov_b32_e32 v5, 0\n\ts_sleep 8\n\tglobal_store_b32 v5, v2, s[4:5] offset:4092\n"
WAIT = """	v_mov_b32_e32 v5, 0
flag_wait:
	global_load_b32 v6, v5, s[4:5] offset:4092 glc dlc
	s_waitcnt vmcnt(0)
	v_readfirstlane_b32 s9, v6
	s_cmp_eq_u32 s9, 0
	s_cbranch_scc1 flag_wait
"""
NULL = "\tv_mov_b32_e32 v5, 0\n\tglobal_load_b32 v6, v5, s[4:5]\n"
KERNELS = {"fmac": (FMAC, 0, 32, 0, 1), "sleep": (SLEEP, 0, 32, 0, 1), "loads": (LOADS, 0, 32, 0, 1),
           "sleep_lds": (SLEEP, 40960, 32, 0, 1), "sleep_vgprs": (SLEEP, 0, 256, 0, 1), "fmac64": (FMAC, 0, 32, 0, 0),
           "wgp20": (SLEEP, 20480, 32, 1, 1), "wgp50": (SLEEP, 51200, 32, 1, 1), "set_flag": (SET, 0, 32, 0, 1),
"wait_flag": (WAIT, 0, 32, 0, 1),
           "cmp64": ("\tv_cmp_gt_f32_e32 vcc_lo, v2, v5\n", 0, 32, 0, 0)}

failed = 0


def check(what, good, *seen):
    global failed
    if not good:
        print("wrong:", what, *seen)
        failed = 1


def build(folder):
    code = os.path.join(folder, "k")
    kernels = [dict(name=name, body=body, lds=lds, vgprs=vgprs, wgp=wgp, wave32=wave32, wave=32 if wave32 else 64)
               for name, (body, lds, vgprs, wgp, wave32) in KERNELS.items()]
    with open(code + ".s", "w") as f:
        f.write('\t.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"\n' + "".join(KERNEL % k for k in kernels) +
                "\t.amdgpu_metadata\namdhsa.version: [ 1, 2 ]\namdhsa.target: amdgcn-amd-amdhsa--gfx1100\n"
                "amdhsa.kernels:\n" + "".join(META % k for k in kernels) + "\t.end_amdgpu_metadata\n")
    subprocess.run([rdna3, "asm", "-o", code, code + ".s"], check=True)
    return code


def of(kernel, grid=96, trips=20, block=256, buffer="1M", *more):
    return ["--kernel", kernel, "--grid", str(grid), "--block", str(block), "--arg",
            buffer if ":" in buffer else "buf:" + buffer, "--arg", "u32:%d" % trips] + list(more)


def run(code, folder, *dispatches, more=(), env=()):
    """The timing file, as text and read."""
    out = os.path.join(folder, "out.json")
    words = sum((["--and"] * (i > 0) + d for i, d in enumerate(dispatches)), [])
    subprocess.run([rdna3, "run", code] + words + ["--timing", "--timing-json", out] + list(more), check=True,
                   stdout=subprocess.DEVNULL, env=dict(os.environ, **dict(env)))
    with open(out) as f:
        text = f.read()
    return text, json.loads(text)


def spans(code, folder, *dispatches, more=()):
    _, told = run(code, folder, *dispatches, more=more)
    return told["span_cycles"], [(x["start"], x["end"]) for x in told.get("launches", [])], told


def two(code, folder, a, b):
    """Cycles of each alone, and of both at once, on two queues."""
    alone = [spans(code, folder, x)[0] for x in (a, b)]
    both, launches, _ = spans(code, folder, a, b + ["--queue", "1"])
    check("both begin at once", launches[1][0] < 100, launches)
    return alone, both, launches


def overlap(code, folder):
    alone, both, _ = two(code, folder, of("fmac", 6), of("loads", 6, buffer="16M"))
    check("two that leave CUs free do not touch one another", both < 1.01 * max(alone), alone, both)
    alone, both, _ = two(code, folder, of("sleep"), of("sleep"))
    check("two that wait share CUs", both < 1.1 * max(alone), alone, both)
    alone, both, _ = two(code, folder, of("fmac", 1536, 4, buffer="4M"), of("fmac", 1536, 4, buffer="4M"))
    check("one that fills the chip delays the other", 0.9 < both / sum(alone) < 1.05, alone, both)
    alone, both, _ = two(code, folder, of("fmac"), of("fmac"))
    whole = spans(code, folder, of("fmac", 192))[0]
    check("two take as long as one of twice the size", 0.97 < both / whole < 1.03, whole, both)
    alone, both, _ = two(code, folder, of("fmac"), of("fmac64"))
    check("VALUs are shared, too", both > 1.2 * max(alone), alone, both)
    alone, both, _ = two(code, folder, of("loads", 192, 5, 1024, "64M"), of("loads", 192, 5, 1024, "64M"))
    check("so is memory", both > 1.5 * max(alone), alone, both)


def room(code, folder):
    both = [two(code, folder, of(k), of(k))[1] / spans(code, folder, of(k))[0] for k in ("sleep_lds", "sleep")]
    check("LDS: 40 KiB twice do not fit into a CU", both[0] > 1.6 and both[1] < 1.1, both)
    alone, mixed, _ = two(code, folder, of("sleep_lds"), of("sleep"))
    check("LDS: one that has none goes beside", mixed < 1.1 * max(alone), alone, mixed)
    # Five waves of 264 VGPRs fit into a SIMD: a workgroup is four on each.
    alone, both, _ = two(code, folder, of("sleep_vgprs"), of("sleep_vgprs"))
    check("VGPRs: eight waves of 264 twice do not fit into a CU", both > 1.6 * max(alone), alone, both)
    # A WGP has 128 KiB of LDS.
    mask = ["--cu-mask", "3,0,0,0,0,0"]
    def wgp(*kernels):
        return spans(code, folder, *(of(k, 1, more) + ["--queue", str(i)] for i, (k, more) in enumerate(kernels)),
                     more=mask)
    fits, launches, _ = wgp(("wgp20", 20), ("wgp50", 20), ("wgp50", 20))
    check("WGP mode: all at once", all(x[0] < 100 for x in launches), launches)
    _, launches, _ = wgp(("wgp20", 5), ("wgp50", 20), ("wgp20", 20), ("wgp50", 20))
    check("WGP mode: 58 KiB in two pieces are not 50", launches[0][1] + 1000 < launches[3][0] and
          launches[3][0] >= min(launches[1][1], launches[2][1]), launches)


def modes(code, folder):
    """A WGP whose CUs divide their LDS by the one mode waits until it is empty for the other."""
    alone, both, _ = two(code, folder, of("wgp20", 6), of("sleep", 6))
    check("two modes on WGPs of their own", both < 1.01 * max(alone), alone, both)
    _, launches, told = spans(code, folder, of("wgp20", 200, 20, 1024), of("sleep", 200, 20, 1024, "1M", "--queue", "1"))
    held = {}
    for w in told["waves"]:
        held.setdefault((w["se"], w["sa"], w["wgp"]), []).append((w["start"], w["end"], w["launch"]))
    mixed = sum(a[0] < b[1] and b[0] < a[1] for ws in held.values() for a in ws for b in ws if a[2] < b[2])
    check("no WGP has both", mixed == 0 and any(len({w[2] for w in ws}) == 2 for ws in held.values()), mixed)
    check("both modes: workgroups", [x["workgroups"] for x in told["launches"]] == [200, 200], told["launches"])


def engines(code, folder):
    """A round of first workgroups takes two cycles, as a second one of the first engine would come."""
    def starts(told):
        first = [min([x["start"] for x in told["waves"] if x["se"] == se], default=None) for se in range(6)]
        begin = min(x for x in first if x is not None)
        return [x if x is None else x - begin for x in first]
    for more, wanted in ((("--first-se", "1"), [2, 0, 0, 1, 1, 1]), ((), [0, 0, 1, 1, 1, 2]),
                         (("--cu-mask", "f,0,f,0,0,f"), [0, None, 1, None, None, 1]),
                         (("--timing-set", "group_launch_cycles=12"), [0, 2, 4, 6, 8, 10])):
        found = starts(run(code, folder, of("sleep", 6, block=32), more=more)[1])
        check("engines begin in turn", found == wanted, more, found, wanted)
    # The second launch goes on where the first one ended.
    _, told = run(code, folder, of("sleep", 2, block=32), of("sleep", 6, block=32))
    later = [x for x in told["waves"] if x["launch"] == 1]
    check("so do those of a later launch", starts({"waves": later}) == [1, 2, 0, 0, 1, 1], starts({"waves": later}))


def order(code, folder):
    a, b = of("fmac"), of("sleep")
    _, alone = run(code, folder, a)
    _, launches, told = spans(code, folder, a, b + ["--barrier"])
    first = [w for w in told["waves"] if w.pop("launch") == 0]
    check("what comes later changes nothing before", first == alone["waves"])
    check("barrier: the time that a queue takes, in whole windows",
          0 <= launches[1][0] - launches[0][1] - GAP < WINDOW, launches)
    _, launches, told = spans(code, folder, a, b)
    check("no barrier: it begins once the first have begun, and the queue had its time",
          GAP <= launches[1][0] < GAP + WINDOW and launches[1][0] < launches[0][1], launches)
    # More than fit at once: the tail of the one and the head of the other overlap.
    big = of("fmac", 1000, 6, 1024, "4M")
    _, launches, told = spans(code, folder, big, of("sleep", 300))
    last = max(w["start"] for w in told["waves"] if w["launch"] == 0)
    check("one queue: behind the last workgroup's start, before its end", last <= launches[1][0] < launches[0][1],
          last, launches)
    _, launches, told = spans(code, folder, big, of("sleep", 300, 20, 256, "1M", "--queue", "1"))
    check("two queues: as soon as they can", launches[1][0] < 100, launches)
    # 0, then 1 beside it, then 2 behind both; 3 on another queue waits for nobody.
    _, launches, told = spans(code, folder, a, b, of("sleep", 3) + ["--barrier"], of("fmac", 6) + ["--queue", "7"])
    check("barrier: behind all before it", launches[2][0] >= max(launches[0][1], launches[1][1]) + GAP, launches)
    check("the other queue", launches[3][0] < 100, launches)
    check("workgroups", [x["workgroups"] for x in told["launches"]] == [96, 96, 3, 6], told["launches"])


def same(code, folder):
    ways = of("fmac", 300, 3), of("loads", 200, 2, 512, "16M", "--queue", "1"), of("fmac64", 50, 2, 64, "4M"), \
        of("sleep_lds", 40, 3, 1024, "1M", "--queue", "1", "--barrier"), of("wgp50", 60, 3, 1024, "1M", "--queue", "2")
    seen, memory = set(), set()
    for n, more in enumerate(([], ["--threads", "1"], ["--threads", "2"], ["--threads", "7"])):
        dumps = [os.path.join(folder, "m%d" % i) for i in range(len(ways))]
        text, _ = run(code, folder, *(w + ["--out", "0=" + d] for w, d in zip(ways, dumps)),
                      more=more + ["--timing-insts", "all"], env={"PAD": "x" * 4096 * n})
        seen.add(text)
        memory.add(b"".join(open(d, "rb").read() for d in dumps))
    check("threads and addresses change nothing", len(seen) == 1)
    one = b""
    for w in ways:
        w = w[:w.index("--queue")] if "--queue" in w else w
        subprocess.run([rdna3, "run", code] + w + ["--out", "0=" + dumps[0]], check=True, stdout=subprocess.DEVNULL)
        with open(dumps[0], "rb") as f:
            one += f.read()
    check("nor does time change memory", memory == {one} and any(one))
    flag = spans(code, folder, of("wait_flag", 1, 1, 32, "4K"), of("set_flag", 1, 1, 32, "same:0.0", "--queue", "1"))
    check("one that waits for the other", flag[1][0][1] > 500, flag[1])


def refused(code, folder):
    a = of("fmac", 1)
    for words, text in (a + ["--and"] + a, "--and goes with --timing"), \
            (a + ["--queue", "1", "--timing"], "--queue goes with --and"), \
            (a + ["--and"] + a + ["--timing", "--timing-sample", "auto"], "--and goes without --timing-sample"), \
            (a + ["--and"] + of("fmac", 1, 1, 32, "same:1.0") + ["--timing"], "no such dispatch before this"), \
            (a + ["--and"] + of("fmac", 1, 1, 32, "same:0.1") + ["--timing"], "that is not a buffer"), \
            (a + ["--and"] + of("fmac", 1, 1, 32, "same:4294967296.0") + ["--timing"], "same:D.N"), \
            (a + ["--and"] + of("fmac", 1, 1, 32, "same: 0. 0") + ["--timing"], "same:D.N"), \
            (a + ["--and"] + of("loads", 1, 1, 32, "u64:0") + ["--timing"],
             "; dispatch 1, kernel loads; null: argument 0"), \
            (of("loads", 1, 1, 32, "u64:0") + ["--and"] + a + ["--timing"],
             "; dispatch 0, kernel loads; null: argument 0"), \
            (of("sleep", 1, 9999, 32) + ["--and", "--queue", "1"] + of("fmac", 1, 9999, 32) +
             ["--timing", "--max-insts", "500"], "\n2 waves in flight:\n"):
        p = subprocess.run([rdna3, "run", code] + words, capture_output=True, text=True)
        check("refused: " + text, p.returncode != 0 and text in p.stderr, p.returncode, p.stderr)

    p = subprocess.run([rdna3, "run", code] + of("fmac", 1) + ["--and"] + of("cmp64", 1) + ["--timing", "--timing-listing"],
                       capture_output=True, text=True)
    check("the listing has instructions as their waves are", " v_cmp_gt_f32_e32 vcc, v2, v5" in p.stdout, p.stdout)


with tempfile.TemporaryDirectory() as where:
    built = build(where)
    for test in (engines, overlap, room, modes, order, same, refused):
        test(built, where)
sys.exit(failed)
