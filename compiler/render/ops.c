/* ops.c: how each language spells types, operations, memory and the frame.
 * SPDX-License-Identifier: MIT
 */
#include "render.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INLINE_MAX 4096 /* longest text of a value */

static char *make(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static char *make(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *text = n < 0 ? NULL : malloc((size_t)n + 1);
    if (!text)
        return NULL;
    va_start(ap, fmt);
    vsnprintf(text, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return text;
}

const char *render_type(const struct render *r, enum cc_dtype dtype)
{
    static const char *const names[CC_DT_COUNT] = {
#define X(name, text, bytes, c) [CC_DT_##name] = c,
        CC_DTYPE_LIST(X)
#undef X
    };
    if (dtype == CC_DT_F16 && (r->style == CC_STYLE_C || r->style == CC_STYLE_HIP))
        return "_Float16";
    return names[dtype];
}

char *render_const(struct render *r, const struct cc_inst *n)
{
    union cc_value v = {.i = n->arg[0]};
    char text[64];
    if (!cc_is_float(n->dtype)) {
        const char *end = n->dtype == CC_DT_U64   ? "ul"
                          : n->dtype == CC_DT_I64 ? "l"
                          : n->dtype == CC_DT_U32 ? "u"
                                                  : "";
        if (n->dtype == CC_DT_U64)
            snprintf(text, sizeof text, "%" PRIu64 "ul", v.u);
        else if (n->dtype == CC_DT_I64 && v.i == INT64_MIN)
            snprintf(text, sizeof text, "(-9223372036854775807l-1)");
        else if (n->dtype == CC_DT_I32 && v.i == INT32_MIN)
            snprintf(text, sizeof text, "(-2147483647-1)");
        else
            snprintf(text, sizeof text, v.i < 0 ? "(%" PRId64 "%s)" : "%" PRId64 "%s",
                     v.i, end);
    } else if (n->dtype == CC_DT_BF16) {
        uint16_t bits;
        cc_store_scalar(CC_DT_BF16, &bits, v);
        snprintf(text, sizeof text, "%u", bits);
    } else {
        const char *cast = n->dtype == CC_DT_F16 ? render_type(r, CC_DT_F16) : NULL;
        char number[48];
        if (isnan(v.f))
            snprintf(number, sizeof number, "(0.0f/0.0f)");
        else if (isinf(v.f))
            snprintf(number, sizeof number, "(%s1.0f/0.0f)", v.f < 0 ? "-" : "");
        else
            snprintf(number, sizeof number, "%s%.17g%s%s%s", signbit(v.f) ? "(" : "",
                     v.f, v.f == floor(v.f) && fabs(v.f) < 1e15 ? ".0" : "",
                     n->dtype == CC_DT_F64 ? "" : "f", signbit(v.f) ? ")" : "");
        snprintf(text, sizeof text, cast ? "((%s)%s)" : "%.0s%s", cast ? cast : "",
                 number);
    }
    return cc_arena_copy(&r->arena, text, strlen(text) + 1);
}

/* ---- operations ---- */

static const char *const infix[CC_OP_COUNT] = {
    [CC_ADD] = "+",  [CC_SUB] = "-",   [CC_MUL] = "*",    [CC_FDIV] = "/",
    [CC_SHL] = "<<", [CC_SHR] = ">>",  [CC_AND] = "&",    [CC_OR] = "|",
    [CC_XOR] = "^",  [CC_CMPLT] = "<", [CC_CMPEQ] = "==", [CC_CMPNE] = "!=",
    [CC_IDIV] = "/", [CC_MOD] = "%"};

/* Functions of f32 and f64 by language. */
static const char *function(const struct render *r, enum cc_op op, enum cc_dtype dtype)
{
    static const struct {
        enum cc_op op;
        const char *c, *cl;
    } names[] = {{CC_EXP2, "exp2", "exp2"},    {CC_LOG2, "log2", "log2"},
                 {CC_SIN, "sin", "sin"},       {CC_SQRT, "sqrt", "sqrt"},
                 {CC_TRUNC, "trunc", "trunc"}, {CC_MULACC, "fma", "fma"},
                 {CC_POW, "pow", "pow"},       {CC_MAX, "fmax", "fmax"}};
    static const char *const f32[] = {"exp2f",  "log2f", "sinf", "sqrtf",
                                      "truncf", "fmaf",  "powf", "fmaxf"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].op == op) {
            bool plain = r->style == CC_STYLE_OPENCL || r->style == CC_STYLE_METAL;
            return plain ? names[i].cl : dtype == CC_DT_F32 ? f32[i] : names[i].c;
        }
    return NULL;
}

static char *cast(struct render *r, const struct cc_inst *n, const char *x)
{
    enum cc_dtype from = r->p->insts[n->src[0]].dtype, to = n->dtype;
    const char *type = render_type(r, to);
    char wide[INLINE_MAX + 32];
    if (from == CC_DT_BF16) {
        snprintf(wide, sizeof wide, "cc_from_bf16(%s)", x);
        x = wide;
        from = CC_DT_F32;
    }
    if (to == CC_DT_BF16)
        return make("cc_to_bf16((float)%s)", x);
    if (to == CC_DT_BOOL)
        return make("(%s!=0)", x);
    if (cc_is_float(from) && cc_is_int(to)) /* all values are defined */
        return make("((%s)cc_to_%s(%s))", type,
                    cc_is_unsigned(to) ? (cc_dtype_bytes(to) == 8 ? "u64" : "u32")
                                       : (cc_dtype_bytes(to) == 8 ? "i64" : "i32"),
                    x);
    return make("((%s)(%s))", type, x);
}

static char *bitcast(struct render *r, const struct cc_inst *n, const char *x)
{
    enum cc_dtype from = r->p->insts[n->src[0]].dtype, to = n->dtype;
    const char *a = render_type(r, from), *b = render_type(r, to);
    if (strcmp(a, b) == 0)
        return make("%s", x);
    if (r->style == CC_STYLE_C || r->style == CC_STYLE_HIP)
        return make("((union { %s a; %s b; }){.a = %s}.b)", a, b, x);
    return make("as_%s(%s)", b, x);
}

/* Signed arithmetic wraps: it is done in unsigned numbers. */
static char *wrapping(struct render *r, const struct cc_inst *n, const char *a,
                      const char *b)
{
    const char *type = render_type(r, n->dtype);
    const char *u = cc_dtype_bytes(n->dtype) == 8 ? "unsigned long" : "unsigned int";
    return make("((%s)((%s)%s%s(%s)%s))", type, u, a, infix[n->op], u, b);
}

/* Can a plain operator overflow? The examples' small numbers cannot. */
static bool may_wrap(struct render *r, uint32_t at)
{
    const struct cc_uop *n = r->p->nodes[at];
    if (n->dtype != CC_DT_I32 && n->dtype != CC_DT_I64)
        return false;
    if (n->op != CC_ADD && n->op != CC_SUB && n->op != CC_MUL && n->op != CC_SHL)
        return false;
    if (r->style != CC_STYLE_C)
        return false; /* compiled with wrapping numbers */
    int64_t max = n->dtype == CC_DT_I32 ? INT32_MAX : INT64_MAX;
    return n->vmax == max || n->vmin < -max;
}

static char *binary(struct render *r, uint32_t at, const char *a, const char *b)
{
    const struct cc_inst *n = &r->p->insts[at];
    enum cc_dtype from = r->p->insts[n->src[0]].dtype;
    if (n->op == CC_MULHI)
        return make("((unsigned int)(((unsigned long)%s*%s)>>32))", a, b);
    if (n->op == CC_MAX && !cc_is_float(from))
        return make("((%s)<(%s)?(%s):(%s))", a, b, b, a);
    if (from == CC_DT_BOOL && n->op == CC_ADD)
        return make("(%s|%s)", a, b);
    if (from == CC_DT_BOOL && n->op == CC_MUL)
        return make("(%s&%s)", a, b);
    if (may_wrap(r, at))
        return wrapping(r, n, a, b);
    return make("(%s%s%s)", a, infix[n->op], b);
}

/* Division where the divisor may be 0 or -1. */
static char *division(struct render *r, uint32_t at, const char *a, const char *b)
{
    const struct cc_inst *n = &r->p->insts[at];
    const char *type = render_type(r, n->dtype);
    const char *wide = cc_is_unsigned(n->dtype) ? "u64" : "i64";
    if (r->p->nodes[n->src[1]]->vmin > 0)
        return make("(%s%s%s)", a, infix[n->op], b);
    return make("((%s)cc_%s_%s(%s,%s))", type, n->op == CC_IDIV ? "div" : "mod", wide,
                a, b);
}

char *render_alu(struct render *r, uint32_t at)
{
    const struct cc_inst *n = &r->p->insts[at];
    const char *s[3] = {"", "", ""};
    for (uint32_t i = 0; i < n->n_src && i < 3; i++)
        s[i] = r->expr[n->src[i]];
    const char *name = cc_is_float(n->dtype) ? function(r, n->op, n->dtype) : NULL;
    if (name && n->n_src == 1)
        return make("%s(%s)", name, s[0]);
    if (name && n->n_src == 2)
        return make("%s(%s,%s)", name, s[0], s[1]);
    if (name)
        return make("%s(%s,%s,%s)", name, s[0], s[1], s[2]);
    switch (n->op) {
    case CC_CAST:
        return cast(r, n, s[0]);
    case CC_BITCAST:
        return bitcast(r, n, s[0]);
    case CC_NEG:
        return cc_is_float(n->dtype) || cc_is_unsigned(n->dtype)
                   ? make("(-%s)", s[0])
                   : make("((%s)(0u-(unsigned long)%s))", render_type(r, n->dtype),
                          s[0]);
    case CC_RECIP:
        return make("(1/%s)", s[0]);
    case CC_WHERE:
        return make("(%s?%s:%s)", s[0], s[1], s[2]);
    case CC_MULACC:
        return make("(%s*%s+%s)", s[0], s[1], s[2]);
    case CC_IDIV:
    case CC_MOD:
        return division(r, at, s[0], s[1]);
    default:
        return binary(r, at, s[0], s[1]);
    }
}

/* ---- memory ---- */

static char *memory_name(struct render *r, uint32_t at)
{
    const struct cc_inst *m = &r->p->insts[at];
    if (m->op == CC_PARAM)
        return make("%s", m->name);
    if (m->arg[0] == CC_SPACE_LOCAL)
        return make("lds%d", (int)m->arg[1]);
    return make(r->split ? "reg%d[lane]" : "reg%d", (int)m->arg[1]);
}

char *render_place(struct render *r, const struct cc_inst *n)
{
    char *name = memory_name(r, n->src[0]), *place = NULL;
    if (name)
        place = r->p->insts[n->src[0]].op == CC_PARAM
                    ? make("*(%s+%s)", name, r->expr[n->src[1]])
                    : make("%s[%s]", name, r->expr[n->src[1]]);
    free(name);
    return place;
}

char *render_load(struct render *r, const struct cc_inst *n)
{
    char *place = render_place(r, n), *value = NULL;
    if (place)
        value = n->n_src > 2 ? make("(%s?%s:0)", r->expr[n->src[2]], place)
                             : make("%s", place);
    free(place);
    return value;
}

/* ---- the launch ---- */

void render_special(struct render *r, uint32_t at)
{
    const struct cc_inst *n = &r->p->insts[at];
    bool global = n->name[0] == 'g';
    unsigned d = (unsigned)(n->name[4] - '0');
    r->expr[at] = cc_arena_copy(&r->arena, n->name, 6);
    switch (r->style) {
    case CC_STYLE_C:
        if (global) /* the loop over groups has it */
            return;
        r->expr[at] = cc_arena_copy(&r->arena,
                                    d == 0 ? "LIDX0" : (d == 1 ? "LIDX1" : "LIDX2"), 6);
        break;
    case CC_STYLE_OPENCL:
        render_line(r, "int %s = %s(%u); /* %d */", n->name,
                    global ? "get_group_id" : "get_local_id", d, (int)n->arg[0]);
        break;
    case CC_STYLE_HIP:
        render_line(r, "int %s = %s.%c; /* %d */", n->name,
                    global ? "blockIdx" : "threadIdx", "xyz"[d], (int)n -> arg[0]);
        break;
    case CC_STYLE_METAL:
        render_line(r, "int %s = %s.%c; /* %d */", n->name, global ? "gid" : "lid",
                    "xyz"[d], (int)n -> arg[0]);
        break;
    }
}

void render_barrier(struct render *r)
{
    static const char *const text[] = {
        NULL, "barrier(CLK_LOCAL_MEM_FENCE);", "__syncthreads();",
        "threadgroup_barrier(mem_flags::mem_threadgroup);"};
    if (text[r->style])
        render_line(r, "%s", text[r->style]);
}

rd_status render_bpermute(struct render *r, uint32_t at)
{
    const struct cc_inst *n = &r->p->insts[at];
    const char *type = render_type(r, n->dtype);
    bool split = r->split;
    if (r->style == CC_STYLE_METAL)
        return render_fail(r, at, "has no Metal form");
    if (r->style == CC_STYLE_C && !split)
        return render_fail(r, at, "needs more than one lane");
    if (split) {
        /* operands crossed the cut: they are arrays, or the same for all lanes */
        render_line(r, "for (int lane_ = 0; lane_ < %u; lane_++) {", r->lanes);
        render_line(r,
                    "  int lane = lane_, from = lane / 32 * 32 + "
                    "((unsigned)%s / 4u %% 32u);",
                    r->expr[n->src[0]]);
        render_line(r, "  %s got; { int lane = from; got = %s; } %s = got;", type,
                    r->expr[n->src[1]], r->expr[at]);
        render_line(r, "}");
        return RD_OK;
    }
    const char *as_int = n->dtype == CC_DT_I32 ? "" : "as_int";
    if (r->style == CC_STYLE_HIP)
        render_line(r,
                    "%s %s = __builtin_bit_cast(%s, __builtin_amdgcn_ds_bpermute(%s, "
                    "__builtin_bit_cast(int, %s)));",
                    type, r->expr[at], type, r->expr[n->src[0]], r->expr[n->src[1]]);
    else
        render_line(r, "%s %s = %s%s(__builtin_amdgcn_ds_bpermute(%s, %s(%s)));", type,
                    r->expr[at], n->dtype == CC_DT_I32 ? "" : "as_", type,
                    r->expr[n->src[0]], as_int, r->expr[n->src[1]]);
    return RD_OK;
}

static void wmma_plain(struct render *r, const struct cc_inst *n, unsigned id)
{
    cc_out(&r->arrays, "  static float wmma%u[%u][8], wa%u[%u][16], wb%u[%u][16];\n",
           id, r->lanes, id, r->lanes, id, r->lanes);
    render_line(r, "for (int lane = 0; lane < %u; lane++) {", r->lanes);
    for (uint32_t i = 0; i < 40; i++) {
        const char *x = r->expr[n->src[i]];
        bool bf16 = i < 32 && r->p->insts[n->src[i]].dtype == CC_DT_BF16;
        if (i < 32)
            render_line(r, "  w%c%u[lane][%u] = %s(%s);", i < 16 ? 'a' : 'b', id,
                        i % 16, bf16 ? "cc_from_bf16" : "(float)", x);
        else
            render_line(r, "  wmma%u[lane][%u] = %s;", id, i - 32, x);
    }
    render_line(r, "}");
    render_line(r, "for (int lane = 0; lane < %u; lane++)", r->lanes);
    render_line(r, "  for (int i = 0; i < 8; i++) {");
    render_line(r, "    int row = lane / 32 * 32 + 2 * i + lane %% 32 / 16;");
    render_line(r, "    double sum = 0;");
    render_line(r, "    for (int k = 0; k < 16; k++)");
    render_line(
        r, "      sum += (double)wa%u[row][k] * wb%u[lane / 32 * 32 + lane %% 16][k];",
        id, id);
    render_line(r, "    wmma%u[lane][i] = (float)(sum + wmma%u[lane][i]);", id, id);
    render_line(r, "  }");
}

rd_status render_wmma(struct render *r, uint32_t at)
{
    const struct cc_inst *n = &r->p->insts[at];
    unsigned id = r->n_wmma++;
    char text[16];
    snprintf(text, sizeof text, "%u", id);
    r->expr[at] = cc_arena_copy(&r->arena, text, strlen(text) + 1);
    if (r->style == CC_STYLE_C && r->split) {
        wmma_plain(r, n, id);
        return RD_OK;
    }
    if (r->style == CC_STYLE_METAL || r->style == CC_STYLE_C)
        return render_fail(r, at, "has no form in this language, or needs 32 lanes");
    bool bf16 = r->p->insts[n->src[0]].dtype == CC_DT_BF16;
    static const char kind[3] = {'a', 'b', 'c'};
    for (unsigned f = 0; f < 3; f++) {
        unsigned first = 16 * f, count = f == 2 ? 8 : 16;
        const char *type = f == 2 ? "cc_f32x8" : (bf16 ? "cc_i16x16" : "cc_f16x16");
        render_line(r, "%s w%c%u;", type, kind[f], id);
        for (unsigned i = 0; i < count; i++)
            render_line(r, "w%c%u[%u] = %s;", kind[f], id, i,
                        r->expr[n->src[first + i]]);
    }
    render_line(r,
                "cc_f32x8 wmma%u = __builtin_amdgcn_wmma_f32_16x16x16_%s_w32(wa%u, "
                "wb%u, wc%u);",
                id, bf16 ? "bf16" : "f16", id, id, id);
    return RD_OK;
}

/* ---- the frame ---- */

static const char *const helpers[] = {
    "static inline float cc_from_bf16(unsigned short x)\n"
    "{ union { unsigned int u; float f; } v; v.u = (unsigned int)x << 16; return v.f; "
    "}\n"
    "static inline unsigned short cc_to_bf16(float x)\n"
    "{ union { unsigned int u; float f; } v; v.f = x; if (x != x) return 0x7fc0;\n"
    "  return (unsigned short)((v.u + 0x7fff + (v.u >> 16 & 1)) >> 16); }\n",
    "static inline int cc_to_i32(double x)\n"
    "{ return x != x ? 0 : x >= 2147483647.0 ? 2147483647\n"
    "    : x <= -2147483648.0 ? -2147483647-1 : (int)x; }\n"
    "static inline unsigned int cc_to_u32(double x)\n"
    "{ return !(x > 0) ? 0u : x >= 4294967295.0 ? 4294967295u : (unsigned int)x; }\n"
    "static inline long cc_to_i64(double x)\n"
    "{ return x != x ? 0 : x >= 0x1p63 ? 9223372036854775807l\n"
    "    : x < -0x1p63 ? -9223372036854775807l-1 : (long)x; }\n"
    "static inline unsigned long cc_to_u64(double x)\n"
    "{ return !(x > 0) ? 0ul : x >= 0x1p64 ? ~0ul : (unsigned long)x; }\n",
    "static inline long cc_div_i64(long a, long b)\n"
    "{ return b == 0 ? 0 : b == -1 ? (long)(0ul - (unsigned long)a) : a / b; }\n"
    "static inline long cc_mod_i64(long a, long b)\n"
    "{ return b == 0 ? a : b == -1 ? 0 : a % b; }\n"
    "static inline unsigned long cc_div_u64(unsigned long a, unsigned long b)\n"
    "{ return b == 0 ? 0 : a / b; }\n"
    "static inline unsigned long cc_mod_u64(unsigned long a, unsigned long b)\n"
    "{ return b == 0 ? a : a % b; }\n"};
static const char *const helper_marks[] = {"_bf16", "cc_to_", "64("};

/* Lines of C; in HIP its functions are the device's. */
static void put_helper(const struct render *r, const char *lines, struct cc_text *out)
{
    static const char head[] = "static inline ";
    while (*lines) {
        const char *end = strchr(lines, '\n');
        size_t len = end ? (size_t)(end - lines) + 1 : strlen(lines), skip = 0;
        if (r->style == CC_STYLE_HIP && strncmp(lines, head, sizeof head - 1) == 0) {
            cc_out(out, "static __device__ inline ");
            skip = sizeof head - 1;
        }
        cc_out(out, "%.*s", (int)(len - skip), lines + skip);
        lines += len;
    }
}

static void put_helpers(struct render *r, struct cc_text *out)
{
    const char *text = r->text.data ? r->text.data : "";
    for (size_t i = 0; i < sizeof helpers / sizeof helpers[0]; i++)
        if (strstr(text, helper_marks[i]))
            put_helper(r, helpers[i], out);
    if (r->n_wmma && r->style != CC_STYLE_C)
        cc_out(out,
               "typedef float cc_f32x8 __attribute__((ext_vector_type(8)));\n"
               "typedef %s cc_f16x16 __attribute__((ext_vector_type(16)));\n"
               "typedef short cc_i16x16 __attribute__((ext_vector_type(16)));\n",
               render_type(r, CC_DT_F16));
}

static bool is_stored(const struct cc_prog *p, uint32_t param)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->insts[i].op == CC_STORE && p->insts[i].src[0] == param)
            return true;
    return false;
}

