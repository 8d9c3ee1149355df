/* fuzz_parse.c: isa_assemble on any text: no crash, no read past the text, the column
 * inside it; what it accepts decodes, prints, and is accepted again.
 *
 * The first byte chooses wave size and whether symbols are known.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "isa_asm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
    if (!ok)
        abort();
}

/* One letter is a symbol; ctx says whether its value is known. */
static rd_status letter(void *ctx, const char *text, size_t len, size_t *used,
                        struct isa_value *out, struct isa_asm_error *err)
{
    (void)err;
    if (len == 0 || text[0] < 'a' || text[0] > 'z')
        return RD_E_NOT_FOUND;
    *used = 1;
    *out = (struct isa_value){.known = ctx != NULL, .value = 77, .handle = 3};
    return RD_OK;
}

static void check_accepted(const uint8_t *code, unsigned bytes, unsigned wave)
{
    char text[ISA_MAX_TEXT];
    struct isa_inst inst;
    uint8_t again[20];
    unsigned n;
    require(bytes == 4 || bytes == 8 || bytes == 12);
    if (isa_decode(code, bytes, wave, &inst) != RD_OK)
        return; /* LLVM assembles some forms that it does not disassemble */
    require(inst.bytes == bytes);
    require(isa_encode(&inst, wave, again, &n) == RD_OK);
    require(isa_print(&inst, wave, 0, text) < sizeof text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char known;
    if (size == 0)
        return 0;
    struct isa_asm_options options = {.wave = data[0] & 1 ? 32 : 64};
    options.expr = data[0] & 2 ? letter : NULL;
    options.ctx = data[0] & 4 ? (void *)(uintptr_t)&known : NULL;
    /* A copy without a terminating zero, so that a read past its end shows. */
    char *text = malloc(size);
    require(text != NULL);
    memcpy(text, data + 1, size - 1);
    char *exact = realloc(text, size > 1 ? size - 1 : 1);
    require(exact != NULL);
    uint8_t code[20];
    unsigned bytes;
    struct isa_fixup fixup;
    struct isa_asm_error error;
    rd_status status =
        isa_assemble(exact, size - 1, &options, code, &bytes, &fixup, &error);
    if (status == RD_OK)
        check_accepted(code, bytes, options.wave);
    else
        require(error.column >= 1 && error.column <= size &&
                memchr(error.text, '\0', sizeof error.text) != NULL);
    free(exact);
    return 0;
}
