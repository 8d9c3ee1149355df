/* dap_show.c: requests of the Debug Adapter Protocol that look: threads, frames,
 * variables, memory, code.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dap_internal.h"
#include "isa.h"

#define FRAMES_PER_THREAD 16
#define MAX_REFERENCES    100000u
#define MAX_READ          (1u << 20)

enum scope { SCOPE_LOCALS, SCOPE_VGPRS, SCOPE_SGPRS, SCOPE_SPECIAL, SCOPE_VALUE };

struct reference {
    enum scope scope;
    int64_t thread;
    struct value *value; /* SCOPE_VALUE: what is inside of it */
    char expression[256];
};

void dap_forget(struct dap *d)
{
    for (unsigned i = 0; i < d->n_refs; i++)
        free(d->refs[i].value);
    free(d->refs);
    d->refs = NULL;
    d->n_refs = 0;
}

/* A number for it, from 1; 0: out of memory. */
static uint64_t refer(struct dap *d, enum scope scope, int64_t thread,
                      const struct value *value, const char *expression)
{
    if (d->n_refs == MAX_REFERENCES)
        return 0;
    struct reference *bigger = realloc(d->refs, (d->n_refs + 1) * sizeof *bigger);
    if (!bigger)
        return 0;
    d->refs = bigger;
    struct reference *r = &bigger[d->n_refs++];
    *r = (struct reference){.scope = scope, .thread = thread};
    (void)snprintf(r->expression, sizeof r->expression, "%s", expression);
    if (value && (r->value = malloc(sizeof *value)))
        *r->value = *value;
    return d->n_refs;
}

int64_t dap_thread(const struct dap *d, uint64_t group, unsigned wave)
{
    return (int64_t)(group * d->waves_per_group + wave + 1);
}

bool dap_context(struct dap *d, int64_t thread, struct context *c)
{
    uint64_t n = thread > 0 ? (uint64_t)thread - 1 : UINT64_MAX;
    return context_of(c, &d->session.target, &d->session.program,
                      n / d->waves_per_group, (unsigned)(n % d->waves_per_group),
                      d->session.lane);
}

static void threads(struct dap *d, const struct json_t *request)
{
    const struct target *t = &d->session.target;
    struct reply r;
    struct tg_wave w;
    reply_begin(d, &r, request);
    json_array(&r.j, "threads");
    unsigned n = t->ops->n_waves(t->ctx);
    if (!n) { /* clients want one */
        json_object(&r.j, NULL);
        json_u64(&r.j, "id", 1);
        json_text(&r.j, "name", d->program ? "the program" : "no wave is in flight");
        json_close(&r.j);
    }
    for (unsigned i = 0; i < n; i++) {
        char name[160];
        if (!t->ops->wave(t->ctx, i, &w))
            continue;
        json_object(&r.j, NULL);
        json_u64(&r.j, "id", (uint64_t)dap_thread(d, w.group, w.wave));
        (void)snprintf(name, sizeof name, "wave %" PRIu64 ".%u (%u,%u,%u) %s", w.group,
                       w.wave, w.workgroup[0], w.workgroup[1], w.workgroup[2],
                       w.view.doing == EMU_DOING_RUN ? "" : tg_doing(w.view.doing));
        json_text(&r.j, "name", name);
        json_close(&r.j);
    }
    json_close(&r.j);
    reply_end(d, &r);
}

static void source_of(struct json *j, const char *file)
{
    char path[4096];
    const char *slash = strrchr(file, '/');
    json_object(j, "source");
    json_text(j, "name", slash ? slash + 1 : file);
    json_text(j, "path", realpath(file, path) ? path : file);
    json_close(j);
}