static void put_params(struct render *r, struct cc_text *out)
{
    bool first = true;
    for (uint32_t i = 0; i < r->p->count; i++) {
        const struct cc_inst *n = &r->p->insts[i];
        if (n->op != CC_PARAM)
            continue;
        const char *type = render_type(r, n->dtype);
        bool stored = is_stored(r->p, i);
        cc_out(out, "%s", first ? "" : ", ");
        if (r->style == CC_STYLE_METAL) /* as the first documentation prints it */
            cc_out(out, "constant %s& %s", type, n->name);
        else if (r->style == CC_STYLE_OPENCL)
            cc_out(out, "__global %s%s* %s", stored ? "" : "const ", type, n->name);
        else
            cc_out(out, "%s%s* __restrict__ %s", stored ? "" : "const ", type, n->name);
        first = false;
    }
    if (r->style == CC_STYLE_METAL)
        cc_out(out,
               "%suint3 gid [[threadgroup_position_in_grid]], "
               "uint3 lid [[thread_position_in_threadgroup]]",
               first ? "" : ", ");
}

static void put_buffers(struct render *r, struct cc_text *out)
{
    static const char *const lds[] = {"static", "__local", "__shared__", "threadgroup"};
    for (uint32_t i = 0; i < r->p->count; i++) {
        const struct cc_inst *n = &r->p->insts[i];
        if (n->op != CC_BUFFER)
            continue;
        long long count = cc_memory_elements(n);
        const char *type = render_type(r, n->dtype);
        if (n->arg[0] == CC_SPACE_LOCAL)
            cc_out(out, "  %s %s lds%d[%lld];\n", lds[r->style], type, (int)n->arg[1],
                   count);
        else if (r->split)
            cc_out(out, "  static %s reg%d[%u][%lld];\n", type, (int)n->arg[1],
                   r->lanes, count);
        else
            cc_out(out, "  %s reg%d[%lld];\n", type, (int)n->arg[1], count);
    }
    cc_out(out, "%s", r->arrays.data ? r->arrays.data : "");
}

