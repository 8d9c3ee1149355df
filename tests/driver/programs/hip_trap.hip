// hip_trap.hip: a kernel that traps; the runtime must end the process and say why.
// SPDX-License-Identifier: MIT
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void trap_in_lane(int *out, int lane)
{
    if ((int)threadIdx.x == lane)
        __builtin_trap();
    out[threadIdx.x] = 1;
}

int main()
{
    int *d;
    if (hipMalloc(&d, 4096) != hipSuccess)
        return 2;
    trap_in_lane<<<1, 32>>>(d, 3);
    printf("went on: %d\n", (int)hipDeviceSynchronize());
    return 0;
}
