/* output.c: what `rdna3 run` hands back: --out files, --print elements, --stats.
 *
 * Must not know how the kernel ran. Invariant: reads buffers, never changes them.
 * SPDX-License-Identifier: MIT
 */
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fidelity.h"
#include "isa.h"
#include "json.h"

#define TOP_OPCODES 16

int run_parse_out(char *text, struct run_output *out)
{
    uint64_t index = 0;
    char *equals = strchr(text, '=');
    if (!equals || !equals[1])
        return cli_error(CLI_USAGE, "--out '%s': expected N=PATH", text);
    *equals = '\0';
    rd_status st = cli_parse_u64(text, &index);
    *equals = '=';
    if (st != RD_OK || index > UINT32_MAX)
        return cli_error(CLI_USAGE, "--out '%s': N is not an argument number", text);
    *out = (struct run_output){.arg = (unsigned)index, .path = equals + 1};
    return CLI_OK;
}

int run_parse_print(const char *text, struct run_output *out)
{
    char number[16];
    uint64_t index = 0;
    size_t len = strcspn(text, ":");
    if (!text[len] || len >= sizeof number)
        return cli_error(CLI_USAGE, "--print '%s': expected N:TYPE[:COUNT]", text);
    memcpy(number, text, len);
    number[len] = '\0';
    if (cli_parse_u64(number, &index) != RD_OK || index > UINT32_MAX)
        return cli_error(CLI_USAGE, "--print '%s': N is not an argument number", text);

    const char *type = text + len + 1;
    size_t type_len = strcspn(type, ":");
    *out = (struct run_output){
        .arg = (unsigned)index, .type = elem_find(type, type_len), .count = UINT64_MAX};
    if (!out->type)
        return cli_error(CLI_USAGE,
                         "--print '%s': the type is one of i8..i64, u8..u64, f16, f32, "
                         "f64",
                         text);
    if (type[type_len] && cli_parse_u64(type + type_len + 1, &out->count) != RD_OK)
        return cli_error(CLI_USAGE, "--print '%s': the count is not a number", text);
    return CLI_OK;
}

static int check_output(const struct run_options *o, const char *option, unsigned arg)
{
    if (arg >= o->k.n_args)
        return cli_error(CLI_USAGE, "%s %u: there are %u arguments (counted from 0)",
                         option, arg, o->k.n_args);
    if (!o->k.args[arg].is_buffer)
        return cli_error(CLI_USAGE, "%s %u: argument %u ('%s') is not a buffer", option,
                         arg, arg, o->k.args[arg].text);
    return CLI_OK;
}

/* Before a run that may take hours. */
static int check_files(const struct run_options *o)
{
    const struct checks_options *c = &o->checks.options;
    const char *const path[] = {o->trace_path,
                                o->timing.json_path,
                                o->timing.trace_path,
                                o->timing.report_path,
                                c->json,
                                c->xml,
                                c->sarif,
                                c->gen_suppressions};
    int status = CLI_OK;
    for (unsigned i = 0; status == CLI_OK && i < sizeof path / sizeof path[0]; i++)
        status = cli_check_writable(path[i]);
    for (unsigned i = 0; status == CLI_OK && i < o->n_outs; i++)
        status = cli_check_writable(o->outs[i].path);
    return status == CLI_OK ? run_timing_baseline(&o->timing) : status;
}

int run_check_outputs(const struct run_options *o)
{
    int status = CLI_OK;
    for (unsigned i = 0; i < o->n_outs && status == CLI_OK; i++)
        status = check_output(o, "--out", o->outs[i].arg);
    for (unsigned i = 0; i < o->n_prints && status == CLI_OK; i++) {
        const struct run_output *p = &o->prints[i];
        status = check_output(o, "--print", p->arg);
        if (status != CLI_OK)
            break;
        const struct kernel_arg *arg = &o->k.args[p->arg];
        if (!arg->size_of_file && p->count != UINT64_MAX &&
            p->count > arg->size / p->type->bytes)
            status = cli_error(
                CLI_USAGE,
                "--print %u: argument %u has %" PRIu64 " elements of %s, "
                "not %" PRIu64,
                p->arg, p->arg, arg->size / p->type->bytes, p->type->name, p->count);
    }
    return status == CLI_OK ? check_files(o) : status;
}

