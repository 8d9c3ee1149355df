/* cfi.c: .cfi_*: how to unwind, as .eh_frame and .debug_frame.
 *
 * No instruction changes its length later, so a frame's own instructions are final when
 * they are read; what they say of the code's place waits for the end of the file. Must
 * not know relocation types. Invariant: at most one frame is open, the last.
 * Source: DWARF 4, 6.4 and 7.23; LSB Core, 10.6 (.eh_frame); the factors, the order of
 * frames and the version are those of LLVM for this target.
 * SPDX-License-Identifier: MIT
 */
#include <elf.h>
#include <stdlib.h>

#include "as.h"

#define CODE_FACTOR    4u
#define DATA_FACTOR    4
#define RETURN_COLUMN  16u /* the program counter */
#define DEFAULT_COLUMN UINT32_MAX
#define NO_POINTER     0xffu /* DW_EH_PE_omit */
#define PCREL_SDATA4   0x1bu

enum cfa_op {
    CFA_ADVANCE = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_ADVANCE1 = 2,
    CFA_ADVANCE2 = 3,
    CFA_ADVANCE4 = 4,
    CFA_OFFSET_EXTENDED = 5,
    CFA_RESTORE_EXTENDED = 6,
    CFA_UNDEFINED = 7,
    CFA_SAME_VALUE = 8,
    CFA_REGISTER = 9,
    CFA_REMEMBER = 10,
    CFA_RESTORE_STATE = 11,
    CFA_DEF_CFA = 12,
    CFA_DEF_CFA_REGISTER = 13,
    CFA_DEF_CFA_OFFSET = 14,
    CFA_OFFSET_EXTENDED_SF = 17,
    CFA_WINDOW_SAVE = 0x2d,
    CFA_LLVM_DEF_ASPACE_CFA = 0x30,
};

struct pointer {
    uint8_t encoding;
    uint32_t symbol; /* 0: none */
};

struct as_cfi {
    uint32_t section;
    struct ex_value begin; /* the place */
    uint64_t start, last, bytes;
    int64_t cfa; /* what the CFA's offset is here */
    uint32_t column;
    struct pointer personality, lsda;
    bool simple, signal, open;
    uint32_t line;
    const char *at;
    struct as_buf ops;
};

static struct as_cfi *open_frame(struct as *as)
{
    struct as_cfi *c = as->n_cfis ? &as->cfis[as->n_cfis - 1] : NULL;
    if (c && c->open)
        return c;
    as_error(as, as->p, "this belongs between .cfi_startproc and .cfi_endproc");
    return NULL;
}

/* ---- bytes ---- */

static void put_u8(struct as_buf *b, unsigned value)
{
    uint8_t byte = (uint8_t)value;
    as_buf_add(b, &byte, 1);
}

static void put_le(struct as_buf *b, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        put_u8(b, (unsigned)(value >> (8 * i)) & 0xff);
}

static void put_uleb(struct as_buf *b, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        put_u8(b, (value & 0x7f) | 0x80);
    put_u8(b, (unsigned)value);
}

static void put_sleb(struct as_buf *b, int64_t value)
{
    while (value < -64 || value > 63) {
        put_u8(b, ((uint64_t)value & 0x7f) | 0x80);
        value = (value - (int64_t)((uint64_t)value & 0x7f)) / 128;
    }
    put_u8(b, (uint64_t)value & 0x7f);
}

/* ---- what frames say ---- */

/* The open frame, the code up to here passed over; NULL with an error. */
static struct as_cfi *advance(struct as *as)
{
    struct as_cfi *c = open_frame(as);
    if (!c)
        return NULL;
    if (as->section != c->section) {
        as_error(as, as->p, "the frame began in another section");
        return NULL;
    }
    uint64_t here = as->sections[as->section].bytes;
    uint64_t step = (here - c->last) / CODE_FACTOR;
    c->last = here;
    if (step == 0)
        return c;
    if (step > UINT32_MAX) {
        as_error(as, as->p, "the frame passes over more code than 32 bits tell");
        return NULL;
    }
    if (step < 64) {
        put_u8(&c->ops, CFA_ADVANCE | (unsigned)step);
        return c;
    }
    unsigned bytes = step <= 0xff ? 1 : step <= 0xffff ? 2 : 4;
    put_u8(&c->ops, bytes == 1   ? CFA_ADVANCE1
                    : bytes == 2 ? CFA_ADVANCE2
                                 : CFA_ADVANCE4);
    put_le(&c->ops, step, bytes);
    return c;
}

