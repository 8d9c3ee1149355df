/* test_shadow.c: the race checker's shadow against an array: who touched a dword last,
 * while numbers are given anew, strips become words, lines come apart, blocks are split
 * and epochs end.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "shadow.h"

enum {
    BLOCKS = 3,
    DWORDS = BLOCKS * SHADOW_BLOCK / 4,
    LINES = DWORDS / SHADOW_LINE,
    STEPS = 60000,
    ROUNDS = 100,
};
#define BASE UINT64_C(0x7f0000001000)

static uint64_t seed = 1;

static unsigned pick(unsigned n)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(seed >> 33) % n;
}

/* What each dword must have: the access, from 1, and its lane; 0: nobody's. */
struct model {
    uint32_t access[SHADOW_PLANES][DWORDS];
    uint8_t lane[SHADOW_PLANES][DWORDS];
    uint32_t n;
};

static uint64_t address_of(unsigned dword)
{
    return BASE + 4 * (uint64_t)dword;
}

static uint32_t new_number(struct shadow *s, struct model *m)
{
    uint32_t number = shadow_new_number(s, &(struct site){.wave = 1, .stamp = ++m->n});
    ck_assert_uint_ne(number, 0);
    return number;
}

static void touch_line(struct shadow *s, struct model *m)
{
    unsigned line = pick(LINES), form = pick(SHADOW_FORMS), plane = pick(SHADOW_PLANES);
    uint32_t number = new_number(s, m);
    struct shadow_block *b = shadow_at(s, address_of(line * SHADOW_LINE));
    ck_assert_ptr_nonnull(b);
    if (b->shift != 2)
        return;
    shadow_set_line(b, (enum shadow_plane)plane, line % SHADOW_LINES,
                    number << SHADOW_LANE, form);
    shadow_raise(b, (enum shadow_plane)plane, number);
    for (unsigned k = 0; k < SHADOW_LINE; k++) {
        m->access[plane][line * SHADOW_LINE + k] = m->n;
        m->lane[plane][line * SHADOW_LINE + k] = (uint8_t)(k >> shadow_step[form]);
    }
}

static void touch_dword(struct shadow *s, struct model *m)
{
    unsigned dword = pick(DWORDS), plane = pick(SHADOW_PLANES), lane = pick(64);
    uint32_t number = new_number(s, m);
    struct shadow_block *b = shadow_at(s, address_of(dword));
    ck_assert_ptr_nonnull(b);
    for (unsigned at = 0; at < 4; at += 1u << b->shift) {
        uint32_t *v =
            shadow_put(s, b, (enum shadow_plane)plane, address_of(dword) + at);
        ck_assert_ptr_nonnull(v);
        *v = number << SHADOW_LANE | lane;
    }
    shadow_raise(b, (enum shadow_plane)plane, number);
    m->access[plane][dword] = m->n;
    m->lane[plane][dword] = (uint8_t)lane;
}

/* If its block has been touched by strips alone; else the block is touched. */
static void touch_strip(struct shadow *s, struct model *m)
{
    unsigned dword = pick(DWORDS / 32) * 32,
             plane = pick(2) ? SHADOW_READ : SHADOW_WRITE;
    uint64_t at = address_of(dword);
    uint32_t number = new_number(s, m);
    struct shadow_area *area = shadow_find(s, at);
    ck_assert_ptr_nonnull(area);
    unsigned block = shadow_in_area(at);
    if (!shadow_has_strips(s, area, block) && !shadow_begin_strips(s, area, block)) {
        ck_assert_ptr_nonnull(shadow_at(s, at));
        return;
    }
    struct shadow_strip *v =
        &area->block[block].strip[at % SHADOW_BLOCK / SHADOW_STRIP];
    *(plane == SHADOW_READ ? &v->read : &v->write) = number;
    for (unsigned k = 0; k < 32; k++) {
        m->access[plane][dword + k] = m->n;
        m->lane[plane][dword + k] = (uint8_t)k;
    }
}

