#!/usr/bin/env python3
"""Install to a prefix, use what lies there and nothing else, take it away again.

    install.py BUILD CMAKE CC
    install.py --installed PREFIX [without-window]   # only use what a package brought there

SPDX-License-Identifier: MIT
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

INSTALLED = sys.argv[1] == "--installed"
BUILD, CMAKE, CC = ("", "cmake", "cc") if INSTALLED else sys.argv[1:4]
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
    env = {"PATH": f"{prefix}/bin:/usr/bin:/bin", "HOME": work, "SDL_VIDEODRIVER": "dummy"}
    source, code = os.path.join(work, "one.s"), os.path.join(work, "one.hsaco")
    with open(source, "w", encoding="utf-8") as f:
        f.write(KERNEL)
    run(rdna3, "asm", source, "-o", code, env=env)
    how = [rdna3, "run", code, "--arg", "buf:4", "--print", "0:u32"]
    expect(" 42\n" in run(*how, env=env), "rdna3 run prints no 42")
    told = run(rdna3, "exec", "--", *how, "--device", "kfd", env=env)
    expect(" 42\n" in told, f"rdna3 exec: {told}")
    window = "without-window" not in sys.argv and (
        INSTALLED or os.path.exists(os.path.join(BUILD, "rdna3-viz")))
    if window:
        expect("--screenshot" in run(rdna3, "viz", "--help", env=env), "no window")
    if INSTALLED and window:
        line, picture = os.path.join(work, "one.tl"), os.path.join(work, "one.png")
        run(*how, "--timing", "--timing-trace", line, env=env)
        run(rdna3, "viz", line, "--screenshot", picture, env=env)
        expect(os.path.getsize(picture) > 1000, "an empty picture")
    if INSTALLED:
        for page in ("man1/rdna3.1", "man1/rdna3-run.1", "man3/rdna3_base.3"):
            expect(glob.glob(f"{prefix}/share/man/{page}*"), f"no page {page}")


PROJECT = """cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(rdna3 0.1 REQUIRED)
foreach(name IN ITEMS disassemble run cache_lines observer)
    add_executable(${name} ${EXAMPLES}/${name}.c)
    target_link_libraries(${name} PRIVATE ${LIBRARY})
endforeach()
"""


def use_library(prefix, work):
    """The examples, by pkg-config and by CMake, shared and static, from this tree alone."""
    find = subprocess.run(["find", f"{prefix}/lib", "-name", "rdna3.pc"], capture_output=True, text=True,
                          check=True).stdout.strip()
    libdir = os.path.dirname(os.path.dirname(find))
    examples, = glob.glob(os.path.join(prefix, "share", "doc", "*rdna3*", "examples"))
    env = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(find), LD_LIBRARY_PATH=libdir)
    flags = run("pkg-config", "--cflags", "--libs", "rdna3", env=env)
    expect(prefix in flags or INSTALLED and "-lrdna3" in flags, f"pkg-config names {flags}")
    version = run("pkg-config", "--modversion", "rdna3", env=env).strip()
    expect(f"rdna3 {version}" in run(f"{prefix}/bin/rdna3", "--version"), f"version {version}")
    for name in EXAMPLES:
        run("sh", "-c", f"{CC} -Wall -Wextra -Werror '{examples}/{name}.c' -o '{work}/{name}' "
            "$(pkg-config --cflags --libs rdna3)", env=env)
    try_examples(work, examples, work, env)
    with open(os.path.join(work, "CMakeLists.txt"), "w", encoding="utf-8") as f:
        f.write(PROJECT)
    for library in ("rdna3::rdna3", "rdna3::static"):
        build = os.path.join(work, library.replace(":", ""))
        run(CMAKE, "-S", work, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DCMAKE_C_COMPILER={CC}", f"-DEXAMPLES={examples}", f"-DLIBRARY={library}")
        run(CMAKE, "--build", build)
        try_examples(build, examples, work, dict(os.environ))
    needs = run("ldd", os.path.join(work, "rdna3static", "run"))
    expect("librdna3" not in needs, "the static example needs the shared library")


EXAMPLES = {"run": "255 + 1 = 256, 88 instructions in 8 waves",
            "cache_lines": "global_load_b32 v2, v1, s[4:5]           1.0 lines for 32.0 lanes",
            "observer": "v_add_f32_e32 v2, 1.0, v2", "disassemble": "    s_endpgm\n"}


def try_examples(folder, examples, work, env):
    source = os.path.join(examples, "add.s")
    code = os.path.join(work, "one.hsaco")
    for name, wanted in EXAMPLES.items():
        told = run(os.path.join(folder, name), code if name == "disassemble" else source, env=env)
        expect(wanted in told, f"{name} prints {told}")


def use_installed(prefix):
    with tempfile.TemporaryDirectory() as work:
        use_program(prefix, work)
        use_library(prefix, work)
    return 0


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
        use_library(moved, work)
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
    sys.exit(use_installed(sys.argv[2]) if INSTALLED else main())
