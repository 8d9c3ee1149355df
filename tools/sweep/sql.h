/* sql.h: the SQLite library, loaded when a sweep asks for it: other commands start
 * without. SPDX-License-Identifier: MIT
 */
#ifndef RD_SWEEP_SQL_H
#define RD_SWEEP_SQL_H

#include <sqlite3.h>

/* What of it is called. */
#define SQL_CALLS(X)                                                                   \
    X(bind_double)                                                                     \
    X(bind_int)                                                                        \
    X(bind_int64)                                                                      \
    X(bind_text)                                                                       \
    X(busy_timeout)                                                                    \
    X(close)                                                                           \
    X(column_double)                                                                   \
    X(column_int)                                                                      \
    X(column_int64)                                                                    \
    X(column_text)                                                                     \
    X(column_type)                                                                     \
    X(errmsg)                                                                          \
    X(exec)                                                                            \
    X(finalize)                                                                        \
    X(open_v2)                                                                         \
    X(prepare_v2)                                                                      \
    X(reset)                                                                           \
    X(step)

struct sqlite {
#define X(name) __typeof__(&sqlite3_##name) name;
    SQL_CALLS(X)
#undef X
};
extern struct sqlite sqlite;

/* Before the first call; an exit status. */
int sql_load(void);

#endif
