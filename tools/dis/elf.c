/* elf.c: `rdna3 dis FILE.elf`: a code object as the source file that makes it.
 *
 * A stretch of code belongs to the kernel whose entry lies before it and is decoded in
 * that kernel's wave size. Must not know encodings or text.
 * SPDX-License-Identifier: MIT
 */
#include "dis_elf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "asm.h"
#include "cli.h"
#include "json.h"
#include "lines.h"
#include "write.h"

/* One section of code. */
struct code {
    struct dis_writer *w;
    struct dis_section *s;
    uint32_t number;
    struct dis_lines *lines;
    struct json *json;
    unsigned wave;     /* that the text so far was written for */
    uint64_t from, to; /* a stretch of one kernel's, offsets in the section */
    unsigned stretch_wave;
};

/* Find the stretch around an offset: from one kernel's entry to the next one's. Without
 * a kernel before it the file's first decides. */
static void find_stretch(struct code *c, uint64_t offset)
{
    const struct co_object *co = c->w->o->co;
    uint64_t start = co_section_at(co, c->number)->offset;
    uint64_t at = start + offset;
    uint64_t from = start;
    uint64_t to = start + c->s->bytes;
    c->stretch_wave = co_kernel_count(co) ? co_kernel_at(co, 0)->desc.wave : ISA_WAVE32;
    for (unsigned i = 0; i < co_kernel_count(co); i++) {
        const struct co_kernel *k = co_kernel_at(co, i);
        if (k->entry_offset > at && k->entry_offset < to)
            to = k->entry_offset;
        if (k->entry_offset <= at && k->entry_offset >= from) {
            from = k->entry_offset;
            c->stretch_wave = k->desc.wave;
        }
    }
    c->from = from - start;
    c->to = to - start;
}

static unsigned wave_at(void *user, uint64_t offset)
{
    struct code *c = user;
    if (c->w->wish->wave)
        return c->w->wish->wave;
    if (offset < c->from || offset >= c->to)
        find_stretch(c, offset);
    return c->stretch_wave;
}

static uint64_t stop(void *user, uint64_t offset)
{
    struct code *c = user;
    return c->s->n_symbols ? dis_next_symbol(c->w->o, c->s, offset) : c->s->bytes;
}

static const char *expression(void *user, uint64_t offset, unsigned bytes, bool data,
                              uint64_t *at, unsigned *size)
{
    struct code *c = user;
    uint32_t i = dis_reloc_at(c->s, offset);
    *size = 0;
    if (i == c->s->n_relocs || c->s->relocs[i].offset >= offset + bytes)
        return NULL;
    *at = c->s->relocs[i].offset;
    *size = asm_reloc_size(c->s->relocs[i].type);
    return dis_expression(c->w, c->s, &c->s->relocs[i], data);
}

/* Waves of 64 are told to the assembler; to LLVM the line is a local symbol. */
static void tell_wave(struct code *c, unsigned wave)
{
    if (wave != c->wave)
        printf("\t.set .Lamdgcn.wavefront_size, %u\n", wave);
    c->wave = wave;
}

static void print_item(void *user, const struct dis_item *item)
{
    struct code *c = user;
    uint32_t reloc = dis_reloc_at(c->s, item->offset);
    c->w->lost += item->lost;
    if (reloc < c->s->n_relocs &&
        c->s->relocs[reloc].offset < item->offset + item->bytes)
        dis_put_odd(c->w, c->s, c->s->relocs[reloc].order);
    dis_put_labels(c->w, c->s, item->offset);
    tell_wave(c, item->wave);
    if (c->lines)
        dis_lines_at(c->lines, item->address);
    dis_print_item(item);
    dis_put_inside(c->w, c->s, item->offset, item->offset + item->bytes);
}

static void json_symbols(struct code *c, uint64_t offset)
{
    const struct dis_object *o = c->w->o;
    json_array(c->json, "symbols");
    for (uint32_t i = c->s->first; i < c->s->first + c->s->n_symbols; i++)
        if (o->symbols[o->by_place[i]].value == offset)
            json_text(c->json, NULL, o->symbols[o->by_place[i]].name);
    json_close(c->json);
}

