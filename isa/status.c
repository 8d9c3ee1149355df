/* status.c: texts of rd_status and the assertion printer.
 * SPDX-License-Identifier: MIT
 */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *rd_status_text(rd_status status)
{
    switch (status) {
    case RD_OK:
        return "ok";
#define X(name, text)                                                                  \
    case name:                                                                         \
        return text;
        RD_STATUS_LIST(X)
#undef X
    default:
        return "unknown status";
    }
}

void rd_assert_fail(const char *file, int line, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fprintf(stderr, "%s:%d: assertion failed: ", file, line);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    abort();
}
