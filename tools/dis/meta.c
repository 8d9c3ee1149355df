/* meta.c: the metadata note as YAML.
 *
 * Must not know the schema. Invariant: the block was assembled and gave the section's
 * bytes, or is not written. SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm.h"
#include "write.h"

#define NOTE_HEAD   20u /* three numbers and "AMDGPU\0" with its padding */
#define NT_METADATA 32u

/* The contents of .note in an assembled relocatable file. */
static bool note_is(const uint8_t *elf, const struct dis_section *s)
{
    Elf64_Ehdr e;
    Elf64_Shdr h;
    memcpy(&e, elf, sizeof e);
    for (unsigned i = 1; i < e.e_shnum; i++) {
        memcpy(&h, elf + e.e_shoff + i * sizeof h, sizeof h);
        if (h.sh_type == SHT_NOTE)
            return h.sh_size == s->bytes && h.sh_flags == s->flags &&
                   h.sh_addralign == s->align &&
                   memcmp(elf + h.sh_offset, s->data, s->bytes) == 0;
    }
    return false;
}

static bool assembles(const char *text, size_t n, const struct dis_section *s)
{
    struct asm_options options = {.relocatable = true};
    struct asm_result result;
    bool same =
        asm_assemble(text, n, &options, &result) == RD_OK && note_is(result.data, s);
    free(result.data);
    return same;
}

/* The block of one kind. PAL's note is written at the end of the file: its section is
 * named here, so that it keeps its place. */
static bool put_block(const struct dis_section *s, uint32_t bytes, const char *kind)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out)
        return false;
    if (*kind)
        fputs("\t.section\t.note,\"a\",@note\n", out);
    fprintf(out, "\t.amdgpu_%smetadata\n", kind);
    bool ok = co_metadata_yaml(s->data + NOTE_HEAD, bytes, out);
    fprintf(out, "\t.end_amdgpu_%smetadata\n", kind);
    ok = fclose(out) == 0 && ok && assembles(text, n, s);
    if (ok)
        fwrite(text, 1, n, stdout);
    free(text);
    return ok;
}

bool dis_put_metadata(const struct dis_section *s)
{
    uint32_t head[3];
    if (strcmp(s->name, ".note") != 0 || !s->data || s->bytes < NOTE_HEAD)
        return false;
    memcpy(head, s->data, sizeof head);
    if (head[0] != 7 || head[2] != NT_METADATA || head[1] > s->bytes - NOTE_HEAD ||
        memcmp(s->data + 12, "AMDGPU", 7) != 0)
        return false;
    return put_block(s, head[1], "") || put_block(s, head[1], "pal_");
}
