/* show.c: a sweep's results as tables and plots.
 *
 * Reads the database, changes nothing. SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "store.h"
#include "xml.h"

/* ---- tables ---- */

struct names {
    char *name[2 * SWEEP_NAMES];
    unsigned n, n_parameters;
};

static int ask(struct sweep_store *store, const char *sql, sqlite3_stmt **out)
{
    return sqlite.prepare_v2(store->db, sql, -1, out, NULL) == SQLITE_OK
               ? CLI_OK
               : sweep_store_error(store);
}

static int take_names(struct sweep_store *store, const char *sql, struct names *to)
{
    sqlite3_stmt *q = NULL;
    int status = ask(store, sql, &q);
    while (status == CLI_OK && sqlite.step(q) == SQLITE_ROW &&
           to->n < 2 * SWEEP_NAMES) {
        const char *name = (const char *)sqlite.column_text(q, 0);
        to->name[to->n] = strdup(name ? name : "");
        if (!to->name[to->n++])
            status = cli_error(CLI_FAILED, "out of memory");
    }
    sqlite.finalize(q);
    return status;
}

static void cell(const char *text, bool csv, bool first)
{
    if (!csv) {
        printf("%s%-14s", first ? "" : " ", text);
        return;
    }
    if (!first)
        putchar(',');
    if (!strpbrk(text, ",\"\n")) {
        fputs(text, stdout);
        return;
    }
    putchar('"');
    for (; *text; text++)
        printf(*text == '"' ? "\"\"" : "%c", *text);
    putchar('"');
}

static int row(sqlite3_stmt *one[2], const struct names *names, sqlite3_int64 item,
               bool csv)
{
    for (unsigned i = 0; i < names->n; i++) {
        sqlite3_stmt *q = one[i >= names->n_parameters];
        sqlite.bind_int64(q, 1, item);
        sqlite.bind_text(q, 2, names->name[i], -1, SQLITE_STATIC);
        const char *text = sqlite.step(q) == SQLITE_ROW
                               ? (const char *)sqlite.column_text(q, 0)
                               : NULL;
        cell(text ? text : csv ? "" : "-", csv, false);
        sqlite.reset(q);
    }
    return CLI_OK;
}

int sweep_table(struct sweep_store *store, bool csv)
{
    struct names names = {.n = 0};
    sqlite3_stmt *items = NULL, *one[2] = {NULL, NULL};
    int status =
        take_names(store, "SELECT DISTINCT name FROM parameter ORDER BY 1", &names);
    names.n_parameters = names.n;
    if (status == CLI_OK)
        status =
            take_names(store, "SELECT DISTINCT name FROM result ORDER BY 1", &names);
    if (status == CLI_OK)
        status = ask(store, "SELECT id, failed, status FROM item ORDER BY id", &items);
    if (status == CLI_OK)
        status = ask(store, "SELECT value FROM parameter WHERE item = ? AND name = ?",
                     &one[0]);
    if (status == CLI_OK)
        status =
            ask(store, "SELECT value FROM result WHERE item = ? AND name = ?", &one[1]);
    if (status == CLI_OK) {
        cell("item", csv, true);
        for (unsigned i = 0; i < names.n; i++)
            cell(names.name[i], csv, false);
        cell("state", csv, false);
        putchar('\n');
    }
    while (status == CLI_OK && sqlite.step(items) == SQLITE_ROW) {
        char state[40] = "done";
        cell((const char *)sqlite.column_text(items, 0), csv, true);
        status = row(one, &names, sqlite.column_int64(items, 0), csv);
        if (sqlite.column_int(items, 1))
            snprintf(state, sizeof state, "failed (%d)", sqlite.column_int(items, 2));
        cell(state, csv, false);
        putchar('\n');
    }
    sqlite.finalize(items);
    sqlite.finalize(one[0]);
    sqlite.finalize(one[1]);
    for (unsigned i = 0; i < names.n; i++)
        free(names.name[i]);
    return status;
}

/* ---- plots ---- */

#define WIDTH  640.0
#define HEIGHT 360.0
#define LEFT   80.0
#define TOP    20.0
enum { MOST_SERIES = 8 };

struct point {
    double x, y;
    unsigned series;
};

struct plot {
    struct point *point;
    size_t n;
    char *series[MOST_SERIES];
    unsigned n_series;
    double low[2], high[2];
    bool logs[2]; /* axes of powers: values of more than two decades */
};

static const char *const colors[MOST_SERIES] = {"#2f6fb2", "#c8452f", "#3d8f4e",
                                                "#8a5bb0", "#b07d2a", "#2a9a9a",
                                                "#b0487f", "#5c6878"};

