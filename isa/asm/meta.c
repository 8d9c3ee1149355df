/* meta.c: .amdgpu_metadata: YAML to the msgpack of NT_AMDGPU_METADATA.
 *
 * Must not know YAML's syntax or the ELF file. Invariant: what has a name in the schema
 * has the type that the loader expects, however it was written; map keys are sorted, as
 * LLVM writes them.
 * Source: LLVM AMDGPUUsage, "Code Object V3 Metadata" to "V5 Metadata".
 * SPDX-License-Identifier: MIT
 */
#include "as.h"

#include <elf.h>
#include <stdlib.h>

#include "yaml.h"

enum type {
    ANY,
    STRING,
    INTEGER,
    BOOLEAN,
    INTEGERS,
    STRINGS,
    KERNELS,
    ARGS,
    PIPELINES,
    REGISTERS /* their keys are numbers, which a name may follow */
};

struct rule {
    const char *key;
    uint8_t type;
    uint8_t count; /* of INTEGERS, exactly; 0: any */
    bool required;
    const char *values; /* "|a|b|": the only ones allowed */
};

#define HIDDEN_KINDS                                                                   \
    "hidden_block_count_x|hidden_block_count_y|hidden_block_count_z|"                  \
    "hidden_group_size_x|hidden_group_size_y|hidden_group_size_z|"                     \
    "hidden_remainder_x|hidden_remainder_y|hidden_remainder_z|"                        \
    "hidden_global_offset_x|hidden_global_offset_y|hidden_global_offset_z|"            \
    "hidden_grid_dims|hidden_none|hidden_printf_buffer|hidden_hostcall_buffer|"        \
    "hidden_heap_v1|hidden_default_queue|hidden_completion_action|"                    \
    "hidden_multigrid_sync_arg|hidden_dynamic_lds_size|hidden_private_base|"           \
    "hidden_shared_base|hidden_queue_ptr|"

#define ACCESS_KINDS "|read_only|write_only|read_write|"

static const struct rule arg_rules[] = {
    {".name", STRING, 0, false, NULL},
    {".type_name", STRING, 0, false, NULL},
    {".size", INTEGER, 0, true, NULL},
    {".offset", INTEGER, 0, true, NULL},
    {".value_kind", STRING, 0, true,
     "|by_value|global_buffer|dynamic_shared_pointer|sampler|image|pipe|"
     "queue|" HIDDEN_KINDS},
    {".pointee_align", INTEGER, 0, false, NULL},
    {".address_space", STRING, 0, false,
     "|private|global|constant|local|generic|region|"},
    {".access", STRING, 0, false, ACCESS_KINDS},
    {".actual_access", STRING, 0, false, ACCESS_KINDS},
    {".is_const", BOOLEAN, 0, false, NULL},
    {".is_restrict", BOOLEAN, 0, false, NULL},
    {".is_volatile", BOOLEAN, 0, false, NULL},
    {".is_pipe", BOOLEAN, 0, false, NULL},
    {NULL, ANY, 0, false, NULL},
};

static const struct rule kernel_rules[] = {
    {".name", STRING, 0, true, NULL},
    {".symbol", STRING, 0, true, NULL},
    {".language", STRING, 0, false, "|OpenCL C|OpenCL C++|HCC|HIP|OpenMP|Assembler|"},
    {".language_version", INTEGERS, 2, false, NULL},
    {".args", ARGS, 0, false, NULL},
    {".reqd_workgroup_size", INTEGERS, 3, false, NULL},
    {".workgroup_size_hint", INTEGERS, 3, false, NULL},
    {".vec_type_hint", STRING, 0, false, NULL},
    {".device_enqueue_symbol", STRING, 0, false, NULL},
    {".kernarg_segment_size", INTEGER, 0, true, NULL},
    {".group_segment_fixed_size", INTEGER, 0, true, NULL},
    {".private_segment_fixed_size", INTEGER, 0, true, NULL},
    {".uses_dynamic_stack", BOOLEAN, 0, false, NULL},
    {".workgroup_processor_mode", INTEGER, 0, false, NULL},
    {".kernarg_segment_align", INTEGER, 0, true, NULL},
    {".wavefront_size", INTEGER, 0, true, NULL},
    {".sgpr_count", INTEGER, 0, true, NULL},
    {".vgpr_count", INTEGER, 0, true, NULL},
    {".max_flat_workgroup_size", INTEGER, 0, true, NULL},
    {".sgpr_spill_count", INTEGER, 0, false, NULL},
    {".vgpr_spill_count", INTEGER, 0, false, NULL},
    {".uniform_work_group_size", INTEGER, 0, false, NULL},
    {".kind", STRING, 0, false, "|normal|init|fini|"},
    {NULL, ANY, 0, false, NULL},
};

