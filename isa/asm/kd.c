/* kd.c: .amdhsa_kernel: directives to the 64-byte kernel descriptor.
 *
 * Must not know instructions or ELF. Invariant: a descriptor is written only if every
 * directive of its kernel is valid; a value that is not known yet is checked at the end
 * of the file.
 * Source: LLVM AMDGPUUsage, "Kernel Descriptor" and "AMDHSA Kernel Directives", gfx11.
 * SPDX-License-Identifier: MIT
 */
#include "as.h"
#include "kd.h"
#include "near.h"

#include <elf.h>
#include <stdlib.h>

#define MAX_USER_SGPR 31u

struct entry {
    bool given;
    struct ex_value value;
    const char *at; /* of the value */
    uint32_t line;
};

struct as_kd {
    uint32_t section;
    uint64_t offset;
    const char *at; /* the kernel's name */
    uint32_t line;
    struct entry entries[KD_FIELDS];
};

/* ---- checks and encoding, once everything is known ---- */

struct numbers {
    uint64_t place[KD_PLACES];
    uint64_t vgprs, user_count, shared;
    unsigned implied_sgprs;
    bool has_user_count, wave32_given, wave32;
};

static bool value_of(struct as *as, const struct as_kd *kd, unsigned i, uint64_t *out)
{
    const struct entry *e = &kd->entries[i];
    int64_t k = kd_fields[i].initial;
    if (e->given && !as_eval_number(as, e->value, AS_EVAL_NOW, &k)) {
        as_error_at(as, e->at, e->line, "the value of .amdhsa_%s is not a number",
                    kd_fields[i].name);
        return false;
    }
    if (k < 0 || (kd_fields[i].bits < 63 && k >> kd_fields[i].bits)) {
        as_error_at(as, e->at, e->line,
                    "value out of range: .amdhsa_%s has %u bit%s, 0 to %llu",
                    kd_fields[i].name, kd_fields[i].bits,
                    kd_fields[i].bits > 1 ? "s" : "", (1ull << kd_fields[i].bits) - 1);
        return false;
    }
    if (kd_fields[i].special == KD_NO_XNACK && k) {
        as_error_at(as, e->at, e->line,
                    "gfx1100 has no XNACK: .amdhsa_reserve_xnack_mask must be 0");
        return false;
    }
    *out = (uint64_t)k;
    return true;
}

static bool gather(struct as *as, const struct as_kd *kd, struct numbers *n)
{
    bool ok = true;
    n->wave32 = as->wave == 32;
    for (unsigned i = 0; i < KD_FIELDS; i++) {
        const struct kd_field *f = &kd_fields[i];
        const struct entry *e = &kd->entries[i];
        uint64_t value;
        if (!value_of(as, kd, i, &value)) {
            ok = false;
            continue;
        }
        if (f->special == KD_WAVE32) {
            n->wave32_given = e->given;
            if (!e->given)
                value = n->wave32;
            n->wave32 = value;
        } else if (f->special == KD_NEXT_VGPR) {
            n->vgprs = value;
        } else if (f->special == KD_USER_COUNT) {
            n->has_user_count = e->given;
            n->user_count = value;
        } else if (f->special == KD_SHARED_VGPR) {
            n->shared = value;
        }
        n->implied_sgprs += value ? f->user_sgprs : 0u;
        if (f->place < KD_PLACES)
            n->place[f->place] |= value << f->shift;
    }
    return ok;
}

static const struct entry *entry_of(const struct as_kd *kd, enum kd_special special)
{
    unsigned i = 0;
    while (i + 1 < KD_FIELDS && kd_fields[i].special != special)
        i++;
    return &kd->entries[i];
}

