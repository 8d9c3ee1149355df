/* head.c: the head of a source file: target, symbols and what they are, sections.
 *
 * Symbols are named once, in the order of the file's table, before anything defines
 * them, as assemblers number symbols in the order in which they first hear of them.
 * Must not know contents. SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>

#include "amdgpu_reloc.h"
#include "demangle.h"
#include "kernel_block.h"
#include "write.h"

#ifndef SHF_GNU_RETAIN
#define SHF_GNU_RETAIN (1u << 21)
#endif

/* ---- sections ---- */

static const char *type_text(const struct dis_section *s, char text[16])
{
    static const struct {
        uint32_t type;
        const char *name;
    } names[] = {
        {SHT_PROGBITS, "@progbits"},
        {SHT_NOBITS, "@nobits"},
        {SHT_NOTE, "@note"},
        {SHT_INIT_ARRAY, "@init_array"},
        {SHT_FINI_ARRAY, "@fini_array"},
        {SHT_PREINIT_ARRAY, "@preinit_array"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].type == s->type)
            return names[i].name;
    snprintf(text, 16, "@0x%" PRIx32, s->type);
    return text;
}

static void flag_letters(uint64_t flags, bool group, char *text)
{
    static const struct {
        uint64_t flag;
        char letter;
    } letters[] = {
        {SHF_ALLOC, 'a'},   {SHF_WRITE, 'w'},      {SHF_EXECINSTR, 'x'},
        {SHF_MERGE, 'M'},   {SHF_STRINGS, 'S'},    {SHF_TLS, 'T'},
        {SHF_EXCLUDE, 'e'}, {SHF_GNU_RETAIN, 'R'},
    };
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (flags & letters[i].flag)
            *text++ = letters[i].letter;
    if (group)
        *text++ = 'G';
    *text = '\0';
}

/* One .section line. */
static void directive(const struct dis_writer *w, const struct dis_section *s,
                      const char *suffix, uint64_t flags, uint64_t entsize)
{
    char letters[16], type[16];
    const char *group = s->group ? w->o->symbols[s->group].name : NULL;
    flag_letters(flags, group != NULL, letters);
    printf("\t.section\t");
    if (*suffix)
        printf("%s%s", s->name, suffix);
    else
        dis_put_name(stdout, s->name);
    printf(",\"%s\",%s", letters, type_text(s, type));
    if (flags & SHF_MERGE)
        printf(",%" PRIu64, entsize);
    if (group) {
        putchar(',');
        dis_put_name(stdout, group);
        printf(",comdat");
    }
    putchar('\n');
}

static void enter(const struct dis_writer *w, const struct dis_section *s)
{
    if (!(s->flags & SHF_MERGE) || s->entsize) {
        directive(w, s, "", s->flags, s->entsize);
        return;
    }
    /* A linker has joined sections with and without entries of one size; the flags come
     * back from an empty one. */
    directive(w, s, "", s->flags & ~(uint64_t)(SHF_MERGE | SHF_STRINGS), 0);
    if (!s->entered) {
        directive(w, s, ".merged", s->flags, 1);
        printf("\t.previous\n");
    }
}

/* ---- symbols ---- */

static void line(const char *directive, const char *name)
{
    printf("\t%s\t", directive);
    dis_put_name(stdout, name);
    putchar('\n');
}

static void put_visibility(const struct dis_writer *w, const struct dis_symbol *s)
{
    static const char *const words[] = {NULL, ".internal", ".hidden", ".protected"};
    if (words[s->vis & 3] == NULL || dis_block_protects(w->o, s))
        return;
    line(words[s->vis & 3], s->name);
}

static void put_type(const struct dis_symbol *s)
{
    const char *type = s->type == STT_FUNC     ? "@function"
                       : s->type == STT_OBJECT ? "@object"
                       : s->type == STT_TLS    ? "@tls_object"
                       : s->type == STT_COMMON ? "@common"
                                               : NULL;
    if (type) {
        printf("\t.type\t");
        dis_put_name(stdout, s->name);
        printf(",%s\n", type);
    }
}

static void put_lds(const struct dis_symbol *s)
{
    printf("\t.amdgpu_lds ");
    dis_put_name(stdout, s->name);
    printf(", %" PRIu64 ", %" PRIu64 "\n", s->bytes, s->value);
}

static bool defined_by_tools(const struct dis_writer *w, const struct dis_symbol *s)
{
    return s->section && s->section < w->o->n_sections &&
           !w->o->sections[s->section].written;
}

static void put_symbol(struct dis_writer *w, const struct dis_symbol *s)
{
    bool absolute = s->section == SHN_ABS;
    if (s->name[0] == '\0' || defined_by_tools(w, s))
        return;
    line(s->bind == STB_GLOBAL ? ".globl"
         : s->bind == STB_WEAK ? ".weak"
                               : ".local",
         s->name);
    put_visibility(w, s);
    put_type(s);
    if (s->section == SHN_AMDGPU_LDS) {
        put_lds(s);
        return;
    }
    if (s->bytes) {
        printf("\t.size\t");
        dis_put_name(stdout, s->name);
        printf(", %" PRIu64 "\n", s->bytes);
    }
    if (absolute) {
        printf("\t.set\t");
        dis_put_name(stdout, s->name);
        printf(", 0x%" PRIx64 "\n", s->value);
    }
}

/* Symbols up to one, of its kind: local or not. */
static void put_symbols_to(struct dis_writer *w, uint32_t last)
{
    const struct dis_object *o = w->o;
    bool local = o->symbols[last].bind == STB_LOCAL;
    uint32_t *next = &w->next_symbol[local];
    for (; *next <= last && *next < o->n_symbols; ++*next) {
        const struct dis_symbol *s = &o->symbols[*next];
        if ((s->bind == STB_LOCAL) == local && s->type != STT_SECTION &&
            s->type != STT_FILE)
            put_symbol(w, s);
    }
}

/* A group's name is a symbol that the assembler hears of here. */
static void first_enter(struct dis_writer *w, struct dis_section *s)
{
    if (s->group && !s->entered)
        put_symbols_to(w, s->group);
    enter(w, s);
    s->entered = true;
}

void dis_put_section(struct dis_writer *w, uint32_t section)
{
    struct dis_object *o = w->o;
    for (uint32_t i = 1; i < section; i++)
        if (o->sections[i].written && !o->sections[i].entered)
            first_enter(w, &o->sections[i]);
    first_enter(w, &o->sections[section]);
}

static void put_target(const struct dis_writer *w)
{
    const struct co_info *info = w->o->info;
    printf("// %s: %s, code object version %u, %s\n", w->o->path, info->target,
           info->version, info->relocatable ? "relocatable" : "loadable");
    printf("\t.amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n", info->target);
    printf("\t.amdhsa_code_object_version %u\n", info->version);
}

void dis_put_head(struct dis_writer *w)
{
    struct dis_object *o = w->o;
    put_target(w);
    for (uint32_t i = 1; i < o->n_symbols; i++) {
        const struct dis_symbol *s = &o->symbols[i];
        if (s->type == STT_FILE)
            printf("\t.file\t\"%s\"\n", s->name);
        else if (s->type != STT_SECTION)
            put_symbols_to(w, i);
        else if (s->section < o->n_sections && o->sections[s->section].written &&
                 !o->sections[s->section].entered)
            dis_put_section(w, s->section);
    }
}