static const struct rule root_rules[] = {
    {"amdhsa.version", INTEGERS, 2, true, NULL},
    {"amdhsa.printf", STRINGS, 0, false, NULL},
    {"amdhsa.kernels", KERNELS, 0, true, NULL},
    {"amdhsa.target", STRING, 0, false, NULL},
    {NULL, ANY, 0, false, NULL},
};

/* PAL metadata: how much of it there is, only drivers know. */
static const struct rule pipeline_rules[] = {
    {".registers", REGISTERS, 0, false, NULL},
    {NULL, ANY, 0, false, NULL},
};

static const struct rule pal_rules[] = {
    {"amdpal.pipelines", PIPELINES, 0, false, NULL},
    {NULL, ANY, 0, false, NULL},
};

static const struct rule any_rules[] = {{NULL, ANY, 0, false, NULL}};

struct writer {
    struct as *as;
    const struct yaml *y;
    const char *text; /* the document, in line */
    uint32_t line;
    struct as_buf *out;
};

static bool write_node(struct writer *w, uint32_t index, enum type type,
                       const struct rule *rule);

static bool reject(struct writer *w, const char *at, const char *what, const char *key)
{
    uint32_t line = w->line;
    for (const char *p = w->text; p < at; p++)
        line += *p == '\n';
    as_error_at(w->as, at, line, "invalid metadata: %s%s%s", key ? key : "",
                key ? ": " : "", what);
    w->as->failed_statement = true;
    return false;
}

/* ---- msgpack ---- */

static void put_byte(struct writer *w, unsigned byte)
{
    uint8_t b = (uint8_t)byte;
    as_buf_add(w->out, &b, 1);
}

/* A mark and a big-endian number. */
static void put_be(struct writer *w, unsigned mark, uint64_t value, unsigned bytes)
{
    put_byte(w, mark);
    while (bytes-- > 0)
        put_byte(w, (unsigned)(value >> (8 * bytes)) & 0xff);
}

static void put_unsigned(struct writer *w, uint64_t v)
{
    if (v < 0x80)
        put_byte(w, (unsigned)v);
    else if (v <= 0xff)
        put_be(w, 0xcc, v, 1);
    else if (v <= 0xffff)
        put_be(w, 0xcd, v, 2);
    else if (v <= 0xffffffff)
        put_be(w, 0xce, v, 4);
    else
        put_be(w, 0xcf, v, 8);
}

static void put_negative(struct writer *w, int64_t v)
{
    uint64_t u = (uint64_t)v;
    if (v >= -32)
        put_byte(w, (unsigned)u & 0xff);
    else if (v >= INT8_MIN)
        put_be(w, 0xd0, u, 1);
    else if (v >= INT16_MIN)
        put_be(w, 0xd1, u, 2);
    else if (v >= INT32_MIN)
        put_be(w, 0xd2, u, 4);
    else
        put_be(w, 0xd3, u, 8);
}

static void put_string(struct writer *w, const char *text, size_t n)
{
    if (n < 32)
        put_byte(w, 0xa0 | (unsigned)n);
    else if (n <= 0xff)
        put_be(w, 0xd9, n, 1);
    else if (n <= 0xffff)
        put_be(w, 0xda, n, 2);
    else
        put_be(w, 0xdb, n, 4);
    as_buf_add(w->out, text, n);
}

/* fix: mark of up to 15 elements; wide: of 16 bits, then of 32. */
static void put_count(struct writer *w, unsigned fix, unsigned wide, uint32_t n)
{
    if (n < 16)
        put_byte(w, fix | n);
    else if (n <= 0xffff)
        put_be(w, wide, n, 2);
    else
        put_be(w, wide + 1, n, 4);
}

/* ---- scalars ---- */

struct scalar {
    enum { S_NEGATIVE, S_UNSIGNED, S_BOOL, S_FLOAT, S_STRING } kind;
    uint64_t u;
    double d;
    const char *text;
    size_t len;
};

