/* test_lanes.c: data exchange between lanes: swizzles, permutes, DPP.
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"

#include "programs.inc"

static struct run r;

static void begin(const uint32_t *body, size_t bytes)
{
    memset(&r, 0, sizeof r);
    r.body = body;
    r.body_bytes = bytes;
    random_rows(&r);
}
#define BEGIN(name) begin(body_##name, sizeof body_##name)

/* As the manual's pseudocode of DS_SWIZZLE_B32 has it. */
static unsigned swizzled(unsigned offset, unsigned i)
{
    unsigned mask = offset & 31, j = 0;
    if (offset >= 0xe000) {
        for (unsigned b = 0; b < 5; b++)
            if (i >> b & 1)
                j |= 16u >> b;
        j >>= __builtin_popcount(mask);
        j |= i & mask;
    } else if (offset >= 0xc000) {
        unsigned by = offset >> 5 & 31;
        if (offset >> 10 & 1)
            by = 0u - by;
        j = (i & mask) | ((i + by) & ~mask);
    } else if (offset >> 15) {
        j = (i & 28) | (offset >> 2 * (i & 3) & 3);
    } else {
        j = (((i & 31) & mask) | (offset >> 5 & 31)) ^ (offset >> 10 & 31);
    }
    return (j & 31) | (i & 32);
}

START_TEST(swizzle)
{
    static const uint16_t offsets[8] = {0xe000, 0xe010, 0xe005, 0xc020,
                                        0xc421, 0x801b, 0x041f, 0x2a7c};
    BEGIN(swizzle);
    FOR_EACH_RUN(&r)
    {
        ck_no_fault(&r);
        for (unsigned i = 0; i < 8; i++)
            for (unsigned l = 0; l < r.lanes; l++)
                ck_row_eq(&r, i, l, r.in[0][swizzled(offsets[i], l)]);
    }
}
END_TEST

START_TEST(permutes)
{
    BEGIN(permutes);
    r.sgpr[4] = 0x76543210;
    r.sgpr[5] = 0x01234567;
    uint64_t select = r.sgpr[4] | (uint64_t)r.sgpr[5] << 32;
    FOR_EACH_RUN(&r)
    {
        uint64_t exec = 0xffffffff0ffffff1;
        uint32_t scattered[64] = {0};
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++)
            if (exec >> l & 1)
                scattered[(r.in[1][l] >> 2 & 31) | (l & 32)] = r.in[0][l];
        for (unsigned l = 0; l < r.lanes; l++) {
            bool on = exec >> l & 1;
            unsigned from = ((r.in[1][l] + 8) >> 2 & 31) | (l & 32);
            unsigned p16 = (l & 48) | (select >> 4 * (l & 15) & 15);
            bool valid = exec >> p16 & 1, x_valid = exec >> (p16 ^ 16) & 1;
            ck_row_eq(&r, 0, l, on && exec >> from & 1 ? r.in[0][from] : 0);
            ck_row_eq(&r, 1, l, on ? scattered[l] : 0);
            ck_row_eq(&r, 2, l, on && valid ? r.in[0][p16] : 0);
            ck_row_eq(&r, 3, l, on ? r.in[0][p16] : 0);
            ck_row_eq(&r, 4, l, on && valid ? r.in[0][p16] : 0);
            ck_row_eq(&r, 5, l, on && x_valid ? r.in[0][p16 ^ 16] : 0);
            ck_row_eq(&r, 6, l, on && r.lanes == 64 ? r.in[0][l ^ 32] : 0);
        }
    }
}
END_TEST

START_TEST(dpp)
{
    BEGIN(dpp);
    FOR_EACH_RUN(&r)
    {
        uint64_t exec = 0xfffffffffffffff9;
        const uint32_t *s = r.in[0];
        ck_no_fault(&r);
        for (unsigned l = 0; l < r.lanes; l++) {
            bool on = exec >> l & 1;
            unsigned row = l & 48u, i = l & 15;
            bool in = i < 15 && exec >> (l + 1) & 1;
            ck_row_eq(&r, 0, l, on && in ? s[l + 1] : 7);
            in = i >= 2 && exec >> (l - 2) & 1;
            ck_row_eq(&r, 1, l, !on ? 7 : in ? s[l - 2] : 0);
            in = l >= 16 && i < 12;
            ck_row_eq(&r, 2, l, on && in ? s[row | ((i - 3) & 15)] : 7);
            ck_row_eq(&r, 3, l, on ? s[l ^ 5] : 7);
            ck_row_eq(&r, 4, l, !on ? 7 : exec >> (l ^ 7) & 1 ? s[l ^ 7] : 0);
            ck_row_eq(&r, 5, l, on ? s[(l & ~7u) + (l & 4 ? 2 : 1)] : 0);
            ck_row_eq(&r, 6, l, on ? s[row + 9] : 0);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("emu_lanes");
    TCase *t = tcase_create("lanes");
    tcase_add_test(t, swizzle);
    tcase_add_test(t, permutes);
    tcase_add_test(t, dpp);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
