/* test_asm_rules.c: one statement for each rule: what is accepted gives these bytes,
 * what is not gives this column and these words. SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "isa_asm.h"

static rd_status assemble(const char *text, size_t len, unsigned wave, char *hex,
                          struct isa_asm_error *error)
{
    struct isa_asm_options options = {.wave = wave};
    uint8_t code[20];
    unsigned bytes = 0;
    struct isa_fixup fixup;
    rd_status status = isa_assemble(text, len, &options, code, &bytes, &fixup, error);
    hex[0] = '\0';
    for (unsigned i = 0; status == RD_OK && i < bytes; i++)
        sprintf(hex + 2 * i, "%02x", code[i]);
    return status;
}

static const struct {
    unsigned wave;
    const char *text, *hex;
} good[] = {
    /* The shortest encoding that takes the operands. */
    {32, "v_add_f32 v0, v1, v2", "01050006"},
    {32, "v_add_f32 v0, v1, s2", "000003d501050000"},
    {32, "v_add_f32_e64 v0, v1, v2", "000003d501050200"},
    {32, "V_ADD_F32 v0 v1 v2", "01050006"},
    {32, "v_add_f32 v[0], [v1], v[4/2]", "01050006"},
    /* Numbers. */
    {32, "v_add_f32 v0, 3.14159, v1", "ff020006d00f4940"},
    {32, "v_add_f32 v0, 0x1p3, v1", "ff02000600000041"},
    {32, "s_mov_b32 s0, max(1, or(2, 4))+10ULL", "900080be"},
    {32, "s_mov_b32 s0, --1", "810080be"},
    {32, "s_nop(1)", "010080bf"},
    /* Structures without fields, and negated lists. */
    {32, "s_getreg_b32 s2, {}", "00f882b8"},
    {32, "s_getreg_b32 s2, {size: 3, id: 1}", "011082b8"},
    {32, "v_add_f32 v0, -[ttmp0], v2", "000003d56c040220"},
    {32, "v_add_f64 v[0:1], -[v2,v3], v[2:3]", "000027d702050220"},
    {32, "v_add_f32 v0, -(3), v1", "c3020006"},
    {32, "v_add_f32 v0, 1+2*3-4, v1", "83020006"},
    {32, "v_add_f32 v0, 017, v1", "8f020006"},
    {32, "v_add_f32 v0, 0b11, v1", "83020006"},
    {32, "v_add_f32 v0, 'a', v1", "ff02000661000000"},
    {32, "v_mov_b32 v0, 0xffffffff", "c102007e"},
    {32, "v_add_f16 v0, 0x3c00, v1", "f2020064"},
    {32, "v_add_nc_u16 v0, 1.0, v1", "000003d7f2020200"},
    {32, "v_add_nc_u16 v0, 0x3c00, v1", "000003d7ff020200003c0000"},
    {32, "v_pk_add_u16 v0, 1.5, v1", "00400accff0202180000c03f"},
    {32, "v_add_f64 v[0:1], 1.5, v[2:3]", "000027d7ff0402000000f83f"},
    {32, "v_div_fixup_f64 v[0:1], 0x3ff00000, v[2:3], 0", "000028d6f2040202"},
    {32, "s_mov_b64 s[0:1], -5000", "ff0180be78ecffff"},
    /* Signs: in a 32-bit encoding a constant takes them itself. */
    {32, "v_add_f32 v0, neg(1.0), v1", "f3020006"},
    {32, "v_add_f32 v0, -|v1|, v2", "000103d501050220"},
    {32, "v_ceil_f64 v[0:1], abs(1)", "000198d581000000"},
    {32, "v_ldexp_f32 v0, v1, sext(v2)", "00001cd701050240"},
    /* Wave size. */
    {32, "v_cmp_eq_f32 vcc_lo, v1, v2", "0105247c"},
    {64, "v_cmp_eq_f32 vcc, v1, v2", "0105247c"},
    {64, "v_cmp_eq_f32 s[2:3], v1, v2", "020012d401050200"},
    {32, "v_cndmask_b32 v0, v1, v2", "01050002"},
    /* DPP. */
    {32, "v_add_f32 v0, v1, v2 quad_perm:[0,1,2,3]", "fa04000601e400ff"},
    {32, "v_add_f32 v0, v1, v2 clamp quad_perm:[0,1,2,3]", "008003d5fa04020001e400ff"},
    {32, "v_add_f32 v0, v1, v2 dpp8:[1,2,3,4,5,6,7,0] fi:1", "ea04000601d1581f"},
    /* Halves. */
    {32, "v_floor_f16 v5.h, v1.l", "01b70a7f"},
    {32, "v_floor_f16 v128.h, v1.h", "8048dbd501010000"},
    /* Dual issue. */
    {32, "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v3, v2", "010110ca02010200"},
    /* Named immediates. */
    {32, "s_waitcnt vmcnt(1) & lgkmcnt_sat(99)", "f70789bf"},
    {32, "s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)",
     "910487bf"},
    {32, "s_getreg_b32 s0, {id: 1, offset: 4, size: 2}", "010980b8"},
    {32, "s_sendmsg sendmsg(MSG_SYSMSG, SYSMSG_OP_ECC_ERR_INTERRUPT)", "1f00b6bf"},
    {32, "ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM, \"01pip\")",
     "0709d4d801000000"},
    {32, "tbuffer_load_format_x v0, off, s[0:3], format:22, 0", "0000b0e800000080"},
    {32, "exp mrt0 v1, off, v2, off done", "050800f801000200"},
    {32, "lds_param_load v1, attr3.y wait_vdst:2", "010d02ce"},
    /* Memory. */
    {32, "s_load_b32 s0, s[2:3]", "010000f4000000f8"},
    {32, "global_load_b32 v0, v1, s[2:3] offset:-8", "f81f52dc01000200"},
    {32, "image_load v0, [v2, v3], s[0:7] dmask:1 dim:2D", "050100f00200000003000000"},
};

