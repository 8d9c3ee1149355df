/* test_coverage.c: every form of every instruction that has semantics executes, and
 * every build of the emulator gives the same result for it.
 *
 * Usage: test_coverage REPORT FILE.vec...: REPORT gets a line for each form. The vector
 * files are run to see for which forms they have expected values.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "cover.h"
#include "facts.h"
#include "program.h"
#include "vecrun.h"

static struct engine engines[ENGINE_COUNT];
static struct arena *arena;
static struct program program;
static struct cover cover, checked; /* all programs; vectors */
static unsigned n_failed;

static const char *const variants[COVER_VARIANTS] = {"", "literal", "dpp16", "dpp8",
                                                     "nsa"};

static void fail(const char *what, const char *detail)
{
    printf("FAILED: %s: %s\n", what, detail);
    n_failed++;
}

/* ---- instructions without semantics, with reasons -----------------------------------
 */

static const char *why_unsupported(unsigned op)
{
    const struct isa_facts *facts = isa_facts(op);
    return facts->function ? NULL : facts->note;
}

/* ---- programs by hand: what random programs do not contain --------------------------
 */

/* An image resource of zeros. */
#define UNBOUND                                                                        \
    "s_mov_b64 s[88:89], 0;s_mov_b64 s[90:91], 0;"                                     \
    "s_mov_b64 s[92:93], 0;s_mov_b64 s[94:95], 0;"

#define BVH                                                                            \
    "s_lshr_b64 s[100:101], s[82:83], 8;s_bitset1_b32 s101, 31;s_mov_b32 s102, 15;"    \
    "s_mov_b32 s103, 0x81000000;v_mov_b32 v8, 0;v_mov_b32 v9, 0;"

/* Statements, separated by semicolons; the fault that ends them, or none. "!NAME" is an
 * instruction that the assembler does not take. */
