// hip_streams.hip: do kernels of two streams share the chip? Each wave notes the 100 MHz counter when it begins and when it
// ends; the times are those of a kernel alone, the longer one of two at once, and both together, in ticks. Results are checked.
// SPDX-License-Identifier: MIT
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#define HIP(call)                                                                                                      \
    do {                                                                                                               \
        hipError_t e = (call);                                                                                         \
        if (e != hipSuccess) {                                                                                         \
            fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(e));                                                  \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

static const int groups = 192, block = 256, waves = groups * block / 32;

__global__ void work(unsigned long long *times, float *out, int turns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long begin = wall_clock64();
    float x[8];
    for (int n = 0; n < 8; n++)
        x[n] = i + n;
    for (int k = 0; k < turns; k++)
        for (int n = 0; n < 8; n++) // independent of one another: the VALU is always busy
            x[n] = x[n] * 0.5f + 1;
    out[i] = x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7];
    __threadfence();
    unsigned long long end = wall_clock64();
    if (threadIdx.x % 32 == 0) {
        times[2 * (i / 32)] = begin;
        times[2 * (i / 32) + 1] = end;
    }
}

struct Span {
    unsigned long long begin = ~0ull, end = 0;
    unsigned long long ticks() const { return end - begin; }
    void add(unsigned long long b, unsigned long long e)
    {
        begin = std::min(begin, b);
        end = std::max(end, e);
    }
};

int main()
{
    hipStream_t stream[2];
    unsigned long long *times[2];
    float *out[2];
    std::vector<float> got[2];
    for (int k = 0; k < 2; k++) {
        HIP(hipStreamCreate(&stream[k]));
        HIP(hipMalloc(&times[k], 2 * waves * sizeof **times));
        HIP(hipMalloc(&out[k], groups * block * sizeof **out));
        work<<<groups, block, 0, stream[k]>>>(times[k], out[k], 1); // whatever is set up with the first one
        HIP(hipDeviceSynchronize());
    }
    Span alone, longest, both;
    for (int n = 1; n <= 2; n++) {
        for (int k = 0; k < n; k++)
            work<<<groups, block, 0, stream[k]>>>(times[k], out[k], 128);
        HIP(hipDeviceSynchronize());
        for (int k = 0; k < n; k++) {
            std::vector<unsigned long long> t(2 * waves);
            Span s;
            HIP(hipMemcpy(t.data(), times[k], t.size() * sizeof t[0], hipMemcpyDeviceToHost));
            for (int w = 0; w < waves; w++)
                s.add(t[2 * w], t[2 * w + 1]);
            if (n == 1)
                alone = s;
            else if (both.add(s.begin, s.end), s.ticks() > longest.ticks() || !longest.end)
                longest = s;
            got[k].resize(groups * block);
            HIP(hipMemcpy(got[k].data(), out[k], got[k].size() * sizeof(float), hipMemcpyDeviceToHost));
        }
    }
    if (got[0] != got[1])
        return fprintf(stderr, "the results differ\n"), 1;
    printf("alone %llu, at once %llu, both %llu\n", alone.ticks(), longest.ticks(), both.ticks());
    return 0;
}
