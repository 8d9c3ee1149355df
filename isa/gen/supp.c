/* supp.c: reads the hand-written supplement into words.
 *
 * Knows the line syntax, not what any directive means.
 * SPDX-License-Identifier: MIT
 */
#include "model.h"

#include <stdio.h>
#include <string.h>

#include "arena.h"

static void split(struct gs_line *line, const char *text)
{
    const char *blanks = " \t\r\n";
    for (;;) {
        text += strspn(text, blanks);
        if (*text == '\0' || *text == '#')
            return;
        size_t len = strcspn(text, blanks);
        *GEN_PUSH(line->words, line->n_words) = gen_strndup(text, len);
        text += len;
    }
}

void gs_read(const char *path, struct gs_supplement *supp)
{
    FILE *f = fopen(path, "r");
    if (f == NULL)
        gen_die("cannot open %s", path);
    *supp = (struct gs_supplement){.path = path};

    char text[1024];
    for (unsigned number = 1; fgets(text, sizeof text, f) != NULL; number++) {
        struct gs_line line = {.number = number};
        split(&line, text);
        if (line.n_words != 0)
            *GEN_PUSH(supp->lines, supp->n_lines) = line;
    }
    fclose(f);
}
