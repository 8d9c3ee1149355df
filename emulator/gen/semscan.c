/* semscan.c: finds the semantics functions of emulator/sem and writes their wrappers.
 *
 *   semscan FILE.c OUT.inc            wrappers and entries of one source file
 *   semscan --join OUT.inc FILE.c...  which entry belongs to which opcode
 *
 * It reads the LANE_OP / SCALAR_OP / WAVE_OP / MATRIX_OP / MEM_* headings as text and
 * knows nothing of instruction encodings. Every heading must start in column 1. The
 * fact sheet names the function of each opcode; a function that no opcode names, and a
 * name without a function, are errors. SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts.h"

#define MAX_ARGS 6

struct arg {
    char type[64];
    char name[64];
};

struct op {
    char macro[16], name[64], ret[64];
    unsigned bytes; /* memory operations */
    struct arg args[MAX_ARGS];
    unsigned n_args;
    bool takes_mode, takes_scc;
    bool has_form; /* a LANE_OP with a ROW_FORM */
    unsigned line;
};

static const char *path;

static void die(unsigned line, const char *what, const char *detail)
{
    fprintf(stderr, "error: %s:%u: %s%s%s\n", path, line, what, *detail ? ": " : "",
            detail);
    exit(1);
}

static char *read_file(const char *name)
{
    FILE *f = fopen(name, "rb");
    if (!f || fseek(f, 0, SEEK_END))
        die(0, "cannot read", name);
    long size = ftell(f);
    rewind(f);
    char *text = malloc((size_t)size + 1);
    if (!text || fread(text, 1, (size_t)size, f) != (size_t)size)
        die(0, "cannot read", name);
    text[size] = 0;
    fclose(f);
    return text;
}

static void trim(char *s)
{
    size_t n = strlen(s), lead = strspn(s, " \t\n");
    while (n > lead && isspace((unsigned char)s[n - 1]))
        n--;
    memmove(s, s + lead, n - lead);
    s[n - lead] = 0;
}

/* "const struct lane_mode *m" -> type and name; pointers stay with the type. */
static void split_arg(const char *text, struct arg *a, unsigned line)
{
    size_t n = strlen(text), start = n;
    while (start > 0 &&
           (isalnum((unsigned char)text[start - 1]) || text[start - 1] == '_'))
        start--;
    if (start == 0 || start == n || start >= sizeof a->type)
        die(line, "cannot read argument", text);
    snprintf(a->type, sizeof a->type, "%.*s", (int)start, text);
    snprintf(a->name, sizeof a->name, "%s", text + start);
    trim(a->type);
}

static void add_arg(struct op *op, const char *text)
{
    struct arg a;
    split_arg(text, &a, op->line);
    if (strstr(a.type, "lane_mode")) {
        op->takes_mode = true;
    } else if (!strncmp(op->macro, "SCALAR", 6) && !strcmp(a.type, "bool") &&
               !strcmp(a.name, "scc")) {
        op->takes_scc = true;
    } else {
        if (op->n_args == MAX_ARGS)
            die(op->line, "too many arguments", op->name);
        op->args[op->n_args++] = a;
    }
}

static void add_field(struct op *op, unsigned index, char *text)
{
    bool mem = !strncmp(op->macro, "MEM_", 4);
    bool sized = mem && strcmp(op->macro, "MEM_ATOMIC") != 0;
    trim(text);
    if (index < 2 && strlen(text) >= sizeof op->ret)
        die(op->line, "name too long", text);
    if (index == 0)
        memcpy(op->name, text, strlen(text) + 1);
    else if (index == 1 && sized)
        op->bytes = (unsigned)atoi(text);
    else if (index == 1)
        memcpy(op->ret, text, strlen(text) + 1);
    else
        add_arg(op, text);
}

