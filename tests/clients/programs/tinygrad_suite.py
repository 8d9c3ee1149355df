# tinygrad_suite.py: unmodified tinygrad on the device: copies, elementwise, reduce, matmul,
# JIT graph. Prints "PART ok"; fails on the first wrong value. SPDX-License-Identifier: MIT
import array
import math
import random

from tinygrad import Device, Tensor, TinyJit

assert Device.DEFAULT == "AMD", Device.DEFAULT
rnd = random.Random(5)


def values(n):
    return array.array("f", [rnd.uniform(-1, 1) for _ in range(n)]).tolist()


def close(got, want, tolerance):
    assert len(got) == len(want)
    for g, w in zip(got, want):
        assert math.isclose(g, w, rel_tol=tolerance, abs_tol=tolerance), (g, w)


a, b = values(5000), values(5000)
ta, tb = Tensor(a).realize(), Tensor(b).realize()
close(ta.tolist(), a, 0)
print("copies ok")

close((ta * tb + 2).relu().tolist(), [max(x * y + 2, 0) for x, y in zip(a, b)], 1e-6)
close(ta.exp2().tolist(), [2.0**x for x in a], 1e-5)
print("elementwise ok")

close([ta.sum().item(), ta.max().item()], [math.fsum(a), max(a)], 1e-4)
print("reduce ok")

n = 48
x, y = a[: n * n], b[: n * n]
got = (Tensor(x).reshape(n, n) @ Tensor(y).reshape(n, n)).flatten().tolist()
want = [math.fsum(x[i * n + k] * y[k * n + j] for k in range(n)) for i in range(n) for j in range(n)]
close(got, want, 1e-4)
print("matmul ok")


@TinyJit
def step(t):
    u = (t + 1).contiguous().realize()
    return (u * 3).contiguous().realize()


for i in range(6):
    out = step(Tensor([float(i), float(i + 1)]).contiguous().realize())
    close(out.tolist(), [3.0 * (i + 1), 3.0 * (i + 2)], 0)
print("jit ok")