static const struct {
    const char *text;
    enum emu_fault_kind fault;
} by_hand[] = {
    {"s_barrier", EMU_FAULT_NONE},
    {"s_endpgm", EMU_FAULT_NONE},
    {"s_branch 0", EMU_FAULT_NONE},
    {"s_cbranch_scc0 0;s_cbranch_scc1 0;s_cbranch_vccz 0;s_cbranch_vccnz 0",
     EMU_FAULT_NONE},
    {"s_cbranch_execz 0;s_cbranch_execnz 0;s_cbranch_cdbgsys 0;s_cbranch_cdbguser 0",
     EMU_FAULT_NONE},
    {"s_cbranch_cdbgsys_or_user 0;s_cbranch_cdbgsys_and_user 0", EMU_FAULT_NONE},
    {"s_call_b64 s[96:97], 0", EMU_FAULT_NONE},
    {"s_getpc_b64 s[96:97];s_add_u32 s96, s96, 16;s_addc_u32 s97, s97, 0;"
     "s_setpc_b64 s[96:97]",
     EMU_FAULT_NONE},
    {"s_getpc_b64 s[96:97];s_add_u32 s96, s96, 16;s_addc_u32 s97, s97, 0;"
     "s_swappc_b64 s[98:99], s[96:97]",
     EMU_FAULT_NONE},
    {"s_swappc_b64 s[98:99], 0x12345678", EMU_FAULT_FETCH},
    {"s_rfe_b64 s[4:5]", EMU_FAULT_ILLEGAL},
    {"s_trap 2", EMU_FAULT_TRAP},
    {"s_sethalt 0", EMU_FAULT_NONE},
    {"s_sethalt 1", EMU_FAULT_HANG},
    {"s_setkill 0", EMU_FAULT_NONE},
    {"s_code_end", EMU_FAULT_ILLEGAL},
    {"v_illegal", EMU_FAULT_ILLEGAL},
    {"s_endpgm_saved", EMU_FAULT_NONE},
    {"!s_endpgm_ordered_ps_done", EMU_FAULT_NONE},
    {"s_sendmsg sendmsg(MSG_INTERRUPT)", EMU_FAULT_NONE},
    {"s_sendmsghalt sendmsg(MSG_INTERRUPT)", EMU_FAULT_HANG},
    {"s_sendmsg_rtn_b32 s0, sendmsg(MSG_RTN_GET_DOORBELL)", EMU_FAULT_NONE},
    {"s_sendmsg_rtn_b64 s[0:1], sendmsg(MSG_RTN_GET_TBA)", EMU_FAULT_NONE},
    {"s_getreg_b32 s0, hwreg(HW_REG_MODE)", EMU_FAULT_NONE},
    {"s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0", EMU_FAULT_NONE},
    {"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 3", EMU_FAULT_NONE},
    {"s_subvector_loop_begin s9, 2;v_mov_b32 v10, 5;s_subvector_loop_end s9, 0xfffe",
     EMU_FAULT_NONE},
    {"s_atc_probe 0, s[82:83], 0;s_atc_probe_buffer 0, s[88:91], 0", EMU_FAULT_NONE},
    {"s_mov_b32 m0, 0;v_mov_b32 v1, 0;ds_gws_init v1 gds;ds_gws_barrier v1 gds",
     EMU_FAULT_NONE},
    {"s_mov_b32 m0, 0;v_mov_b32 v1, 1;ds_gws_init v1 gds;ds_gws_sema_v gds;"
     "ds_gws_sema_br v1 gds;ds_gws_sema_p gds",
     EMU_FAULT_NONE},
    {"s_mov_b32 m0, 0;ds_gws_sema_release_all gds", EMU_FAULT_NONE},
    {"exp mrt0 v0, v1, v2, v3 done", EMU_FAULT_NONE},
    {UNBOUND "image_msaa_load v[0:3], v[8:10], s[88:95] dmask:0x1 "
             "dim:SQ_RSRC_IMG_2D_MSAA",
     EMU_FAULT_NONE},
    {UNBOUND "image_msaa_load v[0:3], [v8, v9, v10], s[88:95] dmask:0x1 "
             "dim:SQ_RSRC_IMG_2D_MSAA",
     EMU_FAULT_NONE},
    {"v_mov_b32 v9, 0;v_mov_b32 v8, -1;ds_bvh_stack_rtn_b32 v10, v9, v8, v[18:21]",
     EMU_FAULT_NONE},
    {BVH "image_bvh_intersect_ray v[0:3], v[8:18], s[100:103]", EMU_FAULT_NONE},
    {BVH "image_bvh_intersect_ray v[0:3], [v8, v9, v[10:12], v[13:15], v[16:18]], "
         "s[100:103]",
     EMU_FAULT_NONE},
    {BVH "image_bvh64_intersect_ray v[0:3], v[8:19], s[100:103]", EMU_FAULT_NONE},
    {BVH "image_bvh64_intersect_ray v[0:3], [v[8:9], v10, v[11:13], v[14:16], "
         "v[17:19]], s[100:103]",
     EMU_FAULT_NONE},
};

static size_t encode(const char *name, uint8_t *code)
{
    unsigned op = isa_op_find(name, strlen(name)), row = 0;
    uint64_t random = 1;
    struct isa_inst in;
    while (isa_row(row)->op != op)
        row++;
    isa_random(row, 0, &random, code);
    return isa_decode(code, ISA_MAX_BYTES, 32, &in) == RD_OK ? in.bytes : 0;
}

static size_t assemble(const char *text, unsigned lanes, uint8_t *code)
{
    size_t n = 0;
    char line[128];
    while (*text) {
        size_t len = strcspn(text, ";");
        memcpy(line, text, len);
        line[len] = 0;
        n += *line == '!' ? encode(line + 1, code + n)
                          : arena_assemble(line, lanes, code + n);
        text += len + (text[len] == ';');
    }
    return n;
}

/* All engines end in the same way and leave the same memory. */
static void run(const struct shape *shape, const uint8_t *code, size_t bytes,
                enum emu_fault_kind fault, const char *name)
{
    char text[600];
    arena_place(arena, shape->lanes, code, bytes);
    for (unsigned i = 0; i < ENGINE_COUNT; i++) {
        if (!engines[i].emu || engines[i].stepped)
            continue;
        arena_restore(arena, shape);
        struct outcome o = engine_run(&engines[i], arena, shape);
        if (o.fault.kind != fault || (o.status != RD_OK) != (fault != EMU_FAULT_NONE)) {
            emu_fault_text(&o.fault, text, sizeof text);
            fail(name, text);
            return;
        }
        if (i == ENGINE_GENERIC)
            arena_keep_first(arena, shape);
        else if (arena_differs(arena, shape, text, sizeof text))
            fail(engines[i].name, text), fail("in", name);
    }
}

