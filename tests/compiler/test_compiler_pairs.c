/* test_compiler_pairs.c: instructions joined to pairs do what they did one by one.
 *
 * Random straight code over few registers, so that banks and parities clash often, is
 * run on the emulator as it is and after rdna3_pair. The assembler refuses pairs that
 * break a rule of VOPD.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "gpu.h"
#include "rdna3.h"

#define FLOATS  8 /* the first VGPRs; then come integers */
#define VGPRS   16
#define SGPRS   6
#define FIRST   16 /* VGPR 16 is the first of them, SGPR 16 too */
#define LENGTH  60
#define TRIALS  60
#define LANES   32
#define VCC_LO  106
#define N_MASKS 2

/* Operations with halves, the sum that gets shorter, and some that never pair. */
static const struct {
    enum isa_op op;
    unsigned sources;
    bool integers, mask;
} ops[] = {
    {ISA_V_MUL_F32, 2, false, false},    {ISA_V_ADD_F32, 2, false, false},
    {ISA_V_SUB_F32, 2, false, false},    {ISA_V_SUBREV_F32, 2, false, false},
    {ISA_V_MAX_F32, 2, false, false},    {ISA_V_MIN_F32, 2, false, false},
    {ISA_V_FMA_F32, 3, false, false},    {ISA_V_FMA_F32, 3, false, false},
    {ISA_V_FMA_F32, 3, false, false},    {ISA_V_MOV_B32, 1, false, false},
    {ISA_V_MOV_B32, 1, true, false},     {ISA_V_CNDMASK_B32, 3, false, true},
    {ISA_V_CNDMASK_B32, 3, true, true},  {ISA_V_ADD_NC_U32, 2, true, false},
    {ISA_V_LSHLREV_B32, 2, true, false}, {ISA_V_AND_B32, 2, true, false},
    {ISA_V_SUB_NC_U32, 2, true, false},  {ISA_V_MUL_DX9_ZERO_F32, 2, false, false},
};

struct code {
    struct rdna3 r;
    char error[256];
    uint32_t v[VGPRS], s[SGPRS], mask[N_MASKS];
    uint32_t pair[3], at; /* addresses; where a lane's registers are */
    unsigned seed;
};

static unsigned pick(struct code *c, unsigned n)
{
    c->seed = c->seed * 1664525u + 1013904223u;
    return (c->seed >> 10) % n;
}

static uint32_t fixed(struct rdna3 *r, bool vector, unsigned width, int phys)
{
    uint32_t reg = rdna3_reg(r, vector, width);
    r->regs[reg].phys = phys;
    return reg;
}

static struct cc_prog *two_arguments(void)
{
    struct cc_prog *p;
    ck_assert_int_eq(cc_prog_create("k", &p), RD_OK);
    for (int64_t i = 0; i < 2; i++)
        cc_prog_add(p, CC_PARAM, CC_DT_U32, 0, NULL, 1, &i, "");
    ck_assert_int_eq(cc_prog_status(p), RD_OK);
    return p;
}

static void create(struct code *c, struct cc_prog *p, unsigned seed)
{
    memset(c, 0, sizeof *c);
    c->r.p = p;
    c->r.error = c->error;
    c->seed = seed;
    for (int i = 0; i < VGPRS; i++)
        c->v[i] = fixed(&c->r, true, 1, FIRST + i);
    for (int i = 0; i < SGPRS; i++)
        c->s[i] = fixed(&c->r, false, 1, FIRST + i);
    c->mask[0] = fixed(&c->r, false, 1, VCC_LO);
    c->mask[1] = fixed(&c->r, false, 1, FIRST + SGPRS);
    for (int i = 0; i < 3; i++)
        c->pair[i] = fixed(&c->r, false, 2, i ? 6 + 2 * i : 0);
    c->at = fixed(&c->r, true, 1, 0);
    for (unsigned i = 0; i < 3; i++) {
        c->r.groups[i] = 1;
        c->r.blocks[i] = i ? 1 : LANES;
    }
}

