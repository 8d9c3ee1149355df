/* store.c: the results of a sweep in an SQLite database.
 *
 * Its tables: sweep (the file's text), item (a row for each that has ended), parameter
 * and result (their values by name), run (who did it, how long it took: all that
 * differs from one time to another). One process writes; an item comes with everything
 * in one transaction. SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "store.h"

enum { SAID = 2000 }; /* bytes of what a failed item said at last */

static const char schema[] =
    "CREATE TABLE sweep(name TEXT PRIMARY KEY, value TEXT);"
    "CREATE TABLE item(id INTEGER PRIMARY KEY, failed INTEGER, status INTEGER, said "
    "TEXT);"
    "CREATE TABLE parameter(item INTEGER, name TEXT, value, PRIMARY KEY(item, name)) "
    "WITHOUT ROWID;"
    "CREATE TABLE result(item INTEGER, name TEXT, value, PRIMARY KEY(item, name)) "
    "WITHOUT ROWID;"
    "CREATE TABLE run(item INTEGER PRIMARY KEY, worker INTEGER, seconds REAL);";

int sweep_store_error(const struct sweep_store *store)
{
    return cli_error(CLI_FAILED, "%s: %s", store->path, sqlite.errmsg(store->db));
}

static int run(struct sweep_store *store, const char *sql)
{
    return sqlite.exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK
               ? CLI_OK
               : sweep_store_error(store);
}

static int prepare(struct sweep_store *store, const char *sql, sqlite3_stmt **out)
{
    return sqlite.prepare_v2(store->db, sql, -1, out, NULL) == SQLITE_OK
               ? CLI_OK
               : sweep_store_error(store);
}

/* A number where it is one. */
static void bind_value(sqlite3_stmt *q, int at, const char *text)
{
    char *end;
    long long whole = strtoll(text, &end, 10);
    if (end != text && !*end && strlen(text) < 19) {
        sqlite.bind_int64(q, at, whole);
        return;
    }
    double real = strtod(text, &end);
    if (end != text && !*end && isfinite(real) && !strpbrk(text, "xX"))
        sqlite.bind_double(q, at, real);
    else
        sqlite.bind_text(q, at, text, -1, SQLITE_TRANSIENT);
}

static int step(struct sweep_store *store, sqlite3_stmt *q)
{
    int got = sqlite.step(q);
    sqlite.reset(q);
    return got == SQLITE_DONE ? CLI_OK : sweep_store_error(store);
}

static int add_pair(struct sweep_store *store, sqlite3_stmt *q, uint64_t item,
                    const char *name, const char *value)
{
    sqlite.bind_int64(q, 1, (sqlite3_int64)item);
    sqlite.bind_text(q, 2, name, -1, SQLITE_TRANSIENT);
    bind_value(q, 3, value);
    return step(store, q);
}

static int tables(struct sweep_store *store)
{
    sqlite3_stmt *q = NULL;
    int status = prepare(
        store, "SELECT count(*) FROM sqlite_master WHERE name IN ('sweep', 'run')", &q);
    if (status == CLI_OK && sqlite.step(q) != SQLITE_ROW)
        status = sweep_store_error(store);
    store->tables = status == CLI_OK ? sqlite.column_int(q, 0) : 0;
    sqlite.finalize(q);
    return status;
}

static int open_file(const char *path, int flags, struct sweep_store **out)
{
    struct stat sb; /* SQLite takes other names, too, and keeps nothing */
    if (!*path || strcmp(path, ":memory:") == 0 ||
        (stat(path, &sb) == 0 && !S_ISREG(sb.st_mode)))
        return cli_error(CLI_FAILED, "'%s' is no file that a database can be in", path);
    struct sweep_store *store = calloc(1, sizeof *store);
    if (!store)
        return cli_error(CLI_FAILED, "out of memory");
    store->path = path;
    int status = sql_load();
    if (status != CLI_OK) {
        free(store);
        return status;
    }
    if (sqlite.open_v2(path, &store->db, flags, NULL) != SQLITE_OK)
        status = sweep_store_error(store);
    if (status == CLI_OK) {
        sqlite.busy_timeout(store->db, 10000);
        status = tables(store);
    }
    if (status != CLI_OK) {
        sweep_store_close(store);
        return status;
    }
    *out = store;
    return CLI_OK;
}

