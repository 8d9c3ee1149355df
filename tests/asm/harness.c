/* harness.c: assemble a text and look at what came out.
 *
 * Must not know the assembler's inside: it reads the ELF file.
 * SPDX-License-Identifier: MIT
 */
#include "harness.h"

#include <check.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void keep_message(void *ctx, const struct asm_message *m)
{
    struct outcome *out = ctx;
    if (out->messages++ > 0)
        return;
    snprintf(out->first, sizeof out->first, "%u:%u: %s", m->line, m->column, m->text);
    ck_assert_uint_lt(asm_format(m, false, out->shown), sizeof out->shown);
}

void assemble_n(const char *text, size_t len, bool relocatable, struct outcome *out)
{
    struct asm_options options = {
        .name = "t.s", .relocatable = relocatable, .message = keep_message, .ctx = out};
    memset(out, 0, sizeof *out);
    /* a copy of exact size, so that a sanitizer sees what reads too far */
    char *copy = malloc(len ? len : 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, text, len);
    out->status = asm_assemble(copy, len, &options, &out->result);
    free(copy);
    ck_assert_int_eq(out->status == RD_OK, out->result.errors == 0);
    ck_assert_int_eq(out->status == RD_OK, out->result.data != NULL);
}

void assemble(const char *text, struct outcome *out)
{
    assemble_n(text, strlen(text), true, out);
}

void assemble_dyn(const char *text, struct outcome *out)
{
    assemble_n(text, strlen(text), false, out);
}

void outcome_free(struct outcome *out)
{
    free(out->result.data);
}

const uint8_t *section(const struct outcome *out, const char *name, size_t *bytes)
{
    const uint8_t *file = out->result.data;
    const Elf64_Ehdr *e = (const void *)file;
    ck_assert_ptr_nonnull(file);
    const Elf64_Shdr *h = (const void *)(file + e->e_shoff);
    const char *names = (const char *)file + h[e->e_shstrndx].sh_offset;
    for (unsigned i = 1; i < e->e_shnum; i++)
        if (strcmp(names + h[i].sh_name, name) == 0) {
            *bytes = h[i].sh_size;
            return file + h[i].sh_offset;
        }
    return NULL;
}

void expect_bytes(const char *text, const char *name, const char *hex)
{
    struct outcome out;
    size_t bytes;
    char got[1024] = "";
    char want[1024] = "";
    assemble(text, &out);
    ck_assert_msg(out.status == RD_OK, "%s\n%s", text, out.shown);
    const uint8_t *data = section(&out, name, &bytes);
    ck_assert_msg(data != NULL, "no section %s", name);
    ck_assert_uint_lt(bytes, 500);
    for (size_t i = 0; i < bytes; i++)
        sprintf(got + 2 * i, "%02x", data[i]);
    for (char *w = want; *hex; hex++)
        if (*hex != ' ')
            *w++ = *hex;
    ck_assert_msg(strcmp(got, want) == 0, "%s\n got %s\nwant %s", text, got, want);
    outcome_free(&out);
}

void expect_error(const char *text, unsigned errors, const char *first)
{
    struct outcome out;
    assemble(text, &out);
    ck_assert_msg(out.result.errors == errors, "%u errors, not %u: %s\n%s",
                  out.result.errors, errors, out.first, text);
    ck_assert_msg(strncmp(out.first, first, strlen(first)) == 0, "%s\n got %s\nwant %s",
                  text, out.first, first);
    outcome_free(&out);
}
