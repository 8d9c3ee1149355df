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
#include "json.h"
#include "object.h"
#include "timing.h"

static const char help[] = "usage: rdna3 info [--timing] [--json]\n"
                           "       rdna3 info [--json] FILE...\n"
                           "\n"
                           "Show the parameters of the emulated device (gfx1100), the "
                           "host's SIMD level and the\n"
                           "engines of this program; or of each FILE, a code object, "
                           "its kernels, what they\n"
                           "need and which arguments they take.\n"
                           "\n"
                           "  --timing  the parameters of the timing model: value, "
                           "unit, effect, source;\n"
                           "            rdna3 run --timing-set NAME=VALUE changes "
                           "them\n"
                           "  --json    the same for machines\n";

/* Source: AMD's published gfx1100 specifications (ROCm GPU hardware specifications,
 * RDNA3 ISA manual); wave slots and register file: LLVM's gfx11 target data. */
static const struct {
    const char *name;
    const char *key; /* in JSON, with the unit; NULL: the text alone */
    const char *before;
    unsigned value;
    const char *after;
} device[] = {
    {"target", NULL, "gfx1100 (RDNA3, Navi 31)", 0, ""},
    {"shader engines", "shader_engines", "", 6, ", each of 2 shader arrays of 4 WGPs"},
    {"compute units", "compute_units", "", 96, " in 48 WGPs, 2 SIMDs of 32 lanes each"},
    {"wave sizes", NULL, "32 and 64", 0, ""},
    {"wave slots", "wave_slots_per_simd", "", 16, " per SIMD"},
    {"VGPR file", "vgprs_per_simd", "", 1536,
     " registers of 32 lanes per SIMD, 256 per wave"},
    {"SGPRs", "sgprs_per_wave", "", 106, " and VCC per wave"},
    {"workgroup", "work_items_per_workgroup", "up to ", 1024,
     " work-items, 64 KiB LDS"},
    {"LDS", "lds_kib_per_wgp", "", 128, " KiB per WGP, 32 banks in each half"},
    {"scalar cache", "scalar_cache_kib_per_wgp", "", 16, " KiB per WGP"},
    {"instruction cache", "instruction_cache_kib_per_wgp", "", 32, " KiB per WGP"},
    {"vector L0 cache", "l0_cache_kib_per_cu", "", 32, " KiB per CU"},
    {"GL1 cache", "gl1_cache_kib_per_shader_array", "", 256, " KiB per shader array"},
    {"GL2 cache", "gl2_cache_mib", "", 6, " MiB"},
    {"infinity cache", "infinity_cache_mib", "", 96, " MiB"},
};

static const enum emu_simd levels[] = {EMU_SIMD_GENERIC, EMU_SIMD_AVX2,
                                       EMU_SIMD_AVX512};
#define LEVELS (sizeof levels / sizeof levels[0])

/* Can this host run it? */
static bool has(const struct emu_config *config)
{
    struct emu *emu;
    if (emu_create(config, &emu) != RD_OK)
        return false;
    emu_destroy(emu);
    return true;
}

static bool has_level(enum emu_simd level)
{
    return has(&(struct emu_config){.threads = 1, .simd = level});
}

static bool has_native(void)
{
    return has(&(struct emu_config){.threads = 1, .engine = EMU_ENGINE_JIT});
}

static void print_simd_levels(void)
{
    printf("  %-20s", "SIMD levels");
    for (unsigned i = 0; i < LEVELS; i++)
        if (has_level(levels[i]))
            printf("%s ", emu_simd_name(levels[i]));
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

static void print_all(void)
{
    char cpu[128];
    host_cpu_name(cpu, sizeof cpu);
    puts("device");
    for (size_t i = 0; i < sizeof device / sizeof device[0]; i++) {
        printf("  %-20s%s", device[i].name, device[i].before);
        if (device[i].key)
            printf("%u", device[i].value);
        puts(device[i].after);
    }
    printf("  %-20s%u mnemonics in %u encodings\n", "instructions", isa_op_count() - 1,
           isa_row_count());
    puts("host");
    printf("  %-20s%s\n", "CPU", cpu);
    printf("  %-20s%u\n", "CPUs", host_cpu_count());
    print_simd_levels();
    puts("engines");
    printf("  %-20s%s\n", "interp", "predecoded interpreter");
    if (has_native())
        printf("  %-20s%s\n", "jit", "native code for what is hot");
}

static void json_timing(struct json *j)
{
    json_array(j, "timing");
    for (size_t i = 0; i < tm_param_count(); i++) {
        const struct tm_param *p = tm_param(i);
        json_object(j, NULL);
        json_text(j, "name", p->name);
        json_real(j, "value", p->value);
        json_text(j, "unit", p->unit);
        json_text(j, "affects", p->affects);
        json_text(j, "source", p->source);
        json_close(j);
    }
}

static void json_all(struct json *j)
{
    char cpu[128];
    host_cpu_name(cpu, sizeof cpu);
    json_object(j, "device");
    json_text(j, "target", "gfx1100");
    for (size_t i = 0; i < sizeof device / sizeof device[0]; i++)
        if (device[i].key)
            json_u64(j, device[i].key, device[i].value);
    json_array(j, "wave_sizes");
    json_u64(j, NULL, 32);
    json_u64(j, NULL, 64);
    json_close(j);
    json_u64(j, "mnemonics", isa_op_count() - 1);
    json_u64(j, "encodings", isa_row_count());
    json_close(j);
    json_object(j, "host");
    json_text(j, "cpu", cpu);
    json_u64(j, "cpus", host_cpu_count());
    json_array(j, "simd_levels");
    for (unsigned i = 0; i < LEVELS; i++)
        if (has_level(levels[i]))
            json_text(j, NULL, emu_simd_name(levels[i]));
    json_close(j);
    json_text(j, "simd", host_simd_name());
    json_close(j);
    json_array(j, "engines");
    json_text(j, NULL, "interp");
    if (has_native())
        json_text(j, NULL, "jit");
}

static int show(bool timing, bool json)
{
    if (json) {
        struct json j = json_begin(stdout);
        (timing ? json_timing : json_all)(&j);
        json_end(&j);
    } else {
        (timing ? print_timing : print_all)();
    }
    return cli_finish(CLI_OK);
}

static int show_objects(char **paths, int n, bool json)
{
    int status = CLI_OK;
    struct json j = {0};
    if (json) {
        j = json_begin(stdout);
        json_array(&j, "objects");
    }
    for (int i = 0; i < n; i++) {
        int one = info_object(paths[i], json ? &j : NULL);
        status = one == CLI_OK ? status : one;
        if (!json && i + 1 < n)
            putchar('\n');
    }
    if (json)
        json_end(&j);
    return cli_finish(status);
}

int cmd_info(int argc, char **argv)
{
    static const struct option options[] = {
        {"help", no_argument, NULL, 'h'},
        {"timing", no_argument, NULL, 't'},
        {"json", no_argument, NULL, 'j'},
        {NULL, 0, NULL, 0},
    };
    int option;
    bool timing = false, json = false;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        switch (option) {
        case 't':
            timing = true;
            break;
        case 'j':
            json = true;
            break;
        case 'h':
            fputs(help, stdout);
            return cli_finish(CLI_OK);
        default:
            return cli_option_error(argc, argv, option, options);
        }
    }
    if (optind < argc && timing)
        return cli_error(CLI_USAGE, "--timing goes without FILE ('%s')", argv[optind]);
    if (optind < argc)
        return show_objects(argv + optind, argc - optind, json);
    return show(timing, json);
}
