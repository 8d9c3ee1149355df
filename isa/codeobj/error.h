/* error.h: filling in a co_error.
 * SPDX-License-Identifier: MIT
 */
#ifndef CO_ERROR_H
#define CO_ERROR_H

#include "codeobj.h"

/* Format the text and hand back status. err may be NULL. Names from the file should be
 * limited with a precision; characters that are not printable become '?'. */
rd_status co_fail(struct co_error *err, rd_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
