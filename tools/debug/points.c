/* points.c: breakpoints and watchpoints.
 *
 * Must not know how time goes on. SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"

#define WHY 200

static struct point *add(struct session *s, enum point_kind kind, const char *what)
{
    struct point *bigger = realloc(s->points, (s->n_points + 1) * sizeof *bigger);
    if (!bigger)
        return NULL;
    s->points = bigger;
    struct point *p = &bigger[s->n_points++];
    *p = (struct point){.number = ++s->next_point, .kind = kind, .enabled = true};
    (void)snprintf(p->what, sizeof p->what, "%.120s", what);
    (void)snprintf(p->where, sizeof p->where, "%.250s", what);
    return p;
}

void points_changed(struct session *s)
{
    if (!s->place_bits)
        return;
    memset(s->place_bits, 0, s->place_bytes / 32 + 1);
    for (unsigned i = 0; i < s->n_points; i++)
        for (unsigned k = 0; k < s->points[i].n_pcs; k++) {
            uint64_t at = (s->points[i].pcs[k] - s->place_base) / 4;
            if (s->points[i].enabled && at < s->place_bytes / 4)
                s->place_bits[at / 8] |= (uint8_t)(1u << at % 8);
        }
}

/* Is an instruction there that a wave could execute? */
static bool in_code(const struct session *s, uint64_t pc)
{
    return pc % 4 == 0 && pc >= s->place_base && pc - s->place_base < s->place_bytes;
}

static struct point *at_places(struct session *s, const uint64_t *pcs, unsigned n,
                               const char *what, char *why)
{
    struct point *p = add(s, POINT_PLACE, what);
    if (!p) {
        (void)snprintf(why, WHY, "out of memory");
        return NULL;
    }
    memcpy(p->pcs, pcs, n * sizeof *pcs);
    p->n_pcs = n;
    points_changed(s);
    return p;
}

struct point *point_address(struct session *s, uint64_t pc, const char *what, char *why)
{
    if (in_code(s, pc))
        return at_places(s, &pc, 1, what, why);
    (void)snprintf(why, WHY, "0x%" PRIx64 " is no address of code", pc);
    return NULL;
}

/* FILE:LINE or LINE. */
static struct point *at_line(struct session *s, const char *where, char *why)
{
    const char *colon = strrchr(where, ':');
    char file[200] = "";
    uint64_t number;
    uint64_t pcs[POINT_PLACES];
    if (colon)
        (void)snprintf(file, sizeof file, "%.*s",
                       colon - where < 199 ? (int)(colon - where) : 199, where);
    if (cli_parse_u64(colon ? colon + 1 : where, &number) != RD_OK || !number ||
        number > UINT32_MAX) {
        (void)snprintf(why, WHY, "'%.60s': not a line", colon ? colon + 1 : where);
        return NULL;
    }
    unsigned line = (unsigned)number;
    if (!s->program.source) {
        (void)snprintf(why, WHY, "no lines are known: %s",
                       source_missing()
                           ? source_missing()
                           : "the code object has no DWARF (compile with -g)");
        return NULL;
    }
    unsigned n =
        program_line_places(&s->program, *file ? file : NULL, &line, pcs, POINT_PLACES);
    if (!n) {
        (void)snprintf(why, WHY, "no code at or behind line %" PRIu64 "%s%.80s", number,
                       *file ? " of " : "", file);
        return NULL;
    }
    char what[128];
    (void)snprintf(what, sizeof what, "%.100s%s%u", file, *file ? ":" : "line ", line);
    return at_places(s, pcs, n, what, why);
}

