/* test_isa_decode.c: what the decoder promises beyond the text: operands, their sizes
 * and directions, modifiers, and what it rejects.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "isa.h"

/* The instruction of up to three dwords; fails the test if it does not decode. */
static struct isa_inst decode(unsigned wave, uint32_t d0, uint32_t d1, uint32_t d2)
{
    const uint32_t code[3] = {d0, d1, d2};
    struct isa_inst inst;
    ck_assert_int_eq(isa_decode(code, sizeof code, wave, &inst), RD_OK);
    return inst;
}

static rd_status status_of(unsigned wave, uint32_t d0, uint32_t d1, uint32_t d2)
{
    const uint32_t code[3] = {d0, d1, d2};
    struct isa_inst inst;
    return isa_decode(code, sizeof code, wave, &inst);
}

static const struct isa_opnd *operand(const struct isa_inst *inst, unsigned field)
{
    for (unsigned i = 0; i < inst->n_opnds; i++)
        if (inst->opnd[i].field == field)
            return &inst->opnd[i];
    ck_abort_msg("no operand of field %u", field);
    return NULL;
}

START_TEST(vop2_sources)
{
    /* v_add_f32_e32 v5, s3, v2 */
    struct isa_inst i = decode(32, 0x060a0403, 0, 0);
    ck_assert_uint_eq(i.op, ISA_V_ADD_F32);
    ck_assert_uint_eq(i.enc, ISA_ENC_VOP2);
    ck_assert_uint_eq(i.bytes, 4);
    ck_assert_uint_eq(i.n_opnds, 3);
    ck_assert_uint_eq(i.opnd[0].sel, 256 + 5);
    ck_assert_uint_eq(i.opnd[0].flags, ISA_OF_OUT);
    ck_assert_uint_eq(i.opnd[1].sel, 3);
    ck_assert_uint_eq(i.opnd[2].sel, 256 + 2);
}
END_TEST

START_TEST(literal_follows)
{
    /* v_add_f32_e32 v5, 0x12345678, v2 */
    struct isa_inst i = decode(32, 0x060a04ff, 0x12345678, 0);
    ck_assert_uint_eq(i.variant, ISA_VAR_LITERAL);
    ck_assert_uint_eq(i.bytes, 8);
    ck_assert_uint_eq(i.literal, 0x12345678);
    ck_assert_uint_eq(i.opnd[1].kind, ISA_OPND_LITERAL);
    /* v_fmaak_f32 v5, v1, v2, 0x11213141 */
    i = decode(32, 0x5a0a0501, 0x11213141, 0);
    ck_assert_uint_eq(i.literal, 0x11213141);
    ck_assert_uint_eq(operand(&i, ISA_FIELD_SIMM32)->kind, ISA_OPND_LITERAL);
}
END_TEST

START_TEST(masks_follow_the_wave)
{
    /* v_cmp_lt_f32_e64 s[10:11], v1, v2 */
    struct isa_inst i = decode(64, 0xd411000a, 0x00020501, 0);
    ck_assert_uint_eq(i.opnd[0].dwords, 2);
    i = decode(32, 0xd411000a, 0x00020501, 0);
    ck_assert_uint_eq(i.opnd[0].dwords, 1);
    /* v_wmma_f32_16x16x16_f16: accumulators shrink, sources do not */
    i = decode(32, 0xcc404008, 0x1c220900, 0);
    ck_assert_uint_eq(i.opnd[0].dwords, 8);
    ck_assert_uint_eq(operand(&i, ISA_FIELD_SRC0)->dwords, 8);
    i = decode(64, 0xcc404008, 0x1c220900, 0);
    ck_assert_uint_eq(i.opnd[0].dwords, 4);
    ck_assert_uint_eq(operand(&i, ISA_FIELD_SRC2)->dwords, 4);
    ck_assert_uint_eq(operand(&i, ISA_FIELD_SRC0)->dwords, 8);
}
END_TEST

START_TEST(implicit_operands)
{
    /* s_add_u32 s0, s1, s2 writes SCC */
    struct isa_inst i = decode(32, 0x80000201, 0, 0);
    ck_assert_uint_eq(i.n_opnds, 4);
    ck_assert_uint_eq(i.opnd[3].kind, ISA_OPND_SCC);
    ck_assert_uint_eq(i.opnd[3].flags, ISA_OF_OUT | ISA_OF_IMPLICIT);
    /* v_add_co_ci_u32_e32: VCC in the text, in no field, read and written */
    i = decode(32, 0x400a0501, 0, 0);
    unsigned vcc_in = 0, vcc_out = 0;
    for (unsigned k = 0; k < i.n_opnds; k++) {
        const struct isa_opnd *o = &i.opnd[k];
        if (o->sel != ISA_SEL_VCC_LO)
            continue;
        ck_assert(o->flags & ISA_OF_NO_FIELD);
        vcc_in += (o->flags & ISA_OF_IN) != 0;
        vcc_out += (o->flags & ISA_OF_OUT) != 0;
    }
    ck_assert_uint_eq(vcc_in, 1);
    ck_assert_uint_eq(vcc_out, 1);
    /* v_cmpx_lt_f32_e64 writes EXEC once, whatever VDST holds */
    i = decode(32, 0xd491007e, 0x00020501, 0);
    ck_assert_uint_eq(i.opnd[0].sel, ISA_SEL_EXEC_LO);
    ck_assert_uint_eq(i.n_opnds, 3);
}
END_TEST

