/* info.c: `rdna3 info`: the device that is emulated and the host that does it.
 *
 * Must not know how anything is executed. Invariant: every device figure is a property
 * of the RX 7900 XTX (Navi 31), not of this program.
 * SPDX-License-Identifier: MIT
 */
#include <getopt.h>
#include <stdio.h>

#include "cli.h"
#include "cmd.h"
#include "emu.h"
#include "host.h"
#include "isa.h"
#include "timing.h"

static const char help[] = "usage: rdna3 info [--timing]\n"
                           "\n"
                           "Show the parameters of the emulated device (gfx1100), the "
                           "host's SIMD level and the\n"
                           "engines of this program.\n"
                           "\n"
                           "  --timing  the parameters of the timing model: value, "
                           "unit, effect, source;\n"
                           "            rdna3 run --timing-set NAME=VALUE changes "
                           "them\n";

/* Source: AMD's published gfx1100 specifications (ROCm GPU hardware specifications,
 * RDNA3 ISA manual); wave slots and register file: LLVM's gfx11 target data. */
static const struct {
    const char *name;
    const char *value;
} device[] = {
    {"target", "gfx1100 (RDNA3, Navi 31)"},
    {"shader engines", "6, each of 2 shader arrays of 4 WGPs"},
    {"compute units", "96 in 48 WGPs, 2 SIMDs of 32 lanes each"},
    {"wave sizes", "32 and 64"},
    {"wave slots", "16 per SIMD"},
    {"VGPR file", "1536 registers of 32 lanes per SIMD, 256 per wave"},
    {"SGPRs", "106 and VCC per wave"},
    {"workgroup", "up to 1024 work-items, 64 KiB LDS"},
    {"LDS", "128 KiB per WGP, 32 banks in each half"},
    {"scalar cache", "16 KiB per WGP"},
    {"instruction cache", "32 KiB per WGP"},
    {"vector L0 cache", "32 KiB per CU"},
    {"GL1 cache", "256 KiB per shader array"},
    {"GL2 cache", "6 MiB"},
    {"infinity cache", "96 MiB"},
};

static void print_simd_levels(void)
{
    static const enum emu_simd levels[] = {EMU_SIMD_GENERIC, EMU_SIMD_AVX2,
                                           EMU_SIMD_AVX512};
    printf("  %-20s", "SIMD levels");
    for (unsigned i = 0; i < 3; i++) {
        struct emu_config config = {.threads = 1, .simd = levels[i]};
        struct emu *emu;
        if (emu_create(&config, &emu) != RD_OK)
            continue;
        printf("%s ", emu_simd_name(levels[i]));
        emu_destroy(emu);
    }
    printf("(in use: %s)\n", host_simd_name());
}

/* The timing model's numbers: value, unit, what each affects, where it comes from. */
static void print_timing(void)
{
    for (size_t i = 0; i < tm_param_count(); i++) {
        const struct tm_param *p = tm_param(i);
        printf("%-24s %.10g%s%s\n    %s\n    source: %s\n", p->name, p->value,
               *p->unit ? " " : "", p->unit, p->affects, p->source);
    }
}

int cmd_info(int argc, char **argv)
{
    static const struct option options[] = {
        {"help", no_argument, NULL, 'h'},
        {"timing", no_argument, NULL, 't'},
        {NULL, 0, NULL, 0},
    };
    int option;
    bool timing = false;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (option == 't') {
            timing = true;
            continue;
        }
        if (option != 'h')
            return cli_option_error(argc, argv, option);
        fputs(help, stdout);
        return cli_finish(CLI_OK);
    }
    if (optind < argc)
        return cli_error(CLI_USAGE, "unexpected '%s'", argv[optind]);

    if (timing) {
        print_timing();
        return cli_finish(CLI_OK);
    }
    char cpu[128];
    host_cpu_name(cpu, sizeof cpu);
    puts("device");
    for (size_t i = 0; i < sizeof device / sizeof device[0]; i++)
        printf("  %-20s%s\n", device[i].name, device[i].value);
    printf("  %-20s%u mnemonics in %u encodings\n", "instructions", isa_op_count() - 1,
           isa_row_count());
    puts("host");
    printf("  %-20s%s\n", "CPU", cpu);
    printf("  %-20s%u\n", "CPUs", host_cpu_count());
    print_simd_levels();
    puts("engines");
    printf("  %-20s%s\n", "interp", "predecoded interpreter");
    return cli_finish(CLI_OK);
}
