/* test_programs.c: random programs leave the same registers, LDS and memory behind in
 * every SIMD level, with one and two threads, stepped and observed.
 *
 * Usage: test_programs [SECONDS [FIRST_SEED]]: without arguments a fixed set of seeds;
 * with SECONDS as many as there is time for. A difference prints the smallest program
 * that still shows it and its seed. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "program.h"

#ifndef DIFF_PROGRAMS
#define DIFF_PROGRAMS 1200u
#endif

static struct engine engines[ENGINE_COUNT];
static struct arena *arena;
static struct program program;
static unsigned long long n_runs, n_faults;

/* The order in which the waves of a group take turns is the scheduler's; a caller that
 * steps has one of its own. */
static bool applies(const struct engine *e, const struct shape *shape)
{
    return e->emu && !(e->stepped && shape->waves > 1);
}

static bool equal_outcomes(const struct outcome *a, const struct outcome *b)
{
    return a->status == b->status && a->fault.kind == b->fault.kind &&
           (a->status == RD_OK ||
            (a->fault.pc == b->fault.pc && a->fault.lane == b->fault.lane &&
             a->fault.address == b->fault.address));
}

/* True if an engine differs from the first; says which and how. */
static bool differs(const struct shape *shape, char *text, size_t size)
{
    struct outcome first = {.status = RD_OK};
    program_layout(&program);
    arena_place(arena, shape->lanes, program.code, program.bytes);
    for (unsigned i = 0; i < ENGINE_COUNT; i++) {
        char what[128];
        if (!applies(&engines[i], shape))
            continue;
        arena_restore(arena, shape);
        struct outcome o = engine_run(&engines[i], arena, shape);
        n_runs++;
        if (i == ENGINE_GENERIC) {
            first = o;
            n_faults += o.status != RD_OK;
            arena_keep_first(arena, shape);
            if (o.status != RD_OK) {
                char fault[600];
                emu_fault_text(&o.fault, fault, sizeof fault);
                snprintf(text, size, "faults: %s", fault);
                return true;
            }
        } else if (!equal_outcomes(&first, &o)) {
            snprintf(text, size, "%s: another outcome", engines[i].name);
            return true;
        } else if (o.status == RD_OK &&
                   arena_differs(arena, shape, what, sizeof what)) {
            snprintf(text, size, "%s: %s", engines[i].name, what);
            return true;
        }
    }
    return false;
}

static void reduce(const struct shape *shape)
{
    char text[800];
    bool again = true;
    while (again) {
        again = false;
        for (unsigned i = program.n; i-- > 0;) {
            struct item *it = &program.item[i];
            struct item *counter = NULL; /* goes with its loop */
            if (it->dropped || it->kind == ITEM_KEEP)
                continue;
            if (it->kind == ITEM_LOOP)
                counter = &program.item[it->target - 1];
            it->dropped = true;
            if (counter)
                counter->dropped = true;
            if (differs(shape, text, sizeof text)) {
                again = true;
                continue;
            }
            it->dropped = false;
            if (counter)
                counter->dropped = false;
        }
    }
}

static bool check_seed(uint64_t seed)
{
    char text[800];
    uint64_t random = seed * 0x2545f4914f6cdd1du + 99;
    struct shape shape = {.lanes = isa_random_next(&random) & 1 ? 64 : 32,
                          .groups = 1 + isa_random_next(&random) % 2,
                          .waves = 1 + isa_random_next(&random) % 2};
    program_init(&program, shape.lanes, seed);
    program_random(&program, 10 + isa_random_next(&random) % 80);
    program_inputs(arena, &shape, &random);
    arena_keep_initial(arena, &shape);
    if (!differs(&shape, text, sizeof text))
        return true;
    printf("seed %llu: %s\n", (unsigned long long)seed, text);
    reduce(&shape);
    if (differs(&shape, text, sizeof text)) {
        printf("reduced: %s (wave%u, %u groups of %u waves)\n", text, shape.lanes,
               shape.groups, shape.waves);
        program_print(&program, stdout);
    }
    fflush(stdout);
    return false;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 0;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1, seed = first;
    unsigned long long bad = 0;
    time_t start = time(NULL);
    arena = arena_create();
    engines_create(engines, arena, NULL);
    if (argc > 3) /* one seed */
        return check_seed(first) ? EXIT_SUCCESS : EXIT_FAILURE;
    for (; seconds > 0 ? difftime(time(NULL), start) < seconds
                       : seed < first + DIFF_PROGRAMS;
         seed++) {
        bad += !check_seed(seed);
        if (bad >= 10)
            break;
    }
    printf("%llu programs, %llu runs, %llu differ, %llu faulted\n",
           (unsigned long long)(seed - first), n_runs, bad, n_faults);
    engines_destroy(engines);
    arena_destroy(arena);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
