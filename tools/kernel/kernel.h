/* kernel.h: which kernel runs, with what, in which shape: what `rdna3 run` and `rdna3
 * debug` take from their command lines, and the way from there to a dispatch.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TOOL_KERNEL_H
#define RD_TOOL_KERNEL_H

#include "cli.h"
#include "elem.h"
#include "launch.h"

/* Of --stack: a lane has no more in the emulator. */
#define KERNEL_MOST_STACK (UINT64_C(1) << 24)

enum kernel_fill {
    KERNEL_FILL_NONE, /* zeros, which nobody has asked for */
    KERNEL_FILL_ZERO,
    KERNEL_FILL_FILE,
    KERNEL_FILL_BYTE,
    KERNEL_FILL_IOTA,
    KERNEL_FILL_RAND
};

/* One --arg. */
struct kernel_arg {
    const char *text;
    bool is_buffer;
    bool is_float;

    /* Buffers */
    uint64_t size;
    bool size_of_file; /* file:PATH */
    enum kernel_fill fill;
    uint8_t byte;
    const struct elem_type *type; /* iota, rand */
    uint64_t seed;
    const char *path;
    void *memory;                  /* after kernel_make_buffers */
    const struct kernel_arg *same; /* whose memory it has; NULL: its own */

    /* Scalars and bytes */
    uint64_t value;
    void *bytes; /* bytes:HEX, else NULL */
    uint32_t n_bytes;
};

struct kernel_options {
    const char *object_path;
    const char *kernel;
    const char *raw_path;
    const char *kd_path;
    uint64_t entry;
    unsigned wave; /* 0: not given */
    bool have_block;
    struct la_shape shape;
    struct emu_config config;
    struct kernel_arg *args;
    unsigned n_args;
    /* after kernel_load */
    const struct co_kernel_meta *meta; /* NULL: unknown */
    const char *name;                  /* of the kernel, or the file */
};

#define KERNEL_DEFAULTS                                                                \
    {                                                                                  \
        .shape = {.groups = {1, 1, 1}, .block = {1, 1, 1} }                            \
    }

enum {
    KERNEL_OPT_KERNEL = 700,
    KERNEL_OPT_RAW,
    KERNEL_OPT_KD,
    KERNEL_OPT_ENTRY,
    KERNEL_OPT_GRID,
    KERNEL_OPT_BLOCK,
    KERNEL_OPT_WAVE,
    KERNEL_OPT_DYNAMIC_LDS,
    KERNEL_OPT_STACK,
    KERNEL_OPT_ARG,
    KERNEL_OPT_SEED,
    KERNEL_OPT_SIMD,
    KERNEL_OPT_DOTS,
    KERNEL_OPT_LAST = KERNEL_OPT_DOTS
};

/* clang-format off */
#define KERNEL_LONG_OPTIONS                                                            \
    {"kernel", required_argument, NULL, KERNEL_OPT_KERNEL},\
    {"raw", required_argument, NULL, KERNEL_OPT_RAW},\
    {"kd", required_argument, NULL, KERNEL_OPT_KD},\
    {"entry-offset", required_argument, NULL, KERNEL_OPT_ENTRY},\
    {"grid", required_argument, NULL, KERNEL_OPT_GRID},\
    {"block", required_argument, NULL, KERNEL_OPT_BLOCK},\
    {"wave", required_argument, NULL, KERNEL_OPT_WAVE},\
    {"dynamic-lds", required_argument, NULL, KERNEL_OPT_DYNAMIC_LDS},\
    {"stack", required_argument, NULL, KERNEL_OPT_STACK},\
    {"arg", required_argument, NULL, KERNEL_OPT_ARG},\
    {"seed", required_argument, NULL, KERNEL_OPT_SEED},\
    {"simd", required_argument, NULL, KERNEL_OPT_SIMD},\
    {"dots", required_argument, NULL, KERNEL_OPT_DOTS}

