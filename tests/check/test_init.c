/* test_init.c: undefined bits, against brute force.
 *
 * Short random programs run with registers some of whose bits are undefined. What the
 * checker says is defined must come out the same whatever these bits are: the program
 * runs again with others in their place. Programs in which an undefined bit was told of
 * are left out, for it counts as defined from there on.
 * SPDX-License-Identifier: MIT
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../suite.h"
#include "facts.h"
#include "init.h"
#include "isa_asm.h"
#include "isa_random.h"
#include "wave.h"

enum {
    PAGE = 4096,
    VGPRS = 32,
    SGPRS = 32,
    LANES = 64,
    TRIES = 6,    /* other values for the undefined bits */
    ADDRESS = 40, /* a VGPR: where the lane's 64 bytes of LDS begin */
    OFFSET = 41,  /* ... 0 */
    LDS_EACH = 64,
};

/* Registers, or the undefined bits of registers. */
struct state {
    uint32_t v[VGPRS][LANES], s[SGPRS], vcc[2], scc;
};

static struct emu *emu;
static struct ck_table *table;
static struct ck *ck;
static uint8_t *code;
static uint64_t rng, seed = 1; /* test_init [SEED [PROGRAMS]] */
static unsigned each_row = 2, compared;

static struct {
    struct state values, undefined; /* to begin with */
    struct state end, claims;       /* what came of them */
    uint64_t exec;
    uint32_t m0;
    unsigned lanes;
} now;

static uint32_t next(void)
{
    return isa_random_next(&rng);
}

static uint32_t below(uint32_t n)
{
    return (uint32_t)((uint64_t)next() * n >> 32);
}

/* ---- registers in and out ---- */

static struct wave *wave_of(const struct emu_wave_info *info)
{
    return (struct wave *)(uintptr_t)((const char *)info - offsetof(struct wave, info));
}

