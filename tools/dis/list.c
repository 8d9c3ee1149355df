/* list.c: the listing of `rdna3 dis`, which assembles again.
 *
 * Two passes: the first finds where items begin and branches lead, the second hands
 * out items. Must not know files or ELF. Invariant: every byte of the region is listed
 * once, and each text was assembled and gave its bytes.
 * SPDX-License-Identifier: MIT
 */
#include "dis.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm.h"

/* In place of a literal that a relocation sets; no inline constant. */
#define SENTINEL      0x5a17c0deu
#define SENTINEL_TEXT "0x5a17c0de"

#define ITEM_START 1u /* per dword: an item begins */
#define TARGET     2u /* a branch leads here */

struct listing {
    const struct dis_region *region;
    const struct dis_context *context;
    struct asm_line *lines[2]; /* wave32, wave64 */
    uint8_t *marks;
    char label[32];
    size_t text_bytes;
    char *text, *other; /* [text_bytes] */
    char note[ISA_MAX_TEXT];
};

static unsigned wave_at(const struct listing *l, uint64_t offset)
{
    const struct dis_context *c = l->context;
    return c->wave ? c->wave(c->user, offset) : l->region->wave;
}

/* Bytes up to the next place where an item has to begin. */
static size_t room_at(const struct listing *l, uint64_t offset)
{
    const struct dis_context *c = l->context;
    size_t end = l->region->bytes;
    uint64_t stop = c->stop ? c->stop(c->user, offset) : end;
    return (size_t)((stop < end ? stop : end) - offset);
}

