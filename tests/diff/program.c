/* program.c: random programs: which instructions, in what blocks and loops.
 *
 * Invariant: branches go forward, but for loops whose counters no instruction of the
 * program writes; barriers stand where every wave comes by.
 * SPDX-License-Identifier: MIT
 */
#include "program.h"

#include <string.h>

#include "inst.h"

void program_init(struct program *p, unsigned lanes, uint64_t seed)
{
    memset(p, 0, sizeof *p);
    p->lanes = lanes;
    p->random = (seed + 1) * 0xd1342543de82ef95u;
}

static struct item *new_item(struct program *p)
{
    return p->n < MAX_ITEMS ? &p->item[p->n++] : NULL;
}

bool program_add(struct program *p, unsigned row, unsigned variant)
{
    struct item it;
    if (p->n == MAX_ITEMS || !inst_random(&p->random, &it, p->lanes, row, variant))
        return false;
    p->item[p->n++] = it;
    return true;
}

/* ---- choosing rows ------------------------------------------------------------------
 */

/* Rows by encoding, found once. */
static struct {
    uint16_t row[1600];
    unsigned first[ISA_ENC_COUNT + 1];
    bool ready;
} rows;

static void find_rows(void)
{
    unsigned n = 0;
    const char *why;
    for (unsigned enc = 0; enc < ISA_ENC_COUNT; enc++) {
        rows.first[enc] = n;
        for (unsigned i = 0; i < isa_row_count(); i++)
            if (isa_row(i)->enc == enc && program_takes(i, &why))
                rows.row[n++] = (uint16_t)i;
    }
    rows.first[ISA_ENC_COUNT] = n;
    rows.ready = true;
}

static void add_random(struct program *p)
{
    static const uint8_t encs[] = {
        ISA_ENC_SOP1,    ISA_ENC_SOP2,  ISA_ENC_SOP2,  ISA_ENC_SOPK,   ISA_ENC_SOPC,
        ISA_ENC_SOPP,    ISA_ENC_SMEM,  ISA_ENC_VOP1,  ISA_ENC_VOP1,   ISA_ENC_VOP2,
        ISA_ENC_VOP2,    ISA_ENC_VOP2,  ISA_ENC_VOPC,  ISA_ENC_VOP3,   ISA_ENC_VOP3,
        ISA_ENC_VOP3,    ISA_ENC_VOP3,  ISA_ENC_VOP3,  ISA_ENC_VOP3,   ISA_ENC_VOP3SD,
        ISA_ENC_VOP3P,   ISA_ENC_VOP3P, ISA_ENC_VOPD,  ISA_ENC_VOPD,   ISA_ENC_VINTERP,
        ISA_ENC_DS,      ISA_ENC_DS,    ISA_ENC_FLAT,  ISA_ENC_GLOBAL, ISA_ENC_GLOBAL,
        ISA_ENC_SCRATCH, ISA_ENC_MUBUF, ISA_ENC_MTBUF, ISA_ENC_MIMG,   ISA_ENC_LDSDIR,
    };
    uint64_t *r = &p->random;
    if (!rows.ready)
        find_rows();
    for (unsigned attempt = 0; attempt < 16; attempt++) {
        unsigned enc = encs[below(r, sizeof encs)];
        unsigned n = rows.first[enc + 1] - rows.first[enc];
        unsigned row = rows.row[rows.first[enc] + below(r, n)];
        if (strstr(isa_op_name(isa_row(row)->op), "v_cmpx") && !chance(r, 4))
            continue; /* else few lanes stay on */
        unsigned variants = isa_row(row)->variants | 1u;
        unsigned variant = below(r, 5);
        if (!(variants >> variant & 1))
            variant = ISA_VAR_NONE;
        if (program_add(p, row, variant))
            return;
    }
}

/* ---- what is not a row --------------------------------------------------------------
 */

