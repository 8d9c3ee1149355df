/* search.c: mnemonics that are not written out: those that begin with a word, or have
 * it in them, and the nearest one to a mistake. SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "describe.h"
#include "doc.h"
#include "isa.h"
#include "near.h"

#define WORD  64u
#define LEAST 6u /* letters that tell how an instruction begins */

static void lower(const char *word, char out[WORD])
{
    size_t n = 0;
    for (; word[n] && n < WORD - 1; n++)
        out[n] = (char)tolower((unsigned char)word[n]);
    out[n] = '\0';
}

static bool matches(const char *name, const char *word, bool anywhere)
{
    return anywhere ? strstr(name, word) != NULL
                    : strncmp(name, word, strlen(word)) == 0;
}

static unsigned count(const char *word, bool anywhere)
{
    unsigned n = 0;
    for (unsigned op = 1; op < isa_op_count(); op++)
        n += matches(isa_op_name(op), word, anywhere);
    return n;
}

static int no_such(const char *word)
{
    struct rd_near near;
    char begin[WORD], best[WORD];
    size_t length = strlen(word);
    rd_near_begin(&near, word, length);
    for (unsigned op = 1; op < isa_op_count(); op++)
        rd_near_try(&near, isa_op_name(op));
    /* Or how some of them begin? */
    bool begins = !near.best && length >= LEAST && length < WORD;
    for (unsigned op = 1; begins && op < isa_op_count(); op++) {
        (void)snprintf(begin, length + 1, "%s", isa_op_name(op));
        rd_near_try(&near, begin);
        if (near.best == begin) {
            /* to the end of the word that is cut */
            size_t cut = strlen(begin);
            cut += strcspn(isa_op_name(op) + cut, "_");
            (void)snprintf(best, sizeof best, "%.*s", (int)cut, isa_op_name(op));
            near.best = best;
        }
    }
    if (near.best)
        return cli_error(CLI_FAILED, "'%s' is no gfx1100 instruction; did you mean %s?",
                         word, near.best);
    return cli_error(CLI_FAILED, "'%s' is no gfx1100 instruction", word);
}

int doc_search(const char *word, struct json *j)
{
    char text[WORD];
    lower(word, text);
    bool anywhere = count(text, false) == 0;
    unsigned n = *text ? count(text, anywhere) : 0;
    if (n == 0)
        return no_such(word);
    if (!j)
        printf("instructions that %s %s: %u\n", anywhere ? "contain" : "begin with",
               text, n);
    for (unsigned op = 1; op < isa_op_count(); op++) {
        if (!matches(isa_op_name(op), text, anywhere))
            continue;
        char about[ISA_DESCRIBE_BYTES];
        (void)isa_describe(op, about);
        if (!j) {
            printf("  %-30s %s\n", isa_op_name(op), about);
            continue;
        }
        json_object(j, NULL);
        json_text(j, "mnemonic", isa_op_name(op));
        json_text(j, "description", about);
        json_close(j);
    }
    return CLI_OK;
}
