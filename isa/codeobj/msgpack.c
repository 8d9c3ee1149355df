/* msgpack.c: MessagePack, one value at a time.
 *
 * Must not know what the document means. Invariant: pos never passes size, and a value
 * is handed out only if its payload lies in the document.
 * Source: github.com/msgpack/msgpack, spec.md.
 * SPDX-License-Identifier: MIT
 */
#include "msgpack.h"

#include <string.h>

#include "bytes.h"

/* Head of a value: how many bytes of number follow the tag. */
struct head {
    enum mp_type type;
    uint8_t number_bytes;
    bool is_signed;
};

/* Tags 0xc0 to 0xdf; MP_EXT with number_bytes 0 is fixext, see fixext_bytes. */
static const struct head heads[32] = {
    {MP_NIL, 0, false},  {MP_NIL, 0, false},   {MP_BOOL, 0, false},
    {MP_BOOL, 0, false}, {MP_BIN, 1, false},   {MP_BIN, 2, false},
    {MP_BIN, 4, false},  {MP_EXT, 1, false},   {MP_EXT, 2, false},
    {MP_EXT, 4, false},  {MP_FLOAT, 4, false}, {MP_FLOAT, 8, false},
    {MP_UINT, 1, false}, {MP_UINT, 2, false},  {MP_UINT, 4, false},
    {MP_UINT, 8, false}, {MP_INT, 1, true},    {MP_INT, 2, true},
    {MP_INT, 4, true},   {MP_INT, 8, true},    {MP_EXT, 0, false},
    {MP_EXT, 0, false},  {MP_EXT, 0, false},   {MP_EXT, 0, false},
    {MP_EXT, 0, false},  {MP_STR, 1, false},   {MP_STR, 2, false},
    {MP_STR, 4, false},  {MP_ARRAY, 2, false}, {MP_ARRAY, 4, false},
    {MP_MAP, 2, false},  {MP_MAP, 4, false},
};

#define TAG_NEVER_USED 0xc1
#define TAG_FIXEXT1    0xd4

/* Tags whose low bits are the number itself; false if tag is none of them. */
static bool read_fix(uint8_t tag, struct mp_value *v)
{
    if (tag < 0x80) {
        v->type = MP_UINT;
        v->u = tag;
    } else if (tag >= 0xe0) {
        v->type = MP_INT;
        v->u = UINT64_MAX - 255 + tag;
    } else if (tag < 0x90) {
        v->type = MP_MAP;
        v->count = tag & 15u;
    } else if (tag < 0xa0) {
        v->type = MP_ARRAY;
        v->count = tag & 15u;
    } else if (tag < 0xc0) {
        v->type = MP_STR;
        v->count = tag & 31u;
    } else {
        return false;
    }
    return true;
}

static double read_float(uint64_t raw, unsigned bytes)
{
    if (bytes == 8) {
        double d;
        memcpy(&d, &raw, 8);
        return d;
    }
    float f;
    uint32_t low = (uint32_t)raw;
    memcpy(&f, &low, 4);
    return (double)f;
}

static void take_number(const struct head *h, uint64_t raw, struct mp_value *v)
{
    if (h->type == MP_FLOAT) {
        v->f = read_float(raw, h->number_bytes);
    } else if (h->type == MP_UINT) {
        v->u = raw;
    } else if (h->type == MP_INT) {
        unsigned shift = 64 - 8u * h->number_bytes;
        v->u = raw << shift;
        if (v->u >> 63) { /* extend the sign by hand: >> of negatives is not portable */
            v->u = raw | (shift ? ~(UINT64_MAX >> shift) : 0);
        } else {
            v->u = raw;
            v->type = MP_UINT;
        }
    } else {
        v->count = (uint32_t)raw;
    }
}

/* Check the payload of a value and pass over it; containers keep theirs unread. */
static rd_status take_payload(const struct mp_reader *r, size_t *pos,
                              struct mp_value *v)
{
    size_t left = r->size - *pos;
    switch (v->type) {
    case MP_ARRAY:
        return v->count <= left ? RD_OK : RD_E_TRUNCATED;
    case MP_MAP:
        return v->count <= left / 2 ? RD_OK : RD_E_TRUNCATED;
    case MP_EXT:
        if (left == 0)
            return RD_E_TRUNCATED;
        ++*pos; /* the extension's own type */
        left--;
        break;
    case MP_STR:
    case MP_BIN:
        break;
    default:
        return RD_OK;
    }
    if (v->count > left)
        return RD_E_TRUNCATED;
    v->bytes = r->data + *pos;
    *pos += v->count;
    return RD_OK;
}

rd_status mp_read(struct mp_reader *r, struct mp_value *out)
{
    if (r->pos >= r->size)
        return RD_E_TRUNCATED;
    uint8_t tag = r->data[r->pos];
    struct mp_value v = {.pos = r->pos};
    size_t pos = r->pos + 1;

    if (tag == TAG_NEVER_USED)
        return RD_E_FORMAT;
    if (!read_fix(tag, &v)) {
        const struct head *h = &heads[tag - 0xc0];
        if (h->number_bytes > r->size - pos)
            return RD_E_TRUNCATED;
        v.type = h->type;
        if (h->number_bytes)
            take_number(h, load_be(r->data + pos, h->number_bytes), &v);
        else if (v.type == MP_EXT)
            v.count = 1u << (tag - TAG_FIXEXT1);
        else
            v.u = tag == 0xc3;
        pos += h->number_bytes;
    }
    rd_status st = take_payload(r, &pos, &v);
    if (st != RD_OK)
        return st;
    r->pos = pos;
    *out = v;
    return RD_OK;
}

rd_status mp_skip(struct mp_reader *r)
{
    uint64_t left[MP_MAX_DEPTH]; /* values to go at each level */
    unsigned depth = 0;
    left[0] = 1;
    for (;;) {
        while (left[depth] == 0) {
            if (depth == 0)
                return RD_OK;
            depth--;
        }
        left[depth]--;
        struct mp_value v;
        rd_status st = mp_read(r, &v);
        if (st != RD_OK)
            return st;
        if ((v.type != MP_ARRAY && v.type != MP_MAP) || v.count == 0)
            continue;
        if (++depth == MP_MAX_DEPTH)
            return RD_E_FORMAT;
        left[depth] = v.type == MP_MAP ? (uint64_t)v.count * 2 : v.count;
    }
}

bool mp_is(const struct mp_value *value, const char *text)
{
    return value->type == MP_STR && value->count == strlen(text) &&
           memcmp(value->bytes, text, value->count) == 0;
}
