/* macro.c: macros and repetitions: definitions, arguments, expansion, and the stack of
 * texts being read.
 *
 * Must not know what the text says. Invariant: a definition's body is a piece of text
 * that lives as long as the assembly; expansions are bounded in depth and in size.
 * SPDX-License-Identifier: MIT
 */
#include "as.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct text {
    const char *p;
    size_t len;
};

/* ---- the stack of texts ---- */

bool as_frame_push(struct as *as, const struct as_frame *frame)
{
    if (as->n_frames > AS_MAX_NEST)
        return false;
    if (as->n_frames) {
        struct as_frame *top = &as->frames[as->n_frames - 1];
        top->p = as->p;
        top->line = as->line;
    }
    as->frames[as->n_frames] = *frame;
    as->frames[as->n_frames].cond = as->n_conds;
    as->frames[as->n_frames].errors = as->result.errors;
    as->n_frames++;
    as->p = frame->p;
    as->end = frame->end;
    as->line = frame->line;
    return true;
}

bool as_frame_pop(struct as *as)
{
    as_cond_finish(as);
    struct as_frame *top = &as->frames[as->n_frames - 1];
    if (as->result.errors > top->errors)
        top->repeat = 0; /* further passes would only say it again */
    if (top->repeat > 0) {
        top->repeat--;
        as->expanded += 16 + (uint64_t)(top->end - top->begin) / 8;
        if (as->expanded > AS_MAX_EXPANDED) {
            as_fatal(as, NULL, "too many repetitions");
            return false;
        }
        as->p = top->begin;
        as->line = top->begin_line;
        return true;
    }
    if (--as->n_frames == 0)
        return false;
    top = &as->frames[as->n_frames - 1];
    as->p = top->p;
    as->end = top->end;
    as->line = top->line;
    return true;
}

/* Would one more text be too many? at: of what asks for it. */
static bool too_deep(struct as *as, const char *at)
{
    if (as->n_frames <= AS_MAX_NEST)
        return false;
    as_fatal(as, at, "macros and repetitions are nested deeper than %u levels",
             AS_MAX_NEST);
    return true;
}

/* What is read next is not the rest of this line. */
static void finish_line(struct as *as)
{
    if (!as->failed_statement && !as_at_end(as))
        as_error(as, as->p, "unexpected text at the end of the statement");
    as_next_line(as);
    as->line_done = true;
}

/* Read made text as if it stood here. line: where its first line comes from; lines: of
 * the body, if the text is many copies of it. */
static void push_text(struct as *as, struct as_buf *made, uint32_t line, uint32_t from,
                      uint32_t lines)
{
    as->expanded += made->bytes;
    if (made->failed) {
        as_out_of_memory(as);
    } else if (as->expanded > AS_MAX_EXPANDED) {
        as_fatal(as, NULL, "macros expand to more than %llu MiB",
                 (unsigned long long)(AS_MAX_EXPANDED >> 20));
    } else if (made->bytes > 0) {
        const char *text = as_keep(as, (const char *)made->data, made->bytes);
        struct as_frame frame = {.begin = text,
                                 .p = text,
                                 .end = text + made->bytes,
                                 .line = line,
                                 .begin_line = line,
                                 .from = from,
                                 .lines = lines,
                                 .macro = lines == 0};
        if (text)
            (void)as_frame_push(as, &frame);
    }
    free(made->data);
}

/* ---- bodies ---- */

/* The lines up to the directive that closes, which is passed. opens: names that nest.
 */
static bool take_body(struct as *as, const char *at, const char *const *opens,
                      const char *const *closes, struct text *body)
{
    unsigned nested = 0;
    as_next_line(as);
    body->p = as->p;
    while (as->p < as->end) {
        const char *name;
        size_t len;
        const char *line = as->p;
        as_blanks(as);
        if (as->p < as->end && *as->p == '.' && as_name(as, &name, &len)) {
            for (const char *const *o = opens; *o; o++)
                nested += as_same(name, len, *o);
            for (const char *const *c = closes; *c; c++) {
                if (!as_same(name, len, *c))
                    continue;
                if (nested-- > 0)
                    break;
                body->len = (size_t)(line - body->p);
                return true;
            }
        }
        as_next_line(as);
    }
    as_error(as, at, "%s is missing", closes[0]);
    return false;
}