static int add_point(struct plot *p, const char *series, double x, double y)
{
    unsigned s = 0;
    while (s < p->n_series && strcmp(p->series[s], series) != 0)
        s++;
    if (s == MOST_SERIES)
        return cli_error(CLI_FAILED, "--plot: more than %d values of the series",
                         MOST_SERIES);
    if (s == p->n_series) {
        p->series[s] = strdup(series);
        if (!p->series[s])
            return cli_error(CLI_FAILED, "out of memory");
        p->n_series++;
    }
    struct point *more = realloc(p->point, (p->n + 1) * sizeof *more);
    if (!more)
        return cli_error(CLI_FAILED, "out of memory");
    p->point = more;
    more[p->n++] = (struct point){x, y, s};
    const double at[2] = {x, y};
    for (unsigned i = 0; i < 2; i++) {
        p->low[i] = p->n == 1 || at[i] < p->low[i] ? at[i] : p->low[i];
        p->high[i] = p->n == 1 || at[i] > p->high[i] ? at[i] : p->high[i];
    }
    return CLI_OK;
}

/* Whether there is such a parameter; without one, every point would be one series.
 * option: that asks. */
static int know_series(struct sweep_store *store, const char *option, const char *name)
{
    sqlite3_stmt *q = NULL;
    int status = ask(store, "SELECT 1 FROM parameter WHERE name = ? LIMIT 1", &q);
    if (status == CLI_OK) {
        sqlite.bind_text(q, 1, name, -1, SQLITE_STATIC);
        int got = sqlite.step(q);
        if (got == SQLITE_DONE)
            status =
                cli_error(CLI_FAILED, "--%s: there is no parameter '%s'", option, name);
        else if (got != SQLITE_ROW)
            status = sweep_store_error(store);
    }
    sqlite.finalize(q);
    return status;
}

static int take_points(struct sweep_store *store, char *axis[3], struct plot *p)
{
    sqlite3_stmt *q = NULL;
    int got = SQLITE_DONE,
        status = axis[2] ? know_series(store, "plot", axis[2]) : CLI_OK;
    if (status != CLI_OK)
        return status;
    status = ask(
        store,
        "SELECT coalesce(s.value, ''), x.value, avg(y.value) FROM parameter x JOIN "
        "result y ON y.item = x.item AND y.name = ?2 LEFT JOIN parameter s ON s.item = "
        "x.item AND s.name = ?3 WHERE x.name = ?1 AND typeof(x.value) <> 'text' AND "
        "typeof(y.value) <> 'text' AND (SELECT status FROM item WHERE id = x.item) = 0 "
        "GROUP BY 1, 2 ORDER BY 1, 2",
        &q);
    for (int i = 0; status == CLI_OK && i < 3; i++)
        sqlite.bind_text(q, i + 1, axis[i] ? axis[i] : "", -1, SQLITE_STATIC);
    while (status == CLI_OK && (got = sqlite.step(q)) == SQLITE_ROW)
        status = add_point(p, (const char *)sqlite.column_text(q, 0),
                           sqlite.column_double(q, 1), sqlite.column_double(q, 2));
    if (status == CLI_OK && got != SQLITE_DONE)
        status = sweep_store_error(store);
    sqlite.finalize(q);
    if (status == CLI_OK && !p->n)
        status = cli_error(CLI_FAILED,
                           "--plot: no items with a number for parameter '%s' and for "
                           "measure '%s'",
                           axis[0], axis[1]);
    return status;
}

static double place(const struct plot *p, unsigned axis, double value)
{
    double low = p->low[axis], high = p->high[axis];
    if (p->logs[axis]) {
        low = log(low);
        high = log(high);
        value = log(value);
    }
    double part = high > low ? (value - low) / (high - low) : 0.5;
    return axis ? TOP + HEIGHT * (1 - part) : LEFT + WIDTH * part;
}

static void draw_axes(const struct plot *p, char *axis[3], FILE *f)
{
    for (unsigned i = 0; i <= 4; i++) {
        double part = i / 4.0, value[2];
        for (unsigned a = 0; a < 2; a++)
            value[a] = p->logs[a] ? p->low[a] * pow(p->high[a] / p->low[a], part)
                                  : p->low[a] + part * (p->high[a] - p->low[a]);
        double x = LEFT + WIDTH * part, y = TOP + HEIGHT * (1 - part);
        fprintf(f,
                "<path class=\"g\" d=\"M%.1f %.1fV%.1fM%.1f %.1fH%.1f\"/><text "
                "x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.4g</text><text "
                "x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.4g</text>\n",
                x, TOP, TOP + HEIGHT, LEFT, y, LEFT + WIDTH, x, TOP + HEIGHT + 18,
                value[0], LEFT - 8, y + 4, value[1]);
    }
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", LEFT + WIDTH / 2,
            TOP + HEIGHT + 40);
    xml_text(f, axis[0]);
    fprintf(f,
            "</text><text x=\"16\" y=\"%.1f\" transform=\"rotate(-90 16 %.1f)\" "
            "text-anchor=\"middle\">",
            TOP + HEIGHT / 2, TOP + HEIGHT / 2);
    xml_text(f, axis[1]);
    fputs("</text>\n", f);
}

