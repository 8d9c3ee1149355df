/* metadata.c: the NT_AMDGPU_METADATA note: what the compiler says about its kernels.
 *
 * Must not know descriptors; kernel.c joins the two. Keys that later compilers add are
 * passed over; a known key of the wrong type is an error.
 * A linked object keeps a note of each of the objects that it was linked from.
 * Invariants: strings are copied with their zero byte into one block as large as the
 * notes (each was at least as long there); an array is allocated only if its elements,
 * at their smallest, fit the rest of the note.
 * Source: LLVM AMDGPUUsage, "Code Object V3/V4/V5 Metadata".
 * SPDX-License-Identifier: MIT
 */
#include "object.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "msgpack.h"

/* Smallest encodings with the keys that we insist on. */
#define MIN_ARG_BYTES    30u
#define MIN_KERNEL_BYTES 40u

struct parser {
    struct mp_reader r;
    uint64_t file_offset; /* of the document */
    char *strings;
    size_t strings_used;
    bool has_kernels, has_printfs; /* of this document */
    struct co_object *obj;
    struct co_error *err;
};

enum field_type { FT_U32, FT_BOOL, FT_STR, FT_U32X3 };

struct field {
    const char *key;
    size_t offset; /* of the member */
    enum field_type type;
    bool required;
};

#define ARG(key, type, member, required)                                               \
    {key, offsetof(struct co_arg, member), type, required}
static const struct field arg_fields[] = {
    ARG(".name", FT_STR, name, false),
    ARG(".type_name", FT_STR, type_name, false),
    ARG(".value_kind", FT_STR, kind_text, true),
    ARG(".offset", FT_U32, offset, true),
    ARG(".size", FT_U32, bytes, true),
    ARG(".pointee_align", FT_U32, pointee_align, false),
    ARG(".is_const", FT_BOOL, is_const, false),
    ARG(".is_restrict", FT_BOOL, is_restrict, false),
    ARG(".is_volatile", FT_BOOL, is_volatile, false),
    ARG(".is_pipe", FT_BOOL, is_pipe, false),
};

#define KERNEL(key, type, member, required)                                            \
    {key, offsetof(struct co_kernel_meta, member), type, required}