/* Parse "MACRO(name, ...)" at p; returns the position behind the ')'. */
static const char *parse_op(const char *p, struct op *op)
{
    size_t n = strcspn(p, "(");
    snprintf(op->macro, sizeof op->macro, "%.*s", (int)n, p);
    p += n + 1;
    char field[128];
    for (unsigned index = 0;; index++) {
        n = strcspn(p, ",)");
        if (!p[n] || n >= sizeof field)
            die(op->line, "heading does not end", op->name);
        snprintf(field, sizeof field, "%.*s", (int)n, p);
        add_field(op, index, field);
        p += n + 1;
        if (p[-1] == ')')
            return p;
    }
}

struct type {
    const char *name, *id, *load; /* load: %s row */
};
/* clang-format off */
static const struct type types[] = {
    {"U16", "SEM_T_U16", "(U16)%s[l]"},
    {"I16", "SEM_T_I16", "(I16)%s[l]"},
    {"F16", "SEM_T_F16", "(F16)%s[l]"},
    {"U32", "SEM_T_U32", "%s[l]"},
    {"I32", "SEM_T_I32", "(I32)%s[l]"},
    {"F32", "SEM_T_F32", "f32_of_bits(%s[l])"},
    {"PK16", "SEM_T_PK16", "%s[l]"},
    {"U64", "SEM_T_U64", "row64(%s, l)"},
    {"I64", "SEM_T_I64", "(I64)row64(%s, l)"},
    {"F64", "SEM_T_F64", "f64_of_bits(row64(%s, l))"},
    {"bool", "SEM_T_BOOL", "(bool)%s[l]"},
    {"struct carry32", "SEM_T_CARRY32", ""},
    {"struct carry64", "SEM_T_CARRY64", ""},
    {"struct carry_f32", "SEM_T_CARRY_F32", ""},
    {"struct carry_f64", "SEM_T_CARRY_F64", ""},
    {"struct scc32", "SEM_T_SCC32", ""},
    {"struct scc64", "SEM_T_SCC64", ""},
};
/* clang-format on */

static bool is(const char *a, const char *b)
{
    return !strcmp(a, b);
}

static const struct type *find_type(const struct op *op, const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].name, name))
            return &types[i];
    die(op->line, "unknown type", name);
    return NULL;
}

static void write_result(FILE *out, const struct op *op)
{
    const char *r = op->ret;
    if (is(r, "F32"))
        fputs("        d[l] = bits_of_f32(r);\n", out);
    else if (is(r, "F64"))
        fputs("        put64(d, l, bits_of_f64(r));\n", out);
    else if (is(r, "U64") || is(r, "I64"))
        fputs("        put64(d, l, (U64)r);\n", out);
    else if (is(r, "bool"))
        fputs("        dm[l] = r;\n", out);
    else if (is(r, "I16"))
        fputs("        d[l] = (U16)r;\n", out);
    else if (is(r, "struct carry32"))
        fputs("        d[l] = r.value;\n        dm[l] = r.carry;\n", out);
    else if (is(r, "struct carry64"))
        fputs("        put64(d, l, r.value);\n        dm[l] = r.carry;\n", out);
    else if (is(r, "struct carry_f32"))
        fputs("        d[l] = bits_of_f32(r.value);\n        dm[l] = r.carry;\n", out);
    else if (is(r, "struct carry_f64"))
        fputs("        put64(d, l, bits_of_f64(r.value));\n        dm[l] = r.carry;\n",
              out);
    else
        fputs("        d[l] = (U32)r;\n", out);
}

/* The loop over 32 lanes that both wrappers of a LANE_OP contain. */
static void write_loop(FILE *out, const struct op *op)
{
    fprintf(out, "    ROW_LOOP for (unsigned l = 0; l < 32; l++) {\n        %s r = %s(",
            op->ret, op->name);
    for (unsigned i = 0; i < op->n_args; i++) {
        char row[] = {'s', (char)('0' + i), 0};
        fputs(i ? ", " : "", out);
        fprintf(out, find_type(op, op->args[i].type)->load, i < 3 ? row : "dm");
    }
    if (op->takes_mode)
        fprintf(out, "%sm", op->n_args ? ", " : "");
    fputs(");\n", out);
    write_result(out, op);
    fputs("    }\n", out);
}