int sweep_store_look(const char *path, struct sweep_store **out)
{
    int status = open_file(path, SQLITE_OPEN_READWRITE, out); /* what was killed left
                                                                 its journal */
    if (status == CLI_OK && (*out)->tables != 2) {
        sweep_store_close(*out);
        status = cli_error(CLI_FAILED, "%s: no database of rdna3 sweep", path);
    }
    return status;
}

static int create(struct sweep_store *store)
{
    sqlite3_stmt *q = NULL;
    int status = run(store, "BEGIN");
    if (status == CLI_OK)
        status = run(store, schema);
    if (status == CLI_OK)
        status = prepare(store, "INSERT INTO sweep VALUES('file', ?)", &q);
    if (status == CLI_OK) {
        sqlite.bind_text(q, 1, store->sweep->text, -1, SQLITE_TRANSIENT);
        status = step(store, q);
    }
    sqlite.finalize(q);
    q = NULL;
    if (status == CLI_OK)
        status = prepare(store, "INSERT INTO sweep VALUES('items', ?)", &q);
    if (status == CLI_OK) {
        sqlite.bind_int64(q, 1, (sqlite3_int64)store->sweep->n_items);
        status = step(store, q);
    }
    sqlite.finalize(q);
    return status == CLI_OK ? run(store, "COMMIT") : status;
}

/* Is it of this sweep? */
static int compare(struct sweep_store *store)
{
    sqlite3_stmt *q = NULL;
    int status = prepare(store, "SELECT value FROM sweep WHERE name = 'file'", &q);
    if (status != CLI_OK)
        return status;
    const char *text =
        sqlite.step(q) == SQLITE_ROW ? (const char *)sqlite.column_text(q, 0) : NULL;
    if (!text || strcmp(text, store->sweep->text) != 0)
        status =
            cli_error(CLI_FAILED,
                      "%s has the results of another sweep, or its file was changed "
                      "since: name another one (--db)",
                      store->path);
    sqlite.finalize(q);
    return status;
}

/* What is there already. */
static int load(struct sweep_store *store)
{
    sqlite3_stmt *q = NULL;
    int status = prepare(store, "SELECT id, failed FROM item", &q), got;
    store->given = calloc(store->sweep->n_items / 8 + 1, 1);
    if (!store->given) {
        sqlite.finalize(q);
        return cli_error(CLI_FAILED, "out of memory");
    }
    if (status != CLI_OK)
        return status;
    while ((got = sqlite.step(q)) == SQLITE_ROW) {
        uint64_t item = (uint64_t)sqlite.column_int64(q, 0);
        if (item >= store->sweep->n_items)
            continue;
        store->given[item / 8] |= (uint8_t)(1u << item % 8);
        store->done++;
        store->failed += sqlite.column_int(q, 1) != 0;
    }
    sqlite.finalize(q);
    return got == SQLITE_DONE ? CLI_OK : sweep_store_error(store);
}

int sweep_store_open(const char *path, const struct sweep *s, bool retry,
                     struct sweep_store **out)
{
    static const char *const insert[] = {
        "INSERT INTO item VALUES(?, ?, ?, ?)", "INSERT INTO parameter VALUES(?, ?, ?)",
        "INSERT INTO result VALUES(?, ?, ?)", "INSERT INTO run VALUES(?, ?, ?)"};
    struct sweep_store *store = NULL;
    int status = open_file(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &store);
    if (!store)
        return status;
    store->sweep = s;
    status = run(store, "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = NORMAL");
    if (status == CLI_OK)
        status = store->tables ? compare(store) : create(store);
    if (status == CLI_OK && retry)
        status =
            run(store,
                "BEGIN; DELETE FROM parameter WHERE item IN (SELECT id FROM item WHERE "
                "failed); DELETE FROM result WHERE item IN (SELECT id FROM item WHERE "
                "failed); DELETE FROM run WHERE item IN (SELECT id FROM item WHERE "
                "failed); "
                "DELETE FROM item WHERE failed; COMMIT");
    if (status == CLI_OK)
        status = load(store);
    for (unsigned i = 0; status == CLI_OK && i < STORE_INSERTS; i++)
        status = prepare(store, insert[i], &store->insert[i]);
    if (status == CLI_OK)
        status = sweep_left_take(store);
    if (status != CLI_OK) {
        sweep_store_close(store);
        return status;
    }
    *out = store;
    return CLI_OK;
}

