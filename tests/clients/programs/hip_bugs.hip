// hip_bugs.hip: one mistake with memory for each name: hip_bugs NAME; "none" makes none.
// The lines that rdna3 check must name are marked. SPDX-License-Identifier: MIT
#include <hip/hip_runtime.h>
#include <stdio.h>
#include <string.h>

__global__ void fill(int *to, int from, int n)
{
    int i = from + (int)threadIdx.x;
    if (i < n)
        to[i] = i; // KERNEL
}

__global__ void sum(const int *from, int *to, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += from[i]; // LOOP
    *to = s;
}

enum { N = 25 }; // 100 bytes of a page

static void run(int *p, int from, int n)
{
    fill<<<1, 64>>>(p, from, n);
}

static int *make(size_t n)
{
    int *p = nullptr;
    (void)hipMalloc(&p, n * sizeof *p); // MADE
    return p;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "none";
    auto is = [&](const char *name) { return strcmp(what, name) == 0; };
    int *a = make(N), *b = make(N), *page = make(1024), *other = make(1024);
    run(a, 0, N);
    run(b, 0, N);
    if (is("past_end"))
        run(a, 0, N + 1);
    if (is("before_start"))
        run(b, -1, N);
    if (is("neighbour")) // whole pages: the next allocation would begin right behind
        run(page, 1000, 1030);
    if (is("read")) {
        sum<<<1, 1>>>(a, b, N + 3);
        sum<<<1, 1>>>(a, b, N);
    }
    if (is("use_after_free")) {
        (void)hipFree(other); // FREED
        run(other, 0, 64);
    }
    if (is("double_free")) {
        (void)hipFree(other); // FREED
        (void)hipFree(other); // TWICE
    }
    if (is("inside_free"))
        (void)hipFree(page + 1); // INSIDE
    if (is("managed") || is("host") || is("pitch") || is("async") || is("async_freed")) {
        int *p = nullptr;
        size_t pitch = 0;
        hipStream_t stream;
        (void)hipStreamCreate(&stream);
        if (is("managed"))
            (void)hipMallocManaged(&p, N * 4);
        else if (is("host"))
            (void)hipHostMalloc(&p, N * 4, 0);
        else if (is("pitch"))
            (void)hipMallocPitch((void **)&p, &pitch, N * 4, 3);
        else
            (void)hipMallocAsync((void **)&p, N * 4, stream);
        int n = is("pitch") ? (int)(pitch * 3 / 4) : N;
        (void)hipStreamSynchronize(stream);
        if (is("async_freed")) {
            fill<<<1, 64, 0, stream>>>(p, 0, n);
            (void)hipFreeAsync(p, stream);
            (void)hipStreamSynchronize(stream);
            fill<<<1, 64, 0, stream>>>(p, 0, n);
            (void)hipStreamSynchronize(stream);
        } else {
            fill<<<1, 64, 0, stream>>>(p, n - 20, n + 1);
            (void)hipStreamSynchronize(stream);
            (void)(is("host") ? hipHostFree(p) : is("async") ? hipFreeAsync(p, stream) : hipFree(p));
        }
        (void)hipStreamDestroy(stream);
    }
    (void)hipDeviceSynchronize();
    if (is("none")) { // much that is right
        for (int i = 0; i < 40; i++) {
            int *p = make(i * 100 + 1), *q = nullptr;
            run(p, 0, i * 100 + 1);
            (void)hipMallocAsync((void **)&q, i * 12 + 4, 0);
            fill<<<1, 64>>>(q, 0, i * 3 + 1);
            (void)hipFreeAsync(q, 0);
            (void)hipMemset(p, 0, i * 400 + 4);
            (void)hipMemcpy(p, p + i * 50, 4 * (i * 50), hipMemcpyDeviceToDevice);
            (void)hipFree(p);
        }
    }
    if (!is("leak")) {
        if (!is("use_after_free") && !is("double_free"))
            (void)hipFree(other);
        (void)hipFree(a);
        (void)hipFree(b);
        (void)hipFree(page);
    }
    printf("%s done\n", what);
    return 0;
}
