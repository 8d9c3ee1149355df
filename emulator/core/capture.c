/* capture.c: gathers the waves of a dispatch that does not end well, and makes a core
 * file of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "corefile.h"

#define EM_AMDGPU_NUMBER 224
#define OSABI_HSA        64
#define MACH_GFX1100     0x41u

/* ---- bytes that grow ---- */

struct buffer {
    uint8_t **data;
    size_t *bytes, *room;
};

static void *append(struct buffer b, size_t n)
{
    if (*b.room - *b.bytes < n) {
        size_t room = *b.room ? *b.room : 65536;
        while (room - *b.bytes < n) {
            if (room > SIZE_MAX / 2)
                return NULL;
            room *= 2;
        }
        uint8_t *bigger = realloc(*b.data, room);
        if (!bigger)
            return NULL;
        *b.data = bigger;
        *b.room = room;
    }
    uint8_t *at = *b.data + *b.bytes;
    memset(at, 0, n);
    *b.bytes += n;
    return at;
}

/* A note's head; returns where its contents go, NULL: out of memory. */
static uint8_t *note(struct buffer b, uint32_t type, size_t bytes)
{
    Elf64_Nhdr h = {.n_namesz = sizeof CORE_NOTE_NAME,
                    .n_descsz = (Elf64_Word)bytes,
                    .n_type = type};
    if (bytes > UINT32_MAX - 8)
        return NULL;
    uint8_t *at = append(b, sizeof h + 8 + ((bytes + 3) & ~(size_t)3));
    if (!at)
        return NULL;
    memcpy(at, &h, sizeof h);
    memcpy(at + sizeof h, CORE_NOTE_NAME, sizeof CORE_NOTE_NAME);
    return at + sizeof h + 8;
}

static struct buffer notes_of(struct capture *c)
{
    return (struct buffer){&c->notes, &c->bytes, &c->room};
}

/* ---- waves ---- */

static void group_begin(void *ctx, uint64_t group, unsigned n_waves,
                        const struct emu_fault *fault)
{
    struct capture *c = ctx;
    (void)n_waves;
    c->group = group;
    c->fault = fault ? *fault : (struct emu_fault){.kind = EMU_FAULT_NONE};
}

static void write_scratch(const struct emu_wave_info *info, uint32_t bytes, uint8_t *to)
{
    for (unsigned lane = 0; lane < info->lanes; lane++)
        for (uint32_t at = 0; at < bytes; at += 4, to += 4)
            (void)emu_wave_peek(info, EMU_SPACE_SCRATCH, lane, at, 4, to);
}

static void write_lds(struct capture *c, const struct emu_wave_info *info,
                      uint32_t bytes)
{
    uint8_t *to = note(notes_of(c), CORE_LDS, 8 + (size_t)bytes);
    c->failed |= !to;
    if (!to)
        return;
    memcpy(to, &info->group, 8);
    for (uint32_t at = 0; at < bytes; at += 4)
        (void)emu_wave_peek(info, EMU_SPACE_LDS, 0, at, bytes - at < 4 ? bytes - at : 4,
                            to + 8 + at);
}

