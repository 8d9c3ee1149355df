#!/usr/bin/env python3
"""Install to a prefix, use what lies there and nothing else, take it away again.

    install.py BUILD CMAKE CC

SPDX-License-Identifier: MIT
"""
import os
import shutil
import subprocess
import sys
import tempfile

BUILD, CMAKE, CC = sys.argv[1:4]
KERNEL = """.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
.text
.globl one
.p2align 8
.type one,@function
one:
  v_mov_b32 v1, 0x2a
  v_mov_b32 v2, 0
  s_load_b64 s[0:1], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  global_store_b32 v2, v1, s[0:1]
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel one
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 8
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_wavefront_size32 1
.end_amdhsa_kernel
"""


def run(*command, **kw):
    r = subprocess.run(command, capture_output=True, text=True, check=False, **kw)
    if r.returncode:
        sys.exit(f"{' '.join(command)}: exit {r.returncode}\n{r.stdout}{r.stderr}")
    return r.stdout + r.stderr


def everything(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder)
                  for at, folders, names in os.walk(folder) for name in folders + names)


def expect(condition, what):
    if not condition:
        sys.exit("wrong: " + what)


def use_program(prefix, work):
    """The program at its new place finds its library and the window."""
    rdna3 = os.path.join(prefix, "bin", "rdna3")
    env = {"PATH": f"{prefix}/bin:/usr/bin:/bin", "HOME": work}
    source, code = os.path.join(work, "one.s"), os.path.join(work, "one.hsaco")
    with open(source, "w", encoding="utf-8") as f:
        f.write(KERNEL)
    run(rdna3, "asm", source, "-o", code, env=env)
    how = [rdna3, "run", code, "--arg", "buf:4", "--print", "0:u32"]
    expect(" 42\n" in run(*how, env=env), "rdna3 run prints no 42")
    told = run(rdna3, "exec", "--", *how, "--device", "kfd", env=env)
    expect(" 42\n" in told, f"rdna3 exec: {told}")
    if os.path.exists(os.path.join(BUILD, "rdna3-viz")):
        expect("--screenshot" in run(rdna3, "viz", "--help", env=env), "no window")


def main():
    keep = {name: open(os.path.join(BUILD, name), "rb").read()
            for name in ("install_manifest.txt", "install_folders.txt")
            if os.path.exists(os.path.join(BUILD, name))}
    with tempfile.TemporaryDirectory() as folder:
        work, prefix = os.path.join(folder, "work"), os.path.join(folder, "a prefix")
        os.mkdir(work)
        before = everything(folder)
        run(CMAKE, "--install", BUILD, "--prefix", prefix)
        run(CMAKE, "--install", BUILD, "--prefix", prefix)  # again changes nothing
        # Away from the build, which must not be needed.
        moved = os.path.join(folder, "moved")
        shutil.copytree(prefix, moved, symlinks=True)
        use_program(moved, work)
        shutil.rmtree(moved)
        shutil.rmtree(work)
        os.mkdir(work)
        run(CMAKE, "--build", BUILD, "--target", "uninstall")
        left = [name for name in everything(folder) if name not in before]
        expect(not left, f"uninstall leaves {left}")
    for name, data in keep.items():
        with open(os.path.join(BUILD, name), "wb") as f:
            f.write(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