/* Interesting numbers for floats of all sizes and for integers. */
static uint32_t interesting(uint64_t *r)
{
    static const uint32_t special[] = {
        0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
        0x7fc00000, 0x7f800001, 0xffc12345, 0x00000001, 0x807fffff, 0x00800000,
        0x7f7fffff, 0x3c003c00, 0x7c000001, 0xfc007e01, 0x03ff8001, 0x7bfffbff,
        0x3ff00000, 0x7ff00000, 0x7ff80001, 0x000fffff, 0x80100000, 0x43e00000,
        0xffffffff, 0x7fffffff, 0x0000001f, 0x00000020, 0x4f000000, 0xcf000000,
        0x33800000, 0x4b7fffff};
    switch (below(r, 5)) {
    case 0:
        return special[below(r, 32)];
    case 1: /* f32 near one */
        return (isa_random_next(r) & 0x807fffff) | (112 + below(r, 30)) << 23;
    case 2: /* two halves near one */
        return (isa_random_next(r) & 0x83ff83ff) | (10 + below(r, 10)) << 10 |
               (10 + below(r, 10)) << 26;
    case 3: /* upper dword of an f64 near one; small integers */
        return chance(r, 2)
                   ? (isa_random_next(r) & 0x800fffff) | (1000 + below(r, 46)) << 20
                   : below(r, 300);
    default:
        return isa_random_next(r);
    }
}

static void add_lines(struct program *p, unsigned kind)
{
    struct item it = {.kind = ITEM_PLAIN};
    uint64_t *r = &p->random;
    unsigned s = below(r, FREE_SGPRS / 2) * 2;
    switch (kind) {
    case 0: /* EXEC */
        switch (below(r, 8)) {
        case 0:
            item_line(&it, p->lanes, "s_mov_b64 exec, s[%u:%u]", s, s + 1);
            break;
        case 1:
            item_line(&it, p->lanes, "s_mov_b32 exec_lo, 0x%x", isa_random_next(r));
            break;
        case 2:
            item_line(&it, p->lanes, "s_mov_b64 exec, %u", below(r, 2));
            break;
        default:
            item_line(&it, p->lanes, "s_mov_b64 exec, -1");
        }
        break;
    case 1: /* MODE */
        if (chance(r, 4))
            item_line(&it, p->lanes, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), %u",
                      below(r, 2));
        else if (chance(r, 4))
            item_line(&it, p->lanes, "s_setreg_b32 hwreg(HW_REG_MODE, %u, %u), s%u",
                      below(r, 5), 1 + below(r, 5), s);
        else
            item_line(&it, p->lanes,
                      "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 10), "
                      "0x%x",
                      chance(r, 3) ? 0xf0u : below(r, 1024));
        break;
    case 2:
        item_line(&it, p->lanes, "v_mov_b32 v%u, 0x%x", below(r, FREE_VGPRS),
                  interesting(r));
        break;
    case 3:
        item_line(&it, p->lanes, "s_mov_b32 s%u, 0x%x", s, interesting(r));
        break;
    case 4: /* a branch out of the code that is not taken */
        item_line(&it, p->lanes, "s_cmp_lg_u32 s%u, s%u", s, s);
        item_line(&it, p->lanes, "s_cbranch_scc1 %d", chance(r, 2) ? -30000 : 32767);
        break;
    default:
        item_line(&it, p->lanes, "v_xor_b32 v%u, v%u, v%u", below(r, FREE_VGPRS),
                  below(r, FREE_VGPRS), below(r, FREE_VGPRS));
    }
    struct item *out = new_item(p);
    if (out)
        *out = it;
}

static void block(struct program *p, unsigned items, unsigned depth);

static void skip(struct program *p, unsigned items, unsigned depth)
{
    static const char *const conditions[] = {"scc0",  "scc1",  "vccz",
                                             "vccnz", "execz", "execnz"};
    struct item *it = new_item(p);
    if (!it)
        return;
    it->kind = ITEM_SKIP;
    if (chance(&p->random, 3)) /* what compilers make of an if */
        item_line(it, p->lanes,
                  p->lanes == 64 ? "s_and_saveexec_b64 s[0:1], vcc"
                                 : "s_and_saveexec_b32 s0, vcc_lo");
    item_line(it, p->lanes, "s_cbranch_%s 0", conditions[below(&p->random, 6)]);
    block(p, items, depth + 1);
    it->target = (uint16_t)p->n;
}

