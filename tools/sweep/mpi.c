/* mpi.c: the program rdna3-sweep-mpi: items of a sweep on the ranks of an MPI job.
 *
 * MPI starts the ranks and tells them where rank 0 listens; from then on they talk by
 * TCP (link.h). Rank 0 has the database, hands out items, runs items itself in between.
 * Others ask with their last result. The item of a rank that dies is handed out again;
 * when rank 0 dies, the others leave what they were at beside the database (left.c).
 * When mpirun is killed, or kills all because one has died, they end as if interrupted:
 * a rank works in a process of its own, which mpirun does not know.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <mpi.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "link.h"
#include "sweep.h"
#include "whole.h"

/* Seconds that rank 0 waits for ranks that have not asked yet once nothing is left to
 * do; seconds from one look at interruptions to the next. */
#define LATE 20.0
#define LOOK 0.25
/* Seconds that a command may go on once its rank is to end: it may have done its work
 * just now; that rank 0 waits for such results; that a rank waits for rank 0's word. */
#define GRACE 0.5
enum { HARVEST = 2, PARTING = 3 };
/* No item says more (job.c). */
enum { MOST_BYTES = 1 << 21 };
/* Instead of an item: rank 0 has written down what it has heard, and hears no more.
 * SWEEP_NONE: and that was all. */
#define OVER (SWEEP_NONE - 1)

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
    "FILE.db) where rank 0 can write it. Ranks reach rank 0 by TCP.\n"
    "\n"
    "When a rank dies, another one does its item, if mpirun lets the others live "
    "(Open\n"
    "MPI: --enable-recovery). When mpirun is killed, all ranks end. In any case the "
    "next\n"
    "start goes on where this one ended.\n";

/* Who started this rank: mpirun, or its helper on this host. 0: nobody, it is alone. */
static pid_t starter;

static void know_starter(void)
{
    if (getenv("OMPI_COMM_WORLD_RANK") || getenv("PMIX_RANK") || getenv("PMI_RANK"))
        starter = getppid();
}

/* All that MPI has to carry is where rank 0 listens: Open MPI need not look for fast
 * networks, which takes most of a start. Who has set something keeps it. */
static void start_plainly(void)
{
    (void)setenv("OMPI_MCA_pml", "ob1", 0);
    (void)setenv("OMPI_MCA_btl", "self,vader,tcp", 0);
}

/* End: it was interrupted, or nobody is there any more who could do so. */
static bool to_end(void)
{
    if (starter && getppid() != starter)
        sweep_interrupted = 1;
    return sweep_interrupted;
}

/* ---- a process of its own ---- */

/* What mpirun started waits here for the process that works, tells it what mpirun says,
 * and ends as it does. */
static int watch(pid_t worker, const sigset_t *heard)
{
    const struct timespec most = {.tv_nsec = (long)(LOOK * 1e9)};
    int status = 0;
    for (;;) {
        int said = sigtimedwait(heard, NULL, &most);
        bool alone = starter && getppid() != starter;
        if (said == SIGINT || said == SIGTERM || alone)
            (void)kill(worker, SIGTERM);
        if (alone)
            starter = 0; /* that is said once */
        if (waitpid(worker, &status, WNOHANG) != 0)
            break;
    }
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    (void)signal(WTERMSIG(status), SIG_DFL); /* mpirun is to see how it died */
    (void)sigprocmask(SIG_UNBLOCK, heard, NULL);
    (void)raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

/* From here on another process is the rank; what mpirun knows as the rank waits for it.
 * MPICH's mpirun kills all ranks when one dies: those that live are to write down what
 * they have. Returns in the process that works, or where there is only one. */
static void step_aside(void)
{
    sigset_t heard, before;
    pid_t watcher = getpid();
    if (!starter)
        return;
    (void)sigemptyset(&heard);
    (void)sigaddset(&heard, SIGINT);
    (void)sigaddset(&heard, SIGTERM);
    (void)sigaddset(&heard, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &heard, &before);
    pid_t worker = fork();
    if (worker > 0)
        _exit(watch(worker, &heard));
    if (worker == 0) {
        (void)setpgid(0, 0); /* mpirun kills groups */
        starter = watcher;
    }
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
}

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
            return cli_option_error(argc, argv, option, long_options);
        }
    o->path = argv[optind];
    if (!o->path || optind + 1 < argc)
        return cli_error(CLI_USAGE, "one file of a sweep (see rdna3-sweep-mpi --help)");
    return CLI_OK;
}

