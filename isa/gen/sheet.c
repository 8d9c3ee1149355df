/* sheet.c: reads the fact sheet: columns into numbers.
 *
 * Knows the words of each column, which are those of isa/facts.h, not whether a row is
 * true: sheet_check.c compares it with AMD's. Reports every error it finds.
 * SPDX-License-Identifier: MIT
 */
#include "sheet.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"

const char *const gf_column_names[GF_COLUMNS] = {
    "op",       "pipe", "flops", "excp",     "fidelity", "mem", "access",
    "size",     "form", "exec",  "scc",      "vcc",      "m0",  "mode",
    "commutes", "flow", "vopd",  "function", "note"};

void gf_error(struct gf_sheet *sheet, const struct gf_row *row, enum gf_column column,
              const char *fmt, ...)
{
    va_list ap;
    fprintf(stderr, "%s:%u: %s: %s: ", sheet->path, row->number, row->op,
            gf_column_names[column]);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    sheet->errors++;
}

/* ---- words ------------------------------------------------------------------------
 */

struct reader {
    struct gf_sheet *sheet;
    struct gf_row *row;
    enum gf_column column;
};

static bool same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

#define X(name, word, text) word,
static const char *const pipes[] = {ISA_PIPES(X) NULL};
static const char *const excps[] = {ISA_EXCPS(X) NULL};
static const char *const fidelities[] = {ISA_FIDELITIES(X) NULL};
static const char *const spaces[] = {ISA_SPACES(X) NULL};
static const char *const accesses[] = {ISA_ACCESSES(X) NULL};
static const char *const forms[] = {ISA_MEM_FORMS(X) NULL};
static const char *const orders[] = {ISA_ORDERS(X) NULL};
static const char *const flows[] = {ISA_FLOWS(X) NULL};
#undef X
static const char *const reads_writes[] = {"r", "w", "rw", NULL};
static const char *const vopds[] = {"-", "x", "y", "xy", NULL};

static int find(const char *const *words, const char *word)
{
    for (int i = 0; words[i] != NULL; i++)
        if (same(words[i], word))
            return i;
    return -1;
}

static void unknown(struct reader *r, const char *const *words, const char *word)
{
    char all[1024] = "";
    size_t n = 0;
    for (; *words != NULL && n < sizeof all; words++)
        n += (size_t)snprintf(all + n, sizeof all - n, " %s", *words);
    gf_error(r->sheet, r->row, r->column, "\"%s\" is none of:%s", word, all);
}

static uint8_t one_of(struct reader *r, const char *const *words, const char *word)
{
    int i = find(words, word);
    if (i < 0)
        unknown(r, words, word);
    return (uint8_t)(i < 0 ? 0 : i);
}

/* Words with commas between them as bits; "-" is none. */
static uint32_t bits_of(struct reader *r, const char *const *words, const char *text)
{
    uint32_t bits = 0;
    if (same(text, "-"))
        return 0;
    for (;;) {
        size_t len = strcspn(text, ",");
        const char *word = gen_strndup(text, len);
        int i = find(words, word);
        if (i < 0)
            unknown(r, words, word);
        else
            bits |= 1u << i;
        if (text[len] == '\0')
            return bits;
        text += len + 1;
    }
}

static unsigned number(struct reader *r, const char *text, const char **end)
{
    char *stop;
    unsigned long v = strtoul(text, &stop, 10);
    if (stop == text || text[0] < '0' || text[0] > '9' || v > 65535)
        gf_error(r->sheet, r->row, r->column, "\"%s\" is no number", text);
    *end = stop;
    return (unsigned)v;
}

static unsigned whole_number(struct reader *r, const char *text)
{
    const char *end;
    if (same(text, "-"))
        return 0;
    unsigned v = number(r, text, &end);
    if (*end != '\0')
        gf_error(r->sheet, r->row, r->column, "\"%s\" is no number", text);
    return v;
}

/* ---- columns ----------------------------------------------------------------------
 */

static void read_fidelity(struct reader *r, const char *word)
{
    struct isa_facts *f = &r->row->f;
    if (strncmp(word, "ulp:", 4) == 0) {
        f->fidelity = ISA_FIDELITY_ULP;
        f->ulp = (uint8_t)whole_number(r, word + 4);
        return;
    }
    f->fidelity = one_of(r, fidelities, word);
    if (f->fidelity == ISA_FIDELITY_ULP)
        gf_error(r->sheet, r->row, r->column, "how many? write ulp:N");
}

/* BYTES, BYTESxELEMENTS, BYTESxELEMENTSsSTRIDE or COMPONENTSc */
static void read_size(struct reader *r, const char *word)
{
    struct isa_facts *f = &r->row->f;
    const char *end = word;
    f->elems = f->space != ISA_SPACE_NONE && f->access != ISA_ACCESS_NONE;
    if (same(word, "-"))
        return;
    unsigned n = number(r, word, &end), elems = 1, stride = 0;
    if (*end == 'c') {
        f->elems = (uint8_t)n;
        n = 0;
        end++;
    } else if (*end == 'x') {
        elems = number(r, end + 1, &end);
        stride = 1;
        if (*end == 's')
            stride = number(r, end + 1, &end);
        f->elems = (uint8_t)elems;
    }
    f->bytes = (uint8_t)n;
    f->stride = (uint8_t)stride;
    if (*end != '\0' || n > 255 || elems > 2 || stride > 255)
        gf_error(r->sheet, r->row, r->column,
                 "\"%s\" is not BYTES, BYTESx2, BYTESx2sSTRIDE or COMPONENTSc", word);
}

