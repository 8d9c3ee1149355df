/* formats.c: findings for programs: JSON, JUnit's XML, SARIF 2.1.0.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>

#include "found.h"
#include "json.h"
#include "xml.h"

/* ---- JSON ---- */

static void json_frames(struct json *j, const struct source_frame *frame, unsigned n)
{
    json_array(j, "frames");
    for (unsigned i = 0; i < n; i++) {
        json_object(j, NULL);
        json_text(j, "function", frame[i].function);
        json_text(j, "file", frame[i].file);
        json_u64(j, "line", frame[i].line);
        json_u64(j, "column", frame[i].column);
        json_close(j);
    }
    json_close(j);
}

static void json_place(struct json *j, const char *key, const struct found_place *p)
{
    const struct ck_actor *a = p->actor;
    json_object(j, key);
    json_u64(j, "pc", a->pc);
    json_u64(j, "offset", p->offset);
    json_text(j, "instruction", a->inst);
    json_array(j, "workgroup");
    for (unsigned i = 0; i < 3; i++)
        json_u64(j, NULL, a->workgroup[i]);
    json_close(j);
    json_u64(j, "wave", a->wave);
    json_array(j, "lanes");
    for (unsigned l = 0; l < 64; l++)
        if (a->lanes >> l & 1)
            json_u64(j, NULL, l);
    json_close(j);
    json_text(j, "access", a->atomic ? "atomic" : a->write ? "write" : "read");
    json_frames(j, p->frame, p->n_frames);
    json_close(j);
}

static void json_trace(struct json *j, const char *key, const struct found_trace *t)
{
    if (!*t->call)
        return;
    json_object(j, key);
    json_text(j, "call", t->call);
    json_frames(j, t->frame, t->n);
    json_close(j);
}

static void json_memory(struct json *j, const struct found *x)
{
    const struct ck_finding *f = x->f;
    static const char *const spaces[] = {"global", "lds", "scratch", "gds"};
    json_object(j, "memory");
    json_text(j, "space", f->space < 4 ? spaces[f->space] : "unknown");
    json_u64(j, "address", f->address);
    json_u64(j, "bytes", f->bytes);
    if (f->size) {
        json_text(j, "allocation", f->allocation);
        json_u64(j, "base", f->base);
        json_u64(j, "size", f->size);
    }
    json_trace(j, "made", &x->made);
    json_trace(j, "freed", &x->freed);
    json_close(j);
}

static void json_finding(struct json *j, const struct found *x)
{
    const struct ck_finding *f = x->f;
    json_object(j, NULL);
    json_text(j, "class", ck_class_name(f->cls));
    json_text(j, "kind", f->kind);
    json_text(j, "text", f->text);
    json_text(j, "kernel", f->kernel);
    json_u64(j, "dispatch", f->dispatch);
    json_u64(j, "count", x->count);
    json_bool(j, "benign", f->benign);
    json_bool(j, "suppressed", x->suppressed);
    json_place(j, "at", &x->at);
    if (f->other.pc)
        json_place(j, "other", &x->other);
    if (*f->other_kernel)
        json_text(j, "other_kernel", f->other_kernel);
    if (f->located)
        json_memory(j, x);
    json_close(j);
}

void found_json(const struct found_list *l, FILE *out)
{
    char summary[512];
    unsigned classes = atomic_load(&l->table->classes);
    struct json j = json_begin(out);
    json_array(&j, "checked");
    for (unsigned c = 0; c < CK_CLASSES; c++)
        if (classes & CK_BIT(c))
            json_text(&j, NULL, ck_class_name(c));
    json_close(&j);
    json_u64(&j, "kernels", atomic_load(&l->table->dispatches));
    json_u64(&j, "kernels_unchecked", atomic_load(&l->table->beside));
    json_u64(&j, "accesses", atomic_load(&l->table->accesses));
    json_u64(&j, "instructions", atomic_load(&l->table->instructions));
    json_u64(&j, "seed", l->table->seed);
    json_u64(&j, "errors", l->errors);
    json_u64(&j, "suppressed", l->suppressed);
    json_u64(&j, "allocations", atomic_load(&l->table->made));
    json_u64(&j, "allocations_not_freed", atomic_load(&l->table->left));
    json_u64(&j, "bytes_not_freed", atomic_load(&l->table->left_bytes));
    found_summary(l, summary, sizeof summary);
    json_text(&j, "summary", summary);
    json_array(&j, "findings");
    for (unsigned i = 0; i < l->n; i++)
        json_finding(&j, &l->v[i]);
    json_close(&j);
    json_end(&j);
}

/* ---- JUnit: a test case for each checker that found nothing, and one a finding ----
 */

static bool is_error(const struct found *x)
{
    return !x->suppressed && !x->f->benign;
}

static bool class_has_errors(const struct found_list *l, unsigned cls)
{
    for (unsigned i = 0; i < l->n; i++)
        if (is_error(&l->v[i]) && l->v[i].f->cls == cls)
            return true;
    return false;
}

