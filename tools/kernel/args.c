/* args.c: the --arg of kernels: their syntax, and the buffers they ask for.
 *
 * Must not know kernels or metadata. Invariant: an argument that parses has a size that
 * is known (or the file tells it), and every message quotes the argument.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kernel.h"

#define CARD_BYTES (24ull << 30) /* of an RX 7900 XTX; the emulator goes beyond */

#define KINDS                                                                          \
    "buf:SIZE[:zero|:file=PATH|:fill=BYTE|:iota=TYPE|:rand=TYPE,SEED], i8..i64:V, "    \
    "u8..u64:V, f16|f32|f64:V, bytes:HEX, file:PATH"

static int bad(const char *text, const char *why)
{
    return cli_error(CLI_USAGE, "--arg '%s': %s", text, why);
}

static int bad_number(const char *text, const char *what, rd_status st)
{
    return cli_error(CLI_USAGE, "--arg '%s': %s %s", text, what,
                     st == RD_E_RANGE ? "is out of range" : "is not a number");
}

/* A number that the type does not hold: what it holds. */
static int bad_value(const char *text, const struct elem_type *type, rd_status st)
{
    unsigned bits = 8 * type->bytes;
    if (st != RD_E_RANGE)
        return bad_number(text, "the value", st);
    if (type->cls == ELEM_FLOAT)
        return cli_error(CLI_USAGE,
                         "--arg '%s': the value is out of range: %s reaches %s", text,
                         type->name,
                         bits == 16   ? "65504"
                         : bits == 32 ? "3.4028235e38"
                                      : "1.7976931348623157e308");
    if (type->cls == ELEM_SIGNED)
        return cli_error(CLI_USAGE,
                         "--arg '%s': the value is out of range: %s is %lld to %lld",
                         text, type->name, (long long)(INT64_MIN >> (64 - bits)),
                         (long long)(INT64_MAX >> (64 - bits)));
    return cli_error(CLI_USAGE,
                     "--arg '%s': the value is out of range: %s is 0 to %llu", text,
                     type->name, (unsigned long long)(UINT64_MAX >> (64 - bits)));
}

static int parse_rand(const char *text, const char *value, struct kernel_arg *arg)
{
    size_t len = strcspn(value, ",");
    arg->type = elem_find(value, len);
    if (!arg->type)
        return bad(text, "unknown element type");
    if (!value[len])
        return bad(text, "rand needs a type and a seed: rand=f32,1");
    rd_status st = cli_parse_u64(value + len + 1, &arg->seed);
    return st == RD_OK ? CLI_OK : bad_number(text, "the seed", st);
}

/* What follows "buf:SIZE:". */
static int parse_fill(const char *text, const char *spec, struct kernel_arg *arg)
{
    if (strcmp(spec, "zero") == 0) {
        arg->fill = KERNEL_FILL_ZERO;
        return CLI_OK;
    }
    if (strncmp(spec, "file=", 5) == 0) {
        arg->fill = KERNEL_FILL_FILE;
        arg->path = spec + 5;
        return *arg->path ? CLI_OK : bad(text, "no path");
    }
    if (strncmp(spec, "fill=", 5) == 0) {
        uint64_t byte = 0;
        rd_status st = cli_parse_u64(spec + 5, &byte);
        if (st == RD_OK && byte > 255)
            st = RD_E_RANGE;
        arg->fill = KERNEL_FILL_BYTE;
        arg->byte = (uint8_t)byte;
        return st == RD_OK ? CLI_OK : bad_number(text, "the fill byte", st);
    }
    if (strncmp(spec, "iota=", 5) == 0) {
        arg->fill = KERNEL_FILL_IOTA;
        arg->type = elem_find(spec + 5, strlen(spec + 5));
        return arg->type ? CLI_OK : bad(text, "unknown element type");
    }
    if (strncmp(spec, "rand=", 5) == 0) {
        arg->fill = KERNEL_FILL_RAND;
        return parse_rand(text, spec + 5, arg);
    }
    return bad(text,
               "contents are zero, file=PATH, fill=BYTE, iota=TYPE or rand=TYPE,SEED");
}