static struct point *place(struct session *s, const char *where, char *why)
{
    uint64_t pc;
    struct context c;
    struct expr_error err;
    if (*where == '*') { /* *ADDRESS, *FUNCTION, *FUNCTION+OFFSET, *+OFFSET */
        const char *text = where + 1;
        size_t n = strcspn(text, "+");
        char name[128];
        (void)snprintf(name, sizeof name, "%.*s", n < 127 ? (int)n : 127, text);
        pc = n ? program_function(&s->program, name, true) : s->program.entry;
        uint64_t offset = 0;
        if (pc && text[n] && cli_parse_u64(text + n + 1, &offset) == RD_OK)
            return point_address(s, pc + offset, where, why);
        if (pc && !text[n])
            return point_address(s, pc, where, why);
        (void)session_context(s, &c);
        if (!expr_u64(&c, text, &pc, &err)) {
            (void)snprintf(why, WHY, "%.190s", err.text);
            return NULL;
        }
        return point_address(s, pc, where, why);
    }
    if (isdigit((unsigned char)*where) || strchr(where, ':'))
        return at_line(s, where, why);
    uint64_t pcs[POINT_PLACES];
    unsigned n = program_function_places(&s->program, where, pcs, POINT_PLACES);
    if (n)
        return at_places(s, pcs, n, where, why);
    (void)snprintf(
        why, WHY,
        "there is no function '%.60s' (a place is FUNCTION, LINE, FILE:LINE, "
        "*ADDRESS or *+OFFSET)",
        where);
    return NULL;
}

struct point *point_place(struct session *s, const char *where, char *why)
{
    struct point *p = s->idle ? add(s, POINT_PLACE, where) : place(s, where, why);
    if (p)
        (void)snprintf(p->where, sizeof p->where, "%.250s", where);
    else if (s->idle)
        (void)snprintf(why, WHY, "out of memory");
    return p;
}

/* Where a point is in the dispatch that has come. */
static bool resolve(struct session *s, struct point *p)
{
    char why[WHY], where[sizeof p->where];
    struct point found;
    unsigned number = s->next_point;
    if (p->kind == POINT_MNEMONIC)
        return true;
    if (p->kind == POINT_WATCH) {
        bool ok = watched_of(s, p->where, &p->watched, &p->type, why);
        if (!ok)
            p->watched = (struct watched){.bytes = 0};
        return ok;
    }
    unsigned index = (unsigned)(p - s->points);
    memcpy(where, p->where, sizeof where); /* it may move */
    struct point *there = place(s, where, why);
    if (!there)
        return false;
    found = *there;
    (void)point_delete(s, found.number);
    s->next_point = number;
    p = &s->points[index];
    memcpy(p->pcs, found.pcs, sizeof p->pcs);
    p->n_pcs = found.n_pcs;
    (void)snprintf(p->what, sizeof p->what, "%s", found.what);
    return true;
}

bool points_resolve(struct session *s)
{
    bool any = false;
    for (unsigned i = 0; i < s->n_points; i++) {
        s->points[i].n_pcs = 0;
        any |= resolve(s, &s->points[i]) && s->points[i].enabled;
    }
    points_changed(s);
    return any;
}

struct point *point_mnemonic(struct session *s, const char *pattern, char *why)
{
    unsigned n = isa_op_count(), found = 0;
    uint8_t *ops = calloc(n, 1);
    for (unsigned op = 0; ops && op < n; op++) {
        const char *name = isa_op_name(op);
        ops[op] = name && fnmatch(pattern, name, 0) == 0;
        found += ops[op];
    }
    struct point *p = ops && found ? add(s, POINT_MNEMONIC, pattern) : NULL;
    if (!p) {
        free(ops);
        (void)snprintf(why, WHY, "no instruction is called '%.60s'", pattern);
        return NULL;
    }
    p->ops = ops;
    return p;
}

struct point *point_find(struct session *s, unsigned number)
{
    for (unsigned i = 0; i < s->n_points; i++)
        if (s->points[i].number == number)
            return &s->points[i];
    return NULL;
}

bool point_delete(struct session *s, unsigned number)
{
    struct point *p = point_find(s, number);
    if (!p)
        return false;
    free(p->ops);
    size_t behind = s->n_points - (size_t)(p - s->points) - 1;
    memmove(p, p + 1, behind * sizeof *p);
    s->n_points--;
    points_changed(s);
    return true;
}

void points_delete_all(struct session *s, bool internal_too)
{
    for (unsigned i = s->n_points; i-- > 0;)
        if (internal_too || !s->points[i].internal)
            (void)point_delete(s, s->points[i].number);
}

/* Is a condition one that can be judged? Names that are not visible here may be where
 * it stops, so only what is no expression at all is refused. */
