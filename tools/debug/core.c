/* core.c: reads core files.
 *
 * A file may hold anything: all that is read lies inside of it, and what contradicts
 * itself is refused with a reason. SPDX-License-Identifier: MIT
 */
#include "core.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "corefile.h"

#define MAX_WAVES   100000u
#define MAX_REGIONS 65535u

struct core_group {
    uint64_t number;
    const uint8_t *lds;
    size_t bytes;
};

struct core_region {
    struct emu_mem m;
    const uint8_t *data;
    uint64_t filled; /* bytes of it that are in the file; behind them are zeros */
};

struct one_wave {
    struct core_wave head;
    const uint8_t *scalars, *vgprs, *scratch;
};

struct core {
    void *file;
    const uint8_t *data;
    size_t bytes;
    struct core_dispatch head;
    bool have_head;
    const char *kernel, *path, *reason;
    char *own[3];
    struct one_wave *waves;
    unsigned n_waves;
    struct core_group *groups;
    unsigned n_groups;
    struct core_region *regions;
    unsigned n_regions;
    const uint8_t *object;
    size_t object_bytes;
    const struct object *identified; /* of elsewhere, or NULL */
    char *path_found;                /* of CORE_PLACE, or NULL */
    struct target target;
    struct program program;
    char *text;
    size_t text_size;
};

