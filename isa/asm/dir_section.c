/* dir_section.c: directives that choose sections, and those that align.
 *
 * Must not know what sections hold. Invariant: there is always a current section.
 * SPDX-License-Identifier: MIT
 */
#include "as.h"

#include <elf.h>

#ifndef SHF_GNU_RETAIN
#define SHF_GNU_RETAIN (1u << 21)
#endif

/* name or name.* */
static bool family(const char *name, size_t len, const char *prefix)
{
    size_t n = strlen(prefix);
    return len >= n && memcmp(name, prefix, n) == 0 && (len == n || name[n] == '.');
}

/* Type and flags that a name stands for. */
static void defaults(struct as_section_spec *spec)
{
    static const struct {
        const char *prefix;
        uint32_t type;
        uint64_t flags;
    } known[] = {
        {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR},
        {".init", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR},
        {".fini", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR},
        {".rodata", SHT_PROGBITS, SHF_ALLOC},
        {".rodata1", SHT_PROGBITS, SHF_ALLOC},
        {".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE},
        {".data1", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE},
        {".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE},
        {".init_array", SHT_INIT_ARRAY, SHF_ALLOC | SHF_WRITE},
        {".fini_array", SHT_FINI_ARRAY, SHF_ALLOC | SHF_WRITE},
        {".preinit_array", SHT_PREINIT_ARRAY, SHF_ALLOC | SHF_WRITE},
        {".tdata", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE | SHF_TLS},
        {".tbss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE | SHF_TLS},
    };
    spec->type = SHT_PROGBITS;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (family(spec->name, spec->name_len, known[i].prefix)) {
            spec->type = known[i].type;
            spec->flags = known[i].flags;
        }
    if (spec->name_len >= 5 && memcmp(spec->name, ".note", 5) == 0)
        spec->type = SHT_NOTE;
}

static bool parse_flags(struct as *as, struct as_section_spec *spec, bool *group)
{
    const char *flags;
    size_t len;
    as_blanks(as);
    if (as->p == as->end || *as->p != '"' || !as_name(as, &flags, &len)) {
        as_error(as, as->p, "expected section flags in quotes");
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        switch (flags[i]) {
        case 'a':
            spec->flags |= SHF_ALLOC;
            break;
        case 'w':
            spec->flags |= SHF_WRITE;
            break;
        case 'x':
            spec->flags |= SHF_EXECINSTR;
            break;
        case 'M':
            spec->flags |= SHF_MERGE;
            break;
        case 'S':
            spec->flags |= SHF_STRINGS;
            break;
        case 'T':
            spec->flags |= SHF_TLS;
            break;
        case 'e':
            spec->flags |= SHF_EXCLUDE;
            break;
        case 'R':
            spec->flags |= SHF_GNU_RETAIN;
            break;
        case 'G':
            spec->flags |= SHF_GROUP;
            *group = true;
            break;
        default:
            as_error(as, flags + i, "unknown section flag '%c' (a w x M S T e R G)",
                     flags[i]);
            return false;
        }
    }
    return true;
}

static bool parse_type(struct as *as, struct as_section_spec *spec)
{
    static const struct {
        const char *name;
        uint32_t type;
    } types[] = {
        {"progbits", SHT_PROGBITS},
        {"nobits", SHT_NOBITS},
        {"note", SHT_NOTE},
        {"init_array", SHT_INIT_ARRAY},
        {"fini_array", SHT_FINI_ARRAY},
        {"preinit_array", SHT_PREINIT_ARRAY},
        {"unwind", SHT_PROGBITS},
    };
    const char *name;
    size_t len;
    as_blanks(as);
    const char *at = as->p;
    if (as->p < as->end && (*as->p == '@' || *as->p == '%'))
        as->p++;
    if (as->p < as->end && as_is(*as->p, AS_C_DIGIT)) {
        uint64_t value;
        if (!as_number(as, &value, NULL) || value > UINT32_MAX) {
            as_error(as, at, "section type does not fit 32 bits");
            return false;
        }
        spec->type = (uint32_t)value;
        return true;
    }
    if (as_name(as, &name, &len))
        for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
            if (as_same(name, len, types[i].name)) {
                spec->type = types[i].type;
                return true;
            }
    as_error(as, at, "unknown section type (progbits, nobits, note, init_array ...)");
    return false;
}

/* What the flags M and G ask for. */
static bool parse_rest(struct as *as, struct as_section_spec *spec, bool group)
{
    const char *name;
    size_t len;
    if (spec->flags & SHF_MERGE) {
        int64_t size;
        if (!as_expect(as, ',') || !as_absolute(as, &size))
            return false;
        if (size <= 0 || size > UINT32_MAX) {
            as_error(as, as->p, "the entry size must be positive");
            return false;
        }
        spec->entsize = (uint32_t)size;
    }
    if (!group)
        return true;
    if (!as_expect(as, ',') ||
        !as_need_name(as, "the group's name", &spec->group, &spec->group_len))
        return false;
    if (!as_take(as, ','))
        return true;
    if (!as_need_name(as, "comdat", &name, &len))
        return false;
    if (as_same(name, len, "comdat"))
        return true;
    as_error(as, name, "expected comdat");
    return false;
}

/* A section's name: also characters that are no identifier's. */
static bool section_name(struct as *as, const char **name, size_t *len)
{
    as_blanks(as);
    const char *p = as->p;
    if (p < as->end && *p == '"')
        return as_need_name(as, "a section name", name, len);
    while (p < as->end && (as_is(*p, AS_C_IDENT) || *p == '-' || *p == '+'))
        p++;
    if (p == as->p) {
        as_error(as, p, "expected a section name");
        return false;
    }
    *name = as->p;
    *len = (size_t)(p - as->p);
    as->p = p;
    return true;
}

/* Parse a section and enter it. */
static void named_section(struct as *as)
{
    struct as_section_spec spec = {0};
    bool group = false;
    if (!section_name(as, &spec.name, &spec.name_len))
        return;
    spec.at = spec.name;
    uint32_t known = as_map_get(&as->section_map, spec.name, spec.name_len);
    defaults(&spec);
    if (as_take(as, ',')) {
        if (!parse_flags(as, &spec, &group))
            return;
        if (as_take(as, ',') && !parse_type(as, &spec))
            return;
        if (!parse_rest(as, &spec, group))
            return;
    } else if (known) {
        as_section_enter(as, known);
        return;
    }
    as_section_enter(as, as_section_get(as, &spec));
}

static void dir_section(struct as *as, int arg)
{
    (void)arg;
    named_section(as);
}

static void dir_standard(struct as *as, int arg)
{
    static const char *const names[] = {".text", ".data", ".bss", ".rodata"};
    struct as_section_spec spec = {
        .name = names[arg], .name_len = strlen(names[arg]), .at = as->p};
    int64_t sub = 0;
    if (!as_at_end(as)) {
        const char *at = as->p;
        if (!as_absolute(as, &sub))
            return;
        if (sub != 0) {
            as_error(as, at, "subsections are not supported: name a section");
            return;
        }
    }
    defaults(&spec);
    uint32_t known = as_map_get(&as->section_map, spec.name, spec.name_len);
    as_section_enter(as, known ? known : as_section_get(as, &spec));
}

static void dir_pushsection(struct as *as, int arg)
{
    (void)arg;
    if (as->n_stack == sizeof as->stack / sizeof as->stack[0]) {
        as_error(as, as->p, "more than %zu sections are pushed",
                 sizeof as->stack / sizeof as->stack[0]);
        return;
    }
    as->stack[as->n_stack][0] = as->section;
    as->stack[as->n_stack][1] = as->previous;
    as->n_stack++;
    named_section(as);
    if (as->failed_statement)
        as->n_stack--;
}

static void dir_popsection(struct as *as, int arg)
{
    (void)arg;
    if (as->n_stack == 0) {
        as_error(as, as->p, ".popsection without .pushsection");
        return;
    }
    as->n_stack--;
    as->section = as->stack[as->n_stack][0];
    as->previous = as->stack[as->n_stack][1];
}

static void dir_previous(struct as *as, int arg)
{
    (void)arg;
    if (as->previous == 0)
        as_error(as, as->p, ".previous without a section before");
    else
        as_section_enter(as, as->previous);
}

/* The alignment operand as a number of bytes; 0 with an error. */
static uint64_t alignment(struct as *as, bool power)
{
    as_blanks(as);
    const char *at = as->p;
    int64_t value;
    if (!as_absolute(as, &value))
        return 0;
    if (power && (value < 0 || value > 31)) {
        as_error(as, at, "the alignment's power of two must be 0 to 31");
        return 0;
    }
    if (power)
        return (uint64_t)1 << value;
    if (value == 0)
        return 1;
    if (value < 0 || value > (int64_t)1 << 31 || (value & (value - 1))) {
        as_error(as, at, "the alignment must be a power of two up to 2^31");
        return 0;
    }
    return (uint64_t)value;
}

/* .p2align N[, [fill][, max]]; arg: size of the fill value, negative if the alignment
 * is in bytes. */
static void dir_align(struct as *as, int arg)
{
    unsigned size = (unsigned)(arg < 0 ? -arg : arg);
    struct ex_value fill = {0};
    bool has_fill = false;
    int64_t max = 0;
    uint64_t align = alignment(as, arg > 0);
    if (align == 0)
        return;
    if (as_take(as, ',')) {
        as_blanks(as);
        if (as->p < as->end && *as->p != ',') {
            has_fill = true;
            if (!as_absolute(as, &fill.k))
                return;
        }
        if (as_take(as, ',')) {
            const char *at = as->p;
            if (!as_absolute(as, &max))
                return;
            if (max < 1) {
                as_error(as, at, "the most bytes to skip must be positive");
                return;
            }
        }
    }
    if (as_at_end(as))
        as_align(as, align, has_fill ? &fill : NULL, size, (uint64_t)max);
}

static void dir_org(struct as *as, int arg)
{
    (void)arg;
    int64_t to;
    int64_t fill = 0;
    as_blanks(as);
    const char *at = as->p;
    struct ex_value ref;
    struct as_value v;
    const struct as_section *s = &as->sections[as->section];
    if (!as_expr(as, &ref) || (as_take(as, ',') && !as_absolute(as, &fill)))
        return;
    if (!as_eval(as, ref, AS_EVAL_NOW, &v) || v.b || v.variant ||
        (v.a && as->symbols[v.a].section != as->section)) {
        as_error(as, at, "expected a known place in this section");
        return;
    }
    to = v.k;
    if (v.a)
        to = (int64_t)((uint64_t)to + as->symbols[v.a].value);
    if (to < 0 || (uint64_t)to < s->bytes) {
        as_error(as, at, ".org cannot move backwards");
        return;
    }
    as_emit_fill(as, (uint64_t)to - s->bytes, (uint8_t)fill);
}

const struct as_directive as_directives_section[] = {
    {".text", dir_standard, 0},
    {".data", dir_standard, 1},
    {".bss", dir_standard, 2},
    {".rodata", dir_standard, 3},
    {".section", dir_section, 0},
    {".pushsection", dir_pushsection, 0},
    {".popsection", dir_popsection, 0},
    {".previous", dir_previous, 0},
    {".align", dir_align, -1},
    {".balign", dir_align, -1},
    {".balignw", dir_align, -2},
    {".balignl", dir_align, -4},
    {".p2align", dir_align, 1},
    {".p2alignw", dir_align, 2},
    {".p2alignl", dir_align, 4},
    {".org", dir_org, 0},
    {NULL, NULL, 0},
};