static void json_item(void *user, const struct dis_item *item)
{
    struct code *c = user;
    char hex[2 * ISA_MAX_BYTES + 1];
    for (unsigned i = 0; i < item->bytes && i < ISA_MAX_BYTES; i++)
        sprintf(hex + 2 * i, "%02x", item->code[i]);
    json_object(c->json, NULL);
    json_u64(c->json, "address", item->address);
    json_text(c->json, "bytes", hex);
    json_text(c->json, "text", item->text);
    json_text(c->json, "label", item->label);
    json_bool(c->json, "instruction", item->known);
    json_u64(c->json, "wave", item->wave);
    json_symbols(c, item->offset);
    if (c->lines)
        dis_lines_json(c->lines, item->address, c->json);
    json_close(c->json);
}

static long list_code(struct code *c)
{
    const struct dis_object *o = c->w->o;
    const struct dis_section *s = c->s;
    struct dis_region region = {.code = s->data,
                                .bytes = (size_t)s->bytes,
                                .address = o->info->relocatable
                                               ? co_section_at(o->co, c->number)->offset
                                               : s->addr,
                                .print = c->w->wish->print};
    struct dis_context context = {.user = c,
                                  .wave = wave_at,
                                  .stop = stop,
                                  .expression = expression,
                                  .item = c->json ? json_item : print_item,
                                  .expression_bytes = c->w->expression_bytes};
    return dis_list(&region, &context);
}

static bool is_code(const struct dis_section *s)
{
    return (s->flags & SHF_ALLOC) && (s->flags & SHF_EXECINSTR) && s->data;
}

/* A label for the start of a section whose name stands for another. */
static void put_start(const struct dis_section *s, uint32_t number)
{
    if (s->group)
        printf(".Lsection_%" PRIu32 ":\n", number);
}

static unsigned log2_of(uint64_t align)
{
    unsigned n = 0;
    while (n < 31 && ((uint64_t)1 << n) < align)
        n++;
    return n;
}

/* Once, before the section's code is listed. */
static bool prepare(struct code *c, uint32_t number)
{
    c->s = &c->w->o->sections[number];
    c->number = number;
    c->from = c->to = 0;
    return dis_part_relocs(c->w, c->s, true) && dis_find_pairs(c->w, c->s);
}

static int write_section(struct dis_writer *w, uint32_t i, struct code *code)
{
    struct dis_section *s = &w->o->sections[i];
    if (strcmp(s->name, ".note") == 0 && (putchar('\n'), dis_put_metadata(s))) {
        s->entered = true;
        return CLI_OK;
    }
    putchar('\n');
    dis_put_section(w, i);
    if (s->align > 1)
        printf("\t.p2align\t%u\n", log2_of(s->align));
    put_start(s, i);
    if (!is_code(s)) {
        if (!dis_part_relocs(w, s, false))
            return cli_error(CLI_FAILED, "out of memory");
        dis_put_data(w, s);
        dis_put_odd(w, s, UINT32_MAX);
        return CLI_OK;
    }
    if (!prepare(code, i) || list_code(code) < 0)
        return cli_error(CLI_FAILED, "out of memory");
    dis_put_labels(w, s, s->bytes);
    dis_put_odd(w, s, UINT32_MAX);
    return CLI_OK;
}

/* What linkers want to know, by the numbers of symbols. */
static void put_addrsig(const struct dis_object *o)
{
    for (uint32_t i = 1; i < o->n_sections; i++) {
        const struct dis_section *s = &o->sections[i];
        if (strcmp(s->name, ".llvm_addrsig") != 0 || !s->data)
            continue;
        printf("\n\t.addrsig\n");
        uint64_t value = 0;
        unsigned shift = 0;
        for (uint64_t at = 0; at < s->bytes; at++) {
            if (shift < 63)
                value |= (uint64_t)(s->data[at] & 0x7f) << shift;
            shift += 7;
            if (s->data[at] & 0x80)
                continue;
            if (value < o->n_symbols && o->symbols[value].name[0]) {
                printf("\t.addrsig_sym ");
                dis_put_name(stdout, o->symbols[value].name);
                putchar('\n');
            }
            value = shift = 0;
        }
    }
}

