/* timeline.c: `rdna3 trace` of a timeline (rdna3 run --timing-trace): what
 * happened, annotated listings, exports.
 *
 * Must not know the format of timelines (emulator/timeline).
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codeobj.h"
#include "timeline.h"
#include "hotlines.h"
#include "timeline_tool.h"
#include "trace_tool.h"

static const char help[] =
    "usage: rdna3 trace TIMELINE [OPTION...]\n"
    "\n"
    "Look at a timeline that `rdna3 run --timing --timing-trace FILE` wrote; rdna3 "
    "viz\n"
    "shows it in a window. Without an option: what ran, when, and what it waited for.\n"
    "\n";

const char trace_timeline_options[] =
    "  --listing            the instructions, with what each of them waited for\n"
    "  --source             the source lines, of a kernel with -g; needs "
    "--code-object\n"
    "  --json               the same as JSON; with --listing the instructions, too\n"
    "  --baseline OLD       beside an earlier run of the kernel: what has changed;\n"
    "                       with --listing instruction by instruction\n"
    "  --dispatch N         of one dispatch (from 0; default: of all)\n"
    "  --chrome OUT.json    for Perfetto or chrome://tracing: a track per wave slot\n"
    "  --waves-only         ... without instructions\n"
    "  --cycles             ... a nanosecond for each cycle: viewers keep nanoseconds, "
    "in\n"
    "                       which instructions of a cycle would have no length\n"
    "  --sqtt OUT           a thread trace (SQTT) as the hardware writes it, for the\n"
    "                       decoders of such: waves of one shader engine in the first\n"
    "                       dispatch (or --dispatch N), instructions of one SIMD\n"
    "  --rgp OUT.rgp        the same of all shader engines in the container that "
    "Radeon\n"
    "                       GPU Profiler reads\n"
    "  --code-object FILE   the code object that the kernel is of, for --rgp, "
    "--source\n"
    "  --simd SE,SA,WGP,SIMD  whose instructions (default: 0,0,0,0; with --chrome "
    "all,\n"
    "                       about 300 bytes for each: large runs want one SIMD)\n";

enum {
    OPT_HELP = 256,
    OPT_LISTING,
    OPT_SOURCE,
    OPT_JSON,
    OPT_BASELINE,
    OPT_DISPATCH,
    OPT_CHROME,
    OPT_WAVES,
    OPT_CYCLES,
    OPT_SQTT,
    OPT_RGP,
    OPT_CODE,
    OPT_SIMD
};

static const struct option long_options[] = {
    {"help", no_argument, NULL, OPT_HELP},
    {"listing", no_argument, NULL, OPT_LISTING},
    {"source", no_argument, NULL, OPT_SOURCE},
    {"json", no_argument, NULL, OPT_JSON},
    {"baseline", required_argument, NULL, OPT_BASELINE},
    {"dispatch", required_argument, NULL, OPT_DISPATCH},
    {"chrome", required_argument, NULL, OPT_CHROME},
    {"waves-only", no_argument, NULL, OPT_WAVES},
    {"cycles", no_argument, NULL, OPT_CYCLES},
    {"sqtt", required_argument, NULL, OPT_SQTT},
    {"rgp", required_argument, NULL, OPT_RGP},
    {"code-object", required_argument, NULL, OPT_CODE},
    {"simd", required_argument, NULL, OPT_SIMD},
    {NULL, 0, NULL, 0},
};

struct options {
    const char *path, *chrome, *sqtt, *rgp, *code, *baseline;
    bool listing, source, json, waves_only, cycles, helped, have_simd;
    struct tl_simd simd;
    uint64_t dispatch; /* UINT64_MAX: all */
};

