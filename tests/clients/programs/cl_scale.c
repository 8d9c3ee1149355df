/* cl_scale.c: a kernel built from source by the OpenCL runtime; prints "bad N", the
 * number of wrong results. SPDX-License-Identifier: MIT
 */
#define CL_TARGET_OPENCL_VERSION 200
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 100000

static const char *source = "__kernel void scale(__global const float *in, float by,\n"
                            "                    __global float *out)\n"
                            "{\n"
                            "    size_t i = get_global_id(0);\n"
                            "    out[i] = in[i] * by + (float)i;\n"
                            "}\n";

static void must(cl_int status, const char *what)
{
    if (status == CL_SUCCESS)
        return;
    printf("%s: %d\n", what, status);
    exit(1);
}

int main(void)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int e;
    static float in[COUNT], out[COUNT];
    float by = 3;
    size_t count = COUNT;
    for (int i = 0; i < COUNT; i++)
        in[i] = (float)(i % 1000);
    must(clGetPlatformIDs(1, &platform, NULL), "platform");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL), "device");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
    must(e, "context");
    cl_command_queue queue =
        clCreateCommandQueueWithProperties(context, device, NULL, &e);
    must(e, "queue");
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &e);
    must(e, "program");
    must(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
    cl_mem from = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                 sizeof in, in, &e);
    must(e, "buffer");
    cl_mem to = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof out, NULL, &e);
    must(e, "buffer");
    cl_kernel kernel = clCreateKernel(program, "scale", &e);
    must(e, "kernel");
    must(clSetKernelArg(kernel, 0, sizeof from, &from), "argument");
    must(clSetKernelArg(kernel, 1, sizeof by, &by), "argument");
    must(clSetKernelArg(kernel, 2, sizeof to, &to), "argument");
    must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL),
         "enqueue");
    must(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL),
         "read");
    int bad = 0;
    for (int i = 0; i < COUNT; i++)
        bad += out[i] != in[i] * by + (float)i;
    printf("bad %d\n", bad);
    return bad != 0;
}