static int parse_buffer(const char *text, const char *spec, struct kernel_arg *arg)
{
    char number[32];
    size_t len = strcspn(spec, ":");
    if (len >= sizeof number)
        return bad(text, "the size is not a number");
    memcpy(number, spec, len);
    number[len] = '\0';
    arg->is_buffer = true;
    rd_status st = cli_parse_size(number, &arg->size);
    if (st == RD_OK && arg->size > 1ull << 40)
        st = RD_E_RANGE;
    if (st != RD_OK)
        return bad_number(text, "the size", st);
    return spec[len] ? parse_fill(text, spec + len + 1, arg) : CLI_OK;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int parse_bytes(const char *text, const char *hex, struct kernel_arg *arg)
{
    size_t len = strlen(hex);
    if (len == 0 || len % 2)
        return bad(text, "bytes needs an even number of hexadecimal digits");
    if (len / 2 > 65536)
        return bad(text, "more than 65536 bytes");
    uint8_t *bytes = malloc(len / 2);
    if (!bytes)
        return cli_error(CLI_FAILED, "out of memory");
    for (size_t i = 0; i < len; i += 2) {
        int high = hex_digit(hex[i]);
        int low = hex_digit(hex[i + 1]);
        if (high < 0 || low < 0) {
            free(bytes);
            return bad(text, "bytes needs an even number of hexadecimal digits");
        }
        bytes[i / 2] = (uint8_t)(high << 4 | low);
    }
    arg->bytes = bytes;
    arg->n_bytes = (uint32_t)(len / 2);
    return CLI_OK;
}

int kernel_parse_arg(const char *text, struct kernel_arg *arg)
{
    memset(arg, 0, sizeof *arg);
    arg->text = text;
    size_t len = strcspn(text, ":");
    if (!text[len])
        return bad(text, "expected KIND:VALUE, with KIND:VALUE one of " KINDS);
    const char *value = text + len + 1;

    if (len == 3 && memcmp(text, "buf", 3) == 0)
        return parse_buffer(text, value, arg);
    if (len == 5 && memcmp(text, "bytes", 5) == 0)
        return parse_bytes(text, value, arg);
    if (len == 4 && memcmp(text, "file", 4) == 0) {
        arg->is_buffer = arg->size_of_file = true;
        arg->fill = KERNEL_FILL_FILE;
        arg->path = value;
        return *value ? CLI_OK : bad(text, "no path");
    }
    const struct elem_type *type = elem_find(text, len);
    if (!type)
        return bad(text, "unknown kind; known are " KINDS);
    arg->is_float = type->cls == ELEM_FLOAT;
    arg->n_bytes = type->bytes;
    rd_status st = elem_parse(type, value, &arg->value);
    return st == RD_OK ? CLI_OK : bad_value(text, type, st);
}

/* Read the file of a buffer argument; its size may be the buffer's. NULL: told why. */
static void *load_file(struct kernel_arg *arg, size_t *bytes)
{
    void *data;
    rd_status st = cli_read_file(arg->path, &data, bytes);
    if (st != RD_OK) {
        (void)cli_error(CLI_FAILED, "cannot read '%s': %s", arg->path,
                        st == RD_E_IO ? strerror(errno) : rd_status_text(st));
        return NULL;
    }
    if (arg->size_of_file)
        arg->size = *bytes;
    if (*bytes <= arg->size)
        return data;
    free(data);
    (void)cli_error(CLI_FAILED,
                    "--arg '%s': the file has %zu bytes, the buffer only %llu",
                    arg->text, *bytes, (unsigned long long)arg->size);
    return NULL;
}

/* "argument 2", and what the kernel calls it if its metadata says so. */
static void name_argument(const struct co_kernel_meta *meta, unsigned i, char *name,
                          size_t size)
{
    unsigned next = 0;
    (void)snprintf(name, size, "argument %u", i);
    for (uint32_t k = 0; meta && k < meta->n_args; k++) {
        const struct co_arg *arg = &meta->args[k];
        if (co_value_is_hidden((enum co_value_kind)arg->kind) || next++ != i)
            continue;
        if (arg->name)
            (void)snprintf(name, size, "argument %u (%s)", i, arg->name);
        return;
    }
}

static int make_buffer(const struct kernel_options *o, struct kernel_arg *arg,
                       unsigned i, kernel_alloc_fn *alloc_fn, void *ctx)
{
    void *data = NULL;
    size_t bytes = 0;
    if (arg->fill == KERNEL_FILL_FILE) {
        data = load_file(arg, &bytes);
        if (!data)
            return CLI_FAILED;
    }
    char name[40];
    name_argument(o->meta, i, name, sizeof name);
    int status = alloc_fn(ctx, arg->size, name, &arg->memory);
    if (status != CLI_OK) {
        free(data);
        return status;
    }
    switch (arg->fill) {
    case KERNEL_FILL_NONE:
    case KERNEL_FILL_ZERO:
        break;
    case KERNEL_FILL_FILE:
        if (data)
            memcpy(arg->memory, data, bytes);
        break;
    case KERNEL_FILL_BYTE:
        memset(arg->memory, arg->byte, arg->size);
        break;
    case KERNEL_FILL_IOTA:
        elem_iota(arg->type, arg->memory, arg->size);
        break;
    case KERNEL_FILL_RAND:
        elem_rand(arg->type, arg->seed, arg->memory, arg->size);
        break;
    }
    free(data);
    return CLI_OK;
}

int kernel_make_buffers(struct kernel_options *o, kernel_alloc_fn *alloc_fn, void *ctx,
                        struct la_arg *list)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < o->n_args; i++) {
        struct kernel_arg *arg = &o->args[i];
        if (arg->same) {
            arg->size = arg->same->size;
            arg->memory = arg->same->memory;
            arg->value = (uintptr_t)arg->memory;
            arg->n_bytes = 8;
        } else if (arg->is_buffer) {
            int status = make_buffer(o, arg, i, alloc_fn, ctx);
            if (status != CLI_OK)
                return status;
            if (sum <= CARD_BYTES && arg->size > CARD_BYTES - sum)
                fprintf(stderr,
                        "warning: the card has 24 GiB; with argument %u ('%s') the "
                        "buffers take %.1f\n",
                        i, arg->text, (double)(sum + arg->size) / (1u << 30));
            sum += arg->size;
            arg->value = (uintptr_t)arg->memory;
            arg->n_bytes = 8;
        }
        list[i] = (struct la_arg){
            .cls = arg->is_buffer  ? LA_POINTER
                   : arg->bytes    ? LA_BYTES
                   : arg->is_float ? LA_FLOAT
                                   : LA_INTEGER,
            .value = arg->bytes ? arg->bytes : &arg->value,
            .bytes = arg->n_bytes,
            .text = arg->text,
        };
    }
    return CLI_OK;
}

int kernel_options_begin(struct kernel_options *o, int argc)
{
    /* No option can be given more often than there are words. */
    o->args = calloc((size_t)argc, sizeof *o->args);
    return o->args ? CLI_OK : cli_error(CLI_FAILED, "out of memory");
}

void kernel_options_end(struct kernel_options *o)
{
    for (unsigned i = 0; i < o->n_args; i++)
        free(o->args[i].bytes);
    free(o->args);
    o->args = NULL;
    o->n_args = 0;
}