/* Base by prefix: 0x, 0b, 0o, or a leading 0. */
static bool parse_unsigned(const char *p, size_t n, uint64_t *out)
{
    unsigned base = 10;
    uint64_t v = 0;
    if (n > 2 && p[0] == '0' &&
        ((p[1] | 0x20) == 'x' || (p[1] | 0x20) == 'b' || (p[1] | 0x20) == 'o')) {
        base = (p[1] | 0x20) == 'x' ? 16 : (p[1] | 0x20) == 'b' ? 2 : 8;
        p += 2;
        n -= 2;
    } else if (n > 1 && p[0] == '0') {
        base = 8;
        p++;
        n--;
    }
    for (size_t i = 0; i < n; i++) {
        unsigned d = as_is(p[i], AS_C_DIGIT) ? (unsigned)(p[i] - '0')
                     : as_is(p[i], AS_C_HEX) ? (unsigned)((p[i] | 0x20) - 'a') + 10
                                             : 99;
        if (d >= base || v > (UINT64_MAX - d) / base)
            return false;
        v = v * base + d;
    }
    *out = v;
    return n > 0;
}

static bool parse_bool(const char *p, size_t n, bool *out)
{
    static const char *const words[] = {
        "y", "Y", "on", "On", "ON", "yes", "Yes", "YES", "true",  "True",  "TRUE",
        "n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (as_same(p, n, words[i])) {
            *out = i < 11;
            return true;
        }
    return false;
}

static bool parse_float(const char *p, size_t n, double *out)
{
    char text[64];
    char *rest;
    if (n == 0 || n >= sizeof text || strspn(p, "+-.0123456789eE") < n)
        return false;
    memcpy(text, p, n);
    text[n] = '\0';
    *out = strtod(text, &rest);
    return rest != text && *rest == '\0';
}

/* What a scalar without a type in the schema is. */
static struct scalar classify(const struct writer *w, const struct yaml_node *n)
{
    struct scalar s = {.kind = S_STRING, .text = w->y->text + n->text, .len = n->len};
    bool truth;
    if (n->len == 0)
        s.text = "";
    else if (parse_unsigned(s.text, s.len, &s.u))
        s.kind = S_UNSIGNED;
    else if (s.text[0] == '-' && parse_unsigned(s.text + 1, s.len - 1, &s.u) &&
             s.u <= (uint64_t)INT64_MAX + 1) {
        s.u = 0 - s.u;
        s.kind = s.u ? S_NEGATIVE : S_UNSIGNED;
    } else if (parse_bool(s.text, s.len, &truth)) {
        s.u = truth;
        s.kind = S_BOOL;
    } else if (parse_float(s.text, s.len, &s.d)) {
        s.kind = S_FLOAT;
    }
    return s;
}

static void put_scalar(struct writer *w, const struct scalar *s)
{
    uint64_t bits;
    switch (s->kind) {
    case S_NEGATIVE:
        put_negative(w, (int64_t)s->u);
        break;
    case S_UNSIGNED:
        put_unsigned(w, s->u);
        break;
    case S_BOOL:
        put_byte(w, s->u ? 0xc3 : 0xc2);
        break;
    case S_FLOAT:
        memcpy(&bits, &s->d, 8);
        put_be(w, 0xcb, bits, 8);
        break;
    case S_STRING:
        put_string(w, s->text, s->len);
        break;
    }
}

static bool allowed(const char *values, const char *text, size_t len)
{
    for (const char *p = values + 1; *p; p = strchr(p, '|') + 1) {
        size_t n = (size_t)(strchr(p, '|') - p);
        if (n == len && memcmp(p, text, n) == 0)
            return true;
    }
    return false;
}

static bool write_scalar(struct writer *w, const struct yaml_node *n, enum type type,
                         const struct rule *rule)
{
    struct scalar s = classify(w, n);
    const char *key = rule ? rule->key : NULL;
    if (type == STRING) {
        s.kind = S_STRING;
        if (rule && rule->values && !allowed(rule->values, s.text, s.len))
            return reject(w, n->at, "unknown value", key);
    } else if (type == INTEGER && s.kind != S_UNSIGNED && s.kind != S_NEGATIVE) {
        return reject(w, n->at, "expected an integer", key);
    } else if (type == BOOLEAN && s.kind != S_BOOL) {
        return reject(w, n->at, "expected true or false", key);
    } else if (type != ANY && type != INTEGER && type != BOOLEAN) {
        return reject(w, n->at, "expected a sequence", key);
    }
    put_scalar(w, &s);
    return true;
}

/* ---- maps and sequences ---- */

struct pair {
    struct scalar key;
    uint32_t value;
    const char *at;
};

static int compare(const void *a, const void *b)
{
    const struct scalar *x = &((const struct pair *)a)->key;
    const struct scalar *y = &((const struct pair *)b)->key;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->kind == S_NEGATIVE)
        return ((int64_t)x->u > (int64_t)y->u) - ((int64_t)x->u < (int64_t)y->u);
    if (x->kind == S_FLOAT)
        return (x->d > y->d) - (x->d < y->d);
    if (x->kind != S_STRING)
        return (x->u > y->u) - (x->u < y->u);
    size_t n = x->len < y->len ? x->len : y->len;
    int order = n ? memcmp(x->text, y->text, n) : 0;
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