/* DWARF's number of a register's name; false: it has none here. Source: LLVM
 * AMDGPUUsage, "Register Identifier" (VGPRs by the numbers of waves of 64). */
static bool register_number(const char *name, size_t len, int64_t *out)
{
    uint32_t n = 0;
    size_t i = 1;
    while (i < len && i < 5 && as_is(name[i], AS_C_DIGIT))
        n = n * 10 + (uint32_t)(name[i++] - '0');
    if (as_same_nocase(name, len, "exec") || as_same_nocase(name, len, "exec_lo"))
        *out = len == 4 ? 17 : 1;
    else if (len > 1 && i == len && name[0] == 's' && n < 106)
        *out = n < 64 ? 32 + n : 1088 + n - 64;
    else if (len > 1 && i == len && name[0] == 'v' && n < 256)
        *out = 2560 + n;
    else
        return false;
    return true;
}

/* A number or a register's name. */
static bool parse_register(struct as *as, uint64_t *out)
{
    const char *name;
    size_t len;
    int64_t value;
    as_blanks(as);
    const char *at = as->p;
    if (as->p < as->end && as_is(*as->p, AS_C_START)) {
        if (!as_name(as, &name, &len) || !register_number(name, len, &value)) {
            as_error(as, at,
                     "expected a register: s0 to s105, v0 to v255, exec, "
                     "exec_lo, or DWARF's number");
            return false;
        }
    } else if (!as_absolute(as, &value)) {
        return false;
    }
    if (value < 0 || value > INT32_MAX) {
        as_error(as, at, "a register's number is 0 to 2^31 - 1");
        return false;
    }
    *out = (uint64_t)value;
    return true;
}

static void put_saved(struct as_cfi *c, uint64_t reg, int64_t offset)
{
    offset /= DATA_FACTOR;
    if (offset < 0) {
        put_u8(&c->ops, CFA_OFFSET_EXTENDED_SF);
        put_uleb(&c->ops, reg);
        put_sleb(&c->ops, offset);
        return;
    }
    if (reg >= 64)
        put_u8(&c->ops, CFA_OFFSET_EXTENDED);
    if (reg < 64)
        put_u8(&c->ops, CFA_OFFSET | (unsigned)reg);
    else
        put_uleb(&c->ops, reg);
    put_uleb(&c->ops, (uint64_t)offset);
}

/* Directives with a register, then perhaps an offset; relative: .cfi_rel_offset. */
static void dir_offset(struct as *as, int relative)
{
    uint64_t reg;
    int64_t offset;
    if (!parse_register(as, &reg) || !as_expect(as, ',') || !as_absolute(as, &offset))
        return;
    struct as_cfi *c = advance(as);
    if (c)
        put_saved(c, reg,
                  (int64_t)((uint64_t)offset - (relative ? (uint64_t)c->cfa : 0)));
}

/* op: CFA_DEF_CFA, or with an address space. */
static void dir_def_cfa(struct as *as, int op)
{
    uint64_t reg;
    int64_t offset, space = 0;
    if (!parse_register(as, &reg) || !as_expect(as, ',') || !as_absolute(as, &offset))
        return;
    if (op == CFA_LLVM_DEF_ASPACE_CFA &&
        (!as_expect(as, ',') || !as_absolute(as, &space)))
        return;
    struct as_cfi *c = advance(as);
    if (!c)
        return;
    c->cfa = offset;
    put_u8(&c->ops, (unsigned)op);
    put_uleb(&c->ops, reg);
    put_uleb(&c->ops, (uint64_t)offset);
    if (op == CFA_LLVM_DEF_ASPACE_CFA)
        put_uleb(&c->ops, (uint64_t)space);
}

