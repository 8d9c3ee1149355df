/* asm_hex.c: assembles statements from stdin, one a line, without the file level.
 *
 *   isa_asm_hex WAVE      prints the bytes in hexadecimal, or "error: COLUMN: text"
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa_asm.h"

int main(int argc, char **argv)
{
    static char line[65536];
    struct isa_asm_options options = {.wave = argc > 1 ? (unsigned)atoi(argv[1]) : 32};
    while (fgets(line, sizeof line, stdin) != NULL) {
        uint8_t code[20];
        unsigned bytes;
        struct isa_fixup fixup;
        struct isa_asm_error error;
        if (isa_assemble(line, strcspn(line, "\n"), &options, code, &bytes, &fixup,
                         &error) != RD_OK) {
            printf("error: %u: %s\n", error.column, error.text);
            continue;
        }
        for (unsigned i = 0; i < bytes; i++)
            printf("%02x", code[i]);
        printf("\n");
    }
    return 0;
}