static void stack_trace(struct dap *d, const struct json_t *request,
                        const struct json_t *args)
{
    struct context c;
    struct frame f[MAX_FRAMES];
    int64_t thread = member_int(args, "threadId", 0);
    if (!dap_context(d, thread, &c)) {
        reply_error(d, request, "thread %" PRId64 " is not there", thread);
        return;
    }
    unsigned n = frames_of(&c, f, MAX_FRAMES);
    int64_t start = member_int(args, "startFrame", 0);
    int64_t levels = member_int(args, "levels", 0);
    struct reply r;
    reply_begin(d, &r, request);
    json_array(&r.j, "stackFrames");
    for (unsigned i = 0; i < n; i++) {
        char pc[32];
        if ((int64_t)i < start || (levels > 0 && (int64_t)i >= start + levels))
            continue;
        json_object(&r.j, NULL);
        json_u64(&r.j, "id", (uint64_t)thread * FRAMES_PER_THREAD + i);
        json_text(&r.j, "name", f[i].function);
        json_u64(&r.j, "line", f[i].line);
        json_u64(&r.j, "column", f[i].column);
        if (f[i].line)
            source_of(&r.j, f[i].file);
        (void)snprintf(pc, sizeof pc, "0x%" PRIx64, f[i].pc);
        json_text(&r.j, "instructionPointerReference", pc);
        json_close(&r.j);
    }
    json_close(&r.j);
    json_u64(&r.j, "totalFrames", n);
    reply_end(d, &r);
}

static void scopes(struct dap *d, const struct json_t *request,
                   const struct json_t *args)
{
    struct context c;
    char vgprs[40];
    int64_t thread = member_int(args, "frameId", 0) / FRAMES_PER_THREAD;
    if (!dap_context(d, thread, &c)) {
        reply_error(d, request, "there is no such frame");
        return;
    }
    (void)snprintf(vgprs, sizeof vgprs, "VGPRs of lane %u", c.lane);
    const char *const names[] = {"Locals", vgprs, "SGPRs", "Special"};
    struct reply r;
    reply_begin(d, &r, request);
    json_array(&r.j, "scopes");
    for (unsigned i = 0; i < 4; i++) {
        json_object(&r.j, NULL);
        json_text(&r.j, "name", names[i]);
        json_text(&r.j, "presentationHint", i ? "registers" : "locals");
        json_u64(&r.j, "variablesReference", refer(d, (enum scope)i, thread, NULL, ""));
        json_bool(&r.j, "expensive", i == 1 || i == 2);
        json_close(&r.j);
    }
    json_close(&r.j);
    reply_end(d, &r);
}

/* Where the bytes are, for readMemory. */
static bool memory_reference(const struct value *v, int64_t thread, char *text,
                             size_t size)
{
    static const char *const spaces[] = {"", "lds", "scratch"};
    if (v->place != VALUE_MEMORY || v->space > EMU_SPACE_SCRATCH)
        return false;
    if (v->space == EMU_SPACE_GLOBAL)
        (void)snprintf(text, size, "0x%" PRIx64, v->address);
    else
        (void)snprintf(text, size, "%s:%" PRId64 ":0x%" PRIx64, spaces[v->space],
                       thread, v->address);
    return true;
}

/* What all values have: text, type, what is inside, where. */
static void value_fields(struct dap *d, struct json *j, const struct context *c,
                         int64_t thread, const struct value *v, const char *expression,
                         const char *key)
{
    char *text = malloc(8192), where[64];
    if (!text)
        abort(); /* a message cannot be left half written */
    value_text(c, v, 0, text, 8192);
    json_text(j, key, text);
    free(text);
    json_text(j, "type", v->type->name);
    unsigned children = value_children(c, v);
    json_u64(j, "variablesReference",
             children ? refer(d, SCOPE_VALUE, thread, v, expression) : 0);
    if (v->type->kind == VT_ARRAY)
        json_u64(j, "indexedVariables", children);
    if (memory_reference(v, thread, where, sizeof where))
        json_text(j, "memoryReference", where);
}

static void one_variable(struct dap *d, struct json *j, const struct context *c,
                         int64_t thread, const char *name, const char *expression,
                         const struct value *v)
{
    json_object(j, NULL);
    json_text(j, "name", name);
    json_text(j, "evaluateName", expression);
    value_fields(d, j, c, thread, v, expression, "value");
    json_close(j);
}