static const char *const macro_opens[] = {".macro", NULL};
static const char *const macro_closes[] = {".endm", ".endmacro", NULL};
static const char *const rept_opens[] = {".rept", ".rep", ".irp", ".irpc", NULL};
static const char *const rept_closes[] = {".endr", NULL};

static bool is_operator(char c)
{
    return c != '\0' && strchr("+-~/*=|^&!<>", c) != NULL;
}

/* One token of an argument; strings lose their quotes. */
static void argument_token(struct as *as, struct as_buf *out, unsigned *brackets)
{
    const char *start = as->p;
    if (*start == '"') {
        const char *p = start + 1;
        while (p < as->end && *p != '"' && *p != '\n')
            p += *p == '\\' && p + 1 < as->end && p[1] != '\n' ? 2 : 1;
        bool closed = p < as->end && *p == '"';
        as_buf_add(out, start + closed, (size_t)(p - start) - closed);
        as->p = p + closed;
        return;
    }
    if (*start == '(')
        ++*brackets;
    else if (*start == ')' && *brackets)
        --*brackets;
    as->p++;
    while (as_is(*start, AS_C_IDENT) && as->p < as->end && as_is(*as->p, AS_C_IDENT))
        as->p++;
    as_buf_add(out, start, (size_t)(as->p - start));
}

/* An argument ends at a comma, or at a blank that does not touch an operator. */
static void argument(struct as *as, struct as_buf *out)
{
    unsigned brackets = 0;
    as_blanks(as);
    for (bool first = true;; first = false) {
        const char *before = as->p;
        if (as_at_end(as))
            return;
        bool blank = as->p > before;
        if (brackets == 0) {
            if (*as->p == ',')
                return;
            if (is_operator(*as->p)) {
                as_buf_add(out, as->p++, 1);
                as_blanks(as);
                continue;
            }
            if (blank && !first)
                return;
        } else if (blank) {
            as_buf_add(out, " ", 1);
        }
        argument_token(as, out, &brackets);
    }
}

/* ---- expansion ---- */

/* Replace \name, \@ and \() in the body. */
static void expand(struct as *as, struct text body, const struct as_param *params,
                   const struct text *values, uint32_t n, struct as_buf *out)
{
    const char *p = body.p;
    const char *end = p + body.len;
    while (p < end) {
        const char *slash = memchr(p, '\\', (size_t)(end - p));
        if (!slash || slash + 1 == end)
            break;
        as_buf_add(out, p, (size_t)(slash - p));
        p = slash + 1;
        if (*p == '@') {
            char count[16];
            int len = snprintf(count, sizeof count, "%" PRIu32, as->n_expansions);
            as_buf_add(out, count, (size_t)len);
            p++;
            continue;
        }
        if (*p == '(' && p + 1 < end && p[1] == ')') {
            p += 2;
            continue;
        }
        const char *name = p;
        while (p < end && as_is(*p, AS_C_IDENT) && *p != '@' && *p != '?')
            p++;
        uint32_t i = 0;
        while (i < n && !(params[i].name_len == (size_t)(p - name) &&
                          memcmp(params[i].name, name, params[i].name_len) == 0))
            i++;
        if (i < n)
            as_buf_add(out, values[i].p, values[i].len);
        else
            as_buf_add(out, slash, (size_t)(p - slash));
    }
    as_buf_add(out, p, (size_t)(end - p));
}

/* ---- definitions ---- */

static bool parse_param(struct as *as, struct as_param *param)
{
    const char *name;
    size_t len;
    *param = (struct as_param){0};
    if (!as_need_name(as, "a parameter", &name, &len))
        return false;
    param->name = name;
    param->name_len = (uint32_t)len;
    if (as_take(as, ':')) {
        if (!as_need_name(as, "req or vararg", &name, &len))
            return false;
        param->required = as_same(name, len, "req");
        param->vararg = as_same(name, len, "vararg");
        if (!param->required && !param->vararg) {
            as_error(as, name, "unknown qualifier (req, vararg)");
            return false;
        }
    }
    if (!as_take(as, '='))
        return true;
    struct as_buf value = {0};
    argument(as, &value);
    const char *kept = as_keep(as, value.data ? (char *)value.data : "", value.bytes);
    param->value = kept;
    param->value_len = (uint32_t)value.bytes;
    free(value.data);
    return kept != NULL;
}

