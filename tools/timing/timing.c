/* timing.c: `rdna3 timing`: captures of a real board, decoded and beside the model.
 *
 * Must not know packets nor file formats. Invariant: a launch that cannot be read or
 * run is named with the reason, and costs the exit status, not the others.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "cmd.h"
#include "json.h"
#include "model.h"
#include "rocm.h"
#include "score.h"

static const char help[] =
    "usage: rdna3 timing score [OPTION...] TRACE...\n"
    "       rdna3 timing decode [--launch N] TRACE...\n"
    "\n"
    "What a real gfx1100 did, cycle by cycle, from thread traces (SQTT): a folder of\n"
    "ROCm's rocprofv3 --att (or one of its .att files: that dispatch), an .rgp file, "
    "or\n"
    "the profile.pkl that tinygrad writes (VIZ=2). score runs each launch in the "
    "timing\n"
    "model and compares; decode prints waves and issue times as JSON.\n"
    "\n"
    "  --launch N           this launch of each file only, from 0\n"
    "  --grid X[,Y[,Z]]     workgroups (default: what the driver has written into the\n"
    "                       trace, as tinygrad and Mesa do; ROCm does not)\n"
    "  --arg KIND:VALUE     arguments in order, as of rdna3 run (tinygrad's files say "
    "it)\n"
    "  --sclk-mhz F         shader clock (default: by the trace's clock marks)\n"
    "  --warm LIST          as of rdna3 run (default: code-tlb for the first launch of "
    "a\n"
    "                       file, kernarg-tlb for later ones; '' for nothing)\n"
    "  --fabric low|high    as of rdna3 run\n"
    "  --cu-mask H,H,H,H,H,H  as of rdna3 run (default: as the trace says)\n"
    "  --first-se N         as of rdna3 run (default: as the trace says)\n"
    "  --timing-set P=V     change a parameter (see rdna3 info --timing)\n"
    "  --json               results as JSON\n"
    "\n"
    "G: gaps between instructions that are exact to the cycle, of those that neither\n"
    "memory, LDS nor instruction fetch decides. T: mean error of an instruction's "
    "time, "
    "of\n"
    "the duration of its wave. W: of durations of waves. K: of the kernel's span.\n"
    "Exit status: 0 all launches scored, 1 some could not be, 2 wrong usage.\n";

#define MAX_MHZ 1e5 /* as of --sclk-mhz */

enum { OPT_LAUNCH = 256, OPT_JSON, OPT_HELP };

static const struct option long_options[] = {
    {"help", no_argument, NULL, OPT_HELP},
    {"launch", required_argument, NULL, OPT_LAUNCH},
    {"json", no_argument, NULL, OPT_JSON},
    {"grid", required_argument, NULL, KERNEL_OPT_GRID},
    {"arg", required_argument, NULL, KERNEL_OPT_ARG},
    {"sclk-mhz", required_argument, NULL, RUN_OPT_SCLK},
    {"warm", required_argument, NULL, RUN_OPT_WARM},
    {"fabric", required_argument, NULL, RUN_OPT_FABRIC},
    {"cu-mask", required_argument, NULL, RUN_OPT_CU_MASK},
    {"first-se", required_argument, NULL, RUN_OPT_FIRST_SE},
    {"timing-set", required_argument, NULL, RUN_OPT_TIMING_SET},
    {0}};

struct options {
    struct model_options model;
    bool decode, json, have_launch, helped;
    uint64_t launch;
    struct json out;
};

static int take_option(struct options *o, int option, const char *name)
{
    switch (option) {
    case OPT_HELP:
    case 'h':
        o->helped = true;
        return CLI_OK;
    case OPT_JSON:
        o->json = true;
        return CLI_OK;
    case OPT_LAUNCH:
        o->have_launch = true;
        if (cli_parse_u64(optarg, &o->launch) != RD_OK)
            return cli_error(CLI_USAGE, "--launch '%s': not a number", optarg);
        return CLI_OK;
    case KERNEL_OPT_GRID:
        o->model.have_grid = true;
        break;
    case RUN_OPT_WARM:
        o->model.have_warm = true;
        break;
    case RUN_OPT_FIRST_SE:
        o->model.have_first = true;
        break;
    case RUN_OPT_CU_MASK:
        o->model.have_mask = true;
        break;
    default:
        break;
    }
    return option >= KERNEL_OPT_KERNEL && option <= KERNEL_OPT_LAST
               ? kernel_option(&o->model.run.k, option, name)
               : run_timing_option(&o->model.run.timing, option, name, optarg);
}

/* ---- decode ---- */