void sweep_store_close(struct sweep_store *store)
{
    for (unsigned i = 0; i < STORE_INSERTS; i++)
        sqlite.finalize(store->insert[i]);
    sqlite.close(store->db);
    free(store->given);
    free(store);
}

uint64_t sweep_store_next(struct sweep_store *store)
{
    for (; store->next < store->sweep->n_items; store->next++) {
        uint64_t item = store->next;
        if (store->given[item / 8] & 1u << item % 8)
            continue;
        store->given[item / 8] |= (uint8_t)(1u << item % 8);
        return item;
    }
    return SWEEP_NONE;
}

void sweep_store_again(struct sweep_store *store, uint64_t item)
{
    if (item >= store->sweep->n_items)
        return;
    store->given[item / 8] &= (uint8_t)~(1u << item % 8);
    if (item < store->next)
        store->next = item;
}

bool sweep_store_claim(struct sweep_store *store, uint64_t item)
{
    if (item >= store->sweep->n_items || store->given[item / 8] & 1u << item % 8)
        return false;
    store->given[item / 8] |= (uint8_t)(1u << item % 8);
    return true;
}

void sweep_store_count(const struct sweep_store *store, uint64_t *done,
                       uint64_t *failed)
{
    *done = store->done;
    *failed = store->failed;
}

/* Results that the text names; *failed if one is missing. */
static int put_results(struct sweep_store *store, const struct sweep_done *done,
                       bool *failed)
{
    int status = CLI_OK;
    const char *text = done->text ? done->text : "";
    for (unsigned i = 0; status == CLI_OK && i < store->sweep->n_measures; i++) {
        const struct sweep_measure *m = &store->sweep->measure[i];
        regmatch_t match[2];
        if (regexec(&m->regex, text, 2, match, 0) != 0 || match[1].rm_so < 0) {
            *failed = true;
            continue;
        }
        char *value =
            strndup(text + match[1].rm_so, (size_t)(match[1].rm_eo - match[1].rm_so));
        status = value ? add_pair(store, store->insert[STORE_RESULT], done->item,
                                  m->name, value)
                       : cli_error(CLI_FAILED, "out of memory");
        free(value);
    }
    return status;
}

static int put_item(struct sweep_store *store, const struct sweep_done *done,
                    bool failed)
{
    sqlite3_stmt *q = store->insert[STORE_ITEM];
    uint32_t from = done->bytes > SAID ? done->bytes - SAID : 0;
    sqlite.bind_int64(q, 1, (sqlite3_int64)done->item);
    sqlite.bind_int(q, 2, failed);
    sqlite.bind_int(q, 3, done->status);
    sqlite.bind_text(q, 4, failed && done->text ? done->text + from : "", -1,
                     SQLITE_TRANSIENT);
    return step(store, q);
}

int sweep_store_put(struct sweep_store *store, const struct sweep_done *done,
                    int worker)
{
    const struct sweep *s = store->sweep;
    bool failed = done->status != 0;
    if (failed && sweep_interrupted) {
        free(done->text);
        return CLI_OK;
    }
    int status = run(store, "BEGIN IMMEDIATE");
    if (status == CLI_OK)
        status = put_results(store, done, &failed);
    for (unsigned i = 0; status == CLI_OK && i < s->n_parameters; i++)
        status = add_pair(store, store->insert[STORE_PARAMETER], done->item,
                          s->parameter[i].name, sweep_value(s, done->item, i));
    if (status == CLI_OK)
        status = put_item(store, done, failed);
    if (status == CLI_OK) {
        sqlite3_stmt *q = store->insert[STORE_RUN];
        sqlite.bind_int64(q, 1, (sqlite3_int64)done->item);
        sqlite.bind_int(q, 2, worker);
        sqlite.bind_double(q, 3, done->seconds);
        status = step(store, q);
    }
    if (status == CLI_OK)
        status = run(store, "COMMIT");
    store->done += status == CLI_OK;
    store->failed += status == CLI_OK && failed;
    free(done->text);
    return status;
}
