/* elf.c: the ELF header and field-by-field readers.
 *
 * Must not know images, symbols or kernels. Invariant: after elf_read_header both
 * header tables lie in the file, so any index in range may be read.
 * Source: System V gABI; LLVM AMDGPUUsage, "Header".
 * SPDX-License-Identifier: MIT
 */
#include "elf.h"

#include <inttypes.h>
#include <string.h>

#include "error.h"

#define EM_AMDGPU          224
#define OSABI_HSA          64
#define FLAG_MACH          0xffu
#define MACH_GFX1100       0x41
#define MACH_GFX1103       0x44
#define MACH_GFX1101       0x46
#define MACH_GFX1102       0x47
#define MACH_GFX11_GENERIC 0x54

static const char *const mach_names[] = {
    [0x20] = "gfx600",          [0x21] = "gfx601",          [0x22] = "gfx700",
    [0x23] = "gfx701",          [0x24] = "gfx702",          [0x25] = "gfx703",
    [0x26] = "gfx704",          [0x28] = "gfx801",          [0x29] = "gfx802",
    [0x2a] = "gfx803",          [0x2b] = "gfx810",          [0x2c] = "gfx900",
    [0x2d] = "gfx902",          [0x2e] = "gfx904",          [0x2f] = "gfx906",
    [0x30] = "gfx908",          [0x31] = "gfx909",          [0x32] = "gfx90c",
    [0x33] = "gfx1010",         [0x34] = "gfx1011",         [0x35] = "gfx1012",
    [0x36] = "gfx1030",         [0x37] = "gfx1031",         [0x38] = "gfx1032",
    [0x39] = "gfx1033",         [0x3a] = "gfx602",          [0x3b] = "gfx705",
    [0x3c] = "gfx805",          [0x3d] = "gfx1035",         [0x3e] = "gfx1034",
    [0x3f] = "gfx90a",          [0x40] = "gfx940",          [0x41] = "gfx1100",
    [0x42] = "gfx1013",         [0x43] = "gfx1150",         [0x44] = "gfx1103",
    [0x45] = "gfx1036",         [0x46] = "gfx1101",         [0x47] = "gfx1102",
    [0x48] = "gfx1200",         [0x4a] = "gfx1151",         [0x4b] = "gfx941",
    [0x4c] = "gfx942",          [0x4e] = "gfx1201",         [0x51] = "gfx9-generic",
    [0x52] = "gfx10-1-generic", [0x53] = "gfx10-3-generic", [0x54] = "gfx11-generic",
    [0x55] = "gfx1152",         [0x59] = "gfx12-generic",
};

static const char *mach_name(unsigned mach)
{
    const char *name = NULL;
    if (mach < sizeof mach_names / sizeof *mach_names)
        name = mach_names[mach];
    return name ? name : "an unknown processor";
}

/* The identification bytes and the machine: is it ours at all? */
static rd_status check_ident(const uint8_t *p, struct elf_header *h,
                             struct co_error *err)
{
    if (p[4] != 2)
        return co_fail(err, RD_E_UNSUPPORTED,
                       "ELF header: EI_CLASS (offset 4) is %u, expected 2 (64 bit)",
                       p[4]);
    if (p[5] != 1)
        return co_fail(
            err, RD_E_UNSUPPORTED,
            "ELF header: EI_DATA (offset 5) is %u, expected 1 (little endian)", p[5]);
    if (p[6] != 1 || load_le32(p + 20) != 1)
        return co_fail(err, RD_E_FORMAT,
                       "ELF header: EI_VERSION (offset 6) or e_version (offset 20) is "
                       "not 1");
    unsigned machine = load_le16(p + 18);
    if (machine != EM_AMDGPU)
        return co_fail(err, RD_E_UNSUPPORTED,
                       "ELF header: e_machine (offset 18) is %u, expected %d (AMDGPU)",
                       machine, EM_AMDGPU);
    if (p[7] != OSABI_HSA)
        return co_fail(
            err, RD_E_UNSUPPORTED,
            "ELF header: EI_OSABI (offset 7) is %u, expected %d (AMDGPU_HSA)", p[7],
            OSABI_HSA);
    if (p[8] < 2 || p[8] > 4)
        return co_fail(err, RD_E_UNSUPPORTED,
                       "ELF header: EI_ABIVERSION (offset 8) is %u, expected 2, 3 or 4 "
                       "(code object version 4, 5, 6)",
                       p[8]);
    h->version = p[8] + 2u;
    return RD_OK;
}