static void locals(struct dap *d, struct json *j, const struct context *c,
                   int64_t thread)
{
    enum { ROOM = 256 };
    struct source_variable *list = calloc(ROOM, sizeof *list);
    struct value *v = malloc(sizeof *v);
    unsigned n = list && v
                     ? source_variables(c->program->source,
                                        c->wave.view.pc - c->program->bias, list, ROOM)
                     : 0;
    for (unsigned i = 0; i < n; i++) {
        const char *why;
        if (list[i].global)
            continue;
        if (expr_variable(c, &list[i], v, &why)) {
            one_variable(d, j, c, thread, list[i].name, list[i].name, v);
            continue;
        }
        json_object(j, NULL);
        json_text(j, "name", list[i].name);
        json_text(j, "value", why);
        json_u64(j, "variablesReference", 0);
        json_close(j);
    }
    free(list);
    free(v);
}

static void named_registers(struct dap *d, struct json *j, const struct context *c,
                            int64_t thread, enum scope scope)
{
    static const char *const special[] = {"pc",   "exec",        "vcc",    "scc",
                                          "m0",   "mode",        "status", "trapsts",
                                          "lane", "instructions"};
    unsigned n = scope == SCOPE_VGPRS   ? c->wave.view.vgprs
                 : scope == SCOPE_SGPRS ? ISA_SEL_SGPR_LAST + 1
                                        : sizeof special / sizeof *special;
    struct value *v = malloc(sizeof *v);
    for (unsigned i = 0; v && i < n; i++) {
        char name[32];
        struct expr_error err;
        (void)snprintf(name, sizeof name, scope == SCOPE_VGPRS ? "$v%u" : "$s%u", i);
        if (scope == SCOPE_SPECIAL)
            (void)snprintf(name, sizeof name, "$%s", special[i]);
        if (expr_value(c, name, v, NULL, &err))
            one_variable(d, j, c, thread, name + 1, name, v);
    }
    free(v);
}

static void inside(struct dap *d, struct json *j, const struct context *c,
                   unsigned index, int64_t start, int64_t count)
{
    struct value *child = malloc(sizeof *child), *of = malloc(sizeof *of);
    char expression[256];
    if (!child || !of || !d->refs[index].value) {
        free(child);
        free(of);
        return;
    }
    *of = *d->refs[index].value;
    int64_t thread = d->refs[index].thread;
    (void)snprintf(expression, sizeof expression, "%s", d->refs[index].expression);
    unsigned n = value_children(c, of);
    for (unsigned i = 0; i < n && i < 65536; i++) {
        char name[64], path[340];
        if ((int64_t)i < start || (count > 0 && (int64_t)i >= start + count))
            continue;
        if (!value_child(c, of, i, child, name, sizeof name))
            continue;
        (void)snprintf(path, sizeof path, *name == '[' ? "%s%s" : "%s.%s", expression,
                       name);
        one_variable(d, j, c, thread, name, path, child);
    }
    free(child);
    free(of);
}

static void variables(struct dap *d, const struct json_t *request,
                      const struct json_t *args)
{
    struct context c;
    int64_t number = member_int(args, "variablesReference", 0);
    if (number < 1 || number > (int64_t)d->n_refs ||
        !dap_context(d, d->refs[number - 1].thread, &c)) {
        reply_error(d, request, "variablesReference %" PRId64 " stands for nothing now",
                    number);
        return;
    }
    enum scope scope = d->refs[number - 1].scope;
    int64_t thread = d->refs[number - 1].thread;
    struct reply r;
    reply_begin(d, &r, request);
    json_array(&r.j, "variables");
    if (scope == SCOPE_LOCALS)
        locals(d, &r.j, &c, thread);
    else if (scope == SCOPE_VALUE)
        inside(d, &r.j, &c, (unsigned)number - 1, member_int(args, "start", 0),
               member_int(args, "count", 0));
    else
        named_registers(d, &r.j, &c, thread, scope);
    json_close(&r.j);
    reply_end(d, &r);
}

int64_t dap_frame_thread(int64_t frame)
{
    return frame / FRAMES_PER_THREAD;
}