static void print_truth(struct options *o, const char *path, size_t index,
                        const struct capture_launch *l, const struct truth *t)
{
    struct json *j = &o->out;
    json_object(j, NULL);
    json_text(j, "file", path);
    json_u64(j, "launch", index);
    json_text(j, "kernel", l->name[0] || !t->kernel ? l->name : t->kernel);
    json_real(j, "sclk_mhz", t->sclk_mhz);
    json_array(j, "block");
    for (unsigned d = 0; d < 3; d++)
        json_u64(j, NULL, t->block[d]);
    json_close(j);
    json_array(j, "cu_mask");
    for (unsigned s = 0; s < CAPTURE_SES; s++)
        json_u64(j, NULL, t->cu_mask[s]);
    json_close(j);
    json_array(j, "waves");
    for (size_t i = 0; i < t->n_waves; i++) {
        const struct truth_wave *w = &t->wave[i];
        json_object(j, NULL);
        json_u64(j, "se", w->se);
        json_u64(j, "sa", w->sa);
        json_u64(j, "wgp", w->wgp);
        json_u64(j, "simd", w->simd);
        json_u64(j, "slot", w->slot);
        json_u64(j, "start", (uint64_t)w->start);
        if (w->end >= 0)
            json_u64(j, "end", (uint64_t)w->end);
        if (w->n_insts) {
            json_array(j, "insts");
            for (size_t k = 0; k < w->n_insts; k++) {
                json_array(j, NULL);
                json_u64(j, NULL, w->inst[k].pc);
                json_u64(j, NULL, (uint64_t)w->inst[k].t);
                json_close(j);
            }
            json_close(j);
        }
        json_close(j);
    }
    json_close(j);
    json_close(j);
}

/* ---- score ---- */

static void print_number(double v, int digits)
{
    if (v < 0)
        printf("%8s", "-");
    else
        printf("%8.*f", digits, v);
}

static void print_row(const char *name, const struct truth *t, const struct score *s)
{
    printf("%-32.32s %5.0f %6zu %7zu", name, t->sclk_mhz, s->waves, s->gaps);
    print_number(s->g, 1);
    print_number(s->t, 2);
    print_number(s->w, 2);
    print_number(s->k, 2);
    printf(" %9lld %9lld%s\n", (long long)s->span, (long long)s->model_span,
           s->waves == s->model_waves ? "" : " (other waves)");
}

static void put_score(struct options *o, const char *path, size_t index,
                      const char *name, const struct truth *t, const struct score *s)
{
    const struct {
        const char *key;
        double value;
    } metric[] = {{"G", s->g}, {"T", s->t}, {"W", s->w}, {"K", s->k}};
    json_object(&o->out, NULL);
    json_text(&o->out, "file", path);
    json_u64(&o->out, "launch", index);
    json_text(&o->out, "kernel", name);
    json_real(&o->out, "sclk_mhz", t->sclk_mhz);
    json_u64(&o->out, "waves", s->waves);
    json_u64(&o->out, "gaps", s->gaps);
    for (unsigned i = 0; i < 4; i++) {
        if (metric[i].value < 0)
            json_null(&o->out, metric[i].key);
        else
            json_real(&o->out, metric[i].key, metric[i].value);
    }
    json_u64(&o->out, "span", (uint64_t)s->span);
    json_u64(&o->out, "model_span", (uint64_t)s->model_span);
    json_close(&o->out);
}

static int score_launch(struct options *o, const char *path, size_t index,
                        const struct capture_launch *l, struct truth *t)
{
    struct truth model;
    struct score s;
    char name[192];
    (void)snprintf(name, sizeof name, "%s",
                   l->name[0]  ? l->name
                   : t->kernel ? t->kernel
                               : path);
    if (t->sclk_mhz <= 0 && o->model.run.timing.config.sclk_mhz <= 0)
        return cli_error(CLI_FAILED,
                         "%s, launch %zu: the trace has no clock marks: --sclk-mhz",
                         path, index);
    if (o->model.run.timing.config.sclk_mhz > 0)
        t->sclk_mhz = o->model.run.timing.config.sclk_mhz;
    if (t->sclk_mhz < 1 || t->sclk_mhz > MAX_MHZ)
        return cli_error(CLI_FAILED,
                         "%s, launch %zu: by its clock marks the shader clock is %g "
                         "MHz: --sclk-mhz",
                         path, index, t->sclk_mhz);
    int status = model_run(&o->model, t, l, index, &model);
    if (status == CLI_OK && !score_compare(t, &model, &s))
        status = cli_error(CLI_FAILED, "out of memory");
    if (status == CLI_OK && o->json)
        put_score(o, path, index, name, t, &s);
    else if (status == CLI_OK)
        print_row(name, t, &s);
    truth_free(&model);
    return status;
}

