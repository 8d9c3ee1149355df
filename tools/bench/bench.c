/* bench.c: `rdna3 bench`: chooses measurements, prints them as a table or as JSON.
 *
 * Must not know how anything is measured. Invariant: a value that could not be measured
 * is null, never invented.
 * SPDX-License-Identifier: MIT
 */
#include "bench.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "cmd.h"
#include "host.h"
#include "json.h"

static const char help[] =
    "usage: rdna3 bench [GROUP | NAME...] [--json]\n"
    "\n"
    "Measure this program on this host. GROUP is asm, check, compiler, driver,\n"
    "emu or timing; NAME is a line of --list; without either everything is measured,\n"
    "in some minutes, on one host thread unless the list says otherwise. What has a\n"
    "peer to be compared with is measured in turn with it, five times; the pair with\n"
    "the median ratio is printed. Other rates are the best of several runs. Kernels\n"
    "on one thread are measured by its CPU time, which load does not change much.\n"
    "\n"
    "  --json   print JSON: host, and for every result name, value, unit, better, "
    "peer\n"
    "           and ratio (null where there is none)\n"
    "  --list   print the names and what they measure, measure nothing\n";

static const struct bench_entry *const groups[] = {
    bench_check_memory_entries, /* the memory of who starts a process counts, too */
    bench_emu_entries,          bench_check_entries, bench_timing_entries,
#ifdef RDNA3_HAVE_EXEC
    bench_driver_entries,
#endif
    bench_asm_entries,
#ifdef RDNA3_HAVE_COMPILE
    bench_compiler_entries,
#endif
};
#define GROUPS (sizeof groups / sizeof groups[0])

static bool selected(const struct bench_entry *entry, char **words, int n)
{
    for (int i = 0; i < n; i++) {
        size_t len = strlen(words[i]);
        if (strncmp(entry->name, words[i], len) == 0 &&
            (entry->name[len] == '/' || entry->name[len] == '\0'))
            return true;
    }
    return n == 0;
}

static int check_words(char **words, int n)
{
    for (int i = 0; i < n; i++) {
        bool known = false;
        for (size_t g = 0; g < GROUPS; g++)
            for (const struct bench_entry *e = groups[g]; e->name; e++)
                known |= selected(e, &words[i], 1);
        if (!known)
            return cli_error(CLI_USAGE, "unknown group or name '%s' (see --list)",
                             words[i]);
    }
    return CLI_OK;
}

static void print_value(double value, const char *unit)
{
    if (strcmp(unit, "wave-inst/s") == 0)
        printf("%12.2f M %s", value / 1e6, unit);
    else if (strcmp(unit, "lines/s") == 0)
        printf("%12.3f M %s", value / 1e6, unit);
    else if (strcmp(unit, "s") == 0)
        printf(value < 1e-3 ? "%12.3f us" : "%12.3f ms",
               value * (value < 1e-3 ? 1e6 : 1e3));
    else if (strcmp(unit, "B/s") == 0)
        printf("%12.3f GB/s", value / 1e9);
    else
        printf("%12.3f %s", value, unit);
}

/* A measured row. */
struct result {
    rd_status st, peer_st;
    double value, peer;
};

static struct result measure_once(const struct bench_entry *entry)
{
    struct result r = {.peer_st = RD_E_UNSUPPORTED};
    r.st = entry->measure(&r.value);
    if (entry->measure_peer)
        r.peer_st = entry->measure_peer(&r.peer);
    return r;
}

static double ratio_of(const struct result *r)
{
    return r->peer_st == RD_OK ? r->value / r->peer : r->value;
}

static int by_ratio(const void *a, const void *b)
{
    double x = ratio_of(a), y = ratio_of(b);
    return (x > y) - (x < y);
}

/* Host and neighbours change from one second to the next: what is compared is measured
 * in turn, and a pair's ratio counts. */
static struct result measure(const struct bench_entry *entry)
{
    struct result r[BENCH_ROUNDS];
    unsigned n = entry->rounds ? entry->rounds : 1;
    for (unsigned i = 0; i < n; i++) {
        r[i] = measure_once(entry);
        if (r[i].st != RD_OK)
            return r[i];
    }
    qsort(r, n, sizeof *r, by_ratio);
    if (entry->measure_peer)
        return r[n / 2];
    return r[entry->higher_is_better ? n - 1 : 0];
}