static void dir_cfa_offset(struct as *as, int adjust)
{
    int64_t offset;
    if (!as_absolute(as, &offset))
        return;
    struct as_cfi *c = advance(as);
    if (!c)
        return;
    c->cfa = (int64_t)((uint64_t)offset + (adjust ? (uint64_t)c->cfa : 0));
    put_u8(&c->ops, CFA_DEF_CFA_OFFSET);
    put_uleb(&c->ops, (uint64_t)c->cfa);
}

static void dir_register(struct as *as, int op)
{
    uint64_t reg, second = 0;
    if (!parse_register(as, &reg) ||
        (op == CFA_REGISTER && (!as_expect(as, ',') || !parse_register(as, &second))))
        return;
    struct as_cfi *c = advance(as);
    if (!c)
        return;
    if (op == CFA_RESTORE_EXTENDED && reg < 64) {
        put_u8(&c->ops, CFA_RESTORE | (unsigned)reg);
        return;
    }
    put_u8(&c->ops, (unsigned)op);
    put_uleb(&c->ops, reg);
    if (op == CFA_REGISTER)
        put_uleb(&c->ops, second);
}

static void dir_plain(struct as *as, int op)
{
    struct as_cfi *c = advance(as);
    if (c)
        put_u8(&c->ops, (unsigned)op);
}

static void dir_escape(struct as *as, int arg)
{
    (void)arg;
    struct as_cfi *c = advance(as);
    if (!c)
        return;
    do {
        int64_t byte;
        if (!as_absolute(as, &byte))
            return;
        put_u8(&c->ops, (unsigned)((uint64_t)byte & 0xff));
    } while (as_take(as, ','));
}

static void dir_column(struct as *as, int arg)
{
    (void)arg;
    uint64_t reg;
    if (!parse_register(as, &reg))
        return;
    struct as_cfi *c = open_frame(as);
    if (c)
        c->column = (uint32_t)reg;
}

static void dir_signal(struct as *as, int arg)
{
    (void)arg;
    struct as_cfi *c = open_frame(as);
    if (c)
        c->signal = true;
}

/* How many bytes a pointer of an encoding has; 0: no such encoding. */
static unsigned pointer_bytes(unsigned encoding)
{
    if ((encoding & 0x70) != 0 && (encoding & 0x70) != 0x10)
        return 0;
    switch (encoding & 0xf) {
    case 0x2:
    case 0xa:
        return 2;
    case 0x3:
    case 0xb:
        return 4;
    case 0x0:
    case 0x4:
    case 0x8:
    case 0xc:
        return 8;
    default:
        return 0;
    }
}

/* .cfi_personality, .cfi_lsda */
static void dir_pointer(struct as *as, int lsda)
{
    struct as_cfi *c = open_frame(as);
    const char *name;
    size_t len;
    int64_t encoding;
    as_blanks(as);
    const char *at = as->p;
    if (!c || !as_absolute(as, &encoding))
        return;
    if (encoding == NO_POINTER)
        return;
    if (encoding < 0 || encoding > 0xff || !pointer_bytes((unsigned)encoding)) {
        as_error(as, at, "no encoding of a pointer");
        return;
    }
    if (!as_expect(as, ',') || !as_need_name(as, "a symbol", &name, &len))
        return;
    struct pointer p = {.encoding = (uint8_t)encoding,
                        .symbol = as_symbol(as, name, len)};
    c = open_frame(as);
    if (c && lsda)
        c->lsda = p;
    else if (c)
        c->personality = p;
}

/* ---- frames ---- */

static void dir_sections(struct as *as, int arg)
{
    (void)arg;
    as->cfi_eh = as->cfi_debug = false;
    do {
        const char *name;
        size_t len;
        if (!as_need_name(as, ".eh_frame or .debug_frame", &name, &len))
            return;
        as->cfi_eh |= as_same(name, len, ".eh_frame");
        as->cfi_debug |= as_same(name, len, ".debug_frame");
    } while (as_take(as, ','));
}

