/* error.c: texts of co_error.
 *
 * Knows nothing of files. Invariant: a text is one line of printable ASCII, whatever
 * the names from a hostile file contain, so it can be sent to a terminal.
 * SPDX-License-Identifier: MIT
 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

rd_status co_fail(struct co_error *err, rd_status status, const char *fmt, ...)
{
    if (!err)
        return status;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    for (char *c = err->text; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return status;
}
