/* fuzz_main.c: without libFuzzer: the given files, whole and damaged, through the
 * target. SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t seed = 1;

static uint32_t rnd(uint32_t below)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33) % below;
}

/* Replace a byte by another of the text, a digit, or nothing. */
static size_t damage(uint8_t *text, size_t size)
{
    for (uint32_t i = 1 + rnd(3); i > 0 && size > 1; i--) {
        size_t at = rnd((uint32_t)size);
        switch (rnd(4)) {
        case 0:
            text[at] = text[rnd((uint32_t)size)];
            break;
        case 1:
            text[at] = (uint8_t)('0' + rnd(10));
            break;
        case 2:
            memmove(text + at, text + at + 1, size - at - 1);
            size--;
            break;
        default:
            text[at] = (uint8_t)rnd(256);
            break;
        }
    }
    return size;
}

int main(int argc, char **argv)
{
    static uint8_t text[65536], copy[65536];
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f)
            return 1;
        size_t size = fread(text, 1, sizeof text, f);
        fclose(f);
        LLVMFuzzerTestOneInput(text, size);
        for (int j = 0; j < 1500; j++) {
            memcpy(copy, text, size);
            LLVMFuzzerTestOneInput(copy, damage(copy, size));
        }
    }
    return 0;
}
