/* near.c: the distance between words.
 *
 * Allocates nothing. Invariant: best is at most so far away as near.h says.
 * SPDX-License-Identifier: MIT
 */
#include "near.h"

#include <string.h>

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

void rd_near_begin(struct rd_near *n, const char *word, size_t len)
{
    memset(n, 0, sizeof *n);
    n->len = len < RD_NEAR_WORD ? len : RD_NEAR_WORD - 1;
    for (size_t i = 0; i < n->len; i++)
        n->word[i] = lower(word[i]);
    n->least = 2 + (unsigned)n->len / 5; /* the first that is too far away */
    if (len >= RD_NEAR_WORD || len < 2)
        n->least = 0;
}

/* Letters put in, left out, replaced, or exchanged with their neighbours. */
static unsigned distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    unsigned rows[3][RD_NEAR_WORD];
    unsigned *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_len; j++)
        last[j] = (unsigned)j;
    for (size_t i = 1; i <= a_len; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_len; j++) {
            char c = lower(b[j - 1]);
            unsigned best = last[j - 1] + (a[i - 1] != c);
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 2] == c && a[i - 1] == lower(b[j - 2]) &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
        unsigned *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[b_len];
}

void rd_near_try(struct rd_near *n, const char *word)
{
    size_t len = strlen(word);
    size_t apart = len > n->len ? len - n->len : n->len - len;
    if (len >= RD_NEAR_WORD || apart >= n->least)
        return;
    unsigned d = distance(n->word, n->len, word, len);
    if (d < n->least && d < len) {
        n->least = d;
        n->best = word;
    }
}
