/* tinygrad.c: the profile that tinygrad writes (VIZ=2): a pickled list of events.
 *
 * Looked at are ProfileProgramEvent (name, lib, base, tag), ProfileSQTTEvent (kern, se,
 * blob), and of ProfilePointEvent the sizes of buffers (alloc) and which a kernel got
 * (exec). Source: tinygrad/runtime/ops_amd.py, tinygrad/device.py.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "capture.h"
#include "pickle.h"

/* Is it the class of an event, or made by that? */
static bool is_event(const struct pk_value *v, const char *name)
{
    return v->kind == PK_OBJECT && pk_is(v, name);
}

static bool take_program(struct sqtt_file *out, const struct pk_value *e)
{
    const struct pk_value *lib = pk_get(e, "lib");
    int64_t base = pk_int(pk_get(e, "base"), -1);
    if (!lib || lib->kind != PK_BYTES || base < 0)
        return true;
    return capture_add_object(out, (uint64_t)base, (const uint8_t *)lib->text,
                              lib->bytes);
}

/* The name of a program by its tag, or the event's own, which older ones carry. */
static void name_launch(struct capture_launch *l, const struct pk_value *events,
                        const struct pk_value *kern)
{
    const struct pk_value *name = kern && kern->kind == PK_TEXT ? kern : NULL;
    for (size_t i = 0; !name && kern && i < events->n_items; i++) {
        const struct pk_value *e = events->item[i], *tag = pk_get(e, "tag");
        if (is_event(e, "ProfileProgramEvent") && tag && tag->kind == PK_INT &&
            tag->number == pk_int(kern, -1))
            name = pk_get(e, "name");
    }
    if (name && name->text)
        (void)snprintf(l->name, sizeof l->name, "%.*s", (int)name->bytes, name->text);
}

/* Bytes of a buffer: so many elements of a type, whose second part is its bits. */
static bool buffer_bytes(const struct pk_value *events, int64_t key, uint64_t *out)
{
    for (size_t i = 0; i < events->n_items; i++) {
        const struct pk_value *e = events->item[i], *arg = pk_get(e, "arg");
        const struct pk_value *type = pk_get(arg, "dtype");
        if (!is_event(e, "ProfilePointEvent") || !pk_is(pk_get(e, "name"), "alloc") ||
            pk_int(pk_get(e, "key"), -1) != key || !type || type->n_items < 2)
            continue;
        int64_t n = pk_int(pk_get(arg, "sz"), -1), bits = pk_int(type->item[1], -1);
        if (n < 0 || n > INT64_C(1) << 40 || bits <= 0 || bits > 4096)
            return false;
        *out = ((uint64_t)n * (uint64_t)bits + 7) / 8;
        return true;
    }
    return false;
}

/* Copies are executions, too; their names begin behind a colour. */
static bool is_copy(const struct pk_value *name)
{
    size_t at = 0;
    while (name && name->text && at < name->bytes && name->text[at] != 'c')
        at++;
    return name && name->text && at <= 8 && name->bytes - at >= 5 &&
           memcmp(name->text + at, "copy ", 5) == 0;
}

/* The number-th execution that is a kernel's tells its buffers. */
static void take_buffers(struct capture_launch *l, const struct pk_value *events,
                         size_t number)
{
    for (size_t i = 0; i < events->n_items; i++) {
        const struct pk_value *e = events->item[i], *arg = pk_get(e, "arg");
        const struct pk_value *bufs = pk_get(arg, "bufs"), *name = pk_get(arg, "name");
        if (!is_event(e, "ProfilePointEvent") || !pk_is(pk_get(e, "name"), "exec") ||
            !bufs || bufs->kind != PK_LIST || bufs->n_items > CAPTURE_BUFFERS ||
            is_copy(name) || number-- > 0)
            continue;
        l->have_buffers = true;
        for (size_t k = 0; k < bufs->n_items && l->have_buffers; k++)
            l->have_buffers = buffer_bytes(events, pk_int(bufs->item[k], -1),
                                           &l->buffer_bytes[l->n_buffers++]);
        return;
    }
}

/* Traces of the same launch follow one another, one of each engine. */
static bool take_trace(struct sqtt_file *out, const struct pk_value *events,
                       const struct pk_value *e, int64_t *last_se)
{
    const struct pk_value *blob = pk_get(e, "blob");
    int64_t se = pk_int(pk_get(e, "se"), -1);
    if (!blob || blob->kind != PK_BYTES || se < 0 || se >= CAPTURE_SES)
        return true;
    bool next = se <= *last_se || out->n_launches == 0;
    *last_se = se;
    size_t launch = out->n_launches - !next;
    if (!capture_add_trace(out, launch, (unsigned)se, (const uint8_t *)blob->text,
                           blob->bytes))
        return false;
    if (next) {
        name_launch(&out->launch[launch], events, pk_get(e, "kern"));
        take_buffers(&out->launch[launch], events, launch);
    }
    return true;
}

bool capture_read_pickle(const uint8_t *data, size_t bytes, struct sqtt_file *out,
                         char *why, size_t why_bytes)
{
    struct pk_value *events;
    struct pk_reader *r;
    if (bytes == 0 || data[0] != 0x80) {
        (void)snprintf(why, why_bytes,
                       "neither an .rgp file nor a profile that tinygrad has pickled");
        return false;
    }
    r = pk_read(data, bytes, &events, why, why_bytes);
    if (!r)
        return false;
    bool ok = events->kind == PK_LIST;
    int64_t last_se = -1;
    if (!ok)
        (void)snprintf(why, why_bytes, "it is no list of events");
    for (size_t i = 0; ok && i < events->n_items; i++) {
        const struct pk_value *e = events->item[i];
        if (is_event(e, "ProfileProgramEvent"))
            ok = take_program(out, e);
        else if (is_event(e, "ProfileSQTTEvent"))
            ok = take_trace(out, events, e, &last_se);
    }
    pk_free(r);
    return ok;
}
