/* choose.h: a form for kernels without a search.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_CHOOSE_H
#define RD_CC_CHOOSE_H

#include "cc_opt.h"
#include "graph.h"

/* A choice that helps; false if none is known. */
bool cc_choose(struct cc_graph *g, cc_ref sink, struct cc_opt *opt);

#endif