static void end_epoch(struct shadow *s, struct model *m)
{
    if (pick(2))
        shadow_begin(s);
    else
        shadow_forget(s);
    memset(m->access, 0, sizeof m->access);
}

/* known: as who does not touch what nobody has touched. */
static void look(struct shadow *s, const struct model *m, unsigned dword, bool known)
{
    const struct shadow_block *b =
        known ? shadow_known(s, address_of(dword)) : shadow_at(s, address_of(dword));
    ck_assert(b || known);
    for (unsigned p = 0; p < SHADOW_PLANES && !b; p++)
        ck_assert_uint_eq(m->access[p][dword], 0);
    for (unsigned p = 0; p < SHADOW_PLANES && b; p++) {
        uint32_t v = shadow_get(b, (enum shadow_plane)p, address_of(dword));
        uint32_t number = v >> SHADOW_LANE;
        bool counts = b->top[p] >= s->dead && number >= s->dead;
        ck_assert_uint_eq(counts ? s->site[number].stamp : 0, m->access[p][dword]);
        if (counts)
            ck_assert_uint_eq(v & ((1u << SHADOW_LANE) - 1), m->lane[p][dword]);
    }
}

START_TEST(says_who_was_last)
{
    struct shadow *s = shadow_create();
    struct model *m = calloc(1, sizeof *m);
    ck_assert(s && m);
    for (unsigned i = 0; i < STEPS; i++) {
        unsigned what = pick(2000);
        if (what < 2)
            end_epoch(s, m);
        else if (what < 4)
            (void)shadow_split(s, shadow_at(s, address_of(pick(DWORDS))), 1);
        else if (what < 1000)
            touch_line(s, m);
        else
            touch_dword(s, m);
        look(s, m, pick(DWORDS), pick(2));
        for (unsigned j = 0; i % 1000 == 0 && j < DWORDS; j++)
            look(s, m, j, false);
    }
    shadow_destroy(s);
    free(m);
}
END_TEST

static void touch_strips(struct shadow *s, struct model *m, unsigned n)
{
    for (unsigned j = 0; j < n; j++)
        touch_strip(s, m);
}

/* As many that numbers are given anew among them, while blocks have strips; others have
 * words, or had them the epoch before. */
START_TEST(says_whose_strips)
{
    struct shadow *s = shadow_create();
    struct model *m = calloc(1, sizeof *m);
    ck_assert(s && m);
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned most = i % 4 ? 3000 : 500;
        touch_strips(s, m, pick(most));
        if (pick(4) == 0)
            (void)shadow_split(s, shadow_at(s, address_of(pick(DWORDS))), 1);
        for (unsigned j = pick(3) ? pick(4) : 0; j; j--)
            pick(2) ? touch_line(s, m) : touch_dword(s, m);
        touch_strips(s, m, pick(most));
        bool known = pick(2);
        for (unsigned j = 0, all = pick(4) ? DWORDS : 0; j < all; j++)
            look(s, m, j, known);
        end_epoch(s, m);
    }
    shadow_destroy(s);
    free(m);
}
END_TEST

/* Blocks keep strips of an epoch that is over until they are touched again, maybe when
 * their numbers mean something else. */
START_TEST(forgets_strips)
{
    struct shadow *s = shadow_create();
    struct model *m = calloc(1, sizeof *m);
    ck_assert(s && m);
    for (unsigned i = 0; i < ROUNDS; i++) {
        touch_strips(s, m, 100);
        end_epoch(s, m);
        touch_dword(s, m);
        for (unsigned j = 0; j < DWORDS; j++)
            look(s, m, j, false);
        end_epoch(s, m);
    }
    shadow_destroy(s);
    free(m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shadow");
    TCase *t = tcase_create("against an array");
    tcase_add_test(t, says_who_was_last);
    tcase_add_test(t, says_whose_strips);
    tcase_add_test(t, forgets_strips);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
