/* as.h: the assembler's state, shared by the files of this folder.
 *
 * One struct as per source file. Source text is never copied: names, macro bodies and
 * places in messages point into it, and expansions of macros live as long as the state.
 * Indexes, not pointers, name symbols, sections and nodes, as their arrays move.
 * Index 0 means none.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_AS_H
#define RD_AS_H

#include <stdarg.h>
#include <string.h>

#include "asm.h"
#include "expr.h"

#define AS_MAX_NODES     4096u /* depth of an expression tree */
#define AS_MAX_NEST      20u   /* macros inside macros, as LLVM */
#define AS_MAX_COND      4096u
#define AS_MAX_EXPANDED  (512ull << 20) /* text made by macros */
#define AS_MAX_BYTES     (1ull << 30)   /* contents of all sections */
#define AS_MAX_NOBITS    (1ull << 40)
#define AS_CODE_RESERVED 20u

/* ---- memory ---- */

struct as_map_entry {
    const char *key;
    uint32_t len, hash, value;
};

/* String to index. value 0 marks a free slot. */
struct as_map {
    struct as_map_entry *slots;
    uint32_t cap, count;
};

/* The value slot of a key, made if create; NULL if absent or out of memory. The slot of
 * a new key holds 0 and must be set. key is not copied. */
uint32_t *as_map_at(struct as_map *map, const char *key, size_t len, bool create);
uint32_t as_map_get(const struct as_map *map, const char *key, size_t len);

/* Make room for one more element of an array; false: out of memory. */
bool as_grow(void **array, uint32_t *cap, uint32_t count, size_t size);

struct as_buf {
    uint8_t *data;
    size_t bytes, cap;
    bool failed; /* out of memory: data is incomplete */
};

/* n more bytes at the end, not initialised; NULL if out of memory. */
uint8_t *as_buf_more(struct as_buf *buf, size_t n);
void as_buf_add(struct as_buf *buf, const void *data, size_t n);
void as_buf_align(struct as_buf *buf, size_t align);

