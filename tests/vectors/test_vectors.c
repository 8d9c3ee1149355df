/* test_vectors.c: runs vector files in each SIMD level, or as native code of each.
 *
 * Usage: test_vectors [native] FILE...
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vecrun.h"

int main(int argc, char **argv)
{
    struct engine engines[ENGINE_COUNT], exact[ENGINE_COUNT];
    unsigned long failures = 0;
    struct arena *arena = arena_create();
    engines_create(engines, arena, NULL);
    engines_create_exact(exact, arena);
    bool native = argc > 1 && strcmp(argv[1], "native") == 0;
    unsigned first = native ? ENGINE_NATIVE_AVX2 : ENGINE_GENERIC;
    unsigned last = native ? ENGINE_NATIVE_AVX512 : ENGINE_AVX512;
    if (!engines[first].emu) {
        printf("skipped: no %s\n", engines[first].name);
        return 77;
    }
    for (int i = native ? 2 : 1; i < argc; i++) {
        struct vec_tally t = {.path = argv[i],
                              .arena = arena,
                              .engines = engines + first,
                              .exact = exact + first,
                              .n_engines = last - first + 1};
        bool readable = vec_read(argv[i], vec_run_block, &t);
        const char *name = strrchr(argv[i], '/');
        printf("%s: %lu blocks, %lu rows, %lu values compared, %lu wrong\n",
               name ? name + 1 : argv[i], t.blocks, t.rows, t.checks, t.failures);
        failures += t.failures + !readable + (t.checks == 0);
    }
    engines_destroy(engines);
    engines_destroy(exact);
    arena_destroy(arena);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
