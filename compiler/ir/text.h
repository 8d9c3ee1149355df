/* text.h: between the files that read texts.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_TEXT_H
#define RD_CC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a name that a line uses is not defined above it: a cycle, named, or its line is
 * below. false: it is defined nowhere. */
bool cc_text_why(const char *text, size_t len, unsigned line, const char *use,
                 uint32_t use_len, char *why, size_t size);

#endif
