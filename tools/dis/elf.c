/* elf.c: `rdna3 dis FILE.elf`: the executable sections of a code object.
 *
 * A stretch of code belongs to the kernel whose entry lies before it and is decoded in
 * that kernel's wave size. Must not know encodings or text.
 * SPDX-License-Identifier: MIT
 */
#include "dis_elf.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "codeobj.h"
#include "dis.h"
#include "isa.h"

struct elf_listing {
    const struct co_object *obj;
    unsigned section;
    uint64_t base; /* address of image offset 0 */
};

static const char *kind_name(const struct co_symbol *s)
{
    return s->kind == CO_SYM_FUNC     ? "function"
           : s->kind == CO_SYM_OBJECT ? "object"
                                      : "symbol";
}

static void print_symbols(void *user, uint64_t address)
{
    const struct elf_listing *l = user;
    for (unsigned i = 0; i < co_symbol_count(l->obj); i++) {
        const struct co_symbol *s = co_symbol_at(l->obj, i);
        if (s->place != CO_PLACE_IMAGE || s->section != l->section ||
            s->kind == CO_SYM_SECTION || s->name[0] == '\0' ||
            l->base + s->value != address)
            continue;
        printf("\n%s: // %s, %" PRIu64 " bytes\n", s->name, kind_name(s), s->bytes);
    }
}

/* The end of the stretch at an image offset, and its kernel's wave size: up to the next
 * kernel entry. */
static uint64_t stretch_end(const struct co_object *obj, uint64_t offset, uint64_t end,
                            unsigned *wave)
{
    uint64_t best = 0;
    bool found = false;
    for (unsigned i = 0; i < co_kernel_count(obj); i++) {
        const struct co_kernel *k = co_kernel_at(obj, i);
        if (k->entry_offset > offset && k->entry_offset < end)
            end = k->entry_offset;
        if (k->entry_offset <= offset && (!found || k->entry_offset >= best)) {
            best = k->entry_offset;
            *wave = k->desc.wave;
            found = true;
        }
    }
    return end;
}

static long list_section(struct elf_listing *l, unsigned wave, unsigned print)
{
    const struct co_section *s = co_section_at(l->obj, l->section);
    unsigned kernel_wave =
        co_kernel_count(l->obj) != 0 ? co_kernel_at(l->obj, 0)->desc.wave : ISA_WAVE32;
    long unknown = 0;
    for (uint64_t at = s->offset, end; at < s->offset + s->bytes; at = end) {
        end = stretch_end(l->obj, at, s->offset + s->bytes, &kernel_wave);
        struct dis_region region = {
            .code = s->data + (at - s->offset),
            .bytes = (size_t)(end - at),
            .address = l->base + at,
            .wave = wave != 0 ? wave : kernel_wave,
            .print = print,
        };
        printf("\n// wave%u\n", region.wave);
        long n = dis_list(&region, print_symbols, l);
        if (n < 0)
            return n;
        unknown += n;
    }
    return unknown;
}

int dis_elf(const char *path, const void *data, size_t bytes, unsigned wave,
            unsigned print)
{
    struct co_object *obj;
    struct co_error err;
    rd_status st = co_open(data, bytes, &obj, &err);
    if (st != RD_OK)
        return cli_error(CLI_FAILED, "%s: %s", path, err.text);

    const struct co_info *info = co_info(obj);
    printf("// %s: %s, code object version %u, %s\n", path, info->target, info->version,
           info->relocatable ? "relocatable" : "loadable");
    int status = CLI_OK;
    bool any = false;
    for (unsigned i = 0; i < co_section_count(obj) && status == CLI_OK; i++) {
        const struct co_section *s = co_section_at(obj, i);
        if (!s->in_image || !(s->access & CO_EXEC) || s->data == NULL || s->bytes == 0)
            continue;
        any = true;
        printf("\n.section %s // %" PRIu64 " bytes\n", s->name, s->bytes);
        struct elf_listing l = {.obj = obj, .section = i, .base = info->base_addr};
        if (list_section(&l, wave, print) < 0)
            status = cli_error(CLI_FAILED, "out of memory");
    }
    if (!any)
        status = cli_error(CLI_FAILED, "%s: no executable section", path);
    co_close(obj);
    return status;
}
