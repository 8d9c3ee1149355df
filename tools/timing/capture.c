/* capture.c: what both kinds of files come to.
 * SPDX-License-Identifier: MIT
 */
#include "capture.h"

#include <stdio.h>
#include <stdlib.h>

bool capture_add_object(struct sqtt_file *c, uint64_t base, const uint8_t *data,
                        size_t bytes)
{
    struct sqtt_object *more =
        realloc(c->object, (c->n_objects + 1) * sizeof *c->object);
    if (!more)
        return false;
    c->object = more;
    c->object[c->n_objects++] =
        (struct sqtt_object){.base = base, .data = data, .bytes = bytes};
    return true;
}

bool capture_add_trace(struct sqtt_file *c, size_t launch, unsigned se,
                       const uint8_t *data, size_t bytes)
{
    if (launch == c->n_launches) {
        struct capture_launch *more =
            realloc(c->launch, (c->n_launches + 1) * sizeof *c->launch);
        if (!more)
            return false;
        c->launch = more;
        c->launch[c->n_launches++] = (struct capture_launch){.n_traces = 0};
    }
    struct capture_launch *l = &c->launch[launch];
    if (l->n_traces < CAPTURE_SES)
        l->trace[l->n_traces++] = (struct capture_trace){se, data, bytes};
    return true;
}

bool capture_read(const void *data, size_t bytes, struct sqtt_file *out, char *why,
                  size_t why_bytes)
{
    *out = (struct sqtt_file){.n_launches = 0};
    why[0] = '\0';
    bool ok = capture_is_rgp(data, bytes)
                  ? capture_read_rgp(data, bytes, out, why, why_bytes)
                  : capture_read_pickle(data, bytes, out, why, why_bytes);
    if (ok && out->n_launches == 0) {
        (void)snprintf(why, why_bytes, "there is no thread trace in it");
        ok = false;
    }
    if (!ok && !why[0])
        (void)snprintf(why, why_bytes, "out of memory");
    if (!ok)
        capture_free(out);
    return ok;
}

void capture_free(struct sqtt_file *c)
{
    free(c->launch);
    free(c->object);
    *c = (struct sqtt_file){.n_launches = 0};
}
