/* bundle.c: clang offload bundles.
 *
 * Must not know ELF. Invariant: what is handed on lies inside the file. A bundle holds
 * one entry per target; ours is the first non-host one whose processor is gfx1100, else
 * gfx11-generic, else one with the same instructions (gfx1101 to gfx1103).
 * Source: clang documentation, "Clang Offload Bundler", bundled code object layout.
 * SPDX-License-Identifier: MIT
 */
#include "object.h"

#include <inttypes.h>
#include <string.h>

#define MAGIC       "__CLANG_OFFLOAD_BUNDLE__"
#define MAGIC_BYTES 24

/* Whether the target id (triple, then "-PROCESSOR[:feature...]") names the processor.
 */
static bool id_is(const char *id, size_t len, const char *processor)
{
    const char *colon = memchr(id, ':', len);
    size_t plain = colon ? (size_t)(colon - id) : len;
    size_t n = strlen(processor);
    return plain > n && memcmp(id + plain - n, processor, n) == 0 &&
           id[plain - n - 1] == '-';
}

static bool id_is_device(const char *id, size_t len)
{
    return !(len >= 5 && memcmp(id, "host-", 5) == 0);
}

/* How well code for a device fits: gfx1100, then the generic target, then chips with
 * the same instructions; 0: not at all. */
static unsigned fits(const char *id, size_t len)
{
    static const char *const targets[] = {"gfx1103", "gfx1102", "gfx1101",
                                          "gfx11-generic", "gfx1100"};
    unsigned n = sizeof targets / sizeof *targets;
    if (!id_is_device(id, len))
        return 0;
    for (unsigned i = n; i > 0; i--)
        if (id_is(id, len, targets[i - 1]))
            return i;
    return 0;
}

bool co_may_begin(const void *head, size_t bytes)
{
    return (bytes >= MAGIC_BYTES && memcmp(head, MAGIC, MAGIC_BYTES) == 0) ||
           elf_may_begin(head, bytes);
}

rd_status co_unbundle(const uint8_t **data, size_t *size, uint64_t *elf_offset,
                      struct co_error *err)
{
    const uint8_t *p = *data;
    size_t limit = *size;
    unsigned rank = 0;
    uint64_t best = 0, best_bytes = 0;

    *elf_offset = 0;
    if (limit >= 4 && memcmp(p, "CCOB", 4) == 0)
        return co_fail(err, RD_E_UNSUPPORTED,
                       "compressed offload bundle: decompress it with "
                       "clang-offload-bundler -unbundle");
    if (limit < MAGIC_BYTES || memcmp(p, MAGIC, MAGIC_BYTES) != 0)
        return RD_OK;
    if (limit < MAGIC_BYTES + 8)
        return co_fail(err, RD_E_TRUNCATED,
                       "offload bundle: no entry count at offset %d", MAGIC_BYTES);

    uint64_t count = load_le64(p + MAGIC_BYTES), at = MAGIC_BYTES + 8;
    for (uint64_t i = 0; i < count; i++) {
        if (!range_ok(at, 24, limit) ||
            !range_ok(at + 24, load_le64(p + at + 16), limit))
            return co_fail(err, RD_E_TRUNCATED,
                           "offload bundle: entry %" PRIu64 " of %" PRIu64
                           " at offset %" PRIu64 " leaves the file (%zu bytes)",
                           i, count, at, limit);
        uint64_t offset = load_le64(p + at), bytes = load_le64(p + at + 8);
        size_t id_len = (size_t)load_le64(p + at + 16);
        const char *id = (const char *)p + at + 24;
        if (!range_ok(offset, bytes, limit))
            return co_fail(err, RD_E_TRUNCATED,
                           "offload bundle: entry %" PRIu64 ": offset %" PRIu64
                           " and size %" PRIu64 " leave the file (%zu bytes)",
                           i, offset, bytes, limit);
        at += 24 + id_len;
        unsigned fit = fits(id, id_len);
        if (fit <= rank)
            continue;
        rank = fit;
        best = offset;
        best_bytes = bytes;
    }
    if (rank == 0)
        return co_fail(err, RD_E_NOT_FOUND,
                       "offload bundle: none of its %" PRIu64
                       " entries is code for gfx1100",
                       count);
    *data = p + best;
    *size = (size_t)best_bytes;
    *elf_offset = best;
    return RD_OK;
}
