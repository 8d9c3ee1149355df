/* level4_beam.c: the tensor expression of level 1, each kernel in the best form that a
 * beam search finds by the board's clock.
 *
 * The choices are those of cc_opt.h. Under `rdna3 exec --timing` the clock counts
 * simulated cycles, so the same search gives the same kernels every time.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "level.h"

static void report(void *user, const char *kernel, const struct cc_beam *found)
{
    char text[40];
    (void)user;
    printf("  %s: %u tried, %llu ticks became %llu by", kernel, found->tried,
           (unsigned long long)found->cost_before,
           (unsigned long long)found->cost_after);
    for (size_t i = 0; i < found->n_opts; i++) {
        cc_opt_print(&found->opts[i], text);
        printf("%s %s", i ? "," : "", text);
    }
    printf("%s\n", found->n_opts ? "" : " nothing");
}

static rd_status beam_sum(struct level *l, struct cc_tensor **sum)
{
    const struct cc_search search = {.width = 2, .runs = 1, .report = report};
    cc_context_set_search(l->c, &search);
    return cc_tensor_new(l->c, cc_t_sum(l->g, cc_tensor_ref(l->data), 0, false), sum);
}

int main(int argc, char **argv)
{
    return level_main(argc, argv, "level 4, beam search", beam_sum);
}