static inline void as_put16(uint8_t *p, uint64_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

static inline void as_put32(uint8_t *p, uint64_t v)
{
    as_put16(p, v);
    as_put16(p + 2, v >> 16);
}

static inline void as_put64(uint8_t *p, uint64_t v)
{
    as_put32(p, v);
    as_put32(p + 4, v >> 32);
}

/* ---- expressions ---- */

/* Operators of nodes: enum ex_op, and these. */
enum as_op {
    AS_CONST = EX_OPS,
    AS_SYM, /* a: symbol; k: added; b: 1 if k was subtracted */
};

/* What follows a symbol's @. */
enum as_variant {
    AS_VAR_NONE,
    AS_VAR_GOTPCREL,
    AS_VAR_GOTPCREL_LO,
    AS_VAR_GOTPCREL_HI,
    AS_VAR_REL_LO,
    AS_VAR_REL_HI,
    AS_VAR_REL64,
    AS_VAR_ABS_LO,
    AS_VAR_ABS_HI,
};

struct as_node {
    uint8_t op, variant; /* op: enum ex_op or as_op */
    uint16_t depth;
    uint32_t a, b;
    int64_t k;
};

/* What it evaluates to: k + a - b. */
struct as_value {
    int64_t k;
    uint32_t a, b; /* symbols */
    uint8_t variant;
};

enum as_eval {
    AS_EVAL_CONST, /* numbers and symbols set to numbers */
    AS_EVAL_NOW,   /* and differences of labels in one section */
};

/* ---- symbols and sections ---- */

#define AS_SEC_VAR 0xfffffffeu /* symbol set to an expression */
#define AS_SEC_LDS 0xfffffffdu /* .amdgpu_lds: value is its alignment */

#define AS_SYM_REDEFINABLE 0x01u /* by .set */
#define AS_SYM_TYPED       0x02u
#define AS_SYM_BOUND       0x04u /* .globl, .weak or .local said so */
#define AS_SYM_SECTION     0x08u /* stands for its section's start */
#define AS_SYM_BUSY        0x10u /* being evaluated */
#define AS_SYM_USED        0x20u /* needed in the symbol table */

struct as_symbol {
    const char *name; /* NULL: numeric label or section */
    uint32_t name_len;
    uint32_t section;      /* 0: undefined; AS_SEC_* */
    uint32_t node;         /* AS_SEC_VAR: expression; 0: the number in value */
    uint32_t source, line; /* of the definition */
    const char *at;        /* the name there; AS_SEC_VAR of the source's only */
    uint64_t value;
    struct ex_value size;
    uint32_t elf; /* number in the table being written */
    uint8_t bind, type, vis, flags;
};

struct as_section {
    const char *name;
    uint32_t name_len;
    uint32_t type; /* SHT_* */
    uint64_t flags;
    uint32_t entsize;
    uint32_t symbol; /* standing for it */
    uint32_t group;  /* symbol whose name is the comdat group's, or 0 */
    uint32_t elf;    /* number in the file */
    uint64_t align;
    uint8_t *data; /* NULL for SHT_NOBITS */
    uint64_t bytes, cap;
};

enum as_fixup_kind {
    AS_FIX_DATA,    /* size bytes */
    AS_FIX_LITERAL, /* dword in an instruction */
    AS_FIX_BRANCH,  /* simm16 */
    AS_FIX_SIMM16,
    AS_FIX_RELOC, /* .reloc: no bytes, size is the relocation's type */
    AS_FIX_FOUND, /* a relocation: see as_reloc */
};

struct as_fixup {
    uint64_t offset;
    uint32_t section, node, line;
    uint8_t kind, size;
    const char *at;
    uint32_t place; /* .reloc: the place's expression; 0: it is offset */
    int64_t k;      /* .reloc: the addend, if node is 0 */
};

/* A relocation of the ELF file, before section symbols replace local ones. */
struct as_reloc {
    uint64_t offset;
    int64_t addend;
    uint32_t section, symbol, type;
    uint32_t line;
    const char *at;
};

/* ---- sources ---- */

struct as_frame {
    const char *begin, *p, *end;
    uint32_t line;       /* of p */
    uint32_t begin_line; /* of begin */
    uint32_t from;       /* line of the call, 0 in the file itself */
    uint32_t lines;      /* after so many the lines come from begin_line again; 0 */
    uint64_t repeat;     /* further passes over the text (.rept) */
    unsigned errors;     /* found before this pass */
    uint32_t cond;       /* depth of conditionals outside */
    bool macro;          /* .exitm leaves it */
    bool file;           /* a whole one: source says which */
    uint32_t source;
};

/* A file that was read besides the first text. */
struct as_source {
    const char *name, *begin, *end;
    uint32_t parent; /* source that included it; 0: the first text */
    uint32_t line;   /* of the .include there; 0: it was not included */
};

struct as_cond {
    bool active; /* statements count */
    bool taken;  /* a branch was or may not be taken any more */
    bool seen_else;
    uint32_t line;
};

struct as_param {
    const char *name, *value; /* value: default */
    uint32_t name_len, value_len;
    bool required, vararg;
};

struct as_macro {
    const char *name, *body;
    uint32_t name_len, line;
    size_t body_len;
    struct as_param *params;
    uint32_t n_params;
    bool purged;
};

struct as_local {
    uint32_t last, next; /* symbols of 1b and 1f */
};

struct as_cfi; /* cfi.c: frames */
struct as_kd;  /* kd.c: kernels whose descriptor waits for a symbol */

struct as_error {
    const char *at;
    char text[160];
};

struct as {
    /* the cursor: a place in the top frame */
    const char *p, *end;
    uint32_t line;
    bool failed_statement; /* an error was reported: skip the rest */
    bool line_done;        /* the cursor stands at the next line already */
    bool stop;             /* give up */
    bool has_ident;
    rd_status status;

    const struct asm_options *options;
    const char *text, *text_end;
    struct isa_asm_options isa;
    struct asm_result result;
    unsigned wave;

    struct as_map symbol_map, section_map, macro_map, directive_map, local_map;
    struct as_symbol *symbols;
    struct as_section *sections;
    struct as_node *nodes;
    struct as_fixup *fixups;
    struct as_reloc *relocs;
    struct as_macro *macros;
    struct as_local *locals;
    struct as_cond *conds;
    struct as_kd *kds;
    struct as_source *sources; /* number 0 is the first text */
    uint32_t n_sources, cap_sources;
    uint32_t n_symbols, cap_symbols, n_sections, cap_sections, n_nodes, cap_nodes;
    uint32_t n_fixups, cap_fixups, n_relocs, cap_relocs, n_macros, cap_macros;
    uint32_t n_locals, cap_locals, n_conds, cap_conds, n_kds, cap_kds;

    uint32_t section, previous; /* current section, and the one before */
    uint32_t stack[32][2];      /* .pushsection */
    uint32_t n_stack;
    uint64_t bytes; /* contents of all sections */

    struct as_frame frames[AS_MAX_NEST + 1];
    uint32_t n_frames;
    uint64_t expanded;
    char **texts; /* of expansions, to be freed */
    uint32_t n_texts, cap_texts;
    uint32_t n_expansions; /* \@ */

    struct as_error error; /* of the expression that failed */
    unsigned steps;        /* of the expression being evaluated */

    unsigned object_version;           /* 4, 5, 6 */
    unsigned mach;                     /* processor, as e_flags have it */
    bool emitted;                      /* something that fixes the version */
    bool count_registers;              /* .amdgcn.next_free_* are used */
    bool cfi_eh, cfi_debug;            /* the tables that .cfi_* write */
    uint32_t vgpr_symbol, sgpr_symbol; /* their symbols */
    uint32_t wave_symbol;              /* .Lamdgcn.wavefront_size */
    const char *expr_at;               /* the last expression of an instruction */
    struct as_buf pal;                 /* of .amdgpu_pal_metadata */
    const char *pal_at;                /* the directive's place, and line */
    uint32_t pal_line;
    struct as_cfi *cfis;
    uint32_t n_cfis, cap_cfis;
};

/* ---- diag.c ---- */

/* Report an error at a place of the statement being read; the rest of the statement is
 * skipped. */
void as_error(struct as *as, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void as_warning(struct as *as, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The same about an earlier statement. */
void as_error_at(struct as *as, const char *at, uint32_t line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The line of the source that a line of the top frame comes from. */
uint32_t as_source_line(const struct as *as, uint32_t line);
/* An error that ends the assembly. */
void as_fatal(struct as *as, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void as_out_of_memory(struct as *as);

/* ---- lex.c ---- */

#define AS_C_START 0x01u /* of an identifier */
#define AS_C_IDENT 0x02u
#define AS_C_DIGIT 0x04u
#define AS_C_HEX   0x08u
#define AS_C_BLANK 0x10u /* not the newline */
extern const uint8_t as_class[256];

static inline bool as_is(char c, unsigned bits)
{
    return (as_class[(uint8_t)c] & bits) != 0;
}

/* Skip blanks and block comments. */
void as_blanks(struct as *as);
/* Skip blanks; is the statement over? */
bool as_at_end(struct as *as);
/* Go behind the end of the line. */
void as_next_line(struct as *as);
/* Skip blanks; if c comes next, take it. */
bool as_take(struct as *as, char c);
/* The same, an error if not. */
bool as_expect(struct as *as, char c);
/* An identifier or a quoted string without escapes. false: none, nothing reported. */
bool as_name(struct as *as, const char **name, size_t *len);
/* The same, an error if there is none. */
bool as_need_name(struct as *as, const char *what, const char **name, size_t *len);
/* A string in quotes, escapes replaced, to the end of buf. */
bool as_string(struct as *as, struct as_buf *buf);
static inline bool as_same(const char *a, size_t len, const char *b)
{
    return strlen(b) == len && memcmp(a, b, len) == 0;
}
bool as_same_nocase(const char *a, size_t len, const char *b);

/* ---- expr.c ---- */

/* A number at the cursor, a digit stands there. false: as->error is set. */
bool as_number(struct as *as, uint64_t *value, uint64_t *high);
/* Parse an expression at the cursor. false: as->error is set. */
bool as_parse(struct as *as, struct ex_value *out);
/* The same, the error is reported. */
bool as_expr(struct as *as, struct ex_value *out);
/* A number that must be known now. */
bool as_absolute(struct as *as, int64_t *out);
/* Evaluate. false: not of the form k + a - b, or a cycle. */
bool as_eval(struct as *as, struct ex_value ref, enum as_eval how,
             struct as_value *out);
/* Evaluate to a number. */
bool as_eval_number(struct as *as, struct ex_value ref, enum as_eval how, int64_t *out);
/* Does a literal of this expression count from the instruction (LLVM's rule)? */
bool as_is_pc_relative(const struct as *as, uint32_t node);
/* The current place. */
bool as_here(struct as *as, struct ex_value *out);
/* A place in a section, that of a symbol, and one relative to a place in the current
 * section. */
bool as_place(struct as *as, uint32_t section, uint64_t offset, struct ex_value *out);
bool as_symbol_place(struct as *as, uint32_t symbol, struct ex_value *out);
bool as_minus_place(struct as *as, struct ex_value what, uint64_t offset,
                    struct ex_value *out);
isa_expr_fn as_isa_expr;

/* ---- symbol.c ---- */

/* The symbol of that name, made if new; 0 if out of memory. */
uint32_t as_symbol(struct as *as, const char *name, size_t len);
uint32_t as_symbol_anonymous(struct as *as);
void as_label(struct as *as, const char *name, size_t len);
/* Remember that the statement being read defines the symbol. */
void as_defined_here(const struct as *as, struct as_symbol *s);
/* Where it was: "line 3", and of which file if that is another one. Returns text. */
#define AS_PLACE_BYTES 240
const char *as_definition(const struct as *as, const struct as_symbol *s,
                          char text[AS_PLACE_BYTES]);
void as_local_label(struct as *as, uint64_t number, const char *at);
/* The symbol of 1b or 1f; 0 with as->error set. */
uint32_t as_local_ref(struct as *as, uint64_t number, bool forward);
/* name = expression */
void as_assign(struct as *as, const char *name, size_t len, bool redefinable);
/* Copy a name into memory of the state. */
const char *as_keep(struct as *as, const char *text, size_t len);

/* ---- section.c ---- */

struct as_section_spec {
    const char *name;
    size_t name_len;
    uint32_t type;
    uint64_t flags;
    uint32_t entsize;
    const char *group;
    size_t group_len;
    const char *at; /* what asks for it, in the source */
    uint32_t line;  /* its line; 0: that of the statement being read */
};

/* The section of that name and group, made if new; 0 with an error. */
uint32_t as_section_get(struct as *as, const struct as_section_spec *spec);
void as_section_enter(struct as *as, uint32_t section);
/* n more bytes in the current section; NULL with an error. In a section without
 * contents only the size grows and a scratch place is returned for n <= 64. */
uint8_t *as_emit(struct as *as, uint64_t n);
/* Append n bytes of one value. */
void as_emit_fill(struct as *as, uint64_t n, uint8_t value);
void as_align(struct as *as, uint64_t align, const struct ex_value *fill, unsigned size,
              uint64_t max);
void as_fixup(struct as *as, enum as_fixup_kind kind, unsigned size, uint64_t offset,
              uint32_t node, const char *at);

/* ---- the rest ---- */

struct as_directive {
    const char *name;
    void (*run)(struct as *as, int arg);
    int arg;
};
extern const struct as_directive as_directives_section[];
extern const struct as_directive as_directives_data[];
extern const struct as_directive as_directives_symbol[];
extern const struct as_directive as_directives_target[];
extern const struct as_directive as_directives_macro[];
extern const struct as_directive as_directives_cond[];
extern const struct as_directive as_directives_ignored[];
extern const struct as_directive as_directives_cfi[];
bool as_directives_init(struct as *as);
/* The directive of that name, or NULL. */
const struct as_directive *as_directive_find(struct as *as, const char *name,
                                             size_t len);
/* The one that may have been meant, or NULL. */
const char *as_directive_near(const char *name, size_t len);

/* stmt.c */

/* Clear the bytes that a fixup sets later. Returns their number. */
unsigned as_clear_fixup(const struct isa_fixup *fixup, uint8_t *code);
/* Read everything in the frames. */
void as_run(struct as *as);

/* macro.c */
bool as_macro_call(struct as *as, const char *name, size_t len);
bool as_frame_push(struct as *as, const struct as_frame *frame);
/* include.c */
extern const struct as_directive as_directives_include[];
/* Number of the source that a place lies in; the one being read if in none. */
uint32_t as_source_of(const struct as *as, const char *at);
const char *as_source_name(const struct as *as, uint32_t source);
/* Read a file as if it stood here; at: what asks for it. false with an error. */
bool as_source_push(struct as *as, const char *name, const char *at);
/* Ends the top frame; false if it was the file. */
bool as_frame_pop(struct as *as);

/* cond.c: skip to the statement that may end an inactive region. */
void as_cond_skip(struct as *as);
void as_cond_finish(struct as *as);

/* kd.c */
void as_amdhsa_kernel(struct as *as, int arg);
void as_kd_finish(struct as *as);

/* meta.c: blocks of YAML become notes. */
void as_amdgpu_metadata(struct as *as, int pal);
/* Write the note of .amdgpu_pal_metadata, at the end of the file. */
void as_pal_finish(struct as *as);

/* cfi.c: the tables of frames, at the end of the file. */
void as_cfi_finish(struct as *as);
void as_cfi_free(struct as *as);

/* fixup.c: patch contents, make relocations. */
/* Store simm16 for a branch whose target lies so many bytes behind it. */
void as_branch_value(struct as *as, const char *at, uint32_t line, int64_t distance,
                     uint8_t *out);
void as_fixups_finish(struct as *as);

/* elf_rel.c, elf_dyn.c */
bool as_write_rel(struct as *as, struct as_buf *out);
bool as_write_dyn(struct as *as, struct as_buf *out);

#endif
