/* x86_specs.h: how another decoder names what the encoder of native code writes.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_X86_SPECS_H
#define TESTS_X86_SPECS_H

#include <stdbool.h>
#include <stdint.h>

/* Operands, a letter each:
 *   v dst                         k the same, an opmask register with EVEX
 *   g dst, a general register     s src1
 *   r rm                          l rm, of which the lowest bytes matter
 *   h rm, half as long            q rm, sixteen bytes
 *   i immediate                   4 register in the upper half of the immediate */
struct spec {
    const char *vex, *evex; /* mnemonics; NULL: no such encoding */
    const char *operands;
    uint8_t element;  /* bytes that EVEX broadcasts, 0: cannot */
    uint8_t fraction; /* l: of a vector that memory is; 0: one dword */
    bool no_vex_mem;  /* rm is a register with VEX */
    bool only_mem;    /* rm is memory */
};

extern const struct spec specs[]; /* by enum x86_form */

#endif
