/* json.h: JSON for machines, written as it is made.
 *
 *     struct json j = json_begin(stdout);      {
 *     json_text(&j, "name", name);               "name": "...",
 *     json_array(&j, "values");                  "values": [
 *     json_u64(&j, NULL, 5);                        5
 *     json_close(&j);                            ]
 *     json_end(&j);                            }
 *
 * key is NULL inside an array. Errors of writing are the stream's, seen by
 * cli_finish(). SPDX-License-Identifier: MIT
 */
#ifndef RD_JSON_H
#define RD_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_MAX_DEPTH 16

struct json {
    FILE *out;
    unsigned depth;
    bool first;                 /* nothing in the innermost object or array yet */
    char close[JSON_MAX_DEPTH]; /* brackets that are open, outermost first */
};

/* Open the outermost object, and close it with a newline. */
struct json json_begin(FILE *out);
void json_end(struct json *j);

void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_close(struct json *j);

/* Quoted and escaped; what is not UTF-8 becomes U+FFFD. NULL becomes null. */
void json_text(struct json *j, const char *key, const char *value);
void json_u64(struct json *j, const char *key, uint64_t value);
/* The shortest form that reads back as the same number; null if not finite. */
void json_real(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

#endif
