/* observer.c: an observer of one's own: what lane 0 of the first wave computes, step by
 * step. cc observer.c $(pkg-config --cflags --libs rdna3) && ./a.out add.s
 * SPDX-License-Identifier: MIT
 */
#include <rdna3.h>
#include <stdio.h>

static void wave_begin(void *ctx, const struct rdna3_wave *wave)
{
    struct rdna3_wave_info info;
    rdna3_wave_look(wave, &info);
    printf("wave %u of workgroup %u begins\n", info.index, info.workgroup[0]);
    ++*(unsigned *)ctx;
}

static void step(void *ctx, const struct rdna3_event *event)
{
    struct rdna3_wave_info info;
    struct rdna3_inst inst;
    char text[256];
    (void)ctx;
    rdna3_wave_look(event->wave, &info);
    if (info.group != 0 || info.index != 0)
        return;
    rdna3_event_text(event, text, sizeof text);
    printf("%4llu  %-50s", (unsigned long long)event->index, text);
    /* The code lies in this program's memory: what does the instruction write? */
    if (rdna3_decode((const void *)(uintptr_t)event->pc, RDNA3_MAX_BYTES, info.lanes,
                     &inst) == RDNA3_OK)
        for (unsigned i = 0; i < inst.n_operands; i++) {
            const struct rdna3_operand *o = &inst.operand[i];
            if (o->flags & RDNA3_OPERAND_OUT && o->kind == RDNA3_OPERAND_REGISTER)
                printf(" %s=0x%x", o->name,
                       o->number >= 256
                           ? rdna3_wave_vgpr(event->wave, o->number - 256, 0)
                           : rdna3_wave_scalar(event->wave, o->number));
        }
    putchar('\n');
}

static void dispatch_end(void *ctx, int status)
{
    printf("%u waves: %s\n", *(unsigned *)ctx,
           status == RDNA3_OK ? "done" : rdna3_status_text(status));
}

int main(int argc, char **argv)
{
    static char text[1 << 16];
    FILE *f = fopen(argc > 1 ? argv[1] : "add.s", "rb");
    size_t bytes = f ? fread(text, 1, sizeof text, f) : 0, object_bytes;
    unsigned waves = 0;
    struct rdna3 *rdna3;
    struct rdna3_device *gpu;
    struct rdna3_kernel *kernel;
    struct rdna3_watch *watch;
    struct rdna3_error err = {"no memory"};
    struct rdna3_observer observer = {.struct_bytes = sizeof observer,
                                      .ctx = &waves,
                                      .wave_begin = wave_begin,
                                      .step = step,
                                      .dispatch_end = dispatch_end};
    void *object, *buffers[2];
    if (rdna3_open(NULL, &rdna3) ||
        rdna3_assemble(rdna3, text, bytes, NULL, &object, &object_bytes, &err) ||
        rdna3_device_create(rdna3, NULL, &gpu, &err) ||
        rdna3_kernel_load(gpu, object, object_bytes, NULL, &kernel, &err) ||
        rdna3_device_alloc(gpu, 4096, "from", &buffers[0], &err) ||
        rdna3_device_alloc(gpu, 4096, "to", &buffers[1], &err) ||
        rdna3_observe(gpu, &observer, &watch)) {
        fprintf(stderr, "error: %s\n", err.text);
        return 1;
    }
    struct rdna3_arg args[] = {{RDNA3_ARG_POINTER, 8, &buffers[0], NULL},
                               {RDNA3_ARG_POINTER, 8, &buffers[1], NULL}};
    struct rdna3_launch launch = {
        .struct_bytes = sizeof launch, .block = {64}, .n_args = 2, .args = args};
    if (rdna3_kernel_run(kernel, &launch, NULL, NULL, &err))
        fprintf(stderr, "error: %s\n", err.text);
    rdna3_unobserve(watch);
    rdna3_release(rdna3, object);
    rdna3_device_destroy(gpu);
    rdna3_close(rdna3);
    return waves == 2 ? 0 : 1;
}