static void xml_failure(const struct found *x, FILE *out)
{
    char who[256], name[320];
    const struct ck_finding *f = x->f;
    const struct source_frame *s = &x->at.frame[0];
    (void)snprintf(name, sizeof name, "%s: %s", f->kind,
                   *f->kernel ? f->kernel : "(no name)");
    (void)fputs("    <testcase", out);
    xml_attribute(out, "classname", ck_class_name(f->cls));
    xml_attribute(out, "name", name);
    if (x->at.n_frames) {
        xml_attribute(out, "file", s->file);
        (void)fprintf(out, " line=\"%u\"", s->line);
    }
    (void)fputs(">\n      <failure", out);
    xml_attribute(out, "type", f->kind);
    xml_attribute(out, "message", f->text);
    (void)fputc('>', out);
    if (f->at.pc)
        found_actor(&f->at, who, sizeof who);
    else
        (void)snprintf(who, sizeof who, "by the program");
    xml_text(out, who);
    (void)fprintf(out, ", seen %" PRIu64 " times: ", x->count);
    xml_text(out, x->at.actor->inst);
    (void)fputs("</failure>\n    </testcase>\n", out);
}

void found_xml(const struct found_list *l, FILE *out)
{
    unsigned classes = atomic_load(&l->table->classes), clean = 0;
    for (unsigned c = 0; c < CK_CLASSES; c++)
        clean += classes & CK_BIT(c) && !class_has_errors(l, c);
    (void)fprintf(out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                  "  <testsuite name=\"rdna3 check\" tests=\"%u\" failures=\"%u\">\n",
                  clean + l->errors, l->errors);
    for (unsigned c = 0; c < CK_CLASSES; c++)
        if (classes & CK_BIT(c) && !class_has_errors(l, c))
            (void)fprintf(out, "    <testcase classname=\"%s\" name=\"no errors\"/>\n",
                          ck_class_name(c));
    for (unsigned i = 0; i < l->n; i++)
        if (is_error(&l->v[i]))
            xml_failure(&l->v[i], out);
    (void)fputs("  </testsuite>\n</testsuites>\n", out);
}

/* ---- SARIF ---- */

static void sarif_location(struct json *j, const struct source_frame *s, unsigned n,
                           const char *text)
{
    json_object(j, NULL);
    if (n) {
        json_object(j, "physicalLocation");
        json_object(j, "artifactLocation");
        json_text(j, "uri", s->file);
        json_close(j);
        if (s->line) {
            json_object(j, "region");
            json_u64(j, "startLine", s->line);
            if (s->column)
                json_u64(j, "startColumn", s->column);
            json_close(j);
        }
        json_close(j);
    }
    json_object(j, "message");
    json_text(j, "text", text);
    json_close(j);
    json_close(j);
}

static void sarif_trace(struct json *j, const struct found_trace *t, const char *what)
{
    char text[96];
    if (!*t->call || !t->n)
        return;
    (void)snprintf(text, sizeof text, "the memory was %s by %s", what, t->call);
    sarif_location(j, t->frame, t->n, text);
}

/* The other access, who made the memory, who freed it. */
static void sarif_related(struct json *j, const struct found *x)
{
    if (!x->f->other.pc && !x->made.n && !x->freed.n)
        return;
    json_array(j, "relatedLocations");
    if (x->f->other.pc)
        sarif_location(j, x->other.frame, x->other.n_frames, x->f->other.inst);
    sarif_trace(j, &x->made, "made");
    sarif_trace(j, &x->freed, "freed");
    json_close(j);
}

static void sarif_result(struct json *j, const struct found *x)
{
    char rule[64];
    (void)snprintf(rule, sizeof rule, "%s/%s", ck_class_name(x->f->cls), x->f->kind);
    json_object(j, NULL);
    json_text(j, "ruleId", rule);
    json_text(j, "level", x->f->benign ? "note" : "error");
    json_object(j, "message");
    json_text(j, "text", x->f->text);
    json_close(j);
    json_u64(j, "occurrenceCount", x->count);
    json_array(j, "locations");
    sarif_location(j, x->at.frame, x->at.n_frames,
                   x->f->at.pc ? x->f->at.inst : x->f->host.call);
    json_close(j);
    sarif_related(j, x);
    if (x->suppressed) {
        json_array(j, "suppressions");
        json_object(j, NULL);
        json_text(j, "kind", "external");
        json_close(j);
        json_close(j);
    }
    json_close(j);
}

void found_sarif(const struct found_list *l, FILE *out)
{
    struct json j = json_begin(out);
    json_text(&j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_text(&j, "version", "2.1.0");
    json_array(&j, "runs");
    json_object(&j, NULL);
    json_object(&j, "tool");
    json_object(&j, "driver");
    json_text(&j, "name", "rdna3 check");
    json_close(&j);
    json_close(&j);
    json_array(&j, "results");
    for (unsigned i = 0; i < l->n; i++)
        sarif_result(&j, &l->v[i]);
    json_close(&j);
    json_close(&j);
    json_close(&j);
    json_end(&j);
}