static void wave(void *ctx, const struct emu_wave_info *info)
{
    struct capture *c = ctx;
    struct emu_wave_view v;
    if (c->failed)
        return;
    emu_wave_look(info, &v);
    uint32_t scratch = c->whole ? v.scratch_bytes & ~3u : 0;
    size_t rows = (size_t)v.vgprs * info->lanes;
    uint8_t *to = note(notes_of(c), CORE_WAVE,
                       sizeof(struct core_wave) + 4 * (CORE_SCALARS + rows) +
                           (size_t)scratch * info->lanes);
    c->failed |= !to;
    if (!to)
        return;
    bool guilty = c->fault.kind != EMU_FAULT_NONE && c->fault.wave == info->wave;
    struct core_wave w = {
        .group = info->group,
        .pc = v.pc,
        .exec = v.exec,
        .instructions = v.instructions,
        .workgroup = {info->workgroup[0], info->workgroup[1], info->workgroup[2]},
        .wave = info->wave,
        .doing = v.doing,
        .mode = v.mode,
        .status = v.status,
        .trapsts = v.trapsts,
        .fault_lane = !guilty             ? CORE_NO_REASON
                      : c->fault.lane < 0 ? CORE_NO_LANE
                                          : (uint32_t)c->fault.lane};
    memcpy(to, &w, sizeof w);
    to += sizeof w;
    for (unsigned i = 0; i < CORE_SCALARS; i++, to += 4) {
        uint32_t dword =
            emu_wave_special(info, i + 1 < CORE_SCALARS ? i : (unsigned)ISA_SEL_SCC);
        memcpy(to, &dword, 4);
    }
    for (unsigned r = 0; r < v.vgprs; r++)
        for (unsigned l = 0; l < info->lanes; l++, to += 4) {
            uint32_t dword = emu_wave_vgpr(info, r, l);
            memcpy(to, &dword, 4);
        }
    write_scratch(info, scratch, to);
    c->n_waves++;
    if (c->whole && info->wave == 0 && v.lds_bytes)
        write_lds(c, info, v.lds_bytes);
}

void capture_begin(struct capture *c, bool whole)
{
    *c = (struct capture){.inspector = {c, group_begin, wave}, .whole = whole};
}

void capture_end(struct capture *c)
{
    free(c->notes);
    c->notes = NULL;
}

/* ---- the file ---- */

struct file {
    uint8_t *data;
    size_t bytes, room;
    bool failed;
};

static struct buffer bytes_of(struct file *f)
{
    return (struct buffer){&f->data, &f->bytes, &f->room};
}

static void text(uint8_t **to, const char *from)
{
    size_t n = strlen(from ? from : "") + 1;
    memcpy(*to, from ? from : "", n);
    *to += n;
}

static size_t room_for(const char *from)
{
    return strlen(from ? from : "") + 1;
}

static void dispatch_note(struct file *f, const struct core_subject *a)
{
    const struct emu_dispatch *d = a->dispatch;
    struct core_dispatch head = {.version = CORE_VERSION,
                                 .lanes = d->wave64 ? 64 : 32,
                                 .entry = d->entry,
                                 .image = a->image,
                                 .groups = {d->groups[0], d->groups[1], d->groups[2]},
                                 .block = {d->block[0], d->block[1], d->block[2]},
                                 .vgprs = ((d->rsrc1 & 63u) + 1) * (d->wave64 ? 4 : 8),
                                 .lds_bytes = d->lds_bytes,
                                 .scratch_bytes = d->scratch_bytes & ~3u};
    if (head.vgprs > 256)
        head.vgprs = 256;
    uint8_t *to = note(bytes_of(f), CORE_DISPATCH,
                       sizeof head + room_for(a->kernel) + room_for(a->path) +
                           room_for(a->reason));
    f->failed |= !to;
    if (!to)
        return;
    memcpy(to, &head, sizeof head);
    to += sizeof head;
    text(&to, a->kernel);
    text(&to, a->path);
    text(&to, a->reason);
}

static void data_note(struct file *f, enum core_note type, const void *head,
                      size_t head_bytes, const void *data, size_t bytes)
{
    uint8_t *to = note(bytes_of(f), type, head_bytes + bytes);
    f->failed |= !to;
    if (!to)
        return;
    if (head_bytes)
        memcpy(to, head, head_bytes);
    memcpy(to + head_bytes, data, bytes);
}

/* A region's memory is in the file if it is code, or all of it is wanted. */
static bool is_saved(const struct core_subject *a, const struct emu_mem *m)
{
    uint64_t entry = a->dispatch->entry;
    if (a->memory || !(m->perm & EMU_MEM_EXEC))
        return a->memory;
    return !a->brief || (entry >= m->va && entry - m->va < m->bytes);
}

static unsigned count_regions(const struct core_subject *a)
{
    struct emu_mem m;
    unsigned n = 0;
    for (uint64_t va = 0; emu_mem_next(a->emu, va, &m); va = m.va + 1)
        n += is_saved(a, &m);
    return n;
}

