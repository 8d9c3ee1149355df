/* run.c: assembles a kernel and runs it on memory of this program.
 * cc run.c $(pkg-config --cflags --libs rdna3) && ./a.out add.s
 * SPDX-License-Identifier: MIT
 */
#include <rdna3.h>
#include <stdio.h>

#define N 256

int main(int argc, char **argv)
{
    static char text[1 << 16];
    static float from[N], to[N];
    FILE *f = fopen(argc > 1 ? argv[1] : "add.s", "rb");
    size_t bytes = f ? fread(text, 1, sizeof text, f) : 0, object_bytes;
    for (int i = 0; i < N; i++)
        from[i] = (float)i;

    struct rdna3 *rdna3;
    struct rdna3_device *gpu;
    struct rdna3_kernel *kernel;
    struct rdna3_error err = {"no memory"};
    void *object;
    if (rdna3_open(NULL, &rdna3) ||
        rdna3_assemble(rdna3, text, bytes, NULL, &object, &object_bytes, &err) ||
        rdna3_device_create(rdna3, NULL, &gpu, &err) ||
        rdna3_kernel_load(gpu, object, object_bytes, NULL, &kernel, &err) ||
        rdna3_device_map(gpu, from, sizeof from, RDNA3_READ, "from", &err) ||
        rdna3_device_map(gpu, to, sizeof to, RDNA3_READ | RDNA3_WRITE, "to", &err)) {
        fprintf(stderr, "error: %s\n", err.text);
        return 1;
    }

    void *pointers[] = {from, to};
    struct rdna3_arg args[] = {{RDNA3_ARG_POINTER, 8, &pointers[0], "from"},
                               {RDNA3_ARG_POINTER, 8, &pointers[1], "to"}};
    struct rdna3_launch launch = {.struct_bytes = sizeof launch,
                                  .groups = {N / 64},
                                  .block = {64},
                                  .n_args = 2,
                                  .args = args};
    struct rdna3_stats stats = {0};
    if (rdna3_kernel_run(kernel, &launch, NULL, &stats, &err)) {
        fprintf(stderr, "error: %s\n", err.text); /* which lane, which address ... */
        return 1;
    }
    printf("%g + 1 = %g, %llu instructions in %llu waves\n", (double)from[N - 1],
           (double)to[N - 1], (unsigned long long)stats.instructions,
           (unsigned long long)stats.waves);
    rdna3_release(rdna3, object);
    rdna3_device_destroy(gpu);
    rdna3_close(rdna3);
    return to[N - 1] == N ? 0 : 1;
}
