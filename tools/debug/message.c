/* message.c: JSON that comes in, by jansson, which is looked for when it is needed.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#ifdef RDNA3_HAVE_JANSSON
#include <dlfcn.h>
#include <jansson.h>
#else
typedef struct json_t json_t;
#endif

#include "message.h"

#ifdef RDNA3_HAVE_JANSSON

/* X(function) */
#define FUNCTIONS(X)                                                                   \
    X(json_loadb)                                                                      \
    X(json_delete)                                                                     \
    X(json_object_get)                                                                 \
    X(json_string_value)                                                               \
    X(json_integer_value)                                                              \
    X(json_array_size)                                                                 \
    X(json_array_get)

static struct {
#define X(f) __typeof__(f) *f;
    FUNCTIONS(X)
#undef X
    bool tried, there;
} lib;

static bool library(void)
{
    if (lib.tried)
        return lib.there;
    lib.tried = true;
    void *so = dlopen("libjansson.so.4", RTLD_NOW | RTLD_LOCAL);
    lib.there = so != NULL;
#define X(f)                                                                           \
    *(void **)(void *)&lib.f = so ? dlsym(so, #f) : NULL;                              \
    lib.there &= lib.f != NULL;
    FUNCTIONS(X)
#undef X
    return lib.there;
}

const char *message_missing(void)
{
    return library() ? NULL : "libjansson.so.4 is not installed";
}

json_t *message_parse(const char *text, size_t bytes, char *why)
{
    json_error_t err;
    json_t *m =
        library() ? lib.json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &err) : NULL;
    if (!m)
        (void)snprintf(why, 200, "%.150s (line %d, column %d)", err.text, err.line,
                       err.column);
    return m;
}

void message_free(json_t *m)
{
    if (m)
        lib.json_delete(m); /* there is one owner */
}

json_t *member(const json_t *m, const char *name)
{
    return json_is_object(m) ? lib.json_object_get(m, name) : NULL;
}

const char *member_text(const json_t *m, const char *name, const char *usual)
{
    const json_t *v = member(m, name);
    return json_is_string(v) ? lib.json_string_value(v) : usual;
}

int64_t member_int(const json_t *m, const char *name, int64_t usual)
{
    const json_t *v = member(m, name);
    return json_is_integer(v) ? lib.json_integer_value(v) : usual;
}

bool member_bool(const json_t *m, const char *name, bool usual)
{
    const json_t *v = member(m, name);
    return json_is_boolean(v) ? json_is_true(v) : usual;
}

size_t elements(const json_t *m)
{
    return json_is_array(m) ? lib.json_array_size(m) : 0;
}

json_t *element(const json_t *m, size_t i)
{
    return json_is_array(m) ? lib.json_array_get(m, i) : NULL;
}

bool is_object(const json_t *m)
{
    return json_is_object(m);
}

bool as_text(const json_t *m, char *text, size_t size)
{
    size_t n = 0;
    if (json_is_string(m))
        return (size_t)snprintf(text, size, "%s", lib.json_string_value(m)) < size;
    if (json_is_integer(m))
        return (size_t)snprintf(text, size, "%" PRId64,
                                (int64_t)lib.json_integer_value(m)) < size;
    if (!json_is_array(m))
        return false;
    *text = '\0';
    for (size_t i = 0; i < lib.json_array_size(m); i++) {
        const json_t *e = lib.json_array_get(m, i);
        if (!json_is_integer(e) || n + 24 > size)
            return false;
        n += (size_t)snprintf(text + n, size - n, "%s%" PRId64, i ? "," : "",
                              (int64_t)lib.json_integer_value(e));
    }
    return true;
}

#else

const char *message_missing(void)
{
    return "built without jansson (libjansson-dev)";
}

json_t *message_parse(const char *text, size_t bytes, char *why)
{
    (void)text;
    (void)bytes;
    (void)snprintf(why, 200, "%s", message_missing());
    return NULL;
}

void message_free(json_t *m)
{
    (void)m;
}

json_t *member(const json_t *m, const char *name)
{
    (void)m;
    (void)name;
    return NULL;
}

const char *member_text(const json_t *m, const char *name, const char *usual)
{
    (void)m;
    (void)name;
    return usual;
}

int64_t member_int(const json_t *m, const char *name, int64_t usual)
{
    (void)m;
    (void)name;
    return usual;
}

bool member_bool(const json_t *m, const char *name, bool usual)
{
    (void)m;
    (void)name;
    return usual;
}

size_t elements(const json_t *m)
{
    (void)m;
    return 0;
}

json_t *element(const json_t *m, size_t i)
{
    (void)m;
    (void)i;
    return NULL;
}

bool is_object(const json_t *m)
{
    (void)m;
    return false;
}

bool as_text(const json_t *m, char *text, size_t size)
{
    (void)m;
    (void)text;
    (void)size;
    return false;
}

#endif