static int parse(struct options *o, int argc, char **argv)
{
    int option;
    char rest;
    opterr = 0;
    optind = 1;
    while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1)
        switch (option) {
        case OPT_HELP:
        case 'h':
            o->helped = true;
            break;
        case OPT_LISTING:
            o->listing = true;
            break;
        case OPT_SOURCE:
            o->source = true;
            break;
        case OPT_JSON:
            o->json = true;
            break;
        case OPT_BASELINE:
            o->baseline = optarg;
            break;
        case OPT_WAVES:
            o->waves_only = true;
            break;
        case OPT_CYCLES:
            o->cycles = true;
            break;
        case OPT_DISPATCH:
            if (cli_parse_u64(optarg, &o->dispatch) != RD_OK)
                return cli_error(CLI_USAGE, "--dispatch '%s': not a number", optarg);
            break;
        case OPT_SQTT:
            o->sqtt = optarg;
            break;
        case OPT_RGP:
            o->rgp = optarg;
            break;
        case OPT_CODE:
            o->code = optarg;
            break;
        case OPT_SIMD:
            o->have_simd = true;
            if (sscanf(optarg, "%u,%u,%u,%u%c", &o->simd.se, &o->simd.sa, &o->simd.wgp,
                       &o->simd.simd, &rest) != 4)
                return cli_error(CLI_USAGE, "--simd '%s': not SE,SA,WGP,SIMD", optarg);
            break;
        case OPT_CHROME:
            o->chrome = optarg;
            break;
        default:
            return cli_option_error(argc, argv, option, long_options);
        }
    o->path = argv[optind];
    if (optind + 1 < argc)
        return cli_error(CLI_USAGE, "unexpected '%s'", argv[optind + 1]);
    if (o->have_simd && !o->chrome && !o->sqtt && !o->rgp)
        return cli_error(CLI_USAGE, "--simd goes with --chrome, --sqtt or --rgp");
    if (o->code && !o->rgp && !o->source)
        return cli_error(CLI_USAGE, "--code-object goes with --rgp or --source");
    if (o->source && (!o->code || o->json || o->listing || o->chrome || o->sqtt))
        return cli_error(CLI_USAGE,
                         "--source goes with --code-object FILE, and without "
                         "--json, --listing, --chrome and --sqtt");
    if ((o->chrome != NULL) + (o->sqtt != NULL) + (o->rgp != NULL) > 1)
        return cli_error(CLI_USAGE, "one of --chrome, --sqtt and --rgp at a time");
    if (o->json && (o->chrome || o->sqtt || o->rgp))
        return cli_error(CLI_USAGE, "--json goes without --chrome, --sqtt and --rgp");
    if (o->baseline && (o->json || o->source || o->chrome || o->sqtt || o->rgp))
        return cli_error(CLI_USAGE, "--baseline goes alone or with --listing");
    if (o->waves_only && !o->chrome)
        return cli_error(CLI_USAGE, "--waves-only goes with --chrome");
    if (o->cycles && !o->chrome)
        return cli_error(CLI_USAGE, "--cycles goes with --chrome");
    return CLI_OK;
}

/* The machine must have the SIMD. */
static int check_simd(const struct options *o, const struct timeline *tl,
                      size_t dispatch)
{
    if (!tl->n_dispatches)
        return cli_error(CLI_FAILED, "'%s': no dispatch was recorded", o->path);
    const struct tm_machine *m = &tl->dispatch[dispatch].machine;
    if (o->simd.se >= m->ses || o->simd.sa >= m->arrays || o->simd.wgp >= m->wgps ||
        o->simd.simd > 3)
        return cli_error(CLI_USAGE, "--simd: there are %u,%u,%u,4", m->ses, m->arrays,
                         m->wgps);
    return CLI_OK;
}

/* The address at which the kernel's first wave began. */
static uint64_t entry_of(const struct timeline *tl, const struct tl_dispatch *d)
{
    const struct tl_wave *w = d->n_waves ? &tl->wave[d->first_wave] : NULL;
    const struct tl_inst *i = w && w->n_segs ? tl_inst(tl, w, w->seg[0].inst) : NULL;
    return d->machine.code_base + (i ? i->offset : 0);
}

/* The code object of the dispatch's kernel and where it was loaded; data is freed by
 * the caller. */
static int find_code(const struct options *o, const struct timeline *tl,
                     const struct tl_dispatch *d, struct tl_rgp *rgp, void **data)
{
    struct co_object *object;
    struct co_error err;
    size_t bytes;
    if (cli_read_file(o->code, data, &bytes) != RD_OK)
        return cli_error(CLI_FAILED, "cannot read '%s': %s", o->code, strerror(errno));
    if (co_open(*data, bytes, &object, &err) != RD_OK)
        return cli_error(CLI_FAILED, "'%s': %s", o->code, err.text);
    const struct co_info *info = co_info(object);
    const struct co_symbol *kernel = co_symbol_find(object, d->name);
    rgp->code = (const uint8_t *)*data + info->elf_offset;
    rgp->code_bytes = (size_t)info->elf_bytes;
    bool there = kernel && kernel->place == CO_PLACE_IMAGE;
    if (there)
        rgp->base = entry_of(tl, d) - kernel->value;
    co_close(object);
    return there ? CLI_OK
                 : cli_error(CLI_FAILED, "'%s' has no kernel '%s'", o->code, d->name);
}