static const struct rule *find_rule(const struct rule *rules, const struct scalar *key)
{
    if (key->kind != S_STRING)
        return NULL;
    for (; rules->key; rules++)
        if (as_same(key->text, key->len, rules->key))
            return rules;
    return NULL;
}

static bool check_required(struct writer *w, const struct rule *rules,
                           const struct pair *pairs, uint32_t n, const char *at)
{
    for (; rules->key; rules++) {
        bool found = !rules->required;
        for (uint32_t i = 0; i < n && !found; i++)
            found = find_rule(rules, &pairs[i].key) == rules;
        if (!found)
            return reject(w, at, "required key is missing", rules->key);
    }
    return true;
}

static bool write_pairs(struct writer *w, struct pair *pairs, uint32_t n,
                        const struct rule *rules, const char *at)
{
    qsort(pairs, n, sizeof *pairs, compare);
    for (uint32_t i = 1; i < n; i++)
        if (compare(&pairs[i - 1], &pairs[i]) == 0)
            return reject(w, pairs[i].at, "the key occurs twice", NULL);
    if (!check_required(w, rules, pairs, n, at))
        return false;
    put_count(w, 0x80, 0xde, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct rule *rule = find_rule(rules, &pairs[i].key);
        put_scalar(w, &pairs[i].key);
        if (!write_node(w, pairs[i].value, rule ? (enum type)rule->type : ANY, rule))
            return false;
    }
    return true;
}

/* "0x2c0a (SPI_SHADER_PGM_RSRC1_PS)" is the number alone. */
static bool register_key(struct writer *w, struct scalar *key, const char *at)
{
    const char *end = memchr(key->text, ' ', key->len);
    if (key->kind == S_UNSIGNED)
        return true;
    if (key->kind == S_STRING && end &&
        parse_unsigned(key->text, (size_t)(end - key->text), &key->u)) {
        key->kind = S_UNSIGNED;
        return true;
    }
    return reject(w, at, "expected the number of a register", ".registers");
}

static bool write_map(struct writer *w, const struct yaml_node *map,
                      const struct rule *rules, bool registers)
{
    uint32_t n = map->count / 2;
    struct pair *pairs = calloc(n ? n : 1, sizeof *pairs);
    bool ok = true;
    if (!pairs) {
        as_out_of_memory(w->as);
        return false;
    }
    uint32_t child = map->first;
    for (uint32_t i = 0; i < n; i++) {
        const struct yaml_node *key = &w->y->nodes[child];
        if (key->kind != YAML_SCALAR && ok)
            ok = reject(w, key->at, "a key must be a word or a number", NULL);
        pairs[i].key = classify(w, key);
        if (registers && ok)
            ok = register_key(w, &pairs[i].key, key->at);
        pairs[i].at = key->at;
        pairs[i].value = key->next;
        child = w->y->nodes[key->next].next;
    }
    ok = ok && write_pairs(w, pairs, n, rules, map->at);
    free(pairs);
    return ok;
}

static bool write_sequence(struct writer *w, const struct yaml_node *seq,
                           enum type type, const struct rule *rule)
{
    static const uint8_t element[] = {
        [ANY] = ANY,         [INTEGERS] = INTEGER, [STRINGS] = STRING,
        [KERNELS] = KERNELS, [ARGS] = ARGS,        [PIPELINES] = PIPELINES,
    };
    static const struct rule *const of_map[] = {
        [KERNELS] = kernel_rules, [ARGS] = arg_rules, [PIPELINES] = pipeline_rules};
    if (type == STRING || type == INTEGER || type == BOOLEAN || type == REGISTERS)
        return reject(w, seq->at, "expected one value", rule ? rule->key : NULL);
    if (rule && rule->count && seq->count != rule->count)
        return reject(w, seq->at, "wrong number of values", rule->key);
    put_count(w, 0x90, 0xdc, seq->count);
    for (uint32_t c = seq->first; c; c = w->y->nodes[c].next) {
        const struct yaml_node *n = &w->y->nodes[c];
        bool map = type == KERNELS || type == ARGS || type == PIPELINES;
        if (map && n->kind != YAML_MAP)
            return reject(w, n->at, "expected a map", rule ? rule->key : NULL);
        if (map) {
            if (!write_map(w, n, of_map[type], false))
                return false;
        } else if (!write_node(w, c, (enum type)element[type], NULL)) {
            return false;
        }
    }
    return true;
}

