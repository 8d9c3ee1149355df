/* lines.h: source lines between instructions.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DIS_LINES_H
#define RD_DIS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;
struct dis_lines;

/* Find the lines of a code object.
 *
 * text  also show what stands in a line, if its file can be read
 * out   NULL if the object has none: a warning says so
 * Returns the exit status.
 */
int dis_lines_open(const char *path, const void *elf, size_t bytes, bool text,
                   struct dis_lines **out);
void dis_lines_close(struct dis_lines *lines);

/* Print where the code at an address comes from, if that is another line than before.
 */
void dis_lines_at(struct dis_lines *lines, uint64_t address);

/* The same as members "file" and "line"; nothing if unknown. */
void dis_lines_json(struct dis_lines *lines, uint64_t address, struct json *j);

#endif