START_TEST(read_modify_write)
{
    const unsigned both = ISA_OF_IN | ISA_OF_OUT;
    struct isa_inst i = decode(32, 0x560a0501, 0, 0); /* v_fmac_f32 */
    ck_assert_uint_eq(i.op, ISA_V_FMAC_F32);
    ck_assert_uint_eq(i.opnd[0].flags, both);
    i = decode(32, 0xda980000, 0x05000001, 0); /* ds_load_u16_d16 */
    ck_assert_uint_eq(i.op, ISA_DS_LOAD_U16_D16);
    ck_assert_uint_eq(i.opnd[0].flags, both);
    i = decode(32, 0xcc210000, 0x040e0501, 0); /* v_fma_mixlo_f16 */
    ck_assert_uint_eq(i.opnd[0].flags, both);
}
END_TEST

START_TEST(dpp_replaces_source_0)
{
    /* v_add_f32_dpp v5, -|v1|, v2 row_shl:1 row_mask:0x3 bank_mask:0xf fi:1 */
    struct isa_inst i = decode(32, 0x060a04fa, 0x3f350101, 0);
    ck_assert_uint_eq(i.variant, ISA_VAR_DPP16);
    ck_assert_uint_eq(i.opnd[1].sel, 256 + 1);
    ck_assert_uint_eq(i.abs, 1);
    ck_assert_uint_eq(i.neg, 1);
    ck_assert_uint_eq(i.dpp_ctrl, 0x101);
    ck_assert_uint_eq(i.row_mask, 3);
    ck_assert_uint_eq(i.bank_mask, 15);
    ck_assert(i.flags & ISA_M_FI);
    ck_assert(!(i.flags & ISA_M_BOUND_CTRL));
    /* v_add_f32_dpp v5, v1, v2 dpp8:[7,6,5,4,3,2,1,0] */
    i = decode(32, 0x060a04e9, 0x05397701, 0);
    ck_assert_uint_eq(i.variant, ISA_VAR_DPP8);
    ck_assert_uint_eq(i.dpp8 & 7, 7);
    ck_assert_uint_eq(i.dpp8 >> 21, 0);
    /* On gfx1100 the second source of a VOP3 DPP form is a VGPR. */
    ck_assert_int_eq(status_of(32, 0xd5030005, 0x000008fa, 0xff000001), RD_E_ENCODING);
}
END_TEST

START_TEST(global_addresses)
{
    /* global_load_b32 v5, v1, s[4:5]: a 32-bit offset */
    struct isa_inst i = decode(32, 0xdc520000, 0x05040001, 0);
    ck_assert_uint_eq(operand(&i, ISA_FIELD_ADDR)->dwords, 1);
    ck_assert_uint_eq(operand(&i, ISA_FIELD_SADDR)->dwords, 2);
    /* global_load_b32 v5, v[1:2], off offset:-4 */
    i = decode(32, 0xdc521ffc, 0x057c0001, 0);
    ck_assert_uint_eq(operand(&i, ISA_FIELD_ADDR)->dwords, 2);
    ck_assert_uint_eq(operand(&i, ISA_FIELD_SADDR)->kind, ISA_OPND_OFF);
    ck_assert_int_eq(i.offset, -4);
    /* global_atomic_add_u32: no destination without GLC */
    i = decode(32, 0xdcd60000, 0x007c0201, 0);
    ck_assert_uint_eq(operand(&i, ISA_FIELD_VDST)->kind, ISA_OPND_NONE);
    i = decode(32, 0xdcd64000, 0x057c0201, 0);
    ck_assert_uint_eq(operand(&i, ISA_FIELD_VDST)->kind, ISA_OPND_REG);
    /* scratch_load_b32 v5, off, s3 */
    i = decode(32, 0xdc510000, 0x05030000, 0);
    ck_assert_uint_eq(operand(&i, ISA_FIELD_ADDR)->kind, ISA_OPND_OFF);
}
END_TEST

