/* test_compiler_progs.c: random linear programs with loops, IFs, gates, registers and
 * LDS, as gfx1100 code on the emulator against the interpreter. Everything is i32.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "gpu.h"
#include "graph.h"
#include "prog.h"

#define LANES 64
#define SIZE  512
#define POOL  400

static uint64_t seed;

static unsigned below(unsigned n)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(seed >> 33) % n;
}

struct gen {
    struct cc_prog *p;
    uint32_t pool[POOL], n; /* values that can be used here */
    uint32_t out, in, reg, lds, lane, place;
    unsigned depth, ifs, left;
};

static uint32_t add(struct gen *g, enum cc_op op, enum cc_dtype dt, uint32_t a,
                    uint32_t b)
{
    uint32_t src[2] = {a, b};
    unsigned n = cc_ops[op].min_src == 1 ? 1 : 2;
    return cc_prog_add(g->p, op, dt, n, src, 0, NULL, NULL);
}

static uint32_t constant(struct gen *g, int64_t v)
{
    return cc_prog_const(g->p, CC_DT_I32, (union cc_value){.i = v});
}

static uint32_t any(struct gen *g)
{
    /* mostly recent ones */
    unsigned back = below(3) ? 6 : g->n;
    back = back > g->n ? g->n : back;
    return g->pool[g->n - 1 - below(back)];
}

static void keep(struct gen *g, uint32_t v)
{
    if (g->n < POOL)
        g->pool[g->n++] = v;
}

static void arithmetic(struct gen *g)
{
    static const enum cc_op ops[] = {CC_ADD, CC_ADD, CC_SUB, CC_MUL,
                                     CC_AND, CC_OR,  CC_XOR, CC_MAX};
    uint32_t x;
    switch (below(6)) {
    case 0:
        x = add(g, below(2) ? CC_SHL : CC_SHR, CC_DT_VOID, any(g),
                constant(g, below(31)));
        break;
    case 1: {
        static const int64_t by[] = {1, 2, 3, 7, 8, 10, 64, 1000};
        x = add(g, below(2) ? CC_IDIV : CC_MOD, CC_DT_VOID, any(g),
                constant(g, by[below(8)]));
        break;
    }
    case 2: {
        uint32_t c = add(g, below(2) ? CC_CMPLT : CC_CMPNE, CC_DT_VOID, any(g), any(g));
        uint32_t src[3] = {c, any(g), any(g)};
        x = cc_prog_add(g->p, CC_WHERE, CC_DT_VOID, 3, src, 0, NULL, NULL);
        break;
    }
    case 3:
        x = add(g, ops[below(8)], CC_DT_VOID, any(g),
                constant(g, (int64_t)below(40) - 9));
        break;
    default:
        x = add(g, ops[below(8)], CC_DT_VOID, any(g), any(g));
        break;
    }
    keep(g, x);
}

/* An index below SIZE: a sum as addresses are, or anything cut down. */
static uint32_t index_of(struct gen *g)
{
    if (below(2))
        return add(g, CC_ADD, CC_DT_VOID, g->place,
                   constant(g, below(SIZE - 2 * LANES)));
    return add(g, CC_AND, CC_DT_VOID, any(g), constant(g, below(2) ? SIZE - 1 : 127));
}

static uint32_t condition(struct gen *g)
{
    return add(g, CC_CMPLT, CC_DT_VOID,
               add(g, CC_AND, CC_DT_VOID, any(g), constant(g, 63)),
               constant(g, below(64)));
}

static void load(struct gen *g)
{
    uint32_t src[3] = {g->in, index_of(g), 0};
    unsigned n = 2;
    if (below(4) == 0) {
        src[2] = condition(g);
        n = 3;
    }
    if (below(3) == 0) { /* a register */
        src[0] = g->reg;
        src[1] = constant(g, below(4));
        n = 2;
    }
    keep(g, cc_prog_add(g->p, CC_LOAD, CC_DT_VOID, n, src, 0, NULL, NULL));
}

/* Some loads in a row, that could be one. */
static void load_group(struct gen *g)
{
    uint32_t base = add(g, CC_AND, CC_DT_VOID, any(g), constant(g, 124));
    for (unsigned i = 0; i < 4; i++) {
        uint32_t at = add(g, CC_ADD, CC_DT_VOID, base, constant(g, i));
        uint32_t src[2] = {g->in, at};
        keep(g, cc_prog_add(g->p, CC_LOAD, CC_DT_VOID, 2, src, 0, NULL, NULL));
    }
}

static void store(struct gen *g)
{
    uint32_t src[4] = {g->reg, constant(g, below(4)), any(g), 0};
    unsigned n = 3;
    if (below(3) == 0) {
        src[0] = g->out;
        src[1] = g->place;
    }
    if (below(4) == 0) {
        src[3] = condition(g);
        n = 4;
    }
    cc_prog_add(g->p, CC_STORE, CC_DT_VOID, n, src, 0, NULL, NULL);
}

static void exchange(struct gen *g)
{
    uint32_t put[3] = {g->lds, g->lane, any(g)};
    uint32_t other = add(g, CC_XOR, CC_DT_VOID, g->lane, constant(g, below(LANES)));
    uint32_t get[2] = {g->lds, other};
    cc_prog_add(g->p, CC_BARRIER, CC_DT_VOID, 0, NULL, 0, NULL, NULL);
    cc_prog_add(g->p, CC_STORE, CC_DT_VOID, 3, put, 0, NULL, NULL);
    cc_prog_add(g->p, CC_BARRIER, CC_DT_VOID, 0, NULL, 0, NULL, NULL);
    keep(g, cc_prog_add(g->p, CC_LOAD, CC_DT_VOID, 2, get, 0, NULL, NULL));
}

