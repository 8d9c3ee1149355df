/* host.c: runs a kernel compiled for the host: work-items are contexts that change at
 * barriers, so that local memory and sub-groups mean what they mean on a GPU.
 *
 * Usage: host KERNELS.so NAME GROUPS IN OUT PARAMS WAVE: IN, OUT (read, then written)
 * and PARAMS are files. Invariant: items of a group run in item order between barriers.
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define BLOCK  128u
#define STACK  (256u << 10)
#define EXPORT __attribute__((visibility("default")))

struct params {
    uint32_t n;
    int32_t a;
    float f;
    uint64_t l;
    int16_t s;
    uint8_t b;
};

typedef void kernel_fn(const uint32_t *in, uint32_t *out, struct params p);

static struct {
    ucontext_t main, item[BLOCK];
    bool done[BLOCK];
    uint32_t slot[2][BLOCK];
    unsigned turn[BLOCK]; /* exchanges that the item has done */
    uint32_t group, current, wave;
    kernel_fn *kernel;
    const uint32_t *in;
    uint32_t *out;
    struct params params;
} host;

EXPORT uint32_t host_group(void);
EXPORT uint32_t host_item(void);
EXPORT void barrier_lds(void);
EXPORT uint32_t sub_lane(void);
EXPORT uint32_t sub_shuffle(uint32_t x, uint32_t lane);
EXPORT uint64_t sub_ballot(bool p);
EXPORT uint32_t sub_first(uint32_t x);
EXPORT uint32_t sub_read(uint32_t x, uint32_t lane);
EXPORT uint32_t sub_row_ror5(uint32_t x);
EXPORT uint32_t sub_quad_reverse(uint32_t x);
EXPORT uint32_t sub_row_shr1(uint32_t x);
EXPORT uint32_t sub_row_swap(uint32_t x);

uint32_t host_group(void)
{
    return host.group;
}

uint32_t host_item(void)
{
    return host.current;
}

void barrier_lds(void)
{
    uint32_t me = host.current;
    swapcontext(&host.item[me], &host.main);
}

/* What every item of the group puts in; two tables in turn, so that a fast item does
 * not overwrite what a slow one still reads. */
static const uint32_t *exchange(uint32_t x)
{
    uint32_t *slot = host.slot[host.turn[host.current]++ & 1];
    slot[host.current] = x;
    barrier_lds();
    return slot;
}

static uint32_t base(uint32_t lanes)
{
    return host.current / lanes * lanes;
}

uint32_t sub_lane(void)
{
    return host.current % host.wave;
}

uint32_t sub_shuffle(uint32_t x, uint32_t lane)
{
    uint32_t from = base(32) + lane % 32;
    return exchange(x)[from];
}

uint64_t sub_ballot(bool p)
{
    uint32_t from = base(host.wave);
    const uint32_t *slot = exchange(p);
    uint64_t mask = 0;
    for (uint32_t i = 0; i < host.wave; i++)
        mask |= (uint64_t)slot[from + i] << i;
    return mask;
}

uint32_t sub_first(uint32_t x)
{
    return exchange(x)[base(host.wave)];
}

uint32_t sub_read(uint32_t x, uint32_t lane)
{
    return exchange(x)[base(host.wave) + lane];
}

uint32_t sub_row_ror5(uint32_t x)
{
    return exchange(x)[base(16) + (host.current + 11) % 16];
}

uint32_t sub_quad_reverse(uint32_t x)
{
    return exchange(x)[base(4) + 3 - host.current % 4];
}

uint32_t sub_row_shr1(uint32_t x)
{
    const uint32_t *slot = exchange(x);
    return host.current % 16 ? slot[host.current - 1] : 0;
}

uint32_t sub_row_swap(uint32_t x)
{
    return exchange(x)[host.current ^ 16u];
}

static void item_main(void)
{
    host.kernel(host.in, host.out, host.params);
    host.done[host.current] = true;
    swapcontext(&host.item[host.current], &host.main);
}

static void run_group(char *stacks)
{
    for (uint32_t i = 0; i < BLOCK; i++) {
        getcontext(&host.item[i]);
        host.item[i].uc_stack.ss_sp = stacks + (size_t)i * STACK;
        host.item[i].uc_stack.ss_size = STACK;
        makecontext(&host.item[i], item_main, 0);
        host.done[i] = false;
        host.turn[i] = 0;
    }
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < BLOCK; i++) {
            if (host.done[i])
                continue;
            host.current = i;
            swapcontext(&host.main, &host.item[i]);
            more = true;
        }
    }
}

static void *read_file(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(2);
    }
    fseek(f, 0, SEEK_END);
    *bytes = (size_t)ftell(f);
    rewind(f);
    void *p = aligned_alloc(256, (*bytes + 255) / 256 * 256);
    if (!p || fread(p, 1, *bytes, f) != *bytes)
        exit(2);
    fclose(f);
    return p;
}

int main(int argc, char **argv)
{
    size_t in_bytes, out_bytes, params_bytes;
    if (argc != 8)
        return 2;
    void *so = dlopen(argv[1], RTLD_NOW);
    if (!so) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    void *symbol = dlsym(so, argv[2]);
    if (!symbol)
        return 2;
    memcpy(&host.kernel, &symbol, sizeof symbol);
    host.in = read_file(argv[4], &in_bytes);
    host.out = read_file(argv[5], &out_bytes);
    void *params = read_file(argv[6], &params_bytes);
    memcpy(&host.params, params, sizeof host.params);
    host.wave = (uint32_t)strtoul(argv[7], NULL, 10);
    char *stacks = malloc((size_t)BLOCK * STACK);
    if (!stacks)
        return 2;
    for (uint32_t g = 0; g < strtoul(argv[3], NULL, 10); g++) {
        host.group = g;
        run_group(stacks);
    }
    FILE *f = fopen(argv[5], "wb");
    bool ok = f && fwrite(host.out, 1, out_bytes, f) == out_bytes;
    return !f || fclose(f) || !ok;
}
