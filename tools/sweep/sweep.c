/* sweep.c: `rdna3 sweep`: options, and items on the cores of this machine.
 *
 * Must not know the database's tables. SPDX-License-Identifier: MIT
 */
#include <getopt.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cmd.h"
#include "sweep.h"

static const char help[] =
    "usage: rdna3 sweep FILE [OPTION...]\n"
    "       rdna3 sweep --db DB --table | --csv | --sum Y[,SERIES] |\n"
    "                           --plot X,Y[,SERIES] --out OUT.svg\n"
    "\n"
    "Run a command for every combination of parameters and keep what it says in an "
    "SQLite\n"
    "database. What is done is never done again: the same command goes on where it "
    "was\n"
    "ended. A file of a sweep:\n"
    "\n"
    "    command = rdna3 run {kernel}.hsaco --grid {n/256} --arg buf:{4*n} --timing\n"
    "    kernel = add reduce\n"
    "    n = 1024..65536*4\n"
    "    seed = 1..3\n"
    "    measure cycles = ^cycles +([0-9]+)\n"
    "\n"
    "Braces hold a parameter or an expression of whole numbers ({{ is a brace); "
    "{item}\n"
    "is the item's number. Values are words (\"in quotes\" with blanks), FROM..TO,\n"
    "FROM..TO:STEP and FROM..TO*FACTOR. A measure is an extended regular expression "
    "with\n"
    "one pair of parentheses, looked for in what the command says. An item whose "
    "command\n"
    "ends with another status than 0, or that lacks a measure, has failed.\n"
    "\n"
    "  --db DB              the database (default: FILE.db)\n"
    "  --jobs N             commands at a time (default: one per CPU)\n"
    "  --retry              do those items again that failed\n"
    "  --dry-run            print the commands only\n"
    "  --table              print parameters and measures of every item\n"
    "  --csv                ... as comma-separated values\n"
    "  --sum Y[,SERIES]     add up measure Y over all items, for each value of SERIES: "
    "of\n"
    "                       a launch in parts (rdna3 run --timing-part {part}/N)\n"
    "  --plot X,Y[,SERIES]  draw measure Y over parameter X, a line for each value of\n"
    "                       SERIES: the mean over the other parameters\n"
    "  --out OUT.svg        where to\n"
    "\n"
    "On a cluster: mpirun -np N rdna3-sweep-mpi FILE [--db DB] [--retry], where it "
    "was\n"
    "built with MPI. Rank 0 writes the database, all ranks run items.\n";

enum {
    OPT_HELP = 256,
    OPT_DB,
    OPT_JOBS,
    OPT_RETRY,
    OPT_DRY,
    OPT_TABLE,
    OPT_CSV,
    OPT_SUM,
    OPT_PLOT,
    OPT_OUT
};

static const struct option long_options[] = {
    {"help", no_argument, NULL, OPT_HELP},
    {"db", required_argument, NULL, OPT_DB},
    {"jobs", required_argument, NULL, OPT_JOBS},
    {"retry", no_argument, NULL, OPT_RETRY},
    {"dry-run", no_argument, NULL, OPT_DRY},
    {"table", no_argument, NULL, OPT_TABLE},
    {"csv", no_argument, NULL, OPT_CSV},
    {"sum", required_argument, NULL, OPT_SUM},
    {"plot", required_argument, NULL, OPT_PLOT},
    {"out", required_argument, NULL, OPT_OUT},
    {NULL, 0, NULL, 0},
};

struct options {
    const char *path, *db, *sum, *plot, *out;
    bool retry, dry, table, csv, helped;
    uint64_t jobs;
};

static int parse(struct options *o, int argc, char **argv)
{
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1)
        switch (option) {
        case OPT_HELP:
        case 'h':
            o->helped = true;
            break;
        case OPT_DB:
            o->db = optarg;
            break;
        case OPT_JOBS:
            if (cli_parse_u64(optarg, &o->jobs) != RD_OK || !o->jobs || o->jobs > 1024)
                return cli_error(CLI_USAGE, "--jobs '%s': 1 to 1024", optarg);
            break;
        case OPT_RETRY:
            o->retry = true;
            break;
        case OPT_DRY:
            o->dry = true;
            break;
        case OPT_TABLE:
            o->table = true;
            break;
        case OPT_CSV:
            o->csv = true;
            break;
        case OPT_SUM:
            o->sum = optarg;
            break;
        case OPT_PLOT:
            o->plot = optarg;
            break;
        case OPT_OUT:
            o->out = optarg;
            break;
        default:
            return cli_option_error(argc, argv, option, long_options);
        }
    o->path = argv[optind];
    if (o->helped)
        return CLI_OK;
    if (o->path && optind + 1 < argc)
        return cli_error(CLI_USAGE, "unexpected '%s'", argv[optind + 1]);
    if (!o->plot != !o->out)
        return cli_error(CLI_USAGE,
                         "--plot X,Y[,SERIES] and --out OUT.svg go together");
    if (!o->path && !(o->db && (o->table || o->csv || o->sum || o->plot)))
        return cli_error(CLI_USAGE,
                         "no file of a sweep given (see rdna3 sweep --help)");
    return CLI_OK;
}

