/* fuzz_main.c: runs a libFuzzer target on pseudo-random inputs where libFuzzer is not
 * there: the same inputs every time.
 *
 *   fuzz_X COUNT
 *
 * Half of the inputs start with the fixed bits of an encoding, so that most decode.
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t state = 0x9e3779b97f4a7c15u;

/* xorshift64* */
static uint32_t next(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)(state * 0x2545f4914f6cdd1du >> 32);
}

int main(int argc, char **argv)
{
    static const uint8_t tops[] = {0xbe, 0xbf, 0xb0, 0xf4, 0x7e, 0x7c, 0x7d,
                                   0xd4, 0xd5, 0xd6, 0xd7, 0xcc, 0xc8, 0xc9,
                                   0xca, 0xcd, 0xce, 0xd8, 0xd9, 0xda, 0xdc,
                                   0xdd, 0xe0, 0xe1, 0xe8, 0xf0, 0xf1};
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
    for (unsigned long i = 0; i < count; i++) {
        uint8_t input[32];
        for (size_t k = 0; k < sizeof input; k += 4) {
            uint32_t value = next();
            memcpy(input + k, &value, 4);
        }
        if (next() & 1)
            input[3] = tops[next() % sizeof tops];
        if (next() & 1) /* many fields at zero: legal more often */
            input[1] = input[5] = 0;
        LLVMFuzzerTestOneInput(input, next() % (sizeof input + 1));
    }
    fprintf(stderr, "%lu inputs\n", count);
    return 0;
}
