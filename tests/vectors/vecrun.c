/* vecrun.c: runs blocks of vectors: every row in every spelling, wave size and engine,
 * with all lanes and with some lanes switched off.
 *
 * Invariant: expected values come from the files only; lanes that are off must keep
 * what was in the destination before.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa_asm.h"
#include "vecrun.h"

#define SENTINEL 0x5a5a1234u

/* One assembled spelling and how it is to run. */
struct trial {
    const struct vec_block *b;
    struct vec_tally *tally;
    struct arena *arena;
    const struct engine *engines;
    struct shape shape;
    uint64_t exec;
    unsigned first_row; /* of the dispatch */
    char text[2048];    /* the spelling */
    const char *engine;
};

static void fail(struct trial *t, const char *what)
{
    if (t->tally->failures++ < 40)
        printf("%s:%u: %s [%s, wave%u, exec %llx, mode %x] %s\n", t->tally->path,
               t->b->line, t->text, t->engine, t->shape.lanes,
               (unsigned long long)t->exec, t->b->mode, what);
}

/* ---- registers in and out -----------------------------------------------------------
 */

static uint32_t *scalar_slot(struct wave_regs *r, const struct vec_column *c)
{
    switch (c->reg) {
    case VEC_SGPR:
        return &r->s[c->index];
    case VEC_SCC:
        return &r->scc;
    case VEC_VCC:
        return r->vcc;
    case VEC_EXEC:
        return r->exec;
    case VEC_M0:
        return &r->m0;
    default:
        return &r->mode;
    }
}

static uint32_t *mask_slot(struct wave_regs *r, const struct vec_column *c)
{
    return c->index == ISA_SEL_VCC_LO    ? r->vcc
           : c->index == ISA_SEL_EXEC_LO ? r->exec
                                         : &r->s[c->index];
}

static void put(struct wave_regs *r, const struct vec_column *c, unsigned lane,
                uint64_t v)
{
    if (c->reg == VEC_MASK) {
        uint32_t *m = &mask_slot(r, c)[lane / 32];
        *m = (*m & ~(1u << lane % 32)) | (uint32_t)(v & 1) << lane % 32;
        return;
    }
    for (unsigned i = 0; i < c->dwords && i < 2; i++, v >>= 32) {
        if (c->reg == VEC_VGPR)
            r->v[c->index + i][lane] = (uint32_t)v;
        else
            scalar_slot(r, c)[i] = (uint32_t)v;
    }
}

static uint64_t get(struct wave_regs *r, const struct vec_column *c, unsigned lane)
{
    uint64_t v = 0;
    if (c->reg == VEC_MASK)
        return mask_slot(r, c)[lane / 32] >> lane % 32 & 1;
    for (unsigned i = 0; i < c->dwords && i < 2; i++)
        v |= (uint64_t)(c->reg == VEC_VGPR ? r->v[c->index + i][lane]
                                           : scalar_slot(r, c)[i])
             << 32 * i;
    return v;
}

static bool is_quiet_nan(uint64_t v, unsigned dwords, unsigned digits)
{
    (void)digits;
    if (dwords == 2)
        return (v & 0x7ff8000000000000) == 0x7ff8000000000000;
    if (v >> 16 == 0)
        return (v & 0x7e00) == 0x7e00;
    return (v & 0x7fc00000) == 0x7fc00000;
}

static void compare(struct trial *t, const struct vec_column *c, unsigned lane,
                    const struct vec_value *want, uint64_t got)
{
    char text[200];
    t->tally->checks++;
    if (want->any == 2 || (want->any == 1 && is_quiet_nan(got, c->dwords, 0)))
        return;
    uint64_t off = want->bits > got ? want->bits - got : got - want->bits;
    if (want->any == 0 && off <= want->within)
        return;
    int n = snprintf(text, sizeof text, "row %u of the block, lane %u: got %llx, want ",
                     t->first_row + lane, lane, (unsigned long long)got);
    if (want->any)
        snprintf(text + n, sizeof text - (size_t)n, "a quiet NaN");
    else
        snprintf(text + n, sizeof text - (size_t)n, "%llx",
                 (unsigned long long)want->bits);
    fail(t, text);
}

/* ---- one dispatch -------------------------------------------------------------------
 */

