/* edit.h: lines that a user types: with editing, history and completion on a terminal
 * where libedit is installed; else as they come.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DEBUG_EDIT_H
#define RD_DEBUG_EDIT_H

#include <stdbool.h>
#include <stddef.h>

struct edit;

/* complete: words that begin with a text, one per call; NULL: no more. */
struct edit *edit_open(bool terminal,
                       const char *(*complete)(const char *begin, unsigned *state));
void edit_close(struct edit *e);

/* The next line without its end; false: there are no more. What is too long is cut. */
bool edit_line(struct edit *e, const char *prompt, char *line, size_t size);

#endif