/* The depth is bounded by the YAML parser. */
static bool write_node(struct writer *w, uint32_t index, enum type type,
                       const struct rule *rule)
{
    const struct yaml_node *n = &w->y->nodes[index];
    switch (n->kind) {
    case YAML_SCALAR:
        return write_scalar(w, n, type, rule);
    case YAML_SEQ:
        return write_sequence(w, n, type, rule);
    case YAML_MAP:
        if (type != ANY && type != REGISTERS)
            return reject(w, n->at, "unexpected map", rule ? rule->key : NULL);
        return write_map(w, n, any_rules, type == REGISTERS);
    default:
        if (type == REGISTERS) {
            put_count(w, 0x80, 0xde, 0);
            return true;
        }
        if (type != ANY && type != ARGS && type != KERNELS && type != STRINGS &&
            type != PIPELINES)
            return reject(w, n->at, "the value is missing", rule ? rule->key : NULL);
        put_count(w, 0x90, 0xdc, 0); /* as LLVM */
        return true;
    }
}

static bool to_msgpack(struct as *as, const char *text, const char *end, uint32_t line,
                       const struct rule *rules, struct as_buf *out)
{
    struct yaml y;
    struct writer w = {.as = as, .y = &y, .text = text, .line = line, .out = out};
    bool ok = yaml_parse(text, end, &y);
    if (!ok)
        (void)reject(&w, y.error_at, y.error, NULL);
    else if (y.nodes[y.root].kind != YAML_MAP)
        ok = reject(&w, y.nodes[y.root].at, "expected a map", NULL);
    else
        ok = write_map(&w, &y.nodes[y.root], rules, false);
    yaml_free(&y);
    if (out->failed)
        as_out_of_memory(as);
    return ok && !out->failed;
}

/* ---- the directive ---- */

/* The note's section, for whoever looks at the current one; it is entered for a moment.
 * at, line: of the directive. */
static void emit_note(struct as *as, const struct as_buf *desc, const char *at,
                      uint32_t line)
{
    static const char name[] = ".note";
    const struct as_section_spec spec = {.name = name,
                                         .name_len = sizeof name - 1,
                                         .type = SHT_NOTE,
                                         .flags = SHF_ALLOC,
                                         .at = at,
                                         .line = line};
    uint32_t back = as->section;
    uint32_t note = as_section_get(as, &spec);
    if (!note)
        return;
    as->section = note;
    as_align(as, 4, NULL, 1, 0);
    size_t padded = (desc->bytes + 3) & ~(size_t)3;
    uint8_t *out = as_emit(as, 20 + padded);
    as->section = back;
    if (!out)
        return;
    memset(out, 0, 20 + padded);
    as_put32(out, 7);
    as_put32(out + 4, desc->bytes);
    as_put32(out + 8, 32); /* NT_AMDGPU_METADATA */
    memcpy(out + 12, "AMDGPU", 7);
    memcpy(out + 20, desc->data, desc->bytes);
}

void as_pal_finish(struct as *as)
{
    if (as->pal.bytes)
        emit_note(as, &as->pal, as->pal_at, as->pal_line);
}

/* The block is a HSA note here and now, or the PAL note of the file's end. at: the
 * directive, in the line before the text's. */
static void take_block(struct as *as, const char *at, const char *text, const char *end,
                       uint32_t line, bool pal)
{
    struct as_buf desc = {0};
    uint32_t at_line = as_source_line(as, line - 1);
    if (!to_msgpack(as, text, end, line, pal ? pal_rules : root_rules, &desc)) {
        free(desc.data);
    } else if (pal) {
        free(as->pal.data);
        as->pal = desc;
        as->pal_at = at;
        as->pal_line = at_line;
    } else {
        emit_note(as, &desc, at, at_line);
        free(desc.data);
    }
}

void as_amdgpu_metadata(struct as *as, int pal)
{
    static const char *const ends[] = {".end_amdgpu_metadata",
                                       ".end_amdgpu_pal_metadata"};
    const char *at = as->p;
    if (!as_at_end(as)) {
        as_error(as, as->p, "unexpected text at the end of the statement");
        return;
    }
    as_next_line(as);
    const char *text = as->p;
    uint32_t line = as->line;
    while (as->p < as->end) {
        const char *start = as->p;
        const char *name;
        size_t len;
        while (as->p < as->end && as_is(*as->p, AS_C_BLANK))
            as->p++;
        if (as->p < as->end && *as->p == '.' && as_name(as, &name, &len) &&
            as_same(name, len, ends[pal])) {
            take_block(as, at, text, start, line, pal);
            return;
        }
        as_next_line(as);
    }
    as_error(as, at, "%s is missing", ends[pal]);
}
