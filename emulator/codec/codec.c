/* codec.c: zstd, zlib or nothing, behind one interface.
 *
 * Which of them exist is the build's business (RD_HAVE_ZSTD, RD_HAVE_ZLIB); the kind
 * is written in the file, so that a build without it says so.
 * SPDX-License-Identifier: MIT
 */
#include "codec.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef RD_HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef RD_HAVE_ZLIB
#include <zlib.h>
#endif

#define ZSTD_LEVEL 1
#define ZLIB_LEVEL 1

struct codec {
    unsigned kind;
#ifdef RD_HAVE_ZSTD
    ZSTD_CCtx *pack;
    ZSTD_DCtx *unpack;
#endif
};

enum codec_kind codec_best(void)
{
#if defined RD_HAVE_ZSTD
    return CODEC_ZSTD;
#elif defined RD_HAVE_ZLIB
    return CODEC_ZLIB;
#else
    return CODEC_NONE;
#endif
}

const char *codec_name(unsigned kind)
{
    static const char *const names[] = {"no compression", "zlib", "zstd"};
    return kind < CODEC_COUNT ? names[kind] : "unknown";
}

rd_status codec_create(unsigned kind, struct codec **out)
{
    bool have = kind == CODEC_NONE;
#ifdef RD_HAVE_ZSTD
    have |= kind == CODEC_ZSTD;
#endif
#ifdef RD_HAVE_ZLIB
    have |= kind == CODEC_ZLIB;
#endif
    if (!have)
        return RD_E_UNSUPPORTED;
    struct codec *c = calloc(1, sizeof *c);
    if (!c)
        return RD_E_NOMEM;
    c->kind = kind;
#ifdef RD_HAVE_ZSTD
    if (kind == CODEC_ZSTD) {
        c->pack = ZSTD_createCCtx();
        c->unpack = ZSTD_createDCtx();
        if (!c->pack || !c->unpack) {
            codec_destroy(c);
            return RD_E_NOMEM;
        }
    }
#endif
    *out = c;
    return RD_OK;
}

void codec_destroy(struct codec *c)
{
    if (!c)
        return;
#ifdef RD_HAVE_ZSTD
    ZSTD_freeCCtx(c->pack);
    ZSTD_freeDCtx(c->unpack);
#endif
    free(c);
}

size_t codec_bound(const struct codec *c, size_t n)
{
#ifdef RD_HAVE_ZSTD
    if (c->kind == CODEC_ZSTD)
        return ZSTD_compressBound(n);
#endif
#ifdef RD_HAVE_ZLIB
    if (c->kind == CODEC_ZLIB)
        return compressBound(n);
#endif
    (void)c;
    return n;
}

rd_status codec_pack(struct codec *c, const uint8_t *raw, size_t n, uint8_t *packed,
                     size_t room, size_t *out)
{
#ifdef RD_HAVE_ZSTD
    if (c->kind == CODEC_ZSTD) {
        size_t got = ZSTD_compressCCtx(c->pack, packed, room, raw, n, ZSTD_LEVEL);
        if (ZSTD_isError(got))
            return RD_E_NOMEM;
        *out = got;
        return RD_OK;
    }
#endif
#ifdef RD_HAVE_ZLIB
    if (c->kind == CODEC_ZLIB) {
        uLongf got = room;
        if (compress2(packed, &got, raw, n, ZLIB_LEVEL) != Z_OK)
            return RD_E_NOMEM;
        *out = got;
        return RD_OK;
    }
#endif
    (void)c;
    if (room < n)
        return RD_E_RANGE;
    memcpy(packed, raw, n);
    *out = n;
    return RD_OK;
}

rd_status codec_unpack(struct codec *c, const uint8_t *packed, size_t bytes,
                       uint8_t *raw, size_t n)
{
#ifdef RD_HAVE_ZSTD
    if (c->kind == CODEC_ZSTD) {
        size_t got = ZSTD_decompressDCtx(c->unpack, raw, n, packed, bytes);
        return ZSTD_isError(got) || got != n ? RD_E_FORMAT : RD_OK;
    }
#endif
#ifdef RD_HAVE_ZLIB
    if (c->kind == CODEC_ZLIB) {
        uLongf got = n;
        int status = uncompress(raw, &got, packed, bytes);
        return status != Z_OK || got != n ? RD_E_FORMAT : RD_OK;
    }
#endif
    (void)c;
    if (bytes != n)
        return RD_E_FORMAT;
    memcpy(raw, packed, n);
    return RD_OK;
}
