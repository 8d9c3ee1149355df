/* memory.c: guest memory of the tools: mappings with unmapped surroundings.
 *
 * Must not know what the memory holds. Invariant: addresses depend on the order of the
 * allocations only, as long as the host leaves that range free, so that runs repeat
 * exactly, addresses in messages included.
 * SPDX-License-Identifier: MIT
 */
#include "internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE_BYTES  4096u
#define FIRST_GPUVA 0x200000000000ull /* far from what Linux hands out by itself */
#define GAP_BYTES   0x200000ull       /* unmapped after every mapping */
#define MAX_BYTES   (1ull << 40)

rd_status la_fail(struct la_error *err, rd_status status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (err)
        vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    return status;
}

rd_status la_create(const struct emu_config *config, struct la **out,
                    struct la_error *err)
{
    struct la *la = calloc(1, sizeof *la);
    if (!la)
        return la_fail(err, RD_E_NOMEM, "out of memory");
    struct emu_config own = config ? *config : (struct emu_config){0};
    own.symbol = la_symbol;
    own.symbol_ctx = la;
    rd_status st = emu_create(&own, &la->emu);
    if (st == RD_E_UNSUPPORTED && own.engine == EMU_ENGINE_JIT) {
        free(la);
        return la_fail(err, st,
                       "no native code here: it needs AVX2, and the right to make "
                       "executable memory of 1 MiB (ulimit -f, vm.memfd_noexec)");
    }
    if (st != RD_OK) {
        free(la);
        return la_fail(err, st, "cannot start the emulator: %s", rd_status_text(st));
    }
    la->next_gpuva = FIRST_GPUVA;
    *out = la;
    return RD_OK;
}

void la_destroy(struct la *la)
{
    if (!la)
        return;
    la_hostcall_free(la);
    emu_destroy(la->emu);
    while (la->objects) {
        struct la_object *object = la->objects;
        la->objects = object->next;
        co_close(object->co);
        free(object);
    }
    while (la->mappings) {
        struct la_mapping *mapping = la->mappings;
        la->mappings = mapping->next;
        munmap(mapping->base, mapping->bytes);
        free(mapping);
    }
    free(la);
}

struct emu *la_emu(const struct la *la)
{
    return la->emu;
}

/* Kernels stride through large buffers: fewer, larger pages for the host's TLB. */
#define HUGE_FROM (8u << 20)

/* The mapping gets a page without access before and after it, so that host code that
 * runs over an end stops there even where the wished address was taken. */
rd_status la_map(struct la *la, uint64_t bytes, const char *name, void **out,
                 struct la_error *err)
{
    if (bytes > MAX_BYTES)
        return la_fail(err, RD_E_RANGE, "%s: %llu bytes are more than the %llu allowed",
                       name, (unsigned long long)bytes, MAX_BYTES);
    uint64_t pages = (bytes + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
    if (pages == 0)
        pages = PAGE_BYTES;
    size_t whole = (size_t)pages + 2 * (size_t)PAGE_BYTES;

    struct la_mapping *mapping = malloc(sizeof *mapping);
    if (!mapping)
        return la_fail(err, RD_E_NOMEM, "out of memory");
    /* An address as a number is the point here: GPU addresses are host addresses. */
    void *wish = (void *)(uintptr_t)(la->next_gpuva - PAGE_BYTES); // NOLINT
    char *base = mmap(wish, whole, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED ||
        mprotect(base + PAGE_BYTES, (size_t)pages, PROT_READ | PROT_WRITE) != 0) {
        int saved = errno;
        if (base != MAP_FAILED)
            munmap(base, whole);
        free(mapping);
        return la_fail(err, RD_E_NOMEM, "%s: cannot allocate %llu bytes: %s", name,
                       (unsigned long long)bytes, strerror(saved));
    }
    if (pages >= HUGE_FROM)
        (void)madvise(base + PAGE_BYTES, (size_t)pages, MADV_HUGEPAGE); /* a hint */
    mapping->base = base;
    mapping->bytes = whole;
    mapping->next = la->mappings;
    la->mappings = mapping;
    la->next_gpuva += (pages + 2 * GAP_BYTES - 1) & ~(GAP_BYTES - 1);
    *out = base + PAGE_BYTES;
    return RD_OK;
}

rd_status la_show(struct la *la, const void *base, uint64_t bytes, unsigned perm,
                  const char *name, struct la_error *err)
{
    if (bytes == 0)
        return RD_OK;
    rd_status st = emu_mem_add(la->emu, (uintptr_t)base, bytes, perm, name);
    if (st != RD_OK)
        return la_fail(err, st, "%s: cannot map %llu bytes: %s", name,
                       (unsigned long long)bytes, rd_status_text(st));
    return RD_OK;
}

rd_status la_alloc(struct la *la, uint64_t bytes, unsigned perm, const char *name,
                   void **out, struct la_error *err)
{
    void *base = NULL;
    rd_status st = la_map(la, bytes, name, &base, err);
    if (st != RD_OK)
        return st;
    st = la_show(la, base, bytes, perm, name, err);
    if (st != RD_OK)
        return st;
    *out = base;
    return RD_OK;
}

struct la_mark la_mark(const struct la *la)
{
    return (struct la_mark){la->mappings, la->next_gpuva};
}

void la_rewind(struct la *la, struct la_mark mark)
{
    while (la->mappings && la->mappings != mark.last) {
        struct la_mapping *mapping = la->mappings;
        la->mappings = mapping->next;
        if (la->printed.buffer == (uint8_t *)mapping->base + PAGE_BYTES)
            la->printed.buffer = NULL;
        la_hostcall_gone(la, (const uint8_t *)mapping->base + PAGE_BYTES);
        (void)!emu_mem_remove(la->emu, (uintptr_t)mapping->base + PAGE_BYTES);
        munmap(mapping->base, mapping->bytes);
        free(mapping);
    }
    la->next_gpuva = mark.next_gpuva;
}