static const struct field kernel_fields[] = {
    KERNEL(".name", FT_STR, name, true),
    KERNEL(".symbol", FT_STR, symbol, true),
    KERNEL(".kernarg_segment_size", FT_U32, kernarg_bytes, true),
    KERNEL(".kernarg_segment_align", FT_U32, kernarg_align, false),
    KERNEL(".group_segment_fixed_size", FT_U32, group_segment_bytes, false),
    KERNEL(".private_segment_fixed_size", FT_U32, private_segment_bytes, false),
    KERNEL(".wavefront_size", FT_U32, wave, false),
    KERNEL(".sgpr_count", FT_U32, sgpr_count, false),
    KERNEL(".vgpr_count", FT_U32, vgpr_count, false),
    KERNEL(".sgpr_spill_count", FT_U32, sgpr_spills, false),
    KERNEL(".vgpr_spill_count", FT_U32, vgpr_spills, false),
    KERNEL(".max_flat_workgroup_size", FT_U32, max_flat_workgroup_size, false),
    KERNEL(".reqd_workgroup_size", FT_U32X3, reqd_workgroup_size, false),
    KERNEL(".workgroup_size_hint", FT_U32X3, workgroup_size_hint, false),
    KERNEL(".workgroup_processor_mode", FT_U32, workgroup_processor_mode, false),
    KERNEL(".uses_dynamic_stack", FT_BOOL, uses_dynamic_stack, false),
    KERNEL(".uniform_work_group_size", FT_BOOL, uniform_workgroup_size, false),
    KERNEL(".language", FT_STR, language, false),
    KERNEL(".kind", FT_STR, kind, false),
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- value kinds ------------------------------------------------------------- */

static const char *const value_texts[CO_VALUE_COUNT] = {[CO_VALUE_UNKNOWN] = "unknown",
                                                        [CO_VALUE_HIDDEN_UNKNOWN] =
                                                            "unknown",
#define X(name, text) [name] = text,
                                                        CO_VALUE_LIST(X)
#undef X
};

const char *co_value_text(enum co_value_kind kind)
{
    return (unsigned)kind < CO_VALUE_COUNT ? value_texts[kind] : "unknown";
}

bool co_value_is_hidden(enum co_value_kind kind)
{
    return kind == CO_VALUE_HIDDEN_UNKNOWN || kind >= CO_VALUE_HIDDEN_GLOBAL_OFFSET_X;
}

static uint8_t value_kind(const char *text)
{
    for (unsigned i = CO_VALUE_BY_VALUE; i < CO_VALUE_COUNT; i++)
        if (strcmp(value_texts[i], text) == 0)
            return (uint8_t)i;
    return strncmp(text, "hidden_", 7) == 0 ? CO_VALUE_HIDDEN_UNKNOWN
                                            : CO_VALUE_UNKNOWN;
}

/* ---- values ------------------------------------------------------------------ */

static rd_status fail_at(const struct parser *p, rd_status st, uint64_t pos,
                         const char *what, const char *problem)
{
    return co_fail(p->err, st, "metadata note: %.64s at file offset %" PRIu64 ": %s",
                   what, p->file_offset + pos, problem);
}

static rd_status next(struct parser *p, const char *what, struct mp_value *v)
{
    rd_status st = mp_read(&p->r, v);
    if (st != RD_OK)
        return fail_at(p, st, p->r.pos, what, rd_status_text(st));
    return RD_OK;
}

static rd_status next_container(struct parser *p, enum mp_type type, const char *what,
                                uint32_t *count)
{
    struct mp_value v = {0};
    rd_status st = next(p, what, &v);
    if (st != RD_OK)
        return st;
    if (v.type != type)
        return fail_at(p, RD_E_FORMAT, v.pos, what,
                       type == MP_MAP ? "expected a map" : "expected an array");
    *count = v.count;
    return RD_OK;
}

static rd_status skip(struct parser *p, const char *what)
{
    rd_status st = mp_skip(&p->r);
    if (st != RD_OK)
        return fail_at(p, st, p->r.pos, what,
                       st == RD_E_FORMAT ? "malformed or nested too deeply"
                                         : rd_status_text(st));
    return RD_OK;
}

static rd_status take_u32(struct parser *p, const char *key, uint32_t *out)
{
    struct mp_value v = {0};
    rd_status st = next(p, key, &v);
    if (st != RD_OK)
        return st;
    if ((v.type != MP_UINT && v.type != MP_BOOL) || v.u > UINT32_MAX)
        return fail_at(p, RD_E_FORMAT, v.pos, key, "expected an integer of 32 bits");
    *out = (uint32_t)v.u;
    return RD_OK;
}

static rd_status take_string(struct parser *p, const char *key, const char **out)
{
    struct mp_value v = {0};
    rd_status st = next(p, key, &v);
    if (st != RD_OK)
        return st;
    if (v.type != MP_STR || (v.count && memchr(v.bytes, 0, v.count)))
        return fail_at(p, RD_E_FORMAT, v.pos, key, "expected a string");
    char *copy = p->strings + p->strings_used;
    if (v.count)
        memcpy(copy, v.bytes, v.count);
    copy[v.count] = 0;
    p->strings_used += (size_t)v.count + 1;
    *out = copy;
    return RD_OK;
}

static rd_status take_u32x3(struct parser *p, const char *key, uint32_t *out)
{
    uint32_t count = 0, value[3] = {0};
    rd_status st = next_container(p, MP_ARRAY, key, &count);
    if (st != RD_OK)
        return st;
    if (count != 3)
        return fail_at(p, RD_E_FORMAT, p->r.pos, key, "expected three integers");
    for (unsigned i = 0; i < 3; i++) {
        st = take_u32(p, key, &value[i]);
        if (st != RD_OK)
            return st;
    }
    memcpy(out, value, sizeof value);
    return RD_OK;
}

static rd_status take_field(struct parser *p, const struct field *f, void *object)
{
    void *to = (char *)object + f->offset;
    switch (f->type) {
    case FT_U32:
        return take_u32(p, f->key, to);
    case FT_STR:
        return take_string(p, f->key, to);
    case FT_U32X3:
        return take_u32x3(p, f->key, to);
    case FT_BOOL:
    default: {
        uint32_t value = 0;
        rd_status st = take_u32(p, f->key, &value);
        if (st == RD_OK)
            *(bool *)to = value != 0;
        return st;
    }
    }
}

/* ---- maps -------------------------------------------------------------------- */

static rd_status next_key(struct parser *p, const char *what, struct mp_value *key)
{
    rd_status st = next(p, what, key);
    if (st != RD_OK)
        return st;
    if (key->type != MP_STR)
        return fail_at(p, RD_E_FORMAT, key->pos, what, "expected a string as key");
    return RD_OK;
}

static const struct field *find_field(const struct field *fields, unsigned n,
                                      const struct mp_value *key)
{
    for (unsigned i = 0; i < n; i++)
        if (mp_is(key, fields[i].key))
            return &fields[i];
    return NULL;
}

/* Every required field must have been seen: bit i of seen is field i. */
static rd_status check_seen(const struct parser *p, const struct field *fields,
                            unsigned n, uint32_t seen, size_t pos)
{
    for (unsigned i = 0; i < n; i++)
        if (fields[i].required && !(seen >> i & 1))
            return fail_at(p, RD_E_FORMAT, pos, fields[i].key, "the key is missing");
    return RD_OK;
}

static rd_status take_access(struct parser *p, const char *key, uint8_t *out)
{
    static const char *const texts[] = {"", "read_only", "write_only", "read_write"};
    const char *text = "";
    size_t pos = p->r.pos;
    rd_status st = take_string(p, key, &text);
    if (st != RD_OK)
        return st;
    for (unsigned i = CO_ACCESS_READ_ONLY; i < COUNT(texts); i++) {
        if (strcmp(text, texts[i]) == 0) {
            *out = (uint8_t)i;
            return RD_OK;
        }
    }
    return fail_at(p, RD_E_FORMAT, pos, key, "no such access");
}

static rd_status take_addr_space(struct parser *p, uint8_t *out)
{
    static const char *const texts[] = {"",      "private", "global", "constant",
                                        "local", "generic", "region"};
    const char *text = "";
    size_t pos = p->r.pos;
    rd_status st = take_string(p, ".address_space", &text);
    if (st != RD_OK)
        return st;
    for (unsigned i = CO_AS_PRIVATE; i < COUNT(texts); i++) {
        if (strcmp(text, texts[i]) == 0) {
            *out = (uint8_t)i;
            return RD_OK;
        }
    }
    return fail_at(p, RD_E_FORMAT, pos, ".address_space", "no such address space");
}

static rd_status parse_arg(struct parser *p, struct co_arg *arg)
{
    uint32_t pairs = 0, seen = 0;
    size_t start = p->r.pos;
    rd_status st = next_container(p, MP_MAP, "argument", &pairs);
    for (uint32_t i = 0; st == RD_OK && i < pairs; i++) {
        struct mp_value key = {0};
        st = next_key(p, "argument", &key);
        if (st != RD_OK)
            return st;
        const struct field *f = find_field(arg_fields, COUNT(arg_fields), &key);
        if (f) {
            seen |= 1u << (f - arg_fields);
            st = take_field(p, f, arg);
        } else if (mp_is(&key, ".address_space")) {
            st = take_addr_space(p, &arg->addr_space);
        } else if (mp_is(&key, ".access")) {
            st = take_access(p, ".access", &arg->access);
        } else if (mp_is(&key, ".actual_access")) {
            st = take_access(p, ".actual_access", &arg->actual_access);
        } else {
            st = skip(p, "argument");
        }
    }
    if (st == RD_OK)
        st = check_seen(p, arg_fields, COUNT(arg_fields), seen, start);
    if (st == RD_OK)
        arg->kind = value_kind(arg->kind_text);
    return st;
}

static rd_status parse_args(struct parser *p, struct co_kernel_meta *meta)
{
    uint32_t count = 0;
    size_t start = p->r.pos;
    rd_status st = next_container(p, MP_ARRAY, ".args", &count);
    if (st != RD_OK)
        return st;
    if (meta->args)
        return fail_at(p, RD_E_FORMAT, start, ".args", "the key occurs twice");
    if (count > (p->r.size - p->r.pos) / MIN_ARG_BYTES)
        return fail_at(p, RD_E_TRUNCATED, start, ".args",
                       "more arguments than the note has room for");
    struct co_arg *args = co_array(count, sizeof *args);
    if (!args)
        return fail_at(p, RD_E_NOMEM, start, ".args", "out of memory");
    meta->args = args; /* from here on co_close frees it */
    meta->n_args = count;
    for (uint32_t i = 0; st == RD_OK && i < count; i++)
        st = parse_arg(p, &args[i]);
    return st;
}

static rd_status check_kernel(const struct parser *p, struct co_kernel_meta *meta,
                              size_t pos)
{
    bool hidden = false;
    for (uint32_t i = 0; i < meta->n_args; i++) {
        const struct co_arg *arg = &meta->args[i];
        hidden |= co_value_is_hidden((enum co_value_kind)arg->kind);
        if (!hidden)
            meta->n_explicit_args++;
        if (!range_ok(arg->offset, arg->bytes, meta->kernarg_bytes))
            return co_fail(p->err, RD_E_FORMAT,
                           "metadata note: kernel '%.64s': argument %" PRIu32
                           ": .offset %" PRIu32 " and .size %" PRIu32
                           " leave the kernarg segment (%" PRIu32 " bytes)",
                           meta->name, i, arg->offset, arg->bytes, meta->kernarg_bytes);
    }
    if (meta->wave != 0 && meta->wave != 32 && meta->wave != 64)
        return fail_at(p, RD_E_FORMAT, pos, ".wavefront_size", "neither 32 nor 64");
    if (meta->kernarg_align != 0 && !is_pow2(meta->kernarg_align))
        return fail_at(p, RD_E_FORMAT, pos, ".kernarg_segment_align",
                       "not a power of two");
    return RD_OK;
}

static rd_status parse_kernel(struct parser *p, struct co_kernel_meta *meta)
{
    uint32_t pairs = 0, seen = 0;
    size_t start = p->r.pos;
    rd_status st = next_container(p, MP_MAP, "kernel", &pairs);
    for (uint32_t i = 0; st == RD_OK && i < pairs; i++) {
        struct mp_value key = {0};
        st = next_key(p, "kernel", &key);
        if (st != RD_OK)
            return st;
        const struct field *f = find_field(kernel_fields, COUNT(kernel_fields), &key);
        if (f) {
            seen |= 1u << (f - kernel_fields);
            st = take_field(p, f, meta);
        } else if (mp_is(&key, ".args")) {
            st = parse_args(p, meta);
        } else {
            st = skip(p, "kernel");
        }
    }
    if (st == RD_OK)
        st = check_seen(p, kernel_fields, COUNT(kernel_fields), seen, start);
    if (st == RD_OK)
        st = check_kernel(p, meta, start);
    return st;
}

static size_t power_above(size_t n)
{
    size_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

/* Room for the kernels of one more note, cleared; NULL: out of memory. The array grows
 * by powers of two. */
static struct co_kernel_meta *add_metas(struct co_object *obj, uint32_t count)
{
    size_t old = obj->n_metas, n = old + count;
    if (!obj->metas || power_above(n) > power_above(old)) {
        struct co_kernel_meta *metas =
            n < UINT32_MAX ? co_array(power_above(n), sizeof *metas) : NULL;
        if (!metas)
            return NULL;
        if (obj->metas)
            memcpy(metas, obj->metas, old * sizeof *metas);
        free(obj->metas);
        obj->metas = metas;
    }
    obj->n_metas = (unsigned)n;
    return &obj->metas[old];
}

static rd_status parse_kernels(struct parser *p)
{
    struct co_object *obj = p->obj;
    uint32_t count = 0;
    size_t start = p->r.pos;
    rd_status st = next_container(p, MP_ARRAY, "amdhsa.kernels", &count);
    if (st != RD_OK)
        return st;
    if (p->has_kernels)
        return fail_at(p, RD_E_FORMAT, start, "amdhsa.kernels", "the key occurs twice");
    p->has_kernels = true;
    if (count > (p->r.size - p->r.pos) / MIN_KERNEL_BYTES)
        return fail_at(p, RD_E_TRUNCATED, start, "amdhsa.kernels",
                       "more kernels than the note has room for");
    struct co_kernel_meta *metas = add_metas(obj, count);
    if (!metas)
        return fail_at(p, RD_E_NOMEM, start, "amdhsa.kernels", "out of memory");
    for (uint32_t i = 0; st == RD_OK && i < count; i++)
        st = parse_kernel(p, &metas[i]);
    return st;
}

static rd_status parse_printfs(struct parser *p)
{
    struct co_object *obj = p->obj;
    uint32_t count = 0;
    size_t start = p->r.pos;
    rd_status st = next_container(p, MP_ARRAY, "amdhsa.printf", &count);
    if (st != RD_OK)
        return st;
    if (p->has_printfs)
        return fail_at(p, RD_E_FORMAT, start, "amdhsa.printf", "the key occurs twice");
    p->has_printfs = true;
    if (count > p->r.size - p->r.pos)
        return fail_at(p, RD_E_TRUNCATED, start, "amdhsa.printf",
                       "more formats than the note has room for");
    obj->printfs = co_array(count, sizeof *obj->printfs);
    if (!obj->printfs)
        return fail_at(p, RD_E_NOMEM, start, "amdhsa.printf", "out of memory");
    for (uint32_t i = 0; st == RD_OK && i < count; i++) {
        st = take_string(p, "amdhsa.printf", &obj->printfs[i]);
        obj->n_printfs += st == RD_OK;
    }
    return st;
}

unsigned co_printf_count(const struct co_object *obj)
{
    return obj->n_printfs;
}

const char *co_printf_at(const struct co_object *obj, unsigned i)
{
    return obj->printfs[i];
}

static rd_status parse_version(struct parser *p)
{
    uint32_t count = 0, major = 0;
    size_t start = p->r.pos;
    rd_status st = next_container(p, MP_ARRAY, "amdhsa.version", &count);
    for (uint32_t i = 0; st == RD_OK && i < count; i++) {
        uint32_t part = 0;
        st = take_u32(p, "amdhsa.version", &part);
        if (st == RD_OK && i == 0)
            major = part;
    }
    if (st == RD_OK && major != 1)
        return fail_at(p, RD_E_UNSUPPORTED, start, "amdhsa.version",
                       "the major version is not 1");
    return st;
}

static rd_status parse_document(struct parser *p)
{
    uint32_t pairs = 0;
    rd_status st = next_container(p, MP_MAP, "document", &pairs);
    for (uint32_t i = 0; st == RD_OK && i < pairs; i++) {
        struct mp_value key = {0};
        st = next_key(p, "document", &key);
        if (st != RD_OK)
            return st;
        if (mp_is(&key, "amdhsa.kernels"))
            st = parse_kernels(p);
        else if (mp_is(&key, "amdhsa.version"))
            st = parse_version(p);
        else if (mp_is(&key, "amdhsa.target"))
            st = take_string(p, "amdhsa.target", &p->obj->info.isa);
        else if (mp_is(&key, "amdhsa.printf") && (p->has_printfs || !p->obj->printfs))
            st = parse_printfs(p); /* formats have their numbers from the first note */
        else
            st = skip(p, "document");
    }
    return st;
}

static int compare_metas(const void *a, const void *b)
{
    const struct co_kernel_meta *x = a, *y = b;
    return strcmp(x->symbol, y->symbol);
}

/* strings_used: of the memory for strings, by the notes before */
static rd_status parse_note(struct co_object *obj, const uint8_t *doc, uint32_t bytes,
                            size_t *strings_used, struct co_error *err)
{
    struct parser p = {
        .r = {.data = doc, .size = bytes},
        .file_offset = (uint64_t)(doc - obj->data) + obj->info.elf_offset,
        .strings = obj->meta_strings,
        .strings_used = *strings_used,
        .obj = obj,
        .err = err,
    };
    rd_status st = parse_document(&p);
    *strings_used = p.strings_used;
    return st;
}

/* ---- notes ------------------------------------------------------------------- */

/* Look for our notes in one range of the file; found tells whether there were any. */
static rd_status scan_notes(struct co_object *obj, uint64_t offset, uint64_t bytes,
                            bool *found, struct co_error *err)
{
    size_t strings_used = 0;
    uint64_t at = 0;
    rd_status st = RD_OK;
    while (st == RD_OK && at <= bytes && bytes - at >= NOTE_BYTES) {
        const uint8_t *p = obj->data + offset + at;
        uint64_t name_bytes = load_le32(p), desc_bytes = load_le32(p + 4);
        uint64_t desc = at + NOTE_BYTES + ((name_bytes + 3) & ~UINT64_C(3));
        if (!range_ok(desc, desc_bytes, bytes))
            return co_fail(
                err, RD_E_TRUNCATED,
                "note at file offset %" PRIu64 ": n_namesz %" PRIu64
                " and n_descsz %" PRIu64 " leave the %" PRIu64 " bytes of notes",
                obj->info.elf_offset + offset + at, name_bytes, desc_bytes, bytes);
        if (load_le32(p + 8) == NT_AMDGPU_METADATA_ && name_bytes == 7 &&
            memcmp(p + NOTE_BYTES, "AMDGPU", 7) == 0) {
            if (!obj->meta_strings)
                obj->meta_strings = co_array(bytes + 1, 1);
            if (!obj->meta_strings)
                return co_fail(err, RD_E_NOMEM,
                               "out of memory for %" PRIu64 " bytes of metadata",
                               bytes);
            *found = true;
            st = parse_note(obj, obj->data + offset + desc, (uint32_t)desc_bytes,
                            &strings_used, err);
        }
        at = (desc + desc_bytes + 3) & ~UINT64_C(3);
    }
    return st;
}

rd_status co_read_metadata(struct co_object *obj, struct co_error *err)
{
    const struct elf_header *h = &obj->header;
    bool found = false;
    rd_status st = RD_OK;
    for (unsigned i = 0; st == RD_OK && !found && i < h->phnum; i++) {
        struct elf_phdr ph = elf_phdr_at(obj->data, h, i);
        if (ph.type != PT_NOTE_)
            continue;
        st = elf_check_phdr(&ph, i, obj->size, err);
        if (st == RD_OK)
            st = scan_notes(obj, ph.offset, ph.filesz, &found, err);
    }
    for (unsigned i = 0; st == RD_OK && !found && i < obj->n_sections; i++) {
        const struct co_section *s = &obj->sections[i];
        if (s->type == SHT_NOTE_ && s->data)
            st =
                scan_notes(obj, (uint64_t)(s->data - obj->data), s->bytes, &found, err);
    }
    if (st == RD_OK && obj->n_metas)
        qsort(obj->metas, obj->n_metas, sizeof *obj->metas, compare_metas);
    return st;
}
