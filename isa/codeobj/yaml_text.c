/* yaml_text.c: a metadata document as YAML, as people and assemblers read it.
 *
 * Must not know the schema. SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "codeobj.h"
#include "msgpack.h"

static bool is_plain(const struct mp_value *v)
{
    static const char *const words[] = {"y",   "Y",  "n",    "N",     "on",   "off",
                                        "yes", "no", "true", "false", "null", "~"};
    if (v->count == 0)
        return false;
    for (uint32_t i = 0; i < v->count; i++) {
        uint8_t c = v->bytes[i];
        bool letter = ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' || c == '.';
        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '-')))
            return false;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == v->count &&
            strncasecmp((const char *)v->bytes, words[i], v->count) == 0)
            return false;
    return true;
}

static void put_string(FILE *out, const struct mp_value *v)
{
    bool controls = false;
    for (uint32_t i = 0; i < v->count; i++)
        controls |= v->bytes[i] < ' ' || v->bytes[i] == '\\';
    if (is_plain(v)) {
        fwrite(v->bytes, 1, v->count, out);
        return;
    }
    char quote = controls ? '"' : '\'';
    fputc(quote, out);
    for (uint32_t i = 0; i < v->count; i++) {
        uint8_t c = v->bytes[i];
        if (controls && c < ' ')
            fprintf(out, "\\x%02X", c);
        else if (controls && (c == '"' || c == '\\'))
            fprintf(out, "\\%c", c);
        else if (!controls && c == '\'')
            fputs("''", out);
        else
            fputc(c, out);
    }
    fputc(quote, out);
}

static bool put_scalar(FILE *out, const struct mp_value *v)
{
    switch (v->type) {
    case MP_STR:
        put_string(out, v);
        return true;
    case MP_BOOL:
        fputs(v->u ? "true" : "false", out);
        return true;
    case MP_UINT:
        fprintf(out, "%" PRIu64, v->u);
        return true;
    case MP_INT:
        fprintf(out, "%" PRId64, (int64_t)v->u);
        return true;
    case MP_FLOAT:
        fprintf(out, "%.17g", v->f);
        return true;
    default: /* nil, binaries: YAML's part here has no word for them */
        return false;
    }
}

static void indent(FILE *out, unsigned depth)
{
    fprintf(out, "%*s", (int)depth, "");
}

static bool put_value(FILE *out, struct mp_reader *r, unsigned depth, bool in_list);

static bool put_map(FILE *out, struct mp_reader *r, uint32_t pairs, unsigned depth,
                    bool in_list)
{
    struct mp_value key;
    for (uint32_t i = 0; i < pairs; i++) {
        if (i || !in_list)
            indent(out, depth);
        if (mp_read(r, &key) != RD_OK || !put_scalar(out, &key))
            return false;
        fputc(':', out);
        if (!put_value(out, r, depth, false))
            return false;
    }
    return true;
}

static bool put_list(FILE *out, struct mp_reader *r, uint32_t n, unsigned depth)
{
    for (uint32_t i = 0; i < n; i++) {
        indent(out, depth);
        fputs("-", out);
        if (!put_value(out, r, depth, true))
            return false;
    }
    return true;
}

/* A value behind "key:" or "-". */
static bool put_value(FILE *out, struct mp_reader *r, unsigned depth, bool in_list)
{
    struct mp_value v;
    if (depth > 2 * MP_MAX_DEPTH || mp_read(r, &v) != RD_OK)
        return false;
    if (v.type == MP_MAP || v.type == MP_ARRAY) {
        if (v.count == 0) {
            fputs(v.type == MP_MAP ? " {}\n" : " []\n", out);
            return true;
        }
        fputs(in_list && v.type == MP_MAP ? " " : "\n", out);
        return v.type == MP_MAP ? put_map(out, r, v.count, depth + 2, in_list)
                                : put_list(out, r, v.count, depth + 2);
    }
    fputc(' ', out);
    bool ok = put_scalar(out, &v);
    fputc('\n', out);
    return ok;
}

bool co_metadata_yaml(const void *document, size_t bytes, FILE *out)
{
    struct mp_reader r = {.data = document, .size = bytes};
    struct mp_value root;
    if (mp_read(&r, &root) != RD_OK || root.type != MP_MAP || root.count == 0)
        return false;
    fputs("---\n", out);
    bool ok = put_map(out, &r, root.count, 0, false);
    fputs("...\n", out);
    return ok && r.pos == r.size;
}
