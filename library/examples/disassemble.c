/* disassemble.c: a disassembler in twenty lines: the kernels of a code object.
 * cc disassemble.c $(pkg-config --cflags --libs rdna3) && ./a.out FILE.hsaco
 * SPDX-License-Identifier: MIT
 */
#include <rdna3.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    static char data[16 << 20];
    FILE *f = fopen(argc > 1 ? argv[1] : "/dev/stdin", "rb");
    size_t bytes = f ? fread(data, 1, sizeof data, f) : 0;
    struct rdna3 *rdna3;
    struct rdna3_object *object;
    struct rdna3_error err;
    if (rdna3_open(NULL, &rdna3) ||
        rdna3_object_open(rdna3, data, bytes, &object, &err))
        return fprintf(stderr, "error: %s\n", err.text), 1;
    struct rdna3_kernel_info k;
    for (unsigned i = 0; rdna3_object_kernel(object, i, &k) == RDNA3_OK; i++) {
        struct rdna3_inst inst = {.bytes = 4};
        printf("%s: # wave%u, %u VGPRs\n", k.name, k.wave, k.vgprs);
        for (uint64_t at = 0; k.code && at < k.code_bytes; at += inst.bytes)
            if (rdna3_decode((const char *)k.code + at, k.code_bytes - at, k.wave,
                             &inst))
                inst.bytes = 4; /* no instruction */
            else
                printf("    %s\n", inst.text);
    }
    rdna3_object_close(object);
    rdna3_close(rdna3);
    return 0;
}
