/* test_pmc_facts.c: what performance counters know of a dispatch without times.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "../suite.h"
#include "emu.h"
#include "pmc.h"

static struct pmc_facts facts;

static uint64_t sum(enum pmc_fact fact)
{
    uint64_t n = 0;
    for (unsigned g = 0; g < PMC_WGPS; g++)
        n += facts.of[fact][g];
    return n;
}

static void count(const struct emu_dispatch *d, uint64_t groups, uint64_t waves)
{
    const struct emu_stats stats = {
        .workgroups = groups, .waves = waves, .instructions = 10 * waves};
    memset(&facts, 0, sizeof facts);
    pmc_facts_executed(&facts, NULL, d, &stats);
    ck_assert_uint_eq(sum(PMC_WAVES), waves);
    ck_assert_uint_eq(sum(PMC_ALL), 10 * waves);
}

/* Work-items of the last wave may be fewer; of a dispatch that was cut those of waves
 * that did not begin are none. */
START_TEST(items)
{
    struct emu_dispatch d = {
        .groups = {100, 1, 1}, .block = {48, 1, 1}, .items = {4790, 1, 1}};
    count(&d, 100, 200);
    ck_assert_uint_eq(sum(PMC_ITEMS), 4790);
    count(&d, 3, 6);
    ck_assert_uint_le(sum(PMC_ITEMS), 6 * 32);
    d.wave64 = true;
    count(&d, 3, 3);
    ck_assert_uint_le(sum(PMC_ITEMS), 3 * 64);
    count(&d, 0, 0);
    ck_assert_uint_eq(sum(PMC_ITEMS), 0);
    for (unsigned i = 0; i < 3; i++) /* their product has no room */
        d.groups[i] = d.items[i] = UINT32_MAX;
    count(&d, 1, 1);
    ck_assert_uint_le(sum(PMC_ITEMS), 64);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("pmc facts");
    TCase *t = tcase_create("untimed");
    tcase_add_test(t, items);
    suite_add_tcase(s, t);
    return suite_run(s);
}