static rd_status check_target(struct elf_header *h, struct co_error *err)
{
    unsigned mach = h->flags & FLAG_MACH;
    h->target = mach_name(mach);
    /* gfx1101 to gfx1103 have the same instructions and descriptors. */
    if (mach == MACH_GFX1100 || mach == MACH_GFX1101 || mach == MACH_GFX1102 ||
        mach == MACH_GFX1103 || (mach == MACH_GFX11_GENERIC && h->version == 6))
        return RD_OK;
    return co_fail(err, RD_E_UNSUPPORTED,
                   "ELF header: e_flags (offset 48) is 0x%" PRIx32
                   ", code for %s, expected gfx1100 (0x%x) to gfx1103",
                   h->flags, h->target, MACH_GFX1100);
}

static rd_status check_table(const char *what, uint64_t offset, unsigned count,
                             unsigned entry, unsigned entry_expected, unsigned field,
                             size_t size, struct co_error *err)
{
    if (count == 0)
        return RD_OK;
    if (entry != entry_expected)
        return co_fail(err, RD_E_FORMAT,
                       "ELF header: %s entry size (offset %u) is %u, expected %u", what,
                       field, entry, entry_expected);
    if (!range_ok(offset, (uint64_t)count * entry, size))
        return co_fail(err, RD_E_TRUNCATED,
                       "ELF header: %s table of %u entries at offset %" PRIu64
                       " leaves the file (%zu bytes)",
                       what, count, offset, size);
    return RD_OK;
}

static rd_status read_tables(const uint8_t *p, size_t size, struct elf_header *h,
                             struct co_error *err)
{
    h->phoff = load_le64(p + 32);
    h->shoff = load_le64(p + 40);
    h->phnum = load_le16(p + 56);
    h->shnum = load_le16(p + 60);
    h->shstrndx = load_le16(p + 62);
    if (h->shnum >= SHN_LORESERVE_ || (h->shnum == 0 && h->shoff != 0) ||
        h->phnum == 0xffff)
        return co_fail(err, RD_E_UNSUPPORTED,
                       "ELF header: extended numbering (e_phnum %u, e_shnum %u) is not "
                       "supported",
                       h->phnum, h->shnum);
    rd_status st = check_table("program header", h->phoff, h->phnum, load_le16(p + 54),
                               PHDR_BYTES, 54, size, err);
    if (st != RD_OK)
        return st;
    st = check_table("section header", h->shoff, h->shnum, load_le16(p + 58),
                     SHDR_BYTES, 58, size, err);
    if (st != RD_OK)
        return st;
    if (h->shnum && h->shstrndx >= h->shnum)
        return co_fail(err, RD_E_FORMAT,
                       "ELF header: e_shstrndx (offset 62) is %u of %u sections",
                       h->shstrndx, h->shnum);
    return RD_OK;
}

/* What the header alone tells. */
static rd_status check_header(const uint8_t *data, size_t size, struct elf_header *h,
                              struct co_error *err)
{
    if (size < 4 || memcmp(data, "\177ELF", 4) != 0)
        return co_fail(err, size < 4 ? RD_E_TRUNCATED : RD_E_FORMAT,
                       "not an ELF file: no magic number at offset 0");
    if (size < EHDR_BYTES)
        return co_fail(err, RD_E_TRUNCATED,
                       "ELF header: the file has %zu bytes, the header alone %d", size,
                       EHDR_BYTES);
    rd_status st = check_ident(data, h, err);
    if (st != RD_OK)
        return st;
    h->flags = load_le32(data + 48);
    st = check_target(h, err);
    if (st != RD_OK)
        return st;
    h->type = load_le16(data + 16);
    if (h->type != ET_REL_ && h->type != ET_DYN_)
        return co_fail(err, RD_E_UNSUPPORTED,
                       "ELF header: e_type (offset 16) is %u, expected 1 (relocatable) "
                       "or 3 (shared object)",
                       h->type);
    return RD_OK;
}

