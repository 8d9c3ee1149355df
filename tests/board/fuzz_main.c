/* fuzz_main.c: the fuzzer's function on inputs that are the same each time: random
 * ones, in which packets' and requests' headers are more likely than they would be.
 * usage: fuzz_board or fuzz_remote [COUNT [SEED [KIND]]]   KIND: of each input, else
 * all in turn SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t state = 88172645463325252ull;

static uint32_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

static uint32_t header(void)
{
    static const uint8_t pm4[] = {0x10, 0x15, 0x1e, 0x21, 0x22, 0x37, 0x3c, 0x3f, 0x40,
                                  0x45, 0x49, 0x58, 0x68, 0x69, 0x76, 0x79, 0x98, 0xa2};
    return next() % 3 ? 3u << 30 | (next() % 8) << 16 | (uint32_t)pm4[next() % 18] << 8
                      : (next() & 0x300) | next() % 18;
}

int main(int argc, char **argv)
{
    static uint32_t words[512];
    unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100;
    unsigned seed = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    unsigned kind = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
    state += seed * 0x9e3779b97f4a7c15ull;
    for (unsigned i = 0; i < count; i++) {
        unsigned n = 4 + next() % 500;
        for (unsigned k = 0; k < n; k++) {
            words[k] = next() % 4 ? next() : header();
            if (next() % 3 == 0)
                words[k] &= 0xff;
        }
        *(uint8_t *)words = (uint8_t)(argc > 3 ? kind : i);
        (void)LLVMFuzzerTestOneInput((const uint8_t *)words, 4ul * n);
    }
    printf("%u inputs\n", count);
    return 0;
}
