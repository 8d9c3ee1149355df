// hip_demos.hip: the mistakes of the demos of NVIDIA's compute-sanitizer, and a few that its
// documentation names, as programs of our own: hip_demos NAME [fixed]. Lines that rdna3 check
// must name are marked. SPDX-License-Identifier: MIT
#include <hip/hip_runtime.h>
#include <stdio.h>
#include <string.h>

enum { N = 256, WAVE = 32 };

// ---- memcheck

__global__ void unaligned(char *p, bool bug)
{
    *reinterpret_cast<volatile int *>(p + (bug ? 1 : 4)) = 42; // UNALIGNED
}

__global__ void wild(int *p, bool bug)
{
    *(bug ? reinterpret_cast<int *>(0x87654320) : p) = 42; // WILD
}

// ---- racecheck

__global__ void block_sum(const int *in, int *out, bool bug)
{
    __shared__ int s[N];
    int t = (int)threadIdx.x;
    s[t] = in[t] + t; // BLOCK STORE
    if (!bug)
        __syncthreads();
    if (t == 0) {
        int all = 0;
        for (int i = 0; i < N; i++)
            all += s[i]; // BLOCK LOAD
        *out = all;      // BLOCK SUM
    }
}

__global__ void wave_sum(const int *in, int *out, bool bug)
{
    __shared__ int s[N], part[N / WAVE];
    int t = (int)threadIdx.x, w = t / WAVE;
    s[t] = in[t] + t; // WAVE STORE
    if (!bug)
        __syncthreads();
    if (t % WAVE == 0) {
        int all = 0;
        for (int i = 0; i < WAVE; i++)
            all += s[w * WAVE + i]; // WAVE LOAD
        part[w] = all;
    }
    __syncthreads();
    if (t == 0) {
        int all = 0;
        for (int i = 0; i < N / WAVE; i++)
            all += part[i];
        *out = all;
    }
}

// ---- initcheck

__global__ void increment(int *v)
{
    v[threadIdx.x] += 1; // INCREMENT
}

__global__ void print(const int *v)
{
    printf("%d\n", v[threadIdx.x] + 1); // PRINTED
}

// ---- synccheck

__global__ void divergent(const int *in, int *out, bool bug)
{
    __shared__ int s[N];
    int t = (int)threadIdx.x;
    s[t] = in[t];
    if (!bug || t < WAVE / 2)
        __syncthreads(); // DIVERGENT
    if (t < WAVE / 2)
        out[t] = s[t ^ 1];
}

// ---- streams

__global__ void produce(int *v, int rounds)
{
    int x = (int)threadIdx.x;
    for (int i = 0; i < rounds; i++)
        x = x * 3 + 1;
    v[threadIdx.x] = x; // PRODUCE
}

__global__ void consume(const int *v, int *out)
{
    out[threadIdx.x] = v[threadIdx.x] + 1; // CONSUME
}

static int *make(size_t n)
{
    int *p = nullptr;
    if (hipMalloc(&p, n * sizeof *p) != hipSuccess) // MADE
        exit(3);
    return p;
}

/* Kernels of two queues, one of which waits for the other. */
__global__ void wait_for(int *flag, int *here)
{
    __hip_atomic_store(here, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
    while (!__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT))
        ;
}

__global__ void raise(int *flag)
{
    __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}

static void beside(int *flag)
{
    hipStream_t a, b;
    int *here = nullptr;
    (void)hipStreamCreateWithFlags(&a, hipStreamNonBlocking);
    (void)hipStreamCreateWithFlags(&b, hipStreamNonBlocking);
    if (hipHostMalloc(&here, sizeof *here) != hipSuccess)
        exit(3);
    *here = 0;
    wait_for<<<1, 1, 0, a>>>(flag, here);
    while (!__atomic_load_n(here, __ATOMIC_ACQUIRE))
        ;
    raise<<<1, 1, 0, b>>>(flag);
    (void)hipDeviceSynchronize();
    (void)hipHostFree(here);
}

static void streams(int *v, int *out, bool bug)
{
    hipStream_t a, b;
    hipEvent_t done;
    (void)hipStreamCreate(&a);
    (void)hipStreamCreate(&b);
    (void)hipEventCreate(&done);
    produce<<<1, N, 0, a>>>(v, 100000);
    if (!bug) {
        (void)hipEventRecord(done, a);
        (void)hipStreamWaitEvent(b, done, 0);
    }
    consume<<<1, N, 0, b>>>(v, out);
    (void)hipDeviceSynchronize();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    bool bug = argc < 3;
    auto is = [&](const char *name) { return strcmp(what, name) == 0; };
    int host[N], *in = make(N), *out = make(N), *fresh = make(N);
    for (int i = 0; i < N; i++)
        host[i] = i;
    (void)hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice);
    (void)hipMemset(out, 0, sizeof host);
    if (is("unaligned"))
        unaligned<<<1, 1>>>(reinterpret_cast<char *>(out), bug);
    else if (is("wild"))
        wild<<<1, 1>>>(out, bug);
    else if (is("block_sum"))
        block_sum<<<1, N>>>(in, out, bug);
    else if (is("wave_sum"))
        wave_sum<<<1, N>>>(in, out, bug);
    else if (is("memset")) { // elements where bytes are meant
        (void)hipMemset(fresh, 0, bug ? N : sizeof host);
        increment<<<1, N>>>(fresh);
    } else if (is("print"))
        print<<<1, 1>>>(bug ? fresh : in);
    else if (is("beside"))
        beside(out);
    else if (is("divergent"))
        divergent<<<1, N>>>(in, out, bug);
    else if (is("streams"))
        streams(fresh, out, bug);
    else if (is("copy"))
        (void)hipMemcpy(host, bug ? in + 1 : in, sizeof host, hipMemcpyDeviceToHost); // COPY
    else if (!is("leak"))
        return 2;
    (void)hipDeviceSynchronize();
    if (is("leak") && bug)
        return 0;
    (void)hipFree(in);
    (void)hipFree(out);
    (void)hipFree(fresh);
    return 0;
}
