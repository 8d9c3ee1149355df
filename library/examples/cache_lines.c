/* cache_lines.c: how many cache lines each memory instruction of a kernel touches.
 * cc cache_lines.c $(pkg-config --cflags --libs rdna3) && ./a.out add.s
 *
 * Runs a kernel with two pointers on buffers of 64 KiB. SPDX-License-Identifier: MIT
 */
#include <rdna3.h>
#include <stdio.h>

#define LINE 128

struct row {
    uint64_t executed, lines, lanes;
    char text[80];
};
static struct row rows[4096]; /* by dword of the kernel's code */
static uint64_t code;

static void step(void *ctx, const struct rdna3_event *event)
{
    struct row *row = &rows[(event->pc - code) / 4 % 4096];
    (void)ctx;
    for (unsigned i = 0; i < event->n_accesses; i++) {
        const struct rdna3_access *a = &event->access[i];
        uint64_t last = UINT64_MAX; /* lanes of a wave lie in order, mostly */
        if (a->space != RDNA3_SPACE_GLOBAL || a->scalar)
            continue;
        row->executed++;
        rdna3_event_text(event, row->text, sizeof row->text);
        for (unsigned lane = 0; lane < 64; lane++) {
            if (!(a->lanes >> lane & 1))
                continue;
            row->lanes++;
            row->lines += a->address[lane] / LINE != last;
            last = a->address[lane] / LINE;
        }
    }
}

int main(int argc, char **argv)
{
    static char text[1 << 16];
    FILE *f = fopen(argc > 1 ? argv[1] : "add.s", "rb");
    size_t bytes = f ? fread(text, 1, sizeof text, f) : 0, object_bytes;
    struct rdna3 *rdna3;
    struct rdna3_device *gpu;
    struct rdna3_kernel *kernel;
    struct rdna3_watch *watch;
    struct rdna3_error err = {"no memory"};
    struct rdna3_observer observer = {
        .struct_bytes = sizeof observer, .accesses = true, .step = step};
    void *object, *buffers[2];
    if (rdna3_open(NULL, &rdna3) ||
        rdna3_assemble(rdna3, text, bytes, NULL, &object, &object_bytes, &err) ||
        rdna3_device_create(rdna3, NULL, &gpu, &err) ||
        rdna3_kernel_load(gpu, object, object_bytes, NULL, &kernel, &err) ||
        rdna3_device_alloc(gpu, 65536, "from", &buffers[0], &err) ||
        rdna3_device_alloc(gpu, 65536, "to", &buffers[1], &err) ||
        rdna3_observe(gpu, &observer, &watch)) {
        fprintf(stderr, "error: %s\n", err.text);
        return 1;
    }
    code = rdna3_kernel_address(kernel);
    struct rdna3_arg args[] = {{RDNA3_ARG_POINTER, 8, &buffers[0], NULL},
                               {RDNA3_ARG_POINTER, 8, &buffers[1], NULL}};
    struct rdna3_launch launch = {.struct_bytes = sizeof launch,
                                  .groups = {4},
                                  .block = {64},
                                  .n_args = 2,
                                  .args = args};
    if (rdna3_kernel_run(kernel, &launch, NULL, NULL, &err)) {
        fprintf(stderr, "error: %s\n", err.text);
        return 1;
    }
    for (unsigned i = 0; i < 4096; i++)
        if (rows[i].executed)
            printf("%-40s %.1f lines for %.1f lanes\n", rows[i].text,
                   (double)rows[i].lines / (double)rows[i].executed,
                   (double)rows[i].lanes / (double)rows[i].executed);
    rdna3_unobserve(watch);
    rdna3_release(rdna3, object);
    rdna3_device_destroy(gpu);
    rdna3_close(rdna3);
    return 0;
}