static bool refuse(struct core *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static bool refuse(struct core *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(c->text, c->text_size, fmt, ap);
    va_end(ap);
    return false;
}

static void *one_more(void *array, unsigned n, size_t size)
{
    if (n & (n - 1)) /* doubles at powers of two */
        return array;
    return realloc(array, (n ? 2ul * n : 1) * size);
}

/* ---- notes ---- */

/* A copy that a terminal can show. */
static char *printable(const char *text)
{
    char *copy = strdup(text);
    for (char *at = copy; at && *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
    return copy;
}

/* A text that ends inside of the bytes. */
static const char *take_text(const uint8_t **at, const uint8_t *end)
{
    const uint8_t *zero = *at < end ? memchr(*at, 0, (size_t)(end - *at)) : NULL;
    const char *text = (const char *)*at;
    if (!zero)
        return NULL;
    *at = zero + 1;
    return text;
}

static bool dispatch_note(struct core *c, const uint8_t *d, size_t n)
{
    const uint8_t *at = d + sizeof c->head, *end = d + n;
    if (c->have_head)
        return refuse(c, "two dispatches in one file");
    if (n < sizeof c->head)
        return refuse(c, "the note of the dispatch is too short");
    memcpy(&c->head, d, sizeof c->head);
    c->kernel = take_text(&at, end);
    c->path = c->kernel ? take_text(&at, end) : NULL;
    c->reason = c->path ? take_text(&at, end) : NULL;
    if (c->head.version != CORE_VERSION)
        return refuse(c, "version %u of the format; this program reads %u",
                      c->head.version, CORE_VERSION);
    if (!c->reason)
        return refuse(c, "texts of the dispatch do not end");
    if ((c->head.lanes != 32 && c->head.lanes != 64) || c->head.vgprs > 256 ||
        c->head.scratch_bytes > 1u << 24 || c->head.scratch_bytes % 4)
        return refuse(c,
                      "%u lanes, %u VGPRs, %u bytes of scratch: there is no such wave",
                      c->head.lanes, c->head.vgprs, c->head.scratch_bytes);
    c->have_head = true;
    c->own[0] = printable(c->kernel);
    c->own[1] = printable(c->path);
    c->own[2] = printable(c->reason);
    c->kernel = c->own[0] ? c->own[0] : "";
    c->path = c->own[1] ? c->own[1] : "";
    c->reason = c->own[2] ? c->own[2] : "";
    return true;
}

static bool wave_note(struct core *c, const uint8_t *d, size_t n)
{
    struct one_wave w;
    if (!c->have_head)
        return refuse(c, "a wave comes before its dispatch");
    size_t rows = 4ul * c->head.vgprs * c->head.lanes;
    size_t need = sizeof w.head + 4ul * CORE_SCALARS + rows;
    size_t scratch = (size_t)c->head.scratch_bytes * c->head.lanes;
    if (n != need && n != need + scratch)
        return refuse(c, "the note of a wave has %zu bytes, not %zu", n,
                      need + scratch);
    if (c->n_waves == MAX_WAVES)
        return refuse(c, "more than %u waves", MAX_WAVES);
    memcpy(&w.head, d, sizeof w.head);
    w.scalars = d + sizeof w.head;
    w.vgprs = w.scalars + 4ul * CORE_SCALARS;
    w.scratch = n == need ? NULL : w.vgprs + rows;
    if (w.head.doing > EMU_DOING_FAULTED)
        return refuse(c, "a wave does %u, which is nothing", w.head.doing);
    struct one_wave *bigger = one_more(c->waves, c->n_waves, sizeof w);
    if (!bigger)
        return refuse(c, "out of memory");
    c->waves = bigger;
    c->waves[c->n_waves++] = w;
    return true;
}

static bool lds_note(struct core *c, const uint8_t *d, size_t n)
{
    if (n < 8 || n - 8 > 65536)
        return refuse(c, "a note of LDS has %zu bytes", n);
    struct core_group *bigger = one_more(c->groups, c->n_groups, sizeof *bigger);
    if (!bigger)
        return refuse(c, "out of memory");
    c->groups = bigger;
    struct core_group *g = &bigger[c->n_groups++];
    memcpy(&g->number, d, 8);
    g->lds = d + 8;
    g->bytes = n - 8;
    return true;
}

static void region_note(struct core *c, const uint8_t *d, size_t n)
{
    uint64_t va;
    const uint8_t *at = d + 8;
    const char *name = n > 8 ? take_text(&at, d + n) : NULL;
    if (!name)
        return;
    char *copy = printable(name);
    memcpy(&va, d, 8);
    for (unsigned i = 0; i < c->n_regions; i++)
        if (c->regions[i].m.va == va)
            (void)snprintf(c->regions[i].m.name, sizeof c->regions[i].m.name, "%s",
                           copy ? copy : "");
    free(copy);
}

/* Behind the dispatch. */
static bool place_note(struct core *c, const uint8_t *d, size_t n)
{
    const uint8_t *at = d + 8;
    const char *path = n > 8 ? take_text(&at, d + n) : NULL;
    if (!path || !c->have_head || c->path_found)
        return refuse(c, "the note of the code object's place is wrong");
    c->path_found = printable(path);
    memcpy(&c->head.image, d, 8);
    return c->path_found || refuse(c, "out of memory");
}

static bool one_note(struct core *c, uint32_t type, const uint8_t *d, size_t n)
{
    switch (type) {
    case CORE_DISPATCH:
        return dispatch_note(c, d, n);
    case CORE_WAVE:
        return wave_note(c, d, n);
    case CORE_LDS:
        return lds_note(c, d, n);
    case CORE_OBJECT:
        c->object = d;
        c->object_bytes = n;
        return true;
    case CORE_REGION:
        region_note(c, d, n);
        return true;
    case CORE_PLACE:
        return place_note(c, d, n);
    default:
        return true; /* of a later version */
    }
}

static bool read_notes(struct core *c, const uint8_t *d, size_t n)
{
    while (n) {
        Elf64_Nhdr h;
        if (n < sizeof h)
            return refuse(c, "a note is cut off");
        memcpy(&h, d, sizeof h);
        size_t name = ((size_t)h.n_namesz + 3) & ~(size_t)3;
        size_t desc = ((size_t)h.n_descsz + 3) & ~(size_t)3;
        if (name > n - sizeof h || desc > n - sizeof h - name)
            return refuse(c, "a note of %u bytes is cut off", h.n_descsz);
        const uint8_t *at = d + sizeof h;
        if (h.n_namesz == sizeof CORE_NOTE_NAME &&
            memcmp(at, CORE_NOTE_NAME, sizeof CORE_NOTE_NAME) == 0 &&
            !one_note(c, h.n_type, at + name, h.n_descsz))
            return false;
        d += sizeof h + name + desc;
        n -= sizeof h + name + desc;
    }
    return true;
}

/* ---- segments ---- */

static bool load(struct core *c, const Elf64_Phdr *p)
{
    if (p->p_filesz > p->p_memsz || p->p_vaddr + p->p_memsz < p->p_vaddr)
        return refuse(c,
                      "memory at 0x%" PRIx64 " has %" PRIu64 " bytes, %" PRIu64
                      " of them in the file",
                      p->p_vaddr, p->p_memsz, p->p_filesz);
    struct core_region *bigger = one_more(c->regions, c->n_regions, sizeof *bigger);
    if (!bigger)
        return refuse(c, "out of memory");
    c->regions = bigger;
    bigger[c->n_regions++] =
        (struct core_region){.m = {.va = p->p_vaddr,
                                   .bytes = p->p_memsz,
                                   .perm = (p->p_flags & PF_R ? EMU_MEM_READ : 0) |
                                           (p->p_flags & PF_W ? EMU_MEM_WRITE : 0) |
                                           (p->p_flags & PF_X ? EMU_MEM_EXEC : 0)},
                             .data = c->data + p->p_offset,
                             .filled = p->p_filesz};
    return true;
}

static bool each_segment(struct core *c, const Elf64_Ehdr *e, bool notes)
{
    for (unsigned i = 0; i < e->e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, c->data + e->e_phoff + i * sizeof p, sizeof p);
        if (p.p_type != PT_LOAD && p.p_type != PT_NOTE)
            continue;
        if (p.p_offset > c->bytes || c->bytes - p.p_offset < p.p_filesz)
            return refuse(c,
                          "the file is truncated: segment %u needs %" PRIu64
                          " bytes, there are %zu",
                          i, p.p_offset + p.p_filesz, c->bytes);
        if (p.p_type == PT_LOAD && !notes && p.p_memsz && !load(c, &p))
            return false;
        if (p.p_type == PT_NOTE && notes &&
            !read_notes(c, c->data + p.p_offset, p.p_filesz))
            return false;
    }
    return true;
}

static bool read_all(struct core *c)
{
    Elf64_Ehdr e;
    if (c->bytes < sizeof e || memcmp(c->data, ELFMAG, SELFMAG) != 0)
        return refuse(c, "not an ELF file");
    memcpy(&e, c->data, sizeof e);
    if (e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_ident[EI_DATA] != ELFDATA2LSB ||
        e.e_machine != 224)
        return refuse(c, "not a file of an AMD GPU");
    if (e.e_type != ET_CORE)
        return refuse(c, "not a core file (a code object is debugged without --core)");
    if (e.e_phentsize != sizeof(Elf64_Phdr) || e.e_phoff > c->bytes ||
        (c->bytes - e.e_phoff) / sizeof(Elf64_Phdr) < e.e_phnum)
        return refuse(c, "the file is truncated: its program headers lie outside");
    if (!each_segment(c, &e, false) || !each_segment(c, &e, true))
        return false;
    return c->have_head || refuse(c, "no note says which dispatch it is of: not one "
                                     "that --core has written");
}

/* ---- the target ---- */

static unsigned n_waves(void *ctx)
{
    return ((const struct core *)ctx)->n_waves;
}

static bool wave(void *ctx, unsigned index, struct tg_wave *out)
{
    const struct core *c = ctx;
    if (index >= c->n_waves)
        return false;
    const struct core_wave *w = &c->waves[index].head;
    *out = (struct tg_wave){
        .group = w->group,
        .workgroup = {w->workgroup[0], w->workgroup[1], w->workgroup[2]},
        .wave = w->wave,
        .lanes = c->head.lanes,
        .view = {.doing = (enum emu_wave_doing)w->doing,
                 .pc = w->pc,
                 .exec = w->exec,
                 .mode = w->mode,
                 .status = w->status,
                 .trapsts = w->trapsts,
                 .vgprs = c->head.vgprs,
                 .lds_bytes = c->head.lds_bytes,
                 .scratch_bytes = c->head.scratch_bytes,
                 .instructions = w->instructions}};
    return true;
}

static bool reg(void *ctx, unsigned index, unsigned sel, unsigned lane, uint32_t *out)
{
    const struct core *c = ctx;
    if (index >= c->n_waves || lane >= c->head.lanes)
        return false;
    const struct one_wave *w = &c->waves[index];
    *out = 0;
    if (sel >= ISA_SEL_VGPR0) {
        if (sel - ISA_SEL_VGPR0 >= c->head.vgprs)
            return false;
        memcpy(out, w->vgprs + 4ul * ((sel - ISA_SEL_VGPR0) * c->head.lanes + lane), 4);
    } else if (sel + 1 < CORE_SCALARS) {
        memcpy(out, w->scalars + 4ul * sel, 4);
    } else if (sel == ISA_SEL_SCC) {
        memcpy(out, w->scalars + 4ul * (CORE_SCALARS - 1), 4);
    } else if (sel == ISA_SEL_EXECZ) {
        *out = w->head.exec == 0;
    }
    return true;
}

static bool read_scratch(const struct core *c, const struct one_wave *w, unsigned lane,
                         uint64_t address, unsigned bytes, void *out)
{
    if (!w->scratch || lane >= c->head.lanes || address > c->head.scratch_bytes ||
        c->head.scratch_bytes - address < bytes)
        return false;
    memcpy(out, w->scratch + (size_t)lane * c->head.scratch_bytes + address, bytes);
    return true;
}

static bool read_lds(const struct core *c, uint64_t group, uint64_t address,
                     unsigned bytes, void *out)
{
    for (unsigned i = 0; i < c->n_groups; i++) {
        const struct core_group *g = &c->groups[i];
        if (g->number != group || address > g->bytes || g->bytes - address < bytes)
            continue;
        memcpy(out, g->lds + address, bytes);
        return true;
    }
    return false;
}

static bool read_space(void *ctx, unsigned index, unsigned space, unsigned lane,
                       uint64_t address, unsigned bytes, void *out)
{
    const struct core *c = ctx;
    const struct one_wave *w = index < c->n_waves ? &c->waves[index] : NULL;
    if (space == EMU_SPACE_SCRATCH)
        return w && read_scratch(c, w, lane, address, bytes, out);
    if (space == EMU_SPACE_LDS)
        return w && read_lds(c, w->head.group, address, bytes, out);
    for (unsigned i = 0; i < c->n_regions && space == EMU_SPACE_GLOBAL; i++) {
        const struct core_region *r = &c->regions[i];
        if (address < r->m.va || address - r->m.va > r->m.bytes ||
            r->m.bytes - (address - r->m.va) < bytes)
            continue;
        uint64_t at = address - r->m.va;
        uint64_t there = at < r->filled ? r->filled - at : 0;
        memset(out, 0, bytes);
        memcpy(out, r->data + at, there < bytes ? there : bytes);
        return true;
    }
    return false;
}

static bool region(void *ctx, uint64_t address, struct emu_mem *out)
{
    const struct core *c = ctx;
    const struct core_region *best = NULL;
    for (unsigned i = 0; i < c->n_regions; i++)
        if (c->regions[i].m.va >= address && (!best || c->regions[i].m.va < best->m.va))
            best = &c->regions[i];
    if (best)
        *out = best->m;
    return best != NULL;
}

static const struct tg_ops core_ops = {n_waves, wave, reg, read_space, region};

/* ---- open and close ---- */

struct core *core_read(const void *data, size_t bytes, char *text, size_t size)
{
    struct core *c = calloc(1, sizeof *c);
    if (!c) {
        (void)snprintf(text, size, "out of memory");
        return NULL;
    }
    c->data = data;
    c->bytes = bytes;
    c->text = text;
    c->text_size = size;
    if (!read_all(c)) {
        core_close(c);
        return NULL;
    }
    c->target = (struct target){&core_ops, c};
    const char *name = c->path_found ? c->path_found : c->path;
    program_open(&c->program, *name ? name : NULL, c->object, c->object_bytes,
                 *c->kernel ? c->kernel : NULL, c->head.image, c->head.entry,
                 c->head.lanes);
    return c;
}

int core_open(const char *path, struct core **out)
{
    void *data;
    size_t bytes;
    char text[256];
    rd_status st = cli_read_file(path, &data, &bytes);
    if (st != RD_OK)
        return cli_error(CLI_FAILED, "cannot read '%s': %s", path,
                         st == RD_E_IO ? strerror(errno) : rd_status_text(st));
    *out = core_read(data, bytes, text, sizeof text);
    if (!*out) {
        free(data);
        return cli_error(CLI_FAILED, "'%s': %s", path, text);
    }
    (*out)->file = data;
    return CLI_OK;
}

void core_close(struct core *c)
{
    if (!c)
        return;
    program_close(&c->program);
    free(c->path_found);
    for (unsigned i = 0; i < 3; i++)
        free(c->own[i]);
    free(c->waves);
    free(c->groups);
    free(c->regions);
    free(c->file);
    free(c);
}

void core_identify(struct core *c, const struct object *object,
                   const struct co_kernel *kernel)
{
    c->identified = object;
    c->head.image = c->head.entry - kernel->entry_offset;
    program_close(&c->program);
    program_open(&c->program, object->path, object->data, object->bytes, kernel->name,
                 c->head.image, c->head.entry, c->head.lanes);
}

/* ---- written again, with the object ---- */

static void put_note(FILE *f, enum core_note type, const void *a, size_t a_bytes,
                     const void *b, size_t b_bytes)
{
    static const char zeros[4];
    Elf64_Nhdr h = {.n_namesz = sizeof CORE_NOTE_NAME,
                    .n_descsz = (Elf64_Word)(a_bytes + b_bytes),
                    .n_type = type};
    char name[8] = CORE_NOTE_NAME;
    (void)fwrite(&h, sizeof h, 1, f);
    (void)fwrite(name, sizeof name, 1, f);
    (void)fwrite(a, 1, a_bytes, f);
    if (b_bytes)
        (void)fwrite(b, 1, b_bytes, f);
    (void)fwrite(zeros, 1, (0 - a_bytes - b_bytes) & 3, f);
}

/* The file with one program header more, and its notes at the end. */
static bool put_with_object(FILE *f, const struct core *c)
{
    const struct object *o = c->identified;
    Elf64_Ehdr e;
    Elf64_Phdr p, more = {.p_type = PT_NOTE, .p_align = 4};
    memcpy(&e, c->data, sizeof e);
    size_t n = e.e_phnum, table = sizeof e + n * sizeof p;
    if (e.e_phoff != sizeof e || n >= UINT16_MAX - 1 || o->bytes > UINT32_MAX - 64)
        return false;
    e.e_phnum++;
    (void)fwrite(&e, sizeof e, 1, f);
    for (size_t i = 0; i < n; i++) {
        memcpy(&p, c->data + sizeof e + i * sizeof p, sizeof p);
        p.p_offset += sizeof p;
        (void)fwrite(&p, sizeof p, 1, f);
    }
    size_t pad = (0 - c->bytes) & 3, path = strlen(o->path) + 1;
    more.p_offset = c->bytes + sizeof p + pad;
    more.p_filesz = 2 * (sizeof(Elf64_Nhdr) + 8) + ((8 + path + 3) & ~(size_t)3) +
                    ((o->bytes + 3) & ~(size_t)3);
    (void)fwrite(&more, sizeof more, 1, f);
    (void)fwrite(c->data + table, 1, c->bytes - table, f);
    (void)fwrite("\0\0\0", 1, pad, f);
    put_note(f, CORE_PLACE, &c->head.image, 8, o->path, path);
    put_note(f, CORE_OBJECT, o->data, o->bytes, NULL, 0);
    return true;
}

int core_write(const struct core *c, const char *path)
{
    struct cli_output file;
    FILE *f = cli_output_begin(&file, path);
    if (!f)
        return cli_error(CLI_FAILED, "--core %s: %s", path, strerror(errno));
    if (!c->identified || !put_with_object(f, c))
        (void)fwrite(c->data, 1, c->bytes, f);
    if (cli_output_end(&file, true) != RD_OK)
        return cli_error(CLI_FAILED, "--core %s: %s", path, strerror(errno));
    (void)fprintf(stderr, "core file: %s; rdna3 debug --core %s\n", path, path);
    return CLI_OK;
}

const struct target *core_target(const struct core *c)
{
    return &c->target;
}

struct program *core_program(struct core *c)
{
    return &c->program;
}

const char *core_reason(const struct core *c)
{
    return c->reason;
}

bool core_culprit(const struct core *c, uint64_t *group, unsigned *wave_,
                  unsigned *lane)
{
    for (unsigned i = 0; i < c->n_waves; i++) {
        const struct core_wave *w = &c->waves[i].head;
        if (w->fault_lane == CORE_NO_REASON)
            continue;
        *group = w->group;
        *wave_ = w->wave;
        *lane = w->fault_lane < c->head.lanes ? w->fault_lane : 0;
        return true;
    }
    return false;
}
