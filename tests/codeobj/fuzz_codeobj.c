/* fuzz_codeobj.c: libFuzzer entry: any bytes as a code object and as a descriptor.
 * SPDX-License-Identifier: MIT
 */
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static volatile uint64_t sink;
    uint64_t sum = 0;
    if (walk_bytes(data, size, &sum) == RD_OK)
        sink += sum;
    if (size >= CO_KD_BYTES) {
        struct co_kernel_desc desc;
        co_kd_parse(data, &desc);
        if (co_kd_check(&desc, NULL) == RD_OK && desc.vgprs > 256)
            __builtin_trap();
    }
    return 0;
}