static void put(const struct emu_wave_info *info)
{
    struct wave *w = wave_of(info);
    struct init_wave *r = ck->slots[info->slot]->init;
    ck_assert_ptr_nonnull(r);
    for (unsigned i = 0; i < VGPRS; i++)
        for (unsigned l = 0; l < now.lanes; l++) {
            w->vgpr[l / 32][i * ROW_DWORDS + l % 32] = now.values.v[i][l];
            init_set_vgpr(r, i, l, now.undefined.v[i][l], ~0u, 0);
        }
    for (unsigned l = 0; l < now.lanes; l++) {
        w->vgpr[l / 32][ADDRESS * ROW_DWORDS + l % 32] = LDS_EACH * l;
        w->vgpr[l / 32][OFFSET * ROW_DWORDS + l % 32] = 0;
        init_set_vgpr(r, ADDRESS, l, 0, ~0u, 0);
        init_set_vgpr(r, OFFSET, l, 0, ~0u, 0);
    }
    for (unsigned i = 0; i < SGPRS; i++) {
        w->sgpr[i] = now.values.s[i];
        init_set_sgpr(r, i, now.undefined.s[i], 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        w->sgpr[ISA_SEL_VCC_LO + i] = now.values.vcc[i];
        init_set_sgpr(r, ISA_SEL_VCC_LO + i, now.undefined.vcc[i], 0);
    }
    for (unsigned i = SGPRS; i < ISA_SEL_VCC_LO; i++) /* nothing reads them */
        init_set_sgpr(r, i, 0, 0);
    w->scc = now.values.scc & 1;
    init_set_sgpr(r, ISA_SEL_SCC, now.undefined.scc & 1, 0);
    w->sgpr[ISA_SEL_M0] = now.m0;
    init_set_sgpr(r, ISA_SEL_M0, 0, 0);
    w->sgpr[ISA_SEL_EXEC_LO] = (uint32_t)now.exec;
    w->sgpr[ISA_SEL_EXEC_HI] = now.lanes == 64 ? (uint32_t)(now.exec >> 32) : 0;
}

static void get(const struct emu_wave_info *info)
{
    const struct wave *w = wave_of(info);
    const struct init_wave *r = ck->slots[info->slot]->init;
    for (unsigned i = 0; i < VGPRS; i++)
        for (unsigned l = 0; l < now.lanes; l++) {
            now.end.v[i][l] = w->vgpr[l / 32][i * ROW_DWORDS + l % 32];
            now.claims.v[i][l] = init_vgpr(r, i, l).u;
        }
    for (unsigned i = 0; i < SGPRS; i++) {
        now.end.s[i] = w->sgpr[i];
        now.claims.s[i] = r->sgpr[i];
    }
    for (unsigned i = 0; i < 2; i++) {
        now.end.vcc[i] = w->sgpr[ISA_SEL_VCC_LO + i];
        now.claims.vcc[i] = r->sgpr[ISA_SEL_VCC_LO + i];
    }
    now.end.scc = w->scc;
    now.claims.scc = r->scc;
}

static void before(void *ctx, const struct emu_event *e)
{
    (void)ctx;
    if (e->index == 1)
        put(e->wave);
    else if (e->inst->kind == EMU_KIND_END)
        get(e->wave);
}

/* ---- programs ---- */

static bool is_taken(unsigned op)
{
    static const char *const not[] = {"s_setpc",  "s_swappc", "s_call",   "s_rfe",
                                      "s_sub",    "s_sendm",  "s_getreg", "s_setreg",
                                      "s_wait",   "v_ill",    "s_getpc",  "s_movrel",
                                      "v_movrel", "v_swaprel"};
    const char *name = isa_op_name(op);
    for (unsigned i = 0; i < sizeof not/ sizeof *not; i++)
        if (strncmp(name, not[i], strlen(not[i])) == 0 &&
            strcmp(name, "s_sub_u32") != 0 && strcmp(name, "s_subb_u32") != 0 &&
            strcmp(name, "s_sub_i32") != 0)
            return false;
    return true;
}

static bool is_row(const struct isa_row *row)
{
    switch (row->enc) {
    case ISA_ENC_SOP1:
    case ISA_ENC_SOP2:
    case ISA_ENC_SOPK:
    case ISA_ENC_SOPC:
    case ISA_ENC_VOP1:
    case ISA_ENC_VOP2:
    case ISA_ENC_VOPC:
    case ISA_ENC_VOP3:
    case ISA_ENC_VOP3SD:
    case ISA_ENC_VOP3P:
    case ISA_ENC_VOPD:
        return is_taken(row->op);
    case ISA_ENC_DS:
        return row->op == ISA_DS_PERMUTE_B32 || row->op == ISA_DS_BPERMUTE_B32 ||
               row->op == ISA_DS_SWIZZLE_B32;
    default:
        return false;
    }
}

/* Into the registers that have values. */
static void move(struct isa_opnd *o)
{
    unsigned n = o->dwords ? o->dwords : 1, align = n >= 4 ? 4 : n;
    if (o->kind != ISA_OPND_REG || o->flags & (ISA_OF_IMPLICIT | ISA_OF_NO_FIELD))
        return;
    if (o->sel >= ISA_SEL_VGPR0)
        o->sel = (uint16_t)(ISA_SEL_VGPR0 + below(VGPRS - n + 1));
    else if ((o->sel < ISA_SEL_INT_0 || o->flags & ISA_OF_OUT) &&
             o->sel != ISA_SEL_VCC_LO && o->sel != ISA_SEL_NULL)
        o->sel = (uint16_t)(below(SGPRS - n + 1) / align * align);
}

/* The emulator does not look at the DPP of these. */
static bool is_doubtful(const struct isa_inst *inst)
{
    return (inst->op == ISA_V_MBCNT_LO_U32_B32 || inst->op == ISA_V_MBCNT_HI_U32_B32) &&
           (inst->variant == ISA_VAR_DPP16 || inst->variant == ISA_VAR_DPP8);
}

/* An instruction of the row; its length, 0: none could be made. */
static unsigned make(unsigned row, unsigned variant, uint8_t *to)
{
    for (unsigned i = 0; i < 32; i++) {
        uint8_t bytes[ISA_MAX_BYTES + 8];
        struct isa_inst inst, back;
        unsigned n;
        isa_random(row, variant, &rng, bytes);
        if (isa_decode(bytes, ISA_MAX_BYTES, now.lanes, &inst) != RD_OK ||
            inst.variant != variant || inst.row != row ||
            (inst.op_y != ISA_OP_NONE && !is_taken(inst.op_y)) || is_doubtful(&inst))
            continue;
        for (unsigned k = 0; k < inst.n_opnds; k++)
            move(&inst.opnd[k]);
        if (isa_encode(&inst, now.lanes, bytes, &n) != RD_OK ||
            isa_decode(bytes, n, now.lanes, &back) != RD_OK)
            continue;
        memcpy(to, bytes, n);
        return n;
    }
    return 0;
}

static uint32_t value(void)
{
    static const uint32_t edges[] = {0,          1,          0xffffffff, 0x80000000,
                                     0x7fffffff, 0x3f800000, 0xffff,     0x10000};
    return below(3) ? next() : edges[below(8)];
}

/* Undefined bits: mostly none, some, a field, all. */
static uint32_t holes(void)
{
    switch (below(8)) {
    case 0:
        return ~0u;
    case 1:
        return next() & next();
    case 2:
        return 0xffu << 8 * below(4);
    case 3:
        return 1u << below(32);
    case 4:
        return below(2) ? 0xffff0000u : 0xffffu;
    default:
        return 0;
    }
}

static void each(struct state *s, uint32_t (*f)(void))
{
    for (unsigned i = 0; i < VGPRS; i++)
        for (unsigned l = 0; l < LANES; l++)
            s->v[i][l] = f();
    for (unsigned i = 0; i < SGPRS; i++)
        s->s[i] = f();
    s->vcc[0] = f();
    s->vcc[1] = f();
    s->scc = f();
}

/* Other values for undefined bits. */
static void shake(struct state *v, const struct state *u)
{
    uint32_t *to = &v->v[0][0];
    const uint32_t *holes_in = &u->v[0][0];
    for (size_t i = 0; i < sizeof *v / sizeof *to; i++)
        to[i] = (to[i] & ~holes_in[i]) | (next() & holes_in[i]);
}

static uint64_t told(void)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < atomic_load(&table->n); i++)
        n += atomic_load(&table->v[i].count);
    return n;
}