static bool is_carry(const struct op *op)
{
    return !strncmp(op->ret, "struct carry", 12);
}

/* Instructions with up to three sources get a handler of their own for the usual case:
 * a wave32, no modifiers, all lanes (HANDLER_OPERANDS in sem_wrap.h). */
static bool has_handler(const struct op *op)
{
    return is(op->macro, "LANE_OP") && op->n_args <= 3;
}

static void write_row(FILE *out, const struct op *op, const char *mode)
{
    fprintf(out,
            "static void row_%s(uint32_t *d, uint32_t *dm, const uint32_t *s0,\n"
            "    const uint32_t *s1, const uint32_t *s2, const struct lane_mode *m)\n"
            "{\n    (void)d, (void)dm, (void)s0, (void)s1, (void)s2, (void)m;\n",
            op->name);
    if (op->has_form)
        fprintf(out,
                "#ifdef HOST_VECTORS\n    if (form_%s(d, s0, s1, s2, m))\n"
                "        return;\n#endif\n",
                op->name);
    fputs(mode, out);
    write_loop(out, op);
    fputs("}\n", out);
}

/* Rows that a ROW_FORM cannot do go on to the general handler. */
static void write_handler(FILE *out, const struct op *op, const char *mode)
{
    bool mask = is(op->ret, "bool") || is_carry(op);
    fprintf(out,
            "static const struct uop *op_%s(struct wave *w, const struct uop *u)\n"
            "{\n    HANDLER_OPERANDS(w, u, %d, %s)\n",
            op->name, !is(op->ret, "bool"), mask ? "valu_any" : "valu_plain");
    if (op->has_form)
        fprintf(out,
                "#ifdef HOST_VECTORS\n"
                "    return form_%s(d, s0, s1, s2, m) ? uop_next(u)\n"
                "               : w->emu->level->valu_plain(w, u);\n#endif\n",
                op->name);
    fputs(mode, out);
    if (*mode) /* modifiers are left to the general handler */
        fputs(
            "    mode.clamp = false;\n    mode.neg = mode.neg_hi = mode.op_sel = 0;\n",
            out);
    if (mask)
        fputs("    _Alignas(64) uint32_t dm[32];\n", out);
    write_loop(out, op);
    if (mask)
        fputs("    w->sgpr[u->d2] = row_to_mask(dm) & w->sgpr[ISA_SEL_EXEC_LO];\n",
              out);
    fputs("    return uop_next(u);\n}\n", out);
}

static void write_lane(FILE *out, const struct op *op)
{
    const char *mode =
        op->takes_mode ? "    struct lane_mode mode = *m;\n    m = &mode;\n" : "";
    if (op->n_args > 4 || (op->n_args == 4 && strcmp(op->args[3].type, "bool")))
        die(op->line, "a LANE_OP has three sources and a mask at most", op->name);
    write_row(out, op, mode);
    if (has_handler(op))
        write_handler(out, op, mode);
}

/* The whole instruction: sources, function, SCC, destination. */
static void write_scalar_handler(FILE *out, const struct op *op)
{
    fprintf(out,
            "static const struct uop *op_%s(struct wave *w, const struct uop *u)\n"
            "{\n    U64 r = sc_%s(",
            op->name, op->name);
    for (unsigned i = 0; i < 3; i++)
        fprintf(out, i < op->n_args ? "scalar_source(w, &u->s[%u]), " : "0, ", i);
    fputs("&w->scc);\n", out);
    bool wide = is(op->ret, "U64") || is(op->ret, "I64") || is(op->ret, "struct scc64");
    if (is(op->ret, "bool"))
        fputs("    (void)r;\n", out);
    else
        fputs("    w->sgpr[u->d] = (U32)r;\n", out);
    if (wide)
        fputs("    w->sgpr[u->d + 1] = (U32)(r >> 32);\n", out);
    fputs("    return uop_next(u);\n}\n", out);
}

