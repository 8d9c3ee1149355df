/* symbol.c: symbols, labels and assignments.
 *
 * Must not know sections' contents or ELF. Invariant: symbol 0 stands for "none"; a
 * label is defined once, a symbol set by .set as often as one likes.
 * SPDX-License-Identifier: MIT
 */
#include "as.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t add_symbol(struct as *as, struct as_symbol symbol)
{
    if (as->n_symbols >= AS_SEC_LDS || !as_grow((void **)&as->symbols, &as->cap_symbols,
                                                as->n_symbols, sizeof symbol)) {
        as_out_of_memory(as);
        return 0;
    }
    as->symbols[as->n_symbols] = symbol;
    return as->n_symbols++;
}

uint32_t as_symbol(struct as *as, const char *name, size_t len)
{
    uint32_t *at = as_map_at(&as->symbol_map, name, len, true);
    if (!at) {
        as_out_of_memory(as);
        return 0;
    }
    if (*at == 0)
        *at =
            add_symbol(as, (struct as_symbol){.name = name, .name_len = (uint32_t)len});
    return *at;
}

uint32_t as_symbol_anonymous(struct as *as)
{
    return add_symbol(as, (struct as_symbol){0});
}

const char *as_keep(struct as *as, const char *text, size_t len)
{
    char *copy = malloc(len + 2);
    if (!copy ||
        !as_grow((void **)&as->texts, &as->cap_texts, as->n_texts, sizeof *as->texts)) {
        free(copy);
        as_out_of_memory(as);
        return NULL;
    }
    copy[0] = '\n'; /* where a message's search for the line's start ends */
    memcpy(copy + 1, text, len);
    copy[len + 1] = '\0';
    as->texts[as->n_texts++] = copy;
    return copy + 1;
}

void as_defined_here(const struct as *as, struct as_symbol *s)
{
    s->source = as_source_of(as, as->p);
    s->line = as_source_line(as, as->line);
}

const char *as_definition(const struct as *as, const struct as_symbol *s,
                          char text[AS_PLACE_BYTES])
{
    bool here = s->source == as_source_of(as, as->p);
    snprintf(text, AS_PLACE_BYTES, "line %" PRIu32 "%s%.200s", s->line,
             here ? "" : " of ", here ? "" : as_source_name(as, s->source));
    return text;
}

static void define_here(struct as *as, uint32_t index)
{
    struct as_symbol *s = &as->symbols[index];
    s->section = as->section;
    s->value = as->sections[as->section].bytes;
    as_defined_here(as, s);
}

static void error_defined(struct as *as, const char *name, size_t len)
{
    const struct as_symbol *s = &as->symbols[as_map_get(&as->symbol_map, name, len)];
    char place[AS_PLACE_BYTES];
    as_error(as, name, "symbol '%.*s' is already defined in %s",
             (int)(len > 100 ? 100 : len), name, as_definition(as, s, place));
}

void as_label(struct as *as, const char *name, size_t len)
{
    uint32_t index = as_symbol(as, name, len);
    if (index == 0)
        return;
    if (as->symbols[index].section != 0) {
        error_defined(as, name, len);
        return;
    }
    define_here(as, index);
}

/* Numeric labels: one entry per number. */
static struct as_local *local_of(struct as *as, uint64_t number)
{
    char key[24];
    int len = snprintf(key, sizeof key, "%" PRIu64, number);
    uint32_t index = as_map_get(&as->local_map, key, (size_t)len);
    if (index)
        return &as->locals[index];
    if (as->n_locals == 0)
        as->n_locals = 1;
    const char *kept = as_keep(as, key, (size_t)len);
    uint32_t *at = kept ? as_map_at(&as->local_map, kept, (size_t)len, true) : NULL;
    if (!at || !as_grow((void **)&as->locals, &as->cap_locals, as->n_locals,
                        sizeof *as->locals)) {
        as_out_of_memory(as);
        return NULL;
    }
    as->locals[as->n_locals] = (struct as_local){0};
    *at = as->n_locals;
    return &as->locals[as->n_locals++];
}

void as_local_label(struct as *as, uint64_t number, const char *at)
{
    (void)at;
    struct as_local *local = local_of(as, number);
    if (!local)
        return;
    uint32_t symbol = local->next ? local->next : as_symbol_anonymous(as);
    if (symbol == 0)
        return;
    local->last = symbol;
    local->next = 0;
    define_here(as, symbol);
}

uint32_t as_local_ref(struct as *as, uint64_t number, bool forward)
{
    struct as_local *local = local_of(as, number);
    as->error.at = as->p - 1;
    if (local && !forward && local->last == 0)
        snprintf(as->error.text, sizeof as->error.text,
                 "no label %" PRIu64 ": before this place", number);
    else
        snprintf(as->error.text, sizeof as->error.text, "out of memory");
    if (!local || !forward)
        return local ? local->last : 0;
    if (local->next == 0)
        local->next = as_symbol_anonymous(as);
    return local->next;
}

/* Does the expression lead to the symbol? The depth bound ends cycles of others. */
static bool mentions(const struct as *as, uint32_t node, uint32_t symbol,
                     unsigned *steps)
{
    if (node == 0 || ++*steps > 10000)
        return false;
    const struct as_node *n = &as->nodes[node];
    if (n->op == AS_CONST)
        return false;
    if (n->op != AS_SYM)
        return mentions(as, n->a, symbol, steps) || mentions(as, n->b, symbol, steps);
    const struct as_symbol *s = &as->symbols[n->a];
    if (n->a == symbol)
        return true;
    return s->section == AS_SEC_VAR && mentions(as, s->node, symbol, steps);
}

/* Code from here on is for waves of another size. */
static void set_wave(struct as *as, const char *at, const struct as_symbol *s)
{
    if (s->node || (s->value != 32 && s->value != 64)) {
        as_error(as, at, "the wave size must be 32 or 64");
        return;
    }
    as->wave = as->isa.wave = (unsigned)s->value;
}

void as_assign(struct as *as, const char *name, size_t len, bool redefinable)
{
    struct ex_value ref;
    if (len == 1 && *name == '.') {
        as_error(as, name, "assignment to '.': use .org, .p2align or .space");
        return;
    }
    if (!as_expr(as, &ref))
        return;
    uint32_t index = as_symbol(as, name, len);
    if (index == 0)
        return;
    struct as_symbol *s = &as->symbols[index];
    unsigned steps = 0;
    if (s->section != 0 && (s->section != AS_SEC_VAR || !redefinable ||
                            !(s->flags & AS_SYM_REDEFINABLE))) {
        error_defined(as, name, len);
        return;
    }
    int64_t k;
    if (ref.node && as_eval_number(as, ref, AS_EVAL_CONST, &k))
        ref = (struct ex_value){.k = k};
    if (mentions(as, ref.node, index, &steps)) {
        as_error(as, name, "the symbol is defined by itself");
        return;
    }
    s = &as->symbols[index];
    s->section = AS_SEC_VAR;
    s->node = ref.node;
    s->value = (uint64_t)ref.k;
    s->at = name;
    as_defined_here(as, s);
    if (index == as->wave_symbol) {
        set_wave(as, name, s);
        return;
    }
    s->flags |= AS_SYM_USED;
    if (redefinable)
        s->flags |= AS_SYM_REDEFINABLE;
}
