/* asm.c: speed of assembling and disassembling, side by side with llvm-mc-19.
 *
 * The inputs are the project's 200,000-line benchmark files where they are at hand,
 * else the bundled kernels, repeated. The peer is a process of its own; its start-up,
 * measured with an empty file, is not counted. Must not know how results are shown.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asm.h"
#include "bench.h"
#include "cli.h"
#include "isa.h"
#include "bench_kernels.h"

#define RUN_SECONDS 0.5
#define RUNS        3
#define LINES       200000u

extern char **environ;

struct text {
    char *data;
    size_t bytes, cap;
};

static rd_status add(struct text *t, const char *data, size_t n)
{
    if (n > t->cap - t->bytes) {
        size_t cap = t->cap ? t->cap * 2 : 1u << 20;
        while (cap - t->bytes < n)
            cap *= 2;
        char *moved = realloc(t->data, cap);
        if (!moved)
            return RD_E_NOMEM;
        t->data = moved;
        t->cap = cap;
    }
    memcpy(t->data + t->bytes, data, n);
    t->bytes += n;
    return RD_OK;
}

/* ---- inputs ---- */

/* The text of a kernel's instructions, one a line. */
static rd_status kernel_text(const struct bench_kernel *k, struct text *out,
                             size_t *lines)
{
    rd_status st = RD_OK;
    for (size_t at = 0; at < k->code_bytes && st == RD_OK && *lines < LINES;) {
        struct isa_inst inst;
        char line[ISA_MAX_TEXT + 1];
        if (isa_decode((const uint8_t *)k->code + at, k->code_bytes - at, 32, &inst) !=
            RD_OK)
            break;
        size_t n = isa_print(&inst, 32, 0, line);
        line[n++] = '\n';
        st = add(out, line, n);
        at += inst.bytes;
        ++*lines;
    }
    return st;
}

static rd_status bundled_text(struct text *out)
{
    const struct bench_kernel *const kernels[] = {
        &bench_valu, &bench_lds, &bench_stream, &bench_matmul, &bench_mixed};
    size_t lines = 0;
    rd_status st = RD_OK;
    while (lines < LINES && st == RD_OK) {
        size_t before = lines;
        for (size_t i = 0; i < sizeof kernels / sizeof kernels[0] && st == RD_OK; i++)
            st = kernel_text(kernels[i], out, &lines);
        if (lines == before)
            return RD_E_FORMAT;
    }
    return st;
}

/* A benchmark file; where it is not there, the bundled kernels if allowed. */
static rd_status input(const char *name, bool bundled, struct text *out)
{
    char path[1024];
    void *data;
    const char *folder = getenv("RDNA3_SHARED");
    snprintf(path, sizeof path, "%s/vectors/%s", folder ? folder : RDNA3_SHARED, name);
    if (cli_read_file(path, &data, &out->bytes) == RD_OK) {
        out->data = data;
        return RD_OK;
    }
    return bundled ? bundled_text(out) : RD_E_UNSUPPORTED;
}

static size_t count_lines(const struct text *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->bytes; i++)
        n += t->data[i] == '\n';
    return n;
}

/* Code of the input, as assembled. */
static rd_status input_code(const char *name, bool bundled, struct text *out)
{
    struct text source = {0};
    struct asm_line *line = NULL;
    rd_status st = input(name, bundled, &source);
    if (st == RD_OK)
        st = asm_line_open(32, &line);
    for (size_t at = 0; at < source.bytes && st == RD_OK;) {
        const char *p = source.data + at;
        const char *nl = memchr(p, '\n', source.bytes - at);
        size_t n = nl ? (size_t)(nl - p) : source.bytes - at;
        uint8_t code[20];
        unsigned bytes;
        struct isa_fixup fixup;
        struct isa_asm_error err;
        st = asm_line_one(line, p, n, code, &bytes, &fixup, &err);
        if (st == RD_OK)
            st = add(out, (const char *)code, bytes);
        at += n + 1;
    }
    asm_line_close(line);
    free(source.data);
    return st;
}

/* ---- this program ---- */

static rd_status assemble_rate(const char *name, bool bundled, double *value)
{
    struct text source = {0};
    struct asm_options options = {.name = name, .relocatable = true};
    double best = 0;
    rd_status st = input(name, bundled, &source);
    double lines = (double)count_lines(&source);
    for (int run = 0; run < RUNS && st == RD_OK; run++) {
        double start = cli_now();
        double seconds = 0;
        double done = 0;
        for (; seconds < RUN_SECONDS && st == RD_OK; seconds = cli_now() - start) {
            struct asm_result result;
            st = asm_assemble(source.data, source.bytes, &options, &result);
            free(result.data);
            done += lines;
        }
        if (st == RD_OK && done / seconds > best)
            best = done / seconds;
    }
    free(source.data);
    if (st == RD_OK)
        *value = best;
    return st;
}

/* Decode and print everything once. Returns the number of instructions. */
static size_t disassemble_all(const struct text *code, char *out)
{
    size_t n = 0;
    for (size_t at = 0; at < code->bytes; n++) {
        struct isa_inst inst;
        if (isa_decode(code->data + at, code->bytes - at, 32, &inst) != RD_OK)
            return 0;
        out += isa_print(&inst, 32, 0, out);
        *out++ = '\n';
        at += inst.bytes;
    }
    return n;
}

