/* trace.c: `rdna3 trace`: options, and listing what a trace holds.
 *
 * Must not know the format of traces (emulator/trace) nor how questions are answered
 * (trace_*.c).
 * SPDX-License-Identifier: MIT
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "trace_tool.h"

static const char help[] =
    "usage: rdna3 trace FILE [OPTION...]\n"
    "\n"
    "Look at a trace that `rdna3 run --trace FILE` wrote: list events, compare, ask.\n"
    "\n"
    "Which events:\n"
    "  --dispatch N         of one dispatch (from 0)\n"
    "  --workgroup X[,Y[,Z]]  of one workgroup\n"
    "  --wave N             of the waves with this number in their workgroup\n"
    "  --pc RANGE           at offsets in the code, or at addresses\n"
    "  --op TEXT            whose mnemonic contains the text\n"
    "  --reg REG            that read or write a register: v5, s3, s[4:7], vcc, exec, "
    "m0, scc\n"
    "  --addr RANGE         that access memory; lds: and scratch: before the range "
    "name\n"
    "                       another space than global memory\n"
    "  --from N, --count N  from event N on; at most N of those that match\n"
    "A RANGE is A, A-B (both included) or A+N; numbers may be hexadecimal (0x...).\n"
    "\n"
    "Questions:\n"
    "  --summary            count events, waves, instructions, accesses\n"
    "  --who-wrote REG|ADDR the last event that wrote it\n"
    "    --before N         before event N (default: at the end)\n"
    "    --lane N           in this lane\n"
    "  --diff OTHER         the first event that differs from another trace, wave by "
    "wave;\n"
    "                       exit status 1 if there is one\n"
    "    --context N        with N events around it (default 5)\n"
    "  --chrome OUT.json    for chrome://tracing or Perfetto: a track per wave\n"
    "  --json               events, or the answer, as JSON\n"
    "\n"
    "A timeline (rdna3 run --timing-trace FILE; rdna3 viz shows it in a window) has "
    "other\n"
    "options. Without one: what ran, when, and what it waited for.\n"
    "\n";

enum {
    OPT_HELP = 256,
    OPT_DISPATCH,
    OPT_WORKGROUP,
    OPT_WAVE,
    OPT_PC,
    OPT_OP,
    OPT_REG,
    OPT_ADDR,
    OPT_FROM,
    OPT_COUNT,
    OPT_SUMMARY,
    OPT_WHO,
    OPT_BEFORE,
    OPT_LANE,
    OPT_DIFF,
    OPT_CONTEXT,
    OPT_CHROME,
    OPT_JSON,
};

static const struct option long_options[] = {
    {"help", no_argument, NULL, OPT_HELP},
    {"dispatch", required_argument, NULL, OPT_DISPATCH},
    {"workgroup", required_argument, NULL, OPT_WORKGROUP},
    {"wave", required_argument, NULL, OPT_WAVE},
    {"pc", required_argument, NULL, OPT_PC},
    {"op", required_argument, NULL, OPT_OP},
    {"reg", required_argument, NULL, OPT_REG},
    {"addr", required_argument, NULL, OPT_ADDR},
    {"from", required_argument, NULL, OPT_FROM},
    {"count", required_argument, NULL, OPT_COUNT},
    {"summary", no_argument, NULL, OPT_SUMMARY},
    {"who-wrote", required_argument, NULL, OPT_WHO},
    {"before", required_argument, NULL, OPT_BEFORE},
    {"lane", required_argument, NULL, OPT_LANE},
    {"diff", required_argument, NULL, OPT_DIFF},
    {"context", required_argument, NULL, OPT_CONTEXT},
    {"chrome", required_argument, NULL, OPT_CHROME},
    {"json", no_argument, NULL, OPT_JSON},
    {NULL, 0, NULL, 0},
};

struct trace_options_given {
    const char *path, *diff, *who, *chrome;
    bool summary, json, helped;
    struct trace_filter filter;
    struct trace_question question;
    uint64_t lane, context;
};

int trace_input_open(struct trace_input *in, const char *path)
{
    rd_status st = trace_open(path, &in->reader, &in->err);
    return st == RD_OK ? CLI_OK : cli_error(CLI_FAILED, "%s", in->err.text);
}

int trace_input_next(struct trace_input *in, uint64_t *number,
                     const struct emu_event **event)
{
    rd_status st = trace_next(in->reader, number, event);
    if (st == RD_OK)
        return CLI_OK;
    *event = NULL;
    return st == RD_E_NOT_FOUND ? CLI_OK : cli_error(CLI_FAILED, "%s", in->err.text);
}

const struct trace_dispatch *trace_input_dispatch(const struct trace_input *in,
                                                  const struct emu_event *event)
{
    const struct trace_dispatch *d = NULL;
    for (unsigned i = 0; trace_dispatch(in->reader, i); i++)
        if (trace_dispatch(in->reader, i)->number == event->wave->dispatch)
            d = trace_dispatch(in->reader, i);
    return d; /* the reader refuses waves without one */
}