static void write_scalar(FILE *out, const struct op *op)
{
    fprintf(out,
            "static uint64_t sc_%s(uint64_t s0, uint64_t s1, uint64_t s2, bool *scc)\n"
            "{\n    (void)s0, (void)s1, (void)s2, (void)scc;\n    %s r = %s(",
            op->name, op->ret, op->name);
    for (unsigned i = 0; i < op->n_args; i++)
        fprintf(out, "%s(%s)s%u", i ? ", " : "", op->args[i].type, i);
    if (op->takes_scc)
        fprintf(out, "%s*scc", op->n_args ? ", " : "");
    fputs(");\n", out);
    if (is(op->ret, "bool"))
        fputs("    *scc = r;\n    return 0;\n}\n", out);
    else if (!strncmp(op->ret, "struct scc", 10))
        fputs("    *scc = r.scc;\n    return r.value;\n}\n", out);
    else if (is(op->ret, "I32"))
        fputs("    return (U32)r;\n}\n", out);
    else
        fputs("    return (U64)r;\n}\n", out);
    write_scalar_handler(out, op);
}

static void write_mem(FILE *out, const struct op *op)
{
    fprintf(out, "static uint32_t mem_%s(uint32_t s0, uint32_t s1)\n{\n    (void)s1;\n",
            op->name);
    fprintf(out, "    return %s(s0%s);\n}\n", op->name, op->n_args > 1 ? ", s1" : "");
    fprintf(out,
            "static void rows_%s(uint32_t *value, const uint32_t *old)\n{\n"
            "    (void)old;\n    ROW_LOOP for (unsigned l = 0; l < 32; l++)\n"
            "        value[l] = %s(value[l]%s);\n}\n",
            op->name, op->name, op->n_args > 1 ? ", old[l]" : "");
}

static unsigned bytes_of(const struct op *op)
{
    if (is(op->macro, "MEM_ATOMIC"))
        return strstr(op->ret, "64") ? 8 : 4;
    return op->bytes;
}

/* Bit patterns travel as integers; floats are reinterpreted here. */
static void write_atomic(FILE *out, const struct op *op)
{
    static const char *const value[] = {"mem", "data", "cmp"};
    fprintf(out,
            "static uint64_t at_%s(uint64_t mem, uint64_t data, uint64_t cmp,\n"
            "    const struct lane_mode *m)\n{\n    (void)data, (void)cmp, (void)m;\n"
            "    %s r = %s(",
            op->name, op->ret, op->name);
    for (unsigned i = 0; i < op->n_args && i < 3; i++) {
        const char *t = op->args[i].type;
        const char *pre = is(t, "F32")   ? "f32_of_bits((U32)"
                          : is(t, "F64") ? "f64_of_bits("
                                         : "";
        fprintf(out, "%s", i ? ", " : "");
        if (*pre)
            fprintf(out, "%s%s)", pre, value[i]);
        else
            fprintf(out, "(%s)%s", t, value[i]);
    }
    fprintf(out, "%s);\n", op->takes_mode ? ", m" : "");
    const char *r = op->ret;
    fprintf(out, "    return %s;\n}\n",
            is(r, "F32")   ? "bits_of_f32(r)"
            : is(r, "F64") ? "bits_of_f64(r)"
            : is(r, "I32") ? "(U32)r"
                           : "(U64)r");
    if (bytes_of(op) == 4)
        fprintf(
            out,
            "static void rows_%s(uint32_t *mem, const uint32_t *data,\n"
            "    const uint32_t *cmp, const struct lane_mode *m)\n{\n"
            "    struct lane_mode mode = *m;\n"
            "    ROW_LOOP for (unsigned l = 0; l < 16; l++)\n"
            "        mem[l] = (uint32_t)at_%s(mem[l], data[l], cmp[l], &mode);\n}\n",
            op->name, op->name);
}

