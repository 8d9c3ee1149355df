#include "asm_tool.h"
#include "cli.h"
int asm_fuzz_pairs(const struct asm_tool *o)
{
    (void)o;
    return cli_error(CLI_USAGE, "--fuzz-pairs: not available yet");
}