static void destroy(struct code *c)
{
    free(c->r.code);
    free(c->r.regs);
    cc_arena_free(&c->r.arena);
}

static struct mi_opnd vgpr(struct code *c, bool integers)
{
    unsigned n = integers ? FLOATS + pick(c, VGPRS - FLOATS) : pick(c, FLOATS);
    return mi_reg(&c->r, c->v[n]);
}

static struct mi_opnd constant(struct code *c, bool integers)
{
    static const uint32_t floats[] = {0x3f800000, 0x40490fdb, 0x3e22f983, 0xc1200000};
    static const uint32_t ints[] = {1, 7, 1000, 0x12345};
    return mi_imm((int32_t)(integers ? ints : floats)[pick(c, 4)]);
}

static struct mi_opnd source(struct code *c, bool integers)
{
    switch (pick(c, 6)) {
    case 0:
        return mi_reg(&c->r, c->s[pick(c, SGPRS / 2) + (integers ? SGPRS / 2 : 0)]);
    case 1:
        return constant(c, integers);
    default:
        return vgpr(c, integers);
    }
}

/* One that the compiler could make: of scalars and constants one. */
static void add(struct code *c)
{
    unsigned i = pick(c, sizeof ops / sizeof ops[0]), n = ops[i].sources;
    bool integers = ops[i].integers;
    struct mi_opnd o[4] = {vgpr(c, integers)};
    for (unsigned j = 1; j <= n; j++)
        o[j] = vgpr(c, integers);
    if (n == 3 && !ops[i].mask) { /* each of the ways in which it gets shorter */
        if (pick(c, 2))
            o[3] = o[0];
        o[1 + pick(c, 3)] = pick(c, 3) ? constant(c, false) : source(c, false);
    } else {
        o[1] = source(c, integers);
    }
    if (ops[i].mask)
        o[3] = mi_reg(&c->r, c->mask[pick(c, N_MASKS)]);
    rdna3_mi(&c->r, rdna3_plain(&c->r, ops[i].op, n)->text, 1, n + 1, o);
}

/* Registers from memory, arguments 0 and 1. */
static void begin(struct code *c)
{
    struct rdna3 *r = &c->r;
    struct mi_opnd arguments = {.kind = MI_REG, .width = 2, .reg = c->pair[0]};
    struct mi_opnd lanes = mi_reg(r, c->pair[1]), scalars = mi_reg(r, c->pair[2]);
    struct mi_opnd at = mi_reg(r, c->at);
    RDNA3_PUT(r, "s_load_b64 %0, %1, %2", 1, lanes, arguments, mi_imm(0));
    RDNA3_PUT(r, "s_load_b64 %0, %1, %2", 1, scalars, arguments, mi_imm(8));
    for (unsigned i = 0; i < SGPRS + N_MASKS; i++) {
        struct mi_opnd to = mi_reg(r, i < SGPRS ? c->s[i] : c->mask[i - SGPRS]);
        RDNA3_PUT(r, "s_load_b32 %0, %1, %2", 1, to, scalars, mi_imm(4 * i));
    }
    RDNA3_PUT(r, "v_lshlrev_b32 %0, %1, %2", 1, at, mi_imm(6), at);
    for (unsigned i = 0; i < VGPRS; i++)
        RDNA3_PUT(r, "global_load_b32 %0, %1, %2 offset:%3", 1, mi_reg(r, c->v[i]), at,
                  lanes, mi_imm(4 * i));
}

/* And back. */
static void end(struct code *c)
{
    struct rdna3 *r = &c->r;
    for (unsigned i = 0; i < VGPRS; i++)
        RDNA3_PUT(r, "global_store_b32 %1, %0, %2 offset:%3", 0, mi_reg(r, c->v[i]),
                  mi_reg(r, c->at), mi_reg(r, c->pair[1]), mi_imm(4 * i));
    rdna3_mi(r, "s_endpgm", 0, 0, NULL);
    r->vgprs = FIRST + VGPRS;
    r->sgprs = FIRST + SGPRS + N_MASKS;
}

