/* message.h: JSON that comes in, by jansson; found when it is needed.
 *
 * Apart from the JSON writer (json.h), whose functions have names of jansson's.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DEBUG_MESSAGE_H
#define RD_DEBUG_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_t; /* jansson's */

/* Parse; NULL with the reason in why (200 bytes). Owner: message_free. */
struct json_t *message_parse(const char *text, size_t bytes, char *why);
void message_free(struct json_t *m);
/* Why there is no JSON; NULL if there is. */
const char *message_missing(void);

/* A member of an object; NULL if it is none, or not there. */
struct json_t *member(const struct json_t *m, const char *name);
/* Its text, or the default, also where it is none. */
const char *member_text(const struct json_t *m, const char *name, const char *usual);
int64_t member_int(const struct json_t *m, const char *name, int64_t usual);
bool member_bool(const struct json_t *m, const char *name, bool usual);
/* Elements of an array; 0 where it is none. */
size_t elements(const struct json_t *m);
struct json_t *element(const struct json_t *m, size_t i);
bool is_object(const struct json_t *m);
/* As text: a string itself, an integer in digits, an array of them with commas. false:
 * something else. */
bool as_text(const struct json_t *m, char *text, size_t size);

#endif
