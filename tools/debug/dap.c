/* dap.c: the Debug Adapter Protocol: messages, and requests that run.
 *
 * One client, one kernel, one thread: while waves run, what comes in is looked at every
 * few thousand steps, pause and disconnect stop them, and the rest waits. A wave is a
 * thread of the protocol. SPDX-License-Identifier: MIT
 */
#include "dap.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dap_internal.h"

#define MAX_MESSAGE (16u << 20)

/* ---- messages ---- */

static void send_text(struct dap *d, const char *text, size_t bytes)
{
    fprintf(d->out, "Content-Length: %zu\r\n\r\n", bytes);
    (void)fwrite(text, 1, bytes, d->out);
    (void)fflush(d->out);
}

static void message_begin(struct dap *d, struct reply *r, const char *type)
{
    r->text = NULL;
    r->out = open_memstream(&r->text, &r->bytes);
    if (!r->out)
        abort(); /* no memory for a message of some bytes */
    r->j = json_begin(r->out);
    json_u64(&r->j, "seq", ++d->seq);
    json_text(&r->j, "type", type);
}

static void message_end(struct dap *d, struct reply *r)
{
    json_end(&r->j);
    (void)fclose(r->out);
    send_text(d, r->text, r->bytes);
    free(r->text);
}

static void response(struct dap *d, struct reply *r, const struct json_t *request,
                     bool success)
{
    int64_t seq = member_int(request, "seq", 0);
    message_begin(d, r, "response");
    json_u64(&r->j, "request_seq", seq > 0 ? (uint64_t)seq : 0);
    json_bool(&r->j, "success", success);
    json_text(&r->j, "command", member_text(request, "command", ""));
}

void reply_begin(struct dap *d, struct reply *r, const struct json_t *request)
{
    response(d, r, request, true);
    json_object(&r->j, "body");
}

void reply_end(struct dap *d, struct reply *r)
{
    message_end(d, r);
}

void reply_done(struct dap *d, const struct json_t *request)
{
    struct reply r;
    reply_begin(d, &r, request); /* an empty body: some clients want one */
    message_end(d, &r);
}

void reply_error(struct dap *d, const struct json_t *request, const char *fmt, ...)
{
    struct reply r;
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    response(d, &r, request, false);
    json_text(&r.j, "message", text);
    json_object(&r.j, "body");
    json_object(&r.j, "error");
    json_u64(&r.j, "id", 1);
    json_text(&r.j, "format", text);
    json_bool(&r.j, "showUser", true);
    message_end(d, &r);
}

static void event_begin(struct dap *d, struct reply *r, const char *name)
{
    message_begin(d, r, "event");
    json_text(&r->j, "event", name);
    json_object(&r->j, "body");
}

static void event(struct dap *d, const char *name)
{
    struct reply r;
    event_begin(d, &r, name);
    message_end(d, &r);
}

void dap_output(struct dap *d, const char *category, const char *text)
{
    struct reply r;
    event_begin(d, &r, "output");
    json_text(&r.j, "category", category);
    json_text(&r.j, "output", text);
    message_end(d, &r);
}

/* The next message as text; NULL: there are no more. What breaks the protocol is told
 * on stderr and ends it: where the next message begins is not known then. */
static char *next_message(struct dap *d, size_t *bytes)
{
    char line[256];
    uint64_t length = 0;
    bool known = false;
    while (fgets(line, sizeof line, d->in)) {
        line[strcspn(line, "\r\n")] = '\0';
        if (!*line && known)
            break;
        if (strncasecmp(line, "Content-Length:", 15) == 0) {
            known = cli_parse_u64(line + 15 + strspn(line + 15, " "), &length) == RD_OK;
            if (!known || length > MAX_MESSAGE) {
                (void)cli_error(CLI_FAILED, "Content-Length '%.60s': 0 to %u bytes",
                                line + 15, MAX_MESSAGE);
                return NULL;
            }
        } else if (*line && !strchr(line, ':')) {
            (void)cli_error(CLI_FAILED, "'%.60s' is no header of a message", line);
            return NULL;
        }
    }
    if (!known)
        return NULL;
    char *text = malloc(length + 1);
    if (!text || fread(text, 1, length, d->in) != length) {
        free(text);
        (void)cli_error(CLI_FAILED, "a message ends before its %" PRIu64 " bytes",
                        length);
        return NULL;
    }
    text[length] = '\0';
    *bytes = length;
    return text;
}