int run_write_outputs(const struct run_options *o)
{
    for (unsigned i = 0; i < o->n_outs; i++) {
        const struct kernel_arg *arg = &o->k.args[o->outs[i].arg];
        const char *path = o->outs[i].path;
        if (cli_write_file(path, arg->memory, arg->size) != RD_OK)
            return cli_error(CLI_FAILED, "cannot write '%s': %s", path,
                             strerror(errno));
    }
    return CLI_OK;
}

int run_print_elements(const struct run_options *o)
{
    for (unsigned i = 0; i < o->n_prints; i++) {
        const struct run_output *p = &o->prints[i];
        const struct kernel_arg *arg = &o->k.args[p->arg];
        uint64_t count = arg->size / p->type->bytes;
        count = p->count < count ? p->count : count;
        printf("argument %u, %" PRIu64 " x %s:\n", p->arg, count, p->type->name);
        for (uint64_t k = 0; k < count; k++) {
            if (k % 8 == 0)
                printf("%s%7" PRIu64 ":", k ? "\n" : "", k);
            putchar(' ');
            elem_print(p->type, (const char *)arg->memory + k * p->type->bytes, stdout);
        }
        if (count)
            putchar('\n');
    }
    return cli_finish(CLI_OK);
}

struct opcode_count {
    unsigned op;
    uint64_t count;
};

struct opcode_counts {
    struct opcode_count *rows;
    size_t used, room;
};

static void take_count(void *ctx, unsigned op, uint64_t count)
{
    struct opcode_counts *all = ctx;
    if (count && all->used < all->room)
        all->rows[all->used++] = (struct opcode_count){op, count};
}

/* Most frequent first; equal ones in table order. */
static int by_count(const void *a, const void *b)
{
    const struct opcode_count *x = a;
    const struct opcode_count *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x->op < y->op ? -1 : x->op > y->op;
}

typedef void each_fn(const struct emu *emu,
                     void (*f)(void *ctx, unsigned op, uint64_t count), void *ctx);

/* Every opcode that each tells of, most frequent first; false: out of memory. */
static bool count_opcodes(const struct emu *emu, each_fn *each,
                          struct opcode_counts *all)
{
    *all = (struct opcode_counts){.room = isa_op_count()};
    all->rows = calloc(all->room, sizeof *all->rows);
    if (!all->rows)
        return false;
    each(emu, take_count, all);
    qsort(all->rows, all->used, sizeof *all->rows, by_count);
    return true;
}

/* How much of what ran is how near to hardware. */
struct fidelity_counts {
    uint64_t executed[EMU_FIDELITY_KINDS];
    unsigned opcodes[EMU_FIDELITY_KINDS];
};

static struct fidelity_counts count_fidelity(const struct emu *emu,
                                             const struct opcode_counts *all)
{
    struct fidelity_counts counts = {0};
    for (size_t i = 0; i < all->used; i++) {
        struct emu_fidelity f = emu_fidelity(emu, all->rows[i].op);
        counts.executed[f.kind] += all->rows[i].count;
        counts.opcodes[f.kind]++;
    }
    return counts;
}

static void print_opcodes(const struct emu *emu, const struct opcode_counts *all)
{
    uint64_t total = 0;
    for (size_t i = 0; i < all->used; i++)
        total += all->rows[i].count;
    printf("\n%-28s %14s %7s\n", "opcode", "executed", "share");
    for (size_t i = 0; i < all->used && i < TOP_OPCODES; i++)
        printf("%-28s %14" PRIu64 " %6.2f%%\n", isa_op_name(all->rows[i].op),
               all->rows[i].count, 100.0 * (double)all->rows[i].count / (double)total);
    if (all->used > TOP_OPCODES)
        printf("(%zu more)\n", all->used - TOP_OPCODES);
    struct fidelity_counts f = count_fidelity(emu, all);
    printf("\n%-28s %14s %7s\n", "fidelity", "executed", "opcodes");
    for (unsigned k = 0; k < EMU_FIDELITY_KINDS; k++)
        if (f.opcodes[k])
            printf("%-28s %14" PRIu64 " %7u\n", emu_fidelity_name(k), f.executed[k],
                   f.opcodes[k]);
}

