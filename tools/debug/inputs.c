/* inputs.c: what does not follow from the beginning of a dispatch: what the user sets,
 * and what the program writes while its kernel runs.
 *
 * Each is kept with its step, and done again whenever that comes: so the past stays as
 * it was, changes included. To set something in the past is to begin another future.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote.h"

#define WHY 200

/* Bytes of memory, or of registers from sel on. */
struct input {
    uint64_t step;
    bool is_register;
    unsigned sel, lane, space;
    uint64_t group; /* LDS, scratch, registers */
    unsigned wave;
    uint64_t address;
    unsigned bytes;
    uint8_t *data;
};

static const struct emu_wave_info *wave_of(const struct session *s,
                                           const struct input *in)
{
    for (unsigned i = 0; i < emu_order_groups(s->stepper); i++) {
        struct emu_group *g = emu_order_group(s->stepper, i);
        for (unsigned k = 0; k < emu_group_waves(g); k++) {
            const struct emu_wave_info *w = emu_wave_info(emu_group_wave(g, k));
            if (w->group == in->group && w->wave == in->wave)
                return w;
        }
    }
    return NULL;
}

static bool assign(const struct emu_wave_info *w, const struct input *in)
{
    for (unsigned i = 0; i < in->bytes; i += 4) {
        unsigned sel = in->sel + i / 4, n = in->bytes - i < 4 ? in->bytes - i : 4;
        uint32_t dword = sel < ISA_SEL_VGPR0
                             ? emu_wave_special(w, sel)
                             : emu_wave_vgpr(w, sel - ISA_SEL_VGPR0, in->lane);
        memcpy(&dword, in->data + i, n);
        if (!emu_wave_assign(w, sel, in->lane, dword))
            return false;
    }
    return true;
}

static bool do_input(struct session *s, const struct input *in)
{
    if (in->is_register || in->space != EMU_SPACE_GLOBAL) {
        const struct emu_wave_info *w = wave_of(s, in);
        if (w && in->is_register)
            return assign(w, in);
        return w &&
               emu_wave_poke(w, in->space, in->lane, in->address, in->bytes, in->data);
    }
    memory_mark(s, in->address, in->bytes);
    if (s->remote)
        remote_written(s->remote, in->address, in->bytes);
    memcpy((void *)(uintptr_t)in->address, in->data, in->bytes); // NOLINT
    return true;
}

void inputs_apply(struct session *s)
{
    while (s->next_input < s->n_inputs && s->inputs[s->next_input].step <= s->now)
        (void)do_input(s, &s->inputs[s->next_input++]);
}

void inputs_rewind(struct session *s)
{
    s->next_input = 0;
    while (s->next_input < s->n_inputs && s->inputs[s->next_input].step < s->now)
        s->next_input++;
    inputs_apply(s);
}

/* Forget those behind this step. */
static void cut(struct session *s)
{
    while (s->n_inputs && s->inputs[s->n_inputs - 1].step > s->now)
        free(s->inputs[--s->n_inputs].data);
    s->next_input = s->n_inputs;
    s->frontier = s->now;
}

void inputs_end(struct session *s)
{
    while (s->n_inputs)
        free(s->inputs[--s->n_inputs].data);
    free(s->inputs);
    s->inputs = NULL;
    s->next_input = 0;
}

/* At this step, which nothing follows. Takes a copy of the data. */
static bool add(struct session *s, const struct input *what, const void *data)
{
    uint8_t *copy = malloc(what->bytes + 1ul);
    struct input *bigger =
        copy ? realloc(s->inputs, (s->n_inputs + 1ul) * sizeof *bigger) : NULL;
    if (bigger)
        s->inputs = bigger;
    if (!bigger) {
        free(copy);
        return false;
    }
    memcpy(copy, data, what->bytes);
    struct input *in = &bigger[s->n_inputs];
    *in = *what;
    in->step = s->now;
    in->data = copy;
    if (!do_input(s, in)) {
        free(copy);
        return false;
    }
    s->next_input = ++s->n_inputs;
    return true;
}