bool dap_child(struct dap *d, int64_t number, const char *name, int64_t *thread,
               char *text, size_t size)
{
    if (number < 1 || number > (int64_t)d->n_refs)
        return false;
    const struct reference *r = &d->refs[number - 1];
    *thread = r->thread;
    if (r->scope == SCOPE_VALUE)
        (void)snprintf(text, size, *name == '[' ? "%s%s" : "%s.%s", r->expression,
                       name);
    else
        (void)snprintf(text, size, r->scope == SCOPE_LOCALS ? "%s" : "$%s", name);
    return true;
}

void dap_value(struct dap *d, struct json *j, int64_t thread, const char *expression)
{
    struct context c;
    struct expr_error err;
    struct value *v = malloc(sizeof *v);
    (void)dap_context(d, thread, &c);
    if (v && expr_value(&c, expression, v, NULL, &err))
        value_fields(d, j, &c, thread, v, expression, "value");
    else
        json_text(j, "value", v ? err.text : "out of memory");
    free(v);
}

/* A command of the text front end: what it prints is the result. */
static void command(struct dap *d, const struct json_t *request, const char *text)
{
    char *out = NULL;
    size_t bytes = 0;
    struct reply r;
    d->ui.out = d->ui.err = open_memstream(&out, &bytes);
    bool ok = d->ui.out && ui_command(&d->ui, text);
    if (d->ui.out)
        (void)fclose(d->ui.out);
    d->ui.out = d->ui.err = NULL;
    if (ok) {
        reply_begin(d, &r, request);
        json_text(&r.j, "result", out);
        json_u64(&r.j, "variablesReference", 0);
        reply_end(d, &r);
    } else {
        reply_error(d, request, "%.900s", out ? out : "out of memory");
    }
    free(out);
}

static void evaluate(struct dap *d, const struct json_t *request,
                     const struct json_t *args)
{
    struct context c;
    struct expr_error err;
    const char *text = member_text(args, "expression", "");
    int64_t frame = member_int(args, "frameId", 0), thread = frame / FRAMES_PER_THREAD;
    if (!frame)
        thread = dap_thread(d, d->session.group, d->session.wave);
    (void)dap_context(d, thread, &c);
    struct value *v = malloc(sizeof *v);
    struct reply r;
    if (v && expr_value(&c, text, v, NULL, &err)) {
        reply_begin(d, &r, request);
        value_fields(d, &r.j, &c, thread, v, text, "result");
        reply_end(d, &r);
    } else if (v && strcmp(member_text(args, "context", ""), "repl") == 0) {
        command(d, request, text);
    } else {
        reply_error(d, request, "%s", v ? err.text : "out of memory");
    }
    free(v);
}

/* ---- memory and code ---- */

/* "0x10", "lds:THREAD:0x10", "scratch:THREAD:0x10". */
static bool parse_reference(struct dap *d, const char *text, struct context *c,
                            unsigned *space, uint64_t *address)
{
    const char *number = strrchr(text, ':');
    *space = strncmp(text, "lds:", 4) == 0       ? EMU_SPACE_LDS
             : strncmp(text, "scratch:", 8) == 0 ? EMU_SPACE_SCRATCH
                                                 : EMU_SPACE_GLOBAL;
    *c = (struct context){.target = &d->session.target,
                          .program = &d->session.program,
                          .index = TG_NO_WAVE};
    if (*space == EMU_SPACE_GLOBAL)
        return cli_parse_u64(text, address) == RD_OK;
    return dap_context(d, strtol(strchr(text, ':') + 1, NULL, 10), c) &&
           cli_parse_u64(number + 1, address) == RD_OK;
}

static char *base64(const uint8_t *data, size_t n)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = malloc((n + 2) / 3 * 4 + 1), *to = text;
    for (size_t i = 0; text && i < n; i += 3) {
        uint32_t v = (uint32_t)data[i] << 16 |
                     (i + 1 < n ? (uint32_t)data[i + 1] << 8 : 0) |
                     (i + 2 < n ? data[i + 2] : 0u);
        *to++ = digits[v >> 18];
        *to++ = digits[v >> 12 & 63];
        *to++ = i + 1 < n ? digits[v >> 6 & 63] : '=';
        *to++ = i + 2 < n ? digits[v & 63] : '=';
    }
    if (text)
        *to = '\0';
    return text;
}

