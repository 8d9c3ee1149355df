/* options.c: options that say which kernel runs, with what, in which shape.
 *
 * Must not know what is done with it. SPDX-License-Identifier: MIT
 */
#include <getopt.h>
#include <string.h>

#include "kernel.h"

static int bad_value(const char *name, rd_status st)
{
    return cli_error(CLI_USAGE, "--%s '%s': %s", name, optarg,
                     st == RD_E_RANGE ? "out of range" : "not a number");
}

/* What the dispatch packet and a workgroup have room for. */
static const char *range_of(int option)
{
    return option == KERNEL_OPT_GRID    ? ": 1 to 4294967295 workgroups in a dimension"
           : option == KERNEL_OPT_BLOCK ? ": 1 to 1024 work-items"
           : option == KERNEL_OPT_STACK ? ": a multiple of 4, at most 16M"
           : option == KERNEL_OPT_DYNAMIC_LDS ? ": a workgroup has 65536 bytes of LDS"
                                              : "";
}

static int parse_bounded(const char *name, uint64_t max, uint64_t *out)
{
    rd_status st = cli_parse_u64(optarg, out);
    if (st == RD_OK && *out > max)
        st = RD_E_RANGE;
    return st == RD_OK ? CLI_OK : bad_value(name, st);
}

static int parse_dots(struct kernel_options *o)
{
    bool exact = strcmp(optarg, "exact") == 0;
    if (!exact && strcmp(optarg, "silicon") != 0)
        return cli_error(CLI_USAGE, "--dots '%s': silicon or exact", optarg);
    o->config.exact_dots = exact;
    return CLI_OK;
}

static int parse_simd(struct kernel_options *o)
{
    static const char *const names[] = {"auto", "generic", "avx2", "avx512"};
    for (unsigned i = 0; i < 4; i++) {
        if (strcmp(optarg, names[i]) == 0) {
            o->config.simd = (enum emu_simd)i;
            return CLI_OK;
        }
    }
    return cli_error(CLI_USAGE, "--simd '%s': auto, generic, avx2 or avx512", optarg);
}

/* Options with a numeric value. */
static int take_number(struct kernel_options *o, int option, const char *name)
{
    uint64_t value = 0;
    int status = CLI_OK;
    rd_status st = RD_OK;
    switch (option) {
    case KERNEL_OPT_GRID:
        st = cli_parse_dims(optarg, o->shape.groups);
        break;
    case KERNEL_OPT_BLOCK:
        o->have_block = true;
        st = cli_parse_dims(optarg, o->shape.block);
        break;
    case KERNEL_OPT_ENTRY:
        status = parse_bounded(name, UINT64_MAX, &o->entry);
        break;
    case KERNEL_OPT_WAVE:
        status = parse_bounded(name, 64, &value);
        if (status == CLI_OK && value != 32 && value != 64)
            status = cli_error(CLI_USAGE, "--wave '%s': 32 or 64", optarg);
        o->wave = (unsigned)value;
        break;
    case KERNEL_OPT_DYNAMIC_LDS:
        st = cli_parse_size(optarg, &value);
        st = st == RD_OK && value > 65536 ? RD_E_RANGE : st;
        o->shape.dynamic_lds_bytes = (uint32_t)value;
        break;
    case KERNEL_OPT_STACK:
        st = cli_parse_size(optarg, &value);
        st = st == RD_OK && (value > KERNEL_MOST_STACK || value % 4) ? RD_E_RANGE : st;
        o->shape.stack_bytes = (uint32_t)value;
        break;
    default: /* KERNEL_OPT_SEED */
        status = parse_bounded(name, UINT64_MAX, &o->config.seed);
        break;
    }
    if (st == RD_E_RANGE)
        return cli_error(CLI_USAGE, "--%s '%s': out of range%s", name, optarg,
                         range_of(option));
    if (st != RD_OK && (option == KERNEL_OPT_GRID || option == KERNEL_OPT_BLOCK))
        return cli_error(CLI_USAGE, "--%s '%s': not X, X,Y or X,Y,Z, whole numbers",
                         name, optarg);
    return st != RD_OK ? bad_value(name, st) : status;
}

int kernel_option(struct kernel_options *o, int option, const char *name)
{
    switch (option) {
    case KERNEL_OPT_KERNEL:
        o->kernel = optarg;
        return CLI_OK;
    case KERNEL_OPT_RAW:
        o->raw_path = optarg;
        return CLI_OK;
    case KERNEL_OPT_KD:
        o->kd_path = optarg;
        return CLI_OK;
    case KERNEL_OPT_ARG:
        return kernel_parse_arg(optarg, &o->args[o->n_args++]);
    case KERNEL_OPT_SIMD:
        return parse_simd(o);
    case KERNEL_OPT_DOTS:
        return parse_dots(o);
    default:
        return take_number(o, option, name);
    }
}

int kernel_take_object(struct kernel_options *o, int argc, char **argv)
{
    if (optind < argc)
        o->object_path = argv[optind++];
    if (optind < argc)
        return cli_error(CLI_USAGE, "unexpected '%s'", argv[optind]);
    if (!o->object_path && !o->raw_path)
        return cli_error(CLI_USAGE, "no code object given (see rdna3 %s --help)",
                         argv[0]);
    if (o->object_path && o->raw_path)
        return cli_error(CLI_USAGE, "both a code object ('%s') and --raw given",
                         o->object_path);
    if (o->object_path && (o->kd_path || o->entry))
        return cli_error(CLI_USAGE, "--%s goes with --raw",
                         o->kd_path ? "kd" : "entry-offset");
    if (o->raw_path && o->kernel)
        return cli_error(CLI_USAGE, "--kernel goes with a code object, not with --raw");
    return CLI_OK;
}