static bool run(void)
{
    struct emu_fault fault;
    struct emu_dispatch d = {.entry = (uint64_t)(uintptr_t)code,
                             .groups = {1, 1, 1},
                             .block = {now.lanes, 1, 1},
                             .wave64 = now.lanes == 64,
                             .lds_bytes = LDS_EACH * LANES + 256,
                             .scratch_bytes = 256,
                             .rsrc1 = 0xf << 16 | 15}; /* denormals; 64 VGPRs or more */
    emu_code_changed(emu, d.entry, PAGE);
    return emu_run(emu, &d, &fault, NULL) == RD_OK;
}

/* Bits that are claimed to be defined, and are not. */
static uint32_t misses(const struct state *a, const struct state *b,
                       const struct state *claims, size_t *at)
{
    const uint32_t *x = &a->v[0][0], *y = &b->v[0][0], *u = &claims->v[0][0];
    for (size_t i = 0; i < sizeof *a / sizeof *x; i++)
        if ((x[i] ^ y[i]) & ~u[i]) {
            *at = i;
            return (x[i] ^ y[i]) & ~u[i];
        }
    return 0;
}

static void print(unsigned bytes)
{
    for (unsigned at = 8; at < bytes;) {
        struct isa_inst inst;
        char text[ISA_MAX_TEXT];
        ck_assert_int_eq(isa_decode(code + at, bytes - at, now.lanes, &inst), RD_OK);
        isa_print(&inst, now.lanes, 0, text);
        printf("    %s\n", text);
        at += inst.bytes;
    }
}