START_TEST(dual_issue)
{
    /* v_dual_add_f32 v255, v1, v2 :: v_dual_mul_f32 v6, v4, v3 */
    struct isa_inst i = decode(32, 0xc9060501, 0xff060704, 0);
    ck_assert_uint_eq(i.op, ISA_V_DUAL_ADD_F32);
    ck_assert_uint_eq(i.op_y, ISA_V_DUAL_MUL_F32);
    ck_assert_uint_eq(i.opnd[0].sel, 256 + 255);
    ck_assert_uint_eq(i.opnd[3].sel, 256 + 6); /* bit 0 is not stored */
    ck_assert_uint_eq(i.opnd[3].flags, ISA_OF_OUT | ISA_OF_Y);
    ck_assert_int_eq(status_of(64, 0xc9060501, 0xff060704, 0), RD_E_ENCODING);
}
END_TEST

START_TEST(image_sizes)
{
    /* image_sample v[0:3], v[1:2], s[8:15], s[12:15] dmask:0xf dim:2D */
    struct isa_inst i = decode(32, 0xf06c0f04, 0x0c020001, 0);
    ck_assert_uint_eq(operand(&i, ISA_FIELD_VDATA)->dwords, 4);
    ck_assert_uint_eq(operand(&i, ISA_FIELD_VADDR)->dwords, 2);
    /* the same with d16 */
    i = decode(32, 0xf06e0f04, 0x0c020001, 0);
    ck_assert_uint_eq(operand(&i, ISA_FIELD_VDATA)->dwords, 2);
    /* NSA: two separate registers */
    i = decode(32, 0xf06c0f05, 0x0c020001, 0x00000007);
    ck_assert_uint_eq(i.bytes, 12);
    ck_assert_uint_eq(operand(&i, ISA_FIELD_VADDR)->dwords, 1);
    ck_assert_uint_eq(operand(&i, ISA_FIELD_VADDRA)->sel, 256 + 7);
}
END_TEST

START_TEST(halves_of_registers)
{
    /* v_add_f16_e32 with bit 7 of VDST: the upper half of v5; no default text */
    struct isa_inst i = decode(32, 0x650a0501, 0, 0);
    ck_assert_uint_eq(i.opnd[0].sel, 256 + 5);
    ck_assert(i.opnd[0].flags & ISA_OF_HI16);
    ck_assert(!isa_has_text(&i, 0));
    ck_assert(isa_has_text(&i, ISA_PRINT_TRUE16));
    char text[ISA_MAX_TEXT];
    isa_print(&i, 32, ISA_PRINT_TRUE16, text);
    ck_assert_str_eq(text, "v_add_f16_e32 v5.h, v1.l, v2.l");
}
END_TEST

START_TEST(rejects)
{
    ck_assert_int_eq(status_of(32, 0xbe80ff00, 0, 0), RD_E_ENCODING); /* opcode */
    ck_assert_int_eq(status_of(32, 0xbfbd0001, 0, 0), RD_E_ENCODING); /* s_barrier 1 */
    /* v_and_b32_e64 with |x| */
    ck_assert_int_eq(status_of(32, 0xd51b0105, 0x00020501, 0), RD_E_ENCODING);
    /* a pair over the end of the register file */
    ck_assert_int_eq(status_of(32, 0xdc520000, 0x057c00ff, 0), RD_E_ENCODING);
    /* flat_load_b32 with SADDR */
    ck_assert_int_eq(status_of(32, 0xdc500000, 0x05020001, 0), RD_E_ENCODING);
}
END_TEST

START_TEST(truncated_input)
{
    const uint32_t code[3] = {0xd5030005, 0x00020eff, 0x12345678}; /* VOP3, literal */
    struct isa_inst inst = {.op = 77};
    for (size_t n = 0; n < 12; n++)
        ck_assert_int_eq(isa_decode(code, n, 32, &inst), RD_E_TRUNCATED);
    ck_assert_uint_eq(inst.op, 77); /* untouched */
    ck_assert_int_eq(isa_decode(code, 12, 32, &inst), RD_OK);
    ck_assert_uint_eq(inst.bytes, 12);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("isa decode");
    TCase *tc = tcase_create("decode");
    tcase_add_test(tc, vop2_sources);
    tcase_add_test(tc, literal_follows);
    tcase_add_test(tc, masks_follow_the_wave);
    tcase_add_test(tc, implicit_operands);
    tcase_add_test(tc, read_modify_write);
    tcase_add_test(tc, dpp_replaces_source_0);
    tcase_add_test(tc, global_addresses);
    tcase_add_test(tc, dual_issue);
    tcase_add_test(tc, image_sizes);
    tcase_add_test(tc, halves_of_registers);
    tcase_add_test(tc, rejects);
    tcase_add_test(tc, truncated_input);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