static void read_memory(struct dap *d, const struct json_t *request,
                        const struct json_t *args)
{
    struct context c;
    unsigned space;
    uint64_t address;
    const char *text = member_text(args, "memoryReference", "");
    int64_t count = member_int(args, "count", 0);
    if (!parse_reference(d, text, &c, &space, &address)) {
        reply_error(d, request, "memoryReference '%.60s' is none", text);
        return;
    }
    if (count < 0 || count > MAX_READ) {
        reply_error(d, request, "count %" PRId64 ": 0 to %u", count, MAX_READ);
        return;
    }
    address += (uint64_t)member_int(args, "offset", 0);
    uint8_t *data = malloc((size_t)count + 1);
    int64_t n = 0;
    while (
        data && n < count &&
        tg_read(c.target, c.index, space, c.lane, address + (uint64_t)n, 1, data + n))
        n++;
    char *encoded = data ? base64(data, (size_t)n) : NULL, where[32];
    struct reply r;
    reply_begin(d, &r, request);
    (void)snprintf(where, sizeof where, "0x%" PRIx64, address);
    json_text(&r.j, "address", where);
    json_u64(&r.j, "unreadableBytes", (uint64_t)(count - n));
    json_text(&r.j, "data", encoded ? encoded : "");
    reply_end(d, &r);
    free(encoded);
    free(data);
}

/* One instruction of the answer; returns its length. */
static unsigned one_instruction(struct dap *d, struct json *j, const struct context *c,
                                uint64_t pc, bool there)
{
    char text[256], address[32], symbol[160];
    unsigned bytes = there ? instruction_text(c, pc, text, sizeof text) : 0;
    const struct source_line *l = program_line(&d->session.program, pc);
    json_object(j, NULL);
    (void)snprintf(address, sizeof address, "0x%" PRIx64, pc);
    json_text(j, "address", address);
    json_text(j, "instruction", bytes ? text : "(no code)");
    if (bytes && program_symbol(&d->session.program, pc, symbol, sizeof symbol))
        json_text(j, "symbol", symbol);
    if (bytes && l) {
        json_object(j, "location");
        json_text(j, "path", l->file);
        json_close(j);
        json_u64(j, "line", l->line);
    }
    json_close(j);
    return bytes ? bytes : 4;
}

/* The address that lies `back` instructions before pc: instructions are counted from
 * the beginning of the code around. false: there are not so many. */
static bool walk_back(const struct context *c, uint64_t pc, uint64_t back,
                      uint64_t *out)
{
    const struct program *p = c->program;
    uint64_t at = p->entry <= pc ? p->entry : pc, off, n = 0;
    const struct co_symbol *s =
        p->co && pc >= p->image ? co_symbol_near(p->co, pc - p->image, &off) : NULL;
    char text[256];
    if (s)
        at = pc - off;
    uint64_t begin = at;
    for (unsigned bytes; at < pc; at += bytes, n++)
        if (!(bytes = instruction_text(c, at, text, sizeof text)))
            return false;
    if (n < back)
        return false;
    for (at = begin, n -= back; n; n--)
        at += instruction_text(c, at, text, sizeof text);
    *out = at;
    return true;
}

static void disassemble(struct dap *d, const struct json_t *request,
                        const struct json_t *args)
{
    struct context c;
    unsigned space;
    uint64_t at, start;
    const char *text = member_text(args, "memoryReference", "");
    int64_t count = member_int(args, "instructionCount", 0);
    int64_t offset = member_int(args, "instructionOffset", 0);
    if (!parse_reference(d, text, &c, &space, &at) || space != EMU_SPACE_GLOBAL ||
        count < 0 || count > 100000 || offset > 100000 || offset < -100000) {
        reply_error(d, request,
                    "disassemble: an address and at most 100000 instructions");
        return;
    }
    at += (uint64_t)member_int(args, "offset", 0);
    struct reply r;
    reply_begin(d, &r, request);
    json_array(&r.j, "instructions");
    for (; offset < 0 && !walk_back(&c, at, (uint64_t)-offset, &start);
         offset++, count--)
        if (count > 0)
            (void)one_instruction(d, &r.j, &c, at - (uint64_t)-offset * 4, false);
    if (offset < 0)
        at = start;
    for (; offset > 0; offset--) {
        char unused[256];
        unsigned bytes = instruction_text(&c, at, unused, sizeof unused);
        at += bytes ? bytes : 4;
    }
    for (; count > 0; count--)
        at += one_instruction(d, &r.j, &c, at, true);
    json_close(&r.j);
    reply_end(d, &r);
}