START_TEST(accepts)
{
    char hex[64];
    struct isa_asm_error error = {0};
    ck_assert_msg(assemble(good[_i].text, strlen(good[_i].text), good[_i].wave, hex,
                           &error) == RD_OK,
                  "%s: %u: %s", good[_i].text, error.column, error.text);
    ck_assert_msg(strcmp(hex, good[_i].hex) == 0, "%s: want %s, have %s", good[_i].text,
                  good[_i].hex, hex);
}
END_TEST

static const struct {
    unsigned wave, column;
    const char *text, *words;
} bad[] = {
    {32, 1, "", "expected an instruction"},
    {32, 1, "v_frobnicate_b32 v0", "unknown instruction 'v_frobnicate_b32'"},
    {32, 1, "v_bfe_u32_e32 v0, v1, v2, v3", "no 32-bit encoding"},
    {32, 1, "s_add_u32_e64 s0, s1, s2", "no VOP3 encoding"},
    {32, 39, "v_add_f32 v0, v1, v2 quad_perm:[0,1,2,4]",
     "invalid value for 'quad_perm'"},
    {32, 15, "v_add_f32 v0, v256, v1", "register index is out of range"},
    {32, 19, "s_mov_b64 s[0:1], s[1:2]", "register alignment"},
    {32, 15, "v_mov_b32 v0, flat_scratch_lo", "'flat_scratch_lo' does not exist"},
    {32, 11, "v_mov_b32 a0, v1", "AGPR"},
    {32, 23, "v_bfe_u32 v0, s0, s1, s2", "constant bus limit"},
    {32, 27, "v_lshlrev_b64 v[0:1], s0, s[2:3]", "constant bus limit"},
    {32, 25, "v_bfe_u32 v0, 1234, v1, 5678", "only one unique literal"},
    {32, 15, "v_add_f16 v0, 65536, v1", "does not fit the operand"},
    {32, 15, "v_add_f16 v0, 1e6, v1", "float does not fit"},
    {32, 19, "s_mov_b64 s[0:1], 1.1", "no float literal"},
    {32, 14, "v_cmp_eq_f32 vcc, v1, v2", "lane mask must be one register in wave32"},
    {64, 14, "v_cmp_eq_f32 vcc_lo, v1, v2", "lane mask must be one register in wave32"},
    {64, 1, "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v3, v2", "only in wave32"},
    {32, 40, "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v2, v3", "one destination"},
    {32, 40, "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v5", "VOPD bank"},
    {32, 24, "s_load_b32 s0, s[2:3], 0x100000", "out of range: -1048576 to 1048575"},
    {32, 26, "flat_load_b32 v0, v[0:1] offset:-4", "out of range: 0 to 4095"},
    {32, 22, "v_add_f32 v0, v1, v2 op_sel:[1,0]", "'op_sel' does not belong"},
    {32, 32, "v_add_f32_e64 v0, v1, v2 mul:2 clamp", "'clamp' is out of order"},
    {32, 50, "buffer_load_b32 v1, off, s[0:3], s0 offset:4 glc glc", "given twice"},
    {32, 17, "v_add_f32 v0, v1", "too few operands"},
    {32, 23, "v_add_f32 v0, v1, v2, v3", "too many operands"},
    {32, 7, "s_nop 65536", "does not fit in 16 bits"},
    {32, 16, "v_add_f32 v0, 1/0, v1", "division by zero"},
    {32, 15, "v_add_f32 v0, x, v1", "a symbol cannot be used here"},
    {32, 15, "v_add_f32 v0, --1, v1", "write neg(...)"},
    {32, 15, "v_add_f32 v0, - -1, v1", "write neg(...)"},
    {32, 15, "s_mov_b32 s0, 10LU", "malformed number"},
    {32, 15, "s_mov_b32 s0, 0x1.8", "malformed number"},
    {32, 23, "s_getreg_b32 s2, {id: HW_REG_MODE}", "a symbol cannot be used"},
    {32, 1, "s_endpgm_ordered_ps_done", "does not support"},
    {32, 1, "v_readfirstlane_b32_e64 s0, v1", "no VOP3 encoding"},
    {32, 19, "s_waitcnt lgkmcnt(64)", "invalid value for 'lgkmcnt'"},
    {32, 12, "image_load v[0:1], v0, s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_1D",
     "image data size does not match"},
    {32, 16, "image_load v0, v0, s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_2D", "address size"},
    {32, 32, "flat_atomic_add_u32 v[0:1], v2 glc", "must not use glc"},
    {32, 35, "flat_atomic_add_u32 v3, v[0:1], v2", "must use glc"},
};

