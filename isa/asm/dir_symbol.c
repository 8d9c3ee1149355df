/* dir_symbol.c: directives about symbols: binding, visibility, type, size, value.
 *
 * Must not know ELF's tables. Invariant: naming a symbol here does not define it.
 * SPDX-License-Identifier: MIT
 */
#include "as.h"

#include <elf.h>
#include <stdlib.h>

enum what { GLOBAL, WEAK, LOCAL, HIDDEN, PROTECTED, INTERNAL };

static void apply(struct as_symbol *s, enum what what)
{
    s->flags |= AS_SYM_USED;
    switch (what) {
    case GLOBAL:
        s->bind = STB_GLOBAL;
        s->flags |= AS_SYM_BOUND;
        break;
    case WEAK:
        s->bind = STB_WEAK;
        s->flags |= AS_SYM_BOUND;
        break;
    case LOCAL:
        s->bind = STB_LOCAL;
        s->flags |= AS_SYM_BOUND;
        break;
    case HIDDEN:
        s->vis = STV_HIDDEN;
        break;
    case PROTECTED:
        s->vis = STV_PROTECTED;
        break;
    case INTERNAL:
        s->vis = STV_INTERNAL;
        break;
    }
}

/* .globl a, b */
static void dir_attribute(struct as *as, int what)
{
    do {
        const char *name;
        size_t len;
        if (!as_need_name(as, "a symbol", &name, &len))
            return;
        uint32_t symbol = as_symbol(as, name, len);
        if (symbol)
            apply(&as->symbols[symbol], (enum what)what);
    } while (as_take(as, ','));
}

static void dir_type(struct as *as, int arg)
{
    static const struct {
        const char *name, *other;
        uint8_t type;
    } types[] = {
        {"function", "STT_FUNC", STT_FUNC},   {"object", "STT_OBJECT", STT_OBJECT},
        {"notype", "STT_NOTYPE", STT_NOTYPE}, {"common", "STT_COMMON", STT_COMMON},
        {"tls_object", "STT_TLS", STT_TLS},
    };
    (void)arg;
    const char *name, *type;
    size_t len, type_len;
    if (!as_need_name(as, "a symbol", &name, &len))
        return;
    (void)as_take(as, ',');
    as_blanks(as);
    const char *at = as->p;
    if (as->p < as->end && (*as->p == '@' || *as->p == '%' || *as->p == '#'))
        as->p++;
    if (as_name(as, &type, &type_len))
        for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
            if (!as_same(type, type_len, types[i].name) &&
                !as_same(type, type_len, types[i].other))
                continue;
            uint32_t symbol = as_symbol(as, name, len);
            struct as_symbol *s = &as->symbols[symbol];
            /* A function stays one: .type may only add to what is known. */
            if (symbol && !(s->type == STT_FUNC && types[i].type != STT_FUNC))
                s->type = types[i].type;
            return;
        }
    as_error(as, at, "unknown symbol type (@function, @object, @notype ...)");
}

static void dir_size(struct as *as, int arg)
{
    (void)arg;
    const char *name;
    size_t len;
    struct ex_value ref;
    if (!as_need_name(as, "a symbol", &name, &len) || !as_expect(as, ',') ||
        !as_expr(as, &ref))
        return;
    uint32_t symbol = as_symbol(as, name, len);
    if (symbol)
        as->symbols[symbol].size = ref;
}

/* .set name, value; arg: may be set again */
static void dir_set(struct as *as, int redefinable)
{
    const char *name;
    size_t len;
    if (as_need_name(as, "a symbol", &name, &len) && as_expect(as, ','))
        as_assign(as, name, len, redefinable);
}

/* .ident "text": into .comment, which begins with a zero byte. */
static void dir_ident(struct as *as, int arg)
{
    static const char name[] = ".comment";
    const struct as_section_spec spec = {.name = name,
                                         .name_len = sizeof name - 1,
                                         .type = SHT_PROGBITS,
                                         .flags = SHF_MERGE | SHF_STRINGS,
                                         .entsize = 1,
                                         .at = as->p};
    (void)arg;
    struct as_buf text = {0};
    if (!as->has_ident)
        as_buf_add(&text, "", 1);
    if (!as_string(as, &text)) {
        as_error(as, as->error.at, "%s", as->error.text);
    } else {
        as_buf_add(&text, "", 1);
        uint32_t back = as->section;
        uint32_t comment = as_section_get(as, &spec);
        as->has_ident = true;
        as->section = comment ? comment : back;
        uint8_t *out = comment && !text.failed ? as_emit(as, text.bytes) : NULL;
        if (out)
            memcpy(out, text.data, text.bytes);
        as->section = back;
    }
    free(text.data);
}

static void dir_common(struct as *as, int arg)
{
    (void)arg;
    as_error(as, as->p, "common symbols are not supported: reserve space in .bss");
}

const struct as_directive as_directives_symbol[] = {
    {".globl", dir_attribute, GLOBAL},
    {".global", dir_attribute, GLOBAL},
    {".weak", dir_attribute, WEAK},
    {".local", dir_attribute, LOCAL},
    {".hidden", dir_attribute, HIDDEN},
    {".protected", dir_attribute, PROTECTED},
    {".internal", dir_attribute, INTERNAL},
    {".type", dir_type, 0},
    {".size", dir_size, 0},
    {".set", dir_set, 1},
    {".equ", dir_set, 1},
    {".equiv", dir_set, 0},
    {".ident", dir_ident, 0},
    {".comm", dir_common, 0},
    {".common", dir_common, 0},
    {".lcomm", dir_common, 0},
    {NULL, NULL, 0},
};
