/* display.c: expressions that are printed at every stop.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "cli.h"
#include "ui.h"

/* One of them, or why it has no value here: the wave or a variable may be away. */
static bool show(struct ui *u, const struct ui_display *d, bool must)
{
    struct expr_error err;
    char label[16];
    (void)snprintf(label, sizeof label, "%u: ", d->number);
    if (show_value(u, label, d->text, &err))
        return true;
    if (must)
        return ui_error(u, "%s", err.text);
    fprintf(u->out, "%s%s: %s\n", label, d->text, err.text);
    return true;
}

void ui_displays(struct ui *u)
{
    for (unsigned i = 0; i < u->n_displays; i++)
        (void)show(u, &u->displays[i], false);
}

bool ui_display(struct ui *u, const char *args)
{
    bool stopped = !u->session->idle;
    if (!*args) {
        for (unsigned i = 0; i < u->n_displays && !stopped; i++)
            fprintf(u->out, "%u: %s\n", u->displays[i].number, u->displays[i].text);
        if (stopped)
            ui_displays(u);
        return true;
    }
    if (u->n_displays == UI_DISPLAYS)
        return ui_error(u, "display: there are %u already (undisplay)", UI_DISPLAYS);
    struct ui_display *d = &u->displays[u->n_displays];
    if (strlen(args) >= sizeof d->text)
        return ui_error(u, "display: an expression has at most %zu characters",
                        sizeof d->text - 1);
    (void)snprintf(d->text, sizeof d->text, "%s", args);
    d->number = u->last_display + 1;
    if (stopped && !show(u, d, true))
        return false;
    u->last_display++;
    u->n_displays++;
    return true;
}

bool ui_undisplay(struct ui *u, const char *args)
{
    uint64_t number;
    if (!*args) {
        u->n_displays = 0;
        return true;
    }
    if (cli_parse_u64(args, &number) != RD_OK)
        return ui_error(u, "undisplay [NUMBER]: '%.60s' is no number", args);
    for (unsigned i = 0; i < u->n_displays; i++)
        if (u->displays[i].number == number) {
            memmove(&u->displays[i], &u->displays[i + 1],
                    (--u->n_displays - i) * sizeof *u->displays);
            return true;
        }
    return ui_error(u, "there is no display %.60s", args);
}
