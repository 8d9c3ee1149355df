/* msgpack.h: a reader of MessagePack documents that come from strangers.
 *
 * Nothing is allocated; strings and binaries point into the document. A container's
 * count never exceeds what the remaining bytes could hold.
 * SPDX-License-Identifier: MIT
 */
#ifndef CO_MSGPACK_H
#define CO_MSGPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

/* Containers inside containers that mp_skip follows. */
#define MP_MAX_DEPTH 32

enum mp_type {
    MP_NIL,
    MP_BOOL,
    MP_UINT, /* non-negative integers of every encoding */
    MP_INT,  /* negative ones */
    MP_FLOAT,
    MP_STR,
    MP_BIN,
    MP_ARRAY,
    MP_MAP,
    MP_EXT
};

struct mp_reader {
    const uint8_t *data;
    size_t size;
    size_t pos;
};

struct mp_value {
    enum mp_type type;
    size_t pos;           /* of its first byte */
    uint64_t u;           /* BOOL, UINT; INT as two's complement */
    double f;             /* FLOAT */
    uint32_t count;       /* ARRAY: elements, MAP: pairs, STR BIN EXT: bytes */
    const uint8_t *bytes; /* STR BIN EXT */
};

/* Read one value; of a container only its head, the elements follow.
 *
 * Returns RD_OK, RD_E_TRUNCATED (document ends inside it, or a count that cannot fit),
 * or RD_E_FORMAT (the one byte that MessagePack never uses). The position does not move
 * on failure.
 */
RD_CHECKED rd_status mp_read(struct mp_reader *r, struct mp_value *out);

/* Pass over one whole value.
 *
 * Returns as mp_read, or RD_E_FORMAT if nested deeper than MP_MAX_DEPTH.
 */
RD_CHECKED rd_status mp_skip(struct mp_reader *r);

/* Whether a value is the string. */
bool mp_is(const struct mp_value *value, const char *text);

#endif
