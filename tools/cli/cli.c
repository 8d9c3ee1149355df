/* cli.c: messages, number parsing and file access for the subcommands.
 *
 * Must not know any subcommand. Invariant: nothing here exits the process, and a parse
 * that fails leaves its result untouched.
 * SPDX-License-Identifier: MIT
 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "near.h"

bool cli_color(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) == 1 && !getenv("NO_COLOR") &&
           !(term && strcmp(term, "dumb") == 0);
}

__attribute__((format(printf, 1, 0))) static void say(const char *fmt, va_list ap)
{
    fputs(cli_color() ? "\033[1;31merror:\033[0m " : "error: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
}

int cli_error(int status, const char *fmt, ...)
{
    va_list ap;
    fflush(stdout);
    va_start(ap, fmt);
    say(fmt, ap);
    va_end(ap);
    return status;
}

void cli_mistakes_in(const char *path, bool *told)
{
    if (!*told)
        (void)cli_error(CLI_FAILED, "mistakes in %s:", path);
    *told = true;
}

int cli_mistake(int status, const struct cli_place *at, bool *told, const char *fmt,
                ...)
{
    va_list ap;
    fflush(stdout);
    cli_mistakes_in(at->path, told);
    fprintf(stderr, "%s:%lu:", at->path, at->line);
    if (at->column)
        fprintf(stderr, "%u:", at->column);
    fputc(' ', stderr);
    va_start(ap, fmt);
    say(fmt, ap);
    va_end(ap);
    return status;
}

/* "did you mean" of a long option that there is not, or is more than one. */
static int unknown_option(const char *word, const struct option *options)
{
    struct rd_near near;
    size_t len = strcspn(word, "=");
    const char *first = NULL, *second = NULL;
    if (strncmp(word, "--", 2) != 0)
        return cli_error(CLI_USAGE, "unknown option '%s' (see --help)", word);
    rd_near_begin(&near, word + 2, len - 2);
    for (; options->name; options++) {
        rd_near_try(&near, options->name);
        if (len > 2 && strncmp(options->name, word + 2, len - 2) == 0) {
            second = first ? options->name : NULL;
            first = first ? first : options->name;
        }
    }
    if (second)
        return cli_error(CLI_USAGE, "option '%.*s': --%s or --%s? (see --help)",
                         (int)len, word, first, second);
    if (near.best)
        return cli_error(CLI_USAGE, "unknown option '%.*s'; did you mean --%s?",
                         (int)len, word, near.best);
    return cli_error(CLI_USAGE, "unknown option '%.*s' (see --help)", (int)len, word);
}

int cli_option_error(int argc, char **argv, int getopt_result,
                     const struct option *options)
{
    const char *word = optind > 0 && optind <= argc ? argv[optind - 1] : "";
    if (getopt_result == ':')
        return cli_error(CLI_USAGE, "option '%s' needs a value", word);
    if (optopt != 0 && word[0] == '-' && word[1] == '-')
        return cli_error(CLI_USAGE, "option '%s' takes no value", word);
    if (optopt != 0)
        return cli_error(CLI_USAGE, "unknown option '-%c' (see --help)", optopt);
    return unknown_option(word, options);
}

int cli_finish(int status)
{
    static bool told;
    errno = 0; /* an earlier write may be the one that failed */
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    if (told)
        return CLI_FAILED;
    told = true;
    return cli_error(CLI_FAILED, "cannot write the output%s%s", errno ? ": " : "",
                     errno ? strerror(errno) : "");
}

void cli_status_line(const char *text)
{
    struct winsize window;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1;
    fprintf(stderr, "\r%.*s\x1b[K", known ? window.ws_col - 1 : INT_MAX, text);
}

/* Digits of a number without sign. rest is where they end. */
static rd_status parse_digits(const char *text, uint64_t *out, const char **rest)
{
    unsigned base = 10;
    uint64_t value = 0;
    bool any = false;
    bool over = false;

    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text += 2;
    }
    for (;; text++) {
        unsigned digit = 99;
        if (*text >= '0' && *text <= '9')
            digit = (unsigned)(*text - '0');
        else if (base == 16 && *text >= 'a' && *text <= 'f')
            digit = (unsigned)(*text - 'a') + 10;
        else if (base == 16 && *text >= 'A' && *text <= 'F')
            digit = (unsigned)(*text - 'A') + 10;
        if (digit >= base)
            break;
        any = true;
        over |= value > (UINT64_MAX - digit) / base;
        value = value * base + digit;
    }
    if (!any)
        return RD_E_FORMAT;
    if (over)
        return RD_E_RANGE;
    *rest = text;
    *out = value;
    return RD_OK;
}

