/* elf.h: ELF64 structures as far as AMDGPU code objects use them, and their numbers.
 * SPDX-License-Identifier: MIT
 */
#ifndef CO_ELF_H
#define CO_ELF_H

#include "codeobj.h"
#include "bytes.h"

enum {
    EHDR_BYTES = 64,
    PHDR_BYTES = 56,
    SHDR_BYTES = 64,
    SYM_BYTES = 24,
    RELA_BYTES = 24,
    DYN_BYTES = 16,
    NOTE_BYTES = 12
};

enum { ET_REL_ = 1, ET_DYN_ = 3 };
enum { PT_LOAD_ = 1, PT_DYNAMIC_ = 2, PT_NOTE_ = 4 };
enum {
    SHT_PROGBITS_ = 1,
    SHT_SYMTAB_ = 2,
    SHT_STRTAB_ = 3,
    SHT_RELA_ = 4,
    SHT_NOTE_ = 7,
    SHT_NOBITS_ = 8,
    SHT_REL_ = 9,
    SHT_DYNSYM_ = 11
};
#define SHF_WRITE_ 1u
#define SHF_ALLOC_ 2u
#define SHF_EXEC_  4u

enum {
    SHN_UNDEF_ = 0,
    SHN_LORESERVE_ = 0xff00,
    SHN_AMDGPU_LDS_ = 0xff00,
    SHN_ABS_ = 0xfff1,
    SHN_COMMON_ = 0xfff2,
    SHN_XINDEX_ = 0xffff
};
enum { STB_GLOBAL_ = 1, STB_WEAK_ = 2 };
enum { STT_OBJECT_ = 1, STT_FUNC_ = 2, STT_SECTION_ = 3, STT_FILE_ = 4 };

enum {
    DT_NULL_ = 0,
    DT_PLTRELSZ_ = 2,
    DT_HASH_ = 4,
    DT_STRTAB_ = 5,
    DT_SYMTAB_ = 6,
    DT_RELA_ = 7,
    DT_RELASZ_ = 8,
    DT_RELAENT_ = 9,
    DT_STRSZ_ = 10,
    DT_REL_ = 17,
    DT_PLTREL_ = 20,
    DT_JMPREL_ = 23,
    DT_RELRSZ_ = 35,
    DT_RELR_ = 36
};

enum { NT_AMDGPU_METADATA_ = 32 };

/* The file header, checked: both tables lie in the file. */
struct elf_header {
    unsigned type;
    unsigned version; /* code object version */
    uint32_t flags;
    const char *target;
    uint64_t phoff, shoff;
    unsigned phnum, shnum, shstrndx;
};

struct elf_phdr {
    uint32_t type, flags;
    uint64_t offset, vaddr, filesz, memsz, align;
};

struct elf_shdr {
    uint32_t name, type;
    uint64_t flags, addr, offset, size;
    uint32_t link, info;
    uint64_t addralign, entsize;
};

struct elf_sym {
    uint32_t name;
    unsigned bind, type, shndx;
    uint64_t value, size;
};

struct elf_rela {
    uint64_t offset;
    uint32_t type, sym;
    int64_t addend;
};

/* Read and check the header of a gfx1100 code object. */
RD_CHECKED rd_status elf_read_header(const uint8_t *data, size_t size,
                                     struct elf_header *out, struct co_error *err);

/* Is it the beginning of one? */
bool elf_may_begin(const uint8_t *head, size_t bytes);

/* Field readers; the caller has checked that the bytes are there. */
struct elf_phdr elf_phdr_at(const uint8_t *data, const struct elf_header *h,
                            unsigned i);
struct elf_shdr elf_shdr_at(const uint8_t *data, const struct elf_header *h,
                            unsigned i);
struct elf_sym elf_sym_at(const uint8_t *table, uint64_t i);
struct elf_rela elf_rela_at(const uint8_t *table, uint64_t i);

/* Program or section headers: the file range that they claim must exist. */
RD_CHECKED rd_status elf_check_phdr(const struct elf_phdr *ph, unsigned i, size_t size,
                                    struct co_error *err);
RD_CHECKED rd_status elf_check_shdr(const struct elf_shdr *sh, unsigned i, size_t size,
                                    struct co_error *err);

#endif