static const char *kind_of(const struct op *op)
{
    static const char *const kinds[][2] = {
        {"LANE_OP", "SEM_LANE"},      {"SCALAR_OP", "SEM_SCALAR"},
        {"WAVE_OP", "SEM_WAVE"},      {"MATRIX_OP", "SEM_MATRIX"},
        {"MEM_LOAD", "SEM_LOAD"},     {"MEM_STORE", "SEM_STORE"},
        {"MEM_WIDE", "SEM_WIDE"},     {"MEM_FORMAT", "SEM_FORMAT"},
        {"MEM_ATOMIC", "SEM_ATOMIC"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (is(op->macro, kinds[i][0]))
            return kinds[i][1];
    return NULL;
}

static void write_wrapper(FILE *out, const struct op *op)
{
    if (is(op->macro, "LANE_OP"))
        write_lane(out, op);
    else if (is(op->macro, "SCALAR_OP"))
        write_scalar(out, op);
    else if (is(op->macro, "MEM_LOAD") || is(op->macro, "MEM_STORE"))
        write_mem(out, op);
    else if (is(op->macro, "MEM_ATOMIC"))
        write_atomic(out, op);
}

static void write_entry(FILE *out, const struct op *op, const char *file)
{
    const char *kind = kind_of(op);
    bool typed = *op->ret != 0;
    fprintf(out, "    {\"%s\", \"%s\", %u, %s, %s, %u, %s%s%s, {", op->name, file,
            op->line, kind, typed ? find_type(op, op->ret)->id : "SEM_T_NONE",
            op->n_args, op->takes_mode ? "SEM_F_MODE" : "0", op->takes_scc ? "|" : "",
            op->takes_scc ? "SEM_F_SCC" : "");
    for (unsigned i = 0; i < op->n_args && i < 4; i++)
        fprintf(out, "%s%s", i ? ", " : "", find_type(op, op->args[i].type)->id);
    fprintf(out, "%s}, %u, {", op->n_args ? "" : "0", bytes_of(op));
    if (is(op->macro, "LANE_OP"))
        fprintf(out, ".row = row_%s", op->name);
    else if (is(op->macro, "SCALAR_OP"))
        fprintf(out, ".scalar = sc_%s", op->name);
    else if (is(op->macro, "WAVE_OP"))
        fprintf(out, ".wave = %s", op->name);
    else if (is(op->macro, "MATRIX_OP"))
        fprintf(out, ".matrix = %s", op->name);
    else if (is(op->macro, "MEM_ATOMIC"))
        fprintf(out, ".atomic = at_%s", op->name);
    else if (is(op->macro, "MEM_WIDE") || is(op->macro, "MEM_FORMAT"))
        fprintf(out, ".mem = 0");
    else
        fprintf(out, ".mem = mem_%s", op->name);
    fputs("}", out);
    if (has_handler(op) || is(op->macro, "SCALAR_OP"))
        fprintf(out, ", op_%s", op->name);
    else
        fputs(", 0", out);
    if (is(op->macro, "MEM_LOAD") || is(op->macro, "MEM_STORE"))
        fprintf(out, ", {.mem = rows_%s}", op->name);
    else if (is(op->macro, "MEM_ATOMIC") && bytes_of(op) == 4)
        fprintf(out, ", {.atomic = rows_%s}", op->name);
    else
        fputs(", {0}", out);
    fputs("},\n", out);
}

/* A ROW_FORM heading at p: note it with its LANE_OP, which stands above. */
static void note_form(const char *p, struct op *ops, size_t n, unsigned line)
{
    size_t length = strcspn(p, ")");
    for (size_t i = 0; i < n; i++)
        if (strlen(ops[i].name) == length && !strncmp(ops[i].name, p, length)) {
            ops[i].has_form = true;
            return;
        }
    die(line, "a ROW_FORM without a LANE_OP", "");
}

static struct op *scan(const char *text, size_t *count)
{
    struct op *ops = NULL;
    size_t n = 0, cap = 0;
    unsigned line = 1;
    for (const char *p = text; *p;) {
        struct op op = {.line = line};
        size_t len = strspn(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
        const char *end = NULL;
        if (p[len] == '(' && len < sizeof op.macro) {
            memcpy(op.macro, p, len);
            if (kind_of(&op))
                end = parse_op(p, &op);
            else if (is(op.macro, "ROW_FORM"))
                note_form(p + len + 1, ops, n, line);
        }
        if (end) {
            if (n == cap) {
                cap = cap ? 2 * cap : 64;
                ops = realloc(ops, cap * sizeof *ops);
                if (!ops)
                    die(line, "out of memory", "");
            }
            ops[n++] = op;
        }
        const char *next = strchr(p, '\n');
        if (!next)
            break;
        p = next + 1;
        line++;
    }
    *count = n;
    return ops;
}

/* ---- join ------------------------------------------------------------------------ */

/* What the sheet says of an opcode; the numbers are its place and that of its entry. */
struct fact {
    const char *op, *function;
    unsigned access, bytes, elems, mem;
};

static const struct fact facts[] = {
#define M(form) | ISA_MEM_##form
#define S(state)
#define J(flow)
#define FACTS(op, pipe, flops, excp, fidelity, ulp, space, access, bytes, elems,       \
              stride, mem, state, swapped, order, flow, vopd, dual, function, note)    \
    {#op, function, ISA_ACCESS_##access, bytes, elems, mem},
#include "facts.inc"
#undef M
#undef S
#undef J
#undef FACTS
};
#define N_FACTS (sizeof facts / sizeof *facts)

/* All functions of all files. */
struct place {
    struct op op;
    const char *path;
    unsigned file, entry;
    bool used;
};
struct places {
    struct place *v;
    size_t n;
};

static unsigned errors;

static void complain(const struct place *at, const char *what)
{
    fprintf(stderr, "error: %s:%u: %s: %s\n", at->path, at->op.line, at->op.name, what);
    errors++;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct place *)a)->op.name,
                  ((const struct place *)b)->op.name);
}