/* ---- the other ranks ---- */

/* One item; 130: interrupted. */
static int run_item(const struct sweep *s, uint64_t item, struct sweep_done *out)
{
    struct sweep_job job, *ended = NULL;
    double until = 0;
    if (to_end())
        return 130;
    int status = sweep_start(&job, s, item);
    while (status == CLI_OK && !ended) {
        if (to_end() && until <= 0)
            until = cli_now() + GRACE;
        if (until > 0 && cli_now() >= until) {
            sweep_stop(&job, 1);
            return 130;
        }
        ended = sweep_wait(&job, 1, until > 0 ? GRACE : LOOK);
    }
    if (ended)
        *out = ended->done;
    return status;
}

/* What a rank has to show: its last result, and the one before, which rank 0 has taken
 * but may not have written down before it answers the next time. */
struct shown {
    struct sweep_done last, before;
};

static void shift(struct shown *r)
{
    free(r->before.text);
    r->before = r->last;
    r->last = (struct sweep_done){.item = SWEEP_NONE};
}

/* Rank 0 is gone: leave both. */
static int leave(const struct shown *r, const char *db, const struct sweep *s,
                 uint32_t rank)
{
    int status = CLI_OK;
    if (r->before.item != SWEEP_NONE)
        status = sweep_left_put(db, s, &r->before, (int)rank);
    if (r->last.item != SWEEP_NONE && status == CLI_OK)
        status = sweep_left_put(db, s, &r->last, (int)rank);
    return status;
}

/* Tell the last result, get the next item. */
static bool ask(int fd, const struct sweep_done *last, uint64_t *item)
{
    struct message m = {.item = last->item,
                        .seconds = last->seconds,
                        .status = last->status,
                        .bytes = last->bytes};
    return whole_send(fd, &m, sizeof m) && whole_send(fd, last->text, last->bytes) &&
           whole_receive(fd, item, sizeof *item);
}

/* It has been interrupted and gives its item back. Is all else written down? Rank 0 may
 * have said its last word before it hears. */
static bool part(int fd)
{
    const struct message m = {.item = SWEEP_NONE};
    uint64_t item;
    link_patience(fd, PARTING);
    (void)whole_send(fd, &m, sizeof m);
    return whole_receive(fd, &item, sizeof item) &&
           (item == SWEEP_NONE || item == OVER);
}

static int serve(const struct sweep *s, const struct link_where *where, const char *db,
                 uint32_t rank)
{
    struct shown r = {{.item = SWEEP_NONE}, {.item = SWEEP_NONE}};
    uint64_t item;
    int fd, status = link_reach(where, rank, &fd);
    if (status != CLI_OK)
        return status;
    sweep_progress_begin();
    for (;;) {
        if (!ask(fd, &r.last, &item) || item == OVER) {
            status = leave(&r, db, s, rank);
            break;
        }
        shift(&r);
        if (item == SWEEP_NONE)
            break;
        status = run_item(s, item, &r.last);
        if (status == 130)
            status = part(fd) ? CLI_OK : leave(&r, db, s, rank);
        if (status != CLI_OK || r.last.item == SWEEP_NONE)
            break;
    }
    free(r.last.text);
    free(r.before.text);
    close(fd);
    return status;
}

/* ---- rank 0 ---- */

struct peer {
    int fd;
    uint32_t rank;
    uint64_t item; /* that it runs, or SWEEP_NONE */
};

struct result {
    struct sweep_done done;
    int worker;
};

struct leader {
    const struct sweep *sweep;
    struct sweep_store *store;
    const struct link_where *where;
    int listening;
    unsigned expected; /* ranks that have not asked yet */
    unsigned n;
    struct peer *peer;
    struct pollfd *poll; /* who listens, the own item's output, peers */
    struct sweep_job job;
    struct result *result; /* not written down yet: of each peer one, and an own one */
    unsigned n_results;
};

