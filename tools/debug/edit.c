/* edit.c: lines that a user types, by libedit if it is installed; looked for when a
 * terminal asks.
 * SPDX-License-Identifier: MIT
 */
#include "edit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef RDNA3_HAVE_LIBEDIT
#include <dlfcn.h>
#include <editline/readline.h>
#endif

static const char *(*completer)(const char *begin, unsigned *state);

struct edit {
    bool terminal;
#ifdef RDNA3_HAVE_LIBEDIT
    __typeof__(readline) *readline;
    __typeof__(add_history) *add_history;
    __typeof__(rl_completion_matches) *matches;
#endif
};

#ifdef RDNA3_HAVE_LIBEDIT

static struct edit *current;

static char *next_word(const char *begin, int state)
{
    static unsigned at;
    if (!state)
        at = 0;
    const char *word = completer(begin, &at);
    return word ? strdup(word) : NULL;
}

static char **words(const char *begin, int start, int end)
{
    (void)end;
    return start == 0 && current ? current->matches(begin, next_word) : NULL;
}

static void load(struct edit *e)
{
    void *lib = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!lib)
        return;
    *(void **)(void *)&e->readline = dlsym(lib, "readline");
    *(void **)(void *)&e->add_history = dlsym(lib, "add_history");
    *(void **)(void *)&e->matches = dlsym(lib, "rl_completion_matches");
    rl_completion_func_t **attempt = dlsym(lib, "rl_attempted_completion_function");
    if (!e->add_history || !e->matches)
        e->readline = NULL;
    if (attempt && e->readline)
        *attempt = (rl_completion_func_t *)words;
    current = e;
}

#endif

struct edit *edit_open(bool terminal,
                       const char *(*complete)(const char *begin, unsigned *state))
{
    struct edit *e = calloc(1, sizeof *e);
    completer = complete;
    if (!e)
        return NULL;
    e->terminal = terminal;
#ifdef RDNA3_HAVE_LIBEDIT
    if (terminal)
        load(e);
#endif
    return e;
}

void edit_close(struct edit *e)
{
#ifdef RDNA3_HAVE_LIBEDIT
    current = NULL;
#endif
    free(e);
}

/* What is longer than the room is read to its end and cut. */
static bool plain_line(char *line, size_t size)
{
    size_t n = 0;
    int c = getchar();
    if (c == EOF)
        return false;
    for (; c != EOF && c != '\n'; c = getchar())
        if (n + 1 < size && c)
            line[n++] = (char)c;
    line[n] = '\0';
    return true;
}

bool edit_line(struct edit *e, const char *prompt, char *line, size_t size)
{
#ifdef RDNA3_HAVE_LIBEDIT
    if (e && e->readline) {
        char *text = e->readline(prompt);
        if (!text)
            return false;
        if (*text)
            e->add_history(text);
        (void)snprintf(line, size, "%s", text);
        free(text);
        return true;
    }
#endif
    if (e && e->terminal) {
        fputs(prompt, stdout);
        (void)fflush(stdout);
    }
    return plain_line(line, size);
}
