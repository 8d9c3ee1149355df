/* list.c: the listing of `rdna3 dis`, which assembles again.
 *
 * Two passes: the first finds branch targets inside the region, the second prints.
 * Must not know files or ELF. Invariant: every byte of the region is listed once.
 * SPDX-License-Identifier: MIT
 */
#include "dis.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa.h"

struct listing {
    const struct dis_region *region;
    bool *targets; /* per dword: a branch leads here */
    char line[ISA_MAX_TEXT + 64];
};

/* Decode at an offset; instructions without canonical text count as data. */
static bool decode_at(const struct dis_region *r, size_t offset, struct isa_inst *inst)
{
    return isa_decode(r->code + offset, r->bytes - offset, r->wave, inst) == RD_OK &&
           isa_has_text(inst, r->print);
}

/* The operand that holds a branch distance in dwords, or NULL. */
static const struct isa_opnd *branch_operand(const struct isa_inst *inst)
{
    const struct isa_row *row = isa_row(inst->row);
    for (unsigned i = 0; i < inst->n_opnds && i < row->n_opnds; i++)
        if (isa_row_opnd(row, i)->type == ISA_OPR_LABEL)
            return &inst->opnd[i];
    return NULL;
}

/* Offset of a branch's target if that is a dword of the region. */
static bool branch_target(const struct dis_region *r, size_t offset,
                          const struct isa_inst *inst, size_t *target)
{
    const struct isa_opnd *o = branch_operand(inst);
    if (o == NULL)
        return false;
    int64_t at = (int64_t)offset + 4 + (int64_t)o->imm * 4;
    if (at < 0 || (uint64_t)at >= r->bytes / 4 * 4)
        return false;
    *target = (size_t)at;
    return true;
}

static void find_targets(struct listing *l)
{
    const struct dis_region *r = l->region;
    for (size_t offset = 0; offset + 4 <= r->bytes;) {
        struct isa_inst inst;
        size_t target;
        bool ok = decode_at(r, offset, &inst);
        if (ok && branch_target(r, offset, &inst, &target))
            l->targets[target / 4] = true;
        offset += ok ? inst.bytes : 4;
    }
}

static void put_label(char *text, uint64_t address)
{
    sprintf(text, "L_%" PRIx64, address);
}

/* "// 000000001000: 7E000281" behind the text. */
static void print_line(const struct dis_region *r, const char *text, size_t offset,
                       size_t bytes)
{
    printf("\t%-60s // %012" PRIX64 ":", text, r->address + offset);
    for (size_t i = 0; i < bytes; i += 4) {
        uint32_t dword = 0;
        for (size_t b = 0; b < 4 && i + b < bytes; b++)
            dword |= (uint32_t)r->code[offset + i + b] << 8 * b;
        printf(" %08" PRIX32, dword);
    }
    putchar('\n');
}

/* A branch inside the region names its target instead of the distance, which is the
 * last operand. */
static void name_target(struct listing *l, size_t target)
{
    char *last = strrchr(l->line, ' ');
    if (last != NULL)
        put_label(last + 1, l->region->address + target);
}

static size_t print_one(struct listing *l, size_t offset, long *unknown)
{
    const struct dis_region *r = l->region;
    struct isa_inst inst;
    size_t target;
    if (decode_at(r, offset, &inst)) {
        isa_print(&inst, r->wave, r->print, l->line);
        if (branch_target(r, offset, &inst, &target))
            name_target(l, target);
        print_line(r, l->line, offset, inst.bytes);
        return inst.bytes;
    }
    ++*unknown;
    if (r->bytes - offset >= 4) {
        const uint8_t *p = r->code + offset;
        sprintf(l->line, ".long 0x%02x%02x%02x%02x", p[3], p[2], p[1], p[0]);
        print_line(r, l->line, offset, 4);
        return 4;
    }
    sprintf(l->line, ".byte 0x%02x", r->code[offset]);
    print_line(r, l->line, offset, 1);
    return 1;
}

long dis_list(const struct dis_region *region, dis_symbols_fn *symbols, void *user)
{
    struct listing l = {.region = region};
    long unknown = 0;
    l.targets = calloc(region->bytes / 4 + 1, sizeof *l.targets);
    if (l.targets == NULL)
        return -1;
    find_targets(&l);
    for (size_t offset = 0; offset < region->bytes;) {
        if (symbols != NULL)
            symbols(user, region->address + offset);
        if (offset % 4 == 0 && l.targets[offset / 4]) {
            put_label(l.line, region->address + offset);
            printf("%s:\n", l.line);
        }
        offset += print_one(&l, offset, &unknown);
    }
    free(l.targets);
    return unknown;
}
