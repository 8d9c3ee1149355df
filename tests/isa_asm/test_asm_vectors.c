/* test_asm_vectors.c: the statement assembler against the conformance vectors: every
 * accepted row gives its bytes, every refused one an error, symbols the right fixups,
 * and our own text of every instruction its bytes again.
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "../data/data.h"
#include "isa_asm.h"

#define MAX_EXCEPTIONS 50

static char exceptions[MAX_EXCEPTIONS][256];
static unsigned n_exceptions;

/* Where statement, expected bytes and wave stand in a row. */
struct layout {
    unsigned text, bytes, wave;
};

enum expect { BYTES, REFUSED, FIXUP };

/* ---- a stand-in for the file level's expressions: every name is undefined ---- */

static size_t primary(const char *t, size_t n, size_t i)
{
    while (i < n && strchr(" -+~!", t[i]) != NULL)
        i++;
    size_t start = i;
    unsigned depth = 0;
    for (; i < n && (depth != 0 || isalnum((unsigned char)t[i]) ||
                     strchr("_.$@(", t[i]) != NULL);
         i++) {
        depth += t[i] == '(';
        if (t[i] == ')' && --depth == 0)
            return i + 1;
    }
    return i > start && depth == 0 ? i : 0;
}

static rd_status undefined(void *ctx, const char *text, size_t len, size_t *used,
                           struct isa_value *out, struct isa_asm_error *err)
{
    (void)ctx;
    (void)err;
    size_t i = primary(text, len, 0);
    if (i == 0)
        return RD_E_NOT_FOUND;
    for (;;) {
        size_t k = i;
        while (k < len && text[k] == ' ')
            k++;
        if (k >= len || strchr("+-*/%&|^<>", text[k]) == NULL)
            break;
        k += k + 1 < len && text[k + 1] == text[k] ? 2 : 1;
        k = primary(text, len, k);
        if (k == 0)
            break;
        i = k;
    }
    *used = i;
    *out = (struct isa_value){.handle = 1};
    return RD_OK;
}

/* ---- rows ---- */

/* "0xff,0x00,A,A": bytes with the fixup's as A. */
static void fixup_text(const uint8_t *code, unsigned bytes,
                       const struct isa_fixup *fixup, char *text)
{
    unsigned size = fixup->kind == ISA_FIXUP_ABS32 ? 4 : fixup->kind != 0 ? 2 : 0;
    for (unsigned i = 0; i < bytes; i++) {
        bool patched = i >= fixup->offset && i < fixup->offset + size;
        text += sprintf(text, patched ? "%sA" : "%s0x%02x", i != 0 ? "," : "", code[i]);
    }
}

static bool is_exception(const char *text)
{
    for (unsigned i = 0; i < n_exceptions; i++)
        if (strcmp(exceptions[i], text) == 0)
            return true;
    return false;
}

/* What the statement gives: hexadecimal bytes, or "error". */
static void assemble(const char *text, unsigned wave, enum expect expect, char *out,
                     struct isa_asm_error *error)
{
    struct isa_asm_options options = {.wave = wave,
                                      .expr = expect == BYTES ? NULL : undefined};
    uint8_t code[20];
    unsigned bytes;
    struct isa_fixup fixup;
    if (isa_assemble(text, strlen(text), &options, code, &bytes, &fixup, error) !=
        RD_OK) {
        strcpy(out, "error");
        return;
    }
    if (expect == FIXUP) {
        fixup_text(code, bytes, &fixup, out);
        return;
    }
    for (unsigned i = 0; i < bytes; i++)
        sprintf(out + 2 * i, "%02x", code[i]);
}

static unsigned check_row(char *line, const struct layout *layout, enum expect expect,
                          const char *file, unsigned number)
{
    char *columns[6] = {NULL};
    unsigned n = 0;
    for (char *p = line; n < 6 && p != NULL; n++) {
        columns[n] = p;
        p = strchr(p, '\t');
        if (p != NULL)
            *p++ = '\0';
    }
    const char *waves = columns[layout->wave], *text = columns[layout->text];
    ck_assert_ptr_nonnull(waves);
    for (unsigned wave = 32; wave <= 64; wave += 32) {
        char have[128], name[4];
        struct isa_asm_error error = {0};
        snprintf(name, sizeof name, "%u", wave);
        if (strcmp(waves, "both") != 0 && strcmp(waves, name) != 0)
            continue;
        assemble(text, wave, expect, have, &error);
        const char *want = expect == REFUSED ? "error" : columns[layout->bytes];
        if (strcmp(have, want) == 0) {
            ck_assert(expect != REFUSED ||
                      (error.column >= 1 && error.column <= strlen(text) + 1 &&
                       error.text[0] != '\0'));
            continue;
        }
        if (expect == REFUSED && is_exception(text))
            continue;
        fprintf(stderr, "%s:%u: wave%u %s: want %s, have %s %u: %s\n", file, number,
                wave, text, want, have, error.column, error.text);
        return 1;
    }
    return 0;
}

static void check_file(const char *file, struct layout layout, enum expect expect,
                       unsigned least)
{
    char path[DATA_PATH], line[4096];
    unsigned number = 0, bad = 0;
    FILE *f = fopen(data_path(path, file), "r");
    ck_assert_msg(f != NULL, "cannot open %s", path);
    while (fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        number++;
        if (bad < 20)
            bad += check_row(line, &layout, expect, file, number);
    }
    fclose(f);
    ck_assert_uint_gt(number, least);
    ck_assert_uint_eq(bad, 0);
}

START_TEST(accepted)
{
    check_file("vectors/asm_gfx1100.tsv", (struct layout){0, 1, 2}, BYTES, 1000);
}
END_TEST

START_TEST(accepted_true16)
{
    check_file("vectors/asm_gfx1100_realtrue16.tsv", (struct layout){0, 1, 2}, BYTES,
               1000);
}
END_TEST

START_TEST(refused)
{
    check_file("vectors/err_gfx1100.tsv", (struct layout){0, 1, 2}, REFUSED, 1000);
}
END_TEST

START_TEST(fixups)
{
    check_file("vectors/asm_gfx1100_fixup.tsv", (struct layout){0, 1, 2}, FIXUP, 50);
}
END_TEST

START_TEST(canonical_text)
{
    check_file("vectors/dis_gfx1100.tsv", (struct layout){1, 0, 2}, BYTES, 1000);
    if (getenv("RDNA3_DATA")) /* in tests/data the one file has both kinds */
        check_file("vectors/dis_fuzz_gfx1100.tsv", (struct layout){1, 0, 2}, BYTES,
                   1000);
}
END_TEST

static void read_exceptions(void)
{
    char line[512];
    FILE *f = fopen(EXCEPTIONS, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (line[0] == '#' || n_exceptions == MAX_EXCEPTIONS)
            continue;
        snprintf(exceptions[n_exceptions++], sizeof exceptions[0], "%.*s",
                 (int)strcspn(line, "\t\n"), line);
    }
    if (f != NULL)
        fclose(f);
}

int main(void)
{
    read_exceptions();
    Suite *suite = suite_create("asm_vectors");
    TCase *tc = tcase_create("vectors");
    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, accepted);
    tcase_add_test(tc, accepted_true16);
    tcase_add_test(tc, refused);
    tcase_add_test(tc, fixups);
    tcase_add_test(tc, canonical_text);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