static unsigned cpus(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static int dry_run(const struct sweep *s)
{
    for (uint64_t i = 0; i < s->n_items; i++) {
        char *command = sweep_command(s, i);
        if (!command)
            return CLI_USAGE;
        puts(command);
        free(command);
    }
    return CLI_OK;
}

/* Start commands until so many run, or nothing is left. */
static int start(const struct sweep *s, struct sweep_store *store,
                 struct sweep_job *jobs, unsigned n, unsigned *busy)
{
    int status = CLI_OK;
    for (unsigned i = 0; i < n && status == CLI_OK && !sweep_interrupted; i++) {
        uint64_t item = jobs[i].pid ? SWEEP_NONE : sweep_store_next(store);
        if (item == SWEEP_NONE)
            continue;
        status = sweep_start(&jobs[i], s, item);
        *busy += status == CLI_OK;
    }
    return status;
}

/* All items that are left, so many commands at a time; what one said is written down
 * while the next one runs. */
static int work(const struct sweep *s, struct sweep_store *store, unsigned n)
{
    struct sweep_job *jobs = calloc(n, sizeof *jobs);
    unsigned busy = 0;
    if (!jobs)
        return cli_error(CLI_FAILED, "out of memory");
    sweep_progress_begin();
    int status = start(s, store, jobs, n, &busy);
    while (status == CLI_OK && busy && !sweep_interrupted) {
        struct sweep_job *ended = sweep_wait(jobs, n, 0.25);
        if (ended) {
            struct sweep_done done = ended->done;
            busy--;
            status = start(s, store, jobs, n, &busy);
            int kept = sweep_store_put(store, &done, (int)(ended - jobs));
            status = status == CLI_OK ? kept : status;
        }
        sweep_progress(store, s, false);
    }
    sweep_stop(jobs, n);
    free(jobs);
    return status;
}

static int sweep(const struct options *o, const char *db)
{
    struct sweep s;
    struct sweep_store *store;
    int status = sweep_read(o->path, &s);
    if (status != CLI_OK)
        return status;
    if (o->dry) {
        status = dry_run(&s);
        sweep_free(&s);
        return status;
    }
    sweep_path();
    status = sweep_lock(o->path);
    if (status == CLI_OK)
        status = sweep_store_open(db, &s, o->retry, &store);
    if (status == CLI_OK) {
        status = work(&s, store, o->jobs ? (unsigned)o->jobs : cpus());
        status = sweep_conclude(store, &s, db, status);
        sweep_store_close(store);
    }
    sweep_free(&s);
    return status;
}

static int show(const struct options *o, const char *db)
{
    struct sweep_store *store;
    int status = sweep_store_look(db, &store);
    if (status != CLI_OK)
        return status;
    if (o->table || o->csv)
        status = sweep_table(store, o->csv);
    if (status == CLI_OK && o->sum)
        status = sweep_sum(store, o->sum);
    if (status == CLI_OK && o->plot)
        status = sweep_plot(store, o->plot, o->out);
    sweep_store_close(store);
    return status;
}

int cmd_sweep(int argc, char **argv)
{
    struct options o = {0};
    int status = parse(&o, argc, argv);
    if (status != CLI_OK)
        return status;
    if (o.helped) {
        fputs(help, stdout);
        return cli_finish(CLI_OK);
    }
    char *own = o.path ? sweep_default_store(o.path) : NULL;
    const char *db = o.db ? o.db : own;
    if (!db)
        return cli_error(CLI_FAILED, "out of memory");
    status = o.table || o.csv || o.sum || o.plot ? show(&o, db) : sweep(&o, db);
    free(own);
    return cli_finish(status);
}
