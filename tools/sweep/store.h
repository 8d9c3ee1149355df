/* store.h: the inside of the database, for those who ask it questions.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_SWEEP_STORE_H
#define RD_SWEEP_STORE_H

#include "sql.h"
#include "sweep.h"

enum { STORE_ITEM, STORE_PARAMETER, STORE_RESULT, STORE_RUN, STORE_INSERTS };

struct sweep_store {
    sqlite3 *db;
    const char *path;
    const struct sweep *sweep; /* NULL: opened to ask */
    int tables;                /* that are there, of two looked for */
    uint8_t *given;            /* a bit for each item that is done or handed out */
    uint64_t next, done, failed;
    sqlite3_stmt *insert[STORE_INSERTS];
};

/* What SQLite says is wrong; returns an exit status. */
int sweep_store_error(const struct sweep_store *store);

#endif