static struct places all_places(char **files, unsigned n_files)
{
    struct places all = {0};
    for (unsigned f = 0; f < n_files; f++) {
        path = files[f];
        char *text = read_file(path);
        size_t n;
        struct op *ops = scan(text, &n);
        all.v = realloc(all.v, (all.n + n + 1) * sizeof *all.v);
        if (!all.v)
            die(0, "out of memory", "");
        for (size_t i = 0; i < n; i++)
            all.v[all.n++] = (struct place){ops[i], files[f], f, (unsigned)i, false};
        free(ops);
        free(text);
    }
    qsort(all.v, all.n, sizeof *all.v, by_name);
    for (size_t i = 1; i < all.n; i++)
        if (is(all.v[i - 1].op.name, all.v[i].op.name))
            complain(&all.v[i], "a second function of that name");
    return all;
}

static struct place *find_place(const struct places *all, const char *name)
{
    struct place key;
    snprintf(key.op.name, sizeof key.op.name, "%s", name);
    return all->n ? bsearch(&key, all->v, all->n, sizeof key, by_name) : NULL;
}

/* Does the function's heading do what the opcode's row says? */
static void check_place(const struct place *p, const struct fact *f)
{
    static const struct {
        const char *macro;
        unsigned access[2];
    } kinds[] = {{"MEM_LOAD", {ISA_ACCESS_LOAD, ISA_ACCESS_LOAD}},
                 {"MEM_STORE", {ISA_ACCESS_STORE, ISA_ACCESS_STORE}},
                 {"MEM_WIDE", {ISA_ACCESS_LOAD, ISA_ACCESS_STORE}},
                 {"MEM_FORMAT", {ISA_ACCESS_LOAD, ISA_ACCESS_STORE}},
                 {"MEM_ATOMIC", {ISA_ACCESS_ATOMIC, ISA_ACCESS_ATOMIC}}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!is(p->op.macro, kinds[i].macro))
            continue;
        bool format = is(p->op.macro, "MEM_FORMAT");
        unsigned bytes = bytes_of(&p->op);
        if (f->access != kinds[i].access[0] && f->access != kinds[i].access[1])
            complain(p, "is not the access of its row in rdna3.facts");
        if (bytes != (format ? f->elems : f->bytes) ||
            format != ((f->mem & ISA_MEM_FORMAT) != 0))
            complain(p, "is not the size of its row in rdna3.facts");
        return;
    }
    if (strncmp(p->op.macro, "WAVE_OP", 7) != 0 && f->access != ISA_ACCESS_NONE)
        complain(p, "its row in rdna3.facts accesses memory");
}

