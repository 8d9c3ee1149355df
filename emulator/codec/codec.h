/* codec.h: compression of chunks with what the build found.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TRACE_CODEC_H
#define RD_TRACE_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "status.h"

enum codec_kind { CODEC_NONE, CODEC_ZLIB, CODEC_ZSTD, CODEC_COUNT };

struct codec;

/* The best kind there is. */
enum codec_kind codec_best(void);
const char *codec_name(unsigned kind);

/* RD_E_UNSUPPORTED if this build lacks the kind. */
RD_CHECKED rd_status codec_create(unsigned kind, struct codec **out);
void codec_destroy(struct codec *c);

/* Room that packing n bytes may take. */
size_t codec_bound(const struct codec *c, size_t n);

RD_CHECKED rd_status codec_pack(struct codec *c, const uint8_t *raw, size_t n,
                                uint8_t *packed, size_t room, size_t *out);

/* RD_E_FORMAT if the result is not exactly n bytes. */
RD_CHECKED rd_status codec_unpack(struct codec *c, const uint8_t *packed, size_t bytes,
                                  uint8_t *raw, size_t n);

#endif
