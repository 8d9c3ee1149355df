/* fuzz_commands.c: commands and expressions that are anything, on a core file of one
 * wave. SPDX-License-Identifier: MIT
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "corefile.h"
#include "fuzz.h"
#include "ui.h"

static uint8_t *note(uint8_t *at, uint32_t type, const void *head, size_t n,
                     size_t more)
{
    Elf64_Nhdr h = {sizeof CORE_NOTE_NAME, (Elf64_Word)(n + more), type};
    memcpy(at, &h, sizeof h);
    memcpy(at + sizeof h, CORE_NOTE_NAME, sizeof CORE_NOTE_NAME);
    at += sizeof h + 8;
    memcpy(at, head, n);
    for (size_t i = 0; i < more; i++)
        at[n + i] = (uint8_t)(type == CORE_DISPATCH ? 0 : i * 37);
    return at + ((n + more + 3) & ~(size_t)3);
}

/* A core file with a wave of 8 VGPRs, LDS and a page of memory. */
static struct core *make(void)
{
    static uint8_t file[32768];
    struct core_dispatch d = {.version = CORE_VERSION,
                              .lanes = 32,
                              .entry = 0x1000,
                              .vgprs = 8,
                              .lds_bytes = 64,
                              .scratch_bytes = 16};
    struct core_wave w = {.pc = 0x1004, .exec = 0xff00ff, .fault_lane = 3};
    uint64_t group = 0;
    char text[256];
    Elf64_Ehdr e = {.e_type = ET_CORE,
                    .e_machine = 224,
                    .e_phoff = sizeof e,
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_phnum = 2};
    memcpy(e.e_ident, ELFMAG, SELFMAG);
    e.e_ident[EI_CLASS] = ELFCLASS64;
    e.e_ident[EI_DATA] = ELFDATA2LSB;
    uint8_t *start = file + sizeof e + 2 * sizeof(Elf64_Phdr), *at = start;
    at = note(at, CORE_DISPATCH, &d, sizeof d, 4);
    at = note(at, CORE_WAVE, &w, sizeof w, 4 * (CORE_SCALARS + 8 * 32) + 16 * 32);
    at = note(at, CORE_LDS, &group, 8, 64);
    Elf64_Phdr p[2] = {{.p_type = PT_NOTE,
                        .p_offset = (Elf64_Off)(start - file),
                        .p_filesz = (Elf64_Xword)(at - start)},
                       {.p_type = PT_LOAD,
                        .p_flags = PF_R | PF_X,
                        .p_offset = (Elf64_Off)(at - file),
                        .p_vaddr = 0x1000,
                        .p_filesz = 4096,
                        .p_memsz = 4096}};
    memcpy(file, &e, sizeof e);
    memcpy(file + sizeof e, p, sizeof p);
    struct core *core = core_read(file, (size_t)(at - file) + 4096, text, sizeof text);
    if (!core)
        abort();
    return core;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *out;
    struct core *core = make();
    if (!out)
        out = fopen("/dev/null", "w");
    struct ui u = {.core = core,
                   .out = out,
                   .err = out,
                   .target = core_target(core),
                   .program = core_program(core)};
    char line[600];
    for (size_t at = 0; at < size;) {
        size_t n = 0;
        while (at + n < size && data[at + n] != '\n')
            n++;
        (void)snprintf(line, sizeof line, "%.*s", n < 599 ? (int)n : 599,
                       (const char *)data + at);
        if (strncmp(line, "so", 2) != 0) /* not other files */
            (void)ui_command(&u, line);
        at += n + 1;
    }
    core_close(core);
    return 0;
}
