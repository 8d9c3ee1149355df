#!/usr/bin/env python3
"""printf in kernels, as clang compiles it for OpenCL and HIP (both ways), under `rdna3 run`.

    printf.py RDNA3

The device libraries' __printf_alloc is written out here, as a plain clang has none.
SPDX-License-Identifier: MIT
"""
import os
import shutil
import subprocess
import sys
import tempfile

RDNA3 = os.path.abspath(sys.argv[1])
CLANG = shutil.which("clang-19")
CL = r"""
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__global uint *buffer(void)
{
    return (__global uint *)((__constant size_t *)__builtin_amdgcn_implicitarg_ptr())[9];
}
__global char *__printf_alloc(uint bytes)
{
    __global uint *p = buffer();
    uint size = p[1];
    uint at = __opencl_atomic_load((__global atomic_uint *)p, memory_order_relaxed,
                                   memory_scope_device);
    do {
        if (8 + at + bytes > size)
            return 0;
    } while (!__opencl_atomic_compare_exchange_strong((__global atomic_uint *)p, &at, at + bytes,
                 memory_order_relaxed, memory_order_relaxed, memory_scope_device));
    return (__global char *)p + 8 + at;
}
kernel void forms(global float *x, int n)
{
    int i = __builtin_amdgcn_workitem_id_x();
    float4 v = (float4)(1.5f, 2, -3, x[i]);
    uchar4 c = (uchar4)(1, 2, 3, i);
    short2 s = (short2)(-1, i);
    half2 h = (half2)(0.5h, -2.0h);
    if (i != 3)
        return;
    printf("hello %d: %5.2f %s|%v4hlf %v4hhd %v2hd %c %%\n", i, x[i], "str:\t", v, c, s, 'x');
    printf("%ld %#lx %e %u %hhd %hd\n", (long)i << 40, (ulong)i << 40, (double)x[i], n, (char)n,
           (short)n);
    printf("%v2hf plain\n", h);
    printf("%v3hlf %a %g %-6d| %+d %06.1f %5c| %.2s %p\n", v.xyz, x[i], 1e10, n, n, x[i], 'c',
           "abc", (global void *)4096);
}
kernel void lines(global uint *x)
{
    printf("%u\n", (uint)__builtin_amdgcn_workgroup_id_x());
}
kernel void fault(global uint *x)
{
    printf("before\n");
    x[1 << 20] = 1;
}
kernel void full(global uint *x)
{
    for (uint i = 0; i < 1100000; i++)
        printf("a\n");
}
kernel void broken(global uint *x)
{
    printf("good\n");
    __global uint *p = buffer();
    for (uint i = 0; i < 64; i++)
        p[p[0] / 4 + 2 + i] = x[i];
    p[0] += 256;
}
kernel void cut(global uint *x)
{
    printf("%u\n", x[0]);
    for (uint i = 0; i < 1100000; i++)
        printf("a\n");
    buffer()[(4 << 20) / 4 - 1] = buffer()[2]; // the head of a record, nothing behind it
}
kernel void beyond(global uint *x)
{
    for (uint i = 0; i < 1100000; i++)
        printf("a\n");
    buffer()[0] = x[0];
}
kernel void huge(global uint *x)
{
    printf("good\n");
    buffer()[0] = x[0];
}
"""
HIP = r"""
#define GLOBAL __attribute__((address_space(1)))
extern "C" __attribute__((device)) int printf(const char *fmt, ...);
extern "C" __attribute__((device)) GLOBAL char *__printf_alloc(unsigned bytes)
{
    unsigned *p = (unsigned *)((unsigned long long *)__builtin_amdgcn_implicitarg_ptr())[9];
    return (GLOBAL char *)((char *)p + 8 + __atomic_fetch_add(p, bytes, __ATOMIC_RELAXED));
}
extern "C" __attribute__((global)) void hello(const char *x, const char *format, int n, float f)
{
    if (__builtin_amdgcn_workitem_id_x() != 2)
        return;
    printf("hip %d|%6s|%.1f: %lld %c%%\n", n, x, f, 1ll << 40, 'z');
    printf(format, n, f, (void *)64);
}
"""
# What __ockl_hostcall_internal and __ockl_printf_* of ROCm's device libraries do.
HOSTCALL = r"""
#define DEVICE extern "C" __attribute__((device))
typedef unsigned long long u64;
struct header { u64 next, lanes; unsigned service, control; };
struct buffer { header *headers; u64 (*payloads)[64][8]; u64 doorbell, free, ready, mask; };
DEVICE int printf(const char *fmt, ...);
DEVICE u64 first_lane(u64 x)
{
    return (u64)(unsigned)__builtin_amdgcn_readfirstlane((int)(x >> 32)) << 32 |
           (unsigned)__builtin_amdgcn_readfirstlane((int)x);
}
DEVICE void push(buffer *b, u64 *stack, u64 packet)
{
    u64 top = __atomic_load_n(stack, __ATOMIC_RELAXED);
    do
        b->headers[packet & b->mask].next = top;
    while (!__atomic_compare_exchange_n(stack, &top, packet, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}
DEVICE u64 host(unsigned service, u64 desc, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g)
{
    buffer *in = (buffer *)((u64 *)__builtin_amdgcn_implicitarg_ptr())[10];
    unsigned lane = __builtin_amdgcn_mbcnt_lo(~0u, 0);
    bool first = lane == (unsigned)__builtin_amdgcn_readfirstlane((int)lane);
    u64 packet = 0;
    if (first) {
        packet = __atomic_load_n(&in->free, __ATOMIC_ACQUIRE);
        while (!__atomic_compare_exchange_n(&in->free, &packet, in->headers[packet & in->mask].next, false,
                                            __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            ;
    }
    packet = first_lane(packet);
    header *h = &in->headers[packet & in->mask];
    u64 *word = in->payloads[packet & in->mask][lane], more[] = {desc, a, b, c, d, e, f, g};
    u64 lanes = __builtin_amdgcn_read_exec();
    for (int i = 0; i < 8; i++)
        word[i] = more[i];
    if (first) {
        h->lanes = lanes;
        h->service = service;
        h->control = 1;
        push(in, &in->ready, packet);
        __atomic_fetch_add((u64 *)in->doorbell + 1, 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(&h->control, __ATOMIC_ACQUIRE) & 1)
            __builtin_amdgcn_s_sleep(1);
    }
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "");
    u64 answer = __atomic_load_n(word, __ATOMIC_RELAXED);
    if (first)
        push(in, &in->free, packet + in->mask + 1);
    return answer;
}
DEVICE u64 __ockl_printf_begin(u64)
{
    return host(2, 33, 0, 0, 0, 0, 0, 0, 0);
}
DEVICE u64 __ockl_printf_append_args(u64 desc, unsigned n, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g,
                                     unsigned last)
{
    return host(2, (desc & ~0xe0ull) | n << 5 | (last ? 2 : 0), a, b, c, d, e, f, g);
}
DEVICE u64 __ockl_printf_append_string_n(u64 desc, const char *text, u64 n, unsigned last)
{
    if (!text)
        return host(2, (desc & ~0xe0ull) | 32 | (last ? 2 : 0), 0, 0, 0, 0, 0, 0, 0);
    while (1) {
        u64 word[7] = {0}, bytes = n < 56 ? n : 56;
        for (u64 i = 0; i < bytes; i++)
            word[i / 8] |= (u64)(unsigned char)text[i] << i % 8 * 8;
        bool end = last && bytes == n;
        desc = host(2, (desc & ~0xe0ull) | (bytes + 7) / 8 << 5 | (end ? 2 : 0), word[0], word[1], word[2],
                    word[3], word[4], word[5], word[6]);
        if (bytes == n)
            return desc;
        text += bytes;
        n -= bytes;
    }
}
#define KERNEL extern "C" __attribute__((global)) void
KERNEL hello(const char *x, int n, float f)
{
    int i = __builtin_amdgcn_workitem_id_x();
    if (i % 8 != 2)
        return;
    n = printf("hip %d %d|%6s|%.1f: %lld %c%%\n", i, n, x, f, 1ll << 40, 'z');
    if (i == 2)
        printf("what is longer than fifty-six bytes goes to the host in pieces: %d %s.\n", n, "and another string");
}
KERNEL lines(const char *x)
{
    printf("%d\n", __builtin_amdgcn_workgroup_id_x());
}
KERNEL fault(unsigned *x)
{
    printf("before\n");
    x[1 << 20] = 1;
}
KERNEL other(u64 *x)
{
    x[0] = host(3, 0, 64, 0, 0, 0, 0, 0, 0);
}
KERNEL to_stderr(const char *x)
{
    u64 desc = host(2, 33, 1, 0, 0, 0, 0, 0, 0);
    __ockl_printf_append_string_n(desc, x, 4, 1);
}
KERNEL empty(const u64 *x)
{
    host(2, 3, 0, 0, 0, 0, 0, 0, 0);
}
KERNEL stale(const u64 *x)
{
    printf("good\n");
    host(2, 1 << 8 | 1 << 5, 0, 0, 0, 0, 0, 0, 0);
}
KERNEL broken(const u64 *x)
{
    for (int i = 0; i < 64; i++)
        host(2, x[i], x[i + 1], x[i + 2], x[i + 3], 0, 0, 0, 0);
    printf("still there\n");
}
"""
failed = 0