/* ---- options ------------------------------------------------------------------------
 */

static int bad(const char *name, const char *why)
{
    return cli_error(CLI_USAGE, "--%s '%s': %s", name, optarg, why);
}

static int take_number(const char *name, uint64_t max, uint64_t *out)
{
    uint64_t value;
    rd_status st = cli_parse_u64(optarg, &value);
    if (st == RD_OK && value > max)
        st = RD_E_RANGE;
    if (st != RD_OK)
        return bad(name, st == RD_E_RANGE ? "out of range" : "not a number");
    *out = value;
    return CLI_OK;
}

/* X[,Y[,Z]], each from 0; the missing ones are 0. */
static bool parse_workgroup(const char *text, uint32_t out[3])
{
    char copy[64];
    char *rest = NULL;
    unsigned n = 0;
    if (strlen(text) >= sizeof copy)
        return false;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, ",", &rest); word;
         word = strtok_r(NULL, ",", &rest)) {
        uint64_t value;
        if (n == 3 || cli_parse_u64(word, &value) != RD_OK || value > UINT32_MAX)
            return false;
        out[n++] = (uint32_t)value;
    }
    return n != 0;
}

static int take_filter(struct trace_filter *f, int option, const char *name)
{
    uint64_t value = 0;
    int status = CLI_OK;
    switch (option) {
    case OPT_DISPATCH:
        f->by_dispatch = true;
        return take_number(name, UINT64_MAX, &f->dispatch);
    case OPT_WORKGROUP:
        f->by_workgroup = true;
        return parse_workgroup(optarg, f->workgroup) ? CLI_OK
                                                     : bad(name, "expected X[,Y[,Z]]");
    case OPT_WAVE:
        f->by_wave = true;
        status = take_number(name, UINT32_MAX, &value);
        f->wave = (uint32_t)value;
        return status;
    case OPT_PC:
        f->by_pc = true;
        return trace_parse_range(optarg, &f->pc_first, &f->pc_last)
                   ? CLI_OK
                   : bad(name, "not a range");
    case OPT_REG:
        f->by_reg = true;
        return trace_parse_reg(optarg, &f->reg) ? CLI_OK : bad(name, "no register");
    default: /* OPT_ADDR */
        f->by_addr = true;
        return trace_parse_addr(optarg, &f->addr) ? CLI_OK : bad(name, "not a range");
    }
}

static int take_option(struct trace_options_given *o, int option, const char *name)
{
    switch (option) {
    case OPT_OP:
        o->filter.op = optarg;
        return CLI_OK;
    case OPT_FROM:
        return take_number(name, UINT64_MAX, &o->filter.from);
    case OPT_COUNT:
        return take_number(name, UINT64_MAX, &o->filter.count);
    case OPT_SUMMARY:
        o->summary = true;
        return CLI_OK;
    case OPT_WHO:
        o->who = optarg;
        return trace_parse_reg(optarg, &o->question.place) ||
                       trace_parse_addr(optarg, &o->question.place)
                   ? CLI_OK
                   : bad(name, "neither a register nor an address");
    case OPT_BEFORE:
        return take_number(name, UINT64_MAX, &o->question.before);
    case OPT_LANE:
        return take_number(name, 63, &o->lane);
    case OPT_DIFF:
        o->diff = optarg;
        return CLI_OK;
    case OPT_CONTEXT:
        return take_number(name, 1000000, &o->context);
    case OPT_CHROME:
        o->chrome = optarg;
        return CLI_OK;
    case OPT_JSON:
        o->json = true;
        return CLI_OK;
    default:
        return take_filter(&o->filter, option, name);
    }
}