rd_status cli_parse_u64(const char *text, uint64_t *out)
{
    const char *rest;
    uint64_t value;
    rd_status st = parse_digits(text, &value, &rest);
    if (st != RD_OK)
        return st;
    if (*rest)
        return RD_E_FORMAT;
    *out = value;
    return RD_OK;
}

rd_status cli_parse_i64(const char *text, int64_t *out)
{
    bool minus = text[0] == '-';
    uint64_t value;
    rd_status st = cli_parse_u64(text + (minus || text[0] == '+'), &value);
    if (st != RD_OK)
        return st;
    if (value > (uint64_t)INT64_MAX + minus)
        return RD_E_RANGE;
    *out = (int64_t)(minus ? 0 - value : value);
    return RD_OK;
}

rd_status cli_parse_size(const char *text, uint64_t *out)
{
    const char *rest;
    uint64_t value;
    unsigned shift = 0;
    rd_status st = parse_digits(text, &value, &rest);
    if (st != RD_OK)
        return st;
    switch (*rest) {
    case 'k':
    case 'K':
        shift = 10;
        break;
    case 'm':
    case 'M':
        shift = 20;
        break;
    case 'g':
    case 'G':
        shift = 30;
        break;
    default:
        break;
    }
    if (rest[shift != 0])
        return RD_E_FORMAT;
    if (value > UINT64_MAX >> shift)
        return RD_E_RANGE;
    *out = value << shift;
    return RD_OK;
}

rd_status cli_parse_dims(const char *text, uint32_t out[3])
{
    uint32_t dims[3] = {1, 1, 1};
    for (unsigned i = 0;; i++) {
        uint64_t value;
        const char *rest;
        rd_status st = parse_digits(text, &value, &rest);
        if (st != RD_OK)
            return st;
        if (value == 0 || value > UINT32_MAX)
            return RD_E_RANGE;
        dims[i] = (uint32_t)value;
        if (!*rest)
            break;
        if (*rest != ',' || i == 2)
            return RD_E_FORMAT;
        text = rest + 1;
    }
    memcpy(out, dims, sizeof dims);
    return RD_OK;
}

rd_status cli_writable(const char *path)
{
    char folder[PATH_MAX];
    struct stat sb;
    if (stat(path, &sb) == 0) {
        if (S_ISDIR(sb.st_mode)) {
            errno = EISDIR;
            return RD_E_IO;
        }
        return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 ? RD_OK : RD_E_IO;
    }
    const char *slash = strrchr(path, '/');
    if (errno != ENOENT || !*path || (slash && !slash[1]))
        return RD_E_IO;
    size_t bytes = !slash ? 0 : slash == path ? 1 : (size_t)(slash - path);
    if (bytes >= sizeof folder) {
        errno = ENAMETOOLONG;
        return RD_E_IO;
    }
    memcpy(folder, slash ? path : ".", slash ? bytes : 1);
    folder[slash ? bytes : 1] = '\0';
    return faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0 ? RD_OK : RD_E_IO;
}

int cli_check_writable(const char *path)
{
    if (!path || strcmp(path, "-") == 0 || cli_writable(path) == RD_OK)
        return CLI_OK;
    return cli_error(CLI_FAILED, "cannot write '%s': %s", path, strerror(errno));
}

double cli_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

void cli_lanes(uint64_t lanes, char *text, size_t size)
{
    size_t n = 0;
    (void)snprintf(text, size, "none");
    for (unsigned l = 0; l < 64 && n + 1 < size; l++) {
        unsigned first = l;
        if (!(lanes >> l & 1))
            continue;
        while (l + 1 < 64 && lanes >> (l + 1) & 1)
            l++;
        const char *comma = n ? ", " : "";
        int k = first == l ? snprintf(text + n, size - n, "%s%u", comma, l)
                           : snprintf(text + n, size - n, "%s%u-%u", comma, first, l);
        n += k > 0 ? (size_t)k : 0;
    }
}