static void forget(struct leader *l, struct peer *p)
{
    close(p->fd);
    *p = l->peer[--l->n];
}

/* It has died. */
static void give_up(struct leader *l, struct peer *p)
{
    if (p->item != SWEEP_NONE)
        (void)cli_error(0, "rank %u is gone; its item %" PRIu64 " is done by another",
                        p->rank, p->item);
    else
        (void)cli_error(0, "rank %u is gone", p->rank);
    sweep_store_again(l->store, p->item);
    forget(l, p);
}

static uint64_t next_item(const struct leader *l)
{
    return to_end() ? SWEEP_NONE : sweep_store_next(l->store);
}

/* Once everybody is at work again. */
static int write_down(struct leader *l, int status)
{
    for (unsigned i = 0; i < l->n_results; i++)
        if (status == CLI_OK)
            status = sweep_store_put(l->store, &l->result[i].done, l->result[i].worker);
        else
            free(l->result[i].done.text);
    l->n_results = 0;
    return status;
}

/* Take a peer's result, and answer. One that is to end gives its item back. */
static int answer(struct leader *l, struct peer *p)
{
    struct message m;
    struct sweep_done done = {.text = NULL};
    bool good = whole_receive(p->fd, &m, sizeof m) && m.bytes <= MOST_BYTES &&
                (m.item == p->item || m.item == SWEEP_NONE);
    bool parts = good && m.item != p->item;
    if (good) {
        done = (struct sweep_done){.item = m.item,
                                   .status = m.status,
                                   .seconds = m.seconds,
                                   .bytes = m.bytes,
                                   .text = calloc(m.bytes + 1u, 1)};
        if (!done.text)
            return cli_error(CLI_FAILED, "out of memory");
        good = whole_receive(p->fd, done.text, m.bytes);
    }
    if (!good) {
        free(done.text);
        give_up(l, p);
        return CLI_OK;
    }
    if (done.item != SWEEP_NONE)
        l->result[l->n_results++] = (struct result){done, (int)p->rank};
    else
        free(done.text);
    if (parts)
        sweep_store_again(l->store, p->item);
    p->item = parts ? SWEEP_NONE : next_item(l);
    bool ends = p->item == SWEEP_NONE;
    int status = ends ? write_down(l, CLI_OK) : CLI_OK; /* it will not ask again */
    if (!whole_send(p->fd, &p->item, sizeof p->item))
        give_up(l, p);
    else if (ends)
        forget(l, p);
    return status;
}

static void let_in(struct leader *l)
{
    struct peer p = {.item = SWEEP_NONE};
    if (!link_accept(l->where, l->listening, &p.rank, &p.fd))
        return;
    if (l->expected == 0) {
        close(p.fd);
        return;
    }
    l->expected--;
    l->peer[l->n++] = p;
}

/* Wait until something happens, and see to it. */
static int attend(struct leader *l)
{
    const struct timespec most = {.tv_nsec = (long)(LOOK * 1e9)};
    nfds_t n = 2;
    int status = CLI_OK;
    l->poll[0] = (struct pollfd){.fd = l->listening, .events = POLLIN};
    l->poll[1] = (struct pollfd){.fd = l->job.pid ? l->job.out : -1, .events = POLLIN};
    for (unsigned i = 0; i < l->n; i++)
        l->poll[n++] = (struct pollfd){.fd = l->peer[i].fd, .events = POLLIN};
    if (ppoll(l->poll, n, &most, NULL) <= 0)
        return CLI_OK;
    for (nfds_t i = n; status == CLI_OK && i-- > 2;) /* the last may take its place */
        if (l->poll[i].revents)
            status = answer(l, &l->peer[i - 2]);
    if (status == CLI_OK && l->poll[1].revents) {
        struct sweep_job *ended = sweep_wait(&l->job, 1, 0);
        if (ended)
            l->result[l->n_results++] = (struct result){ended->done, 0};
    }
    if (l->poll[0].revents)
        let_in(l);
    return status;
}