static bool parse_params(struct as *as, struct as_macro *macro)
{
    uint32_t cap = 0;
    while (!as_at_end(as)) {
        struct as_param param;
        const char *at = as->p;
        if (macro->n_params && macro->params[macro->n_params - 1].vararg) {
            as_error(as, at, "a vararg parameter must be the last");
            return false;
        }
        if (!parse_param(as, &param))
            return false;
        for (uint32_t i = 0; i < macro->n_params; i++)
            if (macro->params[i].name_len == param.name_len &&
                memcmp(macro->params[i].name, param.name, param.name_len) == 0) {
                as_error(as, at, "the parameter occurs twice");
                return false;
            }
        if (macro->n_params >= 1000 ||
            !as_grow((void **)&macro->params, &cap, macro->n_params, sizeof param)) {
            as_error(as, at, "too many parameters");
            return false;
        }
        macro->params[macro->n_params++] = param;
        (void)as_take(as, ',');
    }
    return true;
}

static bool define(struct as *as, const struct as_macro *macro)
{
    uint32_t *at = as_map_at(&as->macro_map, macro->name, macro->name_len, true);
    if (as->n_macros == 0)
        as->n_macros = 1;
    if (!at ||
        !as_grow((void **)&as->macros, &as->cap_macros, as->n_macros, sizeof *macro)) {
        as_out_of_memory(as);
        return false;
    }
    *at = as->n_macros;
    as->macros[as->n_macros++] = *macro;
    return true;
}

static void dir_macro(struct as *as, int arg)
{
    (void)arg;
    struct as_macro macro = {0};
    const char *at = as->p;
    const char *name;
    size_t len;
    struct text body = {0};
    bool ok = as_need_name(as, "the macro's name", &name, &len);
    (void)as_take(as, ',');
    ok = ok && parse_params(as, &macro);
    macro.line = as->line + 1;
    ok = take_body(as, at, macro_opens, macro_closes, &body) && ok;
    uint32_t old = ok ? as_map_get(&as->macro_map, name, len) : 0;
    if (old && !as->macros[old].purged) {
        as_error(as, name, "the macro is already defined");
        ok = false;
    }
    if (ok) {
        macro.name = name;
        macro.name_len = (uint32_t)len;
        macro.body = body.p;
        macro.body_len = body.len;
        ok = define(as, &macro);
    }
    if (!ok)
        free(macro.params);
}

static void dir_purgem(struct as *as, int arg)
{
    (void)arg;
    const char *name;
    size_t len;
    if (!as_need_name(as, "the macro's name", &name, &len))
        return;
    uint32_t index = as_map_get(&as->macro_map, name, len);
    if (index == 0 || as->macros[index].purged)
        as_error(as, name, "there is no macro of that name");
    else
        as->macros[index].purged = true;
}

static void dir_exitm(struct as *as, int arg)
{
    (void)arg;
    uint32_t i = as->n_frames;
    while (i > 0 && !as->frames[i - 1].macro)
        i--;
    if (i == 0) {
        as_error(as, as->p, ".exitm outside a macro");
        return;
    }
    as->n_frames = i;
    as->n_conds = as->frames[i - 1].cond;
    as->frames[i - 1].repeat = 0;
    as->p = as->end = as->frames[i - 1].end;
}

/* ---- calls ---- */

struct call {
    const struct as_macro *macro;
    struct as_buf text; /* of all arguments */
    size_t *from, *to;  /* of each in text */
    bool *given;
};

static bool store_argument(struct as *as, struct call *call, uint32_t i)
{
    const struct as_param *param = &call->macro->params[i];
    call->from[i] = call->text.bytes;
    if (param->vararg) {
        as_blanks(as);
        const char *start = as->p;
        const char *end = start;
        while (!as_at_end(as))
            end = ++as->p;
        as_buf_add(&call->text, start, (size_t)(end - start));
    } else {
        argument(as, &call->text);
    }
    call->to[i] = call->text.bytes;
    call->given[i] = call->to[i] > call->from[i];
    return !call->text.failed;
}

