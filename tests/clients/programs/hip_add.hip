// hip_add.hip: sums of two arrays through the HIP runtime, copies there and back; prints
// "bad=N", the number of wrong results. SPDX-License-Identifier: MIT
#include <cstdio>
#include <hip/hip_runtime.h>

#define COUNT 1000

__global__ void add(const float *a, const float *b, float *sum, int count)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count)
        sum[i] = a[i] + b[i];
}

static void must(hipError_t e, const char *what)
{
    if (e == hipSuccess)
        return;
    printf("%s: %s\n", what, hipGetErrorString(e));
    exit(1);
}

int main()
{
    static float host[3][COUNT];
    float *device[3];
    int bad = 0;
    for (int i = 0; i < COUNT; i++) {
        host[0][i] = 0.5f * (float)i;
        host[1][i] = (float)(COUNT - i);
    }
    for (int k = 0; k < 3; k++) {
        must(hipMalloc(&device[k], sizeof host[k]), "hipMalloc");
        must(hipMemcpy(device[k], host[k], sizeof host[k], hipMemcpyHostToDevice), "to");
    }
    add<<<(COUNT + 255) / 256, 256>>>(device[0], device[1], device[2], COUNT);
    must(hipGetLastError(), "launch");
    must(hipDeviceSynchronize(), "synchronize");
    must(hipMemcpy(host[2], device[2], sizeof host[2], hipMemcpyDeviceToHost), "from");
    for (int i = 0; i < COUNT; i++)
        bad += host[2][i] != host[0][i] + host[1][i];
    for (int k = 0; k < 3; k++)
        must(hipFree(device[k]), "hipFree");
    printf("bad=%d\n", bad);
    return bad != 0;
}