/* Run the program at code with new registers; false: something was missed. */
static bool holds(unsigned bytes)
{
    memset(&now.end, 0, sizeof now.end);
    memset(&now.claims, 0, sizeof now.claims);
    each(&now.values, value);
    each(&now.undefined, holes);
    now.exec = below(3) ? ~UINT64_C(0) : next() | (uint64_t)next() << 32;
    now.m0 = 0;
    if (now.lanes == 32)
        now.exec &= UINT32_MAX;
    uint64_t before_it = told();
    if (!run() || told() != before_it)
        return true; /* nothing to say */
    compared++;
    const struct state first = now.end, claims = now.claims, begin = now.values;
    for (unsigned i = 0; i < TRIES; i++) {
        size_t at = 0;
        now.values = begin;
        shake(&now.values, &now.undefined);
        if (!run())
            return true;
        uint32_t missed = misses(&first, &now.end, &claims, &at);
        if (!missed)
            continue;
        printf("dword %zu (v%zu lane %zu), bits %08x; EXEC %llx:\n", at, at / LANES,
               at % LANES, missed, (unsigned long long)now.exec);
        print(bytes);
        return false;
    }
    return true;
}

static void begin(void)
{
    static const struct emu_observer observer = {.before = before};
    table = calloc(1, sizeof *table);
    code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(table && code != MAP_FAILED);
    ck_assert_int_eq(
        emu_create(&(struct emu_config){.engine = EMU_ENGINE_INTERP}, &emu), RD_OK);
    ck_assert_int_eq(emu_mem_add(emu, (uint64_t)(uintptr_t)code, PAGE,
                                 EMU_MEM_READ | EMU_MEM_EXEC, "code"),
                     RD_OK);
    const struct ck_config config = {.classes = CK_BIT(CK_INIT), .keep_going = true};
    ck_assert_int_eq(ck_create(emu, &config, table, &ck), RD_OK);
    ck_assert_int_eq(emu_add_observer(emu, &observer), RD_OK);
}

static void end(void)
{
    ck_destroy(ck);
    emu_destroy(emu);
    munmap(code, PAGE);
    free(table);
}

/* A program of instructions of a row and of some others behind it. */
static unsigned program(unsigned row, unsigned variant, unsigned others)
{
    static const uint32_t nop = 0xbf800000, endpgm = 0xbfb00000;
    unsigned bytes = 8, n;
    memcpy(code, &nop, 4);
    memcpy(code + 4, &nop, 4);
    n = make(row, variant, code + bytes);
    if (!n)
        return 0;
    bytes += n;
    while (others--) {
        unsigned any = below(isa_row_count());
        if (is_row(isa_row(any)))
            bytes += make(any, ISA_VAR_NONE, code + bytes);
    }
    memcpy(code + bytes, &endpgm, 4);
    return bytes;
}

/* ---- memory ---- */

/* Loads and stores of LDS and scratch, each with bytes of its own. */
static bool is_memory(const struct isa_row *row)
{
    const struct isa_facts *f = isa_facts(row->op);
    return (row->enc == ISA_ENC_DS || row->enc == ISA_ENC_SCRATCH) && !f->stride &&
           (f->access == ISA_ACCESS_LOAD || f->access == ISA_ACCESS_STORE) &&
           f->bytes && !(f->mem & ISA_MEM_ADDTID) &&
           !strstr(isa_op_name(row->op), "addtid");
}

static bool aim(struct isa_inst *inst)
{
    const struct isa_facts *f = isa_facts(inst->op);
    unsigned grain = f->bytes < 4 ? f->bytes : 16;
    inst->flags &= ~ISA_M_GDS;
    inst->offset = (int32_t)(below(40) / grain * grain);
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        struct isa_opnd *o = &inst->opnd[i];
        bool address = o->field == ISA_FIELD_ADDR || o->field == ISA_FIELD_VADDR;
        if (o->field == ISA_FIELD_SADDR && o->kind != ISA_OPND_OFF &&
            o->sel != ISA_SEL_NULL)
            return false;
        if (address && o->kind != ISA_OPND_REG)
            return false;
        if (address)
            o->sel = ISA_SEL_VGPR0 + (inst->enc == ISA_ENC_DS ? ADDRESS : OFFSET);
        else
            move(o);
    }
    return true;
}