bool inputs_add(struct session *s, uint64_t address, const void *data, unsigned bytes)
{
    const struct input in = {
        .space = EMU_SPACE_GLOBAL, .address = address, .bytes = bytes};
    return add(s, &in, data);
}

/* May the user write there? */
static bool writable(struct session *s, uint64_t address, uint64_t bytes, char *why)
{
    struct emu_mem m;
    bool found = emu_mem_find(la_emu(s->la), address, &m);
    if (!found || m.va + m.bytes - address < bytes)
        (void)snprintf(why, WHY, "no memory of %" PRIu64 " bytes is at 0x%" PRIx64,
                       bytes, address);
    else if (!(m.perm & EMU_MEM_WRITE))
        (void)snprintf(why, WHY, "memory at 0x%" PRIx64 " is read-only", address);
    else
        return true;
    return false;
}

/* The value in the type of what it goes to. */
static struct value fitting(const struct value *v, const struct vtype *type)
{
    static const char *const floats[] = {[2] = "f16", [4] = "f32", [8] = "f64"};
    if (v->type->kind != VT_FLOAT || type->kind != VT_HEX || type->bytes > 8 ||
        !floats[type->bytes])
        return value_as(v, type);
    struct value narrow = value_as(v, expr_type(floats[type->bytes], 3));
    narrow.type = type; /* a register holds its bits */
    return narrow;
}

static bool is_number(const struct value *v)
{
    return v->type->bytes && v->type->bytes <= 8 && v->type->kind != VT_ARRAY &&
           v->type->kind != VT_STRUCT && v->type->kind != VT_FUNCTION;
}

static bool evaluate(struct session *s, const char *to, const char *text,
                     struct value *place, struct value *v, char *why)
{
    struct context c;
    struct expr_error err;
    (void)session_context(s, &c); /* global memory needs no wave */
    if (!expr_value(&c, to, place, NULL, &err) || !expr_value(&c, text, v, NULL, &err))
        (void)snprintf(why, WHY, "%.190s", err.text);
    else if (place->place != VALUE_MEMORY && place->place != VALUE_REGISTER)
        (void)snprintf(why, WHY, "'%.80s' lies neither in memory nor in a register",
                       to);
    else if (!is_number(place) || !is_number(v))
        (void)snprintf(why, WHY, "numbers of at most 8 bytes are set, one at a time");
    else
        return true;
    return false;
}

static bool set_place(struct session *s, const char *to, const struct value *place,
                      const struct value *v, char *why)
{
    struct value fits = fitting(v, place->type);
    struct input in = {.is_register = place->place == VALUE_REGISTER,
                       .sel = place->sel,
                       .lane = s->lane,
                       .space = place->space,
                       .group = s->group,
                       .wave = s->wave,
                       .address = place->address,
                       .bytes = (unsigned)place->type->bytes};
    if (!in.is_register && in.space == EMU_SPACE_GLOBAL &&
        !writable(s, in.address, in.bytes, why))
        return false;
    cut(s);
    if (add(s, &in, fits.data)) {
        points_refresh(s);
        return true;
    }
    (void)snprintf(why, WHY, "'%.80s' cannot be set", to);
    return false;
}

bool session_set(struct session *s, const char *to, const char *value, char *why)
{
    struct value *both = calloc(2, sizeof *both);
    if (!both) {
        (void)snprintf(why, WHY, "out of memory");
        return false;
    }
    bool ok = evaluate(s, to, value, &both[0], &both[1], why) &&
              set_place(s, to, &both[0], &both[1], why);
    free(both);
    return ok;
}

bool session_write(struct session *s, uint64_t address, const void *data,
                   unsigned bytes, char *why)
{
    if (!writable(s, address, bytes, why))
        return false;
    cut(s);
    if (inputs_add(s, address, data, bytes)) {
        points_refresh(s);
        return true;
    }
    (void)snprintf(why, WHY, "out of memory");
    return false;
}