bool point_condition(struct session *s, struct point *p, const char *text, char *why)
{
    struct context c;
    struct expr_error err;
    struct value v;
    if (strlen(text) >= sizeof p->condition) {
        (void)snprintf(why, WHY, "the condition is too long");
        return false;
    }
    if (*text && session_context(s, &c) && !expr_value(&c, text, &v, NULL, &err) &&
        !strstr(err.text, "there is no variable") &&
        !strstr(err.text, "optimized out") && !strstr(err.text, "cannot be read") &&
        !strstr(err.text, "cannot read") && !strstr(err.text, "location") &&
        !strstr(err.text, "member")) {
        (void)snprintf(why, WHY, "condition: %.170s", err.text);
        return false;
    }
    (void)snprintf(p->condition, sizeof p->condition, "%s", text);
    return true;
}

/* ---- breakpoints while it runs ---- */

/* Some active lane for which the condition holds; -1: none; -2: not of one lane. */
static int lane_that_fits(struct session *s, const struct point *p,
                          const struct emu_wave_info *wave)
{
    struct context c;
    struct expr_error err;
    bool yes = false;
    if (!*p->condition)
        return -2;
    if (!context_of(&c, &s->target, &s->program, wave->group, wave->wave, 0))
        return -1;
    bool by_lane = expr_by_lane(p->condition);
    for (unsigned l = 0; l < wave->lanes; l++) {
        if (by_lane && !(c.wave.view.exec >> l & 1))
            continue;
        c.lane = l;
        if (expr_true(&c, p->condition, &yes, &err) && yes)
            return by_lane ? (int)l : -2;
        if (!by_lane)
            return -1;
    }
    return -1;
}

static bool is_at(const struct point *p, const struct emu_inst *inst)
{
    if (p->kind == POINT_MNEMONIC)
        return inst->isa.op < isa_op_count() &&
               (p->ops[inst->isa.op] ||
                (inst->isa.op_y < isa_op_count() && p->ops[inst->isa.op_y]));
    for (unsigned i = 0; i < p->n_pcs; i++)
        if (p->pcs[i] == inst->pc)
            return true;
    return false;
}

/* What a log point says here: {EXPRESSION} are values. */
static void say(struct session *s, const struct point *p,
                const struct emu_wave_info *wave, unsigned lane)
{
    struct context c;
    struct expr_error err;
    char text[1024];
    size_t n = 0;
    struct value *v = malloc(sizeof *v);
    if (!v || s->now < s->frontier || /* it has been said */
        !context_of(&c, &s->target, &s->program, wave->group, wave->wave, lane)) {
        free(v);
        return;
    }
    for (const char *at = p->log; *at && n + 2 < sizeof text;) {
        const char *end = *at == '{' ? strchr(at, '}') : NULL;
        char expression[256];
        if (!end) {
            text[n++] = *at++;
            continue;
        }
        (void)snprintf(expression, sizeof expression, "%.*s", (int)(end - at - 1),
                       at + 1);
        if (expr_value(&c, expression, v, NULL, &err))
            value_text(&c, v, 0, text + n, sizeof text - n - 1);
        else
            (void)snprintf(text + n, sizeof text - n - 1, "<%s>", err.text);
        n += strlen(text + n);
        at = end + 1;
    }
    text[n++] = '\n';
    text[n] = '\0';
    free(v);
    if (s->log)
        s->log(s->poll_ctx, text);
    else
        (void)fputs(text, stdout);
}

const struct point *points_at(struct session *s, const struct emu_wave_info *wave,
                              const struct emu_inst *inst, int *lane)
{
    uint64_t at = (inst->pc - s->place_base) / 4;
    bool place = at < s->place_bytes / 4 && (s->place_bits[at / 8] >> at % 8 & 1);
    for (unsigned i = 0; i < s->n_points; i++) {
        struct point *p = &s->points[i];
        if (!p->enabled || p->kind == POINT_WATCH ||
            (p->kind == POINT_PLACE && !place) || !is_at(p, inst))
            continue;
        int l = lane_that_fits(s, p, wave);
        if (l == -1)
            continue;
        p->hits++;
        if (p->ignore) {
            p->ignore--;
            continue;
        }
        if (*p->log) {
            say(s, p, wave, l < 0 ? 0 : (unsigned)l);
            continue;
        }
        *lane = l == -2 ? -1 : l;
        return p;
    }
    return NULL;
}