/* The parameter that name= at the cursor stands for, or n_params. */
static uint32_t named_argument(struct as *as, const struct as_macro *macro)
{
    const char *start = as->p;
    const char *name;
    size_t len;
    uint32_t i = macro->n_params;
    if (as_name(as, &name, &len) && as->p < as->end && *as->p == '=' &&
        !(as->end - as->p > 1 && as->p[1] == '='))
        for (i = 0; i < macro->n_params; i++)
            if (macro->params[i].name_len == len &&
                memcmp(macro->params[i].name, name, len) == 0)
                break;
    if (i < macro->n_params)
        as->p++;
    else
        as->p = start;
    return i;
}

static bool parse_arguments(struct as *as, struct call *call)
{
    const struct as_macro *macro = call->macro;
    bool named = false;
    for (uint32_t next = 0; !as_at_end(as); next++) {
        const char *at = as->p;
        uint32_t i = named_argument(as, macro);
        if (i < macro->n_params) {
            named = true;
        } else if (named) {
            as_error(as, at, "an argument without a name after one with a name");
            return false;
        } else {
            i = next;
        }
        if (i >= macro->n_params) {
            as_error(as, at, "macro '%.*s' takes %" PRIu32 " arguments",
                     (int)(macro->name_len > 64 ? 64 : macro->name_len), macro->name,
                     macro->n_params);
            return false;
        }
        if (!store_argument(as, call, i))
            return false;
        (void)as_take(as, ',');
    }
    return true;
}

/* Values of all parameters; defaults where nothing is given. */
static bool fill_values(struct as *as, const struct call *call, const char *at,
                        struct text *values)
{
    const struct as_macro *macro = call->macro;
    for (uint32_t i = 0; i < macro->n_params; i++) {
        const struct as_param *param = &macro->params[i];
        if (call->given[i]) {
            values[i].p = (const char *)call->text.data + call->from[i];
            values[i].len = call->to[i] - call->from[i];
        } else if (param->required && !param->value) {
            as_error(as, at, "macro '%.*s' needs a value for '%.*s'",
                     (int)(macro->name_len > 64 ? 64 : macro->name_len), macro->name,
                     (int)(param->name_len > 64 ? 64 : param->name_len), param->name);
            return false;
        } else {
            values[i] =
                (struct text){param->value ? param->value : "", param->value_len};
        }
    }
    return true;
}

static void call_macro(struct as *as, struct as_macro macro, const char *at)
{
    size_t n = macro.n_params ? macro.n_params : 1;
    struct call call = {.macro = &macro};
    struct text *values = calloc(n, sizeof *values);
    call.from = calloc(n * 2, sizeof *call.from);
    call.given = calloc(n, sizeof *call.given);
    if (!values || !call.from || !call.given) {
        as_out_of_memory(as);
    } else {
        call.to = call.from + n;
        uint32_t from = as->line;
        if (parse_arguments(as, &call) && fill_values(as, &call, at, values)) {
            struct as_buf out = {0};
            expand(as, (struct text){macro.body, macro.body_len}, macro.params, values,
                   macro.n_params, &out);
            as->n_expansions++;
            finish_line(as);
            push_text(as, &out, macro.line, from, 0);
        }
    }
    free(values);
    free(call.from);
    free(call.given);
    free(call.text.data);
}

bool as_macro_call(struct as *as, const char *name, size_t len)
{
    uint32_t index = as_map_get(&as->macro_map, name, len);
    if (index == 0 || as->macros[index].purged)
        return false;
    if (too_deep(as, name))
        return true;
    call_macro(as, as->macros[index], name);
    return true;
}

/* ---- repetitions ---- */