static void dir_startproc(struct as *as, int arg)
{
    (void)arg;
    const char *word;
    size_t len;
    struct as_cfi *before = as->n_cfis ? &as->cfis[as->n_cfis - 1] : NULL;
    struct as_cfi c = {.section = as->section,
                       .start = as->sections[as->section].bytes,
                       .column = DEFAULT_COLUMN,
                       .personality = {.encoding = 0},
                       .lsda = {.encoding = NO_POINTER},
                       .open = true,
                       .line = as_source_line(as, as->line),
                       .at = as->p};
    if (before && before->open) {
        as_error(as, as->p, ".cfi_startproc before the last one's .cfi_endproc");
        return;
    }
    if (!as_at_end(as)) {
        if (!as_need_name(as, "simple", &word, &len))
            return;
        if (!as_same(word, len, "simple")) {
            as_error(as, word, "expected simple");
            return;
        }
        c.simple = true;
    }
    c.last = c.start;
    if (!as_here(as, &c.begin))
        return;
    if (!as_grow((void **)&as->cfis, &as->cap_cfis, as->n_cfis, sizeof *as->cfis)) {
        as_out_of_memory(as);
        return;
    }
    as->cfis[as->n_cfis++] = c;
}

static void dir_endproc(struct as *as, int arg)
{
    (void)arg;
    struct as_cfi *c = open_frame(as);
    if (!c)
        return;
    c->open = false;
    if (as->section != c->section)
        as_error(as, as->p, "the frame began in another section");
    else
        c->bytes = as->sections[as->section].bytes - c->start;
}

/* ---- the tables ---- */

/* Frames of one kind of CIE follow each other. */
static int compare_kinds(const struct as *as, const struct as_cfi *a,
                         const struct as_cfi *b)
{
    const struct as_symbol *x = &as->symbols[a->personality.symbol];
    const struct as_symbol *y = &as->symbols[b->personality.symbol];
    uint32_t n = x->name_len < y->name_len ? x->name_len : y->name_len;
    int order = n ? memcmp(x->name, y->name, n) : 0;
    if (order || x->name_len != y->name_len)
        return order ? order : x->name_len < y->name_len ? -1 : 1;
    const uint64_t u[] = {a->personality.encoding, a->lsda.encoding, a->signal,
                          a->simple, a->column};
    const uint64_t v[] = {b->personality.encoding, b->lsda.encoding, b->signal,
                          b->simple, b->column};
    for (size_t i = 0; i < sizeof u / sizeof *u; i++)
        if (u[i] != v[i])
            return u[i] < v[i] ? -1 : 1;
    return 0;
}

static int by_kind(const void *a, const void *b, void *user)
{
    const struct as *as = user;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    int order = compare_kinds(as, &as->cfis[i], &as->cfis[j]);
    return order ? order : (i > j) - (i < j);
}

/* A table being written: whole entries are appended to the section, as the places in
 * them are told from there. */
struct table {
    struct as *as;
    bool eh;
    uint64_t cie; /* where the last one begins */
    struct as_buf entry;
};

/* What waits in an entry for a place. */
struct wait {
    size_t at;
    unsigned bytes;
    struct ex_value what;
    bool relative; /* to its own place */
};

/* Fill the entry up to where the next one may begin. */
static void pad(struct table *t, size_t align)
{
    uint64_t start = t->as->sections[t->as->section].bytes;
    while ((start + t->entry.bytes) % align && !t->entry.failed)
        put_u8(&t->entry, 0);
}

