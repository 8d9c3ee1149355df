/* fuzz_parse_main.c: runs fuzz_parse on pseudo-random statements where libFuzzer is not
 * there: pieces of the language in random order, the same ones every time.
 *
 *   fuzz_parse COUNT
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t state = 0x9e3779b97f4a7c15u;

/* xorshift64* */
static uint32_t next(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)(state * 0x2545f4914f6cdd1du >> 32);
}

static const char *const pieces[] = {
    "v0",
    "v1",
    "v255",
    "v[0:1]",
    "v[2:5]",
    "s0",
    "s1",
    "s[0:1]",
    "s[4:7]",
    "s[8:15]",
    "vcc",
    "vcc_lo",
    "exec",
    "m0",
    "null",
    "off",
    "ttmp0",
    "src_scc",
    "0",
    "64",
    "-16",
    "0.5",
    "1.0",
    "0x1234",
    "-1e10",
    "0x1p3",
    "1+2",
    "(3*4)",
    "|v1|",
    "-v2",
    "neg(v3)",
    "abs(1)",
    "sext(v1)",
    "a",
    "b+1",
    ",",
    ",",
    ",",
    ",",
    " clamp",
    " mul:2",
    " glc",
    " slc",
    " dlc",
    " offset:4",
    " offset:-1",
    " gds",
    " tfe",
    " dmask:0x3",
    " dim:2D",
    " a16",
    " d16",
    " idxen",
    " offen",
    " row_shl:1",
    " dpp8:[7,6,5,4,3,2,1,0]",
    " quad_perm:[0,1,2,3]",
    " op_sel:[1,0]",
    " op_sel_hi:[0,1]",
    " neg_lo:[1,0]",
    " fi:1",
    "[v1,v2,v3]",
    "hwreg(1,0,32)",
    "sendmsg(1)",
    "vmcnt(0)",
    "lgkmcnt(1)",
    "instid0(VALU_DEP_1)",
    "attr0.x",
    "mrt0",
    " :: ",
    "v_dual_mov_b32",
    "|",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    "\"",
    "'",
    "\t",
    "&",
};

static size_t append(uint8_t *input, size_t n, const char *piece)
{
    size_t len = strlen(piece);
    memcpy(input + n, piece, len);
    return n + len;
}

int main(int argc, char **argv)
{
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
    for (unsigned long i = 0; i < count; i++) {
        uint8_t input[1024] = {(uint8_t)next()};
        size_t n = 1;
        n = append(input, n, isa_op_name(1 + next() % (isa_op_count() - 1)));
        if (next() % 4 == 0)
            n = append(input, n, next() % 2 ? "_e64" : "_dpp");
        n = append(input, n, " ");
        for (unsigned k = next() % 12; k != 0; k--) {
            n = append(input, n, pieces[next() % (sizeof pieces / sizeof pieces[0])]);
            if (next() % 3)
                n = append(input, n, next() % 2 ? ", " : " ");
        }
        if (next() % 8 == 0)
            input[1 + next() % n] = (uint8_t)next();
        LLVMFuzzerTestOneInput(input, n);
    }
    fprintf(stderr, "%lu inputs\n", count);
    return 0;
}
