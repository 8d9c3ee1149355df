/* gpu_code.c: programs and code objects to kernels in device memory, each once.
 *
 * Must not know tensors or queues. What was loaded is found again by its contents.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm.h"
#include "internal.h"

static uint64_t hash_bytes(const void *data, size_t bytes, uint64_t h)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ p[i]) * 0x100000001b3ull;
    return h;
}

static struct gpu_kernel *find(const struct cc_gpu *gpu, uint64_t hash, const void *key,
                               size_t bytes, const char *name)
{
    struct gpu_kernel *k = gpu->kernels;
    while (k && !(k->hash == hash && k->key_bytes == bytes &&
                  strcmp(k->kernel.name, name) == 0 && memcmp(k->key, key, bytes) == 0))
        k = k->next;
    return k;
}

static void unload(struct gpu_kernel *k)
{
    rt_unload(k->code);
    free(k->key);
    free(k->elf);
    free(k);
}

void gpu_unload_all(struct cc_gpu *gpu)
{
    while (gpu->kernels) {
        struct gpu_kernel *next = gpu->kernels->next;
        unload(gpu->kernels);
        gpu->kernels = next;
    }
}

/* Take over key and elf, whatever happens. */
static rd_status add(struct cc_gpu *gpu, uint64_t hash, void *key, size_t key_bytes,
                     void *elf, size_t elf_bytes, const char *name,
                     struct gpu_kernel **out, char *error)
{
    struct rt_error err;
    struct gpu_kernel *k = calloc(1, sizeof *k);
    if (!k) {
        free(key);
        free(elf);
        return gpu_fail(error, RD_E_NOMEM, "out of memory");
    }
    *k = (struct gpu_kernel){.next = gpu->kernels,
                             .hash = hash,
                             .key = key,
                             .key_bytes = key_bytes,
                             .elf = elf};
    rd_status st = rt_load(gpu->dev, elf ? elf : key, elf_bytes, &k->code, &err);
    if (st == RD_OK)
        st = rt_kernel_find(k->code, name, &k->kernel, &err);
    if (st != RD_OK) {
        unload(k);
        return gpu_fail(error, st, "kernel %.60s: %.180s", name, err.text);
    }
    gpu->kernels = k;
    gpu->n_kernels++;
    *out = k;
    return RD_OK;
}

struct complaint {
    char *error;
    const char *kernel;
};

static void on_message(void *ctx, const struct asm_message *m)
{
    const struct complaint *c = ctx;
    if (m->severity == ASM_ERROR && !c->error[0])
        gpu_fail(c->error, RD_E_FORMAT, "kernel %.60s: assembly line %u: %.80s: %.*s",
                 c->kernel, m->line, m->text,
                 (int)(m->source_len < 80 ? m->source_len : 80),
                 m->source ? m->source : "");
}

static rd_status assemble(const struct cc_prog *p, void **elf, size_t *bytes,
                          char *error)
{
    struct complaint c = {error, cc_prog_name(p)};
    struct asm_options options = {.message = on_message, .ctx = &c};
    struct asm_result result;
    char *text, why[256] = "";
    rd_status st = cc_rdna3(p, &text, why);
    if (st != RD_OK)
        return gpu_fail(error, st, "kernel %.60s: %.180s", c.kernel,
                        why[0] ? why : rd_status_text(st));
    if (getenv("CC_SHOW"))
        fputs(text, stderr);
    error[0] = 0;
    st = asm_assemble(text, strlen(text), &options, &result);
    free(text);
    if (st != RD_OK)
        return st;
    *elf = result.data;
    *bytes = result.bytes;
    return RD_OK;
}

rd_status gpu_compile(struct cc_gpu *gpu, const struct cc_prog *p,
                      struct gpu_kernel **out, char *error)
{
    char *text;
    void *elf;
    size_t elf_bytes;
    rd_status st = cc_prog_print(p, &text);
    if (st != RD_OK)
        return gpu_fail(error, st, "out of memory");
    size_t bytes = strlen(text);
    uint64_t hash = hash_bytes(text, bytes, 1);
    *out = find(gpu, hash, text, bytes, cc_prog_name(p));
    if (*out) {
        free(text);
        return RD_OK;
    }
    st = assemble(p, &elf, &elf_bytes, error);
    if (st != RD_OK) {
        free(text);
        return st;
    }
    return add(gpu, hash, text, bytes, elf, elf_bytes, cc_prog_name(p), out, error);
}

rd_status gpu_load(struct cc_gpu *gpu, const struct cc_machine *code,
                   struct gpu_kernel **out, char *error)
{
    uint64_t hash = hash_bytes(code->elf, code->bytes, 2);
    *out = find(gpu, hash, code->elf, code->bytes, code->kernel);
    if (*out)
        return RD_OK;
    void *key = malloc(code->bytes + 1);
    if (!key)
        return gpu_fail(error, RD_E_NOMEM, "out of memory");
    memcpy(key, code->elf, code->bytes);
    return add(gpu, hash, key, code->bytes, NULL, code->bytes, code->kernel, out,
               error);
}