static void no_function(const struct fact *f)
{
    fputs("error: isa/gen/rdna3.facts: ", stderr);
    for (const char *p = f->op; *p; p++)
        fputc(tolower((unsigned char)*p), stderr);
    fprintf(stderr, ": function: no \"%s\" in emulator/sem\n", f->function);
    errors++;
}

static void write_joins(FILE *out, const struct places *all)
{
    fputs("/* Generated by semscan: opcode, its file and entry. */\n", out);
    for (size_t i = 0; i < N_FACTS; i++) {
        const struct fact *f = &facts[i];
        struct place *p = f->function ? find_place(all, f->function) : NULL;
        if (f->function && !p)
            no_function(f);
        if (!p)
            continue;
        p->used = true;
        check_place(p, f);
        fprintf(out, "JOIN(%s, %u, %u)\n", f->op, p->file, p->entry);
    }
    for (size_t i = 0; i < all->n; i++)
        if (!all->v[i].used)
            complain(&all->v[i], "no row of isa/gen/rdna3.facts names this function");
}

static int join(int argc, char **argv)
{
    struct places all = all_places(argv + 1, (unsigned)argc - 1);
    FILE *out = fopen(argv[0], "w");
    path = argv[0];
    if (!out)
        die(0, "cannot write", argv[0]);
    write_joins(out, &all);
    if (fclose(out))
        die(0, "cannot write", argv[0]);
    free(all.v);
    if (errors)
        remove(argv[0]); /* the build tries again */
    return errors != 0;
}

int main(int argc, char **argv)
{
    if (argc >= 4 && is(argv[1], "--join"))
        return join(argc - 2, argv + 2);
    if (argc != 3) {
        fprintf(stderr, "usage: semscan FILE.c OUT.inc\n"
                        "       semscan --join OUT.inc FILE.c...\n");
        return 2;
    }
    path = argv[1];
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *inside = strstr(path, "emulator/"); /* as in "sem/wave/flow.c" */
    for (const char *p = inside; p; p = strstr(p + 1, "emulator/"))
        inside = p;
    const char *folder = inside ? inside + strlen("emulator/") : base;
    char *text = read_file(path);
    size_t n;
    struct op *ops = scan(text, &n);
    FILE *out = fopen(argv[2], "w");
    if (!out)
        die(0, "cannot write", argv[2]);
    fprintf(out, "/* Generated by emulator/gen/semscan.c from %s. */\n", base);
    fputs("#include \"sem_wrap.h\"\n", out);
    for (size_t i = 0; i < n; i++)
        write_wrapper(out, &ops[i]);
    fprintf(out, "const struct sem_entry SEM_LEVEL(entries_%.*s)[] = {\n",
            (int)strcspn(base, "."), base);
    for (size_t i = 0; i < n; i++)
        write_entry(out, &ops[i], folder);
    fputs("    {.name = 0},\n};\n", out);
    if (fclose(out))
        die(0, "cannot write", argv[2]);
    free(ops);
    free(text);
    return 0;
}