static int parse_options(struct trace_options_given *o, int argc, char **argv)
{
    int option, index = 0;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", long_options, &index)) != -1) {
        if (option == OPT_HELP || option == 'h') {
            o->helped = true;
            return CLI_OK;
        }
        if (option == '?' || option == ':')
            return cli_option_error(argc, argv, option, long_options);
        int status = take_option(o, option, long_options[index].name);
        if (status != CLI_OK)
            return status;
    }
    if (optind == argc)
        return cli_error(CLI_USAGE, "no trace given (see rdna3 trace --help)");
    o->path = argv[optind++];
    if (optind < argc)
        return cli_error(CLI_USAGE, "unexpected '%s'", argv[optind]);
    if (!!o->diff + !!o->who + !!o->chrome + o->summary > 1)
        return cli_error(CLI_USAGE,
                         "only one of --summary, --who-wrote, --diff and --chrome");
    if (o->chrome && o->json)
        return cli_error(CLI_USAGE, "--chrome writes its own JSON: without --json");
    o->question.lane = o->lane > 63 ? -1 : (int)o->lane;
    return CLI_OK;
}

/* ---- listing ------------------------------------------------------------------------
 */

/* j: as elements of its array; NULL: as text. */
static int list(struct trace_input *in, const struct trace_filter *f, struct json *j)
{
    const struct emu_event *e;
    uint64_t number, shown = 0;
    int status;
    while ((status = trace_input_next(in, &number, &e)) == CLI_OK && e) {
        const struct trace_dispatch *d = trace_input_dispatch(in, e);
        if (!trace_filter_match(f, d, number, e))
            continue;
        if (j)
            trace_json_event(j, NULL, d, number, e);
        else
            trace_print_event(d, number, e, "");
        if (++shown == f->count || ferror(stdout))
            break;
    }
    return status;
}

static int list_json(struct trace_input *in, const struct trace_filter *f)
{
    struct json j = json_begin(stdout);
    json_array(&j, "events");
    int status = list(in, f, &j);
    json_close(&j);
    trace_json_dispatches(&j, in->reader);
    json_end(&j);
    return status;
}

static int ask(struct trace_input *in, const struct trace_options_given *o)
{
    if (o->who)
        return trace_who_wrote(in, &o->filter, &o->question, o->json);
    if (o->chrome)
        return trace_chrome(in, &o->filter, o->chrome);
    if (o->summary)
        return trace_summarise(in, &o->filter, o->json);
    return o->json ? list_json(in, &o->filter) : list(in, &o->filter, NULL);
}

/* An option that only timelines have, given with a file that is none. */
static const char *timeline_option(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        size_t n = strcspn(argv[i], "=");
        bool own = false;
        for (const struct option *o = long_options; o->name; o++)
            own |= n > 2 && strlen(o->name) == n - 2 &&
                   strncmp(o->name, argv[i] + 2, n - 2) == 0;
        if (!own && trace_timeline_takes(argv[i]))
            return argv[i];
    }
    return NULL;
}

int cmd_trace(int argc, char **argv)
{
    struct trace_options_given o = {
        .question.before = UINT64_MAX, .lane = UINT64_MAX, .context = 5};
    struct trace_input in = {0};
    if (trace_is_timeline(argc, argv))
        return trace_timeline(argc, argv);
    if (timeline_option(argc, argv))
        return cli_error(CLI_USAGE,
                         "%s needs a timeline (rdna3 run --timing-trace FILE): no file "
                         "given is one",
                         timeline_option(argc, argv));
    int status = parse_options(&o, argc, argv);
    if (status != CLI_OK)
        return status;
    if (o.helped) {
        fputs(help, stdout);
        fputs(trace_timeline_options, stdout);
        return cli_finish(CLI_OK);
    }
    if (o.diff)
        return cli_finish(
            trace_diff(o.path, o.diff, &o.filter, (unsigned)o.context, o.json));
    status = trace_input_open(&in, o.path);
    if (status != CLI_OK)
        return status;
    status = ask(&in, &o);
    trace_reader_close(in.reader);
    return cli_finish(status);
}