bool elf_may_begin(const uint8_t *head, size_t bytes)
{
    struct elf_header h = {0};
    return check_header(head, bytes, &h, NULL) == RD_OK;
}

rd_status elf_read_header(const uint8_t *data, size_t size, struct elf_header *out,
                          struct co_error *err)
{
    struct elf_header h = {0};
    rd_status st = check_header(data, size, &h, err);
    if (st == RD_OK)
        st = read_tables(data, size, &h, err);
    if (st == RD_OK)
        *out = h;
    return st;
}

struct elf_phdr elf_phdr_at(const uint8_t *data, const struct elf_header *h, unsigned i)
{
    const uint8_t *p = data + h->phoff + (uint64_t)i * PHDR_BYTES;
    return (struct elf_phdr){
        .type = load_le32(p),
        .flags = load_le32(p + 4),
        .offset = load_le64(p + 8),
        .vaddr = load_le64(p + 16),
        .filesz = load_le64(p + 32),
        .memsz = load_le64(p + 40),
        .align = load_le64(p + 48),
    };
}

struct elf_shdr elf_shdr_at(const uint8_t *data, const struct elf_header *h, unsigned i)
{
    const uint8_t *p = data + h->shoff + (uint64_t)i * SHDR_BYTES;
    return (struct elf_shdr){
        .name = load_le32(p),
        .type = load_le32(p + 4),
        .flags = load_le64(p + 8),
        .addr = load_le64(p + 16),
        .offset = load_le64(p + 24),
        .size = load_le64(p + 32),
        .link = load_le32(p + 40),
        .info = load_le32(p + 44),
        .addralign = load_le64(p + 48),
        .entsize = load_le64(p + 56),
    };
}

struct elf_sym elf_sym_at(const uint8_t *table, uint64_t i)
{
    const uint8_t *p = table + i * SYM_BYTES;
    return (struct elf_sym){
        .name = load_le32(p),
        .bind = p[4] >> 4,
        .type = p[4] & 15u,
        .shndx = load_le16(p + 6),
        .value = load_le64(p + 8),
        .size = load_le64(p + 16),
    };
}

struct elf_rela elf_rela_at(const uint8_t *table, uint64_t i)
{
    const uint8_t *p = table + i * RELA_BYTES;
    return (struct elf_rela){
        .offset = load_le64(p),
        .type = load_le32(p + 8),
        .sym = load_le32(p + 12),
        .addend = (int64_t)load_le64(p + 16),
    };
}

rd_status elf_check_phdr(const struct elf_phdr *ph, unsigned i, size_t size,
                         struct co_error *err)
{
    if (!range_ok(ph->offset, ph->filesz, size))
        return co_fail(err, RD_E_TRUNCATED,
                       "program header %u: p_offset %" PRIu64 " and p_filesz %" PRIu64
                       " leave the file (%zu bytes)",
                       i, ph->offset, ph->filesz, size);
    return RD_OK;
}

rd_status elf_check_shdr(const struct elf_shdr *sh, unsigned i, size_t size,
                         struct co_error *err)
{
    if (sh->type == 0 || sh->type == SHT_NOBITS_)
        return RD_OK;
    if (!range_ok(sh->offset, sh->size, size))
        return co_fail(err, RD_E_TRUNCATED,
                       "section header %u: sh_offset %" PRIu64 " and sh_size %" PRIu64
                       " leave the file (%zu bytes)",
                       i, sh->offset, sh->size, size);
    return RD_OK;
}