static void start(const struct shape *shape, uint64_t seed)
{
    uint64_t random = seed * 77 + 5;
    program_inputs(arena, shape, &random);
    for (unsigned i = 0; i < shape->groups * shape->waves; i++)
        arena->blocks[i].in.exec[0] = arena->blocks[i].in.exec[1] = ~0u;
    arena_keep_initial(arena, shape);
}

static void run_by_hand(unsigned lanes)
{
    struct shape shape = {lanes, 1, 1};
    uint8_t code[1024];
    for (unsigned i = 0; i < sizeof by_hand / sizeof *by_hand; i++) {
        start(&shape, i);
        size_t n = assemble(by_hand[i].text, lanes, code);
        run(&shape, code, n, by_hand[i].fault, by_hand[i].text);
    }
}

/* ---- all other rows -----------------------------------------------------------------
 */

/* Is there an encoding? The tables give literals and DPP to all rows of an encoding,
 * the decoder knows operands that take neither. */
static bool is_encodable(unsigned row, unsigned variant)
{
    uint64_t random = 1;
    uint8_t code[ISA_MAX_BYTES];
    struct isa_inst in;
    for (unsigned i = 0; i < 4000; i++) {
        isa_random(row, variant, &random, code);
        for (unsigned lanes = 32; lanes <= 64; lanes += 32)
            if (isa_decode(code, sizeof code, lanes, &in) == RD_OK &&
                in.variant == variant && (in.row == row || in.row_y == row))
                return true;
    }
    return false;
}

static bool has_variant(unsigned row, unsigned variant)
{
    static struct {
        bool known, exists;
    } seen[2000][COVER_VARIANTS];
    const struct isa_row *r = isa_row(row);
    if (!seen[row][variant].known) {
        seen[row][variant].known = true;
        if (variant == ISA_VAR_NONE)
            seen[row][variant].exists = !(r->flags & ISA_RF_LITERAL);
        else
            seen[row][variant].exists =
                r->variants >> variant & 1 && is_encodable(row, variant);
    }
    return seen[row][variant].exists;
}

/* Programs of a few dozen rows each; every instruction twice. */
static void run_rows(unsigned lanes)
{
    struct shape shape = {lanes, 1, 1};
    unsigned pending = 0;
    uint64_t seed = lanes;
    const char *why;
    program_init(&program, lanes, seed);
    for (unsigned row = 0; row <= isa_row_count(); row++) {
        bool last = row == isa_row_count();
        for (unsigned v = 0; v < COVER_VARIANTS && !last; v++) {
            if (!has_variant(row, v) || !program_takes(row, &why) ||
                why_unsupported(isa_row(row)->op))
                continue;
            pending += program_add(&program, row, v);
            pending += program_add(&program, row, v);
            arena_assemble("s_mov_b64 exec, -1", lanes,
                           program.item[program.n].code); /* v_cmpx, SALU */
            program.item[program.n].bytes = 4;
            program.n++;
        }
        if (pending >= 40 || last) {
            start(&shape, seed);
            program_layout(&program);
            run(&shape, program.code, program.bytes, EMU_FAULT_NONE,
                last ? "last rows" : isa_op_name(isa_row(row)->op));
            program_init(&program, lanes, ++seed);
            pending = 0;
        }
    }
}

/* ---- report -------------------------------------------------------------------------
 */

enum { EXECUTED, MISSING, UNSUPPORTED, CHECKED, COLUMNS };