static void run(struct code *c, const uint32_t *before, uint32_t *after)
{
    uint32_t scalars[SGPRS + N_MASKS] = {0x3fc00000, 0x40a00000, 0xbe99999a, 3, 77,
                                         0xffff,     0x0f0f5a5a, 0x33cc9966};
    struct cc_arg_buffer args[2] = {{after, LANES * VGPRS * 4},
                                    {scalars, sizeof scalars}};
    char error[256] = "", *text;
    ck_assert_int_eq(rdna3_print(&c->r, &text), RD_OK);
    memcpy(after, before, LANES * VGPRS * 4);
    rd_status st = gpu_run_text(text, c->r.groups, c->r.blocks, 2, args, error);
    ck_assert_msg(st == RD_OK, "%s", error);
    free(text);
}

/* Pairs, and which operations are halves of them. */
static unsigned count_pairs(const struct code *c, bool *seen)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < c->r.n_code; i++) {
        const char *y = strstr(c->r.code[i].form->text, ":: ");
        if (!y)
            continue;
        n++;
        seen[c->r.code[i].form->op] = true;
        seen[isa_op_find(y + 3, strcspn(y + 3, " "))] = true;
    }
    return n;
}

static void fill(uint32_t *memory, unsigned seed)
{
    struct code c = {.seed = seed};
    for (unsigned i = 0; i < LANES * VGPRS; i++) {
        float f = ((float)pick(&c, 4001) - 2000) / 64;
        if (i % VGPRS < FLOATS)
            memcpy(&memory[i], &f, 4);
        else
            memory[i] = pick(&c, 1 << 20) * 4099;
    }
}

static uint32_t before[LANES * VGPRS], plain[LANES * VGPRS], paired[LANES * VGPRS];

START_TEST(pairs_do_the_same)
{
    static bool seen[ISA_OP_COUNT];
    static const enum isa_op all[] = {
        ISA_V_DUAL_FMAC_F32,    ISA_V_DUAL_FMAAK_F32,   ISA_V_DUAL_FMAMK_F32,
        ISA_V_DUAL_MUL_F32,     ISA_V_DUAL_ADD_F32,     ISA_V_DUAL_SUB_F32,
        ISA_V_DUAL_SUBREV_F32,  ISA_V_DUAL_MAX_F32,     ISA_V_DUAL_MIN_F32,
        ISA_V_DUAL_MOV_B32,     ISA_V_DUAL_CNDMASK_B32, ISA_V_DUAL_ADD_NC_U32,
        ISA_V_DUAL_LSHLREV_B32, ISA_V_DUAL_AND_B32,     ISA_V_DUAL_MUL_DX9_ZERO_F32};
    unsigned pairs = 0;
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        struct cc_prog *p = two_arguments();
        struct code c;
        create(&c, p, trial + 1);
        begin(&c);
        for (unsigned i = 0; i < LENGTH; i++)
            add(&c);
        end(&c);
        fill(before, trial);
        run(&c, before, plain);
        rdna3_pair(&c.r);
        ck_assert_msg(c.r.status == RD_OK, "%s", c.error);
        pairs += count_pairs(&c, seen);
        run(&c, before, paired);
        for (unsigned i = 0; i < LANES * VGPRS; i++)
            ck_assert_msg(plain[i] == paired[i], "trial %u: v%u of lane %u: %x, not %x",
                          trial, FIRST + i % VGPRS, i / VGPRS, paired[i], plain[i]);
        destroy(&c);
        cc_prog_destroy(p);
    }
    ck_assert_uint_gt(pairs, TRIALS * LENGTH / 8);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        ck_assert_msg(seen[all[i]], "no %s", isa_op_name(all[i]));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("pairs");
    TCase *t = tcase_create("pairs");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, pairs_do_the_same);
    suite_add_tcase(s, t);
    return suite_run(s);
}
