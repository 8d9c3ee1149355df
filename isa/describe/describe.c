/* describe.c: an opcode's mnemonic, part by part, in words.
 *
 * A mnemonic is a prefix that says where (v_, ds_, ...), words that say what, and
 * types. Invariant: nothing else reads this text; what an opcode does is not decided
 * here. SPDX-License-Identifier: MIT
 */
#include "describe.h"

#include <stdio.h>
#include <string.h>

#include "facts.h"
#include "isa.h"

static const struct {
    const char *stem, *kinds, *phrase;
} words[] = {
#define W(kinds, stem, phrase) {stem, kinds, phrase},
#include "words.def"
#undef W
};

/* The longest first where one begins another. */
static const struct {
    const char *prefix, *before, *after;
    char kind;
} prefixes[] = {
    {"v_dual_", "", " (one half of a pair)", 'v'},
    {"v_pk_", "in both halves: ", "", 'v'},
    {"v_cmpx_", "EXEC, lane by lane = ", "", 'c'},
    {"v_cmp_", "D, lane by lane = ", "", 'c'},
    {"v_", "", "", 'v'},
    {"s_cmpk_", "SCC = ", ", which is the constant", 'c'},
    {"s_cmp_", "SCC = ", "", 'c'},
    {"s_buffer_", "", ", of a buffer", 's'},
    {"s_", "", "", 's'},
    {"ds_", "", "", 'd'},
    {"global_", "", ", by global addresses", 'm'},
    {"flat_", "", ", by addresses of any kind", 'm'},
    {"scratch_", "", ", in scratch", 'm'},
    {"buffer_", "", ", in a buffer", 'm'},
    {"tbuffer_", "", ", in a buffer", 'm'},
    {"image_", "", "", 'i'},
    {"", "", "", 's'}, /* exp, lds_... */
};

static const struct {
    const char *word, *text;
} types[] = {
    {"f16", "16-bit floats"},
    {"f32", "32-bit floats"},
    {"f64", "64-bit floats"},
    {"bf16", "bfloat16"},
    {"i4", "signed 4-bit integers"},
    {"u4", "unsigned 4-bit integers"},
    {"i8", "signed bytes"},
    {"u8", "unsigned bytes"},
    {"i16", "signed 16-bit integers"},
    {"u16", "unsigned 16-bit integers"},
    {"i24", "signed 24-bit integers"},
    {"u24", "unsigned 24-bit integers"},
    {"i32", "signed 32-bit integers"},
    {"u32", "unsigned 32-bit integers"},
    {"i64", "signed 64-bit integers"},
    {"u64", "unsigned 64-bit integers"},
    {"iu4", "4-bit integers"},
    {"iu8", "bytes"},
    {"b8", "8 bits"},
    {"b16", "16 bits"},
    {"b32", "32 bits"},
    {"b64", "64 bits"},
    {"b96", "96 bits"},
    {"b128", "128 bits"},
    {"b256", "256 bits"},
    {"b512", "512 bits"},
};

/* What a sample or gather can ask for, in the order of the mnemonics. */
static const struct {
    const char *word, *text;
} samples[] = {
    {"sample", "samples an image"},
    {"gather4h", "fetches four texels of a row that a sample would use"},
    {"gather4", "fetches the four texels that a sample would use"},
    {"c", "compared with a reference"},
    {"d", "derivatives given"},
    {"b", "with a bias of the level"},
    {"lz", "of level 0"},
    {"l", "of a level given"},
    {"cl", "the level clamped"},
    {"o", "with offsets"},
    {"g16", "of 16 bits"},
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

struct parts {
    size_t prefix;
    char stem[64];
    const char *type[2]; /* text; of what is written, of what is read */
    unsigned n_types;
    bool returns;
};

static const char *type_text(const char *word, size_t n)
{
    for (size_t i = 0; i < COUNT(types); i++)
        if (strlen(types[i].word) == n && memcmp(types[i].word, word, n) == 0)
            return types[i].text;
    return NULL;
}

static void take_apart(const char *name, struct parts *p)
{
    *p = (struct parts){0};
    while (strncmp(name, prefixes[p->prefix].prefix,
                   strlen(prefixes[p->prefix].prefix)) != 0)
        p->prefix++;
    name += strlen(prefixes[p->prefix].prefix);
    for (; *name; name += *name == '_') {
        size_t n = strcspn(name, "_");
        const char *type = type_text(name, n);
        bool lds_rtn =
            prefixes[p->prefix].kind == 'd' && n == 3 && memcmp(name, "rtn", 3) == 0;
        if (type && p->n_types < 2) {
            p->type[p->n_types++] = type;
        } else if (lds_rtn) {
            p->returns = true;
        } else {
            size_t at = strlen(p->stem);
            (void)snprintf(p->stem + at, sizeof p->stem - at, "%s%.*s", at ? "_" : "",
                           (int)n, name);
        }
        name += n;
    }
}

static const char *phrase_of(const char *stem, char kind)
{
    for (size_t i = 0; i < COUNT(words); i++)
        if (strcmp(words[i].stem, stem) == 0 && strchr(words[i].kinds, kind))
            return words[i].phrase;
    return NULL;
}

/* sample_c_d_cl and the like, word for word. */
static bool sample_text(const char *stem, char *text, size_t room)
{
    text[0] = '\0';
    for (const char *w = stem; *w; w += *w == '_') {
        size_t n = strcspn(w, "_"), i = 0, at = strlen(text);
        while (i < COUNT(samples) &&
               (strlen(samples[i].word) != n || memcmp(samples[i].word, w, n) != 0))
            i++;
        if (i == COUNT(samples))
            return false;
        (void)snprintf(text + at, room - at, "%s%s", at ? ", " : "", samples[i].text);
        w += n;
    }
    return true;
}

bool isa_describe(unsigned op, char text[static ISA_DESCRIBE_BYTES])
{
    struct parts p;
    char sample[ISA_DESCRIBE_BYTES / 2];
    const struct isa_facts *f = isa_facts(op);
    const char *name = isa_op_name(op);
    take_apart(name, &p);
    char kind = prefixes[p.prefix].kind;
    const char *phrase = phrase_of(name + strlen(prefixes[p.prefix].prefix), kind);
    if (!phrase)
        phrase = phrase_of(p.stem, kind);
    if (!phrase && kind == 'i' && sample_text(p.stem, sample, sizeof sample))
        phrase = sample;
    if (!phrase) {
        text[0] = '\0';
        return false;
    }
    bool returns = p.returns || (kind == 'm' && f->access == ISA_ACCESS_ATOMIC);
    (void)snprintf(text, ISA_DESCRIBE_BYTES, "%s%s%s%s%s%s%s%s",
                   prefixes[p.prefix].before, phrase, prefixes[p.prefix].after,
                   !returns      ? ""
                   : kind == 'm' ? "; with glc D = what was there"
                                 : "; D = what was there",
                   p.n_types ? "; " : "", p.n_types ? p.type[0] : "",
                   p.n_types > 1 ? " from " : "", p.n_types > 1 ? p.type[1] : "");
    return true;
}
