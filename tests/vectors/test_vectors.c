/* test_vectors.c: runs vector files in each SIMD level.
 *
 * Usage: test_vectors FILE...
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
    for (int i = 1; i < argc; i++) {
        struct vec_tally t = {.path = argv[i],
                              .arena = arena,
                              .engines = engines,
                              .exact = exact,
                              .n_engines = ENGINE_AVX512 + 1};
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