static void header(struct file *f, unsigned n_headers)
{
    Elf64_Ehdr e = {.e_type = ET_CORE,
                    .e_machine = EM_AMDGPU_NUMBER,
                    .e_version = EV_CURRENT,
                    .e_phoff = sizeof e,
                    .e_flags = MACH_GFX1100,
                    .e_ehsize = sizeof e,
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_phnum = (Elf64_Half)n_headers};
    memcpy(e.e_ident, ELFMAG, SELFMAG);
    e.e_ident[EI_CLASS] = ELFCLASS64;
    e.e_ident[EI_DATA] = ELFDATA2LSB;
    e.e_ident[EI_VERSION] = EV_CURRENT;
    e.e_ident[EI_OSABI] = OSABI_HSA;
    uint8_t *at = append(bytes_of(f), sizeof e + n_headers * sizeof(Elf64_Phdr));
    f->failed |= !at;
    if (at)
        memcpy(at, &e, sizeof e);
}

static void set_header(struct file *f, unsigned i, const Elf64_Phdr *p)
{
    if (!f->failed)
        memcpy(f->data + sizeof(Elf64_Ehdr) + i * sizeof *p, p, sizeof *p);
}

/* Without the zeros at its end, by pages: programs map far more than they use. */
static size_t used_bytes(const struct emu_mem *m)
{
    static const uint8_t zeros[4096];
    const uint8_t *from = (const uint8_t *)(uintptr_t)m->va; // NOLINT
    size_t n = m->bytes;
    while (n) {
        size_t last = n % sizeof zeros ? n % sizeof zeros : sizeof zeros;
        if (memcmp(from + n - last, zeros, last) != 0)
            break;
        n -= last;
    }
    return n;
}

static void load_segment(struct file *f, unsigned i, const struct emu_mem *m)
{
    size_t bytes = used_bytes(m);
    Elf64_Phdr p = {.p_type = PT_LOAD,
                    .p_flags = (m->perm & EMU_MEM_READ ? PF_R : 0u) |
                               (m->perm & EMU_MEM_WRITE ? PF_W : 0u) |
                               (m->perm & EMU_MEM_EXEC ? PF_X : 0u),
                    .p_offset = f->bytes,
                    .p_vaddr = m->va,
                    .p_filesz = bytes,
                    .p_memsz = m->bytes,
                    .p_align = 4};
    uint8_t *to = append(bytes_of(f), (bytes + 3) & ~UINT64_C(3));
    f->failed |= !to;
    if (to)
        memcpy(to, (const void *)(uintptr_t)m->va, bytes); // NOLINT
    set_header(f, i, &p);
}

void *capture_file(const struct capture *c, const struct core_subject *a, size_t *bytes)
{
    struct file f = {.failed = c->failed};
    struct emu_mem m;
    unsigned n = count_regions(a), i = 1;
    if (n > 60000)
        return NULL;
    header(&f, n + 1);
    size_t start = f.bytes;
    dispatch_note(&f, a);
    if (a->object && a->object_bytes < UINT32_MAX - 16)
        data_note(&f, CORE_OBJECT, NULL, 0, a->object, a->object_bytes);
    for (uint64_t va = 0; emu_mem_next(a->emu, va, &m); va = m.va + 1)
        if (is_saved(a, &m))
            data_note(&f, CORE_REGION, &m.va, 8, m.name, strlen(m.name) + 1);
    uint8_t *to = append(bytes_of(&f), c->bytes);
    f.failed |= !to;
    if (to && c->bytes)
        memcpy(to, c->notes, c->bytes);
    Elf64_Phdr notes = {.p_type = PT_NOTE,
                        .p_offset = start,
                        .p_filesz = f.bytes - start,
                        .p_align = 4};
    set_header(&f, 0, &notes);
    for (uint64_t va = 0; !f.failed && emu_mem_next(a->emu, va, &m); va = m.va + 1)
        if (is_saved(a, &m))
            load_segment(&f, i++, &m);
    if (f.failed) {
        free(f.data);
        return NULL;
    }
    *bytes = f.bytes;
    return f.data;
}