static unsigned make_access(unsigned row, uint8_t *to)
{
    for (unsigned i = 0; i < 256; i++) {
        uint8_t bytes[ISA_MAX_BYTES + 8];
        struct isa_inst inst, back;
        unsigned n;
        isa_random(row, ISA_VAR_NONE, &rng, bytes);
        if (isa_decode(bytes, ISA_MAX_BYTES, now.lanes, &inst) != RD_OK ||
            !aim(&inst) || isa_encode(&inst, now.lanes, bytes, &n) != RD_OK ||
            isa_decode(bytes, n, now.lanes, &back) != RD_OK)
            continue;
        memcpy(to, bytes, n);
        return n;
    }
    return 0;
}

static void every_access(unsigned lanes)
{
    static const uint32_t nop = 0xbf800000, endpgm = 0xbfb00000;
    unsigned made = compared = 0, missed = 0, rows[256], n_rows = 0;
    begin();
    rng = seed * 64 + lanes + 7;
    now.lanes = lanes;
    for (unsigned row = 0; row < isa_row_count() && n_rows < 256; row++)
        if (is_memory(isa_row(row)))
            rows[n_rows++] = row;
    for (unsigned i = 0; i < 600 * each_row; i++) {
        unsigned bytes = 8;
        memcpy(code, &nop, 4);
        memcpy(code + 4, &nop, 4);
        for (unsigned k = 0; k < 12; k++)
            bytes += make_access(rows[below(n_rows)], code + bytes);
        memcpy(code + bytes, &endpgm, 4);
        made += bytes > 8;
        missed += !holds(bytes);
    }
    printf("%u programs of %u instructions of memory, %u lanes, %u with misses\n", made,
           n_rows, lanes, missed);
    ck_assert_uint_gt(n_rows, 40);
    ck_assert_uint_gt(compared, made / 2);
    ck_assert_uint_eq(missed, 0);
    end();
}

static void every_row(unsigned lanes)
{
    static const unsigned variants[] = {ISA_VAR_NONE, ISA_VAR_LITERAL, ISA_VAR_DPP16,
                                        ISA_VAR_DPP8};
    unsigned made = compared = 0, missed = 0;
    begin();
    rng = seed * 64 + lanes;
    now.lanes = lanes;
    for (unsigned row = 0; row < isa_row_count(); row++)
        for (unsigned k = 0; k < 4 && is_row(isa_row(row)); k++)
            for (unsigned i = 0; i < each_row; i++) {
                unsigned bytes = program(row, variants[k], i % 2 ? 3 : 0);
                made += bytes != 0;
                missed += bytes && !holds(bytes);
            }
    printf("%u programs of %u lanes, %u compared, %u with misses\n", made, lanes,
           compared, missed);
    ck_assert_uint_gt(made, 2000);
    ck_assert_uint_gt(compared, made / 2);
    ck_assert_uint_eq(missed, 0);
    end();
}

START_TEST(nothing_is_missed_32)
{
    every_row(32);
}
END_TEST

START_TEST(nothing_is_missed_64)
{
    every_row(64);
}
END_TEST

START_TEST(memory_keeps_them_32)
{
    every_access(32);
}
END_TEST

START_TEST(memory_keeps_them_64)
{
    every_access(64);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc > 1)
        seed = strtoull(argv[1], NULL, 0);
    if (argc > 2)
        each_row = (unsigned)strtoul(argv[2], NULL, 0);
    Suite *suite = suite_create("init");
    TCase *t = tcase_create("brute force");
    tcase_add_test(t, nothing_is_missed_32);
    tcase_add_test(t, nothing_is_missed_64);
    tcase_add_test(t, memory_keeps_them_32);
    tcase_add_test(t, memory_keeps_them_64);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