static void data_info(struct dap *d, const struct json_t *request,
                      const struct json_t *args)
{
    struct context c;
    struct expr_error err;
    int64_t number = member_int(args, "variablesReference", 0);
    int64_t frame = member_int(args, "frameId", 0), thread = frame / FRAMES_PER_THREAD;
    const char *name = member_text(args, "name", "");
    char expression[600], id[700];
    (void)snprintf(expression, sizeof expression, "%.500s", name);
    if (number >= 1 && number <= (int64_t)d->n_refs) {
        const struct reference *ref = &d->refs[number - 1];
        thread = ref->thread;
        if (ref->scope == SCOPE_VALUE)
            (void)snprintf(expression, sizeof expression,
                           *name == '[' ? "%s%.300s" : "%s.%.300s", ref->expression,
                           name);
        else if (ref->scope != SCOPE_LOCALS)
            (void)snprintf(expression, sizeof expression, "$%.300s", name);
    } else if (!frame) {
        thread = dap_thread(d, d->session.group, d->session.wave);
    }
    struct value *v = malloc(sizeof *v);
    (void)snprintf(err.text, sizeof err.text, "out of memory");
    (void)dap_context(d, thread, &c); /* global memory needs no wave */
    bool ok = v && expr_value(&c, expression, v, NULL, &err);
    if (ok && v->place != VALUE_MEMORY && v->place != VALUE_REGISTER) {
        (void)snprintf(err.text, sizeof err.text,
                       "it lies neither in memory nor in a register");
        ok = false;
    }
    struct reply r;
    reply_begin(d, &r, request);
    (void)snprintf(id, sizeof id, "%" PRId64 " %u %s", thread, d->session.lane,
                   expression);
    json_text(&r.j, "dataId", ok ? id : NULL);
    json_text(&r.j, "description", ok ? expression : err.text);
    if (ok) {
        json_array(&r.j, "accessTypes");
        json_text(&r.j, NULL, "read");
        json_text(&r.j, NULL, "write");
        json_text(&r.j, NULL, "readWrite");
        json_close(&r.j);
    }
    reply_end(d, &r);
    free(v);
}

static void exception_info(struct dap *d, const struct json_t *request)
{
    char text[1024];
    struct reply r;
    fault_text(&d->ui, text, sizeof text);
    if (!*text) {
        reply_error(d, request, "no wave has faulted");
        return;
    }
    reply_begin(d, &r, request);
    json_text(&r.j, "exceptionId",
              emu_fault_name(emu_stepper_fault(d->session.stepper)->kind));
    json_text(&r.j, "description", text);
    json_text(&r.j, "breakMode", "always");
    reply_end(d, &r);
}

bool dap_look(struct dap *d, const char *name, const struct json_t *request,
              const struct json_t *args)
{
    if (strcmp(name, "threads") == 0)
        threads(d, request);
    else if (strcmp(name, "stackTrace") == 0)
        stack_trace(d, request, args);
    else if (strcmp(name, "scopes") == 0)
        scopes(d, request, args);
    else if (strcmp(name, "variables") == 0)
        variables(d, request, args);
    else if (strcmp(name, "evaluate") == 0)
        evaluate(d, request, args);
    else if (strcmp(name, "readMemory") == 0)
        read_memory(d, request, args);
    else if (strcmp(name, "disassemble") == 0)
        disassemble(d, request, args);
    else if (strcmp(name, "dataBreakpointInfo") == 0)
        data_info(d, request, args);
    else if (strcmp(name, "exceptionInfo") == 0)
        exception_info(d, request);
    else if (strcmp(name, "setExceptionBreakpoints") == 0)
        reply_done(d, request); /* a fault always stops */
    else
        return false;
    return true;
}