/* Rules that join several directives. */
static bool check(struct as *as, const struct as_kd *kd, struct numbers *n)
{
    unsigned granule = n->wave32 ? 8 : 4;
    uint64_t vgprs = n->vgprs ? n->vgprs : 1;
    const struct entry *e = entry_of(kd, KD_NEXT_VGPR);
    uint64_t blocks = (vgprs - 1) / granule;
    if (blocks > 63) {
        as_error_at(as, e->at, e->line,
                    "value out of range: a wave%u has at most %u VGPRs by its "
                    "descriptor",
                    n->wave32 ? 32u : 64u, 64 * granule);
        return false;
    }
    e = entry_of(kd, KD_USER_COUNT);
    if (!n->has_user_count)
        n->user_count = n->implied_sgprs;
    if (n->user_count < n->implied_sgprs) {
        as_error_at(as, e->at, e->line,
                    ".amdhsa_user_sgpr_count is smaller than the %u SGPRs that are "
                    "enabled",
                    n->implied_sgprs);
        return false;
    }
    if (n->user_count > MAX_USER_SGPR) {
        as_error_at(as, e->at, e->line, "too many user SGPRs: the field holds %u",
                    MAX_USER_SGPR);
        return false;
    }
    e = entry_of(kd, KD_SHARED_VGPR);
    if (n->shared && n->wave32_given && n->wave32) {
        as_error_at(as, e->at, e->line,
                    ".amdhsa_shared_vgpr_count: only wave64 shares VGPRs");
        return false;
    }
    if (n->shared * 2 + blocks > 63) {
        as_error_at(as, e->at, e->line,
                    ".amdhsa_shared_vgpr_count: twice the count and %llu blocks of "
                    "VGPRs are more than 63",
                    (unsigned long long)blocks);
        return false;
    }
    n->place[KD_RSRC1] |= blocks;
    n->place[KD_RSRC2] |= n->user_count << 1;
    return true;
}

static void encode(struct as *as, const struct as_kd *kd)
{
    struct numbers n = {0};
    if (!gather(as, kd, &n) || !check(as, kd, &n))
        return;
    uint8_t *out = as->sections[kd->section].data + kd->offset;
    for (unsigned i = 0; i < KD_PLACES; i++)
        as_put32(out + kd_place_offset[i], n.place[i]);
}

/* ---- directives ---- */

/* The kernel's symbol must not be replaceable, as the descriptor holds its distance;
 * the descriptor's symbol is as visible as the kernel was meant to be. */
static bool descriptor_symbol(struct as *as, const char *name, size_t len)
{
    struct as_buf text = {0};
    as_buf_add(&text, name, len);
    as_buf_add(&text, ".kd", 3);
    const char *kept = text.failed ? NULL : as_keep(as, (char *)text.data, text.bytes);
    free(text.data);
    uint32_t kernel = kept ? as_symbol(as, name, len) : 0;
    uint32_t symbol = kernel ? as_symbol(as, kept, len + 3) : 0;
    if (symbol == 0) {
        as_out_of_memory(as);
        return false;
    }
    struct as_symbol *k = &as->symbols[kernel];
    struct as_symbol *s = &as->symbols[symbol];
    s->bind = k->bind;
    s->vis = k->vis;
    s->flags |= k->flags & AS_SYM_BOUND;
    if (k->vis == STV_DEFAULT)
        k->vis = STV_PROTECTED;
    s->type = STT_OBJECT;
    s->size = (struct ex_value){.k = KD_BYTES};
    if (s->section != 0) {
        char place[AS_PLACE_BYTES];
        as_error(as, name, "the kernel has a descriptor already (%s)",
                 as_definition(as, s, place));
        return false;
    }
    s->section = as->section;
    s->value = as->sections[as->section].bytes;
    as_defined_here(as, s);
    return true;
}

/* kernel@rel64 + 16 at byte 16: distance from the descriptor's start. */
static void entry_fixup(struct as *as, const char *name, size_t len, uint64_t offset)
{
    uint32_t kernel = as_symbol(as, name, len);
    if (as->n_nodes == 0)
        as->n_nodes = 1;
    if (kernel == 0 ||
        !as_grow((void **)&as->nodes, &as->cap_nodes, as->n_nodes, sizeof *as->nodes)) {
        as_out_of_memory(as);
        return;
    }
    as->nodes[as->n_nodes] = (struct as_node){
        .op = AS_SYM, .variant = AS_VAR_REL64, .depth = 1, .a = kernel, .k = 16};
    as_fixup(as, AS_FIX_DATA, 8, offset + 16, as->n_nodes++, name);
}

static bool all_known(struct as *as, const struct as_kd *kd)
{
    int64_t k;
    for (unsigned i = 0; i < KD_FIELDS; i++)
        if (kd->entries[i].given &&
            !as_eval_number(as, kd->entries[i].value, AS_EVAL_NOW, &k))
            return false;
    return true;
}