static void loop(struct program *p, unsigned items, unsigned depth)
{
    unsigned counter = REG_COUNTER + depth;
    struct item *it = new_item(p), *end;
    if (!it)
        return;
    it->kind = ITEM_KEEP;
    item_line(it, p->lanes, "s_mov_b32 s%u, %u", counter, 1 + below(&p->random, 4));
    uint16_t start = (uint16_t)p->n;
    block(p, items, depth + 1);
    if (p->n == MAX_ITEMS)
        p->n--; /* the end matters most */
    end = new_item(p);
    *end = (struct item){.kind = ITEM_LOOP, .target = start};
    item_line(end, p->lanes, "s_sub_u32 s%u, s%u, 1", counter, counter);
    item_line(end, p->lanes, "s_cmp_lg_u32 s%u, 0", counter);
    item_line(end, p->lanes, "s_cbranch_scc1 0");
}

static void block(struct program *p, unsigned items, unsigned depth)
{
    uint64_t *r = &p->random;
    for (unsigned i = 0; i < items && p->n < MAX_ITEMS - 4; i++) {
        unsigned k = below(r, 100);
        if (k < 5 && depth < 3)
            skip(p, 1 + below(r, 8), depth);
        else if (k < 8 && depth < 3)
            loop(p, 1 + below(r, 8), depth);
        else if (k < 15)
            add_lines(p, 0);
        else if (k < 26)
            add_lines(p, 1 + below(r, 5));
        else if (k < 27 && depth == 0) {
            struct item *it = new_item(p);
            item_line(it, p->lanes, "s_barrier");
        } else
            add_random(p);
    }
}

void program_random(struct program *p, unsigned items)
{
    block(p, items, 0);
}

/* ---- code ---------------------------------------------------------------------------
 */

void program_layout(struct program *p)
{
    static size_t at[MAX_ITEMS + 1];
    size_t n = 0;
    for (unsigned i = 0; i < p->n; i++) {
        at[i] = n;
        n += p->item[i].dropped ? 0 : p->item[i].bytes;
    }
    at[p->n] = n;
    for (unsigned i = 0; i < p->n; i++) {
        struct item *it = &p->item[i];
        if (it->dropped)
            continue;
        if (it->kind == ITEM_SKIP || it->kind == ITEM_LOOP) {
            int64_t distance =
                ((int64_t)at[it->target] - (int64_t)(at[i] + it->bytes)) / 4;
            it->code[it->bytes - 4] = (uint8_t)distance;
            it->code[it->bytes - 3] = (uint8_t)(distance >> 8);
        }
        memcpy(p->code + at[i], it->code, it->bytes);
    }
    p->bytes = n;
}

void program_print(const struct program *p, FILE *out)
{
    struct isa_inst in;
    char text[ISA_MAX_TEXT];
    for (size_t at = 0; at < p->bytes; at += in.bytes) {
        if (isa_decode(p->code + at, p->bytes - at, p->lanes, &in) != RD_OK)
            return;
        isa_print(&in, p->lanes, 0, text);
        fprintf(out, "%6zx  %s\n", at, text);
    }
}

void program_inputs(struct arena *a, const struct shape *shape, uint64_t *random)
{
    for (unsigned w = 0; w < shape->groups * shape->waves; w++) {
        struct block *b = &a->blocks[w];
        memset(b, 0, sizeof *b);
        for (unsigned i = 0; i < FREE_VGPRS; i++)
            for (unsigned l = 0; l < 64; l++)
                b->in.v[i][l] = interesting(random);
        for (unsigned i = 0; i < FREE_SGPRS; i++)
            b->in.s[i] = interesting(random);
        for (unsigned i = 0; i < 2; i++) {
            b->in.vcc[i] = isa_random_next(random);
            b->in.exec[i] = chance(random, 2) ? ~0u : isa_random_next(random);
        }
        b->in.m0 = below(random, 64);
        b->in.scc = below(random, 2);
        b->in.mode =
            chance(random, 2) ? 0x3f0 : below(random, 1024) | below(random, 2) << 23;
        for (unsigned i = 0; i < DATA_BYTES; i += 4) {
            uint32_t v = interesting(random);
            memcpy(b->data + i, &v, 4);
        }
        arena_resources(a, w);
    }
    for (unsigned i = 0; i < 1024; i++)
        a->shared[i] = isa_random_next(random);
}