static rd_status disassemble_rate(const char *name, bool bundled, double *value)
{
    struct text code = {0};
    double best = 0;
    rd_status st = input_code(name, bundled, &code);
    char *out = st == RD_OK ? malloc((code.bytes / 4 + 1) * (ISA_MAX_TEXT + 1)) : NULL;
    if (st == RD_OK && !out)
        st = RD_E_NOMEM;
    for (int run = 0; run < RUNS && st == RD_OK; run++) {
        double start = cli_now();
        double seconds = 0;
        double done = 0;
        for (; seconds < RUN_SECONDS && st == RD_OK; seconds = cli_now() - start) {
            size_t n = disassemble_all(&code, out);
            done += (double)n;
            if (n == 0)
                st = RD_E_ENCODING;
        }
        if (st == RD_OK && done / seconds > best)
            best = done / seconds;
    }
    free(out);
    free(code.data);
    if (st == RD_OK)
        *value = best;
    return st;
}

/* ---- the peer ---- */

/* Seconds of one llvm-mc-19; RD_E_UNSUPPORTED if it is not installed or fails. */
static rd_status run_peer(const char *mode, const char *path, double *seconds)
{
    const char *const argv[] = {"llvm-mc-19",
                                "-triple=amdgcn-amd-amdhsa",
                                "-mcpu=gfx1100",
                                mode,
                                "-o",
                                "/dev/null",
                                path,
                                NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return RD_E_NOMEM;
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    double start = cli_now();
    int failed =
        posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0)
        return RD_E_UNSUPPORTED;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return RD_E_IO;
    *seconds = cli_now() - start;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? RD_OK : RD_E_UNSUPPORTED;
}

static rd_status best_peer(const char *mode, const char *path, double *seconds)
{
    double best = 1e9;
    for (int run = 0; run < RUNS; run++) {
        double s;
        rd_status st = run_peer(mode, path, &s);
        if (st != RD_OK)
            return st;
        if (s < best)
            best = s;
    }
    *seconds = best;
    return RD_OK;
}

/* Lines per second of llvm-mc on a text. */
static rd_status peer_rate(const char *mode, const struct text *t, double *value)
{
    char path[] = "/tmp/rdna3-bench-XXXXXX";
    double all, empty;
    int fd = mkstemp(path);
    if (fd < 0)
        return RD_E_IO;
    rd_status st = best_peer(mode, path, &empty);
    if (st == RD_OK && write(fd, t->data, t->bytes) != (ssize_t)t->bytes)
        st = RD_E_IO;
    if (st == RD_OK)
        st = best_peer(mode, path, &all);
    close(fd);
    unlink(path);
    if (st == RD_OK && all > empty)
        *value = (double)count_lines(t) / (all - empty);
    return st;
}

static rd_status assemble_peer(const char *name, bool bundled, double *value)
{
    struct text source = {0};
    rd_status st = input(name, bundled, &source);
    if (st == RD_OK)
        st = peer_rate("-filetype=obj", &source, value);
    free(source.data);
    return st;
}

/* llvm-mc reads bytes as text: one instruction a line. */
static rd_status hex_text(const struct text *code, struct text *out)
{
    rd_status st = RD_OK;
    for (size_t at = 0; at < code->bytes && st == RD_OK;) {
        struct isa_inst inst;
        char line[ISA_MAX_BYTES * 5 + 2];
        size_t n = 0;
        st = isa_decode(code->data + at, code->bytes - at, 32, &inst);
        if (st != RD_OK)
            break;
        for (unsigned i = 0; i < inst.bytes; i++)
            n += (size_t)sprintf(line + n, "0x%02x%c", (uint8_t)code->data[at + i],
                                 i + 1 == inst.bytes ? '\n' : ' ');
        st = add(out, line, n);
        at += inst.bytes;
    }
    return st;
}

static rd_status disassemble_peer(const char *name, bool bundled, double *value)
{
    struct text code = {0};
    struct text hex = {0};
    rd_status st = input_code(name, bundled, &code);
    if (st == RD_OK)
        st = hex_text(&code, &hex);
    if (st == RD_OK)
        st = peer_rate("-disassemble", &hex, value);
    free(code.data);
    free(hex.data);
    return st;
}

/* ---- the rows ---- */

#define ROWS(suffix, file, bundled)                                                    \
    static rd_status assemble##suffix(double *value)                                   \
    {                                                                                  \
        return assemble_rate(file, bundled, value);                                    \
    }                                                                                  \
    static rd_status assemble_peer##suffix(double *value)                              \
    {                                                                                  \
        return assemble_peer(file, bundled, value);                                    \
    }                                                                                  \
    static rd_status disassemble##suffix(double *value)                                \
    {                                                                                  \
        return disassemble_rate(file, bundled, value);                                 \
    }                                                                                  \
    static rd_status disassemble_peer##suffix(double *value)                           \
    {                                                                                  \
        return disassemble_peer(file, bundled, value);                                 \
    }

ROWS(_kern, "bench_kern.s", true)
ROWS(_mix, "bench_mix.s", false)

const struct bench_entry bench_asm_entries[] = {
    {.name = "asm/assemble",
     .unit = "lines/s",
     .higher_is_better = true,
     .what = "assemble compiled kernels to an object file",
     .measure = assemble_kern,
     .peer = "llvm-mc-19",
     .measure_peer = assemble_peer_kern},
    {.name = "asm/assemble_mix",
     .unit = "lines/s",
     .higher_is_better = true,
     .what = "assemble statements of every kind",
     .measure = assemble_mix,
     .peer = "llvm-mc-19",
     .measure_peer = assemble_peer_mix},
    {.name = "asm/disassemble",
     .unit = "lines/s",
     .higher_is_better = true,
     .what = "decode and print compiled kernels",
     .measure = disassemble_kern,
     .peer = "llvm-mc-19",
     .measure_peer = disassemble_peer_kern},
    {.name = "asm/disassemble_mix",
     .unit = "lines/s",
     .higher_is_better = true,
     .what = "decode and print statements of every kind",
     .measure = disassemble_mix,
     .peer = "llvm-mc-19",
     .measure_peer = disassemble_peer_mix},
    {.name = NULL},
};