static void draw(const struct plot *p, char *axis[3], FILE *f)
{
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f "
            "%.0f\"><style>text{font:12px sans-serif;fill:#1c2430}.g{stroke:#d9dee5}"
            "path{fill:none;stroke-width:2}</style><rect width=\"100%%\" "
            "height=\"100%%\" fill=\"#fff\"/>\n",
            LEFT + WIDTH + 140, TOP + HEIGHT + 56);
    draw_axes(p, axis, f);
    for (unsigned s = 0; s < p->n_series; s++) {
        fprintf(f, "<path stroke=\"%s\" d=\"", colors[s]);
        char letter = 'M';
        for (size_t i = 0; i < p->n; i++)
            if (p->point[i].series == s) {
                fprintf(f, "%c%.1f %.1f", letter, place(p, 0, p->point[i].x),
                        place(p, 1, p->point[i].y));
                letter = 'L';
            }
        fputs("\"/>\n", f);
        for (size_t i = 0; i < p->n; i++)
            if (p->point[i].series == s)
                fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n",
                        place(p, 0, p->point[i].x), place(p, 1, p->point[i].y),
                        colors[s]);
        if (!*p->series[s])
            continue;
        fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" style=\"fill:%s\">", LEFT + WIDTH + 12,
                TOP + 14 + 18 * s, colors[s]);
        xml_text(f, p->series[s]);
        fputs("</text>\n", f);
    }
    fputs("</svg>\n", f);
}

int sweep_plot(struct sweep_store *store, const char *axes, const char *path)
{
    char *copy = strdup(axes), *axis[3] = {NULL}, *rest = copy;
    struct plot p = {0};
    unsigned n = 0;
    for (char *word; copy && n < 3 && (word = strsep(&rest, ",")) != NULL;)
        axis[n++] = word;
    int status = n >= 2 && !rest
                     ? take_points(store, axis, &p)
                     : cli_error(CLI_USAGE, "--plot '%s': not X,Y or X,Y,SERIES", axes);
    if (status == CLI_OK) {
        for (unsigned i = 0; i < 2; i++)
            p.logs[i] = p.low[i] > 0 && p.high[i] > 100 * p.low[i];
        struct cli_output file;
        FILE *f = cli_output_begin(&file, path);
        if (f)
            draw(&p, axis, f);
        if (cli_output_end(&file, true) != RD_OK)
            status =
                cli_error(CLI_FAILED, "cannot write '%s': %s", path, strerror(errno));
    }
    for (unsigned i = 0; i < p.n_series; i++)
        free(p.series[i]);
    free(p.point);
    free(copy);
    return status;
}

/* ---- sums ---- */

/* Is every item there, with the measure as a number? */
static int know_all(struct sweep_store *store, const char *measure)
{
    sqlite3_stmt *q = NULL;
    int status = ask(store,
                     "SELECT (SELECT value FROM sweep WHERE name = 'items') - (SELECT "
                     "count(*) FROM item JOIN result ON item = id AND name = ?1 WHERE "
                     "NOT failed AND typeof(value) <> 'text')",
                     &q);
    if (status != CLI_OK)
        return status;
    sqlite.bind_text(q, 1, measure, -1, SQLITE_STATIC);
    if (sqlite.step(q) != SQLITE_ROW)
        status = sweep_store_error(store);
    else if (sqlite.column_type(q, 0) == SQLITE_NULL)
        status = cli_error(CLI_FAILED,
                           "--sum: the database is of an earlier version, which did "
                           "not say how many items there are");
    else if (sqlite.column_int64(q, 0) != 0)
        status = cli_error(CLI_FAILED,
                           "--sum: %lld items are not done, have failed or have no "
                           "number '%s'",
                           (long long)sqlite.column_int64(q, 0), measure);
    sqlite.finalize(q);
    return status;
}

int sweep_sum(struct sweep_store *store, const char *what)
{
    char *copy = strdup(what), *rest = copy, *word[2] = {NULL};
    sqlite3_stmt *q = NULL;
    for (unsigned n = 0; rest && n < 2; n++)
        word[n] = strsep(&rest, ",");
    int got = SQLITE_DONE,
        status = copy && !rest
                     ? CLI_OK
                     : cli_error(CLI_USAGE, "--sum '%s': not Y or Y,SERIES", what);
    if (status == CLI_OK && word[1])
        status = know_series(store, "sum", word[1]);
    if (status == CLI_OK)
        status = know_all(store, word[0]);
    if (status == CLI_OK)
        status = ask(store,
                     "SELECT s.value, sum(y.value) FROM result y LEFT JOIN parameter s "
                     "ON s.item = y.item AND s.name = ?2 WHERE y.name = ?1 GROUP BY 1 "
                     "ORDER BY min(y.item)",
                     &q);
    if (status == CLI_OK) {
        sqlite.bind_text(q, 1, word[0], -1, SQLITE_STATIC);
        sqlite.bind_text(q, 2, word[1], -1, SQLITE_STATIC);
        while ((got = sqlite.step(q)) == SQLITE_ROW) {
            if (word[1])
                printf("%s ", (const char *)sqlite.column_text(q, 0));
            printf("%s\n", (const char *)sqlite.column_text(q, 1));
        }
        if (got != SQLITE_DONE)
            status = sweep_store_error(store);
    }
    sqlite.finalize(q);
    free(copy);
    return status;
}
