/* dap_set.c: requests of the Debug Adapter Protocol that change something.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dap_internal.h"

#define WHY 200

/* Do it for the wave of a thread, and lane of the session. */
static bool assign(struct dap *d, int64_t thread, const char *to, const char *value,
                   char *why)
{
    struct session *s = &d->session;
    struct context c;
    uint64_t group = s->group;
    unsigned wave = s->wave;
    if (!dap_context(d, thread, &c)) {
        (void)snprintf(why, WHY, "thread %" PRId64 " is not there", thread);
        return false;
    }
    s->group = c.wave.group;
    s->wave = c.wave.wave;
    bool ok = session_set(s, to, value, why);
    s->group = group;
    s->wave = wave;
    return ok;
}

static void set_expression(struct dap *d, const struct json_t *request, int64_t thread,
                           const char *to, const char *value)
{
    char why[WHY] = "";
    struct reply r;
    if (!assign(d, thread, to, value, why)) {
        reply_error(d, request, "%s", why);
        return;
    }
    reply_begin(d, &r, request);
    dap_value(d, &r.j, thread, to);
    reply_end(d, &r);
}

static int digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                 "0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Bytes of base64; returns how many, -1: it is none. */
static long decode(const char *text, uint8_t *out)
{
    long n = 0;
    uint32_t bits = 0;
    unsigned have = 0;
    for (; *text && *text != '='; text++) {
        int v = digit(*text);
        if (v < 0)
            return -1;
        bits = bits << 6 | (uint32_t)v;
        have += 6;
        if (have >= 8) {
            have -= 8;
            out[n++] = (uint8_t)(bits >> have);
        }
    }
    return text[strspn(text, "=")] ? -1 : n;
}

static void write_memory(struct dap *d, const struct json_t *request,
                         const struct json_t *args)
{
    const char *text = member_text(args, "memoryReference", "");
    const char *data = member_text(args, "data", "");
    uint8_t *bytes = malloc(strlen(data) + 1);
    long n = bytes ? decode(data, bytes) : -1;
    uint64_t address;
    char why[WHY];
    struct reply r;
    if (n < 0) {
        reply_error(d, request, "data is not base64");
    } else if (cli_parse_u64(text, &address) != RD_OK) {
        reply_error(d, request,
                    "memoryReference '%.60s': global memory alone is written", text);
    } else if (n && !session_write(&d->session,
                                   address + (uint64_t)member_int(args, "offset", 0),
                                   bytes, (unsigned)n, why)) {
        reply_error(d, request, "%s", why);
    } else {
        reply_begin(d, &r, request);
        json_u64(&r.j, "bytesWritten", (uint64_t)n);
        reply_end(d, &r);
    }
    free(bytes);
}

bool dap_change(struct dap *d, const char *command, const struct json_t *request,
                const struct json_t *args)
{
    char to[400];
    int64_t thread = 0;
    const char *value = member_text(args, "value", "");
    if (strcmp(command, "setVariable") == 0) {
        int64_t number = member_int(args, "variablesReference", 0);
        if (dap_child(d, number, member_text(args, "name", ""), &thread, to, sizeof to))
            set_expression(d, request, thread, to, value);
        else
            reply_error(d, request,
                        "variablesReference %" PRId64 " stands for nothing now",
                        number);
        return true;
    }
    if (strcmp(command, "setExpression") == 0) {
        int64_t frame = member_int(args, "frameId", 0);
        thread = frame ? dap_frame_thread(frame)
                       : dap_thread(d, d->session.group, d->session.wave);
        set_expression(d, request, thread, member_text(args, "expression", ""), value);
        return true;
    }
    if (strcmp(command, "writeMemory") != 0)
        return false;
    write_memory(d, request, args);
    return true;
}
