/* fuzz_uop.c: libFuzzer target: any text as a graph and as a program, taken as far as
 * it goes. What prints must parse to the same again; nothing may crash.
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_NODES 300u

static void try_prog(const struct cc_prog *p)
{
    char error[256], *text;
    uint32_t groups[3], block[3];
    if (cc_prog_count(p) > MAX_NODES)
        return;
    cc_prog_launch(p, groups, block);
    for (unsigned style = 0; style <= CC_STYLE_METAL; style++)
        if (cc_render(p, (enum cc_style)style, &text, error) == RD_OK)
            free(text);
    if (cc_rdna3(p, &text, error) == RD_OK)
        free(text);
}

static void try_graph(const char *text, size_t size)
{
    struct cc_graph *g;
    struct cc_prog *p;
    cc_ref root, again;
    char *first;
    if (cc_graph_create(&g) != RD_OK)
        return;
    if (cc_parse(g, text, size, &root) == RD_OK && cc_graph_count(g) < MAX_NODES) {
        if (cc_print(g, root, &first) == RD_OK) {
            if (cc_parse(g, first, strlen(first), &again) != RD_OK || again != root)
                abort();
            free(first);
        }
        if (cc_linearize(g, root, &p) == RD_OK) {
            try_prog(p);
            cc_prog_destroy(p);
        }
    }
    cc_graph_destroy(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char error[256];
    struct cc_prog *p;
    try_graph((const char *)data, size);
    if (cc_prog_parse((const char *)data, size, &p, error) == RD_OK) {
        try_prog(p);
        cc_prog_destroy(p);
    }
    return 0;
}
