/* dap_points.c: breakpoints of the Debug Adapter Protocol. Each request replaces those
 * of its kind (and source). SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dap_internal.h"

#define WHY 200

static void drop(struct dap *d, int kind, const char *path)
{
    unsigned n = 0;
    for (unsigned i = 0; i < d->n_points; i++) {
        struct owned_point *o = &d->points[i];
        if (o->kind == kind && (!path || strcmp(o->path, path) == 0))
            (void)point_delete(&d->session, o->number);
        else
            d->points[n++] = *o;
    }
    d->n_points = n;
}

static void own(struct dap *d, int kind, const char *path, unsigned number)
{
    struct owned_point *bigger = realloc(d->points, (d->n_points + 1) * sizeof *bigger);
    if (!bigger)
        return;
    d->points = bigger;
    struct owned_point *o = &bigger[d->n_points++];
    o->number = number;
    o->kind = kind;
    (void)snprintf(o->path, sizeof o->path, "%s", path ? path : "");
    o->verified = !d->session.idle;
}

void dap_points_verified(struct dap *d)
{
    for (unsigned i = 0; i < d->n_points; i++) {
        const struct point *p = point_find(&d->session, d->points[i].number);
        if (p && p->n_pcs && !d->points[i].verified) {
            d->points[i].verified = true;
            dap_point_changed(d, p);
        }
    }
}

/* Condition and count of a breakpoint. */
static bool refine(struct dap *d, struct point *p, const struct json_t *b, char *why)
{
    const char *condition = member_text(b, "condition", "");
    uint64_t hits = 0;
    const char *hit = member_text(b, "hitCondition", "");
    if (*hit && (cli_parse_u64(hit, &hits) != RD_OK || !hits)) {
        (void)snprintf(why, WHY, "hitCondition '%.60s': a number of at least 1", hit);
        return false;
    }
    p->ignore = hits ? hits - 1 : 0;
    (void)snprintf(p->log, sizeof p->log, "%s", member_text(b, "logMessage", ""));
    return point_condition(&d->session, p, condition, why);
}

/* One element of the answer. */
static void tell(struct dap *d, struct json *j, const struct json_t *b, struct point *p,
                 char *why, int kind, const char *path)
{
    unsigned number = p ? p->number : 0;
    json_object(j, NULL);
    if (p && !refine(d, p, b, why)) {
        (void)point_delete(&d->session, number);
        p = NULL;
    }
    json_bool(j, "verified", p && !d->session.idle);
    if (p && d->session.idle)
        json_text(j, "message", "waits for a kernel that has it");
    if (!p) {
        json_text(j, "message", why);
        json_close(j);
        return;
    }
    own(d, kind, path, number);
    json_u64(j, "id", number);
    const struct source_line *l =
        p->n_pcs ? program_line(&d->session.program, p->pcs[0]) : NULL;
    if (l)
        json_u64(j, "line", l->line);
    if (p->n_pcs) {
        char text[32];
        (void)snprintf(text, sizeof text, "0x%" PRIx64, p->pcs[0]);
        json_text(j, "instructionReference", text);
    }
    json_close(j);
}

static struct point *at_source(struct dap *d, const struct json_t *b, const char *path,
                               char *why)
{
    char where[600];
    (void)snprintf(where, sizeof where, "%.500s:%" PRId64, path,
                   member_int(b, "line", 0));
    return point_place(&d->session, where, why);
}

static struct point *at_instruction(struct dap *d, const struct json_t *b, char *why)
{
    uint64_t pc;
    const char *text = member_text(b, "instructionReference", "");
    if (cli_parse_u64(text, &pc) != RD_OK) {
        (void)snprintf(why, WHY, "instructionReference '%.60s' is no address", text);
        return NULL;
    }
    return point_address(&d->session, pc + (uint64_t)member_int(b, "offset", 0), text,
                         why);
}

/* dataId is "THREAD LANE EXPRESSION". */
static struct point *at_data(struct dap *d, const struct json_t *b, char *why)
{
    struct session *s = &d->session;
    const char *id = member_text(b, "dataId", ""),
               *access = member_text(b, "accessType", "write");
    char *end;
    long thread = strtol(id, &end, 10);
    unsigned long lane = strtoul(end, &end, 10);
    if (*end != ' ' || thread < 1 || lane > 63) {
        (void)snprintf(why, WHY, "dataId '%.60s' is none of dataBreakpointInfo", id);
        return NULL;
    }
    uint64_t group = s->group;
    unsigned wave = s->wave, before = s->lane;
    s->group = (uint64_t)(thread - 1) / d->waves_per_group;
    s->wave = (unsigned)((uint64_t)(thread - 1) % d->waves_per_group);
    s->lane = (unsigned)lane;
    struct point *p =
        point_watch(s, end + 1,
                    strcmp(access, "read") == 0        ? WATCH_READ
                    : strcmp(access, "readWrite") == 0 ? WATCH_READ | WATCH_WRITE
                                                       : WATCH_CHANGE,
                    why);
    s->group = group;
    s->wave = wave;
    s->lane = before;
    return p;
}

bool dap_set_points(struct dap *d, const char *command, const struct json_t *request,
                    const struct json_t *args)
{
    static const char *const names[] = {"setBreakpoints", "setFunctionBreakpoints",
                                        "setInstructionBreakpoints",
                                        "setDataBreakpoints"};
    int kind = 0;
    while (kind < 4 && strcmp(command, names[kind]) != 0)
        kind++;
    if (kind == 4)
        return false;
    const struct json_t *source = member(args, "source");
    const char *path = kind == DAP_SOURCE ? member_text(source, "path",
                                                        member_text(source, "name", ""))
                                          : NULL;
    const struct json_t *list = member(args, "breakpoints");
    struct reply r;
    drop(d, kind, path);
    reply_begin(d, &r, request);
    json_array(&r.j, "breakpoints");
    for (size_t i = 0; i < elements(list); i++) {
        const struct json_t *b = element(list, i);
        char why[WHY] = "";
        struct point *p =
            kind == DAP_SOURCE ? at_source(d, b, path, why)
            : kind == DAP_FUNCTION
                ? point_place(&d->session, member_text(b, "name", ""), why)
            : kind == DAP_INSTRUCTION ? at_instruction(d, b, why)
                                      : at_data(d, b, why);
        tell(d, &r.j, b, p, why, kind, path);
    }
    json_close(&r.j);
    reply_end(d, &r);
    return true;
}
