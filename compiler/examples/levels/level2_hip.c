/* level2_hip.c: the sum by a kernel written in HIP, compiled by clang.
 *
 * Needs clang with its AMDGPU target (Debian: clang-19 and lld-19), nothing of ROCm:
 * the few words of HIP's headers that the kernel uses are defined above it. RDNA3_CLANG
 * in the environment names another compiler.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "level.h"

#define GROUPS  1024
#define THREADS 256

static const char header[] =
    "#define __global__ __attribute__((global))\n"
    "#define __shared__ __attribute__((shared))\n"
    "#define __syncthreads() do { \\\n"
    "    __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\"); \\\n"
    "    __builtin_amdgcn_s_barrier(); \\\n"
    "    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\"); } while (0)\n"
    "#define thread_x __builtin_amdgcn_workitem_id_x()\n"
    "#define block_x __builtin_amdgcn_workgroup_id_x()\n";

static const char kernel[] =
    "constexpr unsigned BLOCK = 256;\n"
    "extern \"C\" __global__ void __attribute__((amdgpu_flat_work_group_size(256, "
    "256)))\n"
    "hip_sum(float *__restrict__ block_sums, const float *__restrict__ x)\n"
    "{\n"
    "    __shared__ float part[BLOCK];\n"
    "    unsigned thread = thread_x;\n"
    "    const float *mine = x + (block_x * BLOCK + thread) * CHUNK;\n"
    "    float sum = 0;\n"
    "#pragma unroll 16\n"
    "    for (unsigned k = 0; k < CHUNK; k++)\n"
    "        sum += mine[k];\n"
    "    part[thread] = sum;\n"
    "    __syncthreads();\n"
    "    for (unsigned s = BLOCK / 2; s > 0; s >>= 1) {\n"
    "        if (thread < s)\n"
    "            part[thread] += part[thread + s];\n"
    "        __syncthreads();\n"
    "    }\n"
    "    if (thread == 0)\n"
    "        block_sums[block_x] = part[0];\n"
    "}\n";

static bool write_source(const char *path, int64_t chunk)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return false;
    fprintf(f, "%sconstexpr unsigned CHUNK = %lld;\n%s", header, (long long)chunk,
            kernel);
    return fclose(f) == 0;
}

static void *read_object(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    void *data = NULL;
    if (f && fseek(f, 0, SEEK_END) == 0 && ftell(f) > 0) {
        *bytes = (size_t)ftell(f);
        rewind(f);
        data = malloc(*bytes);
        if (data && fread(data, 1, *bytes, f) != *bytes) {
            free(data);
            data = NULL;
        }
    }
    if (f)
        fclose(f);
    return data;
}

/* The first of the usual names that answers; NULL if none does. */
static const char *find_clang(void)
{
    static const char *const names[] = {"clang++-19", "clang++"};
    char command[128];
    if (getenv("RDNA3_CLANG"))
        return getenv("RDNA3_CLANG");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(command, sizeof command, "%s --version >/dev/null 2>&1", names[i]);
        if (system(command) == 0)
            return names[i];
    }
    return NULL;
}

/* Compile in a folder of its own, which is removed. */
static rd_status compile(struct level *l, const char *clang, void **elf, size_t *bytes)
{
    char folder[] = "/tmp/rdna3_hip_XXXXXX", source[64], object[64], command[512];
    if (!mkdtemp(folder))
        return level_fail(l, RD_E_IO, "no temporary folder");
    snprintf(source, sizeof source, "%s/sum.hip", folder);
    snprintf(object, sizeof object, "%s/sum.hsaco", folder);
    snprintf(command, sizeof command,
             "%.100s -x hip --offload-arch=gfx1100 --cuda-device-only "
             "--no-gpu-bundle-output -nogpuinc -nogpulib -O3 %s -o %s",
             clang, source, object);
    bool done = write_source(source, l->n / (GROUPS * THREADS)) && system(command) == 0;
    *elf = done ? read_object(object, bytes) : NULL;
    unlink(source);
    unlink(object);
    rmdir(folder);
    return *elf ? RD_OK : level_fail(l, RD_E_IO, "%.100s does not compile it", clang);
}

static rd_status hip_sum(struct level *l, struct cc_tensor **sum)
{
    static const int64_t groups = GROUPS;
    struct cc_machine code = {
        .kernel = "hip_sum", .groups = {GROUPS}, .block = {THREADS}};
    const char *clang = find_clang();
    struct cc_tensor *parts;
    cc_ref program;
    void *elf;
    if (!clang)
        return level_fail(l, RD_E_NOT_FOUND, "no clang++-19 is installed");
    rd_status st = compile(l, clang, &elf, &code.bytes);
    if (st != RD_OK)
        return st;
    code.elf = elf;
    st = cc_machine_code(l->c, &code, &program);
    free(elf);
    if (st == RD_OK)
        st = cc_tensor_from(l->c, CC_DT_F32, 1, &groups, NULL, &parts);
    if (st == RD_OK)
        st = cc_tensor_custom(l->c, program, 2, (struct cc_tensor *[]){parts, l->data});
    if (st != RD_OK)
        return st;
    return cc_tensor_new(l->c, cc_t_sum(l->g, cc_tensor_ref(parts), 0, false), sum);
}

int main(int argc, char **argv)
{
    return level_main(argc, argv, "level 2, HIP compiled by clang", hip_sum);
}
