/* fuzz_decode.c: libFuzzer target: decode and print arbitrary bytes in both wave sizes.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(cond)                                                                    \
    do {                                                                               \
        if (!(cond)) {                                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);                 \
            abort();                                                                   \
        }                                                                              \
    } while (0)

static void check_operands(const struct isa_inst *inst)
{
    CHECK(inst->n_opnds <= ISA_MAX_OPNDS);
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        CHECK(o->field < ISA_FIELD_COUNT);
        CHECK(o->kind != ISA_OPND_REG || o->dwords != 0);
        CHECK(o->sel < ISA_SEL_COUNT);
        CHECK(o->sel < ISA_SEL_VGPR0 || o->sel + o->dwords <= ISA_SEL_COUNT);
    }
}

static void check_text(const struct isa_inst *inst, unsigned wave)
{
    char text[ISA_MAX_TEXT];
    for (unsigned flags = 0; flags <= ISA_PRINT_TRUE16; flags++) {
        size_t len = isa_print(inst, wave, flags, text);
        CHECK(len > 0 && len < sizeof text && strlen(text) == len);
        for (size_t i = 0; i < len; i++)
            CHECK(text[i] >= ' ' && text[i] <= '~');
        CHECK(text[len - 1] != ' ');
    }
}

static bool same(const struct isa_inst *a, const struct isa_inst *b)
{
    return memcmp(a, b, offsetof(struct isa_inst, opnd)) == 0 &&
           memcmp(a->opnd, b->opnd, a->n_opnds * sizeof a->opnd[0]) == 0;
}

/* What only hardware accepts must be as well-formed. */
static void check_hardware(const uint8_t *data, size_t size, unsigned wave)
{
    struct isa_inst inst;
    if (isa_decode_hw(data, size, wave, &inst) == RD_OK) {
        check_operands(&inst);
        check_text(&inst, wave);
    }
}

static void check_wave(const uint8_t *data, size_t size, unsigned wave)
{
    struct isa_inst inst, again;
    check_hardware(data, size, wave);
    rd_status st = isa_decode(data, size, wave, &inst);
    if (st != RD_OK) {
        CHECK(st == RD_E_ENCODING || (st == RD_E_TRUNCATED && size < ISA_MAX_BYTES));
        return;
    }
    CHECK(inst.bytes == 4 || inst.bytes == 8 || inst.bytes == 12);
    CHECK(inst.bytes <= size);
    CHECK(inst.op != ISA_OP_NONE && inst.op < ISA_OP_COUNT);
    check_operands(&inst);
    check_text(&inst, wave);
    /* What follows the instruction does not matter, its last dword does. */
    CHECK(isa_decode(data, inst.bytes, wave, &again) == RD_OK);
    CHECK(same(&inst, &again));
    CHECK(isa_decode_hw(data, size, wave, &again) == RD_OK);
    CHECK(same(&inst, &again));
    CHECK(isa_decode(data, inst.bytes - 1u, wave, &again) != RD_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_wave(data, size, ISA_WAVE32);
    check_wave(data, size, ISA_WAVE64);
    return 0;
}
