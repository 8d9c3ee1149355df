/* gpu.c: see gpu.h.
 * SPDX-License-Identifier: MIT
 */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm.h"
#include "code_check.h"
#include "launch.h"

static char last_asm_error[400];
static struct emu_stats stats;

static void on_message(void *ctx, const struct asm_message *m)
{
    (void)ctx;
    if (!last_asm_error[0])
        snprintf(last_asm_error, sizeof last_asm_error, "line %u: %s: %.*s", m->line,
                 m->text, (int)m->source_len, m->source ? m->source : "");
}

/* Arguments that the program has a place for: what it does not read may be gone. */
static size_t count_params(const struct cc_prog *p)
{
    size_t n = 0;
    for (uint32_t i = 0; i < cc_prog_count(p); i++) {
        const struct cc_inst *x = cc_prog_inst(p, i);
        if (x->op == CC_PARAM && (size_t)x->arg[0] >= n)
            n = (size_t)x->arg[0] + 1;
    }
    return n;
}

static rd_status launch(const struct asm_result *elf, const struct la_shape *shape,
                        size_t n_args, const struct cc_arg_buffer *args, char *error)
{
    /* products of matrices as the interpreter forms them: what is tested is the code */
    struct emu_config config = {.threads = 1, .exact_dots = true};
    struct la_error err = {{0}};
    struct la *la;
    struct la_kernel kernel;
    struct la_arg list[64];
    void *memory[64];
    struct emu_dispatch dispatch;
    struct emu_fault fault;
    rd_status st = la_create(&config, &la, &err);
    if (st != RD_OK)
        return st;
    for (size_t i = 0; i < n_args && st == RD_OK; i++) {
        st = la_alloc(la, args[i].bytes ? args[i].bytes : 1,
                      EMU_MEM_READ | EMU_MEM_WRITE, "argument", &memory[i], &err);
        if (st == RD_OK)
            memcpy(memory[i], args[i].data, args[i].bytes);
        list[i] = (struct la_arg){LA_POINTER, &memory[i], 8, "buffer"};
    }
    if (st == RD_OK)
        st = la_load_object(la, elf->data, elf->bytes, NULL, &kernel, &err);
    if (st == RD_OK)
        st = la_prepare(la, &kernel, shape, list, (unsigned)n_args, &dispatch, &err);
    if (st == RD_OK) {
        st = emu_run(la_emu(la), &dispatch, &fault, &stats);
        if (st == RD_E_FAULT)
            emu_fault_text(&fault, err.text, sizeof err.text);
    }
    for (size_t i = 0; i < n_args && st == RD_OK; i++)
        memcpy(args[i].data, memory[i], args[i].bytes);
    if (st != RD_OK)
        snprintf(error, 256, "%.250s", err.text);
    la_destroy(la);
    return st;
}

rd_status gpu_run_text(const char *text, const uint32_t *groups, const uint32_t *block,
                       size_t n_args, const struct cc_arg_buffer *args, char *error)
{
    struct asm_options options = {.message = on_message};
    struct asm_result elf;
    struct la_shape shape = {.groups = {groups[0], groups[1], groups[2]},
                             .block = {block[0], block[1], block[2]}};
    last_asm_error[0] = 0;
    rd_status st = asm_assemble(text, strlen(text), &options, &elf);
    if (st != RD_OK) {
        snprintf(error, 256, "assembler: %.230s", last_asm_error);
        return st;
    }
    if (code_check(elf.data, elf.bytes, error))
        st = launch(&elf, &shape, n_args, args, error);
    else
        st = RD_E_FAULT;
    free(elf.data);
    return st;
}

rd_status gpu_run(void *user, const struct cc_prog *p, size_t n_args,
                  const struct cc_arg_buffer *args, char *error)
{
    char *text;
    uint32_t groups[3], block[3];
    (void)user;
    rd_status st = cc_rdna3(p, &text, error);
    if (st != RD_OK)
        return st;
    if (getenv("CC_SHOW"))
        fputs(text, stderr);
    size_t params = count_params(p);
    cc_prog_launch(p, groups, block);
    st = gpu_run_text(text, groups, block, params < n_args ? params : n_args, args,
                      error);
    free(text);
    return st;
}

const struct emu_stats *gpu_stats(void)
{
    return &stats;
}