/* Decode at an offset; instructions without canonical text count as data. */
static bool decode_at(const struct listing *l, uint64_t offset, struct isa_inst *inst)
{
    const struct dis_region *r = l->region;
    return isa_decode(r->code + offset, room_at(l, offset), wave_at(l, offset), inst) ==
               RD_OK &&
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
static bool branch_target(const struct dis_region *r, uint64_t offset,
                          const struct isa_inst *inst, size_t *target)
{
    const struct isa_opnd *o = branch_operand(inst);
    if (o == NULL)
        return false;
    int64_t at = (int64_t)offset + 4 + (int64_t)o->imm * 4;
    if (at < 0 || at % 4 != 0 || (uint64_t)at >= r->bytes / 4 * 4)
        return false;
    *target = (size_t)at;
    return true;
}

static size_t data_bytes(const struct listing *l, uint64_t offset)
{
    const struct dis_context *c = l->context;
    size_t room = room_at(l, offset);
    uint64_t at;
    unsigned size;
    if (c->expression && c->expression(c->user, offset, 4, true, &at, &size)) {
        if (at > offset)
            return (size_t)(at - offset);
        if (size <= l->region->bytes - offset) /* a symbol may lie in its middle */
            return size;
    }
    return offset % 4 == 0 && room >= 4 ? 4 : 1;
}

/* A relocation lies here that no operand can name: not an instruction. */
static bool only_data(const struct listing *l, uint64_t offset, unsigned bytes)
{
    const struct dis_context *c = l->context;
    uint64_t at;
    unsigned size = 0;
    return c->expression && !c->expression(c->user, offset, bytes, false, &at, &size) &&
           size;
}

static void find_targets(struct listing *l)
{
    const struct dis_region *r = l->region;
    for (uint64_t offset = 0; offset < r->bytes;) {
        struct isa_inst inst;
        size_t target;
        bool ok = decode_at(l, offset, &inst) && !only_data(l, offset, inst.bytes);
        if (offset % 4 == 0)
            l->marks[offset / 4] |= ITEM_START;
        if (ok && branch_target(r, offset, &inst, &target))
            l->marks[target / 4] |= TARGET;
        offset += ok ? inst.bytes : data_bytes(l, offset);
    }
}

static void put_label(char *text, uint64_t address)
{
    sprintf(text, ".L_%" PRIx64, address);
}

/* Does the text assemble to these bytes? A fixup's bytes are not compared, but must be
 * the ones expected. */
static bool assembles(struct listing *l, unsigned wave, const char *text,
                      const uint8_t *code, unsigned bytes, unsigned kind, uint64_t at)
{
    uint8_t made[20];
    unsigned n;
    struct isa_fixup fixup;
    struct isa_asm_error err;
    if (asm_line_one(l->lines[wave == 64], text, strlen(text), made, &n, &fixup,
                     &err) != RD_OK ||
        n != bytes || fixup.kind != kind || (kind && fixup.offset != at))
        return false;
    unsigned skip = kind == ISA_FIXUP_ABS32 ? 4 : kind ? 2 : 0;
    for (unsigned i = 0; i < n; i++)
        if (made[i] != code[i] && !(skip && i >= at && i < at + skip))
            return false;
    return true;
}

/* Write what stands in a place of the text. */
static bool replace(struct listing *l, const char *at, size_t len, const char *with)
{
    int n = snprintf(l->other, l->text_bytes, "%.*s%s%s", (int)(at - l->text), l->text,
                     with, at + len);
    if (n < 0 || (size_t)n >= l->text_bytes)
        return false;
    memcpy(l->text, l->other, (size_t)n + 1);
    return true;
}

/* The text of an instruction that a relocation changes. */
static bool relocated_text(struct listing *l, struct dis_item *item,
                           struct isa_inst *inst, const char *expression, uint64_t at)
{
    bool branch = branch_operand(inst) != NULL && at == 0;
    if (!branch)
        inst->literal = SENTINEL;
    isa_print(inst, item->wave, l->region->print, l->text);
    char *place = branch ? strrchr(l->text, ' ') : strstr(l->text, SENTINEL_TEXT);
    if (!place)
        return false;
    if (branch)
        place++;
    size_t len = branch ? strlen(place) : sizeof SENTINEL_TEXT - 1;
    return replace(l, place, len, expression) &&
           assembles(l, item->wave, l->text, item->code, inst->bytes,
                     branch ? ISA_FIXUP_BRANCH : ISA_FIXUP_ABS32, at);
}

/* Try to make the item an instruction. On failure its bytes are the length of what was
 * decoded, if anything was. */
static bool instruction(struct listing *l, struct dis_item *item)
{
    const struct dis_context *c = l->context;
    struct isa_inst inst;
    uint64_t at;
    unsigned size = 0;
    size_t target;
    if (!decode_at(l, item->offset, &inst) || only_data(l, item->offset, inst.bytes))
        return false;
    size_t length = isa_print(&inst, item->wave, l->region->print, l->note);
    const char *expression =
        c->expression
            ? c->expression(c->user, item->offset, inst.bytes, false, &at, &size)
            : NULL;
    if (expression)
        item->known = relocated_text(l, item, &inst, expression, at - item->offset);
    else
        item->known = assembles(l, item->wave, memcpy(l->text, l->note, length + 1),
                                item->code, inst.bytes, ISA_FIXUP_NONE, 0);
    item->bytes = inst.bytes;
    if (!item->known) {
        item->note = l->note;
        return false;
    }
    /* A branch inside the region names its target instead of the distance, which is
     * the last operand. */
    char *last = strrchr(l->text, ' ');
    if (!expression && last && branch_target(l->region, item->offset, &inst, &target) &&
        (l->marks[target / 4] & ITEM_START))
        put_label(last + 1, l->region->address + target);
    return true;
}

static void data(struct listing *l, struct dis_item *item)
{
    const struct dis_context *c = l->context;
    const uint8_t *p = item->code;
    uint64_t at;
    unsigned size = 0;
    item->bytes = (unsigned)data_bytes(l, item->offset);
    const char *expression =
        c->expression ? c->expression(c->user, item->offset, 1, true, &at, &size)
                      : NULL;
    item->lost = size && !expression;
    if (expression && size == item->bytes)
        snprintf(l->text, l->text_bytes, "%s %s", size == 8 ? ".quad" : ".long",
                 expression);
    else if (item->bytes == 4)
        sprintf(l->text, ".long 0x%02x%02x%02x%02x", p[3], p[2], p[1], p[0]);
    else
        sprintf(l->text, ".byte 0x%02x", p[0]);
}

static long list_items(struct listing *l)
{
    const struct dis_region *r = l->region;
    const struct dis_context *c = l->context;
    long unknown = 0;
    uint64_t data_to = 0; /* behind an instruction that has to be data */
    for (uint64_t offset = 0; offset < r->bytes;) {
        struct dis_item item = {.offset = offset,
                                .address = r->address + offset,
                                .code = r->code + offset,
                                .wave = wave_at(l, offset),
                                .text = l->text};
        if (offset % 4 == 0 && l->marks[offset / 4] == (ITEM_START | TARGET)) {
            put_label(l->label, item.address);
            item.label = l->label;
        }
        if (offset < data_to || !instruction(l, &item)) {
            if (item.bytes)
                data_to = offset + item.bytes;
            data(l, &item);
            unknown++;
        }
        c->item(c->user, &item);
        offset += item.bytes;
    }
    return unknown;
}

void dis_print_item(const struct dis_item *item)
{
    if (item->label)
        printf("%s:\n", item->label);
    printf("\t%-60s // %012" PRIX64 ":", item->text, item->address);
    for (unsigned i = 0; i < item->bytes; i += 4) {
        uint32_t dword = 0;
        for (unsigned b = 0; b < 4 && i + b < item->bytes; b++)
            dword |= (uint32_t)item->code[i + b] << 8 * b;
        printf(" %08" PRIX32, dword);
    }
    if (item->note)
        printf(" %s", item->note);
    putchar('\n');
}

static void print_item(void *user, const struct dis_item *item)
{
    (void)user;
    dis_print_item(item);
}

long dis_list(const struct dis_region *region, const struct dis_context *context)
{
    static const struct dis_context alone = {.item = print_item};
    struct listing *l = calloc(1, sizeof *l);
    long unknown = -1;
    if (l == NULL)
        return -1;
    l->region = region;
    l->context = context ? context : &alone;
    l->text_bytes = DIS_TEXT_BYTES + l->context->expression_bytes;
    l->text = malloc(l->text_bytes);
    l->other = malloc(l->text_bytes);
    l->marks = calloc(region->bytes / 4 + 1, sizeof *l->marks);
    if (l->text != NULL && l->other != NULL && l->marks != NULL &&
        asm_line_open(32, &l->lines[0]) == RD_OK &&
        asm_line_open(64, &l->lines[1]) == RD_OK) {
        find_targets(l);
        unknown = list_items(l);
    }
    asm_line_close(l->lines[0]);
    asm_line_close(l->lines[1]);
    free(l->marks);
    free(l->text);
    free(l->other);
    free(l);
    return unknown;
}