static void emit(struct as *as, struct as_kd *kd, const char *name, size_t len)
{
    if (as->sections[as->section].type == SHT_NOBITS) {
        as_error(as, name, "a descriptor in a section without contents");
        return;
    }
    if (!descriptor_symbol(as, name, len))
        return;
    kd->section = as->section;
    kd->offset = as->sections[as->section].bytes;
    uint8_t *out = as_emit(as, KD_BYTES);
    if (!out)
        return;
    memset(out, 0, KD_BYTES);
    entry_fixup(as, name, len, kd->offset);
    if (all_known(as, kd)) {
        encode(as, kd);
        return;
    }
    if (!as_grow((void **)&as->kds, &as->cap_kds, as->n_kds, sizeof *kd))
        as_out_of_memory(as);
    else
        as->kds[as->n_kds++] = *kd;
}

static bool refused(struct as *as, const struct kd_field *f, const char *at)
{
    static const char *const why[] = {
        "", "gfx1100 has its flat scratch address in hardware: not supported",
        "this directive needs gfx90a or later of that family",
        "this directive needs gfx12"};
    if (f->refusal == KD_FINE)
        return false;
    as_error(as, at, ".amdhsa_%s: %s", f->name, why[f->refusal]);
    return true;
}

/* One line inside the block. */
static void parse_field(struct as *as, struct as_kd *kd, const char *name, size_t len)
{
    static const char prefix[] = ".amdhsa_";
    size_t skip = sizeof prefix - 1;
    unsigned i = KD_FIELDS;
    if (len > skip && memcmp(name, prefix, skip) == 0)
        for (i = 0;
             i < KD_FIELDS && !as_same(name + skip, len - skip, kd_fields[i].name);)
            i++;
    if (i == KD_FIELDS) {
        struct rd_near near;
        rd_near_begin(&near, name + (len > skip ? skip : len),
                      len > skip ? len - skip : 0);
        for (i = 0; i < KD_FIELDS; i++)
            rd_near_try(&near, kd_fields[i].name);
        as_error(as, name, "unknown .amdhsa_kernel directive '%.*s'%s%s%s",
                 (int)(len > 64 ? 64 : len), name,
                 near.best ? "; did you mean '.amdhsa_" : "",
                 near.best ? near.best : "", near.best ? "'?" : "");
        return;
    }
    struct entry *e = &kd->entries[i];
    if (e->given) {
        as_error(as, name, ".amdhsa_ directives cannot be repeated");
        return;
    }
    as_blanks(as);
    e->at = as->p;
    e->line = as->line;
    e->given = as_expr(as, &e->value) && !refused(as, &kd_fields[i], name);
    /* A symbol that may change later counts with the value it has here. */
    int64_t k;
    if (e->given && e->value.node && as_eval_number(as, e->value, AS_EVAL_NOW, &k))
        e->value = (struct ex_value){.k = k};
    if (!as->failed_statement && !as_at_end(as))
        as_error(as, as->p, "unexpected text at the end of the statement");
}

static bool required(struct as *as, const struct as_kd *kd, const char *at)
{
    bool ok = true;
    if (!entry_of(kd, KD_NEXT_VGPR)->given) {
        as_error(as, at, ".amdhsa_next_free_vgpr directive is required");
        ok = false;
    }
    if (!entry_of(kd, KD_NEXT_SGPR)->given) {
        as_error(as, at, ".amdhsa_next_free_sgpr directive is required");
        ok = false;
    }
    return ok;
}

void as_amdhsa_kernel(struct as *as, int arg)
{
    (void)arg;
    struct as_kd kd = {0};
    const char *kernel, *name;
    size_t kernel_len, len;
    bool ok = as_need_name(as, "the kernel's name", &kernel, &kernel_len);
    kd.at = kernel;
    kd.line = as->line;
    if (ok && !as_at_end(as)) {
        as_error(as, as->p, "unexpected text at the end of the statement");
        ok = false;
    }
    const char *start = as->p;
    for (;;) {
        as_next_line(as);
        as->failed_statement = false;
        if (as_at_end(as) && as->p < as->end)
            continue;
        if (as->p == as->end) {
            as_error(as, ok ? kernel : start, ".end_amdhsa_kernel is missing");
            return;
        }
        if (!as_need_name(as, ".amdhsa_ directive or .end_amdhsa_kernel", &name,
                          &len)) {
            ok = false;
            continue;
        }
        if (as_same(name, len, ".end_amdhsa_kernel"))
            break;
        parse_field(as, &kd, name, len);
        ok &= !as->failed_statement;
    }
    if (ok && required(as, &kd, name))
        emit(as, &kd, kernel, kernel_len);
}

void as_kd_finish(struct as *as)
{
    for (uint32_t i = 0; i < as->n_kds; i++)
        encode(as, &as->kds[i]);
}