/* Append the entry, its length before it. */
static void append(struct table *t, const struct wait *wait, unsigned n,
                   const struct as_cfi *c)
{
    struct as *as = t->as;
    uint64_t start = as->sections[as->section].bytes;
    if (t->entry.failed)
        as_out_of_memory(as);
    uint8_t *out = t->entry.failed ? NULL : as_emit(as, t->entry.bytes);
    if (!out)
        return;
    as_put32(t->entry.data, t->entry.bytes - 4);
    memcpy(out, t->entry.data, t->entry.bytes);
    for (unsigned i = 0; i < n; i++) {
        struct ex_value what = wait[i].what;
        uint64_t place = start + wait[i].at;
        if (wait[i].relative && !as_minus_place(as, what, place, &what))
            return;
        uint32_t before = as->n_fixups;
        as_fixup(as, AS_FIX_DATA, wait[i].bytes, place, what.node, c->at);
        if (as->n_fixups > before)
            as->fixups[before].line = c->line;
    }
    t->entry.bytes = 0;
}

/* Room for a pointer to a symbol. */
static bool put_pointer(struct table *t, const struct pointer *p, struct wait *wait)
{
    *wait = (struct wait){.at = t->entry.bytes,
                          .bytes = pointer_bytes(p->encoding),
                          .relative = (p->encoding & 0x70) == 0x10};
    put_le(&t->entry, 0, wait->bytes);
    return as_symbol_place(t->as, p->symbol, &wait->what);
}

static void put_cie(struct table *t, const struct as_cfi *c)
{
    struct as_buf *b = &t->entry;
    struct wait wait;
    bool personality = t->eh && c->personality.symbol, lsda = t->eh && c->lsda.symbol;
    unsigned n = 0;
    t->cie = t->as->sections[t->as->section].bytes;
    put_le(b, 0, 4);
    put_le(b, t->eh ? 0 : UINT32_MAX, 4);
    put_u8(b, t->eh ? 1 : 4);
    if (t->eh) {
        as_buf_add(b, "zP", personality ? 2 : 1);
        as_buf_add(b, "LR", 1u + lsda - !lsda);
        if (!lsda)
            put_u8(b, 'R');
        as_buf_add(b, "S", c->signal);
    }
    put_u8(b, 0);
    if (!t->eh)
        put_le(b, 8, 2); /* of addresses; segments have no selectors */
    put_uleb(b, CODE_FACTOR);
    put_sleb(b, DATA_FACTOR);
    uint32_t column = c->column == DEFAULT_COLUMN ? RETURN_COLUMN : c->column;
    if (t->eh && column > 0xff)
        as_error_at(t->as, c->at, c->line, "the return column is one byte here");
    if (t->eh)
        put_u8(b, column & 0xff);
    else
        put_uleb(b, column);
    if (t->eh) {
        put_uleb(b, (personality ? 1 + pointer_bytes(c->personality.encoding) : 0) +
                        (uint64_t)lsda + 1);
        if (personality)
            put_u8(b, c->personality.encoding);
        if (personality && !put_pointer(t, &c->personality, &wait))
            return;
        n = personality;
        if (lsda)
            put_u8(b, c->lsda.encoding);
        put_u8(b, PCREL_SDATA4);
    }
    pad(t, t->eh ? 4 : 8);
    append(t, &wait, n, c);
}

static void put_fde(struct table *t, const struct as_cfi *c, bool last)
{
    struct as_buf *b = &t->entry;
    struct as *as = t->as;
    struct wait wait[3];
    unsigned n = 0, address = t->eh ? 4 : 8;
    bool lsda = t->eh && c->lsda.symbol;
    if (t->eh && c->bytes > UINT32_MAX) {
        as_error_at(as, c->at, c->line, "the frame's code is 4 GiB or more");
        return;
    }
    put_le(b, 0, 4);
    if (t->eh) { /* the way back from here */
        put_le(b, as->sections[as->section].bytes + 4 - t->cie, 4);
    } else {
        wait[n].at = b->bytes;
        wait[n].bytes = 4;
        wait[n].relative = false;
        if (!as_place(as, as->section, t->cie, &wait[n].what))
            return;
        n++;
        put_le(b, 0, 4);
    }
    wait[n++] = (struct wait){
        .at = b->bytes, .bytes = address, .what = c->begin, .relative = t->eh};
    put_le(b, 0, address);
    put_le(b, c->bytes, address);
    if (t->eh)
        put_uleb(b, lsda ? pointer_bytes(c->lsda.encoding) : 0);
    if (lsda && !put_pointer(t, &c->lsda, &wait[n++]))
        return;
    as_buf_add(b, c->ops.data, c->ops.bytes);
    pad(t, last ? 8 : address);
    append(t, wait, n, c);
}

