/* main.c: a fuzz target without libFuzzer: each file as it is and with bytes changed,
 * by numbers that are the same each time; without files, such numbers alone.
 *
 *     PROGRAM ROUNDS [FILE...]
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static uint64_t state = 1;

static uint32_t number(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static void rounds_of(const uint8_t *data, size_t size, unsigned rounds)
{
    uint8_t *copy = malloc(size + 1);
    if (!copy)
        abort();
    (void)LLVMFuzzerTestOneInput(data, size);
    for (unsigned i = 0; i < rounds; i++) {
        memcpy(copy, data, size);
        for (unsigned k = 1 + number() % 8; k && size; k--)
            copy[number() % size] = (uint8_t)number();
        (void)LLVMFuzzerTestOneInput(copy, number() % 8 ? size : number() % (size + 1));
    }
    free(copy);
}

int main(int argc, char **argv)
{
    static uint8_t data[1u << 20];
    unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100;
    for (int i = 2; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f) {
            (void)fprintf(stderr, "cannot read %s\n", argv[i]);
            return 1;
        }
        rounds_of(data, fread(data, 1, sizeof data, f), rounds);
        (void)fclose(f);
    }
    for (unsigned i = 0; i < rounds; i++) {
        size_t size = number() % 512;
        for (size_t k = 0; k < size; k++)
            data[k] = (uint8_t)number();
        rounds_of(data, size, 1);
    }
    printf("%u rounds\n", rounds);
    return 0;
}