static void clear(struct trial *t)
{
    for (unsigned w = 0; w < t->shape.groups; w++) {
        struct block *b = &t->arena->blocks[w];
        memset(b, 0, sizeof *b);
        for (unsigned i = 0; i < FREE_VGPRS; i++)
            for (unsigned l = 0; l < 64; l++)
                b->in.v[i][l] = SENTINEL + i;
        b->in.exec[0] = (uint32_t)t->exec;
        b->in.exec[1] = (uint32_t)(t->exec >> 32);
        b->in.mode = t->b->mode;
        arena_resources(t->arena, w);
        for (unsigned i = 0; i < t->b->n_sets; i++) {
            const struct vec_set *s = &t->b->set[i];
            if (s->expected)
                continue;
            if (s->column.reg == VEC_DATA)
                memcpy(b->data + DATA_BYTES / 4 + s->column.index, s->value,
                       4ul * s->n);
            else if (s->column.reg == VEC_VGPR)
                for (unsigned l = 0; l < 64; l++)
                    b->in.v[s->column.index][l] = s->value[l % s->n];
            else
                memcpy(s->column.reg == VEC_MASK ? mask_slot(&b->in, &s->column)
                                                 : scalar_slot(&b->in, &s->column),
                       s->value, 4ul * s->n);
        }
    }
}

static bool run(struct trial *t, const struct engine *e)
{
    arena_restore(t->arena, &t->shape);
    t->engine = e->name;
    struct outcome o = engine_run(e, t->arena, &t->shape);
    if (o.status == RD_OK)
        return true;
    char text[600];
    emu_fault_text(&o.fault, text, sizeof text);
    fail(t, text);
    return false;
}

static void check_lane(struct trial *t, unsigned wave, unsigned lane, unsigned row)
{
    const struct vec_block *b = t->b;
    struct block *m = &t->arena->blocks[wave];
    bool active = t->exec >> lane & 1;
    for (unsigned i = 0; i < b->n_out; i++) {
        const struct vec_column *c = &b->out[i];
        struct vec_value off = {.bits = get(&m->in, c, lane)};
        if (c->reg == VEC_MASK)
            off.bits = 0;
        compare(t, c, lane, active ? &b->row[row][VEC_COLUMNS + i] : &off,
                get(&m->out, c, lane));
    }
}

/* Rows of single lanes, as many to a dispatch as fit: a workgroup for each wave, so
 * that each has LDS of its own. */
static void run_lanes(struct trial *t)
{
    const struct vec_block *b = t->b;
    unsigned lanes = t->shape.lanes, per_run = lanes * MAX_WAVES;
    for (unsigned first = 0; first < b->n_rows; first += per_run) {
        unsigned left = b->n_rows - first, waves = (left + lanes - 1) / lanes;
        t->shape.groups = waves < MAX_WAVES ? waves : MAX_WAVES;
        t->first_row = first;
        clear(t);
        for (unsigned i = 0; i < lanes * t->shape.groups; i++)
            for (unsigned c = 0; c < b->n_in; c++)
                put(&t->arena->blocks[i / lanes].in, &b->in[c], i % lanes,
                    b->row[(first + i) % b->n_rows][c].bits);
        arena_keep_initial(t->arena, &t->shape);
        for (unsigned e = 0; e < t->tally->n_engines; e++)
            if (t->engines[e].emu && run(t, &t->engines[e]))
                for (unsigned i = 0; i < lanes * t->shape.groups; i++)
                    check_lane(t, i / lanes, i % lanes, (first + i) % b->n_rows);
    }
}

/* Each row is a wave. */
static void run_scalars(struct trial *t)
{
    const struct vec_block *b = t->b;
    for (unsigned first = 0; first < b->n_rows; first += t->shape.groups) {
        unsigned left = b->n_rows - first;
        t->shape.groups = left < MAX_WAVES ? left : MAX_WAVES;
        t->first_row = first;
        clear(t);
        for (unsigned w = 0; w < t->shape.groups; w++)
            for (unsigned c = 0; c < b->n_in; c++)
                put(&t->arena->blocks[w].in, &b->in[c], 0, b->row[first + w][c].bits);
        arena_keep_initial(t->arena, &t->shape);
        if (!run(t, &t->engines[0])) /* scalars know no SIMD level */
            continue;
        for (unsigned w = 0; w < t->shape.groups; w++)
            for (unsigned i = 0; i < b->n_out; i++) {
                uint64_t got = get(&t->arena->blocks[w].out, &b->out[i], 0);
                if (t->shape.lanes == 32 && (b->out[i].reg == VEC_EXEC))
                    got &= 0xffffffff;
                compare(t, &b->out[i], w, &b->row[first + w][VEC_COLUMNS + i], got);
            }
    }
}

static void check_set(struct trial *t, const struct vec_set *s)
{
    struct block *m = &t->arena->blocks[0];
    const void *memory =
        s->column.reg == VEC_LDS
            ? (const void *)((const uint8_t *)m->lds + s->column.index)
            : (const void *)(m->data + DATA_BYTES / 4 + s->column.index);
    for (unsigned i = 0; i < s->n; i++) {
        uint32_t got;
        struct vec_value want = {.bits = s->value[i]};
        if (s->column.reg == VEC_VGPR)
            got = m->out.v[s->column.index][i];
        else if (s->column.reg == VEC_LDS || s->column.reg == VEC_DATA)
            memcpy(&got, (const uint8_t *)memory + 4ul * i, 4);
        else
            got = (s->column.reg == VEC_MASK ? mask_slot(&m->out, &s->column)
                                             : scalar_slot(&m->out, &s->column))[i];
        compare(t, &s->column, i, &want, got);
    }
}