static void report_form(FILE *out, unsigned row, unsigned v, unsigned counts[COLUMNS])
{
    const struct isa_row *r = isa_row(row);
    const char *why = why_unsupported(r->op);
    uint32_t w32 = cover_runs(&cover, row, v, 32), w64 = cover_runs(&cover, row, v, 64);
    uint32_t vectors =
        cover_runs(&checked, row, v, 32) + cover_runs(&checked, row, v, 64);
    fprintf(out, "%s\t%s\t%s\t%u\t%u\t%u\t%s\n", isa_op_name(r->op),
            isa_enc_name(r->enc), variants[v], w32, w64, vectors, why ? why : "");
    counts[CHECKED] += vectors != 0;
    if (why) {
        counts[UNSUPPORTED]++;
    } else if (w32 + w64) {
        counts[EXECUTED]++;
    } else {
        char name[96];
        snprintf(name, sizeof name, "%s %s %s", isa_op_name(r->op),
                 isa_enc_name(r->enc), variants[v]);
        counts[MISSING]++;
        fail("never executed", name);
    }
}

static void print_counts(const char *name, const unsigned n[COLUMNS])
{
    printf("%-10s %9u %9u %9u %13u\n", name, n[EXECUTED], n[CHECKED], n[MISSING],
           n[UNSUPPORTED]);
}

static bool report(const char *path)
{
    unsigned all[COLUMNS] = {0}, of_enc[ISA_ENC_COUNT][COLUMNS] = {{0}};
    FILE *out = fopen(path, "w");
    if (!out) {
        perror(path);
        return false;
    }
    fprintf(out, "mnemonic\tencoding\tvariant\twave32\twave64\tvectors\twhy not\n");
    for (unsigned row = 0; row < isa_row_count(); row++)
        for (unsigned v = 0; v < COVER_VARIANTS; v++)
            if (has_variant(row, v))
                report_form(out, row, v, of_enc[isa_row(row)->enc]);
    fclose(out);
    printf("%-10s %9s %9s %9s %13s\n", "encoding", "executed", "vectors", "missing",
           "no semantics");
    for (unsigned e = 1; e < ISA_ENC_COUNT; e++) {
        print_counts(isa_enc_name(e), of_enc[e]);
        for (unsigned i = 0; i < COLUMNS; i++)
            all[i] += of_enc[e][i];
    }
    print_counts("all forms", all);
    return true;
}

/* ---- opcodes without vectors --------------------------------------------------------
 */

static const char *const no_vectors[ISA_OP_COUNT] = {
#define N(op, where) [ISA_##op] = where,
#include "no_vectors.def"
#undef N
};

/* Each opcode with a function has a vector, or a line that says who else looks. */
static void check_vectors(void)
{
    bool covered[ISA_OP_COUNT] = {false};
    for (unsigned row = 0; row < isa_row_count(); row++)
        for (unsigned v = 0; v < COVER_VARIANTS; v++)
            if (cover_runs(&checked, row, v, 32) + cover_runs(&checked, row, v, 64))
                covered[isa_row(row)->op] = true;
    for (unsigned op = 1; op < ISA_OP_COUNT; op++) {
        if (isa_facts(op)->function && !covered[op] && !no_vectors[op])
            fail("no file of tests/vectors covers", isa_op_name(op));
        if (covered[op] && no_vectors[op])
            fail("no_vectors.def names, but vectors cover", isa_op_name(op));
    }
}

/* Vector files on an engine that notes what executes. */
static void run_vectors(char **paths, int n)
{
    struct emu_observer observer = cover_observer(&checked);
    struct engine counting[ENGINE_COUNT];
    engines_create(counting, arena, &observer);
    for (int i = 0; i < n; i++) {
        struct vec_tally t = {.path = paths[i],
                              .arena = arena,
                              .engines = &counting[ENGINE_OBSERVED],
                              .n_engines = 1};
        if (!vec_read(paths[i], vec_run_block, &t) || t.failures)
            fail("vectors", paths[i]);
    }
    engines_destroy(counting);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    arena = arena_create();
    cover_create(&cover, arena);
    cover_create(&checked, arena);
    struct emu_observer observer = cover_observer(&cover);
    engines_create(engines, arena, &observer);
    for (unsigned lanes = 32; lanes <= 64; lanes += 32) {
        run_by_hand(lanes);
        run_rows(lanes);
    }
    engines_destroy(engines);
    run_vectors(argv + 2, argc - 2);
    bool written = report(argv[1]);
    check_vectors();
    cover_destroy(&cover);
    cover_destroy(&checked);
    arena_destroy(arena);
    return written && !n_failed ? EXIT_SUCCESS : EXIT_FAILURE;
}