/* r, w, rw as two bits from low on; exec may begin with "mask". */
static void read_state(struct reader *r, const char *word)
{
    static const uint16_t low[GF_COLUMNS] = {
        [GF_EXEC] = ISA_STATE_EXEC_IN, [GF_SCC] = ISA_STATE_SCC_IN,
        [GF_VCC] = ISA_STATE_VCC_IN,   [GF_M0] = ISA_STATE_M0_IN,
        [GF_MODE] = ISA_STATE_MODE_IN,
    };
    uint16_t *state = &r->row->f.state;
    if (r->column == GF_EXEC && strncmp(word, "mask", 4) == 0) {
        *state |= ISA_STATE_MASKED;
        if (word[4] == '\0')
            return;
        word += 4 + (word[4] == ',');
    }
    if (!same(word, "-"))
        *state =
            (uint16_t)(*state | (one_of(r, reads_writes, word) + 1u) * low[r->column]);
}

/* self, an order of atomics, or a mnemonic, which sheet_check.c looks up */
static void read_commutes(struct reader *r, const char *word)
{
    int order = find(orders, word);
    if (order >= 0)
        r->row->f.order = (uint8_t)order;
    else
        r->row->swapped = same(word, "self") ? r->row->op : word;
}

static void read_column(struct reader *r, const char *word)
{
    struct isa_facts *f = &r->row->f;
    switch (r->column) {
    case GF_PIPE:
        f->pipe = one_of(r, pipes, word);
        break;
    case GF_FLOPS:
        f->flops = (uint16_t)whole_number(r, word);
        break;
    case GF_EXCP:
        f->excp = one_of(r, excps, word);
        break;
    case GF_FIDELITY:
        read_fidelity(r, word);
        break;
    case GF_MEM:
        f->space = one_of(r, spaces, word);
        break;
    case GF_ACCESS:
        f->access = one_of(r, accesses, word);
        break;
    case GF_SIZE:
        read_size(r, word);
        break;
    case GF_FORM:
        f->mem = bits_of(r, forms, word);
        break;
    case GF_EXEC:
    case GF_SCC:
    case GF_VCC:
    case GF_M0:
    case GF_MODE:
        read_state(r, word);
        break;
    case GF_COMMUTES:
        read_commutes(r, word);
        break;
    case GF_FLOW:
        f->flow = (uint8_t)bits_of(r, flows, word);
        break;
    case GF_VOPD:
        f->vopd = one_of(r, vopds, word);
        break;
    case GF_FUNCTION:
        f->function = same(word, "-") ? NULL : word;
        break;
    case GF_NOTE:
        f->note = word;
        break;
    case GF_OP:
    case GF_COLUMNS:
        break;
    }
}

/* ---- lines ------------------------------------------------------------------------
 */

/* The next word of a line, or a note without its quotes; NULL at the end. */
static const char *next_word(const char **text, bool *quoted)
{
    const char *p = *text + strspn(*text, " \t\r\n");
    *quoted = *p == '"';
    if (*p == '\0' || *p == '#')
        return NULL;
    p += *quoted;
    size_t len = strcspn(p, *quoted ? "\"\n" : " \t\r\n");
    *text = p + len + (*quoted && p[len] == '"');
    return gen_strndup(p, len);
}

static void read_line(struct gf_sheet *sheet, unsigned number, const char *text)
{
    bool quoted;
    const char *word = next_word(&text, &quoted);
    if (word == NULL)
        return;
    struct gf_row *row = GEN_PUSH(sheet->rows, sheet->n_rows);
    struct reader r = {sheet, row, GF_OP};
    row->number = number;
    row->op = word;
    row->f.note = "";
    for (r.column = GF_PIPE; r.column < GF_COLUMNS; r.column++) {
        word = next_word(&text, &quoted);
        if (word == NULL && r.column == GF_NOTE)
            return;
        if (word == NULL || quoted != (r.column == GF_NOTE)) {
            gf_error(sheet, row, r.column, "the field is missing");
            return;
        }
        read_column(&r, word);
    }
    r.column = GF_NOTE;
    word = next_word(&text, &quoted);
    if (word != NULL)
        gf_error(sheet, row, GF_NOTE, "\"%s\" follows the last column", word);
}

void gf_read(const char *path, struct gf_sheet *sheet)
{
    FILE *f = fopen(path, "r");
    if (f == NULL)
        gen_die("cannot open %s", path);
    *sheet = (struct gf_sheet){.path = path};
    char text[1024];
    for (unsigned number = 1; fgets(text, sizeof text, f) != NULL; number++)
        read_line(sheet, number, text);
    fclose(f);
}