/* ---- watchpoints ---- */

bool watched_of(struct session *s, const char *expression, struct watched *out,
                const struct vtype **type, char *why)
{
    struct context c;
    struct expr_error err;
    struct value *v = calloc(1, sizeof *v);
    bool ok = v != NULL;
    (void)session_context(s, &c); /* global memory needs no wave */
    if (ok && !expr_value(&c, expression, v, NULL, &err)) {
        (void)snprintf(why, WHY, "%.190s", err.text);
        ok = false;
    } else if (ok && v->place != VALUE_MEMORY && v->place != VALUE_REGISTER) {
        (void)snprintf(why, WHY, "'%.80s' lies neither in memory nor in a register",
                       expression);
        ok = false;
    } else if (ok && (v->type->bytes > 16 || !v->type->bytes)) {
        (void)snprintf(why, WHY, "%" PRIu64 " bytes: at most 16 are watched at a time",
                       v->type->bytes);
        ok = false;
    }
    if (ok) {
        *out = (struct watched){.is_register = v->place == VALUE_REGISTER,
                                .sel = v->sel,
                                .space = v->space,
                                .lane = s->lane,
                                .group = s->group,
                                .wave = s->wave,
                                .address = v->address,
                                .bytes = (unsigned)v->type->bytes};
        *type = v->type;
    }
    free(v);
    return ok;
}

void watched_read(struct session *s, struct watched *w)
{
    bool global = !w->is_register && w->space == EMU_SPACE_GLOBAL;
    unsigned index = global ? TG_NO_WAVE : tg_find(&s->target, w->group, w->wave);
    w->valid = false;
    if (index == TG_NO_WAVE && !global)
        return;
    w->valid = true;
    for (unsigned i = 0; w->is_register && i < w->bytes; i += 4) {
        uint32_t dword = 0;
        w->valid &= live_ops.reg(s, index, w->sel + i / 4, w->lane, &dword);
        memcpy(w->value + i, &dword, w->bytes - i < 4 ? w->bytes - i : 4);
    }
    if (!w->is_register)
        w->valid = tg_read(&s->target, index, w->space, w->lane, w->address, w->bytes,
                           w->value);
}

void watched_text(const struct watched *w, char *text, size_t size)
{
    static const char *const spaces[] = {"global", "lds", "scratch", "gds"};
    if (!w->is_register) {
        (void)snprintf(text, size, "%s[0x%" PRIx64 "], %u bytes", spaces[w->space & 3],
                       w->address, w->bytes);
        if (w->space != EMU_SPACE_GLOBAL) {
            size_t n = strlen(text);
            (void)snprintf(text + n, size - n, ", workgroup %" PRIu64, w->group);
        }
        return;
    }
    char name[16];
    if (w->sel >= ISA_SEL_VGPR0)
        (void)snprintf(name, sizeof name, "v%u", w->sel - ISA_SEL_VGPR0);
    else
        (void)snprintf(name, sizeof name, "s%u", w->sel);
    (void)snprintf(text, size, "%s of wave %" PRIu64 ".%u%s", name, w->group, w->wave,
                   w->sel >= ISA_SEL_VGPR0 ? "" : "");
    if (w->sel >= ISA_SEL_VGPR0) {
        size_t n = strlen(text);
        (void)snprintf(text + n, size - n, " lane %u", w->lane);
    }
}

struct point *point_watch(struct session *s, const char *expression, unsigned mode,
                          char *why)
{
    struct watched w;
    const struct vtype *type;
    w = (struct watched){.bytes = 0};
    type = NULL;
    if (!s->idle && !watched_of(s, expression, &w, &type, why))
        return NULL;
    struct point *p = add(s, POINT_WATCH, expression);
    if (!p) {
        (void)snprintf(why, WHY, "out of memory");
        return NULL;
    }
    p->mode = mode;
    p->type = type;
    p->watched = w;
    if (!s->idle)
        watched_read(s, &p->watched);
    return p;
}

void points_refresh(struct session *s)
{
    for (unsigned i = 0; i < s->n_points; i++)
        if (s->points[i].kind == POINT_WATCH)
            watched_read(s, &s->points[i].watched);
}

