/* describe.h: what is known of an instruction before it runs: the record that
 * observers, timing and checkers share, made once per program.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DESCRIBE_H
#define RD_DESCRIBE_H

#include "event.h"

/* The side table's entry for one instruction. */
struct inst_info {
    struct emu_inst inst;   /* must be first */
    bool relative;          /* M0 selects registers */
    struct inst_info *next; /* of the program's, to free them */
};

#endif
