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
def svg(path, title, axes, polylines, dots=()):
    """Lines and points of data within axes (x0, x1, y0, y1), 600 x 400."""
    x0, x1, y0, y1 = axes

    def place(x, y):
        return f"{60 + 520 * (x - x0) / (x1 - x0):.1f},{360 - 320 * (y - y0) / (y1 - y0):.1f}"

    rows = ['<svg xmlns="http://www.w3.org/2000/svg" width="600" height="400" '
            'font-family="sans-serif" font-size="12">',
            '<rect width="600" height="400" fill="white"/>',
            f'<text x="60" y="24" font-size="15">{title}</text>',
            '<path d="M60 40V360H580" fill="none" stroke="#888"/>']
    for points in polylines:
        rows.append('<polyline fill="none" stroke="#06c" stroke-width="2" points="'
                    + " ".join(place(*p) for p in points) + '"/>')
    for x, y, text in dots:
        at_x, at_y = place(x, y).split(",")
        rows.append(f'<circle cx="{at_x}" cy="{at_y}" r="4" fill="#c30"/>'
                    f'<text x="{float(at_x) + 6}" y="{float(at_y) - 6}">{text}</text>')
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(rows + ["</svg>", ""]))


# %% Roofline: the chip's peaks against what the kernels reach, both axes logarithmic
PEAK_GFLOPS = 96 * 64 * 2 * 2.5 * 2  # CUs, lanes, multiply-add, GHz, two issues a cycle
PEAK_GBS = 960


def main(folder):
    dots, timing = [], None
    for repeat in (1, 16, 128):
        intensity, gflops, timing = measure(repeat)
        dots.append((math.log10(intensity), math.log10(gflops), f"{repeat} FMAs"))
        print(f"{repeat:4} FMAs: {intensity:8.2f} FLOP/byte, {gflops:8.1f} GFLOP/s, "
              f"{100 * gflops / min(PEAK_GFLOPS, intensity * PEAK_GBS):.1f} % of the roof")
    roof = [(x / 10, math.log10(min(PEAK_GFLOPS, 10 ** (x / 10) * PEAK_GBS)))
            for x in range(-20, 31)]
    svg(os.path.join(folder, "roofline.svg"), "Roofline: log GFLOP/s over log FLOP/byte",
        (-2, 3, 0, 5), [roof], dots)
    # %% Occupancy: waves in flight over time
    steps = timing.occupancy()
    line = [p for (t, n), (t2, _) in zip(steps, steps[1:]) for p in ((t, n), (t2, n))]
    svg(os.path.join(folder, "occupancy.svg"), "Waves in flight over shader cycles",
        (0, steps[-1][0], 0, max(n for _, n in steps) * 1.05), [line])
    print(f"occupancy: {max(n for _, n in steps)} waves at most, {timing.cycles} cycles")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
