/* mpi.c: the program rdna3-sweep-mpi: items of a sweep on the ranks of an MPI job.
 *
 * Rank 0 has the database and hands out items; it runs items itself in between. Others
 * ask with their last result. A rank that dies takes its running item along, which is
 * in nobody's database: the next start does it. SPDX-License-Identifier: MIT
 */
#include <getopt.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "sweep.h"

enum { TAG_ASK = 1, TAG_TEXT, TAG_ITEM };

/* Rank 0 looks at messages so many times in an item's mean time, so that who asks loses
 * little of its own; SHORTEST and LONGEST (seconds) bound what looking costs, and how
 * long a rank waits whose items differ. */
#define LOOKS    64.0
#define SHORTEST 0.0001
#define LONGEST  0.002

struct message { /* all ranks run the same program */
    uint64_t item;
    double seconds;
    int32_t status;
    uint32_t bytes;
};

struct options {
    const char *path, *db;
    bool retry;
};

static const char help[] =
    "usage: mpirun -np N rdna3-sweep-mpi FILE [--db DB] [--retry]\n"
    "\n"
    "Run the items of a sweep (see rdna3 sweep --help) on all ranks; each rank runs "
    "one "
    "at\n"
    "a time. The file must be where every rank can read it, the database (default:\n"
    "FILE.db) where rank 0 can write it.\n";

static int parse(struct options *o, int argc, char **argv)
{
    static const struct option long_options[] = {{"help", no_argument, NULL, 'h'},
                                                 {"db", required_argument, NULL, 'd'},
                                                 {"retry", no_argument, NULL, 'r'},
                                                 {NULL, 0, NULL, 0}};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1)
        switch (option) {
        case 'h':
            fputs(help, stdout);
            return -1;
        case 'd':
            o->db = optarg;
            break;
        case 'r':
            o->retry = true;
            break;
        default:
            return cli_option_error(argc, argv, option);
        }
    o->path = argv[optind];
    if (!o->path || optind + 1 < argc)
        return cli_error(CLI_USAGE, "one file of a sweep (see rdna3-sweep-mpi --help)");
    return CLI_OK;
}

/* ---- the other ranks ---- */

static int serve(const struct sweep *s)
{
    struct message ask = {.item = SWEEP_NONE};
    char *text = NULL;
    for (;;) {
        uint64_t item;
        struct sweep_job job, *ended = NULL;
        MPI_Send(&ask, sizeof ask, MPI_BYTE, 0, TAG_ASK, MPI_COMM_WORLD);
        if (ask.bytes)
            MPI_Send(text, (int)ask.bytes, MPI_BYTE, 0, TAG_TEXT, MPI_COMM_WORLD);
        free(text);
        text = NULL;
        MPI_Recv(&item, sizeof item, MPI_BYTE, 0, TAG_ITEM, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        if (item == SWEEP_NONE)
            return CLI_OK;
        if (sweep_start(&job, s, item) != CLI_OK)
            MPI_Abort(MPI_COMM_WORLD, CLI_FAILED);
        while (!ended)
            ended = sweep_wait(&job, 1, -1);
        text = ended->done.text;
        ask = (struct message){.item = item,
                               .seconds = ended->done.seconds,
                               .status = ended->done.status,
                               .bytes = ended->done.bytes};
    }
}

/* ---- rank 0 ---- */

struct leader {
    struct sweep_store *store;
    unsigned left;  /* ranks that have not been told to end */
    double seconds; /* that the items of others took, and their number */
    uint64_t items;
};

static double until_next_look(const struct leader *l)
{
    double part = l->items ? l->seconds / (double)l->items / LOOKS : SHORTEST;
    return part < SHORTEST ? SHORTEST : part > LONGEST ? LONGEST : part;
}

/* Take a message, if there is one: a result, and an answer to who sent it. */
static int answer(struct leader *l, bool *any)
{
    struct message m;
    MPI_Status from;
    int there, status = CLI_OK;
    MPI_Iprobe(MPI_ANY_SOURCE, TAG_ASK, MPI_COMM_WORLD, &there, &from);
    *any = there != 0;
    if (!there)
        return CLI_OK;
    MPI_Recv(&m, sizeof m, MPI_BYTE, from.MPI_SOURCE, TAG_ASK, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    struct sweep_done done = {.item = m.item,
                              .status = m.status,
                              .seconds = m.seconds,
                              .bytes = m.bytes,
                              .text = calloc(m.bytes + 1u, 1)};
    if (!done.text)
        return cli_error(CLI_FAILED, "out of memory");
    if (m.bytes)
        MPI_Recv(done.text, (int)m.bytes, MPI_BYTE, from.MPI_SOURCE, TAG_TEXT,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (m.item != SWEEP_NONE) {
        l->seconds += m.seconds;
        l->items++;
        status = sweep_store_put(l->store, &done, from.MPI_SOURCE);
    } else {
        free(done.text);
    }
    uint64_t next = status == CLI_OK && !sweep_interrupted ? sweep_store_next(l->store)
                                                           : SWEEP_NONE;
    l->left -= next == SWEEP_NONE;
    MPI_Send(&next, sizeof next, MPI_BYTE, from.MPI_SOURCE, TAG_ITEM, MPI_COMM_WORLD);
    return status;
}

static int lead(const struct sweep *s, struct sweep_store *store, unsigned others)
{
    struct sweep_job job = {0};
    int status = CLI_OK;
    struct leader l = {.store = store, .left = others};
    bool more = true;
    sweep_progress_begin();
    while (status == CLI_OK && (more || l.left || job.pid)) {
        bool any;
        if (!job.pid && more) {
            uint64_t item = sweep_interrupted ? SWEEP_NONE : sweep_store_next(store);
            more = item != SWEEP_NONE;
            if (more)
                status = sweep_start(&job, s, item);
        }
        if (status == CLI_OK)
            status = answer(&l, &any);
        if (status != CLI_OK || any)
            continue;
        struct sweep_job *ended = sweep_wait(&job, 1, until_next_look(&l));
        if (ended)
            status = sweep_store_put(store, &ended->done, 0);
        sweep_progress(store, s, false);
    }
    return status;
}

static int begin(const struct options *o, const struct sweep *s, unsigned others)
{
    struct sweep_store *store;
    char *own = sweep_default_store(o->path);
    const char *db = o->db ? o->db : own;
    int status = db ? sweep_lock(o->path) : cli_error(CLI_FAILED, "out of memory");
    if (status == CLI_OK)
        status = sweep_store_open(db, s, o->retry, &store);
    if (status == CLI_OK) {
        status = lead(s, store, others);
        if (status != CLI_OK) /* others may wait for an answer */
            MPI_Abort(MPI_COMM_WORLD, status);
        status = sweep_conclude(store, s, db, status);
        sweep_store_close(store);
    } else {
        MPI_Abort(MPI_COMM_WORLD, status);
    }
    free(own);
    return status;
}

int main(int argc, char **argv)
{
    struct options o = {0};
    struct sweep s;
    int rank, size, status = parse(&o, argc, argv);
    if (status != CLI_OK)
        return status < 0 ? cli_finish(CLI_OK) : status;
    status = sweep_read(o.path, &s);
    if (status != CLI_OK)
        return status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    sweep_path();
    status = rank ? serve(&s) : begin(&o, &s, (unsigned)size - 1);
    fflush(stdout);
    MPI_Finalize();
    sweep_free(&s);
    return status;
}
