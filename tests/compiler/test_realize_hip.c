/* test_realize_hip.c: kernels as HIP text, compiled by clang, run through the runtime.
 *
 * Some of the expressions of exprs.c; exit status 77 without board or clang. The words
 * of HIP's headers that the text uses are defined here. CC_EXPR picks one expression.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "cc_gpu.h"
#include "exprs.h"

#define STEP  41
#define CLANG "clang++-19"

static const char header[] =
    "#define __global__ __attribute__((global))\n"
    "#define __device__ __attribute__((device))\n"
    "#define __shared__ __attribute__((shared))\n"
    "#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n)))\n"
    "#define __syncthreads() do { \\\n"
    "    __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\"); \\\n"
    "    __builtin_amdgcn_s_barrier(); \\\n"
    "    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\"); } while (0)\n"
    "struct cc_dim { int x, y, z; };\n"
    "#define DIM(f) (cc_dim{(int)f##_x(), (int)f##_y(), (int)f##_z()})\n"
    "#define blockIdx DIM(__builtin_amdgcn_workgroup_id)\n"
    "#define threadIdx DIM(__builtin_amdgcn_workitem_id)\n"
    "#define exp2f __builtin_exp2f\n#define log2f __builtin_log2f\n"
    "#define sinf __builtin_sinf\n#define sqrtf __builtin_sqrtf\n"
    "#define truncf __builtin_truncf\n#define fmaf __builtin_fmaf\n"
    "#define fmaxf __builtin_fmaxf\n#define sqrt __builtin_sqrt\n"
    "#define trunc __builtin_trunc\n#define fma __builtin_fma\n"
    "#define fmax __builtin_fmax\n";

static struct cc_gpu *gpu;
static char folder[] = "/tmp/rdna3_test_hip_XXXXXX";

static bool compile(const char *text, const char *object)
{
    char source[64], command[400];
    snprintf(source, sizeof source, "%s/k.hip", folder);
    snprintf(command, sizeof command,
             CLANG " -x hip --offload-arch=gfx1100 --cuda-device-only "
                   "--no-gpu-bundle-output -nogpuinc -nogpulib -O1 -w -fwrapv "
                   "-ffp-contract=off %s -o %s",
             source, object);
    FILE *f = fopen(source, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "%s%s", header, text);
    fclose(f);
    bool done = system(command) == 0;
    unlink(source);
    return done;
}

static void *read_file(const char *path, size_t *bytes)
{
    void *data = malloc(1 << 20);
    FILE *f = fopen(path, "rb");
    ck_assert(f && data);
    *bytes = fread(data, 1, 1 << 20, f);
    fclose(f);
    unlink(path);
    return data;
}

/* A kernel of HIP in place of one of the compiler's back end. */
static rd_status run_hip(void *user, const struct cc_prog *p, size_t n,
                         void *const *memory, char *error)
{
    const struct cc_device *device = cc_gpu_device(gpu);
    struct cc_machine code = {.kernel = cc_prog_name(p)};
    char object[64], *text;
    size_t params = 0;
    (void)user;
    rd_status st = cc_render(p, CC_STYLE_HIP, &text, error);
    if (st != RD_OK)
        return st;
    snprintf(object, sizeof object, "%s/k.hsaco", folder);
    bool done = compile(text, object);
    if (!done)
        snprintf(error, 256, "clang refuses: %.230s", text);
    free(text);
    if (!done)
        return RD_E_FORMAT;
    for (uint32_t i = 0; i < cc_prog_count(p); i++)
        params += cc_prog_inst(p, i)->op == CC_PARAM;
    cc_prog_launch(p, code.groups, code.block);
    void *elf = read_file(object, &code.bytes);
    code.elf = elf;
    st = device->run_code(device->user, &code, params < n ? params : n, memory, error);
    free(elf);
    return st;
}

static rd_status with_hip(struct cc_context **c)
{
    struct cc_device device = *cc_gpu_device(gpu);
    device.run = run_hip;
    return cc_context_create_on(&device, c);
}

START_TEST(hip_agrees)
{
    unsigned tried, wrong = exprs_check_all(STEP, 2e-5, with_hip, &tried);
    printf("%u expressions in HIP, %u wrong\n", tried, wrong);
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

int main(void)
{
    char error[CC_GPU_ERROR_BYTES];
    if (system(CLANG " --version >/dev/null 2>&1") != 0) {
        printf("skipped: no " CLANG "\n");
        return 77;
    }
    if (cc_gpu_open(NULL, &gpu, error) != RD_OK) {
        printf("skipped: %s\n", error);
        return 77;
    }
    if (!mkdtemp(folder))
        return 1;
    Suite *s = suite_create("realize");
    TCase *t = tcase_create("hip");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, hip_agrees);
    suite_add_tcase(s, t);
    int status = suite_run_here(s); /* the driver's files are this process's */
    cc_gpu_close(gpu);
    rmdir(folder);
    return status;
}
