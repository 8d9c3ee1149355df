/* test_isa_vectors.c: the disassembler against the conformance vectors: every row in
 * every wave size it names, text for text, and errors for what LLVM refuses.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "../data/data.h"
#include "isa.h"

/* Columns of a row: where bytes, text and wave are. */
struct layout {
    unsigned bytes, text, wave;
};

static size_t parse_bytes(const char *hex, uint8_t *bytes, size_t room)
{
    size_t n = 0;
    unsigned value;
    for (; n < room && sscanf(hex + 2 * n, "%2x", &value) == 1; n++)
        bytes[n] = (uint8_t)value;
    return n;
}

/* Our text for the bytes, or "<invalid>". */
static void disassemble(const char *hex, unsigned wave, unsigned print, char *text)
{
    uint8_t bytes[64];
    size_t n = parse_bytes(hex, bytes, sizeof bytes);
    struct isa_inst inst;
    if (isa_decode(bytes, n, wave, &inst) != RD_OK || inst.bytes != n ||
        !isa_has_text(&inst, print))
        strcpy(text, "<invalid>");
    else
        isa_print(&inst, wave, print, text);
}

static unsigned check_row(char *line, const struct layout *layout, unsigned print,
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
    const char *waves = columns[layout->wave];
    ck_assert_ptr_nonnull(waves);
    for (unsigned wave = 32; wave <= 64; wave += 32) {
        char text[ISA_MAX_TEXT], name[4];
        snprintf(name, sizeof name, "%u", wave);
        if (strcmp(waves, "both") != 0 && strcmp(waves, name) != 0)
            continue;
        disassemble(columns[layout->bytes], wave, print, text);
        if (strcmp(text, columns[layout->text]) == 0)
            continue;
        fprintf(stderr, "%s:%u: wave%u %s: want '%s', have '%s'\n", file, number, wave,
                columns[layout->bytes], columns[layout->text], text);
        return 1;
    }
    return 0;
}

static void check_file(const char *file, struct layout layout, unsigned print)
{
    char path[DATA_PATH], line[4096];
    unsigned number = 0, bad = 0;
    FILE *f = fopen(data_path(path, file), "r");
    ck_assert_msg(f != NULL, "cannot open %s", path);
    while (fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        number++;
        if (bad < 20)
            bad += check_row(line, &layout, print, file, number);
    }
    fclose(f);
    ck_assert_uint_gt(number, 1000);
    ck_assert_uint_eq(bad, 0);
}

START_TEST(llvm_tests)
{
    check_file("vectors/dis_gfx1100.tsv", (struct layout){0, 1, 2}, 0);
}
END_TEST

START_TEST(random_fields)
{
    check_file("vectors/dis_fuzz_gfx1100.tsv", (struct layout){0, 1, 2}, 0);
}
END_TEST

START_TEST(refused)
{
    check_file("vectors/dis_err_gfx1100.tsv", (struct layout){0, 1, 2}, 0);
}
END_TEST

START_TEST(assembled)
{
    check_file("vectors/asm_gfx1100.tsv", (struct layout){1, 3, 2}, 0);
}
END_TEST

START_TEST(assembled_true16)
{
    check_file("vectors/asm_gfx1100_realtrue16.tsv", (struct layout){1, 3, 2},
               ISA_PRINT_TRUE16);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("isa vectors");
    TCase *tc = tcase_create("vectors");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, llvm_tests);
    if (getenv("RDNA3_DATA")) /* in tests/data the one file has both kinds */
        tcase_add_test(tc, random_fields);
    tcase_add_test(tc, refused);
    tcase_add_test(tc, assembled);
    tcase_add_test(tc, assembled_true16);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