/* ---- launch ---- */

/* What cli_error prints meanwhile goes to a file, and from there into the answer. */
struct told {
    int fd, saved;
    FILE *file;
};

static struct told told_begin(void)
{
    FILE *file = tmpfile();
    struct told t = {file ? fileno(file) : -1, -1, file};
    (void)fflush(stderr);
    if (t.fd >= 0) {
        t.saved = dup(STDERR_FILENO);
        if (t.saved >= 0)
            (void)dup2(t.fd, STDERR_FILENO);
    }
    return t;
}

static void told_end(struct told *t, char *text, size_t size)
{
    ssize_t n = 0;
    (void)fflush(stderr);
    *text = '\0';
    if (t->saved < 0) {
        if (t->file)
            (void)fclose(t->file);
        return;
    }
    (void)dup2(t->saved, STDERR_FILENO);
    n = pread(t->fd, text, size - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (strncmp(text, "error: ", 7) == 0)
        memmove(text, text + 7, strlen(text + 7) + 1);
    (void)close(t->saved);
    (void)fclose(t->file);
}

char *dap_keep(struct dap *d, const char *text)
{
    char **bigger = realloc(d->strings, (d->n_strings + 1) * sizeof *bigger);
    char *copy = bigger ? strdup(text) : NULL;
    if (bigger)
        d->strings = bigger;
    if (copy)
        d->strings[d->n_strings++] = copy;
    return copy;
}

static int one_option(struct dap *d, int option, const char *name,
                      const struct json_t *value)
{
    char text[4096];
    if (!value)
        return CLI_OK;
    if (!as_text(value, text, sizeof text))
        return cli_error(CLI_USAGE, "%s: a string, a number or a list of numbers",
                         name);
    optarg = dap_keep(d, text);
    return optarg ? kernel_option(&d->k, option, name)
                  : cli_error(CLI_FAILED, "out of memory");
}

static int options(struct dap *d, const struct json_t *args)
{
    static const struct {
        const char *name, *option;
        int number;
    } known[] = {{"kernel", "kernel", KERNEL_OPT_KERNEL},
                 {"raw", "raw", KERNEL_OPT_RAW},
                 {"kd", "kd", KERNEL_OPT_KD},
                 {"entryOffset", "entry-offset", KERNEL_OPT_ENTRY},
                 {"grid", "grid", KERNEL_OPT_GRID},
                 {"block", "block", KERNEL_OPT_BLOCK},
                 {"wave", "wave", KERNEL_OPT_WAVE},
                 {"dynamicLds", "dynamic-lds", KERNEL_OPT_DYNAMIC_LDS},
                 {"seed", "seed", KERNEL_OPT_SEED},
                 {"simd", "simd", KERNEL_OPT_SIMD},
                 {"dots", "dots", KERNEL_OPT_DOTS}};
    const struct json_t *list = member(args, "args");
    int status = kernel_options_begin(&d->k, (int)elements(list) + 1);
    for (size_t i = 0; i < sizeof known / sizeof *known && status == CLI_OK; i++)
        status = one_option(d, known[i].number, known[i].option,
                            member(args, known[i].name));
    for (size_t i = 0; i < elements(list) && status == CLI_OK; i++)
        status = one_option(d, KERNEL_OPT_ARG, "arg", element(list, i));
    const char *program = member_text(args, "program", NULL);
    if (status == CLI_OK && program)
        d->k.object_path = dap_keep(d, program);
    if (status == CLI_OK && !d->k.object_path == !d->k.raw_path)
        status =
            cli_error(CLI_USAGE, "launch takes either program (a code object) or raw");
    return status;
}

static void poll_input(void *ctx);

/* What a log point says. */
static void on_log(void *ctx, const char *text)
{
    dap_output(ctx, "console", text);
}

static void launch(struct dap *d, const struct json_t *request,
                   const struct json_t *args)
{
    char text[1024];
    if (d->launched) {
        reply_error(d, request, "a kernel has been launched already");
        return;
    }
    bool program = member(args, "command") != NULL;
    struct told t = told_begin();
    int status = program ? dap_program_launch(d, args) : options(d, args);
    if (status == CLI_OK && !program)
        status = session_begin(&d->session, &d->k);
    told_end(&t, text, sizeof text);
    if (status != CLI_OK) {
        session_end(&d->session);
        memset(&d->session, 0, sizeof d->session);
        kernel_options_end(&d->k);
        d->k = (struct kernel_options)KERNEL_DEFAULTS;
        reply_error(d, request, "%s", *text ? text : "cannot launch");
        return;
    }
    d->launched = true;
    d->session.poll = poll_input;
    d->session.poll_ctx = d;
    d->session.log = on_log;
    int64_t limit = member_int(args, "limit", 0);
    d->session.limit = limit > 0 ? (uint64_t)limit : 0;
    d->stop_on_entry = member_bool(args, "stopOnEntry", false);
    d->stop_at_end = member_bool(args, "stopAtEnd", false);
    d->waves_per_group =
        program ? 1 : emu_stepper_launch(d->session.stepper)->waves_per_group;
    d->ui = (struct ui){.session = &d->session,
                        .inferior = program ? &d->inferior : NULL,
                        .target = &d->session.target,
                        .program = &d->session.program};
    reply_done(d, request);
    event(d, "initialized");
}

static void capabilities(struct dap *d, const struct json_t *request)
{
    static const char *const supported[] = {"supportsConfigurationDoneRequest",
                                            "supportsFunctionBreakpoints",
                                            "supportsConditionalBreakpoints",
                                            "supportsEvaluateForHovers",
                                            "supportsStepBack",
                                            "supportsReadMemoryRequest",
                                            "supportsDisassembleRequest",
                                            "supportsInstructionBreakpoints",
                                            "supportsDataBreakpoints",
                                            "supportsSteppingGranularity",
                                            "supportsTerminateRequest",
                                            "supportsExceptionInfoRequest",
                                            "supportsHitConditionalBreakpoints",
                                            "supportsSetVariable",
                                            "supportsSetExpression",
                                            "supportsWriteMemoryRequest",
                                            "supportsLogPoints",
                                            "supportsCompletionsRequest"};
    struct reply r;
    reply_begin(d, &r, request);
    for (size_t i = 0; i < sizeof supported / sizeof *supported; i++)
        json_bool(&r.j, supported[i], true);
    reply_end(d, &r);
}

/* ---- running ---- */

/* What came in while waves run: stop them if it says so; it is answered afterwards. */
static void poll_input(void *ctx)
{
    struct dap *d = ctx;
    struct pollfd p = {.fd = fileno(d->in), .events = POLLIN};
    dap_program_output(d);
    while (d->n_queue < sizeof d->queue / sizeof *d->queue && poll(&p, 1, 0) > 0) {
        size_t bytes;
        char why[200];
        char *text = next_message(d, &bytes);
        if (!text) {
            d->done = true;
            d->session.interrupted = 1;
            return;
        }
        struct json_t *m = message_parse(text, bytes, why);
        const char *command = member_text(m, "command", "");
        if (strcmp(command, "pause") == 0 || strcmp(command, "disconnect") == 0 ||
            strcmp(command, "terminate") == 0)
            d->session.interrupted = 1;
        message_free(m);
        d->queue[d->n_queue++] = text;
    }
}

void dap_ended(struct dap *d, unsigned status)
{
    struct reply r;
    event_begin(d, &r, "exited");
    json_u64(&r.j, "exitCode", status);
    message_end(d, &r);
    event(d, "terminated");
}

/* Tell why it stands. */
void dap_tell_stop(struct dap *d)
{
    static const char *const reasons[] = {
        [STOPPED_BEGIN] = "entry",      [STOPPED_STEP] = "step",
        [STOPPED_POINT] = "breakpoint", [STOPPED_WATCH] = "data breakpoint",
        [STOPPED_WAVE_END] = "step",    [STOPPED_FAULT] = "exception",
        [STOPPED_END] = "pause",        [STOPPED_LIMIT] = "pause",
        [STOPPED_INTERRUPT] = "pause",  [STOPPED_ERROR] = "exception"};
    struct session *s = &d->session;
    const struct stop *stop = &s->stop;
    char *text = NULL;
    size_t bytes;
    dap_forget(d);
    if (stop->kind == STOPPED_END && !d->stop_at_end && !d->program) {
        dap_ended(d, 0);
        return;
    }
    d->ui.out = open_memstream(&text, &bytes);
    show_stop(&d->ui);
    (void)fclose(d->ui.out);
    d->ui.out = NULL;
    if (stop->kind != STOPPED_STEP)
        dap_output(d, "console", text);
    struct reply r;
    event_begin(d, &r, "stopped");
    json_text(&r.j, "reason", reasons[stop->kind]);
    text[strcspn(text, "\n")] = '\0';
    json_text(&r.j, "description", text);
    if (stop->kind == STOPPED_FAULT)
        json_text(&r.j, "text", text);
    json_u64(&r.j, "threadId", (uint64_t)dap_thread(d, s->group, s->wave));
    json_bool(&r.j, "allThreadsStopped", true);
    if (stop->kind == STOPPED_POINT || stop->kind == STOPPED_WATCH) {
        json_array(&r.j, "hitBreakpointIds");
        json_u64(&r.j, NULL, stop->point);
        json_close(&r.j);
    }
    message_end(d, &r);
    free(text);
}

void dap_tell_pause(struct dap *d, const char *text)
{
    struct reply r;
    dap_forget(d);
    event_begin(d, &r, "stopped");
    json_text(&r.j, "reason", "pause");
    json_text(&r.j, "description", text);
    json_u64(&r.j, "threadId", 1);
    json_bool(&r.j, "allThreadsStopped", true);
    message_end(d, &r);
}

void dap_point_changed(struct dap *d, const struct point *p)
{
    struct reply r;
    const struct source_line *l = program_line(&d->session.program, p->pcs[0]);
    event_begin(d, &r, "breakpoint");
    json_text(&r.j, "reason", "changed");
    json_object(&r.j, "breakpoint");
    json_u64(&r.j, "id", p->number);
    json_bool(&r.j, "verified", true);
    if (l)
        json_u64(&r.j, "line", l->line);
    message_end(d, &r);
}

/* A thread that the request names becomes the one that steps. */
static bool choose_thread(struct dap *d, const struct json_t *request,
                          const struct json_t *args)
{
    struct context c;
    int64_t thread = member_int(args, "threadId", 0);
    if (!thread)
        return true;
    if (!dap_context(d, thread, &c)) {
        reply_error(d, request, "thread %" PRId64 " is not there: the wave has ended",
                    thread);
        return false;
    }
    d->session.group = c.wave.group;
    d->session.wave = c.wave.wave;
    return true;
}

static bool run(struct dap *d, const char *command, const struct json_t *request,
                const struct json_t *args)
{
    static const char *const names[] = {"continue", "next",     "stepIn",
                                        "stepOut",  "stepBack", "reverseContinue"};
    unsigned which = 0;
    while (which < 6 && strcmp(command, names[which]) != 0)
        which++;
    if (which == 6)
        return false;
    bool go_on = which == 0 || which == 5;
    if (d->session.idle && which) {
        reply_error(d, request, "%s: no kernel is stopped here", command);
        return true;
    }
    if (!go_on && !choose_thread(d, request, args))
        return true;
    struct session *s = &d->session;
    bool instruction =
        strcmp(member_text(args, "granularity", "statement"), "instruction") == 0;
    if (which == 0) {
        struct reply r;
        reply_begin(d, &r, request);
        json_bool(&r.j, "allThreadsContinued", true);
        reply_end(d, &r);
    } else {
        reply_done(d, request);
    }
    s->interrupted = 0;
    if (which == 0 && d->program) {
        dap_program_continue(d);
        return true;
    }
    if (which == 0 && s->at_end) {
        dap_ended(d, 0);
        return true;
    }
    if (which == 0 && s->at_fault) {
        dap_ended(d, 1);
        return true;
    }
    if (which == 0)
        session_continue(s);
    else if (which == 5)
        session_back(s);
    else if (which == 3)
        session_finish(s);
    else if (which == 4 && instruction)
        session_step_back(s, 1);
    else if (which == 4)
        session_line_back(s, true);
    else if (instruction)
        session_step(s, 1);
    else
        session_line(s, which == 1);
    if (!d->done)
        dap_tell_stop(d);
    return true;
}

static void configured(struct dap *d, const struct json_t *request)
{
    reply_done(d, request);
    if (d->configured)
        return;
    d->configured = true;
    if (d->program) {
        char why[200];
        struct point *p =
            d->stop_on_entry ? point_place(&d->session, "*+0", why) : NULL;
        if (p)
            p->temporary = true;
        dap_program_continue(d);
        return;
    }
    if (!d->stop_on_entry)
        session_continue(&d->session);
    if (!d->done)
        dap_tell_stop(d);
}

/* ---- requests ---- */

static void answer(struct dap *d, const struct json_t *request)
{
    const char *command = member_text(request, "command", "");
    const struct json_t *args = member(request, "arguments");
    if (strcmp(member_text(request, "type", ""), "request") != 0 || !*command) {
        reply_error(d, request, "not a request: type and command are expected");
    } else if (strcmp(command, "initialize") == 0) {
        capabilities(d, request);
    } else if (strcmp(command, "launch") == 0) {
        launch(d, request, args);
    } else if (strcmp(command, "attach") == 0) {
        reply_error(d, request, "attach: kernels are launched, not attached to");
    } else if (strcmp(command, "disconnect") == 0) {
        reply_done(d, request);
        d->done = true;
    } else if (!d->launched) {
        reply_error(d, request, "%.60s: no kernel has been launched", command);
    } else if (strcmp(command, "terminate") == 0) {
        reply_done(d, request);
        dap_program_end(d);
        dap_ended(d, 0);
    } else if (strcmp(command, "configurationDone") == 0) {
        configured(d, request);
    } else if (strcmp(command, "pause") == 0) {
        reply_done(d, request); /* it stands already, or has just been stopped */
    } else if (!run(d, command, request, args) &&
               !dap_set_points(d, command, request, args) &&
               !dap_change(d, command, request, args) &&
               !dap_complete(d, command, request, args) &&
               !dap_look(d, command, request, args)) {
        reply_error(d, request, "there is no request '%.60s' here", command);
    }
}

static void answer_text(struct dap *d, char *text, size_t bytes)
{
    char why[200];
    struct json_t *m = message_parse(text, bytes, why);
    if (!m)
        reply_error(d, NULL, "not JSON: %s", why);
    else if (!is_object(m))
        reply_error(d, m, "a message is an object");
    else
        answer(d, m);
    message_free(m);
    free(text);
}

static void serve(struct dap *d)
{
    while (!d->done) {
        size_t bytes;
        char *text;
        if (d->n_queue) {
            text = d->queue[0];
            bytes = strlen(text);
            memmove(d->queue, d->queue + 1, --d->n_queue * sizeof *d->queue);
        } else {
            text = dap_program_wait(d) ? next_message(d, &bytes) : NULL;
        }
        if (!text)
            break;
        answer_text(d, text, bytes);
    }
    while (d->n_queue)
        free(d->queue[--d->n_queue]);
    dap_forget(d);
    dap_program_end(d);
    objects_free(&d->inferior.objects);
    free(d->inferior.argv);
    if (d->launched)
        session_end(&d->session);
    kernel_options_end(&d->k);
    free(d->points);
    while (d->n_strings)
        free(d->strings[--d->n_strings]);
    free(d->strings);
}

/* One client on a port of this machine. */
static int accept_client(unsigned port, FILE **in, FILE **out)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), client = -1;
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(fd, (const struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 1) == 0)
        client = accept(fd, NULL, NULL);
    int saved = errno;
    if (fd >= 0)
        (void)close(fd);
    if (client < 0)
        return cli_error(CLI_FAILED, "port %u: %s", port, strerror(saved));
    int copy = dup(client);
    *in = fdopen(client, "r");
    *out = copy >= 0 ? fdopen(copy, "w") : NULL;
    return *in && *out ? CLI_OK : cli_error(CLI_FAILED, "out of memory");
}

int dap_serve(unsigned port)
{
    struct dap *d = calloc(1, sizeof *d);
    int status = CLI_OK;
    if (!d)
        return cli_error(CLI_FAILED, "out of memory");
    d->k = (struct kernel_options)KERNEL_DEFAULTS;
    d->in = stdin;
    d->out = stdout;
    if (message_missing())
        status = cli_error(CLI_FAILED, "no JSON: %s", message_missing());
    else if (port)
        status = accept_client(port, &d->in, &d->out);
    if (status == CLI_OK) {
        /* poll(2) must see what is not read yet: nothing is read ahead */
        (void)setvbuf(d->in, NULL, _IONBF, 0);
        serve(d);
    }
    if (port && d->in && d->out && d->in != stdin) {
        (void)fclose(d->in);
        (void)fclose(d->out);
    }
    free(d);
    return status;
}