static int take_launch(struct options *o, const char *path, size_t index,
                       const struct sqtt_file *c)
{
    const struct capture_launch *l = &c->launch[index];
    struct truth t;
    char why[256];
    int status = CLI_OK;
    if (!truth_read(c, l, &t, why, sizeof why))
        status = cli_error(CLI_FAILED, "%s, launch %zu (%s): %s", path, index,
                           l->name[0] ? l->name : "no name", why);
    else if (o->decode)
        print_truth(o, path, index, l, &t);
    else
        status = score_launch(o, path, index, l, &t);
    truth_free(&t);
    return status;
}

static int take_launches(struct options *o, const char *path, const struct sqtt_file *c)
{
    int status = CLI_OK;
    if (o->have_launch && o->launch >= c->n_launches)
        status = cli_error(CLI_FAILED, "%s: there are %zu launches, counted from 0",
                           path, c->n_launches);
    for (size_t i = 0; i < c->n_launches; i++)
        if (!o->have_launch || o->launch == i) {
            int one = take_launch(o, path, i, c);
            status = status == CLI_OK ? one : status;
        }
    return status;
}

static int take_folder(struct options *o, const char *path)
{
    struct sqtt_file c;
    struct rocm_files files;
    int status = rocm_read(path, &c, &files);
    if (status == CLI_OK)
        status = take_launches(o, path, &c);
    capture_free(&c);
    rocm_free(&files);
    return status;
}

static int take_file(struct options *o, const char *path)
{
    void *data;
    size_t bytes;
    struct sqtt_file c;
    char why[256];
    if (rocm_is(path))
        return take_folder(o, path);
    if (cli_read_file(path, &data, &bytes) != RD_OK)
        return cli_error(CLI_FAILED, "cannot read '%s': %s", path, strerror(errno));
    if (!capture_read(data, bytes, &c, why, sizeof why)) {
        free(data);
        return cli_error(CLI_FAILED, "%s: %s", path, why);
    }
    int status = take_launches(o, path, &c);
    capture_free(&c);
    free(data);
    return status;
}

/* A dispatch has a file for each engine, and any of them names it. */
static bool was_taken(char **argv, int from, int to)
{
    for (int i = from; i < to; i++)
        if (rocm_same(argv[i], argv[to]))
            return true;
    return false;
}

static int parse(struct options *o, int argc, char **argv)
{
    int option, index = 0;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", long_options, &index)) != -1) {
        if (option == '?' || option == ':')
            return cli_option_error(argc, argv, option, long_options);
        int status = take_option(o, option, long_options[index].name);
        if (status != CLI_OK || o->helped)
            return status;
    }
    if (o->model.run.k.n_args > CAPTURE_BUFFERS)
        return cli_error(CLI_USAGE, "--arg: at most %d", CAPTURE_BUFFERS);
    return optind < argc ? CLI_OK
                         : cli_error(CLI_USAGE, "rdna3 timing %s: no trace given",
                                     o->decode ? "decode" : "score");
}

static int take_files(struct options *o, int argc, char **argv)
{
    bool json = o->json || o->decode;
    int status = CLI_OK;
    if (json) {
        o->out = json_begin(stdout);
        json_array(&o->out, "launches");
    } else {
        printf("%-32s %5s %6s %7s%8s%8s%8s%8s %9s %9s\n", "launch", "MHz", "waves",
               "gaps", "G %", "T %", "W %", "K %", "cycles", "model");
    }
    for (int i = optind; i < argc; i++) {
        int one = was_taken(argv, optind, i) ? CLI_OK : take_file(o, argv[i]);
        status = status == CLI_OK ? one : status;
    }
    if (json) {
        json_close(&o->out);
        json_end(&o->out);
    }
    return cli_finish(status);
}

int cmd_timing(int argc, char **argv)
{
    struct options o = {.model.run = {.k = KERNEL_DEFAULTS}};
    bool score = argc > 1 && strcmp(argv[1], "score") == 0;
    o.decode = argc > 1 && strcmp(argv[1], "decode") == 0;
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(help, stdout);
        return cli_finish(CLI_OK);
    }
    if (!score && !o.decode)
        return cli_error(CLI_USAGE, "rdna3 timing: score or decode (see --help)");
    int status = kernel_options_begin(&o.model.run.k, argc);
    if (status == CLI_OK)
        status = parse(&o, argc - 1, argv + 1);
    if (o.helped)
        fputs(help, stdout);
    else if (status == CLI_OK)
        status = take_files(&o, argc - 1, argv + 1);
    kernel_options_end(&o.model.run.k);
    return status;
}