static void json_opcodes(struct json *j, const struct emu *emu,
                         const struct opcode_counts *all)
{
    json_array(j, "opcodes");
    for (size_t i = 0; i < all->used; i++) {
        json_object(j, NULL);
        json_text(j, "name", isa_op_name(all->rows[i].op));
        json_u64(j, "executed", all->rows[i].count);
        json_close(j);
    }
    json_close(j);
    struct fidelity_counts f = count_fidelity(emu, all);
    json_array(j, "fidelity");
    for (unsigned k = 0; k < EMU_FIDELITY_KINDS; k++) {
        if (!f.opcodes[k])
            continue;
        json_object(j, NULL);
        json_text(j, "kind", emu_fidelity_name(k));
        json_u64(j, "executed", f.executed[k]);
        json_u64(j, "opcodes", f.opcodes[k]);
        json_close(j);
    }
    json_close(j);
}

/* What native code there is, and what it left to handlers. Nothing if nothing was hot.
 */
static void print_native(const struct emu *emu)
{
    struct emu_native_stats n;
    struct opcode_counts left;
    emu_native_stats(emu, &n);
    if (!n.traces || !count_opcodes(emu, emu_native_handled, &left))
        return;
    printf("\nnative code    %14" PRIu64 "  bytes for %" PRIu64
           " instructions in %" PRIu64 " blocks, %.0f us to make\n",
           n.bytes, n.instructions, n.blocks, n.compile_us);
    if (left.used)
        printf("%-28s %14s\n", "left to handlers", "executed");
    for (size_t i = 0; i < left.used && i < TOP_OPCODES; i++)
        printf("%-28s %14" PRIu64 "\n", isa_op_name(left.rows[i].op),
               left.rows[i].count);
    free(left.rows);
}

static void json_native(struct json *j, const struct emu *emu)
{
    struct emu_native_stats n;
    struct opcode_counts left;
    emu_native_stats(emu, &n);
    if (!count_opcodes(emu, emu_native_handled, &left))
        return;
    json_object(j, "native");
    json_u64(j, "blocks", n.blocks);
    json_u64(j, "instructions", n.instructions);
    json_u64(j, "bytes", n.bytes);
    json_real(j, "compile_us", n.compile_us);
    json_array(j, "handlers");
    for (size_t i = 0; i < left.used; i++) {
        json_object(j, NULL);
        json_text(j, "name", isa_op_name(left.rows[i].op));
        json_u64(j, "executed", left.rows[i].count);
        json_close(j);
    }
    json_close(j);
    json_close(j);
    free(left.rows);
}

static void json_stats(const struct emu *emu, const struct emu_stats *stats,
                       const struct opcode_counts *all, double seconds)
{
    struct json j = json_begin(stdout);
    json_u64(&j, "dispatches", stats->dispatches);
    json_u64(&j, "workgroups", stats->workgroups);
    json_u64(&j, "waves", stats->waves);
    json_u64(&j, "instructions", stats->instructions);
    json_real(&j, "seconds", seconds);
    json_text(&j, "simd", emu_simd_name(emu_simd_level(emu)));
    json_opcodes(&j, emu, all);
    json_native(&j, emu);
    json_end(&j);
}

static void print_stats(const struct emu *emu, const struct emu_stats *stats,
                        const struct opcode_counts *all, double seconds)
{
    printf("dispatches     %14" PRIu64 "\n", stats->dispatches);
    printf("workgroups     %14" PRIu64 "\n", stats->workgroups);
    printf("waves          %14" PRIu64 "\n", stats->waves);
    printf("instructions   %14" PRIu64 "  executed by waves\n", stats->instructions);
    printf("time           %14.6f  s, %.2f M wave-instructions/s (%s, counting)\n",
           seconds, (double)stats->instructions / seconds / 1e6,
           emu_simd_name(emu_simd_level(emu)));
    print_opcodes(emu, all);
    print_native(emu);
}

void run_print_stats(bool json, const struct emu *emu, const struct emu_stats *stats,
                     double seconds)
{
    struct opcode_counts all;
    if (!count_opcodes(emu, emu_count_each, &all))
        return;
    (json ? json_stats : print_stats)(emu, stats, &all, seconds);
    free(all.rows);
}
