/* yaml.h: the part of YAML that kernel metadata is written in, as a tree.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_AS_YAML_H
#define RD_AS_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum yaml_kind { YAML_EMPTY, YAML_SCALAR, YAML_SEQ, YAML_MAP };

/* Nodes are numbered; 0 is none. Children of a map come as key, value, key, value. */
struct yaml_node {
    uint8_t kind;
    bool quoted;
    uint32_t first, last, next, count; /* children */
    const char *at;                    /* in the source, for messages */
    size_t text, len;                  /* of a scalar, in yaml.text */
};

struct yaml {
    struct yaml_node *nodes;
    uint32_t n_nodes, cap_nodes;
    char *text; /* decoded scalars */
    size_t text_bytes, text_cap;
    uint32_t root;
    const char *error_at; /* set on failure; error NULL: out of memory */
    const char *error;
};

/* Parse a document: block and flow maps and sequences, plain, quoted and block scalars,
 * comments. Anchors, aliases, tags and several documents are refused.
 * Returns false with the error. Owner: caller frees with yaml_free in both cases. */
bool yaml_parse(const char *begin, const char *end, struct yaml *out);
void yaml_free(struct yaml *y);

#endif