static void print_row(const struct bench_entry *entry, const struct result *r)
{
    rd_status st = r->st;
    double value = r->value;
    printf("%-23s ", entry->name);
    if (st == RD_OK)
        print_value(value, entry->unit);
    else
        printf("%12s (%s)", "-", rd_status_text(st));
    if (st == RD_OK && r->peer_st == RD_OK)
        printf(" (%.2f of %s)", value / r->peer, entry->peer);
    printf("   %s\n", entry->what);
    fflush(stdout);
}

static void json_host(struct json *j)
{
    char cpu[128];
    host_cpu_name(cpu, sizeof cpu);
    json_object(j, "host");
    json_text(j, "cpu", cpu);
    json_u64(j, "cpus", host_cpu_count());
    json_text(j, "simd", host_simd_name());
    json_close(j);
}

static void json_row(struct json *j, const struct bench_entry *entry,
                     const struct result *r)
{
    /* What was not measured is no number, and becomes null. */
    double value = r->st == RD_OK ? r->value : (double)NAN;
    json_object(j, NULL);
    json_text(j, "name", entry->name);
    json_real(j, "value", value);
    json_text(j, "unit", entry->unit);
    json_text(j, "better", entry->higher_is_better ? "higher" : "lower");
    if (r->peer_st == RD_OK) {
        json_object(j, "peer");
        json_text(j, "name", entry->peer);
        json_real(j, "value", r->peer);
        json_close(j);
        json_real(j, "ratio", value / r->peer);
    } else {
        json_null(j, "peer");
        json_null(j, "ratio");
    }
    json_close(j);
}

/* json: NULL for the table. */
static int measure_group(const struct bench_entry *e, char **words, int n,
                         struct json *json)
{
    bool terminal = isatty(STDERR_FILENO) == 1;
    int status = CLI_OK;
    for (; e->name; e++) {
        if (!selected(e, words, n))
            continue;
        if (terminal)
            fprintf(stderr, "measuring %s ...\r", e->name);
        fflush(stdout); /* a measurement may fork */
        struct result r = measure(e);
        if (terminal)
            fprintf(stderr, "%40s\r", "");
        if (r.st != RD_OK && r.st != RD_E_UNSUPPORTED)
            status = cli_error(CLI_FAILED, "%s: %s", e->name, rd_status_text(r.st));
        if (json)
            json_row(json, e, &r);
        else
            print_row(e, &r);
    }
    return status;
}

static int measure_all(char **words, int n, bool json)
{
    int status = CLI_OK;
    struct json j = {0};
    if (json) {
        j = json_begin(stdout);
        json_host(&j);
        json_array(&j, "results");
    }
    for (size_t g = 0; g < GROUPS; g++) {
        int st = measure_group(groups[g], words, n, json ? &j : NULL);
        status = st == CLI_OK ? status : st;
    }
    if (json)
        json_end(&j);
    return cli_finish(status);
}

static int list_all(void)
{
    for (size_t g = 0; g < GROUPS; g++)
        for (const struct bench_entry *e = groups[g]; e->name; e++)
            printf("%-23s %-12s %s\n", e->name, e->unit, e->what);
    return cli_finish(CLI_OK);
}

int cmd_bench(int argc, char **argv)
{
    static const struct option options[] = {
        {"help", no_argument, NULL, 'h'},
        {"json", no_argument, NULL, 'j'},
        {"list", no_argument, NULL, 'l'},
        {NULL, 0, NULL, 0},
    };
    bool json = false;
    bool list = false;
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        switch (option) {
        case 'h':
            fputs(help, stdout);
            return cli_finish(CLI_OK);
        case 'j':
            json = true;
            break;
        case 'l':
            list = true;
            break;
        default:
            return cli_option_error(argc, argv, option, options);
        }
    }
    if (list)
        return list_all();
    int status = check_words(argv + optind, argc - optind);
    return status == CLI_OK ? measure_all(argv + optind, argc - optind, json) : status;
}