def call(*command):
    r = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300, check=False)
    return r.returncode, r.stdout, r.stderr


def expect(what, got, want):
    global failed
    if got != want:
        failed = 1
        print(f"FAILED: {what}: {got!r}, not {want!r}")


def run(kernel, *more):
    return call(RDNA3, "run", "p.hsaco", "--kernel", kernel, *more)


def opencl():
    expect("forms", run("forms", "--block", "32", "--arg", "buf:128:iota=f32", "--arg", "i32:-7"),
           (0, "hello 3:  3.00 str:\t|1.500000,2.000000,-3.000000,3.000000 1,2,3,3 -1,3 x %\n"
               "3298534883328 0x30000000000 3.000000e+00 4294967289 -7 -7\n"
               "0.500000,-2.000000 plain\n"
               "1.500000,2.000000,-3.000000 0x1.8p+1 1e+10 -7    | -7 0003.0     c| ab 0x1000\n",
            ""))
    lines = "".join(f"{i}\n" for i in range(50))
    for how in (["--threads", "1"], ["--threads", "4"], ["--engine", "interp"],
                ["--check", "mem,init"]):
        expect(" ".join(how), run("lines", "--grid", "50", "--arg", "buf:4", *how)[:2], (0, lines))
    for how in (["--timing"], ["--check", "mem,race"]): # beside one another
        status, out, _ = run("lines", "--grid", "50", "--arg", "buf:4", *how)
        got = [int(x) for x in out.splitlines()[:50]]
        expect(" ".join(how), (status, sorted(got)), (0, list(range(50))))
    status, out, err = run("lines", "--arg", "buf:4", "--stats", "--json")
    expect("beside JSON", (status, out[:1], err), (0, "{", "0\n"))
    status, out, err = run("fault", "--arg", "buf:4")
    expect("before a fault", (status, out, err[:6]), (1, "before\n", "error:"))
    status, out, err = run("full", "--arg", "buf:4")
    expect("a full buffer", (status, out == "a\n" * (((4 << 20) - 8) // 4), err), (
        0, True, "warning: the buffer of printf is full: the rest is missing\n"))
    for seed in range(10):
        status, out, err = run("broken", "--arg", f"buf:256:rand=u32,{seed}")
        expect("garbage", (status, out[:5], err[-15:]), (0, "good\n", "rest is missing\n"[-15:]))
    for used in ("ffffffff", "0000f0ff", "07000000", "fcff3f00"):
        with open("used", "wb") as f:
            f.write(bytes.fromhex(used))
        status, _, err = run("huge", "--arg", "file:used")
        expect("a wrong number of bytes", (status, "holds something else" in err), (0, True))
    status, out, err = run("cut", "--arg", "buf:4")
    expect("a record that the buffer's end cuts", (status, out[:4], "holds something else" in err),
           (0, "0\na\n", True))
    with open("used", "wb") as f:
        f.write((4 << 20).to_bytes(4, "little"))
    status, out, err = run("beyond", "--arg", "file:used")
    expect("more than the buffer holds", (status, out, "holds something else" in err), (0, "", True))


def hip():
    with open("p.hip", "w", encoding="utf-8") as f:
        f.write(HIP)
    common = [CLANG, "-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "-O2",
              "--offload-arch=gfx1100", "--no-gpu-bundle-output", "p.hip", "-o", "h.hsaco"]
    r = subprocess.run(common + ["-mprintf-kind=buffered"], capture_output=True, check=False)
    if r.returncode:
        print("no HIP here:", r.stderr)
        return
    for name, text in (("x", "str"), ("format", "own %d %.1f %s.\n")):
        with open(name, "wb") as f:
            f.write(text.encode() + b"\0")
    args = ["--block", "32", "--arg", "file:x", "--arg", "file:format", "--arg", "i32:-7",
            "--arg", "f32:1.5"]
    expect("HIP", call(RDNA3, "run", "h.hsaco", *args),
           (0, "hip -7|   str|1.5: 1099511627776 z%\nown -7 1.5 0x40.\n", ""))
    args[3] = "u64:0"
    expect("HIP, a null pointer", call(RDNA3, "run", "h.hsaco", *args),
           (0, "hip -7|(null)|1.5: 1099511627776 z%\nown -7 1.5 0x40.\n", ""))


def hostcalls():
    with open("c.hip", "w", encoding="utf-8") as f:
        f.write(HOSTCALL)
    r = subprocess.run([CLANG, "-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "-O1",
                        "--offload-arch=gfx1100", "--no-gpu-bundle-output", "-mprintf-kind=hostcall",
                        "c.hip", "-o", "p.hsaco"], capture_output=True, check=False)
    if r.returncode:
        print("no HIP here:", r.stderr)
        return
    with open("x", "wb") as f:
        f.write(b"str\0")
    said = "".join(f"hip {i} -7|   str|1.5: 1099511627776 z%\n" for i in (2, 10, 18, 26))
    said += "what is longer than fifty-six bytes goes to the host in pieces: 38 and another string.\n"
    hello = ["hello", "--block", "32", "--arg", "file:x", "--arg", "i32:-7", "--arg", "f32:1.5"]
    for how in ([], ["--engine", "interp"], ["--check", "mem,init,wait,sync"]):
        expect("hostcall " + str(how), run(*hello, *how)[:2], (0, said))
    status, out, _ = run(*hello, "--timing")
    expect("hostcall, timed", (status, out[:len(said)]), (0, said))
    status, out, err = run(*hello, "--timing", "--timing-sample", "auto")
    expect("hostcall, several processes", (status, out, "calls the host" in err), (1, "", True))
    status, out, err = run(*hello, "--stats", "--json")
    expect("hostcall beside JSON", (status, out[:1], err), (0, "{", said))
    for threads in "1", "4":
        status, out, err = run("lines", "--grid", "300", "--arg", "file:x", "--threads", threads)
        expect("lines", (status, sorted(map(int, out.split())), err), (0, list(range(300)), ""))
    status, out, err = run("fault", "--arg", "buf:4")
    expect("hostcall before a fault", (status, out, err[:6]), (1, "before\n", "error:"))
    status, out, err = run("other", "--arg", "buf:8:fill=255", "--print", "0:u64")
    expect("another service", (status, out.split()[-1], "service 3 (memory)" in err), (0, "0", True))
    expect("stderr", run("to_stderr", "--arg", "file:x"), (0, "", "str"))
    for kernel, said in (("empty", ""), ("stale", "good\n")):
        status, out, err = run(kernel, "--arg", "file:x")
        expect(kernel, (status, out, "is no message" in err), (0, said, True))
    for seed in range(8):
        status, out, err = run("broken", "--arg", f"buf:1K:rand=u64,{seed}")
        expect("no messages", (status, "still there\n" in out, "is no message" in err), (0, True, True))


if not CLANG:
    print("skipped: no clang-19")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("p.cl", "w", encoding="utf-8") as source:
        source.write(CL)
    subprocess.run([CLANG, "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa",
                    "-mcpu=gfx1100", "-nogpulib", "-O2",
                    "p.cl", "-o", "p.hsaco"], check=True)
    opencl()
    hip()
    hostcalls()
    os.chdir("/")
sys.exit(failed)