/* What the source cannot say. */
static void warn(const struct dis_writer *w)
{
    const struct dis_object *o = w->o;
    if (w->lost)
        fprintf(
            stderr,
            "warning: %s: %u relocations cannot be written as source: the file that "
            "this assembles to lacks them\n",
            o->path, w->lost);
}

static int write_source(struct dis_writer *w, struct dis_lines *lines)
{
    struct code code = {.w = w, .lines = lines, .wave = ISA_WAVE32};
    struct dis_object *o = w->o;
    int status = CLI_OK;
    dis_put_head(w);
    for (uint32_t i = 1; i < o->n_sections && status == CLI_OK; i++) {
        if (!o->sections[i].written)
            continue;
        status = write_section(w, i, &code);
    }
    put_addrsig(o);
    warn(w);
    return status;
}

static int write_json(struct dis_writer *w, struct dis_lines *lines)
{
    struct dis_object *o = w->o;
    struct json j = json_begin(stdout);
    struct code code = {.w = w, .lines = lines, .json = &j};
    int status = CLI_OK;
    json_text(&j, "file", o->path);
    json_text(&j, "target", o->info->target);
    json_u64(&j, "version", o->info->version);
    json_bool(&j, "relocatable", o->info->relocatable);
    json_array(&j, "sections");
    for (uint32_t i = 1; i < o->n_sections && status == CLI_OK; i++) {
        struct dis_section *s = &o->sections[i];
        if (!s->written || !is_code(s))
            continue;
        json_object(&j, NULL);
        json_text(&j, "name", s->name);
        json_u64(&j, "address", s->addr);
        json_u64(&j, "bytes", s->bytes);
        json_array(&j, "items");
        if (!prepare(&code, i) || list_code(&code) < 0)
            status = cli_error(CLI_FAILED, "out of memory");
        json_close(&j);
        json_close(&j);
    }
    json_close(&j);
    json_end(&j);
    return status;
}

/* Quotation marks, a specifier, an addend. */
#define EXPRESSION_AROUND 128u

static size_t longest_name(const struct dis_object *o)
{
    size_t most = 0;
    for (uint32_t i = 0; i < o->n_symbols; i++) {
        size_t n = strlen(o->symbols[i].name);
        most = n > most ? n : most;
    }
    for (uint32_t i = 0; i < o->n_sections; i++) {
        size_t n = o->sections[i].name ? strlen(o->sections[i].name) : 0;
        most = n > most ? n : most;
    }
    return most;
}

static int write_object(struct dis_object *o, const uint8_t *elf,
                        const struct dis_wish *wish)
{
    struct dis_writer *w = calloc(1, sizeof *w);
    struct dis_lines *lines = NULL;
    int status = CLI_OK;
    size_t room = longest_name(o) + EXPRESSION_AROUND;
    char *expression = malloc(room);
    if (!w || !expression) {
        free(w);
        free(expression);
        return cli_error(CLI_FAILED, "out of memory");
    }
    *w = (struct dis_writer){.o = o,
                             .wish = wish,
                             .next_symbol = {1, 1},
                             .expression_bytes = room,
                             .expression = expression};
    if ((wish->lines || wish->source) && o->info->relocatable)
        fprintf(stderr,
                "warning: %s: no source lines: those of a relocatable file are known "
                "when it has been linked\n",
                o->path);
    else if (wish->lines || wish->source)
        status = dis_lines_open(o->path, elf, o->info->elf_bytes, wish->source, &lines);
    if (status == CLI_OK)
        status = wish->json ? write_json(w, lines) : write_source(w, lines);
    dis_lines_close(lines);
    free(expression);
    free(w);
    return status;
}

int dis_elf(const char *path, const void *data, size_t bytes,
            const struct dis_wish *wish)
{
    struct co_object *co;
    struct co_error err;
    struct dis_object object;
    if (co_open(data, bytes, &co, &err) != RD_OK)
        return cli_error(CLI_FAILED, "%s: %s", path, err.text);
    const uint8_t *elf = (const uint8_t *)data + co_info(co)->elf_offset;
    int status;
    if (dis_object_read(path, co, elf, &object, &err) != RD_OK) {
        status = cli_error(CLI_FAILED, "%s: %s", path, err.text);
    } else {
        status = write_object(&object, elf, wish);
        dis_object_free(&object);
    }
    co_close(co);
    return status;
}