static void run_wave(struct trial *t)
{
    t->shape.groups = 1;
    clear(t);
    arena_keep_initial(t->arena, &t->shape);
    for (unsigned e = 0; e < t->tally->n_engines; e++)
        if (t->engines[e].emu && run(t, &t->engines[e]))
            for (unsigned i = 0; i < t->b->n_sets; i++)
                if (t->b->set[i].expected)
                    check_set(t, &t->b->set[i]);
}

/* ---- spellings ----------------------------------------------------------------------
 */

/* The text of a spelling: $vcc, $exec and $s4 are masks, one register or a pair. */
static void spell(struct trial *t, const char *s, size_t len)
{
    char *out = t->text, *end = t->text + sizeof t->text - 32;
    for (size_t i = 0; i < len && out < end; i++) {
        if (s[i] != '$') {
            *out++ = s[i];
            continue;
        }
        bool pair = t->shape.lanes == 64;
        if (s[i + 1] == 's') {
            unsigned reg = (unsigned)strtoul(s + i + 2, NULL, 10);
            out += sprintf(out, pair ? "s[%u:%u]" : "s%u", reg, reg + 1);
            for (i++; s[i + 1] >= '0' && s[i + 1] <= '9'; i++)
                ;
        } else {
            size_t n = s[i + 1] == 'v' ? 3 : 4;
            memcpy(out, s + i + 1, n);
            out += n;
            if (!pair) {
                memcpy(out, "_lo", 3);
                out += 3;
            }
            i += n;
        }
    }
    *out = 0;
}

/* ".long A, B": words that the assembler has no text for. Their bytes. */
static unsigned words(const char *s, uint8_t *code)
{
    unsigned n = 0;
    for (s += strlen(".long"); *s == ' ' || *s == ','; n += 4) {
        char *end;
        uint32_t word = (uint32_t)strtoul(s + 1 + (*s == ','), &end, 0);
        memcpy(code + n, &word, sizeof word);
        s = end;
    }
    return n;
}

/* Assemble statements separated by ; */
static size_t assemble(struct trial *t, uint8_t *code)
{
    size_t n = 0;
    for (const char *s = t->text; *s;) {
        struct isa_asm_options options = {.wave = t->shape.lanes};
        struct isa_asm_error err;
        struct isa_fixup fixup;
        unsigned bytes;
        size_t part = strcspn(s, ";");
        if (!strncmp(s, ".long ", 6))
            bytes = words(s, code + n);
        else if (isa_assemble(s, part, &options, code + n, &bytes, &fixup, &err) !=
                 RD_OK) {
            t->engine = "assembler";
            fail(t, err.text);
            return 0;
        }
        n += bytes;
        s += part + (s[part] == ';');
    }
    return n;
}

static void run_spelling(struct trial *t, const char *s, size_t len)
{
    static const uint64_t masks[] = {~UINT64_C(0), 0x9669a55a0ff0c33c, 0};
    uint8_t code[2048];
    spell(t, s, len);
    bool dual = strstr(t->text, "v_dual_") != NULL;
    if (dual && t->shape.lanes == 64)
        return;
    size_t n = assemble(t, code);
    if (!n)
        return;
    arena_place(t->arena, t->shape.lanes, code, n);
    for (unsigned i = 0; i < 3; i++) {
        t->exec = masks[i];
        t->shape.groups = MAX_WAVES;
        if (t->b->kind == VEC_LANES)
            run_lanes(t);
        else if (i == 0 && t->b->kind == VEC_SCALAR)
            run_scalars(t);
        else if (i == 0)
            run_wave(t);
    }
}

void vec_run_block(void *ctx, const struct vec_block *b)
{
    struct vec_tally *tally = ctx;
    const struct engine *engines = b->exact ? tally->exact : tally->engines;
    if (!engines)
        return;
    tally->blocks++;
    tally->rows += b->n_rows ? b->n_rows : 1;
    if (!b->source[0]) {
        printf("%s:%u: a block without a source\n", tally->path, b->line);
        tally->failures++;
    }
    for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
        if (b->lanes && b->lanes != lanes)
            continue;
        struct trial t = {.b = b,
                          .tally = tally,
                          .arena = tally->arena,
                          .engines = engines,
                          .shape = {lanes, 1, 1}};
        for (const char *s = b->op; *s;) {
            const char *end = strstr(s, " | ");
            size_t len = end ? (size_t)(end - s) : strlen(s);
            run_spelling(&t, s, len);
            s += len + (end ? 3 : 0);
        }
    }
}