void points_before(struct session *s)
{
    for (unsigned i = 0; i < s->n_points; i++)
        if (s->points[i].kind == POINT_WATCH && !s->points[i].watched.valid)
            watched_read(s, &s->points[i].watched);
}

/* Does the instruction read or write one of the registers? */
static bool uses_register(const struct watched *w, const struct emu_event *e,
                          unsigned flag)
{
    if (e->wave->group != w->group || e->wave->wave != w->wave)
        return false;
    unsigned n = (w->bytes + 3) / 4;
    for (unsigned i = 0; i < e->inst->n_regs; i++) {
        const struct emu_reg *r = &e->inst->reg[i];
        if (r->flags & flag && r->sel < w->sel + n && w->sel < r->sel + r->dwords)
            return true;
    }
    return false;
}

/* The first lane that touches the bytes; -1: none. */
static int touches(const struct watched *w, const struct emu_event *e, bool write)
{
    if (w->space != EMU_SPACE_GLOBAL && e->wave->group != w->group)
        return -1;
    if (w->space == EMU_SPACE_SCRATCH && e->wave->wave != w->wave)
        return -1;
    for (unsigned i = 0; i < e->n_accesses; i++) {
        const struct emu_access *a = &e->access[i];
        if (a->space != w->space || !(write ? a->write : a->read))
            continue;
        for (uint64_t m = a->lanes; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctzll(m);
            if (a->address[l] < w->address + w->bytes &&
                w->address < a->address[l] + a->bytes &&
                (w->space != EMU_SPACE_SCRATCH || l == w->lane))
                return (int)l;
        }
    }
    return -1;
}

/* Has this step done what the point waits for? */
static bool meets(struct session *s, struct point *p, const struct emu_event *e,
                  struct stop *stop)
{
    struct watched *w = &p->watched;
    int lane = -1;
    bool wrote, was_read = false;
    if (w->is_register) {
        wrote = uses_register(w, e, ISA_OF_OUT);
        was_read = p->mode & WATCH_READ && uses_register(w, e, ISA_OF_IN);
        lane = w->sel >= ISA_SEL_VGPR0 ? (int)w->lane : -1;
    } else {
        lane = touches(w, e, true);
        wrote = lane >= 0;
        if (!wrote && p->mode & WATCH_READ) {
            lane = touches(w, e, false);
            was_read = lane >= 0;
        }
    }
    if (!wrote && !was_read)
        return false;
    struct watched before = *w;
    watched_read(s, w);
    bool changed = before.valid != w->valid || memcmp(before.value, w->value, w->bytes);
    if (!(p->mode & WATCH_READ && was_read) && !(p->mode & WATCH_WRITE && wrote) &&
        !(p->mode & WATCH_CHANGE && changed))
        return false;
    stop->kind = STOPPED_WATCH;
    stop->write = wrote;
    stop->pc = e->inst->pc;
    stop->group = e->wave->group;
    stop->wave = e->wave->wave;
    stop->lane = lane;
    stop->before = before;
    stop->after = *w;
    return true;
}

/* A condition is judged behind the access, for the lane that did it. */
static bool watch_condition(struct session *s, const struct point *p,
                            const struct stop *stop)
{
    struct context c;
    struct expr_error err;
    bool yes;
    return !*p->condition ||
           (context_of(&c, &s->target, &s->program, stop->group, stop->wave,
                       stop->lane < 0 ? 0 : (unsigned)stop->lane) &&
            expr_true(&c, p->condition, &yes, &err) && yes);
}

const struct point *points_after(struct session *s, const struct emu_event *e,
                                 struct stop *stop)
{
    for (unsigned i = 0; e && i < s->n_points; i++) {
        struct point *p = &s->points[i];
        if (p->kind != POINT_WATCH || !p->enabled || !p->watched.bytes ||
            e->flags & EMU_EV_FAULT || !meets(s, p, e, stop) ||
            !watch_condition(s, p, stop))
            continue;
        p->hits++;
        if (p->ignore) {
            p->ignore--;
            continue;
        }
        stop->point = p->number;
        return p;
    }
    return NULL;
}
