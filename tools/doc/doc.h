/* doc.h: what the page and its JSON share.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DOC_H
#define RD_DOC_H

#include "emu.h"
#include "json.h"

/* The op of a mnemonic as people write it, or ISA_OP_NONE. */
unsigned doc_find_op(const char *word);

/* List the mnemonics that begin with a word or, if none does, have it in them; j: into
 * its array, else for people. An error with a guess if there is none. Returns an exit
 * status. */
int doc_search(const char *word, struct json *j);

/* An operand format's name. */
const char *doc_fmt_name(unsigned fmt);

/* One instruction as an element of an array: encodings, fact sheet, semantics. */
void doc_json(struct json *j, const struct emu *emu, unsigned op);

#endif
