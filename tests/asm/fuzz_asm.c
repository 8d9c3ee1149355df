/* fuzz_asm.c: libFuzzer target: any bytes as a source file.
 *
 * The first byte chooses wave size and kind of output. What is accepted must be an ELF
 * file; what is refused must have said why.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "asm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_message(void *ctx, const struct asm_message *m)
{
    char text[ASM_FORMAT_BYTES];
    size_t len = asm_format(m, false, text);
    if (len == 0 || len >= sizeof text || text[len - 1] != '\n' || strlen(text) != len)
        abort();
    ++*(unsigned *)ctx;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned messages = 0;
    struct asm_result result;
    if (size == 0)
        return 0;
    struct asm_options options = {.name = "fuzz.s",
                                  .wave = data[0] & 1 ? 64 : 32,
                                  .relocatable = (data[0] & 2) != 0,
                                  .message = check_message,
                                  .ctx = &messages};
    rd_status st = asm_assemble((const char *)data + 1, size - 1, &options, &result);
    if (st == RD_OK && (result.bytes < 64 || memcmp(result.data, "\177ELF", 4) != 0))
        abort();
    if (st == RD_E_FORMAT && messages == 0)
        abort();
    free(result.data);
    return 0;
}