static int export(const struct options *o, const struct timeline *tl)
{
    size_t dispatch = o->dispatch == UINT64_MAX ? 0 : (size_t)o->dispatch;
    const char *path = o->rgp ? o->rgp : o->sqtt ? o->sqtt : o->chrome;
    struct tl_rgp rgp = {.simd = o->simd};
    struct tl_chrome chrome = {.waves_only = o->waves_only,
                               .cycles = o->cycles,
                               .simd = o->have_simd ? &o->simd : NULL};
    void *code = NULL;
    int status = o->chrome && !o->have_simd ? CLI_OK : check_simd(o, tl, dispatch);
    if (status == CLI_OK && o->code)
        status = find_code(o, tl, &tl->dispatch[dispatch], &rgp, &code);
    struct cli_output file = {0};
    FILE *f = status == CLI_OK ? cli_output_begin(&file, path) : NULL;
    rd_status st = !f        ? RD_E_IO
                   : o->rgp  ? tl_write_rgp(tl, dispatch, &rgp, f)
                   : o->sqtt ? tl_write_sqtt(tl, dispatch, &o->simd, 0, NULL, 0, f)
                             : tl_write_chrome(tl, &chrome, f);
    int why = errno;
    free(code);
    errno = why;
    bool whole = cli_output_end(&file, st == RD_OK || st == RD_E_IO) == RD_OK;
    if (status != CLI_OK)
        return status;
    if (!whole && (st == RD_OK || st == RD_E_IO))
        return cli_error(CLI_FAILED, "cannot write '%s': %s", path, strerror(errno));
    return st == RD_OK ? CLI_OK : cli_error(CLI_FAILED, "%s", rd_status_text(st));
}

/* What source lines cost. */
static int print_source(const struct options *o, const struct timeline *tl)
{
    void *data;
    size_t bytes;
    int status = CLI_OK;
    if (cli_read_file(o->code, &data, &bytes) != RD_OK)
        return cli_error(CLI_FAILED, "cannot read '%s': %s", o->code, strerror(errno));
    for (size_t i = 0; status == CLI_OK && i < tl->n_dispatches; i++) {
        struct hotlines lines;
        struct tl_error err;
        if (o->dispatch != UINT64_MAX && i != o->dispatch)
            continue;
        printf("dispatch %zu: %s\n", i, tl->dispatch[i].name);
        if (!hotlines_make(data, bytes, tl, i, &lines, &err))
            status = cli_error(CLI_FAILED, "'%s': %s", o->code, err.text);
        else if (hotlines_print(&lines, tl, i, stdout) != RD_OK)
            status = cli_error(CLI_FAILED, "out of memory");
        hotlines_free(&lines);
    }
    free(data);
    return status;
}

static int answer(const struct options *o, struct timeline *tl)
{
    rd_status st = RD_OK;
    if (o->dispatch != UINT64_MAX && o->dispatch >= tl->n_dispatches)
        return cli_error(CLI_USAGE, "--dispatch %llu: there are %zu",
                         (unsigned long long)o->dispatch, tl->n_dispatches);
    if (o->chrome || o->sqtt || o->rgp)
        return export(o, tl);
    if (o->source)
        return print_source(o, tl);
    if (o->baseline)
        return timeline_beside(tl, o->baseline, o->dispatch, o->listing);
    if (o->json)
        st = timeline_json(tl, o->dispatch, o->listing);
    else if (!o->listing)
        st = tl_print_summary(tl, stdout);
    for (size_t i = 0; o->listing && !o->json && st == RD_OK && i < tl->n_dispatches;
         i++) {
        if (o->dispatch != UINT64_MAX && i != o->dispatch)
            continue;
        printf("dispatch %zu: %s\n", i, tl->dispatch[i].name);
        st = tl_print_listing(tl, i, stdout);
    }
    return st == RD_OK ? CLI_OK : cli_error(CLI_FAILED, "%s", rd_status_text(st));
}

bool trace_is_timeline(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '-' && tl_is(argv[i]))
            return true;
    return false;
}

bool trace_timeline_takes(const char *option)
{
    for (const struct option *o = long_options; o->name; o++) {
        size_t n = strlen(o->name);
        if (strncmp(option, "--", 2) == 0 && strncmp(option + 2, o->name, n) == 0 &&
            (option[2 + n] == '\0' || option[2 + n] == '='))
            return true;
    }
    return false;
}

int trace_timeline(int argc, char **argv)
{
    struct options o = {.dispatch = UINT64_MAX};
    struct timeline *tl;
    struct tl_error err;
    int status = parse(&o, argc, argv);
    if (status != CLI_OK)
        return status;
    if (o.helped) {
        fputs(help, stdout);
        fputs(trace_timeline_options, stdout);
        return cli_finish(CLI_OK);
    }
    if (tl_read(o.path, &tl, &err) != RD_OK)
        return cli_error(CLI_FAILED, "%s", err.text);
    status = answer(&o, tl);
    tl_free(tl);
    return cli_finish(status);
}
