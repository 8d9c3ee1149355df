/* test_commutes.c: what the fact sheet says about exchanging sources 0 and 1 is true of
 * the functions, on special values and random ones, in several float modes.
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"

#include "control.h"
#include "facts.h"

enum { ROUNDS = 200 };

static uint64_t state;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static bool is_wide(unsigned t)
{
    return t == SEM_T_U64 || t == SEM_T_I64 || t == SEM_T_F64;
}

/* Zeros, ones, infinities, NaNs and limits of all widths among random bits. */
static uint64_t pick(unsigned t)
{
    static const uint64_t special[] = {0,
                                       1,
                                       2,
                                       0x8000,
                                       0x3c00,
                                       0xbc00,
                                       0x7c00,
                                       0xfc00,
                                       0x7e00,
                                       0x7c01,
                                       0x7fffffff,
                                       0x80000000,
                                       0x3f800000,
                                       0xbf800000,
                                       0x7f800000,
                                       0xff800000,
                                       0x7fc00000,
                                       0x7f800001,
                                       0x00000001,
                                       0x80000001,
                                       0x00800000,
                                       0xffffffff,
                                       31,
                                       32,
                                       UINT64_C(0x8000000000000000),
                                       UINT64_C(0x3ff0000000000000),
                                       UINT64_C(0xbff0000000000000),
                                       UINT64_C(0x7ff0000000000000),
                                       UINT64_C(0x7ff8000000000000),
                                       UINT64_C(0x7ff0000000000001),
                                       UINT64_MAX};
    uint64_t v = next_random();
    if (v % 3 == 0)
        v = special[next_random() % (sizeof special / sizeof *special)];
    else
        v = next_random();
    return t == SEM_T_BOOL                                      ? v & 1
           : t == SEM_T_U16 || t == SEM_T_I16 || t == SEM_T_F16 ? v & 0xffff
           : is_wide(t)                                         ? v
                                                                : (uint32_t)v;
}

struct rows {
    _Alignas(64) uint32_t s[3][64], d[64], mask[32];
};

static bool nan16(uint32_t v)
{
    return (v & 0x7fff) > 0x7c00;
}

/* Equal, or both a NaN: which of two NaN operands remains is left open. */
static bool same_lane(unsigned type, const uint32_t *a, const uint32_t *b)
{
    uint64_t x = a[0] | (uint64_t)a[32] << 32, y = b[0] | (uint64_t)b[32] << 32;
    uint64_t magnitude = UINT64_C(0x7fffffffffffffff), inf = UINT64_C(0x7ff) << 52;
    switch (type) {
    case SEM_T_F16:
        return (uint16_t)x == (uint16_t)y || (nan16(a[0]) && nan16(b[0]));
    case SEM_T_U16:
    case SEM_T_I16:
        return (uint16_t)x == (uint16_t)y;
    case SEM_T_F32:
    case SEM_T_CARRY_F32:
        return a[0] == b[0] ||
               ((a[0] & 0x7fffffff) > 0x7f800000 && (b[0] & 0x7fffffff) > 0x7f800000);
    case SEM_T_F64:
    case SEM_T_CARRY_F64:
        return x == y || ((x & magnitude) > inf && (y & magnitude) > inf);
    case SEM_T_PK16:
        return a[0] == b[0] ||
               (((uint16_t)a[0] == (uint16_t)b[0] || (nan16(a[0]) && nan16(b[0]))) &&
                (a[0] >> 16 == b[0] >> 16 || (nan16(a[0] >> 16) && nan16(b[0] >> 16))));
    case SEM_T_U64:
    case SEM_T_I64:
    case SEM_T_CARRY64:
        return x == y;
    default:
        return a[0] == b[0];
    }
}

static void fill(struct rows *x, struct rows *y, const struct sem_entry *e,
                 unsigned round)
{
    memset(x, 0, sizeof *x);
    for (unsigned i = 0; i < 3; i++)
        for (unsigned l = 0; l < 32; l++) {
            uint64_t v = pick(e->args[i]);
            x->s[i][l] = (uint32_t)v;
            x->s[i][l + 32] = is_wide(e->args[i]) ? (uint32_t)(v >> 32) : 0;
            x->mask[l] = (uint32_t)next_random() & 1;
        }
    if (round % 4 == 0) /* equal operands */
        for (unsigned l = 0; l < 64; l += 3)
            x->s[1][l] = x->s[0][l];
    *y = *x;
    memcpy(y->s[0], x->s[1], sizeof x->s[0]);
    memcpy(y->s[1], x->s[0], sizeof x->s[0]);
}

static bool lanes_agree(const struct sem_entry *a, const struct sem_entry *b,
                        unsigned round)
{
    static struct rows x, y;
    struct lane_mode m = {.denorm32 = round & 1 ? 3 : 0,
                          .denorm64 = 3,
                          .ieee = round & 2,
                          .dx10_clamp = true,
                          .clamp = round & 4,
                          .round32 = round >> 3 & 3,
                          .round64 = round >> 3 & 3};
    fill(&x, &y, a, round);
    a->fn.row(x.d, x.mask, x.s[0], x.s[1], x.s[2], &m);
    b->fn.row(y.d, y.mask, y.s[0], y.s[1], y.s[2], &m);
    for (unsigned l = 0; l < 32; l++)
        if (!same_lane(a->ret, x.d + l, y.d + l) ||
            ((a->ret == SEM_T_BOOL || a->ret >= SEM_T_CARRY32) &&
             x.mask[l] != y.mask[l]))
            return false;
    return true;
}

static bool scalars_agree(const struct sem_entry *a, const struct sem_entry *b)
{
    uint64_t s0 = pick(a->args[0]), s1 = pick(a->args[1]), s2 = pick(a->args[2]);
    bool scc = next_random() & 1, other = scc;
    uint64_t x = a->fn.scalar(s0, s1, s2, &scc), y = b->fn.scalar(s1, s0, s2, &other);
    return x == y && scc == other;
}

START_TEST(exchanged_sources)
{
    struct emu *emu;
    unsigned n = 0;
    state = 88172645463325252u;
    ck_assert_int_eq(emu_create(NULL, &emu), RD_OK);
    for (unsigned op = 1; op < ISA_OP_COUNT; op++) {
        unsigned swapped = isa_facts(op)->swapped;
        if (!swapped)
            continue;
        const struct sem_entry *a = emu->sem[op], *b = emu->sem[swapped];
        ck_assert_msg(a->kind == b->kind && a->n_args >= 2 &&
                          (a->kind == SEM_LANE || a->kind == SEM_SCALAR),
                      "%s", isa_op_name(op));
        for (unsigned round = 0; round < ROUNDS; round++)
            ck_assert_msg(a->kind == SEM_LANE ? lanes_agree(a, b, round)
                                              : scalars_agree(a, b),
                          "%s is not %s with sources 0 and 1 exchanged",
                          isa_op_name(op), isa_op_name(swapped));
        n++;
    }
    printf("%u opcodes\n", n);
    ck_assert_uint_gt(n, 300);
    emu_destroy(emu);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("emu_commutes");
    TCase *t = tcase_create("facts");
    tcase_add_test(t, exchanged_sources);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
