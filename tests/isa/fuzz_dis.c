/* fuzz_dis.c: libFuzzer target: list arbitrary bytes as `rdna3 dis --raw` does.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "dis.h"
#include "isa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *quiet;
    if (quiet == NULL)
        quiet = freopen("/dev/null", "w", stdout);
    struct dis_region region = {
        .code = data,
        .bytes = size,
        .address = 0x1000,
        .wave = size & 1 ? ISA_WAVE64 : ISA_WAVE32,
        .print = size & 2 ? ISA_PRINT_TRUE16 : 0,
    };
    if (dis_list(&region, NULL) < 0)
        abort();
    return 0;
}