static void dir_rept(struct as *as, int arg)
{
    (void)arg;
    const char *at = as->p;
    int64_t count = 0;
    struct text body = {0};
    uint32_t from = as->line;
    if (too_deep(as, at))
        return;
    bool ok = as_absolute(as, &count);
    if (ok && count < 0) {
        as_error(as, at, "the count must not be negative");
        ok = false;
    }
    if (ok && !as_at_end(as)) {
        as_error(as, as->p, "unexpected text after the count");
        ok = false;
    }
    if (!take_body(as, at, rept_opens, rept_closes, &body) || !ok)
        return;
    finish_line(as);
    struct as_frame frame = {.begin = body.p,
                             .p = body.p,
                             .end = body.p + body.len,
                             .line = from + 1,
                             .begin_line = from + 1,
                             .from = from,
                             .repeat = (uint64_t)count - 1};
    if (count > 0 && body.len > 0)
        (void)as_frame_push(as, &frame);
}

static uint32_t count_lines(struct text body)
{
    uint32_t lines = 0;
    for (size_t i = 0; i < body.len; i++)
        lines += body.p[i] == '\n';
    return lines ? lines : 1;
}

/* .irp name, values...; arg 1: .irpc name, characters */
static void dir_irp(struct as *as, int characters)
{
    const char *at = as->p;
    struct as_param param = {0};
    struct as_buf values = {0};
    struct as_buf out = {0};
    struct text body = {0};
    const char *name;
    size_t len;
    uint32_t from = as->line;
    if (too_deep(as, at))
        return;
    bool ok = as_need_name(as, "a name", &name, &len) && as_expect(as, ',');
    /* Values, each ended by a newline, which none can contain. */
    while (ok && !as_at_end(as)) {
        argument(as, &values);
        as_buf_add(&values, "\n", 1);
        if (characters && !as_at_end(as)) {
            as_error(as, as->p, "expected one word");
            ok = false;
        }
        (void)as_take(as, ',');
    }
    ok = take_body(as, at, rept_opens, rept_closes, &body) && ok;
    if (ok) {
        param.name = name;
        param.name_len = (uint32_t)len;
        const char *v = (const char *)values.data;
        const char *end = v ? v + values.bytes : v;
        while (v < end && out.bytes + as->expanded <= AS_MAX_EXPANDED && !out.failed) {
            const char *nl = memchr(v, '\n', (size_t)(end - v));
            struct text value = {v, characters ? 1 : (size_t)(nl - v)};
            if (characters && *v == '\n')
                break;
            expand(as, body, &param, &value, 1, &out);
            v = characters ? v + 1 : nl + 1;
        }
        finish_line(as);
        push_text(as, &out, from + 1, from, count_lines(body));
    } else {
        free(out.data);
    }
    free(values.data);
}

static void dir_stray(struct as *as, int arg)
{
    static const char *const texts[] = {".endm without .macro", ".endr without .rept",
                                        "alternate macro syntax is not supported"};
    as_error(as, as->p, "%s", texts[arg]);
}

/* arg: 0 .error, 1 .warning, 2 .err, 3 .print */
static void dir_message(struct as *as, int which)
{
    static const char *const standard[] = {".error is reached", ".warning is reached",
                                           ".err is reached", ""};
    struct as_buf text = {0};
    const char *at = as->p;
    if (!as_at_end(as) && !as_string(as, &text)) {
        as_error(as, as->error.at, "%s", as->error.text);
        free(text.data);
        return;
    }
    const char *s = text.data ? (const char *)text.data : standard[which];
    int len = text.data ? (int)(text.bytes > 400 ? 400 : text.bytes) : (int)strlen(s);
    if (which == 1)
        as_warning(as, at, "%.*s", len, s);
    else if (which != 3)
        as_error(as, at, "%.*s", len, s);
    free(text.data);
}

const struct as_directive as_directives_macro[] = {
    {".macro", dir_macro, 0},
    {".purgem", dir_purgem, 0},
    {".exitm", dir_exitm, 0},
    {".rept", dir_rept, 0},
    {".rep", dir_rept, 0},
    {".irp", dir_irp, 0},
    {".irpc", dir_irp, 1},
    {".endm", dir_stray, 0},
    {".endmacro", dir_stray, 0},
    {".endr", dir_stray, 1},
    {".altmacro", dir_stray, 2},
    {".noaltmacro", dir_stray, 2},
    {".error", dir_message, 0},
    {".warning", dir_message, 1},
    {".err", dir_message, 2},
    {".print", dir_message, 3},
    {NULL, NULL, 0},
};
