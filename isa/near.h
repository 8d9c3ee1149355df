/* near.h: which word may have been meant: the nearest of some to one that is none.
 *
 *     rd_near_begin(&n, word, len);
 *     for (...) rd_near_try(&n, a_word_that_exists);
 *     n.best   NULL: none is near
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_NEAR_H
#define RD_NEAR_H

#include <stddef.h>

enum { RD_NEAR_WORD = 64 };

struct rd_near {
    char word[RD_NEAR_WORD]; /* in lower case */
    size_t len;
    const char *best; /* as it was given */
    unsigned least;   /* letters that differ */
};

void rd_near_begin(struct rd_near *n, const char *word, size_t len);

/* Letters count as equal in either case; of equally near words the first is the best.
 * One letter may be wrong, missing, too many or in its neighbour's place, and one more
 * for each five letters of the word. */
void rd_near_try(struct rd_near *n, const char *word);

#endif