static void write_table(struct as *as, const uint32_t *order, bool eh)
{
    static const char names[2][13] = {".debug_frame", ".eh_frame"};
    const struct as_section_spec spec = {.name = names[eh],
                                         .name_len = strlen(names[eh]),
                                         .type = SHT_PROGBITS,
                                         .flags = eh ? SHF_ALLOC : 0,
                                         .at = as->cfis[0].at,
                                         .line = as->cfis[0].line};
    struct table t = {.as = as, .eh = eh};
    uint32_t section = as_section_get(as, &spec);
    if (!section)
        return;
    as->section = section;
    as_align(as, 8, NULL, 1, 0);
    for (uint32_t i = 0; i < as->n_cfis && !as->stop; i++) {
        const struct as_cfi *c = &as->cfis[order[i]];
        if (i == 0 || (eh && compare_kinds(as, c, &as->cfis[order[i - 1]]) != 0))
            put_cie(&t, c);
        put_fde(&t, c, i + 1 == as->n_cfis);
    }
    free(t.entry.data);
}

void as_cfi_finish(struct as *as)
{
    uint32_t *order = calloc(as->n_cfis + 1ul, sizeof *order);
    bool failed = !order;
    for (uint32_t i = 0; i < as->n_cfis && order; i++) {
        const struct as_cfi *c = &as->cfis[i];
        order[i] = i;
        failed |= c->ops.failed;
        if (c->open)
            as_error_at(as, c->at, c->line, ".cfi_endproc is missing");
    }
    if (failed)
        as_out_of_memory(as);
    if (as->n_cfis && !failed && as->result.errors == 0) {
        qsort_r(order, as->n_cfis, sizeof *order, by_kind, as);
        if (as->cfi_eh)
            write_table(as, order, true);
        if (as->cfi_debug)
            write_table(as, order, false);
    }
    free(order);
}

void as_cfi_free(struct as *as)
{
    for (uint32_t i = 0; i < as->n_cfis; i++)
        free(as->cfis[i].ops.data);
    free(as->cfis);
}

const struct as_directive as_directives_cfi[] = {
    {".cfi_sections", dir_sections, 0},
    {".cfi_startproc", dir_startproc, 0},
    {".cfi_endproc", dir_endproc, 0},
    {".cfi_def_cfa", dir_def_cfa, CFA_DEF_CFA},
    {".cfi_llvm_def_aspace_cfa", dir_def_cfa, CFA_LLVM_DEF_ASPACE_CFA},
    {".cfi_def_cfa_offset", dir_cfa_offset, 0},
    {".cfi_adjust_cfa_offset", dir_cfa_offset, 1},
    {".cfi_def_cfa_register", dir_register, CFA_DEF_CFA_REGISTER},
    {".cfi_offset", dir_offset, 0},
    {".cfi_rel_offset", dir_offset, 1},
    {".cfi_register", dir_register, CFA_REGISTER},
    {".cfi_restore", dir_register, CFA_RESTORE_EXTENDED},
    {".cfi_undefined", dir_register, CFA_UNDEFINED},
    {".cfi_same_value", dir_register, CFA_SAME_VALUE},
    {".cfi_remember_state", dir_plain, CFA_REMEMBER},
    {".cfi_restore_state", dir_plain, CFA_RESTORE_STATE},
    {".cfi_window_save", dir_plain, CFA_WINDOW_SAVE},
    {".cfi_escape", dir_escape, 0},
    {".cfi_personality", dir_pointer, 0},
    {".cfi_lsda", dir_pointer, 1},
    {".cfi_return_column", dir_column, 0},
    {".cfi_signal_frame", dir_signal, 0},
    {NULL, NULL, 0},
};