static void put_plain_head(struct render *r, struct cc_text *out)
{
    cc_out(out, "#include <math.h>\n#include <stdbool.h>\n");
    put_helpers(r, out);
    cc_out(out,
           "#define LIDX0 (lane %% %u)\n#define LIDX1 (lane / %u %% %u)\n"
           "#define LIDX2 (lane / %u)\n",
           r->block[0], r->block[0], r->block[1], r->block[0] * r->block[1]);
    cc_out(out, "void %s(void **args)\n{\n", r->p->name);
    for (uint32_t i = 0; i < r->p->count; i++) {
        const struct cc_inst *n = &r->p->insts[i];
        if (n->op == CC_PARAM)
            cc_out(out, "  %s *%s = args[%d];\n", render_type(r, n->dtype), n->name,
                   (int)n->arg[0]);
    }
    put_buffers(r, out);
    for (unsigned d = 3; d-- > 0;)
        cc_out(out, "  for (int gidx%u = 0; gidx%u < %u; gidx%u++)%s\n", d, d,
               r->groups[d], d, d == 0 ? " {" : "");
    if (r->lanes <= 1)
        cc_out(out, "    const int lane = 0; (void)lane;\n");
}

void render_head(struct render *r, struct cc_text *out)
{
    switch (r->style) {
    case CC_STYLE_C:
        put_plain_head(r, out);
        return;
    case CC_STYLE_OPENCL:
        cc_out(out, "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
        put_helpers(r, out);
        cc_out(out,
               "__attribute__((reqd_work_group_size(%u, %u, %u)))\n__kernel void %s(",
               r->block[0], r->block[1], r->block[2], r->p->name);
        break;
    case CC_STYLE_HIP:
        put_helpers(r, out);
        cc_out(out, "extern \"C\" __global__ void __launch_bounds__(%u) %s(", r->lanes,
               r->p->name);
        break;
    case CC_STYLE_METAL:
        put_helpers(r, out);
        cc_out(out, "kernel void %s(", r->p->name);
        break;
    }
    put_params(r, out);
    cc_out(out, ") {\n");
    put_buffers(r, out);
}

void render_tail(struct render *r, struct cc_text *out)
{
    cc_out(out, r->style == CC_STYLE_C ? "  }\n}\n" : "}\n");
}
