/* test_unsupported.c: each opcode has the function that the fact sheet names, or a
 * reason; and every form in the disassembler's vectors predecodes.
 * SPDX-License-Identifier: MIT
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "facts.h"
#include "fidelity.h"
#include "../data/data.h"
#include "harness.h"
#include "control.h"

START_TEST(list_is_exact)
{
    struct emu *emu;
    unsigned n = 0;
    ck_assert_int_eq(emu_create(NULL, &emu), RD_OK);
    for (unsigned op = 1; op < ISA_OP_COUNT; op++) {
        const struct isa_facts *facts = isa_facts(op);
        const char *name = isa_op_name(op), *file;
        unsigned line;
        ck_assert_msg(!facts->function == !emu->sem[op], "%s", name);
        if (facts->function) {
            ck_assert_str_eq(facts->function, emu->sem[op]->name);
            ck_assert_int_eq(emu_semantics(emu, op, &file, &line), RD_OK);
            continue;
        }
        ck_assert_uint_gt(strlen(facts->note), 10);
        ck_assert_int_eq(emu_fidelity(emu, op).kind, EMU_FIDELITY_UNSUPPORTED);
        n++;
    }
    printf("%u instructions without semantics\n", n);
    emu_destroy(emu);
}
END_TEST

/* ---- every form that the assembler knows --------------------------------------------
 */

struct code {
    uint32_t *words;
    size_t n, cap;
    uint32_t *starts;
    size_t n_starts, cap_starts;
};

static void push(uint32_t **v, size_t *n, size_t *cap, uint32_t word)
{
    if (*n == *cap) {
        *cap = *cap ? 2 * *cap : 4096;
        *v = realloc(*v, *cap * sizeof **v);
        ck_assert_ptr_nonnull(*v);
    }
    (*v)[(*n)++] = word;
}

#define S_ENDPGM 0xbfb00000u

/* The encodings of one wave size, each followed by s_endpgm. */
static void read_vectors(const char *name, unsigned wave, struct code *c)
{
    char path[DATA_PATH], line[512];
    FILE *f = fopen(data_path(path, name), "r");
    ck_assert_msg(f != NULL, "cannot read %s", path);
    while (fgets(line, sizeof line, f)) {
        char *text = strchr(line, '\t'), *size = text ? strchr(text + 1, '\t') : NULL;
        if (!size ||
            (strncmp(size + 1, "both", 4) != 0 && (unsigned)atoi(size + 1) != wave))
            continue;
        push(&c->starts, &c->n_starts, &c->cap_starts, (uint32_t)c->n);
        for (char *p = line; p + 8 <= text; p += 8) {
            uint8_t byte[4];
            for (unsigned i = 0; i < 4; i++) {
                char hex[3] = {p[2 * i], p[2 * i + 1], 0};
                byte[i] = (uint8_t)strtoul(hex, NULL, 16);
            }
            uint32_t word;
            memcpy(&word, byte, sizeof word);
            push(&c->words, &c->n, &c->cap, word);
        }
        push(&c->words, &c->n, &c->cap, S_ENDPGM);
    }
    fclose(f);
}

static bool is_special(const struct isa_opnd *o)
{
    return o->kind == ISA_OPND_REG && o->sel >= ISA_SEL_SHARED_BASE &&
           o->sel < ISA_SEL_VGPR0;
}

/* Forms without a model: GDS, which the driver does not allocate; matrices that begin
 * with a special register; half a compare-and-swap. */
static bool is_excused(const struct isa_inst *inst)
{
    bool special = false;
    for (unsigned i = 0; i < inst->n_opnds; i++)
        special |= is_special(&inst->opnd[i]);
    return !isa_facts(inst->op)->function ||
           (inst->enc == ISA_ENC_DS && (inst->flags & ISA_M_GDS)) ||
           (inst->enc == ISA_ENC_VOP3P && special) ||
           (inst->op == ISA_IMAGE_ATOMIC_CMPSWAP && inst->dmask == 1);
}

static unsigned check_form(struct program *p, const struct code *c, uint32_t start,
                           unsigned wave)
{
    struct isa_inst inst;
    const struct uop *u = program_at(p, p->base + 4ull * start);
    size_t bytes = (c->n - start) * 4;
    ck_assert_ptr_nonnull(u);
    if (isa_decode_hw(c->words + start, bytes, wave, &inst) != RD_OK)
        return 0; /* the decoder's tests report it */
    if ((u->fn != x_unsupported && u->fn != x_illegal) || is_excused(&inst))
        return 0;
    char text[ISA_MAX_TEXT];
    isa_print(&inst, wave, 0, text);
    printf("wave%u refuses: %s\n", wave, text);
    return 1;
}

START_TEST(every_form)
{
    unsigned wave = _i ? 64 : 32, refused = 0;
    struct code c = {0};
    struct emu *emu;
    struct program *p;
    read_vectors("vectors/dis_gfx1100.tsv", wave, &c);
    if (getenv("RDNA3_DATA")) /* in tests/data the one file has both kinds */
        read_vectors("vectors/dis_fuzz_gfx1100.tsv", wave, &c);
    ck_assert_int_eq(emu_create(NULL, &emu), RD_OK);
    uint64_t base = (uint64_t)(uintptr_t)c.words;
    ck_assert_int_eq(
        emu_mem_add(emu, base, c.n * 4, EMU_MEM_READ | EMU_MEM_EXEC, "code"), RD_OK);
    ck_assert_int_eq(
        program_get(emu->code, base, (struct program_kind){.wave64 = wave == 64}, &p),
        RD_OK);
    for (size_t i = 0; i < c.n_starts && refused < 100; i++)
        refused += check_form(p, &c, c.starts[i], wave);
    printf("wave%u: %zu encodings\n", wave, c.n_starts);
    ck_assert_uint_eq(refused, 0);
    program_put(p);
    emu_destroy(emu);
    free(c.words);
    free(c.starts);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("emu_unsupported");
    TCase *t = tcase_create("list");
    tcase_add_test(t, list_is_exact);
    tcase_add_loop_test(t, every_form, 0, 2);
    tcase_set_timeout(t, 60);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
