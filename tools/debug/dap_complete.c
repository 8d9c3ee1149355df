/* dap_complete.c: what the word before the cursor could become: a command of the debug
 * console where it is the first of its line, a variable, an argument or a register.
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "dap_internal.h"

struct list {
    struct json *j;
    size_t start, length; /* of the word that is replaced */
};

static void target(const struct list *list, const char *label, const char *type)
{
    json_object(list->j, NULL);
    json_text(list->j, "label", label);
    json_text(list->j, "type", type);
    json_u64(list->j, "start", list->start + 1); /* as columns: from 1 */
    json_u64(list->j, "length", list->length);
    json_close(list->j);
}

static void name(void *ctx, const char *text, bool variable)
{
    target(ctx, text, variable ? "variable" : "property");
}

/* Where the word that ends at end begins, of these characters besides letters and
 * digits. */
static size_t word_start(const char *text, size_t end, const char *more)
{
    while (end &&
           (isalnum((unsigned char)text[end - 1]) || strchr(more, text[end - 1])))
        end--;
    return end;
}

static void targets(struct dap *d, struct json *j, const struct context *c, char *text,
                    size_t end)
{
    const char *known;
    unsigned state = 0;
    text[end] = '\0';
    size_t start = word_start(text, end, "_-");
    struct list list = {j, start, end - start};
    bool first = strspn(text, " \t") == start;
    while (first && (known = ui_complete(text + start, &state)))
        target(&list, known, "keyword");
    start = word_start(text, end, "_");
    list = (struct list){j, start, end - start};
    if (!d->session.idle)
        names_begin(c, text + start, name, &list);
}

bool dap_complete(struct dap *d, const char *command, const struct json_t *request,
                  const struct json_t *args)
{
    if (strcmp(command, "completions") != 0)
        return false;
    const char *text = member_text(args, "text", "");
    int64_t column = member_int(args, "column", 0);
    int64_t frame = member_int(args, "frameId", 0);
    size_t length = strlen(text);
    if (member_int(args, "line", 1) != 1 || column < 1 ||
        (uint64_t)column > length + 1) {
        reply_error(d, request, "completions: line 1 has columns 1 to %zu", length + 1);
        return true;
    }
    char *copy = strdup(text);
    struct context c;
    struct reply r;
    (void)dap_context(d,
                      frame ? dap_frame_thread(frame)
                            : dap_thread(d, d->session.group, d->session.wave),
                      &c);
    reply_begin(d, &r, request);
    json_array(&r.j, "targets");
    if (copy)
        targets(d, &r.j, &c, copy, (size_t)column - 1);
    json_close(&r.j);
    reply_end(d, &r);
    free(copy);
    return true;
}