START_TEST(refuses)
{
    char hex[64];
    struct isa_asm_error error = {0};
    ck_assert_msg(assemble(bad[_i].text, strlen(bad[_i].text), bad[_i].wave, hex,
                           &error) != RD_OK,
                  "%s: accepted as %s", bad[_i].text, hex);
    ck_assert_msg(strstr(error.text, bad[_i].words) != NULL &&
                      error.column == bad[_i].column,
                  "%s: %u: %s", bad[_i].text, error.column, error.text);
}
END_TEST

/* Hostile input ends in an error, not in a crash or a long wait. */
START_TEST(survives)
{
    size_t size = 1 << 20;
    char *text = malloc(size + 1), hex[64];
    struct isa_asm_error error = {0};
    static const char fills[] = "((((-~!v[,|1.e:\t\"";
    for (const char *fill = fills; *fill != '\0'; fill++) {
        memcpy(text, "v_add_f32 v0, ", 14);
        memset(text + 14, *fill, size - 14);
        ck_assert(assemble(text, size, 32, hex, &error) != RD_OK);
        ck_assert(error.column >= 1 && error.column <= size + 1);
    }
    memset(text, 'v', size);
    ck_assert(assemble(text, size, 32, hex, &error) != RD_OK);
    ck_assert(assemble("v_add_f32 v0, \0v1, v2", 22, 32, hex, &error) != RD_OK);
    ck_assert_uint_eq(error.column, 15);
    free(text);
}
END_TEST

/* Symbols: a literal dword or a jump, nothing else. */
static rd_status any_name(void *ctx, const char *text, size_t len, size_t *used,
                          struct isa_value *out, struct isa_asm_error *err)
{
    (void)err;
    size_t n = 0;
    while (n < len && text[n] >= 'a' && text[n] <= 'z')
        n++;
    *used = n;
    *out = *(struct isa_value *)ctx;
    return n != 0 ? RD_OK : RD_E_NOT_FOUND;
}

START_TEST(symbols)
{
    static const struct {
        const char *text;
        unsigned kind, offset;
    } rows[] = {
        {"s_branch there", ISA_FIXUP_BRANCH, 0},
        {"s_call_b64 s[0:1], there", ISA_FIXUP_BRANCH, 0},
        {"s_mov_b32 s0, there", ISA_FIXUP_ABS32, 4},
        {"v_bfe_u32 v0, v1, there, v2", ISA_FIXUP_ABS32, 8},
        {"s_nop there", ISA_FIXUP_NONE, 0},
        {"s_mov_b64 s[0:1], there", ISA_FIXUP_NONE, 0},
        {"v_add_f16 v0, there, v1", ISA_FIXUP_NONE, 0},
        {"v_bfe_u32 v0, there, there, v1", ISA_FIXUP_NONE, 0},
        {"ds_load_b32 v0, v1 offset:there", ISA_FIXUP_NONE, 0},
    };
    struct isa_value value = {.handle = 42};
    struct isa_asm_options options = {.wave = 32, .expr = any_name, .ctx = &value};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t code[20];
        unsigned bytes;
        struct isa_fixup fixup;
        struct isa_asm_error error;
        rd_status status = isa_assemble(rows[i].text, strlen(rows[i].text), &options,
                                        code, &bytes, &fixup, &error);
        ck_assert_msg((status == RD_OK) == (rows[i].kind != ISA_FIXUP_NONE), "%s",
                      rows[i].text);
        if (status != RD_OK)
            continue;
        ck_assert_uint_eq(fixup.kind, rows[i].kind);
        ck_assert_uint_eq(fixup.offset, rows[i].offset);
        ck_assert_uint_eq(fixup.handle, 42);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("asm_rules");
    TCase *tc = tcase_create("rules");
    tcase_add_loop_test(tc, accepts, 0, (int)(sizeof good / sizeof good[0]));
    tcase_add_loop_test(tc, refuses, 0, (int)(sizeof bad / sizeof bad[0]));
    tcase_add_test(tc, survives);
    tcase_add_test(tc, symbols);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