#define KERNEL_HELP                                                                    \
    "  --kernel NAME        kernel of the code object; not needed if it has only one\n" \
    "  --raw TEXT.bin       bare code instead of a code object\n" \
    "  --kd KD.bin          its 64-byte kernel descriptor. Without: kernarg pointer " \
    "in\n" \
    "                       s[0:1], workgroup id in s[2:4], packed work-item id in " \
    "v0,\n" \
    "                       256 VGPRs, no scratch, denormals kept\n" \
    "  --entry-offset N     first instruction of bare code (default 0)\n" \
    "  --wave 32|64         wave size of bare code without descriptor (default 32);\n" \
    "                       elsewhere it must agree with the descriptor\n" \
    "  --grid GX[,GY[,GZ]]  workgroups (default 1)\n" \
    "  --block BX[,BY[,BZ]] work-items of a workgroup (default: what the kernel\n" \
    "                       requires, or 1)\n" \
    "  --dynamic-lds BYTES  LDS besides what the kernel declares\n" \
    "  --stack BYTES        scratch of a work-item, at least (default: what the kernel\n" \
    "                       declares, and 16K where the compiler knows no bound, as of\n" \
    "                       recursion)\n" \
    "  --arg KIND:VALUE     kernel arguments in order:\n" \
    "      buf:SIZE[:zero | :file=PATH | :fill=BYTE | :iota=TYPE | :rand=TYPE,SEED]\n" \
    "                       a buffer; SIZE takes K, M, G; default zero\n" \
    "      file:PATH        a buffer with the size and contents of the file\n" \
    "      i8..i64:V u8..u64:V f16:V f32:V f64:V   a number\n" \
    "      bytes:HEX        bytes as they are; without metadata at the alignment of " \
    "the\n" \
    "                       largest power of two that divides their number, at most 8\n" 

#define KERNEL_HELP_HOW                                                                \
    "  --seed N             order in which waves and workgroups take turns (default 0)\n" \
    "  --simd auto|generic|avx2|avx512   host vector instructions to use\n" \
    "  --dots silicon|exact sums of float dot products and WMMA: as measured on\n" \
    "                       silicon (default), where operands of opposite sign lose " \
    "one\n" \
    "                       unit of the summation grid, or with exact subtraction\n"
/* clang-format on */

/* Room for argc words of options; prints the error. Owner: kernel_options_end. */
int kernel_options_begin(struct kernel_options *o, int argc);
void kernel_options_end(struct kernel_options *o);

/* Take one of these options (optarg). Prints the error; returns CLI_OK or CLI_USAGE. */
int kernel_option(struct kernel_options *o, int option, const char *name);

/* The words that are left (optind): a code object, unless there is bare code. Judges
 * the options together. As above. */
int kernel_take_object(struct kernel_options *o, int argc, char **argv);

/* Parse one --arg into arg. Prints the error; returns CLI_OK or CLI_USAGE. */
int kernel_parse_arg(const char *text, struct kernel_arg *arg);

/* Allocates a buffer's memory, zeroed, under the name; prints the error. */
typedef int kernel_alloc_fn(void *ctx, uint64_t bytes, const char *name, void **out);

/* Allocate and fill the buffers, then list all arguments for la_prepare. The address
 * of a buffer is arg->memory unless alloc_fn's owner changes arg->value afterwards.
 * list  out, room for o->n_args
 * Prints the error; returns an exit status. */
int kernel_make_buffers(struct kernel_options *o, kernel_alloc_fn *alloc_fn, void *ctx,
                        struct la_arg *list);

/* The file with the code. Prints the error; returns an exit status. Owner: free. */
int kernel_read(const struct kernel_options *o, void **code, size_t *bytes);

/* Load the kernel, make its buffers, put the dispatch together. code must stay until
 * la_destroy. Prints the error; returns an exit status. */
int kernel_load(struct kernel_options *o, struct la *la, const void *code, size_t bytes,
                struct la_kernel *kernel, struct emu_dispatch *out);
/* The same of another kernel of the code object that one has been loaded of. */
int kernel_load_another(struct kernel_options *o, struct la *la,
                        const struct la_kernel *loaded, struct la_kernel *kernel,
                        struct emu_dispatch *out);

#endif