static void body(struct gen *g, unsigned count);

static void nested(struct gen *g)
{
    uint32_t mark = g->n, open, close;
    bool loop = below(3) != 0;
    if (loop) {
        uint32_t end = constant(g, 1 + below(12));
        open = cc_prog_add(g->p, CC_RANGE, CC_DT_I32, 1, &end, 0, NULL, NULL);
        keep(g, open);
    } else {
        uint32_t c = condition(g);
        open = cc_prog_add(g->p, CC_IF, CC_DT_VOID, 1, &c, 0, NULL, NULL);
    }
    g->depth++;
    g->ifs += !loop;
    body(g, 2 + below(7));
    g->ifs -= !loop;
    g->depth--;
    close = open;
    cc_prog_add(g->p, loop ? CC_END : CC_ENDIF, CC_DT_VOID, 1, &close, 0, NULL, NULL);
    g->n = mark;
}

static void body(struct gen *g, unsigned count)
{
    for (unsigned i = 0; i < count && g->left; i++) {
        g->left--;
        switch (below(12)) {
        case 0:
        case 1:
            load(g);
            break;
        case 2:
            load_group(g);
            break;
        case 3:
        case 4:
            store(g);
            break;
        case 5:
            if (g->ifs == 0)
                exchange(g);
            break;
        case 6:
        case 7:
            if (g->depth < 3)
                nested(g);
            break;
        default:
            arithmetic(g);
            break;
        }
    }
}

static uint32_t define(struct gen *g, enum cc_op op, size_t n, const int64_t *arg,
                       const char *name)
{
    return cc_prog_add(g->p, op, CC_DT_I32, 0, NULL, n, arg, name);
}

static struct cc_prog *make(uint64_t which)
{
    struct gen g = {.left = 60};
    seed = which * 1000003;
    ck_assert_int_eq(cc_prog_create("k", &g.p), RD_OK);
    g.out = define(&g, CC_PARAM, 2, (int64_t[]){0, 2 * LANES}, NULL);
    g.in = define(&g, CC_PARAM, 2, (int64_t[]){1, SIZE}, NULL);
    g.reg = define(&g, CC_BUFFER, 3, (int64_t[]){CC_SPACE_REG, 0, 4}, NULL);
    g.lds = define(&g, CC_BUFFER, 3, (int64_t[]){CC_SPACE_LOCAL, 1, LANES}, NULL);
    uint32_t group = define(&g, CC_SPECIAL, 1, (int64_t[]){2}, "gidx0");
    g.lane = define(&g, CC_SPECIAL, 1, (int64_t[]){LANES}, "lidx0");
    g.place = add(&g, CC_ADD, CC_DT_VOID,
                  add(&g, CC_MUL, CC_DT_VOID, group, constant(&g, LANES)), g.lane);
    keep(&g, group);
    keep(&g, g.lane);
    keep(&g, g.place);
    for (unsigned i = 0; i < 4; i++) {
        uint32_t src[3] = {g.reg, constant(&g, i), any(&g)};
        cc_prog_add(g.p, CC_STORE, CC_DT_VOID, 3, src, 0, NULL, NULL);
    }
    while (g.left)
        body(&g, 10);
    uint32_t sum = any(&g);
    for (unsigned i = 0; i < 4; i++) {
        uint32_t src[2] = {g.reg, constant(&g, i)};
        uint32_t x = cc_prog_add(g.p, CC_LOAD, CC_DT_VOID, 2, src, 0, NULL, NULL);
        sum = add(&g, CC_XOR, CC_DT_VOID, sum, x);
    }
    uint32_t src[3] = {g.out, g.place, sum};
    cc_prog_add(g.p, CC_STORE, CC_DT_VOID, 3, src, 0, NULL, NULL);
    ck_assert_msg(cc_prog_status(g.p) == RD_OK, "%s", cc_prog_error(g.p));
    return g.p;
}

static void check_one(uint64_t which)
{
    int32_t in[SIZE], out[2][2 * LANES];
    char error[256] = "", *text;
    struct cc_prog *p = make(which);
    if (getenv("CC_SHOW") && cc_prog_print(p, &text) == RD_OK)
        fputs(text, stderr);
    for (int i = 0; i < SIZE; i++)
        in[i] = (int32_t)below(1u << 31) >> below(31);
    memset(out, 0, sizeof out);
    for (unsigned way = 0; way < 2; way++) {
        struct cc_arg_buffer args[2] = {{out[way], sizeof out[way]}, {in, sizeof in}};
        rd_status st =
            way ? gpu_run(NULL, p, 2, args, error) : cc_interpret(p, 2, args, error);
        ck_assert_msg(st == RD_OK, "%llu: %s", (unsigned long long)which, error);
    }
    for (unsigned i = 0; i < 2 * LANES; i++)
        ck_assert_msg(out[0][i] == out[1][i], "%llu: item %u: %d, on gfx1100 %d",
                      (unsigned long long)which, i, out[0][i], out[1][i]);
    cc_prog_destroy(p);
}

#ifdef RD_CHECKS
#define PROGRAMS 60
#else
#define PROGRAMS 400
#endif

START_TEST(programs_agree)
{
    uint64_t from = 1, to = PROGRAMS;
    if (getenv("CC_PROGRAM"))
        from = to = strtoull(getenv("CC_PROGRAM"), NULL, 10);
    if (getenv("CC_PROGRAMS"))
        to = strtoull(getenv("CC_PROGRAMS"), NULL, 10);
    for (uint64_t i = from; i <= to; i++)
        check_one(i);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("progs");
    TCase *t = tcase_create("random");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, programs_agree);
    suite_add_tcase(s, t);
    return suite_run(s);
}
