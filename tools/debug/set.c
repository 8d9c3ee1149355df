/* set.c: the command `set`: values, and how the debugger behaves.
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <string.h>

#include "cli.h"
#include "inferior.h"
#include "ui.h"

#define WHY 200

/* The '=' of an assignment; NULL: there is none. */
static const char *assignment(const char *text)
{
    for (const char *at = text; (at = strchr(at, '=')) != NULL; at++) {
        if (at[1] == '=') {
            at++;
            continue;
        }
        if (at > text && !strchr("<>!", at[-1]))
            return at;
    }
    return NULL;
}

static bool set_value(struct ui *u, const char *args, const char *equals)
{
    char to[512], why[WHY];
    size_t n = (size_t)(equals - args);
    while (n && isspace((unsigned char)args[n - 1]))
        n--;
    if (n >= sizeof to)
        return ui_error(u, "set: the expression is too long");
    memcpy(to, args, n);
    to[n] = '\0';
    return session_set(u->session, to, equals + 1, why) ? show_print(u, to)
                                                        : ui_error(u, "%s", why);
}

bool ui_set(struct ui *u, const char *args)
{
    uint64_t n;
    if (strncmp(args, "limit ", 6) == 0 && cli_parse_u64(args + 6, &n) == RD_OK) {
        u->session->limit = n;
        return true;
    }
    if (strncmp(args, "stop-at-end ", 12) == 0 && u->inferior &&
        (strcmp(args + 12, "on") == 0 || strcmp(args + 12, "off") == 0)) {
        u->inferior->stop_at_end = args[13] == 'n';
        return true;
    }
    if (strncmp(args, "var ", 4) == 0)
        args += 4 + strspn(args + 4, " \t");
    const char *equals = assignment(args);
    if (equals && !u->session->idle)
        return set_value(u, args, equals);
    return ui_error(u,
                    "set EXPRESSION = VALUE; set limit STEPS (0: none): how far one "
                    "command runs%s",
                    u->inferior ? "; set stop-at-end on|off" : "");
}