/* All are to end: take what they come to just now. */
static int harvest(struct leader *l, int status)
{
    const double until = cli_now() + HARVEST;
    while (status == CLI_OK && (l->job.pid || l->n) && cli_now() < until) {
        status = attend(l);
        status = write_down(l, status);
    }
    return status;
}

static int lead(struct leader *l)
{
    const uint64_t over = OVER;
    int status = CLI_OK;
    double idle = 0;
    sweep_progress_begin();
    while (status == CLI_OK && !to_end()) {
        uint64_t item = l->job.pid ? SWEEP_NONE : next_item(l);
        if (item != SWEEP_NONE)
            status = sweep_start(&l->job, l->sweep, item);
        status = write_down(l, status);
        if (!l->job.pid && !l->n) { /* who comes late is told to end */
            idle = idle > 0 ? idle : cli_now();
            if (!l->expected || cli_now() - idle > LATE)
                break;
        }
        if (status == CLI_OK)
            status = attend(l);
        sweep_progress(l->store, l->sweep, false);
    }
    status = write_down(l, status);
    status = to_end() ? harvest(l, status) : status;
    sweep_stop(&l->job, 1);
    for (; l->n; forget(l, &l->peer[l->n - 1]))
        if (status == CLI_OK)
            (void)whole_send(l->peer[l->n - 1].fd, &over, sizeof over);
    return status;
}

static int begin(const struct options *o, const struct sweep *s, const char *db,
                 struct sweep_store **out)
{
    int status = sweep_lock(o->path);
    return status == CLI_OK ? sweep_store_open(db, s, o->retry, out) : status;
}

static int run(const struct sweep *s, const char *db, struct sweep_store *store,
               const struct link_where *where, int listening, unsigned others)
{
    struct leader l = {.sweep = s,
                       .store = store,
                       .where = where,
                       .listening = listening,
                       .expected = others,
                       .peer = calloc(others + 1u, sizeof *l.peer),
                       .poll = calloc(others + 2u, sizeof *l.poll),
                       .result = calloc(others + 1u, sizeof *l.result)};
    sweep_roam(); /* or others wait until its own item makes room on its CPU */
    int status = l.peer && l.poll && l.result ? lead(&l)
                                              : cli_error(CLI_FAILED, "out of memory");
    free(l.peer);
    free(l.poll);
    free(l.result);
    status = sweep_conclude(store, s, db, status);
    sweep_store_close(store);
    return status;
}

int main(int argc, char **argv)
{
    struct options o = {0};
    struct sweep s;
    struct sweep_store *store = NULL;
    struct link_where where = {.n_places = 0};
    int rank, size, listening = -1, status = parse(&o, argc, argv);
    if (status != CLI_OK)
        return status < 0 ? cli_finish(CLI_OK) : status;
    status = sweep_read(o.path, &s);
    if (status != CLI_OK)
        return status;
    char *own = sweep_default_store(o.path);
    const char *db = o.db ? o.db : own;
    know_starter();
    start_plainly();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!db)
        status = cli_error(CLI_FAILED, "out of memory");
    if (rank == 0 && status == CLI_OK)
        status = begin(&o, &s, db, &store);
    if (store)
        sweep_store_close(store);
    if (rank == 0 && status == CLI_OK)
        status = link_listen(&where, &listening);
    if (status != CLI_OK)
        where.n_places = 0; /* nobody is to come */
    MPI_Bcast(&where, sizeof where, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Finalize(); /* the last word of MPI's: whoever dies keeps nobody waiting */
    (void)signal(SIGPIPE,
                 SIG_IGN); /* mpirun reads what they say, as long as it lives */
    sweep_path();
    if (where.n_places)
        step_aside();
    if (rank == 0 && status == CLI_OK) /* a database is not for two processes */
        status = sweep_store_open(db, &s, false, &store);
    if (rank == 0 && status == CLI_OK)
        status = run(&s, db, store, &where, listening, (unsigned)size - 1);
    else if (rank && where.n_places)
        status = serve(&s, &where, db, (uint32_t)rank);
    fflush(stdout);
    free(own);
    sweep_free(&s);
    return status;
}
