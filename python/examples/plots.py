"""A roofline and an occupancy timeline of a kernel, as SVG files.

    python plots.py                       # the kernel below
    python plots.py FOLDER                # where to put roofline.svg and occupancy.svg

Cells begin with `# %%`, as notebooks and editors know them. SPDX-License-Identifier: MIT
"""
# %% A kernel: multiply-adds, as many as REPEAT says, between a load and a store
import math
import os
import re
import sys

import rdna3

SOURCE = """.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
.text
.globl work
.p2align 8
.type work,@function
work:
  s_load_b64 s[4:5], s[0:1], 0x0
  v_lshl_or_b32 v0, s2, 8, v0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_b32 v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
{fmas}
  global_store_b32 v1, v2, s[4:5]
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel work
  .amdhsa_kernarg_size 8
  .amdhsa_user_sgpr_count 2
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 8
  .amdhsa_wavefront_size32 1
.end_amdhsa_kernel
"""


# %% The model's results as a point of the roofline
def measure(repeat, groups=96):
    kernel = rdna3.Kernel(SOURCE.format(fmas="  v_fma_f32 v2, v2, v2, v2\n" * repeat))
    timing = kernel.time(bytearray(4 * 256 * groups), grid=groups, block=256, sclk_mhz=2500)
    flops = float(re.search(r"\((\d+) operations\)", timing.summary)[1])
    read, written = re.search(r"read, written +(\d+), (\d+)", timing.summary).groups()
    seconds = timing.cycles / 2500e6
    return flops / (float(read) + float(written)), flops / seconds / 1e9, timing


# %% Pictures without a library
def svg(path, title, across, up, polylines, dots=()):
    """Lines and points of data over two axes, 640 x 400. An axis is (what, low, high, [(where, text), ...])."""
    (x_text, x0, x1, x_marks), (y_text, y0, y1, y_marks) = across, up

    def place(x, y):
        return 80 + 520 * (x - x0) / (x1 - x0), 340 - 300 * (y - y0) / (y1 - y0)

    def text(x, y, what, more=""):
        rows.append(f'<text x="{x:.1f}" y="{y:.1f}" {more}>{what}</text>')

    rows = ['<svg xmlns="http://www.w3.org/2000/svg" width="640" height="400" '
            'font-family="sans-serif" font-size="12">', '<rect width="640" height="400" fill="white"/>']
    text(80, 24, title, 'font-size="15"')
    text(340, 384, x_text, 'text-anchor="middle"')
    text(0, 0, y_text, 'text-anchor="middle" transform="translate(20,190) rotate(-90)"')
    for at, mark in x_marks:
        x, y = place(at, y0)
        rows.append(f'<path d="M{x:.1f} 40V{y:.1f}" stroke="#ddd"/>')
        text(x, y + 18, mark, 'text-anchor="middle"')
    for at, mark in y_marks:
        x, y = place(x0, at)
        rows.append(f'<path d="M{x:.1f} {y:.1f}H600" stroke="#ddd"/>')
        text(x - 8, y + 4, mark, 'text-anchor="end"')
    rows.append('<path d="M80 40V340H600" fill="none" stroke="#888"/>')
    for points in polylines:
        rows.append('<polyline fill="none" stroke="#06c" stroke-width="2" points="'
                    + " ".join("{:.1f},{:.1f}".format(*place(*p)) for p in points) + '"/>')
    for x, y, what in dots:
        x, y = place(x, y)
        rows.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#c30"/>')
        text(x + 8, y + 16, what)
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(rows + ["</svg>", ""]))


def decades(what, low, high):
    return what, low, high, [(x, f"{10.0 ** x:g}") for x in range(low, high + 1)]


def counts(what, most):
    """From 0 to a little above `most`, with four to nine round marks."""
    step = next(n * 10 ** e for e in range(12) for n in (1, 2, 5) if most <= n * 10 ** e * 9)
    return what, 0, most * 1.05, [(n, str(n)) for n in range(0, int(most) + 1, step)]


# %% Roofline: the chip's peaks against what the kernels reach, both axes logarithmic
PEAK_GFLOPS = 96 * 64 * 2 * 2.5 * 2  # CUs, lanes, multiply-add, GHz, two issues a cycle
PEAK_GBS = 960


def main(folder):
    dots, timing = [], None
    for repeat in (1, 16, 128):
        intensity, gflops, timing = measure(repeat)
        dots.append((math.log10(intensity), math.log10(gflops), f"{repeat} FMA{'s' * (repeat > 1)} a lane"))
        print(f"{repeat:4} FMAs: {intensity:8.2f} FLOP/byte, {gflops:8.1f} GFLOP/s, "
              f"{100 * gflops / min(PEAK_GFLOPS, intensity * PEAK_GBS):.1f} % of the roof")
    roof = [(x, math.log10(min(PEAK_GFLOPS, 10 ** x * PEAK_GBS)))
            for x in (-2, math.log10(PEAK_GFLOPS / PEAK_GBS), 3)]
    svg(os.path.join(folder, "roofline.svg"),
        f"Roofline: VRAM at {PEAK_GBS} GB/s, vector units at {PEAK_GFLOPS / 1e3:.1f} TFLOP/s",
        decades("FLOP/byte", -2, 3), decades("GFLOP/s", 0, 5), [roof], dots)
    # %% Occupancy: waves in flight over time
    steps = timing.occupancy()
    line = [p for (t, n), (t2, _) in zip(steps, steps[1:]) for p in ((t, n), (t2, n))] + [steps[-1]]
    most = max(n for _, n in steps)
    svg(os.path.join(folder, "occupancy.svg"), f"Waves in flight, of {96 * 2 * 16} that the chip holds",
        counts("shader cycles", steps[-1][0]), counts("waves", most), [line])
    print(f"occupancy: {most} waves at most, {timing.cycles} cycles")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
